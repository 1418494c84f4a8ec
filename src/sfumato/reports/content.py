"""What a report says, apart from how it looks: sections of sentences, tables and drawings.

Every way to write a report down takes it from here, so that all of them say the same.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any, TypeAlias

from sfumato.drawing.svg import Markup
from sfumato.errors import ParameterError
from sfumato.html import brief, visible

MOST_ROWS = 20
"""Rows of a table that are shown; how many more there are is said."""


class Share(float):
    """A number from 0 to 1 that is written as a percentage."""

    __slots__ = ()


class Badge(str):
    """A word that deserves to be seen from afar: holds, broken, very high."""

    __slots__ = ()


Cell: TypeAlias = str | int | float | None
"""What stands in a table; see also `Share` and `Badge`. None: there is nothing to say."""


@dataclass(frozen=True)
class Heading:
    """What a column of a table is called, and how to read it in one sentence."""

    name: str
    meaning: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of cells below headings; the first cell of a row says what the row is about.

    Example:
        >>> table = Table.of("Sizes", ["class", Heading("people", "How many are in it.")],
        ...                  [["a", 5], ["b", 7]], most=1)
        >>> table.rows, table.more
        ((('a', 5),), 1)
    """

    caption: str
    headings: tuple[Heading, ...]
    rows: tuple[tuple[Cell, ...], ...]
    more: int = 0
    """How many rows are left out."""

    @classmethod
    def of(
        cls,
        caption: str,
        headings: Sequence[str | Heading],
        rows: Sequence[Sequence[Cell]],
        *,
        most: int = MOST_ROWS,
    ) -> "Table":
        """Make a table of the first `most` rows."""
        named = tuple(h if isinstance(h, Heading) else Heading(h) for h in headings)
        for row in rows:
            if len(row) != len(named):
                raise ParameterError("rows", row, f"rows of {len(named)} cells")
        return cls(caption, named, tuple(map(tuple, rows[:most])), max(len(rows) - most, 0))


@dataclass(frozen=True)
class Figures:
    """The few numbers that matter most, each with its meaning in one sentence."""

    caption: str
    items: tuple[tuple[str, Cell, str], ...]
    """Name, value, meaning."""


@dataclass(frozen=True)
class Drawing:
    """A drawing, its name, and what there is to see in words.

    Example:
        >>> from sfumato.drawing.svg import document
        >>> drawing = Drawing.of(document(9, 9, title="A < B", description="Nothing."))
        >>> drawing.title, drawing.description
        ('A < B', 'Nothing.')
    """

    title: str
    description: str
    svg: Markup

    @property
    def width(self) -> float:
        """How wide it was drawn."""
        found = re.search(r' width="([0-9.]+)"', self.svg)
        return 0.0 if found is None else float(found.group(1))

    @classmethod
    def of(cls, svg: str) -> "Drawing":
        """Take what `sfumato.drawing` drew; nothing else may stand in a report unescaped."""
        if not isinstance(svg, Markup):
            raise TypeError("only what sfumato.drawing made is known to be safe")
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
    """Several things said in words, below each other; how many more there are is said."""

    items: tuple[str, ...]
    more: int = 0

    @classmethod
    def of(cls, items: Sequence[str], *, most: int = MOST_ROWS) -> "Listing":
        """Take the first `most` of some sentences.

        >>> Listing.of(["a", "b", "c"], most=2)
        Listing(items=('a', 'b'), more=1)
        """
        return cls(tuple(items[:most]), max(len(items) - most, 0))


Part: TypeAlias = Sentence | Listing | Figures | Table | Drawing | Beside


@dataclass(frozen=True)
class Section:
    """One question that a report answers."""

    id: str
    title: str
    how_to_read: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Content:
    """Everything a report says."""

    title: str
    answer: str
    """May it be published? yes, with care, no."""

    scope: str
    """Who may read it, in a sentence."""

    public: bool
    sections: tuple[Section, ...]
    left_out: tuple[tuple[str, str], ...]
    """Titles of sections that are not there, and why not."""

    version: str


# How cells are written for people: the same in every form of a report.


