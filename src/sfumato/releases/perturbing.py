"""Tables and counts with the perturbations that a policy asks for."""

import numpy as np

from sfumato.counts import FrequencySet
from sfumato.errors import UnknownColumnError
from sfumato.perturbations import Cells, Perturbation
from sfumato.perturbations.perturbing import perturb_cells
from sfumato.policy import Policy
from sfumato.tables import DatabaseTable, Table


def perturb_table(table: Table, policy: Policy, rng: np.random.Generator) -> Table:
    """Return a table with the values of some columns changed, as a policy asks for.

    The rows of these columns are held in memory.

    Args:
        table: The table, prepared.
        policy: What is changed, and how.
        rng: Where chance comes from.
    """
    rules = policy.perturbations
    if not rules:
        return table
    _require_rows(table, policy)
    names = _names_for(policy)
    table.require(names)
    columns, codes = table.read(names)
    cells = {
        column.name: Cells(column, code.astype(np.int64))
        for column, code in zip(columns, codes, strict=True)
    }
    person = None if policy.counted_person is None else cells[policy.counted_person].codes
    found = perturb_cells(cells, rules, rng, person)
    return table.with_cells({name: (each.column, each.codes) for name, each in found.items()})


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
    cells = {n: Cells(counts.column(n), counts.codes_of(n)[item].astype(np.int64)) for n in names}
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
