"""Which raw values a published label may stand for, also if it stands for none of them."""

import numpy as np

from sfumato.counts import Column
from sfumato.errors import InputError
from sfumato.hierarchy import Ladder
from sfumato.typing import BoolArray, IntArray
from sfumato.usefulness.covering import Covering


def reads(
    raw: Column,
    published: Column,
    ladder: Ladder | None = None,
    level: int | None = None,
    *,
    matches_any: bool = False,
) -> BoolArray:
    """Tell for `[value, label]` whether somebody with the value may have got the label.

    Labels are read as `Covering` reads them. A label that cannot be read stands for none of the
    values: whoever looks for a person passes it by.

    Args:
        raw: The values that are known of people.
        published: The labels of the same column.
        ladder: Its hierarchy, if there is one, for at least these values.
        level: The level it was published at, if it is one for all rows.
        matches_any: Whether a missing label may hide any value.

    Example:
        >>> raw = Column("age", (31, 42))
        >>> reads(raw, Column("age", ("3*", "40-49", "[30, 45)", "young", "*", None))).tolist()
        [[True, False, True, False, True, False], [False, True, True, False, True, False]]
    """
    found = np.zeros((len(raw.values), len(published.values)), dtype=np.bool_)
    for at, codes in enumerate(codes_read(raw, published, ladder, level, matches_any=matches_any)):
        found[codes, at] = True
    return found


def codes_read(
    raw: Column,
    published: Column,
    ladder: Ladder | None = None,
    level: int | None = None,
    *,
    matches_any: bool = False,
) -> list[IntArray]:
    """Give for each label the codes of the values it may stand for; see `reads`.

    >>> [codes.tolist() for codes in codes_read(Column("age", (31, 42)), Column("age", ("3*",)))]
    [[0]]
    """
    covering = Covering(raw, ladder, level)
    everything = np.arange(len(raw.values))
    missing = everything[raw.missing :] if raw.missing >= 0 else everything[:0]
    found = []
    for label in published.values:
        try:
            codes = covering.of(label) if label is not None else missing
        except InputError:
            codes = everything[:0]
        found.append(everything if label is None and matches_any else codes)
    return found
