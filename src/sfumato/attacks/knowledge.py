"""Things that adversaries have besides classes: whole rows, their items, or the tool."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

import numpy as np

from sfumato.attacks.overlap import LabelKnowledge
from sfumato.counts import Column, FrequencySet, group
from sfumato.counts.baskets import Baskets
from sfumato.dataclasses import dataclass
from sfumato.hierarchy.labels import Labels
from sfumato.typing import CodeArray, IntArray, Value


@dataclass(frozen=True, eq=False)
class ItemRows:
    """The rows of a release with their items, for those who know some of them.

    Example:
        >>> baskets = Baskets.of_cells(
        ...     np.array([0, 0, 1]), np.array([0, 1, 0]), 2, ("tea", "ice"))
        >>> rows = ItemRows((), np.empty((0, 2), dtype=np.int32), baskets, ("meal", "meal"), {})
        >>> rows.class_of.tolist()
        [0, 0]
    """

    columns: tuple[Column, ...]
    """The quasi-identifiers."""

    labels: CodeArray
    """`labels[column, row]`: the value of each of them."""

    baskets: Baskets
    """The items of all columns that have several, together."""

    column_of: tuple[str, ...]
    """The column of each item."""

    sensitive: Mapping[str, tuple[Column, CodeArray]]
    """Per sensitive column, its values, and which one each row has."""

    known: int | None = None
    """How many items are promised to be harmless."""

    @property
    def class_of(self) -> IntArray:
        """The class of each row."""
        sizes = [len(column.values) for column in self.columns]
        return group(list(self.labels), sizes, n=self.baskets.rows).of_item.astype(np.int64)

    def who(self, row: int, items: IntArray) -> dict[str, Value]:
        """Return what a person is recognised by: their class, and some items."""
        found: dict[str, Value] = {
            column.name: column.values[code]
            for column, code in zip(self.columns, self.labels[:, row].tolist(), strict=True)
        }
        known: dict[str, list[str]] = {}
        for item in items.tolist():
            known.setdefault(self.column_of[item], []).append(self.baskets.values[item])
        return found | {name: " and ".join(several) for name, several in known.items()}


@dataclass(frozen=True, eq=False)
class WholeRows:
    """The published rows with all their columns, plain ones and those without a role, too."""

    columns: tuple[str, ...]
    """The columns besides the quasi-identifiers."""

    read: Callable[[Sequence[str]], FrequencySet]
    """Counts the quasi-identifiers and some of these columns."""

    k: int | None = None
    """The size of classes that is promised."""

    general: frozenset[str] = frozenset()
    """The quasi-identifiers whose words may stand for several values, as the manifest says."""

    readings: Callable[[], Mapping[str, LabelKnowledge]] = dict
    """Finds what the labels of quasi-identifiers stand for, as far as anything says so."""

    read_source: Callable[[Sequence[str]], FrequencySet] | None = None
    """Counts the table that the release was made of, as far as it has these columns."""

    labels: Labels = field(default_factory=Labels)
    """What the labels come from, where that table is given."""


@dataclass(frozen=True, eq=False)
class ReleaseMaker:
    """The tool and its policy, to be run on candidates, and the table the release was made of.

    The publisher has both. The adversary has the tool, the policy and the
    quasi-identifiers of all people; of the table only its quasi-identifiers are used for
    candidates.
    """

    table: FrequencySet
    """The original, over the quasi-identifiers and the sensitive columns that models look at."""

    quasi_identifiers: tuple[str, ...]
    run: Callable[[FrequencySet, np.random.Generator], FrequencySet | None]
    """Makes of a table what would be published, over the same columns; None if nothing would."""

    labels: Labels = field(default_factory=Labels)
    """What the labels of the release come from."""

    draws: bool = False
    """Whether two runs on one table may differ."""

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive columns that the tool looks at."""
        return tuple(name for name in self.table.names if name not in self.quasi_identifiers)
