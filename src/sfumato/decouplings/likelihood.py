"""Breach probabilities in exact numbers, and how many more rows a limit allows.

The tables of a decoupled release are public, so an adversary may form *any* combination of a
group's values, whether or not a person has it. One who knows a person's group believes a
combination with the product of its values' shares: Π c_i/n_i, where n_i people of the group have a
known value in column i: the whole group, unless values are missing, which hide no person. Who also
knows one of the values believes the others with the product of theirs. With a single sensitive
column nothing is left to learn from knowing it, and the share itself counts.

Limits are read as the decimals that were written and compared in whole numbers, so 2/5 · 4/5 is
0.32 and not a little more.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import prod
from numbers import Rational

import numpy as np

from sfumato.errors import ParameterError, require_int, require_number
from sfumato.typing import BoolArray, FloatArray, IntArray

ABOVE = -1
"""The number of permitted rows where the likelihood exceeds alpha already."""

UNLIMITED = int(np.iinfo(np.int64).max)
"""The number of permitted rows in an array where there is no limit: nothing is likelier than 1."""

_WIDEST = 2**61
"""Further rows beyond which arrays of whole numbers are not to be trusted with sums."""


def exact(number: float | Fraction) -> Fraction:
    """Return a number as the decimal that was written, not as the nearest binary fraction.

    >>> exact(0.1), exact(Fraction(1, 3))
    (Fraction(1, 10), Fraction(1, 3))
    """
    return Fraction(number) if isinstance(number, Rational) else Fraction(repr(float(number)))


def exact_limit(alpha: float) -> Fraction:
    """Return an alpha above 0 and at most 1 as the decimal that was written.

    >>> exact_limit(0.32)
    Fraction(8, 25)
    """
    require_number("alpha", alpha, above=0, at_most=1)
    return exact(alpha)


def likelihood(counts: Sequence[int], size: int | Sequence[int]) -> Fraction:
    """Return the probability of a combination whose values have these counts in a group.

    In a group without rows nothing is likely.

    Args:
        counts: How many rows have each value.
        size: How many rows the group has, or how many of them have a known value in the column of
            each value, where values are missing.

    >>> likelihood([2, 4], 5), likelihood([2, 4], [2, 5])
    (Fraction(8, 25), Fraction(4, 5))
    """
    of_all = size ** len(counts) if isinstance(size, int) else prod(size)
    return Fraction(prod(counts), of_all) if of_all else Fraction(0)


def likelihoods(counts: IntArray, sizes: IntArray) -> FloatArray:
    """Return the likelihoods of many combinations as floats.

    Args:
        counts: `counts[i, j]`: how many rows of its group have value i of combination j.
        sizes: The size of each combination's group, or `sizes[i, j]`: how many of its rows have a
            known value in the column of value i.

    >>> likelihoods(np.array([[2, 1], [4, 1]]), np.array([5, 5])).tolist()
    [0.32, 0.04]
    """
    # One division of whole numbers: what is exactly 1/5 comes out as 0.2.
    product = np.prod(np.asarray(counts, dtype=np.float64), axis=0)
    each = np.maximum(sizes, 1).astype(np.float64)
    share: FloatArray = product / (each ** len(counts) if each.ndim == 1 else each.prod(axis=0))
    return share


def n_guessed(columns: int) -> int:
    """Return how many shares are multiplied: all sensitive columns but the one that is known."""
    return max(columns - 1, 1)


def likelihood_with_a_value(counts: Iterable[int], size: int | Sequence[int]) -> Fraction:
    """Return the probability of a combination if its least telling value is known.

    With the counts of a group's most frequent values this is the most that can be believed there.

    >>> likelihood_with_a_value([2, 3, 4], 5)  # 3/5 · 4/5
    Fraction(12, 25)
    >>> likelihood_with_a_value([2, 3, 4], [2, 5, 5])  # 2/2 · 4/5
    Fraction(4, 5)
    """
    rows = list(counts)
    of_each = [size] * len(rows) if isinstance(size, int) else size
    shares = (likelihood([n], all_) for n, all_ in zip(rows, of_each, strict=True))
    return prod(sorted(shares, reverse=True)[: n_guessed(len(rows))], start=Fraction(1))


def worst_with_a_value(largest: IntArray, sizes: IntArray) -> Fraction:
    """Return the most that is believed of anyone in any group, if any one value is known.

    Args:
        largest: `largest[column, group]`: the rows of a group's most frequent value.
        sizes: How many rows of the group have a known value, likewise.

    >>> worst_with_a_value(np.array([[2, 3], [4, 3]]), np.array([[5, 5], [5, 5]]))
    Fraction(4, 5)
    """
    n = len(largest)
    distinct = np.unique(np.vstack([largest, sizes]), axis=1).T.tolist()
    return max((likelihood_with_a_value(each[:n], each[n:]) for each in distinct), default=_NONE)


_NONE = Fraction(0)


def permitted_rows(
    counts: Sequence[int], size: int | Sequence[int], alpha: float | Fraction
) -> int | None:
    """Return the largest n with Π (c_i + n)/(n_i + n) ≤ alpha: at most n rows may still come.

    Rows of other combinations in the same group lower the likelihood, and so allow more.

    Args:
        counts: How many rows of the group have each value of the combination.
        size: How many rows n_i the group has, or one number per value: the rows with a known
            value in its column.
        alpha: The largest likelihood allowed, taken as the decimal that was written.

    Returns:
        How many; `ABOVE` (-1) if the likelihood exceeds alpha already, None if alpha is 1 or
        more, for then there is no limit.

    Example:
        >>> permitted_rows([2, 4], 5, 0.6)
        4
        >>> float(likelihood([2 + 4, 4 + 4], 5 + 4)), float(likelihood([2 + 5, 4 + 5], 5 + 5))
        (0.5925925925925926, 0.63)
        >>> permitted_rows([2, 4], 5, 0.3)
        -1
    """
    counts = [int(c) for c in counts]
    if isinstance(size, Sequence):
        sizes = [int(n) for n in size]
        _check(counts, np.array(sizes, dtype=object), alpha)
    else:
        _check(counts, size, alpha)
        sizes = [size] * len(counts)
    limit = exact(alpha)
    if limit >= 1:
        return None
    if likelihood(counts, sizes) > limit:
        return ABOVE
    # Each factor is 1 - (n_i - c_i)/(n_i + n), so the product is at least
    # 1 - Σ(n_i - c_i)/(least n_i + n), which exceeds the limit as soon as the divisor does this.
    others = sum(n - c for n, c in zip(sizes, counts, strict=True))
    too_many = max(int(others / (1 - limit)) + 1 - min(sizes, default=0), 1)

    def within(n: int) -> bool:
        return likelihood([c + n for c in counts], [all_ + n for all_ in sizes]) <= limit

    return _last(within, 0, too_many)


def permitted_each(counts: IntArray, sizes: IntArray, alpha: float | Fraction) -> IntArray:
    """Return the permitted rows of many combinations at once; `UNLIMITED` stands for None.

    Args:
        counts: `counts[i, j]`: how many rows of its group have value i of combination j.
        sizes: The size of each combination's group, or `sizes[i, j]`: how many of its rows have a
            known value in the column of value i.
        alpha: The largest likelihood allowed.

    Example:
        >>> permitted_each(np.array([[2, 1], [4, 1]]), np.array([5, 5]), 0.6).tolist()
        [4, 12]
    """
    limit = exact(alpha)
    _check(counts, sizes, alpha)
    of_each = np.broadcast_to(sizes, counts.shape)
    n = counts.shape[1]
    if limit >= 1:
        return np.full(n, UNLIMITED, dtype=np.int64)
    # Bisect in floating point, then let whole numbers decide what is a rounding apart.
    low = np.zeros(n, dtype=np.int64)
    others = (of_each - counts).sum(axis=0)
    least = of_each.min(axis=0, initial=_WIDEST)
    high = np.clip(others / float(1 - limit) + 2 - least, 1, _WIDEST).astype(np.int64)
    while (high - low > 1).any():
        middle = (low + high) // 2
        # Shares first: a product of counts this large would not fit into a float.
        shares = np.prod((counts + middle) / np.maximum(of_each + middle, 1), axis=0)
        fits = shares <= float(limit)
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    found = np.where(_admits(counts, of_each, 0 * low, limit), low, ABOVE)
    right = (found == ABOVE) | (
        _admits(counts, of_each, low, limit) & ~_admits(counts, of_each, low + 1, limit)
    )
    for j in np.flatnonzero(~right).tolist():
        n_permitted = permitted_rows(counts[:, j].tolist(), of_each[:, j].tolist(), limit)
        found[j] = UNLIMITED if n_permitted is None else min(n_permitted, UNLIMITED - 1)
    return found


def _admits(counts: IntArray, sizes: IntArray, n: IntArray, limit: Fraction) -> BoolArray:
    """Return, in Python's integers, for which combinations n further rows are permitted."""
    with_them = np.multiply.reduce((counts + n).astype(object), axis=0)
    of_all = np.multiply.reduce((sizes + n).astype(object), axis=0)
    # Both sides are 0 for a group without rows, where nothing is likely yet.
    return np.asarray(with_them * limit.denominator <= limit.numerator * of_all, dtype=np.bool_)


def _last(good: Callable[[int], bool], low: int, high: int) -> int:
    """Find the last number from `low`, which is good, before `high`, which is not."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if good(middle) else (low, middle)
    return low


def increment_ratio(old: float | Fraction, new: float | Fraction) -> Fraction:
    """Return (new − old)/old: by how much a likelihood rose, relative to what it was.

    >>> increment_ratio(Fraction(1, 25), Fraction(7 * 3, 13 * 13))
    Fraction(356, 169)
    """
    before, after = exact(old), exact(new)
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
