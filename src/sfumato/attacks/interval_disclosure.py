"""Interval disclosure: how well true values are known that chance has changed."""

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from itertools import combinations
from typing import ClassVar, NamedTuple, Self

import numpy as np

from sfumato.attacks.base import MOST_CASES, Attack, Case, Outcome, advise, strongest
from sfumato.attacks.perturbed import PerturbedRows, true_shares
from sfumato.attacks.target import Target
from sfumato.counts import group, sums
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, ParameterError, UnknownColumnError, require_number
from sfumato.harm import HarmRule, Level, chance_of_values, draw_tail
from sfumato.perturbations import Perturbation, SeenColumn
from sfumato.policy.adversaries import Knows
from sfumato.text import text_of
from sfumato.typing import BoolArray, FloatArray, IntArray, Value

_TENTH = 0.1
_MIDDLE = (0.05, 0.95)
"""Where most people are: without the largest and the smallest twentieth."""

_MOST_PLACES = 240
_FEWEST_PLACES = 40
_FEWEST_NUMBERS = 6
"""Fewer different ones are grades or codes, of which none is near another."""

_MOST_CELLS = 20_000_000
_PER_WINDOW = 4
_ROUNDS = 200
_FEW_ROUNDS = 4
"""How often rows of a small group tell each other what they tell."""

_ERRORS = 2.0
"""By how many standard errors rows of a class must be more alike than those of strangers."""

_CAUTION = 0.25
"""What is taken of it where numbers become any other: people of a class have numbers that are near,
which two published ones do not show then. Held against true values, beliefs would be too low."""

_FEWEST_PER_VALUE = 4
"""A group is believed by itself if it has that many people for each value: of fewer, what they tell
would be less than what is known of all people."""

_ALIKE = 0.05
"""How likely some group is as odd by chance: above, one is not believed by itself in full."""

_MOST_ITEMS = {1: 40_000_000, 2: 5_000_000}
"""Combinations that are grouped, by how many other columns are known."""

_MOST_STEPS = {1: 20_000_000, 2: 5_000_000}
"""Entries and places that are gone through then."""

_SURE, _LIKELY, _MOST_ERROR = 2.5, 1.0, 0.15
"""How many standard errors less of a share must be as good as known, for that it is sure or likely,
and how large they may be then."""

_MOST_CONDITION = 1e4
"""A way back that makes more of what chance drew tells nothing."""

_ODD, _LARGE = 0.35, 30
"""Of smaller groups intervals are worked out where at first sight they hold that many people."""

_SETTLED = 200
"""A group of that many people is gone through to the end."""

_OWN = (1.0, 1000.0)
"""How many people of a class the shares of all people count for, at least and at most."""


