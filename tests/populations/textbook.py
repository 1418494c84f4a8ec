"""The estimators written word by word as their papers do, slow and obvious."""

import math
from collections.abc import Sequence
from fractions import Fraction


def zayatz(sizes: Sequence[int], everyone: int) -> Fraction:
    """Bayes' rule over the class sizes of the sample, one class after the other."""
    n = sum(sizes)

    def one_is_drawn_of(size: int) -> Fraction:
        if n - 1 > everyone - size:
            return Fraction(0)
        return Fraction(size * math.comb(everyone - size, n - 1), math.comb(everyone, n))

    alone = sum(1 for size in sizes if size == 1)
    of_one = sum((one_is_drawn_of(1) for size in sizes if size == 1), Fraction(0))
    of_any = sum((one_is_drawn_of(size) for size in sizes), Fraction(0))
    return Fraction(alone, n) * of_one / of_any


def pitman_likelihood(sizes: Sequence[int], theta: float, alpha: float) -> float:
    """The logarithm of Pitman's sampling formula, one factor after the other."""
    n, u = sum(sizes), len(sizes)
    found = sum(math.log(theta + i * alpha) for i in range(1, u))
    found -= sum(math.log(theta + i) for i in range(1, n))
    return found + sum(math.log(i - alpha) for size in sizes for i in range(1, size))


def pitman_uniques(theta: float, alpha: float, everyone: float) -> float:
    return math.gamma(theta + 1) / math.gamma(theta + alpha) * everyone**alpha


def shlosser(sizes: Sequence[int], q: float) -> float:
    """The third form of Shlosser's estimator in Haas and Stokes, summed over classes."""
    alone = sum(1 for size in sizes if size == 1)
    first = sum(i * q**2 * (1 - q**2) ** (i - 1) for i in sizes)
    second = sum((1 - q) ** i * ((1 + q) ** i - 1) for i in sizes)
    third = sum((1 - q) ** i for i in sizes)
    fourth = sum(i * q * (1 - q) ** (i - 1) for i in sizes)
    return len(sizes) + alone * (first / second) * (third / fourth) ** 2


def slide_negative_binomial(size: int, alpha: float, beta: float) -> float:
    """How likely a class of the population has a size."""
    others = size - 1
    ways = math.exp(math.lgamma(alpha + others) - math.lgamma(alpha) - math.lgamma(others + 1))
    return ways * beta**alpha * (1 - beta) ** others


def drawn_of_classes(wanted: int, q: float, alpha: float, beta: float, largest: int) -> float:
    """How likely a class of the population has so and so many people in the sample."""
    return sum(
        slide_negative_binomial(size, alpha, beta)
        * math.comb(size, wanted)
        * q**wanted
        * (1 - q) ** (size - wanted)
        for size in range(max(wanted, 1), largest)
    )


def individual_risk(rows: int, drawn: float) -> float:
    """The mean of 1/F, F the trials until as many people of a class are drawn as it has rows."""
    found, people, likely = 0.0, rows, drawn**rows
    left = 1.0
    while left > 1e-13:
        found += likely / people
        left -= likely
        likely *= people / (people - rows + 1) * (1 - drawn)
        people += 1
        if people > 10**6:
            break
    return found
