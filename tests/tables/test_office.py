"""Files of SPSS, Stata, SAS and Excel: what comes in comes out, except what was generalised."""

import csv
import datetime as dt
import hashlib
import json
import secrets
import warnings
import zipfile
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
import python_calamine
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError, MissingExtraError, OutputError
from sfumato.tables import open_table
from sfumato.tables.office import source as office_source
from sfumato.tables.office.source import MISSING
from sfumato.tables.office.writing import OfficeWriter
from sfumato.tables.variables import Variable
from sfumato.verifier import verify_folder
from tests.tables.office_files import (
    ods_file,
    people,
    sas_file,
    write_dta,
    write_sav,
    write_xlsx,
    xls_file,
)
from tests.warm import warm_readers

pytestmark = pytest.mark.usefixtures("patience")

DAY, SEEN = "admitted_to_hospital_on_this_day", "seen"
KEPT = {"plain": ["income", DAY, SEEN, "town"]}


def release(path, out, *, qi=("state", "sex"), plain=None, sensitive=("ill",), k=2, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sf.anonymize(
            path,
            quasi_identifiers=list(qi),
            sensitive=list(sensitive),
            plain=KEPT["plain"] if plain is None else plain,
            k=k,
            output=out,
            **options,
        )


def read_back(path):
    read = pyreadstat.read_sav if path.suffix == ".sav" else pyreadstat.read_dta
    return read(str(path), user_missing=True, output_format="dict")


def rows_of(columns, names):
    return Counter(zip(*(map(str, columns[name]) for name in names), strict=True))


@pytest.fixture(scope="module")
def spss(tmp_path_factory):
    """A file, its release as .sav, and what pyreadstat reads in both."""
    folder = tmp_path_factory.mktemp("spss")
    write_sav(folder / "people.sav")
    made = release(folder / "people.sav", folder / "out")
    return made, folder, read_back(folder / "people.sav"), read_back(folder / "out" / "data.sav")


@pytest.fixture(scope="module")
def stata(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stata")
    write_dta(folder / "people.dta")
    made = release(folder / "people.dta", folder / "out")
    return made, folder, read_back(folder / "people.dta"), read_back(folder / "out" / "data.dta")


@pytest.mark.parametrize("files", ["spss", "stata"])
def test_rows_come_out_as_they_came_in(files, request):
    made, _, (raw, _), (out, _) = request.getfixturevalue(files)
    assert made.levels == {"state": 0, "sex": 0}
    assert made.manifest.rows.suppressed == 0
    names = ["state", "sex", "income", DAY, SEEN, "town", "ill"]
    tidy = {name: [float(v) if isinstance(v, int) else v for v in raw[name]] for name in names}
    back = {name: [float(v) if isinstance(v, int) else v for v in out[name]] for name in names}
    assert rows_of(tidy, names) == rows_of(back, names)
    # In another order, or the release would show the file's.
    assert list(map(str, raw["income"])) != list(map(str, out["income"]))


@pytest.mark.parametrize("files", ["spss", "stata"])
def test_labels_and_formats_are_kept_and_nothing_else_of_the_dictionary(files, request):
    _, folder, (_, given), (_, found) = request.getfixturevalue(files)
    names = found.column_names
    assert found.column_names_to_labels == {n: given.column_names_to_labels[n] for n in names}
    assert found.original_variable_types[DAY] == given.original_variable_types[DAY]
    assert found.original_variable_types[SEEN] == given.original_variable_types[SEEN]
    states = {1: "Bayern", 2: "Hessen", 3: "Thüringen", 4: "Köln/Bonn"}
    assert found.variable_value_labels["state"] == states  # no one lives in Atlantis
    assert set(found.variable_value_labels["income"].values()) == {"verweigert", "weiß nicht"}
    assert not found.file_label
    assert not found.notes
    for file in (folder / "out").iterdir():
        text = file.read_bytes()
        assert b"SECRET" not in text.upper()
        assert b"Atlantis" not in text
        assert b"nie gefragt" not in text


def test_codes_of_missing_are_declared_as_far_as_they_occur(spss, stata):
    _, _, (_, given), (columns, found) = spss
    assert found.missing_ranges == {"income": [{"lo": -9, "hi": -9}, {"lo": -8, "hi": -8}]}
    assert Counter(columns["income"])[-9.0] == 6
    assert columns["income"].count(None) == 3
    assert found.variable_storage_width["town"] == given.variable_storage_width["town"] > 12
    assert found.variable_measure["state"] == "nominal"
    _, _, _, (columns, found) = stata
    assert sorted(found.missing_user_values["income"]) == ["a", "b"]
    assert columns["income"].count("a") == 6


def test_cells_are_labels_where_every_value_has_one(spss):
    _, folder, *_ = spss
    table = open_table(folder / "people.sav")
    assert table.kind == "sav"
    [counts] = table.domains(["state"]).values()
    assert sorted(counts.values()) == ["Bayern", "Hessen", "Köln/Bonn", "Thüringen"]
    # One label among many numbers: an age, not a category.
    assert table.type_of("age") == pa.int64()
    assert table.type_of(DAY) == pa.date32()
    assert table.type_of(SEEN) == pa.timestamp("ms")
    assert table.domains(["income"])["income"].missing == 12


def test_the_codebook_says_what_is_published_and_nothing_of_what_is_not(spss):
    _, folder, *_ = spss
    text = (folder / "out" / "codebook.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    said = {name: rows[0][name] for name in ("column", "entry", "role", "description", "code")}
    assert said == {
        "column": "state", "entry": "column", "role": "quasi-identifier",
        "description": "Bundesland – Wohnsitz", "code": "",
    }  # fmt: skip
    told = {(r["column"], r["code"]): (r["label"], r["entry"]) for r in rows if r["code"]}
    assert told["state", "3"] == ("Thüringen", "value")
    assert told["income", "-9"] == ("verweigert", "missing")
    assert ("state", "5") not in told
    assert ("income", "-7") not in told
    assert verify_folder(folder / "out").holds


def test_the_verifier_finds_a_codebook_that_tells_more(spss, tmp_path):
    _, folder, *_ = spss
    for file in (folder / "out").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    with (tmp_path / "codebook.csv").open("a", encoding="utf-8") as file:
        file.write("data.sav,state,value,Atlantis,,,,,,1,,,,,,5,Atlantis\n")
    verdict = verify_folder(tmp_path)
    broken = [check.name for check in verdict.checks if check.status == "broken"]
    assert broken == ["sha256", "codebook"]


def _forge(spss, tmp_path, **options):
    """Write the same rows again with something beside them, with a manifest that fits."""
    _, folder, _, (columns, found) = spss
    for file in (folder / "out").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    frame = pd.DataFrame(columns)
    given = {
        "variable_value_labels": found.variable_value_labels,
        "missing_ranges": found.missing_ranges,
        **options,
    }
    change = given.pop("change", None)
    if change:
        change(frame)
    for name in (DAY, SEEN):
        frame = frame.drop(columns=name)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    manifest["columns"] = [c for c in manifest["columns"] if c["name"] not in (DAY, SEEN)]
    pyreadstat.write_sav(frame, str(tmp_path / "data.sav"), **given)

    manifest["files"][0]["sha256"] = hashlib.sha256(
        (tmp_path / "data.sav").read_bytes()
    ).hexdigest()
    del manifest["documents"]
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    for name in ("codebook.csv", "evidence.json"):
        (tmp_path / name).unlink()
    verdict = verify_folder(tmp_path)
    return {check.name: check.detail for check in verdict.checks if check.status == "broken"}


def test_the_verifier_finds_labels_of_values_that_no_row_has(spss, tmp_path):
    labels = {"state": {1: "Bayern", 2: "Hessen", 3: "T", 4: "K", 5: "Atlantis"}}
    broken = _forge(spss, tmp_path, variable_value_labels=labels)
    assert "labels of values that no row has: ['5']" in broken["metadata"]


def test_the_verifier_finds_notes(spss, tmp_path):
    assert "notes" in _forge(spss, tmp_path, note="by Dr. Secret")["metadata"]


def test_the_verifier_finds_kinds_of_missing_that_tell_people_apart(spss, tmp_path):
    def change(frame):
        frame.loc[0, "sex"], frame.loc[1, "sex"] = -1.0, -2.0

    broken = _forge(spss, tmp_path, change=change, missing_ranges={"sex": [-1, -2]})
    assert "'sex', a quasi-identifier, has 2 kinds of missing" in broken["metadata"]


@pytest.mark.parametrize("codes", [[-9], [-9, -8]])
def test_a_quasi_identifier_shows_a_code_of_missing_only_if_it_tells_no_one_apart(codes, tmp_path):
    frame = people(80)
    frame.loc[: 10 * len(codes) - 1, "sex"] = np.repeat(codes, 10).astype(float)
    write_sav(
        tmp_path / "people.sav",
        frame,
        variable_value_labels={"sex": {1: "männlich", 2: "weiblich", -9: "verweigert", -8: "?"}},
        missing_ranges={"sex": codes},
    )
    release(tmp_path / "people.sav", tmp_path / "out", qi=["sex"], plain=[])
    columns, found = read_back(tmp_path / "out" / "data.sav")
    met = Counter(columns["sex"])
    if len(codes) == 1:
        assert met[-9.0] == 10
        assert found.variable_value_labels["sex"][-9.0] == "verweigert"
        assert found.missing_ranges == {"sex": [{"lo": -9.0, "hi": -9.0}]}
    else:
        assert met[None] == 20
        assert found.variable_value_labels == {"sex": {1.0: "männlich", 2.0: "weiblich"}}
        assert found.missing_ranges == {}


def test_generalised_columns_are_text_and_keep_their_variable_label(tmp_path):
    write_sav(tmp_path / "people.sav")
    made = release(tmp_path / "people.sav", tmp_path / "out", qi=["age"], plain=["state"], k=10)
    assert made.levels["age"] > 0
    columns, found = read_back(tmp_path / "out" / "data.sav")
    assert all(isinstance(each, str) for each in columns["age"])
    assert found.column_names_to_labels["age"] == "Alter in Jahren"
    assert "age" not in found.variable_value_labels
    assert set(columns["state"]) == {1.0, 2.0, 3.0, 4.0}


@pytest.mark.parametrize("form", ["csv", "parquet", "xlsx", "dta"])
def test_a_release_of_an_spss_file_in_another_format_says_the_same(form, tmp_path):
    write_sav(tmp_path / "people.sav")
    release(tmp_path / "people.sav", tmp_path / "out", format=form)
    again = open_table(tmp_path / "out" / f"data.{form}")
    raw = open_table(tmp_path / "people.sav")
    names = ["state", "sex", "ill"]
    count = {tuple(map(str, c)): n for c, n in _counts(again, names).items()}
    assert count == {tuple(map(str, c)): n for c, n in _counts(raw, names).items()}
    assert "Thüringen" in (tmp_path / "out" / "codebook.csv").read_text(encoding="utf-8")
    if form == "dta":
        columns, found = read_back(tmp_path / "out" / "data.dta")
        assert found.variable_value_labels["income"] == {"a": "verweigert", "b": "weiß nicht"}
        assert columns["income"].count("a") == 6


def _counts(table, names):
    found = table.count(names)
    columns = [found.column(name).values for name in names]
    codes = [found.codes_of(name) for name in names]
    return {
        tuple(values[code] for values, code in zip(columns, combination, strict=True)): int(rows)
        for *combination, rows in zip(*codes, found.rows, strict=True)
    }


def test_letters_of_stata_become_numbers_of_spss_with_their_labels(tmp_path):
    write_dta(tmp_path / "people.dta")
    release(tmp_path / "people.dta", tmp_path / "out", format="sav")
    columns, found = read_back(tmp_path / "out" / "data.sav")
    labels = {label: code for code, label in found.variable_value_labels["income"].items()}
    assert columns["income"].count(labels["verweigert"]) == 6
    assert columns["income"].count(labels["weiß nicht"]) == 3
    declared = {each["lo"] for each in found.missing_ranges["income"]}
    assert declared == set(labels.values())


def test_a_file_of_sas_is_read_with_dates_and_kinds_of_missing(tmp_path):
    table = open_table(sas_file(tmp_path / "people.sas7bdat"))
    assert table.kind == "sas7bdat"
    assert table.columns == ("sex", "born", "income", "town", "seen")
    assert _counts(table, ["born", "income", "town"]) == {
        (dt.date(1937, 1, 10), 1200.5, "Köln"): 1,
        (dt.date(1937, 1, 10), None, "Bonn"): 1,
        (dt.date(1960, 1, 1), None, None): 1,
        (dt.date(2020, 3, 1), None, "Zürich"): 1,
        (dt.date(1960, 1, 2), 3.0, "Köln"): 1,
    }
    assert table.variables["sex"].label == "Geschlecht"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sf.anonymize(
            tmp_path / "people.sas7bdat", quasi_identifiers=["sex"], plain=["income", "born"], k=2,
            output=tmp_path / "out",
        )  # fmt: skip
    columns, found = read_back(tmp_path / "out" / "data.dta")
    assert sorted(each for each in columns["income"] if isinstance(each, str)) == ["a", "b"]
    assert found.original_variable_types["born"] == "%td"


def test_a_transport_file_of_sas_is_read(tmp_path):
    frame = pd.DataFrame(
        {"sex": [1.0, 2.0, None], "born": [-8391.0, 0.0, 1.0], "town": list("abc")}
    )
    pyreadstat.write_xport(
        frame, str(tmp_path / "p.xpt"), variable_format={"born": "DATE9."},
        column_labels={"sex": "Sex"},
    )  # fmt: skip
    table = open_table(tmp_path / "p.xpt")
    assert table.variables["sex"].label == "Sex"
    assert set(_counts(table, ["sex", "born"])) == {
        (1, dt.date(1937, 1, 10)), (2, dt.date(1960, 1, 1)), (None, dt.date(1960, 1, 2)),
    }  # fmt: skip


# Excel.


ROWS = [
    ["age", "born", "code", "note", "ill"],
    [31, dt.date(1937, 1, 10), "007", "9-11", "flu"],
    [31, dt.date(1990, 12, 1), "7", "=1+1", "gout"],
    [45, None, "9-11", None, "flu"],
    [45, dt.date(2001, 2, 28), "x", "a", "none"],
]


def test_a_sheet_keeps_types_and_its_release_has_neither_formulas_nor_dates_of_texts(tmp_path):
    write_xlsx(tmp_path / "people.xlsx", ROWS)
    table = open_table(tmp_path / "people.xlsx")
    assert [str(table.type_of(name)) for name in table.columns] == [
        "int64", "date32[day]", "string", "string", "string",
    ]  # fmt: skip
    release(tmp_path / "people.xlsx", tmp_path / "out", qi=["age"], plain=["born", "code", "note"])
    out = tmp_path / "out" / "data.xlsx"
    sheet = python_calamine.load_workbook(str(out)).get_sheet_by_index(0).to_python()
    assert sheet[0] == ROWS[0]
    wanted = [["" if cell is None else cell for cell in row] for row in ROWS[1:]]
    assert sorted(map(str, sheet[1:])) == sorted(str([float(row[0]), *row[1:]]) for row in wanted)
    with zipfile.ZipFile(out) as archive:
        for name in archive.namelist():
            text = archive.read(name)
            assert b"Secret" not in text
            assert b"SECRET" not in text
            assert b"<f>" not in text
    assert verify_folder(tmp_path / "out").holds


def _sheets(*rows, **options):
    def write(path):
        write_xlsx(path, list(rows), **options)

    return write


def _second(book, sheet):
    other = book.add_worksheet("other")
    other.write_string(0, 0, "x")
    other.write_string(1, 0, "y")


_TRAPS = {
    "title": (_sheets(["Patients of 2024"], ["age", "ill", "sex"], [1, "a", "f"]), "skip: 1"),
    "no name": (_sheets(["age", None, "ill"], [1, 2, "a"]), "has no name in B1"),
    "side by side": (_sheets(["age", None, "ill"], [1, None, "a"]), "several tables side by side"),
    "one below the other": (
        _sheets(["age", "ill"], [1, "a"], [], ["sex", "ill"], ["f", "b"]), "empty row in .* row 3",
    ),
    "repeated header": (_sheets(["age", "ill"], [1, "a"], ["age", "ill"]), "repeats the names"),
    "merged": (
        _sheets(["age", "ill"], [1, "a"], [2, "b"],
                more=lambda _, sheet: sheet.merge_range(1, 0, 2, 0, "1")),
        "merged cells in .*A2:A3",
    ),
    "sheets": (_sheets(["age"], [1], more=_second), r"has 2 sheets: 'people', 'other'"),
    "error": (
        _sheets(["age"], [1], more=lambda _, s: s.write_formula(2, 0, "=1/0", None, "#DIV/0!")),
        "without a value, the first in A3: the error #DIV/0!",
    ),
    "never computed": (
        _sheets(["age"], [1], more=lambda _, s: s.write_formula(2, 0, "=A2*2", None, "")),
        "the first in A3: a formula that was never computed",
    ),
    "twice": (_sheets(["age", "age"], [1, 2]), "'age' is the name of more than one column"),
    "header only": (_sheets(["age", "ill"]), "a header and no rows"),
    "nothing": (_sheets(), "no sheet with rows"),
}  # fmt: skip


@pytest.mark.parametrize("trap", _TRAPS)
def test_what_a_sheet_hides_is_refused(trap, tmp_path):
    write, text = _TRAPS[trap]
    write(tmp_path / "people.xlsx")
    with pytest.raises(InputError, match=text):
        open_table(tmp_path / "people.xlsx")


def test_formulas_are_read_by_their_values_and_hidden_sheets_are_left_alone(tmp_path):
    def more(book, sheet):
        sheet.write_formula(2, 0, "=A2*2", None, 62)
        book.add_worksheet("secret").write_string(0, 0, "x")
        book.get_worksheet_by_name("secret").hide()

    write_xlsx(tmp_path / "people.xlsx", [["age"], [31]], more=more)
    assert set(_counts(open_table(tmp_path / "people.xlsx"), ["age"])) == {(31,), (62,)}


@pytest.mark.parametrize("make", [xls_file, ods_file])
def test_sheets_of_other_programs_are_read(make, tmp_path):
    table = open_table(make(tmp_path / f"people.{make.__name__[:3]}"))
    assert set(_counts(table, ["age", "born", "town"])) == {
        (31, dt.date(1937, 1, 10), "Köln"),
        (45, dt.date(2020, 2, 29), "007"),
    }


def test_a_policy_names_the_sheet_and_the_rows_above_the_names(tmp_path):
    rows = [["Patients"], [], *ROWS]
    write_xlsx(tmp_path / "people.xlsx", rows, more=_second)
    policy = {
        "input": {"sheet": "people", "skip": 2, "missing": ["x"]},
        "columns": {"age": "quasi-identifier", "code": {"role": "plain", "because": "a test"}},
        "other": "dropped",
        "models": [{"model": "k-anonymity", "k": 2}],
    }
    made = sf.anonymize(tmp_path / "people.xlsx", policy, output=tmp_path / "out")
    assert made.levels == {"age": 0}
    again = open_table(tmp_path / "out" / "data.xlsx")
    assert set(_counts(again, ["age", "code"])) == {
        (31, "007"), (31, "7"), (45, "9-11"), (45, None),
    }  # fmt: skip
    # Judged as it is, by the same policy: the verifier finds the same sheet.
    assert sf.verify(tmp_path / "people.xlsx", policy).answer == "no"
    policy["input"]["sheet"] = "nowhere"
    with pytest.raises(InputError, match=r"has no sheet 'nowhere'. Its sheets: 'people', 'other'"):
        sf.anonymize(tmp_path / "people.xlsx", policy)


@pytest.mark.parametrize("ending", [".zsav", ".por"])
def test_compressed_and_portable_files_of_spss_are_read(ending, tmp_path):
    frame = pd.DataFrame({"sex": [1.0, 2.0, 9.0], "town": ["Ulm", "Bonn", "Ulm"]})
    path = tmp_path / f"people{ending}"
    if ending == ".por":
        frame.columns = ["SEX", "TOWN"]
        pyreadstat.write_por(frame, str(path))
    else:
        labels = {"sex": {1: "m", 2: "f"}}
        pyreadstat.write_sav(
            frame, str(path), compress=True, missing_ranges={"sex": [9]},
            variable_value_labels=labels,
        )  # fmt: skip
    found = set(_counts(open_table(path), list(frame.columns)))
    wanted = {(1, "Ulm"), (2, "Bonn"), (9, "Ulm")}
    assert found == (wanted if ending == ".por" else {("m", "Ulm"), ("f", "Bonn"), (None, "Ulm")})


def test_codes_that_share_a_label_stay_apart(tmp_path):
    frame = people(40)
    write_sav(
        tmp_path / "p.sav", frame,
        variable_value_labels={"state": {1: "other", 2: "other", 3: "*", 4: "b"}},
    )  # fmt: skip
    release(tmp_path / "p.sav", tmp_path / "out", qi=["sex"], plain=["state"])
    columns, _ = read_back(tmp_path / "out" / "data.sav")
    assert Counter(columns["state"]) == Counter(frame["state"])


def test_the_width_of_texts_is_told_only_if_no_row_was_suppressed(tmp_path):
    frame = people(41)
    frame.loc[40, "state"] = 5.0  # alone, and with the longest text
    frame.loc[40, "town"] = "Llanfairpwllgwyngyll"
    write_sav(tmp_path / "p.sav", frame)
    made = release(tmp_path / "p.sav", tmp_path / "out", qi=["state"], plain=["town"], method=None)
    if made.manifest.rows.suppressed:
        _, found = read_back(tmp_path / "out" / "data.sav")
        # Some versions of the reader tell the eights that a text takes in the file.
        assert found.variable_storage_width["town"] in (len("Zürich".encode()), 8)
        assert 5.0 not in found.variable_value_labels["state"]


def test_a_draft_goes_by_the_label_of_a_variable_whose_name_says_nothing(tmp_path):
    frame = people(60)[["age", "ill"]].rename(columns={"age": "v12", "ill": "v13"})
    labels = {"v12": "Age of the\nrespondent", "v13": "Main diagnosis"}
    pyreadstat.write_sav(frame, str(tmp_path / "p.sav"), column_labels=labels)
    draft = sf.draft(tmp_path / "p.sav")
    assert draft.policy.columns["v12"].role == "quasi-identifier"
    assert draft.policy.columns["v13"].role == "sensitive"
    assert "# Age of the respondent: " in draft.text
    assert "looks like an age by its label" in " ".join(draft.text.replace("#", " ").split())


@pytest.mark.parametrize("form", ["sav", "dta", "xlsx"])
def test_plain_numbers_of_a_text_file_are_numbers_for_offices(form, tmp_path):
    (tmp_path / "people.csv").write_text(
        "sex,code,n,x\nf,007,31,1.5\nf,12,,2\nm,9-11,45,-3.25\nm,1,45,0\n"
    )
    release(
        tmp_path / "people.csv", tmp_path / "out", qi=["sex"], sensitive=(),
        plain=["code", "n", "x"], format=form,
    )  # fmt: skip
    again = open_table(tmp_path / "out" / f"data.{form}")
    assert set(_counts(again, ["code", "n", "x"])) == {
        ("007", 31, 1.5), ("12", None, 2.0), ("9-11", 45, -3.25), ("1", 45, 0.0),
    }  # fmt: skip


@pytest.mark.parametrize("codes", [[-9.0], [-9.0, -8.0]])
def test_a_generalised_column_keeps_the_one_code_of_its_missing_cells(codes, tmp_path):
    frame = people(120)
    frame.loc[: 12 * len(codes) - 1, "age"] = np.repeat(codes, 12)
    write_sav(tmp_path / "people.sav", frame, missing_ranges={"age": codes})
    # No range of a level is narrower than others, so that each has eight people.
    made = release(tmp_path / "people.sav", tmp_path / "out", qi=["age"], plain=[], k=8)
    assert made.levels["age"] > 0
    columns, found = read_back(tmp_path / "out" / "data.sav")
    if len(codes) == 1:
        assert columns["age"].count("-9") == 12
        assert found.missing_ranges == {"age": [{"lo": "-9", "hi": "-9"}]}
    else:
        assert columns["age"].count("") == 24
        assert found.missing_ranges == {}


# Cells, labels and codes of missing, against pyreadstat's own reader.


@pytest.mark.parametrize("form", ["sav", "dta"])
@given(data=st.data())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_what_a_reader_finds(form, data, tmp_path):
    cell = st.sampled_from(["one", "two", "three", None])
    cells = data.draw(st.lists(cell, min_size=1, max_size=8))
    kinds = [
        None if cell is not None else data.draw(st.sampled_from(["-9", "-8", "-7", None]))
        for cell in cells
    ]
    recoded = data.draw(st.booleans())
    codes = {"one": "1", "two": "2", "three": "3"}
    labels = {code: label for label, code in codes.items()} | {"-9": "refused", "4": "nowhere"}
    target = tmp_path / f"{secrets.token_hex(8)}.{form}"
    schema = pa.schema([("x", pa.string()), (MISSING + "x", pa.string())])
    writer = OfficeWriter(
        target, schema, form,
        variables={"x": Variable("X", labels, category=True)}, recoded=["x"] * recoded,
    )  # fmt: skip
    writer.write([pa.array(cells, pa.string()), pa.array(kinds, pa.string())])
    writer.close()
    columns, found = read_back(target)
    met = {kind for cell, kind in zip(cells, kinds, strict=True) if cell is None}
    shown = set() if recoded and len(met) > 1 else met - {None}
    letters = dict(zip(sorted(shown, key=float), "abc", strict=False))
    if not any(cells):
        return  # then nothing says that the column held codes
    wanted = []
    for cell, kind in zip(cells, kinds, strict=True):
        missing = None if kind not in shown else float(kind) if form == "sav" else letters[kind]
        wanted.append(float(codes[cell]) if cell else missing)
    assert [float(c) if isinstance(c, int) else c for c in columns["x"]] == wanted
    own = {float(codes[cell]): cell for cell in cells if cell}
    if "-9" in shown:
        own[-9.0 if form == "sav" else letters["-9"]] = "refused"
    told = found.variable_value_labels["x"]
    assert {k: v for k, v in told.items() if v in (*codes, "refused")} == own
    assert "nowhere" not in told.values()


# Damage.


def _damaged(name, raw):
    half = raw[: len(raw) // 2]
    return {"half": half, "head": raw[:40], "empty": b"", "text": b"age,ill\n1,flu\n"}[name]


@pytest.mark.parametrize(
    ("ending", "damage"),
    [
        *((".sav", damage) for damage in ("half", "head", "empty", "text")),
        *(
            (ending, damage)
            for ending in (".dta", ".xlsx", ".sas7bdat")
            for damage in ("half", "text")
        ),
    ],
)
def test_damaged_files_are_refused_in_a_sentence(ending, damage, tmp_path):
    path = tmp_path / f"people{ending}"
    if ending == ".xlsx":
        write_xlsx(path, ROWS)
    else:
        {".sav": write_sav, ".dta": write_dta, ".sas7bdat": sas_file}[ending](path)
    path.write_bytes(_damaged(damage, path.read_bytes()))
    with pytest.raises(InputError) as error:
        open_table(path)
    text = str(error.value)
    assert str(path) in text
    assert "Traceback" not in text
    assert damage != "text" or "whatever its name says" in text


def test_a_reader_that_crashes_or_never_ends_is_an_error_like_any_other(tmp_path, monkeypatch):
    write_sav(tmp_path / "people.sav")
    script = tmp_path / "reader.py"
    script.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    monkeypatch.setattr(office_source, "_READER", script)
    with pytest.raises(InputError, match="the reader broke off"):
        open_table(tmp_path / "people.sav")


@pytest.mark.usefixtures("patience")
def test_readers_that_suites_fork_do_what_others_do(tmp_path, monkeypatch):
    write_sav(tmp_path / "people.sav")
    write_xlsx(tmp_path / "people.xlsx", ROWS)
    (tmp_path / "half.sav").write_bytes((tmp_path / "people.sav").read_bytes()[:300])

    def told(name):
        try:
            table = open_table(tmp_path / name)
        except InputError as error:
            return str(error)
        return table.head(100), table.variables

    names = ["people.sav", "people.xlsx", "half.sav"]
    cold = [told(name) for name in names]
    with warm_readers():
        assert [told(name) for name in names] == cold
        script = tmp_path / "reader.py"
        script.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
        monkeypatch.setattr(office_source, "_READER", script)
        assert "the reader broke off" in told("people.sav")


def test_a_spreadsheet_that_unpacks_to_very_much_is_refused(tmp_path):
    path = tmp_path / "bomb.xlsx"
    write_xlsx(path, ROWS)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/zero.bin", bytes(150 << 20))
    with pytest.raises(InputError, match=r"would unpack from \d+ kB to 150 MB"):
        open_table(path)


def test_an_encrypted_workbook_is_named_as_one(tmp_path):
    path = tmp_path / "people.xlsx"
    path.write_bytes(
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le")
    )
    with pytest.raises(InputError, match="encrypted with a password"):
        open_table(path)


@pytest.mark.parametrize(
    ("ending", "library", "extra"),
    [(".sav", "pyreadstat", "office"), (".xlsx", "python_calamine", "excel")],
)
def test_a_missing_library_is_answered_with_how_to_install_it(
    ending, library, extra, tmp_path, monkeypatch
):
    path = tmp_path / f"people{ending}"
    write_xlsx(path, ROWS) if ending == ".xlsx" else write_sav(path)
    real = office_source.find_spec
    monkeypatch.setattr(
        office_source, "find_spec", lambda name: None if name == library else real(name)
    )
    with pytest.raises(MissingExtraError, match=rf'pip install "sfumato\[{extra}\]"'):
        open_table(path)


@pytest.mark.parametrize(
    ("name", "form", "text"),
    [
        ("day of birth", "sav", "SPSS does not allow a column to be called 'day of birth'"),
        ("with", "sav", "SPSS does not allow"),
        ("x" * 33, "dta", "Stata does not allow"),
        ("1st", "dta", "Stata does not allow"),
    ],
)
def test_names_that_a_program_does_not_allow_are_refused(name, form, text, tmp_path):
    table = pa.table({name: ["a", "a", "b", "b"]})
    with pytest.raises(OutputError, match=text):
        sf.anonymize(table, quasi_identifiers=[name], k=2, output=tmp_path / "out", format=form)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("form", ["sav", "dta", "xlsx"])
def test_other_tables_are_written_for_offices_too(form, tmp_path):
    table = pa.table(
        {
            "age": ["9-11", "9-11", "=A1", "=A1"],
            "n": pa.array([1, 2, None, 4], pa.int64()),
            "x": [0.5, None, -1.0, 2.0],
            "day": [dt.date(1890, 1, 1), None, dt.date(2020, 2, 29), dt.date(1970, 1, 1)],
            "yes": [True, False, None, True],
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = sf.anonymize(
            table, quasi_identifiers=["age"], plain=["n", "x", "day", "yes"], k=2,
            output=tmp_path / "out", format=form,
        )  # fmt: skip
    again = open_table(tmp_path / "out" / f"data.{form}")
    assert {str(each[0]) for each in _counts(again, ["age"])} == {"9-11", "=A1"}
    assert set(_counts(again, ["n", "x"])) == {(1, 0.5), (2, None), (None, -1.0), (4, 2.0)}
    days = {str(each) for (each,) in _counts(again, ["day"])}
    assert days == {"1890-01-01", "None", "2020-02-29", "1970-01-01"}
    assert made.manifest.files[0].format == form


@pytest.mark.parametrize("form", ["sav", "dta"])
def test_truth_values_stay_what_they_are(tmp_path, form):
    """SPSS and Stata have none, and a population that has them is compared with the release."""
    people = pa.table({"member": [True, True, False, False, False]})
    pq.write_table(people, tmp_path / "people.parquet")
    policy = sf.Policy(
        columns={"member": "quasi-identifier"},
        models=[{"model": "k-anonymity", "k": 2}, {"model": "k-map", "k": 2}],
        population=str(tmp_path / "people.parquet"),
    )
    sf.anonymize(people.slice(0, 4), policy, output=tmp_path / "release", format=form)
    found = open_table(tmp_path / f"release/data.{form}").count(["member"])
    assert found.columns[0].values == ("false", "true")
    assert sf.verify(tmp_path / "release", policy)["k-map"].status == "holds"
