"""Rows and people: an identifier that repeats says that a person has several rows.

Where a policy does not say what a person is, rows are counted, and five may be one person's.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn, Protocol

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.policy import Missing, Policy, Suppression
from sfumato.policy.meanings import Key, key_of_people
from sfumato.releases.manifest import PUBLISHED
from sfumato.schema import Role
from sfumato.tables import Domain
from sfumato.text import format_integer

_CLEARLY = 0.05
"""The share of values with several rows from which on rows are not people. Fewer may be
mistakes: people who were entered twice, or one text for all whose number is not known."""

_MOST_ROWS = 50
"""Rows of a person, on average. What has more rows per value is shared by people, such as a
clinic, unless its name says that it is the key of people."""


@dataclass(frozen=True)
class Repetition:
    """A key of people that has several rows of a person.

    >>> print(Repetition("pid", people=3, rows=9, several=2))
    'pid' repeats: 9 rows of 3 people, 2 of whom have several
    """

    column: str
    people: int
    """How many values there are."""

    rows: int
    """How many rows have one."""

    several: int
    """How many values have more than one row."""

    missing: int = 0
    """How many rows have none."""

    @classmethod
    def of(cls, domain: Domain) -> "Repetition":
        """Count the values of a column."""
        several = int(np.count_nonzero(domain.rows > 1))
        people, rows = len(domain.rows), int(domain.rows.sum())
        return cls(domain.column, people, rows, several, domain.missing)

    @property
    def clear(self) -> bool:
        """Whether rows are clearly not people."""
        return self.several >= max(1, _CLEARLY * self.people) and self.people > 1

    def __str__(self) -> str:
        whom = (
            "each with several"
            if self.several == self.people
            else (
                f"{format_integer(self.several)} of whom {'have' if self.several > 1 else 'has'} "
                "several"
            )
        )
        rows, people = format_integer(self.rows), format_integer(self.people)
        return f"{self.column!r} repeats: {rows} rows of {people} people, {whom}"


def find_repetition(domains: Mapping[str, Domain], keys: Mapping[str, Key]) -> Repetition | None:
    """Find the surest key of people that repeats; None if another one, as sure, does not.

    Args:
        domains: The values of the columns.
        keys: How surely each is a key of people.
    """
    found = [
        (keys[name], Repetition.of(domain))
        for name, domain in domains.items()
        if keys.get(name) and len(domain.rows)
    ]
    for sure in (Key.SURELY, Key.MAYBE):
        asked = [each for key, each in found if key >= sure]
        if any(each.several == 0 and each.people > 1 for each in asked):
            # A number for every row beside it: the others are shared, or of something else.
            return None
        repeated = [each for key, each in found if key == sure and each.several]
        if sure is Key.MAYBE:
            # What some people do not have does not tell people apart.
            repeated = [
                each
                for each in repeated
                if each.rows <= _MOST_ROWS * each.people and not each.missing
            ]
        if repeated:
            return max(repeated, key=lambda each: each.people)
    return None


def keys_of(roles: Mapping[str, Role | None]) -> dict[str, Key]:
    """Return the columns that may be keys of people, by what they are and how they are called."""
    found = {
        name: key_of_people(name, identifier=role is Role.IDENTIFIER)
        for name, role in roles.items()
        if role not in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
    }
    return {name: key for name, key in found.items() if key}


class TableOrRead(Protocol):
    """A table, or what was once read of it and is kept."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""

    def domains(self, columns: Sequence[str], /) -> dict[str, Domain]:
        """Return how many rows have each value of some columns."""

    def repeats(self, column: str, /) -> bool:
        """Return whether two rows have the same value in a column."""


class PolicyForPeople(NamedTuple):
    """A policy as it applies to a table: people are counted only if some have several rows."""

    policy: Policy
    notes: tuple[str, ...] = ()
    """What deserves a second look: that some people have several rows, or that rows are meant."""


def require_people(table: TableOrRead, policy: Policy) -> PolicyForPeople:
    """Raise if rows are not people and the policy does not say what a person is.

    Args:
        table: The table that is to be published, or judged.
        policy: What says the roles of its columns, and what a person is.
    """
    require_unlinked(table, policy)
    person = policy.person
    if person is not None and person.rows is not None:
        return PolicyForPeople(policy, (rows_are_meant(person.rows),))
    roles = {name: policy.role_of(name) for name in table.columns}
    keys = keys_of(roles)
    if person is not None and person.column in table.columns:
        name = str(person.column)
        told = Repetition(name, 0, 0, several=int(table.repeats(name)))
        if told.several and _list_uncountable(policy, told):
            # The message says how many people there are, which takes a whole pass.
            told = _repetition(table, {name: Key.SURELY}) or told
        return count_by(policy, told)
    found = _repetition(table, keys)
    if found is None:
        return PolicyForPeople(policy)
    if found.clear:
        _ask(policy, found)
    return PolicyForPeople(policy, (f"{found}: their rows count as different people",))


