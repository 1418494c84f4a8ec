"""Levels of a public domain: the labels that cells are published under, chosen before counting."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.errors import HierarchyError
from sfumato.policy import Policy
from sfumato.synthesis.domain import ColumnDomain
from sfumato.synthesis.mechanisms import CountedCells
from sfumato.typing import IntArray, Value


@dataclass(frozen=True, eq=False)
class PublishedColumn:
    """What a column can be published as, whatever the table holds; missing comes last.

    Example:
        >>> ages = ColumnDomain.of_values("sex", ["f", "m"])
        >>> PublishedColumn.of(ages).values
        ('f', 'm', None)
    """

    name: str
    labels: tuple[str, ...]
    missing: bool
    of_cell: IntArray
    """The label of each cell of its domain."""

    level: int | None = None
    """The level of the hierarchy; None if labels are cells that are wider than values."""

    @classmethod
    def of(cls, domain: ColumnDomain) -> "PublishedColumn":
        """Return the cells of a domain as they are."""
        level = None if domain.is_line else 0
        return cls(domain.name, domain.labels, domain.missing, np.arange(domain.size), level)

    @classmethod
    def at_level(cls, policy: Policy, domain: ColumnDomain) -> "PublishedColumn":
        """Return the labels of the level that a policy states; raise at its line if it is open.

        Args:
            policy: States levels, and the hierarchies they are of.
            domain: The cells of the column.
        """
        rule = policy.columns.get(domain.name)
        if rule is None or rule.levels is None:
            return cls.of(domain)
        low, level = rule.levels
        at = ("columns", domain.name, "levels")
        if low != level:
            text = (
                f"leaves open which level is published ({low} to {level}), and under noise none "
                "may be chosen by looking at the table. State one, as in levels: "
                f"[{level}, {level}], or leave levels out and publish the cells of the domain."
            )
            raise policy.error_at(*at, text=text)
        if not level:
            if domain.is_line:
                text = (
                    "states raw values, and noise is added to cells of the domain: leave levels "
                    "out, and make cells as narrow as you need"
                )
                raise policy.error_at(*at, text=text)
            return cls.of(domain)
        if rule.hierarchy is None:
            raise policy.error_at(*at, text="needs a hierarchy: labels of a level are its own")
        first, last = _ends(domain)
        labels = [_labels(policy, domain.name, ends, level) for ends in (first, last)]
        for cell, (one, other) in enumerate(zip(*labels, strict=True)):
            if one != other:
                text = (
                    f"parts the cell {domain.labels[cell]!r} of the domain into {one!r} and "
                    f"{other!r}: let the cuts of the domain be those of the hierarchy, or leave "
                    "them out"
                )
                raise policy.error_at(*at, text=text)
        known = list(dict.fromkeys(labels[0]))
        of_cell = [known.index(label) for label in labels[0]]
        of_cell += [len(known)] * domain.missing
        return cls(domain.name, tuple(known), domain.missing, np.array(of_cell), level)

    @property
    def size(self) -> int:
        """The number of different labels, the missing value among them."""
        return len(self.labels) + self.missing

    @property
    def values(self) -> tuple[Value, ...]:
        """The labels, the missing value last."""
        return (*self.labels, *([None] if self.missing else []))

    def to_dict(self) -> dict[str, Any]:
        """Return it as manifests state it."""
        return {"values": list(self.labels), "missing": self.missing}


def _ends(domain: ColumnDomain) -> tuple[Sequence[str], Sequence[str]]:
    """Return the first and the last value of each cell."""
    if not domain.is_line:
        return domain.values, domain.values
    pairs = [label.split(" to ") for label in domain.labels]
    return [pair[0] for pair in pairs], [pair[-1] for pair in pairs]


def _labels(policy: Policy, name: str, values: Sequence[str], level: int) -> list[str]:
    """Return the labels that a hierarchy has for public values at a level."""
    builder = policy.columns[name].hierarchy
    assert builder is not None  # noqa: S101 - it was asked
    at = ("columns", name, "levels")
    try:
        ladder = builder.build(name, [*values]).bind(name, [*values])
    except HierarchyError as error:
        raise policy.error_at("columns", name, "hierarchy", text=str(error)) from None
    if level >= ladder.height:
        text = (
            f"is the top of a hierarchy of {ladder.height} levels or above it, where all people "
            "have one label, which says nothing: give the column the role dropped"
        )
        raise policy.error_at(*at, text=text)
    return [str(ladder.labels[level][code]) for code in ladder.codes[level].tolist()]


def published_cells(cells: CountedCells, columns: Sequence[PublishedColumn]) -> CountedCells:
    """Return counts by the labels that are published.

    Args:
        cells: Counts by the cells of the domains of the same columns.
        columns: The labels of each.

    >>> sex = PublishedColumn("sex", ("any",), True, np.array([0, 0, 1]), 1)
    >>> cells = CountedCells(("sex",), (3,), np.array([[0, 1, 2]]), np.array([4, 5, 1]))
    >>> published_cells(cells, [sex]).marginal(("sex",)).tolist()
    [9, 1]
    """
    labels = np.stack([each.of_cell[at] for each, at in zip(columns, cells.cells, strict=True)])
    return CountedCells(cells.names, tuple(each.size for each in columns), labels, cells.rows)
