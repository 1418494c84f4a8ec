"""Something published, opened once: the only place that asks what was given."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from sfumato.counts import Column, FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.decouplings import kind_of
from sfumato.decouplings.base import (
    GroupedTables,
    Kind,
    LinkedTables,
    SensitiveTable,
    join_columns,
)
from sfumato.errors import (
    InputError,
    ParameterError,
    PolicyError,
    SfumatoError,
    UnknownColumnError,
    names_in,
    some,
)
from sfumato.files.reading import Reading, TextFile
from sfumato.hierarchy import Ladder
from sfumato.hierarchy.labels import Labels
from sfumato.policy import (
    FULL_DOMAIN,
    REGIONAL,
    GivenPolicy,
    Missing,
    Policy,
    RiskLevels,
    Spelling,
    policy_of,
)
from sfumato.populations.weights import add_weights
from sfumato.releases.levels import compare_levels
from sfumato.releases.manifest import MANIFEST, FileRecord, Manifest, Promise, promised_class_size
from sfumato.releases.numbers import has_numbers, means_in, with_labels
from sfumato.releases.people import require_people
from sfumato.releases.people_file import (
    PublishedPeople,
    read_people,
    read_table_of_people,
    tell_rows_apart,
)
from sfumato.releases.preparing import open_original
from sfumato.releases.recompute import (
    recompute_folder,
    recompute_plain,
    recompute_stored,
    recompute_tables,
)
from sfumato.releases.release import (
    DecoupledRelease,
    Release,
    file_in,
    for_verifier,
    is_stored,
    open_stored,
    public_name,
    tables_of,
)
from sfumato.schema import Role
from sfumato.tables import DatabaseTable, Domain, Table, open_table
from sfumato.tables.capabilities import OrderedRows
from sfumato.text import STAR
from sfumato.typing import IntArray, Value
from sfumato.verifier import Check, Verdict, verify_unjudged

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.usefulness import Estimator


class Roles(NamedTuple):
    """The roles of columns that a caller named; None where it named none."""

    quasi_identifiers: Sequence[str] | None
    sensitive: Sequence[str] | None


@dataclass(frozen=True, eq=False, kw_only=True)
class Published(ABC):
    """A release of any kind, or a table that is judged as if it were one.

    Everything is read when it is asked for, and then kept: what one call says of it is about one
    state of it.
    """

    given: object
    """What was given."""

    policy: Policy | None = None
    named: Roles
    """The roles that were named; they win over its own."""

    exact_spelling: tuple[str, ...] = ()
    """Sensitive columns in which the reader takes spellings for different values, besides those
    of the policy."""

    record: Manifest | None = None
    """The manifest, if there is one that can be read."""

    folder: Path | None = None
    """Where it is, if it is a folder."""

    stored: object = None
    """What opens its first table, if it is in a database."""

    people_file: object = None
    """Who has which of its rows, if people are counted: a people file, or a table of the same."""

    @property
    def manifest(self) -> Manifest | None:
        """The manifest of the release; None for a plain table."""
        return self.record

    @property
    def is_plain(self) -> bool:
        """Whether it is a plain table, which no manifest describes."""
        return False

    @property
    def counts_people(self) -> bool:
        """Whether its promises are about people, who may have several rows."""
        person = None if self.record is None else self.record.person
        return person is not None and "counted" in person

    @property
    def kind(self) -> type[Kind]:
        """The facts of its kind: a table in one piece, or the decoupling."""
        return kind_of(None if self.manifest is None else self.manifest.kind)

    @cached_property
    def database(self) -> DatabaseTable | None:
        """Its first table, if it is in a database."""
        return open_stored(self.stored)

    @cached_property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns others may know."""
        return self._roles[0]

    @cached_property
    def sensitive(self) -> tuple[str, ...]:
        """The columns that should not become known of a person."""
        return self._roles[1]

    @property
    def unknown(self) -> tuple[str, ...]:
        """The columns that others do not know of a person, as who names the roles says.

        It belongs to the roles: those of the policy, of the manifest if there is none, and of
        neither where sensitive columns are named.
        """
        if self.named.sensitive is not None:
            return ()
        said: Sequence[str] = ()
        if self.policy is not None:
            said = self.policy.unknown
        elif self.manifest is not None:
            said = [column.name for column in self.manifest.columns if column.known is False]
        return tuple(said)

    @property
    def columns(self) -> tuple[str, ...]:
        """The quasi-identifiers and then the sensitive columns."""
        return (*self.quasi_identifiers, *self.sensitive)

    @property
    def plain(self) -> tuple[str, ...]:
        """The columns that a decoupled release publishes as they are."""
        if self.manifest is None:
            return ()
        return tuple(c.name for c in self.manifest.columns if c.role in (Role.PLAIN, Role.WEIGHT))

    @property
    def perturbed(self) -> frozenset[str]:
        """The columns whose values are not as they were, by the manifest."""
        columns = () if self.manifest is None else self.manifest.columns
        return frozenset(column.name for column in columns if column.perturbed)

    @property
    def together(self) -> tuple[tuple[str, ...], ...]:
        """The columns that stay together in a decoupled release: each list counts as one."""
        return () if self.manifest is None else self.manifest.together or ()

    @property
    def beside(self) -> tuple[str, ...]:
        """The plain columns that stand beside the quasi-identifiers, if those have a table."""
        return tuple(n for n in self.plain if not any(n in names for names in self.together))

    @cached_property
    def _roles(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        known, sensitive = self._own_roles()
        if self.named.quasi_identifiers is not None:
            known = names_in("quasi_identifiers", self.named.quasi_identifiers)
        if self.named.sensitive is not None:
            sensitive = names_in("sensitive", self.named.sensitive)
        self._require_roles(known, sensitive)
        return known, sensitive

    def _require_roles(self, known: tuple[str, ...], sensitive: tuple[str, ...]) -> None:
        """Raise if roles cannot be; those of a decoupled release always can."""
        del known, sensitive

    def _own_roles(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if self.manifest is not None:
            return self.manifest.with_role("quasi-identifier"), self.manifest.with_role("sensitive")
        if self.policy is not None:
            return self.policy.quasi_identifiers, self.policy.sensitive
        return (), ()

    @property
    def sets(self) -> dict[str, str | None]:
        """The columns of several items per row, each with what stands between two in a cell.

        None if cells are lists.
        """
        if self.manifest is not None:
            return {c.name: c.separator for c in self.manifest.columns if c.role == Role.SET.value}
        rules = {} if self.policy is None else self.policy.columns
        return {name: rule.separator for name, rule in rules.items() if rule.role is Role.SET}

    @property
    def generalised(self) -> tuple[str, ...]:
        """The sensitive columns that have labels in place of values."""
        hidden = () if self.manifest is None else self.manifest.hiding or ()
        return tuple(each.column for each in hidden if each.generalised)

    def without_general_stars(self, counts: FrequencySet) -> FrequencySet:
        """Return counts in which a star in place of a sensitive value is no value."""
        names = [name for name in self.generalised if name in counts.names]
        if not names:
            return counts
        values = [
            [None if v == STAR else v for v in c.values] if c.name in names else c.values
            for c in counts.columns
        ]
        return FrequencySet.from_codes(counts.names, values, counts.codes, counts.rows)

    @property
    def promises(self) -> tuple[Promise, ...]:
        """The promises of the release, or what the policy asks of a plain table."""
        if self.manifest is not None:
            return self.manifest.models
        return () if self.policy is None else tuple(map(Promise.of, self.policy.models))

    @property
    def k(self) -> int | None:
        """The largest k that is promised."""
        return promised_class_size(self.promises)

    @property
    def missing(self) -> str:
        """The meaning of a missing quasi-identifier, as policies write it."""
        if self.manifest is not None:
            return self.manifest.missing
        return (Missing.OWN_VALUE if self.policy is None else self.policy.missing).value

    @property
    def levels(self) -> Mapping[str, int]:
        """The level of each column that was published at one level."""
        return {} if self.manifest is None else self.manifest.levels

    @property
    def risk_levels(self) -> RiskLevels:
        """The publisher's risk levels: those of the policy, or of the release."""
        if self.policy is not None:
            return self.policy.risk_levels
        # A manifest may be a stranger's.
        given = None if self.manifest is None else self.manifest.risk_levels
        try:
            return RiskLevels.read({} if given is None else given)
        except (PolicyError, ValueError) as error:
            raise InputError(f"the manifest's risk_levels cannot be used: {error}") from None

    @property
    def table(self) -> Table:
        """Its rows; a decoupled release is refused, for it has none."""
        what = repr(public_name(self.given)) if isinstance(self.given, str | PathLike) else "this"
        raise InputError(
            f"{what} is a decoupled release: its rows cannot be put together again. "
            "Give the release it was made of."
        )

    @property
    def groups(self) -> GroupedTables:
        """Its groups of people with the same quasi-identifiers; refused if it has no such."""
        raise self.lacks_groups()

    def lacks_groups(self) -> InputError:
        """Return the error that its groups are not people with the same quasi-identifiers."""
        from sfumato.decouplings import BreakMerge

        needs = f"this needs a release decoupled by {BreakMerge.name!r}, and this one is by "
        if self.kind.in_one_piece:
            return InputError(f"{needs}{self.kind.name!r}: its rows are whole, and not parted.")
        return InputError(
            f"{needs}{self.kind.name!r}: its groups are not people with the same "
            "quasi-identifiers. What its tables reveal is in its own schema.sql and in what "
            "sf.verify finds."
        )

    @abstractmethod
    def counts(self, columns: Sequence[str]) -> LinkedTables:
        """Count those of some columns that each table has; tables with none are left out."""

    def estimator(self, columns: Sequence[Column], ladders: Mapping[str, Ladder]) -> "Estimator":
        """Return what answers questions about the columns of the original.

        Args:
            columns: The columns of the original.
            ladders: The hierarchies of some of them.
        """
        # Imported late, as only those who measure usefulness ask for it.
        from sfumato.usefulness import Estimator

        tables = self.counts([column.name for column in columns])
        return Estimator(tables, columns, Labels(ladders, self.levels, nearest=True))

    @property
    def sampling_fraction(self) -> float | None:
        """The share of the population that is in it, if its policy or a promise of it says so."""
        if self.policy is not None and self.policy.sample is not None:
            return self.policy.sample
        promises = () if self.manifest is None else self.manifest.models
        models = filter(None, (promise.readable() for promise in promises))
        found: float | None = next(
            (share for model in models if (share := getattr(model, "fraction", None))), None
        )
        return found

    @property
    def weight(self) -> str | None:
        """The column that says how many people a row stands for; decoupled releases have none."""
        return None

    def weighted_estimator(
        self, columns: Sequence[Column], ladders: Mapping[str, Ladder]
    ) -> "Estimator | None":
        """Return what answers questions about the people that rows stand for; None without weight.

        Args:
            columns: The columns of the original.
            ladders: The hierarchies of some of them.
        """
        if self.weight is None:
            return None
        from sfumato.usefulness import Estimator

        [counts] = self.counts((*(column.name for column in columns), self.weight)).tables
        found, people = add_weights(counts, self.weight)
        labels = Labels(ladders, self.levels, nearest=True)
        return Estimator.of_weighted(found, people, columns, labels)

    @property
    def left_people(self) -> dict[tuple[str | None, ...], int]:
        """Of which groups it is said how many of the people counted have left, and how many."""
        return {}

    @property
    def folded(self) -> tuple[str, ...]:
        """The sensitive columns in which spellings are one value to the reader."""
        return tuple(name for name in self.sensitive if name not in self._readers_exact)

    @property
    def _readers_exact(self) -> tuple[str, ...]:
        # A manifest may say so too, and is not asked: it would set the bar that it is judged by.
        return (*self.exact_spelling, *(() if self.policy is None else self.policy.exact))

    @property
    def exact(self) -> tuple[str, ...]:
        """The sensitive columns in which its maker takes spellings for different values."""
        if self.manifest is None:
            return () if self.policy is None else self.policy.exact
        exact = Spelling.EXACT.value
        return tuple(c.name for c in self.manifest.columns if c.spelling == exact)

    def recompute(self, population: object = None) -> Verdict:
        """Recompute what it is said to keep, by code that had no part in making it.

        A release is held to its own manifest, and to the policy too if one is given. A plain
        table is held to the policy as it stands; without one it promises nothing.

        Args:
            population: A table of all people the data was drawn from; None takes the policy's.
        """
        policy = self.policy
        if population is None and policy is not None:
            population = policy.population_table
        found = self._recompute(policy, population)
        self._require_own_people(found)
        if policy is None or self.record is None:
            return found
        try:
            return _with_levels(found, self.record, policy, self._labels(policy))
        except SfumatoError:
            return found  # what is wrong with the files is said there

    def _labels(self, policy: Policy) -> dict[str, Sequence[Value]]:
        """Return the published values of each quasi-identifier that a policy knows."""
        assert self.record is not None  # noqa: S101 - it is asked of releases only
        names = [n for n in self.record.with_role("quasi-identifier") if n in policy.columns]
        tables = self.counts(names).tables
        return {
            each.name: each.known
            for table in tables
            for each in table.columns
            if each.name in names
        }

    def _require_own_people(self, verdict: Verdict) -> None:
        """Raise if a people file was given and is not that of this release, which is in order."""
        broken = {check.name: check.detail for check in verdict.checks if check.status == "broken"}
        if self.people_file is not None and set(broken) == {"people"}:
            if self.is_plain:
                raise InputError(
                    f"what says whose the rows are cannot be used: {broken['people'].rstrip('.')}. "
                    "Give a table with the same rows as the one that is judged, and the column "
                    "that identifies people."
                )
            raise InputError(
                f"the people file cannot be used: {broken['people'].rstrip('.')}. Give the file "
                "that was written when this release was made (people_file, --people-file), "
                "unchanged."
            )

    def _recompute(self, policy: Policy | None, population: object) -> Verdict:
        exact, people = self._readers_exact, self.people_file
        readable = self.record is not None or self.is_plain
        if people is not None and readable and not self.counts_people:
            if self.is_plain:
                # What is not there, or no table, is the first thing to say.
                _ = self.table
            shown = str(people)[:80] if isinstance(people, str | PathLike) else "a table"
            raise ParameterError(
                "people_file",
                shown,
                "left out",
                why="nothing here says that people are counted: promises are about rows, which can "
                "be seen",
            )
        people = self.people_told
        if self.database is not None:
            return recompute_stored(
                self.database, policy, population, exact, people, counts_people=self.counts_people
            )
        if self.folder is not None:
            return recompute_folder(self.folder, policy, population, exact, people)
        if self.manifest is not None:
            return recompute_tables(
                self.manifest, self._sources(), policy, population, exact, people
            )
        table = self.table if self.is_plain else open_table(self.given, self._reading)
        given = for_verifier(self.given, table)
        if policy is None:
            if not isinstance(self.given, str | PathLike):
                return Verdict(())
            path = given if isinstance(given, TextFile) else Path(self.given).expanduser()
            return verify_unjudged(path, self.quasi_identifiers)
        return recompute_plain(
            given, table, policy, population, exact, people, counts_people=self.counts_people
        )

    @property
    def people_told(self) -> object:
        """The people file, or a table of the same, by which the verifier counts people."""
        return self.people_file

    @property
    def _reading(self) -> Reading | None:
        """The way its rows are read if it is a plain file, as far as a policy says."""
        return None if self.policy is None or self.record is not None else self.policy.reading

    @abstractmethod
    def _sources(self) -> Mapping[str, object]:
        """Return what opens its tables, by the names of the manifest."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PublishedTable(Published):
    """A release in one piece, or a plain table."""

    data: object
    """What opens it, or its rows as counts."""

    called: str = ""
    """Its name in the manifest, if it has one there."""

    means: "pa.Table | None" = None
    """The columns that stand beside labels as means of classes, row by row; None for none."""

    known: Mapping[str, Domain] = field(default_factory=dict)
    """What is known of its columns without reading it."""

    counted: FrequencySet | None = None
    """Its rows as counts, if they are at hand; None counts them."""

    @property
    def is_plain(self) -> bool:
        """Whether no manifest describes it, and its rows can be read."""
        return self.manifest is None and not isinstance(self.data, FrequencySet)

    @cached_property
    def as_given(self) -> Table:
        """Its rows as they are given."""
        return self.database or open_table(self.data, self._reading)

    @cached_property
    def table(self) -> Table:
        """Its rows. In a plain table, which is judged and not recoded, lists are text."""
        table = self.as_given
        if self.is_plain and isinstance(table, OrderedRows):
            return table.with_lists_as_text(self.sets)
        return table

    @property
    def people(self) -> FrequencySet | None:
        """The rows of each person; None if rows are counted, or nothing says whose they are.

        Counts over its quasi-identifiers, its sensitive columns and `person`, a column of drawn
        numbers. Suppressed rows are not among them. That they are the published rows is for
        `recompute` to find.
        """
        return None if self._people is None else self._people.counts

    @property
    def person(self) -> str | None:
        """The column of `people` that tells them apart; None if there are no such counts."""
        return None if self._people is None else self._people.person

    @property
    def household(self) -> str | None:
        """The column of `people` that says who lives together; None if nothing does."""
        return None if self._people is None else self._people.household

    @cached_property
    def counts_people(self) -> bool:
        """Whether promises are about people: so says the manifest, or the policy of a table."""
        policy = self.policy
        if not self.is_plain or policy is None or policy.counted_person is None:
            return super().counts_people
        if policy.counted_person not in self.table.columns:
            return True
        return require_people(self.table, policy).policy.counted_person is not None

    @cached_property
    def _people(self) -> PublishedPeople | None:
        if not self.counts_people:
            return None
        if self.is_plain and (told := self._told_of_table) is not None:
            private = filter(None, [told.person, told.household])
            return told._replace(counts=told.counts.project((*self.columns, *private)))
        if self.people_file is None:
            return None
        [counts] = self.counts(self.columns).tables
        return read_people(self.people_file, self.columns, counts)

    @cached_property
    def _told_of_table(self) -> PublishedPeople | None:
        """The rows of each person of a plain table, by a column of it or of a file beside it."""
        policy = self.policy
        assert policy is not None  # noqa: S101 - it says that people are counted
        assert policy.counted_person is not None  # noqa: S101 - it says by what
        person, names = policy.counted_person, self._looked_at
        if person in names:
            raise ParameterError(
                "quasi_identifiers",
                person,
                "other columns than the one that tells people apart",
                why=f"{person!r} does so in the policy, and is not published",
            )
        if person in self.table.columns:
            return read_table_of_people(self.table, names, person, policy.household)
        if self.people_file is None:
            return None
        beside = open_table(self.people_file, policy.reading)
        [counts] = self.counts(names).tables
        return read_table_of_people(beside, names, person, policy.household, counts)

    @property
    def _looked_at(self) -> tuple[str, ...]:
        """The columns of a plain table that are judged, and those that its policy is about."""
        policy = self.policy
        asked = () if policy is None else (*policy.quasi_identifiers, *_of_models(policy))
        return tuple(dict.fromkeys((*self.columns, *asked)))

    @property
    def people_told(self) -> object:
        """The people file; of a plain table the same, as a table made of its rows."""
        if not self.is_plain or not self.counts_people or self.policy is None:
            return self.people_file
        told = self._told_of_table
        if told is None:
            return None
        names = (*self.policy.quasi_identifiers, *_of_models(self.policy))
        rng = np.random.default_rng()
        return tell_rows_apart(told.counts, tuple(dict.fromkeys(names)), told.person, rng)

    def _require_roles(self, known: tuple[str, ...], sensitive: tuple[str, ...]) -> None:
        both = set(known) & set(sensitive)
        if both:
            raise ParameterError(
                "sensitive",
                list(sensitive),
                f"other columns than the quasi-identifiers; {some(both)} cannot be both",
            )
        if not known and not sensitive and not self.sets:
            raise ParameterError(
                "quasi_identifiers",
                None,
                "the columns that others may know",
                why="nothing says what the columns are. Give a release, a policy (-p policy.yaml), "
                "or the roles: quasi_identifiers=['age', 'zip'], sensitive=['illness']",
            )

    def counts(self, columns: Sequence[str]) -> LinkedTables:
        """Count some columns."""
        counted = self.counted
        if counted is not None and {*columns} <= {*counted.names}:
            return LinkedTables((counted.project(columns),))
        source = self.data if isinstance(self.data, FrequencySet) else self.table
        return LinkedTables((count_columns(source, columns).project(columns),))

    @cached_property
    def open_columns(self) -> dict[str, Role | None]:
        """The published columns that are neither quasi-identifiers nor sensitive, with their role.

        It is plain or a weight, or there is none. Those that a policy keeps out of every release
        are not among them: that they are there is a broken check already.
        """
        data = self.data
        names = data.names if isinstance(data, FrequencySet) else self.table.columns
        roles: dict[str, str] = {}
        if self.manifest is not None:
            roles = {column.name: column.role for column in self.manifest.columns}
        elif self.policy is not None:
            given = {name: self.policy.role_of(name) for name in names}
            roles = {name: role.value for name, role in given.items() if role is not None}
        found: dict[str, Role | None] = {}
        for name in names:
            role = roles.get(name)
            if name not in self.columns and role not in ("identifier", "dropped", "set"):
                # A role that a caller did not repeat is none any more.
                found[name] = Role(role) if role in (Role.PLAIN, Role.WEIGHT) else None
        return found

    @cached_property
    def weight(self) -> str | None:
        """The column that says how many people a row stands for; None if there is none."""
        names: tuple[str, ...] = () if self.policy is None else self.policy.weights
        if self.manifest is not None:
            names = self.manifest.with_role("weight")
        data = self.data
        there = data.names if isinstance(data, FrequencySet) else self.table.columns
        return next((name for name in names if name in there), None)

    def without_starred(self, counts: FrequencySet) -> FrequencySet:
        """Return counts without the suppressed rows that a release still shows as stars."""
        if self.manifest is None or self.manifest.rows.suppression != "star":
            return counts
        starred = np.ones(len(counts), dtype=bool)
        for column, codes in zip(counts.columns, counts.codes, strict=True):
            empty = STAR if column.name in self.quasi_identifiers else None
            starred &= np.isin(codes, [i for i, v in enumerate(column.values) if v == empty])
        left = counts.rows.copy()
        left[starred] -= min(int(left[starred].sum()), self.manifest.rows.suppressed)
        return _of_occurring(FrequencySet(counts.columns, counts.codes, left))

    def _sources(self) -> Mapping[str, object]:
        return {self.called: self.data}


def _of_models(policy: Policy) -> tuple[str, ...]:
    """Return the columns that the models of a policy look at."""
    return tuple(column for model in policy.models for column in model.columns)


@dataclass(frozen=True, eq=False, kw_only=True)
class PublishedTables(Published):
    """A decoupled release."""

    sources: Mapping[str, object]
    """What opens its tables, by the names of the manifest."""

    known_groups: GroupedTables | None = None
    """Its groups, if they need not be read."""

    @cached_property
    def tables(self) -> Mapping[str, Table]:
        """Its tables, opened, by the names of the manifest."""
        return {name: open_table(source) for name, source in self._sources().items()}

    def _sources(self) -> Mapping[str, object]:
        return self.sources

    @property
    def likes(self) -> dict[str, Table]:
        """Per column, the table that has it."""
        found: dict[str, Table] = {}
        for file in () if self.manifest is None else self.manifest.linked_files:
            columns = _columns_in(file)
            if file.table == "qi":
                columns = (*self.quasi_identifiers, *self.beside)
            found.update(dict.fromkeys(columns, self.tables[file.name]))
        return found

    def labels_in(self, linked: LinkedTables) -> list[int]:
        """Return the published label of each group of some of its tables, as those number them."""
        found: dict[int, int] = {}
        for table, groups in zip(linked.tables, linked.groups, strict=True):
            labels = _numbers(table.column(str(linked.group)).values)
            found.update(zip(groups.tolist(), labels[table.codes[0]].tolist(), strict=True))
        return [found[group] for group in range(len(found))]


@dataclass(frozen=True, eq=False, kw_only=True)
class PublishedGroups(PublishedTables):
    """A release in groups of people with the same quasi-identifiers."""

    @property
    def kind(self) -> type[Kind]:
        """The facts of its kind."""
        from sfumato.decouplings import BreakMerge

        return BreakMerge if self.manifest is None else super().kind

    def _own_roles(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        known = tuple(column.name for column in self.groups.quasi_identifiers)
        columns = [column.name for table in self.groups.sensitive for column in table.columns]
        return known, tuple(name for name in columns if name not in self.plain)

    @cached_property
    def groups(self) -> GroupedTables:
        """The groups: as they were made, or read from the tables."""
        return self.read_groups() if self.known_groups is None else self.known_groups

    def read_groups(self) -> GroupedTables:
        """Read the tables: their counts are exactly those they were made of."""
        manifest = self.manifest
        assert manifest is not None  # noqa: S101 - groups without one are known
        files = {column: file for file in manifest.linked_files for column in _columns_in(file)}
        names, group = manifest.with_role("quasi-identifier"), str(manifest.group)
        counts = self.people.count([group, *names])
        # Groups are numbered in the order of their quasi-identifiers, whatever their labels are.
        order = np.lexsort(counts.codes[:0:-1])
        ids = _whole(counts, group)[order]
        if len(set(ids.tolist())) < len(ids):
            raise _apart()
        wanted = dict.fromkeys(_columns_in(files[n]) for n in manifest.with_role("sensitive"))
        sensitive = [
            _sensitive(self.tables[files[names[0]].name], names, manifest, ids) for names in wanted
        ]
        sizes = counts.rows[order]
        for table in sensitive:
            if not np.array_equal(np.bincount(table.group, table.rows, len(ids)), sizes):
                raise _apart()
        return GroupedTables(
            counts.columns[1:], counts.codes[1:, order], sizes, tuple(sensitive), ids
        )

    @property
    def people(self) -> Table:
        """The table of the quasi-identifiers."""
        assert self.manifest is not None  # noqa: S101 - groups without one have no tables
        return next(self.tables[file.name] for file in self.manifest.files if file.table == "qi")

    def labels_in(self, linked: LinkedTables) -> list[int]:
        """Return the published label of each group."""
        labels = self.groups.labelled.tolist()
        return [labels[number] for number in super().labels_in(linked)]

    def counts(self, columns: Sequence[str]) -> LinkedTables:
        """Count those of some columns that each table has."""
        _require(columns, *self._own_roles(), self.plain)
        return LinkedTables.of(self.groups, columns, self._count_people(columns))

    @property
    def left_people(self) -> dict[tuple[str | None, ...], int]:
        """Of which groups it is said how many of the people counted have left, and how many."""
        increment = None if self.manifest is None else self.manifest.increment
        said = () if increment is None or increment.left is None else increment.left
        return {each.group: each.people for each in said}

    def _count_people(self, columns: Sequence[str]) -> FrequencySet | None:
        """Count the people of each group by some columns; None if the groups tell all of it."""
        if not {*columns} & {*self.beside}:
            return None
        names = [name for name in (*self.quasi_identifiers, *self.beside) if name in columns]
        counts = self.people.count([str(self.record and self.record.group), *names])
        ids, labels = self.groups.labelled, _numbers(counts.columns[0].values)
        order = np.argsort(ids)
        at = order[np.minimum(np.searchsorted(ids, labels, sorter=order), len(ids) - 1)]
        if not np.array_equal(ids[at], labels):
            raise _apart()
        codes = counts.codes.copy()
        codes[0] = at[codes[0]]
        return FrequencySet(counts.columns, codes, counts.rows)


@dataclass(frozen=True, eq=False, kw_only=True)
class PublishedBuckets(PublishedTables):
    """A release in buckets of people with different quasi-identifiers."""

    record: Manifest

    @property
    def manifest(self) -> Manifest:
        """The manifest of the release."""
        return self.record

    @property
    def _group(self) -> str:
        return str(self.manifest.group)

    @property
    def _count(self) -> str:
        return str(self.manifest.count)

    def counts(self, columns: Sequence[str]) -> LinkedTables:
        """Count those of some columns that each table has."""
        files = self.manifest.files
        held = [self._columns_of(file) for file in files]
        _require(columns, *held)
        found = [
            self._counts_of(file, *wanted, *([] if file.table == "qi" else [self._count]))
            for file, names in zip(files, held, strict=True)
            if (wanted := [name for name in names if name in columns])
        ]
        return LinkedTables(tuple(found), self._group, self._count)

    def _counts_of(self, file: FileRecord, *columns: str) -> FrequencySet:
        """Count a table, with the column that links it to the others; once for all who ask."""
        asked = (file.name, *columns)
        if asked not in self._counted:
            self._counted[asked] = self.tables[file.name].count([self._group, *columns])
        return self._counted[asked]

    @cached_property
    def _counted(self) -> dict[tuple[str, ...], FrequencySet]:
        """The tables that were counted, by file and columns."""
        return {}

    def _columns_of(self, file: FileRecord) -> tuple[str, ...]:
        if file.table == "qi":
            return (*self.manifest.with_role("quasi-identifier"), *self.beside)
        return _columns_in(file)


@dataclass(frozen=True, eq=False, kw_only=True)
class UnreadableRelease(Published):
    """A release that can be verified, which says what is wrong with it, and nothing else."""

    fault: str
    """What is wrong with it. Not the error: its traceback would keep a connection open."""

    @property
    def manifest(self) -> NoReturn:
        """Never there: the fault is raised."""
        raise InputError(self.fault)

    @property
    def table(self) -> NoReturn:
        """Never there: the fault is raised."""
        raise InputError(self.fault)

    @property
    def groups(self) -> NoReturn:
        """Never there: the fault is raised."""
        raise InputError(self.fault)

    def counts(self, columns: Sequence[str]) -> NoReturn:
        """Raise what is wrong with it."""
        raise InputError(self.fault)

    def estimator(self, columns: Sequence[Column], ladders: Mapping[str, Ladder]) -> NoReturn:
        """Raise what is wrong with it."""
        raise InputError(self.fault)

    def _sources(self) -> NoReturn:
        raise InputError(self.fault)


def open_release(  # noqa: PLR0911 - one for each kind of thing
    what: object,
    policy: GivenPolicy | None = None,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    people_file: object = None,
) -> Published:
    """Open a release of any kind, or a plain table, wherever it is.

    Args:
        what: What `sf.anonymize` or `sf.decouple` gave, the folder of a release, a table of a
            database, the groups of a decoupled release, or a table in a file or in memory.
        policy: Where roles and promises of a plain table come from: a policy, its path, or its
            settings as a mapping.
        quasi_identifiers: The columns others may know; None takes those of the release, else
            those of the policy.
        sensitive: The columns that should not become known, likewise.
        people_file: The people file of a release that counts people, or a table of the same; None
            takes what `sf.anonymize` left in the release that it gave.

    Example:
        >>> import pyarrow as pa
        >>> table = pa.table({"age": ["30s", "40s"], "ill": ["flu", "gout"]})
        >>> release = open_release(table, quasi_identifiers=["age"], sensitive=["ill"])
        >>> release.columns, release.manifest
        (('age', 'ill'), None)
    """
    policy = policy_of(policy)
    if isinstance(what, Published):
        same = quasi_identifiers is None and sensitive is None and people_file is None
        if same and policy in (None, what.policy):
            return what
        people_file = what.people_file if people_file is None else people_file
        what = what.given
    if people_file is None and isinstance(what, Release):
        people_file = what.people
    more: dict[str, Any] = {
        "given": what,
        "policy": policy,
        "named": Roles(quasi_identifiers, sensitive),
        "people_file": people_file,
    }
    if isinstance(what, GroupedTables):
        return PublishedGroups(known_groups=what, sources={}, **more)
    if isinstance(what, DecoupledRelease):
        return _open_decoupled(what, more)
    if isinstance(what, Release):
        return _open_table(what, more)
    if is_stored(what):
        return _open_stored(what, more)
    if isinstance(what, str | PathLike) and Path(what).expanduser().is_dir():
        return _open_folder(Path(what).expanduser(), more)
    return PublishedTable(data=what, **more)


_UNSEEN = "not to be seen in the files: how it was made, how many rows were removed"


def _with_levels(
    verdict: Verdict, manifest: Manifest, policy: Policy, labels: Mapping[str, Sequence[Value]]
) -> Verdict:
    """Return a verdict whose check of the policy looks at the published labels too."""
    starred = manifest.rows.suppression == "star"
    method = manifest.method_name if manifest.kind is None else ""
    if method == REGIONAL and manifest.method and manifest.method.get("refined"):
        # Where a class was generalised further, its labels may be above those of another.
        method = FULL_DOMAIN
    found = compare_levels(policy, labels, method, starred=starred)
    # What labels do not show, a manifest can at least not deny.
    claimed = [
        f"{name!r} is at level {level}, the policy allows {rule.levels[0]} to {rule.levels[1]}"
        for name, level in manifest.levels.items()
        if (rule := policy.columns.get(name)) is not None
        and rule.levels is not None
        and not rule.levels[0] <= level <= rule.levels[1]
    ]
    unseen = f", the levels of {some(found.unseen)}" if found.unseen else ""
    wrong = [*found.wrong, *([] if found.wrong else claimed)]

    def complete(check: Check) -> Check:
        if check.name != "policy":
            return check
        if not wrong:
            detail = check.detail or f"{_UNSEEN}{unseen}"
            return replace(check, detail=detail)
        details = [check.detail, *wrong] if check.status != "holds" else wrong
        return replace(check, status="broken", detail="; ".join(details))

    return Verdict(tuple(map(complete, verdict.checks)))


def _open_table(what: Release, more: Mapping[str, Any]) -> Published:
    data = what.table if what.place is None else what.source
    if what.folder is not None:
        data = file_in(what.folder, what.manifest.files[0])
    stored = None if what.place is None else what.source
    where = {"folder": what.folder, "stored": stored, **more}
    found = _one_table(data, what.manifest, where)
    if isinstance(found, PublishedTable) and found.data is data:
        return replace(found, known=what.domains, counted=what.counted)
    return found


def _one_table(data: object, manifest: Manifest, more: Mapping[str, Any]) -> Published:
    """Return a release in one piece; numbers in place of labels are labels again."""
    if has_numbers(manifest) and manifest.rows.published:
        try:
            means = means_in(data, manifest)
            data, manifest = with_labels(data, manifest)
        except (SfumatoError, LookupError) as fault:
            text = f"its columns are not those of its manifest: {fault}"
            return UnreadableRelease(fault=text, **more)
        return PublishedTable(data=data, record=manifest, means=means, **more)
    return PublishedTable(data=data, record=manifest, **more)


def _open_decoupled(what: DecoupledRelease, more: Mapping[str, Any]) -> Published:
    """Open the tables that were made; groups need not be read again."""
    sources = what.tables or {}
    if what.folder is not None:
        sources = {file.name: file_in(what.folder, file) for file in what.manifest.files}
    stored = None if what.place is None else next(iter(sources.values()))
    where = {"folder": what.folder, "stored": stored, **more}
    return _tables(what.manifest, sources, where, what.grouped)


def _tables(
    manifest: Manifest,
    sources: Mapping[str, object],
    more: Mapping[str, Any],
    grouped: GroupedTables | None = None,
) -> Published:
    """Return a decoupled release of any kind."""
    if kind_of(manifest.kind).in_one_piece:
        [(name, data)] = sources.items()
        return PublishedTable(data=data, called=name, record=manifest, **more)
    if kind_of(manifest.kind).keeps_classes:
        return PublishedGroups(known_groups=grouped, sources=sources, record=manifest, **more)
    return PublishedBuckets(known_groups=grouped, sources=sources, record=manifest, **more)


def _open_stored(what: object, more: Mapping[str, Any]) -> Published:
    # One connection for all that follows, and no other state of the table in between.
    table = open_stored(what)
    text = None if table is None else table.manifest()
    if table is None or text is None:
        return PublishedTable(data=table, stored=table, **more)
    try:
        manifest = Manifest.read_stored(text)
        if manifest.kind is None:
            return PublishedTable(data=table, stored=table, record=manifest, **more)
        return _tables(manifest, tables_of(table, manifest), {"stored": table, **more})
    except InputError as fault:
        return UnreadableRelease(fault=str(fault), stored=table, **more)


def _open_folder(folder: Path, more: Mapping[str, Any]) -> Published:
    if not (folder / MANIFEST).is_file():
        return PublishedTable(data=folder, folder=folder, **more)
    try:
        manifest = Manifest.read_folder(folder)
    except InputError as fault:
        return UnreadableRelease(fault=str(fault), folder=folder, **more)
    sources = {file.name: file_in(folder, file) for file in manifest.files}
    if manifest.kind is not None:
        return _tables(manifest, sources, {"folder": folder, **more})
    if len(sources) == 1:
        [data] = sources.values()
        return _one_table(data, manifest, {"folder": folder, **more})
    several = f"{str(folder)!r} has more than one data file; give one of them"
    return UnreadableRelease(fault=several, folder=folder, **more)


def count_columns(
    data: object, columns: Sequence[str], policy: Policy | None = None
) -> FrequencySet:
    """Count the columns of a table; a frequency set is taken as it is.

    Args:
        data: The table.
        columns: What is counted.
        policy: What says how its dates are written and what is derived of it, if it is an original.
    """
    if isinstance(data, FrequencySet):
        return data
    return open_original(data, policy, columns).count(tuple(dict.fromkeys(columns)))


def require_alike(releases: Mapping[str, Published], columns: Sequence[str]) -> None:
    """Raise if one of several releases lacks a column that is compared."""
    for name, release in releases.items():
        lacking = [column for column in columns if column not in release.columns]
        if lacking:
            raise ParameterError(
                "releases",
                name,
                "releases that all have the columns that are compared",
                why=f"it has no {some(lacking)}. Name columns that all of them have: "
                "quasi_identifiers (--qi) and sensitive (--sensitive)",
            )


# Reading groups of people with the same quasi-identifiers from their tables.


def _columns_in(file: FileRecord) -> tuple[str, ...]:
    """Return the columns of a table besides the group and the count; none of that of people."""
    return file.columns or (() if file.column is None else (file.column,))


def _sensitive(
    table: Table, names: Sequence[str], manifest: Manifest, ids: IntArray
) -> SensitiveTable:
    group_name, count = str(manifest.group), str(manifest.count)
    counts, joint, column = table.count([group_name, *names, count]), None, names[0]
    if len(names) > 1:
        counts, joint = join_columns(counts, names)
        column = joint.column.name
    given = _whole(counts, group_name)
    by_label = np.argsort(ids)
    at = np.minimum(np.searchsorted(ids, given, sorter=by_label), len(ids) - 1)
    group = by_label[at]
    if not np.array_equal(ids[group], given):
        raise _apart()
    value = counts.codes_of(column)
    order = np.lexsort((value, group))
    rows = _whole(counts, count)
    return SensitiveTable(counts.column(column), group[order], value[order], rows[order], joint)


def _whole(counts: FrequencySet, name: str) -> IntArray:
    """Read a column of whole numbers, which a CSV file holds as text."""
    numbers = _numbers(counts.column(name).values)
    found: IntArray = numbers[counts.codes_of(name)]
    return found


def _numbers(values: Sequence[Value]) -> IntArray:
    try:
        return np.array([int(str(value)) for value in values], dtype=np.int64)
    except (ValueError, OverflowError):
        raise _apart() from None


def _apart() -> InputError:
    return InputError(
        "the tables do not belong together. See what is wrong with them: sfumato verify."
    )


def _require(names: Sequence[str], *known: Sequence[str]) -> None:
    """Raise if a column is in none of the tables."""
    every = [name for each in known for name in each]
    for name in names:
        if name not in every:
            raise UnknownColumnError(name, every, where="the published tables")


def _of_occurring(counts: FrequencySet) -> FrequencySet:
    """Return counts without combinations that no row has any more, and their values."""
    some = counts.without(counts.rows == 0)
    values, codes = [], np.empty_like(some.codes)
    for position, column in enumerate(some.columns):
        used, codes[position] = np.unique(some.codes[position], return_inverse=True)
        values.append([column.values[code] for code in used])
    return FrequencySet.from_codes(some.names, values, codes, some.rows)
