"""The contract of losses: what a recoding costs, and what that says about the nodes around it.

A loss is a frozen dataclass of settings. `over` fits it to one table and gives a
`LossFunction`, which a search asks for three things: the loss of a node that was
checked, a floor for every node before any is checked, and a floor for the nodes
below (or above) one that was. A table that was recoded locally is no node; its loss is
that of its cells and classes.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from typing import ClassVar, Self

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.hierarchy.base import Ladder
from sfumato.registry import Member, Registry
from sfumato.typing import BoolArray, FloatArray, IntArray, Node

# Aggregates: the losses of single attributes as one number.
#
# Every aggregate rises with each of its parts, so the aggregate of lower bounds is a lower bound.


class Aggregate(ABC):
    """Combines one number per attribute, with weights."""

    name: ClassVar[str]

    @abstractmethod
    def of(self, parts: FloatArray, weights: FloatArray) -> float:
        """Combine one number per attribute."""

    @abstractmethod
    def grid(self, parts: Sequence[FloatArray], weights: FloatArray) -> FloatArray:
        """Combine every choice of one level per attribute: one axis per attribute."""

    @abstractmethod
    def rows(self, parts: FloatArray, weights: FloatArray) -> FloatArray:
        """Combine each row of an array that has a column per attribute."""


def _outer(parts: Sequence[FloatArray], combine: Callable[..., FloatArray]) -> FloatArray:
    """Combine vectors along axes of their own.

    >>> _outer([np.array([0.0, 1.0]), np.array([10.0, 20.0])], np.add).tolist()
    [[10.0, 20.0], [11.0, 21.0]]
    """
    # Flat outer products are much cheaper than broadcasting over many short axes, and from the
    # right each step combines one number with a long stretch of others.
    flat = reduce(lambda grid, part: combine(part[:, None], grid[None, :]).ravel(), reversed(parts))
    return flat.reshape([len(part) for part in parts])


class Sum(Aggregate):
    """The weighted sum.

    >>> Sum().of(np.array([1.0, 2.0]), np.array([1.0, 3.0]))
    7.0
    """

    name: ClassVar[str] = "sum"

    def of(self, parts: FloatArray, weights: FloatArray) -> float:
        return float(parts @ weights)

    def grid(self, parts: Sequence[FloatArray], weights: FloatArray) -> FloatArray:
        return _outer([part * weight for part, weight in zip(parts, weights, strict=True)], np.add)

    def rows(self, parts: FloatArray, weights: FloatArray) -> FloatArray:
        combined: FloatArray = parts @ weights
        return combined


class ArithmeticMean(Sum):
    """The weighted mean.

    >>> ArithmeticMean().of(np.array([1.0, 2.0]), np.array([1.0, 3.0]))
    1.75
    """

    name: ClassVar[str] = "arithmetic-mean"

    def of(self, parts: FloatArray, weights: FloatArray) -> float:
        return super().of(parts, weights / weights.sum())

    def grid(self, parts: Sequence[FloatArray], weights: FloatArray) -> FloatArray:
        return super().grid(parts, weights / weights.sum())

    def rows(self, parts: FloatArray, weights: FloatArray) -> FloatArray:
        return super().rows(parts, weights / weights.sum())


class GeometricMean(ArithmeticMean):
    """The weighted geometric mean of (1 + part), minus 1: losing one attribute whole costs less.

    >>> GeometricMean().of(np.array([0.0, 3.0]), np.array([1.0, 1.0]))
    1.0
    """

    name: ClassVar[str] = "geometric-mean"

    def of(self, parts: FloatArray, weights: FloatArray) -> float:
        return float(np.expm1(super().of(np.log1p(parts), weights)))

    def grid(self, parts: Sequence[FloatArray], weights: FloatArray) -> FloatArray:
        grid: FloatArray = np.expm1(super().grid([np.log1p(part) for part in parts], weights))
        return grid

    def rows(self, parts: FloatArray, weights: FloatArray) -> FloatArray:
        combined: FloatArray = np.expm1(super().rows(np.log1p(parts), weights))
        return combined


class Maximum(Aggregate):
    """The worst attribute, each scaled by its weight relative to the largest weight.

    >>> Maximum().of(np.array([0.5, 0.4]), np.array([1.0, 2.0]))
    0.4
    """

    name: ClassVar[str] = "maximum"

    def of(self, parts: FloatArray, weights: FloatArray) -> float:
        return float((parts * (weights / weights.max())).max())

    def grid(self, parts: Sequence[FloatArray], weights: FloatArray) -> FloatArray:
        scaled = weights / weights.max()
        return _outer(
            [part * weight for part, weight in zip(parts, scaled, strict=True)], np.maximum
        )

    def rows(self, parts: FloatArray, weights: FloatArray) -> FloatArray:
        combined: FloatArray = (parts * (weights / weights.max())).max(axis=1)
        return combined


AGGREGATES: Registry[Aggregate] = Registry(
    "aggregate", "sfumato.aggregates", [Sum, ArithmeticMean, GeometricMean, Maximum]
)


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of one attribute: groups of rows with one raw value, published with one label.

    Each field has one entry per group. In full-domain recoding all groups stand at one
    level; in local recoding one raw value may be in several groups, each with a label of
    its own.

    Example:
        >>> from sfumato.hierarchy import Hierarchy
        >>> from sfumato.losses import Attribute
        >>> h = Hierarchy.from_paths(["a", "b", "c"], [["ab", "*"], ["ab", "*"], ["c", "*"]])
        >>> letters = Attribute(h.bind("letter", ["a", "b", "c"]), np.array([5, 3, 2]))
        >>> cells = Cells.at(letters, 1)
        >>> cells.leaves.tolist(), cells.together.tolist()
        ([2.0, 2.0, 1.0], [8.0, 8.0, 2.0])
    """

    value: IntArray
    """The raw value, as its code in the attribute's ladder."""

    level: FloatArray
    """The height of the label in the hierarchy: 0 is raw, the ladder's height the top.

    For an attribute that is recoded to intervals, whose ladder has height 1, the share of
    its domain that the interval covers.
    """

    leaves: FloatArray
    """The number of raw values of the domain that the label stands for."""

    together: FloatArray
    """The rows of the original table that have a raw value which the label covers."""

    rows: FloatArray
    """The rows of the group."""

    @classmethod
    def at(cls, attribute: "Attribute", level: int) -> Self:
        """Return the cells of a whole column at one level: one group per raw value."""
        codes = attribute.ladder.codes[level]
        rows = attribute.frequency.astype(np.float64)
        return cls(
            value=np.arange(len(rows)),
            level=np.full(len(rows), float(level)),
            leaves=attribute.ladder.leaves[level][codes],
            together=np.bincount(codes, weights=rows)[codes],
            rows=rows,
        )


