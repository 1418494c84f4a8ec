"""Beliefs about people who are known to be in a sliced release, from all their buckets together.

Every way of joining the slices of a bucket is equally likely. So is each of those tables, as far as
it holds a person like the one that is known; some hold several, and the person is one of them.
Everything is counted with whole numbers and fractions, by the definitions and one person at a time.

Count the rows of a bucket that are like a person t by joining one slice after the other. Let m rows
be like t so far. The next slice has `like` rows with t's sub-tuple, among `among` rows that agree
with t in the columns which slices before it hold too; the m rows are given m of these `among`, each
choice as likely as any other. So m' of them are still like t with the hypergeometric probability

    P(m' | m) = C(like, m') C(among - like, m - m') / C(among, m),

and `_ways` multiplies these up. It is enough to look at the slice before, because each slice shares
its columns with one slice before it (`_order`, the running intersection property); where there is
no such order, nothing is computed and nothing is promised.

With m_B for the number of bucket B, independent of those of other buckets, B weighs

    f(t, B)                    in the paper: the product of the shares of t's sub-tuples,
    E[m_B]                     for a person drawn from the table who turns out to be like t,
    E[m_B / Σ m_C; Σ m_C > 0]  for a person who is known to be in the table.

The last one is a sum over pairs (m_B, the sum of all others), and sums of independent numbers have
the product of their polynomials (`_shares`, `_times`). A factor that all buckets have, such as the
probability that the table holds a person like t at all, cancels when beliefs are scaled to 1.

Reference: "Slicing: a new approach for privacy preserving data publishing", 2012,
doi:10.1109/TKDE.2010.236, for the first. The others are ours;
`tests/decouplings/slices` lists all tables.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import comb, lcm, prod

from sfumato.verifier.models import Key

Cells = Mapping[str, Mapping[Key, int]]
"""Per bucket, how many people have each sub-tuple; values as texts."""

Beliefs = dict[object, Fraction]


class SlicedTables:
    """Slices, of which one has a secret.

    Args:
        columns: The columns of each slice.
        cells: What each slice holds.
        known: The columns that others may know.
        secret: The column that they want to know.

    Example:
        >>> ages = {"1": {("30",): 1, ("40",): 1}, "2": {("30",): 2}}
        >>> ills = {"1": {("flu",): 2}, "2": {("flu",): 1, ("hiv",): 1}}
        >>> tables = SlicedTables([["age"], ["ill"]], [ages, ills], ["age"], "ill")
        >>> {name: str(share) for name, share in tables.by_expectation(("30",)).items()}
        {'flu': '2/3', 'hiv': '1/3'}
        >>> {name: str(share) for name, share in tables.by_paper(("30",)).items()}
        {'flu': '2/3', 'hiv': '1/3'}
    """

    def __init__(
        self,
        columns: Sequence[Sequence[str]],
        cells: Sequence[Cells],
        known: Sequence[str],
        secret: str,
    ) -> None:
        self.known = list(known)
        self.order = _order(columns)
        at = next(i for i, names in enumerate(columns) if secret in names)
        self.open = [[name for name in names if name in known] for names in columns]
        self.counted = [_over(cells[i], names, self.open[i]) for i, names in enumerate(columns)]
        place = list(columns[at]).index(secret)
        keep = [list(columns[at]).index(name) for name in self.open[at]]
        self.at = at
        self.values: dict[tuple[str, Key], dict[object, int]] = {}
        """Per bucket and what is known beside the secret, the people who have each value."""
        for label, bucket in cells[at].items():
            for key, people in bucket.items():
                counts = self.values.setdefault((label, tuple(key[i] for i in keep)), {})
                counts[key[place]] = counts.get(key[place], 0) + people
        self.sizes = {label: sum(bucket.values()) for label, bucket in cells[at].items()}
        self.places = [_by_sub(each) for each in self.counted]
        self.shared = self._count_shared(columns, cells)

    def _count_shared(
        self, columns: Sequence[Sequence[str]], cells: Sequence[Cells]
    ) -> list[tuple[list[str], Cells]]:
        """Count, per slice in the order they are joined in, what those before it hold too."""
        found: list[tuple[list[str], Cells]] = []
        for i, at in enumerate(self.order or ()):
            before = {name for j in (self.order or ())[:i] for name in columns[j]}
            names = [name for name in columns[at] if name in before]
            found.append((names, _over(cells[at], columns[at], names)))
        return found

    def part(self, person: Key, names: Sequence[str]) -> Key:
        """Return what a person has in some columns."""
        return tuple(person[self.known.index(name)] for name in names)

    def crowds(self, person: Key) -> list[tuple[str, Key]]:
        """Return the buckets that a person matches, with what is known beside the secret."""
        subs = [self.part(person, names) for names in self.open]
        found = [places.get(sub, []) for places, sub in zip(self.places, subs, strict=True)]
        labels, pairs = min(found, key=len), list(zip(self.counted, subs, strict=True))
        return [
            (label, subs[self.at])
            for label in labels
            if all(counted[label].get(sub, 0) for counted, sub in pairs)
        ]

    def by_paper(self, person: Key) -> Beliefs:
        """Weigh buckets by f(t, B), the product of the shares of t's sub-tuples."""
        return self._mix(
            person,
            lambda _, label: prod(
                (Fraction(n, self.sizes[label]) for n in self._like(person, label)),
                start=Fraction(1),
            ),
        )

    def by_expectation(self, person: Key) -> Beliefs:
        """Weigh buckets by the people in them who are like the person, on average."""
        return self._mix(
            person,
            lambda _, label: sum(
                (m * chance for m, chance in enumerate(self.chances(person, label))), Fraction(0)
            ),
        )

    def by_certainty(self, person: Key) -> Beliefs:
        """Weigh buckets by their share of those like the person, in all tables that have some."""
        labels = [label for label, _ in self.crowds(person)]
        shares = dict(zip(labels, _shares([self.ways(person, b) for b in labels]), strict=True))
        return self._mix(person, lambda _, label: Fraction(shares[label]))

    def is_surely_below(self, person: Key, l: float) -> bool:
        """Return whether no value can be likelier than 1/l, by bounds that take no list of tables.

        How many people of a bucket are like the person is a sum of independent chances. If they are
        fewer than one on average, the bucket's share of all such people is at least in the ratio of
        this number a, and at most of a/(1 - a). No such weights may lift a value over 1/l.
        """
        excess: dict[object, float] = {}
        missing = 0.0
        for label, beside in self.crowds(person):
            like = list(self._like(person, label))
            least = 1.0
            for at, (names, counted) in zip(self.order or (), self.shared, strict=True):
                among = counted[label][self.part(person, names)]
                least *= like[at] / among
            least *= self.sizes[label]
            values = self.values[label, beside]
            total = sum(values.values())
            known = total - values.get(None, 0)
            missing += least * known / total / l
            for value, people in values.items():
                above = people / total - known / total / l
                if value is None:
                    continue
                if above > 0 and least >= 1:
                    return False
                weight = least / (1 - least) if above > 0 else least
                part = weight * above + least * known / total / l
                excess[value] = excess.get(value, 0.0) + part
        return max(excess.values(), default=1.0) <= missing * (1 - 1e-9)

    def _mix(self, person: Key, weigh: Callable[[list[str], str], Fraction]) -> Beliefs:
        found: Beliefs = {}
        crowds = self.crowds(person)
        labels = [label for label, _ in crowds]
        for label, beside in crowds:
            values = self.values[label, beside]
            weight = weigh(labels, label) / sum(values.values())
            for value, people in values.items():
                found[value] = found.get(value, Fraction(0)) + weight * people
        total = sum(found.values())
        return {value: share / total for value, share in found.items()}

    def _like(self, person: Key, label: str) -> Iterator[int]:
        for counted, names in zip(self.counted, self.open, strict=True):
            yield counted[label].get(self.part(person, names), 0)

    def chances(self, person: Key, label: str) -> list[Fraction]:
        """Return how likely a bucket holds 0, 1, 2, … people like the person."""
        ways = self.ways(person, label)
        return [Fraction(each, sum(ways)) for each in ways]

    def ways(self, person: Key, label: str) -> tuple[int, ...]:
        """Return in how many ways, up to a factor, it holds 0, 1, 2, … people like the person."""
        like, steps = list(self._like(person, label)), []
        for at, (names, counted) in zip(self.order or (), self.shared, strict=True):
            among = counted[label].get(self.part(person, names), 0)
            steps.append((like[at], among))
        return _ways(steps[0][0], tuple(steps[1:]))


