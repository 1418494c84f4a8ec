"""Anonymise: from a table and a policy to a verified release."""

import secrets
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from sfumato.counts import FrequencySet
from sfumato.drafting.unprotected import (
    ColumnFinding,
    find_odd_cells,
    find_unprotected,
    look_at,
    told_first,
)
from sfumato.errors import ParameterError, UnknownColumnError, require_int, some
from sfumato.evidence import Key
from sfumato.files.reading import tell
from sfumato.hierarchy import Automatic, HierarchyBuilder
from sfumato.hierarchy.labels import meanings
from sfumato.partition import Partitioner
from sfumato.policy import GivenPolicy, Policy, policy_of
from sfumato.recode.budget import MemoryBudget
from sfumato.recode.deciding import Decision, deciding, with_findings
from sfumato.recode.gone import DataGone, hidden_in
from sfumato.recode.recoded import published_labels
from sfumato.releases.decoupling import measure_promises
from sfumato.releases.levels import require_levels
from sfumato.releases.line_breaks import warn_of_lines
from sfumato.releases.manifest import (
    ClassSizes,
    Manifest,
    PublishedSets,
    build_manifest,
    public_losses,
)
from sfumato.releases.numbers import (
    NumberRows,
    RawRows,
    columns_as_numbers,
    columns_of_days,
    require_numbers,
)
from sfumato.releases.opening import PublishedTable, Roles, open_release
from sfumato.releases.people_file import UnfinishedPeople, tell_people_apart, unfinished_people
from sfumato.releases.perturbing import perturbation_notes
from sfumato.releases.places import (
    LabelledPopulation,
    Place,
    RecodedRows,
    TablePart,
    UnpublishedRelease,
    place_for,
)
from sfumato.releases.preparing import open_prepared
from sfumato.releases.release import Release
from sfumato.releases.sets import SetRows, joined_by, recode_sets, separators_of
from sfumato.releases.subject import Subject
from sfumato.tables import DatabaseTable, Table, open_table
from sfumato.tables.capabilities import Sets
from sfumato.tables.formats import FORMATS
from sfumato.tasks.signing import answer_to_sign
from sfumato.text import text_of
from sfumato.typing import Progress, silent

if TYPE_CHECKING:
    from sfumato.leaks import Findings


