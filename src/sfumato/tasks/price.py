"""Remedies that were tried: what each of them costs, and what the answer is afterwards.

A remedy that an attack suggests may be impossible, may cost most of the table, or may not help.
Here each is applied to the policy, a release is made of the counted table, and that release is
judged as `sf.verify` judges any other. Nothing is written.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import heappop, heappush
from itertools import count as numbers_from
from time import perf_counter
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from sfumato.attacks.adversary.trial import CountedTable, try_on_counts
from sfumato.counts import FrequencySet
from sfumato.decouplings import DECOUPLINGS
from sfumato.errors import InfeasibleError, InputError, PolicyError, SfumatoError
from sfumato.leaks import Findings
from sfumato.losses import NormalizedLoss
from sfumato.models import KAnonymity
from sfumato.policy import FULL_DOMAIN, Policy
from sfumato.policy.remedies import Coarsen, GiveRole, PromiseMore, PublishApart, Remedy, tighten
from sfumato.recode.deciding import count_population, counted_columns, with_findings
from sfumato.recode.gone import Gone
from sfumato.recode.recoded import rows_of
from sfumato.recode.workshop import Workshop
from sfumato.releases.manifest import Manifest
from sfumato.releases.numbers import columns_as_numbers
from sfumato.releases.opening import open_release
from sfumato.releases.places import MemoryPlace
from sfumato.releases.release import DecoupledRelease, Release
from sfumato.releases.subject import Subject, needs_single_rows
from sfumato.schema import Role
from sfumato.showing.content import Cell, Content, ContentTable, Part, Sentence, Share, Showable
from sfumato.tables import Table
from sfumato.tables.base import require_calendar_days
from sfumato.tasks.anonymize import make_release
from sfumato.tasks.decouple import decouple
from sfumato.tasks.verify import Answer, Assessment, Reason
from sfumato.text import join_words, percent
from sfumato.typing import Progress, silent

AnyRelease = Release | DecoupledRelease

Judge = Callable[[AnyRelease, Policy], Assessment]
"""Returns the verdict on a release that was made by a policy."""

ORDER: tuple[Answer, ...] = ("no", "with care", "yes")
"""The answers, the worst first."""

_MOST_REASONS = 3
_MOST_OFFERED = 3
"""More remedies for one reason are not read."""

_TIMES = 3.0
"""How long trying remedies may take, as a multiple of the time of the first verdict."""

_MOST_TRIED = 40
"""The policies that are tried for one chain."""


def people_at_risk(found: Assessment) -> int:
    """Return the people at risk by a verdict: the one number that every price is given with."""
    return max((each.people for each in found.judged if not each.accepted), default=0)


@dataclass(frozen=True)
class Standing:
    """Where a policy leaves a table: what it costs, who is at risk, and the answer."""

    answer: Answer
    people: int
    """The people at risk."""

    of: int
    """The people who are published."""

    loss: float
    """The loss that the policy keeps small."""

    normalised: float
    """The normalised loss of the quasi-identifiers, whatever the policy keeps small."""

    gone: Gone
    """How much of the whole table is gone."""

    suppressed: int
    """The rows that are not published."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "answer": self.answer,
            "people_at_risk": self.people,
            "people": self.of,
            "loss": self.loss,
            "normalised_loss": self.normalised,
            "gone": self.gone.to_dict(),
            "suppressed": self.suppressed,
        }


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
        return f"generalise the classes further that tell {join_words(self.columns)}"

    def apply(self, policy: Policy, *, because: str = "", by: str = "") -> Policy:
        """Return the policy itself: what is refined is given beside it."""
        return policy

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {"kind": self.kind, "columns": list(self.columns)}


