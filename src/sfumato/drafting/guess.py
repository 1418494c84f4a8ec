"""Guess what a column is, from its name and its values."""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from itertools import islice, pairwise
from math import ceil
from pathlib import Path
from statistics import fmean, pstdev
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from sfumato.amounts import amount_of
from sfumato.counts import Column
from sfumato.derivations.dates import look_like_dates, read_text
from sfumato.drafting.day_numbers import date_numbers, day_counts
from sfumato.drafting.persons import PersonKey, Traits, find_person
from sfumato.drafting.relations import ROWS, Relation, Relations, relations_in
from sfumato.lists import read_lists
from sfumato.patterns import late
from sfumato.policy.meanings import (
    FOR_NAMES,
    NAMING,
    ColumnKind,
    Key,
    WordMeaning,
    codes_of,
    counts_up,
    has_word,
    hint_of,
    is_attitude,
    is_bare_number,
    is_numbering,
    is_occasion,
    is_of_a_person,
    is_of_birth,
    key_of_people,
    meaning_of,
    words,
)
from sfumato.releases.people import Repetition
from sfumato.schema import Role
from sfumato.tables import Domain, Table
from sfumato.tables.capabilities import draw_rows
from sfumato.tables.variables import Variable
from sfumato.text import format_integer, number_of, percent, text_of
from sfumato.typing import CodeArray, IntArray, Value

_LOOKED_AT = 1000
"""Values that are looked at to see of what kind they are."""

_NEARLY_ALL = 0.9
_ENOUGH = 20
"""In fewer rows, being unique is no sign of anything."""

_MANY = 100
"""In fewer rows, whole numbers may be different in every row and mean anything."""

