"""The scripts in `examples/` run, and end well."""

import os
import subprocess
import sys

import pytest

from tests.docs.pages import ROOT

SCRIPTS = sorted((ROOT / "examples").glob("*.py"))
SLOW = {"budget_on_a_wide_table.py"}
"""What searches for long, to show what that is good for."""


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    "script",
    [pytest.param(s, marks=pytest.mark.thorough) if s.name in SLOW else s for s in SCRIPTS],
    ids=lambda path: path.name,
)
def test_an_example_runs_anywhere_and_leaves_nothing_behind(script, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONWARNINGS": "error"}
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert list(tmp_path.iterdir()) == []


def test_every_example_is_named_in_the_list_of_examples():
    text = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert SCRIPTS
    assert all(f"({script.name})" in text for script in SCRIPTS)
