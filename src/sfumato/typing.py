"""Aliases used across the package."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int64]
"""Counts, row numbers and packed keys."""

CodeArray: TypeAlias = NDArray[np.int32]
"""Positions in a dictionary of values."""

FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]

Value: TypeAlias = object
"""A cell as the user knows it: text, number, date, truth value, or None for missing."""

Node: TypeAlias = tuple[int, ...]
"""One level per quasi-identifier, in the order of the policy."""
