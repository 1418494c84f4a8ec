"""(α,k)-anonymity: classes of at least k in which no sensitive value is too frequent."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np

from sfumato.classes import EquivalenceClasses, SensitiveColumn
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
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.rounding import at_most, ratio, rows_above
from sfumato.text import is_missing, text_of
from sfumato.typing import BoolArray, FloatArray, IntArray, Value


@dataclass(frozen=True)
class AlphaKAnonymity(PrivacyModel):
    """Every class has `k` rows or more, and no sensitive value more than a share `alpha` of it.

    Promises: picking the right row has probability 1/k at most, guessing a protected
    value of someone in a known class `alpha` at most.
    Does not promise: anything about values left out of `protected`, or about values
    that are alike. `k` counts all rows; shares are of the rows with a known value, and
    a class without any fails: a missing value hides no one.

    Reference: "(α, k)-anonymity: an enhanced k-anonymity model for privacy preserving
    data publishing", 2006, doi:10.1145/1150402.1150499

    Args:
        column: The sensitive column.
        alpha: Largest share a value may have in a class; above 0 and below 1.
        k: Fewest rows a class may have; 1 or more.
        protected: The values to which `alpha` applies; none named means all.

    Example:
        >>> rows = [("A", "flu"), ("A", "flu"), ("A", "hiv"), ("B", "flu"), ("B", "hiv")]
        >>> classes = classes_of(rows, column="disease")
        >>> AlphaKAnonymity("disease", alpha=0.5, k=2).passes(classes)
        array([False,  True])
        >>> AlphaKAnonymity("disease", alpha=0.5, k=2, protected=("hiv",)).passes(classes)
        array([ True,  True])
    """

    name: ClassVar[str] = "alpha-k-anonymity"
    in_words: ClassVar[str] = (
        "No person can be narrowed down to fewer than {k} people, and no value of {column} has "
        "more than {alpha_percent} of a group."
    )
    in_words_of_some: ClassVar[str] = (
        "No person can be narrowed down to fewer than {k} people, and none of {n} named values of "
        "{column} has more than {alpha_percent} of a group."
    )
    in_words_of_one: ClassVar[str] = (
        "No person can be narrowed down to fewer than {k} people, and a named value of {column} "
        "has at most {alpha_percent} of a group."
    )
    stricter: ClassVar[Mapping[str, int]] = {"alpha": -1, "k": 1}
    sliders: ClassVar[Mapping[str, tuple[float, float, float]]] = {"k": (1, 50, 1)}
    merging: ClassVar[Merging] = CLOSED

    column: str
    alpha: float
    k: int
    protected: tuple[Value, ...] = ()

    def __post_init__(self) -> None:
        require_text("column", self.column)
        require_number(
            "alpha", self.alpha, above=0, below=1, why="with alpha=1 it is k-anonymity alone"
        )
        require_int("k", self.k, at_least=1)
        if isinstance(self.protected, str) or not isinstance(self.protected, Iterable):
            raise ParameterError("protected", self.protected, "a list of values")
        # Days and moments as they are written: a manifest says them so, and is compared.
        values = (
            v if is_missing(v) or isinstance(v, str | int | float) else text_of(v)
            for v in self.protected
        )
        object.__setattr__(self, "protected", tuple(values))
        if any(is_missing(value) for value in self.protected):
            raise ParameterError("protected", self.protected, "known values, not missing ones")

    @classmethod
    def promise_in_words(cls, values: Mapping[str, object]) -> str:
        named = values.get("protected")
        if not isinstance(named, tuple) or not named:
            return cls.in_words
        return cls.in_words_of_one if len(named) == 1 else cls.in_words_of_some

    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        verdicts: BoolArray = (classes.sizes >= self.k) & at_most(self._shares(classes), self.alpha)
        return verdicts

    def count_lost(self, classes: EquivalenceClasses, gone: int) -> IntArray:
        known = classes.counts_of(self.column).known
        return rows_above(self._shares(classes), self.alpha, known.totals)

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        if not len(classes):
            return {"alpha": self.alpha, "k": self.k}
        return {"alpha": float(self._shares(classes).max()), "k": int(classes.sizes.min())}

    def _shares(self, classes: EquivalenceClasses) -> FloatArray:
        """Each class's largest share of a protected value; infinite if nothing is known."""
        counts = classes.counts_of(self.column)
        known = counts.known
        if not self.protected:
            return ratio(known.largest, known.totals)
        texts = tuple(text_of(value) for value in self.protected)
        guarded = counts.column.memoize(("protected", texts), lambda c: _mark_protected(c, texts))
        of_guarded = np.where(guarded[known.value], known.rows, 0)
        largest = np.zeros(len(classes), dtype=np.int64)
        np.maximum.at(largest, known.class_id, of_guarded)
        return ratio(largest, known.totals)

    @property
    def smallest_class(self) -> int:
        return self.k

    def implies(self, other: PrivacyModel) -> bool:
        if not isinstance(other, AlphaKAnonymity):
            return False
        # No value named means all of them: alpha then holds for whatever the other protects.
        more = not self.protected or (other.protected and {*other.protected} <= {*self.protected})
        return bool(more) and super().implies(replace(other, protected=self.protected))

    @property
    def absorbing_part(self) -> KAnonymity | None:
        return KAnonymity(self.k) if self.k >= 2 else None

    @classmethod
    def example(cls) -> Self:
        return cls("disease", alpha=0.5, k=2)


def _mark_protected(column: SensitiveColumn, protected: tuple[str, ...]) -> BoolArray:
    """Mark the values that are protected; a name that matches none is refused."""
    texts = [text_of(value) for value in column.values]
    keys, named = column.keys, {column.key(text) for text in protected}
    unknown = [text for text in protected if column.key(text) not in keys]
    if texts and unknown:
        # A misspelt name would leave the value it means without protection.
        raise PolicyError(
            f"alpha-k-anonymity protects {unknown[0]!r} and column {column.name!r} has no such "
            f"value. {suggest(unknown[0], texts)}"
        )
    return np.array([key in named for key in keys], dtype=bool)
