"""Drafting a policy: from a table, with a reason for every line, or from the names of columns."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.decouplings import BreakMerge
from sfumato.derivations.dates import ORDERS, DateForm, Detection, iso_of, look_like_dates
from sfumato.drafting.given import Instructions
from sfumato.drafting.guess import Guess, separator_in, without_codes
from sfumato.drafting.in_short import cut_short, say_what_happens, shorten_reason
from sfumato.drafting.inspection import Inspection
from sfumato.drafting.making import BOXES, Making
from sfumato.drafting.secrecy import guess_secrecy
from sfumato.errors import ParameterError, SfumatoError, names_in
from sfumato.hierarchy import (
    Automatic,
    Dates,
    Frequent,
    HierarchyBuilder,
    Intervals,
    KnownTree,
    Suppress,
)
from sfumato.hierarchy.dates import likely_days
from sfumato.hierarchy.intervals import mark_of, multiple_at, number_point, plus
from sfumato.hierarchy.language import DEFAULT, language_in
from sfumato.models import (
    AlphaKAnonymity,
    CategoryShare,
    DistinctLDiversity,
    KAnonymity,
    KmAnonymity,
    PrivacyModel,
    RangeShare,
    TCloseness,
)
from sfumato.policy import ColumnRule, InputRule, Policy, SearchRule
from sfumato.policy.document import to_text
from sfumato.policy.editing import edit_text
from sfumato.policy.meanings import ColumnKind, Key, words
from sfumato.policy.parts import PersonRule, UnownedRows, member_settings
from sfumato.releases.people import Repetition, find_repetition, keys_of
from sfumato.schema import Role
from sfumato.showing.content import (
    Cell,
    Content,
    ContentTable,
    Part,
    Sentence,
    Share,
    Showable,
)
from sfumato.tables import Domain
from sfumato.text import format_integer, number_of, percent, text_of, visible
from sfumato.typing import Value

if TYPE_CHECKING:
    from sfumato.drafting.price import Price

NOTHING_SAID = Instructions()

_MOST_DESCRIBED = 10_000
"""The most distinct values of a column that are looked at, evenly spread."""

SUPPRESSION = "5%"
"""The rows that may be left out unless the publisher says otherwise."""

_HEAD = """\
# Drafted from the names and the values of the columns: a guess. Read every line. Only you know who
# will see the release, and what they know already.
#   identifier, dropped: not published        quasi-identifier, set: others may know it; generalised
#   plain: published as it is, unprotected    sensitive: published as it is, protected by the models
#   known: false: outsiders cannot know this column, so they cannot use it to infer others
"""

_WIDEST = 119
"""The longest line of a policy, with its comment."""

_MOST_SHOWN = 30
_FEWEST_SHOWN = 15
"""Of more columns than the first number those in doubt are shown, and at least the second."""


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

    price: "Price | None" = None
    """What it would cost, measured on the counts; None if nothing could be tried."""

    uncertain: tuple[str, ...] = ()
    """The columns whose meaning is in doubt, so that a person should say it."""

    @property
    def roles(self) -> dict[str, Role]:
        """The role of each column."""
        return {name: rule.role for name, rule in self.policy.columns.items()}

    def content(self, inspection: Inspection | None = None, *, every: bool = True) -> Content:
        """Return the role of each column and why, with what an inspection measured of it.

        Args:
            inspection: What was measured.
            every: Whether all columns are shown with the whole reason; else what happens to each in
                a few words, and of many columns those in doubt.
        """
        if not every:
            return self._short_content()
        measured = {} if inspection is None else {c.name: c for c in inspection.columns}
        rows: list[list[Cell]] = []
        for name, role in self.roles.items():
            found = measured.get(name)
            figures = ("", "") if found is None else (found.distinct, Share(found.unique))
            rows.append([name, role.value, *figures, self.reasons[name]])
        heads = ["column", "role guessed", "distinct", "unique alone", "why"]
        return Content("", (ContentTable.of("", heads, rows, most=None),))

    def _short_content(self) -> Content:
        """Return what happens to each column, a line for each; of many those in doubt first."""
        meanings = {model: _meaning(model, 2) for model in self.policy.models}
        hidden = {} if self.price is None else {c.name: c.hidden for c in self.price.columns}
        names = list(self.policy.columns)
        doubtful = [name for name in names if name in self.uncertain]
        shown = names
        if len(names) > _MOST_SHOWN:
            shown = [*doubtful, *(name for name in names if name not in self.uncertain)]
            shown = shown[: max(_FEWEST_SHOWN, min(len(doubtful), _MOST_SHOWN))]
        rows: list[list[Cell]] = []
        for name in shown:
            rule = self.policy.columns[name]
            what = say_what_happens(name, rule, self.policy.models, meanings, hidden.get(name))
            why = shorten_reason(self.reasons[name])
            doubt = "? " if name in self.uncertain else ""
            rows.append(
                [
                    cut_short(name, 24),
                    rule.role.value,
                    cut_short(what, 32),
                    f"{doubt}{cut_short(why, 32)}",
                ]
            )
        parts: list[Part] = []
        heads = ["column", "role", "what happens", "why (?: in doubt)"]
        parts.append(ContentTable.of("", heads, rows, most=None))
        if rest := [self.policy.columns[name].role for name in names if name not in shown]:
            counted = [f"{rest.count(role)} {role.value}" for role in dict.fromkeys(rest)]
            parts.append(Sentence(f"{len(rest)} more columns: {', '.join(counted)}."))
        return Content("", tuple(parts))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "columns": {
                name: {"role": role.value, "reason": self.reasons[name]}
                for name, role in self.roles.items()
            },
            "policy": self.text,
            "price": None if self.price is None else self.price.to_dict(),
        }

    def __repr__(self) -> str:
        roles = list(self.roles.values())
        shown = [f"{roles.count(role)} {role}" for role in dict.fromkeys(roles)]
        return f"<Draft {', '.join(shown)}>"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class DraftedColumn:
    """A column's rule, and why it is so."""

    rule: ColumnRule
    guess: Guess

    @property
    def comment(self) -> str:
        """The words that stand beside it in a policy."""
        return shorten_reason(self.guess.reason)