@dataclass(frozen=True)
class PricedRemedy:
    """A remedy, what it costs, and what the answer is afterwards."""

    remedy: Remedy
    before: Standing
    after: Standing | None = None
    """Where it leads; None if it was not tried."""

    policy: Policy | None = field(default=None, repr=False, compare=False)
    """The policy with it; None if there is no policy."""

    why_not: str = ""
    """Why it was not tried, if it was not."""

    @property
    def tried(self) -> bool:
        """Whether a release with it was made and judged."""
        return self.after is not None

    @property
    def cost(self) -> tuple[float, float]:
        """What is gone afterwards, and the loss: what remedies are sorted by."""
        after = self.after
        return (2.0, 2.0) if after is None else (after.gone.share, after.normalised)

    @property
    def columns_lost(self) -> tuple[str, ...]:
        """The columns of which nothing is left any more."""
        if self.after is None:
            return ()
        after = self.after.gone.columns
        return tuple(n for n, share in self.before.gone.columns.items() if share < 1 <= after[n])

    @property
    def rows_lost(self) -> int:
        """How many more rows are not published; fewer than 0 if more of them are."""
        return 0 if self.after is None else self.after.suppressed - self.before.suppressed

    def __str__(self) -> str:
        if self.after is None:
            return f"{self.remedy} (not tried: {self.why_not})"
        before, after = self.before, self.after
        return (
            f"{self.remedy}: {_then(before.people, after.people)} people at risk, "
            f"gone {_then(percent(before.gone.share), percent(after.gone.share))}, "
            f"loss {_then(f'{before.normalised:.2f}', f'{after.normalised:.2f}')}; "
            f"then: {after.answer}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "remedy": self.remedy.to_dict(),
            "words": str(self.remedy),
            "tried": self.tried,
            "before": self.before.to_dict(),
            "after": None if self.after is None else self.after.to_dict(),
            "columns_lost": list(self.columns_lost),
            "rows_lost": self.rows_lost,
            "why_not": self.why_not,
        }


def _then(before: object, after: object) -> str:
    return f"{before} → {after}"


_HEADS = ("remedy", "people at risk", "gone", "loss", "columns left", "rows left out", "then")


def _row_of(each: PricedRemedy) -> list[Cell]:
    before, after = each.before, each.after
    if after is None:
        return [str(each.remedy), "not tried", "", "", "", "", ""]
    return [
        str(each.remedy),
        _then(f"{before.people:,}", f"{after.people:,}"),
        _then(percent(before.gone.share), percent(after.gone.share)),
        _then(f"{before.normalised:.2f}", f"{after.normalised:.2f}"),
        f"{after.gone.left} of {after.gone.of}",
        _then(f"{before.suppressed:,}", f"{after.suppressed:,}"),
        after.answer,
    ]


@dataclass(frozen=True)
class PricedReason:
    """One reason of an answer, and the remedies for it that were tried, the cheapest first."""

    reason: Reason
    remedies: tuple[PricedRemedy, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        remedies = [each.to_dict() for each in self.remedies]
        return {"reason": self.reason.text, "remedies": remedies}


@dataclass(frozen=True)
class Prices(Showable):
    """What can be done about the reasons of an answer, with the price of each.

    Promises: a remedy that was tried is possible, takes people out of risk or makes the answer
    better, and a release that is made with it and the same seed has these figures and this answer.
    Does not promise that there is no cheaper one.
    """

    before: Standing
    reasons: tuple[PricedReason, ...]
    left: int = 0
    """The remedies that were not tried, because it would have taken too long."""

    def content(self) -> Content:
        """Return the remedies of each reason, the cheapest first."""
        parts: list[Part] = []
        for each in self.reasons:
            if each.remedies:
                rows = [_row_of(one) for one in each.remedies]
                parts.append(ContentTable.of(each.reason.text, _HEADS, rows, most=None))
            else:
                parts.append(Sentence(f"{each.reason.text}: no remedy that was tried helps."))
        if self.left:
            told = f"{self.left} more remedies were not tried: it would have taken too long."
            parts.append(Sentence(told))
        people = f"{self.before.people:,} people at risk"
        return Content(f"Remedies that were tried; now {people}, gone: {self.before.gone}", (*parts,))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "before": self.before.to_dict(),
            "reasons": [each.to_dict() for each in self.reasons],
            "left": self.left,
        }

    def __repr__(self) -> str:
        tried = sum(len(each.remedies) for each in self.reasons)
        return f"<Prices of {tried} remedies for {len(self.reasons)} reasons>"


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

    @property
    def trouble(self) -> tuple[int, int, int, int]:
        """What is compared to see whether a remedy helped: less is better."""
        open_ = [each for each in self.found.judged if not each.accepted]
        return (
            -ORDER.index(self.found.answer),
            sum(each.people for each in open_),
            sum(reason.refuses for reason in self.found.reasons),
            sum(each.concerned for each in open_) + len(self.found.reasons),
        )


