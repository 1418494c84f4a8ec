"""Privacy models: what a release promises about the classes of people in it.

Every model is one file and one frozen dataclass; `MODELS` finds them by name.
"""

from sfumato.models.alpha_k_anonymity import AlphaKAnonymity
from sfumato.models.average_risk import AverageRisk
from sfumato.models.base import Merging, PrivacyModel, TableModel
from sfumato.models.basic_beta_likeness import BasicBetaLikeness
from sfumato.models.category_share import CategoryShare
from sfumato.models.delta_disclosure import DeltaDisclosure
from sfumato.models.delta_presence import DeltaPresence
from sfumato.models.distinct_l_diversity import DistinctLDiversity
from sfumato.models.enhanced_beta_likeness import EnhancedBetaLikeness
from sfumato.models.enhanced_p_alpha_sensitive_k_anonymity import (
    EnhancedPAlphaSensitiveKAnonymity,
)
from sfumato.models.entropy_l_diversity import EntropyLDiversity
from sfumato.models.estimated_k_map import EstimatedKMap
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.k_e_anonymity import KEAnonymity
from sfumato.models.k_map import KMap
from sfumato.models.km_anonymity import KmAnonymity
from sfumato.models.maximum_risk import MaximumRisk
from sfumato.models.p_alpha_sensitive_k_anonymity import PAlphaSensitiveKAnonymity
from sfumato.models.p_sensitive_k_anonymity import PSensitiveKAnonymity
from sfumato.models.probabilistic_l_diversity import ProbabilisticLDiversity
from sfumato.models.range_share import RangeShare
from sfumato.models.recursive_cl_diversity import RecursiveCLDiversity
from sfumato.models.sample_uniqueness import SampleUniqueness
from sfumato.models.t_closeness import TCloseness
from sfumato.models.weighted_k_map import WeightedKMap
from sfumato.registry import Registry

__all__ = [
    "MODELS",
    "AlphaKAnonymity",
    "AverageRisk",
    "BasicBetaLikeness",
    "CategoryShare",
    "DeltaDisclosure",
    "DeltaPresence",
    "DistinctLDiversity",
    "EnhancedBetaLikeness",
    "EnhancedPAlphaSensitiveKAnonymity",
    "EntropyLDiversity",
    "EstimatedKMap",
    "KAnonymity",
    "KEAnonymity",
    "KMap",
    "KmAnonymity",
    "MaximumRisk",
    "Merging",
    "PAlphaSensitiveKAnonymity",
    "PSensitiveKAnonymity",
    "PrivacyModel",
    "ProbabilisticLDiversity",
    "RangeShare",
    "RecursiveCLDiversity",
    "SampleUniqueness",
    "TCloseness",
    "TableModel",
    "WeightedKMap",
]

MODELS: Registry[PrivacyModel] = Registry(
    "privacy model",
    "sfumato.models",
    [
        KAnonymity,
        KMap,
        EstimatedKMap,
        WeightedKMap,
        KmAnonymity,
        DistinctLDiversity,
        ProbabilisticLDiversity,
        EntropyLDiversity,
        RecursiveCLDiversity,
        TCloseness,
        AlphaKAnonymity,
        PSensitiveKAnonymity,
        PAlphaSensitiveKAnonymity,
        EnhancedPAlphaSensitiveKAnonymity,
        CategoryShare,
        KEAnonymity,
        RangeShare,
        BasicBetaLikeness,
        EnhancedBetaLikeness,
        DeltaDisclosure,
        DeltaPresence,
        MaximumRisk,
        AverageRisk,
        SampleUniqueness,
    ],
)
