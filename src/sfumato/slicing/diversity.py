"""l-diversity of a sliced table: what its buckets together say about a person.

For a person t and a bucket B, f(t, B) is the product over the columns of the share of B's
sub-tuples that equal t's; in the sensitive column only the known part has to match.
p(t, B) = f(t, B) / Σ f(t, B'), D(t, B)[s] is the share of s among the sub-tuples of B's
sensitive column whose known part is t's, and p(t, s) = Σ p(t, B) D(t, B)[s]. The table is
l-diverse if p(t, s) ≤ 1/l for every person and every value, or if p(t, ·) is diverse in another of
the `forms`. Where values are missing, shares are among those that are not: p(t, s) ≤
(1 - p(t, missing))/l, and not all may be missing.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np

from sfumato.classes import KnownCounts
from sfumato.counts import sums
from sfumato.errors import ParameterError, require_int, require_number
from sfumato.models import EntropyLDiversity, ProbabilisticLDiversity, RecursiveCLDiversity
from sfumato.slicing.layout import SubTuples
from sfumato.typing import BoolArray, FloatArray, IntArray

# The forms of l-diversity: what is asked of how likely each sensitive value is.
#
# All three stay true when distributions are mixed, whatever the weights. The largest share of a
# mixture is at most the average of the largest shares; its entropy is at least the average
# entropy; and what lies beyond its n largest shares is at least the average of that, so that r₁ <
# c (r_l + … + r_m) survives as well. Two things follow. Where every bucket is diverse so is
# what several buckets say of a person; and a table that is not diverse as one bucket cannot
# be cut into buckets that are.


_NEAR = 1e-9
"""Probabilities so near to a limit are computed again as fractions."""

_LARGE = 1 << 31
"""No table has as many rows; a larger l asks for the same, and would not fit its product."""

Model: TypeAlias = ProbabilisticLDiversity | EntropyLDiversity | RecursiveCLDiversity


class Form(ABC):
    """How diverse the sensitive values of a crowd, or of what is believed of a person, have to be.

    The arithmetic is that of the model which asks the same of classes. Shares are among the values
    that are known; where none is, every form fails.
    """

    name: ClassVar[str]
    l: int | float

    @abstractmethod
    def model(self, column: str) -> Model:
        """Return the privacy model that asks the same of the classes of a table."""

    @abstractmethod
    def __str__(self) -> str:
        """Write what is asked, as in "is 3-diverse"."""

    def fail(self, known: KnownCounts) -> BoolArray:
        """Return which are not diverse."""
        return ~self.model("value").keeps(known)

    @abstractmethod
    def near(self, known: KnownCounts) -> BoolArray:
        """Return where weights that are not whole numbers may be judged wrongly."""

    @abstractmethod
    def fails(self, shares: Sequence[Fraction]) -> bool:
        """Judge one distribution exactly; what all values weigh together need not be 1."""

    def figures(self, known: KnownCounts) -> FloatArray:
        """Return the strictest parameter that each of them keeps."""
        return self.model("value").figures(known)

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
class Probabilistic(Form):
    """No value is likelier than 1/l; exactly 1/l is allowed."""

    name: ClassVar[str] = "probabilistic"

    l: int

    def __post_init__(self) -> None:
        require_int("l", self.l, at_least=2, why="with l=1 a bucket hides nobody")

    def __str__(self) -> str:
        return f"{self.l}-diverse"

    def model(self, column: str) -> ProbabilisticLDiversity:
        return ProbabilisticLDiversity(column, self.l)

    def fail(self, known: KnownCounts) -> BoolArray:
        return ~ProbabilisticLDiversity("value", min(self.l, _LARGE)).keeps(known)

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
class Entropy(Form):
    """The entropy of what is believed is at least log l, as of l equally likely values."""

    name: ClassVar[str] = "entropy"

    l: int | float

    def __post_init__(self) -> None:
        require_number("l", self.l, above=1, why="with l=1 a bucket hides nobody")

    def __str__(self) -> str:
        return f"entropy {self.l}-diverse"

    def model(self, column: str) -> EntropyLDiversity:
        return EntropyLDiversity(column, self.l)

    def near(self, known: KnownCounts) -> BoolArray:
        # Logarithms are no fractions: slack is all that can be done.
        return np.zeros(len(known), dtype=bool)

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
class Recursive(Form):
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


FORMS: dict[str, type[Form]] = {form.name: form for form in (Probabilistic, Entropy, Recursive)}


def form_of(name: str, l: int | float, c: float | None = None) -> Form:
    """Build a form of its name and its parameters.

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


def _round_down(number: float) -> float:
    """Round down, so that a figure below a limit is not written as the limit.

    >>> _round_down(2.99996), -_round_down(-2.00001)
    (2.999, 2.001)
    """
    return math.floor(number * 1000) / 1000


