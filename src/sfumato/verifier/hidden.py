"""Find what a file holds besides the cells of its rows.

Parquet and Feather files have room for more than a reader of the table sees: values of dictionaries
that no row has, limits of columns, numbers under missing cells, batches that nothing refers to,
notes of programs. All of it is published with the file.
"""

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import InputError, some
from sfumato.files.reading import Reading
from sfumato.text import is_missing
from sfumato.verifier import office
from sfumato.verifier.formats import plugins

_HARMLESS_NOTES = (
    "ARROW:schema",
    "PARQUET:field_id",
    "org.apache.spark.version",
    "org.apache.spark.timeZone",
    "org.apache.spark.legacyDateTime",
    "org.apache.spark.legacyINT96",
    "org.apache.spark.sql.parquet.row.metadata",
    "_PL_CATEGORICAL",
    "_PL_CATEGORICAL2",
    "parquet.avro.schema",
    "parquet.proto.class",
    "writer.model.name",
)
"""Notes that describe the columns and the program that wrote them."""

_FIRST = 1 << 14
"""Rows that have all values of most dictionaries, so that the others need not be looked at."""

_LOOKED_FOR = 16
"""Values that are looked for one by one; with more it is faster to see which there are."""

_PADDING = 64
"""The most bytes after the end of a buffer that are there to align the next one."""


def find_hidden(
    path: Path,
    form: str | None = None,
    *,
    reading: Reading | None = None,
    seen: "SeenGroups | None" = None,
) -> list[str]:
    """Return in words what a file holds that no cell of its rows does, one text per finding.

    In a CSV file every byte belongs to a cell. The indexes of pages and the filters of a Parquet
    file are not looked into.

    Args:
        path: The file.
        form: Its format, if it is known: a CSV file may begin like any other.
        reading: Which sheet is read, if it has several.
        seen: What was found in row groups that were read already, and need not be read again.
    """
    try:
        form = form or form_of(path) or ""
        if form in office.FORMATS or form in office.OTHERS:
            return list(office.read_office(path, form, reading).hidden)
        if form == "parquet":
            return list(dict.fromkeys(_in_parquet(path, seen or SeenGroups())))
        if form == "csv":
            return []
        if form == "feather":
            return list(dict.fromkeys(_in_feather(path)))
        return plugins()[form].find_hidden(path) if form in plugins() else []
    except (pa.ArrowException, OSError, ValueError, TypeError, OverflowError) as error:
        first = (str(error).splitlines() or [""])[0]
        raise InputError(f"{path.name} cannot be read: {first[:200]}") from error


def form_of(path: Path) -> str | None:
    """Return the format of a file by its first bytes, whatever its name; None for a stream."""
    with path.open("rb") as file:
        head = file.read(100)
    if head[:4] == b"PAR1":
        return "parquet"
    if head[:6] == b"ARROW1":
        return "feather"
    form = office.form_of(head, path.suffix.lower())
    if form is not None:
        return form
    return None if head[:4] == _CONTINUES else "csv"


def telling_notes(schema: pa.Schema) -> tuple[str, ...]:
    """Return the notes of a schema that may say more than what its columns are.

    >>> telling_notes(pa.schema([("age", pa.int8())], {"pandas": '{"attributes": {}}'}))
    ()
    >>> telling_notes(pa.schema([("age", pa.int8())], {"origin": "ward 3"}))
    ('origin',)
    """
    given = [*(schema.metadata or {}).items()]
    given += [item for field in schema for item in (field.metadata or {}).items()]
    return tuple(
        name
        for key, text in given
        if (name := key.decode("utf-8", errors="replace")) not in _HARMLESS_NOTES
        and not (name == "pandas" and _is_plain_pandas(text))
        and not (name == "PANDAS_ATTRS" and text.strip() in (b"", b"{}"))
        and not name.startswith("sfumato")
    )


def _is_plain_pandas(text: bytes) -> bool:
    """Return whether pandas noted types and a numbered index, and nothing else."""
    try:
        noted = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if not isinstance(noted, Mapping) or noted.get("attributes"):
        return False
    labels = noted.get("index_columns", [])
    return isinstance(labels, list) and all(isinstance(each, Mapping) for each in labels)


