"""What the signs of a drawing mean, in lines below it."""

from collections.abc import Sequence
from typing import NamedTuple

from sfumato.drawing.page import Part
from sfumato.drawing.svg import FAINT, Box, Markup, group, label, number
from sfumato.drawing.words import width_of

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
