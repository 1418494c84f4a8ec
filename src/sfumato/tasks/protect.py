"""Protect: anonymise, detect, refine or decouple, detect again, in one call."""

import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sfumato.attacks import DeFinetti, EqualCounts, Outcome
from sfumato.attacks.adversary.judging import outcomes
from sfumato.attacks.adversary.target import target_of
from sfumato.attacks.adversary.trial import CountedTable, columns_to_count, try_on_counts
from sfumato.attacks.base import accept
from sfumato.dataclasses import dataclass
from sfumato.decouplings import DECOUPLINGS, BreakMerge, MergedTables
from sfumato.decouplings.base import GroupedTables, LinkedTables
from sfumato.decouplings.likelihood import worst_with_a_value
from sfumato.drafting.policy import policy_for_columns
from sfumato.errors import (
    InfeasibleError,
    InputError,
    ParameterError,
    PolicyError,
    require_int,
    require_number,
)
from sfumato.harm import Level
from sfumato.leaks import Findings
from sfumato.leaks.findings import facts_table, rules_table
from sfumato.models import DistinctLDiversity, KAnonymity, TCloseness
from sfumato.networks import given_network
from sfumato.partition import Partitioner
from sfumato.policy import DetectionRule, GivenPolicy, Policy, policy_of
from sfumato.policy.document import parse, read_file
from sfumato.recode.deciding import count_population, with_findings
from sfumato.recode.gone import DataGone
from sfumato.releases.opening import open_release
from sfumato.releases.people_file import UnfinishedPeople, unfinished_people
from sfumato.releases.places import MemoryPlace, Place, place_for
from sfumato.releases.preparing import open_prepared
from sfumato.releases.release import DecoupledRelease, Release, open_stored
from sfumato.releases.subject import Subject, needs_single_rows
from sfumato.showing.content import (
    Content,
    ContentTable,
    Heading,
    Listing,
    Part,
    Sentence,
    Share,
    Showable,
)
from sfumato.tables import DatabaseTable, Table
from sfumato.tasks.anonymize import (
    make_release,
    override_method,
    refuse_people_file,
    warn_of_people,
    with_unprotected,
)
from sfumato.tasks.assessment import Assessment
from sfumato.tasks.chain import ChainLimits, find_chain
from sfumato.tasks.decouple import decouple
from sfumato.tasks.detect import detect
from sfumato.tasks.price import ORDER, RemedyChain, Wanted
from sfumato.tasks.trying import PolicyTrials, judge_quickly, judge_trial
from sfumato.tasks.verify import verify
from sfumato.text import join_words, percent
from sfumato.typing import Progress, silent


@dataclass(frozen=True, eq=False)
class ProtectStep:
    """One thing that was done, and what leaked after it."""

    action: str
    """anonymize, refine or decouple."""

    findings: Findings
    why: str
    """What led to it."""

    attacks: tuple[Outcome, ...] = ()
    """What decoupled tables teach of what joins them; empty if they are in one piece."""

    @property
    def exposed(self) -> int:
        """The number of people whom a rule, a fact or an attack tells about, to their harm."""
        return max([self.findings.exposed, *(each.people for each in self.succeeded)])

    @property
    def succeeded(self) -> tuple[Outcome, ...]:
        """The attacks by which a person is harmed very highly, the worst first."""
        found = [each for each in self.attacks if not each.holds]
        return tuple(sorted(found, key=lambda each: -each.people))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "action": self.action,
            "why": self.why,
            "rules": len(self.findings.leaks),
            "facts": len(self.findings.harmful_facts),
            "exposed": self.exposed,
            "level": str(self.findings.level),
            "attacks": [outcome.to_dict() for outcome in self.attacks],
        }


