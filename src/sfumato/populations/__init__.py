"""Samples and populations: how many people of a population a sample gives away.

Every estimator of population uniqueness is one file and one class; `ESTIMATORS` finds them by name.
"""

from typing import TYPE_CHECKING

# Its module has the same name, so that it is not found on first use.
from sfumato.populations.unique_match import unique_match
from sfumato.registry import on_first_use

if TYPE_CHECKING:
    from sfumato.populations.base import Sample as Sample
    from sfumato.populations.base import Uniqueness as Uniqueness
    from sfumato.populations.base import UniquenessEstimator as UniquenessEstimator
    from sfumato.populations.base import require_fraction as require_fraction
    from sfumato.populations.dankar import Dankar as Dankar
    from sfumato.populations.estimators import ESTIMATORS as ESTIMATORS
    from sfumato.populations.individual import individual_risk as individual_risk
    from sfumato.populations.pitman import Pitman as Pitman
    from sfumato.populations.risk import SampleRisk as SampleRisk
    from sfumato.populations.slide_negative_binomial import (
        SlideNegativeBinomial as SlideNegativeBinomial,
    )
    from sfumato.populations.zayatz import Zayatz as Zayatz

_HOMES = {
    "Dankar": "dankar",
    "ESTIMATORS": "estimators",
    "Pitman": "pitman",
    "Sample": "base",
    "SampleRisk": "risk",
    "SlideNegativeBinomial": "slide_negative_binomial",
    "Uniqueness": "base",
    "UniquenessEstimator": "base",
    "Zayatz": "zayatz",
    "individual_risk": "individual",
    "require_fraction": "base",
}
"""Where each name is that is imported when it is first asked for."""

__all__ = [*_HOMES, "unique_match"]  # noqa: PLE0604 - all of them are texts

if not TYPE_CHECKING:
    __getattr__ = on_first_use(__name__, _HOMES)
