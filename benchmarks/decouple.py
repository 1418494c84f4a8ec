"""Decoupling: what it costs beside reading, grouping and writing the same table once."""

import json
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from benchmarks.bench import Bench
from benchmarks.measure import child, cpu
from benchmarks.results import Figure
from benchmarks.workloads import FEW, MILLION, TEN_MILLION
from sfumato.tasks.decouple import decouple
from sfumato.tasks.merge import merge

QUASI_IDENTIFIERS = ("age", "sex", "postcode", "education")
SENSITIVE = ("diagnosis", "income", "occupation")
_LABELS = {
    "age": [f"{age}-{age + 4}" for age in range(0, 100, 5)],
    "sex": ["female", "male"],
    "postcode": [f"{digits}***" for digits in range(10, 30)],
    "education": ["primary", "secondary", "tertiary"],
    "diagnosis": [f"diagnosis {i}" for i in range(15)],
    "income": ["<=50K", ">50K"],
    "occupation": [f"occupation {i}" for i in range(8)],
}
"""A table as it looks when it was generalised: 2400 groups, 240 combinations in each."""

_MOST = 2.0
"""Times the CPU of one read, one group-by and one write."""

_MEMORY = 1000.0
"""MB."""


def run(bench: Bench) -> Iterator[Figure]:
    rows = 4 * FEW if bench.quick else TEN_MILLION
    yield Figure("rows", rows)
    for form in ("parquet", "csv"):
        file = bench.files.folder / f"published-{rows}.{form}"
        write(file, rows)
        yield from _one(bench, file)
        file.unlink()


def published(rows: int, *, seed: int) -> pa.Table:
    """Draw a generalised table."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            name: pa.array(labels).take(pa.array(rng.integers(len(labels), size=rows)))
            for name, labels in _LABELS.items()
        }
    )


def write(file: Path, rows: int) -> None:
    """Write a generalised table, a million rows at a time."""
    schema = pa.schema([(name, pa.string()) for name in _LABELS])
    parquet = file.suffix == ".parquet"
    with (pq.ParquetWriter if parquet else pa_csv.CSVWriter)(file, schema) as writer:
        for start in range(0, rows, MILLION):
            writer.write_table(published(min(MILLION, rows - start), seed=start))


def plainly(file: Path, target: Path) -> None:
    """Do what nobody gets by without: read a table, group it and write it."""
    parquet = file.suffix == ".parquet"
    table = pq.read_table(file) if parquet else pa_csv.read_csv(file)
    table.group_by(list(_LABELS)).aggregate([([], "count_all")])
    (pq.write_table if parquet else pa_csv.write_csv)(table, target)


def _one(bench: Bench, file: Path) -> Iterator[Figure]:
    form = file.suffix[1:]
    copy, folder = file.with_stem("copy"), bench.files.folder / "broken"
    bound = cpu(partial(plainly, file, copy), repeats=bench.few, warm=False)
    yield Figure.of(f"{form}: read, group and write with pyarrow", bound)
    work = partial(
        decouple,
        file,
        output=folder,
        quasi_identifiers=QUASI_IDENTIFIERS,
        sensitive=SENSITIVE,
        force=True,
    )
    whole = cpu(work, repeats=bench.few, warm=False)
    yield Figure.of(f"{form}: whole decouple, published and verified", whole)
    yield Figure(
        f"{form}: whole decouple / (read, group and write)",
        whole.least / bound.least,
        "×",
        target=None if bench.quick else _MOST,
    )
    yield Figure(f"{form}: peak memory of the whole", _peak(file, folder), "MB", target=_MEMORY)
    merging = cpu(partial(merge, folder), repeats=bench.few, warm=False)
    yield Figure.of(f"{form}: merging the tables again", merging)
    copy.unlink()
    shutil.rmtree(folder)


def _peak(file: Path, folder: Path) -> float:
    """Decouple in a process of its own and give the most memory it held."""
    code = f"""
import json
from benchmarks.child import peak
from sfumato.tasks.decouple import decouple
decouple({str(file)!r}, output={str(folder)!r}, quasi_identifiers={QUASI_IDENTIFIERS!r},
         sensitive={SENSITIVE!r}, force=True)
print(json.dumps(peak()))
"""
    return float(json.loads(child(["-c", code]).output.splitlines()[-1]))
