"""Files of SAS: what is in them is read as SAS shows it, and what is not all there is refused."""

import datetime as dt
import json
import re
from itertools import product
from types import SimpleNamespace

import pandas as pd
import pyreadstat
import pytest
import yaml
from typer.testing import CliRunner

from sfumato.cli.app import app
from sfumato.errors import InputError
from sfumato.files.reading import Reading
from sfumato.tables import open_table
from sfumato.tables.office import reader
from sfumato.verifier import office
from tests.tables.office_files import sas_catalogue, sas_file, sas_file_with_a_deleted_row

DAYS = """DATE9 DAY2 DDMMYY10 DDMMYYB10 DOWNAME9 JULDAY3 JULIAN7 MMDDYY10 MMDDYYN8 MMYY7 MMYYD7
    MONNAME3 MONTH2 MONYY7 QTR1 QTRR3 NENGO10 MINGUO10 HEBDATE16 WEEKDATE29 WEEKDATX29 WEEKDAY1
    WEEKU11 WEEKV11 WEEKW11 WORDDATE18 WORDDATX18 YEAR4 YYMM7 YYMMN6 YYMON7 YYMMDD10 YYMMDDN8 YYQ6
    YYQC6 YYQR6 YYQRC8 E8601DA10 B8601DA8 NLDATE20 NLDATEW20 EURDFDE9 EURDFDD10"""
MOMENTS = """DATETIME20 DATETIME22.3 DTDATE9 DTMONYY7 DTYEAR4 DTYYQC6 B8601DN8 B8601DT15 E8601DN10
    E8601DT19 E8601DZ20 E8601DX25 E8601LX26 DATEAMPM22 MDYAMPM25 NLDATM30 EURDFDT18 TOD8
    TIMEAMPM11"""
TIMES = "TIME8 TIME12.3 TOD8 HHMM5 TIMEAMPM11 E8601TM8 B8601TM6 NLTIME20"
NUMBERS = "BEST12 DOLLAR12.2 F8.2 COMMA10 HEX16 MYDATE9"


def write(path, columns, **options):
    pyreadstat.write_xport(pd.DataFrame(columns), str(path), **options)
    return path


def cells(path, reading=None):
    """Return the cells of a file as they are counted, and see that the verifier reads the same."""
    table = open_table(path, reading)
    found = {name: _all(table, name) for name in table.columns}
    form = office.form_of(path.read_bytes()[:100], path.suffix)
    judged = office.read_office(path, form, reading).table.to_pydict()
    assert found == judged
    return found


def _all(table, name):
    return [cell for batch in table._source.batches([name]) for cell in batch[name].to_pylist()]


def shown_as(folder, forms, number):
    """Return what a number is that is shown in each of some formats."""
    names = {f"c{at}": form for at, form in enumerate(forms.split())}
    columns = {name: [number, None] for name in names}
    found = cells(write(folder / "p.xpt", columns, variable_format=names))
    assert {cell for _, cell in found.values()} == {None}
    return {form: found[name][0] for name, form in names.items()}


@pytest.mark.usefixtures("patience")
def test_a_number_that_is_shown_as_a_date_or_a_part_of_one_is_a_day(tmp_path):
    found = shown_as(tmp_path, DAYS, 12054.0)
    assert found == dict.fromkeys(DAYS.split(), dt.date(1993, 1, 1))


@pytest.mark.usefixtures("patience")
def test_a_number_that_is_shown_as_a_moment_or_a_part_of_one_is_a_moment(tmp_path):
    found = shown_as(tmp_path, MOMENTS, 12054 * 86400 + 3661.0)
    assert found == dict.fromkeys(MOMENTS.split(), dt.datetime(1993, 1, 1, 1, 1, 1))


@pytest.mark.usefixtures("patience")
def test_a_number_that_is_shown_as_a_time_is_a_time(tmp_path):
    assert shown_as(tmp_path, TIMES, 3661.0) == dict.fromkeys(TIMES.split(), dt.time(1, 1, 1))


@pytest.mark.usefixtures("patience")
def test_a_number_that_is_shown_as_any_other_stays_one(tmp_path):
    assert shown_as(tmp_path, NUMBERS, 12054.0) == dict.fromkeys(NUMBERS.split(), 12054)


