"""What results, drafts and errors say, in other languages: by the sentences that they are made of.

Tasks say everything in English, with names and figures in it. A catalogue has such sentences with
`{names}` for what differs, in files `told*.yaml`; a text that fits one is said anew with the same
parts. Of several that fit, the one with most words of its own is taken. What a part holds is
translated as well, if the catalogue has it. What it may be depends on its kind: a figure (`#`), a
letter (`1`), a name of ours (`-`), anything (`*`), or else what ends no sentence. A text is
translated whole or not at all: half of a sentence in each language serves nobody.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from html import unescape
from string import Formatter
from typing import NamedTuple

from markupsafe import Markup, escape

from sfumato.app.texts import catalogue, read_told

_DEEP = 4
"""How many sentences within sentences are looked at."""


_LONGEST = 6000
"""Letters of a text that is looked at; nothing that a task says is longer."""

_KEPT = 4096
"""Texts of which is remembered what they are in another language."""


_KINDS = {
    **dict.fromkeys(("n", "m", "o", "of", "share", "alpha", "loss"), "#"),
    **dict.fromkeys(("attack", "model"), "-"),
    **dict.fromkeys(("rest", "reasons"), "*"),
}
"""Of which kind parts of these names are; others say it, as `{any:#}`."""

# So nothing fits that merely has the words of a pattern.
_HELD = {
    "": r"(?:(?![.!?;]\s).)+?",
    "*": ".+?",
    "-": r"[\w-]+(?:\([^()]*\))?",
    "#": r"[<>≥]?[\d.,%∞\s]+?",
    "1": r"[a-z]",
}
"""What a part of each kind is."""


_BETWEEN = (
    (re.compile(r"(?<=[.!?])\s+(?=\S)"), " "),
    (re.compile("; "), "; "),
    (re.compile(", "), ", "),
)
"""What stands between sentences, and between the members of a row, and what is put there."""


class _Pattern(NamedTuple):
    form: re.Pattern[str]
    told: str
    words: tuple[str, ...]
    """What is its own, in between of what differs."""

    def fits(self, text: str) -> re.Match[str] | None:
        """Return how a text fits; most do not, and that is seen at once."""
        if not text.startswith(self.words[0]) or not text.endswith(self.words[-1]):
            return None
        return self.form.fullmatch(text) if all(each in text for each in self.words) else None


@cache
def _patterns(language: str) -> tuple[_Pattern, ...]:
    found = []
    for text, told in read_told(language).items():
        form, own, seen = "", [], set()
        for words, name, kind, _ in Formatter().parse(text):
            form += re.escape(words)
            own.append(words)
            if name is not None:
                said = "*" if name.endswith("_said") else ""
                held = _HELD[kind or _KINDS.get(name, said)]
                form += f"(?P={name})" if name in seen else f"(?P<{name}>{held})"
                seen.add(name)
        if text.endswith("}"):
            own.append("")
        found.append(_Pattern(re.compile(form, re.DOTALL), told, tuple(own)))
    return tuple(sorted(found, key=lambda each: -sum(map(len, each.words))))


class Teller:
    """Says what tasks say in another language.

    >>> tell = teller("de")
    >>> tell("8 distinct values, looks like a postcode by its name: others may know it")
    '8 verschiedene Werte; sieht dem Namen nach aus wie eine Postleitzahl: andere können es wissen'
    >>> tell("no catalogue has this") is None
    True
    """

    def __init__(self, language: str) -> None:
        own = read_told(language)
        self._and = f" {own.get('and', 'and')} "
        # Words of pages, as the roles of columns, are said in sentences, too.
        self._whole = {**catalogue(language), **own}
        self._patterns = _patterns(language)
        self._tell = lru_cache(_KEPT)(self._find)

    def __call__(self, text: str, deep: int = _DEEP) -> str | None:
        """Return a text in the language; None where the catalogue cannot say it whole."""
        return None if len(text) > _LONGEST else self._tell(text, deep)

    def _find(self, text: str, deep: int) -> str | None:
        if text in self._whole:
            return self._whole[text]
        if not deep:
            return None
        lower = text[:1].lower() + text[1:]
        found = self._fit(text, deep)
        if found is None and lower != text:
            found = self._fit(lower, deep)
            found = None if found is None else found[:1].upper() + found[1:]
        return self._tell_apart(text, deep) if found is None else found

    def _fit(self, text: str, deep: int) -> str | None:
        """Return what a text says by the pattern that it fits."""
        for pattern in self._patterns:
            match = pattern.fits(text)
            if match is not None:
                parts = self._tell_parts(match.groupdict(), deep)
                if parts is not None:
                    return pattern.told.format(**parts)
        return None

    def _tell_parts(self, parts: Mapping[str, str], deep: int) -> dict[str, str] | None:
        """Return the parts of a sentence; None if one is a sentence that cannot be said."""
        said = {}
        for name, part in parts.items():
            found: str | None = part.replace(" and ", self._and)
            if name.endswith("_said"):
                found = self(part, deep - 1)
            if found is None:
                return None
            said[name] = found
        return said

    def _tell_apart(self, text: str, deep: int) -> str | None:
        """Return a text of several sentences, or of several parts of one that stand in a row."""
        bare = text.removesuffix(".")
        found = None if bare == text else self(bare, deep - 1)
        if found is not None:
            return f"{found}."
        for between, put in _BETWEEN:
            parts = between.split(text)
            if len(parts) > 1:
                said = [self(part, deep - 1) for part in parts]
                if None not in said:
                    return put.join(filter(None, said))
        return None


@cache
def teller(language: str) -> Teller:
    """Return what says in a language what tasks say."""
    return Teller(language)


def show_told(text: str, language: str) -> Markup:
    """Return what a task says for a page; what stays English is marked so for readers aloud."""
    if language == "en":
        return escape(text)
    said = teller(language)(text)
    if said is None:
        return Markup('<span lang="en">{}</span>').format(text)
    return escape(said)


def say_told(text: str, language: str) -> str:
    """Return the same without a mark, for names and titles of what is shown."""
    said = None if language == "en" else teller(language)(text)
    return text if said is None else said


_WRITTEN = re.compile(
    r"(?<=>)([^<>]*[^<>\s] [^<>]+)(?=</(?:text|title|desc|tspan)>)"
    r"|(?<=>)(?:people|values)(?=</text>)"
    r"|(?<= aria-label=\")([^\"]+ [^\"]+)(?=\")"
)
"""What a drawing says in several words; a single one may be a value of the data, but for two."""


def show_drawing(svg: str, language: str) -> str:
    """Return a drawing with its words in a language.

    >>> show_drawing("<svg><text>people at risk</text><text>no</text></svg>", "de")
    '<svg><text>gefährdete Menschen</text><text>no</text></svg>'
    """
    if language == "en":
        return svg
    return _WRITTEN.sub(lambda at: str(escape(say_told(unescape(at[0]), language))), svg)