def draft_columns(
    guesses: Mapping[str, Guess], domains: Mapping[str, Domain], language: str = DEFAULT
) -> dict[str, DraftedColumn]:
    """Return what becomes of each column, from what was guessed of it.

    Args:
        guesses: What each column of the table is.
        domains: The values of those with one value per row.
        language: The language of labels.
    """
    drafted = {
        name: draft_column(found, domains.get(name), language) for name, found in guesses.items()
    }
    return _with_quasi_identifier(drafted, domains, language)


_FEW_WORDS = 20
"""The most values of a column whose words are looked at."""


def language_of_table(domains: Mapping[str, Domain]) -> str:
    """Return the language of a table, by the names of its columns and by their few values."""
    told = []
    for name, domain in domains.items():
        values = domain.values(_FEW_WORDS) if len(domain.rows) <= _FEW_WORDS else []
        told.append([*words(name), *(w for v in values for w in text_of(v).casefold().split())])
    return language_in(told)


def write_draft(
    columns: Mapping[str, DraftedColumn],
    domains: Mapping[str, Domain],
    models: Sequence[PrivacyModel],
    given: Instructions = NOTHING_SAID,
    making: Making = BOXES,
    notes: Sequence[str] = (),
) -> Draft:
    """Write a policy for drafted columns.

    Args:
        columns: The columns.
        domains: The values of those with one value per row.
        models: What is promised of sensitive columns, beside that of all people.
        given: What the owner of the table said. A policy to start from is changed only where it
            says something else, so that comments stay.
        making: How rows become a release.
        notes: What a reader must know first.
    """
    total = next(iter(domains.values())).total
    if given.start is not None:
        text = edit_text(given.text, draft_rules(columns, domains, models, given, making))
    else:
        text = policy_text(
            columns,
            repeated=_repetition(columns, domains, given),
            models=[*base_models(columns, total, given), *models],
            suppression=SUPPRESSION if total > 1 else "100%",
            rows=total,
            given=given,
            making=making,
            notes=notes,
        )
    reasons = {name: column.guess.reason for name, column in columns.items()}
    doubtful = tuple(name for name, column in columns.items() if not column.guess.certain)
    policy = Policy.from_yaml(text, origin="the draft")
    return Draft(policy, text, reasons, uncertain=doubtful)


