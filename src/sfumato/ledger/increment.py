"""One increment on a ledger: from what is asked to what is written."""

import hmac
import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np

from sfumato.classes import (
    MISSING,
    EquivalenceClasses,
    SensitiveColumn,
    ValueCounts,
    merge_counts,
    reference_of,
)
from sfumato.errors import InputError, PolicyError
from sfumato.ledger.records import Change, GroupState, group_states
from sfumato.ledger.store import (
    Offers,
    Tally,
    admit,
    breach,
    digest_text,
    fits,
    rows_digest,
    shift,
    split_keys,
    thinned,
)
from sfumato.models.base import PrivacyModel, TableModel
from sfumato.policy import Policy
from sfumato.text import in_order
from sfumato.typing import IntArray, Value

# What is asked of a ledger: rows to add, to remove or to correct; and those that wait.


Kind = Literal["add", "remove", "correct"]


class Ask(NamedTuple):
    """One row, generalised: the labels of its group, and its sensitive values.

    A correction names the row as it was published and as it should have been.
    """

    kind: Kind
    labels: str
    row: str
    new_labels: str = ""
    new_row: str = ""

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups it concerns."""
        return (self.labels, self.new_labels) if self.kind == "correct" else (self.labels,)


@dataclass(frozen=True)
class Waiting:
    """How many rows of a kind wait, and since which release."""

    rows: int
    since: int


def waiting_in(db: sqlite3.Connection, groups: Iterable[str]) -> dict[Ask, Waiting]:
    """Read the rows that wait in some groups."""
    keys = json.dumps(list(groups))
    found = {}
    for column in ("labels", "new_labels"):
        for *ask, rows, since in db.execute(
            "SELECT kind, labels, row, new_labels, new_row, rows, since FROM waiting "  # noqa: S608
            f"WHERE {column} IN (SELECT value FROM json_each(?))",
            (keys,),
        ):
            found[Ask(*ask)] = Waiting(rows, since)
    return found


def write_waiting(
    db: sqlite3.Connection, before: Mapping[Ask, Waiting], after: Mapping[Ask, Waiting]
) -> None:
    """Let rows wait, and let go of those that do not any more."""
    moved = 0
    for ask in before.keys() | after.keys():
        old, new = before.get(ask), after.get(ask)
        if old == new:
            continue
        key = (ask.kind, ask.labels, ask.row, ask.new_labels, ask.new_row)
        if old is not None:
            moved -= rows_digest([(*key, old.rows, old.since)])
            db.execute(
                "DELETE FROM waiting WHERE kind = ? AND labels = ? AND row = ? AND "
                "new_labels = ? AND new_row = ?",
                key,
            )
        if new is not None:
            moved += rows_digest([(*key, new.rows, new.since)])
            db.execute(
                "INSERT INTO waiting (kind, labels, row, new_labels, new_row, rows, since) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*key, new.rows, new.since),
            )
    shift(db, "waiting", moved)


def withdrawn(
    given: Counter[Ask], waiting: Mapping[Ask, Waiting]
) -> tuple[Counter[Ask], dict[Ask, Waiting], int]:
    """Let requests meet rows that still wait: who was never published need not be removed.

    Gives what is left to ask, what is left waiting, and how many rows were withdrawn.
    """
    asked, left, gone = Counter(given), dict(waiting), 0
    for ask, rows in given.items():
        if ask.kind == "add":
            continue
        unpublished = Ask("add", ask.labels, ask.row)
        if unpublished not in left:
            continue
        n = min(rows, left[unpublished].rows)
        gone += n
        asked[ask] -= n
        if ask.kind == "correct":
            asked[Ask("add", ask.new_labels, ask.new_row)] += n
        rest = left[unpublished].rows - n
        if rest:
            left[unpublished] = replace(left[unpublished], rows=rest)
        else:
            del left[unpublished]
    return +asked, left, gone


def refuse_unpublished(
    asks: Mapping[Ask, int], groups: Mapping[str, GroupState], columns: tuple[str, ...]
) -> None:
    """Refuse to remove or correct rows that cannot have been published."""
    wanted: Counter[tuple[str, int, str]] = Counter()
    for ask, rows in asks.items():
        if ask.kind != "add":
            for column, value in enumerate(split_keys(ask.row)):
                wanted[ask.labels, column, value] += rows
    for (labels, column, value), rows in wanted.items():
        group = groups[labels]
        code = group.codes[column].get(value)
        there = 0 if code is None else group.rows[column][code]
        if rows > there:
            raise InputError(
                f"{rows} rows with {columns[column]} {value} are to leave the group "
                f"{labels}, which was published with {there}. Give rows to delete or correct as "
                "they were published; nothing was changed."
            )


# What becomes of an increment: who joins, who leaves, who waits, and why.
#
# Every group is settled for itself: first what the limit allows (`admission`), then what may be
# published *now*. Two releases can be compared, so the newcomers of a group are seen by
# themselves, and so are those who left: with `hold` a group changes only when there are at least
# k of them and their own tables are within the limit too. The group that comes out must keep the
# policy. What is not published is taken back as a whole, group by group.


@dataclass(frozen=True, eq=False)
class Wishes:
    """All that is asked of one group; values are positions in the tally's counts."""

    start: Tally
    joining: Offers
    leaving: Offers


