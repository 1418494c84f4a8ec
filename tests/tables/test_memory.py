"""Memory follows the distinct combinations, not the rows."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

SCRIPT = """
import sys, pathlib, re, numpy as np
from sfumato.tables.arrow.sources import open_source
from sfumato.tables.arrow.table import ArrowTable
from sfumato.hierarchy import Hierarchy
from sfumato.recoding import FullDomainRecoding, LocalColumn, LocalRecoding

source = pathlib.Path(sys.argv[1])
table = ArrowTable(open_source(source), budget=16 * 2**20)
names = ["sex", "zip", "year"]
counts = table.count(names)
if sys.argv[2] == "full":
    recoding = FullDomainRecoding.at(
        [
            Hierarchy.from_paths(c.values, [["*"]] * len(c.values)).bind(c.name, c.values)
            for c in counts.columns
        ],
        (1, 0, 0),
    )
else:
    # One row of each combination becomes something else than the others, if there are any.
    rows = np.stack([np.ones_like(counts.rows), counts.rows - 1], axis=1)
    recoding = LocalRecoding(
        tuple(LocalColumn(c.name, c.values, ("x", "y"), False) for c in counts.columns),
        (),
        counts.codes,
        np.concatenate([[0], np.cumsum((rows > 0).sum(axis=1))]),
        rows[rows > 0],
        np.nonzero(rows)[1],
        np.array([[0, 1]] * 3, dtype=np.int32),
    )
written = table.publish(
    recoding, [*names, "salary"], source.with_suffix(".out"),
    format="parquet", suppression="remove", rng=np.random.default_rng(),
)
assert written.rows == counts.total
# Not getrusage: its peak includes that of the process this one was started from.
peak = re.search(r"VmHWM:\\s+(\\d+) kB", pathlib.Path("/proc/self/status").read_text())
print(int(peak[1]) / 1024)
"""


def write_people(path: Path, rows: int) -> Path:
    rng = np.random.default_rng(0)
    part = 250_000
    zips = pa.array([f"{i:05d}" for i in range(500)])
    with pq.ParquetWriter(
        path,
        pa.schema(
            [
                ("sex", pa.string()),
                ("zip", pa.string()),
                ("year", pa.int16()),
                ("salary", pa.float64()),
            ]
        ),
    ) as writer:
        for _ in range(rows // part):
            columns = [
                pa.array(["f", "m"]).take(pa.array(rng.integers(2, size=part))),
                zips.take(pa.array(rng.integers(500, size=part))),
                pa.array(rng.integers(1930, 2010, size=part).astype(np.int16)),
                pa.array(rng.random(part)),
            ]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=writer.schema))
    return path


def peak_of(path: Path, recoding: str) -> float:
    """Publish in a process of its own, and give the most memory it held, in MB."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path), recoding],
        check=True,
        capture_output=True,
        text=True,
    )
    path.with_suffix(".out").unlink()
    return float(done.stdout)


@pytest.mark.usefixtures("peak_memory")
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize("recoding", ["full", "local"])
def test_four_times_the_rows_take_no_more_memory(recoding, tmp_path):
    few, many = (write_people(tmp_path / f"{n}.parquet", n) for n in (1_000_000, 4_000_000))
    least = peak_of(few, recoding)
    # How far reading runs ahead of writing depends on the machine's other work, so a peak that
    # is too high may be chance: what really grows with the rows does so every time.
    for _ in range(3):
        most = peak_of(many, recoding)
        if most - least < 40:
            break
    # The three million rows between them are 57 MB even as bare codes and numbers.
    assert most - least < 40, (least, most)
