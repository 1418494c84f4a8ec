"""One column's way from raw values to published ones, batch after batch."""

import numpy as np
import pyarrow as pa

from sfumato.engines.arrow.build import from_numpy, from_texts
from sfumato.engines.arrow.codebook import Codebook
from sfumato.engines.arrow.types import counted_type, is_text, plain_type
from sfumato.engines.arrow.values import python_values
from sfumato.errors import InputError, some
from sfumato.recoding import ColumnRecoding
from sfumato.text import STAR, text_of
from sfumato.typing import CodeArray, Value

_UNKNOWN = -1


class ColumnRecoder:
    """Turns raw arrays into label codes, and says at the end what each label code means.

    Args:
        recoding: What each raw value becomes.
        kind: The column's Arrow type.
        as_text: Publish text even at level 0, where the column else keeps its type.
        where: What to call the table in a message.

    Example:
        >>> from sfumato.hierarchy import Hierarchy
        >>> decades = Hierarchy.from_paths([30, 41], [["30s", "*"], ["40s", "*"]])
        >>> by_decade = ColumnRecoding.at(decades.bind("age", [30, 41]), 1)
        >>> ages = ColumnRecoder(by_decade, pa.int8(), as_text=False, where="")
        >>> ages.encode(pa.array([41, 30], pa.int8())).tolist(), ages.labels().to_pylist()
        ([1, 0], ['30s', '40s', '*'])
    """

    def __init__(
        self, recoding: ColumnRecoding, kind: pa.DataType, *, as_text: bool, where: str
    ) -> None:
        self.column = recoding.column
        self.star = len(recoding.labels)
        """The label code of a starred row."""

        self._recoding = recoding
        self._where = where
        self._book = Codebook(recoding.column, kind)
        self._of_value = dict(zip(recoding.values, recoding.codes.tolist(), strict=True))
        self._lookup: CodeArray = np.array([self._of_value.get(None, _UNKNOWN)], dtype=np.int32)
        plain = plain_type(kind)
        if isinstance(plain, pa.BaseExtensionType):
            plain = counted_type(kind, self.column)
        keeps_type = recoding.level == 0 and (is_text(plain) or not as_text)
        self.type: pa.DataType = plain if keeps_type else pa.string()
        """The type of the published column."""

    def encode(self, array: pa.Array) -> CodeArray:
        """Give the label code of each row, or refuse a value that was not counted."""
        codes = self._book.encode(array)
        self._learn()
        labels: CodeArray = self._lookup[codes]
        if len(labels) and labels.min() == _UNKNOWN:
            strangers = np.unique(codes[labels == _UNKNOWN])
            raise InputError(
                f"{self._where}: column {self.column!r} holds {some(self._values(strangers))}, "
                "which the recoding does not know. The table is not the one that was counted, "
                "or it changed since: start again."
            )
        return labels

    def _learn(self) -> None:
        """Find the labels of values the book has learnt since."""
        known = len(self._lookup)
        if len(self._book) > known:
            new = python_values(self._book.values[known - 1 :], self.column)
            # A dictionary may hold values that no row has, so an unknown one is no error yet.
            codes = np.array([self._of_value.get(value, _UNKNOWN) for value in new], dtype=np.int32)
            self._lookup = np.concatenate([self._lookup, codes])

    def _values(self, codes: np.ndarray) -> list[Value]:
        known = from_numpy(codes[codes > 0] - 1)
        missing: list[Value] = [None] if (codes == 0).any() else []
        return missing + python_values(self._book.values.take(known), self.column)

    def labels(self) -> pa.Array:
        """Give the published value of every label code met so far, and the star after them."""
        if self._recoding.level == 0 and not is_text(self.type):
            first = np.full(self.star + 1, -1, dtype=np.int64)
            met = self._lookup[1:]
            published = np.flatnonzero(met >= 0)  # not values of no row, or of dropped rows
            first[met[published]] = published
            values = self._book.values.take(from_numpy(first, missing=first < 0))
            return values if values.type == self.type else values.cast(self.type)
        texts = [None if label is None else text_of(label) for label in self._recoding.labels]
        return from_texts([*texts, STAR], self.type)
