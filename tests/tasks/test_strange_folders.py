"""Release folders with something else in place of a file, and files with a dialect of their own."""

import json
import os
import shutil

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError
from tests.verdicts.tables import policy, safe

TASKS = {
    "detect": sf.detect,
    "breach": sf.breach,
    "decouple": lambda folder: sf.decouple(folder, "break-merge"),
    "explain": lambda folder: sf.explain(folder, {"age": "3*"}),
    "diff": lambda folder: sf.diff(folder, safe(), policy=policy()),
    "estimate": lambda folder: sf.estimate(folder, {"ill": "flu"}),
}


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("releases")
    made = sf.anonymize(safe(), policy(), output=folder / "whole", format="csv")
    sf.decouple(made, "break-merge", output=folder / "parts", format="csv")
    return folder


def make_pipe(path):
    os.mkfifo(path)


def make_link(path):
    path.symlink_to("/dev/zero")


def make_folder(path):
    path.mkdir()


STRANGE = {"pipe": make_pipe, "device": make_link, "folder": make_folder}


@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize(
    ("release", "name"),
    [("whole", "data.csv"), ("parts", "qi.csv"), ("parts", "sensitive_ill.csv")],
)
def test_what_is_no_plain_file_is_refused_and_never_waited_for(
    releases, release, name, kind, tmp_path
):
    folder = tmp_path / "r"
    shutil.copytree(releases / release, folder)
    (folder / name).unlink()
    STRANGE[kind](folder / name)
    found = sf.verify(folder)
    assert found.answer == "no"
    assert "not plain files" in found["files"].detail
    assert sf.report(folder).to_dict()  # a release that is broken has a report that says so
    for task in TASKS.values():
        with pytest.raises(InputError, match="in place of files"):
            task(folder)


@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize("name", ["manifest.json", "evidence.json", "README.md"])
def test_companions_that_are_no_plain_files_are_refused_too(releases, name, kind, tmp_path):
    folder = tmp_path / "r"
    shutil.copytree(releases / "parts", folder)
    (folder / name).unlink()
    STRANGE[kind](folder / name)
    if name == "manifest.json":
        with pytest.raises(InputError):
            sf.verify(folder)
    else:
        assert sf.verify(folder).answer == "no"


@pytest.mark.parametrize("column", ["name;", "a|b", "x\ty", ";", "PAR1", "a,b"])
def test_a_release_is_read_with_the_delimiter_of_its_manifest(column, tmp_path):
    """A guess would find two columns in the only one."""
    table = pa.table({column: ["1", "2"] * 10})
    said = sf.Policy(columns={column: "quasi-identifier"}, models=[sf.models.KAnonymity(3)])
    made = sf.anonymize(table, said, output=tmp_path / "r", format="csv")
    for release in (made, tmp_path / "r"):
        assert sf.verify(release, said).answer == "yes"
        assert sf.estimate(release, {column: "1"}).estimate == 10
        assert sf.report(release).to_dict()


def test_the_delimiter_of_a_release_is_a_comma_whatever_the_input_has(tmp_path):
    (tmp_path / "in.csv").write_text(
        "age;ill\n" + "3*;flu\n4*;gout\n3*;gout\n4*;flu\n" * 4, encoding="utf-8"
    )
    sf.anonymize(tmp_path / "in.csv", policy(), output=tmp_path / "r")
    plain = json.loads((tmp_path / "r" / "manifest.json").read_text(encoding="utf-8"))
    assert plain["files"][0]["delimiter"] == ","
    assert sf.verify(tmp_path / "r", policy()).answer == "yes"
