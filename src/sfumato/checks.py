"""Parameter checks that share one message form."""

import math
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

from sfumato.errors import ParameterError


def require_int(name: str, value: object, *, at_least: int, why: str = "") -> None:
    """Check that a value is a whole number of at least `at_least`.

    >>> require_int("k", 0, at_least=1)
    Traceback (most recent call last):
    sfumato.errors.ParameterError: k must be an integer of at least 1, got 0
    """
    good = isinstance(value, Integral) and not isinstance(value, bool)
    if not good or int(value) < at_least:  # type: ignore[call-overload]
        raise ParameterError(name, value, f"an integer of at least {at_least}", why=why)


def require_number(
    name: str,
    value: object,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
    why: str = "",
) -> None:
    """Check that a value is a finite number within the bounds.

    >>> require_number("t", 2, at_least=0, at_most=1)
    Traceback (most recent call last):
    sfumato.errors.ParameterError: t must be a number of at least 0 and at most 1, got 2
    """
    bounds = [
        text
        for text, bound in (
            (f"above {above:g}" if above is not None else "", above),
            (f"of at least {at_least:g}" if at_least is not None else "", at_least),
            (f"at most {at_most:g}" if at_most is not None else "", at_most),
            (f"below {below:g}" if below is not None else "", below),
        )
        if bound is not None
    ]
    expected = "a number" + (" " + " and ".join(bounds) if bounds else "")
    good = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    if (
        not good
        or (above is not None and not value > above)  # type: ignore[operator]
        or (at_least is not None and not value >= at_least)  # type: ignore[operator]
        or (at_most is not None and not value <= at_most)  # type: ignore[operator]
        or (below is not None and not value < below)  # type: ignore[operator]
    ):
        raise ParameterError(name, value, expected, why=why)


def names_in(name: str, value: object) -> tuple[str, ...]:
    """Return column names as a tuple, each once.

    >>> names_in("sensitive", ["ill", "pay", "ill"])
    ('ill', 'pay')
    >>> names_in("sensitive", "ill")
    Traceback (most recent call last):
    sfumato.errors.ParameterError: sensitive must be a list of column names, got 'ill'
    """
    good = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
    names: tuple[Any, ...] = tuple(value) if good else ()  # type: ignore[arg-type]
    if not good or not all(isinstance(each, str) for each in names):
        raise ParameterError(name, value, "a list of column names")
    return tuple(dict.fromkeys(names))


def require_text(name: str, value: object, *, why: str = "") -> None:
    """Check that a value is a non-empty string.

    >>> require_text("column", "")
    Traceback (most recent call last):
    sfumato.errors.ParameterError: column must be a non-empty text, got ''
    """
    if not isinstance(value, str) or not value:
        raise ParameterError(name, value, "a non-empty text", why=why)
