"""What is believed of each value before and after something is known, as bars."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sfumato.checks import require_number
from sfumato.drawing.svg import (
    FAINT,
    PAPER,
    Attribute,
    Box,
    Markup,
    Part,
    counted,
    element,
    group,
    label,
    note,
    number,
    one_line,
    page,
    percent,
    rectangle,
    shorten,
    width_of,
)
from sfumato.errors import ParameterError

# What the signs of a drawing mean, in lines below it.


SAMPLE = Box(0, 0, 34, 18)
"""The room for a sign."""

_SIZE = 11.5
_LINE = 26.0
_BETWEEN = 22.0


class Item(NamedTuple):
    """A sign, drawn in `SAMPLE`, and what it means."""

    sign: Markup
    meaning: str


def legend(items: Sequence[Item], limit: float) -> Part:
    """Set items in lines no wider than `limit`, unless one alone is wider.

    >>> key = legend([Item(Markup("<circle/>"), "a dot")] * 3, 200)
    >>> key.height == 18 + 2 * 26
    True
    """
    if not items:
        return Part(Markup(""), 0.0, 0.0)
    x, y, widest = 0.0, 18.0, 0.0
    parts = []
    for item in items:
        wide = SAMPLE.width + 8 + width_of(item.meaning, _SIZE)
        if x and x + wide > limit:
            x, y = 0.0, y + _LINE
        parts.append(
            group(
                item.sign,
                label(item.meaning, SAMPLE.width + 8, SAMPLE.height / 2, size=_SIZE),
                transform=f"translate({number(x)} {number(y + (_LINE - SAMPLE.height) / 2)})",
            )
        )
        widest = max(widest, x + wide)
        x += wide + _BETWEEN
    return Part(group(*parts, class_="legend", fill=FAINT), widest, y + _LINE)


MOST = 25

_BARS_SIZE = 12.0
_SMALL = 11.0
_ROW = 42.0
_BAR = 14.0
_LENGTH = 320.0
_WIDEST_NAME = 200.0
_BEFORE = {"fill": "#ffffff", "stroke": "#5f6368"}
_AFTER = {"fill": "#2c5f8a", "stroke": "#2c5f8a"}


def bars_svg(
    labels: Sequence[str], prior: Sequence[float], posterior: Sequence[float], *, title: str
) -> str:
    """Draw two bars for each value: hollow for what was believed, solid for what is now.

    Values are in the order given. Of more than 25 those with the longest bars are drawn,
    and a note says how many are left out.

    Args:
        labels: The values.
        prior: How likely each is before, from 0 to 1.
        posterior: How likely each is after.
        title: A heading.

    Example:
        >>> drawing = bars_svg(["flu", "gout"], [0.5, 0.5], [0.9, 0.1], title="Illness, aged 30")
        >>> "90 %" in drawing, "flu: 50 % before, 90 % after" in drawing
        (True, True)
    """
    _check(labels, prior, posterior)
    longest = sorted(range(len(labels)), key=lambda i: (-max(prior[i], posterior[i]), i))
    shown, hidden = sorted(longest[:MOST]), longest[MOST:]
    bars = _bars([labels[i] for i in shown], [(prior[i], posterior[i]) for i in shown])
    most = max((max(prior[i], posterior[i]) for i in hidden), default=0.0)
    remark = f"Not drawn: {counted(len(hidden), 'value')} of at most {percent(most)}."
    told = [_told(labels[i], prior[i], posterior[i]) for i in shown]
    return page(
        bars,
        legend([Item(_sign(_BEFORE), "before"), Item(_sign(_AFTER), "after")], bars.width),
        note(remark if hidden else "", bars.width),
        title=title,
        name="Probabilities before and after",
        description=" ".join([*(f"{text}." for text in told), *([remark] if hidden else [])]),
    )


def _check(labels: Sequence[str], prior: Sequence[float], posterior: Sequence[float]) -> None:
    for name, shares in (("prior", prior), ("posterior", posterior)):
        if len(shares) != len(labels):
            expected = f"{len(labels)} numbers, one per label"
            raise ParameterError(name, len(shares), expected)
        for i, share in enumerate(shares):
            require_number(f"{name}[{i}]", share, at_least=0, at_most=1)


def _bars(labels: Sequence[str], shares: Sequence[tuple[float, float]]) -> Part:
    names = [shorten(text, _WIDEST_NAME, _BARS_SIZE) for text in labels]
    left = max((width_of(name, _BARS_SIZE) for name in names), default=0.0) + 12
    drawn = [_scale(left, _ROW * len(names))]
    for i, (before, after) in enumerate(shares):
        y = i * _ROW
        drawn.append(
            group(
                label(names[i], left - 12, y + _ROW / 2, size=_BARS_SIZE, text_anchor="end"),
                _bar(before, left, y + _ROW / 2 - _BAR - 1, _BEFORE),
                _bar(after, left, y + _ROW / 2 + 1, _AFTER),
                tooltip=_told(labels[i], before, after),
                class_="bars",
            )
        )
    # The scale ends at 100 %, and beside the longest bar is room for its number.
    return Part(group(*drawn), left + _LENGTH + 48, _ROW * len(names) + 20)


def _bar(share: float, x: float, y: float, look: dict[str, str]) -> Markup:
    length = share * _LENGTH
    return group(
        rectangle(Box(x, y, length, _BAR), **look),
        label(percent(share), x + length + 6, y + _BAR / 2, size=_SMALL),
    )


def _scale(left: float, height: float) -> Markup:
    lines = []
    for quarter in range(5):
        x = left + quarter * _LENGTH / 4
        lines.append(rectangle(Box(x - 0.5, 0, 1, height), fill="#d9dde1"))
        lines.append(
            label(
                percent(quarter / 4), x, height + 10, size=_SMALL, text_anchor="middle", fill=FAINT
            )
        )
    return group(*lines)


def _sign(look: dict[str, str]) -> Markup:
    return rectangle(Box(SAMPLE.x + 6, SAMPLE.y + 3, SAMPLE.width - 12, 12), **look)


def _told(text: str, before: float, after: float) -> str:
    return f"{one_line(text)}: {percent(before)} before, {percent(after)} after"


# How many people there are of each kind, as bars with their numbers.


HISTOGRAM_MOST = 30

_HISTOGRAM_SIZE = 12.0
_HISTOGRAM_ROW = 26.0
_HISTOGRAM_BAR = 16.0
_HISTOGRAM_LENGTH = 300.0
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
    drawn = _histogram_bars(
        labels[:HISTOGRAM_MOST],
        numbers[:HISTOGRAM_MOST],
        shares[:HISTOGRAM_MOST],
        told[:HISTOGRAM_MOST],
        axis,
    )
    left_out = len(labels) - HISTOGRAM_MOST
    remark = f"Not drawn: {counted(left_out, 'bar')}." if left_out > 0 else ""
    return page(
        drawn,
        note(remark, drawn.width),
        title=title,
        name="Numbers",
        description=" ".join([*(f"{text}." for text in told[:HISTOGRAM_MOST]), remark]).strip(),
    )


def _histogram_bars(
    labels: Sequence[str],
    numbers: Sequence[int],
    shares: Sequence[float],
    told: Sequence[str],
    axis: str,
) -> Part:
    names = [shorten(text, _WIDEST_NAME, _HISTOGRAM_SIZE) for text in labels]
    left = max((width_of(name, _HISTOGRAM_SIZE) for name in (*names, axis)), default=0.0) + 12
    top = 24.0 if axis else 0.0
    most = max(numbers, default=0) or 1
    drawn = [label(axis, left - 12, 10, size=11, text_anchor="end", fill=FAINT)] if axis else []
    for i, (name, rows) in enumerate(zip(names, numbers, strict=True)):
        y = top + i * _HISTOGRAM_ROW
        drawn.append(
            group(
                label(
                    name, left - 12, y + _HISTOGRAM_ROW / 2, size=_HISTOGRAM_SIZE, text_anchor="end"
                ),
                *_histogram_bar(rows, _HISTOGRAM_LENGTH * rows / most, shares[i], left, y),
                tooltip=told[i],
                class_="bar",
            )
        )
    # Beside the longest bar is room for its number.
    return Part(
        group(*drawn), left + _HISTOGRAM_LENGTH + 130, top + _HISTOGRAM_ROW * len(names) + 4
    )


def _histogram_bar(number: int, length: float, share: float, x: float, y: float) -> list[Markup]:
    # Thin spaces between thousands: a comma is a decimal sign to half of the readers.
    text = f"{number:,}".replace(",", "\u202f") + f" ({percent(share)})"
    middle = y + _HISTOGRAM_ROW / 2
    return [
        rectangle(Box(x, middle - _HISTOGRAM_BAR / 2, length, _HISTOGRAM_BAR), **_LOOK),
        label(text, x + length + 6, middle, size=11),
    ]


# The same shares in several tables, as bars side by side.


SHARES_MOST = 12

_SHARES_SIZE = 12.0
_SHARES_SMALL = 10.5
_SHARES_BAR = 12.0
_SHARES_BETWEEN = 12.0
_LOOKS: tuple[dict[str, Attribute], ...] = (
    {"fill": "#ffffff", "stroke": "#5f6368"},
    {"fill": "#2c5f8a", "stroke": "#2c5f8a"},
    {"fill": "#f6d9bd", "stroke": "#9a4a12", "stroke_dasharray": "4 2", "stroke_width": 1.4},
)
"""Hollow, solid, dashed: told apart without colour."""


def shares_svg(labels: Sequence[str], series: Mapping[str, Sequence[float]], *, title: str) -> str:
    """Draw for each value one bar per table, in the order given.

    Of more than a dozen values those with the longest bars are drawn, and a note says how
    many are left out.

    Args:
        labels: The values.
        series: By the name of the table, at most three of them, the share of each value.
        title: A heading.

    Example:
        >>> drawing = shares_svg(["flu", "gout"], {"all": [0.5, 0.5], "worst": [0.9, 0.1]},
        ...                      title="Illness")
        >>> "90 %" in drawing, "flu: all 50 %, worst 90 %." in drawing
        (True, True)
    """
    _shares_check(labels, series)
    every = list(zip(*series.values(), strict=True)) if series else [()] * len(labels)
    longest = sorted(range(len(labels)), key=lambda i: (-max(every[i], default=0.0), i))
    shown, hidden = sorted(longest[:SHARES_MOST]), longest[SHARES_MOST:]
    drawn = _rows([labels[i] for i in shown], [every[i] for i in shown], tuple(series))
    most = max((max(every[i]) for i in hidden), default=0.0)
    remark = f"Not drawn: {counted(len(hidden), 'value')} of at most {percent(most)}."
    signs = [Item(_shares_sign(look), name) for name, look in zip(series, _LOOKS, strict=False)]
    told = [f"{_shares_told(labels[i], every[i], tuple(series))}." for i in shown]
    return page(
        drawn,
        legend(signs, drawn.width),
        note(remark if hidden else "", drawn.width),
        title=title,
        name="Shares",
        description=" ".join([*told, *([remark] if hidden else [])]),
    )


def _shares_check(labels: Sequence[str], series: Mapping[str, Sequence[float]]) -> None:
    if len(series) > len(_LOOKS):
        raise ParameterError("series", len(series), f"at most {len(_LOOKS)} tables")
    for name, shares in series.items():
        if len(shares) != len(labels):
            raise ParameterError(name, len(shares), f"{len(labels)} numbers, one per label")
        for i, share in enumerate(shares):
            require_number(f"{name}[{i}]", share, at_least=0, at_most=1)


def _rows(
    labels: Sequence[str], every: Sequence[tuple[float, ...]], names: tuple[str, ...]
) -> Part:
    shown = [shorten(text, _WIDEST_NAME, _SHARES_SIZE) for text in labels]
    left = max((width_of(text, _SHARES_SIZE) for text in shown), default=0.0) + 12
    height = (_SHARES_BAR + 2) * len(names) + _SHARES_BETWEEN
    drawn = []
    for i, text in enumerate(shown):
        y = i * height
        bars = [
            _shares_bar(share, left, y + j * (_SHARES_BAR + 2), look)
            for j, (share, look) in enumerate(zip(every[i], _LOOKS, strict=False))
        ]
        name = label(
            text,
            left - 12,
            y + (height - _SHARES_BETWEEN) / 2,
            size=_SHARES_SIZE,
            text_anchor="end",
        )
        drawn.append(
            group(name, *bars, tooltip=_shares_told(labels[i], every[i], names), class_="bars")
        )
    # Beside the longest bar is room for its number.
    return Part(group(*drawn), left + _LENGTH + 48, height * len(labels) + 4)


def _shares_bar(share: float, x: float, y: float, look: Mapping[str, Attribute]) -> Markup:
    length = share * _LENGTH
    return group(
        rectangle(Box(x, y, length, _SHARES_BAR), **look),
        label(percent(share), x + length + 6, y + _SHARES_BAR / 2, size=_SHARES_SMALL, fill=FAINT),
    )


def _shares_sign(look: Mapping[str, Attribute]) -> Markup:
    return rectangle(Box(SAMPLE.x + 6, SAMPLE.y + 3, SAMPLE.width - 12, 12), **look)


def _shares_told(text: str, shares: Sequence[float], names: Sequence[str]) -> str:
    parts = [f"{one_line(n)} {percent(share)}" for n, share in zip(names, shares, strict=True)]
    return f"{one_line(text)}: {', '.join(parts)}"


# The scale of an axis: round numbers, few of them, and where each figure is.


_MOST_TICKS = 6
_NOTHING = 1e-9
"""What is smaller is drawn as nothing: a share of one in a thousand million."""

_ALIKE = 1e-6
"""Figures that differ by a smaller part of themselves are drawn as one."""


class Scale(NamedTuple):
    """From a figure to a place on an axis."""

    low: float
    high: float
    length: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        """Give how far along the axis a figure is."""
        return self.length * (value - self.low) / (self.high - self.low)


def scale_of(values: Sequence[float], length: float) -> Scale:
    """Choose where an axis begins and ends, and which round numbers are written at it.

    No figure is below 0. It begins there, unless that would push everything into the other half.

    >>> scale_of([0.1, 0.42], 100).ticks, scale_of([0.81, 0.84], 100).ticks
    ((0.0, 0.1, 0.2, 0.3, 0.4, 0.5), (0.81, 0.82, 0.83, 0.84))
    >>> scale_of([0.0], 100).at(0)
    0.0
    """
    most, least = max(values, default=1.0), min(values, default=0.0)
    low = 0.0 if least <= most / 2 or most - least <= _ALIKE * most else least
    high = most if most > _NOTHING else 1.0
    step = _step(high - low)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    # As many decimals as the step needs: 3 * 0.1 is to be 0.3.
    digits = max(0, 2 - math.floor(math.log10(step)))
    ticks = tuple(round(i * step, digits) for i in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], length, ticks)


def _step(span: float) -> float:
    """Give the smallest round step that makes few ticks."""
    power = 10.0 ** math.floor(math.log10(span))
    steps = [power * factor for factor in (0.1, 0.2, 0.25, 0.5, 1.0, 2.0)]
    return next((step for step in steps if span / step <= _MOST_TICKS - 1), power)


# Places in a plane, two figures each, and the front of those that no other one beats.


MOST_LABELS = 60

_WIDTH, _HEIGHT = 560.0, 340.0
_INSIDE = 22.0
"""Between the axes and the outermost places, so that marks and labels have room."""

_SCATTER_SIZE, _SCATTER_SMALL = 12.0, 11.0
_WIDEST_LABEL = 120.0
_FRONT: dict[str, Attribute] = {"fill": "#2c5f8a", "stroke": "#16344f", "stroke_width": 1.2}
_OTHER: dict[str, Attribute] = {"fill": PAPER, "stroke": "#5f6368", "stroke_width": 1.6}
_SCATTER_LINE: dict[str, Attribute] = {
    "fill": "none", "stroke": "#2c5f8a", "stroke_width": 1.4, "stroke_dasharray": "5 3",
}  # fmt: skip
_WAYS = ((1, -1), (-1, 1), (-1, -1), (1, 1), (0, -1), (0, 1))
"""Where a label may be; first where the line of the front never is, above it and below it."""


class Spot(NamedTuple):
    """Something with two figures: what it is called in the drawing, and what is told of it."""

    x: float
    y: float
    label: str
    told: str
    on_front: bool = False
    link: str | None = None
    """Where on the same page more is said about it; only for drawings that are part of one."""


class _Place(NamedTuple):
    """One place in the drawing, and all that are there."""

    x: float
    y: float
    spots: tuple[Spot, ...]

    @property
    def on_front(self) -> bool:
        return any(spot.on_front for spot in self.spots)

    @property
    def label(self) -> str:
        return shorten(", ".join(spot.label for spot in self.spots), _WIDEST_LABEL, _SCATTER_SIZE)

    @property
    def told(self) -> str:
        return "; ".join(one_line(spot.told) for spot in self.spots)


def scatter_svg(spots: Sequence[Spot], *, x_axis: str, y_axis: str, title: str) -> str:
    """Draw a mark for each spot: solid diamonds on the front, hollow circles elsewhere.

    The nearer to the lower left corner, the better. Those at the same place share a mark.

    Args:
        spots: What to draw; `y` is a share from 0 to 1 and written in percent.
        x_axis: What the figures across are.
        y_axis: What the figures upwards are.
        title: A heading.

    Example:
        >>> spots = [Spot(0.2, 0.5, "1", "k=2", on_front=True), Spot(0.4, 0.5, "2", "k=5")]
        >>> drawing = scatter_svg(spots, x_axis="loss", y_axis="risk", title="Risk and loss")
        >>> drawing.count('class="front"'), drawing.count('class="beaten"')
        (1, 1)
    """
    for i, spot in enumerate(spots):
        require_number(f"spots[{i}].x", spot.x, at_least=0)
        require_number(f"spots[{i}].y", spot.y, at_least=0, at_most=1)
    across = scale_of([spot.x for spot in spots], _WIDTH - 2 * _INSIDE)
    upwards = scale_of([spot.y for spot in spots], _HEIGHT - 2 * _INSIDE)
    places = _places(spots, across, upwards)
    drawn = _plot(places, across, upwards, x_axis, y_axis)
    signs = [
        Item(_mark(SAMPLE.width / 2, SAMPLE.height / 2, on_front=True), "no other one beats it"),
        Item(_mark(SAMPLE.width / 2, SAMPLE.height / 2, on_front=False), "beaten by another"),
    ]
    remark = "" if spots else "There is nothing to draw."
    text = page(
        drawn,
        legend(signs if spots else [], drawn.width),
        note(remark, drawn.width),
        title=title,
        name=f"{y_axis} and {x_axis}",
        description=" ".join(
            [f"{counted(len(spots), 'mark')}.", *(f"{place.told}." for place in places)]
        ),
    )
    # What is inside an image cannot be reached by keyboard, as links must be.
    return text.replace('role="img"', 'role="group"', 1) if _linked(spots) else text


def _linked(spots: Sequence[Spot]) -> bool:
    return any(spot.link is not None for spot in spots)


def _places(spots: Sequence[Spot], across: Scale, upwards: Scale) -> list[_Place]:
    """Put together what is at the same place, the front last so that it is drawn on top."""
    found: dict[tuple[int, int], list[Spot]] = {}
    for spot in spots:
        x = _INSIDE + across.at(spot.x)
        y = _HEIGHT - _INSIDE - upwards.at(spot.y)
        found.setdefault((round(x), round(y)), []).append(spot)
    places = [_Place(float(x), float(y), tuple(each)) for (x, y), each in found.items()]
    return sorted(places, key=lambda place: (place.on_front, place.x, place.y))


def _plot(
    places: Sequence[_Place], across: Scale, upwards: Scale, x_axis: str, y_axis: str
) -> Part:
    shares = [f"{100 * tick:g} %" for tick in upwards.ticks]
    left = max(width_of(text, _SCATTER_SMALL) for text in shares) + 12
    top = 26.0
    inside = group(
        _grid(across, upwards, shares),
        _front_line([place for place in places if place.on_front]),
        *_marks(places),
        transform=f"translate({number(left)} {number(top)})",
    )
    axes = group(
        label(shorten(y_axis, _WIDTH, _SCATTER_SIZE), 0, 10, size=_SCATTER_SIZE, fill=FAINT),
        label(
            shorten(x_axis, _WIDTH, _SCATTER_SIZE), left + _WIDTH, top + _HEIGHT + 38,
            size=_SCATTER_SIZE, text_anchor="end", fill=FAINT,
        ),
    )  # fmt: skip
    return Part(group(inside, axes), left + _WIDTH + 24, top + _HEIGHT + 48)


def _grid(across: Scale, upwards: Scale, shares: Sequence[str]) -> Markup:
    lines = [_path(f"M0 0V{number(_HEIGHT)}H{number(_WIDTH)}", fill="none", stroke="#5f6368")]
    for tick, text in zip(upwards.ticks, shares, strict=True):
        y = _HEIGHT - _INSIDE - upwards.at(tick)
        lines.append(_path(f"M0 {number(y)}H{number(_WIDTH)}", fill="none", stroke="#e3e6e8"))
        lines.append(label(text, -6, y, size=_SCATTER_SMALL, text_anchor="end", fill=FAINT))
    for tick in across.ticks:
        x = _INSIDE + across.at(tick)
        lines.append(_path(f"M{number(x)} 0V{number(_HEIGHT)}", fill="none", stroke="#e3e6e8"))
        lines.append(
            label(
                f"{tick:g}", x, _HEIGHT + 14, size=_SCATTER_SMALL, text_anchor="middle", fill=FAINT
            )
        )
    return group(*lines)


def _front_line(front: Sequence[_Place]) -> Markup:
    """Draw the border of what can be had: steps, for between two places there is nothing."""
    if len(front) < 2:
        return Markup("")
    ordered = sorted(front, key=lambda place: (place.x, -place.y))
    steps = "".join(f"H{number(place.x)}V{number(place.y)}" for place in ordered[1:])
    return _path(f"M{number(ordered[0].x)} {number(ordered[0].y)}{steps}", **_SCATTER_LINE)


def _marks(places: Sequence[_Place]) -> list[Markup]:
    """Draw the marks, and write beside each what it is called, where there is room."""
    taken = [Box(place.x - 7, place.y - 7, 14, 14) for place in places]
    # The front gets the best places for its labels; it is drawn last, so that it is on top.
    few = len(places) <= MOST_LABELS
    labelled = [place for place in reversed(places) if few or place.on_front]
    corners = {id(place): _room(place, places, taken) for place in labelled}
    return [_marked(place, corners.get(id(place))) for place in places]


def _room(place: _Place, places: Sequence[_Place], taken: list[Box]) -> Box:
    """Find room for a label beside its mark and not beside another, if there is any; take it."""
    width, height = width_of(place.label, _SCATTER_SIZE), _SCATTER_SIZE + 2
    boxes = [
        Box(
            place.x + right * (8 + width / 2) - width / 2,
            place.y + down * (far + height / 2) - height / 2,
            width,
            height,
        )
        for far in (1, 8, 16, 26)
        for right, down in _WAYS
    ]
    inside = [
        box
        for box in boxes
        if box.x >= 0 and box.y >= 0 and box.x + width <= _WIDTH and box.y + height <= _HEIGHT
    ]
    free = [box for box in inside if not any(box.overlaps(other) for other in taken)]
    found = [*(box for box in free if _nearest(box, places) is place), *free, *inside, *boxes][0]
    taken.append(found)
    return found


def _nearest(box: Box, places: Sequence[_Place]) -> _Place:
    """Find the mark that a label seems to belong to."""
    x, y = box.x + box.width / 2, box.y + box.height / 2
    return min(places, key=lambda place: (place.x - x) ** 2 + (place.y - y) ** 2)


def _marked(place: _Place, room: Box | None) -> Markup:
    drawn = [_mark(place.x, place.y, on_front=place.on_front)]
    if room is not None:
        weight = "600" if place.on_front else None
        y = room.y + room.height / 2
        drawn.append(label(place.label, room.x, y, size=_SCATTER_SIZE, font_weight=weight))
    kind = "front" if place.on_front else "beaten"
    link = place.spots[0].link
    if link is None:
        return group(*drawn, tooltip=place.told, class_=kind)
    told = element("title", place.told)
    return element("a", told, *drawn, href=f"#{link}", class_=kind, aria_label=place.told)


def _mark(x: float, y: float, *, on_front: bool) -> Markup:
    if on_front:
        return _path(f"M{number(x)} {number(y - 7)}l7 7l-7 7l-7 -7z", **_FRONT)
    return _path(f"M{number(x - 5)} {number(y)}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z", **_OTHER)


def _path(d: str, **attributes: Attribute) -> Markup:
    return element("path", d=d, **attributes)
