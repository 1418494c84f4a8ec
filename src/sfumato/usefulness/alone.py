"""Reading labels with nothing but the release."""

import math
import re
from collections.abc import Container, Iterable, Mapping

from sfumato.counts import Column
from sfumato.errors import InputError
from sfumato.text import STAR, number_of, text_of
from sfumato.typing import Value
from sfumato.usefulness.line import Reader, Stretch, day_of, stretch_of
from sfumato.usefulness.said import NO, YES, Said, unknown
from sfumato.usefulness.wanted import Range, Values, Wanted


class Alone:
    """Reads labels as somebody does who has the release and nothing else.

    What is asked for is held against an interval pro rata: whole numbers and days are counted
    where all ends are whole (`20-29` are ten values), lengths are compared where not. An open
    end (`>=65`) reaches as far as anything that is published or asked for, `*` from the least to
    the most of that, and a mask of digits (`476**`) stands for all numbers that fit. `*`
    among words stands for the words that are published or asked for. A word stands for itself.

    Args:
        shown: The column as it was published.
        wanted: What is asked for.

    Example:
        >>> reading = Alone(Column("age", ("20-29", "30-39", "40-49")), Range(25, 39))
        >>> [reading.of(label).share for label in ("20-29", "30-39", "40-49")]
        [0.5, 1.0, 0.0]
    """

    def __init__(self, shown: Column, wanted: Wanted) -> None:
        if shown.known and {text_of(value) for value in shown.known} == {STAR}:
            raise InputError(
                f"column {shown.name!r} is published as '*' for everybody, which says nothing "
                f"about {str(wanted)!r}. Give the table it was made of (--original, original=...), "
                "or leave the column out."
            )
        axis = _Axis.of_column(shown, wanted)
        self._reading: _Axis | _Words
        if axis is not None:
            self._reading = axis
        elif isinstance(wanted, Values):
            self._reading = _Words(shown, wanted)
        else:
            raise _unordered(shown, wanted)

    def of(self, label: Value) -> Said:
        """Say what one label says."""
        return self._reading.of(label)


class _Axis:
    """Labels that are all numbers or days, or stretches of them."""

    def __init__(self, wanted: Wanted, reader: Reader, stretches: Mapping[str, Stretch]) -> None:
        self._stretches = stretches
        self._whole = _whole(stretches.values())
        self._named = wanted.texts if isinstance(wanted, Values) else frozenset()
        given = wanted.values if isinstance(wanted, Values) else (wanted.low, wanted.high)
        points = [None if value is None else reader(value) for value in given]
        known = [point for point in points if point is not None]
        self._asked = _Points(known) if isinstance(wanted, Values) else _Between(*points)
        ends = [end for each in stretches.values() for end in (each.low, each.high)]
        finite = [end for end in [*ends, *known] if math.isfinite(end)]
        self._least, self._most = min(finite), max(finite)

    @classmethod
    def of_column(cls, shown: Column, wanted: Wanted) -> "_Axis | None":
        """Find how all labels can be put on a line, if they can."""
        texts = [text_of(value) for value in shown.known if text_of(value) != STAR]
        for reader in (number_of, day_of):
            read = {text: _stretch(text, reader) for text in texts}
            stretches = {text: each for text, each in read.items() if each is not None}
            if stretches and len(stretches) == len(read) and _fits(wanted, reader, read):
                return cls(wanted, reader, stretches)
        return None

    def of(self, label: Value) -> Said:
        text = None if label is None else text_of(label)
        if text is None or text in self._named:
            return YES if text in self._named else NO
        everything = Stretch(-math.inf, math.inf, closed=True)
        stretch = everything if text == STAR else self._stretches[text]
        if self._whole and not stretch.closed:
            stretch = Stretch(stretch.low, stretch.high - 1, closed=True)
        share = self._asked.share(self._clipped(stretch), whole=self._whole)
        certain, possible = self._asked.bounds(stretch, whole=self._whole)
        return Said(share if possible else 0.0, certain=certain, possible=possible)

    def _clipped(self, stretch: Stretch) -> Stretch:
        """Let open ends reach as far as anything that is known, and no less than a point."""
        low, high = max(stretch.low, self._least), min(stretch.high, self._most)
        if low > high:
            low = high = low if math.isinf(stretch.high) else high
        return Stretch(low, high, stretch.closed)


