"""The reading of text files: what the caller declares about them, and their encoding.

A file of an office says of itself neither its encoding nor what separates its cells. What can be
found out for certain is found out and told; what cannot is asked, never guessed.
"""

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field, fields, replace
from functools import cache
from os import PathLike
from pathlib import Path

from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, require_int, require_text

_WORDS = {
    "tab": "\t", "comma": ",", "semicolon": ";", "colon": ":", "bar": "|", "pipe": "|",
    "space": " ", "point": ".", "dot": ".", "apostrophe": "'", "none": "", "double": '"',
    "single": "'", "\\t": "\t",
}  # fmt: skip
"""Names of characters that are hard to see or to write in a policy."""

DECIMALS = (".", ",")
THOUSANDS = ("", ".", ",", "'", " ")
"""Of blanks and of apostrophes one stands for all of its kind."""

QUOTES = ('"', "'", "")


@dataclass(frozen=True)
class Reading:
    """How a text file is read. What is None is found out.

    Args:
        delimiter: The character between cells, as in `;` or `tab`.
        encoding: How characters are written as bytes, as in `utf-8`, `windows-1252`, `latin-9`,
            `mac-roman` or `utf-16`.
        quote: The character around cells that hold the delimiter: `"`, `'` or `none`.
        decimal: The decimal mark of numbers, `.` or `,`.
        thousands: The mark between thousands: `.`, `,`, `'`, `space` or `none`.
        missing: Cells that mean that nothing is known, as in `[NA, "?"]`, besides empty ones.
        skip: How many lines before the header are left out; rows, in a sheet.
        numbers: The decimal and the thousands mark of each column whose numbers are rewritten; None
            if that is to be found out.
        sheet: The name or the number of the sheet, in a file of Excel or LibreOffice.
        as_written: Whether cells stay as they are written, whatever marks their numbers have.

    Example:
        >>> Reading(delimiter="tab", decimal="comma").decimal
        ','
        >>> Reading(encoding="latin1").encoding
        'iso-8859-1'
    """

    delimiter: str | None = None
    encoding: str | None = None
    quote: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    missing: tuple[str, ...] = ()
    skip: int = 0
    numbers: Mapping[str, tuple[str, str]] | None = field(default=None, compare=False)
    sheet: str | int | None = None
    as_written: bool = False

    def __post_init__(self) -> None:
        for name in ("delimiter", "quote", "decimal", "thousands"):
            value = getattr(self, name)
            if isinstance(value, str):
                object.__setattr__(self, name, _WORDS.get(value.lower(), value))
        if isinstance(self.encoding, str):
            object.__setattr__(self, "encoding", _encoding_named(self.encoding))
        if isinstance(self.missing, str):
            raise ParameterError("missing", self.missing, 'a list of cells, as in [NA, "?"]')
        object.__setattr__(self, "missing", tuple(self.missing))
        self._require_allowed()

    def _require_allowed(self) -> None:
        if self.delimiter is not None and not _separates(self.delimiter):
            raise ParameterError(
                "delimiter",
                self.delimiter,
                "one ASCII character that is neither a quote, a letter nor a digit, as in ';' or "
                "tab",
            )
        allowed = {
            "quote": (self.quote, QUOTES, "\", ' or none"),
            "decimal": (self.decimal, DECIMALS, "'.' or ','"),
            "thousands": (self.thousands, THOUSANDS, "'.', ',', \"'\", space or none"),
        }
        for name, (value, known, words) in allowed.items():
            if value is not None and value not in known:
                raise ParameterError(name, value, words)
        if self.decimal is not None and self.decimal == self.thousands:
            raise ParameterError("thousands", self.thousands, "another mark than the decimal mark")
        if self.quote and self.quote == self.delimiter:
            raise ParameterError("quote", self.quote, "another character than the delimiter")
        require_int("skip", self.skip, at_least=0)
        if isinstance(self.sheet, int):
            require_int("sheet", self.sheet, at_least=1)
        elif self.sheet is not None:
            require_text("sheet", self.sheet)
        for cell in self.missing:
            if not isinstance(cell, str):
                raise ParameterError("missing", cell, "the text of a cell")

    @property
    def of_cells(self) -> "Reading":
        """The part of it that is about cells, and not about the file that they are in."""
        return Reading(decimal=self.decimal, thousands=self.thousands, missing=self.missing)

    def number(self, text: str) -> str | None:
        """Return a number as programs write it, by the marks that are said and no other value.

        Without a decimal mark that is said, numbers are written as programs write them already.
        Thousands may then have no mark; with one, any but the decimal mark, unless it is said.

        >>> german = Reading(decimal=",")
        >>> german.number("1.234,5"), german.number("1.5"), Reading().number("1.5")
        ('1234.5', None, '1.5')
        """
        if self.decimal is None and self.thousands is None:
            return text
        found = _number_with(self.decimal or ".", self.thousands).fullmatch(text.strip())
        if found is None:
            return None
        whole = re.sub(r"\D", "", found["whole"])
        sign = "-" if found["sign"] in ("-", "\u2212") else ""
        part = f".{found['part']}" if found["part"] else ""
        return f"{sign}{whole or 0}{part}{found['exponent'] or ''}"

    def over(self, other: "Reading | None") -> "Reading":
        """Return what this says, and where it says nothing what another does.

        >>> Reading(decimal=",").over(Reading(delimiter=";", decimal=".")).delimiter
        ';'
        """
        if other is None:
            return self
        said = {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if getattr(self, each.name) not in (None, (), 0)
        }
        return replace(other, **said)


