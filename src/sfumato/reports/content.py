"""What a report says, apart from how it looks: sections of sentences, tables and drawings.

Every way to write a report down takes it from here, so that all of them say the same.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape
from typing import TypeAlias

from sfumato.drawing.svg import Markup
from sfumato.errors import ParameterError
from sfumato.fragment import visible

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