@dataclass(frozen=True)
class IntervalDisclosure(Attack):
    """Work back from published values that chance has changed to the true ones of a class.

    The manifest says how values were changed, and the adversary knows it. For each row the
    likelihood of every true value follows; with the shares of true values in the whole release,
    worked out likewise, and what the other rows of the class tell of it, so does what is believed
    of a person of the class (a Dirichlet prior, solved by collapsed variational inference). Of
    numbers the belief is that the true one lies in an interval.

    Two priors are tried, and the belief that harms more counts. One has the shares of all people,
    and counts for as many people as rows of one class are alike. It is right on average, and pulls
    a class that is unlike all others to what those are. So a group of many people is believed by
    itself too: with a flat prior, which counts as one person of each value. How far chance makes
    groups that odd is asked of that belief, and of any of an interval.

    An adversary may know more of a person than the class: one or two values of other columns. Then
    all is asked of the people with these values, in the class and in the whole release. One value
    may be of another column of categories that chance has changed: how often true values go
    together follows from how often published ones do, in the whole release.

    Finds: how sure an adversary who knows the class of a person is of the true value, or that it
    lies in an interval; before the release, the same by the shares of all people. Sensitive columns
    are judged; what is learned of plain ones is told only.
    Where people have several rows, each row is taken for a person.
    Does not find: what follows from a column whose values are known in part only, or from numbers
    that have noise of their own; noise that was drawn again in another release; what the value is
    where it was not changed by chance (see `Similarity`).

    Reference: Hundepool et al., "Statistical Disclosure Control", Wiley 2012, chapter 3

    Args:
        column: The column: one that chance has changed.
        within: How far either way the true number may be from the middle of the interval; None for
            a tenth of the range that most people are in. Not for categories.
        known: How many values of other columns the adversary knows, beside the class.

    Example:
        >>> from sfumato.attacks.perturbed import PerturbedRows
        >>> from sfumato.counts import FrequencySet
        >>> from sfumato.perturbations import Pram
        >>> rows = [("A", "yes")] * 30 + [("B", "no")] * 70
        >>> counts = FrequencySet.from_rows(["zip", "ill"], rows)
        >>> seen = PerturbedRows(counts, np.array([0, 1]), {"ill": Pram(keep=0.9)}, ("ill",))
        >>> target = Target.of_table(counts.project(["zip"]), ("zip",), (), perturbed=seen)
        >>> print(IntervalDisclosure("ill").on(target, HarmRule()))
        interval-disclosure(ill): 30 of 100 people at risk; strongest belief >99 %, 25 % before
    """

    name: ClassVar[str] = "interval-disclosure"
    how: ClassVar[str] = (
        "Works back from published values that chance has changed to the true values of the "
        "people of a class."
    )
    advice: ClassVar[str] = (
        "Change {column} more: a larger sd, distance or share, or a smaller keep; or promise "
        "larger classes."
    )
    column: str
    within: float | None = None
    known: int = 0

    def __post_init__(self) -> None:
        if self.within is not None:
            require_number("within", self.within, above=0)
        if self.known not in (0, 1, 2):
            raise ParameterError("known", self.known, "0, 1 or 2 values of other columns")

    @classmethod
    def against(cls, target: Target, rule: HarmRule) -> list[Self]:  # noqa: ARG003 - all alike
        rows = target.perturbed
        if rows is None:
            return []
        found = [cls(name) for name in rows.members]
        for name in rows.sensitive:
            others = {*rows.beside} - {name}
            one = others or {*_hidden_alike(rows)} - {name}
            found += [cls(name, known=n) for n, some in ((1, one), (2, others)) if n <= len(some)]
        return found

    @classmethod
    def why_not(cls, target: Target) -> str:  # noqa: ARG003 - there is one reason
        return "chance has changed no column beside the quasi-identifiers"

    @classmethod
    def example(cls) -> Self:
        return cls("disease")

    def on(self, target: Target, rule: HarmRule) -> Outcome:
        return self.find(target, rule).outcome(self, target, rule)

    def find(self, target: Target, rule: HarmRule) -> "DisclosedRows":
        """Attack a release, and say how much is believed of the people of each combination."""
        rows = target.perturbed
        if rows is None or self.column not in rows.members:
            known = [] if rows is None else list(rows.members)
            where = "the columns that chance has changed"
            raise UnknownColumnError(self.column, known, where=where)
        _require_fitting(rows, self.column)
        per_window = _PER_WINDOW if not self.known else _PER_WINDOW // 2
        places = _Places.of(rows, self.column, self.within, per_window)
        secrecy = None
        if rows.secrecy is not None and self.column in rows.secrecy and places.width == 1:
            secrecy = rows.secrecy[self.column]
        codes = rows.counts.codes_of(self.column)
        has_value = codes != rows.counts.column(self.column).missing
        found = DisclosedRows(rows, self.column, has_value)
        items, steps = 0, 0
        skipped = list[str]()
        for names, with_class in self._adversaries(rows):
            items += len(rows.counts)
            if self.known and items > _MOST_ITEMS[self.known]:
                skipped.append(" and ".join(names))
                continue
            cell, first, n = _cells_of(rows, names, with_class=with_class, among=has_value)
            entries = _PlaceEntries.of(rows, self.column, places, n, cell)
            if not len(entries.class_id):
                continue
            distinct, of_cell = entries.distinct(len(places.prior))
            steps += len(distinct.class_id) * len(places.prior)
            if self.known and steps > _MOST_STEPS[self.known]:
                skipped.append(" and ".join(names))
                continue
            own = entries.weigh_all(places)
            judged = distinct.judge(rule, places, own, secrecy, of_cell, rough=bool(self.known))
            found = found.add(names, with_class, cell, first, entries.sizes, judged, places)
        found = self._add_hidden(found, rule, places, secrecy)
        return replace(found, skipped=tuple(dict.fromkeys(skipped)))

    def _add_hidden(
        self, found: "DisclosedRows", rule: HarmRule, places: "_Places", secrecy: IntArray | None
    ) -> "DisclosedRows":
        """Add what is believed of people of whom a value is known that was changed, too."""
        if self.known != 1 or places.width > 1:
            return found
        for name in _hidden_alike(found.rows):
            told = None
            if name != self.column:
                told = _TrueValues.of(found.rows, name, self.column, places)
            if told is not None:
                judged = told.judge(rule, places, secrecy)
                given = told.cell, told.first, told.sizes
                found = found.add((name,), False, *given, judged, places)  # noqa: FBT003 - no class
        return found

    def _adversaries(self, rows: PerturbedRows) -> Iterator[tuple[tuple[str, ...], bool]]:
        """Yield which columns are known, and whether the class is."""
        others = [name for name in rows.beside if name != self.column]
        # What others have as a value of their own each is tried last.
        others.sort(key=lambda name: len(rows.beside[name].column.values))
        for names in combinations(others, self.known):
            yield names, True
            if names:
                yield names, False


def _require_fitting(rows: PerturbedRows, name: str) -> None:
    """Raise if a column cannot be what its perturbation makes: noise takes numbers."""
    member, seen = rows.members[name], rows.look_at(name)
    if member.numeric and not member.rearranges and np.isnan(seen.numbers).any():
        wrong = seen.values[int(np.flatnonzero(np.isnan(seen.numbers))[0])]
        raise InputError(
            f"{name!r} is said to have been changed by {member.name}, which takes numbers, and "
            f"{text_of(wrong)!r} is none. Leave the column out, or say what was done to it."
        )


