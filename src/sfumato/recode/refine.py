"""Deciding anew where a table still leaks: only vulnerable classes are generalised further."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sfumato.counts import FrequencySet
from sfumato.errors import PolicyError
from sfumato.leaks import Findings
from sfumato.models import AlphaKAnonymity
from sfumato.partition import Partition, Partitioner, Problem, label_partition
from sfumato.partition.base import starting_groups
from sfumato.partition.bottomup import refine
from sfumato.policy import FULL_DOMAIN, Missing, Policy
from sfumato.recode.full_domain import find_node
from sfumato.recode.local import local_decision
from sfumato.recode.problem import (
    Decision,
    counted_columns,
    make_problem,
    prepare,
    refuse_impossible,
)
from sfumato.typing import Node


def with_findings(policy: Policy, findings: Sequence[Findings]) -> Policy:
    """Ask, on top of a policy, that no class tells a leaking column with more than alpha.

    The policy itself is given back if there is nothing to ask for.
    """
    if any(model.needs_population for model in policy.models):
        raise PolicyError(
            "refining recodes locally, and models that compare with a population do not go with "
            "that. Remove them from the policy, or decouple what leaks instead."
        )
    asked = [
        AlphaKAnonymity(column, alpha=one.alpha, k=1)
        for one in findings
        for column in one.advice().generalise
    ]
    new = tuple(model for model in dict.fromkeys(asked) if model not in policy.models)
    return policy.replace(models=(*policy.models, *new)) if new else policy


def decide_refined(
    policy: Policy,
    refined: Policy,
    partitioner: Partitioner | None,
    counts: FrequencySet,
    progress: Callable[[str, int, int | None], None],
) -> Decision:
    """Decide as the policy says, then generalise further what breaks the refined policy.

    Args:
        policy: What was asked for in the first place.
        refined: The same policy with what `with_findings` added.
        partitioner: The local method; None for one level per column.
        counts: The table over the refined policy's columns.
        progress: Told how far each stage is.
    """
    ready = prepare(refined, counts)
    matches_any = policy.missing is Missing.MATCHES_ANY
    refuse_impossible(
        refined.models, ready.counts, ready.sensitive, ready.limit, matches_any=matches_any
    )
    problem = make_problem(refined, ready)
    method: dict[str, Any]
    if partitioner is None:
        first = counts.project(counted_columns(policy))
        node = find_node(policy, first, lambda checks: progress("search", checks, None))
        # Classes that are left alone are published as they were, no finer.
        problem = replace(problem, lowest=node, free=(False,) * len(node))
        partition = _classes_at(problem, node)
        intervals: tuple[bool, ...] = (False,) * len(node)
        method = {"name": FULL_DOMAIN}
    else:
        before = replace(problem, models=policy.models)
        partition = partitioner.run(before, lambda done, total: progress("partition", done, total))
        intervals = partitioner.intervals(problem)
        method = {"name": partitioner.name, **partitioner.params()}
    progress("refine", 0, None)
    settled = label_partition(problem, refine(problem, partition), intervals)
    method["refined"] = [
        {"column": model.column, "alpha": model.alpha}
        for model in refined.models
        if isinstance(model, AlphaKAnonymity) and model not in policy.models
    ]
    return local_decision(refined, settled, counts, ready, method)


def _classes_at(problem: Problem, node: Node) -> Partition:
    """Give the classes of a node."""
    groups = starting_groups(replace(problem, highest=node))
    return Partition.of(groups.item, groups.rows, groups.group)
