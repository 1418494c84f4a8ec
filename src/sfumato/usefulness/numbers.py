"""The cost of a release for an analyst who computes: means, spreads, ties, regressions."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from sfumato.counts import FrequencySet, add_up
from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import LinkedTables
from sfumato.errors import some
from sfumato.hierarchy.labels import RawLabels
from sfumato.showing.content import Cell, ContentTable, FineShare, Heading, Part, Sentence
from sfumato.text import join_words, percent
from sfumato.typing import FloatArray
from sfumato.usefulness.cells import AnalystCells
from sfumato.usefulness.estimators import EstimatedTable

DECILES = tuple(np.arange(1, 10) / 10)
"""Which quantiles are compared."""

_SAME = 9
"""Decimals: errors that are less than this differ from nothing by rounding."""

_SINGULAR = 1e-9
"""A column of which the others leave a smaller share of the variance follows from them."""

_CHUNK = 200_000
"""Entries that are multiplied with each other at a time, so that memory stays small."""


# Sums of what cells say.


@dataclass(frozen=True, eq=False)
class Units:
    """The original's mean and standard deviation of each column.

    Counted from the one in steps of the other, all columns are of one size: sums lose no digits,
    and errors need no scale.
    """

    mean: Mapping[str, float]
    deviation: Mapping[str, float]
    """1 where all values are the same."""

    def of(self, name: str, numbers: FloatArray) -> FloatArray:
        """Return the numbers of a column in its units, and 0 at the end for no value."""
        found = (numbers - self.mean[name]) / self.deviation[name]
        return np.append(found, 0.0)


@dataclass(frozen=True, eq=False)
class Summary:
    """What an analyst computes from a table; NaN is what cannot be computed."""

    known: FloatArray
    """Per column how many rows, or people they stand for, have a value, exactly or not."""

    mean: FloatArray
    variance: FloatArray
    """Per column; the spread of the values behind a range is part of it."""

    quantiles: FloatArray
    """Per column and decile the least number that as many are not above."""

    correlation: FloatArray
    """Pearson's, of the rows that have both; of a range the mean of what is behind it counts."""


def units_of(cells: AnalystCells, names: Sequence[str]) -> Units:
    """Return the mean and the deviation of columns of the original."""
    means, deviations = {}, {}
    for name in names:
        numbers, mass = _distribution(cells, cells.pieces, name)
        total = max(float(mass.sum()), 1e-300)
        mean = float((mass * numbers).sum()) / total
        variance = float((mass * (numbers - mean) ** 2).sum()) / total
        # A variance that is nothing but rounding is none.
        varies = variance > _SINGULAR**2 * mean**2
        means[name], deviations[name] = mean, math.sqrt(variance) if varies else 1.0
    return Units(means, deviations)


def summary_of(cells: AnalystCells, names: Sequence[str], units: Units) -> Summary:
    """Compute all sums of a table, or of the tables of a release.

    Tables that are published apart say nothing about who in a group is who in another, so within
    a group their columns are taken to be independent.
    """
    pieces = cells.pieces
    p = len(names)
    known, mean, variance = np.zeros(p), np.full(p, np.nan), np.full(p, np.nan)
    quantiles = np.full((p, len(DECILES)), np.nan)
    for at, name in enumerate(names):
        if name not in cells.published:
            continue
        numbers, mass = _distribution(cells, pieces, name)
        scaled = units.of(name, numbers)[:-1]
        known[at] = total = float(mass.sum())
        if total > 0:
            mean[at] = float((mass * scaled).sum()) / total
            variance[at] = float((mass * (scaled - mean[at]) ** 2).sum()) / total
            quantiles[at] = [_quantile(scaled, mass, share) for share in DECILES]
    correlation = _Moments(cells, pieces, names, units).correlation()
    return Summary(known, mean, variance, quantiles, correlation)


