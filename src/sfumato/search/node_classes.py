"""The classes of one node of a lattice, in as little memory as they take: thousands are kept."""

from dataclasses import dataclass, field

import numpy as np

from sfumato.counts.people import ClassPeople
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
    first: np.ndarray
    """A tuple of each class."""

    codes: tuple[np.ndarray, ...]
    """Its code in each group of attributes."""

    rows: np.ndarray
    population: IntArray | None
    entries: dict[str, ItemEntries] = field(default_factory=dict)
    """The sensitive values of those columns that were asked for."""

    finer: "NodeClasses | None" = None
    """The partition it was made of, if that is not forgotten."""

    of_finer: np.ndarray | None = None
    """The class that each class of that one became part of."""

    people: ClassPeople | None = None
    """The different people of each class, if they may have several rows."""

    @property
    def nbytes(self) -> int:
        """The memory it takes, without the partition that it was made of."""
        arrays = [self.first, self.rows, *self.codes]
        arrays += [array for array in (self.population, self.of_finer) if array is not None]
        people = 0 if self.people is None else self.people.nbytes
        entries = sum(each.nbytes for each in [*self.entries.values()])
        return people + entries + sum(array.nbytes for array in arrays)
