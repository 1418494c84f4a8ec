"""The contract of searches: they walk a lattice, ask a checker, and yield what they find."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from sfumato.checks import require_int, require_number
from sfumato.typing import Node

if TYPE_CHECKING:
    from sfumato.search.checker import Checker


@dataclass(frozen=True)
class Found:
    """The best valid node so far.

    A search yields one of these for every improvement, and a last one when it ends:
    only that says whether the node is proven optimal. `node` is None when no node
    that was checked keeps the promises.
    """

    node: Node | None
    loss: float
    suppressed: int
    checks: int
    proven: bool = False
    finished: bool = False
    minimal: tuple[Node, ...] | None = None
    """All minimal valid nodes, from searches that find them."""

    passing: tuple[Node, ...] | None = None
    """All valid nodes, from searches that find them."""


NOTHING_YET = Found(None, float("inf"), 0, 0)


@dataclass
class Budget:
    """The checks and seconds a search may spend; it returns its best when either runs out.

    >>> Budget(checks=2).is_spent(2)
    True
    """

    checks: int | None = None
    seconds: float | None = None
    _start: float = field(default_factory=time.monotonic)

    def is_spent(self, checks: int) -> bool:
        """Return whether the budget is used up after this many checks."""
        if self.checks is not None and checks >= self.checks:
            return True
        return self.seconds is not None and time.monotonic() - self._start >= self.seconds


@dataclass(frozen=True)
class Search(ABC):
    """A way to find a node of the lattice that keeps the promises at least loss.

    Args:
        checks: Most nodes to check before the best so far is taken; None for no limit.
        seconds: Most seconds to search before the best so far is taken; None for no limit.
    """

    name: ClassVar[str]
    exact: ClassVar[bool]
    """Whether it proves optimality when its budget lets it finish."""

    checks: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.checks is not None:
            require_int("checks", self.checks, at_least=1)
        if self.seconds is not None:
            require_number("seconds", self.seconds, above=0)

    @abstractmethod
    def run(self, checker: "Checker") -> Iterator[Found]:
        """Yield improvements as they come; the last item is `finished`."""

    def budget(self) -> Budget:
        """Start the clock."""
        return Budget(self.checks, self.seconds)
