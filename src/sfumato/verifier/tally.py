"""Adds up the distinct combinations of many batches, as numbers for as long as possible.

A combination of a batch becomes one whole number, and numbers are counted and added up by
Arrow. Python sees each combination about once, however many batches it is in.
"""

from array import array
from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.verifier.cells import normalised, python_values
from sfumato.verifier.distinct import distinct

Combination = tuple[object, ...]

_BITS = 62
"""Bits of a number that stands for a combination."""

_UNCOUNTED = 1 << 21
"""Rows that are counted at a time: the more, the fewer combinations are met several times."""

_PENDING = 1 << 20
"""Counts that may pile up before equal ones are added up."""


class Tally:
    """Counts rows by their combination of values, batch after batch.

    Example:
        >>> tally = Tally(2)
        >>> tally.add([pa.array(["f", None, "f"]), pa.array([1, 1, 1])])
        >>> tally.add([pa.array(["m", "f"]), pa.array([1, 1])])
        >>> tally.sums()
        {('f', 1): 3, (None, 1): 1, ('m', 1): 1}
    """

    def __init__(self, columns: int) -> None:
        self._books = [_Book() for _ in range(columns)]
        self._sums: dict[Combination, int] = {}
        self._numbers: list[pa.Array] = []
        self._uncounted = 0
        self._keys: list[pa.Array] = []
        self._rows: list[pa.Array] = []

    def add(self, columns: Sequence[pa.Array]) -> None:
        """Count the rows of a batch: one array per column, all equally long."""
        coded = [_coded(column) for column in columns]
        for book, (values, _) in zip(self._books, coded, strict=True):
            book.learn(values)
        if any(book.full for book in self._books):
            # The numbers given so far mean something else from here on.
            self._spell_out()
            for book in self._books:
                book.widen()
        if sum(book.bits for book in self._books) > _BITS:
            self._take(distinct([normalised(column) for column in columns]))
            return
        self._numbers.append(self._numbered(coded))
        self._uncounted += len(self._numbers[-1])
        if self._uncounted >= _UNCOUNTED:
            self._count()

    def _count(self) -> None:
        if not self._numbers:
            return
        counted = pc.value_counts(pa.chunked_array(self._numbers))
        self._numbers, self._uncounted = [], 0
        self._keys.append(counted.field(0))
        self._rows.append(counted.field(1))
        if sum(len(keys) for keys in self._keys) > _PENDING:
            self._add_up()
            if len(self._keys[0]) > _PENDING // 2:
                self._spell_out()

    def sums(self) -> dict[Combination, int]:
        """Give every combination with its number of rows."""
        self._spell_out()
        return self._sums

    def _numbered(self, coded: "Sequence[_Coded]") -> pa.Array:
        whole: pa.Array | None = None
        shift = 0
        for book, (values, indices) in zip(self._books, coded, strict=True):
            part = _whole([book.codes[value] << shift for value in values]).take(indices)
            whole = part if whole is None else pc.add(whole, part)
            shift += book.bits
        return whole

    def _add_up(self) -> None:
        """Merge what has piled up: in order, equal numbers are neighbours."""
        keys, rows = pa.concat_arrays(self._keys), pa.concat_arrays(self._rows)
        order = pc.sort_indices(keys)
        runs = pc.run_end_encode(keys.take(order), run_end_type=pa.int64())
        before = pc.cumulative_sum(rows.take(order))
        last = before.take(pc.subtract(runs.run_ends, _whole([1])[0]))
        first = pa.concat_arrays([_whole([0]), last.slice(0, len(last) - 1)])
        self._keys, self._rows = [runs.values], [pc.subtract(last, first)]

    def _spell_out(self) -> None:
        self._count()
        if len(self._keys) > 1:
            self._add_up()
        for keys, rows in zip(self._keys, self._rows, strict=True):
            columns = []
            shift = 0
            for book in self._books:
                mask = _whole([(1 << book.bits) - 1])[0]
                codes = pc.bit_wise_and(pc.shift_right(keys, _whole([shift])[0]), mask)
                columns.append([book.values[code] for code in codes.to_pylist()])
                shift += book.bits
            counted = zip(zip(*columns, strict=True), rows.to_pylist(), strict=True)
            if self._sums:
                self._take(counted)
            else:
                # Numbers that differ are combinations that differ: there is nothing to add up.
                self._sums.update(counted)
        self._keys, self._rows = [], []

    def _take(self, counted: Iterable[tuple[Combination, int]]) -> None:
        sums = self._sums
        for combination, rows in counted:
            sums[combination] = sums.get(combination, 0) + rows


class _Book:
    """The values of a column, numbered as they come."""

    def __init__(self) -> None:
        self.values: list[object] = []
        self.codes: dict[object, int] = {}
        self.bits = 0

    @property
    def full(self) -> bool:
        """Whether there are values whose numbers have too many bits."""
        return len(self.values) > 1 << self.bits

    def learn(self, values: Sequence[object]) -> None:
        codes = self.codes
        for value in values:
            if value not in codes:
                codes[value] = len(self.values)
                self.values.append(value)

    def widen(self) -> None:
        """Make room for all values, and for as many again."""
        if self.full:
            self.bits = len(self.values).bit_length()


_Coded = tuple[list[object], pa.Array]
"""The values of an array, and which of them each row has."""


def _coded(column: pa.Array) -> _Coded:
    if not pa.types.is_dictionary(column.type):
        encoded = normalised(column).dictionary_encode(null_encoding="encode")
        return python_values(encoded.dictionary), encoded.indices
    values = python_values(normalised(column.dictionary))
    indices = column.indices
    if indices.null_count:
        # One more entry, which is the missing value.
        indices = pc.fill_null(indices.cast(pa.int64()), _whole([len(values)])[0])
        values = [*values, None]
    return values, indices


def _whole(numbers: list[int]) -> pa.Array:
    """Give Arrow whole numbers without pandas, which it would import for a list."""
    return pa.Array.from_buffers(
        pa.int64(), len(numbers), [None, pa.py_buffer(array("q", numbers))]
    )
