"""Rows that a release still shows although they are suppressed: every known column is a star."""

import numpy as np

from sfumato.counts import FrequencySet
from sfumato.tasks.subject import Subject
from sfumato.text import STAR


def without_starred(counts: FrequencySet, subject: Subject) -> FrequencySet:
    """Leave out the suppressed rows that a release still shows; they all look the same."""
    rows = subject.manifest["rows"] if subject.manifest is not None else {}
    if rows.get("suppression") != "star":
        return counts
    starred = np.ones(len(counts), dtype=bool)
    for column, codes in zip(counts.columns, counts.codes, strict=True):
        empty = None if column.name in subject.sensitive else STAR
        starred &= np.isin(codes, [i for i, v in enumerate(column.values) if v == empty])
    left = counts.rows.copy()
    left[starred] -= min(int(left[starred].sum()), int(rows["suppressed"]))
    return _of_occurring(FrequencySet(counts.columns, counts.codes, left))


def _of_occurring(counts: FrequencySet) -> FrequencySet:
    """Leave out combinations that no row has any more, and values with them."""
    some = counts.without(counts.rows == 0)
    values, codes = [], np.empty_like(some.codes)
    for position, column in enumerate(some.columns):
        used, codes[position] = np.unique(some.codes[position], return_inverse=True)
        values.append([column.values[code] for code in used])
    return FrequencySet.from_codes(some.names, values, codes, some.rows)
