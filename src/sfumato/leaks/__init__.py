"""Leaks of a published table: rules, facts and findings, and guesses at a decoupled one."""

from sfumato.decouplings.association_hiding import HiddenColumn
from sfumato.decouplings.likelihood import (
    ABOVE,
    UNLIMITED,
    increment_ratio,
    likelihood,
    permitted_each,
    permitted_rows,
)
from sfumato.leaks.breach import Breach, Combination, GroupShares, Holding, breach_of, holders
from sfumato.leaks.exposure import (
    Exposure,
    ExposureChange,
    ExposureComparison,
    Spread,
    View,
    compare,
)
from sfumato.leaks.facts import AdversaryColumns, Fact, Facts, TellingFacts, find_facts
from sfumato.leaks.findings import Advice, Findings, Inference, Vulnerable
from sfumato.leaks.hiding import Association, HiddenTable, associations_of, hide
from sfumato.leaks.rules import (
    Rule,
    RuleEntries,
    WantedKnowledge,
    minimal_knowledge,
    most_wanted,
    rank_rules,
    rules_of,
)
from sfumato.policy import RiskLevels

__all__ = [
    "ABOVE",
    "UNLIMITED",
    "AdversaryColumns",
    "Advice",
    "Association",
    "Breach",
    "Combination",
    "Exposure",
    "ExposureChange",
    "ExposureComparison",
    "Fact",
    "Facts",
    "Findings",
    "GroupShares",
    "HiddenColumn",
    "HiddenTable",
    "Holding",
    "Inference",
    "RiskLevels",
    "Rule",
    "RuleEntries",
    "Spread",
    "TellingFacts",
    "View",
    "Vulnerable",
    "WantedKnowledge",
    "associations_of",
    "breach_of",
    "compare",
    "find_facts",
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
