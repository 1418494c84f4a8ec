"""What a published table still tells: dependency rules out of Bayesian networks."""

from sfumato.leaks.advice import Advice, Vulnerable
from sfumato.leaks.findings import Findings, Inference
from sfumato.leaks.knowledge import Fact, Wanted, minimal_knowledge, most_wanted
from sfumato.leaks.levels import RiskLevels
from sfumato.leaks.rules import Entries, Rule, ranked, rules_of

__all__ = [
    "Advice",
    "Entries",
    "Fact",
    "Findings",
    "Inference",
    "RiskLevels",
    "Rule",
    "Vulnerable",
    "Wanted",
    "minimal_knowledge",
    "most_wanted",
    "ranked",
    "rules_of",
]
