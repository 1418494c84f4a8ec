"""Guessing which values of a sensitive column are secrets, and which harm no person."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from sfumato.lists import read_lists
from sfumato.policy.meanings import words
from sfumato.text import text_of
from sfumato.typing import Value

_MOST_VALUES = 1_000
"""Columns with more values are numbers or texts: single values are no secrets there."""

_ABSENT = re.compile(r"(no|not|without|free of|kein\w*|ohne|sans|sin|senza)\b.*", re.IGNORECASE)
_SECRET = re.compile(
    r"\b(hiv|aids|syphilis|gonorrh|chlamydia|herpes|hepatitis|tubercul|schizo|bipolar|psychos|"
    r"psychiatr|depress|suicid|self.?harm|anorexi|bulimi|dementia|alzheimer|abort|miscarriage|"
    r"pregnan|infertil|addict|alcohol|cocain|heroin|opioid|methadon|overdose|substance|cancer|"
    r"carcinom|tumou?r|leuk[ae]mi|convict|prison|felon|offend|bankrupt|insolven|"
    r"homosexual|bisexual|transgender|rape|abuse|krebs|sucht|schwanger|avortement)",
    re.IGNORECASE,
)
_NONE_OF: dict[tuple[str, ...], str] = {("0", "1"): "0", ("0.0", "1.0"): "0.0"}


class SecrecyGuess(NamedTuple):
    """The values that are guessed to be secret and harmless, and why."""

    secret: tuple[str, ...] = ()
    harmless: tuple[str, ...] = ()
    reason: str = ""


_WISHED = re.compile(
    r"surviv|alive|success|respon[ds]|insur|cover|^(good)?health|active|exerc|vaccin|employ|^own|"
    r"^paid|^pass|accept|approv|complet|complian|remission|recover|cured|satisf|happy|trust|"
    r"liter|versichert|ueberleb|überleb|geheilt|erfolg|bestanden|assur|vivant|gueri|vivo|curad",
    re.IGNORECASE,
)
"""Names of what people wish for: there it is the no that hurts."""


def guess_secrecy(values: Sequence[Value], name: str = "") -> SecrecyGuess:
    """Guess from the words of a sensitive column what no person minds, and what all do.

    Args:
        values: Its values.
        name: Its name. Not to be insured, or not to have survived, harms those of whom it is said.

    >>> guess_secrecy(["no", "yes"]).harmless, guess_secrecy([0, 1]).harmless
    (('no',), ('0',))
    >>> guess_secrecy(["flu", "HIV", "ulcer"])
    SecrecyGuess(secret=('HIV',), harmless=(), reason='HIV: worse to be known than most values')
    >>> guess_secrecy([0, 1], "survived").harmless, guess_secrecy([0, 1], "death").harmless
    ((), ('0',))
    """
    texts = [text_of(value) for value in values if value is not None]
    if not 2 <= len(texts) <= _MOST_VALUES:
        return SecrecyGuess()
    zero = _NONE_OF.get(tuple(sorted(texts)))
    wished = any(_WISHED.search(word) for word in words(name))
    harmless = tuple(t for t in texts if not wished and (t == zero or _is_absent(t)))
    secret = tuple(text for text in texts if text not in harmless and _SECRET.search(text))
    if len(harmless) == len(texts) or len(secret) == len(texts):
        # What is true of every value tells none apart.
        return SecrecyGuess()
    reasons = []
    if secret:
        reasons.append(f"{_some(secret)}: worse to be known than most values")
    if harmless:
        reasons.append(f"{_some(harmless)}: not to have it hurts no person")
    return SecrecyGuess(secret, harmless, "; ".join(reasons))


@cache
def _harmless() -> frozenset[str]:
    return frozenset(read_lists(Path(__file__).with_name("words.txt"))["harmless"].split())


def _is_absent(text: str) -> bool:
    word = text.strip().lower()
    return word in _harmless() or _ABSENT.fullmatch(word) is not None


def _some(texts: Sequence[str]) -> str:
    shown = ", ".join(texts[:3])
    return f"{shown} and {len(texts) - 3} more" if len(texts) > 3 else shown
