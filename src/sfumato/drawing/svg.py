"""A little writer of SVG: elements, escaped text, rounded numbers.

Whatever is drawn stands for itself: no script, no style sheet, no identifiers that could
clash with another drawing on the same page, nothing fetched from elsewhere.
"""

import re
from html import escape as _entities
from typing import NamedTuple, TypeAlias

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
INK = "#222222"
FAINT = "#5f6368"
PAPER = "#ffffff"

_IMPOSSIBLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML cannot hold in any spelling: most control characters and half pairs."""


class Markup(str):
    """Finished SVG. Any other text is escaped where it is put in."""

    __slots__ = ()


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


def escaped(text: str) -> Markup:
    r"""Write any text so that XML reads it back.

    Characters that XML cannot hold become a replacement character.

    >>> escaped('a < b & "c"'), escaped("bell\x07")
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
    inside = "".join(c if isinstance(c, Markup) else escaped(c) for c in children)
    return Markup(f"<{head}>{inside}</{name}>" if inside else f"<{head}/>")


def _attribute(value: Attribute) -> str:
    if isinstance(value, str):
        # Readers turn line breaks and tabs in attributes into spaces, unless they are references.
        return escaped(value).replace("\n", "&#10;").replace("\t", "&#9;")
    return number(value or 0)


def group(*children: str, tooltip: str = "", **attributes: Attribute) -> Markup:
    """Put elements together, with a text that appears when the pointer rests on them."""
    told = (element("title", tooltip),) if tooltip else ()
    return element("g", *told, *children, **attributes)


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
    told = (element("desc", description),) if description else ()
    return element(
        "svg",
        element("title", title),
        *told,
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
