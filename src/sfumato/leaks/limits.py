"""How many more rows of a combination a group can take: closed forms, in exact numbers.

A combination's likelihood in a group is Π c_i/|G|. Each further row of it gives
Π (c_i + 1)/(|G| + 1), which only rises, towards 1.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import prod
from numbers import Rational

import numpy as np

from sfumato.checks import require_int, require_number
from sfumato.errors import ParameterError
from sfumato.typing import BoolArray, IntArray

UNLIMITED = int(np.iinfo(np.int64).max)
"""As many as one likes: nothing is likelier than 1."""

_WIDEST = 2**61
"""Further rows beyond which arrays of whole numbers are not to be trusted with sums."""

ABOVE = -1
"""Not even what is there: the likelihood exceeds alpha already."""


def exactly(alpha: float | Fraction) -> Fraction:
    """Take a number as the decimal that was written, not as the nearest binary fraction.

    >>> exactly(0.1), exactly(Fraction(1, 3))
    (Fraction(1, 10), Fraction(1, 3))
    """
    return Fraction(alpha) if isinstance(alpha, Rational) else Fraction(repr(float(alpha)))


def likelihood(counts: Sequence[int], size: int) -> Fraction:
    """Give the probability of a combination whose values have these counts in a group.

    In a group without rows nothing is likely.

    >>> likelihood([2, 4], 5)
    Fraction(8, 25)
    """
    return Fraction(prod(counts), size ** len(counts)) if size or not counts else Fraction(0)


def permitted(counts: Sequence[int], size: int, alpha: float | Fraction) -> int:
    """Give the largest n with Π (c_i + n)/(|G| + n) ≤ alpha: so many rows may still come.

    Rows of other combinations in the same group lower the likelihood, and so allow more.

    Args:
        counts: How many rows of the group have each value of the combination.
        size: How many rows the group has.
        alpha: The largest likelihood allowed, taken as the decimal that was written.

    Returns:
        How many; `ABOVE` (-1) if the likelihood exceeds alpha already, `UNLIMITED` if alpha
        is 1 or more.

    Example:
        >>> permitted([2, 4], 5, 0.6)
        4
        >>> float(likelihood([2 + 4, 4 + 4], 5 + 4)), float(likelihood([2 + 5, 4 + 5], 5 + 5))
        (0.5925925925925926, 0.63)
        >>> permitted([2, 4], 5, 0.3)
        -1
    """
    counts = [int(c) for c in counts]
    _check(counts, size, alpha)
    limit = exactly(alpha)
    if limit >= 1:
        return UNLIMITED
    if likelihood(counts, size) > limit:
        return ABOVE
    low, high = 0, _too_many(sum(size - c for c in counts), size, limit)
    while high - low > 1:
        middle = (low + high) // 2
        if likelihood([c + middle for c in counts], size + middle) <= limit:
            low = middle
        else:
            high = middle
    return low


def _too_many(others: int, size: int, limit: Fraction) -> int:
    """Give a number of rows that is certainly not permitted.

    Each factor is 1 − (|G| − c_i)/(|G| + n), so the product is at least
    1 − Σ(|G| − c_i)/(|G| + n), which exceeds the limit as soon as |G| + n does this.
    """
    return max(int(others / (1 - limit)) + 1 - size, 1)


def permitted_each(counts: IntArray, sizes: IntArray, alpha: float | Fraction) -> IntArray:
    """Do the same for many combinations at once.

    Args:
        counts: `counts[i, j]`: how many rows of its group have value i of combination j.
        sizes: The size of each combination's group.
        alpha: The largest likelihood allowed.

    Example:
        >>> permitted_each(np.array([[2, 1], [4, 1]]), np.array([5, 5]), 0.6).tolist()
        [4, 12]
    """
    limit = exactly(alpha)
    _check(counts, sizes, alpha)
    if limit >= 1:
        return np.full(len(sizes), UNLIMITED, dtype=np.int64)
    # Bisect in floating point, then let whole numbers decide what is a rounding apart.
    low = np.zeros(len(sizes), dtype=np.int64)
    others = (sizes - counts).sum(axis=0)
    high = np.clip(others / float(1 - limit) + 2 - sizes, 1, _WIDEST).astype(np.int64)
    while (high - low > 1).any():
        middle = (low + high) // 2
        fits = _shares(counts, sizes, middle) <= float(limit)
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    found = np.where(_admits(counts, sizes, 0 * low, limit), low, ABOVE)
    right = (found == ABOVE) | (
        _admits(counts, sizes, low, limit) & ~_admits(counts, sizes, low + 1, limit)
    )
    for j in np.flatnonzero(~right).tolist():
        exact = permitted(counts[:, j].tolist(), int(sizes[j]), limit)
        found[j] = min(exact, UNLIMITED - 1)
    return found


def _shares(counts: IntArray, sizes: IntArray, n: IntArray) -> np.ndarray:
    shares: np.ndarray = np.prod((counts + n) / np.maximum(sizes + n, 1), axis=0)
    return shares


def _admits(counts: IntArray, sizes: IntArray, n: IntArray, limit: Fraction) -> BoolArray:
    """Tell, in Python's integers, for which combinations n further rows are permitted."""
    with_them = np.multiply.reduce((counts + n).astype(object), axis=0)
    of_all = (sizes + n).astype(object) ** len(counts)
    # Both sides are 0 for a group without rows, where nothing is likely yet.
    return np.asarray(with_them * limit.denominator <= limit.numerator * of_all, dtype=np.bool_)


def increment_ratio(old: float | Fraction, new: float | Fraction) -> Fraction:
    """Give (new − old)/old: by how much a likelihood rose, relative to what it was.

    >>> increment_ratio(Fraction(1, 25), Fraction(7 * 3, 13 * 13))
    Fraction(356, 169)
    """
    before, after = exactly(old), exactly(new)
    if before <= 0:
        raise ParameterError(
            "old", old, "above 0", why="nothing is a multiple of what could not be"
        )
    return (after - before) / before


def _check(counts: Sequence[int] | IntArray, size: int | IntArray, alpha: object) -> None:
    require_number("alpha", float(alpha) if isinstance(alpha, Rational) else alpha, at_least=0)
    if isinstance(size, int):
        require_int("size", size, at_least=0)
    held = np.asarray(counts, dtype=object)
    if held.size and ((held < 0) | (held > size)).any():
        raise ParameterError("counts", held.tolist(), f"from 0 to the size of the group, {size}")