@dataclass(frozen=True)
class Correction:
    """A row that becomes another: both happen, or neither."""

    old: tuple[int, tuple[int, ...]]
    """The position of the group, and the values it had."""

    new: tuple[int, tuple[int, ...]]


@dataclass(frozen=True)
class Rules:
    """What a group must keep."""

    alpha: Fraction
    k: int
    hold: bool = True
    broken: Callable[[int, Tally], str] = field(default=lambda group, tally: "")  # noqa: ARG005
    """Gives the promises of the policy that a group with this tally would break."""


@dataclass(eq=False)
class Settled:
    """What becomes of one group."""

    wishes: Wishes
    joined: IntArray
    left: IntArray
    corrected_in: list[tuple[int, ...]] = field(default_factory=list)
    corrected_out: list[tuple[int, ...]] = field(default_factory=list)
    why: str = ""
    """Why rows of it wait, if some do."""

    @property
    def now(self) -> Tally:
        """The group as it will be published."""
        tally = self.wishes.start.plus(self.wishes.joining.values, self.joined)
        tally = tally.minus(self.wishes.leaving.values, self.left)
        for row in self.corrected_in:
            tally = tally.plus(_column(row))
        for row in self.corrected_out:
            tally = tally.minus(_column(row))
        return tally

    @property
    def newcomers(self) -> Tally:
        """Those who join, by themselves."""
        tally = _nobody(self.wishes.start).plus(self.wishes.joining.values, self.joined)
        for row in self.corrected_in:
            tally = tally.plus(_column(row))
        return tally

    @property
    def leavers(self) -> Tally:
        """Those who leave, by themselves."""
        tally = _nobody(self.wishes.start).plus(self.wishes.leaving.values, self.left)
        for row in self.corrected_out:
            tally = tally.plus(_column(row))
        return tally

    @property
    def changed(self) -> bool:
        """Whether anybody joins or leaves."""
        return bool(self.joined.any() or self.left.any() or self.corrected_in or self.corrected_out)

    def take_back(self, why: str) -> None:
        """Leave the group as it was."""
        self.joined = np.zeros_like(self.joined)
        self.left = np.zeros_like(self.left)
        self.corrected_in, self.corrected_out = [], []
        self.why = self.why or why

    def refused(self, alpha: Fraction) -> IntArray:
        """Give how many rows of each combination do not fit into the group as it will be.

        In a group that is not there yet nobody is refused: all wait.
        """
        rest = self.wishes.joining.rows - self.joined
        now = self.now
        if not now.size:
            return np.zeros_like(rest)
        for i in np.flatnonzero(rest):
            if fits(now, now.plus(self.wishes.joining.values[:, [i]]), alpha):
                rest[i] = 0
        return rest


