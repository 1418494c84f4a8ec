"""A lattice of generalisations as a drawing: a box per node, or a bar per height."""

import math
from collections.abc import Sequence

from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError
from sfumato.showing.content import Markup
from sfumato.showing.svg import (
    FAINT,
    INK,
    PAPER,
    SAMPLE,
    Attribute,
    Box,
    DrawnPart,
    Item,
    count_of,
    element,
    group,
    label,
    legend,
    note,
    number,
    one_line,
    page,
    rectangle,
    width_of,
)
from sfumato.text import join_words
from sfumato.typing import Node

MOST_BOXES = 150
"""The nodes up to which each is drawn as a box."""

_WIDEST_RANK = 14
"""The nodes of one height up to which boxes are drawn: more would be wider than a screen."""

_SIZE = 12.0
_SMALL = 10.5
_LINE = 15.0
_GAP_X = 16.0
_GAP_Y = 40.0

_BLUE, _DARK, _LIGHT = "#2c5f8a", "#16344f", "#e4eff8"
_EDGE, _FAINT_EDGE = "#5f6368", "#b4bac0"


@dataclass(frozen=True)
class DrawnNode:
    """A node, and everything that is drawn of it."""

    node: Node
    valid: bool
    suppressed: int
    loss: float | None = None
    minimal: bool = False
    chosen: bool = False
    skipped: bool = False
    """Whether a search never looks at it."""


def lattice_svg(columns: Sequence[str], nodes: Sequence[DrawnNode], *, title: str) -> str:
    """Return a drawing of a lattice, the most general node on top.

    Valid nodes have a solid border, others a dashed one; minimal ones have two borders, the chosen
    one is dark, and what was skipped is struck out. Nothing hangs on colours. More than 150 nodes,
    or more than 14 of one height, are drawn as one bar per height.

    Args:
        columns: The names, in the order of the levels of a node.
        nodes: All nodes.
        title: A heading.

    Example:
        >>> nodes = [DrawnNode((0,), False, 3), DrawnNode((1,), True, 0, 0.5, minimal=True)]
        >>> drawing = lattice_svg(["age"], nodes, title="Lattice")
        >>> "a1: valid, minimal, suppresses 0 rows, loss 0.5" in drawing
        True
    """
    if not nodes or any(len(each.node) != len(columns) for each in nodes):
        raise ParameterError("nodes", len(nodes), f"nodes with {len(columns)} levels each")
    letters = abbreviate(columns)
    ranks: dict[int, list[DrawnNode]] = {}
    for each in sorted(nodes, key=lambda each: (-sum(each.node), each.node)):
        ranks.setdefault(sum(each.node), []).append(each)
    boxes = len(nodes) <= MOST_BOXES and max(map(len, ranks.values())) <= _WIDEST_RANK
    drawn = _boxes(letters, list(ranks.values())) if boxes else _bars(ranks)
    signs = _box_signs(nodes) if boxes else _bar_signs()
    return page(
        drawn,
        legend(signs, max(drawn.width, 480.0)),
        note(_key(columns, letters) if boxes else _HEIGHTS, max(drawn.width, 480.0)),
        title=title,
        name="Lattice",
        description=_description(letters, columns, nodes),
    )


def abbreviate(columns: Sequence[str]) -> list[str]:
    """Return a short text for each column, all different: first letters, or numbers.

    >>> abbreviate(["zip", "marital", "sex"]), abbreviate(["age", "activity"])
    (['z', 'm', 's'], ['ag', 'ac'])
    >>> abbreviate(["", "b"])
    ['#1 ', '#2 ']
    """
    texts = ["".join(one_line(column).split()) for column in columns]
    for length in (1, 2, 3):
        short = [text[:length] for text in texts]
        # A digit would run into the level that stands behind it.
        if all(s and not s[-1].isdigit() for s in short) and len(set(short)) == len(short):
            return short
    return [f"#{i} " for i in range(1, len(columns) + 1)]


