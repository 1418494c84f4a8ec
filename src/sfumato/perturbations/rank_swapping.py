"""Rank swapping: numbers exchanged between rows of about the same rank."""

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError
from sfumato.perturbations.base import (
    Amount,
    ColumnCells,
    Perturbation,
    PublishedLimits,
    SeenColumn,
    join_names,
)
from sfumato.typing import FloatArray, IntArray

_FEWEST_RANKS = 40
"""With fewer in reach a row keeps nearly its own, and what is published could be of any."""

_ALONE = 0.05
"""More rows than this find a partner."""


@dataclass(frozen=True)
class RankSwapping(Perturbation):
    """Values exchanged in pairs, between rows whose ranks are at most so far apart.

    The column keeps exactly the values it has: its mean, variance and quantiles stay. Rows without
    a value keep none. Rows with the same value have ranks in random order.

    Promises: who finds a row learns the rank of the true value only to within the distance. Does
    not promise more: where values are close together, so is the true one; the values themselves
    are all true ones, and a value that only one person could have still tells that it is there.

    Args:
        distance: How many ranks apart values may be that are exchanged: a number, or a share of
            the rows that have a value, as in 5%: one rank at least. A row that finds no partner
            keeps its value.

    Example:
        >>> from sfumato.counts import Column
        >>> cells = ColumnCells(Column("pay", (10, 20, 30, 40)), np.array([3, 0, 2, 1]))
        >>> [found] = RankSwapping(distance=1).change([cells], None, np.random.default_rng(0))
        >>> found.codes.tolist()
        [2, 1, 3, 0]
    """

    name: ClassVar[str] = "rank-swapping"
    numeric: ClassVar[bool] = False
    near: ClassVar[bool] = True
    rearranges: ClassVar[bool] = True

    distance: float | str

    def __post_init__(self) -> None:
        amount = Amount.read("distance", self.distance, below=1)
        if not amount.share and not amount.value.is_integer():
            raise ParameterError("distance", self.distance, "a whole number, or a share as in 5%")

    def reach(self, rows: int) -> int:
        """Return how many ranks apart values may be, of a number of rows with a value."""
        amount = Amount.read("distance", self.distance, below=1)
        # 29 % of 100 rows are 28.999999999999996 in floating point.
        return max(1, int(amount.value * rows + 1e-9)) if amount.share else int(amount.value)

    def change(
        self,
        columns: Sequence[ColumnCells],
        groups: IntArray | None,
        rng: np.random.Generator,
    ) -> list[ColumnCells]:
        [cells] = columns
        rows = np.flatnonzero(cells.known)
        # Rows with the same value are in random order.
        order = rows[np.argsort(cells.codes[rows] + rng.random(len(rows)))]
        partner = pair_up(len(order), self.reach(len(order)), rng)
        codes = cells.codes.copy()
        codes[order] = cells.codes[order[partner]]
        return [ColumnCells(cells.column, codes)]

    def likelihood(self, published: IntArray, true: IntArray, shown: SeenColumn) -> FloatArray:
        # The values are ordered, so each has the ranks of its rows. Missing ones have none.
        known = shown.known
        last = np.cumsum(np.where(known, shown.rows, 0))
        first = last - np.where(known, shown.rows, 0)
        reach = self.reach(int(last[-1]) if len(last) else 0)
        gap = np.maximum(first[published] - last[true] + 1, first[true] - last[published] + 1)
        both = known[published] & known[true]
        # A partner is any row within reach of one of the rows with the true value.
        rows = int(last[-1]) if len(last) else 0
        inside = np.minimum(last + reach, rows) - np.maximum(first - reach, 0)
        share = shown.rows[published] / np.maximum(inside[true], 1)
        near: FloatArray = np.where(gap <= reach, np.minimum(share, 1.0), 0.0)
        return np.where(both, near, known[published] == known[true])

    def stays(self, shown: SeenColumn, prior: FloatArray, step: float | None = None) -> FloatArray:
        last = np.cumsum(shown.rows)
        first, rows = last - shown.rows, int(last[-1]) if len(last) else 0
        reach = self.reach(rows)
        # Of ranks within reach of a row in the middle, how many are of the same numbers?
        place = np.arange(len(last)) if step is None else np.round(shown.numbers / step)
        starts = np.flatnonzero(np.diff(place, prepend=np.nan) != 0)
        of_value = np.cumsum(np.diff(place, prepend=np.nan) != 0) - 1
        low, high = first[starts][of_value], np.append(first[starts][1:], rows)[of_value]
        middle = (first + last) / 2
        from_, to = np.maximum(middle - reach, 0), np.minimum(middle + reach, rows)
        inside = np.maximum(np.minimum(to, high) - np.maximum(from_, low), 0.0)
        found: FloatArray = inside / np.maximum(to - from_, 1)
        return np.minimum(found, 1.0)

    def limits(self, shown: SeenColumn) -> list[PublishedLimits]:
        """Return how often ranks that are close together are published, whatever the true ones are.

        >>> shown = SeenColumn("pay", tuple(range(1000)), np.ones(1000, dtype=np.int64))
        >>> found = RankSwapping(distance=80).limits(shown)[0]
        >>> found.part[:12].tolist(), float(found.most[0])
        ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1], 0.3)
        """
        last = np.cumsum(shown.rows)
        every = int(last[-1]) if len(last) else 0
        reach = min(self.reach(every), every)
        if reach < _FEWEST_RANKS:
            return []
        found = []
        for parts in (8, 3):
            _, part = np.unique((last - shown.rows) // (reach // parts), return_inverse=True)
            rows = np.bincount(part, weights=shown.rows)
            # Of those at an end half of the ranks are in reach, and few find no partner.
            most = np.minimum(2 * rows / reach + _ALONE, 1.0)
            found.append(PublishedLimits(part, np.zeros(len(rows)), most))
        return found

    def note(self, columns: Sequence[str]) -> str:
        amount = Amount.read("distance", self.distance, below=1)
        far = f"{amount.value * 100:g} % of the rows" if amount.share else f"{amount.value:g} ranks"
        what = join_names(columns)
        return f"values of {what} were exchanged between rows at most {far} apart in rank"

    @classmethod
    def example(cls) -> Self:
        return cls(distance="5%")


def pair_up(n: int, reach: int, rng: np.random.Generator) -> IntArray:
    """Return a random partner for each of n places, at most so far away; itself if none is left.

    In every round each place without a partner asks a random one within reach. Of all that ask
    and are asked, pairs with the highest random number win, so that no place is in two pairs. It
    ends when no two places without a partner are within reach of each other.

    >>> partner = pair_up(10, 3, np.random.default_rng(0))
    >>> bool((partner[partner] == np.arange(10)).all()), int(abs(partner - np.arange(10)).max())
    (True, 3)
    """
    partner = np.arange(n)
    if reach < 1:
        return partner
    free = np.arange(n)
    while True:
        # Places are told apart by where they stand among the free ones; so all asked are free.
        low = np.searchsorted(free, free - reach)
        high = np.searchsorted(free, free + reach, side="right")
        at = np.arange(len(free))
        others = high - low - 1
        asks = others > 0
        if not asks.any():
            return partner
        drawn = low + np.minimum((rng.random(len(free)) * others).astype(np.int64), others - 1)
        asked = drawn + (drawn >= at)
        won = _without_clash(at[asks], asked[asks], len(free), rng)
        one, two = free[at[asks][won]], free[asked[asks][won]]
        partner[one], partner[two] = two, one
        free = free[partner[free] == free]


def _without_clash(one: IntArray, two: IntArray, n: int, rng: np.random.Generator) -> IntArray:
    """Return which of some pairs have the highest draw at both their places."""
    rank = rng.permutation(len(one))
    best = np.full(n, -1)
    np.maximum.at(best, one, rank)
    np.maximum.at(best, two, rank)
    return np.flatnonzero((best[one] == rank) & (best[two] == rank))
