"""Policies: what must hold for a release, written in YAML or in Python."""

from sfumato.policy.model import Policy
from sfumato.policy.parts import ColumnRule, Missing, SearchRule, Suppression

__all__ = ["ColumnRule", "Missing", "Policy", "SearchRule", "Suppression"]
