"""Best-first search: the optimum with few checks, and a proof that it is one."""

import heapq
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from operator import le, sub
from typing import ClassVar

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.losses.base import CheckedNode, ClassLossFunction
from sfumato.search.base import NOTHING_YET, Budget, Checker, CheckOutcome, Found, Search
from sfumato.search.boxes import OpenBoxes, below_best
from sfumato.search.branch_and_bound import LargeState
from sfumato.search.kernel import sum_boxes
from sfumato.search.lessons import Lesson, Lessons
from sfumato.search.pairs import look_at_pairs
from sfumato.search.predictor import TYPICAL_SHARE, Predictor, chance, count_above
from sfumato.typing import BoolArray, FloatArray, Node

# Arithmetic on whole lattices: one number per node, in flat lexicographic order.

_SMALL_PRODUCT = 200_000
"""Products of matrices with fewer multiplications than this are not worth a second thread to
the linear algebra library, and waking one costs more than it gains on a busy machine."""

_WIDEST_BLOCK = 32
"""Attributes are taken together up to this many level combinations: small matrices, few passes."""


def below(node: Node, lowest: Node) -> tuple[slice, ...]:
    """Index everything at or below a node, in a box that begins at `lowest`."""
    return tuple([slice(0, max(a - b + 1, 0)) for a, b in zip(node, lowest, strict=True)])


def above(node: Node, lowest: Node) -> tuple[slice, ...]:
    """Index everything at or above a node, in a box that begins at `lowest`."""
    return tuple([slice(max(a - b, 0), None) for a, b in zip(node, lowest, strict=True)])