# Dictionaries: values that no row has, and values that are there twice.


class _Dictionaries:
    """The entries of dictionaries, and which of them rows have, column by column."""

    def __init__(self) -> None:
        self._unused: dict[str, set[object]] = {}
        self._used: dict[str, set[object]] = {}
        self._repeated: dict[str, int] = {}

    def add(self, name: str, rows: pa.Array) -> None:
        for inner in _inner_arrays(rows):
            if pa.types.is_dictionary(inner.type):
                self._add(name, inner)

    def _add(self, name: str, array: pa.DictionaryArray) -> None:
        entries = array.dictionary
        if pa.types.is_nested(entries.type):
            return
        if entries.type == pa.string_view():
            entries = entries.cast(pa.large_string())
        places = array.indices.drop_null().unique().cast(pa.int64())
        used = entries.take(places)
        known = entries.drop_null().unique()
        if len(known) + (1 if entries.null_count else 0) < len(entries):
            self._repeated[name] = len(entries) - len(known)
        mine = set(used.to_pylist())
        self._used.setdefault(name, set()).update(mine)
        self._unused.setdefault(name, set()).update(set(known.to_pylist()) - mine)

    def add_group(self, name: str, found: "GroupDictionary") -> None:
        """Add what was found in a row group, whose rows share its dictionary with no others."""
        self._used.setdefault(name, set())
        self._unused.setdefault(name, set()).update(found.unused)
        if found.repeated:
            self._repeated[name] = found.repeated

    def findings(self, *, shared: bool) -> Iterator[str]:
        """Describe what was found; `shared` if all batches of a file have one dictionary."""
        for name, entries in self._unused.items():
            left = entries - self._used[name] if shared else entries
            left = {entry for entry in left if not is_missing(entry)}
            if left:
                yield (
                    f"column {name!r}: its dictionary has {_number(len(left), 'value')} that no "
                    "row has"
                )
        for name, times in self._repeated.items():
            yield (
                f"column {name!r}: its dictionary has values more than once ({times}), and rows "
                "with equal values can be told apart by it"
            )


class GroupDictionary:
    """The dictionary of a column in one row group, and which of its values no row has.

    Example:
        >>> found = GroupDictionary()
        >>> entries = pa.array(["f", "m", "x"])
        >>> found.add(pa.DictionaryArray.from_arrays(pa.array([0, 0, None], pa.int32()), entries))
        >>> found.add(pa.DictionaryArray.from_arrays(pa.array([1], pa.int32()), entries))
        >>> found.unused, found.repeated
        ({'x'}, 0)
    """

    def __init__(self) -> None:
        self._parts: list[tuple[pa.Array, list[int]]] = []
        """Dictionaries, and the entries that no row so far has."""

        self.repeated = 0
        """How many entries are there again."""

    @classmethod
    def of(cls, several: Iterable[pa.Array]) -> "GroupDictionary":
        """Read all rows of a group, whatever they are."""
        found = cls()
        for rows in several:
            for inner in _inner_arrays(rows):
                if pa.types.is_dictionary(inner.type):
                    found.add(inner)
        return found

    def add(self, rows: pa.DictionaryArray) -> None:
        """Read some rows of the group."""
        entries = rows.dictionary
        if pa.types.is_nested(entries.type):
            return
        if entries.type == pa.string_view():
            entries = entries.cast(pa.large_string())
        if self._parts and self._parts[-1][0].equals(entries):
            _, unmet = self._parts.pop()
        else:
            known = entries.drop_null().unique()
            if len(known) + (1 if entries.null_count else 0) < len(entries):
                self.repeated = len(entries) - len(known)
            unmet = list(range(len(entries)))
        self._parts.append((entries, _unmet(rows.indices, unmet)))

    @property
    def unused(self) -> set[object]:
        """The values that no row of the group has."""
        if not any(unmet for _, unmet in self._parts):
            return set()
        every, used = set[object](), set[object]()
        for entries, unmet in self._parts:
            values, left = entries.to_pylist(), set(unmet)
            every.update(values)
            used.update(value for place, value in enumerate(values) if place not in left)
        return every - used - {None}


