"""A timeline: how many there are after each step, in layers above each other, and lines."""

from collections.abc import Mapping, Sequence

from sfumato.errors import ParameterError
from sfumato.showing.charts import AxisScale, scale_of
from sfumato.showing.content import Markup
from sfumato.showing.svg import (
    FAINT,
    SAMPLE,
    Attribute,
    Box,
    DrawnPart,
    Item,
    element,
    group,
    label,
    legend,
    note,
    number,
    one_line,
    page,
    rectangle,
    width_of,
)
from sfumato.text import in_thousands

_WIDTH, _HEIGHT, _TOP = 600.0, 260.0, 12.0
_SIZE = 11.0
_MOST_LABELS = 8
_SHADES = ("#16344f", "#2c5f8a", "#5b8db8", "#93b6d3", "#c6d9e8", "#e7eff6")
"""From the first layer to the last; with more layers they come again."""

_LINES: tuple[dict[str, Attribute], ...] = (
    {"stroke": "#9a4a12", "stroke_width": 2.0, "stroke_dasharray": "5 3"},
    {"stroke": "#222222", "stroke_width": 1.6},
)


def timeline_svg(
    steps: Sequence[str],
    layers: Mapping[str, Sequence[float]],
    lines: Mapping[str, Sequence[float]],
    *,
    title: str,
    axis: str = "",
) -> str:
    """Return layers above each other and lines across them, from left to right.

    Args:
        steps: The name of each step.
        layers: By name, the number at each step; the first is at the bottom.
        lines: By name, the number at each step; at most two.
        title: A heading.
        axis: What is counted.

    Example:
        >>> drawing = timeline_svg(["1", "2"], {"joined in 1": [8, 6], "joined in 2": [0, 4]},
        ...                        {"waiting": [0, 3]}, title="A ledger")
        >>> "joined in 2: 0, 4." in drawing, "waiting: 0, 3." in drawing
        (True, True)
    """
    if len(lines) > len(_LINES):
        raise ParameterError("lines", len(lines), f"at most {len(_LINES)}")
    for name, numbers in (*layers.items(), *lines.items()):
        if len(numbers) != len(steps):
            raise ParameterError(name, len(numbers), f"{len(steps)} numbers, one per step")
    tops = [sum(each) for each in zip(*layers.values(), strict=True)] or [0.0] * len(steps)
    most = max([*tops, *(n for numbers in lines.values() for n in numbers)], default=0.0)
    upwards = scale_of([0.0, float(most)], _HEIGHT)
    drawn = _plot(steps, layers, lines, upwards, axis)
    signs = [
        Item(rectangle(SAMPLE._replace(y=3, height=12), fill=_shade(i), stroke=FAINT), name)
        for i, name in enumerate(layers)
    ]
    signs += [
        Item(_polyline([(0, 9), (SAMPLE.width, 9)], **look), name)
        for name, look in zip(lines, _LINES, strict=False)
    ]
    return page(
        drawn,
        legend(signs if steps else [], drawn.width),
        note("" if steps else "There is nothing to draw.", drawn.width),
        title=title,
        name="Timeline",
        description=" ".join(
            f"{one_line(name)}: {', '.join(f'{n:g}' for n in numbers)}."
            for name, numbers in (*layers.items(), *lines.items())
        ),
    )


def _plot(
    steps: Sequence[str],
    layers: Mapping[str, Sequence[float]],
    lines: Mapping[str, Sequence[float]],
    upwards: AxisScale,
    axis: str,
) -> DrawnPart:
    ticks = [in_thousands(f"{tick:,.6g}") for tick in upwards.ticks]
    left = max(width_of(text, _SIZE) for text in ticks) + 12
    # Every step is as wide as the others, and flat: between two releases nothing changes.
    step = _WIDTH / max(len(steps), 1)
    below = [0.0] * len(steps)
    areas = []
    for i, numbers in enumerate(layers.values()):
        above = [b + n for b, n in zip(below, numbers, strict=True)]
        outline = [*_stairs(above, step, upwards), *_stairs(below, step, upwards)[::-1]]
        areas.append(element("polygon", points=_points(outline), fill=_shade(i), stroke="#ffffff"))
        below = above
    across = [
        _polyline(_stairs(numbers, step, upwards), **look)
        for numbers, look in zip(lines.values(), _LINES, strict=False)
    ]
    inside = group(
        *_grid(steps, step, upwards, ticks),
        *areas,
        *across,
        transform=f"translate({number(left)} {number(_TOP + 14)})",
    )
    named = label(axis, 0, 8, size=_SIZE, fill=FAINT)
    return DrawnPart(group(inside, named), left + _WIDTH + 12, _TOP + 14 + _HEIGHT + 26)


def _shade(i: int) -> str:
    return _SHADES[i % len(_SHADES)]


def _stairs(numbers: Sequence[float], step: float, upwards: AxisScale) -> list[tuple[float, float]]:
    return [
        (x, _HEIGHT - upwards.at(n))
        for i, n in enumerate(numbers)
        for x in (i * step, (i + 1) * step)
    ]


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in places)


def _polyline(places: Sequence[tuple[float, float]], **look: Attribute) -> Markup:
    return element("polyline", points=_points(places), fill="none", **look)


def _grid(
    steps: Sequence[str], step: float, upwards: AxisScale, ticks: Sequence[str]
) -> list[Markup]:
    found = [rectangle(Box(0, 0, _WIDTH, _HEIGHT), fill="none", stroke="#5f6368")]
    for tick, text in zip(upwards.ticks, ticks, strict=True):
        y = _HEIGHT - upwards.at(tick)
        found.append(_polyline([(0, y), (_WIDTH, y)], stroke="#e3e6e8"))
        found.append(label(text, -6, y, size=_SIZE, text_anchor="end", fill=FAINT))
    every = -(-len(steps) // _MOST_LABELS) or 1
    for i in range(0, len(steps), every):
        x = (i + 0.5) * step
        found.append(label(steps[i], x, _HEIGHT + 14, size=_SIZE, text_anchor="middle", fill=FAINT))
    return found