@dataclass(frozen=True, eq=False)
class LocalResult:
    """A locally recoded table: the published cells, their classes, and what was suppressed."""

    cells: Sequence[Cells]
    """For each attribute the cells of the published rows; their rows add up to all of those."""

    sizes: IntArray
    """The sizes of the published classes."""

    removed: Sequence[FloatArray]
    """For each attribute, the suppressed rows of each raw value."""

    suppressed: int
    """The number of suppressed rows."""

    def beside(self, lost: int) -> Self:
        """Return it with rows that were suppressed before it was decided."""
        return replace(self, suppressed=self.suppressed + lost)


@dataclass(frozen=True, eq=False)
class Attribute:
    """A quasi-identifier as losses see it: its ladder, its value counts, its weight."""

    ladder: Ladder
    frequency: IntArray
    """Rows of each raw value, by code."""

    weight: float = 1.0
    lost: int = 0
    """Rows that were suppressed before and are in no count. They cost what suppressed rows cost,
    as if their values were spread like those of the others."""


@dataclass(frozen=True, eq=False)
class Cut:
    """A cut through the value tree of each attribute: every raw value stands at a level of its own.

    Values that have one label there stand at one level, so that each becomes one label.
    """

    levels: tuple[IntArray, ...]
    """For each attribute the level of each raw value."""

    ladders: tuple[Ladder, ...]
    """For each attribute a ladder with the cut as its only level."""


