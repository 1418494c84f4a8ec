"""A release of any kind as an adversary sees it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from os import PathLike

import numpy as np

from sfumato.attacks import (
    EarlierRelease,
    ItemRows,
    Matcher,
    Outside,
    PerturbedRows,
    ReleaseMaker,
    Target,
    WholeRows,
    base,
    matcher,
)
from sfumato.attacks.adversary.claims import chance_claims, randomised_columns
from sfumato.attacks.adversary.flags import (
    NONE,
    OTHERS,
    JoinedColumns,
    read_flags,
    read_numbers,
    read_presence,
    read_together,
    read_unsaid,
    read_unsaid_groups,
)
from sfumato.attacks.amounts import amounts_of
from sfumato.attacks.nearly_exact import NearlyExact, read_columns
from sfumato.attacks.overlap import Face, LabelKnowledge, number_items
from sfumato.attacks.perturbed import BesideColumn, look_at
from sfumato.classes import MISSING, SensitiveColumn, ValueCounts, overlapping
from sfumato.counts import Column, FrequencySet, group, sums
from sfumato.counts.people import ClassPeople
from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import LinkedTables, joint_name
from sfumato.errors import (
    InfeasibleError,
    InputError,
    ParameterError,
    SfumatoError,
    names_in,
    some,
)
from sfumato.harm import HarmRule, Secrecy
from sfumato.hierarchy import Ladder
from sfumato.hierarchy.labels import Labels
from sfumato.models.categories import read_categories
from sfumato.partition import PARTITIONERS
from sfumato.perturbations import Perturbation
from sfumato.policy import ColumnRule, Missing, Policy, Spelling
from sfumato.recode.deciding import count_population, counted_columns, decide, ladders_of
from sfumato.recode.recoded import recode_counts
from sfumato.recode.workshop import Workshop
from sfumato.releases.codebook import WrittenTable
from sfumato.releases.manifest import Manifest, Promise, bind_paths
from sfumato.releases.opening import (
    Published,
    PublishedGroups,
    PublishedTable,
    count_columns,
    open_release,
)
from sfumato.releases.preparing import open_original
from sfumato.releases.release import public_name
from sfumato.schema import Role
from sfumato.tables import open_table
from sfumato.tables.capabilities import OrderedRows, Sets
from sfumato.text import fold_spelling, text_of
from sfumato.typing import FloatArray, IntArray, Value, silent


def target_of(release: Published, *, at_face_value: Sequence[str] = ()) -> Target:
    """Group the people of a release, or of a plain table, as it shows them.

    Rows whose quasi-identifiers are all `*` are a class like others: they are of those people
    who fit no other class. Left out are only suppressed rows that say nothing else either: those
    of a release of ours, which says how many they are, and in a stranger's table rows of stars
    without any sensitive value, unless all rows are like that.

    Args:
        release: The release.
        at_face_value: Columns whose published values are taken for true ones, whatever the
            manifest says of chance.
    """
    manifest = release.manifest
    drawn = {n: m for n, m in randomised_columns(release).items() if n not in at_face_value}
    ladders = _Ladders(release.policy, {} if manifest is None else manifest.hierarchies)
    if manifest is not None and manifest.kind is not None:
        _require_own(manifest, "quasi_identifiers", "quasi-identifier", release.named[0])
        _require_own(manifest, "sensitive", "sensitive", release.named[1])
    if isinstance(release, PublishedTable):
        target = _table(release, ladders, drawn)
    elif manifest is not None and not release.kind.keeps_classes:
        shown = (*release.columns, *release.plain)
        published = cache(lambda: release.counts(shown).fold(release.folded).join(release.together))
        target, *others = [
            replace(_buckets_of(release, manifest, names, ladders), published=published)
            for names in _secrets_of(release) or [[]]
        ]
        others += [_buckets_of(release, manifest, n, ladders, whole=True) for n in release.together]
        others += _said_in_buckets(release, manifest, [target, *others])
        also = [_with_claims(other, release) for other in others]
        target = replace(target, also=tuple(also))
    else:
        groups = release.groups.fold(release.folded)
        columns = [table.column for table in groups.sensitive]
        target = Target.of_grouped(release.kind.name, groups, ladders.of(columns))
        if release.beside:
            shown = (*release.columns, *release.plain)
            published = cache(
                lambda: release.counts(shown).fold(release.folded).join(release.together)
            )
            target = replace(target, published=published)
        others = [_pair_of(release, names, ladders) for names in release.together]
        others += _read_said(target)
        also = [_with_claims(other, release) for other in others]
        target = replace(target, also=tuple(also))
    if manifest is not None and manifest.increment is not None:
        record = manifest.increment
        marks = frozenset(mark for mark in (record.ledger, record.first) if mark is not None)
        target = replace(target, marks=marks, newcomers=record.tables == "newcomers")
    target = _with_claims(target, release)
    target = with_items(target, release)
    if isinstance(release, PublishedTable):
        target = replace(target, whole=_whole_rows(release), also=_read_otherwise(target))
    elif isinstance(release, PublishedGroups) and release.beside and release.quasi_identifiers:
        target = replace(target, whole=_rows_beside(release))
    matches_any = target.counts is not None and release.missing == Missing.MATCHES_ANY.value
    return _overlapping(target) if matches_any else target


def at_face_value(release: Published) -> Target | None:
    """Return a release as it is if what only its manifest says of chance is wrong.

    Published values are true ones then. None if there is no such claim of a sensitive column.

    Example:
        >>> import pyarrow as pa
        >>> from sfumato.releases.opening import open_release
        >>> at_face_value(open_release(pa.table({"age": [30]}), quasi_identifiers=["age"])) is None
        True
    """
    claimed = [claim for claim in chance_claims(release) if claim.open]
    names = tuple(claim.column for claim in claimed)
    if not any(name in release.sensitive for name in names):
        return None
    return target_of(release, at_face_value=names)


def with_items(target: Target, release: Published) -> Target:
    """Attach the rows with their items, if the release has columns of several per row.

    Example:
        >>> import pyarrow as pa
        >>> from sfumato.releases.opening import open_release
        >>> meals = {"role": "set", "separator": ";"}
        >>> policy = Policy(
        ...     columns={"meals": meals}, models=[{"model": "km-anonymity", "k": 2, "m": 1}])
        >>> release = open_release(pa.table({"meals": ["tea;ice", "tea"]}), policy)
        >>> target_of(release).items.baskets.values
        ('ice', 'tea')
    """
    if (
        not release.sets
        or not isinstance(release, PublishedTable)
        or isinstance(release.data, FrequencySet)
    ):
        return target
    columns, codes = (
        OrderedRows.expect(release.table).read(release.columns) if release.columns else ((), None)
    )
    found = Sets.expect(release.table, release.sets).read_items(release.sets)
    first, *others = found.values()
    for other in others:
        first = first.beside(other)
    n = len(release.quasi_identifiers)
    labels = np.empty((0, first.rows), dtype=np.int32) if codes is None else codes
    sensitive = {}
    for column, code in zip(columns[n:], labels[n:], strict=True):
        folded = column.folded if column.name in release.folded else None
        shown = (column, code) if folded is None else (folded.column, folded.codes[code])
        sensitive[column.name] = shown
    promised = [each.settings.get("m") for each in release.promises if "m" in each.settings]
    known = max((m for m in promised if isinstance(m, int) and m > 0), default=None)
    names = tuple(name for name, each in found.items() for _ in each.values)
    items = ItemRows(tuple(columns[:n]), labels[:n], first, names, sensitive, known)
    return replace(target, items=items)


def _whole_rows(release: PublishedTable) -> WholeRows:
    """Return what reads the rows of a release with all their columns."""
    data = release.data
    there = data.names if isinstance(data, FrequencySet) else release.table.columns
    apart = {*release.quasi_identifiers, *release.sets, release.person, release.household}
    if release.policy is not None:
        apart |= {release.policy.counted_person, release.policy.household}

    def read(names: Sequence[str]) -> FrequencySet:
        [counts] = release.counts((*release.quasi_identifiers, *names)).tables
        folded = [name for name in release.folded if name in counts.names]
        return release.without_general_stars(release.without_starred(counts).fold(folded))

    return WholeRows(
        tuple(name for name in there if name not in apart),
        read,
        release.k,
        _general(release),
        cache(lambda: _readings(release, None)),
    )


def _rows_beside(release: PublishedGroups) -> WholeRows:
    """Return what reads the quasi-identifiers of a decoupled release, and what stands beside."""

    def read(names: Sequence[str]) -> FrequencySet:
        wanted = (*release.quasi_identifiers, *names)
        for table in release.counts(wanted).tables:
            if {*wanted} <= {*table.names}:
                return table.project(wanted)
        raise release.lacks_groups()

    readings = cache(lambda: _readings(release, None))
    return WholeRows(release.beside, read, release.k, _general(release), readings)


def _general(release: Published) -> frozenset[str]:
    """Return the quasi-identifiers that were generalised, as far as a manifest says so."""
    records = () if release.manifest is None else release.manifest.known_columns
    general = {c.name for c in records if c.level != 0 and c.height != 0}
    return frozenset(general & {*release.quasi_identifiers})


def _require_own(manifest: Manifest, name: str, role: str, given: Sequence[str] | None) -> None:
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
    release: PublishedTable, ladders: "_Ladders", drawn: Mapping[str, Perturbation]
) -> Target:
    people = release.people
    if people is not None:
        # Suppressed rows are not among those of people.
        readings = nearly_exact_columns(people, drawn)
        people = read_columns(people, readings).fold(release.folded)
        steady = tuple(n for n in release.sensitive if readings.get(n) or n not in drawn)
        people = read_flags(people, [name for name in steady if name not in drawn])
        bound = ladders.of([people.column(n) for n in steady])
        target = Target.of_table(
            people,
            release.quasi_identifiers,
            steady,
            bound,
            person=release.person,
            household=release.household,
        )
        target = replace(target, unread=tuple(sum(_beside(release), ())))
        return _with_perturbed(target, release, drawn)
    beside, unread = _beside(release)
    [counts] = release.counts((*release.columns, *beside)).tables
    readings = nearly_exact_columns(counts, drawn)
    # What chance has changed to the point that it is another value is not what others know.
    beside = tuple(name for name in beside if name in readings or name not in drawn)
    counts = read_columns(counts.project((*release.columns, *beside)), readings)
    counts = release.without_starred(counts).fold(release.folded)
    general = release.generalised
    counts = release.without_general_stars(counts)
    plainly = [n for n in release.sensitive if n not in drawn and n not in general]
    counts = read_flags(counts, plainly)
    # Labels are nodes of a hierarchy, and none is bound to them: each is judged as a value is.
    bound = ladders.of([counts.column(n) for n in release.sensitive if n not in general])
    steady = tuple(n for n in release.sensitive if readings.get(n) or n not in drawn)
    bound = {name: ladder for name, ladder in bound.items() if name in steady}
    target = Target.of_table(counts, release.quasi_identifiers, steady, bound)
    target = replace(target, beside=beside, unread=unread)
    target = _with_perturbed(target, release, drawn)
    if release.manifest is not None or target.silent.all() or not _says_nothing(target):
        return target
    return target.keep(~target.silent)


def _read_otherwise(target: Target) -> tuple[Target, ...]:
    """Return the same people by what else their cells say than the values that they are.

    That is whether they have a value at all, where most have none, each of several numbers, the
    values that are said, where some say that nothing was said, and the values of several columns
    of a kind.
    """
    if target.counts is None:
        return ()
    # Of cells that are one amount or one day, amounts are read as they are.
    several = [n for n, each in target.classes.sensitive.items() if amounts_of(each.column) is None]
    numbers = [_read_from(target, each) for each in read_numbers(target.counts, several)]
    numbers += [
        _with_rules_of_parts(target, each)
        for each in read_together(target.counts, target.quasi_identifiers, several)
    ]
    said = read_unsaid(target.counts, target.sensitive)
    if said is not None:
        numbers.append(_with_rules(_read_from(target, said), target))
    counts = read_presence(target.counts, target.sensitive, target.person)
    if counts is None:
        return tuple(numbers)
    found = _read_from(target, counts)
    sensitive = {}
    for name, each in found.classes.sensitive.items():
        # To have none is what is usual.
        secrecy = [
            Secrecy.HARMLESS if value == NONE else Secrecy.ORDINARY for value in each.column.values
        ]
        column = replace(each.column, secrecy=np.array(secrecy, dtype=np.int64))
        sensitive[name] = replace(each, column=column)
    return (replace(found, classes=replace(found.classes, sensitive=sensitive)), *numbers)


def _read_said(target: Target) -> list[Target]:
    """Return the same groups by the values that are said, where some say that nothing was said."""
    grouped = None if target.grouped is None else read_unsaid_groups(target.grouped)
    if grouped is None:
        return []
    found = Target.of_grouped(target.kind, grouped)
    names = tuple(table.column.name for table in grouped.sensitive)
    # That one column tells another is found on the values.
    found = replace(found, unknown=names, read_from=(target, np.arange(len(found.classes))))
    return [_with_rules(found, target)]


def _with_rules(read: Target, target: Target) -> Target:
    """Say of values that were only taken over what a policy says of them."""
    sensitive = {}
    for name, each in read.classes.sensitive.items():
        said, column = target.classes.sensitive[name].column, each.column
        if said.secrecy is not None:
            known = dict(zip(said.values, said.secrecy.tolist(), strict=True))
            levels = [known.get(value, Secrecy.ORDINARY) for value in column.values]
            column = replace(column, secrecy=np.array(levels, dtype=np.int64))
        sensitive[name] = replace(each, column=replace(column, width=said.width))
    return replace(read, classes=replace(read.classes, sensitive=sensitive))


def _with_rules_of_parts(target: Target, joined: JoinedColumns) -> Target:
    """Say whether what stands in one of several columns is a secret or harmless, if all of it is.

    That it stands in none of them is what is usual.
    """
    read = _read_from(target, joined.rows)
    levels = set()
    for name, text in joined.held_by:
        each = target.classes.sensitive[name].column
        place = [text_of(value) for value in each.values].index(text)
        levels.add(Secrecy.ORDINARY if each.secrecy is None else Secrecy(int(each.secrecy[place])))
    level = levels.pop() if len(levels) == 1 else Secrecy.ORDINARY
    column_read = joined.alike[0]
    counts = read.classes.sensitive[column_read]
    secrecy = [Secrecy.HARMLESS if v == OTHERS else level for v in counts.column.values]
    column = replace(counts.column, secrecy=np.array(secrecy, dtype=np.int64))
    sensitive = {**read.classes.sensitive, column_read: replace(counts, column=column)}
    classes = replace(read.classes, sensitive=sensitive)
    return replace(read, classes=classes, joined=joined.alike)


def _read_from(target: Target, rows: FrequencySet) -> Target:
    """Return the people of a target by columns that were read from theirs, row by row."""
    alike = rows.group_by(rows.names)
    counts = FrequencySet(
        rows.columns, rows.codes[:, alike.first], sums(alike.of_item, rows.rows, alike.n)
    )
    names = tuple(name for name in target.sensitive if name in counts.names)
    found = Target.of_table(
        counts,
        target.quasi_identifiers,
        names,
        person=target.person,
        household=target.household,
    )
    # That one column tells another is found on the values.
    return replace(found, unknown=names, read_from=(target, alike.of_item))


_MANY_VALUES = 50_000
"""A column with more values is nearly a key: to order and count them takes longer than all else."""


def _beside(release: PublishedTable) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the plain columns that others may know, and those that cannot be looked at.

    They are all that is published and neither a quasi-identifier nor sensitive. A release has one
    weight per class, which tells nothing besides the class; its verifier sees to that.
    """
    told_by_class = () if release.manifest is None else (Role.WEIGHT,)
    names = [name for name, role in release.open_columns.items() if role not in told_by_class]
    data = release.data
    if isinstance(data, FrequencySet):
        values = {name: len(data.column(name).values) for name in names}
        # Rows that are only counts may lack columns that are published.
        plain = () if release.manifest is None else release.manifest.with_role("plain")
        names += [name for name in plain if name not in data.names]
    else:
        domains = WrittenTable(release.table, release.known).domains(names) if names else {}
        values = {name: len(domain.rows) for name, domain in domains.items()}
    fits = {name: values.get(name, _MANY_VALUES + 1) <= _MANY_VALUES for name in names}
    return tuple(n for n in names if fits[n]), tuple(n for n in names if not fits[n])


