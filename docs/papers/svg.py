"""Plots as SVG: lines and bars that can be told apart without colour."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

WIDTH, HEIGHT = 330, 250
"""One panel's axes."""

LEFT, RIGHT, TOP, BOTTOM, ROW = 68, 22, 46, 58, 24
_INK, _GRID = "#222222", "#dddddd"

_STYLES = (
    ("#0072b2", "", "circle"),
    ("#d55e00", "7 4", "square"),
    ("#009e73", "2 4", "triangle"),
    ("#444444", "9 3 2 3", "diamond"),
    ("#cc79a7", "12 4", "cross"),
    ("#8a6d00", "4 2", "hollow circle"),
    ("#56b4e9", "1 3", "hollow square"),
    ("#7a2e8e", "6 2 1 2", "hollow triangle"),
    ("#b22222", "3 3", "hollow diamond"),
    ("#000000", "14 3 3 3", "star"),
)
"""Colour, dashes and marker of each line: any one of the three is enough to tell them apart."""

_FILLS = ("#ffffff", "#bbbbbb", "url(#lines)", "url(#dots)")
_PATTERNS = (
    '<defs><pattern id="lines" width="6" height="6" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><rect width="6" height="6" fill="#ffffff"/>'
    '<line x1="0" y1="0" x2="0" y2="6" stroke="#0072b2" stroke-width="4"/></pattern>'
    '<pattern id="dots" width="5" height="5" patternUnits="userSpaceOnUse">'
    '<rect width="5" height="5" fill="#ffffff"/><circle cx="2.5" cy="2.5" r="1.6" '
    'fill="#d55e00"/></pattern></defs>'
)


