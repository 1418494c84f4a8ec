"""Attacks: what an adversary who knows a person's class learns about that person.

Every attack is one file and one frozen dataclass; `ATTACKS` finds them by name. Some need more
than classes: `Composition` two releases, `Membership` who is in the data, `Linking` perhaps a list,
`HouseholdKnowledge` who lives together.
"""

from typing import TYPE_CHECKING

from sfumato.attacks.base import Attack, Case, ClassAttack, Finding, Outcome
from sfumato.registry import Registry, on_first_use

if TYPE_CHECKING:
    from sfumato.attacks.background import BackgroundKnowledge as BackgroundKnowledge
    from sfumato.attacks.composition import ComparedReleases as ComparedReleases
    from sfumato.attacks.composition import Composition as Composition
    from sfumato.attacks.corruption import Corruption as Corruption
    from sfumato.attacks.definetti import DeFinetti as DeFinetti
    from sfumato.attacks.dependency import Dependency as Dependency
    from sfumato.attacks.distance_linkage import DistanceLinkage as DistanceLinkage
    from sfumato.attacks.equal_counts import EqualCounts as EqualCounts
    from sfumato.attacks.homogeneity import Homogeneity as Homogeneity
    from sfumato.attacks.household import HouseholdKnowledge as HouseholdKnowledge
    from sfumato.attacks.interval_disclosure import IntervalDisclosure as IntervalDisclosure
    from sfumato.attacks.knowledge import ItemRows as ItemRows
    from sfumato.attacks.knowledge import ReleaseMaker as ReleaseMaker
    from sfumato.attacks.knowledge import WholeRows as WholeRows
    from sfumato.attacks.knowledge_breach import KnowledgeBreach as KnowledgeBreach
    from sfumato.attacks.known_items import KnownItems as KnownItems
    from sfumato.attacks.linking import Linking as Linking
    from sfumato.attacks.matching import Matcher as Matcher
    from sfumato.attacks.matching import matcher as matcher
    from sfumato.attacks.membership import Membership as Membership
    from sfumato.attacks.membership import Presence as Presence
    from sfumato.attacks.minimality import Minimality as Minimality
    from sfumato.attacks.outside import Outside as Outside
    from sfumato.attacks.perturbed import PerturbedRows as PerturbedRows
    from sfumato.attacks.probabilistic import ProbabilisticInference as ProbabilisticInference
    from sfumato.attacks.similarity import Similarity as Similarity
    from sfumato.attacks.skewness import Skewness as Skewness
    from sfumato.attacks.target import EarlierRelease as EarlierRelease
    from sfumato.attacks.target import Target as Target
    from sfumato.attacks.undoing import UndoneGeneralisation as UndoneGeneralisation

_HOMES = {
    "BackgroundKnowledge": "background",
    "ComparedReleases": "composition",
    "Composition": "composition",
    "Corruption": "corruption",
    "DeFinetti": "definetti",
    "Dependency": "dependency",
    "DistanceLinkage": "distance_linkage",
    "EarlierRelease": "target",
    "EqualCounts": "equal_counts",
    "Homogeneity": "homogeneity",
    "HouseholdKnowledge": "household",
    "IntervalDisclosure": "interval_disclosure",
    "ItemRows": "knowledge",
    "KnowledgeBreach": "knowledge_breach",
    "KnownItems": "known_items",
    "Linking": "linking",
    "Matcher": "matching",
    "Membership": "membership",
    "Minimality": "minimality",
    "Outside": "outside",
    "PerturbedRows": "perturbed",
    "Presence": "membership",
    "ProbabilisticInference": "probabilistic",
    "ReleaseMaker": "knowledge",
    "Similarity": "similarity",
    "Skewness": "skewness",
    "Target": "target",
    "UndoneGeneralisation": "undoing",
    "WholeRows": "knowledge",
    "matcher": "matching",
}
"""Where each name is that is imported when it is first asked for."""

__all__ = [  # noqa: PLE0604 - all of them are texts
    "ATTACKS",
    "Attack",
    "Case",
    "ClassAttack",
    "Finding",
    "Outcome",
    *_HOMES,
]

if not TYPE_CHECKING:
    __getattr__ = on_first_use(__name__, _HOMES)

ATTACKS: Registry[Attack] = Registry(
    "attack",
    "sfumato.attacks",
    {
        "linking": "Linking",
        "homogeneity": "Homogeneity",
        "probabilistic-inference": "ProbabilisticInference",
        "skewness": "Skewness",
        "similarity": "Similarity",
        "background-knowledge": "BackgroundKnowledge",
        "corruption": "Corruption",
        "household": "HouseholdKnowledge",
        "dependency": "Dependency",
        "knowledge-breach": "KnowledgeBreach",
        "undone-generalisation": "UndoneGeneralisation",
        "known-items": "KnownItems",
        "distance-linkage": "DistanceLinkage",
        "interval-disclosure": "IntervalDisclosure",
        "definetti": "DeFinetti",
        "equal-counts": "EqualCounts",
        "membership": "Membership",
        "composition": "Composition",
        "minimality": "Minimality",
    },
    home=__name__,
)