def _cells_of(
    rows: PerturbedRows, names: Sequence[str], *, with_class: bool, among: BoolArray
) -> tuple[IntArray, IntArray, int]:
    """Return the group of people that each combination is in for an adversary; -1 if in none.

    Returns:
        The group of each combination, the first combination of each group, and how many there are.
    """
    codes, sizes, known = [], [], among.copy()
    if with_class:
        codes.append(rows.class_of.astype(np.int64))
        sizes.append(int(rows.class_of.max(initial=-1)) + 1)
    for name in names:
        column, code = rows.beside[name]
        known &= code != column.missing
        codes.append(code)
        sizes.append(len(column.values))
    at = np.flatnonzero(known)
    groups = group([code[at] for code in codes], sizes, n=len(at))
    cell = np.full(len(known), -1, dtype=np.int64)
    cell[at] = groups.of_item
    return cell, at[groups.first], groups.n


def _hidden_alike(rows: PerturbedRows) -> list[str]:
    """Return the columns of categories that chance has changed cell by cell, and others may know.

    They know what is true of a person, and not what became of it.
    """
    return [
        name
        for name, member in rows.members.items()
        if not (name in rows.unknown or name in rows.beside)
        and not (member.numeric or member.rearranges)
    ]


class _TrueValues(NamedTuple):
    """How often a true value of one column goes with one of another, as far as both tell.

    Chance changes each by itself. So the way back from published pairs to true ones is that of the
    one column times that of the other, and each row is an estimate without bias of what is true:
    how far the mean of all may be off is known too. A class has too few rows for that.
    """

    cell: IntArray
    """The known column's published value of each combination; -1 where a value is missing."""

    first: IntArray
    """A combination of each value."""

    sizes: IntArray
    """How many people have each value in truth."""

    share: FloatArray
    """Of those with each true value of the known column (lines), the shares of the other's."""

    error: FloatArray
    """The standard error of each share."""

    @classmethod
    def of(
        cls, rows: PerturbedRows, known: str, column: str, places: "_Places"
    ) -> "_TrueValues | None":
        """Estimate the true pairs of two columns; None if nothing leads back to them."""
        _require_fitting(rows, known)
        beside = _Places.of(rows, known, None)
        ways = [_way_back(beside), _way_back(places)]
        back, other = ways
        if back is None or other is None:
            return None
        counts = rows.counts
        codes = counts.codes_of(known), counts.codes_of(column)
        there = (codes[0] != counts.column(known).missing) & (
            codes[1] != counts.column(column).missing
        )
        if not there.any():
            return None
        shape = len(beside.prior), len(places.prior)
        at = beside.of_code[codes[0][there]], places.of_code[codes[1][there]]
        pairs = sums(np.ravel_multi_index(at, shape), counts.rows[there], shape[0] * shape[1])
        shown = pairs.reshape(shape).astype(np.float64)
        people = back @ shown.sum(axis=1)
        found = back @ shown @ other.T
        with np.errstate(divide="ignore", invalid="ignore"):
            share = found / people[:, None]
            squares = (back**2) @ shown
            spread = squares @ (other**2).T - 2 * share * (squares @ other.T)
            spread += share**2 * squares.sum(axis=1)[:, None]
            error = np.sqrt(np.maximum(spread, 0.0)) / people[:, None]
        sure = (people >= 1)[:, None] & np.isfinite(share) & np.isfinite(error)
        cell = np.full(len(there), -1, dtype=np.int64)
        cell[there] = at[0]
        first = np.zeros(shape[0], dtype=np.int64)
        first[at[0]] = np.flatnonzero(there)
        sizes = np.rint(np.maximum(people, 0.0)).astype(np.int64)
        return cls(cell, first, sizes, np.where(sure, share, 0.0), np.where(sure, error, np.inf))

    def judge(self, rule: HarmRule, places: "_Places", secrecy: IntArray | None) -> "_JudgedGroups":
        """Return what is believed of the people with each known value, and how much it harms.

        A level counts if chance hardly makes the share of less seem so much. One that is likely
        and not sure is *high* at most: no reason for a no, and none for a yes.
        """
        n, width = self.share.shape
        prior = np.broadcast_to(places.prior, (n, width)).ravel()
        mine = None if secrecy is None else np.broadcast_to(secrecy, (n, width)).ravel()

        def levels(less: float) -> IntArray:
            least = np.clip(self.share - less * self.error, 0.0, 1.0).ravel()
            some = rule.judge(prior, least, 0, secrecy=mine).levels
            return np.where(np.isfinite(self.error).ravel(), some, 0).reshape(n, width)

        sure = levels(_SURE)
        likely = (levels(_LIKELY) == Level.VERY_HIGH) & (self.error <= _MOST_ERROR)
        level = np.maximum(sure, np.where(likely, int(Level.HIGH), 0))
        posterior = np.clip(self.share, 0.0, 1.0)
        at = np.lexsort((posterior, level), axis=1)[:, -1]
        line = np.arange(n)
        return _JudgedGroups(
            level[line, at],
            at,
            places.prior[at],
            posterior[line, at],
            np.zeros(n, dtype=np.bool_),
        )


