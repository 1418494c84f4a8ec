"""Pitman's model: classes of a population that grow as new people keep bringing new ones."""

import math
from typing import ClassVar

import numpy as np

from sfumato.populations.base import Sample, Uniqueness, UniquenessEstimator
from sfumato.typing import FloatArray

_STEPS = 200
_PRECISE = 1e-10
"""The slope, for each person, at which a top is reached."""

_FIRST = 64
"""Terms of a sum that are added up one by one; the rest has a closed form."""


class Pitman(UniquenessEstimator):
    """The share of people who are unique by a two-parameter model of species, fitted to the sample.

    The sizes of classes follow Pitman's sampling formula with parameters theta and alpha, found as
    those that make the sample likeliest. A population of N has then about
    Γ(θ + 1) / Γ(θ + α) · N^α classes of one person.

    Assumes: population and sample are both drawn from the model, in which any two people are alike
    in the same way, however the columns hang together. It does best with small samples.

    Reference: N. Hoshino, "Applying Pitman's sampling formula to microdata disclosure risk
    assessment", Journal of Official Statistics 17(4), 2001, pages 499-520.

    Example:
        >>> sizes = np.repeat([1, 2, 3, 10], [40, 10, 4, 2])
        >>> found = Pitman().estimate(Sample.of(sizes, 0.01))
        >>> 0.05 < found.share < 0.2
        True
    """

    name: ClassVar[str] = "pitman"
    assumes: ClassVar[str] = "class sizes follow Pitman's sampling formula"

    def solve(self, sample: Sample) -> Uniqueness:
        if sample.count == sample.people:
            return Uniqueness(self.name, None, "every person is alone, so nothing tells it apart")
        if sample.count == 1:
            return Uniqueness(self.name, None, "there is one class only")
        found = fit(sample)
        if found is None:
            return Uniqueness(self.name, None, "no parameters make the sample likeliest")
        theta, alpha = found
        logarithm = math.lgamma(theta + 1) - math.lgamma(theta + alpha)
        return Uniqueness(
            self.name, math.exp(logarithm + (alpha - 1) * math.log(sample.population))
        )


def fit(sample: Sample) -> tuple[float, float] | None:
    """Return the theta and alpha that make a sample likeliest; None if there are none inside.

    Newton's method on the slopes of the likelihood, with steps cut until it rises: the parameters
    stay where it is defined, 0 < alpha < 1 and theta > -alpha.
    """
    theta, alpha = _first_guess(sample)
    value = _likelihood(sample, theta, alpha)
    for _ in range(_STEPS):
        slopes, bends = _derivatives(sample, theta, alpha)
        if math.hypot(slopes[0] * (1 + abs(theta)), slopes[1]) <= _PRECISE * sample.people:
            return theta, alpha
        step = _uphill(slopes, bends, theta)
        for halves in range(60):
            size = 0.5**halves
            theta_next, alpha_next = theta + size * step[0], alpha + size * step[1]
            if 0 < alpha_next < 1 and theta_next + alpha_next > 0:
                reached = _likelihood(sample, theta_next, alpha_next)
                if reached > value:
                    break
        else:
            # No step gains a digit: the top to within rounding, or an edge, where a slope is left.
            level = math.hypot(slopes[0] * (1 + abs(theta)), slopes[1]) / sample.people
            return (theta, alpha) if level <= 1e-6 else None
        theta, alpha, value = theta_next, alpha_next, reached
    return None


def _first_guess(sample: Sample) -> tuple[float, float]:
    """Return where Newton's method begins: what the uniques and pairs suggest, kept inside."""
    n, u, ones, twos = sample.people, sample.count, sample.of_size(1), sample.of_size(2)
    # Of the classes of one and of two people in a large sample, alpha is 1 - 2 twos / ones.
    alpha = min(max(1 - 2 * twos / ones, 0.05), 0.95)
    # And the number of classes is about theta / alpha times (n / theta)^alpha, for a large theta.
    theta = max((alpha * u / n**alpha) ** (1 / (1 - alpha)), 0.5)
    return min(theta, float(n)), alpha


