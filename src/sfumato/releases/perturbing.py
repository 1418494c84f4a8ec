"""Tables and counts with the perturbations that a policy asks for."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from sfumato.counts import Column, FrequencySet, group
from sfumato.decouplings.base import free_name
from sfumato.errors import UnknownColumnError
from sfumato.perturbations import ColumnCells, Perturbation
from sfumato.perturbations.perturbing import perturb_cells
from sfumato.policy import Policy
from sfumato.recode.deciding import count_population, counted_columns, decide_on_rest, lost_rows
from sfumato.recode.recoded import published_part
from sfumato.tables import DatabaseTable, Table
from sfumato.tables.capabilities import OrderedRows
from sfumato.typing import BoolArray, Progress


class PerturbedTable(NamedTuple):
    """A table with values of some columns changed."""

    table: Table
    left_out: str | None = None
    """The column that is 1 in rows which must not be published; None if there are none."""


def perturb_table(
    table: Table, policy: Policy, asked: Policy, rng: np.random.Generator, report: Progress
) -> PerturbedTable:
    """Return a table with the values of some columns changed, as a policy asks for.

    The rows of these columns are held in memory. What is published must not depend on rows that
    are not: values would be exchanged with theirs, and their numbers would decide about limits. So
    it is decided on the changed table who is suppressed, and the columns are changed again without
    those, until none is suppressed.

    Args:
        table: The table, prepared.
        policy: What is changed, and how.
        asked: The same policy, or what `with_findings` made of it.
        rng: Where chance comes from.
        report: Told how far each stage is.
    """
    if not policy.perturbations:
        return PerturbedTable(table)
    _require_rows(table, policy)
    names = _names_for(policy)
    table.require(names)
    columns, codes = OrderedRows.expect(table).read(names)
    cells = {
        column.name: ColumnCells(column, code.astype(np.int64))
        for column, code in zip(columns, codes, strict=True)
    }
    seed, kept = int(rng.integers(2**63)), np.ones(codes.shape[1], dtype=bool)
    while True:
        changed = _change(cells, policy, kept, np.random.default_rng(seed))
        given = {name: (each.column, each.codes) for name, each in changed.items()}
        if kept.all():
            found = PerturbedTable(OrderedRows.expect(table).with_cells(given))
        else:
            left_out = free_name("left out", table.columns)
            marks = Column(left_out, (0, 1)), (~kept).astype(np.int64)
            found = PerturbedTable(
                OrderedRows.expect(table).with_cells({**given, left_out: marks}), left_out
            )
        room = _room(policy, cells, kept)
        stay = _published(found.table, kept, policy, asked, room, seed, report)
        if stay.all():
            return found
        kept[kept] = stay


def _change(
    cells: Mapping[str, ColumnCells], policy: Policy, kept: BoolArray, rng: np.random.Generator
) -> dict[str, ColumnCells]:
    person = None if policy.counted_person is None else cells[policy.counted_person].codes
    some_left = None if kept.all() else kept
    return perturb_cells(cells, policy.perturbations, rng, person, some_left)


def _room(policy: Policy, cells: Mapping[str, ColumnCells], kept: BoolArray) -> int:
    """Return how many more rows, or people, may be suppressed."""
    everything, left = len(kept), int(np.count_nonzero(kept))
    if policy.suppresses_people:
        who = cells[str(policy.counted_person)].codes
        everything, left = len(np.unique(who)), len(np.unique(who[kept]))
    return policy.suppression.most_rows(everything) - (everything - left)


def _published(
    table: Table,
    kept: BoolArray,
    policy: Policy,
    asked: Policy,
    room: int,
    seed: int,
    report: Progress,
) -> BoolArray:
    """Return which of the rows that are left would be published."""
    rng = np.random.default_rng(seed)
    columns, codes = OrderedRows.expect(table).read(counted_columns(asked))
    if not policy.quasi_identifiers or not kept.any():
        return np.ones(int(np.count_nonzero(kept)), dtype=bool)
    whole = FrequencySet(columns, codes, np.ones(codes.shape[1], dtype=np.int64))
    codes = codes[:, kept]
    groups = group(list(codes), [len(column.values) for column in columns], n=codes.shape[1])
    rows = np.bincount(groups.of_item, minlength=groups.n)
    counts = FrequencySet(columns, codes[:, groups.first], rows).compact()
    population = count_population(policy, report)
    lost = lost_rows(policy, whole, counts)
    decision = decide_on_rest(
        policy, asked, counts, population, lost=lost, room=room, rng=rng, report=report
    )
    if not decision.suppressed:
        return np.ones(codes.shape[1], dtype=bool)
    part = published_part(counts, decision.recoding)
    published = np.zeros(len(counts), dtype=np.int64)
    published[part.items] = part.counts.rows
    # Of rows that are alike, chance decides which are published.
    shuffled = rng.permutation(codes.shape[1])
    order = shuffled[np.argsort(groups.of_item[shuffled], kind="stable")]
    stay = np.empty(codes.shape[1], dtype=bool)
    place = np.arange(codes.shape[1]) - np.repeat(np.cumsum(rows) - rows, rows)
    stay[order] = place < np.repeat(published, rows)
    return stay


def perturb_counts(counts: FrequencySet, policy: Policy, rng: np.random.Generator) -> FrequencySet:
    """Return the counts of a table whose columns are changed as a policy asks for.

    Args:
        counts: The counts of the table, over all that is changed, and more.
        policy: What is changed, and how.
        rng: Where chance comes from.
    """
    rules = policy.perturbations
    if not rules:
        return counts
    item = np.repeat(np.arange(len(counts)), counts.rows)
    names = _names_for(policy)
    cells = {
        n: ColumnCells(counts.column(n), counts.codes_of(n)[item].astype(np.int64)) for n in names
    }
    person = None if policy.counted_person is None else cells[policy.counted_person].codes
    found = perturb_cells(cells, rules, rng, person)
    codes = []
    values = []
    for name in counts.names:
        changed = found.get(name)
        kept = counts.codes_of(name)[item] if changed is None else changed.codes
        codes.append(kept.astype(np.int64))
        values.append((counts.column(name) if changed is None else changed.column).values)
    ones = np.ones(len(item), dtype=np.int64)
    return FrequencySet.from_codes(counts.names, values, np.stack(codes), ones)


def columns_to_perturb(policy: Policy) -> tuple[str, ...]:
    """Return the columns that must be counted to perturb counts."""
    return _names_for(policy) if policy.perturbations else ()


def _names_for(policy: Policy) -> tuple[str, ...]:
    within = [
        name
        for chain in policy.perturbations.values()
        for member in chain
        for name in member.within
    ]
    person = [] if policy.counted_person is None else [policy.counted_person]
    return tuple(dict.fromkeys([*policy.perturbations, *within, *person]))


def _require_rows(table: Table, policy: Policy) -> None:
    first, chain = next(iter(policy.perturbations.items()))
    for member in chain:
        for name in member.within:
            if name not in table.columns:
                raise UnknownColumnError(name, list(table.columns))
    if isinstance(table, DatabaseTable):
        text = (
            f"the rows are changed in memory, and those of a database ({table.kind}) stay where "
            "they are. Give the table as a file, or change the column there and leave this out."
        )
        raise policy.error_at("columns", first, "perturb", text=text)


def perturbation_notes(policy: Policy) -> tuple[str, ...]:
    """Return what readers of a release must know of columns that were perturbed."""
    together: dict[str, tuple[Perturbation, list[str]]] = {}
    for name, chain in policy.perturbations.items():
        for member in chain:
            together.setdefault(repr(member), (member, []))[1].append(name)
    return tuple(member.note(names) for member, names in together.values())
