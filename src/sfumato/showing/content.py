"""The content of results: sentences, figures, tables and drawings, apart from how they look.

A result describes itself once, by `content()`. Text, notebook HTML, Markdown and plain values are
renderings of that, made here; the page of a report and the terminal have renderers of their own.
"""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape, unescape
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError
from sfumato.text import brief, format_integer, percent, visible

MOST_ROWS = 20
"""Rows of a table that are shown; the number of further rows is shown below it."""

_MOST_IN_NOTEBOOKS = 12
_LONGEST_CELL, _LONGEST_NAMES = 200, 600
_LONGEST = 1500
"""Characters of a sentence; data could make it endless."""


class Share(float):
    """A number from 0 to 1 that is shown in whole percents."""

    __slots__ = ()
    decimals: ClassVar[int] = 0


class FineShare(Share):
    """A share whose differences matter below one percent, such as an error."""

    __slots__ = ()
    decimals: ClassVar[int] = 1


class Strength(float):
    """A number from 0 to 1 with two decimals; a terminal shades it."""

    __slots__ = ()


class Badge(str):
    """A word that deserves to be seen from afar: holds, broken, very high."""

    __slots__ = ()


class Words(str):
    """A word of ours, as the name of a check; any other single word may be a value of the data."""

    __slots__ = ()


class Names(str):
    """A list of names, which may be longer than other cells."""

    __slots__ = ()


class Markup(str):
    """Finished SVG. Any other text is escaped where it is put in."""

    __slots__ = ()


Cell: TypeAlias = str | int | float | None
"""A cell of a table; see also `Share` and `Badge`. None: there is nothing to say."""

BAD = frozenset(("broken", "unchecked", "not recounted", "not promised", "at risk", "no"))
"""Badges that must not be overlooked."""


@dataclass(frozen=True)
class Heading:
    """The name of a column of a table, and how to read it in one sentence."""

    name: str
    meaning: str = ""
    bar: int = 0
    """Characters of a bar that a terminal draws beside each share."""


@dataclass(frozen=True)
class ContentTable:
    """Rows of cells below headings; the first cell of a row names what the row is about.

    Example:
        >>> table = ContentTable.of("Sizes", ["class", Heading("people", "How many are in it.")],
        ...                  [["a", 5], ["b", 7]], most=1)
        >>> table.rows, table.more
        ((('a', 5),), 1)
    """

    caption: str
    headings: tuple[Heading, ...]
    rows: tuple[tuple[Cell, ...], ...]
    more: int = 0
    """The number of rows left out."""

    @classmethod
    def of(
        cls,
        caption: str,
        headings: Sequence[str | Heading],
        rows: Iterable[Sequence[Cell]],
        *,
        most: int | None = MOST_ROWS,
    ) -> "ContentTable":
        """Return a table of the first `most` rows; None takes all."""
        found = list(map(tuple, rows))
        named = tuple(h if isinstance(h, Heading) else Heading(h) for h in headings)
        for row in found:
            if len(row) != len(named):
                raise ParameterError("rows", row, f"rows of {len(named)} cells")
        kept = found[:most]
        return cls(caption, named, tuple(kept), len(found) - len(kept))

    def is_numeric(self, column: int) -> bool:
        """Return whether a column holds numbers only, which stand to the right."""
        cells = [row[column] for row in self.rows]
        return bool(column and cells) and all(
            cell in (None, "") or (isinstance(cell, int | float) and not isinstance(cell, bool))
            for cell in cells
        )

    @property
    def compact(self) -> "ContentTable":
        """The same without columns in which nothing stands."""
        used = [i for i in range(len(self.headings)) if any(row[i] != "" for row in self.rows)]
        if not self.rows or len(used) == len(self.headings):
            return self
        rows = tuple(tuple(row[i] for i in used) for row in self.rows)
        return replace(self, headings=tuple(self.headings[i] for i in used), rows=rows)


@dataclass(frozen=True)
class Figures:
    """The few numbers that matter most, each with its meaning in one sentence."""

    caption: str
    items: tuple[tuple[str, Cell, str], ...]
    """Name, value, meaning."""

    @property
    def table(self) -> ContentTable:
        """The same as a table."""
        return ContentTable.of(
            self.caption, ("figure", "value", "how to read it"), self.items, most=None
        )


