"""Q-S association hiding: the rules there are, and what it costs to hide them.

The decoupling `association-hiding` publishes such a table; here it is looked at.

Reference: Y. Weijia and H. Shangteng, "k-Anonymization without Q-S Associations", 2007, pages
753-764 of the proceedings of APWeb/WAIM.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.counts import Column, FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.decouplings.association_hiding import (
    HiddenColumn,
    Thresholds,
    hide_columns,
    loss_of,
    publish_labels,
)
from sfumato.hierarchy import HierarchyBuilder, Ladder
from sfumato.leaks.breach import listing, plain
from sfumato.leaks.rules import RuleEntries, exceeding_entries, shares_of
from sfumato.networks import ConditionalTable, conditional_table
from sfumato.showing.content import Content, Listing, Showable
from sfumato.tables import open_table
from sfumato.text import percent
from sfumato.typing import FloatArray


@dataclass(frozen=True, eq=False)
class Association:
    """Values of some quasi-identifiers that tell a sensitive value, or rule one out."""

    known: tuple[Column, ...]
    told: Column
    entries: RuleEntries
    """One entry per rule: the values, the rows with all of it, the rows with what is known."""

    absent: bool = False
    """Whether the rules lead away from a value: people with what is known do not have it."""

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def confidence(self) -> FloatArray:
        """The confidence of each rule."""
        e = self.entries
        return (e.support - e.rows) / e.support if self.absent else e.posterior

    @property
    def strongest(self) -> float:
        """The largest confidence."""
        return float(self.confidence.max(initial=0.0))

    def rules(self) -> list[dict[str, Any]]:
        """Return the rules as plain values, the surest first."""
        e, sure = self.entries, self.confidence
        found = []
        for i in np.argsort(-sure, kind="stable").tolist():
            known = tuple(
                (column.name, column.values[code])
                for column, code in zip(self.known, e.known[:, i].tolist(), strict=True)
            )
            told = ((self.told.name, self.told.values[e.value[i]]),)
            found.append(
                {
                    "known": plain(known),
                    "told": plain(told),
                    "absent": self.absent,
                    "confidence": float(sure[i]),
                    "people": int(e.rows[i]),
                    "support": int(e.support[i]),
                    "text": f"{listing(known)} → {'not ' * self.absent}{listing(told)}",
                }
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "known": [column.name for column in self.known],
            "told": self.told.name,
            "absent": self.absent,
            "strongest": self.strongest,
            "rules": self.rules(),
        }

    def __str__(self) -> str:
        known = ", ".join(column.name for column in self.known)
        told = f"{'not ' * self.absent}{self.told.name}"
        return f"{known} → {told}: {_count_rules(len(self))}, up to {percent(self.strongest)}"


def associations_of(
    data: object,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    *,
    confidence: float = 0.5,
    absence: float | None = None,
    support: int = 1,
    size: int = 1,
) -> list[Association]:
    """Mine the rules from quasi-identifier values to a sensitive value, and away from one.

    A rule's confidence is the share of the sensitive value among the rows with the
    quasi-identifier values, or of all others if it leads away from the value. That a value is not
    there which is as rare in the whole table is no rule. A missing value tells nothing, so no rule
    leads to it.

    Args:
        data: The table: a path, pandas, Polars, Arrow, or its counts.
        quasi_identifiers: The columns others may know.
        sensitive: The columns that must not be learned.
        confidence: What a rule's confidence must exceed; at least 0, below 1.
        absence: The same for rules that lead away from a value; None mines none of these.
        support: Fewest rows with the quasi-identifier values.
        size: How many quasi-identifiers a rule starts from, up to this; the literature
            takes single values.

    Example:
        >>> rows = [("30s", "flu")] * 4 + [("30s", "gout"), ("40s", "flu"), ("40s", "gout")]
        >>> counts = FrequencySet.from_rows(["age", "ill"], rows)
        >>> [found] = associations_of(counts, ["age"], ["ill"])
        >>> print(found, "-", found.rules()[0]["text"])
        age → ill: 1 rule, up to 80 % - age=30s → ill=flu
        >>> rows = [("30s", "flu")] * 4 + [("40s", "flu"), ("40s", "gout")]
        >>> counts = FrequencySet.from_rows(["age", "ill"], rows)
        >>> found = associations_of(counts, ["age"], ["ill"], confidence=0.9, absence=0.9)
        >>> [one.rules()[0]["text"] for one in found]
        ['age=30s → ill=flu', 'age=30s → not ill=gout']
    """
    thresholds = Thresholds(confidence, absence, support, size)
    counts = _count(data, (*quasi_identifiers, *sensitive))
    found = []
    for told in sensitive:
        for known in thresholds.antecedents(quasi_identifiers):
            table = conditional_table(counts, told, known)
            found.append(_association(counts, table, thresholds))
            if absence is not None:
                found.append(_disassociation(counts, table, absence, support))
    return [one for one in found if len(one)]


def _count_rules(number: int) -> str:
    return f"{number} rule{'' if number == 1 else 's'}"


def _count(data: object, names: Sequence[str]) -> FrequencySet:
    return data if isinstance(data, FrequencySet) else open_table(data).count(names)


def _association(
    counts: FrequencySet, table: ConditionalTable, thresholds: Thresholds
) -> Association:
    wanted = (table.probability > thresholds.confidence) & (table.value != table.child.missing)
    entries = exceeding_entries(
        table, shares_of(counts, table.child.name), wanted, thresholds.support
    )
    return Association(table.parents, table.child, entries)


def _disassociation(
    counts: FrequencySet, table: ConditionalTable, absence: float, support: int
) -> Association:
    column, everywhere = table.child, counts.value_counts(table.child.name)
    common = (counts.total - everywhere) / max(counts.total, 1) <= absence
    values = np.flatnonzero(common[: len(column.known)])
    enough = np.flatnonzero(table.support >= support)
    # There are few values that are not rare in the whole table: one over 1 - absence at most.
    place = np.full(len(column.values), -1)
    place[values] = np.arange(len(values))
    looked_at = place[table.value] >= 0
    rows = np.zeros((len(table), len(values)), dtype=np.int64)
    at = table.combination[looked_at], place[table.value[looked_at]]
    rows[at] = table.count[looked_at]
    behind, there = np.repeat(table.support[enough], len(values)), rows[enough].ravel()
    kept = np.flatnonzero((behind - there) / behind > absence)
    combination, value = np.repeat(enough, len(values))[kept], np.tile(values, len(enough))[kept]
    entries = RuleEntries(
        table.combinations[:, combination],
        value.astype(table.value.dtype),
        there[kept],
        behind[kept],
        everywhere[value] / max(counts.total, 1),
    )
    return Association(table.parents, column, entries, absent=True)


DECOUPLED_LOSS = 0.0
"""The loss of decoupling in the sensitive columns: their values are published as they are."""


@dataclass(frozen=True, eq=False)
class HiddenTable(Showable):
    """A table whose quasi-identifiers no longer tell sensitive values, and what it cost."""

    counts: FrequencySet
    """The table with its sensitive values generalised."""

    columns: tuple[HiddenColumn, ...]
    thresholds: Thresholds
    scope: str

    @property
    def confidence(self) -> float:
        """The confidence that no rule to a value exceeds."""
        return self.thresholds.confidence

    @cached_property
    def losses(self) -> Mapping[str, float]:
        """The normalised loss of each sensitive column: 0 is untouched, 1 is nothing left."""
        parts = loss_of(self.columns, self.counts.total)
        return dict(zip((c.name for c in self.columns), parts.tolist(), strict=True))

    @property
    def loss(self) -> float:
        """The mean over the sensitive columns; decoupling costs them nothing."""
        return sum(self.losses.values()) / max(len(self.columns), 1)

    @property
    def rules(self) -> int:
        """The number of rules there were to hide."""
        return sum(column.rules for column in self.columns)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "confidence": self.confidence,
            "absence": self.thresholds.absence,
            "scope": self.scope,
            "rules": self.rules,
            "loss": {"hiding": self.loss, "breaking": DECOUPLED_LOSS},
            "columns": [{**c.to_dict(), "loss": self.losses[c.name]} for c in self.columns],
        }

    def content(self) -> Content:
        """Return what hiding costs, and what it costs each column."""
        head = (
            f"hiding {_count_rules(self.rules)} above {self.confidence:g} costs "
            f"{percent(self.loss)} of the sensitive values; decoupling the table costs "
            f"{percent(DECOUPLED_LOSS)}"
        )
        lines = [
            f"{c.name}: {_count_rules(c.rules)}, {percent(self.losses[c.name])} lost, up to level "
            f"{int(c.levels.max(initial=0))} of {c.ladder.height}"
            for c in self.columns
        ]
        return Content(head, (Listing.of(lines, most=len(lines)),) if lines else ())


def hide(  # noqa: PLR0913 - all but three have a default and are named
    data: object,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    hierarchies: Mapping[str, Ladder | HierarchyBuilder] | None = None,
    *,
    confidence: float = 0.5,
    absence: float | None = None,
    scope: str = "values",
    support: int = 1,
    size: int = 1,
) -> HiddenTable:
    """Generalise sensitive values until no rule leads from quasi-identifiers to one of them.

    What a rule to a generalised value tells of a person is its confidence spread evenly over
    the raw values the label stands for: that falls as labels grow. (A label's own confidence
    only rises when labels are merged, so counting that, nothing short of the top would
    ever hide a rule.) The top tells nothing and ends it.

    Args:
        data: The table: a path, pandas, Polars, Arrow, or its counts.
        quasi_identifiers: The columns others may know.
        sensitive: The columns that must not be learned.
        hierarchies: Theirs, or their ladders; a column without one has its values suppressed.
        confidence: What may not be exceeded.
        absence: The same for rules that lead away from a value; None leaves these alone.
        scope: What a rule lifts: `values`, the label it leads to and its siblings, in the
            whole table (the cheaper, and the fairer comparison), or `column`, all values by a
            level.
        support: Fewest rows behind a rule.
        size: How many quasi-identifiers a rule starts from, up to this.

    Example:
        >>> from sfumato.hierarchy import Hierarchy
        >>> work = ["federal", "private", "self", "state"]
        >>> paths = [["public", "*"], ["own", "*"], ["own", "*"], ["public", "*"]]
        >>> ladder = Hierarchy.from_paths(work, paths).bind("work", work)
        >>> rows = [("30s", "state")] * 3 + [("30s", "self"), ("40s", "self"), ("40s", "private")]
        >>> counts = FrequencySet.from_rows(["age", "work"], rows + [("40s", "federal")])
        >>> hidden = hide(counts, ["age"], ["work"], {"work": ladder})
        >>> hidden.columns[0].labels["state"], hidden.columns[0].labels["self"]
        ('public', 'self')
        >>> print(hidden)
        hiding 1 rule above 0.5 costs 19 % of the sensitive values; decoupling the table costs 0 %
          work: 1 rule, 19 % lost, up to level 1 of 2
    """
    thresholds = Thresholds(confidence, absence, support, size)
    counts = _count(data, (*quasi_identifiers, *sensitive))
    columns = hide_columns(
        counts, quasi_identifiers, sensitive, hierarchies or {}, thresholds, scope=scope
    )
    return HiddenTable(publish_labels(counts, columns), columns, thresholds, scope)
