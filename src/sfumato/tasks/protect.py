"""Protect: anonymise, detect, refine or decouple, detect again, in one call."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from sfumato.content import Content, Heading, Part, Share, Showable, Table
from sfumato.errors import InfeasibleError, InputError, require_int
from sfumato.harm import Level
from sfumato.leaks import Findings
from sfumato.leaks.findings import facts_table, rules_table
from sfumato.partition import Partitioner
from sfumato.policy import GivenPolicy, Policy, policy_of
from sfumato.recode.deciding import count_population, counted_columns, decide, with_findings
from sfumato.recode.recoded import recode_counts
from sfumato.releases.manifest import build_manifest
from sfumato.releases.people import require_people
from sfumato.releases.places import Memory, Place, place_for
from sfumato.releases.release import DecoupledRelease, Release, open_stored
from sfumato.tables import DatabaseTable, open_table
from sfumato.tasks.anonymize import make_release, with_unprotected
from sfumato.tasks.decouple import decouple
from sfumato.tasks.detect import detect
from sfumato.text import join_words
from sfumato.typing import Progress, silent
from sfumato.verifier import Verdict

# Trying releases of a table that stays in its database: decided on counts, and never written.


class Attempts:
    """Releases of one table, which is counted once for all of them.

    Args:
        table: The opened table.
        policy: What every attempt keeps.
        seed: A secret number from which every attempt draws, so that equal ones are equal.
        report: Told how far each stage is.
    """

    def __init__(self, table: DatabaseTable, policy: Policy, seed: int, report: Progress) -> None:
        self._table = table
        self._seed = seed
        self._policy = policy
        self._report = report
        self._roles = policy.check_against(table.columns)
        columns = tuple(dict.fromkeys([*counted_columns(policy), *policy.sensitive]))
        self._counts = table.count(
            columns, progress=lambda done, total: report("count", done, total)
        )
        if not self._counts.total:
            raise InputError("the table has no rows: there is nobody to protect")
        self._population = count_population(policy, report)

    def release(self, refine: Sequence[Findings] = ()) -> Release:
        """Decide as `sf.anonymize` would; what would be published can be counted, and no more."""
        asked = with_findings(self._policy, refine) if refine else self._policy
        decided = counted_columns(asked)
        counts = self._counts.project(decided)
        rng = np.random.default_rng(self._seed)
        decision = decide(
            self._policy, asked, counts, self._population, rng=rng, report=self._report
        )
        published = recode_counts(self._counts, decision.recoding, decided, rng)
        manifest = build_manifest(asked, self._roles, decision, reproducible=False)
        # Suppressed rows are not among these counts, not even as stars.
        manifest = replace(manifest, rows=replace(manifest.rows, suppression="remove"))
        tried = self._table.simulate(published)
        return Release(manifest, Verdict(()), place=self._table.name, source=tried)


@dataclass(frozen=True, eq=False)
class Step:
    """One thing that was done, and what leaked after it."""

    action: str
    """anonymize, refine or decouple."""

    findings: Findings
    why: str
    """What led to it."""

    @property
    def exposed(self) -> int:
        """The number of people whom a rule or a fact tells something about, to their harm."""
        return self.findings.exposed

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "action": self.action,
            "why": self.why,
            "rules": len(self.findings.leaks),
            "facts": len(self.findings.harmful_facts),
            "exposed": self.exposed,
            "level": str(self.findings.level),
        }


@dataclass(frozen=True, eq=False)
class ProtectedRelease(Showable):
    """A release that went through detection, and the way it went."""

    release: Release | DecoupledRelease
    steps: tuple[Step, ...]
    blocked: str = ""
    """Why generalising did not help, if it did not."""

    @property
    def findings(self) -> Findings:
        """The findings in the release that came out."""
        return self.steps[-1].findings

    @property
    def holds(self) -> bool:
        """Whether nothing that harms a person very highly is left, as far as was looked."""
        return self.findings.level < Level.VERY_HIGH

    @property
    def warnings(self) -> tuple[str, ...]:
        """Facts that deserve a second look before publishing."""
        rules, facts = self.findings.leaks, self.findings.harmful_facts
        what = [f"{len(rules)} rules"] if rules else []
        what += [f"facts such as {facts[0]}"] if facts else []
        still = (
            f"{join_words(what)} still reveal a sensitive value of {self.steps[-1].exposed} people "
            f"(level {self.findings.level}): see the findings"
        )
        more = [text for text in (self.blocked, still if what else "") if text]
        return (*self.release.warnings, *more)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "release": self.release.to_dict(),
            "holds": self.holds,
            "steps": [step.to_dict() for step in self.steps],
            "findings": self.findings.to_dict(),
            "warnings": list(self.warnings),
        }

    def content(self) -> Content:
        """Return the steps, and the rules that are still found after the last one."""
        rows = []
        for step in self.steps:
            share = Share(step.exposed / max(step.findings.counts.total, 1))
            found = len(step.findings.leaks), len(step.findings.harmful_facts)
            rows.append((step.action, step.why, *found, step.exposed, share))
        heads = ("step", "why", "rules", "facts", "people exposed", Heading("share", bar=20))
        parts: list[Part] = [Table.of("", heads, rows, most=None)]
        if self.findings.leaks:
            parts.append(rules_table(self.findings.leaks))
        if self.findings.harmful_facts:
            parts.append(facts_table(self.findings.harmful_facts))
        remarks = tuple(f"Warning: {warning}" for warning in self.warnings)
        people = f"{self.steps[-1].exposed} of {self.findings.counts.total} people"
        headline = f"{len(self.steps)} steps; {people} are exposed after the last one"
        return Content(headline, tuple(parts), remarks=remarks)


def protect(  # noqa: PLR0913 - all but two have a default and are named
    data: object,
    policy: GivenPolicy,
    *,
    method: str | Mapping[str, Any] | Partitioner | None = None,
    alpha: float = 0.5,
    support: int | None = None,
    rounds: int = 3,
    decouple_with: str | None = "break-merge",
    output: str | PathLike[str] | None = None,
    format: str | None = None,  # noqa: A002 - the word users know
    force: bool = False,
    progress: Progress | None = None,
) -> ProtectedRelease:
    """Anonymise a table, look for what still leaks, and mend it.

    Where quasi-identifiers tell a sensitive value with more than `alpha`, those classes are
    generalised further, in several rounds if need be. Where sensitive columns tell about each
    other, by a learned rule or by a fact about a few people, the table is decoupled. After each
    step it is looked at again.

    Promises: what `anonymize` and `decouple` promise of the release that comes out, and that
    what is still found is told. Does not promise that nothing leaks in the end.

    Args:
        data: A path (CSV, Parquet, Feather), a pandas, Polars or Arrow table, or a table of
            DuckDB, PostgreSQL or Spark. There, what is only tried is never written.
        policy: A policy, its path, or its settings as a mapping.
        method: How rows are recoded; None takes the policy's.
        alpha: What a probability must exceed to be mended.
        support: Fewest rows behind a rule; None takes the k that is promised, else 5.
        rounds: Most times that classes are generalised further.
        decouple_with: How to decouple; None never does.
        output: The release folder to write; None gives the release back in memory. For a table of
            a database also `table:released`, or such an address, in the same database.
        format: csv, parquet or feather; None takes the input's.
        force: Replace a release that is already in `output`.
        progress: Told how far each stage is.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> table = pa.table({
        ...     "age": [31, 31, 33, 33, 47, 47, 48, 48] * 2,
        ...     "ill": ["flu", "flu", "flu", "flu", "gout", "gout", "gout", "gout"] * 2,
        ... })
        >>> policy = sf.Policy(
        ...     columns={"age": "quasi-identifier", "ill": "sensitive"},
        ...     models=[sf.models.KAnonymity(4)],
        ... )
        >>> done = protect(table, policy, support=2)
        >>> [step.action for step in done.steps], done.steps[0].exposed, done.steps[-1].exposed
        (['anonymize', 'refine'], 16, 0)
    """
    require_int("rounds", rounds, at_least=0)
    place = place_for(output, data, format=format, force=force, whole_rows=True)
    policy = policy_of(policy)
    if method is not None:
        policy = policy.with_method(method)
    # All attempts draw the same: what is published in the end is what was looked at.
    seed = secrets.randbits(128)
    table, attempts = open_stored(data), None
    if table is not None:
        # Before anything is tried, and even if it is decoupled in the end.
        place.require_room(table, policy.check_against(table.columns))
        attempts = Attempts(table, policy, seed, progress or silent)
    # One connection for all that follows: a file may not be open twice.
    data = table or data
    repeated = require_people(open_table(data), policy)

    def look(release: Release | DecoupledRelease) -> Findings:
        return detect(release, alpha=alpha, support=support, progress=progress)

    def publish(place: Place) -> Release:
        rng = np.random.default_rng(seed)
        opened = open_table(data)
        return make_release(
            opened, policy, place, refine=refine, rng=rng, report=progress or silent
        )

    def attempt() -> Release:
        return publish(Memory()) if attempts is None else attempts.release(refine)

    refine: list[Findings] = []
    release = attempt()
    steps = [Step("anonymize", look(release), "as the policy says")]
    blocked = ""
    while steps[-1].findings.advice().generalise and len(refine) < rounds:
        columns = ", ".join(steps[-1].findings.advice().generalise)
        refine.append(steps[-1].findings)
        try:
            release = attempt()
        except InfeasibleError as error:
            blocked = f"{columns} cannot be hidden by generalising: {error}"
            refine.pop()
            break
        steps.append(Step("refine", look(release), f"quasi-identifiers told {columns}"))
    apart = steps[-1].findings.advice().decouple
    if decouple_with is None or not apart:
        if output is not None:
            release = publish(place)
        return ProtectedRelease(with_unprotected(release, repeated), tuple(steps), blocked)
    decoupled = decouple(
        release, decouple_with, output=output, format=format, force=force, progress=progress
    )
    steps.append(Step("decouple", look(decoupled), f"{', '.join(apart)} told about each other"))
    return ProtectedRelease(decoupled, tuple(steps), blocked)
