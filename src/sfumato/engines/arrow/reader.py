"""One column's way from raw values to the codes a recoding knows them by."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sfumato.engines.arrow.build import from_numpy
from sfumato.engines.arrow.codebook import Codebook
from sfumato.engines.arrow.source import Source, changed
from sfumato.engines.arrow.values import python_values
from sfumato.errors import some
from sfumato.typing import CodeArray, IntArray, Value

_UNKNOWN = -1


class ColumnReader:
    """Turns raw arrays into the codes of their values, batch after batch.

    Args:
        column: The column's name.
        values: Every raw value that may occur; None is missing.
        codes: The code of each of them.
        source: The table that is read.

    Example:
        >>> from sfumato.engines.arrow.opening import open_source
        >>> people = open_source(pa.table({"age": pa.array([41, 30], pa.int8())}))
        >>> ages = ColumnReader("age", [30, 41], np.array([0, 7]), people)
        >>> ages.encode(pa.array([41, 30, 41], pa.int8())).tolist()
        [7, 0, 7]
        >>> ages.originals(np.array([7, -1])).to_pylist()
        [41, None]
    """

    def __init__(
        self, column: str, values: Sequence[Value], codes: np.ndarray, source: Source
    ) -> None:
        self.column = column
        self.kind: pa.DataType = source.schema.field(column).type
        """The column's Arrow type."""

        self._where = source.where
        self._book = Codebook(column, self.kind)
        self._of_value = dict(zip(values, codes.tolist(), strict=True))
        self._lookup: CodeArray = np.array([self._of_value.get(None, _UNKNOWN)], dtype=np.int32)

    def encode(self, array: pa.Array) -> CodeArray:
        """Give the code of each row, or refuse a value that was not counted."""
        places = self._book.indexed(array)
        self._learn()
        codes = places.codes(self._lookup[places.lookup])
        unknown = codes == _UNKNOWN
        if unknown.any():
            strangers = np.unique(places.codes()[unknown])
            raise changed(
                self._where,
                f"column {self.column!r} holds {some(self._values(strangers))}, "
                "which the recoding does not know",
            )
        return codes

    def _learn(self) -> None:
        """Find the codes of values the book has learnt since."""
        known = len(self._lookup)
        if len(self._book) > known:
            new = python_values(self._book.values[known - 1 :], self.column)
            # A dictionary may hold values that no row has, so an unknown one is no error yet.
            codes = np.array([self._of_value.get(value, _UNKNOWN) for value in new], dtype=np.int32)
            self._lookup = np.concatenate([self._lookup, codes])

    def _values(self, places: np.ndarray) -> list[Value]:
        known = from_numpy(places[places > 0] - 1)
        missing: list[Value] = [None] if (places == 0).any() else []
        return missing + python_values(self._book.values.take(known), self.column)

    def originals(self, codes: IntArray) -> pa.Array:
        """Give the raw values that have some codes, as Arrow has them.

        Nothing stands for -1, for the missing value, and for values not met so far.
        """
        met = self._lookup[1:]
        useful = np.flatnonzero(met >= 0)  # not values of no row, or of dropped rows
        # One place more than there are codes, for -1 to fall into.
        place = np.full(max(codes.max(initial=-1), met.max(initial=-1)) + 2, -1, dtype=np.int64)
        place[met[useful]] = useful
        wanted = place[codes]
        return self._book.values.take(from_numpy(wanted, missing=wanted < 0))
