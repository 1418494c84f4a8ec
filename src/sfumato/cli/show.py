"""Showing results: text that is readable without colour, and JSON."""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

_STYLES = {"holds": "green", "broken": "bold red", "unchecked": "yellow"}
_WIDE = 160
"""Columns of text when nobody looks: in a pipe or a file lines are not to be broken early."""


def clean(value: object, *, keep: str = "") -> str:
    r"""Make characters visible that would command a terminal, or turn its text around.

    >>> clean("age\x1b[2J")
    'age\\x1b[2J'
    """
    text = str(value)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else repr(c)[1:-1] for c in text)


def say(text: str) -> None:
    """Tell the user something that is not the result."""
    typer.echo(text, err=True)


def write_json(value: object) -> None:
    """Give the result as one JSON document."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    typer.echo(json.dumps(value, indent=2, ensure_ascii=not unicode, allow_nan=False))


def console(*, err: bool = False) -> "Console":
    """Open stdout or stderr for tables. `NO_COLOR` and `COLUMNS` are respected."""
    from rich.console import Console

    class Pipe(Console):
        def on_broken_pipe(self) -> None:
            # Rich would exit with 1, which here means that a promise is broken.
            raise BrokenPipeError

    stream = sys.stderr if err else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else _WIDE
    return Pipe(file=stream, width=width, markup=False, emoji=False, highlight=False)


def cell(value: object, style: str = "", *, keep: str = "") -> "Text":
    """Make text that is shown as it is, whatever brackets it holds."""
    from rich.text import Text

    return Text(clean(value, keep=keep), style=style)


def table(
    headers: Sequence[str], rows: Iterable[Sequence[object]], *, right: Iterable[str] = ()
) -> "Table":
    """Make a table; `right` names the columns of numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    result = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    numbers = set(right)
    for header in headers:
        result.add_column(
            cell(header), justify="right" if header in numbers else "left", overflow="fold"
        )
    for row in rows:
        result.add_row(*(item if isinstance(item, Text) else cell(item) for item in row))
    return result


def fits(part: "Table") -> bool:
    """Tell whether a table can be shown without breaking what is in its cells."""
    target = console()
    wanted = part.__rich_measure__(target, target.options.update(max_width=10**6)).maximum
    return wanted <= target.width


def show(*parts: "RenderableType", err: bool = False) -> None:
    """Print parts one after the other, with an empty line between them."""
    target = console(err=err)
    for position, part in enumerate(parts):
        if position:
            target.print()
        target.print(part)


def status(word: str) -> "Text":
    """Show an outcome: the word says it, the colour repeats it."""
    return cell(word, _STYLES.get(word, ""))


def bar(share: float, width: int = 30) -> str:
    """Draw a share as a bar; what is not nothing can be seen.

    >>> bar(0.5, 4), bar(0.001, 4), bar(0, 4)
    ('██', '▏', '')
    """
    eighths = round(share * width * 8)
    if share > 0:
        eighths = max(eighths, 1)
    part = "▏▎▍▌▋▊▉"[eighths % 8 - 1] if eighths % 8 else ""
    return "█" * (eighths // 8) + part
