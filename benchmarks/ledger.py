"""A ledger: an increment costs what it touches, however much was published before."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.bench import Bench
from benchmarks.measure import cpu
from benchmarks.results import Figure
from benchmarks.workloads import FEW
from sfumato.counts import FrequencySet
from sfumato.decouplings.base import GroupedTables
from sfumato.ledger.publishing.judging import judge
from sfumato.ledger.publishing.ledger import Ledger
from sfumato.tables import open_table

SIZE = 50
"""Rows of a group."""

TOUCHED = 200
"""Groups that get new rows."""

_VALUES = {"diagnosis": 15, "income": 6, "occupation": 8}
_MANY = {"diagnosis": 60, "income": 25, "occupation": 40}
"""So many values that hardly two rows are alike."""

_MOST = 2.0
"""Times the CPU of the same increment on the smallest ledger."""


def run(bench: Bench) -> Iterator[Figure]:
    sizes = (20 * FEW, 40 * FEW) if bench.quick else (100_000, 1_000_000, 10_000_000)
    increment = FEW if bench.quick else 10 * FEW
    yield Figure("rows of an increment", increment)
    yield Figure("groups it touches", TOUCHED)
    least = []
    for rows in sizes:
        what = f"{rows:,} rows".replace(",", " ")
        file, release = bench.files.folder / f"{rows}.ledger", released(rows)
        started = cpu(partial(_start, file, release), repeats=1, warm=False)
        yield Figure.of(f"{what}: starting the ledger", started)
        bare = cpu(
            partial(_write_counts, file.with_suffix(".bare"), release), repeats=1, warm=False
        )
        ratio = started.least / bare.least
        yield Figure(f"{what}: starting it / writing its counts into a bare table", ratio, "×")
        added = cpu(partial(_add, file, increment), repeats=bench.few, warm=False)
        yield Figure.of(f"{what}: an increment", added)
        least.append(added.least)
        file.unlink()
    yield Figure(
        "an increment on the largest ledger / on the smallest",
        least[-1] / least[0],
        "×",
        target=None if bench.quick else _MOST,
    )
    yield from _many_combinations(bench)


def _many_combinations(bench: Bench) -> Iterator[Figure]:
    """Measure an increment in which hardly two rows are alike, and what of it is the verdict."""
    rows = 10 * FEW if bench.quick else 100 * FEW
    file = bench.files.folder / "many.ledger"
    new = rows_of(rows, _MANY, groups=rows // 100, seed=2)
    grouped = GroupedTables.of(
        open_table(rows_of(2 * rows, _MANY, groups=rows // 100)).count(["place", *_MANY]),
        ["place"],
        list(_MANY),
    )
    _start(file, grouped)
    what = f"{rows:,} rows".replace(",", " ")
    counted = open_table(new).count(new.column_names)
    yield Figure(f"{what}, hardly two alike: combinations", len(counted))
    repeats = bench.few
    added = cpu(
        partial(Ledger.open(file).publish, new, again=True), repeats=repeats, warm=not bench.quick
    )
    yield Figure.of(f"{what}, hardly two alike: an increment", added)
    tables = Ledger.open(file).publish(new, again=True).tables
    assert tables is not None
    verdict = cpu(partial(judge, tables, None), repeats=repeats, warm=False)
    yield Figure.of(f"{what}, hardly two alike: its verdict", verdict)
    share = verdict.least / added.least
    yield Figure(f"{what}, hardly two alike: its verdict / the increment", share, "×")
    bare = cpu(partial(_write_rows, file.with_suffix(".bare"), new), repeats=repeats, warm=False)
    ratio = (added.least - verdict.least) / bare.least
    what = f"{what}, hardly two alike: all but the verdict / counting and writing them"
    yield Figure(what, ratio, "×")
    file.unlink()


def _start(file: Path, release: GroupedTables) -> None:
    Ledger.start(release, file, alpha=0.5, k=5)


def _add(file: Path, rows: int) -> None:
    # The same rows again are recognised, and here they are meant.
    Ledger.open(file).publish(increment_of(rows), again=True)


def _write_counts(file: Path, release: GroupedTables) -> None:
    """Write how many rows of each group have each value, as anybody would."""
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("CREATE TABLE counts (column, place, value, rows)")
        for column, table in enumerate(release.sensitive):
            entries = zip(
                table.group.tolist(), table.value.tolist(), table.rows.tolist(), strict=True
            )
            db.executemany(f"INSERT INTO counts VALUES ({column}, ?, ?, ?)", entries)
    file.unlink()


def _write_rows(file: Path, rows: pa.Table) -> None:
    """Count the combinations of rows, and write them."""
    counts = open_table(rows).count(rows.column_names)
    columns = [
        [column.values[code] for code in codes.tolist()]
        for column, codes in zip(counts.columns, counts.codes, strict=True)
    ]
    with closing(sqlite3.connect(file)) as db, db:
        names = [*counts.names, "rows"]
        db.execute(f"CREATE TABLE rows ({', '.join(names)})")
        places = ", ".join("?" * len(names))
        entries = zip(*columns, counts.rows.tolist(), strict=True)
        db.executemany(f"INSERT INTO rows VALUES ({places})", entries)
    file.unlink()


def released(rows: int, *, seed: int = 1) -> GroupedTables:
    """Draw a decoupled release: groups of equal size, values at random."""
    rng = np.random.default_rng([seed, rows])
    groups = np.repeat(np.arange(rows // SIZE), SIZE)
    codes = [groups, *(rng.integers(n, size=len(groups)) for n in _VALUES.values())]
    values = [_names("group", rows // SIZE), *(_names(k, n) for k, n in _VALUES.items())]
    counts = FrequencySet.from_codes(
        ["place", *_VALUES], values, np.array(codes), np.ones(len(groups), dtype=np.int64)
    )
    return GroupedTables.of(counts, ["place"], list(_VALUES))


def increment_of(rows: int, *, seed: int = 2) -> pa.Table:
    """Draw new rows for a few groups."""
    return rows_of(rows, _VALUES, groups=TOUCHED, seed=seed)


def rows_of(rows: int, values: dict[str, int], *, groups: int, seed: int = 1) -> pa.Table:
    """Draw rows with so many values of each column."""
    rng = np.random.default_rng(seed)
    columns = {"place": _names("group", groups)}
    columns |= {name: _names(name, n) for name, n in values.items()}
    return pa.table({name: rng.choice(labels, rows) for name, labels in columns.items()})


def _names(what: str, n: int) -> list[str]:
    return [f"{what} {i:07d}" for i in range(n)]
