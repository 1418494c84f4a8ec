"""Trials: the release that a policy would make of a counted table, and attacks on it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from sfumato.attacks import (
    ATTACKS,
    ClassAttack,
    HouseholdKnowledge,
    IntervalDisclosure,
    Outcome,
)
from sfumato.attacks.adversary.target import target_of
from sfumato.attacks.target import Target
from sfumato.counts import FrequencySet
from sfumato.harm import HarmRule
from sfumato.models import KmAnonymity
from sfumato.policy import Policy
from sfumato.recode.deciding import Decision, counted_columns
from sfumato.recode.recoded import recode_counts
from sfumato.releases.manifest import build_manifest
from sfumato.releases.opening import open_release
from sfumato.releases.people import Repetition, count_by
from sfumato.releases.people_file import tell_people_apart
from sfumato.releases.release import Release
from sfumato.schema import Role
from sfumato.verifier import Verdict


def as_counted(policy: Policy, counts: FrequencySet) -> Policy:
    """Return a policy as it applies to a table: where every person has one row, rows count."""
    person = policy.counted_person
    if person is None:
        return policy
    rows = counts.value_counts(person)
    repeated = Repetition(person, len(rows), counts.total, int(np.count_nonzero(rows > 1)))
    return count_by(policy, repeated).policy


def release_of_counts(
    policy: Policy,
    decision: Decision,
    counts: FrequencySet,
    columns: Sequence[str],
    seed: int,
    *,
    beside: Sequence[str] = (),
) -> Release:
    """Return what would be published, as a release whose rows are counts; nothing is written.

    Args:
        policy: The policy, as it applies to the table.
        decision: What becomes of the table.
        counts: The table, over at least what the policy decides on and calls sensitive.
        columns: All columns of the table, counted or not.
        seed: Fixes which of rows that were alike to the decision go to which class.
        beside: Plain columns that are counted too, and published with the others.
    """
    decided = counted_columns(policy)
    counts = counts.project(tuple(dict.fromkeys([*decided, *policy.sensitive, *beside])))
    published = recode_counts(counts, decision.recoding, decided, np.random.default_rng(seed))
    people, person = None, policy.counted_person
    if person is not None:
        told = (*policy.quasi_identifiers, *policy.sensitive)
        published = published.project(told)
        rng = np.random.default_rng(seed)
        people = tell_people_apart(
            counts, decision.recoding, told, person, rng, household=policy.household
        )
    manifest = build_manifest(policy, policy.check_against(columns), decision, reproducible=True)
    # Suppressed rows are not among these counts, not even as stars.
    manifest = replace(manifest, rows=replace(manifest.rows, suppression="remove"))
    return Release(manifest, Verdict(()), table=published, people=people)


def target_of_counts(release: Release, policy: Policy) -> Target:
    """Return such a release as an adversary sees it."""
    return target_of(open_release(release, policy))


def without_sets(policy: Policy) -> Policy:
    """Return a policy without columns of sets: they are decided on after the rest."""
    if not policy.sets:
        return policy
    columns = {
        name: Role.DROPPED.value if name in policy.sets else rule
        for name, rule in policy.columns.items()
    }
    models = [model for model in policy.models if not isinstance(model, KmAnonymity)]
    return policy.replace(columns=columns, models=models)


def attacks_on_classes(
    target: Target, rule: HarmRule, on_attack: Callable[[int, int], None] | None = None
) -> list[tuple[object, Outcome]]:
    """Return what attacks on classes learn, each with its outcome; others cost more than that.

    Args:
        target: What is attacked.
        rule: From which belief on a person is at risk.
        on_attack: Told before each attack how many are done, of how many.
    """
    cheap = (ClassAttack, HouseholdKnowledge, IntervalDisclosure)
    kinds = [kind for kind in ATTACKS.values() if issubclass(kind, cheap)]
    attacks = [attack for kind in kinds for attack in kind.against(target, rule)]
    found: list[tuple[object, Outcome]] = []
    for done, attack in enumerate(attacks):
        if on_attack is not None:
            on_attack(done, len(attacks))
        found.append((attack, attack.on(target, rule)))
    return found
