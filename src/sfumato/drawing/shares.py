"""The same shares in several tables, as bars side by side."""

from collections.abc import Mapping, Sequence

from sfumato.checks import require_number
from sfumato.drawing.legend import SAMPLE, Item, legend
from sfumato.drawing.page import Part, note, page
from sfumato.drawing.svg import FAINT, Attribute, Box, Markup, group, label, rectangle
from sfumato.drawing.words import counted, one_line, percent, shorten, width_of
from sfumato.errors import ParameterError

MOST = 12

_SIZE = 12.0
_SMALL = 10.5
_BAR = 12.0
_BETWEEN = 12.0
_LENGTH = 320.0
_WIDEST_NAME = 200.0
_LOOKS: tuple[dict[str, Attribute], ...] = (
    {"fill": "#ffffff", "stroke": "#5f6368"},
    {"fill": "#2c5f8a", "stroke": "#2c5f8a"},
    {"fill": "#f6d9bd", "stroke": "#9a4a12", "stroke_dasharray": "4 2", "stroke_width": 1.4},
)
"""Hollow, solid, dashed: told apart without colour."""


def shares_svg(labels: Sequence[str], series: Mapping[str, Sequence[float]], *, title: str) -> str:
    """Draw for each value one bar per table, in the order given.

    Of more than a dozen values those with the longest bars are drawn, and a note says how
    many are left out.

    Args:
        labels: The values.
        series: By the name of the table, at most three of them, the share of each value.
        title: A heading.

    Example:
        >>> drawing = shares_svg(["flu", "gout"], {"all": [0.5, 0.5], "worst": [0.9, 0.1]},
        ...                      title="Illness")
        >>> "90 %" in drawing, "flu: all 50 %, worst 90 %." in drawing
        (True, True)
    """
    _check(labels, series)
    every = list(zip(*series.values(), strict=True)) if series else [()] * len(labels)
    longest = sorted(range(len(labels)), key=lambda i: (-max(every[i], default=0.0), i))
    shown, hidden = sorted(longest[:MOST]), longest[MOST:]
    drawn = _rows([labels[i] for i in shown], [every[i] for i in shown], tuple(series))
    most = max((max(every[i]) for i in hidden), default=0.0)
    remark = f"Not drawn: {counted(len(hidden), 'value')} of at most {percent(most)}."
    signs = [Item(_sign(look), name) for name, look in zip(series, _LOOKS, strict=False)]
    told = [f"{_told(labels[i], every[i], tuple(series))}." for i in shown]
    return page(
        drawn,
        legend(signs, drawn.width),
        note(remark if hidden else "", drawn.width),
        title=title,
        name="Shares",
        description=" ".join([*told, *([remark] if hidden else [])]),
    )


def _check(labels: Sequence[str], series: Mapping[str, Sequence[float]]) -> None:
    if len(series) > len(_LOOKS):
        raise ParameterError("series", len(series), f"at most {len(_LOOKS)} tables")
    for name, shares in series.items():
        if len(shares) != len(labels):
            raise ParameterError(name, len(shares), f"{len(labels)} numbers, one per label")
        for i, share in enumerate(shares):
            require_number(f"{name}[{i}]", share, at_least=0, at_most=1)


def _rows(
    labels: Sequence[str], every: Sequence[tuple[float, ...]], names: tuple[str, ...]
) -> Part:
    shown = [shorten(text, _WIDEST_NAME, _SIZE) for text in labels]
    left = max((width_of(text, _SIZE) for text in shown), default=0.0) + 12
    height = (_BAR + 2) * len(names) + _BETWEEN
    drawn = []
    for i, text in enumerate(shown):
        y = i * height
        bars = [
            _bar(share, left, y + j * (_BAR + 2), look)
            for j, (share, look) in enumerate(zip(every[i], _LOOKS, strict=False))
        ]
        name = label(text, left - 12, y + (height - _BETWEEN) / 2, size=_SIZE, text_anchor="end")
        drawn.append(group(name, *bars, tooltip=_told(labels[i], every[i], names), class_="bars"))
    # Beside the longest bar is room for its number.
    return Part(group(*drawn), left + _LENGTH + 48, height * len(labels) + 4)


def _bar(share: float, x: float, y: float, look: Mapping[str, Attribute]) -> Markup:
    length = share * _LENGTH
    return group(
        rectangle(Box(x, y, length, _BAR), **look),
        label(percent(share), x + length + 6, y + _BAR / 2, size=_SMALL, fill=FAINT),
    )


def _sign(look: Mapping[str, Attribute]) -> Markup:
    return rectangle(Box(SAMPLE.x + 6, SAMPLE.y + 3, SAMPLE.width - 12, 12), **look)


def _told(text: str, shares: Sequence[float], names: Sequence[str]) -> str:
    parts = [f"{one_line(n)} {percent(share)}" for n, share in zip(names, shares, strict=True)]
    return f"{one_line(text)}: {', '.join(parts)}"