def covariance_of(
    cells: AnalystCells, names: Sequence[str], units: Units
) -> tuple[FloatArray, float]:
    """Return the covariances of the rows that have all of some columns, and how many those are."""
    if not {*names} <= cells.published:
        return np.full((len(names), len(names)), np.nan), 0.0
    return _Moments(cells, cells.pieces, names, units).complete()


def _distribution(
    cells: AnalystCells, pieces: Sequence[EstimatedTable], name: str
) -> tuple[FloatArray, FloatArray]:
    """Return the numbers of a column in order, and how many have each."""
    piece = next(each for each in pieces if name in each.facets)
    return cells.domain(name), piece.facets[name].spread(piece.people)[:-1]


def _quantile(numbers: FloatArray, mass: FloatArray, share: float) -> float:
    """Return the least number that at least a share of all are not above."""
    up_to = np.cumsum(mass)
    # Not a number more for the sake of a rounding error.
    at = int(np.searchsorted(up_to, share * up_to[-1] * (1 - 1e-12), side="left"))
    return float(numbers[min(at, len(numbers) - 1)])


class _Moments:
    """Sums of the products of columns, within tables and between them."""

    def __init__(
        self,
        cells: AnalystCells,
        pieces: Sequence[EstimatedTable],
        names: Sequence[str],
        units: Units,
    ) -> None:
        self._names, self._pieces = names, pieces
        self.sizes = _group_sizes(cells, pieces)
        rows = cells.tables.people
        self._rows = [each if cells.weights is not None else None for each in rows]
        self._domains = {
            name: units.of(name, cells.domain(name)) for name in names if name in cells.published
        }

    def _columns_in(self, piece: EstimatedTable) -> list[int]:
        """Return the positions of the columns that a table has."""
        return [at for at, name in enumerate(self._names) if name in piece.facets]

    def _values(
        self, piece: EstimatedTable, held: Sequence[int]
    ) -> Iterator[tuple[slice, FloatArray]]:
        """Yield what entries say: whether there is a number, and which; a part at a time."""
        tables = []
        if not held:
            return
        for at in held:
            name = self._names[at]
            facet, numbers = piece.facets[name], self._domains[name]
            # Per label first: there are fewer of them than entries.
            mean = add_up(facet.kind, facet.weight * numbers[facet.value], facet.n)
            mean /= np.maximum(add_up(facet.kind, facet.weight, facet.n), 1e-300)
            there = np.zeros(facet.n)
            there[facet.kind] = facet.value < len(numbers) - 1
            tables.append((facet.kinds, there, mean))
        for start in range(0, len(piece.people), _CHUNK):
            part = slice(start, start + _CHUNK)
            known = [there[kinds[part]] for kinds, there, _ in tables]
            values = [mean[kinds[part]] for kinds, _, mean in tables]
            yield part, np.array([known, values])

    def correlation(self) -> FloatArray:
        """Return the correlation of each pair, of the rows that have both."""
        p = len(self._names)
        n, first, square, product = (np.zeros((p, p)) for _ in range(4))
        done = np.zeros((p, p), dtype=bool)
        groups = []
        for piece in self._pieces:
            held = self._columns_in(piece)
            here = np.ix_(held, held)
            sums = np.zeros((3, len(held), len(self.sizes))) if len(self._pieces) > 1 else None
            found = np.zeros((4, len(held), len(held)))
            for part, (known, value) in self._values(piece, held):
                people = piece.people[part]
                found[0] += (known * people) @ known.T
                found[1] += (value * people) @ known.T
                found[2] += (value**2 * people) @ known.T
                found[3] += (value * people) @ value.T
                if sums is not None:
                    for i, each in enumerate((known, value, value**2)):
                        for j, column in enumerate(each):
                            sums[i, j] += add_up(
                                piece.group[part], column * people, len(self.sizes)
                            )
            fresh = ~done[here]
            for total, own in zip((n, first, square, product), found, strict=True):
                total[here] = np.where(fresh, own, total[here])
            done[here] = True
            groups.append((held, sums))
        self._between(groups, done, (n, first, square, product))
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = first / n
            variance = square / n - mean**2
            variance[variance <= _SINGULAR * np.maximum(square / n, 1e-300)] = np.nan
            found = (product / n - mean * mean.T) / np.sqrt(variance * variance.T)
        return np.clip(found, -1, 1)

    def _between(
        self,
        groups: Sequence[tuple[list[int], FloatArray | None]],
        done: np.ndarray,
        totals: tuple[FloatArray, ...],
    ) -> None:
        """Add the sums of pairs that no table has both of: independent within each group."""
        n, first, square, product = totals
        sizes = np.maximum(self.sizes, 1e-300)
        for i, (held, mine) in enumerate(groups):
            for others, theirs in groups[:i]:
                if mine is None or theirs is None:
                    continue
                for a, one in enumerate(held):
                    for b, other in enumerate(others):
                        if done[one, other]:
                            continue
                        done[one, other] = done[other, one] = True
                        known, value, squares = mine[:, a] / sizes
                        n[one, other] = n[other, one] = known @ theirs[0, b]
                        first[one, other] = value @ theirs[0, b]
                        first[other, one] = known @ theirs[1, b]
                        square[one, other] = squares @ theirs[0, b]
                        square[other, one] = known @ theirs[2, b]
                        product[one, other] = product[other, one] = value @ theirs[1, b]

    def complete(self) -> tuple[FloatArray, float]:
        """Return the covariances of the rows that have all columns, and how many those are."""
        p = len(self._names)
        held = self._assign()
        n, first, product, rows = 0.0, np.zeros(p), np.zeros((p, p)), 0.0
        used = [i for i, columns in enumerate(held) if columns]
        share, sums = {}, {}
        for i in used:
            share[i], sums[i] = self._of_complete(self._pieces[i], held[i])
        for i in used:
            rest = np.prod([share[j] for j in used if j != i], axis=0)
            piece = self._pieces[i]
            for part, (known, value) in self._values(piece, held[i]):
                whole = known.min(axis=0)
                if len(used) > 1:
                    whole = whole * rest[piece.group[part]]
                people = piece.people[part] * whole
                if i == used[0]:
                    n += float(people.sum())
                    own = self._rows[i]
                    rows += float(people.sum() if own is None else (own[part] * whole).sum())
                first[held[i]] += value @ people
                product[np.ix_(held[i], held[i])] += (value * people) @ value.T
            for j in used:
                if j < i:
                    third = [share[m] for m in used if m not in (i, j)]
                    per_row = np.prod(third, axis=0) / np.maximum(self.sizes, 1e-300)
                    both = (sums[i] * per_row) @ sums[j].T
                    product[np.ix_(held[i], held[j])] = both
                    product[np.ix_(held[j], held[i])] = both.T
        if n <= 0:
            return np.full((p, p), np.nan), 0.0
        mean = first / n
        return product / n - np.outer(mean, mean), rows

    def _assign(self) -> list[list[int]]:
        """Return which columns each table is asked for: as many as it has, and each once."""
        left = {at for piece in self._pieces for at in self._columns_in(piece)}
        held: list[list[int]] = [[] for _ in self._pieces]
        while left:
            best = max(
                range(len(self._pieces)),
                key=lambda i: len(left & {*self._columns_in(self._pieces[i])}),
            )
            held[best] = sorted(left & {*self._columns_in(self._pieces[best])})
            left -= {*held[best]}
        return held

    def _of_complete(
        self, piece: EstimatedTable, held: Sequence[int]
    ) -> tuple[FloatArray, FloatArray]:
        """Return per group the share of rows that have all of a table's columns, and their sums."""
        size = len(self.sizes)
        if len(self._pieces) == 1:
            return np.ones(1), np.zeros((len(held), 1))
        rows, sums = np.zeros(size), np.zeros((len(held), size))
        for part, (known, value) in self._values(piece, held):
            people = piece.people[part] * known.min(axis=0)
            rows += add_up(piece.group[part], people, size)
            for j, column in enumerate(value):
                sums[j] += add_up(piece.group[part], people * column, size)
        return rows / np.maximum(self.sizes, 1e-300), sums


