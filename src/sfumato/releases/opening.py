"""What a task looks at: a release or a table, and what its columns are."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sfumato.checks import names_in
from sfumato.classes import EquivalenceClasses, classes_from
from sfumato.counts import Column, FrequencySet, align, group
from sfumato.decouplings import BreakMerge, kind_of
from sfumato.decouplings.base import GroupedTables, Kind, LinkedTables, SensitiveTable
from sfumato.errors import InputError, ParameterError, PolicyError, UnknownColumnError, some
from sfumato.hierarchy import Ladder
from sfumato.hierarchy.labels import Labels
from sfumato.models import PrivacyModel
from sfumato.policy import GivenPolicy, Policy, RiskLevels, policy_of
from sfumato.releases.manifest import MANIFEST, FileRecord, Manifest, Promise, promised_class_size
from sfumato.releases.release import Decoupled, Release
from sfumato.releases.stored import is_stored, manifest_beside, shown, stored_tables
from sfumato.tables import Table, open_table
from sfumato.text import STAR
from sfumato.typing import IntArray, Value
from sfumato.usefulness import Estimator


class Subject(NamedTuple):
    """A table and the roles of its columns."""

    data: object
    """What `open_table` takes."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    k: int | None = None
    """The largest k that is promised."""

    manifest: Manifest | None = None
    """What the release says of itself, if it is one."""

    policy: Policy | None = None
    """Where the roles come from, if it is none."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The quasi-identifiers and then the sensitive columns."""
        return (*self.quasi_identifiers, *self.sensitive)


def subject_of(
    data: object,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    policy: GivenPolicy | None = None,
) -> Subject:
    """Find the roles: those named, else the release's own, else the policy's."""
    policy = policy_of(policy)
    if isinstance(data, Decoupled):
        raise decoupled_already("this")
    if isinstance(data, Release):
        found = _of_manifest(data.manifest, _table_of(data))
    elif (beside := manifest_beside(data)) is not None:
        if beside.kind is not None:
            raise decoupled_already(repr(shown(data)))
        found = _of_manifest(beside, data)
    elif isinstance(data, str | PathLike) and (Path(data).expanduser() / MANIFEST).is_file():
        found = _of_folder(Path(data).expanduser())
    elif policy is not None:
        k = promised_class_size(map(Promise.of, policy.models))
        found = Subject(data, policy.quasi_identifiers, policy.sensitive, k, policy=policy)
    else:
        found = Subject(data, (), ())
    if quasi_identifiers is not None:
        found = found._replace(quasi_identifiers=names_in("quasi_identifiers", quasi_identifiers))
    if sensitive is not None:
        found = found._replace(sensitive=names_in("sensitive", sensitive))
    _check(found)
    return found


def manifest_of(what: object) -> Manifest | None:
    """Give what a release says of itself, as it is written; None for anything else."""
    if isinstance(what, Release | Decoupled):
        return what.manifest
    if is_stored(what):
        return manifest_beside(what)
    if not isinstance(what, str | PathLike):
        return None
    path = Path(what).expanduser() / MANIFEST
    return Manifest.read_folder(path.parent) if path.is_file() else None


def decoupled_already(what: str) -> InputError:
    """Say that rows are asked for where there are none any more."""
    return InputError(
        f"{what} is a decoupled release: its rows cannot be put together again. "
        "Give the release it was made of."
    )


def _check(found: Subject) -> None:
    both = set(found.quasi_identifiers) & set(found.sensitive)
    if both:
        raise ParameterError(
            "sensitive",
            list(found.sensitive),
            f"other columns than the quasi-identifiers; {some(both)} cannot be both",
        )
    if not found.quasi_identifiers and not found.sensitive:
        raise ParameterError(
            "quasi_identifiers",
            None,
            "the columns that others may know",
            why="nothing says what the columns are. Give a release, a policy (-p policy.yaml), or "
            "the roles: quasi_identifiers=['age', 'zip'], sensitive=['illness']",
        )