@dataclass(frozen=True, eq=False)
class ProtectedRelease(Showable):
    """A release that went through detection, and the way it went."""

    release: Release | DecoupledRelease
    steps: tuple[ProtectStep, ...]
    blocked: str = ""
    """Why generalising did not help, if it did not."""

    assessment: Assessment | None = None
    """The verdict on the release; None for one in a database, which `sf.verify` judges."""

    chain: RemedyChain | None = None
    """The remedies that were applied to reach an answer, each with its price; None if none was
    asked for."""

    notes: tuple[str, ...] = ()
    """What was promised without being asked for."""

    gone: DataGone | None = None
    """How much of the table is gone, columns that are left out included: for the publisher."""

    @property
    def findings(self) -> Findings:
        """The findings in the release that came out."""
        return self.steps[-1].findings

    @property
    def holds(self) -> bool:
        """Whether nothing is left for which the verdict would be *no*, as far as was looked.

        If an answer was asked for, whether it is that one, or better.
        """
        if self.chain is not None and self.assessment is not None:
            return ORDER.index(self.assessment.answer) >= ORDER.index(self.chain.until)
        mended = self.findings.level < Level.VERY_HIGH and not self.steps[-1].succeeded
        return mended and (self.assessment is None or self.assessment.holds)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Facts that deserve a second look before publishing."""
        rules, facts = self.findings.leaks, self.findings.harmful_facts
        what = [f"{len(rules)} rule{'s' if len(rules) > 1 else ''}"] if rules else []
        what += [f"facts such as {facts[0]}"] if facts else []
        reveal = "reveals" if len(rules) == 1 and not facts else "reveal"
        still = (
            f"{join_words(what)} still {reveal} a sensitive value of {self.steps[-1].exposed} "
            f"people (level {self.findings.level}): see the findings"
        )
        more = [text for text in (self.blocked, still if what else "") if text]
        more += [
            f"{each}: no groups were found whose tables do not teach it. Publish fewer columns"
            for each in self.steps[-1].succeeded[:1]
        ]
        return (*self.notes, *self.release.warnings, *more)

    def __repr__(self) -> str:
        return f"<ProtectedRelease {self.headline}>"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "release": self.release.to_dict(),
            "holds": self.holds,
            "answer": None if self.assessment is None else self.assessment.answer,
            "why": [] if self.assessment is None else list(self.assessment.why),
            "steps": [step.to_dict() for step in self.steps],
            **({} if self.gone is None else {"gone": self.gone.to_dict()}),
            **({} if self.chain is None else {"chain": self.chain.to_dict()}),
            "findings": self.findings.to_dict(),
            "warnings": list(self.warnings),
        }

    def content(self) -> Content:
        """Return the steps, and the rules that are still found after the last one."""
        rows = []
        for step in self.steps:
            share = Share(step.exposed / max(step.findings.people, 1))
            found = len(step.findings.leaks), len(step.findings.harmful_facts)
            rows.append((step.action, step.why, *found, step.exposed, share))
        heads = ("step", "why", "rules", "facts", "people exposed", Heading("share", bar=20))
        parts: list[Part] = [ContentTable.of("", heads, rows, most=None)]
        if isinstance(self.release, DecoupledRelease) and self.release.method == BreakMerge.name:
            parts.append(Sentence(_joined_again(self.release.grouped)))
        if self.gone is not None:
            parts.append(Sentence(f"Gone: {self.gone}."))
        if self.findings.leaks:
            parts.append(rules_table(self.findings.leaks))
        if self.findings.harmful_facts:
            parts.append(facts_table(self.findings.harmful_facts))
        if self.chain is not None:
            chain = self.chain.content()
            parts += [Sentence(f"{chain.headline}."), *chain.parts]
        remarks = tuple(f"Warning: {warning}" for warning in self.warnings)
        if self.assessment is not None:
            reasons = [f"{why[:1].upper()}{why[1:]}" for why in self.assessment.why]
            parts += [Sentence(self.assessment.headline), Listing.of(reasons, most=4)]
        people = f"{self.steps[-1].exposed} of {self.findings.people} people"
        steps = f"{len(self.steps)} step{'s' if len(self.steps) > 1 else ''}"
        headline = f"{steps}; {people} are exposed after the last one"
        risk = 0 if self.assessment is None else self.assessment.at_risk
        if risk != self.steps[-1].exposed:
            headline += f", and {risk} at risk by the verdict"
        return Content(headline, tuple(parts), remarks=remarks)


def protect(  # noqa: PLR0913 - all but two have a default and are named
    data: object,
    policy: GivenPolicy | None = None,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] = (),
    plain: Sequence[str] = (),
    until: Wanted | None = None,
    at_most_loss: float = 1.0,
    at_most_gone: float = 1.0,
    method: str | Mapping[str, Any] | Partitioner | None = None,
    alpha: float = 0.5,
    support: int | None = None,
    rounds: int = 3,
    decouple_with: str | None = "break-merge",
    output: str | PathLike[str] | None = None,
    format: str | None = None,  # noqa: A002 - the word users know
    force: bool = False,
    people_file: str | PathLike[str] | None = None,
    progress: Progress | None = None,
) -> ProtectedRelease:
    """Anonymise a table, look for what still leaks, and mend it.

    Where quasi-identifiers tell a sensitive value with more than `alpha`, those classes are
    generalised further, in several rounds if need be. Where sensitive columns tell about each
    other, by a learned rule or by a fact about a few people, the table is decoupled. If the tables
    then teach what joins them (`attacks.DeFinetti`, `attacks.EqualCounts`), groups are made more
    alike, and after that columns are left out, until they do not. After each step it is looked at
    again.

    With `until` it goes on until the verdict gives that answer: remedies for its reasons are tried
    on counts, one after the other (more promises, a larger k, a higher level, a column left out,
    classes generalised further, columns published apart), and the cheapest chain of them that
    leads there is applied. `chain` has its steps, each with what it costs. Without a policy, or by
    one that promises nothing, k = 5 is promised and two values of each sensitive column in every
    class, and it is said.

    Where the policy counts people, who may have several rows, so does this. A table is not
    decoupled then (see `sf.decouple`): what sensitive columns reveal about each other is left, and
    said.

    Promises: what `anonymize` and `decouple` promise of the release that comes out, and that
    what is still found is told. Does not promise that nothing leaks in the end.

    Args:
        data: A path (CSV, Parquet, SPSS, Excel …), a pandas, Polars or Arrow table, or a table of
            DuckDB, PostgreSQL or Spark. There, what is only tried is never written.
        policy: A policy, its path, or its settings as a mapping. None takes the columns that are
            named instead; others are not published.
        quasi_identifiers: The columns that others may know, without a policy.
        sensitive: The columns that should not become known of a person, likewise.
        plain: The columns that are published as they are, likewise.
        until: The answer to go on to: `yes`, or `with care`; None looks for leaks only.
        at_most_loss: The most normalised loss of the quasi-identifiers that a remedy may lead to.
        at_most_gone: The most of the whole table that may be gone by it, columns that are left out
            included; see `sfumato.recode.gone.DataGone`.
        method: How rows are recoded; None takes the policy's.
        alpha: What a probability must exceed to be mended.
        support: Fewest rows behind a rule; None takes the k that is promised, else 5.
        rounds: Most times that classes are generalised further.
        decouple_with: How to decouple; None never does.
        output: The release folder to write; None gives the release back in memory. For a table of
            a database also `table:released`, or such an address, in the same database.
        format: csv, parquet, feather, sav, dta or xlsx; None takes the input's.
        force: Replace a release that is already in `output`.
        people_file: Where to keep who has which of the published rows, if people are counted: a
            private .parquet or .csv file; see `sf.anonymize`.
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
    limits = _read_limits(until, at_most_loss, at_most_gone)
    policy, promised = with_promises(policy, quasi_identifiers, sensitive, plain)
    place = place_for(output, data, format=format, force=force, whole_rows=True)
    policy = _read_policy(policy, method, people_file)
    # All attempts draw the same: what is published in the end is what was looked at.
    seed = secrets.randbits(128)
    stored, simulate = open_stored(data), None
    # One connection for all that follows: a file may not be open twice.
    opened = open_prepared(stored or data, policy, output)
    table = opened if isinstance(opened, DatabaseTable) else None
    given, subject = policy, Subject.of(opened, policy)
    policy, repeated = subject.policy, subject.notes
    if table is not None:
        # Before anything is tried, and even if it is decoupled in the end.
        place.require_room(table, subject.roles)
        simulate = partial(_simulate, table, _count(table, policy, seed, progress or silent))

    rule = _detection_of(policy)

    def look(release: Release | DecoupledRelease) -> Findings:
        published = open_release(release)
        # A column may have been left out since, and then nothing depends on it.
        here = rule.among(published.columns)
        return detect(
            published,
            alpha=alpha,
            learner=here.learner,
            network=here.network,
            order=here.order,
            support=support,
            prior=here.prior,
            progress=progress,
        )

    def publish(place: Place, asked: Policy, people: UnfinishedPeople | None = None) -> Release:
        rng, report = np.random.default_rng(seed), progress or silent
        return make_release(
            subject.under(asked), place, refine=refine, rng=rng, report=report, people_file=people
        )

    def attempt(asked: Policy) -> Release:
        return publish(MemoryPlace(), asked) if simulate is None else simulate(asked, refine)

    if until is not None:
        trials = PolicyTrials(
            opened,
            given,
            judge_trial,
            quick=judge_quickly,
            seed=seed,
            report=progress or silent,
        )
        chain = find_chain(
            trials,
            given,
            until,
            limits=limits,
            look=look if rounds else None,
            # What is only tried is never written into a database.
            apart=decouple_with is not None and table is None,
        )
        to = _Destination(place, output, format, force, people_file)
        return _publish_chain(chain, opened, to, look, seed, progress, promised)

    refine: list[Findings] = []
    release = attempt(policy)
    asked = "k = 5 and two values of each sensitive column" if promised else "as the policy says"
    steps = [ProtectStep("anonymize", look(release), asked)]
    release, blocked = _generalise(release, lambda: attempt(policy), look, steps, refine, rounds)
    apart = () if decouple_with is None else steps[-1].findings.advice().decouple
    if apart and policy.counted_person is not None:
        blocked = "; ".join(filter(None, [blocked, _left_together(apart)]))
        apart = ()
    if not apart:
        if output is not None or people_file is not None:
            with unfinished_people(people_file, output=output, force=force) as unfinished:
                release = publish(place, policy, unfinished)
        repeated = (*repeated, *warn_of_people(release, people_file))
        release = with_unprotected(release, repeated, opened)
        done = ProtectedRelease(release, tuple(steps), blocked, notes=promised, gone=release.gone)
        return _judge(done, policy, people_file, progress)

    def take_apart(release: Release, **where: Any) -> DecoupledRelease:  # noqa: ANN401 - options
        return decouple(release, decouple_with, progress=progress, **where)

    why = f"{', '.join(apart)} revealed each other"
    found = _find_groups(
        _defences(policy, why, steps),
        lambda asked: release if asked is policy else attempt(asked),
        take_apart,
        look,
        steps,
    )
    # What was tried lies in memory: the format is still that of the input.
    decoupled = (
        found.decoupled
        if output is None
        else take_apart(
            found.release, output=output, format=format or place.writes(opened), force=force
        )
    )
    done = ProtectedRelease(
        decoupled,
        tuple(steps),
        blocked or found.blocked,
        notes=promised,
        gone=found.release.gone,
    )
    return _judge(done, found.policy, None, progress)


