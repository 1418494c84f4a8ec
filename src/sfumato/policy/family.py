"""Members of families: found by name, made from settings, written and described to editors."""

import inspect
import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, TypeVar, get_type_hints

from sfumato.errors import ParameterError, SfumatoError, UnknownNameError, suggest
from sfumato.losses import AGGREGATES
from sfumato.policy.document import Fault, KeyPath, show
from sfumato.policy.values import Schema, plain, read, type_schema

T = TypeVar("T")


def parameters(kind: type) -> dict[str, tuple[Field[Any], Any]]:
    """Return the fields of a dataclass that can be set, with their types."""
    hints = get_type_hints(kind, include_extras=True)
    own = fields(kind) if is_dataclass(kind) else ()
    return {each.name: (each, hints[each.name]) for each in own if each.init}


def is_required(field: Field[Any]) -> bool:
    """Return whether a field has no default."""
    return field.default is MISSING and field.default_factory is MISSING


def default_of(field: Field[Any]) -> object:
    """Return the default of a field that has one."""
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
    """Make a dataclass of parameters, or raise a `Fault` that names the wrong one.

    >>> from sfumato.models import KAnonymity
    >>> build(KAnonymity, {"kk": 5}, what="k-anonymity")
    Traceback (most recent call last):
    sfumato.policy.document.Fault: k-anonymity has no parameter 'kk'. Did you mean 'k'? Known: 'k'.
    """
    known = parameters(kind)
    for name in given:
        if name not in known:
            near = suggest(str(name), list(known))
            raise Fault(f"{what} has no parameter {name!r}. {near}", (*path, str(name)))
    for name, (details, _) in known.items():
        if is_required(details) and name not in given:
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
        raise Fault(f"must be a mapping with the key {tag!r}, got {show(value)}")
    if isinstance(value, Mapping) and tag not in value:
        near = suggest("", sorted(family))
        raise Fault(f"{tag!r} is missing: it says which one is meant. {near} Got {show(value)}")
    name = value if isinstance(value, str) else value[tag]
    path = (tag,) if isinstance(value, Mapping) else ()
    what = getattr(family, "what", tag)
    if not isinstance(name, str):
        near = suggest("", sorted(family))
        raise Fault(f"must be the name of a {what}, got {show(name)}. {near}", path)
    if name not in family:
        raise Fault(f"no {what} {show(name)}. {suggest(name, sorted(family))}", path)
    given = value if isinstance(value, Mapping) else {}
    rest = {key: item for key, item in given.items() if key != tag}
    return build(family[name], rest, what=name)


def member_settings(member: object, tag: str) -> dict[str, object]:
    """Return what a policy writes for a member: its name and what differs from the defaults.

    >>> from sfumato.models import KAnonymity
    >>> member_settings(KAnonymity(5), "model")
    {'model': 'k-anonymity', 'k': 5}
    """
    settings: dict[str, object] = {tag: member.name}  # type: ignore[attr-defined]
    for name, (details, _) in parameters(type(member)).items():
        value = getattr(member, name)
        if is_required(details) or value != default_of(details):
            settings[name] = plain(value)
    return settings


def member_schema(kind: type, name: str, tag: str) -> Schema:
    """Describe the settings of one member of a family.

    >>> from sfumato.models import KAnonymity
    >>> member_schema(KAnonymity, "k-anonymity", "model")["properties"]["k"]
    {'type': 'integer', 'description': 'Fewest rows a class may have; 2 or more.'}
    """
    summary = (inspect.getdoc(kind) or "").partition("\n\n")[0].replace("\n", " ")
    properties: Schema = {tag: {"const": name, "description": summary}}
    needed, means = [tag], descriptions(kind)
    for parameter, (details, hint) in parameters(kind).items():
        entry = {"enum": list(AGGREGATES)} if parameter == "aggregate" else type_schema(hint)
        described = {"description": means[parameter]} if parameter in means else {}
        known = {} if is_required(details) else {"default": plain(default_of(details))}
        properties[parameter] = {**entry, **described, **known}
        if is_required(details):
            needed.append(parameter)
    return object_schema(properties, needed, title=name, description=summary)


def family_schema(family: Mapping[str, type], tag: str) -> Schema:
    """Describe a choice of one member: its name, or its name with settings."""
    bare = [name for name, kind in family.items() if not _needs_settings(kind)]
    short: list[Schema] = [{"enum": bare}] if bare else []
    return {"anyOf": [*short, *(member_schema(kind, name, tag) for name, kind in family.items())]}


def _needs_settings(kind: type) -> bool:
    return any(is_required(details) for details, _ in parameters(kind).values())


def object_schema(properties: Schema, needed: list[str], *, title: str, description: str) -> Schema:
    """Describe a mapping with these keys and no others."""
    return {
        "title": title,
        "description": description,
        "type": "object",
        "properties": properties,
        "required": needed,
        "additionalProperties": False,
    }
