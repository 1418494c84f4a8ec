"""A conditional probability table as a drawing: the darker, the likelier."""

from collections.abc import Callable, Sequence
from math import cos, isnan, radians, sin
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, require_number
from sfumato.showing.content import Markup
from sfumato.showing.svg import (
    FAINT,
    INK,
    PAPER,
    Box,
    DrawnPart,
    count_of,
    group,
    label,
    note,
    number,
    one_line,
    page,
    rectangle,
    shorten_apart,
    width_of,
)
from sfumato.text import format_integer, percent
from sfumato.typing import BoolArray, FloatArray, IntArray

MOST_ROWS = 30
MOST_COLUMNS = 40


@dataclass(frozen=True, eq=False)
class HeatmapCells:
    """Probabilities with names for their rows and columns."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: FloatArray
    """Rows by columns; NaN where nothing is known."""

    support: IntArray | None = None
    """How many people stand behind each row."""

    mark_above: float | None = None
    parts: tuple[str, ...] = ()
    """What each part of a row's name is, if it has parts."""

    named: tuple[tuple[str, ...], ...] = ()
    """The parts of each row's name."""

    more: tuple[int, int] = (0, 0)
    """Rows that are not even here, and how many of them have a cell above the mark."""

    @classmethod
    def of(
        cls,
        rows: Sequence[str] | Sequence[Sequence[str]],
        columns: Sequence[str],
        values: ArrayLike,
        *,
        support: ArrayLike | None = None,
        mark_above: float | None = None,
        parts: Sequence[str] = (),
        more: tuple[int, int] = (0, 0),
    ) -> "HeatmapCells":
        """Check that everything fits together.

        >>> HeatmapCells.of(["a"], ["x"], [[1.5]])
        Traceback (most recent call last):
        sfumato.errors.ParameterError: values must be probabilities from 0 to 1, or NaN, got 1.5
        """
        array = np.asarray(values, dtype=np.float64)
        expected = (len(rows), len(columns))
        if not array.size and not len(rows) * len(columns):
            array = array.reshape(expected)
        if array.shape != expected:
            raise ParameterError("values", array.shape, f"of shape {expected}, one per cell")
        wrong = array[(array < 0) | (array > 1)]
        if len(wrong):
            raise ParameterError("values", float(wrong[0]), "probabilities from 0 to 1, or NaN")
        people = None if support is None else np.asarray(support, dtype=np.int64)
        if people is not None and people.shape != (len(rows),):
            raise ParameterError("support", people.shape, f"{len(rows)} numbers, one per row")
        if mark_above is not None:
            require_number("mark_above", mark_above, at_least=0, at_most=1)
        named = tuple(map(tuple, rows)) if parts else ()
        for row in named:
            if len(row) != len(parts):
                raise ParameterError("rows", row, f"{len(parts)} parts in each, one per name")
        names = [
            ", ".join(f"{name}={part}" for name, part in zip(parts, row, strict=True))
            for row in named
        ]
        whole = tuple(names if parts else map(str, rows))
        return cls(whole, tuple(columns), array, people, mark_above, tuple(parts), named, more)

    @property
    def empty(self) -> BoolArray:
        """The rows without support; their numbers are about no person."""
        none: BoolArray = np.zeros(len(self.rows), dtype=np.bool_)
        return none if self.support is None else self.support == 0

    @property
    def marked(self) -> BoolArray:
        """The cells above the mark that have support."""
        bound = np.inf if self.mark_above is None else self.mark_above
        found: BoolArray = (self.values > bound) & ~self.empty[:, None]
        return found

    def choose(self) -> tuple[IntArray, IntArray]:
        """Choose the rows with the most support and the columns with the highest cells.

        >>> HeatmapCells.of(["a", "b"], ["x", "y"], [[1, 0], [0, 1]]).choose()
        (array([0, 1]), array([0, 1]))
        """
        weight = np.zeros(len(self.rows)) if self.support is None else -self.support
        rows = np.sort(np.argsort(weight, kind="stable")[:MOST_ROWS])
        highest = np.nan_to_num(self.values[rows]).max(axis=0, initial=0)
        columns = np.sort(np.argsort(-highest, kind="stable")[:MOST_COLUMNS])
        return rows, columns

    def take(self, rows: IntArray, columns: IntArray) -> "HeatmapCells":
        """Keep some rows and columns."""
        return HeatmapCells(
            tuple(self.rows[r] for r in rows),
            tuple(self.columns[c] for c in columns),
            self.values[np.ix_(rows, columns)],
            None if self.support is None else self.support[rows],
            self.mark_above,
            self.parts,
            tuple(self.named[r] for r in rows) if self.parts else (),
            self.more,
        )

    def remarks(self) -> str:
        """Return what the signs mean, and what there is no room for.

        >>> HeatmapCells.of(["a"], ["x"], [[1]], mark_above=0.8).remarks()
        'Outlined: above 80 %.'
        """
        rows, columns = self.choose()
        shown = self.take(rows, columns)
        hidden = int(np.delete(self.marked, rows, axis=0).any(axis=1).sum()) + self.more[1]
        less = " with less support" if self.support is not None else ""
        also = f", {hidden} of them with a cell above the mark" if hidden else ""
        left_out = (
            len(self.rows) - len(rows) + self.more[0],
            len(self.columns) - len(columns),
        )
        texts = [
            (shown.marked.any(), f"Outlined: above {percent(self.mark_above or 0)}."),
            (shown.empty.any(), "Dashed: no row has this combination, so nothing is known."),
            (left_out[0], f"Not drawn: {count_of(left_out[0], 'row')}{less}{also}."),
            (left_out[1], f"Not drawn: {count_of(left_out[1], 'column')} with lower cells."),
        ]
        return " ".join(text for used, text in texts if used)


