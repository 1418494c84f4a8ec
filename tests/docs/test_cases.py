"""The notebooks of the worked cases run, show what is kept in them, and read as pages do."""

import json
import os
import re
import subprocess
import sys
from urllib.parse import unquote

import pytest

from docs import cases
from tests.docs.pages import ROOT, anchors

LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
every_case = pytest.mark.parametrize("path", cases.notebooks(), ids=lambda path: path.stem)


def prose(path):
    cells = cases.read(path)["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


@pytest.mark.notebooks
@every_case
def test_a_notebook_shows_what_is_kept_in_it(path):
    # In a process of its own: what runs notebooks leaves sockets and threads behind.
    done = subprocess.run(
        [sys.executable, "-m", "docs.cases", "--check", path.stem],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_what_differs_is_told(monkeypatch, capsys):
    path = cases.notebooks()[0]
    other = cases.read(path)
    cell = next(c for c in other["cells"] if c.get("outputs") and "text" in c["outputs"][0])
    cell["outputs"][0]["text"] = ["something else\n"]
    monkeypatch.setattr(cases, "run", lambda _: other)
    assert cases.main(["--check", path.stem]) == 1
    said = capsys.readouterr().err
    assert f"{path.name} shows something else" in said
    assert re.search(r"^\+cell \d+: something else$", said, re.MULTILINE)
    monkeypatch.setattr(cases, "run", cases.read)
    assert cases.main(["--check", path.stem]) == 0


@every_case
def test_a_notebook_is_small_and_tells_nothing_of_who_ran_it(path):
    text = path.read_text(encoding="utf-8")
    assert len(text) < 200_000
    assert not re.search(r"(?<![\w.])/(work|tmp|home|root|Users|mnt|usr)\b", text)
    assert not re.search(r"\bat 0x[0-9a-f]+|[A-Z]:\\\\", text)
    # Written as `python -m docs.cases` writes it.
    kept = json.dumps(json.loads(text), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    assert text == kept


@every_case
def test_links_of_a_notebook_lead_to_pages(path):
    for link in LINK.findall(prose(path)):
        if link.startswith("https://doi.org/"):
            continue
        name, _, place = unquote(link).partition("#")
        target = (path.parent / name).resolve()
        assert target.is_relative_to(ROOT), link
        assert target.is_file(), link
        assert not place or place in anchors(target), link


@every_case
def test_a_case_says_what_is_not_protected_and_what_was_lost(path):
    headings = re.findall(r"^## (.*)$", prose(path), re.MULTILINE)
    assert "What this does not protect" in headings
    assert "What was lost" in headings


@every_case
def test_drawings_have_words(path):
    """The first line of a cell that draws is the text of the picture on the site."""
    for cell in cases.read(path)["cells"]:
        drawn = [o for o in cell.get("outputs", ()) if "image/svg+xml" in o.get("data", {})]
        if drawn:
            assert "".join(cell["source"]).startswith("# ")
            assert all("<metadata>" not in "".join(o["data"]["image/svg+xml"]) for o in drawn)


def test_every_case_is_listed():
    for page in ("examples/README.md", "docs/README.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert all(f"/{path.name})" in text for path in cases.notebooks()), page