_AT_ONCE = 1 << 21
"""Matches of people and buckets that are looked at together."""


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
    key, n = _totals(bucket * laid.pairs + pair, rows)
    of_bucket, of_pair = np.divmod(key, max(laid.pairs, 1))
    known, value = laid.known_of_pair[of_pair], laid.value_of_pair[of_pair]
    starts = _starts(of_bucket, known)
    crowd = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(known))))
    there = value != laid.missing
    crowd, n = crowd[there], n[there]
    tally = KnownCounts(crowd, value[there], n, sums(crowd, n, len(starts)))
    return Crowds(of_bucket[starts], known[starts], tally)


def beliefs(laid: SubTuples, bucket: IntArray) -> FloatArray:
    """Return p(t, s) for each kind of person (`laid.people`) and each sensitive value.

    Example:
        >>> one = np.array([0, 1, 0, 1])
        >>> values, ones = np.array([0, 1, 2, 2]), np.ones(4, dtype=int)
        >>> laid = SubTuples((one,), np.zeros(4, dtype=int), values, ones)
        >>> beliefs(laid, np.array([0, 0, 1, 1])).tolist()
        [[0.25, 0.25, 0.5], [0.25, 0.25, 0.5]]
    """
    return _Buckets(laid, bucket).beliefs(laid.people)


def find_exposed(
    laid: SubTuples, bucket: IntArray, form: Form, *, changed: BoolArray | None = None
) -> IntArray:
    """Return an item of each kind of person for whom p(t, ·) is not diverse.

    Only people who match a bucket that fails by itself are computed: see `crowds`.

    Args:
        laid: The table.
        bucket: The bucket of each item.
        form: How diverse it has to be.
        changed: Per bucket, whether it is new since all was well; people who match no such
            bucket are as well off as they were.
    """
    found = crowds(laid, bucket)
    n = int(bucket.max(initial=-1)) + 1
    doubtful = np.zeros(int(laid.known.max(initial=-1)) + 1, dtype=bool)
    doubtful[found.known[form.fail(found.tally)]] = True
    doubted: BoolArray = doubtful[laid.known[laid.people]]
    people: IntArray = laid.people[doubted]
    if changed is not None:
        people = _find_touched(laid, people, changed[bucket])
    if not len(people) or not n:
        return people[:0]
    buckets = _Buckets(laid, bucket)
    likely = buckets.beliefs(people)
    likely[:, np.arange(laid.values) == laid.missing] = 0
    person, value = np.nonzero(likely)
    tally = KnownCounts(person, value, likely[person, value], likely.sum(axis=1))
    wrong = form.fail(tally)
    for near in np.flatnonzero(form.near(tally)):
        wrong[near] = form.fails(buckets.exactly(int(people[near])))
    exposed_people: IntArray = people[wrong]
    return exposed_people


def _find_touched(laid: SubTuples, people: IntArray, changed: BoolArray) -> IntArray:
    """Return the people of whom every sub-tuple is in some bucket that changed."""
    for numbers in (*laid.others, laid.known):
        there = np.zeros(int(numbers.max(initial=-1)) + 1, dtype=bool)
        there[numbers[changed]] = True
        people = people[there[numbers[people]]]
    return people


class _BucketCounts(NamedTuple):
    """How often each sub-tuple of one column is in each bucket, sorted by sub-tuple."""

    key: IntArray
    rows: IntArray
    starts: IntArray
    """Where the buckets of each sub-tuple begin, and where the last end."""

    @classmethod
    def of(cls, numbers: IntArray, bucket: IntArray, rows: IntArray, n: int) -> "_BucketCounts":
        key, added = _totals(numbers * n + bucket, rows)
        size = int(numbers.max(initial=-1)) + 1
        return cls(key, added, np.searchsorted(key, np.arange(size + 1) * n))

    def of_match(self, numbers: IntArray, bucket: IntArray, n: int) -> IntArray:
        """Return how often a sub-tuple is in a bucket; 0 if it is not."""
        wanted = numbers * n + bucket
        at = np.minimum(np.searchsorted(self.key, wanted), len(self.key) - 1)
        found: IntArray = np.where(self.key[at] == wanted, self.rows[at], 0)
        return found


class _Matching(NamedTuple):
    """People and the buckets they match."""

    person: IntArray
    """Positions in the people that were asked for."""

    bucket: IntArray
    weight: FloatArray
    """f(t, B), but with the rows that match in the sensitive column left out."""

    counts: list[IntArray]
    """Per other column, how many rows match."""


