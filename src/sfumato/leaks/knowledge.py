"""What an adversary would want to know: the smallest sets of facts that pin a sensitive value."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from sfumato.counts import FrequencySet, group, sums
from sfumato.text import text_of
from sfumato.typing import BoolArray, FloatArray, IntArray, Value

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with the sets of columns looked at so far, and how many there may be."""


@dataclass(frozen=True)
class Fact:
    """Whoever knows these values of a person knows another value of theirs, more than alpha.

    No part of `known` would do.
    """

    known: tuple[tuple[str, Value], ...]
    """Columns and the values known."""

    told: tuple[str, Value]
    people: int
    """How many rows have all of it."""

    support: int
    """How many rows have the known values."""

    prior: float

    @property
    def posterior(self) -> float:
        """How likely the value is once the others are known."""
        return self.people / self.support

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values that JSON can hold."""
        return {
            "known": {name: _plain(value) for name, value in self.known},
            "told": {self.told[0]: _plain(self.told[1])},
            "people": self.people,
            "support": self.support,
            "prior": self.prior,
            "posterior": self.posterior,
        }

    def __str__(self) -> str:
        known = ", ".join(f"{name}={_plain(value)}" for name, value in self.known) or "nothing"
        return (
            f"{known} → {self.told[0]}={_plain(self.told[1])}: {self.posterior:.0%} "
            f"of {self.support} people (before: {self.prior:.0%})"
        )


def _plain(value: Value) -> str | None:
    return None if value is None else text_of(value)


def minimal_knowledge(
    counts: FrequencySet,
    told: str,
    known: Sequence[str],
    *,
    alpha: float = 0.5,
    support: int = 5,
    size: int = 3,
    progress: Progress | None = None,
) -> list[Fact]:
    """Find all minimal sets of facts that pin a value of a column above alpha.

    Sets of columns are tried from small to large. Rows whose known values fewer than
    `support` rows share, or whose value is pinned by less, are not looked at again: a
    larger set has fewer rows still. Nor is a column that tells nothing new. Missing values
    are not told: "unknown" hurts nobody.

    Args:
        counts: The table.
        told: The column nobody should learn.
        known: The columns an adversary may know something of.
        alpha: What a probability must exceed.
        support: Fewest rows with the known values.
        size: Most columns known.
        progress: Told how many sets were looked at.

    Example:
        >>> rows = [("30s", "f", "flu")] * 5 + [("30s", "m", "gout"), ("40s", "m", "flu")] * 3
        >>> counts = FrequencySet.from_rows(["age", "sex", "ill"], rows)
        >>> facts = minimal_knowledge(counts, "ill", ["age", "sex"], alpha=0.9, support=3)
        >>> for fact in facts:
        ...     print(fact)
        sex=f → ill=flu: 100% of 5 people (before: 73%)
        age=40s → ill=flu: 100% of 3 people (before: 73%)
        age=30s, sex=m → ill=gout: 100% of 3 people (before: 27%)
    """
    walk = _Walk(counts, told, known, alpha, support)
    facts: list[Fact] = []
    for looked, subset in enumerate(walk.subsets(size), start=1):
        facts += walk.look(subset)
        if progress is not None:
            progress(looked, None)
    return sorted(facts, key=lambda f: (-f.people, len(f.known), [n for n, _ in f.known], str(f)))


class _Walk:
    """Goes through sets of columns and remembers which combinations need no more company."""

    def __init__(
        self, counts: FrequencySet, told: str, known: Sequence[str], alpha: float, support: int
    ) -> None:
        needed = counts.project([*known, told])
        self._counts = needed
        self._known = list(known)
        self._told = told
        self._alpha = alpha
        self._support = support
        self._value = needed.codes_of(told).astype(np.int64)
        self._n_values = len(needed.column(told).values)
        self._shares: FloatArray = needed.value_counts(told) / max(needed.total, 1)
        self._alive: dict[tuple[int, ...], BoolArray] = {}
        """Which combinations may still be pinned by more than these columns."""

        self._groups: dict[tuple[int, ...], int] = {}
        """How many combinations of values these columns have."""

    def subsets(self, size: int) -> Iterator[tuple[int, ...]]:
        """Give sets of columns from small to large, but none in which nobody is alive."""
        for n in range(min(size, len(self._known)) + 1):
            if n > 1:
                # Only the layer below is asked about, so older ones can go.
                self._alive = {s: alive for s, alive in self._alive.items() if len(s) == n - 1}
            for subset in combinations(range(len(self._known)), n):
                below = [subset[:i] + subset[i + 1 :] for i in range(n)]
                if all(part in self._alive for part in below):
                    yield subset

    def look(self, subset: tuple[int, ...]) -> list[Fact]:
        """Find what a set of columns pins, and who is left for larger sets."""
        counts = self._counts
        alive = np.ones(len(counts), dtype=bool)
        for i in range(len(subset)):
            alive &= self._alive[subset[:i] + subset[i + 1 :]]
        if not alive.any():
            return []
        positions = [counts.index(self._known[i]) for i in subset]
        sizes = [len(counts.columns[p].values) for p in positions]
        groups = group([counts.codes[p] for p in positions], sizes, n=len(counts))
        if groups.n in {self._groups[subset[:i] + subset[i + 1 :]] for i in range(len(subset))}:
            # One of the columns tells nothing that the others do not.
            return []
        self._groups[subset] = groups.n
        behind = sums(groups.of_item, counts.rows, groups.n)
        cells = group([groups.of_item, self._value], [groups.n, self._n_values])
        rows = sums(cells.of_item, counts.rows, cells.n)
        there = behind[groups.of_item]
        enough = there >= self._support
        known = np.array([v is not None for v in counts.column(self._told).values])[self._value]
        pinned = enough & known & (rows[cells.of_item] > self._alpha * there)
        left = alive & enough & ~pinned
        if left.any():
            self._alive[subset] = left
        first = cells.first[pinned[cells.first] & alive[cells.first]]
        return [self._fact(subset, int(i), rows[cells.of_item], there) for i in first]

    def _fact(self, subset: tuple[int, ...], item: int, rows: IntArray, support: IntArray) -> Fact:
        counts = self._counts

        def value(name: str) -> Value:
            return counts.column(name).values[counts.codes_of(name)[item]]

        names = [self._known[i] for i in subset]
        return Fact(
            tuple((name, value(name)) for name in names),
            (self._told, value(self._told)),
            int(rows[item]),
            int(support[item]),
            float(self._shares[self._value[item]]),
        )


@dataclass(frozen=True)
class Wanted:
    """What an adversary who knows a person's class would most want to know besides."""

    group: tuple[tuple[str, Value], ...]
    """The class: the quasi-identifiers and their published values."""

    rows: int
    columns: tuple[str, ...]
    """What else to know; nothing if the class alone tells most."""

    told: str
    people: int
    """How many people of the class have their value pinned then."""

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values that JSON can hold."""
        return {
            "class": {name: _plain(value) for name, value in self.group},
            "rows": self.rows,
            "columns": list(self.columns),
            "told": self.told,
            "people": self.people,
        }


def most_wanted(
    counts: FrequencySet,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    *,
    alpha: float = 0.5,
    size: int = 2,
) -> list[Wanted]:
    """For each class find the few columns that pin most of its people's sensitive values.

    Only classes where something is pinned are given, those with most people first. Inside
    a class there is no smallest support: whoever is there may be the one looked for. Sets of
    columns are tried from small to large, each on the classes where somebody is left.

    Args:
        counts: The table.
        quasi_identifiers: The columns that make up classes.
        sensitive: The columns that may be known, or be told.
        alpha: What a probability must exceed.
        size: Most columns known besides the class.

    Example:
        >>> rows = [("A", "state", "single")] * 2 + [("A", "private", "single")]
        >>> rows += [("A", "private", "married")]
        >>> counts = FrequencySet.from_rows(["zip", "work", "marital"], rows)
        >>> [wanted] = most_wanted(counts, ["zip"], ["work", "marital"], alpha=0.9, size=1)[:1]
        >>> wanted.columns, wanted.told, wanted.people
        (('work',), 'marital', 2)
    """
    names = list(quasi_identifiers)
    classes = group(
        [counts.codes_of(n) for n in names],
        [len(counts.column(n).values) for n in names],
        n=len(counts),
    )
    sizes = sums(classes.of_item, counts.rows, classes.n)
    best = np.zeros(classes.n, dtype=np.int64)
    choice: list[tuple[tuple[str, ...], str]] = [((), "")]
    chosen = np.zeros(classes.n, dtype=np.int64)
    for n in range(size + 1):
        # Where everybody is pinned already, nobody would want to know more.
        left = np.flatnonzero((best < sizes)[classes.of_item])
        if not len(left):
            break
        rest = FrequencySet(counts.columns, counts.codes[:, left], counts.rows[left])
        for told in sensitive:
            for columns in combinations([s for s in sensitive if s != told], n):
                people = _pinned(rest, classes.of_item[left], classes.n, columns, told, alpha)
                better = people > best
                best[better] = people[better]
                chosen[better] = len(choice)
                choice.append((columns, told))
    found = []
    for i in np.flatnonzero(best)[np.argsort(-best[best > 0], kind="stable")].tolist():
        item = classes.first[i]
        values = tuple((m, counts.column(m).values[counts.codes_of(m)[item]]) for m in names)
        columns, told = choice[chosen[i]]
        found.append(Wanted(values, int(sizes[i]), columns, told, int(best[i])))
    return found


def _pinned(
    counts: FrequencySet,
    of_item: IntArray,
    n: int,
    columns: Sequence[str],
    told: str,
    alpha: float,
) -> IntArray:
    """Count the people of each class whose value is pinned by the class and some columns."""
    sizes = [n, *(len(counts.column(name).values) for name in columns)]
    groups = group([of_item, *(counts.codes_of(name) for name in columns)], sizes)
    behind = sums(groups.of_item, counts.rows, groups.n)
    value, values = counts.codes_of(told), counts.column(told).values
    cells = group([groups.of_item, value], [groups.n, len(values)])
    rows = sums(cells.of_item, counts.rows, cells.n)
    known = np.array([v is not None for v in values])[value[cells.first]]
    pinned = known & (rows > alpha * behind[groups.of_item[cells.first]])
    return sums(of_item[cells.first[pinned]], rows[pinned], n)
