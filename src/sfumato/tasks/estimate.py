"""Estimate: what a counting query gives when a release is all there is."""

from collections.abc import Mapping
from os import PathLike
from typing import TypeAlias, overload

import numpy as np

from sfumato.conditions import Question
from sfumato.counts import Column, FrequencySet, add_up
from sfumato.decouplings.base import LinkedTables
from sfumato.decouplings.noise import GivenNoise, NoiseBudget
from sfumato.errors import HierarchyError, ParameterError
from sfumato.hierarchy import Ladder
from sfumato.policy import GivenPolicy, Policy, policy_of
from sfumato.recode.deciding import ladders_of
from sfumato.releases.opening import Published, count_columns, open_release
from sfumato.tasks.noisy_count import NoisyCount, noisy_count
from sfumato.tasks.noisy_estimate import NoisyLists
from sfumato.text import in_order, text_or_none
from sfumato.typing import BoolArray
from sfumato.usefulness import Condition, Estimate, Estimator, Query, ReleaseOnlyReader
from sfumato.usefulness.answers import (
    AnsweringTable,
    AnswerReader,
    InformedReader,
    LabelAnswer,
    Staying,
    bounds,
    bounds_of_groups,
)

_Answers: TypeAlias = Mapping[str | None, LabelAnswer]
"""The answer of each label, by how it is written."""


@overload
def estimate(
    release: object,
    where: Mapping[str, object],
    *,
    original: object = None,
    policy: GivenPolicy | None = None,
    noise: None = None,
    account: None = None,
) -> Estimate: ...


@overload
def estimate(
    release: object,
    where: Mapping[str, object],
    *,
    original: None = None,
    policy: GivenPolicy | None = None,
    noise: GivenNoise,
    account: str | PathLike[str] | None = None,
) -> NoisyCount: ...


