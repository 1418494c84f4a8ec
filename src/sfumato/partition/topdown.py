"""Top-down local recoding: start with everything generalised, specialise where the models allow."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from sfumato.counts import distinct_keys, number_keys, sums
from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError
from sfumato.partition.base import (
    Frontier,
    Partition,
    Partitioner,
    Problem,
    Progress,
    draw_rows,
    secret_generator,
    starting_groups,
)
from sfumato.typing import BoolArray, FloatArray, IntArray

_CANDIDATES = 24
"""Kinds of rows weighed against each other per group and step."""


@dataclass(frozen=True, eq=False)
class Split:
    """Groups whose portions were specialised on one attribute each."""

    item: IntArray
    rows: IntArray
    group: IntArray
    child: IntArray
    """The group and the child of each portion."""

    n_groups: int
    parent: IntArray
    """The group each child belongs to."""

    passing: BoolArray
    """Which children pass; the rows of the others are sent back."""

    levels: IntArray
    """The levels each child stands at."""

    @property
    def n_children(self) -> int:
        """The number of children."""
        return len(self.parent)

    @property
    def kept(self) -> BoolArray:
        """Whether each portion is in a child that passes."""
        kept: BoolArray = self.passing[self.child]
        return kept

    def part(self, groups: BoolArray) -> tuple["Split", IntArray]:
        """Return the portions of some groups, and where those were; groups keep their numbers."""
        at = np.flatnonzero(groups[self.group])
        return (
            replace(
                self,
                item=self.item[at],
                rows=self.rows[at],
                group=self.group[at],
                child=self.child[at],
            ),
            at,
        )


@dataclass(frozen=True, eq=False)
class UndoneRows:
    """The rows of each portion in a passing child that go back, and the splits that are undone."""

    rows: IntArray
    undone: BoolArray


def undo_specialisation(problem: Problem, split: Split, rng: np.random.Generator) -> UndoneRows:
    """Send rows back that make what stays behind pass, while their children pass without them.

    Rows are taken in the order of how often they could be specialised further, those
    that could least first; then in the order of their quasi-identifiers; of rows with the
    same quasi-identifiers any is drawn. Where it matters which values rows have, one that
    makes the group pass goes before all others, and then one whose values the group does
    not have yet. Where people are counted, a row of a person whom the group has already helps
    with its value only, and a child loses a person with the last of their rows. If rows cannot be
    found one by one, a group takes back its smallest child; if that is its only one or does not
    help, its specialisation is undone.
    """
    taken = np.zeros(len(split.rows), dtype=np.int64)
    undone = np.zeros(split.n_groups, dtype=bool)
    failing = _failing_behind(problem, split, split.rows * ~split.kept)
    if failing.any():
        part, at = split.part(failing)
        depth = further_steps(problem, part)
        # Choosing rows by what they hold would tell what they hold; blind, numbers decide.
        by_numbers = problem.judge.sizes_only or problem.blind
        people = problem.person is not None
        if by_numbers:
            enough = _enough_people if people else _enough_rows
            found = enough(problem, part, depth, rng)
        else:
            one_by_one = _OneByOnePeople if people else _OneByOne
            found = one_by_one(problem, part, depth, rng).run(failing)
        left = part.rows * ~part.kept + found
        still = failing & _failing_behind(problem, part, left)
        if problem.blind:
            still |= failing & _failing_children(problem, part, found)
        if still.any():
            found[still[part.group]] = 0
            _smallest_child(part, still, found)
            left = part.rows * ~part.kept + found
            kept_rows = sums(part.group, part.rows - left, split.n_groups)
            undone = still & ((kept_rows == 0) | _failing_behind(problem, part, left))
        taken[at] = found
    return UndoneRows(taken, undone)


def _failing_behind(problem: Problem, split: Split, left: IntArray) -> BoolArray:
    """Return which groups fail with the rows that are left in them; one without rows does not."""
    failing = np.zeros(split.n_groups, dtype=bool)
    at = np.flatnonzero(left)
    behind = number_keys(split.group[at], split.n_groups)
    if behind.n:
        failing[behind.keys] = ~problem.judge.passes(
            behind.of_item, split.item[at], left[at], behind.n
        )
    return failing


def _failing_children(problem: Problem, split: Split, taken: IntArray) -> BoolArray:
    """Return the groups of which a child that passed no longer does without the rows taken."""
    failing = np.zeros(split.n_groups, dtype=bool)
    at = np.flatnonzero(split.kept & (split.rows > taken))
    children = number_keys(split.child[at], split.n_children)
    if children.n:
        passes = problem.judge.passes(
            children.of_item, split.item[at], (split.rows - taken)[at], children.n
        )
        failing[split.parent[children.keys[~passes]]] = True
    return failing


def further_steps(problem: Problem, split: Split) -> IntArray:
    """Count how many further levels each portion of a passing child could be specialised.

    The dry run takes the attributes one by one: a portion goes down a level as long as the
    rows that go with it pass the models.
    """
    steps = np.zeros(len(split.item), dtype=np.int64)
    candidates = np.flatnonzero(split.kept)
    for attribute, lowest in enumerate(problem.lowest):
        width = int(problem.widths[attribute])
        level = split.levels[split.child, attribute].copy()
        going = candidates[level[candidates] > lowest]
        while len(going):
            level[going] -= 1
            labels = problem.labels(attribute, level[going], split.item[going])
            found = number_keys(split.child[going] * width + labels, split.n_children * width)
            rows = split.rows[going]
            if problem.blind:
                passes = problem.judge.large_enough(found.of_item, split.item[going], rows, found.n)
            else:
                passes = problem.judge.passes(found.of_item, split.item[going], rows, found.n)
            going = going[passes[found.of_item]]
            steps[going] += 1
            going = going[level[going] > lowest]
    return steps


def _enough_rows(
    problem: Problem, split: Split, depth: IntArray, rng: np.random.Generator
) -> IntArray:
    """Return rows that fill groups up to a class's least size, where only numbers matter."""
    least = problem.judge.least
    kept = split.kept
    behind = sums(split.group, split.rows * ~kept, split.n_groups)
    needed = np.maximum(least - behind, 0)
    sizes = sums(split.child, split.rows, split.n_children)
    spare = np.where(split.passing, sizes - least, 0)
    # Rows that only sensitive values tell apart are one set: sets are chosen, and rows are drawn.
    order, first, of_set = _sort_alike(problem, split, depth)
    child, group, deep = (each[order][first] for each in (split.child, split.group, depth))
    size = sums(of_set, np.where(kept, split.rows, 0)[order], len(first))
    offered = _hand_out(child, size, spare)
    by_group = np.lexsort((problem.alike[split.item[order][first]], deep, group))
    wanted = np.zeros(len(first), dtype=np.int64)
    wanted[by_group] = _hand_out(group[by_group], offered[by_group], needed)
    taken = np.zeros(len(split.rows), dtype=np.int64)
    taken[order] = draw_rows(of_set, split.rows[order], wanted, rng)
    return taken