def _name(letters: Sequence[str], node: Node) -> str:
    return " ".join(f"{letter}{level}" for letter, level in zip(letters, node, strict=True))


def _key(columns: Sequence[str], letters: Sequence[str]) -> str:
    """Return what the letters stand for."""
    named = [
        f"{letter.strip()} is {one_line(column)}"
        for letter, column in zip(letters, columns, strict=True)
    ]
    return f"{join_words(named, most=30)}; the number is the level, 0 for values as they are."


def _say(letters: Sequence[str], each: DrawnNode) -> str:
    words = [
        "valid" if each.valid else "not valid",
        "minimal" if each.minimal else "",
        "chosen" if each.chosen else "",
        f"suppresses {count_of(each.suppressed, 'row')}",
        "" if each.loss is None else f"loss {each.loss:.4g}",
        "ruled out without a look" if each.skipped else "",
    ]
    return f"{_name(letters, each.node)}: {', '.join(filter(None, words))}"


_MOST_TOLD = 30
_HEIGHTS = "The height of a node is the sum of its levels: the higher, the more general."


def _description(letters: Sequence[str], columns: Sequence[str], nodes: Sequence[DrawnNode]) -> str:
    valid = sum(each.valid for each in nodes)
    told = [each for each in nodes if each.minimal or each.chosen]
    lines = [f"{valid} of {count_of(len(nodes), 'node')} are valid.", _key(columns, letters)]
    lines += [f"{_say(letters, each)}." for each in told[:_MOST_TOLD]]
    if len(told) > _MOST_TOLD:
        lines.append(f"And {len(told) - _MOST_TOLD} more minimal nodes.")
    return " ".join(lines)


# Few nodes: a box each, lines between neighbours.


def _boxes(letters: Sequence[str], ranks: Sequence[Sequence[DrawnNode]]) -> DrawnPart:
    every = [each for rank in ranks for each in rank]
    texts = {each.node: _lines(letters, each) for each in every}
    width = max(width_of(line, _SIZE) for lines in texts.values() for line in lines) + 20
    height = max(map(len, texts.values())) * _LINE + 14
    widest = max(map(len, ranks))
    whole = widest * (width + _GAP_X) - _GAP_X
    places: dict[Node, Box] = {}
    for row, rank in enumerate(ranks):
        left = (whole - len(rank) * (width + _GAP_X) + _GAP_X) / 2
        for i, each in enumerate(rank):
            places[each.node] = Box(
                left + i * (width + _GAP_X), row * (height + _GAP_Y), width, height
            )
    of = {each.node: each for each in every}
    edges = [
        _edge(places[each.node], places[above], solid=each.valid and of[above].valid)
        for each in every
        for above in _above(each.node)
        if above in places
    ]
    # Faint lines first: those between valid nodes are to be seen.
    edges.sort(key=lambda edge: edge[0])
    boxes = [_box(places[each.node], texts[each.node], each, letters) for each in every]
    drawing = group(*(line for _, line in edges), *boxes)
    return DrawnPart(drawing, whole, len(ranks) * (height + _GAP_Y) - _GAP_Y + 10)


def _lines(letters: Sequence[str], each: DrawnNode) -> list[str]:
    name = _name(letters, each.node)
    if len(letters) > 1 and width_of(name, _SIZE) > 150:
        name = " ".join(map(str, each.node))
    rows = "1 row out" if each.suppressed == 1 else f"{each.suppressed} rows out"
    loss = [] if each.loss is None else [f"loss {each.loss:.3g}"]
    return [name, rows, *loss]


def _above(node: Node) -> list[Node]:
    return [(*node[:i], level + 1, *node[i + 1 :]) for i, level in enumerate(node)]


def _edge(low: Box, high: Box, *, solid: bool) -> tuple[bool, Markup]:
    path = (
        f"M{number(low.x + low.width / 2)} {number(low.y)}"
        f"L{number(high.x + high.width / 2)} {number(high.y + high.height)}"
    )
    look: dict[str, Attribute] = (
        {"stroke": _EDGE, "stroke_width": 1.4} if solid else {"stroke": _FAINT_EDGE}
    )
    return solid, element("path", d=path, fill="none", **look)


