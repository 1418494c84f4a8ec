"""What gates a release in a pipeline: the action, the hook, and the command they run."""

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pyarrow.csv as pc
import pytest
import yaml

import sfumato as sf
from sfumato.cli.hook import main, releases_of
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


@pytest.mark.usefixtures("patience")
def test_the_action_lets_a_safe_release_through(releases):
    result = run_action(releases, release="safe")
    assert result.returncode == 0, result.stderr
    # Nothing but its manifest names the roles.
    assert "published? With care" in (releases / "summary.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("patience")
def test_the_action_stops_a_leaky_release_and_writes_its_findings(releases):
    result = run_action(releases, release="leaky", sarif="out.sarif")
    assert result.returncode == 1
    assert "published? No" in (releases / "summary.md").read_text(encoding="utf-8")
    log = json.loads((releases / "out.sarif").read_text(encoding="utf-8"))
    assert any(r["ruleId"] == "attack/homogeneity" for r in log["runs"][0]["results"])


@pytest.mark.usefixtures("patience")
def test_the_action_judges_a_plain_file_by_roles(releases):
    pc.write_csv(leaky(), releases / "their file.csv")
    roles = {"quasi-identifiers": "age", "sensitive": "ill"}
    assert run_action(releases, release="their file.csv", **roles).returncode == 1
    assert run_action(releases, release="their file.csv").returncode == 2
    # An input that a workflow left unset must not make a table look safe.
    assert run_action(releases, release="their file.csv", sensitive="ill").returncode == 2


@pytest.mark.usefixtures("patience")
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


@pytest.mark.usefixtures("patience")
def test_the_hook_finds_the_releases_that_files_belong_to(releases):
    assert run_hook(releases).returncode == 0
    assert run_hook(releases, "README.md", "safe/manifest.json").returncode == 0
    result = run_hook(releases, "safe/data.parquet", "leaky/data.parquet", "leaky/manifest.json")
    assert result.returncode == 1
    assert result.stderr.count("May it be published?") == 1
    assert "learns ill, for 8 of 16 people (homogeneity, very high)" in result.stderr


@pytest.mark.usefixtures("patience")
def test_the_hook_stops_a_release_that_was_changed(releases):
    manifest = releases / "safe" / "manifest.json"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace("4", "5", 1), encoding="utf-8")
    result = run_hook(releases, "safe/manifest.json")
    assert result.returncode == 1
    assert "Traceback" not in result.stderr


def test_a_file_outside_any_release_concerns_nobody(tmp_path):
    assert releases_of([str(tmp_path / "a.csv")]) == []


