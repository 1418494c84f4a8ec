"""All estimators of population uniqueness, by name."""

from sfumato.populations.base import UniquenessEstimator
from sfumato.populations.dankar import Dankar
from sfumato.populations.pitman import Pitman
from sfumato.populations.slide_negative_binomial import SlideNegativeBinomial
from sfumato.populations.zayatz import Zayatz
from sfumato.registry import Registry

ESTIMATORS: Registry[UniquenessEstimator] = Registry(
    "estimator of population uniqueness",
    "sfumato.estimators",
    [Dankar, Pitman, Zayatz, SlideNegativeBinomial],
)
