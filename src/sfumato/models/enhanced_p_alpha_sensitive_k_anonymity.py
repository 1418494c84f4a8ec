"""Enhanced (p,α)-sensitive k-anonymity: p categories of secrecy in every class."""

from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np

from sfumato.classes import KnownCounts
from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError
from sfumato.models.categories import CategoryModel
from sfumato.typing import IntArray


@dataclass(frozen=True)
class EnhancedPAlphaSensitiveKAnonymity(CategoryModel):
    """Every class has `k` rows, `p` different sensitive categories and a total weight of `alpha`.

    Categories run from most secret (weight 0) to not secret (weight 1); a class weighs
    the sum over its rows.

    Promises: what k-anonymity promises, and that an adversary who learns a class still
    faces `p` or more categories: with `p` = 2 or more it does not betray that someone's
    value is "one of the most secret".
    Does not promise: that the categories are equally likely: three of four may be most
    secret (see `CategoryShare`). `k` counts all rows; a
    missing value is of no category and weighs nothing, because "unknown" hides no one.

    Args:
        column: The sensitive column.
        p: Fewest different categories a class may show; at most as many as there are.
        alpha: Least total weight of a class.
        k: Fewest rows a class may have; 2 or more.
        categories: Every value of the column in one of two or more lists, most secret first.
        weight: "rows" sums over rows, "distinct" over the different values.

    Example:
        >>> rows = [("A", "hiv"), ("A", "cancer"), ("B", "hiv"), ("B", "flu")]
        >>> model = EnhancedPAlphaSensitiveKAnonymity(
        ...     "disease", p=2, alpha=0, k=2, categories=[["hiv", "cancer"], ["flu"]]
        ... )
        >>> model.passes(classes_of(rows, column="disease"))
        array([False,  True])
    """

    name: ClassVar[str] = "enhanced-p-alpha-sensitive-k-anonymity"
    in_words: ClassVar[str] = (
        "Every group has at least {k} people and values of {column} from at least {p} categories "
        "(weight {alpha} or more)."
    )
    sliders: ClassVar[Mapping[str, tuple[float, float, float]]] = {"alpha": (0, 10, 0.5)}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.p > len(self.categories):
            raise ParameterError("p", self.p, f"at most {len(self.categories)}, the categories")

    def variety(self, known: KnownCounts, category: IntArray) -> IntArray:
        x = len(self.categories)
        shown = np.bincount(known.class_id * x + category, minlength=len(known.totals) * x)
        variety: IntArray = np.count_nonzero(shown.reshape(-1, x), axis=1)
        return variety

    @classmethod
    def example(cls) -> Self:
        categories = (("cancer", "hiv"), ("gout",), ("flu",))
        return cls("disease", p=2, alpha=1, k=2, categories=categories)
