"""Type hints as the description of a setting: read by them, written, and described to editors.

The hints that describe a dataclass in Python describe it in a policy too.
"""

import types
from collections.abc import Mapping, Sequence, Set
from enum import Enum
from numbers import Integral, Real
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

from sfumato.errors import suggest
from sfumato.policy.document import Fault, KeyPath, cell, resolve, show
from sfumato.text import text_of

_NAMES: dict[Any, str] = {
    int: "a whole number", float: "a number", str: "a text", bool: "true or false",
    type(None): "nothing", Any: "anything", object: "anything",
}  # fmt: skip
_UNIONS = (Union, types.UnionType)

Hint: TypeAlias = Any
"""A type, as `typing.get_type_hints` returns it: a class, a union, a literal."""

Result: TypeAlias = Any
"""A value of the type of a hint."""

Schema: TypeAlias = dict[str, Any]
"""A piece of JSON Schema (2020-12)."""

TEXT: Schema = {"type": ["string", "number", "boolean"]}
"""Text may be written without quotes, and then looks like a number to an editor."""

_SCALARS: dict[Any, Schema] = {
    int: {"type": "integer"}, float: {"type": "number"}, bool: {"type": "boolean"}, str: TEXT,
    type(None): {"type": "null"}, Any: {}, object: {}, Path: {"type": "string"},
}  # fmt: skip


def wrong(hint: Hint, value: object, path: KeyPath = ()) -> Fault:
    """Return the mistake of a value that is not of a type."""
    return Fault(f"must be {describe_type(hint)}, got {show(value)}", path)


def read(hint: Hint, value: object, path: KeyPath = ()) -> Result:  # noqa: PLR0911 - one per kind
    """Read a value as a type, or raise a `Fault` that says what was expected.

    >>> from sfumato.policy.document import Plain
    >>> read(tuple[tuple[str, ...], ...], [[Plain("no"), Plain("1")], [Plain("flu")]])
    (('no', '1'), ('flu',))
    >>> read(int, Plain("five"))
    Traceback (most recent call last):
    sfumato.policy.document.Fault: must be a whole number, got 'five'
    """
    origin: Hint = get_origin(hint)
    args = get_args(hint)
    if hint is Any or hint is object:
        return cell(value)
    if origin is Annotated:
        return read(args[0], value, path)
    if origin in _UNIONS:
        return _read_union(hint, args, value, path)
    if origin is Literal:
        return _read_choice({choice: choice for choice in args}, value, path)
    kind = origin or hint
    if issubclass(kind, Enum):
        return _read_choice({member.value: member for member in kind}, value, path)
    if issubclass(kind, Mapping):
        return _read_mapping(hint, args, value, path)
    if issubclass(kind, Sequence | Set) and kind is not str:
        return _read_items(hint, args, value, path)
    return _read_scalar(kind, value, path)


def _read_scalar(kind: type, value: object, path: KeyPath) -> Result:  # noqa: PLR0911 - as above
    known = resolve(value)
    if kind is type(None) and known is None:
        return None
    if kind is bool and isinstance(known, bool):
        return known
    if kind is int and isinstance(known, Integral) and not isinstance(known, bool):
        return int(known)
    if kind is float and isinstance(known, Real) and not isinstance(known, bool):
        return _read_float(known, path)
    if kind is str and isinstance(value, str) and known is not None:
        return str(value)
    if kind is Path and isinstance(value, str | Path) and known is not None:
        return Path(value)
    if kind not in _NAMES and isinstance(value, kind):
        return value
    raise wrong(kind, value, path)


def _read_float(number: Real, path: KeyPath) -> float:
    try:
        return float(number)
    except OverflowError:
        raise Fault("must be a number, got one that is too large", path) from None


def _read_union(hint: Hint, args: tuple[Any, ...], value: object, path: KeyPath) -> Result:
    # Any unquoted text can be read as text, so text is what is left when nothing else fits.
    faults = []
    for kind in sorted(args, key=lambda kind: (kind is not type(None), kind is str)):
        try:
            return read(kind, value, path)
        except Fault as fault:
            faults.append(fault)
    if len(faults) == 2 and type(None) in args:
        raise faults[1]
    deepest = max(faults, key=lambda fault: len(fault.path))
    raise deepest if len(deepest.path) > len(path) else wrong(hint, value, path)


