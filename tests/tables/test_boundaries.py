"""However many batches and row groups rows are cut into, a release is the same and verifies.

Everything that is done some rows at a time is done a few at a time here, so that small tables cross
every boundary that a table of millions crosses.
"""

from collections import Counter
from contextlib import contextmanager

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.decouplings import merging
from sfumato.tables import derived
from sfumato.tables.arrow import counting, delimited, publishing, sets, sources, table
from sfumato.tables.arrow.table import ArrowTable
from sfumato.tables.formats import FORMATS, written_formats
from sfumato.tables.office import source as office
from sfumato.verifier import counting as recounting

SIZE = 8
"""Rows at a time."""

ROWS_AT_A_TIME = {
    (sources, "BATCH_ROWS"): SIZE,
    (publishing, "BATCH_ROWS"): SIZE,
    (table, "BATCH_ROWS"): SIZE,
    (office, "BATCH_ROWS"): SIZE,
    (publishing, "SLICE"): SIZE,
    (publishing, "AT_ONCE"): 2 * SIZE,
    (derived, "SLICE"): SIZE,
    (derived, "_AT_ONCE"): 2 * SIZE,
    (merging, "SLICE"): SIZE,
    (sets, "_ROW_GROUP"): SIZE,
    (counting, "_COMPACT"): SIZE,
    (sources, "_FIRST"): SIZE // 2,
    (delimited, "_BLOCK"): 64,
    (recounting, "_BATCH_ROWS"): SIZE - 1,
    (recounting, "_UNCOUNTED"): SIZE,
    (recounting, "_PENDING"): SIZE,
    (recounting, "_WAITING"): 64,
}

SIZES = (SIZE - 1, SIZE, SIZE + 1, 2 * SIZE, 5 * SIZE + 1)
FULL_DOMAIN = ("full-domain", "regional")
METHODS = ("full-domain", "top-down", "regional", "bottom-up", "mondrian", "mdav")
DECOUPLINGS = (
    "break-merge",
    {"method": "anatomy", "l": 2},
    {"method": "bucketization", "l": 2},
    {"method": "slicing", "l": 2},
    "association-hiding",
)


@pytest.fixture
def cut(monkeypatch):
    """Return a context in which rows are cut into pieces of a few, and wait on disk if asked."""

    @contextmanager
    def pieces(*, on_disk=False):
        with monkeypatch.context() as patch:
            for (module, name), rows in ROWS_AT_A_TIME.items():
                patch.setattr(module, name, rows)
            if on_disk:
                patch.setitem(ArrowTable.__init__.__kwdefaults__, "budget", 1)
            yield

    return pieces


def people(n):
    """Make a table of whose values some are in few rows, so that most row groups lack them."""
    city = ["Asti", "Asti", *["Pisa", "Rome"] * n]
    ill = ["hiv", "flu", *["gout", "flu", "cold", "gout", None] * n]
    note = ["seldom", *["a", "a", "b", None] * n]
    age = [40, 40, *[30] * n]
    columns = {"city": city, "age": age, "ill": ill, "note": note}
    return pa.table({name: values[:n] for name, values in columns.items()})


def write_people(folder, n):
    path = folder / f"people {n}.parquet"
    pq.write_table(people(n), path, row_group_size=SIZE + 3)
    return path


def policy(method, note="dropped"):
    return sf.Policy(
        columns={
            "city": "quasi-identifier",
            "age": {"role": "quasi-identifier", "hierarchy": "star"},
            "ill": "sensitive",
            "note": note,
        },
        models=[sf.models.KAnonymity(2), sf.models.DistinctLDiversity("ill", l=2)],
        method=method,
    )


def read(path):
    """Read a table with other people's code; every cell is text, and missing if it is empty."""
    if path.suffix == ".csv":
        frame = pd.read_csv(path, dtype=str)
    elif path.suffix == ".xlsx":
        frame = pd.read_excel(path, dtype=str, engine="calamine")
    elif path.suffix == ".dta":
        frame = pd.read_stata(path)
    elif path.suffix == ".sav":
        frame = pd.read_spss(path)
    elif path.suffix == ".feather":
        frame = pyarrow.feather.read_table(path).to_pandas()
    else:
        frame = pq.read_table(path).to_pandas()
    rows = zip(*(map(text, frame[name]) for name in frame.columns), strict=True)
    return list(frame.columns), Counter(rows)


def text(value):
    if pd.isna(value) or value == "":
        return None
    return f"{value:g}" if isinstance(value, float) else str(value)


