"""Verify a table on its own: a file or an Arrow, Polars or pandas table."""

from sfumato.verifier.promises import Promises
from sfumato.verifier.reading import open_source
from sfumato.verifier.recompute import recompute
from sfumato.verifier.verdict import Verdict


def verify_file(data: object, promises: Promises) -> Verdict:
    """Recompute what a plain table is said to keep.

    Promises: the figures come from these rows alone, by code that shares nothing with the
    code that made the table. Does not promise: that the roles are right. A column
    that links to outside data and is not named a quasi-identifier protects nobody.

    Args:
        data: A path (CSV, Parquet, Feather) or an Arrow, Polars or pandas table.
        promises: Which columns are what, and which models should hold.

    Example:
        >>> import pyarrow as pa
        >>> table = pa.table({"age": ["2*", "2*", None], "ill": ["flu", "gout", "flu"]})
        >>> print(verify_file(table, Promises(["age"], models=[{"model": "k-anonymity", "k": 2}])))
        Broken: 1 of 1 checks does not hold.
          broken     k-anonymity  promised k=2  found k=1
                     fails in 1 of 2 classes (1 of 3 rows); worst: age missing
    """
    source = open_source(data, delimiter=promises.delimiter)
    return Verdict(tuple(recompute(source, promises)))