@cache
def _number_with(decimal: str, thousands: str | None) -> "re.Pattern[str]":
    """Return what numbers look like with a decimal mark, and a mark of thousands or any other."""
    kinds = {" ": " \u00a0\u202f\u2009", "'": "'\u2019"}
    marks = [m for m in THOUSANDS if m and m != decimal] if thousands is None else [thousands]
    every = "".join(re.escape(kinds.get(mark, mark)) for mark in marks)
    grouped = rf"[1-9][0-9]{{0,2}}(?P<mark>[{every}])[0-9]{{3}}(?:(?P=mark)[0-9]{{3}})*"
    india = "|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}" if "," in marks else ""
    groups = f"{grouped}{india}|" if every else ""
    point = re.escape(decimal)
    return re.compile(
        f"(?P<sign>[-+\u2212]?)(?=[0-9{point}])(?P<whole>{groups}[0-9]*)"
        f"(?:{point}(?P<part>[0-9]+))?(?P<exponent>[eE][-+]?[0-9]+)?"
    )


def _separates(text: object) -> bool:
    return (
        isinstance(text, str)
        and len(text) == 1
        and text.isascii()
        and not text.isalnum()
        and text not in "\"'\r\n\0"
    )


@dataclass(frozen=True)
class TextFile(PathLike[str]):
    """A text file of which it is known how it is read, or in part.

    >>> str(TextFile(Path("data.csv"), Reading(delimiter=";")))
    'data.csv'
    """

    path: Path
    reading: Reading = Reading()

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path).expanduser())

    def __fspath__(self) -> str:
        return str(self.path)

    def __str__(self) -> str:
        return str(self.path)


# Who is told what was found out.


_LISTENER: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


