"""Texts of the app: English in the code and templates, other languages in catalogues.

A catalogue is a folder `xx` beside this file: `language.yaml` says what the language calls itself
(`name`), `told*.yaml` have what results and errors say (see `telling.py`), and every other has
English texts and their translations, one file per step and `frame.yaml` for what all pages share.
What a member of a family says of itself may be translated by its class, too. A text that neither
has stays English.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

import yaml

from sfumato.registry import Member

_FOLDER = Path(__file__).parent

Translator = Callable[..., str]
"""Turns an English text into another language and fills in `{names}`."""


def _read(path: Path) -> Mapping[str, str]:
    found: Mapping[str, str] = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    return found


_APART = ("language", "told")
"""How the names of files begin that have other texts than those of pages."""


def read_told(language: str) -> Mapping[str, str]:
    """Return what results and errors say, in a language: `told.yaml` and its like."""
    texts: dict[str, str] = {}
    for path in sorted((_FOLDER / language).glob("told*.yaml")) if language in languages() else ():
        texts |= _read(path)
    return texts


@cache
def languages() -> Mapping[str, str]:
    """Return the languages there are, each with what it calls itself.

    >>> languages()["de"]
    'Deutsch'
    """
    found = {"en": "English"}
    for path in sorted(_FOLDER.glob("*/language.yaml")):
        found[path.parent.name] = _read(path)["name"]
    return found


@cache
def catalogue(language: str) -> Mapping[str, str]:
    """Return the translations of a language by their English texts; English has none."""
    texts: dict[str, str] = {}
    for path in sorted((_FOLDER / language).glob("*.yaml")) if language in languages() else ():
        if not path.name.startswith(_APART):
            texts |= _read(path)
    return {**_of_members(language), **texts} if texts else texts


def _of_members(language: str) -> Mapping[str, str]:
    """Return what members of families say of themselves in a language: our own, and others'."""
    from sfumato.decouplings import DECOUPLINGS
    from sfumato.hierarchy import BUILDERS
    from sfumato.losses import LOSSES
    from sfumato.models import MODELS
    from sfumato.partition import PARTITIONERS

    families = (DECOUPLINGS, BUILDERS, LOSSES, MODELS, PARTITIONERS)
    kinds: Iterable[type[Member]] = (kind for family in families for kind in family.values())
    return {
        text: told for kind in kinds for text, told in kind.translations.get(language, {}).items()
    }


def choose_language(asked: str, accepted: str) -> str:
    """Return the language that was asked for, or the first that a browser accepts and we have.

    >>> choose_language("", "de-AT,de;q=0.9,en;q=0.8"), choose_language("en", "de")
    ('de', 'en')
    """
    for each in (asked, *accepted.split(",")):
        code = each.split(";")[0].split("-")[0].strip().lower()
        if code in languages():
            return code
    return "en"


def translator(language: str) -> Translator:
    """Return the function that translates into a language.

    A text with two forms has the one for a single thing first.

    >>> t = translator("de")
    >>> t("Data"), t("{n} row | {n} rows", n=3), t("{n} row | {n} rows", n=1), t("unknown")
    ('Daten', '3 Zeilen', '1 Zeile', 'unknown')
    """
    texts = catalogue(language)

    def t(text: str, /, **names: object) -> str:
        found = texts.get(text, text)
        one, singular, many = found.partition(" | ")
        if singular:
            found = one if str(names.get("n")) == "1" else many
        return found.format(**names) if names else found

    return t