def _box(box: Box, lines: Sequence[str], each: DrawnNode, letters: Sequence[str]) -> Markup:
    ink = PAPER if each.chosen else INK if each.valid else FAINT
    written = [
        label(
            line,
            box.x + box.width / 2,
            box.y + 15 + i * _LINE,
            size=_SIZE if i == 0 else _SMALL,
            text_anchor="middle",
            fill=ink,
            font_weight="600" if i == 0 else None,
        )
        for i, line in enumerate(lines)
    ]
    return group(
        _frame(box, each),
        *written,
        tooltip=_say(letters, each),
        class_="node",
        data_node=",".join(map(str, each.node)),
    )


def _frame(box: Box, each: DrawnNode) -> Markup:
    fill = _DARK if each.chosen else _LIGHT if each.valid else PAPER
    line = _DARK if each.chosen else _BLUE if each.valid else "#8a9097"
    drawn = [
        rectangle(
            box,
            rx=5,
            fill=fill,
            stroke=line,
            stroke_width=1.8 if each.valid else 1.1,
            stroke_dasharray=None if each.valid else "4 3",
        )
    ]
    if each.minimal:
        inner = Box(box.x + 3.5, box.y + 3.5, box.width - 7, box.height - 7)
        ring = PAPER if each.chosen else line
        drawn.append(rectangle(inner, rx=3, fill="none", stroke=ring, stroke_width=1.2))
    if each.skipped:
        start = f"M{number(box.x)} {number(box.y + box.height)}"
        end = f"L{number(box.x + box.width)} {number(box.y)}"
        drawn.append(element("path", d=start + end, fill="none", stroke="#8a9097"))
    return group(*drawn)


_KINDS: dict[str, dict[str, bool]] = {
    "valid": {"valid": True},
    "minimal: nothing below it is valid": {"valid": True, "minimal": True},
    "chosen": {"valid": True, "chosen": True},
    "chosen, and minimal": {"valid": True, "minimal": True, "chosen": True},
    "not valid": {"valid": False},
    "not valid, and ruled out by fewer columns": {"valid": False, "skipped": True},
}


def _box_signs(nodes: Sequence[DrawnNode]) -> list[Item]:
    box = Box(SAMPLE.x + 2, SAMPLE.y, SAMPLE.width - 4, SAMPLE.height)
    kinds = {text: DrawnNode((), suppressed=0, **kind) for text, kind in _KINDS.items()}
    drawn = {_kind(each) for each in nodes}
    return [Item(_frame(box, each), text) for text, each in kinds.items() if _kind(each) in drawn]


def _kind(each: DrawnNode) -> tuple[bool, ...]:
    return each.valid, each.minimal, each.chosen, each.skipped


# Many nodes: a bar for each height.


_BAR = 15.0
_LENGTH = 420.0


def _bars(ranks: dict[int, list[DrawnNode]]) -> DrawnPart:
    longest = max(map(len, ranks.values()))
    left = 12 + max(width_of(f"height {height}", _SIZE) for height in ranks)
    right = 0.0
    drawn = []
    for i, (height, rank) in enumerate(ranks.items()):
        y = i * (_BAR + 9)
        valid, minimal = sum(e.valid for e in rank), sum(e.minimal for e in rank)
        text = f"{valid} of {len(rank)} valid"
        text += f", {minimal} minimal" if minimal else ""
        chosen = any(e.chosen for e in rank)
        wide = _LENGTH * len(rank) / longest
        shown = f"{text}, the chosen one" if chosen else text
        right = max(right, left + wide + 10 + width_of(shown, _SMALL))
        part = Box(left, y, _LENGTH * valid / longest, _BAR)
        mark = _mark(left + wide - 10, y) if chosen else Markup("")
        drawn.append(
            group(
                label(f"height {height}", left - 12, y + _BAR / 2, size=_SIZE, text_anchor="end"),
                rectangle(Box(left, y, wide, _BAR), fill=PAPER, stroke="#8a9097"),
                rectangle(part, fill=_BLUE, stroke=_DARK) if valid else Markup(""),
                mark,
                label(shown, left + wide + 10, y + _BAR / 2, size=_SMALL),
                tooltip=f"height {height}: {shown}",
                class_="height",
            )
        )
    return DrawnPart(group(*drawn), right, len(ranks) * (_BAR + 9))


