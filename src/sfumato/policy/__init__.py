"""Policies: what must hold for a release, written in YAML or in Python."""

from sfumato.policy.parts import (
    FULL_DOMAIN,
    REGIONAL,
    Acceptance,
    ColumnRule,
    DecouplingRule,
    DetectionRule,
    InputRule,
    MethodRule,
    Missing,
    PersonRule,
    RiskLevels,
    SearchRule,
    Spelling,
    Suppression,
    Tolerance,
    harm_rule,
)
from sfumato.policy.policy import GivenPolicy, Policy, policy_of

__all__ = [
    "FULL_DOMAIN",
    "REGIONAL",
    "Acceptance",
    "ColumnRule",
    "DecouplingRule",
    "DetectionRule",
    "GivenPolicy",
    "InputRule",
    "MethodRule",
    "Missing",
    "PersonRule",
    "Policy",
    "RiskLevels",
    "SearchRule",
    "Spelling",
    "Suppression",
    "Tolerance",
    "harm_rule",
    "policy_of",
]
