"""Distortion ratio: steps climbed, of all the steps there are."""

from typing import ClassVar

from sfumato.dataclasses import dataclass
from sfumato.losses.base import Attribute
from sfumato.losses.precision import Precision


@dataclass(frozen=True)
class DistortionRatio(Precision):
    """The sum of all cells' levels, divided by that sum with everything at the top.

    Unlike `Precision`, a tall hierarchy weighs more than a flat one. A suppressed row
    counts as lifted to the top. In local recoding every cell counts at its own level.

    Example:
        >>> DistortionRatio().aggregate
        'arithmetic-mean'
    """

    name: ClassVar[str] = "distortion-ratio"
    in_words: ClassVar[str] = "How many levels values were raised, of all there are."

    def weight(self, attribute: Attribute) -> float:
        return attribute.weight * max(attribute.ladder.height, 1)
