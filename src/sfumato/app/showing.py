"""Results on pages: what a task says of itself, as HTML, and what changed in a policy."""

from difflib import unified_diff
from typing import Literal

from jinja2 import Environment
from markupsafe import Markup

from sfumato.dataclasses import dataclass
from sfumato.showing.content import Content
from sfumato.text import format_integer


def show_content(templates: Environment, content: Content) -> Markup:
    """Return a result as HTML: sentences, tables, figures and drawings, everything escaped."""
    module = templates.get_template("content.html").module
    return Markup(module.content(content))  # type: ignore[attr-defined]  # noqa: S704 - a macro escapes


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
