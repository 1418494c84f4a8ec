"""Unprotected columns: what is published as it is, or without a role, and whom it gives away.

Models protect quasi-identifiers and sensitive columns. All other columns that are published are
looked at here: whether one names people by itself, and how many people become rare if an
adversary knows one, two or three of them besides the quasi-identifiers.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from itertools import combinations, islice
from math import comb
from typing import Any, Literal, NamedTuple

import numpy as np

from sfumato.counts import Column, FrequencySet, PackedKeys, changes, group, sums
from sfumato.dataclasses import dataclass
from sfumato.drafting.guess import identifying, naming
from sfumato.errors import InputError, some
from sfumato.policy.meanings import meaning_of
from sfumato.policy.remedies import CountPeople, GiveRole, Remedy, SayWhy
from sfumato.releases.codebook import WrittenTable
from sfumato.releases.line_breaks import ADVICE, count_line_breaks, describe_line_breaks
from sfumato.releases.opening import (
    Published,
    PublishedTable,
    PublishedTables,
    Roles,
    count_columns,
)
from sfumato.releases.people import find_repetition, keys_of
from sfumato.releases.spellings import SPELLING_ADVICE, describe_spellings
from sfumato.schema import Role
from sfumato.showing.content import Badge, Cell, ContentTable, Heading
from sfumato.tables import Domain
from sfumato.text import STAR, format_integer, has_line_break, in_order
from sfumato.typing import BoolArray, IntArray, Value

Kind = Literal[
    "identifier",
    "rows",
    "line breaks",
    "spelling",
    "no role",
    "sensitive",
    "singles out",
    "not looked at",
]

_LARGEST = 3
"""Sets of up to this many columns are looked at."""

_TOLD = 3
"""Sets of two or three columns that are reported, of each size."""

_CELLS = 60_000_000
"""Codes that are held at once, give or take: a quarter of a gigabyte."""

_MANY_VALUES = 50_000
"""A column with more values, most of them of one person, is judged by itself: ordering its values
would take longer than all else, and by itself it tells nearly all there is to tell."""

_WORK = 60_000_000
"""Combinations grouped in all, give or take: a second."""

_OVERHEAD = 16_000
"""What looking at one set costs besides, in combinations."""

_PASSES = 12
"""How often a table is read again, if its combinations cannot be held."""


@dataclass(frozen=True)
class ColumnFinding:
    """What a published column that nothing protects gives away, or several together.

    Example:
        >>> found = ColumnFinding(("weight",), "singles out", people=8, of=9, alone=7, least=5,
        ...     k=1)
        >>> print(found)
        who knows 'weight' besides the quasi-identifiers finds 7 of 9 people for certain, and 8 in
        groups of fewer than 5
        >>> found.answer, found.accepted
        ('with care', False)
    """

    columns: tuple[str, ...]
    kind: Kind
    reason: str = ""
    """Why it is thought to be so, of kinds that are guessed."""

    people: int | None = None
    """How many people it concerns; of those who are singled out, how many more than without."""

    of: int = 0
    """The number of people in all."""

    alone: int | None = None
    """How many of them are the only ones to have what is known."""

    least: int | None = None
    """The size of groups that is promised, or 2: who is in a smaller one is singled out."""

    k: int | None = None
    """The size of the smallest group, if the columns are known besides the quasi-identifiers."""

    at_least: bool = False
    """Whether there may be more people than were counted."""

    because: str | None = None
    """Why it is meant to be published as it is; None if nothing is said."""

    by_manifest: bool = False
    """Whether only the manifest says why. It cannot accept what it is itself judged by."""

    @property
    def accepted(self) -> bool:
        """Whether the policy that it is held to says why it is meant."""
        return self.because is not None and not self.by_manifest

    @property
    def answer(self) -> Literal["yes", "with care", "no"]:
        """The best answer that is left with it."""
        if self.kind == "spelling" or self.accepted:
            # The spellings of a value count as one, so none hides what the others tell.
            return "yes"
        return "no" if self.kind in ("identifier", "rows") else "with care"

    @property
    def advice(self) -> str:
        """The way to mend it, in a sentence; empty if the publisher said why it is meant."""
        if self.by_manifest:
            return "If you agree, hold it to a policy that says so too (-p policy.yaml)."
        names = some(self.columns, most=6)
        meant = "or say why it is meant: {role: plain, because: …}"
        either = " or ".join(map(repr, self.columns))
        told = {
            "identifier": f"Give {names} the role identifier, which leaves it out, {meant}.",
            "rows": f"Give one row per person, or say in a policy what it is: person: {names}.",
            "line breaks": f"{ADVICE}, or leave {names} out.",
            "spelling": f"{SPELLING_ADVICE}.",
            "no role": f"Give {names} a role in a policy, or leave it out.",
            "sensitive": f"Give {names} the role sensitive and a model, {meant}.",
            "singles out": f"Make {either} {self._better_role}, leave it out, {meant}.",
            "not looked at": "Publish fewer columns as they are.",
        }
        return "" if self.accepted else told[self.kind]

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """The advice as changes of a policy; none if the publisher said why it is meant."""
        if self.accepted or self.kind == "spelling":
            return ()
        if self.kind == "rows":
            return tuple(CountPeople(name) for name in self.columns[:1])
        role = {
            "identifier": Role.IDENTIFIER,
            "sensitive": Role.SENSITIVE,
            "singles out": Role.QUASI_IDENTIFIER,
        }.get(self.kind, Role.DROPPED)
        if self._better_role != "a quasi-identifier":
            role = Role.WEIGHT
        given = [role] if role in (Role.IDENTIFIER, Role.DROPPED) else [role, Role.DROPPED]
        meant = self.kind in ("identifier", "sensitive", "singles out")
        return (
            *(GiveRole(name, each) for each in given for name in self.columns),
            *(SayWhy(name) for name in self.columns if meant),
        )

    @property
    def text(self) -> str:
        """It in a sentence."""
        names = some(self.columns, most=12)
        known = " and ".join(map(repr, self.columns))
        told = {
            "identifier": f"{names} names people: {self.reason}",
            "rows": self.reason,
            "line breaks": self.reason,
            "spelling": self.reason,
            "no role": f"no role says what {names} {'are' if len(self.columns) > 1 else 'is'}",
            "sensitive": f"{names} {self.reason}, and nothing protects it",
            "singles out": f"who knows {known} besides the quasi-identifiers finds {self._whom}",
            "not looked at": self.reason,
        }[self.kind]
        if self.because is None:
            return told
        who = "its manifest says:" if self.by_manifest else "accepted, because"
        return f"{told} ({who} {self.because})"

    @property
    def _better_role(self) -> str:
        meanings = [meaning_of(name) for name in self.columns]
        weights = all(each is not None and each.role is Role.WEIGHT for each in meanings)
        return "a weight (role: weight)" if weights else "a quasi-identifier"

    @property
    def _whom(self) -> str:
        more = "at least " * self.at_least
        people, alone, least = self.people or 0, self.alone or 0, self.least or 2
        one = f"{more}{format_integer(alone)} of {format_integer(self.of)} people for certain"
        if people <= alone:
            return one
        if not alone:
            of = format_integer(self.of)
            return f"{more}{format_integer(people)} of {of} people in groups of fewer than {least}"
        return f"{one}, and {format_integer(people)} in groups of fewer than {least}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values that JSON can hold."""
        found = {key: value for key, value in asdict(self).items() if value not in (None, "")}
        if self.because is None:
            del found["by_manifest"]
        return {
            **found,
            "columns": list(self.columns),
            "accepted": self.accepted,
            "answer": self.answer,
            "text": self.text,
            "advice": self.advice,
            "remedies": [remedy.to_dict() for remedy in self.remedies],
        }

    def __str__(self) -> str:
        return self.text


