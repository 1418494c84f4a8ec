"""Tests of whether two columns are independent, given others."""

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from sfumato.counts import FrequencySet, PackedKeys
from sfumato.dataclasses import dataclass
from sfumato.errors import UnknownColumnError, require_int, require_number
from sfumato.typing import FloatArray, IntArray

# Scores of Bayesian networks are sums of lnΓ(count + ½) and lnΓ(count + r/2): arguments are always
# halves of whole numbers. Most counts are small, so those are looked up, which takes a tenth of the
# time of SciPy's gammaln (measured on 100 000 counts).

_LOOKED_UP = 2**16
"""Arguments below half of this are looked up."""

_STIRLING_FROM = 40
"""From 20 on, four terms of Stirling's series are exact to the last digit of a float."""


def log_gamma_of_halves(doubled: IntArray) -> FloatArray:
    """Return lnΓ(d/2) for every d.

    Args:
        doubled: Twice the arguments: whole numbers of at least 1.

    >>> log_gamma_of_halves(np.array([1, 2, 10])).round(6).tolist()
    [0.572365, 0.0, 3.178054]
    """
    if doubled.size and int(doubled.max()) >= _LOOKED_UP:
        small = doubled < _LOOKED_UP
        values = _stirling(np.where(small, _LOOKED_UP, doubled) / 2)
        values[small] = _table()[doubled[small]]
        return values
    looked_up: FloatArray = _table()[doubled]
    return looked_up


@cache
def _table() -> FloatArray:
    table = np.empty(_LOOKED_UP)
    table[0] = math.inf
    table[1:_STIRLING_FROM] = [math.lgamma(d / 2) for d in range(1, _STIRLING_FROM)]
    table[_STIRLING_FROM:] = _stirling(np.arange(_STIRLING_FROM, _LOOKED_UP) / 2)
    return table


def _stirling(x: FloatArray) -> FloatArray:
    """Stirling's series, for x of at least 20."""
    over = 1 / x
    square = over * over
    series = over * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    values: FloatArray = (x - 0.5) * np.log(x) - x + 0.5 * math.log(2 * math.pi) + series
    return values


_ALWAYS_DENSE = 2**16
_DENSE_PER_ITEM = 4
"""Up to this many cells per combination of the table, clearing an array beats sorting."""

_SUMMARISED = 256
_KEPT = 2**23
"""Numbers that are kept as summaries; beyond that they are forgotten and counted again."""


class CellFrequencies(NamedTuple):
    """The counts of the cells that occur: a count, and how many cells have it.

    Sums over cells need no more than this. A table of n rows has at most √(2n) different
    counts, however many cells it has.
    """

    counts: IntArray
    times: IntArray


class _Key(NamedTuple):
    columns: tuple[int, ...]
    codes: IntArray
    width: int


