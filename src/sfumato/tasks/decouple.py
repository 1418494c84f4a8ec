"""Decouple: from an anonymised table to several tables with weak links, verified."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike

import numpy as np

from sfumato.counts import FrequencySet
from sfumato.decouplings import DECOUPLINGS, BreakMerge, Bucketization, Decoupling, Parts
from sfumato.decouplings.base import (
    Joint,
    join_columns,
    joint_name,
    only_sensitive,
    read_together,
    split_joints,
)
from sfumato.drafting.unprotected import find_unprotected, look_at, told_first
from sfumato.errors import (
    InputError,
    ParameterError,
    PolicyError,
    UnknownColumnError,
    UnknownNameError,
    require_int,
    some,
)
from sfumato.evidence import Key
from sfumato.hierarchy import HierarchyBuilder
from sfumato.policy import GivenPolicy, Missing, Policy
from sfumato.policy.document import Fault
from sfumato.policy.parts import choose, member_settings
from sfumato.recode.buckets import bucket_policy, form_buckets, spread_buckets
from sfumato.releases.decoupling import (
    KeptPromises,
    as_text,
    columns_left_out,
    describe_decoupled,
    measure_buckets,
    measure_promises,
    models_asked,
    plain_columns,
    replace_promises,
    tables_to_publish,
)
from sfumato.releases.drawn import require_rows_of_people
from sfumato.releases.manifest import Promise
from sfumato.releases.opening import Published, PublishedTable, open_release
from sfumato.releases.people import require_single_rows
from sfumato.releases.places import Folder, LabelledPopulation, UnpublishedRelease, place_for
from sfumato.releases.release import DecoupledRelease
from sfumato.tables import Table
from sfumato.tables.base import require_calendar_days, require_single_values
from sfumato.tables.derived import DerivedColumn, DerivedTable, derived_table
from sfumato.tasks.noisy_tables import noise_of, publish_noisy
from sfumato.tasks.signing import answer_to_sign
from sfumato.typing import Progress, silent


def decouple(  # noqa: PLR0913 - all but two have a default and are named
    data: object,
    method: str | Mapping[str, object] | Decoupling | None = None,
    *,
    output: str | PathLike[str] | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    policy: GivenPolicy | None = None,
    format: str | None = None,  # noqa: A002 - the word users know
    force: bool = False,
    key: Key | None = None,
    even_so: bool | str = False,
    account: str | PathLike[str] | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> DecoupledRelease:
    """Publish quasi-identifiers and each sensitive column apart, linked by group only.

    Promises: every person and every value is there, as often as before; which of them belong
    together is not, beyond what follows from the counts of a group; labels and orders are random;
    the models of the release hold as they did, or those the method promises instead; all
    that was verified from the tables by independent code. If anything fails, nothing is written.
    Does not promise that groups are large or diverse, where the method does not make them so:
    anonymise the table before. Nor that the tables of many groups do not teach together what joins
    them: `verify` tries that.

    With noise (`noise: {epsilon: 1}` among the settings of break-merge) it promises differential
    privacy in place of exact counts, as `sf.synthesize` does. It takes the table itself, a policy
    that states the domains, and the extra `synthetic`; groups are the cells that the policy states,
    and none is chosen by looking. See `sfumato.releases.noisy` for what is published.

    Args:
        data: A release, its folder, or a table: a path (CSV, Parquet, SPSS, Excel …), pandas,
            Polars, Arrow.
        method: How to decouple; see `sf.decouplings.DECOUPLINGS`. A name, a mapping of the name
            and its settings such as `{"method": "anatomy", "l": 3}`, or an object. None takes the
            policy's, and break-merge where there is none.
        output: The folder to write; None gives the tables back in memory. For a table of a
            database also `table:released`, or such an address, in the same database: the first
            table is called that, and the others after it.
        quasi_identifiers: The columns others may know; a release knows its own.
        sensitive: The columns that should not become known of a person, each to a table of its own.
        policy: Where roles and models come from, if the data is a plain table, and the method,
            if it is not given.
        format: csv, parquet, feather, sav, dta or xlsx; None takes the input's.
        force: Replace a release that is already in `output`.
        key: The private key to sign it with, or its file; see `sf.evidence.keygen`. Where the
            answer of `sf.verify` is *no*, nothing is signed and nothing is written.
        even_so: Sign it although the answer is *no*; a text is the reason, which the evidence
            carries.
        account: The account of the source (`sf.tools.account`), where counts get noise: what is
            spent is written down there before it is, and refused beyond its limit.
        seed: Fixes all that is random, for tests and experiments. Such a release is marked as
            reproducible: it is not for publication.
        progress: Told how far each stage is.

    Example:
        >>> import pyarrow as pa
        >>> table = pa.table({"age": ["30s", "30s", "40s", "40s"],
        ...     "ill": ["flu", "gout", "flu", "hiv"], "pay": [1, 2, 2, 2]})
        >>> decoupled = decouple(table, quasi_identifiers=["age"], sensitive=["ill", "pay"])
        >>> decoupled.tables["qi"].num_rows, decoupled.tables["sensitive_pay"].num_rows
        (4, 3)
        >>> decoupled.warnings
        ("2 people are in groups where all have the same 'pay': who knows the group knows it",)
    """
    report = progress or silent
    if seed is not None:
        require_int("seed", seed, at_least=0)
    place = place_for(output, data, format=format, force=force, key=key, even_so=even_so)
    release = open_release(data, policy, quasi_identifiers=quasi_identifiers, sensitive=sensitive)
    require_rows_of_people(release, "whose values could be published apart")
    decoupling = _of_policy(release.policy, method)
    noise = noise_of(decoupling, account)
    if noise is not None:
        return publish_noisy(
            release, decoupling, noise, place, output, account=account, seed=seed, report=report
        )
    _require_unchanged(release)
    table = release.table
    assert isinstance(release, PublishedTable)  # noqa: S101 - nothing else has rows
    _require_roles(release, decoupling)
    if release.is_plain and release.policy is not None:
        require_single_rows(table, release.policy, "a decoupling")
    if release.counts_people:
        raise InputError(
            "people have several rows in this release, and a decoupling takes each row for a "
            "person. Give one row per person before it is anonymised: sf.widen(data, person=…)."
        )
    place.require_room(table)
    needs = _require_columns(decoupling, table)
    plain = plain_columns(release, needs)
    together = _require_together(decoupling, release, plain)
    columns = tuple(dict.fromkeys((*release.columns, *plain, *needs)))
    require_single_values(release.as_given, columns)
    counts = _count(release, columns, report)
    if isinstance(place, Folder) and place.form_of(table) == "csv":
        counts = as_text(counts)
    decoupling = decoupling.inform(*_secrets(release))
    if not decoupling.keeps_classes or decoupling.in_one_piece:
        # Buckets and rules go by values, so a value has one spelling in them.
        counts = counts.fold([name for name in release.sensitive if name not in release.exact])
    counts, joints = _join(counts, together)
    sensitive = _join_names(release.sensitive, together)
    rng = np.random.default_rng(secrets.randbits(128) if seed is None else seed)
    kept: KeptPromises | None = None
    if decoupling.keeps_classes and not decoupling.in_one_piece:
        kept = measure_promises(counts, release)
    if isinstance(decoupling, Bucketization):
        counts, kept = _in_buckets(decoupling, counts, release, sensitive, rng, report)
    beside = [name for name in plain if not any(name in names for names in together)]
    parts = decoupling.run(
        counts, release.quasi_identifiers, sensitive, rng=rng, plain=tuple(beside)
    )
    parts = split_joints(parts, joints)
    if parts.counts is not None:
        general = [each["column"] for each in parts.hiding if each["generalised"]]
        kept = measure_promises(parts.counts, release, general)
    kept = kept or replace_promises(release, parts.models)
    own = _policy_of_made(release, decoupling, kept)
    placed = place.publish(
        UnpublishedRelease(
            tables_to_publish(table, parts),
            describe_decoupled(
                decoupling,
                release,
                parts,
                kept,
                plain=plain,
                together=together,
                seeded=seed is not None,
            ),
            report,
            _people(parts, counts.project(release.quasi_identifiers), rng),
            companions=lambda manifest: decoupling.companions(parts, manifest.to_dict()),
            answer=lambda placed: answer_to_sign(
                DecoupledRelease.of(placed, parts.grouped, (), policy=own), even_so=even_so
            ),
            explained=isinstance(even_so, str),
        ),
        table,
    )
    left_out = columns_left_out(release, (*needs, *plain))
    made = DecoupledRelease.of(placed, parts.grouped, left_out, parts.notes, own)
    return _with_unprotected(made, release.policy, plain, report) if plain else made


def _require_unchanged(release: Published) -> None:
    """Raise if values were perturbed, or are to be: groups are made by true ones."""
    stated = {} if release.policy is None else release.policy.perturbations
    changed = sorted(release.perturbed | {*stated})
    if changed:
        raise InputError(
            f"{some(changed)} is perturbed, and what is decoupled is grouped by true values. "
            "Leave perturb out, or publish the release in one piece."
        )


def _count(release: PublishedTable, columns: Sequence[str], report: Progress) -> FrequencySet:
    """Count what is decoupled; raise if that is nothing, or not what its manifest says."""
    table = release.table
    counts = table.count(columns, progress=lambda done, total: report("count", done, total))
    require_calendar_days(table, counts)
    counts = release.without_starred(counts)
    if not counts.total:
        raise InputError("every row is suppressed: there is nothing to decouple")
    _require_told_levels(release, counts)
    return counts


def _with_unprotected(
    made: DecoupledRelease, policy: Policy | None, plain: Sequence[str], report: Progress
) -> DecoupledRelease:
    """Return a release that tells what nothing protects, as one in one piece does."""
    report("look", 0, None)
    seen, missed = look_at(made.place, lambda: find_unprotected(open_release(made, policy)))
    found = [each for each in seen if each.columns]
    told = told_first([each for each in found if {*each.columns} <= {*plain}])
    return replace(made, private_notes=(*made.private_notes, *missed, *told))


def _join(
    counts: FrequencySet, together: Sequence[Sequence[str]]
) -> tuple[FrequencySet, list[Joint]]:
    """Return counts with one more column for columns that stay together."""
    joints = []
    for names in together:
        counts, joint = join_columns(counts, names)
        joints.append(joint)
    return counts, joints


def _in_buckets(
    decoupling: Bucketization,
    counts: FrequencySet,
    release: PublishedTable,
    sensitive: Sequence[str],
    rng: np.random.Generator,
    report: Progress,
) -> tuple[FrequencySet, KeptPromises]:
    """Return counts in which a column says the bucket, and what every bucket keeps."""
    name = only_sensitive(sensitive)
    models = models_asked(release)
    # A model of one of the columns that stay together looks at the combination too.
    looked_at = any({*model.columns} & {*release.sensitive} for model in models)
    asked = decoupling.models_of(models, () if looked_at else (name,))
    secret = tuple(dict.fromkeys((*release.sensitive, name)))
    roles = (release.quasi_identifiers, secret)
    if decoupling.column is None:
        policy = _own_policy(release)
        labelled = not release.is_plain
        made = bucket_policy(policy, *roles, asked, decoupling.partition, labelled=labelled)
        formed = form_buckets(made, counts.project((*roles[0], *secret)), rng=rng, report=report)
        counts = spread_buckets(counts, formed, rng)
    bucket = decoupling.bucket_column(counts, *roles)
    return counts, measure_buckets(counts, release, bucket, asked)


def _own_policy(release: PublishedTable) -> Policy | None:
    """Return the policy of what is decoupled: what was given, else what it was made with."""
    found = release.policy or getattr(release.given, "policy", None)
    return found if isinstance(found, Policy) else None


def _policy_of_made(
    release: PublishedTable, decoupling: Decoupling, kept: KeptPromises
) -> Policy | None:
    """Return the policy that the tables are held to in the hands of their maker.

    It is the release's own, if the roles are those of it and not others given with the call, with
    the models that such tables keep: what has no classes keeps others than the policy asks.
    """
    policy = _own_policy(release)
    if policy is None or not {*release.sensitive} <= {*policy.sensitive}:
        return None
    if {*release.quasi_identifiers} != {*policy.quasi_identifiers}:
        return None
    columns, missing = dict(policy.columns), policy.missing
    if decoupling.keeps_classes:
        models = [m for m in policy.models if str(Promise.of(m)) not in kept.dropped]
    else:
        promised = (promise for promise in kept.models if promise.column in policy.sensitive)
        models = [model for each in promised if (model := each.readable()) is not None]
        # Buckets are of people as they are: nothing is generalised, or missing in what forms them.
        columns |= {n: rule.replace(levels=None) for n, rule in columns.items() if rule.levels}
        missing = Missing.OWN_VALUE
    try:
        return replace(policy, columns=columns, models=tuple(models), missing=missing)
    except PolicyError:
        # Without the other models it says what means nothing, as of weights or a population. Then
        # what the tables say of themselves counts.
        return None


def _secrets(release: PublishedTable) -> tuple[dict[str, HierarchyBuilder], tuple[str, ...]]:
    """Return the hierarchies of the sensitive columns, and those whose spellings differ."""
    policy = _own_policy(release)
    rules = {} if policy is None else policy.columns
    builders = {name: rules[name].hierarchy for name in release.sensitive if name in rules}
    found = {name: builder for name, builder in builders.items() if builder is not None}
    return found, release.exact


def _require_columns(decoupling: Decoupling, table: Table) -> tuple[str, ...]:
    """Return what a method needs of a table besides; raise if it is not there."""
    for name in decoupling.needs:
        if name not in table.columns:
            raise UnknownColumnError(name, table.columns, where=f"what {decoupling.name} goes by")
    return decoupling.needs


def _require_together(
    decoupling: Decoupling, release: PublishedTable, plain: Sequence[str]
) -> tuple[tuple[str, ...], ...]:
    """Return the columns that stay together; raise if they cannot."""
    found = read_together(decoupling.together)
    for names in found:
        for name in names:
            if name in release.quasi_identifiers:
                why = f"{name!r} is a quasi-identifier: every table has it already, by the group"
                raise ParameterError("together", list(names), "other columns", why=why)
            if name not in (*release.sensitive, *plain):
                known = (*release.sensitive, *plain)
                raise UnknownColumnError(name, known, where="the sensitive and the plain columns")
        if not {*names} & {*release.sensitive}:
            why = "plain columns stand side by side as it is"
            raise ParameterError("together", list(names), "one sensitive column at least", why=why)
        if joint_name(names) in release.table.columns:
            why = f"there is a column {joint_name(names)!r}. Rename it"
            raise ParameterError("together", list(names), "other columns", why=why)
    return found


def _join_names(sensitive: Sequence[str], together: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the sensitive columns, those that stay together as one."""
    whole = {name: joint_name(names) for names in together for name in names}
    return tuple(dict.fromkeys(whole.get(name, name) for name in sensitive))


