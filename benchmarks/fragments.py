"""Local recoding in Spark: all of it decided here, or in fragments by the workers.

Where it pays: memory first, because what is decided here grows with the combinations and a
fragment does not; time only where there are more cores than the one that decides.
"""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.bench import Bench
from benchmarks.measure import piece
from benchmarks.results import Figure
from benchmarks.workloads import FEW
from sfumato.hierarchy import Intervals, Masking
from sfumato.models import DistinctLDiversity, KAnonymity
from sfumato.policy import Policy

_SIZES = (100_000, 400_000, 1_600_000)
_MEMORY = "500MB"
"""What is given to those who divide: the least of the sizes fits, the others do not."""

_AT_ONCE = 1_000_000


def run(bench: Bench) -> Iterator[Figure]:
    if find_spec("pyspark") is None:
        yield Figure("Spark is not installed", value=False)
        return
    policy = bench.files.policy("fragments", fragments_policy())
    few = _people(bench.files.folder, FEW)
    memory = "455MB" if bench.quick else _MEMORY
    for rows in (100_000,) if bench.quick else _SIZES:
        file = _people(bench.files.folder, rows)
        yield from _one(file, policy, few, rows, memory)
        file.unlink()


def fragments_policy() -> Policy:
    """Ask for 20-anonymity and diversity: nearly every person is the only one of their kind."""
    rule = {"role": "quasi-identifier"}
    return Policy(
        columns={
            "age": {**rule, "hierarchy": Intervals(widths=[5, 10, 20])},
            "zip": {**rule, "hierarchy": Masking()},
            "sex": rule,
            "income": {**rule, "hierarchy": Intervals(widths=[1000, 5000, 20_000])},
            "ill": "sensitive",
        },
        models=[KAnonymity(20), DistinctLDiversity("ill", 3)],
        method="top-down",
    )


def _people(folder: Path, rows: int) -> Path:
    """Write people who are hardly ever alike."""
    path = folder / f"fragments-{rows}.parquet"
    rng = np.random.default_rng(rows)
    writer = None
    for start in range(0, rows, _AT_ONCE):
        n = min(_AT_ONCE, rows - start)
        zips = (rng.gamma(2.0, 12_000, n).astype(np.int64) % 100_000).tolist()
        table = pa.table(
            {
                "age": np.clip(rng.normal(45, 18, n), 0, 99).astype(np.int64),
                "zip": pa.array([f"{each:05d}" for each in zips]),
                "sex": pa.array(rng.choice(["f", "m"], n)),
                "income": (rng.lognormal(10, 0.5, n) // 100 * 100).astype(np.int64) % 200_000,
                "ill": pa.array(rng.choice(["flu", "gout", "asthma", "ulcer", "hiv"], n)),
            }
        )
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()
    return path


def _one(file: Path, policy: Path, few: Path, rows: int, memory: str) -> Iterator[Figure]:
    at = f"{rows:,} rows".replace(",", " ")
    whole = piece("local-in-spark", file, policy, few, "none")
    divided = piece("local-in-spark", file, policy, few, memory)
    yield Figure(f"{at}, at most {memory}: fragments", divided["fragments"])
    for name, found in (("in one piece", whole), ("in fragments", divided)):
        yield Figure(f"{at}, {name}: from start to end", found["wall"], "s")
        yield Figure(f"{at}, {name}: where it is decided", found["cpu"], "CPU s")
        yield Figure(f"{at}, {name}: peak memory there", found["peak"], "MB")
        yield Figure(f"{at}, {name}: normalised loss", round(found["loss"], 6))
    yield Figure(f"{at}: time, fragments / one piece", divided["wall"] / whole["wall"], "×")
    yield Figure(f"{at}: memory, fragments / one piece", divided["peak"] / whole["peak"], "×")
