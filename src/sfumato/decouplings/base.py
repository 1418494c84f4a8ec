"""The contract of a decoupling: a counted table goes in, several linked tables come out."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar, Literal, Self

import numpy as np

from sfumato.counts import Column, FrequencySet, add_up, group, sums
from sfumato.dataclasses import dataclass
from sfumato.decouplings.noise import GivenNoise
from sfumato.errors import InputError, ParameterError, UnknownColumnError
from sfumato.hierarchy import HierarchyBuilder
from sfumato.registry import Member
from sfumato.tables.derived import Batch, Cells, DerivedColumn, DerivedTable
from sfumato.text import number_of, text_of, text_or_none
from sfumato.typing import CodeArray, FloatArray, IntArray, Value

_ROOM = 100
"""Labels are drawn from this many times as many numbers as there are groups, or more."""


_GLUE = " + "
_NOTHING = "(missing)"


def joint_name(names: Sequence[str]) -> str:
    """Return what columns that stay together are called as one.

    >>> joint_name(["time", "death"])
    'time + death'
    """
    return _GLUE.join(names)


@dataclass(frozen=True, eq=False)
class Joint:
    """Columns that stay together, as one column of the combinations that occur.

    To an adversary such a combination is one value. It is missing only if all of it is.

    Example:
        >>> rows = [(5, "yes"), (7, None), (None, None)]
        >>> counts, joint = join_columns(FrequencySet.from_rows(["time", "death"], rows),
        ...     ["time", "death"])
        >>> counts.column("time + death").values
        ('5 + yes', '7 + (missing)', None)
    """

    column: Column
    parts: tuple[Column, ...]
    codes: CodeArray
    """`codes[part, value]`: what each combination has in each of the columns."""

    @classmethod
    def of(cls, parts: Sequence[Column], codes: Sequence[np.ndarray]) -> "tuple[Joint, IntArray]":
        """Return the combinations that occur, and the one that each item has."""
        found = group(list(codes), [len(column.values) for column in parts], n=len(codes[0]))
        # A missing value is the last of each column, so the combination of those comes last too.
        held = np.array([each[found.first] for each in codes], dtype=np.int32)
        texts = [
            [_NOTHING if value is None else _quote(text_of(value)) for value in column.values]
            for column in parts
        ]
        values: list[Value] = [
            _GLUE.join(each[code] for each, code in zip(texts, combination, strict=True))
            for combination in held.T.tolist()
        ]
        nothing = np.array([column.missing for column in parts])
        if values and (held[:, -1] == nothing).all():
            values[-1] = None
        column = Column(joint_name([each.name for each in parts]), tuple(values))
        return cls(column, tuple(parts), held), found.of_item


def _quote(text: str) -> str:
    """Return a text that can be told from others when it stands between them."""
    odd = "+" in text or text.startswith('"') or text == _NOTHING
    return json.dumps(text, ensure_ascii=False) if odd else text


def join_columns(counts: FrequencySet, names: Sequence[str]) -> tuple[FrequencySet, Joint]:
    """Return counts with one more column, the combination of some, and what that stands for."""
    columns = [counts.column(name) for name in names]
    joint, of_item = Joint.of(columns, [counts.codes_of(name) for name in names])
    codes = np.vstack([counts.codes, of_item[None].astype(np.int32)])
    return FrequencySet((*counts.columns, joint.column), codes, counts.rows), joint


def read_together(given: object) -> tuple[tuple[str, ...], ...]:
    """Read columns that stay together: lists of names, or texts with + between them.

    >>> read_together(["time+death", ["drug", "dose"]])
    (('time', 'death'), ('drug', 'dose'))
    >>> read_together([["time"]])
    Traceback (most recent call last):
    sfumato.errors.ParameterError: together must be a list of lists of two or more columns, each
    column once, got [['time']]
    """
    expected = "a list of lists of two or more columns, each column once"
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ParameterError("together", given, expected)
    found = []
    for each in given:
        names = each.split("+") if isinstance(each, str) else each
        if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
            raise ParameterError("together", given, expected)
        found.append(tuple(name.strip() if isinstance(each, str) else name for name in names))
    every = [name for names in found for name in names]
    if len(set(every)) < len(every) or any(len(names) < 2 for names in found):
        raise ParameterError("together", given, expected)
    return tuple(found)


@dataclass(frozen=True, eq=False)
class SensitiveTable:
    """One sensitive column by itself: how many rows of each group have each value.

    One entry per pair that occurs, sorted by group, then value. A missing value is published as
    a value is; it hides no person, so breach probabilities are those of the `known` entries.
    """

    column: Column
    group: IntArray
    value: CodeArray
    """Code into the column's values."""

    rows: IntArray
    joint: Joint | None = None
    """The columns that it is made of, if several stay together."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that are published in it."""
        return (self.column,) if self.joint is None else self.joint.parts

    def codes_of(self, name: str) -> CodeArray:
        """Return the codes of one of its columns, per entry."""
        if self.joint is None:
            return self.value
        at = [column.name for column in self.joint.parts].index(name)
        codes: CodeArray = self.joint.codes[at][self.value]
        return codes

    def split(self, n_groups: int) -> "tuple[SensitiveTable, ...]":
        """Return each of its columns by itself."""
        if self.joint is None:
            return (self,)
        found = []
        for column in self.joint.parts:
            codes = self.codes_of(column.name)
            cells = group([self.group, codes], [n_groups, len(column.values)])
            rows = sums(cells.of_item, self.rows, cells.n)
            found.append(SensitiveTable(column, self.group[cells.first], codes[cells.first], rows))
        return tuple(found)

    @cached_property
    def starts(self) -> IntArray:
        """The position at which the entries of each group that has some begin."""
        return np.flatnonzero(np.diff(self.group, prepend=-1))

    @cached_property
    def known(self) -> Self:
        """The entries whose value is not missing; a group may have none."""
        keep = self.value != self.column.missing
        if keep.all():
            return self
        return replace(self, group=self.group[keep], value=self.value[keep], rows=self.rows[keep])

    def totals(self, n_groups: int) -> IntArray:
        """Return how many rows of each group have a known value."""
        return sums(self.known.group, self.known.rows, n_groups)

    def largest(self, n_groups: int) -> IntArray:
        """Return the rows of each group's most frequent known value."""
        known = self.known
        most = np.zeros(n_groups, dtype=np.int64)
        if len(known.group):
            most[known.group[known.starts]] = np.maximum.reduceat(known.rows, known.starts)
        return most

    def fold(self, n_groups: int, names: Sequence[str]) -> Self:
        """Return it with values that differ only in spelling taken for one, in some columns."""
        joint = None
        if self.joint is None:
            folded = self.column.folded
            if self.column.name not in names or not folded.spellings:
                return self
            column, value = folded.column, folded.codes[self.value]
        else:
            every = [(c, c.folded if c.name in names else None) for c in self.joint.parts]
            if not any(folded is not None and folded.spellings for _, folded in every):
                return self
            joint, of_value = Joint.of(
                [column if folded is None else folded.column for column, folded in every],
                [
                    codes if folded is None else folded.codes[codes]
                    for (_, folded), codes in zip(every, self.joint.codes, strict=True)
                ],
            )
            column, value = joint.column, of_value[self.value].astype(np.int32)
        cells = group([self.group, value], [n_groups, len(column.values)])
        rows = sums(cells.of_item, self.rows, cells.n)
        first = cells.first
        return type(self)(column, self.group[first], value[first], rows, joint)