@dataclass(frozen=True, eq=False)
class CheckedNode:
    """A node after it was checked: its classes, and which of them stay.

    `histogram` counts, for one attribute, the suppressed rows of each raw value.
    """

    node: Node
    sizes: IntArray
    keep: BoolArray
    total: int
    histogram: Callable[[int], FloatArray]
    smallest: int = 1
    """The fewest rows of a class that may stay, here and at every other node."""

    @cached_property
    def suppressed(self) -> int:
        """The number of suppressed rows."""
        return self.total - int(self.sizes[self.keep].sum())

    def removed_rows(self, attribute: int) -> FloatArray | None:
        """Count the suppressed rows by raw value, or None if there are none."""
        return self.histogram(attribute) if self.suppressed else None

    def beside(self, lost: int) -> "CheckedNode":
        """Return it with rows that were suppressed before, as one class that does not stay."""
        if not lost:
            return self
        return replace(
            self,
            sizes=np.append(self.sizes, lost),
            keep=np.append(self.keep, False),
            total=self.total + lost,
        )


class LossFunction(ABC):
    """A loss fitted to one table."""

    @abstractmethod
    def of(self, judged: CheckedNode) -> float:
        """Return the loss of a node that was checked."""

    @abstractmethod
    def of_local(self, result: LocalResult) -> float:
        """Return the loss of a table that was recoded locally."""

    @abstractmethod
    def of_cut(self, judged: CheckedNode, cut: "Cut") -> float:
        """Return the loss of a cut that was checked; of one at the levels of a node, the node's."""

    @abstractmethod
    def cut_part(self, attribute: int, levels: IntArray) -> float:
        """Return what a cut costs in one attribute if no row is suppressed; 0 if not by cells."""

    @abstractmethod
    def of_parts(self, parts: Sequence[FloatArray]) -> FloatArray:
        """Return a value that no cut's loss is below, for all choices of one part per attribute."""

    @abstractmethod
    def floor(self, node: Node) -> float:
        """Return a value the node's loss cannot be below, without looking at classes.

        It does not fall where a level rises.
        """

    @abstractmethod
    def floors(self, lowest: Node, highest: Node) -> FloatArray:
        """Return `floor` for every node of a box, as an array with one axis per attribute."""

    def level_parts(self, judged: CheckedNode | None) -> list[FloatArray] | None:
        """Return what each level of each attribute costs at least; None if levels say nothing.

        Args:
            judged: A node whose suppressed rows stay so; then the costs hold below it. None for
                what holds of all nodes: these costs must not fall from level to level.
        """
        return None

    def combine(self, parts: FloatArray) -> FloatArray:
        """Return the floor of each row of an array with a level's cost for each attribute."""
        return np.zeros(len(parts))

    def floors_below(
        self, judged: CheckedNode, lowest: Node, highest: Node | None = None
    ) -> FloatArray | None:
        """Return floors for the box from `lowest` to the node, where its suppressed rows stay so.

        Args:
            judged: The node.
            lowest: Where the box begins.
            highest: Where it ends, if not at the node itself.

        None when they teach nothing new.
        """
        return None

    def floor_below(self, judged: CheckedNode) -> float:
        """Return one floor for everything below the node, whose suppressed rows stay so."""
        return 0.0

    def floor_above(self, judged: CheckedNode) -> float | None:
        """Return a floor for everything above the node, or None."""
        return None

    def lift_per_row(self, rows: int, limit: int, smallest: int) -> float:
        """Return what every row that stays lost adds to a floor that classes below have.

        Args:
            rows: All rows of the table.
            limit: The most rows that may be suppressed.
            smallest: The fewest rows of a class that may stay.
        """
        return 0.0

    def per_attribute(self, judged: CheckedNode) -> FloatArray | None:
        """Return each attribute's own loss where there is such a thing."""
        return None

    def per_attribute_local(self, result: LocalResult) -> FloatArray | None:
        """Return each attribute's own loss in a locally recoded table, if there is such a thing."""
        return None


