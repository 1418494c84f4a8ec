"""Measure how much of a table is gone once it is published, in one figure.

The losses of the literature look at quasi-identifiers only. They fall when a column is dropped, and
are 0 where quasi-identifiers are called plain. This figure looks at every column.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sfumato.counts import Column, FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.perturbations import ColumnCells, Perturbation
from sfumato.policy import Policy
from sfumato.schema import Role
from sfumato.text import number_of, percent
from sfumato.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from sfumato.recode.deciding import Decision

_MOST_DRAWN = 20_000
"""Rows that are enough to see how much of a column chance changes."""


@dataclass(frozen=True)
class DataGone:
    """How much of a table is not in its release.

    Every column of the table counts alike, but for identifiers and for copies of others, as the
    policy says (`copy_of`). A column that is left out is gone
    whole. Of a quasi-identifier the normalised loss is gone, and of any other column the rows that
    are suppressed; suppressed rows are gone from quasi-identifiers too. Of a perturbed column
    as much is gone as chance hides: the share of the cells it changes, or of numbers the share of
    their variance that published numbers do not explain.

    The figure depends on rows that are suppressed, so it is for the publisher and stands in no
    manifest. Joins that are lost when columns are published apart are not counted.

    Example:
        >>> DataGone({"age": 0.25, "ill": 0.0, "income": 1.0})
        DataGone(42 % of the data, 2 of 3 columns left)
        >>> DataGone({"age": 0.25, "ill": 0.0, "income": 1.0}).share.__round__(4)
        0.4167
    """

    columns: Mapping[str, float] = field(default_factory=dict)
    """The share that is gone of each column that counts, from 0 to 1."""

    @property
    def share(self) -> float:
        """The share of the data that is gone: the mean over columns."""
        return sum(self.columns.values()) / len(self.columns) if self.columns else 0.0

    @property
    def of(self) -> int:
        """The columns that count."""
        return len(self.columns)

    @property
    def left(self) -> int:
        """The columns of which something is published."""
        return sum(share < 1 for share in self.columns.values())

    def among(self, names: Collection[str]) -> "DataGone":
        """Return the figure over some columns, so that two policies are held to the same ones.

        Args:
            names: The columns that count; one that is not known here is gone whole.
        """
        return DataGone({name: self.columns.get(name, 1.0) for name in names})

    def __str__(self) -> str:
        return f"{percent(self.share)} of the data, {self.left} of {self.of} columns left"

    def __repr__(self) -> str:
        return f"DataGone({self})"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values that JSON can hold."""
        shares = dict(self.columns)
        return {"share": self.share, "left": self.left, "of": self.of, "columns": shares}

    @classmethod
    def of_decision(
        cls,
        policy: Policy,
        columns: Sequence[str],
        decision: "Decision",
        total: int,
        *,
        changed: Mapping[str, float] | None = None,
        sets: float | None = None,
        unowned: float = 0.0,
    ) -> Self:
        """Return what is gone of a table once a decision is carried out.

        Args:
            policy: What says the role of each column.
            columns: All columns of the table.
            decision: What becomes of its rows.
            total: The rows of the table.
            changed: The share that chance hides of each perturbed column; see `hidden_by_chance`.
            sets: The share of the items of sets that is lost, if it is known.
            unowned: The share of rows that were left out before, as they have no owner.
        """
        # Nothing was decided on rows that miss a value, and no loss charges for them.
        lacking = decision.lacking / max(total, 1)
        lost = {name: lacking + (1 - lacking) * each for name, each in decision.lost.items()}
        suppressed = decision.suppressed / max(total, 1)
        if unowned:
            lost = {name: unowned + (1 - unowned) * each for name, each in lost.items()}
            suppressed = unowned + (1 - unowned) * suppressed
        return cls.of_columns(policy, columns, lost, suppressed, changed=changed, sets=sets)

    @classmethod
    def of_columns(
        cls,
        policy: Policy,
        columns: Sequence[str],
        lost: Mapping[str, float],
        suppressed: float,
        *,
        changed: Mapping[str, float] | None = None,
        sets: float | None = None,
    ) -> Self:
        """Return what is gone of a table.

        Args:
            policy: What says the role of each column.
            columns: All columns of the table.
            lost: The loss of each quasi-identifier that is generalised, with suppressed rows.
            suppressed: The share of the rows that are not published.
            changed: The share that chance hides of each perturbed column.
            sets: The share of the items of sets that is lost, if it is known.

        Example:
            >>> rules = {"name": "identifier", "age": "quasi-identifier", "ill": "plain"}
            >>> policy = Policy(columns=rules, models=[{"model": "k-anonymity", "k": 2}])
            >>> DataGone.of_columns(policy, ["name", "age", "ill"], {"age": 0.5}, 0.1).columns
            {'age': 0.5, 'ill': 0.1}
        """
        found = {}
        for name in columns:
            role = policy.role_of(name)
            if role is Role.IDENTIFIER or is_copy(policy, name):
                continue
            if role is None or role is Role.DROPPED:
                found[name] = 1.0
                continue
            gone = max(lost.get(name, 0.0), suppressed)
            if role is Role.SET and sets is not None:
                gone = suppressed + (1 - suppressed) * sets
            # What is left of the rows is hidden by chance, too.
            found[name] = min(gone + (1 - gone) * (changed or {}).get(name, 0.0), 1.0)
        return cls(found)


