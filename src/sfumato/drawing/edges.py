"""The arrows of a network: how strong, in which direction, and what is known of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sfumato.drawing.layout import Point, Route
from sfumato.drawing.svg import PAPER, Box, Markup, element, group, label, number, rectangle
from sfumato.drawing.words import percent, width_of

_GREY = "#767b81"
_ACCENT = "#a3262a"
_SIZE = 11.0


@dataclass(frozen=True)
class Look:
    """How an arrow looks."""

    strength: float | None = None
    """How strong a rule it carries, from 0 to 1; None if it carries none."""

    chosen: bool = False
    """Dashed: the data does not tell its direction."""

    against: bool = False
    """A hollow head: it closes a cycle."""

    @property
    def colour(self) -> str:
        """Grey, or an accent if it carries a rule."""
        return _GREY if self.strength is None else _ACCENT

    @property
    def width(self) -> float:
        """How thick the line is.

        >>> Look().width, Look(0.5).width, Look(1).width
        (1.1, 3.25, 4.5)
        """
        return 1.1 if self.strength is None else 2.0 + 2.5 * self.strength

    @property
    def head(self) -> float:
        """How long the arrowhead is."""
        return 8.0 + self.width


def arrow(route: Route, look: Look, *, tooltip: str) -> Markup:
    """Draw an edge along its way."""
    end, up = route.points[-1], -1.0 if route.against else 1.0
    # A hollow head is drawn on paper, and its line would show if the shaft went under it.
    back = look.head if look.against else look.head - 2
    return group(
        _line(route.path(short=back), look),
        _head(end, (0.0, up), look),
        tooltip=tooltip,
        class_="edge",
    )


def loop(box: Box, look: Look, *, tooltip: str) -> Markup:
    """Draw an edge from a node to itself, on the right of its box."""
    x, y = box.x + box.width, box.y + box.height / 2
    far = number(x + 30)
    path = (
        f"M{number(x)} {number(y - 9)}C{far} {number(y - 18)} {far} {number(y + 9)} "
        f"{number(x + look.head - 2)} {number(y + 7)}"
    )
    return group(
        _line(path, look),
        _head(Point(x, y + 7), (-1.0, 0.0), look),
        tooltip=tooltip,
        class_="edge",
    )


def sign(look: Look, box: Box) -> Markup:
    """Draw a short arrow in a box, for a legend."""
    y = box.y + box.height / 2
    path = f"M{number(box.x)} {number(y)}H{number(box.x + box.width - look.head + 1)}"
    return group(_line(path, look), _head(Point(box.x + box.width, y), (1.0, 0.0), look))


def _line(path: str, look: Look) -> Markup:
    dashes = f"{number(4 + look.width)} {number(3 + look.width / 2)}" if look.chosen else None
    return element(
        "path",
        d=path,
        fill="none",
        stroke=look.colour,
        stroke_width=look.width,
        stroke_dasharray=dashes,
    )


def _head(tip: Point, to: tuple[float, float], look: Look) -> Markup:
    (dx, dy), long, half = to, look.head, 3 + look.width
    back = Point(tip.x - dx * long, tip.y - dy * long)
    corners = [tip, Point(back.x - dy * half, back.y + dx * half)]
    corners.append(Point(back.x + dy * half, back.y - dx * half))
    return element(
        "path",
        d="M" + "L".join(f"{number(p.x)} {number(p.y)}" for p in corners) + "Z",
        fill=PAPER if look.against else look.colour,
        stroke=look.colour if look.against else None,
        stroke_width=1.5 if look.against else None,
        stroke_linejoin="round" if look.against else None,
    )


def percentage(strength: float, box: Box) -> Markup:
    """Write how strong a rule is, on paper of its own so that lines do not cross it."""
    return group(
        rectangle(box, rx=3, fill=PAPER, fill_opacity=0.92),
        label(
            percent(strength),
            box.x + box.width / 2,
            box.y + box.height / 2,
            size=_SIZE,
            text_anchor="middle",
            font_weight="600",
            fill=_ACCENT,
        ),
        class_="percentage",
    )


def beside(box: Box, strength: float) -> Box:
    """Find the place for the percentage of an edge from a node to itself."""
    return _around(Point(box.x + box.width + 44, box.y + box.height / 2), strength)


def free_place(route: Route, strength: float, taken: Sequence[Box]) -> Box:
    """Find a place for a percentage on the way of an edge, away from those already written."""
    places = [_around(point, strength) for point in _candidates(route)]
    return min(places, key=lambda place: sum(place.overlaps(other) for other in taken))


def _candidates(route: Route) -> Iterable[Point]:
    for t in (0.5, 0.4, 0.6, 0.32, 0.68):
        for segment in sorted(route.curves, key=lambda s: abs(s - len(route.points) / 2)):
            yield route.at(segment, t)


def _around(point: Point, strength: float) -> Box:
    width, height = width_of(percent(strength), _SIZE) + 4, 15.0
    return Box(point.x - width / 2, point.y - height / 2, width, height)
