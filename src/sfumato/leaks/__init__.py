"""Dependency rules of a published table, and the breach probabilities of a decoupled one."""

from sfumato.leaks.breach import Breach, Combination, Holding, Share, breach_of, holders
from sfumato.leaks.exposure import Change, Comparison, Exposure, Spread, View, compare
from sfumato.leaks.findings import Advice, Findings, Inference, Vulnerable
from sfumato.leaks.hiding import Association, Hidden, HiddenColumn, associations_of, hide
from sfumato.leaks.knowledge import Fact, Wanted, minimal_knowledge, most_wanted
from sfumato.leaks.rules import Entries, Rule, ranked, rules_of
from sfumato.likelihood import (
    ABOVE,
    UNLIMITED,
    increment_ratio,
    likelihood,
    permitted_each,
    permitted_rows,
)
from sfumato.policy import RiskLevels

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
    "permitted_each",
    "permitted_rows",
    "ranked",
    "rules_of",
]
