"""Columns in which lacking a value means something, so that others know who lacks one."""

from collections.abc import Sequence

import numpy as np

from sfumato.counts import FrequencySet
from sfumato.typing import FloatArray, IntArray

COMMON = 0.25
"""From this share of rows on, to lack a value is as usual as to have one: *no second diagnosis*."""

_LIMIT = 0.001
"""What is less probable than this is not taken for chance."""


def columns_lacked(counts: FrequencySet, names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns in which a missing value says something about the person.

    A cell may be empty because there was no question, or because there is nothing to say: no date
    of death, no second diagnosis, no employer. Others know the latter as well as a value.
    A column is taken for one of those if it has one value only, if a quarter of its cells or more
    are empty, or if the people with some value of another column lack it more often, or more
    rarely, than all people, and chance does not explain that. Cells that are empty here
    and there, independently of everything else, say nothing that others know.

    Args:
        counts: The published rows.
        names: The columns to look at. They are held against all columns of the counts.

    Example:
        >>> rows = [("flu", "1 May"), ("flu", None), ("gout", None), ("gout", None)]
        >>> columns_lacked(FrequencySet.from_rows(["ill", "died"], rows), ["ill", "died"])
        ('died',)
    """
    rows = counts.rows
    found = []
    others: _Values | None = None
    for name in names:
        column, lacks = counts.column(name), counts.codes_of(name) == counts.column(name).missing
        empty, total = int(rows[lacks].sum()), int(rows.sum())
        if not 0 < empty < total:
            continue
        means = len(column.known) == 1 or empty >= COMMON * total
        if not means:
            others = _Values(counts) if others is None else others
            means = others.explain(name, np.flatnonzero(lacks), empty / total)
        if means:
            found.append(name)
    return tuple(found)


class _Values:
    """The values of all columns that enough rows have for their share of gaps to say something."""

    def __init__(self, counts: FrequencySet) -> None:
        self.counts = counts
        rows = counts.rows
        self.numbers: list[IntArray] = []
        """Per column, the number of the value of each combination; 0 for one that few have."""

        every = [np.zeros(1)]
        start = 1
        for name in counts.names:
            shown = counts.value_counts(name).astype(np.float64)
            often = shown >= _FEWEST
            number = np.where(often, np.cumsum(often) + start - 1, 0)
            self.numbers.append(number[counts.codes_of(name)])
            every.append(shown[often])
            start += int(often.sum())
        self.people: FloatArray = np.concatenate(every)
        self.rows = rows

    def explain(self, name: str, lacking: IntArray, share: float) -> bool:
        """Return whether some value goes with lacking another, beyond chance.

        The tail of a binomial distribution is at most exp(-n·KL): see Hoeffding, "Probability
        Inequalities for Sums of Bounded Random Variables", 1963, doi:10.2307/2282952.

        Args:
            name: The column with gaps.
            lacking: The combinations without a value of it.
            share: The share of rows that they are.
        """
        empty = np.zeros(len(self.people))
        weight = self.rows[lacking].astype(np.float64)
        for other, number in zip(self.counts.names, self.numbers, strict=True):
            if other != name:
                empty += np.bincount(number[lacking], weight, minlength=len(empty))
        mine = self.numbers[self.counts.index(name)]
        looked = np.ones(len(empty), dtype=np.bool_)
        looked[0] = False
        looked[mine[mine > 0]] = False
        people, empty = self.people[looked], empty[looked]
        if not len(people):
            return False
        part = np.clip(empty / people, 0.0, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            gone = np.where(part > 0, part * np.log(part / share), 0.0)
            there = np.where(part < 1, (1 - part) * np.log((1 - part) / (1 - share)), 0.0)
        # Two tails of each value, and each value is a chance of its own.
        least = np.log(2 * len(people) / _LIMIT)
        return bool((people * (gone + there) > least).any())


_FEWEST = 8
"""Fewer rows than this can hardly lack a value so often that chance does not explain it."""
