"""The minimality attack: running the tool on every table that the release could have come from."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import product
from math import factorial, prod
from statistics import NormalDist
from typing import ClassVar, Self

import numpy as np

from sfumato.attacks.base import ONE_ROW_EACH, Attack, Beliefs, Outcome
from sfumato.attacks.knowledge import ReleaseMaker
from sfumato.attacks.matching import matcher
from sfumato.attacks.target import Target
from sfumato.counts import FrequencySet, add_up, sums
from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import LinkedTables
from sfumato.errors import InputError, require_int, require_text
from sfumato.harm import HarmRule
from sfumato.models import DistinctLDiversity
from sfumato.policy.remedies import PromiseMore, PublishApart, Remedy
from sfumato.text import text_of, text_or_none
from sfumato.typing import BoolArray, FloatArray, IntArray, Value

_WORK = 1 << 20
"""The most combinations that are anonymised in all, over all candidates."""

_CELLS = 1 << 24
"""The most cells of a table of people by values."""

_FEWEST = 10
"""Fewer candidates than this tell nothing."""

_ACCEPTED = 30
"""So few of them must lead to the release for their mean to be used."""

_EACH = 24
"""The candidates that differ in one part, if that is all they do."""

_REPEATS = 5
"""How often a method that draws is run on each candidate, if all are run."""

_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Minimality(Attack):
    """Run the tool on every table that the release could have been made of.

    A tool that generalises no more than it must tells that it had to. Two people of a street and
    three of the next are published as one class, with HIV twice and flu three times. Had each
    street had both, it would have been published by itself. So the two of the first street have the
    same, and more ways lead to flu than to HIV.

    The adversary knows the tool, its policy, and the quasi-identifiers of all people. A
    candidate deals the published values out to the people whose quasi-identifiers fit the class,
    and draws those of suppressed people from the whole table. All candidates are equally
    likely; those from which the tool makes exactly this release stay. What is believed of people
    is how often they have a value in these. A method that draws among equal rows makes this
    release of a candidate only sometimes, and the candidate stays as often.

    Finds: of people with the same quasi-identifiers, the value that harms most and that is likelier
    than the class by itself says. Where `runs` are enough for all candidates it is exact.
    Else candidates are sampled: of the whole table, if enough of them lead to the release;
    otherwise of one class after the other, those in which one value is common first, while the
    other classes are as they are. What was sampled is judged by the lower end of its interval at
    95 %, and the note says how many classes were looked at.
    Does not find: what a tool with another policy or seed tells; columns that no model looks at,
    because the release is the same whatever they hold. A decoupled release is not tried, nor one of
    people with several rows, nor a table so large that fewer than ten candidates could be run.

    Reference: Wong, Fu, Wang and Pei, "Anonymization-based attacks in privacy-preserving data
    publishing", ACM Transactions on Database Systems 34(2), 2009, doi:10.1145/1538909.1538910

    Args:
        column: The sensitive column.
        runs: How often the tool is run at most.
        seed: Where sampled candidates come from.

    Example:
        >>> people = [("A", "hiv"), ("A", "hiv"), ("B", "flu"), ("B", "flu"), ("B", "flu")]
        >>> table = FrequencySet.from_rows(["street", "ill"], people)
        >>> def publish(table, rng):
        ...     parts = table.group_by(["street"])
        ...     diverse = np.bincount(parts.of_item).min() > 1
        ...     rows = zip(*(np.repeat(code, table.rows) for code in table.codes))
        ...     named = [("AB"[s] if diverse else "*", table.column("ill").values[i])
        ...         for s, i in rows]
        ...     return FrequencySet.from_rows(["street", "ill"], named)
        >>> published = publish(table, None)
        >>> target = Target.of_table(published, ("street",), ("ill",))
        >>> target = replace(target, maker=ReleaseMaker(table, ("street",), publish))
        >>> outcome = Minimality("ill").on(target, HarmRule())
        >>> outcome.note
        'all 3 candidates run, of which 2 lead to this release'
        >>> print(outcome.worst[0])
        street=A (2): ill = flu (60 % by the class alone), 60 % before, 75 % after
    """

    name: ClassVar[str] = "minimality"
    counts_people: ClassVar[bool] = False
    how: ClassVar[str] = (
        "Knows the tool, its policy and all quasi-identifiers, runs it on candidates, and keeps "
        "those from which it makes this release."
    )
    advice: ClassVar[str] = (
        "Promise more than the class needs (a larger l for {column}), or k-anonymity alone, so "
        "that no choice depends on {column} (models: [{{model: k-anonymity, k: 10}}]), or "
        "sfumato decouple."
    )

    column: str
    runs: int = 200
    seed: int = 0

    def remedies(self, outcome: Outcome, rule: HarmRule) -> tuple[Remedy, ...]:
        return (PromiseMore((DistinctLDiversity(self.column, 4),)), PublishApart((self.column,)))

    def __post_init__(self) -> None:
        require_text("column", self.column)
        require_int("runs", self.runs, at_least=1)
        require_int("seed", self.seed, at_least=0)

    @classmethod
    def against(cls, target: Target, rule: HarmRule) -> list[Self]:  # noqa: ARG003 - all alike
        if cls._reason(target):
            return []
        return [cls(column) for column in target.sensitive]

    @classmethod
    def why_not(cls, target: Target) -> str:
        return cls._reason(target) or "the release has no sensitive column"

    @classmethod
    def _reason(cls, target: Target) -> str:
        """Return why it cannot be tried; empty if it can."""
        if target.counts is None:
            return "the release is decoupled, and it is tried on tables in one piece"
        if target.person is not None and (target.people or target.maker) is not None:
            return ONE_ROW_EACH
        if target.maker is None:
            return (
                "it needs the policy and the table the release was made of (--policy, --data), to "
                "run the tool on candidates"
            )
        if target.maker.sensitive and _most_runs(target.maker, cls.runs) < _FEWEST:
            return (
                f"the table has {len(target.maker.table)} combinations, too many to run the tool "
                f"on {_FEWEST} candidates in reasonable time"
            )
        if not worlds_of(target).reproduced:
            return (
                "the tool makes another release of this table with this policy: give those that "
                "it was made with"
            )
        return ""

    def on(self, target: Target, rule: HarmRule) -> Outcome:
        self.require_countable(target)
        if target.maker is None or target.counts is None:
            raise InputError(f"minimality cannot be tried: {self.why_not(target)}.")
        if self.column not in target.maker.sensitive:
            target.classes.counts_of(self.column)
            return self._blind(target, rule)
        worlds = worlds_of(target)
        if not worlds.reproduced:
            raise InputError(f"minimality cannot be tried: {self.why_not(target)}.")
        found = target.memoize(("minimality", self.runs, self.seed), lambda _: self._try(worlds))
        beliefs, width = _beliefs(target, worlds, found, self.column, rule)
        outcome = beliefs.outcome(self, self.column, rule)
        interval = None
        if found.sampled and outcome.worst:
            low = float(outcome.worst[0].posterior)
            interval = (low, min(low + width, 1.0))
        settings = {**outcome.settings, "runs": found.runs}
        return replace(
            outcome,
            note=found.note,
            interval=interval,
            settings=settings,
            seed=self.seed if found.sampled else None,
        )

    def _blind(self, target: Target, rule: HarmRule) -> Outcome:
        """Return that nothing is learned of a column that the tool does not look at."""
        return Outcome(
            self.name,
            self.column,
            people=0,
            of=target.classes.total,
            prior=0.0,
            posterior=0.0,
            threshold=rule.very_high,
            how=self.how,
            note="no model looks at this column: the release is the same whatever it holds",
            settings={"runs": 0},
        )

    def _try(self, worlds: "Worlds") -> "TriedCandidates":
        """Run the tool on all candidates, or on some."""
        most = _most_runs(worlds.maker, self.runs)
        rng = np.random.default_rng(self.seed)
        if worlds.number is not None and worlds.number <= most:
            return _try_all(worlds, most, rng)
        found = _try_sample(worlds, most, rng)
        if found.accepted >= _ACCEPTED:
            return found
        return _try_parts(worlds, max(most - found.runs, _FEWEST), rng)

    @classmethod
    def example(cls) -> Self:
        return cls("disease", runs=50)


def _most_runs(maker: ReleaseMaker, runs: int) -> int:
    """Return how many candidates can be run in reasonable time."""
    most = min(runs, _WORK // max(len(maker.table), 1))
    cells = len(maker.table.project(maker.quasi_identifiers)) * len(
        maker.table.project(maker.sensitive)
    )
    return most if cells <= _CELLS else 0


# Candidates: who may have what.


@dataclass(frozen=True, eq=False)
class OpenPart:
    """Some people and the values that were published of them; who of them has which is open.

    People whose quasi-identifiers fit one class each are parted by class. Where they fit several,
    the classes are taken together.
    """

    kinds: IntArray
    """The people with equal quasi-identifiers: their positions among all kinds."""

    people: IntArray
    """The number of people of each kind."""

    values: IntArray
    """The published values: codes of combinations."""

    rows: IntArray
    """The number of rows of each."""

    @property
    def total(self) -> int:
        """The number of people."""
        return int(self.people.sum())

    @property
    def missing(self) -> int:
        """The number of people whose row is not published."""
        return self.total - int(self.rows.sum())

    @property
    def fixed(self) -> bool:
        """Whether there is only one way to deal the values out."""
        return not self.missing and (len(self.kinds) < 2 or len(self.values) < 2)

    @cached_property
    def number(self) -> int | None:
        """The number of ways to deal the values out; None if they are not counted."""
        if self.fixed:
            return 1
        if len(self.kinds) + len(self.values) > _MOST_COUNTED:
            return None
        ways = 0
        for _ in _tables(self.people.tolist(), self.rows.tolist()):
            ways += 1
            if ways > _MOST_WAYS:
                return None
        return ways

    def dealings(self) -> Iterator[tuple[IntArray, float]]:
        """Yield each `[kind, value]` table with these sums, and how many ways lead to it."""
        for table in _tables(self.people.tolist(), self.rows.tolist()):
            ways = prod(
                factorial(n) // prod(factorial(each) for each in row)
                for n, row in zip(self.people.tolist(), table, strict=True)
            )
            yield np.array(table, dtype=np.int64).reshape(len(self.people), -1), float(ways)


_MOST_COUNTED = 200
"""Ways are counted one by one, kinds and values deep: of more, there are as good as always too
many, and the depth of the stack is limited."""

_MOST_WAYS = 1 << 10
"""Ways to deal out the values of one part are counted up to here."""


def _tables(people: list[int], rows: list[int]) -> Iterator[list[tuple[int, ...]]]:
    """Yield every table of whole numbers with these sums."""
    if not people:
        if not any(rows):
            yield []
        return
    for first in _shares(people[0], rows):
        left = [n - taken for n, taken in zip(rows, first, strict=True)]
        for rest in _tables(people[1:], left):
            yield [first, *rest]


def _shares(n: int, most: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield every way to take n rows, no more of a value than there are."""
    if not most:
        if n == 0:
            yield ()
        return
    for taken in range(min(n, most[0]), -1, -1):
        for rest in _shares(n - taken, most[1:]):
            yield (taken, *rest)


