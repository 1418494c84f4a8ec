"""Hierarchies: the value trees of a policy, built for the values of a table."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sfumato.counts import Column, align
from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import file_names
from sfumato.errors import InputError, ParameterError, UnknownColumnError
from sfumato.files import write_folder
from sfumato.hierarchy import Hierarchy, Suppress
from sfumato.policy import GivenPolicy, Missing, Policy, policy_of
from sfumato.recode.deciding import count_population, without_missing
from sfumato.releases.perturbing import columns_to_perturb, perturb_counts
from sfumato.releases.preparing import open_prepared
from sfumato.releases.subject import Subject
from sfumato.schema import Role
from sfumato.showing.content import Cell, Content, ContentTable, Heading, Sentence, Showable
from sfumato.showing.tree import Branch, value_tree_svg
from sfumato.tables.base import require_calendar_days
from sfumato.text import STAR, join_words, text_of
from sfumato.typing import BoolArray, IntArray, Progress, Value, silent

_MISSING = "(missing)"
_SHOWN = 4
"""Labels of a level that a text shows."""


@dataclass(frozen=True, eq=False)
class ValueTree:
    """The hierarchy of one column: a chain of levels, and the tree of their labels."""

    column: str
    role: str
    hierarchy: Hierarchy
    """The whole hierarchy; it may know values that the table does not have."""

    present: BoolArray
    """Which of its values the table has."""

    missing: bool = False
    """Whether cells of the column are missing; only the top level merges them with others."""

    @property
    def height(self) -> int:
        """The top level."""
        return self.hierarchy.height

    @property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        """The labels of each level, level 0 first, without the missing value."""
        return self.hierarchy.labels

    @cached_property
    def _children(self) -> tuple[Mapping[int, IntArray], ...]:
        """For each level above 0 and each of its labels, the labels one level down."""
        found = []
        for level in range(1, self.height + 1):
            below, above = self.hierarchy.codes[level - 1], self.hierarchy.codes[level]
            codes, first = np.unique(below, return_index=True)
            parent = above[first].astype(np.int64)
            order = np.argsort(parent, kind="stable")
            starts = np.flatnonzero(np.diff(parent[order], prepend=-1))
            parts = np.split(codes[order].astype(np.int64), starts[1:]) if len(starts) else []
            found.append(dict(zip(parent[order][starts].tolist(), parts, strict=True)))
        return tuple(found)

    @cached_property
    def _values(self) -> tuple[IntArray, ...]:
        """For each label of each level, the raw values it stands for."""
        codes = self.hierarchy.codes
        return tuple(
            np.bincount(codes[level], minlength=len(labels))
            for level, labels in enumerate(self.labels)
        )

    @cached_property
    def _there(self) -> tuple[BoolArray, ...]:
        """For each label of each level, whether the table has a value of it."""
        codes = self.hierarchy.codes
        return tuple(
            (np.bincount(codes[level][self.present], minlength=len(labels)) > 0)
            | (self.missing and level == self.height)
            for level, labels in enumerate(self.labels)
        )

    def _below(self, level: int, code: int) -> list[int]:
        """Return the labels one level down that a label stands for."""
        found = self._children[level - 1].get(code)
        return [] if found is None else found.tolist()

    def _branch(self, level: int, code: int) -> Branch:
        def below() -> Sequence[Branch]:
            if level == 0:
                return ()
            # First, so that it is drawn however many others there are.
            lacking = level == self.height and self.missing
            found = [Branch(_MISSING, tuple)] if lacking else []
            return [*found, *(self._branch(level - 1, each) for each in self._below(level, code))]

        return Branch(
            text_of(self.labels[level][code]),
            below,
            absent=not self._there[level][code],
            values=int(self._values[level][code]),
        )

    def _repr_svg_(self) -> str:
        return self.svg()

    def svg(self) -> str:
        """Draw the levels and the tree; what cannot be read for its number is counted."""
        sizes = [len(labels) + self.missing for labels in self.labels[:-1]] + [1]
        return value_tree_svg(
            self._branch(self.height, 0),
            sizes,
            column=self.column,
            title=f"Hierarchy of {self.column}",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "column": self.column,
            "role": self.role,
            "levels": [list(map(text_of, labels)) for labels in self.labels],
            "missing": self.missing,
            "tree": self._plain(self.height, 0),
        }

    def _plain(self, level: int, code: int) -> dict[str, Any]:
        plain: dict[str, Any] = {"label": text_of(self.labels[level][code])}
        if not self._there[level][code]:
            plain["absent"] = True
        if level:
            plain["below"] = [self._plain(level - 1, each) for each in self._below(level, code)]
        return plain

    def __repr__(self) -> str:
        sizes = ", ".join(str(len(labels)) for labels in self.labels)
        return f"<ValueTree of {self.column!r}, labels per level: {sizes}>"


@dataclass(frozen=True, eq=False)
class ValueTrees(Showable):
    """The hierarchies of a policy, as they are for a table. Its values are not for publication."""

    trees: tuple[ValueTree, ...]

    def __iter__(self) -> Iterator[ValueTree]:
        return iter(self.trees)

    def __len__(self) -> int:
        return len(self.trees)

    def __getitem__(self, column: str) -> ValueTree:
        for tree in self.trees:
            if tree.column == column:
                return tree
        raise UnknownColumnError(column, [t.column for t in self.trees], where="the hierarchies")

    def draw(self, folder: str | PathLike[str]) -> list[Path]:
        """Write a drawing of each, as `hierarchy_age.svg`.

        Args:
            folder: Where to write; made if it is not there. Files of the same name are replaced.
        """
        names = file_names([tree.column for tree in self.trees], "hierarchy_")
        texts = {f"{name}.svg": tree.svg() for name, tree in zip(names, self.trees, strict=True)}
        return write_folder(Path(folder), texts, private="the drawing")

    def drawings(self) -> tuple[str, ...]:
        return tuple(tree.svg() for tree in self.trees[:_SHOWN])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {"hierarchies": [tree.to_dict() for tree in self.trees]}

    @property
    def headline(self) -> str:
        """One line with the height of each."""
        heights = [f"{tree.column} has {tree.height + 1} levels" for tree in self.trees]
        return join_words(heights)

    def content(self) -> Content:
        """Return the labels of each level."""
        rows: list[list[Cell]] = []
        for tree in self.trees:
            for level, labels in enumerate(tree.labels):
                rest = len(labels) - min(len(labels), _SHOWN)
                such = ", ".join(map(text_of, labels[:_SHOWN]))
                such += f" and {rest} more" if rest else ""
                such += f", {_MISSING}" if tree.missing and level < tree.height else ""
                rows.append([tree.column if level == 0 else "", level, len(labels), such])
        headings = (
            "column",
            Heading("level", "0 is the value as it is; the top level is one label."),
            "labels",
            "such as",
        )
        note = Sentence("A lattice chooses one level of each quasi-identifier.")
        return Content(self.headline, (ContentTable.of("Levels", headings, rows, most=80), note))

    def __repr__(self) -> str:
        return f"<ValueTrees {self.headline}>"


def hierarchies(
    data: object, policy: GivenPolicy, *, progress: Progress | None = None
) -> ValueTrees:
    """Build the hierarchies of a policy for a table, to be read and drawn.

    Promises: they are the ones that `sf.anonymize` climbs with this policy and this table. Does
    not promise that they may be published: they hold values of the table.

    Args:
        data: A path (CSV, Parquet, SPSS, Excel …), a pandas, Polars or Arrow table, or a table of a
            database, as `sf.anonymize` takes it.
        policy: A policy, its path, or its settings as a mapping.
        progress: Told how far each stage is.

    Example:
        >>> import sfumato as sf
        >>> table, policy = sf.samples.table("incognito"), sf.samples.policy_path("incognito")
        >>> found = sf.tools.hierarchies(table, policy)
        >>> found["marital_status"].labels[1]
        ('Been Married', 'Never Married')
        >>> print(found["zipcode"])
        <ValueTree of 'zipcode', labels per level: 4, 2, 1, 1>
    """
    if policy is None:
        raise ParameterError("policy", None, "given", why="it has the hierarchies")
    report = progress or silent
    subject = Subject.open(data, policy_of(policy))
    rules, table = subject.policy, subject.table
    names = rules.quasi_identifiers
    secret = tuple(n for n in rules.sensitive if rules.columns[n].hierarchy is not None)
    columns = dict.fromkeys((*names, *secret, *columns_to_perturb(rules)))
    counts = table.count(tuple(columns), progress=lambda done, total: report("count", done, total))
    require_calendar_days(table, counts)
    if counts.total == 0:
        raise InputError("the table has no rows: there are no values to build hierarchies for")
    rng = np.random.default_rng(secrets.randbits(128))
    counts = perturb_counts(counts, rules, rng).project((*names, *secret))
    if rules.missing is Missing.SUPPRESS:
        # Such rows are dropped before anything else, and no hierarchy is built for them.
        counts, _ = without_missing(counts, names)
    people = count_population(rules, report)
    if people is not None:
        counts, people = align(counts, people, names)
    frequency = counts if people is None else people
    trees = [
        _tree(rules, counts.column(name), Role.QUASI_IDENTIFIER, frequency.value_counts(name))
        for name in names
    ]
    for name in secret:
        column = counts.column(name)
        judged = column if name in rules.exact else column.folded.column
        trees.append(_tree(rules, judged, Role.SENSITIVE))
    return ValueTrees(tuple(trees))


class ColumnValues(NamedTuple):
    """The values of a column as hierarchies see them, and how many rows have each."""

    values: tuple[Value, ...]
    """The different values; None is the missing one."""

    counts: tuple[int, ...]


def column_values(
    data: object, policy: GivenPolicy, column: str, *, progress: Progress | None = None
) -> ColumnValues:
    """Return the values of a column with their rows, for hierarchies that are edited by hand.

    Does not promise that they may be published: they are values of the table.

    Args:
        data: As `hierarchies` takes it.
        policy: A policy, its path, or its settings as a mapping: it says how dates are written,
            what is derived, and whether rows without a value are left out.
        column: The column.
        progress: Told how far each stage is.

    Example:
        >>> import sfumato as sf
        >>> table, policy = sf.samples.table("incognito"), sf.samples.policy_path("incognito")
        >>> column_values(table, policy, "gender")
        ColumnValues(values=('Female', 'Male'), counts=(5, 5))
    """
    report = progress or silent
    rules = policy_of(policy)
    table = open_prepared(data, rules)
    if column not in table.columns:
        raise UnknownColumnError(column, list(table.columns))
    counts = table.count((column,), progress=lambda done, total: report("count", done, total))
    require_calendar_days(table, counts)
    if rules.missing is Missing.SUPPRESS:
        counts, _ = without_missing(counts, (column,))
    rows = counts.value_counts(column).tolist()
    return ColumnValues(tuple(counts.column(column).values), tuple(rows))


def _tree(policy: Policy, column: Column, role: Role, rows: IntArray | None = None) -> ValueTree:
    """Build the hierarchy of a column as a decision builds it."""
    builder = policy.columns[column.name].hierarchy or Suppress()
    known = [i for i, value in enumerate(column.values) if value is not None]
    values = [column.values[i] for i in known]
    missing = len(known) < len(column.values)
    if not values:
        nothing = Hierarchy((), ((), (STAR,)), np.zeros((2, 0), dtype=np.int32))
        return ValueTree(column.name, role.value, nothing, np.zeros(0, dtype=bool), missing)
    counted = None if rows is None else rows[known].tolist()
    hierarchy = builder.build(column.name, values, counted)
    # Raises if it does not cover a value, as a decision would.
    hierarchy.bind(column.name, values)
    there = set(map(text_of, values))
    present = np.array([text_of(value) in there for value in hierarchy.values], dtype=bool)
    return ValueTree(column.name, role.value, hierarchy, present, missing)
