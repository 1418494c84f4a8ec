"""Synthetic releases: rows that a mechanism drew, as a table, and what their manifest says."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.counts import FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.derivations import Derivation, Preparation, Shift
from sfumato.policy import Policy
from sfumato.releases.manifest import (
    ClassSizes,
    ColumnRecord,
    Manifest,
    MeasurementRecord,
    RowRecord,
    SyntheticRecord,
    accepted_in,
)
from sfumato.releases.places import FinishedRows
from sfumato.schema import Role
from sfumato.synthesis.budget import PrivacyBudget
from sfumato.synthesis.domain import ColumnDomain, PublicDomain
from sfumato.synthesis.mechanisms import FittedModel, Measurement
from sfumato.tables import open_table

if TYPE_CHECKING:
    import pyarrow as pa

SYNTHETIC = "synthetic"
"""What manifests call the method."""


@dataclass(frozen=True, eq=False)
class SyntheticRows(FinishedRows):
    """Rows that a mechanism drew."""

    what = "synthetic rows"


def derived_steps(policy: Policy, names: Sequence[str]) -> tuple[Derivation, ...]:
    """Return what is computed of published columns alone, so that it need not be drawn.

    Args:
        policy: What derives columns.
        names: The published columns.
    """
    there = {*names}
    return tuple(
        step
        for step in policy.derive
        if not isinstance(step, Shift)
        and not step.needs_person
        and step.made
        and {*step.made} <= there
        and {*step.dates, *step.inputs} <= there
    )


def bound_contributions(
    counts: FrequencySet, unit: str, most: int, rng: np.random.Generator
) -> FrequencySet:
    """Return counts with at most so many rows of each person, drawn at random, and no person.

    Which rows of a person are kept depends on no one else, so that a person who is added or
    removed changes no more rows than that.

    >>> rows = [("ann", 30), ("ann", 31), ("bob", 30)]
    >>> counts = FrequencySet.from_rows(["who", "age"], rows)
    >>> bound_contributions(counts, "who", 1, np.random.default_rng(1)).total
    2
    """
    person = counts.codes_of(unit)
    rows = counts.rows.copy()
    total = np.bincount(person, weights=rows)
    over = np.flatnonzero(total[person] > most)
    if len(over):
        item = np.repeat(over, rows[over])
        item = item[rng.permutation(len(item))]
        who = person[item]
        order = np.argsort(who, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(who[order]) != 0])
        lengths = np.diff(np.r_[starts, len(order)])
        rank = np.arange(len(order)) - np.repeat(starts, lengths)
        kept = item[order][rank < most]
        rows[over] = np.bincount(kept, minlength=len(rows))[over]
    left = rows > 0
    bounded = FrequencySet(counts.columns, counts.codes[:, left], rows[left])
    return bounded.project([name for name in counts.names if name != unit])


def rows_of(
    model: FittedModel,
    domain: PublicDomain,
    columns: Sequence[str],
    steps: Sequence[Derivation],
    rng: np.random.Generator,
) -> "pa.Table":
    """Draw rows: cells from the model, values within them, and what is derived of these.

    Args:
        model: What was fitted.
        domain: The cells of its columns.
        columns: The columns in order, derived ones among them.
        steps: What is derived.
        rng: Draws within cells and the order of the rows.
    """
    import pyarrow as pa

    cells = model.draw(model.total)
    cells = cells[:, rng.permutation(cells.shape[1])]
    drawn = {
        each.name: _as_typed_column(each, each.draw(at, rng))
        for each, at in zip(domain.columns, cells, strict=True)
    }
    table = pa.table(drawn)
    if steps:
        made = [name for step in steps for name in step.made]
        prepared = open_table(table).prepare(Preparation(steps=tuple(steps)))
        full = prepared.head(table.num_rows)
        for name in made:
            table = table.append_column(name, full.column(name))
    return table.select(list(columns))


def _as_typed_column(domain: ColumnDomain, values: Sequence[Any]) -> "pa.Array":
    """Return values with the type that their domain has: no type is the table's.

    A column of a data frame holds decimals as soon as one number is missing, and text as soon as
    one cell is: its type says what is in single rows.

    >>> codes = ColumnDomain.of_values("code", ["1", "2"])
    >>> str(_as_typed_column(codes, ["2", None]).type)
    'int64'
    """
    import pyarrow as pa

    if domain.days:
        return pa.array(values, pa.date32())
    if domain.is_line:
        return pa.array(values, pa.float64() if domain.digits else pa.int64())
    texts = pa.array(values, pa.string())
    for kind in (pa.bool_(), pa.int64()):
        try:
            if pa.array(domain.values, pa.string()).cast(kind).cast(pa.string()).to_pylist() == [
                *domain.values
            ]:
                return texts.cast(kind)
        except pa.ArrowInvalid:
            continue
    return texts


def derived_domain(domain: PublicDomain, names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that are derived: they have no cells of their own."""
    return tuple(name for name in names if name not in domain.names)


