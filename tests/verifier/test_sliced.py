"""A sliced release is believed in nothing: its buckets are formed and judged anew."""

import json

import pytest

from sfumato.verifier import verify_folder
from tests.verifier.grouped_releases import write_rows
from tests.verifier.releases import edit_manifest, seal
from tests.verifier.test_broken import cell, change, failing, widen

SLICES = {
    ("age", "sex"): [
        *(["7", "30", "f", "2"], ["7", "40", "m", "1"], ["7", "40", "f", "1"]),
        *(["3", "30", "m", "2"], ["3", "50", "m", "2"]),
        *(["5", "60", "f", "1"], ["5", "60", "m", "2"]),
    ],
    ("sex", "job"): [
        *(["7", "f", "cook", "3"], ["7", "m", "cook", "1"]),
        *(["3", "m", "cook", "1"], ["3", "m", "maid", "3"]),
        *(["5", "f", "maid", "1"], ["5", "m", "maid", "1"], ["5", "m", "", "1"]),
    ],
    ("zip", "ill"): [
        # Two with zip x and two with zip y, each with two values.
        *(["7", "x", "flu", "1"], ["7", "x", "gout", "1"]),
        *(["7", "y", "flu", "1"], ["7", "y", "hiv", "1"]),
        *(["3", "x", "flu", "2"], ["3", "x", "hiv", "1"], ["3", "x", "gout", "1"]),
        *(["5", "z", "flu", "1"], ["5", "z", "gout", "1"], ["5", "z", "hiv", "1"]),
    ],
}
"""Three buckets of four, four and three people; `sex` stands in two slices."""

PROMISE = {"model": "probabilistic-l-diversity", "column": "ill", "l": 2, "measured": {"l": 2}}


