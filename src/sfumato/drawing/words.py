"""How wide text is, how to shorten it, and how shares are written.

Nobody knows the font before the drawing is shown, so widths are those of a wide one
(DejaVu Sans, Verdana): what fits there fits everywhere.
"""

import unicodedata
from collections.abc import Sequence

ELLIPSIS = "…"

_NARROW = frozenset("iIjl.,:;'|!()[]{}ftr/\\-\" `")
_BROAD = frozenset("mwMWOQ@%&—…<>=+~#")


def width_of(text: str, size: float = 12) -> float:
    """Estimate how wide a text is drawn; rather too wide than too narrow.

    >>> width_of("ill") < width_of("age") < width_of("MWM") < width_of("年齢層")
    True
    """
    return size * sum(map(_em, text))


def _em(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if character in _NARROW:
        return 0.42
    if character in _BROAD:
        return 0.98
    if character.isupper():
        return 0.74
    return 0.65 if character.isascii() else 0.8


def one_line(text: str) -> str:
    r"""Put a text on one line: line breaks, tabs and runs of spaces become one space.

    >>> one_line(" two\n lines\t")
    'two lines'
    """
    return " ".join(text.split())


def shorten(text: str, width: float, size: float = 12) -> str:
    """Cut the middle out of a text until it fits; its beginning and end tell most.

    >>> shorten("Age", 100), shorten("number_of_days_since_last_visit", 100)
    ('Age', 'number…_visit')
    """
    text = one_line(text)
    if width_of(text, size) <= width:
        return text
    for kept in range(len(text) - 1, 0, -1):
        tail = kept // 2
        short = text[: kept - tail].rstrip() + ELLIPSIS + text[len(text) - tail :].lstrip()
        if width_of(short, size) <= width:
            return short
    return ELLIPSIS


def lines_of(text: str, width: float, size: float = 12) -> list[str]:
    """Break a text into lines that fit; a word that does not fit alone is shortened.

    >>> lines_of("a few words here", 60)
    ['a few', 'words', 'here']
    """
    lines: list[str] = []
    for word in (shorten(word, width, size) for word in text.split()):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_of(longer, size) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def percent(share: float) -> str:
    """Write a share as a whole percentage, never rounded up to all or down to none.

    >>> [percent(share) for share in (0, 0.001, 2 / 3, 0.999, 1)]
    ['0 %', '<1 %', '67 %', '>99 %', '100 %']
    """
    if 0 < share < 0.01:
        return "<1 %"
    if 0.99 < share < 1:
        return ">99 %"
    return f"{100 * share:.0f} %"


def listed(items: Sequence[str], *, most: int = 12) -> str:
    """List things in a sentence.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b", "c"], most=1)
    ('a', 'a, b and c', 'a and 2 more')
    """
    if len(items) > most:
        return f"{', '.join(items[:most])} and {len(items) - most} more"
    return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


def counted(n: int, noun: str) -> str:
    """Say how many.

    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{n} {noun}" + ("" if n == 1 else "s")
