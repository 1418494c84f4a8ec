"""The one rule for harm: when what a release lets an adversary believe hurts a person.

A belief has two figures: how likely a statement about a person is before the release (prior) and
after it (posterior). `HarmRule` turns the two into a level, and `Secrecy` of the value moves it.
What a table shows is a fact, whatever made it so. Where something is *learned* from many groups,
`Chance` tells a signal from the noise that a table of independent columns would show as well.
"""

from enum import IntEnum
from functools import cache

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.errors import require_number
from sfumato.typing import BoolArray, FloatArray, IntArray

FEWEST = 100
"""In a table of fewer people chance explains nothing: so few cannot show that it was chance."""

_LIMIT = 0.001
"""What is less probable than this is not taken for chance."""

_HALF = 0.5
"""A value that more people have than this is what one would have guessed."""

_SLACK = 1e-12
"""Shares are quotients of counts: what is exactly a bound must not fall below it."""


class Level(IntEnum):
    """How much a belief about a person harms them."""

    LOW = 0
    MODERATE = 1
    HIGH = 2
    VERY_HIGH = 3

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")


class Secrecy(IntEnum):
    """How much a value is a secret, as the publisher says."""

    HARMLESS = -1
    """To be known to have it hurts no person."""

    ORDINARY = 0
    SECRET = 1
    """What is believed of it counts one level more, and chance explains nothing."""


@dataclass(frozen=True)
class HarmRule:
    """The rule by which a prior and a posterior become a level: belief *and* gain.

    | level | belief, at least | gain, at least |
    |---|---|---|
    | very high | `very_high` | twice as likely as before, or three quarters of the doubt gone |
    | high | `high` | four times as likely |
    | moderate | `moderate` | ten times as likely |
    | moderate, too | `very_high` | three quarters of the doubt gone |

    Doubt is what a belief lacks to certainty. Of a value that most people have, more than half,
    the end of doubt is *moderate*: one would have guessed it. Of a secret one it is *high*, before
    secrecy raises that. What was as good as known before the release (a prior of `very_high` or
    more) harms no person.

    Args:
        moderate: The belief from which on a rare value is of concern.
        high: The belief from which on a guess is right more often than not.
        very_high: The belief from which on a guess is as good as knowledge.

    Example:
        >>> prior = np.array([0.27, 0.01, 0.6, 0.983, 0.01])
        >>> posterior = np.array([0.75, 0.5, 1.0, 1.0, 0.2])
        >>> [str(Level(level)) for level in HarmRule().levels(prior, posterior)]
        ['very high', 'high', 'moderate', 'low', 'moderate']
    """

    moderate: float = 0.20
    high: float = 0.50
    very_high: float = 0.75

    def __post_init__(self) -> None:
        for name in ("moderate", "high", "very_high"):
            require_number(name, getattr(self, name), at_least=0, at_most=1)

    def least_belief(
        self, prior: FloatArray, level: Level, secret: BoolArray | None = None
    ) -> FloatArray:
        """Return the least posterior of a level, per prior; more than 1 where it has none.

        Args:
            prior: How likely something is before the release.
            level: The level.
            secret: Where it is a secret; None for nowhere.

        Example:
            >>> HarmRule().least_belief(np.array([0.1, 0.4, 0.6]), Level.VERY_HIGH).tolist()
            [0.75, 0.8, inf]
        """
        prior = np.asarray(prior, dtype=np.float64)
        sure = np.maximum(self.very_high, 1 - (1 - prior) / 4)
        rare = prior <= _HALF + _SLACK
        least = np.minimum(np.maximum(self.very_high, 2 * prior), np.where(rare, sure, np.inf))
        doubtful = prior < self.very_high - _SLACK
        if level < Level.VERY_HIGH:
            least = np.minimum(least, np.maximum(self.high, 4 * prior))
            if secret is not None:
                least = np.minimum(least, np.where(doubtful & secret, sure, np.inf))
        if level < Level.HIGH:
            least = np.minimum(least, np.where(doubtful, sure, np.inf))
            least = np.minimum(least, np.maximum(self.moderate, 10 * prior))
        found: FloatArray = np.where(least <= 1 + _SLACK, least, np.inf)
        return found

    def levels(
        self, prior: FloatArray, posterior: FloatArray, secret: BoolArray | None = None
    ) -> IntArray:
        """Return the level of each belief, before secrecy raises it, and before chance."""
        prior = np.asarray(prior, dtype=np.float64)
        levels = np.zeros(np.broadcast(prior, posterior).shape, dtype=np.int64)
        for level in (Level.MODERATE, Level.HIGH, Level.VERY_HIGH):
            levels += posterior >= self.least_belief(prior, level, secret) - _SLACK
        return np.where(posterior > prior + _SLACK, levels, 0)

    def least_rows(self, prior: FloatArray, rows: IntArray, level: Level) -> FloatArray:
        """Return the fewest of some rows that bring a belief to a level; ∞ where none do.

        >>> HarmRule().least_rows(np.array([0.1, 0.6]), np.array([5, 5]), Level.VERY_HIGH).tolist()
        [4.0, inf]
        """
        needed = self.least_belief(prior, level)
        least = np.ceil(np.where(np.isfinite(needed), needed, 0.0) * rows - 1e-9)
        # A belief that is no gain is of no level, however likely.
        least = np.maximum(least, np.floor(prior * rows + 1e-9) + 1)
        found: FloatArray = np.where(np.isfinite(needed) & (least <= rows), least, np.inf)
        return found

    def judge(
        self,
        prior: FloatArray,
        posterior: FloatArray,
        people: int,
        *,
        applies: BoolArray | None = None,
        secrecy: IntArray | None = None,
        chance: "Chance | None" = None,
        learned: "bool | BoolArray" = False,
    ) -> "Judgement":
        """Return the level of each belief, with secrecy and chance.

        Args:
            prior: Per group of people, how likely the statement is before the release.
            posterior: The same after it.
            people: The number of people of the whole release.
            applies: Which groups a statement is made of; None for all.
            secrecy: Per group, the secrecy of what is believed; None for ordinary values.
            chance: How far independence explains the beliefs; None if it does not.
            learned: Whether the beliefs are patterns that were looked for among many: those that
                chance explains are noise then, and of no level. A fact is one whatever made it.
        """
        secret = None if secrecy is None else secrecy == Secrecy.SECRET
        levels = self.levels(prior, posterior, secret)
        if applies is not None:
            levels = np.where(applies, levels, 0)
        by_chance = np.zeros(len(levels), dtype=np.bool_)
        if chance is not None and people >= FEWEST:
            by_chance = chance.explains(levels)
        if secret is not None:
            by_chance &= ~secret
            raised = np.minimum(levels + (levels > 0), int(Level.VERY_HIGH))
            levels = np.where(secret, raised, levels)
            levels = np.where(secrecy == Secrecy.HARMLESS, 0, levels)
        by_chance &= levels > 0
        return Judgement(np.where(by_chance & learned, 0, levels), by_chance)