def tell(note: str) -> None:
    """Pass a note on how a file was read to the listener, if there is one."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(note)


@contextmanager
def listening(listener: Callable[[str], None]) -> Iterator[None]:
    """Call a function with what is found out about files in the block, each note once.

    >>> with listening(print):
    ...     tell("people.csv: separated by ';'")
    people.csv: separated by ';'
    """
    told: set[str] = set()

    def once(note: str) -> None:
        if note not in told:
            told.add(note)
            listener(note)

    token = _LISTENER.set(once)
    try:
        yield
    finally:
        _LISTENER.reset(token)


# What the caller declares about all text files of a command.


_SAID: ContextVar[Reading | None] = ContextVar("said", default=None)


def said_of_all() -> Reading | None:
    """Return what is declared about all text files that are opened here; None if nothing is."""
    return _SAID.get()


@contextmanager
def saying(reading: Reading) -> Iterator[None]:
    """Set how all text files are read that are opened in the block and of which not all is known.

    >>> with saying(Reading(decimal=",")):
    ...     said_of_all().decimal
    ','
    """
    token = _SAID.set(reading)
    try:
        yield
    finally:
        _SAID.reset(token)


# Encodings: names, and how one is found out.


_OUR_NAMES = {
    "cp1252": "windows-1252", "cp1250": "windows-1250", "cp1251": "windows-1251",
    "cp1253": "windows-1253", "cp1254": "windows-1254", "cp1255": "windows-1255",
    "cp1256": "windows-1256", "cp1257": "windows-1257", "cp1258": "windows-1258",
    "iso8859-1": "iso-8859-1", "iso8859-15": "iso-8859-15", "utf-8-sig": "utf-8",
    "ascii": "utf-8",
}  # fmt: skip
_SYNONYMS = {"ansi": "cp1252", "mac": "mac-roman", "latin-9": "iso8859-15", "latin9": "iso8859-15",
             "dos": "cp850", "unicode": "utf-16"}  # fmt: skip
_KNOWN = re.compile(
    r"utf-(8|8-sig|16|16-le|16-be|32|32-le|32-be)|ascii|cp(125[0-8]|437|720|737|775|85[0-8]|86\d|"
    r"874|9\d\d)|iso8859-\d+|iso2022_\w+|mac-\w+|koi8-[rtu]|shift_jis\w*|euc_\w+|gb\w+|big5\w*|"
    r"johab|hz|tis-620|hp-roman8|ptcp154|kz1048"
)


def _encoding_named(name: str) -> str:
    """Return our name for an encoding; raise if there is none of that name."""
    given = name.strip().lower()
    try:
        known = codecs.lookup(_SYNONYMS.get(given, given)).name
    except (LookupError, ValueError):
        known = ""
    if not _KNOWN.fullmatch(known):
        raise ParameterError(
            "encoding",
            name,
            "the name of an encoding of text: utf-8, utf-16, windows-1252, iso-8859-1, latin-9, "
            "mac-roman, cp850, windows-1250, …",
        )
    return _OUR_NAMES.get(known, known)


_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def find_wide_encoding(start: bytes) -> str | None:
    r"""Return the encoding that a byte order mark says, or zero bytes beside every letter.

    >>> find_wide_encoding("\ufeffa;b".encode("utf-16-be")), find_wide_encoding(b"a\0;\0b\0")
    ('utf-16-be', 'utf-16-le')
    >>> find_wide_encoding(b"a;b"), find_wide_encoding(b"a\0\0b")
    (None, None)
    """
    for mark, encoding in _MARKS:
        if start.startswith(mark):
            return encoding
    even, odd = start[::2].count(0), start[1::2].count(0)
    if max(even, odd) * 10 < len(start) or min(even, odd):
        return None
    encoding = "utf-16-le" if odd else "utf-16-be"
    try:
        codecs.getincrementaldecoder(encoding)().decode(start)
    except UnicodeDecodeError:
        return None
    return encoding


_RIVALS = ("windows-1252", "iso-8859-15", "mac-roman", "cp850")
"""What is told apart; others are for people to name. All agree on ASCII."""

_OTHERS = ("windows-1250", "windows-1251", "windows-1254", "windows-1253", "windows-1257")

_TOKEN = re.compile(rb"[0-9A-Za-z\x80-\xff]*[\x80-\xff][0-9A-Za-z\x80-\xff]*")
_NUMBERED = re.compile(rb"(?<=[A-Za-z]{2}[\x80-\xff])[0-9]+$")
"""The number behind a word, as in addresses: in groß15 and groß66 it is the word that counts."""

_UTF8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_MOST_TOKENS = 20_000


@dataclass(frozen=True)
class FoundEncoding:
    """The encoding of bytes that are no UTF-8, or why it is not certain."""

    encoding: str | None
    """None if it is to be asked."""

    readings: tuple[tuple[str, str], ...] = ()
    """Encodings it may be, each with the first word in which they differ, as it reads there."""

    mixed: bool = False
    """Whether there is UTF-8 among bytes that are none."""


def find_encoding(chunks: Iterable[bytes]) -> FoundEncoding:
    r"""Return which encoding of western Europe bytes are in that are no UTF-8.

    Every word with a letter beyond ASCII is read in each encoding. One is taken if nearly all words
    look like words in it, and in every other one more of them do not: `MŸller` and `Kšln` are no
    words. Where two are as good, or none is, people are asked.

    >>> find_encoding(["Müller;Köln".encode("latin1")]).encoding
    'windows-1252'
    >>> find_encoding(["Müller;Köln".encode("mac-roman")]).encoding
    'mac-roman'
    >>> find_encoding(["c\u0153ur;5 €".encode("latin9")]).encoding
    'iso-8859-15'
    >>> find_encoding(["Dvořák;Němec".encode("cp1250")]).encoding
    """
    tokens: dict[bytes, None] = {}
    proper = others = 0
    for chunk in chunks:
        found = _TOKEN.findall(chunk)
        tokens.update(dict.fromkeys(_NUMBERED.sub(b"", token) for token in found))
        for token in found:
            rest, n = _UTF8.subn(b"", token)
            proper += n
            others += not rest.isascii()
        if len(tokens) > _MOST_TOKENS or proper + others > 10 * _MOST_TOKENS:
            break
    words = list(tokens)
    if proper and proper * 10 > others:
        return FoundEncoding(None, mixed=True)
    grades = {name: _grade(words, name) for name in _RIVALS}
    best = min((each for each in grades.values() if each), key=lambda each: each[:2], default=None)
    if best is None or best[0] * 20 > len(words) or best[1] * 5 > len(words):
        return FoundEncoding(None, _differing(words, (*_RIVALS, *_OTHERS)))
    bad, _, text = best
    equal = {name for name, each in grades.items() if each and each[0] == bad and each[2] != text}
    chosen = next(name for name, each in grades.items() if each and each[2] == text)
    # Signs alone, such as the degree, say Windows and nothing else.
    certain = not equal if _has_letters(text) else chosen == _RIVALS[0]
    if not certain:
        return FoundEncoding(None, _differing(words, dict.fromkeys((chosen, *equal, *_RIVALS))))
    return FoundEncoding(chosen)


def _grade(words: list[bytes], encoding: str) -> tuple[int, int, str] | None:
    """Return how many words are none in an encoding, how many are rare, and all of them."""
    try:
        text = b" ".join(words).decode(encoding)
    except UnicodeDecodeError:
        return None
    # Not by splitting: what is a blank in one encoding is a letter in another.
    read = [word.decode(encoding) for word in words]
    grades = [_oddness(word) for word in read]
    return grades.count(2), grades.count(1), text


def _has_letters(text: str) -> bool:
    return any(c.isalpha() and not c.isascii() and c != "µ" for c in text)


def _differing(words: list[bytes], encodings: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return how the first word reads in each encoding that has another reading for it."""
    for word in words[:50]:
        found: dict[str, str] = {}
        for encoding in encodings:
            try:
                read = word.decode(encoding)
            except UnicodeDecodeError:
                continue
            if read.isprintable() and read not in found.values():
                found[encoding] = read[:30]
        if len(found) > 1:
            return tuple(list(found.items())[:4])
    return ()


