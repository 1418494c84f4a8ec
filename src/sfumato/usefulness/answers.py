"""Questions about one column, and the answers that its labels give."""

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from sfumato.conditions import ConditionLine, Question, Range, fits_mask, overlap, unknown_value
from sfumato.counts import Column, add_up
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError
from sfumato.hierarchy import Ladder
from sfumato.hierarchy.labels import LabelReader, Stretch, day_of
from sfumato.showing.content import Content, Showable, plain_of
from sfumato.text import STAR, format_integer, percent, text_of, text_or_none
from sfumato.typing import BoolArray, FloatArray, IntArray, Value

# What a published label says to a question about raw values.


class LabelAnswer(NamedTuple):
    """How likely a person with a label has what is asked for, and whether it is certain."""

    share: float
    certain: bool
    """Whether all people with the label have it."""

    possible: bool
    """Whether a person with the label can have it."""


YES = LabelAnswer(1.0, certain=True, possible=True)
NO = LabelAnswer(0.0, certain=False, possible=False)


class AnswerReader(Protocol):
    """Anything that can hold the labels of a column against a question."""

    def answer(self, label: Value) -> LabelAnswer:
        """Return what one label says."""


class InformedReader:
    """Reads labels knowing all raw values of the column.

    Rows behind a label are taken to be spread evenly over the raw values it covers. A label that
    is asked for stands for the raw values it covers.

    Args:
        raw: The column of the original table.
        shown: The column as it was published.
        asked: What is asked for.
        ladder: The column's hierarchy, if it has one.
        level: The level it was published at, if it is one for all rows.

    Example:
        >>> age = Column("age", (31, 32, 38, 40))
        >>> asked = Question.of("age", (35, 45))
        >>> reading = InformedReader(age, Column("age", ("30-39", "40-49")), asked)
        >>> [reading.answer(label).share for label in ("30-39", "40-49")]
        [0.3333333333333333, 1.0]
    """

    def __init__(
        self,
        raw: Column,
        shown: Column,
        asked: Question,
        ladder: Ladder | None = None,
        level: int | None = None,
    ) -> None:
        self._reader = LabelReader(raw, ladder, level)
        published = {text_of(value) for value in shown.known}
        # Rows that are hidden altogether may be asked for: they are those with a star.
        self._named = asked.texts & {STAR} & published
        self._allowed = np.zeros(len(raw.values), dtype=bool)
        line = ConditionLine.of_values(raw)
        for item in asked.items:
            if item not in self._named:
                self._allowed |= self._raw_values(raw, published, line, item)

    def _raw_values(
        self,
        raw: Column,
        published: Container[str],
        line: ConditionLine | None,
        item: Value | Range,
    ) -> BoolArray:
        """Return which raw values one thing that is asked for stands for."""
        found = np.zeros(len(raw.values), dtype=bool)
        if item is None:
            found[raw.missing] = raw.missing >= 0
            return found
        texts = [text_of(value) for value in raw.known]
        text = str(item) if isinstance(item, Range) else text_of(item)
        stretch = None if line is None or text in texts else line.read(item)
        if stretch is not None and line is not None:
            points = [line.stretches.get(each) for each in texts]
            found[: len(texts)] = [at is not None and stretch.holds(at.low) for at in points]
        elif text in texts:
            found[texts.index(text)] = True
        elif not isinstance(item, Range) and self._is_label(text, published):
            found[self._reader.codes(text)] = True
        elif line is not None:
            raise line.refuse(
                raw.name, item, [each for each in texts if each not in line.stretches]
            )
        elif isinstance(item, Range):
            raise _no_order_error(raw, item)
        else:
            raise unknown_value(raw.name, text, texts)
        return found

    def _is_label(self, text: str, published: Container[str]) -> bool:
        return text in published or (text != STAR and len(self._reader.possible(text)) > 0)

    def answer(self, label: Value) -> LabelAnswer:
        """Return what one label says."""
        if label is not None and text_of(label) in self._named:
            return YES
        inside = self._allowed[self._reader.codes(label)]
        return LabelAnswer(
            float(inside.mean()), certain=bool(inside.all()), possible=bool(inside.any())
        )


# Reading labels with nothing but the release.


