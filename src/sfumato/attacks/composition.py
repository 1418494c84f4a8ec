"""The composition attack: what two releases tell together that neither tells alone."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from sfumato.attacks.base import MOST_CASES, ONE_ROW_EACH, Attack, Beliefs, Case, Outcome
from sfumato.attacks.joint import JointValues, Side, join_values, one_way, shared_values
from sfumato.attacks.overlap import MatchedPairs
from sfumato.attacks.target import EarlierRelease, Target
from sfumato.classes import ValueCounts, classes_from
from sfumato.counts import add_up
from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import GroupedTables
from sfumato.decouplings.likelihood import exact
from sfumato.errors import (
    InputError,
    ParameterError,
    UnknownNameError,
    require_int,
    require_number,
    require_text,
    some,
)
from sfumato.harm import HarmRule, Level
from sfumato.text import STAR, percent, text_of, text_or_none
from sfumato.typing import BoolArray, FloatArray, IntArray, Value

Labels = tuple[str | None, ...]


Harmless = Callable[[int, str], bool]
"""Whether a value of a sensitive column, which is given by its place, hurts no person."""


def _none_is(column: int, value: str) -> bool:  # noqa: ARG001 - whichever they are
    return False


@dataclass(frozen=True)
class Difference:
    """What changed in one group from one release to the next, as any reader can see."""

    labels: Labels
    joined: int
    """The least number of rows that are new."""

    left: int
    """The least number of rows that are gone."""

    newcomers: Fraction
    """The largest share of a value among the rows that joined; 0 if none did."""

    leavers: Fraction
    before: Fraction
    """The same for the whole group, in the earlier release."""

    after: Fraction

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        shares = ("newcomers", "leavers", "before", "after")
        return {
            "labels": list(self.labels),
            "joined": self.joined,
            "left": self.left,
            **{name: float(getattr(self, name)) for name in shares},
        }


@dataclass(frozen=True)
class ComparedReleases:
    """What comparing two releases shows, and which groups it betrays."""

    attack: "Composition"
    differences: tuple[Difference, ...]

    @property
    def exposed(self) -> tuple[Difference, ...]:
        """The groups whose newcomers (or leavers) are too few, or too much alike."""
        return tuple(each for each in self.differences if self.attack.betrays(each))

    @property
    def suffers(self) -> bool:
        """Whether people who joined or left are betrayed."""
        return bool(self.exposed)

    @property
    def people(self) -> int:
        """The number of rows that concerns."""
        return sum(each.joined + each.left for each in self.exposed)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            "attack": "composition",
            "alpha": self.attack.alpha,
            "k": self.attack.k,
            "suffers": self.suffers,
            "people": self.people,
            "groups": [each.to_dict() for each in self.exposed],
        }

    def __str__(self) -> str:
        if not self.suffers:
            n = len(self.differences)
            return f"composition exposes no person in {n} group{'s' * (n != 1)} that changed"
        return (
            f"composition exposes {self.people} people who joined or left, "
            f"in {len(self.exposed)} of {len(self.differences)} groups that changed"
        )


@dataclass(frozen=True)
class Composition(Attack):
    """Hold two releases of the same people against each other.

    **The same person in both.** A woman is in a class of this release and in a class of the one
    before, and has one illness: it is among those of both classes. Two classes of four with
    four illnesses each may share no more than one. A world is a way to say which row of the one
    and which of the other are of one person: the labels of the two rows overlap, and the
    sensitive value is the same. In all worlds with as many people as possible in both releases,
    a value is believed as often as people of the two classes have it. Where the classes fall
    into sets that fit each other wholly, as those of two full-domain releases with the same
    hierarchies do, this is exact: the counts of the value in the two classes, multiplied, over its
    count in the set. Elsewhere it is the distribution of largest entropy with the same
    counts; against all worlds of small tables it was never off by more than five points, and by
    less than a tenth of one nearly always.

    **Who joined or left.** If a release adds n rows to a class, the difference of the counts is
    the table of exactly those n. An adversary who knows that a person joined between the two
    looks the person up among n, not among the whole class.

    Finds: of each pair of classes, and of those who joined or left, the value that harms most and
    that the two releases make likelier than each does alone. Before is the share in the
    whole table, as for all attacks; what either release tells alone stands beside. The number of
    people of a pair is what is expected over all worlds. Releases of any kind can be compared
    as long as they share a sensitive column; of several earlier releases each is compared by
    itself. Of two releases by break-merge, the differences of groups are also judged for
    all sensitive columns: groups in which a value of those who joined or left is likelier than
    alpha, or fewer than k joined. Groups of one ledger are known by their numbers.
    Does not find: what can be told from knowing who *else* is in a class or joined; what three
    releases tell that no two do; that the people of the two releases are others. Where
    rows joined and left the same classes at once, who joined is not told from who changed, and
    only people in both are judged. Where words differ between the releases and no hierarchy says
    what they stand for, the releases are not compared: give the policy, or the original table.
    Remedy: hold rows back until enough have come together, as `sf.Ledger.publish` does by default;
    publish later releases of one table at the same levels as the first, or coarser ones.

    Reference: Ganta, Kasiviswanathan and Smith, "Composition attacks and auxiliary information in
    data privacy", 2008, doi:10.1145/1401890.1401926

    Args:
        alpha: The largest breach probability among newcomers that is no attack.
        k: The fewest newcomers of a group that are no attack.
        column: The sensitive column that is looked for in both releases; None for the differences
            of groups in all columns together, which only releases by break-merge have.
        earlier: The name of the release to compare with; None for the first of them.

    Example:
        >>> from sfumato.attacks.target import EarlierRelease
        >>> from sfumato.counts import FrequencySet
        >>> def of(rows):
        ...     counts = FrequencySet.from_rows(["age", "zip", "ill"], rows)
        ...     return Target.of_table(counts, ("age", "zip"), ("ill",))
        >>> zips = of([("*", "130**", ill) for ill in ("flu", "gout", "hiv")]
        ...     + [("*", "240**", ill) for ill in ("cold", "acne", "mumps")])
        >>> ages = of([("2*", "*", ill) for ill in ("hiv", "cold", "acne")]
        ...     + [("3*", "*", ill) for ill in ("flu", "gout", "mumps")])
        >>> target = replace(ages, earlier=(EarlierRelease.of(ages, zips),))
        >>> print(Composition(column="ill").on(target, HarmRule()).worst[0])
        age=2*, zip=*, earlier zip=130** (1): ill = hiv (33 % by this release alone, 33 % by the \
earlier), 17 % before, 100 % after
    """

    name: ClassVar[str] = "composition"
    leaves_open: ClassVar[str] = "earlier releases of the same people"
    counts_people: ClassVar[bool] = False
    links: ClassVar[bool] = True
    how: ClassVar[str] = (
        "Holds the release before against this one: the values that fit the person in both, and "
        "the few who joined or left."
    )
    advice: ClassVar[str] = (
        "Publish at the levels of the earlier release or coarser ones, and newcomers only when "
        "enough have come together: sfumato ledger add."
    )

    alpha: float = 0.75
    k: int = 2
    column: str | None = None
    earlier: str | None = None

    def __post_init__(self) -> None:
        require_number("alpha", self.alpha, above=0, at_most=1)
        require_int("k", self.k, at_least=1)
        for name in ("column", "earlier"):
            if getattr(self, name) is not None:
                require_text(name, getattr(self, name))

    def betrays(self, difference: Difference) -> bool:
        """Return whether too little hides those who joined or left a group."""
        limit = exact(self.alpha)
        return any(
            rows and (rows < self.k or share > limit)
            for rows, share in (
                (difference.joined, difference.newcomers),
                (difference.left, difference.leavers),
            )
        )

    def run(
        self,
        earlier: GroupedTables,
        later: GroupedTables,
        *,
        numbered: bool = False,
        harmless: Harmless | None = None,
    ) -> ComparedReleases:
        """Compare two releases of the same columns; a missing value is a value of its own.

        Args:
            earlier: The release before.
            later: The release after it.
            numbered: Whether a group of the same number is the same people, of whom some may have
                left, as in the releases of one ledger. Groups are else known by their labels.
            harmless: Whether a value of a sensitive column, which is given by its place, is one
                that a belief in may be as strong as it likes; None if no value is.
        """
        pairs = _pairs(earlier, later, numbered=numbered)
        return ComparedReleases(self, tuple(_differences(pairs, harmless=harmless or _none_is)))

    @classmethod
    def against(cls, target: Target, rule: HarmRule) -> list[Self]:
        if _has_people(target):
            return []
        found = []
        several = len(target.earlier) > 1
        for each in target.earlier:
            name = each.name if several else None
            if _same_groups(target, each.target):
                found.append(cls(rule.very_high, earlier=name))
                if _are_of_one_ledger(target, each.target) or _joined_later(target, each.target):
                    continue  # A person is under the same number in both: that says all.
            found += [
                cls(rule.very_high, column=column, earlier=name)
                for column in target.sensitive
                if column in each.target.sensitive
            ]
        return found

    @classmethod
    def why_not(cls, target: Target) -> str:
        if not target.earlier:
            return (
                "no release of the same people before this one was named; if there is one, give "
                "it (--earlier)"
            )
        if _has_people(target):
            return ONE_ROW_EACH
        return "no sensitive column is in this release and in the one before"

    def on(self, target: Target, rule: HarmRule) -> Outcome:
        earlier = self._find_earlier(target)
        self.require_countable(target)
        self.require_countable(earlier.target)
        if self.column is not None:
            return self._compare_people(target, earlier, self.column, rule)
        if _joined_later(target, earlier.target):
            why = "only the ledger knows that newcomers are in none of its earlier releases"
            return replace(self._not_tried(target, None, why, rule), unreached=why)
        if not _same_groups(target, earlier.target):
            raise ParameterError(
                "column",
                None,
                "the sensitive column to look for",
                why="only two releases by break-merge of the same columns have groups to subtract",
            )
        return self._compare_groups(target, earlier.target, rule)

    def _find_earlier(self, target: Target) -> EarlierRelease:
        """Return the release to compare with."""
        if not target.earlier:
            raise ParameterError("target", target.kind, "two releases", why=self.why_not(target))
        if self.earlier is None:
            return target.earlier[0]
        for each in target.earlier:
            if each.name == self.earlier:
                return each
        known = [each.name for each in target.earlier]
        raise UnknownNameError("release", self.earlier, known, where="the earlier releases")

    def _compare_groups(self, target: Target, earlier: Target, rule: HarmRule) -> Outcome:
        """Subtract the groups of two releases by break-merge."""
        assert target.grouped is not None  # noqa: S101 - groups were looked for
        assert earlier.grouped is not None  # noqa: S101
        names = target.grouped.quasi_identifiers
        numbered = _share_numbers(earlier.grouped, target.grouped)
        both = _pairs(earlier.grouped, target.grouped, numbered=numbered)
        found = [
            case
            for difference in _differences(both, _without_missing)
            for case in _cases(tuple(column.name for column in names), difference)
        ]
        prior = np.array([case.prior for case in found])
        posterior = np.array([case.posterior for case in found])
        people = np.array([case.people for case in found], dtype=np.int64)
        levels = rule.levels(prior, posterior)
        order = np.lexsort((-people, prior - posterior, -posterior, -levels))
        worst = tuple(
            replace(found[i], level=Level(int(levels[i]))) for i in order[:MOST_CASES].tolist()
        )
        return Outcome.of_levels(
            self,
            None,
            [int(people[levels == level].sum()) for level in Level],
            worst,
            rule,
            of=target.classes.total,
            note="the belief before is that from one of the two releases alone",
            settings=self.params(),
            advice=self.advice,
        )

    def _compare_people(
        self, target: Target, earlier: EarlierRelease, column: str, rule: HarmRule
    ) -> Outcome:
        """Compare the people who are in both releases, and those who joined or left."""
        if earlier.unread:
            # Taking all of them to overlap would make one release independent of the other.
            why = (
                f"labels of {some(earlier.unread)} in the two releases cannot be read: give the "
                "policy or the original table (--policy, --data)"
            )
            return self._not_tried(target, column, why, rule)
        try:
            if earlier.pairs is None:
                raise InputError(earlier.fault)
            found = compare_people(target, earlier, earlier.pairs, column, rule)
        except InputError as fault:
            # More classes fit each other than can be gone through.
            return self._not_tried(target, column, str(fault).rstrip("."), rule)
        outcome = found.beliefs.outcome(self, column, rule)
        fewer = min(target.classes.total, earlier.target.classes.total)
        note = f"{found.people:.0f} people can be in both releases"
        if found.people < _SAME * fewer:
            return self._not_tried(
                target, column, f"only {note}: are they of the same people?", rule
            )
        if not found.exact:
            note += "; labels overlap in part, so beliefs are those of largest entropy, not exact"
        settings = {name: value for name, value in outcome.settings.items() if name == "earlier"}
        return replace(outcome, note=note, settings=settings)

    def _not_tried(self, target: Target, column: str | None, why: str, rule: HarmRule) -> Outcome:
        """Return that the releases could not be compared, which is no yes."""
        return Outcome(
            self.name,
            column,
            people=0,
            of=target.classes.total,
            prior=None,
            posterior=None,
            threshold=rule.very_high,
            how=self.how,
            note=why,
            settings=self.params(),
        )

    @classmethod
    def example(cls) -> Self:
        return cls(0.5)


def _has_people(target: Target) -> bool:
    """Return whether people have several rows in a release, or in one before."""
    return any(each.person is not None for each in (target, *(e.target for e in target.earlier)))


def _same_groups(target: Target, earlier: Target) -> bool:
    """Return whether both are groups of the same columns."""
    if target.grouped is None or earlier.grouped is None:
        return False
    return all(
        _names(target.grouped, kind) == _names(earlier.grouped, kind)
        for kind in ("quasi_identifiers", "sensitive")
    )


def _are_of_one_ledger(target: Target, earlier: Target) -> bool:
    assert target.grouped is not None  # noqa: S101 - groups were looked for
    assert earlier.grouped is not None  # noqa: S101
    return _share_numbers(earlier.grouped, target.grouped)


def _joined_later(target: Target, earlier: Target) -> bool:
    """Return whether a release says that it holds newcomers of the ledger that an earlier is of."""
    if not target.newcomers or target.grouped is None or earlier.grouped is None:
        return False
    return bool(target.marks & {*earlier.marks, earlier.grouped.mark})


# The same people in two releases: their classes in both, and those who are in one only.


class ComparedPeople(NamedTuple):
    """What is believed of people who are in two releases, or in one of them only."""

    beliefs: Beliefs
    people: float
    """The number of people who are in both, at most."""

    exact: bool


def compare_people(
    target: Target, earlier: EarlierRelease, pairs: MatchedPairs, column: str, rule: HarmRule
) -> ComparedPeople:
    """Return what two releases tell of a sensitive column that neither tells alone.

    Args:
        target: The later release.
        earlier: The one before.
        pairs: The classes of the two that can hold the same person.
        column: The sensitive column, which both have.
        rule: The rule by which the worst value of each pair of classes is chosen.
    """
    later_counts = _own_values(target, column)
    earlier_counts = _own_values(earlier.target, column)
    one, other, missing = shared_values(later_counts, earlier_counts)
    joint = join_values(pairs, one, other)
    secrecy = np.zeros(missing + 1, dtype=np.int64)
    if later_counts.column.secrecy is not None:
        secrecy[: len(later_counts.column.secrecy)] = later_counts.column.secrecy
    judge = _Judge(rule, secrecy, missing, target.classes.total)
    parts = [_in_both(pairs, joint, one, other, judge)]
    if not _same_groups(target, earlier.target):
        gained, lost = one_way(pairs, joint, one, other)
        parts.append(_in_one(one, joint.joined, gained, judge))
        parts.append(_in_one(other, joint.left, lost, judge))
    values = [text_of(value) for value in later_counts.column.values]
    values += [t for v in earlier_counts.column.values if (t := text_of(v)) not in {*values}]
    words = _Wording(target, earlier, pairs, column, tuple(values), tuple(parts))
    beliefs = Beliefs(
        np.concatenate([part.people for part in parts]),
        np.concatenate([part.prior for part in parts]),
        np.concatenate([part.posterior for part in parts]),
        words.who,
        words.belief,
        np.concatenate([part.secrecy for part in parts]),
        of=target.classes.total,
        applies=np.concatenate([part.adds for part in parts]),
    )
    return ComparedPeople(beliefs, float(joint.people.sum()), joint.exact)


def _own_values(target: Target, column: str) -> ValueCounts:
    """Return the values of the rows of each class, also where missing labels match all others."""
    counts = target.classes.counts_of(column)
    if target.classes.own is None or target.counts is None:
        return counts
    described = {column: counts.column}
    return classes_from(target.counts, target.quasi_identifiers, described).counts_of(column)


@dataclass(frozen=True, eq=False)
class _GroupsPart:
    """Some groups of people, and the value of each that harms most."""

    at: IntArray
    """The pair of classes, or the class, of each group."""

    value: IntArray
    people: FloatArray
    prior: FloatArray
    posterior: FloatArray
    alone: tuple[FloatArray, ...]
    """What the later release tells by itself, and the earlier one; or the one they are in."""

    secrecy: IntArray
    adds: BoolArray
    """Whether the two releases tell more than each by itself."""


@dataclass(frozen=True, eq=False)
class _Judge:
    """Chooses the value that harms the people of each group most."""

    rule: HarmRule
    secrecy: IntArray
    missing: int
    total: int

    def shares(self, side: Side) -> FloatArray:
        """Return the share of each value among the known ones of a release."""
        rows = add_up(side.value, side.rows, self.missing + 1)
        rows[self.missing] = 0.0
        found: FloatArray = rows / max(rows.sum(), 1.0)
        return found

    def worst(
        self,
        at: IntArray,
        value: IntArray,
        people: FloatArray,
        shares: FloatArray,
        alone: tuple[FloatArray, ...],
        tolerance: float,
    ) -> _GroupsPart:
        """Return one value per group.

        Args:
            at: The group of each entry, rising.
            value: The value of each entry; missing ones count for nothing.
            people: The number of people of the group who have the value.
            shares: The share of each value before the release.
            alone: What single releases tell of the value.
            tolerance: How much more the two must tell than either.
        """
        known = value != self.missing
        at, value, people = at[known], value[known], people[known]
        alone = tuple(each[known] for each in alone)
        n = int(at.max(initial=-1)) + 1
        totals = add_up(at, people, n)
        posterior = people / np.maximum(totals[at], 1e-300)
        prior, secrecy = shares[value], self.secrecy[value]
        adds = posterior > np.max(alone, axis=0) + tolerance if len(at) else at > 0
        levels = self.rule.judge(prior, posterior, self.total, applies=adds, secrecy=secrecy).levels
        # The highest level first, then the surest; a belief is at most 1.
        merit = 4 * levels + 2 * adds + posterior
        starts = np.flatnonzero(np.diff(at, prepend=-1))
        best = np.maximum.reduceat(merit, starts) if len(at) else merit
        top = np.flatnonzero(merit == np.repeat(best, np.diff(np.append(starts, len(at)))))
        top = top[np.diff(at[top], prepend=-1) > 0]
        top = top[totals[at[top]] > _LEAST]
        # Those of whom nothing is learned are shown only if they are all there are.
        keep = adds[top]
        if not keep.any():
            keep[np.argsort(-posterior[top], kind="stable")[:MOST_CASES]] = True
        top = top[keep]
        return _GroupsPart(
            at[top],
            value[top],
            totals[at[top]],
            prior[top],
            posterior[top],
            tuple(each[top] for each in alone),
            secrecy[top],
            adds[top],
        )


_SAME = 0.5
"""The share of the smaller release that must be in both for them to be of the same people."""

_LEAST = 1e-6
"""Fewer people than this are none, but for rounding."""

_EXACT, _NEAR = 1e-9, 5e-3
"""How much more two releases must tell than either, if that is exact, and if it is not."""


def _in_both(
    pairs: MatchedPairs, joint: JointValues, one: Side, other: Side, judge: _Judge
) -> _GroupsPart:
    """Return what is believed of people who are in a class of each release."""
    alone = (
        one.rows[joint.one] / np.maximum(one.totals[pairs.one[joint.pair]], 1),
        other.rows[joint.other] / np.maximum(other.totals[pairs.other[joint.pair]], 1),
    )
    tolerance = _EXACT if joint.exact else _NEAR
    shares = judge.shares(one)
    return judge.worst(joint.pair, joint.value, joint.people, shares, alone, tolerance)


def _in_one(side: Side, people: FloatArray, shown: BoolArray, judge: _Judge) -> _GroupsPart:
    """Return what is believed of those of each class who are in one release only."""
    of_entry = side.of_entry
    # What is left over for rounding is no person.
    some = (add_up(of_entry, people, len(side.totals)) > 0.5)[of_entry] & shown[of_entry]
    alone = (side.rows / np.maximum(side.totals[of_entry], 1))[some]
    at, value = of_entry[some], side.value[some]
    return judge.worst(at, value, people[some], judge.shares(side), (alone,), _NEAR)


@dataclass(frozen=True, eq=False)
class _Wording:
    """Says of whom something is believed, and what."""

    target: Target
    earlier: EarlierRelease
    pairs: MatchedPairs
    column: str
    values: tuple[str, ...]
    parts: tuple[_GroupsPart, ...]

    def _place(self, at: int) -> tuple[int, int]:
        """Return the part that a group is of, and its position there."""
        for number, part in enumerate(self.parts):
            if at < len(part.at):
                return number, at
            at -= len(part.at)
        raise IndexError(at)

    def who(self, at: int) -> dict[str, Value]:
        """Return what people are recognised by, in both releases."""
        number, place = self._place(at)
        group = int(self.parts[number].at[place])
        if number == 2:
            return self.earlier.target.who(group)
        if number == 1:
            return self.target.who(group)
        shown = self.target.who(int(self.pairs.one[group]))
        before = self.earlier.target.who(int(self.pairs.other[group]))
        others = {
            f"earlier {name}": value for name, value in before.items() if shown.get(name) != value
        }
        return shown | {name: v for name, v in others.items() if v != STAR}

    def belief(self, at: int) -> str:
        """Return what is believed of them, beside what one release tells alone."""
        number, place = self._place(at)
        part = self.parts[number]
        what = f"{self.column} = {self.values[int(part.value[place])]}"
        alone = [percent(float(each[place])) for each in part.alone]
        if number == 0:
            return f"{what} ({alone[0]} by this release alone, {alone[1]} by the earlier)"
        did = "joined" if number == 1 else "left"
        return f"who {did} has {what} ({alone[0]} by one release alone)"


# The groups of two releases by break-merge, subtracted.


def _cases(names: tuple[str, ...], difference: Difference) -> list[Case]:
    """Return what is believed of those who joined and of those who left, beside what it was."""
    who = dict(zip(names, difference.labels, strict=True))
    moved = (
        ("joined", difference.joined, difference.after, difference.newcomers),
        ("left", difference.left, difference.before, difference.leavers),
    )
    return [
        Case(who, rows, f"who {did} has the likeliest values", float(before), float(after))
        for did, rows, before, after in moved
        if rows
    ]


@dataclass(frozen=True)
class _PeopleGroup:
    size: int
    counts: tuple[dict[str | None, int], ...]

    def worst(self, harmless: Harmless) -> Fraction:
        """Return the largest share of a value among those of its column that are known.

        Combinations of values are no likelier, whether one of them is known or none.
        """
        shares = [Fraction(0)]
        for column, each in enumerate(self.counts):
            known = {value: n for value, n in each.items() if value is not None}
            total = sum(known.values())
            shares += [Fraction(n, total) for v, n in known.items() if not harmless(column, v)]
        return max(shares)

    def plus(self, other: "_PeopleGroup") -> "_PeopleGroup":
        """Return the people of both together."""
        counts = tuple(
            {value: one.get(value, 0) + two.get(value, 0) for value in {**one, **two}}
            for one, two in zip(self.counts, other.counts, strict=True)
        )
        return _PeopleGroup(self.size + other.size, counts)


def _without_missing(group: _PeopleGroup) -> _PeopleGroup:
    """Return a group without missing values: they hide no person, and give nothing away."""
    counts: tuple[dict[str | None, int], ...] = tuple(
        {value: n for value, n in each.items() if value is not None} for each in group.counts
    )
    return _PeopleGroup(max((sum(each.values()) for each in counts), default=0), counts)


class _Pair(NamedTuple):
    """A group in two releases; in one of them it may be empty."""

    labels: Labels
    old: _PeopleGroup
    new: _PeopleGroup
    same: bool
    """Whether all who are in the later one are known to have been in the earlier one."""


def _differences(
    pairs: Iterable[_Pair],
    of: Callable[[_PeopleGroup], _PeopleGroup] | None = None,
    harmless: Harmless = _none_is,
) -> Iterator[Difference]:
    """Yield how groups differ that do, perhaps in some respect only."""
    for labels, *both, same in pairs:
        old, new = both if of is None else map(of, both)
        if old != new:
            left = both[0].size - both[1].size
            yield _difference(labels, old, new, same=same, left=left, harmless=harmless)


def _pairs(earlier: GroupedTables, later: GroupedTables, *, numbered: bool) -> Iterator[_Pair]:
    """Yield the groups of two releases beside each other."""
    for kind in ("quasi_identifiers", "sensitive"):
        names = [_names(grouped, kind) for grouped in (earlier, later)]
        if names[0] != names[1]:
            raise ParameterError(
                "later", names[1], f"a release with the {kind} of the earlier, {names[0]}"
            )
    before, after = (_groups(grouped, numbered=numbered) for grouped in (earlier, later))
    empty = _PeopleGroup(0, tuple({} for _ in earlier.sensitive))
    for key in sorted(before.keys() | after.keys(), key=str):
        same = numbered and key in before and key in after
        labels = (after if key in after else before)[key][0]
        yield _Pair(
            labels, before.get(key, (labels, empty))[1], after.get(key, (labels, empty))[1], same
        )


def _share_numbers(earlier: GroupedTables, later: GroupedTables) -> bool:
    """Return whether groups have the same numbers in both, as in the releases of one ledger.

    Numbers are drawn, so those of two releases that were made apart agree by chance only.
    """
    if earlier.ids is None or later.ids is None:
        return False
    return 2 * len(np.intersect1d(earlier.ids, later.ids)) >= min(len(earlier), len(later)) > 0


def _difference(
    labels: Labels,
    old: _PeopleGroup,
    new: _PeopleGroup,
    *,
    same: bool,
    left: int,
    harmless: Harmless,
) -> Difference:
    gained, lost = _gain(old, new), _gain(new, old)
    empty = _PeopleGroup(0, ())
    # A group that is gone as a whole tells nothing that its last tables did not.
    if not new.size:
        lost = empty
    # If it is as large as it was, values were corrected.
    if same:
        gained, lost = empty, lost if left else empty
    worst = [group.worst(harmless) for group in (gained, lost, old, new)]
    return Difference(labels, gained.size, lost.size, *worst)


def _gain(old: _PeopleGroup, new: _PeopleGroup) -> _PeopleGroup:
    """Return what the later tables hold more of: the least number of rows, with these values."""
    more = tuple(
        {value: n - before.get(value, 0) for value, n in after.items() if n > before.get(value, 0)}
        for before, after in zip(old.counts, new.counts, strict=True)
    )
    size = max((sum(counts.values()) for counts in more), default=0)
    return _PeopleGroup(size, more)


def _groups(grouped: GroupedTables, *, numbered: bool) -> dict[object, tuple[Labels, _PeopleGroup]]:
    """Return the groups by their numbers; or by their labels, several with the same added up."""
    texts = [[text_or_none(value) for value in c.values] for c in grouped.quasi_identifiers]
    tables = []
    for table in grouped.sensitive:
        values = [text_or_none(value) for value in table.column.values]
        starts = np.searchsorted(table.group, np.arange(len(grouped) + 1))
        tables.append((values, starts, table))
    numbers = grouped.ids.tolist() if numbered and grouped.ids is not None else None
    found: dict[object, tuple[Labels, _PeopleGroup]] = {}
    for g, size in enumerate(grouped.sizes.tolist()):
        labels = tuple(text[code] for text, code in zip(texts, grouped.labels[:, g], strict=True))
        counts = tuple(
            _counts(values, table.value[a:b], table.rows[a:b])
            for values, starts, table in tables
            for a, b in [(starts[g], starts[g + 1])]
        )
        key = labels if numbers is None else numbers[g]
        group = _PeopleGroup(size, counts)
        found[key] = labels, group if key not in found else found[key][1].plus(group)
    return found


def _counts(values: list[str | None], codes: np.ndarray, rows: IntArray) -> dict[str | None, int]:
    return {values[code]: n for code, n in zip(codes.tolist(), rows.tolist(), strict=True)}


def _names(grouped: GroupedTables, kind: str) -> list[str]:
    if kind == "sensitive":
        return list(grouped.names)
    return [column.name for column in grouped.quasi_identifiers]
