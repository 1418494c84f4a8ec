"""Columns that chance has changed so little that what is published is as good as true."""

from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.attacks.perturbed import true_shares
from sfumato.counts import Column, FrequencySet, group, sums
from sfumato.dataclasses import dataclass
from sfumato.harm import HarmRule
from sfumato.perturbations import Perturbation, SeenColumn
from sfumato.text import in_order
from sfumato.typing import BoolArray, FloatArray, IntArray, Value

_TENTH = 0.1
_MIDDLE = (0.1, 0.9)
"""Numbers are as good as the same within a tenth of where most people are, as `Similarity` does."""

_MOST_LOST = 0.05
"""In how many rows a column may have values that are not as good as true."""

_MOST_VALUES = 2000
_EXACT = 2.0**53


@dataclass(frozen=True, eq=False)
class NearlyExact:
    """How a column is read whose published values are as good as true.

    A published value counts as true if it is so with a probability of 0.75 or more, which is where
    the rule for harm begins to call a belief knowledge: given the shares of true values that
    readers work out. Beliefs are taken as they are then, and not multiplied by that probability:
    what is published of all people of a group is surer than of one, so that this tells rather
    too much than too little. A column is read so if it holds for as many of its rows. Published
    values of which it does not hold (a rare one that most rows have by chance) are no values; where
    more than one row in twenty has such a value, the column is not nearly exact.

    Numbers are known to the nearest multiple of a step: the finest to which they are as good as
    true. If it were wider than what similar numbers differ by, they are not nearly exact.

    Example:
        >>> from sfumato.perturbations import PlainNoise, Pram
        >>> ills = SeenColumn("ill", ("flu", "gout", "hiv"), np.array([597, 400, 3]))
        >>> found = NearlyExact.read(ills, Pram(keep=0.99))
        >>> found.kept.tolist(), round(found.share, 2)
        ([True, True, False], 0.99)
        >>> NearlyExact.read(ills, Pram(keep=0.5)) is None
        True
        >>> pay = SeenColumn("pay", tuple(range(1000, 9000)), np.ones(8000))
        >>> NearlyExact.read(pay, PlainNoise(sd=50)).step
        200.0
    """

    share: float
    """Of how many rows what is published is true, at least expected."""

    kept: BoolArray
    """Which published values are as good as true."""

    step: float | None = None
    """Numbers are known to the nearest multiple of it; None if they are as they stand."""

    @classmethod
    def read(cls, seen: SeenColumn, member: Perturbation) -> "NearlyExact | None":
        """Return how a column is read; None if what is published is not as good as true."""
        if not seen.rows.sum():
            return None
        numbers = seen.numbers
        numeric = bool(np.isfinite(numbers).all())
        if member.numeric and not numeric and not member.rearranges:
            return None
        prior = _prior(seen, member)
        steps: list[float | None] = [None]
        if member.near and numeric:
            steps += _steps(seen)
        for step in steps:
            stays = member.stays(seen, prior, step)
            share = float((stays * seen.shares).sum())
            if share >= SURE:
                # Of numbers all are as near.
                kept = stays >= SURE if not member.near else np.ones(len(stays), dtype=np.bool_)
                lost = float(seen.shares[~kept].sum())
                return cls(share, kept, step) if lost <= _MOST_LOST else None
        return None

    def column(self, counts: FrequencySet, name: str) -> tuple[Column, IntArray]:
        """Return a column as it is read, and what each of its published codes becomes."""
        given = counts.column(name)
        read = [*self._values(given.known), *([None] * (len(given.values) - len(given.known)))]
        known = tuple(in_order({value for value in read if value is not None}))
        values = (*known, *([None] if None in read else []))
        place = {value: code for code, value in enumerate(values)}
        return Column(name, values), np.array([place[value] for value in read], dtype=np.int64)

    def _values(self, published: Sequence[Value]) -> list[Value]:
        """Return what each published value is read as; None if it is no value."""
        if self.step is None:
            return [v if kept else None for v, kept in zip(published, self.kept, strict=True)]
        numbers = SeenColumn("", tuple(published), np.ones(len(published), dtype=np.int64)).numbers
        rounded = np.round(np.round(numbers / self.step) * self.step, 12) + 0.0
        whole = bool((rounded == np.round(rounded)).all() and np.abs(rounded).max() < _EXACT)
        found: list[Value] = rounded.astype(np.int64).tolist() if whole else rounded.tolist()
        return found


SURE = HarmRule().very_high
"""How likely a published value must be true to count as if it were."""


def _prior(seen: SeenColumn, member: Perturbation) -> FloatArray:
    """Return the shares of true values, as far as readers know."""
    n = len(seen.values)
    if member.keeps_shares or member.near or n > _MOST_VALUES:
        return seen.shares
    at = np.arange(n)
    return true_shares(member.likelihood(at[:, None], at[None, :], seen), seen.shares)


def _steps(seen: SeenColumn) -> list[float]:
    """Return steps from fine to coarse that people would choose, up to what is alike."""
    order = np.argsort(seen.numbers)
    ends = np.cumsum(seen.rows[order])
    at = np.searchsorted(ends, [share * ends[-1] for share in _MIDDLE])
    low, high = seen.numbers[order][at]
    most = _TENTH * float(high - low)
    if not most > 0:
        return []
    top = int(np.floor(np.log10(most)))
    every = [lead * 10.0**power for power in range(top - 5, top + 1) for lead in (1, 2, 5)]
    return [each for each in every if each <= most]


def read_columns(counts: FrequencySet, readings: Mapping[str, NearlyExact]) -> FrequencySet:
    """Return counts in which columns that are nearly exact have the values that they are read as.

    Example:
        >>> from sfumato.attacks.perturbed import look_at
        >>> from sfumato.perturbations import Pram
        >>> rows = [("A", "flu")] * 60 + [("B", "gout")] * 39 + [("B", "hiv")]
        >>> counts = FrequencySet.from_rows(["zip", "ill"], rows)
        >>> read = NearlyExact.read(look_at(counts, "ill"), Pram(keep=0.99))
        >>> read_columns(counts, {"ill": read}).column("ill").values
        ('flu', 'gout', None)
    """
    columns, codes = list(counts.columns), counts.codes.copy()
    changed = False
    for name, reading in readings.items():
        if reading.step is None and reading.kept.all():
            continue
        at, changed = counts.index(name), True
        columns[at], number = reading.column(counts, name)
        codes[at] = number[codes[at]]
    if not changed:
        return counts
    groups = group(list(codes), [len(each.values) for each in columns], n=len(counts))
    rows = sums(groups.of_item, counts.rows, groups.n)
    return FrequencySet(tuple(columns), codes[:, groups.first], rows)
