"""Top and bottom coding: numbers beyond a limit become the limit."""

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, require_number
from sfumato.perturbations.base import (
    Amount,
    NumberPerturbation,
    SeenNumbers,
    decimals_in,
    join_names,
)
from sfumato.typing import FloatArray


class EndCoding(NumberPerturbation):
    """What top and bottom coding share."""

    random: ClassVar[bool] = False
    beyond: ClassVar[str]
    """The setting that holds the limit."""

    becomes: float | None

    @property
    def limit(self) -> Amount:
        """The limit: a number, or the share of the rows that are not beyond it."""
        return self._limit(getattr(self, self.beyond))

    def _limit(self, given: object) -> Amount:
        if isinstance(given, str):
            return Amount.read(self.beyond, given, below=1)
        require_number(self.beyond, given)
        return Amount(float(given), share=False)  # type: ignore[arg-type]

    def _require(self) -> None:
        limit = self.limit
        if self.becomes is None:
            return
        require_number("becomes", self.becomes)
        wrong = self.becomes < limit.value if self.beyond == "above" else self.becomes > limit.value
        if not limit.share and wrong:
            where = "the limit or more" if self.beyond == "above" else "the limit or less"
            raise ParameterError("becomes", self.becomes, where)

    def decimals_of(self, numbers: SeenNumbers) -> int:
        limit = 0.0 if self.limit.share else self.limit.value
        return max(numbers.decimals, decimals_in(limit if self.becomes is None else self.becomes))

    def move(self, numbers: FloatArray, rng: np.random.Generator) -> FloatArray:
        return np.stack([self._move(line) for line in numbers])

    def _move(self, numbers: FloatArray) -> FloatArray:
        known = np.sort(numbers[~np.isnan(numbers)])
        if not len(known):
            return numbers
        limit, top = self.limit, self.beyond == "above"
        edge = limit.value
        if limit.share:
            # The number that as many are at or below as the share says, and one at least: that of
            # a row, as the limit itself would show which rows there are beyond it.
            many = int(np.ceil(limit.value * len(known) - 1e-9))
            edge = float(known[max(many, 1) - 1] if top else known[min(many, len(known) - 1)])
        beyond = numbers > edge if top else numbers < edge
        found: FloatArray = np.where(
            beyond, edge if self.becomes is None else self.becomes, numbers
        )
        return found

    def note(self, columns: Sequence[str]) -> str:
        limit = self.limit
        where = f"{limit.value:.10g}" if not limit.share else f"{limit.value * 100:g} % of the rows"
        then = "that limit" if self.becomes is None else f"{self.becomes:g}"
        return f"numbers of {join_names(columns)} {self.beyond} {where} were replaced by {then}"


@dataclass(frozen=True)
class TopCoding(EndCoding):
    """Numbers above a limit become the limit, or another number.

    Promises: rows above the limit cannot be told apart by the column. Does not promise anything of
    the rows below it.

    Args:
        above: The limit: a number, or a share of the rows such as 99%, of which the largest number
            is the limit then.
        becomes: What numbers above the limit become; without it, the limit.

    Example:
        >>> TopCoding(above="50%").move(np.array([[1.0, 2.0, 3.0, 99.0]]), None).tolist()
        [[1.0, 2.0, 2.0, 2.0]]
    """

    name: ClassVar[str] = "top-coding"
    beyond: ClassVar[str] = "above"

    above: float | str
    becomes: float | None = None

    def __post_init__(self) -> None:
        self._require()

    @classmethod
    def example(cls) -> Self:
        return cls(above=100_000)


@dataclass(frozen=True)
class BottomCoding(EndCoding):
    """Numbers below a limit become the limit, or another number.

    Promises: rows below the limit cannot be told apart by the column. Does not promise anything of
    the rows above it.

    Args:
        below: The limit: a number, or a share of the rows such as 1%, above which the smallest
            number is the limit then.
        becomes: What numbers below the limit become; without it, the limit.

    Example:
        >>> BottomCoding(below="50%").move(np.array([[1.0, 2.0, 3.0, 99.0]]), None).tolist()
        [[3.0, 3.0, 3.0, 99.0]]
    """

    name: ClassVar[str] = "bottom-coding"
    beyond: ClassVar[str] = "below"

    below: float | str
    becomes: float | None = None

    def __post_init__(self) -> None:
        self._require()

    @classmethod
    def example(cls) -> Self:
        return cls(below=18)
