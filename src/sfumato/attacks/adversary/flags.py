"""Columns of one value or none: what is missing there says no as clearly as a value says yes."""

from collections.abc import Sequence
from dataclasses import replace

from sfumato.counts import Column, FrequencySet
from sfumato.text import text_of

NONE = "no value"
"""What is shown in place of a missing value, where it tells as much as a value."""


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