class _Between:
    """A range, held against stretches."""

    def __init__(self, low: float | None, high: float | None) -> None:
        self._low = -math.inf if low is None else low
        self._high = math.inf if high is None else high

    def share(self, stretch: Stretch, *, whole: bool) -> float:
        low, high = max(self._low, stretch.low), min(self._high, stretch.high)
        if whole:
            return max(math.floor(high) - math.ceil(low) + 1, 0) / (stretch.high - stretch.low + 1)
        if stretch.low == stretch.high:
            return float(low <= high)
        return max(high - low, 0.0) / (stretch.high - stretch.low)

    def bounds(self, stretch: Stretch, *, whole: bool) -> tuple[bool, bool]:
        """Tell whether it holds all of a stretch, and whether any of it."""
        certain = self._low <= stretch.low and stretch.high <= self._high
        low, high = max(self._low, stretch.low), min(self._high, stretch.high)
        if whole and math.isfinite(low) and math.isfinite(high):
            return certain, math.ceil(low) <= math.floor(high)
        return certain, low < high or (low == high and stretch.holds(low))


class _Points:
    """Some values, held against stretches."""

    def __init__(self, points: Iterable[float]) -> None:
        self._points = sorted(set(points))

    def share(self, stretch: Stretch, *, whole: bool) -> float:
        inside = sum(map(stretch.holds, self._points))
        if stretch.low == stretch.high:
            return float(inside > 0)
        # A single point of a line has no length.
        return inside / (stretch.high - stretch.low + 1) if whole else 0.0

    def bounds(self, stretch: Stretch, *, whole: bool) -> tuple[bool, bool]:
        """Tell whether they are all of a stretch, and whether any is in it."""
        inside = sum(map(stretch.holds, self._points))
        width = stretch.high - stretch.low + 1 if whole else 1.0
        return bool(inside) and inside == width and (
            whole or stretch.low == stretch.high
        ), inside > 0


class _Words:
    """Labels that stand for themselves, and masks of them."""

    def __init__(self, shown: Column, wanted: Values) -> None:
        labels = [None if value is None else text_of(value) for value in shown.values]
        self._wanted = wanted.texts
        words = {label for label in labels if label is None or STAR not in label}
        self._domain = words | self._wanted
        for text in self._wanted:
            if text is not None and not any(self._fits(text, label) for label in labels):
                raise unknown(shown.name, text, [each for each in labels if each is not None])

    def of(self, label: Value) -> Said:
        text = None if label is None else text_of(label)
        if text in self._wanted:
            return YES
        if text is None or STAR not in text:
            return NO
        under = [word for word in self._domain if self._fits(word, text)]
        inside = [word for word in under if word in self._wanted]
        share = len(inside) / len(under) if under else 0.0
        # Other words than those published may be meant, so nothing is certain.
        return Said(share, certain=False, possible=bool(inside))

    @staticmethod
    def _fits(word: str | None, label: str | None) -> bool:
        if label in {word, STAR}:
            return True
        if word is None or label is None:
            return False
        return re.fullmatch(re.escape(label).replace(re.escape(STAR), "."), word) is not None


def _stretch(text: str, reader: Reader) -> Stretch | None:
    """Read a label as a stretch: a point, an interval, or a mask of digits."""
    point = reader(text)
    if point is not None:
        return Stretch(point, point, closed=True)
    if reader is number_of and re.fullmatch(r"\d+\*+", text):
        return Stretch(float(text.replace(STAR, "0")), float(text.replace(STAR, "9")), closed=True)
    return stretch_of(text, reader)


def _fits(wanted: Wanted, reader: Reader, labels: Container[str]) -> bool:
    """Tell whether what is asked for can be put on the line, or is named as it is published."""
    if isinstance(wanted, Range):
        ends = [end for end in (wanted.low, wanted.high) if end is not None]
        return all(reader(end) is not None for end in ends)
    return all(
        value is None or text_of(value) in labels or reader(value) is not None
        for value in wanted.values
    )


def _whole(stretches: Iterable[Stretch]) -> bool:
    """Tell whether labels name whole numbers: all ends are whole, and intervals hold both."""
    for low, high, closed in stretches:
        finite = [end for end in (low, high) if math.isfinite(end)]
        if not all(end.is_integer() for end in finite) or (not closed and len(finite) == 2):
            return False
    return True


def _unordered(shown: Column, wanted: Range) -> InputError:
    return InputError(
        f"column {shown.name!r} cannot be asked for the range {str(wanted)!r}: its labels are not "
        "all numbers or dates, or intervals of them. Ask for some of the labels, or give the "
        "table it was made of (--original, original=...) and its policy (-p, policy=...)."
    )