class BoxCounter:
    """Counts, for every node, how many marked nodes lie below it (or above it).

    Sums over boxes are products with small triangular matrices, one per block of
    attributes, in place of one cumulated sum per attribute: few large steps, which the linear
    algebra library does in float32.

    Example:
        >>> counter = BoxCounter((2, 2))
        >>> counter.below(np.array([1, 1, 0, 1])).tolist()
        [1.0, 2.0, 1.0, 3.0]
        >>> counter.above(np.array([1, 1, 0, 1])).tolist()
        [3.0, 2.0, 1.0, 1.0]
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._shape = shape

    @cached_property
    def _matrices(self) -> list[np.ndarray]:
        found: list[np.ndarray] = []
        block = np.ones((1, 1), dtype=np.float32)
        for levels in self._shape:
            if len(block) * levels > _WIDEST_BLOCK and len(block) > 1:
                found.append(block)
                block = np.ones((1, 1), dtype=np.float32)
            block = np.kron(block, np.tri(levels, dtype=np.float32))
        return [*found, block]

    @cached_property
    def _chunks(self) -> list[int]:
        size = int(np.prod(self._shape))
        return [_divisor(size // len(m), _SMALL_PRODUCT // len(m) ** 2) for m in self._matrices]

    def below(self, marked: np.ndarray) -> np.ndarray:
        """Count marked nodes at or below each node."""
        counts = marked.astype(np.float32)
        if sum_boxes(counts, self._shape, above=False):
            return counts
        return self._apply(marked, [matrix.T for matrix in self._matrices])

    def above(self, marked: np.ndarray) -> np.ndarray:
        """Count marked nodes at or above each node."""
        counts = marked.astype(np.float32)
        if sum_boxes(counts, self._shape, above=True):
            return counts
        return self._apply(marked, self._matrices)

    def _apply(self, marked: np.ndarray, matrices: Sequence[np.ndarray]) -> np.ndarray:
        counts = marked.astype(np.float32)
        # Each step consumes the last block and brings it to the front; after all, order is back.
        for matrix, chunk in zip(reversed(matrices), reversed(self._chunks), strict=True):
            width = len(matrix)
            product = counts.reshape(-1, chunk, width) @ matrix
            counts = product.reshape(-1, width).T.ravel()
        return counts


def _divisor(n: int, most: int) -> int:
    """Find the largest divisor of n that is not above a bound.

    >>> _divisor(12, 5)
    4
    """
    return next(d for d in range(min(n, max(most, 1)), 0, -1) if n % d == 0)


_DEFAULT_CHECKS = 2000
"""Checks made when no budget is set: a lattice this large has no natural end."""

_DEFAULT_WORK = 4_000_000_000
"""Codes grouped when no budget is set, give or take: some minutes. Counted and not timed, so that
the result is the same on every machine."""

_FEWEST_CHECKS = 100


def default_checks(checker: Checker) -> int:
    """Return how many nodes are checked if the caller sets no budget.

    A table of many rows and columns takes longer to check, and gets fewer.
    """
    columns, tuples = checker.grouping.codes.shape
    affordable = _DEFAULT_WORK // max(columns * (tuples + columns * _CANDIDATE), 1)
    return int(np.clip(affordable, _FEWEST_CHECKS, _DEFAULT_CHECKS))


_CANDIDATE = 10
"""What remembering one node of a column more costs, in codes."""


@dataclass(frozen=True)
class Descent(Search):
    """Improves a valid node step by step from the top, by expected improvement.

    Every node one step below a valid one is a candidate. The next to be checked is the
    one that promises most: the chance that it is valid times how much less it would
    lose than the best so far, both guessed from the checks made. A candidate that
    cannot be better itself waits; when nothing promising is left, the search looks
    below those that wait. The result is always valid, and proven optimal if nothing
    was left to look at.

    Without a budget it ends after 2 000 checks, or after fewer (at least 100) where checks of
    many rows and columns take long.
    """

    name: ClassVar[str] = "descent"
    exact: ClassVar[bool] = False

    def run(self, checker: Checker) -> Iterator[Found]:
        budget = _with_end(self.budget(), checker)
        state, boxes = _Frontier(checker), OpenBoxes(checker)
        best = NOTHING_YET
        node: Node | None = checker.lattice.highest
        while node is not None:
            outcome = checker.check(node)
            boxes.learn(outcome)
            if outcome.valid and outcome.loss < best.loss:
                best = Found(node, outcome.loss, outcome.suppressed, checker.checks)
                best = replace(best, bound=boxes.bound(best.loss))
                yield best
            state.learn(outcome, best.loss)
            if budget.is_spent(checker.checks):
                break
            node = state.choose(best.loss)
        # What is open is looked at once more for the bound; that takes no check.
        proven = node is None or boxes.least(best.loss) is None
        bound = best.loss if proven else boxes.bound(best.loss)
        yield replace(best, checks=checker.checks, proven=proven, finished=True, bound=bound)


def _with_end(budget: Budget, checker: Checker) -> Budget:
    """Return a budget that has an end."""
    if budget.checks is None and budget.seconds is None:
        return Budget(checks=default_checks(checker))
    return budget


class _Frontier:
    """Candidates below valid nodes, the most promising first."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self._guess = Predictor(checker.bits(), rows=checker.total, lowest=checker.lattice.lowest)
        self._packing = np.dtype(">u1" if max(checker.lattice.highest) < 256 else ">u4")
        self._heap: list[tuple[float, bytes]] = []
        self._seen = {self._pack(checker.lattice.highest)}
        # Packed like candidates: comparing with all of them is most of the work in wide lattices.
        self._hopeless = np.empty((0, len(checker.lattice.highest)), dtype=self._packing)
        top = checker.loss.floor(checker.lattice.highest)
        self._lift_per_row = top / max(checker.total, 1)
        self._waiting: list[tuple[float, bytes]] = []
        """Nodes that cannot be better themselves, though something below them may."""

    def learn(self, outcome: CheckOutcome, best: float) -> None:
        """Learn from a check, and line up the nodes below one that is not hopeless."""
        self._seen.add(self._pack(outcome.node))
        self._guess.learn(outcome.node, outcome.suppressed)
        if outcome.hopeless:
            node = np.array(outcome.node, dtype=self._packing)
            self._hopeless = np.vstack([self._hopeless, node])
            return
        self._line_up(outcome.node, best)

    def _pack(self, node: Node) -> bytes:
        """Return a node in as little memory as it takes, in the same order as nodes are."""
        return np.array(node, dtype=self._packing).tobytes()

    def _unpack(self, packed: bytes) -> Node:
        return tuple(np.frombuffer(packed, dtype=self._packing).tolist())

    def _line_up(self, above: Node, best: float) -> None:
        for node in self._checker.lattice.below(above):
            packed = self._pack(node)
            if packed not in self._seen:
                self._seen.add(packed)
                heapq.heappush(self._heap, (-self._promise(node, best), packed))

    def choose(self, best: float) -> Node | None:
        """Choose the most promising candidate; stale promises are renewed before they count."""
        while self._heap or self._waiting:
            if not self._heap:
                _, packed = heapq.heappop(self._waiting)
                self._line_up(self._unpack(packed), best)
                continue
            old, packed = heapq.heappop(self._heap)
            levels = np.frombuffer(packed, dtype=self._packing)
            if (levels <= self._hopeless).all(axis=1).any():
                continue
            node = self._unpack(packed)
            promise = self._promise(node, best)
            if promise <= 0.0:
                heapq.heappush(self._waiting, (self._checker.loss.floor(node), packed))
            elif self._heap and promise < -0.9 * self._heap[0][0] and promise < -0.9 * old:
                heapq.heappush(self._heap, (-promise, packed))
            else:
                return node
        return None

    def _promise(self, node: Node, best: float) -> float:
        limit = self._checker.limit
        guess = self._guess.of(node)
        odds = np.clip((guess - np.log1p(limit)) * (1.7 / self._guess.spread), -30, 30)
        expected = min(float(np.expm1(min(guess, 50.0))), float(limit))
        floor = self._checker.loss.floor(node)
        loss = floor + self._lift_per_row * max(expected, 0.0)
        chance = 1.0 / (1.0 + np.exp(odds))
        if not np.isfinite(best):
            return float(chance / (1.0 + loss))
        # The floor alone says whether it can be better at all; the guess only how likely.
        if floor >= best:
            return 0.0
        return float(chance * max(best - loss, 1e-6 * abs(best)))


