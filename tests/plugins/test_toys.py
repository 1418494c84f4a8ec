"""A file format and a decoupling that no file of the project knows work everywhere."""

import os
import subprocess
import sys

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.app.desk import Desk, TableSource
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


def test_the_command_line_knows_both(work, installed):
    """In a process of its own, which finds the package as it finds any."""
    paths = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])

    def run(*words):
        command = [sys.executable, "-c", "from sfumato.cli import main; main()", *words]
        environment = {**os.environ, "PYTHONPATH": paths}
        return subprocess.run(
            command, cwd=work, env=environment, capture_output=True, text=True, check=False
        )

    made = run("anonymize", "people.rows", "-p", "policy.yaml", "-o", "out")
    assert made.returncode == 0, made.stderr
    made = run("decouple", "out", "--method", "teams", "-o", "apart")
    assert made.returncode == 0, made.stderr
    assert (work / "apart" / "manifest.json").exists()
    assert run("verify", "apart").returncode in (0, 1)


def test_the_app_offers_both(work):
    desk = Desk(work)
    try:
        desk.open_source(TableSource(str(work / "people.rows"), "people.rows"))
        desk.change(POLICY, "data", "given")
        client = Client(desk)
        assert "teams" in client.get("decouple").text
        assert ">rows<" in client.get("publish").text
    finally:
        desk.end()
