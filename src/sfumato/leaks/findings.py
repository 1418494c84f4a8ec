"""Findings on a published table: networks, their tables, rules, and what to do about them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from sfumato.counts import FrequencySet, sums
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, UnknownNameError
from sfumato.harm import HarmRule, Level
from sfumato.leaks.breach import listing, show_value
from sfumato.leaks.facts import (
    MOST_FACTS,
    AdversaryColumns,
    Fact,
    Facts,
    each_once,
    find_facts,
    rank_fact,
)
from sfumato.leaks.rules import (
    PeopleRows,
    Rule,
    WantedKnowledge,
    merge_rules,
    minimal_knowledge,
    most_wanted,
    rank_rules,
    rules_of,
)
from sfumato.networks import (
    BifNetwork,
    ConditionalTable,
    Constraints,
    Learner,
    Network,
    empirical,
    infer,
    probability_of,
    tables_of,
)
from sfumato.policy import RiskLevels, harm_rule
from sfumato.showing.content import (
    MOST_ROWS,
    Cell,
    Content,
    ContentTable,
    FineShare,
    Heading,
    Part,
    Sentence,
    Share,
    Showable,
    plain_of,
)
from sfumato.text import join_words, text_or_none
from sfumato.typing import BoolArray, IntArray, Progress, Value, silent


@dataclass(frozen=True)
class Vulnerable:
    """A class in which rules tell the truth about people."""

    group: tuple[tuple[str, Value], ...]
    """The quasi-identifiers and their published values."""

    rows: int
    people: int
    """How many of its people are exposed."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "class": {name: text_or_none(value) for name, value in self.group},
            "rows": self.rows,
            "people": self.people,
        }


