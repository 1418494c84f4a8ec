"""The share of each sensitive value, in a class and in the whole table."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sfumato.classes import ValueCounts
from sfumato.text import text_of
from sfumato.typing import FloatArray, IntArray


class Guesses(NamedTuple):
    """One guess per class: a value, and how likely it is before and after the release."""

    value: IntArray
    """Code of the value; -1 where a class has no known value."""

    prior: FloatArray
    posterior: FloatArray


def priors(counts: ValueCounts) -> FloatArray:
    """Give the share of each value among all known ones: what is believed before the release.

    Nobody can know more of a stranger, short of knowing the person: where the true shares among
    the public are known, they differ from these by chance only.
    """
    known = counts.reference[:-1].astype(np.float64)
    shares: FloatArray = known / max(known.sum(), 1.0)
    return shares


def likeliest(counts: ValueCounts) -> Guesses:
    """Give the most frequent known value of each class; of equals the one rarest in the table.

    >>> rows = [("A", "flu"), ("A", "flu"), ("A", "gout"), ("B", None)]
    >>> found = likeliest(classes_of(rows, column="disease").counts_of("disease"))
    >>> found.value.tolist(), found.posterior.round(2).tolist()
    ([0, -1], [0.67, 0.0])
    """
    known, prior = counts.known, priors(counts)
    n = len(known.totals)
    value = np.full(n, -1, dtype=np.int64)
    # The last of each class is the most frequent, and among those the rarest elsewhere.
    order = np.lexsort((-prior[known.value], known.rows, known.class_id))
    value[known.class_id[order]] = known.value[order]
    found = value >= 0
    posterior = np.where(found, known.largest / np.maximum(known.totals, 1), 0.0)
    return Guesses(value, np.where(found, prior[value] if len(prior) else 0.0, 0.0), posterior)


def is_value(counts: ValueCounts, value: IntArray) -> Callable[[int], str]:
    """Say for a class that its value is believed."""
    column = counts.column

    def believed(at: int) -> str:
        code = int(value[at])
        return "nothing" if code < 0 else f"{column.name} = {text_of(column.values[code])}"

    return believed
