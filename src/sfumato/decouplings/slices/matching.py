"""Beliefs from several buckets: how much each weighs for a person who matches it.

A person t matches a bucket B if every column of B has t's sub-tuple; in the sensitive column only
the known part has to match. What is believed of t is a mixture of what these buckets say:
p(t, s) = Σ p(t, B) D(t, B)[s]. Three ways to weigh a bucket are known here.

- `paper`: p(t, B) = f(t, B) / Σ f(t, B'), where f is the product over the columns of the share of
  B's sub-tuples that equal t's. A bucket of a thousand people weighs no more than one of ten.
- `expected`: by the number of people like t that B holds on average over all ways to join its
  columns. This is what is believed of a person drawn from the table who turns out to be like t.
- `certain`: the average over all tables which the columns can be joined to and which hold a person
  like t, of the share of such people who are in B. This is what is believed of a person who is
  known to be in the table, by adversaries who list all these tables.

The last two differ where several people may be like t. With G_B(x) = Σ P(m people of B are like t)
xᵐ, the share of B among them is ∫ G_B' Π G_C dx from 0 to 1, over all other buckets C, and the
number of people of B is its factor G_B' at x = 1: m_B / M is the integral of m_B x^(M - 1), and the
expectation of x^M is a product, because buckets are joined independently. Tables without a person
like t have m_B = 0 and add nothing.

Reference: "Slicing: a new approach for privacy preserving data publishing", 2012,
doi:10.1109/TKDE.2010.236, for `paper`. The others are ours; the verifier computes them in another
way (`verifier/worlds.py`), and `tests/decouplings/slices` lists all tables.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from sfumato.classes import KnownCounts
from sfumato.counts import FrequencySet, group
from sfumato.decouplings.slices.diversity import (
    DiversityForm,
    Probabilistic,
    crowds,
    ranges,
    totals,
)
from sfumato.decouplings.slices.layout import SubTuples
from sfumato.typing import BoolArray, FloatArray, IntArray

Weighing: TypeAlias = Literal["paper", "expected", "certain"]

CHECKS: dict[str, tuple[Weighing, ...]] = {
    "buckets": (),
    "worlds": ("expected", "certain"),
    "paper": ("paper",),
}
"""What is asked of a cut: every bucket by itself, or what a person's buckets tell together."""

_AT_ONCE = 1 << 16
"""Matches of people and buckets that are looked at together."""

_CELLS = 1 << 22
"""Pairs of a person and a value that are looked at together."""

_NEAR = 1e-9
"""Sums so near to a limit may be beyond it."""

_NODES = 64
_MOST_ALIKE = 2 * _NODES - 1
"""This many people like one are counted exactly; where there may be more, buckets are judged one by
one."""

_LARGEST = 1 << 16
"""Of more people in a bucket, logarithms would not be exact enough."""

_FAKES = 1000
"""Made-up people of whom the result says how many can be ruled out."""

Chances: TypeAlias = tuple[Fraction, ...]


@lru_cache(maxsize=1 << 16)
def chances(first: int, steps: tuple[tuple[int, int], ...]) -> Chances:
    """Return how likely each number of people like a person is, over all ways to join columns.

    Args:
        first: The rows of the first column that are like the person.
        steps: Per further column, how many of its rows are like the person, among how many that
            are like the person in what the columns before it hold too.

    Example:
        >>> [str(chance) for chance in chances(2, ((1, 3),))]
        ['1/3', '2/3']
    """
    # Of the rows so far, `people` are like the person. All ways to join the next column give them
    # `people` of the `among` rows that fit them, each choice as likely as any other, and `like` of
    # those are like the person too. So `both` of them are with the hypergeometric probability
    #
    #     P(both | people) = C(like, both) C(among - like, people - both) / C(among, people).
    found = {first: Fraction(1)}
    for like, among in steps:
        after: dict[int, Fraction] = {}
        for people, chance in found.items():
            ways = math.comb(among, people)
            for both in range(max(0, people + like - among), min(people, like) + 1):
                share = math.comb(like, both) * math.comb(among - like, people - both)
                after[both] = after.get(both, Fraction(0)) + chance * Fraction(share, ways)
        found = after
    return tuple(found.get(people, Fraction(0)) for people in range(max(found) + 1))


