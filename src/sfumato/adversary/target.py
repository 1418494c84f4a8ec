"""A release of any kind as an adversary sees it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.attacks import Matcher, Outside, Target, matcher
from sfumato.checks import names_in
from sfumato.classes import overlapping
from sfumato.counts import Column, FrequencySet
from sfumato.decouplings import kind_of
from sfumato.decouplings.base import Kind, LinkedTables
from sfumato.errors import InputError, ParameterError
from sfumato.hierarchy import Hierarchy, Ladder
from sfumato.hierarchy.labels import Labels
from sfumato.models.categories import read_categories
from sfumato.policy import Missing, Policy
from sfumato.recode.problem import ladders_of
from sfumato.releases.manifest import Manifest, Promise
from sfumato.releases.opening import (
    Published,
    Subject,
    counted,
    manifest_of,
    parts_of,
    published,
    without_starred,
)
from sfumato.tables import open_table
from sfumato.text import text_of


def target_of(
    what: object,
    policy: Policy | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
) -> Target:
    """Open a release, its folder or a plain table, and group its people as it shows them.

    In a table of another publisher, rows whose quasi-identifiers are all `*` are suppressed ones:
    they could be anybody's, so no person is looked for there, unless all rows are like that. A
    release of ours says which rows are suppressed; its other rows are a class whatever they show.
    """
    manifest = manifest_of(what)
    if manifest is not None and manifest.kind is not None:
        _refuse_others(manifest, "quasi_identifiers", "quasi-identifier", quasi_identifiers)
        _refuse_others(manifest, "sensitive", "sensitive", sensitive)
    ladders = _Ladders(policy, {} if manifest is None else manifest.hierarchies)
    kind = kind_of(None if manifest is None else manifest.kind)
    if kind is not Kind and kind.keeps_classes:
        parts = parts_of(what)
        assert parts is not None  # noqa: S101 - its manifest says that it has parts
        columns = [table.column for table in parts[0].sensitive]
        target = Target.of_grouped(kind.name, parts[0], ladders.of(columns))
    else:
        found = published(what, quasi_identifiers, sensitive, policy)
        names = (*found.quasi_identifiers, *found.sensitive)
        if manifest is not None and manifest.kind is not None:
            counted = found.counted(_columns_needed(manifest, names, found.sensitive))
            target = _buckets(str(manifest.kind), counted, found.sensitive, ladders)
        else:
            target = _table(found.counted(names).tables[0], found, manifest, ladders)
    if manifest is not None:
        models: Sequence[Promise] = manifest.models
        missing = manifest.missing
    else:
        models = [] if policy is None else [Promise.of(model) for model in policy.models]
        missing = (Missing.OWN_VALUE if policy is None else policy.missing).value
    target = _promising(target, models)
    matches_any = target.counts is not None and missing == Missing.MATCHES_ANY.value
    return _overlapping(target) if matches_any else target


def _refuse_others(manifest: Manifest, name: str, role: str, given: Sequence[str] | None) -> None:
    """Raise an error for roles that are not those by which a table was taken apart."""
    own = list(manifest.with_role(role))
    if given is not None and {*names_in(name, given)} != {*own}:
        raise ParameterError(
            name,
            list(given),
            f"left out, or {own}",
            why="its roles decide how a table is decoupled",
        )


def _table(
    table: FrequencySet,
    found: Published,
    manifest: Manifest | None,
    ladders: "_Ladders",
) -> Target:
    roles = found.quasi_identifiers, found.sensitive
    counts = without_starred(table, Subject(None, *roles, manifest=manifest))
    bound = ladders.of([counts.column(name) for name in found.sensitive])
    target = Target.of_table(counts, *roles, bound)
    if manifest is not None or target.silent.all() or not target.silent.any():
        return target
    return target.keep(~target.silent)


def _texts(categories: object) -> tuple[tuple[str, ...], ...]:
    """Write values as a manifest does: by that they are compared, and a stranger's may be any."""
    return tuple(tuple(map(text_of, each)) for each in read_categories(categories))


def _promising(target: Target, models: Sequence[Promise]) -> Target:
    """Attach what is promised, and the categories of values that promises go by."""
    categories = {
        (str(model.column), _texts(model.settings["categories"])): None
        for model in models
        if "categories" in model.settings and model.column in target.sensitive
    }
    promised = tuple(model.model for model in models)
    return replace(target, promised=promised, categories=tuple(categories))


@dataclass(frozen=True)
class _Ladders:
    """Where the hierarchies of sensitive columns come from: the policy, or the release."""

    policy: Policy | None
    published: Mapping[str, Mapping[str, Sequence[str]]]

    def of(self, columns: Sequence[Column]) -> dict[str, Ladder]:
        found = {column.name: self._ladder(column) for column in columns if column.known}
        return {name: ladder for name, ladder in found.items() if ladder is not None}

    def _ladder(self, column: Column) -> Ladder | None:
        name = column.name
        if name in self.published:
            paths = self.published[name]
            hierarchy = Hierarchy.from_paths(list(paths), list(paths.values()))
            return hierarchy.bind(name, column.known)
        described = self.policy.columns.get(name) if self.policy is not None else None
        if described is None or described.hierarchy is None:
            return None
        return described.hierarchy.build(name, column.known).bind(name, column.known)


def _overlapping(target: Target) -> Target:
    """Make the classes overlap: a missing value matches every value."""
    absent = np.array([column.missing for column in target.columns])[:, None]
    labels = target.labels.astype(np.int64)
    classes = overlapping(labels, labels == absent, target.classes, own_reference=False)
    return replace(target, classes=classes)


