"""Whether a model can tell published rows from original ones: the propensity score."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from sfumato.counts import add_up, group
from sfumato.dataclasses import dataclass
from sfumato.showing.content import plain_of
from sfumato.text import in_thousands, join_words, percent
from sfumato.typing import FloatArray, IntArray
from sfumato.usefulness.cells import AnalystCells
from sfumato.usefulness.estimators import EstimatedTable, draw_rows

DISTINGUISHABILITY = "distinguishability"
"""The loss: how well published rows can be told from original ones, from 0 to 1."""

_MOST_CATEGORIES = 10
"""Values of a column that have a feature of their own, the most frequent; others share one."""

_MOST_FEATURES = 100
"""Squares and pairs that would make more features than these are left out, and named; the more
categories there are, the fewer values of each have a feature."""

_MOST_ROWS = 1_000_000
"""Rows that are drawn at most: of more, some groups."""

_MOST_COMBINATIONS = 50_000
"""Of more combinations of values some are drawn: a model of so few features needs no more."""

_RIDGE = 1e-6
"""What keeps coefficients finite where rows can be told apart without an error: a penalty, per
row, that changes no score by more than its fifth decimal."""

_LARGEST = 1e70

_ROUNDS = 100

_SMALL_GAIN = 1e-9
"""A step that promises less, per row, ends the search: the next would promise its square."""


@dataclass(frozen=True)
class Propensity:
    """How well a logistic regression tells published rows from original ones.

    The model sees numbers and their squares, categories, whether there is a value, and pairs of
    columns as far as these are not too many.
    Labels are read as rows that could be behind them. If it cannot tell, it believes of every row
    what is true of all: that it is published with the chance c, their share. The mean square of
    what it believes beyond that is the pMSE.

    References:
        Woo, Reiter, Oganian and Karr, "Global measures of data utility for microdata masked for
        disclosure limitation", 2009, doi:10.29012/jpc.v1i1.568; Snoke, Raab, Nowok, Dibben and
        Slavkovic, "General and specific utility measures for synthetic data", 2018,
        doi:10.1111/rssa.12358

    Example:
        >>> found = Propensity(pmse=0.05, share=0.5, features=4, rows=2000)
        >>> found.loss, found.expected, found.ratio
        (0.2, 0.00025, 200.0)
    """

    pmse: float
    share: float
    """The share of the rows that are published ones."""

    features: int
    """What the model sees of a row, as far as it differs."""

    rows: int
    """How many rows it learned from, original and published."""

    unseen: tuple[str, ...] = ()
    """Squares and pairs of columns that it does not look at because there are too many."""

    @property
    def loss(self) -> float:
        """The share of the largest pMSE there can be: 0 if rows cannot be told apart, 1 if all."""
        return self.pmse / (self.share * (1 - self.share)) if 0 < self.share < 1 else 1.0

    @property
    def expected(self) -> float:
        """The mean pMSE of another sample, as large as the release, from the same population."""
        return self.features * (1 - self.share) ** 2 * self.share / max(self.rows, 1)

    @property
    def ratio(self) -> float | None:
        """The pMSE beside its expectation; below 1 is nearer than another sample would be."""
        return self.pmse / self.expected if self.expected > 0 else None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values that JSON can hold."""
        return plain_of(self, "loss pmse expected ratio features unseen rows")

    def __str__(self) -> str:
        if not 0 < self.share < 1:
            return "published rows told from original ones: there are none, which counts as 100 %"
        beside = (
            ""
            if self.ratio is None
            else (
                f", {in_thousands(f'{self.ratio:,.3g}')} times that of another sample of the same "
                "population"
            )
        )
        without = f"; it does not look at {join_words(self.unseen)}" if self.unseen else ""
        return (
            f"published rows told from original ones (propensity score): {percent(self.loss, 1)}; "
            f"pMSE {self.pmse:.3g}{beside}{without}"
        )


