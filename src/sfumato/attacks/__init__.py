"""Attacks: what an adversary who knows a person's class learns about that person.

Every attack is one file and one frozen dataclass; `ATTACKS` finds them by name. Some need more
than classes: `Composition` two releases, `Membership` who is in the data, `Linking` perhaps a list,
`HouseholdKnowledge` who lives together.
"""

from sfumato.attacks.background import BackgroundKnowledge
from sfumato.attacks.base import Attack, Case, ClassAttack, Finding, Outcome
from sfumato.attacks.composition import ComparedReleases, Composition
from sfumato.attacks.corruption import Corruption
from sfumato.attacks.definetti import DeFinetti
from sfumato.attacks.dependency import Dependency
from sfumato.attacks.distance_linkage import DistanceLinkage
from sfumato.attacks.equal_counts import EqualCounts
from sfumato.attacks.homogeneity import Homogeneity
from sfumato.attacks.household import HouseholdKnowledge
from sfumato.attacks.interval_disclosure import IntervalDisclosure
from sfumato.attacks.knowledge import ItemRows, ReleaseMaker, WholeRows
from sfumato.attacks.knowledge_breach import KnowledgeBreach
from sfumato.attacks.known_items import KnownItems
from sfumato.attacks.linking import Linking
from sfumato.attacks.matching import Matcher, matcher
from sfumato.attacks.membership import Membership, Presence
from sfumato.attacks.minimality import Minimality
from sfumato.attacks.outside import Outside
from sfumato.attacks.perturbed import PerturbedRows
from sfumato.attacks.probabilistic import ProbabilisticInference
from sfumato.attacks.similarity import Similarity
from sfumato.attacks.skewness import Skewness
from sfumato.attacks.target import EarlierRelease, Target
from sfumato.attacks.undoing import UndoneGeneralisation
from sfumato.registry import Registry

__all__ = [
    "ATTACKS",
    "Attack",
    "BackgroundKnowledge",
    "Case",
    "ClassAttack",
    "ComparedReleases",
    "Composition",
    "Corruption",
    "DeFinetti",
    "Dependency",
    "DistanceLinkage",
    "EarlierRelease",
    "EqualCounts",
    "Finding",
    "Homogeneity",
    "HouseholdKnowledge",
    "IntervalDisclosure",
    "ItemRows",
    "KnowledgeBreach",
    "KnownItems",
    "Linking",
    "Matcher",
    "Membership",
    "Minimality",
    "Outcome",
    "Outside",
    "PerturbedRows",
    "Presence",
    "ProbabilisticInference",
    "ReleaseMaker",
    "Similarity",
    "Skewness",
    "Target",
    "UndoneGeneralisation",
    "WholeRows",
    "matcher",
]

ATTACKS: Registry[Attack] = Registry(
    "attack",
    "sfumato.attacks",
    [
        Linking,
        Homogeneity,
        ProbabilisticInference,
        Skewness,
        Similarity,
        BackgroundKnowledge,
        Corruption,
        HouseholdKnowledge,
        Dependency,
        KnowledgeBreach,
        UndoneGeneralisation,
        KnownItems,
        DistanceLinkage,
        IntervalDisclosure,
        DeFinetti,
        EqualCounts,
        Membership,
        Composition,
        Minimality,
    ],
)
