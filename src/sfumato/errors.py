"""Every error a user can meet, and parameter checks that raise them.

Each says what is wrong, what was given, what is allowed and what to try. All of
them are `SfumatoError`, and each is also the built-in error a Python programmer
would expect, so `except ValueError` works too.
"""

import errno
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

_LOGINS = (
    # A name and a password after a scheme, blanks and further marks in it included.
    re.compile(r"(\b[a-z][\w+.-]+:/{1,3})((?!://)[^\n@])*:((?!://).)*?@(?!\S*@)", re.IGNORECASE),
    # The same without slashes, but not postgres://user@host, which shows no password.
    re.compile(r"(\b[\w.+-]+:)(?!/{1,3}[^\s:@]*@)\S*@"),
)
_PASSWORD = re.compile(r"(\b\w*(?:password|passwd|pwd|secret|token)=)[^&;\s]*", re.IGNORECASE)


def hide_passwords(text: str) -> str:
    """Return a text without the names and passwords that addresses in it log in with.

    >>> hide_passwords("there is no file postgre://ann:secret@db/clinic?table=people")
    'there is no file postgre://…@db/clinic?table=people'
    >>> hide_passwords("jdbc:sqlserver://db;user=ann;password=secret;x=1")
    'jdbc:sqlserver://db;user=ann;password=…;x=1'
    """
    for login in _LOGINS if "@" in text else ():
        text = login.sub(r"\1…@", text)
    return _PASSWORD.sub(r"\1…", text) if "=" in text else text


class SfumatoError(Exception):
    """Something the user asked for cannot be done; the text says why, and shows no password."""

    def __init__(self, *args: object) -> None:
        super().__init__(*(hide_passwords(arg) if isinstance(arg, str) else arg for arg in args))

    def __str__(self) -> str:
        # KeyError shows the repr of its argument; a message should read the same everywhere.
        return str(self.args[0]) if self.args else ""


class ParameterError(SfumatoError, ValueError):
    """A parameter has a value that makes no sense."""

    def __init__(self, name: str, value: object, expected: str, *, why: str = "") -> None:
        super().__init__(f"{name} must be {expected}, got {value!r}" + (f": {why}" if why else ""))
        self.name = name


class UnknownNameError(SfumatoError, KeyError):
    """A name is not among those that exist."""

    def __init__(
        self, what: str, given: str, known: Iterable[str], *, where: str = "", hint: str = ""
    ) -> None:
        hint = hint or suggest(given, [str(name) for name in known])
        super().__init__(f"no {what} {given!r}{f' in {where}' if where else ''}. {hint}")
        self.given = given


class UnknownColumnError(UnknownNameError):
    """A column is named that the table does not have."""

    def __init__(self, given: str, known: Iterable[str], *, where: str = "the table") -> None:
        super().__init__("column", given, known, where=where)


class InputError(SfumatoError, ValueError):
    """A file or table cannot be read as data about people."""


class EncodingError(InputError):
    """How the letters of a text file are written as bytes is not certain, or was said wrongly.

    `readings` has encodings that it may be in, each with a word of the file as it reads there.
    """

    def __init__(self, text: str, *, readings: Iterable[tuple[str, str]] = ()) -> None:
        super().__init__(text)
        self.readings: tuple[tuple[str, str], ...] = tuple(readings)


class UnknownValueError(UnknownNameError, InputError):
    """A column is asked for a value that it cannot have."""

    def __init__(self, column: str, given: str, hint: str) -> None:
        super().__init__("value", given, (), where=repr(column), hint=hint)


class PolicyError(SfumatoError, ValueError):
    """A policy contradicts itself, the data, or the rules for policies.

    `faults` lists each mistake apart: the keys that lead to it, and the text.
    """

    def __init__(
        self, text: str, *, faults: Iterable[tuple[tuple[str | int, ...], str]] = ()
    ) -> None:
        super().__init__(text)
        self.faults: tuple[tuple[tuple[str | int, ...], str], ...] = tuple(faults)


class HierarchyError(SfumatoError, ValueError):
    """A hierarchy is not one: a value missing, a level that splits, no single top."""


class InfeasibleError(SfumatoError, ValueError):
    """No release can keep the promises, whatever is generalised."""


class OutputError(SfumatoError, OSError):
    """A release cannot be written; nothing was left behind."""


class VerificationError(SfumatoError, RuntimeError):
    """What was written does not keep what was promised; it was not moved into place."""


class MissingExtraError(SfumatoError, ImportError):
    """An optional library is needed and not installed."""

    def __init__(self, need: str, extra: str) -> None:
        super().__init__(
            f'{need} is not installed. Install it with: pip install "sfumato[{extra}]"'
        )