def draft_rules(
    columns: Mapping[str, DraftedColumn],
    domains: Mapping[str, Domain],
    models: Sequence[PrivacyModel],
    given: Instructions = NOTHING_SAID,
    making: Making = BOXES,
) -> Policy:
    """Return the policy that `write_draft` writes, without its text."""
    total = next(iter(domains.values())).total
    repeated = _repetition(columns, domains, given)
    person = None if repeated is None else _person_rule(repeated)
    said: dict[str, object] = {
        "columns": {name: column.rule for name, column in columns.items()},
        "models": [*base_models(columns, total, given), *models],
    }
    if given.household is not None:
        said["household"] = given.household
    if given.profile is not None:
        said["profile"] = given.profile
    if given.start is not None:
        reading = given.reading.over(given.start.reading)
        said["input"] = replace(given, reading=reading).input
        if given.start.person is None or given.person is not None:
            said["person"] = person
        elif given.start.counted_person not in (None, *columns):
            said["person"] = None
        protected = [n for n, c in columns.items() if c.rule.role is Role.SENSITIVE]
        said["accept"] = [each for each in given.start.accept if each.column in protected]
        return given.start.replace(**said)
    return Policy(
        **said,
        method=making.method,
        decouple=BreakMerge.name if making.apart else None,
        suppression=SUPPRESSION if total > 1 else "100%",
        person=person,
        input=given.input,
    )


def _repetition(
    columns: Mapping[str, DraftedColumn], domains: Mapping[str, Domain], given: Instructions
) -> Repetition | None:
    """Return what is known of the column that identifies people: as was said, or as is clear."""
    if given.person is not None:
        return Repetition.of(domains[given.person])
    roles = {name: column.rule.role for name, column in columns.items()}
    keys = keys_of(roles)
    shown = [name for name, column in columns.items() if name in keys and column.guess.person]
    if shown:
        # What the data show goes before what names say.
        keys = dict.fromkeys(shown, Key.SURELY)
    found = find_repetition(domains, keys)
    return found if found is not None and found.clear else None


def base_models(
    columns: Mapping[str, DraftedColumn], total: int, given: Instructions = NOTHING_SAID
) -> list[PrivacyModel]:
    """Return what is promised whatever is sensitive, as far as so few rows can keep it."""
    k = smallest_class(total, given)
    protected = [n for n, c in columns.items() if c.rule.role in (Role.SENSITIVE, Role.WEIGHT)]
    sets = any(column.rule.role is Role.SET for column in columns.values())
    models = [m for m in given.kept_models(protected) if sets or not m.protects_sets]
    if all((model.smallest_class or 1) < 2 for model in models):
        models.insert(0, KAnonymity(k))
    if sets and not any(model.protects_sets for model in models):
        models.append(KmAnonymity(k, 2))
    return models


def smallest_class(total: int, given: Instructions = NOTHING_SAID) -> int:
    """Return the k that is asked for in a table with a number of rows."""
    if given.k is not None:
        return given.k
    kept = [] if given.start is None else [m.smallest_class or 1 for m in given.start.models]
    return max(kept, default=0) if max(kept, default=0) > 1 else max(2, min(5, total))


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
        why = "without any, all people are in one class"
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
        search=_choose_search(len(known)),
        suppression=SUPPRESSION,
    )


_MANY = 8
"""Quasi-identifiers of whose levels not all combinations can be looked at in reasonable time."""

_CHECKS = 500


def _choose_search(columns: int) -> SearchRule:
    """Limit the search where there are more nodes than can be looked at in reasonable time."""
    if columns < _MANY:
        return SearchRule(name="best-first")
    return SearchRule.read({"search": "best-first", "checks": _CHECKS})


