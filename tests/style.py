"""The words and the length of sentences that pages and messages are held to."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GLOSSARY = ROOT / "docs" / "concepts" / "glossary.md"

LONGEST = 40
"""The most words of a sentence that is read once."""

PEOPLE = r"somebody|whoever|nobody|everybody|anybody"
RIDDLES = re.compile(rf"\b(?:{PEOPLE}|so many|so much|told of|said of|anew)\b", re.IGNORECASE)
"""People without a part to play, and numbers without a name."""

FILLER = re.compile(
    r"\b(?:simply|obviously|of course|in order to|utili[sz]e[sd]?|via|e\.g\.|i\.e\.|etc\b\.?"
    r"|hence|thus|whilst|herein|thereof)(?!\w)",
    re.IGNORECASE,
)
"""Words that add nothing, or that have a plainer one."""

GLUED = re.compile(r"(?<![\w.])(?!\d{3}0s)\d+(?:[.,]\d+)?(?:%|(?:ms|s|min|h|[kKMGT]i?B|B)\b)")
"""A number without a space before its unit; 1960s is a decade."""

PASSIVE = re.compile(r"\bit is (?:said|told) (?!to\b)", re.IGNORECASE)
"""A sentence that does not say who says it."""

_ENDS = re.compile(r"[.!?…][\"”’')*_]*\s+|;\s+")


@cache
def rows_of_glossary() -> list[tuple[str, str, list[str]]]:
    """Return each word of the glossary, its meaning, and the words that the code does not use."""
    rows = []
    for line in GLOSSARY.read_text(encoding="utf-8").splitlines():
        if line.startswith("| **"):
            word, meaning, others = (cell.strip() for cell in line.strip("|").split("|"))
            rows.append((word.strip("*"), meaning, re.findall(r"\*([^*]+)\*", others)))
    return rows


def other_words() -> dict[str, str]:
    """Return the words that the glossary replaces, in lower case, each with the word to use."""
    return {other.lower(): word for word, _, others in rows_of_glossary() for other in others}


_OTHERS = other_words()
_OTHER = re.compile(rf"\b({'|'.join(map(re.escape, _OTHERS))})s?\b", re.IGNORECASE)


def sentences(paragraph: str) -> Iterator[tuple[int, str]]:
    """Yield each sentence with the place where it starts; semicolons end sentences too."""
    start = 0
    for end in _ENDS.finditer(paragraph):
        yield start, paragraph[start : end.end()]
        start = end.end()
    yield start, paragraph[start:]


def number_of_words(sentence: str) -> int:
    """Return how many words a sentence has; numbers and names in code are words."""
    return sum(bool(re.search(r"\w", word)) for word in sentence.split())


def faults_of_words(text: str, *, others: bool = True) -> Iterator[tuple[int, str]]:
    """Yield each word that no text should have: its place, and what to do.

    Without `others` the words that the glossary replaces may stand.
    """
    for found in RIDDLES.finditer(text):
        yield found.start(), f"{found[0]!r}: name the adversary, reader, person or number"
    for found in FILLER.finditer(text):
        yield found.start(), f"{found[0]!r}: leave it out, or say it plainly"
    for found in GLUED.finditer(text):
        yield found.start(), f"{found[0]!r}: put a space between number and unit"
    for found in PASSIVE.finditer(text):
        yield found.start(), f"{found[0].strip()!r}: say who says it, and where"
    for found in _OTHER.finditer(text) if others else ():
        yield found.start(), f"{found[0]!r}: the glossary says {_OTHERS[found[1].lower()]!r}"


def faults_of_length(paragraph: str) -> Iterator[tuple[int, str]]:
    """Yield the place of each sentence that is too long, and how long it is."""
    for start, sentence in sentences(paragraph):
        if (number := number_of_words(sentence)) > LONGEST:
            yield start, f"a sentence of {number} words: at most {LONGEST} are read once"
