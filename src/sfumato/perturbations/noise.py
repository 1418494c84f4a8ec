"""Noise: numbers to which chance adds something."""

import math
from collections.abc import Sequence
from typing import ClassVar, Literal, Self

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, require_number
from sfumato.perturbations.base import (
    Amount,
    NumberPerturbation,
    PublishedLimits,
    SeenColumn,
    SeenNumbers,
    decimals_in,
    decimals_of_floats,
    join_names,
)
from sfumato.typing import FloatArray, IntArray

Shape = Literal["normal", "laplace", "uniform"]

_PARTS, _MOST_PARTS = 16, 512
"""Where the density of a rounded number is looked at: places per standard deviation, and in all."""

_OFFS = 65
"""Places in a stretch at which it is asked how likely noise leaves it."""

_SURE_OF_SPREAD = 0.7


class Noise(NumberPerturbation):
    """What plain and correlated noise share."""

    near: ClassVar[bool] = True

    sd: float | str
    at_least: float | None
    at_most: float | None

    def _require(self) -> None:
        Amount.read("sd", self.sd)
        for name in ("at_least", "at_most"):
            if getattr(self, name) is not None:
                require_number(name, getattr(self, name))
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise ParameterError("at_least", self.at_least, f"at most {self.at_most:g}")

    def _keep(self, numbers: FloatArray) -> FloatArray:
        """Return numbers within the limits: those beyond become the limit."""
        least = -np.inf if self.at_least is None else self.at_least
        most = np.inf if self.at_most is None else self.at_most
        return np.clip(numbers, least, most)

    def decimals_of(self, numbers: SeenNumbers) -> int:
        # A limit of 0.5 would be 0 among whole numbers, and beyond itself.
        limits = [each for each in (self.at_least, self.at_most) if each is not None]
        return max(numbers.decimals, *map(decimals_in, limits), 0)

    def scale(self, numbers: FloatArray) -> float:
        """Return the standard deviation of the noise for true numbers."""
        amount = Amount.read("sd", self.sd)
        if not amount.share:
            return amount.value
        known = numbers[~np.isnan(numbers)]
        return amount.value * float(known.std()) if len(known) else 0.0

    def seen_scale(self, shown: SeenColumn) -> float:
        """Return the standard deviation of the noise, as readers work it out."""
        amount = Amount.read("sd", self.sd)
        if not amount.share:
            return amount.value
        # Noise has added to the spread that is seen.
        return amount.value * shown.sd / float(np.sqrt(1 + amount.value**2))

    def density(self, gaps: FloatArray) -> FloatArray:
        """Return the density of noise with a standard deviation of 1 at some numbers."""
        found: FloatArray = np.exp(-0.5 * gaps**2) / math.sqrt(2 * math.pi)
        return found

    def tail(self, gap: float) -> float:
        """Return how likely noise with a standard deviation of 1 is above a number."""
        return 0.5 * math.erfc(gap / math.sqrt(2))

    def likelihood(self, published: IntArray, true: IntArray, shown: SeenColumn) -> FloatArray:
        numbers, sd, known = shown.numbers, self.seen_scale(shown), shown.known
        gaps = numbers[published] - numbers[true]
        if sd <= 0:
            found: FloatArray = (gaps == 0).astype(float)
        else:
            # What is published is rounded: the chance of all that becomes the same number.
            width = shown.width
            parts = min(max(1, math.ceil(_PARTS * width / sd)), _MOST_PARTS)
            found = np.zeros(gaps.shape)
            for step in ((np.arange(parts) + 0.5) / parts - 0.5) * width:
                found += self.density((gaps + step) / sd) * (width / sd / parts)
            for limit, way in ((self.at_least, -1.0), (self.at_most, 1.0)):
                # All that is beyond a limit becomes the limit.
                for at in [] if limit is None else _around(shown, np.unique(published), limit):
                    inner = numbers[at] - way * width / 2
                    places, of_pair = np.unique(true, return_inverse=True)
                    far = way * (inner - numbers[places]) / sd
                    beyond = np.array([self.tail(float(gap)) for gap in far])
                    found = np.where(published == at, beyond[of_pair.reshape(true.shape)], found)
        both = known[published] & known[true]
        return np.where(both, np.nan_to_num(found), known[published] == known[true])

    def stays(self, shown: SeenColumn, prior: FloatArray, step: float | None = None) -> FloatArray:
        """Return how likely noise leaves a number where it is; true ones may be any alike."""
        sd, numbers = self.seen_scale(shown), shown.numbers
        if sd <= 0:
            return np.ones(len(numbers))
        width = _rounded_to(numbers) if step is None else step
        # Where in a stretch a number is, from its middle on: the same a few times is enough.
        offs = (np.arange(_OFFS) / (_OFFS - 1) - 0.5) * width
        inside = [self.tail((-width / 2 - x) / sd) - self.tail((width / 2 - x) / sd) for x in offs]
        off = numbers - np.round(numbers / width) * width
        found: FloatArray = np.interp(off, offs, np.array(inside))
        return found

    def limits(self, shown: SeenColumn) -> list[PublishedLimits]:
        """Return how often stretches are published that are narrower than the noise.

        >>> shown = SeenColumn("pay", (1.0, 2.0, 100.0), np.ones(3, dtype=np.int64))
        >>> found = PlainNoise(sd=40).limits(shown)[0]
        >>> found.part.tolist(), found.most.round(2).tolist()
        ([0, 0, 1], [0.11, 0.11])
        """
        sd, numbers = self.seen_scale(shown), shown.numbers
        if Amount.read("sd", self.sd).share:
            # The spread of what is published is not quite that of what was.
            sd *= _SURE_OF_SPREAD
        if not sd > 0 or not np.isfinite(numbers).all() or not len(numbers):
            return []
        unit, found = _rounded_to(numbers), []
        for part_of_sd in (0.25, 1.0):
            width = max(part_of_sd * sd, unit)
            line, part = np.unique(np.floor(numbers / width), return_inverse=True)
            half = (width + unit) / 2
            most = np.full(len(line), self.tail(-half / sd) - self.tail(half / sd))
            for limit in (self.at_least, self.at_most):
                # All that is beyond a limit becomes the limit.
                if limit is not None:
                    most[np.abs(line - np.floor(limit / width)) < 1] = 1.0
            found.append(PublishedLimits(part, np.zeros(len(line)), most))
        return found

    def note(self, columns: Sequence[str]) -> str:
        amount = Amount.read("sd", self.sd)
        size = f"{amount.value * 100:g} % of the column's" if amount.share else f"{amount.value:g}"
        where = join_names(columns)
        return f"{self._kind} with a standard deviation of {size} was added to {where}"

    @property
    def _kind(self) -> str:
        return "noise"


