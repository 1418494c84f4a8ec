"""The scale of an axis: round numbers, few of them, and where each figure is."""

import math
from collections.abc import Sequence
from typing import NamedTuple

_MOST_TICKS = 6
_NOTHING = 1e-9
"""What is smaller is drawn as nothing: a share of one in a thousand million."""

_ALIKE = 1e-6
"""Figures that differ by a smaller part of themselves are drawn as one."""


class Scale(NamedTuple):
    """From a figure to a place on an axis."""

    low: float
    high: float
    length: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        """Give how far along the axis a figure is."""
        return self.length * (value - self.low) / (self.high - self.low)


def scale_of(values: Sequence[float], length: float) -> Scale:
    """Choose where an axis begins and ends, and which round numbers are written at it.

    No figure is below 0. It begins there, unless that would push everything into the other half.

    >>> scale_of([0.1, 0.42], 100).ticks, scale_of([0.81, 0.84], 100).ticks
    ((0.0, 0.1, 0.2, 0.3, 0.4, 0.5), (0.81, 0.82, 0.83, 0.84))
    >>> scale_of([0.0], 100).at(0)
    0.0
    """
    most, least = max(values, default=1.0), min(values, default=0.0)
    low = 0.0 if least <= most / 2 or most - least <= _ALIKE * most else least
    high = most if most > _NOTHING else 1.0
    step = _step(high - low)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    # As many decimals as the step needs: 3 * 0.1 is to be 0.3.
    digits = max(0, 2 - math.floor(math.log10(step)))
    ticks = tuple(round(i * step, digits) for i in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], length, ticks)


def _step(span: float) -> float:
    """Give the smallest round step that makes few ticks."""
    power = 10.0 ** math.floor(math.log10(span))
    steps = [power * factor for factor in (0.1, 0.2, 0.25, 0.5, 1.0, 2.0)]
    return next((step for step in steps if span / step <= _MOST_TICKS - 1), power)
