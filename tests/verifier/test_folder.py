"""A release folder is believed in nothing: every tampering is found, none ends in a traceback."""

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InputError, SfumatoError
from sfumato.verifier import verify_folder
from tests.verifier.releases import (
    MODELS,
    QUASI_IDENTIFIERS,
    TABLE_2,
    edit_manifest,
    seal,
    write_release,
)


@pytest.fixture
def folder(tmp_path):
    return write_release(tmp_path / "release")


def broken(folder):
    """Name the checks that do not hold."""
    verdict = verify_folder(folder)
    assert json.loads(json.dumps(verdict.to_dict(), allow_nan=False))["holds"] is verdict.holds
    assert str(verdict)
    return [check.name for check in verdict.checks if check.status != "holds"]


@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
def test_an_honest_release_holds_in_every_format(tmp_path, form):
    folder = write_release(tmp_path / "release", form=form)
    verdict = verify_folder(folder)
    assert verdict.holds, str(verdict)
    assert verdict["rows"].found == 10
    assert verdict["k-anonymity"].found == {"k": 5}


def test_its_companions_may_lie_beside_it(folder):
    for name in ("README.md", "report.html", "evidence.json"):
        (folder / name).write_text("fine")
    assert verify_folder(str(folder)).holds


def test_any_delimiter_the_manifest_names_is_used(tmp_path):
    assert verify_folder(write_release(tmp_path / "release", delimiter="~")).holds


def rewrite(folder, change):
    path = folder / "data.csv"
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")


def test_a_changed_sensitive_cell_is_found_by_its_checksum(folder):
    rewrite(folder, lambda text: text.replace("Separated", "Divorced", 1))
    assert broken(folder) == ["sha256"]


def test_a_changed_quasi_identifier_is_found_even_under_a_new_checksum(folder):
    rewrite(folder, lambda text: text.replace("[30-50]", "30", 1))
    seal(folder)
    verdict = verify_folder(folder)
    check = verdict["k-anonymity"]
    assert (check.status, check.found) == ("broken", {"k": 1})
    assert check.worst == {"age": "30", "gender": "F", "zipcode": "[13000-23000]"}
    assert check.to_dict()["worst"]["age"] == "30"


def test_an_extra_row_is_found(folder):
    rewrite(folder, lambda text: text + text.splitlines()[-1] + "\n")
    assert broken(folder) == ["sha256", "rows"]