class UnsuppressedLoss(LossFunction):
    """A loss of nodes as if no row were suppressed: quasi-identifiers alone decide it.

    Which rows are suppressed depends on sensitive values where a model looks at them.
    """

    def __init__(self, loss: LossFunction) -> None:
        self._loss = loss

    def of(self, judged: CheckedNode) -> float:
        return self._loss.of(replace(judged, keep=np.ones(len(judged.keep), dtype=bool)))

    def of_local(self, result: LocalResult) -> float:
        return self._loss.of_local(result)

    def of_cut(self, judged: CheckedNode, cut: "Cut") -> float:
        return self._loss.of_cut(replace(judged, keep=np.ones(len(judged.keep), dtype=bool)), cut)

    def cut_part(self, attribute: int, levels: IntArray) -> float:
        return self._loss.cut_part(attribute, levels)

    def of_parts(self, parts: Sequence[FloatArray]) -> FloatArray:
        return self._loss.of_parts(parts)

    def floor(self, node: Node) -> float:
        return self._loss.floor(node)

    def floors(self, lowest: Node, highest: Node) -> FloatArray:
        return self._loss.floors(lowest, highest)

    def level_parts(self, judged: CheckedNode | None) -> list[FloatArray] | None:
        # Lost rows cost nothing.
        return self._loss.level_parts(None) if judged is None else None

    def combine(self, parts: FloatArray) -> FloatArray:
        return self._loss.combine(parts)

    def floor_above(self, judged: CheckedNode) -> float | None:
        return self._loss.floor_above(replace(judged, smallest=1))


class Loss(Member, ABC):
    """A measure of what a release no longer tells."""

    @abstractmethod
    def over(self, attributes: Sequence[Attribute], rows: int) -> LossFunction:
        """Fit to a table's quasi-identifiers and number of rows."""


class CellLoss(Loss):
    """A loss that is a sum over cells, whatever the classes are.

    A member gives the cost of a cell, and says what suppression adds. One formula serves
    every recoding: in a full-domain one all cells of a column stand at one level, in a
    local one each stands where it was put. Because the generalisation part is separable,
    floors for a whole lattice are one outer sum.
    """

    aggregate: str

    @abstractmethod
    def of_cells(self, attribute: Attribute, cells: Cells) -> FloatArray:
        """Return the cost of one cell of each group; lifting a cell must not make it cheaper."""

    def costs(self, attribute: Attribute) -> FloatArray:
        """Return the cost of a cell: one row per level, one column per raw value."""
        levels = range(attribute.ladder.height + 1)
        return np.stack([self.of_cells(attribute, Cells.at(attribute, level)) for level in levels])

    def scale(self, attribute: Attribute, rows: int) -> float:
        """Return what the sum over an attribute's cells is divided by; its rows by default."""
        return float(rows)

    def weight(self, attribute: Attribute) -> float:
        """Return the weight of the attribute in the aggregate."""
        return attribute.weight

    @property
    def charges_suppressed_cells_alike(self) -> bool:
        """Whether a suppressed cell costs as much as any other, and no less than a cell that stays.

        What a cell that stays costs must not depend on how often its value occurs.
        """
        return False

    @abstractmethod
    def suppression_cost(
        self, attribute: Attribute, costs: FloatArray, removed: FloatArray
    ) -> FloatArray:
        """Return what suppressing these rows adds to the sum, at every level.

        Must not fall when more rows are suppressed: searches use it as a floor.
        """

    def over(self, attributes: Sequence[Attribute], rows: int) -> "CellLossFunction":
        return CellLossFunction(self, tuple(attributes), rows)


