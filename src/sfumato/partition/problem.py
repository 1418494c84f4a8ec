"""What a partitioner is given: counts, hierarchies, and what every class must keep."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sfumato.classes import SensitiveColumn
from sfumato.counts import FrequencySet
from sfumato.losses import Attribute, NormalizedLoss
from sfumato.models import PrivacyModel
from sfumato.partition.judging import Judge
from sfumato.typing import CodeArray, FloatArray, IntArray, Node


@dataclass(frozen=True, eq=False)
class Problem:
    """A counted table, its hierarchies, and the models every class must keep.

    Partitioners work on its *items*: the distinct combinations of the quasi-identifiers
    and of what the models look at, each with the number of rows that have it.
    """

    counts: FrequencySet
    """The quasi-identifiers first, then the columns that models look at."""

    attributes: tuple[Attribute, ...]
    """The quasi-identifiers as losses see them."""

    lowest: Node
    highest: Node
    """Between which levels each quasi-identifier may be published."""

    models: tuple[PrivacyModel, ...]
    sensitive: Mapping[str, SensitiveColumn]
    free: tuple[bool, ...] = ()
    """Which quasi-identifiers were given no hierarchy; none if left out."""

    whole: FrequencySet | None = None
    """The table that classes are compared with, if these are only some of its rows."""

    limit: int = 0
    """Most rows that may be suppressed."""

    matches_any: bool = False
    """Whether a missing value matches every value in the release."""

    @property
    def total(self) -> int:
        """How many rows there are."""
        return self.counts.total

    @property
    def rows(self) -> IntArray:
        """How many rows each item has."""
        return self.counts.rows

    @cached_property
    def raw(self) -> CodeArray:
        """The raw codes of the quasi-identifiers: `raw[a, i]`."""
        codes: CodeArray = self.counts.codes[: len(self.attributes)]
        return codes

    @cached_property
    def codes(self) -> tuple[CodeArray, ...]:
        """For each quasi-identifier the label of each raw value at each level."""
        return tuple(attribute.ladder.codes for attribute in self.attributes)

    @cached_property
    def widths(self) -> IntArray:
        """How many labels each quasi-identifier has at the level where it has most."""
        return np.array(
            [max(map(len, a.ladder.labels), default=1) for a in self.attributes], dtype=np.int64
        )

    @cached_property
    def costs(self) -> tuple[FloatArray, ...]:
        """What a cell loses at each level, by raw value: the weighted normalised loss."""
        loss = NormalizedLoss()
        return tuple(loss.costs(a) * a.weight for a in self.attributes)

    @cached_property
    def judge(self) -> Judge:
        """Who decides whether a class keeps the models."""
        return Judge(self.counts, self.models, self.sensitive, whole=self.whole)

    def among(self, items: IntArray, rows: IntArray) -> "Problem":
        """Ask the same of some of the items only; classes are compared with the whole table."""
        counts = self.counts
        some = FrequencySet(counts.columns, counts.codes[:, items], rows)
        return replace(self, counts=some, whole=self.whole or counts)

    def labels(self, attribute: int, level: IntArray | int, items: IntArray) -> IntArray:
        """Give the label codes of some items at a level (one for all, or one for each)."""
        raw = self.raw[attribute][items]
        labels: IntArray = self.codes[attribute][level, raw].astype(np.int64)
        return labels
