"""What a reader of a release would answer."""

from abc import ABC, abstractmethod
from collections.abc import Iterable

import numpy as np

from sfumato.counts import Column
from sfumato.errors import ParameterError, UnknownColumnError
from sfumato.typing import FloatArray, IntArray
from sfumato.usefulness.query import Condition, Query


class Estimator(ABC):
    """Answers counting queries from one kind of release; one file per kind.

    Queries are asked about the raw values of the original table, whose columns an estimator
    is given. It knows nothing else of the original.
    """

    columns: tuple[Column, ...]
    """The columns of the original table it can be asked about."""

    total: float
    """How many rows the release has."""

    @abstractmethod
    def count(self, query: Query) -> float:
        """Estimate how many rows keep all conditions of a query."""

    @abstractmethod
    def joint(self, one: str, other: str) -> FloatArray:
        """Estimate how many rows have each pair of values of two columns."""

    @abstractmethod
    def possible(self, rng: np.random.Generator) -> IntArray:
        """Draw a raw table that could be behind the release: a row of codes per column."""

    def counts(self, queries: Iterable[Query]) -> FloatArray:
        """Answer many queries."""
        return np.array([self.count(query) for query in queries], dtype=np.float64)

    def column(self, name: str) -> Column:
        """Find a column by name."""
        for column in self.columns:
            if column.name == name:
                return column
        known = [column.name for column in self.columns]
        raise UnknownColumnError(name, known, where="the columns of the estimate")

    def checked(self, condition: Condition) -> Condition:
        """Refuse a condition on other values than those of the original."""
        known = self.column(condition.column.name)
        if known.values != condition.column.values:
            raise ParameterError(
                "query",
                str(condition),
                f"about the values that the original table has in {known.name!r}",
                why="make the query from the columns that the estimator was made with",
            )
        return condition
