"""Leaks of a published table: rules, facts and findings, and guesses at a decoupled one."""

from typing import TYPE_CHECKING

from sfumato.registry import on_first_use

if TYPE_CHECKING:
    from sfumato.decouplings.association_hiding import HiddenColumn as HiddenColumn
    from sfumato.decouplings.likelihood import ABOVE as ABOVE
    from sfumato.decouplings.likelihood import UNLIMITED as UNLIMITED
    from sfumato.decouplings.likelihood import increment_ratio as increment_ratio
    from sfumato.decouplings.likelihood import likelihood as likelihood
    from sfumato.decouplings.likelihood import permitted_each as permitted_each
    from sfumato.decouplings.likelihood import permitted_rows as permitted_rows
    from sfumato.leaks.breach import Breach as Breach
    from sfumato.leaks.breach import Combination as Combination
    from sfumato.leaks.breach import GroupShares as GroupShares
    from sfumato.leaks.breach import Holding as Holding
    from sfumato.leaks.breach import breach_of as breach_of
    from sfumato.leaks.breach import holders as holders
    from sfumato.leaks.exposure import Exposure as Exposure
    from sfumato.leaks.exposure import ExposureChange as ExposureChange
    from sfumato.leaks.exposure import ExposureComparison as ExposureComparison
    from sfumato.leaks.exposure import Spread as Spread
    from sfumato.leaks.exposure import View as View
    from sfumato.leaks.exposure import compare as compare
    from sfumato.leaks.facts import AdversaryColumns as AdversaryColumns
    from sfumato.leaks.facts import Fact as Fact
    from sfumato.leaks.facts import Facts as Facts
    from sfumato.leaks.facts import TellingFacts as TellingFacts
    from sfumato.leaks.facts import find_facts as find_facts
    from sfumato.leaks.findings import Advice as Advice
    from sfumato.leaks.findings import Findings as Findings
    from sfumato.leaks.findings import Inference as Inference
    from sfumato.leaks.findings import Vulnerable as Vulnerable
    from sfumato.leaks.hiding import Association as Association
    from sfumato.leaks.hiding import HiddenTable as HiddenTable
    from sfumato.leaks.hiding import associations_of as associations_of
    from sfumato.leaks.hiding import hide as hide
    from sfumato.leaks.rules import Rule as Rule
    from sfumato.leaks.rules import RuleEntries as RuleEntries
    from sfumato.leaks.rules import WantedKnowledge as WantedKnowledge
    from sfumato.leaks.rules import minimal_knowledge as minimal_knowledge
    from sfumato.leaks.rules import most_wanted as most_wanted
    from sfumato.leaks.rules import rank_rules as rank_rules
    from sfumato.leaks.rules import rules_of as rules_of
    from sfumato.policy import RiskLevels as RiskLevels

_HOMES = {
    "ABOVE": "sfumato.decouplings.likelihood",
    "AdversaryColumns": "facts",
    "Advice": "findings",
    "Association": "hiding",
    "Breach": "breach",
    "Combination": "breach",
    "Exposure": "exposure",
    "ExposureChange": "exposure",
    "ExposureComparison": "exposure",
    "Fact": "facts",
    "Facts": "facts",
    "Findings": "findings",
    "GroupShares": "breach",
    "HiddenColumn": "sfumato.decouplings.association_hiding",
    "HiddenTable": "hiding",
    "Holding": "breach",
    "Inference": "findings",
    "RiskLevels": "sfumato.policy",
    "Rule": "rules",
    "RuleEntries": "rules",
    "Spread": "exposure",
    "TellingFacts": "facts",
    "UNLIMITED": "sfumato.decouplings.likelihood",
    "View": "exposure",
    "Vulnerable": "findings",
    "WantedKnowledge": "rules",
    "associations_of": "hiding",
    "breach_of": "breach",
    "compare": "exposure",
    "find_facts": "facts",
    "hide": "hiding",
    "holders": "breach",
    "increment_ratio": "sfumato.decouplings.likelihood",
    "likelihood": "sfumato.decouplings.likelihood",
    "minimal_knowledge": "rules",
    "most_wanted": "rules",
    "permitted_each": "sfumato.decouplings.likelihood",
    "permitted_rows": "sfumato.decouplings.likelihood",
    "rank_rules": "rules",
    "rules_of": "rules",
}
"""Where each name is that is imported when it is first asked for."""

__all__ = [*_HOMES]  # noqa: PLE0604 - all of them are texts

if not TYPE_CHECKING:
    __getattr__ = on_first_use(__name__, _HOMES)
