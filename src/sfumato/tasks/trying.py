"""Remedies that were tried: applied to a policy, made into a release, and judged.

A remedy that an attack suggests may be impossible, may cost most of the table, or may not help.
Here each is applied to the policy, a release is made of the counted table, and that release is
judged as `sf.verify` judges any other. Nothing is written.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sfumato.attacks import ATTACKS, DeFinetti
from sfumato.attacks.adversary.judging import COUNTING
from sfumato.attacks.adversary.trial import CountedTable, try_on_counts
from sfumato.counts import FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.decouplings import DECOUPLINGS
from sfumato.errors import InputError, PolicyError, SfumatoError
from sfumato.leaks import Findings
from sfumato.losses import NormalizedLoss
from sfumato.models import KAnonymity
from sfumato.policy import FULL_DOMAIN, Policy
from sfumato.policy.remedies import Coarsen, PromiseMore, PublishApart, Remedy, tighten
from sfumato.recode.deciding import count_population, counted_columns
from sfumato.recode.gone import DataGone, is_copy
from sfumato.recode.workshop import Workshop
from sfumato.releases.manifest import Manifest
from sfumato.releases.numbers import columns_as_numbers
from sfumato.releases.places import MemoryPlace
from sfumato.releases.release import DecoupledRelease, Release
from sfumato.releases.subject import Subject, needs_single_rows
from sfumato.schema import Role
from sfumato.tables import Table
from sfumato.tables.base import require_calendar_days
from sfumato.tasks.anonymize import make_release
from sfumato.tasks.assessment import Assessment, Reason
from sfumato.tasks.decouple import decouple
from sfumato.tasks.price import (
    Standing,
    people_at_risk,
    trouble,
)
from sfumato.tasks.verify import verify
from sfumato.text import join_words
from sfumato.typing import Progress, silent

AnyRelease = Release | DecoupledRelease

Judge = Callable[[AnyRelease, Policy], Assessment]
"""Returns the verdict on a release that was made by a policy."""


def quick_attacks(attacks: object) -> object:
    """Return attacks without those that take many times as long as all others.

    Args:
        attacks: As for `sf.verify`.
    """
    if attacks is True:
        return [name for name in ATTACKS if name != DeFinetti.name]
    if not isinstance(attacks, list | tuple):
        return attacks
    return [each for each in attacks if each != DeFinetti.name] or False


def judge_trial(release: AnyRelease, policy: Policy) -> Assessment:
    """Return the verdict on a release that is only tried: without what is told and never counts."""
    return verify(release, policy, attacks=list(COUNTING))


def judge_quickly(release: AnyRelease, policy: Policy) -> Assessment:
    """Return the same without what takes long, too."""
    return verify(release, policy, attacks=quick_attacks(list(COUNTING)))  # type: ignore[arg-type]


def policy_key(policy: Policy, refined: int = 0) -> str:
    """Return what tells policies apart, and how often what comes of them was refined."""
    return f"{refined} {policy.to_plain()!r}"


MOST_REASONS = 3
"""More reasons are not looked at."""


@dataclass(frozen=True)
class Refine(Remedy):
    """Generalise the classes further in which a column was found to be told."""

    kind: ClassVar[str] = "refine"
    columns: tuple[str, ...]
    findings: Findings = field(repr=False, compare=False)

    @property
    def about(self) -> tuple[str, ...]:
        """The columns that are told."""
        return self.columns

    def __str__(self) -> str:
        return f"generalise further the classes that reveal {join_words(self.columns)}"

    def apply(self, policy: Policy, *, because: str = "", by: str = "") -> Policy:
        """Return the policy itself: what is refined is given beside it."""
        return policy

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {"kind": self.kind, "columns": list(self.columns)}


# Trying a policy: a release of the counted table, judged.


class TriedPolicy(NamedTuple):
    """A policy, the release that it makes, and the verdict on that."""

    policy: Policy
    refine: tuple[Findings, ...]
    release: AnyRelease
    whole: Release
    """The release before it was published in several tables."""

    found: Assessment
    standing: Standing
    complete: bool = True
    """Whether it is the whole verdict, and not one that ended at the first *no*."""

    @property
    def trouble(self) -> tuple[int, int, int, int]:
        """Return what is compared to see whether a remedy helped: less is better."""
        return trouble(self.found)


class PolicyTrials:
    """Tries policies on one table, which is counted once; hierarchies serve several of them.

    Args:
        table: The table, with what is derived.
        policy: The policy of the release as it is.
        judge: Gives the verdict on what a policy publishes.
        quick: The same without what takes long; if its answer is *no*, so is that of `judge`, which
            is then not asked before a policy is shown. None always asks.
        seed: What the releases are drawn with.
        counts: The table, counted over what the policy decides on and publishes; None counts it.
        report: Told how far it is.
    """

    def __init__(
        self,
        table: Table,
        policy: Policy,
        judge: Judge,
        *,
        quick: Judge | None = None,
        seed: int,
        counts: FrequencySet | None = None,
        report: Progress = silent,
    ) -> None:
        self._quick = quick
        self._table, self._judge, self._seed, self._report = table, judge, seed, report
        self._maker = Workshop()
        self._counts = counts
        self._tried: dict[str, TriedPolicy | SfumatoError] = {}
        self.number = 0
        """The policies that were tried."""

        # Held to the columns that count under it: a column does not stop to count because a
        # remedy calls it an identifier.
        self._counted: Collection[str] = [
            name
            for name in table.columns
            if policy.role_of(name) is not Role.IDENTIFIER and not is_copy(policy, name)
        ]

    def try_policy(self, policy: Policy, refine: tuple[Findings, ...] = ()) -> TriedPolicy | None:
        """Return what comes of a policy; None if no release keeps it."""
        found = self._remember(policy, refine)
        return None if isinstance(found, SfumatoError) else found

    def require_policy(self, policy: Policy) -> TriedPolicy:
        """Return what comes of a policy; raise if no release keeps it."""
        found = self._remember(policy, ())
        if isinstance(found, SfumatoError):
            raise found
        return found

    def _remember(
        self, policy: Policy, refine: tuple[Findings, ...]
    ) -> "TriedPolicy | SfumatoError":
        key = policy_key(policy, len(refine))
        if key not in self._tried:
            self._report("trying remedies", self.number, None)
            self.number += 1
            try:
                self._tried[key] = self._try(policy, refine)
            except SfumatoError as error:
                self._tried[key] = error
        return self._tried[key]

    def _try(self, policy: Policy, refine: tuple[Findings, ...]) -> TriedPolicy:
        subject = Subject.of(self._table, policy, alone=needs_single_rows(policy))
        whole, gone = self._publish(policy, subject, refine)
        release: AnyRelease = whole
        if policy.decouple is not None:
            release = self._decouple(whole, policy)
        found, complete = None, False
        if self._quick is not None and policy.decouple is not None:
            found = self._quick(release, policy)
        if found is None or found.answer != "no":
            found, complete = self._judge(release, policy), True
        standing = self._standing(whole.manifest, gone, found)
        return TriedPolicy(policy, refine, release, whole, found, standing, complete)

    def complete(self, tried: TriedPolicy) -> TriedPolicy:
        """Return a policy that was tried with the whole verdict on it."""
        if tried.complete:
            return tried
        found = self._judge(tried.release, tried.policy)
        gone = tried.standing.gone
        standing = self._standing(tried.whole.manifest, gone, found)
        return tried._replace(found=found, standing=standing, complete=True)

    def _publish(
        self, policy: Policy, subject: Subject, refine: tuple[Findings, ...]
    ) -> tuple[Release, DataGone]:
        decoupling = policy.make_decoupling(DECOUPLINGS)
        if decoupling is not None and not (decoupling.in_one_piece or decoupling.keeps_classes):
            raise PolicyError(f"{decoupling.name} goes by raw values: remedies are not tried on it")
        if refine or _needs_rows(subject):
            rng = np.random.default_rng(self._seed)
            full = make_release(
                subject, MemoryPlace(), refine=refine or None, rng=rng, report=silent
            )
            assert full.gone is not None  # noqa: S101 - it was just made
            return full, full.gone
        counts = self._count(subject)
        table = CountedTable(
            counts,
            tuple(self._table.columns),
            self._populations(policy),
            self._seed,
            maker=self._maker,
            unowned=subject.table.unowned,
        )
        trial = try_on_counts(subject.policy, table)
        assert trial.gone is not None  # noqa: S101 - it is possible
        return trial.with_rows(policy), trial.gone

    def _count(self, subject: Subject) -> FrequencySet:
        names = tuple(dict.fromkeys((*counted_columns(subject.policy), *subject.columns)))
        if self._counts is None or not {*names} <= {*self._counts.names}:
            before = () if self._counts is None else self._counts.names
            every = tuple(dict.fromkeys((*names, *before)))
            self._counts = _count(self._table, every, self._report)
        return self._counts

    def _populations(self, policy: Policy) -> dict[Any, FrequencySet]:
        everyone = count_population(policy, silent)
        return {} if everyone is None else {policy.population_table: everyone}

    def _decouple(self, whole: Release, policy: Policy) -> DecoupledRelease:
        made = decouple(whole, policy.make_decoupling(DECOUPLINGS), seed=self._seed)
        return replace(made, manifest=replace(made.manifest, reproducible=False))

    def _standing(self, manifest: Manifest, gone: DataGone, found: Assessment) -> Standing:
        losses = manifest.known_losses
        return Standing(
            found.answer,
            people_at_risk(found),
            max((each.of for each in found.attacks), default=manifest.rows.published),
            float(losses.get(str(manifest.loss), 0.0)),
            float(losses.get(NormalizedLoss.name, 0.0)),
            gone.among(self._counted),
            manifest.rows.suppressed,
        )


def _count(table: Table, names: Sequence[str], report: Progress) -> FrequencySet:
    counts = table.count(names, progress=lambda done, total: report("count", done, total))
    require_calendar_days(table, counts)
    if not counts.total:
        raise InputError("the table has no rows: there is no person to protect")
    return counts


def count_for(table: Table, policy: Policy, report: Progress = silent) -> FrequencySet | None:
    """Count a table over what a policy decides on and publishes; None if it takes its rows.

    Args:
        table: The table, prepared.
        policy: The policy; it must be possible.
        report: Told how far it is.
    """
    subject = Subject.of(table, policy, alone=needs_single_rows(policy))
    if _needs_rows(subject):
        return None
    names = (*counted_columns(subject.policy), *subject.columns)
    return _count(table, tuple(dict.fromkeys(names)), report)


def _needs_rows(subject: Subject) -> bool:
    """Return whether a release depends on more than counts tell: it is made in memory then.

    Where a local method puts rows that are alike to it into several classes, chance decides which
    of them go where, and draws otherwise where more columns were counted.
    """
    policy = subject.policy
    return bool(
        policy.method.local
        or policy.sets
        or policy.weights
        or policy.perturbations
        or policy.counted_person
        or columns_as_numbers(policy)
    )


# Which remedies there are for a reason.


def remedies_for(reason: Reason, tried: TriedPolicy) -> Iterator[Remedy]:
    """Yield the remedies for one reason, the likeliest first, each once.

    What a publisher would only say of a value, or accept, makes no release safer, and is not among
    them.
    """
    given = [each for each in reason.remedies if each.kind in ACTS and not each.needs_reason]
    policy, outcome = tried.policy, reason.outcome
    more: list[Remedy] = []
    if outcome is not None and not outcome.accepted and outcome.judged:
        sensitive = policy.sensitive
        if len(sensitive) > 1 and policy.decouple is None and policy.counted_person is None:
            more.append(PublishApart(sensitive))
        more += _larger_k(policy)
        more += _coarser(tried)
    seen: list[str] = []
    for each in (*given, *more):
        if isinstance(each, PublishApart):
            # Whichever column it is for, all are published apart.
            each = PublishApart(policy.sensitive)  # noqa: PLW2901
        key = str(each.to_dict())
        if key not in seen:
            seen.append(key)
            yield each


ACTS = ("promise", "role", "apart", "person", "known")


def _larger_k(policy: Policy) -> list[Remedy]:
    promised = [each for each in policy.models if isinstance(each, KAnonymity)]
    larger = [tighten(each) for each in promised[:1]]
    return [PromiseMore((each,)) for each in larger]


def _coarser(tried: TriedPolicy) -> list[Remedy]:
    """Return the next level of the quasi-identifier that has lost least, where all have one."""
    if tried.policy.method.name != FULL_DOMAIN:
        return []
    known = [
        each
        for each in tried.whole.manifest.known_columns
        if each.level is not None and each.height and each.level < each.height
    ]
    lost = tried.standing.gone.columns
    known = [each for each in known if each.name in tried.policy.quasi_identifiers]
    best = sorted(known, key=lambda each: (lost.get(each.name, 1.0), each.name))[:1]
    return [Coarsen(each.name, int(each.level or 0) + 1, int(each.height or 0)) for each in best]


def helps(before: TriedPolicy, after: TriedPolicy) -> bool:
    """Return whether a remedy made anything better."""
    return after.trouble < before.trouble


def first_reasons(found: Assessment) -> Iterator[Reason]:
    """Yield the first reasons that a policy can do something about; of a *no*, those for it."""
    refusing = [each for each in found.reasons if each.refuses]
    able = [each for each in refusing or found.reasons if each.remedies or each.outcome]
    # No promise makes up for an assumption, so those come first. Several attacks may find the same
    # of a column: the remedies are the same then.
    yield from sorted(able, key=lambda each: not each.assumed)[:MOST_REASONS]


def apply_remedy(remedy: Remedy, policy: Policy) -> Policy | None:
    """Return the policy with a remedy; None if it cannot be, or changes nothing."""
    try:
        changed = remedy.apply(policy)
    except SfumatoError:
        return None
    return None if changed == policy else changed
