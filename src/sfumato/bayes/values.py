"""Finding the values that somebody names in a column's dictionary."""

from collections.abc import Iterable

import numpy as np

from sfumato.counts import Column
from sfumato.errors import UnknownNameError
from sfumato.text import is_missing, text_of
from sfumato.typing import IntArray, Value


def codes_of(column: Column, values: Iterable[Value]) -> IntArray:
    """Find values in a column's dictionary, or refuse with the nearest one.

    Values are matched by how they are written, so the text "39" finds the number 39;
    where a dictionary has both, each finds itself. None finds the missing value only.

    >>> codes_of(Column("age", (39, 41, None)), ["41", None]).tolist()
    [1, 2]
    >>> codes_of(Column("sex", ("female", "male")), ["femal"])
    Traceback (most recent call last):
    sfumato.errors.UnknownNameError: no value 'femal' in column 'sex'. Did you mean 'female'?
        Known: 'female', 'male'.
    """
    exact = {(type(value), value): code for code, value in enumerate(column.values)}
    written: dict[str | None, int] = {}
    for code, value in enumerate(column.values):
        written.setdefault(_text(value), code)
    found = []
    for value in values:
        text = _text(value)
        place = exact.get((type(value), value), written.get(text))
        if place is None:
            known = [str(_text(v)) for v in column.values]
            raise UnknownNameError("value", str(text), known, where=f"column {column.name!r}")
        found.append(place)
    return np.array(found, dtype=np.int64)


def code_of(column: Column, value: Value) -> int:
    """Find one value in a column's dictionary, or refuse with the nearest one.

    >>> code_of(Column("age", (39, 41)), 41.0)
    1
    """
    return int(codes_of(column, [value])[0])


def _text(value: Value) -> str | None:
    return None if is_missing(value) else text_of(value)
