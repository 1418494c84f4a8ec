"""The contract of estimators of population uniqueness, and the sample that they go by."""

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, require_number
from sfumato.text import percent
from sfumato.typing import IntArray


@dataclass(frozen=True, eq=False)
class Sample:
    """The classes of a sample by their size, and the share of the population that is in it.

    Everything that these estimators know: how many classes have 1, 2, 3 … people.

    Args:
        sizes: The class sizes that occur, rising.
        classes: The number of classes of each size.
        fraction: The share of the population that is in the sample; above 0 and at most 1.

    Example:
        >>> sample = Sample.of(np.array([1, 1, 1, 2, 5]), 0.1)
        >>> sample.people, sample.population, sample.of_size(1), sample.unique
        (10, 100.0, 3, 0.3)
    """

    sizes: IntArray
    classes: IntArray
    fraction: float

    def __post_init__(self) -> None:
        require_fraction(self.fraction)
        if len(self.sizes) and int(self.sizes.min()) < 1:
            raise ParameterError("sizes", int(self.sizes.min()), "sizes of 1 or more")

    @classmethod
    def of(cls, sizes: IntArray, fraction: float) -> Self:
        """Return the sample that has classes of such sizes, one number per class."""
        found, classes = np.unique(np.asarray(sizes), return_counts=True)
        return cls(found.astype(np.int64), classes.astype(np.int64), fraction)

    @property
    def people(self) -> int:
        """The number of people in the sample."""
        return int((self.sizes * self.classes).sum())

    @property
    def population(self) -> float:
        """The number of people in the population, by the sampling fraction."""
        return self.people / self.fraction

    @property
    def count(self) -> int:
        """The number of classes."""
        return int(self.classes.sum())

    def of_size(self, size: int) -> int:
        """Return the number of classes of a size."""
        return int(self.classes[self.sizes == size].sum())

    @property
    def unique(self) -> float:
        """The share of people who are alone in their class of the sample."""
        return self.of_size(1) / max(self.people, 1)


def require_fraction(fraction: float) -> None:
    """Raise if a number cannot be the share of a population that is in a sample."""
    why = "it is the share of the population that is in the table, 0.01 is 1 %"
    require_number("fraction", fraction, above=0, at_most=1, why=why)


@dataclass(frozen=True)
class Uniqueness:
    """The share of people who are alone in their class of the population, as estimated.

    An estimate, no promise: it holds as far as what the estimator assumes does.
    """

    estimator: str
    """The name of the estimator."""

    share: float | None
    """Of all people of the population; None if the estimator found no answer, which is no zero."""

    note: str = ""
    """Why there is no answer, or whom it comes from."""

    def __str__(self) -> str:
        if self.share is None:
            return f"{self.estimator}: no answer, {self.note}"
        note = f" ({self.note})" if self.note else ""
        return f"{self.estimator}: {percent(self.share)}{note}"


class UniquenessEstimator(ABC):
    """A way to estimate how many people of a population are unique from a sample of it.

    A member of the family is one class; its docstring says what it assumes. It sees the number of
    classes of each size and the sampling fraction, nothing else.
    """

    name: ClassVar[str]
    """Its name in results."""

    assumes: ClassVar[str]
    """What must be true of population and sample for the estimate to be right."""

    def estimate(self, sample: Sample) -> Uniqueness:
        """Return the estimate for a sample.

        A sample of all people needs none, and one in which no one is alone shows no one who is
        alone among more people.
        """
        if sample.fraction == 1:
            return Uniqueness(self.name, sample.unique, "counted: all people are in the table")
        if not sample.of_size(1):
            return Uniqueness(self.name, 0.0, "no one is alone in the sample")
        found = self.solve(sample)
        if found.share is not None and not 0 <= found.share <= sample.unique * (1 + 1e-9):
            # Who is unique in the population is unique in every sample that they are in.
            wrong = f"its {percent(found.share)} would be more than in the sample itself"
            return Uniqueness(self.name, None, wrong)
        return found

    @abstractmethod
    def solve(self, sample: Sample) -> Uniqueness:
        """Estimate from a sample of a part of the people, some of whom are alone in it."""
