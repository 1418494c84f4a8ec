"""Charts: bars of beliefs, shares and numbers, and scatter plots of risk against loss."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sfumato.errors import ParameterError, require_number
from sfumato.showing.content import Markup
from sfumato.showing.svg import (
    FAINT,
    PAPER,
    SAMPLE,
    Attribute,
    Box,
    DrawnPart,
    Item,
    count_of,
    document,
    element,
    group,
    label,
    legend,
    note,
    number,
    one_line,
    page,
    rectangle,
    shorten,
    shorten_apart,
    width_of,
)
from sfumato.text import format_integer, percent

MOST_BELIEFS, MOST_NUMBERS, MOST_SHARES = 25, 30, 12
"""How many rows of bars each chart draws."""

_SIZE, _SMALL = 12.0, 11.0
_WIDEST_NAME = 200.0
_LOOKS: dict[str, dict[str, Attribute]] = {
    "before": {"fill": "#ffffff", "stroke": "#5f6368"},
    "now": {"fill": "#2c5f8a", "stroke": "#2c5f8a"},
    "worst": {
        "fill": "#fde7e7", "stroke": "#8f1313", "stroke_dasharray": "4 2", "stroke_width": 1.4,
    },
}  # fmt: skip
"""Hollow, solid, dashed: they differ without colour. Each means the same in every drawing: the
original or a belief before, the release or a belief after, and where the risk is greatest."""

LOOKS = tuple(_LOOKS)


class _Bar(NamedTuple):
    """One bar: its share of the longest possible one, the text at its end, and its look."""

    share: float
    text: str
    look: Mapping[str, Attribute]


class _Row(NamedTuple):
    """The bars of one label, below each other, and what the row says in words."""

    label: str
    bars: Sequence[_Bar]
    tooltip: str


class _Measures(NamedTuple):
    """The room that bars take."""

    length: float = 320.0
    bar: float = 12.0
    between_rows: float = 12.0
    for_text: float = 48.0
    """The room beside the longest bar for its text."""


def _draw_rows(
    rows: Sequence[_Row], room: _Measures, *, axis: str = "", scale: bool = False
) -> DrawnPart:
    """Return rows of bars with their labels to the left.

    Args:
        rows: From top to bottom.
        room: The sizes.
        axis: What the labels are, written above them.
        scale: Draw lines at each quarter of the longest possible bar.
    """
    names = shorten_apart([row.label for row in rows], _WIDEST_NAME, _SIZE)
    left = max((width_of(name, _SIZE) for name in (*names, axis)), default=0.0) + 12
    top = 24.0 if axis else 0.0
    deep = max((len(row.bars) for row in rows), default=0) * (room.bar + 2) + room.between_rows
    height = top + deep * len(rows)
    drawn = [label(axis, left - 12, 10, size=_SMALL, text_anchor="end", fill=FAINT)] if axis else []
    if scale:
        drawn.append(_draw_scale(left, height, room.length))
    for i, row in enumerate(rows):
        y = top + i * deep
        bars = [
            group(
                rectangle(Box(left, y + j * (room.bar + 2), bar.share * room.length, room.bar),
                          **bar.look),
                label(bar.text, left + bar.share * room.length + 6,
                      y + j * (room.bar + 2) + room.bar / 2, size=_SMALL),
            )
            for j, bar in enumerate(row.bars)
        ]  # fmt: skip
        middle = y + (deep - room.between_rows) / 2
        name = label(names[i], left - 12, middle, size=_SIZE, text_anchor="end")
        drawn.append(group(name, *bars, tooltip=row.tooltip, class_="bars"))
    return DrawnPart(
        group(*drawn), left + room.length + room.for_text, height + (20 if scale else 4)
    )


def _draw_scale(left: float, height: float, length: float) -> Markup:
    lines = []
    for quarter in range(5):
        x, text = left + quarter * length / 4, percent(quarter / 4)
        lines.append(rectangle(Box(x - 0.5, 0, 1, height), fill="#d9dde1"))
        lines.append(label(text, x, height + 10, size=_SMALL, text_anchor="middle", fill=FAINT))
    return group(*lines)


def _longest(every: Sequence[Sequence[float]], most: int) -> tuple[list[int], str]:
    """Return the rows with the longest bars, in the order given, and a remark on the others."""
    longest = sorted(range(len(every)), key=lambda i: (-max(every[i], default=0.0), i))
    hidden = longest[most:]
    bound = max((max(every[i]) for i in hidden), default=0.0)
    remark = f"Not drawn: {count_of(len(hidden), 'value')} of at most {percent(bound)}."
    return sorted(longest[:most]), remark if hidden else ""


def _series_page(
    rows: Sequence[_Row],
    names: Mapping[str, str],
    remark: str,
    title: str,
    name: str,
    drawn: DrawnPart,
) -> str:
    """Return rows of bars on a page, with the look of each series by its name."""
    box = Box(SAMPLE.x + 6, SAMPLE.y + 3, SAMPLE.width - 12, 12)
    signs = [Item(rectangle(box, **_LOOKS[look]), each) for each, look in names.items()]
    return page(
        drawn,
        legend(signs, drawn.width),
        note(remark, drawn.width),
        title=title,
        name=name,
        description=" ".join([*(f"{row.tooltip}." for row in rows), remark]).strip(),
    )


def bars_svg(
    labels: Sequence[str], prior: Sequence[float], posterior: Sequence[float], *, title: str
) -> str:
    """Return two bars for each value: hollow for the belief before, solid for the one after.

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
    _check_series(labels, {"prior": prior, "posterior": posterior})
    pairs = list(zip(prior, posterior, strict=True))
    shown, remark = _longest(pairs, MOST_BELIEFS)
    rows = [
        _Row(
            labels[i],
            _bars_of(pairs[i]),
            f"{one_line(labels[i])}: {percent(prior[i])} before, {percent(posterior[i])} after",
        )
        for i in shown
    ]
    drawn = _draw_rows(rows, _Measures(bar=14.0), scale=True)
    name = "Probabilities before and after"
    looks = {"before": "before", "after": "now"}
    return _series_page(rows, looks, remark, title, name, drawn)