@dataclass(frozen=True)
class Drawing:
    """A drawing, its name, and what there is to see in words.

    Example:
        >>> svg = Markup("<svg><title>A &lt; B</title><desc>Nothing.</desc></svg>")
        >>> drawing = Drawing.of(svg)
        >>> drawing.title, drawing.description
        ('A < B', 'Nothing.')
    """

    title: str
    description: str
    svg: Markup

    @property
    def width(self) -> float:
        """The width it was drawn with."""
        found = re.search(r' width="([0-9.]+)"', self.svg)
        return 0.0 if found is None else float(found.group(1))

    @classmethod
    def of(cls, svg: str) -> "Drawing":
        """Return a drawing of `sfumato.showing`; nothing else is shown without being escaped."""
        if not isinstance(svg, Markup):
            raise TypeError("only what sfumato.showing made is known to be safe")
        return cls(_inside(svg, "title"), _inside(svg, "desc"), Markup(visible(svg)))


def _inside(svg: str, name: str) -> str:
    found = re.search(f"<{name}>(.*?)</{name}>", svg, flags=re.DOTALL)
    return "" if found is None else visible(unescape(found.group(1)))


@dataclass(frozen=True)
class Beside:
    """Drawings that are to be compared: beside each other where there is room."""

    drawings: tuple[Drawing, ...]


@dataclass(frozen=True)
class Sentence:
    """Something said in words; `loud` if it must not be overlooked."""

    text: str
    loud: bool = False


@dataclass(frozen=True)
class Listing:
    """Several sentences below each other; the number of further ones is shown."""

    items: tuple[str, ...]
    more: int = 0
    caption: str = ""

    @classmethod
    def of(cls, items: Sequence[str], *, most: int = MOST_ROWS, caption: str = "") -> "Listing":
        """Return the first `most` of some sentences.

        >>> Listing.of(["a", "b", "c"], most=2)
        Listing(items=('a', 'b'), more=1, caption='')
        """
        return cls(tuple(items[:most]), max(len(items) - most, 0), caption)


Part: TypeAlias = Sentence | Listing | Figures | ContentTable | Drawing | Beside


@dataclass(frozen=True)
class Content:
    """Everything a result says: a headline, and parts below it."""

    headline: str
    parts: tuple[Part, ...] = ()
    verdict: str = ""
    """The word that colours the headline of an answer: yes, with care, no, holds, broken."""

    remarks: tuple[str, ...] = ()
    """Warnings and notes, which a command writes to stderr."""


@dataclass(frozen=True)
class Section:
    """One question that a report answers."""

    id: str
    title: str
    how_to_read: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Document:
    """Everything a report says."""

    title: str
    answer: str
    """May it be published? yes, with care, no."""

    scope: str
    """The readers it is for, in a sentence."""

    public: bool
    sections: tuple[Section, ...]
    left_out: tuple[tuple[str, str], ...]
    """Titles of sections that are not there, and why not."""

    version: str


class Showable(ABC):
    """A result that describes itself once: as text, in a notebook and on a terminal."""

    __slots__ = ()

    @abstractmethod
    def content(self) -> Content:
        """Return everything there is to say for people."""

    def drawings(self) -> tuple[str, ...]:
        """Return the drawings that a notebook shows below the tables."""
        return ()

    @property
    def headline(self) -> str:
        """The most important line."""
        return self.content().headline

    def __str__(self) -> str:
        return to_text(self.content())

    def _repr_html_(self) -> str:
        return to_notebook(self.content(), self.drawings())


# For programs: the same figures as plain values.


def plain_of(result: object, *names: str) -> dict[str, Any]:
    """Return some attributes of a result as plain values that JSON can hold.

    Args:
        result: The result.
        names: The attributes, with spaces between them.

    >>> from types import SimpleNamespace
    >>> plain_of(SimpleNamespace(rows=4, columns=("age",), path=Path("a.csv")), "rows columns path")
    {'rows': 4, 'columns': ['age'], 'path': 'a.csv'}
    """
    return {name: _plain_value(getattr(result, name)) for each in names for name in each.split()}


