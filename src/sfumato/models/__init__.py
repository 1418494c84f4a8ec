"""Privacy models: what a release promises about the classes of people in it.

Every model is one file and one frozen dataclass; `MODELS` finds them by name.
"""

from sfumato.models.base import Merging, PrivacyModel, TableModel
from sfumato.models.distinct_l_diversity import DistinctLDiversity
from sfumato.models.k_anonymity import KAnonymity
from sfumato.registry import Registry

__all__ = ["MODELS", "DistinctLDiversity", "KAnonymity", "Merging", "PrivacyModel", "TableModel"]

MODELS: Registry[PrivacyModel] = Registry(
    "privacy model",
    "sfumato.models",
    [KAnonymity, DistinctLDiversity],
)