def _people(parts: Parts, counts: FrequencySet, rng: np.random.Generator) -> LabelledPopulation:
    """Return who is in the data, where what is promised depends on that."""
    if not any("check" in model for model in parts.models):
        return LabelledPopulation()
    columns = tuple(DerivedColumn(column.name, column.values) for column in counts.columns)
    one = np.ones(len(counts), dtype=np.int64)
    people = DerivedTable.repeat(columns, tuple(counts.codes), one, rng)
    return LabelledPopulation(derived_table(people, {}))


def _of_policy(
    policy: Policy | None, method: str | Mapping[str, object] | Decoupling | None
) -> Decoupling:
    """Make the method that is given, else the one that a policy names, else break-merge.

    Settings without the name of a method are put in place of those of the policy's.
    """
    made = None if policy is None else policy.make_decoupling(DECOUPLINGS)
    if method is None:
        return made or BreakMerge()
    if isinstance(method, Mapping) and "method" not in method and made is not None:
        method = {**member_settings(made, "method"), **method}
    return _make_decoupling(method)


def _make_decoupling(method: str | Mapping[str, object] | Decoupling) -> Decoupling:
    """Make the method of its name and its settings."""
    if isinstance(method, Decoupling):
        return method
    given = {"method": method} if isinstance(method, str) else method
    name = given.get("method") if isinstance(given, Mapping) else None
    if isinstance(name, str) and name not in DECOUPLINGS:
        raise UnknownNameError(DECOUPLINGS.what, name, sorted(DECOUPLINGS))
    try:
        return choose(DECOUPLINGS, "method", given)
    except Fault as fault:
        expected = "a decoupling with its settings"
        why = " ".join([*map(str, fault.path), str(fault)])
        raise ParameterError("method", method, expected, why=why) from None


def _require_told_levels(release: PublishedTable, counts: FrequencySet) -> None:
    """Raise if a release is not as coarse as its manifest says: that would be said again."""
    for column in () if release.manifest is None else release.manifest.columns:
        if column.name not in release.quasi_identifiers or not column.height:
            continue
        values = np.count_nonzero(counts.value_counts(column.name))
        if column.level == column.height and values > 1:
            raise InputError(
                f"the manifest says that {column.name!r} is at the top of its hierarchy, and it "
                f"has {values} values. The release is not what its manifest says: see sfumato "
                "verify."
            )


def _require_roles(release: PublishedTable, decoupling: Decoupling) -> None:
    names = ("quasi_identifiers", *(["sensitive"] if decoupling.needs_sensitive else []))
    for name in names:
        if not getattr(release, name):
            raise ParameterError(
                name,
                [],
                "at least one column",
                why="decoupling parts what others may know from what is sensitive",
            )
