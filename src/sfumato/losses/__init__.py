"""Losses: how much a release no longer tells.

Every measure is one file and one frozen dataclass; `LOSSES` finds them by name.
How attributes are combined is separate: `AGGREGATES`.
"""

from typing import TYPE_CHECKING

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
from sfumato.registry import Registry, on_first_use

if TYPE_CHECKING:
    from sfumato.losses.average_class_size import AverageClassSize as AverageClassSize
    from sfumato.losses.discernibility import Discernibility as Discernibility
    from sfumato.losses.distortion_ratio import DistortionRatio as DistortionRatio
    from sfumato.losses.entropy import Entropy as Entropy
    from sfumato.losses.height import Height as Height
    from sfumato.losses.normalized_loss import NormalizedLoss as NormalizedLoss
    from sfumato.losses.precision import Precision as Precision

_HOMES = {
    "AverageClassSize": "average_class_size",
    "Discernibility": "discernibility",
    "DistortionRatio": "distortion_ratio",
    "Entropy": "entropy",
    "Height": "height",
    "NormalizedLoss": "normalized_loss",
    "Precision": "precision",
}
"""Where each name is that is imported when it is first asked for."""

__all__ = [  # noqa: PLE0604 - all of them are texts
    "AGGREGATES",
    "LOSSES",
    "Aggregate",
    "Attribute",
    "CellLoss",
    "Cells",
    "CheckedNode",
    "ClassLoss",
    "LocalResult",
    "Loss",
    "LossFunction",
    *_HOMES,
]

if not TYPE_CHECKING:
    __getattr__ = on_first_use(__name__, _HOMES)

LOSSES: Registry[Loss] = Registry(
    "loss",
    "sfumato.losses",
    {
        "normalized-loss": "NormalizedLoss",
        "distortion-ratio": "DistortionRatio",
        "entropy": "Entropy",
        "discernibility": "Discernibility",
        "average-class-size": "AverageClassSize",
        "precision": "Precision",
        "height": "Height",
    },
    home=__name__,
)
