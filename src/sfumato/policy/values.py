"""Reads plain values as the types a setting expects, and writes them back.

The type hints that describe a dataclass in Python describe it in a policy too: from
them come the reading here and the JSON Schema in `sfumato.policy.schema`.
"""

import re
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from enum import Enum
from numbers import Integral, Real
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ConfigDict, PlainValidator, ValidationError

from sfumato.errors import PolicyError, suggest
from sfumato.policy.document import KeyPath, Places, Plain
from sfumato.text import text_of

# Only what reads back the same: 01234 is a postcode and 1_000 is not a number. Longer
# integers would not fit a 64-bit count.
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]{1,5})?")
_WORDS: dict[str, object] = {
    "": None, "~": None, "null": None, "true": True, "false": False,
    ".inf": float("inf"), "-.inf": float("-inf"), ".nan": float("nan"),
}  # fmt: skip
_NAMES: dict[Any, str] = {
    int: "a whole number", float: "a number", str: "a text", bool: "true or false",
    type(None): "nothing", Any: "anything", object: "anything",
}  # fmt: skip
_UNIONS = (Union, types.UnionType)

Hint: TypeAlias = Any
"""A type, as `typing.get_type_hints` gives it: a class, a union, a literal."""

Result: TypeAlias = Any
"""Whatever a hint stands for."""


class Fault(ValueError):  # noqa: N818 - users never see it, only the PolicyError it becomes
    """One mistake in a policy: what is wrong, and where below the place being read."""

    def __init__(self, text: str, path: KeyPath = ()) -> None:
        super().__init__(text)
        self.text = text
        self.path = path


