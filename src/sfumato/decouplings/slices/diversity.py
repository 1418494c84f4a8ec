"""The diversity of a bucket: what it says about those who look alike in its sensitive column.

D(t, B)[s] is the share of s among the sub-tuples of B's sensitive column whose known part is that
of a person t. `matching` says what several buckets tell together. Where values are missing, shares
are among those that are not, and not all may be missing.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import field, replace
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np

from sfumato.classes import KnownCounts, SensitiveColumn
from sfumato.counts import Column, sums
from sfumato.dataclasses import dataclass
from sfumato.decouplings.slices.layout import SubTuples
from sfumato.errors import ParameterError, require_int, require_number
from sfumato.models import (
    EnhancedPAlphaSensitiveKAnonymity,
    EntropyLDiversity,
    PAlphaSensitiveKAnonymity,
    ProbabilisticLDiversity,
    RecursiveCLDiversity,
)
from sfumato.models.categories import category_codes, read_categories
from sfumato.models.rounding import at_least
from sfumato.text import text_of
from sfumato.typing import BoolArray, FloatArray, IntArray, Value

# The forms of l-diversity: what is asked of how likely each sensitive value is.
#
# The three of l-diversity stay true when distributions are mixed, whatever the weights. The largest
# share of a mixture is at most the average of the largest shares; its entropy is at least the
# average entropy; and what lies beyond its n largest shares is at least the average of that, so
# that r₁ < c (r_l + … + r_m) survives as well. The two of (p,α)-sensitivity count what is there,
# which only grows when crowds are put together. Two things follow. Where every bucket is diverse so
# is what several buckets say of a person; and a table that is not diverse as one bucket cannot be
# cut into buckets that are.


_NEAR = 1e-9
"""Probabilities so near to a limit are computed again as fractions."""

_LARGE = 1 << 31
"""No table has as many rows; a larger l asks for the same, and would not fit its product."""

Model: TypeAlias = (
    ProbabilisticLDiversity
    | EntropyLDiversity
    | RecursiveCLDiversity
    | PAlphaSensitiveKAnonymity
    | EnhancedPAlphaSensitiveKAnonymity
)


class DiversityForm(ABC):
    """How diverse the sensitive values of a crowd, or of what is believed of a person, have to be.

    The arithmetic is that of the model which asks the same of classes. Shares are among the values
    that are known; where none is, every form fails.
    """

    name: ClassVar[str]
    of_shares: ClassVar[bool] = True
    """Whether it asks for shares, which several buckets have together, and not for numbers."""

    l: int | float

    def bind(self, column: Column) -> "DiversityForm":
        """Return it as it judges a column whose values it may have to know."""
        return self

    @abstractmethod
    def model(self, column: str) -> Model:
        """Return the privacy model that asks the same of the classes of a table."""

    @abstractmethod
    def __str__(self) -> str:
        """Write what is asked, as in "is 3-diverse"."""

    @abstractmethod
    def fail(self, known: KnownCounts) -> BoolArray:
        """Return which are not diverse."""

    def near(self, known: KnownCounts) -> BoolArray:
        """Return where weights that are not whole numbers may be judged wrongly."""
        return np.zeros(len(known), dtype=bool)

    def fails(self, shares: Sequence[Fraction]) -> bool:
        """Judge one distribution exactly; what all values weigh together need not be 1."""
        raise NotImplementedError

    @abstractmethod
    def figures(self, known: KnownCounts) -> FloatArray:
        """Return the strictest parameter that each of them keeps."""

    def measure(self, known: KnownCounts) -> dict[str, float]:
        """Return the strictest parameter that all keep, by its name."""
        return {"l": float(self.figures(known).min())}

    @abstractmethod
    def complaint(self, known: KnownCounts, worst: int, column: str, among: str) -> str:
        """Write why one fails."""

    @abstractmethod
    def advice(self, known: KnownCounts) -> str:
        """Write what could be asked instead; empty if nothing could."""


@dataclass(frozen=True)
class Probabilistic(DiversityForm):
    """No value is likelier than 1/l; exactly 1/l is allowed."""

    name: ClassVar[str] = "probabilistic"

    l: int

    def __post_init__(self) -> None:
        require_int("l", self.l, at_least=2, why="with l=1 a bucket hides no person")

    def __str__(self) -> str:
        return f"{self.l}-diverse"

    def model(self, column: str) -> ProbabilisticLDiversity:
        return ProbabilisticLDiversity(column, self.l)

    def fail(self, known: KnownCounts) -> BoolArray:
        return ~ProbabilisticLDiversity("value", min(self.l, _LARGE)).keeps(known)

    def figures(self, known: KnownCounts) -> FloatArray:
        return self.model("value").figures(known)

    def near(self, known: KnownCounts) -> BoolArray:
        excess = known.largest * min(self.l, _LARGE) - known.totals
        found: BoolArray = np.abs(excess) <= _NEAR
        return found

    def fails(self, shares: Sequence[Fraction]) -> bool:
        return not any(shares) or max(shares) * self.l > sum(shares)

    def complaint(self, known: KnownCounts, worst: int, column: str, among: str) -> str:
        most, people = known.largest[worst], known.totals[worst]
        return (
            f"{most} of {people} people with a known {column!r}{among} have the same, "
            f"more than 1 in {self.l}"
        )

    def advice(self, known: KnownCounts) -> str:
        possible = int((known.totals // np.maximum(known.largest, 1)).min())
        if possible >= 2:
            return f"take an l of at most {possible}"
        return "take form='recursive' with l=2" if known.distinct.min() > 1 else ""


@dataclass(frozen=True)
class EntropyForm(DiversityForm):
    """The entropy of what is believed is at least log l, as of l equally likely values."""

    name: ClassVar[str] = "entropy"

    l: int | float

    def __post_init__(self) -> None:
        require_number("l", self.l, above=1, why="with l=1 a bucket hides no person")

    def __str__(self) -> str:
        return f"entropy {self.l}-diverse"

    def model(self, column: str) -> EntropyLDiversity:
        return EntropyLDiversity(column, self.l)

    def fail(self, known: KnownCounts) -> BoolArray:
        # Logarithms are no fractions: slack is all that can be done, and none is ever near.
        return ~self.model("value").keeps(known)

    def figures(self, known: KnownCounts) -> FloatArray:
        return self.model("value").figures(known)

    def fails(self, shares: Sequence[Fraction]) -> bool:
        weight = np.array([float(share) for share in shares if share], dtype=np.float64)
        one = np.zeros(len(weight), dtype=np.int64)
        return bool(self.fail(KnownCounts(one, one, weight, np.array([weight.sum()])))[0])

    def complaint(self, known: KnownCounts, worst: int, column: str, among: str) -> str:
        people, worth = known.totals[worst], _round_down(self.figures(known)[worst])
        return (
            f"the values of {people} people with a known {column!r}{among} are as hard to guess "
            f"as {worth} equally likely ones, fewer than {self.l}"
        )

    def advice(self, known: KnownCounts) -> str:
        possible = _round_down(self.figures(known).min())
        return f"take an l of at most {possible:.12g}" if possible > 1 else ""


@dataclass(frozen=True)
class Recursive(DiversityForm):
    """The likeliest value is less than c times as likely as all from the l-th likeliest on.

    With probabilities in falling order, r₁ < c (r_l + r_(l+1) + … + r_m).
    """

    name: ClassVar[str] = "recursive"

    l: int
    c: float

    def __post_init__(self) -> None:
        require_int("l", self.l, at_least=2, why="the tail must leave out the likeliest value")
        require_number("c", self.c, above=0, why="with c=0 no bucket passes")

    def __str__(self) -> str:
        return f"recursive ({self.c}, {self.l})-diverse"

    def model(self, column: str) -> RecursiveCLDiversity:
        return RecursiveCLDiversity(column, self.c, self.l)

    def fail(self, known: KnownCounts) -> BoolArray:
        return ~self.model("value").keeps(known)

    def figures(self, known: KnownCounts) -> FloatArray:
        return self.model("value").figures(known)

    def near(self, known: KnownCounts) -> BoolArray:
        found: BoolArray = np.abs(self.figures(known) - self.c) <= _NEAR * max(1.0, self.c)
        return found

    def fails(self, shares: Sequence[Fraction]) -> bool:
        falling = sorted(shares, reverse=True)
        # As it is written: 0.1 is a tenth, and not the binary number next to it.
        return not falling or falling[0] >= Fraction(str(self.c)) * sum(falling[self.l - 1 :])

    def measure(self, known: KnownCounts) -> dict[str, float]:
        return {"c": float(self.figures(known).max())}

    def complaint(self, known: KnownCounts, worst: int, column: str, among: str) -> str:
        most, people = known.largest[worst], known.totals[worst]
        tail = known.beyond(self.l - 1)[worst]
        return (
            f"{most} of {people} people with a known {column!r}{among} have the same, not fewer "
            f"than {self.c:.12g} times the {tail} who have none of the {self.l - 1} most frequent"
        )

    def advice(self, known: KnownCounts) -> str:
        bound = self.figures(known).max()
        if np.isfinite(bound):
            return f"take a c above {-_round_down(-bound):.12g}"
        possible = int(known.distinct.min())
        return f"take an l of at most {possible}" if possible >= 2 else ""


@dataclass(frozen=True)
class PAlpha(DiversityForm):
    """At least l different values are there, and together they weigh alpha or more.

    Categories run from most secret (weight 0) to not secret (weight 1). It is (p,α)-sensitivity,
    with l in the place of p: what it counts are people, and no probability is bounded.
    """

    name: ClassVar[str] = "p-alpha"
    of_shares: ClassVar[bool] = False

    l: int
    alpha: float
    categories: tuple[tuple[Value, ...], ...]
    codes: IntArray | None = field(default=None, compare=False, repr=False)
    """The category of each value of the column, where it is bound to one."""

    def __post_init__(self) -> None:
        require_int("l", self.l, at_least=2, why="with l=1 a bucket hides no person")
        require_number("alpha", self.alpha, at_least=0)
        object.__setattr__(self, "categories", read_categories(self.categories))

    def __str__(self) -> str:
        return f"({self.l}, {self.alpha:.12g})-sensitive"

    def bind(self, column: Column) -> Self:
        texts = tuple(tuple(map(text_of, each)) for each in self.categories)
        # A column of folded spellings has one of each; categories may name it by another.
        exact = {text for category in texts for text in category}
        folded = any(text_of(value) not in exact for value in column.known)
        described = SensitiveColumn(column.name, column.known, folded=folded)
        return replace(self, codes=category_codes(described, texts))

    def model(self, column: str) -> Model:
        return PAlphaSensitiveKAnonymity(column, self.l, self.alpha, self.l, self.categories)

    def variety(self, known: KnownCounts) -> IntArray:
        """Count the different values, or categories, of each."""
        return known.distinct

    def weight(self, known: KnownCounts) -> FloatArray:
        """Return what the people of each weigh."""
        # Whole numbers until the last division, so that 1/3 + 2/3 is 1.
        units = self._of_value[known.value] * known.rows
        total = np.bincount(known.class_id, weights=units, minlength=len(known))
        found: FloatArray = total / (len(self.categories) - 1)
        return found

    @property
    def _of_value(self) -> IntArray:
        if self.codes is None:
            raise RuntimeError("the form is bound to no column")
        return self.codes

    def fail(self, known: KnownCounts) -> BoolArray:
        found: BoolArray = (self.variety(known) < self.l) | ~at_least(
            self.weight(known), self.alpha
        )
        return found

    def figures(self, known: KnownCounts) -> FloatArray:
        return self.variety(known).astype(np.float64)

    def measure(self, known: KnownCounts) -> dict[str, float]:
        return {"p": int(self.variety(known).min()), "alpha": float(self.weight(known).min())}

    def complaint(self, known: KnownCounts, worst: int, column: str, among: str) -> str:
        found, weight = int(self.variety(known)[worst]), float(self.weight(known)[worst])
        return (
            f"{known.totals[worst]} people with a known {column!r}{among} have {found} different "
            f"{self._counted}, which weigh {weight:.12g} together"
        )

    @property
    def _counted(self) -> str:
        return "values"

    def advice(self, known: KnownCounts) -> str:
        possible, weight = int(self.variety(known).min()), float(self.weight(known).min())
        if possible < 2:
            return ""
        return f"take an l of at most {possible} and an alpha of at most {_round_down(weight):.12g}"


@dataclass(frozen=True)
class EnhancedPAlpha(PAlpha):
    """At least l different categories of values are there, and they weigh alpha or more."""

    name: ClassVar[str] = "enhanced-p-alpha"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.l > len(self.categories):
            raise ParameterError("l", self.l, f"at most {len(self.categories)}, the categories")

    def __str__(self) -> str:
        return f"enhanced {super().__str__()}"

    def model(self, column: str) -> Model:
        return EnhancedPAlphaSensitiveKAnonymity(
            column, self.l, self.alpha, self.l, self.categories
        )

    def variety(self, known: KnownCounts) -> IntArray:
        x = len(self.categories)
        at = known.class_id * x + self._of_value[known.value]
        shown = np.bincount(at, minlength=len(known) * x)
        variety: IntArray = np.count_nonzero(shown.reshape(-1, x), axis=1)
        return variety

    @property
    def _counted(self) -> str:
        return "categories of values"


@dataclass(frozen=True)
class Size(DiversityForm):
    """At least l people are there: all that can be asked where nothing is sensitive."""

    name: ClassVar[str] = "size"
    of_shares: ClassVar[bool] = False

    l: int

    def __str__(self) -> str:
        return f"in buckets of {self.l}"

    def model(self, column: str) -> Model:
        raise NotImplementedError

    def fail(self, known: KnownCounts) -> BoolArray:
        found: BoolArray = known.totals < self.l
        return found

    def figures(self, known: KnownCounts) -> FloatArray:
        return known.totals.astype(np.float64)

    def measure(self, known: KnownCounts) -> dict[str, float]:
        return {"people": int(known.totals.min())}

    def complaint(self, known: KnownCounts, worst: int, column: str, among: str) -> str:
        return f"there are {known.totals[worst]} people{among}, fewer than {self.l}"

    def advice(self, known: KnownCounts) -> str:
        return f"take an l of at most {known.totals.min()}"


FORMS: dict[str, type[DiversityForm]] = {
    form.name: form for form in (Probabilistic, EntropyForm, Recursive, PAlpha, EnhancedPAlpha)
}
_SETTINGS = {
    Recursive.name: {"c": "the likeliest value is compared with c times the rare ones"},
    PAlpha.name: {
        "alpha": "it is the least that the values of a bucket weigh",
        "categories": "they say what each value weighs",
    },
}
_SETTINGS[EnhancedPAlpha.name] = _SETTINGS[PAlpha.name]
"""What a form needs besides l, and why."""


def form_of(name: str, l: int | float, **settings: Any) -> DiversityForm:  # noqa: ANN401 - its own
    """Build a form of its name and its parameters; those that are None are not given.

    >>> form_of("recursive", 2, c=4)
    Recursive(l=2, c=4)
    """
    if name not in FORMS:
        raise ParameterError("form", name, "one of " + ", ".join(map(repr, FORMS)))
    needed = _SETTINGS.get(name, {})
    for setting, given in settings.items():
        if given is None and setting in needed:
            raise ParameterError(setting, given, f"given for form={name!r}", why=needed[setting])
        if given is not None and setting not in needed:
            raise ParameterError(setting, given, "left out", why=f"form={name!r} has no {setting}")
    known: dict[str, Any] = {setting: settings.get(setting) for setting in needed}
    return FORMS[name](l, **known)  # type: ignore[call-arg]


def _round_down(number: float) -> float:
    """Round down, so that a figure below a limit is not written as the limit.

    >>> _round_down(2.99996), -_round_down(-2.00001)
    (2.999, 2.001)
    """
    return math.floor(number * 1000) / 1000


class Crowds(NamedTuple):
    """Per bucket, those sub-tuples of its sensitive column that look alike but for the value."""

    bucket: IntArray
    known: IntArray
    tally: KnownCounts
    """The rows that have each value which is not missing; a crowd is a class."""


def crowds(laid: SubTuples, bucket: IntArray, at: IntArray | None = None) -> Crowds:
    """Count the sensitive column of every bucket.

    If none of them fails, the whole sliced table is diverse: p(t, ·) = Σ p(t, B) D(t, B) is a
    mixture of what the buckets say that t matches, and all `forms` stay true for mixtures. It
    then holds for whatever weights p(t, B) an adversary may have, that is whatever is known
    about the bucket a person is in, and for people who are not in the table too.

    Args:
        laid: The table.
        bucket: The bucket of each item.
        at: The items to count; None counts all.

    Example:
        >>> laid = SubTuples((), np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([2, 3, 4]))
        >>> found = crowds(laid, np.array([0, 0, 0]))
        >>> found.known.tolist(), found.tally.totals.tolist(), found.tally.largest.tolist()
        ([0, 1], [5, 4], [3, 4])
    """
    pair, rows = (laid.pair, laid.rows) if at is None else (laid.pair[at], laid.rows[at])
    key, n = totals(bucket * laid.pairs + pair, rows)
    of_bucket, of_pair = np.divmod(key, max(laid.pairs, 1))
    known, value = laid.known_of_pair[of_pair], laid.value_of_pair[of_pair]
    starts = starts_of(of_bucket, known)
    crowd = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(known))))
    there = value != laid.missing
    crowd, n = crowd[there], n[there]
    tally = KnownCounts(crowd, value[there], n, sums(crowd, n, len(starts)))
    return Crowds(of_bucket[starts], known[starts], tally)


def totals(key: IntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Add up the rows of equal keys; give the keys in order."""
    order = np.argsort(key, kind="stable")
    key = key[order]
    starts = starts_of(key)
    return key[starts], np.add.reduceat(rows[order], starts) if len(key) else rows[:0]


def starts_of(*keys: IntArray) -> IntArray:
    """Return where a new combination of keys begins."""
    new = np.zeros(len(keys[0]), dtype=bool)
    for key in keys:
        new |= np.diff(key, prepend=-1) != 0
    return np.flatnonzero(new)


def ranges(first: IntArray, last: IntArray) -> tuple[IntArray, IntArray]:
    """List the numbers of several ranges, each with the position of its range.

    >>> [part.tolist() for part in ranges(np.array([3, 0]), np.array([5, 1]))]
    [[0, 0, 1], [3, 4, 0]]
    """
    widths = last - first
    which = np.repeat(np.arange(len(widths)), widths)
    offset = np.arange(len(which)) - (np.cumsum(widths) - widths)[which]
    return which, first[which] + offset
