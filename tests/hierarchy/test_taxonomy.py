"""Taxonomies: ragged trees, names, and the traps of YAML."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import HierarchyError, ParameterError
from sfumato.hierarchy import Taxonomy
from tests.hierarchy.literal import assert_nested, labels_of

WORLD = {
    "Europe": ["France", "Denmark"],
    "Asia": {"East": ["China", "Japan"], "South": ["Pakistan"]},
}


def paths(tree):
    return labels_of(Taxonomy(tree).build("x", []))


def test_a_value_that_hangs_higher_keeps_its_name_at_the_lower_levels():
    assert paths(WORLD) == {
        "France": ["France", "France", "Europe", "*"],
        "Denmark": ["Denmark", "Denmark", "Europe", "*"],
        "China": ["China", "East", "Asia", "*"],
        "Japan": ["Japan", "East", "Asia", "*"],
        "Pakistan": ["Pakistan", "South", "Asia", "*"],
    }


def test_the_marital_status_of_the_worked_example():
    tree = {"Been Married": ["Widow", "Divorced", "Married"], "Never Married": ["Single"]}
    assert paths(tree) == {
        "Widow": ["Widow", "Been Married", "*"],
        "Divorced": ["Divorced", "Been Married", "*"],
        "Married": ["Married", "Been Married", "*"],
        "Single": ["Single", "Never Married", "*"],
    }


def test_a_single_root_is_the_top():
    assert paths({"Gender": ["Male", "Female"]}) == {
        "Male": ["Male", "Gender"],
        "Female": ["Female", "Gender"],
    }


@pytest.mark.parametrize("tree", [["a", "b"], {"a": None, "b": None}, [{"a": None}, "b"]])
def test_bare_values_have_only_the_star_above_them(tree):
    assert paths(tree) == {"a": ["a", "*"], "b": ["b", "*"]}


def test_lists_may_hold_values_and_groups():
    assert paths({"A": ["a", {"B": ["b"]}], "C": "c"}) == {
        "a": ["a", "a", "A", "*"],
        "b": ["b", "B", "A", "*"],
        "c": ["c", "c", "C", "*"],
    }


def test_a_group_may_be_called_like_its_only_value():
    assert paths({"Asia": {"Japan": ["Japan"]}, "Europe": {"France": ["Paris"]}})["Japan"] == [
        "Japan",
        "Japan",
        "Asia",
        "*",
    ]


def test_numbers_are_names():
    tree = {"young": [18, 19.0], 2000: ["20"]}
    assert paths(tree) == {
        "18": ["18", "young", "*"],
        "19": ["19", "young", "*"],
        "20": ["20", "2000", "*"],
    }


def textbook(tree, above=("*",)):
    """Walk the tree and write down each value's groups, nearest first."""
    found = {}
    for key, below in tree.items():
        if isinstance(below, dict):
            found |= textbook(below, (key, *above))
        else:
            found |= dict.fromkeys(below, (key, *above))
    return found


def unique_names(shape, counter=None):
    counter = counter if counter is not None else iter(range(1000))
    if isinstance(shape, int):
        return [f"v{next(counter)}" for _ in range(shape)]
    return {f"g{next(counter)}": unique_names(part, counter) for part in shape}


SHAPES = st.recursive(st.integers(1, 3), lambda part: st.lists(part, min_size=1, max_size=3))