class Counter:
    """Counts how often values occur together, for sets of columns given by their positions.

    The cost of a count grows with the distinct combinations of the frequency set, not with its
    rows. Missing is a value like any other. Nothing is counted twice: what was counted is
    kept, and what is part of the table counted last is summed from that.

    Args:
        counts: The table.
        declared: How many values a column is said to have, if more than those that occur.

    Example:
        >>> rows = [("f", 1), ("f", 1), ("f", 2), ("m", 2)]
        >>> counter = Counter(FrequencySet.from_rows(["sex", "ward"], rows))
        >>> cells = counter.cells([0, 1])
        >>> cells.counts.tolist(), cells.times.tolist()
        ([2, 1, 1], [1, 1, 1])
    """

    def __init__(self, counts: FrequencySet, declared: Mapping[str, int] | None = None) -> None:
        self.names: tuple[str, ...] = counts.names
        self._sizes = [max(1, len(column.values)) for column in counts.columns]
        self.values: tuple[int, ...] = _value_numbers(counts, declared or {})
        # Narrow codes pass through memory faster than wide ones.
        self._codes = [
            codes.astype(np.min_scalar_type(size))
            for codes, size in zip(counts.codes, self._sizes, strict=True)
        ]
        self._items = len(counts)
        self._rows: FloatArray | None = None
        if (counts.rows != 1).any():
            self._rows = counts.rows.astype(np.float64)
        self._widest_dense = max(_ALWAYS_DENSE, _DENSE_PER_ITEM * self._items)
        self._kept: dict[int, CellFrequencies] = {}
        self._room = _KEPT
        self._keys: list[_Key] = []
        self._last: tuple[tuple[int, ...], IntArray] = ((), np.zeros(0, dtype=np.int64))

    def cells(self, columns: Sequence[int]) -> CellFrequencies:
        """Count the combinations of some columns, in whatever order they are named."""
        # A set of columns is one number, a bit per column: cheap to make, compare and look up.
        mask = sum(1 << column for column in columns)
        found = self._kept.get(mask)
        if found is None:
            found = _summary(self._count(tuple(columns), mask))
            if len(found.counts) > self._room:
                self._kept.clear()
                self._room = _KEPT
            self._room -= len(found.counts)
            self._kept[mask] = found
        return found

    def spread(self, strata: Sequence[int], column: int) -> IntArray:
        """Count the different values a column has within each stratum that occurs.

        >>> rows = [("f", 1), ("f", 1), ("f", 2), ("m", 2)]
        >>> Counter(FrequencySet.from_rows(["sex", "ward"], rows)).spread([0], 1).tolist()
        [2, 1]
        """
        key = self._key((*strata, column))
        if key.width <= self._widest_dense:
            distinct = np.flatnonzero(np.bincount(key.codes, minlength=1))
        else:
            distinct = np.unique(key.codes)
        stratum = distinct // self._sizes[column]
        return _run_lengths(stratum)

    def _count(self, columns: tuple[int, ...], mask: int) -> IntArray:
        known, table = self._last
        if known and not mask & ~sum(1 << column for column in known):
            # Part of what was counted last: summing that table replaces a pass over the rows.
            margin: IntArray = table.sum(
                axis=tuple(i for i, c in enumerate(known) if c not in columns)
            )
            return margin[margin > 0]
        key = self._key(columns)
        if key.width > self._widest_dense:
            return self._count_sorted(key.codes)
        table = np.bincount(key.codes, weights=self._rows, minlength=key.width)
        table = table.astype(np.int64, copy=False)
        self._last = columns, table.reshape([self._sizes[c] for c in columns])
        return table[table > 0]

    def _count_sorted(self, codes: IntArray) -> IntArray:
        if self._rows is None:
            return _run_lengths(np.sort(codes))
        order = np.argsort(codes)
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        added: IntArray = np.add.reduceat(self._rows[order], starts).astype(np.int64)
        return added

    def _key(self, columns: tuple[int, ...]) -> _Key:
        """Pack columns into one number, going on from the columns packed last where they agree."""
        agreeing = 0
        for kept in self._keys:
            if kept.columns != columns[: len(kept.columns)]:
                break
            agreeing += 1
        del self._keys[agreeing:]
        key = self._keys[-1] if self._keys else _Key((), np.zeros(self._items, np.int64), 1)
        for column in columns[len(key.columns) :]:
            key = self._extend(key, column)
            self._keys.append(key)
        return key

    def _extend(self, key: _Key, column: int) -> _Key:
        packed = PackedKeys(key.codes, key.width).extend(self._codes[column], self._sizes[column])
        return _Key((*key.columns, column), *packed)


def _value_numbers(counts: FrequencySet, declared: Mapping[str, int]) -> tuple[int, ...]:
    """Return the number of values of each column, as declared or as found."""
    for name, number in declared.items():
        if name not in counts.names:
            raise UnknownColumnError(name, counts.names)
        found = len(counts.column(name).values)
        require_int(f"declared[{name!r}]", number, at_least=max(1, found))
    return tuple(declared.get(c.name, max(1, len(c.values))) for c in counts.columns)


def _run_lengths(ordered: IntArray) -> IntArray:
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    return np.diff(starts, append=len(ordered))