PEOPLE = {"age": [float(30 + i % 5) for i in range(40)], "town": ["Bonn", "Ulm"] * 20}


def several(folder, version):
    """Return a transport file of two tables, as PROC COPY of SAS writes it."""
    one = write(folder / "one.xpt", PEOPLE, table_name="DM", file_format_version=version)
    other = write(
        folder / "other.xpt", {"ill": ["flu", "gout"]}, table_name="AE", file_format_version=version
    ).read_bytes()
    begun = re.search(rb"HEADER RECORD\*{7}MEMB", other).start()
    path = folder / "both.xpt"
    path.write_bytes(one.read_bytes() + other[begun:])
    return path


def refusal(path, capsys):
    """Return what the reader says of a transport file before it reads rows; None if nothing."""
    try:
        reader._refuse_transport(path)
    except SystemExit:
        return json.loads(capsys.readouterr().err)["error"]
    return None


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("version", [5, 8])
def test_a_transport_file_of_several_tables_is_refused_with_their_names(tmp_path, capsys, version):
    """The rows of the second would be taken for rows of the first."""
    said = "holds 2 tables: DM, AE. Export each into a file of its own."
    path = several(tmp_path, version)
    assert refusal(path, capsys) == said
    if version == 5:
        with pytest.raises(InputError, match=re.escape(said)):
            open_table(path)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("version", [5, 8])
def test_a_transport_file_that_is_cut_off_anywhere_is_refused(tmp_path, capsys, version):
    """It has no end that would be missing: fewer rows would be read."""
    # Rows of 29 bytes end where a record ends only every 2320 bytes, and here are 1160.
    whole = {**PEOPLE, "name": [f"{i:017}" for i in range(40)]}
    path = write(tmp_path / "p.xpt", whole, file_format_version=version)
    raw = path.read_bytes()
    assert refusal(path, capsys) is None
    begun = re.search(rb"HEADER RECORD\*{7}OBS", raw).start() + 80
    for end in range(begun + 80, len(raw)):
        path.write_bytes(raw[:end])
        assert "It is cut off; export it again." in refusal(path, capsys)
    with pytest.raises(InputError, match=r"It is cut off; export it again"):
        open_table(path)


def test_any_whole_transport_file_is_read(tmp_path, capsys):
    path = tmp_path / "p.xpt"
    for version, rows, width in product((5, 8), (1, 2, 9, 80), (1, 8, 80, 81, 200)):
        columns = {"age": [30.0] * rows, "name": ["x" * width] * rows}
        write(path, columns, file_format_version=version)
        assert refusal(path, capsys) is None


@pytest.mark.usefixtures("patience")
def test_codes_of_missing_in_a_transport_file_are_missing_cells(tmp_path):
    path = write(tmp_path / "p.xpt", {"pay": [1.0, None, 3.0, None, None, None]})
    raw, missing = path.read_bytes(), b"." + bytes(7)
    assert raw.count(missing) == 4
    for code in (b"A", b"Z", b"_"):
        raw = raw.replace(missing, code + bytes(7), 1)
    path.write_bytes(raw)
    assert cells(path) == {"pay": [1, None, 3, None, None, None]}


def run(*given):
    return CliRunner().invoke(app, [str(each) for each in given])


def in_latin_1(folder):
    path = write(folder / "p.xpt", {**PEOPLE, "town": ["K?ln", "Ulm "] * 20})
    path.write_bytes(path.read_bytes().replace(b"K?ln", "Köln".encode("latin-1")))
    return path


@pytest.mark.usefixtures("patience")
def test_texts_in_an_encoding_that_nobody_named_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"as UTF-8, and a transport file does not declare") as it:
        open_table(in_latin_1(tmp_path))
    assert "input: {encoding: windows-1252}" in str(it.value)
    assert "damaged" not in str(it.value)


@pytest.mark.usefixtures("patience")
def test_texts_are_read_in_the_encoding_that_was_named(tmp_path):
    found = cells(in_latin_1(tmp_path), Reading(encoding="latin-1"))
    assert found["town"] == ["Köln", "Ulm"] * 20