def test_a_truncated_file_is_found(folder):
    rewrite(folder, lambda text: text[: len(text) // 2])
    assert "sha256" in broken(folder)
    assert "data" in broken(folder) or "rows" in broken(folder)


def test_a_file_that_is_gone_is_found(folder):
    (folder / "data.csv").unlink()
    assert broken(folder) == ["data"]


def test_a_renamed_column_is_found(folder):
    rewrite(folder, lambda text: text.replace("salary", "pay", 1))
    seal(folder)
    verdict = verify_folder(folder)
    assert verdict["columns"].status == "broken"
    assert "not in the manifest: 'pay'; not in the file: 'salary'" in verdict["columns"].detail
    assert verdict["probabilistic-l-diversity"].status == "unchecked"


def test_a_renamed_quasi_identifier_leaves_nothing_to_believe(folder):
    rewrite(folder, lambda text: text.replace("age", "years", 1))
    seal(folder)
    assert broken(folder) == ["columns", "data"]


def test_an_identifier_that_sneaks_in_is_found(tmp_path):
    names = {"name": [f"person {i}" for i in range(10)]}
    folder = write_release(tmp_path / "a", {**TABLE_2, **names}, roles=None)
    edit_manifest(folder, lambda m: m["columns"].pop())
    assert broken(folder) == ["columns"]
    roles = dict.fromkeys(TABLE_2, "plain") | dict.fromkeys(QUASI_IDENTIFIERS, "quasi-identifier")
    folder = write_release(
        tmp_path / "b", {**TABLE_2, **names}, roles={**roles, "name": "identifier"}
    )
    assert broken(folder) == ["manifest"]


def test_an_added_file_or_folder_is_found(folder):
    (folder / "original.csv").write_text("name\nJessica\n")
    (folder / ".cache").mkdir()
    verdict = verify_folder(folder)
    assert verdict["files"].status == "broken"
    assert "'.cache', 'original.csv'" in verdict["files"].detail


def test_a_link_out_of_the_folder_is_not_followed(folder, tmp_path):
    (folder / "data.csv").rename(tmp_path / "elsewhere.csv")
    (folder / "data.csv").symlink_to(tmp_path / "elsewhere.csv")
    assert broken(folder) == ["files", "data"]


def test_a_wrong_figure_of_the_maker_is_found_though_the_promise_holds(folder):
    edit_manifest(folder, lambda m: m["models"][0].update(k=4, measured={"k": 6}))
    check = verify_folder(folder)["k-anonymity"]
    assert (check.status, check.found) == ("broken", {"k": 5})
    assert "measured says 'k=6'" in check.detail


@pytest.mark.parametrize(
    "measured", [[], "5", {"l": 5}, {"k": "5"}, {"k": None}, {"k": True}, {"k": 10**400}]
)
def test_figures_that_are_none_are_not_believed(folder, measured):
    edit_manifest(folder, lambda m: m["models"][0].update(measured=measured))
    assert broken(folder) == ["k-anonymity"]


@pytest.mark.parametrize("claimed", ["inf", None, float("inf")])
def test_an_infinite_figure_can_be_written_in_json(folder, claimed):
    model = {"model": "delta-disclosure", "column": "government", "delta": 2}
    edit_manifest(folder, lambda m: m.update(models=[{**model, "measured": {"delta": claimed}}]))
    check = verify_folder(folder)["delta-disclosure"]
    assert check.status == "broken"
    assert "measured" not in check.detail
    assert check.to_dict()["found"] == {"delta": "inf"}


def test_a_promise_that_is_not_kept_is_broken_whatever_was_measured(folder):
    edit_manifest(folder, lambda m: m["models"][0].update(k=6))
    assert broken(folder) == ["k-anonymity"]


def test_an_unknown_model_means_the_release_does_not_hold(folder):
    edit_manifest(folder, lambda m: m["models"].append({"model": "trust-me"}))
    assert broken(folder) == ["trust-me"]


def test_a_missing_cell_in_a_release_is_a_class_of_its_own(tmp_path):
    columns = {**TABLE_2, "age": [None, *TABLE_2["age"][1:]]}
    verdict = verify_folder(write_release(tmp_path / "release", columns))
    assert verdict["k-anonymity"].found == {"k": 1}
    assert verdict["k-anonymity"].worst["age"] is None


def described(levels):
    quasi = [
        {"name": name, "role": "quasi-identifier", "level": level, "height": 2}
        for name, level in zip(QUASI_IDENTIFIERS, levels, strict=True)
    ]
    return quasi + [{"name": name, "role": "sensitive"} for name in list(TABLE_2)[3:]]


def test_a_column_said_to_be_at_its_top_must_hold_one_value(tmp_path):
    folder = write_release(tmp_path / "a", described=described([1, 2, 1]))
    assert broken(folder) == ["top levels"]
    assert "more than one value in 'gender'" in verify_folder(folder)["top levels"].detail
    columns = {**TABLE_2, "gender": ["*"] * 10}
    assert verify_folder(
        write_release(tmp_path / "b", columns, described=described([1, 2, 1]))
    ).holds


def starred(n, columns=TABLE_2):
    return {
        name: values + (["*"] * n if name in QUASI_IDENTIFIERS else [None] * n)
        for name, values in columns.items()
    }


def rows(published, suppressed):
    return {"published": published, "suppressed": suppressed, "suppression": "star"}


@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
def test_starred_rows_are_left_out_of_the_classes(tmp_path, form):
    folder = write_release(tmp_path / "release", starred(1), form=form, rows=rows(10, 1))
    verdict = verify_folder(folder)
    assert verdict.holds, str(verdict)
    assert verdict["starred rows"].found == 1


def test_starred_rows_beyond_the_number_named_are_ordinary_rows(tmp_path):
    folder = write_release(tmp_path / "release", starred(3), rows=rows(12, 1))
    assert verify_folder(folder)["k-anonymity"].found == {"k": 2}


def test_too_few_starred_rows_are_found(tmp_path):
    folder = write_release(tmp_path / "release", starred(1), rows=rows(9, 2))
    assert broken(folder) == ["rows", "starred rows"]


def test_a_row_that_keeps_a_value_is_not_a_starred_row(tmp_path):
    columns = starred(1)
    columns["salary"] = [*columns["salary"][:-1], ">50k"]
    folder = write_release(tmp_path / "release", columns, rows=rows(10, 1))
    assert "starred rows" in broken(folder)
    assert verify_folder(folder)["k-anonymity"].found == {"k": 1}


def test_a_table_at_the_top_everywhere_has_no_starred_rows(tmp_path):
    columns = {**TABLE_2, **{name: ["*"] * 10 for name in QUASI_IDENTIFIERS}}
    models = [{"model": "k-anonymity", "k": 10, "measured": {"k": 10}}]
    folder = write_release(tmp_path / "a", columns, rows=rows(10, 0), models=models)
    assert verify_folder(folder).holds
    folder = write_release(tmp_path / "b", starred(2, columns), rows=rows(10, 2), models=models)
    assert verify_folder(folder).holds


def test_a_table_suppressed_to_the_last_row_harms_nobody(tmp_path):
    nobody = {name: [] for name in TABLE_2}
    models = [{"model": "k-anonymity", "k": 5, "measured": {"k": 5}}]
    folder = write_release(
        tmp_path / "release",
        pa.table(starred(4, nobody)).cast(pa.schema([(name, pa.string()) for name in TABLE_2])),
        rows=rows(0, 4),
        models=models,
    )
    assert verify_folder(folder).holds


def test_the_rows_of_the_manifest_must_add_up(folder):
    edit_manifest(folder, lambda m: m["files"][0].update(rows=11))
    assert broken(folder) == ["manifest"]


def test_the_notes_and_index_of_pandas_are_found(tmp_path):
    folder = write_release(tmp_path / "release", form="parquet")
    frame = pd.DataFrame(TABLE_2, index=[7, 3, 9, 1, 2, 4, 5, 6, 8, 0])
    frame.to_parquet(folder / "data.parquet")
    seal(folder)
    verdict = verify_folder(folder)
    assert broken(folder) == ["metadata", "columns"]
    assert "another program: 'pandas'" in verdict["metadata"].detail
    assert "'__index_level_0__'" in verdict["metadata"].detail


def test_notes_in_a_column_are_found_and_our_own_are_not(tmp_path):
    folder = write_release(tmp_path / "release", form="parquet")
    table = pa.table(TABLE_2)
    noted = pa.schema([field.with_metadata({"origin": "row 1"}) for field in table.schema])
    for schema, expected in [
        (noted, ["metadata"]),
        (table.schema.with_metadata({"sfumato": "0.1.0"}), []),
    ]:
        pyarrow.parquet.write_table(table.cast(schema), folder / "data.parquet")
        seal(folder)
        assert broken(folder) == expected


def test_a_csv_with_an_unnamed_column_of_row_numbers_is_found(folder):
    frame = pd.DataFrame(TABLE_2)
    frame.to_csv(folder / "data.csv")
    seal(folder)
    assert broken(folder) == ["metadata", "columns"]


@pytest.mark.parametrize(
    "name",
    ["../secret.csv", "/etc/passwd", "..", ".", "", "a/b.csv", "a\\b.csv", "C:x", "manifest.json"],
)
def test_a_name_that_leads_elsewhere_is_not_opened(folder, name):
    edit_manifest(folder, lambda m: m["files"][0].update(name=name))
    verdict = verify_folder(folder)
    assert [check.name for check in verdict.checks] == ["manifest"]
    assert "is not a name for a data file" in verdict["manifest"].detail


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "[" * 100_000,
        '{"format": 2}',
        '{"format": "1"}',
        '{"format": true}',
        '{"format": 1, "format": 1}',
        '{"format": ' + "9" * 5000 + "}",
        "\ufeff{}",
    ],
)
def test_a_manifest_that_is_none_is_a_broken_check(folder, text):
    (folder / "manifest.json").write_text(text, encoding="utf-8")
    assert broken(folder) == ["manifest"]


