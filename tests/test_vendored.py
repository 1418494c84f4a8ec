"""Scripts of others are those that their list names, to the last byte."""

import re
import tomllib
from hashlib import sha256

import pytest

from tests.docs.pages import ROOT

PACKAGE = ROOT / "src" / "sfumato"
LISTS = sorted(PACKAGE.rglob("vendored.toml"))
LISTED = {
    path.parent / each["file"]: each
    for path in LISTS
    for each in tomllib.loads(path.read_text(encoding="utf-8"))["script"]
}
SERVED = (".js", ".mjs", ".css", ".wasm", ".map", ".woff", ".woff2", ".ttf")


def test_there_is_one_list():
    assert len(LISTS) == 1
    assert len(LISTED) >= 2


@pytest.mark.parametrize("path", LISTED, ids=lambda path: path.name)
def test_a_script_of_others_is_the_one_that_is_listed(path):
    each = LISTED[path]
    assert sha256(path.read_bytes()).hexdigest() == each["sha256"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", each["version"])
    assert each["licence"]
    assert each["from"]


def test_no_script_of_others_is_unlisted():
    found = {path for path in PACKAGE.rglob("vendor/*") if path.is_file()}
    assert {path for path in found if path.name not in ("README.md", "vendored.toml")} == {*LISTED}


def test_what_is_not_listed_is_written_by_hand():
    """A library that was copied elsewhere has long lines, or says whose it is."""
    for path in PACKAGE.rglob("*"):
        if path.suffix not in SERVED or path in LISTED:
            continue
        text = path.read_text(encoding="utf-8")
        assert ".min." not in path.name, path
        assert max(map(len, text.splitlines())) < 400, path
        assert not re.search(r"@license|@preserve|Copyright|\(c\) ", text, re.IGNORECASE), path
