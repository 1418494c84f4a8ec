"""PRAM: categories that chance changes by a matrix."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np

from sfumato.counts import Column
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, ParameterError, require_number, some
from sfumato.perturbations.base import (
    ColumnCells,
    Perturbation,
    PublishedLimits,
    SeenColumn,
    join_names,
)
from sfumato.text import format_integer, in_order, number_of, text_of
from sfumato.typing import FloatArray, IntArray, Value

_ROUNDING = 1e-9
_MOST_VALUES = 2000
"""Above that the matrix takes more memory than the table, and its way back minutes."""

_SLACK = 6.0
"""By how many standard errors of counts a matrix may differ that was computed from true ones."""

Matrix = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Pram(Perturbation):
    """Categories that chance changes, by stated probabilities (post-randomisation method).

    What each row becomes is drawn by itself, from the line of its value in a matrix. Missing values
    stay missing. Where people have several rows, a value that a person has again becomes the same
    again.

    With `invariant` the matrix is combined with its own way back, computed from the table: the
    expected number of rows with each value is then what the table has, so counts need no
    correction. The combined matrix depends on the table and is not published; readers work it out
    from the shares that they see.

    Promises: of a row that is found, the true value is known only with the probability that the
    matrix leaves. Does not promise more: who knows the matrix works out the true shares of any
    large group, and with them how likely each value is for its people.

    Args:
        keep: The probability that a value stays; else it becomes any of the others, all equally
            likely. Or give a matrix.
        matrix: For each value, the probabilities of what it becomes, as in {yes: {yes: 0.9, no:
            0.1}, no: {yes: 0.2, no: 0.8}}; a value without a line stays as it is.
        invariant: Whether expected counts stay as they are.

    Example:
        >>> Pram(keep=0.8).transitions(("a", "b", "c"), np.array([1, 1, 2])).round(2).tolist()
        [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    """

    name: ClassVar[str] = "pram"
    numeric: ClassVar[bool] = False

    keep: float | None = None
    matrix: Matrix | None = None
    invariant: bool = False

    def __post_init__(self) -> None:
        if (self.keep is None) == (self.matrix is None):
            raise ParameterError("keep", self.keep, "given, or a matrix: one of the two")
        if self.keep is not None:
            require_number("keep", self.keep, above=0, below=1)
            return
        given: object = self.matrix
        if not isinstance(given, Mapping) or not given:
            raise ParameterError("matrix", given, "a line for some values")
        stated = {}
        for value, line in given.items():
            named = {text_of(k): p for k, p in line.items()} if isinstance(line, Mapping) else {}
            if not all(map(_is_probability, named.values())) or (
                abs(sum(named.values()) - 1) > _ROUNDING
            ):
                where = "probabilities that add up to 1 in each line"
                raise ParameterError("matrix", {value: line}, where)
            stated[text_of(value)] = {k: float(p) for k, p in named.items()}
        object.__setattr__(self, "matrix", stated)

    def __hash__(self) -> int:
        return hash((self.keep, repr(self.matrix), self.invariant))

    def transitions(self, values: Sequence[Value], rows: IntArray) -> FloatArray:
        """Return the probability that each value becomes each other: a line for each true one.

        Args:
            values: The values that there are, and that the matrix names.
            rows: How many rows have each.
        """
        n = len(values)
        stated = self._matrix_of(values)
        if not self.invariant or n == 0:
            return stated
        # The way back: how likely each value was, given what it became.
        before = rows / max(int(rows.sum()), 1)
        joint = before[:, None] * stated
        reached = joint.sum(axis=0)
        back = np.where(reached[:, None] > 0, joint.T / np.where(reached > 0, reached, 1)[:, None],
                        np.eye(n))  # fmt: skip
        found: FloatArray = stated @ back
        return found

    def _matrix_of(self, values: Sequence[Value]) -> FloatArray:
        n = len(values)
        if self.keep is not None:
            if n < 2:
                return np.eye(n)
            matrix = np.full((n, n), (1 - self.keep) / (n - 1))
            np.fill_diagonal(matrix, self.keep)
            return matrix
        place = {text_of(value): at for at, value in enumerate(values)}
        matrix = np.eye(n)
        for value, line in (self.matrix or {}).items():
            if value in place:
                matrix[place[value]] = 0.0
                for other, probability in line.items():
                    if other in place:
                        matrix[place[value], place[other]] = probability
        return matrix

    def change(
        self,
        columns: Sequence[ColumnCells],
        groups: IntArray | None,
        rng: np.random.Generator,
    ) -> list[ColumnCells]:
        [cells] = columns
        column = self._with_named(cells.column)
        n = len(column.known)
        if n > _MOST_VALUES:
            raise InputError(
                f"column {column.name!r} has {format_integer(n)} values, and pram changes "
                "categories: "
                f"{format_integer(_MOST_VALUES)} at most. Perturb it by record-swapping or "
                "rank-swapping."
            )
        # Values keep their order, so that those of the matrix stand between those of the table.
        place = {text_of(value): at for at, value in enumerate(column.known)}
        new = np.array([place[text_of(v)] for v in cells.column.known] + [n], dtype=np.int64)
        known = cells.known
        codes = new[np.where(known, cells.codes, -1)]
        matrix = self.transitions(column.known, np.bincount(codes[known], minlength=n)[:n])
        found = codes.copy()
        # A draw for each row, known or not: what others are changes nothing of a row's own draw.
        chances = rng.random(len(codes))[known]
        found[known] = draw_lines(matrix, codes[known], chances)
        return [ColumnCells(column, found)]

    def _with_named(self, column: Column) -> Column:
        """Return a column with the values that the matrix names, in place of none."""
        names = {text_of(value) for value in column.known}
        stated = self.matrix or {}
        if stated and names and not names & set(stated):
            raise InputError(
                f"the matrix of {column.name!r} names {some(stated)}, and the column has none of "
                f"them: it has {some(map(text_of, column.known))}."
            )
        more = [t for line in stated.values() for t in line if t not in names]
        if not more or not names:
            return column
        added = [_read_like(text, column.known) for text in more]
        if None in added:
            raise InputError(
                f"the matrix of {column.name!r} makes {more[added.index(None)]!r} of some values, "
                f"and the column has values of another kind: {some(map(text_of, column.known))}. "
                "Name such values."
            )
        values = in_order({*column.known, *added})
        missing = (None,) if column.missing >= 0 else ()
        return Column(column.name, (*values, *missing))

    @property
    def keeps_shares(self) -> bool:
        return self.invariant

    def likelihood(self, published: IntArray, true: IntArray, shown: SeenColumn) -> FloatArray:
        known = [at for at, value in enumerate(shown.values) if value is not None]
        matrix = np.eye(len(shown.values))
        rows = shown.rows[known]
        values = tuple(shown.values[at] for at in known)
        # Where the matrix goes by counts, expected ones stay: those that are seen stand for them.
        matrix[np.ix_(known, known)] = self.transitions(values, rows)
        found: FloatArray = matrix[true, published]
        return found

    def limits(self, shown: SeenColumn) -> list[PublishedLimits]:
        """Return how often each value is published, whatever the true ones are.

        >>> shown = SeenColumn("ill", ("flu", "gout", "hiv"), np.array([50, 40, 10]))
        >>> Pram(keep=0.2).limits(shown)[0].most.round(2).tolist()
        [0.4, 0.4, 0.4]
        """
        n = len(shown.values)
        if not 1 < n <= _MOST_VALUES:
            return []
        names = {text_of(value) for value in shown.values}
        stated = self.matrix or {}
        # A true value may be one that no row is published with.
        others = dict.fromkeys(t for line in stated.values() for t in line if t not in names)
        others |= dict.fromkeys(text for text in stated if text not in names)
        rows = np.append(shown.rows, np.zeros(len(others), dtype=np.int64))
        matrix = self.transitions((*shown.values, *others), rows)[:, :n]
        least, most = matrix.min(axis=0), matrix.max(axis=0)
        if self.keep is not None:
            # There may be a value more that chance has left nowhere.
            least = least * (n - 1) / n
        if self.invariant:
            error = _SLACK / np.sqrt(np.maximum(shown.rows, 1))
            least, most = least * np.maximum(1 - error, 0.0), most * (1 + error)
        return [PublishedLimits(np.arange(n), least, np.minimum(most, 1.0))]

    def note(self, columns: Sequence[str]) -> str:
        how = f"keeping each with probability {self.keep:g}" if self.keep else "by a stated matrix"
        kept = ", so that expected counts stay" if self.invariant else ""
        return f"values of {join_names(columns)} were changed at random, {how}{kept}"

    @classmethod
    def example(cls) -> Self:
        return cls(keep=0.9, invariant=True)


def _read_like(text: str, values: Sequence[Value]) -> Value:
    """Return a value of the kind that others are; None if the text is none.

    >>> _read_like("7", (1, 2)), _read_like("7", ("1",)), _read_like("x", (1, 2))
    (7, '7', None)
    """
    kinds = {*map(type, values)}
    if kinds <= {str}:
        return text
    number = number_of(text)
    if kinds == {bool}:
        return {"true": True, "false": False}.get(text)
    if kinds <= {int, float} and number is not None:
        return int(number) if kinds == {int} and number.is_integer() else number
    return None


def _is_probability(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def draw_lines(matrix: FloatArray, lines: IntArray, chances: FloatArray) -> IntArray:
    """Return a draw from some lines of a matrix of probabilities, one for each.

    Args:
        matrix: A line of probabilities for each value.
        lines: Which line to draw from.
        chances: A random number from 0 to below 1 for each draw.

    >>> draw_lines(np.array([[0.2, 0.8], [1.0, 0.0]]), np.array([0, 1, 0]),
    ...     np.array([0.5, 0.5, 0.1])).tolist()
    [1, 0, 0]
    """
    n = len(matrix)
    if n == 0:
        return np.zeros(0, dtype=np.int64)
    sums = np.cumsum(matrix, axis=1)
    # A line that rounding leaves below 1 ends at its last value with a chance.
    last = n - 1 - np.argmax(matrix[:, ::-1] > 0, axis=1)
    edges = np.minimum(sums, 1.0) + np.arange(n)[:, None]
    found = np.searchsorted(edges.ravel(), chances + lines, side="right") - lines * n
    drawn: IntArray = np.minimum(found, last[lines])
    return drawn
