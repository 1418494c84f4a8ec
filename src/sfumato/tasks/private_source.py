"""A private source: a table of which nothing is published but what noise is added to.

Everything that is drawn under a promise begins here: the table is opened value by value, its
columns have public domains, the rows of each person are bounded, and what is spent is written down
before it is.
"""

import secrets
from os import PathLike
from pathlib import Path
from typing import Self

import numpy as np

from sfumato.counts import FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.derivations import Derivation
from sfumato.errors import ParameterError
from sfumato.files.reading import tell
from sfumato.policy import Policy
from sfumato.releases.people import require_people
from sfumato.releases.preparing import open_value_by_value
from sfumato.releases.synthetic import bound_contributions, derived_steps
from sfumato.schema import Role
from sfumato.synthesis.account import read_account, spend
from sfumato.synthesis.budget import PrivacyBudget, require_contributions
from sfumato.synthesis.domain import PublicDomain, require_drawn
from sfumato.synthesis.mechanisms import CountedCells
from sfumato.tables import Table, said_of
from sfumato.tables.base import require_single_values
from sfumato.typing import Progress


@dataclass(frozen=True, eq=False)
class PrivateSource:
    """A table under a policy that states what may be said of it without looking."""

    given: object
    table: Table
    policy: Policy
    roles: dict[str, Role]
    names: tuple[str, ...]
    """The columns that are published."""

    steps: tuple[Derivation, ...]
    """What is computed of them, so that it has no domain."""

    domain: PublicDomain
    who: str | None
    """The column that says whose rows are whose; None if each row is a person."""

    unit: str
    contributions: int
    account: Path | None

    @classmethod
    def open(
        cls,
        data: object,
        policy: Policy,
        output: object,
        *,
        unit: str = "person",
        contributions: int = 1,
        account: str | PathLike[str] | None = None,
    ) -> Self:
        """Open a table; raise if the policy does not state what is needed, and spend nothing.

        Args:
            data: Anything that `open_table` takes.
            policy: The roles of the columns and their domains.
            output: The release folder that is about to be written, if there is one.
            unit: Whom the promise is about.
            contributions: The most rows of a unit that count.
            account: The account of the source, if it has one.
        """
        require_contributions(contributions)
        table = open_value_by_value(data, policy, output)
        roles = policy.check_against(table.columns)
        names = require_drawn(policy, roles)
        who = _unit_of(policy, table, unit, contributions)
        _require_within_unit(policy, who)
        require_single_values(table, list(names))
        steps = derived_steps(policy, names)
        derived = {name for step in steps for name in step.made}
        domain = PublicDomain.of(policy, [name for name in names if name not in derived])
        where = None if account is None else Path(account)
        if where is not None:
            read_account(where)
        return cls(
            data, table, policy, {**roles}, names, steps, domain, who, unit, contributions, where
        )

    @property
    def kind(self) -> str:
        """Whom the promise is about, as it is said: each row, if each is a person."""
        return "row" if self.who is None else self.unit

    def count(self, report: Progress) -> CountedCells:
        """Count the cells of the domain, with at most so many rows of each person.

        Args:
            report: Told how far it is.
        """
        held = (*self.domain.names, *([] if self.who is None else [self.who]))
        counts = self.table.count(held, progress=lambda done, total: report("count", done, total))
        if self.who is not None:
            counts = self._bound_rows(counts, self.who)
        reading = said_of(self.given, self.policy.reading)
        return self.domain.cells_of(counts, self.policy, reading)

    def _bound_rows(self, counts: FrequencySet, who: str) -> FrequencySet:
        if None in counts.column(who).values:
            text = _NO_ONES.format(who) + (_LEFT_OUT if self.unit == "person" else _COMPLETE)
            raise self.policy.error_at(self.unit, text=text)
        # The bound holds as long as no one knows which rows were left out, so that what draws them
        # is not what draws the rows that are published.
        bounded = bound_contributions(counts, who, self.contributions, secret_generator())
        if bounded.total < counts.total:
            tell(_BOUNDED.format(self.unit, self.contributions))
        return bounded

    def spend(self, budget: PrivacyBudget, what: str) -> None:
        """Write down what is spent; from here on it counts as spent, whatever happens."""
        if self.account is not None:
            spend(self.account, budget, what, unit=self.kind, contributions=self.contributions)


def secret_generator() -> np.random.Generator:
    """Return a generator whose seed nothing else has."""
    return np.random.default_rng(secrets.randbits(128))


def _require_within_unit(policy: Policy, who: str | None) -> None:
    """Raise if rows of one unit change what is computed for those of another."""
    person = policy.counted_person
    for position, step in enumerate(policy.derive):
        across = (step if person is None else step.of_person(person)).across
        if across is not None and across != who:
            whom = "each row" if who is None else f"those of a {who!r}"
            text = (
                f"reads all rows of a {across!r} together, and the promise is for {whom}: one of "
                "them would change others, which no noise hides. Leave it out, or protect all "
                f"rows of one: person: {across}"
            )
            raise policy.error_at("derive", position, text=text)


_NO_ONES = "some rows have no {!r}, so that it is not known whose they are. "
_LEFT_OUT = "Leave them out, as in person: {column: …, missing: leave-out}, or complete the table."
_COMPLETE = "Leave them out, or complete the table."
_BOUNDED = (
    "some have more rows than count of one {0}: {1} of each, drawn at random. contributions (now "
    "{1}) says how many, and more of them take more noise"
)


def _unit_of(policy: Policy, table: Table, unit: str, contributions: int) -> str | None:
    """Return the column that says whose rows are whose; None if each row is a person."""
    if unit not in ("person", "household"):
        raise ParameterError("unit", unit, "'person' or 'household'")
    if unit == "household":
        if policy.household is None:
            why = "the policy does not say who lives together. Name the column: household: …"
            raise ParameterError("unit", unit, "'person'", why=why)
        return policy.household
    name = policy.counted_person
    if name is None:
        # A key of people that repeats is refused, or said to be meant.
        require_people(table, policy)
        if contributions > 1:
            why = "each row is a person here. Name the column that identifies people: person: …"
            raise ParameterError("contributions", contributions, "1", why=why)
    return name
