"""A report as one HTML file that needs nothing else: no script, no font, no request."""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from sfumato.reports.content import (
    Badge,
    Beside,
    Cell,
    Content,
    Drawing,
    Part,
    Table,
    is_number,
    said,
    shown,
)

_FOLDER = Path(__file__).parent / "templates"
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
"""What a browser may do with the file: show it."""

_SIGNS = {"yes": "✓", "with care": "!", "no": "✗"}
_HALF = 640
"""Drawings up to this width can be read on half a page."""

_LONG = 40
"""A word of more characters may be broken anywhere."""


def to_html(content: Content) -> str:
    """Write a report as HTML; whatever comes from data is escaped.

    >>> empty = Content("A < B", "no", "For all.", True, (), (), "1")
    >>> "<h1>A &lt; B</h1>" in to_html(empty)
    True
    """
    return _template().render(content=content, sign=_SIGNS[content.answer]) + "\n"


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined
    )
    # What is not escaped is ours: the style sheet, and drawings that escape for themselves.
    style = Markup((_FOLDER / "report.css").read_text(encoding="utf-8"))  # noqa: S704
    environment.globals |= {
        "policy": _POLICY,
        "style": style,
        "drawn": _drawn,
        "kind_of": _kind_of,
        "shown": shown,
        "slug": _slug,
        "is_badge": _is_badge,
        "is_wide": _is_wide,
        "is_long": _is_long,
        "numeric": _numeric,
    }
    # Also what is not a cell may hold names and values.
    environment.finalize = _finalized
    return environment.get_template("report.html")


def _finalized(value: object) -> object:
    if isinstance(value, str) and not isinstance(value, Markup):
        return said(value)
    return value


def _drawn(drawing: Drawing) -> Markup:
    return Markup(drawing.svg)  # noqa: S704 - made by sfumato.drawing, see `Drawing.of`


def _kind_of(part: Part) -> str:
    return type(part).__name__


def _slug(text: str) -> str:
    """Make a class name of one of our own words.

    >>> _slug("Very high")
    'very-high'
    """
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in text.lower())


def _is_badge(cell: Cell) -> bool:
    return isinstance(cell, Badge)


def _is_long(cell: Cell) -> bool:
    return isinstance(cell, str) and any(len(word) > _LONG for word in cell.split())


def _is_wide(part: Beside) -> bool:
    """Tell whether drawings need the whole page each to be readable."""
    return any(drawing.width > _HALF for drawing in part.drawings)


def _numeric(table: Table, column: int) -> bool:
    """Tell whether a column holds numbers."""
    cells = [row[column] for row in table.rows]
    return bool(column and cells) and all(map(is_number, cells))
