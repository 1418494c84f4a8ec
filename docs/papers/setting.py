"""What is asked of a release: a model with its parameters, the trees, and a method."""

from dataclasses import dataclass
from typing import Any

from docs.papers.adult import TREES
from docs.papers.data import CATEGORIES, COLUMNS, ILLNESS
from sfumato.hierarchy import HierarchyBuilder, Intervals, Taxonomy
from sfumato.losses import DistortionRatio
from sfumato.models import (
    EnhancedPAlphaSensitiveKAnonymity,
    PAlphaSensitiveKAnonymity,
    PrivacyModel,
    PSensitiveKAnonymity,
)
from sfumato.partition import BottomUp, Mondrian, Partitioner, TopDown
from sfumato.policy import Policy

MODELS = {
    "p-sensitive": "p-sensitive",
    "p-alpha": "(p,α)-sensitive",
    "enhanced": "enhanced (p,α)-sensitive",
}
"""The three models from weak to strict: how results name them, and how people do."""

LOCAL: dict[str, Partitioner] = {
    "top-down, rows": TopDown(),
    "top-down, loss": TopDown(best="loss"),
    "mondrian, strict": Mondrian(exact_bounds=True),
    "mondrian, relaxed": Mondrian(relaxed=True, exact_bounds=True),
    "bottom-up": BottomUp(),
}
"""The local methods, by the names they have in results."""

READINGS = {
    "printed": "as many levels as printed",
    "others": "one level more for age, one less for race",
    "distinct": "weight over distinct values",
}
"""Ways to read what the thesis leaves open: its trees, and what a weight sums over."""

_OTHERS: dict[str, HierarchyBuilder] = {
    "age": Intervals(widths=(5, 10, 20)),
    "race": Taxonomy(["Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"]),
}
"""Trees of other heights, to see how much hangs on them."""


@dataclass(frozen=True)
class Setting:
    """A model and its parameters.

    Example:
        >>> print(Setting("enhanced", k=4, p=2, alpha=2).model())
        enhanced-p-alpha-sensitive-k-anonymity(Health_condition, p=2, alpha=2, k=4, weight=rows)
        >>> Setting("p-sensitive", k=4, p=2).model()
        PSensitiveKAnonymity(column='Health_condition', p=2, k=4)
    """

    name: str
    k: int
    p: int
    alpha: float | None = None
    """None for the model that has none."""

    def model(self, *, weight: str = "rows") -> PrivacyModel:
        """Give the model itself."""
        if self.alpha is None:
            return PSensitiveKAnonymity(ILLNESS, p=self.p, k=self.k)
        kind = (
            EnhancedPAlphaSensitiveKAnonymity
            if self.name == "enhanced"
            else PAlphaSensitiveKAnonymity
        )
        return kind(
            ILLNESS, p=self.p, alpha=self.alpha, k=self.k, categories=CATEGORIES, weight=weight
        )

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain values."""
        return {"model": self.name, "k": self.k, "p": self.p, "alpha": self.alpha}


def settings(*, k: int, p: int, alpha: float) -> list[Setting]:
    """Give the three models with the same parameters, from weak to strict."""
    return [
        Setting("p-sensitive", k, p),
        Setting("p-alpha", k, p, alpha),
        Setting("enhanced", k, p, alpha),
    ]


def policy(
    setting: Setting,
    *,
    columns: int = len(COLUMNS),
    reading: str = "printed",
    limit: float = 0.0,
    search: str = "best-first",
) -> Policy:
    """Ask for a release of the first so many quasi-identifiers that keeps a model."""
    rules: dict[str, Any] = {
        name: {"role": "quasi-identifier", "hierarchy": _tree(name, reading)}
        for name in COLUMNS[:columns]
    }
    return Policy(
        columns={**rules, ILLNESS: "sensitive"},
        other="dropped",
        models=[setting.model(weight="distinct" if reading == "distinct" else "rows")],
        loss=DistortionRatio(),
        suppression=limit,
        search=search,
    )


def _tree(name: str, reading: str) -> HierarchyBuilder:
    return _OTHERS.get(name, TREES[name]) if reading == "others" else TREES[name]