_PATTERNS = {
    "e-mail addresses": late(r"[^@\s]+@[^@\s]+\.[^@\s]+"),
    "account numbers (IBAN)": late(r"[A-Z]{2}\d{2} ?([A-Z0-9]{4} ?){2,7}[A-Z0-9]{1,4}"),
    "card numbers": late(r"\d{4}([ -]\d{4}){3}"),
    "social security numbers": late(r"\d{3}-\d{2}-\d{4}"),
    "national numbers of people": late(
        r"\d{8}-?[A-Z]|[XYZ]-?\d{7}-?[A-Z]"  # Spain
        r"|[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]"  # United Kingdom
        r"|[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]"  # Italy
        r"|(19|20)?\d{6}[-+A]\d{3}[0-9A-Z]"  # Sweden, Denmark, Finland
        r"|\d{2} ?\d{6} ?[A-Z] ?\d{3}"  # Germany, pensions
        r"|[A-Z]\d{9}"  # Germany, health insurance
        r"|\d{2} \d{3} \d{3} \d{3}"  # Germany, taxes
        r"|[12] \d{2} \d{2} \w{2} \d{3} \d{3}( \d{2})?"  # France
        r"|756\.\d{4}\.\d{4}\.\d{2}"  # Switzerland
        r"|\d{3}\.\d{3}\.\d{3}-\d{2}|\d{1,2}\.\d{3}\.\d{3}-[\dkK]"  # Brazil, Chile
    ),
    "unique identifiers (UUID)": late(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
    "hashes": late(r"([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})", re.IGNORECASE),
    "internet addresses": late(
        r"\w{3,6}://\S+|www\.\S+|\d{1,3}(\.\d{1,3}){3}|([0-9a-fA-F]{0,4}:){4,7}[0-9a-fA-F]{1,4}"
        r"|([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}|@\w{2,40}"
    ),
    "coordinates": late(r"\D{0,8}[-+]?\d{1,3}\.\d{3,}\D{1,4}[-+]?\d{1,3}\.\d{3,}\D{0,3}"),
    "telephone numbers": late(
        r"(\+\d|\(\d|00\d|0\d{1,4}[ /-])[\d ()./-]{6,20}"
        r"|\(?\d{3}\)?[-. ]\d{3}[-. ]\d{4}|[6-9]\d{2} \d{3} \d{3}"
    ),
}
"""Values that name or find a person whatever the column is called."""

_FIGURE = late(r"[<>~≤≥≈]? ?[-+]?\d[\d.,' ]*( ?[^\d\s]{1,5})?")
"""A number as people write it: with a sign, with separators, with a unit."""

_LIFETIME = 40
"""Days of more years than this are days of births or deaths rather than of visits."""

_LIKE_IDENTIFIER = "looks like an identifier"
_NO_CHANCE = "whole numbers so close that some would be equal by chance"
_OTHERS_MAY_KNOW = "others may know it"


class Guess(NamedTuple):
    """A column's role and why."""

    role: Role
    reason: str
    certain: bool = False
    """Whether there is little doubt: what the name says, or an empty column."""

    kind: ColumnKind = ColumnKind.UNKNOWN
    of: str | None = None
    """The column of which this one is a copy or a function; None if there is none."""

    missing: tuple[Value, ...] = ()
    """Values that look like codes of a missing one, as in -9 or 999."""

    person: bool = False
    """Whether the data show that it identifies people who have several rows."""

    known: bool | None = None
    """Whether others may know a sensitive column without the release; None if its kind says so."""


def guess(
    domain: Domain, variable: Variable | None = None, coded: WordMeaning | None = None
) -> Guess:
    """Guess the role of a column by itself; `guess_table` goes by other columns too.

    A column that is not understood is a quasi-identifier if others could know it: few values, or
    whole numbers. Published as it is, it would single people out.

    Args:
        domain: Its name and its values.
        variable: What the dictionary of a file says about it.
        coded: What its name stands for in a survey that has it and other columns.
    """
    look = _Look(domain, variable)
    codes = look.codes_of_missing({} if variable is None else variable.labels)
    if codes:
        domain = without_codes(domain, codes)
        look = _Look(domain, variable)
    found = _guess(domain, look, variable, coded)
    if codes and found.role not in (Role.IDENTIFIER, Role.DROPPED):
        shown = " and ".join(text_of(code) for code in codes)
        means = "means" if len(codes) == 1 else "mean"
        reason = f"{found.reason}. {shown} {means} that the value is missing"
        found = found._replace(reason=reason, missing=codes)
    return found


def without_codes(domain: Domain, codes: Collection[Value]) -> Domain:
    """Return the values of a column without those that mean that none is known.

    >>> from sfumato.tables import open_table
    >>> import pyarrow as pa
    >>> ages = open_table(pa.table({"age": [31, 47, -9, -9]})).domains(["age"])["age"]
    >>> known = without_codes(ages, [-9])
    >>> known.values(), known.missing
    ([31, 47], 2)
    """
    texts = {text_of(code) for code in codes}
    kept = np.array([text_of(value) not in texts for value in domain.values()], dtype=bool)
    places = np.flatnonzero(kept)
    return replace(
        domain,
        rows=domain.rows[kept],
        missing=domain.missing + int(domain.rows[~kept].sum()),
        take=lambda at: domain.take(places[at]),
    )


def _guess(  # noqa: PLR0911 - one for each thing that values show whatever they are called
    domain: Domain, look: "_Look", variable: Variable | None, coded: WordMeaning | None
) -> Guess:
    facts = look.facts()
    if not domain.rows.size:
        reason = "every cell is missing: there is nothing to publish"
        return Guess(Role.DROPPED, reason, certain=True, kind=ColumnKind.NOTHING)
    separator = separator_in(domain)
    if separator is not None:
        what = f"several items with {separator!r} between them"
        return Guess(Role.SET, f"{facts}, {what}{_SOME_KNOWN}", kind=ColumnKind.SET)
    pattern = look.pattern()
    if pattern:
        reason = f"{facts}: the values look like {pattern}"
        return Guess(Role.IDENTIFIER, reason, kind=ColumnKind.IDENTIFIER)
    if look.names_someone():
        reason = f"{facts}, texts with names of people after a title, such as a physician's"
        return Guess(Role.DROPPED, reason, kind=ColumnKind.FREE_TEXT)
    if look.is_free_text():
        reason = f"{facts}, long texts: free text can name people"
        return Guess(Role.DROPPED, reason, kind=ColumnKind.FREE_TEXT)
    constant = _constant(domain.column, look)
    if constant is not None:
        return constant
    label = "" if variable is None or variable.label is None else " ".join(variable.label.split())
    found = None
    if coded is not None:
        found = _guess_meaning(coded, domain.column, look, "name in a survey", certain=True)
    found = found or _by_name(domain.column, look)
    found = found or (_by_label(label, look) if label else None)
    found = found or _by_values(look)
    return found._replace(reason=f"{label[:80]}: {found.reason}") if label else found


def _constant(column: str, look: "_Look") -> Guess | None:
    """Return the guess for a column that has the same value in every row."""
    if look.distinct != 1 or look.missing or look.known < 2:
        return None
    meaning, same = meaning_of(column), "the same in every row"
    if meaning is not None and meaning.role in (Role.IDENTIFIER, Role.DROPPED):
        reason = f"{same}, and called like {meaning.what}: nothing is lost without it"
        return Guess(Role.DROPPED, reason, certain=True, kind=ColumnKind.CONSTANT)
    return Guess(
        Role.PLAIN, f"{same}: it identifies nobody", certain=True, kind=ColumnKind.CONSTANT
    )


_SOME_KNOWN = (
    ": others may know some of them. What people who share these items also have in common is "
    "learned; if it must not be, leave the column out (dropped)"
)

_SEPARATORS = ";|"
"""What items of a cell are told apart by; a comma stands in names and addresses too."""

_SEVERAL = 0.1
"""The share of cells with several items from which on a column is one of sets."""

_LONGEST_ITEM = 40


def separator_in(domain: Domain) -> str | None:
    """Return what stands between the items of the cells of a column; None if they are no sets.

    Items come again in other cells, and in another order or company: that parts a list of
    diagnoses from a text that has a semicolon.

    >>> cells = ["I10;E11", "E11", "I10;J45", "J45;E11"]
    >>> separator_in(Domain("ill", np.array([2, 1, 1, 1]), 0, lambda at: [cells[i] for i in at]))
    ';'
    """
    values = domain.values(_LOOKED_AT)
    if not all(isinstance(value, str) for value in values):
        return None
    for separator in _SEPARATORS:
        cells = [[part.strip() for part in str(value).split(separator)] for value in values]
        several = [cell for cell in cells if len(cell) > 1]
        if len(several) < max(2, _SEVERAL * len(cells)):
            continue
        items = [item for cell in cells for item in cell if item]
        distinct = set(items)
        if max(map(len, items)) <= _LONGEST_ITEM and 2 * len(distinct) <= len(items):
            return separator
    return None


def guess_all(
    columns: Sequence[str],
    domains: Mapping[str, Domain],
    lists: Collection[str] = (),
    *,
    variables: Mapping[str, Variable] = MappingProxyType({}),
) -> dict[str, Guess]:
    """Guess every column's role by itself; `lists` are those that hold lists of items."""
    reason = "has no single value per row, so it cannot be protected"
    nested = Guess(Role.DROPPED, reason, certain=True, kind=ColumnKind.NOTHING)
    several = Guess(Role.SET, f"lists of items{_SOME_KNOWN}", certain=True, kind=ColumnKind.SET)
    coded = codes_of(columns)
    return {
        name: guess(domains[name], variables.get(name), coded.get(name))
        if name in domains
        else (several if name in lists else nested)
        for name in columns
    }


def guess_table(
    table: Table, domains: Mapping[str, Domain], lists: Collection[str] = ()
) -> dict[str, Guess]:
    """Guess every column's role by its name, values, labels and relation to other columns.

    A copy or a function of another column is left out: published beside a generalised column it
    would undo what was done to it, and beside a sensitive one it tells nothing more.

    Args:
        table: The table.
        domains: The values of the columns with one value per row.
        lists: The columns that hold lists of items.

    Example:
        >>> import pyarrow as pa
        >>> from sfumato.tables import open_table
        >>> ages = [20 + (7 * i) % 50 for i in range(500)]
        >>> rows = pa.table({"age": ages, "agesq": [age * age for age in ages]})
        >>> table = open_table(rows)
        >>> found = guess_table(table, table.domains(table.columns))
        >>> found["agesq"].role.value, found["agesq"].of
        ('dropped', 'age')
    """
    guesses = guess_all(table.columns, domains, lists, variables=table.variables)
    guesses = _with_coordinates(_with_batteries(guesses, domains), domains)
    total = next((domain.total for domain in domains.values()), 0)
    keys = _may_be_keys(guesses, domains)
    looked = [n for n, d in domains.items() if n in keys or _may_be_told(guesses[n], d)]
    if len(looked) < 2:
        return guesses
    drawn = draw_rows(table, looked, min(1.0, ROWS / max(1, total)))
    columns: Sequence[Column] = drawn[0]
    codes, rows = drawn[1:]
    if keys:
        columns, codes, rows, person = _one_row_each(table, guesses, keys, (columns, codes, rows))
        guesses = _with_person(guesses, person, columns, codes)
    kept = [at for at, c in enumerate(columns) if _may_be_told(guesses[c.name], domains[c.name])]
    telling = [n for n in looked if not _is_own(domains[n])]
    relations = Relations.none()
    if len(kept) > 1:
        known = [n for n, each in guesses.items() if each.role is Role.QUASI_IDENTIFIER]
        relations = relations_in([columns[at] for at in kept], codes[kept], rows, telling, known)
    values = {name: len(domain.rows) for name, domain in domains.items()}
    guesses = _with_secrets(with_relations(guesses, relations), relations, values)
    return with_few_known(guesses, relations, values)


def _with_coordinates(
    guesses: Mapping[str, Guess], domains: Mapping[str, Domain]
) -> dict[str, Guess]:
    """Return guesses in which two neighbours that look like coordinates are known, as homes are.

    What such columns are called is a matter of language, and often of the body.
    """
    found = dict(guesses)
    looks = {
        name: _Look(domains[name])
        for name, each in guesses.items()
        if name in domains and each.kind in _MAY_BE_PLACES and len(domains[name].rows) > _FEW
    }
    for one, two in pairwise(guesses):
        if one not in looks or two not in looks:
            continue
        pair = (looks[one], looks[two])
        exact = all(look.are_coordinates(decimals=4) for look in pair)
        if not exact or not any(look.is_of_a_region() for look in pair):
            continue
        for name, look in zip((one, two), pair, strict=True):
            reason = f"{look.facts()}, two columns that look like coordinates: {_OTHERS_MAY_KNOW}"
            found[name] = Guess(Role.QUASI_IDENTIFIER, reason, kind=ColumnKind.PLACE)
    return found


_MAY_BE_PLACES = (ColumnKind.UNKNOWN, ColumnKind.MEASUREMENT, ColumnKind.BODY, ColumnKind.AGE)


def _with_batteries(
    guesses: Mapping[str, Guess], domains: Mapping[str, Domain]
) -> dict[str, Guess]:
    """Return guesses in which columns with the same few answers are items of a questionnaire."""
    found, alike = dict(guesses), dict[tuple[str, ...], list[str]]()
    for name, each in guesses.items():
        if each.kind is ColumnKind.UNKNOWN and each.role is Role.QUASI_IDENTIFIER:
            domain = domains[name]
            if _FEWEST_ANSWERS <= len(domain.rows) <= _MOST_ANSWERS:
                answers = tuple(sorted(map(_as_answer, domain.values())))
                alike.setdefault(answers, []).append(name)
    for answers, names in alike.items():
        if len(names) >= _FEWEST_ITEMS:
            for name in names:
                facts = found[name].reason.split(", meaning")[0]
                reason = f"{facts}, the same {len(answers)} answers as {len(names) - 1} other "
                reason += f"columns: items of a questionnaire. {_NOT_TO_LEARN.capitalize()}"
                found[name] = Guess(Role.SENSITIVE, reason, kind=ColumnKind.BELIEF)
    return found


def _as_answer(value: Value) -> str:
    """Return a value as text, a whole number without decimals: where cells are empty, 3 is 3.0."""
    number = number_of(value)
    return text_of(int(number) if number is not None and number.is_integer() else value)


_FEWEST_ANSWERS, _MOST_ANSWERS, _FEWEST_ITEMS = 4, 11, 4


def _may_be_keys(guesses: Mapping[str, Guess], domains: Mapping[str, Domain]) -> dict[str, float]:
    """Return the columns that may tell people apart, with how many rows a value has on average."""
    found = {}
    for name, domain in domains.items():
        each, meaning = guesses[name], meaning_of(name)
        named = key_of_people(name, identifier=True) is not Key.NONE
        named = named and each.role is Role.IDENTIFIER
        unnamed = each.kind is ColumnKind.UNKNOWN or (
            each.kind in (ColumnKind.IDENTIFIER, ColumnKind.MEASUREMENT)
            and meaning is None
            and hint_of(name) is None
        )
        if not (named or unnamed) or each.role not in _MAY_COUNT or not Repetition.of(domain).clear:
            continue
        values = domain.values(_LOOKED_AT)
        numbers = [number_of(value) for value in values]
        whole = all(number is not None and number.is_integer() for number in numbers)
        if named or whole or (None in numbers and not _Look(domain).are_names()):
            found[name] = int(domain.rows.sum()) / len(domain.rows)
    return found


_UNTOLD = (ColumnKind.UNKNOWN, ColumnKind.MEASUREMENT)
_MAY_COUNT = (Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE)


def _one_row_each(
    table: Table,
    guesses: Mapping[str, Guess],
    keys: Mapping[str, float],
    drawn: tuple[Sequence[Column], CodeArray, IntArray],
) -> tuple[Sequence[Column], CodeArray, IntArray, PersonKey | None]:
    """Return the key of people, and one row of each: what tells what shows among people.

    Of a hundred people with fifty rows each, all that does not change of a person would tell all
    else that does not.
    """
    columns, codes, rows = drawn
    single = np.repeat(codes, np.minimum(rows, 3), axis=1)
    person = find_person(columns, single, keys, _traits(guesses))
    if person is None or not _is_confirmed(table, person):
        return columns, codes, rows, None
    at = next(i for i, column in enumerate(columns) if column.name == person.column)
    order = np.random.default_rng(0).permutation(codes.shape[1])
    first = order[np.unique(codes[at, order], return_index=True)[1]]
    return columns, codes[:, first], np.ones(len(first), dtype=np.int64), person


def _is_confirmed(table: Table, person: PersonKey) -> bool:
    """Return whether traits stay the same for a person in all rows, not only in some of them."""
    for name in person.steady[:2]:
        counts = table.count((person.column, name))
        known = np.ones(len(counts), dtype=bool)
        for column in counts.columns:
            known &= counts.codes_of(column.name) != column.missing
        who = counts.codes_of(person.column)[known]
        if not who.size or len(who) > _SAME_FOR_MOST * len(np.unique(who)):
            return False
    return True


_SAME_FOR_MOST = 1.1
"""At most a tenth of people may have a second value of what stays the same, by mistake."""


def _traits(guesses: Mapping[str, Guess]) -> Traits:
    """Return what columns say of a person by their names and values."""
    kinds: dict[ColumnKind, list[str]] = {}
    for name, each in guesses.items():
        kinds.setdefault(each.kind, []).append(name)
    births = [n for n in kinds.get(ColumnKind.DATE, []) if is_of_birth(n)]
    sexes = kinds.get(ColumnKind.SEX, [])
    times = [n for n in kinds.get(ColumnKind.DATE, []) if n not in births]
    times += [n for n, e in guesses.items() if e.kind is ColumnKind.TECHNICAL or is_occasion(n)]
    shared = [*kinds.get(ColumnKind.PLACE, []), *kinds.get(ColumnKind.TECHNICAL, [])]
    return Traits(
        fixed=[*sexes, *births, *kinds.get(ColumnKind.ORIGIN, [])],
        deciding=[*sexes, *births],
        ages=kinds.get(ColumnKind.AGE, []),
        times=times,
        shared=[*shared, *times],
    )


def _with_person(
    guesses: Mapping[str, Guess],
    person: PersonKey | None,
    columns: Sequence[Column],
    codes: CodeArray,
) -> dict[str, Guess]:
    """Return guesses in which the key of people, and other spellings of it, are identifiers."""
    found = dict(guesses)
    if person is None:
        return found
    at = next(i for i, column in enumerate(columns) if column.name == person.column)
    people = codes[at] != columns[at].missing
    n = int(people.sum())
    for column, code in zip(columns, codes, strict=True):
        name = column.name
        if name == person.column or guesses[name].kind not in _UNTOLD:
            continue
        # One row of each person is left: a copy is different in all of them.
        if n >= _MANY and len(np.unique(code[people])) >= 0.98 * n and _is_numbered_alike(column):
            reason = f"different for nearly every {person.column!r}: another number of a person"
            found[name] = Guess(Role.IDENTIFIER, reason, kind=ColumnKind.IDENTIFIER)
    mine = guesses[person.column]
    found[person.column] = Guess(
        Role.IDENTIFIER,
        f"{mine.reason.split(', ')[0].split(': ')[0]}, {person.reason}",
        certain=True,
        kind=ColumnKind.IDENTIFIER,
        person=True,
    )
    return found


def _is_numbered_alike(column: Column) -> bool:
    """Return whether values are whole numbers or codes rather than measurements."""
    values = column.known[:_LOOKED_AT]
    texts = [text_of(value) for value in values]
    if _kind(values, texts) == "decimals":
        return False
    return all(n is None or n.is_integer() for n in map(number_of, values))


def _may_be_told(found: Guess, domain: Domain) -> bool:
    return (
        found.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.PLAIN)
        and len(domain.rows) + (domain.missing > 0) > 1
    )