def resolve(value: object) -> object:
    """Read unquoted text as what it looks like: a number, true, false, null, or text.

    >>> [resolve(Plain(text)) for text in ("5", "0.5", "true", "null", "no", "01", "1_000")]
    [5, 0.5, True, None, 'no', '01', '1_000']
    """
    if isinstance(value, Plain):
        lower = value.lower()
        if lower in _WORDS and value in (lower, lower.capitalize(), lower.upper()):
            return _WORDS[lower]
        if _INTEGER.fullmatch(value):
            return int(value)
        return float(value) if _FLOAT.fullmatch(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): resolve(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(resolve(item) for item in value)
    return value


def cell(value: object) -> object:
    """Read unquoted text as a cell of a table: a number only if it is written as tables write it.

    Values are matched by how they are written (`sfumato.text`), so this loses nothing.

    >>> [cell(Plain(text)) for text in ("5", "2.5", "1.50", "True", "no")]
    [5, 2.5, '1.50', 'True', 'no']
    """
    if isinstance(value, Plain):
        known = resolve(value)
        return known if known is None or text_of(known) == value else str(value)
    if isinstance(value, Mapping):
        return {str(key): cell(item) for key, item in value.items()}
    return [cell(item) for item in value] if isinstance(value, list) else value


def shown(value: object) -> str:
    """Write a value for a message, as short as it needs to be."""
    if isinstance(value, Mapping):
        return f"a mapping with the keys {', '.join(map(repr, list(value)[:5])) or '(none)'}"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    known = resolve(value)
    text = "nothing" if known is None else repr(known)
    return text if len(text) <= 80 else text[:77] + "..."


def wrong(hint: Hint, value: object, path: KeyPath = ()) -> Fault:
    """Say what was expected and what was given."""
    return Fault(f"must be {expected(hint)}, got {shown(value)}", path)


def read(hint: Hint, value: object, path: KeyPath = ()) -> Result:  # noqa: PLR0911 - one per kind
    """Read a value as a type, or raise a `Fault` that says what was expected.

    >>> read(tuple[tuple[str, ...], ...], [[Plain("no"), Plain("1")], [Plain("flu")]])
    (('no', '1'), ('flu',))
    >>> read(int, Plain("five"))
    Traceback (most recent call last):
    sfumato.policy.values.Fault: must be a whole number, got 'five'
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
    raise Fault(f"no choice {shown(value)} here. {hint}", path)


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
        raise Fault(f"must be a list of {len(args)}, got {shown(value)}", path)
    kinds = args if fixed else [args[0] if args else Any] * len(value)
    items = [
        read(each, item, (*path, position))
        for position, (each, item) in enumerate(zip(kinds, value, strict=True))
    ]
    return frozenset(items) if issubclass(kind, Set) else tuple(items)


def expected(hint: Hint) -> str:
    """Name a type for people.

    >>> expected(int | None), expected(tuple[float, ...]), expected(Literal["a", "b"])
    ('a whole number or nothing', 'a list of numbers', "'a' or 'b'")
    """
    origin: Hint = get_origin(hint)
    args = get_args(hint)
    kind = origin or hint
    if hint in _NAMES:
        text = _NAMES[hint]
    elif origin is Annotated:
        text = expected(args[0])
    elif origin in _UNIONS:
        ordered = sorted(args, key=lambda kind: kind is type(None))
        text = " or ".join(dict.fromkeys(expected(kind) for kind in ordered))
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


# What all parts of a policy share: they are immutable, strict, and say where they are wrong.


T_co = TypeVar("T_co", covariant=True)

Faults: TypeAlias = list[tuple[KeyPath, str]]
"""Mistakes: where, and what."""


class FrozenMap(Mapping[str, T_co]):
    """A dict that cannot be changed, with its order.

    >>> FrozenMap({"age": 1})
    {'age': 1}
    """

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, T_co] | None = None) -> None:
        self._items = dict(items or {})

    def __getitem__(self, key: str) -> T_co:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)


class Part(BaseModel):
    """A piece of a policy: made of keyword arguments, or of what a policy file says."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    def __init__(self, /, **settings: Any) -> None:  # noqa: ANN401 - the fields say what is taken
        try:
            super().__init__(**settings)
        except ValidationError as error:
            raise policy_error(_faults_of(error, type(self)), Places()) from None


def as_type(hint: Hint) -> PlainValidator:
    """Read a field the way every value of a policy is read."""
    return PlainValidator(lambda value: read(hint, value))


def keywords(value: Mapping[Any, object]) -> dict[str, object]:
    """Take a mapping as keyword arguments, or refuse keys that are not text."""
    for key in value:
        if not isinstance(key, str):
            raise Fault(f"a key must be a text, got {shown(key)}")
    return dict(value)


def policy_error(faults: Iterable[tuple[KeyPath, str]], places: Places) -> PolicyError:
    """Say all mistakes at once, in the order of their lines.

    >>> print(policy_error([(("models", 0, "k"), "too small")], Places("p.yaml")))
    p.yaml, models[0].k: too small
    """
    ordered = sorted(faults, key=lambda fault: places.line(fault[0]) or 0)
    lines = [f"{places.of(path)}: {text}" for path, text in ordered]
    text = (
        lines[0]
        if len(lines) == 1
        else f"{places.origin}: {len(lines)} mistakes\n" + "\n".join(lines)
    )
    return PolicyError(text, faults=ordered)


def collected(error: PolicyError | Fault, *keys: str | int) -> Faults:
    """Give the mistakes of an error as seen from further up."""
    if isinstance(error, Fault):
        return [((*keys, *error.path), error.text)]
    if error.faults:
        return [((*keys, *path), text) for path, text in error.faults]
    return [(keys, str(error))]


def _faults_of(error: ValidationError, kind: type[BaseModel]) -> Faults:
    known = kind.model_fields
    faults: Faults = []
    for each in error.errors(include_url=False):
        where: KeyPath = each["loc"]
        cause = each.get("ctx", {}).get("error")
        if isinstance(cause, PolicyError | Fault):
            faults.extend(collected(cause, *where))
        elif each["type"] == "missing":
            means = known[str(where[-1])].description
            faults.append((where[:-1], f"{where[-1]!r} is missing: {means}"))
        elif each["type"] == "extra_forbidden":
            key = str(where[-1])
            faults.append((where, f"unknown key {key!r}. {suggest(key, list(known))}"))
        else:
            faults.append((where, str(cause) if cause else each["msg"]))
    return faults


# Writes settings as plain values, and those as YAML that reads back the same.


_TEXT = "tag:yaml.org,2002:str"
_RESOLVER = yaml.resolver.Resolver()


class _Dumper(yaml.SafeDumper):
    # To us every bare scalar is text, so PyYAML need not guard any of them with a tag.
    yaml_implicit_resolvers = {}  # noqa: RUF012 - declared so by PyYAML

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    # Quotes where we, or other readers of YAML, would take it for something else.
    elsewhere = _RESOLVER.resolve(yaml.ScalarNode, value, (True, False))  # type: ignore[no-untyped-call]
    style = None if resolve(Plain(value)) == value and elsewhere == _TEXT else "'"
    # Some line breaks of Unicode read back only if they are escaped.
    return dumper.represent_scalar(_TEXT, value, style=style if value.isprintable() else '"')


def _number(dumper: yaml.SafeDumper, value: float) -> yaml.ScalarNode:
    text = repr(value).replace("inf", ".inf").replace("nan", ".nan")
    return dumper.represent_scalar(_TEXT, text)


def _word(dumper: yaml.SafeDumper, value: bool | None) -> yaml.ScalarNode:  # noqa: FBT001 - a value
    return dumper.represent_scalar(_TEXT, "null" if value is None else str(value).lower())


_Dumper.add_representer(str, _text)
_Dumper.add_representer(int, _number)
_Dumper.add_representer(float, _number)
_Dumper.add_representer(bool, _word)
_Dumper.add_representer(type(None), _word)


def to_text(settings: dict[str, object]) -> str:
    """Write settings in their order.

    >>> print(to_text({"version": 1, "columns": {"zip": "plain"}, "other": "1e5"}), end="")
    version: 1
    columns: {zip: plain}
    other: '1e5'
    """
    text: str = yaml.dump(
        settings, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None,
        width=100,
    )  # fmt: skip
    return text


def plain(value: object) -> object:  # noqa: PLR0911 - one line per type
    """Write a value with nothing but dicts, lists, text and numbers.

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
