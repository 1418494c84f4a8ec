"""What all parts of a policy share: they are immutable, strict, and say where they are wrong."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, PlainValidator, ValidationError

from sfumato.errors import PolicyError, suggest
from sfumato.policy.document import KeyPath, Places
from sfumato.policy.values import Fault, Hint, read, shown

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
