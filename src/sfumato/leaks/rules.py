"""Rules and facts: what knowing some columns of a published table tells about another.

Rules follow the networks that were learned (Algorithm 1); facts with some rows behind them are
looked for value by value, the smallest sets first. `sfumato.leaks.facts` counts those that need
none.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cache, cached_property
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from sfumato.counts import Column, FrequencySet, group, sums
from sfumato.counts.people import people_of
from sfumato.dataclasses import dataclass
from sfumato.harm import HarmRule, Level, Secrecy
from sfumato.leaks.facts import Fact
from sfumato.networks import ConditionalTable, Network, conditional_table
from sfumato.policy import RiskLevels, harm_rule
from sfumato.showing.content import plain_of
from sfumato.text import percent, text_or_none
from sfumato.typing import BoolArray, CodeArray, FloatArray, IntArray, Value


@dataclass(frozen=True, eq=False)
class RuleEntries:
    """The entries of a table that exceed alpha: known values → a value, how surely, how often."""

    known: CodeArray
    """`known[p, e]`: the value of known column p in entry e."""

    value: CodeArray
    """The value that is told."""

    rows: IntArray
    """Rows with all of it: the people about whom it is true. Where people have several rows, those
    who have such a row, every one once."""

    support: IntArray
    """Rows with the known values, or people who have such a row."""

    prior: FloatArray
    """The share of the value among all rows: what is believed without the release's rows. Among
    all people, where these are counted, each once in every class."""

    @property
    def posterior(self) -> FloatArray:
        """The probability of the value once the others are known."""
        share: FloatArray = self.rows / self.support
        return share

    @property
    def tells(self) -> BoolArray:
        """Whether something is learned from each: the value is likelier than it was before."""
        return self.rows * 1.0 > self.prior * self.support * (1 + 1e-12)

    @property
    def lift(self) -> FloatArray:
        """The factor by which it is likelier than before."""
        gain: FloatArray = self.posterior / self.prior
        return gain

    def __len__(self) -> int:
        return len(self.value)


@dataclass(frozen=True, eq=False)
class PeopleRows:
    """Rows of people who may have several, to count people instead of rows.

    Example:
        >>> rows = [("ann", "30s", "flu"), ("ann", "30s", "gout"), ("bob", "30s", "flu")]
        >>> counts = FrequencySet.from_rows(["who", "age", "ill"], rows)
        >>> people = PeopleRows(counts, "who", ("age",))
        >>> table = people.table("ill", ["age"])
        >>> table.count.tolist(), table.support.tolist(), people.shares("ill").tolist()
        ([2, 1], [2], [1.0, 0.5])
    """

    counts: FrequencySet
    """Over the columns that are looked at, and who has which values."""

    person: str
    """The column that tells people apart."""

    quasi_identifiers: tuple[str, ...]
    """The columns that make up classes: a person is counted once in each."""

    @cached_property
    def who(self) -> IntArray:
        """The number of the person whose each combination is."""
        return self.counts.codes_of(self.person).astype(np.int64)

    @property
    def n(self) -> int:
        """The number of numbers that people have; some may have no row any more."""
        return len(self.counts.column(self.person).values)

    @cached_property
    def total(self) -> int:
        """All people, every one once."""
        return len(np.unique(self.who))

    def among(self, which: BoolArray) -> int:
        """Return how many people have one of some combinations."""
        return len(np.unique(self.who[which]))

    def of_groups(self, of_item: IntArray, n: int, which: BoolArray | None = None) -> IntArray:
        """Return the people of each of n groups of combinations, every one once.

        Args:
            of_item: The group of each combination.
            n: The number of groups.
            which: The combinations that count; None for all.
        """
        if which is None:
            return people_of(of_item, self.who, n, self.n)
        return people_of(of_item[which], self.who[which], n, self.n)

    def table(self, told: str, known: Sequence[str]) -> ConditionalTable:
        """Return how many people have each value, of those who have the known ones in a row."""
        joint = self._each_once((*known, told))
        behind = self._each_once(known).rows if known else np.array([self.total])
        # Both are in order of their combinations.
        return replace(conditional_table(joint, told, known), support=behind)

    def shares(self, column: str) -> FloatArray:
        """Return the share of people who have each value, each of them once in every class."""
        names = self.quasi_identifiers
        held = self._each_once((*names, *([] if column in names else [column])))
        everyone = len(self.counts.project((*names, self.person)))
        return held.value_counts(column) / max(everyone, 1)

    def _each_once(self, names: Sequence[str]) -> FrequencySet:
        """Return how many people have each combination of some columns."""
        each = self.counts.project((*names, self.person))
        return FrequencySet(each.columns, each.codes, np.ones_like(each.rows)).project(names)


@dataclass(frozen=True, eq=False)
class Rule:
    """Knowing `known` tells `told` with more than alpha, for some people.

    `holds` is Algorithm 1's verdict. A joint rule whose single rules do not all exceed alpha
    does not hold by it, nor does a single rule for which a joint one stands. All are shown
    the same: an adversary does not ask the algorithm.
    """

    networks: tuple[str, ...]
    """Which networks say so: quasi-identifiers, sensitive, all."""

    known: tuple[Column, ...]
    told: Column
    entries: RuleEntries
    holds: bool
    against_arrow: bool = False
    """Whether it runs against an arrow: an adversary can use an edge in both directions."""

    reveals: bool = False
    """Whether what is told is sensitive; else the rule restates the generalisation."""

    levels: RiskLevels = field(default_factory=RiskLevels)
    secrecy: IntArray | None = None
    """How much each value of what is told is a secret; None if all are ordinary."""

    whose: PeopleRows | None = None
    """Whose the rows are, where people may have several."""

    @property
    def columns(self) -> str:
        """The columns it starts from and the one it tells, in words."""
        return f"{', '.join(column.name for column in self.known)} → {self.told.name}"

    @cached_property
    def harm(self) -> IntArray:
        """The level of each entry: its harm to the people it is true of, by the one rule."""
        e = self.entries
        levels = harm_rule(self.levels).levels(e.prior, e.posterior)
        if self.secrecy is None:
            return levels
        # A missing value is the last code, and nothing to hide.
        secrecy = np.append(self.secrecy, int(Secrecy.ORDINARY))[e.value]
        raised = np.minimum(levels + (levels > 0), int(Level.VERY_HIGH))
        levels = np.where(secrecy == Secrecy.SECRET, raised, levels)
        return np.where(secrecy == Secrecy.HARMLESS, 0, levels)

    @cached_property
    def people(self) -> int:
        """The number of people it exposes: it is true of them, and harms them."""
        if self.whose is not None:
            # Who has rows of several entries is one person all the same.
            return self.whose.among(self.matches(self.whose.counts))
        return int(self.entries.rows[self.harm > 0].sum())

    @property
    def strongest(self) -> float:
        """The largest probability among its entries."""
        return float(self.entries.posterior.max(initial=0.0))

    @property
    def level(self) -> str:
        """The level of the entry that harms most."""
        return str(Level(int(self.harm.max(initial=0))))

    @property
    def least_support(self) -> int:
        """The smallest number of rows, or people, one of its entries stands on."""
        return int(self.entries.support.min(initial=np.iinfo(np.int64).max))

    def matches(self, counts: FrequencySet) -> BoolArray:
        """Return which combinations of a table are among the people it exposes."""
        names = [*(column.name for column in self.known), self.told.name]
        mine = np.vstack([self.entries.known, self.entries.value])[:, self.harm > 0]
        theirs = np.array([counts.codes_of(name) for name in names])
        sizes = [len(counts.column(name).values) for name in names]
        both = group(list(np.hstack([mine, theirs])), sizes)
        hit = np.zeros(both.n, dtype=bool)
        hit[both.of_item[: mine.shape[1]]] = True
        matched: BoolArray = hit[both.of_item[mine.shape[1] :]]
        return matched

    def top_entries(self, most: int | None = None) -> list[dict[str, Any]]:
        """Return its entries as plain values, those that expose most people first.

        Those that harm no person come last.
        """
        e = self.entries
        # Once for all entries, not again for each: with thousands of them, that was a fifth of the
        # report of a million rows.
        posterior, lift = e.posterior, e.lift
        order = np.lexsort((np.arange(len(e)), -posterior, -e.rows, self.harm == 0))[:most]
        return [
            {
                "known": {
                    column.name: text_or_none(column.values[code])
                    for column, code in zip(self.known, e.known[:, i].tolist(), strict=True)
                },
                "told": {self.told.name: text_or_none(self.told.values[e.value[i]])},
                "people": int(e.rows[i]),
                "support": int(e.support[i]),
                "prior": float(e.prior[i]),
                "posterior": float(posterior[i]),
                "lift": float(lift[i]),
                "level": str(Level(int(self.harm[i]))),
            }
            for i in order.tolist()
        ]

    def to_dict(self, most: int | None = None) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "networks": list(self.networks),
            "known": [column.name for column in self.known],
            "told": self.told.name,
            **plain_of(self, "holds against_arrow reveals people strongest level"),
            "entries": self.top_entries(most),
        }

    def __str__(self) -> str:
        return (
            f"{self.columns}: up to {percent(self.strongest)} ({self.level}), {self.people} people"
        )


def rules_of(  # noqa: PLR0913 - all but two have a default and are named
    counts: FrequencySet,
    network: Network,
    *,
    name: str = "all",
    sensitive: Sequence[str] = (),
    alpha: float = 0.5,
    support: int = 5,
    prior: float = 0.0,
    levels: RiskLevels | None = None,
    secrecy: Mapping[str, IntArray | None] | None = None,
    whose: PeopleRows | None = None,
) -> list[Rule]:
    """Find the rules of a network that tell something with more than `alpha`.

    Algorithm 1: the rule of a child with one parent holds if an entry of its table exceeds
    alpha. With several parents each parent's own table is looked at; if every one exceeds
    alpha somewhere, the joint rule holds, else the single rules that did. Every rule with
    an entry above alpha is given, with that verdict. Where a sensitive column is a parent,
    the edge is also read against its arrow.

    Its source says "less than the risk level" in words, and `> α` in its steps, which alone fits
    its examples. Its counter goes up with every entry, also of one parent, and is never set back
    to 0; here parents are counted, each once, and for each child from 0.

    Args:
        counts: The table, which may have more columns than the network.
        network: The graph.
        name: What the network is called.
        sensitive: The columns that must not be learned about a person.
        alpha: What a probability must exceed.
        support: Fewest rows with the known values; unseen combinations never count.
        prior: What is added to every cell of the tables that the algorithm reads. Only the
            verdict hangs on it: entries are shares of rows, and people are counted.
        levels: The risk levels.
        secrecy: Per column the secrecy of each known value; None for ordinary ones.
        whose: The rows of people, where they may have several: people are counted then, in entries
            and in support.

    Example:
        >>> rows = [("30s", "flu")] * 4 + [("30s", "gout")] * 6 + [("40s", "flu")] * 5
        >>> counts = FrequencySet.from_rows(["age", "ill"], rows)
        >>> [rule] = rules_of(counts, Network.of(["age", "ill"], [("age", "ill")]), alpha=0.9)
        >>> print(rule)
        age → ill: up to 100 % (moderate), 5 people
    """
    found: list[Rule] = []

    def rule(known: tuple[str, ...], told: str, *, against: bool = False) -> Rule:
        table = (
            conditional_table(counts, told, known) if whose is None else whose.table(told, known)
        )
        behind = table.support[table.combination]
        # A prior takes from the likeliest value: what exceeds alpha with it does so without.
        sure = table.count + prior > alpha * (behind + prior * len(table.child.values))
        return Rule(
            networks=(name,),
            known=tuple(counts.column(one) for one in known),
            told=counts.column(told),
            entries=exceeding_entries(table, shares(told), table.count > alpha * behind, support),
            holds=bool((sure & (behind >= support)).any()) and not against,
            against_arrow=against,
            reveals=told in sensitive,
            levels=levels or RiskLevels(),
            secrecy=(secrecy or {}).get(told),
            whose=whose,
        )

    @cache
    def shares(told: str) -> FloatArray:
        return shares_of(counts, told, whose)

    for child in network.columns:
        parents = network.parents[child]
        singles = [rule((parent,), child) for parent in parents]
        if len(parents) > 1:
            all_exceed = all(single.holds for single in singles)
            # If the joint rule holds it stands for the single ones.
            found += [replace(one, holds=one.holds and not all_exceed) for one in singles]
            found.append(replace(rule(parents, child), holds=all_exceed))
        else:
            found += singles
        found += [rule((child,), parent, against=True) for parent in parents if parent in sensitive]
    return [one for one in found if len(one.entries)]


def exceeding_entries(
    table: ConditionalTable, shares: FloatArray, above: BoolArray, support: int
) -> RuleEntries:
    """Keep the entries that are above a threshold and that enough rows stand behind."""
    behind = table.support[table.combination]
    at = np.flatnonzero(above & (behind >= support))
    known = table.combinations[:, table.combination[at]]
    return RuleEntries(known, table.value[at], table.count[at], behind[at], shares[table.value[at]])


def shares_of(counts: FrequencySet, column: str, whose: PeopleRows | None = None) -> FloatArray:
    """Return the share of each value of a column in a table: of rows, or of people."""
    if whose is not None:
        return whose.shares(column)
    shares: FloatArray = counts.value_counts(column) / max(counts.total, 1)
    return shares


def merge_rules(rules: Sequence[Rule]) -> list[Rule]:
    """Make one rule of those that say the same in several networks; it holds if it does in one.

    A rule along an arrow stands for the same rule against another's.
    """
    found: dict[tuple[frozenset[str], str], Rule] = {}
    for rule in rules:
        key = frozenset(column.name for column in rule.known), rule.told.name
        if key in found:
            first = found[key]
            rule = replace(  # noqa: PLW2901 - the two are one from here on
                first,
                networks=tuple(dict.fromkeys([*first.networks, *rule.networks])),
                holds=first.holds or rule.holds,
                against_arrow=first.against_arrow and rule.against_arrow,
            )
        found[key] = rule
    return list(found.values())


def rank_rules(rules: Sequence[Rule]) -> list[Rule]:
    """Sort rules: those first that reveal something sensitive about most people, most surely.

    Ties go to fewer known columns, then to names.
    """
    return sorted(
        rules,
        key=lambda r: (
            not r.reveals,
            -r.people,
            -r.strongest,
            len(r.known),
            tuple(column.name for column in r.known),
            r.told.name,
        ),
    )


# Facts: the smallest sets of known values that pin a sensitive value.


_Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with the sets of columns looked at so far, and how many there may be."""