_WEST = frozenset("àáâãäåæçèéêëìíîïñòóôõöøùúûüÿßœÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜŸŒẞ")
_RARE = frozenset("šžŠŽðþýÐÞÝ")
_SIGNS = frozenset("§°²³µ½¼¾£€¥¢±×«»‹›“”‘’„‚–—…·¿¡ºª®©™\u00a0\u00ad")
_INSIDE = frozenset("’‘–—\u00ad\u00a0")
_OPENING = frozenset("¿¡„‚")
_CLOSING = frozenset("²³½¼¾ºª™®")
_VOWELS = frozenset("aeiouyäöüáéíóúàèâêîôûAEIOUYÄÖÜ")


def _oddness(word: str) -> int:
    """Return 0 for what looks like a word of western Europe, 1 for a rare one, 2 for none.

    >>> [_oddness(word) for word in ("Müller", "Žižek", "MŸller", "JosŽ", "Dvoøák", "5€", "5Ä")]
    [0, 1, 2, 2, 2, 0, 2]
    """
    worst = run = 0
    for at, c in enumerate(word):
        if c.isascii():
            run = 0
            continue
        before, after = word[at - 1 : at] if at else "", word[at + 1 : at + 2]
        if c in _WEST or c in _RARE:
            run += 1
            if run > 2 or _is_misplaced(c, before, after, word):
                return 2
            worst = max(worst, int(c in _RARE))
        elif c not in _SIGNS or _is_stray(c, before, after):
            return 2
        else:
            run = 0
    return worst


