"""Drafting a policy: from a table, with a reason for every line, or from the names of columns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10, prod
from textwrap import wrap
from typing import Any

from sfumato.content import Cell, Content, Share, Showable, Table
from sfumato.dates import ORDERS, DateForm, Detection, iso_of, look_like_dates
from sfumato.drafting.inspection import Inspection
from sfumato.drafting.secrecy import guess_secrecy
from sfumato.errors import ParameterError, names_in
from sfumato.guess import Guess, separator_in
from sfumato.hierarchy import (
    Automatic,
    CsvHierarchy,
    Dates,
    Frequent,
    HierarchyBuilder,
    Intervals,
    Masking,
    Suppress,
)
from sfumato.hierarchy.dates import likely_days
from sfumato.hierarchy.taxonomy import Taxonomy
from sfumato.models import (
    DistinctLDiversity,
    KAnonymity,
    KmAnonymity,
    PrivacyModel,
    TCloseness,
)
from sfumato.policy import ColumnRule, Policy, SearchRule
from sfumato.policy.document import to_text
from sfumato.policy.parts import member_settings
from sfumato.releases.people import Repetition, find_repetition, keys_of
from sfumato.schema import Role
from sfumato.tables import Domain
from sfumato.text import fold_spelling, number_of, text_of, visible
from sfumato.typing import Value

_MOST_DESCRIBED = 10_000
"""Columns with more distinct values keep the automatic hierarchy: looking at all takes long."""

_MOST_FOLDED = 1000
"""Of so many values at least three differ in more than their spelling."""

_MOST_WRITTEN = 60
"""A tree of more names is nothing to read in a policy."""

_HEIGHT_OF_AUTOMATIC = 5
_LARGE_LATTICE = 300_000
_CHECKS = 500

SUPPRESSION = "5%"
"""The rows that may be left out unless the publisher says otherwise."""

_MANY = 15
"""More quasi-identifiers than this leave little to publish."""

_HEAD = """\
# A first policy, drafted from the names and the values of the columns. It is a guess: read every
# line before you rely on it. Only you know who will see the release and what they know already.
#
#   identifier        names a person; never published
#   quasi-identifier  others may know it and link it; generalised
#   sensitive         nobody should learn it about a person; published as it is, and protected
#   set               several items per row, of which others may know some; generalised
#   plain             neither, and harmless; published as it is
#   weight            how many people a row of a survey stands for; published as a mean
#   dropped           not published
"""


@dataclass(frozen=True)
class Draft(Showable):
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

    def content(self, inspection: Inspection | None = None) -> Content:
        """Return the role of each column and why, with what an inspection measured of it."""
        measured = {} if inspection is None else {c.name: c for c in inspection.columns}
        rows: list[list[Cell]] = []
        for name, role in self.roles.items():
            found = measured.get(name)
            figures = ("", "") if found is None else (found.distinct, Share(found.unique))
            rows.append([name, role.value, *figures, self.reasons[name]])
        heads = ["column", "role guessed", "distinct", "unique alone", "why"]
        return Content("", (Table.of("", heads, rows, most=None),))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
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


@dataclass(frozen=True)
class DraftedColumn:
    """A column's rule, why it is so, and what its alternatives depend on."""

    rule: ColumnRule
    guess: Guess
    values: Sequence[Value] = ()
    """Some or all of its values."""

    height: int | None = 0
    """How many levels its hierarchy has; None if that depends on the table."""


def draft_policy(
    guesses: Mapping[str, Guess],
    domains: Mapping[str, Domain],
) -> Draft:
    """Draft a policy with its reasons from what was guessed of each column.

    Args:
        guesses: What each column of the table is.
        domains: The values of those with one value per row.
    """
    drafted = {name: _draft_column(found, domains.get(name)) for name, found in guesses.items()}
    drafted = _with_quasi_identifier(drafted, domains)
    total = next(iter(domains.values())).total
    roles = {name: column.rule.role for name, column in drafted.items()}
    text = policy_text(
        drafted,
        repeated=find_repetition(domains, keys_of(roles)),
        models=_choose_models(drafted, domains, total),
        suppression=SUPPRESSION if total > 1 else "100%",
        search=_choose_search(column.height for column in drafted.values()),
        rows=total,
    )
    reasons = {name: column.guess.reason for name, column in drafted.items()}
    return Draft(Policy.from_yaml(text, origin="the draft"), text, reasons)


