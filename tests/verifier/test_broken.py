"""A release in several tables is believed in nothing: every tampering is found."""

import json

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import SfumatoError
from sfumato.verifier import verify_folder
from tests.verifier.grouped_releases import MODELS, read_rows, write_grouped, write_rows
from tests.verifier.releases import edit_manifest, seal


@pytest.fixture
def folder(tmp_path):
    return write_grouped(tmp_path / "broken")


def failing(folder):
    verdict = verify_folder(folder)
    assert json.loads(json.dumps(verdict.to_dict(), allow_nan=False))["holds"] is verdict.holds
    assert str(verdict)
    return [check.name for check in verdict.checks if check.status != "holds"]


def test_an_honest_release_holds_with_the_figures_worked_out_by_hand(folder):
    verdict = verify_folder(folder)
    assert verdict.holds, str(verdict)
    names = ["manifest", "files", "sha256", "metadata", "columns", "rows", "groups", "counts"]
    assert [check.name for check in verdict.checks][:8] == names
    assert [verdict[m["model"]].found for m in MODELS] == [
        {"k": 5},
        {"l": 3},
        {"l": 1.25},
        {"t": pytest.approx(0.1)},
    ]


def test_its_companions_may_lie_beside_it_and_nothing_else_may(folder):
    for name in ("README.md", "schema.sql", "report.html", "evidence.json"):
        (folder / name).write_text("fine")
    assert not failing(folder)
    (folder / "rows.csv").write_text("name,ill\nAnn,flu\n")
    assert failing(folder) == ["files"]


def change(folder, name, edit):
    """Edit the rows of a file, and let the manifest know its checksum and length."""
    header, rows = read_rows(folder / name)
    edited = edit(header, rows)
    header, rows = (header, rows) if edited is None else edited
    write_rows(folder / name, header, rows)

    def rows_of(manifest):
        for file in manifest["files"]:
            if file["name"] == name:
                file["rows"] = len(rows)

    edit_manifest(folder, rows_of)
    seal(folder)


def cell(row, column, value):
    def edit(header, rows):
        rows[row][column] = value

    return edit


NO_COUNTS = ("0", "-4", "4.5", "many", "", "9" * 40)
MARITAL, SALARY = "sensitive_marital-status.csv", "sensitive_salary.csv"


@pytest.mark.parametrize("name", ["qi.csv", MARITAL, SALARY])
def test_a_file_that_changed_is_found_by_its_checksum(folder, name):
    with (folder / name).open("a") as file:
        file.write("\n")
    assert failing(folder) == ["sha256"]


@pytest.mark.parametrize(
    ("name", "edit", "found"),
    [
        # Groups.
        ("qi.csv", cell(0, 0, "2"), ["groups", "counts", "models"]),
        ("qi.csv", cell(0, 0, "3"), ["groups", "counts", "models"]),
        ("qi.csv", cell(0, 1, "31"), ["groups", "models"]),
        (SALARY, cell(0, 0, "3"), ["groups", "counts", "models"]),
        (SALARY, lambda _, rows: rows.__setitem__(slice(0, 2), []), ["groups", "models"]),
        # Counts.
        (SALARY, cell(0, 2, "5"), ["counts", "models"]),
        (SALARY, cell(0, 0, "2"), ["counts", "models"]),
        (SALARY, lambda _, rows: rows.append(rows[0]), ["counts", "models"]),
        (SALARY, lambda _, rows: rows.__delitem__(-1), ["counts", "models"]),
        (MARITAL, cell(0, 1, "Divorced"), ["counts", "models"]),
        # What is no count, and no group.
        *((SALARY, cell(0, 2, wrong), ["data"]) for wrong in NO_COUNTS),
        ("qi.csv", cell(0, 0, ""), ["data"]),
        (SALARY, cell(0, 0, ""), ["data"]),
        # A value that moved: sums are right, and the models speak up.
        (SALARY, cell(0, 1, "<=60k"), ["t-closeness"]),
        (MARITAL, cell(4, 1, "Separated"), []),
    ],
)
def test_tables_that_do_not_agree_are_found_under_a_new_checksum(folder, name, edit, found):
    change(folder, name, edit)
    assert failing(folder) == found


def test_values_that_moved_between_groups_break_the_models_they_were_promised_for(folder):
    def edit(_, rows):
        rows[:4] = [["1", "Married", "5"]]

    change(folder, MARITAL, edit)
    verdict = verify_folder(folder)
    assert failing(folder) == ["distinct-l-diversity"]
    assert verdict["distinct-l-diversity"].found == {"l": 1}
    assert verdict["distinct-l-diversity"].worst == {"age": "[30-50]", "gender": "F"}


def test_two_groups_with_the_same_quasi_identifiers_are_found(folder):
    def edit(_, rows):
        for row in rows[:2]:
            row[0] = "3"

    change(folder, "qi.csv", edit)
    assert failing(folder) == ["groups", "counts", "models"]
    assert "have the same quasi-identifiers" in verify_folder(folder)["groups"].detail


