"""Pages in HTML: one file each that asks for nothing else, made by the templates beside this.

What a browser may do with a page is fixed in its head; everything that comes from data is escaped.
"""

from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from sfumato.showing.compiled import CompiledTemplates
from sfumato.showing.content import (
    Badge,
    Beside,
    Cell,
    Content,
    ContentTable,
    Document,
    Drawing,
    Part,
    Sentence,
    format_cell,
    format_sentence,
)
from sfumato.text import percent

_FOLDER = Path(__file__).parent
_CLOSED = "base-uri 'none'; form-action 'none'"
_SIGNS = {"yes": "✓", "with care": "!", "no": "✗"}
_HALF = 640
"""Drawings up to this width can be read on half a page."""

_LONG = 40
"""A word of more characters may be broken anywhere."""


def report_page(document: Document) -> str:
    """Return a report as a page without a script.

    >>> empty = Document("A < B", "no", "For all.", True, (), (), "1")
    >>> "<h1>A &lt; B</h1>" in report_page(empty)
    True
    """
    return _render(
        "report.html",
        policy=f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; {_CLOSED}",
        style=_own_text("report.css"),
        document=document,
        sign=_SIGNS[document.answer],
    )


def comparison_page(
    content: Content,
    drawing: str,
    threshold: float,
    policies: Sequence[tuple[str, str, str]],
) -> str:
    """Return a comparison as a page to look around in.

    Without its script it is a drawing whose marks are links, and a table.

    Args:
        content: The headline, the table of figures and the notes.
        drawing: Risk against loss, with links to the policies.
        threshold: The belief from which on a person is at risk.
        policies: A heading, a sentence and the text of each policy.
    """
    [table] = [part for part in content.parts if isinstance(part, ContentTable)]
    n = len(policies)
    style, script = _own_text("comparison.css"), _own_text("comparison.js")
    return _render(
        "comparison.html",
        policy=f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        + _CLOSED,
        style=style,
        script=script,
        title=f"{n} polic{'y' if n == 1 else 'ies'} compared",
        headline=content.headline,
        threshold=percent(threshold),
        notes=[part.text for part in content.parts if isinstance(part, Sentence)],
        drawing=_draw(Drawing.of(drawing)),
        table=table,
        # A policy is copied from the page: it must not be shortened.
        policies=[(heading, text, escape(policy)) for heading, text, policy in policies],
    )


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _own_text(name: str) -> Markup:
    # What is not escaped is ours: style sheets, scripts, and drawings that escape for themselves.
    return Markup((_FOLDER / name).read_text(encoding="utf-8"))  # noqa: S704


def _render(template: str, **values: object) -> str:
    return _environment().get_template(template).render(**values) + "\n"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        bytecode_cache=CompiledTemplates(__file__),
    )
    environment.globals |= {
        "draw": _draw,
        "kind_of": _kind_of,
        "format_cell": format_cell,
        "slug": _slug,
        "is_badge": _is_badge,
        "is_wide": _is_wide,
        "is_long": _is_long,
    }
    # Also what is not a cell may hold names and values.
    environment.finalize = _shorten
    return environment


def _shorten(value: object) -> object:
    if isinstance(value, str) and not isinstance(value, Markup):
        return format_sentence(value)
    return value


def _draw(drawing: Drawing) -> Markup:
    return Markup(drawing.svg)  # noqa: S704 - made by sfumato.showing, see `Drawing.of`


def _kind_of(part: Part) -> str:
    return type(part).__name__


def _slug(text: str) -> str:
    """Return a class name for one of our own words.

    >>> _slug("Very high")
    'very-high'
    """
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in text.lower())


def _is_badge(cell: Cell) -> bool:
    return isinstance(cell, Badge)


def _is_long(cell: Cell) -> bool:
    return isinstance(cell, str) and any(len(word) > _LONG for word in cell.split())


def _is_wide(part: Beside) -> bool:
    """Return whether drawings need the whole page each to be readable."""
    return any(drawing.width > _HALF for drawing in part.drawings)
