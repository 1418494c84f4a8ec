"""Draft: a first policy for a table, with the reason for every line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from sfumato.checks import require_int
from sfumato.classes import EquivalenceClasses
from sfumato.counts import FrequencySet
from sfumato.drafting.guess import Guess, guess
from sfumato.drafting.inspection import (
    ClassSizes,
    ColumnRisk,
    Inspection,
    PopulationRisk,
    Risk,
    SensitiveRisk,
    SizeBin,
    telling_subsets,
)
from sfumato.drafting.policy import DraftedColumn, policy_text
from sfumato.errors import InputError, ParameterError, PolicyError, some
from sfumato.hierarchy import Automatic, HierarchyBuilder, Suppress
from sfumato.hierarchy.taxonomy import Taxonomy
from sfumato.models import (
    AverageRisk,
    DeltaPresence,
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    KMap,
    MaximumRisk,
    PrivacyModel,
    ProbabilisticLDiversity,
    RecursiveCLDiversity,
    SampleUniqueness,
    TCloseness,
)
from sfumato.policy import ColumnRule, Policy, SearchRule
from sfumato.releases.opening import classes_with, measure
from sfumato.schema import Role
from sfumato.tables import Domain, Table, open_table
from sfumato.text import number_of
from sfumato.typing import silent

if TYPE_CHECKING:
    from sfumato.typing import Progress

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
    return SearchRule.read({"search": "best-first", "checks": _CHECKS})


# Inspect: the risk of a table as it is, before anything is done to it.


__all__ = ["Inspection", "inspect", "measure"]

_SMALL = (3, 5, 10)
_TAILS = (2, 3)


def inspect(
    data: object,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] = (),
    policy: Policy | str | PathLike[str] | None = None,
    population: object = None,
    subsets: int = 3,
    progress: "Progress | None" = None,
) -> Inspection:
    """Show how far a table gives people away, without changing it.

    Promises: exact figures for the quasi-identifiers given, with missing values as values
    of their own. Does not promise that these are all that others may know: what is not
    named a quasi-identifier is not looked at.

    Args:
        data: A path (CSV, Parquet, Feather) or a pandas, Polars or Arrow table.
        quasi_identifiers: The columns others may know; None takes the policy's, or
            guesses them as `draft` does.
        sensitive: The columns nobody should learn.
        policy: A policy or the path of one, instead of the two above.
        population: A table of everybody the data was drawn from; None takes the policy's.
        subsets: Sets of up to so many columns are looked at for those that single people
            out; 0 skips that.
        progress: Told how far each stage is.

    Example:
        >>> import pyarrow as pa
        >>> table = pa.table({"age": [31, 31, 47], "ill": ["flu", "gout", "flu"]})
        >>> found = inspect(table, quasi_identifiers=["age"], sensitive=["ill"])
        >>> found
        <Inspection 3 rows in 2 classes, smallest 1, 33.3 % of rows unique>
        >>> found.risk.average, found.sensitive[0].largest_share
        (0.6666666666666666, 1.0)
    """
    report = progress or silent
    require_int("subsets", subsets, at_least=0)
    table = open_table(data)
    roles = _roles(table, quasi_identifiers, sensitive, policy, report)
    names = roles.quasi_identifiers
    counts = table.count(
        (*names, *roles.sensitive), progress=lambda done, total: report("count", done, total)
    )
    people = _people(population if population is not None else roles.population, names, report)
    classes = classes_with(counts, names, roles.sensitive, people)
    known = counts.project(names)
    return Inspection(
        rows=counts.total,
        quasi_identifiers=names,
        roles_from=roles.come_from,
        classes=_sizes(classes),
        risk=Risk(
            MaximumRisk.example().measure(classes)["risk"],
            AverageRisk.example().measure(classes)["risk"],
            SampleUniqueness.example().measure(classes)["share"],
        ),
        columns=tuple(
            _column(counts, name, role)
            for role, group in (
                (Role.QUASI_IDENTIFIER, names),
                (Role.SENSITIVE, roles.sensitive),
            )
            for name in group
        ),
        subsets=telling_subsets(
            known, subsets, report=lambda done, total: report("subsets", done, total)
        ),
        sensitive=tuple(_sensitive(classes, name) for name in roles.sensitive),
        population=None if people is None else _population(classes, people),
    )


class _Roles(NamedTuple):
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    come_from: Literal["given", "policy", "guessed"]
    population: str | None = None


def _roles(
    table: Table,
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str],
    policy: Policy | str | PathLike[str] | None,
    report: "Progress",
) -> _Roles:
    secret = _columns("sensitive", sensitive)
    if policy is not None:
        if quasi_identifiers is not None or secret:
            why = "the policy says which columns are quasi-identifiers and sensitive"
            raise ParameterError("policy", "together with columns", "given alone", why=why)
        rules = policy if isinstance(policy, Policy) else Policy.load(policy)
        # Not check_against: a release has no identifiers, and is inspected with its policy.
        return _Roles(rules.quasi_identifiers, rules.sensitive, "policy", rules.population)
    if quasi_identifiers is None:
        return _guessed(table, secret, report)
    known = _columns("quasi_identifiers", quasi_identifiers)
    if not known:
        why = "without any, everybody is in one class"
        raise ParameterError("quasi_identifiers", [], "at least one column", why=why)
    both = [name for name in known if name in secret]
    if both:
        raise ParameterError(
            "sensitive", list(secret), f"other columns than the quasi-identifiers, not {some(both)}"
        )
    return _Roles(known, secret, "given")


def _columns(name: str, given: Sequence[str]) -> tuple[str, ...]:
    columns = (given,) if isinstance(given, str) else tuple(given)
    wrong = [column for column in columns if not isinstance(column, str)]
    if wrong or len(set(columns)) < len(columns):
        raise ParameterError(name, list(columns), "a list of column names, each once")
    return columns


def _guessed(table: Table, secret: tuple[str, ...], report: "Progress") -> _Roles:

    table.require(secret)
    domains = table.domains(table.columns, progress=lambda done, total: report("look", done, total))
    roles = {name: guess.role for name, guess in guess_all(table.columns, domains).items()}
    roles |= dict.fromkeys(secret, Role.SENSITIVE)
    known = _with(roles, Role.QUASI_IDENTIFIER)
    if not known:
        raise PolicyError(
            "none of the columns looks like a quasi-identifier, something that others may know. "
            "Name them, as in quasi_identifiers=['age', 'sex'] or --qi age,sex"
        )
    return _Roles(known, _with(roles, Role.SENSITIVE), "guessed")


def _with(roles: Mapping[str, Role], role: Role) -> tuple[str, ...]:
    return tuple(name for name, given in roles.items() if given is role)


def _people(population: object, names: tuple[str, ...], report: "Progress") -> FrequencySet | None:
    if population is None:
        return None
    return open_table(population).count(
        names, progress=lambda done, total: report("population", done, total)
    )


def _sizes(classes: EquivalenceClasses) -> ClassSizes:
    sizes = classes.sizes
    return ClassSizes(
        count=len(classes),
        smallest=int(KAnonymity.example().measure(classes)["k"]),
        largest=int(sizes.max()),
        average=classes.total / len(classes),
        unique_rows=int(np.count_nonzero(sizes == 1)),
        below={limit: int(sizes[sizes < limit].sum()) for limit in _SMALL},
        histogram=tuple(_histogram(classes)),
    )


def _histogram(classes: EquivalenceClasses) -> list[SizeBin]:
    """Count classes of the sizes 1, 2, 3-4, 5-9, 10-19, 20-49, 50-99, … that occur."""
    sizes = classes.sizes
    digits = len(str(sizes.max()))
    starts = [1, 2, 3, 5, *(step * 10**up for up in range(1, digits + 1) for step in (1, 2, 5))]
    place = np.searchsorted(starts, sizes, side="right") - 1
    count = np.bincount(place, minlength=len(starts)).tolist()
    rows = np.bincount(place, weights=sizes, minlength=len(starts)).astype(np.int64).tolist()
    return [
        SizeBin(start, starts[i + 1] - 1, count[i], rows[i])
        for i, start in enumerate(starts)
        if count[i]
    ]


def _column(counts: FrequencySet, name: str, role: Role) -> ColumnRisk:
    column = counts.column(name)
    rows = counts.value_counts(name)
    missing = int(rows[column.missing]) if column.missing >= 0 else 0
    return ColumnRisk(
        name,
        role,
        distinct=len(column.known),
        missing=missing / counts.total,
        unique=int(np.count_nonzero(rows == 1)) / counts.total,
    )


def _sensitive(classes: EquivalenceClasses, name: str) -> SensitiveRisk:
    counts = classes.counts_of(name)
    likeliest = ProbabilisticLDiversity(name, 2).measure(classes)["l"]
    known = counts.reference[:-1]
    values = counts.column.values
    numbers = bool(values) and all(number_of(value) is not None for value in values)
    ordered = TCloseness(name, 0.5, "ordered")
    return SensitiveRisk(
        name,
        distinct_l=DistinctLDiversity(name, 2).measure(classes)["l"],
        entropy_l=EntropyLDiversity(name, 2).measure(classes)["l"],
        recursive_c={l: RecursiveCLDiversity(name, 1, l).measure(classes)["c"] for l in _TAILS},
        largest_share=1 / likeliest if likeliest else 1.0,
        share_in_table=int(known.max(initial=0)) / max(int(known.sum()), 1),
        t_equal=TCloseness(name, 0.5).measure(classes)["t"],
        t_ordered=ordered.measure(classes)["t"] if numbers else None,
    )


def _population(classes: EquivalenceClasses, people: FrequencySet) -> PopulationRisk:
    presence = DeltaPresence.example().measure(classes)
    return PopulationRisk(
        people=people.total,
        smallest=int(KMap.example().measure(classes)["k"]),
        presence=(presence["minimum"], presence["maximum"]),
        unseen=classes.unseen,
    )
