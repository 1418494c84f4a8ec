"""Reading what somebody knows about a person: `column=value`."""

from collections.abc import Sequence

from sfumato.counts import FrequencySet
from sfumato.errors import InputError, suggest
from sfumato.text import text_of
from sfumato.typing import Value


def known_values(counts: FrequencySet, given: Sequence[str]) -> dict[str, Value]:
    """Find the columns and values that were written as `column=value`.

    Values are matched by how they are written; `column=` with nothing after it is a
    missing value.

    >>> counts = FrequencySet.from_rows(["age", "job"], [("30-50", "State-gov")])
    >>> known_values(counts, ["job=State-gov"])
    {'job': 'State-gov'}
    >>> known_values(counts, ["job=Stat-gov"])
    Traceback (most recent call last):
    sfumato.errors.InputError: job: no row has 'Stat-gov'. Did you mean 'State-gov'? Known:
    'State-gov'.
    """
    known: dict[str, Value] = {}
    for text in given:
        # A column's own name may hold an equals sign: the longest name that fits is meant.
        fitting = [name for name in counts.names if text.startswith(f"{name}=")]
        if not fitting:
            name = text.partition("=")[0]
            hint = suggest(name, counts.names)
            form = "" if "=" in text else " Write it as column=value."
            raise InputError(f"{text!r}: there is no column {name!r}.{form} {hint}")
        name = max(fitting, key=len)
        if name in known:
            raise InputError(f"{name}: two values are given for it. Give one.")
        known[name] = _value(counts, name, text[len(name) + 1 :])
    return known


def _value(counts: FrequencySet, name: str, text: str) -> Value:
    values = counts.column(name).values
    by_text = {"" if value is None else text_of(value): value for value in values}
    if text not in by_text:
        raise InputError(f"{name}: no row has {text!r}. {suggest(text, list(by_text))}")
    return by_text[text]
