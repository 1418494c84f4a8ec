"""The text of a policy: read with the line of everything in it, and written.

A scalar stays text: `no`, `1_000`, `01234` and `2020-01-31` are what they look like,
column names and categories among them. What a setting expects decides how the text
is read (`read`), so none of YAML's surprises can happen. A policy
may come from anyone: nothing is ever constructed from it, and what a policy has no
need of (anchors, tags, several documents, bottomless nesting) is refused.
"""

import re
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import field
from enum import Enum
from numbers import Integral, Real
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

import yaml

from sfumato.dataclasses import dataclass
from sfumato.errors import PolicyError, suggest
from sfumato.files import read_small
from sfumato.text import format_integer, text_of, visible

KeyPath: TypeAlias = tuple[str | int, ...]
"""Where something stands: keys and positions from the top of the document."""

LARGEST = 10_000_000
"""Bytes; a policy is written by people, and larger ones are a mistake or an attack."""

MOST = 1_000_000
"""Keys and values; ten megabytes of commas would fill a gigabyte of memory."""

DEEPEST = 40
"""Levels of nesting; enough for any taxonomy of things people have names for."""

Event: TypeAlias = Any
"""An event of the YAML parser, whose stubs know less than we need."""

# Only what reads back the same: 01234 is a postcode and 1_000 is not a number. Longer
# integers would not fit a 64-bit count.
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]{1,5})?")
_WORDS: dict[str, object] = {
    "": None, "~": None, "null": None, "true": True, "false": False,
    ".inf": float("inf"), "-.inf": float("-inf"), ".nan": float("nan"),
}  # fmt: skip


class Plain(str):
    """Text that was written without quotes, and may therefore be meant as a number."""

    __slots__ = ()