def _joined_again(grouped: GroupedTables) -> str:
    """Return what the tables say when they are joined (merged) on the group again."""
    names = [*(column.name for column in grouped.quasi_identifiers), *grouped.names]
    rows = MergedTables(LinkedTables.of(grouped, names)).total
    largest = np.array([table.largest(len(grouped)) for table in grouped.sensitive])
    known = np.array([table.totals(len(grouped)) for table in grouped.sensitive])
    worst = worst_with_a_value(largest, known)
    return (
        f"Joined again (sfumato merge), the tables give {rows} rows that may be, for "
        f"{grouped.total} people: who knows the group and one value guesses the others with up to "
        f"{percent(float(worst))}."
    )


def _read_limits(until: str | None, loss: float, gone: float) -> ChainLimits:
    """Return how much a chain of remedies may cost; raise if what is asked for makes no sense."""
    if until not in (None, "yes", "with care"):
        raise ParameterError("until", until, "yes or 'with care'")
    for name, value in (("at_most_loss", loss), ("at_most_gone", gone)):
        require_number(name, value, at_least=0, at_most=1)
        if until is None and value < 1:
            raise ParameterError(
                name, value, "left out, or given with until", why="it limits what remedies may cost"
            )
    return ChainLimits(loss, gone)


def with_promises(
    policy: GivenPolicy | None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] = (),
    plain: Sequence[str] = (),
) -> tuple[Policy, tuple[str, ...]]:
    """Return a policy that promises something, and what to say if it did not by itself.

    Args:
        policy: What was given: a policy, its path or its settings, perhaps with roles alone.
        quasi_identifiers: The columns that others may know, without a policy.
        sensitive: The columns that should not become known of a person, likewise.
        plain: The columns that are published as they are, likewise.

    >>> roles = {"columns": {"age": "quasi-identifier", "ill": "sensitive"}}
    >>> found, notes = with_promises(roles)
    >>> found.models
    (KAnonymity(k=5), DistinctLDiversity(column='ill', l=2))
    >>> notes
    ('nothing was promised: k = 5 is, and two values of ill in every class',)
    """
    if policy is None:
        found = policy_for_columns(quasi_identifiers, sensitive, plain, None)
        return found, _say_promised(found)
    if quasi_identifiers is not None or sensitive or plain:
        raise ParameterError(
            "quasi_identifiers", quasi_identifiers, "left out, or given without a policy"
        )
    if isinstance(policy, Policy):
        return policy, ()
    folder = None
    settings: Any = policy
    if not isinstance(policy, Mapping):
        folder = Path(policy).parent
        settings = parse(read_file(Path(policy)), origin=str(policy)).root
    if not isinstance(settings, Mapping) or settings.get("models") or "columns" not in settings:
        return policy_of(policy), ()
    # A promise that any policy may make, to read the roles; then those that go with them.
    first = policy_of({**settings, "models": [{"model": KAnonymity.name, "k": 5}]})
    models = [*first.models, *(DistinctLDiversity(name, 2) for name in first.sensitive)]
    found = first.replace(models=models)
    return found if folder is None else found.relative_to(folder), _say_promised(found)