@dataclass(frozen=True)
class Advice:
    """What to do about what was found."""

    decouple: tuple[str, ...]
    """Sensitive columns that tell about each other: publish each in a table of its own."""

    generalise: tuple[str, ...]
    """Sensitive columns that quasi-identifiers tell: generalise those classes further."""

    classes: tuple[Vulnerable, ...]
    """The classes whose people are exposed, those with most people first."""

    people: int = 0
    """How many people are exposed in all, every one once."""

    only: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    """Of some of the columns to generalise for, the values that need it; of the others all do."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return plain_of(self, "decouple generalise classes people")

    def __str__(self) -> str:
        if not self.classes:
            return "Nothing that was looked for leaks."
        lines = []
        if self.decouple:
            lines.append(
                f"Decouple {', '.join(self.decouple)}: knowing one of them reveals another, "
                "and generalising quasi-identifiers does not change that."
            )
        if self.generalise:
            lines.append(
                f"Generalise further for {', '.join(self.generalise)}: the quasi-identifiers "
                "alone reveal it. sf.anonymize(..., refine=findings) does it where it is needed."
            )
        lines.append(f"{self.people} people in {len(self.classes)} classes are exposed.")
        return "\n".join(lines)


def advise(
    counts: FrequencySet,
    leaks: Sequence[Rule],
    facts: Sequence[Fact],
    exposed: BoolArray,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    whose: PeopleRows | None = None,
    *,
    alpha: float = 0.5,
) -> Advice:
    """Turn rules and facts that reveal something into advice.

    Args:
        counts: The table; with people, if they may have several rows.
        leaks: Rules that reveal a sensitive value.
        facts: Facts that start from the class, or from sensitive values.
        exposed: The combinations of the people they expose.
        quasi_identifiers: The columns that make up classes.
        sensitive: The columns that must not be learned about a person.
        whose: The same table, to count people in it, where they may have several rows.
        alpha: What a probability must exceed to be mended.
    """
    decouple: set[str] = set()
    generalise: set[str] = set()
    alone: set[str] = set()
    for rule in leaks:
        known = [column.name for column in rule.known]
        inside = [name for name in known if name in sensitive]
        if inside:
            decouple |= {*inside, rule.told.name}
        else:
            generalise.add(rule.told.name)
    for fact in facts:
        if any(name in sensitive for name, _ in fact.known):
            decouple |= {name for name, _ in (*fact.known, fact.told) if name in sensitive}
        else:
            alone.add(fact.told[0])
    return Advice(
        tuple(name for name in sensitive if name in decouple),
        tuple(name for name in sensitive if name in generalise | alone),
        _vulnerable(counts, exposed, quasi_identifiers, whose),
        int(counts.rows[exposed].sum()) if whose is None else whose.among(exposed),
        {name: _not_usual(counts, name, alpha) for name in sorted(alone - generalise)},
    )


def _not_usual(counts: FrequencySet, name: str, alpha: float) -> tuple[Value, ...]:
    """Return the values of a column that not most people have anyway.

    No generalising hides what is more frequent than alpha in the whole table.
    """
    rows = dict(zip(counts.column(name).values, counts.value_counts(name).tolist(), strict=True))
    rows.pop(None, None)
    most = alpha * sum(rows.values())
    return tuple(value for value, n in rows.items() if 0 < n <= most)


def _vulnerable(
    counts: FrequencySet, hit: BoolArray, quasi_identifiers: Sequence[str], whose: PeopleRows | None
) -> tuple[Vulnerable, ...]:
    classes = counts.group_by(quasi_identifiers)
    sizes = sums(classes.of_item, counts.rows, classes.n)
    people = sums(classes.of_item, counts.rows * hit, classes.n)
    if whose is not None:
        people = whose.of_groups(classes.of_item, classes.n, hit)
    found = []
    for i in np.argsort(-people, kind="stable")[: np.count_nonzero(people)].tolist():
        values = counts.values_at(quasi_identifiers, int(classes.first[i]))
        found.append(Vulnerable(values, int(sizes[i]), int(people[i])))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class Inference:
    """The belief of an adversary about one column, given what they know."""

    column: str
    network: Mapping[Value, float]
    """By the network: it also answers for combinations that no row has."""

    counted: Mapping[Value, float]
    """By the rows that match; empty if none does."""

    prior: Mapping[Value, float]
    """Before anything is known: the shares in the table."""

    support: int
    """How many rows match what is known."""

    given: Mapping[Value, float] | None = None
    """By the probabilities that came with a given network: before, and without, the release."""

    def table(self) -> ContentTable:
        """Return what is believed of the likeliest values, before and after."""
        rows: list[list[Cell]] = []
        for value in sorted(self.prior, key=lambda value: -self.network.get(value, 0.0)):
            counted = Share(self.counted.get(value, 0.0)) if self.support else "no row matches"
            believed = [] if self.given is None else [Share(self.given.get(value, 0.0))]
            network = Share(self.network.get(value, 0.0))
            rows.append([show_value(value), Share(self.prior[value]), *believed, network, counted])
        heads: list[str | Heading] = [self.column, "before"]
        heads += [Heading("by the network", bar=20), _AMONG]
        if self.given is not None:
            heads.insert(2, "by the given network")
        return ContentTable.of("", heads, rows, most=_MOST_FACTS)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "column": self.column,
            "support": self.support,
            "values": [
                {
                    "value": text_or_none(value),
                    "prior": self.prior[value],
                    "network": self.network.get(value, 0.0),
                    "counted": self.counted.get(value, 0.0) if self.support else None,
                    **({} if self.given is None else {"given": self.given.get(value, 0.0)}),
                }
                for value in self.prior
            ],
        }


_AMONG = "among the rows that match"


@dataclass(frozen=True, eq=False)
class Findings(Showable):
    """What a published table still tells about people.

    Three networks are learned on it: over the quasi-identifiers, over the sensitive
    columns, and over all of them, which shows what the ones tell about the others.

    Promises: every rule, probability and count is a fact of the published rows. Does not
    promise that nothing else leaks: a dependency too weak to be learned is not reported;
    `facts` looks for those value by value.
    """

    counts: FrequencySet
    """The published table over these columns."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    networks: Mapping[str, Network]
    """By name: quasi-identifiers, sensitive, all."""

    alpha: float = 0.5
    support: int = 5
    levels: RiskLevels = field(default_factory=RiskLevels)
    prior: float = 0.0
    """What is added to every cell of a table; 0 for plain shares."""

    notes: tuple[str, ...] = ()
    """What could not be looked at, and why."""

    secrecy: Mapping[str, IntArray | None] = field(default_factory=dict)
    """Per sensitive column, how much each value is a secret; None if all are ordinary."""

    dealt: bool = False
    """Whether the rows were dealt out by chance, because the release is decoupled."""

    learner: Mapping[str, Any] | None = None
    """How the networks were learned: its name and settings; None if they were given."""

    belief: BifNetwork | None = None
    """What the giver of the networks believed before any release, if that was given too."""

    whose: PeopleRows | None = None
    """Whose the rows are, where people may have several: rules and facts then count people."""

    @property
    def people(self) -> int:
        """All people, every one once; rows, where each is a person."""
        return self.counts.total if self.whose is None else self.whose.total

    @cached_property
    def tables(self) -> Mapping[str, Mapping[str, ConditionalTable]]:
        """The conditional probability tables of each network, by child."""
        return {
            name: tables_of(self.counts, network, prior=self.prior)
            for name, network in self.networks.items()
        }

    @property
    def dependencies(self) -> list[tuple[tuple[str, ...], ConditionalTable]]:
        """The tables of columns that depend on others, once each, with the networks they are of."""
        found: dict[tuple[str, tuple[str, ...]], tuple[tuple[str, ...], ConditionalTable]] = {}
        for network, tables in self.tables.items():
            for table in tables.values():
                if table.parents:
                    key = table.child.name, table.names
                    networks, first = found.get(key, ((), table))
                    found[key] = (*networks, network), first
        return list(found.values())

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """Every rule above alpha: those first that reveal something sensitive to most people."""
        return self._rules(self.support)

    @property
    def _unsupported(self) -> tuple[Rule, ...]:
        """The rules that would reveal something if one row were enough to learn from."""
        if self.dealt:
            return ()
        return tuple(rule for rule in self._rules(1) if rule.reveals and rule.people)

    def _rules(self, support: int) -> tuple[Rule, ...]:
        found = [
            rule
            for name, network in self.networks.items()
            for rule in rules_of(
                self.counts,
                network,
                name=name,
                sensitive=self.sensitive,
                alpha=self.alpha,
                support=support,
                prior=self.prior,
                levels=self.levels,
                secrecy=self.secrecy,
                whose=self.whose,
            )
        ]
        return tuple(rank_rules(merge_rules(found)))

    @property
    def leaks(self) -> tuple[Rule, ...]:
        """The rules that reveal a sensitive value, to the harm of a person."""
        return tuple(rule for rule in self.rules if rule.reveals and rule.people)

    @cached_property
    def counted_facts(self) -> Facts | None:
        """The facts about sensitive values, counted exactly; None without rows to count."""
        if self.dealt or not self.counts.total:
            return None
        return find_facts(
            self._looked_at,
            self.quasi_identifiers,
            self.sensitive,
            rule=harm_rule(self.levels),
            secrecy=self.secrecy,
            person=None if self.whose is None else self.whose.person,
        )

    @cached_property
    def class_facts(self) -> Facts | None:
        """The facts that the class alone tells, counted likewise; None without classes."""
        if self.dealt or not self.counts.total or not self.quasi_identifiers:
            return None
        return find_facts(
            self._looked_at,
            self.quasi_identifiers,
            self.sensitive,
            rule=harm_rule(self.levels),
            secrecy=self.secrecy,
            known=[AdversaryColumns((), with_class=True)],
            person=None if self.whose is None else self.whose.person,
        )

    def _worst_facts(self) -> list[Fact]:
        """Return the worst facts of each column, with the class alone and with more known."""
        most = MOST_FACTS * len(self.sensitive)
        every = (self.class_facts, self.counted_facts)
        found = [fact for facts in every if facts is not None for fact in facts.worst(most=most)]
        return each_once(sorted(found, key=rank_fact))

    @property
    def _looked_at(self) -> FrequencySet:
        """The combinations that rules and facts are about: with people, where they are counted."""
        return self.counts if self.whose is None else self.whose.counts

    @property
    def harmful_facts(self) -> list[Fact]:
        """The worst facts that harm highly, with more than alpha."""
        return [
            fact
            for fact in self._worst_facts()
            if fact.level >= Level.HIGH and fact.posterior > self.alpha
        ]

    @property
    def restatements(self) -> tuple[Rule, ...]:
        """The rules among quasi-identifiers: they restate how the table was generalised."""
        return tuple(rule for rule in self.rules if not rule.reveals)

    @property
    def network(self) -> Network:
        """The network over all columns."""
        return self.networks["all"]

    def infer(self, known: Mapping[str, Value]) -> dict[str, Inference]:
        """Return what an adversary who knows these values believes of every other column.

        The network's answer stands beside the plain share among the rows that match, and
        how many those are. If the network was given with probabilities, what those alone say
        stands there too, unless they do not know a value that is known.
        """
        believed = infer(self.network, self.tables["all"], known)
        given = self._ask_belief(known)
        return {
            column: self._inference(column, known, network, given.get(column))
            for column, network in believed.items()
        }

    def _ask_belief(self, known: Mapping[str, Value]) -> Mapping[str, Mapping[Value, float]]:
        """Return what a given network says by its own probabilities, if it can be asked."""
        if self.belief is None:
            return {}
        theirs = {name: value for name, value in known.items() if name in self.belief.tables}
        try:
            return infer(self.belief.network, self.belief.tables, theirs)
        except (UnknownNameError, InputError):
            # Such as a class of ages where the file has years, or what it calls impossible.
            return {}

    def _inference(
        self,
        column: str,
        known: Mapping[str, Value],
        network: Mapping[Value, float],
        given: Mapping[Value, float] | None,
    ) -> Inference:
        counted = empirical(self.counts, known, column)
        values = self.counts.column(column).values
        shares = self.counts.value_counts(column) / max(self.counts.total, 1)
        prior = dict(zip(values, shares.tolist(), strict=True))
        if given is not None:
            # A file has texts; here each stands for the value that is written so.
            written = {text_or_none(value): share for value, share in given.items()}
            given = {value: written.get(text_or_none(value), 0.0) for value in values}
        return Inference(column, network, counted.probabilities, prior, counted.support, given)

    def breach(self, row: Mapping[str, Value]) -> float:
        """Return the probability of a whole row: the product over the network's tables."""
        return probability_of(self.network, self.tables["all"], row)

    def facts(self, *, size: int = 3) -> list[Fact]:
        """Find what pins a sensitive value above alpha, to the harm of a person; worst first.

        What one or two sensitive values tell, with the class or alone, is counted without a
        smallest support, and the worst facts of each column are given. Beside them stand the
        smallest sets of values of any columns that enough rows support.

        Args:
            size: Most columns an adversary knows something of, beside the class.
        """
        rule = harm_rule(self.levels)
        found = {
            (frozenset(fact.known), fact.told): fact
            for fact in self._worst_facts()
            if fact.posterior > self.alpha
        }
        everything = (*self.quasi_identifiers, *self.sensitive)
        for told in self.sensitive:
            for fact in minimal_knowledge(
                self.counts,
                told,
                [name for name in everything if name != told],
                alpha=self.alpha,
                support=self.support,
                size=size,
                whose=self.whose,
            ):
                judged = replace(fact, level=self._level(fact, rule))
                if judged.level:
                    found.setdefault((frozenset(fact.known), fact.told), judged)
        return each_once(sorted(found.values(), key=rank_fact))

    def _level(self, fact: Fact, rule: HarmRule) -> Level:
        name, value = fact.told
        secrecy = self.secrecy.get(name)
        code = self.counts.column(name).values.index(value)
        judged = rule.judge(
            np.array([fact.prior]),
            np.array([fact.posterior]),
            self.people,
            secrecy=None if secrecy is None else secrecy[[code]],
        )
        return Level(int(judged.levels[0]))

    def most_wanted(self, *, size: int = 2) -> list[WantedKnowledge]:
        """For each class, find what an adversary would most want to know of its people.

        Args:
            size: Most columns known besides the class.
        """
        return most_wanted(
            self.counts,
            self.quasi_identifiers,
            self.sensitive,
            alpha=self.alpha,
            size=size,
            rule=harm_rule(self.levels),
            whose=self.whose,
        )

    def advice(self) -> Advice:
        """Return which columns to decouple, and which classes to generalise further."""
        return advise(
            self._looked_at,
            self.leaks,
            self.harmful_facts,
            self._exposed,
            self.quasi_identifiers,
            self.sensitive,
            self.whose,
            alpha=self.alpha,
        )

    def to_dict(self, *, entries: int | None = 20) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold.

        Args:
            entries: Most entries per rule; None for all.
        """
        return {
            "rows": self.counts.total,
            **plain_of(self, "people quasi_identifiers sensitive alpha support"),
            "levels": dict(self.levels.bounds()),
            "learner": None if self.learner is None else dict(self.learner),
            "prior": self.prior,
            "notes": list(self.notes),
            "networks": {
                name: {
                    "columns": list(network.columns),
                    "edges": [list(edge) for edge in network.edges],
                    "chosen": sorted(list(edge) for edge in network.chosen),
                    "acyclic": network.acyclic,
                }
                for name, network in self.networks.items()
            },
            "rules": [rule.to_dict(entries) for rule in self.rules],
            "facts": [fact.to_dict() for fact in self.harmful_facts],
            "exposed": self.exposed,
            "level": str(self.level),
            "advice": self.advice().to_dict(),
        }

    @cached_property
    def _exposed(self) -> BoolArray:
        """The combinations that a revealing rule is true of, or that a fact is about."""
        exposed = _exposed_by(self.leaks, self._looked_at)
        if self.harmful_facts:
            for facts in (self.class_facts, self.counted_facts):
                exposed |= False if facts is None else facts.harmful
        return exposed

    @property
    def exposed(self) -> int:
        """The number of people whom a rule or a fact tells something about, to their harm."""
        if self.whose is not None:
            return self.whose.among(self._exposed)
        return int(self.counts.rows[self._exposed].sum())

    @property
    def level(self) -> Level:
        """The level of the worst that is told about any person."""
        worst = max((int(rule.harm.max(initial=0)) for rule in self.leaks), default=0)
        return max([Level(worst), *(fact.level for fact in self.harmful_facts)])

    @property
    def headline(self) -> str:
        """The number of rules that reveal something, what facts tell, and of people concerned."""
        told = {fact.told[0]: None for fact in self.harmful_facts}
        facts = f", and facts reveal {join_words([*told])}" if told else ""
        rules = "1 rule reveals" if len(self.leaks) == 1 else f"{len(self.leaks)} rules reveal"
        return (
            f"{rules} a sensitive value with more than "
            f"{self.alpha:g}{facts}: {self.exposed} of {self.people} people"
        )

    def content(self, *, size: int | None = None) -> Content:
        """Return what leaks, what only restates the generalisation, and what to do.

        Args:
            size: Most columns that are known, for facts; None shows those that harm most.
        """
        parts: list[Part] = []
        if self.leaks:
            parts += [rules_table(self.leaks), _entries_table(self.leaks)]
        elif self._unsupported:
            parts.append(Sentence(_unsupported_text(self._unsupported, self.support)))
        if self.restatements:
            parts.append(Sentence(_restatement_text(self.restatements)))
        facts = self.harmful_facts if size is None else self.facts(size=size)
        if facts:
            parts.append(facts_table(facts))
        parts.append(Sentence(str(self.advice())))
        return Content(self.headline, tuple(parts), remarks=tuple(f"Note: {n}" for n in self.notes))

    def __repr__(self) -> str:
        return f"<Findings {self.headline}>"


_MOST_ENTRIES = 3
_MOST_FACTS = 10


def rules_table(rules: Sequence[Rule], most: int = MOST_ROWS) -> ContentTable:
    """Return one line per rule that reveals something; *holds* is Algorithm 1's verdict."""
    behind = f"fewest {_unit(rules)} behind it"
    heads = ("rule", "networks", "holds", Heading("up to", bar=10), "level", "people", behind)
    rows = [
        (
            rule.columns,
            ", ".join(rule.networks),
            "yes" if rule.holds else "no",
            Share(rule.strongest),
            rule.level,
            rule.people,
            rule.least_support,
        )
        for rule in rules
    ]
    return ContentTable.of("", heads, rows, most=most)