@dataclass(frozen=True, eq=False)
class Worlds:
    """All tables that a release could have been made of, as far as its labels and values go."""

    maker: ReleaseMaker
    kinds: FrequencySet
    """The people by their quasi-identifiers."""

    values: FrequencySet
    """The different combinations of sensitive values."""

    parts: tuple[OpenPart, ...]
    truth: IntArray
    """`truth[kind, value]`: the table the release was really made of."""

    shares: FloatArray
    """The share of each combination among the published rows."""

    published: tuple[IntArray, IntArray]
    """The release: its combinations as numbers, and their rows."""

    codes: Mapping[str, Mapping[str | None, int]]
    """Per column, the code of each published label or value."""

    @cached_property
    def reproduced(self) -> bool:
        """Whether the tool makes this release of the true table."""
        if not self.maker.sensitive:
            return True
        if any(part.missing < 0 for part in self.parts):
            return False
        rng = np.random.default_rng(0)
        tries = 4 * _REPEATS if self.maker.draws else 1
        # A method that draws may have drawn otherwise.
        return any(self.leads_here(self.truth, rng) for _ in range(tries))

    @cached_property
    def number(self) -> int | None:
        """The number of candidates; None if it is large."""
        found = 1
        for part in self.parts:
            if part.missing or part.number is None:
                return None
            found *= part.number
            if found > _MOST_WAYS:
                return None
        return found

    @cached_property
    def _slots(self) -> tuple[IntArray, IntArray, IntArray]:
        """People in order of their parts: the part, the kind, and a published value, or -1."""
        parts = self.parts
        people = [np.repeat(part.kinds, part.people) for part in parts]
        values = [
            np.append(np.repeat(part.values, part.rows), np.full(max(part.missing, 0), -1))
            for part in parts
        ]
        number = np.repeat(np.arange(len(parts)), [len(each) for each in people])
        return number, np.concatenate(people), np.concatenate(values)

    def draw(self, rng: np.random.Generator) -> IntArray:
        """Return a random candidate: every part is dealt out by itself."""
        part, kind, value = self._slots
        order = np.lexsort((rng.random(len(part)), part))
        dealt = value[order].astype(np.int64)
        free = np.flatnonzero(dealt < 0)
        # The values of people who are not published may be any.
        dealt[free] = rng.choice(len(self.shares), size=len(free), p=self.shares)
        world = np.zeros_like(self.truth)
        np.add.at(world, (kind, dealt), 1)
        return world

    def draw_part(self, part: OpenPart, rng: np.random.Generator) -> IntArray:
        """Return the true table with one of its parts dealt out otherwise."""
        extra = rng.choice(len(self.shares), size=part.missing, p=self.shares)
        values = np.concatenate([np.repeat(part.values, part.rows), extra])
        world = self.truth.copy()
        world[part.kinds] = 0
        np.add.at(world, (np.repeat(part.kinds, part.people), rng.permutation(values)), 1)
        return world

    def count_hits(self, world: IntArray, rng: np.random.Generator, runs: int) -> int:
        """Return how many runs of the tool on a candidate make this release."""
        if not self.maker.draws:
            return runs * self.leads_here(world, rng)
        return sum(self.leads_here(world, rng) for _ in range(runs))

    def leads_here(self, world: IntArray, rng: np.random.Generator) -> bool:
        """Return whether the tool makes exactly this release of a candidate."""
        made = self.maker.run(self._table(world), rng)
        return made is not None and self._same(made)

    def _table(self, world: IntArray) -> FrequencySet:
        """Write a candidate as a counted table, in the dictionaries of the true one."""
        kind, value = np.nonzero(world)
        columns = {c.name: (c, self.kinds.codes_of(c.name)[kind]) for c in self.kinds.columns}
        columns |= {c.name: (c, self.values.codes_of(c.name)[value]) for c in self.values.columns}
        names = self.maker.table.names
        return FrequencySet.from_codes(
            names,
            [columns[name][0].values for name in names],
            np.array([columns[name][1] for name in names], dtype=np.int32),
            world[kind, value],
        )

    def _same(self, made: FrequencySet) -> bool:
        key = _keys(made, self.codes)
        if key is None:
            return False
        numbers, rows = key
        return np.array_equal(numbers, self.published[0]) and np.array_equal(
            rows, self.published[1]
        )


