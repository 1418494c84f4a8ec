"""Two releases side by side: which of their classes can hold the same person.

A label stands for a set of values, and a row for a box: one set per column. A person fits two rows
only if, in every column that both have, the value is in both sets. Two boxes have a common point
exactly if their sets meet in each column by itself, so labels are compared column by column, once
for each pair of labels and not for each pair of rows.

With one table on either side the pairs of classes are right if the labels are read rightly: none is
missed, and each could hold a person. With several tables classes must fit in each pair of tables,
perhaps with different rows. That is necessary and not sufficient, so that pairs may be left which
no person can be in. To miss a pair would rule out people who are there; to keep one does not.

Reference: Ganta, Kasiviswanathan and Smith, "Composition attacks and auxiliary information in data
privacy", 2008, doi:10.1145/1401890.1401926, for the attack that needs these pairs.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import NamedTuple, Self

import numpy as np

from sfumato.counts import Column, group
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError
from sfumato.hierarchy import Ladder
from sfumato.hierarchy.labels import LabelReader, Reader, Stretch, day_of, stretch_of
from sfumato.text import STAR, number_of, text_of
from sfumato.typing import BoolArray, CodeArray, IntArray

MOST_PAIRS = 1 << 23
"""The most pairs of classes that are kept together."""

_CHUNK = 1 << 22
"""Candidates that are looked at together."""

_ALIKE = 0.8
"""The share of words that two releases have in common if both were published at one level."""


class PairCountError(InputError):
    """More classes of two releases fit each other than can be gone through."""


class MatchedPairs(NamedTuple):
    """Positions in two lists that go together, sorted by the first, then the second."""

    one: IntArray
    other: IntArray

    def __len__(self) -> int:
        return len(self[0])

    @classmethod
    def of(cls, one: IntArray, other: IntArray, width: int) -> Self:
        """Return each pair once; `width` is the length of the second list."""
        key = np.unique(one.astype(np.int64) * max(width, 1) + other)
        return cls(key // max(width, 1), key % max(width, 1))


# Labels of one column in two releases.


@dataclass(frozen=True, eq=False)
class LabelKnowledge:
    """What is known of the labels of a column besides the labels."""

    raw: Column | None = None
    """The values they stand for, if those are known."""

    ladder: Ladder | None = None
    """The hierarchy of these values."""

    apart: bool | None = None
    """Whether words that differ stand for different values; None if nothing says so, and the
    words that both releases have decide."""


class LabelPairs(NamedTuple):
    """The labels of two releases that can stand for the same value."""

    pairs: MatchedPairs
    legible: bool
    """Whether it is known of all labels what they stand for."""


def overlapping_labels(
    one: Column, other: Column, reading: LabelKnowledge | None = None
) -> LabelPairs:
    """Return the labels of two releases that can stand for the same value.

    Where the raw values are known, labels overlap that share one. Else they are read: as numbers,
    days and intervals, or as masks character by character. `*` overlaps all. What is missing of a
    person is missing in both releases, so that a missing label overlaps another. Words of which
    nothing is known overlap if they are equal. Unless both releases have nearly the same words,
    one may be more general than another, and the labels cannot be read.

    Example:
        >>> first = Column("age", ("20 to 29", "30 to 39"))
        >>> second = Column("age", ("25 to 34", "35", "*"))
        >>> found = overlapping_labels(first, second).pairs
        >>> list(zip(found.one.tolist(), found.other.tolist()))
        [(0, 0), (0, 2), (1, 0), (1, 1), (1, 2)]
    """
    reading = reading or LabelKnowledge()
    sides = [[None if v is None else text_of(v) for v in c.values] for c in (one, other)]
    found = [*_plain_pairs(*sides)]
    if reading.raw is not None and len(reading.raw.values):
        codes = [_read_values(texts, reading) for texts in sides]
        found.append(_sharing(*codes))
        legible = [_legible(each, len(texts)) for each, texts in zip(codes, sides, strict=True)]
    else:
        lines = _on_a_line(*sides)
        if lines is not None:
            found.append(_crossing(*lines))
            legible = [~np.isnan(each[0]) for each in lines]
        else:
            found.append(_fitting_masks(*sides))
            masked = bool(_masks(sides[0]).any() or _masks(sides[1]).any())
            legible = [_are_values(texts, masked=masked) for texts in sides]
    doubtful = _doubtful_pairs(sides[0], sides[1], legible, apart=reading.apart)
    found.append(doubtful)
    first, second = (np.concatenate([each[at] for each in found]) for at in (0, 1))
    return LabelPairs(MatchedPairs.of(first, second, len(sides[1])), len(doubtful[0]) == 0)


Texts = Sequence[str | None]
PairArrays = tuple[IntArray, IntArray]
_NONE: IntArray = np.zeros(0, dtype=np.int64)


def _cross(one: Sequence[int] | IntArray, other: Sequence[int] | IntArray) -> PairArrays:
    first, second = np.asarray(one, dtype=np.int64), np.asarray(other, dtype=np.int64)
    return np.repeat(first, len(second)), np.tile(second, len(first))


def _plain_pairs(one: Texts, other: Texts) -> Iterator[PairArrays]:
    """Yield labels that are equal, and those that say nothing with all others."""
    at = {text: position for position, text in enumerate(other)}
    same = [(i, at[text]) for i, text in enumerate(one) if text in at]
    if same:
        first, second = zip(*same, strict=True)
        yield np.array(first, dtype=np.int64), np.array(second, dtype=np.int64)
    every = [range(len(one)), range(len(other))]
    yield _cross([i for i, text in enumerate(one) if text == STAR], every[1])
    yield _cross(every[0], [i for i, text in enumerate(other) if text == STAR])


def _read_values(texts: Texts, reading: LabelKnowledge) -> PairArrays:
    """Return labels and the codes of the raw values they stand for, each pair once."""
    assert reading.raw is not None  # noqa: S101 - only read if there are values
    reader = LabelReader(reading.raw, reading.ladder)
    codes = [_NONE if text in (None, STAR) else reader.possible(text) for text in texts]
    label = np.repeat(np.arange(len(codes)), [len(each) for each in codes])
    return label, np.concatenate([_NONE, *codes])


def _legible(found: PairArrays, n: int) -> BoolArray:
    return np.bincount(found[0], minlength=n) > 0


def _sharing(one: PairArrays, other: PairArrays) -> PairArrays:
    """Join labels on the values they stand for."""
    # Two labels overlap if and only if some raw value is among those of both. With one list sorted
    # by value, the matches of each entry of the other are a run in it. A pair of labels comes once
    # for each common value, and `MatchedPairs.of` keeps one of them.
    order = np.argsort(other[1], kind="stable")
    values = other[1][order]
    low, high = (np.searchsorted(values, one[1], side) for side in ("left", "right"))
    at, within = number_items(high - low)
    return one[0][at], other[0][order][low[at] + within]


def number_items(width: IntArray) -> tuple[IntArray, IntArray]:
    """Return for some lists of given lengths which list each item is in, and its place there."""
    at = np.repeat(np.arange(len(width)), width)
    return at, np.arange(len(at)) - np.repeat(np.cumsum(width) - width, width)


def _stretch(text: str, reader: Reader) -> Stretch | None:
    """Read a label as a part of a line: a point, an interval, a masked number, a month."""
    point = reader(text)
    if point is not None:
        return Stretch(point, point, closed=True)
    found = stretch_of(text, reader)
    if found is not None or reader is day_of:
        return found
    masked = re.fullmatch(r"(\d+)(\*+)", text)
    if masked is None:
        return None
    width = 10 ** len(masked[2])
    low = int(masked[1]) * width
    return Stretch(float(low), float(low + width), closed=False)


def _on_a_line(one: Texts, other: Texts) -> tuple[np.ndarray, np.ndarray] | None:
    """Return low, high and closed of each label; nan where it is none; None if none is an interval.

    Where all labels are single values or masks, they are compared as texts.
    """
    for reader in (number_of, day_of):
        sides = [[read_stretch(text, reader) for text in texts] for texts in (one, other)]
        read = [each for side in sides for each in side if each is not None]
        told = [t for texts in (one, other) for t in texts if t not in (None, STAR)]
        texts = [t for t in told if _stretch(t, reader) is not None]
        wide = any(STAR not in t and reader(t) is None for t in texts)
        # Four digits are a year only where something else is a day or a month.
        wide &= any(STAR not in t and number_of(t) is None for t in texts)
        if wide and 2 * len(read) > len(told):
            empty = (np.nan, np.nan, 0.0)
            lines = [np.array([empty if s is None else s[:3] for s in side]) for side in sides]
            return lines[0].reshape(-1, 3).T, lines[1].reshape(-1, 3).T
    return None


def read_stretch(text: str | None, reader: Reader) -> Stretch | None:
    """Read a label as a part of a line; None for `*`, missing labels and words."""
    return None if text in (None, STAR) or text is None else _stretch(text, reader)


def _crossing(one: np.ndarray, other: np.ndarray) -> PairArrays:
    """Return the stretches that have a point in common: the later start lies in both."""
    # Stretches [a, b] and [c, d] meet if and only if max(a, c) is in both, for every stretch holds
    # its lower end. Either a is at or after c and in [c, d], or c is after a and in [a, b]; never
    # both, so that no pair comes twice. 25 to 34 beside 20 to 29 is the first case: 25 is in both.
    # For each stretch the starts inside it are a run of the sorted starts, which two binary
    # searches find: m and n stretches with p pairs take (m + n) log(m n) + p steps instead of m n.
    starts_inside = _starting_in(one, other, equal=True)
    second, first = _starting_in(other, one, equal=False)
    return (
        np.concatenate([starts_inside[0], first]),
        np.concatenate([starts_inside[1], second]),
    )


def _starting_in(starting: np.ndarray, around: np.ndarray, *, equal: bool) -> PairArrays:
    """Return the stretches that begin in others, perhaps at their very start."""
    low = starting[0]
    order = np.argsort(low, kind="stable")
    # Those that are no stretch are last, and above every end.
    rising = np.where(np.isnan(low), np.inf, low)[order]
    first = np.searchsorted(rising, around[0], "left" if equal else "right")
    closed = around[2] > 0
    last = np.where(
        closed,
        np.searchsorted(rising, around[1], "right"),
        np.searchsorted(rising, around[1], "left"),
    )
    last = np.minimum(last, int((~np.isnan(low)).sum()))
    width = np.where(np.isnan(around[0]), 0, np.maximum(last - first, 0))
    at, within = number_items(width.astype(np.int64))
    return order[first[at] + within], at


def _masks(texts: Texts) -> BoolArray:
    found = [text is not None and STAR in text and text != STAR for text in texts]
    return np.array(found, dtype=np.bool_)


def _are_values(texts: Texts, *, masked: bool) -> BoolArray:
    """Return which texts stand for themselves: numbers, days, and all beside masks of texts."""
    if masked:
        return np.ones(len(texts), dtype=np.bool_)
    found = [
        text is not None and (number_of(text) is not None or day_of(text) is not None)
        for text in texts
    ]
    return np.array(found, dtype=np.bool_)


def _fitting_masks(one: Texts, other: Texts) -> PairArrays:
    """Return the texts of one length that agree wherever neither has a star, one having some."""
    # A star stands for one character. Two masks of one length stand for a common text if and only
    # if they agree where neither has a star: elsewhere the one without a star fills in the other.
    # 24*7* and 2*078 agree in places 1 and 4, and 24078 fits both. Texts with stars in the same
    # places share a pattern; for two patterns the places that both show are the key of a join.
    found: list[PairArrays] = [(_NONE, _NONE)]
    sides = [_by_pattern(texts) for texts in (one, other)]
    for mine, first in sides[0].items():
        for theirs, second in sides[1].items():
            shown = [a and b for a, b in zip(mine, theirs, strict=False)]
            if len(mine) != len(theirs) or (all(mine) and all(theirs)):
                continue
            keys: dict[str, list[int]] = {}
            for position in second:
                keys.setdefault(_keep_shown(other[position], shown), []).append(position)
            pairs = [(i, j) for i in first for j in keys.get(_keep_shown(one[i], shown), ())]
            if pairs:
                both = np.array(pairs, dtype=np.int64)
                found.append((both[:, 0], both[:, 1]))
    return tuple(np.concatenate([each[at] for each in found]) for at in (0, 1))  # type: ignore[return-value]


def _by_pattern(texts: Texts) -> dict[tuple[bool, ...], list[int]]:
    """Gather texts by which of their characters are shown."""
    found: dict[tuple[bool, ...], list[int]] = {}
    for position, text in enumerate(texts):
        if text is not None and text != STAR:
            found.setdefault(tuple(char != STAR for char in text), []).append(position)
    return found


def _keep_shown(text: str | None, shown: Sequence[bool]) -> str:
    return "".join(char for char, show in zip(text or "", shown, strict=True) if show)


def _doubtful_pairs(
    one: Texts, other: Texts, legible: Sequence[BoolArray], *, apart: bool | None
) -> PairArrays:
    """Return words of which nothing is known, unless they are taken to stand for themselves."""
    known = [{t for t in texts if t not in (None, STAR)} for texts in (one, other)]
    if apart is None:
        fewer = max(min(map(len, known)), 1)
        apart = len(known[0] & known[1]) >= _ALIKE * fewer
    if apart:
        return _NONE, _NONE
    words = [
        np.array([t not in (None, STAR) for t in texts], dtype=np.bool_) for texts in (one, other)
    ]
    # A number is not another number, but it may be among those that a word stands for.
    first, second = _cross(np.flatnonzero(words[0]), np.flatnonzero(words[1]))
    doubtful = ~(legible[0][first] & legible[1][second])
    return first[doubtful], second[doubtful]


# Classes of two releases.


@dataclass(frozen=True, eq=False)
class Face:
    """One published table: what it shows of the people of each class."""

    columns: tuple[Column, ...]
    labels: CodeArray
    """`labels[column, row]`: what the rows show."""

    of_class: IntArray
    """The class that each row is of; rows of several classes stand there once for each."""


class ClassPairs(NamedTuple):
    """The classes of two releases that can hold the same person."""

    pairs: MatchedPairs
    unread: tuple[str, ...]
    """The columns with labels of which nothing says what they stand for."""


def overlapping_classes(
    one: Sequence[Face],
    other: Sequence[Face],
    n: tuple[int, int],
    readings: Mapping[str, LabelKnowledge] | None = None,
) -> "ClassPairs":
    """Return the classes of two releases that can hold the same person.

    In every table of the two a row of the class must fit one of the other class: the labels of
    the columns that both tables have overlap.

    Args:
        one: The tables of one release.
        other: Those of the other.
        n: The number of classes of each.
        readings: Per column, what is known of its labels.

    Example:
        >>> ages = Column("age", ("20 to 29", "30 to 39")), Column("age", ("25 to 34", "35 to 44"))
        >>> faces = [Face((each,), np.array([[0, 1]]), np.arange(2)) for each in ages]
        >>> found = overlapping_classes([faces[0]], [faces[1]], (2, 2)).pairs
        >>> list(zip(found.one.tolist(), found.other.tolist()))
        [(0, 0), (1, 0), (1, 1)]
    """
    found: IntArray | None = None
    unread: dict[str, None] = {}
    if not all(n):
        return ClassPairs(MatchedPairs(_NONE, _NONE), ())
    for mine in one:
        for theirs in other:
            rows, doubtful = _overlapping_rows(mine, theirs, readings or {})
            unread.update(dict.fromkeys(doubtful))
            key = np.unique(mine.of_class[rows.one] * n[1] + theirs.of_class[rows.other])
            found = key if found is None else np.intersect1d(found, key, assume_unique=True)
    if found is None:
        found = np.arange(n[0] * n[1])
    return ClassPairs(MatchedPairs(found // max(n[1], 1), found % max(n[1], 1)), tuple(unread))


def _overlapping_rows(
    one: Face, other: Face, readings: Mapping[str, LabelKnowledge]
) -> tuple[MatchedPairs, list[str]]:
    """Join two tables column by column: rows that begin alike are looked at once."""
    theirs = {column.name: position for position, column in enumerate(other.columns)}
    joined = []
    for i, column in enumerate(one.columns):
        if column.name in theirs:
            j = theirs[column.name]
            found = overlapping_labels(column, other.columns[j], readings.get(column.name))
            joined.append((i, j, found))
    unread = [one.columns[i].name for i, _, found in joined if not found.legible]
    if unread:
        return MatchedPairs(_NONE, _NONE), unread
    # Rows are joined as paths of two trees, whose nodes are the beginnings of rows. A pair of rows
    # overlaps in all columns only if it does in the first few, so a pair of beginnings that does
    # not fit is dropped with all rows that begin so. Rows with equal labels are one path. After the
    # last column `pairs` is exactly the set of paths that fit. The order of columns changes how
    # many pairs are held in between, and not the result; their number is limited throughout.
    # Columns that rule out most come first.
    joined.sort(key=lambda each: len(each[2].pairs) / _possible(one, other, each[0], each[1]))
    sides = [_Prefixes.start(one.labels.shape[1]), _Prefixes.start(other.labels.shape[1])]
    pairs = MatchedPairs(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
    for i, j, (fitting, _) in joined:
        sizes = len(one.columns[i].values), len(other.columns[j].values)
        sides = [
            sides[0].extend(one.labels[i], sizes[0]),
            sides[1].extend(other.labels[j], sizes[1]),
        ]
        pairs = _extend_pairs(pairs, sides[0], sides[1], fitting, sizes[1])
    rows = [side.rows() for side in sides]
    width = [np.diff(starts) for _, starts in rows]
    total = int((width[0][pairs.one] * width[1][pairs.other]).sum())
    if total > MOST_PAIRS:
        raise _too_many(total)
    at, within = number_items(width[0][pairs.one] * width[1][pairs.other])
    second = np.maximum(width[1][pairs.other][at], 1)
    fitting = MatchedPairs(
        rows[0][0][rows[0][1][pairs.one[at]] + within // second],
        rows[1][0][rows[1][1][pairs.other[at]] + within % second],
    )
    return fitting, unread


def _possible(one: Face, other: Face, i: int, j: int) -> int:
    return max(len(one.columns[i].values) * len(other.columns[j].values), 1)


def _too_many(total: int) -> PairCountError:
    return PairCountError(
        f"{total} pairs of classes fit each other, and {MOST_PAIRS} can be gone through. Compare "
        "releases that share more quasi-identifiers, or give the table they were made of."
    )


@dataclass(frozen=True, eq=False)
class _Prefixes:
    """The different beginnings of rows: their labels in the first few columns."""

    of_row: IntArray
    parent: IntArray = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    """Of each beginning, the one that is a column shorter."""

    label: IntArray = field(default_factory=lambda: np.zeros(1, dtype=np.int64))

    @classmethod
    def start(cls, n: int) -> "_Prefixes":
        return cls(np.zeros(n, dtype=np.int64))

    def extend(self, labels: CodeArray, size: int) -> "_Prefixes":
        """Append a column."""
        n = int(self.of_row.max(initial=-1)) + 1
        found = group([self.of_row, labels], [max(n, 1), size])
        first = found.first
        return _Prefixes(found.of_item, self.of_row[first], labels[first].astype(np.int64))

    @property
    def n(self) -> int:
        return len(self.parent)

    def rows(self) -> tuple[IntArray, IntArray]:
        """Return the rows by their beginning, and where each beginning's rows start."""
        order = np.argsort(self.of_row, kind="stable")
        return order, np.searchsorted(self.of_row[order], np.arange(self.n + 1))


