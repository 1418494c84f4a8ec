"""Tolerance: what an adversary may believe before a release is refused."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, PlainValidator

from sfumato.checks import require_int, require_number
from sfumato.policy.levels import RiskLevels
from sfumato.policy.part import Part, keywords
from sfumato.policy.values import Fault, read, shown


def _read_threshold(value: object) -> float | None:
    if value is None:
        return None
    threshold: float = read(float, value)
    require_number("threshold", threshold, above=0, at_most=1)
    return threshold


def _read_people(value: object) -> int:
    people: int = read(int, value)
    require_int("people", people, at_least=0)
    return people


class Tolerance(Part):
    """When attacks speak against a release.

    Somebody is at risk if an adversary's belief reaches the threshold and the release at
    least halved the adversary's doubt.

    Example:
        >>> levels = RiskLevels()
        >>> Tolerance().from_belief(levels), Tolerance(threshold=0.9).from_belief(levels)
        (0.75, 0.9)
    """

    threshold: Annotated[float | None, PlainValidator(_read_threshold)] = Field(
        None,
        description="From which belief on somebody is at risk; without it, where very high risk "
        "begins.",
    )
    people: Annotated[int, PlainValidator(_read_people)] = Field(
        0, description="How many people may be at risk by any one attack."
    )

    def from_belief(self, levels: RiskLevels) -> float:
        """Give the belief from which on somebody is at risk."""
        return levels.very_high if self.threshold is None else self.threshold

    def written(self) -> dict[str, float] | None:
        """Write it as a policy does; nothing if it is the usual."""
        settings = {"threshold": self.threshold, "people": self.people or None}
        return {name: value for name, value in settings.items() if value is not None} or None

    @classmethod
    def read(cls, value: object) -> "Tolerance":
        """Read a mapping with what is not the usual."""
        if isinstance(value, Tolerance):
            return value
        if not isinstance(value, Mapping):
            raise Fault(f"must be a mapping as in {{threshold: 0.5}}, got {shown(value)}")
        return cls(**keywords(value))
