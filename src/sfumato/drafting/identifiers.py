"""Identifiers: which of the 18 kinds of the Safe Harbor rule a column holds, by name and values."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from enum import StrEnum
from functools import cache, cached_property
from pathlib import Path

from sfumato.dataclasses import dataclass
from sfumato.derivations.dates import look_like_dates
from sfumato.drafting.day_numbers import date_numbers
from sfumato.drafting.guess import are_names, identifying, is_free_text, names_someone
from sfumato.hierarchy.zip_areas import small_zip_areas
from sfumato.lists import read_lists
from sfumato.patterns import late
from sfumato.policy.meanings import ColumnKind, is_of_birth, meaning_of, words
from sfumato.tables import Domain
from sfumato.text import STAR, number_of, text_of

_LISTS = Path(__file__).with_name("identifiers.txt")

_LOOKED_AT = 100_000
"""Values of a column that are looked at."""

_NEARLY_ALL = 0.8
_OLDEST = 89
"""Ages above this share one category."""


class IdentifierKind(StrEnum):
    """A kind of identifiers, by the letter that it has in 45 CFR 164.514(b)(2)(i).

    >>> IdentifierKind("F").what, len(IdentifierKind)
    ('e-mail addresses', 18)
    """

    NAMES = "A"
    GEOGRAPHY = "B"
    DATES = "C"
    TELEPHONE = "D"
    FAX = "E"
    EMAIL = "F"
    SOCIAL_SECURITY = "G"
    MEDICAL_RECORD = "H"
    HEALTH_PLAN = "I"
    ACCOUNT = "J"
    LICENCE = "K"
    VEHICLE = "L"
    DEVICE = "M"
    URL = "N"
    IP = "O"
    BIOMETRIC = "P"
    PHOTO = "Q"
    OTHER = "R"

    @property
    def what(self) -> str:
        """Its name in words."""
        return _WHAT[self]


_WHAT: Mapping[IdentifierKind, str] = {
    IdentifierKind.NAMES: "names",
    IdentifierKind.GEOGRAPHY: "places smaller than a state",
    IdentifierKind.DATES: "dates other than the year, or ages above 89",
    IdentifierKind.TELEPHONE: "telephone numbers",
    IdentifierKind.FAX: "fax numbers",
    IdentifierKind.EMAIL: "e-mail addresses",
    IdentifierKind.SOCIAL_SECURITY: "social security numbers",
    IdentifierKind.MEDICAL_RECORD: "medical record numbers",
    IdentifierKind.HEALTH_PLAN: "health plan beneficiary numbers",
    IdentifierKind.ACCOUNT: "account numbers",
    IdentifierKind.LICENCE: "certificate or license numbers",
    IdentifierKind.VEHICLE: "vehicle identifiers",
    IdentifierKind.DEVICE: "device identifiers",
    IdentifierKind.URL: "web addresses (URLs)",
    IdentifierKind.IP: "IP addresses",
    IdentifierKind.BIOMETRIC: "biometric identifiers",
    IdentifierKind.PHOTO: "photographs of faces",
    IdentifierKind.OTHER: "other unique numbers or codes",
}


@dataclass(frozen=True)
class Identifier:
    """A kind of identifiers that a column holds, and what shows it."""

    column: str
    kind: IdentifierKind
    reason: str

    def __str__(self) -> str:
        return f"{self.column!r}: {self.reason}"


def identifiers_in(
    domain: Domain, *, today: date, small_areas: Collection[str] | None = None
) -> tuple[Identifier, ...]:
    """Return the kinds of identifiers that a column holds, each once.

    Promises: values that show by their form what they are (addresses, numbers with a form of their
    own, dates, files of pictures) are found whatever the column is called; other numbers, names and
    places are found if the column's name says what they are and the values bear it out.

    Does not promise that a column holds none because nothing was found.

    Args:
        domain: A column, as it is or as it is published: labels are read as well.
        today: The day by which people born in a year are above 89.
        small_areas: The initial three digits of ZIP codes whose areas hold 20 000 people or fewer;
            None takes those of the census of 2000.

    Example:
        >>> import pyarrow as pa
        >>> from sfumato.tables import open_table
        >>> table = pa.table({"x": ["ann@x.org", "bob@x.org"], "zip": ["03601", "94110"]})
        >>> found = open_table(table).domains(["x", "zip"])
        >>> for name in found: print(*identifiers_in(found[name], today=date(2026, 1, 1)))
        'x': the values look like e-mail addresses
        'zip': ZIP codes of more than three digits, such as 03601
    """
    if not domain.rows.size:
        return ()
    seen = _SeenColumn(domain, today, frozenset(small_areas or small_zip_areas()))
    found: dict[IdentifierKind, str] = {}
    named = _by_name(seen)
    formed = _by_form(seen)
    if named is not None and (not formed or named[0] in _ALSO.get(formed[0], (formed[0],))):
        found[named[0]] = named[1]
    elif formed is not None:
        found[formed[0]] = formed[1]
    for kind, reason in (_place(seen), _moment(seen)):
        if reason is not None and not found:
            found[kind] = reason
    if not found:
        found |= _in_texts(seen)
    if not found and (why := _unique(seen)) is not None:
        found[IdentifierKind.OTHER] = why
    return tuple(Identifier(domain.column, kind, reason) for kind, reason in found.items())


# Words of names.


@cache
def _phrases() -> Mapping[tuple[str, ...], str]:
    """Return the words that stand for a kind, and the heading they are under, in its order."""
    found: dict[tuple[str, ...], str] = {}
    for heading, listed in read_lists(_LISTS).items():
        if heading[:1].isupper():
            for phrase in listed.split(","):
                found.setdefault(tuple(phrase.split()), heading)
    return found


@cache
def _list(name: str) -> frozenset[str]:
    listed = read_lists(_LISTS)[name].split(",")
    return frozenset(" ".join(each.split()) for each in listed)


@cache
def _vocabulary() -> frozenset[str]:
    every = [*(" ".join(phrase) for phrase in _phrases()), *_list("beside"), *_list("other things")]
    return frozenset(word for each in every for word in each.split())


def _words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name; those written as one word are cut where known words meet.

    >>> [_words_of(name) for name in ("PatientSSN", "dateofbirth", "homephone", "SSN_No")]
    [('patient', 'ssn'), ('date', 'of', 'birth'), ('home', 'phone'), ('ssn', 'no')]
    """
    found: list[str] = []
    for word in words(name):
        found += [word] if word in _vocabulary() else _cut(word)
    return tuple(found)


