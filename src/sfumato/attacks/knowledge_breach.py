"""The knowledge breach: some sensitive values are known, the others are guessed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import ClassVar, Self

import numpy as np

from sfumato.attacks.base import (
    Attack,
    Beliefs,
    Case,
    Outcome,
    likeliest,
    priors,
)
from sfumato.attacks.lacking import columns_lacked
from sfumato.attacks.similarity import groups_of_values
from sfumato.attacks.target import Target
from sfumato.counts import FrequencySet, sums
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, UnknownColumnError, require_text
from sfumato.harm import HarmRule, Level
from sfumato.leaks.breach import listing
from sfumato.leaks.facts import (
    AdversaryColumns,
    Fact,
    Facts,
    ValueGroups,
    find_facts,
    find_facts_without_each,
    work_for,
)
from sfumato.policy.adversaries import Knows
from sfumato.policy.remedies import GiveRole, PublishApart, Remedy
from sfumato.schema import Role
from sfumato.text import join_words, text_of
from sfumato.typing import BoolArray, FloatArray


@dataclass(frozen=True)
class KnowledgeBreach(Attack):
    """Guess other sensitive values of a person of whom one or two are known.

    Of five women two work for the state; both are single and earn little. Of the table in one
    piece, an adversary who knows that a person works for the state knows the rest. Split into a
    table per column, it is a guess: 2 in 5 are single and 4 in 5 earn little, so both together
    are 32 %, if every way of joining the tables is equally likely. How far the tables teach more is
    told by `DeFinetti`.

    Finds: on a table in one piece, every value of another column that the people with the known
    values have more often than all people, counted exactly and however few they are. Known are,
    unless `known` says so, each published column and each two of them, sensitive or plain, with
    the class. To be told is a value, or a group of values: what is not harmless, what is secret,
    a category that a promise names, a label of the column's hierarchy, and of numbers each of
    the ranges of the width that a policy gives. Without a width all have to be within a tenth of
    the central range, or at one end of all numbers (see `Similarity`). Before, it is the share in
    the whole table. What the class tells by itself is left to the attacks on classes. On a
    decoupled release: in each group the likeliest combination of the other columns, which is the
    product of the largest shares, whatever value is known; before, the product of the shares in
    the whole table.
    Missing values hide no person: they are not told. Known is that a person lacks a value where
    that means something (see `columns_lacked`): no date of death, no second diagnosis. Of people
    with several rows, those count who have the known values in a row, and what they have in such
    rows.
    Does not find: what three known values tell together, or what dependencies add that are known
    from elsewhere or, in a decoupled release, learned from its tables. Where there are too
    many columns and rows to count everything, the outcome says what was left out.
    Columns that others do not know, as the publisher says (`known: false`), are not known here: the
    verdict lists that as an assumption, with the people at risk if it is wrong.

    Args:
        known: The sensitive columns whose values are known besides the class or group. None: on a
            table in one piece each one and each two of them; on a decoupled release none.
        column: The sensitive column that is guessed; None for all others.

    Example:
        >>> from sfumato.decouplings.base import GroupedTables
        >>> rows = [("3*", "state", "single", "low")] * 2
        >>> rows += [("3*", "federal", "married", "low"), ("3*", "private", "divorced", "low")]
        >>> rows += [("3*", "local", "separated", "high"), ("4*", "state", "married", "high")]
        >>> names, sensitive = ["age", "work", "marital", "pay"], ("work", "marital", "pay")
        >>> counts = FrequencySet.from_rows(names, rows)
        >>> before = Target.of_table(counts, ("age",), sensitive)
        >>> after = Target.of_grouped("break-merge", GroupedTables.of(counts, ("age",), sensitive))
        >>> for target in (before, after):
        ...     worst = KnowledgeBreach("work").on(target, HarmRule()).worst
        ...     print(max(worst, key=lambda case: case.people))
        age=3*, work=state (2): marital = single, pay = low, 33 % before, 100 % after
        age=3* (5): marital=single, pay=low, 22 % before, 32 % after
    """

    name: ClassVar[str] = "knowledge-breach"
    how: ClassVar[str] = (
        "Knows the person's class or group and one or two other published values, finds the rows "
        "that fit, and reads the sensitive ones off."
    )
    advice: ClassVar[str] = (
        "Publish the sensitive columns apart: sfumato protect, or sfumato decouple."
    )

    known: str | tuple[str, ...] | None = None
    column: str | None = None

    def remedies(self, outcome: Outcome, rule: HarmRule) -> tuple[Remedy, ...]:
        return (
            PublishApart(outcome.columns),
            *(GiveRole(name, Role.DROPPED) for name in outcome.columns),
        )

    def __post_init__(self) -> None:
        if isinstance(self.known, list):
            object.__setattr__(self, "known", tuple(self.known))
        for name in self.known_columns:
            require_text("known", name)
        if self.column is not None:
            require_text("column", self.column)

    @property
    def known_columns(self) -> tuple[str, ...]:
        """The columns whose values are known."""
        if self.known is None:
            return ()
        return (self.known,) if isinstance(self.known, str) else tuple(self.known)

    def guessed_columns(self, target: Target) -> tuple[str, ...]:
        """Return the columns that are guessed."""
        for name in (*self.known_columns, *(() if self.column is None else (self.column,))):
            others = target.beside if name in self.known_columns else ()
            if name not in (*target.sensitive, *others):
                raise UnknownColumnError(name, target.sensitive, where="the sensitive columns")
        told = tuple(
            name
            for name in target.sensitive
            if name not in self.known_columns and self.column in (None, name)
        )
        together = len(target.sensitive) + len(target.beside)
        if not told or (target.counts is not None and together < 2):
            raise InputError("a knowledge breach needs a sensitive column that is not known.")
        return told

    def beliefs(self, target: Target) -> Beliefs:
        """Return the likeliest combination of each group, or of each known value in each class."""
        if target.grouped is not None:
            return _join_tables(target, self.guessed_columns(target))
        if target.counts is not None and target.person is None:
            told = self.guessed_columns(target)
            return _read_rows(target, target.counts, self.known_columns, told)
        raise InputError(f"a knowledge breach cannot be tried: {self.why_not(target)}.")

    def facts(self, target: Target, rule: HarmRule) -> Facts:
        """Count what is told on a table in one piece; once for all columns."""
        counts = target.counts
        if counts is None:
            raise InputError("facts can only be counted on a table in one piece.")

        def find(each: Target) -> Facts:
            known = [AdversaryColumns(self.known_columns, with_class=True)]
            if not self.known_columns:
                known = sets_of_values(_telling(each, counts))
            return facts_of(each, counts, known, rule)

        return target.memoize(("facts", rule, self.known_columns), find)

    def on(self, target: Target, rule: HarmRule) -> Outcome:
        told = self.guessed_columns(target)
        if target.grouped is not None or target.counts is None:
            beliefs = self.beliefs(target)
            if target.grouped is not None:
                beliefs = replace(beliefs, find=target.find_classes)
            return beliefs.outcome(self, ", ".join(told), rule)
        facts = self.facts(target, rule)
        # Who knows more than those who count is no reason; who they find is told all the same.
        levels = [facts.levels_of(told, n) for n in range(target.against.values + 1)]
        people = target.count_at_worst(np.max(levels, axis=0), len(Level)).tolist()
        worst = tuple(sorted(map(_case, facts.worst(told)), key=lambda case: -case.level))
        settings = self.params()
        settings.pop("column", None)
        return Outcome.of_levels(
            self,
            ", ".join(told),
            people,
            worst,
            rule,
            of=target.classes.n_people,
            unreached="; ".join(filter(None, [facts.note, _unread(target)])),
            unreached_by=_least_unreached(target, facts),
            settings=settings,
            advice=self.advice,
            found=target.find_rows(found_by(facts, told)),
        )

    @classmethod
    def against(cls, target: Target, rule: HarmRule) -> list[Self]:  # noqa: ARG003 - all alike
        if target.grouped is not None:
            return [cls(name) for name in target.sensitive] if len(target.sensitive) > 1 else []
        if target.counts is None or not target.counts.total:
            return []
        return [cls(column=name) for name in target.sensitive if {*target.knowable} - {name}]

    @classmethod
    def why_not(cls, target: Target) -> str:
        if not {*target.knowable} - {*target.sensitive[:1]} and target.grouped is None:
            return "others may know no other column that could reveal a sensitive one"
        if len(target.sensitive) < 2:
            return "there are fewer than two sensitive columns, so none can reveal another"
        if target.counts is not None:
            return "there is no person in the table"
        return "the sensitive columns are not in tables of their own"

    @classmethod
    def example(cls) -> Self:
        return cls("disease")


def _telling(target: Target, counts: FrequencySet) -> tuple[str, ...]:
    """Return the columns that others may know, but for those of which each class has one value.

    Who knows the class knows it already: such a value tells nothing, alone or with another.
    """
    quasi = target.quasi_identifiers
    n = counts.group_by(quasi).n
    return tuple(name for name in target.knowable if counts.group_by((*quasi, name)).n > n)


def sets_of_values(columns: Sequence[str]) -> list[AdversaryColumns]:
    """Return each column and each two of them, as they are known with the class."""
    return [
        AdversaryColumns(names, with_class=True)
        for n in (1, 2)
        for names in combinations(columns, n)
    ]


def facts_of(
    target: Target,
    counts: FrequencySet,
    known: Sequence[AdversaryColumns],
    rule: HarmRule,
    *,
    told: Sequence[str] | None = None,
    share: int = 1,
    examples: bool = True,
) -> Facts:
    """Count what some known values tell of sensitive columns, or of others.

    Args:
        target: The release.
        counts: Its rows.
        known: What is known besides the class.
        rule: What harms.
        told: The columns that are told; None for the sensitive ones.
        share: How many such questions are asked together: each gets its part of the work.
        examples: Whether the worst facts are kept to be shown, or only how much harms whom.
    """
    told = target.sensitive if told is None else told
    beside = tuple(dict.fromkeys(name for each in known for name in each.columns))
    described = {n: target.classes.counts_of(n) for n in told if n in target.sensitive}
    return find_facts(
        counts,
        target.quasi_identifiers,
        told,
        rule=rule,
        beside=beside,
        lacked=_columns_lacked(target, counts, (*told, *beside)),
        secrecy={name: each.column.secrecy for name, each in described.items()},
        groups={name: _groups_of(target, name) for name in described},
        known=known,
        budget=work_for(counts) // share,
        person=target.person,
        examples=examples,
    )


def facts_without_each(
    target: Target,
    counts: FrequencySet,
    asked: Mapping[str, Sequence[AdversaryColumns]],
    rule: HarmRule,
) -> Iterator[tuple[str, Facts]]:
    """Count, for some columns, what is told of all sensitive ones but that; yield levels alone.

    Args:
        target: The release.
        counts: Its rows.
        asked: Per column that is not told, what is known besides the class.
        rule: What harms.
    """
    told = target.sensitive
    known = (name for sets in asked.values() for each in sets for name in each.columns)
    beside = tuple(name for name in dict.fromkeys(known) if name not in told)
    return find_facts_without_each(
        counts,
        target.quasi_identifiers,
        told,
        asked,
        rule=rule,
        beside=beside,
        lacked=_columns_lacked(target, counts, (*told, *beside)),
        secrecy={name: target.classes.counts_of(name).column.secrecy for name in told},
        groups={name: _groups_of(target, name) for name in told},
        budget=work_for(counts) // len(asked),
        person=target.person,
    )


def _columns_lacked(target: Target, counts: FrequencySet, names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of which others may know that a person lacks a value."""
    if target.classes.overlap is not None:
        # The policy says that no one knows which cells of a row are missing.
        return ()
    every = (*target.sensitive, *target.beside)
    # What a person has twice counts once.
    told = counts if target.person is None else replace(counts, rows=np.ones_like(counts.rows))
    found = target.memoize(("columns lacked",), lambda _: columns_lacked(told, every))
    return tuple(name for name in names if name in found)


