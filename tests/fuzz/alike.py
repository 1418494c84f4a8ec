"""What two release folders differ in, apart from the random order of rows.

Every file is compared byte for byte. Where the order of rows moves bytes about, these and only
these are left out: the order of the rows of a data file (not the rows, their types, labels or
groups), the size that compression gives it, hashes of such a file and of the manifest that holds
them, and when a file of SPSS or Stata was written.
"""

import csv
import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from tests.fuzz.canaries import parquet_pages

Facts = dict[str, Any]
"""What there is to compare of a file, by where it is; most telling first."""


def differences(one: Path, other: Path, *, told: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield each place in which two folders differ, with both sides.

    Args:
        one: A folder.
        other: Another one.
        told: Patterns that the reader is told anyway, by file name, such as a number of rows.
    """
    names = [sorted(str(p.relative_to(f)) for p in f.rglob("*")) for f in (one, other)]
    if names[0] != names[1]:
        yield f"file names: {names[0]} | {names[1]}"
        return
    found = [facts_of_folder(folder, told or {}) for folder in (one, other)]
    yield from differing(*found)


def differing(one: Any, other: Any, place: str = "") -> Iterator[str]:
    """Yield where two plain values differ, as deep as both have the same shape."""
    if isinstance(one, dict) and isinstance(other, dict):
        if set(one) != set(other):
            yield f"{place or 'keys'}: {list(one)} | {list(other)}"
            return
        for key in one:
            yield from differing(one[key], other[key], f"{place}/{key}" if place else str(key))
        if list(one) != list(other):
            yield f"{place or 'keys'} in another order: {list(one)} | {list(other)}"
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for i, pair in enumerate(zip(one, other, strict=True)):
            yield from differing(*pair, f"{place}/{i}")
    elif one != other or type(one) is not type(other):
        yield f"{place}: {shown(one, other)} | {shown(other, one)}"


def shown(value: Any, beside: Any) -> str:
    """Return the part of a value that the other has not."""
    if isinstance(value, list | tuple):
        text = str(list((Counter(map(str, value)) - Counter(map(str, beside))).elements()))
    elif isinstance(value, str) and isinstance(beside, str):
        lines = beside.splitlines()
        text = str([line for line in value.splitlines() if line not in lines] or value[-200:])
    else:
        text = str(value)
    return text if len(text) < 600 else f"{text[:600]}…"


def facts_of_folder(folder: Path, told: Mapping[str, str]) -> Facts:
    """Return all that a folder tells, data first."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    data = {file["name"]: file.get("sha256") for file in manifest.get("files", ())}
    facts: Facts = {name: facts_of_data(folder / name) for name in data}
    hashes = {value: f"hash of {name}" for name, value in data.items() if value}
    rest = sorted(p for p in folder.rglob("*") if p.is_file() and p.name not in data)
    for path in sorted(rest, key=lambda p: (p.suffix != ".json", p.name == "evidence.json")):
        facts[path.name] = facts_of_text(path, hashes, list(data), told)
    return facts


def facts_of_text(
    path: Path, hashes: Mapping[str, str], data: list[str], told: Mapping[str, str]
) -> Any:
    """Return the text of a file without hashes of data files, and what the reader is told."""
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return path.read_bytes()
    for value, name in hashes.items():
        text = text.replace(value, name)
    if path.name == "evidence.json":
        # Compressed rows have another size in another order, and manifests hold hashes of data.
        for name in data:
            entry = rf'("name":"{re.escape(name)}","sha256":"[^"]*","size":)\d+'
            text = re.sub(entry, r"\1 0", text)
        text = re.sub(r'("name":"manifest.json","sha256":")[^"]*', r"\1hash", text)
        for name in told:
            text = re.sub(rf'("name":"{re.escape(name)}","sha256":")[^"]*(","size":)\d+',
                          r"\1hash\2 0", text)  # fmt: skip
    if pattern := told.get(path.name):
        text = re.sub(pattern, '"told": 0' if path.suffix == ".json" else "", text)
    if path.suffix == ".json":
        if path.name == "manifest.json":
            for name in told:
                entry = rf'("name": "{re.escape(name)}",\s*"sha256": ")[^"]*'
                text = re.sub(entry, r"\1hash", text)
        return {"parsed": json.loads(text), "text": text}
    return text


# Data files.


def facts_of_data(path: Path) -> Facts:
    """Return what a data file holds, whatever the order of its rows."""
    kinds = {
        ".csv": facts_of_csv,
        ".parquet": facts_of_parquet,
        ".feather": facts_of_feather,
        ".sav": facts_of_sav,
        ".dta": facts_of_dta,
        ".xlsx": facts_of_xlsx,
    }
    return kinds[path.suffix](path)


def facts_of_rows(names: list[str], rows: list[tuple[Any, ...]]) -> Facts:
    """Return columns and rows in an order of their own."""
    columns = {
        f"column {name}": tuple(sorted(repr(row[i]) for row in rows))
        for i, name in enumerate(names)
    }
    return {**columns, "rows": tuple(sorted(map(repr, rows)))}


def facts_of_csv(path: Path) -> Facts:
    text = path.read_bytes().decode("utf-8")
    records = list(raw_records(text))
    rows = [tuple(row) for row in csv.reader(io.StringIO(text, newline=""))]
    found = facts_of_rows(list(rows[0]), rows[1:])
    return {**found, "header": records[0], "records": tuple(sorted(records[1:]))}


def raw_records(text: str) -> Iterator[str]:
    """Return records as they are written, with quotes and line ends."""
    start = at = 0
    quoted = False
    for at, char in enumerate(text):
        quoted ^= char == '"'
        if char == "\n" and not quoted:
            yield text[start : at + 1]
            start = at + 1
    if start < len(text):
        yield text[start:]


def facts_of_table(table: pa.Table) -> Facts:
    plain = [
        column.combine_chunks().dictionary_decode()
        if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]  # fmt: skip
    rows = list(zip(*(column.to_pylist() for column in plain), strict=True))
    return facts_of_rows(table.column_names, rows)


def facts_of_schema(schema: pa.Schema) -> Facts:
    return {
        "types": {field.name: [str(field.type), field.nullable] for field in schema},
        "metadata of columns": {field.name: str(field.metadata) for field in schema},
        "metadata": str(schema.metadata),
    }


def dictionaries_of(table: pa.Table) -> Facts:
    """Return the entries of each dictionary, also those that no row uses."""
    return {
        name: sorted(repr(v) for chunk in column.chunks for v in chunk.dictionary.to_pylist())
        for name, column in zip(table.column_names, table.columns, strict=True)
        if pa.types.is_dictionary(column.type)
    }


def facts_of_parquet(path: Path) -> Facts:
    file = pa.parquet.ParquetFile(path)
    meta = file.metadata
    chunks = [
        {
            "path": chunk.path_in_schema,
            "type": chunk.physical_type,
            "compression": chunk.compression,
            "encodings": sorted(chunk.encodings),
            "values": chunk.num_values,
            "statistics": str(chunk.statistics and chunk.statistics.to_dict()),
            "sorted": str(meta.row_group(group).sorting_columns),
        }
        for group in range(meta.num_row_groups)
        for chunk in map(meta.row_group(group).column, range(meta.num_columns))
    ]
    table = file.read()
    sizes = Counter(len(plain) for _, plain in parquet_pages(path))
    return {
        **facts_of_table(table),
        **facts_of_schema(table.schema),
        "dictionaries": dictionaries_of(table),
        "groups": [meta.row_group(i).num_rows for i in range(meta.num_row_groups)],
        "chunks": chunks,
        "pages": sum(sizes.values()),
        "file": [
            meta.created_by,
            meta.format_version,
            str(meta.metadata and sorted(meta.metadata)),
        ],
    }


def facts_of_feather(path: Path) -> Facts:
    with pa.ipc.open_file(path) as reader:
        batches = [reader.get_batch(i) for i in range(reader.num_record_batches)]
        table = pa.Table.from_batches(batches, reader.schema)
    return {
        **facts_of_table(table),
        **facts_of_schema(table.schema),
        "dictionaries": dictionaries_of(table),
        "batches": [batch.num_rows for batch in batches],
    }


def facts_of_sav(path: Path) -> Facts:
    import pyreadstat

    rows, meta = pyreadstat.read_sav(str(path), output_format="dict", user_missing=True)
    data = path.read_bytes()
    # The dictionary ends with record 999; after it there are only rows.
    end = data.index(b"\xe7\x03\x00\x00\x00\x00\x00\x00")
    # From byte 92 to 108 it says when it was written.
    return {**facts_of_statistics(rows, meta), "dictionary": data[:92] + data[109:end]}


def facts_of_dta(path: Path) -> Facts:
    import pyreadstat

    rows, meta = pyreadstat.read_dta(str(path), output_format="dict", user_missing=True)
    data = path.read_bytes()
    head, _, rest = data.partition(b"<data>")
    head = re.sub(rb"<timestamp>.*</timestamp>", b"", head, flags=re.DOTALL)
    # Long texts stand in the order of rows.
    tail = re.sub(rb"<strls>.*</strls>", b"", rest.partition(b"</data>")[2], flags=re.DOTALL)
    return {**facts_of_statistics(rows, meta), "head": head, "tail": tail}


def facts_of_statistics(rows: Mapping[str, Any], meta: Any) -> Facts:
    cells = list(zip(*(list(column) for column in rows.values()), strict=True))
    return {
        **facts_of_rows(list(rows), cells),
        **{
            name: str(getattr(meta, name))
            for name in (
                "variable_value_labels", "column_names_to_labels", "value_labels",
                "original_variable_types", "readstat_variable_types", "variable_storage_width",
                "variable_display_width", "variable_alignment", "variable_measure",
                "missing_ranges", "missing_user_values", "file_label", "notes", "table_name",
                "file_encoding",
            )
        },
    }  # fmt: skip


def facts_of_xlsx(path: Path) -> Facts:
    """Return cells, and every part of the file; of sheets and texts without the order of rows."""
    with zipfile.ZipFile(path) as packed:
        parts = {name: packed.read(name).decode("utf-8") for name in packed.namelist()}
        found: Facts = {"members": [(each.filename, each.date_time) for each in packed.infolist()]}
    texts = re.findall(r"<si>.*?</si>", parts.get("xl/sharedStrings.xml", ""), re.DOTALL)
    for name, text in parts.items():
        if name == "xl/sharedStrings.xml":
            found[name] = tuple(sorted(texts))
        elif "/worksheets/" not in name:
            found[name] = text
        else:
            header, *rows = [cells_of(row, texts) for row in re.findall(r"<row .*?</row>", text)]
            names = [re.sub(r"<.*?>|.*=\"s\"", "", cell) for cell in header.values()]
            cells = [tuple(row.get(column) for column in header) for row in rows]
            around = re.sub(r"<sheetData>.*</sheetData>", "", text, flags=re.DOTALL)
            found = {**facts_of_rows(names, cells), f"{name} around": around, **found}
    return found


def cells_of(row: str, texts: list[str]) -> dict[str, str]:
    """Return the cells of a row as they are written, by their column; texts in place of numbers."""
    found = {}
    for column, attributes, inside in re.findall(
        r'<c r="([A-Z]+)\d+"([^>]*?)(?:/>|>(.*?)</c>)', row, re.DOTALL
    ):
        number = re.fullmatch(r"<v>(\d+)</v>", inside)
        shared = 't="s"' in attributes and number is not None
        found[column] = attributes + (texts[int(number[1])] if shared else inside)
    return found
