"""Hierarchies and ladders: what is refused, what is kept, and where missing values go."""

from datetime import date
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import HierarchyError
from sfumato.hierarchy import Hierarchy
from tests.hierarchy.literal import assert_nested

PATHS = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.sampled_from("**+")), min_size=1
)


@given(paths=PATHS)
def test_accepts_exactly_the_paths_that_nest(paths):
    values = [f"v{i}" for i in range(len(paths))]
    pairs = [(one, other) for one in paths for other in paths]
    nested = (
        all((a[0] != b[0] or a[1] == b[1]) and (a[1] != b[1] or a[2] == b[2]) for a, b in pairs)
        and len({path[-1] for path in paths}) == 1
    )
    if nested:
        assert_nested(Hierarchy.from_paths(values, paths))
    else:
        with pytest.raises(HierarchyError, match=r"splits|the top level must be one value"):
            Hierarchy.from_paths(values, paths)


def test_a_split_group_is_named_with_both_its_places():
    with pytest.raises(
        HierarchyError,
        match=r"^h\.csv, line 9: level 2 splits 'east' of level 1: here it is in 'Europe', "
        r"at line 7 it is in 'Asia'\. ",
    ):
        Hierarchy.from_paths(
            ["a", "b", "c"],
            [["east", "Asia", "*"], ["west", "Asia", "*"], ["east", "Europe", "*"]],
            origin="h.csv",
            places=["line 7", "line 8", "line 9"],
        )


@pytest.mark.parametrize(
    ("values", "paths", "message"),
    [
        ([], [], r"^hierarchy: there are no values in it"),
        (["a", "b"], [["*"], ["x", "*"]], r"entry 2: 'b' has 2 levels .* first entry has 1"),
        (["a", "b", "a"], [["*"]] * 3, r"entry 3: 'a' stands there already \(entry 1\)"),
        ([39, "39"], [["*"]] * 2, r"entry 2: '39' stands there already"),
        (["a", "b"], [["A"], ["B"]], r"top level must be one value, it has 2: 'A', 'B'.*'\*'"),
    ],
)
def test_refuses_what_is_no_hierarchy(values, paths, message):
    with pytest.raises(HierarchyError, match=message):
        Hierarchy.from_paths(values, paths)


def test_values_match_however_they_are_typed():
    h = Hierarchy.from_paths(["39", "2020-01-31", "2.5"], [["*"]] * 3)
    values = [39.0, date(2020, 1, 31), Decimal("2.50")]
    assert h.bind("x", values).labels[0] == tuple(values)


def test_uncovered_values_are_named():
    h = Hierarchy.from_paths(["a"], [["*"]])
    with pytest.raises(
        HierarchyError,
        match=r"hierarchy of 'x' does not cover 2 of its 3 values: 'b', 7\. Add them",
    ):
        h.bind("x", ["a", "b", None, 7])


def test_a_value_spelt_with_other_capitals_is_pointed_out():
    h = Hierarchy.from_paths(["True", "False"], [["*"], ["*"]])
    with pytest.raises(HierarchyError, match=r"It has 'True': mind capitals and blanks"):
        h.bind("x", [True])


def test_missing_values_stay_apart_below_the_top_only():
    h = Hierarchy.from_paths(["a", "b", "c"], [["ab", "*"], ["ab", "*"], ["c", "*"]])
    ladder = h.bind("x", ["c", "a", None])
    assert ladder.labels == (("c", "a", None), ("ab", "c", None), ("*",))
    assert ladder.codes.tolist() == [[0, 1, 2], [1, 0, 2], [0, 0, 0]]


def test_leaves_count_the_hierarchy_not_the_table():
    h = Hierarchy.from_paths(["a", "b", "c"], [["ab", "*"], ["ab", "*"], ["c", "*"]])
    without = h.bind("x", ["a"])
    assert [leaves.tolist() for leaves in without.leaves] == [[1], [2], [3]]
    assert without.n_leaves == 3
    missing = h.bind("x", ["a", None])
    assert [leaves.tolist() for leaves in missing.leaves] == [[1, 1], [2, 1], [4]]
    assert missing.n_leaves == 4


@given(
    paths=st.lists(st.integers(0, 5), min_size=1, max_size=12),
    picks=st.lists(st.integers(0, 11), max_size=8, unique=True),
    missing=st.booleans(),
)
def test_a_ladder_says_of_each_value_what_the_hierarchy_says(paths, picks, missing):
    h = Hierarchy.from_paths(
        [f"v{i}" for i in range(len(paths))], [[f"g{p}", f"h{p // 2}", "*"] for p in paths]
    )
    picks = [pick for pick in picks if pick < len(paths)]
    ladder = h.bind("x", [*(f"v{i}" for i in picks), *([None] if missing else [])])
    assert ladder.height == 3
    for at, i in enumerate(picks):
        told = [ladder.labels[level][ladder.codes[level, at]] for level in range(4)]
        assert told == [f"v{i}", f"g{paths[i]}", f"h{paths[i] // 2}", "*"]
    for level in range(4):
        assert len(ladder.labels[level]) == len(ladder.leaves[level])
        assert set(ladder.codes[level].tolist()) == set(range(len(ladder.labels[level])))
        for label, leaves in zip(ladder.labels[level], ladder.leaves[level], strict=True):
            group = "gh"[level - 1] if 0 < level < 3 else ""
            if label is None:
                assert leaves == 1
            elif group:
                of = [f"g{p}" if group == "g" else f"h{p // 2}" for p in paths]
                assert leaves == of.count(label)
            else:
                assert leaves == (1 if level == 0 else len(paths) + missing)


def test_a_rule_may_meet_one_value_in_several_types():
    h = Hierarchy.from_function("x", [1, "1", 2], lambda _: ["*"])
    assert len(h.values) == 2
    assert np.array_equal(h.bind("x", [1, "1", 2]).codes, [[0, 1, 2], [0, 0, 0]])
