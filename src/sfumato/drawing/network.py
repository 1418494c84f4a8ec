"""A Bayesian network as a drawing."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from sfumato.bayes.network import Network
from sfumato.checks import require_number
from sfumato.drawing import edges, nodes
from sfumato.drawing.edges import Look
from sfumato.drawing.layout import Layout, laid_out
from sfumato.drawing.legend import SAMPLE, Item, legend
from sfumato.drawing.page import Part, page
from sfumato.drawing.svg import Box, Markup, group
from sfumato.drawing.words import counted, listed, one_line, percent
from sfumato.errors import ParameterError

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
    layout = laid_out(
        [nodes.box_width(nodes.name_shown(column)) for column in network.columns],
        [(at[parent], at[child]) for parent, child in network.edges],
    )
    kinds = {c: groups.get(c, nodes.OTHER) if groups else "" for c in network.columns}
    looks = _looks(network, marked, layout)
    drawn = group(
        *_arrows(network, looks, layout),
        *(nodes.node(layout.boxes[at[c]], c, kinds[c]) for c in network.columns),
        *_percentages(network, marked, layout),
    )
    return page(
        Part(drawn, layout.width, layout.height),
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
        told = _told(edge, looks[edge])
        if e in layout.routes:
            drawn.append(edges.arrow(layout.routes[e], looks[edge], tooltip=told))
        else:
            box = layout.boxes[network.columns.index(edge[0])]
            drawn.append(edges.loop(box, looks[edge], tooltip=told))
    return drawn


def _percentages(network: Network, marked: Mapping[Names, float], layout: Layout) -> list[Markup]:
    taken: list[Box] = []
    drawn = []
    for e, edge in enumerate(network.edges):
        if edge not in marked:
            continue
        if e in layout.routes:
            place = edges.free_place(layout.routes[e], marked[edge], taken)
        else:
            place = edges.beside(layout.boxes[network.columns.index(edge[0])], marked[edge])
        taken.append(place)
        drawn.append(edges.percentage(marked[edge], place))
    return drawn


def _meanings(kinds: Mapping[str, str], looks: Sequence[Look]) -> list[Item]:
    """Explain the signs that occur, and no others."""
    inner = Box(SAMPLE.x + 1, SAMPLE.y + 1, SAMPLE.width - 2, SAMPLE.height - 2)
    known = [k for k in (nodes.QUASI_IDENTIFIER, nodes.SENSITIVE) if k in kinds.values()]
    # All other kinds share one shape, so they share one line.
    others = sorted({k for k in kinds.values() if k and k not in known})
    items = [Item(nodes.frame(inner, kind), kind) for kind in known]
    if others:
        items.append(Item(nodes.frame(inner, others[0]), listed(others, most=3)))
    signs = [
        (any(l.strength is None for l in looks), Look(), "depends on"),
        (
            any(l.strength is not None for l in looks),
            Look(0.6),
            "carries a rule; the thicker, the stronger",
        ),
        (any(l.chosen for l in looks), Look(chosen=True), "direction not told by the data"),
        (any(l.against for l in looks), Look(against=True), "closes a cycle"),
    ]
    return items + [Item(edges.sign(look, SAMPLE), told) for used, look, told in signs if used]


def _told(edge: Names, look: Look) -> str:
    remarks = [
        f"rule of {percent(look.strength)}" if look.strength is not None else "",
        "direction not told by the data" if look.chosen else "",
        "closes a cycle" if look.against else "",
    ]
    return ", ".join([" → ".join(map(one_line, edge)), *filter(None, remarks)])


def _in_words(kinds: Mapping[str, str], looks: Mapping[Names, Look]) -> str:
    """Say what there is to see: who depends on whom, and which edges stand out."""
    sentences = [f"{counted(len(kinds), 'column')}, {counted(len(looks), 'arrow')}."]
    for kind in dict.fromkeys(filter(None, kinds.values())):
        members = [one_line(c) for c, of in kinds.items() if of == kind]
        sentences.append(f"{kind.capitalize()}: {listed(members, most=len(members))}.")
    for child in kinds:
        parents = [one_line(a) for a, b in looks if b == child]
        if parents:
            sentences.append(f"{one_line(child)} depends on {listed(parents, most=len(parents))}.")
    remarkable = [_told(edge, look) for edge, look in looks.items() if look != Look()]
    return " ".join([*sentences, *(f"{remark}." for remark in remarkable)])
