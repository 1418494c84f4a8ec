"""What is published in a recoded column."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sfumato.engines.arrow.build import from_texts
from sfumato.engines.arrow.reader import ColumnReader
from sfumato.engines.arrow.types import counted_type, is_text, plain_type
from sfumato.text import STAR, text_of
from sfumato.typing import IntArray, Value


class Labels:
    """The published values of a column: label code 0 is the first, a star comes after the last.

    Args:
        reader: The column's raw values.
        labels: The published values; None is missing.
        raw: The code that `reader` gives the raw value each label is; None if not all of
            them are raw values.

    Example:
        >>> from sfumato.engines.arrow.opening import open_source
        >>> people = open_source(pa.table({"age": pa.array([41, 30], pa.int8())}))
        >>> ages = ColumnReader("age", [30, 41], np.array([0, 1]), people)
        >>> Labels(ages, ["30s", "40s"]).array(pa.string()).to_pylist()
        ['30s', '40s', '*']
        >>> Labels(ages, [30, 41], np.arange(2)).type(as_text=False)
        DataType(int8)
    """

    def __init__(
        self, reader: ColumnReader, labels: Sequence[Value], raw: IntArray | None = None
    ) -> None:
        self.star = len(labels)
        """The label code of a starred row."""

        self._reader = reader
        self._labels = labels
        self._raw = raw

    def type(self, *, as_text: bool) -> pa.DataType:
        """Say what the published column's type is: its own if all labels are raw values.

        Args:
            as_text: Publish text even then.
        """
        kind = plain_type(self._reader.kind)
        if isinstance(kind, pa.BaseExtensionType):
            kind = counted_type(kind, self._reader.column)
        keeps_type = self._raw is not None and (is_text(kind) or not as_text)
        return kind if keeps_type else pa.string()

    def array(self, kind: pa.DataType) -> pa.Array:
        """Give the published value of each label code, when all rows were read."""
        if self._raw is not None and not is_text(kind):
            values = self._reader.originals(np.append(self._raw, -1))
            return values if values.type == kind else values.cast(kind)
        texts = [None if label is None else text_of(label) for label in self._labels]
        return from_texts([*texts, STAR], kind)
