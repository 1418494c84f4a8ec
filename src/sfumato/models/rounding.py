"""Comparisons that do not let rounding decide.

Shares, logarithms and distances are computed in floating point. Two numbers that
differ by rounding only are equal here, whichever way the inequality points: equality
passes `at_most` and `at_least` and fails `below`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.typing import BoolArray, FloatArray, IntArray

SLACK = 1e-10
"""How much two numbers may differ and still be equal, relative to the larger of 1 and the bound."""

Numbers = FloatArray | IntArray
Bound = float | NDArray[np.floating[Any]]


def at_most(values: Numbers, bound: Bound) -> BoolArray:
    """Return which values are the bound or less.

    >>> at_most(np.array([0.1 + 0.2, 0.31]), 0.3)
    array([ True, False])
    """
    verdicts: BoolArray = values <= bound + _slack(bound)
    return verdicts


def at_least(values: Numbers, bound: Bound) -> BoolArray:
    """Return which values are the bound or more."""
    verdicts: BoolArray = values >= bound - _slack(bound)
    return verdicts


def below(values: Numbers, bound: Bound) -> BoolArray:
    """Return which values are truly less than the bound.

    >>> below(np.array([0.3, 0.29]), 0.1 + 0.2)
    array([False,  True])
    """
    verdicts: BoolArray = values < bound - _slack(bound)
    return verdicts


def ratio(part: Numbers, whole: Numbers) -> FloatArray:
    """Divide; where there is nothing to divide by, the answer is infinite.

    >>> ratio(np.array([1, 0]), np.array([2, 0]))
    array([0.5, inf])
    """
    result = np.full(len(part), np.inf)
    np.divide(part, whole, out=result, where=whole > 0)
    return result


def rows_above(shares: FloatArray, bounds: Bound, rows: Numbers) -> IntArray:
    """Return how many rows must go until a share can be at most a bound; one where it is above.

    Of `rows`, a share has something. If m of those go that have it, (share · rows − m) of
    (rows − m) are left that do.

    >>> rows_above(np.array([0.75, 0.5, np.inf]), 0.5, np.array([8, 8, 0])).tolist()
    [4, 0, 1]
    """
    over = ~at_most(shares, bounds)
    limit = np.broadcast_to(bounds, shares.shape)[over]
    above = np.minimum(shares[over], 1.0) - limit
    lost = np.zeros(len(shares), dtype=np.int64)
    lost[over] = np.maximum(np.ceil(rows[over] * above / (1.0 - limit) - 1e-6), 1)
    return lost


def _slack(bound: Bound) -> Bound:
    slack: Bound = SLACK * np.maximum(1.0, np.abs(bound))
    return slack