@dataclass(frozen=True, eq=False)
class Judgement:
    """The level of each belief."""

    levels: IntArray
    by_chance: BoolArray
    """Whether chance explains the belief: tables of independent columns would show the same."""


@dataclass(frozen=True, eq=False)
class Chance:
    """How often independence would make groups of people as telling as they are.

    A group is some rows; the sensitive values of all rows of a population (the table, or the
    group's class) are dealt out to them at random. A few of very many groups then show nearly one
    value, and that says nothing of the column. It is still true of those people.

    Example:
        >>> chance = Chance(np.full((3, 1000), 0.002), np.full(1000, 0.002), 4)
        >>> levels = np.zeros(1000, dtype=np.int64)
        >>> levels[:3] = Level.VERY_HIGH
        >>> int(chance.explains(levels).sum())
        3
        >>> levels[:30] = Level.VERY_HIGH
        >>> int(chance.explains(levels).sum())
        0
    """

    reach: FloatArray
    """`reach[level - 1, group]`: how likely chance brings the group to that level, or above."""

    surprise: FloatArray
    """Per group, how likely chance makes the value found at least as frequent there."""

    choices: int
    """The number of values that a group could have been found with."""

    def explains(self, levels: IntArray) -> BoolArray:
        """Return which groups reach their level by chance as far as can be told.

        None of a level do if there are more of it than chance makes. One by itself does not if
        among all groups no such belief was to be expected.
        """
        found = np.zeros(len(levels), dtype=np.bool_)
        for level in (Level.MODERATE, Level.HIGH, Level.VERY_HIGH):
            at = np.flatnonzero(levels == level)
            reach = self.reach[level - 1]
            more = count_tail(int((levels >= level).sum()), float(reach.sum()))
            if len(at) and more > _LIMIT:
                found[at] = self._count_expected(reach, self.surprise[at]) > _LIMIT
        return found

    def _count_expected(self, reach: FloatArray, surprise: FloatArray) -> FloatArray:
        """Return how many groups chance makes at least as surprising, at most."""
        rising = np.sort(reach)
        below = np.concatenate([[0.0], np.cumsum(rising)])
        each = surprise * self.choices
        at = np.searchsorted(rising, each)
        # Each group counts with its own probability, or with that of the surprise if it is less.
        expected: FloatArray = below[at] + each * (len(rising) - at)
        return expected