def anonymize(  # noqa: PLR0913 - every one has a default and is named
    data: object,
    policy: GivenPolicy | None = None,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] = (),
    plain: Sequence[str] = (),
    k: int | None = None,
    method: str | Mapping[str, Any] | Partitioner | None = None,
    as_: Mapping[str, str] | None = None,
    refine: "Findings | Sequence[Findings] | None" = None,
    output: str | PathLike[str] | None = None,
    format: str | None = None,  # noqa: A002 - the word users know
    force: bool = False,
    key: Key | None = None,
    even_so: bool | str = False,
    memory: str | int | None = None,
    people_file: str | PathLike[str] | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Release:
    """Generalise a table until the policy's models hold, losing as little as possible.

    Promises: what is returned or written keeps every model of the policy, was verified
    from the published rows by independent code, and says nothing about the order of the
    input. If anything fails, nothing is written. Does not promise what the models do
    not: see each model's own words. What columns give away that are published as they are is in
    the `warnings` of the release, and in the answer of `sf.verify`.

    Instead of a policy, name the columns. Then k-anonymity is promised, and for each sensitive
    column that every class shows at least two of its values (distinct l-diversity). Hierarchies
    are built from the values, up to 5 % of the rows may be left out, and columns that are not
    named are not published. `release.policy` is that policy, to be read, saved and changed.

    A table in which the identifier of a person repeats is refused until the policy says what a
    person is (`person`). Then people are counted, and not rows; the proof is `people_file`.

    Args:
        data: A path (CSV, Parquet, SPSS, Excel …), a pandas, Polars or Arrow table, or a table of
            DuckDB, PostgreSQL or Spark: its address (`duckdb:///file.db?table=people`) or the
            object that its library has for it.
        policy: A policy, its path, or its settings as a mapping.
        quasi_identifiers: Instead of a policy: the columns others may know.
        sensitive: The columns that should not become known of a person.
        plain: The columns that are published as they are.
        k: The fewest people in a class; None is 5.
        method: `full-domain` (one level per column for the whole table), `regional` (one cut
            through each hierarchy for the whole table), or a local method: `top-down`, `mondrian`,
            `bottom-up` or `mdav`, which generalise rows only where they must. None takes the
            policy's.
        as_: What is published of columns that are ranges, in place of what the policy says: `text`,
            `bounds` (two columns, as in `age_low` and `age_high`), `midpoint`, `mean` or `median`
            (of the rows of a class, beside the bounds).
        refine: What `sf.detect` found in an earlier release of this table, or in several:
            classes in which quasi-identifiers tell a sensitive value are generalised further,
            others are not.
        output: The release folder to write; None gives the table back in memory. For a table of a
            database also `table:released`, or the address of such a table, in the same database;
            the manifest is in `released_manifest` beside it.
        format: csv, parquet, feather, sav, dta or xlsx; None takes the input's.
        force: Replace a release that is already in `output`.
        key: The private key to sign it with, or its file; see `sf.evidence.keygen`. Where the
            answer of `sf.verify` is *no*, nothing is signed and nothing is written.
        even_so: Sign it although the answer is *no*; a text is the reason, which the evidence
            carries.
        memory: How much memory it may take here, such as `2GB`; what a database takes is for its
            own settings. If the table has more combinations than fit, full-domain and regional
            recoding start from coarser levels and the release says from which. A local method
            divides a table of Spark into fragments, which its workers solve with as much memory
            each, and refuses other tables. None: as much as the combinations take.
        people_file: Where people are counted (`person` in the policy): a file to keep, ending in
            .parquet or .csv, that says who has which of the published rows, by drawn numbers.
            With it `sf.verify` recounts people, which the release alone does not allow. It is
            private: it may not lie in a release, and only its owner may read it.
        seed: Fixes the random order of the rows, and which of rows that are alike a local method
            puts where, for tests and experiments. Such a release is marked as reproducible: it
            is not for publication.
        progress: Told how far each stage is.

    Example:
        >>> import sfumato as sf
        >>> policy = sf.Policy(
        ...     columns={"age": "quasi-identifier", "ill": "sensitive"},
        ...     models=[sf.models.KAnonymity(2)],
        ... )
        >>> import pyarrow as pa
        >>> table = pa.table({"age": [31, 31, 47], "ill": ["flu", "gout", "flu"]})
        >>> release = sf.anonymize(table, policy)
        >>> release.levels, sorted(release.table["age"].to_pylist())
        ({'age': 1}, ['*', '*', '*'])
        >>> release = sf.anonymize(table, quasi_identifiers=["age"], sensitive=["ill"], k=3)
        >>> release.policy.models
        (KAnonymity(k=3), DistinctLDiversity(column='ill', l=2))
    """
    report = progress or silent
    if seed is not None:
        require_int("seed", seed, at_least=0)
    place = place_for(
        output, data, format=format, force=force, key=key, even_so=even_so, whole_rows=True
    )
    budget = None if memory is None else MemoryBudget.of(memory)
    named = (quasi_identifiers, sensitive, plain, k)
    if policy is not None:
        _require_alone(*named)
        policy = policy_of(policy)
    else:
        from sfumato.drafting.policy import policy_for_columns

        policy = policy_for_columns(*named)
    if method is not None:
        policy = override_method(policy, method)
    if as_ is not None:
        policy = _with_numbers_asked(policy, as_)
    table = open_prepared(data, policy, output)
    if quasi_identifiers is not None:
        _warn_of_unnamed(policy, table.columns)
    policy.check_against(table.columns)
    if people_file is not None and policy.counted_person is None:
        refuse_people_file(people_file)
    rng = np.random.default_rng(secrets.randbits(128) if seed is None else seed)
    with unfinished_people(people_file, output=output, force=force) as unfinished:
        subject = Subject.of(table, policy)
        made = make_release(
            subject,
            place,
            refine=refine,
            budget=budget,
            rng=rng,
            reproducible=seed is not None,
            report=report,
            people_file=unfinished,
        )
    repeated = (*subject.notes, *warn_of_people(made, people_file))
    if budget is not None and isinstance(table, DatabaseTable) and _has_plain(made):
        # To hold plain columns against each other, every combination would have to come here.
        return replace(made, unprotected=(_NOT_LOOKED_AT, *repeated))
    return with_unprotected(made, repeated, table)


