"""What a partitioner is: it parts a table's rows into classes, each with labels of its own."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

if TYPE_CHECKING:
    from sfumato.partition.parted import Parted
    from sfumato.partition.problem import Problem

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with the rows settled so far and the rows there are."""


class Partitioner(ABC):
    """A way to recode locally: the same raw value may become different labels in different rows.

    A member of the family is a frozen dataclass whose fields are its settings, with a
    `name` for policies and an `example` for the docs and the contract tests.
    """

    name: ClassVar[str]

    @abstractmethod
    def run(self, problem: "Problem", progress: Progress | None = None) -> "Parted":
        """Part the rows so that every class keeps the models, as finely as it can."""

    def intervals(self, problem: "Problem") -> tuple[bool, ...]:
        """Say which quasi-identifiers are published as intervals of values, by default none."""
        return (False,) * len(problem.attributes)

    def params(self) -> dict[str, Any]:
        """Give its settings as plain values, as a policy writes them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    @classmethod
    @abstractmethod
    def example(cls) -> Self:
        """Give a small valid instance."""
