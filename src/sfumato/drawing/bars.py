"""What is believed of each value before and after something is known, as bars."""

from collections.abc import Sequence

from sfumato.checks import require_number
from sfumato.drawing.legend import SAMPLE, Item, legend
from sfumato.drawing.page import Part, note, page
from sfumato.drawing.svg import FAINT, Box, Markup, group, label, rectangle
from sfumato.drawing.words import counted, one_line, percent, shorten, width_of
from sfumato.errors import ParameterError

MOST = 25

_SIZE = 12.0
_SMALL = 11.0
_ROW = 42.0
_BAR = 14.0
_LENGTH = 320.0
_WIDEST_NAME = 200.0
_BEFORE = {"fill": "#ffffff", "stroke": "#5f6368"}
_AFTER = {"fill": "#2c5f8a", "stroke": "#2c5f8a"}


def bars_svg(
    labels: Sequence[str], prior: Sequence[float], posterior: Sequence[float], *, title: str
) -> str:
    """Draw two bars for each value: hollow for what was believed, solid for what is now.

    Values are in the order given. Of more than 25 those with the longest bars are drawn,
    and a note says how many are left out.

    Args:
        labels: The values.
        prior: How likely each is before, from 0 to 1.
        posterior: How likely each is after.
        title: A heading.

    Example:
        >>> drawing = bars_svg(["flu", "gout"], [0.5, 0.5], [0.9, 0.1], title="Illness, aged 30")
        >>> "90 %" in drawing, "flu: 50 % before, 90 % after" in drawing
        (True, True)
    """
    _check(labels, prior, posterior)
    longest = sorted(range(len(labels)), key=lambda i: (-max(prior[i], posterior[i]), i))
    shown, hidden = sorted(longest[:MOST]), longest[MOST:]
    bars = _bars([labels[i] for i in shown], [(prior[i], posterior[i]) for i in shown])
    most = max((max(prior[i], posterior[i]) for i in hidden), default=0.0)
    remark = f"Not drawn: {counted(len(hidden), 'value')} of at most {percent(most)}."
    told = [_told(labels[i], prior[i], posterior[i]) for i in shown]
    return page(
        bars,
        legend([Item(_sign(_BEFORE), "before"), Item(_sign(_AFTER), "after")], bars.width),
        note(remark if hidden else "", bars.width),
        title=title,
        name="Probabilities before and after",
        description=" ".join([*(f"{text}." for text in told), *([remark] if hidden else [])]),
    )


def _check(labels: Sequence[str], prior: Sequence[float], posterior: Sequence[float]) -> None:
    for name, shares in (("prior", prior), ("posterior", posterior)):
        if len(shares) != len(labels):
            expected = f"{len(labels)} numbers, one per label"
            raise ParameterError(name, len(shares), expected)
        for i, share in enumerate(shares):
            require_number(f"{name}[{i}]", share, at_least=0, at_most=1)


def _bars(labels: Sequence[str], shares: Sequence[tuple[float, float]]) -> Part:
    names = [shorten(text, _WIDEST_NAME, _SIZE) for text in labels]
    left = max((width_of(name, _SIZE) for name in names), default=0.0) + 12
    drawn = [_scale(left, _ROW * len(names))]
    for i, (before, after) in enumerate(shares):
        y = i * _ROW
        drawn.append(
            group(
                label(names[i], left - 12, y + _ROW / 2, size=_SIZE, text_anchor="end"),
                _bar(before, left, y + _ROW / 2 - _BAR - 1, _BEFORE),
                _bar(after, left, y + _ROW / 2 + 1, _AFTER),
                tooltip=_told(labels[i], before, after),
                class_="bars",
            )
        )
    # The scale ends at 100 %, and beside the longest bar is room for its number.
    return Part(group(*drawn), left + _LENGTH + 48, _ROW * len(names) + 20)


def _bar(share: float, x: float, y: float, look: dict[str, str]) -> Markup:
    length = share * _LENGTH
    return group(
        rectangle(Box(x, y, length, _BAR), **look),
        label(percent(share), x + length + 6, y + _BAR / 2, size=_SMALL),
    )


def _scale(left: float, height: float) -> Markup:
    lines = []
    for quarter in range(5):
        x = left + quarter * _LENGTH / 4
        lines.append(rectangle(Box(x - 0.5, 0, 1, height), fill="#d9dde1"))
        lines.append(
            label(
                percent(quarter / 4), x, height + 10, size=_SMALL, text_anchor="middle", fill=FAINT
            )
        )
    return group(*lines)


def _sign(look: dict[str, str]) -> Markup:
    return rectangle(Box(SAMPLE.x + 6, SAMPLE.y + 3, SAMPLE.width - 12, 12), **look)


def _told(text: str, before: float, after: float) -> str:
    return f"{one_line(text)}: {percent(before)} before, {percent(after)} after"
