"""Correlations: which columns of a table have how much to do with each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.drawing.heatmap import Words, heatmap_svg
from sfumato.engines import open_table
from sfumato.errors import InputError, ParameterError, UnknownNameError
from sfumato.fragment import fragment
from sfumato.policy import Policy
from sfumato.saving import save_text
from sfumato.slicing import Correlations
from sfumato.slicing import correlations as measured
from sfumato.slicing.correlation import MEASURES
from sfumato.tasks.starred import without_starred
from sfumato.tasks.subject import subject_of


@dataclass(frozen=True, eq=False)
class CorrelationMap(Correlations):
    """How strongly each pair of columns is tied, as a table, a drawing and a list of pairs.

    What is tied belongs into one slice, where it stays known; what is not may be parted at little
    cost. What is tied to a sensitive column tells most about it.
    """

    measure: str
    """How the strength of a pair is measured."""

    rows: int
    """How many rows were counted."""

    sensitive: tuple[str, ...]
    """Which of the columns are sensitive."""

    @property
    def pairs(self) -> tuple[tuple[str, str, float], ...]:
        """Every pair of columns with its strength, the strongest first."""
        one, other = np.triu_indices(len(self.names), k=1)
        strength = self.strength[one, other]
        order = np.argsort(-strength, kind="stable")
        return tuple(
            (self.names[i], self.names[j], value)
            for i, j, value in zip(
                one[order].tolist(), other[order].tolist(), strength[order].tolist(), strict=True
            )
        )

    def svg(self) -> str:
        """Draw a heat map: the darker, the stronger."""
        # What a column has to do with itself says nothing, and would be the darkest of all.
        values = np.where(np.eye(len(self.names), dtype=bool), np.nan, self.strength)
        words = Words("Table of correlations", "most tied to", "{:.2f}".format)
        title = f"Correlations ({self.measure})"
        return heatmap_svg(self.names, self.names, values, title=title, words=words)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the heat map as an SVG file; one of the same name is replaced."""
        target = Path(path)
        if target.suffix.lower() != ".svg":
            raise ParameterError("path", target.name, "a file that ends in .svg")
        return save_text(target, self.svg())

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values that JSON can hold."""
        return {
            "measure": self.measure,
            "rows": self.rows,
            "columns": list(self.names),
            "sensitive": list(self.sensitive),
            "strength": self.strength.tolist(),
            "pairs": [
                {"columns": [one, other], "strength": value} for one, other, value in self.pairs
            ],
        }

    def _repr_html_(self) -> str:
        return fragment(str(self).splitlines()[0]) + self.svg()

    def __repr__(self) -> str:
        return f"<CorrelationMap {str(self).splitlines()[0]}>"

    def __str__(self) -> str:
        names = [f"{number} {name}" for number, name in enumerate(self.names, start=1)]
        widest = max(map(len, names), default=0)
        heads = "".join(f"{number:>6}" for number in range(1, len(names) + 1))
        lines = [f"{self.rows} rows, {len(names)} columns, {self.measure}", " " * widest + heads]
        for i, name in enumerate(names):
            cells = ["–" if i == j else f"{value:.2f}" for j, value in enumerate(self.strength[i])]
            lines.append(f"{name:<{widest}}" + "".join(f"{cell:>6}" for cell in cells))
        return "\n".join(lines)


def correlations(
    data: object,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    policy: Policy | str | PathLike[str] | None = None,
    measure: str = "phi-square",
) -> CorrelationMap:
    """Measure how strongly each pair of quasi-identifiers and sensitive columns is tied.

    Every measure is between 0, where one column tells nothing about the other, and 1. Numbers of
    many values are put into bins first, and a missing value is one like any other. Columns that
    hold another value in nearly every row look tied to everything, for whoever knows such a value
    knows the row.

    Args:
        data: A release, its folder, or a table: a path (CSV, Parquet, Feather), pandas,
            Polars, Arrow. Decoupled releases are refused: they have no rows any more.
        quasi_identifiers: The columns others may know; a release knows its own.
        sensitive: The columns nobody should learn about a person.
        policy: Where roles come from, if the data is a plain table.
        measure: phi-square (the mean-square contingency, by which slicing chooses its columns),
            cramers-v (its root) or mutual-information (of the most it could be).

    Example:
        >>> import pyarrow as pa
        >>> table = pa.table({"sex": ["f", "f", "m", "m"], "job": ["a", "a", "b", "b"],
        ...     "ill": ["flu", "gout", "flu", "gout"]})
        >>> print(correlations(table, quasi_identifiers=["sex", "job"], sensitive=["ill"]))
        4 rows, 3 columns, phi-square
                  1     2     3
        1 sex     –  1.00  0.00
        2 job  1.00     –  0.00
        3 ill  0.00  0.00     –
    """
    if measure not in MEASURES:
        raise UnknownNameError("measure", measure, list(MEASURES))
    subject = subject_of(data, quasi_identifiers, sensitive, policy)
    counts = without_starred(open_table(subject.data).count(subject.columns), subject)
    if not counts.total:
        raise InputError("there is no row that is not suppressed: nothing can be compared")
    found = measured(counts, subject.columns, measure=measure)
    return CorrelationMap(found.names, found.strength, measure, counts.total, subject.sensitive)