def estimate(
    release: object,
    where: Mapping[str, object],
    *,
    original: object = None,
    policy: GivenPolicy | None = None,
    noise: GivenNoise | None = None,
    account: str | PathLike[str] | None = None,
) -> Estimate | NoisyCount:
    """Estimate how many rows have such values, from what is published.

    The answer is that of a careful analyst: rows behind a label are taken to be spread evenly
    over what it stands for, and columns published apart to have nothing to do with each other
    within a group. A query about columns that stand in one table with exact values is answered
    exactly. Beside the estimate stand the least and the most people who can have the values in
    any table behind the release. If it has a weight, the number of people of the population is
    estimated too, each row with what it stands for: an estimate as surveys make it, without bounds.
    Of tables with noisy counts it is estimated by these, and between the bounds it lies with 95 %
    confidence, over all that noise can be: see `sfumato.tasks.noisy_estimate`.
    If a release of a ledger says how many of the people counted have left, those who have not are
    estimated besides.

    Without more than the release a word stands for itself, an interval, a mask or `*` for
    whatever lies in it: see `sfumato.usefulness.ReleaseOnlyReader`. A missing value is counted only
    where it is asked for.

    Does not promise: that rows which were suppressed are like the others. They are not counted.

    Args:
        release: What was published: a release or its folder, decoupled or not, or a table.
        where: Per column a range `(low, high)` with both ends inside (None leaves one open), a
            list of values, or a value. None is the missing value. A range may also be written as
            labels are, such as "30-45", "30 to 45" or "<30". A word that is not there is refused.
        original: The table that was released, if it is at hand: which values there are is then
            taken from it, and nothing else.
        policy: The policy it was released with: its hierarchies say what labels stand for.
        noise: Counts people in the table itself, which is given in place of a release, with the
            noise of this budget, as in {"epsilon": 0.2}: see `sf.tools.noisy_count`.
        account: With `noise`, the account of the source: what is spent is written down there.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> ages = ["30 to 39"] * 4 + ["40 to 49"] * 2
        >>> ills = ["flu", "flu", "flu", "gout", "flu", "flu"]
        >>> table = pa.table({"age": ages, "ill": ills})
        >>> print(sf.estimate(table, {"age": (35, 45), "ill": "flu"}))
        about 2.7 of 6 rows have age=35..45 and ill=flu; at least 0 and at most 5
        >>> print(sf.estimate(table, {"age": (30, 39), "ill": ["flu", "gout"]}))
        4 of 6 rows have age=30..39 and ill=flu,gout
    """
    if noise is not None:
        return _count_with_noise(release, where, noise, policy, original, account)
    if account is not None:
        why = "what was published costs nothing more. Of the table itself: noise={'epsilon': 0.2}"
        raise ParameterError("account", str(account), "left out without noise", why=why)
    if not isinstance(where, Mapping) or not where:
        raise ParameterError(
            "where",
            where,
            "at least one condition",
            why="{'age': (30, 45), 'ill': ['flu', 'gout'], 'sex': 'f'}",
        )
    wanted = {name: Question.of(name, given) for name, given in where.items()}
    policy = policy_of(policy)
    found = open_release(release, quasi_identifiers=tuple(wanted), sensitive=())
    tables = found.counts(tuple(wanted))
    noisy = NoisyLists.of(found)
    if noisy is not None and original is not None:
        why = "counts have noise, and the domain of the release says which values there can be"
        raise ParameterError("original", "a table", "left out", why=why)
    shown = {
        name: _published_labels(tables, name) if noisy is None else noisy.labels(name)
        for name in wanted
    }
    readers = _readers(found, shown, wanted, original, policy)
    answers = {
        name: {text_or_none(label): readers[name].answer(label) for label in column.values}
        for name, column in shown.items()
    }
    conditions = [
        Condition(column, np.array([answer.share for answer in answers[name].values()]))
        for name, column in shown.items()
    ]
    estimator = found.estimator(tuple(shown.values()), {})
    if noisy is not None:
        asked = {name: str(each) for name, each in wanted.items()}
        known = {name: [*each.values()] for name, each in answers.items()}
        return noisy.estimate(known, estimator.count(Query(tuple(conditions))), asked)
    least, most = bounds(_parts(tables, answers))
    # Slices that share a column may say more together than one after the other.
    count = min(max(estimator.count(Query(tuple(conditions))), float(least)), float(most))
    asked = {name: str(each) for name, each in wanted.items()}
    if found.left_people:
        staying = _count_staying(found, tables, estimator, Query(tuple(conditions)), answers)
        return Estimate(count, round(estimator.total), least, most, asked, staying=staying)
    weighted = found.weighted_estimator(tuple(shown.values()), {})
    if weighted is None or found.weight in wanted:
        return Estimate(count, round(estimator.total), least, most, asked)
    people = weighted.count(Query(tuple(conditions)))
    return Estimate(count, round(estimator.total), least, most, asked, people, weighted.total)


def _count_with_noise(
    data: object,
    where: Mapping[str, object],
    noise: GivenNoise,
    policy: GivenPolicy | None,
    original: object,
    account: str | PathLike[str] | None,
) -> NoisyCount:
    """Count in the table itself; raise if it is a release, or the noise is not for one number."""
    asked = NoiseBudget.read(noise)
    if asked != NoiseBudget(epsilon=asked.epsilon):
        why = "one number is counted once for each person, with Laplace's noise"
        raise ParameterError("noise", dict(noise), "an epsilon and nothing else", why=why)
    if original is not None or not open_release(data).is_plain:
        why = "what was published costs nothing more: leave noise out. Or give the table itself"
        raise ParameterError("release", "a release", "a table, where counts get noise", why=why)
    assert asked.epsilon is not None  # noqa: S101 - it was read
    return noisy_count(data, where, epsilon=asked.epsilon, policy=policy, account=account)


