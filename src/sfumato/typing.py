"""Aliases used across the package."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int64]
"""Counts, row numbers and packed keys."""

CodeArray: TypeAlias = NDArray[np.int32]
"""Positions in a dictionary of values."""

LevelArray: TypeAlias = NDArray[np.int8]
"""How much something harms, of each of many people."""

FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]

Value: TypeAlias = object
"""A cell as the user knows it: text, number, date, truth value, or None for missing."""

Node: TypeAlias = tuple[int, ...]
"""One level per quasi-identifier, in the order of the policy."""

Progress: TypeAlias = Callable[[str, int, int | None], None]
"""Called with the stage, how much of it is done, and how much there is (None: unknown)."""

STAGES = {
    "look": "Looking at the columns",
    "count": "Counting rows",
    "price": "Measuring what the draft would cost",
    "facts": "Counting what one value reveals about others",
    "population": "Counting the population",
    "subsets": "Trying sets of columns",
    "search": "Checking generalisations",
    "lattice": "Judging nodes",
    "partition": "Parting the rows into classes",
    "refine": "Generalising where it leaks",
    "sets": "Generalising sets of items",
    "learn quasi-identifiers": "Learning what quasi-identifiers reveal",
    "learn sensitive": "Learning what sensitive columns reveal",
    "learn all": "Learning what all columns reveal",
    "merge": "Joining the tables",
    "compare": "Comparing releases",
    "widen": "Putting rows side by side",
    "fit": "Fitting a model to noisy counts",
    "write": "Writing the table",
    "publish": "Writing the release",
    "verify": "Verifying",
}
"""Stages in words, where the stage itself does not say it."""


def silent(stage: str, done: int, total: int | None) -> None:
    """Report nothing: the progress callback of callers that gave none."""