@dataclass(frozen=True, eq=False)
class Outcome:
    """What becomes of an increment."""

    groups: tuple[Settled, ...]
    corrected: tuple[bool, ...]
    """One per correction: whether it is published."""


def decide(
    wishes: Sequence[Wishes],
    corrections: Sequence[Correction],
    rules: Rules,
    rng: np.random.Generator,
) -> Outcome:
    """Settle every group, then the corrections, then take back what may not be published yet.

    Example:
        >>> start = Tally(4, (np.array([2, 2]),))
        >>> joining = Offers(np.array([[0, 1]]), np.array([3, 2]))
        >>> wishes = Wishes(start, joining, Offers(np.zeros((1, 0), dtype=int), np.zeros(0, int)))
        >>> rules = Rules(Fraction(1, 2), k=2)
        >>> [group] = decide([wishes], [], rules, np.random.default_rng(0)).groups
        >>> group.joined.tolist(), group.refused(Fraction(1, 2)).tolist()
        ([2, 2], [1, 0])
    """
    groups = tuple(_settled(each, rules, rng) for each in wishes)
    done = _corrected(groups, corrections, rules, rng)
    _take_back(groups, corrections, done, rules)
    return Outcome(groups, tuple(done))


def _settled(wishes: Wishes, rules: Rules, rng: np.random.Generator) -> Settled:
    settled = _within_the_limit(wishes, rules, rng)
    if rules.hold:
        _hold_back_the_frequent(settled, rules, rng)
    return settled


def _within_the_limit(wishes: Wishes, rules: Rules, rng: np.random.Generator) -> Settled:
    """Let join and leave whom the limit allows; those who join may make leaving possible."""
    start, joining, leaving = wishes.start, wishes.joining, wishes.leaving
    if leaving.total:
        without = start.minus(leaving.values, leaving.rows)
        if without.possible:
            everybody = Settled(
                wishes, admit(without, joining, rules.alpha, rng), leaving.rows.copy()
            )
            if _acceptable(everybody, rules):
                return everybody
    settled = Settled(wishes, admit(start, joining, rules.alpha, rng), np.zeros_like(leaving.rows))
    _let_leave_singly(settled, rules, rng)
    return settled


def _acceptable(settled: Settled, rules: Rules) -> bool:
    now = settled.now
    enough = now.size == 0 or now.size >= min(rules.k, settled.wishes.start.size)
    return now.possible and enough and fits(settled.wishes.start, now, rules.alpha)


def _let_leave_singly(settled: Settled, rules: Rules, rng: np.random.Generator) -> None:
    leaving = settled.wishes.leaving
    going = True
    while going:
        going = False
        for i in rng.permutation(len(leaving.rows)):
            while settled.left[i] < leaving.rows[i]:
                settled.left[i] += 1
                if not _acceptable(settled, rules):
                    settled.left[i] -= 1
                    break
                going = True
    if settled.left.sum() < leaving.total:
        settled.why = _why_they_stay(settled, rules)


def _why_they_stay(settled: Settled, rules: Rules) -> str:
    now, leaving = settled.now, settled.wishes.leaving
    rest = now.minus(leaving.values, leaving.rows - settled.left)
    if not rest.possible:
        return "rows are to leave that the group does not hold"
    if 0 < rest.size < rules.k:
        return f"the group would be left with {rest.size} rows, fewer than k={rules.k}"
    return (
        f"what is left would tell up to {_percent(rest.worst)}, more than {_percent(rules.alpha)}"
    )


def _hold_back_the_frequent(settled: Settled, rules: Rules, rng: np.random.Generator) -> None:
    """Keep those back whose values are too frequent among the newcomers, or among the leavers."""
    joining, leaving = settled.wishes.joining, settled.wishes.leaving
    joined = thinned(Offers(joining.values, settled.joined), rules.alpha, rng)
    if joined.sum() < settled.joined.sum():
        settled.why = settled.why or (
            "compared with the last release the newcomers would be too much alike"
        )
    settled.joined = joined
    if settled.left.sum() < settled.wishes.start.size:
        settled.left = thinned(Offers(leaving.values, settled.left), rules.alpha, rng)


