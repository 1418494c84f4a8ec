"""Policies: what must hold for a release, written in YAML or in Python."""

from sfumato.policy.choice import DecouplingRule, MethodRule, SearchRule
from sfumato.policy.levels import RiskLevels
from sfumato.policy.model import Policy
from sfumato.policy.parts import ColumnRule, Missing, Suppression
from sfumato.policy.tolerance import Tolerance

__all__ = [
    "ColumnRule",
    "DecouplingRule",
    "MethodRule",
    "Missing",
    "Policy",
    "RiskLevels",
    "SearchRule",
    "Suppression",
    "Tolerance",
]