@pytest.mark.usefixtures("patience")
def test_an_encoding_that_is_named_holds_for_the_input_and_not_for_the_release(tmp_path):
    """The codebook named values that no row had, and nothing was published."""
    path, policy = in_latin_1(tmp_path), tmp_path / "policy.yaml"
    columns = {"age": "quasi-identifier", "town": "quasi-identifier"}
    rules = {"version": 1, "columns": columns, "models": [{"model": "k-anonymity", "k": 2}]}
    policy.write_text(yaml.safe_dump(rules))
    said = ["--input", "encoding=latin-1"]
    done = run("anonymize", path, "-p", policy, "-o", tmp_path / "out", *said)
    assert done.exit_code == 0, done.output
    assert "Köln" in (tmp_path / "out" / "codebook.csv").read_text(encoding="utf-8")
    assert run("verify", tmp_path / "out", *said).exit_code == 0
    judged = run("verify", path, "-p", policy, *said, "--all")
    assert re.search(r"k-anonymity +holds", judged.output), judged.output


@pytest.mark.usefixtures("patience")
def test_a_file_of_sas_in_an_encoding_that_is_not_known_is_refused(tmp_path):
    path = sas_file(tmp_path / "people.sas7bdat")
    raw = bytearray(path.read_bytes())
    raw[70] = 255
    path.write_bytes(raw)
    with pytest.raises(InputError, match=r"it declares an encoding that is not known\. Save it in"):
        open_table(path)


@pytest.mark.usefixtures("patience")
def test_a_file_of_sas_that_declares_a_wrong_encoding_is_read_in_the_one_that_was_named(tmp_path):
    path = sas_file(tmp_path / "people.sas7bdat")
    raw = bytearray(path.read_bytes())
    raw[70] = 28  # ASCII
    path.write_bytes(raw)
    with pytest.raises(InputError, match=r"in the encoding that the file declares\. Name the enc"):
        open_table(path)
    assert "Köln" in cells(path, Reading(encoding="utf-8"))["town"]


def test_a_file_of_proc_cport_is_refused_with_a_way_out(tmp_path):
    path = tmp_path / "p.xpt"
    path.write_bytes(b"**COMPRESSED** " * 40)
    with pytest.raises(InputError, match=r"written by PROC CPORT of SAS, which only SAS reads"):
        open_table(path)


@pytest.mark.usefixtures("patience")
def test_rows_that_were_deleted_in_sas_are_not_read(tmp_path):
    path = sas_file_with_a_deleted_row(tmp_path / "people.sas7bdat")
    assert cells(path)["town"] == ["Köln", None, "Zürich", "Köln"]


def test_a_library_that_reads_deleted_rows_is_refused(tmp_path, monkeypatch):
    path = sas_file(tmp_path / "people.sas7bdat")
    monkeypatch.setattr("importlib.metadata.version", lambda _: "1.3.5")
    with pytest.raises(InputError, match=r"pyreadstat 1\.3\.5 also reads rows that were deleted"):
        open_table(path)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("name", ["people.sas7bcat", "formats.sas7bcat"])
def test_labels_of_a_catalogue_beside_a_file_of_sas_are_its_cells(tmp_path, name):
    path = sas_file(tmp_path / "people.sas7bdat")
    sas_catalogue(tmp_path / name)
    table = open_table(path)
    assert _all(table, "sex") == ["male", "female", "male", "female", "male"]
    assert table.variables["sex"].labels == {"1": "male", "2": "female", "9": "nobody"}


@pytest.mark.parametrize("form", ["SEXF", "SEXF.", "SEXF8", "SEXF8.", "SEXF8.2", "sexf8."])
def test_the_width_of_a_format_is_no_part_of_its_name(tmp_path, form):
    sas_catalogue(tmp_path / "people.sas7bcat")
    found = SimpleNamespace(original_variable_types={"sex": form, "age": "BEST12", "town": None})
    labels = reader._catalogue(tmp_path / "people.sas7bdat", found, {})
    assert labels == {"sex": {1: "male", 2: "female", 9: "nobody"}}


@pytest.mark.usefixtures("patience")
def test_a_catalogue_that_is_damaged_is_refused_with_a_way_out(tmp_path):
    path = sas_file(tmp_path / "people.sas7bdat")
    catalogue = sas_catalogue(tmp_path / "people.sas7bcat")
    catalogue.write_bytes(catalogue.read_bytes()[:700])
    with pytest.raises(
        InputError, match=r"has value labels in people\.sas7bcat, which cannot"
    ) as e:
        open_table(path)
    assert "move it into another folder" in str(e.value)
