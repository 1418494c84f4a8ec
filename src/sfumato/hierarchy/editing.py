"""Hierarchies edited by hand: groups of names, or cut points; every edit gives a new, valid form.

`edit` makes an editable form of any builder and the values of a column: `CutPoints` for intervals,
a `GroupTree` for everything else. `builder()` of a form is what a policy can hold, and its levels
are exactly those of the form. `preview` says what each level does to the rows.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from sfumato.hierarchy.automatic import Automatic
from sfumato.hierarchy.base import HierarchyBuilder
from sfumato.hierarchy.csv_file import hierarchy_of_text
from sfumato.hierarchy.cut_points import CutPoints
from sfumato.hierarchy.group_tree import GroupTree, rows_of
from sfumato.hierarchy.intervals import Intervals
from sfumato.text import is_missing, text_of
from sfumato.typing import Value

__all__ = [
    "CutPoints", "Form", "GroupTree", "LabelRows", "LevelPreview", "edit", "edit_csv",
    "preview",
]  # fmt: skip

Form: TypeAlias = GroupTree | CutPoints
"""A hierarchy that can be edited by hand."""


def edit(
    builder: HierarchyBuilder,
    column: str,
    values: Sequence[Value],
    counts: Sequence[int] | None = None,
) -> Form:
    """Return the editable form of a hierarchy, with the labels that the builder gives.

    Args:
        builder: Any builder; of an automatic one what it chooses.
        column: The column's name.
        values: The column's values, the missing one too if there is one.
        counts: How many rows have each; without it, one each.

    Example:
        >>> edit(Automatic(), "age", [*range(18, 91)]).is_even
        True
        >>> edit(Automatic(), "smokes", ["never", "rarely", "often"]).labels(1)
        ('never to rarely', 'often')
    """
    at = [i for i, value in enumerate(values) if not is_missing(value)]
    known = [values[i] for i in at]
    rows, missing = rows_of(values, counts)
    if not known:
        return GroupTree(column, {}, {}, missing=missing, origin=builder)
    some_counts = None if counts is None else [int(counts[i]) for i in at]
    if isinstance(builder, Automatic):
        # As it builds: no group names the value of a single row.
        hide = counts is not None
        builder = builder.describe(column, known, some_counts, hide_single=hide)
    if isinstance(builder, Intervals):
        return CutPoints(column, rows, builder, missing)
    hierarchy = builder.build(column, known, some_counts)
    return GroupTree.of(hierarchy, column, values, counts, origin=builder)


def edit_csv(
    text: str,
    column: str,
    values: Sequence[Value],
    counts: Sequence[int] | None = None,
    *,
    delimiter: str | None = None,
    origin: str = "the file",
) -> GroupTree:
    r"""Return the editable form of a hierarchy that ARX or another program wrote.

    Values of the column that the file does not have stand by themselves up to the top.

    Args:
        text: A line per value: the value, then its label at each level, the top last.
        column: The column's name.
        values: The column's values, the missing one too if there is one.
        counts: How many rows have each; without it, one each.
        delimiter: What stands between the levels; by default a semicolon, tab, bar or comma.
        origin: What to call the file in a message.

    Example:
        >>> edit_csv("tea;hot;*\nbeer;cold;*\n", "drink", ["tea", "milk"]).groups(1)
        {'hot': ('tea',), 'cold': ('beer',), 'milk': ('milk',)}
    """
    hierarchy = hierarchy_of_text(text, column, delimiter, origin=origin)
    return GroupTree.of(hierarchy, column, values, counts)


class LabelRows(NamedTuple):
    """A label of a level: what it would stand for in a release."""

    label: str | None
    """None is the missing value."""

    rows: int
    values: int
    """How many values of the table it stands for."""


class LevelPreview(NamedTuple):
    """What a level does to the rows of a table."""

    level: int
    labels: tuple[LabelRows, ...]
    """The labels that rows would have, those of most rows first."""

    @property
    def groups(self) -> int:
        """The number of labels."""
        return len(self.labels)

    @property
    def smallest(self) -> int:
        """The rows of the label that the fewest have; 0 if there are no rows."""
        return min((each.rows for each in self.labels), default=0)

    def rows_below(self, k: int) -> int:
        """Return how many rows have a label that fewer than k rows have."""
        return sum(each.rows for each in self.labels if each.rows < k)


def preview(
    builder: HierarchyBuilder,
    column: str,
    values: Sequence[Value],
    counts: Sequence[int] | None = None,
) -> tuple[LevelPreview, ...]:
    """Return for each level, the values first, its labels and the rows each would have.

    Args:
        builder: Any builder; of an editable form its `builder()`.
        column: The column's name.
        values: The column's values, the missing one too if there is one.
        counts: How many rows have each; without it, one each.

    Example:
        >>> for level in preview(Intervals(widths=[10]), "age", [31, 38, 45], [2, 1, 4]):
        ...     print(level.groups, level.smallest, [each.label for each in level.labels])
        3 1 ['45', '31', '38']
        2 3 ['40 to 49', '30 to 39']
        1 7 ['*']
    """
    ladder = builder.ladder(column, values, counts)
    weights = np.ones(len(values)) if counts is None else np.array(counts, dtype=np.float64)
    found = []
    for level, labels in enumerate(ladder.labels):
        codes = ladder.codes[level]
        rows = np.bincount(codes, weights=weights, minlength=len(labels)).round().astype(np.int64)
        members = np.bincount(codes, minlength=len(labels))
        order = np.argsort(-rows, kind="stable").tolist()
        named = [
            LabelRows(
                None if labels[i] is None else text_of(labels[i]), int(rows[i]), int(members[i])
            )
            for i in order
        ]
        found.append(LevelPreview(level, tuple(named)))
    return tuple(found)