def _unsupported_text(rules: Sequence[Rule], support: int) -> str:
    """Return why there is no rule, where fewer rows would have been enough for some."""
    unit, many = _unit(rules), f"{len(rules)} rules have" if len(rules) > 1 else "1 rule has"
    return (
        f"A rule speaks of more people than those counted, so it starts from at least {support} "
        f"{unit}: {many} fewer behind them, such as {rules[0].columns}, and may be chance. "
        "Ask for them with a smaller support (--support 2). Facts need none."
    )


def _unit(rules: Sequence[Rule]) -> str:
    """Return what the rules count."""
    return "people" if any(rule.whose is not None for rule in rules) else "rows"


def _restatement_text(rules: Sequence[Rule]) -> str:
    """Return the rules that reveal nothing, by Algorithm 1's verdict."""
    texts = [f"{len(rules)} rules among the quasi-identifiers restate how they were generalised."]
    for holds, words in ((True, "Of these hold"), (False, "Do not hold")):
        mine = [rule.columns for rule in rules if rule.holds is holds]
        more = " …" if len(mine) > _MOST_RESTATED else ""
        if mine:
            texts.append(f"{words}: {'; '.join(mine[:_MOST_RESTATED])}{more}.")
    return " ".join(texts)


_MOST_RESTATED = 6


