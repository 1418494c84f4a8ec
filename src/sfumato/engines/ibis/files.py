"""Which files a database can write as the arrow engine would."""

from collections.abc import Sequence

import pyarrow as pa
from pyarrow import types as t

from sfumato.errors import OutputError


def require_plain_text(form: str, types: Sequence[pa.DataType], writer: str) -> None:
    """Refuse what a database cannot write, or would write in a spelling of its own.

    >>> require_plain_text("csv", [pa.string(), pa.float64()], "DuckDB")
    Traceback (most recent call last):
    sfumato.errors.OutputError: DuckDB writes double in a spelling of its own to CSV files. Publish
    as parquet, or leave such columns out.
    """
    if form == "feather":
        raise OutputError(f"{writer} writes no Feather files. Publish as parquet or csv.")
    strange = [kind for kind in types if not _spelt_alike(kind)]
    if form == "csv" and strange:
        raise OutputError(
            f"{writer} writes {strange[0]} in a spelling of its own to CSV files. Publish as "
            "parquet, or leave such columns out."
        )


def _spelt_alike(kind: pa.DataType) -> bool:
    tests = (t.is_string, t.is_large_string, t.is_integer, t.is_boolean, t.is_date, t.is_decimal)
    return any(test(kind) for test in tests)