def is_copy(policy: Policy, name: str) -> bool:
    """Return whether a policy says that a column is a copy of another, so that it need not stay."""
    return name in policy.columns and policy.columns[name].copy_of is not None


def hidden_in(counts: FrequencySet, policy: Policy) -> dict[str, float]:
    """Return the share that chance hides of each column that a policy perturbs.

    Args:
        counts: The table as it was, over the perturbed columns at least.
        policy: What is changed, and how.
    """
    return {
        name: hidden_by_chance(counts.column(name), counts.value_counts(name), chain)
        for name, chain in policy.perturbations.items()
        if name in counts.names
    }


def hidden_by_chance(column: Column, rows: IntArray, chain: Sequence[Perturbation]) -> float:
    """Return the share of a column that is hidden by what changes its values.

    Of numbers it is the share of the variance that the changed ones do not explain; of other values
    the share of the cells that are changed. It is drawn once, always the same, on some rows.

    Args:
        column: The values.
        rows: How many rows have each.
        chain: What changes them, one after the other.

    >>> from sfumato.perturbations import Pram
    >>> abc = Column("x", ("a", "b", "c"))
    >>> round(hidden_by_chance(abc, np.array([3000, 3000, 3000]), [Pram(keep=0.8)]), 1)
    0.2
    """
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(len(rows)), rows)
    if len(codes) > _MOST_DRAWN:
        codes = np.sort(rng.choice(codes, _MOST_DRAWN, replace=False))
    cells = true = ColumnCells(column, codes)
    for each in chain:
        [cells] = each.change([cells], None, rng)
    known = true.known & cells.known
    if not known.any():
        return 0.0
    before, after = _numbers(true)[known], _numbers(cells)[known]
    if np.isnan(before).any() or np.isnan(after).any():
        same = np.array([value in true.column.values for value in cells.column.values])
        place = np.array([_place(true.column, value) for value in cells.column.values])
        kept = same[cells.codes] & (place[cells.codes] == true.codes)
        return 1 - float(kept[known].mean())
    spread = float(before.std() * after.std())
    if not spread:
        return float((before != after).any())
    explained = float(((before - before.mean()) * (after - after.mean())).mean()) / spread
    return min(max(1 - explained**2, 0.0), 1.0)


def _numbers(cells: ColumnCells) -> FloatArray:
    """Return the number of each cell; NaN where it is none."""
    read = [number_of(value) for value in cells.column.values]
    return np.array([np.nan if each is None else each for each in read], dtype=float)[cells.codes]


def _place(column: Column, value: object) -> int:
    return column.values.index(value) if value in column.values else -1