def _read_choice(choices: Mapping[Any, Any], value: object, path: KeyPath) -> Result:
    for choice, result in choices.items():
        given = value if isinstance(choice, str) else resolve(value)
        # True equals 1 in Python; in a policy they are different things.
        if value is result or (given == choice and isinstance(given, type(choice))):
            return result
    names = [str(choice) for choice in choices]
    hint = suggest(value if isinstance(value, str) else "", names)
    raise Fault(f"no choice {show(value)} here. {hint}", path)


def _read_mapping(hint: Hint, args: tuple[Any, ...], value: object, path: KeyPath) -> Result:
    if not isinstance(value, Mapping):
        raise wrong(hint, value, path)
    item = args[1] if args else Any
    return {str(key): read(item, each, (*path, str(key))) for key, each in value.items()}


def _read_items(hint: Hint, args: tuple[Any, ...], value: object, path: KeyPath) -> Result:
    if not isinstance(value, list | tuple | Set):
        raise wrong(hint, value, path)
    kind: Hint = get_origin(hint) or hint
    fixed = issubclass(kind, tuple) and bool(args) and args[-1] is not Ellipsis
    if fixed and len(value) != len(args):
        raise Fault(f"must be a list of {len(args)}, got {show(value)}", path)
    kinds = args if fixed else [args[0] if args else Any] * len(value)
    items = [
        read(each, item, (*path, position))
        for position, (each, item) in enumerate(zip(kinds, value, strict=True))
    ]
    return frozenset(items) if issubclass(kind, Set) else tuple(items)


def describe_type(hint: Hint) -> str:
    """Describe a type for people.

    >>> [describe_type(hint) for hint in (int | None, tuple[float, ...], Literal["a", "b"])]
    ['a whole number or nothing', 'a list of numbers', "'a' or 'b'"]
    """
    origin: Hint = get_origin(hint)
    args = get_args(hint)
    kind = origin or hint
    if hint in _NAMES:
        text = _NAMES[hint]
    elif origin is Annotated:
        text = describe_type(args[0])
    elif origin in _UNIONS:
        ordered = sorted(args, key=lambda kind: kind is type(None))
        text = " or ".join(dict.fromkeys(describe_type(kind) for kind in ordered))
    elif origin is Literal:
        text = " or ".join(repr(choice) for choice in args)
    elif issubclass(kind, Mapping):
        text = "a mapping"
    elif issubclass(kind, Sequence | Set):
        plural = {int: " of whole numbers", float: " of numbers", str: " of texts"}
        text = "a list" + (plural.get(args[0], "") if args else "")
    elif issubclass(kind, Path):
        text = "a file name"
    elif issubclass(kind, Enum):
        text = " or ".join(repr(member.value) for member in kind)
    else:
        text = f"a {kind.__name__}"
    return text


def type_schema(hint: Hint) -> Schema:  # noqa: PLR0911 - one per kind
    """Describe a type as JSON Schema.

    >>> type_schema(tuple[int, ...] | None)
    {'anyOf': [{'type': 'array', 'items': {'type': 'integer'}}, {'type': 'null'}]}
    """
    origin: Hint = get_origin(hint)
    args = get_args(hint)
    kind = origin or hint
    if hint in _SCALARS:
        return _SCALARS[hint]
    if origin is Annotated:
        return type_schema(args[0])
    if origin in _UNIONS:
        return {"anyOf": [type_schema(each) for each in args]}
    if origin is Literal:
        return {"enum": list(args)}
    if issubclass(kind, Enum):
        return {"enum": [member.value for member in kind]}
    if issubclass(kind, Mapping):
        return {"type": "object", "additionalProperties": type_schema(args[1]) if args else {}}
    if issubclass(kind, Sequence | Set):
        fixed = issubclass(kind, tuple) and bool(args) and args[-1] is not Ellipsis
        if fixed:
            n = len(args)
            items = [type_schema(each) for each in args]
            return {"type": "array", "prefixItems": items, "minItems": n, "maxItems": n}
        return {"type": "array", "items": type_schema(args[0]) if args else {}}
    return {}


def plain(value: object) -> object:  # noqa: PLR0911 - one line per type
    """Write a value as nothing but dicts, lists, text and numbers.

    >>> plain((("a", 2.0), Path("b")))
    [['a', 2], 'b']
    """
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, Path):
        return value.as_posix()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Set):
        return sorted((plain(item) for item in value), key=repr)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return int(number) if number.is_integer() and abs(number) < 1e16 else number
    return text_of(value)
