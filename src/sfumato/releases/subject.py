"""A table under a policy, checked: what every task begins with."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np

from sfumato.counts import FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.decouplings import DECOUPLINGS
from sfumato.errors import InputError
from sfumato.partition import PARTITIONERS
from sfumato.policy import Policy
from sfumato.populations.weights import require_weights
from sfumato.recode.deciding import counted_columns, without_rows
from sfumato.releases.manifest import PUBLISHED
from sfumato.releases.numbers import require_numbers
from sfumato.releases.people import TableOrRead, require_people, require_single_rows
from sfumato.releases.perturbing import PerturbedTable, perturb_table
from sfumato.releases.preparing import open_prepared
from sfumato.releases.sets import require_sets
from sfumato.schema import Role
from sfumato.tables import DatabaseTable, Table
from sfumato.tables.base import require_calendar_days, require_single_values
from sfumato.tables.capabilities import Weights
from sfumato.typing import Progress


class DecidedOn(NamedTuple):
    """The rows that a decision is made on, and what is asked of them."""

    counts: FrequencySet
    policy: Policy
    """The policy; rows that were left out before are not left to be suppressed."""

    lost: int
    """How many rows were left out before."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A table under a policy.

    Promises: opening one refuses everything that `sf.anonymize` refuses before it decides, for the
    same reasons and in the same order; and what is counted is what it decides on.
    """

    table: Table
    """The table with what is derived, and dates as the policy reads them."""

    policy: Policy
    """The policy as it applies to the table: it counts people only if some have several rows."""

    roles: Mapping[str, Role]
    """The role of each column of the table."""

    notes: tuple[str, ...] = ()
    """What to tell of its people."""

    known: TableOrRead | None = None
    """What was read of the table before, if that is kept."""

    roleless: tuple[str, ...] = ()
    """Columns that need no role, because they are not for publishing."""

    @classmethod
    def open(
        cls, data: object, policy: Policy, output: object = None, *, lasting: bool = False
    ) -> Self:
        """Open a table; raise if it cannot be published by the policy.

        Args:
            data: Anything that `open_table` takes.
            policy: What must hold.
            output: The release folder that is about to be written, if there is one.
            lasting: Whether other tables of the same people are published beside it.
        """
        return cls.of(open_prepared(data, policy, output, lasting=lasting), policy)

    @classmethod
    def of(
        cls,
        table: Table,
        policy: Policy,
        *,
        alone: str | None = None,
        known: TableOrRead | None = None,
        roleless: Sequence[str] = (),
    ) -> Self:
        """Check a table that is open.

        Args:
            table: The table, prepared.
            policy: What must hold.
            alone: What is done with it that takes one row for each person, such as "a
                decoupling"; None if people may have several.
            known: What was read of the table before, if that is kept.
            roleless: Columns that need no role, because they are not for publishing.
        """
        read = known or table
        found = cls(table, policy, {}, (), read, tuple(roleless))
        policy.check_against(found._named_columns)
        policy.make_method(PARTITIONERS)
        policy.make_decoupling(DECOUPLINGS)
        if alone is not None:
            notes = require_single_rows(read, policy, alone)
        else:
            policy, notes = require_people(read, policy)
        return replace(found, notes=tuple(notes)).under(policy)

    def under(self, policy: Policy) -> Self:
        """Return the table under another policy for the same people, checked as well.

        Args:
            policy: What must hold.
        """
        table, roles = self.table, policy.check_against(self._named_columns)
        found = replace(self, policy=policy, roles=roles)
        require_single_values(table, [name for name in found.columns if name not in policy.sets])
        require_sets(table, policy)
        _require_weights(table, self.known or table, policy)
        require_numbers(policy, table, table.columns, stored=False, limited=False)
        return found

    @property
    def _named_columns(self) -> list[str]:
        return [name for name in self.table.columns if name not in self.roleless]

    @property
    def columns(self) -> list[str]:
        """The columns that are published, in order."""
        return [name for name, role in self.roles.items() if role in PUBLISHED]

    def perturb(
        self, rng: np.random.Generator, report: Progress, asked: Policy | None = None
    ) -> PerturbedTable:
        """Return the table with the values changed that the policy changes.

        Args:
            rng: Where chance comes from.
            report: Told how far each stage is.
            asked: What `with_findings` made of the policy; None for the policy itself.
        """
        return perturb_table(self.table, self.policy, asked or self.policy, rng, report)

    def count(
        self, rng: np.random.Generator, report: Progress, *, nothing: str = "nothing to publish"
    ) -> DecidedOn:
        """Count what a decision is made on.

        Args:
            rng: Where chance comes from, as for a release of the same seed.
            report: Told how far each stage is.
            nothing: What there is not, if the table has no rows.
        """
        table, left_out = self.perturb(rng, report)
        columns = counted_columns(self.policy)
        counts = table.count(
            columns if left_out is None else (*columns, left_out),
            progress=lambda done, total: report("count", done, total),
        )
        require_calendar_days(table, counts)
        if counts.total == 0:
            raise InputError(f"the table has no rows: there is {nothing}")
        if left_out is None:
            return DecidedOn(counts, self.policy, 0)
        return DecidedOn(*without_rows(counts, left_out, self.policy))


def needs_single_rows(policy: Policy) -> str | None:
    """Return what a policy does that takes one row for each person; None if it does not."""
    return None if policy.decouple is None else "a decoupling"


def _require_weights(table: Table, known: TableOrRead, policy: Policy) -> None:
    """Raise if what is called a weight is none, or cannot be published as the policy says."""
    averagings = policy.averagings
    noisy = [name for name, each in averagings.items() if each.noise is not None]
    if noisy and isinstance(table, DatabaseTable):
        text = (
            f"noise is not drawn in a database ({table.kind}). Round the weight, as in "
            f"{noisy[0]}: {{role: weight, round: 10}}, or publish its mean as it is."
        )
        raise policy.error_at("columns", noisy[0], "perturb", text=text)
    if averagings:
        facts = Weights.expect(known, tuple(averagings)).weigh(tuple(averagings))
        require_weights(facts, averagings, policy.weights[0])
