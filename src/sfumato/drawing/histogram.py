"""How many people there are of each kind, as bars with their numbers."""

from collections.abc import Sequence

from sfumato.drawing.page import Part, note, page
from sfumato.drawing.svg import FAINT, Box, Markup, group, label, rectangle
from sfumato.drawing.words import counted, one_line, percent, shorten, width_of
from sfumato.errors import ParameterError

MOST = 30

_SIZE = 12.0
_ROW = 26.0
_BAR = 16.0
_LENGTH = 300.0
_WIDEST_NAME = 200.0
_LOOK = {"fill": "#2c5f8a", "stroke": "#2c5f8a"}


def histogram_svg(
    labels: Sequence[str],
    numbers: Sequence[int],
    *,
    title: str,
    axis: str = "",
    noun: str = "person",
    nouns: str = "people",
) -> str:
    """Draw one bar per kind, in the order given, each with its number and its share.

    Args:
        labels: What each bar stands for.
        numbers: How many there are of it.
        title: A heading.
        axis: What the labels are, written above them.
        noun: What is counted, if there is one of it.
        nouns: What is counted, if there are more.

    Example:
        >>> drawing = histogram_svg(["2-4", "5-9"], [10, 30], title="People by size of class")
        >>> "30 (75 %)" in drawing, "2-4: 10 people, 25 %." in drawing
        (True, True)
    """
    if len(labels) != len(numbers):
        raise ParameterError("numbers", len(numbers), f"{len(labels)} numbers, one per label")
    total = sum(numbers)
    shares = [number / max(total, 1) for number in numbers]
    told = [
        f"{one_line(text)}: {number} {noun if number == 1 else nouns}, {percent(share)}"
        for text, number, share in zip(labels, numbers, shares, strict=True)
    ]
    drawn = _bars(labels[:MOST], numbers[:MOST], shares[:MOST], told[:MOST], axis)
    left_out = len(labels) - MOST
    remark = f"Not drawn: {counted(left_out, 'bar')}." if left_out > 0 else ""
    return page(
        drawn,
        note(remark, drawn.width),
        title=title,
        name="Numbers",
        description=" ".join([*(f"{text}." for text in told[:MOST]), remark]).strip(),
    )


def _bars(
    labels: Sequence[str],
    numbers: Sequence[int],
    shares: Sequence[float],
    told: Sequence[str],
    axis: str,
) -> Part:
    names = [shorten(text, _WIDEST_NAME, _SIZE) for text in labels]
    left = max((width_of(name, _SIZE) for name in (*names, axis)), default=0.0) + 12
    top = 24.0 if axis else 0.0
    most = max(numbers, default=0) or 1
    drawn = [label(axis, left - 12, 10, size=11, text_anchor="end", fill=FAINT)] if axis else []
    for i, (name, number) in enumerate(zip(names, numbers, strict=True)):
        y = top + i * _ROW
        drawn.append(
            group(
                label(name, left - 12, y + _ROW / 2, size=_SIZE, text_anchor="end"),
                *_bar(number, _LENGTH * number / most, shares[i], left, y),
                tooltip=told[i],
                class_="bar",
            )
        )
    # Beside the longest bar is room for its number.
    return Part(group(*drawn), left + _LENGTH + 130, top + _ROW * len(names) + 4)


def _bar(number: int, length: float, share: float, x: float, y: float) -> list[Markup]:
    # Thin spaces between thousands: a comma is a decimal sign to half of the readers.
    text = f"{number:,}".replace(",", "\u202f") + f" ({percent(share)})"
    middle = y + _ROW / 2
    return [
        rectangle(Box(x, middle - _BAR / 2, length, _BAR), **_LOOK),
        label(text, x + length + 6, middle, size=11),
    ]
