"""A drawing read back as a stranger would: parsed XML, absolute places."""

import math
import re
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from hypothesis import strategies as st

from sfumato.showing.svg import width_of

SVG = "{http://www.w3.org/2000/svg}"

NASTY = st.text(
    st.one_of(
        st.sampled_from("<>&\"'\\;{}%\n\r\t\0\x07\x1b\u202e\ufffe]]>年العё"), st.characters()
    ),
    max_size=70,
)
"""Names that somebody, somewhere, has given to a column; lone surrogates too."""


@dataclass
class Text:
    content: str
    left: float
    top: float
    right: float
    bottom: float


def parse(svg):
    # Encoded strictly: a drawing must be writable to a file.
    return ET.fromstring(svg.encode("utf-8"))


def children(root, kind):
    """The groups of one class: node, edge, percentage, cell, marked, bars, legend, note."""
    return [g for g in root.iter(f"{SVG}g") if g.get("class") == kind]


def tooltip(element):
    return element.findtext(f"{SVG}title")


def survives(text):
    """What XML makes of a text: some characters it cannot hold."""
    return "".join(c if _allowed(ord(c)) else "\ufffd" for c in text)


def _allowed(code):
    return (
        code in (9, 10, 13) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000
    )


def check_drawing(svg):
    """What holds for every drawing; gives the parsed root."""
    root = parse(svg)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root[0].tag == f"{SVG}title"
    assert root[0].text
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in {
            *("svg", "title", "desc", "g", "rect", "path", "text"),
        }
        for name, value in element.attrib.items():
            assert name not in ("id", "href", "style")
            assert not name.startswith(("on", "{"))
            assert "url(" not in value
            assert "nan" not in value
            assert "inf" not in value
    # The names drawn may hold anything, also addresses; markup has but the one.
    bare = re.sub(r">[^<]*<", "><", svg)
    assert bare.count("http") == 1
    check_texts_inside(root)
    return root


def check_texts_inside(root):
    _, _, width, height = map(float, root.get("viewBox").split())
    for text in texts(root):
        assert text.left >= -0.01, text
        assert text.top >= -0.01, text
        assert text.right <= width + 0.01, text
        assert text.bottom <= height + 0.01, text


def texts(root, dx=0.0, dy=0.0):
    """Every text with the box that it takes on the page."""
    found = []
    for element in root:
        x, y = dx, dy
        moved = re.fullmatch(r"translate\((\S+) (\S+)\)", element.get("transform", ""))
        if moved:
            x, y = dx + float(moved[1]), dy + float(moved[2])
        if element.tag == f"{SVG}text":
            found.append(_box(element, x, y))
        found += texts(element, x, y)
    return found


def _box(element, dx, dy):
    content, size = element.text or "", float(element.get("font-size"))
    width = width_of(content, size)
    x, y = float(element.get("x")), float(element.get("y"))
    start = {"middle": -width / 2, "end": -width}.get(element.get("text-anchor"), 0.0)
    corners = [(x + a, y + b) for a in (start, start + width) for b in (-0.8 * size, 0.25 * size)]
    turned = re.fullmatch(r"rotate\((\S+) (\S+) (\S+)\)", element.get("transform", ""))
    if turned:
        angle, cx, cy = math.radians(float(turned[1])), float(turned[2]), float(turned[3])
        corners = [
            (
                cx + (a - cx) * math.cos(angle) - (b - cy) * math.sin(angle),
                cy + (a - cx) * math.sin(angle) + (b - cy) * math.cos(angle),
            )
            for a, b in corners
        ]
    xs, ys = zip(*corners, strict=True)
    return Text(content, min(xs) + dx, min(ys) + dy, max(xs) + dx, max(ys) + dy)
