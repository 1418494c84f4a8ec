"""Recognise values that differ only in their spelling, by a way of the verifier's own."""

import re
import unicodedata
from functools import lru_cache

_DROPPED = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp", "Zs"))
"""Categories of characters that show nothing: commands, marks for programs, blanks."""

_IGNORED = frozenset(
    (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10))
)
"""Letters and marks that show nothing, either."""

_SELECTORS = range(0xE0100, 0xE01F0)
_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?=\.?\d)(?P<whole>\d{0,400})(\.(?P<part>\d{0,400}))?(e(?P<tens>[+-]?\d{1,6}))?"
)


@lru_cache(maxsize=1 << 16)
def folded_text(text: str) -> str | None:
    r"""Return what two spellings of one value have in common; None if nothing can be seen.

    Capitals, blanks, invisible characters and the forms that Unicode has for a letter do not count,
    and a number is the same however it is written.

    >>> [folded_text(text) for text in ("HIV", "h i\u200bv", " ", "01.50", "1.5", "Ä")]
    ['hiv', 'hiv', None, '15e-1', '15e-1', 'ä']
    """
    letters = _decompose(_decompose(text).casefold())
    seen = "".join(letter for letter in letters if not _shows_nothing(letter))
    seen = seen if seen.isascii() else unicodedata.normalize("NFKC", seen)
    found = _NUMBER.fullmatch(seen)
    if found is None:
        return seen or None
    digits = (found["whole"] + (found["part"] or "")).lstrip("0")
    tens = int(found["tens"] or 0) - len(found["part"] or "")
    plain = digits.rstrip("0")
    if not plain:
        return "0"
    tens += len(digits) - len(plain)
    sign = "-" if found["sign"] == "-" else ""
    return f"{sign}{int(plain)}e{tens}" if tens else f"{sign}{int(plain)}"


def _decompose(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKD", text)


def _shows_nothing(letter: str) -> bool:
    code = ord(letter)
    if unicodedata.category(letter) in _DROPPED:
        return True
    return code in _IGNORED or code in _SELECTORS


_RANGES = (
    ("-", re.compile(r"(0|[1-9][0-9]*)(\.[0-9]+)?-(0|[1-9][0-9]*)(\.[0-9]+)?")),
    (", ", re.compile(r"\[-?[0-9]+(\.[0-9]+)?, -?[0-9]+(\.[0-9]+)?\)")),
)
_END = re.compile(r"(?P<sign>>=|<)(?P<end>-?[0-9]+(\.[0-9]+)?|(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2}))")
_QUARTER = re.compile(r"[0-9]{4}-Q[1-4]")


def current_label(text: str | None) -> str | None:
    """Return a label of an older release as labels are written now; any other text as it is.

    >>> [current_label(text) for text in ("20-24", "[1, 1.4)", "<18", ">=65", "2020-Q1", "f", None)]
    ['20 to 24', '1 to under 1.4', 'under 18', '65 or more', '2020 Q1', 'f', None]
    """
    if text is None or not text.isascii():
        return text
    for separator, form in _RANGES:
        if form.fullmatch(text):
            low, high = text.strip("[)").split(separator)
            if separator == "-" and float(low) >= float(high):
                return text  # a code such as 94110-2222
            return f"{low} to {'' if separator == '-' else 'under '}{high}"
    if end := _END.fullmatch(text):
        if end["sign"] == "<":
            return f"{'before' if end['day'] else 'under'} {end['end']}"
        return f"{end['end']} or {'later' if end['day'] else 'more'}"
    return text.replace("-", " ") if _QUARTER.fullmatch(text) else text
