"""Columns for tests of perturbations: made of lists, read back as lists."""

import numpy as np
from hypothesis import strategies as st

from sfumato.counts import Column
from sfumato.perturbations import (
    BottomCoding,
    ColumnCells,
    CorrelatedNoise,
    PlainNoise,
    Pram,
    RankSwapping,
    RecordSwapping,
    Rounding,
    SeenColumn,
    TopCoding,
)
from sfumato.text import in_order, text_of

WHOLE = st.integers(-50, 50)
CENTS = st.integers(-5000, 5000).map(lambda n: n / 100)
TEXTS = st.integers(-500, 500).map(lambda n: f"{n / 10:.1f}")
COLUMNS = st.one_of(
    *(
        st.lists(st.one_of(cell, st.none()), min_size=0, max_size=30)
        for cell in (WHOLE, CENTS, TEXTS)
    )
)
"""Numbers of one kind, some of them missing."""

VARIANTS = [
    Rounding(step=0.5, to="down"),
    Rounding(step=7, to="up"),
    TopCoding(above="80%"),
    TopCoding(above=10, becomes=12.5),
    BottomCoding(below="20%"),
    BottomCoding(below=-1.5, becomes=-2),
    PlainNoise(sd=3, shape="uniform"),
    PlainNoise(sd="25%", shape="laplace", at_least=-10, at_most=10.5),
    CorrelatedNoise(sd=2, at_most=40),
    RankSwapping(distance=2),
    RecordSwapping(share=0.5),
    Pram(keep=0.25),
    Pram(matrix={"1": {"1": 0.5, "2": 0.25, "-3": 0.25}, "5": {"5": 1}}),
]


def cells_of(values, name="pay") -> ColumnCells:
    """Return the cells of one column."""
    ordered = in_order(set(values))
    place = {value: at for at, value in enumerate(ordered)}
    codes = np.array([place[value] for value in values], dtype=np.int64)
    return ColumnCells(Column(name, tuple(ordered)), codes)


def values_of(cells: ColumnCells) -> list:
    return [cells.column.values[code] for code in cells.codes]


def change(member, values, seed=0, groups=None) -> list:
    """Return the values of a column after a perturbation."""
    level = None if groups is None else np.asarray(groups, dtype=np.int64)
    [found] = member.change([cells_of(values)], level, np.random.default_rng(seed))
    return values_of(found)


def seen(values) -> SeenColumn:
    """Return what readers see of a column."""
    ordered = tuple(in_order(set(values)))
    rows = np.array([values.count(value) for value in ordered], dtype=np.int64)
    return SeenColumn("pay", ordered, rows)


def likelihood(member, shown: SeenColumn) -> np.ndarray:
    """Return a line for each true value, with how likely each is published."""
    every = np.arange(len(shown.values))
    return member.likelihood(every[None, :], every[:, None], shown)


def number(value) -> float:
    return float(text_of(value))