def test_a_manifest_that_is_not_text_is_a_broken_check(folder):
    (folder / "manifest.json").write_bytes(b"\xff\xfe\x00")
    assert broken(folder) == ["manifest"]


def test_a_manifest_of_absurd_size_is_not_read(folder):
    with (folder / "manifest.json").open("wb") as handle:
        handle.truncate(2**40)
    assert broken(folder) == ["manifest"]


@pytest.mark.parametrize("key", ["format", "files", "columns", "rows", "missing", "models"])
def test_a_manifest_without_a_needed_part_is_a_broken_check(folder, key):
    edit_manifest(folder, lambda m: m.pop(key))
    assert broken(folder) == ["manifest"]
    assert key in verify_folder(folder)["manifest"].detail


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m["rows"].update(published=-1),
        lambda m: m["rows"].update(published=10.0),
        lambda m: m["rows"].update(suppressed=10**30),
        lambda m: m["rows"].update(suppression="hide"),
        lambda m: m.update(missing="ignore"),
        lambda m: m.update(models=[]),
        lambda m: m.update(models=["k-anonymity"]),
        lambda m: m.update(hierarchies={"salary": {"low": "*"}}),
        lambda m: m.update(hierarchies=[1]),
        lambda m: m["files"].append(m["files"][0]),
        lambda m: m["files"][0].update(format="docx"),
        lambda m: m["files"][0].update(delimiter='"'),
        lambda m: m["files"][0].update(delimiter=";;"),
        lambda m: m["files"][0].update(sha256=None),
        lambda m: m["columns"].append(m["columns"][0]),
        lambda m: m["columns"][0].update(level=3, height=2),
        lambda m: m["columns"][0].update(level="top"),
        lambda m: m["columns"][0].update(name=None),
    ],
)
def test_a_part_of_the_wrong_shape_is_a_broken_check(folder, change):
    edit_manifest(folder, change)
    assert broken(folder) == ["manifest"]