def _group_sizes(cells: AnalystCells, pieces: Sequence[EstimatedTable]) -> FloatArray:
    return cells.tables.sizes if cells.weights is None else pieces[0].people


# A regression of each column on all others.


class RegressionFit(NamedTuple):
    """The coefficients of one outcome on all other columns, and their standard errors."""

    coefficients: FloatArray
    errors: FloatArray


def regress(covariance: FloatArray, rows: float, outcome: int) -> RegressionFit | None:
    """Fit a column to all others by least squares, with an intercept.

    Args:
        covariance: The covariances of all columns.
        rows: Of how many rows they are.
        outcome: Which column is explained.

    Returns:
        None if the others determine each other, or there are too few rows.

    >>> fit = regress(np.array([[1.0, 2.0], [2.0, 5.0]]), 12, outcome=1)
    >>> fit.coefficients.tolist(), fit.errors.round(4).tolist()
    ([2.0], [0.3162])
    """
    others = [at for at in range(len(covariance)) if at != outcome]
    inner, outer = covariance[np.ix_(others, others)], covariance[others, outcome]
    free = rows - len(others) - 1
    if (
        not np.isfinite(covariance).all()
        or free <= 0
        or independent(inner) != list(range(len(others)))
    ):
        return None
    coefficients: FloatArray = np.linalg.solve(inner, outer).astype(np.float64)
    left = max(float(covariance[outcome, outcome] - coefficients @ outer), 0.0)
    errors = np.sqrt(left * np.maximum(np.diag(np.linalg.inv(inner)), 0.0) / free)
    return RegressionFit(coefficients, errors)