def _plain_value(value: Any) -> Any:  # noqa: ANN401 - whatever a result holds
    """Return a value as JSON can hold it; a result in another says itself what it holds."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    return [_plain_value(each) for each in value] if isinstance(value, list | tuple) else value


# Cells and sentences: the same in every rendering.


def format_cell(cell: Cell, *, grouped: bool = True) -> str:  # noqa: PLR0911 - one per kind
    r"""Return the text of a cell; `grouped` parts the thousands of whole numbers.

    >>> [format_cell(c) for c in (None, 1234567, 0.25, Share(0.254), Share(0.0004), "a\nb", True)]
    ['–', '1\u202f234\u202f567', '0.25', '25 %', '<1 %', 'a\\nb', 'yes']
    """
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return format_integer(cell) if grouped else str(cell)
    if isinstance(cell, Share):
        return percent(cell, cell.decimals)
    if isinstance(cell, Strength):
        return f"{cell:.2f}"
    if isinstance(cell, float):
        return _format_float(cell, grouped=grouped)
    return brief(cell, most=_LONGEST_NAMES if isinstance(cell, Names) else _LONGEST_CELL)


def _format_float(number: float, *, grouped: bool) -> str:
    """Return four figures, or all before the point if there are more.

    >>> [_format_float(number, grouped=True) for number in (0.123456, 23.0, 65752.8, math.inf)]
    ['0.1235', '23', '65\u202f753', '∞']
    """
    if not math.isfinite(number):
        return "∞"
    if abs(number) < 1000:
        return f"{number:.4g}"
    return format_integer(round(number)) if grouped else str(round(number))


def format_sentence(text: str) -> str:
    """Return a sentence in one line, cut if data made it endless.

    >>> len(format_sentence("word " * 1000))
    1500
    """
    return brief(text, most=_LONGEST)


def join_values(values: Iterable[str | None]) -> str:
    """Return values in a row, also missing ones.

    >>> join_values(["30-39", None])
    '30-39, (missing)'
    """
    return ", ".join("(missing)" if value is None else value for value in values)


# Plain text: what `print` shows.


def to_text(content: Content) -> str:
    """Return a content as plain text; drawings are left out, for tables say the same.

    >>> table = ContentTable.of("", ["check", "result"], [["rows", Badge("holds")]])
    >>> print(to_text(Content("All hold.", (table, Sentence("Not signed.")))))
    All hold.
    check  result
    rows   holds
    Not signed.
    """
    lines = [_lines(content.headline)] if content.headline else []
    for number, part in enumerate(content.parts):
        block = _text_part(part)
        if number and block and isinstance(part, ContentTable | Figures):
            block.insert(0, "")
        lines += block
    return "\n".join([*lines, *map(_lines, content.remarks)])


def _lines(text: str) -> str:
    return visible(text, keep="\n")


def _text_part(part: Part) -> list[str]:
    if isinstance(part, Sentence):
        return [_lines(part.text)]
    if isinstance(part, Listing):
        more = [f"  … and {part.more} more"] if part.more else []
        return [*_caption(part.caption), *(f"  {_lines(item)}" for item in part.items), *more]
    if isinstance(part, Figures):
        part = ContentTable.of(part.caption, ("figure", "value"), [item[:2] for item in part.items])
    return _text_table(part.compact) if isinstance(part, ContentTable) else []


def _caption(caption: str) -> list[str]:
    return [f"{visible(caption)}:"] if caption else []


def _text_table(table: ContentTable) -> list[str]:
    """Return a table below its caption: numbers to the right, words to the left.

    >>> for line in _text_table(ContentTable.of("", ["size", "rows"], [["1", 12], ["2-4", 3]])):
    ...     print(line)
    size  rows
    1       12
    2-4      3
    """
    heads = [visible(heading.name) for heading in table.headings]
    cells = [[format_cell(cell, grouped=False) for cell in row] for row in table.rows]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    right = [table.is_numeric(column) for column in range(len(heads))]
    lines = [
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in (heads, *cells)
    ]
    more = [f"… and {table.more} more"] if table.more else []
    return [*_caption(table.caption), *lines, *more]


# HTML for notebooks: short, self-contained, and safe whatever the data holds.


_STYLE = "text-align:left;padding:.2em .9em .2em 0"
_ROW = '<tr style="vertical-align:top">'


def to_notebook(content: Content, drawings: Sequence[str] = ()) -> str:
    """Return a content as a piece of HTML, with tables of at most a dozen rows.

    >>> print(to_notebook(Content("2 of 3 hold", (ContentTable.of("", ["promise"], [["k < 5"]]),))))
    <div><p><strong>2 of 3 hold</strong></p><table><thead><tr><th scope="col"
    style="...">promise</th></tr></thead><tbody><tr
    style="..."><td style="...">k &lt; 5</td></tr></tbody></table></div>
    """
    parts = [f"<p><strong>{_escape(content.headline)}</strong></p>"] if content.headline else []
    parts += [html for part in content.parts for html in _notebook_part(part)]
    parts += [Drawing.of(svg).svg for svg in drawings]
    parts += [f"<p>{_escape(remark)}</p>" for remark in content.remarks]
    return f"<div>{''.join(parts)}</div>"


def _escape(text: str) -> str:
    return escape(format_sentence(text))


def _notebook_part(part: Part) -> list[str]:
    if isinstance(part, Sentence):
        return [f"<p>{_escape(line)}</p>" for line in part.text.splitlines()]
    if isinstance(part, Listing):
        items = part.items[:_MOST_IN_NOTEBOOKS]
        more = part.more + len(part.items) - len(items)
        head = [f"<p>{_escape(part.caption)}:</p>"] if part.caption else []
        return [*head, *(f"<p>{_escape(item)}</p>" for item in items), *_more(more)]
    if isinstance(part, Drawing | Beside):
        drawings = part.drawings if isinstance(part, Beside) else (part,)
        return [drawing.svg for drawing in drawings]
    return _notebook_table(part.table if isinstance(part, Figures) else part)


def _notebook_table(table: ContentTable) -> list[str]:
    table = table.compact
    rows = list(table.rows)
    if len(rows) > _MOST_IN_NOTEBOOKS:
        # A long table is cut, and what is wrong must be among the rest.
        rows.sort(key=lambda row: not any(isinstance(c, Badge) and c in BAD for c in row))
    rows, more = rows[:_MOST_IN_NOTEBOOKS], table.more + max(len(rows) - _MOST_IN_NOTEBOOKS, 0)
    head = "".join(
        f'<th scope="col" style="{_STYLE}">{_escape(heading.name)}</th>'
        for heading in table.headings
    )
    body = "".join(
        _ROW + "".join(f'<td style="{_STYLE}">{_notebook_cell(c)}</td>' for c in row) + "</tr>"
        for row in rows
    )
    caption = f"<caption>{_escape(table.caption)}</caption>" if table.caption else ""
    return [
        f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>",
        *_more(more),
    ]


def _notebook_cell(cell: Cell) -> str:
    return escape(brief(format_cell(cell)))


def _more(more: int) -> list[str]:
    return [f"<p>and {more} more</p>"] if more else []


# Markdown: for wikis, pull requests and terminals.


_SPECIAL = re.compile(r"([\\`*_{}\[\]!|~^$@]|:(?=//)|(?<=www)\.)")
"""What means something anywhere in a line, addresses included."""

_STARTS = re.compile(r"^(\d*)([-+#.)=](?=\s|$)|[-=#]{2})")
"""What makes a line a list, a heading or a rule."""


def document_to_markdown(document: Document) -> str:
    """Return a report as Markdown; drawings become what they say in words.

    >>> print(document_to_markdown(Document("Report", "yes", "For all.", True, (), (), "1")))
    # Report
    <BLANKLINE>
    **May it be published? Yes.**
    <BLANKLINE>
    For all.
    <BLANKLINE>
    Written by sfumato 1.
    <BLANKLINE>
    """
    blocks = [
        f"# {escape_markdown(document.title)}",
        f"**May it be published? {document.answer.capitalize()}.**",
        escape_markdown(document.scope),
    ]
    for section in document.sections:
        blocks += [f"## {escape_markdown(section.title)}"]
        blocks += [f"*{escape_markdown(section.how_to_read)}*", *to_markdown(section.parts)]
    if document.left_out:
        blocks.append("## What is not in this report")
        reasons = [f"{title}: {why}." for title, why in document.left_out]
        blocks.append("\n".join(f"- {escape_markdown(reason)}" for reason in reasons))
    blocks.append(f"Written by sfumato {escape_markdown(document.version)}.")
    return "\n\n".join(blocks) + "\n"


def to_markdown(parts: Iterable[Part]) -> list[str]:
    """Return parts as blocks of Markdown, to be set apart by empty lines."""
    return [block for part in parts for block in _markdown_part(part)]


def escape_markdown(text: str) -> str:
    r"""Return a text in which nothing is a sign of Markdown, nor of HTML.

    >>> print(escape_markdown("<b> a|b *c*"))
    &lt;b&gt; a\|b \*c\*
    """
    text = format_sentence(text).strip()
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = _SPECIAL.sub(r"\\\1", text)
    # Some signs matter only where a line begins; elsewhere text should stay readable.
    return _STARTS.sub(r"\1\\\2", text)


def _markdown_part(part: Part) -> list[str]:
    if isinstance(part, Sentence):
        text = escape_markdown(part.text)
        return [f"**{text}**" if part.loud else text]
    if isinstance(part, Listing):
        more = [f"- and {format_integer(part.more)} more"] if part.more else []
        items = "\n".join([*(f"- {escape_markdown(item)}" for item in part.items), *more])
        return [f"**{escape_markdown(part.caption)}**", items] if part.caption else [items]
    if isinstance(part, Drawing | Beside):
        drawings = part.drawings if isinstance(part, Beside) else (part,)
        return [
            f"**{escape_markdown(each.title)}.** {escape_markdown(each.description)}"
            for each in drawings
        ]
    return _markdown_table(part.table if isinstance(part, Figures) else part)


def _markdown_table(table: ContentTable) -> list[str]:
    sides = ["---:" if table.is_numeric(i) else "---" for i in range(len(table.headings))]
    rows = [[_markdown_cell(cell) for cell in row] for row in table.rows]
    grid = [[_markdown_cell(heading.name) for heading in table.headings], sides, *rows]
    blocks = [f"**{escape_markdown(table.caption)}**"] if table.caption else []
    blocks.append("\n".join(f"| {' | '.join(row)} |" for row in grid))
    if table.more:
        blocks.append(f"And {format_integer(table.more)} more.")
    meanings = [
        f"- {_markdown_cell(h.name)}: {escape_markdown(h.meaning)}"
        for h in table.headings
        if h.meaning
    ]
    return [*blocks, "\n".join(meanings)] if meanings else blocks


def _markdown_cell(cell: Cell) -> str:
    return escape_markdown(format_cell(cell)).replace("\n", " ") or " "


# Plain values, for programs.


def document_to_dict(document: Document) -> dict[str, Any]:
    """Return a report as values that JSON can hold.

    >>> document_to_dict(Document("Report", "yes", "For all.", True, (), (), "1"))["answer"]
    'yes'
    """
    plain = {
        "title": document.title,
        "answer": document.answer,
        "scope": document.scope,
        "public": document.public,
        "sfumato": document.version,
        "sections": [
            {
                "id": section.id,
                "title": section.title,
                "how_to_read": section.how_to_read,
                "parts": [one for part in section.parts for one in _plain_part(part)],
            }
            for section in document.sections
        ],
        "left_out": [{"title": title, "why": why} for title, why in document.left_out],
    }
    found: dict[str, Any] = _plain(plain)
    return found


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return a value without characters that a terminal or an editor would obey."""
    if isinstance(value, str):
        return format_sentence(value)
    if isinstance(value, float):
        # JSON has no infinity.
        return float(value) if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _plain_part(part: Part) -> list[dict[str, Any]]:
    if isinstance(part, Sentence):
        return [{"kind": "sentence", "text": part.text}]
    if isinstance(part, Listing):
        return [{"kind": "listing", "items": part.items, "more": part.more}]
    if isinstance(part, Figures):
        items = [dict(zip(("name", "value", "meaning"), item, strict=True)) for item in part.items]
        return [{"kind": "figures", "caption": part.caption, "items": items}]
    if isinstance(part, ContentTable):
        columns = [{"name": h.name, "meaning": h.meaning} for h in part.headings]
        plain = {"kind": "table", "caption": part.caption, "columns": columns}
        return [{**plain, "rows": part.rows, "more": part.more}]
    drawings = part.drawings if isinstance(part, Beside) else (part,)
    return [{"kind": "drawing", "title": d.title, "description": d.description} for d in drawings]