class PolicyTrials:
    """Tries policies on one table, which is counted once; hierarchies serve several of them.

    Args:
        table: The table, with what is derived.
        policy: The policy of the release as it is.
        judge: Gives the verdict on what a policy publishes.
        seed: What the releases are drawn with.
        report: Told how far it is.
    """

    def __init__(
        self, table: Table, policy: Policy, judge: Judge, *, seed: int, report: Progress = silent
    ) -> None:
        self._table, self._judge, self._seed, self._report = table, judge, seed, report
        self._maker = Workshop()
        self._counts: FrequencySet | None = None
        self._tried: dict[str, TriedPolicy | SfumatoError] = {}
        self.number = 0
        """The policies that were tried."""

        # Held to the columns that count under it: a column does not stop to count because a
        # remedy calls it an identifier.
        self._counted: Collection[str] = [
            name for name in table.columns if policy.role_of(name) is not Role.IDENTIFIER
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
        key = f"{len(refine)} {policy.to_yaml()}"
        if key not in self._tried:
            self._report("trying remedies", self.number, None)
            self.number += 1
            try:
                self._tried[key] = self._try(policy, refine)
            except (InfeasibleError, PolicyError, InputError) as error:
                self._tried[key] = error
        return self._tried[key]

    def _try(self, policy: Policy, refine: tuple[Findings, ...]) -> TriedPolicy:
        subject = Subject.of(self._table, policy, alone=needs_single_rows(policy))
        whole, gone = self._publish(policy, subject, refine)
        release: AnyRelease = whole
        if policy.decouple is not None:
            release = self._decouple(whole, policy)
        found = self._judge(release, policy)
        return TriedPolicy(
            policy, refine, release, whole, found, self._standing(whole.manifest, gone, found)
        )

    def _publish(
        self, policy: Policy, subject: Subject, refine: tuple[Findings, ...]
    ) -> tuple[Release, Gone]:
        decoupling = policy.make_decoupling(DECOUPLINGS)
        if decoupling is not None and not (decoupling.in_one_piece or decoupling.keeps_classes):
            raise PolicyError(f"{decoupling.name} goes by raw values: remedies are not tried on it")
        if _needs_rows(subject.policy):
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
        )
        asked = with_findings(subject.policy, refine) if refine else None
        plain = [name for name in subject.columns if subject.roles[name] is Role.PLAIN]
        trial = try_on_counts(subject.policy, table, asked=asked, beside=plain)
        made = trial.release
        assert isinstance(made, Release)  # noqa: S101 - nothing is decoupled yet
        assert trial.gone is not None  # noqa: S101 - it is possible
        # Drawn with a known seed here, and with a secret one when it is published.
        manifest = replace(made.manifest, reproducible=False)
        rows = rows_of(made.table).select([n for n in subject.columns if n in made.table.names])
        return replace(made, manifest=manifest, table=rows, policy=policy), trial.gone

    def _count(self, subject: Subject) -> FrequencySet:
        names = tuple(dict.fromkeys((*counted_columns(subject.policy), *subject.columns)))
        if self._counts is None or not {*names} <= {*self._counts.names}:
            before = () if self._counts is None else self._counts.names
            every = tuple(dict.fromkeys((*names, *before)))
            self._counts = self._table.count(
                every, progress=lambda done, total: self._report("count", done, total)
            )
            require_calendar_days(self._table, self._counts)
            if not self._counts.total:
                raise InputError("the table has no rows: there is no person to protect")
        return self._counts

    def _populations(self, policy: Policy) -> dict[Any, FrequencySet]:
        everyone = count_population(policy, silent)
        return {} if everyone is None else {policy.population_table: everyone}

    def _decouple(self, whole: Release, policy: Policy) -> DecoupledRelease:
        made = decouple(whole, policy.make_decoupling(DECOUPLINGS), seed=self._seed)
        return replace(made, manifest=replace(made.manifest, reproducible=False))

    def _standing(self, manifest: Manifest, gone: Gone, found: Assessment) -> Standing:
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


