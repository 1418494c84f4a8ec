"""Small tables to publish, and queries about them."""

import numpy as np
from hypothesis import strategies as st

from sfumato.counts import FrequencySet
from sfumato.usefulness import Condition, Query

NAMES = ["age", "sex", "ill", "pay"]
QI, SENSITIVE = NAMES[:2], NAMES[2:]

AGES = st.sampled_from([21, 24, 29, 30, 37, None])
ROWS = st.lists(
    st.tuples(
        AGES,
        st.sampled_from(["f", "m"]),
        st.sampled_from(["flu", "gout", "hiv", None]),
        st.sampled_from(["low", "mid", "high"]),
    ),
    min_size=1,
    max_size=30,
)
"""Rows of two quasi-identifiers and two sensitive columns."""


def counts_of(rows, names=NAMES) -> FrequencySet:
    return FrequencySet.from_rows(names, rows)


@st.composite
def queries(draw, counts, names=None):
    """Any set of values of any columns."""
    conditions = []
    for column in counts.columns:
        if (names is None or column.name in names) and draw(st.booleans()):
            n = len(column.values)
            allowed = draw(st.lists(st.booleans(), min_size=n, max_size=n))
            conditions.append(Condition(column, np.array(allowed, dtype=bool)))
    return Query(tuple(conditions))


def keeps(row, query, names=NAMES) -> bool:
    """Tell word by word whether a raw row is counted."""
    for condition in query.conditions:
        value = row[names.index(condition.column.name)]
        if not condition.allowed[condition.column.values.index(value)]:
            return False
    return True
