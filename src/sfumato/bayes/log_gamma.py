"""The logarithm of the gamma function at halves, for whole arrays of counts.

Scores of Bayesian networks are sums of lnΓ(count + ½) and lnΓ(count + r/2): arguments
are always halves of whole numbers. Most counts are small, so those are looked up.
"""

import math
from functools import cache

import numpy as np

from sfumato.typing import FloatArray, IntArray

_LOOKED_UP = 2**16
"""Arguments below half of this are looked up."""

_STIRLING_FROM = 40
"""From 20 on, four terms of Stirling's series are exact to the last digit of a float."""


def log_gamma_of_halves(doubled: IntArray) -> FloatArray:
    """Give lnΓ(d/2) for every d.

    Args:
        doubled: Twice the arguments: whole numbers of at least 1.

    >>> log_gamma_of_halves(np.array([1, 2, 10])).round(6).tolist()
    [0.572365, 0.0, 3.178054]
    """
    if doubled.size and int(doubled.max()) >= _LOOKED_UP:
        small = doubled < _LOOKED_UP
        values = _stirling(np.where(small, _LOOKED_UP, doubled) / 2)
        values[small] = _table()[doubled[small]]
        return values
    looked_up: FloatArray = _table()[doubled]
    return looked_up


@cache
def _table() -> FloatArray:
    table = np.empty(_LOOKED_UP)
    table[0] = math.inf
    table[1:_STIRLING_FROM] = [math.lgamma(d / 2) for d in range(1, _STIRLING_FROM)]
    table[_STIRLING_FROM:] = _stirling(np.arange(_STIRLING_FROM, _LOOKED_UP) / 2)
    return table


def _stirling(x: FloatArray) -> FloatArray:
    """Stirling's series, for x of at least 20."""
    over = 1 / x
    square = over * over
    series = over * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    values: FloatArray = (x - 0.5) * np.log(x) - x + 0.5 * math.log(2 * math.pi) + series
    return values
