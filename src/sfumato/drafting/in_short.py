"""A draft in few words: why a column has its role, and what happens to it."""

import re
from collections.abc import Mapping, Sequence

from sfumato.hierarchy import (
    Dates,
    Frequent,
    HierarchyBuilder,
    Intervals,
    KnownTree,
    Masking,
    OrderedCategories,
    Suppress,
)
from sfumato.models import PrivacyModel
from sfumato.policy import ColumnRule
from sfumato.schema import Role
from sfumato.text import percent

_FACTS = re.compile(
    r"^(?:[\d,.\s\u202f]+ distinct values?|different in (?:every row|all rows))"
    r"(?:, [<>]?\d+ % missing)?(?:, |: )(?=\S)"
)
_HINTS = (
    ": others may know it",
    ", others may know it",
    ": no adversary should learn it about a person",
    ", no adversary should learn it about a person",
    ": it can name people",
    ": nothing is lost without it",
    ": it would undo what is done to that",
    "to be safe",
)
"""What follows from the role, and is said once for all at the head of a policy."""


def shorten_reason(reason: str) -> str:
    """Return why a column has its role without figures, and without what its role says anyway.

    >>> shorten_reason("8 distinct values, looks like a postcode by its name: others may know it")
    'looks like a postcode by its name'
    >>> shorten_reason("5 distinct values, meaning unknown: to be safe, others may know it")
    'meaning unknown'
    """
    text = " ".join(reason.split())
    short = _FACTS.sub("", text)
    for hint in _HINTS:
        short = short.replace(hint, "")
    short = re.sub(r"[\s:,]+(?=\.)", "", short)
    return short.rstrip(" :,") or text


def cut_short(text: str, most: int) -> str:
    """Return the beginning of a text, up to a space if there is one.

    >>> cut_short("looks like a postcode", 16), cut_short("age", 16)
    ('looks like a …', 'age')
    """
    if len(text) <= most:
        return text
    head = text[: most - 1]
    return f"{head.rpartition(' ')[0] or head} …"[:most]


def say_what_happens(
    name: str,
    rule: ColumnRule,
    models: Sequence[PrivacyModel],
    meanings: Mapping[PrivacyModel, str],
    hidden: float | None = None,
) -> str:
    """Return what happens to a column, in a few words.

    Args:
        name: The column.
        rule: What a policy says of it.
        models: The models of the policy.
        meanings: What each model promises, in words.
        hidden: The share of its cells that would be hidden; None if that is not known.

    Example:
        >>> from sfumato.policy import ColumnRule
        >>> age = ColumnRule(role="quasi-identifier", hierarchy=Intervals(widths=[5, 10], upper=80))
        >>> say_what_happens("age", age, (), {}, hidden=0.02)
        'ranges of 5 to 10, 80 or more; 2 % hidden'
        >>> say_what_happens("name", ColumnRule(role="identifier"), (), {})
        'not published'
    """
    if rule.role in (Role.IDENTIFIER, Role.DROPPED):
        return "not published" if rule.copy_of is None else f"not published: see {rule.copy_of}"
    if rule.role is Role.QUASI_IDENTIFIER:
        stars = "" if hidden is None or not hidden else f"; {percent(hidden)} hidden"
        return f"{_say_coarser(rule.hierarchy)}{stars}"
    if rule.role is Role.SENSITIVE:
        promises = [meanings[m] for m in models if name in m.columns and meanings.get(m)]
        return f"as it is; {promises[0].replace(' of a class', '') if promises else 'no promise'}"
    words = {Role.PLAIN: "as it is, unprotected", Role.WEIGHT: "the mean of its class"}
    return words.get(rule.role, "items made coarser")


def _say_coarser(builder: HierarchyBuilder | None) -> str:
    found = "coarser groups"
    if isinstance(builder, Intervals):
        found = _say_ranges(builder)
    elif isinstance(builder, Dates):
        found = ", ".join(builder.levels or ("month", "quarter", "year", "decade"))
    elif isinstance(builder, Masking):
        found = "first characters"
    elif isinstance(builder, Frequent):
        found = f"{len(builder.keep[0])} by name, and others"
    elif isinstance(builder, KnownTree):
        found = f"groups of {builder.tree}"
    elif isinstance(builder, OrderedCategories):
        found = "neighbours in one group"
    elif builder is None or isinstance(builder, Suppress):
        found = "as it is, or *"
    return found


def _say_ranges(builder: Intervals) -> str:
    widths = [width for width in builder.widths or () if width != 1]
    if not widths:
        cuts = builder.bounds[0] if builder.bounds else ()
        return f"{len(cuts) + 1} ranges" if isinstance(cuts, tuple) else "ranges"
    span = f"{widths[0]} to {widths[-1]}" if len(widths) > 1 else f"{widths[0]}"
    ends = "" if builder.upper is None else f", {builder.upper} or more"
    return f"ranges of {span}{ends}"
