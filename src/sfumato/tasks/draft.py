"""Draft: a first policy for a table, with the reason for every line."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from sfumato.engines import Domain, open_table
from sfumato.errors import InputError
from sfumato.hierarchy import Automatic, HierarchyBuilder, Suppress
from sfumato.hierarchy.taxonomy import Taxonomy
from sfumato.models import DistinctLDiversity, KAnonymity, PrivacyModel
from sfumato.policy import ColumnRule, Policy, SearchRule
from sfumato.schema import Role
from sfumato.tasks.drafting import DraftedColumn, policy_text
from sfumato.tasks.guess import Guess, guess
from sfumato.typing import silent

if TYPE_CHECKING:
    from sfumato.tasks.anonymize import Progress

_MOST_DESCRIBED = 10_000
"""Columns with more distinct values keep the automatic hierarchy: looking at all takes long."""

_MOST_WRITTEN = 60
"""A tree of more names is nothing to read in a policy."""

_HEIGHT_OF_AUTOMATIC = 5
_LARGE_LATTICE = 300_000
_CHECKS = 500


@dataclass(frozen=True)
class Draft:
    """A first policy: as an object, as commented YAML, and why each column has its role.

    `Policy.from_yaml(text)` equals `policy`.
    """

    policy: Policy
    text: str
    """The policy in YAML, with comments."""

    reasons: Mapping[str, str]
    """For each column, why it has its role."""

    @property
    def roles(self) -> dict[str, Role]:
        """The role of each column."""
        return {name: rule.role for name, rule in self.policy.columns.items()}

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values that JSON can hold."""
        return {
            "columns": {
                name: {"role": role.value, "reason": self.reasons[name]}
                for name, role in self.roles.items()
            },
            "policy": self.text,
        }

    def __repr__(self) -> str:
        roles = list(self.roles.values())
        shown = [f"{roles.count(role)} {role}" for role in dict.fromkeys(roles)]
        return f"<Draft {', '.join(shown)}>"

    def __str__(self) -> str:
        return self.text


def draft(data: object, *, progress: "Progress | None" = None) -> Draft:
    """Guess what each column is and write a policy that says why, to be read and corrected.

    Promises: `anonymize` succeeds with the policy on this table. Where nothing is known
    about a column the guess is the safe one: generalise rather than publish as it is.
    Does not promise that the guesses are right. Only you know who will see the release
    and what they know already; a policy is yours once you have read every line.

    Hierarchies are drafted from the values and say roughly where their quantiles are.
    Where that matters write them down before looking at the data.

    Args:
        data: A path (CSV, Parquet, Feather) or a pandas, Polars or Arrow table.
        progress: Told how far it is.

    Example:
        >>> import pyarrow as pa
        >>> table = pa.table({"name": ["Ann", "Bob"], "sex": ["f", "m"], "age": [31, 47]})
        >>> drafted = draft(table)
        >>> drafted
        <Draft 1 identifier, 2 quasi-identifier>
        >>> drafted.reasons["sex"]
        'different in every row, looks like sex or gender by its name: others may know it'
    """
    report = progress or silent
    table = open_table(data)
    domains = table.domains(table.columns, progress=lambda done, total: report("look", done, total))
    if not domains:
        raise InputError(
            "no column holds one value per row, so nothing can be told about anybody. "
            "Split lists and the like into plain columns."
        )
    total = next(iter(domains.values())).total
    guesses = guess_all(table.columns, domains)
    columns = {name: _drafted(found, domains.get(name)) for name, found in guesses.items()}
    columns = _with_quasi_identifier(columns, domains)
    text = policy_text(
        columns,
        models=_models(columns, domains, total),
        suppression="5%" if total > 1 else "100%",
        search=_search(columns),
        rows=total,
    )
    reasons = {name: column.guess.reason for name, column in columns.items()}
    return Draft(Policy.from_yaml(text, origin="the draft"), text, reasons)


def guess_all(columns: tuple[str, ...], domains: Mapping[str, Domain]) -> dict[str, Guess]:
    """Guess every column's role."""
    reason = "has no single value per row, so it cannot be protected"
    nested = Guess(Role.DROPPED, reason, certain=True)
    return {name: guess(domains[name]) if name in domains else nested for name in columns}


def _drafted(found: Guess, domain: Domain | None) -> DraftedColumn:
    if domain is None:
        return DraftedColumn(ColumnRule(role=found.role), found)
    values = domain.values(_MOST_DESCRIBED)
    if found.role is not Role.QUASI_IDENTIFIER:
        return DraftedColumn(ColumnRule(role=found.role), found, values)
    hierarchy, height = _hierarchy(domain)
    return DraftedColumn(ColumnRule(role=found.role, hierarchy=hierarchy), found, values, height)


def _with_quasi_identifier(
    columns: dict[str, DraftedColumn], domains: Mapping[str, Domain]
) -> dict[str, DraftedColumn]:
    """Make one column a quasi-identifier if none is: a policy cannot be without."""
    if any(column.rule.role is Role.QUASI_IDENTIFIER for column in columns.values()):
        return columns
    # Best one that would not be published anyway: it is shown as * and tells nothing.
    name = min(domains, key=lambda name: columns[name].rule.role is Role.SENSITIVE)
    found = columns[name].guess
    reason = f"{found.reason}. But a policy needs a quasi-identifier, and no column looks like one"
    role = Role.QUASI_IDENTIFIER
    if found.role is Role.SENSITIVE:
        drafted = _drafted(Guess(role, reason, certain=True), domains[name])
    else:
        rule = ColumnRule(role=role, hierarchy=Suppress(), levels=(1, 1))
        guessed = Guess(role, f"{reason}: published as * only", certain=True)
        drafted = DraftedColumn(rule, guessed, height=1)
    return {**columns, name: drafted}


def _hierarchy(domain: Domain) -> tuple[HierarchyBuilder, int | None]:
    """Choose a hierarchy that can be read and edited, and say how high it is."""
    if not len(domain.rows):
        return Suppress(), 1
    if len(domain.rows) > _MOST_DESCRIBED:
        return Automatic(), None
    values, rows = domain.values(), domain.rows.tolist()
    explicit = Automatic().describe(domain.column, values, rows)
    height = explicit.build(domain.column, values, rows).height
    long = isinstance(explicit, Taxonomy) and len(values) > _MOST_WRITTEN
    return (Automatic() if long else explicit), height


def _models(
    columns: Mapping[str, DraftedColumn], domains: Mapping[str, Domain], total: int
) -> list[PrivacyModel]:
    """Ask for what a careful publisher would, as far as the table can give it."""
    models: list[PrivacyModel] = [KAnonymity(max(2, min(5, total)))]
    for name, column in columns.items():
        distinct = len(domains[name].rows) if name in domains else 0
        if column.rule.role is Role.SENSITIVE and distinct >= 2:
            models.append(DistinctLDiversity(name, min(3, distinct)))
    return models


def _search(columns: Mapping[str, DraftedColumn]) -> SearchRule:
    """Limit the search where there are more nodes than can be looked at in reasonable time."""
    heights = [column.height for column in columns.values()]
    nodes = prod(1 + (_HEIGHT_OF_AUTOMATIC if height is None else height) for height in heights)
    if nodes <= _LARGE_LATTICE:
        return SearchRule(name="best-first")
    return SearchRule.of({"search": "best-first", "checks": _CHECKS})
