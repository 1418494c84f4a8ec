"""What becomes of an increment: who joins, who leaves, who waits, and why.

Every group is settled for itself: first what the limit allows (`admission`), then what may be
published *now*. Two releases can be compared, so the newcomers of a group are seen by
themselves, and so are those who left: with `hold` a group changes only when there are at least k
of them and their own tables are within the limit too. The group that comes out must keep the
policy. What is not published is taken back as a whole, group by group.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from sfumato.ledger.admission import Offers, admit, thinned
from sfumato.ledger.limit import Tally, fits
from sfumato.typing import IntArray


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
