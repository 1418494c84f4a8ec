"""Samples and populations: how many people of a population a sample gives away.

Every estimator of population uniqueness is one file and one class; `ESTIMATORS` finds them by name.
"""

from sfumato.populations.base import Sample, Uniqueness, UniquenessEstimator, require_fraction
from sfumato.populations.dankar import Dankar
from sfumato.populations.estimators import ESTIMATORS
from sfumato.populations.individual import individual_risk
from sfumato.populations.pitman import Pitman
from sfumato.populations.risk import SampleRisk
from sfumato.populations.slide_negative_binomial import SlideNegativeBinomial
from sfumato.populations.unique_match import unique_match
from sfumato.populations.zayatz import Zayatz

__all__ = [
    "ESTIMATORS",
    "Dankar",
    "Pitman",
    "Sample",
    "SampleRisk",
    "SlideNegativeBinomial",
    "Uniqueness",
    "UniquenessEstimator",
    "Zayatz",
    "individual_risk",
    "require_fraction",
    "unique_match",
]
