"""Judging: attacks on a release, and the people at risk by each adversary."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from sfumato.attacks import ATTACKS, Attack, Dependency, KnowledgeBreach, Outcome, Target
from sfumato.attacks.at_risk import AdversaryLine, count_at_risk
from sfumato.attacks.base import accept
from sfumato.errors import ParameterError
from sfumato.harm import HarmRule
from sfumato.policy import Policy
from sfumato.policy.adversaries import Knows
from sfumato.policy.remedies import GiveRole, PromiseMore, PublishApart, tighten
from sfumato.schema import Role
from sfumato.text import join_words
from sfumato.typing import Progress, silent

COUNTING = tuple(name for name in ATTACKS if name != Dependency.name)
"""The attacks by which people may be at risk; what the other finds is told and never counts."""


class FoundByAdversaries(NamedTuple):
    """What attacks achieved on a release, and how many people each adversary learns too much of."""

    outcomes: tuple[Outcome, ...]
    """As far as the policy accepts them, they say so."""

    lines: tuple[AdversaryLine, ...]


def held_to(target: Target, policy: Policy | None) -> Target:
    """Return a release as it is attacked by those who count under a policy.

    Args:
        target: The release.
        policy: What it is held to; None for nothing, and then all adversaries count.
    """
    if policy is None:
        return target
    against = max(policy.against, key=lambda knows: knows.values)
    return replace(target, others=policy.verdict.others, against=against)


def judge(
    target: Target,
    asked: Sequence[str | Attack],
    rule: HarmRule,
    policy: Policy | None,
    quasi_identifiers: Sequence[str],
    report: Progress = silent,
) -> FoundByAdversaries:
    """Attack a release and count the people at risk, as every verdict and every trial does.

    Args:
        target: The release; see `held_to`.
        asked: The attacks.
        rule: What harms.
        policy: What accepts findings and says who counts; None if nothing does.
        quasi_identifiers: What adversaries know, for the words.
        report: Told which attack is next.
    """
    found = outcomes(target, asked, rule, report)
    if policy is not None:
        found = tuple(accept(_accept_together(each, policy), policy.accept) for each in found)
        found = tuple(replace(each, advice=_advise_more(each, policy)) for each in found)
    lines = count_at_risk(
        found,
        target.classes.n_people,
        quasi_identifiers=quasi_identifiers,
        against=tuple(Knows) if policy is None else policy.against,
        most=_count_knowable(target),
    )
    return FoundByAdversaries(found, lines)


def outcomes(
    target: Target, asked: Sequence[str | Attack], rule: HarmRule, report: Progress = silent
) -> tuple[Outcome, ...]:
    """Run attacks on a release; of those that are named, everything that applies."""
    if isinstance(asked, str) or not isinstance(asked, Sequence):
        raise ParameterError("attacks", asked, "True, False, or a list of names or attacks")
    found: list[Outcome] = []
    for position, each in enumerate(asked):
        name = each.name if isinstance(each, Attack) else each
        report(f"attacking: {name}", position, len(asked))
        if isinstance(each, Attack):
            found.append(_run(each, _target_for(target, each), rule))
            continue
        kind = ATTACKS[each]
        tried = [_run(attack, target, rule) for attack in kind.against(target, rule)]
        for other in target.also:
            # What is not after a sensitive column was tried already.
            more = [_run(attack, other, rule) for attack in kind.against(other, rule)]
            tried += [_within(other, one) for one in more if one.column is not None]
        found += tried
        if not tried:
            found.append(_not_tried(kind, target, rule))
    return tuple(found)


def _run(attack: Attack, target: Target, rule: HarmRule) -> Outcome:
    """Attack a release; what can be done about it is said as changes of a policy, too."""
    outcome = attack.on(target, rule)
    if target.joined and outcome.level:
        # No model is about several columns: what it says of the first would help nobody.
        names = target.joined
        advice = f"Publish {join_words(names)} apart (sfumato decouple), or leave out all but one."
        left_out = (GiveRole(name, Role.DROPPED) for name in names)
        return replace(outcome, advice=advice, remedies=(PublishApart(names), *left_out))
    if outcome.remedies or not outcome.level:
        return outcome
    return replace(outcome, remedies=attack.remedies(outcome, rule))


def _within(target: Target, outcome: Outcome) -> Outcome:
    """Return an outcome that says so, if one of several columns that stay together is known."""
    if target.counts is None or outcome.attack != KnowledgeBreach.name:
        return outcome
    settings = {**outcome.settings, "together": list(target.sensitive)}
    advice = (
        "If they are meant to stay together, hold it to the policy that says so (-p policy.yaml); "
        "else leave that out, and they are published apart."
    )
    return replace(outcome, settings=settings, advice=advice)


def _accept_together(outcome: Outcome, policy: Policy) -> Outcome:
    """Return an outcome as accepted, if the policy keeps the columns together that it is about."""
    names = outcome.settings.get("together")
    meant = [] if policy.decouple is None else [{*each} for each in policy.decouple.together]
    if not isinstance(names, list) or {*names} not in meant or not outcome.level:
        return outcome
    return replace(outcome, accepted=f"The policy keeps {join_words(names)} together.")


def _advise_more(outcome: Outcome, policy: Policy) -> str:
    """Return the advice, with the next stricter model for each that the policy promises already.

    The remedy does the same when it is tried; see `PromiseMore.apply`.
    """
    advice = outcome.advice
    asked = [m for each in outcome.remedies if isinstance(each, PromiseMore) for m in each.models]
    for model in asked if advice else ():
        promised = next((each for each in policy.models if each.implies(model)), None)
        if promised is None:
            continue
        settings = tighten(promised).params()
        named = re.compile(rf"\{{model: {re.escape(model.name)}\b[^{{}}]*\}}")
        for name in model.stricter:
            number = re.compile(rf"(?<= {name}: )[0-9.]+")
            advice = named.sub(lambda found: number.sub(f"{settings[name]:g}", found[0]), advice)  # noqa: B023 - called at once
    return advice


def _target_for(target: Target, attack: Attack) -> Target:
    """Return the target whose sensitive column an attack names."""
    named = getattr(attack, "column", None)
    every = (target, *target.also)
    return next((each for each in every if named in each.sensitive), target)


def _not_tried(kind: type[Attack], target: Target, rule: HarmRule) -> Outcome:
    why, left = kind.why_not(target), kind.left_open(target)
    return Outcome(
        kind.name,
        None,
        people=0,
        of=target.classes.n_people,
        prior=None,
        posterior=None,
        threshold=rule.very_high,
        how=kind.how,
        note=why,
        # It would apply, so that it was not tried is no sign of safety.
        unreached=left,
    )


def _count_knowable(target: Target) -> int:
    """Return of how many columns besides the quasi-identifiers others may know a value."""
    every = {name for each in (target, *target.also) for name in each.knowable}
    chance = target.perturbed
    if chance is not None:
        # What others know of a person is true, whatever chance made of it, and tells the rest.
        every |= {*chance.members, *chance.beside} - {*chance.unknown}
    # With one such column nothing is left to be learned of it, unless it is no secret.
    return len(every) if {*target.sensitive} - every or len(every) != 1 else 0
