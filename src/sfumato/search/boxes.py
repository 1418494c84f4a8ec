"""Boxes of a lattice: which nodes may still be better than the best, without a number for each.

A box is all nodes between two. At first there is one, the lattice. What is learned of a node cuts
boxes: all below a hopeless node goes away, and what is left are smaller boxes that share no node.
A box is cut only when it has the lowest floor of all, so that there are few of them even where
the lattice has more nodes than any memory.
"""

import heapq
from typing import NamedTuple

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.losses.base import ClassLossFunction
from sfumato.search.base import Checker, CheckOutcome
from sfumato.typing import BoolArray, FloatArray, IntArray, Node

_AT_ONCE = 64
"""Boxes that are cut in one step."""

_MOST_CUTS = 400_000
"""Attributes of boxes that are cut for one choice: more would take longer than many checks."""

_MOST_LIFTS = 32
"""Nodes whose lost rows are looked at for one box: those that lose the most."""

_DRAWS = 4
"""Times that nodes are drawn before too few are enough."""

_ROUNDING = 1e-12
"""Losses are sums of many floats: a difference by rounding alone is none."""


def below_best(best: float) -> float:
    """Return what the floor of a node must be below for the node to be better.

    >>> below_best(np.inf)
    inf
    """
    return best - _ROUNDING * max(1.0, abs(best)) if np.isfinite(best) else best


class _GrowingRows:
    """An array that rows are added to."""

    def __init__(self, width: int, dtype: np.dtype) -> None:
        self._held = np.empty((64, width), dtype=dtype)
        self._n = 0

    def __len__(self) -> int:
        return self._n

    @property
    def array(self) -> np.ndarray:
        """All rows."""
        return self._held[: self._n]

    def add(self, rows: np.ndarray) -> None:
        """Add rows at the end."""
        end = self._n + len(rows)
        if end > len(self._held):
            grown = np.empty((2 * end, self._held.shape[1]), dtype=self._held.dtype)
            grown[: self._n] = self.array
            self._held = grown
        self._held[self._n : end] = rows
        self._n = end

    def keep(self, which: np.ndarray) -> None:
        """Forget all other rows."""
        left = self.array[which]
        self._held[: len(left)] = left
        self._n = len(left)