def _columns_needed(
    manifest: Manifest, names: Sequence[str], sensitive: Sequence[str]
) -> list[str]:
    """Return the columns in the sensitive column's table; other tables have most of the rows."""
    tables = [set(file.columns or [str(file.column)]) for file in manifest.files]
    beside = set().union(*(columns for columns in tables if columns & {*sensitive}))
    elsewhere = {column.name for column in manifest.columns} - beside if beside else set()
    return [name for name in names if name not in elsewhere]


def _buckets(
    kind: str, counted: LinkedTables, sensitive: Sequence[str], ladders: _Ladders
) -> Target:
    """Build the target from the sensitive table; a group is a bucket and quasi-identifiers."""
    [name] = sensitive
    [table] = [each for each in counted.tables if name in each.names]
    known = [each for each in counted.names(table) if each != name]
    group, count = str(counted.group), str(counted.count)
    rows = table.rows * _whole(table.column(count))[table.codes_of(count)]
    people = FrequencySet(table.columns, table.codes, rows).project((group, *known, name))
    bound = ladders.of([people.column(name)])
    target = Target.of_table(people, (group, *known), (name,), bound)
    # What stands in one row belongs to one person only up to the sensitive column's table.
    return replace(target, kind=kind, counts=None)


def _whole(column: Column) -> np.ndarray:
    """Read a column of whole numbers, which a CSV file holds as text."""
    try:
        return np.array([int(str(value)) for value in column.values], dtype=np.int64)
    except (ValueError, OverflowError):
        raise InputError(
            f"the column {column.name!r} of a decoupled release must hold whole numbers. "
            "See what is wrong with it: sfumato verify."
        ) from None


# What an adversary has besides a release: a list of people, or those who are in the data.


def with_list(
    target: Target,
    release: Published,
    people: object,
    policy: Policy | None = None,
    *,
    names: Sequence[str] | None = None,
) -> Target:
    """Return an adversary a list of people to link with the release; see `Linking`.

    Args:
        target: The release as it is attacked.
        release: The same, opened.
        people: A table of raw values with some of the quasi-identifiers. All its columns but the
            sensitive ones tell who a person is.
        policy: The policy the release was made with; its hierarchies say what labels stand for.
        names: The columns of the list that are looked at; None takes all but the sensitive ones.

    Example:
        >>> import pyarrow as pa
        >>> from sfumato.attacks import Linking
        >>> from sfumato.releases.opening import published
        >>> from sfumato.adversary.target import target_of
        >>> table = pa.table({"zip": ["1305*", "2407*"], "ill": ["flu", "hiv"]})
        >>> drivers = pa.table({"name": ["David", "Rajesh"], "zip": ["13053", "24078"]})
        >>> target = target_of(table, None, ["zip"], ["ill"])
        >>> target = with_list(target, published(table, ["zip"], ["ill"], None), drivers)
        >>> print(Linking("journalist").on(target, 0.75).worst[1])
        zip=2407* (1): the row is of Rajesh, 24078, 50 % before, 100 % after
    """
    table = open_table(people)
    if names is None:
        names = [name for name in table.columns if name not in release.sensitive]
    counts = table.count(names)
    shared = [name for name in target.quasi_identifiers if name in names]
    if not shared:
        raise ParameterError(
            "outside",
            list(names),
            f"a list with some of the columns {list(target.quasi_identifiers)}",
        )
    ladders = ladders_of(policy, counts, shared)
    return replace(target, outside=Outside.of(counts, target, ladders, release.levels))


def with_members(
    target: Target, release: Published, original: object, policy: Policy | None = None
) -> Target:
    """Attach the original people to the target, for the membership attack; see `Membership`.

    Args:
        target: The release as it is attacked.
        release: The same, opened.
        original: The table it was made of.
        policy: The policy it was made with; its hierarchies say what labels stand for.

    Example:
        >>> import pyarrow as pa
        >>> from sfumato.releases.opening import published
        >>> from sfumato.adversary.target import target_of
        >>> original = pa.table({"age": [31, 38], "ill": ["flu", "hiv"]})
        >>> coarse = pa.table({"age": ["31-38"] * 2, "ill": ["flu", "hiv"]})
        >>> opened = published(coarse, ["age"], ["ill"], None)
        >>> target = with_members(target_of(coarse, None, ["age"], ["ill"]), opened, original)
        >>> target.people.total, target.matcher.matches(target.people.codes).tolist()
        (2, [1, 1])
    """
    names = release.quasi_identifiers
    people = counted(original, names).project(names)
    ladders = ladders_of(policy, people, names)
    found = matcher_of(people, _looked_into(target, release), ladders)
    return replace(target, people=people, matcher=found)


def _looked_into(target: Target, release: Published) -> Published:
    """Remove the rows that the attacks leave out: `*` alone fits real people and fakes alike."""
    if target.counts is None or target.silent.any():
        return release

    def count_shown(names: Sequence[str]) -> LinkedTables:
        [table] = release.counted(names).tables
        every = Target.of_table(table, tuple(names), ())
        kept = every.keep(~every.silent).counts
        return LinkedTables(() if kept is None else (kept,))

    return release._replace(counted=count_shown)


def matcher_of(people: FrequencySet, release: Published, ladders: Mapping[str, Ladder]) -> Matcher:
    """Read the groups of a release that a row written in raw values can be held against."""
    shown = release.counted(people.names)
    tables = tuple(
        table.project([*([] if shown.group is None else [shown.group]), *shown.names(table)])
        for table in shown.tables
    )
    return matcher(people, LinkedTables(tables, shown.group), Labels(ladders, release.levels))