def regress_each(covariance: FloatArray, rows: float) -> list[RegressionFit | None]:
    """Fit every column to all others; see `regress`.

    If no column follows from others, one inverse has all coefficients: those of column j are its
    entries of row j, divided by the one at j, with the other sign.
    """
    p = len(covariance)
    free = rows - p
    whole = bool(np.isfinite(covariance).all()) and independent(covariance) == list(range(p))
    if not whole or free <= 0:
        return [regress(covariance, rows, at) for at in range(p)]
    inverse: FloatArray = np.linalg.inv(covariance).astype(np.float64)
    own = np.diag(inverse)
    coefficients = -inverse / own[:, None]
    spread = np.maximum(own - inverse**2 / own[:, None], 0.0)
    errors = np.sqrt(spread / own[:, None] / free)
    off = ~np.eye(p, dtype=bool)
    return [RegressionFit(coefficients[at, off[at]], errors[at, off[at]]) for at in range(p)]


def independent(covariance: FloatArray) -> list[int]:
    """Return the columns, in order, that do not follow from those before them.

    >>> independent(np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 1.0]]))
    [0, 2]
    """
    taken: list[int] = []
    # What those before leave of each column: one elimination replaces a system for each.
    left = covariance.astype(np.float64)
    for at in range(len(covariance)):
        own = float(covariance[at, at])
        if own > _SINGULAR and left[at, at] > _SINGULAR * own:
            taken.append(at)
            left = left - np.outer(left[:, at], left[at] / left[at, at])
    return taken