def shown(cell: Cell) -> str:
    r"""Write a cell.

    >>> [shown(c) for c in (None, 1234567, 0.25, Share(0.254), Share(0.0004), "a\nb", True)]
    ['–', '1\u202f234\u202f567', '0.25', '25.4 %', '<0.1 %', 'a\\nb', 'yes']
    """
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return thousands(cell)
    if isinstance(cell, Share):
        return share(cell)
    if isinstance(cell, float):
        return _float(cell)
    return brief(cell, most=200)


def _float(number: float) -> str:
    """Write four figures, or all before the point if there are more.

    >>> [_float(number) for number in (0.123456, 23.0, 65752.8, math.inf)]
    ['0.1235', '23', '65\u202f753', '∞']
    """
    if not math.isfinite(number):
        return "∞"
    return thousands(round(number)) if abs(number) >= 1000 else f"{number:.4g}"


def said(text: str) -> str:
    """Write a sentence; it is cut if somebody's data made it endless.

    >>> len(said("word " * 1000))
    1500
    """
    return brief(text, most=1500)


def thousands(number: int) -> str:
    """Write a whole number; thin spaces part thousands, for a comma is a decimal sign to many."""
    return f"{number:,}".replace(",", "\u202f")


def share(value: float) -> str:
    """Write a share, never rounded down to none or up to all.

    >>> [share(v) for v in (0, 0.99999, 1, 0.5)]
    ['0 %', '>99.9 %', '100 %', '50 %']
    """
    if 0 < value < 0.001:
        return "<0.1 %"
    if 0.999 < value < 1:
        return ">99.9 %"
    return f"{100 * value:.1f}".removesuffix(".0") + " %"


def is_number(cell: Cell) -> bool:
    """Tell whether a cell is written to the right."""
    return cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool))


# A report as plain values, for programs.


def to_dict(content: Content) -> dict[str, Any]:
    """Give everything a report says as values that JSON can hold.

    >>> to_dict(Content("Report", "yes", "For all.", True, (), (), "1"))["answer"]
    'yes'
    """
    plain = {
        "title": content.title,
        "answer": content.answer,
        "scope": content.scope,
        "public": content.public,
        "sfumato": content.version,
        "sections": [_section(section) for section in content.sections],
        "left_out": [{"title": title, "why": why} for title, why in content.left_out],
    }
    found: dict[str, Any] = _visible(plain)
    return found


def _visible(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Write no character that a terminal or an editor would obey."""
    if isinstance(value, str):
        return said(value)
    if isinstance(value, dict):
        return {key: _visible(item) for key, item in value.items()}
    return [_visible(item) for item in value] if isinstance(value, list) else value


def _section(section: Section) -> dict[str, Any]:
    return {
        "id": section.id,
        "title": section.title,
        "how_to_read": section.how_to_read,
        "parts": [one for part in section.parts for one in _part(part)],
    }


def _part(part: Part) -> list[dict[str, Any]]:
    if isinstance(part, Sentence):
        return [{"kind": "sentence", "text": part.text}]
    if isinstance(part, Listing):
        return [{"kind": "listing", "items": list(part.items), "more": part.more}]
    if isinstance(part, Figures):
        items = [
            {"name": name, "value": _cell(value), "meaning": meaning}
            for name, value, meaning in part.items
        ]
        return [{"kind": "figures", "caption": part.caption, "items": items}]
    if isinstance(part, Table):
        return [_table(part)]
    drawings = part.drawings if isinstance(part, Beside) else (part,)
    return [_drawing(drawing) for drawing in drawings]


def _table(table: Table) -> dict[str, Any]:
    return {
        "kind": "table",
        "caption": table.caption,
        "columns": [{"name": h.name, "meaning": h.meaning} for h in table.headings],
        "rows": [[_cell(cell) for cell in row] for row in table.rows],
        "more": table.more,
    }


def _drawing(drawing: Drawing) -> dict[str, Any]:
    return {"kind": "drawing", "title": drawing.title, "description": drawing.description}


def _cell(cell: Cell) -> Cell:
    if isinstance(cell, float):
        # JSON has no infinity.
        return float(cell) if math.isfinite(cell) else None
    return cell
