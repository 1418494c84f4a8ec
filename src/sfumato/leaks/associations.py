"""Q-S associations: quasi-identifier values that tell a sensitive value."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from sfumato.bayes import conditional_table
from sfumato.checks import require_int, require_number
from sfumato.counts import Column, FrequencySet
from sfumato.leaks.combinations import listing, plain
from sfumato.leaks.rules import Entries


@dataclass(frozen=True, eq=False)
class Association:
    """Values of some quasi-identifiers that tell a sensitive value, with what confidence."""

    known: tuple[Column, ...]
    told: Column
    entries: Entries
    """One entry per rule: the values, the rows with all of it, the rows with what is known."""

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def strongest(self) -> float:
        """The largest confidence."""
        return float(self.entries.posterior.max(initial=0.0))

    def rules(self) -> list[dict[str, Any]]:
        """Give the rules as plain values, the surest first."""
        e = self.entries
        found = []
        for i in np.argsort(-e.posterior, kind="stable").tolist():
            known = tuple(
                (column.name, column.values[code])
                for column, code in zip(self.known, e.known[:, i].tolist(), strict=True)
            )
            told = ((self.told.name, self.told.values[e.value[i]]),)
            found.append(
                {
                    "known": plain(known),
                    "told": plain(told),
                    "confidence": float(e.posterior[i]),
                    "people": int(e.rows[i]),
                    "support": int(e.support[i]),
                    "text": f"{listing(known)} → {listing(told)}",
                }
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values that JSON can hold."""
        return {
            "known": [column.name for column in self.known],
            "told": self.told.name,
            "strongest": self.strongest,
            "rules": self.rules(),
        }

    def __str__(self) -> str:
        known = ", ".join(column.name for column in self.known)
        return f"{known} → {self.told.name}: {len(self)} rules, up to {self.strongest:.0%}"


def associations_of(
    counts: FrequencySet,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    *,
    confidence: float = 0.5,
    support: int = 1,
    size: int = 1,
) -> list[Association]:
    """Mine the rules from quasi-identifier values to a sensitive value.

    A rule's confidence is the share of the sensitive value among the rows with the
    quasi-identifier values. A missing value tells nothing, so no rule leads to it.

    Args:
        counts: The table.
        quasi_identifiers: The columns others may know.
        sensitive: The columns nobody should learn.
        confidence: What a rule's confidence must exceed; at least 0, below 1.
        support: Fewest rows with the quasi-identifier values.
        size: How many quasi-identifiers a rule starts from, up to this; the literature
            takes single values.

    Example:
        >>> rows = [("30s", "flu")] * 4 + [("30s", "gout"), ("40s", "flu"), ("40s", "gout")]
        >>> counts = FrequencySet.from_rows(["age", "ill"], rows)
        >>> [found] = associations_of(counts, ["age"], ["ill"])
        >>> print(found, "-", found.rules()[0]["text"])
        age → ill: 1 rules, up to 80% - age=30s → ill=flu
    """
    check_mining(confidence, support, size)
    found = [
        _association(counts, known, told, confidence, support)
        for told in sensitive
        for known in antecedents(quasi_identifiers, size)
    ]
    return [one for one in found if len(one)]


def antecedents(quasi_identifiers: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    """Give the sets of columns that rules start from.

    >>> list(antecedents(["age", "zip"], 2))
    [('age',), ('zip',), ('age', 'zip')]
    """
    for n in range(1, size + 1):
        yield from combinations(quasi_identifiers, n)


def check_mining(confidence: object, support: object, size: object) -> None:
    """Refuse thresholds that make no sense."""
    require_number("confidence", confidence, at_least=0, below=1, why="no confidence exceeds 1")
    require_int("support", support, at_least=1)
    require_int("size", size, at_least=1)


def _association(
    counts: FrequencySet, known: tuple[str, ...], told: str, confidence: float, support: int
) -> Association:
    table = conditional_table(counts, told, known)
    behind = table.support[table.combination]
    exceeds = (table.probability > confidence) & (behind >= support)
    at = np.flatnonzero(exceeds & (table.value != table.child.missing))
    prior = counts.value_counts(told)[table.value[at]] / max(counts.total, 1)
    of_rule = table.combination[at]
    entries = Entries(
        table.combinations[:, of_rule], table.value[at], table.count[at], behind[at], prior
    )
    return Association(table.parents, table.child, entries)
