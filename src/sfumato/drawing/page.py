"""A drawing put together: a heading, what is drawn, and what there is to say about it."""

from typing import NamedTuple

from sfumato.drawing.svg import FAINT, Markup, document, group, label, number
from sfumato.drawing.words import lines_of, one_line, shorten

_MARGIN = 24.0
_NARROWEST = 320.0
_HEADING = 16.0
_NOTE = 11.5


class Part(NamedTuple):
    """Something drawn, with its upper left corner at 0, 0, and the room it takes."""

    drawing: Markup
    width: float
    height: float


def page(*parts: Part, title: str, name: str, description: str) -> str:
    """Stack parts in the middle of a page.

    Args:
        parts: From top to bottom.
        title: The heading; shortened if it is wider than everything else.
        name: What the drawing is called if it has no heading.
        description: What there is to see, in words.

    >>> page(Part(Markup(""), 10, 10), title="", name="Nothing", description="")[:60]
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 368 58"'
    """
    width = max(_NARROWEST, *(part.width for part in parts))
    y = _MARGIN
    stacked = []
    if title:
        shown = shorten(title, width, _HEADING)
        stacked.append(label(shown, _MARGIN, y + 8, size=_HEADING, font_weight="600"))
        y += 34
    for part in parts:
        x = _MARGIN + (width - part.width) / 2
        stacked.append(group(part.drawing, transform=f"translate({number(x)} {number(y)})"))
        y += part.height
    return document(
        width + 2 * _MARGIN,
        y + _MARGIN,
        *stacked,
        title=one_line(title) or name,
        description=description,
    )


def note(text: str, width: float) -> Part:
    """Write a remark in small letters, on as many lines as it needs.

    >>> note("two lines", 50).height == 2 * note("two", 50).height - 8
    True
    """
    if not text:
        return Part(Markup(""), 0.0, 0.0)
    lines = lines_of(text, width, _NOTE)
    drawn = [label(line, 0, 16 + 16 * i, size=_NOTE, fill=FAINT) for i, line in enumerate(lines)]
    return Part(group(*drawn, class_="note"), width, 8 + 16.0 * len(lines))
