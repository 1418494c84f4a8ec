"""What a published label says to a question about raw values."""

from typing import NamedTuple, Protocol

import numpy as np

from sfumato.counts import Column
from sfumato.errors import UnknownNameError
from sfumato.hierarchy import Ladder
from sfumato.text import text_of
from sfumato.typing import BoolArray, Value
from sfumato.usefulness.covering import Covering
from sfumato.usefulness.line import reader_of
from sfumato.usefulness.query import between
from sfumato.usefulness.wanted import Range, Values, Wanted


class Said(NamedTuple):
    """How likely somebody with a label has what is asked for, and whether it is certain."""

    share: float
    certain: bool
    """Whether everybody with the label has it."""

    possible: bool
    """Whether anybody with the label can have it."""


YES = Said(1.0, certain=True, possible=True)
NO = Said(0.0, certain=False, possible=False)


class Reading(Protocol):
    """Anything that can hold the labels of a column against a question."""

    def of(self, label: Value) -> Said:
        """Say what one label says."""


class Known:
    """Reads labels as somebody who knows all raw values of the column does.

    Rows behind a label are taken to be spread evenly over the raw values it covers. A label
    may also be asked for by its own name.

    Args:
        raw: The column of the original table.
        shown: The column as it was published.
        wanted: What is asked for.
        ladder: The column's hierarchy, if it has one.
        level: The level it was published at, if it is one for all rows.

    Example:
        >>> age = Column("age", (31, 32, 38, 40))
        >>> reading = Known(age, Column("age", ("30-39", "40-49")), Range(35, 45))
        >>> [reading.of(label).share for label in ("30-39", "40-49")]
        [0.3333333333333333, 1.0]
    """

    def __init__(
        self,
        raw: Column,
        shown: Column,
        wanted: Wanted,
        ladder: Ladder | None = None,
        level: int | None = None,
    ) -> None:
        self._covering = Covering(raw, ladder, level)
        if isinstance(wanted, Range):
            low = raw.known[0] if wanted.low is None and raw.known else wanted.low
            high = raw.known[-1] if wanted.high is None and raw.known else wanted.high
            self._named: frozenset[str | None] = frozenset()
            self._allowed = between(raw, low, high).allowed
        else:
            self._named = wanted.texts
            self._allowed = _allowed(raw, shown, wanted)

    def of(self, label: Value) -> Said:
        """Say what one label says."""
        if label is not None and text_of(label) in self._named:
            return YES
        inside = self._allowed[self._covering.of(label)]
        return Said(float(inside.mean()), certain=bool(inside.all()), possible=bool(inside.any()))


def _allowed(raw: Column, shown: Column, wanted: Values) -> BoolArray:
    texts = [None if value is None else text_of(value) for value in raw.values]
    named = {text_of(value) for value in shown.known}
    reader = reader_of(raw)
    for value in wanted.values:
        text = None if value is None else text_of(value)
        # A number that nobody has is no mistake, a word that nobody has most likely is.
        read = None if reader is None or value is None else reader(value)
        if text is not None and text not in texts and text not in named and read is None:
            raise unknown(raw.name, text, [each for each in texts if each is not None])
    return np.array([text in wanted.texts for text in texts], dtype=bool)


def unknown(column: str, text: str, known: list[str]) -> UnknownNameError:
    """Say that a value is asked for that no row can have."""
    return UnknownNameError("value", text, known, where=repr(column))
