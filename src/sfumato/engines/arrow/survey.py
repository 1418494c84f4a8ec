"""Counting with a limit: as many combinations as fit, and what is there to know of the rest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.counts import Column
from sfumato.engines.arrow.build import from_numpy
from sfumato.engines.arrow.codebook import MISSING, Codebook
from sfumato.engines.arrow.values import python_values
from sfumato.text import in_order
from sfumato.typing import CodeArray, IntArray, Value

SAMPLE = 1 << 20
"""Rows that are kept to estimate from, at most."""


@dataclass(frozen=True, eq=False)
class Survey:
    """What one pass over a table found that has too many combinations to hold them all."""

    columns: tuple[Column, ...]
    frequencies: Mapping[str, IntArray]
    """How many rows have each value of a column; of the complete rows, if only those matter."""

    sample: CodeArray
    """`sample[c, i]`: the value of column c in the i-th of some rows, drawn at random."""

    rows: int
    """How many rows there are."""


class Sample:
    """Keeps rows at random, each with the same probability, never many more than asked for.

    When there are too many, every other one goes and from then on half as many are kept.

    Args:
        columns: How many columns a row has.
        size: How many rows to keep at most.

    Example:
        >>> sample = Sample(1, size=100)
        >>> for start in range(0, 10_000, 1000):
        ...     sample.add([np.arange(start, start + 1000)])
        >>> kept = sample.codes()[0]
        >>> len(kept) <= 100, len(set(kept.tolist())) == len(kept)
        (True, True)
    """

    def __init__(self, columns: int, size: int = SAMPLE) -> None:
        self._size = size
        self._share = 1.0
        self._kept = [np.empty((columns, 0), dtype=np.int32)]
        # Always the same seed: equal tables are to be treated alike.
        self._rng = np.random.default_rng(0)

    def add(self, codes: Sequence[np.ndarray]) -> None:
        """Keep some rows of a batch."""
        rows = np.array(codes, dtype=np.int32)
        self._kept.append(self._some(rows, self._share))
        while sum(part.shape[1] for part in self._kept) > self._size:
            self._share /= 2
            self._kept = [self._some(self.codes(), 0.5)]

    def codes(self) -> CodeArray:
        """Give what was kept, one row of codes per column."""
        return np.concatenate(self._kept, axis=1)

    def _some(self, rows: CodeArray, share: float) -> CodeArray:
        return rows if share == 1 else rows[:, self._rng.random(rows.shape[1]) < share]


class Frequencies:
    """Counts the values of each column by itself, over all rows or over the complete ones.

    Args:
        columns: How many columns there are.
        complete: The columns that must not be missing in a row for it to be counted.

    Example:
        >>> seen = Frequencies(2, complete=[1])
        >>> seen.add([np.array([1, 1, 2]), np.array([0, 1, 1])], [3, 2])
        >>> [rows.tolist() for rows in seen.rows]
        [[0, 1, 1], [0, 2]]
    """

    def __init__(self, columns: int, complete: Sequence[int] = ()) -> None:
        self.rows: list[IntArray] = [np.zeros(0, dtype=np.int64) for _ in range(columns)]
        """How many rows have each code of each column; code 0 is the missing value."""

        self.met: list[IntArray] = [np.zeros(0, dtype=np.int64) for _ in range(columns)]
        """The same over all rows."""

        self._complete = tuple(complete)

    def add(self, codes: Sequence[np.ndarray], sizes: Sequence[int]) -> None:
        """Count a batch; `sizes` is how many codes each column has so far."""
        self.met = _added(self.met, codes, sizes)
        if not self._complete:
            self.rows = self.met
            return
        whole = np.logical_and.reduce([codes[c] > 0 for c in self._complete])
        self.rows = _added(self.rows, [column[whole] for column in codes], sizes)


def _added(
    before: Sequence[IntArray], codes: Sequence[np.ndarray], sizes: Sequence[int]
) -> list[IntArray]:
    after = []
    for old, column, size in zip(before, codes, sizes, strict=True):
        new = np.bincount(column, minlength=size)
        new[: len(old)] += old
        after.append(new)
    return after


def surveyed(books: Sequence[Codebook], alone: Frequencies, sample: Sample) -> Survey:
    """Put together what was found, with values in the order that all counts have them in."""
    kept = sample.codes()
    columns, frequencies, codes = [], {}, np.empty_like(kept)
    for i, book in enumerate(books):
        used = np.flatnonzero(alone.met[i])
        known = used[used != MISSING]
        values: list[Value] = python_values(book.values.take(from_numpy(known - 1)), book.column)
        ordered = in_order(values)
        place = {value: at for at, value in enumerate(ordered)}
        # A missing value comes last, if there is one; no row has the codes that are not used.
        number = np.full(len(book), len(ordered), dtype=np.int32)
        number[known] = [place[value] for value in values]
        if len(known) < len(used):
            ordered.append(None)
        columns.append(Column(book.column, tuple(ordered)))
        rows = np.zeros(len(ordered), dtype=np.int64)
        rows[number[used]] = alone.rows[i][used]
        frequencies[book.column] = rows
        codes[i] = number[kept[i]]
    return Survey(tuple(columns), frequencies, codes, int(alone.met[0].sum()))
