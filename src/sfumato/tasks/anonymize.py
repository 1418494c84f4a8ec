"""Anonymise: from a table and a policy to a verified release."""

import secrets
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.checks import require_int
from sfumato.counts import FrequencySet
from sfumato.drafting.policy import policy_for_columns
from sfumato.errors import InputError, ParameterError, VerificationError, some
from sfumato.evidence import Key, SigningKey, write_evidence
from sfumato.evidence.keys import key_for
from sfumato.partition import PARTITIONERS, Partitioner
from sfumato.policy import GivenPolicy, Policy, policy_of
from sfumato.recode.budget import Budget, Fitted, count_within
from sfumato.recode.full_domain import decide_full_domain
from sfumato.recode.local import decide_locally
from sfumato.recode.problem import Decision, counted_columns
from sfumato.recoding import FullDomainRecoding, Recoding
from sfumato.releases.evidence import attestation
from sfumato.releases.manifest import (
    MANIFEST,
    PUBLISHED,
    FileRecord,
    Manifest,
    build_manifest,
    generalization_of,
)
from sfumato.releases.release import Release, hash_of, staged_folder
from sfumato.releases.stored import (
    StoredOutput,
    for_verifier,
    open_stored,
    output_of,
    refuse_files,
    refuse_memory,
    relation_of,
)
from sfumato.schema import Role
from sfumato.tables import FORMATS, Table, open_table
from sfumato.typing import Progress, silent
from sfumato.verifier import Verdict, verify_file, verify_folder, verify_stored
from sfumato.verifier.release import promises_in

if TYPE_CHECKING:
    from sfumato.leaks import Findings

AS_THEY_ARE = (Role.SENSITIVE, Role.PLAIN)
"""The roles of columns that no recoding spells anew."""


