"""A run with a memory budget keeps within it, also with more combinations than fit."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

BUDGET = 600
"""MB."""

SCRIPT = """
import pathlib, re, sys
import sfumato as sf
from sfumato.hierarchy import Masking

rule = {"role": "quasi-identifier", "hierarchy": Masking()}
policy = sf.Policy(
    columns={f"q{i}": rule for i in range(7)}, models=[sf.models.KAnonymity(5)], suppression=0.3
)
folder = pathlib.Path(sys.argv[1]).with_suffix(".release")
release = sf.anonymize(sys.argv[1], policy, output=folder, memory=sys.argv[2])
assert "from level 1" in release.manifest.notes[0]
# Not getrusage: its peak includes that of the process this one was started from.
peak = re.search(r"VmHWM:\\s+(\\d+) kB", pathlib.Path("/proc/self/status").read_text())
print(int(peak[1]) / 1024)
"""


def write_people(path: Path, rows: int) -> None:
    rng = np.random.default_rng(0)
    digits = pa.array([f"{n:02d}" for n in range(100)])
    names = [f"q{i}" for i in range(7)]
    with pq.ParquetWriter(path, pa.schema([(name, pa.string()) for name in names])) as writer:
        for _ in range(rows // 100_000):
            drawn = [np.minimum(rng.geometric(0.15, 100_000), 99) for _ in names]
            cells = [digits.take(pa.array(column)) for column in drawn]
            writer.write_batch(pa.RecordBatch.from_arrays(cells, names))


def peak_of(*arguments: object) -> float:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *map(str, arguments)],
        check=True,
        capture_output=True,
        text=True,
    )
    return float(re.findall(r"[\d.]+", done.stdout)[-1])


@pytest.mark.usefixtures("peak_memory")
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
def test_combinations_that_would_not_fit_are_kept_within_the_budget(tmp_path):
    path = tmp_path / "people.parquet"
    # Nearly as many combinations as rows: they would take nearly twice as much.
    write_people(path, 2_000_000)
    assert peak_of(path, f"{BUDGET}MB") < 1.15 * BUDGET