def _unmet(indices: pa.Array, places: list[int]) -> list[int]:
    """Return which of some places no index has.

    >>> _unmet(pa.array([2, None, 0, 2], pa.int32()), [0, 1, 2])
    [1]
    """
    if len(places) > _LOOKED_FOR:
        places = _without(places, indices[:_FIRST])
    if len(places) > _LOOKED_FOR:
        return _without(places, indices)
    wanted = pa.Array.from_buffers(
        pa.int64(), len(places), [None, pa.py_buffer(array("q", places))]
    ).cast(indices.type)
    return [
        place
        for place, number in zip(places, wanted, strict=True)
        if pc.index(indices, number).as_py() < 0
    ]


def _without(places: list[int], indices: pa.Array) -> list[int]:
    met = set(indices.unique().to_pylist())
    return [place for place in places if place not in met]


class SeenGroups:
    """What dictionaries of a Parquet file hold, found while its rows were read for another reason.

    Example:
        >>> seen = SeenGroups()
        >>> sex = pa.DictionaryArray.from_arrays(pa.array([0], pa.int32()), pa.array(["f", "m"]))
        >>> rows = pa.RecordBatch.from_arrays([sex], ["sex"])
        >>> [batch.num_rows for batch in seen.watch(0, iter([rows]))]
        [1]
        >>> seen.found[0, "sex"].unused
        {'m'}
    """

    def __init__(self) -> None:
        self.found: dict[tuple[int, str], GroupDictionary] = {}
        """What was found, by row group and column; of groups that were read to their end."""

    def watch(self, group: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the batches of a row group, and look at those columns that are new."""
        found: dict[tuple[int, str], GroupDictionary] = {}
        for batch in batches:
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                at = group, name
                if at not in self.found and pa.types.is_dictionary(column.type):
                    found.setdefault(at, GroupDictionary()).add(column)
            yield batch
        self.found |= found


def _number(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


def _inner_arrays(array: pa.Array) -> Iterator[pa.Array]:
    """Yield an array and all that lie within it: the fields of structs, the items of lists."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    yield array
    kind = array.type
    if pa.types.is_struct(kind):
        for i in range(kind.num_fields):
            yield from _inner_arrays(array.field(i))
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind):
        yield from _inner_arrays(array.values)
    elif pa.types.is_fixed_size_list(kind):
        yield from _inner_arrays(array.flatten())


# Parquet.


def _in_parquet(path: Path, seen: SeenGroups) -> Iterator[str]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        schema, about = file.schema_arrow, file.metadata
    text = [field.name for field in schema if _is_text(field.type)]
    with pq.ParquetFile(path, read_dictionary=text, pre_buffer=False) as file:
        dictionaries, wide = _Dictionaries(), dict[str, None]()
        for number in range(about.num_row_groups):
            if any((number, name) not in seen.found for name in schema.names):
                # Where it reads rows, Arrow raises at what a file cannot say of its columns; asked
                # for that alone, it ends the whole program.
                next(file.iter_batches(batch_size=1, row_groups=[number], use_threads=False), None)
            limits = _limits(about, number)
            found = {n: seen.found[number, n] for n in text if (number, n) in seen.found}
            # Only columns whose dictionaries or limits can be looked at are read again.
            names = [n for n in schema.names if (n in text and n not in found) or n in limits]
            # As a whole: dictionaries and limits are those of a group.
            columns = file.read_row_group(number, names, use_threads=False) if names else ()
            for name, column in zip(names, columns, strict=True):
                if name not in found:
                    found[name] = GroupDictionary.of(column.chunks)
                if name in limits and not _are_limits(limits[name], column):
                    wide[name] = None
            for name, dictionary in found.items():
                dictionaries.add_group(name, dictionary)
    yield from dictionaries.findings(shared=False)
    if wide:
        yield f"the file's statistics of {some(wide)} have limits that no row has"
    if _has_unknown_bytes(path, about):
        yield "there are bytes between its columns that belong to no row"


