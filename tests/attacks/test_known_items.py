"""The attack of those who know some items, held against one that looks at every row."""

from collections import Counter
from itertools import combinations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks import KnownItems
from sfumato.attacks.adversary.target import target_of
from sfumato.errors import UnknownColumnError
from sfumato.harm import HarmRule
from sfumato.releases.opening import open_release

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["30s", "40s"]),
        st.sampled_from(["flu", "hiv", None]),
        st.frozensets(st.sampled_from(["a", "b", "c"])),
    ),
    min_size=1,
    max_size=9,
)
POLICY = sf.Policy(
    columns={"age": "quasi-identifier", "ill": "sensitive", "items": "set"},
    models=[{"model": "km-anonymity", "k": 2, "m": 2}],
)


def target(rows):
    table = pa.table(
        {
            "age": [row[0] for row in rows],
            "ill": pa.array([row[1] for row in rows], pa.string()),
            "items": pa.array([sorted(row[2]) for row in rows], pa.list_(pa.string())),
        }
    )
    return target_of(open_release(table, POLICY))


def sets_of(row, known):
    """What an adversary may know of a person: the class, and one to so many items."""
    return [
        (row[0], frozenset(each))
        for size in range(1, known + 1)
        for each in combinations(sorted(row[2]), size)
    ]


def rows_that_fit(rows, cls, items):
    return [row for row in rows if row[0] == cls and items <= row[2]]


@given(ROWS, st.integers(1, 3))
def test_a_row_is_found_among_those_that_share_the_items(rows, known):
    rule = HarmRule()
    found = KnownItems(known).on(target(rows), rule)
    worst = [
        min((len(rows_that_fit(rows, *each)) for each in sets_of(row, known)), default=None)
        for row in rows
    ]
    told = [1 / n for n in worst if n is not None]
    assert found.posterior == pytest.approx(max(told, default=0.0))
    if len(rows) > 1:
        assert found.people == sum(n == 1 for n in worst)


@given(ROWS, st.integers(1, 3))
def test_a_value_is_believed_as_often_as_those_who_share_the_items_have_it(rows, known):
    found = KnownItems(known, "ill").on(target(rows), HarmRule())
    strongest = 0.0
    for row in rows:
        for each in sets_of(row, known):
            values = Counter(r[1] for r in rows_that_fit(rows, *each) if r[1] is not None)
            if values:
                strongest = max(strongest, max(values.values()) / sum(values.values()))
    assert all(case.posterior <= strongest + 1e-12 for case in found.worst)
    assert found.people <= len([row for row in rows if row[2]])


def test_what_all_who_share_items_have_in_common_is_learned():
    rows = [("30s", "hiv", frozenset("a"))] * 10 + [("30s", "flu", frozenset("b"))] * 40
    found = KnownItems(1, "ill").on(target(rows), HarmRule())
    assert (found.people, found.worst[0].believed) == (10, "ill = hiv")
    assert found.worst[0].who == {"age": "30s", "items": "a"}
    assert KnownItems(1).on(target(rows), HarmRule()).people == 0


def test_what_is_known_is_what_the_release_promises():
    rows = [("30s", "hiv", frozenset("a"))] * 4
    assert [str(each) for each in KnownItems.against(target(rows), HarmRule())] == [
        "known-items(known=2)",
        "known-items(known=2, ill)",
    ]


def test_a_column_that_is_not_there_is_answered_with_the_right_one():
    with pytest.raises(UnknownColumnError, match="Did you mean 'ill'"):
        KnownItems(1, "il").on(target([("30s", "hiv", frozenset("a"))]), HarmRule())
