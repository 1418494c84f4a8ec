"""Buckets: the classes of any method, for tables that publish exact values in them."""

from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.counts import Column, FrequencySet, group
from sfumato.decouplings.base import free_name
from sfumato.errors import InfeasibleError
from sfumato.models import PrivacyModel
from sfumato.models.base import promise_text
from sfumato.partition import PARTITIONERS, Mondrian, Partition, Problem
from sfumato.policy import ColumnRule, Missing, Policy, Suppression
from sfumato.recode.deciding import (
    classes_at,
    find_node,
    make_problem,
    prepare,
    refuse_impossible,
)
from sfumato.schema import Role
from sfumato.typing import Progress


def bucket_policy(
    policy: Policy | None,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    models: Sequence[PrivacyModel],
    method: str | None,
    *,
    labelled: bool = False,
) -> Policy:
    """Return what buckets are made by: the same hierarchies and weights, and no labels to publish.

    A missing value is one like any other, no row is left out, and the levels that a policy allows
    limit labels, of which there are none.

    Args:
        policy: The policy of the table, if there is one.
        quasi_identifiers: The columns others may know.
        sensitive: The columns that should not become known.
        models: What every bucket must keep.
        method: The method that makes them; None takes the policy's local one, or mondrian.
        labelled: Whether quasi-identifiers have labels of a release, of which their hierarchies
            know nothing.
    """
    rules: dict[str, ColumnRule] = {}
    known: Mapping[str, ColumnRule] = {} if policy is None else policy.columns
    for name in (*quasi_identifiers, *sensitive):
        role = Role.SENSITIVE if name in sensitive else Role.QUASI_IDENTIFIER
        rule = known.get(name)
        climbed = labelled and role is Role.QUASI_IDENTIFIER
        kept: dict[str, object] = {}
        if rule is not None and not climbed:
            kept["hierarchy"] = rule.hierarchy
        if rule is not None and role is rule.role:
            kept |= {"weight": rule.weight} if role is Role.QUASI_IDENTIFIER else {}
            kept |= {"spelling": rule.spelling} if role is Role.SENSITIVE else {}
        rules[name] = ColumnRule(role=role, **kept)
    made = Policy(
        columns=rules, models=models, suppression=Suppression(limit=0), missing=Missing.OWN_VALUE
    )
    if policy is not None and method in (None, policy.method.name):
        made = made.replace(method=policy.method, sensitive_blind=policy.sensitive_blind)
        if method is not None or policy.method.local:
            return made
    return made.with_method(method or Mondrian.name)


def form_buckets(
    policy: Policy, counts: FrequencySet, *, rng: np.random.Generator, report: Progress
) -> FrequencySet:
    """Return the counts with one more column, which says the bucket of each row.

    Args:
        policy: See `bucket_policy`.
        counts: The quasi-identifiers first, then the sensitive columns.
        rng: Draws among rows that are alike where they part ways.
        report: Told how far it is.

    Example:
        >>> from sfumato.models import DistinctLDiversity
        >>> rows = [(31, "flu"), (32, "gout"), (57, "flu"), (58, "hiv")]
        >>> counts = FrequencySet.from_rows(["age", "ill"], rows)
        >>> policy = bucket_policy(None, ["age"], ["ill"], [DistinctLDiversity("ill", 2)], None)
        >>> rng = np.random.default_rng()
        >>> found = form_buckets(policy, counts, rng=rng, report=lambda *_: None)
        >>> found.names, found.codes_of("bucket").tolist()
        (('age', 'ill', 'bucket'), [0, 0, 1, 1])
    """
    ready = prepare(policy, counts)
    refuse_impossible(policy.models, ready.counts, ready.sensitive, 0, matches_any=False)
    problem = make_problem(policy, ready)
    partition = _part(policy, problem, counts, rng, report)
    _require_kept(policy, problem, partition)
    name = free_name("bucket", counts.names)
    codes = np.vstack([counts.codes[:, partition.item], partition.classes[None]])
    columns = (*counts.columns, Column(name, tuple(range(partition.n))))
    return FrequencySet(columns, codes.astype(np.int32), partition.rows)


def spread_buckets(
    counts: FrequencySet, formed: FrequencySet, rng: np.random.Generator
) -> FrequencySet:
    """Return counts of more columns with the buckets that were formed of fewer.

    Which of the rows that are alike in those columns goes to which bucket is drawn.

    Args:
        counts: The table, with columns that buckets do not go by.
        formed: The same without them, and the bucket as its last column.
        rng: Draws who goes where.

    Example:
        >>> counts = FrequencySet.from_rows(["age", "job"], [(31, "cook"), (31, "nurse")])
        >>> formed = FrequencySet.from_rows(["age", "bucket"], [(31, 0), (31, 1)])
        >>> found = spread_buckets(counts, formed, np.random.default_rng())
        >>> found.names, sorted(found.codes_of("bucket").tolist())
        (('age', 'job', 'bucket'), [0, 1])
    """
    names = formed.names[:-1]
    sizes = [len(formed.column(name).values) for name in names]
    pairs = [np.concatenate([counts.codes_of(n), formed.codes_of(n)]) for n in names]
    alike = group(pairs, sizes, n=len(counts) + len(formed)).of_item
    items = np.repeat(np.arange(len(counts)), counts.rows)
    rng.shuffle(items)
    items = items[np.argsort(alike[items], kind="stable")]
    places = np.repeat(np.arange(len(formed)), formed.rows)
    places = places[np.argsort(alike[len(counts) + places], kind="stable")]
    bucket = formed.codes[-1][places]
    cells = group([items, bucket], [len(counts), len(formed.columns[-1].values)], n=len(items))
    codes = np.vstack([counts.codes[:, items[cells.first]], bucket[cells.first][None]])
    rows = np.bincount(cells.of_item, minlength=cells.n).astype(np.int64)
    return FrequencySet((*counts.columns, formed.columns[-1]), codes.astype(np.int32), rows)


def _part(
    policy: Policy,
    problem: Problem,
    counts: FrequencySet,
    rng: np.random.Generator,
    report: Progress,
) -> Partition:
    partitioner = policy.make_method(PARTITIONERS)
    if partitioner is None:
        node = find_node(policy, counts, lambda checks: report("search", checks, None))
        return classes_at(problem, node)
    return partitioner.run(problem, lambda done, total: report("partition", done, total), rng=rng)


def _require_kept(policy: Policy, problem: Problem, partition: Partition) -> None:
    """Raise if a bucket does not keep the models: what methods cannot part is one class."""
    passes = problem.judge.passes(partition.classes, partition.item, partition.rows, partition.n)
    if passes.all():
        return
    models = " and ".join(promise_text({"model": m.name, **m.params()}) for m in policy.models)
    raise InfeasibleError(
        f"{policy.method.name} finds no buckets that keep {models}: {int((~passes).sum())} of "
        f"{partition.n} do not. Ask for less, or try another method."
    )
