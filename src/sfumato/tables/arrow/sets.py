"""Columns of several values per row: cells of text or lists become items, and items cells again."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as t

from sfumato.counts import group
from sfumato.counts.baskets import Baskets
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, OutputError, some
from sfumato.tables.arrow.sources import (
    canonical,
    counted_type,
    from_numpy,
    from_texts,
    is_text,
    number,
    plain_type,
    python_values,
    to_numpy,
)
from sfumato.tables.arrow.writing import closing_writer, creating, open_writer
from sfumato.tables.base import WrittenFile
from sfumato.tables.formats import FORMATS
from sfumato.text import text_of
from sfumato.typing import IntArray

_DELIMITER = ","
"""What separates the cells of a CSV file."""

_ROW_GROUP = 1 << 18
"""Rows that are written at a time."""


def require_set(column: str, kind: pa.DataType, separator: str | None) -> None:
    """Raise if cells of a type cannot be read as items.

    >>> require_set("ill", pa.string(), None)
    Traceback (most recent call last):
    sfumato.errors.InputError: column 'ill' holds text, and nothing says what stands between two
    items of a cell. Say it in the policy, as in ill: {role: set, separator: ';'}.
    """
    plain = plain_type(kind)
    if is_text(plain) or t.is_null(plain):
        if separator is None:
            raise InputError(
                f"column {column!r} holds text, and nothing says what stands between two items of "
                f"a cell. Say it in the policy, as in {column}: {{role: set, separator: ';'}}."
            )
        return
    if not _is_list(plain):
        raise InputError(
            f"column {column!r} has the role set and holds {plain}: one value per row. Give it "
            "another role, such as quasi-identifier, or lists."
        )
    # Lists of lists, of structs and the like have no single value per item.
    counted_type(plain.value_type, column)


def is_list(kind: pa.DataType) -> bool:
    """Return whether values of a type are lists of single values.

    >>> is_list(pa.list_(pa.int8())), is_list(pa.list_(pa.list_(pa.int8())))
    (True, False)
    """
    return _is_list(kind) and not t.is_nested(plain_type(kind.value_type))


def _is_list(kind: pa.DataType) -> bool:
    tests = (t.is_list, t.is_large_list, t.is_fixed_size_list, t.is_list_view, t.is_large_list_view)
    return any(test(kind) for test in tests)


def read_items(column: str, cells: pa.ChunkedArray | pa.Array, separator: str | None) -> Baskets:
    """Return the items of each row: without blanks around them, each once, empty ones left out.

    A missing cell is an empty set.

    >>> cells = pa.array(["I10; E11;;I10", None, "E11"])
    >>> found = read_items("ill", cells, ";")
    >>> found.values, found.starts.tolist(), found.items.tolist()
    (('E11', 'I10'), [0, 2, 2, 3], [0, 1, 0])
    """
    require_set(column, cells.type, separator)
    chunks = cells.chunks if isinstance(cells, pa.ChunkedArray) else [cells]
    rows: list[np.ndarray] = []
    items: list[pa.Array] = []
    before = 0
    for chunk in chunks:
        row, item = _items_of(chunk, separator)
        rows.append(row + before)
        items.append(item)
        before += len(chunk)
    every = pa.chunked_array(items or [pa.array([], pa.string())]).combine_chunks()
    row = np.concatenate([np.empty(0, dtype=np.int64), *rows])
    encoded = canonical(every).dictionary_encode()
    texts = [text_of(value).strip() for value in python_values(encoded.dictionary, column)]
    names = sorted({text for text in texts if text})
    place = {text: at for at, text in enumerate(names)}
    code_of = np.array([*(place.get(text, -1) for text in texts), -1], dtype=np.int64)
    indices = pc.fill_null(encoded.indices.cast(pa.int64()), number(len(texts), pa.int64()))
    code = code_of[to_numpy(indices)]
    known = code >= 0
    return Baskets.of_cells(row[known], code[known], before, names)


def _items_of(cells: pa.Array, separator: str | None) -> tuple[IntArray, pa.Array]:
    """Return the row of each item of a chunk, and the items."""
    kind = plain_type(cells.type)
    if t.is_null(kind):
        return np.empty(0, dtype=np.int64), pa.array([], pa.string())
    if is_text(kind):
        assert separator is not None  # noqa: S101 - it was asked for before
        lists = pc.split_pattern(cells.cast(pa.large_string()), separator)
    elif t.is_large_list(cells.type) or t.is_list(cells.type):
        lists = cells
    else:
        # Arrow loses the items of views when it casts them.
        lists = pa.array(cells.to_pylist(), pa.large_list(plain_type(kind.value_type)))
    row = to_numpy(pc.list_parent_indices(lists)).astype(np.int64)
    items = pc.list_flatten(lists)
    plain = plain_type(items.type)
    return row, items if items.type == plain else items.cast(plain)


@dataclass(frozen=True, eq=False)
class RowsWithSets:
    """The recoded rows of a table in memory, in which columns of items are as they were.

    Example:
        >>> rows = RowsWithSets(pa.table({"age": ["3*", "4*"], "ill": ["a;b", "b"]}), {"ill": ";"})
        >>> rows.classes(["age"]).tolist(), rows.items("ill").items.tolist()
        ([0, 1], [0, 1, 1])
        >>> rows.with_items({"ill": rows.items("ill")}).to_pylist()[0]
        {'age': '3*', 'ill': ['a', 'b']}
    """

    rows: pa.Table
    separators: Mapping[str, str | None]
    """What stands between the items of each column, if they are text."""

    def items(self, column: str) -> Baskets:
        """Return the items of a column."""
        return read_items(column, self.rows.column(column), self.separators[column])

    def classes(self, quasi_identifiers: Sequence[str]) -> IntArray:
        """Return the class of each row: the rows that agree on all quasi-identifiers."""
        codes, sizes = [], []
        for name in quasi_identifiers:
            cells = canonical(self.rows.column(name).combine_chunks())
            encoded = cells if t.is_dictionary(cells.type) else cells.dictionary_encode()
            n = len(encoded.dictionary)
            codes.append(
                to_numpy(pc.fill_null(encoded.indices.cast(pa.int64()), number(n, pa.int64())))
            )
            sizes.append(n + 1)
        return group(codes, sizes, n=self.rows.num_rows).of_item.astype(np.int64)

    def with_items(self, published: Mapping[str, Baskets]) -> pa.Table:
        """Return the rows with other items in these columns, as lists."""
        table = self.rows
        for column, baskets in published.items():
            at = table.column_names.index(column)
            texts = from_texts(list(baskets.values), pa.string())
            values = texts.take(from_numpy(baskets.items))
            starts = from_numpy(baskets.starts.astype(np.int32))
            # An empty set is a missing cell, in every format: one form of one value.
            empty = pa.array(baskets.sizes == 0)
            lists = pa.ListArray.from_arrays(starts, values, mask=empty)
            table = table.set_column(at, column, lists)
        return table


def write_rows(
    table: pa.Table, target: Path, form: str, *, separators: Mapping[str, str]
) -> WrittenFile:
    """Write rows to a new file; in a CSV file the items of a cell stand behind each other.

    Args:
        table: The rows, with lists in the columns of items.
        target: The file.
        form: Its format.
        separators: What stands between the items of each such column.
    """
    as_text = FORMATS[form].is_text
    if as_text:
        for column, separator in separators.items():
            at = table.column_names.index(column)
            table = table.set_column(
                at, column, _join_items(table.column(column), column, separator)
            )
    with creating(target):
        writer = open_writer(target, table.schema, form, _DELIMITER)
        with closing_writer(writer):
            for batch in table.to_batches(max_chunksize=_ROW_GROUP):
                writer.write(batch.columns)
    delimiter = _DELIMITER if as_text else None
    return WrittenFile(target, table.num_rows, form, delimiter, 0)


def _join_items(cells: pa.ChunkedArray, column: str, separator: str) -> pa.Array:
    lists = cells.combine_chunks()
    every = pc.unique(pc.list_flatten(lists))
    torn = every.filter(pc.match_substring(every, separator)).to_pylist()
    if torn:
        raise OutputError(
            f"column {column!r}: {some(torn)} has {separator!r} in it, which stands between the "
            f"items of a cell. Choose another separator in the policy, as in {column}: {{role: "
            "set, separator: '|'}, or publish as parquet or feather."
        )
    texts = pc.binary_join(lists, separator)
    return pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)
