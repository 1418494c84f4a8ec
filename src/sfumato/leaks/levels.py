"""Risk levels are the publisher's: they are part of the policy."""

from sfumato.policy.levels import RiskLevels

__all__ = ["RiskLevels"]