def describe_synthetic(  # noqa: PLR0913 - all but six are named
    policy: Policy,
    roles: Mapping[str, Role],
    table: "pa.Table",
    model: FittedModel,
    budget: PrivacyBudget,
    domain: PublicDomain,
    *,
    mechanism: str,
    unit: str,
    contributions: int,
    notes: Sequence[str] = (),
) -> Manifest:
    """Return the manifest of synthetic rows, apart from its files.

    Nothing in it depends on the data but through noise.
    """
    known = [name for name in table.column_names if roles[name] is Role.QUASI_IDENTIFIER]
    counts = open_table(table).count(known) if table.num_rows and known else None
    sizes = np.zeros(0, dtype=np.int64) if counts is None else counts.rows
    derived = derived_domain(domain, table.column_names)
    return Manifest(
        columns=tuple(
            ColumnRecord(
                name,
                roles[name].value,
                level=0 if roles[name] is Role.QUASI_IDENTIFIER else None,
                because=policy.columns[name].because if name in policy.columns else None,
                known=False if name in policy.unknown else None,
            )
            for name in table.column_names
        ),
        rows=RowRecord(table.num_rows, 0, "remove"),
        missing="own-value",
        models=(),
        classes=ClassSizes.of(sizes),
        method={"name": SYNTHETIC, "mechanism": mechanism},
        synthetic=drawn_record(
            mechanism,
            budget,
            model.measurements,
            {each.name: each.to_dict() for each in domain.columns},
            unit=unit,
            contributions=contributions,
            library=model.library,
            selection=model.selection,
            derived=derived,
        ),
        accepted=accepted_in(policy),
        risk_levels=policy.risk_levels.to_plain(),
        owner=policy.owner,
        purpose=policy.purpose,
        notes=tuple(notes) or None,
    )


def drawn_record(  # noqa: PLR0913 - all but four are named
    mechanism: str,
    budget: PrivacyBudget,
    measurements: Sequence[Measurement],
    domain: Mapping[str, Mapping[str, Any]],
    *,
    unit: str,
    contributions: int,
    library: str,
    selection: float = 0.0,
    derived: Sequence[str] = (),
) -> SyntheticRecord:
    """Return what a manifest says of a promise, and of what was counted under it.

    Args:
        mechanism: What drew what is published.
        budget: What it might spend.
        measurements: What was counted.
        domain: The cells of each column, as they are stated.
        unit: Whom the promise is about.
        contributions: The most rows of a unit that count.
        library: What made noise and kept accounts.
        selection: What was spent on choosing what to count.
        derived: The columns that are computed from others.
    """
    return SyntheticRecord(
        mechanism,
        "laplace" if budget.pure else "gaussian",
        unit,
        contributions,
        budget.epsilon,
        budget.delta,
        tuple(MeasurementRecord(each.columns, each.scale, each.spent) for each in measurements),
        selection,
        domain,
        rho=budget.rho,
        derived=tuple(derived) or None,
        library=library,
    )
