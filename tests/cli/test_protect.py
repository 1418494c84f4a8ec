"""`sfumato protect`: the whole loop as a command."""

import json

import pyarrow.csv as pa_csv

from tests.tasks.test_detect import leaky, policy


def test_on_the_command_line(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pa_csv.write_csv(leaky(), "table.csv")
    (tmp_path / "policy.yaml").write_text(policy().to_yaml())
    result = run("protect", "table.csv", "-p", "policy.yaml", "-o", "out", "--alpha", "0.6")
    assert result.exit_code == 0, result.output
    assert "refine" in result.stdout
    assert "The release is in out" in result.stderr
    plain = run(
        "protect", "table.csv", "-p", "policy.yaml", "-o", "out", "--alpha", "0.6", "--force",
        "--json",
    )  # fmt: skip
    assert [step["action"] for step in json.loads(plain.stdout)["steps"]] == ["anonymize", "refine"]
