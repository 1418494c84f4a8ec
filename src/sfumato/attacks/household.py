"""The household attack: members of a household know each other's values."""

from dataclasses import replace
from typing import ClassVar, NamedTuple, Self

import numpy as np

from sfumato.attacks.base import (
    MOST_CASES,
    Attack,
    Beliefs,
    Case,
    Outcome,
    is_value,
    secrecy_of,
)
from sfumato.attacks.target import Target
from sfumato.classes import MISSING, ValueCounts, sensitive_codes
from sfumato.counts import FrequencySet, group, number_keys, sums
from sfumato.counts.people import ClassPeople
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, require_text
from sfumato.harm import HarmRule, Level, chance_of_values
from sfumato.models import RecursiveCLDiversity
from sfumato.policy.remedies import PromiseMore, Remedy
from sfumato.typing import BoolArray, FloatArray, IntArray

_NO_HOUSEHOLDS = (
    "nothing says who lives together (household in the policy, and for a release its people file)"
)


@dataclass(frozen=True)
class HouseholdKnowledge(Attack):
    """Remove the rows of a person's household from the person's class, and guess from the rest.

    A class has three people: one with flu, two with HIV. The one with flu is married to one of the
    others, and so knows what is left when their own row is taken away.

    The adversary is a member of the household, or knows as much: the sensitive values of all
    members but one, and so the rows that are theirs. From the class of the one who is left they
    take the rows of those who are in it too. What is believed without the release is
    conditioned on the same: these people are left out of the whole table. Rows of a household are
    not linked in what is published, and nothing else about it is used. Missing values hide no
    person, and people without a household live alone.

    Finds: for every person the value that harms most and that knowing the household made likelier
    than the class alone does; exactly. The settings say how many households have a member at risk.
    Does not find: what runs in families, such as a disease that is inherited; what a household
    shares, such as an income that is the same for all; what neighbours know. Who tells the values
    of a household tells them: who is left is the one who did not.

    Reference: Tao, Xiao, Li and Zhang, "On Anti-Corruption Privacy Preserving Publication", 2008,
    doi:10.1109/ICDE.2008.4497481

    Args:
        column: The sensitive column.

    Example:
        >>> rows = [("3*", "flu", 1), ("3*", "hiv", 1), ("3*", "hiv", 2)]
        >>> rows += [("4*", "flu", None)] * 3
        >>> counts = FrequencySet.from_rows(["age", "ill", "home"], rows)
        >>> target = Target.of_table(counts, ("age",), ("ill",), household="home")
        >>> print(HouseholdKnowledge("ill").on(target, HarmRule()).worst[0])
        age=3* (1): ill = hiv, 40 % before, 100 % after
    """

    name: ClassVar[str] = "household"
    how: ClassVar[str] = (
        "Knows the sensitive values of all others of the person's household, removes their rows, "
        "and takes the likeliest value of the rest of the class."
    )
    advice: ClassVar[str] = (
        "Promise larger classes and more diversity: models: [{{model: recursive-cl-diversity, "
        "column: {column}, c: 2, l: 4}}]."
    )

    column: str

    def remedies(self, outcome: Outcome, rule: HarmRule) -> tuple[Remedy, ...]:
        return (PromiseMore((RecursiveCLDiversity(self.column, 2, 4),)),)

    def __post_init__(self) -> None:
        require_text("column", self.column)

    @classmethod
    def against(cls, target: Target, rule: HarmRule) -> list[Self]:  # noqa: ARG003 - all alike
        if target.household is None or target.counts is None:
            return []
        return [cls(column) for column in target.sensitive]

    @classmethod
    def why_not(cls, target: Target) -> str:
        if target.household is None or target.counts is None:
            return _NO_HOUSEHOLDS
        return super().why_not(target)

    def on(self, target: Target, rule: HarmRule) -> Outcome:
        counts, household = target.counts, target.household
        if household is None or counts is None:
            raise InputError(f"household cannot be tried: {_NO_HOUSEHOLDS}.")
        told = target.classes.counts_of(self.column)
        victims = _Victims.of(target, counts, household, self.column)
        found = _believe(victims, told, rule)
        everyone = target.classes.n_people
        class_id, value = victims.class_id[found.victim], found.value
        secrecy = secrecy_of(told, value)
        levels = rule.judge(
            found.prior, found.posterior, everyone, applies=found.grows, secrecy=secrecy
        ).levels
        # The last of each person is what harms most; of equals the likelier, the rarer.
        best = np.full(len(victims.class_id), -1, dtype=np.int64)
        order = np.lexsort((-found.prior, found.posterior, levels, found.victim))
        best[found.victim[order]] = order
        some = np.flatnonzero(best >= 0)
        at = best[some]
        chance = chance_of_values(
            rule,
            found.rest[at],
            found.rows[at],
            found.marked[at],
            told.reference[:-1],
            total=told.known_total,
        )
        beliefs = Beliefs(
            victims.people[some],
            found.prior[at],
            found.posterior[at],
            lambda i: target.who(int(class_id[at[i]])),
            is_value(told, value[at]),
            None if secrecy is None else secrecy[at],
            chance,
            of=everyone,
            applies=found.grows[at],
            people=victims.persons(some),
        )
        outcome = beliefs.outcome(self, self.column, rule)
        judged = rule.judge(
            beliefs.prior,
            beliefs.posterior,
            everyone,
            applies=beliefs.applies,
            secrecy=beliefs.secrecy,
            chance=chance,
        ).levels
        level = np.zeros(len(victims.class_id), dtype=np.int64)
        level[some] = judged
        homes = len(np.unique(victims.household[level == Level.VERY_HIGH]))
        note = (
            f"{homes} of {victims.homes} households have a member at risk, by what the others of "
            "it know; rows of a household are not linked in the release"
        )
        settings = {"households": homes, "of_households": victims.homes}
        worst = _worst(beliefs, class_id[at], value[at], judged)
        return replace(outcome, note=note, settings=settings, worst=worst)

    @classmethod
    def example(cls) -> Self:
        return cls("disease")