def minimal_knowledge(
    counts: FrequencySet,
    told: str,
    known: Sequence[str],
    *,
    alpha: float = 0.5,
    support: int = 5,
    size: int = 3,
    progress: _Progress | None = None,
    whose: PeopleRows | None = None,
) -> list[Fact]:
    """Find all minimal sets of facts that pin a value of a column above alpha.

    Sets of columns are tried from small to large. Rows whose known values fewer than
    `support` rows share, or whose value is pinned by less, are not looked at again: a
    larger set has fewer rows still. Nor is a column that tells nothing new. Missing values
    are not told: "unknown" harms no person.

    Args:
        counts: The table.
        told: The column that must not be learned.
        known: The columns an adversary may know something of.
        alpha: What a probability must exceed.
        support: Fewest rows with the known values.
        size: Most columns known.
        progress: Told how many sets were looked at.
        whose: The rows of people, where they may have several: people are counted then.

    Example:
        >>> rows = [("30s", "f", "flu")] * 5 + [("30s", "m", "gout"), ("40s", "m", "flu")] * 3
        >>> counts = FrequencySet.from_rows(["age", "sex", "ill"], rows)
        >>> facts = minimal_knowledge(counts, "ill", ["age", "sex"], alpha=0.9, support=3)
        >>> for fact in facts:
        ...     print(fact)
        sex=f → ill=flu: 100 % of 5 people (before: 73 %)
        age=40s → ill=flu: 100 % of 3 people (before: 73 %)
        age=30s, sex=m → ill=gout: 100 % of 3 people (before: 27 %)
    """
    walk = _Walk(counts, told, known, alpha, support, whose)
    facts: list[Fact] = []
    for looked, subset in enumerate(walk.subsets(size), start=1):
        facts += walk.look(subset)
        if progress is not None:
            progress(looked, None)
    return sorted(facts, key=lambda f: (-f.people, len(f.known), [n for n, _ in f.known], str(f)))


