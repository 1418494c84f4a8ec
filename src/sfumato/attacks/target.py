"""The target of attacks: the groups of a release, as counts, whatever its kind."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import numpy as np

from sfumato.attacks.at_risk import PeopleFound, found_at
from sfumato.attacks.matching import Matcher
from sfumato.attacks.overlap import (
    Face,
    LabelKnowledge,
    MatchedPairs,
    PairCountError,
    overlapping_classes,
)
from sfumato.classes import (
    MISSING,
    EquivalenceClasses,
    SensitiveColumn,
    ValueCounts,
    classes_from,
    reference_of,
    sensitive_column,
)
from sfumato.counts import Column, FrequencySet, group, number_keys, sums
from sfumato.counts.people import ClassPeople
from sfumato.dataclasses import dataclass
from sfumato.decouplings import kind_of
from sfumato.decouplings.base import GroupedTables, LinkedTables
from sfumato.hierarchy import Ladder
from sfumato.policy.adversaries import Knows
from sfumato.text import STAR, text_of
from sfumato.typing import BoolArray, CodeArray, IntArray, Value

if TYPE_CHECKING:
    from sfumato.attacks.knowledge import ItemRows, ReleaseMaker, WholeRows
    from sfumato.attacks.outside import Outside
    from sfumato.attacks.perturbed import PerturbedRows

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Target:
    """A release as an adversary sees it: groups of people who look alike, and what is in them.

    Of a table in one piece, groups are its classes; of a decoupled one, its groups; of buckets, the
    people of a bucket who look alike beside the sensitive column. The adversary is taken to
    know the group a person is in.

    Example:
        >>> counts = FrequencySet.from_rows(["age", "ill"], [("30s", "flu"), ("40s", "gout")])
        >>> target = Target.of_table(counts, ("age",), ("ill",))
        >>> target.who(1), target.sensitive
        ({'age': '40s'}, ('ill',))
    """

    kind: str
    """`table`, or the name of a decoupling."""

    classes: EquivalenceClasses
    columns: tuple[Column, ...]
    """What groups are recognised by."""

    labels: CodeArray
    """`labels[column, group]`: the value of each of these columns."""

    counts: FrequencySet | None = None
    """The published rows, if they are in one piece."""

    person: str | None = None
    """The column of these counts that tells people apart, where they may have several rows."""

    household: str | None = None
    """The column of these counts that says who lives together."""

    grouped: GroupedTables | None = None
    """The groups and tables, if they are decoupled."""

    tables: tuple[Face, ...] = ()
    """What its tables show of the people of each group, if groups are not people who look alike."""

    published: Callable[[], LinkedTables] | None = None
    """Reads all tables of a release in buckets, as they are published; of one in groups, if people
    of a group differ in something that stands beside the quasi-identifiers."""

    also: "tuple[Target, ...]" = ()
    """The same release by its other sensitive columns, where people are grouped otherwise."""

    read_from: "tuple[Target, IntArray] | None" = None
    """The target whose rows or groups these were read from, and which of these each of those is."""

    joined: tuple[str, ...] = ()
    """The columns that were read as one, if these rows were read from others so."""

    earlier: "tuple[EarlierRelease, ...]" = ()
    """Releases of the same people before this one."""

    marks: frozenset[str] = frozenset()
    """The marks of the ledger that it says to be of, and of that ledger's first release."""

    newcomers: bool = False
    """Whether it says to hold only those who joined the ledger in it."""

    people: FrequencySet | None = None
    """Those who are in the data, as others know them: their raw quasi-identifiers."""

    members: ClassPeople | None = None
    """Which of these combinations each has, where people may have several rows."""

    matcher: Matcher | None = None
    """Tells in how many groups each of them could be."""

    outside: "Outside | None" = None
    """A list of people from elsewhere, joined with the groups."""

    maker: "ReleaseMaker | None" = None
    """The tool and its policy, with the table the release was made of."""

    perturbed: "PerturbedRows | None" = None
    """The rows with the columns that chance has changed, if there are any."""

    items: "ItemRows | None" = None
    """The rows with their items, if columns have several per row."""

    whole: "WholeRows | None" = None
    """Reads the rows with all columns that are published, if they are in one piece."""

    others: int | None = None
    """The number of other people of a class that adversaries may know, if the publisher says so."""

    against: Knows = Knows.TWO_VALUES
    """Who knows most of those by whom no one may be at risk."""

    unknown: tuple[str, ...] = ()
    """The published columns that others do not know of a person, as the publisher says."""

    beside: tuple[str, ...] = ()
    """The columns of a table in one piece that are published beside: known perhaps, no secret."""

    unread: tuple[str, ...] = ()
    """Those beside that cannot be looked at: they have too many values, or several per row."""

    promised: tuple[str, ...] = ()
    """The names of the models that the release is said to keep."""

    categories: tuple[tuple[str, tuple[tuple[Value, ...], ...]], ...] = ()
    """Sensitive columns, each with categories of its values that such a model goes by."""

    _memo: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def faces(self) -> tuple[Face, ...]:
        """The tables about people: one of the labels of groups, or those it was published in."""
        own = Face(self.columns, self.labels, np.arange(len(self.classes)))
        return self.tables or (own,)

    @property
    def looks_alike(self) -> bool:
        """Whether its groups are people with the same quasi-identifiers."""
        return kind_of(self.kind).keeps_classes

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns that groups are recognised by."""
        return tuple(column.name for column in self.columns)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The columns that are to stay secret."""
        return tuple(self.classes.sensitive)

    @property
    def knowable(self) -> tuple[str, ...]:
        """The columns besides the quasi-identifiers that others may know of a person."""
        return tuple(n for n in (*self.sensitive, *self.beside) if n not in self.unknown)

    def count_at_worst(self, levels: IntArray, n: int) -> IntArray:
        """Return how many people are of each of n levels, every one at the worst of their rows.

        Args:
            levels: The level of each combination of the counts.
            n: How many levels there are.
        """
        counts = self.counts
        assert counts is not None  # noqa: S101 - levels are of a table in one piece
        if self.person is None:
            return sums(levels, counts.rows, n)
        worst = np.zeros(len(counts.column(self.person).values), dtype=np.int64)
        codes = counts.codes_of(self.person)
        np.maximum.at(worst, codes, levels)
        return np.bincount(worst[np.unique(codes)], minlength=n)

    def find_classes(self, flags: BoolArray, knows: Knows = Knows.QUASI_IDENTIFIERS) -> PeopleFound:
        """Return the people of some classes.

        Args:
            flags: Which classes.
            knows: What has to be known of these people.
        """
        if self.counts is None:
            if self.read_from is not None:
                # Groups that were read otherwise are the same people.
                return self.read_from[0].find_classes(flags, knows)
            return found_at(self._count_groups, self.classes, {knows: flags})
        class_of = self.memoize("class of each", lambda _: self.class_of(self._rows))
        return self.find_rows({knows: flags[class_of]})

    def find_rows(self, flags: Mapping[Knows, BoolArray]) -> PeopleFound:
        """Return the people of some combinations of the counts, by what is known of them."""
        if self.read_from is not None:
            # They are the same people, so that who is found twice is counted once.
            target, at = self.read_from
            return target.find_rows({knows: found[at] for knows, found in flags.items()})
        return found_at(self._count_rows, self._rows, flags)

    @property
    def _rows(self) -> FrequencySet:
        assert self.counts is not None  # noqa: S101 - the caller looked
        return self.counts

    def _count_rows(self, flags: BoolArray) -> int:
        return int(self.count_at_worst(flags.astype(np.int64), 2)[1])

    def _count_groups(self, flags: BoolArray) -> int:
        people = self.classes.people
        if people is not None:
            return int(people.at_worst(flags.astype(np.int64), 2)[1])
        return int(np.rint(np.asarray(self.classes.inside)[flags].sum()))

    def holders(self, name: str) -> "Holders | None":
        """Return who has which known values of a column together; None where rows are people."""
        if self.person is None:
            return None
        return self.memoize(("holders", name), lambda _: self._find_holders(name))

    def _find_holders(self, name: str) -> "Holders":
        counts, person = self.counts, self.person
        assert counts is not None  # noqa: S101 - people are counted on rows in one piece
        assert person is not None  # noqa: S101 - the caller looked
        column = counts.column(name)
        known = counts.without(counts.codes_of(name) == column.missing)
        names = (*self.quasi_identifiers, person)
        units, class_id = known.group_by(names), self.class_of(known)
        width = len(column.values)
        pairs = number_keys(units.of_item * width + known.codes_of(name), units.n * width).keys
        unit = pairs // width
        return Holders(class_id[units.first], unit, pairs - unit * width)

    def class_of(self, some: FrequencySet) -> IntArray:
        """Return the class of each of some of the combinations."""
        sizes = [len(column.values) for column in self.columns]
        mine = [some.codes_of(name) for name in self.quasi_identifiers]
        both = [np.concatenate(pair) for pair in zip(self.labels, mine, strict=True)]
        # Classes are numbered in the order of their labels, and each is there.
        n = len(self.classes)
        return group(both, sizes, n=n + len(some)).of_item[n:]

    def memoize(self, key: Hashable, build: Callable[["Target"], T]) -> T:
        """Compute something about the release once, for all attacks that ask for it."""
        if key not in self._memo:
            self._memo[key] = build(self)
        result: T = self._memo[key]
        return result

    @cached_property
    def silent(self) -> BoolArray:
        """Whether each group says nothing of whose it is: all it is recognised by is `*`."""
        silent = np.ones(len(self.classes), dtype=np.bool_)
        for column, labels in zip(self.columns, self.labels, strict=True):
            stars = [value is not None and text_of(value) == STAR for value in column.values]
            silent &= np.array(stars, dtype=np.bool_)[labels]
        return silent

    def keep(self, keep: BoolArray) -> Self:
        """Keep some groups only; what is believed of all people stays as it is."""
        counts = self.counts
        if counts is not None:
            sizes = [len(column.values) for column in self.columns]
            codes = [counts.codes_of(name) for name in self.quasi_identifiers]
            # Groups are numbered as `of_table` does it.
            counts = counts.without(~keep[group(codes, sizes, n=len(counts)).of_item])
        return replace(
            self, classes=self.classes.keep(keep), labels=self.labels[:, keep], counts=counts
        )

    def who(self, at: int) -> dict[str, Value]:
        """Return what a group is recognised by."""
        return {
            column.name: column.values[code]
            for column, code in zip(self.columns, self.labels[:, at].tolist(), strict=True)
        }

    @classmethod
    def of_table(
        cls,
        counts: FrequencySet,
        quasi_identifiers: tuple[str, ...],
        sensitive: tuple[str, ...],
        ladders: Mapping[str, Ladder] | None = None,
        *,
        person: str | None = None,
        household: str | None = None,
        perturbed: "PerturbedRows | None" = None,
    ) -> Self:
        """Read a table in one piece: rows with equal quasi-identifiers are a class.

        Values of sensitive columns are different as they stand: fold the counts before.

        Args:
            counts: The rows.
            quasi_identifiers: What people are recognised by.
            sensitive: What is to stay secret.
            ladders: The hierarchies of sensitive columns.
            person: The column that identifies people, if they may have several rows. It is not
                published: the adversary does not see which rows are of one person.
            household: The column that says who lives together, if any; it is not published either.
            perturbed: The same rows with the columns that chance has changed, if there are any.
        """
        described = {
            name: sensitive_column(counts.column(name), (ladders or {}).get(name), exact=True)
            for name in sensitive
        }
        columns = tuple(counts.column(name) for name in quasi_identifiers)
        codes = [counts.codes_of(name) for name in quasi_identifiers]
        groups = group(codes, [len(column.values) for column in columns], n=len(counts))
        labels = np.array([code[groups.first] for code in codes], dtype=np.int32)
        return cls(
            "table",
            classes_from(counts, quasi_identifiers, described, person=person),
            columns,
            labels.reshape(len(columns), groups.n),
            counts=counts,
            person=person,
            household=household,
            perturbed=perturbed,
        )

    @classmethod
    def of_grouped(
        cls, kind: str, grouped: GroupedTables, ladders: Mapping[str, Ladder] | None = None
    ) -> Self:
        """Read the groups of a decoupled release, each with the counts of its sensitive values.

        Groups without quasi-identifiers in common are recognised by the bucket they are in.
        """
        sensitive = {
            table.column.name: value_counts(
                sensitive_column(table.column, (ladders or {}).get(table.column.name), exact=True),
                table.column,
                table.group,
                table.value,
                table.rows,
            )
            for table in grouped.sensitive
        }
        columns, labels = grouped.quasi_identifiers, grouped.labels
        if not columns:
            number = np.arange(len(grouped), dtype=np.int32).reshape(1, -1)
            columns, labels = (Column("bucket", tuple(grouped.labelled.tolist())),), number
        return cls(
            kind, EquivalenceClasses(grouped.sizes, sensitive), columns, labels, grouped=grouped
        )


