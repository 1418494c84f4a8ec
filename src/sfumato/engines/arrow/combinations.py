"""Distinct combinations of codes and their row counts, in memory that does not grow with rows."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from sfumato.typing import CodeArray, IntArray

_WORD = 62
"""Bits of a packed key: an int64 without its sign, and one to spare."""

_COMPACT = 2_000_000
"""Merge when this many partial counts have piled up."""


class Coded(Protocol):
    """A column's codes that need not be spelt out to be packed."""

    def shifted(self, bits: int) -> IntArray:
        """Give the codes, each moved this many bits to the left."""

    def __len__(self) -> int: ...


class Combinations:
    """Adds up code tuples, batch after batch.

    A tuple is packed into one integer (several, if its columns need more than 62
    bits), so telling tuples apart is sorting integers. How many bits a column takes
    may grow while batches come in; what was packed before is then packed again.

    Args:
        columns: How many codes a tuple has.
        most: How many tuples there may be; None for any number. Memory stays at some of them
            more than that if whoever adds stops when `too_many`.

    Example:
        >>> seen = Combinations(2)
        >>> seen.add([np.array([0, 1, 0]), np.array([5, 5, 5])], [2, 6])
        >>> codes, rows = seen.result()
        >>> codes.tolist(), rows.tolist()
        ([[0, 1], [5, 5]], [2, 1])
    """

    def __init__(self, columns: int, most: int | None = None) -> None:
        self._most = most
        self._bits = [0] * columns
        self._words: list[list[IntArray]] = []
        """Partial counts: for each, one array of keys per word."""

        self._rows: list[IntArray] = []
        self._pending = 0
        self._compact_at = self._next()

    @property
    def too_many(self) -> bool:
        """Whether there are more tuples than there may be, as far as is known by now."""
        # What has piled up counts tuples several times, until it is merged.
        return self._most is not None and len(self._rows) == 1 and self._pending > self._most

    def add(
        self,
        codes: Sequence[np.ndarray | Coded],
        sizes: Sequence[int],
        n: int | None = None,
        *,
        rows: IntArray | None = None,
    ) -> None:
        """Count the tuples of one batch.

        Args:
            codes: One array of codes per column.
            sizes: How many codes each column has so far.
            n: Number of rows; needed only when there are no columns.
            rows: How often each tuple of the batch is to be counted; None for once.
        """
        bits = [
            max(old, (size - 1).bit_length()) for old, size in zip(self._bits, sizes, strict=True)
        ]
        if bits != self._bits:
            self._repack(bits)
        n = len(codes[0]) if codes else int(n or 0)
        words, times = _distinct(_pack(codes, bits, n), rows, sum(bits))
        self._words.append(words)
        self._rows.append(times)
        self._pending += len(times)
        if self._pending > self._compact_at:
            self._compact()
            self._compact_at = self._next()

    def _next(self) -> int:
        """Say how much may pile up before it is merged: so much that merging is a small part."""
        least = _COMPACT if self._most is None else min(_COMPACT, 2 * self._most)
        return max(least, 2 * self._pending)

    def merge(self) -> bool:
        """Add up what has piled up, and tell whether there are more tuples than there may be."""
        if self._rows:
            self._compact()
        return self.too_many

    def result(self) -> tuple[CodeArray, IntArray]:
        """Give the distinct tuples, one row of codes per column, and how often each occurs."""
        if not self._rows:
            return np.empty((len(self._bits), 0), dtype=np.int32), np.empty(0, dtype=np.int64)
        self._compact()
        return _unpack(self._words[0], self._bits), self._rows[0]

    def _compact(self) -> None:
        if len(self._rows) > 1:
            words = [np.concatenate(parts) for parts in zip(*self._words, strict=True)]
            self._words = []
            merged, rows = _distinct(words, np.concatenate(self._rows), sum(self._bits))
            self._words, self._rows = [merged], [rows]
        self._pending = len(self._rows[0])

    def _repack(self, bits: list[int]) -> None:
        old, self._bits = self._bits, bits
        for i, (words, rows) in enumerate(zip(self._words, self._rows, strict=True)):
            self._words[i] = _pack(list(_unpack(words, old)), bits, len(rows))


def _layout(bits: Sequence[int]) -> list[list[int]]:
    """Say which columns share a word."""
    words: list[list[int]] = [[]]
    used = 0
    for column, width in enumerate(bits):
        if used + width > _WORD:
            words.append([])
            used = 0
        words[-1].append(column)
        used += width
    return words


def _pack(codes: Sequence[np.ndarray | Coded], bits: Sequence[int], n: int) -> list[IntArray]:
    packed = []
    for columns in _layout(bits):
        key: IntArray = np.zeros(n, dtype=np.int64)
        used = 0
        for column in reversed(columns):
            key |= _shifted(codes[column], used)
            used += bits[column]
        packed.append(key)
    return packed


def _shifted(codes: np.ndarray | Coded, bits: int) -> IntArray:
    if isinstance(codes, np.ndarray):
        moved: IntArray = codes.astype(np.int64) << bits
        return moved
    return codes.shifted(bits)


def _unpack(words: Sequence[IntArray], bits: Sequence[int]) -> CodeArray:
    codes = np.empty((len(bits), len(words[0])), dtype=np.int32)
    for columns, word in zip(_layout(bits), words, strict=True):
        rest = word.copy()
        for column in reversed(columns):
            codes[column] = rest & ((1 << bits[column]) - 1)
            rest >>= bits[column]
    return codes


def _distinct(
    words: Sequence[IntArray], rows: IntArray | None, bits: int
) -> tuple[list[IntArray], IntArray]:
    """Add up equal keys of so many bits; `rows` is how often each occurs, None for once."""
    if len(words) == 1 and rows is None:
        ordered = np.sort(words[0])
        starts = _starts(ordered)
        return [ordered[starts]], np.diff(starts, append=len(ordered))
    width = 0 if rows is None else int(rows.max(initial=0)).bit_length()
    if rows is not None and len(words) == 1 and bits + width <= _WORD:
        return _added_up(words[0], rows, width)
    key = words[0] if len(words) == 1 else _ranks(words)
    order = np.argsort(key, kind="stable")
    starts = _starts(key[order])
    firsts = order[starts]
    sums = (
        np.diff(starts, append=len(key)) if rows is None else np.add.reduceat(rows[order], starts)
    )
    return [word[firsts] for word in words], sums


def _added_up(keys: IntArray, rows: IntArray, width: int) -> tuple[list[IntArray], IntArray]:
    """Add up equal keys whose rows fit beside them: sorting numbers is faster than positions."""
    both = (keys << width) | rows
    both.sort()
    rows = both & ((1 << width) - 1)
    both >>= width
    starts = _starts(both)
    return [both[starts]], np.add.reduceat(rows, starts) if len(rows) else rows


def _ranks(words: Sequence[IntArray]) -> IntArray:
    """Give one integer per tuple of words that is equal when the tuples are."""
    _, key = np.unique(words[0], return_inverse=True)
    for word in words[1:]:
        distinct, rank = np.unique(word, return_inverse=True)
        # Both factors are at most the number of items, so the product fits.
        _, key = np.unique(key * len(distinct) + rank, return_inverse=True)
    ranks: IntArray = key
    return ranks


def _starts(ordered: IntArray) -> IntArray:
    changed = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=changed[1:])
    return np.flatnonzero(changed)