_PLACES: Mapping[str, Callable[[str, str, str], bool]] = {
    "ì": lambda _before, after, _: not after.isalpha(),
    "ò": lambda _before, after, _: not after.isalpha(),
    "è": lambda before, after, _: before.isalpha() or not after.isalpha(),
    "õ": lambda _before, after, _: after.lower() == "e",
    "ã": lambda _before, after, _: not after.isalpha() or after.lower() in "oesi",
    "ñ": lambda _before, after, _: not after.isalpha() or after.lower() in _VOWELS,
    "æ": lambda before, _after, _: before.lower() not in {*"aeiouy"},
    "ß": lambda before, _after, _: before in _VOWELS,
    "ø": lambda _before, _after, word: not {*word.lower()} & {*"áíýìèùúšž"},
}
"""Where letters stand in languages of western Europe, by what is before and after them."""


def _is_misplaced(c: str, before: str, after: str, word: str) -> bool:
    """Return whether no language of western Europe has a letter where it stands."""
    if before.isdigit() or after.isdigit():
        return True
    if len(word) == 1:
        return c not in "àÀèÈéÉôóÓ"
    if c.isupper() and before.isalpha() and (before.islower() or after.islower()):
        return True
    fits = _PLACES.get(c.lower())
    return fits is not None and not fits(before, after, word)


def _is_stray(c: str, before: str, after: str) -> bool:
    """Return whether a sign stands where no one writes it."""
    if c == "·":
        return before.isalpha() != after.isalpha()
    if before.isalpha() and after.isalpha():
        return c not in _INSIDE
    if before.isalpha():
        return c in _OPENING or c in "½¼¾"
    return after.isalpha() and c in _CLOSING


RELEASED = Reading(encoding="utf-8", quote='"', decimal=".", thousands="none", numbers={})
"""How releases are written: nothing is found out about them, and nothing is rewritten."""


_CELL = re.compile(r'(?:"((?:[^"]++|"")*+)"|([^",\r\n]*+))(,|\r?\n|\Z)')


def csv_rows(text: str) -> list[list[str]]:
    r"""Read CSV as Sfumato writes it: commas, double quotes, and no line that is empty.

    The reader of the standard library refuses cells of more than 131 072 characters; that limit can
    only be raised for a whole process, which may not be ours.

    >>> csv_rows('a,b\n1,"x, ""y""\n"\n')
    [['a', 'b'], ['1', 'x, "y"\n']]
    """
    rows: list[list[str]] = []
    row: list[str] = []
    at = 0
    while at < len(text) or row:
        cell = _CELL.match(text, at)
        if cell is None:
            raise ValueError(f"a quote in row {len(rows) + 1} is not closed, or stands in a cell")
        row.append(cell[2] if cell[1] is None else cell[1].replace('""', '"'))
        at = cell.end()
        if cell[3] != ",":
            rows.append(row)
            row = []
    return rows
