"""What gates a release in a pipeline: the action, the hook, and the command they run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.csv as pc
import pytest
import yaml

import sfumato as sf
from sfumato.cli.hook import releases_of
from tests.verdicts.tables import leaky, policy, safe

ROOT = Path(__file__).parents[2]


@pytest.fixture
def releases(tmp_path):
    """A folder that may be published and one that may not."""
    sf.anonymize(safe(), policy(), output=tmp_path / "safe")
    sf.anonymize(leaky(), policy(), output=tmp_path / "leaky")
    return tmp_path


def run_action(folder, **inputs):
    """Run the last step of the action as a runner would: in bash, its inputs as variables."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    step = action["runs"]["steps"][-1]
    given = {name: each.get("default", "") for name, each in action["inputs"].items()} | inputs
    env = {
        name: given[value.removeprefix("${{ inputs.").removesuffix(" }}")]
        for name, value in step["env"].items()
    }
    env |= {"GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step["run"]],
        env=env, cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_action_lets_a_safe_release_through(releases):
    result = run_action(releases, release="safe")
    assert result.returncode == 0, result.stderr
    assert "published? Yes" in (releases / "summary.md").read_text(encoding="utf-8")


def test_the_action_stops_a_leaky_release_and_writes_its_findings(releases):
    result = run_action(releases, release="leaky", sarif="out.sarif")
    assert result.returncode == 1
    assert "published? No" in (releases / "summary.md").read_text(encoding="utf-8")
    log = json.loads((releases / "out.sarif").read_text(encoding="utf-8"))
    assert any(r["ruleId"] == "attack/homogeneity" for r in log["runs"][0]["results"])


def test_the_action_judges_a_plain_file_by_roles(releases):
    pc.write_csv(leaky(), releases / "their file.csv")
    roles = {"quasi-identifiers": "age", "sensitive": "ill"}
    assert run_action(releases, release="their file.csv", **roles).returncode == 1
    assert run_action(releases, release="their file.csv").returncode == 2


def test_inputs_of_the_action_are_never_run(releases):
    for evil in ("$(touch evil)", "; touch evil", "--help"):
        result = run_action(releases, release=evil, policy=evil)
        assert result.returncode != 0 or evil == "--help"
    assert not (releases / "evil").exists()


def test_the_scripts_of_the_action_take_inputs_as_variables_only():
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert all("${{" not in step["run"] for step in action["runs"]["steps"])


def run_hook(folder, *files):
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    program, *rest = hook["entry"].split()
    assert program == "python"
    return subprocess.run(
        [sys.executable, *rest, *files], cwd=folder, capture_output=True, text=True, check=False
    )


def test_the_hook_finds_the_releases_that_files_belong_to(releases):
    assert run_hook(releases).returncode == 0
    assert run_hook(releases, "README.md", "safe/manifest.json").returncode == 0
    result = run_hook(releases, "safe/data.parquet", "leaky/data.parquet", "leaky/manifest.json")
    assert result.returncode == 1
    assert result.stderr.count("May it be published?") == 1
    assert "learns ill, for 8 of 16 people (homogeneity, very high)" in result.stderr


def test_the_hook_stops_a_release_that_was_changed(releases):
    manifest = releases / "safe" / "manifest.json"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace("4", "5", 1), encoding="utf-8")
    result = run_hook(releases, "safe/manifest.json")
    assert result.returncode == 1
    assert "Traceback" not in result.stderr


def test_a_file_outside_any_release_concerns_nobody(tmp_path):
    assert releases_of([str(tmp_path / "a.csv")]) == []
