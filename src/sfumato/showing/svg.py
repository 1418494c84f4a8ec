"""A little writer of SVG: elements, escape text, rounded numbers.

Whatever is drawn stands for itself: no script, no style sheet, no identifiers that could
clash with another drawing on the same page, nothing fetched from elsewhere.
"""

import re
import unicodedata
from collections.abc import Sequence
from html import escape as _entities
from itertools import count
from typing import NamedTuple, TypeAlias

from sfumato.showing.content import Markup

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
INK = "#222222"
FAINT = "#5f6368"
PAPER = "#ffffff"

_IMPOSSIBLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML cannot hold in any spelling: most control characters and half pairs."""


Attribute: TypeAlias = str | float | None


class Box(NamedTuple):
    """A rectangle: its upper left corner and its size.

    >>> Box(0, 0, 10, 10).overlaps(Box(9, 9, 5, 5)), Box(0, 0, 10, 10).overlaps(Box(10, 0, 5, 5))
    (True, False)
    """

    x: float
    y: float
    width: float
    height: float

    def overlaps(self, other: "Box") -> bool:
        """Whether the two share more than a border."""
        return (
            self.x < other.x + other.width
            and other.x < self.x + self.width
            and self.y < other.y + other.height
            and other.y < self.y + self.height
        )


def escape(text: str) -> Markup:
    r"""Write any text so that XML reads it back.

    Characters that XML cannot hold become a replacement character.

    >>> escape('a < b & "c"'), escape("bell\x07")
    ('a &lt; b &amp; &quot;c&quot;', 'bell\ufffd')
    """
    # A reader would turn a bare carriage return into a newline; a reference it keeps.
    return Markup(_entities(_IMPOSSIBLE.sub("\ufffd", text)).replace("\r", "&#13;"))


def number(value: float) -> str:
    """Write a coordinate: at most two decimals, and no more than needed.

    >>> number(3.0), number(1 / 3), number(-0.001)
    ('3', '0.33', '0')
    """
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def element(name: str, /, *children: str, **attributes: Attribute) -> Markup:
    """Write one element. Underscores become hyphens; attributes that are None are left out.

    >>> element("text", "R&D", x=1.5, font_size=12, fill=None)
    '<text x="1.5" font-size="12">R&amp;D</text>'
    """
    head = name + "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_attribute(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = "".join(c if isinstance(c, Markup) else escape(c) for c in children)
    return Markup(f"<{head}>{inside}</{name}>" if inside else f"<{head}/>")


def _attribute(value: Attribute) -> str:
    if isinstance(value, str):
        # Readers turn line breaks and tabs in attributes into spaces, unless they are references.
        return escape(value).replace("\n", "&#10;").replace("\t", "&#9;")
    return number(value or 0)


def group(*children: str, tooltip: str = "", **attributes: Attribute) -> Markup:
    """Return elements as one, with a text that appears when the pointer rests on them."""
    texts = (element("title", tooltip),) if tooltip else ()
    return element("g", *texts, *children, **attributes)


def label(text: str, x: float, y: float, *, size: float = 12, **attributes: Attribute) -> Markup:
    """Write a line of text whose middle line, not its base line, is at `y`.

    >>> label("Age", 10, 20)
    '<text x="10" y="24.2" font-size="12">Age</text>'
    """
    return element("text", text, x=x, y=y + 0.35 * size, font_size=size, **attributes)


def rectangle(box: Box, **attributes: Attribute) -> Markup:
    """Draw a box."""
    place = {"x": box.x, "y": box.y, "width": box.width, "height": box.height}
    return element("rect", **place, **attributes)


def document(
    width: float, height: float, *children: str, title: str, description: str = ""
) -> Markup:
    """Write a whole drawing, with its name and its content in words for those who do not see it.

    >>> print(document(20, 10, title="Nothing", description="There is nothing to see."))
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 10" width="20" height="10" role="img"
    font-family="system-ui, -apple-system, &#x27;Segoe UI&#x27;, Roboto, &#x27;Helvetica
    Neue&#x27;, Arial, sans-serif" fill="#222222"><title>Nothing</title><desc>There is nothing
    to see.</desc><rect x="0" y="0" width="20" height="10" fill="#ffffff"/></svg>
    """
    texts = (element("desc", description),) if description else ()
    return element(
        "svg",
        element("title", title),
        *texts,
        # Drawn on paper of its own: dark text must not end up on a dark page.
        rectangle(Box(0, 0, width, height), fill=PAPER),
        *children,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=width,
        height=height,
        role="img",
        font_family=FONT,
        fill=INK,
    )


# Text: its width, shortening, shares and numbers.
#
# The font is unknown until the drawing is shown, so widths are those of a wide one (DejaVu
# Sans, Verdana): what fits there fits everywhere.


ELLIPSIS = "…"

_NARROW = frozenset("iIjl.,:;'|!()[]{}ftr/\\-\" `")
_BROAD = frozenset("mwMWOQ@%&—…<>=+~#")


def width_of(text: str, size: float = 12) -> float:
    """Estimate how wide a text is drawn; rather too wide than too narrow.

    >>> width_of("ill") < width_of("age") < width_of("MWM") < width_of("年齢層")
    True
    """
    return size * sum(map(_em, text))


def _em(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if character in _NARROW:
        return 0.42
    if character in _BROAD:
        return 0.98
    if character.isupper():
        return 0.74
    return 0.65 if character.isascii() else 0.8


def one_line(text: str) -> str:
    r"""Return a text on one line: line breaks, tabs and runs of spaces become one space.

    >>> one_line(" two\n lines\t")
    'two lines'
    """
    return " ".join(text.split())


def shorten(text: str, width: float, size: float = 12) -> str:
    """Cut the middle out of a text until it fits; its beginning and end tell most.

    >>> shorten("Age", 100), shorten("number_of_days_since_last_visit", 100)
    ('Age', 'number…_visit')
    """
    text = one_line(text)
    if width_of(text, size) <= width:
        return text
    for kept in range(len(text) - 1, 0, -1):
        tail = kept // 2
        short = text[: kept - tail].rstrip() + ELLIPSIS + text[len(text) - tail :].lstrip()
        if width_of(short, size) <= width:
            return short
    return ELLIPSIS


def shorten_apart(texts: Sequence[str], width: float, size: float = 12) -> list[str]:
    """Shorten texts so that those that differ still do: another cut, or a number behind them.

    >>> shorten_apart(["income before taxes", "income after taxes", "sex"], 90)
    ['income bef…', 'income aft…', 'sex']
    """
    shown = {text: shorten(text, width, size) for text in texts}
    alike: dict[str, list[str]] = {}
    for text, short in shown.items():
        alike.setdefault(short, []).append(text)
    for same in alike.values():
        if len(same) == 1:
            continue
        others = {short for text, short in shown.items() if text not in same}
        letters = enumerate(zip(*map(one_line, same), strict=False))
        differ = next((at for at, each in letters if len({*each}) > 1), 0)
        for start in (0, None, differ):
            tried = {text: _cut_from(text, start, width, size) for text in same}
            if len({*tried.values()} - others) == len(same):
                shown |= tried
                break
        else:
            room = width_of(f" ({len(same)})", size)
            place = count(1)
            for text in same:
                short = shorten(text, width - room, size)
                numbered = (f"{short} ({n})" for n in place)
                shown[text] = next(each for each in numbered if each not in others)
    return [shown[text] for text in texts]


def _cut_from(text: str, start: int | None, width: float, size: float) -> str:
    """Keep as much as fits of the word at a place and of what follows; None keeps the end."""
    text = one_line(text)
    if start is None:
        ends = (ELLIPSIS + text[at:].lstrip() for at in range(len(text)))
        return next((short for short in ends if width_of(short, size) <= width), ELLIPSIS)
    text = text[text.rfind(" ", 0, start + 1) + 1 :] if start else text
    before = ELLIPSIS if start else ""
    if width_of(before + text, size) <= width:
        return before + text
    cuts = (before + text[:kept].rstrip() + ELLIPSIS for kept in range(len(text), 0, -1))
    return next((short for short in cuts if width_of(short, size) <= width), ELLIPSIS)


def lines_of(text: str, width: float, size: float = 12) -> list[str]:
    """Break a text into lines that fit; a word that does not fit alone is shortened.

    >>> lines_of("a few words here", 60)
    ['a few', 'words', 'here']
    """
    lines: list[str] = []
    for word in (shorten(word, width, size) for word in text.split()):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_of(longer, size) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def count_of(n: int, noun: str) -> str:
    """Return a number with its noun.

    >>> count_of(1, "row"), count_of(2, "row")
    ('1 row', '2 rows')
    """
    return f"{n} {noun}" + ("" if n == 1 else "s")


# The page: a heading, parts below each other, a legend and notes.


_MARGIN = 24.0
_NARROWEST = 320.0
_HEADING = 16.0
_NOTE = 11.5


class DrawnPart(NamedTuple):
    """Something drawn, with its upper left corner at 0, 0, and the room it takes."""

    drawing: Markup
    width: float
    height: float


def page(*parts: DrawnPart, title: str, name: str, description: str) -> str:
    """Stack parts in the middle of a page.

    Args:
        parts: From top to bottom.
        title: The heading; shortened if it is wider than everything else.
        name: What the drawing is called if it has no heading.
        description: What there is to see, in words.

    >>> page(DrawnPart(Markup(""), 10, 10), title="", name="Nothing", description="")[:60]
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


