"""Incremental Break-Merge: which rows may join or leave a group now, and why others wait.

The rule for one group: **a row is admitted unless a combination it makes likelier ends above
alpha** (`sfumato.likelihood` defines likelier). So a group whose tables are within alpha stays
within alpha, whatever is admitted; and in a group that was published above alpha, nothing above
it ever rises. What is admitted is *maximal*: when it ends, no refused row could be added without
breaking the rule. Which of several maximal choices it is, is drawn at random.

Two releases can be compared, so the newcomers of a group are seen by themselves, and so are those
who left: with `hold` a group changes only when there are at least k of them and their own tables
are within the limit too. The group that comes out must keep the policy. What is not published is
taken back as a whole, group by group.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

import numpy as np

from sfumato.likelihood import (
    likelihood,
    likelihood_with_a_value,
    n_guessed,
    permitted_until_peak,
)
from sfumato.typing import BoolArray, IntArray


@dataclass(frozen=True, eq=False)
class Tally:
    """What is published of one group: how many rows it has, and how many have each value.

    Example:
        >>> group = Tally(5, (np.array([2, 1, 1, 1]), np.array([2, 3]), np.array([4, 1])))
        >>> group.worst  # 3/5 · 4/5, for an adversary who knows the first column
        Fraction(12, 25)
    """

    size: int
    counts: tuple[IntArray, ...]
    """One array per sensitive column; each adds up to the size."""

    @property
    def worst(self) -> Fraction:
        """The largest breach probability of any combination; 0 in an empty group.

        The most frequent values reach it, so no combination needs to be listed.
        """
        return likelihood_with_a_value(
            (int(count.max(initial=0)) for count in self.counts), self.size
        )

    @property
    def possible(self) -> bool:
        """Whether no count is negative."""
        return self.size >= 0 and all(int(count.min(initial=0)) >= 0 for count in self.counts)

    def plus(self, values: IntArray, rows: IntArray | int = 1) -> "Tally":
        """Add rows: `values[i, r]` is the value of column i in combination r."""
        weights = np.broadcast_to(np.asarray(rows, dtype=np.int64), values.shape[1:])
        counts = tuple(
            count + np.bincount(code, weights=weights, minlength=len(count)).astype(np.int64)
            for count, code in zip(self.counts, values, strict=True)
        )
        return Tally(self.size + int(weights.sum()), counts)

    def minus(self, values: IntArray, rows: IntArray | int = 1) -> "Tally":
        """Remove rows; a count may become negative, see `possible`."""
        return self.plus(values, -np.asarray(rows, dtype=np.int64))

    def without_rows(self) -> "Tally":
        """Return a group with the same values and no rows."""
        return Tally(0, tuple(np.zeros_like(count) for count in self.counts))

    def breach(self, row: Sequence[int]) -> tuple[Fraction, Fraction]:
        """Return the breach probability of a combination: knowing the group, and one value more.

        >>> group = Tally(5, (np.array([2, 3]), np.array([2, 3]), np.array([4, 1])))
        >>> [str(p) for p in group.breach((0, 0, 0))]
        ['16/125', '8/25']
        """
        counts = self._counts_of(row)
        return likelihood(counts, self.size), likelihood_with_a_value(counts, self.size)

    def permitted_rows(self, row: Sequence[int], alpha: Fraction) -> int | None:
        """Return how many further rows of one combination a group takes, one after the other.

        None if there is no end, because nothing that rises passes alpha. Combinations of the
        row's values with values of others rise too; each is followed to its peak.

        >>> group = Tally(5, (np.array([2, 3]), np.array([2, 3]), np.array([4, 1])))
        >>> group.permitted_rows((0, 0, 0), Fraction(3, 5))
        4
        """
        own = self._counts_of(row)
        others = [
            int(np.delete(count, code).max(initial=0))
            for count, code in zip(self.counts, row, strict=True)
        ]
        limits = (
            permitted_until_peak(
                [own[i] for i in mine],
                [others[i] for i in guessed if i not in mine],
                self.size,
                alpha,
            )
            for guessed in combinations(range(len(own)), n_guessed(len(own)))
            for n_mine in range(1, len(guessed) + 1)
            for mine in combinations(guessed, n_mine)
        )
        return min((limit for limit in limits if limit is not None), default=None)

    def _counts_of(self, row: Sequence[int]) -> list[int]:
        return [int(count[code]) for count, code in zip(self.counts, row, strict=True)]


def fits(before: Tally, after: Tally, alpha: Fraction) -> bool:
    """Return whether a group may be published so: nothing that became likelier is above alpha.

    So a group within the limit must stay within it, and in one that was above it before, what
    is above may only fall.

    >>> start = Tally(4, (np.array([2, 2]), np.array([2, 2])))
    >>> fits(start, start.plus(np.array([[0], [0]])), Fraction(1, 2))
    False
    >>> alike = Tally(3, (np.array([3, 0]), np.array([1, 2])))
    >>> fits(alike, alike.plus(np.array([[1], [0]])), Fraction(1, 2))
    True
    """
    if after.worst <= alpha:
        return True
    if before.worst <= alpha:
        return False
    columns = [
        _frequent(old, max(before.size, 1), new, after.size, alpha)
        for old, new in zip(before.counts, after.counts, strict=True)
    ]
    return not any(
        _some_rose(guessed, Fraction(1), Fraction(1), alpha)
        for guessed in combinations(columns, n_guessed(len(columns)))
    )


_Pairs = list[tuple[Fraction, Fraction]]
"""The share of each value before and after."""


def _frequent(
    old: IntArray, old_size: int, new: IntArray, new_size: int, alpha: Fraction
) -> _Pairs:
    """Return the shares above alpha: a product with any other share is below it."""
    # A whole number is above a fraction if it is above the whole number below it.
    least = alpha.numerator * new_size // alpha.denominator
    return [
        (Fraction(int(old[i]), old_size), Fraction(int(new[i]), new_size))
        for i in np.flatnonzero(new > least)
    ]


def _some_rose(columns: Sequence[_Pairs], was: Fraction, now: Fraction, alpha: Fraction) -> bool:
    """Return whether a product of one share per column is above alpha and was less before.

    Shares above alpha are few and products soon fall below it, so this never goes far.
    """
    if now <= alpha:
        return False
    if not columns:
        return now > was
    return any(_some_rose(columns[1:], was * b, now * a, alpha) for b, a in columns[0])


@dataclass(frozen=True, eq=False)
class Offers:
    """Rows that want to join (or to leave) a group, equal ones counted together."""

    values: IntArray
    """`values[i, c]`: the value of sensitive column i in combination c."""

    rows: IntArray
    """How many rows have combination c."""

    @property
    def total(self) -> int:
        """The number of rows."""
        return int(self.rows.sum())


def admit(start: Tally, offers: Offers, alpha: Fraction, rng: np.random.Generator) -> IntArray:
    """Return how many rows of each combination are admitted.

    Rows are considered in random order, many at a time as long as that goes well: what is
    within the limit together need not be tried row by row. A combination of which one row
    was refused waits until the others had their turn, because they may make room for it. When
    no single row is admissible any more, several may still be together.

    Example:
        >>> start = Tally(4, (np.array([2, 2]), np.array([2, 2])))
        >>> offers = Offers(np.array([[0, 1], [0, 1]]), np.array([3, 1]))
        >>> admit(start, offers, Fraction(1, 2), np.random.default_rng(1)).tolist()
        [1, 1]
    """
    if fits(start, start.plus(offers.values, offers.rows), alpha):
        return offers.rows.copy()
    run = _Run(start, offers, alpha)
    run.admit_singly(rng)
    while run.admit_together(rng):
        run.admit_singly(rng)
    return run.taken


def admit_alone(offers: Offers, alpha: Fraction, rng: np.random.Generator) -> IntArray:
    """Return how many rows of each combination may be published as a group of their own.

    An adversary who compares two releases sees the newcomers of a group by themselves, and any
    reader does when a group is new. Rows whose values are too frequent among them are left out
    until the tables of the rest are within alpha. No row may be left.

    Example:
        >>> offers = Offers(np.array([[0, 0, 1, 1], [0, 1, 0, 1]]), np.array([3, 1, 1, 1]))
        >>> admit_alone(offers, Fraction(1, 2), np.random.default_rng(1)).tolist()
        [1, 1, 1, 1]
    """
    widths = [int(codes.max(initial=-1)) + 1 for codes in offers.values]
    empty = Tally(0, tuple(np.zeros(width, dtype=np.int64) for width in widths))
    return admit(empty, offers, alpha, rng)


class _Run:
    """A group while rows are being admitted to it."""

    def __init__(self, start: Tally, offers: Offers, alpha: Fraction) -> None:
        self._now = start
        self._offers = offers
        self._alpha = alpha
        self.taken: IntArray = np.zeros(len(offers.rows), dtype=np.int64)

    @property
    def left(self) -> IntArray:
        """The number of rows of each combination that are not admitted yet."""
        return self._offers.rows - self.taken

    def admit_singly(self, rng: np.random.Generator) -> None:
        """Admit rows until no single one fits any more."""
        queue = np.repeat(np.arange(len(self.taken)), self.left)
        before = len(queue) + 1
        while 0 < len(queue) < before:
            before = len(queue)
            rng.shuffle(queue)
            queue = self._go_through(queue)

    def admit_together(self, rng: np.random.Generator) -> bool:
        """Admit several rows that fit together, if there are such."""
        together = _without_the_frequent(self._now, self._offers, self.left, self._alpha, rng)
        if together is None or not together.any():
            return False
        self._now = self._now.plus(self._offers.values, together)
        self.taken += together
        return True

    def _go_through(self, queue: IntArray) -> IntArray:
        """Admit what fits, in this order, and return what did not."""
        left = []
        length = len(queue)
        while len(queue):
            block = queue[: max(length, 1)]
            if self._admit(block):
                queue = queue[len(block) :]
                length = 2 * len(block)
            elif len(block) > 1:
                length = len(block) // 2
            else:
                alike: BoolArray = queue == block[0]
                left.append(queue[alike])
                queue = queue[~alike]
                length = 1
        return np.concatenate(left) if left else queue

    def _admit(self, block: IntArray) -> bool:
        after = self._now.plus(self._offers.values[:, block])
        if not fits(self._now, after, self._alpha):
            return False
        self._now = after
        self.taken += np.bincount(block, minlength=len(self.taken))
        return True


def _without_the_frequent(
    base: Tally, offers: Offers, rows: IntArray, alpha: Fraction, rng: np.random.Generator
) -> IntArray | None:
    """Drop rows with the most frequent values until the rest fits; None if none does.

    Those go first whose other values are frequent too. A combination with many rows loses a
    quarter of them at once: what is too much comes back when rows are admitted singly.
    """
    rows = rows.copy()
    order = rng.permutation(len(rows))
    tally = base.plus(offers.values, rows)
    while tally.worst > alpha:
        weight = np.sum([c[v] for c, v in zip(tally.counts, offers.values, strict=True)], axis=0)
        guilty = _guilty(tally, offers, rows, order)
        if not len(guilty):
            return None
        out = guilty[int(weight[guilty].argmax())]
        fewer = max(1, int(rows[out]) // 4)
        rows[out] -= fewer
        tally = tally.minus(offers.values[:, [out]], fewer)
    return rows


def _guilty(tally: Tally, offers: Offers, rows: IntArray, order: IntArray) -> IntArray:
    """Return the combinations with the most frequent value there is that still have rows."""
    columns = sorted(range(len(tally.counts)), key=lambda i: -int(tally.counts[i].max(initial=0)))
    for column in columns:
        most = int(tally.counts[column].argmax())
        guilty: IntArray = order[(offers.values[column][order] == most) & (rows[order] > 0)]
        if len(guilty):
            return guilty
    return order[:0]


# Deciding on all groups: who joins, who leaves, who waits, and why.


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
    """Lists the promises of the policy that a group with this tally would break."""


@dataclass(eq=False)
class GroupDecision:
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
        tally = self._with_newcomers(self.wishes.start)
        tally = tally.minus(self.wishes.leaving.values, self.left)
        for row in self.corrected_out:
            tally = tally.minus(_column(row))
        return tally

    @property
    def newcomers(self) -> Tally:
        """Those who join, by themselves."""
        return self._with_newcomers(self.wishes.start.without_rows())

    @property
    def leavers(self) -> Tally:
        """Those who leave, by themselves."""
        tally = self.wishes.start.without_rows().plus(self.wishes.leaving.values, self.left)
        for row in self.corrected_out:
            tally = tally.plus(_column(row))
        return tally

    def _with_newcomers(self, tally: Tally) -> Tally:
        tally = tally.plus(self.wishes.joining.values, self.joined)
        for row in self.corrected_in:
            tally = tally.plus(_column(row))
        return tally

    @property
    def changed(self) -> bool:
        """Whether any row joins or leaves."""
        return bool(self.joined.any() or self.left.any() or self.corrected_in or self.corrected_out)

    def take_back(self, why: str) -> None:
        """Keep the group as it was."""
        self.joined = np.zeros_like(self.joined)
        self.left = np.zeros_like(self.left)
        self.corrected_in, self.corrected_out = [], []
        self.why = self.why or why

    def count_refused(self, alpha: Fraction) -> IntArray:
        """Count the rows of each combination that do not fit into the group as it will be.

        In a group that is not there yet none is refused: all wait.
        """
        rest = self.wishes.joining.rows - self.joined
        if not rest.any():
            return rest
        now = self.now
        if not now.size:
            return np.zeros_like(rest)
        for i in np.flatnonzero(rest):
            if fits(now, now.plus(self.wishes.joining.values[:, [i]]), alpha):
                rest[i] = 0
        return rest


@dataclass(frozen=True, eq=False)
class Decision:
    """What becomes of an increment."""

    groups: tuple[GroupDecision, ...]
    corrected: tuple[bool, ...]
    """One per correction: whether it is published."""


def decide(
    wishes: Sequence[Wishes],
    corrections: Sequence[Correction],
    rules: Rules,
    rng: np.random.Generator,
) -> Decision:
    """Decide on every group, then the corrections, then take back what may not be published yet.

    Example:
        >>> start = Tally(4, (np.array([2, 2]),))
        >>> joining = Offers(np.array([[0, 1]]), np.array([3, 2]))
        >>> wishes = Wishes(start, joining, Offers(np.zeros((1, 0), dtype=int), np.zeros(0, int)))
        >>> rules = Rules(Fraction(1, 2), k=2)
        >>> [group] = decide([wishes], [], rules, np.random.default_rng(0)).groups
        >>> group.joined.tolist(), group.count_refused(Fraction(1, 2)).tolist()
        ([2, 2], [1, 0])
    """
    groups = tuple(_decide_group(each, rules, rng) for each in wishes)
    done = _make_corrections(groups, corrections, rules, rng)
    _take_back(groups, corrections, done, rules)
    return Decision(groups, tuple(done))


def _decide_group(wishes: Wishes, rules: Rules, rng: np.random.Generator) -> GroupDecision:
    group = _within_the_limit(wishes, rules, rng)
    if rules.hold:
        _hold_back_the_frequent(group, rules, rng)
    return group


def _within_the_limit(wishes: Wishes, rules: Rules, rng: np.random.Generator) -> GroupDecision:
    """Admit and remove what the limit allows; rows that join may make leaving possible."""
    start, joining, leaving = wishes.start, wishes.joining, wishes.leaving
    if leaving.total:
        without = start.minus(leaving.values, leaving.rows)
        if without.possible:
            all_leave = GroupDecision(
                wishes, admit(without, joining, rules.alpha, rng), leaving.rows.copy()
            )
            if _acceptable(all_leave, rules):
                return all_leave
    group = GroupDecision(
        wishes, admit(start, joining, rules.alpha, rng), np.zeros_like(leaving.rows)
    )
    _remove_singly(group, rules, rng)
    return group


def _acceptable(group: GroupDecision, rules: Rules) -> bool:
    now = group.now
    enough = now.size == 0 or now.size >= min(rules.k, group.wishes.start.size)
    return now.possible and enough and fits(group.wishes.start, now, rules.alpha)


def _remove_singly(group: GroupDecision, rules: Rules, rng: np.random.Generator) -> None:
    leaving = group.wishes.leaving
    going = True
    while going:
        going = False
        for i in rng.permutation(len(leaving.rows)):
            while group.left[i] < leaving.rows[i]:
                group.left[i] += 1
                if not _acceptable(group, rules):
                    group.left[i] -= 1
                    break
                going = True
    if group.left.sum() < leaving.total:
        group.why = _why_they_stay(group, rules)


def _why_they_stay(group: GroupDecision, rules: Rules) -> str:
    now, leaving = group.now, group.wishes.leaving
    rest = now.minus(leaving.values, leaving.rows - group.left)
    if not rest.possible:
        return "rows are to leave that the group does not hold"
    if 0 < rest.size < rules.k:
        return f"the group would be left with {rest.size} rows, fewer than k={rules.k}"
    return (
        f"what is left would tell up to {_percent(rest.worst)}, more than {_percent(rules.alpha)}"
    )


def _hold_back_the_frequent(group: GroupDecision, rules: Rules, rng: np.random.Generator) -> None:
    """Remove newcomers and leavers whose values are too frequent among them by themselves."""
    joining, leaving = group.wishes.joining, group.wishes.leaving
    joined = admit_alone(Offers(joining.values, group.joined), rules.alpha, rng)
    if joined.sum() < group.joined.sum():
        group.why = group.why or (
            "compared with the last release the newcomers would be too much alike"
        )
    group.joined = joined
    if group.left.sum() < group.wishes.start.size:
        group.left = admit_alone(Offers(leaving.values, group.left), rules.alpha, rng)


def _make_corrections(
    groups: Sequence[GroupDecision],
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


def _correct(groups: Sequence[GroupDecision], correction: Correction, rules: Rules) -> bool:
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
    groups: Sequence[GroupDecision],
    corrections: Sequence[Correction],
    done: list[bool],
    rules: Rules,
) -> None:
    """Restore groups that may not be published so, until all that change may."""
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


def _undo(groups: Sequence[GroupDecision], correction: Correction, group: int) -> set[int]:
    """Undo the other half of a correction, and return the group that concerns."""
    (out_of, old), (into, new) = correction.old, correction.new
    if out_of != group:
        groups[out_of].corrected_out.remove(old)
        return {out_of}
    if into != group:
        groups[into].corrected_in.remove(new)
        return {into}
    return set()


def _objection(at: int, group: GroupDecision, rules: Rules) -> str:
    if not group.changed:
        return ""
    now, start = group.now, group.wishes.start
    if 0 < now.size < rules.k:
        return f"the group would have {now.size} rows, fewer than k={rules.k}"
    if not now.possible or not fits(start, now, rules.alpha):
        return (
            f"the group would tell up to {_percent(now.worst)}, more than {_percent(rules.alpha)}"
        )
    broken = rules.broken(at, now) if now.size else ""
    if broken:
        return f"the group would break {broken}"
    # A group that vanishes tells nothing that its last tables did not.
    return _objection_of_comparing(group, rules) if rules.hold and now.size else ""


def _objection_of_comparing(group: GroupDecision, rules: Rules) -> str:
    for who, batch in (("newcomers", group.newcomers), ("leavers", group.leavers)):
        if 0 < batch.size < rules.k:
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


def _column(row: Iterable[int]) -> IntArray:
    return np.array(list(row), dtype=np.int64)[:, None]