def nearly_exact_columns(
    counts: FrequencySet, drawn: Mapping[str, Perturbation]
) -> dict[str, NearlyExact]:
    """Return the columns that chance has changed so little that they count as they stand.

    Args:
        counts: The published rows.
        drawn: What chance did to which columns.
    """
    there = {name: member for name, member in drawn.items() if name in counts.names}
    read = {name: NearlyExact.read(look_at(counts, name), each) for name, each in there.items()}
    return {name: each for name, each in read.items() if each is not None}


def _with_perturbed(
    target: Target, release: PublishedTable, drawn: Mapping[str, Perturbation]
) -> Target:
    """Attach the rows with the columns that chance has changed, beside the quasi-identifiers."""
    data = release.data
    there = data.names if isinstance(data, FrequencySet) else release.table.columns
    names = [n for n in drawn if n in there and n not in release.quasi_identifiers]
    names = [n for n in names if n not in release.sets]
    if not names:
        return target
    plain = [n for n, role in release.open_columns.items() if role is not Role.WEIGHT]
    others = [n for n in (*release.sensitive, *plain) if n in there and n not in names]
    others = [n for n in others if n not in release.sets]
    [counts] = release.counts((*release.quasi_identifiers, *names, *others)).tables
    counts = release.without_starred(counts)
    secret = tuple(name for name in names if name in release.sensitive)
    values = {name: counts.column(name).values for name in secret}
    readings = nearly_exact_columns(counts, {name: drawn[name] for name in names})
    beside = {name: _read_beside(counts, name, readings.get(name), release) for name in others}
    beside |= {name: _read_beside(counts, name, each, release) for name, each in readings.items()}
    as_published = {name: _read_beside(counts, name, None, release) for name in secret}
    rows = PerturbedRows(
        counts,
        target.class_of(counts),
        {name: drawn[name] for name in names},
        secret,
        tuple(name for name in names if name in release.unknown),
        secrecy_of(release.policy, values) or None,
        {name: each for name, each in beside.items() if name not in release.unknown},
        _units_of(target, counts, as_published | beside),
    )
    return replace(target, perturbed=rows)


