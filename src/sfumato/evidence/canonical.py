"""JSON that can be written in one way only, as RFC 8785 says; and a reader that insists on it.

What has one form has one hash, and no byte of it can change without being noticed.
Reference: Rundgren, Jordan and Erdtman, JSON Canonicalization Scheme,
doi:10.17487/RFC8785.
"""

import json
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from sfumato.errors import InputError, some

LARGEST = 2**53 - 1
"""Whole numbers up to here are the same to every reader of JSON."""


def canonical(value: object) -> bytes:
    """Write a value in its one form.

    >>> canonical({"b": [1.0, 1e-7, None], "a": "é"}).decode()
    '{"a":"é","b":[1,1e-7,null]}'
    """
    try:
        return _text(value).encode("utf-8")
    except RecursionError:
        raise InputError("it is nested too deeply") from None
    except UnicodeEncodeError:
        raise InputError("it holds a text that is not Unicode") from None


def read_canonical(data: bytes) -> dict[str, Any]:
    """Read an object, and refuse every other way of writing it.

    >>> read_canonical(b'{"a":1}')
    {'a': 1}
    >>> read_canonical(b'{"a": 1}')
    Traceback (most recent call last):
    sfumato.errors.InputError: it is not in canonical form
    """
    value = read_object(data)
    if canonical(value) != data:
        raise InputError("it is not in canonical form")
    return value


def read_object(data: bytes) -> dict[str, Any]:
    """Read a JSON object in which nothing is said twice and all numbers are numbers."""
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_unambiguous,
            parse_constant=_refuse_constant,
            parse_int=_whole,
        )
    except RecursionError:
        raise InputError("it is nested too deeply") from None
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"it is not JSON: {str(error)[:200]}") from None
    if not isinstance(value, dict):
        raise InputError("it is not a JSON object")
    return value


def _text(value: object) -> str:
    if value is None or isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int):
        if abs(value) > LARGEST:
            raise InputError("it holds a whole number that not every reader can hold")
        return str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_text, value))}]"
    if isinstance(value, Mapping):
        # RFC 8785 orders keys by UTF-16 code units.
        keys = sorted(value, key=lambda key: str(key).encode("utf-16-be"))
        return f"{{{','.join(f'{_text(str(key))}:{_text(value[key])}' for key in keys)}}}"
    raise InputError(f"it holds a {type(value).__name__}, which JSON cannot")


def _number(value: float) -> str:
    """Write a number as ECMAScript does, which RFC 8785 asks for.

    >>> [_number(x) for x in (-0.0, 0.5, 1e21, 123456789e12, 1.5e-7)]
    ['0', '0.5', '1e+21', '123456789000000000000', '1.5e-7']
    """
    if not math.isfinite(value):
        raise InputError("it holds a number that is not finite")
    if value == 0:
        return "0"
    # Python's repr has the fewest digits that give the number back, as ECMAScript's has.
    shortest = Decimal(repr(abs(value))).normalize().as_tuple()
    digits = "".join(map(str, shortest.digits))
    point = len(digits) + int(shortest.exponent)
    return ("-" if value < 0 else "") + _placed(digits, point)


def _placed(digits: str, point: int) -> str:
    """Put the decimal point before the digit at `point`."""
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{rest}e{point - 1:+d}"


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = sorted({key for key in keys if keys.count(key) > 1})
        raise InputError(f"keys stand there more than once: {some(twice)}")
    return value


def _refuse_constant(name: str) -> None:
    raise InputError(f"it holds {name}, which is not JSON")


def _whole(text: str) -> int | float:
    value = int(text)
    return value if abs(value) <= LARGEST else float(text)