def _is_own(domain: Domain) -> bool:
    """Return whether a column is different in most of very many rows."""
    return len(domain.rows) > max(20_000, 0.5 * domain.total)


def with_relations(guesses: Mapping[str, Guess], relations: Relations) -> dict[str, Guess]:
    """Return guesses that leave out what other columns tell.

    What has a meaning of its own stays: who dies is told by a cause of death, and a state by a
    city, and neither is a copy of it.
    """
    found = dict(guesses)
    ranks = {name: _rank(each, at) for at, (name, each) in enumerate(guesses.items())}
    left_out = {
        name
        for name, told in relations.of.items()
        if any(_makes_needless(guesses, ranks, name, each) for each in told)
    }
    functions: dict[str, Relation] = {}
    for name, each in guesses.items():
        told = relations.of.get(name, ())
        kept = [relation for relation in told if left_out.isdisjoint(relation.of)]
        if name in left_out:
            needless = [r for r in kept if _makes_needless(guesses, ranks, name, r)]
            best = max(needless or told, key=lambda r: _likeness(name, r, guesses))
            kind = ColumnKind.COPY if best.both else ColumnKind.FUNCTION
            found[name] = Guess(Role.DROPPED, _told_by(best), kind=kind, of=best.of[0])
            if each.role is Role.QUASI_IDENTIFIER and _is_function(best):
                functions[name] = best
        elif each.role in (Role.PLAIN, Role.SENSITIVE):
            of = _known_telling(guesses, kept)
            if of is not None and meaning_of(name) is None:
                reason = f"a function of {of!r}, which determines it"
                found[name] = Guess(Role.DROPPED, reason, kind=ColumnKind.FUNCTION, of=of)
                relation = next(r for r in kept if r.of[0] == of)
                if guesses[of].kind in _KNOWN_KINDS and _is_function(relation):
                    # Who knows a school knows what is the same for all its pupils.
                    functions[name] = relation
    found = _treated_alike(found, relations)
    for name, relation in functions.items():
        of = _find_original(found, relation.of[0])
        if found[of].role is Role.QUASI_IDENTIFIER:
            # Generalised beside it, it costs nothing, and often stays where that does not.
            reason = f"{_told_by(relation)}: {_OTHERS_MAY_KNOW}. Told apart last"
            found[name] = guesses[name]._replace(
                role=Role.QUASI_IDENTIFIER,
                reason=reason,
                kind=ColumnKind.FUNCTION,
                of=of,
                known=None,
            )
    return _treated_alike(found, relations)


def _find_original(guesses: Mapping[str, Guess], name: str) -> str:
    """Return the column that a copy of a copy is one of, however often."""
    seen = {name}
    while guesses[name].role is Role.DROPPED and (of := guesses[name].of) and of not in seen:
        seen.add(name := of)
    return name


def _is_function(relation: Relation) -> bool:
    """Return whether it is one column that tells another exactly, and is not told by it."""
    one_way = not (relation.both or relation.nearly or relation.by_gap)
    return one_way and len(relation.of) == 1


def _treated_alike(guesses: Mapping[str, Guess], relations: Relations) -> dict[str, Guess]:
    """Return guesses in which whatever tells a quasi-identifier, or is told by one, is one too.

    Published exactly, it would undo what is done to the quasi-identifier, whatever it is itself.
    """
    found = dict(guesses)
    changed = True
    while changed:
        changed = False
        for name, told in relations.of.items():
            for relation in told:
                if relation.by_gap:
                    continue
                one = _find_exposed(found, (name, *relation.of))
                if one is None:
                    continue
                others = [n for n in (name, *relation.of) if found[n].role is Role.QUASI_IDENTIFIER]
                of, nearly = others[0], " nearly" * relation.nearly
                tells = "tells" if one == name else "is told by"
                with_it = " with others" * (len(relation.of) > 1)
                reason = f"{found[one].reason}. But {of!r}{nearly} {tells} it{with_it}"
                if one != name:
                    reason = f"{found[one].reason}. But it{nearly} tells {of!r}{with_it}"
                reason += f", and {_OTHERS_MAY_KNOW}"
                found[one] = found[one]._replace(
                    role=Role.QUASI_IDENTIFIER, reason=reason, of=of, known=None
                )
                changed = True
    return found


def _with_secrets(
    guesses: Mapping[str, Guess], relations: Relations, values: Mapping[str, int]
) -> dict[str, Guess]:
    """Return guesses in which what is there for those with a secret only is as secret.

    Who knew how many cigarettes a person smokes would know that the person smokes. So of a column
    that is not understood others know no more than of the one that it tells.
    """
    found = dict(guesses)
    for name, told in relations.of.items():
        secret = guesses[name]
        if secret.role is not Role.SENSITIVE or secret.kind not in _SECRET:
            continue
        for relation in told:
            of = relation.of[0]
            mine = guesses[of]
            unknown = mine.role is Role.QUASI_IDENTIFIER and mine.kind is ColumnKind.UNKNOWN
            if relation.by_gap and unknown and mine.of is None and values[of] <= _MOST_GRADES:
                facts = mine.reason.split(", meaning")[0]
                reason = f"{facts}, there only where {name!r} has one value: as secret as that. "
                reason += _NOT_TO_LEARN.capitalize()
                found[of] = Guess(
                    Role.SENSITIVE, reason, kind=secret.kind, missing=mine.missing, known=False
                )
    return found


_SECRET = (
    ColumnKind.HEALTH,
    ColumnKind.TREATMENT,
    ColumnKind.OUTCOME,
    ColumnKind.MEASUREMENT,
    ColumnKind.BELIEF,
)
_MOST_GRADES = 50
"""Of more values some may be those of a single person, and name it."""


def _find_exposed(guesses: Mapping[str, Guess], names: Sequence[str]) -> str | None:
    """Return the column that would be published exactly and undo a quasi-identifier's labels.

    Of two columns of which one tells the other, or of three of which two tell the third, one alone
    may be known to no more than its label.
    """
    roles = [guesses[name].role for name in names]
    if any(role not in _SHOWN for role in roles):
        # What is not published leaves nothing to compute from.
        return None
    if roles.count(Role.QUASI_IDENTIFIER) != 1:
        return None
    exact = [name for name in names if guesses[name].role is not Role.QUASI_IDENTIFIER]
    return min(exact, key=lambda name: (_ORDER.index(guesses[name].kind), name not in names[:1]))


_SHOWN = (Role.QUASI_IDENTIFIER, Role.PLAIN, Role.SENSITIVE)


def with_few_known(
    guesses: Mapping[str, Guess], relations: Relations, values: Mapping[str, int]
) -> dict[str, Guess]:
    """Return guesses with no more quasi-identifiers than can be protected together.

    The more there are, the less of each is left. Those of which it is known what they are stay. Of
    very many that are not understood, those with fewest values stay; published as they are, the
    others would single people out, so they are left out until someone says what they are.

    Args:
        guesses: The guesses.
        relations: What tells what. A column that a quasi-identifier tells stays one.
        values: How many values the columns have. Those with two, of one kind, count as one.
    """
    found = dict(guesses)
    things: set[str] = set()
    unsure = []
    for name, each in guesses.items():
        if each.role is not Role.QUASI_IDENTIFIER or each.kind is ColumnKind.FUNCTION:
            # What another one tells makes nobody rarer.
            continue
        if each.kind in _KNOWN_KINDS or _known_telling(guesses, relations.of.get(name, ())):
            things.add(each.kind.value if values.get(name, 0) <= 2 else f"column {name}")
        else:
            unsure.append(name)
    unsure.sort(key=lambda name: (_ORDER.index(guesses[name].kind), values.get(name, 0)))
    for name in unsure:
        each, flag = guesses[name], values.get(name, 0) <= 2
        thing = each.kind.value if flag and each.kind not in _VAGUE else f"column {name}"
        if thing in things or len(things) < _MOST_KNOWN:
            things.add(thing)
            continue
        reason = each.reason.removesuffix(f": {_OTHERS_MAY_KNOW}").removesuffix(
            f": to be safe, {_OTHERS_MAY_KNOW}"
        )
        reason += ", and too many columns are not understood to protect them together: say what it "
        reason += "is to keep it"
        found[name] = Guess(Role.DROPPED, reason)
    for name, each in guesses.items():
        of = each.of
        if each.kind is ColumnKind.FUNCTION and of and found[of].role is Role.DROPPED:
            reason = f"a function of {of!r}, which is left out"
            found[name] = Guess(Role.DROPPED, reason)
    return found


_MOST_KNOWN = 40
_VAGUE = (ColumnKind.UNKNOWN,)
_WIDELY_KNOWN = ("AGE", "SEX", "DATE", "ORIGIN", "PLACE", "FAMILY", "WORK", "BODY")
_ORDER = (
    *(ColumnKind[name] for name in _WIDELY_KNOWN),
    *(kind for kind in ColumnKind if kind.name not in _WIDELY_KNOWN),
)
"""Kinds of columns by how many people know them."""

_KNOWN_KINDS = frozenset(ColumnKind[name] for name in _WIDELY_KNOWN)


def _known_telling(guesses: Mapping[str, Guess], told: Sequence[Relation]) -> str | None:
    """Return the quasi-identifier that tells a column; None if there is none.

    Who knows the one knows the other. Published as it is it would narrow down a class.
    """
    for relation in told:
        exact = not relation.by_gap and not relation.nearly
        if exact and all(guesses[of].role is Role.QUASI_IDENTIFIER for of in relation.of):
            return relation.of[0]
    return None


def _told_by(relation: Relation) -> str:
    if len(relation.of) > 1:
        return (
            f"a sum or difference of {relation.of[0]!r} and {relation.of[1]!r}, which determine it"
        )
    if relation.nearly and relation.both:
        return f"nearly a copy of {relation.of[0]!r}: it would undo what is done to that"
    if relation.both:
        return f"a copy of {relation.of[0]!r} in other figures or words"
    return f"a function of {relation.of[0]!r}, which determines it"


def _rank(found: Guess, place: int) -> tuple[bool, bool, int]:
    """Return what is compared to choose which of two copies is kept: the lower one."""
    return (found.kind is ColumnKind.UNKNOWN, not found.certain, place)