class CellLossFunction(LossFunction):
    """A cell loss fitted to a table."""

    def __init__(self, loss: CellLoss, attributes: tuple[Attribute, ...], rows: int) -> None:
        self._loss = loss
        self._attributes = attributes
        self._aggregate: Aggregate = AGGREGATES[loss.aggregate]()
        self._costs = [loss.costs(a) for a in attributes]
        self._weights = np.array([loss.weight(a) for a in attributes], dtype=np.float64)
        self._scales = [max(loss.scale(a, rows + a.lost), 1.0) for a in attributes]
        self._lost = [
            self._cost_of_lost(a, costs) for costs, a in zip(self._costs, attributes, strict=True)
        ]
        self._sums = [
            costs @ a.frequency.astype(np.float64) + lost
            for costs, a, lost in zip(self._costs, attributes, self._lost, strict=True)
        ]

        levels = [sums / scale for sums, scale in zip(self._sums, self._scales, strict=True)]
        self._latest: tuple[CheckedNode, list[FloatArray]] | None = None
        self._shares = np.concatenate([*levels, np.zeros(0)])
        self._starts = np.cumsum([0, *map(len, levels)])[:-1]

    @property
    def charges_suppressed_cells_alike(self) -> bool:
        """Whether a suppressed cell costs as much as any other; see `CellLoss`."""
        return self._loss.charges_suppressed_cells_alike

    def costs_of(self, attribute: Attribute) -> FloatArray:
        """Return the cost of a cell: one row per level, one column per raw value."""
        return self._loss.costs(attribute)

    def of(self, judged: CheckedNode) -> float:
        return self._aggregate.of(self.per_attribute(judged), self._weights)

    def per_attribute(self, judged: CheckedNode) -> FloatArray:
        levels = zip(self._levels(judged), judged.node, strict=True)
        return np.array([part[level] for part, level in levels], dtype=np.float64)

    def of_local(self, result: LocalResult) -> float:
        return self._aggregate.of(self.per_attribute_local(result), self._weights)

    def per_attribute_local(self, result: LocalResult) -> FloatArray:
        parts = [
            (self._cost_of(i, cells) + self._lifted_out(i, result) + float(self._lost[i][-1]))
            / self._scales[i]
            for i, cells in enumerate(result.cells)
        ]
        return np.array(parts, dtype=np.float64)

    def of_cut(self, judged: CheckedNode, cut: Cut) -> float:
        return self._aggregate.of(self.per_attribute_cut(judged, cut), self._weights)

    def per_attribute_cut(self, judged: CheckedNode, cut: Cut) -> FloatArray:
        """Return each attribute's own loss at a cut that was checked."""
        parts = []
        for i, (attribute, levels) in enumerate(zip(self._attributes, cut.levels, strict=True)):
            costs = self._costs[i][levels, np.arange(len(levels))]
            total = float(costs @ attribute.frequency)
            removed = judged.removed_rows(i)
            there = replace(attribute, ladder=cut.ladders[i])
            if removed is not None:
                total += float(self._loss.suppression_cost(there, costs[None, :], removed)[0])
            total += float(self._cost_of_lost(there, costs[None, :])[0])
            parts.append(total / self._scales[i])
        return np.array(parts, dtype=np.float64)

    def cut_part(self, attribute: int, levels: IntArray) -> float:
        costs = self._costs[attribute][levels, np.arange(len(levels))]
        return float(costs @ self._attributes[attribute].frequency) / self._scales[attribute]

    def of_parts(self, parts: Sequence[FloatArray]) -> FloatArray:
        return self._aggregate.grid(parts, self._weights)

    def floor(self, node: Node) -> float:
        # Searches ask for it most often of all: one gather replaces a step per column.
        return self._aggregate.of(self._shares[self._starts + node], self._weights)

    def floors(self, lowest: Node, highest: Node) -> FloatArray:
        parts = [
            self._sums[i][low : high + 1] / self._scales[i]
            for i, (low, high) in enumerate(zip(lowest, highest, strict=True))
        ]
        return self._aggregate.grid(parts, self._weights)

    def floors_below(
        self, judged: CheckedNode, lowest: Node, highest: Node | None = None
    ) -> FloatArray | None:
        if not judged.suppressed:
            return None
        levels = zip(self._levels(judged), lowest, highest or judged.node, strict=True)
        parts = [part[low : level + 1] for part, low, level in levels]
        return self._aggregate.grid(parts, self._weights)

    def level_parts(self, judged: CheckedNode | None) -> list[FloatArray]:
        if judged is None:
            return [sums / scale for sums, scale in zip(self._sums, self._scales, strict=True)]
        return [*self._levels(judged)]

    def combine(self, parts: FloatArray) -> FloatArray:
        return self._aggregate.rows(parts, self._weights)

    def _cost_of_lost(self, attribute: Attribute, costs: FloatArray) -> FloatArray:
        """Return what rows that were suppressed before cost at every level."""
        rows = attribute.frequency.sum()
        if not attribute.lost or not rows:
            return np.zeros(len(costs))
        removed = attribute.frequency * (attribute.lost / rows)
        found: FloatArray = costs @ removed
        return found + self._loss.suppression_cost(attribute, costs, removed)

    def _cost_of(self, i: int, cells: Cells) -> float:
        return float(self._loss.of_cells(self._attributes[i], cells) @ cells.rows)

    def _lifted_out(self, i: int, result: LocalResult) -> float:
        """Sum what suppressed rows cost: no level was chosen for them, so they count at the top."""
        if not result.suppressed:
            return 0.0
        removed, costs = result.removed[i], self._costs[i]
        added = self._loss.suppression_cost(self._attributes[i], costs, removed)
        return float(costs[-1] @ removed + added[-1])

    def _levels(self, judged: CheckedNode) -> list[FloatArray]:
        """Return each attribute's loss at every level if these rows are suppressed."""
        latest = self._latest
        # A search asks for a node's own loss, and then for floors below the same node.
        if latest is None or latest[0] is not judged:
            every = range(len(self._attributes))
            latest = self._latest = (judged, [self._levels_of(i, judged) for i in every])
        return latest[1]

    def _levels_of(self, i: int, judged: CheckedNode) -> FloatArray:
        removed = judged.removed_rows(i)
        sums = self._sums[i]
        if removed is not None:
            sums = sums + self._loss.suppression_cost(self._attributes[i], self._costs[i], removed)
        levels: FloatArray = sums / self._scales[i]
        return levels


