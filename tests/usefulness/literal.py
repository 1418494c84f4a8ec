"""Estimates word by word: every published row becomes every raw row it may have been."""

from collections import Counter
from fractions import Fraction
from itertools import product


def possible(published_rows, covered):
    """How many rows each combination of raw values stands for.

    `covered[c]` maps each label of column c to the raw values it stands for.
    """
    expected = Counter()
    for row in published_rows:
        choices = [covered[c][label] for c, label in enumerate(row)]
        ways = 1
        for values in choices:
            ways *= len(values)
        for raw in product(*choices):
            expected[raw] += Fraction(1, ways)
    return expected


def count(expected, counted) -> Fraction:
    """Add up what a query counts."""
    return sum((rows for raw, rows in expected.items() if counted(raw)), Fraction(0))


def cramers_v_squared(pairs) -> Fraction:
    """χ² from observed and expected counts, as textbooks define it, over n · (least - 1)."""
    total = sum(pairs.values())
    across, down = Counter(), Counter()
    for (one, other), rows in pairs.items():
        across[one] += rows
        down[other] += rows
    least = min(len(across), len(down))
    if least < 2:
        return Fraction(0)
    chi_square = Fraction(0)
    for one in across:
        for other in down:
            expected = Fraction(across[one] * down[other]) / total
            chi_square += (pairs.get((one, other), 0) - expected) ** 2 / expected
    return chi_square / (total * (least - 1))