class Boundary:
    """The border between valid and invalid nodes, found by settling as many as possible at once.

    A hopeless node settles everything below it, a valid one everything above it where
    the models allow that; where they allow nothing, every node is checked.
    """

    def __init__(self, checker: Checker) -> None:
        lattice = checker.lattice
        self._checker = checker
        self._shape, self._lowest = lattice.shape, lattice.lowest
        self._open = np.ones(lattice.size, dtype=bool)
        self._valid = np.zeros(lattice.size, dtype=bool)
        self._counter = BoxCounter(lattice.shape)
        self._guess = Predictor(checker.bits(), rows=checker.total, lowest=lattice.lowest)

    def learn(self, outcome: CheckOutcome) -> None:
        """Draw every conclusion the models allow from one check."""
        open_, valid = self._open.reshape(self._shape), self._valid.reshape(self._shape)
        here = tuple(level - low for level, low in zip(outcome.node, self._lowest, strict=True))
        self._guess.learn(outcome.node, outcome.suppressed)
        open_[here] = False
        valid[here] = outcome.valid
        if outcome.hopeless:
            open_[below(outcome.node, self._lowest)] = False
        if self._checker.valid_above(outcome):
            up = above(outcome.node, self._lowest)
            open_[up] = False
            valid[up] = True

    def run(self) -> Iterator[CheckOutcome]:
        """Check until every node is settled."""
        while (node := self._choose()) is not None:
            outcome = self._checker.check(node)
            self.learn(outcome)
            yield outcome

    def _choose(self) -> Node | None:
        if not self._open.any():
            return None
        over = self._guess.grid() - np.log1p(self._checker.limit)
        hopeless = chance(over, self._guess.spread)
        score = hopeless * self._counter.below(self._open)
        score += (1.0 - hopeless) * self._counter.above(self._open)
        score[~self._open] = -1.0
        place = np.unravel_index(int(score.argmax()), self._shape)
        return tuple(int(i) + low for i, low in zip(place, self._lowest, strict=True))

    def valid(self) -> tuple[Node, ...]:
        """Return the valid nodes in lexicographic order."""
        return self._nodes(self._valid)

    def minimal(self) -> tuple[Node, ...]:
        """Return the valid nodes that have no valid node below them."""
        counts = self._counter.below(self._valid)
        return self._nodes(self._valid & (counts == 1))

    def _nodes(self, marked: BoolArray) -> tuple[Node, ...]:
        places = np.argwhere(marked.reshape(self._shape)) + np.array(self._lowest)
        return tuple(tuple(int(level) for level in place) for place in places)


_DENSE_NODES = 300_000
"""Lattices up to this size are kept whole in memory, one number per node."""

_MOST_STEPS = 64
"""Steps from the lowest to the highest node up to which there is hope of a proof. With more,
choosing takes longer than checking, and the search only goes down from the top."""

_DESCEND = 8
"""One of this many checks of a large lattice is below a valid node, where a better one may be."""