def overlap_of(before: tuple[float, float], after: tuple[float, float]) -> float:
    """Return how far two 95 % intervals overlap, from a coefficient and its error each: 0 to 1.

    Reference: Karr, Kohnen, Oganian, Reiter and Sanil, "A framework for evaluating the utility of
    data altered to protect confidentiality", 2006, doi:10.1198/000313006X124640

    >>> overlap_of((1.0, 0.1), (1.0, 0.1)), overlap_of((1.0, 0.1), (9.0, 0.1))
    (1.0, 0.0)
    """
    if not any(round(a - b, _SAME) for a, b in zip(before, after, strict=True)):
        return 1.0
    ends = [(each - _NORMAL * error, each + _NORMAL * error) for each, error in (before, after)]
    shared = min(ends[0][1], ends[1][1]) - max(ends[0][0], ends[1][0])
    if shared <= 0 or not all(error > 0 for _, error in (before, after)):
        return 0.0
    return (shared / (ends[0][1] - ends[0][0]) + shared / (ends[1][1] - ends[1][0])) / 2


_NORMAL = 1.959963984540054
"""How many standard errors to either side a 95 % interval reaches."""


# What came out.

MEANS, VARIANCES, QUANTILES = "mean-error", "variance-error", "quantile-error"
PEARSON, REGRESSION = "pearson-error", "regression-error"

NUMBER_LOSSES: Mapping[str, str] = {
    MEANS: "error of means",
    VARIANCES: "error of variances",
    QUANTILES: "error of quantiles",
    PEARSON: "error of Pearson correlations",
    REGRESSION: "error of regression coefficients",
}
"""The losses of numbers, and what each is called in tables and drawings."""


class NumberColumn(NamedTuple):
    """A column of numbers before and after; None is what cannot be computed from the release."""

    name: str
    mean: tuple[float, float | None]
    deviation: tuple[float, float | None]
    quantiles: tuple[tuple[float, ...], tuple[float, ...] | None]
    """The deciles, from 10 % to 90 %."""

    left: float
    """The share of the original's values that rows of the release still have, exactly or not."""

    errors: Mapping[str, float]
    """The errors of its mean, variance and quantiles, each from 0 to 1."""


class NumberPair(NamedTuple):
    """Pearson's correlation of two columns before and after."""

    one: str
    other: str
    before: float
    after: float | None
    """None if the release has no rows, or no differences, to compute it from."""

    @property
    def error(self) -> float:
        """The distance between them, at most 1; 1 if it cannot be computed any more."""
        return 1.0 if self.after is None else _error(self.after - self.before)


class Coefficient(NamedTuple):
    """A coefficient of a regression, in standard deviations of the original, before and after."""

    outcome: str
    on: str
    before: float
    after: float | None
    """None if the regression cannot be computed from the release."""

    overlap: float
    """How far the 95 % intervals overlap: 0 to 1."""

    @property
    def error(self) -> float:
        """The distance between them, at most 1; 1 if it cannot be computed any more."""
        return 1.0 if self.after is None else _error(self.after - self.before)


def _error(difference: float) -> float:
    """Return a difference without sign, at most 1; what is no number is 1."""
    size = abs(float(difference))
    return round(min(size, 1.0), _SAME) if math.isfinite(size) else 1.0