def _table_of(release: Release) -> object:
    if release.folder is None:
        return release.table if release.place is None else release.source
    return release.folder / release.manifest.files[0].name


def _of_folder(folder: Path) -> Subject:
    manifest = Manifest.read_folder(folder)
    if manifest.kind is not None:
        raise decoupled_already(repr(str(folder)))
    if len(manifest.files) != 1:
        raise InputError(f"{str(folder)!r} has more than one data file; give one of them")
    return _of_manifest(manifest, folder / manifest.files[0].name)


def _of_manifest(manifest: Manifest, data: object) -> Subject:
    known, sensitive = manifest.with_role("quasi-identifier"), manifest.with_role("sensitive")
    return Subject(data, known, sensitive, manifest.k, manifest=manifest)


def risk_levels_of(policy: Policy | None, manifest: Manifest | None) -> RiskLevels:
    """Find the publisher's risk levels: the policy's, or those the release was made with."""
    if policy is not None:
        return policy.risk_levels
    # A manifest may be a stranger's.
    try:
        given = None if manifest is None else manifest.risk_levels
        return RiskLevels.read({} if given is None else given)
    except (PolicyError, ValueError) as error:
        raise InputError(f"the manifest's risk_levels cannot be used: {error}") from None


# Reading a decoupled release again, as counts.


class Opened(NamedTuple):
    """The tables of a decoupled release, and what they hold."""

    manifest: Manifest
    tables: Mapping[str, Table]
    """By the name of the file."""

    grouped: GroupedTables

    @property
    def likes(self) -> dict[str, Table]:
        """Per column, the table that has it."""
        names = self.manifest.with_role("quasi-identifier")
        found = {}
        for file in self.manifest.files:
            columns = names if file.table == "qi" else (str(file.column),)
            found.update(dict.fromkeys(columns, self.tables[file.name]))
        return found


def open_grouped(folder: Path) -> Opened:
    """Read the folder of a decoupled release: its counts are exactly those it was made of."""
    if not (folder / MANIFEST).is_file():
        raise InputError(
            f"there is no {MANIFEST} in {str(folder)!r}. Give the folder of a decoupled release."
        )
    manifest = Manifest.read_folder(folder)
    if manifest.kind is None:
        raise InputError(
            f"{str(folder)!r} is a release in one table: there is nothing to put together. "
            "Decouple it first: sfumato decouple."
        )
    return opened({file.name: folder / file.name for file in manifest.files}, manifest)


def opened(sources: Mapping[str, object], manifest: Manifest) -> Opened:
    """Read tables, wherever they are, by the names that the manifest has for them."""
    require_grouped(manifest.kind)
    tables = {file.name: open_table(sources[file.name]) for file in manifest.files}
    [people] = [file.name for file in manifest.files if file.table == "qi"]
    by_column = {file.column: tables[file.name] for file in manifest.files if file.column}
    names = manifest.with_role("quasi-identifier")
    counts = tables[people].count([str(manifest.group), *names])
    # Groups are numbered in the order of their quasi-identifiers, whatever their labels are.
    order = np.lexsort(counts.codes[:0:-1])
    ids = _whole(counts, str(manifest.group))[order]
    if len(set(ids.tolist())) < len(ids):
        raise _apart()
    sensitive = [
        _sensitive(by_column[n], n, manifest, ids) for n in manifest.with_role("sensitive")
    ]
    sizes = counts.rows[order]
    for table in sensitive:
        if not np.array_equal(np.bincount(table.group, table.rows, len(ids)), sizes):
            raise _apart()
    grouped = GroupedTables(
        counts.columns[1:], counts.codes[1:, order], sizes, tuple(sensitive), ids
    )
    return Opened(manifest, tables, grouped)