def _worst(
    beliefs: Beliefs, class_id: IntArray, value: IntArray, levels: IntArray
) -> tuple[Case, ...]:
    """Return the worst cases; people of a class of whom the same is believed are one."""
    prior, posterior = beliefs.prior, beliefs.posterior
    figures = [np.unique(each, return_inverse=True)[1].ravel() for each in (prior, posterior)]
    codes = [class_id, value, *figures]
    alike = group(codes, [int(each.max(initial=0)) + 1 for each in codes], n=len(class_id))
    first, people = alike.first, sums(alike.of_item, np.asarray(beliefs.rows), alike.n)
    gain = posterior - prior
    order = np.lexsort((-people, -gain[first], -posterior[first], -levels[first]))[:MOST_CASES]
    return tuple(
        Case(
            beliefs.who(i),
            n,
            beliefs.believed(i),
            float(prior[i]),
            float(posterior[i]),
            Level(int(levels[i])),
        )
        for i, n in zip(first[order].tolist(), people[order].tolist(), strict=True)
        if posterior[i] > 0
    )


class _Holdings(NamedTuple):
    """How many have each value, for some numbered things: looked up by number and value."""

    key: IntArray
    people: IntArray
    width: int

    @classmethod
    def of(cls, number: IntArray, value: IntArray, people: IntArray, width: int) -> Self:
        """Add up the people of each number and value; unknown values are left out."""
        known = value != MISSING
        size = (int(number.max(initial=0)) + 1) * width
        pairs = number_keys(number[known] * width + value[known], size)
        return cls(pairs.keys, sums(pairs.of_item, people[known], pairs.n), width)

    def at(self, number: IntArray, value: IntArray) -> IntArray:
        """Return the people of some numbers and values, 0 where there is no such pair."""
        if not len(self.key):
            return np.zeros(len(number), dtype=np.int64)
        wanted = number * self.width + value
        place = np.minimum(np.searchsorted(self.key, wanted), len(self.key) - 1)
        return np.where(self.key[place] == wanted, self.people[place], 0)