def shares_svg(
    labels: Sequence[str],
    series: Mapping[str, Sequence[float]],
    *,
    title: str,
    looks: Sequence[str] = LOOKS,
) -> str:
    """Return one bar per table for each value, in the order given.

    Of more than a dozen values those with the longest bars are drawn, and a note says how
    many are left out.

    Args:
        labels: The values.
        series: By the name of the table, at most three of them, the share of each value.
        title: A heading.
        looks: What each table is: `before` (hollow), `now` (solid) or `worst` (dashed).

    Example:
        >>> drawing = shares_svg(["flu", "gout"], {"all": [0.5, 0.5], "worst": [0.9, 0.1]},
        ...                      title="Illness")
        >>> "90 %" in drawing, "flu: all 50 %, worst 90 %." in drawing
        (True, True)
    """
    if len(series) > len(looks):
        raise ParameterError("series", len(series), f"at most {len(looks)} tables")
    _check_series(labels, series)
    every = list(zip(*series.values(), strict=True)) if series else [()] * len(labels)
    shown, remark = _longest(every, MOST_SHARES)
    rows = []
    for i in shown:
        parts = [f"{one_line(n)} {percent(s)}" for n, s in zip(series, every[i], strict=True)]
        text = f"{one_line(labels[i])}: {', '.join(parts)}"
        rows.append(_Row(labels[i], _bars_of(every[i], looks), text))
    named = dict(zip(series, looks, strict=False))
    return _series_page(rows, named, remark, title, "Shares", _draw_rows(rows, _Measures()))


def _bars_of(shares: Sequence[float], looks: Sequence[str] = LOOKS) -> list[_Bar]:
    return [_Bar(s, percent(s), _LOOKS[look]) for s, look in zip(shares, looks, strict=False)]


