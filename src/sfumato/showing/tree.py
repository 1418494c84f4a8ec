"""Trees as drawings, from left to right: value trees of hierarchies, and groups of rows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Literal, TypeAlias

from sfumato.dataclasses import dataclass
from sfumato.showing.content import Markup
from sfumato.showing.svg import (
    FAINT,
    INK,
    PAPER,
    SAMPLE,
    Attribute,
    Box,
    DrawnPart,
    Item,
    count_of,
    element,
    group,
    label,
    legend,
    note,
    number,
    one_line,
    page,
    rectangle,
    shorten,
    width_of,
)

MOST_LINES = 48
"""The labels below each other that are drawn; of more, the rest is counted."""

_SIZE = 12.0
_SMALL = 10.5
_LINE = 14.5
_PAD = 6.0
_BETWEEN = 6.0
_COLUMN = 44.0
_WIDEST = 230.0
_GREY = "#8a9097"

Kind: TypeAlias = Literal["plain", "absent", "more", "last", "failed"]
"""A label, one that no row has, what is left out, a class, or a group that failed."""

_FRAMES: Mapping[str, dict[str, Attribute]] = {
    "plain": {"fill": "#f4f4f2", "stroke": "#6b7076"},
    "absent": {"fill": PAPER, "stroke": _GREY, "stroke_dasharray": "4 3"},
    "last": {"fill": "#e4eff8", "stroke": "#2c5f8a", "stroke_width": 2.4},
    "failed": {"fill": PAPER, "stroke": _GREY, "stroke_dasharray": "4 3"},
}


@dataclass(frozen=True)
class Twig:
    """A box of a tree: its lines, how it looks, and what is below it."""

    lines: tuple[str, ...]
    below: tuple["Twig", ...] = ()
    kind: Kind = "plain"
    tooltip: str = ""


@dataclass(frozen=True)
class Branch:
    """A label of a value tree, and how to find those below it."""

    text: str
    below: Callable[[], Sequence["Branch"]]
    absent: bool = False
    """Whether no row has it."""

    values: int = 1
    """The raw values it stands for."""


def value_tree_svg(root: Branch, sizes: Sequence[int], *, column: str, title: str) -> str:
    """Return a drawing of a hierarchy: its levels on top, and the tree of its labels below.

    Where there are more labels than can be read, each group shows its first ones and counts the
    rest.

    Args:
        root: The label at the top.
        sizes: How many labels each level has, level 0 first.
        column: The column's name.
        title: A heading.

    Example:
        >>> leaves = [Branch(text, tuple) for text in ("f", "m")]
        >>> drawing = value_tree_svg(Branch("*", lambda: leaves), [2, 1], column="sex", title="Sex")
        >>> "level 1" in drawing, "Level 0 of sex has 2 labels" in drawing
        (True, True)
    """
    most = _most_children(root)
    tree = _twig(root, most)
    heads = [
        (f"level {level}", count_of(sizes[level], "label"))
        for level in range(len(sizes) - 1, -1, -1)
    ]
    drawn = tree_part([tree], heads)
    found = list(_walk(tree))
    some_absent = any(each.kind == "absent" for each in found)
    signs = []
    if some_absent:
        signs = [Item(_sign("plain"), "in the table"), Item(_sign("absent"), "not in the table")]
    levels = "; ".join(
        f"Level {level} of {one_line(column)} has {count_of(size, 'label')}"
        for level, size in enumerate(sizes)
    )
    hidden = sum(each.kind == "more" for each in found)
    remark = f"In {count_of(hidden, 'group')} further labels are only counted." if hidden else ""
    # In words: every group that is drawn, with what is drawn below it.
    told = [
        f"{each.lines[0]}: {', '.join(twig.lines[0] for twig in each.below)}"
        for each in found
        if each.below
    ]
    return page(
        drawn,
        legend(signs, max(drawn.width, 320.0)),
        note(remark, max(drawn.width, 320.0)),
        title=title,
        name="Value tree",
        description=f"{levels}. {'. '.join(told)}.",
    )


def growth_svg(roots: Sequence[Twig], *, title: str, remark: str = "") -> str:
    """Return a drawing of how groups grow out of each other, from left to right.

    Args:
        roots: The groups it starts with.
        title: A heading.
        remark: A note below.

    Example:
        >>> good = Twig(("f", "2 rows, a class"), kind="last")
        >>> bad = Twig(("m", "1 row"), kind="failed")
        >>> drawing = growth_svg([Twig(("*", "3 rows"), (good, bad))], title="Steps")
        >>> drawing.count('class="branch"'), "f, 2 rows, a class" in drawing
        (2, True)
    """
    kept = list(roots)
    for most in (MOST_LINES, 24, 12, 8, 6, 4, 3, 2, 1):
        kept = _cut(roots, most)
        if sum(1 for root in kept for each in _walk(root) if not each.below) <= MOST_LINES:
            break
    drawn = tree_part(kept)
    found = [each for root in kept for each in _walk(root)]
    meanings: dict[Kind, str] = {
        "plain": "specialised further",
        "last": "a class, left as it is",
        "failed": "not kept: its rows go back to the group on its left",
    }
    used = {each.kind for each in found}
    signs = [Item(_sign(kind), text) for kind, text in meanings.items() if kind in used]
    told = [each.tooltip or ", ".join(each.lines) for each in found]
    wide = max(drawn.width, 420.0)
    return page(
        drawn,
        legend(signs, wide),
        note(remark, wide),
        title=title,
        name="Groups",
        description=" ".join(f"{text.rstrip('.')}." for text in told),
    )


def _cut(twigs: Sequence[Twig], most: int) -> list[Twig]:
    """Return the first twigs at every place, and how many more there are."""
    shown = twigs if len(twigs) <= most + 1 else twigs[:most]
    kept = [replace(each, below=tuple(_cut(each.below, most))) for each in shown]
    left = len(twigs) - len(shown)
    return [*kept, Twig((f"and {left} more",), kind="more")] if left else kept


def _most_children(root: Branch) -> int:
    """Return how many labels a group may show for the whole to stay readable."""
    for most in (MOST_LINES, 36, 25, 16, 12, 9, 7, 5, 4, 3, 2):
        # Counting ends as soon as there are too many: a hierarchy may have a million values.
        if sum(1 for _ in islice(_lines_of(root, most), MOST_LINES + 1)) <= MOST_LINES:
            return most
    return 1


def _lines_of(branch: Branch, most: int) -> Iterator[None]:
    """Yield once per line that a branch takes."""
    below = branch.below()
    if not below:
        yield
        return
    for each in _first_of(below, most):
        yield from _lines_of(each, most)
    if len(below) > len(_first_of(below, most)):
        yield


def _first_of(below: Sequence[Branch], most: int) -> Sequence[Branch]:
    """Return the first ones; one more is drawn in place of saying that there is one more."""
    return below if len(below) <= most + 1 else below[:most]


def _twig(branch: Branch, most: int) -> Twig:
    below = branch.below()
    shown = _first_of(below, most)
    twigs = [_twig(each, most) for each in shown]
    if len(below) > len(shown):
        left = below[len(shown) :]
        values = sum(each.values for each in left)
        more = f"and {len(left)} more"
        text = more if values == len(left) else f"{more}, {count_of(values, 'value')}"
        twigs.append(Twig((text,), kind="more"))
    kind: Kind = "absent" if branch.absent else "plain"
    told = count_of(branch.values, "value")
    absent = ", none in the table" if branch.absent else ""
    tip = f"{one_line(branch.text)}: {told}{absent}" if below else one_line(branch.text) + absent
    return Twig((branch.text,), tuple(twigs), kind, tip)


def _walk(twig: Twig) -> Iterator[Twig]:
    yield twig
    for each in twig.below:
        yield from _walk(each)


# The layout: a column per depth; a parent stands in the middle of what is below it.


def tree_part(roots: Sequence[Twig], heads: Sequence[tuple[str, ...]] = ()) -> DrawnPart:
    """Draw trees below each other.

    Args:
        roots: The trees.
        heads: The lines of a box above each column, joined by arrows to the left.
    """
    widths: dict[int, float] = {}
    # What is only counted has no box: it may reach into the next column, where nothing stands.
    loose: dict[int, float] = {}
    for root in roots:
        _measure(root, 0, widths, loose)
    for depth, lines in enumerate(heads):
        wide = max(width_of(line, _SIZE) for line in lines) + 2 * _PAD
        widths[depth] = max(widths.get(depth, 0.0), wide)
    left: list[float] = []
    x = 0.0
    for depth in range(len(widths)):
        left.append(x)
        x += widths[depth] + _COLUMN
    drawn: list[Markup] = []
    y = 0.0
    if heads:
        drawn.append(_draw_heads(heads, left, widths))
        y = max(map(len, heads)) * _LINE + 2 * _PAD + 22
    for root in roots:
        y = _draw(root, 0, y, left, widths, drawn)[1] + _BETWEEN
    right = max([x - _COLUMN, *(left[depth] + wide for depth, wide in loose.items())])
    return DrawnPart(group(*drawn), right, y)


def _measure(twig: Twig, depth: int, widths: dict[int, float], loose: dict[int, float]) -> None:
    wide = max(width_of(_shown_text(line), _SIZE) for line in twig.lines) + 2 * _PAD
    found = loose if twig.kind == "more" else widths
    found[depth] = max(found.get(depth, 0.0), wide)
    for each in twig.below:
        _measure(each, depth + 1, widths, loose)


def _shown_text(line: str) -> str:
    """Return a line as it is drawn."""
    return shorten(line, _WIDEST, _SIZE) or "(empty)"


def _height(twig: Twig) -> float:
    return len(twig.lines) * _LINE + _PAD


def _draw(
    twig: Twig,
    depth: int,
    top: float,
    left: Sequence[float],
    widths: Mapping[int, float],
    drawn: list[Markup],
) -> tuple[float, float]:
    """Draw a twig and all below it from a height on; return its middle and where it ends."""
    height = _height(twig)
    middles, end = [], top
    for each in twig.below:
        middle, end = _draw(each, depth + 1, end, left, widths, drawn)
        middles.append(middle)
        end += _BETWEEN
    end = max(end - _BETWEEN if middles else end, top + height)
    middle = (middles[0] + middles[-1]) / 2 if middles else top + height / 2
    middle = max(middle, top + height / 2)
    x, right = left[depth], left[depth] + widths[depth]
    for place in middles:
        # From the right side of the box to the left side of each one below it.
        half = right + _COLUMN / 2
        path = f"M{number(right)} {number(middle)}H{number(half)}V{number(place)}"
        path += f"H{number(right + _COLUMN)}"
        drawn.append(element("path", d=path, fill="none", stroke=_GREY, class_="branch"))
    drawn.append(_box(twig, Box(x, middle - height / 2, widths[depth], height)))
    return middle, max(end, middle + height / 2)


def _box(twig: Twig, box: Box) -> Markup:
    faint = twig.kind in ("absent", "more", "failed")
    written = [
        label(
            _shown_text(line),
            box.x + _PAD,
            box.y + _PAD / 2 + _LINE * (i + 0.5),
            size=_SIZE if i == 0 else _SMALL,
            fill=FAINT if faint or i else INK,
            font_style="italic" if twig.kind == "more" else None,
            font_weight="600" if twig.kind == "last" and i == 0 else None,
        )
        for i, line in enumerate(twig.lines)
    ]
    frame = [] if twig.kind == "more" else [rectangle(box, rx=4, **_FRAMES[twig.kind])]
    return group(*frame, *written, tooltip=twig.tooltip, class_=f"twig {twig.kind}")


def _draw_heads(
    heads: Sequence[tuple[str, ...]], left: Sequence[float], widths: Mapping[int, float]
) -> Markup:
    height = max(map(len, heads)) * _LINE + _PAD
    drawn = []
    for depth, lines in enumerate(heads):
        middle = left[depth] + widths[depth] / 2
        box = Box(left[depth], 0, widths[depth], height)
        drawn.append(rectangle(box, rx=4, fill="#e4eff8", stroke="#2c5f8a", stroke_width=1.5))
        drawn += [
            label(line, middle, _PAD / 2 + _LINE * (i + 0.5), size=_SIZE if i == 0 else _SMALL,
                  text_anchor="middle")
            for i, line in enumerate(lines)
        ]  # fmt: skip
        if depth:
            end, start = left[depth] - _COLUMN + 2, left[depth] - 2
            y = height / 2
            drawn.append(_arrow(start, end, y))
    return group(*drawn, class_="levels")


def _arrow(start: float, end: float, y: float) -> Markup:
    head = f"M{number(end)} {number(y)}l9 -4.5v9Z"
    return group(
        element("path", d=f"M{number(start)} {number(y)}H{number(end + 8)}", stroke=INK),
        element("path", d=head, fill=INK),
    )


def _sign(kind: Kind) -> Markup:
    box = Box(SAMPLE.x + 2, SAMPLE.y + 1, SAMPLE.width - 4, SAMPLE.height - 2)
    return rectangle(box, rx=4, **_FRAMES[kind])
