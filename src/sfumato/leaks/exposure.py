"""How exposed a whole broken release is: what its tables alone allow to be guessed."""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from sfumato.broken import Broken, SensitiveTable
from sfumato.checks import require_number
from sfumato.counts import FrequencySet
from sfumato.errors import InputError
from sfumato.fragment import fragment
from sfumato.leaks.breach import Breach, Holding, breach_of, holders
from sfumato.leaks.combinations import (
    Combination,
    group_of,
    likeliest,
    listing,
    share_of,
)
from sfumato.leaks.comparison import Comparison, compare
from sfumato.leaks.people import by_level
from sfumato.policy.levels import RiskLevels
from sfumato.typing import FloatArray, IntArray, Value

_MOST_SHOWN = 5


class Likely(NamedTuple):
    """All combinations of all groups that are likely enough."""

    group: IntArray
    probability: FloatArray


def likely(sizes: IntArray, tables: Sequence[SensitiveTable], least: float) -> Likely:
    """Find every combination with a probability of at least `least`, in all groups at once.

    Probabilities of a group's combinations add up to 1, so at most 1/least of them are found,
    and at most so many are held while columns are joined one by one: a product that is too
    small stays so.

    >>> rows = [("A", "flu", "low"), ("A", "flu", "low"), ("A", "gout", "high")]
    >>> broken = Broken.of(FrequencySet.from_rows(["zip", "ill", "pay"], rows), ["zip"],
    ...                    ["ill", "pay"])
    >>> likely(broken.sizes, broken.sensitive, 0.2).probability.round(2).tolist()
    [0.22, 0.44, 0.22]
    """
    group = np.arange(len(sizes))
    rows = np.ones(len(sizes))
    for joined, table in enumerate(tables, start=1):
        enough = table.rows / sizes[table.group] >= least
        of_group, of_value = table.group[enough], table.rows[enough]
        first = np.searchsorted(of_group, np.arange(len(sizes) + 1))
        entries = np.diff(first)[group]
        start = np.repeat(first[group] - np.cumsum(entries) + entries, entries)
        at = start + np.arange(len(start))
        group = np.repeat(group, entries)
        rows = np.repeat(rows, entries) * of_value[at]
        kept = rows / sizes[group].astype(np.float64) ** joined >= least
        group, rows = group[kept], rows[kept]
    return Likely(group, rows / sizes[group].astype(np.float64) ** len(tables))


@dataclass(frozen=True, eq=False)
class View:
    """What one kind of adversary can guess: who knows the group, and perhaps one column.

    Which combination a person has is not in the broken tables. What can be said from them
    alone: the likeliest guess in each group, and how many people each combination is expected
    to concern, which is its probability times the people of the group.
    """

    broken: Broken
    known: str | None
    """The sensitive column that is known; None if only the group is."""

    levels: RiskLevels = field(default_factory=RiskLevels)
    alpha: float | None = None

    @property
    def told(self) -> tuple[str, ...]:
        """The columns that are guessed."""
        return tuple(name for name in self.broken.names if name != self.known)

    @cached_property
    def _tables(self) -> list[SensitiveTable]:
        return [self.broken.table(name) for name in self.told]

    @cached_property
    def largest(self) -> FloatArray:
        """The probability of each group's likeliest guess: the product of the largest shares."""
        most = [table.largest(len(self.broken)).astype(np.float64) for table in self._tables]
        sizes = np.maximum(self.broken.sizes, 1).astype(np.float64)
        share: FloatArray = np.prod(most, axis=0) / sizes ** len(most)
        return share

    def worst(self, most: int = _MOST_SHOWN) -> list[Combination]:
        """Give the likeliest guesses of all groups, with their groups.

        Only as many groups as guesses are looked into: those whose best guess is likeliest.
        """
        at = np.argsort(-self.largest, kind="stable")[:most].tolist()
        streams = [self._guesses(g) for g in at]
        merged = heapq.merge(*streams, key=lambda guess: -guess.probability)
        return list(islice(merged, most))

    def _guesses(self, at: int) -> Iterator[Combination]:
        size = int(self.broken.sizes[at])
        shares = [share_of(table, at, size) for table in self._tables]
        return likeliest(group_of(self.broken, at), size, shares)

    @cached_property
    def _likely(self) -> Likely:
        wanted = [start for start in self.levels.bounds().values() if start > 0]
        least = min([*wanted, *([] if self.alpha is None else [self.alpha])], default=1.0)
        return likely(self.broken.sizes, self._tables, least)

    @cached_property
    def expected(self) -> Mapping[str, float]:
        """How many people are expected to have a combination of each risk level."""
        group, probability = self._likely
        people = probability * self.broken.sizes[group]
        found = by_level(self.levels, probability, people)
        # What is not likely enough to be found is at the level of nearly nothing.
        lowest = self.levels.of(0.0)
        found[lowest] += max(self.broken.total - float(people.sum()), 0.0)
        return found

    @property
    def expected_above(self) -> float | None:
        """How many people are expected to have a combination above alpha, if one was given."""
        if self.alpha is None:
            return None
        group, probability = self._likely
        above = probability > self.alpha
        return float((probability * self.broken.sizes[group])[above].sum())

    @cached_property
    def mean(self) -> float:
        """The expected probability of people's own combinations: Σ p² of each column, multiplied.

        No combination is looked at: the sum over a product is the product of the sums.
        """
        n, sizes = len(self.broken), np.maximum(self.broken.sizes, 1)
        each = np.ones(n)
        for table in self._tables:
            squares = (table.rows / sizes[table.group]) ** 2
            each *= np.bincount(table.group, weights=squares, minlength=n)
        return float(each @ self.broken.sizes) / max(self.broken.total, 1)

    @property
    def level(self) -> str:
        """The risk level of the likeliest guess."""
        return self.levels.of(float(self.largest.max(initial=0.0)))

    def to_dict(self, *, most: int = _MOST_SHOWN) -> dict[str, Any]:
        """Give everything as plain values that JSON can hold."""
        above = self.expected_above
        return {
            "known": self.known,
            "told": list(self.told),
            "level": self.level,
            "worst": [guess.to_dict() for guess in self.worst(most)],
            "mean": self.mean,
            "expected": dict(self.expected),
            **({} if above is None else {"expected_above": above}),
        }

    def __str__(self) -> str:
        known = "group" if self.known is None else f"group and {self.known}"
        best = self.worst(1)
        what = f"up to {float(best[0].probability):.0%} ({self.level})" if best else "nobody there"
        return f"{known} → {', '.join(self.told)}: {what}, {self.mean:.0%} on average"