def _extend_pairs(
    pairs: MatchedPairs, one: _Prefixes, other: _Prefixes, fitting: MatchedPairs, size: int
) -> MatchedPairs:
    """Return the longer beginnings that fit, of beginnings that did."""
    # Beginnings are numbered by parent, then label: the longer ones of one stand together.
    # There are two ways to extend a pair of beginnings that have s and t longer ones. Crossing them
    # holds s · t pairs of labels against the list of those that fit. Looking up asks, for each of
    # the s, whether the labels that fit its own are among the t. Both give the same pairs; the
    # way with fewer candidates in all is taken, both numbers being known before any is made.
    starts = [
        np.searchsorted(side.parent, np.arange(int(side.parent.max(initial=-1)) + 2))
        for side in (one, other)
    ]
    widths = [np.diff(each) for each in starts]
    crossed = widths[0][pairs.one] * widths[1][pairs.other]
    labelled = np.searchsorted(fitting.one, np.arange(int(one.label.max(initial=-1)) + 2))
    degree = np.diff(labelled)[one.label]
    before = np.concatenate([[0], np.cumsum(degree)])
    looked_up = before[starts[0][1:]][pairs.one] - before[starts[0][:-1]][pairs.one]
    if crossed.sum() <= looked_up.sum():
        return _cross_pairs(pairs, one, other, starts, fitting, size)
    # Few labels fit each: those that do are looked up among the beginnings.
    places = other.parent * size + other.label
    found: list[PairArrays] = [(_NONE, _NONE)]
    kept = 0
    for part in cut_lists(looked_up):
        at, within = number_items(widths[0][pairs.one[part]])
        at += part.start
        first = starts[0][pairs.one[at]] + within
        again, within = number_items(degree[first])
        label = fitting.other[labelled[one.label[first[again]]] + within]
        asked = pairs.other[at[again]] * size + label
        good = _among(places, asked)
        found.append((first[again][good], np.searchsorted(places, asked[good])))
        kept += int(good.sum())
        if kept > MOST_PAIRS:
            raise _too_many(kept)
    return MatchedPairs(*(np.concatenate([each[i] for each in found]) for i in (0, 1)))


