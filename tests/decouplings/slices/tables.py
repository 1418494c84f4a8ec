"""Small tables and the ways to slice them."""

from dataclasses import asdict
from functools import partial
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from sfumato.counts import FrequencySet
from sfumato.decouplings.slices import (
    Columns,
    DiversityForm,
    EntropyForm,
    Probabilistic,
    Recursive,
    SubTuples,
)
from tests.decouplings.slices import literal

NAMES = ["age", "sex", "zip", "ill"]
ROWS = st.lists(
    st.tuples(*[st.sampled_from("abc")] * 3, st.sampled_from("uvwx")), min_size=1, max_size=24
)
WITH_MISSING = st.lists(
    st.tuples(*[st.sampled_from("abc")] * 3, st.sampled_from([*"uvwx", None])),
    min_size=1,
    max_size=24,
)
COLUMNS = st.sampled_from(
    [
        (("age", "sex"), ("zip", "ill")),
        (("age",), ("sex",), ("zip",), ("ill",)),
        (("age", "sex", "zip"), ("ill",)),
        (("age",), ("sex", "zip", "ill")),
        # Overlapping.
        (("age", "sex"), ("sex", "zip"), ("zip", "ill")),
        (("age", "sex"), ("sex", "zip"), ("age", "zip"), ("sex", "ill")),
    ]
)


def laid_of(rows, columns, names=NAMES):
    """Give the counted table, and the same laid into columns."""
    counts = FrequencySet.from_rows(names, rows)
    return counts, SubTuples.of(counts, Columns(columns, (names[-1],)))[0]


def row_of(counts, item):
    return tuple(column.values[counts.codes[c, item]] for c, column in enumerate(counts.columns))


def buckets_of(counts, bucket):
    """Give the rows of every bucket."""
    found = [[] for _ in range(int(bucket.max(initial=-1)) + 1)]
    for item in range(len(counts)):
        found[bucket[item]] += [row_of(counts, item)] * int(counts.rows[item])
    return [rows for rows in found if rows]


def some_buckets(data, counts, most=4):
    numbers = data.draw(
        st.lists(st.integers(0, most - 1), min_size=len(counts), max_size=len(counts))
    )
    return np.unique(np.array(numbers, dtype=np.int64), return_inverse=True)[1]


class Asked(NamedTuple):
    """A form of diversity, and the same written down word by word."""

    form: DiversityForm
    diverse: partial


def asked(form):
    return Asked(form, partial(getattr(literal, form.name), **asdict(form)))


FORMS = st.one_of(
    st.builds(Probabilistic, st.integers(2, 4)),
    st.builds(EntropyForm, st.sampled_from([1.25, 2, 2.5, 3, 4])),
    # Such c as are reached exactly, where it is not enough.
    st.builds(Recursive, st.integers(2, 3), st.sampled_from([0.5, 1, 1.5, 2, 3, 4])),
).map(asked)