@dataclass(frozen=True)
class PlainNoise(Noise):
    """Numbers with noise, drawn for each row and column by itself.

    Where people have several rows, a number that a person has again gets the same noise again, so
    that the mean of a person's rows tells no more than one of them.

    Promises: who finds a row learns the true number only up to the noise. Does not promise more: a
    number that is far from all others stays so, means of many rows are nearly the true ones, and
    two releases with noise of their own tell more than one.

    Args:
        sd: The standard deviation of the noise: a number, or a share of the column's own, as in
            10%.
        shape: How noise is distributed: `normal`, `laplace` or `uniform`.
        at_least: What is less after that becomes this; for numbers that cannot be less.
        at_most: What is more after that becomes this.

    Example:
        >>> noise = PlainNoise(sd="10%", at_least=0)
        >>> moved = noise.move(np.array([[0.0, 50.0, np.nan]]), np.random.default_rng(1))
        >>> moved.round(1).tolist()
        [[0.9, 52.1, nan]]
    """

    name: ClassVar[str] = "noise"
    adds_noise: ClassVar[bool] = True

    sd: float | str
    shape: Shape = "normal"
    at_least: float | None = None
    at_most: float | None = None

    def __post_init__(self) -> None:
        if self.shape not in ("normal", "laplace", "uniform"):
            raise ParameterError("shape", self.shape, "normal, laplace or uniform")
        self._require()

    def move(self, numbers: FloatArray, rng: np.random.Generator) -> FloatArray:
        scales = np.array([self.scale(line) for line in numbers])[:, None]
        drawn = {
            "normal": lambda: rng.standard_normal(numbers.shape),
            # With a standard deviation of 1 each.
            "laplace": lambda: rng.laplace(0, np.sqrt(0.5), numbers.shape),
            "uniform": lambda: rng.uniform(-np.sqrt(3), np.sqrt(3), numbers.shape),
        }[self.shape]()
        return self._keep(numbers + scales * drawn)

    def density(self, gaps: FloatArray) -> FloatArray:
        if self.shape == "laplace":
            found: FloatArray = np.exp(-np.sqrt(2) * np.abs(gaps)) / np.sqrt(2)
            return found
        if self.shape == "uniform":
            return np.where(np.abs(gaps) <= np.sqrt(3), 1 / (2 * np.sqrt(3)), 0.0)
        return super().density(gaps)

    def tail(self, gap: float) -> float:
        if self.shape == "laplace":
            half = 0.5 * math.exp(-math.sqrt(2) * abs(gap))
            return half if gap >= 0 else 1 - half
        if self.shape == "uniform":
            return min(max(0.5 - gap / (2 * math.sqrt(3)), 0.0), 1.0)
        return super().tail(gap)

    @property
    def _kind(self) -> str:
        return f"{self.shape} noise"

    @classmethod
    def example(cls) -> Self:
        return cls(sd="10%", at_least=0)