def _makes_needless(  # noqa: PLR0911 - one for each kind of relation
    guesses: Mapping[str, Guess],
    ranks: Mapping[str, tuple[bool, bool, int]],
    name: str,
    relation: Relation,
) -> bool:
    """Return whether a column need not be published because others tell it."""
    mine, others = guesses[name], [guesses[other] for other in relation.of]
    if len(others) > 1 and mine.kind is ColumnKind.DATE:
        return _is_told_date(guesses, ranks, name, relation)
    if len(others) > 1 and relation.nearly:
        return False
    if len(others) > 1:
        # Any of the three is told by the other two: the one goes that means least.
        return ranks[name] > max(ranks[other] for other in relation.of) and (
            mine.kind is ColumnKind.UNKNOWN or all(each.kind is mine.kind for each in others)
        )
    alike = mine.kind is others[0].kind
    if relation.nearly and not relation.both:
        return False
    if relation.both:
        return ranks[name] > ranks[relation.of[0]] and (alike or mine.kind is ColumnKind.UNKNOWN)
    if mine.role is Role.QUASI_IDENTIFIER and mine.kind is ColumnKind.PLACE:
        return False
    return mine.kind is ColumnKind.UNKNOWN or (alike and mine.kind is not ColumnKind.OUTCOME)


def _is_told_date(
    guesses: Mapping[str, Guess],
    ranks: Mapping[str, tuple[bool, bool, int]],
    name: str,
    relation: Relation,
) -> bool:
    """Return whether a date need not be published beside another one and the time between them.

    The first date and a duration say what both dates do. A day of birth goes if there is an age.
    """
    dates = [of for of in relation.of if guesses[of].kind is ColumnKind.DATE]
    if len(dates) != 1:
        return False
    between = next(of for of in relation.of if of not in dates)
    aged = guesses[between].kind is ColumnKind.AGE
    births = [not _BIRTHS.isdisjoint(words(each)) for each in (name, dates[0])]
    return births[0] if aged and any(births) else ranks[name][-1] > ranks[dates[0]][-1]


def _likeness(name: str, relation: Relation, guesses: Mapping[str, Guess]) -> tuple[float, ...]:
    """Return how much a column looks like the one to name as what tells it."""
    of = relation.of[0]
    start = next((i for i, (a, b) in enumerate(zip(name, of, strict=False)) if a != b), len(of))
    return (start, not relation.nearly, guesses[of].kind is guesses[name].kind)


def _by_name(  # noqa: PLR0911 - one for each thing that a name says
    column: str, look: "_Look"
) -> Guess | None:
    """Return the guess that a column's name leads to; None if it says nothing that is borne out."""
    meaning, facts = meaning_of(column), look.facts()
    named = meaning is not None and meaning.role is Role.IDENTIFIER
    if not named and _is_numbered(column, look):
        reason = f"{facts}, called like a running number: looks like an identifier"
        return Guess(Role.IDENTIFIER, reason, certain=True, kind=ColumnKind.IDENTIFIER)
    said = meaning is not None or hint_of(column) is not None
    if said and not named and look.known >= _MANY and look.counts_rows():
        reason = f"{facts}, whole numbers that count the rows, whatever their name: "
        reason += _LIKE_IDENTIFIER
        return Guess(Role.IDENTIFIER, reason, kind=ColumnKind.IDENTIFIER)
    if has_word(column, "coordinates") and look.are_coordinates():
        reason = f"{facts}, looks like coordinates by its name: {_OTHERS_MAY_KNOW}"
        return Guess(Role.QUASI_IDENTIFIER, reason, certain=True, kind=ColumnKind.PLACE)
    treats = _who_treats(column, look)
    if treats is not None:
        return treats
    if is_attitude(column) and look.distinct <= _FEW:
        reason = f"{facts}, looks like an opinion by its name: {_NOT_TO_LEARN}"
        return Guess(Role.SENSITIVE, reason, certain=True, kind=ColumnKind.BELIEF)
    if named and has_word(column, "things") and not look.nearly_unique:
        reason = f"{facts}, called like the name or number of what several people share: "
        return Guess(Role.QUASI_IDENTIFIER, reason + _OTHERS_MAY_KNOW, kind=ColumnKind.PLACE)
    found = None if meaning is None else _guess_meaning(meaning, column, look, "name", certain=True)
    if found is not None:
        return found
    if is_of_birth(column) and look.distinct > _FEW and (look.kind == "date" or look.is_whole()):
        reason = f"{facts}, looks like a date of birth by its name: {_OTHERS_MAY_KNOW}"
        return Guess(Role.QUASI_IDENTIFIER, reason, certain=True, kind=ColumnKind.DATE)
    hint = hint_of(column)
    if hint is None or (hint.kind in _NAMED and look.distinct > _FEW and look.kind != "text"):
        return None
    return _guess_meaning(hint, column, look, "name", certain=hint.role is not Role.PLAIN)


def _who_treats(column: str, look: "_Look") -> Guess | None:
    """Return the guess for names or codes of those who treat people; None for anything else."""
    if not has_word(column, "physicians") or look.kind != "text" or look.is_flag():
        return None
    if look.has_names():
        reason = f"{look.facts()}, names of those who treat people"
        return Guess(Role.DROPPED, reason, kind=ColumnKind.FREE_TEXT)
    if not look.are_codes():
        return None
    reason = f"{look.facts()}, codes of those who treat people: {_OTHERS_MAY_KNOW}"
    return Guess(Role.QUASI_IDENTIFIER, reason, kind=ColumnKind.PLACE)


def _by_label(label: str, look: "_Look") -> Guess | None:
    """Return the guess that the label of a column leads to; None if it says nothing known."""
    if look.kind != "date" and not look.are_years():
        # In a sentence, the last year is no date.
        label = " ".join(word for word in words(label) if word not in _CALENDAR)
    meaning = meaning_of(label)
    if meaning is not None and meaning.role in (Role.IDENTIFIER, Role.DROPPED):
        # Whether a person has a telephone is a question, and no number.
        meaning = meaning if look.nearly_unique and look.known >= _ENOUGH else None
    for each in (meaning, hint_of(label)):
        found = None if each is None else _guess_meaning(each, label, look, "label", certain=True)
        if found is not None:
            return found
    return None


