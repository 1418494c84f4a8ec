"""Guessing which values of a sensitive column are secrets, and which harm no person."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from sfumato.lists import read_lists
from sfumato.patterns import late
from sfumato.policy.meanings import words
from sfumato.text import text_of
from sfumato.typing import Value

_MOST_VALUES = 1_000
"""Columns with more values are numbers or texts: single values are no secrets there."""

_FEW_VALUES = 12
"""A column with a name like `hiv` and more values measures something, and its name says less."""

_NONE_OF: dict[tuple[str, ...], str] = {("0", "1"): "0", ("0.0", "1.0"): "0.0"}

_DIAGNOSIS = late(r"[A-Z]\d[\dA-Z](\.?[\dA-Z]{1,4}|\.-)?")
_MOSTLY = 0.8
"""The share of the values that are codes of diagnoses where all are read as such."""


class SecrecyGuess(NamedTuple):
    """The values that are guessed to be secret and harmless, and why."""

    secret: tuple[str, ...] = ()
    harmless: tuple[str, ...] = ()
    reason: str = ""


_WISHED = late(
    r"surviv|alive|success|respon[ds]|insur|cover|^(good)?health|active|exerc|vaccin|employ|^own|"
    r"^paid|^pass|accept|approv|complet|complian|remission|recover|cured|satisf|happy|trust|"
    r"liter|versichert|ueberleb|überleb|geheilt|erfolg|bestanden|assur|vivant|gueri|vivo|curad|"
    r"sopravviss|guarit|impieg|overleef|genezen|verzekerd|geslaagd|werkzaam|supervivi|asegurad",
    re.IGNORECASE,
)
"""Names of what people wish for: there it is the no that hurts."""


def guess_secrecy(values: Sequence[Value], name: str = "") -> SecrecyGuess:
    """Guess from the words of a sensitive column what no person minds, and what all do.

    Args:
        values: Its values.
        name: Its name. Not to be insured, or not to have survived, harms those of whom it is said;
            in a column called hiv everything but its absence is a secret.

    >>> guess_secrecy(["no", "yes"]).harmless, guess_secrecy([0, 1]).harmless
    (('no',), ('0',))
    >>> guess_secrecy(["flu", "HIV", "ulcer"])
    SecrecyGuess(secret=('HIV',), harmless=(), reason='HIV: worse to be known than most values')
    >>> guess_secrecy([0, 1], "survived").harmless, guess_secrecy([0, 1], "death").harmless
    ((), ('0',))
    >>> guess_secrecy([0, 1], "VIH").secret, guess_secrecy(["grippe", "SIDA"]).secret
    (('1',), ('SIDA',))
    """
    texts = [text_of(value) for value in values if value is not None]
    if not 2 <= len(texts) <= _MOST_VALUES:
        return SecrecyGuess()
    zero = _NONE_OF.get(tuple(sorted(texts)))
    said = words(name)
    wished = any(_WISHED.search(word) for word in said)
    belief = _words_in("column names of beliefs").search(" ".join(said)) is not None
    harmless = tuple(t for t in texts if not wished and not belief and (t == zero or _is_absent(t)))
    secret = tuple(text for text in texts if text not in harmless and _is_secret(text))
    secret = secret or _secret_diagnoses(texts)
    few = len(texts) <= _FEW_VALUES
    if few and belief and not all(map(_is_number, texts)):
        # Whichever it is, it is the person's own business.
        secret = tuple(texts)
    elif few and harmless and not secret and not wished and is_secret_name(name):
        secret = tuple(text for text in texts if text not in harmless)
    elif len(secret) == len(texts):
        # What is true of every value tells none apart.
        secret = ()
    if len(harmless) == len(texts):
        return SecrecyGuess()
    reasons = []
    if secret:
        reasons.append(f"{_some(secret)}: worse to be known than most values")
    if harmless:
        reasons.append(f"{_some(harmless)}: not to have it hurts no person")
    return SecrecyGuess(secret, harmless, "; ".join(reasons))


def is_secret_name(name: str) -> bool:
    """Return whether a column is about what is worse to be known than most.

    >>> is_secret_name("hiv_status"), is_secret_name("Vorstrafen"), is_secret_name("status")
    (True, True, False)
    """
    return _of_secrets().search(" ".join(words(name))) is not None


def _is_secret(text: str) -> bool:
    return _of_secrets().search(" ".join(words(text))) is not None


def _secret_diagnoses(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the codes of secret diagnoses, if the values are codes of diagnoses."""
    codes = [text for text in texts if _DIAGNOSIS.fullmatch(text)]
    if len(codes) < max(_MOSTLY * len(texts), 3):
        return ()
    begin = tuple(each.strip() for each in _lists()["diagnoses"].split(","))
    return tuple(code for code in codes if code.startswith(begin))


@cache
def _lists() -> dict[str, str]:
    return dict(read_lists(Path(__file__).with_name("secrets.txt")))


@cache
def _words_in(*headings: str) -> re.Pattern[str]:
    r"""Return the pattern of the words under some headings; `*` is any rest of a word."""
    every = [each.split() for heading in headings for each in _lists()[heading].split(",")]
    found = "|".join(r"\ ".join(each).replace("*", r"\w*") for each in every if each)
    return re.compile(rf"\b(?:{found})\b")


@cache
def _of_secrets() -> re.Pattern[str]:
    others = ("column names of beliefs", "diagnoses", "absent")
    return _words_in(*(heading for heading in _lists() if heading not in others))


@cache
def _harmless() -> frozenset[str]:
    return frozenset(read_lists(Path(__file__).with_name("words.txt"))["harmless"].split())


def _is_absent(text: str) -> bool:
    word = text.strip().lower()
    denied = _words_in("absent").match(" ".join(words(text))) is not None
    return word in _harmless() or denied


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[\d.,+-]+", text) is not None


def _some(texts: Sequence[str]) -> str:
    shown = ", ".join(texts[:3])
    return f"{shown} and {len(texts) - 3} more" if len(texts) > 3 else shown
