"""Privacy models: what a release promises about the classes of people in it.

Every model is one file and one frozen dataclass; `MODELS` finds them by name.
"""

from typing import TYPE_CHECKING

from sfumato.models.base import Merging, PrivacyModel, TableModel
from sfumato.registry import Registry, on_first_use

if TYPE_CHECKING:
    from sfumato.models.alpha_k_anonymity import AlphaKAnonymity as AlphaKAnonymity
    from sfumato.models.average_risk import AverageRisk as AverageRisk
    from sfumato.models.basic_beta_likeness import BasicBetaLikeness as BasicBetaLikeness
    from sfumato.models.category_share import CategoryShare as CategoryShare
    from sfumato.models.delta_disclosure import DeltaDisclosure as DeltaDisclosure
    from sfumato.models.delta_presence import DeltaPresence as DeltaPresence
    from sfumato.models.distinct_l_diversity import DistinctLDiversity as DistinctLDiversity
    from sfumato.models.enhanced_beta_likeness import EnhancedBetaLikeness as EnhancedBetaLikeness
    from sfumato.models.enhanced_p_alpha_sensitive_k_anonymity import (
        EnhancedPAlphaSensitiveKAnonymity as EnhancedPAlphaSensitiveKAnonymity,
    )
    from sfumato.models.entropy_l_diversity import EntropyLDiversity as EntropyLDiversity
    from sfumato.models.estimated_k_map import EstimatedKMap as EstimatedKMap
    from sfumato.models.k_anonymity import KAnonymity as KAnonymity
    from sfumato.models.k_e_anonymity import KEAnonymity as KEAnonymity
    from sfumato.models.k_map import KMap as KMap
    from sfumato.models.km_anonymity import KmAnonymity as KmAnonymity
    from sfumato.models.maximum_risk import MaximumRisk as MaximumRisk
    from sfumato.models.p_alpha_sensitive_k_anonymity import (
        PAlphaSensitiveKAnonymity as PAlphaSensitiveKAnonymity,
    )
    from sfumato.models.p_sensitive_k_anonymity import PSensitiveKAnonymity as PSensitiveKAnonymity
    from sfumato.models.probabilistic_l_diversity import (
        ProbabilisticLDiversity as ProbabilisticLDiversity,
    )
    from sfumato.models.range_share import RangeShare as RangeShare
    from sfumato.models.recursive_cl_diversity import RecursiveCLDiversity as RecursiveCLDiversity
    from sfumato.models.sample_uniqueness import SampleUniqueness as SampleUniqueness
    from sfumato.models.t_closeness import TCloseness as TCloseness
    from sfumato.models.weighted_k_map import WeightedKMap as WeightedKMap

_HOMES = {
    "AlphaKAnonymity": "alpha_k_anonymity",
    "AverageRisk": "average_risk",
    "BasicBetaLikeness": "basic_beta_likeness",
    "CategoryShare": "category_share",
    "DeltaDisclosure": "delta_disclosure",
    "DeltaPresence": "delta_presence",
    "DistinctLDiversity": "distinct_l_diversity",
    "EnhancedBetaLikeness": "enhanced_beta_likeness",
    "EnhancedPAlphaSensitiveKAnonymity": "enhanced_p_alpha_sensitive_k_anonymity",
    "EntropyLDiversity": "entropy_l_diversity",
    "EstimatedKMap": "estimated_k_map",
    "KAnonymity": "k_anonymity",
    "KEAnonymity": "k_e_anonymity",
    "KMap": "k_map",
    "KmAnonymity": "km_anonymity",
    "MaximumRisk": "maximum_risk",
    "PAlphaSensitiveKAnonymity": "p_alpha_sensitive_k_anonymity",
    "PSensitiveKAnonymity": "p_sensitive_k_anonymity",
    "ProbabilisticLDiversity": "probabilistic_l_diversity",
    "RangeShare": "range_share",
    "RecursiveCLDiversity": "recursive_cl_diversity",
    "SampleUniqueness": "sample_uniqueness",
    "TCloseness": "t_closeness",
    "WeightedKMap": "weighted_k_map",
}
"""Where each name is that is imported when it is first asked for."""

__all__ = [  # noqa: PLE0604 - all of them are texts
    "MODELS",
    "Merging",
    "PrivacyModel",
    "TableModel",
    *_HOMES,
]

if not TYPE_CHECKING:
    __getattr__ = on_first_use(__name__, _HOMES)

MODELS: Registry[PrivacyModel] = Registry(
    "privacy model",
    "sfumato.models",
    {
        "k-anonymity": "KAnonymity",
        "k-map": "KMap",
        "estimated-k-map": "EstimatedKMap",
        "weighted-k-map": "WeightedKMap",
        "km-anonymity": "KmAnonymity",
        "distinct-l-diversity": "DistinctLDiversity",
        "probabilistic-l-diversity": "ProbabilisticLDiversity",
        "entropy-l-diversity": "EntropyLDiversity",
        "recursive-cl-diversity": "RecursiveCLDiversity",
        "t-closeness": "TCloseness",
        "alpha-k-anonymity": "AlphaKAnonymity",
        "p-sensitive-k-anonymity": "PSensitiveKAnonymity",
        "p-alpha-sensitive-k-anonymity": "PAlphaSensitiveKAnonymity",
        "enhanced-p-alpha-sensitive-k-anonymity": "EnhancedPAlphaSensitiveKAnonymity",
        "category-share": "CategoryShare",
        "k-e-anonymity": "KEAnonymity",
        "range-share": "RangeShare",
        "basic-beta-likeness": "BasicBetaLikeness",
        "enhanced-beta-likeness": "EnhancedBetaLikeness",
        "delta-disclosure": "DeltaDisclosure",
        "delta-presence": "DeltaPresence",
        "maximum-risk": "MaximumRisk",
        "average-risk": "AverageRisk",
        "sample-uniqueness": "SampleUniqueness",
    },
    home=__name__,
)
