"""The forms of l-diversity: what is asked of how likely each sensitive value is.

All three stay true when distributions are mixed, whatever the weights. The largest share of a
mixture is at most the average of the largest shares; its entropy is at least the average
entropy; and what lies beyond its n largest shares is at least the average of that, so that
r₁ < c (r_l + … + r_m) survives as well. Two things follow. Where every bucket is diverse so is
everybody, of whom several buckets speak; and a table that is not diverse as one bucket cannot be
cut into buckets that are.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np

from sfumato.checks import require_int, require_number
from sfumato.errors import ParameterError
from sfumato.typing import BoolArray, FloatArray, IntArray

# How much each sensitive value weighs, for many crowds or many people at once.


Weights: TypeAlias = IntArray | FloatArray
"""Numbers of rows, or probabilities."""


@dataclass(frozen=True, eq=False)
class Tally:
    """The weights of sensitive values, those of each crowd or person one after the other.

    Weights are rows, or probabilities. A missing value weighs nothing, for it hides nobody.

    Example:
        >>> tally = Tally(np.array([2, 3, 1, 4]), np.array([0, 3]))
        >>> tally.total.tolist(), tally.largest.tolist(), tally.beyond(1).tolist()
        ([6, 4], [3, 4], [3, 0])
        >>> np.exp(Tally(np.array([5, 5, 0]), np.array([0])).entropy).round(3).tolist()
        [2.0]
    """

    weight: Weights
    starts: IntArray
    """Where the weights of each begin; each has one at least."""

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def total(self) -> Weights:
        """What all values weigh together."""
        return self._added(self.weight)

    @cached_property
    def largest(self) -> Weights:
        """What the heaviest value weighs."""
        return np.maximum.reduceat(self.weight, self.starts) if len(self) else self.weight[:0]

    @cached_property
    def distinct(self) -> IntArray:
        """How many values there are."""
        return self._added((self.weight > 0).astype(np.int64)).astype(np.int64)

    @cached_property
    def entropy(self) -> FloatArray:
        """The entropy of the shares, to base e; -∞ where there is no value at all."""
        weight = self.weight.astype(np.float64)
        # -Σ w/n log(w/n) = log n - (Σ w log w)/n, and 0 log 0 is 0.
        logs = np.log(weight, out=np.zeros(len(weight)), where=weight > 0)
        some = self.total > 0
        total, sums = self.total[some], self._added(weight * logs)[some]
        found = np.full(len(self), -np.inf)
        # Rounding must not make the entropy of a single value negative.
        found[some] = np.maximum(np.log(total) - sums / total, 0.0)
        return found

    def beyond(self, n: int) -> Weights:
        """Give what all but the n heaviest values weigh together."""
        widths = np.diff(np.append(self.starts, len(self.weight)))
        of_weight = np.repeat(np.arange(len(self)), widths)
        falling = self.weight[np.lexsort((-self.weight, of_weight))]
        rank = np.arange(len(falling)) - np.repeat(self.starts, widths)
        return self._added(np.where(rank >= n, falling, 0))

    def _added(self, weight: Weights) -> Weights:
        return np.add.reduceat(weight, self.starts) if len(self) else weight[:0]


_SLACK = 1e-10
"""Logarithms and quotients that differ by less, relative to the larger of 1 and the bound, are
equal: enough for "at least", not enough for "below". The models of whole tables do the same."""

_NEAR = 1e-9
"""Probabilities so near to a limit are computed again as fractions."""

_LARGE = 1 << 31
"""No table has as many rows; a larger l asks for the same, and would not fit its product."""


class Form(ABC):
    """How diverse the sensitive values of a crowd, or of what is believed of a person, have to be.

    Shares are among the values that are known; where none is, every form fails.
    """

    name: ClassVar[str]
    model: ClassVar[str]
    """The privacy model that asks the same of classes."""

    l: int | float

    @abstractmethod
    def __str__(self) -> str:
        """Name what is asked, as in "is 3-diverse"."""

    @abstractmethod
    def fail(self, tally: Tally) -> BoolArray:
        """Tell which are not diverse."""

    @abstractmethod
    def near(self, tally: Tally) -> BoolArray:
        """Tell where weights that are not whole numbers may be judged wrongly."""

    @abstractmethod
    def fails(self, shares: Sequence[Fraction]) -> bool:
        """Judge one distribution exactly; what all values weigh together need not be 1."""

    @abstractmethod
    def figures(self, tally: Tally) -> FloatArray:
        """Give the strictest parameter that each of them keeps."""

    @abstractmethod
    def measured(self, tally: Tally) -> dict[str, float]:
        """Give the strictest parameter that all keep, by its name."""

    def parameters(self) -> dict[str, Any]:
        """Give the parameters of the model."""
        return {"l": self.l}

    @abstractmethod
    def complaint(self, tally: Tally, worst: int, column: str, among: str) -> str:
        """Say why one fails."""

    @abstractmethod
    def advice(self, tally: Tally) -> str:
        """Say what could be asked instead; empty if nothing could."""


@dataclass(frozen=True)
class Probabilistic(Form):
    """No value is likelier than 1/l; exactly 1/l is allowed.

    Example:
        >>> tally = Tally(np.array([2, 1, 1, 2, 1]), np.array([0, 3]))
        >>> Probabilistic(2).fail(tally).tolist(), Probabilistic(2).measured(tally)
        ([False, True], {'l': 1.5})
    """

    name: ClassVar[str] = "probabilistic"
    model: ClassVar[str] = "probabilistic-l-diversity"

    l: int

    def __post_init__(self) -> None:
        require_int("l", self.l, at_least=2, why="with l=1 a bucket hides nobody")

    def __str__(self) -> str:
        return f"{self.l}-diverse"

    def fail(self, tally: Tally) -> BoolArray:
        failing: BoolArray = (self._excess(tally) > 0) | (tally.total == 0)
        return failing

    def near(self, tally: Tally) -> BoolArray:
        found: BoolArray = np.abs(self._excess(tally)) <= _NEAR
        return found

    def fails(self, shares: Sequence[Fraction]) -> bool:
        return not any(shares) or max(shares) * self.l > sum(shares)

    def _excess(self, tally: Tally) -> Weights:
        return tally.largest * min(self.l, _LARGE) - tally.total

    def figures(self, tally: Tally) -> FloatArray:
        return _ratio(tally.total, tally.largest, nothing=0)

    def measured(self, tally: Tally) -> dict[str, float]:
        return {"l": float(self.figures(tally).min())}

    def complaint(self, tally: Tally, worst: int, column: str, among: str) -> str:
        most, people = tally.largest[worst], tally.total[worst]
        return (
            f"{most} of {people} people with a known {column!r}{among} have the same, "
            f"more than 1 in {self.l}"
        )

    def advice(self, tally: Tally) -> str:
        possible = int((tally.total // np.maximum(tally.largest, 1)).min())
        if possible >= 2:
            return f"take an l of at most {possible}"
        return "take form='recursive' with l=2" if tally.distinct.min() > 1 else ""


@dataclass(frozen=True)
class Entropy(Form):
    """The entropy of what is believed is at least log l, as of l equally likely values.

    Example:
        >>> tally = Tally(np.array([2, 1, 1, 2, 1]), np.array([0, 3]))
        >>> Entropy(2.8).fail(tally).tolist(), Entropy(2).fail(tally).tolist()
        ([False, True], [False, True])
    """

    name: ClassVar[str] = "entropy"
    model: ClassVar[str] = "entropy-l-diversity"

    l: int | float

    def __post_init__(self) -> None:
        require_number("l", self.l, above=1, why="with l=1 a bucket hides nobody")

    def __str__(self) -> str:
        return f"entropy {self.l}-diverse"

    def fail(self, tally: Tally) -> BoolArray:
        failing: BoolArray = tally.entropy < self._least
        return failing

    def near(self, tally: Tally) -> BoolArray:
        # Logarithms are no fractions: slack is all that can be done.
        return np.zeros(len(tally), dtype=bool)

    def fails(self, shares: Sequence[Fraction]) -> bool:
        weights = np.array([float(share) for share in shares] or [0.0])
        return bool(self.fail(Tally(weights, np.array([0])))[0])

    @property
    def _least(self) -> float:
        log = math.log(self.l)
        return log - _SLACK * max(1.0, log)

    def figures(self, tally: Tally) -> FloatArray:
        found: FloatArray = np.exp(tally.entropy)
        return found

    def measured(self, tally: Tally) -> dict[str, float]:
        return {"l": float(self.figures(tally).min())}

    def complaint(self, tally: Tally, worst: int, column: str, among: str) -> str:
        people, worth = tally.total[worst], _down(self.figures(tally)[worst])
        return (
            f"the values of {people} people with a known {column!r}{among} are as hard to guess "
            f"as {worth} equally likely ones, fewer than {self.l}"
        )

    def advice(self, tally: Tally) -> str:
        possible = _down(self.figures(tally).min())
        return f"take an l of at most {possible:.12g}" if possible > 1 else ""


@dataclass(frozen=True)
class Recursive(Form):
    """The likeliest value is less than c times as likely as all from the l-th likeliest on.

    With probabilities in falling order, r₁ < c (r_l + r_(l+1) + … + r_m).

    Example:
        >>> tally = Tally(np.array([75, 25]), np.array([0]))
        >>> Recursive(2, 3).fail(tally).tolist(), Recursive(2, 4).fail(tally).tolist()
        ([True], [False])
    """

    name: ClassVar[str] = "recursive"
    model: ClassVar[str] = "recursive-cl-diversity"

    l: int
    c: float

    def __post_init__(self) -> None:
        require_int("l", self.l, at_least=2, why="the tail must leave out the likeliest value")
        require_number("c", self.c, above=0, why="with c=0 no bucket passes")

    def __str__(self) -> str:
        return f"recursive ({self.c}, {self.l})-diverse"

    def fail(self, tally: Tally) -> BoolArray:
        failing: BoolArray = self.figures(tally) >= self.c - _SLACK * max(1.0, self.c)
        return failing

    def near(self, tally: Tally) -> BoolArray:
        found: BoolArray = np.abs(self.figures(tally) - self.c) <= _NEAR * max(1.0, self.c)
        return found

    def fails(self, shares: Sequence[Fraction]) -> bool:
        falling = sorted(shares, reverse=True)
        # As it is written: 0.1 is a tenth, and not the binary number next to it.
        return not falling or falling[0] >= Fraction(str(self.c)) * sum(falling[self.l - 1 :])

    def figures(self, tally: Tally) -> FloatArray:
        return _ratio(tally.largest, tally.beyond(self.l - 1), nothing=math.inf)

    def measured(self, tally: Tally) -> dict[str, float]:
        return {"c": float(self.figures(tally).max())}

    def parameters(self) -> dict[str, Any]:
        return {"c": self.c, "l": self.l}

    def complaint(self, tally: Tally, worst: int, column: str, among: str) -> str:
        most, people = tally.largest[worst], tally.total[worst]
        tail = tally.beyond(self.l - 1)[worst]
        return (
            f"{most} of {people} people with a known {column!r}{among} have the same, not fewer "
            f"than {self.c:.12g} times the {tail} who have none of the {self.l - 1} most frequent"
        )

    def advice(self, tally: Tally) -> str:
        bound = self.figures(tally).max()
        if np.isfinite(bound):
            return f"take a c above {-_down(-bound):.12g}"
        possible = int(tally.distinct.min())
        return f"take an l of at most {possible}" if possible >= 2 else ""


FORMS: dict[str, type[Form]] = {form.name: form for form in (Probabilistic, Entropy, Recursive)}


def form_of(name: str, l: int | float, c: float | None = None) -> Form:
    """Make a form of its name and its parameters.

    >>> form_of("recursive", 2, 4)
    Recursive(l=2, c=4)
    """
    if name not in FORMS:
        raise ParameterError("form", name, "one of " + ", ".join(map(repr, FORMS)))
    if name == Recursive.name:
        if c is None:
            why = "the likeliest value is compared with c times the rare ones"
            raise ParameterError("c", c, "given for form='recursive'", why=why)
        return Recursive(l, c)  # type: ignore[arg-type]  # it refuses what is no integer
    if c is not None:
        raise ParameterError("c", c, "left out", why=f"form={name!r} has no c")
    return FORMS[name](l)  # type: ignore[call-arg]


def _ratio(part: Weights, whole: Weights, *, nothing: float) -> FloatArray:
    """Divide; where there is nothing to divide by, the answer is given."""
    found = np.full(len(part), nothing, dtype=np.float64)
    np.divide(part, whole, out=found, where=whole > 0)
    return found


def _down(number: float) -> float:
    """Round down, so that a figure below a limit is not written as the limit.

    >>> _down(2.99996), -_down(-2.00001)
    (2.999, 2.001)
    """
    return math.floor(number * 1000) / 1000
