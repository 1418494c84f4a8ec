"""Meanings of columns, by the words, abbreviations and parts of words in their names."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum, StrEnum
from functools import cache
from pathlib import Path
from typing import NamedTuple

from sfumato.lists import read_lists
from sfumato.patterns import late
from sfumato.schema import Role


class ColumnKind(StrEnum):
    """What a column is of, as far as its name, its values and other columns tell."""

    NOTHING = "nothing"
    """Every cell is missing, or holds what is no single value."""

    CONSTANT = "a constant"
    IDENTIFIER = "an identifier"
    FREE_TEXT = "free text"
    SET = "a set of items"
    COPY = "a copy of another column"
    """Each tells the other: a recoded copy, a logarithm, the age of another year."""

    FUNCTION = "a function of another column"
    """The other column tells it, and not the reverse: a class of ages, a dummy of a category."""

    WEIGHT = "a survey weight"
    AGE = "an age"
    SEX = "sex or gender"
    DATE = "a date"
    PLACE = "a place"
    ORIGIN = "origin"
    FAMILY = "family"
    WORK = "education or work"
    BODY = "the body"
    HEALTH = "health"
    """Diagnoses, symptoms, habits; yes/no columns too."""

    TREATMENT = "a treatment"
    MEASUREMENT = "a measurement"
    """Laboratory values, vital signs, scores: what only who measured it knows."""

    OUTCOME = "an outcome"
    """What became of a person: death, relapse, time to an event, arrest."""

    MONEY = "money"
    BELIEF = "belief or conduct"
    """Opinions, religion, politics, sexuality, offences."""

    TECHNICAL = "technical"
    """How the data was collected; harmless."""

    UNKNOWN = "unknown"


class WordMeaning(NamedTuple):
    """What a word in a column's name stands for."""

    role: Role
    what: str
    kind: ColumnKind = ColumnKind.IDENTIFIER


_FOLDER = Path(__file__).parent / "words"


LANGUAGES = ("it", "nl")
"""Those with files of their own; English, German, French and Spanish words stand together."""


def _meanings(file: str) -> Iterator[tuple[WordMeaning, str]]:
    """Yield the meanings that a file has, with the words or parts of words for each."""
    others = [read_lists(_FOLDER / file.replace(".txt", f".{each}.txt")) for each in LANGUAGES]
    between = ", " if file == "meanings.txt" else " "
    for heading, listed in read_lists(_FOLDER / file).items():
        role, what, kind = heading.split(" | ")
        every = [listed, *(each[what] for each in others if what in each)]
        yield WordMeaning(Role(role), what, ColumnKind(kind)), between.join(every)


@cache
def _word_set(name: str) -> frozenset[str]:
    return frozenset(read_lists(_FOLDER / "sets.txt")[name].split())


@cache
def _people() -> frozenset[str]:
    return _word_set("whole names") | _word_set("people")


def has_word(name: str, of: str) -> bool:
    """Return whether a name has one of the words of a list, such as `coordinates`.

    >>> has_word("GPS position", "coordinates"), has_word("position", "coordinates")
    (True, False)
    """
    return not _word_set(of).isdisjoint(words(name))


NAMING = WordMeaning(Role.IDENTIFIER, "a name or number given to one person")
_NAMES_ONE = frozenset({
    "id", "ids", "uid", "uuid", "guid", "pid", "key", "login",
    "name", "names", "nom", "noms", "nombre", "nombres", "kennung", "kennziffer",
})  # fmt: skip
FOR_NAMES = frozenset({"name", "names", "nom", "noms", "nombre", "nombres"})
_KEYS = frozenset({"pid", "ssn", "login", "pseudonym"})
_BESIDE = frozenset({"of", "the", "de", "del", "des", "du", "der", "unique", "anon", "pseudo"})


def is_of_a_person(name: str) -> bool:
    """Return whether a name is that of a person's name or number, and of nothing else's.

    >>> [is_of_a_person(name) for name in ("id", "Patient-ID", "nom", "ssn", "hospital_id", "age")]
    [True, True, True, True, False, False]
    """
    meaning, said = meaning_of(name), set(words(name))
    if meaning is None or meaning.role is not Role.IDENTIFIER:
        return False
    return meaning is not NAMING or not said - _NAMES_ONE - _people() - _BESIDE


