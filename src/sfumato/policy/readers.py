"""Reads the settings at the top of a policy, each with its own words for what is wrong."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from sfumato.errors import PolicyError, some, suggest
from sfumato.losses import LOSSES, Loss
from sfumato.models import MODELS, PrivacyModel
from sfumato.policy.choice import DecouplingRule
from sfumato.policy.document import Places
from sfumato.policy.family import choose
from sfumato.policy.part import Faults, FrozenMap, collected, policy_error
from sfumato.policy.parts import ColumnRule, read_role
from sfumato.policy.values import Fault, read, resolve, shown
from sfumato.schema import Role

T = TypeVar("T")


def read_version(value: object) -> int:
    """Read the version of the format."""
    if read(int, value) != 1:
        raise Fault(f"must be 1, the only version of policies there is, got {shown(value)}")
    return 1


def read_columns(value: object) -> FrozenMap[ColumnRule]:
    """Read the rule of every column."""
    if not isinstance(value, Mapping):
        raise Fault(
            "must be a mapping of column names to their roles, as in {age: quasi-identifier}, "
            f"got {shown(value)}"
        )
    faults: Faults = []
    for name in value:
        if not isinstance(name, str) or not name:
            faults.append(((str(name),), f"a column name must be a text, got {shown(name)}"))
    rules = _each(value, ColumnRule.of, faults)
    return FrozenMap(dict(rules))


def read_models(value: object) -> tuple[PrivacyModel, ...]:
    """Read the list of models."""
    if not isinstance(value, list | tuple):
        raise Fault(f"must be a list, as in [{{model: k-anonymity, k: 5}}], got {shown(value)}")
    if not value:
        raise Fault(
            "there is no model, so nothing would be promised. "
            f"Add at least one, as in {{model: k-anonymity, k: 5}}. {suggest('', sorted(MODELS))}"
        )
    return tuple(_each(dict(enumerate(value)), read_model, []).values())


def read_model(value: object) -> PrivacyModel:
    """Read one model."""
    return value if isinstance(value, PrivacyModel) else choose(MODELS, "model", value)


def read_loss(value: object) -> Loss:
    """Read the loss."""
    return value if isinstance(value, Loss) else choose(LOSSES, "loss", value)


def _each(items: Mapping[Any, object], make: Callable[[object], T], faults: Faults) -> dict[Any, T]:
    """Read all items and report the mistakes of all of them together."""
    made: dict[Any, T] = {}
    for key, item in items.items():
        try:
            made[key] = make(item)
        except (PolicyError, Fault) as error:
            faults.extend(collected(error, key))
    if faults:
        raise policy_error(faults, Places())
    return made


def read_other(value: object) -> Role | None:
    """Read the role of columns not named."""
    role = None if resolve(value) is None else read_role(value)
    if role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        raise Fault(
            f"a column that is {role} must be named under columns, so that nobody overlooks it. "
            f"Allowed: {some([Role.DROPPED.value, Role.PLAIN.value, Role.IDENTIFIER.value])}."
        )
    return role


def read_decoupling(value: object) -> DecouplingRule | None:
    """Read how a table is decoupled; nothing leaves it open."""
    return None if resolve(value) is None else DecouplingRule.of(value)


def read_population(value: object) -> str | None:
    """Read the name of the population's file."""
    path: Path | None = read(Path | None, value)
    return None if path is None else str(value)
