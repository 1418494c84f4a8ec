"""What a command loads before it does anything: a second of somebody's time, every time."""

import subprocess
import sys

import pytest

SCRIPT = """
import sys
import sfumato as sf
from pathlib import Path
folder = Path(sys.argv[1])
policy = {
    "columns": {
        "born": "quasi-identifier",
        "age": {"role": "quasi-identifier", "missing_codes": ["-9"]},
        "ill": "sensitive",
    },
    "models": [{"model": "k-anonymity", "k": 2}],
}
release = sf.anonymize(folder / sys.argv[2], policy, output=folder / "release")
sf.verify(folder / "release")
sf.inspect(folder / sys.argv[2], policy=policy)
sf.detect(folder / "release")
sf.draft(folder / sys.argv[2])
loaded = {"pandas", "polars", "scipy", "sklearn", "matplotlib"} & set(sys.modules)
assert not loaded, loaded
"""


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("empty", ["", "flu"], ids=["with an empty cell", "with none"])
def test_no_task_loads_a_library_that_it_does_not_need(empty, tmp_path):
    """Arrow imports pandas for a number of Python's beside an array, where it is installed."""
    rows = [
        f"13.{month}.1994,{age},{ill}"
        for month, age in ((5, 31), (6, 42), (7, -9))
        for ill in ("flu", "gout", "flu", empty)
    ]
    (tmp_path / "people.csv").write_text("\n".join(["born,age,ill", *rows]) + "\n")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path), "people.csv"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
