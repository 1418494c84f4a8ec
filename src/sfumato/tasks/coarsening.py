"""Choosing levels to start from, where a table has too many combinations to count them all."""

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.hierarchy import Ladder
from sfumato.typing import CodeArray, Node

Numbers: TypeAlias = npt.NDArray[np.uint64]


def estimated(once: int, more: int, sampled: int, rows: int) -> float:
    """Estimate how many combinations a table has from a sample of its rows.

    What was met several times is common and has been met in most samples; what was met once
    stands for others like it. The estimate is off by a factor of √(rows / sampled) at most,
    apart from chance, and no other estimate from a sample can promise less.

    Reference: "Towards estimation error guarantees for distinct values", 2000,
    doi:10.1145/335168.335230

    Args:
        once: How many combinations one row of the sample has.
        more: How many combinations several rows of it have.
        sampled: How many rows the sample has.
        rows: How many rows the table has.

    >>> estimated(40, 10, sampled=100, rows=400), estimated(40, 10, sampled=100, rows=100)
    (90.0, 50.0)
    """
    return min(once * math.sqrt(rows / max(sampled, 1)) + more, float(rows))


class Coarsening:
    """Levels for some columns, and how many combinations there are about at them.

    Args:
        ladders: One per column; None for a column that must stay as it is.
        lowest: The level of each column to begin with; 0 where there is no ladder.
        highest: The highest level of each column.

    Example:
        >>> from sfumato.hierarchy import Masking
        >>> ladder = Masking().ladder("zip", ["10", "11", "20"])
        >>> levels = Coarsening([ladder], (0,), (2,))
        >>> levels.raise_until(np.array([[0, 1, 2, 2]], dtype=np.int32), rows=4, most=2)
        2.0
        >>> levels.node, [codes.tolist() for codes in levels.merged([3])]
        ((1,), [[0, 0, 2]])
    """

    def __init__(self, ladders: Sequence[Ladder | None], lowest: Node, highest: Node) -> None:
        self.node = lowest
        self._ladders = ladders
        self.highest = highest

    def merged(self, sizes: Sequence[int]) -> list[CodeArray]:
        """Give for each value of each column the first one with the same label.

        A missing value stays apart, whatever its label: policies treat it in their own way.

        Args:
            sizes: How many values each column has; a missing one is the last, and may be unknown
                to the column's ladder.
        """
        return [
            np.arange(size, dtype=np.int32) if ladder is None else _first_alike(ladder, level, size)
            for ladder, level, size in zip(self._ladders, self.node, sizes, strict=True)
        ]

    def raise_until(self, sample: CodeArray, *, rows: int, most: float) -> float:
        """Raise levels, each time where it saves most, until there are few enough combinations.

        Args:
            sample: The values of some rows, one row of codes per column.
            rows: How many rows they stand for.
            most: How many combinations there may be.

        Returns:
            How many there are about; more than there may be if no level is left to raise.
        """
        sizes = [int(codes.max(initial=0)) + 1 for codes in sample]
        parts = [self._hashed(c, self.node[c], sample[c], sizes[c]) for c in range(len(sizes))]
        whole = np.zeros(sample.shape[1], dtype=np.uint64)
        for part in parts:
            whole += part
        now = _distinct(whole, rows)
        while now > most:
            tried = {
                c: self._hashed(c, self.node[c] + 1, sample[c], sizes[c])
                for c in range(len(sizes))
                if self._ladders[c] is not None and self.node[c] < self.highest[c]
            }
            if not tried:
                break
            found = {c: _distinct(whole - parts[c] + part, rows) for c, part in tried.items()}
            # Where nothing is saved yet, the column whose labels become fewest is on its way.
            best = min(found, key=lambda c: (found[c], self._shrinks(c), c))
            whole += tried[best] - parts[best]
            now, parts[best] = found[best], tried[best]
            self.node = (*self.node[:best], self.node[best] + 1, *self.node[best + 1 :])
        return now

    def _shrinks(self, column: int) -> float:
        """Say what share of a column's labels is left one level higher."""
        ladder, level = self._ladders[column], self.node[column]
        assert ladder is not None  # noqa: S101 - only such columns are tried
        return len(ladder.labels[level + 1]) / len(ladder.labels[level])

    def _hashed(self, column: int, level: int, codes: CodeArray, size: int) -> Numbers:
        """Give each row a number for the label of a column; sums of them tell rows apart."""
        ladder = self._ladders[column]
        same = np.arange(size) if ladder is None else _first_alike(ladder, level, size)
        drawn = np.random.default_rng([column, level]).integers(2**64, size=size, dtype=np.uint64)
        numbers: Numbers = drawn[same][codes]
        return numbers


def _first_alike(ladder: Ladder, level: int, size: int) -> CodeArray:
    alike = np.arange(max(size, len(ladder.values)), dtype=np.int32)
    _, first, of_value = np.unique(ladder.codes[level], return_index=True, return_inverse=True)
    alike[: len(of_value)] = first[of_value]
    if ladder.values and ladder.values[-1] is None:
        alike[len(of_value) - 1] = len(of_value) - 1
    return alike[:size]


def _distinct(numbers: Numbers, rows: int) -> float:
    """Estimate how many different rows there are from the numbers of some of them."""
    ordered = np.sort(numbers)
    new = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
    times = np.diff(new, append=len(ordered))
    once = int(np.count_nonzero(times == 1))
    return estimated(once, len(times) - once, len(numbers), rows)
