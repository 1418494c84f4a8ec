"""What a counting query gives when a release is all there is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sfumato.fragment import fragment


@dataclass(frozen=True)
class Estimate:
    """An estimated count, and what it can be at all.

    Example:
        >>> print(Estimate(12.4, rows=400, least=8, most=20, where={"ill": "flu"}))
        about 12.4 of 400 rows have ill=flu; at least 8 and at most 20
    """

    estimate: float
    """How many rows keep all conditions, as far as the release tells."""

    rows: int
    """How many rows the release has."""

    least: int
    """Fewer rows cannot keep them, whatever table is behind the release."""

    most: int
    """More rows cannot."""

    where: Mapping[str, str]
    """What was asked for, as it is written on the command line."""

    @property
    def exact(self) -> bool:
        """Whether the release leaves no doubt."""
        return self.least == self.most

    def to_dict(self) -> dict[str, Any]:
        """Give the figures as plain values that JSON can hold."""
        return {
            "where": dict(self.where),
            "estimate": self.estimate,
            "rows": self.rows,
            "least": self.least,
            "most": self.most,
            "exact": self.exact,
        }

    def _repr_html_(self) -> str:
        return fragment(str(self))

    def __str__(self) -> str:
        asked = " and ".join(f"{name}={wanted}" for name, wanted in self.where.items())
        if self.exact:
            return f"{self.least} of {self.rows} rows have {asked}"
        return (
            f"about {self.estimate:.4g} of {self.rows} rows have {asked}; at least {self.least} "
            f"and at most {self.most}"
        )