@dataclass(frozen=True, eq=False)
class NumberUtility:
    """How far means, variances, quantiles, correlations and regressions are off.

    Differences are in standard deviations of the original, and no error counts more than 1. What
    cannot be computed from the release any more has the error 1. What was not measured is absent
    from `losses`, and `unmeasured` says why.
    """

    columns: tuple[NumberColumn, ...]
    pairs: tuple[NumberPair, ...] = ()
    coefficients: tuple[Coefficient, ...] = ()
    """Of each column on all others, by ordinary least squares with an intercept."""

    left_out: Mapping[str, str] = field(default_factory=dict)
    """Columns of numbers that were not measured, each with the reason."""

    unmeasured: Mapping[str, str] = field(default_factory=dict)
    """Losses that could not be measured on the original, each with the reason."""

    unread: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Labels that were taken for hidden because they cannot be read, by column."""

    weight: str | None = None
    """The column of weights that all of it goes by, if there is one."""

    apart: tuple[tuple[str, str], ...] = ()
    """Pairs of columns that no table of the release has both of."""

    @cached_property
    def losses(self) -> dict[str, float]:
        """Every loss that was measured, by name, from 0 to 1: the mean of its errors."""
        errors: dict[str, list[float]] = {
            name: [column.errors[name] for column in self.columns]
            for name in (MEANS, VARIANCES, QUANTILES)
        }
        errors[PEARSON] = [pair.error for pair in self.pairs]
        errors[REGRESSION] = [each.error for each in self.coefficients]
        return {name: sum(each) / len(each) for name, each in errors.items() if each}

    @property
    def overlap(self) -> float | None:
        """The mean overlap of the 95 % intervals of coefficients; None without a regression."""
        found = [each.overlap for each in self.coefficients]
        return sum(found) / len(found) if found else None

    @property
    def hidden(self) -> tuple[str, ...]:
        """The columns of which the release has no value at all."""
        return tuple(column.name for column in self.columns if column.mean[1] is None)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values that JSON can hold."""
        return {
            "losses": self.losses,
            "unmeasured": dict(self.unmeasured),
            "columns": [
                {
                    "column": each.name,
                    "values_left": each.left,
                    "mean": list(each.mean),
                    "deviation": list(each.deviation),
                    "deciles": [None if some is None else list(some) for some in each.quantiles],
                    "errors": dict(each.errors),
                }
                for each in self.columns
            ],
            "correlations": [
                {"columns": [p.one, p.other], "before": p.before, "after": p.after}
                for p in self.pairs
            ],
            "regressions": [each._asdict() for each in self.coefficients],
            "interval_overlap": self.overlap,
            "left_out": dict(self.left_out),
            "unread": {name: list(labels) for name, labels in self.unread.items()},
            "weight": self.weight,
            "apart": [list(pair) for pair in self.apart],
        }

    def parts(self) -> list[Part]:
        """Return the figures of each column, and the errors in a sentence each."""
        found: list[Part] = []
        if self.columns:
            found.append(self._table())
        found += map(Sentence, self.sentences)
        return found

    def _table(self) -> ContentTable:
        rows: list[list[Cell]] = [
            [
                each.name,
                *(None if value is None else _digits(value) for value in each.mean),
                *(None if value is None else _digits(value) for value in each.deviation),
                FineShare(each.errors[QUANTILES]),
                FineShare(each.left),
            ]
            for each in self.columns
        ]
        weighted = "" if self.weight is None else f", weighted by {self.weight}"
        return ContentTable.of(
            f"Numbers before and after{weighted}",
            [
                "column",
                Heading("mean before", "Of the original."),
                Heading("mean after", "Of the release, with what ranges stand for."),
                Heading("deviation before", "The standard deviation in the original."),
                Heading("deviation after", "In the release; ranges are spread out."),
                Heading("deciles off by", "In standard deviations of the original, on average."),
                Heading("values left", "The share of values that are not hidden, exact or not."),
            ],
            rows,
        )

    @property
    def sentences(self) -> list[str]:
        """The errors in words, with the notes."""
        found = []
        if self.columns:
            losses = self.losses
            found.append(
                f"numbers: means off by {losses[MEANS]:.3f} and deciles by {losses[QUANTILES]:.3f} "
                f"standard deviations of the original, variances by {percent(losses[VARIANCES], 1)}"
            )
        if self.pairs:
            worst = max(self.pairs, key=lambda pair: pair.error)
            found.append(
                f"Pearson correlations of {_count(len(self.pairs), 'pair')}: off by "
                f"{self.losses[PEARSON]:.3f} in the mean, most in {worst.one} and {worst.other} "
                f"({worst.before:.3f} {_became(worst.after)})"
            )
        if self.coefficients:
            worst_of = max(self.coefficients, key=lambda each: each.error)
            found.append(
                f"least squares, each column on all others, "
                f"{_count(len(self.coefficients), 'standardised coefficient')}: off by "
                f"{self.losses[REGRESSION]:.3f} in the mean, most {worst_of.outcome} on "
                f"{worst_of.on} ({worst_of.before:.3f} {_became(worst_of.after)}); 95 % intervals "
                f"overlap by {percent(self.overlap or 0.0, 1)}"
            )
        return [*found, *self.notes]

    @property
    def notes(self) -> list[str]:
        """Sentences about what is hidden and what was not measured."""
        found = []
        if self.hidden:
            found.append(
                f"every value of {join_words(self.hidden)} is hidden: what is computed with it "
                "counts as off by 1"
            )
        if self.apart:
            pairs = [f"{one} with {other}" for one, other in self.apart[:_MOST_PAIRS]]
            more = f" and {len(self.apart) - len(pairs)} more" * (len(self.apart) > len(pairs))
            found.append(
                f"published apart, so that only their groups tie them: {', '.join(pairs)}{more}; "
                "who is who in a group is not guessed"
            )
        for why in dict.fromkeys(self.unmeasured.values()):
            names = [
                NUMBER_LOSSES[name] for name in self.unmeasured if self.unmeasured[name] == why
            ]
            found.append(f"{join_words(names)} not measured: {why}")
        found += [
            f"{name} is not measured as a number: {why}" for name, why in self.left_out.items()
        ]
        found += [
            f"labels of {name} that cannot be read are taken for hidden: {some(labels)}"
            for name, labels in self.unread.items()
        ]
        return found