_LIFT_TRUST = 0.7
"""How far to trust the estimate of what lifted floors settle."""

_NODES_PER_CHOICE = 50_000
"""Scoring costs more than a check in a lattice larger than this: several are chosen at once."""

_BATCH = 4
"""Nodes chosen at once for losses of classes, whose checks cost no more than a choice."""

_CHEAP_TUPLES = 100_000
"""Checks of more tuples than this cost much more than a choice."""

_PROMISING = 2
"""Nodes that are looked at first because other searches have seen that they may be good."""

_SMALL_BOX = 64
"""Nodes of a box that is small enough."""

_OF_CLASSES = ("_from_below", "_lift", "_from_above")
"""The arrays that only losses of class sizes have."""

_MOST_TIED = 32
"""Nodes that may be as good as the best and are looked at."""

_REFRESH = 8
"""Guesses are renewed after this many choices: between them they change little."""

_EAGER = 3
"""At the start they are renewed for each of this many choices."""


@dataclass(frozen=True)
class BestFirst(Search):
    """Finds the node of least loss and proves that no other is better.

    It keeps, for every node, a floor its loss cannot be below, and checks the node
    whose verdict is expected to settle the most others: a hopeless node settles all
    below it, a good one all whose floor is above its loss, and rows that are suppressed
    at a node are suppressed below it too, which lifts the floors there. It concludes
    only what the models declare about merging. Which node is checked next depends on a
    guess; what is concluded from the answer does not.

    Of lattices too large to hold it keeps boxes of nodes that are open, with a floor for each,
    and counts in a sample what a check would settle. Without a budget it then ends after
    2 000 checks, or after fewer (at least 100) where checks of many rows and columns take long, and
    says how far from the best the result may be. Where there are more than 64 steps from the lowest
    node to the highest, it goes down from the top, as `descent` does.

    Args:
        checks: Most nodes to check before the best so far is taken; None for no limit.
        seconds: Most seconds to search before the best so far is taken; None for no limit.
        all_minimal: Go on until every valid node is known, and with them the minimal ones.
    """

    name: ClassVar[str] = "best-first"
    exact: ClassVar[bool] = True

    all_minimal: bool = False

    @property
    def finds_all(self) -> bool:
        return self.all_minimal

    def run(self, checker: Checker) -> Iterator[Found]:
        if checker.lattice.size > _DENSE_NODES:
            wide = sum(level - 1 for level in checker.lattice.shape) > _MOST_STEPS
            descent = Descent(self.checks, self.seconds)
            yield from descent.run(checker) if wide else self._run_large(checker)
            return
        budget = self.budget()
        # A result of a given number of checks must not depend on what was searched before.
        key = checker.lesson_key if budget.checks is None else None
        state = _SearchState(checker, key)
        best = NOTHING_YET
        limited = budget.checks is not None or budget.seconds is not None
        pending = [] if key is None else checker.grouping.lessons.good_nodes(key)
        pending = [*state.promising, *pending]
        if limited and not pending:
            pending = [checker.lattice.highest]
        while True:
            node = pending.pop() if pending else state.choose(best.loss)
            if node is None:
                break
            outcome = checker.check(node)
            if outcome.valid and outcome.loss < best.loss:
                best = Found(node, outcome.loss, outcome.suppressed, checker.checks)
                best = replace(best, bound=state.bound(best.loss))
                yield best
            state.learn(outcome)
            if budget.is_spent(checker.checks):
                break
        proven = state.choose(best.loss) is None
        if proven and budget.checks is None:
            best = _break_tie(checker, state, best)
        if key is not None:
            checker.grouping.lessons.add(state.lesson(key, best.node))
        bound = best.loss if proven else state.bound(best.loss)
        best = replace(best, checks=checker.checks, proven=proven, finished=True, bound=bound)
        if self.all_minimal and proven:
            best = _find_all(checker, state.outcomes, best, budget)
        yield best

    def _run_large(self, checker: Checker) -> Iterator[Found]:
        budget = _with_end(self.budget(), checker)
        state, frontier = LargeState(checker), _Frontier(checker)
        best = NOTHING_YET
        node: Node | None = checker.lattice.highest
        while node is not None:
            outcome = checker.check(node)
            improved = outcome.valid and outcome.loss < best.loss
            state.learn(outcome, improved=improved)
            if improved:
                best = Found(node, outcome.loss, outcome.suppressed, checker.checks)
                best = replace(best, bound=state.bound(best.loss))
                yield best
            frontier.learn(outcome, best.loss)
            if budget.is_spent(checker.checks):
                break
            # Now and then straight down from the best: a better one settles much at once.
            descend = checker.checks % _DESCEND == 0
            node = frontier.choose(best.loss) if descend else None
            node = state.choose(best.loss) if node is None else node
        proven = state.boxes.least(best.loss) is None
        bound = best.loss if proven else state.bound(best.loss)
        yield replace(best, checks=checker.checks, proven=proven, finished=True, bound=bound)


