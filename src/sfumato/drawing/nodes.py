"""The boxes of a network: one shape for each kind of column."""

from sfumato.drawing.svg import Box, Markup, element, group, label, number, rectangle
from sfumato.drawing.words import shorten, width_of

SIZE = 13.0
QUASI_IDENTIFIER = "quasi-identifier"
SENSITIVE = "sensitive"
OTHER = "other"

_WIDEST = 136.0
_COLOURS = {
    QUASI_IDENTIFIER: ("#e4eff8", "#2c5f8a"),
    SENSITIVE: ("#fdeedd", "#9a4a12"),
}
_GREY = ("#f4f4f2", "#6b7076")


def name_shown(column: str) -> str:
    """Shorten a column's name to what its box has room for.

    >>> name_shown("Age"), name_shown(" ")
    ('Age', '(no name)')
    """
    return shorten(column, _WIDEST, SIZE) or "(no name)"


def box_width(shown: str) -> float:
    """Say how wide the box of a name is.

    >>> box_width("x")
    64.0
    """
    return max(width_of(shown, SIZE) + 28, 64.0)


def node(box: Box, column: str, kind: str) -> Markup:
    """Draw a column: its name in the shape of its kind, the whole name as a tooltip."""
    middle = label(
        name_shown(column),
        box.x + box.width / 2,
        box.y + box.height / 2,
        size=SIZE,
        text_anchor="middle",
    )
    told = f"{column} ({kind})" if kind else column
    return group(frame(box, kind), middle, tooltip=told, class_="node")


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
