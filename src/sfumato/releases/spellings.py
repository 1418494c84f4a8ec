"""Spellings: values of a sensitive column that differ in case or blanks, and count as one."""

from collections.abc import Iterable, Sequence

from sfumato.counts import Column
from sfumato.text import brief, format_integer
from sfumato.typing import Value

SPELLING_ADVICE = (
    "Write each value in one way, or say that they are different values: {spelling: exact}"
)


def describe_spellings(column: str, spellings: Sequence[Sequence[Value]]) -> str:
    """Return in a sentence which values of a column stand there in several spellings.

    >>> describe_spellings("ill", [["HIV", "hiv "]])
    "a value of 'ill' is spelt in several ways ('HIV', 'hiv '): they count as one value"
    """
    first = spellings[0]
    shown = ", ".join("(missing)" if v is None else repr(brief(v, 40)) for v in first[:3])
    more = ", …" if len(first) > 3 else ""
    if len(spellings) == 1:
        one = f"a value of {column!r} is spelt in several ways ({shown}{more})"
        return f"{one}: they count as one value"
    return (
        f"{format_integer(len(spellings))} values of {column!r} are spelt in several ways (as "
        f"{shown}{more}): "
        "the spellings of each count as one value"
    )


def warn_of_spellings(columns: Iterable[Column]) -> list[str]:
    """Return a warning for each column in which values stand in several spellings."""
    return [
        f"{describe_spellings(column.name, column.folded.spellings)}. {SPELLING_ADVICE}"
        for column in columns
        if column.folded.spellings
    ]
