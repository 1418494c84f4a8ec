"""Whole people in place of noisy counts: the nearest numbers that can be those of people.

This spends nothing: it is computed of noisy counts alone, so that whoever has these can do it
again. The verifier does, in its own way.
"""

import numpy as np

from sfumato.typing import IntArray


def nearest_whole(noisy: IntArray, totals: IntArray) -> IntArray:
    """Return, row by row, the nearest whole numbers of at least 0 that add up to a total.

    All counts of a row are lowered or raised by the same number, and none below 0: that is the
    nearest point by the sum of squares. What is left over, because people are whole, goes to the
    counts that are not below 0 then, one each, beginning at another column in each row.

    Args:
        noisy: The counts, by rows and columns.
        totals: What each row is to add up to, at least 0.

    >>> nearest_whole(np.array([[7, 3, -2], [1, 1, 1]]), np.array([6, 4])).tolist()
    [[5, 1, 0], [1, 2, 1]]
    """
    rows, columns = noisy.shape
    ordered = -np.sort(-noisy, axis=1)
    places = np.arange(1, columns + 1)
    excess = np.cumsum(ordered, axis=1) - totals[:, None]
    # As many of the largest stay above 0 as can, and how far all sink follows from their sum.
    kept = columns - np.argmax((places * ordered >= excess)[:, ::-1], axis=1)
    over = np.take_along_axis(excess, kept[:, None] - 1, axis=1)[:, 0]
    level = -(-over // kept)
    found = np.maximum(noisy - level[:, None], 0)
    left = totals - found.sum(axis=1)
    order = (np.arange(columns)[None, :] + np.arange(rows)[:, None]) % columns
    able = np.take_along_axis(noisy, order, axis=1) >= level[:, None]
    more = able & (np.cumsum(able, axis=1) <= left[:, None])
    np.put_along_axis(found, order, np.take_along_axis(found, order, axis=1) + more, axis=1)
    whole: IntArray = found
    return whole
