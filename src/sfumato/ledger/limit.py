"""How much a group's tables tell, and whether a row would make them tell too much.

The tables of a broken release are public, so an adversary may form *any* combination of a
group's values out of them, whether or not a person has it. Somebody who knows that a person is
in the group, and one of the person's sensitive values, believes the other values with the
product of their shares in the group. The most that can be believed in a group is therefore
reached by its most frequent values, with the least telling of them known: no combination needs
to be listed. With a single sensitive column nothing is left to learn from knowing it, and what
is limited is the share itself.

Everything is compared in whole numbers, so 2/5 · 4/5 is 0.32 and not a little more.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from math import prod

import numpy as np

from sfumato.checks import require_number
from sfumato.typing import IntArray


def exact(alpha: float) -> Fraction:
    """Read a limit as it is written: 0.32 is 32/100, whatever a float makes of it.

    >>> exact(0.32)
    Fraction(8, 25)
    """
    require_number("alpha", alpha, above=0, at_most=1)
    return Fraction(Decimal(repr(float(alpha))))


@dataclass(frozen=True, eq=False)
class Tally:
    """What is published of one group: how many rows it has, and how many have each value.

    Example:
        >>> group = Tally(5, (np.array([2, 1, 1, 1]), np.array([2, 3]), np.array([4, 1])))
        >>> group.worst  # 3/5 · 4/5, known by whoever knows the first column
        Fraction(12, 25)
    """

    size: int
    counts: tuple[IntArray, ...]
    """One array per sensitive column; each adds up to the size."""

    @property
    def factors(self) -> int:
        """How many shares are multiplied: all columns but the one that is known."""
        return max(len(self.counts) - 1, 1)

    @property
    def worst(self) -> Fraction:
        """The largest breach probability of any combination; 0 in an empty group."""
        if not self.size:
            return Fraction(0)
        largest = sorted((int(count.max(initial=0)) for count in self.counts), reverse=True)
        return Fraction(prod(largest[: self.factors]), self.size**self.factors)

    def plus(self, values: IntArray, rows: IntArray | int = 1) -> "Tally":
        """Add rows: `values[i, r]` is the value of column i in combination r."""
        weights = np.broadcast_to(np.asarray(rows, dtype=np.int64), values.shape[1:])
        counts = tuple(
            count + np.bincount(code, weights=weights, minlength=len(count)).astype(np.int64)
            for count, code in zip(self.counts, values, strict=True)
        )
        return Tally(self.size + int(weights.sum()), counts)

    def minus(self, values: IntArray, rows: IntArray | int = 1) -> "Tally":
        """Take rows away; a count may become negative, see `possible`."""
        return self.plus(values, -np.asarray(rows, dtype=np.int64))

    @property
    def possible(self) -> bool:
        """Whether no count is negative."""
        return self.size >= 0 and all(int(count.min(initial=0)) >= 0 for count in self.counts)


def fits(before: Tally, after: Tally, alpha: Fraction) -> bool:
    """Tell whether a group may be published so: nothing that became likelier is above alpha.

    So a group within the limit must stay within it, and in one that was above it before, what
    is above may only fall.

    >>> start = Tally(4, (np.array([2, 2]), np.array([2, 2])))
    >>> fits(start, start.plus(np.array([[0], [0]])), exact(0.5))
    False
    >>> everybody = Tally(3, (np.array([3, 0]), np.array([1, 2])))
    >>> fits(everybody, everybody.plus(np.array([[1], [0]])), exact(0.5))
    True
    """
    if after.worst <= alpha:
        return True
    if before.worst <= alpha:
        return False
    columns = [_frequent(*pair, alpha) for pair in _shares(before, after)]
    return not any(
        _some_rose(looked_at, Fraction(1), Fraction(1), alpha)
        for looked_at in combinations(columns, after.factors)
    )


_Pairs = list[tuple[Fraction, Fraction]]
"""The share of each value before and after."""


def _shares(before: Tally, after: Tally) -> list[tuple[IntArray, int, IntArray, int]]:
    return [
        (old, max(before.size, 1), new, after.size)
        for old, new in zip(before.counts, after.counts, strict=True)
    ]


def _frequent(
    old: IntArray, old_size: int, new: IntArray, new_size: int, alpha: Fraction
) -> _Pairs:
    """Keep the values whose own share is above alpha: with any other the product is not."""
    # A whole number is above a fraction if it is above the whole number below it.
    least = alpha.numerator * new_size // alpha.denominator
    return [
        (Fraction(int(old[i]), old_size), Fraction(int(new[i]), new_size))
        for i in np.flatnonzero(new > least)
    ]


def _some_rose(columns: Sequence[_Pairs], was: Fraction, now: Fraction, alpha: Fraction) -> bool:
    """Tell whether a product of one share per column is above alpha and was less before.

    Shares above alpha are few and products soon fall below it, so this never goes far.
    """
    if now <= alpha:
        return False
    if not columns:
        return now > was
    return any(_some_rose(columns[1:], was * b, now * a, alpha) for b, a in columns[0])


def breach(tally: Tally, row: Sequence[int]) -> tuple[Fraction, Fraction]:
    """Give the breach probability of one combination: knowing the group, and one value more.

    >>> group = Tally(5, (np.array([2, 3]), np.array([2, 3]), np.array([4, 1])))
    >>> [str(p) for p in breach(group, (0, 0, 0))]
    ['16/125', '8/25']
    """
    counts = [int(count[code]) for count, code in zip(tally.counts, row, strict=True)]
    if not tally.size:
        return Fraction(0), Fraction(0)
    group_only = Fraction(prod(counts), tally.size ** len(counts))
    largest = sorted(counts, reverse=True)[: tally.factors]
    return group_only, Fraction(prod(largest), tally.size**tally.factors)


def permitted(tally: Tally, row: Sequence[int], alpha: Fraction) -> int | None:
    """Give how many further rows of one combination a group takes, one after the other.

    None if there is no end, because nothing that rises passes alpha. Combinations of the row's
    own values only become likelier with every row. Those with some of its values and some of
    others become likelier up to a point and then less so; each is followed to its peak.

    >>> group = Tally(5, (np.array([2, 3]), np.array([2, 3]), np.array([4, 1])))
    >>> permitted(group, (0, 0, 0), exact(0.6))
    4
    """
    own = [int(count[code]) for count, code in zip(tally.counts, row, strict=True)]
    others = [
        int(np.delete(count, code).max(initial=0))
        for count, code in zip(tally.counts, row, strict=True)
    ]
    least: int | None = None
    for looked_at in combinations(range(len(own)), tally.factors):
        for picked in range(1, len(looked_at) + 1):
            for mine in combinations(looked_at, picked):
                rest = prod(others[i] for i in looked_at if i not in mine)
                rising = _Rising(tuple(own[i] for i in mine), rest, tally.size, tally.factors)
                limit = rising.last_within(alpha)
                if limit is not None and (least is None or limit < least):
                    least = limit
    return least


@dataclass(frozen=True)
class _Rising:
    """A combination's breach probability as rows with some of its values are added."""

    own: tuple[int, ...]
    rest: int
    """The product of the counts that stay as they are."""

    size: int
    factors: int

    def at(self, n: int) -> Fraction:
        total = self.size + n
        return Fraction(prod(c + n for c in self.own) * self.rest, total**self.factors or 1)

    def last_within(self, alpha: Fraction) -> int | None:
        """Give the last n before it passes alpha on its way up; None if it never does."""
        if alpha >= 1 or self.at(1) <= self.at(0):
            return None
        high = 1
        # It rises, and may fall again: doubling ends beyond alpha, or beyond the peak.
        while self.at(high) <= alpha and self.at(high) > self.at(high - 1):
            high *= 2
        if self.at(high) <= alpha:
            high = _last(lambda n: self.at(n) > self.at(n - 1), 1, high)
        if self.at(high) <= alpha:
            return None
        return _last(lambda n: self.at(n) <= alpha, 0, high)


def _last(good: Callable[[int], bool], low: int, high: int) -> int:
    """Find the last number from `low`, which is good, before `high`, which is not."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if good(middle) else (low, middle)
    return low