class ReleaseOnlyReader:
    """Reads labels with the release and nothing else.

    What is asked for is held against an interval pro rata: whole numbers and days are counted
    where all ends are whole (`20-29` are ten values), lengths are compared where not. An open
    end (`>=65`) reaches as far as anything that is published or asked for, `*` from the least to
    the most of what is published, and a mask of digits (`476**`) stands for all numbers that fit.
    `*` among words stands for the words that are published. A word stands for itself; one that
    is not published cannot be asked for, though `*` may hide it: the release does not say so.

    Args:
        shown: The column as it was published.
        asked: What is asked for.

    Example:
        >>> shown, asked = Column("age", ("20-29", "30-39", "40-49")), Question.of("age", (25, 39))
        >>> reading = ReleaseOnlyReader(shown, asked)
        >>> [reading.answer(label).share for label in ("20-29", "30-39", "40-49")]
        [0.5, 1.0, 0.0]
    """

    def __init__(self, shown: Column, asked: Question) -> None:
        if shown.known and {text_of(value) for value in shown.known} == {STAR}:
            raise InputError(
                f"column {shown.name!r} is published as '*' for all people, which says nothing "
                f"about {str(asked)!r}. Give the table it was made of (--data, original=...), "
                "or leave the column out."
            )
        self._reading = _Axis.of_column(shown, asked) or _Words(shown, asked)

    def answer(self, label: Value) -> LabelAnswer:
        """Return what one label says."""
        return self._reading.answer(label)


class _Axis:
    """Labels that are all numbers or days, or stretches of them."""

    def __init__(self, asked: Question, line: ConditionLine) -> None:
        self._stretches = line.stretches
        self._whole = line.reader is day_of or _whole(line.stretches.values())
        self._named = asked.texts & {None, STAR}
        read = [
            _on_line(line, asked.column, item) for item in asked.items if item not in self._named
        ]
        self._asked = _merge(read, whole=self._whole)
        ends = [end for each in read for end in each[:2] if math.isfinite(end)]
        self._ends = min([*ends, line.least]), max([*ends, line.most])
        # Nothing that is published lies farther out, unless a label says that something does.
        self._star = self._ends if line.is_open else (line.least, line.most)

    @classmethod
    def of_column(cls, shown: Column, asked: Question) -> "_Axis | None":
        """Find how all labels can be put on a line, if they can, and refuse what is not on it."""
        lines = ConditionLine.all_of(shown)
        items = [item for item in asked.items if item is not None and item != STAR]
        fitting = [line for line in lines if all(line.read(item) is not None for item in items)]
        line = next(iter(fitting or lines), None)
        return None if line is None else cls(asked, line)

    def answer(self, label: Value) -> LabelAnswer:
        text = None if label is None else text_of(label)
        if text is None or text in self._named:
            return YES if text in self._named else NO
        everything = Stretch(-math.inf, math.inf, closed=True)
        stretch = everything if text == STAR else self._stretches[text]
        if self._whole:
            stretch = _round(stretch)
        clipped = _clip(stretch, *(self._star if text == STAR else self._ends))
        share = sum(_share(clipped, each, whole=self._whole) for each in self._asked)
        possible = any(overlap(stretch, each) for each in self._asked)
        certain = any(_holds_all(each, stretch) for each in self._asked)
        return LabelAnswer(min(share, 1.0) if possible else 0.0, certain=certain, possible=possible)


def _on_line(line: ConditionLine, column: str, item: Value | Range) -> Stretch:
    stretch = line.read(item)
    if stretch is None:
        raise line.refuse(column, item)
    return stretch


def _merge(stretches: Iterable[Stretch], *, whole: bool) -> list[Stretch]:
    """Return the same points as stretches that neither overlap nor touch, in order."""
    found: list[Stretch] = []
    for each in sorted(_round(each) if whole else each for each in stretches):
        if each.low > each.high:
            continue
        # The lower end of a stretch is inside, so what touches is one.
        if found and each.low <= found[-1].high + whole:
            last = found[-1]
            far = max(last, each, key=lambda stretch: (stretch.high, stretch.closed))
            found[-1] = Stretch(last.low, far.high, far.closed)
        else:
            found.append(each)
    return found


def _round(stretch: Stretch) -> Stretch:
    """Return the whole numbers of a stretch, from the first to the last."""
    low, high = stretch.low, stretch.high
    low = math.ceil(low) if math.isfinite(low) else low
    if math.isfinite(high):
        high = math.floor(high) if stretch.closed or not high.is_integer() else high - 1
    return Stretch(float(low), float(high), closed=True)


