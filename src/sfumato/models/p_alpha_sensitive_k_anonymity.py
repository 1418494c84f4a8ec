"""(p,α)-sensitive k-anonymity: p sensitive values, and not too secret a class in total."""

from collections.abc import Mapping
from typing import ClassVar, Self

from sfumato.classes import KnownCounts
from sfumato.dataclasses import dataclass
from sfumato.models.categories import CategoryModel
from sfumato.typing import IntArray


@dataclass(frozen=True)
class PAlphaSensitiveKAnonymity(CategoryModel):
    """Every class has `k` rows, `p` different sensitive values and a total weight of `alpha`.

    Categories run from most secret (weight 0) to not secret (weight 1); a class weighs
    the sum over its rows.

    Promises: what p-sensitive k-anonymity promises, and that no class consists of the
    most secret values only, if `alpha` is above 0.
    Does not promise: that the values are of different categories. {HIV, cancer, HIV,
    flu} weighs 1 and is three quarters "most secret"; see `CategoryShare`. `k` counts all
    rows; a missing value counts neither towards `p` nor weighs anything, because "unknown"
    hides no one.

    Reference: "Extended k-anonymity models against sensitive attribute disclosure", 2011,
    doi:10.1016/j.comcom.2010.03.020

    Args:
        column: The sensitive column.
        p: Fewest different values a class may show.
        alpha: Least total weight of a class.
        k: Fewest rows a class may have; 2 or more.
        categories: Every value of the column in one of two or more lists, most secret first.
        weight: "rows" sums over rows, "distinct" over the different values.

    Example:
        >>> rows = [("A", "hiv"), ("A", "cancer"), ("B", "hiv"), ("B", "flu")]
        >>> model = PAlphaSensitiveKAnonymity(
        ...     "disease", p=2, alpha=1, k=2, categories=[["hiv", "cancer"], ["flu"]]
        ... )
        >>> model.passes(classes_of(rows, column="disease"))
        array([False,  True])
    """

    name: ClassVar[str] = "p-alpha-sensitive-k-anonymity"
    in_words: ClassVar[str] = (
        "Every group has at least {k} people, at least {p} different values of {column}, and not "
        "only the most secret ones (weight {alpha} or more)."
    )
    sliders: ClassVar[Mapping[str, tuple[float, float, float]]] = {"alpha": (0, 10, 0.5)}

    def variety(self, known: KnownCounts, category: IntArray) -> IntArray:
        return known.distinct

    @classmethod
    def example(cls) -> Self:
        categories = (("cancer", "hiv"), ("gout",), ("flu",))
        return cls("disease", p=2, alpha=1, k=2, categories=categories)
