"""Describes policy files as JSON Schema (2020-12), from the families and their dataclasses."""

import inspect
import types
from collections.abc import Mapping, Sequence, Set
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

from sfumato.hierarchy import BUILDERS
from sfumato.losses import AGGREGATES, LOSSES
from sfumato.models import MODELS
from sfumato.policy.columns import (
    Choice,
    ColumnRule,
    DecouplingRule,
    MethodRule,
    Missing,
    RiskLevels,
    SearchRule,
    Suppression,
    Tolerance,
    with_full_domain,
)
from sfumato.policy.family import default, descriptions, parameters, required
from sfumato.policy.values import Hint, Part, plain
from sfumato.schema import Role

Schema: TypeAlias = dict[str, Any]

TEXT: Schema = {"type": ["string", "number", "boolean"]}
"""Text may be written without quotes, and then looks like a number to an editor."""

_SCALARS: dict[Any, Schema] = {
    int: {"type": "integer"}, float: {"type": "number"}, bool: {"type": "boolean"}, str: TEXT,
    type(None): {"type": "null"}, Any: {}, object: {}, Path: {"type": "string"},
}  # fmt: skip


def type_schema(hint: Hint) -> Schema:  # noqa: PLR0911 - one per kind
    """Describe a type.

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
    if origin in (Union, types.UnionType):
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


def member_schema(kind: type, name: str, tag: str) -> Schema:
    """Describe the settings of one member of a family.

    >>> from sfumato.models import KAnonymity
    >>> member_schema(KAnonymity, "k-anonymity", "model")["properties"]["k"]
    {'type': 'integer', 'description': 'Fewest rows a class may have; 2 or more.'}
    """
    summary = (inspect.getdoc(kind) or "").partition("\n\n")[0].replace("\n", " ")
    properties: Schema = {tag: {"const": name, "description": summary}}
    needed = [tag]
    for field, (details, hint) in parameters(kind).items():
        entry = {"enum": list(AGGREGATES)} if field == "aggregate" else type_schema(hint)
        described = (
            {"description": descriptions(kind)[field]} if field in descriptions(kind) else {}
        )
        known = {} if required(details) else {"default": plain(default(details))}
        properties[field] = {**entry, **described, **known}
        if required(details):
            needed.append(field)
    return _object(properties, needed, title=name, description=summary)


def family_schema(family: Mapping[str, type], tag: str) -> Schema:
    """Describe a choice of one member: its name, or its name with settings."""
    bare = [name for name, kind in family.items() if not _needs_settings(kind)]
    short: list[Schema] = [{"enum": bare}] if bare else []
    return {"anyOf": [*short, *(member_schema(kind, name, tag) for name, kind in family.items())]}


def _needs_settings(kind: type) -> bool:
    return any(required(details) for details, _ in parameters(kind).values())


def choice_schema(kind: type[Choice], family: Mapping[str, type] | None) -> Schema:
    """Describe a choice from a family above the policy; None leaves names and options open."""
    if family is None:
        return {"anyOf": [{"type": "string"}, {"type": "object", "required": [kind.tag]}]}
    return family_schema(family, kind.tag)


def policy_schema(
    searches: Mapping[str, type] | None,
    methods: Mapping[str, type] | None = None,
    decouplings: Mapping[str, type] | None = None,
) -> Schema:
    """Describe a whole policy."""
    from sfumato.policy.policy import Policy

    limit = {"type": ["number", "string"], "minimum": 0, "pattern": r"^\s*[0-9.]+\s*%\s*$"}
    share = {"type": "number", "minimum": 0, "maximum": 1}
    role = {"enum": [role.value for role in Role]}
    column = _part(
        ColumnRule,
        role=role,
        hierarchy={"anyOf": [*family_schema(BUILDERS, "kind")["anyOf"], {"type": "null"}]},
        weight={"type": "number", "exclusiveMinimum": 0},
        levels={"type": ["array", "null"], "items": {"type": "integer", "minimum": 0},
                "minItems": 2, "maxItems": 2},
    )  # fmt: skip
    suppression = _part(Suppression, limit=limit, rows={"enum": ["remove", "star"]})
    others = [Role.DROPPED.value, Role.PLAIN.value, Role.IDENTIFIER.value]
    schema = _part(
        Policy,
        version={"const": 1},
        columns={
            "type": "object",
            "minProperties": 1,
            "propertyNames": {"minLength": 1},
            "additionalProperties": {"anyOf": [role, column]},
        },
        other={"enum": [*others, None]},
        models={"type": "array", "minItems": 1, "items": family_schema(MODELS, "model")},
        loss=family_schema(LOSSES, "loss"),
        method=choice_schema(MethodRule, None if methods is None else with_full_domain(methods)),
        search=choice_schema(SearchRule, searches),
        suppression={"anyOf": [limit, suppression]},
        missing={"enum": [choice.value for choice in Missing]},
        decouple={
            "anyOf": [*choice_schema(DecouplingRule, decouplings)["anyOf"], {"type": "null"}]
        },
        population={"type": ["string", "null"]},
        risk_levels=_part(RiskLevels, moderate=share, high=share, very_high=share),
        verdict=_part(
            Tolerance,
            threshold={"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 1},
            people={"type": "integer", "minimum": 0},
        ),
    )
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _part(kind: type[Part], **properties: Schema) -> Schema:
    described = {
        name: {**entry, "description": kind.model_fields[name].description}
        for name, entry in properties.items()
    }
    needed = [name for name, field in kind.model_fields.items() if field.is_required()]
    summary = (inspect.getdoc(kind) or "").partition("\n")[0]
    return _object(described, needed, title=kind.__name__, description=summary)


def _object(properties: Schema, needed: list[str], *, title: str, description: str) -> Schema:
    return {
        "title": title,
        "description": description,
        "type": "object",
        "properties": properties,
        "required": needed,
        "additionalProperties": False,
    }