def require_grouped(kind: str | None) -> None:
    """Refuse a release whose groups are not people with the same quasi-identifiers."""
    if kind is None or not kind_of(kind).keeps_classes:
        raise InputError(
            f"this needs a release decoupled by {BreakMerge.name!r}, and this one is by {kind!r}: "
            "its groups are not people with the same quasi-identifiers. What its tables tell is "
            "in its own schema.sql and in what sf.verify finds."
        )


def _sensitive(table: Table, column: str, manifest: Manifest, ids: IntArray) -> SensitiveTable:
    group_name, count = str(manifest.group), str(manifest.count)
    counts = table.count([group_name, column, count])
    given = _whole(counts, group_name)
    by_label = np.argsort(ids)
    at = np.minimum(np.searchsorted(ids, given, sorter=by_label), len(ids) - 1)
    group = by_label[at]
    if not np.array_equal(ids[group], given):
        raise _apart()
    value = counts.codes_of(column)
    order = np.lexsort((value, group))
    rows = _whole(counts, count)
    return SensitiveTable(counts.column(column), group[order], value[order], rows[order])


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


def parts_of(data: object) -> tuple[GroupedTables, Manifest] | None:
    """Give the parts of a decoupled release and its manifest; None for anything else."""
    if isinstance(data, Decoupled):
        require_grouped(data.method)
        return data.grouped, data.manifest
    stored = stored_tables(data)
    if stored is not None:
        return opened(stored.tables, stored.manifest).grouped, stored.manifest
    folder = release_folder(data)
    if folder is None or Manifest.read_folder(folder).kind is None:
        return None
    found = open_grouped(folder)
    return found.grouped, found.manifest


def release_folder(data: object) -> Path | None:
    """Give the folder of a release, if it is one."""
    if not isinstance(data, str | PathLike):
        return None
    folder = Path(data).expanduser()
    return folder if (folder / MANIFEST).is_file() else None


# Measure: what privacy models find in a table as it is.


def measure(
    data: object,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    models: Sequence[PrivacyModel] = (),
    *,
    population: object = None,
) -> dict[PrivacyModel, dict[str, float]]:
    """Ask models for the strictest parameters a table keeps, without changing anything.

    A missing value counts as a value of its own. The parameters a model was made with
    do not matter, except those that say what to measure (the `l` of recursive
    (c,l)-diversity, a distance).

    Args:
        data: Anything `sfumato.anonymize` takes, or a frequency set.
        quasi_identifiers: The columns whose combinations are the classes.
        sensitive: The columns the models look at; those they name are added.
        models: What to measure.
        population: A table (or frequency set) of everybody the data was drawn from, for
            models that compare with it.

    Example:
        >>> import pyarrow as pa
        >>> from sfumato.models import DistinctLDiversity, KAnonymity
        >>> table = pa.table({"age": [31, 31, 47, 47], "ill": ["flu", "gout", "flu", "flu"]})
        >>> models = [KAnonymity(2), DistinctLDiversity("ill", l=2)]
        >>> measure(table, ["age"], ["ill"], models)
        {KAnonymity(k=2): {'k': 2}, DistinctLDiversity(column='ill', l=2): {'l': 1}}
    """
    looked_at = [column for model in models for column in model.columns]
    sensitive = tuple(dict.fromkeys([*sensitive, *looked_at]))
    names = tuple(quasi_identifiers)
    counts = counted(data, (*names, *sensitive))
    people = None if population is None else counted(population, names)
    classes = classes_with(counts, names, sensitive, people)
    return {model: model.measure(classes) for model in models}


def counted(data: object, columns: Sequence[str]) -> FrequencySet:
    """Count the columns of a table; a frequency set is taken as it is."""
    if isinstance(data, FrequencySet):
        return data
    return open_table(data).count(tuple(dict.fromkeys(columns)))