_SIZE = 12.0
_SMALL = 11.0
_HEIGHT = 30.0
_WIDE, _SLIM = 54.0, 26.0
_WIDEST_NAME, _WIDEST_PART, _WIDEST_HEAD = 300.0, 170.0, 120.0
_GAP = 16.0
"""Between the parts of a name."""

_SLOPE = 50.0
_SUPPORT = 66.0
_LIGHT, _DARK, _DARK_GREY = (247, 250, 252), (23, 66, 105), (52, 58, 64)


class HeatmapWords(NamedTuple):
    """The words for the numbers of a table, on screen and for screen readers, and their shade."""

    name: str = "Table of probabilities"
    most: str = "most likely"
    """What is said before the column that is darkest in a row."""

    figure: Callable[[float], str] = percent
    grey: bool = False
    """Whether cells are grey: blue is what is published."""


PROBABILITIES = HeatmapWords()


def heatmap_svg(  # noqa: PLR0913 - all but four have a default
    rows: Sequence[str] | Sequence[Sequence[str]],
    columns: Sequence[str],
    values: ArrayLike,
    *,
    title: str,
    support: ArrayLike | None = None,
    mark_above: float | None = None,
    parts: Sequence[str] = (),
    more: tuple[int, int] = (0, 0),
    words: HeatmapWords = PROBABILITIES,
) -> str:
    """Draw a table of probabilities: one row per combination of parents, one column per value.

    Cells are shaded, and have their number where there is room. A row without
    support is drawn pale and never marked: its numbers are about no person. Of a long
    table the rows with the most support are drawn, of a wide one the columns with the
    highest cells, in the order given; a note says what is left out. Names that are too long
    are shortened, and never so that two of them look the same.

    Args:
        rows: What each row is called: a text, or as many texts as `parts`.
        columns: What each column is called.
        values: The probabilities, rows by columns; NaN where nothing is known.
        title: A heading.
        support: How many people stand behind each row.
        mark_above: Cells above this are outlined.
        parts: What the parts of the rows' names are, if they have parts: each gets a column.
        more: Rows with less support that are not among those given, and how many of them have
            a cell above the mark.
        words: What the numbers are, if they are no probabilities.

    Example:
        >>> drawing = heatmap_svg(["F", "M"], ["low", "high"], [[1, 0], [0.4, 0.6]],
        ...                       title="Pay by sex", support=[5, 5], mark_above=0.8)
        >>> drawing.count('class="marked"'), "60 %" in drawing
        (1, True)
    """
    cells = HeatmapCells.of(
        rows, columns, values, support=support, mark_above=mark_above, parts=parts, more=more
    )
    shown = cells.take(*cells.choose())
    body = _body(shown, words)
    remarks = cells.remarks()
    return page(
        body,
        note(remarks, max(body.width, 320.0)),
        title=title,
        name=words.name,
        description=" ".join(filter(None, [_in_words(shown, words), remarks])),
    )