def test_a_second_data_file_is_not_vouched_for(folder):
    edit_manifest(folder, lambda m: m["files"].append({**m["files"][0], "name": "more.csv"}))
    assert "manifest" in broken(folder)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
PLACES = [
    *[(key,) for key in ("format", "files", "columns", "rows", "missing", "models", "hierarchies")],
    *[("files", 0, key) for key in ("name", "format", "delimiter", "rows", "sha256")],
    *[("columns", 0, key) for key in ("name", "role", "level", "height")],
    *[("rows", key) for key in ("published", "suppressed", "suppression")],
    *[("models", 1, key) for key in ("model", "column", "l", "measured", "extra")],
    *[("models", 0, key) for key in ("k", "measured")],
]


@given(place=st.sampled_from(PLACES), value=JSON)
def test_whatever_stands_in_a_manifest_there_is_a_verdict(tmp_path_factory, place, value):
    folder = write_release(tmp_path_factory.mktemp("fuzz") / "release")

    def change(manifest):
        for step in place[:-1]:
            manifest = manifest[step]
        manifest[place[-1]] = value

    edit_manifest(folder, change)
    broken(folder)


def test_a_folder_without_a_manifest_is_a_wrong_request(tmp_path):
    with pytest.raises(InputError, match=r"no manifest\.json"):
        verify_folder(tmp_path)
    with pytest.raises(SfumatoError):
        verify_folder(tmp_path / "nowhere")


def test_the_verdict_reads_as_a_table(folder):
    edit_manifest(folder, lambda m: m.update(models=[{**MODELS[0], "k": 6}]))
    lines = str(verify_folder(folder)).splitlines()
    assert lines[0] == "Broken: 1 of 7 checks does not hold."
    assert lines[1].split() == ["check", "result", "promised", "found"]
    assert lines[-2].split() == ["k-anonymity", "broken", "k=6", "k=5"]
    assert lines[-1].strip() == (
        "k-anonymity: fails in 2 of 2 classes (10 of 10 rows); "
        "worst: age=[30-50], gender=F, zipcode=[13000-23000]"
    )
