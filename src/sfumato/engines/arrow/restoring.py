"""Values that were kept as text, in the type they had before."""

from collections.abc import Sequence
from contextlib import suppress

import pyarrow as pa

from sfumato.engines.arrow.values import python_values
from sfumato.text import text_of
from sfumato.typing import Value


def restored(values: Sequence[Value], kind: pa.DataType) -> list[Value] | None:
    """Give values in a type again, each once; None if one would become another.

    >>> restored(["2020-01-06", None], pa.date32())
    [datetime.date(2020, 1, 6), None]
    >>> restored(["7", "007"], pa.int64())
    """
    texts = [text_of(value) for value in values if value is not None]
    with suppress(pa.ArrowException):
        found = python_values(pa.array(texts, pa.string()).cast(kind), "")
        if [text_of(value) for value in found] == texts:
            known = iter(found)
            return [None if value is None else next(known) for value in values]
    return None