def _summary(counts: IntArray) -> CellFrequencies:
    if len(counts) <= _SUMMARISED:
        return CellFrequencies(counts, np.ones(len(counts), dtype=np.int64))
    # Scores are sums over cells, and n rows make at most √(2n) different counts.
    distinct, times = np.unique(counts, return_counts=True)
    return CellFrequencies(distinct, times)


class FamilyScores:
    """Scores of columns given parents, on one table, each worked out once.

    The score of column x with parents P is the logarithm of the probability of x's values
    in the table, given those of P and a Dirichlet prior of ½ per cell:

        S(x | P) = Σ_j [ lnΓ(r/2) − lnΓ(N_j + r/2) + Σ_k ( lnΓ(N_jk + ½) − lnΓ(½) ) ]

    over the combinations j of the parents' values and the r values k of x. Cells that are
    empty add nothing. The inner sum is one over the cells of P and x together, and the rest
    one over the cells of P, so scores of many families share their parts.

    Example:
        >>> counts = FrequencySet.from_rows(["sex", "ward"], [("f", 1), ("f", 1), ("m", 2)])
        >>> scores = FamilyScores(Counter(counts))
        >>> round(scores.of(1, [0]), 6), round(scores.of(1, []), 6)
        (-1.673976, -2.772589)
    """

    def __init__(self, counter: Counter) -> None:
        self.counter = counter
        self._joint: dict[int, float] = {}
        self._strata: dict[tuple[int, int], float] = {}

    def of(self, child: int, parents: Sequence[int]) -> float:
        """Return S(child | parents), the columns by position."""
        joint = self.joint((*parents, child))
        return joint + self.strata(tuple(parents), self.counter.values[child])

    def joint(self, columns: Sequence[int]) -> float:
        """Sum lnΓ(N + ½) − lnΓ(½) over the cells of some columns."""
        mask = sum(1 << column for column in columns)
        found = self._joint.get(mask)
        if found is None:
            found = self._joint[mask] = _excess(self.counter.cells(columns), 1)
        return found

    def strata(self, columns: Sequence[int], values: int) -> float:
        """Sum lnΓ(r/2) − lnΓ(N + r/2) over the cells of some columns, r being `values`."""
        key = sum(1 << column for column in columns), values
        found = self._strata.get(key)
        if found is None:
            found = self._strata[key] = -_excess(self.counter.cells(columns), values)
        return found


def _excess(cells: CellFrequencies, halves: int) -> float:
    """Sum lnΓ(N + h/2) − lnΓ(h/2) over cells."""
    none = log_gamma_of_halves(np.array([halves]))[0]
    return float((log_gamma_of_halves(2 * cells.counts + halves) - none) @ cells.times)


def family_score(counts: FrequencySet, child: str, parents: Sequence[str]) -> float:
    """Score one family by column names.

    >>> counts = FrequencySet.from_rows(["sex", "ward"], [("f", 1), ("f", 1), ("m", 2)])
    >>> round(family_score(counts, "ward", ["sex"]), 6)
    -1.673976
    """
    positions = [counts.index(name) for name in parents]
    return FamilyScores(Counter(counts)).of(counts.index(child), positions)


# The tail of the chi-square distribution, as a logarithm that never underflows (SciPy's does): a
# regularised incomplete gamma function, by its series where that converges quickly and by its
# continued fraction elsewhere (Press et al., Numerical Recipes, 6.2).

_PRECISE = 1e-15
_TINY = 1e-300


def log_tail(statistic: float, freedom: float) -> float:
    """Return ln P(X ≥ statistic) for a chi-square variable with this many degrees of freedom.

    >>> round(math.exp(log_tail(3.841459, 1)), 6)
    0.05
    >>> round(log_tail(10_000, 3))
    -4996
    """
    a, x = freedom / 2, statistic / 2
    if x <= 0:
        return 0.0
    scale = a * math.log(x) - x - math.lgamma(a)
    if x < a + 1:
        below = math.exp(scale) * _series(a, x)
        return math.log1p(-below) if below < 1 else -math.inf
    return scale + math.log(_fraction(a, x))


def _series(a: float, x: float) -> float:
    term = total = 1 / a
    n = a
    while abs(term) > abs(total) * _PRECISE:
        n += 1
        term *= x / n
        total += term
    return total


