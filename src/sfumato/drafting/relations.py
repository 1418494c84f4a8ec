"""Columns that other columns tell: copies, classes, dummies, squares, sums of two.

What is told by a quasi-identifier undoes what was generalised of it, if it is published as it is.
"""

from collections.abc import Collection, Mapping, Sequence
from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np

from sfumato.counts import Column
from sfumato.dataclasses import dataclass
from sfumato.derivations.dates import read_text
from sfumato.tables import Table
from sfumato.tables.capabilities import draw_rows
from sfumato.text import date_of, number_of
from sfumato.typing import CodeArray, FloatArray, IntArray, Value

ROWS = 20_000
"""Rows that are looked at, of many."""

_WORK = 4_000_000_000
"""Cells that are compared at most, give or take."""

_LEAST = 1000
"""Rows that are looked at, of however many columns."""

_PAIRS = 64
"""Pairs of rows after which most columns are known not to depend on another one."""

_CHANCE = log(1e-9)
"""So unlikely must it be that columns which have nothing to do with each other look like this."""

_FINE = 10
"""A column with fewer rows per value may tell rows apart, and so seem to tell everything."""

_NEARLY_ALIKE = 0.95
_ALIKE = 0.99
"""The rank correlation of two numbers from which on one is nearly a copy of the other."""

_EXACT = 1 - 1e-7
_NEARLY_EXACT, _ALONE = 0.998, 10
"""What two factors explain of a rounded product, and how much less one of them must explain."""

_FEWEST = 30
"""Rows that numbers are compared in at least."""

_NUMBERS = 2_000
"""Rows that are enough to see whether numbers go together."""

_FEW_VALUES = 8
_MOST_SUMMED = 80
_SUMMED = 300
"""Columns, and their rows, that are looked at for sums: a linear rule shows in few rows."""


class Relation(NamedTuple):
    """What tells a column."""

    of: tuple[str, ...]
    """The column that tells it, or the two whose sum or difference it is."""

    both: bool = False
    """Whether it tells that column too."""

    nearly: bool = False
    """Whether it is only nearly so: numbers in the same order, as ages in two years are, or a
    category that is another one but for few rows."""

    by_gap: bool = False
    """Whether it tells no more than where the other one is missing, as death does of a date."""


@dataclass(frozen=True)
class Relations:
    """For each column, every column that tells it."""

    of: Mapping[str, tuple[Relation, ...]]

    @classmethod
    def none(cls) -> "Relations":
        """Return that of no column anything is known."""
        return cls({})


def find_relations(
    table: Table,
    columns: Sequence[str],
    total: int,
    *,
    telling: Collection[str] | None = None,
) -> Relations:
    """Find the columns that others tell.

    A column tells another if rows that are equal in the one are equal in the other, and chance does
    not explain it. A column that differs in nearly every row
    tells nothing this way. Large tables are judged by a sample of their rows.

    Args:
        table: The table.
        columns: Those that are looked at.
        total: How many rows there are.
        telling: Those that may tell others; None for all. A number of a person tells all that
            does not change about them, and makes nothing a function of it.

    Example:
        >>> import pyarrow as pa
        >>> from sfumato.tables import open_table
        >>> ages = [20 + (7 * i) % 50 for i in range(500)]
        >>> rows = pa.table({"age": ages, "old": [age >= 65 for age in ages]})
        >>> rows = rows.append_column("x", [[i % 3 for i in range(500)]])
        >>> find_relations(open_table(rows), ["age", "old", "x"], 500).of
        {'old': (Relation(of=('age',), both=False, nearly=False, by_gap=False),)}
    """
    if len(columns) < 2:
        return Relations.none()
    given, codes, rows = draw_rows(table, columns, min(1.0, ROWS / max(1, total)))
    return relations_in(given, codes, rows, telling)


