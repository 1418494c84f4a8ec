"""The graph of a Bayesian network, constraints on it, and the contract of its learners."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import ClassVar, TypeAlias

from sfumato.counts import FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, UnknownColumnError
from sfumato.registry import Member


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
        for name in sorted({name for edge in found for name in edge}):
            if name not in names:
                raise UnknownColumnError(name, names)
        parents = {child: tuple(p for p in names if (p, child) in found) for child in names}
        return cls(names, parents, frozenset(chosen))

    @cached_property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """All edges (parent, child), by child and then parent in the order of the columns."""
        return tuple((p, child) for child in self.columns for p in self.parents[child])

    def children(self, column: str) -> tuple[str, ...]:
        """List the columns that depend directly on one."""
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


Edge: TypeAlias = tuple[str, str]
"""Parent and child."""


@dataclass(frozen=True)
class Constraints:
    """Edges a network must or must not have.

    Args:
        forbidden: Edges (parent, child) it must not have.
        required: Edges (parent, child) it must have, whatever the data says.
        tiers: Groups of columns, the earliest first: no edge leads to an earlier group.
            Columns in no group are free.

    Example:
        >>> order = Constraints(tiers=[["age", "zip"], ["disease"]])
        >>> order.allows("age", "disease"), order.allows("disease", "age")
        (True, False)
        >>> Constraints(forbidden=[("a", "b")], required=[("a", "b")])
        Traceback (most recent call last):
        sfumato.errors.ParameterError: required must be edges that are not forbidden, got ('a', 'b')
    """

    forbidden: Iterable[Edge] = ()
    required: Iterable[Edge] = ()
    tiers: Iterable[Iterable[str]] = ()

    def __post_init__(self) -> None:
        for name in ("forbidden", "required"):
            object.__setattr__(self, name, frozenset(_edge(name, e) for e in getattr(self, name)))
        object.__setattr__(self, "tiers", tuple(tuple(tier) for tier in self.tiers))
        tiered = [column for tier in self.tiers for column in tier]
        for column in tiered:
            if tiered.count(column) > 1:
                raise ParameterError("tiers", column, "groups that name a column once")
        object.__setattr__(self, "_tier", {c: i for i, tier in enumerate(self.tiers) for c in tier})
        self._check_required()

    def _check_required(self) -> None:
        for parent, child in sorted(self.required):
            if (parent, child) in self._forbidden:
                raise ParameterError("required", (parent, child), "edges that are not forbidden")
            if not self.allows(parent, child):
                raise ParameterError(
                    "required",
                    (parent, child),
                    "edges that do not lead to an earlier tier",
                    why=f"{child!r} is in an earlier tier than {parent!r}",
                )
        columns = sorted({column for edge in self.required for column in edge})
        cycles = Network.of(columns, self.required).cycles
        if cycles:
            raise ParameterError(
                "required",
                sorted(self.required),
                "edges without a circle",
                why=f"{', '.join(map(repr, cycles[0]))} would depend on themselves",
            )

    @property
    def _forbidden(self) -> frozenset[Edge]:
        return frozenset(self.forbidden)

    def allows(self, parent: str, child: str) -> bool:
        """Return whether a network may have this edge."""
        tier: dict[str, int] = self.__dict__["_tier"]
        backwards = parent in tier and child in tier and tier[parent] > tier[child]
        return not backwards and (parent, child) not in self._forbidden

    def check(self, columns: Sequence[str]) -> None:
        """Raise an error for constraints on columns that do not exist."""
        named = [column for edge in (*self.required, *self.forbidden) for column in edge]
        for column in sorted(named) + sorted(self.__dict__["_tier"]):
            if column not in columns:
                raise UnknownColumnError(column, columns)


def _edge(name: str, given: Iterable[str]) -> Edge:
    edge = (given,) if isinstance(given, str) else tuple(given)
    if len(edge) != 2 or edge[0] == edge[1]:
        raise ParameterError(name, given, "pairs of a parent and another column, its child")
    return edge


Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with the pairs of columns looked at so far and, if known, the pairs there are to be."""

UNCONSTRAINED = Constraints()


@dataclass(frozen=True)
class LearnedNetwork:
    """A network that was learned from data, with what was found on the way."""

    network: Network
    separators: Mapping[Edge, tuple[str, ...]] = field(default_factory=dict)
    """For pairs of columns without an edge, in order: what makes them independent."""

    tests: int = 0
    """The number of independence tests."""

    dropped: frozenset[frozenset[str]] = frozenset()
    """Dependent columns without an edge, because the constraints leave it no direction."""

    @property
    def cycles(self) -> tuple[tuple[str, ...], ...]:
        """Groups of columns that depend on themselves; only some learners leave any."""
        return self.network.cycles


class Learner(Member, ABC):
    """A way to learn which columns depend on which.

    A member of the family is a frozen dataclass whose fields are its settings, with a
    `name` for policies and an `example` for the docs and the contract tests.
    """

    acyclic: ClassVar[bool] = True
    """Whether its networks never have a cycle."""

    constrained: ClassVar[bool] = True
    """Whether it keeps constraints; others refuse them."""

    extra: ClassVar[str | None] = None
    """The optional part of the package it needs, if any."""

    @abstractmethod
    def learn(
        self,
        counts: FrequencySet,
        constraints: Constraints = UNCONSTRAINED,
        progress: Progress | None = None,
    ) -> LearnedNetwork:
        """Find a network over all columns of a frequency set."""