def classes_with(
    counts: FrequencySet,
    quasi_identifiers: tuple[str, ...],
    sensitive: tuple[str, ...] = (),
    population: FrequencySet | None = None,
) -> EquivalenceClasses:
    """Group a table by its quasi-identifiers, and count the people of a population there too.

    People whose class the table does not show are left out.

    >>> table = FrequencySet.from_rows(["age"], [(31,), (31,), (47,)])
    >>> people = FrequencySet.from_rows(["age"], [("31",)] * 9 + [("52",)])
    >>> classes_with(table, ("age",), population=people).population.tolist()
    [9, 0]
    """
    if population is None:
        return classes_from(counts, quasi_identifiers, sensitive)
    counts, population = align(counts, population, quasi_identifiers)
    classes = classes_from(counts, quasi_identifiers, sensitive)
    both = [
        np.concatenate([counts.codes_of(name), population.codes_of(name)])
        for name in quasi_identifiers
    ]
    groups = group(both, [len(counts.column(name).values) for name in quasi_identifiers])
    people = np.bincount(
        groups.of_item[len(counts) :], weights=population.rows, minlength=groups.n
    ).astype(np.int64)
    # Groups are in the same order as the classes; those without a row of the table go.
    shown = np.unique(groups.of_item[: len(counts)])
    unseen = int(people.sum() - people[shown].sum())
    return replace(classes, population=people[shown], unseen=unseen)


# What was published of a table, whatever its kind: roles, tables, and what answers questions.


class Published(NamedTuple):
    """A release of any kind."""

    kind: type[Kind]
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    counted: Callable[[Sequence[str]], LinkedTables]
    """Counts those of some columns that each table has; tables with none are left out."""

    levels: Mapping[str, int]
    """The level of each column that was published at one level."""

    def read(self, columns: Sequence[Column], ladders: Mapping[str, Ladder]) -> Estimator:
        """Return what answers queries about the columns of the original.

        Args:
            columns: The columns of the original table.
            ladders: The hierarchies of those that have one.
        """
        tables = self.counted([column.name for column in columns])
        return Estimator(tables, columns, Labels(ladders, self.levels))


def published(
    release: object,
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str] | None,
    policy: Policy | None,
) -> Published:
    """Open a release; the roles that are named win over its own."""
    found = _decoupled(release)
    if found is None:
        return _one_table(release, quasi_identifiers, sensitive, policy)
    if quasi_identifiers is not None:
        found = found._replace(quasi_identifiers=names_in("quasi_identifiers", quasi_identifiers))
    if sensitive is not None:
        found = found._replace(sensitive=names_in("sensitive", sensitive))
    return found


def require_alike(releases: Mapping[str, Published], columns: Sequence[str]) -> None:
    """Refuse to compare releases if one lacks a column, and say which one."""
    for name, release in releases.items():
        known = {*release.quasi_identifiers, *release.sensitive}
        lacking = [column for column in columns if column not in known]
        if lacking:
            raise ParameterError(
                "releases",
                name,
                "releases that all have the columns that are compared",
                why=f"it has no {some(lacking)}. Name columns that all of them have: "
                "quasi_identifiers (--qi) and sensitive (--sensitive)",
            )


def _one_table(
    release: object,
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str] | None,
    policy: Policy | None,
) -> Published:
    found = subject_of(release, quasi_identifiers, sensitive, policy)

    def tables(names: Sequence[str]) -> LinkedTables:
        return LinkedTables((counted(found.data, names).project(names),))

    levels = _levels(found.manifest)
    return Published(Kind, found.quasi_identifiers, found.sensitive, tables, levels)


def _decoupled(release: object) -> Published | None:
    if isinstance(release, GroupedTables):
        return _published_groups(release, None)
    tables = _tables(release)
    if tables is not None and tables.manifest.kind is not None:
        kind = kind_of(tables.manifest.kind)
        if not kind.keeps_classes:
            return _buckets(kind, tables)
    parts = parts_of(release)
    return None if parts is None else _published_groups(*parts)