def _clip(stretch: Stretch, least: float, most: float) -> Stretch:
    """Cut open ends at the farthest known point, and keep at least a point."""
    low, high = max(stretch.low, least), min(stretch.high, most)
    if low > high:
        low = high = low if math.isinf(stretch.high) else high
    return Stretch(low, high, stretch.closed)


def _share(stretch: Stretch, asked: Stretch, *, whole: bool) -> float:
    low, high = max(asked.low, stretch.low), min(asked.high, stretch.high)
    if whole:
        return max(high - low + 1, 0) / (stretch.high - stretch.low + 1)
    if stretch.low == stretch.high:
        return float(overlap(Stretch(stretch.low, stretch.high, closed=True), asked))
    # A single point of a line has no length.
    return max(high - low, 0.0) / (stretch.high - stretch.low)


def _holds_all(asked: Stretch, stretch: Stretch) -> bool:
    return asked.low <= stretch.low and (
        stretch.high < asked.high
        or (stretch.high == asked.high and (asked.closed or not stretch.closed))
    )


class _Words:
    """Labels that stand for themselves, and masks of them."""

    def __init__(self, shown: Column, asked: Question) -> None:
        labels = [text_or_none(value) for value in shown.values]
        ranges = [item for item in asked.items if isinstance(item, Range)]
        if ranges:
            raise _no_order_error(shown, ranges[0])
        self._asked = asked.texts
        words = {label for label in labels if label is None or STAR not in label}
        self._domain = words | self._asked
        for text in self._asked:
            if text is not None and not any(self._fits(text, label) for label in labels):
                known = [each for each in labels if each is not None and each != STAR]
                more = _HIDDEN if STAR in labels else ""
                raise unknown_value(shown.name, text, known, more=more)

    def answer(self, label: Value) -> LabelAnswer:
        text = text_or_none(label)
        if text in self._asked:
            return YES
        if text is None or STAR not in text:
            return NO
        under = [word for word in self._domain if text == STAR or self._fits(word, text)]
        inside = [word for word in under if word in self._asked]
        share = len(inside) / len(under) if under else 0.0
        # Other words than those published may be meant, so nothing is certain.
        return LabelAnswer(share, certain=False, possible=bool(inside))

    @staticmethod
    def _fits(word: str | None, label: str | None) -> bool:
        """Return whether a label stands for a word and for few others, as a star does not."""
        if label in (word, STAR) or word is None or label is None:
            return label == word
        return fits_mask(word, label)


_HIDDEN = (
    "What only '*' could stand for is not known to exist: to ask for it, give the table "
    "(--data, original=...)."
)


def _whole(stretches: Iterable[Stretch]) -> bool:
    """Return whether labels name whole numbers: all ends are whole, and intervals hold both."""
    for each in stretches:
        finite = [end for end in (each.begin, each.high) if math.isfinite(end)]
        half_open = each.after or not each.closed
        if not all(end.is_integer() for end in finite) or (half_open and len(finite) == 2):
            return False
    return True


def _no_order_error(shown: Column, wanted: Range) -> InputError:
    return InputError(
        f"column {shown.name!r} cannot be asked for the range {str(wanted)!r}: its labels are not "
        "all numbers or dates, or intervals of them. Ask for some of the labels, or give the "
        "table it was made of (--data, original=...) and its policy (-p, policy=...)."
    )


# How few and how many people can keep all conditions, whatever is behind a release.


class AnsweringTable(NamedTuple):
    """One published table: for each of its entries the group, and what is certain of it."""

    group: IntArray
    people: FloatArray
    certain: Mapping[str, BoolArray]
    """Per column that is asked about, whether all people behind an entry keep the condition."""

    possible: Mapping[str, BoolArray]
    """Likewise, whether a person can."""


def bounds(parts: Sequence[AnsweringTable]) -> tuple[int, int]:
    """Return the least and the most people who can keep the conditions on all columns.

    Tables say nothing about who in a group is who in another, so in each group the bounds are
    Fréchet's: as many as the smallest number in any table, and no fewer than must meet if all
    others are kept apart. If no column stands in two tables, and labels are exact, some table
    behind the release reaches either bound.

    Reference: Fréchet, "Généralisation du théorème des probabilités totales", 1935,
    doi:10.4064/fm-25-1-379-387

    Example:
        >>> one, two = np.zeros(2, dtype=int), np.array([3.0, 1.0])
        >>> flu, low = np.array([True, False]), np.array([True, False])
        >>> bounds([AnsweringTable(one, two, {"ill": flu}, {"ill": flu}),
        ...         AnsweringTable(one, two, {"pay": low}, {"pay": low})])
        (2, 3)
    """
    least, most = bounds_of_groups(parts)
    return round(float(least.sum())), round(float(most.sum()))


