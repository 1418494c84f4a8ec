"""People of a table beside its broken parts: each one's group, and counts of their values."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.broken import Broken
from sfumato.counts import Column, FrequencySet, group, sums
from sfumato.errors import InputError
from sfumato.policy.levels import RiskLevels
from sfumato.text import text_or_none
from sfumato.typing import BoolArray, CodeArray, FloatArray, IntArray


def by_level(levels: RiskLevels, probabilities: FloatArray, people: FloatArray) -> dict[str, float]:
    """Add up the people whose probability is at each risk level.

    >>> by_level(RiskLevels(), np.array([0.1, 0.2, 1.0]), np.array([3.0, 2.0, 1.0]))
    {'low': 3.0, 'moderate': 2.0, 'high': 0.0, 'very high': 1.0}
    """
    bounds = levels.bounds()
    starts = np.array(list(bounds.values()))
    at = np.searchsorted(starts, probabilities, side="right") - 1
    added = np.bincount(at, weights=people, minlength=len(starts))
    return dict(zip(bounds, added.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class People:
    """The combinations of a table that was broken, and what its parts say of each.

    Example:
        >>> rows = [("30s", "flu", "low"), ("30s", "gout", "low"), ("40s", "flu", "high")]
        >>> counts = FrequencySet.from_rows(["age", "ill", "pay"], rows)
        >>> people = People.of(counts, Broken.of(counts, ["age"], ["ill", "pay"]))
        >>> people.group.tolist(), people.cells.tolist()
        ([0, 0, 1], [[1, 1, 1], [2, 2, 1]])
    """

    broken: Broken
    codes: Mapping[str, CodeArray]
    """The sensitive values of each combination, as codes of the broken tables."""

    rows: IntArray
    """How many people have the combination."""

    group: IntArray
    """Which group they are in."""

    cells: IntArray
    """`cells[s, i]`: how many people of the group have combination i's value in column s."""

    @cached_property
    def sizes(self) -> IntArray:
        """The size of each combination's group."""
        sizes: IntArray = self.broken.sizes[self.group]
        return sizes

    @classmethod
    def of(cls, counts: FrequencySet, broken: Broken) -> "People":
        """Find the rows of a table in its broken parts; they must be the same rows."""
        names = [column.name for column in broken.quasi_identifiers]
        table = counts.project([*names, *broken.names])
        found = _groups(table, broken)
        codes = {one.column.name: _recoded(table, one.column) for one in broken.sensitive}
        cells = np.empty((len(broken.sensitive), len(table)), dtype=np.int64)
        agree = np.array_equal(sums(found, table.rows, len(broken)), broken.sizes)
        for s, one in enumerate(broken.sensitive):
            width = len(one.column.values)
            keys = one.group * width + one.value
            mine = found * width + codes[one.column.name]
            at = np.searchsorted(keys, mine)
            agree = agree and _same(keys, mine, at)
            if not agree:
                break
            agree = np.array_equal(sums(at, table.rows, len(keys)), one.rows)
            cells[s] = one.rows[at]
        if not agree:
            raise InputError(
                "the table and the broken parts do not count the same people. Give the table "
                "that was broken, whole and as it was then."
            )
        return cls(broken, codes, table.rows, found, cells)

    def after(self, told: BoolArray) -> FloatArray:
        """How likely each one's own values in some columns are, to whoever joins the parts."""
        # One division of whole numbers: what is exactly 1/5 comes out as 0.2.
        cells = np.prod(self.cells[told].astype(np.float64), axis=0)
        share: FloatArray = cells / self.sizes.astype(np.float64) ** int(told.sum())
        return share

    def behind(self, known: str | None) -> IntArray:
        """Count the people of the same group who also have the known column's value."""
        if known is None:
            return self.sizes
        column = self.broken.table(known).column
        cells = group([self.group, self.codes[known]], [len(self.broken), len(column.values)])
        behind: IntArray = sums(cells.of_item, self.rows, cells.n)[cells.of_item]
        return behind


def _same(keys: IntArray, mine: IntArray, at: IntArray) -> bool:
    return bool((at < len(keys)).all() and (keys[at] == mine).all())


def _groups(table: FrequencySet, broken: Broken) -> IntArray:
    """Find each combination's group, or -1."""
    columns = broken.quasi_identifiers
    theirs = [_recoded(table, column) for column in columns]
    both = group(
        [np.append(label, code) for label, code in zip(broken.labels, theirs, strict=True)],
        [len(column.values) + 1 for column in columns],
        n=len(broken) + len(table),
    )
    of_label = np.full(both.n, -1, dtype=np.int64)
    of_label[both.of_item[: len(broken)]] = np.arange(len(broken))
    found: IntArray = of_label[both.of_item[len(broken) :]]
    if (found < 0).any():
        raise InputError(
            "the table has people of groups that the broken parts do not have. Give the table "
            "that was broken, whole and as it was then."
        )
    return found


def _recoded(table: FrequencySet, column: Column) -> CodeArray:
    """Give a column's codes in another dictionary, matched as written; unknown values come last."""
    places = {text_or_none(value): i for i, value in enumerate(column.values)}
    mine = table.column(column.name).values
    lookup = np.array([places.get(text_or_none(v), len(places)) for v in mine], dtype=np.int32)
    codes = table.codes_of(column.name)
    return lookup[codes] if len(lookup) else codes
