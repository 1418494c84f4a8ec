"""How far a release's answers are from the truth."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.checks import require_number
from sfumato.typing import FloatArray

QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.95)
"""Which quantiles of the relative error are reported."""


@dataclass(frozen=True, eq=False)
class QueryErrors:
    """True counts, estimates, and what lies between them.

    The relative error of a query is |estimate - truth| / max(truth, bound): the bound keeps
    queries that hardly a row answers from drowning all others.

    Example:
        >>> errors = QueryErrors(np.array([10.0, 0.0]), np.array([5.0, 1.0]), bound=4)
        >>> errors.relative.tolist(), errors.median
        ([0.5, 0.25], 0.375)
    """

    truth: FloatArray
    estimate: FloatArray
    bound: float
    """Truths below it count as this much."""

    def __post_init__(self) -> None:
        require_number("bound", self.bound, above=0)

    def __len__(self) -> int:
        return len(self.truth)

    @cached_property
    def relative(self) -> FloatArray:
        """The relative error of each query."""
        error: FloatArray = np.abs(self.estimate - self.truth) / np.maximum(self.truth, self.bound)
        return error

    @property
    def median(self) -> float:
        """The error that half of the queries stay below."""
        return self.quantile(0.5)

    @property
    def mean(self) -> float:
        """The average error."""
        return float(self.relative.mean()) if len(self) else 0.0

    def quantile(self, share: float) -> float:
        """Give the error that this share of the queries stays below."""
        return float(np.quantile(self.relative, share)) if len(self) else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Give the figures as plain values that JSON can hold."""
        return {
            "queries": len(self),
            "bound": self.bound,
            "mean": self.mean,
            "median": self.median,
            "quantiles": {f"{share:g}": self.quantile(share) for share in QUANTILES},
            "worst": float(self.relative.max(initial=0.0)),
        }

    def __str__(self) -> str:
        return (
            f"relative error of {len(self)} counting queries: median {self.median:.1%}, "
            f"mean {self.mean:.1%}, 90% of them at most {self.quantile(0.9):.1%}"
        )