def _read_beside(
    counts: FrequencySet, name: str, reading: NearlyExact | None, release: Published
) -> BesideColumn:
    """Return what rows have in a column, as an adversary reads it."""
    column, codes = counts.column(name), counts.codes_of(name).astype(np.int64)
    if reading is not None:
        column, number = reading.column(counts, name)
        codes = number[codes]
    if name in release.folded:
        folded = column.folded
        column, codes = folded.column, folded.codes[codes].astype(np.int64)
    return BesideColumn(column, codes)


def _units_of(
    target: Target, counts: FrequencySet, beside: Mapping[str, BesideColumn]
) -> IntArray | None:
    """Return of which combination of the target each of some finer ones is a part."""
    whole = target.counts
    if whole is None or not {*whole.names} <= {*target.quasi_identifiers, *beside}:
        return None
    sizes = [len(column.values) for column in whole.columns]
    both = []
    for column in whole.columns:
        codes = counts.codes_of(column.name).astype(np.int64)
        if column.name in beside:
            read = beside[column.name]
            place = {value: code for code, value in enumerate(column.values)}
            number = np.array([place.get(value, -1) for value in read.column.values])
            codes = number[read.codes]
        if (codes < 0).any():
            return None
        both.append(np.concatenate([whole.codes_of(column.name).astype(np.int64), codes]))
    found = group(both, sizes, n=len(whole) + len(counts))
    unit = np.full(found.n, -1, dtype=np.int64)
    unit[found.of_item[: len(whole)]] = np.arange(len(whole))
    units: IntArray = unit[found.of_item[len(whole) :]]
    return None if (units < 0).any() else units


