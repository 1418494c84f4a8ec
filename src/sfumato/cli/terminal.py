"""Contents on a terminal: tables, bars and colours.

All of it is readable without colour; what a word says, its colour only repeats.
"""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from sfumato.cli.output import clean
from sfumato.showing.content import (
    Badge,
    Cell,
    Content,
    ContentTable,
    Figures,
    Listing,
    Part,
    Sentence,
    Share,
    Strength,
    format_cell,
)

_STYLES = {
    **dict.fromkeys(("holds", "withstood", "yes"), "green"),
    **dict.fromkeys(("unchecked", "not recounted", "not promised", "with care"), "yellow"),
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
            if any(isinstance(part, ContentTable) for part in content.parts):
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
    elif isinstance(part, ContentTable | Figures):
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
            yield _text("All pairs do not fit here: see --draw or --json.")
            return
        yield rich if _fits(rich, target) else _narrow_table(table, target.width)
        if table.more:
            yield _text(f"… and {table.more} more")


def _rich_table(table: ContentTable, *, bars: bool = True) -> RichTable:
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


_GAP = 2
"""Between the columns of a narrow table."""


def _narrow_table(table: ContentTable, room: int) -> RichTable:
    """Return a table whose texts are broken where it hurts least: numbers never, words at marks.

    Rich would take from all columns alike, and break numbers and the words of headings.
    """
    numeric = [table.is_numeric(column) for column in range(len(table.headings))]
    cells = [
        [_rich_cell(cell, shaded=True) for cell in column]
        for column in zip(*table.rows, strict=True)
    ]
    wanted, needed = [], []
    for heading, column, number in zip(table.headings, cells, numeric, strict=True):
        texts = [text.plain for text in column]
        pieces = [piece for text in texts for piece in ([text] if number else split_text(text))]
        wanted.append(max(map(cell_len, [heading.name, *texts])))
        needed.append(max(map(cell_len, [*split_text(heading.name), *pieces]), default=1))
    widths = share_room(wanted, needed, room - _GAP * (len(wanted) - 1))
    result = RichTable(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for heading, width, number in zip(table.headings, widths, numeric, strict=True):
        side = "right" if number else "left"
        name = _break(_text(heading.name), width)
        result.add_column(name, justify=side, width=width, overflow="fold")  # type: ignore[arg-type]
    for row in zip(*cells, strict=True):
        result.add_row(*(_break(text, width) for text, width in zip(row, widths, strict=True)))
    return result


def split_text(text: str) -> list[str]:
    """Return the pieces between which a text may be broken: words, and their parts after a mark.

    >>> split_text("known=marital_status, level 1")
    ['known=', 'marital_', 'status,', 'level', '1']
    """
    return re.findall(r"[^\s\-=,/_:;.]*[\-=,/_:;.]+|[^\s\-=,/_:;.]+", text)


def break_text(text: str, width: int) -> str:
    """Return a text in lines of a width, broken between its pieces where that is possible.

    >>> break_text("known=diagnosis, level=1", 12).splitlines()
    ['known=', 'diagnosis,', 'level=1']
    """
    lines = [""]
    for found in re.finditer(r"\S+", text):
        gap = " " if lines[-1] else ""
        if cell_len(lines[-1] + gap + found[0]) <= width:
            lines[-1] += gap + found[0]
            continue
        pieces = split_text(found[0]) if cell_len(found[0]) > width else [found[0]]
        for at, piece in enumerate(pieces):
            gap = " " if lines[-1] and not at else ""
            if cell_len(lines[-1] + gap + piece) <= width:
                lines[-1] += gap + piece
            else:
                lines.append(piece)
    return "\n".join(line for line in lines if line)


def share_room(wanted: Sequence[int], needed: Sequence[int], room: int) -> list[int]:
    """Return a width for each column: what it needs at least, and what it wants if there is room.

    >>> share_room([30, 8, 20], [10, 8, 5], 40)
    [16, 8, 16]
    >>> share_room([30, 8, 20], [10, 8, 5], 19)
    [7, 7, 5]
    """
    widths = list(needed)
    while sum(widths) > room and max(widths) > 1:
        widths[widths.index(max(widths))] -= 1
    while sum(widths) < room:
        short = [at for at, width in enumerate(widths) if width < wanted[at]]
        if not short:
            break
        widths[min(short, key=widths.__getitem__)] += 1
    return widths


def _break(text: Text, width: int) -> Text:
    return Text(break_text(text.plain, width), style=text.style)


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