def policy_for_columns(
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str],
    plain: Sequence[str],
    k: int | None,
) -> Policy:
    """Return a policy that needs nothing but names: k-anonymity, and two values in every class.

    What is not named is not published.

    >>> policy = policy_for_columns(["age"], ["ill"], [], 3)
    >>> policy.models, policy.other, policy.suppression.limit
    ((KAnonymity(k=3), DistinctLDiversity(column='ill', l=2)), <Role.DROPPED: 'dropped'>, 0.05)
    """
    if quasi_identifiers is None:
        raise ParameterError(
            "policy",
            None,
            "given, or quasi_identifiers instead of it",
            why="as in quasi_identifiers=['age', 'postcode'], sensitive=['illness'], k=5",
        )
    known = names_in("quasi_identifiers", quasi_identifiers)
    secret, harmless = names_in("sensitive", sensitive), names_in("plain", plain)
    if not known:
        why = "without any, everybody is in one class"
        raise ParameterError("quasi_identifiers", [], "at least one column", why=why)
    every = (*known, *secret, *harmless)
    twice = [name for name in dict.fromkeys(every) if every.count(name) > 1]
    if twice:
        raise ParameterError("columns", twice, "named once", why="each has one role")
    automatic = ColumnRule(role=Role.QUASI_IDENTIFIER, hierarchy=Automatic())
    return Policy(
        columns={
            **dict.fromkeys(known, automatic),
            **dict.fromkeys(secret, Role.SENSITIVE.value),
            **dict.fromkeys(harmless, Role.PLAIN.value),
        },
        other=Role.DROPPED.value,
        models=[KAnonymity(5 if k is None else k), *(DistinctLDiversity(s, 2) for s in secret)],
        search=_choose_search([None] * len(known)),
        suppression=SUPPRESSION,
    )


def _draft_column(found: Guess, domain: Domain | None) -> DraftedColumn:
    if domain is None:
        return DraftedColumn(ColumnRule(role=found.role), found)
    if found.role is Role.SET:
        return DraftedColumn(ColumnRule(role=found.role, separator=separator_in(domain)), found)
    values = domain.values(_MOST_DESCRIBED)
    dates, said = _draft_dates(domain.column, values)
    if said:
        found = found._replace(reason=f"{found.reason}. {said}")
    form: dict[str, Any] = {} if dates is None else {"dates": dates}
    if found.role is Role.SENSITIVE:
        secrecy = guess_secrecy(values, domain.column)
        rule = ColumnRule(role=found.role, secret=secrecy.secret, harmless=secrecy.harmless, **form)
        reason = ". ".join(filter(None, [found.reason, secrecy.reason]))
        return DraftedColumn(rule, found._replace(reason=reason), values)
    if found.role is Role.PLAIN:
        return DraftedColumn(ColumnRule(role=found.role, **form), found, values)
    if found.role is not Role.QUASI_IDENTIFIER:
        return DraftedColumn(ColumnRule(role=found.role), found, values)
    hierarchy, height = _choose_hierarchy(domain)
    rule = ColumnRule(role=found.role, hierarchy=hierarchy, **form)
    return DraftedColumn(rule, found, values, height)


def _draft_dates(column: str, values: Sequence[Value]) -> tuple[DateForm | None, str]:
    """Return how the dates of a column are written, if it must be said, and what to say of it."""
    texts = [text_of(value) for value in values if iso_of(value) is None]
    if not texts or not look_like_dates(values):
        return None, ""
    found = Detection.of(dict.fromkeys(texts, 1))
    if found.settled is None:
        return None, f"{found.problem(column)}".rstrip(".")
    if len(found.possible) == len(ORDERS):
        return DateForm(), ""
    return found.settled, str(found.line(column) or "")


def _with_quasi_identifier(
    columns: dict[str, DraftedColumn], domains: Mapping[str, Domain]
) -> dict[str, DraftedColumn]:
    """Make one column a quasi-identifier if none is: a policy cannot be without."""
    if any(c.rule.role in (Role.QUASI_IDENTIFIER, Role.SET) for c in columns.values()):
        return columns
    # Best one that tells nothing, or would not be published anyway: it is shown as *. The number
    # of a person is the last but one: it may be needed to count people.
    last = {Role.IDENTIFIER: 1, Role.SENSITIVE: 2}
    name = min(domains, key=lambda name: last.get(columns[name].rule.role, 0))
    found = columns[name].guess
    reason = f"{found.reason}. But a policy needs a quasi-identifier, and no column looks like one"
    role = Role.QUASI_IDENTIFIER
    if found.role is Role.SENSITIVE:
        drafted = _draft_column(Guess(role, reason, certain=True), domains[name])
    else:
        rule = ColumnRule(role=role, hierarchy=Suppress(), levels=(1, 1))
        guessed = Guess(role, f"{reason}: published as * only", certain=True)
        drafted = DraftedColumn(rule, guessed, height=1)
    return {**columns, name: drafted}