@dataclass(frozen=True)
class Line:
    """A named line through points."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Panel:
    """Axes with lines; in a figure, lines in the same place look the same."""

    title: str
    x: str
    y: str
    lines: Sequence[Line]
    log: bool = False
    first: int = 0
    """The style of the first line, where a panel leaves out the first lines of another."""

    from_zero: bool = False
    """Whether the axis across begins at 0 and has round numbers, not those of the points."""

    marked: Sequence[float] = ()
    """Where across lines have markers and the axis numbers; at every point if empty."""


@dataclass(frozen=True)
class Bar:
    """A bar with the range it was seen in, and what stands above it."""

    height: float
    low: float
    high: float
    label: str


def lines(title: str, panels: Sequence[Panel]) -> str:
    """Draw panels side by side, with one legend below.

    Example:
        >>> drawn = lines("t", [Panel("a", "x", "y", [Line("one", [(0, 1), (1, 3)])])])
        >>> drawn.startswith("<svg"), drawn.count("<polyline")
        (True, 2)
    """
    step = LEFT + WIDTH + RIGHT
    width = step * len(panels)
    names = max((panel.lines for panel in panels), key=len)
    per_row = max(width // 215, 1)
    height = TOP + HEIGHT + BOTTOM + ROW * ceil(len(names) / per_row)
    parts = [_panel(panel, i * step + LEFT, TOP) for i, panel in enumerate(panels)]
    for i, line in enumerate(names):
        x, y = 30 + 215 * (i % per_row), TOP + HEIGHT + BOTTOM + ROW * (i // per_row) + 8
        parts.append(_curve([(x, y), (x + 36, y)], i, [(x + 18, y)]))
        parts.append(_text(x + 44, y + 4, line.name))
    return _document(title, width, height, parts)


def bars(title: str, y: str, groups: Sequence[str], sets: Mapping[str, Sequence[Bar]]) -> str:
    """Draw groups of bars in per cent, one bar of each set in every group.

    Example:
        >>> drawn = bars("t", "share", ["a"], {"one": [Bar(50, 40, 60, "50 %")]})
        >>> "50 %" in drawn
        True
    """
    width = 760
    wide = width - LEFT - RIGHT
    height = TOP + HEIGHT + BOTTOM + ROW
    scale = _Scale(0, 80, HEIGHT)
    parts = [_PATTERNS, _frame(LEFT, TOP, wide, scale, [0, 20, 40, 60, 80], y)]
    slot = wide / len(groups)
    thick = slot * 0.8 / len(sets)
    base = TOP + HEIGHT
    for g, group in enumerate(groups):
        start = LEFT + g * slot + slot * 0.1
        parts.append(_text(start + slot * 0.4, base + 22, group, "middle"))
        for s, values in enumerate(sets.values()):
            bar, x = values[g], start + s * thick
            top = base - scale(bar.height)
            parts.append(_rect(x + 3, top, thick - 6, base - top, s))
            parts.append(_whisker(x + thick / 2, base - scale(bar.low), base - scale(bar.high)))
            above = min(top, base - scale(bar.high)) - 5
            parts.append(_text(x + thick / 2, above, bar.label, "middle", 11))
    for s, name in enumerate(sets):
        x, below = 30 + (width - 40) / len(sets) * s, base + BOTTOM
        parts.append(_rect(x, below - 8, 22, 14, s))
        parts.append(_text(x + 30, below + 4, name))
    return _document(title, width, height, parts)


def ticks(top: float) -> list[float]:
    """Give about five round numbers from 0 to at least `top`.

    Example:
        >>> ticks(0.19), ticks(700)
        ([0.0, 0.05, 0.1, 0.15, 0.2], [0.0, 200.0, 400.0, 600.0, 800.0])
    """
    rough = top / 4
    size = 10.0 ** floor(log10(rough))
    step = next(size * m for m in (1, 2, 2.5, 5, 10) if size * m >= rough * 0.999)
    return [round(i * step, 10) for i in range(ceil(top / step - 1e-9) + 1)]


@dataclass(frozen=True)
class _Scale:
    """From values to distances on the page."""

    low: float
    high: float
    length: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high = self.low, self.high
        if self.log:
            low, high, value = log10(low), log10(high), log10(value)
        return (value - low) / (high - low) * self.length


def _panel(panel: Panel, x0: float, y0: float) -> str:
    points = [point for line in panel.lines for point in line.points]
    most = max(y for _, y in points) or 1.0
    powers = [10.0**i for i in range(max(ceil(log10(most)), 1) + 1)]
    marks = powers if panel.log else ticks(most * 1.02)
    up = _Scale(marks[0], marks[-1], HEIGHT, log=panel.log)
    places = sorted({x for x, _ in points})
    pad = (places[-1] - places[0]) * 0.06
    across = _Scale(places[0] - pad, places[-1] + pad, WIDTH)
    numbers = panel.marked or places
    if panel.from_zero:
        numbers = ticks((places[-1] or 1.0) * 1.02)
        across = _Scale(0, numbers[-1], WIDTH)
    parts = [
        _text(x0 + WIDTH / 2, y0 - 18, panel.title, "middle", 13, bold=True),
        _frame(x0, y0, WIDTH, up, marks, panel.y),
        _text(x0 + WIDTH / 2, y0 + HEIGHT + 40, panel.x, "middle"),
    ]
    for x in numbers:
        at = x0 + across(x)
        parts.append(_stroke(at, y0 + HEIGHT, at, y0 + HEIGHT + 5))
        parts.append(_text(at, y0 + HEIGHT + 20, f"{x:g}", "middle", 11))
    for i, line in enumerate(panel.lines, panel.first):
        path = [(x0 + across(x), y0 + HEIGHT - up(y)) for x, y in line.points]
        chosen = panel.marked or places
        marked = [at for at, (x, _) in zip(path, line.points, strict=True) if x in chosen]
        parts.append(_curve(path, i, marked))
    return "\n".join(parts)


def _frame(
    x0: float, y0: float, wide: float, scale: _Scale, marks: Sequence[float], label: str
) -> str:
    base = y0 + HEIGHT
    parts = []
    for mark in marks:
        y = base - scale(mark)
        parts.append(_stroke(x0, y, x0 + wide, y, _GRID))
        parts.append(_text(x0 - 8, y + 4, f"{mark:,g}".replace(",", " "), "end", 11))
    parts.append(_stroke(x0, y0, x0, base))
    parts.append(_stroke(x0, base, x0 + wide, base))
    middle = y0 + HEIGHT / 2
    parts.append(
        f'<text x="{x0 - 50:.1f}" y="{middle:.1f}" text-anchor="middle" '
        f'transform="rotate(-90 {x0 - 50:.1f} {middle:.1f})">{escape(label)}</text>'
    )
    return "\n".join(parts)


def _curve(
    path: Sequence[tuple[float, float]], style: int, marked: Sequence[tuple[float, float]]
) -> str:
    colour, dash, marker = _STYLES[style]
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in path)
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    drawn = f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>'
    return "\n".join([drawn, *(_marker(marker, x, y, colour) for x, y in marked)])


def _marker(kind: str, x: float, y: float, colour: str) -> str:
    fill = "#ffffff" if "hollow" in kind else colour
    ink = f'fill="{fill}" stroke="{colour}" stroke-width="1.5"'
    if "circle" in kind:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" {ink}/>'
    if "square" in kind:
        return f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" {ink}/>'
    shapes = {
        "triangle": f"M{x:.1f},{y - 4:.1f} l3.5,6 h-7 z",
        "star": f"M{x:.1f},{y - 7:.1f} l1.8,4.6 5,.3 -3.9,3.1 1.4,4.8 -4.3,-2.8 -4.3,2.8 1.4,-4.8 "
        "-3.9,-3.1 5,-.3 z",
        "diamond": f"M{x:.1f},{y - 6:.1f} l5,6 l-5,6 l-5,-6 z",
        "cross": f"M{x - 4:.1f},{y - 4:.1f} l8,8 m-8,0 l8,-8",
    }
    return f'<path d="{shapes[kind.removeprefix("hollow ")]}" {ink}/>'


def _rect(x: float, y: float, width: float, height: float, style: int) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'fill="{_FILLS[style]}" stroke="{_INK}"/>'
    )


def _whisker(x: float, low: float, high: float) -> str:
    if abs(low - high) < 0.05:
        return ""
    return "\n".join(
        [_stroke(x, low, x, high), *(_stroke(x - 5, y, x + 5, y) for y in (low, high))]
    )


def _stroke(x1: float, y1: float, x2: float, y2: float, colour: str = _INK) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def _text(
    x: float, y: float, text: str, anchor: str = "start", size: int = 12, *, bold: bool = False
) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"{weight}>'
        f"{escape(text)}</text>"
    )


def _document(title: str, width: float, height: float, parts: Sequence[str]) -> str:
    start = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img" font-family="sans-serif" '
        f'font-size="12" fill="{_INK}">'
    )
    ground = f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>'
    body = [part for part in parts if part]
    return "\n".join([start, f"<title>{escape(title)}</title>", ground, *body, "</svg>"]) + "\n"
