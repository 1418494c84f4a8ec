"""Counting queries: how many rows have such values in these columns?"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.counts import Column, FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, UnknownNameError, require_int, require_number, some
from sfumato.hierarchy.labels import reader_of
from sfumato.text import percent, text_of, text_or_none
from sfumato.typing import BoolArray, FloatArray, Value


@dataclass(frozen=True, eq=False)
class Condition:
    """The values of one column that a query counts.

    Example:
        >>> print(Condition(Column("ill", ("flu", "gout")), np.array([True, False])))
        ill in {flu}
    """

    column: Column
    """The column of the original table."""

    allowed: BoolArray | FloatArray
    """Which of its values are counted, by code; or what share of the rows that have each."""

    def __post_init__(self) -> None:
        if len(self.allowed) != len(self.column.values):
            raise ParameterError(
                "allowed",
                len(self.allowed),
                f"one entry for each of the {len(self.column.values)} values of "
                f"{self.column.name!r}",
            )

    def __str__(self) -> str:
        at = np.flatnonzero(self.allowed).tolist()
        values = [self.column.values[i] for i in at]
        names = ["missing" if value is None else text_of(value) for value in values]
        in_a_row = len(at) > 1 and at[-1] - at[0] == len(at) - 1 and values[-1] is not None
        if in_a_row and reader_of(self.column) is not None:
            return f"{self.column.name} from {names[0]} to {names[-1]}"
        return f"{self.column.name} in {{{', '.join(names)}}}"


@dataclass(frozen=True, eq=False)
class Query:
    """The number of rows that keep all of these conditions.

    Example:
        >>> age, ill = Column("age", (30, 31, 45)), Column("ill", ("flu", "gout"))
        >>> print(Query((between(age, 30, 40), among(ill, ["gout"]))))
        age from 30 to 31 and ill in {gout}
    """

    conditions: tuple[Condition, ...]

    def __post_init__(self) -> None:
        names = [condition.column.name for condition in self.conditions]
        if len(set(names)) < len(names):
            raise ParameterError("conditions", names, "on different columns")

    def __str__(self) -> str:
        return " and ".join(map(str, self.conditions)) or "every row"


def between(column: Column, low: Value, high: Value) -> Condition:
    """Count the values from `low` to `high`, both inside; a missing value is never among them.

    >>> between(Column("age", (30, 31, 45, None)), 31, 99).allowed.tolist()
    [False, True, True, False]
    """
    reader = reader_of(column)
    if reader is None:
        raise ParameterError(
            "column", column.name, "a column of numbers or dates", why="name the values: among()"
        )
    first, last = reader(low), reader(high)
    if first is None or last is None:
        unread = low if first is None else high
        raise ParameterError("low and high", unread, f"values like those of {column.name!r}")
    # Every value was read once to find the reader, so none is None here.
    points = [reader(value) for value in column.known]
    allowed = np.zeros(len(column.values), dtype=bool)
    allowed[: len(points)] = [point is not None and first <= point <= last for point in points]
    return Condition(column, allowed)


def among(column: Column, values: Iterable[Value]) -> Condition:
    """Count some values; None is the missing one. They are matched by how they are written.

    >>> among(Column("ill", ("flu", "gout", None)), ["flu", None]).allowed.tolist()
    [True, False, True]
    """
    position = {text_or_none(value): i for i, value in enumerate(column.values)}
    allowed = np.zeros(len(column.values), dtype=bool)
    for value in values:
        if text_or_none(value) not in position:
            known = [text_of(each) for each in column.known]
            raise UnknownNameError("value", some([value]), known, where=repr(column.name))
        allowed[position[text_or_none(value)]] = True
    return Condition(column, allowed)


# Random counting queries about the columns of a table.


@dataclass(frozen=True)
class Workload:
    """Queries such as analysts ask: a few attributes, a range or some values of each.

    A query takes up to `attributes` quasi-identifiers and up to `sensitive` sensitive columns,
    at least one of either if there are any. Each condition
    takes such a share of its column that, were the columns independent, about `selectivity`
    of the rows would keep all of them: a range where values have an order, a random set of
    values where they have none. No condition takes in less than one value, or all of them.

    Args:
        queries: How many queries.
        attributes: The most quasi-identifiers in a query.
        sensitive: The most sensitive columns in a query. Tables that are published apart are
            put to the test by queries about two.
        selectivity: The share of the rows that a query is meant to count.

    Reference: Xiao and Tao, "Anatomy: simple and effective privacy preservation", VLDB 2006,
    with a share of rows in place of a share of values.

    Example:
        >>> rows = [(age, ill) for age in range(30, 50) for ill in ("flu", "gout")]
        >>> counts = FrequencySet.from_rows(["age", "ill"], rows)
        >>> [query] = Workload(1).draw(counts, ["age"], ["ill"], rng=np.random.default_rng(1))
        >>> print(query)
        age from 36 to 42 and ill in {gout}
    """

    queries: int = 1000
    attributes: int = 3
    sensitive: int = 1
    selectivity: float = 0.1

    def __post_init__(self) -> None:
        require_int("queries", self.queries, at_least=1)
        require_int("attributes", self.attributes, at_least=1)
        require_int("sensitive", self.sensitive, at_least=1)
        require_number("selectivity", self.selectivity, above=0, below=1)

    def draw(
        self,
        counts: FrequencySet,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str],
        *,
        rng: np.random.Generator,
    ) -> tuple[Query, ...]:
        """Draw the queries.

        Args:
            counts: The original table.
            quasi_identifiers: The columns that others may know.
            sensitive: The sensitive columns.
            rng: Where the queries come from.
        """
        others = [_Drawer(counts, name) for name in quasi_identifiers if _varies(counts, name)]
        secrets = [_Drawer(counts, name) for name in sensitive if _varies(counts, name)]
        if not others and not secrets:
            raise ParameterError(
                "original",
                [*quasi_identifiers, *sensitive],
                "a table in which at least one of the columns has two values",
                why="there is nothing to ask about",
            )
        return tuple(self._query(others, secrets, rng) for _ in range(self.queries))

    def _query(
        self, others: Sequence["_Drawer"], secrets: Sequence["_Drawer"], rng: np.random.Generator
    ) -> Query:
        chosen = [*_some(others, self.attributes, rng), *_some(secrets, self.sensitive, rng)]
        share = self.selectivity ** (1 / len(chosen))
        return Query(tuple(drawer.draw(share, rng) for drawer in chosen))


def _some(drawers: Sequence["_Drawer"], most: int, rng: np.random.Generator) -> list["_Drawer"]:
    """Choose a few, in the order they have."""
    if not drawers:
        return []
    size = int(rng.integers(1, min(most, len(drawers)) + 1))
    return [drawers[i] for i in sorted(rng.permutation(len(drawers))[:size].tolist())]


def _varies(counts: FrequencySet, name: str) -> bool:
    return int((counts.value_counts(name) > 0).sum()) > 1


class _Drawer:
    """Draws conditions on one column."""

    def __init__(self, counts: FrequencySet, name: str) -> None:
        self._column: Column = counts.column(name)
        rows = counts.value_counts(name)
        self._ordered = reader_of(self._column) is not None
        self._shares: FloatArray = rows / rows.sum()

    def draw(self, share: float, rng: np.random.Generator) -> Condition:
        pick = self._range if self._ordered else self._set
        return Condition(self._column, pick(share, rng))

    def _range(self, share: float, rng: np.random.Generator) -> BoolArray:
        """Draw neighbours, from a value drawn by its rows until they have this share of rows."""
        shares = self._shares[: len(self._column.known)]
        up_to = np.cumsum(shares)
        room = max(float(up_to[-1]) - share, 0.0)
        first = int(np.searchsorted(up_to, float(rng.random()) * room, side="right"))
        before = up_to - shares
        allowed = np.zeros(len(self._column.values), dtype=bool)
        # Not a value more for the sake of a rounding error.
        allowed[: len(up_to)] = before - before[first] < share - 1e-12
        allowed[:first] = False
        return _not_all(allowed, rng)

    def _set(self, share: float, rng: np.random.Generator) -> BoolArray:
        """Draw values in random order until they have this share of rows."""
        order = rng.permutation(len(self._shares))
        before = np.cumsum(self._shares[order]) - self._shares[order]
        allowed = np.zeros(len(self._shares), dtype=bool)
        allowed[order[before < share]] = True
        return _not_all(allowed, rng)


def _not_all(allowed: BoolArray, rng: np.random.Generator) -> BoolArray:
    """Remove a value at either end if all are in: that would ask nothing."""
    if allowed.all():
        allowed[-int(rng.integers(2))] = False
    return allowed


# How far a release's answers are from the truth.


QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.95)
"""Which quantiles of the relative error are reported."""


@dataclass(frozen=True, eq=False)
class QueryErrors:
    """True counts, estimates, and what lies between them.

    The relative error of a query is |estimate - truth| / max(truth, bound): the bound keeps
    queries that hardly a row answers from drowning all others.

    Example:
        >>> errors = QueryErrors(np.array([10.0, 0.0]), np.array([5.0, 1.0]), bound=4)
        >>> errors.relative.tolist(), errors.median
        ([0.5, 0.25], 0.375)
    """

    truth: FloatArray
    estimate: FloatArray
    bound: float
    """Truths below it count as this much."""

    def __post_init__(self) -> None:
        require_number("bound", self.bound, above=0)

    def __len__(self) -> int:
        return len(self.truth)

    @cached_property
    def relative(self) -> FloatArray:
        """The relative error of each query."""
        error: FloatArray = np.abs(self.estimate - self.truth) / np.maximum(self.truth, self.bound)
        return error

    @property
    def median(self) -> float:
        """The error that half of the queries stay below."""
        return self.quantile(0.5)

    @property
    def mean(self) -> float:
        """The average error."""
        return float(self.relative.mean()) if len(self) else 0.0

    def quantile(self, share: float) -> float:
        """Return the error that this share of the queries stays below."""
        return float(np.quantile(self.relative, share)) if len(self) else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values that JSON can hold."""
        return {
            "queries": len(self),
            "bound": self.bound,
            "mean": self.mean,
            "median": self.median,
            "quantiles": {f"{share:g}": self.quantile(share) for share in QUANTILES},
            "worst": float(self.relative.max(initial=0.0)),
        }

    def __str__(self) -> str:
        return (
            f"relative error of {len(self)} counting queries: median "
            f"{percent(self.median, 1)}, mean {percent(self.mean, 1)}, 90 % of them at most "
            f"{percent(self.quantile(0.9), 1)}"
        )