class Holders(NamedTuple):
    """The known values that people have together: a unit is a person in one class."""

    class_id: IntArray
    """The class of each unit."""

    unit: IntArray
    """With `value`: each pair once, in order."""

    value: IntArray


@dataclass(frozen=True, eq=False)
class EarlierRelease:
    """A release of the same people before the one that is attacked."""

    target: Target
    pairs: MatchedPairs | None
    """The classes of the later release and of this one that can hold the same person; None if
    there are too many of them."""

    name: str = "earlier"
    fault: str = ""
    """Why the two cannot be compared, if they cannot."""

    unread: tuple[str, ...] = ()
    """The columns with labels of which nothing says what they stand for."""

    @classmethod
    def of(
        cls,
        later: Target,
        earlier: Target,
        readings: Mapping[str, LabelKnowledge] | None = None,
        *,
        name: str = "earlier",
    ) -> Self:
        """Find the classes of two releases that can hold the same person.

        Args:
            later: The release that is attacked.
            earlier: The one before.
            readings: Per quasi-identifier, what is known of its labels.
            name: What messages call the earlier one.
        """
        n = len(later.classes), len(earlier.classes)
        try:
            pairs, unread = overlapping_classes(later.faces, earlier.faces, n, readings)
        except PairCountError as fault:
            return cls(earlier, None, name, str(fault).rstrip("."))
        return cls(earlier, pairs, name, unread=unread)


def value_counts(
    described: SensitiveColumn,
    column: Column,
    class_id: IntArray,
    codes: CodeArray,
    rows: IntArray,
) -> ValueCounts:
    """Make counts of codes that know a missing value as one of their own."""
    value = codes.astype(np.int64)
    if column.missing >= 0:
        value[value == column.missing] = MISSING
    order = np.lexsort((value, class_id))
    value = value[order]
    reference = reference_of(value, rows[order], len(described.values))
    return ValueCounts(described, class_id[order], value, rows[order], reference)
