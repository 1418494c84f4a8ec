"""A database from outside: the example package for SQLite, found through its entry points."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "engine-sqlite"
SCRIPT = Path(__file__).with_name("plugin_chain.py")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Install the example into a folder as pip would: its module, and what it says of itself."""
    folder = tmp_path_factory.mktemp("site")
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    [module] = EXAMPLE.glob("*.py")
    (folder / module.name).write_bytes(module.read_bytes())
    info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(head, encoding="utf-8")
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    return folder


def run(folder, tmp_path, *more):
    path = os.pathsep.join([str(folder), *sys.path]) if folder else os.pathsep.join(sys.path)
    return subprocess.run(
        [sys.executable, "-W", "error", str(SCRIPT), *more],
        env={**os.environ, "PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.usefixtures("patience")
def test_an_outside_database_does_what_ours_do(installed, tmp_path):
    done = run(installed, tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["counts"] == found["embedded counts"]
    assert found["released"] == found["embedded released"]
    assert found["local rows"] == found["embedded local rows"]
    assert found["verified"] is True
    assert found["signed"] is True
    assert found["tampered"] is False
    assert found["decoupled"] is True
    assert found["left"] == []


@pytest.mark.usefixtures("patience")
def test_without_the_package_an_address_is_no_table(tmp_path):
    done = run(None, tmp_path)
    assert done.returncode != 0
    assert "sqlite" in done.stderr
