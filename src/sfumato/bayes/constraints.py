"""What a publisher knows about a network before it is learned."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sfumato.bayes.network import Network
from sfumato.errors import ParameterError, UnknownColumnError

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
        """Tell whether a network may have this edge."""
        tier: dict[str, int] = self.__dict__["_tier"]
        backwards = parent in tier and child in tier and tier[parent] > tier[child]
        return not backwards and (parent, child) not in self._forbidden

    def check(self, columns: Sequence[str]) -> None:
        """Refuse constraints on columns that there are not."""
        named = [column for edge in (*self.required, *self.forbidden) for column in edge]
        for column in sorted(named) + sorted(self.__dict__["_tier"]):
            if column not in columns:
                raise UnknownColumnError(column, columns)


def _edge(name: str, given: Iterable[str]) -> Edge:
    edge = (given,) if isinstance(given, str) else tuple(given)
    if len(edge) != 2 or edge[0] == edge[1]:
        raise ParameterError(name, given, "pairs of a parent and another column, its child")
    return edge