_ENDS = ("nummer", "nr", "kennung", "schluessel", "schlussel", "kennzeichen")
"""Ends of German words for something that is numbered."""


def codes_of(names: Sequence[str]) -> dict[str, WordMeaning]:
    """Return what names stand for that are variables of a survey many people use.

    Short names are believed if at least two of them are of one survey.

    >>> codes_of(["RIDAGEYR", "x001"])["RIDAGEYR"].what, "x001" in codes_of(["x001", "year"])
    ('an age', False)
    >>> codes_of(["x001", "x003"])["x001"].what
    'sex or gender'
    """
    exact, begins = _codes()
    hits: dict[str, list[tuple[str, WordMeaning]]] = {}
    plain = {name: name.strip().casefold() for name in names}
    for name, each in plain.items():
        for survey, meaning in exact.get(each, ()):
            hits.setdefault(survey, []).append((name, meaning))
    for name, each in plain.items():
        for stem, survey, meaning in begins:
            if survey in hits and each.startswith(stem) and 0 < len(each) - len(stem) <= _REST:
                hits[survey].append((name, meaning))
    # The survey of which most names are known goes first.
    found: dict[str, WordMeaning] = {}
    for hit in sorted(hits.values(), key=len, reverse=True):
        known = {name for name, _ in hit}
        if len(known) > 1 or any(len(name.strip()) >= _LONG for name in known):
            for name, meaning in hit:
                found.setdefault(name, meaning)
    return found


_LONG, _REST = 6, 5


@cache
def _codes() -> tuple[
    Mapping[str, Sequence[tuple[str, WordMeaning]]], Sequence[tuple[str, str, WordMeaning]]
]:
    """Return the names of variables, and how names begin, each with its survey and meaning."""
    meanings = {meaning.what: meaning for meaning, _ in _meanings("meanings.txt")}
    household = "a number given to one household"
    meanings[household] = WordMeaning(Role.IDENTIFIER, household)
    technical = "how the data was collected"
    meanings[technical] = WordMeaning(Role.PLAIN, technical, ColumnKind.TECHNICAL)
    exact: dict[str, list[tuple[str, WordMeaning]]] = {}
    begins = []
    for heading, listed in read_lists(_FOLDER / "codes.txt").items():
        survey, what = heading.split(" | ")
        for name in listed.split():
            if name.endswith("*"):
                begins.append((name[:-1], survey, meanings[what]))
            else:
                exact.setdefault(name, []).append((survey, meanings[what]))
    return exact, begins


class _Phrases(NamedTuple):
    """The words that are known, and which meaning goes before which."""

    meanings: Mapping[tuple[str, ...], WordMeaning]
    ranks: Mapping[WordMeaning, int]
    longest: int
    """The most words that mean something side by side."""


@cache
def _phrases() -> _Phrases:
    meanings: dict[tuple[str, ...], WordMeaning] = {}
    ranks: dict[WordMeaning, int] = {}
    for rank, (meaning, listed) in enumerate(_meanings("meanings.txt")):
        ranks[meaning] = rank
        for phrase in listed.split(","):
            meanings.setdefault(tuple(phrase.split()), meaning)
    return _Phrases(meanings, ranks, max(map(len, meanings)))


def words(name: str) -> tuple[str, ...]:
    """Split a column's name into plain words.

    >>> words("PatientID"), words("Straße & Nº"), words("net_income-2020")
    (('patient', 'id'), ('strasse', 'no'), ('net', 'income'))
    """
    plain = unicodedata.normalize("NFKD", name)
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", plain)
    return tuple(re.findall(r"[^\W\d_]+", plain.casefold()))


def meaning_of(name: str) -> WordMeaning | None:
    """Return what a column's name stands for, or None if it says nothing known.

    >>> meaning_of("age_at_diagnosis").what, meaning_of("city_name").what
    ('an age', 'a place')
    >>> meaning_of("patient name").role, meaning_of("x1")
    (<Role.IDENTIFIER: 'identifier'>, None)
    """
    said, known = words(name), _phrases()
    found = [
        known.meanings[said[start:end]]
        for start in range(len(said))
        for end in range(start + 1, min(start + known.longest, len(said)) + 1)
        if said[start:end] in known.meanings
    ]
    if found:
        return min(found, key=known.ranks.__getitem__)
    if _NAMES_ONE.intersection(said) or (len(said) == 1 and said[0] in _word_set("whole names")):
        return NAMING
    return None