class _Grid(NamedTuple):
    """Where the cells are."""

    left: float
    top: float
    pitch: float
    right: float


def _body(cells: HeatmapCells, words: HeatmapWords) -> DrawnPart:
    names = _row_names(cells)
    heads = shorten_apart(cells.columns, _WIDEST_HEAD, _SMALL)
    widest = max((width_of(head, _SMALL) for head in heads), default=0.0)
    many = len(heads) > 16
    sloped = many or widest > 90
    left = names.width + 12
    top = widest * sin(radians(_SLOPE)) + 18 if sloped else 26.0
    pitch = _SLIM if many else _WIDE if sloped else max(_WIDE, widest + 14)
    grid = _Grid(left, top, pitch, left + pitch * len(heads))
    drawn = [
        *_heads(heads, cells.columns, grid, sloped=sloped),
        *_names(names, cells.rows, grid),
        *(
            _cell(cells, r, c, grid, words)
            for r in range(len(cells.rows))
            for c in range(len(heads))
        ),
        *_support(cells, grid),
    ]
    beyond = widest * cos(radians(_SLOPE)) if sloped else 0.0
    width = grid.right + max(beyond, _SUPPORT if cells.support is not None else 0.0)
    return DrawnPart(group(*drawn), width, top + _HEIGHT * len(cells.rows) + 6)


def _heads(
    shown: Sequence[str], columns: Sequence[str], grid: _Grid, *, sloped: bool
) -> list[Markup]:
    drawn = []
    for c, (text, column) in enumerate(zip(shown, columns, strict=True)):
        x, y = grid.left + (c + 0.5) * grid.pitch, grid.top - 10
        turn = f"rotate({number(-_SLOPE)} {number(x)} {number(y)})" if sloped else None
        anchor = "start" if sloped else "middle"
        written = label(text, x, y, size=_SMALL, text_anchor=anchor, transform=turn)
        drawn.append(group(written, tooltip=column))
    return drawn


class _Names(NamedTuple):
    """The names of the rows, as they are drawn: in columns, each with where it begins."""

    width: float
    heads: list[str]
    """What stands above each column; nothing if a name is all one."""

    starts: list[float]
    texts: list[tuple[str, ...]]


def _row_names(cells: HeatmapCells) -> _Names:
    if not cells.parts:
        shown = shorten_apart(cells.rows, _WIDEST_NAME, _SIZE)
        width = max((width_of(name, _SIZE) for name in shown), default=0.0)
        return _Names(width, [], [], [(name,) for name in shown])
    heads = shorten_apart(cells.parts, _WIDEST_PART, _SMALL)
    columns, starts, end = [], [], 0.0
    for p, head in enumerate(heads):
        texts = shorten_apart([row[p] for row in cells.named], _WIDEST_PART, _SIZE)
        widest = max([width_of(head, _SMALL), *(width_of(text, _SIZE) for text in texts)])
        columns.append(texts)
        starts.append(end)
        end += widest + _GAP
    return _Names(end - _GAP, heads, starts, list(zip(*columns, strict=True)))


