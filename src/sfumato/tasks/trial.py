"""Trying a policy on counts: what would be published, and what would be learned from it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import NamedTuple

import numpy as np

from sfumato.attacks import ATTACKS, ClassAttack, Outcome, Target
from sfumato.counts import FrequencySet
from sfumato.errors import SfumatoError
from sfumato.losses import NormalizedLoss
from sfumato.partition import PARTITIONERS
from sfumato.policy import Policy
from sfumato.release import Release
from sfumato.tasks.decision import Decision
from sfumato.tasks.full_domain import decide_full_domain
from sfumato.tasks.local import decide_locally
from sfumato.tasks.manifest import build_manifest
from sfumato.tasks.point import AT_RISK, BELIEF, GAIN, MEAN, PROSECUTOR, Measured, Point
from sfumato.tasks.problem import counted_columns
from sfumato.tasks.recoded import recoded
from sfumato.tasks.target import target_of
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


def try_policy(name: str, policy: Policy, table: Table) -> Point:
    """Decide as `sf.anonymize` would, and attack what would be published as `sf.verify` would.

    Nothing is written and no row is read. That a policy is impossible is a result like others.
    """
    start = perf_counter()
    try:
        decision = _decide(policy, table)
        seconds = perf_counter() - start
        return Point(name, policy, _measured(policy, decision, table), seconds=seconds)
    except SfumatoError as error:
        return Point(name, policy, None, str(error), perf_counter() - start)


def _decide(policy: Policy, table: Table) -> Decision:
    partitioner = policy.make_method(PARTITIONERS)
    counts = table.counts.project(counted_columns(policy))
    if partitioner is not None:
        return decide_locally(policy, partitioner, counts, lambda done, total: None)  # noqa: ARG005
    population = None
    if policy.population is not None:
        population = table.populations[policy.population].project(policy.quasi_identifiers)
    return decide_full_domain(policy, counts, population, lambda checks: None)  # noqa: ARG005


def _measured(policy: Policy, decision: Decision, table: Table) -> Measured:
    sizes, left = decision.sizes, decision.left
    figures = Measured(
        loss=decision.losses[policy.loss.name],
        normalized_loss=decision.losses[NormalizedLoss.name],
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
    if not policy.sensitive:
        return figures
    target = _target(policy, decision, table)
    if target is None:
        # Nobody is in it, so nobody can be betrayed.
        return replace(figures, risks={AT_RISK: 0.0, BELIEF: 0.0, GAIN: 0.0, **figures.risks})
    return _attacked(figures, target, table.threshold)


def _target(policy: Policy, decision: Decision, table: Table) -> Target | None:
    """Show an adversary what would be published; None if nothing would be."""
    decided = counted_columns(policy)
    names = tuple(dict.fromkeys([*decided, *policy.sensitive]))
    rng = np.random.default_rng(table.seed)
    published = recoded(table.counts.project(names), decision.recoding, decided, rng)
    if not published.total:
        return None
    roles = policy.check_against(table.columns)
    manifest = build_manifest(policy, roles, decision, reproducible=True)
    # Counts are as good as rows to whoever counts them.
    return target_of(Release(manifest, Verdict(()), table=published), policy)


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
