"""The tail of the chi-square distribution, as a logarithm so that it never underflows.

The tail is a regularised incomplete gamma function, by its series where that converges
quickly and by its continued fraction elsewhere (Press et al., Numerical Recipes, 6.2).
"""

import math

_PRECISE = 1e-15
_TINY = 1e-300


def log_tail(statistic: float, freedom: float) -> float:
    """Give ln P(X ≥ statistic) for a chi-square variable with this many degrees of freedom.

    >>> round(math.exp(log_tail(3.841459, 1)), 6)
    0.05
    >>> round(log_tail(10_000, 3))
    -4996
    """
    a, x = freedom / 2, statistic / 2
    if x <= 0:
        return 0.0
    scale = a * math.log(x) - x - math.lgamma(a)
    if x < a + 1:
        below = math.exp(scale) * _series(a, x)
        return math.log1p(-below) if below < 1 else -math.inf
    return scale + math.log(_fraction(a, x))


def _series(a: float, x: float) -> float:
    term = total = 1 / a
    n = a
    while abs(term) > abs(total) * _PRECISE:
        n += 1
        term *= x / n
        total += term
    return total


def _fraction(a: float, x: float) -> float:
    """Lentz's evaluation of the continued fraction."""
    b = x + 1 - a
    c, d = 1 / _TINY, 1 / b
    value = d
    step, i = 0.0, 0
    while abs(step - 1) > _PRECISE:
        i += 1
        factor = -i * (i - a)
        b += 2
        d = 1 / _away_from_zero(factor * d + b)
        c = _away_from_zero(b + factor / c)
        step = c * d
        value *= step
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
