"""A Bayesian network's graph: which columns depend on which."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from sfumato.errors import UnknownColumnError


@dataclass(frozen=True)
class Network:
    """A directed graph over columns; each depends on its parents.

    Example:
        >>> net = Network.of(["age", "zip", "sex"], [("age", "zip"), ("zip", "sex")])
        >>> net.parents["zip"], net.order
        (('age',), ('age', 'zip', 'sex'))
    """

    columns: tuple[str, ...]
    parents: Mapping[str, tuple[str, ...]]
    """The parents of every column, in the order of the columns."""

    chosen: frozenset[tuple[str, str]] = field(default_factory=frozenset)
    """Edges (parent, child) whose direction the data does not tell: it was chosen."""

    @classmethod
    def of(
        cls,
        columns: Iterable[str],
        edges: Iterable[tuple[str, str]],
        chosen: Iterable[tuple[str, str]] = (),
    ) -> "Network":
        """Build from edges (parent, child)."""
        names = tuple(columns)
        found = set(edges)
        for name in {name for edge in found for name in edge}:
            if name not in names:
                raise UnknownColumnError(name, names)
        parents = {child: tuple(p for p in names if (p, child) in found) for child in names}
        return cls(names, parents, frozenset(chosen))

    @cached_property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """All edges (parent, child), by child and then parent in the order of the columns."""
        return tuple((p, child) for child in self.columns for p in self.parents[child])

    def children(self, column: str) -> tuple[str, ...]:
        """Name the columns that depend directly on one."""
        return tuple(child for child in self.columns if column in self.parents[child])

    @cached_property
    def order(self) -> tuple[str, ...] | None:
        """Parents before children, else in the order of the columns; None if there is a cycle."""
        placed: list[str] = []
        left = list(self.columns)
        while left:
            free = [c for c in left if all(p in placed for p in self.parents[c])]
            if not free:
                return None
            placed.append(free[0])
            left.remove(free[0])
        return tuple(placed)

    @cached_property
    def cycles(self) -> tuple[tuple[str, ...], ...]:
        """Groups of columns each of which depends on itself by way of the others.

        >>> Network.of("abc", [("a", "b"), ("b", "a"), ("b", "c")]).cycles
        (('a', 'b'),)
        """
        reached = {column: self._descendants(column) for column in self.columns}
        found: list[tuple[str, ...]] = []
        for column in self.columns:
            if column in reached[column] and not any(column in group for group in found):
                back = (c for c in self.columns if c in reached[column] and column in reached[c])
                found.append(tuple(back))
        return tuple(found)

    def _descendants(self, column: str) -> set[str]:
        found: set[str] = set()
        waiting = [column]
        while waiting:
            new = set(self.children(waiting.pop())) - found
            found |= new
            waiting += new
        return found

    @property
    def acyclic(self) -> bool:
        """Whether no column depends on itself along the arrows."""
        return self.order is not None
