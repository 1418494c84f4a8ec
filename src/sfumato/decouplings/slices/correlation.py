"""Correlation of two attributes, from counts."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from sfumato.classes import Weights
from sfumato.counts import Column, FrequencySet, group, sums
from sfumato.dataclasses import dataclass
from sfumato.text import date_of, number_of
from sfumato.typing import BoolArray, CodeArray, FloatArray, IntArray

Cells: TypeAlias = tuple[IntArray, IntArray, IntArray]
"""Of each pair of values that occurs: the first, the second, and the rows that have both."""

BINS = 20
"""Numbers and days of more values than this are put into this many bins, each with as many rows."""


@dataclass(frozen=True, eq=False)
class Correlations:
    """How strongly each pair of attributes is tied, between 0 (not at all) and 1.

    Example:
        >>> rows = [("f", "x", 1), ("f", "x", 2), ("m", "y", 1), ("m", "y", 2)]
        >>> counts = FrequencySet.from_rows(["sex", "name", "day"], rows)
        >>> correlations(counts, ["sex", "name", "day"]).strength.tolist()
        [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    names: tuple[str, ...]
    strength: FloatArray
    """`strength[i, j]`: what the measure gives for attributes i and j."""

    told: FloatArray
    """`told[i, j]`: the share of rows in which neither of the two is hidden."""

    def between(self, one: str, other: str) -> float:
        """Return the strength of one pair."""
        return float(self.strength[self.names.index(one), self.names.index(other)])


def correlations(
    counts: FrequencySet,
    names: Sequence[str],
    *,
    measure: str = "phi-square",
    bins: int = BINS,
    hidden: str | None = None,
) -> Correlations:
    """Measure all pairs of some attributes.

    Args:
        counts: The table.
        names: The attributes.
        measure: One of `MEASURES`.
        bins: How many bins numbers and days of more values are put into, each with as many rows.
        hidden: What stands where a value is not told: such rows say nothing of the pair.

    Example:
        >>> rows = [("f", "x"), ("f", "y"), ("m", "x"), ("m", "y"), ("*", "z")]
        >>> counts = FrequencySet.from_rows(["sex", "name"], rows)
        >>> correlations(counts, ["sex", "name"], hidden="*").between("sex", "name")
        0.0
    """
    strength_of = MEASURES[measure]
    binned = {name: _bin(counts, name, bins, hidden) for name in names}
    open_ = {name: _find_open(counts, name, hidden) for name in names}
    strength, told = np.eye(len(names)), np.eye(len(names))
    for i, one in enumerate(names):
        told[i, i] = counts.rows[open_[one]].sum() / max(counts.total, 1)
        for j, other in enumerate(names[:i]):
            both = open_[one] & open_[other]
            cells = cells_of(binned[one][both], binned[other][both], counts.rows[both])
            strength[i, j] = strength[j, i] = strength_of(*cells)
            told[i, j] = told[j, i] = counts.rows[both].sum() / max(counts.total, 1)
    return Correlations(tuple(names), strength, told)


def _find_open(counts: FrequencySet, name: str, hidden: str | None) -> BoolArray:
    """Return of each combination whether a column of it is not hidden."""
    values = counts.column(name).values
    known = np.array([hidden is None or value != hidden for value in values], dtype=bool)
    found: BoolArray = np.append(known, True)[counts.codes_of(name)]
    return found


def cells_of(one: CodeArray, other: CodeArray, rows: IntArray) -> Cells:
    """Count the pairs of codes that occur."""
    sizes = [int(codes.max(initial=0)) + 1 for codes in (one, other)]
    groups = group([one, other], sizes)
    first, second = one[groups.first], other[groups.first]
    return first.astype(np.int64), second.astype(np.int64), sums(groups.of_item, rows, groups.n)


def cells_in(table: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """List the pairs of values that a table of two attributes has, and what it says of each.

    >>> cramers_v(*cells_in(np.array([[5.0, 0.0], [0.0, 5.0]])))
    1.0
    """
    one, other = np.nonzero(table)
    return one, other, table[one, other]


def phi_square(one: IntArray, other: IntArray, rows: Weights) -> float:
    """Return χ²/n of the table of two attributes.

    Σ (fᵢⱼ - fᵢ fⱼ)² / (fᵢ fⱼ) = Σ fᵢⱼ² / (fᵢ fⱼ) - 1, so that only pairs that occur count.

    >>> phi_square(np.array([0, 1]), np.array([0, 1]), np.array([5, 5]))
    1.0
    """
    if not rows.sum() > 0:
        return 0.0
    share, first, second = _shares(one, other, rows)
    return max(float((share * share / (first * second)).sum()) - 1, 0.0)


def mean_square_contingency(one: IntArray, other: IntArray, rows: Weights) -> float:
    """Return φ²/(min(a, b) - 1) for attributes of a and b values: 0 if independent, at most 1."""
    fewer = min(len(np.unique(one)), len(np.unique(other)))
    return 0.0 if fewer < 2 else min(phi_square(one, other, rows) / (fewer - 1), 1.0)


def cramers_v(one: IntArray, other: IntArray, rows: Weights) -> float:
    """Return the root of the mean-square contingency."""
    return float(np.sqrt(mean_square_contingency(one, other, rows)))


def mutual_information(one: IntArray, other: IntArray, rows: Weights) -> float:
    """Return how many bits one attribute tells about the other.

    >>> mutual_information(np.array([0, 1]), np.array([0, 1]), np.array([5, 5]))
    1.0
    """
    if not rows.sum() > 0:
        return 0.0
    share, first, second = _shares(one, other, rows)
    return max(float((share * np.log2(share / (first * second))).sum()), 0.0)


def shared_information(one: IntArray, other: IntArray, rows: Weights) -> float:
    """Return the mutual information over the most it could be, the smaller of the two entropies.

    0 if the attributes are independent, 1 if one of them tells the other.

    >>> shared_information(np.array([0, 1, 2]), np.array([0, 1, 1]), np.array([2, 1, 1]))
    1.0
    """
    most = min(_bits(each, rows) for each in (one, other))
    return min(mutual_information(one, other, rows) / most, 1.0) if most > 0 else 0.0


MEASURES: dict[str, Callable[[IntArray, IntArray, Weights], float]] = {
    "phi-square": mean_square_contingency,
    "cramers-v": cramers_v,
    "mutual-information": shared_information,
}
"""How strongly two attributes are tied, each between 0 and 1."""


def _shares(
    one: IntArray, other: IntArray, rows: Weights
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the share of each pair, and of each of its two values."""
    share: FloatArray = rows / rows.sum()
    first: FloatArray = np.bincount(one, share).astype(np.float64)
    second: FloatArray = np.bincount(other, share).astype(np.float64)
    return share, first[one], second[other]


def _bits(numbers: IntArray, rows: Weights) -> float:
    """Return the entropy of one attribute."""
    of_value = np.bincount(numbers, rows)
    share = of_value[of_value > 0] / max(of_value.sum(), 1)
    return float(-(share * np.log2(share)).sum())


def _bin(counts: FrequencySet, name: str, bins: int, hidden: str | None) -> CodeArray:
    """Return codes of which a number or a day with many values has only a few."""
    column, rows = counts.column(name), counts.value_counts(name)
    # What is hidden is no number, and must not keep the others from being numbers.
    known = np.array([hidden is None or value != hidden for value in column.values], dtype=bool)
    told = Column(name, tuple(v for v, shown in zip(column.values, known, strict=True) if shown))
    place = np.full(len(column.values), -1, dtype=np.int64)
    place[known] = bin_values(told, rows[known], bins)
    found: CodeArray = place[counts.codes_of(name)].astype(np.int32)
    return found


def bin_values(column: Column, rows: IntArray, bins: int) -> IntArray:
    """Return the bin of each value; a value is its own bin unless there are many numbers or days.

    Args:
        column: The column.
        rows: The rows of each of its values.
        bins: How many bins there are, each with about as many rows.

    >>> bin_values(Column("age", (20, 30, 40, 50)), np.array([1, 1, 1, 1]), 2).tolist()
    [0, 0, 1, 1]
    """
    if len(column.values) <= bins or not _is_scale(column):
        return np.arange(len(column.values))
    known = rows[: len(column.known)]
    before = np.cumsum(known) - known
    # A value is where the middle of its rows is, so that a frequent one is a bin of its own.
    place = ((before + known / 2) * bins // max(int(known.sum()), 1)).astype(np.int64)
    rest = np.full(len(rows) - len(known), bins, dtype=np.int64)
    return np.append(np.minimum(place, bins - 1), rest)


def _is_scale(column: Column) -> bool:
    """Return whether neighbours in the dictionary of a column are neighbours in the world."""
    return any(
        all(read(value) is not None for value in column.known) for read in (number_of, date_of)
    )
