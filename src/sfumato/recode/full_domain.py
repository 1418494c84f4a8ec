"""Deciding on one level per column: the search over the lattice."""

from collections.abc import Callable

from sfumato.counts import FrequencySet
from sfumato.errors import InfeasibleError
from sfumato.losses import LOSSES
from sfumato.models.base import promise_text
from sfumato.policy import FULL_DOMAIN, Missing, Policy
from sfumato.recode.problem import Decision, checker_of, prepare, refuse_impossible
from sfumato.recoding import FullDomainRecoding
from sfumato.search import SEARCHES, Checker, Found, Outcome, step_down
from sfumato.typing import Node


def decide_full_domain(
    policy: Policy,
    counts: FrequencySet,
    population: FrequencySet | None,
    on_check: Callable[[int], None],
) -> Decision:
    """Find the node that loses least among those that keep the promises."""
    ready = prepare(policy, counts, population)
    matches_any = policy.missing is Missing.MATCHES_ANY
    refuse_impossible(
        policy.models, ready.counts, ready.sensitive, ready.limit, matches_any=matches_any
    )
    checker = checker_of(policy, ready)
    found = _search(policy, checker, on_check)
    if found.node is None:
        raise InfeasibleError(why_infeasible(policy, checker, found))
    outcome = checker.evaluate(found.node)
    judged = outcome.judged
    assert judged is not None  # noqa: S101 - only hopeless nodes are not judged
    return Decision(
        recoding=_recoding(policy, checker, outcome),
        left=checker.left(outcome),
        sizes=judged.sizes[judged.keep],
        # What the policy suppresses before the search counts as suppressed too.
        suppressed=outcome.suppressed + counts.total - checker.total,
        columns={
            ladder.column: {"level": level, "height": ladder.height}
            for ladder, level in zip(checker.grouping.ladders, outcome.node, strict=True)
        },
        losses=_losses(policy, checker, outcome),
        method={"name": FULL_DOMAIN},
        sensitive=checker.grouping.sensitive,
        search={
            "name": policy.search.name,
            "checks": found.checks,
            "nodes": checker.lattice.size,
            "optimal": found.proven,
        },
    )


def find_node(policy: Policy, counts: FrequencySet, on_check: Callable[[int], None]) -> Node:
    """Find the levels a policy's search would choose."""
    ready = prepare(policy, counts)
    checker = checker_of(policy, ready)
    found = _search(policy, checker, on_check)
    if found.node is None:
        raise InfeasibleError(why_infeasible(policy, checker, found))
    return found.node


def _search(policy: Policy, checker: Checker, on_check: Callable[[int], None]) -> Found:
    checker.on_check = on_check
    *_, found = policy.make_search(SEARCHES).run(checker)
    checker.on_check = None
    return step_down(checker, found)


def _recoding(policy: Policy, checker: Checker, outcome: Outcome) -> FullDomainRecoding:
    recoding = FullDomainRecoding.at(
        checker.grouping.ladders, outcome.node, checker.suppressed_classes(outcome)
    )
    return recoding.dropping_missing() if policy.missing is Missing.SUPPRESS else recoding


def _losses(policy: Policy, checker: Checker, outcome: Outcome) -> dict[str, float]:
    """Measure the release in every way there is, the policy's own loss first."""
    losses = {policy.loss.name: outcome.loss}
    judged = outcome.judged
    if judged is not None:
        for name in LOSSES:
            if name not in losses:
                loss = LOSSES[name].example().over(checker.attributes, checker.total)
                losses[name] = loss.of(judged)
    return losses


def why_infeasible(policy: Policy, checker: Checker, found: Found) -> str:
    """Say why no node is valid, from what the most general one shows."""
    top = checker.evaluate(checker.lattice.highest)
    keep = top.judged
    left = checker.grouping.classes(checker.grouping.partition(top.node))
    broken = [
        f"{promise_text({'model': m.name, **m.params()})} is "
        + ", ".join(f"{key}={value:g}" for key, value in m.measure(left).items())
        + " there"
        for m in policy.models
        if not m.passes(left).all()
    ]
    start = (
        f"no release keeps the promises: none of the {found.checks} generalisations checked does."
        if not found.proven
        else "no release keeps the promises, whatever is generalised."
    )
    details = ""
    if broken and keep is not None:
        details = (
            f" Even the most general one suppresses {keep.suppressed} of {checker.total} rows "
            f"({checker.limit} allowed): {'; '.join(broken)}."
        )
    return (
        f"{start}{details} Ask for less (a smaller k, l or p, a larger t), allow more rows to be "
        "suppressed, or allow higher levels."
    )