def _mark(x: float, y: float) -> Markup:
    box = Box(x - 4.5, y + _BAR / 2 - 4.5, 9, 9)
    return rectangle(box, rx=4.5, fill=PAPER, stroke=INK, stroke_width=2.2)


def _bar_signs() -> list[Item]:
    box = Box(SAMPLE.x + 4, SAMPLE.y + 2, SAMPLE.width - 8, 14)
    return [
        Item(rectangle(box, fill=PAPER, stroke="#8a9097"), "all nodes of a height"),
        Item(rectangle(box, fill=_BLUE, stroke=_DARK), "valid ones"),
        Item(_mark(SAMPLE.width / 2, SAMPLE.y + 1.5), "the chosen one is among them"),
    ]


# Some thousands of nodes: a cell each, on a map of heights.


MOST_CELLS = 6000
"""The nodes up to which each is a cell of a map."""

_SHADES = ("#c6dbef", "#8fbbdc", "#5a97c6", "#2c5f8a", "#16344f")
"""From what loses most to what loses least; cells grow with them too."""

_ALL_SHOWN = 250
"""The nodes up to which heights without a valid one are drawn too."""

_MOST_TIPS = 2500
"""Cells up to which each says what it is when the pointer rests on it; beyond, only valid ones."""


def lattice_map_svg(columns: Sequence[str], nodes: Sequence[DrawnNode], *, title: str) -> str:
    """Return a map of a lattice: a line per height, the most general on top, a cell per node.

    Valid nodes are squares, the larger and darker the less is lost; others are dots. Minimal ones
    have a diamond in them, the chosen one a star. On each height those that lose least come first.
    In larger lattices a height without any valid node is a line of text.

    Args:
        columns: The names, in the order of the levels of a node.
        nodes: All nodes.
        title: A heading.

    Example:
        >>> nodes = [DrawnNode((0,), False, 3), DrawnNode((1,), True, 0, 0.5, minimal=True)]
        >>> drawing = lattice_map_svg(["age"], nodes, title="Map")
        >>> 'data-node="1"' in drawing, "a1: valid, minimal, suppresses 0 rows" in drawing
        (True, True)
    """
    if not nodes or any(len(each.node) != len(columns) for each in nodes):
        raise ParameterError("nodes", len(nodes), f"nodes with {len(columns)} levels each")
    letters = abbreviate(columns)
    drawn = _cells(letters, nodes)
    return page(
        drawn,
        legend(_cell_signs(), max(drawn.width, 480.0)),
        note(_HEIGHTS, max(drawn.width, 480.0)),
        title=title,
        name="Lattice",
        description=_description(letters, columns, nodes),
    )


