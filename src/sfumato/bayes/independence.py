"""Tests of whether two columns are independent, given others."""

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.bayes.chi_square import log_tail
from sfumato.bayes.counter import Cells, Counter
from sfumato.bayes.scores import FamilyScores
from sfumato.checks import require_number

_TIE = 1e-9
"""Scores nearer than this, absolutely or relative to their size, are equal."""


class IndependenceTest(ABC):
    """A way to tell whether columns a and b are independent among rows alike in others."""

    @abstractmethod
    def on(self, counter: Counter) -> "Judge":
        """Apply it to a table."""


class Judge(ABC):
    """A test applied to one table."""

    @abstractmethod
    def evidence(self, a: int, b: int, given: Sequence[int]) -> float:
        """Say how much speaks for dependence: independent if it is 0 or less."""

    @abstractmethod
    def explains(self, a: int, b: int, given: Sequence[int]) -> float:
        """Say how well independence given these columns is shown, if it is: convincingly from 0 on.

        With too few rows for too many strata a test finds nothing and calls it independence.
        """

    def explanation(self, column: int, candidates: Collection[int]) -> frozenset[int]:
        """Choose the columns that explain one best; all, if it has no means to choose."""
        return frozenset(candidates)


@dataclass(frozen=True)
class ScoreTest(IndependenceTest):
    """Dependent if knowing one column makes the other's score better.

    It has no significance level: more rows are needed to show a dependence among more
    combinations, which the marginal likelihood weighs by itself. The prior does not treat
    both directions alike, so both are tried, and either is enough to be dependent:
    missing a dependence would be to miss a leak. Ties are independent.

    Example:
        >>> from sfumato.counts import FrequencySet
        >>> rows = [("f", 1, "x"), ("m", 2, "x"), ("f", 1, "y"), ("m", 2, "y")] * 5
        >>> judge = ScoreTest().on(Counter(FrequencySet.from_rows("abc", rows)))
        >>> judge.evidence(0, 1, []) > 0, judge.evidence(0, 2, []) > 0
        (True, False)
    """

    def on(self, counter: Counter) -> "Judge":
        return _ScoreJudge(FamilyScores(counter))


@dataclass(frozen=True)
class OneSidedScoreTest(IndependenceTest):
    """Dependent if knowing the first column makes the second's score better; ties are not."""

    def on(self, counter: Counter) -> "Judge":
        return _OneSidedScoreJudge(FamilyScores(counter))


@dataclass(frozen=True)
class G2Test(IndependenceTest):
    """Dependent if the likelihood ratio G² is larger than chance would often make it.

    Within each stratum that occurs, only the values that occur there count towards the
    degrees of freedom: a stratum in which a column has but one value can show nothing.

    Args:
        significance: The share of independent pairs that may be taken for dependent ones.

    Example:
        >>> from sfumato.counts import FrequencySet
        >>> rows = [("f", 1, "x"), ("m", 2, "x"), ("f", 1, "y"), ("m", 2, "y")] * 5
        >>> judge = G2Test().on(Counter(FrequencySet.from_rows("abc", rows)))
        >>> judge.evidence(0, 1, []) > 0, judge.evidence(0, 2, []) > 0
        (True, False)
    """

    significance: float = 0.01

    def __post_init__(self) -> None:
        require_number("significance", self.significance, above=0, below=1)

    def on(self, counter: Counter) -> "Judge":
        return _G2Judge(counter, math.log(self.significance))


def _without_rounding(difference: float, score: float) -> float:
    return 0.0 if abs(difference) <= _TIE * max(1.0, abs(score)) else difference


@dataclass(frozen=True)
class _OneSidedScoreJudge(Judge):
    scores: FamilyScores

    def evidence(self, a: int, b: int, given: Sequence[int]) -> float:
        return self._gain(a, b, given)

    def _gain(self, a: int, b: int, given: Sequence[int]) -> float:
        """Score b with a among its parents, less b without; below what rounding can do, 0."""
        scores, values = self.scores, self.scores.counter.values[b]
        # The largest set first: what it contains is then summed from it.
        joint = scores.joint((a, b, *given))
        parents, child = scores.strata((a, *given), values), scores.joint((b, *given))
        without = child + scores.strata(given, values)
        return _without_rounding((joint + parents) - without, without)

    def explains(self, a: int, b: int, given: Sequence[int]) -> float:
        """Compare the scores of both ends with those they get from each other alone."""
        margins = (
            _without_rounding(self.scores.of(x, given) - alone, alone)
            for x, alone in ((a, self.scores.of(a, (b,))), (b, self.scores.of(b, (a,))))
        )
        return min(margins)


@dataclass(frozen=True)
class _ScoreJudge(_OneSidedScoreJudge):
    def evidence(self, a: int, b: int, given: Sequence[int]) -> float:
        return max(self._gain(a, b, given), self._gain(b, a, given))

    def explanation(self, column: int, candidates: Collection[int]) -> frozenset[int]:
        """Add or remove the column that betters the score most, while one does."""
        chosen: frozenset[int] = frozenset()
        score = self.scores.of(column, ())
        while True:
            tried = [(chosen ^ {other}) for other in sorted(candidates)]
            scored = [(self.scores.of(column, sorted(parents)), parents) for parents in tried]
            best, parents = max(scored, key=lambda pair: pair[0], default=(score, chosen))
            if _without_rounding(best - score, score) <= 0:
                return chosen
            chosen, score = parents, best


@dataclass(frozen=True)
class _G2Judge(Judge):
    counter: Counter
    log_significance: float

    def evidence(self, a: int, b: int, given: Sequence[int]) -> float:
        statistic, freedom = g2(self.counter, a, b, given)
        if not freedom:
            return self.log_significance
        return self.log_significance - log_tail(statistic, freedom)

    def explains(self, a: int, b: int, given: Sequence[int]) -> float:
        return -self.evidence(a, b, given)


def g2(counter: Counter, a: int, b: int, given: Sequence[int]) -> tuple[float, int]:
    """Give the likelihood ratio of a and b within the strata of others, and its freedom."""
    both, one = counter.cells((a, b, *given)), counter.cells((a, *given))
    other, strata = counter.cells((b, *given)), counter.cells(given)
    statistic = 2 * (_entropy(both) - _entropy(one) - _entropy(other) + _entropy(strata))
    of_a, of_b = counter.spread(given, a), counter.spread(given, b)
    return max(statistic, 0.0), int(((of_a - 1) * (of_b - 1)).sum())


def _entropy(cells: Cells) -> float:
    """Sum N ln N over cells."""
    return float((cells.counts * np.log(cells.counts)) @ cells.times)