def _limits(about: object, number: int) -> dict[str, object]:
    """Return what a row group states of its columns: their least and their greatest values."""
    group = about.row_group(number)  # type: ignore[attr-defined]
    columns = [group.column(i) for i in range(group.num_columns)]
    for i, column in enumerate(columns):
        if column.physical_type != about.schema.column(i).physical_type:  # type: ignore[attr-defined]
            raise InputError("a column of it has another type than its schema says")
    return {
        column.path_in_schema: column.statistics
        for column in columns
        if column.is_stats_set and column.statistics is not None
    }


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _are_limits(stated: object, column: pa.ChunkedArray) -> bool:
    """Return whether the least and the greatest value are as stated; texts may be cut off."""
    if not getattr(stated, "has_min_max", False):
        return True
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        found = pc.min_max(column).as_py()
        low, high = stated.min, stated.max  # type: ignore[attr-defined]
    except (pa.ArrowException, ValueError, OverflowError):
        return True  # of a type that has no order here
    if found["min"] is None:
        # Of NaN alone, some programs state limits that are NaN.
        return all(is_missing(limit) for limit in (low, high))
    least, most = found["min"], found["max"]
    if type(low) is not type(least) or type(high) is not type(most):
        return True  # in another form: days as numbers, bytes as text
    if isinstance(low, str | bytes):
        return _begins(least, low) and (most == high or _is_cut_above(most, high))
    return bool(low == least and high == most)


def _begins(value: str | bytes, limit: str | bytes) -> bool:
    return value[: len(limit)] == limit


def _is_cut_above(value: str | bytes, limit: str | bytes) -> bool:
    """Return whether a limit is the beginning of a value, its last letter perhaps one higher."""
    return len(limit) < len(value) and value[: len(limit) - 1] == limit[:-1]


def _has_unknown_bytes(path: Path, about: object) -> bool:
    """Return whether parts of a file belong neither to its columns nor to their descriptions."""
    columns = [
        group.column(i)
        for group in map(about.row_group, range(about.num_row_groups))  # type: ignore[attr-defined]
        for i in range(group.num_columns)
    ]
    taken = [(0, 4)]
    for column in columns:
        # A column without rows has no page of them, and perhaps a dictionary.
        starts = [at for at in (column.data_page_offset, column.dictionary_page_offset) if at]
        if not starts:
            continue
        taken.append((min(starts), min(starts) + column.total_compressed_size))
        # Arrow before version 25 does not tell of filters: their bytes are unknown there.
        start = getattr(column, "bloom_filter_offset", None)
        if start is not None:
            if column.bloom_filter_length is None:
                return False  # it does not say where its filters end
            taken.append((start, start + column.bloom_filter_length))
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(size - 8)
        footer = size - 8 - int.from_bytes(file.read(4), "little")
        # Indexes of pages stand between the last column and the footer.
        indexed = any(column.has_offset_index or column.has_column_index for column in columns)
        end = max(stop for _, stop in taken) if indexed else footer
        gaps, at = [], 0
        for start, stop in [*sorted(taken), (end, end)]:
            if start > at:
                file.seek(at)
                gaps.append(file.read(min(start, footer) - at))
            at = max(at, stop)
    # Some programs fill up with zeros, and some repeat the description of each column after it.
    gaps = [gap for gap in gaps if any(gap)]
    habit = len(gaps) >= len(columns) - indexed and all(len(gap) < _DESCRIPTION for gap in gaps)
    return bool(gaps) and not habit


_DESCRIPTION = 4096
"""The most bytes that the description of a column has."""


# Feather, also known as Arrow IPC.


def _in_feather(path: Path) -> Iterator[str]:
    with pa.OSFile(str(path)) as handle:
        reader = pa.ipc.open_file(handle)
        dictionaries, under = _Dictionaries(), dict[str, None]()
        noted = bool(getattr(reader, "metadata", None))
        for number in range(reader.num_record_batches):
            found = reader.get_batch_with_custom_metadata(number)
            noted = noted or bool(found.custom_metadata)
            found.batch.validate(full=True)
            for name, column in zip(found.batch.schema.names, found.batch.columns, strict=True):
                dictionaries.add(name, column)
                if any(map(_hides_values, _inner_arrays(column))):
                    under[name] = None
        batches = reader.num_record_batches
    yield from dictionaries.findings(shared=True)
    if under:
        yield f"under missing cells of {some(under)} there are values that are not shown"
    if noted:
        yield "the file carries notes beside its batches"
    if _has_unknown_messages(path, batches):
        yield "there are batches or bytes that belong to no row"


