"""Which columns single people out: the uniqueness of small sets of columns."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb, prod

import numpy as np

from sfumato.counts import FrequencySet, group
from sfumato.typing import IntArray

_WORK = 200_000_000
"""Combinations grouped in all, give or take: a few seconds."""

_KEPT = 20
_WIDEST_KEY = 2**62

Subset = tuple[int, ...]


@dataclass(frozen=True)
class SubsetRisk:
    """How many rows a few columns single out."""

    columns: tuple[str, ...]
    unique_rows: int
    share: float
    """`unique_rows` of all rows."""


@dataclass(frozen=True)
class SubsetSearch:
    """The sets of columns that single out most people, and how thoroughly they were looked for.

    A set is listed only if it singles out more rows than each of its own parts does.
    """

    largest: int
    """How many columns a set has at most."""

    possible: int
    looked_at: int
    found: tuple[SubsetRisk, ...]
    """At most 20, the most telling first; of equals the smaller, then the earlier columns."""

    @property
    def complete(self) -> bool:
        """Whether every set was looked at."""
        return self.looked_at == self.possible


def telling_subsets(
    counts: FrequencySet,
    largest: int,
    *,
    work: int = _WORK,
    report: Callable[[int, int], None] | None = None,
) -> SubsetSearch:
    """Rank all sets of up to `largest` columns by the share of rows that are alone in them.

    Where there are too many sets to look at all, the larger ones are built from the most
    telling smaller ones, as many as `work` allows. Adding a column never makes a row less
    unique, so such sets are good candidates; but a better one may be overlooked.

    >>> rows = [("f", 30, 1), ("f", 40, 1), ("m", 30, 1), ("m", 40, 2)]
    >>> table = FrequencySet.from_rows(["sex", "age", "ward"], rows)
    >>> for risk in telling_subsets(table, 2).found: print(risk.columns, risk.unique_rows)
    ('sex', 'age') 4
    ('sex', 'ward') 2
    ('age', 'ward') 2
    ('ward',) 1
    """
    n = len(counts.columns)
    largest = min(largest, n)
    possible = sum(comb(n, size) for size in range(1, largest + 1))
    looks = max(work // max(len(counts), 1), n)
    alone: dict[Subset, int] = {}
    before: list[Subset] = [()]
    for size in range(1, largest + 1):
        fair = max(n, (looks - len(alone)) // (largest - size + 1))
        now: list[Subset] = []
        for subset in islice(_candidates(before, n, size, fair), fair):
            alone[subset] = _rows_alone(counts, subset)
            now.append(subset)
            if report is not None:
                report(len(alone), min(possible, looks))
        before = sorted(now, key=lambda subset: -alone[subset])
    telling = [subset for subset in alone if alone[subset] > _most_below(subset, alone)]
    telling.sort(key=lambda subset: (-alone[subset], len(subset), subset))
    found = [
        SubsetRisk(
            tuple(counts.columns[i].name for i in subset),
            alone[subset],
            alone[subset] / counts.total,
        )
        for subset in telling[:_KEPT]
    ]
    return SubsetSearch(largest, possible, len(alone), tuple(found))


def _candidates(before: Sequence[Subset], n: int, size: int, fair: int) -> Iterator[Subset]:
    """Give all sets of a size if they are few enough, else those around the most telling ones."""
    if comb(n, size) <= fair:
        yield from combinations(range(n), size)
        return
    seen: set[Subset] = set()
    for smaller in before:
        for column in range(n):
            subset = tuple(sorted({*smaller, column}))
            if len(subset) == size and subset not in seen:
                seen.add(subset)
                yield subset


def _most_below(subset: Subset, alone: dict[Subset, int]) -> int:
    """Find the most rows that a part of the set singles out by itself."""
    return max(
        (alone.get(part, 0) for part in combinations(subset, len(subset) - 1) if part), default=0
    )


def _rows_alone(counts: FrequencySet, subset: Subset) -> int:
    """Count the rows that nobody shares these columns with."""
    codes = [counts.codes[i] for i in subset]
    sizes = [len(counts.columns[i].values) for i in subset]
    width = prod(sizes)
    if width >= _WIDEST_KEY:
        groups = group(codes, sizes)
        key, width = groups.of_item, groups.n
    else:
        key = _packed(codes, sizes)
    if width <= 4 * len(counts):
        rows = np.bincount(key, weights=counts.rows)
        return int(np.count_nonzero(rows == 1))
    # A combination of several rows is nobody's own: seen twice, it cannot count as single.
    keys = np.sort(np.concatenate([key, key[counts.rows > 1]]))
    new = np.concatenate([[True], keys[1:] != keys[:-1], [True]])
    return int(np.count_nonzero(new[1:] & new[:-1]))


def _packed(codes: Sequence[np.ndarray], sizes: Sequence[int]) -> IntArray:
    key: IntArray = codes[0].astype(np.int64)
    for column, size in zip(codes[1:], sizes[1:], strict=True):
        key = key * size + column
    return key
