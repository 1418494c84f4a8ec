"""Files: written whole, as open as they should be, and swept after killed runs."""

import os
import subprocess
import sys

import pytest

from sfumato.errors import OutputError
from sfumato.files import replace_folder, sweep, unfinished_folder, write_file

pytestmark = pytest.mark.skipif(os.name == "nt", reason="locks and modes of POSIX")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def abandoned(tmp_path):
    """What a run that was killed left: a folder of the right name that no process has locked."""
    with unfinished_folder(tmp_path / "release") as stage:
        name = stage.name
    left = tmp_path / name
    left.mkdir(mode=0o700)
    (left / "data.csv").write_text("name,ill\nAnn,hiv\n", encoding="utf-8")
    return left


def test_a_file_is_written_as_the_umask_says_or_for_its_owner_only(tmp_path):
    before = os.umask(0o027)
    try:
        write_file(tmp_path / "open", "x")
        write_file(tmp_path / "closed", "x", private="the draft")
    finally:
        os.umask(before)
    assert (tmp_path / "open").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "closed").stat().st_mode & 0o777 == 0o600


def test_a_private_file_that_replaces_an_open_one_is_private(tmp_path):
    (tmp_path / "x").write_text("old", encoding="utf-8")
    (tmp_path / "x").chmod(0o644)
    write_file(tmp_path / "x", "new", private="the report")
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError, match="cannot write"):
        write_file(tmp_path / "folder", "x")
    with pytest.raises(OutputError, match="No such file or directory"):
        write_file(tmp_path / "nowhere" / "x", "x")
    assert names(tmp_path) == ["folder"]


def test_a_device_is_written_through_and_stays(tmp_path):
    (tmp_path / "nothing").symlink_to("/dev/null")
    write_file(tmp_path / "nothing", "x", private="the report")
    assert (tmp_path / "nothing").is_symlink()


def test_work_in_progress_is_private_and_vanishes(tmp_path):
    with unfinished_folder(tmp_path / "new" / "release") as stage:
        assert stage.stat().st_mode & 0o777 == 0o700
        assert stage.parent == tmp_path / "new"
    assert names(tmp_path) == []


def test_what_a_killed_run_left_is_swept(tmp_path, abandoned):
    sweep(tmp_path)
    assert names(tmp_path) == []


def test_what_another_process_works_on_is_not_swept(tmp_path, abandoned):
    holding = (
        "import fcntl, os, sys; fcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_EX); "
        "print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holding, str(abandoned)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        process.stdout.readline()
        sweep(tmp_path)
        assert abandoned.is_dir()
        process.kill()
    sweep(tmp_path)
    assert names(tmp_path) == []


def test_what_this_process_works_on_is_not_swept(tmp_path):
    with unfinished_folder(tmp_path / "release") as stage:
        sweep(tmp_path)
        assert stage.is_dir()


def test_links_files_and_folders_of_others_are_not_swept(tmp_path, abandoned):
    token, host = abandoned.name.split(".")[2:4]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").touch()
    (tmp_path / f".link.{token}.{host}.unfinished").symlink_to(elsewhere)
    (tmp_path / f".file.{token}.{host}.unfinished").touch()
    for name in (
        ".release.unfinished",
        f".release.{token}.unfinished",
        f".release.{token}.00000000.unfinished",
        f"release.{token}.{host}.unfinished",
        f".release.{token}.{host}.unfinished.bak",
    ):
        (tmp_path / name).mkdir()
    before = set(names(tmp_path)) - {abandoned.name}
    (abandoned / "link").symlink_to(elsewhere)
    sweep(tmp_path)
    assert set(names(tmp_path)) == before
    assert names(elsewhere) == ["kept"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")
def test_a_folder_of_another_user_is_not_swept(tmp_path, abandoned):
    os.chown(abandoned, 65534, 65534)
    sweep(tmp_path)
    assert abandoned.is_dir()


def test_a_release_that_was_just_being_replaced_is_put_back(tmp_path, abandoned):
    replaced = tmp_path / abandoned.name.replace(".unfinished", ".replaced")
    abandoned.rename(replaced)
    sweep(tmp_path)
    assert names(tmp_path) == ["release"]
    (tmp_path / "release").rename(replaced)
    (tmp_path / "release").mkdir()
    sweep(tmp_path)
    assert names(tmp_path) == ["release"]
    assert names(tmp_path / "release") == []


def test_a_folder_takes_the_place_of_another_or_leaves_it(tmp_path):
    old, new = tmp_path / "release", tmp_path / "new"
    for folder in (old, new):
        folder.mkdir()
        (folder / folder.name).touch()
    replace_folder(new, old)
    assert names(tmp_path) == ["release"]
    assert names(old) == ["new"]
    with pytest.raises(FileNotFoundError):
        replace_folder(tmp_path / "gone", old)
    assert names(tmp_path) == ["release"]
    assert names(old) == ["new"]