def _groups_of(target: Target, name: str) -> list[ValueGroups]:
    """Return the groups of values of a sensitive column, for whatever facts are counted."""
    key = ("groups of values", name)
    return target.memoize(key, lambda each: groups_of_values(each, each.classes.counts_of(name)))


def found_by(facts: Facts, told: Sequence[str]) -> dict[Knows, BoolArray]:
    """Return of which rows too much is told, by how many values are known besides the class."""
    return {
        knows: facts.levels_of(told, knows.values) == Level.VERY_HIGH
        for knows in (Knows.ONE_VALUE, Knows.TWO_VALUES)
    }


def _least_unreached(target: Target, facts: Facts) -> Knows:
    """Return the adversary who knows least of those for whom some columns were not tried."""
    fewest = min((len(each.columns) for each in facts.left), default=1)
    return next(each for each in Knows if each.values >= (1 if target.unread else fewest))


def _unread(target: Target) -> str:
    """Return which published columns are not known here, though others may know them."""
    if not target.unread:
        return ""
    return f"{join_words([repr(name) for name in target.unread])} was not looked at"


def _case(fact: Fact) -> Case:
    """Return a fact as the case of an outcome."""
    told = (f"{name} = {text_of(value)}" for name, value in (fact.told, *fact.also))
    return Case(
        dict(fact.known), fact.support, ", ".join(told), fact.prior, fact.posterior, fact.level
    )


