"""Tables that follow from counts: what is in them, and batch by batch in which order.

A decoupled release has nothing that the counts do not say, so its tables are described here
and written by an engine, without reading any row again.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from sfumato.typing import IntArray, Value

Cells: TypeAlias = tuple[np.ndarray, ...]
"""One array per column: codes into its values, or the numbers themselves."""

SLICE = 1 << 18
"""Rows written at a time."""

_THROWN = 1 << 22
"""Rows that are put in random order at a time."""


@dataclass(frozen=True)
class DerivedColumn:
    """A column's name, and the values that codes stand for."""

    name: str
    values: tuple[Value, ...] | None = None
    """The values by code; None where the cells are the numbers themselves."""

    whole: bool = True
    """Whether such numbers are whole."""


class Batch(NamedTuple):
    """Some rows: kinds of row, and which of them stand there one after the other."""

    kinds: Cells
    picks: IntArray | None = None
    """The kind of each row; None if every kind stands there once, in order."""


@dataclass(frozen=True, eq=False)
class DerivedTable:
    """Columns and rows of a table that no source holds.

    Example:
        >>> columns = (DerivedColumn("age", ("30s", "40s")), DerivedColumn("group"))
        >>> kinds = np.array([0, 1]), np.array([71, 28])
        >>> table = DerivedTable.repeated(columns, kinds, np.array([2, 1]), np.random.default_rng())
        >>> table.rows, sorted(np.concatenate([b.picks for b in table.batches()]).tolist())
        (3, [0, 0, 1])
    """

    columns: tuple[DerivedColumn, ...]
    rows: int
    batches: Callable[[], Iterator[Batch]]
    """Gives the rows; they can be asked for once."""

    @classmethod
    def repeated(
        cls,
        columns: tuple[DerivedColumn, ...],
        kinds: Cells,
        times: IntArray,
        rng: np.random.Generator,
    ) -> "DerivedTable":
        """Let each kind of row stand there some times, all rows in random order."""
        total = int(times.sum())

        def batches() -> Iterator[Batch]:
            for picks in in_random_order(times, rng):
                yield Batch(kinds, picks)

        return cls(columns, total, batches)


def in_random_order(
    times: IntArray, rng: np.random.Generator, *, thrown: int = _THROWN
) -> Iterator[IntArray]:
    """Deal out `times[i]` copies of every i, every order of all of them equally likely.

    Each copy is thrown into one of several parts with equal chance, and each part is shuffled:
    memory depends on the different i and the size of a part, not on all the copies.

    >>> dealt = list(in_random_order(np.array([2, 3]), np.random.default_rng(1), thrown=2))
    >>> sorted(np.concatenate(dealt).tolist())
    [0, 0, 1, 1, 1]
    """
    left = times.astype(np.int64)
    parts = -(-int(left.sum()) // thrown)
    width = np.min_scalar_type(max(len(times) - 1, 0))
    for part in range(parts):
        # What is not yet thrown goes into one of the parts that are left, this one among them.
        here = rng.binomial(left, 1 / (parts - part))
        left -= here
        order = np.repeat(np.arange(len(times), dtype=width), here)
        rng.shuffle(order)
        for start in range(0, len(order), SLICE):
            yield order[start : start + SLICE]