def is_of_birth(name: str) -> bool:
    """Return whether a name says that something is about a birth.

    >>> [is_of_birth(name) for name in ("birth_yr", "Geb.-Datum", "gebjahr", "dateofbirth", "day")]
    [True, True, True, True, False]
    """
    known = _word_set("births")
    return any(
        word in known or word.startswith(_BIRTH_BEGINS) or word.endswith(_BIRTH_ENDS)
        for word in words(name)
    )


_BIRTH_BEGINS = ("birth", "gebdat", "gebjahr", "geburt", "naiss", "nacim", "nascit", "geboort")
_BIRTH_ENDS = ("birth", "brth", "geburt", "naissance", "nacimiento", "nascita", "geboorte")


def is_attitude(name: str) -> bool:
    """Return whether a name says what people think of something, whatever that is.

    >>> is_attitude("JobSatisfaction"), is_attitude("Arbeitszufriedenheit"), is_attitude("job")
    (True, True, False)
    """
    return any(part in word for word in words(name) for part in _word_set("attitudes"))


def is_occasion(name: str) -> bool:
    """Return whether a name says which of several times of a person a row is about.

    >>> is_occasion("visit"), is_occasion("Welle"), is_occasion("t"), is_occasion("income")
    (True, True, True, False)
    """
    return has_word(name, "occasions")


def counts_up(name: str) -> bool:
    """Return whether a name is that of a running number or key, if its values are one.

    >>> counts_up("Record No."), counts_up("diagnosis id"), counts_up("age")
    (True, True, False)
    """
    said = words(name)
    known = has_word(name, "running numbers") or not _NAMES_ONE.isdisjoint(said)
    return known or any(word.endswith(_ENDS) and len(word) > 4 for word in said)


def is_bare_number(name: str) -> bool:
    """Return whether a name says that something is numbered, and not what.

    >>> is_bare_number("Nr."), is_bare_number("house no")
    (True, False)
    """
    said = frozenset(words(name))
    return bool(said) and said <= _word_set("running numbers")


def is_numbering(name: str) -> bool:
    """Return whether one word of a name is the abbreviated number of people or records.

    >>> is_numbering("persnum"), is_numbering("HHID"), is_numbering("number of cars")
    (True, True, False)
    """
    return any(_NUMBERED.fullmatch(word) for word in words(name))


class Key(IntEnum):
    """How surely each person has one value of a column, and all rows of a person have the same."""

    NONE = 0
    MAYBE = 1
    SURELY = 2


def key_of_people(name: str, *, identifier: bool) -> Key:
    """Return how surely a column is the key of people, by its name.

    Names and addresses are no keys: two people may be called Ann. The number of a household or of
    a visit is none either.

    Args:
        name: The name of the column.
        identifier: Whether the publisher says that it is an identifier.

    >>> [key_of_people(name, identifier=True).name for name in ("patient_id", "id", "household id")]
    ['SURELY', 'MAYBE', 'NONE']
    >>> key_of_people("pidp", identifier=True).name, key_of_people("pidp", identifier=False).name
    ('MAYBE', 'NONE')
    """
    meaning, said = meaning_of(name), frozenset(words(name))
    numbered = meaning is not None and meaning.what == "a number given to one person"
    if has_word(name, "things"):
        return Key.NONE
    if meaning is None:
        counted = has_word(name, "running numbers") and not _people().isdisjoint(said)
        return Key.SURELY if counted else Key.MAYBE if identifier else Key.NONE
    if not (numbered or meaning is NAMING) or not FOR_NAMES.isdisjoint(said):
        return Key.NONE
    persons = not _people().isdisjoint(said) and not _NAMES_ONE.isdisjoint(said)
    if numbered or persons or not _KEYS.isdisjoint(said):
        return Key.SURELY
    # A column called user may tell new ones from others, and id may count anything.
    return Key.NONE if said - _NAMES_ONE - _people() - _BESIDE else Key.MAYBE