def suggest(given: str, known: Sequence[str], *, most: int = 12) -> str:
    """Answer a misspelt name with the nearest ones, or with what there is.

    >>> suggest("diseese", ["age", "disease"])
    "Did you mean 'disease'? Known: 'age', 'disease'."
    >>> suggest("x", [])
    'There are none.'
    """
    if not known:
        return "There are none."
    by_lower = {name.lower(): name for name in known}
    # Whatever stands in the place of a name is answered, a number too.
    close = get_close_matches(str(given).lower(), by_lower, n=1, cutoff=0.6)
    near = [by_lower[low] for low in close]
    shown = ", ".join(repr(name) for name in known[:most])
    rest = f" and {len(known) - most} more" if len(known) > most else ""
    hint = f"Did you mean {near[0]!r}? " if near else ""
    return f"{hint}Known: {shown}{rest}."


def some(values: Iterable[object], *, most: int = 5) -> str:
    """List a few values for a message, and how many more there are.

    >>> some([1, 2, 3], most=2)
    '1, 2 and 1 more'
    """
    items = [repr(value) for value in values]
    rest = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + rest


# What a machine lacks, whichever library says so and whatever its words are.


_NO_MEMORY = frozenset(
    ["OutOfMemoryException", "OutOfMemory", "BrokenProcessPool", "TerminatedWorkerError"]
)
"""Errors of databases and of worker processes, which the system kills when memory runs out."""

_NO_MEMORY_TEXTS = (
    "OutOfMemoryError",
    "out of memory",
    "annot allocate memory",
    "can't start new thread",
    "failed to map segment from shared object",
)
_DISK = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file would be larger than is allowed here",
    errno.EROFS: "the disk can only be read",
}


_ADDRESS_SPACE = 2**47
"""Bytes that a process can address at most."""


def lacks_memory(error: BaseException) -> bool:
    """Return whether an error, or what caused it, says that there is not enough memory.

    A file that claims a size that no machine has is damaged, and no memory would do.

    >>> lacks_memory(MemoryError()), lacks_memory(ValueError("no number"))
    (True, False)
    >>> lacks_memory(MemoryError("malloc of size 5558009288175124480 failed"))
    False
    """
    chain: list[BaseException] = []
    each: BaseException | None = error
    while each is not None and each not in chain:
        chain.append(each)
        each = each.__cause__ or each.__context__
    return any(map(_says_no_memory, chain))


def _says_no_memory(error: BaseException) -> bool:
    kinds = {kind.__name__ for kind in type(error).__mro__}
    asked = re.search(r"alloc of size (\d{1,20}) failed", str(error))
    if asked and int(asked[1]) >= _ADDRESS_SPACE:
        return False
    if isinstance(error, MemoryError) or kinds & _NO_MEMORY:
        return True
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return True
    # Others' words are searched, never our own, which may quote the data.
    of_driver = isinstance(error, RuntimeError | ImportError) or "Py4JError" in kinds
    theirs = of_driver and not isinstance(error, SfumatoError)
    return theirs and any(text in str(error) for text in _NO_MEMORY_TEXTS)


def reason_of(error: OSError) -> str:
    """Return why something cannot be read or written, in words.

    >>> reason_of(OSError(errno.ENOSPC, "No space left on device"))
    'the disk is full (No space left on device)'
    >>> reason_of(PermissionError(errno.EACCES, "Permission denied"))
    'Permission denied'
    """
    told = error.strerror or str(error) or type(error).__name__
    named = _DISK.get(error.errno or 0)
    return told if named is None else f"{named} ({os.strerror(error.errno or 0)})"


# Parameter checks that share one message form.


def require_int(name: str, value: object, *, at_least: int, why: str = "") -> None:
    """Check that a value is a whole number of at least `at_least`.

    >>> require_int("k", 0, at_least=1)
    Traceback (most recent call last):
    sfumato.errors.ParameterError: k must be an integer of at least 1, got 0
    """
    good = isinstance(value, Integral) and not isinstance(value, bool)
    if not good or int(value) < at_least:  # type: ignore[call-overload]
        raise ParameterError(name, value, f"an integer of at least {at_least}", why=why)


_LARGEST = sys.float_info.max
"""Neither infinite numbers nor NaN are as small; whole ones may be larger than any float."""


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
    good = isinstance(value, Real) and not isinstance(value, bool)
    good = good and -_LARGEST <= value <= _LARGEST  # type: ignore[operator]
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
