"""The classes of one node of a lattice, in as little memory as they take: thousands are kept."""

from dataclasses import field
from functools import cached_property

import numpy as np

from sfumato.counts.people import ClassPeople
from sfumato.dataclasses import dataclass
from sfumato.typing import IntArray, Node


@dataclass(frozen=True, eq=False)
class ItemEntries:
    """Value counts of one sensitive column by item: parallel arrays."""

    item: np.ndarray
    value: np.ndarray
    """Code plus one, so that a missing value is 0."""

    rows: np.ndarray

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return self.item.nbytes + self.value.nbytes + self.rows.nbytes


@dataclass(frozen=True, eq=False)
class NodeClasses:
    """The classes of one node: one representative tuple and the number of rows of each.

    They are in the order of their keys, whatever they were made of.
    """

    node: Node
    rows: np.ndarray
    population: IntArray | None
    tuples: tuple[np.ndarray, tuple[np.ndarray, ...]] | None = None
    """A tuple of each class, and its code in each group of attributes; None if they are found when
    they are asked for: most classes are judged by their sizes alone."""

    entries: dict[str, ItemEntries] = field(default_factory=dict)
    """The sensitive values of those columns that were asked for."""

    finer: "NodeClasses | None" = None
    """The partition it was made of, if that is not forgotten."""

    of_finer: np.ndarray | None = None
    """The class that each class of that one became part of."""

    chosen: np.ndarray | None = None
    """A class of that one for each class."""

    people: ClassPeople | None = None
    """The different people of each class, if they may have several rows."""

    @cached_property
    def first(self) -> np.ndarray:
        """A tuple of each class."""
        if self.tuples is not None:
            return self.tuples[0]
        finer, chosen = self._made_of
        found: np.ndarray = finer.first[chosen]
        return found

    @cached_property
    def codes(self) -> tuple[np.ndarray, ...]:
        """Its code in each group of attributes."""
        if self.tuples is not None:
            return self.tuples[1]
        finer, chosen = self._made_of
        return tuple([code[chosen] for code in finer.codes])

    @property
    def _made_of(self) -> "tuple[NodeClasses, np.ndarray]":
        assert self.finer is not None and self.chosen is not None  # noqa: PT018, S101 - else given
        return self.finer, self.chosen

    def alone(self) -> "NodeClasses":
        """Return it without what it was made of, which would be most of it."""
        return NodeClasses(
            self.node,
            self.rows,
            self.population,
            (self.first, self.codes),
            self.entries,
            people=self.people,
        )

    @property
    def nbytes(self) -> int:
        """The memory it takes, without the partition that it was made of."""
        arrays = [self.first, self.rows, *self.codes]
        arrays += [array for array in (self.population, self.of_finer) if array is not None]
        people = 0 if self.people is None else self.people.nbytes
        entries = sum(each.nbytes for each in [*self.entries.values()])
        return people + entries + sum(array.nbytes for array in arrays)