def _count_staying(
    release: Published,
    tables: LinkedTables,
    estimator: Estimator,
    query: Query,
    answers: Mapping[str, _Answers],
) -> Staying:
    """Estimate the same of those who have not left, as far as the release says who has.

    It says how many of each group have. If they are like the others of it, everything asked for is
    less by the same share; if not, at most that many had what is asked for, and no fewer than must.
    """
    groups = release.groups
    labels = [
        tuple(text_or_none(value) for _, value in groups.group_at(g)) for g in range(tables.n)
    ]
    number = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    of_cell = np.array([number[label] for label in labels], dtype=np.int64)
    left = np.array([float(release.left_people.get(label, 0)) for label in number])
    sizes = add_up(of_cell, tables.sizes, len(number))
    left = np.minimum(left, sizes)
    estimator = estimator.scale_groups((1 - left / sizes)[of_cell])
    fewest, most = (
        add_up(of_cell, each, len(number)) for each in bounds_of_groups(_parts(tables, answers))
    )
    low = round(float(np.maximum(fewest - left, 0).sum()))
    high = round(float(np.minimum(most, sizes - left).sum()))
    return Staying(
        min(max(estimator.count(query), float(low)), float(high)),
        round(float((sizes - left).sum())),
        low,
        high,
    )


def _published_labels(tables: LinkedTables, name: str) -> Column:
    """Collect the labels that a column has in all tables it stands in."""
    holding = [table.column(name) for table in tables.tables if name in table.names]
    labels = {text_or_none(value): value for column in holding for value in column.values}
    return Column(name, tuple(in_order(labels.values())))


def _readers(
    release: Published,
    shown: Mapping[str, Column],
    wanted: Mapping[str, Question],
    original: object,
    policy: Policy | None,
) -> dict[str, AnswerReader]:
    """Choose a reader per column: an informed one where raw values are known."""
    raw, ladders = _raw(shown, original, policy)
    return {
        name: InformedReader(
            raw[name], column, wanted[name], ladders.get(name), release.levels.get(name)
        )
        if name in raw
        else ReleaseOnlyReader(column, wanted[name])
        for name, column in shown.items()
    }


def _raw(
    shown: Mapping[str, Column], original: object, policy: Policy | None
) -> tuple[dict[str, Column], dict[str, Ladder]]:
    """Find the raw values of columns, and their hierarchies: in the original, or in the policy."""
    if original is not None:
        others = () if policy is None else policy.quasi_identifiers
        counts = count_columns(original, (*shown, *others), policy)
        return {name: counts.column(name) for name in shown}, ladders_of(policy, counts, others)
    ladders = {name: _listing_ladder(policy, column) for name, column in shown.items()}
    known = {name: ladder for name, ladder in ladders.items() if ladder is not None}
    missing = {name: (None,) if shown[name].missing >= 0 else () for name in known}
    columns = {name: Column(name, (*each.values, *missing[name])) for name, each in known.items()}
    return columns, known


def _listing_ladder(policy: Policy | None, column: Column) -> Ladder | None:
    """Build a hierarchy that lists its raw values itself, as trees and files do."""
    rule = None if policy is None else policy.columns.get(column.name)
    if rule is None or rule.hierarchy is None:
        return None
    try:
        # A hierarchy that is computed from values knows those it is given, or refuses this one.
        hierarchy = rule.hierarchy.build(column.name, ["?"])
    except HierarchyError:
        return None
    values = in_order(hierarchy.values)
    return None if values == ["?"] else hierarchy.bind(column.name, values)


def _parts(tables: LinkedTables, answers: Mapping[str, _Answers]) -> list[AnsweringTable]:
    parts = zip(tables.tables, tables.groups, tables.people, strict=True)
    return [
        AnsweringTable(group, people, *(_entries(tables, table, answers, at) for at in (1, 2)))
        for table, group, people in parts
    ]


def _entries(
    tables: LinkedTables, table: FrequencySet, answers: Mapping[str, _Answers], at: int
) -> dict[str, BoolArray]:
    """Return per column whether each entry certainly (1) or possibly (2) keeps the condition."""
    found = {}
    for name in tables.names(table):
        labels = table.column(name).values
        each = [answers[name][text_or_none(label)][at] for label in labels]
        found[name] = np.array(each, dtype=bool)[table.codes_of(name)]
    return found