def relations_in(
    columns: Sequence[Column],
    codes: CodeArray,
    rows: IntArray,
    telling: Collection[str] | None = None,
    known: Collection[str] = (),
) -> Relations:
    """Find the columns that others tell in counted combinations; see `find_relations`.

    Args:
        columns: The columns.
        codes: `codes[c, i]`, the value of column c in the i-th combination.
        rows: How many rows have each combination.
        telling: Those that may tell others; None for all.
        known: Those that others know: of them and the rest it is also found what tells them nearly.
    """
    most = max(_LEAST, min(ROWS, _WORK // len(columns) ** 2))
    # Combinations come in the order of their values, and the first few shall be like all.
    kept = np.random.default_rng(0).permutation(codes.shape[1])[:most]
    codes, rows = codes[:, kept], rows[kept]
    looked = [
        _ColumnRows.of(column, code, rows) for column, code in zip(columns, codes, strict=True)
    ]
    tells = [each for each in looked if telling is None or each.name in telling]
    found = _told_by_one(looked, tells, rows, known)
    numbers = _ColumnNumbers.of([each for each in tells if each.distinct >= _FEW_VALUES], rows)
    for name, relation in numbers.copies():
        if all(name_of not in relation.of for r in found.get(name, ()) for name_of in r.of):
            found.setdefault(name, []).append(relation)
    for name, relation in (*numbers.sums(), *numbers.products()):
        if name not in found:
            found[name] = [relation]
    return Relations({each.name: tuple(found[each.name]) for each in looked if each.name in found})


def _told_by_one(
    looked: Sequence["_ColumnRows"],
    tells: Sequence["_ColumnRows"],
    rows: IntArray,
    known: Collection[str],
) -> dict[str, list[Relation]]:
    """Return for each column the others that tell it alone, exactly or nearly."""
    dense = np.array([each.codes for each in looked])
    gaps = np.array([[each.missing] for each in looked])
    unlike = np.array([1 - exp(each.agree) for each in looked])
    found: dict[str, list[Relation]] = {}
    for other in tells:
        alike = _share_alike(dense, gaps, other)
        exact: set[int] = set()
        for at in np.flatnonzero(alike == 1).tolist():
            each = looked[at]
            if each is not other and _is_told(each, other, rows):
                both = _is_told(other, each, rows)
                relation = Relation((other.name,), both, by_gap=_tells_gap(each, other))
                found.setdefault(each.name, []).append(relation)
                exact.add(at)
        for at in np.flatnonzero(1 - alike <= _STRAYING * unlike).tolist():
            each = looked[at]
            # Between two that others know, both are generalised anyway.
            apart = (each.name in known) != (other.name in known)
            if apart and at not in exact and _is_nearly_told(each, other, rows):
                both = _is_nearly_told(other, each, rows)
                found.setdefault(each.name, []).append(Relation((other.name,), both, nearly=True))
    return found


@dataclass(frozen=True, eq=False)
class _ColumnRows:
    """One column of the rows that are looked at."""

    column: Column
    codes: CodeArray
    """The value of each row, numbered without gaps."""

    first: IntArray
    """The first row of each value."""

    spare: int
    """Rows beyond the first of their value."""

    agree: float
    """The logarithm of how likely two rows are equal here."""

    missing: int
    values: FloatArray | None
    """Its numbers, one for each row; None if it has others than numbers."""

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def distinct(self) -> int:
        return len(self.first)

    @classmethod
    def of(cls, column: Column, codes: CodeArray, rows: IntArray) -> "_ColumnRows":
        there, first, dense = np.unique(codes, return_index=True, return_inverse=True)
        sizes = np.bincount(dense, weights=rows)
        total = float(sizes.sum())
        agree = float(np.square(sizes / total).sum()) if total else 1.0
        missing = np.flatnonzero(there == column.missing)
        numbers = [_number(column.values[code]) for code in there.tolist()]
        known = [n for n, code in zip(numbers, there, strict=True) if code != column.missing]
        values = None
        if known and None not in known:
            values = np.array([np.nan if n is None else n for n in numbers], dtype=float)[dense]
        return cls(
            column,
            dense.astype(np.int32),
            first,
            int(total) - len(first),
            log(agree),
            int(missing[0]) if missing.size else -1,
            values,
        )


def _number(value: Value) -> float | None:
    """Return a number, or that of a day: a date and a duration tell another date."""
    number = number_of(value)
    if number is not None or value is None:
        return number
    day = date_of(value)
    if day is None and isinstance(value, str) and 8 <= len(value) <= 10 and value[:1].isdigit():
        # Day first or month first makes no difference to where two dates are far apart.
        found = read_text(value, pivot=29)
        written = found.year_first or found.day_first or found.month_first
        day = None if written is None else date_of(written)
    return None if day is None else float(day.toordinal())


def _share_alike(codes: CodeArray, gaps: IntArray, other: _ColumnRows) -> FloatArray:
    """Return how often columns are equal in some pairs of rows that are equal in another column.

    All columns at once: of a thousand columns a million pairs need not be looked at one by one.
    """
    order = np.argsort(other.codes, kind="stable")
    pairs = np.flatnonzero(other.codes[order[:-1]] == other.codes[order[1:]])
    pairs = pairs[:: max(1, len(pairs) // _PAIRS)]
    if not pairs.size:
        return np.ones(len(codes))
    one, two = codes[:, order[pairs]], codes[:, order[pairs + 1]]
    equal = (one == two) | (one == gaps) | (two == gaps)
    return np.asarray(equal.mean(axis=1))


def _is_nearly_told(each: _ColumnRows, other: _ColumnRows, rows: IntArray) -> bool:
    """Return whether one column is that of the other in nearly all rows, and no constant.

    Only where the other's values have several rows each; else they would seem to tell everything.
    """
    known = (each.codes != each.missing) & (other.codes != other.missing)
    total = float(rows[known].sum())
    if each.distinct < _FEWEST_NEARLY[0] or other.distinct < _FEWEST_NEARLY[1]:
        return False
    if total < _FEWEST or other.distinct * _FINE > total:
        return False
    width = int(each.codes.max()) + 1
    pairs, at = np.unique(
        other.codes[known].astype(np.int64) * width + each.codes[known], return_inverse=True
    )
    sizes = np.bincount(at, weights=rows[known])
    first = np.flatnonzero(np.diff(pairs // width, prepend=-1))
    missed = total - float(np.maximum.reduceat(sizes, first).sum())
    alone = total - float(np.bincount(each.codes[known], weights=rows[known]).max())
    return missed <= min(_STRAYING * alone, _STRAYING * total) and alone - missed >= _FEWEST


_STRAYING = 0.1
"""The share of the rows that differ from the most frequent value which may still differ."""

_FEWEST_NEARLY = (2, 3)
"""Values of a column that is nearly told, and of the one that tells it."""


def _is_told(each: _ColumnRows, other: _ColumnRows, rows: IntArray) -> bool:
    """Return whether one column is the same wherever the other is, more than chance explains.

    Where it is missing, it may be missing at random.
    """
    if not 1 < each.distinct <= other.distinct or each.agree * other.spare > _CHANCE:
        return False
    if not _agrees(each, other):
        return False
    known = each.codes != each.missing
    if not known.all():
        told = np.unique(other.codes[known])
        spare = int(rows[known].sum()) - len(told)
        if each.distinct < 3 or each.agree * spare > _CHANCE:
            return False
    if other.distinct * _FINE <= int(rows.sum()) or 2 * each.distinct >= other.distinct:
        return True
    return _has_few_steps(each, other)


def _agrees(each: _ColumnRows, other: _ColumnRows) -> bool:
    said = each.codes[other.first]
    if each.missing < 0:
        return bool((said[other.codes] == each.codes).all())
    # The first known value for each value of the other column.
    known = np.flatnonzero(each.codes != each.missing)[::-1]
    said = said.copy()
    said[other.codes[known]] = each.codes[known]
    return bool(((said[other.codes] == each.codes) | (each.codes == each.missing)).all())


def _tells_gap(each: _ColumnRows, other: _ColumnRows) -> bool:
    """Return whether a column is the same in all rows in which the other one is known."""
    known = each.codes[other.codes != other.missing]
    return other.missing >= 0 and bool((known == known[0]).all())


def _has_few_steps(each: _ColumnRows, other: _ColumnRows) -> bool:
    """Return whether a column is one of classes: it changes seldom along the other's numbers."""
    if other.values is None:
        return False
    order = np.argsort(other.values[other.first])
    steps = int(np.count_nonzero(np.diff(each.codes[other.first][order])))
    return steps <= 2 * each.distinct


class _ColumnNumbers(NamedTuple):
    """The numbers of several columns, by row."""

    names: list[str]
    values: FloatArray

    @classmethod
    def of(cls, columns: Sequence[_ColumnRows], rows: IntArray) -> "_ColumnNumbers":
        given = {e.name: e.values[:_NUMBERS] for e in columns if e.values is not None}
        values = np.array(list(given.values())).reshape(len(given), min(len(rows), _NUMBERS))
        return cls(list(given), values)

    def copies(self) -> list[tuple[str, Relation]]:
        """Return the columns whose numbers are in nearly the same order as another's."""
        known = ~np.isnan(self.values)
        places = np.array([_places(values) for values in self.values]).reshape(known.shape)
        spread = np.square(places) @ known.T.astype(float)
        alike = np.abs(places @ places.T) / np.sqrt(np.maximum(spread * spread.T, 1e-12))
        found = []
        for i, j in np.argwhere(np.tril(alike >= _NEARLY_ALIKE, -1)).tolist():
            both = known[i] & known[j]
            enough = both.sum() >= max(_FEWEST, 0.5 * known[i].sum(), 0.5 * known[j].sum())
            if enough and abs(_rank_correlation(*self.values[[i, j]][:, both])) >= _ALIKE:
                # What is often missing where the other one is known tells little of it.
                for one, other in ((i, j), (j, i)):
                    if both.sum() >= _NEARLY_ALIKE * known[one].sum():
                        relation = Relation((self.names[other],), both=True, nearly=True)
                        found.append((self.names[one], relation))
        return found

    def sums(self) -> list[tuple[str, Relation]]:
        """Return the columns that are a sum or difference of two others, with any factors."""
        return self._pairs(self.values, _EXACT, nearly=False)

    def products(self) -> list[tuple[str, Relation]]:
        """Return the columns that are a product of two others, with any powers, but for rounding.

        A body mass index and a weight tell a height.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            logs = np.where(self.values > 0, np.log(self.values), np.nan)
        # Where some are 0 or less, none is a product.
        logs[(self.values <= 0).any(axis=1)] = np.nan
        return self._pairs(logs, _NEARLY_EXACT, nearly=True)

    def _pairs(
        self, given: FloatArray, least: float, *, nearly: bool
    ) -> list[tuple[str, Relation]]:
        names = self.names[:_MOST_SUMMED]
        complete = ~np.isnan(given[: len(names)])
        found = []
        for i, name in enumerate(names):
            rows = complete[i]
            others = [j for j in range(len(names)) if j != i and complete[j][rows].all()]
            if rows.sum() < _FEWEST or len(others) < 2:
                continue
            values = given[[i, *others]][:, np.flatnonzero(rows)[:_SUMMED]]
            pair = _best_pair(values, least)
            if pair is not None:
                of = tuple(names[others[at]] for at in pair)
                found.append((name, Relation(of, nearly=nearly)))
        return found


def _places(values: FloatArray) -> FloatArray:
    """Return the rank of each number, ties shared, from the middle on; 0 if it is missing."""
    known = ~np.isnan(values)
    places = np.zeros(len(values))
    if known.any():
        rank = np.unique(values[known], return_inverse=True)[1]
        sizes = np.bincount(rank)
        middle = (np.cumsum(sizes) - sizes / 2)[rank]
        places[known] = middle - middle.mean()
    return places


def _rank_correlation(a: FloatArray, b: FloatArray) -> float:
    one, two = _places(a), _places(b)
    spread = float(np.square(one).sum() * np.square(two).sum())
    return float(one @ two) / sqrt(spread) if spread else 0.0


def _best_pair(values: FloatArray, least: float) -> tuple[int, int] | None:
    """Return which two of the other rows of numbers give the first one by a linear rule.

    Args:
        values: The numbers.
        least: The share of the first one's variance that they must explain.
    """
    centred: FloatArray = values - values.mean(axis=1, keepdims=True)
    norms: FloatArray = np.sqrt(np.square(centred).sum(axis=1))
    if norms[0] == 0:
        return None
    usable = np.flatnonzero(norms[1:] > 0)
    scaled = centred[1 + usable] / norms[1 + usable, None]
    with_first = scaled @ (centred[0] / norms[0])
    among = scaled @ scaled.T
    apart = 1 - np.square(among)
    explained = np.square(with_first)[:, None] + np.square(with_first)[None, :]
    explained -= 2 * among * np.outer(with_first, with_first)
    share: FloatArray = np.where(apart > 1e-6, explained / np.maximum(apart, 1e-6), 0.0)
    if least < _EXACT:
        # One of two that explains nearly all by itself is no factor.
        alone = np.square(with_first) > 1 - (1 - least) * _ALONE
        share[alone] = share[:, alone] = 0.0
    if not share.size or share.max() < least:
        return None
    one, two = divmod(int(share.argmax()), len(usable))
    return int(usable[one]), int(usable[two])