def findings_table(found: Sequence[ColumnFinding], caption: str = "") -> ContentTable:
    """Return findings as a table for people."""
    heads: list[str | Heading] = [
        Heading("column", "Published, and neither quasi-identifier nor sensitive."),
        Heading("finding", "Singles out: few people have what is known with it."),
        Heading("people", "How many more are in a group that is too small, if it is known."),
        Heading("alone", "How many of them are like no other person."),
        Heading("smallest group", "k, if it is known besides the quasi-identifiers."),
        Heading("result", "Accepted: the policy says why it is meant."),
        "why, or what to do",
    ]
    return ContentTable.of(caption, heads, map(_table_row, found), most=40)


def _table_row(found: ColumnFinding) -> list[Cell]:
    more = "≥ " * found.at_least
    told_only = found.answer == "yes"
    why = (found.because if found.accepted else None) or found.reason or found.advice
    return [
        ", ".join(found.columns[:12]) + ", …" * (len(found.columns) > 12),
        found.kind,
        None if found.people is None else f"{more}{format_integer(found.people)}",
        None if found.alone is None else f"{more}{format_integer(found.alone)}",
        found.k,
        Badge("accepted" if found.accepted else "told" if told_only else found.answer),
        why,
    ]


def told_first(found: Sequence[ColumnFinding]) -> tuple[str, ...]:
    """Return the reasons that findings give to an answer, with what to do, weightiest first."""
    return tuple(text for text, _ in first_findings(found))