def mark_of(groups: int, total: int, least: int, most: int) -> str:
    """Return a mark of the labels of groups: their number, sum, and ends, which are drawn.

    >>> mark_of(2, 4, 1, 3)
    '85713097a763'
    """
    return sha256(f"{groups} {total} {least} {most}".encode()).hexdigest()[:12]


@dataclass(frozen=True, eq=False)
class GroupedTables:
    """Groups of people, and what is published about each: breaches and increments go by it.

    Example:
        >>> rows = [("30s", "flu", "low"), ("30s", "gout", "low"), ("40s", "flu", "high")]
        >>> counts = FrequencySet.from_rows(["age", "ill", "pay"], rows)
        >>> grouped = GroupedTables.of(counts, ["age"], ["ill", "pay"])
        >>> grouped.sizes.tolist(), grouped.table("pay").rows.tolist()
        ([2, 1], [2, 1])
    """

    quasi_identifiers: tuple[Column, ...]
    labels: CodeArray
    """`labels[q, g]`: the value of quasi-identifier q in group g."""

    sizes: IntArray
    """The number of rows each group has."""

    sensitive: tuple[SensitiveTable, ...]
    ids: IntArray | None = None
    """The label each group is published under; None as long as it has none."""

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def total(self) -> int:
        """The number of rows."""
        return int(self.sizes.sum())

    @property
    def labelled(self) -> IntArray:
        """The label each group is published under, where that is settled."""
        if self.ids is None:
            raise RuntimeError("the groups have no labels yet")
        return self.ids

    @property
    def names(self) -> tuple[str, ...]:
        """The sensitive columns in order; those that stay together count as one."""
        return tuple(table.column.name for table in self.sensitive)

    @property
    def mark(self) -> str | None:
        """A mark of the labels that the groups are published under; None if they have none."""
        if self.ids is None or not len(self.ids):
            return None
        ids = self.ids
        return mark_of(len(ids), int(ids.sum()), int(ids.min()), int(ids.max()))

    def fold(self, names: Sequence[str]) -> "GroupedTables":
        """Return it with spellings of a value in some sensitive columns taken for one."""
        tables = [table.fold(len(self), names) for table in self.sensitive]
        if all(new is old for new, old in zip(tables, self.sensitive, strict=True)):
            return self
        return replace(self, sensitive=tuple(tables))

    def group_at(self, at: int) -> tuple[tuple[str, Value], ...]:
        """Return the quasi-identifiers of a group, and its labels."""
        codes = self.labels[:, at].tolist()
        return tuple(
            (c.name, c.values[code]) for c, code in zip(self.quasi_identifiers, codes, strict=True)
        )

    def table(self, name: str) -> SensitiveTable:
        """Find a sensitive column's table by name; of several that stay together, its own."""
        if name in self.names:
            return self.sensitive[self.names.index(name)]
        for table in self.sensitive:
            if name in (column.name for column in table.columns):
                return next(t for t in table.split(len(self)) if t.column.name == name)
        raise UnknownColumnError(name, self.names, where="the sensitive columns")

    @classmethod
    def of(
        cls, counts: FrequencySet, quasi_identifiers: Sequence[str], sensitive: Sequence[str]
    ) -> Self:
        """Group a counted table: rows with the same quasi-identifiers are a group."""
        columns = tuple(counts.column(name) for name in quasi_identifiers)
        codes = [counts.codes_of(name) for name in quasi_identifiers]
        groups = group(codes, [len(column.values) for column in columns], n=len(counts))
        labels = np.array([code[groups.first] for code in codes], dtype=np.int32)
        return cls(
            columns,
            labels.reshape(len(columns), groups.n),
            sums(groups.of_item, counts.rows, groups.n),
            tuple(_table(counts, name, groups.of_item, groups.n) for name in sensitive),
        )