def _say_promised(policy: Policy) -> tuple[str, ...]:
    secret = policy.sensitive
    values = f", and two values of {join_words(secret)} in every class" if secret else ""
    return (f"nothing was promised: k = 5 is{values}",)


class _Destination(NamedTuple):
    """Where a release goes."""

    place: Place
    output: str | PathLike[str] | None
    format: str | None
    force: bool
    people_file: str | PathLike[str] | None


def _publish_chain(
    chain: RemedyChain,
    table: Table,
    to: _Destination,
    look: Callable[[Release | DecoupledRelease], Findings],
    seed: int,
    progress: Progress | None,
    promised: tuple[str, ...],
) -> ProtectedRelease:
    """Publish what a chain of remedies leads to, with the verdict on it."""
    policy, report = chain.policy, progress or silent
    subject = Subject.of(table, policy, alone=needs_single_rows(policy))
    apart = policy.make_decoupling(DECOUPLINGS)
    refine = list(chain.refine) or None
    release: Release | DecoupledRelease
    with unfinished_people(to.people_file, output=to.output, force=to.force) as unfinished:
        place = to.place if apart is None else MemoryPlace()
        people = unfinished if apart is None else None
        rng = np.random.default_rng(seed)
        release = made = make_release(
            subject, place, refine=refine, rng=rng, report=report, people_file=people
        )
    if apart is None:
        notes = (*subject.notes, *warn_of_people(made, to.people_file))
        release = with_unprotected(made, notes, table)
    else:
        form = None if to.output is None else to.format or to.place.writes(table)
        where: dict[str, Any] = {"output": to.output, "format": form, "force": to.force}
        release = decouple(made, apart, progress=progress, **where)
    action = "decouple" if apart is not None else "refine" if refine else "anonymize"
    steps = (ProtectStep(action, look(release), chain.headline),)
    blocked = "" if chain.reached else f"no chain of remedies that was tried leads to {chain.until}"
    done = ProtectedRelease(release, steps, blocked, chain=chain, notes=promised, gone=made.gone)
    return _judge(done, policy, to.people_file, progress)