def refuse_people_file(path: str | PathLike[str]) -> NoReturn:
    """Raise because rows are counted, and a people file would say nothing."""
    raise ParameterError(
        "people_file",
        str(path),
        "left out, unless the policy says what a person is",
        why="rows are counted, and the release shows them. Name the column that identifies "
        "people, as in person: patient_id",
    )


def warn_of_people(made: Release, people_file: object) -> list[str]:
    """Return a note on the people file: that none was kept, or none was needed."""
    if made.people is None:
        if people_file is None:
            return []
        return [_ONE_ROW_EACH]
    if people_file is not None or made.table is not None:
        return []
    return [_NO_PEOPLE_FILE]


_ONE_ROW_EACH = (
    "every person has one row, so rows are people, the release shows them, and there is no people "
    "file"
)
_NO_PEOPLE_FILE = (
    "people were counted, and no people file was kept: they cannot be recounted from the release. "
    "To verify it later, make it with people_file= (--people-file)"
)
_NOT_LOOKED_AT = (
    "within so little memory the plain columns were not looked at: see sfumato verify, or leave "
    "the limit out"
)


def _has_plain(made: Release) -> bool:
    """Return whether rows with plain columns are published."""
    return bool(made.manifest.rows.published and made.manifest.with_role("plain"))


def _with_numbers_asked(policy: Policy, asked: Mapping[str, str]) -> Policy:
    """Return a policy with the settings given for some columns in place of its own."""
    for name in asked:
        if name not in policy.columns:
            raise UnknownColumnError(name, list(policy.columns), where="the policy")
    rules = {
        name: rule.replace(**{"as": asked[name]}) if name in asked else rule
        for name, rule in policy.columns.items()
    }
    return policy.replace(columns=rules)


def with_unprotected(
    made: Release, repeated: Sequence[str] = (), table: Table | None = None
) -> Release:
    """Return a release with what its columns give away that nothing protects.

    Args:
        made: The release.
        repeated: What was found out about rows and people.
        table: What it was made of, and has been read.
    """
    found, missed = look_at(made.place, lambda: _look_at(made))
    rows = [each for each in found if each.kind != "rows"]
    told = any(each.kind == "line breaks" for each in found)
    lines = () if table is None else warn_of_lines(table, told=told)
    told_of = (*missed, *told_first(rows), *repeated, *lines)
    # From here on its rows are what its files hold, even if these change.
    return replace(made, unprotected=told_of, domains={})


def _look_at(made: Release) -> tuple[ColumnFinding, ...]:
    release = open_release(made, made.policy)
    if _has_plain(made):
        return find_unprotected(release)
    # Where no row is published there is no person to give away.
    if made.manifest.rows.published and isinstance(release, PublishedTable):
        return find_odd_cells(release)
    return ()


