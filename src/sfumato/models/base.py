"""What a privacy model is."""

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from sfumato.classes import EquivalenceClasses
from sfumato.typing import BoolArray


class Merging(NamedTuple):
    """What a model's verdicts say about classes that are merged. Searches rely on it.

    Attributes:
        closed: If all parts pass, the merged class passes.
        absorbing: A passing class merged with *any* class still passes. Then a row in a
            failing class is in a failing class under every finer grouping too.
    """

    closed: bool
    absorbing: bool


ABSORBING = Merging(closed=True, absorbing=True)
CLOSED = Merging(closed=True, absorbing=False)
NEITHER = Merging(closed=False, absorbing=False)


class PrivacyModel(ABC):
    """A promise about equivalence classes.

    A member of the family is a frozen dataclass: its fields are the parameters of the
    literature, checked when it is made, and its docstring says what it promises and
    what it does not. It sees counts only.
    """

    name: ClassVar[str]
    """What policies call it."""

    merging: ClassVar[Merging]
    compares_with_table: ClassVar[bool] = False
    """Whether classes are compared with the distribution of the whole table."""

    needs_population: ClassVar[bool] = False
    """Whether a population table must be given."""

    @abstractmethod
    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        """Give one verdict per class."""

    @abstractmethod
    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        """Give the strictest parameters that all these classes keep together.

        For an empty table the parameters themselves: nobody is there to be exposed.
        """

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive columns it looks at."""
        column = getattr(self, "column", None)
        return (column,) if column is not None else ()

    def params(self) -> dict[str, Any]:
        """Give its parameters as plain values, as a policy writes them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    @classmethod
    @abstractmethod
    def example(cls) -> Self:
        """Give a small valid instance whose sensitive column is `disease`."""

    def __str__(self) -> str:
        shown = ", ".join(
            str(value) if key == "column" else f"{key}={value}"
            for key, value in self.params().items()
            if not isinstance(value, tuple)
        )
        return f"{self.name}({shown})"


class TableModel(PrivacyModel):
    """A promise about the table as a whole, kept by leaving out the smallest classes first.

    `passes` says which classes may stay: all if the promise holds, else the largest
    number of classes, smallest left out first (classes of equal size together), for
    which it does.
    """

    merging: ClassVar[Merging] = NEITHER

    @abstractmethod
    def holds(self, sizes: np.ndarray) -> bool:
        """Judge a table that has classes of these sizes."""

    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        sizes = classes.sizes
        smallest = np.unique(sizes)
        low, high = 0, len(smallest)
        # Leaving out one more size is never undone, so the first threshold that holds is the one.
        while low < high:
            if self.holds(sizes[sizes >= smallest[low]]):
                break
            low += 1
        threshold = smallest[low] if low < high else np.iinfo(np.int64).max
        keep: BoolArray = sizes >= threshold
        return keep
