"""Boxes of chips for groups, and a line with cut points: what the page of hierarchies draws."""

from bisect import bisect_left
from collections.abc import Collection, Sequence
from datetime import date
from decimal import Decimal
from itertools import accumulate, pairwise
from math import floor, log10
from typing import NamedTuple

from sfumato.dataclasses import dataclass
from sfumato.hierarchy.editing import CutPoints, GroupTree, LevelPreview
from sfumato.hierarchy.intervals import Days, Ends, WholeNumbers, is_whole, label

_BOXES = 24
_CHIPS = 10
_ALONE = 60
_EXPANDED = 600
"""How much of a large column a page shows at once."""


class Chip(NamedTuple):
    """A value or a group of the level below, in a group."""

    key: str
    """What the page calls it; the same as long as the level below is not edited."""

    label: str
    rows: int
    values: int


class GroupBox(NamedTuple):
    """A group with what is in it, as far as it is shown."""

    key: str
    label: str
    rows: int
    chips: Sequence[Chip]
    more: int
    """Chips that are not shown."""


@dataclass(frozen=True)
class Board:
    """A level of a tree: its groups, and what stands by itself."""

    level: int
    boxes: Sequence[GroupBox]
    alone: Sequence[Chip]
    n_boxes: int
    n_alone: int
    n_parts: int
    names: Sequence[str]
    """All groups that something can be moved into, by name."""

    page: int
    pages: int


