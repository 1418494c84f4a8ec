"""The verdict with remedies that were tried: on the source if there is one, else on the rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple, Self

from sfumato.attacks.adversary.judging import COUNTING
from sfumato.counts import FrequencySet
from sfumato.errors import SfumatoError
from sfumato.policy import Policy
from sfumato.policy.remedies import GiveRole, PublishApart, Remedy
from sfumato.recode.gone import DataGone
from sfumato.recode.recoded import rows_of
from sfumato.releases.opening import Published, PublishedTable, open_release
from sfumato.releases.preparing import open_prepared
from sfumato.releases.release import Release
from sfumato.schema import Role
from sfumato.tables import Table
from sfumato.tasks.assessment import Assessment, Reason
from sfumato.tasks.chain import find_chain
from sfumato.tasks.decouple import decouple
from sfumato.tasks.price import (
    ORDER,
    PricedReason,
    PricedRemedy,
    Prices,
    Standing,
    Wanted,
    people_at_risk,
    people_by,
)
from sfumato.tasks.trying import (
    ACTS,
    AnyRelease,
    Judge,
    PolicyTrials,
    TriedPolicy,
    apply_remedy,
    count_for,
    first_reasons,
    quick_attacks,
    remedies_for,
)
from sfumato.tasks.verify import verify
from sfumato.typing import Progress, silent
from sfumato.verifier import Verdict

MOST_OFFERED = 3
"""More remedies for one reason are not read."""

_TIMES = 3.0
"""How long trying remedies may take, as a multiple of the time of the first verdict."""

_MOST_IN_CHAIN = 12
"""The policies that are tried beside them for a chain; `sf.protect` tries more."""

_SECONDS = 1.0
"""But as long as this in any case."""


def price_remedies(
    data: Table,
    policy: Policy,
    judge: Judge,
    *,
    quick: Judge | None = None,
    seed: int = 0,
    times: float | None = _TIMES,
    counts: FrequencySet | None = None,
    report: Progress = silent,
) -> Prices:
    """Try the remedies for the first reasons of an answer, and return what each costs.

    Args:
        data: The table that a release is made of, prepared.
        policy: The policy as it is; it must be possible.
        judge: Gives the verdict on what a policy publishes.
        quick: The same without what takes long; see `PolicyTrials`.
        seed: What the releases are drawn with.
        times: How long it may take, as a multiple of the first verdict; one remedy for each reason
            is tried in any case. None for as long as it takes.
        counts: The table as `count_for` counts it; None counts it.
        report: Told how far it is; it may raise to stop.
    """
    trials = PolicyTrials(data, policy, judge, quick=quick, seed=seed, counts=counts, report=report)
    started = perf_counter()
    first = trials.complete(trials.require_policy(policy))
    allowed = None if times is None else max(times * (perf_counter() - started), _SECONDS)
    reasons = list(first_reasons(first.found))
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
            found = _price(trials, first, reasons[at], remedies[turn])
            if found is not None:
                offered[at].append(found)
    priced = tuple(
        PricedReason(reason, _cheapest(each)) for reason, each in zip(reasons, offered, strict=True)
    )
    chain = None
    best = max((_rank(each) for one in offered for each in one), default=-1)
    if best <= _rank_of(first.standing):
        wanted: Wanted = "with care" if first.found.answer == "no" else "yes"
        spent = perf_counter() - begun
        seconds = None if allowed is None else max(allowed - spent, _SECONDS)
        chain = find_chain(trials, policy, wanted, most=_MOST_IN_CHAIN, seconds=seconds)
    return Prices(first.standing, priced, chain, left)


def _price(
    trials: PolicyTrials, first: TriedPolicy, reason: Reason, remedy: Remedy
) -> PricedRemedy | None:
    changed = apply_remedy(remedy, first.policy)
    tried = None if changed is None else trials.try_policy(changed, first.refine)
    if tried is None:
        return None
    tried = trials.complete(tried)
    told = _told_by(reason, first.found, tried.found)
    if not _better(first.standing, tried.standing, told):
        return None
    return PricedRemedy(remedy, first.standing, tried.standing, changed, told=told)


def _told_by(reason: Reason, before: Assessment, after: Assessment) -> tuple[int, int] | None:
    """Return the people at risk by one reason, before and after."""
    people, left = people_by(reason, before), people_by(reason, after)
    return None if people is None or left is None else (people, left)


def _rank_of(standing: Standing | None) -> int:
    return -1 if standing is None else ORDER.index(standing.answer)


def _rank(each: PricedRemedy) -> int:
    return _rank_of(each.after)


def _better(before: Standing, after: Standing, told: tuple[int, int] | None) -> bool:
    """Return whether a remedy is worth offering: fewer people at risk, or a better answer."""
    better = ORDER.index(after.answer) - ORDER.index(before.answer)
    fewer = after.people < before.people
    if told is not None:
        fewer = fewer or (told[1] < told[0] and after.people <= before.people)
    return better > 0 or (not better and fewer)


def _cheapest(found: Sequence[PricedRemedy]) -> tuple[PricedRemedy, ...]:
    """Return the cheapest remedies, and the cheapest that leads to the best answer among them."""
    ranked = sorted(found, key=lambda each: each.cost)
    if len(ranked) <= MOST_OFFERED:
        return tuple(ranked)
    best = max(ranked, key=_rank)
    kept = ranked[:MOST_OFFERED]
    if best not in kept:
        kept[-1] = best
    return tuple(kept)


def verify_with_prices(
    what: object,
    policy: Policy | None,
    *,
    data: object,
    options: Mapping[str, Any],
    progress: Progress | None = None,
) -> Assessment:
    """Return the verdict on a release with the remedies for its reasons, each tried.

    Args:
        what: What `sf.verify` judges.
        policy: The policy it is held to.
        data: The table it was made of; None if it is not at hand.
        options: What else `sf.verify` is told.
        progress: Told how far each stage is.
    """
    report = progress or silent
    source = _SourceTable.of(what, policy, data, options, report)
    given = data if source is None or source.counts is None else source.counts
    found = verify(what, policy, data=given, progress=progress, **options)
    if found.answer == "yes":
        return found
    if data is not None and policy is not None:
        # As readers judge it, who have no source: to run the tool on candidates for each remedy
        # takes a hundred times as long as all else.
        names = ("population", "attacks", "threshold", "people", "outside", "earlier")
        shared = {name: options[name] for name in names}
        if shared["attacks"] is True:
            # What is only told makes no remedy better or worse.
            shared["attacks"] = list(COUNTING)

        def judge(release: AnyRelease, asked: Policy) -> Assessment:
            spelt = [name for name in options["exact_spelling"] if name in asked.sensitive]
            return verify(release, asked, exact_spelling=spelt, **shared)

        def quick(release: AnyRelease, asked: Policy) -> Assessment:
            spelt = [name for name in options["exact_spelling"] if name in asked.sensitive]
            few = quick_attacks(shared["attacks"])
            return verify(release, asked, exact_spelling=spelt, **{**shared, "attacks": few})

        table = open_prepared(data, policy) if source is None else source.table
        counts = None if source is None else source.counts
        prices = price_remedies(table, policy, judge, quick=quick, counts=counts, report=report)
    else:
        prices = _price_on_rows(what, policy, found, options, report)
    return replace(found, prices=prices)


class _SourceTable(NamedTuple):
    """The table that a release was made of, read once for the verdict and for all trials."""

    table: Table
    counts: FrequencySet | None
    """None where trials take its rows, and are not made of counts."""

    @classmethod
    def of(
        cls,
        what: object,
        policy: Policy | None,
        data: object,
        options: Mapping[str, Any],
        report: Progress,
    ) -> Self | None:
        """Return it; None where the verdict has to read it otherwise than trials do."""
        if data is None or policy is None or options["earlier"] is not None:
            return None
        if policy.preparation.shift is not None:
            # Dates are moved anew for a trial.
            return None
        try:
            if not isinstance(open_release(what, policy), PublishedTable):
                return None
            table = open_prepared(data, policy)
            return cls(table, count_for(table, policy, report))
        except SfumatoError:
            # Whatever is wrong is said by who needs it.
            return None


_NO_SOURCE = "trying it takes the table that the release was made of (--data) and its policy"


class _PublishedRows(NamedTuple):
    """The rows of a release as they are, of which no source is at hand."""

    release: Published
    policy: Policy | None
    found: Assessment
    options: Mapping[str, Any]

    @property
    def standing(self) -> Standing:
        """Return where the rows stand as they are."""
        names = self.release.table.columns
        return self.standing_of(self.found, dict.fromkeys(names, 0.0))

    @staticmethod
    def standing_of(found: Assessment, gone: Mapping[str, float]) -> Standing:
        """Return where the rows stand, by a verdict and what is gone of each column."""
        of = max((each.of for each in found.attacks), default=0)
        # Of quasi-identifiers nothing more is lost than was before; how much that was is not known.
        return Standing(found.answer, people_at_risk(found), of, None, None, DataGone(gone), 0)

    def apply(self, remedy: Remedy) -> Assessment | None:
        """Return the verdict on the rows with a remedy; None if it takes more than the rows."""
        if not isinstance(self.release, PublishedTable) or self.release.counts_people:
            return None
        if isinstance(remedy, PublishApart):
            return self._apart()
        if isinstance(remedy, GiveRole) and remedy.role in (Role.DROPPED, Role.IDENTIFIER):
            return self._without(remedy.column)
        return None

    def _apart(self) -> Assessment:
        options = self.options
        made = decouple(
            self.release.given,
            "break-merge",
            quasi_identifiers=options["quasi_identifiers"],
            sensitive=options["sensitive"],
            policy=self.policy,
        )
        return verify(made, None, attacks=options["attacks"], threshold=options["threshold"])

    def _without(self, column: str) -> Assessment:
        table = self.release.table
        names = tuple(name for name in table.columns if name != column)
        rows = rows_of(table.count(names)).select(list(names))
        options, manifest = dict(self.options), self.release.manifest
        for role in ("quasi_identifiers", "sensitive", "exact_spelling"):
            if options[role] is not None:
                options[role] = [name for name in options[role] if name != column]
        policy = self.policy
        if policy is not None:
            policy = GiveRole(column, Role.DROPPED).apply(policy)
        if manifest is None:
            return verify(rows, policy, **options)
        left = replace(
            manifest,
            columns=tuple(each for each in manifest.columns if each.name != column),
            models=tuple(each for each in manifest.models if each.column != column),
            private=None,
        )
        return verify(Release(left, Verdict(()), table=rows), policy, **options)


def _price_on_rows(
    what: object,
    policy: Policy | None,
    found: Assessment,
    options: Mapping[str, Any],
    report: Progress,
) -> Prices:
    """Try on published rows what takes nothing but them; of the rest it is said."""
    named = {name: options[name] for name in ("quasi_identifiers", "sensitive", "people_file")}
    rows = _PublishedRows(open_release(what, policy, **named), policy, found, options)
    before, priced = rows.standing, []
    for number, reason in enumerate(first_reasons(found)):
        report("trying remedies", number, None)
        remedies = [each for each in reason.remedies if each.kind in ACTS]
        secret = rows.release.sensitive
        if len(secret) > 1 and isinstance(rows.release, PublishedTable):
            remedies.append(PublishApart(tuple(secret)))
        offered: list[PricedRemedy] = []
        for remedy in dict.fromkeys(remedies):
            try:
                after = rows.apply(remedy)
            except SfumatoError:
                continue
            if after is None:
                offered.append(PricedRemedy(remedy, before, why_not=_NO_SOURCE))
                continue
            gone = dict(before.gone.columns)
            if isinstance(remedy, GiveRole):
                gone[remedy.column] = 1.0
            standing = rows.standing_of(after, gone)
            told = _told_by(reason, found, after)
            if _better(before, standing, told):
                offered.append(PricedRemedy(remedy, before, standing, told=told))
        tried = _cheapest([each for each in offered if each.tried])
        others = [each for each in offered if not each.tried]
        priced.append(PricedReason(reason, (*tried, *others)[:MOST_OFFERED]))
    return Prices(before, tuple(priced))
