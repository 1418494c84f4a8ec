"""Places in a plane, two figures each, and the front of those that no other one beats."""

from collections.abc import Sequence
from typing import NamedTuple

from sfumato.checks import require_number
from sfumato.drawing.legend import SAMPLE, Item, legend
from sfumato.drawing.page import Part, note, page
from sfumato.drawing.svg import FAINT, PAPER, Attribute, Box, Markup, element, group, label, number
from sfumato.drawing.ticks import Scale, scale_of
from sfumato.drawing.words import counted, one_line, shorten, width_of

MOST_LABELS = 60

_WIDTH, _HEIGHT = 560.0, 340.0
_INSIDE = 22.0
"""Between the axes and the outermost places, so that marks and labels have room."""

_SIZE, _SMALL = 12.0, 11.0
_WIDEST_LABEL = 120.0
_FRONT: dict[str, Attribute] = {"fill": "#2c5f8a", "stroke": "#16344f", "stroke_width": 1.2}
_OTHER: dict[str, Attribute] = {"fill": PAPER, "stroke": "#5f6368", "stroke_width": 1.6}
_LINE: dict[str, Attribute] = {
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
        return shorten(", ".join(spot.label for spot in self.spots), _WIDEST_LABEL, _SIZE)

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
    return Part(group(inside, axes), left + _WIDTH + 24, top + _HEIGHT + 48)


def _grid(across: Scale, upwards: Scale, shares: Sequence[str]) -> Markup:
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
    return _path(f"M{number(ordered[0].x)} {number(ordered[0].y)}{steps}", **_LINE)


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


def _marked(place: _Place, room: Box | None) -> Markup:
    drawn = [_mark(place.x, place.y, on_front=place.on_front)]
    if room is not None:
        weight = "600" if place.on_front else None
        y = room.y + room.height / 2
        drawn.append(label(place.label, room.x, y, size=_SIZE, font_weight=weight))
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
