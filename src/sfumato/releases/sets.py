"""Columns of several values per row, between the decision about a table and its publication."""

from typing import TYPE_CHECKING

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.policy import Policy
from sfumato.recode.deciding import Decision
from sfumato.recode.sets import ItemTree, RecodedSets, require_countable
from sfumato.releases.places import FinishedRows
from sfumato.tables import Table
from sfumato.tables.capabilities import Sets
from sfumato.typing import Progress

if TYPE_CHECKING:
    from sfumato.tables.arrow.sets import RowsWithSets

JOINED = ";"
"""What stands between the items of a cell of a CSV file if the policy does not say it."""


def require_sets(table: Table, policy: Policy) -> None:
    """Raise if the sets of a policy cannot be read in a table."""
    if policy.sets:
        Sets.expect(table, policy.sets).require_sets(separators_of(policy))


def separators_of(policy: Policy) -> dict[str, str | None]:
    """Return what stands between the items of each column of sets, as far as a policy says it."""
    return {name: policy.columns[name].separator for name in policy.sets}


def joined_by(policy: Policy) -> dict[str, str]:
    """Return what stands between the items of each column of sets in a CSV file."""
    return {name: separator or JOINED for name, separator in separators_of(policy).items()}


def recode_sets(
    rows: "RowsWithSets", policy: Policy, decision: Decision, report: Progress
) -> RecodedSets:
    """Choose what is published of the items of rows whose other columns are decided.

    Only rows that are published are seen. With a local method an item may have another label in
    another class; otherwise its label is the same in the whole table.

    Args:
        rows: The rows as they are published, but for their sets.
        policy: What must hold.
        decision: What was decided on the other columns.
        report: Told how far it is.
    """
    report("sets", 0, None)
    models = [model for model in policy.models if model.protects_sets]
    least = [
        max(int(each.params()["k"]) for each in models if each.params()["m"] >= size)
        for size in range(1, 1 + max(int(each.params()["m"]) for each in models))
    ]
    found = {name: rows.items(name) for name in policy.sets}
    counts = {
        name: np.bincount(each.items, minlength=len(each.values)).tolist()
        for name, each in found.items()
    }
    tree = ItemTree.of(
        {name: (each.values, policy.columns[name].hierarchy) for name, each in found.items()},
        counts,
    )
    first, *others = found.values()
    for other in others:
        first = first.beside(other)
    require_countable(first, len(least))
    classes = rows.classes(policy.quasi_identifiers)
    per_class = policy.method.local or bool(decision.method.get("refined"))
    return RecodedSets.find(first, tree, classes, least, per_class=per_class)


@dataclass(frozen=True, eq=False)
class SetRows(FinishedRows):
    """The rows of a table with their sets, as they are published."""

    what = "sets of items"

    @classmethod
    def of(cls, rows: "RowsWithSets", sets: RecodedSets, policy: Policy) -> "SetRows":
        """Return the rows with the published items in them."""
        published = dict(zip(sets.columns, sets.baskets, strict=True))
        return cls(rows.with_items(published), separators=joined_by(policy))
