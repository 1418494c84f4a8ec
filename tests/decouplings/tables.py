"""Small tables to decouple."""

import pyarrow as pa
from hypothesis import strategies as st

NAMES = ["age", "zip", "ill", "pay"]
QI, SENSITIVE = NAMES[:2], NAMES[2:]

CELLS = st.sampled_from(["a", "b", "c", None])
ROWS = st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS), min_size=1, max_size=30)
"""Rows of two quasi-identifiers and two sensitive columns."""

ODD = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6
)
"""Column names as bad as they come."""


def table(rows, names=NAMES, kind=None):
    columns = list(zip(*rows, strict=True)) or [[] for _ in names]
    kind = kind or pa.string()
    return pa.table({name: pa.array(c, kind) for name, c in zip(names, columns, strict=True)})


CENSUS = ("age", "gender", "zipcode")
CENSUS_SENSITIVE = ("government", "marital_status", "salary")
FIRST = ("[30-50]", "F", "[13000-23000]")
SECOND = ("[51-90]", "M", "[24000-58000]")
PRINTED = {
    "government": {
        FIRST: {"State-gov": 2, "Federal-gov": 1, "Private": 1, "Local-gov": 1},
        SECOND: {"Private": 3, "Self-emp": 1, "Federal-gov": 1},
    },
    "marital_status": {
        FIRST: {"Married": 1, "Never-Married": 2, "Divorced": 1, "Separated": 1},
        SECOND: {"Married": 3, "Never-Married": 1, "Divorced": 1},
    },
    "salary": {FIRST: {"<=50K": 4, ">50K": 1}, SECOND: {"<=50K": 3, ">50K": 2}},
}
"""The sensitive tables of the ten census records, as they were printed."""