def _way_back(places: "_Places") -> FloatArray | None:
    """Return what leads from published shares to true ones; None if little of them is left."""
    n = len(places.prior)
    if not 1 < n <= _MOST_PLACES or np.linalg.cond(places.likelihood) > _MOST_CONDITION:
        return None
    found: FloatArray = np.linalg.inv(places.likelihood).astype(np.float64)
    return found


class _JudgedGroups(NamedTuple):
    """What is believed of each of some groups, and how much it harms."""

    level: IntArray
    window: IntArray
    prior: FloatArray
    posterior: FloatArray
    by_chance: BoolArray

    def take(self, at: IntArray) -> "_JudgedGroups":
        return _JudgedGroups(
            self.level[at], self.window[at], self.prior[at], self.posterior[at], self.by_chance[at]
        )


@dataclass(frozen=True, eq=False)
class DisclosedRows:
    """How much is believed of the people of each combination of the perturbed rows."""

    rows: PerturbedRows
    column: str
    has_value: BoolArray
    """Which combinations have a value that could be told."""

    levels: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """The level of each combination, at the worst of all groups that it is in."""

    by_chance: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    cases: tuple[Case, ...] = ()
    skipped: tuple[str, ...] = ()
    """What could be known and was not tried."""

    @property
    def at_risk(self) -> BoolArray:
        """Return which combinations of the perturbed rows are of people at risk."""
        found: BoolArray = self.levels == Level.VERY_HIGH
        return found

    @property
    def units(self) -> BoolArray | None:
        """Return which combinations of the target's counts have people at risk; None if unknown.

        Those that are a part of one combination of the target count for all of it.
        """
        if self.rows.unit_of is None:
            return None
        found = np.zeros(int(self.rows.unit_of.max(initial=-1)) + 1, dtype=np.bool_)
        found[self.rows.unit_of[self.at_risk]] = True
        return found

    def add(
        self,
        names: Sequence[str],
        with_class: bool,  # noqa: FBT001 - one of what an adversary knows
        cell: IntArray,
        first: IntArray,
        sizes: IntArray,
        judged: _JudgedGroups,
        places: "_Places",
    ) -> "DisclosedRows":
        """Add what is believed of the groups of one adversary."""
        n = len(self.rows.counts)
        levels = self.levels if len(self.levels) else np.zeros(n, dtype=np.int64)
        by_chance = self.by_chance if len(self.by_chance) else np.zeros(n, dtype=np.bool_)
        there = cell >= 0
        mine = np.where(there, judged.level[cell], 0)
        by_chance = np.where(mine > levels, there & judged.by_chance[cell], by_chance)
        by_chance |= (mine == levels) & there & judged.by_chance[cell]
        gain = judged.posterior - judged.prior
        order = np.lexsort((-sizes, -gain, -judged.posterior, -judged.level))[:MOST_CASES]
        found = [
            Case(
                self._who(names, with_class, int(first[i])),
                max(int(sizes[i]), 1),
                places.describe(self.column, int(judged.window[i])),
                float(judged.prior[i]),
                float(judged.posterior[i]),
                Level(int(judged.level[i])),
            )
            for i in order.tolist()
            if judged.posterior[i] > 0
        ]
        every = sorted(
            (*self.cases, *found), key=lambda c: (-c.level, -c.posterior, -c.gain, -c.people)
        )
        return replace(
            self,
            levels=np.maximum(levels, mine),
            by_chance=by_chance,
            cases=tuple(every[:MOST_CASES]),
        )

    def _who(self, names: Sequence[str], with_class: bool, at: int) -> dict[str, Value]:  # noqa: FBT001
        counts = self.rows.counts
        mine = self.rows.quasi_identifiers if with_class else ()
        known = {n: counts.column(n).values[int(counts.codes_of(n)[at])] for n in mine}
        for name in names:
            column, codes = self.rows.beside.get(name) or (
                counts.column(name),
                counts.codes_of(name),
            )
            known[name] = column.values[int(codes[at])]
        return known

    def outcome(self, attack: IntervalDisclosure, target: Target, rule: HarmRule) -> Outcome:
        """Return the figures of the attack."""
        counts, cases = self.rows.counts, self.cases
        people = [0] * len(Level)
        by_chance = 0
        if len(self.levels):
            every = np.where(self.has_value, counts.rows, 0)
            people = sums(self.levels, every, len(Level)).tolist()
            by_chance = int(every[self.by_chance & (self.levels > 0)].sum())
        settings = attack.params()
        settings.pop("column")
        if not attack.known:
            settings.pop("known")
        units = self.units if len(self.levels) else None
        unreached = ""
        if self.skipped:
            unreached = f"what {self.skipped[0]} and {len(self.skipped) - 1} others tell"
            unreached = unreached if len(self.skipped) > 1 else f"what {self.skipped[0]} tells"
        return Outcome.of_levels(
            attack,
            self.column,
            people,
            cases,
            rule,
            of=int(counts.rows[self.has_value].sum()),
            by_chance=by_chance,
            # What is plain is no secret: that it is known is told only.
            judged=self.column in self.rows.sensitive and attack.known <= target.against.values,
            note="" if target.person is None else "each row was taken for a person",
            unreached=unreached if self.column in self.rows.sensitive else "",
            settings=settings,
            advice=advise(attack.advice, self.column, cases[0] if cases else None, rule),
            found=None if units is None else target.find_rows({[*Knows][attack.known]: units}),
        )


