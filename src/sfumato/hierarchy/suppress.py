"""Suppression: a value is published as it is, or not at all."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from sfumato.hierarchy.base import Hierarchy, HierarchyBuilder
from sfumato.text import STAR
from sfumato.typing import Value


@dataclass(frozen=True)
class Suppress(HierarchyBuilder):
    """Two levels: the raw value, and `*`.

    For columns with nothing in between, such as sex.

    Example:
        >>> Suppress().build("sex", ["f", "m"]).labels
        (('f', 'm'), ('*',))
    """

    name: ClassVar[str] = "star"

    def build(
        self,
        column: str,
        values: Sequence[Value],
        counts: Sequence[int] | None = None,
    ) -> Hierarchy:
        return Hierarchy.from_function(column, values, lambda _: (STAR,))

    @classmethod
    def example(cls) -> Self:
        return cls()

    @classmethod
    def example_values(cls) -> list[Value]:
        return ["f", "m", "x"]