def first_findings(found: Sequence[ColumnFinding]) -> tuple[tuple[str, ColumnFinding], ...]:
    """Return the reasons of `told_first`, each with its finding.

    Of the columns that single people out only the worst is told, and the worst set of several.
    """
    first = ("identifier", "rows", "line breaks")
    names = [each for each in found if each.kind in first]
    names.sort(key=lambda each: each.accepted)
    single = [each for each in found if each.kind == "singles out"]
    worst: dict[tuple[bool, bool], ColumnFinding] = {}
    for each in sorted(single, key=lambda one: (-(one.people or 0), len(one.columns))):
        worst.setdefault((len(each.columns) > 1, each.accepted), each)
    texts = []
    for (several, accepted), each in worst.items():
        alike = [one for one in single if len(one.columns) == 1 and one.accepted == accepted]
        others = 0 if several else len(alike) - 1
        what = f"{others} more columns single" if others > 1 else "one more column singles"
        more = f" ({what} people out)" if others else ""
        texts.append((_with_advice(f"{each}{more}", each), each))
    rest = [each for each in found if each.kind not in (*first, "singles out")]
    return (
        *((_with_advice(str(each), each), each) for each in names),
        *texts,
        *((_with_advice(str(each), each), each) for each in rest),
    )


def _with_advice(text: str, found: ColumnFinding) -> str:
    return f"{text}. {found.advice}".rstrip(". ")


def find_unprotected(release: Published) -> tuple[ColumnFinding, ...]:
    """Find what published columns give away that are plain or have no role.

    Promises: every such column is looked at by itself, and what cannot be looked at is named.
    Of two or three columns together all sets are looked at if there are few enough, else the most
    telling ones.

    Does not promise that a column names no people because it does not look like it.

    Args:
        release: What is published. Of a decoupled release, every table is looked at by itself.

    Example:
        >>> import pyarrow as pa
        >>> from sfumato.releases.opening import open_release
        >>> table = pa.table({"age": [30, 30], "mail": ["ann@x.org", "bob@x.org"]})
        >>> for found in find_unprotected(open_release(table, quasi_identifiers=["age"])):
        ...     print(found.kind, found.columns)
        identifier ('mail',)
        no role ('mail',)
    """
    meant = _rows_meant(release)
    if not isinstance(release, PublishedTable):
        odd = (*_line_breaks_of_tables(release), *_spellings_of_tables(release))
        plain = [each for table in _tables_with_plain(release) for each in _find_plain(table)]
        return (*meant, *odd, *plain)
    columns = _open_columns(release)
    every = _domains(release, [*columns, *release.columns])
    domains = {name: domain for name, domain in every.items() if name in columns}
    total = next((domain.total for domain in every.values()), 0)
    if not total:
        return meant
    reasons = {name: column.because for name, column in columns.items()}
    named = _identifiers(domains, reasons)
    # Who is named need not be singled out besides.
    others = {name: d for name, d in domains.items() if (name,) not in {n.columns for n in named}}
    secret = {name: every[name] for name in release.sensitive if name in every}
    found = [
        *named,
        *_named_by_secrets(secret),
        *_line_breaks(every, reasons),
        *_spellings({name: every[name] for name in release.folded if name in every}),
        *meant,
        *(() if _policy_means_rows(release) else _repetitions(columns, domains)),
        *_single_out(release, _without_chance(release, others), reasons),
        *_counted_in_rows(release, others),
        *_sensitive(domains, reasons, total),
    ]
    unnamed = tuple(name for name, column in columns.items() if column.role is None)
    if unnamed:
        found.append(ColumnFinding(unnamed, "no role"))
    nested = tuple(name for name in columns if name not in domains)
    if nested:
        reason = f"{some(nested)} has no single value per row: nothing says what it gives away"
        found.append(ColumnFinding(nested, "not looked at", reason))
    return tuple(_with_owner(release, found))


def _without_chance(release: Published, domains: Mapping[str, Domain]) -> dict[str, Domain]:
    """Return the columns whose values chance does not hide: attacks judge the others."""
    if release.manifest is None or not any(each.perturbed for each in release.manifest.columns):
        return dict(domains)
    # Imported late: few columns were changed by chance.
    from sfumato.attacks.adversary.claims import hidden_columns

    hidden = hidden_columns(release)
    return {name: domain for name, domain in domains.items() if name not in hidden}