def _keys(
    counts: FrequencySet, codes: Mapping[str, Mapping[str | None, int]]
) -> tuple[IntArray, IntArray] | None:
    """Write the combinations of a table as numbers, in order; None if a label is unknown."""
    key = np.zeros(len(counts), dtype=np.int64)
    for name, known in codes.items():
        column = counts.column(name)
        lookup = [known.get(text_or_none(value), -1) for value in column.values]
        if -1 in lookup:
            return None
        key = key * max(len(known), 1) + np.array(lookup, dtype=np.int64)[counts.codes_of(name)]
    order = np.argsort(key, kind="stable")
    return key[order], counts.rows[order]


def worlds_of(target: Target) -> Worlds:
    """Return the candidates of a release, found once for all columns."""
    return target.memoize("worlds", _find_worlds)


def _find_worlds(target: Target) -> Worlds:
    maker = target.maker
    assert maker is not None  # noqa: S101 - asked for before
    assert target.counts is not None  # noqa: S101
    names, sensitive = maker.quasi_identifiers, maker.sensitive
    shown = target.counts.project((*names, *sensitive))
    codes = {
        column.name: {text_or_none(value): code for code, value in enumerate(column.values)}
        for column in shown.columns
    }
    published = _keys(shown, codes)
    assert published is not None  # noqa: S101 - these are its own labels
    kinds, values, truth = _truth(maker)
    of_value, values, truth = _published_values(shown, sensitive, values, truth)
    parts = _parts(maker, kinds, shown, of_value)
    shares = add_up(of_value, shown.rows, len(values))
    return Worlds(
        maker,
        kinds,
        values,
        parts,
        truth,
        shares / max(shares.sum(), 1.0),
        published,
        codes,
    )