def _entries_table(rules: Sequence[Rule]) -> ContentTable:
    """Return the entries that expose most people."""
    rows: list[list[Cell]] = [
        [
            listing(tuple(entry["known"].items())),
            listing(tuple(entry["told"].items())),
            Share(entry["posterior"]),
            Share(entry["prior"]),
            entry["people"],
            entry["support"],
        ]
        for rule in rules[:_MOST_ENTRIES]
        for entry in rule.top_entries(_MOST_ENTRIES)
    ]
    heads = ("known", "told", "how surely", "before", "people", f"of {_unit(rules)}")
    return ContentTable.of("", heads, rows)


def facts_table(facts: Sequence[Fact], title: str = "") -> ContentTable:
    """Return one line per fact."""
    rows = [
        (
            listing(fact.known) or "nothing",
            listing((fact.told, *fact.also)),
            Share(fact.posterior),
            Share(fact.prior),
            fact.people,
        )
        for fact in facts
    ]
    heads = ("known", "learned", "how surely", "before", "people")
    return ContentTable.of(title, heads, rows, most=_MOST_FACTS)


def tables_content(findings: Findings) -> Content:
    """Return the tables of conditional probabilities: what most rows have first, then the rest."""
    tables = tuple(
        _conditional(table, ", ".join(networks)) for networks, table in findings.dependencies
    )
    return Content(f"{len(tables)} tables of conditional probabilities", tables)