class _Places(NamedTuple):
    """The true values that are told apart: values of categories, or stretches of numbers."""

    of_code: IntArray
    """The place of each published value."""

    likelihood: FloatArray
    """How likely each place is published (lines) for each true one (columns)."""

    prior: FloatArray
    """The shares of true values at each place, as far as the whole release tells."""

    width: int
    """How many places the interval of a belief has."""

    labels: tuple[Value, ...]
    """The value of each place, or the middle of its stretch."""

    step: float
    """The width of a place of numbers; 0 for categories."""

    caution: float = 1.0
    """What is taken of the number of people that the shares of all count for."""

    @classmethod
    def of(
        cls, rows: PerturbedRows, name: str, within: float | None, per_window: int = _PER_WINDOW
    ) -> Self:
        seen, member = rows.look_at(name), rows.members[name]
        numbers = seen.numbers
        # Days have ranks too, and no numbers.
        others = bool(np.isnan(numbers).any())
        few = _FEWEST_NUMBERS - 1 if member.near else _FEWEST_PLACES
        if others or (not member.numeric and len(numbers) <= few):
            if within is not None:
                raise InputError(f"{name!r} has categories: leave 'within' out, it is for numbers")
            return cls._finish(np.arange(len(seen.values)), seen, member, 1, 0.0)
        return cls._of_numbers(rows, seen, member, numbers, within, per_window)

    @classmethod
    def _of_numbers(
        cls,
        rows: PerturbedRows,
        seen: SeenColumn,
        member: Perturbation,
        numbers: FloatArray,
        within: float | None,
        per_window: int,
    ) -> Self:
        if not len(numbers):
            return cls._finish(np.zeros(0, dtype=np.int64), seen, member, 1, 0.0)
        order = np.argsort(numbers)
        ends = np.cumsum(seen.rows[order])
        low, high = (numbers[order][np.searchsorted(ends, share * ends[-1])] for share in _MIDDLE)
        least, most = float(numbers.min()), float(numbers.max())
        half = within if within is not None else _TENTH * float(high - low)
        half = half or max((most - least) * _TENTH, 1e-9)
        fewer = _MOST_CELLS // max(len(rows.counts), 1)
        places = int(np.clip(fewer, _FEWEST_PLACES, _MOST_PLACES))
        # Two intervals meet in the middle of either, so that a value is near the middle of one.
        step = max(2 * half / per_window, (most - least) / places)
        of_code = ((numbers - least) / step).astype(np.int64)
        n = int(of_code.max()) + 1
        middles = least + step * (np.arange(n) + 0.5)
        counted = np.bincount(of_code, weights=seen.rows, minlength=n).astype(np.int64)
        binned = SeenColumn(seen.name, tuple(middles.tolist()), counted)
        width = max(round(2 * half / step), 1)
        return cls._finish(of_code, binned, member, width, step)

    @classmethod
    def _finish(
        cls, of_code: IntArray, seen: SeenColumn, member: Perturbation, width: int, step: float
    ) -> Self:
        n = len(seen.values)
        at = np.arange(n)
        likelihood = member.likelihood(at[:, None], at[None, :], seen)
        totals = likelihood.sum(axis=0)
        likelihood = likelihood / np.where(totals > 0, totals, 1.0)
        prior = seen.shares if member.keeps_shares else true_shares(likelihood, seen.shares)
        caution = 1.0 if not step or member.near else _CAUTION
        return cls(of_code, likelihood, prior, min(width, max(n, 1)), seen.values, step, caution)

    def describe(self, column: str, first: int) -> str:
        """Return in words what is believed of the places from one on."""
        if not self.labels:
            return "nothing"
        if not self.step:
            return f"{column} = {text_of(self.labels[first])}"
        low = float(str(self.labels[first])) - self.step / 2
        return f"{column} from {low:.6g} to {low + self.step * self.width:.6g}"


