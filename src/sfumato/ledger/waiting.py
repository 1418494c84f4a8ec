"""What waiting tells: newcomers who are decided on once, together, and partly by chance.

As many newcomers as possible are usually published, and those with a value that is too frequent
wait. So whoever knows that a person waits, and how a ledger decides, knows the value nearly for
certain. A ledger that hides why people wait decides on all newcomers of a group together instead:

- They wait until they are enough, which says nothing of their values. Then they are a *lot*.
- A lot that keeps all rules joins as a whole, but with a small *chance* that is drawn. One that
  does not is *set aside*, and so are those that were drawn. What is set aside is never published.
- From a cell people leave together if that many leave it whom any choice of people would hide.

**Whoever expects at most alpha/2 of a value in everybody, and thinks of them alike, believes in it
of a person who waits, or was set aside, with at most alpha.** For a lot of n people let s be the
share of a value, the mean of n draws with a chance of c = alpha/2. It is set aside with a weight w
of 1 if s is above alpha, and of the chance h at least if not. The belief in the value of one of
its people is E[sw]/E[w], and

    E[(s - alpha) w] <= E[(s - alpha)+] - h E[(alpha - s)+],

which is 0 for h = A / (alpha - c + A) with A = E[(s - alpha)+]. A grows with c, so who expects less
believes less; and it falls with n, as means of more draws do. Where values are missing, n counts
those that are known; the column with the fewest decides. Those who join are a cell, of which
nothing else is told: each choice of who has which value is as likely to join.
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from math import exp, lgamma, log

from sfumato.ledger.admission import SeenTogether

_LARGEST = 1000
"""People from which on the chance is that of so many: that of more is smaller."""

_USUAL_CHANCE = 0.01
"""A lot is as large as it must be to be set aside by chance no more often."""

_ROUNDING = 1e-9


@lru_cache(maxsize=1 << 12)
def _chance(alpha: Fraction, people: int) -> float:
    n, c = min(people, _LARGEST), float(alpha) / 2
    most = n * alpha.numerator // alpha.denominator
    above = 0.0
    for x in range(most + 1, n + 1):
        ways = lgamma(n + 1) - lgamma(x + 1) - lgamma(n - x + 1)
        above += (x / n - float(alpha)) * exp(ways + x * log(c) + (n - x) * log(1 - c))
    return above / (float(alpha) - c + above) * (1 + _ROUNDING)


def chance_aside(alpha: Fraction, known: Iterable[int]) -> float:
    """Return the chance with which a lot is set aside that would fit.

    Args:
        alpha: The limit.
        known: How many values are known of each column.

    >>> [round(chance_aside(Fraction(1, 2), [n]), 4) for n in (1, 5, 10, 20)]
    [0.3333, 0.0519, 0.0094, 0.001]
    """
    return max((_chance(alpha, n) for n in known if n), default=0.0)


@lru_cache(maxsize=1 << 8)
def smallest_lot(alpha: Fraction, k: int) -> int:
    """Return how many newcomers of a group are decided on; fewer wait.

    >>> smallest_lot(Fraction(1, 2), 2), smallest_lot(Fraction(1, 2), 20)
    (10, 20)
    """
    n = max(k, 1)
    while n < _LARGEST and _chance(alpha, n) > _USUAL_CHANCE:
        n += 1
    return n


def hides_any(cell: SeenTogether, leaving: int, alpha: Fraction) -> bool:
    """Return whether so many may leave a cell, whoever they are: no share can be above alpha.

    >>> import numpy as np
    >>> cell = SeenTogether(8, (np.array([0, 2, 2, 2, 2]),))
    >>> hides_any(cell, 4, Fraction(1, 2)), hides_any(cell, 3, Fraction(1, 2))
    (True, False)
    """
    for column in range(len(cell.counts)):
        most = int(cell.limited_counts(column)[1:].max(initial=0))
        for people in (leaving, cell.size - leaving):
            alike = min(most, people)
            unknown = min(cell.size - cell.count_known(column), people - alike)
            if alike > alpha * (people - unknown):
                return False
    return True