def beliefs(laid: SubTuples, bucket: IntArray, weighing: Weighing = "paper") -> FloatArray:
    """Return p(t, s) for each kind of person (`laid.people`) and each sensitive value.

    Example:
        >>> one = np.array([0, 1, 0, 1])
        >>> values, ones = np.array([0, 1, 2, 2]), np.ones(4, dtype=int)
        >>> laid = SubTuples((one,), np.zeros(4, dtype=int), values, ones)
        >>> beliefs(laid, np.array([0, 0, 1, 1])).tolist()
        [[0.25, 0.25, 0.5], [0.25, 0.25, 0.5]]
    """
    return Buckets(laid, bucket).beliefs(laid.people, weighing)


def find_exposed(
    laid: SubTuples,
    bucket: IntArray,
    form: DiversityForm,
    check: str = "paper",
    *,
    changed: BoolArray | None = None,
) -> IntArray:
    """Return an item of each kind of person for whom p(t, ·) is not diverse.

    Only people who match a bucket that fails by itself are computed: p(t, ·) is a mixture of what
    buckets say, and forms of shares stay true for mixtures, whatever the weights.

    Args:
        laid: The table.
        bucket: The bucket of each item.
        form: How diverse it has to be.
        check: One of `CHECKS`: how buckets are weighed; with "buckets" all who match one that
            fails are exposed.
        changed: Per bucket, whether it is new since all was well; people who match no such
            bucket are as well off as they were.
    """
    found = crowds(laid, bucket)
    n = int(bucket.max(initial=-1)) + 1
    failing = form.fail(found.tally)
    doubtful = np.zeros(int(laid.known.max(initial=-1)) + 1, dtype=bool)
    doubtful[found.known[failing]] = True
    doubted: BoolArray = doubtful[laid.known[laid.people]]
    people: IntArray = laid.people[doubted]
    if changed is not None:
        people = _find_touched(laid, people, changed[bucket])
    if not len(people) or not n:
        return people[:0]
    buckets = Buckets(laid, bucket)
    bad = np.sort(found.bucket[failing] + n * found.known[failing])
    people = people[buckets.count(people, bad) > 0]
    weighings = CHECKS[check]
    if not weighings or (check == "worlds" and laid.shared is None):
        return people
    step = max(_CELLS // max(laid.values, 1), 1)
    parts = [people[start : start + step] for start in range(0, len(people), step)]
    well = people[:0]
    for weighing in weighings:
        # Who is exposed one way need not be looked at the other way.
        left = [part[~_fail(buckets, part, form, weighing)] for part in parts]
        if weighing == "expected" and isinstance(form, Probabilistic):
            safe = [buckets.are_safe(part, form.l) for part in left]
            good_parts = [part[good] for part, good in zip(left, safe, strict=True)]
            well = np.concatenate([well, *good_parts])
            left = [part[~good] for part, good in zip(left, safe, strict=True)]
        parts = [part for part in left if len(part)]
    well = np.concatenate([*parts, well])
    exposed_people: IntArray = np.setdiff1d(people, well)
    return exposed_people


def ruled_out(
    counts: FrequencySet,
    quasi_identifiers: Sequence[str],
    columns: Sequence[Sequence[str]],
    bucket: IntArray,
    rng: np.random.Generator,
) -> float:
    """Return the share of made-up people who match no bucket, and so are seen not to be there.

    They are made of the published values, each drawn by itself, as frequent as it is, and are those
    who are like no person in the table; 0 if all are like some. See `attacks.Membership`.

    Example:
        >>> rows = [("30", "f"), ("40", "m")]
        >>> counts, rng = FrequencySet.from_rows(["age", "sex"], rows), np.random.default_rng(1)
        >>> names, bucket = ["age", "sex"], np.zeros(2, dtype=int)
        >>> apart, joined = [["age"], ["sex"]], [["age", "sex"]]
        >>> [round(ruled_out(counts, names, each, bucket, rng), 1) for each in (apart, joined)]
        [0.0, 1.0]
    """
    drawn = {
        name: rng.choice(
            len(counts.column(name).values), _FAKES, p=counts.value_counts(name) / counts.total
        )
        for name in quasi_identifiers
    }
    known = [[name for name in column if name in drawn] for column in columns]
    parts = [
        group(
            [np.concatenate([counts.codes_of(name), drawn[name]]) for name in column],
            [len(counts.column(name).values) for name in column],
        ).of_item
        for column in known
        if column
    ]
    whole = group(
        [np.concatenate([counts.codes_of(name), drawn[name]]) for name in drawn],
        [len(counts.column(name).values) for name in drawn],
    ).of_item
    real = np.isin(whole[len(counts) :], whole[: len(counts)])
    nobody = np.zeros(_FAKES, dtype=np.int64)
    laid = SubTuples(
        tuple(parts[:-1]),
        parts[-1],
        np.zeros(len(parts[0]), dtype=np.int64),
        np.concatenate([counts.rows, nobody]),
    )
    fakes = len(counts) + np.arange(_FAKES)
    matched = np.zeros(_FAKES, dtype=bool)
    for match in Buckets(laid, np.concatenate([bucket, nobody])).matching(fakes):
        matched[match.person] = True
    return 1 - float(matched[~real].mean()) if not real.all() else 0.0


def _fail(
    buckets: "Buckets", people: IntArray, form: DiversityForm, weighing: Weighing
) -> BoolArray:
    """Return who is exposed, by one way to weigh buckets."""
    likely = buckets.beliefs(people, weighing)
    unknown = np.isnan(likely).any(axis=1)
    likely[unknown] = 0
    likely[:, np.arange(likely.shape[1]) == buckets.laid.missing] = 0
    person, value = np.nonzero(likely)
    tally = KnownCounts(person, value, likely[person, value], likely.sum(axis=1))
    wrong = form.fail(tally)
    for near in np.flatnonzero(form.near(tally) & ~unknown):
        wrong[near] = form.fails(buckets.exactly(int(people[near]), weighing))
    return wrong | unknown


def _find_touched(laid: SubTuples, people: IntArray, changed: BoolArray) -> IntArray:
    """Return the people of whom every sub-tuple is in some bucket that changed."""
    for numbers in laid.numbers:
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
        key, added = totals(numbers * n + bucket, rows)
        size = int(numbers.max(initial=-1)) + 1
        return cls(key, added, np.searchsorted(key, np.arange(size + 1) * n))

    def of_match(self, numbers: IntArray, bucket: IntArray, n: int) -> IntArray:
        """Return how often a sub-tuple is in a bucket; 0 if it is not."""
        wanted = numbers * n + bucket
        at = np.minimum(np.searchsorted(self.key, wanted), len(self.key) - 1)
        found: IntArray = np.where(self.key[at] == wanted, self.rows[at], 0)
        return found


class _Matching(NamedTuple):
    """People and the buckets they match; all of a person's are here, one after the other."""

    person: IntArray
    """Positions in the people that were asked for."""

    bucket: IntArray
    counts: IntArray
    """Per column and match, how many rows are like the person; the secret's column is last."""


class Buckets:
    """Buckets that can be asked who matches them, and what they then tell."""

    def __init__(self, laid: SubTuples, bucket: IntArray) -> None:
        self.laid = laid
        self.n = int(bucket.max(initial=-1)) + 1
        self.sizes = np.bincount(bucket, laid.rows, self.n).astype(np.int64)
        self.columns = [
            (numbers, _BucketCounts.of(numbers, bucket, laid.rows, self.n))
            for numbers in laid.numbers
        ]
        self.shared = [
            None if numbers is None else _BucketCounts.of(numbers, bucket, laid.rows, self.n)
            for numbers in laid.shared or ()
        ]
        # Cells of the sensitive column, sorted by known part, bucket and value.
        cell = (laid.known * self.n + bucket) * laid.values + laid.value
        self.cell, self.cell_rows = totals(cell, laid.rows)

    def count(self, people: IntArray, among: IntArray) -> IntArray:
        """Count the buckets that people match, among some pairs of known part and bucket."""
        found = np.zeros(len(people), dtype=np.int64)
        for match in self.matching(people):
            pair = self.laid.known[people[match.person]] * self.n + match.bucket
            at = np.minimum(np.searchsorted(among, pair), len(among) - 1)
            found += np.bincount(match.person[among[at] == pair], minlength=len(people))
        return found

    def beliefs(self, people: IntArray, weighing: Weighing) -> FloatArray:
        """Return p(t, s) of some people; not a number where it would take too long."""
        values = self.laid.values
        found = np.zeros((len(people), values))
        for match in self.matching(people):
            who, person = np.unique(match.person, return_inverse=True)
            crowd = self.laid.known[people[match.person]] * self.n + match.bucket
            of, at = ranges(*(np.searchsorted(self.cell, (crowd + i) * values) for i in (0, 1)))
            share = self.cell_rows[at] / match.counts[-1][of]
            place = person[of] * values + self.cell[at] % values
            weight = self._weigh(people, match, person, weighing)
            likely = np.bincount(place, weight[of] * share, len(who) * values)
            likely = likely.reshape(len(who), values)
            found[who] = likely / likely.sum(axis=1, keepdims=True)
        return found

    def are_safe(self, people: IntArray, l: int) -> BoolArray:
        """Return for whom no value can be likelier than 1/l in all tables that hold the person.

        Some of those who are may not be found. The number m of people of a bucket who are like one
        is a sum of independent chances p (its G has only real roots), so that G'/G falls
        from Σ p/(1-p) at 0 to the mean Σ p at 1. With a mean below 1 each p is at most the mean, so
        a bucket weighs between mean and mean/(1 - mean), and all such weights are looked at.
        """
        values = self.laid.values
        found = np.zeros(len(people), dtype=bool)
        for match in self.matching(people):
            who, person = np.unique(match.person, return_inverse=True)
            crowd = self.laid.known[people[match.person]] * self.n + match.bucket
            of, at = ranges(*(np.searchsorted(self.cell, (crowd + i) * values) for i in (0, 1)))
            share, value = self.cell_rows[at] / match.counts[-1][of], self.cell[at] % values
            known = np.bincount(of, share * (value != self.laid.missing), len(match.person))
            least = self._weigh(people, match, person, "expected")
            with np.errstate(divide="ignore"):
                most = np.where(least < 1, least / (1 - np.minimum(least, 1)), np.inf)
            above = share - known[of] / l
            with np.errstate(invalid="ignore"):
                part = np.where(above > 0, most[of] * above, least[of] * above)
            # A bucket without a value says that much against it; those with it said it above.
            part += least[of] * known[of] / l
            there = value != self.laid.missing
            place = (person[of] * values + value)[there]
            total = np.bincount(place, part[there], len(who) * values).reshape(len(who), values)
            against = np.bincount(person, least * known / l, len(who))
            found[who] = (total <= against[:, None] * (1 - _NEAR)).all(axis=1)
        return found

    def _weigh(
        self, people: IntArray, match: _Matching, person: IntArray, weighing: Weighing
    ) -> FloatArray:
        """Return how much each bucket weighs; those of a person need not sum to 1."""
        sizes = self.sizes[match.bucket]
        if weighing == "paper":
            shares: FloatArray = np.prod(match.counts / sizes, axis=0)
            return shares
        first, steps = self._steps(people, match)
        if weighing == "certain":
            return _integrate(first, steps, person)
        parts = [like / among for like, among in steps]
        expected: FloatArray = first * np.prod([np.ones(len(first)), *parts], axis=0)
        return expected

    def _steps(
        self, people: IntArray, match: _Matching
    ) -> tuple[IntArray, list[tuple[IntArray, IntArray]]]:
        """Return how many rows of the first column are like the person, and of each further one.

        With the latter stand those that are like the person in what the column shares.
        """
        item, steps = people[match.person], []
        for at, column in enumerate(self.laid.order):
            shared, numbers = self.shared[at], (self.laid.shared or ())[at]
            among = self.sizes[match.bucket]
            if shared is not None and numbers is not None:
                among = shared.of_match(numbers[item], match.bucket, self.n)
            steps.append((match.counts[column], among))
        return steps[0][0], steps[1:]

    def exactly(self, item: int, weighing: Weighing) -> list[Fraction]:
        """Return up to one factor, p(t, s) of one person for each value that is known."""
        values, sums = self.laid.values, dict[int, Fraction]()
        people = np.array([item])
        for match in self.matching(people):
            weights = self._exact_weights(people, match, weighing)
            for bucket, weight in zip(match.bucket.tolist(), weights, strict=True):
                crowd = int(self.laid.known[item]) * self.n + bucket
                first, last = np.searchsorted(self.cell, [crowd * values, (crowd + 1) * values])
                total = int(self.cell_rows[first:last].sum())
                for cell in range(first, last):
                    share = weight * Fraction(int(self.cell_rows[cell]), total)
                    value = int(self.cell[cell]) % values
                    sums[value] = sums.get(value, Fraction(0)) + share
        sums.pop(self.laid.missing, None)
        return list(sums.values())

    def _exact_weights(
        self, people: IntArray, match: _Matching, weighing: Weighing
    ) -> list[Fraction]:
        if weighing == "paper":
            sizes = self.sizes[match.bucket].tolist()
            shares = zip(*match.counts.tolist(), strict=True)
            return [
                math.prod((Fraction(like, size) for like in each), start=Fraction(1))
                for each, size in zip(shares, sizes, strict=True)
            ]
        first, steps = self._steps(people, match)
        found = [
            chances(int(first[at]), tuple((int(like[at]), int(among[at])) for like, among in steps))
            for at in range(len(first))
        ]
        if weighing == "expected":
            return [sum((m * c for m, c in enumerate(each)), Fraction(0)) for each in found]
        return [_share_of(found, at) for at in range(len(found))]

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
                match, at = ranges(first, last)
                yield self._matching(people, part[match], counted.key[at] % self.n)

    def _matching(self, people: IntArray, person: IntArray, bucket: IntArray) -> _Matching:
        item = people[person]
        counts = np.array(
            [counted.of_match(numbers[item], bucket, self.n) for numbers, counted in self.columns]
        )
        everywhere = (counts > 0).all(axis=0)
        return _Matching(person[everywhere], bucket[everywhere], counts[:, everywhere])


def _share_of(found: list[Chances], at: int) -> Fraction:
    """Return ∫ G' Π G of the other buckets, from 0 to 1, for the bucket at one place."""
    product = [Fraction(m) * chance for m, chance in enumerate(found[at])][1:]
    for other, each in enumerate(found):
        if other != at:
            longer = [Fraction(0)] * (len(product) + len(each) - 1)
            for i, one in enumerate(product):
                for j, two in enumerate(each):
                    longer[i + j] += one * two
            product = longer
    return sum((each / (i + 1) for i, each in enumerate(product)), Fraction(0))


def _integrate(
    first: IntArray, steps: list[tuple[IntArray, IntArray]], person: IntArray
) -> FloatArray:
    """Return ∫ G' Π G of the person's other buckets, from 0 to 1, for each match.

    The rule of Gauss and Legendre is exact for polynomials of such a degree; where it is higher,
    nothing is returned.
    """
    # If at most `alike` rows of all the person's buckets are like the person, the integrand has a
    # degree below `alike`, and n nodes are exact up to degree 2n - 1: n = alike // 2 + 1 is enough.
    # All terms are positive, so that nothing cancels: what is left is the rounding of floats, and a
    # person near a limit is computed again with fractions (`_fail`). Kinds of matches that are
    # equal are computed once.
    table = np.array([first, *(part for step in steps for part in step)])
    kinds, kind = np.unique(table, axis=1, return_inverse=True)
    kind = kind.reshape(-1)
    like = kinds[[0, *range(1, len(kinds), 2)]].min(axis=0)
    alike = np.bincount(person, like[kind])
    good = (like <= _MOST_ALIKE) & (kinds.max(axis=0) <= _LARGEST)
    too_many = (alike > _MOST_ALIKE) | (np.bincount(person, ~good[kind]) > 0)
    nodes = int(min(alike[~too_many].max(initial=0), _MOST_ALIKE)) // 2 + 1
    x, weight = _rule(nodes)
    value, slope = np.ones((kinds.shape[1], nodes)), np.zeros((kinds.shape[1], nodes))
    for some, chance in _chances(kinds, np.flatnonzero(good)):
        m = np.arange(chance.shape[1])
        value[some] = chance @ x ** m[:, None]
        slope[some] = (chance * m)[:, 1:] @ x ** m[:-1, None]
    starts = np.flatnonzero(np.diff(person, prepend=-1))
    product = np.exp(np.add.reduceat(np.log(value)[kind], starts, axis=0))
    found: FloatArray = ((slope / value)[kind] * product[person]) @ weight
    found[too_many[person]] = np.nan
    return found


@lru_cache(maxsize=_NODES + 1)
def _rule(nodes: int) -> tuple[FloatArray, FloatArray]:
    """Return the places between 0 and 1 at which a polynomial is looked at, and their weights."""
    node, weight = np.polynomial.legendre.leggauss(nodes)
    return (node + 1) / 2, weight / 2


def _chances(kinds: IntArray, at: IntArray) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield what `chances` says of several kinds of matches, those of about one size together."""
    if not len(at):
        return
    start = kinds[:2, at].min(axis=0)
    powers = np.ceil(np.log2(np.maximum(start, 1))).astype(np.int64)
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, int(kinds.max()) + 1)))])

    def ways(n: IntArray, k: IntArray | int) -> FloatArray:
        """Return log(n over k); minus infinity where there is no way."""
        possible = (k >= 0) & (k <= n)
        k = np.where(possible, k, 0)
        return np.where(possible, logs[n] - logs[k] - logs[n - k], -np.inf)

    for power in np.unique(powers).tolist():
        some = at[powers == power]
        width = (1 << power) + 1
        first, *rest = kinds[:, some]
        chance = np.zeros((len(some), width))
        for step in range(0, len(rest), 2):
            like, among = rest[step], rest[step + 1]
            after = np.zeros_like(chance)
            # Of the first column it is known how many rows are alike; later it is not.
            before = [(first, None)] if not step else [(a, chance[:, a]) for a in range(width)]
            for people, share in before:
                for both in range(width):
                    left = np.broadcast_to(np.asarray(people) - both, like.shape)
                    log = ways(like, both) + ways(among - like, left)
                    whole = ways(among, np.broadcast_to(people, like.shape))
                    log = np.where(np.isfinite(whole), log - np.maximum(whole, 0), -np.inf)
                    new = np.exp(np.where(np.isfinite(log), log, -np.inf))
                    after[:, both] += new if share is None else new * share
            chance = after
        if not rest:
            chance[np.arange(len(some)), first] = 1
        yield some, chance
