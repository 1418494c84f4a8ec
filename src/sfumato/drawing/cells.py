"""A table of probabilities that is valid, and the part of it that there is room for."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sfumato.checks import require_number
from sfumato.drawing.words import counted, percent
from sfumato.errors import ParameterError
from sfumato.typing import BoolArray, FloatArray, IntArray

MOST_ROWS = 30
MOST_COLUMNS = 40


@dataclass(frozen=True, eq=False)
class Cells:
    """Probabilities with names for their rows and columns."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: FloatArray
    """Rows by columns; NaN where nothing is known."""

    support: IntArray | None = None
    """How many people stand behind each row."""

    mark_above: float | None = None

    @classmethod
    def of(
        cls,
        rows: Sequence[str],
        columns: Sequence[str],
        values: ArrayLike,
        *,
        support: ArrayLike | None = None,
        mark_above: float | None = None,
    ) -> "Cells":
        """Check that everything fits together.

        >>> Cells.of(["a"], ["x"], [[1.5]])
        Traceback (most recent call last):
        sfumato.errors.ParameterError: values must be probabilities from 0 to 1, or NaN, got 1.5
        """
        array = np.asarray(values, dtype=np.float64)
        expected = (len(rows), len(columns))
        if not array.size and not len(rows) * len(columns):
            array = array.reshape(expected)
        if array.shape != expected:
            raise ParameterError("values", array.shape, f"of shape {expected}, one per cell")
        wrong = array[(array < 0) | (array > 1)]
        if len(wrong):
            raise ParameterError("values", float(wrong[0]), "probabilities from 0 to 1, or NaN")
        people = None if support is None else np.asarray(support, dtype=np.int64)
        if people is not None and people.shape != (len(rows),):
            raise ParameterError("support", people.shape, f"{len(rows)} numbers, one per row")
        if mark_above is not None:
            require_number("mark_above", mark_above, at_least=0, at_most=1)
        return cls(tuple(rows), tuple(columns), array, people, mark_above)

    @property
    def empty(self) -> BoolArray:
        """The rows that nobody stands behind; their numbers say nothing about anybody."""
        none: BoolArray = np.zeros(len(self.rows), dtype=np.bool_)
        return none if self.support is None else self.support == 0

    @property
    def marked(self) -> BoolArray:
        """The cells above the mark that somebody stands behind."""
        bound = np.inf if self.mark_above is None else self.mark_above
        found: BoolArray = (self.values > bound) & ~self.empty[:, None]
        return found

    def drawn(self) -> tuple[IntArray, IntArray]:
        """Choose the rows with the most support and the columns with the highest cells.

        >>> Cells.of(["a", "b"], ["x", "y"], [[1, 0], [0, 1]]).drawn()
        (array([0, 1]), array([0, 1]))
        """
        weight = np.zeros(len(self.rows)) if self.support is None else -self.support
        rows = np.sort(np.argsort(weight, kind="stable")[:MOST_ROWS])
        highest = np.nan_to_num(self.values[rows]).max(axis=0, initial=0)
        columns = np.sort(np.argsort(-highest, kind="stable")[:MOST_COLUMNS])
        return rows, columns

    def take(self, rows: IntArray, columns: IntArray) -> "Cells":
        """Keep some rows and columns."""
        return Cells(
            tuple(self.rows[r] for r in rows),
            tuple(self.columns[c] for c in columns),
            self.values[np.ix_(rows, columns)],
            None if self.support is None else self.support[rows],
            self.mark_above,
        )

    def remarks(self) -> str:
        """Say what the signs mean, and what there is no room for.

        >>> Cells.of(["a"], ["x"], [[1]], mark_above=0.8).remarks()
        'Outlined: above 80 %.'
        """
        rows, columns = self.drawn()
        shown = self.take(rows, columns)
        hidden = np.delete(self.marked, rows, axis=0).any(axis=1).sum()
        less = " with less support" if self.support is not None else ""
        also = f", {hidden} of them with a cell above the mark" if hidden else ""
        left_out = len(self.rows) - len(rows), len(self.columns) - len(columns)
        told = [
            (shown.marked.any(), f"Outlined: above {percent(self.mark_above or 0)}."),
            (shown.empty.any(), "Dashed: no row has this combination, so nothing is known."),
            (left_out[0], f"Not drawn: {counted(left_out[0], 'row')}{less}{also}."),
            (left_out[1], f"Not drawn: {counted(left_out[1], 'column')} with lower cells."),
        ]
        return " ".join(text for used, text in told if used)