def _count(table: DatabaseTable, policy: Policy, seed: int, report: Progress) -> CountedTable:
    """Count a table that stays in its database, once for all that is tried."""
    columns = columns_to_count(policy, table.columns)
    counts = table.count(columns, progress=lambda done, total: report("count", done, total))
    if not counts.total:
        raise InputError("the table has no rows: there is no person to protect")
    everyone, path = count_population(policy, report), policy.population_table
    populations = {} if path is None or everyone is None else {path: everyone}
    return CountedTable(
        counts, tuple(table.columns), populations, seed, report, unowned=table.unowned
    )


def _simulate(
    table: DatabaseTable, counted: CountedTable, policy: Policy, refine: Sequence[Findings]
) -> Release:
    """Return what would be published in a database: it can be counted there, and no more."""
    asked = with_findings(policy, refine) if refine else policy
    made = try_on_counts(policy, counted, asked=asked).release
    assert isinstance(made, Release)  # noqa: S101 - nothing is decoupled yet
    # Its seed is a secret, unlike those of other trials.
    manifest, source = replace(made.manifest, reproducible=False), table.simulate(made.table)
    return replace(made, manifest=manifest, table=None, place=table.name, source=source)


def _judge(
    protected: ProtectedRelease,
    policy: Policy,
    people_file: str | PathLike[str] | None,
    progress: Progress | None,
) -> ProtectedRelease:
    """Return the same with the verdict, unless it is in a database."""
    if protected.release.place is not None:
        return protected
    counted = "counted" in (protected.release.manifest.person or {})
    people_file = people_file if counted else None
    found = verify(protected.release, policy, people_file=people_file, progress=progress)
    return replace(protected, assessment=found)