def _choose_hierarchy(domain: Domain) -> tuple[HierarchyBuilder, int | None]:
    """Choose a hierarchy that can be read and edited; return it with its height."""
    if not len(domain.rows):
        return Suppress(), 1
    some_values = domain.values(_MOST_DESCRIBED)
    days = likely_days(some_values)
    if days is not None:
        # In one form, whatever form they have: which it is may still have to be said.
        days = list(dict.fromkeys(days))
        explicit = Automatic().describe(domain.column, days)
        return explicit, explicit.build(domain.column, days).height
    if len(domain.rows) > _MOST_DESCRIBED:
        return Automatic(), None
    values, rows = domain.values(), domain.rows.tolist()
    explicit = Automatic().describe(domain.column, values, rows, order=domain.order)
    height = explicit.build(domain.column, values, rows).height
    long = isinstance(explicit, Taxonomy | Frequent) and len(values) > _MOST_WRITTEN
    return (Automatic() if long else explicit), height


def _choose_models(
    columns: Mapping[str, DraftedColumn], domains: Mapping[str, Domain], total: int
) -> list[PrivacyModel]:
    """Choose what a careful publisher would promise, as far as the table can keep it."""
    models: list[PrivacyModel] = [KAnonymity(max(2, min(5, total)))]
    for name, column in columns.items():
        if column.rule.role is not Role.SENSITIVE or name not in domains:
            continue
        # Spellings of one value are one, and a blank is none.
        texts = {fold_spelling(text_of(value)) for value in domains[name].values(_MOST_FOLDED)}
        if len(texts - {""}) > 1:
            models.append(DistinctLDiversity(name, min(3, len(texts - {""}))))
    if any(column.rule.role is Role.SET for column in columns.values()):
        models.append(KmAnonymity(max(2, min(5, total)), 2))
    return models


def _choose_search(heights: Iterable[int | None]) -> SearchRule:
    """Limit the search where there are more nodes than can be looked at in reasonable time."""
    nodes = prod(1 + (_HEIGHT_OF_AUTOMATIC if height is None else height) for height in heights)
    if nodes <= _LARGE_LATTICE:
        return SearchRule(name="best-first")
    return SearchRule.read({"search": "best-first", "checks": _CHECKS})


def policy_text(
    columns: Mapping[str, DraftedColumn],
    *,
    models: Sequence[PrivacyModel],
    suppression: str,
    search: SearchRule,
    rows: int,
    repeated: Repetition | None = None,
) -> str:
    """Write a policy with its reasons as comments."""
    lines = [*_HEAD.splitlines(), "version: 1", "", "columns:"]
    known = [name for name, c in columns.items() if c.rule.role is Role.QUASI_IDENTIFIER]
    if len(known) > _MANY:
        lines += [
            f"  # {len(known)} quasi-identifiers are many: the more there are, the less can be",
            "  # published of each. Drop what readers of the release do not need.",
        ]
    for name, column in columns.items():
        lines += ["", *_indent([*_comment(column.guess.reason), *_column(name, column)])]
    lines += ["", "# What becomes of columns not named above; without it they are an error.",
              "# other: dropped", "", "models:"]  # fmt: skip
    for position, model in enumerate(models):
        lines += [""] * (position > 0) + _indent(_model(model, columns, rows))
    if rows == 1:
        lines += ["", "# One row has nobody to hide among, so nothing of it can be published."]
    else:
        lines += ["", "# At most this share of the rows may be left out, those hardest to hide."]
    lines += [f"suppression: {suppression}", ""]
    lines += _comment(
        "A missing quasi-identifier is a value like any other (own-value), could be any value "
        "(matches-any), or is a reason to leave the row out (suppress)."
    )
    lines += ["missing: own-value"]
    lines += _search(search)
    if repeated is not None and repeated.clear:
        lines += ["", *_person(repeated)]
    return "\n".join(lines) + "\n"


def _person(repeated: Repetition) -> list[str]:
    incomplete = (
        f" {repeated.missing:,} rows have no {repeated.column!r}: fill it in, or leave these rows "
        "out, before anything is published."
    )
    return [
        *_comment(
            f"Rows are not people: {repeated}. So people are counted: five rows of one person are "
            "one person, and a value that a person has twice counts once."
            + incomplete
            * (repeated.missing > 0)
        ),
        *_entry("person", repeated.column),
        "# or, if rows are what is to be protected:",
        *_comment_out(_entry("person", {"rows": "say why"})),
    ]


