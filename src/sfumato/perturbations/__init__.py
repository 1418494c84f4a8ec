"""Perturbations: values that are changed before a table is published.

Every member is one frozen dataclass; `PERTURBATIONS` finds them by name.
"""

from typing import TYPE_CHECKING

from sfumato.perturbations.base import (
    Amount,
    ColumnCells,
    Perturbation,
    PublishedLimits,
    SeenColumn,
)
from sfumato.registry import Registry, on_first_use

if TYPE_CHECKING:
    from sfumato.perturbations.end_coding import BottomCoding as BottomCoding
    from sfumato.perturbations.end_coding import TopCoding as TopCoding
    from sfumato.perturbations.noise import CorrelatedNoise as CorrelatedNoise
    from sfumato.perturbations.noise import PlainNoise as PlainNoise
    from sfumato.perturbations.pram import Pram as Pram
    from sfumato.perturbations.rank_swapping import RankSwapping as RankSwapping
    from sfumato.perturbations.record_swapping import RecordSwapping as RecordSwapping
    from sfumato.perturbations.rounding import Rounding as Rounding

_HOMES = {
    "BottomCoding": "end_coding",
    "CorrelatedNoise": "noise",
    "PlainNoise": "noise",
    "Pram": "pram",
    "RankSwapping": "rank_swapping",
    "RecordSwapping": "record_swapping",
    "Rounding": "rounding",
    "TopCoding": "end_coding",
}
"""Where each name is that is imported when it is first asked for."""

__all__ = [  # noqa: PLE0604 - all of them are texts
    "PERTURBATIONS",
    "Amount",
    "ColumnCells",
    "Perturbation",
    "PublishedLimits",
    "SeenColumn",
    *_HOMES,
]

if not TYPE_CHECKING:
    __getattr__ = on_first_use(__name__, _HOMES)

PERTURBATIONS: Registry[Perturbation] = Registry(
    "perturbation",
    "sfumato.perturbations",
    {
        "rounding": "Rounding",
        "top-coding": "TopCoding",
        "bottom-coding": "BottomCoding",
        "noise": "PlainNoise",
        "correlated-noise": "CorrelatedNoise",
        "rank-swapping": "RankSwapping",
        "record-swapping": "RecordSwapping",
        "pram": "Pram",
    },
    home=__name__,
)