def count_pieces(path):
    """Count the pieces a file is of, and look into each for values that none of its rows has."""
    if path.suffix == ".parquet":
        names = pq.read_schema(path).names
        with pq.ParquetFile(path, read_dictionary=names) as file:
            for number in range(file.metadata.num_row_groups):
                group = file.read_row_group(number)
                assert 0 < group.num_rows <= SIZE, path
                for name in names:
                    for chunk in group[name].chunks:
                        if pa.types.is_dictionary(chunk.type):
                            known = chunk.dictionary.to_pylist()
                            assert sorted(known) == sorted({*chunk.to_pylist()} - {None}), name
            return file.metadata.num_row_groups
    if path.suffix == ".feather":
        with pa.OSFile(str(path)) as handle:
            reader = pa.ipc.open_file(handle)
            assert not any(map(pa.types.is_dictionary, reader.schema.types))
            for number in range(reader.num_record_batches):
                assert 0 < reader.get_batch(number).num_rows <= SIZE
            return reader.num_record_batches
    return None


def check_pieces(folder, manifest, n):
    """Look into all files of a release; the first has n rows, or counts as many."""
    for number, file in enumerate(manifest.files):
        pieces = count_pieces(folder / file.name)
        columns, rows = read(folder / file.name)
        assert rows.total() == file.rows
        if number == 0 and "count" not in columns:
            assert file.rows == n
            assert pieces is None or pieces >= n / SIZE


def check_rows(folder, cut, method, form, n):
    data = write_people(folder, n)
    # What a model looks at is counted, and published without being read again; notes are not.
    for note, on_disk in (("dropped", False), ("sensitive", False), ("plain", True)):
        rule = policy(method, note)
        target, whole = folder / f"{note} {n}", sf.anonymize(data, rule)
        with cut(on_disk=on_disk):
            # The verifier reads it in pieces, too, or it would not be there.
            made = sf.anonymize(data, rule, output=target, format=form, force=True)
        check_pieces(target, made.manifest, n)
        columns, rows = read(target / made.manifest.files[0].name)
        expected = Counter(tuple(map(text, row.values())) for row in whole.table.to_pylist())
        if note == "plain" and method not in FULL_DOMAIN:
            # Which note goes with which of rows that are alike is drawn.
            assert each_column(columns, rows) == each_column(columns, expected)
        else:
            assert rows == expected


def check_tables(folder, cut, method, form, n):
    data, target = write_people(folder, n), folder / f"tables {n}"
    with cut():
        made = sf.decouple(
            data,
            method,
            quasi_identifiers=["city", "age"],
            sensitive=["ill"],
            output=target,
            format=form,
            force=True,
        )
    check_pieces(target, made.manifest, n)
    found = {}
    for file in made.manifest.files:
        columns, rows = read(target / file.name)
        found |= each_column(columns, rows)
    for name, values in people(n).to_pydict().items():
        if name != "note" and "*" not in found[name]:
            assert found[name] == Counter(map(text, values))


def each_column(columns, rows):
    """Count the values of each column, each as often as its row is counted."""
    found = {name: Counter() for name in columns}
    for row, n in rows.items():
        cells = dict(zip(columns, row, strict=True))
        for name, value in cells.items():
            found[name][value] += n * int(cells.get("count", 1))
    return found


@pytest.mark.usefixtures("patience")
def test_rows_in_many_pieces_are_the_rows_in_one(tmp_path, cut):
    for method in METHODS[:2]:
        check_rows(tmp_path, cut, method, "parquet", 5 * SIZE)


def test_decoupled_tables_in_many_pieces_are_the_tables_in_one(tmp_path, cut):
    check_tables(tmp_path, cut, DECOUPLINGS[0], "parquet", 5 * SIZE)


@pytest.mark.parametrize(
    "form", [form for form in written_formats() if not FORMATS[form].needs_office]
)
@pytest.mark.parametrize("n", SIZES)
def test_no_number_of_rows_shows_in_a_release(patience, tmp_path, cut, form, n):
    for method in METHODS:
        check_rows(tmp_path, cut, method, form, n)
    for method in DECOUPLINGS:
        check_tables(tmp_path, cut, method, form, n)


@pytest.mark.parametrize("form", [form for form in written_formats() if FORMATS[form].needs_office])
def test_nor_does_it_in_files_of_offices(patience, tmp_path, cut, form):
    # They are read in processes of their own, which takes long.
    check_rows(tmp_path, cut, METHODS[0], form, 2 * SIZE)
    check_tables(tmp_path, cut, DECOUPLINGS[0], form, 2 * SIZE)
