"""Losses: how much a release no longer tells.

Every measure is one file and one frozen dataclass; `LOSSES` finds them by name.
How attributes are combined is separate: `AGGREGATES`.
"""

from sfumato.losses.average_class_size import AverageClassSize
from sfumato.losses.base import (
    AGGREGATES,
    Aggregate,
    Attribute,
    CellLoss,
    Cells,
    CheckedNode,
    ClassLoss,
    LocalResult,
    Loss,
    LossFunction,
)
from sfumato.losses.discernibility import Discernibility
from sfumato.losses.distortion_ratio import DistortionRatio
from sfumato.losses.entropy import Entropy
from sfumato.losses.height import Height
from sfumato.losses.normalized_loss import NormalizedLoss
from sfumato.losses.precision import Precision
from sfumato.registry import Registry

__all__ = [
    "AGGREGATES",
    "LOSSES",
    "Aggregate",
    "Attribute",
    "AverageClassSize",
    "CellLoss",
    "Cells",
    "CheckedNode",
    "ClassLoss",
    "Discernibility",
    "DistortionRatio",
    "Entropy",
    "Height",
    "LocalResult",
    "Loss",
    "LossFunction",
    "NormalizedLoss",
    "Precision",
]

LOSSES: Registry[Loss] = Registry(
    "loss",
    "sfumato.losses",
    [
        NormalizedLoss,
        DistortionRatio,
        Entropy,
        Discernibility,
        AverageClassSize,
        Precision,
        Height,
    ],
)
