"""Open a table of any supported kind and stream its rows in batches.

CSV cells are text and an empty cell is missing.
"""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from sfumato.errors import InputError, some

FORMATS = {
    "csv": (".csv", ".tsv", ".txt", ".csv.gz"),
    "parquet": (".parquet", ".pq"),
    "feather": (".feather", ".arrow", ".ipc"),
}
DELIMITERS = ",;\t|"
_BATCH_ROWS = 2**18
_BLOCK_BYTES = 2**23
_PEEK_BYTES = 2**20


@dataclass(frozen=True)
class Source:
    """A table that can be read, as often as needed.

    `metadata` lists what its file says about the table apart from names and types.
    """

    names: tuple[str, ...]
    batches: Callable[[Sequence[str]], Iterator[pa.RecordBatch]]
    metadata: tuple[str, ...] = ()


@contextmanager
def readable(what: str) -> Iterator[None]:
    """Turn whatever a reader throws at a broken file into an error for people."""
    try:
        yield
    except InputError:
        raise
    except (pa.ArrowException, csv.Error, OSError, ValueError, TypeError, OverflowError) as error:
        first = (str(error).splitlines() or [""])[0]
        raise InputError(f"{what} cannot be read: {first[:200]}") from error


def open_source(data: object, *, form: str | None = None, delimiter: str | None = None) -> Source:
    """Open a file by its format, or an Arrow, Polars or pandas table.

    >>> table = pa.table({"age": [39, None]})
    >>> [batch.to_pydict() for batch in open_source(table).batches(["age"])]
    [{'age': [39, None]}]
    """
    if not isinstance(data, str | Path):
        source = _open_table(data)
    else:
        path = Path(data)
        if not path.is_file():
            raise InputError(f"there is no file {str(path)!r}")
        form = form or _format_of(path)
        with readable(str(path.name)):
            if form == "csv":
                source = _open_csv(path, delimiter)
            elif form == "parquet":
                source = _open_parquet(path)
            elif form == "feather":
                source = _open_feather(path)
            else:
                raise InputError(f"no format {form!r}. Known: {', '.join(FORMATS)}")
    twice = [name for name, n in Counter(source.names).items() if n > 1]
    if twice:
        raise InputError(f"a column name stands there more than once: {some(twice)}")
    return source


def _format_of(path: Path) -> str:
    for form, endings in FORMATS.items():
        if path.name.lower().endswith(endings):
            return form
    known = ", ".join(ending for endings in FORMATS.values() for ending in endings)
    raise InputError(f"the format of {path.name!r} is not known by its name. Known: {known}")


def _open_table(data: object) -> Source:
    with readable("the table"):
        if not (isinstance(data, pa.Table | pa.RecordBatch) or hasattr(data, "__arrow_c_stream__")):
            raise InputError(
                f"a {type(data).__name__} is not a table. "
                "Give a path or an Arrow, Polars or pandas table."
            )
        table = pa.Table.from_batches([data]) if isinstance(data, pa.RecordBatch) else data
        table = table if isinstance(table, pa.Table) else pa.table(table)

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with readable("the table"):
            yield from table.select(list(columns)).to_batches(max_chunksize=_BATCH_ROWS)

    return Source(tuple(table.column_names), batches)


def _open_csv(path: Path, delimiter: str | None) -> Source:
    import pyarrow.csv as pa_csv

    with pa.input_stream(str(path), compression="detect") as stream:
        head = stream.read(_PEEK_BYTES)
    # A character may be cut in two at the end of what was read.
    text = head.decode("utf-8-sig", errors="ignore")
    separator = delimiter or find_delimiter(text)
    names = tuple(next(csv.reader(io.StringIO(text, newline=""), delimiter=separator), ()))
    if not names:
        raise InputError(f"{path.name} cannot be read: it has no header")

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with readable(path.name):
            reader = pa_csv.open_csv(
                str(path),
                read_options=pa_csv.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES),
                parse_options=pa_csv.ParseOptions(
                    delimiter=separator,
                    newlines_in_values=True,
                    # In a file of one column an empty line is a row whose value is missing.
                    ignore_empty_lines=len(names) > 1,
                ),
                convert_options=pa_csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    include_columns=list(columns),
                    null_values=[""],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=True,
                ),
            )
            yield from reader

    return Source(names, batches)


def find_delimiter(text: str) -> str:
    r"""Choose the separator that cuts the first lines into equally many cells, the most of them.

    >>> find_delimiter('age;"pay, net"\n39;1\n')
    ';'
    """
    complete = text[: text.rfind("\n") + 1] or text

    def cells(separator: str) -> tuple[int, int]:
        reader = csv.reader(io.StringIO(complete, newline=""), delimiter=separator)
        widths = [len(row) for row, _ in zip(reader, range(50), strict=False) if row]
        # If no separator cuts evenly the header decides, and the reader then names the line.
        return (max(widths) if len(set(widths)) == 1 else 1, widths[0] if widths else 0)

    # The first of equals wins, so a table of one column is taken as comma-separated.
    return max(DELIMITERS, key=cells)


def _open_parquet(path: Path) -> Source:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        schema = file.schema_arrow

    # Text comes as the dictionaries the file holds: it is not spelt out to be counted.
    text = [field.name for field in schema if field.type in (pa.string(), pa.large_string())]

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with readable(path.name), pq.ParquetFile(path, read_dictionary=text) as file:
            # Not all at once: a batch would end at both ends of each row group.
            for group in range(file.num_row_groups):
                yield from file.iter_batches(
                    batch_size=_BATCH_ROWS,
                    row_groups=[group],
                    columns=list(columns),
                    use_threads=False,
                )

    return Source(tuple(schema.names), batches, _metadata(schema))


def _open_feather(path: Path) -> Source:
    with pa.OSFile(str(path)) as handle:
        schema = pa.ipc.open_file(handle).schema

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with readable(path.name), pa.OSFile(str(path)) as handle:
            reader = pa.ipc.open_file(handle)
            for number in range(reader.num_record_batches):
                batch = reader.get_batch(number)
                # A stranger's offsets may point anywhere; looking comes before touching.
                batch.validate(full=True)
                yield batch.select(list(columns))

    return Source(tuple(schema.names), batches, _metadata(schema))


def _metadata(schema: pa.Schema) -> tuple[str, ...]:
    keys = list(schema.metadata or {})
    keys += [key for field in schema for key in field.metadata or {}]
    names = (key.decode("utf-8", errors="replace") for key in keys)
    return tuple(name for name in names if name != "PARQUET:field_id")
