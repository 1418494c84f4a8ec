"""Individual risk: how likely each person of a sample is found among the people they stand for."""

import numpy as np

from sfumato.errors import ParameterError
from sfumato.typing import FloatArray, IntArray

_FEW = 40
"""From this class size on, a series of as many terms is exact, however few of a class are drawn."""

_TERMS = 64


def individual_risk(sizes: IntArray, people: FloatArray) -> FloatArray:
    """Return the risk of a person in each class, after Benedetti and Franconi.

    An adversary who finds a person's class in the population picks the right one of its F people
    with probability 1/F. F is not known. Given the f rows of the class in the sample, it is taken
    to follow a negative binomial distribution in which each person was drawn with probability
    p = f / people; the risk is the mean of 1/F under it. Their sum over all rows is the number of
    people that an adversary who tries everyone is expected to find.

    Assumes: people of a class were drawn independently, each with the same probability, and classes
    of all sizes were as likely beforehand. Where many people are unique in the population that says
    far too little: of a small sample, a tenth of the people who are found. It ranks rows.

    References: R. Benedetti, L. Franconi, "Statistical and technological solutions for controlled
    data dissemination", New Techniques and Technologies for Statistics, 1998; S. Polettini,
    "A note on the individual risk of disclosure", Istat, 2003.

    Args:
        sizes: The rows of each class of the sample; 1 or more.
        people: The people of the population that each class is estimated to have, by the sum of
            the weights of its rows or by the sampling fraction. Fewer than rows count as the rows.

    Example:
        >>> individual_risk(np.array([1, 1, 4]), np.array([1.0, 100.0, 400.0])).round(5).tolist()
        [1.0, 0.04652, 0.00332]
    """
    if len(sizes) and int(sizes.min()) < 1:
        raise ParameterError("sizes", int(sizes.min()), "classes of 1 row or more")
    rows = np.asarray(sizes, dtype=float)
    drawn = rows / np.maximum(people, rows)
    # E(1/F) is p times the integral of u^(f-1) / (p + (1 - p) u) for u from 0 to 1.
    risks: FloatArray = drawn * np.where(
        (rows < _FEW) & (drawn < 0.5), _by_recursion(rows, drawn), _by_series(rows, drawn)
    )
    return risks


def _by_recursion(rows: FloatArray, drawn: FloatArray) -> FloatArray:
    """Return the integral by (1 - p) I(f + 1) + p I(f) = 1 / f, from I(1) = -log p / (1 - p).

    Each step multiplies an error by p / (1 - p), so it is for small p.
    """
    p = np.minimum(drawn, 0.5)
    found: FloatArray = -np.log(p) / (1 - p)
    result: FloatArray = found.copy()
    for size in range(1, int(min(rows.max(initial=1), _FEW))):
        found = (1 / size - p * found) / (1 - p)
        result = np.where(rows == size + 1, found, result)
    return result


def _by_series(rows: FloatArray, drawn: FloatArray) -> FloatArray:
    """Return the integral as the sum of (1 - p)^k B(f, k + 1), for large p or large classes."""
    term = 1 / rows
    result = term.copy()
    for k in range(1, _TERMS):
        term = term * (1 - drawn) * k / (rows + k)
        result += term
    return result