def bounds_of_groups(parts: Sequence[AnsweringTable]) -> tuple[FloatArray, FloatArray]:
    """Return the least and the most people of each group who can keep the conditions."""
    n = max(int(part.group.max(initial=-1)) + 1 for part in parts)
    sizes = add_up(parts[0].group, parts[0].people, n)
    most = sizes
    for part in parts:
        most = np.minimum(most, _people(part, part.possible, list(part.possible), n))
    least, left = sizes, {name for part in parts for name in part.certain}
    while left:
        # A column that stands in several tables is counted in one of them only.
        best = max(parts, key=lambda part: len(left & part.certain.keys()))
        least = least + _people(best, best.certain, sorted(left & best.certain.keys()), n) - sizes
        left -= best.certain.keys()
    return np.maximum(least, 0), most


def _people(
    part: AnsweringTable, kept: Mapping[str, BoolArray], names: Sequence[str], n: int
) -> FloatArray:
    """Count the people of each group whose entry keeps the conditions on some columns."""
    people = part.people
    for name in names:
        people = people * kept[name]
    return add_up(part.group, people, n)


# What a counting query gives when a release is all there is.


class Staying(NamedTuple):
    """How many people have some values of those who are counted in a release and have not left."""

    estimate: float
    """If those who left are like the others of their group."""

    rows: int
    """How many of all people have not left."""

    least: int
    """Fewer cannot be, whoever has left."""

    most: int


@dataclass(frozen=True)
class Estimate(Showable):
    """An estimated count, and what it can be at all.

    Example:
        >>> print(Estimate(12.4, rows=400, least=8, most=20, where={"ill": "flu"}))
        about 12.4 of 400 rows have ill=flu; at least 8 and at most 20
    """

    estimate: float
    """The number of rows that keep all conditions, as far as the release tells."""

    rows: int
    """The number of rows the release has."""

    least: int
    """Fewer rows cannot keep them, whatever table is behind the release."""

    most: int
    """More rows cannot."""

    where: Mapping[str, str]
    """What was asked for, as it is written on the command line."""

    people: float | None = None
    """The estimated number of people in the population, by the weight; None without one."""

    population: float | None = None
    """The number of people that all rows of the release stand for; None without a weight."""

    staying: "Staying | None" = None
    """The same of those who have not left, if the release says how many of each group have."""

    confidence: float | None = None
    """How surely the number lies within the bounds, where counts have noise; None if it must."""

    @property
    def exact(self) -> bool:
        """Whether the release leaves no doubt."""
        return self.least == self.most and self.confidence is None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values that JSON can hold."""
        return {
            **plain_of(self, "where estimate rows least most exact"),
            **({} if self.people is None else {"people": self.people}),
            **({} if self.population is None else {"population": self.population}),
            **({} if self.staying is None else {"staying": self.staying._asdict()}),
            **({} if self.confidence is None else {"confidence": self.confidence}),
        }

    def content(self) -> Content:
        """Return the estimate and its bounds in one sentence."""
        return Content(self.headline)

    @property
    def headline(self) -> str:
        """The estimate and its bounds."""
        asked = " and ".join(f"{name}={wanted}" for name, wanted in self.where.items())
        if self.exact:
            return f"{self.least} of {self.rows} rows have {asked}{self._further}"
        if self.confidence is not None:
            return (
                f"about {self.estimate:.4g} of about {self.rows} rows have {asked}; {self.least} "
                f"to {self.most} with {percent(self.confidence)} confidence, for counts have noise"
            )
        return (
            f"about {self.estimate:.4g} of {self.rows} rows have {asked}; at least {self.least} "
            f"and at most {self.most}{self._further}"
        )

    @property
    def _further(self) -> str:
        if self.staying is None:
            return self._weighted
        number, rows, least, most = self.staying
        return (
            f"{self._weighted}. Of the {rows} who have not left about {number:.4g}; at least "
            f"{least} and at most {most}"
        )

    @property
    def _weighted(self) -> str:
        if self.people is None or self.population is None:
            return ""
        of = f"{format_integer(round(self.people))} of {format_integer(round(self.population))}"
        return f"; weighted, an estimated {of} people of the population"
