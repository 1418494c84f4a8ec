"""A Bayesian network as a drawing."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, require_number
from sfumato.networks.network import Network
from sfumato.showing.content import Markup
from sfumato.showing.layout import DrawnPoint, Layout, Route, lay_out
from sfumato.showing.svg import (
    PAPER,
    SAMPLE,
    Box,
    DrawnPart,
    Item,
    count_of,
    element,
    group,
    label,
    legend,
    number,
    one_line,
    page,
    rectangle,
    shorten_apart,
    width_of,
)
from sfumato.text import join_words, percent

# The boxes of a network: one shape for each kind of column.


SIZE = 13.0
QUASI_IDENTIFIER = "quasi-identifier"
SENSITIVE = "sensitive"
OTHER = "other"

_WIDEST = 136.0
_COLOURS = {
    QUASI_IDENTIFIER: ("#e8ebee", "#3d4752"),
    SENSITIVE: ("#efe8f7", "#5b3a8c"),
}
"""Violet is sensitive and nothing else; blue, amber and red have other meanings in a report."""

_GREY = ("#ffffff", "#6b7076")


def names_shown(columns: Sequence[str]) -> list[str]:
    """Shorten columns' names to what their boxes have room for; no two look alike.

    >>> names_shown(["Age", " "])
    ['Age', '(no name)']
    """
    return [shown or "(no name)" for shown in shorten_apart(columns, _WIDEST, SIZE)]


def box_width(shown: str) -> float:
    """Return the width of the box of a name.

    >>> box_width("x")
    64.0
    """
    return max(width_of(shown, SIZE) + 28, 64.0)


def node(box: Box, column: str, shown: str, kind: str) -> Markup:
    """Draw a column: its name in the shape of its kind, the whole name as a tooltip."""
    middle = label(
        shown,
        box.x + box.width / 2,
        box.y + box.height / 2,
        size=SIZE,
        text_anchor="middle",
    )
    text = f"{column} ({kind})" if kind else column
    return group(frame(box, kind), middle, tooltip=text, class_="node")


def frame(box: Box, kind: str) -> Markup:
    """Draw the border: cut corners and two lines if sensitive, round ends if of no known kind."""
    fill, line = _COLOURS.get(kind, _GREY)
    if kind == SENSITIVE:
        inner = Box(box.x + 3, box.y + 3, box.width - 6, box.height - 6)
        cut = min(8.0, box.height / 4)
        return group(
            element("path", d=_octagon(box, cut), fill=fill, stroke=line, stroke_width=1.5),
            element("path", d=_octagon(inner, cut - 1.2), fill="none", stroke=line),
        )
    rounded = box.height / 2 if kind and kind != QUASI_IDENTIFIER else min(6.0, box.height / 4)
    return rectangle(box, rx=rounded, fill=fill, stroke=line, stroke_width=1.5)


def _octagon(box: Box, cut: float) -> str:
    x, y, w, h = box
    ring = [(x + cut, y), (x + w - cut, y), (x + w, y + cut), (x + w, y + h - cut)]
    ring += [(x + w - cut, y + h), (x + cut, y + h), (x, y + h - cut), (x, y + cut)]
    return "M" + "L".join(f"{number(a)} {number(b)}" for a, b in ring) + "Z"


# The arrows of a network: how strong, in which direction, and what is known of it.


_EDGES_GREY = "#767b81"
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
        return _EDGES_GREY if self.strength is None else _ACCENT

    @property
    def width(self) -> float:
        """The width of the line.

        >>> Look().width, Look(0.5).width, Look(1).width
        (1.1, 3.25, 4.5)
        """
        return 1.1 if self.strength is None else 2.0 + 2.5 * self.strength

    @property
    def head(self) -> float:
        """The length of the arrowhead."""
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
        _head(DrawnPoint(x, y + 7), (-1.0, 0.0), look),
        tooltip=tooltip,
        class_="edge",
    )


def sign(look: Look, box: Box) -> Markup:
    """Draw a short arrow in a box, for a legend."""
    y = box.y + box.height / 2
    path = f"M{number(box.x)} {number(y)}H{number(box.x + box.width - look.head + 1)}"
    return group(_line(path, look), _head(DrawnPoint(box.x + box.width, y), (1.0, 0.0), look))


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


def _head(tip: DrawnPoint, to: tuple[float, float], look: Look) -> Markup:
    (dx, dy), long, half = to, look.head, 3 + look.width
    back = DrawnPoint(tip.x - dx * long, tip.y - dy * long)
    corners = [tip, DrawnPoint(back.x - dy * half, back.y + dx * half)]
    corners.append(DrawnPoint(back.x + dy * half, back.y - dx * half))
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
    return _around(DrawnPoint(box.x + box.width + 44, box.y + box.height / 2), strength)


def free_place(route: Route, strength: float, taken: Sequence[Box]) -> Box:
    """Find a place for a percentage on the way of an edge, away from those already written."""
    places = [_around(point, strength) for point in _candidates(route)]
    return min(places, key=lambda place: sum(place.overlaps(other) for other in taken))


def _candidates(route: Route) -> Iterable[DrawnPoint]:
    for t in (0.5, 0.4, 0.6, 0.32, 0.68):
        for segment in sorted(route.curves, key=lambda s: abs(s - len(route.points) / 2)):
            yield route.at(segment, t)


def _around(point: DrawnPoint, strength: float) -> Box:
    width, height = width_of(percent(strength), _SIZE) + 4, 15.0
    return Box(point.x - width / 2, point.y - height / 2, width, height)


Names: TypeAlias = tuple[str, str]
"""An edge: its parent and its child."""

_NARROWEST = 420.0
"""A legend may be this wide even if the network is narrower."""


def network_svg(
    network: Network,
    *,
    marked: Mapping[tuple[str, str], float] = {},
    groups: Mapping[str, str] = {},
    title: str = "",
) -> str:
    """Draw a network: parents above children, and what is worth looking at in bold.

    Everything can be told apart without colour: quasi-identifiers are boxes with rounded
    corners, sensitive columns have cut corners and a double border, other columns have
    round ends; marked edges are thick and have a percentage, edges of chosen direction are
    dashed, edges that close a cycle have a hollow head. The same is said in words for
    those who cannot see it.

    Args:
        network: What to draw; it may have cycles.
        marked: How strong a rule runs along an edge (parent, child), from 0 to 1.
        groups: The kind of each column, by name: "quasi-identifier", "sensitive" or any
            other word. Columns that are not in the network are ignored.
        title: A heading.

    Example:
        >>> net = Network.of(["Age", "Zipcode"], [("Age", "Zipcode")])
        >>> drawing = network_svg(net, marked={("Age", "Zipcode"): 0.9}, title="Who tells what")
        >>> drawing.startswith("<svg"), "90 %" in drawing
        (True, True)
    """
    _check(network, marked)
    at = {column: i for i, column in enumerate(network.columns)}
    shown = names_shown(network.columns)
    layout = lay_out(
        [box_width(name) for name in shown],
        [(at[parent], at[child]) for parent, child in network.edges],
    )
    kinds = {c: groups.get(c, OTHER) if groups else "" for c in network.columns}
    looks = _looks(network, marked, layout)
    drawn = group(
        *_arrows(network, looks, layout),
        *(node(layout.boxes[at[c]], c, shown[at[c]], kinds[c]) for c in network.columns),
        *_percentages(network, marked, layout),
    )
    return page(
        DrawnPart(drawn, layout.width, layout.height),
        legend(_meanings(kinds, list(looks.values())), max(layout.width, _NARROWEST)),
        title=title,
        name="Bayesian network",
        description=_in_words(kinds, looks),
    )


def _check(network: Network, marked: Mapping[Names, float]) -> None:
    for edge, strength in marked.items():
        if edge not in network.edges:
            raise ParameterError("marked", edge, "edges (parent, child) of the network")
        require_number(f"marked[{edge!r}]", strength, at_least=0, at_most=1)


def _looks(network: Network, marked: Mapping[Names, float], layout: Layout) -> dict[Names, Look]:
    return {
        edge: Look(
            marked.get(edge),
            chosen=edge in network.chosen,
            against=e not in layout.routes or layout.routes[e].against,
        )
        for e, edge in enumerate(network.edges)
    }


def _arrows(network: Network, looks: Mapping[Names, Look], layout: Layout) -> list[Markup]:
    """Draw the edges, the strongest last, so that nothing lies upon them."""

    def strength(e: int) -> float:
        found = looks[network.edges[e]].strength
        return -1.0 if found is None else found

    drawn = []
    for e in sorted(range(len(network.edges)), key=strength):
        edge = network.edges[e]
        text = _describe(edge, looks[edge])
        if e in layout.routes:
            drawn.append(arrow(layout.routes[e], looks[edge], tooltip=text))
        else:
            box = layout.boxes[network.columns.index(edge[0])]
            drawn.append(loop(box, looks[edge], tooltip=text))
    return drawn


def _percentages(network: Network, marked: Mapping[Names, float], layout: Layout) -> list[Markup]:
    taken: list[Box] = []
    drawn = []
    for e, edge in enumerate(network.edges):
        if edge not in marked:
            continue
        if e in layout.routes:
            place = free_place(layout.routes[e], marked[edge], taken)
        else:
            place = beside(layout.boxes[network.columns.index(edge[0])], marked[edge])
        taken.append(place)
        drawn.append(percentage(marked[edge], place))
    return drawn


def _meanings(kinds: Mapping[str, str], looks: Sequence[Look]) -> list[Item]:
    """Explain the signs that occur, and no others."""
    inner = Box(SAMPLE.x + 1, SAMPLE.y + 1, SAMPLE.width - 2, SAMPLE.height - 2)
    known = [k for k in (QUASI_IDENTIFIER, SENSITIVE) if k in kinds.values()]
    # All other kinds share one shape, so they share one line.
    others = sorted({k for k in kinds.values() if k and k not in known})
    items = [Item(frame(inner, kind), kind) for kind in known]
    if others:
        items.append(Item(frame(inner, others[0]), join_words(others, most=3)))
    signs = [
        (any(l.strength is None for l in looks), Look(), "depends on"),
        (
            any(l.strength is not None for l in looks),
            Look(0.6),
            "carries a rule; the thicker, the stronger",
        ),
        (any(l.chosen for l in looks), Look(chosen=True), "direction not determined by the data"),
        (any(l.against for l in looks), Look(against=True), "closes a cycle"),
    ]
    return items + [Item(sign(look, SAMPLE), text) for used, look, text in signs if used]


def _describe(edge: Names, look: Look) -> str:
    remarks = [
        f"rule of {percent(look.strength)}" if look.strength is not None else "",
        "direction not determined by the data" if look.chosen else "",
        "closes a cycle" if look.against else "",
    ]
    return ", ".join([" → ".join(map(one_line, edge)), *filter(None, remarks)])


def _in_words(kinds: Mapping[str, str], looks: Mapping[Names, Look]) -> str:
    """Return the drawing in words: which columns depend on which, and which edges stand out."""
    sentences = [f"{count_of(len(kinds), 'column')}, {count_of(len(looks), 'arrow')}."]
    for kind in dict.fromkeys(filter(None, kinds.values())):
        members = [one_line(c) for c, of in kinds.items() if of == kind]
        sentences.append(f"{kind.capitalize()}: {join_words(members, most=len(members))}.")
    for child in kinds:
        parents = [one_line(a) for a, b in looks if b == child]
        if parents:
            sentences.append(
                f"{one_line(child)} depends on {join_words(parents, most=len(parents))}."
            )
    remarkable = [_describe(edge, look) for edge, look in looks.items() if look != Look()]
    return " ".join([*sentences, *(f"{remark}." for remark in remarkable)])