def anonymize(  # noqa: PLR0913 - every one has a default and is named
    data: object,
    policy: GivenPolicy | None = None,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] = (),
    plain: Sequence[str] = (),
    k: int | None = None,
    method: str | Mapping[str, Any] | Partitioner | None = None,
    refine: "Findings | Sequence[Findings] | None" = None,
    output: str | PathLike[str] | None = None,
    format: str | None = None,  # noqa: A002 - the word users know
    force: bool = False,
    key: Key | None = None,
    memory: str | int | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Release:
    """Generalise a table until the policy's models hold, losing as little as possible.

    Promises: what is returned or written keeps every model of the policy, was verified
    from the published rows by independent code, and says nothing about the order of the
    input. If anything fails, nothing is written. Does not promise what the models do
    not: see each model's own words.

    Instead of a policy, name the columns. Then k-anonymity is promised, and for each sensitive
    column that every class shows at least two of its values (distinct l-diversity). Hierarchies
    are built from the values, up to 5 % of the rows may be left out, and columns that are not
    named are not published. `release.policy` is that policy, to be read, saved and changed.

    Args:
        data: A path (CSV, Parquet, Feather), a pandas, Polars or Arrow table, or a table of
            DuckDB, PostgreSQL or Spark: its address (`duckdb:///file.db?table=people`) or the
            object that its library has for it.
        policy: A policy, its path, or its settings as a mapping.
        quasi_identifiers: Instead of a policy: the columns others may know.
        sensitive: The columns nobody should learn about a person.
        plain: The columns that are published as they are.
        k: The fewest people in a class; None is 5.
        method: `full-domain` (one level per column for the whole table), or a local method:
            `top-down`, `mondrian` or `bottom-up`, which generalise rows only where they must.
            None takes the policy's.
        refine: What `sf.detect` found in an earlier release of this table, or in several:
            classes in which quasi-identifiers tell a sensitive value are generalised further,
            others are not.
        output: The release folder to write; None gives the table back in memory. For a table of a
            database also `table:released`, or the address of such a table, in the same database;
            the manifest is in `released_manifest` beside it.
        format: csv, parquet or feather; None takes the input's.
        force: Replace a release that is already in `output`.
        key: The private key to sign it with, or its file; see `sf.evidence.keygen`.
        memory: How much memory it may take here, such as `2GB`; what a database takes is for its
            own settings. If the table has more combinations than fit, full-domain starts from
            coarser levels and the release says from which. A local method divides a table of
            Spark into fragments, which its workers solve with as much memory each, and refuses
            other tables. None: as much as the combinations take.
        seed: Fixes the random order of the rows, for tests and experiments. Such a release
            is marked as reproducible: it is not for publication.
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
    if output is None:
        refuse_memory(data)
    stored = output_of(output, data, force=force, format=format)
    signer = key_for(key, output)
    budget = None if memory is None else Budget.of(memory)
    named = (quasi_identifiers, sensitive, plain, k)
    policy = policy_for_columns(*named) if policy is None else _policy_alone(policy, *named)
    if method is not None:
        policy = policy.with_method(method)
    partitioner = policy.make_method(PARTITIONERS)
    table = open_table(data)
    if quasi_identifiers is not None:
        _warn_of_unnamed(policy, table.columns)
    chosen = _format_of(table, format)
    roles = policy.check_against(table.columns)
    if output is not None and stored is None:
        refuse_files(table, chosen, [name for name, role in roles.items() if role in AS_THEY_ARE])
    asked = policy if refine is None else with_findings(policy, refine)
    columns = [name for name, role in roles.items() if role in PUBLISHED]
    rng = np.random.default_rng(secrets.randbits(128) if seed is None else seed)
    fitted = _counted(table, asked, partitioner, budget, report, coarsens=asked is policy)
    if fitted.counts.total == 0:
        raise InputError("the table has no rows: there is nobody to protect and nothing to publish")
    with _decided(policy, asked, fitted, budget, table, columns, stored, report) as decided:
        decision, notes, rows = decided
        manifest = build_manifest(
            asked, roles, decision, reproducible=seed is not None, notes=notes
        )
        job = _Job(asked, table, rows, decision.recoding, columns, manifest, rng, report)
        if stored is not None:
            return job.to_table(stored, signer, force=force)
        if output is None:
            return job.in_memory()
        return job.to_folder(Path(output), chosen, signer, force=force)


def _policy_alone(policy: GivenPolicy, *named: object) -> Policy:
    """Return the policy that was given, without columns beside it."""
    if any(each not in (None, ()) for each in named):
        raise ParameterError(
            "policy",
            "together with quasi_identifiers, sensitive, plain or k",
            "given alone",
            why="the policy says what each column is and what is promised",
        )
    return policy_of(policy)


def _warn_of_unnamed(policy: Policy, columns: Sequence[str]) -> None:
    unnamed = [name for name in columns if name not in policy.columns]
    if unnamed:
        warnings.warn(
            f"not published, because not named: {some(unnamed)}. Name what is harmless, as in "
            f"plain=[{unnamed[0]!r}], and what others may know in quasi_identifiers.",
            stacklevel=3,
        )


@contextmanager
def _decided(
    policy: Policy,
    asked: Policy,
    fitted: Fitted,
    budget: Budget | None,
    table: Table,
    columns: list[str],
    stored: StoredOutput | None,
    report: Progress,
) -> Iterator[tuple[Decision, Sequence[str], Table]]:
    """Decide, and say where the rows to publish are: workers may have recoded them already."""
    partitioner = policy.make_method(PARTITIONERS)
    counts = fitted.counts
    if asked is not policy:
        yield decide(policy, asked, counts, None, report), fitted.notes, table
    elif budget is None or partitioner is None or not fitted.notes:
        within = fitted.policy
        decision = decide(within, within, counts, population_of(policy, report), report)
        yield decision, fitted.notes, table
    else:
        from sfumato.recode.fragments import decided_in_fragments

        report("partition", 0, counts.total)
        place = None if stored is None else stored.name
        with decided_in_fragments(policy, fitted, budget, table, columns, place) as solved:
            report("partition", counts.total, counts.total)
            yield solved.decision, [solved.note], solved.rows


def _counted(
    table: Table,
    policy: Policy,
    partitioner: Partitioner | None,
    budget: Budget | None,
    report: Progress,
    *,
    coarsens: bool,
) -> Fitted:
    """Count what a decision needs, within the budget if there is one."""
    columns = counted_columns(policy)

    def told(done: int, total: int | None) -> None:
        report("count", done, total)

    if budget is None:
        return Fitted(table.count(columns, progress=told), policy, ())
    # A population would have to be counted at the same levels; only workers can go on from coarse
    # counts row by row.
    able = partitioner is None or table.has_workers
    coarsens = coarsens and policy.population is None and able
    return count_within(budget, table, policy, columns, told, coarsens=coarsens)


def with_findings(policy: Policy, findings: "Findings | Sequence[Findings]") -> Policy:
    """Ask, on top of a policy, that what leaked does not; see `sfumato.recode.refine`."""
    from sfumato.recode.refine import with_findings as refined

    return refined(policy, findings if isinstance(findings, Sequence) else [findings])


def decide(
    policy: Policy,
    asked: Policy,
    counts: FrequencySet,
    population: FrequencySet | None,
    report: Progress,
) -> Decision:
    """Decide what becomes of a counted table.

    Args:
        policy: What was asked for in the first place.
        asked: The same policy, or what `with_findings` made of it.
        counts: The table, over the columns that `asked` decides on.
        population: Everybody the data was drawn from, if the policy names them.
        report: Told how far each stage is.
    """
    partitioner = policy.make_method(PARTITIONERS)
    if asked is not policy:
        from sfumato.recode.refine import decide_refined

        return decide_refined(policy, asked, partitioner, counts, report)
    if partitioner is None:
        return decide_full_domain(
            policy, counts, population, lambda checks: report("search", checks, None)
        )
    return decide_locally(
        policy, partitioner, counts, lambda done, total: report("partition", done, total)
    )


@dataclass(frozen=True, eq=False)
class _Job:
    """A decided release that is to be published and verified."""

    policy: Policy
    table: Table
    rows: Table
    """Where the rows to publish are: in the table, unless they were recoded elsewhere."""

    recoding: Recoding
    columns: list[str]
    manifest: Manifest
    rng: np.random.Generator
    report: Progress

    def in_memory(self) -> Release:
        """Publish to a table of the kind that was given."""
        published = self.table.publish_table(
            self.recoding,
            self.columns,
            suppression=self.policy.suppression.rows,
            rng=self.rng,
            progress=lambda done, total: self.report("publish", done, total),
        )
        self.report("verify", 0, None)
        promises = promises_in(self.manifest.claims(), **self._population())
        verdict = _require(verify_file(published, promises))
        return Release(
            self.manifest, verdict, table=self.table.native(published), policy=self.policy
        )

    def to_folder(
        self, target: Path, chosen: str, key: SigningKey | None, *, force: bool
    ) -> Release:
        """Publish to a folder that appears only when it is complete and verified."""
        with staged_folder(target, force=force) as stage:
            written = self.rows.publish(
                self.recoding,
                self.columns,
                stage / f"data.{chosen}",
                format=chosen,
                suppression=self.policy.suppression.rows,
                rng=self.rng,
                progress=lambda done, total: self.report("publish", done, total),
            )
            file = FileRecord(
                written.path.name,
                written.format,
                written.rows,
                hash_of(written.path),
                delimiter=written.delimiter,
            )
            manifest = replace(self.manifest, files=(file,))
            (stage / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
            self.report("verify", 0, None)
            verdict = _require(verify_folder(stage, **self._population()))
            write_evidence(stage, verdict, key)
        return Release(manifest, verdict, folder=target, policy=self.policy)

    def to_table(self, output: StoredOutput, key: SigningKey | None, *, force: bool) -> Release:
        """Publish to a table of the same database that appears only when it is verified."""
        table = open_stored(self.table)
        assert table is not None  # noqa: S101 - nothing else has such an output
        signed = key is not None
        with table.releasing(output.name, force=force, signed=signed) as unfinished:
            stored = self.rows.publish_into(
                self.recoding,
                self.columns,
                unfinished.name,
                suppression=self.policy.suppression.rows,
                progress=lambda done, total: self.report("publish", done, total),
            )
            manifest = replace(self.manifest, table=FileRecord(output.name, rows=stored.rows))
            text = manifest.to_json()
            unfinished.store_manifest(text)
            self.report("verify", 0, None)
            made = table.open_other(unfinished.name)
            verdict = _require(verify_stored(relation_of(made), text, **self._population()))
            if key is not None:
                unfinished.store_evidence(attestation(text, {output.name: made}, verdict, key))
        source = output.opens(output.name, table)
        return Release(manifest, verdict, place=output.place, source=source, policy=self.policy)

    def _population(self) -> dict[str, Any]:
        """Say whom the verifier compares with, where models do."""
        recoding = self.recoding
        if self.policy.population is None or not isinstance(recoding, FullDomainRecoding):
            return {}
        return {
            "population": for_verifier(self.policy.population),
            "generalization": generalization_of(recoding),
        }


def _format_of(table: Table, given: str | None) -> str:
    if given is not None and given not in FORMATS:
        raise ParameterError("format", given, "one of " + ", ".join(FORMATS))
    if given is not None:
        return given
    return table.kind if table.kind in FORMATS else "parquet"


def population_of(policy: Policy, report: Progress) -> FrequencySet | None:
    """Count everybody the data was drawn from, if the policy names them."""
    if policy.population is None:
        return None
    people = open_table(policy.population)
    return people.count(
        policy.quasi_identifiers,
        progress=lambda done, total: report("population", done, total),
    )


def _require(verdict: Verdict) -> Verdict:
    if not verdict.holds:
        raise VerificationError(
            "the release was not published, because the verifier does not find in it what was "
            f"promised. This is a fault of Sfumato; please report it.\n{verdict}"
        )
    return verdict