def _corrected(
    groups: Sequence[Settled],
    corrections: Sequence[Correction],
    rules: Rules,
    rng: np.random.Generator,
) -> list[bool]:
    """Make the corrections that fit, one after the other, until no more does."""
    done = [False] * len(corrections)
    going = bool(corrections)
    while going:
        going = False
        for i in rng.permutation(len(corrections)).tolist():
            if not done[i] and _correct(groups, corrections[i], rules):
                done[i] = going = True
    return done


def _correct(groups: Sequence[Settled], correction: Correction, rules: Rules) -> bool:
    (out_of, old), (into, new) = correction.old, correction.new
    groups[out_of].corrected_out.append(old)
    groups[into].corrected_in.append(new)
    concerned = {out_of, into}
    # A group that is new cannot be judged before all of it is there; that comes later.
    if all(_acceptable(groups[g], rules) or not groups[g].wishes.start.size for g in concerned):
        return True
    groups[out_of].corrected_out.pop()
    groups[into].corrected_in.pop()
    return False


def _take_back(
    groups: Sequence[Settled],
    corrections: Sequence[Correction],
    done: list[bool],
    rules: Rules,
) -> None:
    """Leave groups as they were that may not be published so, until all that change may."""
    to_look_at = set(range(len(groups)))
    while to_look_at:
        group = to_look_at.pop()
        why = _objection(group, groups[group], rules)
        if not why:
            continue
        groups[group].take_back(why)
        for i, correction in enumerate(corrections):
            if done[i] and group in (correction.old[0], correction.new[0]):
                done[i] = False
                to_look_at |= _undo(groups, correction, group)


def _undo(groups: Sequence[Settled], correction: Correction, group: int) -> set[int]:
    """Take the other half of a correction back, and say which group that concerns."""
    (out_of, old), (into, new) = correction.old, correction.new
    if out_of != group:
        groups[out_of].corrected_out.remove(old)
        return {out_of}
    if into != group:
        groups[into].corrected_in.remove(new)
        return {into}
    return set()


def _objection(group: int, settled: Settled, rules: Rules) -> str:
    if not settled.changed:
        return ""
    now, start = settled.now, settled.wishes.start
    if 0 < now.size < rules.k:
        return f"the group would have {now.size} rows, fewer than k={rules.k}"
    if not now.possible or not fits(start, now, rules.alpha):
        return (
            f"the group would tell up to {_percent(now.worst)}, more than {_percent(rules.alpha)}"
        )
    broken = rules.broken(group, now) if now.size else ""
    if broken:
        return f"the group would break {broken}"
    if not rules.hold:
        return ""
    return _seen_by_comparing(settled, rules)


def _seen_by_comparing(settled: Settled, rules: Rules) -> str:
    vanishes = not settled.now.size
    for who, batch in (("newcomers", settled.newcomers), ("leavers", settled.leavers)):
        if not batch.size or vanishes:
            continue
        if batch.size < rules.k:
            return (
                f"compared with the last release the {who} would be {batch.size}, "
                f"fewer than k={rules.k}"
            )
        if batch.worst > rules.alpha:
            return (
                f"compared with the last release the {who} would tell up to "
                f"{_percent(batch.worst)}, more than {_percent(rules.alpha)}"
            )
    return ""


def _percent(share: Fraction) -> str:
    return f"{100 * float(share):.4g} %"


def _nobody(like: Tally) -> Tally:
    return Tally(0, tuple(np.zeros_like(count) for count in like.counts))


def _column(row: Iterable[int]) -> IntArray:
    return np.array(list(row), dtype=np.int64)[:, None]


@dataclass(frozen=True)
class Refusal:
    """Rows that were refused, and what they would have told."""

    labels: tuple[str | None, ...]
    row: tuple[str | None, ...]
    rows: int
    group_only: Fraction
    """The breach probability of the row's values for whoever knows the group."""

    with_a_value: Fraction
    """The same for whoever knows one of the values besides."""

    worst: Fraction
    """The largest of any combination in the group, with the row."""