# What parts of names say, where whole words say nothing. Only drafts go by it.

_A_DATE = WordMeaning(Role.QUASI_IDENTIFIER, "a date in a life", ColumnKind.DATE)
_PLACE = WordMeaning(Role.QUASI_IDENTIFIER, "a place", ColumnKind.PLACE)

_UNIT = late(
    r"(vill|village|sch|school|hosp|hospital|prov|provider|clinic|dist|cens|tract|clus|firm|plant|"
    r"store|branch|ward|site|center|centre|inst|region|area|zone|state|county|country|city|town|"
    r"klinik|schul|ort|kreis|ecole|hopital|escuela|centro)"
    r"(id|num|number|no|nr|code|cod|cd|nummer|numero)[a-z]{0,3}"
)
"""The number of something that people belong to."""

_NUMBERED = late(
    r"(pers|person|per|pat|patient|u?subj|subject|resp|respondent|indiv|ind|case|int|interview|rec|"
    r"record|obs|client|cust|customer|emp|employee|stud|student|mem|member|hh|fam|household|"
    r"family|fall|versicherten|kunden|matrikel|child|kid|pupil|participant|part|mother|mom|father|"
    r"parent|couple|twin|user|study|survey|voter|worker|inmate|borrower|applicant|pt)"
    r"(id|ident|num|number|no|nr|nummer)"
)
"""The number of a person, a household or a record, written as one word."""

_PART_OF_DATE = late(
    r"(y|yr|year|mo|mon|mth|month|m|d|da|day|dt|date)(of)?(dth|death|birth|bth|brth|bir|dob|diag|"
    r"dx|adm|admit|admission|disch|discharge|visit|int|intv|interview|surg|op)"
    r"|(birth|bth|dth|death|diag|dx|adm|disch|visit|int|intv)(y|yr|year|mo|mon|month|day|dt|date)"
)
"""Year, month or day of something, written as one word."""


class _Parts(NamedTuple):
    """Abbreviations, and parts of words, that may mean something."""

    exact: Mapping[str, WordMeaning]
    inside: Sequence[tuple[str, bool, bool, WordMeaning]]
    """Letters, whether others may go before and after them, and what they mean; longest first."""


@cache
def _parts() -> _Parts:
    exact: dict[str, WordMeaning] = {}
    inside: list[tuple[str, bool, bool, WordMeaning]] = []
    for meaning, listed in _meanings("parts.txt"):
        for part in listed.split():
            stem, before, after = part.strip("*"), part[0] == "*", part[-1] == "*"
            if before or after:
                inside.append((stem, before, after, meaning))
            else:
                exact.setdefault(stem, meaning)
    return _Parts(exact, sorted(inside, key=lambda each: -len(each[0])))


def hint_of(name: str) -> WordMeaning | None:
    """Return what abbreviations and parts of words in a name may mean; None if nothing known.

    Less sure than `meaning_of`: enough to draft a policy that is read, and no reason to refuse
    a release.

    >>> [hint_of(name).what for name in ("lwage", "nonwhite", "futime", "alcoholfreq", "yrdth")]
    ['money', 'origin', 'an outcome', 'health', 'a date in a life']
    >>> hint_of("management"), hint_of("V7")
    (None, None)
    """
    found = [(length, meaning) for length, meaning in map(_hint, words(name)) if meaning]
    return max(found, key=lambda each: each[0])[1] if found else None


def _hint(word: str) -> tuple[int, WordMeaning | None]:
    """Return how many letters of a word say what it may mean, and what."""
    known = _parts()
    if word in known.exact:
        return len(word) + 1, known.exact[word]
    if _PART_OF_DATE.fullmatch(word):
        return len(word), _A_DATE
    if _UNIT.fullmatch(word):
        return len(word), _PLACE
    for stem, before, after, meaning in known.inside:
        fits = stem in word if before and after else (
            word.endswith(stem) if before else word.startswith(stem)
        )  # fmt: skip
        if fits:
            return len(stem), meaning
    return 0, None