@dataclass(frozen=True, eq=False)
class Exposure:
    """How much a broken table still tells: to each adversary, and beside what it told before.

    Promises: every probability is that of an adversary who believes all ways of joining the
    parts equally likely. Does not promise that adversaries know no more than a group and some
    values: somebody who knows how columns depend on each other in general can do better.

    Example:
        >>> rows = [("30s", "state", "single"), ("30s", "state", "single")]
        >>> rows += [("30s", "private", "married"), ("30s", "private", "divorced")]
        >>> counts = FrequencySet.from_rows(["age", "work", "marital"], rows)
        >>> exposure = Exposure(Broken.of(counts, ["age"], ["work", "marital"]), counts)
        >>> print(exposure.views[0])
        group → work, marital: up to 25% (moderate), 19% on average
        >>> exposure.person({"age": "30s"}, {"work": "state"}).strongest
        Fraction(1, 2)
    """

    broken: Broken
    counts: FrequencySet | None = None
    """The table before it was broken, if it is at hand."""

    levels: RiskLevels = field(default_factory=RiskLevels)
    alpha: float | None = None
    """The largest probability wanted, if there is a limit."""

    def __post_init__(self) -> None:
        if self.alpha is not None:
            require_number("alpha", self.alpha, above=0, at_most=1)

    @cached_property
    def views(self) -> tuple[View, ...]:
        """What each adversary can guess: who knows the group, or one sensitive column besides."""
        known = [None, *(self.broken.names if len(self.broken.names) > 1 else ())]
        return tuple(View(self.broken, one, self.levels, self.alpha) for one in known)

    @cached_property
    def comparison(self) -> Comparison | None:
        """Everybody's own values before and after breaking; needs the table before it."""
        if self.counts is None:
            return None
        return compare(self.counts, self.broken, levels=self.levels, alpha=self.alpha)

    @cached_property
    def columns(self) -> Mapping[str, Combination]:
        """For each sensitive column by itself the value that is likeliest in some group."""
        found = {}
        for table in self.broken.sensitive:
            most = table.largest(len(self.broken)) / np.maximum(self.broken.sizes, 1)
            if len(most):
                at = int(np.argmax(most))
                size = int(self.broken.sizes[at])
                guesses = likeliest(group_of(self.broken, at), size, [share_of(table, at, size)])
                found[table.column.name] = next(guesses)
        return found

    def person(
        self, group: Mapping[str, Value], knows: Mapping[str, Value] | None = None
    ) -> Breach:
        """Say how likely each guess is about a person of a group; see `breach_of`."""
        return breach_of(
            self.broken, group=group, knows=knows, counts=self.counts, levels=self.levels
        )

    def holders(self, knows: Mapping[str, Value]) -> list[Holding]:
        """Say where somebody may be whose group is not known, by one sensitive value."""
        if len(knows) != 1:
            raise InputError(
                f"without a group one sensitive value says where somebody may be, got {len(knows)}:"
                f" {listing(tuple(knows.items())) or 'none'}. Give one, or the group."
            )
        [(column, value)] = knows.items()
        return holders(self.broken, column, value)

    def to_dict(self, *, most: int = _MOST_SHOWN) -> dict[str, Any]:
        """Give everything as plain values that JSON can hold; `most` limits the guesses shown."""
        return {
            "people": self.broken.total,
            "groups": len(self.broken),
            "quasi_identifiers": [column.name for column in self.broken.quasi_identifiers],
            "sensitive": list(self.broken.names),
            "alpha": self.alpha,
            "levels": dict(self.levels.bounds()),
            "columns": {
                name: {**one.to_dict(), "level": self.levels.of(float(one.probability))}
                for name, one in self.columns.items()
            },
            "views": [view.to_dict(most=most) for view in self.views],
            "comparison": None if self.comparison is None else self.comparison.to_dict(),
        }

    def _repr_html_(self) -> str:
        rows = [
            [view.known or "", ", ".join(view.told), view.level, f"{view.mean:.0%}"]
            for view in self.views
        ]
        titles = ["known besides the group", "guessed", "at worst", "on average"]
        return fragment(str(self).splitlines()[0], titles, rows)

    def __str__(self) -> str:
        lines = [f"{self.broken.total} people in {len(self.broken)} groups", *map(str, self.views)]
        if self.comparison is not None:
            lines += ["their own values, before and after breaking:", str(self.comparison)]
        return "\n".join(lines)
