"""Categories of sensitive values, most secret first, and what the two models built on them share.

With x categories H_1 (most secret) to H_x (not secret), H_i weighs (i-1)/(x-1), a value
weighs what its category weighs, and a class weighs the sum over its rows.
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import ClassVar

import numpy as np

from sfumato.classes import EquivalenceClasses, KnownCounts, SensitiveColumn
from sfumato.dataclasses import dataclass
from sfumato.errors import (
    ParameterError,
    PolicyError,
    require_int,
    require_number,
    require_text,
    some,
)
from sfumato.models.base import ABSORBING, Merging, PrivacyModel
from sfumato.models.rounding import at_least
from sfumato.text import is_missing, text_of
from sfumato.typing import BoolArray, FloatArray, IntArray, Value

WEIGHTS = ("rows", "distinct")
"""What a class's weight sums over: its rows, or the different values it shows."""


@dataclass(frozen=True)
class CategoryModel(PrivacyModel):
    """Classes of `k` rows or more, with `p` different somethings and a total weight of `alpha`.

    All three only grow when classes are merged, so both models are absorbing.
    """

    merging: ClassVar[Merging] = ABSORBING
    counts_people: ClassVar[bool] = False
    stricter: ClassVar[Mapping[str, int]] = {"p": 1, "alpha": 1, "k": 1}

    column: str
    p: int
    alpha: float
    k: int
    categories: tuple[tuple[Value, ...], ...]
    weight: str = "rows"

    def __post_init__(self) -> None:
        require_text("column", self.column)
        require_int("p", self.p, at_least=1)
        require_number("alpha", self.alpha, at_least=0)
        require_int("k", self.k, at_least=2, why="with k=1 every class is large enough")
        if self.weight not in WEIGHTS:
            raise ParameterError("weight", self.weight, f"one of {', '.join(WEIGHTS)}")
        object.__setattr__(self, "categories", read_categories(self.categories))

    @abstractmethod
    def variety(self, known: KnownCounts, category: IntArray) -> IntArray:
        """Count, per class, what `p` asks for; `category` gives each entry's category."""

    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        variety, weight = self._variety_and_weight(classes)
        verdicts: BoolArray = (
            (classes.sizes >= self.k) & (variety >= self.p) & at_least(weight, self.alpha)
        )
        return verdicts

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        variety, weight = self._variety_and_weight(classes)
        if not len(classes):
            return {"p": self.p, "alpha": self.alpha, "k": self.k}
        return {
            "p": int(variety.min()),
            "alpha": float(weight.min()),
            "k": int(classes.sizes.min()),
        }

    @property
    def smallest_class(self) -> int:
        return self.k

    @property
    def fewest_values(self) -> int:
        return self.p

    def _variety_and_weight(self, classes: EquivalenceClasses) -> tuple[IntArray, FloatArray]:
        counts = classes.counts_of(self.column)
        known = counts.known
        texts = tuple(tuple(map(text_of, category)) for category in self.categories)
        codes = counts.column.memoize(("categories", texts), lambda c: category_codes(c, texts))
        category = codes[known.value]
        # Whole numbers until the last division, so that 1/3 + 2/3 is 1.
        units = category if self.weight == "distinct" else category * known.rows
        total = np.bincount(known.class_id, weights=units, minlength=len(classes))
        return self.variety(known, category), total / (len(texts) - 1)


def read_categories(categories: object, *, fewest: int = 2) -> tuple[tuple[Value, ...], ...]:
    """Return categories as tuples; what cannot be a partition of values is an error.

    >>> read_categories([["hiv"], ["flu", "cold"]])
    (('hiv',), ('flu', 'cold'))
    """
    expected = (
        "at least two lists of values, most secret first"
        if fewest > 1
        else "one or more lists of values"
    )
    if isinstance(categories, str) or not isinstance(categories, Iterable):
        raise ParameterError("categories", categories, expected)
    given = list(categories)
    if any(isinstance(one, str) or not isinstance(one, Iterable) for one in given):
        raise ParameterError("categories", categories, expected)
    result = tuple(tuple(one) for one in given)
    if len(result) < fewest or not all(result):
        raise ParameterError("categories", categories, expected, why="none may be empty")
    values = [value for category in result for value in category]
    if any(is_missing(value) for value in values):
        raise ParameterError("categories", categories, "known values, not missing ones")
    texts = [text_of(value) for value in values]
    repeated = sorted({text for text in texts if texts.count(text) > 1})
    if repeated:
        raise ParameterError(
            "categories", categories, "disjoint", why=f"{some(repeated)} stands in it twice"
        )
    return result


def category_codes(column: SensitiveColumn, categories: tuple[tuple[str, ...], ...]) -> IntArray:
    """Return the category of each of the column's values, 0 for the most secret; all must have one.

    >>> category_codes(SensitiveColumn("disease", ("cold", "hiv")), (("hiv",), ("cold", "flu")))
    array([1, 0])
    """
    number = number_categories(column, categories)
    texts, keys = [text_of(value) for value in column.values], column.keys
    unknown = [text for text, key in zip(texts, keys, strict=True) if key not in number]
    if unknown:
        raise PolicyError(
            f"{len(unknown)} of the {len(texts)} values of column {column.name!r} are in no "
            f"category: {some(unknown)}. Add each to one of the {len(categories)} categories."
        )
    return np.array([number[key] for key in keys], dtype=np.int64)


def number_categories(
    column: SensitiveColumn, categories: tuple[tuple[str, ...], ...]
) -> dict[str, int]:
    """Return the number of the category that each key of a column is in.

    >>> number_categories(SensitiveColumn("ill", ("hiv",), folded=True), (("HIV",), ("flu",)))
    {'hiv': 0, 'flu': 1}
    """
    number: dict[str, int] = {}
    for i, category in enumerate(categories):
        for text in category:
            if number.setdefault(column.key(text), i) != i:
                raise PolicyError(
                    f"{text!r} is in two categories of column {column.name!r}, in different "
                    "spellings. Name it once, or write spelling: exact for the column."
                )
    return number
