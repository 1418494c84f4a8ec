"""What a killed app left behind is removed by the next one, and nothing else is."""

import os
import stat
import subprocess
import sys

import pytest

from sfumato.app.desk import Desk
from sfumato.app.opening import _alone_in
from sfumato.errors import InputError, OutputError
from tests.app.serving import serving
from tests.app.test_gate import PEOPLE

PROGRAM = "from sfumato.cli import main; main()"


@pytest.fixture
def folder(tmp_path):
    found = tmp_path / "work"
    found.mkdir()
    return found


def private_files(folder):
    found = folder / ".sfumato-app"
    return {str(p.relative_to(found)) for p in found.rglob("*")}


def kill(served):
    served.process.kill()
    served.process.wait()


@pytest.mark.usefixtures("patience")
def test_what_a_killed_app_left_is_swept_at_the_next_start(folder, tmp_path):
    own = {"notes.part": "mine", ".hidden": "mine", ".sfumato-app.txt": "mine"}
    for name, text in own.items():
        (folder / name).write_text(text)
    (folder / "making-up").mkdir()
    with serving(folder, tmp_path / "said.txt") as served:
        for name in ("first.csv", "second.csv", "third.csv"):
            assert served.open_table(name, PEOPLE).status == 201
        kill(served)
    private = folder / ".sfumato-app"
    assert {"uploads/first.csv", "uploads/second.csv"} <= private_files(folder)
    # And what it was in the middle of.
    (private / "uploads" / ".0123456789abcdef.part").write_bytes(PEOPLE)
    (private / "making-x1y2z3").mkdir()
    (private / "making-x1y2z3" / "data.csv").write_bytes(PEOPLE)
    (private / "tmp" / "rows").write_bytes(PEOPLE)
    (private / "policy.part").write_bytes(PEOPLE)
    with serving(folder, tmp_path / "said.txt") as served:
        left = private_files(folder)
        # It goes on where it was, with the table that was open.
        assert "third.csv" in served.ask("GET", "/data").text
        assert "disease" in served.ask("GET", "/data/preview").text
        assert {name for name in left if name.startswith("uploads/")} == {"uploads/third.csv"}
        assert not [name for name in left if "making" in name or "part" in name or "rows" in name]
        for path in [private, *private.rglob("*")]:
            assert not stat.S_IMODE(path.lstat().st_mode) & 0o077, path
    for name, text in own.items():
        assert (folder / name).read_text() == text
    assert (folder / "making-up").is_dir()
    assert not private.exists()


@pytest.mark.usefixtures("patience")
def test_with_another_table_nothing_of_the_killed_app_stays(folder, tmp_path):
    (folder / "people.csv").write_bytes(PEOPLE)
    with serving(folder, tmp_path / "said.txt") as served:
        assert served.open_table("secret.csv", PEOPLE).status == 201
        kill(served)
    with serving(folder, tmp_path / "said.txt", str(folder / "people.csv")):
        assert not [name for name in private_files(folder) if "secret" in name]


@pytest.mark.usefixtures("patience")
def test_an_app_that_runs_is_left_alone(folder, tmp_path):
    with serving(folder, tmp_path / "said.txt") as served:
        assert served.open_table("people.csv", PEOPLE).status == 201
        (folder / ".sfumato-app" / "uploads" / "other.csv").write_bytes(PEOPLE)
        before = private_files(folder)
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, "app", "--no-browser", "--folder", str(folder)],
            capture_output=True, text=True, check=False, timeout=240, cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 2
        assert "another app works in" in done.stderr
        assert private_files(folder) == before
        assert served.ask("GET", "/data/preview").status == 200


def test_a_folder_is_free_as_soon_as_its_app_is_dead(folder):
    with _alone_in(folder) as alone:
        assert alone
        with pytest.raises(OutputError, match="another app"), _alone_in(folder):
            pass
    with _alone_in(folder) as alone:
        assert alone


def test_links_are_removed_and_not_followed(folder, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine.csv").write_bytes(PEOPLE)
    desk = Desk(folder)
    (desk.private / "uploads").symlink_to(elsewhere)
    (desk.private / "making-x").symlink_to(elsewhere)
    with pytest.raises(InputError, match="lies outside"), desk.receiving("people.csv"):
        pass
    desk.sweep()
    assert [path.name for path in elsewhere.iterdir()] == ["mine.csv"]
    assert not os.path.lexists(desk.private / "making-x")
    desk.end()


@pytest.mark.usefixtures("patience")
def test_temporary_files_of_libraries_lie_in_the_private_folder(folder, tmp_path, monkeypatch):
    system = tmp_path / "system"
    system.mkdir()
    monkeypatch.setenv("TMPDIR", str(system))
    with serving(folder, tmp_path / "said.txt") as served:
        assert served.open_table("people.csv", PEOPLE).status == 201
        served.ask("GET", "/status")
        served.ask("POST", "/look/make")
        served.wait("release")
        assert (folder / ".sfumato-app" / "tmp").is_dir()
    assert [*system.iterdir()] == []
