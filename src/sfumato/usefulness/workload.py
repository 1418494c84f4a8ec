"""Random counting queries about the columns of a table."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.checks import require_int, require_number
from sfumato.counts import Column, FrequencySet
from sfumato.errors import ParameterError
from sfumato.typing import BoolArray, FloatArray
from sfumato.usefulness.line import reader_of
from sfumato.usefulness.query import Condition, Query


@dataclass(frozen=True)
class Workload:
    """Queries such as analysts ask: a few attributes, a range or some values of each.

    A query takes up to `attributes` quasi-identifiers and up to `sensitive` sensitive columns,
    at least one of either if there are any. Each condition
    takes just so much of its column that, were the columns independent, about `selectivity`
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
        """Take neighbours, from a value drawn by its rows until they have so many."""
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
        """Take values in random order until they have so many rows."""
        order = rng.permutation(len(self._shares))
        before = np.cumsum(self._shares[order]) - self._shares[order]
        allowed = np.zeros(len(self._shares), dtype=bool)
        allowed[order[before < share]] = True
        return _not_all(allowed, rng)


def _not_all(allowed: BoolArray, rng: np.random.Generator) -> BoolArray:
    """Leave a value out, at either end, if all are in: that would ask nothing."""
    if allowed.all():
        allowed[-int(rng.integers(2))] = False
    return allowed
