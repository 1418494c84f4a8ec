"""What a published table still tells: dependency rules, and what a broken table leaves to guess."""

from sfumato.leaks.advice import Advice, Vulnerable
from sfumato.leaks.associations import Association, associations_of
from sfumato.leaks.breach import Breach, Holding, breach_of, holders
from sfumato.leaks.combinations import Combination, Share
from sfumato.leaks.comparison import Change, Comparison, Spread, compare
from sfumato.leaks.exposure import Exposure, View
from sfumato.leaks.findings import Findings, Inference
from sfumato.leaks.hiding import Hidden, HiddenColumn, hide
from sfumato.leaks.knowledge import Fact, Wanted, minimal_knowledge, most_wanted
from sfumato.leaks.limits import (
    ABOVE,
    UNLIMITED,
    increment_ratio,
    likelihood,
    permitted,
    permitted_each,
)
from sfumato.leaks.rules import Entries, Rule, ranked, rules_of
from sfumato.policy.levels import RiskLevels

__all__ = [
    "ABOVE",
    "UNLIMITED",
    "Advice",
    "Association",
    "Breach",
    "Change",
    "Combination",
    "Comparison",
    "Entries",
    "Exposure",
    "Fact",
    "Findings",
    "Hidden",
    "HiddenColumn",
    "Holding",
    "Inference",
    "RiskLevels",
    "Rule",
    "Share",
    "Spread",
    "View",
    "Vulnerable",
    "Wanted",
    "associations_of",
    "breach_of",
    "compare",
    "hide",
    "holders",
    "increment_ratio",
    "likelihood",
    "minimal_knowledge",
    "most_wanted",
    "permitted",
    "permitted_each",
    "ranked",
    "rules_of",
]