def _truth(maker: ReleaseMaker) -> tuple[FrequencySet, FrequencySet, IntArray]:
    """Return kinds of people, combinations of values, and how many people of each have each."""
    table, names, sensitive = maker.table, maker.quasi_identifiers, maker.sensitive
    kinds, values = table.project(names), table.project(sensitive)
    kind, value = table.group_by(names).of_item, table.group_by(sensitive).of_item
    truth = np.zeros((len(kinds), len(values)), dtype=np.int64)
    np.add.at(truth, (kind, value), table.rows)
    return kinds, values, truth


def _published_values(
    shown: FrequencySet, sensitive: tuple[str, ...], values: FrequencySet, truth: IntArray
) -> tuple[IntArray, FrequencySet, IntArray]:
    """Return the combination of each published row among those of the original."""
    texts = {
        tuple(text_or_none(v) for _, v in values.values_at(sensitive, at)): at
        for at in range(len(values))
    }
    groups = shown.group_by(sensitive)
    found = [
        texts.get(tuple(text_or_none(v) for _, v in shown.values_at(sensitive, int(at))), -1)
        for at in groups.first
    ]
    if -1 in found:
        # The release has values that the table does not: it was not made of it.
        truth = np.zeros_like(truth)
    lookup = np.maximum(np.array(found, dtype=np.int64), 0)
    return lookup[groups.of_item], values, truth


