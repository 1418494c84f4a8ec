"""The data that is measured: seeded, and written once per run to a temporary folder."""

import os
import shutil
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from benchmarks.measure import ROOT
from sfumato import samples
from sfumato.hierarchy import CsvHierarchy, Masking
from sfumato.losses import Loss, NormalizedLoss
from sfumato.models import EnhancedPAlphaSensitiveKAnonymity, KAnonymity
from sfumato.policy import Policy

FEW = 1000
"""Rows enough to have done everything once."""

ADULT_ROWS = 30_162
MILLION = 33 * ADULT_ROWS
"""33 copies: 995 346 rows."""

TEN_MILLION = 332 * ADULT_ROWS
_COPIES_AT_ONCE = 33

CONDITIONS = (
    ("Cancer", "HIV"),
    ("Hepatitis", "Phthisis"),
    ("Asthma", "Obesity"),
    ("Indigestion", "Flu"),
)
"""Health conditions, the most secret first."""

_SEVEN = ("age", "occupation", "marital-status", "race", "sex", "education", "native-country")


class NoDataError(Exception):
    """The Adult data is not there; what needs it is skipped."""


def adult_folder() -> Path:
    """Find the folder with `adult.csv` and its hierarchies."""
    named = os.environ.get("SFUMATO_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data" / "adult"
    if not (folder / "adult.csv").is_file():
        raise NoDataError("no Adult data: set SFUMATO_DATA to the folder with adult.csv")
    return folder


@cache
def adult() -> pa.Table:
    """Read the Adult census extract; every cell is text, as Sfumato reads a CSV file."""
    return read_csv(adult_folder() / "adult.csv")


def read_csv(path: Path) -> pa.Table:
    """Read a CSV file the way the engines do: every cell is text."""
    with path.open() as file:
        names = file.readline().strip().split(";")
    return pa_csv.read_csv(
        path,
        parse_options=pa_csv.ParseOptions(delimiter=";"),
        convert_options=pa_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
    )


def jittered_copy(table: pa.Table, *, seed: int, copy: int) -> pa.Table:
    """Make a table of similar people out of Adult.

    Ages move by N(0, 3), within the 1 to 100 their hierarchy knows; every other value is
    drawn anew from its column with probability 0.1.
    """
    rng = np.random.default_rng([seed, copy])
    rows = table.num_rows
    columns = {}
    for name in table.column_names:
        column = table[name].combine_chunks()
        if name == "age":
            age = pc.cast(column, pa.int64()).to_numpy()
            moved = np.rint(age + rng.normal(0.0, 3.0, rows))
            columns[name] = pa.array(np.clip(moved, 1, 100).astype(np.int64))
            continue
        chosen = np.arange(rows)
        redrawn = rng.random(rows) < 0.1
        chosen[redrawn] = rng.integers(rows, size=int(redrawn.sum()))
        columns[name] = column.take(pa.array(chosen))
    return pa.table(columns)


def jittered(rows: int, *, seed: int = 1, first: int = 0) -> pa.Table:
    """Make that many rows of jittered Adult, from the given copy on."""
    copies = range(first, first - (-rows // ADULT_ROWS))
    return pa.concat_tables(
        [jittered_copy(adult(), seed=seed, copy=copy) for copy in copies]
    ).slice(0, rows)


def grid(columns: int, rows: int, *, seed: int = 1) -> pa.Table:
    """Make a table with many quasi-identifiers: two digits each, small ones more often.

    People come in four kinds that share their habits, so columns depend on each other.
    """
    rng = np.random.default_rng([seed, columns, rows])
    kind = rng.integers(4, size=rows)
    cells = {}
    for i in range(columns):
        shift = rng.integers(40, size=4)[kind]
        number = (shift + rng.geometric(0.4, rows)) % 100
        cells[f"q{i:02d}"] = pa.array([f"{n:02d}" for n in number.tolist()])
    return pa.table(cells)


def grid_policy(columns: int, *, k: int, search: object = "best-first") -> Policy:
    """Ask for k-anonymity of a `grid`, with digits masked from the right."""
    rule = {"role": "quasi-identifier", "hierarchy": Masking()}
    return Policy(
        columns={f"q{i:02d}": rule for i in range(columns)},
        models=[KAnonymity(k)],
        search=search,
        suppression=0.05,
    )


def adult_policy(
    *, k: int, limit: float, loss: Loss | None = None, plain: tuple[str, ...] = ("salary-class",)
) -> Policy:
    """Ask for k-anonymity of Adult; all columns are quasi-identifiers but the plain ones."""
    return Policy(
        columns={
            name: "plain" if name in plain else _quasi_identifier(name)
            for name in adult().column_names
        },
        models=[KAnonymity(k)],
        loss=loss or NormalizedLoss(),
        suppression=float(limit),
    )


def _quasi_identifier(name: str) -> dict[str, object]:
    file = adult_folder() / f"adult_hierarchy_{name}.csv"
    return {"role": "quasi-identifier", "hierarchy": CsvHierarchy(str(file))}


def with_conditions(table: pa.Table, *, seed: int = 1) -> pa.Table:
    """Give every row a health condition, each with the same probability."""
    names = [name for category in CONDITIONS for name in category]
    drawn = np.random.default_rng(seed).integers(len(names), size=table.num_rows)
    return table.append_column("Health_condition", pa.array(names).take(pa.array(drawn)))


def health_policy(*, loss: Loss) -> Policy:
    """Ask for enhanced (p,α)-sensitive k-anonymity of Adult `with_conditions`.

    Seven quasi-identifiers, k = 4, p = 2, α = 2, nothing suppressed.
    """
    column = "Health_condition"
    return Policy(
        columns={
            **dict.fromkeys(adult().column_names, "plain"),
            **{name: _quasi_identifier(name) for name in _SEVEN},
            column: "sensitive",
        },
        models=[
            EnhancedPAlphaSensitiveKAnonymity(column, p=2, alpha=2, k=4, categories=CONDITIONS)
        ],
        loss=loss,
    )


class Files:
    """Workloads as files in a temporary folder; each is written when first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def adult(self) -> Path:
        """A copy of `adult.csv`."""
        return Path(shutil.copy(adult_folder() / "adult.csv", self.folder / "adult.csv"))

    def policy(self, name: str, policy: Policy) -> Path:
        """Write a policy."""
        path = self.folder / f"{name}.policy.yaml"
        path.write_text(policy.to_yaml())
        return path

    def jittered(self, rows: int, form: str) -> Path:
        """Write jittered Adult as Parquet or CSV, a million rows at a time."""
        path = self.folder / f"jittered-{rows}.{form}"
        if not path.exists():
            at_once = _COPIES_AT_ONCE * ADULT_ROWS
            tables = (
                jittered(min(at_once, rows - start), first=start // ADULT_ROWS)
                for start in range(0, rows, at_once)
            )
            self._write(path, tables)
        return path

    def people(self, rows: int, form: str) -> Path:
        """Write invented patients."""
        path = self.folder / f"people-{rows}.{form}"
        if not path.exists():
            self._write(path, iter([samples.synthetic(rows, seed=1)]))
        return path

    def _write(self, path: Path, tables: Iterator[pa.Table]) -> None:
        first = next(tables)
        if path.suffix == ".parquet":
            writer = pq.ParquetWriter(path, first.schema)
        else:
            options = pa_csv.WriteOptions(delimiter=";", quoting_style="needed")
            writer = pa_csv.CSVWriter(path, first.schema, write_options=options)
        with writer:
            writer.write_table(first)
            for table in tables:
                writer.write_table(table)