def draft_column(found: Guess, domain: Domain | None, language: str = DEFAULT) -> DraftedColumn:
    """Return the rule of a column that is what was guessed."""
    if domain is None:
        return DraftedColumn(ColumnRule(role=found.role), found)
    if found.role is Role.SET:
        return DraftedColumn(ColumnRule(role=found.role, separator=separator_in(domain)), found)
    if found.missing:
        domain = without_codes(domain, found.missing)
    values = domain.values(_MOST_DESCRIBED)
    dates, said = _draft_dates(domain.column, values)
    if said:
        found = found._replace(reason=f"{found.reason}. {said}")
    form: dict[str, Any] = {} if dates is None else {"dates": dates}
    if found.missing:
        form["missing_codes"] = found.missing
    if found.role is Role.SENSITIVE:
        secrecy = guess_secrecy(values, domain.column)
        rule = ColumnRule(
            role=found.role,
            secret=secrecy.secret,
            harmless=secrecy.harmless,
            known=found.known
            if found.known is not None
            else found.kind in _SEEN_BY_OTHERS and any(number_of(v) is None for v in values),
            **form,
        )
        reason = ". ".join(filter(None, [found.reason, secrecy.reason]))
        return DraftedColumn(rule, found._replace(reason=reason))
    if found.role is Role.PLAIN:
        return DraftedColumn(ColumnRule(role=found.role, **form), found)
    if found.role is not Role.QUASI_IDENTIFIER:
        copied = found.kind in _COPIES and found.role is Role.DROPPED
        of: dict[str, Any] = {"copy_of": found.of} if copied else {}
        return DraftedColumn(ColumnRule(role=found.role, **of), found)
    hierarchy = _choose_hierarchy(domain).in_language(language)
    weight = TOLD_LAST if found.kind is ColumnKind.FUNCTION else 1.0
    rule = ColumnRule(role=found.role, hierarchy=hierarchy, weight=weight, **form)
    return DraftedColumn(rule, found)


TOLD_LAST = 0.05
"""The weight of a column that is told apart after all others."""


_COPIES = (ColumnKind.COPY, ColumnKind.FUNCTION)

_SEEN_BY_OTHERS = {
    *(
        ColumnKind.MONEY,
        ColumnKind.BELIEF,
        ColumnKind.WORK,
        ColumnKind.FAMILY,
        ColumnKind.ORIGIN,
        ColumnKind.SEX,
        ColumnKind.AGE,
    ),
    *(ColumnKind.PLACE, ColumnKind.DATE, ColumnKind.BODY),
}
"""What neighbours, colleagues and friends may know of a person although it is sensitive, in words:
an adversary who knows a number of it has it from the same place as the other columns."""


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
    columns: dict[str, DraftedColumn], domains: Mapping[str, Domain], language: str
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
        drafted = draft_column(Guess(role, reason, certain=True), domains[name], language)
    else:
        rule = ColumnRule(role=role, hierarchy=Suppress(), levels=(1, 1))
        guessed = Guess(role, f"{reason}: published as * only", certain=True)
        drafted = DraftedColumn(rule, guessed)
    return {**columns, name: drafted}


def _choose_hierarchy(domain: Domain) -> HierarchyBuilder:
    """Choose a hierarchy and write it out: the same labels for the same values in each later file.

    A policy may be shown with the release, so nothing in it comes from a single row: ends of ranges
    are round and the outermost are open, and only values of several rows are named.
    """
    if not len(domain.rows):
        return Suppress()
    at = np.arange(len(domain.rows))
    if len(at) > _MOST_DESCRIBED:
        at = at[:_MOST_DESCRIBED] * len(at) // _MOST_DESCRIBED
    values = domain.take(at)
    days = likely_days(values)
    # Dates in one form, whatever form they have: which it is may still have to be said.
    described = values if days is None else list(dict.fromkeys(days))
    counts = domain.rows[at].tolist() if days is None else None
    found = Automatic().describe(
        domain.column, described, counts, hide_single=True, order=domain.order
    )
    if isinstance(found, Intervals) and days is None:
        found = _with_tails(found, described, domain.rows[at].tolist())
        found = replace(_with_single_numbers(found, described), join=True)
    if isinstance(found, Frequent):
        found = _named_by_many(found, dict(zip(map(text_of, values), counts or (), strict=False)))
    if len(at) < len(domain.rows) and not _fits_all(found, domain, values):
        return Automatic()
    return found


_MOST_SINGLE = 150
"""The most different numbers of which each is a range of its own, where enough people have it."""

_NAMED = 5
"""The fewest rows of a value that a draft names: rarer ones are among the others."""


_TAIL = 0.02
"""The share of the rows in each open end."""