def _names(names: _Names, rows: Sequence[str], grid: _Grid) -> list[Markup]:
    drawn = [
        label(head, start, grid.top - 10, size=_SMALL, fill=FAINT)
        for head, start in zip(names.heads, names.starts, strict=True)
    ]
    for r, (texts, row) in enumerate(zip(names.texts, rows, strict=True)):
        y = _middle(grid, r)
        if names.heads:
            written = [
                label(text, start, y, size=_SIZE)
                for text, start in zip(texts, names.starts, strict=True)
            ]
        else:
            written = [label(texts[0], grid.left - 12, y, size=_SIZE, text_anchor="end")]
        drawn.append(group(*written, tooltip=row))
    return drawn


def _support(cells: HeatmapCells, grid: _Grid) -> list[Markup]:
    if cells.support is None:
        return []
    x = grid.right + _SUPPORT - 4
    # Thin spaces between thousands: a comma is a decimal sign to half of the readers.
    numbers = [format_integer(people) for people in cells.support.tolist()]
    return [
        label("rows", x, grid.top - 10, size=_SMALL, text_anchor="end", fill=FAINT),
        *(
            label(text, x, _middle(grid, r), size=_SMALL, text_anchor="end")
            for r, text in enumerate(numbers)
        ),
    ]


def _middle(grid: _Grid, row: int) -> float:
    return grid.top + (row + 0.5) * _HEIGHT


def _cell(cells: HeatmapCells, r: int, c: int, grid: _Grid, words: HeatmapWords) -> Markup:
    share = float(cells.values[r, c])
    text = "–" if isnan(share) else words.figure(share)
    pale, marked = isnan(share) or bool(cells.empty[r]), bool(cells.marked[r, c])
    box = Box(grid.left + c * grid.pitch, grid.top + r * _HEIGHT, grid.pitch, _HEIGHT)
    dark = _DARK_GREY if words.grey else _DARK
    parts = [_draw_shade(_inset(box, 3), share, dark, pale=pale)]
    if marked:
        # A white gap parts the line from the cell, so it is seen around a dark one too.
        parts.append(rectangle(_inset(box, 1), rx=4, fill="none", stroke=INK, stroke_width=1.8))
    if width_of(text, _SMALL) <= box.width - 6:
        colour = FAINT if pale else PAPER if share > 0.62 else None
        weight = "700" if marked else None
        x, y = box.x + box.width / 2, box.y + box.height / 2
        look = {"text_anchor": "middle", "fill": colour, "font_weight": weight}
        parts.append(label(text, x, y, size=_SMALL, **look))
    tooltip = f"{cells.rows[r]} → {cells.columns[c]}: {text}"
    return group(*parts, tooltip=tooltip, class_="marked" if marked else "cell")


def _draw_shade(box: Box, share: float, dark: tuple[int, ...], *, pale: bool) -> Markup:
    if pale:
        return rectangle(box, rx=2, fill=PAPER, stroke="#b8bec5", stroke_dasharray="3 3")
    mixed = [round(a + (b - a) * share) for a, b in zip(_LIGHT, dark, strict=True)]
    line = "#c9d2da" if share < 0.25 else None
    return rectangle(box, rx=2, fill="#" + "".join(f"{part:02x}" for part in mixed), stroke=line)


def _inset(box: Box, by: float) -> Box:
    return Box(box.x + by, box.y + by, box.width - 2 * by, box.height - 2 * by)


def _in_words(cells: HeatmapCells, words: HeatmapWords) -> str:
    size = f"{count_of(len(cells.rows), 'row')} and {count_of(len(cells.columns), 'column')}."
    texts = []
    for r, row in enumerate(cells.rows):
        shares = np.nan_to_num(cells.values[r], nan=-1.0)
        if not len(shares) or shares.max() < 0 or cells.empty[r]:
            continue
        best = int(shares.argmax())
        behind = "" if cells.support is None else f" of {count_of(int(cells.support[r]), 'row')}"
        darkest, figure = one_line(cells.columns[best]), words.figure(float(shares[best]))
        texts.append(f"{one_line(row)}: {words.most} {darkest}, {figure}{behind}.")
    return " ".join([size, *texts])
