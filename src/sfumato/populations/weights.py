"""Weights: how many people of a population a row of a survey stands for, and what is published.

A weight follows from the design of a survey: an adversary who knows the design reads a stratum off
it, and a weight that few have singles people out. So a weight is never published as it is. All rows
of a class get the mean of their weights: then it tells no two of them apart, and the sum of each
class stays what it was.
"""

from collections.abc import Mapping

import numpy as np

from sfumato.counts import FrequencySet, add_up, group
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, require_number
from sfumato.text import number_of
from sfumato.typing import FloatArray, IntArray

_DIGITS = 12
"""Significant digits of a mean. The others depend on the order in which weights were added up."""


@dataclass(frozen=True)
class Averaging:
    """What becomes of the weights of a class: their mean, as it is, rounded or with noise.

    Args:
        step: The mean is rounded to a multiple of this, and to no less than one step if it is
            above 0; None leaves it.
        noise: The mean is multiplied by a random number, the same for all rows of the class, from
            1 - noise to 1 + noise; the sum of all weights stays. None leaves it.

    Example:
        >>> sums, rows = np.array([30.0, 7.0]), np.array([4, 2])
        >>> Averaging().of_classes(sums, rows, np.random.default_rng()).tolist()
        [7.5, 3.5]
        >>> Averaging(step=5).of_classes(sums, rows, np.random.default_rng()).tolist()
        [10.0, 5.0]
    """

    step: float | None = None
    noise: float | None = None

    def __post_init__(self) -> None:
        if self.step is not None:
            require_number("step", self.step, above=0)
        if self.noise is not None:
            require_number("noise", self.noise, above=0, below=1)

    def of_classes(self, sums: FloatArray, rows: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return the weight that the rows of each class are published with.

        Args:
            sums: The sum of the weights of each class.
            rows: How many rows it has; at least one.
            rng: Where noise comes from.
        """
        means: FloatArray = sums / rows
        if self.noise is not None:
            means = means * rng.uniform(1 - self.noise, 1 + self.noise, size=len(means))
            total = float((means * rows).sum())
            means = means * (float(sums.sum()) / total) if total else means
        if self.step is not None:
            # Half a step goes up, whatever the number before it: no class is treated otherwise.
            steps = np.floor(means / self.step + 0.5)
            means = np.where(means > 0, np.maximum(steps, 1), steps) * self.step
        return significant(means)


def significant(numbers: FloatArray) -> FloatArray:
    """Return numbers with as many digits as do not depend on the order they were added up in.

    >>> significant(np.array([0.1 + 0.2, 1e-9, -2.5, 0.0])).tolist()
    [0.3, 1e-09, -2.5, 0.0]
    """
    return np.array(
        [float(f"{number:.{_DIGITS - 1}e}") for number in numbers.tolist()], dtype=float
    )


@dataclass(frozen=True)
class WeightFacts:
    """What a column of weights holds: enough to say whether its numbers can be weights."""

    rows: int = 0
    missing: int = 0
    least: float = np.inf
    largest: float = -np.inf
    total: float = 0.0

    @classmethod
    def of(cls, numbers: FloatArray) -> "WeightFacts":
        """Measure numbers, of which NaN are missing.

        >>> facts = WeightFacts.of(np.array([2.0, 0.0, np.nan]))
        >>> facts.missing, facts.least, facts.total
        (1, 0.0, 2.0)
        """
        known = numbers[~np.isnan(numbers)]
        return cls(
            len(numbers),
            len(numbers) - len(known),
            float(known.min(initial=np.inf)),
            float(known.max(initial=-np.inf)),
            float(known.sum()),
        )

    def __add__(self, other: "WeightFacts") -> "WeightFacts":
        return WeightFacts(
            self.rows + other.rows,
            self.missing + other.missing,
            min(self.least, other.least),
            max(self.largest, other.largest),
            self.total + other.total,
        )

    def require(self, column: str, averaging: Averaging, *, main: bool) -> None:
        """Raise if these are no weights, or cannot be published in such a way.

        Args:
            column: The name of the column.
            averaging: How it is published.
            main: Whether estimates go by it; others may be replicates, some of which are negative.
        """
        what = f"column {column!r} has the role weight, and"
        if self.missing:
            raise InputError(
                f"{what} {self.missing} of {self.rows} rows have none. Nothing says how many "
                "people they stand for: give each row a weight (0 if it stands for no one), leave "
                "these rows out, or give the column the role dropped."
            )
        if not (np.isfinite(self.least) and np.isfinite(self.largest)):
            raise InputError(f"{what} some of it is infinite. A weight is a finite number.")
        if main and self.least < 0:
            raise InputError(
                f"{what} its smallest number is {self.least:g}. A weight says how many people a "
                "row stands for, so it is 0 or more; only replicate weights, which follow the "
                "weight in the policy, may be negative."
            )
        if main and not self.total > 0:
            raise InputError(f"{what} all of it is 0: the rows would stand for no one.")
        mean = self.total / self.rows
        if averaging.step is not None and main and averaging.step > mean:
            raise InputError(
                f"{what} is rounded to steps of {averaging.step:g}, but its mean is {mean:g}: "
                f"nothing would be left of it. Choose a step below {mean:g}."
            )


def require_weights(
    facts: Mapping[str, WeightFacts], averagings: Mapping[str, Averaging], main: str
) -> None:
    """Raise if columns that are called weights hold none; see `WeightFacts.require`."""
    for name, each in facts.items():
        each.require(name, averagings[name], main=name == main)


def add_weights(counts: FrequencySet, weight: str) -> tuple[FrequencySet, FloatArray]:
    """Return counts without the column of weights, and the sum of the weights of each combination.

    A missing weight, which starred rows have, is 0.

    >>> rows = FrequencySet.from_rows(["sex", "w"], [("f", "2.5"), ("m", "5"), ("f", "2.5")])
    >>> found, people = add_weights(rows, "w")
    >>> list(zip(found.column("sex").values, found.rows.tolist(), people.tolist()))
    [('f', 2, 5.0), ('m', 1, 5.0)]
    """
    at = [i for i, name in enumerate(counts.names) if name != weight]
    columns = tuple(counts.columns[i] for i in at)
    numbers = np.array([number_of(value) or 0.0 for value in counts.column(weight).values])
    groups = group([counts.codes[i] for i in at], [len(column.values) for column in columns])
    rows = add_up(groups.of_item, counts.rows, groups.n).astype(np.int64)
    people = add_up(groups.of_item, counts.rows * numbers[counts.codes_of(weight)], groups.n)
    return FrequencySet(columns, counts.codes[at][:, groups.first], rows), people
