"""Engines: the only rooms of the house in which rows are touched.

`open_table` finds the engine for whatever holds the data.
"""

from sfumato.engines.arrow import ArrowEngine
from sfumato.engines.base import FORMATS, Domain, Engine, Progress, Suppression, Table, Written
from sfumato.engines.derived import derived_table, write_derived
from sfumato.errors import InputError
from sfumato.registry import Registry

__all__ = [
    "ENGINES",
    "FORMATS",
    "ArrowEngine",
    "Domain",
    "Engine",
    "Progress",
    "Suppression",
    "Table",
    "Written",
    "derived_table",
    "open_table",
    "write_derived",
]

ENGINES: Registry[Engine] = Registry("engine", "sfumato.engines", [ArrowEngine])


def open_table(source: object) -> Table:
    """Open a file or an in-memory table.

    Args:
        source: A path to a CSV, Parquet or Feather file, or a pandas, Polars or Arrow table.

    Example:
        >>> import pyarrow as pa
        >>> table = open_table(pa.table({"sex": ["f", "m", "f"]}))
        >>> table.count(["sex"]).rows.tolist()
        [2, 1]
    """
    ours = ArrowEngine()
    # Ours first: looking for plug-ins costs time that nearly nobody needs to spend.
    if ours.owns(source):
        return ours.open(source)
    for name in ENGINES:
        engine = ENGINES[name]()
        if engine.owns(source):
            return engine.open(source)
    raise InputError(
        f"cannot read a table from {type(source).__module__}.{type(source).__qualname__}. "
        "Give the path of a CSV, Parquet or Feather file, or a pandas, Polars or Arrow table."
    )