def measure_propensity(
    original: AnalystCells, release: AnalystCells, *, rng: np.random.Generator
) -> Propensity:
    """Return how well a model tells published rows from original ones.

    Args:
        original: The table as it was.
        release: What was published of it, with the same columns.
        rng: Where rows that could be behind the release are drawn from.
    """
    names = original.names
    domains = {name: np.union1d(original.domain(name), release.domain(name)) for name in names}
    before, after = (_rows_behind(cells, domains, rng) for cells in (original, release))
    n, m = before.total, after.total
    if not names or not n or not m:
        return Propensity(0.0, 0.0, 0, round(n + m))
    codes = [np.concatenate(both) for both in zip(before.codes, after.codes, strict=True)]
    groups = group(codes, [len(domains[name]) + 1 for name in names])
    published = add_up(groups.of_item[len(before.rows) :], after.rows, groups.n)
    rows = add_up(groups.of_item[: len(before.rows)], before.rows, groups.n) + published
    first = groups.first
    most = _most_combinations(len(names), len(original.numbers))
    if groups.n > most:
        # Combinations, not rows: those that are the same on both sides stay so.
        some = np.sort(rng.choice(groups.n, most, replace=False))
        first, rows, published = first[some], rows[some], published[some]
    share = float(published.sum() / rows.sum())
    if not 0 < share < 1:
        return Propensity(share * (1 - share), share, 0, round(rows.sum()))
    features, unseen = _features(
        [(codes[i][first], domains[name]) for i, name in enumerate(names)],
        [name in original.numbers for name in names],
        rows,
    )
    belief = fit_logistic(features, published, rows)
    pmse = float((rows * (belief - share) ** 2).sum() / rows.sum())
    return Propensity(pmse, share, _rank(features, rows), round(rows.sum()), unseen)


def _values_per_category(columns: int, numbers: int) -> int:
    """Return how many values of a column of categories have a feature of their own."""
    room = (_MOST_FEATURES - 2 * numbers) // max(columns - numbers, 1)
    return min(max(room, 1), _MOST_CATEGORIES)


def _most_combinations(columns: int, numbers: int) -> int:
    """Return how many combinations a model learns from: of many columns fewer, to stay quick.

    >>> _most_combinations(10, 5), _most_combinations(300, 200)
    (50000, 5000)
    """
    features = 2 * numbers + (columns - numbers) * _values_per_category(columns, numbers)
    share = min(_MOST_FEATURES / max(features, 1), 1.0) ** 2
    return max(int(_MOST_COMBINATIONS * share), min(10 * features, _MOST_COMBINATIONS))


class _Rows(NamedTuple):
    """Rows that are, or could be, behind a table: a code per column, and how many are the same."""

    codes: list[IntArray]
    rows: FloatArray

    @property
    def total(self) -> float:
        return float(self.rows.sum())


def _rows_behind(
    cells: AnalystCells, domains: Mapping[str, FloatArray], rng: np.random.Generator
) -> _Rows:
    """Return the rows of a table whose cells leave no choice, or rows that could be behind it."""
    pieces = cells.pieces_over(domains)
    codes: dict[str, IntArray] = {}
    if len(pieces) == 1 and all(each.n == len(each.kind) for each in pieces[0].facets.values()):
        [piece] = pieces
        for name, facet in piece.facets.items():
            value = np.empty(facet.n, dtype=np.int64)
            value[facet.kind] = facet.value
            codes[name] = value[facet.kinds]
        rows = piece.people
    else:
        total = float(cells.tables.sizes.sum())
        codes = draw_rows(_some_groups(pieces, cells.tables.sizes, rng), rng)
        drawn = len(next(iter(codes.values()), ()))
        rows = np.full(drawn, total / max(drawn, 1))
    # A column that is not published has no value in any row.
    nothing = {name: np.full(len(rows), len(domain)) for name, domain in domains.items()}
    return _Rows([{**nothing, **codes}[name] for name in domains], rows)


def _some_groups(
    pieces: list[EstimatedTable], sizes: FloatArray, rng: np.random.Generator
) -> list[EstimatedTable]:
    """Return the tables with some of their groups, if there are more rows than are drawn."""
    if sizes.sum() <= _MOST_ROWS:
        return pieces
    order = rng.permutation(len(sizes))
    up_to = np.cumsum(sizes[order]) - sizes[order]
    taken = np.zeros(len(sizes), dtype=bool)
    taken[order[up_to < _MOST_ROWS]] = True
    return [each._replace(people=each.people * taken[each.group]) for each in pieces]


