"""Tables that follow from counts, in a database: kinds of row go there, rows are made there."""

from typing import TYPE_CHECKING, Any

import ibis
import numpy as np
import pyarrow as pa

from sfumato.derived import Batch, DerivedTable
from sfumato.engines.arrow.build import from_numpy
from sfumato.engines.ibis.address import Name, written
from sfumato.errors import OutputError
from sfumato.typing import IntArray

if TYPE_CHECKING:
    from sfumato.engines.ibis.database import Database

_TIMES = "sfumato_times"


def kinds_of(derived: DerivedTable) -> tuple[DerivedTable, IntArray]:
    """Give every kind of row once, and how many rows of it there are.

    >>> from sfumato.derived import DerivedColumn
    >>> table = DerivedTable.repeated(
    ...     (DerivedColumn("group"),), (np.array([71, 28]),), np.array([2, 1]),
    ...     np.random.default_rng(),
    ... )
    >>> kinds, times = kinds_of(table)
    >>> kinds.rows, times.tolist()
    (2, [2, 1])
    """
    batches: dict[int, Batch] = {}
    times: dict[int, IntArray] = {}
    for batch in derived.batches():
        n = len(batch.kinds[0])
        key = id(batch.kinds)
        here = (
            np.ones(n, np.int64) if batch.picks is None else np.bincount(batch.picks, minlength=n)
        )
        # The batch is kept, so no other can get its place in memory.
        batches[key] = Batch(batch.kinds)
        times[key] = times[key] + here if key in times else here.astype(np.int64)
    every = np.concatenate([np.empty(0, np.int64), *times.values()])
    return DerivedTable(derived.columns, len(every), lambda: iter(batches.values())), every


def store_kinds(database: "Database", kinds: pa.Table, times: IntArray, name: Name) -> None:
    """Create a table in which each kind of row stands some times, in random order."""
    numbered = kinds.rename_columns([f"o{i}" for i in range(kinds.num_columns)])
    numbered = numbered.append_column(_TIMES, from_numpy(times))
    rows = int(times.sum())

    def check(found: int) -> None:
        if found != rows:
            raise OutputError(f"{written(name)} got {found} rows and not {rows}")

    with database.work():
        query: Any = database.upload(numbered)
        if (times != 1).any():
            query = query.mutate(sfumato_turn=ibis.range(0, query[_TIMES]).unnest())
        cells = query.select([f"o{i}" for i in range(kinds.num_columns)])
        database.create(cells, kinds.column_names, name, check, force=False)
