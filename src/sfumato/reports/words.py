"""How cells are written for people: the same in every form of a report."""

import math

from sfumato.fragment import brief
from sfumato.reports.content import Cell, Share


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