def _cross_pairs(
    pairs: MatchedPairs,
    one: _Prefixes,
    other: _Prefixes,
    starts: Sequence[IntArray],
    fitting: MatchedPairs,
    size: int,
) -> MatchedPairs:
    """Return the longer beginnings that fit, each held against each."""
    widths = [np.diff(each) for each in starts]
    width = widths[0][pairs.one] * widths[1][pairs.other]
    fits = np.sort(fitting.one * size + fitting.other)
    found: list[PairArrays] = [(_NONE, _NONE)]
    kept = 0
    for part in cut_lists(width):
        at, within = number_items(width[part])
        at += part.start
        second = widths[1][pairs.other[at]]
        first = starts[0][pairs.one[at]] + within // second
        last = starts[1][pairs.other[at]] + within % second
        good = _among(fits, one.label[first] * size + other.label[last])
        found.append((first[good], last[good]))
        kept += int(good.sum())
        if kept > MOST_PAIRS:
            raise _too_many(kept)
    return MatchedPairs(*(np.concatenate([each[i] for each in found]) for i in (0, 1)))


def cut_lists(width: IntArray) -> Iterator[slice]:
    """Cut lists into runs that are not too long together."""
    ends = np.cumsum(width)
    start = 0
    while start < len(width):
        before = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, before + _CHUNK, "right")), start + 1)
        yield slice(start, stop)
        start = stop


def _among(key: IntArray, asked: IntArray) -> BoolArray:
    if not len(key):
        return np.zeros(len(asked), dtype=np.bool_)
    at = np.minimum(np.searchsorted(key, asked), len(key) - 1)
    found: BoolArray = key[at] == asked
    return found