@dataclass(frozen=True, eq=False)
class LinePlaces:
    """The file something came from, and the line of every key path in it.

    >>> LinePlaces("policy.yaml", {("models", 0): 7}).of(("models", 0, "k"))
    'policy.yaml, line 7, models[0].k'
    >>> LinePlaces().of(("columns", "net income", "role"))
    "policy, columns.'net income'.role"
    """

    origin: str = "policy"
    lines: Mapping[KeyPath, int] = field(default_factory=dict, repr=False)

    def line(self, path: KeyPath) -> int | None:
        """Return the line of a path, or of the nearest thing around it that has one."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.lines:
                return self.lines[path[:end]]
        return None

    def without(self, *keys: str) -> "LinePlaces":
        """Return the places without those of keys at the top that were replaced since."""
        lines = {path: line for path, line in self.lines.items() if not {*path[:1]} & {*keys}}
        return LinePlaces(self.origin, lines)

    def of(self, path: KeyPath) -> str:
        """Describe a place for a message."""
        line = self.line(path)
        parts = [self.origin, f"line {line}" if line is not None else "", path_text(path)]
        return ", ".join(part for part in parts if part)


def path_text(path: KeyPath) -> str:
    """Write a key path as people do.

    >>> path_text(("columns", "age", "levels", 1))
    'columns.age.levels[1]'
    """
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            name = key if re.fullmatch(r"[\w-]+", key) else repr(key)
            text += f".{name}" if text else name
    return text


class Fault(ValueError):  # noqa: N818 - users never see it, only the PolicyError it becomes
    """One mistake in a policy: what is wrong, and where below the place being read."""

    def __init__(self, text: str, path: KeyPath = ()) -> None:
        super().__init__(text)
        self.text = text
        self.path = path


Faults: TypeAlias = list[tuple[KeyPath, str]]
"""Mistakes: where, and what."""


def faults_of(error: Exception, *keys: str | int) -> Faults:
    """Return the mistakes of an error as seen from further up."""
    if isinstance(error, Fault):
        return [((*keys, *error.path), error.text)]
    if isinstance(error, PolicyError) and error.faults:
        return [((*keys, *path), text) for path, text in error.faults]
    return [(keys, str(error))]


def policy_error(faults: Iterable[tuple[KeyPath, str]], places: LinePlaces) -> PolicyError:
    """Make one error of all mistakes, in the order of their lines.

    >>> print(policy_error([(("models", 0, "k"), "too small")], LinePlaces("p.yaml")))
    p.yaml, models[0].k: too small
    """
    ordered = sorted(faults, key=lambda fault: places.line(fault[0]) or 0)
    lines = [f"{places.of(path)}: {text}" for path, text in ordered]
    if len(lines) > 1:
        lines.insert(0, f"{places.origin}: {len(lines)} mistakes")
    return PolicyError("\n".join(lines), faults=ordered)


@dataclass(frozen=True)
class PolicyText:
    """The content of a text: nested dicts, lists and strings, with their places."""

    root: object
    places: LinePlaces


_SPLIT = "Keep large hierarchies in files of their own and name them in the policy."


def read_file(path: Path) -> str:
    """Read a policy file as text."""
    try:
        data = read_small(path, "a policy", LARGEST, hint=_SPLIT, error=PolicyError)
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PolicyError(
            f"{path}: not UTF-8 text: byte 0x{error.object[error.start]:02x} at position "
            f"{error.start}. Save the file with the encoding UTF-8."
        ) from None
    except (OSError, ValueError) as error:
        if isinstance(error, PolicyError):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise PolicyError(f"{path}: the policy cannot be read: {reason}") from None


def parse(text: str, *, origin: str) -> PolicyText:
    r"""Read YAML into plain dicts, lists and text, with a line for each.

    >>> document = parse("columns:\n  age: no", origin="policy.yaml")
    >>> document.root, document.places.of(("columns", "age"))
    ({'columns': {'age': 'no'}}, 'policy.yaml, line 2, columns.age')
    """
    return _Reader(origin).document(text)


class _Reader:
    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.lines: dict[KeyPath, int] = {}

    def document(self, text: str) -> PolicyText:
        try:
            size = len(text.encode("utf-8"))
        except UnicodeEncodeError as error:
            raise PolicyError(f"{self.origin}: not text: {error.reason}") from None
        if size > LARGEST:
            raise PolicyError(
                f"{self.origin}: {format_integer(size)} bytes; a policy has at most "
                f"{format_integer(LARGEST)}"
            )
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            events: Iterator[Event] = yaml.parse(text, Loader=loader)
            root = self._document(events)
        except yaml.YAMLError as error:
            raise self._syntax_error(error) from None
        return PolicyText(root, LinePlaces(self.origin, self.lines))

    def _document(self, events: Iterator[Event]) -> object:
        root: object = None
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self._refusal(event, "a second document begins. Keep one per file.")
                root = self._node(next(events), events, ())
        return root

    def _node(self, event: Event, events: Iterator[Event], path: KeyPath) -> object:
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise self._refusal(
                event,
                f"anchors and aliases (&name, *name) are not allowed, got {event.anchor!r}. "
                "Write the value out; put a * that is meant as text in quotes.",
            )
        if event.tag not in (None, "!"):
            raise self._refusal(
                event, f"tags are not allowed, got {event.tag!r}. Write the value without it."
            )
        if len(path) > DEEPEST:
            raise self._refusal(event, f"nested deeper than {DEEPEST} levels")
        if len(self.lines) > MOST:
            raise self._refusal(event, f"more than {format_integer(MOST)} keys and values")
        self.lines.setdefault(path, event.start_mark.line + 1)
        if isinstance(event, yaml.ScalarEvent):
            return Plain(event.value) if event.implicit[0] else str(event.value)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(events, path)
        return self._mapping(events, path)

    def _sequence(self, events: Iterator[Event], path: KeyPath) -> list[object]:
        items: list[object] = []
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            items.append(self._node(event, events, (*path, len(items))))
        return items

    def _mapping(self, events: Iterator[Event], path: KeyPath) -> dict[str, object]:
        entries: dict[str, object] = {}
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            line = event.start_mark.line + 1
            if not isinstance(event, yaml.ScalarEvent):
                raise self._refusal(event, "a key must be text, not a list or a mapping")
            key = str(self._node(event, events, (*path, str(event.value))))
            if key in entries:
                raise PolicyError(
                    f"{self.origin}, line {line}, {path_text((*path, key))}: {key!r} stands there "
                    f"already, on line {self.lines[(*path, key)]}. Keep one of the two."
                )
            entries[key] = self._node(next(events), events, (*path, key))
        return entries

    def _refusal(self, event: Event, text: str) -> PolicyError:
        return PolicyError(f"{self.origin}, line {event.start_mark.line + 1}: {text}")

    def _syntax_error(self, error: yaml.YAMLError) -> PolicyError:
        mark = getattr(error, "problem_mark", None)
        place = f"{self.origin}, line {mark.line + 1}" if mark is not None else self.origin
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
        context = getattr(error, "context", None)
        return PolicyError(
            f"{place}: not valid YAML: {problem}{f' ({context})' if context else ''}. "
            "Check indentation, colons and quotes near there."
        )


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


def show(value: object) -> str:
    """Write a value for a message, as short as it needs to be."""
    if isinstance(value, Mapping):
        return f"a mapping with the keys {', '.join(map(repr, list(value)[:5])) or '(none)'}"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    known = resolve(value)
    text = "nothing" if known is None else repr(known)
    return text if len(text) <= 80 else text[:77] + "..."


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


def to_text(settings: dict[str, object], *, flow: bool = False, width: int = 2**20) -> str:
    """Write settings in their order.

    Args:
        settings: What to write.
        flow: Whether all of it goes into one line, in braces.
        width: The most characters of such a line; what is longer goes into several.

    >>> print(to_text({"version": 1, "columns": {"zip": "plain"}, "other": "1e5"}), end="")
    version: 1
    columns: {zip: plain}
    other: '1e5'
    >>> print(to_text({"age": {"role": "plain"}}, flow=True), end="")
    {age: {role: plain}}
    """
    text: str = yaml.dump(
        settings, Dumper=_Dumper, sort_keys=False, allow_unicode=True,
        default_flow_style=flow or None, width=width if flow else 100,
    )  # fmt: skip
    # Names that turn a line around stand in double quotes, where they can be escaped.
    return visible(text, keep="\n")


# Type hints as the description of a setting: read by them, written, and described to editors.
#
# The hints that describe a dataclass in Python describe it in a policy too.


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