def board_of(
    tree: GroupTree, level: int, *, search: str = "", page: int = 0, expanded: Collection[str] = ()
) -> Board:
    """Return a level of a tree for a page, what most rows have first.

    Args:
        tree: The tree.
        level: The level of the groups.
        search: Only groups and parts with this text in their names.
        page: Which part of a long list.
        expanded: Groups of which all parts are shown.
    """
    rows, below = tree.counts(level), tree.counts(level - 1)
    sizes = {name: len(members) for name, members in tree.groups(level - 1).items()}
    keys = {name: f"{level - 1}-{at}" for at, name in enumerate(sizes)}
    wanted = search.strip().casefold()

    def chips(parts: Sequence[str]) -> list[Chip]:
        found = [Chip(keys[part], part, below[part], sizes[part]) for part in parts]
        return sorted(found, key=lambda chip: (-chip.rows, chip.label))

    boxes: list[GroupBox] = []
    alone: list[Chip] = []
    names: list[str] = []
    for name, parts in tree.parts(level).items():
        lone = parts == (name,)
        if not lone:
            names.append(name)
        shown = [part for part in parts if wanted in part.casefold()]
        if wanted and not shown and wanted in name.casefold():
            shown = list(parts)
        if not shown:
            continue
        found = chips(shown)
        if lone:
            alone += found
        else:
            most = _EXPANDED if name in expanded else _CHIPS
            key = f"{level}-{keys[parts[0]]}"
            boxes.append(GroupBox(key, name, rows[name], found[:most], len(found) - most))
    boxes.sort(key=lambda box: (-box.rows, box.label))
    alone.sort(key=lambda chip: (-chip.rows, chip.label))
    pages = max(-(-len(boxes) // _BOXES), -(-len(alone) // _ALONE), 1)
    at = min(max(page, 0), pages - 1)
    return Board(
        level,
        boxes[at * _BOXES : (at + 1) * _BOXES],
        alone[at * _ALONE : (at + 1) * _ALONE],
        len(boxes),
        len(alone),
        len(sizes),
        sorted(names, key=str.casefold),
        at,
        pages,
    )


# The line of numbers.


class HistogramBar(NamedTuple):
    """A bar of the histogram; places and sizes are percents."""

    x: str
    width: str
    height: str
    y: str
    words: str


class Handle(NamedTuple):
    """A cut point that can be dragged."""

    x: str
    at: str
    """Its place as a number; of days, their number."""

    text: str
    low: str
    high: str
    """How far it can be moved."""


class LevelRange(NamedTuple):
    """A range of a level, beneath the histogram."""

    x: str
    width: str
    label: str
    rows: int
    few: bool
    named: bool = False
    """Whether there is room for its label."""

    counted: bool = False
    """Whether there is room for its rows."""


@dataclass(frozen=True)
class Ruler:
    """A histogram with the cut points of a level, and the ranges of all levels beneath."""

    low: str
    high: str
    step: str
    days: bool
    bars: Sequence[HistogramBar]
    handles: Sequence[Handle]
    lines: Sequence[str]
    """Where the other cut points are, of finer levels."""

    strips: Sequence[tuple[int, Sequence[LevelRange]]]
    ticks: Sequence[tuple[str, str]]
    crowded: bool
    """Whether there are too many cut points to be dragged."""


_BARS = 72
_HANDLES = 80
_NARROW, _LETTER = 6.0, 6.4
"""Pixels of a percent of the line in a narrow window, and of a letter."""


def ruler_of(form: CutPoints, level: int, k: int) -> Ruler:
    """Return the line of a column, with the cut points of a level to be moved.

    Args:
        form: The intervals.
        level: The level that is edited.
        k: How many rows a label should have at least.
    """
    points, scale = form.points, form.scale
    whole = isinstance(scale, Days) or all(map(is_whole, points))
    low, high = _ends(points, whole=whole)
    span = high - low

    def share(point: Decimal) -> float:
        return 100 * min(max(float((point - low) / span), 0.0), 1.0)

    written = WholeNumbers() if whole and not isinstance(scale, Days) else scale
    cuts = form.cuts[level - 1] if level <= len(form.cuts) else ()
    bounds = [low, *form.cuts[0], high] if form.cuts else [low, high]
    step = _step(span, whole=whole)
    handles = []
    for cut in cuts:
        at = form.cuts[0].index(cut) + 1
        least, most = bounds[at - 1], bounds[at + 1]
        near = (least + step if at > 1 else min(least, cut), most - step)
        last = at == len(form.cuts[0])
        handles.append(
            Handle(
                _percent(share(cut)),
                _plain(cut),
                scale.point(cut),
                _plain(min(near[0], cut)),
                _plain(max(most if last else near[1], cut)),
            )
        )
    places, reached = list(points), [0, *accumulate(points.values())]
    strips = []
    for number, ranges in enumerate(_ranges(form), start=1):
        drawn = []
        for first, after in ranges:
            left = 0.0 if first is None else share(first)
            right = 100.0 if after is None else share(after)
            begin = 0 if first is None else bisect_left(places, first)
            end = len(places) if after is None else bisect_left(places, after)
            rows = reached[end] - reached[begin]
            name, wide = label(written, first, after), right - left
            drawn.append(
                LevelRange(
                    _percent(left),
                    _percent(wide),
                    name,
                    rows,
                    0 < rows < k,
                    wide * _NARROW > len(name) * _LETTER,
                    wide * _NARROW > 3 * _LETTER,
                )
            )
        strips.append((number, drawn))
    finest = form.cuts[0] if form.cuts else ()
    return Ruler(
        _plain(low),
        _plain(high),
        _plain(step),
        isinstance(scale, Days),
        _bars(form, low, high, whole=whole),
        handles[:_HANDLES],
        [_percent(share(cut)) for cut in finest if cut not in cuts][:300],
        strips[::-1],
        _ticks(form, low, high, whole=whole),
        len(handles) > _HANDLES,
    )


def _ranges(form: CutPoints) -> list[list[Ends]]:
    """Return the ranges of each level in their order: of even ones, those that hold rows."""
    if form.is_even:
        least = Decimal("-Infinity")
        return [
            sorted(level, key=lambda ends: least if ends[0] is None else ends[0])
            for level in form.intervals.ranges(form.points)
        ]
    return [list(pairwise([None, *cuts, None])) for cuts in form.cuts]


def _ends(points: dict[Decimal, int], *, whole: bool) -> tuple[Decimal, Decimal]:
    """Return where the line begins and ends; a long thin tail is beyond its end."""
    places = list(points)
    total, reached, low, high = sum(points.values()), 0, places[0], places[-1]
    inner_low, inner_high = low, high
    for place, rows in points.items():
        if reached <= 0.005 * total:
            inner_low = place
        reached += rows
        if reached <= 0.995 * total:
            inner_high = place
    if inner_high > inner_low:
        room = (inner_high - inner_low) * 2
        low = max(low, inner_low - room)
        high = min(high, inner_high + room)
    # The last value has a width, too.
    return low, high + (1 if whole else (high - low) / 50 or Decimal(1))


def _bars(form: CutPoints, low: Decimal, high: Decimal, *, whole: bool) -> list[HistogramBar]:
    span = high - low
    number = _BARS
    if whole and span <= 2 * _BARS:
        number = int(span)
    elif whole:
        # Bars of whole numbers are whole numbers wide, or a comb of few and many would be seen.
        number = int(span / max(round(span / _BARS), 1)) or 1
    rows = [0] * number
    for point, there in form.points.items():
        at = int((point - low) / span * number)
        rows[min(max(at, 0), number - 1)] += there
    tallest = max(rows) or 1
    width = 100 / number
    bars = []
    for at, there in enumerate(rows):
        if there:
            first = form.scale.point(low + span * at / number)
            tall = max(100 * there / tallest, 1.5)
            bars.append(
                HistogramBar(
                    _percent(at * width),
                    _percent(width * 0.92),
                    _percent(tall),
                    _percent(100 - tall),
                    f"{first[:12]}: {there}",
                )
            )
    return bars


def _ticks(form: CutPoints, low: Decimal, high: Decimal, *, whole: bool) -> list[tuple[str, str]]:
    """Return round places on the line and how they are written."""
    if isinstance(form.scale, Days):
        return _months(low, high)
    span = high - low
    step = _round_up(span / 7, whole=whole)
    first = (low / step).to_integral_value(rounding="ROUND_CEILING") * step
    found = []
    while first <= high:
        place = 100 * float((first - low) / span)
        if 1 <= place <= 97:
            found.append((_percent(place), form.scale.point(first)))
        first += step
    return found


def _months(low: Decimal, high: Decimal) -> list[tuple[str, str]]:
    """Return the beginnings of months or years on a line of days."""
    first, last = (date.fromordinal(min(int(day), date.max.toordinal())) for day in (low, high))
    begin, end = (12 * day.year + day.month - 1 for day in (first, last))
    widths = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200)
    step = next((width for width in widths if (end - begin) <= 7 * width), 6000)
    found = []
    for month in range(-(-begin // step) * step, end + 1, step):
        day = date(month // 12, month % 12 + 1, 1)
        place = 100 * float((day.toordinal() - low) / (high - low))
        if 1 <= place <= 97:
            found.append((_percent(place), str(day)[: 4 if step % 12 == 0 else 7]))
    return found


def _round_up(step: Decimal, *, whole: bool) -> Decimal:
    least = Decimal(1) if whole else Decimal("1e-12")
    exponent = floor(log10(float(max(step, least))))
    for digit in (1, 2, 5, 10):
        found = Decimal(digit).scaleb(exponent)
        if found >= step:
            return max(found, least)
    return step


def _step(span: Decimal, *, whole: bool) -> Decimal:
    """Return how far an arrow key moves a cut point."""
    return Decimal(1) if whole and span <= 400 else _round_up(span / 400, whole=whole)


def _percent(share: float) -> str:
    return f"{share:.3f}%"


def _plain(point: Decimal) -> str:
    text = format(point, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


# What each level does.


class LevelRow(NamedTuple):
    """A level in the overview."""

    level: int
    labels: int
    smallest: int
    below: int
    """Rows whose label fewer than k rows have."""

    pieces: Sequence[LevelRange]
    such: Sequence[tuple[str | None, int]]
    more: int


_PIECES = 60
_SUCH = 200


def level_rows(levels: Sequence[LevelPreview], k: int) -> list[LevelRow]:
    """Return the levels for an overview, the most general first."""
    found = []
    for each in levels:
        total = sum(one.rows for one in each.labels) or 1
        at, pieces = 0.0, []
        for one in each.labels[:_PIECES]:
            width = 100 * one.rows / total
            pieces.append(
                LevelRange(_percent(at), _percent(width), one.label or "", one.rows, one.rows < k)
            )
            at += width
        such = [(one.label, one.rows) for one in each.labels[:_SUCH]]
        found.append(
            LevelRow(
                each.level, each.groups, each.smallest, each.rows_below(k), pieces, such,
                max(each.groups - _SUCH, 0),
            )
        )  # fmt: skip
    return found
