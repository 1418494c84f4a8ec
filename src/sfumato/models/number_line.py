"""Sensitive values on a line: numbers, or days, in their order and with exact distances."""

from decimal import Decimal
from typing import NamedTuple

import numpy as np

from sfumato.classes import SensitiveColumn
from sfumato.errors import PolicyError, some
from sfumato.hierarchy.intervals import Days, Numbers, Scale, plus
from sfumato.typing import IntArray


class NumberLine(NamedTuple):
    """Where the values of a column stand, if all of them are numbers or all are days.

    Distances are exact decimals: floats cannot tell two long decimals apart, and two spellings
    of a number ("7" and "7.0") are one place.

    Example:
        >>> line = line_of(SensitiveColumn("pay", (10, 30, "30.0", 70)))
        >>> line.place.tolist(), line.reach(Decimal(40)).tolist()
        ([0, 1, 1, 2], [1, 2, 2])
        >>> line_of(SensitiveColumn("born", ("2020-01-01", "2020-03-01"))).text(1)
        '2020-03-01'
    """

    points: tuple[Decimal, ...]
    """The distinct points, rising; days are counted from the beginning of the calendar."""

    place: IntArray
    """The position of each of the column's values among the points."""

    scale: Scale

    def reach(self, width: Decimal) -> IntArray:
        """Return for each point the last one that is no further away than a width."""
        found = np.empty(len(self.points), dtype=np.int64)
        last = 0
        for first, low in enumerate(self.points):
            end = plus(low, width)
            while last + 1 < len(self.points) and self.points[last + 1] <= end:
                last += 1
            found[first] = last
        return found

    def text(self, at: int) -> str:
        """Write the point at a position as people do."""
        return self.scale.point(self.points[at])


def line_of(column: SensitiveColumn) -> NumberLine | None:
    """Return the line that a column's values stand on; None if some are no numbers, nor all days.

    >>> line_of(SensitiveColumn("ill", ("flu", "gout"))) is None
    True
    """
    return column.memoize("number line", _find_line)


def require_line(column: SensitiveColumn, who: str) -> NumberLine:
    """Return the line of a column, or raise an error that names the values that are no numbers."""
    line = line_of(column)
    if line is not None:
        return line
    others = [value for value in column.values if Numbers().read(value) is None]
    raise PolicyError(
        f"{len(others)} of the {len(column.values)} values of column {column.name!r} are not "
        f"numbers: {some(others)}. {who} needs numbers, or days such as 2020-02-29; for other "
        "values say what is alike with categories or a level of a hierarchy."
    )


def _find_line(column: SensitiveColumn) -> NumberLine | None:
    scales: tuple[Scale, ...] = (Numbers(), Days())
    for scale in scales:
        # One look shows for most columns that they hold something else.
        if column.values and scale.read(column.values[0]) is None:
            continue
        read = [scale.read(value) for value in column.values]
        known = [point for point in read if point is not None]
        if len(known) == len(read):
            points = sorted(set(known))
            at = {point: i for i, point in enumerate(points)}
            place = np.array([at[point] for point in known], dtype=np.int64)
            return NumberLine(tuple(points), place, scale)
    return None
