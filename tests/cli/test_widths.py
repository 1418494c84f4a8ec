"""Tables fit a terminal of 80 columns, however long names are, and progress names its stage."""

import re
from pathlib import Path

import pytest

from sfumato import cli

LONG = "a_name_of_a_column_that_is_longer_than_anybody_would_like_it_to_be"
POLICY = f"""\
columns:
  age: {{role: quasi-identifier, hierarchy: {{kind: intervals, widths: [10, 20]}}}}
  {LONG}: quasi-identifier
  diagnosis_at_the_first_visit: sensitive
  pay: sensitive
models:
  - {{model: k-anonymity, k: 4}}
"""
COMMANDS = [
    "inspect people.csv -p policy.yaml",
    "hierarchies people.csv -p policy.yaml",
    "lattice people.csv -p policy.yaml",
    "anonymize people.csv -p policy.yaml -o again",
    "anonymize people.csv -p policy.yaml -o again --force --method mondrian",
    "compare people.csv policy.yaml --vary k=2,4",
    "verify release",
    "detect release --tables",
    "breach release",
    "explain release age=33",
    "utility people.csv release -p policy.yaml",
    "correlations release",
    "decouple release -o apart",
]


@pytest.fixture
def people(folder, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    ills = ["influenza with complications", "gout", "hypertension"]
    rows = [(20 + n % 40, "fm"[n % 2], ills[n % 3], 1000 + n % 4) for n in range(160)]
    lines = "\n".join(",".join(map(str, row)) for row in rows)
    head = f"age,{LONG},diagnosis_at_the_first_visit,pay"
    (folder / "people.csv").write_text(f"{head}\n{lines}\n", encoding="utf-8")
    assert run("anonymize", "people.csv", "-p", "policy.yaml", "-o", "release").exit_code == 0


@pytest.mark.usefixtures("patience")
def test_no_table_is_wider_than_the_terminal(run, people):
    for command in COMMANDS:
        result = run(*command.split())
        assert result.exit_code in (0, 1), (command, result.stderr)
        for line in result.stdout.splitlines():
            assert len(line) <= 80, (command, line)


def test_every_command_says_what_it_is_doing():
    for path in Path(cli.__file__).parent.glob("*.py"):
        for found in re.findall(r"with progress_bar\(.*", path.read_text(encoding="utf-8")):
            assert " as progress" in found or 'progress_bar("' in found, (path.name, found)