def _cells(letters: Sequence[str], nodes: Sequence[DrawnNode]) -> DrawnPart:
    size = 22.0 if len(nodes) <= 400 else 17.0 if len(nodes) <= 1500 else 13.0
    across = int(760 // size)
    losses = [each.loss for each in nodes if each.valid and each.loss is not None]
    least, most = min(losses, default=0.0), max(losses, default=1.0)
    ranks: dict[int, list[DrawnNode]] = {}
    for each in sorted(nodes, key=_order):
        ranks.setdefault(-sum(each.node), []).append(each)
    left = 14 + max(width_of(f"height {-height}", _SMALL) for height in ranks)
    tips = len(nodes) <= _MOST_TIPS
    y, widest = 0.0, 0
    drawn: list[Markup] = []
    for height, rank in sorted(ranks.items()):
        drawn.append(
            label(f"height {-height}", left - 12, y + size / 2, size=_SMALL, text_anchor="end")
        )
        if len(nodes) > _ALL_SHOWN and not any(each.valid for each in rank):
            # Nothing to choose there: a line of text, not a field of dots.
            text = f"{count_of(len(rank), 'node')}, none valid"
            drawn.append(label(text, left, y + size / 2, size=_SMALL, fill=FAINT))
            widest = max(widest, math.ceil(width_of(text, _SMALL) / size))
            y += size + 1
            continue
        for i, each in enumerate(rank):
            box = Box(left + (i % across) * size, y + (i // across) * size, size, size)
            share = _share(each, least, most)
            drawn.append(_cell(box, each, share, _say(letters, each) if tips or each.valid else ""))
        widest = max(widest, min(len(rank), across))
        y += size * (1 + (len(rank) - 1) // across) + 7
    return DrawnPart(group(*drawn), left + widest * size, y)


def _order(each: DrawnNode) -> tuple[bool, float, Node]:
    return not each.valid, each.loss or 0.0, each.node


def _share(each: DrawnNode, least: float, most: float) -> float:
    """Return how much is kept, from 0, what loses most here, to 1."""
    if each.loss is None or most <= least:
        return 1.0
    return 1 - (each.loss - least) / (most - least)


def _cell(box: Box, each: DrawnNode, share: float, tip: str) -> Markup:
    drawn = [rectangle(box, fill=PAPER, stroke="none", class_="place"), *_sign(box, each, share)]
    node = ",".join(map(str, each.node))
    return group(*drawn, tooltip=tip, class_="node", data_node=node)


def _sign(box: Box, each: DrawnNode, share: float) -> list[Markup]:
    x, y = box.x + box.width / 2, box.y + box.height / 2
    if not each.valid:
        return [element("circle", cx=x, cy=y, r=1.4, fill="#8a9097")]
    side = box.width * (0.5 + 0.42 * share)
    shade = _SHADES[min(int(share * len(_SHADES)), len(_SHADES) - 1)]
    square = Box(x - side / 2, y - side / 2, side, side)
    drawn = [rectangle(square, rx=2, fill=shade, stroke=_DARK, stroke_width=0.8)]
    if each.chosen:
        drawn.append(_star(x, y, side * 0.46))
    elif each.minimal:
        r = side * 0.32
        path = f"M{number(x)} {number(y - r)}l{number(r)} {number(r)}l{number(-r)} {number(r)}"
        path += f"l{number(-r)} {number(-r)}z"
        drawn.append(element("path", d=path, fill=PAPER, stroke=_DARK, stroke_width=0.8))
    return drawn


def _star(x: float, y: float, radius: float) -> Markup:
    points = [
        (
            x + (radius if i % 2 == 0 else radius * 0.42) * math.sin(i * math.pi / 5),
            y - (radius if i % 2 == 0 else radius * 0.42) * math.cos(i * math.pi / 5),
        )
        for i in range(10)
    ]
    path = "M" + "L".join(f"{number(a)} {number(b)}" for a, b in points) + "z"
    return element("path", d=path, fill="#ffd24a", stroke=_DARK, stroke_width=0.8)


def _cell_signs() -> list[Item]:
    box = Box(SAMPLE.x + 8, SAMPLE.y, 18, 18)
    kinds = {
        "valid, and loses little": (DrawnNode((), valid=True, suppressed=0), 1.0),
        "valid, and loses much": (DrawnNode((), valid=True, suppressed=0), 0.0),
        "minimal: nothing below it is valid": (
            DrawnNode((), valid=True, suppressed=0, minimal=True),
            0.8,
        ),
        "chosen: it loses least": (DrawnNode((), valid=True, suppressed=0, chosen=True), 1.0),
        "not valid": (DrawnNode((), valid=False, suppressed=0), 0.0),
    }
    return [Item(group(*_sign(box, each, share)), text) for text, (each, share) in kinds.items()]
