"""Lattices drawn: every node or a bar per height, whatever columns are called."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.showing.lattice import MOST_BOXES, DrawnNode, abbreviate, lattice_svg
from tests.showing.reading import NASTY, SVG, check_drawing, children, tooltip


def nodes_of(shape, valid=lambda node: sum(node) > 1, **marks):
    every = product(*map(range, shape))
    return [
        DrawnNode(node, valid(node), sum(node), 0.5, **{k: node in v for k, v in marks.items()})
        for node in every
    ]


@pytest.mark.usefixtures("patience")
@given(
    columns=st.lists(NASTY, min_size=1, max_size=6),
    data=st.data(),
    title=NASTY,
)
def test_any_lattice_can_be_drawn(columns, data, title):
    shape = [data.draw(st.integers(1, 4)) for _ in columns]
    marks = st.sets(st.tuples(*(st.integers(0, n - 1) for n in shape)), max_size=3)
    nodes = nodes_of(shape, minimal=data.draw(marks), chosen=data.draw(marks))
    root = check_drawing(lattice_svg(columns, nodes, title=title))
    ranks = {sum(each.node): 0 for each in nodes}
    drawn = children(root, "node")
    if drawn:
        assert len(drawn) == len(nodes)
        boxes = [group.find(f".//{SVG}rect") for group in drawn]
        places = {(box.get("x"), box.get("y")) for box in boxes}
        assert len(places) == len(nodes)
    else:
        assert len(children(root, "height")) == len(ranks)


@given(st.lists(NASTY, min_size=1, max_size=30))
def test_short_names_are_different(columns):
    short = abbreviate(columns)
    assert len(set(short)) == len(columns)
    assert all(text and not text[-1].isdigit() for text in short)


def test_a_node_is_above_another_if_it_is_more_general():
    root = check_drawing(lattice_svg(["a", "b"], nodes_of((3, 2)), title="x"))
    heights = {
        tooltip(group).partition(":")[0]: float(group.find(f".//{SVG}rect").get("y"))
        for group in children(root, "node")
    }
    assert heights["a2 b1"] < heights["a2 b0"] == heights["a1 b1"] < heights["a0 b0"]


def test_what_a_node_is_shows_without_colour():
    nodes = nodes_of((3, 2), minimal={(1, 1)}, chosen={(2, 1)}, skipped={(0, 0)})
    root = check_drawing(lattice_svg(["a", "b"], nodes, title="x"))
    of = {tooltip(group).partition(":")[0]: group for group in children(root, "node")}

    def rects(name):
        return list(of[name].iter(f"{SVG}rect"))

    assert rects("a1 b1")[0].get("stroke-dasharray") is None
    assert rects("a1 b0")[0].get("stroke-dasharray") is not None
    assert len(rects("a1 b1")) == 2  # two borders
    assert len(rects("a2 b1")) == 1
    texts = [text.get("fill") for text in of["a2 b1"].iter(f"{SVG}text")]
    assert set(texts) == {"#ffffff"}  # on dark
    assert len(list(of["a0 b0"].iter(f"{SVG}path"))) == 1  # struck out
    assert "ruled out without a look" in tooltip(of["a0 b0"])


def test_many_nodes_are_bars_with_counts():
    nodes = nodes_of((6, 6, 6), valid=lambda n: sum(n) > 9, minimal={(5, 5, 0)}, chosen={(5, 5, 0)})
    assert len(nodes) > MOST_BOXES
    root = check_drawing(lattice_svg(["a", "b", "c"], nodes, title="x"))
    told = [tooltip(group) for group in children(root, "height")]
    assert told[0] == "height 15: 1 of 1 valid"
    assert "height 10: 21 of 21 valid, 1 minimal, the chosen one" in told
    assert told[-1] == "height 0: 0 of 1 valid"
    assert not children(root, "node")


def test_neighbours_are_joined():
    root = check_drawing(lattice_svg(["a", "b"], nodes_of((3, 2)), title="x"))
    lines = [p for p in root.iter(f"{SVG}path") if p.get("d").startswith("M")]
    assert len(lines) == 7  # 2 · 2 steps on a, 3 on b


def test_nodes_that_do_not_fit_are_refused():
    with pytest.raises(ParameterError, match="nodes must be nodes with 2 levels each"):
        lattice_svg(["a", "b"], [DrawnNode((0,), True, 0)], title="x")
    with pytest.raises(ParameterError, match="nodes"):
        lattice_svg(["a"], [], title="x")
