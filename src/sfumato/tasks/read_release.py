"""Read a release: its tables as data frames, with bounds, categories and types."""

from collections.abc import Sequence
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sfumato.errors import InputError, MissingExtraError, ParameterError
from sfumato.releases.codebook import DATES, ReadLabels, read_labels
from sfumato.releases.manifest import ColumnRecord, Manifest
from sfumato.releases.opening import Published, PublishedTable, PublishedTables, open_release
from sfumato.tables import DatabaseTable, Table
from sfumato.tables.capabilities import OrderedRows, Sets
from sfumato.tables.formats import FORMATS
from sfumato.text import STAR, text_of
from sfumato.typing import IntArray, Value

if TYPE_CHECKING:
    import pyarrow as pa

Frame = Literal["pandas", "polars", "arrow"]
_FRAMES = ("pandas", "polars", "arrow")
_EPOCH = date(1970, 1, 1).toordinal()


def read_release(release: object, *, as_: Frame | None = None) -> Any:  # noqa: ANN401 - of any library
    """Return the rows of a release with types: ranges with their ends, categories in their order.

    A column of ranges, such as `60 to 64`, stays as it is, as categories in order, and beside it
    stand `age_low` and `age_high`: numbers, or days. An end that a label leaves open is missing,
    and so are both ends of a hidden value. `age_mean` is there too if the release has the mean of
    each class. Numbers, days and truth values have their types,
    whatever the format of the files. `*` is missing: a hidden value is no category. How many cells
    it hides is in the codebook.

    Promises: nothing is guessed that the labels do not say. Does not promise that the release is
    unchanged: see `sf.verify`.

    Args:
        release: What `sf.anonymize` or `sf.decouple` gave, the folder of a release, or the address
            of a table of a database.
        as_: `pandas`, `polars` or `arrow`; None takes pandas if it is installed, else Arrow.

    Returns:
        A table; for a decoupled release one per table, by its name.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> people = pa.table({"age": [31, 34, 47, 41], "ill": ["flu", "gout", "flu", "flu"]})
        >>> decades = {"kind": "intervals", "widths": [10]}
        >>> age = {"role": "quasi-identifier", "hierarchy": decades}
        >>> policy = {"columns": {"age": age, "ill": "sensitive"},
        ...           "models": [{"model": "k-anonymity", "k": 2}]}
        >>> table = read_release(sf.anonymize(people, policy), as_="arrow")
        >>> table.column_names, sorted(table["age_high"].to_pylist())
        (['age', 'age_low', 'age_high', 'ill'], [39, 39, 49, 49])
    """
    if as_ is not None and as_ not in _FRAMES:
        raise ParameterError("as_", as_, "one of " + ", ".join(_FRAMES))
    opened = open_release(release)
    manifest = opened.manifest
    if manifest is None:
        raise InputError(
            "this is a plain table, and no release: nothing says what its labels are. Read it with "
            "pandas, Polars or Arrow, or give the folder of a release."
        )
    frame = as_ or ("pandas" if find_spec("pandas") else "arrow")
    tables = {name: _with_types(table, manifest) for name, table in _tables_of(opened, manifest)}
    if isinstance(opened, PublishedTable) and opened.means is not None:
        [(name, table)] = tables.items()
        for field in opened.means.schema:
            part = field.metadata[b"part"].decode()
            free = _free(f"{field.name}_{part}", table.column_names)
            at = table.column_names.index(field.name) + 1
            table = table.add_column(at, free, opened.means[field.name])
        tables = {name: table}
    found = {name: _in_library(table, frame) for name, table in tables.items()}
    if isinstance(opened, PublishedTables):
        return found
    [only] = found.values()
    return only


def _tables_of(opened: Published, manifest: Manifest) -> list[tuple[str, Table | None]]:
    """Return the tables with their names; None for one without rows, which engines refuse."""
    if isinstance(opened, PublishedTables):
        return [(Path(name).stem, table) for name, table in opened.tables.items()]
    assert isinstance(opened, PublishedTable)  # noqa: S101 - what cannot be read has raised
    starred = manifest.rows.suppressed if manifest.rows.suppression == "star" else 0
    return [("data", opened.table if manifest.rows.published + starred else None)]


