"""Combinations of values in one group of a broken table, likeliest first."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from sfumato.broken import Broken, SensitiveTable
from sfumato.counts import Column
from sfumato.leaks.limits import likelihood
from sfumato.text import text_of
from sfumato.typing import Value

Named = tuple[tuple[str, Value], ...]
"""Columns with a value each."""


@dataclass(frozen=True)
class Combination:
    """A value for each of some sensitive columns, and how likely a person of a group has them.

    Example:
        >>> one = Combination((("age", "30s"),), 5, (("marital", "single"), ("pay", "low")), (2, 4))
        >>> one.probability, print(one)
        marital=single, pay=low: 32%
        (Fraction(8, 25), None)
    """

    group: Named
    size: int
    """How many people the group has."""

    values: Named
    rows: tuple[int, ...]
    """How many people of the group have each of the values."""

    @property
    def probability(self) -> Fraction:
        """How likely somebody of the group has all of them: the product of their shares."""
        return likelihood(self.rows, self.size)

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values that JSON can hold."""
        return {
            "group": plain(self.group),
            "size": self.size,
            "values": plain(self.values),
            "counts": list(self.rows),
            **written(self.probability),
        }

    def __str__(self) -> str:
        return f"{listing(self.values)}: {float(self.probability):.0%}"


@dataclass(frozen=True, eq=False)
class Share:
    """What a group's table says of one sensitive column: its values, most frequent first."""

    column: Column
    values: tuple[Value, ...]
    rows: tuple[int, ...]
    size: int

    @property
    def probabilities(self) -> tuple[Fraction, ...]:
        """The share of each value."""
        return tuple(likelihood([rows], self.size) for rows in self.rows)

    def rows_of(self, value: Value) -> int:
        """Count the people of the group with a value; 0 if nobody has it."""
        return dict(zip(self.values, self.rows, strict=True)).get(value, 0)


def group_of(broken: Broken, at: int) -> Named:
    """Name a group by its quasi-identifiers."""
    codes = broken.labels[:, at].tolist()
    return tuple(
        (c.name, c.values[i]) for c, i in zip(broken.quasi_identifiers, codes, strict=True)
    )


def share_of(table: SensitiveTable, at: int, size: int) -> Share:
    """Read one group's part of a sensitive table."""
    first, last = np.searchsorted(table.group, [at, at + 1]).tolist()
    order = first + np.argsort(-table.rows[first:last], kind="stable")
    values = tuple(table.column.values[code] for code in table.value[order].tolist())
    return Share(table.column, values, tuple(table.rows[order].tolist()), size)


def likeliest(group: Named, size: int, shares: Sequence[Share]) -> Iterator[Combination]:
    """Give a group's combinations one by one, likeliest first, without making all of them.

    A combination is a place in each column's values, which are in falling order. Raising
    one place never makes it likelier, so the next best is always among the successors
    of those given already; a heap holds these. Each has one predecessor (its last raised
    place lowered), so none comes twice. Ties are in the order of places.

    Args:
        group: The group's name.
        size: Its number of people.
        shares: What its tables say of each column.
    """
    start = (0,) * len(shares)

    def entry(places: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        # The denominator is the same for all, so the numerator is the order: exact.
        return -prod(s.rows[p] for s, p in zip(shares, places, strict=True)), places

    heap = [entry(start)]
    while heap:
        _, places = heapq.heappop(heap)
        chosen = list(zip(shares, places, strict=True))
        values = tuple((s.column.name, s.values[p]) for s, p in chosen)
        yield Combination(group, size, values, tuple(s.rows[p] for s, p in chosen))
        last = max((i for i, place in enumerate(places) if place), default=0)
        for i in range(last, len(places)):
            if places[i] + 1 < len(shares[i].values):
                heapq.heappush(heap, entry((*places[:i], places[i] + 1, *places[i + 1 :])))


def plain(named: Named) -> dict[str, str | None]:
    """Give columns and values as JSON can hold them."""
    return {name: None if value is None else text_of(value) for name, value in named}


def listing(named: Named) -> str:
    """Write columns and values as people do.

    >>> listing((("age", 30), ("ill", None)))
    'age=30, ill=(missing)'
    """
    return ", ".join(f"{name}={shown(value)}" for name, value in named)


def shown(value: Value) -> str:
    """Write one value, also a missing one."""
    return "(missing)" if value is None else text_of(value)


def written(probability: Fraction) -> dict[str, Any]:
    """Give a probability both as a number and exactly.

    >>> written(Fraction(8, 25))
    {'probability': 0.32, 'exact': '8/25'}
    """
    return {"probability": float(probability), "exact": str(probability)}