class _Order:
    """Compares many nodes with many others.

    Each level of an attribute has a bit, and a node those of its levels and all below. Then one
    node is below another if it has no bit that this has not: one step for 64 levels, in place of
    one for each attribute.
    """

    def __init__(self, highest: Node) -> None:
        sizes = [level + 1 for level in highest]
        self._starts = np.cumsum([0, *sizes])[:-1]
        bits = sum(highest)
        self._bits = np.zeros((max(-(-bits // 64), 1), sum(sizes)), dtype=np.uint64)
        place = bit = 0
        for size in sizes:
            for level in range(size):
                if level:
                    self._bits[:, place] = self._bits[:, place - 1]
                    self._bits[bit // 64, place] |= np.uint64(1) << np.uint64(bit % 64)
                    bit += 1
                place += 1

    def below(self, some: np.ndarray, others: np.ndarray) -> BoolArray:
        """Return for each of some nodes whether it is at or below each of the others."""
        found = np.ones((len(some), len(others)), dtype=bool)
        if len(some) and len(others):
            at, to = self._starts + some, self._starts + others
            for word in self._bits:
                mine = np.bitwise_or.reduce(word[at], axis=1)
                theirs = ~np.bitwise_or.reduce(word[to], axis=1)
                found &= (mine[:, None] & theirs) == 0
        return found


@dataclass(frozen=True, eq=False)
class CheckedFact:
    """What a check says of the nodes around the one that was checked."""

    node: np.ndarray
    hopeless: bool
    """Whether no node at or below it is valid."""

    over: float = 0.0
    """A floor of what is above; 0 if there is none."""

    under: float = 0.0
    """A floor of what is below; 0 if there is none."""

    lift: float = 0.0
    """What lost rows add below to a floor that comes from further below."""

    parts: FloatArray | None = None
    """Floors of each level of each attribute below, one after the other."""

    rows: int = 0
    """Rows that are lost below."""


class _Cut(NamedTuple):
    """How boxes are cut: at which node, and which floor the part at its side then has."""

    box: IntArray
    node: np.ndarray
    floor: FloatArray
    upwards: BoolArray
    """Whether the floor is of what is above the node, not below it."""


class Points:
    """Some nodes that are open, with all that is known of their floors."""

    def __init__(self, boxes: "OpenBoxes", nodes: np.ndarray) -> None:
        self._boxes = boxes
        self.nodes = nodes
        self._from_below, self._lift, self._under = boxes.known_of(nodes, nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def known(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Floors from below, what lost rows add to them, and floors from above."""
        return self._from_below, self._lift, self._under

    @property
    def floors(self) -> FloatArray:
        """The floor of each."""
        return np.maximum(self._from_below + self._lift, self._under)

    def learn(self, fact: CheckedFact) -> None:
        """Raise the floors of some, or leave out what is settled."""
        below: BoolArray = np.all(self.nodes <= fact.node, axis=1)
        above: BoolArray = np.all(self.nodes >= fact.node, axis=1)
        self._from_below[above] = np.maximum(self._from_below[above], fact.over)
        if fact.hopeless:
            self.keep(~below)
            return
        self._lift[below] = np.maximum(self._lift[below], fact.lift)
        under = np.full(int(below.sum()), fact.under)
        if fact.parts is not None:
            under = np.maximum(under, self._boxes.by_parts(fact.parts, self.nodes[below]))
        self._under[below] = np.maximum(self._under[below], under)
        self.keep(~(below & above))

    def keep(self, which: BoolArray) -> None:
        """Forget the others."""
        self.nodes = self.nodes[which]
        self._from_below = self._from_below[which]
        self._lift, self._under = self._lift[which], self._under[which]

    def join(self, other: "Points") -> None:
        """Add those of others that are not there."""
        nodes = np.concatenate([self.nodes, other.nodes])
        known = [np.concatenate(pair) for pair in zip(self.known, other.known, strict=True)]
        _, first = np.unique(nodes, axis=0, return_index=True)
        self.nodes = nodes[first]
        self._from_below, self._lift, self._under = (each[first] for each in known)


class OpenBoxes:
    """The nodes that may be better than the best, as boxes of which no two share a node.

    Every box has a floor that the losses of its valid nodes are not below, so the lowest floor of
    all is one of the whole lattice.
    """

    def __init__(self, checker: Checker) -> None:
        lattice, loss = checker.lattice, checker.loss
        self._loss = loss
        self.lift_unit = 0.0
        self._of_classes = isinstance(loss, ClassLossFunction)
        if self._of_classes:
            self.lift_unit = loss.lift_per_row(checker.total, checker.row_limit, checker.smallest)
        width = len(lattice.lowest)
        self.dtype = np.dtype(np.uint8 if max(lattice.highest, default=0) < 255 else np.int32)
        self._top = np.array(lattice.highest, dtype=self.dtype)
        self._order = _Order(lattice.highest)
        self._lows, self._highs = _GrowingRows(width, self.dtype), _GrowingRows(width, self.dtype)
        self._hopeless = _GrowingRows(width, self.dtype)
        self._settled: set[bytes] = set()
        parts = loss.level_parts(None)
        self._levels = None if parts is None else np.concatenate([*parts, np.zeros(0)])
        sizes = [] if parts is None else [len(part) for part in parts]
        self._starts = np.cumsum([0, *sizes])[:-1]
        # What holds below nodes, and what holds above them.
        number = np.dtype(np.float64)
        self._under_nodes, self._over_nodes = (
            _GrowingRows(width, self.dtype),
            _GrowingRows(width, self.dtype),
        )
        self._under = _GrowingRows(3, number)
        self._parts = _GrowingRows(sum(sizes), number)
        self._over = _GrowingRows(1, number)
        self._heap: list[tuple[float, int]] = []
        start = np.array([lattice.lowest], dtype=self.dtype)
        self._push(start, self._top[None], np.full(1, -np.inf), np.inf)

    def __len__(self) -> int:
        return len(self._heap)

    def bound(self, best: float) -> float:
        """Return a loss that no node is below, if the best so far has the given one."""
        return min(best, self._heap[0][0]) if self._heap else best

    def learn(self, outcome: CheckOutcome) -> CheckedFact:
        """Return what a check says, and keep it for boxes to be cut by."""
        fact = self._fact(outcome)
        if fact.over:
            self._over_nodes.add(fact.node[None])
            self._over.add(np.array([[fact.over]]))
        if fact.hopeless:
            self.rule_out(fact.node)
            return fact
        self._settled.add(fact.node.tobytes())
        if fact.lift or fact.under or fact.parts is not None:
            self._under_nodes.add(fact.node[None])
            self._under.add(np.array([[fact.under, fact.lift, fact.rows]]))
            if fact.parts is not None:
                self._parts.add(fact.parts[None])
        return fact

    def _fact(self, outcome: CheckOutcome) -> CheckedFact:
        node = np.array(outcome.node, dtype=self.dtype)
        loss, sure = self._loss, outcome.sure
        if sure is None:
            return CheckedFact(node, outcome.hopeless)
        over = (loss.floor_above(sure) or 0.0) if self._of_classes else 0.0
        if outcome.hopeless:
            return CheckedFact(node, True, over)  # noqa: FBT003
        if self._of_classes:
            lift = self.lift_unit * sure.suppressed
            floor = loss.floor_below(sure)
            return CheckedFact(node, False, over, floor, lift, rows=sure.suppressed)  # noqa: FBT003
        parts = loss.level_parts(sure) if sure.suppressed else None
        if parts is None:
            return CheckedFact(node, False)  # noqa: FBT003
        # Of a box, the least of all its levels counts; that part may fall where a level rises.
        least = [
            np.append(np.minimum.accumulate(part[: level + 1][::-1])[::-1], part[level + 1 :])
            for part, level in zip(parts, outcome.node, strict=True)
        ]
        return CheckedFact(node, False, parts=np.concatenate(least), rows=sure.suppressed)  # noqa: FBT003

    def rule_out(self, node: np.ndarray) -> None:
        """Forget all nodes at or below one."""
        known = self._hopeless.array
        if np.all(node <= known, axis=1).any():
            return
        covered: BoolArray = np.all(known <= node, axis=1)
        self._hopeless.keep(~covered)
        self._hopeless.add(node[None].astype(self.dtype))

    def floors(self, nodes: np.ndarray) -> FloatArray:
        """Return floors that were known before any check; they do not fall upwards."""
        if self._levels is None:
            return np.zeros(len(nodes))
        return self.by_parts(self._levels, nodes)

    def by_parts(self, parts: FloatArray, nodes: np.ndarray) -> FloatArray:
        """Return the floors of nodes by the parts of each level of each attribute."""
        return self._loss.combine(parts[self._starts + nodes])

    def known_of(
        self, lows: np.ndarray, highs: np.ndarray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return floors from below, what lost rows add to them, and floors from above, of boxes."""
        from_below = self.floors(lows)
        lift, under = np.zeros(len(lows)), np.full(len(lows), -np.inf)
        if len(self._over):
            here = self._order.below(self._over_nodes.array, lows)
            over = np.where(here, self._over.array, 0.0).max(axis=0)
            from_below = np.maximum(from_below, over)
        if len(self._under):
            box, at = self._under_pairs(highs)
            facts = self._under.array[at]
            np.maximum.at(lift, box, facts[:, 1])
            np.maximum.at(under, box, self._under_of(lows[box], at))
        return from_below, lift, under

    def _under_pairs(self, nodes: np.ndarray) -> tuple[IntArray, IntArray]:
        """Return pairs of nodes and facts from above them; of many, those that lose most rows."""
        order = np.argsort(-self._under.array[:, 2], kind="stable")
        above = self._order.below(nodes, self._under_nodes.array[order])
        above &= np.cumsum(above, axis=1, dtype=np.int32) <= _MOST_LIFTS
        which, place = np.nonzero(above)
        return which, order[place]

    def _under_of(self, lows: np.ndarray, at: IntArray) -> FloatArray:
        """Return floors from above of boxes that begin at some nodes, by one fact for each."""
        if not len(self._parts):
            under: FloatArray = self._under.array[at, 0]
            return under
        return self._loss.combine(self._parts.array[at[:, None], self._starts + lows])

    def _push(self, lows: np.ndarray, highs: np.ndarray, floors: FloatArray, limit: float) -> None:
        floors = np.maximum(floors, self.floors(lows))
        open_ = floors < limit
        first = len(self._lows)
        self._lows.add(lows[open_])
        self._highs.add(highs[open_])
        for entry in zip(floors[open_].tolist(), range(first, len(self._lows)), strict=True):
            heapq.heappush(self._heap, entry)

    def least(self, best: float) -> Node | None:
        """Return an open node of the lowest floor; None if no node is open.

        Where that would take too long, it is one of which the floor is not the last word.
        """
        limit, cuts = below_best(best), 0
        most = _MOST_CUTS // max(len(self._top), 1)
        while self._heap and self._heap[0][0] < limit:
            entries: list[tuple[float, int]] = []
            while self._heap and len(entries) < _AT_ONCE and self._heap[0][0] < limit:
                entries.append(heapq.heappop(self._heap))
            whole = self._look_at(entries, limit)
            cuts += len(entries)
            if self._heap and (self._heap[0] in whole or cuts > most):
                return self._node(self._lows.array[self._heap[0][1]])
        self._heap = []
        return None

    def _node(self, levels: np.ndarray) -> Node:
        return tuple(levels.tolist())

    def lows(self, most: int) -> np.ndarray:
        """Return the lowest nodes of the boxes with the lowest floors."""
        return self._lows.array[[i for _, i in heapq.nsmallest(most, self._heap)]]

    def _look_at(self, entries: list[tuple[float, int]], limit: float) -> set[tuple[float, int]]:
        """Return which boxes nothing cuts; the others are replaced by what is open of them."""
        which = np.array([i for _, i in entries])
        floors = np.array([floor for floor, _ in entries])
        lows, highs = self._lows.array[which], self._highs.array[which]
        if np.isfinite(limit):
            self._tighten(lows, highs, limit)
            self._highs.array[which] = highs
        cut = self._cuts(lows, highs, floors, limit)
        whole = np.ones(len(entries), dtype=bool)
        whole[cut.box] = False
        stay = {entries[i] for i in np.flatnonzero(whole).tolist()}
        for entry in stay:
            heapq.heappush(self._heap, entry)
        for up in (False, True):
            some = cut.upwards == up
            box = cut.box[some]
            parts = lows[box], highs[box], cut.node[some]
            if up:
                # The same upside down.
                parts = self._top - parts[1], self._top - parts[0], self._top - parts[2]
            self._split(parts, floors[box], cut.floor[some], limit, up=up)
        if len(self._lows) > 8 * len(self._heap) + 100_000:
            self._compact()
        return stay

    def _compact(self) -> None:
        """Forget boxes that are no more."""
        which = np.array([i for _, i in self._heap], dtype=np.int64)
        self._lows.keep(which)
        self._highs.keep(which)
        self._heap = [(floor, i) for i, (floor, _) in enumerate(self._heap)]

    def _tighten(self, lows: np.ndarray, highs: np.ndarray, limit: float) -> None:
        """Lower the highest levels that cost too much, whatever the other levels are."""
        while self._levels is not None:
            box, attribute = np.nonzero(highs > lows)
            raised = lows[box]
            raised[np.arange(len(box)), attribute] = highs[box, attribute]
            over = self.floors(raised) >= limit
            if not over.any():
                return
            highs[box[over], attribute[over]] -= 1

    def _cuts(self, lows: np.ndarray, highs: np.ndarray, floors: FloatArray, limit: float) -> _Cut:
        """Return how boxes are cut: so that the most goes away, in the fewest parts."""
        found: list[tuple[IntArray, np.ndarray, FloatArray, IntArray, bool]] = []
        hopeless = self._hopeless.array
        box, at = np.nonzero(self._order.below(lows, hopeless))
        if len(box):
            sides = (highs[box] > hopeless[at]).sum(axis=1)
            found.append((box, hopeless[at], np.full(len(box), limit), sides, False))
        open_ = np.ones(len(lows), dtype=bool)
        open_[box] = False
        rest = np.flatnonzero(open_)
        if len(rest) and (len(self._under) or len(self._over)):
            found += self._cuts_by_floors(rest, lows, highs, floors)
        for i in rest.tolist():
            if lows[i].tobytes() in self._settled:
                here, sides = np.array([i]), (highs[i] > lows[i]).sum()
                found.append((here, lows[i][None], np.full(1, limit), np.array([sides]), False))
        if not found:
            nothing = np.zeros(0, dtype=np.int64)
            return _Cut(nothing, lows[:0], np.zeros(0), np.zeros(0, dtype=bool))
        box = np.concatenate([each[0] for each in found])
        node = np.concatenate([each[1] for each in found])
        value = np.minimum(np.concatenate([each[2] for each in found]), limit)
        sides = np.concatenate([each[3] for each in found])
        upwards = np.concatenate([np.full(len(each[0]), each[4]) for each in found])
        order = np.lexsort((sides, -value, box))
        _, first = np.unique(box[order], return_index=True)
        first = order[first]
        return _Cut(box[first], node[first], value[first], upwards[first])

    def _cuts_by_floors(
        self, rest: IntArray, lows: np.ndarray, highs: np.ndarray, floors: FloatArray
    ) -> list[tuple[IntArray, np.ndarray, FloatArray, IntArray, bool]]:
        """Return how boxes are cut by nodes that raise the floors of a part of them."""
        lows, highs, floors = lows[rest], highs[rest], floors[rest]
        from_below, lift, _ = (
            self.known_of(lows, highs) if self._of_classes else (floors, 0.0, None)
        )
        least = floors + _ROUNDING * np.maximum(1.0, np.abs(floors))
        found = []
        if len(self._under):
            nodes = self._under_nodes.array
            box, at = self._under_pairs(lows)
            value = self._under_of(lows[box], at)
            if self._of_classes:
                value = np.maximum(value, from_below[box] + self._under.array[at, 1])
            more = value > least[box]
            box, at, value = box[more], at[more], value[more]
            sides = (highs[box] > nodes[at]).sum(axis=1)
            found.append((rest[box], nodes[at], value, sides, False))
        if len(self._over):
            nodes = self._over_nodes.array
            at, box = np.nonzero(self._order.below(nodes, highs))
            value = self._over.array[at, 0] + np.broadcast_to(lift, len(lows))[box]
            more = value > least[box]
            box, at, value = box[more], at[more], value[more]
            sides = (lows[box] < nodes[at]).sum(axis=1)
            found.append((rest[box], nodes[at], value, sides, True))
        return found

    def _split(
        self,
        parts: tuple[np.ndarray, np.ndarray, np.ndarray],
        floors: FloatArray,
        inside: FloatArray,
        limit: float,
        *,
        up: bool,
    ) -> None:
        """Replace boxes by the part below a node, with a floor of its own, and those that are not.

        Of these there is one for each attribute in which the node is not highest. They share no
        node: what exceeds it in one attribute does not in those before.
        """
        lows, highs, node = parts

        def push(lows: np.ndarray, highs: np.ndarray, floors: FloatArray) -> None:
            if up:
                lows, highs = self._top - highs, self._top - lows
            self._push(lows, highs, floors, limit)

        some = inside < limit
        push(lows[some], np.minimum(highs, node)[some], inside[some])
        box, attribute = np.nonzero(highs > node)
        if not len(box):
            return
        raised = lows[box]
        raised[np.arange(len(box)), attribute] = node[box, attribute] + 1
        # The cheapest come last: they are the smallest boxes, which are soonest done.
        cost = self.floors(self._top - highs[box] if up else raised)
        order = np.lexsort((-cost, box))
        place = np.empty(len(box), dtype=np.int64)
        place[order] = np.arange(len(box))
        places = np.full(lows.shape, len(box))
        places[box, attribute] = place
        before = places[box] < place[:, None]
        push(raised, np.where(before, node[box], highs[box]), floors[box])

    def draw(self, n: int, best: float, rng: np.random.Generator) -> Points:
        """Return some open nodes, each with the same chance as far as possible."""
        limit, found = below_best(best), []
        for _ in range(_DRAWS):
            if not self._heap:
                break
            which = np.array([i for _, i in self._heap])
            lows, highs = self._lows.array[which], self._highs.array[which]
            sizes = np.log(highs - lows.astype(np.float64) + 1.0).sum(axis=1)
            share = np.exp(sizes - sizes.max())
            box = rng.choice(len(which), size=2 * n, p=share / share.sum())
            span = highs[box] - lows[box].astype(np.float64) + 1.0
            nodes = lows[box] + np.floor(rng.random(span.shape) * span).astype(self.dtype)
            cheap = self.floors(nodes) < limit
            open_ = cheap & self._are_open(nodes)
            points = Points(self, nodes[open_])
            points.keep(points.floors < limit)
            found.append(points)
            if sum(map(len, found)) >= n:
                break
            # Boxes in which much is not open are cut.
            wrong = np.unique(box[cheap & ~open_])[: 4 * _AT_ONCE]
            if len(wrong):
                gone = set(wrong.tolist())
                entries = [self._heap[i] for i in wrong.tolist()]
                self._heap = [e for i, e in enumerate(self._heap) if i not in gone]
                heapq.heapify(self._heap)
                self._look_at(entries, limit)
        if sum(map(len, found)) < n // 8:
            nodes = self.lows(n)
            points = Points(self, nodes[self._are_open(nodes)])
            points.keep(points.floors < limit)
            found.append(points)
        drawn = found[0]
        for more in found[1:]:
            drawn.join(more)
        return drawn

    def points(self, nodes: np.ndarray, best: float) -> Points:
        """Return those of some nodes that are open."""
        open_ = (self.floors(nodes) < below_best(best)) & self._are_open(nodes)
        points = Points(self, nodes[open_])
        points.keep(points.floors < below_best(best))
        return points

    def _are_open(self, nodes: np.ndarray) -> BoolArray:
        """Return which nodes are neither checked nor hopeless."""
        ruled_out: BoolArray = np.any(self._order.below(nodes, self._hopeless.array), axis=1)
        open_ = ~ruled_out
        for i in np.flatnonzero(open_).tolist():
            open_[i] = nodes[i].tobytes() not in self._settled
        return open_
