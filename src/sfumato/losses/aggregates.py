"""Aggregates: the losses of single attributes as one number.

Every aggregate rises with each of its parts, so the aggregate of lower bounds is a
lower bound.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import reduce
from typing import ClassVar

import numpy as np

from sfumato.registry import Registry
from sfumato.typing import FloatArray


class Aggregate(ABC):
    """Combines one number per attribute, with weights."""

    name: ClassVar[str]

    @abstractmethod
    def of(self, parts: FloatArray, weights: FloatArray) -> float:
        """Combine one number per attribute."""

    @abstractmethod
    def grid(self, parts: Sequence[FloatArray], weights: FloatArray) -> FloatArray:
        """Combine every choice of one level per attribute: one axis per attribute."""


def _outer(parts: Sequence[FloatArray], combine: Callable[..., FloatArray]) -> FloatArray:
    """Combine vectors along axes of their own.

    >>> _outer([np.array([0.0, 1.0]), np.array([10.0, 20.0])], np.add).tolist()
    [[10.0, 20.0], [11.0, 21.0]]
    """
    # Flat outer products are much cheaper than broadcasting over many short axes.
    flat = reduce(lambda grid, part: combine(grid[:, None], part[None, :]).ravel(), parts)
    return flat.reshape([len(part) for part in parts])


class Sum(Aggregate):
    """The weighted sum.

    >>> Sum().of(np.array([1.0, 2.0]), np.array([1.0, 3.0]))
    7.0
    """

    name: ClassVar[str] = "sum"

    def of(self, parts: FloatArray, weights: FloatArray) -> float:
        return float(parts @ weights)

    def grid(self, parts: Sequence[FloatArray], weights: FloatArray) -> FloatArray:
        return _outer([part * weight for part, weight in zip(parts, weights, strict=True)], np.add)


class ArithmeticMean(Sum):
    """The weighted mean.

    >>> ArithmeticMean().of(np.array([1.0, 2.0]), np.array([1.0, 3.0]))
    1.75
    """

    name: ClassVar[str] = "arithmetic-mean"

    def of(self, parts: FloatArray, weights: FloatArray) -> float:
        return super().of(parts, weights / weights.sum())

    def grid(self, parts: Sequence[FloatArray], weights: FloatArray) -> FloatArray:
        return super().grid(parts, weights / weights.sum())


class GeometricMean(ArithmeticMean):
    """The weighted geometric mean of (1 + part), minus 1: losing one attribute whole costs less.

    >>> GeometricMean().of(np.array([0.0, 3.0]), np.array([1.0, 1.0]))
    1.0
    """

    name: ClassVar[str] = "geometric-mean"

    def of(self, parts: FloatArray, weights: FloatArray) -> float:
        return float(np.expm1(super().of(np.log1p(parts), weights)))

    def grid(self, parts: Sequence[FloatArray], weights: FloatArray) -> FloatArray:
        grid: FloatArray = np.expm1(super().grid([np.log1p(part) for part in parts], weights))
        return grid


class Maximum(Aggregate):
    """The worst attribute, each scaled by its weight relative to the largest weight.

    >>> Maximum().of(np.array([0.5, 0.4]), np.array([1.0, 2.0]))
    0.4
    """

    name: ClassVar[str] = "maximum"

    def of(self, parts: FloatArray, weights: FloatArray) -> float:
        return float((parts * (weights / weights.max())).max())

    def grid(self, parts: Sequence[FloatArray], weights: FloatArray) -> FloatArray:
        scaled = weights / weights.max()
        return _outer(
            [part * weight for part, weight in zip(parts, scaled, strict=True)], np.maximum
        )


AGGREGATES: Registry[Aggregate] = Registry(
    "aggregate", "sfumato.aggregates", [Sum, ArithmeticMean, GeometricMean, Maximum]
)