_MOST_PAIRS = 5
"""Pairs of columns that a sentence names."""


def _digits(value: float) -> float:
    """Return a number with five significant digits, for a table."""
    return float(f"{value:.5g}")


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _became(after: float | None) -> str:
    return "cannot be computed any more" if after is None else f"became {after:.3f}"


class NumberExam:
    """Knows what is computed from the original, and compares a release with it.

    Args:
        counts: The original.
        names: Its columns of numbers that are compared.
        weight: The name of a weight and how many people each combination stands for, if there is.
        left_out: Columns that are left out, each with the reason.

    Example:
        >>> from sfumato.hierarchy.labels import Labels
        >>> rows = [(30, 1000), (40, 2100), (50, 2900), (60, 4000)]
        >>> table = FrequencySet.from_rows(["age", "pay"], rows)
        >>> exam = NumberExam(table, ["age", "pay"])
        >>> coarse = [("30 to 40", 1000), ("30 to 40", 2100), ("50 to 60", 2900), ("*", 4000)]
        >>> coarse = FrequencySet.from_rows(["age", "pay"], coarse)
        >>> release = LinkedTables((coarse,))
        >>> found = exam.of(AnalystCells(release, table.columns, exam.names, Labels()))
        >>> found.columns[0].mean, found.columns[0].left, found.columns[1].errors["mean-error"]
        ((45.0, 41.666666666666664), 0.75, 0.0)
    """

    def __init__(
        self,
        counts: FrequencySet,
        names: Sequence[str],
        weight: tuple[str, FloatArray] | None = None,
        left_out: Mapping[str, str] | None = None,
    ) -> None:
        self.names = frozenset(names)
        """The columns that are compared."""

        self.cells = AnalystCells(LinkedTables((counts,)), counts.columns, self.names, RawLabels())
        """The cells of the original, without their weights."""

        self._order, self._left_out = tuple(names), dict(left_out or {})
        self._weight = None if weight is None else weight[0]
        cells = self.cells if weight is None else replace(self.cells, weights=weight[1])
        self._unmeasured: dict[str, str] = {}
        self._units = units_of(cells, self._order)
        self._before = summary_of(cells, self._order, self._units)
        self._fits = self._fit(cells)
        if not self._order:
            self._unmeasured = dict.fromkeys(
                NUMBER_LOSSES, "no column that is published holds numbers"
            )

    def _fit(self, cells: AnalystCells) -> dict[str, RegressionFit]:
        """Return a regression of each column on all others that do not follow from each other."""
        covariance, rows = covariance_of(cells, self._order, self._units)
        chosen = [self._order[at] for at in independent(np.nan_to_num(covariance))]
        self._regressed = tuple(chosen)
        if len(chosen) < 2:
            why = "it takes two columns of numbers that vary, in rows that have both"
            self._unmeasured[REGRESSION] = why
            if not self._pairs_before():
                self._unmeasured[PEARSON] = why
            return {}
        if len(chosen) < len(self._order):
            covariance, rows = covariance_of(cells, chosen, self._units)
        fits = zip(chosen, regress_each(covariance, rows), strict=True)
        found = {name: fit for name, fit in fits if fit is not None}
        if not found:
            self._unmeasured[REGRESSION] = "there are too few rows that have all columns"
        return found

    def _pairs_before(self) -> list[tuple[int, int]]:
        pairs = combinations(range(len(self._order)), 2)
        return [pair for pair in pairs if np.isfinite(self._before.correlation[pair])]

    def of(self, release: AnalystCells) -> NumberUtility:
        """Compare a release with the original."""
        # A release may hold larger numbers than the original: those are off by 1.
        with np.errstate(over="ignore", invalid="ignore"):
            return self._compare(release)

    def _compare(self, release: AnalystCells) -> NumberUtility:
        after = summary_of(release, self._order, self._units)
        return NumberUtility(
            tuple(self._column(at, after) for at in range(len(self._order))),
            tuple(
                NumberPair(
                    self._order[i],
                    self._order[j],
                    float(self._before.correlation[i, j]),
                    _or_none(after.correlation[i, j]),
                )
                for i, j in self._pairs_before()
            ),
            tuple(self._coefficients(release)),
            self._left_out,
            self._unmeasured,
            {name: labels for name, labels in release.unread.items() if name in self.names},
            self._weight if release.weights is not None else None,
            tuple(release.apart(self._order)),
        )

    def _column(self, at: int, after: Summary) -> NumberColumn:
        before, name = self._before, self._order[at]
        mean, step = self._units.mean[name], self._units.deviation[name]

        def both(values: Callable[[Summary], float]) -> tuple[float, float | None]:
            return values(before), _or_none(values(after))

        quantiles = [tuple((mean + step * each.quantiles[at]).tolist()) for each in (before, after)]
        there = bool(after.known[at] > 0)
        off = np.abs(after.quantiles[at] - before.quantiles[at])
        errors = {
            MEANS: _error(after.mean[at] - before.mean[at]),
            VARIANCES: _error(after.variance[at] - before.variance[at]),
            QUANTILES: float(np.mean([_error(each) for each in off])),
        }
        return NumberColumn(
            self._order[at],
            both(lambda each: float(mean + step * each.mean[at])),
            both(lambda each: float(step * np.sqrt(each.variance[at]))),
            (quantiles[0], quantiles[1] if there else None),
            round(float(after.known[at] / max(before.known[at], 1e-300)), _SAME),
            errors,
        )

    def _coefficients(self, release: AnalystCells) -> Iterator[Coefficient]:
        if not self._fits:
            return
        fits = regress_each(*covariance_of(release, self._regressed, self._units))
        for at, outcome in enumerate(self._regressed):
            others = [name for name in self._regressed if name != outcome]
            if outcome not in self._fits:
                continue
            before, after = self._fits[outcome], fits[at]
            for i, on in enumerate(others):
                was = float(before.coefficients[i]), float(before.errors[i])
                if after is None:
                    yield Coefficient(outcome, on, was[0], None, 0.0)
                else:
                    now = float(after.coefficients[i]), float(after.errors[i])
                    yield Coefficient(outcome, on, was[0], now[0], overlap_of(was, now))


def _or_none(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
