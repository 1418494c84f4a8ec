"""Decoupled tables of noisy counts: the counts as noise left them, and tables of whole people.

Noise leaves counts that are below zero and do not fit together. They are published as they are, a
row for each cell of the domain, so that estimates are not bent and say how far off they may be.
The tables beside them hold the nearest whole numbers of people, and follow from them alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sfumato.counts import Column
from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import (
    DecoupledPart,
    GroupedTables,
    Joint,
    Parts,
    SensitiveTable,
    file_names,
    free_name,
    joint_name,
    random_labels,
    split_joints,
)
from sfumato.decouplings.break_merge import BreakMerge, publish
from sfumato.decouplings.guide import write_companions
from sfumato.policy import Policy
from sfumato.releases.manifest import ClassSizes, ColumnRecord, Manifest, RowRecord, accepted_in
from sfumato.releases.synthetic import drawn_record
from sfumato.schema import Role
from sfumato.synthesis.belief import bounds_of, but_for
from sfumato.synthesis.budget import PrivacyBudget
from sfumato.synthesis.levels import PublishedColumn
from sfumato.synthesis.mechanisms import COUNTS, NoisyTables
from sfumato.synthesis.noise import deviation_of
from sfumato.synthesis.whole import nearest_whole
from sfumato.tables.derived import Cells, DerivedColumn, DerivedTable
from sfumato.typing import IntArray


@dataclass(frozen=True)
class CountedTogether:
    """Which columns of a table are counted together, under one promise."""

    known: tuple[PublishedColumn, ...]
    """What others may know: each combination is a group."""

    secret: tuple[tuple[PublishedColumn, ...], ...]
    """What is sensitive, each with those that stay together with it."""

    @property
    def tables(self) -> tuple[tuple[PublishedColumn, ...], ...]:
        """The columns of each table of counts: groups, and groups by what is sensitive."""
        return (self.known, *((*self.known, *each) for each in self.secret))

    @property
    def cliques(self) -> tuple[tuple[str, ...], ...]:
        """The names of the columns of each table of counts."""
        return tuple(tuple(each.name for each in columns) for columns in self.tables)

    @property
    def columns(self) -> tuple[PublishedColumn, ...]:
        """All columns, in order."""
        return (*self.known, *(column for each in self.secret for column in each))


def tables_of_noise(
    counted: CountedTogether, noisy: NoisyTables, rng: np.random.Generator
) -> Parts:
    """Return what is published of noisy counts.

    Args:
        counted: Which columns were counted together.
        noisy: The counts, in the same order.
        rng: Draws the labels of groups and the order of rows.
    """
    every, *by_secret = noisy.counts
    sizes = nearest_whole(every.reshape(1, -1), np.array([max(0, int(every.sum()))]))[0]
    there = np.flatnonzero(sizes)
    tables, joints = [], []
    for columns, counts in zip(counted.secret, by_secret, strict=True):
        whole = nearest_whole(counts.reshape(len(sizes), -1), sizes)[there]
        column, of_value, joint = _column_of(columns)
        tables.append(_sensitive(column, whole[:, np.argsort(of_value, kind="stable")]))
        joints += [] if joint is None else [joint]
    labels = np.array(np.unravel_index(there, every.shape), dtype=np.int32)
    grouped = GroupedTables(
        tuple(Column(each.name, each.values) for each in counted.known),
        labels,
        sizes[there],
        tuple(tables),
        random_labels(len(there), rng),
    )
    parts = split_joints(publish(grouped, rng), joints)
    return replace(parts, tables=(*parts.tables, *_as_noise_left_them(counted, noisy, parts, rng)))


def _column_of(
    columns: Sequence[PublishedColumn],
) -> tuple[Column, IntArray, Joint | None]:
    """Return columns that stay together as one, and which value of it each combination is."""
    parts = [Column(each.name, each.values) for each in columns]
    if len(parts) == 1:
        return parts[0], np.arange(columns[0].size), None
    shape = [each.size for each in columns]
    codes = [each.reshape(-1) for each in np.indices(shape)]
    joint, of_value = Joint.of(parts, codes)
    return joint.column, of_value, joint


def _sensitive(column: Column, whole: IntArray) -> SensitiveTable:
    """Return the table of one column, given how many people of each group have each value."""
    group, value = np.nonzero(whole)
    return SensitiveTable(column, group, value.astype(np.int32), whole[group, value])


def _as_noise_left_them(
    counted: CountedTogether, noisy: NoisyTables, parts: Parts, rng: np.random.Generator
) -> list[DecoupledPart]:
    """Return a table for each list of noisy counts: every cell of the domain, and its count."""
    taken = [part.name for part in parts.tables]
    names = ["groups", *(joint_name([c.name for c in each]) for each in counted.secret)]
    found = []
    for name, columns, counts in zip(
        file_names(names, "noisy_"), counted.tables, noisy.counts, strict=True
    ):
        cells = np.unravel_index(np.arange(counts.size), counts.shape)
        kinds: Cells = (*(each.astype(np.int32) for each in cells), counts.reshape(-1))
        held = (*(DerivedColumn(c.name, c.values) for c in columns), DerivedColumn(parts.count))
        once = np.ones(counts.size, dtype=np.int64)
        content = DerivedTable.repeat(held, kinds, once, rng)
        part = DecoupledPart(
            free_name(name, taken), "noisy", content, columns=tuple(c.name for c in columns)
        )
        found.append(part)
    return found


def describe_noisy(  # noqa: PLR0913 - all but six are named
    policy: Policy,
    roles: Mapping[str, Role],
    counted: CountedTogether,
    noisy: NoisyTables,
    parts: Parts,
    budget: PrivacyBudget,
    *,
    together: Sequence[tuple[str, ...]],
    unit: str,
    contributions: int,
) -> Manifest:
    """Return the manifest of tables of noisy counts, apart from their files.

    Nothing in it depends on the data but through noise.
    """
    return Manifest(
        kind=BreakMerge.name,
        columns=tuple(
            ColumnRecord(
                each.name,
                roles[each.name].value,
                level=each.level if roles[each.name] is Role.QUASI_IDENTIFIER else None,
                because=policy.columns[each.name].because if each.name in policy.columns else None,
                known=False if each.name in policy.unknown else None,
            )
            for each in counted.columns
        ),
        together=tuple(together) or None,
        group=parts.group,
        count=parts.count,
        rows=RowRecord(parts.grouped.total, 0, "remove"),
        missing="own-value",
        models=(),
        classes=ClassSizes.of(parts.grouped.sizes),
        synthetic=drawn_record(
            COUNTS,
            budget,
            noisy.measurements,
            {each.name: each.to_dict() for each in counted.columns},
            unit=unit,
            contributions=contributions,
            library=noisy.library,
        ),
        accepted=accepted_in(policy),
        risk_levels=policy.risk_levels.to_plain(),
        owner=policy.owner,
        purpose=policy.purpose,
    )


def write_texts(parts: Parts, manifest: Manifest) -> dict[str, str]:
    """Return the texts beside such tables, by the name of the file.

    Args:
        parts: The tables.
        manifest: What the release says of itself, with its files.
    """
    drawn = manifest.drawn
    assert drawn is not None  # noqa: S101 - noise has a promise
    pure = drawn.rho is None
    return write_companions(
        BreakMerge.name,
        parts,
        manifest.to_dict(),
        BreakMerge.groups,
        drawn=drawn,
        but_for=but_for,
        beliefs=bounds_of(drawn.epsilon, drawn.unit, drawn.rho),
        deviation=deviation_of(drawn.measurements[0].scale, pure=pure),
    )
