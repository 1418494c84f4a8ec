"""Risk levels: what a probability means to a publisher."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from sfumato.checks import require_number
from sfumato.errors import ParameterError


@dataclass(frozen=True)
class RiskLevels:
    """From which probability on a risk is moderate, high or very high; below it is low.

    Args:
        moderate: Where moderate begins.
        high: Where high begins.
        very_high: Where very high begins.

    Example:
        >>> [RiskLevels().of(p) for p in (0.1, 0.2, 0.6, 0.75)]
        ['low', 'moderate', 'high', 'very high']
    """

    moderate: float = 0.20
    high: float = 0.50
    very_high: float = 0.75

    def __post_init__(self) -> None:
        for field in fields(self):
            require_number(field.name, getattr(self, field.name), at_least=0)
        if not self.moderate <= self.high <= self.very_high <= 1:
            raise ParameterError(
                "risk levels",
                (self.moderate, self.high, self.very_high),
                "rising numbers from 0 to 1, as in moderate 0.2, high 0.5, very high 0.75",
            )

    def of(self, probability: float) -> str:
        """Name the level of a probability."""
        for name, start in reversed(list(self.bounds().items())):
            if probability >= start:
                return name
        return "low"

    def bounds(self) -> Mapping[str, float]:
        """Give where each level begins."""
        return {
            "low": 0.0,
            "moderate": self.moderate,
            "high": self.high,
            "very high": self.very_high,
        }
