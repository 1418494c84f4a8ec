"""Random tables that fit a broken release."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts import FrequencySet
from sfumato.decouplings.base import GroupedTables
from sfumato.leaks.exposure import random_table

NAMES = ("q", "s", "t")
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["1", "2", None]),
        st.sampled_from(["a", "b", None]),
        st.sampled_from(["x", "y", "z"]),
    ),
    min_size=1,
    max_size=30,
)


@given(rows=ROWS, seed=st.integers(0, 5))
def test_it_fits_what_is_published(rows, seed):
    grouped = GroupedTables.of(FrequencySet.from_rows(NAMES, rows), ["q"], ["s", "t"])
    again = GroupedTables.of(random_table(grouped, np.random.default_rng(seed)), ["q"], ["s", "t"])
    assert again.labels.tolist() == grouped.labels.tolist()
    assert again.sizes.tolist() == grouped.sizes.tolist()
    for mine, theirs in zip(again.sensitive, grouped.sensitive, strict=True):
        assert mine.group.tolist() == theirs.group.tolist()
        assert mine.value.tolist() == theirs.value.tolist()
        assert mine.rows.tolist() == theirs.rows.tolist()


def test_nothing_but_the_group_ties_columns_together():
    """In a group of two and two, each pairing comes about as often as chance has it."""
    rows = [("1", "a", "x"), ("1", "a", "x"), ("1", "b", "y"), ("1", "b", "y")]
    grouped = GroupedTables.of(FrequencySet.from_rows(NAMES, rows), ["q"], ["s", "t"])
    together = 0
    for seed in range(600):
        table = random_table(grouped, np.random.default_rng(seed))
        together += len(table) == 2 and table.codes[1].tolist() == table.codes[2].tolist()
    # One of the six ways to deal two x and two y gives both to the a's.
    assert 60 < together < 145
