"""Attacks: what somebody who knows a person's class learns about that person.

Every attack is one file and one frozen dataclass; `ATTACKS` finds them by name. `Composition`
and `Membership` stand apart: one needs two releases, the other people who are in none.
"""

from sfumato.attacks.base import Attack, ClassAttack, Finding
from sfumato.attacks.composition import Compared, Composition
from sfumato.attacks.covering import Covered, covers_of
from sfumato.attacks.homogeneity import Homogeneity
from sfumato.attacks.matching import Groups, Matcher
from sfumato.attacks.membership import Membership, Presence
from sfumato.attacks.outcome import Case, Outcome, at_risk
from sfumato.attacks.similarity import Similarity
from sfumato.attacks.target import Target
from sfumato.registry import Registry

__all__ = [
    "ATTACKS",
    "Attack",
    "Case",
    "ClassAttack",
    "Compared",
    "Composition",
    "Covered",
    "Finding",
    "Groups",
    "Homogeneity",
    "Matcher",
    "Membership",
    "Outcome",
    "Presence",
    "Similarity",
    "Target",
    "at_risk",
    "covers_of",
]

ATTACKS: Registry[Attack] = Registry("attack", "sfumato.attacks", [Homogeneity, Similarity])
