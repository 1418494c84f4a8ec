"""Few labels for many values: numbers in ranges, everything else as it is."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sfumato.fragment import brief
from sfumato.text import number_of, text_of
from sfumato.typing import IntArray, Value

MOST = 12
"""Numbers with more values than this are put into ten ranges, each with as many people."""

_RANGES = 10


@dataclass(frozen=True, eq=False)
class Ranges:
    """Which label each value has.

    Example:
        >>> ranges = Ranges.of(tuple(range(20)), np.ones(20, dtype=np.int64))
        >>> ranges.labels[:2], ranges.place("3"), ranges.place(None)
        (('0 to 1', '2 to 3'), 1, 10)
    """

    labels: tuple[str, ...]
    of_code: IntArray
    """The label of each value that was given."""

    starts: tuple[float, ...] = ()
    """Where ranges begin; empty if values are as they are."""

    places: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, values: Sequence[Value], rows: IntArray) -> "Ranges":
        """Find labels for known values, in order, and how many people have each."""
        numbers = [number_of(value) for value in values]
        known = [number for number in numbers if number is not None]
        if len(values) <= MOST or len(known) < len(values) or known != sorted(known):
            places = {text_of(value): i for i, value in enumerate(values)}
            labels = tuple(brief(value, most=60) for value in values)
            return cls(labels, np.arange(len(values)), places=places)
        before = np.cumsum(rows) - rows
        at = np.minimum(before * _RANGES // max(int(rows.sum()), 1), _RANGES - 1)
        first, code = np.unique(at, return_index=True, return_inverse=True)[1:]
        last = [*(first[1:] - 1).tolist(), len(values) - 1]
        labels = tuple(
            text_of(values[a]) if a == b else f"{text_of(values[a])} to {text_of(values[b])}"
            for a, b in zip(first.tolist(), last, strict=True)
        )
        return cls(labels, code, starts=tuple(known[i] for i in first.tolist()))

    def place(self, value: Value) -> int:
        """Find the label of any value; after the last come what is missing and what is unknown."""
        if value is None:
            return len(self.labels)
        unknown = len(self.labels) + 1
        if not self.starts:
            return self.places.get(text_of(value), unknown)
        number = number_of(value)
        if number is None:
            return unknown
        return max(bisect_right(self.starts, number) - 1, 0)