class ClassLoss(Loss):
    """A loss that looks at class sizes only."""

    @abstractmethod
    def of_sizes(self, kept: IntArray, suppressed: int, everything: IntArray) -> float:
        """Return the loss of kept classes, suppressed rows, and all classes before suppression."""

    @abstractmethod
    def floor_of(self, everything: IntArray, smallest: int) -> float:
        """Return a floor for every coarser grouping, whatever it suppresses.

        Args:
            everything: The sizes of all classes.
            smallest: The fewest rows of a class that may stay.
        """

    def floor_below(self, kept: IntArray, rows: int, smallest: int) -> float:
        """Return a floor for every finer grouping in which no other rows stay than these.

        Args:
            kept: The sizes of the classes that may stay, or parts of them.
            rows: All rows of the table.
            smallest: The fewest rows of a class that may stay.
        """
        return 0.0

    def lift_per_row(self, rows: int, limit: int, smallest: int) -> float:
        """Return what each row adds to `floor_of` of anything finer if it is suppressed there."""
        return 0.0

    def over(self, attributes: Sequence[Attribute], rows: int) -> "ClassLossFunction":
        return ClassLossFunction(self)


class ClassLossFunction(LossFunction):
    """A class loss: nothing is known of a node before it, or one below it, was checked."""

    def __init__(self, loss: ClassLoss) -> None:
        self._loss = loss

    def of(self, judged: CheckedNode) -> float:
        return self._loss.of_sizes(judged.sizes[judged.keep], judged.suppressed, judged.sizes)

    def of_local(self, result: LocalResult) -> float:
        # Suppressed rows never became classes; together they are one that nothing tells apart.
        out = [result.suppressed] if result.suppressed else []
        everything = np.append(result.sizes, np.array(out, dtype=np.int64))
        return self._loss.of_sizes(result.sizes, result.suppressed, everything)

    def of_cut(self, judged: CheckedNode, cut: Cut) -> float:
        return self.of(judged)

    def cut_part(self, attribute: int, levels: IntArray) -> float:
        return 0.0

    def of_parts(self, parts: Sequence[FloatArray]) -> FloatArray:
        return np.zeros([len(part) for part in parts])

    def floor(self, node: Node) -> float:
        return 0.0

    def floors(self, lowest: Node, highest: Node) -> FloatArray:
        shape = [high - low + 1 for low, high in zip(lowest, highest, strict=True)]
        return np.zeros(shape)

    def floor_above(self, judged: CheckedNode) -> float:
        return self._loss.floor_of(judged.sizes, judged.smallest)

    def floor_below(self, judged: CheckedNode) -> float:
        kept = judged.sizes[judged.keep]
        return self._loss.floor_below(kept, judged.total, judged.smallest)

    def lift_per_row(self, rows: int, limit: int, smallest: int) -> float:
        return self._loss.lift_per_row(rows, limit, smallest)
