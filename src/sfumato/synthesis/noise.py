"""The noise of counts: how far off one of them is, and a sum of many."""

import math
from functools import lru_cache

import numpy as np

_MOST_POINTS = 1 << 21
"""The numbers that a distribution is computed for, at most."""

_REACH = 12.0
"""As many standard deviations hold all of a sum but less than what is added for safety."""


def deviation_of(scale: float, *, pure: bool) -> float:
    """Return the standard deviation of the noise of one count.

    Args:
        scale: The scale: Laplace's parameter, or the deviation of a Gaussian.
        pure: Whether it is Laplace's.

    >>> round(deviation_of(2.0, pure=True), 3), deviation_of(3.0, pure=False)
    (2.799, 3.0)
    """
    if not pure:
        return scale
    # Of whole numbers: 2 r / (1 - r)^2 with r = e^(-1/scale).
    ratio = math.exp(-1 / scale)
    return math.sqrt(2 * ratio) / (1 - ratio)


@lru_cache(maxsize=1024)
def noise_of_sum(scale: float, cells: int, share: float, *, pure: bool) -> int:
    """Return within what distance of 0 the noise of a sum lies with some probability or more.

    Counts are whole, and so is their noise: its distribution is exact, computed by the product of
    the transforms of all cells; of very wide sums it is rounded up.

    Args:
        scale: The scale of the noise of each count.
        cells: How many counts are added.
        share: The probability.
        pure: Whether the noise is Laplace's, and not Gaussian.

    >>> noise_of_sum(2.0, 1, 0.95, pure=True), noise_of_sum(2.0, 100, 0.95, pure=True)
    (6, 55)
    >>> noise_of_sum(2.0, 0, 0.95, pure=True)
    0
    """
    if not cells:
        return 0
    wide = deviation_of(scale, pure=pure) * math.sqrt(cells)
    # One count of Laplace's has heavier tails than a Gaussian: e^(-far/scale) is to be nothing.
    far = math.ceil(_REACH * wide + (40 * scale if pure else 0)) + 1
    points = 1 << (2 * far).bit_length()
    if points > _MOST_POINTS:
        # Of noise so wide every second number says the same: it is counted in steps of more.
        step = points // _MOST_POINTS * 2
        return step * (noise_of_sum(scale / step, cells, share, pure=pure) + 1)
    at = np.minimum(np.arange(points), points - np.arange(points)).astype(np.float64)
    one = np.exp(-at / scale) if pure else np.exp(-(at**2) / (2 * scale**2))
    sums = np.fft.irfft(np.fft.rfft(one / one.sum()) ** cells, points)
    inside = np.cumsum(np.r_[sums[0], 2 * sums[1 : points // 2]])
    return int(np.searchsorted(inside, share - 1e-9))
