"""Judging many groups of items at once: which of them keep every model?"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sfumato.classes import (
    EquivalenceClasses,
    SensitiveColumn,
    ValueCounts,
    reference_of,
    sensitive_codes,
)
from sfumato.counts import FrequencySet, group, sums
from sfumato.models import PrivacyModel
from sfumato.models.base import TableModel
from sfumato.typing import BoolArray, IntArray

_DENSE = 2**20
"""A table of this many counts is faster than sorting, whatever the number of items."""

_SIZES = 2**16
"""Class sizes that models of sizes alone are asked about at once."""


class Numbered(NamedTuple):
    """Which number each key has, and the key of each number."""

    of_item: IntArray
    keys: IntArray

    @property
    def n(self) -> int:
        """How many different keys there are."""
        return len(self.keys)


def numbered(key: IntArray, width: int) -> Numbered:
    """Number the distinct keys in their order; all are below `width`.

    >>> numbered(np.array([7, 2, 7]), 10)
    Numbered(of_item=array([1, 0, 1]), keys=array([2, 7]))
    """
    if width <= max(8 * len(key), _DENSE):
        present = np.zeros(width, dtype=bool)
        present[key] = True
        keys = np.flatnonzero(present)
        number = np.empty(width, dtype=np.int64)
        number[keys] = np.arange(len(keys))
        return Numbered(number[key], keys)
    keys, of_item = np.unique(key, return_inverse=True)
    return Numbered(of_item, keys)


class Judge:
    """Says which groups of items keep every model by themselves.

    A model of the whole table (the mean risk of all rows, say) is asked of every class:
    if no class exceeds the limit, the mean does not.

    Args:
        counts: The items.
        models: What every class must keep.
        sensitive: The columns that models look at.
        whole: The table that classes are compared with, if there are more items in it.

    Example:
        >>> from sfumato.models import KAnonymity
        >>> counts = FrequencySet.from_rows(["sex"], [("f",), ("m",), ("f",)])
        >>> judge = Judge(counts, [KAnonymity(2)], {})
        >>> judge.passes(np.array([0, 1]), np.array([0, 1]), counts.rows, 2)
        array([ True, False])
    """

    def __init__(
        self,
        counts: FrequencySet,
        models: Sequence[PrivacyModel],
        sensitive: Mapping[str, SensitiveColumn],
        *,
        whole: FrequencySet | None = None,
    ) -> None:
        self._counts = counts
        self._columns = dict(sensitive)
        self._values = {name: sensitive_codes(counts, name) + 1 for name in sensitive}
        table = counts if whole is None else whole
        self._reference = {
            name: reference_of(sensitive_codes(table, name), table.rows, len(column.values))
            for name, column in sensitive.items()
        }
        self._models = tuple(model for model in models if model.columns)
        self.sizes_only = not self._models
        """Whether nothing but the number of rows matters."""

        self.least = max([1, *(_least_rows(model, counts.total) for model in models)])
        """No class with fewer rows passes; if only sizes matter, every other does."""

    @cached_property
    def kinds(self) -> IntArray:
        """Number the items by what the models see in them."""
        names = list(self._columns)
        sizes = [len(self._columns[name].values) + 1 for name in names]
        return group([self._values[name] for name in names], sizes, n=len(self._counts)).of_item

    def passes(self, of_item: IntArray, items: IntArray, rows: IntArray, n: int) -> BoolArray:
        """Judge `n` groups, none of them empty.

        Args:
            of_item: The group of each item.
            items: Which item it is.
            rows: How many rows of it are in the group.
            n: How many groups there are.
        """
        sizes = sums(of_item, rows, n)
        verdicts: BoolArray = sizes >= self.least
        if self.sizes_only or not verdicts.any():
            return verdicts
        if not verdicts.all():
            chosen = verdicts[of_item]
            number = np.cumsum(verdicts) - 1
            of_item, items, rows = number[of_item[chosen]], items[chosen], rows[chosen]
        classes = self.classes(of_item, items, rows, sizes[verdicts])
        good = np.ones(len(classes), dtype=bool)
        for model in self._models:
            good &= model.passes(classes)
        verdicts[verdicts] = good
        return verdicts

    def classes(
        self, of_item: IntArray, items: IntArray, rows: IntArray, sizes: IntArray
    ) -> EquivalenceClasses:
        """Show groups as models see them."""
        sensitive = {}
        for name, column in self._columns.items():
            width = len(column.values) + 1
            at = of_item * width + self._values[name][items]
            found = numbered(at, len(sizes) * width)
            entry_rows = sums(found.of_item, rows, found.n)
            # Where rows are taken away in thought, a value may have none left.
            there = entry_rows > 0
            class_id, value = np.divmod(found.keys[there], width)
            sensitive[name] = ValueCounts(
                column, class_id, value - 1, entry_rows[there], self._reference[name]
            )
        return EquivalenceClasses(sizes, sensitive)


def _least_rows(model: PrivacyModel, total: int) -> int:
    """Say how many rows a class needs at least to pass a model, as far as that can be known."""
    if model.columns:
        # Each different value takes a row of its own.
        asked = [getattr(model, name, 1) for name in ("k", "l", "p")]
        return max(1, *(int(np.ceil(value - 1e-9)) for value in asked))
    low, high = 1, total + 1
    # The verdict of such a model changes once, from too small to large enough.
    while low < high:
        sizes = np.unique(np.linspace(low, high, _SIZES).astype(np.int64))
        enough = _large_enough(model, sizes)
        first = int(np.argmax(enough)) if enough.any() else len(sizes)
        low = int(sizes[first - 1]) + 1 if first else int(sizes[0])
        high = int(sizes[first]) if first < len(sizes) else high
        if first in (0, len(sizes)):
            return low if first == 0 else high
    return low


def _large_enough(model: PrivacyModel, sizes: IntArray) -> BoolArray:
    if isinstance(model, TableModel):
        enough: BoolArray = model.risks(sizes) <= model.limit
        return enough
    return model.passes(EquivalenceClasses(sizes))
