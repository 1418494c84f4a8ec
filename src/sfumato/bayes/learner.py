"""What a structure learner is: it finds a network for a table, from its counts alone."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self, TypeAlias

from sfumato.bayes.constraints import Constraints, Edge
from sfumato.bayes.network import Network
from sfumato.counts import FrequencySet

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with the pairs of columns looked at so far and, if known, the pairs there are to be."""

UNCONSTRAINED = Constraints()


@dataclass(frozen=True)
class Learned:
    """A network, and how it was found."""

    network: Network
    separators: Mapping[Edge, tuple[str, ...]] = field(default_factory=dict)
    """For pairs of columns without an edge, in order: what makes them independent."""

    tests: int = 0
    """How many times independence was tested."""

    dropped: frozenset[frozenset[str]] = frozenset()
    """Dependent columns without an edge, because the constraints leave it no direction."""

    @property
    def cycles(self) -> tuple[tuple[str, ...], ...]:
        """Groups of columns that depend on themselves; only some learners leave any."""
        return self.network.cycles


class Learner(ABC):
    """A way to learn which columns depend on which.

    A member of the family is a frozen dataclass whose fields are its settings, with a
    `name` for policies and an `example` for the docs and the contract tests.
    """

    name: ClassVar[str]
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
    ) -> Learned:
        """Find a network over all columns of a frequency set."""

    def params(self) -> dict[str, Any]:
        """Give its settings as plain values, as a policy writes them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    @classmethod
    @abstractmethod
    def example(cls) -> Self:
        """Give a small valid instance."""