def _enough_people(
    problem: Problem, split: Split, depth: IntArray, rng: np.random.Generator
) -> IntArray:
    """Return rows of as many people as groups lack, where only numbers matter: a row of each."""
    judge, least, person = problem.judge, problem.judge.least, problem.of_person[split.item]
    n_people = int(person.max(initial=-1)) + 1
    back = ~split.kept
    behind = judge.sizes(split.group[back], split.item[back], split.rows[back], split.n_groups)
    needed = np.maximum(least - behind, 0)
    sizes = judge.sizes(split.child, split.item, split.rows, split.n_children)
    spare = np.where(split.passing, sizes - least, 0)
    # Whom a group has already does not help it. Of all others the row comes into question that
    # could be specialised least; which of rows that are alike, and of whom, is drawn.
    member = split.group * n_people + person
    helps = np.flatnonzero(split.kept & ~np.isin(member, member[back]))
    drawn = rng.standard_exponential(len(helps)) / split.rows[helps]
    order = helps[np.lexsort((drawn, problem.alike[split.item[helps]], depth[helps]))]
    one = order[np.unique(member[order], return_index=True)[1]]
    one = order[np.isin(order, one)]
    # Who has other rows in a child stays in it.
    of_child = number_keys(split.child * n_people + person, split.n_children * n_people)
    last = sums(of_child.of_item, split.rows, of_child.n)[of_child.of_item[one]] == 1
    by_child = np.argsort(split.child[one], kind="stable")
    offered = ~last
    offered[by_child] |= _hand_out(split.child[one][by_child], last[by_child] * 1, spare) > 0
    one = one[offered]
    by_group = one[np.argsort(split.group[one], kind="stable")]
    taken = np.zeros(len(split.rows), dtype=np.int64)
    taken[by_group] = _hand_out(split.group[by_group], np.ones(len(one), dtype=np.int64), needed)
    return taken


