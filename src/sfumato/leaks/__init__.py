"""Leaks of a published table: rules, facts and findings, and guesses at a decoupled one."""

from sfumato.leaks.breach import Breach, Combination, Holding, Share, breach_of, holders
from sfumato.leaks.exposure import Change, Comparison, Exposure, Spread, View, compare
from sfumato.leaks.findings import Advice, Findings, Inference, Vulnerable
from sfumato.leaks.hiding import Association, HiddenColumn, HiddenTable, associations_of, hide
from sfumato.leaks.rules import (
    Entries,
    Fact,
    Rule,
    WantedKnowledge,
    minimal_knowledge,
    most_wanted,
    rank_rules,
    rules_of,
)
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
    "HiddenColumn",
    "HiddenTable",
    "Holding",
    "Inference",
    "RiskLevels",
    "Rule",
    "Share",
    "Spread",
    "View",
    "Vulnerable",
    "WantedKnowledge",
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
    "rank_rules",
    "rules_of",
]
