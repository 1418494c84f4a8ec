"""Dependency rules: what knowing some columns tells about another (Algorithm 1)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sfumato.counts import Column, FrequencySet, group
from sfumato.networks import ConditionalTable, Network, conditional_table
from sfumato.policy import RiskLevels
from sfumato.text import text_of
from sfumato.typing import BoolArray, CodeArray, FloatArray, IntArray, Value


@dataclass(frozen=True, eq=False)
class Entries:
    """The entries of a table that exceed alpha: known values → a value, how surely, how often."""

    known: CodeArray
    """`known[p, e]`: the value of known column p in entry e."""

    value: CodeArray
    """The value that is told."""

    rows: IntArray
    """Rows with all of it: the people about whom it is true."""

    support: IntArray
    """Rows with the known values."""

    prior: FloatArray
    """The share of the value among all rows: what is believed without the release's rows."""

    @property
    def posterior(self) -> FloatArray:
        """How likely the value is once the others are known."""
        share: FloatArray = self.rows / self.support
        return share

    @property
    def tells(self) -> BoolArray:
        """Where something is learned: the value is likelier than it was before."""
        return self.rows * 1.0 > self.prior * self.support * (1 + 1e-12)

    @property
    def lift(self) -> FloatArray:
        """How many times likelier it is than before."""
        gain: FloatArray = self.posterior / self.prior
        return gain

    def __len__(self) -> int:
        return len(self.value)


@dataclass(frozen=True, eq=False)
class Rule:
    """Knowing `known` tells `told` with more than alpha, for some people.

    `holds` is Algorithm 1's verdict. A joint rule whose single rules do not all exceed alpha
    does not hold by it, and is shown all the same: an adversary does not ask the algorithm.
    """

    networks: tuple[str, ...]
    """Which networks say so: quasi-identifiers, sensitive, all."""

    known: tuple[Column, ...]
    told: Column
    entries: Entries
    holds: bool
    against_arrow: bool = False
    """Whether it runs against an arrow: an adversary can use an edge in both directions."""

    reveals: bool = False
    """Whether what is told is sensitive; else the rule restates the generalisation."""

    levels: RiskLevels = field(default_factory=RiskLevels)

    @property
    def people(self) -> int:
        """How many people it exposes: those about whom it is true, and says more than was known."""
        return int(self.entries.rows[self.entries.tells].sum())

    @property
    def strongest(self) -> float:
        """The largest probability among its entries."""
        return float(self.entries.posterior.max(initial=0.0))

    @property
    def level(self) -> str:
        """The risk level of its strongest entry."""
        return self.levels.of(self.strongest)

    @property
    def least_support(self) -> int:
        """The smallest number of rows one of its entries stands on."""
        return int(self.entries.support.min(initial=np.iinfo(np.int64).max))

    def matches(self, counts: FrequencySet) -> BoolArray:
        """Tell which combinations of a table are among the people it exposes."""
        names = [*(column.name for column in self.known), self.told.name]
        tells = self.entries.tells
        mine = np.vstack([self.entries.known, self.entries.value])[:, tells]
        theirs = np.array([counts.codes_of(name) for name in names])
        sizes = [len(counts.column(name).values) for name in names]
        both = group(list(np.hstack([mine, theirs])), sizes)
        hit = np.zeros(both.n, dtype=bool)
        hit[both.of_item[: mine.shape[1]]] = True
        matched: BoolArray = hit[both.of_item[mine.shape[1] :]]
        return matched

    def shown(self, most: int | None = None) -> list[dict[str, Any]]:
        """Give its entries as plain values, those that expose most people first.

        Those that tell less than was known before come last.
        """
        e = self.entries
        order = np.lexsort((np.arange(len(e)), -e.posterior, -e.rows, ~e.tells))[:most]
        return [
            {
                "known": {
                    column.name: _plain(column.values[code])
                    for column, code in zip(self.known, e.known[:, i].tolist(), strict=True)
                },
                "told": {self.told.name: _plain(self.told.values[e.value[i]])},
                "people": int(e.rows[i]),
                "support": int(e.support[i]),
                "prior": float(e.prior[i]),
                "posterior": float(e.posterior[i]),
                "lift": float(e.lift[i]),
                "level": self.levels.of(float(e.posterior[i])),
            }
            for i in order.tolist()
        ]

    def to_dict(self, most: int | None = None) -> dict[str, Any]:
        """Give everything as plain values that JSON can hold."""
        return {
            "networks": list(self.networks),
            "known": [column.name for column in self.known],
            "told": self.told.name,
            "holds": self.holds,
            "against_arrow": self.against_arrow,
            "reveals": self.reveals,
            "people": self.people,
            "strongest": self.strongest,
            "level": self.level,
            "entries": self.shown(most),
        }

    def __str__(self) -> str:
        known = ", ".join(column.name for column in self.known)
        return (
            f"{known} → {self.told.name}: up to {self.strongest:.0%} ({self.level}), "
            f"{self.people} people"
        )


