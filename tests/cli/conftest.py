"""Run commands in this process, in an empty folder, and look at what they leave behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

POLICY = """\
columns:
  name: identifier
  age: {role: quasi-identifier, hierarchy: {kind: intervals, widths: [10]}}
  zip: {role: quasi-identifier, hierarchy: {kind: masking}}
  ill: sensitive
models: [{model: k-anonymity, k: 2}]
"""

PATIENTS = """\
name,age,zip,ill
Ann,21,4711,flu
Bob,24,4712,gout
Cai,35,4811,flu
Dan,38,4812,hiv
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SFUMATO_DEBUG", raising=False)
    return tmp_path


@pytest.fixture
def patients(folder):
    """Four patients and a policy that decades and two digits of the postcode keep."""
    (folder / "patients.csv").write_text(PATIENTS, encoding="utf-8")
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    return folder


@pytest.fixture
def run():
    """Run a command line as the program would, and give exit code, stdout and stderr."""
    from sfumato.cli.app import app

    def run(*args):
        return CliRunner().invoke(app, [str(arg) for arg in args])

    return run


@pytest.fixture
def program(folder):
    """Start the program itself."""

    def start(*args, **settings):
        environment = {**os.environ, **settings.pop("env", {})}
        command = [sys.executable, "-c", "from sfumato.cli import main; main()", *map(str, args)]
        return subprocess.Popen(
            command,
            **{
                "cwd": folder,
                "env": environment,
                "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE,
                **settings,
            },
        )

    return start


BESIDE = {"manifest.json", "evidence.json", "README.md", "codebook.csv", "codebook.md"}
"""What lies beside the rows of a release in one table."""


def everything_in(folder) -> set[str]:
    """List all files and folders, hidden ones included."""
    return {str(path.relative_to(folder)) for path in Path(folder).rglob("*")}