def _parts(
    maker: ReleaseMaker,
    kinds: FrequencySet,
    shown: FrequencySet,
    of_value: IntArray,
) -> tuple[OpenPart, ...]:
    """Return people and published values, separated by which classes people fit."""
    classes = shown.project(maker.quasi_identifiers)
    of_class = shown.group_by(maker.quasi_identifiers).of_item
    labels = replace(maker.labels, strict=False)
    fits = list(matcher(kinds, LinkedTables((classes,)), labels).pairs(kinds.codes))
    none = np.zeros(0, dtype=np.int64)
    kind = np.concatenate([none, *(each[0] for each in fits)])
    their = np.concatenate([none, *(each[1] for each in fits)])
    part_of_kind, part_of_class = _components(kind, their, len(kinds), len(classes))
    numbers, part_of_kind = np.unique(part_of_kind, return_inverse=True)
    # A class that no person of the table fits is in no part: then it is another table.
    place = np.minimum(np.searchsorted(numbers, part_of_class), len(numbers) - 1)
    of_row = place[of_class]
    order = np.argsort(part_of_kind, kind="stable")
    row_order = np.argsort(of_row, kind="stable")
    edges = np.searchsorted(part_of_kind[order], np.arange(len(numbers) + 1))
    row_edges = np.searchsorted(of_row[row_order], np.arange(len(numbers) + 1))
    found = []
    for number in range(len(numbers)):
        mine = order[edges[number] : edges[number + 1]]
        rows = row_order[row_edges[number] : row_edges[number + 1]]
        values, at = np.unique(of_value[rows], return_inverse=True)
        found.append(
            OpenPart(mine, kinds.rows[mine], values, sums(at, shown.rows[rows], len(values)))
        )
    return tuple(found)


def _components(one: IntArray, other: IntArray, n: int, others: int) -> tuple[IntArray, IntArray]:
    """Number the parts of people and classes of which none fits a class of another."""
    label = np.arange(n + others)
    while True:
        lowest = np.minimum(label[one], label[other + n])
        new = label.copy()
        np.minimum.at(new, one, lowest)
        np.minimum.at(new, other + n, lowest)
        new = new[new]
        if np.array_equal(new, label):
            return label[:n], label[n:]
        label = new


# Running the tool on candidates.


@dataclass(frozen=True, eq=False)
class TriedCandidates:
    """How often people of each kind have each value in the candidates that stay."""

    shares: FloatArray
    """`shares[kind, value]`: the share of people of the kind."""

    weight: FloatArray
    """Per kind, the number of candidates the shares are of; ∞ if they are all there are."""

    looked_at: BoolArray
    """Per kind, whether enough candidates were run."""

    accepted: int
    """The number of candidates that lead to the release."""

    runs: int
    note: str

    @property
    def sampled(self) -> bool:
        """Whether not all candidates were run."""
        return not np.isinf(self.weight[self.looked_at]).all()