_FILLERS = (0, 1, -1)
"""What programs write under missing numbers."""


def _hides_values(array: pa.Array) -> bool:  # noqa: PLR0911 - one line per family
    """Return whether there is something under the missing cells, or between the others."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return _hides_values(array.indices) or _hides_values(array.dictionary)
    if pa.types.is_nested(kind) or pa.types.is_null(kind) or pa.types.is_boolean(kind):
        return False
    if _is_text(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return _hides_bytes(array, pa.large_binary() if _is_large(kind) else pa.binary())
    if kind in (pa.string_view(), pa.binary_view()):
        return _hides_viewed_bytes(array)
    if not array.null_count:
        return False
    try:
        bits = kind.bit_width
    except ValueError:
        return False
    raw = pa.Array.from_buffers(
        pa.binary(bits // 8), len(array), [None, array.buffers()[1]], offset=array.offset
    )
    hidden = raw.filter(pc.is_null(array)).unique().to_pylist()
    return any(not _is_filler(each, kind) for each in hidden)


def _is_large(kind: pa.DataType) -> bool:
    return bool(pa.types.is_large_string(kind) or pa.types.is_large_binary(kind))


def _is_filler(raw: bytes, kind: pa.DataType) -> bool:
    if pa.types.is_floating(kind):
        as_float = {2: pa.float16(), 4: pa.float32(), 8: pa.float64()}[len(raw)]
        [number] = pa.Array.from_buffers(as_float, 1, [None, pa.py_buffer(raw)]).to_pylist()
        return number != number or number in _FILLERS  # noqa: PLR0124 - NaN differs from itself
    number = int.from_bytes(raw, "little", signed=True)
    # The least of all is how NumPy writes a missing time, and the greatest a missing code.
    edge = 1 << (8 * len(raw) - 1)
    return number in _FILLERS or number in (-edge, edge - 1)


def _hides_bytes(array: pa.Array, kind: pa.DataType) -> bool:
    """Return whether texts lie in the buffer that no cell shows."""
    _, offsets, data = array.buffers()
    if offsets is None or data is None:
        return False
    every = pa.Array.from_buffers(kind, len(array), [None, offsets, data], offset=array.offset)
    lengths = pc.binary_length(every)
    shown = pc.sum(pc.binary_length(array)).as_py() or 0
    if (pc.sum(lengths).as_py() or 0) != shown:
        return True
    # What is before the first text or after the last.
    rest = data.size - shown
    return rest >= _PADDING and any(data.slice(shown).to_pybytes())


def _hides_viewed_bytes(array: pa.Array) -> bool:
    lengths = pc.binary_length(array.cast(pa.large_binary()))
    # Short texts lie in the view itself, the others in buffers that several may share.
    shown = pc.sum(lengths.filter(pc.greater(lengths, 12))).as_py() or 0
    stored = sum(buffer.size for buffer in array.buffers()[2:] if buffer is not None)
    return bool(stored >= shown + _PADDING * max(1, len(array.buffers()) - 2))


def _has_unknown_messages(path: Path, batches: int) -> bool:
    """Return whether the file has messages its footer does not name, or bytes besides them."""
    with pa.OSFile(str(path)) as handle:
        size = handle.size()
        handle.seek(size - 10)
        footer = int.from_bytes(handle.read(4), "little")
        # The file begins with its mark, filled up to eight bytes.
        at, records = 8, 0
        handle.seek(at)
        if handle.read(4) != _CONTINUES:
            return False  # messages as some programs write them, which only the footer finds
        while at + 8 <= size - footer - 10:
            handle.seek(at)
            begin = handle.read(8)
            if begin[:4] != _CONTINUES or begin[4:] == bytes(4):
                # The end of the messages, which not every program writes.
                at += 8 if begin[:4] == _CONTINUES else 0
                break
            handle.seek(at)
            message = pa.ipc.read_message(handle)
            records += message.type == "record batch"
            at = handle.tell()
    return records != batches or at + footer + 10 != size


_CONTINUES = b"\xff\xff\xff\xff"