@dataclass(frozen=True, eq=False)
class _Victims:
    """People with others of their household in their class, and what these know.

    Where rows are people, those of a class and household who have the same value are one entry.
    """

    class_id: IntArray
    household: IntArray
    people: IntArray
    """How many people each entry is."""

    others: IntArray
    """The others of the household whose rows are taken from the class."""

    everywhere: IntArray
    """The others of the household who are taken from the whole table."""

    homes: int
    """All households."""

    person: IntArray | None
    """Whose each entry is, where people may have several rows."""

    place: IntArray
    """The household in one class that each entry is of."""

    own: IntArray
    """The number of each entry in `own_here`."""

    held_here: _Holdings
    """The people of a household in one class who have each value."""

    held_anywhere: _Holdings
    """The same of a household in all classes, each once per class."""

    own_here: _Holdings
    """What a person has of it themselves."""

    own_anywhere: _Holdings
    owner: IntArray
    """The number of each entry in `own_anywhere`."""

    @classmethod
    def of(cls, target: Target, counts: FrequencySet, household: str, column: str) -> "_Victims":
        home = counts.column(household)
        mine = counts.without(counts.codes_of(household) == home.missing)
        class_id = target.class_of(mine)
        homes = mine.codes_of(household).astype(np.int64)
        value = sensitive_codes(mine, column, folded=False)
        width = max(len(counts.column(column).values), 1)
        here = group([class_id, homes], [len(target.classes), len(home.values)], n=len(mine))
        if target.person is None:
            who, size = value + 1, width + 1
            rows = mine.rows
        else:
            who = mine.codes_of(target.person).astype(np.int64)
            size = len(counts.column(target.person).values)
            rows = np.ones(len(mine), dtype=np.int64)
        units = group([here.of_item, who], [here.n, size], n=len(mine))
        owners = group([homes, who], [len(home.values), size], n=len(mine))
        # What a person has in two rows of a class counts once.
        once = group([units.of_item, value + 1], [units.n, width + 1], n=len(mine))
        some = once.first
        each = sums(once.of_item, rows, once.n) if target.person is None else rows[some]
        unit, place, owner = units.of_item[some], here.of_item[some], owners.of_item[some]
        held = value[some]
        of_unit = sums(units.of_item, rows, units.n)
        if target.person is not None:
            of_unit = np.ones(units.n, dtype=np.int64)
        knows = np.zeros(units.n, dtype=np.bool_)
        knows[unit[held != MISSING]] = True
        known = np.where(knows, of_unit, 0)
        first = units.first
        at, whose = here.of_item[first], owners.of_item[first]
        in_class = sums(at, known, here.n)
        in_table = sums(homes[first], known, len(home.values))
        by_owner = sums(whose, known, owners.n)
        one = knows.astype(np.int64)
        # Of rows with the same value one is the person's own; a person has all of theirs.
        mine_everywhere = one if target.person is None else by_owner[whose]
        others = in_class[at] - one
        anywhere = in_table[homes[first]] - mine_everywhere
        kept = np.flatnonzero(others > 0)
        itself = _Holdings.of(unit, held, np.ones(len(held), dtype=np.int64), width)
        return cls(
            class_id[first][kept],
            homes[first][kept],
            of_unit[kept],
            others[kept],
            anywhere[kept],
            len(np.unique(homes)),
            None if target.person is None else who[first][kept],
            at[kept],
            kept,
            _Holdings.of(place, held, each, width),
            _Holdings.of(homes[some], held, each, width),
            itself,
            itself if target.person is None else _Holdings.of(owner, held, each, width),
            kept if target.person is None else whose[kept],
        )

    def persons(self, some: IntArray) -> ClassPeople | None:
        """Return whose each of some entries is, to count each person once."""
        if self.person is None:
            return None
        numbered = np.unique(self.person[some], return_inverse=True)[1].ravel()
        return ClassPeople.count(numbered, np.arange(len(some)), {}, len(some))


class _HouseholdRest(NamedTuple):
    """What is believed of each entry after the household is removed: values that may matter."""

    victim: IntArray
    value: IntArray
    prior: FloatArray
    posterior: FloatArray
    grows: BoolArray
    """Whether knowing the household made it likelier than the class does."""

    rows: IntArray
    """Those who have it among the people of the class who are left."""

    rest: IntArray
    marked: IntArray
    """Those who have it among the people of the table who are left."""


def _believe(victims: _Victims, told: ValueCounts, rule: HarmRule) -> _HouseholdRest:
    """Find what is believed of each person of the values that may harm, and of the likeliest."""
    known = told.known
    n = len(known)
    removed = np.zeros(n, dtype=np.int64)
    np.maximum.at(removed, victims.class_id, victims.others)
    left = np.maximum(known.totals - removed, 1)
    # No value of a smaller share than this harms, however many are removed: few values have it.
    least = min(rule.moderate, rule.high, rule.very_high) - 1e-9
    largest = known.rows == known.largest[known.class_id]
    asked = np.flatnonzero(largest | (known.rows >= least * left[known.class_id]))
    entries = np.bincount(known.class_id[asked], minlength=n)
    starts = np.cumsum(entries) - entries
    repeats = entries[victims.class_id]
    victim = np.repeat(np.arange(len(victims.class_id)), repeats)
    offset = np.arange(len(victim)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    entry = asked[starts[victims.class_id[victim]] + offset]
    value, class_id = known.value[entry], victims.class_id[victim]
    taken = victims.held_here.at(victims.place[victim], value)
    taken -= victims.own_here.at(victims.own[victim], value)
    rest = known.totals[class_id] - victims.others[victim]
    rows = (known.rows[entry] - taken).astype(np.int64)
    posterior = rows / np.maximum(rest, 1)
    gone = victims.held_anywhere.at(victims.household[victim], value)
    gone -= victims.own_anywhere.at(victims.owner[victim], value)
    table = told.known_total - victims.everywhere[victim]
    marked = told.reference[value] - gone
    prior = marked / np.maximum(table, 1)
    share = known.rows[entry] / np.maximum(known.totals[class_id], 1)
    grows = posterior > share + 1e-12
    return _HouseholdRest(
        victim, value, prior, posterior, grows, rows, rest.astype(np.int64), marked
    )
