"""Trees drawn: from left to right, no box on another, and what is not drawn is counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.showing.tree import MOST_LINES, Branch, Twig, growth_svg, value_tree_svg
from tests.showing.reading import NASTY, SVG, check_drawing

TREES = st.recursive(
    st.builds(lambda text: (text, []), NASTY),
    lambda inner: st.tuples(NASTY, st.lists(inner, min_size=1, max_size=12)),
    max_leaves=120,
)


def branch(tree) -> Branch:
    text, below = tree
    return Branch(text, lambda: [branch(each) for each in below], absent=len(text) > 20)


def twig(tree) -> Twig:
    text, below = tree
    lines = (text, "2 rows, a class") if len(text) % 2 else (text,)
    return Twig(lines, tuple(map(twig, below)), "plain" if below else "last", text)


def depth(tree) -> int:
    return 1 + max(map(depth, tree[1]), default=0)


def twigs(root):
    return [g for g in root.iter(f"{SVG}g") if (g.get("class") or "").startswith("twig")]


def boxes(root):
    found = [g.find(f"{SVG}rect") for g in twigs(root)]
    return [
        tuple(float(box.get(k)) for k in ("x", "y", "width", "height"))
        for box in found
        if box is not None
    ]


def require_apart(places):
    for i, (x, y, w, h) in enumerate(places):
        for a, b, c, d in places[:i]:
            assert x + w <= a or a + c <= x or y + h <= b + 0.01 or b + d <= y + 0.01


@pytest.mark.usefixtures("patience")
@given(tree=TREES, title=NASTY)
def test_any_value_tree_can_be_drawn(tree, title):
    sizes = list(range(depth(tree), 0, -1))
    root = check_drawing(value_tree_svg(branch(tree), sizes, column=title, title=title))
    places = boxes(root)
    require_apart(places)
    leaves = {y for x, y, *_ in places}
    assert len(leaves) <= 3 * MOST_LINES


@pytest.mark.usefixtures("patience")
@given(trees=st.lists(TREES, min_size=1, max_size=3), title=NASTY)
def test_any_growth_can_be_drawn(trees, title):
    root = check_drawing(growth_svg([twig(tree) for tree in trees], title=title, remark=title))
    require_apart(boxes(root))


def test_a_parent_stands_left_of_what_is_below_it():
    tree = ("*", [("ab", [("a", []), ("b", [])]), ("cd", [("c", []), ("d", [])])])
    root = check_drawing(value_tree_svg(branch(tree), [4, 2, 1], column="x", title="x"))
    at = {
        g.find(f"{SVG}text").text: tuple(float(g.find(f"{SVG}rect").get(k)) for k in ("x", "y"))
        for g in twigs(root)
    }
    assert at["*"][0] < at["ab"][0] == at["cd"][0] < at["a"][0]
    assert at["a"][1] < at["b"][1] < at["c"][1] < at["d"][1]
    assert at["ab"][1] == (at["a"][1] + at["b"][1]) / 2


def test_one_more_is_drawn_and_two_more_are_counted():
    def drawn(n):
        tree = ("*", [(str(i), []) for i in range(n)])
        root = check_drawing(value_tree_svg(branch(tree), [n, 1], column="x", title="x"))
        return [g.find(f"{SVG}text").text for g in twigs(root)]

    assert not any("more" in text for text in drawn(MOST_LINES))
    texts = drawn(1000)
    [more] = [text for text in texts if "more" in text]
    assert int(more.split()[1]) + len(texts) - 2 == 1000
