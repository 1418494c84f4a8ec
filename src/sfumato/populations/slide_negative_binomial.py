"""The slide negative binomial model: each class of the population has one person and some more."""

import math
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from sfumato.populations.base import Sample, Uniqueness, UniquenessEstimator
from sfumato.typing import FloatArray

_STEPS = 200
_PRECISE = 1e-9
"""How far, as a share, the expected numbers may be from those that were seen."""

_STARTS = 12

_FAR = 30.0
"""The logarithm of parameters beyond which none are looked for."""


class SlideNegativeBinomial(UniquenessEstimator):
    """The share of people who are unique if classes have one person and a random number of others.

    The others follow a negative binomial distribution with parameters alpha and beta. The number
    of classes of the population is Shlosser's estimate; alpha and beta are those with which as many
    classes of one and of two people are expected in the sample as it has. Of K classes,
    K · beta^alpha have one person.

    Assumes: class sizes follow that distribution and people are drawn independently. Often no
    parameters fit: then it has no answer.

    References: G. Chen, S. Keller-McNulty, "Estimation of identification disclosure risk in
    microdata", Journal of Official Statistics 14(1), 1998, pages 79-95; P. J. Haas, L. Stokes,
    "Estimating the number of classes in a finite population", 1998,
    doi:10.1080/01621459.1998.10473807

    Example:
        >>> sample = Sample.of(np.repeat([1, 2, 3, 4], [550, 250, 70, 20]), 0.5)
        >>> 0 < SlideNegativeBinomial().estimate(sample).share < 0.4
        True
    """

    name: ClassVar[str] = "slide-negative-binomial"
    assumes: ClassVar[str] = "class sizes less one follow a negative binomial distribution"

    def solve(self, sample: Sample) -> Uniqueness:
        if not sample.of_size(2):
            return Uniqueness(self.name, None, "no class has two people, which it goes by")
        classes = shlosser(sample)
        found = fit(classes, sample)
        if found is None:
            return Uniqueness(self.name, None, "no parameters fit the classes of one and two")
        alpha, beta = found
        share = classes * math.exp(alpha * math.log(beta)) / sample.population
        return Uniqueness(self.name, share)


def shlosser(sample: Sample) -> float:
    """Return about how many classes the population has, by Shlosser's estimator as Haas gives it.

    >>> round(shlosser(Sample.of(np.array([1, 1, 2, 3]), 0.5)), 3)
    5.2...
    """
    q, sizes, classes = sample.fraction, sample.sizes.astype(float), sample.classes
    squared = (sizes * q**2 * (1 - q**2) ** (sizes - 1) * classes).sum()
    # (1 - q)^i ((1 + q)^i - 1), in which the first factor would be lost by itself.
    several = (((1 - q**2) ** sizes - (1 - q) ** sizes) * classes).sum()
    none = ((1 - q) ** sizes * classes).sum()
    once = (sizes * q * (1 - q) ** (sizes - 1) * classes).sum()
    return float(sample.count + sample.of_size(1) * (squared / several) * (none / once) ** 2)


def expect(classes: float, fraction: float, alpha: FloatArray, odds: FloatArray) -> FloatArray:
    """Return the logarithms of how many classes of one and of two people are expected in a sample.

    Args:
        classes: The number of classes of the population.
        fraction: The share of the population that is in the sample.
        alpha: Parameter of the distribution; above 0.
        odds: beta / (1 - beta), whose digits are not lost where beta is close to 1.
    """
    missed = (1 - fraction) / (1 + odds)
    some = 1 - missed
    # Of a class's others, as many are drawn as of a negative binomial with beta / some.
    none_of_others = -alpha * np.log1p(fraction / odds)
    one = math.log(classes * fraction) + none_of_others + np.log1p(alpha * missed / some)
    two = (
        math.log(classes * fraction**2)
        + none_of_others
        + np.log(alpha / ((1 + odds) * some))
        + np.log1p((alpha + 1) * missed / (2 * some))
    )
    return np.array([one, two])


def fit(classes: float, sample: Sample) -> tuple[float, float] | None:
    """Return the alpha and beta that fit the classes of one and two people; None if none do.

    Newton's method on the logarithms of alpha and of the odds of beta, from the best points of a
    coarse net: from others it often runs off.
    """
    seen = np.log([[sample.of_size(1)], [sample.of_size(2)]])

    def misses(at: FloatArray) -> FloatArray:
        """Return how far the expected numbers are off, for each column of parameters."""
        return expect(classes, sample.fraction, *np.exp(at)) - seen

    net = np.stack(np.meshgrid(np.linspace(-12, 8, 81), np.linspace(-16, 12, 113))).reshape(2, -1)
    best = np.argsort((misses(net) ** 2).sum(axis=0), kind="stable")[:_STARTS]
    for start in best.tolist():
        at = net[:, start]
        for _ in range(_STEPS):
            miss = misses(at[:, None])[:, 0]
            if float(np.abs(miss).max()) <= _PRECISE:
                alpha, odds = np.exp(at).tolist()
                return alpha, odds / (1 + odds)
            step = _newton_step(misses, at, miss)
            if step is None:
                break
            at = at + step
    return None


def _newton_step(
    misses: Callable[[FloatArray], FloatArray], at: FloatArray, miss: FloatArray
) -> FloatArray | None:
    """Return a step after which parameters fit better; None if there is none to be found."""
    near = 1e-6
    moved = misses(at[:, None] + near * np.array([[1.0, -1.0, 0, 0], [0, 0, 1.0, -1.0]]))
    slopes = np.stack([moved[:, 0] - moved[:, 1], moved[:, 2] - moved[:, 3]], axis=1) / (2 * near)
    if abs(float(np.linalg.det(slopes))) < 1e-14:
        return None
    step = -np.linalg.solve(slopes, miss)
    tried = np.clip(at[:, None] + step[:, None] * 0.5 ** np.arange(40), -_FAR, _FAR)
    better = np.flatnonzero((misses(tried) ** 2).sum(axis=0) < (miss**2).sum())
    return tried[:, better[0]] - at if len(better) else None