def _with_owner(release: Published, found: Sequence[ColumnFinding]) -> list[ColumnFinding]:
    """Return findings that say whether only the manifest gives a reason."""
    own = _own_reasons(release)
    return [
        replace(each, by_manifest=True)
        if each.because is not None and not own.issuperset(each.columns)
        else each
        for each in found
    ]


def _tables_with_plain(release: Published) -> Iterator[PublishedTable]:
    """Yield the tables of a decoupled release that have plain columns, as tables in one piece.

    What stands in one table is known together: the quasi-identifiers that it has are what people
    are recognised by there. In a table of counts that is the group too: other tables tell it.
    """
    if not isinstance(release, PublishedTables) or not release.plain:
        return
    linked = release.counts((*release.quasi_identifiers, *release.plain))
    for table, people in zip(linked.tables, linked.people, strict=True):
        names = linked.names(table)
        known = [name for name in names if name in release.quasi_identifiers]
        if linked.group is not None and linked.count in table.names:
            known = [linked.group, *known]
        plain = [name for name in names if name in release.plain]
        if plain:
            rows = np.rint(people).astype(np.int64)
            counted = FrequencySet(table.columns, table.codes, rows).project([*known, *plain])
            yield PublishedTable(
                given=release.given,
                data=counted,
                policy=release.policy,
                named=Roles(known, ()),
                record=release.manifest,
            )


def _find_plain(table: PublishedTable) -> list[ColumnFinding]:
    """Find what the plain columns of one table give away."""
    columns = _open_columns(table)
    domains = _domains(table, list(columns))
    total = next((domain.total for domain in domains.values()), 0)
    if not total:
        return []
    reasons = {name: column.because for name, column in columns.items()}
    named = _identifiers(domains, reasons)
    others = {name: d for name, d in domains.items() if (name,) not in {n.columns for n in named}}
    found = [
        *named,
        *_line_breaks(domains, reasons),
        *(() if _policy_means_rows(table) else _repetitions(columns, domains)),
        *_single_out(table, others, reasons),
        *_sensitive(domains, reasons, total),
    ]
    return _with_owner(table, found)


def _own_reasons(release: Published) -> set[str]:
    """Return the columns of which the policy that a release is held to says why they are meant."""
    rules = {} if release.policy is None else release.policy.columns
    return {name for name, rule in rules.items() if rule.because is not None}


def _policy_means_rows(release: Published) -> bool:
    policy = release.policy
    return policy is not None and policy.person is not None and policy.person.rows is not None


def _rows_meant(release: Published) -> tuple[ColumnFinding, ...]:
    """Return that rows are counted and not people, if the publisher means it so.

    A manifest may say it, for it lessens what the release promises; a key that repeats in the rows
    is refused all the same.
    """
    reason = None
    if release.policy is not None and release.policy.person is not None:
        reason = release.policy.person.rows
    if reason is None and release.manifest is not None:
        reason = (release.manifest.person or {}).get("rows")
    if reason is None:
        return ()
    return (ColumnFinding((), "rows", "rows are counted, not people", because=reason),)


def _repetitions(
    columns: "Mapping[str, _OpenColumn]", domains: Mapping[str, Domain]
) -> tuple[ColumnFinding, ...]:
    """Return that rows are not people, if a published key of people clearly repeats."""
    found = find_repetition(domains, keys_of({name: each.role for name, each in columns.items()}))
    if found is None or not found.clear:
        return ()
    told = f"rows are not people: {found}"
    return (ColumnFinding((found.column,), "rows", told, found.people, found.rows),)


class _OpenColumn(NamedTuple):
    """A published column that is plain, or has no role."""

    role: Role | None
    because: str | None = None


def _open_columns(release: PublishedTable) -> dict[str, _OpenColumn]:
    """Return the published columns that nothing protects."""
    reasons: dict[str, str | None] = {}
    if release.manifest is not None:
        reasons = {column.name: column.because for column in release.manifest.columns}
    if release.policy is not None:
        reasons |= {
            name: rule.because for name, rule in release.policy.columns.items() if rule.because
        }
    found = {
        name: _OpenColumn(role, reasons.get(name)) for name, role in release.open_columns.items()
    }
    for name in _told_by_class(release, [n for n, c in found.items() if c.role is Role.WEIGHT]):
        del found[name]
    return found


def _told_by_class(release: PublishedTable, weights: Sequence[str]) -> Sequence[str]:
    """Return the weights if they are the same in all rows of a class: then they tell nothing."""
    if not weights:
        return ()
    known = release.quasi_identifiers
    counts = count_columns(release.data, (*known, *weights)).project((*known, *weights))
    classes = counts.without(_rows_of_stars(counts, known)).project(known)
    return weights if len(classes) == len(counts.without(_rows_of_stars(counts, known))) else ()