def _column(name: str, column: DraftedColumn) -> list[str]:
    lines = _entry(name, column.rule.to_plain())
    role, certain = column.rule.role, column.guess.certain
    if role is not Role.QUASI_IDENTIFIER:
        if role is not Role.SENSITIVE and not certain:
            lines += ["# or, if it is neither:", *_comment_out(_entry(name, "quasi-identifier"))]
        return lines
    if not certain:
        lines += ["  # or, if it is what nobody should learn:", "  # role: sensitive"]
    if isinstance(column.rule.hierarchy, Automatic):
        lines.append("  # Too many values to write down: they are grouped anew from each table.")
    for why, other in _other_hierarchies(column):
        settings = _entry("hierarchy", member_settings(other, "kind"))
        lines += [f"  # or, {why}:", *_indent(_comment_out(settings))]
    if column.height is not None and column.height > 1 and column.rule.levels is None:
        lines += ["  # or, to never publish it as it is:", f"  # levels: [1, {column.height}]"]
    return lines


def _other_hierarchies(column: DraftedColumn) -> list[tuple[str, HierarchyBuilder]]:
    builder = column.rule.hierarchy
    if isinstance(builder, Intervals):
        widths = even_widths(column.values)
        return [("in even steps", Intervals(widths=widths))] if widths else []
    if isinstance(builder, Dates):
        return [("in years only", Dates(levels=["year", "decade"]))]
    if isinstance(builder, Masking) and builder.length is not None and builder.length > 2:
        return [("one character at a time", Masking())] if builder != Masking() else []
    if isinstance(builder, Taxonomy | Frequent | Automatic):
        return [("from a file with one line per value", CsvHierarchy("groups.csv"))]
    return []


def even_widths(values: Sequence[Value]) -> list[int | float]:
    """Choose three round widths for a range of numbers, of which the last cuts it in a few.

    >>> even_widths([18, 90]), even_widths([0, 0.8]), even_widths([5, 5])
    ([5, 10, 20], [0.05, 0.1, 0.2], [])
    """
    numbers = [number for number in map(number_of, values) if number is not None]
    spread = max(numbers, default=0.0) - min(numbers, default=0.0)
    if not 1e-9 < spread < 1e15:
        return []
    unit = floor(log10(spread))
    # Exact decimals: a hundredth must be 0.01 for its multiples to be multiples.
    widths = [float(f"{digit}e{unit - down}") for digit, down in ((5, 1), (1, 0), (2, 0))]
    return [int(width) if width.is_integer() else width for width in widths]


def _model(model: PrivacyModel, columns: Mapping[str, DraftedColumn], rows: int) -> list[str]:
    lines = _item(model)
    if isinstance(model, KAnonymity):
        less = f" (there are only {rows} rows)" if 1 < rows < 5 else ""
        return [
            f"# Nobody stands in a group of fewer than {model.k} people{less}.",
            *lines,
            "# or, for a release that anybody can get:",
            *_comment_out(_item(KAnonymity(10))),
        ]
    if isinstance(model, KmAnonymity):
        return [
            f"# Who knows the group of a person and up to {model.m} items finds {model.k} rows.",
            *lines,
        ]
    if isinstance(model, DistinctLDiversity):
        ordered = all(number_of(value) is not None for value in columns[model.column].values)
        closer = TCloseness(model.column, 0.3, "ordered" if ordered else "equal")
        return [
            f"# Every group shows at least {model.l} different values of this column.",
            *lines,
            "# or, stronger: the values of every group are spread much as in the whole table:",
            *_comment_out(_item(closer)),
        ]
    return lines


def _search(search: SearchRule) -> list[str]:
    if not search.options:
        return []
    return [
        "",
        "# There are too many ways to generalise so many columns to look at all of them: after so",
        "# many checks the best found is taken. More checks take longer and may find a better one.",
        *_entry("search", search.to_plain()),
    ]


def _item(model: PrivacyModel) -> list[str]:
    return _yaml({"models": [member_settings(model, "model")]})[1:]


def _entry(key: str, value: object) -> list[str]:
    # The empty mapping beside it keeps the writer from putting a short entry into braces.
    return _yaml({key: value, "b" if key == "a" else "a": {}})[:-1]


def _yaml(settings: dict[str, object]) -> list[str]:
    # Only line feeds end a line here; other breaks of Unicode are escaped by the writer.
    return to_text(settings).rstrip("\n").split("\n")


def _comment(text: str) -> list[str]:
    # A value may hold what YAML takes for the end of the comment.
    return wrap(
        visible(text), 96, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False
    )


def _indent(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _comment_out(lines: Sequence[str]) -> list[str]:
    return [f"# {line}" for line in lines]