def _try_all(worlds: Worlds, most: int, rng: np.random.Generator) -> TriedCandidates:
    """Run the tool on every candidate, several times if it draws."""
    total, hits, led, runs = np.zeros(worlds.truth.shape), 0.0, 0, 0
    seen = 0
    repeats = max(min(most // max(worlds.number or 1, 1), _REPEATS), 1) if worlds.maker.draws else 1
    for dealt in product(*(list(part.dealings()) for part in worlds.parts)):
        world = np.zeros_like(worlds.truth)
        ways = 1.0
        for part, (table, number) in zip(worlds.parts, dealt, strict=True):
            world[np.ix_(part.kinds, part.values)] = table
            ways *= number
        found = worlds.count_hits(world, rng, repeats)
        runs, led, seen = runs + 1, led + (found > 0), seen + found
        hits += ways * found
        total += ways * found * world
    people = np.maximum(worlds.kinds.rows, 1)[:, None]
    # A tool that draws is known by how often it was seen to lead here, not exactly.
    size = np.full(len(people), float(seen) if worlds.maker.draws else np.inf)
    note = f"all {runs} candidates run, of which {led} lead to this release"
    shares = total / max(hits, 1e-300) / people
    return TriedCandidates(shares, size, np.full(len(people), hits > 0), led, runs, note)


def _try_sample(worlds: Worlds, runs: int, rng: np.random.Generator) -> TriedCandidates:
    """Run the tool on candidates of the whole table.

    Once on each: a candidate that leads here every other time stays every other time.
    """
    total, led = np.zeros(worlds.truth.shape), 0
    for done in range(1, runs + 1):
        world = worlds.draw(rng)
        if worlds.leads_here(world, rng):
            total += world
            led += 1
        # Where hardly any of the first lead here, too few of the rest will.
        if done >= _FEWEST and led * 20 < done:
            break
    people = np.maximum(worlds.kinds.rows, 1)[:, None]
    note = f"sampled: {done} candidates run, of which {led} lead to this release"
    size = np.full(len(people), float(led))
    shares = total / max(led, 1) / people
    return TriedCandidates(shares, size, np.full(len(people), led > 0), led, done, note)


def _try_parts(worlds: Worlds, runs: int, rng: np.random.Generator) -> TriedCandidates:
    """Run the tool on candidates that differ from the truth in one part at a time.

    Parts in which one value is common come first: there the least is needed for a belief.
    """
    kinds, draws = len(worlds.kinds), worlds.maker.draws
    shares = np.zeros(worlds.truth.shape)
    size, looked_at = np.zeros(kinds), np.zeros(kinds, dtype=np.bool_)
    loose = [part for part in worlds.parts if not part.fixed]
    loose.sort(key=lambda part: (-part.rows.max(initial=0) / max(part.total, 1), part.total))
    done = led = tried = 0
    for part in loose:
        every = not part.missing and part.number is not None and part.number <= _EACH
        each = part.number or 0 if every else _EACH
        if done + each > runs and tried:
            break
        total, hits, seen = np.zeros((len(part.kinds), len(worlds.values))), 0.0, 0
        for world, ways in _candidates(worlds, part, each, rng, every=every):
            done += 1
            if worlds.leads_here(world, rng):
                total += ways * world[part.kinds]
                hits, seen = hits + ways, seen + 1
        tried, led = tried + 1, led + seen
        if seen:
            shares[part.kinds] = total / hits / np.maximum(part.people, 1)[:, None]
            size[part.kinds] = np.inf if every and not draws else seen
            looked_at[part.kinds] = True
    note = (
        f"sampled: {done} candidates run that differ from the table in one class at a time, of "
        f"which {led} lead to this release; {tried} of {len(loose)} classes were looked at"
    )
    return TriedCandidates(shares, size, looked_at, led, done, note)


def _candidates(
    worlds: Worlds, part: OpenPart, number: int, rng: np.random.Generator, *, every: bool
) -> Iterator[tuple[IntArray, float]]:
    """Yield candidates that differ in one part, and how many ways lead to each."""
    if not every:
        for _ in range(number):
            yield worlds.draw_part(part, rng), 1.0
        return
    for table, ways in part.dealings():
        world = worlds.truth.copy()
        world[np.ix_(part.kinds, part.values)] = table
        yield world, ways


# What is believed of people with the same quasi-identifiers.


def _beliefs(
    target: Target, worlds: Worlds, tried: TriedCandidates, column: str, rule: HarmRule
) -> tuple[Beliefs, float]:
    """Return what is believed of each kind of people, and how wide the first interval is."""
    values = worlds.values.column(column)
    code = worlds.values.codes_of(column).astype(np.int64)
    known = np.flatnonzero(np.arange(len(values.values)) != values.missing)
    if not len(known):
        nothing = np.zeros(len(worlds.kinds))
        rows, total = worlds.kinds.rows, target.classes.total
        return Beliefs(rows, nothing, nothing, lambda _: {}, lambda _: "nothing", of=total), 0.0
    by_value = np.zeros((len(worlds.values), len(values.values)))
    by_value[np.arange(len(code)), code] = 1.0

    def of_column(shares: FloatArray) -> FloatArray:
        """Return the share of each known value among those that are known."""
        found = (shares @ by_value)[..., known]
        total = found.sum(axis=-1, keepdims=True)
        shown: FloatArray = np.divide(found, total, out=np.zeros_like(found), where=total > 0)
        return shown

    posterior, table = of_column(tried.shares), of_column(worlds.shares)
    alone = of_column(_alone(worlds))
    low, high = _interval(posterior, tried.weight)
    secrecy = _secrecy(target, column, [text_of(values.values[k]) for k in known])
    prior = np.broadcast_to(table, posterior.shape)
    adds = (low > alone + 1e-9) & tried.looked_at[:, None]
    levels = rule.judge(
        prior.ravel(),
        low.ravel(),
        target.classes.total,
        applies=adds.ravel(),
        secrecy=np.broadcast_to(secrecy, low.shape).ravel(),
    ).levels.reshape(low.shape)
    best = np.argmax(4 * levels + 2 * adds + low, axis=1)
    at = np.arange(len(low)), best
    names = worlds.maker.quasi_identifiers

    def who(kind: int) -> Mapping[str, Value]:
        return dict(worlds.kinds.values_at(names, kind))

    def belief(kind: int) -> str:
        value = text_of(values.values[known[best[kind]]])
        return f"{column} = {value} ({alone[kind, best[kind]]:.0%} by the class alone)".replace(
            "%", " %"
        )

    beliefs = Beliefs(
        worlds.kinds.rows,
        prior[at],
        low[at],
        who,
        belief,
        secrecy[best],
        of=target.classes.total,
        applies=adds[at],
    )
    order = np.lexsort((-low[at], -levels[at]))
    width = float((high - low)[at][order[0]]) if len(order) else 0.0
    return beliefs, width


def _alone(worlds: Worlds) -> FloatArray:
    """Return what is believed of each kind of people without running the tool."""
    found = np.tile(worlds.shares, (len(worlds.kinds), 1))
    for part in worlds.parts:
        rows = np.zeros(len(worlds.values))
        rows[part.values] = part.rows
        rows += part.missing * worlds.shares
        found[part.kinds] = rows / max(rows.sum(), 1e-300)
    return found


def _interval(share: FloatArray, number: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return where shares lie (Wilson's interval), given how many candidates they are of."""
    n = number[:, None]
    exact = np.isinf(n)
    size = np.where(exact, 1.0, np.maximum(n, 1e-9))
    z = NormalDist().inv_cdf((1 + _CONFIDENCE) / 2)
    middle = (share + z**2 / (2 * size)) / (1 + z**2 / size)
    spread = z * np.sqrt(share * (1 - share) / size + (z / (2 * size)) ** 2) / (1 + z**2 / size)
    low, high = np.maximum(middle - spread, 0.0), np.minimum(middle + spread, 1.0)
    return np.where(exact, share, low), np.where(exact, share, high)


def _secrecy(target: Target, column: str, texts: list[str]) -> IntArray:
    """Return the secrecy of each value of the original."""
    described = target.classes.counts_of(column).column
    if described.secrecy is None:
        return np.zeros(len(texts), dtype=np.int64)
    known = dict(zip(map(text_of, described.values), described.secrecy.tolist(), strict=True))
    return np.array([known.get(text, 0) for text in texts], dtype=np.int64)