@dataclass(frozen=True)
class Held:
    """Rows that are not published yet, and why."""

    ask: Ask
    rows: int
    why: str


@dataclass(frozen=True, eq=False)
class Result:
    """What becomes of everything that was asked, and of what had been waiting."""

    changes: tuple[Change, ...]
    settled: tuple[Settled, ...]
    """One per change."""

    published: Counter[Ask]
    refused: tuple[Refusal, ...]
    refused_asks: Counter[Ask]
    held: tuple[Held, ...]
    before: Mapping[Ask, Waiting]
    """What had been waiting in the groups concerned."""

    after: Mapping[Ask, Waiting]
    withdrawn: int
    over: tuple[tuple[str, Fraction], ...]
    """Groups that were published above the limit, and what they tell now."""


def consider(
    db: sqlite3.Connection,
    given: Counter[Ask],
    columns: tuple[str, ...],
    rules: Rules,
    rng: np.random.Generator,
    *,
    sequence: int,
    promises: Callable[[GroupState, Tally], str] | None = None,
) -> Result:
    """Decide on an increment. Reads the groups it concerns, and writes nothing.

    Args:
        db: The ledger.
        given: What is asked, with the number of rows.
        columns: The sensitive columns.
        rules: What a group must keep.
        rng: In which order rows are considered.
        sequence: The number the release will have.
        promises: Names the promises of the policy that a group would break.
    """
    before = waiting_in(db, {group for ask in given for group in ask.groups})
    asked, waiting, gone = withdrawn(given, before)
    total = Counter({ask: each.rows for ask, each in waiting.items()})
    total.update(asked)
    groups = group_states(db, (group for ask in total for group in ask.groups), len(columns))
    refuse_unpublished(asked, groups, columns)
    work = _Work(groups, total)
    if promises is not None:
        rules = replace(rules, broken=lambda i, tally: promises(work.states[i], tally))
    outcome = decide(work.wishes(), work.corrections, rules, rng)
    return _Reading(work, outcome, asked, waiting, rules.alpha, sequence).result(before, gone)


class _Work:
    """Asks sorted by group, with values as codes."""

    def __init__(self, groups: Mapping[str, GroupState], total: Counter[Ask]) -> None:
        self.states = list(groups.values())
        self.place = {state.key: i for i, state in enumerate(self.states)}
        self.joining: dict[int, list[Ask]] = defaultdict(list)
        self.leaving: dict[int, list[Ask]] = defaultdict(list)
        self.total = total
        self.corrections: list[Correction] = []
        self.corrected: list[Ask] = []
        for ask, rows in total.items():
            if ask.kind == "correct":
                one = Correction(
                    self._at(ask.labels, ask.row), self._at(ask.new_labels, ask.new_row)
                )
                self.corrections += [one] * rows
                self.corrected += [ask] * rows
            else:
                side = self.joining if ask.kind == "add" else self.leaving
                side[self.place[ask.labels]].append(ask)
                self._at(ask.labels, ask.row)

    def _at(self, labels: str, row: str) -> tuple[int, tuple[int, ...]]:
        place = self.place[labels]
        return place, self.codes(place, row)

    def codes(self, place: int, row: str) -> tuple[int, ...]:
        """Give the codes of a row's values in its group."""
        state = self.states[place]
        return tuple(state.code(column, key) for column, key in enumerate(split_keys(row)))

    def wishes(self) -> list[Wishes]:
        """Say what is asked of each group."""
        return [
            Wishes(
                state.tally(), self._offers(i, self.joining[i]), self._offers(i, self.leaving[i])
            )
            for i, state in enumerate(self.states)
        ]

    def _offers(self, place: int, asks: list[Ask]) -> Offers:
        codes = [self.codes(place, ask.row) for ask in asks]
        values = np.array(codes, dtype=np.int64).reshape(len(asks), len(self.states[place].codes)).T
        return Offers(values, np.array([self.total[ask] for ask in asks], dtype=np.int64))