def _sort_alike(
    problem: Problem, split: Split, depth: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Return an order of portions in which those that are alike stand together, firsts and sets."""
    alike = problem.alike[split.item]
    order = np.lexsort((alike, depth, split.child))
    new = np.zeros(len(order), dtype=bool)
    for key in (alike, depth, split.child):
        new |= np.diff(key[order], prepend=-1) != 0
    return order, np.flatnonzero(new), np.cumsum(new) - 1


def _hand_out(of_item: IntArray, rows: IntArray, most: IntArray) -> IntArray:
    """Hand out rows to items in their order, up to a number per group; groups stand together.

    >>> _hand_out(np.array([0, 0, 1]), np.array([2, 2, 5]), np.array([3, 1])).tolist()
    [2, 1, 1]
    """
    # What an item is given is the growth of min(cumulated rows, limit): no loop over items.
    up_to = np.cumsum(rows)
    first = np.flatnonzero(np.diff(of_item, prepend=-1))
    before = np.zeros(len(most), dtype=np.int64)
    before[of_item[first]] = up_to[first] - rows[first]
    within = up_to - before[of_item]
    limit = most[of_item]
    given: IntArray = np.minimum(within, limit) - np.minimum(within - rows, limit)
    return given


def _smallest_child(split: Split, groups: BoolArray, taken: IntArray) -> None:
    """Send back the whole smallest passing child of some groups."""
    sizes = sums(split.child, split.rows, split.n_children)
    candidates = np.flatnonzero(split.passing & groups[split.parent] & (sizes > 0))
    order = candidates[np.lexsort((candidates, sizes[candidates], split.parent[candidates]))]
    first = order[np.flatnonzero(np.diff(split.parent[order], prepend=-1))]
    chosen = np.zeros(split.n_children, dtype=bool)
    chosen[first] = True
    at = chosen[split.child]
    taken[at] = split.rows[at]


class _OneByOne:
    """Takes one row per group and step, where it matters which values a row has.

    Only the kind of a row (what models see in it) and its child matter for the verdicts,
    so of each kind in each child the row that could be specialised least is the candidate.
    Between candidates with the same quasi-identifiers that serve as well one is drawn, each
    as often as it has rows.
    """

    def __init__(
        self, problem: Problem, split: Split, depth: IntArray, rng: np.random.Generator
    ) -> None:
        self._problem = problem
        self._rng = rng
        self._depth = depth
        self._alike = problem.alike[split.item]
        self._split = split
        self._left = split.rows.copy()
        self._taken = np.zeros(len(split.rows), dtype=np.int64)
        self._kind = problem.judge.kinds[split.item]
        self._n_kinds = int(self._kind.max(initial=0)) + 1
        self._order = np.lexsort((self._alike, depth, split.group))

    def run(self, failing: BoolArray) -> IntArray:
        """Send rows back until every group passes or none of its rows can go."""
        active = failing.copy()
        most = self._problem.judge.least + 2 * self._n_kinds
        for _ in range(most):
            chosen, passes = self._best(active)
            if not len(chosen):
                break
            self._left[chosen] -= 1
            self._taken[chosen] += 1
            groups = self._split.group[chosen]
            active = np.zeros_like(active)
            active[groups[~passes]] = True
        return self._taken

    def _best(self, active: BoolArray) -> tuple[IntArray, BoolArray]:
        """Choose one portion per group to take a row from; return also if its group then passes."""
        split = self._split
        candidates = self._candidates(active)
        if not len(candidates):
            return candidates, np.zeros(0, dtype=bool)
        candidates = candidates[self._child_passes_without(candidates)]
        passes, new = self._judged_behind(candidates)
        rank = np.arange(len(candidates))
        order = np.lexsort((rank, ~new, ~passes, split.group[candidates]))
        first = order[np.flatnonzero(np.diff(split.group[candidates[order]], prepend=-1))]
        return candidates[first], passes[first]

    def _candidates(self, active: BoolArray) -> IntArray:
        """Return the first portions of each kind and child, a few per group, in a drawn order."""
        split = self._split
        order = self._order
        order = order[(active[split.group] & split.kept & (self._left > 0))[order]]
        key = split.child[order] * self._n_kinds + self._kind[order]
        _, first = np.unique(key, return_index=True)
        order = order[first]
        # The smallest of several exponential times is each one's as often as its rate says.
        drawn = self._rng.standard_exponential(len(order)) / self._left[order]
        keys = (drawn, self._alike[order], self._depth[order], split.group[order])
        order = order[np.lexsort(keys)]
        group = split.group[order]
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        rank = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
        return order[rank < _CANDIDATES]

    def _child_passes_without(self, candidates: IntArray) -> BoolArray:
        """Judge the child of each candidate with one row of it less."""
        split = self._split
        inside = np.flatnonzero(split.kept & (self._left > 0))
        return self._with_change(split.child, inside, split.child[candidates], candidates, -1)

    def _judged_behind(self, candidates: IntArray) -> tuple[BoolArray, BoolArray]:
        """Judge each candidate's group with one row of it more, and whether its kind is new."""
        split = self._split
        behind = split.rows * ~split.kept + self._taken
        inside = np.flatnonzero(behind)
        passes = self._with_change(
            split.group, inside, split.group[candidates], candidates, 1, rows=behind
        )
        there = split.group[inside] * self._n_kinds + self._kind[inside]
        new = ~np.isin(split.group[candidates] * self._n_kinds + self._kind[candidates], there)
        return passes, new

    def _with_change(
        self,
        of_portion: IntArray,
        inside: IntArray,
        of_candidate: IntArray,
        candidates: IntArray,
        change: int,
        *,
        rows: IntArray | None = None,
    ) -> BoolArray:
        """Judge, for each candidate, its set of portions with one row of the candidate changed."""
        rows = self._left if rows is None else rows
        item, kind_rows, starts, of_set = self._by_kind(of_portion, inside, rows)
        # Each candidate needs a copy of its set with one row changed. The copies are laid out one
        # after the other, so that one call judges all of them in place of one call each.
        at = np.searchsorted(of_set, of_candidate)
        lengths = np.diff(starts, append=len(item))[at]
        ends = np.cumsum(lengths)
        hypothesis = np.repeat(np.arange(len(candidates)), lengths)
        source = np.arange(ends[-1] if len(ends) else 0) - np.repeat(
            ends - lengths - starts[at], lengths
        )
        return self._problem.judge.passes(
            np.concatenate([hypothesis, np.arange(len(candidates))]),
            np.concatenate([item[source], self._split.item[candidates]]),
            np.concatenate([kind_rows[source], np.full(len(candidates), change)]),
            len(candidates),
        )

    def _by_kind(
        self, of_portion: IntArray, inside: IntArray, rows: IntArray
    ) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Add up the rows of each kind in each set: an item, rows, where sets start, the sets."""
        key = of_portion[inside] * self._n_kinds + self._kind[inside]
        keys, first, of_item = np.unique(key, return_index=True, return_inverse=True)
        added = sums(of_item, rows[inside], len(keys))
        sets = keys // self._n_kinds
        starts = np.flatnonzero(np.diff(sets, prepend=-1))
        return self._split.item[inside[first]], added, starts, sets[starts]


class _OneByOnePeople(_OneByOne):
    """The same where people are counted: a row helps if its person, or their value, is new.

    Of each kind in each child the candidate is a row of a person whom the group does not have
    yet, if there is one; a row of a person who has that value in the group already is none.
    """

    def __init__(
        self, problem: Problem, split: Split, depth: IntArray, rng: np.random.Generator
    ) -> None:
        super().__init__(problem, split, depth, rng)
        person = problem.of_person[split.item]
        n_people = int(person.max(initial=-1)) + 1
        self._member = number_keys(
            split.group * n_people + person, split.n_groups * n_people
        ).of_item
        self._n_members = int(self._member.max(initial=-1)) + 1
        self._holder = number_keys(
            self._member * self._n_kinds + self._kind, self._n_members * self._n_kinds
        ).of_item
        self._n_holders = int(self._holder.max(initial=-1)) + 1
        # Of rows that are alike, whose it is must not decide.
        drawn = rng.standard_exponential(len(person)) / split.rows
        keys = (drawn, self._alike, depth, split.group)
        self._order = np.lexsort(keys)

    def _candidates(self, active: BoolArray) -> IntArray:
        split = self._split
        behind = np.flatnonzero(split.rows * ~split.kept + self._taken)
        there = np.zeros(self._n_members, dtype=bool)
        there[self._member[behind]] = True
        held = np.zeros(self._n_holders, dtype=bool)
        held[self._holder[behind]] = True
        order = self._order
        helps = active[split.group] & split.kept & (self._left > 0) & ~held[self._holder]
        order = order[helps[order]]
        order = order[np.argsort(there[self._member[order]], kind="stable")]
        key = split.child[order] * self._n_kinds + self._kind[order]
        order = order[np.sort(np.unique(key, return_index=True)[1])]
        order = order[np.argsort(split.group[order], kind="stable")]
        group = split.group[order]
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        rank = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
        first: IntArray = order[rank < _CANDIDATES]
        return first

    def _with_change(
        self,
        of_portion: IntArray,
        inside: IntArray,
        of_candidate: IntArray,
        candidates: IntArray,
        change: int,
        *,
        rows: IntArray | None = None,
    ) -> BoolArray:
        rows = self._left if rows is None else rows
        n = max(self._split.n_groups, self._split.n_children)
        asked = np.zeros(n, dtype=bool)
        asked[of_candidate] = True
        inside = inside[asked[of_portion[inside]]]
        number = np.cumsum(asked) - 1
        return self._problem.judge.passes_changed(
            number[of_portion[inside]],
            self._split.item[inside],
            rows[inside],
            int(number[-1]) + 1,
            group=number[of_candidate],
            item=self._split.item[candidates],
            change=change,
        )


Criterion: TypeAlias = Literal["rows", "loss"]
"""What makes an attribute the best to specialise."""

_NEXT_TO_NOTHING = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class TopDown(Partitioner):
    """Specialise group by group, one attribute and one level at a time.

    All rows start in one group, generalised as far as it goes. A group's rows are
    specialised one level down on one attribute; children that break a model send their
    rows back. If those are too few, or too alike, to stay as a group of their own,
    further rows are taken back out of children that can spare them: those which could be
    specialised the fewest further times. Where that does not help either, the
    specialisation is undone. Rows that stay behind may still be specialised on other
    attributes. At the end every class is published with the lowest labels its rows have
    in common.

    With `sensitive_blind` in a policy, the attribute and the rows taken back are chosen by
    quasi-identifiers and numbers of rows alone; the models only say what is sent back or undone.

    Promises: every class keeps the models; no group is left all of whose children, one level
    down on some attribute, would keep them too. Does not promise the least possible loss: it
    is greedy.

    Args:
        best: Which attribute a group is specialised on: "rows", the one that specialises
            most rows and, of several, the one with the fewest branches; or "loss", the one
            that saves most of the normalised loss.

    Example:
        >>> TopDown(best="loss").params()
        {'best': 'loss'}
    """

    name: ClassVar[str] = "top-down"
    in_words: ClassVar[str] = (
        "Each group of people becomes only as coarse as it must be. The same value may look "
        "different in different rows."
    )
    usual: ClassVar[bool] = True

    best: Criterion = "rows"

    def __post_init__(self) -> None:
        known = get_args(Criterion)
        if self.best not in known:
            raise ParameterError("best", self.best, f"one of {', '.join(known)}")

    def run(
        self,
        problem: Problem,
        progress: Progress | None = None,
        *,
        rng: np.random.Generator | None = None,
    ) -> Partition:
        done: list[tuple[IntArray, IntArray, IntArray]] = []
        classes = settled = 0
        for each in self.rounds(problem, secret_generator() if rng is None else rng):
            finished = each.chosen < 0
            item, rows, group = each.frontier.portions(finished)
            done.append((item, rows, group + classes))
            classes += int(np.count_nonzero(finished))
            settled += int(rows.sum())
            if progress is not None:
                progress(settled, problem.total)
        return Partition.gather(done)

    def rounds(self, problem: Problem, rng: np.random.Generator) -> Iterator["Round"]:
        """Yield each round in which all groups that are still open are specialised one level."""
        frontier = starting_groups(problem)
        while len(frontier):
            chosen = self._choose(problem, frontier)
            going = frontier.part(chosen >= 0)
            outcome = _specialise(problem, going, chosen[chosen >= 0], rng) if len(going) else None
            yield Round(frontier, chosen, outcome)
            if outcome is None:
                return
            frontier = outcome.following

    def _choose(self, problem: Problem, frontier: Frontier) -> IntArray:
        """Return the attribute each group is specialised on next, -1 where it is left as it is."""
        n = len(frontier)
        chosen = np.full(n, -1, dtype=np.int64)
        best = np.zeros(n)
        branches = np.zeros(n, dtype=np.int64)
        for attribute in range(len(problem.attributes)):
            trial = _try(problem, frontier, attribute)
            if trial is None:
                continue
            score = trial.rows.astype(np.float64)
            if self.best == "loss":
                # A level that saves nothing by itself may lead to one that does.
                score *= np.maximum(_saved_per_row(problem, frontier, attribute), _NEXT_TO_NOTHING)
            # Sums that differ by rounding are equal: the order of summing depends on secret values.
            digits, power = np.frexp(score)
            score = np.ldexp(np.round(digits, 12), power)
            better = (score > best) | ((score == best) & (score > 0) & (trial.branches < branches))
            chosen[better] = attribute
            best[better], branches[better] = score[better], trial.branches[better]
        return chosen


class SpecialisedGroups(NamedTuple):
    """The groups that were specialised in one round, numbered among themselves."""

    split: Split
    """Their children."""

    taken: UndoneRows
    """The rows taken back out of children that passed, and the groups that stay as they were."""

    following: Frontier
    """The groups that come of it: children that stay, then what stays behind."""

    of_child: IntArray
    """The child that each of the first of them is."""

    of_group: IntArray
    """The group that each of the others was a part of."""


class Round(NamedTuple):
    """One round of top-down recoding."""

    frontier: Frontier
    """The groups at its beginning."""

    chosen: IntArray
    """The attribute each of them is specialised on, -1 if it becomes a class as it is."""

    outcome: SpecialisedGroups | None
    """None if no group is specialised any more."""


class _Specialisation(NamedTuple):
    """The effect of specialising every group on one attribute."""

    rows: IntArray
    """Rows that would be specialised, 0 where it cannot be done."""

    branches: IntArray
    """Children that would stay."""


def _try(problem: Problem, frontier: Frontier, attribute: int) -> _Specialisation | None:
    """Count what would be specialised, without moving anything.

    Where the rows that are sent back are too few, the fewest that must be taken back are
    counted as taken: what it takes to reach the number of rows a class needs, from
    children that have more than they need; else a whole child.
    """
    possible = frontier.levels[:, attribute] > problem.lowest[attribute]
    closed = frontier.closed[:, attribute]
    # What stayed behind here still holds a child that failed, until it is specialised elsewhere.
    possible &= ~closed | (np.count_nonzero(frontier.closed, axis=1) > 1)
    at = np.flatnonzero(possible[frontier.group])
    if not len(at):
        return None
    n, judge = len(frontier), problem.judge
    group, rows = frontier.group[at], frontier.rows[at]
    child = frontier.children(problem, at, attribute)
    passing = judge.passes(child.of_item, frontier.item[at], rows, child.n)
    sizes = sums(child.of_item, rows, child.n)
    parent = child.keys // int(problem.widths[attribute])
    if problem.blind:
        # A group that was tried on this attribute before is tried again only if that will do.
        large = judge.large_enough(child.of_item, frontier.item[at], rows, child.n)
        passing = np.where(closed[parent], passing, large)
    kept = np.where(passing, sizes, 0)
    specialised = sums(parent, kept, n)
    branches = sums(parent, passing.astype(np.int64), n)
    back = np.where(possible, sums(group, rows, n) - specialised, 0)
    # What is sent back must pass too; as a rule it is a matter of numbers.
    short = (back > 0) & (specialised > 0)
    if short.any():
        members, behind = sizes, back
        if problem.person is not None:
            # A row of each who is lacking is taken back, so people and rows are as many.
            asked = np.flatnonzero(short[group])
            members = judge.sizes(child.of_item[asked], frontier.item[at[asked]], rows, child.n)
            asked = asked[~passing[child.of_item[asked]]]
            behind = judge.sizes(group[asked], frontier.item[at[asked]], rows, n)
        needed = np.where(short, np.maximum(judge.least - behind, 0), 0)
        if not (judge.sizes_only or problem.blind):
            fails = short & (needed == 0)
            needed[fails] = ~_passes_back(problem, frontier, at, passing[child.of_item], fails)
        spare = sums(parent, np.where(passing, np.maximum(members - judge.least, 0), 0), n)
        if problem.person is not None and (needed > spare).any():
            spare += _free_people(
                problem, frontier, at, child.of_item, passing[child.of_item], needed > spare
            )
        smallest = np.full(n, np.iinfo(np.int64).max)
        np.minimum.at(smallest, parent[passing], sizes[passing])
        whole = needed > spare
        specialised -= np.where(whole, smallest, needed) * (needed > 0)
        branches -= whole
    # A second time only whole children count: nothing is to stay behind for ever.
    specialised[closed & (back > 0)] = 0
    return _Specialisation(specialised, branches)


def _free_people(
    problem: Problem,
    frontier: Frontier,
    at: IntArray,
    child: IntArray,
    kept: BoolArray,
    asked: BoolArray,
) -> IntArray:
    """Count the people whom the groups asked about lack, and a child keeps without one row."""
    n, n_people = len(frontier), int(problem.of_person.max(initial=-1)) + 1
    chosen = asked[frontier.group[at]]
    at, child, kept = at[chosen], child[chosen], kept[chosen]
    person = problem.of_person[frontier.item[at]]
    member = frontier.group[at] * n_people + person
    inside = kept & ~np.isin(member, member[~kept])
    pairs = number_keys(
        child[inside] * n_people + person[inside], (int(child.max(initial=0)) + 1) * n_people
    )
    several = sums(pairs.of_item, frontier.rows[at[inside]], pairs.n)[pairs.of_item] > 1
    free = distinct_keys(member[inside][several], n * n_people)
    return np.bincount(free // max(n_people, 1), minlength=n)


def _passes_back(
    problem: Problem, frontier: Frontier, at: IntArray, kept: BoolArray, asked: BoolArray
) -> BoolArray:
    """Judge what would be left behind in the groups asked about."""
    number = np.cumsum(asked) - 1
    left = at[~kept & asked[frontier.group[at]]]
    if not len(left):
        return np.ones(0, dtype=bool)
    of_item = number[frontier.group[left]]
    return problem.judge.passes(
        of_item, frontier.item[left], frontier.rows[left], int(number[-1]) + 1
    )


def _saved_per_row(problem: Problem, frontier: Frontier, attribute: int) -> FloatArray:
    """Return the mean of what a row of each group saves by going one level down."""
    costs = problem.costs[attribute]
    level = frontier.levels[frontier.group, attribute]
    raw = problem.raw[attribute][frontier.item]
    saved = (costs[level, raw] - costs[level - 1, raw]) * (level > 0)
    n = len(frontier)
    total = np.bincount(frontier.group, weights=saved * frontier.rows, minlength=n)
    rows = np.bincount(frontier.group, weights=frontier.rows, minlength=n)
    mean: FloatArray = total / rows
    return mean


def _specialise(
    problem: Problem, frontier: Frontier, chosen: IntArray, rng: np.random.Generator
) -> SpecialisedGroups:
    """Specialise every group on its attribute, and return what comes of it."""
    split = _split(problem, frontier, chosen)
    taken = undo_specialisation(problem, split, rng)
    children = split.rows - taken.rows
    stay = (children > 0) & split.kept & ~taken.undone[split.group]
    below = number_keys(split.child[stay], split.n_children)
    levels = frontier.levels[split.parent[below.keys]]
    attribute = chosen[split.parent[below.keys]]
    levels[np.arange(below.n), attribute] -= 1
    # The rest stays as it is, and is not tried on the same attribute again.
    left = np.where(stay, taken.rows, split.rows)
    behind = np.flatnonzero(left)
    rest = number_keys(split.group[behind], len(frontier))
    closed = frontier.closed[rest.keys].copy()
    closed[np.arange(rest.n), chosen[rest.keys]] = True
    following = Frontier(
        np.concatenate([split.item[stay], split.item[behind]]),
        np.concatenate([children[stay], left[behind]]),
        np.concatenate([below.of_item, rest.of_item + below.n]),
        np.concatenate([levels, frontier.levels[rest.keys]]),
        np.concatenate([np.zeros_like(levels, dtype=bool), closed]),
    )
    return SpecialisedGroups(split, taken, following, below.keys, rest.keys)


def _split(problem: Problem, frontier: Frontier, chosen: IntArray) -> Split:
    """Find the children of each group on its own attribute, and which of them pass."""
    width = int(problem.widths.max())
    of_portion = chosen[frontier.group]
    key = np.empty(len(frontier.item), dtype=np.int64)
    for attribute in np.unique(chosen).tolist():
        at = np.flatnonzero(of_portion == attribute)
        level = frontier.levels[frontier.group[at], attribute] - 1
        key[at] = problem.labels(attribute, level, frontier.item[at])
    child = number_keys(frontier.group * width + key, len(frontier) * width)
    passing = problem.judge.passes(child.of_item, frontier.item, frontier.rows, child.n)
    parent = child.keys // width
    levels = frontier.levels[parent].copy()
    levels[np.arange(child.n), chosen[parent]] -= 1
    return Split(
        item=frontier.item,
        rows=frontier.rows,
        group=frontier.group,
        child=child.of_item,
        n_groups=len(frontier),
        parent=parent,
        passing=passing,
        levels=levels,
    )
