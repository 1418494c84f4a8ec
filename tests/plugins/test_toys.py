"""A file format and a decoupling that no file of the project knows work everywhere."""

import json
import os
import subprocess
import sys

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.app.desk import Desk, TableSource
from sfumato.cli.app import app
from tests.app.asking import Client

POLICY = """
columns:
  age: {role: quasi-identifier, hierarchy: {kind: intervals, widths: [10, 20]}}
  ill: sensitive
  pay: sensitive
models:
  - {model: k-anonymity, k: 3}
"""
PEOPLE = {
    "age": [21, 22, 23, 31, 32, 33] * 5,
    "ill": ["flu", "gout", "hiv"] * 10,
    "pay": ["a", "b"] * 15,
}

pytestmark = [pytest.mark.usefixtures("patience")]


@pytest.fixture
def work(installed, tmp_path):
    """A folder with a table in the format of the plug-in, and a policy."""
    from sfumato.tables.formats import FORMATS

    folder = tmp_path / "work"
    folder.mkdir()
    FORMATS["rows"]().write(pa.table(PEOPLE), folder / "people.rows")
    (folder / "policy.yaml").write_text(POLICY)
    return folder


def test_python_reads_writes_verifies_and_reports(work):
    release = sf.anonymize(work / "people.rows", work / "policy.yaml", output=work / "out", seed=1)
    assert (work / "out" / "data.rows").exists()
    assert release.manifest.files[0].format == "rows"
    found = sf.verify(work / "out", work / "policy.yaml")
    assert found.verdict.holds
    assert sf.utility(work / "people.rows", work / "out", queries=20).queries.mean >= 0
    assert sf.report(work / "out", data=work / "people.rows").document.sections
    assert len(sf.read_release(work / "out")) == 30
    recipe = (work / "out" / "README.md").read_text(encoding="utf-8")
    assert 'pd.read_json("data.rows", lines=True)' in recipe


def test_a_changed_file_is_found_out(work):
    sf.anonymize(work / "people.rows", work / "policy.yaml", output=work / "out", seed=1)
    data = work / "out" / "data.rows"
    data.write_text(data.read_text().replace("21", "20", 1))
    assert not sf.verify(work / "out").verdict.holds


def test_a_decoupling_goes_all_the_way(work):
    made = sf.decouple(
        work / "people.rows",
        "teams",
        policy=work / "policy.yaml",
        output=work / "apart",
        format="rows",
    )
    assert made.manifest.kind == "teams"
    assert sf.verify(work / "apart").verdict.holds
    assert sf.utility(work / "people.rows", work / "apart", queries=20).queries.mean >= 0
    assert sf.breach(work / "apart").views
    assert "teams" in sf.explain(work / "apart", {"age": "21"}).where
    ids = {section.id for section in sf.report(work / "apart").document.sections}
    assert {"dependencies", "breaches"} <= ids


def test_the_command_line_knows_both(work, installed, monkeypatch):
    """The first in a process of its own, which finds the package as it finds any."""
    paths = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-c", "from sfumato.cli import main; main()", "anonymize"]
    made = subprocess.run(
        [*command, "people.rows", "-p", "policy.yaml", "-o", "out"],
        cwd=work, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert (work / "out" / "data.rows").exists()
    monkeypatch.chdir(work)

    def run(*words):
        return CliRunner().invoke(app, [*words])

    made = run("decouple", "out", "--method", "teams", "-o", "apart", "--format", "rows")
    assert made.exit_code == 0, made.output
    assert len(list((work / "apart").glob("*.rows"))) > 1
    for made in ("out", "apart"):
        told = json.loads(run("verify", made, "--json").stdout)
        assert told["answer"] in ("yes", "with care", "no")
        assert told["checks"]
        assert {check["status"] for check in told["checks"]} == {"holds"}
        measured = run("utility", "people.rows", made, "--queries", "20")
        assert measured.exit_code == 0, measured.output
        assert run("report", made, "-o", f"{made}.html").exit_code in (0, 1)
        page = (work / f"{made}.html").read_text(encoding="utf-8")
        assert ("teams" in page) == (made == "apart")


def test_the_app_offers_both_and_publishes_with_them(work):
    desk = Desk(work)
    try:
        desk.open_source(TableSource(str(work / "people.rows"), "people.rows"))
        desk.change(POLICY, "data", "given")
        client = Client(desk)
        assert "people.rows" in [path.name for path in desk.data_files()]
        assert "People who look alike, under another word." in client.get("decouple").text
        desk.settings["language"] = "de"
        assert "Leute, die einander gleichen." in client.get("decouple").text
        del desk.settings["language"]
        client.post("decouple/method", method="teams")
        assert desk.policy.decouple.name == "teams"
        assert ">rows<" in client.get("publish").text
        chosen = {"name": "apart", "seed": "7", "format": "rows"}
        insisting = {"word": "no", "because": "a table of nobody's"}
        client.post("publish/set", do="publish", **chosen, **insisting)
        job = desk.jobs.get("publish")
        assert job.wait(120)
        assert job.error is None
        assert sf.verify(work / "apart").verdict.holds
        assert {path.suffix for path in (work / "apart").glob("*.rows")} == {".rows"}
        assert json.loads((work / "apart" / "manifest.json").read_text())["kind"] == "teams"
    finally:
        desk.end()
