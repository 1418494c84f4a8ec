"""What came out of comparing releases with the original."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.errors import UnknownNameError
from sfumato.fragment import fragment
from sfumato.usefulness.associations import Associations
from sfumato.usefulness.classification import Accuracy
from sfumato.usefulness.query_errors import QueryErrors


@dataclass(frozen=True, eq=False)
class Utility:
    """What a release is still good for: how far its answers are from those of the original."""

    rows: int
    """How many rows the original has."""

    published: int
    """How many of them the release has."""

    queries: QueryErrors
    """The relative error of counting queries."""

    associations: Associations
    """How far correlations between columns are off."""

    seed: int
    """Where the queries came from; the same seed asks the same queries."""

    accuracy: Accuracy | None = None
    """How well a classifier does, if one was asked for."""

    def to_dict(self) -> dict[str, Any]:
        """Give the figures as plain values that JSON can hold."""
        return {
            "rows": self.rows,
            "published": self.published,
            "queries": self.queries.to_dict(),
            "associations": self.associations.to_dict(),
            **({} if self.accuracy is None else {"accuracy": self.accuracy.to_dict()}),
            "seed": self.seed,
        }

    def _repr_html_(self) -> str:
        headline, *lines = str(self).splitlines()
        return fragment(headline, notes=lines)

    def __repr__(self) -> str:
        return f"<Utility {self.queries}>"

    def __str__(self) -> str:
        published = f"{self.published} of {self.rows} rows published"
        learnt = [] if self.accuracy is None else [str(self.accuracy)]
        return "\n".join([published, str(self.queries), str(self.associations), *learnt])


@dataclass(frozen=True, eq=False)
class Utilities:
    """Several releases of one table, asked the same."""

    results: Mapping[str, Utility]
    """By the name that each release was given."""

    def __getitem__(self, name: str) -> Utility:
        if name not in self.results:
            raise UnknownNameError("release", name, self.results)
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def to_dict(self) -> dict[str, Any]:
        """Give the figures as plain values that JSON can hold."""
        return {name: result.to_dict() for name, result in self.results.items()}

    def _repr_html_(self) -> str:
        titles = ["release", "rows", "median error", "mean error", "90% below", "correlations off"]
        rows = [_line(name, result)[: len(titles)] for name, result in self.results.items()]
        return fragment("Usefulness", titles, rows)

    def __repr__(self) -> str:
        return f"<Utilities of {', '.join(self.results)}>"

    @property
    def cells(self) -> list[list[str]]:
        """The figures as text: the titles, and a line per release."""
        titles = ["release", "rows", "median error", "mean error", "90% below", "correlations off"]
        if any(result.accuracy is not None for result in self.results.values()):
            titles.append("told right")
        return [titles, *(_line(name, result) for name, result in self.results.items())]

    def __str__(self) -> str:
        """Write a table with a line per release."""
        return tabulated(self.cells)


def tabulated(lines: Sequence[Sequence[str]]) -> str:
    """Write lines of cells below each other, the first cell to the left and the others right.

    >>> print(tabulated([["release", "rows"], ["k=5", "20"]]))
    release  rows
    k=5        20
    """
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def _line(name: str, result: Utility) -> list[str]:
    errors = result.queries
    return [
        name,
        str(result.published),
        f"{errors.median:.1%}",
        f"{errors.mean:.1%}",
        f"{errors.quantile(0.9):.1%}",
        f"{result.associations.mean_difference:.3f}",
        *([] if result.accuracy is None else [f"{result.accuracy.after:.1%}"]),
    ]