class TestTheHookInARepository:
    """What a commit does to a release, as Git knows it and not only as files are named."""

    @pytest.fixture
    def repository(self, tmp_path, monkeypatch):
        for name in [name for name in os.environ if name.startswith(("GIT_", "PRE_COMMIT"))]:
            monkeypatch.delenv(name)
        run = partial(subprocess.run, cwd=tmp_path, check=True, capture_output=True)

        def git(*words):
            run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words])

        monkeypatch.chdir(tmp_path)
        git("init", "-q")
        sf.anonymize(safe(), policy(), output=tmp_path / "out" / "safe", format="csv")
        (tmp_path / "README.md").write_text("# Data\n", encoding="utf-8")
        git("add", ".")
        assert main([]) == 0, "a first commit has no commit before it"
        git("commit", "-q", "-m", "a release")
        return tmp_path, git

    def test_a_commit_that_touches_no_release_passes(self, repository):
        folder, git = repository
        (folder / "README.md").write_text("# Other data\n", encoding="utf-8")
        (folder / "site").mkdir()
        (folder / "site" / "manifest.json").write_text('{"icons": []}', encoding="utf-8")
        (folder / "site" / "pages").mkdir()
        (folder / "site" / "pages" / "a.html").write_text("", encoding="utf-8")
        git("add", "README.md", "site/pages")
        assert main(["README.md", "site/pages/a.html"]) == 0

    @pytest.mark.parametrize("inside", ["raw.csv", "sub/raw.csv", "sub/deeper/raw.csv"])
    def test_a_file_is_found_however_deep_it_lies_in_a_release(
        self, repository, inside, monkeypatch, capsys
    ):
        folder, git = repository
        path = folder / "out" / "safe" / inside
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("name,ill\nAda,hiv\n", encoding="utf-8")
        git("add", ".")
        for files in ([f"out/safe/{inside}"], []):
            assert main(files) == 1
            assert "not named in the manifest, or not plain files" in capsys.readouterr().err
        # From inside the release, too: names are those of the working folder.
        monkeypatch.chdir(path.parent)
        assert main([path.name]) == 1

    @pytest.mark.parametrize(
        "words",
        [
            ("mv", "out/safe/manifest.json", "out/safe/m.json"),
            ("mv", "out/safe/manifest.json", "manifest.json"),
            ("rm", "-q", "out/safe/manifest.json"),
            ("rm", "-q", "--cached", "out/safe/manifest.json"),
            ("rm", "-q", "out/safe/manifest.json", "out/safe/evidence.json"),
        ],
        ids=" ".join,
    )
    def test_a_lost_manifest_stops_the_commit(self, repository, words, capsys):
        _, git = repository
        git(*words)
        assert main([]) == 1
        assert (
            "out/safe: this release is committed without its manifest.json"
            in capsys.readouterr().err
        )

    def test_a_manifest_that_is_not_committed_with_its_data_is_lost(self, repository, capsys):
        folder, git = repository
        sf.anonymize(safe(), policy(), output=folder / "other", format="csv")
        git("add", "other/data.csv")
        assert main(["other/data.csv"]) == 1
        assert "without its manifest.json and evidence.json" in capsys.readouterr().err

    def test_lost_evidence_stops_the_commit(self, repository, capsys):
        _, git = repository
        git("rm", "-q", "out/safe/evidence.json")
        assert main([]) == 1
        assert "without its evidence.json" in capsys.readouterr().err

    def test_removed_and_renamed_data_stops_the_commit(self, repository):
        _, git = repository
        git("mv", "out/safe/data.csv", "out/safe/other.csv")
        assert main([]) == 1
        git("rm", "-qf", "out/safe/other.csv")
        assert main([]) == 1

    def test_a_release_may_be_moved_or_withdrawn_whole(self, repository):
        _, git = repository
        git("mv", "out/safe", "moved")
        assert main([]) == 0
        git("rm", "-rqf", "moved")
        assert main([]) == 0

    def test_a_range_of_commits_is_compared_with_its_first(self, repository, monkeypatch):
        _, git = repository
        git("rm", "-q", "out/safe/manifest.json", "out/safe/evidence.json")
        git("commit", "-q", "-m", "lost")
        assert main([]) == 0
        monkeypatch.setenv("PRE_COMMIT_FROM_REF", "HEAD~1")
        assert main([]) == 1


@pytest.mark.usefixtures("patience")
def test_evidence_without_a_manifest_is_a_release_that_lost_it(releases):
    (releases / "safe" / "manifest.json").rename(releases / "safe" / "m.json")
    result = run_hook(releases, "safe/data.parquet")
    assert result.returncode == 1
    assert "without its manifest.json" in result.stderr


@pytest.mark.usefixtures("patience")
def test_gates_import_nothing_that_lies_in_the_repository(releases):
    for name in ("yaml", "pyarrow", "pip", "json"):
        (releases / f"{name}.py").write_text("open('run', 'w')\n", encoding="utf-8")
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    words = [sys.executable, *hook["entry"].split()[1:], "safe/data.parquet"]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(words, cwd=releases, env=env, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not (releases / "run").exists()
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    for step in action["runs"]["steps"]:
        assert "python -m" not in step["run"]