class _PlaceEntries(NamedTuple):
    """How many rows of each class are published at each place."""

    class_id: IntArray
    place: IntArray
    rows: IntArray
    sizes: IntArray
    """The rows of each class that have a value."""

    @classmethod
    def of(
        cls,
        rows: PerturbedRows,
        name: str,
        places: _Places,
        n: int,
        cell: IntArray | None = None,
    ) -> Self:
        """Count the rows of each group at each place.

        Args:
            rows: The rows.
            name: The column that chance has changed.
            places: Its true values that are told apart.
            n: How many groups there are.
            cell: The group of each combination, -1 if it is in none; None for its class.
        """
        counts = rows.counts
        cell = rows.class_of.astype(np.int64) if cell is None else cell
        known = (counts.codes_of(name) != counts.column(name).missing) & (cell >= 0)
        class_id = cell[known]
        place = places.of_code[counts.codes_of(name)[known]]
        groups = group([class_id, place], [n, max(len(places.prior), 1)], n=len(class_id))
        every = np.bincount(groups.of_item, weights=counts.rows[known], minlength=groups.n)
        found = every.astype(np.int64)
        class_id, place = class_id[groups.first], place[groups.first]
        sizes = np.bincount(class_id, weights=found, minlength=n).astype(np.int64)
        return cls(class_id, place, found, sizes)

    def distinct(self, places: int) -> tuple["_PlaceEntries", IntArray]:
        """Return groups that differ in how many rows they have at each place.

        Of groups that are published alike the same is believed. So a million people who are each
        the only ones with what is known of them are as many groups as there are values.

        Args:
            places: How many places there are.

        Returns:
            The groups, and which of them each group is like.
        """
        # Sums of random numbers differ where what is summed does.
        keys = np.random.default_rng(0).integers(1, 2**63, (2, max(places, 1)), dtype=np.uint64)
        n = len(self.sizes)
        told = self.rows.astype(np.uint64)
        every = np.zeros((2, n), dtype=np.uint64)
        if len(self.class_id):
            starts = np.flatnonzero(np.diff(self.class_id, prepend=-1))
            for line, key in zip(every, keys, strict=True):
                line[self.class_id[starts]] = np.add.reduceat(key[self.place] * told, starts)
        mixed = every[0] ^ (every[1] << np.uint64(1))
        _, first, of_cell = np.unique(mixed, return_index=True, return_inverse=True)
        number = np.full(n, -1, dtype=np.int64)
        number[first] = np.arange(len(first))
        mine = number[self.class_id]
        kept = np.flatnonzero(mine >= 0)
        kept = kept[np.argsort(mine[kept], kind="stable")]
        found = _PlaceEntries(mine[kept], self.place[kept], self.rows[kept], self.sizes[first])
        return found, of_cell.ravel()

    def judge(
        self,
        rule: HarmRule,
        places: _Places,
        own: float,
        secrecy: IntArray | None,
        times: IntArray,
        *,
        rough: bool = False,
    ) -> _JudgedGroups:
        """Return what is believed of each group, and how much it harms its people.

        Args:
            rule: When what is believed harms.
            places: The true values that are told apart.
            own: How many people of a group the shares of all people count for.
            secrecy: How much each place is a secret; None if all are ordinary.
            times: Which of these groups each of all groups is like.
            rough: Whether small groups whose numbers are far apart at first sight are left at that.
        """
        by_all = self.worst(rule, places, own, secrecy, rough=rough and places.width > 1)
        # Of an interval the best of many is taken for each group, and one is likely odd by chance.
        lowered = places.width > 1
        found = self.lower_by_chance(rule, places, by_all, secrecy, times) if lowered else by_all
        many = self.sizes >= _FEWEST_PER_VALUE * max(len(places.prior) / places.width, 1)
        alike = self.lower_if_alike(places, found, self, times)
        # Of few people what each shows by itself is told, and not how many show it.
        found = found._replace(
            level=np.where(many, alike.level, found.level),
            by_chance=np.where(many, alike.by_chance, found.by_chance),
        ).take(times)
        if not many.any():
            return found
        number = np.cumsum(many) - 1
        large = self._only(many)
        alone = large.worst(rule, places, None, secrecy, rough=rough and places.width > 1)
        here = np.flatnonzero(many[times])
        of_large = number[times[here]]
        alone = large.lower_by_chance(rule, places, alone, secrecy, of_large)
        flat = large.lower_if_alike(places, alone, self, times).take(of_large)
        more = (flat.level > found.level[here]) | (
            (flat.level == found.level[here]) & (flat.posterior > found.posterior[here])
        )
        for mine, theirs in zip(found, flat, strict=True):
            mine[here[more]] = theirs[more]
        return found

    def worst(
        self,
        rule: HarmRule,
        places: _Places,
        own: float | None,
        secrecy: IntArray | None,
        *,
        rough: bool = False,
    ) -> _JudgedGroups:
        """Return the belief that harms the people of each group most, before chance."""
        n = len(self.sizes)
        groups, first, prior, posterior = (
            self._look(places, own) if rough else self.believe(places, own)
        )
        mine = None if secrecy is None else secrecy[first]
        at = strongest(rule, groups, prior, posterior, mine, n)
        there = at >= 0
        chosen = np.maximum(at, 0)
        if not len(first):
            none = np.zeros(n)
            nothing = np.zeros(n, dtype=np.int64)
            return _JudgedGroups(
                nothing, nothing.copy(), none, none.copy(), np.zeros(n, dtype=np.bool_)
            )
        found = rule.judge(
            prior[chosen],
            posterior[chosen],
            0,
            applies=there,
            secrecy=None if mine is None else mine[chosen],
        )
        return _JudgedGroups(
            found.levels,
            np.where(there, first[chosen], 0),
            np.where(there, prior[chosen], 0.0),
            np.where(there, posterior[chosen], 0.0),
            np.zeros(n, dtype=np.bool_),
        )

    def lower_by_chance(
        self,
        rule: HarmRule,
        places: _Places,
        judged: _JudgedGroups,
        secrecy: IntArray | None,
        times: IntArray,
    ) -> _JudgedGroups:
        """Return beliefs with one level less where chance makes groups as odd."""
        if not judged.level.any():
            return judged
        many = np.bincount(times, minlength=len(self.sizes))
        total = max(int((self.sizes * many).sum()), 1)
        windows = _in_windows(places.prior[None, :], places.width)[0]
        expected = np.rint(windows * total).astype(np.int64)
        counted = np.rint(judged.posterior * self.sizes).astype(np.int64)
        step = max(places.width, 1)
        marked = expected[judged.window]
        chance = chance_of_values(rule, self.sizes, counted, marked, expected[::step], total=total)
        # Each counts as often as there are groups like it.
        every = replace(chance, reach=chance.reach[:, times], surprise=chance.surprise[times])
        alone = rule.judge(
            judged.prior[times],
            judged.posterior[times],
            total,
            applies=judged.level[times] > 0,
            secrecy=None if secrecy is None else secrecy[judged.window][times],
            chance=every,
        )
        level, by_chance = judged.level.copy(), judged.by_chance.copy()
        level[times], by_chance[times] = alone.levels, alone.by_chance
        return judged._replace(level=level, by_chance=by_chance)

    def lower_if_alike(
        self, places: _Places, judged: _JudgedGroups, every: "_PlaceEntries", times: IntArray
    ) -> _JudgedGroups:
        """Return beliefs with one level less where a group is published as all people are.

        What chance adds to a value that it seldom keeps is more than the people of a group differ
        by. So it is asked how likely some group would show the value so often.
        """
        if places.width > 1 or not judged.level.any():
            return judged
        n, many = len(places.prior), np.bincount(times, minlength=len(every.sizes))
        weights = every.rows * many[every.class_id]
        shown = np.bincount(every.place, weights=weights, minlength=n).astype(np.int64)
        mine = self.place == judged.window[self.class_id]
        found = np.bincount(
            self.class_id[mine], weights=self.rows[mine], minlength=len(self.sizes)
        ).astype(np.int64)
        chance = draw_tail(found, self.sizes, shown[judged.window], int(shown.sum()))
        lowered = (chance * len(times) * n > _ALIKE) & (judged.level > 0) & ~judged.by_chance
        return judged._replace(level=judged.level - lowered, by_chance=judged.by_chance | lowered)

    def _look(
        self, places: _Places, own: float | None
    ) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Return what is believed of the numbers of many groups, most of them small.

        Rows of a small group that are near each other by chance draw each other nearer with every
        round, until all are taken for one number. So that ends early. Where they are far apart at
        first sight, it is left at that.
        """
        first = self.believe(places, own, rounds=0)
        most = np.zeros(len(self.sizes))
        np.maximum.at(most, first[0], first[3])
        odd = (most >= _ODD) | (self.sizes >= _LARGE)
        many = self.sizes >= _SETTLED
        found = [(first, ~odd)]
        for some, rounds in ((odd & ~many, _FEW_ROUNDS), (odd & many, _ROUNDS)):
            again = self._only(some).believe(places, own, rounds)
            found.append(((np.flatnonzero(some)[again[0]], *again[1:]), some))
        groups = np.concatenate([each[0][of[each[0]]] for each, of in found])
        order = np.argsort(groups, kind="stable")
        at, prior, posterior = (
            np.concatenate([each[place][of[each[0]]] for each, of in found])[order]
            for place in (1, 2, 3)
        )
        return groups[order], at.astype(np.int64), prior, posterior

    def _only(self, some: BoolArray) -> "_PlaceEntries":
        """Return some of the groups."""
        number, inside = np.cumsum(some) - 1, some[self.class_id]
        return _PlaceEntries(
            number[self.class_id[inside]], self.place[inside], self.rows[inside], self.sizes[some]
        )

    def believe(
        self, places: _Places, own: float | None, rounds: int = _ROUNDS
    ) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Return for each group the windows that are believed most: its number, prior, belief.

        Args:
            places: The true values that are told apart.
            own: How many people of a group the shares of all people count for; None for a flat
                prior, which counts for one person of each value.
            rounds: How often rows tell each other what they tell.
        """
        kept: list[tuple[IntArray, IntArray, FloatArray, FloatArray]] = []
        windows = _in_windows(places.prior[None, :], places.width)[0]
        starts = np.flatnonzero(np.diff(self.class_id, prepend=-1))
        most = max(_MOST_CELLS // (10 * max(len(places.prior), 1)), 1)
        at = 0
        while at < len(starts):
            end = np.searchsorted(starts, starts[at] + most, side="right")
            end = max(int(end), at + 1)
            stop = starts[end] if end < len(starts) else len(self.class_id)
            part = slice(int(starts[at]), int(stop))
            ids = self.class_id[starts[at:end]]
            told = self.class_id[part], self.place[part], self.rows[part]
            belief = _belief(*told, places, own, rounds)
            inside = _in_windows(belief / self.sizes[ids][:, None], places.width)
            inside = np.minimum(inside, 1.0)
            few = places.width == 1 and len(windows) <= _FEWEST_PLACES
            # Of few values each, else the window that is believed most, and that gained most.
            best = (
                [np.full(len(ids), at) for at in range(len(windows))]
                if few
                else [inside.argmax(axis=1), (inside - windows).argmax(axis=1)]
            )
            for window in best:
                line = np.arange(len(ids))
                kept.append((ids, window, windows[window], inside[line, window]))
            at = end
        if not kept:
            none = np.zeros(0, dtype=np.int64)
            return none, none, np.zeros(0), np.zeros(0)
        found = [np.concatenate(each) for each in zip(*kept, strict=True)]
        order = np.argsort(found[0], kind="stable")
        classes, first, prior, posterior = (each[order] for each in found)
        return classes, first, np.minimum(prior, 1.0), posterior

    def weigh_all(self, places: _Places) -> float:
        """Return how many people of a class the shares of all count for.

        Two people of a class have one true value with a probability that follows from it, and two
        of their rows are published alike more often then. How often they are is counted.
        """
        pairs = float((self.sizes * (self.sizes - 1)).sum())
        every = np.bincount(self.place, weights=self.rows, minlength=len(places.prior))
        total = float(every.sum())
        if pairs <= 0 or total < 2:
            return _OWN[1]
        alike = float((self.rows * (self.rows - 1)).sum()) / pairs
        strangers = float((every * (every - 1)).sum()) / (total * (total - 1))
        twins = float(((places.likelihood**2).sum(axis=0) * places.prior).sum())
        # What chance makes alike is no reason to believe that classes differ.
        alike -= _ERRORS * float(np.sqrt(strangers * (1 - strangers) / pairs))
        if alike <= strangers or twins <= strangers:
            return _OWN[1]
        found = (twins - alike) / (alike - strangers)
        return float(np.clip(places.caution * found, *_OWN))


def _in_windows(shares: FloatArray, width: int) -> FloatArray:
    """Return the sum of each line from each place on, as many places as a window has.

    >>> _in_windows(np.array([[0.1, 0.2, 0.3, 0.4]]), 2).round(1).tolist()
    [[0.3, 0.5, 0.7]]
    """
    sums = np.cumsum(np.pad(shares, ((0, 0), (1, 0))), axis=1)
    found: FloatArray = sums[:, width:] - sums[:, :-width]
    return found


def _belief(
    class_id: IntArray,
    place: IntArray,
    rows: IntArray,
    places: _Places,
    own: float | None,
    rounds: int = _ROUNDS,
) -> FloatArray:
    """Return the expected number of people of each class at each true place.

    What a row tells is weighed with the shares of all people and with what the other rows of its
    class tell: a row is no evidence for itself.

    Args:
        class_id: The class of each entry, in rising order.
        place: Where it is published.
        rows: How many rows it has.
        places: The true values that are told apart.
        own: How many people of a class the shares of all people count for; None for a flat prior,
            which counts for one person of each value, or of each window that is told apart.
        rounds: How often rows tell each other what they tell, at most.
    """
    starts = np.flatnonzero(np.diff(class_id, prepend=-1))
    line = np.cumsum(np.diff(class_id, prepend=-1) != 0) - 1
    told = places.likelihood[place]
    weights = rows[:, None]
    sizes = np.add.reduceat(rows, starts)
    prior = np.full((1, len(places.prior)), 1.0 / places.width)
    if own is not None:
        prior = own * places.prior[None, :]

    def scale_to_one(found: FloatArray) -> FloatArray:
        totals = found.sum(axis=1, keepdims=True)
        return np.where(totals > 0, found / np.where(totals > 0, totals, 1.0), prior / prior.sum())

    each = scale_to_one(told * prior)
    found: FloatArray = np.add.reduceat(each * weights, starts, axis=0)
    together, active = found, np.arange(len(sizes))
    for _ in range(rounds):
        each = scale_to_one(told * (prior + np.maximum(together[line] - each, 0.0)))
        after = np.add.reduceat(each * weights, starts, axis=0)
        moved = np.abs(after - together).max(axis=1) >= _ENOUGH * sizes
        together = found[active] = after
        left = np.count_nonzero(moved)
        if not left:
            break
        if 2 * left <= len(moved):
            # Most are settled after a few rounds, and only the others go on.
            kept = moved[line]
            active, together, sizes = active[moved], together[moved], sizes[moved]
            told, each, weights = told[kept], each[kept], weights[kept]
            line = (np.cumsum(moved) - 1)[line[kept]]
            starts = np.flatnonzero(np.diff(line, prepend=-1))
    return found


_ENOUGH = 1e-4
"""What a share may still change when it is taken for settled."""
