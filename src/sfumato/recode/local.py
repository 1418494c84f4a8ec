"""Deciding row by row: local recoding."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sfumato.counts import FrequencySet
from sfumato.errors import InfeasibleError
from sfumato.losses import LOSSES
from sfumato.models.base import promise_text
from sfumato.partition import LabelledPartition, Partitioner, label_partition
from sfumato.partition.base import Progress
from sfumato.policy import Missing, Policy
from sfumato.recode.problem import Decision, Prepared, make_problem, prepare, refuse_impossible


def decide_locally(
    policy: Policy, partitioner: Partitioner, counts: FrequencySet, progress: Progress
) -> Decision:
    """Part the rows into classes that keep the promises, each with labels of its own."""
    ready = prepare(policy, counts)
    matches_any = policy.missing is Missing.MATCHES_ANY
    refuse_impossible(
        policy.models, ready.counts, ready.sensitive, ready.limit, matches_any=matches_any
    )
    problem = make_problem(policy, ready)
    partition = partitioner.run(problem, progress)
    settled = label_partition(problem, partition, partitioner.intervals(problem))
    method = {"name": partitioner.name, **partitioner.params()}
    return local_decision(policy, settled, counts, ready, method)


def local_decision(
    policy: Policy,
    settled: LabelledPartition,
    counts: FrequencySet,
    ready: Prepared,
    method: Mapping[str, Any],
) -> Decision:
    """Describe what was partition and settled, or refuse if too many rows would be suppressed."""
    if settled.suppressed > ready.limit:
        raise InfeasibleError(_why(str(method["name"]), settled))
    return Decision(
        recoding=settled.recoding(counts, ready.items),
        left=settled.left,
        sizes=settled.partition.sizes,
        suppressed=settled.suppressed + counts.total - ready.counts.total,
        columns=_columns(settled),
        losses=_losses(policy, settled),
        method=method,
        sensitive=ready.sensitive,
    )


def _columns(settled: LabelledPartition) -> dict[str, dict[str, Any]]:
    """Say how many rows of each column are at each level, or in how many intervals."""
    columns: dict[str, dict[str, Any]] = {}
    for attribute, labels in zip(settled.problem.attributes, settled.labels, strict=True):
        if labels.levels is None:
            about: dict[str, Any] = {"intervals": len(np.unique(labels.of_class))}
        else:
            about = {"height": attribute.ladder.height, "levels": labels.levels.tolist()}
        columns[attribute.ladder.column] = about
    return columns


def _losses(policy: Policy, settled: LabelledPartition) -> dict[str, float]:
    """Measure the release in every way there is, the policy's own loss first."""
    result = settled.result()
    own = {policy.loss.name: policy.loss}
    others = {name: LOSSES[name].example() for name in LOSSES if name not in own}
    problem = settled.problem
    return {
        name: loss.over(problem.attributes, problem.total).of_local(result)
        for name, loss in (own | others).items()
    }


def _why(method: str, settled: LabelledPartition) -> str:
    """Say why what was found cannot be published."""
    models = [promise_text({"model": m.name, **m.params()}) for m in settled.broken]
    return (
        f"{method} finds no release that keeps the promises: {settled.suppressed} of "
        f"{settled.problem.total} rows are in classes that break {' and '.join(models)}, and at "
        f"most {settled.problem.limit} rows may be suppressed. Allow more rows to be suppressed, "
        "allow higher levels, ask for less, or try another method."
    )