def note(text: str, width: float) -> DrawnPart:
    """Write a remark in small letters, on as many lines as it needs.

    >>> note("two lines", 50).height == 2 * note("two", 50).height - 8
    True
    """
    if not text:
        return DrawnPart(Markup(""), 0.0, 0.0)
    lines = lines_of(text, width, _NOTE)
    drawn = [label(line, 0, 16 + 16 * i, size=_NOTE, fill=FAINT) for i, line in enumerate(lines)]
    return DrawnPart(group(*drawn, class_="note"), width, 8 + 16.0 * len(lines))


SAMPLE = Box(0, 0, 34, 18)
"""The room for a sign."""

_LEGEND_SIZE = 11.5
_LEGEND_LINE = 26.0
_LEGEND_GAP = 22.0
_LEGEND_INDENT = (_LEGEND_LINE - SAMPLE.height) / 2


class Item(NamedTuple):
    """A sign, drawn in `SAMPLE`, and what it means."""

    sign: Markup
    meaning: str


def legend(items: Sequence[Item], limit: float) -> DrawnPart:
    """Return the items in lines no wider than `limit`, unless one alone is wider.

    >>> key = legend([Item(Markup("<circle/>"), "a dot")] * 3, 200)
    >>> key.height == 18 + 2 * 26
    True
    """
    if not items:
        return DrawnPart(Markup(""), 0.0, 0.0)
    x, y, widest = 0.0, 18.0, 0.0
    parts = []
    for item in items:
        wide = SAMPLE.width + 8 + width_of(item.meaning, _LEGEND_SIZE)
        if x and x + wide > limit:
            x, y = 0.0, y + _LEGEND_LINE
        parts.append(
            group(
                item.sign,
                label(item.meaning, SAMPLE.width + 8, SAMPLE.height / 2, size=_LEGEND_SIZE),
                transform=f"translate({number(x)} {number(y + _LEGEND_INDENT)})",
            )
        )
        widest = max(widest, x + wide)
        x += wide + _LEGEND_GAP
    return DrawnPart(group(*parts, class_="legend", fill=FAINT), widest, y + _LEGEND_LINE)