def _rows_of_stars(counts: FrequencySet, known: Sequence[str]) -> BoolArray:
    """Return which rows are those of suppressed people, who have no weight."""
    starred = np.ones(len(counts), dtype=bool)
    for column, codes in zip(counts.columns, counts.codes, strict=True):
        empty = STAR if column.name in known else None
        starred &= np.isin(codes, [i for i, v in enumerate(column.values) if v == empty])
    return starred


def _domains(release: PublishedTable, names: Sequence[str]) -> dict[str, Domain]:
    """Count the values of each column by itself."""
    if isinstance(release.data, FrequencySet):
        return {name: _domain(release.data, name) for name in names}
    return WrittenTable(release.table, release.known).domains(names)


def every_domain(release: Published) -> Iterator[Domain]:
    """Yield every published column by itself; of a decoupled release, those of each table."""
    if isinstance(release, PublishedTable):
        counts = release.data if isinstance(release.data, FrequencySet) else None
        names = release.table.columns if counts is None else counts.names
        yield from _domains(release, names).values()
    elif isinstance(release, PublishedTables):
        linked = release.counts((*release.quasi_identifiers, *release.plain, *release.sensitive))
        for table in linked.tables:
            yield from (_domain(table, name) for name in linked.names(table))


def _domain(counts: FrequencySet, name: str) -> Domain:
    column, rows = counts.column(name), counts.value_counts(name)
    known = np.flatnonzero(rows[: len(column.known)])

    def take(positions: IntArray) -> list[Value]:
        return [column.values[code] for code in known[positions].tolist()]

    missing = int(rows[column.missing]) if column.missing >= 0 else 0
    broken = [at for at, code in enumerate(known) if has_line_break(column.values[code])]
    return Domain(name, rows[known], missing, take, int(rows[known][broken].sum()))


def look_at(
    place: str | None, look: Callable[[], tuple[ColumnFinding, ...]]
) -> tuple[tuple[ColumnFinding, ...], tuple[str, ...]]:
    """Return what is found in a release that was just published, and a note if it is out of reach.

    A server may be gone by then. The release is complete all the same, and an error would sound as
    if there were none.

    Args:
        place: Where the release is, if it is in a database.
        look: Reads the release.
    """
    try:
        return look(), ()
    except InputError as error:
        if place is None:
            raise
        why = str(error).rstrip(".")
        note = (
            "the release is complete and verified, but it was not looked at for columns that "
            f"nothing protects: {why}. Run sfumato verify on it"
        )
        return (), (note,)


def find_odd_cells(release: PublishedTable) -> tuple[ColumnFinding, ...]:
    """Find line breaks in columns whose values were not generalised, and values spelt in ways."""
    raw = [name for name in release.columns if not release.levels.get(name)]
    domains = _domains(release, raw)
    spelt = {name: domains[name] for name in release.folded if name in domains}
    return (*_line_breaks(domains, {}), *_spellings(spelt))


def _spellings(domains: Mapping[str, Domain]) -> list[ColumnFinding]:
    """Find sensitive columns that have a value in several spellings."""
    found = []
    for name, domain in domains.items():
        column = Column(name, tuple(in_order(domain.values(_MOST_SPELT))))
        spellings = column.folded.spellings
        if spellings:
            told = describe_spellings(name, spellings)
            found.append(ColumnFinding((name,), "spelling", told, of=domain.total))
    return found


_MOST_SPELT = 100_000
"""The most values of a column whose spellings are compared here."""


def _line_breaks(
    domains: Mapping[str, Domain], reasons: Mapping[str, str | None]
) -> list[ColumnFinding]:
    return [
        _break_finding(name, domain.line_breaks, domain.total, reasons.get(name))
        for name, domain in domains.items()
        if domain.line_breaks
    ]


def _line_breaks_of_tables(release: Published) -> list[ColumnFinding]:
    """Find cells with line breaks in the tables of a decoupled release."""
    if not isinstance(release, PublishedTables):
        return []
    tables = release.counts(release.columns).tables
    return [
        _break_finding(name, cells, counts.total)
        for counts in tables
        for name, cells in count_line_breaks(counts).items()
    ]


