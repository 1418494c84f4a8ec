"""What results, drafts and errors say, in other languages: by the sentences that they are made of.

Tasks say everything in English, with names and figures in it. A catalogue has such sentences with
`{names}` for what differs, in the file `told.yaml`; a text that fits one is said anew with the same
parts. Of several that fit, the one with most words of its own is taken. What a part holds is
translated as well, if the catalogue has it. A text is translated whole or not at all: half of a
sentence in each language serves nobody.
"""

import re
from collections.abc import Mapping
from functools import cache
from string import Formatter
from typing import NamedTuple

from markupsafe import Markup, escape

from sfumato.app.texts import catalogue, read_texts

_DEEP = 4
"""How many sentences within sentences are looked at."""


class _Pattern(NamedTuple):
    form: re.Pattern[str]
    told: str
    literal: int
    """The letters that are its own."""


@cache
def _patterns(language: str) -> tuple[_Pattern, ...]:
    found = []
    for text, told in read_texts(language, "told.yaml").items():
        form, literal, seen = "", 0, set()
        for words, name, _, _ in Formatter().parse(text):
            form += re.escape(words)
            literal += len(words)
            if name is not None:
                form += f"(?P={name})" if name in seen else f"(?P<{name}>.+?)"
                seen.add(name)
        found.append(_Pattern(re.compile(form, re.DOTALL), told, literal))
    return tuple(sorted(found, key=lambda each: -each.literal))


class Teller:
    """Says what tasks say in another language.

    >>> tell = teller("de")
    >>> tell("8 distinct values, looks like a postcode by its name: others may know it")
    '8 verschiedene Werte; sieht dem Namen nach aus wie eine Postleitzahl: andere können es wissen'
    >>> tell("no catalogue has this") is None
    True
    """

    def __init__(self, language: str) -> None:
        own = read_texts(language, "told.yaml")
        self._and = f" {own.get('and', 'and')} "
        # Words of pages, as the roles of columns, are said in sentences, too.
        self._whole = {**catalogue(language), **own}
        self._patterns = _patterns(language)

    def __call__(self, text: str, deep: int = _DEEP) -> str | None:
        """Return a text in the language; None where the catalogue cannot say it whole."""
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
            match = pattern.form.fullmatch(text)
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
        """Return a text of several sentences."""
        parts = re.split(r"(?<=[.!?])\s+(?=[A-Z])", text)
        if len(parts) < 2:
            bare = text.removesuffix(".")
            found = None if bare == text else self(bare, deep - 1)
            return None if found is None else f"{found}."
        said = [self(part, deep - 1) for part in parts]
        return None if None in said else " ".join(filter(None, said))


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