def _uphill(slopes: FloatArray, bends: FloatArray, theta: float) -> FloatArray:
    """Return Newton's step where the likelihood bends down, else a step along its slope."""
    scale = np.array([1 + abs(theta), 1.0])
    bent = bends * np.outer(scale, scale)
    slope = slopes * scale
    # Eigenvalues that are not negative are turned: the step then always leads up.
    values, vectors = np.linalg.eigh(bent)
    values = -np.maximum(np.abs(values), 1e-12 * max(float(np.abs(values).max()), 1e-300))
    step: FloatArray = -(vectors @ ((vectors.T @ slope) / values)) * scale
    return step


def _likelihood(sample: Sample, theta: float, alpha: float) -> float:
    """Return the logarithm of how likely the class sizes are, but for a constant."""
    n, u = sample.people, sample.count
    inside = sample.sizes - alpha
    sizes = np.array([math.lgamma(value) for value in inside.tolist()]) - math.lgamma(1 - alpha)
    return (
        _sum_of_logarithms(theta, alpha, u - 1)
        - (math.lgamma(theta + n) - math.lgamma(theta + 1))
        + float((sample.classes * sizes).sum())
    )


def _derivatives(sample: Sample, theta: float, alpha: float) -> tuple[FloatArray, FloatArray]:
    """Return the slopes of the likelihood and how they change, by theta and by alpha."""
    n, u = sample.people, sample.count
    once, twice = _sums_of_inverses(theta, alpha, u - 1)
    all_once, all_twice = _sums_of_inverses(theta, 1.0, n - 1)
    # Sums of i / (theta + i alpha) follow from those of 1 / (theta + i alpha).
    times = ((u - 1) - theta * once) / alpha
    times_twice = (once - theta * twice) / alpha
    squares_twice = ((u - 1) - 2 * theta * once + theta * theta * twice) / alpha**2
    larger = np.arange(1, int(sample.sizes.max())) - alpha
    inside = np.concatenate([[0.0], np.cumsum(1 / larger)])[sample.sizes - 1]
    inside_twice = np.concatenate([[0.0], np.cumsum(1 / larger**2)])[sample.sizes - 1]
    slopes = np.array([once - all_once, times - float((sample.classes * inside).sum())])
    mixed = -times_twice
    bends = np.array(
        [
            [all_twice - twice, mixed],
            [mixed, -squares_twice - float((sample.classes * inside_twice).sum())],
        ]
    )
    return slopes, bends


def _sum_of_logarithms(start: float, step: float, terms: int) -> float:
    """Return the sum of log(start + i step) for i from 1 to terms, by Euler and Maclaurin.

    >>> slow = sum(math.log(0.5 + 2 * i) for i in range(1, 1001))
    >>> abs(_sum_of_logarithms(0.5, 2.0, 1000) - slow) < 1e-9
    True
    """
    few = min(terms, _FIRST)
    total = float(np.log(start + step * np.arange(1, few + 1)).sum())
    if terms <= few:
        return total
    low, high = start + step * few, start + step * terms
    # The integral of log is x log x - x; by log1p, since the two ends may be close together.
    whole = (
        high * math.log1p((high - low) / low) - (high - low) + (high - low) * math.log(low)
    ) / step
    ends = (math.log(high) - math.log(low)) / 2
    bend = step * (1 / high - 1 / low) / 12 - step**3 * (2 / high**3 - 2 / low**3) / 720
    return total + whole + ends + bend


def _sums_of_inverses(start: float, step: float, terms: int) -> tuple[float, float]:
    """Return the sums of 1 / (start + i step) and of its square for i from 1 to terms.

    >>> once, twice = _sums_of_inverses(0.5, 2.0, 1000)
    >>> abs(once - sum(1 / (0.5 + 2 * i) for i in range(1, 1001))) < 1e-12
    True
    >>> abs(twice - sum(1 / (0.5 + 2 * i) ** 2 for i in range(1, 1001))) < 1e-12
    True
    """
    few = min(terms, _FIRST)
    first = 1 / (start + step * np.arange(1, few + 1))
    once, twice = float(first.sum()), float((first * first).sum())
    if terms <= few:
        return once, twice
    low, high = start + step * few, start + step * terms
    once += math.log1p((high - low) / low) / step + (1 / high - 1 / low) / 2
    once += -step * (high**-2 - low**-2) / 12 + 6 * step**3 * (high**-4 - low**-4) / 720
    twice += (high - low) / (low * high) / step + (high**-2 - low**-2) / 2
    twice += -2 * step * (high**-3 - low**-3) / 12 + 24 * step**3 * (high**-5 - low**-5) / 720
    return once, twice
