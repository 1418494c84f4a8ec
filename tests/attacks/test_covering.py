"""Classes of locally recoded releases, held against rows one by one."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attacks import Membership
from sfumato.attacks import matching as covering
from sfumato.counts import Column, FrequencySet
from sfumato.decouplings.base import LinkedTables
from sfumato.errors import ParameterError
from sfumato.hierarchy import Hierarchy
from sfumato.hierarchy.labels import LabelIndex, Labels
from tests.attacks.reading import Written, matched

PATHS = {"a": ["ab", "*"], "b": ["ab", "*"], "c": ["c", "*"]}
UNDER = {"a": "a", "b": "b", "c": "c", "ab": "ab", "*": "abc"}
"""What each label of the hierarchy stands for, by hand."""

RAW = st.tuples(st.sampled_from("abc"), st.sampled_from("abc"))
LABEL = st.sampled_from(list(UNDER))
LADDER = Hierarchy.from_paths(list(PATHS), list(PATHS.values())).bind("x", list(PATHS))


def counted(rows):
    return FrequencySet.from_rows(["x", "y"], rows)


def every_row(people):
    sizes = [len(column.values) for column in people.columns]
    return np.array(list(product(*map(range, sizes))), dtype=np.int32).T


def test_what_labels_stand_for_comes_from_the_hierarchy():
    raw, shown = Column("x", tuple(PATHS)), Column("x", tuple(UNDER))
    found = Labels({"x": LADDER}).read(raw, shown)
    assert {
        label: {raw.values[code] for code in codes}
        for label, codes in zip(UNDER, found, strict=True)
    } == {label: set(raw) for label, raw in UNDER.items()}


@given(
    st.lists(RAW, min_size=1, max_size=8),
    st.lists(st.tuples(LABEL, LABEL), min_size=1, max_size=8),
    st.integers(1, 20),
)
def test_classes_are_matched_as_if_one_by_one(rows, classes, at_once):
    people = counted(rows)
    labels = Labels({"x": LADDER, "y": LADDER}, strict=False)
    found = covering.matcher(people, LinkedTables((counted(classes),)), labels)
    codes = every_row(people)
    values = [c.values for c in people.columns]
    expected = [
        sum(
            values[0][x] in UNDER[label_x] and values[1][y] in UNDER[label_y]
            for label_x, label_y in set(classes)
        )
        for x, y in codes.T.tolist()
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(covering, "_CELLS", at_once)
        assert found.matches(codes).tolist() == expected


@given(st.lists(RAW, min_size=1, max_size=8), st.integers(0, 2), st.integers(0, 2))
def test_where_every_value_became_one_label_groups_say_the_same(rows, level_x, level_y):
    became = [{raw: [raw, *path][level] for raw, path in PATHS.items()} for level in (0, 1, 2)]
    labels = {"x": became[level_x], "y": became[level_y]}
    people = counted(rows)
    published = counted([(labels["x"][x], labels["y"][y]) for x, y in rows])
    covers = {
        name: {label: [raw for raw in each if each[raw] == label] for label in each.values()}
        for name, each in labels.items()
    }
    one = matched(people, [published], covers=covers)
    assert isinstance(one, covering.ExactMatcher)
    tables = LinkedTables((published,))
    index = {
        name: LabelIndex.of(people.column(name), published.column(name), Written(covers))
        for name in people.names
    }
    other = covering.CoveringMatcher.of(people, tables, [index])
    codes = every_row(people)
    assert one.matches(codes).tolist() == other.matches(codes).tolist()
    rng = np.random.default_rng(0)
    found = [Membership().run(people, matcher, rng=rng) for matcher in (one, other)]
    assert found[0] == found[1]


def test_missing_values_and_other_types_match_what_is_written_alike():
    people = FrequencySet.from_rows(["x"], [(1,), (2,), (None,)])
    published = FrequencySet.from_rows(["x"], [("1",), (None,), ("1-2",)])
    found = matched(people, [published], covers={"x": {"1-2": ["1", "2", "9"]}})
    assert found.matches(people.codes).tolist() == [2, 1, 1]


def test_other_columns_are_refused():
    with pytest.raises(ParameterError, match="tables of the columns"):
        matched(counted([("a", "b")]), [FrequencySet.from_rows(["x"], [("a",)])])