def _with_tails(found: Intervals, values: Sequence[Value], counts: Sequence[int]) -> Intervals:
    """Return even ranges whose open ends hold few rows, so that most labels say where they end."""
    width = found.scale.width(found.widths[0]) if found.widths else None
    if width is None:
        return found
    rows: Counter[Decimal] = Counter()
    for value, count in zip(values, counts, strict=True):
        point = number_point(value)
        if point is not None:
            rows[point] += count
    points = sorted(rows)
    sums = np.cumsum([rows[point] for point in points])
    first, middle, last = (
        points[int(np.searchsorted(sums, share * sums[-1]))] for share in (_TAIL, 0.5, 1 - _TAIL)
    )
    lower, upper = (
        plus(multiple_at(first, width, Decimal(0)), width),
        multiple_at(last, width, Decimal(0)),
    )
    below = sum(rows[point] for point in points if point < lower)
    above = sum(rows[point] for point in points if point >= upper)
    ends: dict[str, Any] = {}
    if below >= _NAMED and lower <= middle:
        ends["lower"] = mark_of(found.scale, lower)
    if above >= _NAMED and upper > middle:
        ends["upper"] = mark_of(found.scale, upper)
    return (
        replace(found, **ends)
        if "lower" not in ends or "upper" not in ends or lower < upper
        else found
    )


def _with_single_numbers(found: Intervals, values: Sequence[Value]) -> Intervals:
    """Return even ranges of whole numbers with each number by itself below them."""
    whole = all(isinstance(width, int) and width > 1 for width in found.widths or (0.5,))
    points = [number_of(value) for value in values] if whole else []
    few = bool(points) and len({*points}) <= _MOST_SINGLE
    if not few or any(point is None or point != int(point) for point in points):
        return found
    return replace(found, widths=[1, *(found.widths or ())])


def _named_by_many(found: Frequent, rows: Mapping[str, int]) -> HierarchyBuilder:
    """Return a hierarchy of frequent values that names none of a few rows, and hides few cells.

    The most frequent share a label before all are `*`: about half of the rows have one of them.
    """
    levels: list[list[str]] = []
    for level in found.keep:
        kept = [name for name in level if rows.get(name, 0) >= _NAMED]
        if kept and (not levels or len(kept) < len(levels[-1])):
            levels.append(kept)
    if not levels:
        return Suppress()
    return Frequent(levels, together=len(levels[-1]) > 1)


def _fits_all(found: HierarchyBuilder, domain: Domain, looked_at: Sequence[Value]) -> bool:
    """Return whether a hierarchy that was drafted from some values has a place for all of them."""
    if isinstance(found, Suppress | Frequent | KnownTree):
        return True
    if isinstance(found, Intervals | Dates) and not any(isinstance(v, str) for v in looked_at):
        # Values of one type: if some are numbers or dates, all are.
        return True
    try:
        found.build(domain.column, domain.values())
    except SfumatoError:
        return False
    return True


def policy_text(
    columns: Mapping[str, DraftedColumn],
    *,
    models: Sequence[PrivacyModel],
    suppression: str,
    rows: int,
    repeated: Repetition | None = None,
    given: Instructions = NOTHING_SAID,
    making: Making = BOXES,
    notes: Sequence[str] = (),
) -> str:
    """Write a policy with its reasons as comments."""
    lines = [*(line for note in notes for line in _comment(note))]
    lines += [*_HEAD.splitlines(), "version: 1"]
    if given.input != InputRule():
        lines += _with_comment(_line("input", given.input.to_plain()), "how the file is read")
    lines += ["columns:"]
    for name, column in columns.items():
        lines += _indent(_with_comment(_line(name, column.rule.to_plain()), column.comment))
    lines += ["models:"]
    explained: set[str] = set()
    for model in models:
        # What a kind of model promises is said once: its numbers stand beside it.
        meaning = "" if model.name in explained else _meaning(model, rows)
        explained.add(model.name)
        lines += _with_comment(_item(model), meaning)
    left = "one row has no other to hide among, and is left out"
    if rows != 1:
        left = "at most this share of the rows is left out, those hardest to hide"
    lines += _with_comment([f"suppression: {suppression}"], left)
    lines += _with_comment(_line("method", making.method), making.why)
    if making.apart:
        why = "every sensitive column has a table of its own: sfumato decouple makes them"
        lines += _with_comment([f"decouple: {BreakMerge.name}"], why)
    if repeated is not None:
        lines += _person(repeated)
    if given.household is not None:
        lines += _with_comment(_line("household", given.household), "who lives together")
    if given.profile is not None:
        why = "the rule you answer to: sfumato verify -p this file checks its clauses"
        lines += _with_comment(_line("profile", given.profile.to_plain()), why)
    return "\n".join(lines) + "\n"


