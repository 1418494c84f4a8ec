"""Risk levels: what a probability means to a publisher."""

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field, PlainValidator, model_validator

from sfumato.checks import require_number
from sfumato.policy.part import Part, keywords
from sfumato.policy.values import Fault, read, shown


def _read_bound(value: object) -> float:
    bound: float = read(float, value)
    require_number("a risk level", bound, at_least=0, at_most=1)
    return bound


class RiskLevels(Part):
    """From which probability on a risk is moderate, high or very high; below it is low.

    Example:
        >>> [RiskLevels().of(p) for p in (0.1, 0.2, 0.6, 0.75)]
        ['low', 'moderate', 'high', 'very high']
    """

    moderate: Annotated[float, PlainValidator(_read_bound)] = Field(
        0.20, description="Where moderate risk begins."
    )
    high: Annotated[float, PlainValidator(_read_bound)] = Field(
        0.50, description="Where high risk begins."
    )
    very_high: Annotated[float, PlainValidator(_read_bound)] = Field(
        0.75, description="Where very high risk begins."
    )

    @model_validator(mode="after")
    def _rises(self) -> Self:
        if not self.moderate <= self.high <= self.very_high:
            raise Fault(
                "moderate, high and very_high must rise, got "
                f"{self.moderate:g}, {self.high:g}, {self.very_high:g}"
            )
        return self

    def of(self, probability: float) -> str:
        """Name the level of a probability."""
        names = [name for name, start in self.bounds().items() if probability >= start]
        return names[-1] if names else "low"

    def bounds(self) -> Mapping[str, float]:
        """Give where each level begins."""
        return {
            "low": 0.0,
            "moderate": self.moderate,
            "high": self.high,
            "very high": self.very_high,
        }

    def written(self) -> dict[str, float]:
        """Write it as a policy does."""
        return {"moderate": self.moderate, "high": self.high, "very_high": self.very_high}

    @classmethod
    def read(cls, value: object) -> "RiskLevels":
        """Read a mapping with the levels that are not the usual ones."""
        if isinstance(value, RiskLevels):
            return value
        if not isinstance(value, Mapping):
            raise Fault(f"must be a mapping as in {{high: 0.5}}, got {shown(value)}")
        return cls(**keywords(value))