def _join_tables(target: Target, told: tuple[str, ...]) -> Beliefs:
    """Join the tables of a decoupled release: shares multiply, the known value tells nothing."""
    counts = [target.classes.counts_of(name) for name in told]
    guesses = [likeliest(each) for each in counts]

    def belief(at: int) -> str:
        codes = [int(guess.value[at]) for guess in guesses]
        values = [
            each.column.values[code] for each, code in zip(counts, codes, strict=True) if code >= 0
        ]
        return listing(tuple(zip(told, values, strict=True))) if min(codes) >= 0 else "nothing"

    return Beliefs(
        target.classes.rows,
        np.prod([guess.prior for guess in guesses], axis=0),
        np.prod([guess.posterior for guess in guesses], axis=0),
        target.who,
        belief,
    )


def _read_rows(
    target: Target, counts: FrequencySet, known: tuple[str, ...], told: tuple[str, ...]
) -> Beliefs:
    """Count in a table in one piece: rows of a class that have the known values."""
    given = (*target.quasi_identifiers, *known)
    table = _without_missing(counts, (*told, *known))
    table = table.project([*given, *told])
    cells = table.group_by(given)
    prior = _priors(target, table, told)
    # The last of each cell is its commonest combination, and of equals the rarest elsewhere.
    order = np.lexsort((-prior, table.rows, cells.of_item))
    best = np.zeros(cells.n, dtype=np.int64)
    best[cells.of_item[order]] = order
    rows = sums(cells.of_item, table.rows, cells.n)

    return Beliefs(
        rows,
        prior[best],
        table.rows[best] / rows,
        lambda at: dict(table.values_at(given, int(best[at]))),
        lambda at: listing(table.values_at(told, int(best[at]))),
    )


def _without_missing(counts: FrequencySet, names: tuple[str, ...]) -> FrequencySet:
    absent = np.zeros(len(counts), dtype=bool)
    for name in names:
        absent |= counts.codes_of(name) == counts.column(name).missing
    return counts.without(absent)


def _priors(target: Target, table: FrequencySet, told: tuple[str, ...]) -> FloatArray:
    """Return the product of the shares that the values of each row have in the whole table."""
    prior = np.ones(len(table))
    for name in told:
        # Missing is the last code, so that known codes are places among the known values.
        prior *= priors(target.classes.counts_of(name))[table.codes_of(name)]
    return prior
