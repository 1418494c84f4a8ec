"""Finds the members of a family by name and makes them from a policy's settings."""

import inspect
import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, TypeVar, get_type_hints

from sfumato.errors import ParameterError, SfumatoError, UnknownNameError, suggest
from sfumato.policy.document import KeyPath
from sfumato.policy.values import Fault, plain, read, shown

T = TypeVar("T")


def parameters(kind: type) -> dict[str, tuple[Field[Any], Any]]:
    """Give the fields of a dataclass that can be set, with their types."""
    hints = get_type_hints(kind, include_extras=True)
    own = fields(kind) if is_dataclass(kind) else ()
    return {each.name: (each, hints[each.name]) for each in own if each.init}


def required(field: Field[Any]) -> bool:
    """Tell whether a field has no default."""
    return field.default is MISSING and field.default_factory is MISSING


def default(field: Field[Any]) -> object:
    """Give the default of a field that has one."""
    return field.default_factory() if field.default_factory is not MISSING else field.default


def descriptions(kind: type) -> dict[str, str]:
    """Read what each parameter means from the `Args` of a docstring.

    >>> from sfumato.models import KAnonymity
    >>> descriptions(KAnonymity)
    {'k': 'Fewest rows a class may have; 2 or more.'}
    """
    found: dict[str, str] = {}
    for owner in reversed(kind.__mro__):  # a parameter may be inherited, and then its meaning is
        document = inspect.cleandoc(owner.__doc__ or "")
        section = re.search(r"^Args:\n((?:[ ]+.*\n?|\n)*)", document, re.MULTILINE)
        entries = re.finditer(r"^ {4}(\w+):(.*(?:\n {8}.*)*)", section[1], re.M) if section else ()
        found.update({entry[1]: " ".join(entry[2].split()) for entry in entries})
    return found


def build(kind: type[T], given: Mapping[str, object], *, what: str, path: KeyPath = ()) -> T:
    """Make a dataclass of the given parameters, or raise a `Fault` that names the wrong one.

    >>> from sfumato.models import KAnonymity
    >>> build(KAnonymity, {"kk": 5}, what="k-anonymity")
    Traceback (most recent call last):
    sfumato.policy.values.Fault: k-anonymity has no parameter 'kk'. Did you mean 'k'? Known: 'k'.
    """
    known = parameters(kind)
    for name in given:
        if name not in known:
            near = suggest(str(name), list(known))
            raise Fault(f"{what} has no parameter {name!r}. {near}", (*path, str(name)))
    for name, (field, _) in known.items():
        if required(field) and name not in given:
            means = descriptions(kind).get(name)
            raise Fault(f"{what} needs {name!r}" + (f": {means}" if means else ""), path)
    arguments = {name: read(known[name][1], value, (*path, name)) for name, value in given.items()}
    try:
        return kind(**arguments)
    except (SfumatoError, ValueError, OverflowError) as error:
        wrong = [name for name, value in arguments.items() if _concerns(error, name, value)]
        raise Fault(str(error), (*path, *wrong[:1])) from None


def _concerns(error: Exception, name: str, value: object) -> bool:
    if isinstance(error, ParameterError):
        return error.name == name
    return isinstance(error, UnknownNameError) and error.given == value


def choose(family: Mapping[str, type[T]], tag: str, value: object) -> T:
    """Make the member of a family that a policy names.

    Args:
        family: The members by name.
        tag: The key that holds the name: `model`, `kind`, `loss`.
        value: A name, or a mapping of the name and the parameters.

    >>> from sfumato.models import MODELS
    >>> choose(MODELS, "model", {"model": "k-anonymity", "k": 5})
    KAnonymity(k=5)
    """
    if not isinstance(value, str | Mapping):
        raise Fault(f"must be a mapping with the key {tag!r}, got {shown(value)}")
    if isinstance(value, Mapping) and tag not in value:
        near = suggest("", sorted(family))
        raise Fault(f"{tag!r} is missing: it says which one is meant. {near} Got {shown(value)}")
    name = value if isinstance(value, str) else value[tag]
    path = (tag,) if isinstance(value, Mapping) else ()
    what = getattr(family, "what", tag)
    if not isinstance(name, str):
        near = suggest("", sorted(family))
        raise Fault(f"must be the name of a {what}, got {shown(name)}. {near}", path)
    if name not in family:
        raise Fault(f"no {what} {shown(name)}. {suggest(name, sorted(family))}", path)
    given = value if isinstance(value, Mapping) else {}
    rest = {key: item for key, item in given.items() if key != tag}
    return build(family[name], rest, what=name)


def written(member: object, tag: str) -> dict[str, object]:
    """Write a member as a policy does: its name and what differs from the defaults.

    >>> from sfumato.models import KAnonymity
    >>> written(KAnonymity(5), "model")
    {'model': 'k-anonymity', 'k': 5}
    """
    settings: dict[str, object] = {tag: member.name}  # type: ignore[attr-defined]
    for name, (field, _) in parameters(type(member)).items():
        value = getattr(member, name)
        if required(field) or value != default(field):
            settings[name] = plain(value)
    return settings
