"""A machine without a C compiler: the build says so and succeeds, and releases are the same."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]

PROGRAM = """\
import sys
import pyarrow as pa
import sfumato as sf
from sfumato.search import kernel

rows = [(20 + i * 7 % 40, 4000 + i * 13 % 90, "abcde"[i * 11 % 5]) for i in range(600)]
table = pa.table({name: [row[i] for row in rows] for i, name in enumerate(("age", "zip", "ill"))})
print("compiled" if kernel.COMPILED else "numpy", file=sys.stderr)
for search in ("best-first", "exhaustive"):
    for models in ([{"model": "k-anonymity", "k": 7}],
                   [{"model": "k-anonymity", "k": 3},
                    {"model": "distinct-l-diversity", "column": "ill", "l": 4}]):
        columns = {"age": {"role": "quasi-identifier",
                           "hierarchy": {"kind": "intervals", "widths": [5, 10, 20]}},
                   "zip": {"role": "quasi-identifier", "hierarchy": {"kind": "masking"}},
                   "ill": "sensitive"}
        policy = {"columns": columns, "models": models, "suppression": "5%", "search": search}
        release = sf.anonymize(table, policy, seed=1)
        print(release.levels, release.manifest.to_json(), release.table.to_pylist())
"""


def published(**environment):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), **environment},
    )
    return done.stderr.split()[-1], done.stdout


@pytest.mark.usefixtures("patience")
def test_releases_are_the_same_without_the_compiled_loops():
    how, told = published(SFUMATO_KERNEL="off")
    assert how == "numpy"
    # Where nothing was compiled, this compares NumPy with itself.
    assert published()[1] == told
    assert told.count("levels") >= 4


@pytest.fixture
def hook(monkeypatch):
    """The hook of the build, and what it warns of; the builder itself need not be installed."""
    interface = ModuleType("interface")
    interface.BuildHookInterface = object
    for name in ("", ".builders", ".builders.hooks", ".builders.hooks.plugin"):
        monkeypatch.setitem(sys.modules, f"hatchling{name}", ModuleType(name or "hatchling"))
    whole = "hatchling.builders.hooks.plugin.interface"
    monkeypatch.setitem(sys.modules, whole, interface)
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = module.KernelHook()
    found.root, found.app, warned = str(ROOT), ModuleType("app"), []
    found.app.display_warning = warned.append
    return found, warned


@pytest.mark.usefixtures("patience")
def test_a_build_without_a_compiler_succeeds_and_says_what_to_install(hook, monkeypatch, tmp_path):
    pytest.importorskip("setuptools")
    made, warned = hook
    before = {path.name for path in (ROOT / "src/sfumato/search").iterdir()}
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", str(tmp_path / "cc"))
    monkeypatch.chdir(ROOT)
    about = {"artifacts": [], "pure_python": True}
    made.initialize("standard", about)
    assert about == {"artifacts": [], "pure_python": True}
    [text] = warned
    assert "install a C compiler and install Sfumato again" in text
    assert "results are the same" in text
    assert {path.name for path in (ROOT / "src/sfumato/search").iterdir()} == before


def test_a_build_that_is_told_to_compile_nothing_asks_for_no_compiler(hook, monkeypatch):
    made, warned = hook
    monkeypatch.setenv("SFUMATO_KERNEL", "off")
    about = {"artifacts": []}
    made.initialize("standard", about)
    assert about == {"artifacts": []}
    assert not warned
