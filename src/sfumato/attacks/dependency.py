"""The dependency attack: columns that tell a sensitive value, found by a Bayesian network."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, NamedTuple, Self

import numpy as np

from sfumato.attacks.base import MOST_CASES, Attack, Case, Outcome, priors
from sfumato.attacks.target import Target
from sfumato.classes import ValueCounts
from sfumato.counts import Column, FrequencySet, group
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, UnknownColumnError, require_int, require_text
from sfumato.harm import HarmRule, Level, chance_of_values
from sfumato.leaks.findings import ALL, TOLD, fit_columns, learn_networks
from sfumato.leaks.rules import PeopleRows, Rule, merge_rules, rules_of
from sfumato.networks import LEARNERS, Network
from sfumato.policy.remedies import GiveRole, PublishApart, Remedy
from sfumato.schema import Role
from sfumato.text import text_of
from sfumato.typing import BoolArray, CodeArray, FloatArray, IntArray


@dataclass(frozen=True)
class Dependency(Attack):
    """Learn which columns depend on which, and guess a sensitive value from what is known.

    Among twenty people with different jobs all who work for the state are single. Who knows that
    one of them works for the state knows that the person is single, whatever class the person
    is in: the job is sensitive itself, and tells on the other.

    Two Bayesian networks are learned on the published rows, over the sensitive columns and over
    all. Each edge at the column is a rule, in both directions, and so are all its parents
    together: given the known values, each value of the column has the share that it has in
    the rows with them.

    Finds: for each person the known values of whose row a rule starts from, what it tells.
    Missing values are left out of the shares, as in the other attacks. Where people have several
    rows, shares are of people with such a row, each counted once.
    Does not find: what differs from class to class, what depends on a rare value, or what fewer
    than `support` rows say, which `KnowledgeBreach` counts; or what the whole class tells, which
    the attacks on classes find. A release in several tables has no rows to learn on.

    Reference: Verma and Pearl, "Equivalence and Synthesis of Causal Models", 1990

    Args:
        column: The sensitive column.
        support: Fewest rows with the known values; 1 or more.
        learner: How the networks are learned; see `sf.networks.LEARNERS`.

    Example:
        >>> rows = [("3*", "state", "single"), ("3*", "private", "married")] * 10
        >>> counts = FrequencySet.from_rows(["age", "work", "marital"], rows)
        >>> target = Target.of_table(counts, ("age",), ("work", "marital"))
        >>> outcome = Dependency("marital").on(target, HarmRule())
        >>> print(outcome)
        dependency(marital): 20 of 20 people at risk; strongest belief 100 %, 50 % before
        >>> print(outcome.worst[0])
        work=private (10): marital = married, 50 % before, 100 % after
    """

    name: ClassVar[str] = "dependency"
    how: ClassVar[str] = (
        "Learns from the published rows which columns depend on which, and guesses a value from "
        "others that are known of the person, sensitive ones too."
    )
    advice: ClassVar[str] = "Publish them apart: sfumato decouple."

    column: str
    support: int = 5
    learner: str = "ic"

    def remedies(self, outcome: Outcome, rule: HarmRule) -> tuple[Remedy, ...]:
        return (PublishApart(outcome.columns), GiveRole(self.column, Role.DROPPED))

    def __post_init__(self) -> None:
        require_text("column", self.column)
        require_int("support", self.support, at_least=1)
        LEARNERS[self.learner]  # an unknown one is refused with the nearest name

    def rules(self, target: Target) -> list[Rule]:
        """Return the rules that tell the column, with all they tell that was not known before."""
        counts = _rows_of(target)
        if self.column not in target.sensitive:
            raise UnknownColumnError(self.column, target.sensitive, where="the sensitive columns")
        missing = counts.column(self.column).missing
        known = counts.without(counts.codes_of(self.column) == missing)
        if not known.total:
            return []
        whose = None
        if target.person is not None:
            whose = PeopleRows(known, target.person, target.quasi_identifiers)
        found = [
            rule
            for network in target.memoize(("networks", self.learner), self._learn)
            for rule in rules_of(
                known,
                _around(network, self.column),
                sensitive=(self.column,),
                alpha=0,
                support=self.support,
                whose=whose,
            )
            if rule.told.name == self.column
            and {column.name for column in rule.known}.isdisjoint(target.unknown)
        ]
        before = priors(target.classes.counts_of(self.column))
        return [_telling(_with_prior(rule, before)) for rule in merge_rules(found)]

    def _learn(self, target: Target) -> list[Network]:
        """Learn the networks once for all columns."""
        counts = _rows_of(target)
        fit = fit_columns(counts, target.quasi_identifiers, target.sensitive)
        # With one sensitive column there is nothing to learn among the sensitive ones.
        wanted = [TOLD] * (len(fit.sensitive) > 1)
        wanted += [ALL] * (len(fit.quasi_identifiers + fit.sensitive) > 1)
        learner = LEARNERS[self.learner]()
        return list(learn_networks(_pool_rare(counts), fit, learner, wanted=wanted).values())

    def on(self, target: Target, rule: HarmRule) -> Outcome:
        counts = _rows_of(target)
        values = target.classes.counts_of(self.column)
        everyone = target.classes.n_people
        beliefs = [_beliefs(found, values, everyone, rule) for found in self.rules(target)]
        levels = np.zeros(len(counts), dtype=np.int64)
        for each in beliefs:
            for level in (Level.MODERATE, Level.HIGH, Level.VERY_HIGH):
                here = _matching(counts, each.rule, each.levels == level)
                levels[here] = np.maximum(levels[here], level)
        cases = _worst(beliefs)
        params = self.params()
        params.pop("column")
        people = target.count_at_worst(levels, len(Level)).tolist()
        return Outcome.of_levels(
            self,
            self.column,
            people,
            cases,
            rule,
            of=everyone,
            note="" if cases else "no other column was found to predict it",
            settings=params,
            advice=self.advice,
            # What it learns of groups that are large enough is counted, exactly, by
            # knowledge-breach; here it is explained.
            judged=False,
        )

    @classmethod
    def against(cls, target: Target, rule: HarmRule) -> list[Self]:  # noqa: ARG003 - all alike
        if target.counts is None or not target.counts.total:
            return []
        private = {target.person, target.household}
        if len([name for name in target.counts.names if name not in private]) < 2:
            return []
        return [cls(column) for column in target.sensitive]

    @classmethod
    def why_not(cls, target: Target) -> str:
        if target.counts is None:
            return "the release has no rows in one piece, from which dependencies could be learned"
        if target.sensitive:
            return "there is no person in the table, or nothing but one column"
        return super().why_not(target)

    @classmethod
    def example(cls) -> Self:
        return cls("disease")


class _Beliefs(NamedTuple):
    """What a rule tells, and how much each entry harms."""

    rule: Rule
    levels: IntArray


def _rows_of(target: Target) -> FrequencySet:
    if target.counts is None:
        raise InputError(f"dependency cannot be tried: {Dependency.why_not(target)}.")
    counts = target.counts
    if target.person is None:
        return counts
    # What a person has twice is learned from once.
    return FrequencySet(counts.columns, counts.codes, np.ones_like(counts.rows))


_VALUES = 64
"""The most values of a column that networks are learned on; rarer ones are taken together."""


def _pool_rare(counts: FrequencySet) -> FrequencySet:
    """Take the rare values of a column for one, where it has many.

    Which values depend on which is learned from those that many people have; where a thousand
    values of two people each are told apart, everything seems to depend on everything. The rules
    are then read from the rows as they are.
    """
    columns, codes = list(counts.columns), list(counts.codes)
    for at, column in enumerate(counts.columns):
        if len(column.values) <= _VALUES:
            continue
        rows = counts.value_counts(column.name)
        kept = np.sort(np.lexsort((np.arange(len(rows)), -rows))[:_VALUES])
        number = np.full(len(rows), len(kept), dtype=np.int32)
        number[kept] = np.arange(len(kept))
        columns[at] = Column(column.name, (*(column.values[i] for i in kept.tolist()), "rarer"))
        codes[at] = number[codes[at]]
    return FrequencySet(tuple(columns), np.array(codes, dtype=np.int32), counts.rows)


def _around(network: Network, column: str) -> Network:
    """Keep the edges at a column."""
    if column not in network.columns:
        return Network.of([], [])
    edges = [edge for edge in network.edges if column in edge]
    return Network.of(list(dict.fromkeys([column, *sum(edges, ())])), edges)


def _with_prior(rule: Rule, before: FloatArray) -> Rule:
    """Replace the prior of a rule by that of the whole table, as the other attacks do."""
    # Missing is the last code, so that known codes are places among the known values.
    return replace(rule, entries=replace(rule.entries, prior=before[rule.entries.value]))


def _telling(rule: Rule) -> Rule:
    """Keep the entries by which something is learned."""
    e, tells = rule.entries, rule.entries.tells
    kept = replace(
        e,
        known=e.known[:, tells],
        value=e.value[tells],
        rows=e.rows[tells],
        support=e.support[tells],
        prior=e.prior[tells],
    )
    return replace(rule, entries=kept)


def _beliefs(found: Rule, told: ValueCounts, people: int, rule: HarmRule) -> _Beliefs:
    """Judge the worst entry of each combination of known values; the others are not guessed."""
    e = found.entries
    cells = group(list(e.known), [len(column.values) for column in found.known], n=len(e))
    best = np.zeros(cells.n, dtype=np.int64)
    secrecy = None if told.column.secrecy is None else told.column.secrecy[e.value]
    alone = rule.judge(e.prior, e.posterior, people, secrecy=secrecy).levels
    order = np.lexsort((e.posterior, alone, cells.of_item))
    best[cells.of_item[order]] = order
    reference = told.reference[:-1]
    marked = reference[e.value[best]]
    total = told.known_total
    chance = chance_of_values(rule, e.support[best], e.rows[best], marked, reference, total=total)
    judged = rule.judge(
        e.prior[best],
        e.posterior[best],
        people,
        secrecy=None if secrecy is None else secrecy[best],
        chance=chance,
        learned=True,
    )
    levels = np.zeros(len(e), dtype=np.int64)
    levels[best] = judged.levels
    return _Beliefs(found, levels)


def _matching(counts: FrequencySet, rule: Rule, entries: BoolArray) -> BoolArray:
    """Return the combinations that some entries of a rule start from."""
    mine: CodeArray = rule.entries.known[:, entries]
    theirs = np.array([counts.codes_of(column.name) for column in rule.known])
    sizes = [len(column.values) for column in rule.known]
    both = group(list(np.hstack([mine, theirs])), sizes)
    hit = np.zeros(both.n, dtype=bool)
    hit[both.of_item[: mine.shape[1]]] = True
    matched: BoolArray = hit[both.of_item[mine.shape[1] :]]
    return matched


def _worst(beliefs: Sequence[_Beliefs]) -> tuple[Case, ...]:
    """Return the worst entries of all rules: those that put people at risk, then the surest."""
    found = []
    for rule, levels in beliefs:
        e = rule.entries
        order = np.lexsort((-e.support, e.prior, -e.posterior, -levels))[:MOST_CASES].tolist()
        found += [_case(rule, i, Level(int(levels[i]))) for i in order]
    found.sort(key=lambda each: (-each.level, -each.posterior, -each.gain, -each.people))
    return tuple(found[:MOST_CASES])


def _case(rule: Rule, at: int, level: Level) -> Case:
    e = rule.entries
    who = {
        column.name: column.values[code]
        for column, code in zip(rule.known, e.known[:, at].tolist(), strict=True)
    }
    told = f"{rule.told.name} = {text_of(rule.told.values[e.value[at]])}"
    return Case(who, int(e.support[at]), told, float(e.prior[at]), float(e.posterior[at]), level)