def as_whole_numbers(beliefs: Beliefs) -> dict[object, int]:
    """Return shares as numbers of people that have the same ratios.

    >>> as_whole_numbers({"flu": Fraction(1, 2), "hiv": Fraction(1, 3)})
    {'flu': 3, 'hiv': 2}
    """
    common = lcm(*(share.denominator for share in beliefs.values()))
    return {value: int(share * common) for value, share in beliefs.items()}


@cache
def _ways(first: int, steps: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    """Join one slice after the other: of `among` rows that fit, `like` are like the person."""
    found = {first: Fraction(1)}
    for like, among in steps:
        joined: dict[int, Fraction] = {}
        for people, chance in found.items():
            for both in range(min(people, like) + 1):
                ways = comb(like, both) * comb(among - like, people - both)
                if ways:
                    share = chance * Fraction(ways, comb(among, people))
                    joined[both] = joined.get(both, Fraction(0)) + share
        found = joined
    common = lcm(*(chance.denominator for chance in found.values()))
    return tuple(int(found.get(m, 0) * common) for m in range(max(found) + 1))


def _shares(ways: Sequence[Sequence[int]]) -> list[int]:
    """Return, up to a factor, the mean of m / (m + m' + …) for each number m beside the others'."""
    before, after = [[1]], [[1]]
    for each in ways[:-1]:
        before.append(_times(before[-1], each))
    for each in ways[:0:-1]:
        after.append(_times(after[-1], each))
    most = sum(len(each) for each in ways)
    common = lcm(*range(1, most + 1))
    found = []
    for own, one, two in zip(ways, before, reversed(after), strict=True):
        rest = _times(one, two)
        found.append(
            sum(
                m * chance * many * (common // (m + n))
                for m, chance in enumerate(own)
                for n, many in enumerate(rest)
                if m and chance and many
            )
        )
    return found


def _times(one: Sequence[int], two: Sequence[int]) -> list[int]:
    """Add two numbers whose ways are known, as polynomials are multiplied.

    >>> _times([1, 1], [1, 2])
    [1, 3, 2]
    """
    found = [0] * (len(one) + len(two) - 1)
    for i, a in enumerate(one):
        if a:
            for j, b in enumerate(two):
                found[i + j] += a * b
    return found


def _order(columns: Sequence[Sequence[str]]) -> list[int] | None:
    """Find an order in which each slice shares columns with one slice before it; None if none is.

    >>> _order([["a"], ["b", "c"], ["a", "b"]]), _order([["a", "b"], ["b", "c"], ["a", "c"]])
    ([0, 2, 1], None)
    """
    sets, order = [set(names) for names in columns], [0]
    while len(order) < len(sets):
        left = [i for i in range(len(sets)) if i not in order]
        chosen = max(left, key=lambda i: max(len(sets[i] & sets[j]) for j in order))
        shared = sets[chosen] & set().union(*(sets[j] for j in order))
        if not any(shared <= sets[j] for j in order):
            return None
        order.append(chosen)
    return order


def _over(cells: Cells, names: Sequence[str], kept: Sequence[str]) -> Cells:
    """Count over fewer columns."""
    at = [list(names).index(name) for name in kept]
    found: dict[str, dict[Key, int]] = {}
    for label, bucket in cells.items():
        fewer = found.setdefault(label, {})
        for key, people in bucket.items():
            short = tuple(key[i] for i in at)
            fewer[short] = fewer.get(short, 0) + people
    return found


def _by_sub(cells: Cells) -> dict[Key, list[str]]:
    """Return the buckets that each sub-tuple is in."""
    found: dict[Key, list[str]] = {}
    for label, bucket in cells.items():
        for key in bucket:
            found.setdefault(key, []).append(label)
    return found