def _says_nothing(target: Target) -> bool:
    """Return whether there are rows of stars, and none of them has a sensitive value."""
    known = [target.classes.counts_of(name).known.totals for name in target.sensitive]
    return bool(known and target.silent.any() and not any(n[target.silent].any() for n in known))


def _texts(categories: object) -> tuple[tuple[str, ...], ...]:
    """Write values as a manifest does: by that they are compared, and a stranger's may be any."""
    return tuple(tuple(map(text_of, each)) for each in read_categories(categories, fewest=1))


def _with_claims(target: Target, release: Published) -> Target:
    """Attach the settings of values and columns, and what is promised."""
    there = (*target.sensitive, *target.beside)
    unknown = tuple(name for name in there if name in release.unknown)
    target = replace(_with_secrecy(target, release.policy), unknown=unknown)
    return with_promised(target, release.promises)


def with_promised(target: Target, models: Sequence[Promise]) -> Target:
    """Attach what is promised, and the categories of values that promises go by."""
    categories = {
        (str(model.column), _texts(model.settings["categories"])): None
        for model in models
        if model.settings.get("categories") and model.column in target.sensitive
    }
    promised = tuple(model.model for model in models)
    return replace(target, promised=promised, categories=tuple(categories))


def _with_secrecy(target: Target, policy: Policy | None) -> Target:
    """Attach which values of sensitive columns a policy calls secret or harmless, or alike."""
    rules = {} if policy is None else policy.columns
    sensitive = dict(target.classes.sensitive)
    for name, counts in target.classes.sensitive.items():
        if name not in rules:
            continue
        rule, column = rules[name], counts.column
        if rule.secret or rule.harmless:
            column = replace(column, secrecy=secrecy_by(column.values, rule))
        if rule.width is not None:
            column = replace(column, width=rule.width)
        sensitive[name] = replace(counts, column=column)
    return replace(target, classes=replace(target.classes, sensitive=sensitive))