def test_a_row_too_many_is_found(folder):
    header, rows = read_rows(folder / "qi.csv")
    write_rows(folder / "qi.csv", header, [*rows, rows[0]])
    seal(folder)
    assert failing(folder) == ["rows", "counts", "models"]


def widen(header, rows):
    return [*header, "name"], [[*row, "Ann"] for row in rows]


@pytest.mark.parametrize("name", ["qi.csv", SALARY])
def test_a_column_that_ties_rows_together_is_found(folder, name):
    change(folder, name, widen)
    assert failing(folder) == ["columns"]


def test_a_column_that_is_not_there_is_found(folder):
    change(folder, "qi.csv", lambda header, rows: (header[:2], [row[:2] for row in rows]))
    assert failing(folder) == ["columns"]


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        (lambda m: m["files"].pop(), ["manifest", "files"]),
        (lambda m: m["files"].pop(0), ["manifest", "files"]),
        (lambda m: m["files"][1].update(table="qi"), ["manifest"]),
        (lambda m: m["files"][1].update(table="all"), ["manifest"]),
        (lambda m: m["files"][1].pop("table"), ["manifest"]),
        (lambda m: m["files"][1].pop("column"), ["manifest"]),
        (lambda m: m["files"][1].update(column="salary"), ["manifest"]),
        (lambda m: m["columns"].append({"name": "ward", "role": "plain"}), ["columns"]),
        (lambda m: m["columns"].append({"name": "ward", "role": "set"}), ["manifest"]),
        (lambda m: m.update(group="age"), ["manifest"]),
        (lambda m: m.update(count="salary"), ["manifest"]),
        (lambda m: m.update(group="gruppe"), ["columns"]),
        (lambda m: m.pop("group"), ["manifest"]),
        (lambda m: m.pop("count"), ["manifest"]),
        (lambda m: m.update(kind="slicing"), ["manifest"]),
        (lambda m: m.pop("kind"), ["manifest"]),
        (lambda m: m["rows"].update(published=9), ["manifest"]),
        (lambda m: m["rows"].update(suppression="star"), ["manifest"]),
        (lambda m: m["files"][2].update(rows=5), ["rows"]),
        (lambda m: m["models"][0].update(k=6), ["k-anonymity"]),
        (lambda m: m["models"][0].update(measured={"k": 7}), ["k-anonymity"]),
        (lambda m: m["models"][1].update(column="age"), ["distinct-l-diversity"]),
        (lambda m: m["files"][1].update(name="../secret.csv"), ["manifest"]),
    ],
)
def test_a_manifest_that_says_something_else_is_found(folder, edit, found):
    edit_manifest(folder, edit)
    assert failing(folder) == found


def test_a_file_that_is_not_there_is_found(folder):
    (folder / SALARY).unlink()
    assert failing(folder) == ["data"]
    (folder / SALARY).symlink_to(folder / "qi.csv")
    assert failing(folder) == ["files", "data"]


def test_notes_of_other_programs_are_found(tmp_path):
    data = pa.table({"age": ["a", "a"], "ill": ["x", "y"]})
    options = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "format": "parquet"}
    folder = sf.decouple(data, output=tmp_path / "broken", **options).folder
    table = pyarrow.parquet.read_table(folder / "sensitive_ill.parquet")
    noted = table.replace_schema_metadata({"pandas": "{}"})
    pyarrow.parquet.write_table(noted, folder / "sensitive_ill.parquet")
    seal(folder)
    assert failing(folder) == ["metadata"]


@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
def test_half_a_file_is_no_traceback(tmp_path, form):
    data = pa.table({"age": ["a", "a"], "ill": ["x", "y"]})
    options = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "format": form}
    folder = sf.decouple(data, output=tmp_path / "broken", **options).folder
    path = folder / f"qi.{form}"
    path.write_bytes(path.read_bytes()[: len(path.read_bytes()) // 2])
    assert "sha256" in failing(folder)
    seal(folder)
    assert failing(folder)


@given(position=st.integers(0, 400), byte=st.integers(0, 255), data=st.data())
def test_no_single_byte_can_change_unnoticed(tmp_path_factory, position, byte, data):
    folder = write_grouped(tmp_path_factory.mktemp("x") / "broken")
    path = folder / data.draw(st.sampled_from(["qi.csv", MARITAL, SALARY]))
    content = bytearray(path.read_bytes())
    position %= len(content)
    if content[position] == byte:
        return
    content[position] = byte
    path.write_bytes(content)
    try:
        assert "sha256" in failing(folder)
    except SfumatoError:
        pytest.fail("a tampered folder should be judged, not refused")


def test_a_table_in_memory_that_was_tampered_with_is_found():
    data = pa.table({"age": ["a", "a", "b", "b"], "ill": ["x", "y", "x", "x"]})
    release = sf.decouple(data, quasi_identifiers=["age"], sensitive=["ill"])
    assert sf.verify(release).verdict.holds
    ill = release.tables["sensitive_ill"]
    release.tables["sensitive_ill"] = ill.slice(1)
    assert not sf.verify(release).verdict.holds
