"""Columns of one value or none: what is missing there says no as clearly as a value says yes."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.counts import Column, FrequencySet
from sfumato.text import text_of

NONE = "no value"
"""What is shown in place of a missing value, where it tells as much as a value."""


ANY = "any value"
"""What is shown in place of a value, where most people have none."""


def read_presence(
    counts: FrequencySet, names: Sequence[str], person: str | None = None
) -> FrequencySet | None:
    """Return counts in which columns say only who has a value; None if that tells nothing new.

    Of a column in which half of the cells or more are empty, such as a drug that few people take,
    it is a statement that a person has a value, whichever it is.

    Args:
        counts: The published rows.
        names: The columns to look at: sensitive ones.
        person: The column that tells people apart, if they are counted: what a person has twice
            counts once.

    Example:
        >>> rows = [("A", "x"), ("A", "y"), ("B", None), ("B", None)]
        >>> read_presence(FrequencySet.from_rows(["zip", "drug"], rows), ["drug"]).column("drug")
        Column(name='drug', values=('any value', 'no value'))
    """
    found = []
    told = counts if person is None else replace(counts, rows=np.ones_like(counts.rows))
    for name in names:
        rows, column = told.value_counts(name), counts.column(name)
        shown = int((rows > 0).sum())
        if column.missing >= 0 and shown > 2 and 2 * rows[column.missing] >= rows.sum():
            found.append(name)
    if not found:
        return None
    kept = counts.project([name for name in counts.names if name not in names or name in found])
    columns, codes = list(kept.columns), kept.codes.copy()
    for name in found:
        at = kept.index(name)
        codes[at] = kept.codes_of(name) == columns[at].missing
        columns[at] = Column(name, (ANY, NONE))
    return FrequencySet(tuple(columns), codes, kept.rows).project(kept.names)


def read_flags(counts: FrequencySet, names: Sequence[str]) -> FrequencySet:
    """Return counts in which columns of one value have another for what is missing.

    Elsewhere a missing value may be any. Where there is one value only, a person without one
    would have it too then, and no one could learn anything: that some have hiv and others
    nothing is told by such a column, all the same.

    Args:
        counts: The published rows.
        names: The columns to look at: sensitive ones.

    Example:
        >>> rows = [("A", "hiv"), ("B", None), ("B", None)]
        >>> read_flags(FrequencySet.from_rows(["zip", "ill"], rows), ["ill"]).column("ill").values
        ('hiv', 'no value')
    """
    columns = list(counts.columns)
    for name in names:
        at = counts.index(name)
        column = columns[at]
        # A value that no row has does not count.
        shown = set(counts.codes_of(name)[counts.rows > 0].tolist())
        if len(column.known) != 1 or len(shown) != 2:
            continue
        # The codes stay as they are: what is missing comes last.
        columns[at] = Column(name, (text_of(column.known[0]), NONE))
    return replace(counts, columns=tuple(columns))
