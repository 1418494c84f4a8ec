"""Private files do not lie in releases, however the path is written."""

import os

import pytest

from sfumato.errors import OutputError
from sfumato.files.private import is_open, refuse_inside_release, release_around

MANIFEST = '{"sfumato": "0.1.0", "columns": [], "models": []}'


@pytest.fixture
def release(tmp_path):
    folder = tmp_path / "release"
    folder.mkdir()
    (folder / "manifest.json").write_text(MANIFEST)
    return folder


def refused(path, **options):
    with pytest.raises(OutputError, match="is private") as error:
        refuse_inside_release(path, "the ledger", **options)
    assert "which all readers get. Keep it in another folder" in str(error.value)
    return error


def test_a_file_in_a_release_is_refused_at_any_depth(release):
    (release / "sub").mkdir()
    for path in ("x.ledger", "sub/x.ledger", "sub/none/x.ledger", "sub/../x.ledger"):
        refused(release / path)
    refuse_inside_release(release / ".." / "x.ledger", "the ledger")
    refuse_inside_release(release.parent / "x.ledger", "the ledger")


def test_links_are_followed(release, tmp_path):
    (tmp_path / "link").symlink_to(release)
    (tmp_path / "file").symlink_to(release / "x.ledger")
    (release / "out").symlink_to(tmp_path)
    refused(tmp_path / "link" / "x.ledger")
    refused(tmp_path / "file")
    refused(release / "out" / "x.ledger")


def test_links_in_a_circle_lead_nowhere(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    refuse_inside_release(tmp_path / "a" / "x.ledger", "the ledger")


def test_a_relative_path_is_looked_at_from_where_it_is(release, monkeypatch):
    monkeypatch.chdir(release)
    refused("x.ledger")
    refuse_inside_release("../x.ledger", "the ledger")


def test_the_folder_that_is_about_to_be_written_is_one(tmp_path):
    refused(tmp_path / "next" / "x.ledger", output=tmp_path / "next")
    refused(tmp_path / "next" / "sub" / "x.ledger", output=tmp_path / "next")
    refuse_inside_release(tmp_path / "x.ledger", "the ledger", output=tmp_path / "next")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "\x00", "[" * 100_000])
def test_a_manifest_that_cannot_be_read_counts(tmp_path, text):
    (tmp_path / "manifest.json").write_text(text)
    assert release_around(tmp_path / "x") == tmp_path


def test_a_manifest_that_is_no_plain_file_counts(tmp_path):
    os.mkfifo(tmp_path / "manifest.json")
    assert release_around(tmp_path / "x") == tmp_path


def test_the_manifest_of_a_web_page_does_not_count_unless_there_is_evidence(tmp_path):
    (tmp_path / "manifest.json").write_text('{"name": "app", "icons": [], "start_url": "/"}')
    assert release_around(tmp_path / "x") is None
    (tmp_path / "evidence.json").write_text("{}")
    assert release_around(tmp_path / "x") == tmp_path


def test_who_may_read_and_write_a_file(tmp_path):
    file = tmp_path / "x"
    file.write_text("")
    for mode, readable, writable in ((0o600, False, False), (0o640, True, False), (0o602, 0, 1)):
        file.chmod(mode)
        assert is_open(file) == readable
        assert is_open(file, writable=True) == writable
