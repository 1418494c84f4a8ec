"""Rounding: numbers become multiples of a step."""

from collections.abc import Sequence
from typing import ClassVar, Literal, Self

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, require_number
from sfumato.perturbations.base import (
    NumberPerturbation,
    SeenNumbers,
    decimals_in,
    join_names,
)
from sfumato.typing import FloatArray

To = Literal["nearest", "down", "up"]


@dataclass(frozen=True)
class Rounding(NumberPerturbation):
    """Numbers as multiples of a step.

    Promises: who finds a row learns the number only to within a step: half of it either way if it
    is rounded to the nearest multiple. Does not promise more: large numbers stay as rare as they
    are, and top coding is what hides those.

    Args:
        step: The number of which every published one is a multiple.
        to: The `nearest` multiple (of two that are as near, the even one), the next one `down`,
            or the next one `up`.

    Example:
        >>> Rounding(step=10).move(np.array([[14.0, 15.0, 25.0, -4.0]]), None).tolist()
        [[10.0, 20.0, 20.0, 0.0]]
    """

    name: ClassVar[str] = "rounding"
    random: ClassVar[bool] = False

    step: float
    to: To = "nearest"

    def __post_init__(self) -> None:
        require_number("step", self.step, above=0)
        if self.to not in ("nearest", "down", "up"):
            raise ParameterError("to", self.to, "nearest, down or up")

    def decimals_of(self, numbers: SeenNumbers) -> int:
        return decimals_in(self.step)

    def move(self, numbers: FloatArray, rng: np.random.Generator) -> FloatArray:
        steps = numbers / self.step
        # 0.3 is a little less than three steps of 0.1, and 0.15 than one and a half.
        halves = np.round(2 * steps) / 2
        steps = np.where(np.isclose(steps, halves, rtol=1e-15, atol=1e-9), halves, steps)
        if self.to == "nearest":
            steps = np.round(steps)
        else:
            steps = np.floor(steps) if self.to == "down" else np.ceil(steps)
        moved: FloatArray = steps * self.step + 0.0
        return moved

    def note(self, columns: Sequence[str]) -> str:
        way = {"nearest": "the nearest multiple", "down": "the multiple below",
               "up": "the multiple above"}[self.to]  # fmt: skip
        return f"numbers of {join_names(columns)} were rounded to {way} of {self.step:g}"

    @classmethod
    def example(cls) -> Self:
        return cls(step=100)
