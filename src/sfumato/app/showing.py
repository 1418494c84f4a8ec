"""Results on pages: what a task says of itself, as HTML, and what changed in a policy."""

from difflib import unified_diff
from typing import Literal

from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

from sfumato.app.texts.telling import say_told
from sfumato.dataclasses import dataclass
from sfumato.showing.content import Badge, Cell, Content, Words, format_cell
from sfumato.text import format_integer, visible


@pass_context
def show_content(context: Context, content: Content) -> Markup:
    """Return a result as HTML: sentences, tables, figures and drawings, everything escaped.

    It is in the language of the page as far as that has its words.
    """
    template = context.environment.get_template("content.html")
    own = {name: context[name] for name in ("t", "tell", "say", "tell_cell", "language")}
    module = template.make_module(own)
    return Markup(module.content(content))  # type: ignore[attr-defined]  # noqa: S704 - a macro escapes


def tell_cell(cell: Cell, language: str) -> Markup:
    """Return a cell of a table: words of ours in a language, and values of the data as they are.

    A badge is ours, and so is what has several words and is in the catalogue.
    """
    text = visible(format_cell(cell))
    ours = isinstance(cell, Badge | Words) or (isinstance(cell, str) and " " in text)
    return escape(say_told(text, language)) if ours else escape(text)


def show_number(number: float | None, digits: int = 3) -> str:
    """Return a number for people; a dash if there is none.

    >>> show_number(30162), show_number(0.12345), show_number(None)
    ('30\u202f162', '0.123', '–')
    """
    if number is None:
        return "–"
    if isinstance(number, int) or float(number).is_integer():
        return format_integer(int(number))
    return f"{number:.{digits}f}"


@dataclass(frozen=True)
class DiffLine:
    """A line of a policy, and whether the last change brought or took it."""

    kind: Literal["same", "new", "gone"]
    text: str


def difference(before: str | None, after: str | None) -> list[DiffLine]:
    r"""Return what the last change did to a policy, with a line around each place.

    >>> [(line.kind, line.text) for line in difference("a: 1\nb: 2", "a: 1\nb: 3")]
    [('same', 'a: 1'), ('gone', 'b: 2'), ('new', 'b: 3')]
    """
    if before is None or after is None:
        return []
    lines = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
    kinds: dict[str, Literal["same", "new", "gone"]] = {" ": "same", "+": "new", "-": "gone"}
    return [
        DiffLine(kinds[line[0]], line[1:])
        for line in lines
        if line[:1] in kinds and not line.startswith(("---", "+++"))
    ]
