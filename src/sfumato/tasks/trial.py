"""Trying a policy on counts: what would be published, and what would be learned from it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import NamedTuple

import numpy as np

from sfumato.attacks import ATTACKS, ClassAttack, Outcome, Target
from sfumato.counts import FrequencySet
from sfumato.decoupled import Decoupled
from sfumato.decouplings import DECOUPLINGS, Decoupling
from sfumato.errors import SfumatoError
from sfumato.partition import PARTITIONERS
from sfumato.policy import Policy
from sfumato.release import Release
from sfumato.tasks.decision import Decision
from sfumato.tasks.decouple import decouple
from sfumato.tasks.full_domain import decide_full_domain
from sfumato.tasks.local import decide_locally
from sfumato.tasks.manifest import build_manifest
from sfumato.tasks.point import (
    AT_RISK,
    BELIEF,
    GAIN,
    MEAN,
    PROSECUTOR,
    QUERY_ERROR,
    Measured,
    Point,
)
from sfumato.tasks.problem import counted_columns
from sfumato.tasks.recoded import recoded, rows_of
from sfumato.tasks.target import target_of
from sfumato.tasks.utility import utility
from sfumato.verifier import Verdict


@dataclass(frozen=True, eq=False)
class Table:
    """What all policies are tried on: one table, counted once."""

    counts: FrequencySet
    """The table over every column that some policy decides on or calls sensitive."""

    columns: tuple[str, ...]
    """All columns of the table, counted or not."""

    populations: Mapping[str, FrequencySet]
    """By the path that policies have for them."""

    threshold: float
    """From which belief on somebody is at risk."""

    seed: int
    asks: bool = False
    """Whether to measure with questions what a release is still good for."""


class Tried(NamedTuple):
    """What would be published: its figures, and the release as far as attacks and readers see it.

    Its rows are counts, which are as good as rows to whoever counts them.
    """

    figures: Measured
    release: Release | Decoupled


def try_policy(name: str, policy: Policy, table: Table) -> Point:
    """Decide as `sf.anonymize` would, and attack what would be published as `sf.verify` would.

    Nothing is written. That a policy is impossible is a result like others.
    """
    start = perf_counter()
    try:
        decoupling = policy.make_decoupling(DECOUPLINGS)
        if decoupling is None or decoupling.keeps_classes:
            # Groups of the same people with the same values, before it is broken and after.
            tried = _generalised(policy, table)
        else:
            tried = _in_buckets(policy, decoupling, table)
        seconds = perf_counter() - start
        return Point(name, policy, _measured(policy, tried, table), seconds=seconds)
    except SfumatoError as error:
        return Point(name, policy, None, str(error), perf_counter() - start)


def _generalised(policy: Policy, table: Table) -> Tried:
    decision = _decide(policy, table)
    sizes, left = decision.sizes, decision.left
    figures = Measured(
        losses=decision.losses,
        published=int(sizes.sum()),
        suppressed=decision.suppressed,
        classes=len(sizes),
        smallest=int(sizes.min()) if len(sizes) else 0,
        risks={
            # Of people who look alike everybody may be the one: 1/n, in the mean over people.
            PROSECUTOR: float((1 / left.sizes).max(initial=0)),
            MEAN: float((left.rows / left.sizes).sum() / max(left.total, 1)),
        },
    )
    decided = counted_columns(policy)
    counts = table.counts.project(tuple(dict.fromkeys([*decided, *policy.sensitive])))
    rng = np.random.default_rng(table.seed)
    published = recoded(counts, decision.recoding, decided, rng)
    roles = policy.check_against(table.columns)
    manifest = build_manifest(policy, roles, decision, reproducible=True)
    # Suppressed rows are not among these counts, not even as stars.
    manifest["rows"]["suppression"] = "remove"
    return Tried(figures, Release(manifest, Verdict(()), table=published))


def _decide(policy: Policy, table: Table) -> Decision:
    partitioner = policy.make_method(PARTITIONERS)
    counts = table.counts.project(counted_columns(policy))
    if partitioner is not None:
        return decide_locally(policy, partitioner, counts, lambda done, total: None)  # noqa: ARG005
    population = None
    if policy.population is not None:
        population = table.populations[policy.population].project(policy.quasi_identifiers)
    return decide_full_domain(policy, counts, population, lambda checks: None)  # noqa: ARG005


def _in_buckets(policy: Policy, decoupling: Decoupling, table: Table) -> Tried:
    """Decouple as `sf.decouple` would, without generalising anything."""
    names = (*policy.quasi_identifiers, *policy.sensitive)
    decoupled = decouple(
        rows_of(table.counts.project(names)),
        decoupling,
        quasi_identifiers=policy.quasi_identifiers,
        sensitive=policy.sensitive,
        seed=table.seed,
    )
    sizes = decoupled.broken.sizes
    # People of a bucket look different: who finds a row has not found a value.
    figures = Measured(
        losses={},
        published=decoupled.broken.total,
        suppressed=decoupled.suppressed,
        classes=len(sizes),
        smallest=int(sizes.min()),
        risks={},
    )
    return Tried(figures, decoupled)


def _measured(policy: Policy, tried: Tried, table: Table) -> Measured:
    """Ask and attack what would be published."""
    figures = tried.figures
    if table.asks:
        error = _query_error(policy, tried, table)
        figures = replace(figures, losses={**figures.losses, QUERY_ERROR: error})
    if not policy.sensitive:
        return figures
    if not figures.published:
        # Nobody is in it, so nobody can be betrayed.
        return replace(figures, risks={AT_RISK: 0.0, BELIEF: 0.0, GAIN: 0.0, **figures.risks})
    return _attacked(figures, target_of(tried.release, policy), table.threshold)


def _query_error(policy: Policy, tried: Tried, table: Table) -> float:
    """Give the mean relative error of the same counting queries for every policy."""
    if not tried.figures.published:
        return 1.0
    names = (*policy.quasi_identifiers, *policy.sensitive)
    counts = table.counts.project(names)
    return utility(counts, tried.release, policy=policy, seed=table.seed).queries.mean


def _attacked(figures: Measured, target: Target, threshold: float) -> Measured:
    """Add what attacks on classes learn; others cost more than the decision itself."""
    kinds = [kind for kind in ATTACKS.values() if issubclass(kind, ClassAttack)]
    attacks = [attack for kind in kinds for attack in kind.against(target, threshold)]
    outcomes = [attack.on(target, threshold) for attack in attacks]
    judged = [a for a, outcome in zip(attacks, outcomes, strict=True) if outcome.judged]
    strongest = _strongest(judged, target)
    people = max((outcome.people for outcome in outcomes if outcome.judged), default=0)
    share = people / max(target.classes.total, 1)
    risks = {AT_RISK: share, BELIEF: strongest.belief, GAIN: strongest.gain}
    return replace(
        figures,
        risks={**risks, **figures.risks},
        people=people,
        prior=strongest.prior,
        attacks=tuple(_without_people(outcome) for outcome in outcomes),
    )


class _Strongest(NamedTuple):
    """The strongest belief that the release made stronger, what it was before, the largest gain."""

    belief: float = 0.0
    prior: float | None = None
    gain: float = 0.0


def _strongest(attacks: list[ClassAttack], target: Target) -> _Strongest:
    found = [attack.find(target) for attack in attacks]
    prior = np.concatenate([np.empty(0), *(each.prior for each in found)])
    posterior = np.concatenate([np.empty(0), *(each.posterior for each in found)])
    learned = posterior - prior > 1e-12
    prior, posterior = prior[learned], posterior[learned]
    if not len(prior):
        return _Strongest()
    # Of equally strong beliefs the one that was weakest before.
    at = np.lexsort((prior, -posterior))[0]
    gain = float((posterior - prior).max())
    return _Strongest(float(posterior[at]), float(prior[at]), gain)


def _without_people(outcome: Outcome) -> Outcome:
    """Leave out whom the attack found: a comparison is shown to more people than a release."""
    return replace(outcome, worst=())