class _Walk:
    """A walk through sets of columns that remembers which combinations are pinned already."""

    def __init__(
        self,
        counts: FrequencySet,
        told: str,
        known: Sequence[str],
        alpha: float,
        support: int,
        whose: PeopleRows | None,
    ) -> None:
        needed = counts.project([*known, told])
        self._whose = None
        self._shares: FloatArray = shares_of(needed, told, whose)
        if whose is not None:
            needed = whose.counts.project([*known, told, whose.person])
            self._whose = PeopleRows(needed, whose.person, ())
        self._counts = needed
        self._known = list(known)
        self._told = told
        self._alpha = alpha
        self._support = support
        self._value = needed.codes_of(told).astype(np.int64)
        self._n_values = len(needed.column(told).values)
        self._alive: dict[tuple[int, ...], BoolArray] = {}
        """Which combinations may still be pinned by more than these columns."""

        self._groups: dict[tuple[int, ...], int] = {}
        """How many combinations of values these columns have."""

    def subsets(self, size: int) -> Iterator[tuple[int, ...]]:
        """Yield sets of columns from small to large, but none in which no combination is left."""
        for n in range(min(size, len(self._known)) + 1):
            if n > 1:
                # Only the layer below is asked about, so older ones can go.
                self._alive = {s: alive for s, alive in self._alive.items() if len(s) == n - 1}
            for subset in combinations(range(len(self._known)), n):
                below = [subset[:i] + subset[i + 1 :] for i in range(n)]
                if all(part in self._alive for part in below):
                    yield subset

    def look(self, subset: tuple[int, ...]) -> list[Fact]:
        """Find what a set of columns pins, and what is left for larger sets."""
        counts = self._counts
        alive = np.ones(len(counts), dtype=bool)
        for i in range(len(subset)):
            alive &= self._alive[subset[:i] + subset[i + 1 :]]
        if not alive.any():
            return []
        groups = counts.group_by([self._known[i] for i in subset])
        if groups.n in {self._groups[subset[:i] + subset[i + 1 :]] for i in range(len(subset))}:
            # One of the columns tells nothing that the others do not.
            return []
        self._groups[subset] = groups.n
        behind = count_in_groups(counts, self._whose, groups.of_item, groups.n)
        cells = group([groups.of_item, self._value], [groups.n, self._n_values])
        rows = count_in_groups(counts, self._whose, cells.of_item, cells.n)
        there = behind[groups.of_item]
        enough = there >= self._support
        known = np.array([v is not None for v in counts.column(self._told).values])[self._value]
        pinned = enough & known & (rows[cells.of_item] > self._alpha * there)
        left = alive & enough & ~pinned
        if left.any():
            self._alive[subset] = left
        first = cells.first[pinned[cells.first] & alive[cells.first]]
        return [self._fact(subset, int(i), rows[cells.of_item], there) for i in first]

    def _fact(self, subset: tuple[int, ...], item: int, rows: IntArray, support: IntArray) -> Fact:
        *known, told = self._counts.values_at([*(self._known[i] for i in subset), self._told], item)
        return Fact(
            tuple(known),
            told,
            int(rows[item]),
            int(support[item]),
            float(self._shares[self._value[item]]),
        )


