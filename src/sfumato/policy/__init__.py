"""Policies: what must hold for a release, written in YAML or in Python."""

from sfumato.policy.columns import (
    ColumnRule,
    DecouplingRule,
    MethodRule,
    Missing,
    RiskLevels,
    SearchRule,
    Suppression,
    Tolerance,
)
from sfumato.policy.policy import Policy

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
