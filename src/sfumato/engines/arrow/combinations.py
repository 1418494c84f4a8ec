"""Distinct combinations of codes and their row counts, in memory that does not grow with rows."""

from collections.abc import Sequence

import numpy as np

from sfumato.typing import CodeArray, IntArray

_WORD = 62
"""Bits of a packed key: an int64 without its sign, and one to spare."""

_COMPACT = 2_000_000
"""Merge when this many partial counts have piled up."""


class Combinations:
    """Adds up code tuples, batch after batch.

    A tuple is packed into one integer (several, if its columns need more than 62
    bits), so telling tuples apart is sorting integers. How many bits a column takes
    may grow while batches come in; what was packed before is then packed again.

    Example:
        >>> seen = Combinations(2)
        >>> seen.add([np.array([0, 1, 0]), np.array([5, 5, 5])], [2, 6])
        >>> codes, rows = seen.result()
        >>> codes.tolist(), rows.tolist()
        ([[0, 1], [5, 5]], [2, 1])
    """

    def __init__(self, columns: int) -> None:
        self._bits = [0] * columns
        self._words: list[list[IntArray]] = []
        """Partial counts: for each, one array of keys per word."""

        self._rows: list[IntArray] = []
        self._pending = 0
        self._compact_at = _COMPACT

    def add(self, codes: Sequence[np.ndarray], sizes: Sequence[int], n: int | None = None) -> None:
        """Count the tuples of one batch.

        Args:
            codes: One array of codes per column.
            sizes: How many codes each column has so far.
            n: Number of rows; needed only when there are no columns.
        """
        bits = [
            max(old, (size - 1).bit_length()) for old, size in zip(self._bits, sizes, strict=True)
        ]
        if bits != self._bits:
            self._repack(bits)
        n = len(codes[0]) if codes else int(n or 0)
        words, rows = _distinct(_pack(codes, bits, n), None)
        self._words.append(words)
        self._rows.append(rows)
        self._pending += len(rows)
        if self._pending > self._compact_at:
            self._compact()
            # Twice what is left, so that merging stays a small part of the work.
            self._compact_at = max(_COMPACT, 2 * self._pending)

    def result(self) -> tuple[CodeArray, IntArray]:
        """Give the distinct tuples, one row of codes per column, and how often each occurs."""
        if not self._rows:
            return np.empty((len(self._bits), 0), dtype=np.int32), np.empty(0, dtype=np.int64)
        self._compact()
        return _unpack(self._words[0], self._bits), self._rows[0]

    def _compact(self) -> None:
        if len(self._rows) > 1:
            words = [np.concatenate(parts) for parts in zip(*self._words, strict=True)]
            merged, rows = _distinct(words, np.concatenate(self._rows))
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


def _pack(codes: Sequence[np.ndarray], bits: Sequence[int], n: int) -> list[IntArray]:
    packed = []
    for columns in _layout(bits):
        key: IntArray = np.zeros(n, dtype=np.int64)
        for column in columns:
            key <<= bits[column]
            key |= codes[column]
        packed.append(key)
    return packed


def _unpack(words: Sequence[IntArray], bits: Sequence[int]) -> CodeArray:
    codes = np.empty((len(bits), len(words[0])), dtype=np.int32)
    for columns, word in zip(_layout(bits), words, strict=True):
        rest = word.copy()
        for column in reversed(columns):
            codes[column] = rest & ((1 << bits[column]) - 1)
            rest >>= bits[column]
    return codes


def _distinct(words: Sequence[IntArray], rows: IntArray | None) -> tuple[list[IntArray], IntArray]:
    """Add up equal keys; `rows` is how often each occurs, None for once."""
    if len(words) == 1 and rows is None:
        ordered = np.sort(words[0])
        starts = _starts(ordered)
        return [ordered[starts]], np.diff(starts, append=len(ordered))
    key = words[0] if len(words) == 1 else _ranks(words)
    order = np.argsort(key, kind="stable")
    starts = _starts(key[order])
    firsts = order[starts]
    sums = (
        np.diff(starts, append=len(key)) if rows is None else np.add.reduceat(rows[order], starts)
    )
    return [word[firsts] for word in words], sums


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