def _published_groups(grouped: GroupedTables, manifest: Manifest | None) -> Published:
    names = tuple(column.name for column in grouped.quasi_identifiers)

    def tables(wanted: Sequence[str]) -> LinkedTables:
        _require(wanted, names, grouped.names)
        return LinkedTables.of(grouped, wanted)

    kind = kind_of(BreakMerge.name if manifest is None else manifest.kind)
    return Published(kind, names, grouped.names, tables, _levels(manifest))


def _require(names: Sequence[str], *known: Sequence[str]) -> None:
    """Refuse a column that is in none of the tables."""
    every = [name for each in known for name in each]
    for name in names:
        if name not in every:
            raise UnknownColumnError(name, every, where="the published tables")


class _Tables(NamedTuple):
    """The tables of a decoupled release, wherever they are."""

    manifest: Manifest
    sources: Mapping[str, object]
    """By the name of the file."""

    def counts_of(self, file: FileRecord, *columns: str) -> FrequencySet:
        """Count a table, with the column that links it to the others."""
        return open_table(self.sources[file.name]).count([str(self.manifest.group), *columns])


def _tables(release: object) -> _Tables | None:
    if isinstance(release, Decoupled) and release.folder is None:
        return _Tables(release.manifest, release.tables or {})
    stored = stored_tables(release)
    if stored is not None:
        return _Tables(stored.manifest, stored.tables)
    folder = release.folder if isinstance(release, Decoupled) else release_folder(release)
    if folder is None:
        return None
    manifest = Manifest.read_folder(folder)
    return _Tables(manifest, {file.name: folder / file.name for file in manifest.files})


def _buckets(kind: type[Kind], tables: _Tables) -> Published:
    manifest = tables.manifest
    levels = manifest.levels

    def counted_tables(names: Sequence[str]) -> LinkedTables:
        held = [_columns_of(manifest, file) for file in manifest.files]
        _require(names, *held)
        found = [
            tables.counts_of(file, *wanted, *([] if file.table == "qi" else [str(manifest.count)]))
            for file, columns in zip(manifest.files, held, strict=True)
            if (wanted := [name for name in columns if name in names])
        ]
        return LinkedTables(tuple(found), str(manifest.group), str(manifest.count))

    roles = manifest.with_role("quasi-identifier"), manifest.with_role("sensitive")
    return Published(kind, *roles, counted_tables, levels)


def _columns_of(manifest: Manifest, file: FileRecord) -> tuple[str, ...]:
    if file.table == "qi":
        return manifest.with_role("quasi-identifier")
    return (file.columns or ()) if file.column is None else (file.column,)


def _levels(manifest: Manifest | None) -> dict[str, int]:
    """Return the level of each column that has one for all rows."""
    return {} if manifest is None else manifest.levels


# Rows that a release still shows although they are suppressed: every known column is a star.


def without_starred(counts: FrequencySet, subject: Subject) -> FrequencySet:
    """Leave out the suppressed rows that a release still shows; they all look the same."""
    if subject.manifest is None or subject.manifest.rows.suppression != "star":
        return counts
    starred = np.ones(len(counts), dtype=bool)
    for column, codes in zip(counts.columns, counts.codes, strict=True):
        empty = None if column.name in subject.sensitive else STAR
        starred &= np.isin(codes, [i for i, v in enumerate(column.values) if v == empty])
    left = counts.rows.copy()
    left[starred] -= min(int(left[starred].sum()), subject.manifest.rows.suppressed)
    return _of_occurring(FrequencySet(counts.columns, counts.codes, left))


def _of_occurring(counts: FrequencySet) -> FrequencySet:
    """Leave out combinations that no row has any more, and values with them."""
    some = counts.without(counts.rows == 0)
    values, codes = [], np.empty_like(some.codes)
    for position, column in enumerate(some.columns):
        used, codes[position] = np.unique(some.codes[position], return_inverse=True)
        values.append([column.values[code] for code in used])
    return FrequencySet.from_codes(some.names, values, codes, some.rows)
