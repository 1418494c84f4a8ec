"""Deciding row by row in a cluster, where the counts do not fit one machine."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from secrets import token_hex
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import types as t

from sfumato._version import __version__
from sfumato.classes import EquivalenceClasses, classes_from
from sfumato.counts import FrequencySet, group, sums
from sfumato.dataclasses import dataclass
from sfumato.errors import InfeasibleError, InputError, ParameterError, PolicyError, some
from sfumato.losses import LOSSES, Cells, LocalResult
from sfumato.models.base import TableModel, promise_text
from sfumato.partition import (
    PARTITIONERS,
    Fragments,
    LabelledPartition,
    Partition,
    Partitioner,
    Problem,
    cut_into_fragments,
    label_partition,
)
from sfumato.partition.base import secret_generator
from sfumato.policy import Missing, Policy
from sfumato.recode.budget import BudgetedCounts, MemoryBudget
from sfumato.recode.deciding import (
    Decision,
    PreparedTable,
    make_problem,
    prepare,
    refuse_impossible,
)
from sfumato.recoding import SolvedRecoding
from sfumato.tables import Table
from sfumato.tables.arrow.publishing import Portions
from sfumato.tables.arrow.sources import changed_error, from_numpy, from_texts, to_numpy
from sfumato.tables.workers import Division, SolvedTables, Workers
from sfumato.text import format_integer, text_of
from sfumato.typing import CodeArray, FloatArray, IntArray

# What a worker of a cluster does: recode one fragment of a table by itself.


STARRED = ""
"""The note of a row that is suppressed and starred; one that is published has none."""


@dataclass(frozen=True, eq=False)
class Solver:
    """Recodes the rows of a fragment so that every class of it keeps the models.

    Every fragment has the same hierarchies, those of the whole table, so labels mean the same
    in all of them. It is pickled and sent to where the rows are.
    """

    problem: Problem
    """What every fragment must keep, without any items."""

    partitioner: Partitioner
    limits: IntArray
    """How many rows of each fragment may be suppressed."""

    columns: Sequence[int | str]
    """What to give: the labels of a quasi-identifier, or a column to hand through."""

    stars: int | None
    """How many rows were suppressed before; None if suppressed rows are left out."""

    fragment: str = "fragment"
    version: str = field(default=__version__)

    def __call__(self, rows: pa.Table) -> pa.Table:
        """Return the recoded rows, then the starred ones, then a note on all of them."""
        if self.version != __version__:
            raise InputError(
                f"a worker has sfumato {__version__}, and {self.version} is needed. Install the "
                "same version everywhere."
            )
        number = int(rows.column(self.fragment)[0].as_py())
        codes = [_codes(rows, f"r{i}") for i in range(len(self.problem.counts.columns))]
        sizes = [len(column.values) for column in self.problem.counts.columns]
        groups = group(codes, sizes)
        counts = FrequencySet(
            self.problem.counts.columns,
            np.array(codes, dtype=np.int32)[:, groups.first],
            sums(groups.of_item, np.ones(len(rows), dtype=np.int64), groups.n),
        )
        problem = replace(self.problem, counts=counts, limit=int(self.limits[number]))
        # What is drawn here, among rows that are alike, cannot be drawn again.
        rng = secret_generator()
        settled = solve(problem, self.partitioner, rng)
        recoding = settled.recoding(counts, np.arange(len(counts)))
        portions = Portions(recoding.starts, recoding.rows, rng)
        classes = recoding.classes[portions.hand_out(groups.of_item)]
        published = self._publish(rows, settled, classes)
        starred = 0 if self.stars is None else settled.suppressed + (number == 0) * self.stars
        return pa.concat_tables(
            [
                published,
                _empty(published.schema, starred, STARRED),
                _empty(published.schema, 1, _note(number, len(rows), settled)),
            ]
        )

    def _publish(self, rows: pa.Table, settled: LabelledPartition, classes: IntArray) -> pa.Table:
        stays = classes >= 0
        if not stays.all():
            rows, classes = rows.take(from_numpy(np.flatnonzero(stays))), classes[stays]
        made = {}
        for at, column in enumerate(self.columns):
            if isinstance(column, str):
                made[f"o{at}"] = rows.column(column)
                continue
            labels = settled.labels[column]
            texts = [None if name is None else text_of(name) for name in labels.names]
            taken = from_numpy(labels.of_class[classes])
            made[f"o{at}"] = from_texts(texts, pa.string()).take(taken)
        made[f"o{len(self.columns)}"] = pa.nulls(len(classes), pa.string())
        return pa.table(made)


def solve(
    problem: Problem, partitioner: Partitioner, rng: np.random.Generator
) -> LabelledPartition:
    """Divide and label a fragment; where a method suppresses too much, leave it in one piece."""
    intervals = partitioner.intervals(problem)
    exact = partitioner.exact_bounds
    found = label_partition(problem, partitioner.run(problem, rng=rng), intervals, exact=exact)
    if found.suppressed <= problem.limit:
        return found
    n = len(problem.counts)
    whole = Partition.of(np.arange(n), problem.rows, np.zeros(n))
    found = label_partition(problem, whole, intervals, exact=exact)
    if found.suppressed > problem.limit:
        raise InfeasibleError("a fragment breaks the models even if all of it is one class")
    return found


def _codes(rows: pa.Table, name: str) -> CodeArray:
    column = rows.column(name)
    if column.null_count:
        raise InputError("the table changed while it was being published. Start again.")
    codes: CodeArray = to_numpy(column.cast(pa.int32()).combine_chunks())
    return codes


def _empty(schema: pa.Schema, n: int, note: str) -> pa.Table:
    """Return rows that hold nothing but a note."""
    *cells, last = schema
    columns = [pa.nulls(n, cell.type) for cell in cells]
    return pa.table([*columns, from_texts([note] * n, last.type)], schema=schema)


def _note(number: int, rows: int, settled: LabelledPartition) -> str:
    """Write down what a manifest needs to know of a fragment."""
    labels = settled.labels
    return json.dumps(
        {
            "fragment": number,
            "rows": rows,
            "suppressed": settled.suppressed,
            "raw": [_is_raw(settled, a) for a in range(len(labels))],
            "levels": [None if one.levels is None else one.levels.tolist() for one in labels],
            "cells": [
                [c.tolist() for c in (x.value, x.level, x.leaves, x.together, x.rows)]
                for x in (one.cells for one in labels)
            ],
        }
    )


def _is_raw(settled: LabelledPartition, a: int) -> bool:
    """Return whether every row is published with its own value of an attribute."""
    labels, partition = settled.labels[a], settled.partition
    code = {id(value): i for i, value in enumerate(settled.problem.attributes[a].ladder.values)}
    own = np.array([code.get(id(name), -1) for name in labels.names] or [-1])
    raw = settled.problem.raw[a][partition.item]
    return bool((own[labels.of_class[partition.classes]] == raw).all())


class InFragments(NamedTuple):
    """A release that was decided in fragments, and the rows it will consist of."""

    decision: Decision
    rows: Table
    """What is to be published, already recoded."""

    note: str
    """What a manifest says of how it was done."""


@contextmanager
def decided_in_fragments(
    policy: Policy,
    fitted: BudgetedCounts,
    budget: MemoryBudget,
    table: Table,
    columns: Sequence[str],
    output: str | None,
) -> Iterator[InFragments]:
    """Divide a table by its coarse counts, let workers recode the fragments, add up what they say.

    Every fragment keeps the models by itself, and so do all of them together: classes of two
    fragments that have the same labels are one class to a reader, and models that could break
    by that are refused. Models that compare classes with the table are given its distribution.
    Then no row of a fragment may be suppressed, because that would change it.

    Args:
        policy: What must hold, and by which local method.
        fitted: The table, counted at levels at which it fits.
        budget: What it had to fit into.
        table: The table, one of Spark.
        columns: What is published, in order.
        output: The table that will be written, if it is one.
    """
    partitioner = policy.make_method(PARTITIONERS)
    assert partitioner is not None  # noqa: S101 - full-domain goes on from the coarse counts
    ready = prepare(policy, fitted.counts)
    _refuse(policy, ready)
    problem = make_problem(policy, ready)
    # Cuts are between values that were counted apart.
    coarse = replace(problem, lowest=make_problem(fitted.policy, ready).lowest)
    most = budget.most(len(fitted.counts.columns))
    fragments = cut_into_fragments(coarse, partitioner.intervals(problem), most)
    _require_fragments(policy, budget, ready, fragments, most)
    raw = _raw_names(table, policy.quasi_identifiers)
    handed = _columns_to_hand_through(table, policy.quasi_identifiers, columns, raw)
    solver = Solver(
        problem=_for_workers(problem, fragments),
        partitioner=partitioner,
        limits=_limits(problem, ready.limit, fragments),
        columns=[
            policy.quasi_identifiers.index(name) if like is None else like
            for name, like in handed.items()
        ],
        stars=fitted.counts.total - int(fragments.sizes.sum())
        if policy.suppression.rows == "star"
        else None,
    )
    division = _division(fitted, ready, fragments)
    with Workers.expect(table).solving(division, solver, handed, output) as solved:
        notes = _read(solved.notes, fragments, table)
        decision = _decision(policy, partitioner, problem, ready, fitted, solved, notes)
        note = (
            f"to keep within {budget.given} of memory, the table was divided into "
            f"{fragments.n} fragments by coarser values, and each was recoded by itself"
        )
        recoding = _recoding(policy, decision, solved, notes, raw)
        yield InFragments(replace(decision, recoding=recoding), solved.every, note)


def _refuse(policy: Policy, ready: PreparedTable) -> None:
    """Raise if not every fragment by itself can keep the models, or no release can."""
    if policy.counted_person is not None:
        raise policy.error_at(
            "person",
            text="people are counted, and a table that is divided into fragments has some of them "
            "in several. Give more memory, so that it need not be divided, or choose method: "
            "full-domain",
        )
    unsound = [
        promise_text({"model": model.name, **model.params()})
        for model in policy.models
        if not (model.merging.closed or isinstance(model, TableModel))
    ]
    if unsound:
        raise PolicyError(
            f"{some(unsound)} may break when classes are merged, so it cannot be kept by dividing "
            "the table into fragments. Give more memory, so that it need not be divided."
        )
    lacking = [name for name in policy.quasi_identifiers if ready.counts.column(name).missing >= 0]
    if policy.missing is Missing.MATCHES_ANY and lacking:
        raise PolicyError(
            f"missing values of {some(lacking)} match any value (missing: matches-any), also those "
            "of other fragments, so the table cannot be divided. Give more memory, or choose "
            "missing: own-value or suppress."
        )
    # Without missing values that match any, classes do not overlap.
    refuse_impossible(policy.models, ready.counts, ready.sensitive, ready.limit, matches_any=False)


def _require_fragments(
    policy: Policy, budget: MemoryBudget, ready: PreparedTable, fragments: Fragments, most: int
) -> None:
    """Raise if a division suppresses too much, or is not fine enough."""
    lost = ready.counts.total - int(fragments.sizes.sum())
    if lost > ready.limit or not fragments.n:
        models = [promise_text({"model": m.name, **m.params()}) for m in policy.models]
        raise InfeasibleError(
            f"no release keeps the promises: {lost} of {ready.counts.total} rows break "
            f"{' or '.join(models)} even at the highest levels, and at most {ready.limit} rows may "
            "be suppressed. Allow more rows to be suppressed, allow higher levels, or ask for less."
        )
    largest = int(fragments.sizes.max())
    if largest > most:
        raise ParameterError(
            "memory",
            budget.given,
            "more",
            why=f"a fragment of {format_integer(largest)} rows cannot be divided further at the "
            "levels that were "
            f"counted, and {format_integer(most)} fit. With more memory finer levels can be "
            "counted",
        )


def _raw_names(stored: Table, names: Sequence[str]) -> dict[str, str]:
    """Return a column name for each that may keep its type, if no value is generalised."""
    token = token_hex(8)
    return {
        name: f"sfumato_raw_{token}_{i}"
        for i, name in enumerate(names)
        if not t.is_string(stored.type_of(name))
    }


def _columns_to_hand_through(
    stored: Table, quasi: Sequence[str], columns: Sequence[str], raw: Mapping[str, str]
) -> dict[str, str | None]:
    """Return which columns workers hand through, and which they make."""
    place = {name: stored.columns.index(name) for name in columns}
    handed = {name: None if name in quasi else f"c{place[name]}" for name in columns}
    return handed | {as_is: f"k{place[name]}" for name, as_is in raw.items()}


def _for_workers(problem: Problem, fragments: Fragments) -> Problem:
    """Return the problem without its items, and with what models compare classes with."""
    counts, nothing = problem.counts, _no_rows(problem.counts)
    if not _compares(problem):
        return replace(problem, counts=nothing)
    inside = fragments.of_item >= 0
    whole = FrequencySet(counts.columns, counts.codes[:, inside], counts.rows[inside])
    return replace(problem, counts=nothing, whole=whole.project(list(problem.sensitive)))


def _no_rows(counts: FrequencySet) -> FrequencySet:
    return FrequencySet(counts.columns, counts.codes[:, :0], counts.rows[:0])


def _limits(problem: Problem, limit: int, fragments: Fragments) -> IntArray:
    """Return every fragment's share of the rows that may be suppressed, rounded down."""
    sizes = fragments.sizes
    if _compares(problem):
        return np.zeros(len(sizes), dtype=np.int64)
    inside = int(sizes.sum())
    left = limit - (problem.total - inside)
    return np.array([left * size // inside for size in sizes.tolist()], dtype=np.int64)


def _compares(problem: Problem) -> bool:
    return any(model.compares_with_table for model in problem.models)


def _division(fitted: BudgetedCounts, ready: PreparedTable, fragments: Fragments) -> Division:
    n = len(ready.attributes)
    inside = np.flatnonzero(fragments.of_item >= 0)
    codes = ready.counts.codes[:n, inside]
    sizes = [len(column.values) for column in ready.counts.columns[:n]]
    # Sensitive values do not matter: rows with equal quasi-identifiers are in one fragment.
    first = group(list(codes), sizes).first
    assert fitted.found is not None  # noqa: S101 - it did not fit, so it was surveyed
    return Division(fitted.found, fitted.merged, codes[:, first], fragments.of_item[inside][first])


def _read(texts: Sequence[str], fragments: Fragments, stored: Table) -> list[dict[str, Any]]:
    """Read what workers said, and make sure that no row was lost or came in between."""
    notes = sorted((json.loads(text) for text in texts), key=lambda note: int(note["fragment"]))
    if [note["rows"] for note in notes] != fragments.sizes.tolist():
        raise changed_error(
            f"the {stored.kind} table", "the fragments have other rows than were counted"
        )
    return notes


def _decision(
    policy: Policy,
    partitioner: Partitioner,
    problem: Problem,
    ready: PreparedTable,
    fitted: BudgetedCounts,
    solved: SolvedTables,
    notes: Sequence[Mapping[str, Any]],
) -> Decision:
    """Describe all fragments together as one decision on the whole table."""
    left, shown = _left(policy, ready, solved)
    cells = [_cells(a, notes) for a in range(len(problem.attributes))]
    return Decision(
        recoding=SolvedRecoding((), {}, solved.note, 0, 0),
        left=left,
        sizes=left.sizes,
        suppressed=fitted.counts.total - left.total,
        columns=_columns(problem, partitioner, shown, notes),
        losses=_losses(policy, problem, cells, left),
        method={"name": partitioner.name, **partitioner.params()},
        sensitive=ready.sensitive,
        # Workers replaced the values of the published rows, so none of them is known here.
        published=_no_rows(fitted.counts).compact(),
    )


def _recoding(
    policy: Policy,
    decision: Decision,
    solved: SolvedTables,
    notes: Sequence[Mapping[str, Any]],
    raw: Mapping[str, str],
) -> SolvedRecoding:
    quasi = policy.quasi_identifiers
    always = {name for i, name in enumerate(quasi) if all(note["raw"][i] for note in notes)}
    return SolvedRecoding(
        columns=quasi,
        raw={name: as_is for name, as_is in raw.items() if name in always},
        note=solved.note,
        rows=int(decision.sizes.sum()) + decision.suppressed,
        suppressed=decision.suppressed,
    )


def _left(
    policy: Policy, ready: PreparedTable, solved: SolvedTables
) -> tuple[EquivalenceClasses, FrequencySet]:
    """Count the classes as a reader sees them, whatever fragments their rows were in."""
    shown = solved.published.count([*policy.quasi_identifiers, *ready.sensitive])
    columns, codes = list(shown.columns), shown.codes.copy()
    for name in ready.sensitive:
        # Some value may have been suppressed altogether.
        position, column = shown.index(name), ready.counts.column(name)
        place = {value: i for i, value in enumerate(column.values)}
        lookup = np.array([place[value] for value in columns[position].values], dtype=np.int32)
        codes[position] = lookup[codes[position]]
        columns[position] = column
    counts = FrequencySet(tuple(columns), codes, shown.rows)
    classes = classes_from(counts, policy.quasi_identifiers, ready.sensitive)
    return classes, shown


def _columns(
    problem: Problem,
    partitioner: Partitioner,
    shown: FrequencySet,
    notes: Sequence[Mapping[str, Any]],
) -> dict[str, dict[str, Any]]:
    """Count how many rows of each column are at each level, or in how many intervals."""
    columns: dict[str, dict[str, Any]] = {}
    for a, as_interval in enumerate(partitioner.intervals(problem)):
        ladder = problem.attributes[a].ladder
        if as_interval:
            about: dict[str, Any] = {"intervals": len(shown.column(ladder.column).values)}
        else:
            levels = np.sum([note["levels"][a] for note in notes], axis=0)
            about = {"height": ladder.height, "levels": levels.tolist()}
        columns[ladder.column] = about
    return columns


def _cells(a: int, notes: Sequence[Mapping[str, Any]]) -> Cells:
    """Join the cells of one attribute; none is in two fragments."""
    parts = [np.concatenate([note["cells"][a][i] for note in notes]) for i in range(5)]
    return Cells(parts[0].astype(np.int64), *(part.astype(np.float64) for part in parts[1:]))


def _losses(
    policy: Policy, problem: Problem, cells: Sequence[Cells], left: EquivalenceClasses
) -> dict[str, float]:
    """Measure the release in every way there is, the policy's own loss first."""
    removed: list[FloatArray] = [
        attribute.frequency.astype(np.float64)
        - np.bincount(c.value, weights=c.rows, minlength=len(attribute.frequency))
        for attribute, c in zip(problem.attributes, cells, strict=True)
    ]
    result = LocalResult(cells, left.sizes, removed, problem.total - left.total)
    own = {policy.loss.name: policy.loss}
    others = {name: LOSSES[name].example() for name in LOSSES if name not in own}
    return {
        name: loss.over(problem.attributes, problem.total).of_local(result)
        for name, loss in (own | others).items()
    }