@pytest.fixture
def folder(tmp_path):
    """Write a sliced release the way its maker would."""
    folder = tmp_path / "slices"
    folder.mkdir()
    files = []
    for number, (names, rows) in enumerate(SLICES.items(), start=1):
        write_rows(folder / f"slice_{number}.csv", ["bucket", *names, "count"], rows)
        file = {"name": f"slice_{number}.csv", "table": "slice", "columns": list(names)}
        file |= {"format": "csv", "delimiter": ",", "sha256": "", "rows": len(rows)}
        files.append(file)
    columns = [{"name": n, "role": "quasi-identifier"} for n in ("age", "sex", "job", "zip")]
    manifest = {
        "format": 1,
        "kind": "slicing",
        "files": files,
        "columns": [*columns, {"name": "ill", "role": "sensitive"}],
        "group": "bucket",
        "count": "count",
        "rows": {"published": 11, "suppressed": 0, "suppression": "remove"},
        "missing": "own-value",
        "models": [PROMISE],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    seal(folder)
    return folder


def test_an_honest_release_holds_with_the_figures_worked_out_by_hand(folder):
    verdict = verify_folder(folder)
    assert verdict.holds, str(verdict)
    assert [check.name for check in verdict.checks] == [
        *("manifest", "files", "sha256", "metadata", "columns", "rows", "buckets", "overlap"),
        "probabilistic-l-diversity",
    ]
    assert verdict["probabilistic-l-diversity"].found == {"l": 2}


@pytest.mark.parametrize(
    ("promise", "measured"),
    [
        # Two of two values in bucket 7 are the least: worth two values, and one is not below one.
        ({"model": "entropy-l-diversity", "l": 2}, {"l": 2}),
        ({"model": "entropy-l-diversity", "l": 1.5}, {"l": 2}),
        ({"model": "recursive-cl-diversity", "c": 1.01, "l": 2}, {"c": 1}),
    ],
)
def test_other_forms_are_recomputed_too(folder, promise, measured):
    promise = {**promise, "column": "ill", "measured": measured}
    edit_manifest(folder, lambda m: m.update(models=[promise]))
    verdict = verify_folder(folder)
    assert verdict.holds, str(verdict)
    assert verdict[promise["model"]].found == pytest.approx({"l": 2, **measured})


@pytest.mark.parametrize(
    "promise",
    [
        {"model": "entropy-l-diversity", "l": 2.01},
        {"model": "recursive-cl-diversity", "c": 1, "l": 2},
        {"model": "recursive-cl-diversity", "c": 9, "l": 3},
    ],
)
def test_no_form_is_believed(folder, promise):
    edit_manifest(folder, lambda m: m.update(models=[{**promise, "column": "ill"}]))
    assert failing(folder) == [promise["model"]]


@pytest.mark.parametrize(
    "promise",
    [
        {"model": "probabilistic-l-diversity", "l": 2},
        {"model": "entropy-l-diversity", "l": 2},
        {"model": "recursive-cl-diversity", "c": 1.5, "l": 2},
    ],
)
def test_a_value_moved_to_another_bucket_is_found_in_every_form(folder, promise):
    edit_manifest(folder, lambda m: m.update(models=[{**promise, "column": "ill"}]))
    assert not failing(folder)

    def swap(_, rows):
        # The gout of bucket 7 for a flu of bucket 3: as many people and values as before.
        rows[0:2] = [["7", "x", "flu", "2"]]
        at = rows.index(["3", "x", "flu", "2"])
        rows[at : at + 3] = [
            ["3", "x", "flu", "1"],
            ["3", "x", "hiv", "1"],
            ["3", "x", "gout", "2"],
        ]

    change(folder, "slice_3.csv", swap)
    assert failing(folder) == [promise["model"]]


def test_more_than_the_buckets_keep_cannot_be_promised(folder):
    edit_manifest(folder, lambda m: m["models"][0].update(l=3))
    assert failing(folder) == ["probabilistic-l-diversity"]
    assert verify_folder(folder)["probabilistic-l-diversity"].worst.keys() == {"bucket", "zip"}


@pytest.mark.parametrize(
    ("name", "edit", "found"),
    [
        # A bucket that is in one slice only, and people who are.
        ("slice_1.csv", cell(0, 0, "9"), ["buckets", "overlap", "models"]),
        ("slice_3.csv", cell(0, 0, "3"), ["buckets", "models"]),
        ("slice_1.csv", cell(0, 3, "3"), ["rows", "buckets", "overlap", "models"]),
        ("slice_3.csv", lambda _, rows: rows.__delitem__(-1), ["buckets", "models"]),
        # Twice the same.
        ("slice_3.csv", lambda _, rows: rows.append(rows[0]), ["buckets", "models"]),
        ("slice_3.csv", cell(1, 2, "flu"), ["buckets", "models"]),
        # What stands in two slices and differs.
        ("slice_2.csv", cell(1, 1, "f"), ["buckets", "overlap", "models"]),
        ("slice_1.csv", cell(2, 2, "x"), ["overlap", "models"]),
        # What is no count, and no bucket.
        *(("slice_3.csv", cell(0, 3, wrong), ["data"]) for wrong in ("0", "-1", "1.5", "", "x")),
        ("slice_2.csv", cell(0, 0, ""), ["data"]),
        # A column more.
        ("slice_1.csv", widen, ["columns"]),
        # Sums are right, and somebody is alone with a value: by zip, or as the other is missing.
        ("slice_3.csv", cell(0, 1, "q"), ["probabilistic-l-diversity"]),
        ("slice_3.csv", cell(0, 2, ""), ["probabilistic-l-diversity"]),
    ],
)
def test_slices_that_do_not_agree_are_found_under_a_new_checksum(folder, name, edit, found):
    change(folder, name, edit)
    assert failing(folder) == found


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        (lambda m: m["files"].__delitem__(slice(1, None)), ["manifest", "files"]),
        (lambda m: m["files"].pop(), ["manifest", "files"]),
        (lambda m: m["files"][0].update(table="qi"), ["manifest"]),
        (lambda m: m["files"][0].update(columns=["age", "sex", "ill"]), ["manifest"]),
        (lambda m: m["files"][0].update(columns=["age", "age", "sex"]), ["manifest"]),
        (lambda m: m["files"][0].update(columns=[]), ["manifest"]),
        (lambda m: m["files"][0].update(columns=[["age"]]), ["manifest"]),
        (lambda m: m["files"][0].pop("columns"), ["manifest"]),
        (lambda m: m["files"][0].update(columns=["sex"]), ["manifest"]),
        (lambda m: m["columns"][0].update(role="sensitive"), ["models"]),
        (lambda m: m["columns"][0].update(role="identifier"), ["manifest"]),
        (
            lambda m: m["columns"][4].update(role="quasi-identifier"),
            ["probabilistic-l-diversity"],
        ),
        (lambda m: m.update(group="age"), ["manifest"]),
        (lambda m: m.update(count="bucket"), ["manifest"]),
        (lambda m: m["rows"].update(suppression="star"), ["manifest"]),
        (lambda m: m["rows"].update(published=12), ["rows"]),
        (lambda m: m["files"][1].update(rows=5), ["rows"]),
        (lambda m: m["files"][1].update(sha256="0" * 64), ["sha256"]),
        (lambda m: m["models"][0].update(column="zip"), ["probabilistic-l-diversity", "models"]),
        (lambda m: m["models"][0].update(measured={"l": 3}), ["probabilistic-l-diversity"]),
        (lambda m: m["models"].append({"model": "k-anonymity", "k": 2}), ["k-anonymity"]),
        (lambda m: m.update(models=[{"model": "k-anonymity", "k": 2}]), ["k-anonymity", "models"]),
    ],
)
def test_a_manifest_that_says_something_else_is_found(folder, edit, found):
    edit_manifest(folder, edit)
    assert failing(folder) == found


def test_a_file_that_is_not_there_is_found(folder):
    (folder / "slice_2.csv").unlink()
    assert "data" in failing(folder)
