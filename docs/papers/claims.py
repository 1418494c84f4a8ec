"""Which claims hold: how often a stricter model loses more, and a larger α less."""

from collections.abc import Iterator
from itertools import pairwise, product
from typing import NamedTuple

from docs.papers.distortion import ALPHAS, KS, PS
from docs.papers.figures import over_alpha
from docs.papers.results import Record
from docs.papers.setting import MODELS


class Order(NamedTuple):
    """In how many settings the three models lose in which order."""

    settings: int
    stricter_loses_no_less: int
    """p-sensitive ≤ (p,α) ≤ enhanced, as it must be for optima."""

    as_printed: int
    """enhanced < (p,α) < p-sensitive."""


class Falls(NamedTuple):
    """How often, and by how much at most, the distortion falls when α grows."""

    steps: int
    falls: int
    most: float


def order(results: Record, method: str) -> Order:
    """Compare the models in every setting of the grid."""
    found = list(_triples(results, method))
    kept = sum(weak <= middle <= strict for weak, middle, strict in found)
    printed = sum(strict < middle < weak for weak, middle, strict in found)
    return Order(len(found), kept, printed)


def _triples(results: Record, method: str) -> Iterator[tuple[float, ...]]:
    for k, p in product(KS, PS):
        lost = [dict(over_alpha(results, model, method, k=k, p=p)) for model in MODELS]
        yield from (tuple(one[alpha] for one in lost) for alpha in ALPHAS)


def falls(results: Record, method: str) -> Falls:
    """Go from each α to the next, with both models that have one."""
    steps = [
        after - before
        for k, p in product(KS, PS)
        for model in ("p-alpha", "enhanced")
        for (_, before), (_, after) in pairwise(over_alpha(results, model, method, k=k, p=p))
    ]
    down = [-step for step in steps if step < 0]
    return Falls(len(steps), len(down), max(down, default=0.0))
