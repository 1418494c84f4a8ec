"""Writing a drafted policy: YAML with a reason for every line and alternatives to uncomment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10
from textwrap import wrap

from sfumato.drafting.guess import Guess
from sfumato.hierarchy import Automatic, CsvHierarchy, Dates, HierarchyBuilder, Intervals, Masking
from sfumato.hierarchy.taxonomy import Taxonomy
from sfumato.models import DistinctLDiversity, KAnonymity, PrivacyModel, TCloseness
from sfumato.policy import ColumnRule, SearchRule
from sfumato.policy.document import to_text
from sfumato.policy.family import member_settings
from sfumato.schema import Role
from sfumato.text import number_of
from sfumato.typing import Value

_MANY = 15
"""More quasi-identifiers than this leave little to publish."""

_HEAD = """\
# A first policy, drafted from the names and the values of the columns. It is a guess: read every
# line before you rely on it. Only you know who will see the release and what they know already.
#
#   identifier        names a person; never published
#   quasi-identifier  others may know it and link it; generalised
#   sensitive         nobody should learn it about a person; published as it is, and protected
#   plain             neither, and harmless; published as it is
#   dropped           not published
"""


@dataclass(frozen=True)
class DraftedColumn:
    """A column's rule, why it is so, and what its alternatives depend on."""

    rule: ColumnRule
    guess: Guess
    values: Sequence[Value] = ()
    """Some or all of its values."""

    height: int | None = 0
    """How many levels its hierarchy has; None if that depends on the table."""


def policy_text(
    columns: Mapping[str, DraftedColumn],
    *,
    models: Sequence[PrivacyModel],
    suppression: str,
    search: SearchRule,
    rows: int,
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
        lines += ["", *_indented([*_comment(column.guess.reason), *_column(name, column)])]
    lines += ["", "# What becomes of columns not named above; without it they are an error.",
              "# other: dropped", "", "models:"]  # fmt: skip
    for position, model in enumerate(models):
        lines += [""] * (position > 0) + _indented(_model(model, columns, rows))
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
    return "\n".join(lines) + "\n"


def _column(name: str, column: DraftedColumn) -> list[str]:
    lines = _entry(name, column.rule.to_plain())
    role, certain = column.rule.role, column.guess.certain
    if role is not Role.QUASI_IDENTIFIER:
        if role is not Role.SENSITIVE and not certain:
            lines += ["# or, if it is neither:", *_commented(_entry(name, "quasi-identifier"))]
        return lines
    if not certain:
        lines += ["  # or, if it is what nobody should learn:", "  # role: sensitive"]
    if isinstance(column.rule.hierarchy, Automatic):
        lines.append("  # Too many values to write down: they are grouped anew from each table.")
    for why, other in _other_hierarchies(column):
        settings = _entry("hierarchy", member_settings(other, "kind"))
        lines += [f"  # or, {why}:", *_indented(_commented(settings))]
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
    if isinstance(builder, Taxonomy | Automatic):
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
            *_commented(_item(KAnonymity(10))),
        ]
    if isinstance(model, DistinctLDiversity):
        ordered = all(number_of(value) is not None for value in columns[model.column].values)
        closer = TCloseness(model.column, 0.3, "ordered" if ordered else "equal")
        return [
            f"# Every group shows at least {model.l} different values of this column.",
            *lines,
            "# or, stronger: the values of every group are spread much as in the whole table:",
            *_commented(_item(closer)),
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
    return wrap(text, 96, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _commented(lines: Sequence[str]) -> list[str]:
    return [f"# {line}" for line in lines]