def make_release(
    subject: Subject,
    place: Place,
    *,
    refine: "Findings | Sequence[Findings] | None" = None,
    budget: MemoryBudget | None = None,
    rng: np.random.Generator,
    reproducible: bool = False,
    report: Progress,
    people_file: UnfinishedPeople | None = None,
) -> Release:
    """Publish a table in a place, as `anonymize` does; equal generators make equal decisions.

    Args:
        subject: The table, under what must hold.
        place: Where the release goes.
        refine: What was found in earlier releases of the table.
        budget: How much memory the decision may take; None for as much as it needs.
        rng: Draws the order of the rows, and among rows that are alike where they part ways.
        reproducible: Whether others know its seed.
        report: Told how far each stage is.
        people_file: Where to say who has which rows, if people are counted; None for nowhere.
    """
    policy, roles, columns = subject.policy, subject.roles, subject.columns
    place.require_room(subject.table, roles)
    asked = policy if refine is None else with_findings(policy, refine)
    if policy.sets and budget is not None:
        text = (
            f"the items of {some(policy.sets)} are looked at in memory, all rows at once, so a "
            "limit of memory cannot be kept. Leave it out, or give the column the role dropped."
        )
        raise policy.error_at("columns", policy.sets[0], text=text)
    if policy.perturbations and budget is not None:
        text = (
            "perturbed columns are held in memory, all rows at once, so a limit of memory cannot "
            "be kept. Leave the limit out."
        )
        raise policy.error_at("columns", next(iter(policy.perturbations)), "perturb", text=text)
    table, left_out = subject.perturb(rng, report, asked)
    require_numbers(
        policy, table, table.columns, stored=place.table is not None, limited=budget is not None
    )
    with deciding(
        table,
        columns,
        policy,
        asked,
        budget=budget,
        output=place.table,
        left_out=left_out,
        rng=rng,
        report=report,
    ) as (decision, notes, rows, counts):
        published = decision.published_rows(counts)
        limited = [n for n in asked.quasi_identifiers if asked.columns[n].levels is not None]
        if limited:
            labels = published_labels(decision.recoding, published, limited)
            require_levels(asked, labels, str(decision.method["name"]))
        people, people_hash = None, None
        if policy.counted_person is not None:
            told = (*policy.quasi_identifiers, *policy.sensitive)
            people = tell_people_apart(
                counts,
                decision.recoding,
                told,
                policy.counted_person,
                rng,
                household=policy.household,
            )
            people_hash = None if people_file is None else people_file.write(people)
        recoded = RecodedRows(
            rows, decision.recoding, columns, asked.suppression.rows, rng, policy.averagings
        )
        part: TablePart = recoded
        sets = None
        if policy.sets:
            part, sets = _with_sets(recoded, asked, decision, place, report)
        manifest = build_manifest(
            asked,
            roles,
            decision,
            reproducible=reproducible,
            notes=(*notes, *(step.note() for step in asked.derive), *perturbation_notes(asked)),
            sets=sets,
            people_hash=people_hash,
        )
        if columns_as_numbers(asked):
            raw = partial(RawRows.of, counts, decision.recoding)
            days = columns_of_days(asked, published)
            part, manifest = _with_numbers(recoded, manifest, asked, raw, days, report)
        release = UnpublishedRelease(
            [part],
            manifest,
            report,
            LabelledPopulation.of(asked, decision.recoding),
            people=people if people is None or people_file is None else people_file.path,
            orders=_orders_of(table, asked, columns),
            members=_members_of(asked, published),
            answer=lambda placed: answer_to_sign(
                replace(Release.of(placed, asked), people=people), even_so=place.even_so
            ),
            explained=isinstance(place.even_so, str),
        )
        made = Release.of(place.publish(release, table), asked)
        gone = _measure_gone(subject, decision, counts.total, sets)
        recoding = decision.recoding if made.table is not None else None
        return replace(made, people=people, recoding=recoding, gone=gone, notes=table.notes)


def _measure_gone(
    subject: Subject, decision: Decision, total: int, sets: PublishedSets | None
) -> DataGone:
    """Return how much of the table is not published; perturbed columns are counted as they were."""
    policy = subject.policy
    changed: dict[str, float] = {}
    for name in policy.perturbations:
        counts = subject.table.count((name,))
        changed |= hidden_in(counts, policy)
    lost = None if sets is None else sets.recoded.loss
    return DataGone.of_decision(
        policy,
        subject.table.columns,
        decision,
        total,
        changed=changed,
        sets=lost,
        unowned=subject.table.unowned,
    )


def _with_numbers(
    rows: RecodedRows,
    manifest: Manifest,
    policy: Policy,
    raw: Callable[[], RawRows],
    days: Collection[str],
    report: Progress,
) -> tuple[NumberRows, Manifest]:
    """Replace labels by numbers; measure again what is promised if classes became one."""
    table = rows.to_memory(lambda done, total: report("publish", done, total))
    numbers = NumberRows.of(table, policy, raw, days)
    described = numbers.expand(manifest)
    if not numbers.merged:
        return numbers, described
    known = described.with_role("quasi-identifier")
    counts = open_table(numbers.table).count((*known, *policy.sensitive))
    seen = PublishedTable(
        given=numbers.table, named=Roles(None, None), data=numbers.table, record=described
    )
    kept, sizes = measure_promises(counts, seen), counts.project(known).rows
    return numbers, replace(
        described,
        models=kept.models,
        classes=ClassSizes.of(sizes),
        losses=public_losses(described.losses or {}, sizes, described.rows.suppressed),
    )