def chance_of_values(
    rule: HarmRule,
    rows: IntArray,
    found: IntArray,
    marked: IntArray,
    reference: IntArray,
    *,
    certain: bool = False,
    total: int | None = None,
) -> Chance:
    """Return the chance of groups that are drawn from all rows of a table.

    Args:
        rule: The rule that makes levels of beliefs.
        rows: Per group, the rows whose value is known.
        found: Per group, its rows with the value that was found.
        marked: Per group, the table's rows with that value.
        reference: The table's rows of each value.
        certain: Whether only groups count all of whose rows have one value.
        total: The table's rows; None if each has one value, so that those of all values add up.

    Example:
        >>> rows = np.full(100, 5)
        >>> chance = chance_of_values(
        ...     HarmRule(), rows, rows, rows * 25, np.array([125, 125, 125, 125]), certain=True)
        >>> float(chance.reach[2].sum().round(2))
        0.37
    """
    total = int(reference.sum()) if total is None else total
    sizes, of_size = np.unique(rows, return_inverse=True)
    # Values that are equally frequent are equally likely to be drawn: each frequency once.
    frequencies, times = np.unique(reference[reference > 0], return_counts=True)
    prior = frequencies / max(total, 1)
    least = np.array(
        [
            rule.least_rows(prior[:, None], sizes[None, :], level)
            for level in (Level.MODERATE, Level.HIGH, Level.VERY_HIGH)
        ]
    )
    if certain:
        least = np.where(np.isfinite(least), sizes, np.inf)
    # All levels at once: with few groups, as in a table of few rows, the calls cost most.
    tail = draw_tail(least, sizes[None, :], frequencies[:, None], total)
    reach = np.minimum((tail * times[:, None]).sum(axis=1), 1.0)
    surprise = draw_tail(found, rows, marked, total)
    return Chance(reach[:, of_size.ravel()], surprise, int(times.sum()))


def draw_tail(
    least: FloatArray | IntArray,
    draws: IntArray,
    marked: IntArray,
    population: int | IntArray,
) -> FloatArray:
    """Return how likely at least a number of some draws are marked (hypergeometric).

    Args:
        least: The fewest that count; 0 or less is certain, ∞ impossible.
        draws: The rows that are drawn, without putting back.
        marked: The marked rows of the population.
        population: All its rows.

    Example:
        >>> float(draw_tail(np.array(2), np.array(2), np.array(2), 5).round(12))
        0.1
    """
    k, n, m, size = np.broadcast_arrays(
        *(np.asarray(each, dtype=np.float64) for each in (least, draws, marked, population))
    )
    result = np.where(k <= 0, 1.0, 0.0)
    # At or below what is to be expected anyway, no more is said than that it is likely.
    likely = (k > 0) & (k * size <= n * m)
    result[likely] = 1.0
    rare = (k > 0) & ~likely & (k <= np.minimum(n, m))
    if not rare.any():
        return result
    k, n, m, size = (each[rare] for each in (k, n, m, size))
    term = np.exp(_log_chance(k, n, m, size))
    total = term.copy()
    ratio = np.zeros_like(term)
    rest = size - m - n + 1
    for _ in range(64):
        below = rest + k
        ratio = np.where(below > 0, (m - k) * (n - k) / ((k + 1) * np.maximum(below, 1.0)), 0.0)
        term *= np.maximum(ratio, 0.0)
        total += term
        k = k + 1
        if not (term > total * 1e-12).any():
            break
    else:
        # Ratios fall from term to term: what is left is less than a geometric series.
        total += np.where(ratio < 1, term * ratio / np.maximum(1 - ratio, 1e-12), 1.0)
    result[rare] = np.minimum(total, 1.0)
    return result


def count_tail(least: int, expected: float) -> float:
    """Return how likely a number of rare events or more is where some are expected (Poisson).

    >>> round(count_tail(2, 0.2), 4), count_tail(0, 0.2)
    (0.0175, 1.0)
    """
    if least <= 0:
        return 1.0
    if expected <= 0:
        return 0.0
    if least <= expected:
        return 1.0
    # From the first term on: each is a falling fraction of the one before.
    first = np.exp(least * np.log(expected) - expected - float(_log_factorial(np.array(least))))
    ratios = expected / (least + np.arange(1, 2000))
    return float(min(first * (1 + np.cumprod(ratios).sum()), 1.0))


def _log_chance(k: FloatArray, n: FloatArray, m: FloatArray, size: FloatArray) -> FloatArray:
    """Return the logarithm of the chance that k of n draws are among m marked of a population."""
    missed, rest = np.maximum(n - k, 0.0), size - m
    # The logarithms of m over k, of the rest over the missed draws, and of all over the draws: nine
    # factorials, looked up at once. One by one they took most of the time of small tables.
    whole, part = np.array([m, rest, size]), np.array([k, missed, n])
    fits = part <= whole
    found = _log_factorial(np.array([whole, part, np.where(fits, whole - part, 0.0)]))
    choose = np.where(fits, found[0] - found[1] - found[2], -np.inf)
    chance: FloatArray = choose[0] + choose[1] - choose[2]
    return chance


@cache
def _small_factorials() -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, 257)))])


def _log_factorial(n: FloatArray | IntArray) -> FloatArray:
    """Return the logarithms of factorials: summed up to 256, by Stirling's series beyond."""
    x = np.asarray(n, dtype=np.float64)
    found: FloatArray = _small_factorials()[np.minimum(np.maximum(x, 0), 256).astype(np.int64)]
    beyond = x > 256
    if beyond.any():
        # Looking up is many times as fast as the series, so only large ones pay for it.
        large = x[beyond]
        series = large * np.log(large) - large + 0.5 * np.log(2 * np.pi * large)
        found = np.array(found)
        found[beyond] = series + 1 / (12 * large) - 1 / (360 * large**3)
    return found