def _table(counts: FrequencySet, name: str, of_item: IntArray, n: int) -> SensitiveTable:
    column = counts.column(name)
    codes = counts.codes_of(name)
    cells = group([of_item, codes], [n, len(column.values)])
    rows = sums(cells.of_item, counts.rows, cells.n)
    return SensitiveTable(column, of_item[cells.first], codes[cells.first], rows)


@dataclass(frozen=True, eq=False)
class LinkedTables:
    """The published tables of any kind of release, counted, and the columns that link them.

    Whatever is asked of a release (estimates, beliefs, matching people) is asked of these: what
    stands in one table is known together, between tables only the group is.

    Example:
        >>> ages = FrequencySet.from_rows(["bucket", "age"], [(7, 30), (7, 40), (9, 30)])
        >>> ills = [(7, "flu", "2"), (9, "gout", "1")]
        >>> ills = FrequencySet.from_rows(["bucket", "ill", "count"], ills)
        >>> linked = LinkedTables((ages, ills), "bucket", "count")
        >>> [group.tolist() for group in linked.groups], linked.sizes.tolist()
        ([[0, 0, 1], [0, 1]], [2.0, 1.0])
    """

    tables: tuple[FrequencySet, ...]
    group: str | None = None
    """The column that names the group in all of them; None if there is one table."""

    count: str | None = None
    """The column that says how many people an entry stands for; a table without it has a row
    per person.
    """

    def fold(self, names: Sequence[str]) -> "LinkedTables":
        """Return it with spellings of a value in some columns taken for one."""
        tables = [table.fold([n for n in names if n in table.names]) for table in self.tables]
        return replace(self, tables=tuple(tables))

    @classmethod
    def of(
        cls, grouped: GroupedTables, names: Sequence[str], people: FrequencySet | None = None
    ) -> Self:
        """Build the tables that groups are published as, with numbers for their labels.

        Args:
            grouped: The groups.
            names: The columns that are wanted; a table with none of them is left out.
            people: The table of people, where it has more than the quasi-identifiers: the number of
                the group first.
        """
        columns = [column for column in grouped.quasi_identifiers if column.name in names]
        group, count = free_name("group", names), free_name("count", names)
        numbers = np.arange(len(grouped), dtype=np.int32)
        number = Column(group, tuple(numbers.tolist()))
        tables = []
        if people is not None:
            beside = people.columns[1:]
            tables.append(FrequencySet((number, *beside), people.codes, people.rows))
        elif columns:
            at = [grouped.quasi_identifiers.index(column) for column in columns]
            codes = np.vstack([numbers[None], grouped.labels[at]]).astype(np.int32)
            tables.append(FrequencySet((number, *columns), codes, grouped.sizes))
        wanted = [
            (table, [column for column in table.columns if column.name in names])
            for table in grouped.sensitive
        ]
        tables += [_count_table(table, own, number, count) for table, own in wanted if own]
        return cls(tuple(tables), group, count)

    def join(self, together: Sequence[Sequence[str]]) -> "LinkedTables":
        """Return it with columns that stay together as one, wherever a table has them all."""
        tables = []
        for table in self.tables:
            joined = table
            for names in together:
                if {*names} <= {*joined.names}:
                    joined, _ = join_columns(joined, names)
                    joined = joined.project([n for n in joined.names if n not in names])
            tables.append(joined)
        return replace(self, tables=tuple(tables))

    def names(self, table: FrequencySet) -> tuple[str, ...]:
        """List the columns of a table that are about people."""
        return tuple(name for name in table.names if name not in (self.group, self.count))

    def column(self, name: str) -> Column:
        """Find a column in the first table that has it."""
        for table in self.tables:
            if name in self.names(table):
                return table.column(name)
        known = dict.fromkeys(each for table in self.tables for each in self.names(table))
        raise UnknownColumnError(name, known, where="the published tables")

    @cached_property
    def groups(self) -> list[IntArray]:
        """The group of each entry, per table; without a column of groups every entry is one.

        Groups are numbered by how they are written, which may differ in type from file to file.
        """
        if self.group is None:
            return [np.arange(len(table)) for table in self.tables]
        numbers: dict[object, int] = {}
        found = []
        for table in self.tables:
            values = table.column(self.group).values
            written = {*map(type, values)} == {str} and "" not in values
            texts: Iterable[object] = values if written else map(text_or_none, values)
            ids = [numbers.setdefault(text, len(numbers)) for text in texts]
            found.append(np.array(ids, dtype=np.int64)[table.codes_of(self.group)])
        return found

    @cached_property
    def n(self) -> int:
        """The number of groups."""
        return max((int(each.max(initial=-1)) + 1 for each in self.groups), default=0)

    @cached_property
    def people(self) -> list[FloatArray]:
        """The number of people each entry stands for, per table; a CSV file holds them as text."""
        return [self._people(table) for table in self.tables]

    def _people(self, table: FrequencySet) -> FloatArray:
        if self.count is None or self.count not in table.names:
            return table.rows.astype(np.float64)
        numbers = np.array([number_of(number) or 0.0 for number in table.column(self.count).values])
        found: FloatArray = table.rows * numbers[table.codes_of(self.count)]
        return found

    @cached_property
    def sizes(self) -> FloatArray:
        """The number of people each group has; refused if that differs from table to table."""
        every = [
            add_up(group, people, self.n)
            for group, people in zip(self.groups, self.people, strict=True)
        ]
        if not all(np.array_equal(each, every[0]) for each in every):
            raise InputError(
                "the tables do not belong together: a group has not as many people in one as in "
                "another. See what is wrong with them: sfumato verify."
            )
        return every[0] if every else np.zeros(0)