def _orders_of(table: Table, policy: Policy, columns: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the order of categories: as the policy has it, else as the source has."""
    rules = {name: policy.columns[name].hierarchy for name in columns if name in policy.columns}
    said = {
        name: _labels_in_order(name, builder, [text_of(value) for value in order])
        for name, builder in rules.items()
        if builder is not None and (order := getattr(builder, "order", None))
    }
    return table.orders(columns) | said


_MOST_NAMES = 10_000


def _members_of(policy: Policy, counts: FrequencySet) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return what labels stand for: in trees that all know, and where the policy says so.

    None of it depends on what a table has: a hierarchy is listed whole, or not at all.
    """
    found = {}
    for name in policy.quasi_identifiers:
        rule = policy.columns.get(name)
        builder = None if rule is None else rule.hierarchy
        if isinstance(builder, Automatic) and name in counts.names:
            column, rows = counts.column(name), counts.value_counts(name)
            # No known tree has more names.
            if len(column.known) > _MOST_NAMES or not column.known:
                continue
            builder = builder.describe(name, column.known, rows[: len(column.known)].tolist())
        if builder is None or not (builder.is_common or (rule is not None and rule.members)):
            continue
        tree = builder.build_stated(name)
        if tree is not None:
            listed = meanings(tree.bind(name, tree.values))
            found[name] = {label: meaning.members for label, meaning in listed.items()}
    return found


def _labels_in_order(name: str, builder: HierarchyBuilder, order: Sequence[str]) -> tuple[str, ...]:
    """Return all labels of categories with an order, by their first and then their last member."""
    tree, ends = builder.build(name, order), dict[str, tuple[int, int]]()
    for labels, codes in zip(tree.labels[:-1], tree.codes, strict=False):
        for code, label in enumerate(labels):
            members = [
                order.index(text_of(tree.values[at])) for at in np.flatnonzero(codes == code)
            ]
            ends.setdefault(label, (members[0], members[-1]))
    return tuple(sorted(ends, key=lambda label: ends[label]))


def _with_sets(
    part: RecodedRows, policy: Policy, decision: Decision, place: Place, report: Progress
) -> tuple[SetRows, PublishedSets]:
    """Recode the rows, and then the sets of those that are published."""
    separators = separators_of(policy)
    form = place.writes(part.table)
    as_text = form is not None and FORMATS[form].is_text
    rows = Sets.expect(part.table, policy.sets).rows_with_sets(
        part.recoding,
        part.columns,
        separators,
        as_text=as_text,
        suppression=part.suppression,
        weights=part.weights,
        rng=part.rng,
        progress=lambda done, total: report("publish", done, total),
    )
    found = recode_sets(rows, policy, decision, report)
    shown = joined_by(policy) if as_text else {}
    return SetRows.of(rows, found, policy), PublishedSets(found, shown)


def override_method(policy: Policy, method: str | Mapping[str, Any] | Partitioner) -> Policy:
    """Return the policy with another method, and tell what it takes the place of."""
    changed = policy.with_method(method)
    told = changed.changes_from(policy)
    if told:
        tell(f"{told}, as the policy has it.")
    return changed


def _require_alone(*named: object) -> None:
    """Raise if columns are named beside a policy."""
    if any(each not in (None, ()) for each in named):
        raise ParameterError(
            "policy",
            "together with quasi_identifiers, sensitive, plain or k",
            "given alone",
            why="the policy says what each column is and what is promised",
        )


def _warn_of_unnamed(policy: Policy, columns: Sequence[str]) -> None:
    unnamed = [name for name in columns if name not in policy.columns]
    if unnamed:
        warnings.warn(
            f"not published, because not named: {some(unnamed)}. Name what others may know in "
            "quasi_identifiers, and what is harmless and no identifier in plain.",
            stacklevel=3,
        )