def _features(
    columns: Sequence[tuple[IntArray, FloatArray]], numeric: Sequence[bool], rows: FloatArray
) -> tuple[FloatArray, tuple[str, ...]]:
    """Return what a model sees of each combination, and the pairs of columns that it does not."""
    found: list[FloatArray] = []
    numbers: list[FloatArray] = []
    categories: list[list[FloatArray]] = []
    most = _values_per_category(len(columns), sum(numeric))
    for (codes, domain), is_number in zip(columns, numeric, strict=True):
        if is_number:
            known = codes < len(domain)
            # The squares of larger numbers would be none.
            value = np.clip(np.append(domain, 0.0), -_LARGEST, _LARGEST)[codes]
            weight = rows * known
            total = max(float(weight.sum()), 1e-300)
            mean = float((weight * value).sum()) / total
            deviation = math.sqrt(float((weight * (value - mean) ** 2).sum()) / total) or 1.0
            scaled = np.where(known, (value - mean) / deviation, 0.0)
            numbers.append(scaled)
            found += [scaled, known.astype(np.float64)]
        else:
            categories.append(list(_dummies(codes, len(domain) + 1, rows, most)))
            found += categories[-1]
    every = [each for some in categories for each in some]
    pairs: dict[str, list[tuple[FloatArray, FloatArray]]] = {
        "squares of numbers": [(each, each) for each in numbers],
        "pairs of numbers": [*combinations(numbers, 2)],
        "pairs of a number and a category": [*product(numbers, every)],
        "pairs of categories": [
            both for one, other in combinations(categories, 2) for both in product(one, other)
        ],
    }
    unseen = []
    for what, some in pairs.items():
        if len(found) + len(some) > _MOST_FEATURES:
            unseen.append(what)
        else:
            found += [one * other for one, other in some]
    kept = [each for each in found if each.max() > each.min()]
    table = np.array(kept).reshape(len(kept), len(rows))
    # On one scale, so that one penalty fits all.
    table -= (table * rows).sum(axis=1, keepdims=True) / rows.sum()
    table /= np.sqrt((table**2 * rows).sum(axis=1, keepdims=True) / rows.sum())
    return table, tuple(unseen)


def _dummies(codes: IntArray, n: int, rows: FloatArray, most: int) -> Iterator[FloatArray]:
    """Yield a feature for each frequent value but the most frequent, and one for all others."""
    frequent = np.argsort(-np.bincount(codes, weights=rows, minlength=n), kind="stable")
    for value in frequent[1:most]:
        yield (codes == value).astype(np.float64)
    if n > most:
        yield np.isin(codes, frequent[most:]).astype(np.float64)


def _rank(features: FloatArray, rows: FloatArray) -> int:
    """Return how many features do not follow from others."""
    if not len(features):
        return 0
    return int(np.linalg.matrix_rank((features * rows) @ features.T / rows.sum(), tol=1e-9))


def fit_logistic(features: FloatArray, successes: FloatArray, trials: FloatArray) -> FloatArray:
    """Return the chance of a success in each row, by a logistic regression with an intercept.

    Newton's method with halved steps. A small penalty on all coefficients but the intercept keeps
    them finite where a feature tells all successes.

    Args:
        features: A row per feature.
        successes: How many trials of each kind succeed.
        trials: How many there are of each kind.

    >>> coin = fit_logistic(np.array([[0.0, 1.0]]), np.array([1.0, 3.0]), np.array([4.0, 4.0]))
    >>> coin.round(3).tolist()
    [0.25, 0.75]
    """
    total = float(trials.sum())
    design = np.vstack([np.ones(len(trials)), features])
    penalty = np.full(len(design), _RIDGE * total)
    penalty[0] = 0.0
    share = float(successes.sum()) / total
    at = np.zeros(len(design))
    at[0] = math.log(share / (1 - share))
    value = _cost(at, design, successes, trials, penalty)
    for _ in range(_ROUNDS):
        chance = _chance(at @ design)
        gradient = design @ (successes - trials * chance) - penalty * at
        curvature = (design * (trials * chance * (1 - chance))) @ design.T + np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        gain = float(gradient @ step)
        if gain <= _SMALL_GAIN * total:
            break
        length = 1.0
        while (
            length > 1e-6
            and (new := _cost(at + length * step, design, successes, trials, penalty)) > value
        ):
            length /= 2
        if length <= 1e-6:
            break
        at, value = at + length * step, new
    return _chance(at @ design)


def _chance(log_odds: FloatArray) -> FloatArray:
    found: FloatArray = 1 / (1 + np.exp(-np.clip(log_odds, -500, 500)))
    return found


def _cost(
    at: FloatArray,
    design: FloatArray,
    successes: FloatArray,
    trials: FloatArray,
    penalty: FloatArray,
) -> float:
    """Return the negative log likelihood, and the penalty."""
    log_odds = at @ design
    likelihood = successes * log_odds - trials * np.logaddexp(0, log_odds)
    return float(-likelihood.sum() + (penalty * at**2).sum() / 2)