def _person(repeated: Repetition) -> list[str]:
    why = f"Rows are not people: {repeated}" if repeated.several else "it identifies people"
    lines = _with_comment(_line("person", _person_rule(repeated).to_plain()), why)
    if repeated.missing:
        lines += _comment(
            f"{format_integer(repeated.missing)} rows have no {repeated.column!r} and are left "
            "out: they do not say whose they are. Fill it in to keep them."
        )
    return lines


def _person_rule(repeated: Repetition) -> PersonRule:
    """Return what a person is; rows of which that is not known are left out."""
    missing = UnownedRows.LEAVE_OUT if repeated.missing else UnownedRows.REFUSE
    return PersonRule(column=repeated.column, missing=missing)


def _meaning(model: PrivacyModel, rows: int) -> str:  # noqa: PLR0911 - one per model
    """Return what a model promises, in a few words."""
    if isinstance(model, KAnonymity):
        less = f" (there are {rows} rows)" if 1 < rows < 5 else ""
        return f"every person looks like {model.k - 1} others at least{less}"
    if isinstance(model, KmAnonymity):
        return f"who knows {model.m} items of a person finds {model.k} rows"
    if isinstance(model, DistinctLDiversity):
        return f"at least {model.l} values in a class"
    if isinstance(model, AlphaKAnonymity):
        return f"at most {percent(model.alpha)} of a class have one value"
    if isinstance(model, CategoryShare):
        return f"at most {percent(model.share)} of a class have one of these"
    if isinstance(model, RangeShare):
        within, share = text_of(model.within), percent(model.share)
        return f"at most {share} of a class are within {within} of each other"
    if isinstance(model, TCloseness):
        return "classes are spread much as the table"
    return ""


def _item(model: PrivacyModel) -> list[str]:
    settings = member_settings(model, "model")
    short = to_text({"a": settings}, flow=True)[4:-2]
    if _fits(short):
        return [f"- {short}"]
    lines = _wrap(settings).split("\n")
    return [f"- {line}" if i == 0 else f"  {line}" for i, line in enumerate(lines)]


def _wrap(settings: dict[str, object]) -> str:
    """Write settings in braces, in lines that are not too long."""
    return to_text(settings, flow=True, width=_WIDEST - 12).rstrip("\n")


def _line(key: str, value: object) -> list[str]:
    """Write a setting in one line if it fits, else in several."""
    short = to_text({key: value}, flow=True)[1:-2]
    if short.startswith("?"):
        return _entry(key, value)
    if _fits(short):
        return [short]
    # Without the outer braces; the writer may still find that one line is enough.
    return _wrap({key: value})[1:-1].split("\n")


def _fits(text: str) -> bool:
    return "\n" not in text and len(text) + 2 <= _WIDEST


def _with_comment(lines: list[str], comment: str) -> list[str]:
    """Return a line with a comment behind it if there is room, else above it."""
    text = visible(" ".join(comment.split()))
    if not text:
        return lines
    first = f"{lines[0]}  # {text}"
    if len(first) + 2 <= _WIDEST:
        return [first, *lines[1:]]
    return [*_comment(comment), *lines]


def _entry(key: str, value: object) -> list[str]:
    # The empty mapping beside it keeps the writer from putting a short entry into braces.
    return _yaml({key: value, "b" if key == "a" else "a": {}})[:-1]


def _yaml(settings: dict[str, object]) -> list[str]:
    # Only line feeds end a line here; other breaks of Unicode are escaped by the writer.
    return to_text(settings).rstrip("\n").split("\n")


def _comment(text: str) -> list[str]:
    # A value may hold what YAML takes for the end of the comment.
    return wrap(
        visible(text),
        _WIDEST - 3,
        initial_indent="# ",
        subsequent_indent="# ",
        break_on_hyphens=False,
    )


def _indent(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]