def _is_numbered(column: str, look: "_Look") -> bool:
    """Return whether a column is called like a number that is given out, and holds such."""
    whole = look.kind == "text" or (look.kind == "number" and look.is_whole())
    if not whole or look.is_flag():
        return False
    if counts_up(column) and look.nearly_unique:
        return True
    # People may have several rows, but no person has two numbers.
    of_people = key_of_people(column, identifier=False) is not Key.NONE
    if of_people or is_numbering(column):
        return look.distinct >= min(_ENOUGH, max(2, look.known // 2))
    return is_bare_number(column) and look.distinct >= max(_MANY, 0.05 * look.known)


def _guess_meaning(  # noqa: C901, PLR0911 - one for each way in which values contradict a name
    meaning: WordMeaning, name: str, look: "_Look", by: str, *, certain: bool
) -> Guess | None:
    """Return the guess that a meaning leads to if the values bear it out; None if they do not."""
    role, kind, facts = meaning.role, meaning.kind, look.facts()
    reason = f"{facts}, looks like {meaning.what} by its {by}"

    def found(role: Role, reason: str, kind: ColumnKind = kind) -> Guess:
        return Guess(role, reason, certain, kind)

    if role in (Role.IDENTIFIER, Role.DROPPED):
        of_one = is_of_a_person(name) or not FOR_NAMES.isdisjoint(words(name))
        named = look.kind == "text" and of_one
        if look.is_flag() or (meaning is NAMING and not (named or look.may_name_rows())):
            # It says whether there is one, or is a scale: pid is a party too.
            return None
        if role is Role.DROPPED and look.kind in ("number", "date"):
            # Marks at school are notes in other languages.
            return None
        return found(role, reason + ": it can name people" * (role is Role.DROPPED))
    if kind is ColumnKind.DATE and not _may_be_date(name, look):
        return _no_date(name, look, facts, by)
    if role is Role.SENSITIVE and look.kind == "date":
        what = f"{reason}, but holds dates: {_OTHERS_MAY_KNOW}"
        return found(Role.QUASI_IDENTIFIER, what, ColumnKind.DATE)
    if role is Role.SENSITIVE and look.kind == "text" and look.nearly_unique_for_sure:
        reason += ", but nearly every row has its own text, which would be a fingerprint"
        return found(Role.DROPPED, reason)
    if role is Role.SENSITIVE:
        return found(role, f"{reason}: {_NOT_TO_LEARN}")
    if kind is ColumnKind.WEIGHT:
        return _survey_weight(name, look, reason, certain=certain)
    if kind is ColumnKind.BODY:
        return _body(name, look, reason, certain=certain)
    if role is Role.PLAIN:
        few = look.distinct <= _FEW and not look.nearly_unique
        return found(role, f"{reason}: harmless") if few else None
    if (look.is_flag() or look.counts_from_none()) and not _HOSPITALS.isdisjoint(words(name)):
        what = f"{facts}, says by its {by} who was in hospital: {_NOT_TO_LEARN}"
        return found(Role.SENSITIVE, what, ColumnKind.HEALTH)
    if kind is ColumnKind.AGE and look.is_flag():
        return found(role, f"{facts}, looks like a class of ages by its {by}: {_OTHERS_MAY_KNOW}")
    return found(role, f"{reason}: {_OTHERS_MAY_KNOW}")


_NOT_TO_LEARN = "no adversary should learn it about a person"
_FEW = 20
_NAMED = (ColumnKind.SEX, ColumnKind.ORIGIN)
"""What has few values, unless they are names: numbers of it are scores or counts."""

_GROWS = frozenset({"loss", "gain", "change", "diff", "lost", "verlust", "zunahme", "perte"})
_OF_BODIES = frozenset({"weight", "bmi", "gewicht", "poids", "peso", "kg", "lbs"})
_SHORT = frozenset({"wt", "wts", "wgt", "wgts", "wght"})
"""Stand for weights of surveys and of bodies."""

_DEATHS = frozenset({
    "death", "died", "dead", "gestorben", "verstorben", "deces", "decede", "defuncion",
    "fallecimiento", "muerte", "dod",
})  # fmt: skip
_STAYS = frozenset({
    "admission", "admitted", "discharge", "discharged", "visit", "aufnahme", "entlassung",
    "entree", "sortie",
})  # fmt: skip
_BIRTHS = frozenset({
    "birth", "born", "geburt", "geboren", "naissance", "nacimiento", "dob", "birthday",
})  # fmt: skip
_EVENTS = _DEATHS | _STAYS | _BIRTHS
_MOST_DAYS, _CLOSE = 40_000, 0.005
_AMOUNTS_TO = 200
"""Larger numbers are no ages, no years of schooling and no hours of a week."""

_FIRST_DAY = 1000
"""Numbers of days since 1900, 1960 or 1970 are larger than this."""

_NAMED_DAYS = frozenset({
    "jan", "feb", "fev", "mar", "apr", "avr", "abr", "may", "mai", "jun", "jui", "jul", "aug",
    "aou", "ago", "sep", "oct", "okt", "nov", "dec", "dez", "dic", "ene", "mon", "tue", "wed",
    "thu", "fri", "sat", "sun", "die", "mit", "don", "fre", "sam", "son", "lun", "mer", "jeu",
    "ven", "dim", "mie", "jue", "vie", "sab", "dom", "win", "spr", "sum", "aut", "fal", "fru",
    "som", "her", "pri", "ete", "inv", "ver", "oto",
})  # fmt: skip
"""How months, days of the week and seasons begin."""

_HOSPITALS = frozenset({"hospital", "clinic", "klinik", "hopital", "ward"})
_CALENDAR = frozenset({
    "date", "datum", "fecha", "year", "yr", "month", "mon", "day", "jahr", "monat", "tag",
    "annee", "mois", "jour", "ano", "mes", "dia", "timestamp", "quarter",
})  # fmt: skip


def _may_be_date(name: str, look: "_Look") -> bool:
    """Return whether values may be days, years or parts of dates, as far as a name needs it."""
    if look.kind == "date":
        return True
    said = frozenset(words(name))
    if look.is_flag() or look.are_words_only():
        return False
    months = any(word.endswith(("month", "monat", "mois")) for word in said)
    if months and look.numbers and 12 < look.numbers[-1] < _FIRST_DAY:
        # How many months something took.
        return False
    if said.isdisjoint(_EVENTS) or not said.isdisjoint(_CALENDAR):
        return True
    return look.are_years() or look.are_day_numbers()


def _no_date(name: str, look: "_Look", facts: str, by: str) -> Guess | None:
    """Return the guess for what is called like a date of a life, and holds none."""
    said = frozenset(words(name))
    if not said.isdisjoint(_DEATHS):
        reason = f"{facts}, says by its {by} who died: {_NOT_TO_LEARN}"
        return Guess(Role.SENSITIVE, reason, certain=True, kind=ColumnKind.OUTCOME)
    if not said.isdisjoint(_STAYS):
        reason = f"{facts}, looks like the use of health care by its {by}: {_NOT_TO_LEARN}"
        return Guess(Role.SENSITIVE, reason, certain=True, kind=ColumnKind.HEALTH)
    if not said.isdisjoint(_BIRTHS):
        reason = f"{facts}, is about a birth by its {by}: {_OTHERS_MAY_KNOW}"
        return Guess(Role.QUASI_IDENTIFIER, reason, kind=ColumnKind.ORIGIN)
    hint = hint_of(name)
    if hint is not None and hint.kind is not ColumnKind.DATE:
        return _guess_meaning(hint, name, look, by, certain=True)
    return None


def _survey_weight(name: str, look: "_Look", reason: str, *, certain: bool) -> Guess | None:
    """Return the guess for what is called like a weight of a survey, by its numbers."""
    said = frozenset(words(name))
    if not said.isdisjoint(_GROWS) or look.is_flag():
        return None
    if not said.isdisjoint(_SHORT) and look.are_of_bodies():
        reason = f"{look.facts()}, looks like weights of bodies: {_NOT_TO_LEARN}"
        return Guess(Role.SENSITIVE, reason, certain, ColumnKind.MEASUREMENT)
    if look.are_weights():
        reason += ": all rows of a class get the mean of theirs"
        return Guess(Role.WEIGHT, reason, certain, ColumnKind.WEIGHT)
    if not said.isdisjoint(_SHORT):
        return None
    reason += f", but not all are numbers of 0 or more: {_OTHERS_MAY_KNOW}"
    return Guess(Role.QUASI_IDENTIFIER, reason, certain, ColumnKind.WEIGHT)


def _body(name: str, look: "_Look", reason: str, *, certain: bool) -> Guess | None:
    """Return the guess for what is about bodies: others see some of it, and weigh no person."""
    said, numbers = frozenset(words(name)), look.numbers
    if not said.isdisjoint(_OF_BODIES):
        if numbers and "bmi" not in said and look.are_weights() and _weighs_people(numbers):
            reason = f"{look.facts()}, a weight by its name, and spread as no bodies are: looks "
            reason += "like one of a survey: all rows of a class get the mean of theirs"
            return Guess(Role.WEIGHT, reason, certain, ColumnKind.WEIGHT)
        return Guess(Role.SENSITIVE, f"{reason}: {_NOT_TO_LEARN}", certain, ColumnKind.MEASUREMENT)
    if numbers and (look.is_flag() or not 0.4 <= min(numbers) <= max(numbers) <= 300):
        return None
    return Guess(Role.QUASI_IDENTIFIER, f"{reason}: {_OTHERS_MAY_KNOW}", certain, ColumnKind.BODY)


def _weighs_people(numbers: Sequence[float]) -> bool:
    """Return whether numbers say for how many people each stands: 1 on average, or far apart.

    >>> _weighs_people([0.4, 0.8, 1.8]), _weighs_people([54, 71, 96]), _weighs_people([2100, 3900])
    (True, False, False)
    >>> _weighs_people([150, 900, 2400, 12000])
    True
    """
    mean = fmean(numbers)
    return 0.9 <= mean <= 1.1 or (numbers[-1] > 1000 and pstdev(numbers) > 0.5 * mean)


def _by_values(look: "_Look") -> Guess:  # noqa: PLR0911 - one for each thing that values show
    facts = look.facts()
    if look.is_running_number() or look.is_assigned():
        gapless = "whole numbers without gaps: looks like a row number"
        what = gapless if look.is_running_number() else f"{_NO_CHANCE}: {_LIKE_IDENTIFIER}"
        return Guess(Role.IDENTIFIER, f"{facts}, {what}", kind=ColumnKind.IDENTIFIER)
    if look.are_names() or (look.kind == "text" and look.nearly_unique):
        what = "the values look like names of people" if look.are_names() else _LIKE_IDENTIFIER
        return Guess(Role.IDENTIFIER, f"{facts}: {what}", kind=ColumnKind.IDENTIFIER)
    dated = date_numbers(look.numbers) or look.counts_of_days()
    if dated is not None:
        reason = f"{facts}, {dated} by its values: {_OTHERS_MAY_KNOW}"
        return Guess(Role.QUASI_IDENTIFIER, reason, kind=ColumnKind.DATE)
    if look.is_long_number() and look.nearly_unique_for_sure:
        reason = f"{facts}, long numbers of one length: looks like an identifier"
        return Guess(Role.IDENTIFIER, reason, kind=ColumnKind.IDENTIFIER)
    if look.nearly_unique_for_sure and look.are_telephone_numbers():
        reason = f"{facts}, whole numbers as long as telephone numbers are: {_LIKE_IDENTIFIER}"
        return Guess(Role.IDENTIFIER, reason, kind=ColumnKind.IDENTIFIER)
    if look.kind == "date":
        return Guess(
            Role.QUASI_IDENTIFIER, f"{facts}, dates: {_OTHERS_MAY_KNOW}", kind=ColumnKind.DATE
        )
    kind = look.said_by_values()
    if kind is not None:
        known = kind not in (ColumnKind.HEALTH, ColumnKind.BELIEF)
        why = _OTHERS_MAY_KNOW if known else _NOT_TO_LEARN
        role = Role.QUASI_IDENTIFIER if known else Role.SENSITIVE
        return Guess(role, f"{facts}, looks like {kind.value} by its values: {why}", kind=kind)
    return _not_understood(look)


def _not_understood(look: "_Look") -> Guess:
    """Return the guess for a column of which neither its name nor its values say what it is.

    What few values have, or whole numbers, others may have seen or counted: published as it is,
    it would single people out. Only who measured a figure with decimals knows it so exactly.
    """
    facts = look.facts()
    if look.nearly_unique_for_sure and look.known >= _MANY and look.are_given_out():
        reason = f"{facts}, whole numbers spread evenly: {_LIKE_IDENTIFIER}"
        return Guess(Role.IDENTIFIER, reason, kind=ColumnKind.IDENTIFIER)
    if look.may_be_ages():
        reason = f"{facts}, may be ages with decimals: to be safe, {_OTHERS_MAY_KNOW}"
        return Guess(Role.QUASI_IDENTIFIER, reason)
    if look.are_measured():
        reason = f"{facts}, a measurement: {_NOT_TO_LEARN}"
        return Guess(Role.SENSITIVE, reason, kind=ColumnKind.MEASUREMENT)
    if look.are_many_names():
        reason = f"{facts}, codes or names of many things: to be safe, {_OTHERS_MAY_KNOW}"
        return Guess(Role.QUASI_IDENTIFIER, reason)
    reason = f"{facts}, meaning unknown: to be safe, {_OTHERS_MAY_KNOW}"
    return Guess(Role.QUASI_IDENTIFIER, reason)


# What finds a person by itself if it is published as it is.


def identifying(domain: Domain) -> str | None:
    """Return why a column names or finds people by itself as it is; None if it does not.

    A role is guessed on the safe side, for a policy that is read. This answer refuses a release,
    so it needs more than that: a name that is borne out by the values, values that speak for
    themselves, or a value of its own for every one of many people. A measurement, a survey weight
    or a date of a visit may be different in every row too. They single people out, but only those
    of whom the figure is known; they are no identifiers.

    >>> from sfumato.tables import open_table
    >>> import pyarrow as pa
    >>> table = pa.table({"x7": ["Anna Koch", "Tom Fox", "Eva May"], "dose": [0.17, 0.32, 0.55]})
    >>> found = open_table(table).domains(["x7", "dose"])
    >>> identifying(found["x7"]), identifying(found["dose"])
    ('different in every row: the values look like names of people', None)
    """
    if not domain.rows.size:
        return None
    look, meaning = _Look(domain), meaning_of(domain.column)
    signs = {
        **_signs_of_names(domain.column, look, meaning),
        ", whole numbers without gaps: looks like a row number": look.is_running_number(_ENOUGH),
        **_signs_of_life(domain.column, look, meaning),
        **_signs_of_one_each(look, named=meaning is not None),
    }
    return _first_of(signs, look)


def naming(domain: Domain) -> str | None:
    """Return why the values of a sensitive column name people; None if they do not.

    A sensitive figure may be different in every row and name no person. A name may be meant as
    something that should not become known, and is published as it is.

    >>> from sfumato.tables import open_table
    >>> import pyarrow as pa
    >>> table = pa.table({"mail": ["ann@x.org", "bob@x.org"], "pay": [51_000, 38_500]})
    >>> found = open_table(table).domains(["mail", "pay"])
    >>> naming(found["mail"]), naming(found["pay"])
    ('different in every row: the values look like e-mail addresses', None)
    """
    if not domain.rows.size:
        return None
    look, meaning = _Look(domain), meaning_of(domain.column)
    return _first_of(_signs_of_names(domain.column, look, meaning), look)


def _first_of(signs: Mapping[str, bool], look: "_Look") -> str | None:
    reason = next((text for text, is_so in signs.items() if is_so), None)
    return None if reason is None else f"{look.facts()}{reason}"


def _signs_of_names(column: str, look: "_Look", meaning: WordMeaning | None) -> dict[str, bool]:
    """Return whether values name people by what they are, or by what their column is called."""
    pattern = look.pattern()
    return {
        f": the values look like {pattern}": pattern is not None,
        ", long texts: free text can name people": look.is_free_text(),
        ": the values look like names of people": look.are_names(surely=meaning is not None),
        **_signs_by_name(column, look, meaning),
    }


def _signs_by_name(column: str, look: "_Look", meaning: WordMeaning | None) -> dict[str, bool]:
    """Return what a column's name says, each with whether the values bear it out.

    A column may be called phone and say whether there is one, or user and say of which kind.
    """
    if meaning is not None and meaning.role is Role.IDENTIFIER:
        names = meaning.what.endswith("name") or not FOR_NAMES.isdisjoint(words(column))
        few = 5 if names else _ENOUGH
        many = look.distinct >= min(few, max(2, look.known // 2)) and look.kind != "date"
        # The name or number of a hospital comes back; that of every row does not.
        own = look.nearly_unique or is_of_a_person(column)
        # How often a website was visited is no address.
        counted = meaning.what.endswith("address") and look.kind == "number"
        return {f", looks like {meaning.what} by its name": many and own and not counted}
    if meaning is not None and meaning.role is Role.DROPPED:
        notes = look.kind == "text" and look.distinct >= 0.5 * look.known and look.length >= 15
        return {f", looks like {meaning.what} by its name: it can name people": notes}
    whole = look.kind == "text" or (look.kind == "number" and look.is_whole())
    numbered = look.nearly_unique and look.known >= 5 and whole
    return {
        ", called like a running number: looks like an identifier": counts_up(column) and numbered
    }


def _signs_of_life(column: str, look: "_Look", meaning: WordMeaning | None) -> dict[str, bool]:
    """Return whether a column holds days of births and deaths, or places of homes."""
    exact = look.distinct >= 2 and look.years is not None and look.tells_days()
    life, place = has_word(column, "days of a life"), has_word(column, "coordinates")
    unnamed = meaning is None and exact and look.spans_lifetimes()
    return {
        ", exact days of births or deaths: registers and notices have them": life and exact,
        ", exact days over many years: they look like dates of birth": unnamed,
        ", looks like coordinates, which lead to a home": place and look.are_coordinates(),
    }


def _signs_of_one_each(look: "_Look", *, named: bool) -> dict[str, bool]:
    """Return what values may be that are different in nearly every one of many rows.

    Args:
        look: What the values show.
        named: Whether the name of the column says what it is. Then they must be codes.
    """
    if named or not look.nearly_unique_for_sure:
        codes = look.known >= _MANY and look.alone == look.known and look.are_codes()
        return {": codes, looks like an identifier": codes}
    # Of a hundred amounts of money two are equal; those of a few dozen people may all differ.
    many = look.known >= _MANY
    every = many and look.alone == look.known
    long = look.is_long_number() and (many or look.length >= 7)
    return {
        f", {_NO_CHANCE}: {_LIKE_IDENTIFIER}": look.is_assigned(),
        ": looks like an identifier": look.kind == "text",
        ", long numbers of one length: looks like an identifier": long,
        ", whole numbers: looks like a number given to one person": every and look.is_whole(),
    }


_NEVER_A_VALUE = frozenset(("", ".", "?", "#N/A", "#NULL!", "NULL"))
_NO_VALUE = _NEVER_A_VALUE | {"-", "--", "NA", "N/A", "n/a", "na", "NaN", "nan", "null", "None"}
"""What stands for a value that is not known; the latter do so beside numbers."""


def _is_sign(text: str) -> bool:
    return text.strip() in _NO_VALUE


class _Look:
    """What a few values, and how often each occurs, show."""

    def __init__(self, domain: Domain, variable: Variable | None = None) -> None:
        self._labels = {} if variable is None or variable.category else variable.labels
        self.distinct = len(domain.rows)
        self.known = int(domain.rows.sum())
        """Rows with a value."""

        self.alone = int(np.count_nonzero(domain.rows == 1))
        """Rows with a value that no other row has."""

        self._domain = domain
        self.missing = domain.missing
        self._sample = domain.values(_LOOKED_AT)
        self._texts = [text_of(value) for value in self._sample]
        self.kind = _kind(self._sample, self._texts)
        self.nearly_unique = self.known >= 2 and self.alone >= _NEARLY_ALL * self.known
        self.nearly_unique_for_sure = self.nearly_unique and self.known >= _ENOUGH

    def facts(self) -> str:
        """Return in a few words how the values are spread."""
        if self.alone == self.known > 1:
            facts = "different in every row"
        elif self.nearly_unique:
            share = percent(self.alone / self.known)
            facts = f"unique for {share} of rows" if self.missing == 0 else f"{share} unique"
        else:
            facts = f"{format_integer(self.distinct)} distinct value{'s' * (self.distinct != 1)}"
        if self.missing:
            facts += f", {percent(self.missing / (self.known + self.missing))} missing"
        return facts

    def pattern(self) -> str | None:
        """Return what most of the texts are, if it is something that names people."""
        if self.kind == "date":
            return None
        texts = [text.strip() for text in self._texts]
        most_others = len(texts) - ceil(0.8 * len(texts))
        for what, form in _PATTERNS.items():
            others = (True for text in texts if form.fullmatch(text) is None)
            # As soon as there are too many others, it is not this one.
            if sum(islice(others, most_others + 1)) <= most_others:
                return what
        return None

    @cached_property
    def numbers(self) -> list[float]:
        """The numbers among some of the values, in order; empty if others are among them."""
        found = [number_of(value) for value in self._sample]
        if None in found and self.kind == "decimals":
            found = [_figure_of(text) for text in self._texts]
        return [] if None in found else sorted(n for n in found if n is not None)

    @cached_property
    def _spelt(self) -> tuple[str, ...]:
        """Some of the values as people say them: small letters, and blanks between words."""
        return tuple(map(_spell, self._texts))

    def is_flag(self) -> bool:
        """Return whether the values say yes or no."""
        texts = {text.strip().casefold() for text in self._texts}
        return len(texts) <= 2 and texts <= _FLAGS

    def counts_from_none(self) -> bool:
        """Return whether whole numbers say how often something was: never, most of them."""
        numbers = self.numbers
        few = bool(numbers) and self.distinct <= _FEW and self.is_whole() and numbers[0] == 0
        return few and int(self._domain.rows.max()) == self._rows_of(0)

    def _rows_of(self, number: float) -> int:
        numbers = map(number_of, self._domain.values())
        rows = self._domain.rows.tolist()
        return sum(n for n, each in zip(rows, numbers, strict=True) if each == number)

    def are_words_only(self) -> bool:
        """Return whether texts have no digits and name neither months nor days of the week."""
        if self.kind != "text" or self.length < 4:
            return False
        dated = [
            any(map(str.isdigit, text)) or spelt[:3] in _NAMED_DAYS
            for text, spelt in zip(self._texts, self._spelt, strict=True)
        ]
        return 2 * sum(dated) < len(dated)

    def may_name_rows(self) -> bool:
        """Return whether there are enough different values to be numbers of people or things."""
        least = min(_ENOUGH, max(2, self.known // 2))
        return self.distinct >= least or (self.kind == "text" and self.are_names())

    def are_years(self) -> bool:
        """Return whether the values are years, written in four digits."""
        numbers = self.numbers
        whole = bool(numbers) and all(number.is_integer() for number in numbers)
        return whole and self.distinct > 2 and 1850 <= numbers[0] <= numbers[-1] <= 2100

    def are_parts_of_years(self) -> bool:
        """Return whether the values are quarters or months of years, such as 1977 Q1 or 3/2001."""
        hits = sum(_PART_OF_YEAR.fullmatch(text.strip()) is not None for text in self._texts)
        return self.distinct > 2 and hits >= _NEARLY_ALL * len(self._texts)

    def are_day_numbers(self) -> bool:
        """Return whether whole numbers may count the days since some day long ago."""
        numbers = self.numbers
        return self.distinct > 31 and self.is_whole() and numbers[0] >= _FIRST_DAY

    def are_of_bodies(self) -> bool:
        """Return whether numbers are spread as weights of bodies are, in kilograms or pounds."""
        numbers = self.numbers
        if len(numbers) < _ENOUGH or self.kind == "date":
            return False
        tail = len(numbers) // 20
        middle = numbers[tail : len(numbers) - tail]
        return 25 <= middle[0] <= middle[-1] <= 400 and 0.05 <= pstdev(middle) / fmean(middle) < 0.4

    def counts_of_days(self) -> str | None:
        """Return why whole numbers count days; None if nothing shows that."""
        if self.kind != "number" or not self.is_whole() or self.distinct > _MOST_DAYS:
            return None
        numbers = [number_of(value) for value in self._domain.values()]
        return day_counts([n for n in numbers if n is not None], self._domain.rows.tolist())

    def are_telephone_numbers(self) -> bool:
        """Return whether whole numbers are as long as those of telephones or accounts.

        Stored as numbers, they have lost the zero or the plus in front.
        """
        numbers = self.numbers
        return bool(numbers) and self.is_whole() and 1e7 <= numbers[len(numbers) // 20] <= 1e16

    def are_given_out(self) -> bool:
        """Return whether whole numbers are spread as evenly as those that are given out are.

        Amounts crowd at the low end: their middle is far below the middle of their range.
        """
        numbers = self.numbers
        if not numbers or not self.is_whole():
            return False
        tail = len(numbers) // 50
        low, middle, high = numbers[tail], numbers[len(numbers) // 2], numbers[-1 - tail]
        if high <= low or numbers[0] < 0:
            return False
        return 0.3 <= (middle - low) / (high - low) <= 0.7 and not self._are_round()

    def _are_round(self) -> bool:
        """Return whether most whole numbers end with 0, as amounts and measurements do."""
        ends = [number % 10 == 0 for number in self.numbers]
        return 3 * sum(ends) > len(ends)

    def are_measured(self) -> bool:
        """Return whether there are many different numbers, and decimals among them."""
        if self.kind not in ("number", "decimals"):
            return False
        if self.kind == "number" and self.is_whole():
            return self._are_amounts()
        return self.distinct > _FEW and self.distinct > 0.02 * self.known

    def _are_amounts(self) -> bool:
        """Return whether whole numbers begin near 0 and are many: days until something, figures.

        Others do not know them exactly. Days of a calendar begin far from 0, and ages end early.
        """
        numbers = self.numbers
        if len(numbers) < 2 or not numbers[-1] > _AMOUNTS_TO:
            return False
        # Of groups with a number, hardly any has one row.
        many = self.distinct > min(_MANY, 0.4 * self.known) and self.alone > 0.1 * self.distinct
        return many and abs(numbers[0]) <= 0.05 * numbers[-1] and not self.is_long_number()

    def may_be_ages(self) -> bool:
        """Return whether numbers with decimals are spread as widely as ages of people are."""
        numbers = self.numbers
        if len(numbers) < _ENOUGH or self.kind == "date" or self.is_whole():
            return False
        tail = len(numbers) // 50
        middle = numbers[tail : len(numbers) - tail]
        if not (middle[0] >= 0 and 50 <= middle[-1] <= 105 and 8 <= pstdev(middle) <= 30):
            return False
        # Of days or months that were divided, or with few decimals; others were measured.
        decimals = max(map(_count_decimals, self._texts))
        return any(_are_divided(middle, by, decimals) for by in (100, 12, 365.25, 365))

    def are_many_names(self) -> bool:
        """Return whether values are names or codes of more things than are told apart by ranks."""
        if self.kind == "text":
            return self.distinct > _THINGS_NAMED
        return self.known >= _ENOUGH and self.distinct >= 10 and self.is_long_number()

    def said_by_values(self) -> ColumnKind | None:
        """Return what the values themselves say that they are; None if they do not."""
        if self.are_years() or self.are_parts_of_years():
            return ColumnKind.DATE
        labelled = tuple(_spell(self._labels[t]) for t in self._texts if t in self._labels)
        if self.kind != "text" and 2 * len(labelled) < len(self._texts):
            return None
        spelt = self._spelt if self.kind == "text" else labelled
        for kind, form in _SAID.items():
            if kind is ColumnKind.SEX and self.distinct > _MOST_SEXES:
                # Codes such as m26 begin with such a letter, too.
                continue
            hits = sum(form.search(text) is not None for text in spelt)
            if hits >= max(2, 0.6 * len(spelt)):
                return kind
        codes = [_ICD.fullmatch(text.strip()) for text in self._texts]
        letters = {found[0][0] for found in codes if found}
        if len(letters) >= 2 and sum(map(bool, codes)) >= max(3, 0.8 * len(codes)):
            return ColumnKind.HEALTH
        places = sum(text in _frequent_places() for text in spelt)
        return ColumnKind.PLACE if places >= max(2, 0.6 * len(spelt)) else None

    def codes_of_missing(self, labels: Mapping[str, str]) -> tuple[Value, ...]:
        """Return values that stand for a missing one: blanks and signs such as `.`, and numbers.

        That a number does, its label says, or a wide gap beside it.

        Args:
            labels: What the dictionary of a file says of each code.
        """
        signs = self._signs_of_missing
        if signs:
            return signs
        if self.kind != "number" or self.distinct > _LOOKED_AT:
            return ()
        said = {code for code, label in labels.items() if _NO_ANSWER.search(_plain(label))}
        found = [v for v, text in zip(self._sample, self._texts, strict=True) if text in said]
        rest = sorted({n for n in self.numbers if n not in {number_of(v) for v in found}})
        codes: set[float] = set()
        if len(rest) > 2 and self.is_whole():
            rows = dict(zip(map(number_of, self._sample), self._domain.rows.tolist(), strict=True))
            codes = _beyond_gap(rest) | _spikes(rest, [rows[number] for number in rest])
        return tuple(value for value in self._sample if value in found or number_of(value) in codes)

    @property
    def _signs_of_missing(self) -> tuple[Value, ...]:
        """The values that are blanks, or signs that people and programs write for no value."""
        signs = [v for v, text in zip(self._sample, self._texts, strict=True) if _is_sign(text)]
        rest = [text for text in self._texts if not _is_sign(text)]
        if len(rest) < 2:
            return ()
        if not all(number_of(text) is not None for text in rest):
            # Beside words a dash or NA may be a word, too.
            signs = [sign for sign in signs if text_of(sign).strip() in _NEVER_A_VALUE]
        return tuple(signs)

    def are_weights(self) -> bool:
        """Return whether every row has a number of 0 or more, and not all of them are 0."""
        numbers = [number_of(value) for value in self._domain.values()]
        known = [each for each in numbers if each is not None]
        return not self.missing and len(known) == len(numbers) and min(known) >= 0 < max(known)

    def are_codes(self) -> bool:
        """Return whether the texts are short and have digits among other characters."""
        digits = [any(map(str.isdigit, text)) for text in self._texts]
        return self.kind == "text" and sum(digits) >= 0.8 * len(digits) and self.length < 30

    @cached_property
    def length(self) -> float:
        """The average length of the texts."""
        return fmean(len(text) for text in self._texts)

    def is_free_text(self) -> bool:
        """Return whether the texts are sentences, which are long, and few of which occur twice."""
        if self.kind != "text" or self.distinct < 0.5 * self.known:
            return False
        long = self.length >= 30 and fmean(t.count(" ") for t in self._texts) >= 5
        return self.length >= 100 or long

    def names_someone(self, least: int = 2) -> bool:
        """Return whether some texts have a name after a title, as in: seen by Dr. Weiss."""
        if self.kind != "text":
            return False
        hits = sum(_TITLED.search(text) is not None for text in self._texts)
        return hits >= (least if least == 1 else max(least, 0.01 * len(self._texts)))

    def are_names(self, *, surely: bool = False) -> bool:
        """Return whether the texts are names of people, by frequent names or by their form.

        Args:
            surely: Whether nearly all must be, because the column's name says something else.
        """
        if self.kind != "text":
            return False
        # Of a sort of ketchup with a number, the word may be a name too.
        spelt = [() if any(map(str.isdigit, text)) else words(text) for text in self._texts]
        known = [not _frequent_names().isdisjoint(each) for each in spelt]
        hits = sum(known)
        few = 3 if surely else 2
        if hits >= max(few, (0.8 if surely else 0.5) * len(spelt)):
            return True
        if surely or self.known < _ENOUGH or self.distinct < 0.5 * self.known:
            return False
        formed = sum(_NAME.fullmatch(text.strip()) is not None for text in self._texts)
        # Names of places or illnesses have this form too; they come back, and no Ann is there.
        return formed >= 0.8 * len(spelt) and hits >= 0.1 * len(spelt)

    def has_names(self) -> bool:
        """Return whether some of the texts are, or hold, a frequent name of a person."""
        if self.kind != "text":
            return False
        hits = sum(not _frequent_names().isdisjoint(words(text)) for text in self._texts)
        return hits >= max(1, 0.1 * len(self._texts))

    def is_running_number(self, least: int = 5) -> bool:
        """Return whether the values count the rows: each once, at steady steps.

        Args:
            least: In fewer rows it is no sign of anything.
        """
        if self.alone < self.known or self.known < least:
            return False
        numbers = _whole(self._sample)
        if numbers is None:
            return False
        if self.distinct <= len(numbers):
            gaps = {b - a for a, b in pairwise(numbers)}
            if len(gaps) == 1:
                return True
        return self.known >= _ENOUGH and numbers[-1] - numbers[0] < 1.2 * self.distinct

    def is_assigned(self) -> bool:
        """Return whether whole numbers were given out one by one: by chance some would be equal.

        Of n numbers that are drawn from R, however unevenly, n²/2R pairs or more are equal on
        average. If that is ten and none is, they were not drawn.
        """
        numbers = _whole(self._sample) if self.alone == self.known else None
        if numbers is None or self.known < _ENOUGH:
            return False
        tail = len(numbers) // 20
        spread = numbers[len(numbers) - 1 - tail] - numbers[tail] + 1
        return (0.9 * self.known) ** 2 >= 2 * 10 * spread

    def counts_rows(self) -> bool:
        """Return whether whole numbers that are no dates are different in every row, and close."""
        if self.kind != "number" or self.alone < self.known:
            return False
        return self.is_running_number() or (self.is_assigned() and self.are_given_out())

    def is_whole(self) -> bool:
        """Return whether the values are whole numbers."""
        return _whole(self._sample) is not None

    def is_long_number(self) -> bool:
        """Return whether the values are whole numbers of many and equally many digits."""
        lengths = set(map(len, self._texts))
        return self.is_whole() and len(lengths) == 1 and max(lengths) >= 5

    def is_of_a_region(self) -> bool:
        """Return whether half of the numbers are close to each other, for their size."""
        n = len(self.numbers)
        if n < 4:
            return False
        low, middle, high = (self.numbers[n * i // 4] for i in (1, 2, 3))
        return abs(middle) >= 5 * (high - low) > 0

    def are_coordinates(self, decimals: int = 3) -> bool:
        """Return whether the values are angles with decimals enough to find a street."""
        angles = bool(self.numbers) and all(abs(number) <= 180 for number in self.numbers)
        exact = [_count_decimals(text) >= decimals for text in self._texts]
        return angles and sum(exact) >= 0.5 * len(exact) and self.distinct >= 2

    @cached_property
    def years(self) -> list[int] | None:
        """The years of the values, if they are days; None if they are not."""
        years = [_year(value) for value in self._sample]
        return None if None in years else [year for year in years if year is not None]

    def tells_days(self) -> bool:
        """Return whether dates tell the day: not all are the first of a month."""
        firsts = [_first_of_month(text) for text in self._texts]
        return sum(firsts) < 0.8 * len(firsts)

    def spans_lifetimes(self) -> bool:
        """Return whether the days are spread over more years than visits are."""
        if self.years is None or self.distinct < _ENOUGH:
            return False
        years = sorted(self.years)
        return years[-1 - len(years) // 20] - years[len(years) // 20] > _LIFETIME


def _are_divided(numbers: Sequence[float], by: float, decimals: int) -> bool:
    """Return whether numbers are whole ones that were divided, and rounded afterwards.

    >>> _are_divided([20.786, 61.248], 365.25, 3), _are_divided([20.786, 61.248], 365.25, 4)
    (True, False)
    """
    off = min(0.5 * 10.0**-decimals * by + _CLOSE, _MOST_OFF)
    hits = sum(abs(n * by - round(n * by)) < off for n in numbers)
    return hits >= _NEARLY_ALL * len(numbers)


_MOST_OFF = 0.2
"""Of any numbers two fifths are as close as that to a whole one."""


def _beyond_gap(numbers: Sequence[float]) -> set[float]:
    """Return the codes of missing values at either end of different numbers in order.

    >>> sorted(_beyond_gap([-9, 0, 1, 2])), sorted(_beyond_gap([18, 44, 71, 998, 999]))
    ([-9], [998, 999])
    >>> _beyond_gap([-3, -2, 0, 4]), _beyond_gap([90, 95, 99])
    (set(), set())
    """
    low = [number for number in numbers if number < 0]
    rest = [number for number in numbers if number >= 0]
    found: set[float] = set()
    if low and rest and _NEGATIVE_CODES.issuperset(low):
        # A difference may be -3 too; beside many numbers above 0 it would have more company.
        apart = rest[0] - low[-1] > rest[-1] - rest[0] or rest[-1] >= 10 * max(2, -low[-1])
        found = set(low) if apart else set()
    rest = [number for number in numbers if number not in found]
    high = [number for number in rest if number in _POSITIVE_CODES]
    below = [number for number in rest if number not in _POSITIVE_CODES]
    if high and len(below) > 1 and high[0] - below[-1] > max(2, below[-1] - below[0]):
        found |= set(high)
    return found


def _spikes(numbers: Sequence[float], rows: Sequence[int]) -> set[float]:
    """Return the codes at either end that stand apart, and that far more rows have than others.

    >>> ages = list(range(18, 91))
    >>> _spikes([*ages, 99], [*([5] * len(ages)), 60]), _spikes([*ages, 99], [5] * 74)
    ({99}, set())
    >>> _spikes([-9, *ages], [3, *([5] * len(ages))])
    {-9}
    """
    low = [number for number in numbers if number < 0]
    rest = numbers[len(low) :]
    found: set[float] = set()
    steps = [b - a for a, b in pairwise(rest)]
    if len(steps) < _FEWEST_STEPS:
        return found
    step = sorted(steps)[len(steps) // 2]
    if low and low[-1] <= _SURELY_NEGATIVE and _NEGATIVE_CODES.issuperset(low):
        found |= set(low) if rest[0] - low[-1] > 3 * step else set()
    high = [number for number in rest if number in _POSITIVE_CODES and number > 9]
    below = [at for at, number in enumerate(numbers) if number >= 0 and number not in high]
    high = [number for number in high if below and number > numbers[below[-1]]]
    if high and high[0] - numbers[below[-1]] >= 3 * step:
        usual = fmean(rows[at] for at in below[-5:])
        enough = max(3 * usual, 0.005 * sum(rows))
        found |= {number for number in high if rows[numbers.index(number)] >= enough}
    return found


_FEWEST_STEPS = 5
_MOST_SEXES = 10
"""Values of sex or gender, with those of them that are spelled in several ways."""

_SURELY_NEGATIVE = -7
"""A difference, or one step below nothing, is nearer to 0."""

_NEGATIVE_CODES = frozenset({-1, -2, -3, -4, -5, -6, -7, -8, -9, -88, -97, -98, -99, -999, -9999})
_POSITIVE_CODES = frozenset({
    9, 97, 98, 99, 888, 996, 997, 998, 999, 8888, 9997, 9998, 9999, 99999, 999999,
})  # fmt: skip
_NO_ANSWER = late(
    r"missing|refus|don.?t know|dont know|no answer|not (ascertained|applicable|available|stated|"
    r"asked)|unknown|inapplicable|keine angabe|weiss nicht|verweigert|trifft nicht zu|fehlend|"
    r"sans reponse|ne sait pas|non reponse|no sabe|no contesta|no aplica|^n ?/? ?a$"
)
_PART_OF_YEAR = late(
    r"(18|19|20)\d\d ?[-/ ]?[QTVqtv][1-4]|[QTVqtv][1-4] ?[-/ ]?(18|19|20)\d\d|"
    r"(0?[1-9]|1[0-2])[./-](18|19|20)\d\d|(18|19|20)\d\d[-/ ]?[KWkw]+\d\d?|"
    r"[^\W\d]{3,10}\.?[ -/](18|19|20)\d\d"
)
_FLAGS = frozenset({
    "0", "1", "0.0", "1.0", "yes", "no", "y", "n", "true", "false", "ja", "nein", "j", "oui", "non",
    "o", "si", "sí", "s", "t", "f",
})  # fmt: skip
_LETTERS = late(r"[^\W\d_]+")
_THINGS_NAMED = 30
_ICD = late(r"[A-TV-Z]\d[0-9A-Z](\.?[0-9A-Z]{1,4})?", re.IGNORECASE)
_SAID: dict[ColumnKind, re.Pattern[str]] = {
    ColumnKind.SEX: late(
        r"^(m|f|w|d|x|male|female|man|woman|men|women|boy|girl|mann|frau|maennlich|mannlich|"
        r"weiblich|divers|homme|femme|masculin|feminin|hombre|mujer|masculino|femenino|varon)s?$"
    ),
    ColumnKind.FAMILY: late(
        r"\b(un)?married|divorc|widow|separated|cohabit|^single|ledig|verheiratet|geschieden|"
        r"verwitwet|celibataire|^marie|veuf|veuve|solter|casad|viud"
    ),
    ColumnKind.ORIGIN: late(
        r"^(non )?(white|black|asian|hispanic|latin|caucas)|african|native american|pacific isl|"
        r"mixed race|^afro"
    ),
    ColumnKind.WORK: late(
        r"school|college|bachelor|master|\bdegree|university|\bphd|doctorate|diploma|graduate|"
        r"abitur|schulabschl|realschul|hauptschul|lycee|licence|universi|primaria|secundaria|"
        r"^(un|self )?employed|retired|housewife|homemaker|full time|part time|arbeitslos|rentner"
    ),
    ColumnKind.BELIEF: late(
        r"agree|satisf|approve|oppose|favou?r|support|democrat|republican|liberal|conservativ|"
        r"protestant|catholic|muslim|jewish|zufrieden|stimme |d accord|acuerdo"
    ),
    ColumnKind.HEALTH: late(
        r"cancer|carcinoma|diabet|infection|disease|syndrome|fracture|hypertens|asthma|itis\b|"
        r"smoker|neoplasm|circulatory|respiratory|\bhiv\b|tumou?r"
    ),
}
_WORDS = Path(__file__).with_name("words.txt")


@cache
def _frequent_names() -> frozenset[str]:
    """Return frequent names of people, as `words` spells them."""
    return frozenset(read_lists(_WORDS)["names of people"].split())


@cache
def _frequent_places() -> frozenset[str]:
    """Return places that many tables have, as `_Look` spells them."""
    return frozenset(map(str.strip, read_lists(_WORDS)["places"].split(",")))


def _spell(text: str) -> str:
    """Return a text as people say it: small letters, and blanks between words."""
    return " ".join(_LETTERS.findall(_plain(text)))


def _plain(text: str) -> str:
    """Return a text without marks on letters, in small letters."""
    spread = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in spread if not unicodedata.combining(char))


_TITLED = late(
    r"\b(Dr|Drs|Prof|Mr|Mrs|Ms|Hr|Fr|Mme|Mlle|Sr|Sra|Srta|Dott|Dottssa|Sig|Dhr|Mevr|PD|Doc)\.? ?"
    r"(med|h\.c|ssa)?\.? ?[A-Z\u00c0-\u00de][\w'’-]+"
    r"|\b(Herr|Frau|Doctor|Docteur|Doctora|Dottor|Dottoressa|Monsieur|Madame|Señor|Señora|Signor|"
    r"Signora|Mevrouw|Meneer) [A-Z\u00c0-\u00de][\w'’-]+"
)
_CAPITAL = r"[A-Z\u00c0-\u00de][\w'’.-]*"
_NAME = late(rf"{_CAPITAL}(,? {_CAPITAL}|,? (de|von|van|del|la|di)){{1,4}}")
"""The form of a full name."""


def _kind(values: Sequence[Value], texts: Sequence[str]) -> str:
    if look_like_dates(values):
        return "date"
    if values and all(number_of(value) is not None for value in values):
        return "number"
    if not all(isinstance(value, str | bytes) for value in values):
        return "other"
    # A laboratory writes <0.5 beside its figures, and a bill has separators and a currency.
    money = sum(amount is not None and amount.is_money for amount in map(amount_of, texts))
    if money >= _NEARLY_ALL * len(texts) > 0:
        return "decimals"
    figures = sum(_FIGURE.fullmatch(text.strip()) is not None for text in texts)
    return "decimals" if figures >= _NEARLY_ALL * len(texts) > 0 and _has_marks(texts) else "text"


def _has_marks(texts: Sequence[str]) -> bool:
    """Return whether figures have decimals or signs, as those of measurements have."""
    return sum(any(mark in text for mark in ".,<>") for text in texts) >= 0.5 * len(texts)


def _figure_of(text: str) -> float | None:
    """Return a number that may have a comma before its decimals, without unit."""
    amount = amount_of(text)
    return None if amount is None or amount.unit else float(amount.number)


def _count_decimals(text: str) -> int:
    """Return how many digits stand after the point or comma.

    >>> [_count_decimals(text) for text in ("62", "62.407", "62,4 ", "1.234,56")]
    [0, 3, 1, 2]
    """
    return len(re.split("[.,]", text.strip())[-1]) if re.search("[.,]", text) else 0


def _year(value: Value) -> int | None:
    """Return the year of a day, however it is written; None if it is none."""
    found = _read_day(text_of(value))
    return None if found is None else int(found[:4])


def _first_of_month(text: str) -> bool:
    found = _read_day(text)
    return found is not None and found[8:10] in ("", "01")


def _read_day(text: str) -> str | None:
    """Return a date in ISO 8601, day first where that fits; None if it is none."""
    if text.isdigit() and len(text) < _DIGITS_OF_A_DAY:
        return None
    found = read_text(text.strip(), pivot=29)
    return found.day_first or found.month_first or found.year_first


_DIGITS_OF_A_DAY = 8


def _whole(values: Sequence[Value]) -> list[int] | None:
    """Return the values in order if all are whole numbers."""
    numbers = [number_of(value) for value in values]
    if any(number is None or not number.is_integer() for number in numbers):
        return None
    return sorted(int(number) for number in numbers if number is not None)


# What other rooms ask of values.


def are_names(domain: Domain) -> bool:
    """Return whether the values of a column are names of people."""
    return bool(domain.rows.size) and _Look(domain).are_names(surely=True)


def is_free_text(domain: Domain) -> bool:
    """Return whether the values of a column are sentences."""
    return bool(domain.rows.size) and _Look(domain).is_free_text()


def names_someone(domain: Domain, least: int = 2) -> bool:
    """Return whether some texts of a column have a name after a title: one in a hundred, or 1.

    Args:
        domain: The column.
        least: How many texts at least; 1 takes a single one of any number of texts.
    """
    return bool(domain.rows.size) and _Look(domain).names_someone(least)
