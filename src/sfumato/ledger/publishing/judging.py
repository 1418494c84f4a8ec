"""The verdict on an increment, before it is committed: by the rule of every other release."""

from collections.abc import Mapping

from sfumato.attacks import ATTACKS
from sfumato.attacks.adversary.judging import held_to
from sfumato.attacks.adversary.judging import judge as judge_target
from sfumato.attacks.adversary.target import target_of
from sfumato.decouplings.base import GroupedTables
from sfumato.ledger.store import keys_of
from sfumato.policy import Policy, RiskLevels, Tolerance
from sfumato.policy.adversaries import Knows
from sfumato.releases.opening import open_release
from sfumato.releases.release import DecoupledRelease
from sfumato.tasks.assessment import Assessment
from sfumato.verifier import Verdict


def judge(tables: GroupedTables | DecoupledRelease, policy: Policy | None) -> Assessment:
    """Return what attacks achieve on cells as they would be published.

    Promises are no part of it: the verifier recomputes them from what is written. What the cells
    tell together with all earlier releases is bounded by what is admitted.

    Args:
        tables: The cells that a release adds or changes; buckets as they would be published.
        policy: The rule for harm, and what was accepted.
    """
    tolerated = Tolerance() if policy is None else policy.verdict
    levels = RiskLevels() if policy is None else policy.risk_levels
    rule = tolerated.rule(levels, None)
    policy = tables.policy if isinstance(tables, DecoupledRelease) else policy
    release = open_release(tables, policy)
    target = held_to(target_of(release), policy)
    found, lines = judge_target(target, list(ATTACKS), rule, policy, release.quasi_identifiers)
    against = tuple(Knows) if policy is None else policy.against
    return Assessment(
        Verdict(()), found, levels, tolerated.people, adversaries=lines, against=against
    )


def find_guilty(assessment: Assessment, names: tuple[str, ...]) -> dict[str, str]:
    """Return the groups in which an attack succeeds, by their keys, with the reason.

    Args:
        assessment: What attacks achieve.
        names: The quasi-identifiers.
    """
    found: dict[str, str] = {}
    for outcome in assessment.succeeded:
        for case in outcome.worst:
            if _is_group(case.who, names):
                key = keys_of(case.who[name] for name in names)
                found.setdefault(key, f"the verdict would be no: {case}")
    return found


def _is_group(who: Mapping[str, object], names: tuple[str, ...]) -> bool:
    return set(who) >= set(names)
