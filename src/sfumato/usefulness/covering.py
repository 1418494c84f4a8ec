"""Which raw values a published label stands for."""

import re
from collections.abc import Sequence

import numpy as np

from sfumato.counts import Column
from sfumato.errors import InputError
from sfumato.hierarchy import Ladder
from sfumato.text import STAR, text_of
from sfumato.typing import IntArray, Value
from sfumato.usefulness.line import reader_of, stretch_of


class Covering:
    """Reads the labels of one column, as somebody who knows the column's raw values does.

    A label is looked for in the hierarchy at the level the column was published at, then
    among the raw values, then in the hierarchy from the bottom up. What is not there is read:
    `*` stands for every value, `20-29`, `-5 to -1`, `[2.5, 5)`, `[20, 30[`, `(20, 30]`, `<18` and
    `>=65` for the values in between, `476**` for the values that fit, each star for one character.

    A missing value stands for the missing value of the original. If that has none, the row
    was suppressed and says nothing: it stands for every value.

    Args:
        raw: The column of the original table.
        ladder: Its hierarchy, if it has one.
        level: The level it was published at, if it is one for all rows.

    Example:
        >>> covering = Covering(Column("age", (31, 32, 39, 40)))
        >>> [covering.of(label).tolist() for label in ("30-39", 40, "*", "3*")]
        [[0, 1, 2], [3], [0, 1, 2, 3], [0, 1, 2]]
    """

    def __init__(self, raw: Column, ladder: Ladder | None = None, level: int | None = None) -> None:
        self._raw = raw
        self._everything = np.arange(len(raw.values))
        self._everything.flags.writeable = False
        self._codes = {text_of(v): code for code, v in enumerate(raw.known)}
        self._reader = reader_of(raw)
        self._ladder = ladder
        self._places = {} if ladder is None else _places(ladder, level)
        self._first = level if ladder is not None else None

    def all(self, labels: Sequence[Value]) -> list[IntArray]:
        """Read the labels of a column."""
        return [self.of(label) for label in labels]

    def of(self, label: Value) -> IntArray:
        """Give the codes of the raw values that a label stands for."""
        if label is None:
            return self._everything[-1:] if self._raw.missing >= 0 else self._everything
        text = text_of(label)
        level = self._places.get(text, (-1, -1))[0]
        if text in self._codes and level != self._first:
            return np.array([self._codes[text]])
        found = self._below(text) if level >= 0 else self._read(text)
        if not len(found):
            raise self._unread(text)
        return found

    def _below(self, text: str) -> IntArray:
        """Give the values that a label of the hierarchy covers."""
        assert self._ladder is not None  # noqa: S101 - only a ladder has places
        level, code = self._places[text]
        values = [self._ladder.values[i] for i in np.flatnonzero(self._ladder.codes[level] == code)]
        codes = [
            self._raw.missing if value is None else self._codes.get(text_of(value), -1)
            for value in values
        ]
        # A hierarchy may know values that the table does not have.
        return np.unique([code for code in codes if code >= 0]).astype(np.int64)

    def _read(self, text: str) -> IntArray:
        if text == STAR:
            return self._everything
        stretch = None if self._reader is None else stretch_of(text, self._reader)
        if stretch is not None and self._reader is not None:
            points = [self._reader(value) for value in self._raw.known]
            inside = [point is not None and stretch.holds(point) for point in points]
            return np.flatnonzero(inside)
        if STAR not in text:
            return np.empty(0, dtype=np.int64)
        mask = re.compile(re.escape(text).replace(re.escape(STAR), "."), re.DOTALL)
        return np.flatnonzero([mask.fullmatch(raw) is not None for raw in self._codes])

    def _unread(self, text: str) -> InputError:
        return InputError(
            f"the label {text!r} of column {self._raw.name!r} stands for no value that the "
            "original table has. A label must be a raw value, a label of the column's hierarchy, "
            "an interval such as '20-29', a mask such as '47***', or '*'. Give the policy that "
            "the release was made with (policy=...), and the table it was made of."
        )


def _places(ladder: Ladder, level: int | None) -> dict[str, tuple[int, int]]:
    """Find the level and code of each label; the published level first, then the lowest."""
    # A policy other than the release's may have fewer levels.
    known = [] if level is None or level > ladder.height else [level]
    order = [*known, *range(ladder.height + 1)]
    places: dict[str, tuple[int, int]] = {}
    for each in order:
        for code, label in enumerate(ladder.labels[each]):
            if label is not None:
                places.setdefault(text_of(label), (each, code))
    return places
