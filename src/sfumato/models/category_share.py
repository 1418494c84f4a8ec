"""Category share: in every class, no category of sensitive values has too large a share."""

from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np

from sfumato.classes import MISSING, EquivalenceClasses, SensitiveColumn
from sfumato.dataclasses import dataclass
from sfumato.errors import (
    ParameterError,
    PolicyError,
    require_int,
    require_number,
    require_text,
    suggest,
)
from sfumato.models.base import CLOSED, Merging, PrivacyModel
from sfumato.models.categories import number_categories, read_categories
from sfumato.models.rounding import at_most, ratio, rows_above
from sfumato.text import text_of
from sfumato.typing import BoolArray, FloatArray, IntArray, Value


@dataclass(frozen=True)
class CategoryShare(PrivacyModel):
    """In every class, each category of values has a share of at most `share`.

    {HIV, cancer, HIV, flu} shows three values in two categories, and three quarters of it are
    grave. Categories are given as lists, or as the labels at a level of the column's
    hierarchy: one of `categories` and `level`.

    Promises: an adversary who learns a person's class guesses with probability `share` at
    most that the value is of a given category, if the class is all they know.
    Does not promise: anything about values in no category, which the lists may leave out; or
    that a person's row is hard to find (see `KAnonymity`). Shares are of the rows with a known
    value, and a class without any fails: a missing value hides no one.

    Reference: "(α, k)-anonymity: an enhanced k-anonymity model for privacy preserving data
    publishing", 2006, doi:10.1145/1150402.1150499, with categories in the place of values

    Args:
        column: The sensitive column.
        share: Largest share a category may have in a class; above 0 and below 1.
        categories: One or more lists of values that are alike; values in none are not limited.
        level: The level of the column's hierarchy whose labels are the categories; 1 or more,
            and below the top. A label that says as little as the top is not limited.

    Example:
        >>> rows = [("A", "hiv"), ("A", "cancer"), ("A", "flu"), ("B", "hiv"), ("B", "flu")]
        >>> model = CategoryShare("disease", share=0.5, categories=[["hiv", "cancer"]])
        >>> model.passes(classes_of(rows, column="disease"))
        array([False,  True])
    """

    name: ClassVar[str] = "category-share"
    in_words: ClassVar[str] = (
        "Who finds a person's group guesses the category of {column} with a chance of "
        "{share_percent} at most."
    )
    stricter: ClassVar[Mapping[str, int]] = {"share": -1}
    merging: ClassVar[Merging] = CLOSED

    column: str
    share: float
    categories: tuple[tuple[Value, ...], ...] | None = None
    level: int | None = None

    def __post_init__(self) -> None:
        require_text("column", self.column)
        require_number("share", self.share, above=0, below=1, why="with share=1 every class passes")
        if (self.categories is None) == (self.level is None):
            which = "neither" if self.level is None else "both"
            raise ParameterError("categories", which, "given by either categories or level")
        if self.categories is not None:
            object.__setattr__(self, "categories", read_categories(self.categories, fewest=1))
        else:
            require_int("level", self.level, at_least=1, why="level 0 is the values themselves")

    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        return at_most(self._shares(classes), self.share)

    def count_lost(self, classes: EquivalenceClasses, gone: int) -> IntArray:
        known = classes.counts_of(self.column).known
        return rows_above(self._shares(classes), self.share, known.totals)

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        shares = self._shares(classes)
        return {"share": float(shares.max()) if len(shares) else self.share}

    def _shares(self, classes: EquivalenceClasses) -> FloatArray:
        """Each class's largest share of a category; infinite if nothing is known."""
        counts = classes.counts_of(self.column)
        known, n = counts.known, len(classes)
        category = counts.column.memoize((self.name, self.texts, self.level), self._codes)
        width = int(category.max(initial=0)) + 1
        key = known.class_id * width + category[known.value]
        limited = category[known.value] >= 0
        found, of_entry = np.unique(key[limited], return_inverse=True)
        rows = np.bincount(of_entry, weights=known.rows[limited])
        largest = np.zeros(n)
        np.maximum.at(largest, found // width, rows)
        # A person with two values of a category is in it once at most.
        return ratio(np.minimum(largest, known.totals), known.totals)

    @property
    def texts(self) -> tuple[tuple[str, ...], ...]:
        """The lists of values as they are written; none if a level is given."""
        return tuple(tuple(map(text_of, each)) for each in self.categories or ())

    def _codes(self, column: SensitiveColumn) -> IntArray:
        """Return the category of each value, -1 for one that is not limited."""
        if self.level is None:
            return listed_codes(column, self.texts, self.name)
        return label_codes(column, self.level, self.name)

    @property
    def needs_hierarchy(self) -> bool:
        return self.level is not None

    def params(self) -> dict[str, object]:
        return {name: value for name, value in super().params().items() if value is not None}

    def implies(self, other: PrivacyModel) -> bool:
        if not isinstance(other, CategoryShare) or self.column != other.column:
            return False
        # What is limited as part of a larger category is limited by itself too.
        mine = [{*category} for category in self.texts]
        covered = all(any({*each} <= whole for whole in mine) for each in other.texts)
        return covered and self.level == other.level and self.share <= other.share

    @classmethod
    def example(cls) -> Self:
        return cls("disease", share=0.5, categories=(("cancer", "hiv"), ("gout", "flu")))


def listed_codes(
    column: SensitiveColumn, categories: tuple[tuple[str, ...], ...], who: str
) -> IntArray:
    """Return the category of each of the column's values, -1 for those in none.

    >>> column = SensitiveColumn("disease", ("cancer", "flu", "hiv"))
    >>> listed_codes(column, (("hiv",), ("cancer",)), "category-share").tolist()
    [1, -1, 0]
    """
    number = number_categories(column, categories)
    texts, keys = [text_of(value) for value in column.values], column.keys
    named = [text for category in categories for text in category]
    absent = [text for text in named if column.key(text) not in {*keys}]
    if absent and any(key not in number for key in keys):
        # A misspelt name would leave the value it means without protection.
        raise PolicyError(
            f"{who} has {absent[0]!r} in a category and column {column.name!r} has no such value. "
            f"{suggest(absent[0], texts)}"
        )
    return np.array([number.get(key, MISSING) for key in keys], dtype=np.int64)


def label_codes(column: SensitiveColumn, level: int, who: str) -> IntArray:
    """Return each value's label at a level of the hierarchy, -1 where it says nothing."""
    ladder = column.ladder
    if ladder is None:
        raise PolicyError(
            f"{who} at a level needs a hierarchy of {column.name!r} and it has none. "
            "Give it one, or say what is alike with categories."
        )
    if level >= ladder.height:
        raise PolicyError(
            f"{who} at level {level}: the hierarchy of {column.name!r} ends at level "
            f"{ladder.height}, where all values are alike. Give a lower level."
        )
    position = {value: i for i, value in enumerate(ladder.values)}
    codes = ladder.codes[level, [position[value] for value in column.values]].astype(np.int64)
    # A branch may reach the top early; its label says nothing there either.
    says_nothing = np.array([label in ladder.labels[-1] for label in ladder.labels[level]])
    silent = says_nothing[codes] if len(codes) else np.zeros(0, dtype=bool)
    return np.where(silent, MISSING, codes)
