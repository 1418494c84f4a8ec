"""What a decoupling is: a counted table goes in, several tables with weak links come out."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from sfumato.broken import Broken
from sfumato.counts import FrequencySet
from sfumato.derived import DerivedTable
from sfumato.errors import ParameterError


@dataclass(frozen=True, eq=False)
class Part:
    """One of the tables that are published."""

    name: str
    """What it is called: the name of its file, without the ending."""

    table: Literal["qi", "sensitive", "slice"]
    """Whether it holds the quasi-identifiers, one sensitive column, or some columns of both."""

    content: DerivedTable
    column: str | None = None
    """The sensitive column it holds."""

    columns: tuple[str, ...] = ()
    """The columns it holds, if it is a slice."""

    def described(self) -> dict[str, Any]:
        """Say what it is, as a manifest does."""
        plain: dict[str, Any] = {"table": self.table}
        if self.column is not None:
            plain["column"] = self.column
        if self.columns:
            plain["columns"] = list(self.columns)
        return plain


@dataclass(frozen=True, eq=False)
class Parts:
    """Everything that is published instead of the one table."""

    broken: Broken
    """The same as counts, each group with the label it is published under."""

    group: str
    """The column that links the tables."""

    count: str
    """The column that says how many people of a group have a value."""

    tables: tuple[Part, ...]
    models: tuple[Mapping[str, Any], ...] = ()
    """What the groups keep, as manifests write it, where the table's own models say nothing."""


class Decoupling(ABC):
    """A way to publish a table in parts, so that nobody can put the rows together again.

    A member of the family is a frozen dataclass; its docstring says what it promises and
    what it does not. It sees counts only and writes nothing: an engine does.
    """

    name: ClassVar[str]
    """What it is called in the registry, in manifests and on the command line."""

    keeps_classes: ClassVar[bool] = True
    """Whether groups are people with the same quasi-identifiers: the models of the table then hold
    as they did. Otherwise the parts say themselves what they keep."""

    notes: ClassVar[tuple[str, ...]] = ()
    """What holds of every such release and deserves a second look before publishing."""

    @abstractmethod
    def run(
        self,
        counts: FrequencySet,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str],
        *,
        rng: np.random.Generator,
    ) -> Parts:
        """Say what is published. Orders and labels come from `rng`, never from the data."""

    @abstractmethod
    def companions(self, parts: Parts, manifest: Mapping[str, Any]) -> dict[str, str]:
        """Write what lies beside the tables, by the name of the file."""

    @classmethod
    @abstractmethod
    def example(cls) -> Self:
        """Give a small valid instance."""


def only_sensitive(sensitive: Sequence[str]) -> str:
    """Give the one sensitive column that buckets can be diverse in, or refuse several."""
    if len(sensitive) != 1:
        raise ParameterError(
            "sensitive",
            list(sensitive),
            "one column",
            why="buckets that are diverse in each column by itself do not bound how likely "
            "values of several are together. Name one, or take break-merge",
        )
    return sensitive[0]


def unused(name: str, taken: Iterable[str]) -> str:
    """Give a column name that no other has, whatever the case: SQL may not tell `A` from `a`.

    >>> unused("group", ["age", "Group"])
    'group_2'
    """
    folded = {each.casefold() for each in taken}
    found, number = name, 1
    while found.casefold() in folded:
        number += 1
        found = f"{name}_{number}"
    return found


def file_names(columns: Sequence[str], prefix: str) -> list[str]:
    """Make file names of column names: safe everywhere, and no two alike, whatever the case.

    A column whose name is safe keeps it; others get a number where they would be mistaken.

    >>> file_names(["pay, net", "pay_net", "ü"], "sensitive_")
    ['sensitive_pay_net_2', 'sensitive_pay_net', 'sensitive_column']
    """
    plain = [re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")[:40] or "column" for name in columns]
    # Those that are safe as they are come first, so that they keep their names.
    order = sorted(range(len(columns)), key=lambda i: plain[i] != columns[i])
    found: dict[int, str] = {}
    for i in order:
        found[i] = unused(prefix + plain[i], found.values())
    return [found[i] for i in range(len(columns))]