def _cut(word: str) -> list[str]:
    """Return a word cut into the fewest known words; itself if it cannot be."""
    best: list[list[str] | None] = [[], *([None] * len(word))]
    for end in range(1, len(word) + 1):
        for start in range(max(0, end - 16), end):
            before, piece = best[start], word[start:end]
            fits = before is not None and len(piece) > 1 and piece in _vocabulary()
            if fits and before is not None:
                longer = best[end]
                if longer is None or len(before) + 1 < len(longer):
                    best[end] = [*before, piece]
    return best[-1] or [word]


def _headings(said: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return the headings whose words are in a name, in the order of the list, each with those."""
    known = _phrases()
    inside: dict[str, set[str]] = {}
    for start in range(len(said)):
        for end in range(start + 1, min(start + _LONGEST, len(said)) + 1):
            phrase = tuple(said[start:end])
            if phrase in known:
                inside.setdefault(known[phrase], set()).update(phrase)
    order = list(dict.fromkeys(known.values()))
    return {heading: frozenset(inside[heading]) for heading in sorted(inside, key=order.index)}


_LONGEST = 4
"""The most words of a phrase."""


# Values.


class _SeenColumn:
    """A column, as it is looked at."""

    def __init__(self, domain: Domain, today: date, small_areas: frozenset[str]) -> None:
        self.domain, self.today, self.small_areas = domain, today, small_areas
        self.name = domain.column
        self.values = [v for v in domain.values(_LOOKED_AT) if text_of(v).strip() not in ("", STAR)]
        self.texts = [text_of(value).translate(_TYPED).strip() for value in self.values]
        self.distinct = len(domain.rows)
        self.known = int(domain.rows.sum())

    @cached_property
    def said(self) -> tuple[str, ...]:
        return _words_of(self.name)

    @cached_property
    def numbers(self) -> list[float] | None:
        """The values as numbers; None if some are none."""
        found = [number_of(value) for value in self.values]
        return None if None in found else [n for n in found if n is not None]

    @cached_property
    def is_flag(self) -> bool:
        texts = {text.casefold() for text in self.texts}
        return len(texts) <= 3 and texts <= _FLAGS

    def share(self, form: re.Pattern[str]) -> float:
        """Return the share of values that have a form."""
        hits = sum(form.fullmatch(text) is not None for text in self.texts)
        return hits / max(1, len(self.texts))

    def example(self, fits: Callable[[str], bool]) -> str | None:
        return next((text for text in self.texts if fits(text)), None)

    @cached_property
    def are_codes(self) -> bool:
        """Whether values are numbers or codes that are given to people or things."""
        if self.is_flag or self.distinct < 2 or look_like_dates(self.values):
            return False
        if self.numbers is not None:
            whole = all(n.is_integer() and n >= 0 for n in self.numbers)
            long = bool(self.numbers) and sorted(self.numbers)[len(self.numbers) // 2] >= 1000
            own = self.distinct >= min(20, max(2, self.known // 2))
            years = all(1900 <= n <= 2100 for n in self.numbers)
            return whole and not years and (own or (long and self.distinct > 9))
        return self.share(_CODE) >= _NEARLY_ALL and self.distinct >= min(
            10, max(2, self.known // 2)
        )

    @cached_property
    def are_texts(self) -> bool:
        """Whether values are words, and more than a handful of categories."""
        letters = self.share(_LETTERS) >= _NEARLY_ALL
        return letters and self.distinct >= min(6, max(2, self.known // 2))


_TYPED = str.maketrans("\u2010\u2011\u2012\u2013\u2014\u2212\u00a0\u2007\u202f", "------   ")
"""Dashes and spaces as a keyboard has them: word processors write others."""
_FLAGS = frozenset({
    "0", "1", "yes", "no", "y", "n", "true", "false", "t", "f", "ja", "nein", "si", "oui", "non",
    "none", "unknown",
})  # fmt: skip
_CODE = late(r"(?=(.*\d){3})[A-Za-z0-9][A-Za-z0-9 ._/#()-]{3,40}")
_LETTERS = late(r"[^\W\d_][^\d]*")
_MAIL = late(r"(.*<)?\s*[^@\s<>]+@[^@\s<>]+\.[A-Za-z]{2,}\s*>?")
_SSN = late(
    r"(?!000|9\d\d.00)\d{3}(?P<between>[- .])\d{2}(?P=between)\d{4}|[Xx*]{3}-?[Xx*]{2}-?\d{4}"
)
_PHONE = late(
    r"(\+\d{1,3}[ .-]?|00\d{1,3}[ .-]?|1[ .-])?(\(\d{2,5}\)[ -]?|\d{2,5}[ ./-])"
    r"(\d( - |[ ./-])?){5,9}\d( ?(x|ext\.?) ?\d{1,5})?|\+\d{9,14}"
)
_DASHED = late(
    r"(\(\d{3}\) ?|\d{3}( - |[-./ ]))\d{3}( - |[-. ])\d{4}|(\+\d{1,3} ?)[\d ()./-]{7,18}"
)
_URL = late(
    r"(https?|ftp)://\S+|www\.\S+\.\S+"
    r"|[\w-]+(\.[\w-]+)*\.(com|org|net|edu|io|me|info|app|co\.\w\w)(/\S*)?"
)
_HANDLE = late(r"@\w{2,40}|/?(in|user|u)/[\w.-]+")
_OCTET = r"(25[0-5]|2[0-4]\d|1?\d?\d)"
_IP = late(
    rf"{_OCTET}(\.{_OCTET}){{3}}(:\d+|/\d+)?"
    r"|\[?([0-9a-fA-F]{0,4}:){4,7}[0-9a-fA-F]{0,4}(%\w+)?(\](:\d+)?)?"
    r"|\[?(?=.*::)([0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}(%\w+)?(/\d+)?(\](:\d+)?)?"
)
_MAC = late(
    r"([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}|(?=.*[A-Fa-f])([0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}"
)
_UDI = late(r"\(01\)\s?\d{14}.*|\+[A-Z]\d{3}\w{1,18}/.*")
_VIN = late(r"(?=.*[A-Za-z])(?=.*\d)([A-HJ-NPR-Z0-9]{17}|[a-hj-npr-z0-9]{17})")
_IBAN = late(r"[A-Z]{2}\d{2} ?([A-Z0-9]{4} ?){2,7}[A-Z0-9]{1,4}")
_CARD = late(r"\d{4}([ -]\d{4}){3}|\d{4}[ -]\d{6}[ -]\d{5}")
_IMAGE = late(r"data:image/.+|.*\.(jpe?g|png|gif|bmp|tiff?|heic|webp|dcm)", re.IGNORECASE)
_PRINT = late(r".*\.(wsq|fpt|iso19794|wav|mp3|flac|ogg|m4a)", re.IGNORECASE)
_UUID = late(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HASH = late(r"([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64})", re.IGNORECASE)
_MBI = late(r"[1-9][A-Z][A-Z0-9]\d-?[A-Z][A-Z0-9]\d-?[A-Z]{2}\d{2}")
_ZIP_LONG = late(r"\d{5}-\d{4}")
_POINT = late(
    r"\(?-?\d{1,2}\.\d{3,}°?[NS]?[,; ]+-?1?\d{1,2}\.\d{3,}°?[EW]?\)?"
    r"|\d{1,2}° ?\d{1,2}['′].*[NS],? ?1?\d{1,2}° ?\d{1,2}['′].*[EWO]"
)
_COUNTY = late(r".+ (County|Parish|Borough|Township)", re.IGNORECASE)

_FORMS: Sequence[tuple[IdentifierKind, re.Pattern[str], str]] = (
    (IdentifierKind.EMAIL, _MAIL, "e-mail addresses"),
    (IdentifierKind.SOCIAL_SECURITY, _SSN, "social security numbers"),
    (IdentifierKind.DEVICE, _MAC, "hardware addresses"),
    (IdentifierKind.DEVICE, _UDI, "unique device identifiers"),
    (IdentifierKind.IP, _IP, "IP addresses"),
    (IdentifierKind.PHOTO, _IMAGE, "pictures"),
    (IdentifierKind.BIOMETRIC, _PRINT, "recordings of voices or fingers"),
    (IdentifierKind.URL, _URL, "web addresses"),
    (IdentifierKind.URL, _HANDLE, "names in social networks"),
    (IdentifierKind.VEHICLE, _VIN, "vehicle identification numbers"),
    (IdentifierKind.ACCOUNT, _CARD, "card numbers"),
    (IdentifierKind.ACCOUNT, _IBAN, "account numbers (IBAN)"),
    (IdentifierKind.HEALTH_PLAN, _MBI, "Medicare beneficiary numbers"),
    (IdentifierKind.GEOGRAPHY, _ZIP_LONG, "ZIP codes"),
    (IdentifierKind.GEOGRAPHY, _POINT, "coordinates"),
    (IdentifierKind.GEOGRAPHY, _COUNTY, "counties"),
    (IdentifierKind.TELEPHONE, _PHONE, "telephone numbers"),
    (IdentifierKind.OTHER, _UUID, "unique identifiers (UUID)"),
    (IdentifierKind.OTHER, _HASH, "hashes"),
)
"""Values that say what they are, the most telling form first."""

_ALSO: Mapping[IdentifierKind, frozenset[IdentifierKind]] = {
    # What a column of values of a form may be besides, if its name says so.
    IdentifierKind.TELEPHONE: frozenset({
        IdentifierKind.TELEPHONE, IdentifierKind.FAX, IdentifierKind.MEDICAL_RECORD,
        IdentifierKind.HEALTH_PLAN, IdentifierKind.ACCOUNT, IdentifierKind.LICENCE,
        IdentifierKind.VEHICLE, IdentifierKind.DEVICE,
    }),
    IdentifierKind.OTHER: frozenset(IdentifierKind),
    IdentifierKind.ACCOUNT: frozenset({
        IdentifierKind.ACCOUNT, IdentifierKind.HEALTH_PLAN, IdentifierKind.DEVICE,
        IdentifierKind.MEDICAL_RECORD, IdentifierKind.LICENCE,
    }),
    IdentifierKind.PHOTO: frozenset({IdentifierKind.PHOTO, IdentifierKind.BIOMETRIC}),
    IdentifierKind.URL: frozenset({
        IdentifierKind.URL, IdentifierKind.PHOTO, IdentifierKind.BIOMETRIC,
    }),
    IdentifierKind.VEHICLE: frozenset({
        IdentifierKind.VEHICLE, IdentifierKind.DEVICE, IdentifierKind.OTHER,
    }),
    IdentifierKind.SOCIAL_SECURITY: frozenset({
        IdentifierKind.SOCIAL_SECURITY, IdentifierKind.TELEPHONE, IdentifierKind.FAX,
    }),
}  # fmt: skip


def _by_form(seen: _SeenColumn) -> tuple[IdentifierKind, str] | None:
    """Return the kind that most values have the form of."""
    if not seen.texts or look_like_dates(seen.values):
        return None
    if seen.numbers is not None and not all(isinstance(value, str) for value in seen.values):
        return None
    for kind, form, what in _FORMS:
        if seen.share(form) >= _NEARLY_ALL:
            return kind, f"the values look like {what}"
    return None


def _by_name(seen: _SeenColumn) -> tuple[IdentifierKind, str] | None:
    """Return the kind that a column is called after, if its values bear it out."""
    others = _list("other things") & frozenset(seen.said)
    headings = _headings(seen.said)
    if IdentifierKind.GEOGRAPHY in headings and _place(seen)[1] is not None:
        # The name of a county is not the name of a person.
        headings.pop(IdentifierKind.NAMES, None)
    for heading, named in headings.items():
        kind = IdentifierKind(heading[0])
        fits = _BORNE_OUT.get(kind)
        if fits is None or not seen.texts:
            continue
        if heading != kind:
            fits = _are_last_digits
        if fits(seen) and (others <= named or _is_sure(kind, seen)):
            return kind, f"{kind.what}, by its name and its values"
    return None


def _is_sure(kind: IdentifierKind, seen: _SeenColumn) -> bool:
    """Return whether values have the form of a kind by themselves."""
    forms = [form for each, form, _ in _FORMS if each is kind]
    if kind is IdentifierKind.FAX:
        forms = [_PHONE]
    sure = any(seen.share(form) >= _NEARLY_ALL for form in forms)
    return sure or (kind is IdentifierKind.NAMES and are_names(seen.domain))


def _are_phones(seen: _SeenColumn) -> bool:
    lengths = [sum(map(str.isdigit, text)) for text in seen.texts]
    enough = [7 <= n <= 15 for n in lengths]
    return sum(enough) >= _NEARLY_ALL * len(enough) and not look_like_dates(seen.values)


def _are_nine_digits(seen: _SeenColumn) -> bool:
    lengths = [sum(map(str.isdigit, text)) for text in seen.texts]
    plain = seen.share(re.compile(r"[\d Xx*-]+")) >= _NEARLY_ALL
    return plain and sum(n in (4, 8, 9) for n in lengths) >= _NEARLY_ALL * len(lengths)


def _are_last_digits(seen: _SeenColumn) -> bool:
    return seen.share(re.compile(r"[Xx*-]*\d{3,4}")) >= _NEARLY_ALL and seen.distinct > 9


def _are_people(seen: _SeenColumn) -> bool:
    """Return whether words are names, in a column that is called after a name and nothing else."""
    if seen.is_flag or seen.numbers is not None:
        return False
    alone = frozenset({"patient", "person", "mother", "father", "spouse", "guardian", "husband",
                       "wife", "contact", "kin", "emergency"})  # fmt: skip
    if alone.issuperset(seen.said) or look_like_dates(seen.values):
        return are_names(seen.domain)
    return seen.are_texts and seen.share(_MAIL) < _NEARLY_ALL


def _are_files(seen: _SeenColumn) -> bool:
    long = sum(len(text) >= 6 for text in seen.texts) >= _NEARLY_ALL * len(seen.texts)
    marked = seen.share(re.compile(r".*[\d./\\_-].*")) >= _NEARLY_ALL
    return seen.numbers is None and long and marked and seen.distinct >= min(10, seen.known // 2)


def _are_addresses(seen: _SeenColumn) -> bool:
    return any(seen.share(form) >= _NEARLY_ALL for form in (_URL, _HANDLE))


_BORNE_OUT: Mapping[IdentifierKind, Callable[[_SeenColumn], bool]] = {
    IdentifierKind.NAMES: _are_people,
    IdentifierKind.TELEPHONE: _are_phones,
    IdentifierKind.FAX: _are_phones,
    IdentifierKind.EMAIL: lambda seen: seen.share(_MAIL) >= _NEARLY_ALL,
    IdentifierKind.SOCIAL_SECURITY: _are_nine_digits,
    IdentifierKind.MEDICAL_RECORD: lambda seen: seen.are_codes,
    IdentifierKind.HEALTH_PLAN: lambda seen: seen.are_codes,
    IdentifierKind.ACCOUNT: lambda seen: seen.are_codes,
    IdentifierKind.LICENCE: lambda seen: seen.are_codes,
    IdentifierKind.VEHICLE: lambda seen: seen.are_codes,
    IdentifierKind.DEVICE: lambda seen: seen.are_codes or seen.share(_MAC) >= _NEARLY_ALL,
    IdentifierKind.URL: _are_addresses,
    IdentifierKind.IP: lambda seen: seen.share(_IP) >= _NEARLY_ALL,
    IdentifierKind.BIOMETRIC: _are_files,
    IdentifierKind.PHOTO: _are_files,
}
"""What shows that values are what a column is called; places and dates have rules of their own."""


# Places: (B).

_ZIPS = frozenset({"zip", "zips", "zipcode", "zcta", "postal", "postalcode", "postcode", "plz",
                   "postleitzahl"})  # fmt: skip
_POINTS = frozenset({"lat", "lon", "long", "lng", "latitude", "longitude"})
_SIZED = frozenset({"size", "type", "class", "category", "status", "population", "density",
                    "distance", "income", "education", "code type", "rate", "count"})  # fmt: skip


def _place(seen: _SeenColumn) -> tuple[IdentifierKind, str | None]:
    """Return why a column tells places smaller than a state; None if it does not."""
    kind, said = IdentifierKind.GEOGRAPHY, frozenset(seen.said)
    if seen.texts and not seen.is_flag and _SIZED.isdisjoint(said):
        if not _ZIPS.isdisjoint(said):
            return kind, _zip_code(seen)
        if kind in _headings(seen.said) and not look_like_dates(seen.values):
            return kind, _point(seen) if not _POINTS.isdisjoint(said) else _small_place(seen)
    return kind, None


def _point(seen: _SeenColumn) -> str | None:
    angles = seen.numbers is not None and all(abs(n) <= 180 for n in seen.numbers)
    own = _list("other things").isdisjoint(seen.said)
    return "coordinates, by its name and its values" if angles and own else None


def _small_place(seen: _SeenColumn) -> str | None:
    coarse = _list("coarse")
    small = seen.example(lambda text: " ".join(words(text)) not in coarse)
    few = seen.numbers is not None and max(map(abs, seen.numbers), default=0) < 100
    told = "places smaller than a state, by its name and its values"
    return None if small is None or few else told


def _zip_code(seen: _SeenColumn) -> str | None:
    """Return which ZIP codes are too exact: more than three digits, or a small area's three."""
    for value, text in zip(seen.values, seen.texts, strict=True):
        digits = re.match(r"\d*", text)
        shown = "" if digits is None else digits[0]
        masked = len(text) > len(shown)
        if isinstance(value, int | float) and not isinstance(value, bool):
            # A number has lost the zeros that it began with.
            shown = shown.zfill(5 if len(shown) > 3 else 3)
        if len(shown) > 3:
            return f"ZIP codes of more than three digits, such as {text}"
        if len(shown) == 3 and shown in seen.small_areas:
            of = f"{text} ({shown})" if masked else shown
            return f"the ZIP area {of} holds 20 000 people or fewer: it must be written 000"
    return None


# Dates and ages: (C).

_MONTHS = (
    r"(jan|feb|mar|apr|may|mai|jun|jul|aug|sep|sept|oct|okt|nov|dec|dez|ene|abr|ago|dic|fev|avr)"
    r"[a-zéû]*\.?"
)
_PARTS_OF_YEARS = late(
    rf"(18|19|20)\d\d[-/. ]?[QqTt][1-4]|[QqTt][1-4][-/. ]?(18|19|20)\d\d|(18|19|20)\d\d[-/.]"
    rf"(0?[1-9]|1[0-2])|(0?[1-9]|1[0-2])[-/.](18|19|20)\d\d|{_MONTHS}[- ]?(18|19|20)\d\d"
    r"|(18|19|20)\d\d[- ]?W\d\d?",
    re.IGNORECASE,
)
_DAY = late(
    rf"\b(18|19|20)\d\d-\d\d-\d\d|\b\d{{1,2}}[./-]\d{{1,2}}[./-](18|19|20)?\d\d\b"
    rf"|\b\d{{1,2}}(\.|st|nd|rd|th)?( of)?[ -]?{_MONTHS},?[ -]?(18|19|20)\d\d"
    rf"|\b{_MONTHS} \d{{1,2}}(st|nd|rd|th)?(, ?| )(\d\d?:\d\d(:\d\d)? )?(18|19|20)\d\d",
    re.IGNORECASE,
)
_MONTH = (
    r"(January|February|March|April|May|June|July|August|September|October|November|December|Januar"
    r"|Februar|März|Mai|Juni|Juli|Oktober|Dezember)"
)
_MONTH_AND = late(
    rf"\b{_MONTH} \d{{1,2}}(st|nd|rd|th)?(?![\d.,%]| ?(m?g|ml|mm|to|times|patients|people)\b)"
    rf"|\b\d{{1,2}}(\.|st|nd|rd|th)?( of)? {_MONTH}\b|\b{_MONTH},? (18|19|20)\d\d\b"
)
"""A month in words with a day or a year, as notes have it."""
_FIRST_OF_YEAR = late(r"(18|19|20)\d\d-01-01([T ]00:00(:00(\.0+)?)?)?")
_YEAR = late(r"(18|19|20)\d\d")
_RANGE = late(r"\D*?(\d+(?:\.\d+)?)\s*(?:-|–|to under|to|bis|a|à|,|;|\.\.)\s*(\d+(?:\.\d+)?)\D*")
_TIMES = {"month": 12, "months": 12, "monate": 12, "mo": 12, "mos": 12, "weeks": 52.18,
          "days": 365.25, "day": 365.25, "tage": 365.25}  # fmt: skip


def _moment(seen: _SeenColumn) -> tuple[IdentifierKind, str | None]:
    """Return why a column tells more of dates than the year, or ages above 89; None if not."""
    return IdentifierKind.DATES, _date(seen) or _part_of_date(seen) or _old(seen)


def _date(seen: _SeenColumn) -> str | None:
    if not seen.texts or seen.share(_FIRST_OF_YEAR) == 1:
        return None
    if look_like_dates(seen.values):
        exact = seen.example(lambda text: _YEAR.fullmatch(text) is None)
        return None if exact is None else f"dates more exact than the year, such as {exact}"
    for form in (_PARTS_OF_YEARS, _DAY, _MONTH_AND):
        hits = [text for text in seen.texts if form.search(text) is not None]
        if 2 * len(hits) >= len(seen.texts):
            return f"dates more exact than the year, such as {hits[0]}"
    dated = date_numbers(sorted(seen.numbers)) if seen.numbers else None
    return None if dated is None else f"{dated}: dates more exact than the year"


def _part_of_date(seen: _SeenColumn) -> str | None:
    """Return why a column tells months or days of the week, by its name and values."""
    if {text.casefold().rstrip(".") for text in seen.texts} <= _list("days of the week"):
        return "days of the week"
    names = re.compile(_MONTHS, re.IGNORECASE)
    if seen.texts and seen.share(names) == 1 and seen.distinct > 2:
        return "months"
    said = frozenset(seen.said) | frozenset(words(seen.name))
    months = not said.isdisjoint({"month", "monat", "mes", "mois", "mon", "quarter"})
    counted = not said.isdisjoint({"number", "count", "up", "followup", "to", "since", "member"})
    plural = not said.isdisjoint({"months", "monate"})
    whole = seen.numbers is not None and all(n.is_integer() for n in seen.numbers)
    counts = counted or plural or not months
    if counts or not whole or not seen.numbers or seen.distinct <= 2:
        return None
    fits = min(seen.numbers) >= 1 and max(seen.numbers) <= 12
    return "months of dates, by its name and its values" if fits else None


def _old(seen: _SeenColumn) -> str | None:
    """Return why ages above 89 are told apart; None if they share one category."""
    meaning = meaning_of(seen.name)
    if seen.texts and is_of_birth(seen.name):
        last = seen.today.year - _OLDEST - 1
        years = [_year_range(text) for text in seen.texts]
        old = {text for text, ends in zip(seen.texts, years, strict=True)
               if ends is not None and ends[0] <= last}  # fmt: skip
        exact = {text for text in old if _YEAR.fullmatch(text)}
        if exact or len(old) > 1:
            shown = sorted(exact or old)[0]
            return f"years of birth of people above {_OLDEST}, such as {shown}"
        return None
    aged = meaning is not None and meaning.kind is ColumnKind.AGE
    if not aged and "age" not in {*words(seen.name), *seen.said}:
        return None
    times = next((n for word, n in _TIMES.items() if word in words(seen.name)), 1)
    above = {}
    for text in seen.texts:
        ends = _age_range(text)
        if ends is not None and ends[1] / times >= _OLDEST + 1:
            above[text] = ends
    exact = {text for text, (low, high) in above.items() if low == high}
    if exact or len(above) > 1:
        shown = sorted(exact or above)[-1]
        return f"ages above {_OLDEST} are told apart, such as {shown}"
    return None


def _year_range(text: str) -> tuple[int, int] | None:
    """Return the first and the last year of a label."""
    years = [int(found[0]) for found in _YEAR.finditer(text)]
    if not years:
        return None
    if re.search(r"before|bis|under|until|earlier|≤|<", text, re.IGNORECASE) and len(years) == 1:
        return 0, years[0]
    if text.endswith("s") and len(years) == 1:
        return years[0], years[0] + 9
    return years[0], years[-1]


def _age_range(text: str) -> tuple[float, float] | None:
    """Return the lowest and the highest age of a label.

    >>> _age_range("93"), _age_range("80 to 89"), _age_range("[90, 95)"), _age_range("90+")
    ((93.0, 93.0), (80.0, 89.0), (90.0, 94.0), (90.0, inf))
    >>> _age_range("under 18"), _age_range("65 or more")
    ((0.0, 17.0), (65.0, inf))
    """
    number = re.fullmatch(r"\d+(\.\d+)?", text)
    if number is not None:
        return float(text), float(text)
    ends = _RANGE.fullmatch(text)
    if ends is not None:
        below = text.endswith((")", "[")) or "under" in text
        return float(ends[1]), float(ends[2]) - below
    found = re.search(r"\d+(\.\d+)?", text)
    if found is None:
        return None
    at = float(found[0])
    if re.search(r"under|below|less|younger|unter|<|until|up to", text, re.IGNORECASE):
        return 0.0, at - 1
    return at, float("inf")


# Identifiers inside texts, and numbers without a name.

_NUMBERED = r"[ .]{0,2}(no|nr|nbr|num|number|id|code|nummer)?[ .]{0,2}[:#=]{0,2} ?"
_GIVEN = r"(?=[\w-]*\d{4}|(?:[\w-]*\d){5})[A-Za-z0-9][\w-]{4,24}\b"


def _after(labels: str) -> re.Pattern[str]:
    """Return the form of a number that stands after what it is called: MRN 1234567."""
    return late(rf"\b({labels}){_NUMBERED}{_GIVEN}", re.IGNORECASE)


_OLD = r"(9\d|1[012]\d|ninety([ -](one|two|three|four|five|six|seven|eight|nine))?)"
_OLD_INSIDE = late(
    rf"\b{_OLD}[ -]?(years?|yrs?\.?|y)[ -]?(old|of age|/? ?o\b)|\b{_OLD}[ -]?y\.?o\.?\b"
    rf"|\b(aged?|age of|alter)[ :]{{1,2}}{_OLD}\b(?! ?(\+|-|%|or|and|to|bis|und|oder)|[.,]\d)"
    rf"|\b{_OLD}[ -]?(jährig|Jahre alt)"
    rf"|\b(turned|alter von) {_OLD}\b|^{_OLD} ?(years?|yrs?\.?|y|Jahre)$",
    re.IGNORECASE,
)
_STREET = late(
    r"\b\d{1,5} ([NSEW]\.? |North |South |East |West )?([A-Z][a-z]+ |\d{1,3}(st|nd|rd|th) ){1,3}"
    r"(St|Street|Ave|Avenue|Rd|Road|Blvd|Boulevard|Drive|Ln|Lane|Court|Place|Pkwy|Hwy|Terrace)\b"
    r"|\b[A-ZÄÖÜ][a-zäöüß]+(str\.|straße|strasse|gasse|allee) \d{1,4}[a-z]?\b"
    r"|\b[Pp]\.? ?[Oo]\.? ?[Bb][Oo][Xx] \d+|\b[Ll]at(itude)?[ :=]{1,3}-?\d{1,2}\.\d{3}"
)
_STATES = (
    "AL|AK|AZ|AR|CA|CO|CT|DE|DC|FL|GA|HI|ID|IL|IN|IA|KS|KY|LA|ME|MD|MA|MI|MN|MS|MO|MT|NE|NV|NH|NJ"
    "|NM|NY|NC|ND|OH|OK|OR|PA|PR|RI|SC|SD|TN|TX|UT|VT|VA|WA|WV|WI|WY"
)
_IN_A_STATE = late(
    rf"((?:^|, ?|[a-z] )({_STATES}),? |\b(?i:zip( code)?|postal code|plz)\W{{1,3}}"
    rf"|\b(lives?|living|resid(es|ing)) (in|at) )\d{{5}}(-\d{{4}})?\b"
)
_PHONE_INSIDE = rf"(?<![\d.-])({_DASHED.pattern})(?![\d-])"

_INSIDE: Sequence[tuple[IdentifierKind, re.Pattern[str], str]] = (
    (IdentifierKind.EMAIL,
     late(r"[\w.+-]+@[\w-]+\.[A-Za-z]{2,}|[\w.+-]+ ?[\[({] ?at ?[\])}] ?[\w-]+"
                r"|[\w.+-]+ at [\w-]+\.(com|org|net|edu)\b"), "an e-mail address"),
    (IdentifierKind.SOCIAL_SECURITY,
     late(rf"(?<![\d.-])({_SSN.pattern})(?![\d-])|(?i:\bssn){_NUMBERED}\d{{9}}\b"),
     "a social security number"),
    (IdentifierKind.DEVICE, late(rf"(?<![\w:-])({_MAC.pattern})(?![\w:-])"),
     "a hardware address"),
    (IdentifierKind.IP, late(
        rf"(?<![\d.]){_OCTET}(\.{_OCTET}){{3}}(?![\d.])"
        r"|(?<![\w:])([0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}(?![\w:])"
        r"|(?<![\w:])([0-9a-fA-F]{1,4}:){2,6}(:[0-9a-fA-F]{1,4}){1,5}(?![\w:])"),
     "an IP address"),
    (IdentifierKind.URL, late(
        r"https?://\S+|www\.\S+\.\S+|\b[\w-]+(\.[\w-]+)*\.(com|org|net|io|me|co\.\w\w)/\S+"),
     "a web address"),
    (IdentifierKind.VEHICLE, late(
        r"\b(?=[A-Z0-9]*[A-Z])(?=[A-Z0-9]*\d)[A-HJ-NPR-Z0-9]{13}\d{4}\b"),
     "a vehicle identification number"),
    (IdentifierKind.VEHICLE,
     late(r"\b(?i:(licen[cs]e|number)? ?plate|kennzeichen)"
                rf"{_NUMBERED}(?=[A-Z0-9 -]*\d)[A-Z0-9]{{1,4}}[ -]?[A-Z0-9]{{2,5}}\b"),
     "the number of a plate"),
    (IdentifierKind.FAX, late(rf"\b(tele)?fax\b\D{{0,12}}({_DASHED.pattern})", re.IGNORECASE),
     "a fax number"),
    (IdentifierKind.TELEPHONE, late(
        rf"{_PHONE_INSIDE}|\b(?i:tel|phone|call|pager)\b\W{{0,3}}(\d{{3}}-\d{{4}}|\d{{10}})\b"
        r"|(?<![\d.-])0\d{2,4}[ /]\d{6,8}\b"),
     "a telephone number"),
    (IdentifierKind.MEDICAL_RECORD,
     _after("mrn|medical record|med rec|chart no|chart number|record no|record number"),
     "a medical record number"),
    (IdentifierKind.HEALTH_PLAN,
     _after("member id|member no|member number|policy no|policy number|subscriber|medicaid"
               "|medicare|insurance no|insurance number|insurance id"), "a health plan number"),
    (IdentifierKind.ACCOUNT,
     _after("account|acct|iban|credit card|card no|card number"), "an account number"),
    (IdentifierKind.LICENCE,
     _after(r"dl(?= ?(#|no))|licen[cs]e|driver'?s licen[cs]e|passport|npi|dea\b|certificate"),
     "the number of a license"),
    (IdentifierKind.DEVICE,
     _after(r"serial|serial number|s/n|sn\b|imei|device id"), "the number of a device"),
    (IdentifierKind.GEOGRAPHY, _STREET, "a street address"),
    (IdentifierKind.GEOGRAPHY, _IN_A_STATE, "a ZIP code"),
    (IdentifierKind.PHOTO, late(r"\b[\w-]+\.(jpe?g|png|heic)\b", re.IGNORECASE), "a picture"),
    (IdentifierKind.BIOMETRIC, late(r"\b[\w-]+\.(wsq|fpt|wav|mp3)\b", re.IGNORECASE),
     "a recording"),
    (IdentifierKind.DATES, _DAY, "a date"),
    (IdentifierKind.DATES, _MONTH_AND, "a date"),
    (IdentifierKind.DATES, _OLD_INSIDE, f"an age above {_OLDEST}"),
)  # fmt: skip
"""Identifiers that stand among other words, in notes and in the odd cell, the surest form first."""


_WITH: Mapping[re.Pattern[str], Sequence[str]] = {
    form: words_of_it
    for _, form, what in _INSIDE
    for said, words_of_it in {
        "an e-mail address": ("@", "at"),
        "a web address": ("/", "www"),
        "a hardware address": (":", "-", "."),
        "the number of a plate": ("plate", "kennzeichen"),
        "a fax number": ("fax",),
        "a medical record number": ("mrn", "rec", "chart"),
        "a health plan number": ("member", "policy", "subscr", "medica", "insurance"),
        "an account number": ("acc", "iban", "card"),
        "the number of a license": ("licen", "passport", "npi", "dea", "certificate", "dl"),
        "the number of a device": ("serial", "s/n", "sn", "imei", "device"),
        f"an age above {_OLDEST}": ("old", "age", "y", "jahr", "jähr", "alter", "turned"),
    }.items()
    if said == what
}
"""What a text with such an identifier has at least: it is looked for first, which is quick."""


def _in_texts(seen: _SeenColumn) -> dict[IdentifierKind, str]:
    """Return the kinds of which at least one cell has an identifier among other words."""
    if seen.numbers is not None or look_like_dates(seen.values):
        return {}
    found: dict[IdentifierKind, str] = {}
    texts = seen.texts
    whole = "\n".join(texts).casefold()
    for kind, form, what in _INSIDE:
        if not any(word in whole for word in _WITH.get(form, ("",))):
            continue
        if any(form.search(text) is not None for text in texts):
            found.setdefault(kind, f"some of its texts hold {what}")
            # What is known to be one thing is not taken for another, too.
            texts = [form.sub(" ", text) for text in texts]
    if are_names(seen.domain):
        found[IdentifierKind.NAMES] = "the values look like names of people"
    elif names_someone(seen.domain, least=1):
        found[IdentifierKind.NAMES] = "some of its texts hold a name after a title"
    if not found and is_free_text(seen.domain):
        # Nothing that a machine knows; who wrote them may have named someone.
        found[IdentifierKind.OTHER] = "long texts, which can hold identifiers of any kind"
    return found


def _unique(seen: _SeenColumn) -> str | None:
    """Return why values are unique numbers or codes of another kind."""
    given = frozenset({"id", "ids", "number", "no", "nr", "key", "code", "token", "pseudonym",
                       "identifier", "barcode", "uuid", "guid"})  # fmt: skip
    named = not given.isdisjoint(words(seen.name)) or not given.isdisjoint(seen.said)
    about = not _list("other things").isdisjoint({*seen.said} - given)
    own = seen.distinct >= min(20, max(2, seen.known // 2))
    if named and not about and seen.are_codes and own:
        return "unique numbers or codes, by its name and its values"
    return identifying(seen.domain)