@dataclass(frozen=True, eq=False)
class _Reading:
    """An outcome, read back into rows."""

    work: _Work
    outcome: Outcome
    asked: Counter[Ask]
    waiting: Mapping[Ask, Waiting]
    alpha: Fraction
    sequence: int

    def result(self, before: Mapping[Ask, Waiting], gone: int) -> Result:
        published: Counter[Ask] = Counter()
        refused: Counter[Ask] = Counter()
        refusals: list[Refusal] = []
        for i, settled in enumerate(self.outcome.groups):
            published.update(dict(zip(self.work.joining[i], settled.joined.tolist(), strict=True)))
            published.update(dict(zip(self.work.leaving[i], settled.left.tolist(), strict=True)))
            for ask, n in zip(
                self.work.joining[i], settled.refused(self.alpha).tolist(), strict=True
            ):
                # Rows that had been waiting go on doing so; of those given now, some are refused.
                mine = min(n, self.asked[ask], self.work.total[ask] - published[ask])
                if mine:
                    refused[ask] = mine
                    refusals.append(self._refusal(i, settled, ask, mine))
        published.update(
            ask
            for ask, done in zip(self.work.corrected, self.outcome.corrected, strict=True)
            if done
        )
        changed = [i for i, settled in enumerate(self.outcome.groups) if settled.changed]
        held = self._held(published, refused)
        return Result(
            tuple(self._change(i) for i in changed),
            tuple(self.outcome.groups[i] for i in changed),
            +published,
            tuple(refusals),
            refused,
            held,
            before,
            {each.ask: Waiting(each.rows, self._since(each.ask)) for each in held},
            gone,
            tuple(
                (state.key, settled.now.worst)
                for state, settled in zip(self.work.states, self.outcome.groups, strict=True)
                if settled.wishes.start.worst > self.alpha
            ),
        )

    def _since(self, ask: Ask) -> int:
        return self.waiting[ask].since if ask in self.waiting else self.sequence

    def _held(self, published: Counter[Ask], refused: Counter[Ask]) -> tuple[Held, ...]:
        held = []
        for ask, rows in self.work.total.items():
            rest = rows - published[ask] - refused[ask]
            if rest:
                held.append(Held(ask, rest, self._why(ask)))
        return tuple(held)

    def _why(self, ask: Ask) -> str:
        for group in ask.groups:
            place = self.work.place[group]
            settled = self.outcome.groups[place]
            if settled.why:
                return settled.why
            if not settled.wishes.start.size:
                return "the group is new, and its rows do not yet keep what a group must"
        return "the group has no room for it at present"

    def _refusal(self, place: int, settled: Settled, ask: Ask, rows: int) -> Refusal:
        codes = self.work.codes(place, ask.row)
        with_it = settled.now.plus(np.array(codes, dtype=np.int64)[:, None])
        return Refusal(
            tuple(json.loads(ask.labels)),
            tuple(json.loads(ask.row)),
            rows,
            *breach(with_it, codes),
            with_it.worst,
        )

    def _change(self, place: int) -> Change:
        settled = self.outcome.groups[place]
        counts: tuple[IntArray, ...] = tuple(
            new - old
            for new, old in zip(settled.now.counts, settled.wishes.start.counts, strict=True)
        )
        return Change(self.work.states[place], settled.newcomers.size, settled.leavers.size, counts)


# The policy's models, asked about single groups as they would be published.


def refuse_models(policy: Policy) -> None:
    """Refuse models that no group can be asked about by itself."""
    for model in policy.models:
        if isinstance(model, TableModel) or model.needs_population:
            raise PolicyError(
                f"a ledger cannot keep {model}: it judges all groups together, or compares them "
                "with a population, and an increment is decided group by group. Start the ledger "
                "with a policy without it, for example with k-anonymity."
            )