def _conditional(table: ConditionalTable, networks: str) -> ContentTable:
    order = np.argsort(-table.support, kind="stable")[:_MOST_COMBINATIONS]
    shares = np.repeat(table.rest[order, None], len(table.child.values), axis=1)
    for at, row in enumerate(order.tolist()):
        entries = slice(table.starts[row], table.starts[row + 1])
        shares[at, table.value[entries]] = table.probability[entries]
    likely = np.argsort(-shares.max(axis=0, initial=0), kind="stable")[:_MOST_VALUES]
    shown = np.sort(likely).tolist()
    # Combinations of no row come last, and of them every value is as likely as any other.
    nobody = table.list_unseen(_MOST_COMBINATIONS - len(order))
    shares = np.vstack([shares, np.full((nobody.shape[1], shares.shape[1]), table.uniform)])
    combinations = np.hstack([table.combinations[:, order], nobody])
    support = [*table.support[order].tolist(), *[0] * nobody.shape[1]]
    rows: list[list[Cell]] = [
        [
            *(
                show_value(parent.values[code])
                for parent, code in zip(table.parents, combinations[:, at], strict=True)
            ),
            *(FineShare(share) for share in shares[at, shown].tolist()),
            n,
        ]
        for at, n in enumerate(support)
    ]
    caption = f"{table.child.name}, given {', '.join(table.names)} ({networks})"
    left = len(table.child.values) - len(shown)
    caption += f"; {left} less likely values are left out" if left else ""
    heads = [*table.names, *(show_value(table.child.values[i]) for i in shown), "rows"]
    made = ContentTable.of(caption, heads, rows, most=None)
    return replace(made, more=len(table) + table.unseen - len(rows))