def _check_series(labels: Sequence[str], series: Mapping[str, Sequence[float]]) -> None:
    for name, shares in series.items():
        if len(shares) != len(labels):
            raise ParameterError(name, len(shares), f"{len(labels)} numbers, one per label")
        for i, share in enumerate(shares):
            require_number(f"{name}[{i}]", share, at_least=0, at_most=1)


def histogram_svg(
    labels: Sequence[str],
    numbers: Sequence[int],
    *,
    title: str,
    axis: str = "",
    noun: str = "person",
    nouns: str = "people",
) -> str:
    """Return one bar per label, in the order given, each with its number and its share.

    Args:
        labels: What each bar stands for.
        numbers: The number for each label.
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
    total, most = max(sum(numbers), 1), max(numbers, default=0) or 1
    rows = []
    for text, n in zip(labels[:MOST_NUMBERS], numbers, strict=False):
        share = percent(n / total)
        # Thin spaces between thousands: a comma is a decimal sign to half of the readers.
        bar = _Bar(n / most, format_integer(n) + f" ({share})", _LOOKS["now"])
        rows.append(
            _Row(text, [bar], f"{one_line(text)}: {n} {noun if n == 1 else nouns}, {share}")
        )
    hidden = len(labels) - MOST_NUMBERS
    remark = f"Not drawn: {count_of(hidden, 'bar')}." if hidden > 0 else ""
    room = _Measures(length=300.0, bar=16.0, between_rows=8.0, for_text=130.0)
    return _series_page(rows, {}, remark, title, "Numbers", _draw_rows(rows, room, axis=axis))


_SKETCH = Box(0, 0, 360, 56)


def sketch_svg(labels: Sequence[str], numbers: Sequence[int], *, title: str) -> str:
    """Return a distribution as a small drawing: upright bars, and the first and last label.

    Args:
        labels: What each bar stands for, in order.
        numbers: The number for each label.
        title: A heading, which is read and not drawn.

    Example:
        >>> drawing = sketch_svg(["20 to 39", "40 to 59"], [10, 30], title="age")
        >>> "40 to 59: 30" in drawing
        True
    """
    if len(labels) != len(numbers):
        raise ParameterError("numbers", len(numbers), f"{len(labels)} numbers, one per label")
    most, wide = max(numbers, default=0) or 1, _SKETCH.width / max(len(numbers), 1)
    bars = []
    for i, (text, n) in enumerate(zip(labels, numbers, strict=True)):
        high = _SKETCH.height * n / most
        box = Box(i * wide, _SKETCH.height - high, max(wide - 1, 0.5), high)
        bars.append(group(rectangle(box, fill="#2c5f8a"), tooltip=f"{one_line(text)}: {n}"))
    ends = [(labels[0], 0.0, "start"), (labels[-1], _SKETCH.width, "end")] if labels else []
    told = [
        label(shorten(text, 170, _SMALL), x, _SKETCH.height + 14, size=_SMALL, text_anchor=end)
        for text, x, end in ends
    ]
    spoken = "; ".join(f"{one_line(text)}: {n}" for text, n in zip(labels, numbers, strict=True))
    height = _SKETCH.height + 20
    return document(_SKETCH.width, height, *bars, *told, title=title, description=spoken)


_MOST_TICKS = 6
_NOTHING = 1e-9
"""What is smaller is drawn as nothing: a share of one in a thousand million."""

_ALIKE = 1e-6
"""Figures that differ by a smaller part of themselves are drawn as one."""


class AxisScale(NamedTuple):
    """From a figure to a place on an axis."""

    low: float
    high: float
    length: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        """Return how far along the axis a figure is."""
        return self.length * (value - self.low) / (self.high - self.low)


def scale_of(values: Sequence[float], length: float) -> AxisScale:
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
    return AxisScale(ticks[0], ticks[-1], length, ticks)


def _step(span: float) -> float:
    """Return the smallest round step that makes few ticks."""
    power = 10.0 ** math.floor(math.log10(span))
    steps = [power * factor for factor in (0.1, 0.2, 0.25, 0.5, 1.0, 2.0)]
    return next((step for step in steps if span / step <= _MOST_TICKS - 1), power)


MOST_LABELS = 60

_WIDTH, _HEIGHT = 560.0, 340.0
_INSIDE = 22.0
"""Between the axes and the outermost places, so that marks and labels have room."""

_WIDEST_LABEL = 120.0
_FRONT: dict[str, Attribute] = {"fill": "#2c5f8a", "stroke": "#16344f", "stroke_width": 1.2}
_OTHER: dict[str, Attribute] = {"fill": PAPER, "stroke": "#5f6368", "stroke_width": 1.6}
_FRONT_LINE: dict[str, Attribute] = {
    "fill": "none", "stroke": "#2c5f8a", "stroke_width": 1.4, "stroke_dasharray": "5 3",
}  # fmt: skip
_WAYS = ((1, -1), (-1, 1), (-1, -1), (1, 1), (0, -1), (0, 1))
"""Where a label may be; first where the line of the front never is, above it and below it."""


class Spot(NamedTuple):
    """Something with two figures: what it is called in the drawing, and its description."""

    x: float
    y: float
    label: str
    text: str
    on_front: bool = False
    link: str | None = None
    """Where on the same page more is said about it; only for drawings that are part of one."""

    marked: str = ""
    """Why it has a ring around it, as in "the present one"; nothing if it has none."""


class _Place(NamedTuple):
    """One place in the drawing, and all that are there."""

    x: float
    y: float
    spots: tuple[Spot, ...]

    @property
    def on_front(self) -> bool:
        return any(spot.on_front for spot in self.spots)

    @property
    def marked(self) -> str:
        return next((spot.marked for spot in self.spots if spot.marked), "")

    @property
    def label(self) -> str:
        return shorten(", ".join(spot.label for spot in self.spots), _WIDEST_LABEL, _SIZE)

    @property
    def text(self) -> str:
        return "; ".join(one_line(spot.text) for spot in self.spots)


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
        *(
            Item(_ring(SAMPLE.width / 2, SAMPLE.height / 2, 8), why)
            for why in dict.fromkeys(spot.marked for spot in spots if spot.marked)
        ),
    ]
    remark = "" if spots else "There is nothing to draw."
    text = page(
        drawn,
        legend(signs if spots else [], drawn.width),
        note(remark, drawn.width),
        title=title,
        name=f"{y_axis} and {x_axis}",
        description=" ".join(
            [f"{count_of(len(spots), 'mark')}.", *(f"{place.text}." for place in places)]
        ),
    )
    # What is inside an image cannot be reached by keyboard, as links must be.
    return Markup(text.replace('role="img"', 'role="group"', 1)) if _has_links(spots) else text


def _has_links(spots: Sequence[Spot]) -> bool:
    return any(spot.link is not None for spot in spots)


def _places(spots: Sequence[Spot], across: AxisScale, upwards: AxisScale) -> list[_Place]:
    """Group the spots at the same place, the front last so that it is drawn on top."""
    found: dict[tuple[int, int], list[Spot]] = {}
    for spot in spots:
        x = _INSIDE + across.at(spot.x)
        y = _HEIGHT - _INSIDE - upwards.at(spot.y)
        found.setdefault((round(x), round(y)), []).append(spot)
    places = [_Place(float(x), float(y), tuple(each)) for (x, y), each in found.items()]
    return sorted(places, key=lambda place: (place.on_front, place.x, place.y))


def _plot(
    places: Sequence[_Place], across: AxisScale, upwards: AxisScale, x_axis: str, y_axis: str
) -> DrawnPart:
    shares = [f"{100 * tick:g} %" for tick in upwards.ticks]
    left = max(width_of(text, _SMALL) for text in shares) + 12
    top = 26.0
    inside = group(
        _grid(across, upwards, shares),
        _front_line([place for place in places if place.on_front]),
        *_marks(places),
        transform=f"translate({number(left)} {number(top)})",
    )
    axes = group(
        label(shorten(y_axis, _WIDTH, _SIZE), 0, 10, size=_SIZE, fill=FAINT),
        label(
            shorten(x_axis, _WIDTH, _SIZE), left + _WIDTH, top + _HEIGHT + 38,
            size=_SIZE, text_anchor="end", fill=FAINT,
        ),
    )  # fmt: skip
    return DrawnPart(group(inside, axes), left + _WIDTH + 24, top + _HEIGHT + 48)


def _grid(across: AxisScale, upwards: AxisScale, shares: Sequence[str]) -> Markup:
    lines = [_path(f"M0 0V{number(_HEIGHT)}H{number(_WIDTH)}", fill="none", stroke="#5f6368")]
    for tick, text in zip(upwards.ticks, shares, strict=True):
        y = _HEIGHT - _INSIDE - upwards.at(tick)
        lines.append(_path(f"M0 {number(y)}H{number(_WIDTH)}", fill="none", stroke="#e3e6e8"))
        lines.append(label(text, -6, y, size=_SMALL, text_anchor="end", fill=FAINT))
    for tick in across.ticks:
        x = _INSIDE + across.at(tick)
        lines.append(_path(f"M{number(x)} 0V{number(_HEIGHT)}", fill="none", stroke="#e3e6e8"))
        lines.append(
            label(f"{tick:g}", x, _HEIGHT + 14, size=_SMALL, text_anchor="middle", fill=FAINT)
        )
    return group(*lines)


def _front_line(front: Sequence[_Place]) -> Markup:
    """Draw the border of what can be had: steps, for between two places there is nothing."""
    if len(front) < 2:
        return Markup("")
    ordered = sorted(front, key=lambda place: (place.x, -place.y))
    steps = "".join(f"H{number(place.x)}V{number(place.y)}" for place in ordered[1:])
    return _path(f"M{number(ordered[0].x)} {number(ordered[0].y)}{steps}", **_FRONT_LINE)


def _marks(places: Sequence[_Place]) -> list[Markup]:
    """Draw the marks, and write beside each what it is called, where there is room."""
    taken = [Box(place.x - 7, place.y - 7, 14, 14) for place in places]
    # The front gets the best places for its labels; it is drawn last, so that it is on top.
    few = len(places) <= MOST_LABELS
    labelled = [place for place in reversed(places) if few or place.on_front]
    corners = {id(place): _room(place, places, taken) for place in labelled}
    return [_draw_mark(place, corners.get(id(place))) for place in places]


def _room(place: _Place, places: Sequence[_Place], taken: list[Box]) -> Box:
    """Find room for a label beside its mark and not beside another, if there is any; take it."""
    width, height = width_of(place.label, _SIZE), _SIZE + 2
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


def _draw_mark(place: _Place, room: Box | None) -> Markup:
    drawn = [_mark(place.x, place.y, on_front=place.on_front)]
    if place.marked:
        drawn.append(_ring(place.x, place.y, 12))
    if room is not None:
        weight = "600" if place.on_front else None
        y = room.y + room.height / 2
        drawn.append(label(place.label, room.x, y, size=_SIZE, font_weight=weight))
    kind = "front" if place.on_front else "beaten"
    link = place.spots[0].link
    if link is None:
        return group(*drawn, tooltip=place.text, class_=kind)
    text = element("title", place.text)
    return element("a", text, *drawn, href=f"#{link}", class_=kind, aria_label=place.text)


def _mark(x: float, y: float, *, on_front: bool) -> Markup:
    if on_front:
        return _path(f"M{number(x)} {number(y - 7)}l7 7l-7 7l-7 -7z", **_FRONT)
    return _path(f"M{number(x - 5)} {number(y)}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z", **_OTHER)


def _ring(x: float, y: float, radius: float) -> Markup:
    """Draw a ring around what deserves to be seen first."""
    r, both = number(radius), number(2 * radius)
    d = f"M{number(x - radius)} {number(y)}a{r} {r} 0 1 0 {both} 0a{r} {r} 0 1 0 -{both} 0"
    return _path(d, fill="none", stroke="#9a4a12", stroke_width=2)


def _path(d: str, **attributes: Attribute) -> Markup:
    return element("path", d=d, **attributes)
