"""Two- and three-way tables: how far what a release says of combinations of values is off."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from sfumato.counts import Column
from sfumato.hierarchy.labels import reader_of
from sfumato.typing import FloatArray, IntArray
from sfumato.usefulness.estimators import Estimator

TABLE_ERROR = "table-error"

_LINES = 10
"""Of numbers and days with more values, tables have so many ranges of about as many rows each."""

_MOST_LINES = 20
"""Of categories with more values, tables have the most frequent ones, and one line for the rest."""

_MOST_TABLES = 100
"""Of more two-way tables, or more three-way tables, so many are drawn."""


def lines_of(column: Column, rows: FloatArray) -> IntArray:
    """Return in which line of a table each value of a column stands, as an analyst would cut it.

    Args:
        column: The column.
        rows: How many rows of the original have each value; values that none has are in the line
            of their neighbours.

    >>> lines_of(Column("ill", ("flu", "gout", None)), np.array([5.0, 1.0, 2.0])).tolist()
    [0, 1, 2]
    >>> ages = lines_of(Column("age", tuple(range(40))), np.ones(40))
    >>> ages[:9].tolist(), int(ages.max())
    ([0, 0, 0, 0, 1, 1, 1, 1, 2], 9)
    """
    reader, n = reader_of(column), len(column.values)
    known = len(column.known)
    found = np.arange(n)
    if reader is not None and known > _LINES:
        points = np.array([reader(value) for value in column.known], dtype=np.float64)
        order = np.argsort(points, kind="stable")
        ranked = rows[:known][order]
        below = (np.cumsum(ranked) - ranked) / max(float(ranked.sum()), 1e-300)
        cut = np.minimum(np.floor(below * _LINES + 1e-9), _LINES - 1)
        found[order] = np.unique(cut, return_inverse=True)[1]
        found[known:] = found[:known].max() + 1
    elif reader is None and known > _MOST_LINES:
        often = np.argsort(-rows[:known], kind="stable")
        found[often] = np.minimum(np.arange(known), _MOST_LINES)
        found[known:] = _MOST_LINES + 1
    return found


def table_error(original: Estimator, release: Estimator, rng: np.random.Generator) -> float:
    """Return the mean total variation of all two- and three-way tables, between 0 and 1.

    Total variation is the share of rows that must move to another cell for the tables to agree.
    Shares are compared, so that rows which were left out are none by themselves.

    Args:
        original: The original.
        release: What was published, read by the same columns.
        rng: Draws which tables are compared, of many columns.

    Example:
        >>> from sfumato.counts import FrequencySet
        >>> rows = [("f", "flu"), ("m", "gout")]
        >>> truth = Estimator.of_original(FrequencySet.from_rows(["sex", "ill"], rows))
        >>> apart = FrequencySet.from_rows(["sex", "ill"], [("*", "flu"), ("*", "gout")])
        >>> table_error(truth, Estimator.of_table(apart, truth.columns), np.random.default_rng(1))
        0.5
    """
    names = [column.name for column in original.columns]
    lines = {
        column.name: lines_of(column, original.distribution(column.name))
        for column in original.columns
    }
    truth, shown = original.in_lines(lines), release.in_lines(lines)
    kinds = ([*combinations(names, 2)], [*combinations(names, 3)])
    chosen = [each for tables in kinds for each in _some(tables, rng)] or [(n,) for n in names]
    errors = [_variation(truth.cross(each), shown.cross(each)) for each in chosen]
    return float(np.mean(errors))


def _some(tables: Sequence[tuple[str, ...]], rng: np.random.Generator) -> list[tuple[str, ...]]:
    if len(tables) <= _MOST_TABLES:
        return list(tables)
    return [tables[at] for at in sorted(rng.permutation(len(tables))[:_MOST_TABLES].tolist())]


def _variation(one: FloatArray, other: FloatArray) -> float:
    """Return the total variation between two tables of counts; 1 if one of them is empty."""
    first, second = float(one.sum()), float(other.sum())
    if min(first, second) <= 0:
        return 1.0
    return float(np.abs(one / first - other / second).sum() / 2)
