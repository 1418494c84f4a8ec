"""Reads the text of a policy and remembers the line of everything in it.

A scalar stays text: `no`, `1_000`, `01234` and `2020-01-31` are what they look like,
column names and categories among them. What a setting expects decides how the text
is read (`sfumato.policy.values`), so none of YAML's surprises can happen. A policy
may come from anyone: nothing is ever constructed from it, and what a policy has no
need of (anchors, tags, several documents, bottomless nesting) is refused.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from sfumato.errors import PolicyError

KeyPath: TypeAlias = tuple[str | int, ...]
"""Where something stands: keys and positions from the top of the document."""

LARGEST = 10_000_000
"""Bytes; a policy is written by people, and larger ones are a mistake or an attack."""

MOST = 1_000_000
"""Keys and values; ten megabytes of commas would fill a gigabyte of memory."""

DEEPEST = 40
"""Levels of nesting; enough for any taxonomy of things people have names for."""

Event: TypeAlias = Any
"""What the YAML parser gives; its stubs know less than we need."""


class Plain(str):
    """Text that was written without quotes, and may therefore be meant as a number."""

    __slots__ = ()


@dataclass(frozen=True, eq=False)
class Places:
    """The file something came from, and the line of every key path in it.

    Where a policy was written does not make it another policy: all places are equal.

    >>> Places("policy.yaml", {("models", 0): 7}).of(("models", 0, "k"))
    'policy.yaml, line 7, models[0].k'
    >>> Places().of(("columns", "net income", "role"))
    "policy, columns.'net income'.role"
    """

    origin: str = "policy"
    lines: Mapping[KeyPath, int] = field(default_factory=dict, repr=False)

    def line(self, path: KeyPath) -> int | None:
        """Give the line of a path, or of the nearest thing around it that has one."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.lines:
                return self.lines[path[:end]]
        return None

    def without(self, key: str) -> "Places":
        """Forget where a key at the top stands, because it was replaced since."""
        lines = {path: line for path, line in self.lines.items() if path[:1] != (key,)}
        return Places(self.origin, lines)

    def of(self, path: KeyPath) -> str:
        """Name a place for a message."""
        line = self.line(path)
        parts = [self.origin, f"line {line}" if line is not None else "", dotted(path)]
        return ", ".join(part for part in parts if part)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Places)

    def __hash__(self) -> int:
        return hash(Places)


def dotted(path: KeyPath) -> str:
    """Write a key path as people do.

    >>> dotted(("columns", "age", "levels", 1))
    'columns.age.levels[1]'
    """
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            shown = key if re.fullmatch(r"[\w-]+", key) else repr(key)
            text += f".{shown}" if text else shown
    return text


@dataclass(frozen=True)
class Document:
    """What a text says: nested dicts, lists and strings, with their places."""

    root: object
    places: Places


def read_file(path: Path) -> str:
    """Read a policy file as text, or say why that cannot be done."""
    try:
        size = path.stat().st_size
        if size > LARGEST:
            raise PolicyError(
                f"{path}: the file has {size:,} bytes, a policy has at most {LARGEST:,}. "
                "Keep large hierarchies in files of their own and name them in the policy."
            )
        return path.read_bytes().decode("utf-8-sig")
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


def parse(text: str, *, origin: str) -> Document:
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

    def document(self, text: str) -> Document:
        try:
            size = len(text.encode("utf-8"))
        except UnicodeEncodeError as error:
            raise PolicyError(f"{self.origin}: not text: {error.reason}") from None
        if size > LARGEST:
            raise PolicyError(f"{self.origin}: {size:,} bytes; a policy has at most {LARGEST:,}")
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            events: Iterator[Event] = yaml.parse(text, Loader=loader)
            root = self._document(events)
        except yaml.YAMLError as error:
            raise self._syntax_error(error) from None
        return Document(root, Places(self.origin, self.lines))

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
            raise self._refusal(event, f"more than {MOST:,} keys and values")
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
                    f"{self.origin}, line {line}, {dotted((*path, key))}: {key!r} stands there "
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
