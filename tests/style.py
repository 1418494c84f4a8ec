"""The words that pages and messages are held to: those of the glossary."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GLOSSARY = ROOT / "docs" / "concepts" / "glossary.md"

GLUED = re.compile(r"(?<![\w.])(?!\d{3}0s)\d+(?:[.,]\d+)?(?:%|(?:ms|s|min|h|[kKMGT]i?B|B)\b)")
"""A number without a space before its unit; 1960s is a decade."""


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


def faults_of_words(text: str, *, others: bool = True) -> Iterator[tuple[int, str]]:
    """Yield each word that no text should have: its place, and what to do.

    Without `others` the words that the glossary replaces may stand.
    """
    for found in GLUED.finditer(text):
        yield found.start(), f"{found[0]!r}: put a space between number and unit"
    for found in _OTHER.finditer(text) if others else ():
        yield found.start(), f"{found[0]!r}: the glossary says {_OTHERS[found[1].lower()]!r}"