def count_by(policy: Policy, found: Repetition) -> PolicyForPeople:
    """Return a policy as it applies to a table in which its column tells people apart.

    Args:
        policy: What names the column.
        found: How often its values repeat.
    """
    if found.several:
        _require_countable(policy, found)
        return PolicyForPeople(policy)
    # Every person has one row: rows are people, and nothing else need be counted, unless it is to
    # be known who lives together.
    if policy.household is None:
        return PolicyForPeople(count_rows(policy))
    if _list_uncountable(policy, found):
        return PolicyForPeople(count_rows(policy), (_HOUSEHOLDS_LEFT,))
    return PolicyForPeople(policy)


def require_unlinked(table: TableOrRead, policy: Policy) -> None:
    """Raise if it is published who lives together.

    Args:
        table: The table that is to be published, or judged.
        policy: What says the roles of its columns, and what a household is.
    """
    name = policy.household
    if name is None or name not in table.columns or policy.role_of(name) not in PUBLISHED:
        return
    found = Repetition.of(table.domains((name,))[name])
    if found.several:
        text = (
            f"{name!r} says who lives together, and it is published: "
            f"{format_integer(found.several)} of "
            f"{format_integer(found.people)} households have several rows, which stay linked, so "
            "that an "
            "adversary who knows one member finds the others. Make it an identifier or dropped."
        )
        raise policy.error_at("columns", name, text=text)


def require_single_rows(table: TableOrRead, policy: Policy, what: str) -> tuple[str, ...]:
    """Raise if people have several rows: something is defined for one row per person only.

    Args:
        table: The table that is to be published, or judged.
        policy: What says the roles of its columns, and what a person is.
        what: What is to be done with it, for the message: "a decoupling".

    Returns:
        What deserves a second look; see `PolicyForPeople`.
    """
    require_unlinked(table, policy)
    counted = require_people(table, policy.replace(household=None))
    name = counted.policy.counted_person
    if name is not None:
        text = (
            f"people have several rows in this table, and {what} takes each row for a person. Give "
            f"one row per person: sf.widen(data, person={name!r}). {_MEANT}"
        )
        raise policy.error_at("person", text=text)
    return counted.notes


def count_rows(policy: Policy) -> Policy:
    """Return a policy that counts rows, each of which is a person."""
    suppression = policy.suppression
    if suppression.unit != "rows":
        suppression = Suppression(limit=suppression.limit, rows=suppression.rows)
    return policy.replace(person=None, household=None, suppression=suppression)


def rows_are_meant(reason: str) -> str:
    """Return what readers of a release must know that counts rows."""
    return f"rows are counted, not people, because {reason}"


def _repetition(table: TableOrRead, keys: Mapping[str, Key]) -> Repetition | None:
    return find_repetition(table.domains(tuple(keys)), keys) if keys else None


_MEANT = 'Or, if rows are what is to be protected, say why: person: {rows: "…"}'


def _ask(policy: Policy, found: Repetition) -> NoReturn:
    text = (
        f"{found}. Rows are counted, so a class of 5 rows may hold one person. Say what a "
        f"person is, as in person: {found.column}. {_MEANT}"
    )
    raise policy.error_at("columns", found.column, text=text)


_HOUSEHOLDS_LEFT = (
    "what members of a household know of each other is not judged: people cannot be counted with "
    "these models, or where missing values match any"
)


def _require_countable(policy: Policy, found: Repetition) -> None:
    """Raise if a promise is not defined, or not kept, where people have several rows."""
    for path, text in _list_uncountable(policy, found):
        raise policy.error_at(*path, text=text)


def _list_uncountable(policy: Policy, found: Repetition) -> list[tuple[tuple[str, ...], str]]:
    """Return why people cannot be counted: each reason with its place in the policy."""
    name = found.column
    faults: list[tuple[tuple[str, ...], str]] = []
    if policy.role_of(name) in PUBLISHED:
        text = (
            f"{found}, and {name!r} is published, so the rows of a person stay linked: an "
            "adversary who knows some of them knows the others. Make it an identifier or dropped; "
            f"or put the rows of a person side by side, with sf.widen(data, person={name!r}), and "
            f"all of them are protected as one record. {_MEANT}"
        )
        faults.append((("columns", name), text))
    for model in policy.models:
        if not model.counts_people:
            text = (
                f"{found}. {model.name} is defined for one value per person. Choose another model, "
                f"or give one row per person: sf.widen(data, person={name!r}). {_MEANT}"
            )
            faults.append((("models",), text))
    presence = [model for model in policy.models if model.counts_presence]
    if presence and policy.suppresses_people:
        text = (
            f"{found}. {presence[0].name} cannot be kept where people are left out with all their "
            "rows: they may be of classes that are shown. Choose unit: rows."
        )
        faults.append((("suppression", "unit"), text))
    if policy.missing is Missing.MATCHES_ANY:
        text = (
            f"{found}. Where missing values match any, it cannot be counted how many people are in "
            "a class. Choose missing: own-value or missing: suppress."
        )
        faults.append((("missing",), text))
    return faults