def _needs_rows(policy: Policy) -> bool:
    """Return whether a release depends on more than counts tell: it is made in memory then."""
    return bool(
        policy.sets
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
    given = [each for each in reason.remedies if each.kind in _ACTS and not each.needs_reason]
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
        key = str(each.to_dict())
        if key not in seen:
            seen.append(key)
            yield each


_ACTS = ("promise", "role", "apart", "person")


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


def _helps(before: TriedPolicy, after: TriedPolicy) -> bool:
    return after.trouble < before.trouble


# Prices of single remedies.


def price_remedies(
    data: Table,
    policy: Policy,
    judge: Judge,
    *,
    seed: int = 0,
    times: float | None = _TIMES,
    report: Progress = silent,
) -> Prices:
    """Try the remedies for the first reasons of an answer, and return what each costs.

    Args:
        data: The table that a release is made of, prepared.
        policy: The policy as it is; it must be possible.
        judge: Gives the verdict on what a policy publishes.
        seed: What the releases are drawn with.
        times: How long it may take, as a multiple of the first verdict; one remedy for each reason
            is tried in any case. None for as long as it takes.
        report: Told how far it is; it may raise to stop.
    """
    trials = PolicyTrials(data, policy, judge, seed=seed, report=report)
    started = perf_counter()
    first = trials.require_policy(policy)
    allowed = None if times is None else times * (perf_counter() - started)
    reasons = list(_first_reasons(first.found))
    waiting = [list(remedies_for(reason, first)) for reason in reasons]
    offered: list[list[PricedRemedy]] = [[] for _ in reasons]
    left, begun = 0, perf_counter()
    for turn in range(max(map(len, waiting), default=0)):
        for at, remedies in enumerate(waiting):
            if turn >= len(remedies):
                continue
            if turn and allowed is not None and perf_counter() - begun > allowed:
                left += 1
                continue
            found = _price(trials, first, remedies[turn])
            if found is not None:
                offered[at].append(found)
    priced = tuple(
        PricedReason(reason, _choose(each)) for reason, each in zip(reasons, offered, strict=True)
    )
    return Prices(first.standing, priced, left)


def _first_reasons(found: Assessment) -> Iterator[Reason]:
    """Yield the first reasons that a policy can do something about; of a *no*, those for it."""
    refusing = [each for each in found.reasons if each.refuses]
    able = [each for each in refusing or found.reasons if each.remedies or each.outcome]
    # Several attacks may find the same of a column: the remedies are the same then.
    yield from able[:_MOST_REASONS]


def _apply(remedy: Remedy, policy: Policy) -> Policy | None:
    """Return the policy with a remedy; None if it cannot be, or changes nothing."""
    try:
        changed = remedy.apply(policy)
    except SfumatoError:
        return None
    return None if changed == policy else changed


def _price(trials: PolicyTrials, first: TriedPolicy, remedy: Remedy) -> PricedRemedy | None:
    changed = _apply(remedy, first.policy)
    tried = None if changed is None else trials.try_policy(changed, first.refine)
    if tried is None or not _helps(first, tried):
        return None
    return PricedRemedy(remedy, first.standing, tried.standing, changed)


def _choose(found: Sequence[PricedRemedy]) -> tuple[PricedRemedy, ...]:
    """Return the cheapest remedies, and the cheapest that leads to the best answer among them."""
    ranked = sorted(found, key=lambda each: each.cost)
    if len(ranked) <= _MOST_OFFERED:
        return tuple(ranked)
    best = max(ranked, key=lambda each: ORDER.index(each.after.answer) if each.after else -1)
    kept = ranked[:_MOST_OFFERED]
    if best not in kept:
        kept[-1] = best
    return tuple(kept)


# Chains: remedies one after the other, until the answer is the one that is wanted.


@dataclass(frozen=True)
class Chain(Showable):
    """Remedies that were applied one after the other, each with its price."""

    until: Answer
    """The answer that was wanted."""

    first: Standing
    steps: tuple[PricedRemedy, ...]
    policy: Policy = field(repr=False)
    """The policy with all of them."""

    refine: tuple[Findings, ...] = field(default=(), repr=False, compare=False)
    """What is refined beside it; see `sf.anonymize`."""

    tried: int = 0
    """The policies that were tried to find it."""

    stopped: bool = False
    """Whether more policies could have been tried."""

    @property
    def last(self) -> Standing:
        """Where it ends."""
        found = self.steps[-1].after if self.steps else None
        return self.first if found is None else found

    @property
    def reached(self) -> bool:
        """Whether the answer at its end is the one that was wanted, or a better one."""
        return ORDER.index(self.last.answer) >= ORDER.index(self.until)

    def content(self) -> Content:
        """Return the steps and their prices."""
        heads = ("remedy", *_HEADS[1:])
        rows = [_row_of(each) for each in self.steps]
        parts: list[Part] = []
        if rows:
            parts.append(ContentTable.of("", heads, rows, most=None))
        if not self.reached:
            more = "; more could be tried" if self.stopped else ""
            parts.append(Sentence(f"No chain of remedies leads to {self.until!r} here{more}."))
        steps = f"{len(self.steps)} remed{'y' if len(self.steps) == 1 else 'ies'}"
        last = self.last
        return Content(
            f"{steps}: {_then(f'{self.first.people:,}', f'{last.people:,}')} people at risk, gone "
            f"{_then(percent(self.first.gone.share), percent(last.gone.share))}, answer "
            f"{_then(self.first.answer, last.answer)}",
            tuple(parts),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "until": self.until,
            "reached": self.reached,
            "first": self.first.to_dict(),
            "steps": [each.to_dict() for each in self.steps],
            "tried": self.tried,
            "stopped": self.stopped,
            "policy": self.policy.to_yaml(),
        }

    def __repr__(self) -> str:
        return f"<Chain of {len(self.steps)}: {self.first.answer} to {self.last.answer}>"


class _Link(NamedTuple):
    """A policy on the way, and the remedies that led to it."""

    tried: TriedPolicy
    steps: tuple[PricedRemedy, ...] = ()

    @property
    def cost(self) -> tuple[float, float, int]:
        standing = self.tried.standing
        return standing.gone.share, standing.normalised, len(self.steps)


class Limits(NamedTuple):
    """How much a chain may cost."""

    loss: float = 1.0
    """The most normalised loss of the quasi-identifiers."""

    gone: float = 1.0
    """The most of the whole table that may be gone."""

    def allow(self, standing: Standing) -> bool:
        """Return whether a policy is within them."""
        return standing.normalised <= self.loss and standing.gone.share <= self.gone


Finder = Callable[[AnyRelease], Findings]
"""Looks for what a release still tells."""


def find_chain(
    trials: PolicyTrials,
    policy: Policy,
    until: Literal["yes", "with care"],
    *,
    limits: Limits | None = None,
    look: Finder | None = None,
    apart: bool = True,
    most: int = _MOST_TRIED,
) -> Chain:
    """Find the cheapest chain of remedies that leads to an answer.

    The cheapest policy so far is continued first, so that the first one with the wanted answer is
    the cheapest of all that can be reached by remedies each of which helps. If there is none, or
    after `most` policies, the chain leads to the one with the least trouble.

    Args:
        trials: What tries policies.
        policy: The policy to begin with; it must be possible.
        until: The answer that is wanted.
        limits: What a chain may cost.
        look: Looks for what classes tell, which may then be generalised further; None never does.
        apart: Whether columns may be published apart.
        most: The most policies to try.
    """
    limits, goal = limits or Limits(), ORDER.index(until)
    first = trials.require_policy(policy)
    order, begun = numbers_from(), trials.number
    waiting: list[tuple[tuple[float, float, int], int, _Link]] = []
    heappush(waiting, (_Link(first).cost, next(order), _Link(first)))
    seen, best, reached = {policy.to_yaml()}, _Link(first), list[_Link]()
    stopped = False
    while waiting:
        _, _, link = heappop(waiting)
        if ORDER.index(link.tried.found.answer) >= goal:
            reached = [link]
            break
        for remedy in _next_remedies(link.tried, look, apart=apart):
            refine = link.tried.refine
            changed: Policy | None
            if isinstance(remedy, Refine):
                changed, refine = link.tried.policy, (*refine, remedy.findings)
            else:
                changed = _apply(remedy, link.tried.policy)
            if changed is None or (key := f"{len(refine) or ''}{changed.to_yaml()}") in seen:
                continue
            if trials.number - begun >= most:
                stopped = True
                break
            seen.add(key)
            tried = trials.try_policy(changed, refine)
            if tried is None or not _helps(link.tried, tried) or not limits.allow(tried.standing):
                continue
            step = PricedRemedy(remedy, link.tried.standing, tried.standing, changed)
            longer = _Link(tried, (*link.steps, step))
            if tried.trouble < best.tried.trouble:
                best = longer
            if ORDER.index(tried.found.answer) >= goal:
                reached.append(longer)
            heappush(waiting, (longer.cost, next(order), longer))
        if stopped:
            break
    end = min(reached, key=lambda each: each.cost) if reached else best
    return Chain(
        until,
        first.standing,
        end.steps,
        end.tried.policy,
        end.tried.refine,
        tried=trials.number - begun + 1,
        stopped=stopped,
    )


def _next_remedies(tried: TriedPolicy, look: Finder | None, *, apart: bool) -> Iterator[Remedy]:
    """Yield the remedies for the first reasons of an answer, and then what generalises further."""
    seen: list[str] = []
    for reason in _first_reasons(tried.found):
        for remedy in remedies_for(reason, tried):
            key = str(remedy.to_dict())
            if key not in seen and (apart or remedy.kind != "apart"):
                seen.append(key)
                yield remedy
    if look is None or tried.policy.decouple is not None:
        return
    findings = look(tried.whole)
    columns = findings.advice().generalise
    if columns:
        yield Refine(tuple(columns), findings)