def _read_policy(
    given: Policy,
    method: str | Mapping[str, Any] | Partitioner | None,
    people_file: str | PathLike[str] | None,
) -> Policy:
    """Return the policy with the method that was asked for, if people files go with it."""
    policy = given
    if people_file is not None and policy.counted_person is None:
        refuse_people_file(people_file)
    return policy if method is None else override_method(policy, method)


def _left_together(columns: Sequence[str]) -> str:
    """Return why columns that tell about each other stay in one table."""
    return (
        f"{join_words(columns)} reveal each other, and a table in which people have several "
        "rows is not taken apart. Leave one of them out, or give one row per person (sf.widen)"
    )


def _detection_of(policy: Policy) -> DetectionRule:
    """Return how a policy looks for dependencies, with the arrows of its network if it has one."""
    rule = policy.detect
    if not isinstance(rule.network, str):
        return rule
    columns = (*policy.quasi_identifiers, *policy.sensitive)
    return rule.replace(network=given_network(rule.network, columns).network.edges)


def _generalise(
    release: Release,
    attempt: Callable[[], Release],
    look: Callable[[Release], Findings],
    steps: list[ProtectStep],
    refine: list[Findings],
    rounds: int,
) -> tuple[Release, str]:
    """Generalise where quasi-identifiers tell too much; return why that failed, if it did.

    Args:
        release: The release as the policy says.
        attempt: Makes it again, by what is to be refined.
        look: Looks for what leaks.
        steps: What was done; each round is added.
        refine: What is to be refined; each round adds to it.
        rounds: The most rounds.
    """
    while steps[-1].findings.advice().generalise and len(refine) < rounds:
        columns = ", ".join(steps[-1].findings.advice().generalise)
        refine.append(steps[-1].findings)
        try:
            release = attempt()
        except InfeasibleError as error:
            refine.pop()
            return release, f"{columns} cannot be hidden by generalising: {error}"
        steps.append(ProtectStep("refine", look(release), f"quasi-identifiers revealed {columns}"))
    return release, ""