@given(shape=st.lists(SHAPES, min_size=2, max_size=3))
def test_agrees_with_the_textbook(shape):
    tree = unique_names(shape)
    expected = textbook(tree)
    height = max(map(len, expected.values()))
    hierarchy = Taxonomy(tree).build("x", [])
    assert_nested(hierarchy)
    assert labels_of(hierarchy) == {
        value: [value] * (height - len(groups) + 1) + list(groups)
        for value, groups in expected.items()
    }


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (
            {"Europe": {"Other": ["a"]}, "Asia": {"Other": ["b"]}},
            (
                r"the taxonomy of 'x', Asia > Other: 'Other' is already the name of "
                r"something else at level 1 \(Europe > Other\)"
            ),
        ),
        ({"A": [{"B": ["b"]}, {"B": ["c"]}], "C": ["c"]}, r"'B' is already the name"),
        ({"A": {"B": ["b"]}, "C": [{"D": ["d"]}, "B"]}, r"C > B: 'B' is already the name"),
        ({"A": ["a"], "B": ["a"]}, r"B > a: 'a' stands there already \(A > a\)"),
    ],
)
def test_names_that_would_melt_groups_together_are_refused(tree, message):
    with pytest.raises(HierarchyError, match=message):
        Taxonomy(tree).build("x", [])


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"Europe": [False, "FR"]}, r"text below Europe, got False.*NO, yes and on.*in quotes"),
        ({"A": []}, r"nothing is below A"),
        ([], r"nothing is below the top"),
        ({"A": [None]}, r"a name or a group below A, got None"),
        ({"A": [["a"]]}, r"a name or a group below A, got \['a'\]"),
    ],
)
def test_what_is_no_tree_is_refused_when_it_is_given(tree, message):
    with pytest.raises(ParameterError, match=message):
        Taxonomy(tree)


def test_a_tree_that_contains_itself_is_refused():
    tree = {}
    tree["A"] = tree
    with pytest.raises(ParameterError, match=r"at most 100 levels deep"):
        Taxonomy(tree)


@pytest.mark.parametrize("settings", [{}, {"tree": ["a"], "file": "x.yaml"}])
def test_either_a_tree_or_a_file(settings):
    with pytest.raises(ParameterError, match=r"given by either tree or file, got '(neither|both)'"):
        Taxonomy(**settings)


def test_changing_the_tree_afterwards_changes_nothing():
    tree = {"A": ["a"], "B": ["b"]}
    builder = Taxonomy(tree)
    tree["A"].append("b")
    builder.params()["tree"]["A"].append("c")
    assert builder == Taxonomy({"A": ["a"], "B": ["b"]})


@pytest.fixture
def build(tmp_path):
    def write_and_build(content):
        (tmp_path / "t.yaml").write_text(content, encoding="utf-8")
        return Taxonomy(file="t.yaml").relative_to(tmp_path).build("x", [])

    return write_and_build


def test_a_file_says_the_same_as_a_tree(build):
    h = build("Europe: [France, Denmark]\nAsia:\n  East: [China, Japan]\n  South:\n  - Pakistan\n")
    assert labels_of(h) == paths(WORLD)


def test_in_a_file_everything_is_text(build):
    h = build('Norden: [NO, yes, 007, 2020-01-01, 1e3, "", ~]\n1:\n  on:\n  "off":\n')
    assert h.values == ("NO", "yes", "007", "2020-01-01", "1e3", "", "~", "on", "off")
    assert h.labels[1] == ("Norden", "1")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("A: [a]\nB: [a]\n", r"t\.yaml, line 2: 'a' stands there already \(line 1\)"),
        ("A: [a]\nB: [b]\nA: [c]\n", r"t\.yaml, line 3: 'A' is already the name .*\(line 1\)"),
        ("A:\n- a\n-\n", r"t\.yaml, line 3: nothing is here"),
        ("A: []\n", r"t\.yaml, line 1: nothing is here"),
        ("A: [a\n", r"t\.yaml, line 2: this is not YAML"),
        ("A:\n- - a\n", r"t\.yaml, line 2: a list in a list has no name"),
        ("[a, b]: c\n", r"t\.yaml, line 1: the name of a group must be plain text"),
        ("A: &a\n  B: *a\n", r"t\.yaml, line \d: more than 100 levels deep"),
        ("", r"t\.yaml is empty"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_line(build, content, message):
    with pytest.raises(HierarchyError, match=message):
        build(content)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(HierarchyError, match=r"no hierarchy file .*world\.yaml"):
        Taxonomy(file="world.yaml").relative_to(tmp_path).build("x", [])