_MOST_VALUES = 10
_MOST_COMBINATIONS = 1000


def inference_content(inferred: Mapping[str, Inference]) -> Content:
    """Return what an adversary believes of each column, before and after."""
    support = next((one.support for one in inferred.values()), 0)
    tables = tuple(one.table() for one in inferred.values())
    return Content(f"{support} rows match what is known.", tables)


def _exposed_by(rules: Sequence[Rule], counts: FrequencySet) -> BoolArray:
    """Return the combinations of a table about which at least one rule is true."""
    hit = np.zeros(len(counts), dtype=np.bool_)
    for rule in rules:
        hit |= rule.matches(counts)
    return hit


# Learning networks on a published table: which columns are fit for it, and which networks.


KNOWN, TOLD, ALL = "quasi-identifiers", "sensitive", "all"
"""The networks: over what others may know, over what must not be learned, over both."""


class Fit(NamedTuple):
    """The columns that can be learned from, and why others cannot."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    notes: tuple[str, ...]
    first: tuple[str, ...] = ()
    """Columns that come before the others, in this order."""

    @property
    def everything(self) -> tuple[str, ...]:
        """All columns that can be learned from, in order."""
        return _put_first(self.first, (*self.quasi_identifiers, *self.sensitive))

    def in_order(self, first: Sequence[str]) -> "Fit":
        """Return the same columns with some of them before the others.

        >>> Fit(("age", "sex"), ("ill",), ()).in_order(["sex", "ill"]).everything
        ('sex', 'ill', 'age')
        """
        known, told = (_put_first(first, each) for each in (self.quasi_identifiers, self.sensitive))
        return Fit(known, told, self.notes, tuple(first))


def _put_first(first: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    rank = {name: i for i, name in enumerate(first)}
    return tuple(sorted(columns, key=lambda name: rank.get(name, len(rank))))


def fit_columns(
    counts: FrequencySet,
    quasi_identifiers: Collection[str],
    sensitive: Collection[str],
    keep: Collection[str] = (),
) -> Fit:
    """Choose the columns that can be learned from: not those that tell nothing, or everything.

    Args:
        counts: The table.
        quasi_identifiers: The columns others may know.
        sensitive: The columns that must not be learned about a person.
        keep: Columns that stay all the same, because an expert says what they depend on.

    >>> rows = [("f", "ann", "flu"), ("f", "bea", "gout"), ("f", "cat", "flu")]
    >>> fit = fit_columns(FrequencySet.from_rows(["sex", "name", "ill"], rows), ["sex"], ["ill"])
    >>> fit.quasi_identifiers, fit.sensitive, fit.notes[0]
    ((), ('ill',), "column 'sex' has one value only: it depends on nothing")
    """
    notes, unfit = [], set()
    for name in counts.names:
        # A dictionary may hold values of rows that were left out.
        distinct = int(np.count_nonzero(counts.value_counts(name)))
        if distinct < 2:
            unfit.add(name)
            notes.append(f"column {name!r} has one value only: it depends on nothing")
        elif distinct == counts.total > 2:
            unfit.add(name)
            notes.append(
                f"column {name!r} has a different value in every row: it looks like an identifier "
                "left in, and reveals everything about everyone. Drop it, or generalise it."
            )
    if counts.total == 1:
        notes.append("there is one row only: nothing depends on anything in it")
    if not sensitive:
        notes.append("no column is sensitive, so no rule can reveal anything: name some")
    return Fit(
        tuple(name for name in quasi_identifiers if name not in unfit or name in keep),
        tuple(name for name in sensitive if name not in unfit or name in keep),
        tuple(notes),
    )


def learn_networks(
    counts: FrequencySet,
    fit: Fit,
    learner: Learner,
    report: Progress | None = None,
    *,
    wanted: Collection[str] = (KNOWN, TOLD, ALL),
) -> dict[str, Network]:
    """Learn the networks; an arrow never leads from a sensitive column to another kind.

    >>> from sfumato.networks import LEARNERS
    >>> rows = [("30s", "flu"), ("40s", "gout")] * 10
    >>> counts = FrequencySet.from_rows(["age", "ill"], rows)
    >>> found = learn_networks(counts, fit_columns(counts, ["age"], ["ill"]), LEARNERS["ic"]())
    >>> list(found), found["all"].edges
    (['quasi-identifiers', 'sensitive', 'all'], (('age', 'ill'),))
    """
    tiers = (fit.quasi_identifiers, fit.sensitive)
    constrained = learner.constrained and all(tiers)
    parts: dict[str, tuple[tuple[str, ...], Constraints]] = {
        KNOWN: (fit.quasi_identifiers, Constraints()),
        TOLD: (fit.sensitive, Constraints()),
        ALL: (fit.everything, Constraints(tiers=tiers) if constrained else Constraints()),
    }
    told = report or silent
    return {
        name: learner.learn(
            counts.project(columns), constraints, partial(told, f"learn {name}")
        ).network
        for name, (columns, constraints) in parts.items()
        if name in wanted
    }


def parts_of(network: Network, fit: Fit) -> dict[str, Network]:
    """Return a given network over all columns, and the arrows within each kind of them.

    A column that is left out may join two others, and then no arrow says so: the network over all
    columns is the one that was given.

    >>> fit = Fit(("age", "zip"), ("ill",), ())
    >>> drawn = Network.of(["age", "zip", "ill"], [("age", "zip"), ("zip", "ill")])
    >>> {name: part.edges for name, part in parts_of(drawn, fit).items()}["quasi-identifiers"]
    (('age', 'zip'),)
    """
    parts = {KNOWN: fit.quasi_identifiers, TOLD: fit.sensitive, ALL: fit.everything}
    return {
        name: Network.of(columns, [edge for edge in network.edges if {*edge} <= {*columns}])
        for name, columns in parts.items()
    }