def _spellings_of_tables(release: Published) -> list[ColumnFinding]:
    """Find values in several spellings in the tables of a decoupled release."""
    if not isinstance(release, PublishedTables):
        return []
    tables = release.counts(release.folded).tables
    columns = [c for counts in tables for c in counts.columns if c.name in release.folded]
    return [
        ColumnFinding((c.name,), "spelling", describe_spellings(c.name, c.folded.spellings))
        for c in columns
        if c.folded.spellings
    ]


def _break_finding(
    column: str, cells: int, total: int, because: str | None = None
) -> ColumnFinding:
    told = describe_line_breaks(column, cells)
    return ColumnFinding((column,), "line breaks", told, cells, total, because=because)


def _identifiers(
    domains: Mapping[str, Domain], reasons: Mapping[str, str | None]
) -> list[ColumnFinding]:
    found = []
    for name, domain in domains.items():
        reason = identifying(domain)
        if reason is not None:
            found.append(_identifier(domain, reason, reasons.get(name)))
    return found


def _named_by_secrets(domains: Mapping[str, Domain]) -> list[ColumnFinding]:
    """Find sensitive columns whose values name people: they are published as they are."""
    reasons = {name: naming(domain) for name, domain in domains.items()}
    return [
        _identifier(domains[name], reason, None)
        for name, reason in reasons.items()
        if reason is not None
    ]


def _identifier(domain: Domain, reason: str, because: str | None) -> ColumnFinding:
    return ColumnFinding(
        (domain.column,),
        "identifier",
        reason,
        people=domain.total - domain.missing,
        of=domain.total,
        alone=int(np.count_nonzero(domain.rows == 1)),
        because=because,
    )


def _sensitive(
    domains: Mapping[str, Domain], reasons: Mapping[str, str | None], total: int
) -> list[ColumnFinding]:
    """Find columns that are called like what should not become known, and are not so declared."""
    found = []
    for name, domain in domains.items():
        meaning = meaning_of(name)
        if meaning is None or meaning.role is not Role.SENSITIVE or len(domain.rows) < 2:
            continue
        reason = f"looks like {meaning.what} by its name"
        found.append(
            ColumnFinding((name,), "sensitive", reason, of=total, because=reasons.get(name))
        )
    return found


# How many people become rare if columns are known besides the quasi-identifiers.


class Rare(NamedTuple):
    """The people who are in small groups."""

    people: int
    """Those in a group that is too small, and who were not before."""

    alone: int
    """Those of them who are alone."""

    k: int
    """The size of the smallest group of all."""

    groups: int = 0
    """How many groups there are: the more, the less is left for another column to tell."""


Subset = tuple[int, ...]


class KnownColumns:
    """People by what is known of them: the quasi-identifiers, and some of the other columns.

    Args:
        counts: Counts over the quasi-identifiers and the other columns.
        quasi_identifiers: The quasi-identifiers.
        others: The other columns.
        least: Who is in a group of fewer people is rare.

    Example:
        >>> rows = [("f", 1, "x"), ("f", 1, "y"), ("f", 2, "x"), ("f", 2, "x")]
        >>> table = FrequencySet.from_rows(["sex", "ward", "job"], rows)
        >>> known = KnownColumns(table, ["sex"], ["ward", "job"], 2)
        >>> known.rare((0,)), known.rare((0, 1))
        (Rare(people=0, alone=0, k=2, groups=2), Rare(people=2, alone=2, k=1, groups=3))
    """

    def __init__(
        self,
        counts: FrequencySet,
        quasi_identifiers: Sequence[str],
        others: Sequence[str],
        least: int,
    ) -> None:
        self.names = tuple(others)
        self.least = least
        classes = counts.group_by(quasi_identifiers)
        sizes = sums(classes.of_item, counts.rows, classes.n)
        self.before = int(sizes.min(initial=counts.total))
        """The size of the smallest class."""

        # Who is rare by the quasi-identifiers alone cannot become so.
        kept = np.flatnonzero(sizes[classes.of_item] >= least)
        self._rows = counts.rows[kept]
        self._equal = bool((self._rows == 1).all())
        renumbered = group([classes.of_item[kept]], [classes.n], n=len(kept))
        self._class = renumbered.of_item
        self._classes = max(renumbered.n, 1)
        columns = [counts.index(name) for name in others]
        self._codes = [counts.codes[at][kept] for at in columns]
        self._sizes = [len(counts.columns[at].values) for at in columns]

    def __len__(self) -> int:
        return len(self._rows)

    def rare(self, subset: Subset) -> Rare:
        """Count the people who become rare if a set of columns is known."""
        if not len(self._rows):
            return Rare(0, 0, self.before)
        keys, width = PackedKeys.of(
            [self._class, *(self._codes[at] for at in subset)],
            [self._classes, *(self._sizes[at] for at in subset)],
        )
        if width <= 4 * len(keys) + 1024:
            sizes = np.bincount(keys, None if self._equal else self._rows)
            sizes = sizes[sizes > 0].astype(np.int64)
        elif self._equal:
            starts = np.flatnonzero(changes(np.sort(keys)))
            sizes = np.diff(starts, append=len(keys))
        else:
            order = np.argsort(keys, kind="stable")
            starts = np.flatnonzero(changes(keys[order]))
            sizes = np.add.reduceat(self._rows[order], starts)
        small = sizes[sizes < self.least]
        alone = int(np.count_nonzero(small == 1))
        return Rare(int(small.sum()), alone, min(int(sizes.min()), self.before), len(sizes))

    @cached_property
    def most(self) -> int:
        """The people who are rare if all columns are known: no set of them makes it more."""
        return self.rare(tuple(range(len(self.names)))).people