def _fraction(a: float, x: float) -> float:
    """Lentz's evaluation of the continued fraction."""
    b = x + 1 - a
    c, d = 1 / _TINY, 1 / b
    value = d
    step, i = 0.0, 0
    while abs(step - 1) > _PRECISE:
        i += 1
        factor = -i * (i - a)
        b += 2
        d = 1 / _away_from_zero(factor * d + b)
        c = _away_from_zero(b + factor / c)
        step = c * d
        value *= step
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


_TIE = 1e-9
"""Scores nearer than this, absolutely or relative to their size, are equal."""


class IndependenceTest(ABC):
    """A test of whether columns a and b are independent among rows alike in others."""

    @abstractmethod
    def on(self, counter: Counter) -> "IndependenceJudge":
        """Apply it to a table."""


class IndependenceJudge(ABC):
    """A test applied to one table."""

    @abstractmethod
    def evidence(self, a: int, b: int, given: Sequence[int]) -> float:
        """Return the evidence of dependence: independent if it is 0 or less."""

    @abstractmethod
    def explains(self, a: int, b: int, given: Sequence[int]) -> float:
        """Return how well independence given these columns is shown: convincingly from 0 on.

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
        >>> from sfumato.counts import FrequencySet, PackedKeys
        >>> rows = [("f", 1, "x"), ("m", 2, "x"), ("f", 1, "y"), ("m", 2, "y")] * 5
        >>> judge = ScoreTest().on(Counter(FrequencySet.from_rows("abc", rows)))
        >>> judge.evidence(0, 1, []) > 0, judge.evidence(0, 2, []) > 0
        (True, False)
    """

    def on(self, counter: Counter) -> "IndependenceJudge":
        return _ScoreJudge(FamilyScores(counter))


@dataclass(frozen=True)
class OneSidedScoreTest(IndependenceTest):
    """Dependent if knowing the first column makes the second's score better; ties are not."""

    def on(self, counter: Counter) -> "IndependenceJudge":
        return _OneSidedScoreJudge(FamilyScores(counter))


@dataclass(frozen=True)
class G2Test(IndependenceTest):
    """Dependent if the likelihood ratio G² is larger than chance would often make it.

    Within each stratum that occurs, only the values that occur there count towards the
    degrees of freedom: a stratum in which a column has but one value can show nothing.

    Args:
        significance: The share of independent pairs that may be taken for dependent ones.

    Example:
        >>> from sfumato.counts import FrequencySet, PackedKeys
        >>> rows = [("f", 1, "x"), ("m", 2, "x"), ("f", 1, "y"), ("m", 2, "y")] * 5
        >>> judge = G2Test().on(Counter(FrequencySet.from_rows("abc", rows)))
        >>> judge.evidence(0, 1, []) > 0, judge.evidence(0, 2, []) > 0
        (True, False)
    """

    significance: float = 0.01

    def __post_init__(self) -> None:
        require_number("significance", self.significance, above=0, below=1)

    def on(self, counter: Counter) -> "IndependenceJudge":
        return _G2Judge(counter, math.log(self.significance))


def _without_rounding(difference: float, score: float) -> float:
    return 0.0 if abs(difference) <= _TIE * max(1.0, abs(score)) else difference


@dataclass(frozen=True)
class _OneSidedScoreJudge(IndependenceJudge):
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
class _G2Judge(IndependenceJudge):
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
    """Return the likelihood ratio of a and b within the strata of others, and its freedom."""
    both, one = counter.cells((a, b, *given)), counter.cells((a, *given))
    other, strata = counter.cells((b, *given)), counter.cells(given)
    statistic = 2 * (_entropy(both) - _entropy(one) - _entropy(other) + _entropy(strata))
    of_a, of_b = counter.spread(given, a), counter.spread(given, b)
    return max(statistic, 0.0), int(((of_a - 1) * (of_b - 1)).sum())


def _entropy(cells: CellFrequencies) -> float:
    """Sum N ln N over cells."""
    return float((cells.counts * np.log(cells.counts)) @ cells.times)
