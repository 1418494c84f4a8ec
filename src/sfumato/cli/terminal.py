"""Contents on a terminal: tables, bars and colours.

All of it is readable without colour; what a word says, its colour only repeats.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from sfumato.cli.output import clean
from sfumato.content import (
    Badge,
    Cell,
    Content,
    Figures,
    Listing,
    Part,
    Sentence,
    Share,
    Strength,
    Table,
    format_cell,
)

_STYLES = {
    **dict.fromkeys(("holds", "withstood", "yes"), "green"),
    **dict.fromkeys(("unchecked", "not recounted", "with care"), "yellow"),
    **dict.fromkeys(("broken", "at risk", "no"), "bold red"),
}
_SHADES = " ░▒▓█"
_GREYS = ("", "black on grey93", "black on grey78", "black on grey62", "white on grey30")
"""The number says it, the shade repeats it, and so does the grey where there are colours."""

_WIDE = 160
"""Columns of text in a pipe or a file, where lines are not to be broken early."""


def print_contents(contents: Sequence[Content], *, err: bool = False) -> None:
    """Print contents with an empty line between their parts.

    The headline of an answer comes first, with its reasons, and again below long tables.
    """
    target = console(err=err)
    shown: list[RenderableType] = []
    for content in contents:
        headline, start = Sentence(content.headline), len(shown)
        parts = content.parts if content.verdict else (headline, *content.parts)
        # Sentences that follow each other are one paragraph.
        for _, group in groupby(parts, lambda part: isinstance(part, Sentence)):
            first, *rest = group
            texts = [part.text for part in (first, *rest) if isinstance(part, Sentence)]
            merged = [Sentence("\n".join(filter(None, texts)))] if texts else [first, *rest]
            shown += [each for part in merged for each in _renderables(part, target)]
        if content.verdict:
            answer = _text(content.headline, _STYLES[content.verdict])
            shown[start:start] = [answer]
            if any(isinstance(part, Table) for part in content.parts):
                shown.append(answer)
    for position, each in enumerate(shown):
        if position:
            target.print()
        target.print(each)


def print_title(text: str, *, first: bool) -> None:
    """Print the title of a step, in bold."""
    console().print(_text(text if first else f"\n{text}", "bold"), end="\n\n")


def console(*, err: bool = False) -> Console:
    """Return stdout or stderr for tables. `NO_COLOR` and `COLUMNS` are respected."""

    class Pipe(Console):
        def on_broken_pipe(self) -> None:
            # Rich would exit with 1, which here means that a promise is broken.
            raise BrokenPipeError

    stream = sys.stderr if err else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else _WIDE
    return Pipe(file=stream, width=width, markup=False, emoji=False, highlight=False)


def _text(text: str, style: str = "") -> Text:
    """Return text that is shown as it is, with any brackets it holds."""
    return Text(clean(text, keep="\n"), style=style)


def _renderables(part: Part, target: Console) -> Iterator[RenderableType]:
    if isinstance(part, Sentence):
        if part.text:
            yield _text(part.text)
    elif isinstance(part, Listing):
        head = [f"{part.caption}:"] if part.caption else []
        more = [f"… and {part.more} more"] if part.more else []
        items = [f"- {clean(item)}" for item in part.items]
        yield _text("\n".join([*head, *items, *more]))
    elif isinstance(part, Table | Figures):
        table = (part.table if isinstance(part, Figures) else part).compact
        if table.caption:
            yield _text(f"{table.caption}:")
        rich = _rich_table(table)
        if not _fits(rich, target):
            # Bars only repeat what numbers say, and words need the room.
            rich = _rich_table(table, bars=False)
        strengths = any(isinstance(cell, Strength) for row in table.rows for cell in row[:-1])
        if strengths and not _fits(rich, target):
            # Numbers that are broken over lines are worse than none.
            yield _text("All pairs do not fit here: see --svg or --json.")
            return
        yield rich
        if table.more:
            yield _text(f"… and {table.more} more")


def _rich_table(table: Table, *, bars: bool = True) -> RichTable:
    result = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column, heading in enumerate(table.headings):
        side = "right" if table.is_numeric(column) else "left"
        result.add_column(_text(heading.name), justify=side, overflow="fold")  # type: ignore[arg-type]
        if heading.bar and bars:
            result.add_column("", overflow="fold")
    for row in table.rows:
        cells: list[Text] = []
        for heading, cell in zip(table.headings, row, strict=True):
            cells.append(_rich_cell(cell, shaded=not heading.bar))
            if heading.bar and bars:
                number = isinstance(cell, Share | Strength)
                cells.append(_text(bar(float(cell or 0.0), heading.bar) if number else ""))
        result.add_row(*cells)
    return result


def _rich_cell(cell: Cell, *, shaded: bool) -> Text:
    text = format_cell(cell, grouped=False)
    if isinstance(cell, Badge):
        return _text(text, _STYLES.get(cell, ""))
    if isinstance(cell, Strength) and shaded:
        step = min(int(cell * len(_SHADES)), len(_SHADES) - 1)
        return _text(f"{_SHADES[step]}{text}", _GREYS[step])
    return _text(text)


def _fits(table: RichTable, target: Console) -> bool:
    """Return whether a table can be shown without breaking what is in its cells."""
    wanted = table.__rich_measure__(target, target.options.update(max_width=10**6)).maximum
    return wanted <= target.width


def bar(share: float, width: int = 30) -> str:
    """Return a share as a bar; what is not nothing can be seen.

    >>> bar(0.5, 4), bar(0.001, 4), bar(0, 4)
    ('██', '▏', '')
    """
    eighths = round(share * width * 8)
    if share > 0:
        eighths = max(eighths, 1)
    part = "▏▎▍▌▋▊▉"[eighths % 8 - 1] if eighths % 8 else ""
    return "█" * (eighths // 8) + part
