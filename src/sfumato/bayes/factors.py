"""A conditional table as arrays to multiply: whole, or split along what occurs."""

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TypeAlias

import numpy as np

from sfumato.bayes.tables import ConditionalTable
from sfumato.counts import Groups, group
from sfumato.typing import FloatArray, IntArray

Scope: TypeAlias = tuple[int, ...]
"""The variables of an array, by number, one per axis."""


@dataclass(frozen=True, eq=False)
class Factor:
    """An array with one axis per variable of its scope."""

    scope: Scope
    values: FloatArray


@dataclass(frozen=True, eq=False)
class Piece:
    """What one column contributes to the product that inference sums.

    Written *whole* it is one array over the parents and the child, which explodes when
    there are many parents. Written *split* it uses one more variable, the `case`: every
    combination that occurs is a case, and the combinations that do not occur are covered
    by boxes, each a case too. Each parent then has an array of its own (parent, case) of
    zeros and ones, and the child one (case, child). Their product, summed over the cases,
    is the whole array again; there are about as many cases as combinations that occur.
    """

    table: ConditionalTable
    """Restricted to the known values of the parents."""

    parents: Scope
    child: int
    case: int
    """The number of the variable for the cases."""

    known: int | None = None
    """The code of the child's value, if it is known."""

    @property
    def _told(self) -> Scope:
        return () if self.known is not None else (self.child,)

    @property
    def _depends(self) -> Scope:
        # Nothing known about any combination: the child is uniform whatever the parents are.
        return self.parents if len(self.table) else ()

    @cached_property
    def splits(self) -> bool:
        """Whether split it takes less memory than whole."""
        if len(self._depends) < 2:
            return False
        shape = self.table.shape if self.known is None else self.table.shape[:-1]
        return self.cover.cases * sum(shape) < prod(shape)

    @cached_property
    def cover(self) -> "Cover":
        """The cases of the parents' values."""
        # Parents with few values first: the fewer ways to begin, the fewer boxes.
        order = sorted(range(len(self.parents)), key=lambda p: self.table.shape[p])
        return Cover(self.table, tuple(order))

    def scopes(self, *, split: bool) -> list[Scope]:
        """Tell the scopes of the factors without making them."""
        if not (split and self.splits):
            return [(*self._depends, *self._told)]
        return [*((parent, self.case) for parent in self.parents), (self.case, *self._told)]

    def factors(self, *, split: bool) -> list[Factor]:
        """Make the factors, or take them from the last time."""
        return self._split if split and self.splits else self._whole

    @cached_property
    def _whole(self) -> list[Factor]:
        table = self.table
        if len(table):
            values = table.dense(most_cells=table.cells)
        else:
            values = np.full(table.shape[-1], table.uniform)
        values = values if self.known is None else values[..., self.known]
        return [Factor((*self._depends, *self._told), values)]

    @cached_property
    def _split(self) -> list[Factor]:
        table, cover = self.table, self.cover
        by_case = np.full((cover.cases, table.shape[-1]), table.uniform)
        by_case[: len(table)] = table.rest[:, None]
        by_case[table.combination, table.value] = table.probability
        by_case = by_case if self.known is None else by_case[:, self.known]
        masks = [Factor((v, self.case), cover.mask(p)) for p, v in enumerate(self.parents)]
        return [*masks, Factor((self.case, *self._told), by_case)]


@dataclass(frozen=True, eq=False)
class Cover:
    """Every combination of parent values, in exactly one case.

    The first cases are the combinations that occur. A combination that does not occur
    agrees with some that do for a while, in `order`, and then leaves them: the values
    before, and the values with which one leaves, are a box.
    """

    table: ConditionalTable
    order: tuple[int, ...]

    @cached_property
    def cases(self) -> int:
        """How many cases there are."""
        return len(self.table) + sum(len(boxes) for _, boxes in self._levels)

    @cached_property
    def _levels(self) -> list[tuple[Groups, IntArray]]:
        """Per parent in order: the beginnings that occur before it, and which can be left."""
        codes = [self.table.combinations[p] for p in self.order]
        sizes = [self.table.shape[p] for p in self.order]
        n = len(self.table)
        begun = [group(codes[:i], sizes[:i], n=n) for i in range(len(codes) + 1)]
        levels = []
        for before, after, size in zip(begun[:-1], begun[1:], sizes, strict=True):
            ways = np.bincount(before.of_item[after.first], minlength=before.n)
            levels.append((before, np.flatnonzero(ways < size)))
        return levels

    def mask(self, parent: int) -> FloatArray:
        """For one parent, `mask[value, case]`: 1 if the case has the value, else 0."""
        codes, size = self.table.combinations[parent], self.table.shape[parent]
        place = self.order.index(parent)
        blocks = [_one_hot(codes, size)]
        for level, (before, boxes) in enumerate(self._levels):
            if level > place:
                blocks.append(_one_hot(codes[before.first[boxes]], size))
                continue
            block = np.ones((size, len(boxes)))
            if level == place:
                number = np.full(before.n, -1, dtype=np.int64)
                number[boxes] = np.arange(len(boxes))
                box = number[before.of_item]
                block[codes[box >= 0], box[box >= 0]] = 0
            blocks.append(block)
        return np.concatenate(blocks, axis=1)


def _one_hot(codes: np.ndarray, size: int) -> FloatArray:
    hot: FloatArray = (np.arange(size)[:, None] == codes).astype(np.float64)
    return hot
