"""Dankar's rule: which estimator to believe, by how much of the population is in the sample."""

from typing import ClassVar

from sfumato.populations.base import Sample, Uniqueness, UniquenessEstimator
from sfumato.populations.pitman import Pitman
from sfumato.populations.slide_negative_binomial import SlideNegativeBinomial
from sfumato.populations.zayatz import Zayatz

_SMALL = 0.1
"""The largest sampling fraction at which Pitman's model does best."""


class Dankar(UniquenessEstimator):
    """The estimate of Pitman's model for small samples, the smaller of two others for large ones.

    A sample of a tenth of the population or less: Pitman's, or Zayatz's if Pitman's has no answer.
    A larger one: the smaller of Zayatz's and the slide negative binomial's, of those that have one.

    Assumes: what the chosen estimator does. The rule was found by simulation on medical data.

    Reference: "Estimating the re-identification risk of clinical data sets", 2012,
    doi:10.1186/1472-6947-12-66

    Example:
        >>> import numpy as np
        >>> sizes = np.repeat([1, 2, 3, 10], [40, 10, 4, 2])
        >>> Dankar().estimate(Sample.of(sizes, 0.05)).note
        'by pitman'
    """

    name: ClassVar[str] = "dankar"
    assumes: ClassVar[str] = "what the estimator assumes that the rule chooses"

    def solve(self, sample: Sample) -> Uniqueness:
        zayatz = Zayatz().estimate(sample)
        other = (Pitman() if sample.fraction <= _SMALL else SlideNegativeBinomial()).estimate(
            sample
        )
        chosen = zayatz if other.share is None else other
        if sample.fraction > _SMALL and zayatz.share is not None and chosen.share is not None:
            chosen = zayatz if zayatz.share < chosen.share else chosen
        if other.share is None:
            note = f"by {chosen.estimator}, as {other.estimator} has no answer: {other.note}"
        else:
            note = f"by {chosen.estimator}"
        return Uniqueness(self.name, chosen.share, note)