@dataclass(frozen=True)
class SetSearch:
    """The sets of columns that make most people rare, and how thoroughly they were looked for."""

    found: Mapping[Subset, Rare]
    """Every set that was looked at."""

    possible: Mapping[int, int]
    """How many sets there are of each size."""

    @property
    def left(self) -> dict[int, int]:
        """The number of sets of each size that were not looked at."""
        looked = {size: sum(len(s) == size for s in self.found) for size in self.possible}
        return {size: n - looked[size] for size, n in self.possible.items() if n > looked[size]}

    def worst(self, size: int) -> list[Subset]:
        """Return the sets of a size that make more people rare than their parts do, worst first."""
        sets = [each for each in self.found if len(each) == size]
        telling = [each for each in sets if self.found[each].people > self._parts(each)]
        return sorted(telling, key=lambda each: (-self.found[each].people, each))

    def _parts(self, subset: Subset) -> int:
        parts = combinations(subset, len(subset) - 1)
        return max((self.found[part].people for part in parts if part in self.found), default=0)


def search_sets(known: KnownColumns, work: int = _WORK) -> SetSearch:
    """Search for the sets of up to three columns that make most people rare.

    Every column is looked at by itself. A set never makes fewer people rare than a part of it, so
    columns that make nearly all rare by themselves are put into no larger set, and larger sets
    grow from the most telling smaller ones where there are too many to look at all.

    Args:
        known: The people and the columns.
        work: Combinations that may be grouped in all, give or take.
    """
    n = len(known.names)
    found: dict[Subset, Rare] = {(at,): known.rare((at,)) for at in range(n)}
    possible = {1: n}
    if not known.most:
        return SetSearch(found, possible)
    telling = [at for at in range(n) if found[(at,)].people < 0.9 * known.most]
    looks = max(work // (len(known) + _OVERHEAD) - n, 10)
    before: list[Subset] = [(at,) for at in telling]
    for size in range(2, _LARGEST + 1):
        possible[size] = comb(len(telling), size)
        before.sort(key=lambda subset: (-found[subset].people, -found[subset].groups))
        fair = max(looks // (_LARGEST - size + 1), 5)
        now: list[Subset] = []
        for subset in islice(_candidates(before, telling, size, fair), fair):
            found[subset] = known.rare(subset)
            now.append(subset)
        looks -= len(now)
        before = now
    return SetSearch(found, possible)


def _candidates(
    before: Sequence[Subset], columns: Sequence[int], size: int, fair: int
) -> Iterator[Subset]:
    """Yield all sets of a size if they are few enough, else those around the most telling ones."""
    if comb(len(columns), size) <= fair:
        yield from combinations(columns, size)
        return
    seen: set[Subset] = set()
    # Telling columns first: of each set the other columns come in the order of what they tell.
    order = list(dict.fromkeys(at for subset in before for at in subset))
    for smaller in before:
        for column in order:
            subset = tuple(sorted({*smaller, column}))
            if len(subset) == size and subset not in seen:
                seen.add(subset)
                yield subset


def _single_out(
    release: PublishedTable, domains: Mapping[str, Domain], reasons: Mapping[str, str | None]
) -> list[ColumnFinding]:
    """Count who is singled out by columns that are known besides the quasi-identifiers."""
    if not domains:
        return []
    least = max(release.k or 2, 2)
    total = next(iter(domains.values())).total
    varied = [name for name, d in domains.items() if len(d.rows) + bool(d.missing) > 1]
    apart = [name for name in varied if _is_apart(domains[name])]
    joint = [name for name in varied if name not in apart]
    found = [_by_itself(domains[name], least, reasons.get(name)) for name in apart]
    if not joint:
        return [each for each in found if each.people]
    counts = _count(release, [*release.quasi_identifiers, *joint])
    if counts is None:
        return [*found, *_one_by_one(release, joint, domains, reasons, least)]
    known = KnownColumns(counts, release.quasi_identifiers, joint, least)
    searched = search_sets(known)
    told = [subset for subset in searched.worst(1) if searched.found[subset].people]
    for size in range(2, _LARGEST + 1):
        told += [s for s in searched.worst(size) if searched.found[s].people][:_TOLD]
    found += [_singling(known, subset, searched.found[subset], total, reasons) for subset in told]
    found = sorted(found, key=lambda each: (len(each.columns), -(each.people or 0)))
    left = searched.left
    if left:
        n = len(known.names)
        sets = " and ".join(f"{format_integer(n)} sets of {size}" for size, n in left.items())
        reason = f"of {n} columns together, {sets} were not looked at: they are too many"
        found.append(ColumnFinding(known.names, "not looked at", reason, of=total))
    return found


def _counted_in_rows(release: PublishedTable, domains: Mapping[str, Domain]) -> list[ColumnFinding]:
    """Return that people who are singled out were not counted, where they have several rows.

    Whose rows have which plain values is in no file, and a group of as many rows may be one person.
    """
    names = tuple(n for n, each in domains.items() if len(each.rows) + bool(each.missing) > 1)
    if not names or not release.counts_people:
        return []
    reason = (
        f"it is not known how many people have the same {some(names, most=12)}: rows were counted, "
        "of which people have several, and those of a group may all be of one person"
    )
    return [ColumnFinding(names, "not looked at", reason)]


def _is_apart(domain: Domain) -> bool:
    """Return whether a column is judged by itself, without the quasi-identifiers."""
    distinct = len(domain.rows)
    return distinct > _MANY_VALUES and int(np.count_nonzero(domain.rows == 1)) > 0.5 * distinct


def _by_itself(domain: Domain, least: int, because: str | None) -> ColumnFinding:
    """Count who is rare by a column alone; with quasi-identifiers there may be more."""
    sizes = domain.rows if not domain.missing else np.append(domain.rows, domain.missing)
    small = sizes[sizes < least]
    alone = int(np.count_nonzero(small == 1))
    return ColumnFinding(
        (domain.column,),
        "singles out",
        people=int(small.sum()),
        of=domain.total,
        alone=alone,
        least=least,
        k=int(sizes.min()),
        at_least=alone < domain.total,
        because=because,
    )


def _count(release: PublishedTable, columns: Sequence[str]) -> FrequencySet | None:
    """Count columns together; None if there are too many combinations to hold them."""
    if isinstance(release.data, FrequencySet):
        return release.data
    most = max(_CELLS // len(columns), 100_000)
    counts = release.table.survey(columns, most)
    return counts if isinstance(counts, FrequencySet) else None


def _singling(
    known: KnownColumns,
    subset: Subset,
    rare: Rare,
    total: int,
    reasons: Mapping[str, str | None],
) -> ColumnFinding:
    names = tuple(known.names[at] for at in subset)
    given = [reasons.get(name) for name in names]
    meant = [reason for reason in given if reason is not None]
    return ColumnFinding(
        names,
        "singles out",
        people=rare.people,
        of=total,
        alone=rare.alone,
        least=known.least,
        k=rare.k,
        because="; ".join(dict.fromkeys(meant)) if len(meant) == len(given) else None,
    )


def _one_by_one(
    release: PublishedTable,
    columns: Sequence[str],
    domains: Mapping[str, Domain],
    reasons: Mapping[str, str | None],
    least: int,
) -> list[ColumnFinding]:
    """Count columns one by one, those with most values first, if they cannot be held together."""
    columns = sorted(columns, key=lambda name: -len(domains[name].rows))
    found, left = [], list(columns[_PASSES:])
    for name in columns[:_PASSES]:
        counts = _count(release, [*release.quasi_identifiers, name])
        if counts is None:
            left.append(name)
            found.append(_by_itself(domains[name], least, reasons.get(name)))
            continue
        known = KnownColumns(counts, release.quasi_identifiers, [name], least)
        found.append(_singling(known, (0,), known.rare((0,)), domains[name].total, reasons))
    total = domains[columns[0]].total
    found = [each for each in found if each.people]
    reason = f"too many combinations to hold: no sets of {some(columns)} were looked at"
    if left:
        reason += f", and {some(left)} not together with the quasi-identifiers"
    return [*found, ColumnFinding(tuple(columns), "not looked at", reason, of=total)]