def secrecy_of(policy: Policy | None, values: Mapping[str, Sequence[Value]]) -> dict[str, IntArray]:
    """Return how much each value of some columns is a secret, where a policy says so.

    >>> from sfumato.models import KAnonymity
    >>> ill = {"role": "sensitive", "harmless": ["none"]}
    >>> policy = Policy(columns={"age": "quasi-identifier", "ill": ill}, models=[KAnonymity(2)])
    >>> secrecy_of(policy, {"ill": ["hiv", "none"]})["ill"].tolist()
    [0, -1]
    """
    rules = {} if policy is None else policy.columns
    return {
        name: secrecy_by(each, rules[name])
        for name, each in values.items()
        if name in rules and (rules[name].secret or rules[name].harmless)
    }


def secrecy_by(values: Sequence[Value], rule: ColumnRule) -> IntArray:
    """Return the secrecy of each value, by its text as the rule says it is spelt."""
    key = str if rule.spelling is Spelling.EXACT else fold_spelling
    levels = {
        **dict.fromkeys(map(key, rule.harmless), Secrecy.HARMLESS),
        **dict.fromkeys(map(key, rule.secret), Secrecy.SECRET),
    }
    found = [levels.get(key(text_of(value)), Secrecy.ORDINARY) for value in values]
    return np.array(found, dtype=np.int64)


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
            folded = self.policy is None or name not in self.policy.exact
            described = SensitiveColumn(name, column.known, folded=folded)
            return bind_paths(self.published[name], described)
        rule = self.policy.columns.get(name) if self.policy is not None else None
        if rule is None or rule.hierarchy is None:
            return None
        return rule.hierarchy.build(name, column.known).bind(name, column.known)


def _overlapping(target: Target) -> Target:
    """Make the classes overlap: a missing value matches every value.

    Of a person whose row has gaps the adversary may know any values there, so each class is
    attacked where it is worst: on the fewest rows, and of each sensitive column on the
    completion in which some value harms most.
    """
    absent = np.array([column.missing for column in target.columns])[:, None]
    labels = target.labels.astype(np.int64)
    classes = overlapping(labels, labels == absent, target.classes, own_reference=False)
    if classes.overlap is None:
        return target
    sensitive = {name: classes.overlap.pick(name, _harm) for name in target.sensitive}
    return replace(target, classes=replace(classes, sensitive=sensitive))


def _harm(counts: ValueCounts) -> FloatArray:
    """Return how much each entry of some counts harms: its level, and its share beside it."""
    known = counts.value != MISSING
    totals = counts.known.totals[counts.class_id]
    share = np.where(known, counts.rows, 0) / np.maximum(totals, 1)
    prior = np.append(base.priors(counts), 0.0)[counts.value]
    secrecy = base.secrecy_of(counts, counts.value)
    levels = HarmRule().judge(prior, share, 0, secrecy=secrecy).levels
    found: FloatArray = np.where(known, levels + share / 2, 0.0)
    return found


def _secrets_of(release: Published) -> list[list[str]]:
    """Return the sensitive columns, those that stay together in one list."""
    whole = {name: names for names in release.together for name in names}
    return [list(names) for names in dict.fromkeys(whole.get(n, (n,)) for n in release.sensitive)]


def _buckets_of(
    release: Published,
    manifest: Manifest,
    sensitive: Sequence[str],
    ladders: _Ladders,
    *,
    whole: bool = False,
) -> Target:
    """Build the target of one sensitive column, of several as one, or of none.

    Args:
        release: The release.
        manifest: Its manifest.
        sensitive: The sensitive columns; several stay together.
        ladders: The hierarchies of sensitive columns.
        whole: Whether several are columns of a table in one piece, in which one tells the other.
    """
    needed = _columns_needed(manifest, (*release.columns, *release.plain), sensitive)
    tables = release.counts(needed).fold([name for name in release.folded if name in needed])
    if len(sensitive) > 1 and not whole:
        tables, sensitive = tables.join([sensitive]), [joint_name(sensitive)]
    people = _people_in(tables, sensitive)
    bound = ladders.of([people.column(name) for name in sensitive])
    known = tuple(name for name in people.names if name not in sensitive)
    found = Target.of_table(people, known, tuple(sensitive), bound)
    # What stands in one row belongs to one person only up to the sensitive column's table.
    found = found if whole else replace(found, kind=release.kind.name, counts=None)
    return _harmless(found, release.plain)


