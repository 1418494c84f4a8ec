"""Top-down local recoding: start with everything generalised, specialise where the models allow."""

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, Self, TypeAlias, get_args

import numpy as np

from sfumato.counts import sums
from sfumato.errors import ParameterError
from sfumato.partition.base import Partitioner, Progress
from sfumato.partition.frontier import Frontier, starting_groups
from sfumato.partition.judging import numbered
from sfumato.partition.parted import Parted
from sfumato.partition.problem import Problem
from sfumato.partition.takeback import Split, take_back
from sfumato.typing import BoolArray, FloatArray, IntArray

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

    best: Criterion = "rows"

    def __post_init__(self) -> None:
        known = get_args(Criterion)
        if self.best not in known:
            raise ParameterError("best", self.best, f"one of {', '.join(known)}")

    def run(self, problem: Problem, progress: Progress | None = None) -> Parted:
        frontier = starting_groups(problem)
        done: list[tuple[IntArray, IntArray, IntArray]] = []
        classes = settled = 0
        while len(frontier):
            chosen = self._choose(problem, frontier)
            finished = chosen < 0
            item, rows, group = frontier.portions(finished)
            done.append((item, rows, group + classes))
            classes += int(np.count_nonzero(finished))
            settled += int(rows.sum())
            if progress is not None:
                progress(settled, problem.total)
            frontier = _specialise(problem, frontier.part(~finished), chosen[~finished])
        return Parted.gathered(done)

    def _choose(self, problem: Problem, frontier: Frontier) -> IntArray:
        """Give the attribute each group is specialised on next, -1 where it is left as it is."""
        n = len(frontier)
        chosen = np.full(n, -1, dtype=np.int64)
        best = np.zeros(n)
        branches = np.zeros(n, dtype=np.int64)
        for attribute in range(len(problem.attributes)):
            tried = _try(problem, frontier, attribute)
            if tried is None:
                continue
            score = tried.rows.astype(np.float64)
            if self.best == "loss":
                # A level that saves nothing by itself may lead to one that does.
                score *= np.maximum(_saved_per_row(problem, frontier, attribute), _NEXT_TO_NOTHING)
            better = (score > best) | ((score == best) & (score > 0) & (tried.branches < branches))
            chosen[better] = attribute
            best[better], branches[better] = score[better], tried.branches[better]
        return chosen

    @classmethod
    def example(cls) -> Self:
        return cls()


class _Tried(NamedTuple):
    """What specialising every group on one attribute would give."""

    rows: IntArray
    """Rows that would be specialised, 0 where it cannot be done."""

    branches: IntArray
    """Children that would stay."""


def _try(problem: Problem, frontier: Frontier, attribute: int) -> _Tried | None:
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
    kept = np.where(passing, sizes, 0)
    specialised = sums(parent, kept, n)
    branches = sums(parent, passing.astype(np.int64), n)
    back = np.where(possible, sums(group, rows, n) - specialised, 0)
    # What is sent back must pass too; as a rule it is a matter of numbers.
    short = (back > 0) & (specialised > 0)
    if short.any():
        needed = np.where(short, np.maximum(judge.least - back, 0), 0)
        if not judge.sizes_only:
            fails = short & (needed == 0)
            needed[fails] = ~_passes_back(problem, frontier, at, passing[child.of_item], fails)
        spare = sums(parent, np.where(passing, sizes - judge.least, 0), n)
        smallest = np.full(n, np.iinfo(np.int64).max)
        np.minimum.at(smallest, parent[passing], sizes[passing])
        whole = needed > spare
        specialised -= np.where(whole, smallest, needed) * (needed > 0)
        branches -= whole
    # A second time only whole children count: nothing is to stay behind for ever.
    specialised[closed & (back > 0)] = 0
    return _Tried(specialised, branches)


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
    """Give the mean of what a row of each group saves by going one level down."""
    costs = problem.costs[attribute]
    level = frontier.levels[frontier.group, attribute]
    raw = problem.raw[attribute][frontier.item]
    saved = (costs[level, raw] - costs[level - 1, raw]) * (level > 0)
    n = len(frontier)
    total = np.bincount(frontier.group, weights=saved * frontier.rows, minlength=n)
    rows = np.bincount(frontier.group, weights=frontier.rows, minlength=n)
    mean: FloatArray = total / rows
    return mean


def _specialise(problem: Problem, frontier: Frontier, chosen: IntArray) -> Frontier:
    """Specialise every group on its attribute, and give the groups that come of it."""
    if not len(frontier):
        return frontier
    split = _split(problem, frontier, chosen)
    taken = take_back(problem, split)
    children = split.rows - taken.rows
    stay = (children > 0) & split.kept & ~taken.undone[split.group]
    below = numbered(split.child[stay], split.n_children)
    levels = frontier.levels[split.parent[below.keys]]
    attribute = chosen[split.parent[below.keys]]
    levels[np.arange(below.n), attribute] -= 1
    # The rest stays as it is, and is not tried on the same attribute again.
    left = np.where(stay, taken.rows, split.rows)
    behind = np.flatnonzero(left)
    rest = numbered(split.group[behind], len(frontier))
    closed = frontier.closed[rest.keys].copy()
    closed[np.arange(rest.n), chosen[rest.keys]] = True
    return Frontier(
        np.concatenate([split.item[stay], split.item[behind]]),
        np.concatenate([children[stay], left[behind]]),
        np.concatenate([below.of_item, rest.of_item + below.n]),
        np.concatenate([levels, frontier.levels[rest.keys]]),
        np.concatenate([np.zeros_like(levels, dtype=bool), closed]),
    )


def _split(problem: Problem, frontier: Frontier, chosen: IntArray) -> Split:
    """Find the children of each group on its own attribute, and which of them pass."""
    width = int(problem.widths.max())
    of_portion = chosen[frontier.group]
    key = np.empty(len(frontier.item), dtype=np.int64)
    for attribute in np.unique(chosen).tolist():
        at = np.flatnonzero(of_portion == attribute)
        level = frontier.levels[frontier.group[at], attribute] - 1
        key[at] = problem.labels(attribute, level, frontier.item[at])
    child = numbered(frontier.group * width + key, len(frontier) * width)
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