def _find_all(
    checker: Checker, outcomes: Sequence[CheckOutcome], best: Found, budget: Budget
) -> Found:
    """Return what was found with all valid nodes, if there is time to find them."""
    border = Boundary(checker)
    for outcome in outcomes:
        border.learn(outcome)
    for _ in border.run():
        if budget.is_spent(checker.checks):
            break
    else:
        best = replace(best, minimal=border.minimal(), passing=border.valid())
    return replace(best, checks=checker.checks)


class _SearchState:
    """The knowledge of every node, as flat arrays in lexicographic order."""

    def __init__(self, checker: Checker, key: Hashable = None) -> None:
        lattice = checker.lattice
        self._checker = checker
        self.outcomes: list[CheckOutcome] = []
        # All arrays are of a box, which becomes smaller when what is open does.
        self._lowest, self._highest = lattice.lowest, lattice.highest
        self._shape = lattice.shape
        self._counter = BoxCounter(lattice.shape)
        self.least = checker.loss.floors(lattice.lowest, lattice.highest).ravel()
        """Floors of all nodes before any was checked."""

        self._floor = self.least.copy()
        lost, floors = None, None
        if key is not None:
            lost, floors = checker.grouping.lessons.of(key, checker.models)
        if floors is not None:
            np.maximum(self._floor, floors, out=self._floor)
        pairs = look_at_pairs(checker)
        self._settled = np.zeros(lattice.size, dtype=bool) if pairs is None else pairs.hopeless
        if lost is not None:
            self._settled |= lost
        self.hopeless = self._settled.copy()
        """Which nodes of the whole lattice are known not to be valid."""

        self._known_valid = np.zeros(lattice.size, dtype=bool)
        bits = checker.bits()
        rows = checker.total
        self._certain = Predictor(bits, rows=rows, lowest=lattice.lowest)
        self._suppressed = self._certain
        if not checker.all_absorbing and not checker.strict:
            self._suppressed = Predictor(bits, rows=rows, lowest=lattice.lowest)
        for node, rare in () if pairs is None else pairs.seen:
            self._certain.learn(node, rare)
        self._class_loss = isinstance(checker.loss, ClassLossFunction)
        if self._class_loss:
            # Floors from below, what rows that stay lost add to them, and floors from above.
            self._from_below = np.zeros(lattice.size)
            self._lift = np.zeros(lattice.size)
            self._from_above = self._floor.copy()
            self._lift_unit = checker.loss.lift_per_row(rows, checker.row_limit, checker.smallest)
            self._over = Predictor(bits, rows=rows, lowest=lattice.lowest)
            self._top = checker.loss.floor_above(_whole(lattice.highest, rows)) or 1.0
        # What suppressing one row adds to the loss: a first guess, then the average seen.
        self._lift_per_row = float(self._floor.max()) / max(rows, 1)
        self._lifts: list[float] = []
        cheap = self._class_loss and len(checker.grouping.rows) <= _CHEAP_TUPLES
        self._batch = _BATCH if cheap else 1
        self._queue: list[int] = []
        self._age = 0
        self._loss_of_refresh = np.inf
        self._open_of_shrink = lattice.size
        self._floors = self._floor.copy()
        """The floors of all nodes, as of when the box became smaller."""

        self.promising: list[Node] = []
        """Nodes that may be good, the best of them last."""

        if key is not None and checker.smallest > 1 and checker.grouping.person is None:
            self._recall(checker.grouping.lessons)

    def _recall(self, lessons: Lessons) -> None:
        """Learn from the classes of nodes that other searches have checked."""
        checker = self._checker
        guesses: list[tuple[float, Node]] = []
        settled = self._settled.reshape(self._shape)
        for node, rows in lessons.sizes():
            if not all(map(le, self._lowest, node)) or not all(map(le, node, self._highest)):
                continue
            if settled[tuple(map(sub, node, self._lowest))]:
                continue
            keep = rows >= checker.smallest
            rare = int(rows[~keep].sum())
            self._certain.learn(node, rare)
            if rare > checker.row_limit:
                self._settle_below(node)
            elif self._class_loss:
                sure = CheckedNode(node, rows, keep, checker.total, _no_values, checker.smallest)
                self._raise_floors(sure, above(node, self._lowest), below(node, self._lowest))
                guesses.append((checker.loss.of(sure), node))
            else:
                guesses.append((checker.loss.floor(node) + self._lift_per_row * rare, node))
        self.promising = [node for _, node in heapq.nsmallest(_PROMISING, guesses)][::-1]

    def _settle_below(self, node: Node) -> None:
        """Settle everything at or below a node that is hopeless."""
        self._settled.reshape(self._shape)[below(node, self._lowest)] = True
        whole = self._checker.lattice
        self.hopeless.reshape(whole.shape)[below(node, whole.lowest)] = True

    def _open(self, best: float) -> BoolArray:
        """Return which nodes may be better."""
        open_: BoolArray = ~self._settled
        open_ &= self._floor < below_best(best)
        return open_

    def bound(self, best: float) -> float:
        """Return a loss that no valid node is below, if the best so far has the given one."""
        return float(self._floor.min(where=self._open(best), initial=best))

    def choose(self, best: float) -> Node | None:
        """Pick the node whose verdict is expected to settle the most others; None when all are."""
        open_ = self._open(best)
        if not open_.any():
            return None
        while self._queue:
            flat = self._queue.pop(0)
            if open_[flat]:
                return self._node(flat)
        if self._age % _REFRESH == 0 or self._age < _EAGER or best != self._loss_of_refresh:
            open_ = self._shrink(open_)
            self._refresh(best, open_)
        self._age += 1
        score = self._hopeless * self._counter.below(open_)
        if self._class_loss:
            score += self._settles_above * self._counter.above(open_)
        else:
            score += np.maximum(self._gain * open_, self._lift_gain)
        score[self._settled | (self._known_valid & ~open_)] = -1.0
        first, *more = self._first(score)
        self._queue = more
        return self._node(first)

    def _shrink(self, open_: BoolArray) -> BoolArray:
        """Return what is open in the smallest box around it, if that is much smaller.

        A node outside of the box says no more of what is in it than the nearest one inside does,
        and is less likely to say it.
        """
        n_open = int(np.count_nonzero(open_))
        if len(open_) < _SMALL_BOX or 2 * n_open > self._open_of_shrink:
            return open_
        self._open_of_shrink = n_open
        grid = open_.reshape(self._shape)
        axes = range(len(self._shape))
        places = [np.flatnonzero(grid.any(axis=tuple(b for b in axes if b != a))) for a in axes]
        ends = [(int(found[0]), int(found[-1])) for found in places]
        if 2 * np.prod([last - first + 1 for first, last in ends]) > len(open_):
            return open_
        box = tuple([slice(first, last + 1) for first, last in ends])
        self._keep_floors()

        def cut(array: np.ndarray) -> np.ndarray:
            return np.ascontiguousarray(array.reshape(self._shape)[box]).ravel()

        for name in ("_floor", "_settled", "_known_valid", *(_OF_CLASSES * self._class_loss)):
            setattr(self, name, cut(getattr(self, name)))
        smaller = cut(open_)
        low = self._lowest
        self._lowest = tuple([b + first for b, (first, _) in zip(low, ends, strict=True)])
        self._highest = tuple([b + last for b, (_, last) in zip(low, ends, strict=True)])
        self._shape = tuple([last - first + 1 for first, last in ends])
        self._counter = BoxCounter(self._shape)
        return smaller

    def _keep_floors(self) -> None:
        whole = self._checker.lattice
        starts = [a - b for a, b in zip(self._lowest, whole.lowest, strict=True)]
        box = tuple([slice(a, a + n) for a, n in zip(starts, self._shape, strict=True)])
        self._floors.reshape(whole.shape)[box] = self._floor.reshape(self._shape)

    def lesson(self, key: Hashable, best: Node | None) -> Lesson:
        """Return what was learned, for searches to come."""
        self._keep_floors()
        whole = self._checker.lattice
        floors = self._floors.reshape(whole.shape)
        for outcome in self.outcomes:
            if outcome.valid:
                at = tuple(a - b for a, b in zip(outcome.node, whole.lowest, strict=True))
                floors[at] = max(floors[at], outcome.loss)
        return Lesson(key, self._checker.models, best, self.hopeless, self._floors)

    def _first(self, score: np.ndarray) -> list[int]:
        """Return the node of the highest score, and a few more to check next.

        None of them is above or below another: what one says of the next would be lost.
        """
        batch = max(self._batch, len(score) // _NODES_PER_CHOICE)
        found = [int(score.argmax())]
        grid = score.reshape(self._shape)
        while len(found) < batch:
            place = np.unravel_index(found[-1], self._shape)
            grid[tuple([slice(0, p + 1) for p in place])] = -1.0
            grid[tuple([slice(p, None) for p in place])] = -1.0
            best = int(score.argmax())
            if score[best] <= 0.0:
                break
            found.append(best)
        return found

    def _refresh(self, best: float, open_: BoolArray) -> None:
        """Guess again how likely each node is hopeless or valid, and what each would settle."""
        limit: float = self._checker.limit
        if self._class_loss and self._lift_unit and np.isfinite(best):
            # As many lost rows as cost more than the best loss settle what is below, too.
            limit = min(limit, best / self._lift_unit)
        guess = self._certain.grid(self._lowest, self._highest)
        self._hopeless = chance(guess - np.log1p(limit), self._certain.spread)
        self._hopeless[self._known_valid] = 0.0
        self._valid = 1.0 - self._hopeless
        if self._suppressed is not self._certain:
            over = self._suppressed.grid(self._lowest, self._highest) - np.log1p(limit)
            self._valid = chance(-over, self._suppressed.spread)
        if self._class_loss:
            # What is above a valid node loses more, unless it suppresses less.
            self._settles_above = self._valid
            if np.isfinite(best):
                over = chance(
                    np.log(self._top / best) - self._over.grid(self._lowest, self._highest),
                    self._over.spread,
                )
                self._settles_above = np.maximum(over, self._valid) if limit == 0 else over
            self._loss_of_refresh = best
            return
        # A valid node settles every node whose floor is above its loss.
        typical = TYPICAL_SHARE * limit
        settles = count_above(self._floor, open_, self._lift_per_row * typical)
        self._gain = self._valid * np.maximum(settles, 1.0)
        # It also lifts the floors below it, by about as much as a boundary node suppresses.
        self._lift_gain = np.float32(0.0)
        if limit and np.isfinite(best) and not self._class_loss:
            liftable = self._floor >= best - self._lift_per_row * typical
            near = np.minimum(2.0 * (guess - np.log(typical)).astype(np.float32), 0.0)
            np.exp(near, out=near)
            near *= self._valid
            near *= self._counter.below(open_ & liftable)
            self._lift_gain = np.multiply(near, np.float32(_LIFT_TRUST), out=near)
        self._loss_of_refresh = best

    def learn(self, outcome: CheckOutcome) -> None:
        """Draw every conclusion the models allow from one check."""
        self.outcomes.append(outcome.bare)
        checker, node, lowest = self._checker, outcome.node, self._lowest
        down, up = below(node, lowest), above(node, lowest)
        settled = self._settled.reshape(self._shape)
        floor = self._floor.reshape(self._shape)
        self._certain.learn(node, outcome.suppressed if checker.strict else outcome.certain)
        if self._suppressed is not self._certain:
            self._suppressed.learn(node, outcome.suppressed)
        if outcome.valid and outcome.suppressed:
            self._lifts.append((outcome.loss - checker.loss.floor(node)) / outcome.suppressed)
            self._lift_per_row = sum(self._lifts) / len(self._lifts)
        if outcome.hopeless:
            self._settle_below(node)
        else:
            if all(b <= a <= c for a, b, c in zip(node, lowest, self._highest, strict=True)):
                settled[tuple([a - b for a, b in zip(node, lowest, strict=True)])] = True
            if checker.valid_above(outcome):
                self._known_valid.reshape(self._shape)[up] = True
            if outcome.sure is not None and not self._class_loss:
                self._lift_floors(outcome.sure, floor[down])
        if self._class_loss and outcome.sure is not None:
            self._raise_floors(outcome.sure, up, down)

    def _lift_floors(self, sure: CheckedNode, floor: FloatArray) -> None:
        """Lift the floors below a node by the rows that are lost there too."""
        top = tuple(map(min, sure.node, self._highest))
        if floor.size:
            lifted = self._checker.loss.floors_below(sure, self._lowest, top)
            if lifted is not None:
                np.maximum(floor, lifted, out=floor)

    def _raise_floors(
        self, sure: CheckedNode, up: tuple[slice, ...], down: tuple[slice, ...]
    ) -> None:
        """Raise the floors of a loss of class sizes around a node."""
        loss = self._checker.loss
        over = loss.floor_above(sure)
        if over is not None:
            self._over.learn_log(sure.node, float(np.log(self._top / max(over, 1e-9))))
            here = self._from_below.reshape(self._shape)[up]
            np.maximum(here, over, out=here)
        if self._lift_unit:
            here = self._lift.reshape(self._shape)[down]
            np.maximum(here, self._lift_unit * sure.suppressed, out=here)
        under = loss.floor_below(sure)
        if under:
            here = self._from_above.reshape(self._shape)[down]
            np.maximum(here, under, out=here)
        np.add(self._from_below, self._lift, out=self._floor)
        np.maximum(self._floor, self._from_above, out=self._floor)

    def _node(self, flat: int) -> Node:
        place = np.unravel_index(flat, self._shape)
        return tuple(int(i) + low for i, low in zip(place, self._lowest, strict=True))


def _break_tie(checker: Checker, state: _SearchState, best: Found) -> Found:
    """Return, of nodes that lose as little as the best, the one that tells columns apart most.

    Which of them is met first is chance. So that it does not matter, the one is taken whose columns
    keep the most bits.
    """
    if best.node is None or best.suppressed or isinstance(checker.loss, ClassLossFunction):
        return best
    lattice = checker.lattice
    slack = 1e-12 * max(1.0, abs(best.loss))
    tied = np.flatnonzero(~state.hopeless & (np.abs(state.least - best.loss) <= slack))
    places = np.stack(np.unravel_index(tied, lattice.shape), axis=1)
    kept = sum(bits[place] for bits, place in zip(checker.bits(), places.T, strict=True))
    own = sum(
        float(bits[level - low])
        for bits, level, low in zip(checker.bits(), best.node, lattice.lowest, strict=True)
    )
    if np.count_nonzero(np.abs(state.least - best.loss) <= slack) == 1:
        best = replace(best, alone=True)
    more = np.flatnonzero(kept > own + 1e-9)
    for i in more[np.argsort(-kept[more], kind="stable")][:_MOST_TIED]:
        node = tuple(int(a) + low for a, low in zip(places[i], lattice.lowest, strict=True))
        outcome = checker.check(node)
        if outcome.valid and outcome.loss <= best.loss + slack:
            return Found(node, outcome.loss, outcome.suppressed, checker.checks)
    return best


def _whole(node: Node, rows: int) -> CheckedNode:
    """Return a table that is one class."""
    return CheckedNode(node, np.array([rows]), np.ones(1, dtype=bool), rows, _no_values)


def _no_values(_: int) -> FloatArray:
    """Return the values of suppressed rows where losses do not ask for them."""
    return np.zeros(0)


def step_down(checker: Checker, found: Found) -> Found:
    """Lower levels for as long as nothing is lost by it.

    A column that is constant, or values that no other value of the data shares a group
    with, lose nothing when generalised; a search that only looks at the loss may lift
    them for no reason. Attributes are tried in order, so the result is always the same.
    """
    while found.node is not None:
        lower = _equally_good(checker, found.node, found.loss)
        if lower is None:
            return replace(found, checks=checker.checks, bound=min(found.bound, found.loss))
        found = replace(found, node=lower.node, loss=lower.loss, suppressed=lower.suppressed)
    return found


def _equally_good(checker: Checker, node: Node, loss: float) -> Found | None:
    slack = 1e-12 * max(1.0, abs(loss))
    floor = checker.loss.floor(node)
    for lower in checker.lattice.below(node):
        # Where generalising did cost something, the search has looked already.
        if checker.loss.floor(lower) < floor - slack:
            continue
        outcome = checker.check(lower)
        if outcome.valid and outcome.loss <= loss + slack:
            return Found(lower, outcome.loss, outcome.suppressed, checker.checks)
    return None