def _count_table(
    table: SensitiveTable, columns: Sequence[Column], number: Column, count: str
) -> FrequencySet:
    """Return some columns of a sensitive table, with the number of people of each entry."""
    every = [table.codes_of(column.name) for column in columns]
    sizes = [len(number.values), *(len(column.values) for column in columns)]
    cells = group([table.group, *every], sizes)
    people, code = np.unique(sums(cells.of_item, table.rows, cells.n), return_inverse=True)
    first = cells.first
    codes = np.array([table.group[first], *(each[first] for each in every), code], dtype=np.int32)
    held = (number, *columns, Column(count, tuple(people.tolist())))
    return FrequencySet(held, codes, np.ones(cells.n, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class DecoupledPart:
    """One of the tables that are published."""

    name: str
    """The name of its file, without the ending."""

    table: Literal["qi", "sensitive", "slice", "rows", "noisy"]
    """Whether it holds the quasi-identifiers, one sensitive column, some columns of both, or all
    of them; or noisy counts of cells."""

    content: DerivedTable
    column: str | None = None
    """The sensitive column it holds."""

    columns: tuple[str, ...] = ()
    """The columns it holds, if it is a slice, if several sensitive ones stay together, or if it
    holds noisy counts."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns it holds besides the group and the count, if it is no table of people."""
        return self.columns or (str(self.column),)

    def describe(self) -> dict[str, Any]:
        """Return what it is, as a manifest writes it."""
        plain: dict[str, Any] = {"table": self.table}
        if self.column is not None and not self.columns:
            plain["column"] = self.column
        if self.columns:
            plain["columns"] = self.columns
        return plain


@dataclass(frozen=True, eq=False)
class Parts:
    """Everything that is published instead of the one table."""

    grouped: GroupedTables
    """The same as counts, each group with the label it is published under."""

    group: str
    """The column that links the tables; empty if there is one table."""

    count: str
    """The column that says how many people of a group have a value; empty if there is one table."""

    tables: tuple[DecoupledPart, ...]
    models: tuple[Mapping[str, Any], ...] = ()
    """What the groups keep, as manifests write it, where the table's own models say nothing."""

    counts: FrequencySet | None = None
    """What is published, where it has other values than the table."""

    hiding: tuple[Mapping[str, Any], ...] = ()
    """What is promised of rules to sensitive values, as manifests write it."""

    notes: tuple[str, ...] = ()
    """What deserves a second look in these tables, and depends on more than they show."""

    @property
    def linked(self) -> "Parts":
        """The same with the tables of people, and of values by group: without noisy counts."""
        return replace(self, tables=tuple(part for part in self.tables if part.table != "noisy"))


def split_joints(parts: Parts, joints: Sequence[Joint]) -> Parts:
    """Return parts with the columns that stay together in place of what they are as one."""
    by_name = {joint.column.name: joint for joint in joints}
    if not by_name:
        return parts
    sensitive = tuple(
        replace(table, joint=by_name.get(table.column.name)) for table in parts.grouped.sensitive
    )
    tables = tuple(_split_part(part, by_name) for part in parts.tables)
    return replace(parts, grouped=replace(parts.grouped, sensitive=sensitive), tables=tables)


def _split_part(part: DecoupledPart, joints: Mapping[str, Joint]) -> DecoupledPart:
    held = [joints.get(column.name) for column in part.content.columns]
    if not any(joint is not None for joint in held):
        return part
    columns: list[DerivedColumn] = []
    for column, joint in zip(part.content.columns, held, strict=True):
        split = () if joint is None else joint.parts
        columns += [DerivedColumn(each.name, each.values) for each in split] or [column]

    def split_cells(kinds: Cells) -> Cells:
        cells: list[np.ndarray] = []
        for each, joint in zip(kinds, held, strict=True):
            cells += [each] if joint is None else [codes[each] for codes in joint.codes]
        return tuple(cells)

    def batches() -> Iterator[Batch]:
        seen: Cells | None = None
        for kinds, picks in part.content.batches():
            # Most tables have the same kinds of rows in every batch.
            if kinds is not seen:
                seen, cells = kinds, split_cells(kinds)
            yield Batch(cells, picks)

    names = part.columns or (str(part.column),)
    whole = [
        name
        for each in names
        for name in ([c.name for c in joints[each].parts] if each in joints else [each])
    ]
    content = DerivedTable(tuple(columns), part.content.rows, batches)
    return replace(part, content=content, columns=tuple(whole))


class Kind:
    """The facts of a kind of release, which others read instead of asking which kind it is.

    This class describes a table in one piece; every `Decoupling` is a kind of its own.
    """

    name: ClassVar[str] = "table"
    """Its name in the registry, in manifests and on the command line."""

    groups: ClassVar[tuple[str, str]] = ("class", "classes")
    """The word for people who cannot be told apart: one of them, and several."""

    keeps_classes: ClassVar[bool] = True
    """Whether groups are people with the same quasi-identifiers: the models of the table then hold
    as they did. Otherwise the parts say themselves what they keep."""

    in_one_piece: ClassVar[bool] = True
    """Whether whole rows are published."""

    can_be_drawn: ClassVar[bool] = True
    """Whether a mechanism can draw what is published, under a promise of its own."""

    why_no_ledger: ClassVar[str | None] = None
    """The reason why no ledger can be kept of what is decoupled like this; None if one can."""

    dealt: ClassVar[bool] = False
    """Whether people are dealt to buckets by lot, with rows of exact quasi-identifiers: a ledger
    then deals newcomers to buckets of their own."""

    @classmethod
    def refuse_ledger(
        cls,
        tables: Sequence[Sequence[str]],  # noqa: ARG003 - for kinds whose reason depends on them
        sensitive: Sequence[str],  # noqa: ARG003
    ) -> str | None:
        """Return why no ledger can be kept of a release with these tables; None if one can.

        Args:
            tables: The columns of each table, where the kind says so in its manifest.
            sensitive: The sensitive columns.
        """
        return cls.why_no_ledger


class Decoupling(Kind, Member, ABC):
    """A way to publish a table in parts, so that rows cannot be put together again.

    A member of the family is a frozen dataclass; its docstring says what it promises and
    what it does not. It sees counts only and writes nothing: an engine does.
    """

    groups: ClassVar[tuple[str, str]] = ("group", "groups")
    in_one_piece: ClassVar[bool] = False
    can_be_drawn: ClassVar[bool] = False
    notes: ClassVar[tuple[str, ...]] = ()
    """What holds of every such release and deserves a second look before publishing."""

    why_no_ledger: ClassVar[str | None] = (
        "there is no proof of what its tables reveal when people are added"
    )
    needs_sensitive: ClassVar[bool] = True
    """Whether there has to be a sensitive column."""

    together: tuple[str | tuple[str, ...], ...] = ()
    """Sensitive and plain columns that stay together, where a method can keep them so."""

    noise: GivenNoise | None = None
    """The noise that its counts get, where a method can do with noisy ones."""

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns of the table that it goes by and does not publish."""
        return ()

    def inform(
        self, hierarchies: Mapping[str, HierarchyBuilder], exact: Sequence[str]
    ) -> "Decoupling":
        """Return it with what a policy says of sensitive columns, which most methods do not need.

        Args:
            hierarchies: How their values become more general.
            exact: Those in which another spelling is another value.
        """
        del hierarchies, exact
        return self

    @abstractmethod
    def run(
        self,
        counts: FrequencySet,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str],
        *,
        rng: np.random.Generator,
        plain: Sequence[str] = (),
    ) -> Parts:
        """Decide what is published. Orders and labels come from `rng`, never from the data.

        Args:
            counts: The table.
            quasi_identifiers: What others may know; groups and buckets are formed by it.
            sensitive: What is to stay secret.
            rng: Draws orders and labels.
            plain: What is published as it is, beside the quasi-identifiers.
        """

    @abstractmethod
    def companions(self, parts: Parts, manifest: Mapping[str, Any]) -> dict[str, str]:
        """Write what lies beside the tables, by the name of the file."""


def only_sensitive(sensitive: Sequence[str]) -> str:
    """Return the one sensitive column that buckets can be diverse in, or refuse several."""
    if len(sensitive) != 1:
        raise ParameterError(
            "sensitive",
            list(sensitive),
            "one column",
            why="buckets that are diverse in each column by itself do not bound how likely "
            "values of several are together. Name one, or take break-merge",
        )
    return sensitive[0]


def random_labels(n: int, rng: np.random.Generator) -> IntArray:
    """Draw different whole numbers of equal length, in no order at all.

    They are many more than there are groups, so that the same number in two releases is
    hardly ever there, let alone the same group.

    >>> labels = random_labels(1000, np.random.default_rng())
    >>> len(set(labels.tolist())), int(labels.min()) >= 100_000, int(labels.max()) < 1_000_000
    (1000, True, True)
    """
    digits = max(6, len(str(_ROOM * n)))
    least = 10 ** (digits - 1)
    drawn: IntArray = rng.choice(9 * least, size=n, replace=False) + least
    return drawn


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return a column name that no other has, whatever the case: SQL may not tell `A` from `a`.

    >>> free_name("group", ["age", "Group"])
    'group_2'
    """
    folded = {each.casefold() for each in taken}
    found, number = name, 1
    while found.casefold() in folded:
        number += 1
        found = f"{name}_{number}"
    return found


def file_names(columns: Sequence[str], prefix: str, most: int = 40) -> list[str]:
    """Make file names of column names: safe everywhere, and no two alike, whatever the case.

    A column whose name is safe keeps it; others get a number where they would be mistaken.

    Args:
        columns: The names.
        prefix: What every file name begins with.
        most: The most characters of a name that are kept.

    >>> file_names(["pay, net", "pay_net", "ü"], "sensitive_")
    ['sensitive_pay_net_2', 'sensitive_pay_net', 'sensitive_column']
    """
    safe = [re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_") for name in columns]
    plain = [name[:most] or "column" for name in safe]
    # Those that are safe as they are come first, so that they keep their names.
    order = sorted(range(len(columns)), key=lambda i: plain[i] != columns[i])
    found: dict[int, str] = {}
    for i in order:
        found[i] = free_name(prefix + plain[i], found.values())
    return [found[i] for i in range(len(columns))]
