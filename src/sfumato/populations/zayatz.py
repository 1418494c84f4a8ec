"""Zayatz's estimator: people who are alone in a sample may come from classes as it shows them."""

from typing import ClassVar

import numpy as np

from sfumato.populations.base import Sample, Uniqueness, UniquenessEstimator


class Zayatz(UniquenessEstimator):
    """The share of sample uniques who are alone in the population, by the sizes seen in the sample.

    The classes of the population are taken to be as large as those of the sample are. Of a class
    of j people exactly one is drawn with a hypergeometric probability; by Bayes' rule that is how
    likely it is that a class of which one was drawn has one person.

    Assumes: classes of the sample are as large as those of the population. They are smaller,
    the more so the smaller the sample: below a tenth of the population it says too much.

    Reference: L. V. Zayatz, "Estimation of the number of unique population elements using a
    sample", Proceedings of the Survey Research Methods Section, ASA, 1991, pages 369-373.

    Example:
        >>> Zayatz().estimate(Sample.of(np.array([1, 1, 1, 2, 5]), 0.5)).share
        0.2...
    """

    name: ClassVar[str] = "zayatz"
    assumes: ClassVar[str] = "classes of the population are as large as those of the sample"

    def solve(self, sample: Sample) -> Uniqueness:
        n, everyone = sample.people, sample.population
        # P(one of j is drawn) / j = n / (N - j + 1) times (N - n - i) / (N - i) for i below j - 1.
        # A running sum of logarithms; factorials of a million would lose their last digits.
        before = np.arange(int(sample.sizes.max()) - 1)
        left = np.maximum(everyone - n - before, 0)
        with np.errstate(divide="ignore"):
            steps = np.concatenate([[0.0], np.cumsum(np.log(left / (everyone - before)))])
        sizes = sample.sizes
        once = sizes * np.exp(steps[sizes - 1]) * n / (everyone - sizes + 1)
        alone = float((once * sample.classes)[sizes == 1].sum())
        share = sample.unique * alone / float((once * sample.classes).sum())
        return Uniqueness(self.name, share)