def _plain(value: Value) -> str | None:
    return None if value is None else text_of(value)


def rules_of(
    counts: FrequencySet,
    network: Network,
    *,
    name: str = "all",
    sensitive: Sequence[str] = (),
    alpha: float = 0.5,
    support: int = 5,
    levels: RiskLevels | None = None,
) -> list[Rule]:
    """Find the rules of a network that tell something with more than `alpha`.

    Algorithm 1: the rule of a child with one parent holds if an entry of its table exceeds
    alpha. With several parents each parent's own table is looked at; if every one exceeds
    alpha somewhere, the joint rule holds, else the single rules that did. Every rule with
    an entry above alpha is given, with that verdict. Where a sensitive column is a parent,
    the edge is also read against its arrow.

    Args:
        counts: The table, which may have more columns than the network.
        network: The graph.
        name: What the network is called.
        sensitive: The columns nobody should learn about a person.
        alpha: What a probability must exceed.
        support: Fewest rows with the known values; unseen combinations never count.
        levels: The risk levels.

    Example:
        >>> rows = [("30s", "flu")] * 4 + [("30s", "gout")] + [("40s", "flu")] * 5
        >>> counts = FrequencySet.from_rows(["age", "ill"], rows)
        >>> [rule] = rules_of(counts, Network.of(["age", "ill"], [("age", "ill")]), alpha=0.9)
        >>> print(rule)
        age → ill: up to 100% (very high), 5 people
    """
    found: list[Rule] = []

    def rule(known: tuple[str, ...], told: str, *, holds: bool, against: bool = False) -> Rule:
        return Rule(
            networks=(name,),
            known=tuple(counts.column(one) for one in known),
            told=counts.column(told),
            entries=_exceeding(conditional_table(counts, told, known), counts, alpha, support),
            holds=holds,
            against_arrow=against,
            reveals=told in sensitive,
            levels=levels or RiskLevels(),
        )

    for child in network.columns:
        parents = network.parents[child]
        singles = [rule((parent,), child, holds=True) for parent in parents]
        if len(parents) > 1:
            all_exceed = all(len(single.entries) for single in singles)
            joint = rule(parents, child, holds=all_exceed)
            # If the joint rule holds it stands for the single ones.
            found += [replace(single, holds=not all_exceed) for single in singles]
            found.append(joint)
        else:
            found += singles
        found += [
            rule((child,), parent, holds=False, against=True)
            for parent in parents
            if parent in sensitive
        ]
    return [one for one in found if len(one.entries)]


def _exceeding(
    table: ConditionalTable, counts: FrequencySet, alpha: float, support: int
) -> Entries:
    """Keep the entries above alpha that enough rows stand behind."""
    of_entry = np.repeat(np.arange(len(table.support)), np.diff(table.starts))
    behind = table.support[of_entry]
    at = np.flatnonzero((table.count > alpha * behind) & (behind >= support))
    prior = counts.value_counts(table.child.name)[table.value[at]] / counts.total
    return Entries(
        table.combinations[:, of_entry[at]], table.value[at], table.count[at], behind[at], prior
    )


def merged(rules: Sequence[Rule]) -> list[Rule]:
    """Make one rule of those that say the same in several networks; it holds if it does in one.

    A rule along an arrow stands for the same rule against another's.
    """
    found: dict[tuple[frozenset[str], str], Rule] = {}
    for rule in rules:
        key = frozenset(column.name for column in rule.known), rule.told.name
        if key in found:
            first = found[key]
            rule = replace(  # noqa: PLW2901 - the two are one from here on
                first,
                networks=tuple(dict.fromkeys([*first.networks, *rule.networks])),
                holds=first.holds or rule.holds,
                against_arrow=first.against_arrow and rule.against_arrow,
            )
        found[key] = rule
    return list(found.values())


def ranked(rules: Sequence[Rule]) -> list[Rule]:
    """Put those first that reveal something sensitive to most people, most surely.

    Ties go to fewer known columns, then to names.
    """
    return sorted(
        rules,
        key=lambda r: (
            not r.reveals,
            -r.people,
            -r.strongest,
            len(r.known),
            tuple(column.name for column in r.known),
            r.told.name,
        ),
    )