def count_in_groups(
    counts: FrequencySet, whose: PeopleRows | None, of_item: IntArray, n: int
) -> IntArray:
    """Return the rows of each of n groups of combinations, or their people.

    Args:
        counts: The table.
        whose: The same rows with people; None counts rows.
        of_item: The group of each combination.
        n: The number of groups.
    """
    return sums(of_item, counts.rows, n) if whose is None else whose.of_groups(of_item, n)


@dataclass(frozen=True)
class WantedKnowledge:
    """What an adversary who knows a person's class would most want to know besides."""

    group: tuple[tuple[str, Value], ...]
    """The class: the quasi-identifiers and their published values."""

    rows: int
    columns: tuple[str, ...]
    """What else to know; nothing if the class alone tells most."""

    told: str
    people: int
    """How many people of the class have their value pinned then."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "class": {name: text_or_none(value) for name, value in self.group},
            **plain_of(self, "rows columns told people"),
        }


def most_wanted(
    counts: FrequencySet,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    *,
    alpha: float = 0.5,
    size: int = 2,
    rule: HarmRule | None = None,
    whose: PeopleRows | None = None,
) -> list[WantedKnowledge]:
    """For each class find the few columns that pin most of its people's sensitive values.

    Only classes where something is pinned are given, those with most people first. Inside
    a class there is no smallest support: any of its people may be the one looked for. Sets of
    columns are tried from small to large, each on the classes where people are left.

    Args:
        counts: The table.
        quasi_identifiers: The columns that make up classes.
        sensitive: The columns that may be known, or be told.
        alpha: What a probability must exceed.
        size: Most columns known besides the class.
        rule: What harms; None counts whatever exceeds alpha.
        whose: The rows of people, where they may have several: people are counted then.

    Example:
        >>> rows = [("A", "state", "single")] * 2 + [("A", "private", "single")]
        >>> rows += [("A", "private", "married")]
        >>> counts = FrequencySet.from_rows(["zip", "work", "marital"], rows)
        >>> [wanted] = most_wanted(counts, ["zip"], ["work", "marital"], alpha=0.9, size=1)[:1]
        >>> wanted.columns, wanted.told, wanted.people
        (('work',), 'marital', 2)
    """
    counts = counts if whose is None else whose.counts
    classes = counts.group_by(quasi_identifiers)
    rows = sums(classes.of_item, counts.rows, classes.n)
    sizes = count_in_groups(counts, whose, classes.of_item, classes.n)
    best = np.zeros(classes.n, dtype=np.int64)
    choice: list[tuple[tuple[str, ...], str]] = [((), "")]
    chosen = np.zeros(classes.n, dtype=np.int64)
    person = None if whose is None else whose.person
    for n in range(size + 1):
        # Where all people are pinned already, more knowledge would add nothing.
        left = np.flatnonzero((best < sizes)[classes.of_item])
        if not len(left):
            break
        rest = FrequencySet(counts.columns, counts.codes[:, left], counts.rows[left])
        for told in sensitive:
            pinned = _PinnedPeople(told, alpha, rule, shares_of(counts, told, whose), person)
            for columns in combinations([s for s in sensitive if s != told], n):
                people = pinned.count(rest, classes.of_item[left], classes.n, columns)
                better = people > best
                best[better] = people[better]
                chosen[better] = len(choice)
                choice.append((columns, told))
    found = []
    for i in np.flatnonzero(best)[np.argsort(-best[best > 0], kind="stable")].tolist():
        values = counts.values_at(quasi_identifiers, int(classes.first[i]))
        columns, told = choice[chosen[i]]
        found.append(WantedKnowledge(values, int(rows[i]), columns, told, int(best[i])))
    return found


@dataclass(frozen=True, eq=False)
class _PinnedPeople:
    """Counts the people of each class whose value is pinned by the class and some columns."""

    told: str
    alpha: float
    rule: HarmRule | None
    shares: FloatArray
    """The share of each value in the whole table."""

    person: str | None = None

    def count(
        self, counts: FrequencySet, of_item: IntArray, n: int, columns: Sequence[str]
    ) -> IntArray:
        """Count them among the rest of the table that is left."""
        whose = None if self.person is None else PeopleRows(counts, self.person, ())
        sizes = [n, *(len(counts.column(name).values) for name in columns)]
        groups = group([of_item, *(counts.codes_of(name) for name in columns)], sizes)
        behind = count_in_groups(counts, whose, groups.of_item, groups.n)
        value, values = counts.codes_of(self.told), counts.column(self.told).values
        cells = group([groups.of_item, value], [groups.n, len(values)])
        rows = count_in_groups(counts, whose, cells.of_item, cells.n)
        told, of = value[cells.first], behind[groups.of_item[cells.first]]
        known = np.array([v is not None for v in values])[told]
        pinned = known & (rows > self.alpha * of)
        if self.rule is not None:
            pinned &= self.rule.levels(self.shares[told], rows / of) > 0
        if whose is not None:
            return whose.of_groups(of_item, n, pinned[cells.of_item])
        return sums(of_item[cells.first[pinned]], rows[pinned], n)
