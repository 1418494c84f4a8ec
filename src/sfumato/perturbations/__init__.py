"""Perturbations: values that are changed before a table is published.

Every member is one frozen dataclass; `PERTURBATIONS` finds them by name.
"""

from sfumato.perturbations.base import (
    Amount,
    ColumnCells,
    Perturbation,
    PublishedLimits,
    SeenColumn,
)
from sfumato.perturbations.end_coding import BottomCoding, TopCoding
from sfumato.perturbations.noise import CorrelatedNoise, PlainNoise
from sfumato.perturbations.pram import Pram
from sfumato.perturbations.rank_swapping import RankSwapping
from sfumato.perturbations.record_swapping import RecordSwapping
from sfumato.perturbations.rounding import Rounding
from sfumato.registry import Registry

__all__ = [
    "PERTURBATIONS",
    "Amount",
    "BottomCoding",
    "ColumnCells",
    "CorrelatedNoise",
    "Perturbation",
    "PlainNoise",
    "Pram",
    "PublishedLimits",
    "RankSwapping",
    "RecordSwapping",
    "Rounding",
    "SeenColumn",
    "TopCoding",
]

PERTURBATIONS: Registry[Perturbation] = Registry(
    "perturbation",
    "sfumato.perturbations",
    [
        Rounding,
        TopCoding,
        BottomCoding,
        PlainNoise,
        CorrelatedNoise,
        RankSwapping,
        RecordSwapping,
        Pram,
    ],
)