def _said_in_buckets(
    release: Published, manifest: Manifest, targets: Sequence[Target]
) -> list[Target]:
    """Return buckets by the values that are said, where some say that nothing was said."""
    found = []
    for target in targets:
        names = tuple(name for name in target.sensitive if name in release.sensitive)
        if target.counts is not None or not names or names[0] in release.plain:
            continue
        needed = _columns_needed(manifest, (*release.columns, *release.plain), names)
        tables = release.counts(needed).fold([n for n in release.folded if n in needed])
        said = read_unsaid(_people_in(tables, names), names)
        if said is not None:
            known = tuple(name for name in said.names if name not in names)
            people = said.project((*known, *names))
            read = replace(Target.of_table(people, known, names), kind=target.kind, counts=None)
            same = (target, np.arange(len(read.classes)))
            found.append(_with_rules(replace(read, unknown=names, read_from=same), target))
    return found


def _pair_of(release: Published, names: Sequence[str], ladders: _Ladders) -> Target:
    """Build the target of columns that stay together: a table in one piece, group by group."""
    groups = release.groups
    table = next(each for each in groups.sensitive if {*names} <= {c.name for c in each.columns})
    codes = [*(codes[table.group] for codes in groups.labels), *map(table.codes_of, names)]
    columns = (*groups.quasi_identifiers, *(c for c in table.columns if c.name in names))
    counts = FrequencySet(columns, np.array(codes, dtype=np.int32), table.rows)
    counts = counts.fold([name for name in release.folded if name in names])
    bound = ladders.of([counts.column(name) for name in names])
    found = Target.of_table(counts, release.quasi_identifiers, tuple(names), bound)
    return _harmless(found, release.plain)


def _harmless(target: Target, plain: Sequence[str]) -> Target:
    """Return a target in which values of plain columns are known perhaps, and no secret."""
    sensitive = dict(target.classes.sensitive)
    for name in [name for name in sensitive if name in plain]:
        counts = sensitive[name]
        levels = np.full(len(counts.column.values), Secrecy.HARMLESS, dtype=np.int64)
        sensitive[name] = replace(counts, column=replace(counts.column, secrecy=levels))
    return replace(target, classes=replace(target.classes, sensitive=sensitive))


def _columns_needed(
    manifest: Manifest, names: Sequence[str], sensitive: Sequence[str]
) -> list[str]:
    """Return the columns in the sensitive column's table; other tables have most of the rows."""
    tables = [set(file.columns or [str(file.column)]) for file in manifest.linked_files]
    beside = set().union(*(columns for columns in tables if columns & {*sensitive}))
    beside = beside or tables[0]
    elsewhere = {column.name for column in manifest.columns} - beside if beside else set()
    return [name for name in names if name not in elsewhere]


def _people_in(counted: LinkedTables, sensitive: Sequence[str]) -> FrequencySet:
    """Count people by the sensitive table: by bucket, quasi-identifiers in it, and values."""
    table = next(each for each in counted.tables if {*sensitive} <= {*each.names})
    known = [each for each in counted.names(table) if each not in sensitive] if sensitive else []
    group, count = str(counted.group), str(counted.count)
    rows = table.rows * _whole(table.column(count))[table.codes_of(count)]
    return FrequencySet(table.columns, table.codes, rows).project((group, *known, *sensitive))


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
    *,
    names: Sequence[str] | None = None,
) -> Target:
    """Attach a list of people to link with the release; see `Linking`.

    Args:
        target: The release as it is attacked.
        release: The same, opened.
        people: A table of raw values with some of the quasi-identifiers. All its columns but the
            sensitive ones tell who a person is.
        names: The columns of the list that are looked at; None takes all but the sensitive ones.

    Example:
        >>> import pyarrow as pa
        >>> from sfumato.attacks import Linking
        >>> from sfumato.harm import HarmRule
        >>> from sfumato.releases.opening import open_release
        >>> table = pa.table({"zip": ["1305*", "2407*"], "ill": ["flu", "hiv"]})
        >>> drivers = pa.table({"name": ["David", "Rajesh"], "zip": ["13053", "24078"]})
        >>> release = open_release(table, quasi_identifiers=["zip"], sensitive=["ill"])
        >>> target = with_list(target_of(release), release, drivers)
        >>> print(Linking("journalist").on(target, HarmRule()).worst[1])
        zip=2407* (1): the row is of Rajesh, 24078, 50 % before, 100 % after
    """
    policy = release.policy
    # Of a list of others the cells may be written as in the data, and the file in another way.
    given = open_table(people, None if policy is None else policy.reading.of_cells)
    table = open_original(given, policy, target.quasi_identifiers)
    if names is None:
        names = [name for name in table.columns if name not in release.sensitive]
    counts = table.count(names)
    changed = release.perturbed
    shared = [n for n in target.quasi_identifiers if n in names and n not in changed]
    if not shared:
        raise ParameterError(
            "outside",
            list(names),
            f"a list with some of the columns {list(target.quasi_identifiers)}",
        )
    ladders = ladders_of(release.policy, counts, shared)
    return replace(target, outside=Outside.of(counts, target, ladders, release.levels))