class Promises:
    """Which models of a policy a group breaks.

    Models that compare a group with the whole table compare it with the first release: that
    distribution is public, and does not move with every increment.

    Args:
        policy: What every group must keep.
        sensitive: The sensitive columns in the order of the ledger.
        reference: For each column, how many rows of the first release have each value.
    """

    def __init__(
        self,
        policy: Policy,
        sensitive: tuple[str, ...],
        reference: Mapping[int, Mapping[str, int]],
    ) -> None:
        self._policy = policy
        self._sensitive = sensitive
        self._reference = reference

    def broken_by(self, state: GroupState, tally: Tally) -> str:
        """Name the models that a group with these counts breaks; empty if it keeps all."""
        named = {column for model in self._policy.models for column in model.columns}
        counts = {
            name: self._counts(i, state, tally)
            for i, name in enumerate(self._sensitive)
            if name in named
        }
        classes = EquivalenceClasses(np.array([tally.size], dtype=np.int64), counts)
        return ", ".join(str(model) for model in self._policy.models if _breaks(model, classes))

    def _counts(self, column: int, state: GroupState, tally: Tally) -> ValueCounts:
        whole = self._reference.get(column, {})
        texts = [json.loads(key) for key in {**whole, **state.codes[column]}]
        known = [value for value in in_order(texts) if value is not None]
        code = {value: i for i, value in enumerate(known)} | {None: MISSING}
        described = self._described(self._sensitive[column], tuple(known))
        reference = reference_of(
            np.array([code[json.loads(key)] for key in whole], dtype=np.int64),
            np.array(list(whole.values()), dtype=np.int64),
            len(known),
        )
        here = [
            (code[json.loads(key)], int(tally.counts[column][i]))
            for key, i in state.codes[column].items()
            if tally.counts[column][i] > 0
        ]
        value, rows = np.array(sorted(here), dtype=np.int64).reshape(-1, 2).T
        group = np.zeros(len(rows), dtype=np.int64)
        return merge_counts(ValueCounts(described, group, value, rows, reference), group)

    def _described(self, name: str, known: tuple[Value, ...]) -> SensitiveColumn:
        rule = self._policy.columns.get(name)
        builder = None if rule is None else rule.hierarchy
        if builder is None or not known:
            return SensitiveColumn(name, known)
        return SensitiveColumn(name, known, builder.build(name, known).bind(name, known))


def _breaks(model: PrivacyModel, classes: EquivalenceClasses) -> bool:
    return not bool(model.passes(classes)[0])


def first_distribution(db: sqlite3.Connection) -> dict[int, dict[str, int]]:
    """Read how many rows of the first release have each value of each sensitive column."""
    found: dict[int, dict[str, int]] = defaultdict(dict)
    for column, value, rows in db.execute(
        "SELECT v.column, v.value, SUM(c.rows) FROM changes c JOIN sensitive_values v ON "
        "v.id = c.value_id WHERE c.sequence = 1 GROUP BY v.id"
    ):
        found[column][value] = rows
    return found


# Fingerprints: an increment that is given twice is recognised, without being kept.


def of_row(salt: str, ask: Ask) -> str:
    """Give the fingerprint of one row.

    The salt is the ledger's own: fingerprints of different ledgers cannot be compared. Whoever
    has the ledger can still try out rows; that is why it is private.
    """
    # Labels and rows are written as JSON, which has no line breaks.
    return _hmac(salt, f"{ask.kind}\n{ask.labels}\n{ask.row}\n{ask.new_labels}\n{ask.new_row}")


def of_increment(salt: str, asks: Mapping[Ask, int]) -> str:
    """Give the fingerprint of all rows together, whatever their order.

    >>> one, two = Ask("add", '["a"]', '["x"]'), Ask("add", '["a"]', '["y"]')
    >>> of_increment("s", Counter([one, two])) == of_increment("s", Counter([two, one]))
    True
    """
    rows = sorted((of_row(salt, ask), rows) for ask, rows in Counter(asks).items())
    return _hmac(salt, digest_text(rows))


def _hmac(salt: str, text: str) -> str:
    return hmac.digest(salt.encode(), text.encode(), "sha256").hex()