def _with_types(table: Table | None, manifest: Manifest) -> "pa.Table":
    import pyarrow as pa

    records = {column.name: column for column in manifest.columns}
    if table is None:
        return pa.table({name: pa.array([], pa.string()) for name in records})
    single = [name for name in table.columns if table.has_single_values(name)]
    values, codes = _rows_of(table, single)
    found: dict[str, pa.Array] = {}
    for name in table.columns:
        if name not in values:
            items = Sets.expect(table, [name]).read_items({name: None})[name]
            cells = pa.array(items.values, pa.string()).take(pa.array(items.items))
            found[name] = pa.ListArray.from_arrays(pa.array(items.starts, pa.int32()), cells)
            continue
        record = records.get(name) or ColumnRecord(name, "count")
        as_text = table.kind in FORMATS and not FORMATS[table.kind].keeps_types
        found |= _columns(record, values[name], codes[name], table.columns, as_text=as_text)
    return pa.table(found)


def _rows_of(
    table: Table, columns: Sequence[str]
) -> tuple[dict[str, Sequence[Value]], dict[str, IntArray]]:
    """Return the values of each column, and which of them each row has."""
    if isinstance(table, DatabaseTable):
        counts = table.count(columns)
        rows = np.repeat(np.arange(len(counts)), counts.rows)
        names = counts.names
        codes = {name: counts.codes_of(name)[rows].astype(np.int64) for name in names}
        return {column.name: column.values for column in counts.columns}, codes
    read, places = OrderedRows.expect(table).read(columns)
    codes = {
        column.name: place.astype(np.int64) for column, place in zip(read, places, strict=True)
    }
    return {column.name: column.values for column in read}, codes


def _columns(
    record: ColumnRecord,
    values: Sequence[Value],
    codes: IntArray,
    taken: Sequence[str],
    *,
    as_text: bool,
) -> "dict[str, pa.Array]":
    """Return a column with its type, and the ends of its ranges if it has such."""
    import pyarrow as pa

    texts = [None if value is None or value == STAR else text_of(value) for value in values]
    known = [text for text in texts if text is not None]
    words = any(isinstance(value, str) and value != STAR for value in values)
    read = None if record.role == "set" else read_labels(known)
    rows = pa.array(codes)
    if read is not None and read.has_ranges and words:
        order = sorted(read.stretches, key=lambda text: (*read.stretches[text][:2], text))
        low, high = _free(f"{record.name}_low", taken), _free(f"{record.name}_high", taken)
        return {
            record.name: _categories(texts, codes, order),
            low: _ends(read, texts, upper=False).take(rows),
            high: _ends(read, texts, upper=True).take(rows),
        }
    if read is not None and words and as_text:
        return {record.name: _ends(read, texts, upper=False).take(rows)}
    if record.order and set(known) <= set(record.order):
        return {record.name: _categories(texts, codes, [t for t in record.order if t in known])}
    plain = [None if text is None else value for text, value in zip(texts, values, strict=True)]
    return {record.name: pa.array(plain).take(rows)}


def _free(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _categories(texts: Sequence[str | None], codes: IntArray, order: Sequence[str]) -> "pa.Array":
    import pyarrow as pa

    place = {text: number for number, text in enumerate(order)}
    of_value = pa.array([None if text is None else place[text] for text in texts], pa.int32())
    indices = of_value.take(pa.array(codes))
    return pa.DictionaryArray.from_arrays(indices, pa.array(order, pa.string()), ordered=True)


def _ends(read: ReadLabels, texts: Sequence[str | None], *, upper: bool) -> "pa.Array":
    """Return the end of each label: whole numbers if all are, else numbers, or days."""
    import pyarrow as pa

    ends = [None if text is None else read.ends_of(text)[upper] for text in texts]
    known = [None if end is None or not np.isfinite(end) else end for end in ends]
    if read.kind == DATES:
        days = [None if end is None else int(end) - _EPOCH for end in known]
        return pa.array(days, pa.int32()).cast(pa.date32())
    if read.whole and all(end is None or abs(end) < 2**53 for end in known):
        return pa.array([None if end is None else int(end) for end in known], pa.int64())
    return pa.array(known, pa.float64())


def _in_library(table: "pa.Table", frame: str) -> Any:  # noqa: ANN401 - of any library
    if frame == "arrow":
        return table
    if find_spec(frame) is None:
        raise MissingExtraError(frame, frame)
    if frame == "pandas":
        return table.to_pandas()
    import polars as pl
    import pyarrow as pa

    plain = {
        name: column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
        for name, column in zip(table.column_names, table.columns, strict=True)
    }
    ordered = [
        pl.col(name).cast(pl.Enum(column.chunk(0).dictionary.to_pylist()))
        for name, column in zip(table.column_names, table.columns, strict=True)
        if pa.types.is_dictionary(column.type) and column.num_chunks
    ]
    return pl.from_arrow(pa.table(plain)).with_columns(ordered)  # type: ignore[union-attr]