class _Buckets:
    """Buckets that can be asked who matches them."""

    def __init__(self, laid: SubTuples, bucket: IntArray) -> None:
        self.laid = laid
        self.n = int(bucket.max(initial=-1)) + 1
        self.sizes = np.bincount(bucket, laid.rows, self.n).astype(np.int64)
        self.columns = [
            (numbers, _BucketCounts.of(numbers, bucket, laid.rows, self.n))
            for numbers in (*laid.others, laid.known)
        ]
        # Cells of the sensitive column, sorted by known part, bucket and value.
        cell = (laid.known * self.n + bucket) * laid.values + laid.value
        self.cell, self.cell_rows = _totals(cell, laid.rows)

    def beliefs(self, people: IntArray) -> FloatArray:
        """Return p(t, s) of some people."""
        values = self.laid.values
        total = np.zeros(len(people) * values)
        for found in self.matching(people):
            crowd = self.laid.known[people[found.person]] * self.n + found.bucket
            match, at = _ranges(*(np.searchsorted(self.cell, (crowd + i) * values) for i in (0, 1)))
            place = found.person[match] * values + self.cell[at] % values
            total += np.bincount(place, found.weight[match] * self.cell_rows[at], len(total))
        likely = total.reshape(len(people), values)
        beliefs: FloatArray = likely / likely.sum(axis=1, keepdims=True)
        return beliefs

    def exactly(self, item: int) -> list[Fraction]:
        """Return up to one factor, p(t, s) of one person for each value that is known."""
        values, sums = self.laid.values, dict[int, Fraction]()
        for found in self.matching(np.array([item])):
            for at, bucket in enumerate(found.bucket.tolist()):
                size, weight = int(self.sizes[bucket]), Fraction(1)
                for count in found.counts:
                    weight *= Fraction(int(count[at]), size)
                crowd = int(self.laid.known[item]) * self.n + bucket
                first, last = np.searchsorted(self.cell, [crowd * values, (crowd + 1) * values])
                for cell in range(first, last):
                    share = weight * Fraction(int(self.cell_rows[cell]), size)
                    value = int(self.cell[cell]) % values
                    sums[value] = sums.get(value, Fraction(0)) + share
        sums.pop(self.laid.missing, None)
        return list(sums.values())

    def matching(self, people: IntArray) -> Iterator[_Matching]:
        """Find the buckets that people match in every column, some people at a time."""
        # Start from the column in which a person's sub-tuple is in the fewest buckets.
        widths = np.array([np.diff(c.starts)[numbers[people]] for numbers, c in self.columns])
        rarest = np.argmin(widths, axis=0)
        for column, (numbers, counted) in enumerate(self.columns):
            persons = np.flatnonzero(rarest == column)
            ends = np.cumsum(widths[column, persons])
            batch = ends // _AT_ONCE
            parts = np.split(persons, np.flatnonzero(np.diff(batch)) + 1)
            for part in filter(len, parts):
                first = counted.starts[numbers[people[part]]]
                last = counted.starts[numbers[people[part]] + 1]
                match, at = _ranges(first, last)
                yield self._matching(people, part[match], counted.key[at] % self.n)

    def _matching(self, people: IntArray, person: IntArray, bucket: IntArray) -> _Matching:
        item, everywhere = people[person], np.ones(len(person), dtype=bool)
        counts = []
        for numbers, counted in self.columns:
            counts.append(counted.of_match(numbers[item], bucket, self.n))
            everywhere &= counts[-1] > 0
        kept = [count[everywhere] for count in counts[:-1]]
        sizes = self.sizes[bucket[everywhere]]
        weight = 1 / sizes
        for count in kept:
            weight = weight * (count / sizes)
        return _Matching(person[everywhere], bucket[everywhere], weight, kept)


def _totals(key: IntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Add up the rows of equal keys; give the keys in order."""
    order = np.argsort(key, kind="stable")
    key = key[order]
    starts = _starts(key)
    return key[starts], np.add.reduceat(rows[order], starts) if len(key) else rows[:0]


def _starts(*keys: IntArray) -> IntArray:
    """Return where a new combination of keys begins."""
    new = np.zeros(len(keys[0]), dtype=bool)
    for key in keys:
        new |= np.diff(key, prepend=-1) != 0
    return np.flatnonzero(new)


def _ranges(first: IntArray, last: IntArray) -> tuple[IntArray, IntArray]:
    """List the numbers of several ranges, each with the position of its range.

    >>> [part.tolist() for part in _ranges(np.array([3, 0]), np.array([5, 1]))]
    [[0, 0, 1], [3, 4, 0]]
    """
    widths = last - first
    which = np.repeat(np.arange(len(widths)), widths)
    offset = np.arange(len(which)) - (np.cumsum(widths) - widths)[which]
    return which, first[which] + offset
