"""The words of labels in several languages: ranges, what is open at an end, and all others."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from sfumato.dataclasses import dataclass
from sfumato.errors import UnknownNameError
from sfumato.lists import read_lists
from sfumato.patterns import late

_FILE = Path(__file__).with_name("languages.txt")
_SIGNS = "signs of "

DEFAULT = "en"


@dataclass(frozen=True)
class Language:
    """The words of one language.

    >>> language_of("de").say("to under", low="2.5", high="5")
    '2.5 bis unter 5'
    """

    code: str
    ways: Mapping[str, tuple[str, ...]]
    """For each thing the ways to say it, the one that is written first."""

    def say(self, what: str, **parts: str | int) -> str:
        """Return a label.

        Args:
            what: What it says: `range`, `under`, `other` …
            parts: What its blanks are filled with.
        """
        return self.ways[what][0].format(**parts)

    def list_or(self, names: Sequence[str]) -> str:
        """Join names as alternatives.

        >>> language_of("fr").list_or(["a", "b", "c"])
        'a, b ou c'
        """
        *first, last = names
        return self.say("or", first=", ".join(first), last=last) if first else last


@cache
def _languages() -> Mapping[str, Language]:
    found = {}
    for code, text in read_lists(_FILE).items():
        if not code.startswith(_SIGNS):
            lines = [line.partition(": ") for line in text.splitlines() if line]
            ways = {what: tuple(map(str.strip, said.split("|"))) for what, _, said in lines}
            found[code] = Language(code, ways)
    return found


def languages() -> list[str]:
    """Return the languages that labels can be in.

    >>> languages()
    ['en', 'de', 'fr', 'es', 'it', 'nl']
    """
    return list(_languages())


def language_of(code: object) -> Language:
    """Return a language, or raise an error that lists those that there are."""
    known = _languages()
    if not isinstance(code, str) or code not in known:
        raise UnknownNameError("language", str(code), list(known))
    return known[code]


_ENDS = {"{low}": "(?P<low>.+?)", "{high}": "(?P<high>.+)", "{decade}": r"(?P<decade>\d{3}0)"}


@cache
def _forms() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return how ranges are written in other languages than English, and what each way says."""
    found = []
    english = _languages()[DEFAULT]
    for language in _languages().values():
        for what, ways in language.ways.items():
            if language is english or "{" not in ways[0] or english.ways[what][0].count("{n"):
                continue
            for way in ways:
                form = re.escape(way).replace(r"\{", "{").replace(r"\}", "}").replace(r"\ ", " ")
                for blank, group in _ENDS.items():
                    form = form.replace(blank, group)
                if not re.search(r"\{[a-z]", form):
                    found.append((what, late(form, re.IGNORECASE)))
    return tuple(found)


def in_english(label: str) -> Iterator[str]:
    """Yield what a label may be in English that says a range in another language.

    >>> list(in_english("20 bis unter 25"))
    ['20 to unter 25', '20 to under 25']
    >>> list(in_english("65 et plus")), list(in_english("flu"))
    (['65 or more'], [])
    """
    if not any(map(str.isdigit, label)):
        return
    english = _languages()[DEFAULT]
    for what, form in _forms():
        found = form.fullmatch(label)
        if found is not None:
            yield english.say(
                what, **{name: text.strip() for name, text in found.groupdict().items()}
            )


@cache
def _signs() -> Mapping[str, frozenset[str]]:
    """Return the words of each language, without marks on letters."""
    lists = read_lists(_FILE)
    return {code: frozenset(map(_bare, lists[_SIGNS + code].split())) for code in _languages()}


def _bare(word: str) -> str:
    plain = unicodedata.normalize("NFKD", word.casefold())
    return "".join(char for char in plain if not unicodedata.combining(char))


_FEWEST_SIGNS = 2
"""The fewest columns by which a language is told."""


def language_in(columns: Sequence[Sequence[str]]) -> str:
    """Return the language that most columns of a table are in; English where it is not clear.

    Args:
        columns: For each column the words of its name, and of its values if they are few.

    Example:
        >>> language_in([["alter"], ["geschlecht", "m", "w"], ["x1"]]), language_in([["alter"]])
        ('de', 'en')
    """
    hits: Counter[str] = Counter()
    for words in columns:
        mine = {code for code, known in _signs().items() if not known.isdisjoint(map(_bare, words))}
        # What is a word of two languages says nothing.
        hits.update(mine if len(mine) == 1 else ())
    ranked = hits.most_common(2)
    if not ranked or ranked[0][1] < _FEWEST_SIGNS:
        return DEFAULT
    others = ranked[1][1] if len(ranked) > 1 else 0
    return ranked[0][0] if ranked[0][1] > others else DEFAULT