class _Choice(NamedTuple):
    """The release whose tables teach least once they are apart."""

    release: Release
    decoupled: DecoupledRelease
    policy: Policy
    """The policy that it keeps."""

    blocked: str
    """Why groups could not be made to teach less, if they could not."""


def _find_groups(
    defences: Iterable[tuple[Policy, str]],
    attempt: Callable[[Policy], Release],
    take_apart: Callable[[Release], DecoupledRelease],
    look: Callable[[DecoupledRelease], Findings],
    steps: list[ProtectStep],
) -> _Choice:
    """Decouple by one policy after another, until the tables teach nothing of what joins them.

    Args:
        defences: The policies, each with the reason for it; the first is possible.
        attempt: Makes a release by a policy.
        take_apart: Decouples it.
        look: Looks for what leaks.
        steps: What was done; each try is added.
    """
    best, least, last, blocked = None, 0, 0, ""
    for asked, reason in defences:
        try:
            release = attempt(asked)
            made = take_apart(release)
        except (InfeasibleError, PolicyError) as error:
            if best is None:
                raise
            blocked = f"groups cannot be made to teach less: {error}"
            continue
        steps.append(ProtectStep("decouple", look(made), reason, _attack_tables(made, asked)))
        taught = sum(each.people for each in steps[-1].succeeded)
        if best is None or taught < least:
            best, least, last = (release, made, asked), taught, len(steps) - 1
        if not taught:
            break
    assert best is not None  # noqa: S101 - the policy itself is always tried
    if last < len(steps) - 1:
        # The last word is that on the release that is published.
        steps.append(replace(steps[last], why="no other groups taught less"))
    return _Choice(*best, blocked if least else "")


_CLOSENESS = (0.1, 0.03)
"""How far groups may be from the whole table, if their tables teach what joins them."""


def _defences(
    policy: Policy, why: str, steps: Sequence[ProtectStep]
) -> Iterator[tuple[Policy, str]]:
    """Yield policies whose groups may teach less, each with the reason; first the policy itself.

    Groups that are all like the whole table teach nothing, and neither does a column that is not
    there. `steps` grows while it is asked for more.
    """
    yield policy, why
    for t in _CLOSENESS:
        columns = list(dict.fromkeys(column for o in steps[-1].succeeded for column in o.columns))
        if not columns:
            return
        close = [TCloseness(column, t=t) for column in policy.sensitive]
        why = f"the tables taught {join_words(columns)}; groups at most {t} from the whole table"
        yield policy.replace(models=(*policy.models, *close)), why
    first = steps[-1]
    left = policy
    while first.succeeded and len(left.sensitive) > 2:
        worst = Counter[str]()
        for outcome in first.succeeded:
            known = str(outcome.settings.get("known", outcome.column))
            worst.update(dict.fromkeys((*outcome.columns, known), outcome.people))
        column = max(left.sensitive, key=lambda name: worst[name])
        left = _without(left, column)
        yield left, f"the tables taught what joins them; {column} is left out"
        first = steps[-1]


def _without(policy: Policy, column: str) -> Policy:
    """Return the same policy for a table without a column."""
    models = [model for model in policy.models if getattr(model, "column", None) != column]
    columns = {**policy.columns, column: "dropped"}
    left = [name for name in (*policy.quasi_identifiers, *policy.sensitive) if name != column]
    return policy.replace(columns=columns, models=models, detect=_detection_of(policy).among(left))


_JOINING = [DeFinetti.name, EqualCounts.name]
"""The attacks that learn from many groups what joins their tables."""


def _attack_tables(release: DecoupledRelease, policy: Policy) -> tuple[Outcome, ...]:
    """Return what the tables of a decoupled release teach of what joins them."""
    rule = policy.verdict.rule(policy.risk_levels)
    found = outcomes(target_of(open_release(release, policy)), _JOINING, rule)
    return tuple(accept(each, policy.accept) for each in found if each.tried)
