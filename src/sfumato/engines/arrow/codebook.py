"""One column's distinct values, numbered as they appear."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as t

from sfumato.engines.arrow.build import from_numpy, number, to_numpy
from sfumato.engines.arrow.types import as_type, counted_type
from sfumato.engines.arrow.values import canonical
from sfumato.typing import CodeArray, IntArray

MISSING = 0
"""The code of the missing value; known values are numbered from 1."""


@dataclass(frozen=True, eq=False)
class Indexed:
    """The codes of an array as its dictionary has them: what each entry means, and the entries.

    >>> Indexed(np.array([7, 5]), pa.array([1, 0, 1], pa.int32())).codes().tolist()
    [5, 7, 5]
    """

    lookup: CodeArray
    """The code of each entry of the dictionary."""

    indices: pa.Array
    """Which entry each row has; none is missing."""

    def __len__(self) -> int:
        return len(self.indices)

    def codes(self, lookup: CodeArray | None = None) -> CodeArray:
        """Give the code of each row, or what another lookup says of each entry."""
        return self._taken(self.lookup if lookup is None else lookup)

    def shifted(self, bits: int) -> IntArray:
        """Give the code of each row, moved this many bits to the left."""
        return self._taken(self.lookup.astype(np.int64) << bits)

    def _taken(self, lookup: np.ndarray) -> np.ndarray:
        # Arrow takes by the indices as they are; NumPy would make them wider first.
        return to_numpy(from_numpy(lookup).take(self.indices))


class Codebook:
    """Turns arrays of one column into codes, batch after batch, with one growing dictionary.

    An array that comes with a dictionary is never expanded: only the dictionary is
    looked up. The book may hold values that a dictionary had and no row has.

    Example:
        >>> book = Codebook("city", pa.string())
        >>> book.encode(pa.array(["Rome", None, "Rome"])).tolist()
        [1, 0, 1]
        >>> book.encode(pa.array(["Pisa", "Rome"])).tolist(), len(book)
        ([2, 1], 3)
    """

    def __init__(self, column: str, kind: pa.DataType) -> None:
        self.column = column
        self.values: pa.Array = pa.nulls(0, counted_type(kind, column))
        """The known values: code 1 is `values[0]`."""

        self._dictionary: pa.Array | None = None
        self._lookup: CodeArray = np.zeros(1, dtype=np.int32)

    def __len__(self) -> int:
        return len(self.values) + 1

    def encode(self, array: pa.Array) -> CodeArray:
        """Give the code of each item."""
        return self.indexed(array).codes()

    def indexed(self, array: pa.Array) -> Indexed:
        """Give the code of each item, without spelling them out."""
        if not t.is_dictionary(array.type):
            array = as_type(array, self.values.type).dictionary_encode()
        lookup = self._codes_of(array.dictionary)
        indices = array.indices.cast(
            pa.int64() if array.indices.type.bit_width > 32 else pa.int32()
        )
        if indices.null_count:
            indices = pc.fill_null(indices, number(len(lookup) - 1, indices.type))
        return Indexed(lookup, indices)

    def _codes_of(self, dictionary: pa.Array) -> CodeArray:
        """Give the code of each entry of a dictionary, and after them that of a missing index."""
        # Row groups and slices share a dictionary, and comparing is cheaper than looking up.
        if self._dictionary is not None and self._dictionary.equals(dictionary):
            return self._lookup
        values = canonical(as_type(dictionary, self.values.type))
        found = pc.index_in(values, value_set=self.values)
        new = values.filter(pc.and_(pc.is_null(found), pc.is_valid(values))).unique()
        if len(new):
            self.values = pa.concat_arrays([self.values, new])
            found = pc.index_in(values, value_set=self.values)
        lookup = np.full(len(values) + 1, MISSING, dtype=np.int32)
        lookup[:-1] = to_numpy(pc.fill_null(found, number(-1, found.type))) + 1
        self._dictionary, self._lookup = dictionary, lookup
        return lookup