@dataclass(frozen=True)
class CorrelatedNoise(Noise):
    """Numbers with noise that is correlated as the columns are.

    All columns with this perturbation and the same settings get noise together, from a normal
    distribution with the correlations of their true numbers. So correlations and slopes of the
    published numbers are nearly the true ones, where plain noise makes them smaller. With
    sd: 10% each, variances rise by a hundredth.

    Promises and does not promise the same as plain noise. Noise in the direction in which columns
    vary together hides less across it: a pair of numbers that is odd together stays odd.

    Args:
        sd: The standard deviation of the noise: a number, or a share of the column's own, as in
            10%.
        at_least: What is less after that becomes this; for numbers that cannot be less.
        at_most: What is more after that becomes this.

    Example:
        >>> numbers = np.array([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])
        >>> noise = CorrelatedNoise(sd="50%").move(numbers, np.random.default_rng(1)) - numbers
        >>> (noise[1] / noise[0]).round(3).tolist()
        [10.0, 10.0, 10.0]
    """

    name: ClassVar[str] = "correlated-noise"
    adds_noise: ClassVar[bool] = True
    joint: ClassVar[bool] = True

    sd: float | str
    at_least: float | None = None
    at_most: float | None = None

    def __post_init__(self) -> None:
        self._require()

    def move(self, numbers: FloatArray, rng: np.random.Generator) -> FloatArray:
        scales = np.array([self.scale(line) for line in numbers])
        related = correlations(numbers)
        # By eigenvectors: columns that follow from each other have no Cholesky factor.
        sizes, vectors = np.linalg.eigh(related)
        factor = vectors * np.sqrt(np.maximum(sizes, 0.0))
        drawn = factor @ rng.standard_normal(numbers.shape)
        return self._keep(numbers + scales[:, None] * drawn)

    @property
    def _kind(self) -> str:
        return "correlated normal noise"

    @classmethod
    def example(cls) -> Self:
        return cls(sd="10%")


def correlations(numbers: FloatArray) -> FloatArray:
    """Return how numbers of rows that have all of them are correlated; 0 where one is constant.

    >>> correlations(np.array([[1.0, 2.0, np.nan], [2.0, 4.0, 5.0], [7.0, 7.0, 7.0]])).round(3)
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    known = numbers[:, ~np.isnan(numbers).any(axis=0)]
    n = len(numbers)
    if known.shape[1] < 2:
        return np.eye(n)
    centred = known - known.mean(axis=1, keepdims=True)
    sds = np.sqrt((centred**2).mean(axis=1))
    scaled = centred / np.where(sds > 0, sds, 1.0)[:, None]
    found: FloatArray = scaled @ scaled.T / known.shape[1]
    np.fill_diagonal(found, 1.0)
    return found


def _rounded_to(numbers: FloatArray) -> float:
    """Return the last decimal that numbers have."""
    return float(10.0 ** -decimals_of_floats(numbers))


def _around(shown: SeenColumn, places: IntArray, limit: float) -> list[int]:
    """Return which of some places has the stretch that a limit is in; none if there is none.

    >>> shown = SeenColumn("pay", (2.5, 7.5, 12.5), np.ones(3))
    >>> _around(shown, np.array([0, 1]), 5.0), _around(shown, np.array([0, 2]), 5.0)
    ([1], [])
    """
    off = (limit - shown.numbers[places]) / shown.width
    found: list[int] = places[(off > -0.5 - 1e-6) & (off < 0.5 - 1e-6)].tolist()
    return found