def with_earlier(
    target: Target, release: Published, earlier: Sequence[object], original: object = None
) -> Target:
    """Attach earlier releases of the same people, to be held against this one; see `Composition`.

    Args:
        target: The release as it is attacked.
        release: The same, opened.
        earlier: Releases of any kind, or tables. A plain table is read with the roles of this one.
        original: The table they were made of, if it is known: it says what labels stand for.

    Example:
        >>> import pyarrow as pa
        >>> from sfumato.releases.opening import open_release
        >>> first = pa.table({"age": ["20 to 29", "30 to 39"], "ill": ["flu", "hiv"]})
        >>> later = pa.table({"age": ["25 to 34", "25 to 34"], "ill": ["flu", "hiv"]})
        >>> release = open_release(later, quasi_identifiers=["age"], sensitive=["ill"])
        >>> target = with_earlier(target_of(release), release, [first])
        >>> target.earlier[0].pairs.other.tolist()
        [0, 1]
    """
    target = _with_tables(target, release)
    known = _readings(release, original)
    found = []
    for number, each in enumerate(earlier, start=1):
        opened = _open_earlier(each, release)
        _require_values(release, opened)
        changed = sorted(release.perturbed | opened.perturbed)
        readings = {
            column: replace(reading, apart=_are_apart(release, opened, column))
            for column, reading in known.items()
        }
        before = _with_tables(target_of(opened), opened)
        name = public_name(each) if isinstance(each, str | PathLike) else f"release {number}"
        held = EarlierRelease.of(target, before, readings, name=name)
        if changed:
            fault = (
                f"{some(changed)} was perturbed: which classes hold the same person is not known, "
                "and values drawn twice reveal more than values drawn once"
            )
            held = replace(held, pairs=None, fault=fault)
        found.append(held)
    names = [each.name for each in found]
    if len({*names}) < len(names):
        found = [replace(each, name=f"{each.name} ({i})") for i, each in enumerate(found, start=1)]
    return replace(target, earlier=tuple(found))


def _require_values(release: Published, earlier: Published) -> None:
    """Raise if labels would have to be held against values."""
    general = sorted({*release.generalised, *earlier.generalised})
    if general:
        raise InputError(
            f"releases cannot be held against each other where {some(general)} has labels in place "
            "of values (association-hiding): which values agree is not said. Judge each by itself, "
            "and do not publish two of the same people."
        )


def _are_apart(release: Published, earlier: Published, column: str) -> bool | None:
    """Return whether words of a column that differ are different values; None if nothing says so.

    They are in releases at the same level, and where there is no level between values and `*`.
    """
    both = [each.manifest for each in (release, earlier) if each.manifest is not None]
    records = [next((c for c in m.columns if c.name == column), None) for m in both]
    heights = [None if record is None else record.height for record in records]
    if both and all(height is not None and height <= 1 for height in heights):
        return True
    levels = [manifest.levels.get(column) for manifest in both]
    if len(both) == 2 and levels[0] is not None and levels[0] == levels[1]:
        return True
    return None if len(both) < 2 else False


def _open_earlier(what: object, release: Published) -> Published:
    """Open an earlier release; a plain table has the roles of the later one."""
    opened = open_release(what)
    if not isinstance(opened, PublishedTable) or opened.manifest is not None:
        return opened
    columns = opened.table.columns
    roles = [
        [name for name in names if name in columns]
        for names in (release.quasi_identifiers, release.sensitive)
    ]
    if not roles[1]:
        raise ParameterError(
            "earlier",
            list(columns),
            f"a release with a sensitive column of this one: {list(release.sensitive)}",
        )
    return open_release(what, quasi_identifiers=roles[0], sensitive=roles[1])


def _readings(release: Published, original: object) -> dict[str, LabelKnowledge]:
    """Find out what the labels of quasi-identifiers stand for, as far as anything says so."""
    names, policy = release.quasi_identifiers, release.policy
    found = {name: LabelKnowledge() for name in names}
    if original is not None:
        counts = count_columns(original, names, release.policy).project(names)
        ladders = ladders_of(policy, counts, names)
        return {name: LabelKnowledge(counts.column(name), ladders.get(name)) for name in names}
    columns = {} if policy is None else policy.columns
    for name in names:
        builder = columns[name].hierarchy if name in columns else None
        try:
            tree = None if builder is None else builder.build(name, [])
        except SfumatoError:
            continue
        # A tree knows its values; intervals and masks are read by themselves.
        if tree is not None and len(tree.values):
            raw = Column(name, tuple(tree.values))
            found[name] = LabelKnowledge(raw, tree.bind(name, raw.values))
    return found


def _with_tables(target: Target, release: Published) -> Target:
    """Attach what the tables of a release in buckets show of the people of each bucket."""
    if target.looks_alike or target.tables:
        return target
    shown = release.counts(release.quasi_identifiers)
    column, codes = target.columns[0], target.labels[0]
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(len(column.values) + 1))
    bucket_of = {text_of(value): code for code, value in enumerate(column.values)}
    own = Face(target.columns[1:], target.labels[1:], np.arange(len(target.classes)))
    faces = [own] if own.columns else []
    for table in shown.tables:
        names = shown.names(table)
        group = table.column(str(shown.group))
        bucket = np.array([bucket_of[text_of(v)] for v in group.values], dtype=np.int64)
        of_row = bucket[table.codes_of(str(shown.group))]
        at, within = number_items(np.diff(starts)[of_row])
        faces.append(
            Face(
                tuple(table.column(name) for name in names),
                np.array([table.codes_of(name)[at] for name in names], dtype=np.int32),
                order[starts[of_row[at]] + within],
            )
        )
    return replace(target, tables=tuple(faces))


