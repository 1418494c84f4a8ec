"""What a table is said to keep, as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from sfumato.errors import InputError, ParameterError
from sfumato.text import text_of

MISSING_RULES = ("own-value", "matches-any", "suppress")
SUPPRESSIONS = ("remove", "star")

_HUGE = 10**15
"""No count of people and no parameter of a model is larger; arithmetic stays harmless."""


@dataclass(frozen=True)
class Promises:
    """Roles of the columns, the models that should hold, and how the table was made.

    Example:
        >>> Promises(["age"], models=[{"model": "k-anonymity", "k": 5}]).missing
        'own-value'

    Args:
        quasi_identifiers: The columns that make up the classes.
        sensitive: The columns nobody should learn about a person.
        models: One mapping per model: its name under `model`, its parameters by name, and
            under `measured` the figures its maker claims.
        missing: `own-value` (a missing cell equals other missing cells only),
            `matches-any` (it is compatible with every value) or `suppress` (no published
            row has one).
        published: How many rows should be in the table, suppressed ones not counted.
        suppressed: How many rows were suppressed.
        suppression: `remove` (suppressed rows are gone) or `star` (they stand there
            with `*` in every quasi-identifier and nothing in the other columns).
        hierarchies: For hierarchical distances, per column each raw text's labels
            from level 1 to the top.
        population: How many people of the population fall on each tuple of published
            labels (see `count_population`), for models that compare with one.
        at_top: Quasi-identifiers said to be generalised to the single top value.
        delimiter: What separates the cells of a CSV file; found out if not given.
    """

    quasi_identifiers: Sequence[str]
    sensitive: Sequence[str] = ()
    models: Sequence[Mapping[str, Any]] = ()
    missing: str = "own-value"
    published: int | None = None
    suppressed: int = 0
    suppression: str = "remove"
    hierarchies: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    population: Mapping[tuple[str | None, ...], int] | None = None
    at_top: Sequence[str] = ()
    delimiter: str | None = None

    def __post_init__(self) -> None:
        for name in ("quasi_identifiers", "sensitive", "models", "at_top"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        _require_one_of("missing", self.missing, MISSING_RULES)
        _require_one_of("suppression", self.suppression, SUPPRESSIONS)


def _require_one_of(name: str, value: object, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ParameterError(name, value, " or ".join(map(repr, allowed)))


class Promise:
    """One model's promise, read with suspicion: it may come from a stranger's manifest.

    It remembers which parameters were looked at. One that nobody looked at is one that
    nobody checked.

    >>> promise = Promise({"model": "k-anonymity", "k": 5, "mood": "good"})
    >>> promise.number("k"), promise.unread()
    (5, ['mood'])
    >>> promise.number("l")
    Traceback (most recent call last):
    sfumato.errors.InputError: k-anonymity: the parameter 'l' is missing
    """

    def __init__(self, plain: Mapping[str, Any]) -> None:
        self.model = str(plain.get("model"))
        self.measured = plain.get("measured")
        self.parameters = {k: v for k, v in plain.items() if k not in ("model", "measured")}
        self._read: set[str] = set()

    def unread(self) -> list[str]:
        """Name the parameters that were not looked at."""
        return [name for name in self.parameters if name not in self._read]

    def number(self, name: str) -> int | float:
        """Read a finite number."""
        value = self._get(name)
        if not is_number(value) or not abs(value) <= _HUGE:  # NaN is not either
            raise self._wrong(name, value, "a number")
        return value

    def text(self, name: str, *allowed: str, default: str | None = None) -> str:
        """Read a text, one of those allowed if any are named."""
        value = self._get(name, default)
        if not isinstance(value, str) or (allowed and value not in allowed):
            raise self._wrong(name, value, " or ".join(map(repr, allowed)) or "a text")
        return value

    def texts(self, name: str) -> list[str]:
        """Read a list of values, each as it is written."""
        return self._texts(name, self._get(name, ()))

    def lists_of_texts(self, name: str) -> list[list[str]]:
        """Read a list of lists of values, each as it is written."""
        value = self._get(name)
        if not isinstance(value, list | tuple):
            raise self._wrong(name, value, "a list of lists")
        return [self._texts(name, part) for part in value]

    def _texts(self, name: str, value: object) -> list[str]:
        if not isinstance(value, list | tuple):
            raise self._wrong(name, value, "a list")
        return [text_of(item) for item in value]

    def _get(self, name: str, default: object = None) -> object:
        self._read.add(name)
        value = self.parameters.get(name)
        if value is None:
            value = default
        if value is None:
            raise InputError(f"{self.model}: the parameter {name!r} is missing")
        return value

    def _wrong(self, name: str, value: object, expected: str) -> InputError:
        shown = repr(value)
        return InputError(
            f"{self.model}: {name} must be {expected}, got {shown[:60]}{'…' * (len(shown) > 60)}"
        )


def is_number(value: object) -> TypeGuard[int | float]:
    """Tell a number from a truth value and everything else.

    >>> [is_number(v) for v in (1, 0.5, True, "1", None)]
    [True, True, False, False, False]
    """
    return isinstance(value, int | float) and not isinstance(value, bool)
