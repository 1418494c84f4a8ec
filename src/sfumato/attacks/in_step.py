"""Columns in step with a quasi-identifier: those that say more of it than its labels do.

A day number of birth beside ages in ranges runs in step with them: sorted by day, the ranges come
in order. The number of a country beside continents does not, but each number stands under one
continent only. Both are looked for here, in single columns and in weighted sums of two, from the
published rows or, with the table they were made of, from the true values.

That a column is in step must not be chance. If rows and labels had nothing to do with each other,
every order of the labels would be equally likely, and few of them are as tidy as the one found.
Their share is bounded from above, and multiplied by the number of questions asked.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from math import inf, lgamma, log, nextafter
from typing import Literal, NamedTuple, Self

import numpy as np

from sfumato.attacks.overlap import LabelKnowledge, overlapping_labels, read_stretch
from sfumato.counts import Column, FrequencySet, KeyNumbers, add_up, group, number_keys
from sfumato.dataclasses import dataclass
from sfumato.hierarchy.labels import day_of
from sfumato.text import STAR, fold_spelling, number_of, text_of, text_or_none
from sfumato.typing import BoolArray, CodeArray, FloatArray, IntArray, Value

_EXCEPTIONS = 0.05
"""The largest share of rows that may fall out of step."""

_CHANCE = log(0.001)
"""How unlikely it must be, over all questions together, that chance put a column in step."""

_SAMPLE = 4_000
"""Combinations that are looked at for a first answer."""

_FITTED = 50_000
"""Combinations that a scale is fitted on."""

_CUTS = 6
_FINE_CUTS = 64
_RAW_CUTS = 256
_PAIRS_TRIED = 12
"""Sums of two columns that are tried in earnest for each quasi-identifier."""

_RATIOS = (1.0, 7.0, 10.0, 12.0, 100.0, 365.25)
"""Weights that people give one column against another: months of a year, days of a week."""


@dataclass(frozen=True, eq=False)
class LabelLine:
    """The labels of a column as half-open stretches of a line.

    Example:
        >>> line = LabelLine.of(Column("age", ("20 to 29", "30 to 39", "40 or more", "*")))
        >>> line.low.tolist(), line.high.tolist(), line.unit
        ([20.0, 30.0, 40.0, nan], [30.0, 40.0, inf, nan], 1.0)
    """

    low: FloatArray
    high: FloatArray
    """Not inside; nan, like `low`, where a label is no part of a line."""

    unit: float
    """The step of the ends as they are written: values are taken to be no finer."""

    of_days: bool = False

    @classmethod
    def of(cls, column: Column) -> Self | None:
        """Read labels; None if less than half of them are numbers, days or stretches of those."""
        texts = [text_or_none(value) for value in column.values]
        told = sum(text not in (None, STAR) for text in texts)
        for reader in (number_of, day_of):
            read = [read_stretch(text, reader) for text in texts]
            if 2 * sum(each is not None for each in read) <= told or not told:
                continue
            ends = [end for each in read if each is not None for end in (each.begin, each.high)]
            unit = 1.0 if reader is day_of else _step(np.array(ends))
            low, high = np.full((2, len(texts)), np.nan)
            for at, each in enumerate(read):
                if each is not None:
                    low[at] = each.begin + unit if each.after else each.low
                    high[at] = each.high + unit if each.closed else each.high
            return cls(low, high, unit, reader is day_of)
        return None

    @property
    def wide(self) -> BoolArray:
        """Whether each label stands for more than one value."""
        found: BoolArray = self.high - self.low > self.unit * 1.5
        return found

    @property
    def middle(self) -> FloatArray:
        """The middle of each stretch; of an open one its end."""
        low = np.where(np.isinf(self.low), self.high - self.unit, self.low)
        high = np.where(np.isinf(self.high), low + self.unit, self.high)
        found: FloatArray = (low + high) / 2
        return found

    def show(self, at: float) -> str:
        """Write a point of the line as a value."""
        if self.of_days:
            from datetime import date

            return date.fromordinal(int(at)).isoformat()
        return f"{at:.10g}"


def _step(ends: FloatArray) -> float:
    """Return the coarsest power of ten, from 1 down, of which all ends are multiples."""
    finite = ends[np.isfinite(ends)]
    for digits in range(6):
        if np.allclose(np.rint(finite * 10**digits), finite * 10**digits, rtol=0, atol=1e-6):
            return float(10.0**-digits)
    return 1e-6


def points_of(column: Column, wanted: IntArray) -> FloatArray | None:
    """Return the place on a line of each value of a column; nan where it has none.

    None if more than a tenth of the wanted values are neither numbers nor days.

    Args:
        column: The column.
        wanted: The codes that are asked for; all others are nan.
    """
    values = column.values
    found = np.full(len(values), np.nan)
    known = wanted[wanted != column.missing]
    for reader in (number_of, day_of):
        first = [reader(values[code]) is not None for code in known[:20].tolist()]
        if not first or 2 * sum(first) < len(first):
            continue
        read = [reader(values[code]) for code in known.tolist()]
        found[known] = [np.nan if each is None else each for each in read]
        if np.isnan(found[known]).mean() <= 0.1:
            return found
    return None


# How unlikely chance makes it.


def _log_choose(n: float, k: float) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def _log_of_errors(n: int, errors: int) -> float:
    """Bound the number of ways to choose at most that many exceptions, as a logarithm."""
    if not errors:
        return 0.0
    return log(errors + 1) + _log_choose(n, min(errors, n // 2))


def chance_of_order(low: int, high: int, errors: int) -> float:
    """Bound how likely chance parts low labels from high ones so well, as a logarithm.

    Of all orders of the labels, all equally likely, those are counted that a threshold parts with
    at most that many errors, one way or the other.

    >>> round(float(np.exp(chance_of_order(5, 5, 0))) * 126, 9)
    1.0
    """
    n = low + high
    tidy = log(2) - _log_choose(n, low)
    return tidy if not errors else tidy + log(n + 1) + _log_of_errors(n, errors)


def chance_of_values(sizes: IntArray, values: int, errors: int) -> float:
    """Bound how likely chance gives each of some values one label only, as a logarithm.

    Each value may have any label, and of the orders of the labels only one goes with it. Where
    every row has a value of its own that is no evidence at all.

    >>> chance_of_values(np.array([5, 5]), 10, 0) > 0
    True
    >>> round(np.exp(chance_of_values(np.array([50, 50]), 4, 0)) * 1e28)
    2

    Args:
        sizes: The number of rows of each label.
        values: The number of different values.
        errors: The number of rows that have another label than most rows of their value.
    """
    n = int(sizes.sum())
    orders = lgamma(n + 1) - sum(lgamma(each + 1) for each in sizes.tolist())
    labels = log(max(len(sizes), 1))
    return values * labels + _log_of_errors(n, errors) + errors * labels - orders


# In step by order.


class _StepRows(NamedTuple):
    """Some rows of a table: where their labels are on the line, and how many people they are."""

    low: FloatArray
    high: FloatArray
    weight: FloatArray


class _Split(NamedTuple):
    """How well thresholds of a column part low labels from high ones, cut by cut."""

    errors: FloatArray
    low: FloatArray
    high: FloatArray
    at: FloatArray
    """The threshold that makes the fewest errors."""

    @property
    def share(self) -> float:
        """The share of exceptions among those who could be one."""
        return float(self.errors.sum()) / max(float(np.minimum(self.low, self.high).sum()), 1.0)

    @property
    def chance(self) -> float:
        """A bound of how likely chance does that, as a logarithm, at the best of the cuts."""
        each = zip(self.low.tolist(), self.high.tolist(), self.errors.tolist(), strict=True)
        return min((chance_of_order(int(a), int(b), int(e)) for a, b, e in each), default=0.0)


def _cuts(rows: _StepRows, most: int) -> FloatArray:
    """Return points of the line that have labels on both sides, spread over the rows."""
    ends: FloatArray = np.unique(np.concatenate([rows.low, rows.high]))
    ends = ends[np.isfinite(ends)]
    if not len(ends):
        return ends
    total = float(rows.weight.sum())
    below = _weight_up_to(rows.high, rows.weight, ends)
    above = total - _weight_up_to(rows.low, rows.weight, ends, inside=False)
    fair = np.minimum(below, above) >= max(0.03 * total, 1.0)
    ends = ends[fair]
    if len(ends) <= most:
        return ends
    return ends[np.unique(np.linspace(0, len(ends) - 1, most).astype(np.int64))]


def _weight_up_to(
    at: FloatArray, weight: FloatArray, ends: FloatArray, *, inside: bool = True
) -> FloatArray:
    order = np.argsort(at, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(weight[order])])
    found: FloatArray = sums[np.searchsorted(at[order], ends, "right" if inside else "left")]
    return found


def _split(rows: _StepRows, points: FloatArray, cuts: FloatArray) -> tuple[_Split, bool] | None:
    """Split labels at each cut by thresholds of a column; say whether it falls as they rise."""
    told = ~np.isnan(points)
    if told.sum() < 2 or not len(cuts):
        return None
    order = np.flatnonzero(told)[np.argsort(points[told], kind="stable")]
    x, low, high, weight = (each[order] for each in (points, *rows))
    ends = np.flatnonzero(np.diff(x, append=inf) > 0)
    if len(ends) < 2:
        return None
    place = np.concatenate([[nextafter(x[0], -inf)], (x[ends[:-1]] + x[ends[1:]]) / 2, x[-1:]])
    figures = np.empty((len(cuts), 6))
    for i, cut in enumerate(cuts.tolist()):
        below = np.concatenate([[0.0], np.cumsum(weight * (high <= cut))[ends]])
        above = np.concatenate([[0.0], np.cumsum(weight * (low >= cut))[ends]])
        rising = above + below[-1] - below
        falling = below + above[-1] - above
        a, b = int(rising.argmin()), int(falling.argmin())
        figures[i] = rising[a], falling[b], below[-1], above[-1], place[a], place[b]
    both = [
        _Split(figures[:, way], figures[:, 2], figures[:, 3], figures[:, 4 + way]) for way in (0, 1)
    ]
    falls = float(both[1].errors.sum()) < float(both[0].errors.sum())
    return both[falls], falls


class StepScale(NamedTuple):
    """Where a quasi-identifier is on its line, as a column says it."""

    points: FloatArray
    """Places of the column, rising."""

    places: FloatArray
    """The places of the quasi-identifier that belong to them."""

    def read(self, points: FloatArray) -> FloatArray:
        """Return the places of some points; beyond the ends, the line goes on as it ends."""
        x, y = self
        found: FloatArray = np.interp(points, x, y)
        if len(x) > 1:
            first, last = (y[1] - y[0]) / (x[1] - x[0]), (y[-1] - y[-2]) / (x[-1] - x[-2])
            found = np.where(points < x[0], y[0] + first * (points - x[0]), found)
            found = np.where(points > x[-1], y[-1] + last * (points - x[-1]), found)
        found[np.isnan(points)] = np.nan
        return found


def _scale(rows: _StepRows, points: FloatArray, unit: float) -> tuple[StepScale, float] | None:
    """Fit where a quasi-identifier is, from where its labels begin and end along a column.

    Returns the scale, and the share of rows that are out of step.

    A straight line, if that keeps nearly all rows within their labels; else one with bends.
    """
    found = _split(rows, points, _cuts(rows, _FINE_CUTS))
    if found is None:
        return None
    split, falls = found
    told = ~np.isnan(points)
    x, y = split.at, _cuts(rows, _FINE_CUTS)
    seen = np.unique(points[told])
    # A value stands for what is nearer to it than to its neighbours.
    gap = float(np.median(np.diff(seen))) / 2
    ends = [float(seen[0]) - gap, float(seen[-1]) + gap]
    finite = [rows.low[told & np.isfinite(rows.low)], rows.high[told & np.isfinite(rows.high)]]
    # Where nothing else says how long a step of the line is along the column, the outermost labels
    # do, if they say where they end. No one need be at those ends: it may be rather too short.
    outer = [float(finite[0].min(initial=inf)), float(finite[1].max(initial=-inf))]
    if falls:
        ends.reverse()
    open_ends = bool(np.isinf(rows.low[told]).any()), bool(np.isinf(rows.high[told]).any())
    alone = len(x) < 2
    for end, place, is_open in zip(ends, outer, open_ends, strict=True):
        if alone and not is_open and np.isfinite(place):
            x, y = np.append(x, end), np.append(y, place)
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    x, first = np.unique(x, return_index=True)
    y = y[first]
    if len(x) < 2:
        return None
    y = np.minimum.accumulate(y) if falls else np.maximum.accumulate(y)
    slope, start = np.polyfit(x - x[0], y, 1)
    straight = StepScale(np.array([x[0], x[-1]]), np.array([start, start + slope * (x[-1] - x[0])]))
    bent = StepScale(x, y)
    best = straight if _inside(straight, rows, points, unit) >= 0.95 else bent
    if best is bent and _inside(straight, rows, points, unit) > _inside(bent, rows, points, unit):
        best = straight
    return best, split.share


def _inside(scale: StepScale, rows: _StepRows, points: FloatArray, unit: float) -> float:
    """Return the share of rows that a scale puts into their labels, or at most a step beside."""
    place = scale.read(points)
    inside = (place >= rows.low - unit) & (place <= rows.high + unit)
    told = rows.weight * ~np.isnan(place)
    return float((told * inside).sum()) / max(float(told.sum()), 1.0)


# What was found.


@dataclass(frozen=True, eq=False)
class StepRelation:
    """Columns that say more of a quasi-identifier than its labels: in which block it is."""

    columns: tuple[str, ...]
    undone: str
    """The quasi-identifier."""

    by_order: bool
    """Whether the columns run in step with it; else each of their values stands for one block."""

    of_row: IntArray
    """The block that each published combination is in; -1 if nothing says so."""

    show: Callable[[int], Value] = field(repr=False)
    """Says what a block is, as a value of the quasi-identifier."""

    exceptions: float = 0.0
    """The share of rows that are in another block than they seem to be."""

    of_raw: IntArray | None = None
    """The block of each true value, if those are known."""

    def __str__(self) -> str:
        return f"{' with '.join(map(repr, self.columns))} undoes {self.undone!r}"


@dataclass(frozen=True, eq=False)
class LabelledColumn:
    """A quasi-identifier with labels, as it was published or as it was."""

    column: Column
    codes: IntArray
    line: LabelLine | None
    of_label: IntArray
    """A number for each label, equal for labels that may stand for the same; -1 for none."""

    nested: bool = False
    """Whether some labels may be words within others, and nothing says which."""

    @classmethod
    def published(
        cls, column: Column, codes: IntArray, rows: IntArray, known: LabelKnowledge | None
    ) -> Self:
        """Read published labels, which may overlap as those of local recoding do."""
        line = LabelLine.of(column)
        return cls(column, codes, line, _apart(column, codes, rows, known), nested=line is None)

    @classmethod
    def raw(cls, column: Column, codes: IntArray) -> Self:
        """Read true values: each is its own label."""
        own = np.arange(len(column.values))
        return cls(column, codes, LabelLine.of(column), np.where(own == column.missing, -1, own))


def _apart(
    column: Column, codes: IntArray, rows: IntArray, known: LabelKnowledge | None
) -> IntArray:
    """Number labels so that those which may stand for the same value have one number.

    Labels that overlap most of the others say next to nothing, and are left out one after
    another until those that are left fall apart.
    """
    n = len(column.values)
    weight = np.bincount(codes, weights=rows, minlength=n)
    texts = [text_or_none(value) for value in column.values]
    left = np.array([text not in (None, STAR) for text in texts], dtype=np.bool_)
    if n > _SAMPLE:
        return np.where(left, np.arange(n), -1)
    one, other = overlapping_labels(column, column, known).pairs
    number = np.arange(n)
    for _ in range(8):
        kept = left[one] & left[other]
        number = components(n, one[kept], other[kept])
        size = np.bincount(number[left], weights=weight[left], minlength=n)
        if not left.any() or size.max() <= 0.9 * weight[left].sum():
            break
        covered = np.bincount(one[kept], weights=weight[other[kept]], minlength=n)
        left &= covered < 0.5 * covered.max()
    return np.where(left, number, -1)


def components(n: int, one: IntArray, other: IntArray) -> IntArray:
    """Return the lowest of the places that each of n is joined with, straight or in steps.

    >>> components(5, np.array([0, 3]), np.array([4, 4])).tolist()
    [0, 1, 2, 0, 0]
    """
    lowest = np.arange(n)
    while True:
        before = lowest
        both = np.minimum(lowest[one], lowest[other])
        lowest = lowest.copy()
        np.minimum.at(lowest, one, both)
        np.minimum.at(lowest, other, both)
        lowest = lowest[lowest]
        if np.array_equal(before, lowest):
            return lowest


@dataclass(frozen=True, eq=False)
class StepSearch:
    """Looks for columns of a table that are in step with a quasi-identifier."""

    counts: FrequencySet
    names: tuple[str, ...]
    """The columns that are asked."""

    questions: int
    """How many are asked in all, so that more questions need better evidence."""

    _points: dict[tuple[str, ...], FloatArray | None] = field(default_factory=dict, init=False)

    @property
    def sample(self) -> slice:
        """Some of the combinations, evenly spread."""
        return slice(None, None, max(len(self.counts) // _SAMPLE, 1))

    @property
    def fitted(self) -> slice:
        """Some more of them, to fit a scale on."""
        return slice(None, None, max(len(self.counts) // _FITTED, 1))

    def points(self, name: str, at: slice) -> FloatArray | None:
        """Return the places of a column on its line, for some rows."""
        column, codes = self.counts.column(name), self.counts.codes_of(name)[at]
        found = points_of(column, np.flatnonzero(np.bincount(codes)))
        return None if found is None else found[codes]

    def of(
        self, labelled: LabelledColumn
    ) -> Iterator[tuple[tuple[str, ...], tuple[float, ...] | None]]:
        """Yield columns that are in step: by order with their weights, or by values with None."""
        at = self.sample
        rows = self.counts.rows[at].astype(np.float64)
        line = labelled.line
        found: set[str] = set()
        read: dict[str, FloatArray] = {}
        if line is not None:
            codes = labelled.codes[at]
            placed = _StepRows(line.low[codes], line.high[codes], rows)
            placed = placed._replace(weight=rows * ~np.isnan(placed.low))
            cuts = _cuts(placed._replace(), _CUTS)
            for name in self.names:
                if (name,) not in self._points:
                    self._points[name,] = self.points(name, at)
                points = self._points[name,]
                if points is not None:
                    read[name] = points
                    if self._in_order(placed, points, cuts):
                        found.add(name)
                        yield (name,), (1.0,)
            yield from self._sums(line.middle[codes], placed, cuts, read, found)
        for name in self.names:
            if name not in found and self._by_value(labelled, name, at):
                yield (name,), None

    def _in_order(
        self, rows: _StepRows, points: FloatArray, cuts: FloatArray, free: float = 0.0
    ) -> bool:
        found = _split(rows, points, cuts)
        if found is None or found[0].share > _EXCEPTIONS:
            return False
        return found[0].chance + free + log(max(self.questions, 1)) < _CHANCE

    def _sums(
        self,
        middle: FloatArray,
        rows: _StepRows,
        cuts: FloatArray,
        read: Mapping[str, FloatArray],
        found: set[str],
    ) -> Iterator[tuple[tuple[str, ...], tuple[float, ...]]]:
        """Yield weighted sums of two columns that are in step where neither is by itself."""
        names = [name for name in read if name not in found]
        good = (rows.weight > 0) & np.isfinite(middle)
        if len(names) < 2 or good.sum() < 8 or not len(cuts):
            return
        x = np.array([read[name][good] for name in names])
        x = np.where(np.isnan(x), np.nanmean(x, axis=1, keepdims=True), x)
        x = x - x.mean(axis=1, keepdims=True)
        sd = x.std(axis=1)
        y = middle[good] - middle[good].mean()
        if not y.std():
            return
        unit = x / np.where(sd > 0, sd, 1.0)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            r = unit @ (y / y.std()) / len(y)
            between = unit @ unit.T / len(y)
            # How much of the labels' places two columns explain together.
            both = (r[:, None] ** 2 + r[None, :] ** 2 - 2 * r[:, None] * r[None, :] * between) / (
                1 - between**2
            )
        one, other = np.triu_indices(len(names), 1)
        explained = both[one, other]
        gain = explained - np.maximum(r[one] ** 2, r[other] ** 2)
        fair = (explained > 0.5) & (gain > 0.01) & (between[one, other] ** 2 < 0.999)
        fair &= np.isfinite(explained)
        order = np.flatnonzero(fair)[np.argsort(-explained[fair], kind="stable")]
        # Two weights can part n rows in at most n² ways: that many guesses are made with one sum.
        free = 2 * log(max(float(rows.weight.sum()), 2.0)) + log(max(len(names), 1))
        for at in order[:_PAIRS_TRIED].tolist():
            i, j = int(one[at]), int(other[at])
            c = between[i, j]
            a = (r[i] - c * r[j]) / (1 - c * c) / sd[i]
            b = (r[j] - c * r[i]) / (1 - c * c) / sd[j]
            for weights in _likely_weights(float(a), float(b)):
                total = weights[0] * read[names[i]] + weights[1] * read[names[j]]
                if self._in_order(rows, total, cuts, free):
                    yield (names[i], names[j]), weights
                    break

    def _by_value(self, labelled: LabelledColumn, name: str, at: slice) -> bool:
        column = self.counts.column(name)
        codes = self.counts.codes_of(name)[at]
        label = labelled.of_label[labelled.codes[at]]
        good = (label >= 0) & (codes != column.missing)
        if labelled.nested:
            good &= _has_several(label, codes, good)
        values = number_keys(codes[good].astype(np.int64), len(column.values))
        labels = number_keys(label[good].astype(np.int64), len(labelled.column.values))
        return values.n > labels.n and self._stands_under(values, labels, at, good)

    def follows(self, labelled: LabelledColumn, name: str) -> bool:
        """Return whether a column is a function of true values: each has one value of it."""
        at = self.sample
        column = self.counts.column(name)
        codes = self.counts.codes_of(name)[at]
        label = labelled.of_label[labelled.codes[at]]
        good = (label >= 0) & (codes != column.missing)
        return self._stands_under(
            number_keys(label[good].astype(np.int64), len(labelled.column.values)),
            number_keys(codes[good].astype(np.int64), len(column.values)),
            at,
            good,
        )

    def _stands_under(
        self, values: KeyNumbers, labels: KeyNumbers, at: slice, good: BoolArray
    ) -> bool:
        """Return whether nearly every value has one label only, as chance would not have it."""
        rows = self.counts.rows[at][good]
        n = int(rows.sum())
        # Values of one row each are no evidence, and take long to count.
        if n < 4 or min(values.n, labels.n) < 2 or values.n > 0.9 * n:
            return False
        cells = number_keys(values.of_item * labels.n + labels.of_item, values.n * labels.n)
        in_cell = add_up(cells.of_item, rows, cells.n)
        most = np.zeros(values.n)
        np.maximum.at(most, cells.keys // labels.n, in_cell)
        errors = n - int(most.sum())
        if errors > _EXCEPTIONS * n:
            return False
        sizes = np.rint(add_up(labels.of_item, rows, labels.n)).astype(np.int64)
        bound = chance_of_values(sizes, values.n, errors)
        return bound + log(max(self.questions, 1)) < _CHANCE

    def total(self, names: Sequence[str], weights: Sequence[float], at: slice) -> FloatArray:
        """Return the weighted sum of some columns, for some rows; nan where one has no place."""
        n = len(self.counts.rows[at])
        found = np.zeros(n)
        for name, weight in zip(names, weights, strict=True):
            points = self.points(name, at)
            found = found + weight * (np.full(n, np.nan) if points is None else points)
        return found


def _has_several(label: IntArray, codes: CodeArray, good: BoolArray) -> BoolArray:
    """Return which rows have a label with several values of a column.

    A country that local recoding left as it is stands beside its continent, and has one number.
    Such labels say nothing of the others, and words do not show which is within which.
    """
    width = int(codes.max(initial=0)) + 1
    cells = np.unique(label[good].astype(np.int64) * width + codes[good])
    values = np.bincount(cells // width, minlength=int(label.max(initial=0)) + 1)
    found: BoolArray = good.copy()
    found[good] = values[label[good]] > 1
    return found


def _likely_weights(a: float, b: float) -> Iterator[tuple[float, float]]:
    """Yield weights of two columns: round ones that are near, then as they were fitted."""
    if a and b:
        ratio = abs(a / b)
        for each in (*_RATIOS, *(1 / r for r in _RATIOS[1:])):
            if 0.6 < ratio / each < 1.7:
                yield float(np.sign(a)) * each, float(np.sign(b))
    yield a, b


def relations_of(
    counts: FrequencySet,
    labelled: Mapping[str, LabelledColumn],
    names: Sequence[str],
    *,
    questions: int | None = None,
) -> list[StepRelation]:
    """Return the columns that undo labels, from the published rows alone.

    A column in step by order says where on its line a person is: as finely as it has values, and
    no finer than the ends of the labels are written. A column that has one label for each of its
    values says its value.

    Args:
        counts: The published rows.
        labelled: The quasi-identifiers with labels.
        names: The columns that are asked.
        questions: How many questions are asked in all, if there are more than these.

    Example:
        >>> rows = [(f"{year // 10}0 to {year // 10}9", 2024 - year) for year in range(20, 40)]
        >>> counts = FrequencySet.from_rows(["age", "born"], rows)
        >>> age = LabelledColumn.published(
        ...     counts.column("age"), counts.codes_of("age"), counts.rows, None)
        >>> for found in relations_of(counts, {"age": age}, ["born"]):
        ...     print(found, len(np.unique(found.of_row)))
        'born' undoes 'age' 20
    """
    asked = questions or len(names) * len(labelled)
    search = StepSearch(counts, tuple(names), 2 * asked)
    found = []
    for undone, each in labelled.items():
        for columns, weights in search.of(each):
            relation = (
                _by_value(counts, columns[0], undone)
                if weights is None
                else _by_order(search, each, columns, weights, undone)
            )
            if relation is not None and _narrows(each.codes, relation.of_row, each.column):
                found.append(relation)
    return found


def _narrows(codes: IntArray, of_row: IntArray, column: Column) -> bool:
    """Return whether blocks take labels apart."""
    told = of_row >= 0
    if not told.any():
        return False
    labels = np.count_nonzero(np.bincount(codes[told]))
    width = int(of_row.max()) + 1
    pieces = number_keys(codes[told] * width + of_row[told], len(column.values) * width)
    return pieces.n > 1.2 * float(labels)


def _by_value(counts: FrequencySet, name: str, undone: str) -> StepRelation:
    column = counts.column(name)
    codes = counts.codes_of(name).astype(np.int64)
    return StepRelation(
        (name,),
        undone,
        by_order=False,
        of_row=np.where(codes == column.missing, -1, codes),
        show=lambda at: f"that of {name} {text_of(column.values[at])}",
    )


def _by_order(
    search: StepSearch,
    labelled: LabelledColumn,
    columns: tuple[str, ...],
    weights: tuple[float, ...],
    undone: str,
) -> StepRelation | None:
    line = labelled.line
    assert line is not None  # noqa: S101 - it was found along a line
    at, every = search.fitted, slice(None)
    codes = labelled.codes[at]
    weight = search.counts.rows[at] * ~np.isnan(line.low[codes])
    rows = _StepRows(line.low[codes], line.high[codes], weight.astype(np.float64))
    found = _scale(rows, search.total(columns, weights, at), line.unit)
    if found is None:
        return None
    scale, exceptions = found
    place = scale.read(search.total(columns, weights, every))
    told = ~np.isnan(place)
    low, high = line.low[labelled.codes], line.high[labelled.codes]
    # The label is published, too: it sets right what the scale puts beside it.
    inside = np.minimum(np.maximum(place, low), high - line.unit / 2)
    place = np.where(told & ~np.isnan(low), inside, place)
    first = float(np.floor(place[told].min() / line.unit)) if told.any() else 0.0
    block = np.full(len(place), -1, dtype=np.int64)
    steps = np.minimum(np.floor(place[told] / line.unit) - first, 2.0**60).astype(np.int64)
    numbers = number_keys(steps, int(steps.max(initial=0)) + 1)
    block[told] = numbers.of_item
    return StepRelation(
        columns,
        undone,
        by_order=True,
        of_row=block,
        show=lambda at: f"about {line.show((float(numbers.keys[at]) + first) * line.unit)}",
        exceptions=exceptions,
    )


# With the table that the release was made of.


def relations_with(
    source: FrequencySet,
    counts: FrequencySet,
    undone: Sequence[str],
    names: Sequence[str],
    also: Sequence[StepRelation] = (),
) -> list[StepRelation]:
    """Return the columns that undo quasi-identifiers, from true values, and block by block exactly.

    Args:
        source: The table that the release was made of.
        counts: The published rows.
        undone: The quasi-identifiers that are generalised.
        names: The columns that are asked; both tables have them.
        also: What the published rows show by themselves, to be held against true values.
    """
    search = StepSearch(source, tuple(names), 2 * len(names) * len(undone))
    published = StepSearch(counts, tuple(names), 1)
    found: list[StepRelation] = []
    for name in undone:
        column = source.column(name)
        raw = LabelledColumn.raw(column, source.codes_of(name).astype(np.int64))
        asked = dict(search.of(raw))
        for each in also:
            if each.undone == name and {*each.columns} <= {*names} and len(each.columns) == 1:
                asked.setdefault(each.columns, (1.0,) if each.by_order else None)
        for each_name in names:
            # To know a value is to know what follows from it, however coarse: retired or not.
            if (each_name,) not in asked and search.follows(raw, each_name):
                asked[each_name,] = None
        for columns, weights in asked.items():
            relation = None
            if weights is not None:
                relation = _blocks_by_order(search, published, raw, columns, weights, name)
            if relation is None and len(columns) == 1:
                relation = _blocks_by_value(source, counts, columns[0], name)
            if relation is not None:
                found.append(relation)
    return found


def _blocks_by_order(
    search: StepSearch,
    published: StepSearch,
    raw: LabelledColumn,
    columns: tuple[str, ...],
    weights: tuple[float, ...],
    undone: str,
) -> StepRelation | None:
    """Split true values wherever a threshold of the columns parts those below from those above."""
    line = raw.line
    if line is None:
        return None
    at = search.fitted
    codes, points = raw.codes[at], search.total(columns, weights, at)
    weight = search.counts.rows[at] * ~np.isnan(line.low[codes]) * ~np.isnan(points)
    rows = _StepRows(line.low[codes], line.high[codes], weight.astype(np.float64))
    values = np.unique(line.low[codes[weight > 0]])
    if len(values) < 2:
        return None
    borders = (values[1:] + values[:-1]) / 2
    if len(borders) > _RAW_CUTS:
        borders = borders[np.unique(np.linspace(0, len(borders) - 1, _RAW_CUTS).astype(int))]
    rows = rows._replace(high=np.where(np.isnan(rows.low), np.nan, rows.low))
    split = _split(rows, np.where(weight > 0, points, np.nan), borders)
    if split is None:
        return None
    found, falls = split
    of_value = np.searchsorted(values, rows.low[weight > 0])
    sizes = np.bincount(of_value, weights=weight[weight > 0], minlength=len(values))
    after = np.searchsorted(values, borders)
    clean = found.errors <= _EXCEPTIONS * np.minimum(sizes[after - 1], sizes[after])
    places, borders = found.at[clean], borders[clean]
    # Thresholds must rise, or fall, as the borders do.
    rise = np.maximum.accumulate(-places if falls else places) if len(places) else places
    keep = np.concatenate([[True], np.diff(rise) > 0]) if len(rise) else np.zeros(0, dtype=bool)
    places, borders = places[keep], borders[keep]
    of_raw = np.searchsorted(borders, line.low).astype(np.int64)
    of_raw[np.isnan(line.low)] = -1
    seen = published.total(columns, weights, slice(None))
    sign = -1.0 if falls else 1.0
    # What is at a threshold is on its lower side.
    side: Literal["left", "right"] = "right" if falls else "left"
    block = np.searchsorted(sign * places, sign * seen, side).astype(np.int64)
    block[np.isnan(seen)] = -1
    names = _names_of_blocks(raw.column, of_raw)
    errors = float(found.errors[clean][keep].sum()) / max(float(weight.sum()), 1.0)
    return StepRelation(columns, undone, True, block, names, min(errors, 1.0), of_raw)  # noqa: FBT003


def _blocks_by_value(
    source: FrequencySet, counts: FrequencySet, name: str, undone: str
) -> StepRelation | None:
    """Bring true values into one block that have values of the column in common."""
    raw, column = source.column(undone), source.column(name)
    width = len(column.values)
    key = source.codes_of(undone).astype(np.int64) * width + source.codes_of(name)
    told = (source.codes_of(undone) != raw.missing) & (source.codes_of(name) != column.missing)
    cells = number_keys(key[told], len(raw.values) * width)
    rows = add_up(cells.of_item, source.rows[told], cells.n)
    value, own = cells.keys // width, cells.keys % width
    total = add_up(own, rows, width)
    # A few rows that are wrong must not join what is apart.
    common = rows > _EXCEPTIONS * total[own]
    n = len(raw.values)
    joined = components(n + width, value[common], n + own[common])
    of_raw, of_own = joined[:n].copy(), joined[n:].copy()
    of_raw[np.bincount(value[common], minlength=n) == 0] = -1
    of_own[total == 0] = -1
    if len(np.unique(of_raw[of_raw >= 0])) < 2:
        return None
    shown = counts.column(name)
    match = match_values(shown, column)
    block = np.where(match >= 0, of_own[match], -1)[counts.codes_of(name)]
    wrong = float(rows[~common].sum()) / max(float(rows.sum()), 1.0)
    names = _names_of_blocks(raw, of_raw)
    return StepRelation((name,), undone, False, block, names, wrong, of_raw)  # noqa: FBT003


def match_values(one: Column, other: Column) -> IntArray:
    """Return the code that each value of one column has in the other; -1 if it has none there.

    >>> match_values(Column("x", ("1.0", "HIV")), Column("x", (1, "hiv"))).tolist()
    [0, 1]
    """

    def key(value: Value) -> Value:
        number = number_of(value)
        return fold_spelling(text_of(value)) if number is None else number

    codes = {key(each): code for code, each in enumerate(other.known)}
    found = [-1 if value is None else codes.get(key(value), -1) for value in one.values]
    return np.array(found, dtype=np.int64)


def _names_of_blocks(column: Column, of_raw: IntArray) -> Callable[[int], Value]:
    def name(at: int) -> Value:
        codes = np.flatnonzero(of_raw == at)
        if not len(codes):
            return "another value"
        first, last = (column.values[code] for code in codes[[0, -1]].tolist())
        return first if len(codes) == 1 else f"{text_of(first)} to {text_of(last)}"

    return name


def finest(relations: Sequence[StepRelation], most: int) -> list[StepRelation]:
    """Return the relations that say most together, leaving out those that add nothing."""
    kept: list[StepRelation] = []
    left = sorted(relations, key=lambda each: -np.count_nonzero(np.bincount(each.of_row + 1)))
    pieces = 1
    for each in left:
        codes = [one.of_row + 1 for one in (*kept, each)]
        n = group(codes, [int(code.max(initial=0)) + 1 for code in codes]).n
        if n > 1.05 * pieces and len(kept) < most:
            kept.append(each)
            pieces = n
    return [replace(each) for each in kept]