def with_members(target: Target, release: Published, original: object) -> Target:
    """Attach the people who are in the data, for the attack on that; see `Membership`.

    Args:
        target: The release as it is attacked.
        release: The same, opened.
        original: The table it was made of.

    Example:
        >>> import pyarrow as pa
        >>> from sfumato.releases.opening import open_release
        >>> original = pa.table({"age": [31, 38], "ill": ["flu", "hiv"]})
        >>> coarse = pa.table({"age": ["31 to 38"] * 2, "ill": ["flu", "hiv"]})
        >>> release = open_release(coarse, quasi_identifiers=["age"], sensitive=["ill"])
        >>> target = with_members(target_of(release), release, original)
        >>> target.people.total, target.matcher.matches(target.people.codes).tolist()
        (2, [1, 1])
    """
    changed = release.perturbed
    names = tuple(name for name in release.quasi_identifiers if name not in changed)
    if not names:
        # True values of people are not held against published ones that were changed.
        return target
    people, members = _members(target, release, original)
    ladders = ladders_of(release.policy, people, names)
    # A person who fits a class is not looked for among stars, whose rows would fit fakes as well.
    every = target.silent.all() if release.manifest is None else target.silent.any()
    tables = release.counts(names)
    if target.counts is not None and not every:
        tables = _without_stars(tables)
    found = matcher_of(people, tables, release.levels, ladders)
    target = replace(target, people=people, members=members, matcher=found)
    return _with_source(target, release, original, names, ladders)


def _with_source(
    target: Target,
    release: Published,
    original: object,
    names: tuple[str, ...],
    ladders: Mapping[str, Ladder],
) -> Target:
    """Attach the table that the release was made of, to count who shares which values."""
    whole = target.whole
    if whole is None or target.person is not None or names != target.quasi_identifiers:
        return target
    there = (
        original.names
        if isinstance(original, FrequencySet)
        else open_original(original, release.policy, names).columns
    )

    def read(asked: Sequence[str]) -> FrequencySet:
        wanted = (*names, *(name for name in asked if name in there))
        return count_columns(original, wanted, release.policy).project(wanted)

    labels = Labels(ladders, release.levels, strict=False)
    return replace(target, whole=replace(whole, read_source=read, labels=labels))


def _members(
    target: Target, release: Published, original: object
) -> tuple[FrequencySet, ClassPeople | None]:
    """Count the people of a table by what others know of them, and who has which of it."""
    changed = release.perturbed
    names = tuple(name for name in release.quasi_identifiers if name not in changed)
    policy = release.policy or getattr(release.given, "policy", None)
    person = policy.counted_person if isinstance(policy, Policy) else None
    if target.person is None or person is None:
        return count_columns(original, names, release.policy).project(names), None
    each = count_columns(original, (*names, person), policy).project((*names, person))
    # What a person has in several rows counts once.
    once = FrequencySet(each.columns, each.codes, np.ones_like(each.rows))
    kinds = each.group_by(names)
    who = each.codes_of(person).astype(np.int64)
    return once.project(names), ClassPeople.count(who, kinds.of_item, {}, kinds.n)


def with_maker(target: Target, release: Published, original: object) -> Target:
    """Attach the tool with the policy of a release, to run it on candidates; see `Minimality`.

    Without a policy, and for a decoupled release, nothing is attached.

    Args:
        target: The release as it is attacked.
        release: The same, opened.
        original: The table it was made of.
    """
    policy = release.policy or getattr(release.given, "policy", None)
    if target.counts is None or release.generalised or not isinstance(policy, Policy):
        return target
    if policy.perturbations:
        # Candidates would have to be changed as the table was, and chance did that.
        return target
    columns = counted_columns(policy)
    names = policy.quasi_identifiers
    if {*names} != {*target.quasi_identifiers} or not {*columns} <= {*release.columns}:
        # It is the policy of another release.
        return target
    table = count_columns(original, columns, release.policy).project(columns)
    population = count_population(policy, silent)
    # Candidates differ in secrets, and hierarchies know nothing of these.
    workshop = Workshop(measures=False)

    def run(candidate: FrequencySet, rng: np.random.Generator) -> FrequencySet | None:
        try:
            decision = decide(
                policy, policy, candidate, population, rng=rng, report=silent, maker=workshop
            )
        except InfeasibleError:
            return None
        return recode_counts(candidate, decision.recoding, columns, rng)

    labels = Labels(ladders_of(policy, table, names), release.levels)
    draws = policy.make_method(PARTITIONERS) is not None or any(m.draws for m in policy.models)
    return replace(target, maker=ReleaseMaker(table, names, run, labels, draws))


def _without_stars(tables: LinkedTables) -> LinkedTables:
    """Remove the rows of stars."""
    [table] = tables.tables
    every = Target.of_table(table, table.names, ())
    kept = every.keep(~every.silent).counts
    return LinkedTables(() if kept is None else (kept,))


def matcher_of(
    people: FrequencySet,
    shown: LinkedTables,
    levels: Mapping[str, int],
    ladders: Mapping[str, Ladder],
) -> Matcher:
    """Read the groups of a release that a row written in raw values can be held against."""
    tables = tuple(
        table.project([*([] if shown.group is None else [shown.group]), *shown.names(table)])
        for table in shown.tables
    )
    return matcher(people, LinkedTables(tables, shown.group), Labels(ladders, levels))
