"""Many policies out of a few: every combination of the settings that are to be varied."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from os import PathLike
from pathlib import Path
from typing import TypeGuard

from sfumato.decouplings import DECOUPLINGS
from sfumato.errors import ParameterError, SfumatoError, UnknownNameError
from sfumato.models import PrivacyModel
from sfumato.partition import PARTITIONERS
from sfumato.policy import (
    DecouplingRule,
    GivenPolicy,
    MethodRule,
    Policy,
    Suppression,
    policy_of,
)
from sfumato.policy.document import Fault, read, resolve
from sfumato.policy.parts import every_method, parameters
from sfumato.text import text_of

NONE = "none"
"""Stands for a policy that decouples nothing."""

METHOD, SUPPRESSION, DECOUPLE = "method", "suppression", "decouple"


def name_policies(
    policies: GivenPolicy | Mapping[str, GivenPolicy] | Sequence[GivenPolicy],
    vary: Mapping[str, Iterable[object]] | None = None,
) -> dict[str, Policy]:
    """Return every policy there is to compare, by name.

    Example:
        >>> columns = {"age": "quasi-identifier"}
        >>> policy = Policy(columns=columns, models=[{"model": "k-anonymity", "k": 2}])
        >>> found = name_policies(policy, {"k": [2, 5], "method": ["full-domain", "mondrian"]})
        >>> list(found)
        ['k=2, full-domain', 'k=2, mondrian', 'k=5, full-domain', 'k=5, mondrian']
        >>> found["k=5, mondrian"].models, found["k=5, mondrian"].method.name
        ((KAnonymity(k=5),), 'mondrian')
    """
    bases = _read_policies(policies)
    # One policy that is varied needs no name.
    alone = len(bases) == 1 and (_is_policy(policies) or not isinstance(policies, Mapping))
    found: dict[str, Policy] = {}
    for base, policy in bases:
        for settings, changed in _combinations(base, policy, _read_values(vary)):
            parts = settings if alone and settings else [base, *settings]
            _add(found, ", ".join(parts), changed)
    return found


PLAIN = ("loss", "search", "missing")
"""Settings of a policy that have one value and are not varied."""


def override(policy: Policy, given: Mapping[str, object]) -> Policy:
    """Return a policy with some settings replaced, each named as it is varied.

    >>> columns = {"age": "quasi-identifier"}
    >>> policy = Policy(columns=columns, models=[{"model": "k-anonymity", "k": 2}])
    >>> changed = override(policy, {"k": 5, "method": "mondrian", "suppression": 0.1})
    >>> changed.changes_from(policy)
    'k-anonymity(k=5) in place of k-anonymity(k=2), method mondrian in place of full-domain,
    suppression limit=0.1, rows=remove in place of limit=0, rows=remove'
    """
    known = [*_parameters(policy), METHOD, SUPPRESSION, DECOUPLE, *PLAIN]
    for key, value in given.items():
        if key not in known:
            raise UnknownNameError("setting", key, known, where="the policy")
        if key in PLAIN:
            policy = policy.replace(**{key: resolve(value)})
        else:
            policy = _with_setting(policy, key, value, f"set {key}")[1]
    return policy


def _read_policies(
    policies: GivenPolicy | Mapping[str, GivenPolicy] | Sequence[GivenPolicy],
) -> list[tuple[str, Policy]]:
    """Read the policies, and call those without a name after their files."""
    if _is_policy(policies):
        policies = [policies]
    if not isinstance(policies, Mapping | Sequence) or not policies:
        raise ParameterError(
            "policies",
            policies,
            "at least one policy",
            why="a policy, its path, a list of paths, or names for them as in "
            "{'strict': 'strict.yaml', 'mild': policy}",
        )
    if isinstance(policies, Mapping):
        return [(str(name), policy_of(policy)) for name, policy in policies.items()]
    named: dict[str, GivenPolicy] = {}
    for number, policy in enumerate(policies, 1):
        name = _name_of(policy, number if len(policies) > 1 else None)
        if name in named:
            raise ParameterError(
                "policies",
                [str(each) for each in (named[name], policy)],
                "policies with different names",
                why=f"both are called {name!r}. Name them yourself, as in "
                "{'old': 'old/policy.yaml', 'new': 'new/policy.yaml'}, or rename a file",
            )
        named[name] = policy
    return [(name, policy_of(policy)) for name, policy in named.items()]


def _is_policy(given: object) -> TypeGuard[GivenPolicy]:
    """Return whether one policy is given; a mapping may be its settings, or names for several."""
    if not isinstance(given, Mapping):
        return isinstance(given, Policy | str | PathLike)
    settings = [given[key] for key in ("columns", "models") if key in given]
    return any(not isinstance(each, Policy | str | PathLike) for each in settings)


def _name_of(policy: GivenPolicy, number: int | None) -> str:
    if isinstance(policy, str | PathLike):
        return Path(policy).stem
    return "policy" if number is None else f"policy {number}"


def _read_values(vary: Mapping[str, Iterable[object]] | None) -> dict[str, list[object]]:
    if vary is None:
        return {}
    example = "{'k': [2, 5, 10], 'method': ['full-domain', 'mondrian']}"
    if not isinstance(vary, Mapping):
        raise ParameterError("vary", vary, "a mapping of settings to values", why=example)
    for key, values in vary.items():
        if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
            raise ParameterError(f"vary[{key!r}]", values, "a list of values", why=example)
    found = {str(key): list(values) for key, values in vary.items()}
    for key, values in found.items():
        if not values:
            raise ParameterError(f"vary[{key!r}]", values, "at least one value", why=example)
    return found


def _combinations(
    base: str, policy: Policy, vary: Mapping[str, list[object]]
) -> list[tuple[list[str], Policy]]:
    """Return every combination of settings: what each is called, and the policy with them."""
    apart = [] if policy.decouple is None else [DECOUPLE]
    known = [*_parameters(policy), METHOD, SUPPRESSION, *apart]
    for key in vary:
        if key not in known:
            raise UnknownNameError("setting to vary", key, known, where=f"policy {base!r}")
    found = []
    for values in product(*vary.values()):
        names, changed = [], policy
        for key, value in zip(vary, values, strict=True):
            name, changed = _with_setting(changed, key, value)
            names.append(name)
        found.append((names, changed))
    return found


def _parameters(policy: Policy) -> list[str]:
    """List the parameters of the models that have one value each."""
    names = [
        name
        for model in policy.models
        for name in parameters(type(model))
        if name != "column" and not isinstance(getattr(model, name), tuple)
    ]
    return list(dict.fromkeys([*names, *_settings(policy)]))


def _settings(policy: Policy) -> list[str]:
    """List the settings of the decoupling that have one value each."""
    if policy.decouple is None or policy.decouple.name not in DECOUPLINGS:
        return []
    return [name for name in parameters(DECOUPLINGS[policy.decouple.name]) if name != "columns"]


def _with_setting(policy: Policy, key: str, value: object, told: str = "") -> tuple[str, Policy]:
    """Return a name for the setting, and the policy with it."""
    try:
        if key == METHOD:
            return _with_method(policy, value)
        if key == SUPPRESSION:
            rule = Suppression(limit=value, rows=policy.suppression.rows)
            return f"{key}={rule.limit}", policy.replace(suppression=rule)
        if key == DECOUPLE:
            return _with_decoupling(policy, value)
        return _with_value(policy, key, value)
    except (Fault, SfumatoError) as error:
        expected = "a value it can have"
        raise ParameterError(told or f"vary[{key!r}]", value, expected, why=str(error)) from None


def _with_value(policy: Policy, key: str, value: object) -> tuple[str, Policy]:
    """Change a parameter of the models, and of the decoupling if it has it too."""
    models = [_with_parameter(model, key, value) for model in policy.models]
    changed = policy.replace(models=models)
    if key in _settings(policy) and policy.decouple is not None:
        options = {**policy.decouple.options, key: resolve(value)}
        rule = _decoupling(policy.decouple.name, options)
        changed = changed.replace(decouple=rule)
    shown = [getattr(model, key) for model in models if hasattr(model, key)]
    return f"{key}={text_of(shown[0] if shown else resolve(value))}", changed


def _with_decoupling(policy: Policy, value: object) -> tuple[str, Policy]:
    """Return the policy with another decoupling and those settings of the old one it has too."""
    if resolve(value) in (None, NONE):
        return "not decoupled", policy.replace(decouple=None)
    given = DecouplingRule.read(value)
    if given.name not in DECOUPLINGS:
        raise UnknownNameError("decoupling", given.name, [*DECOUPLINGS, NONE])
    known = parameters(DECOUPLINGS[given.name])
    before = {} if policy.decouple is None else policy.decouple.options
    kept = {key: item for key, item in before.items() if key in known}
    rule = _decoupling(given.name, {**kept, **given.options})
    told = ", ".join(f"{key}={text_of(item)}" for key, item in given.options.items())
    return f"{rule.name}({told})" if told else rule.name, policy.replace(decouple=rule)


def _decoupling(name: str, options: Mapping[str, object]) -> DecouplingRule:
    rule = DecouplingRule.read({"method": name, **options})
    rule.make(DECOUPLINGS)  # settings that it does not have, or cannot have, are refused
    return rule


def _with_parameter(model: PrivacyModel, key: str, value: object) -> PrivacyModel:
    known = parameters(type(model))
    if key not in known:
        return model
    changed: PrivacyModel = replace(model, **{key: read(known[key][1], value)})  # type: ignore[type-var]
    return changed


def _with_method(policy: Policy, value: object) -> tuple[str, Policy]:
    rule = MethodRule.read(value)
    if rule.name not in every_method(PARTITIONERS):
        raise UnknownNameError("method", rule.name, every_method(PARTITIONERS))
    rule.make(PARTITIONERS)  # options that it does not have are refused
    options = ", ".join(f"{key}={text_of(item)}" for key, item in rule.options.items())
    return f"{rule.name}({options})" if options else rule.name, policy.with_method(rule)


def seen_from(policy: Policy, folder: Path) -> Policy:
    """Return the same policy with the names of its files as they are seen from another folder.

    A policy file names others from where it stands itself.

    >>> from sfumato.hierarchy import CsvHierarchy
    >>> policy = Policy(
    ...     columns={"zip": {"role": "quasi-identifier", "hierarchy": CsvHierarchy("zip.csv")}},
    ...     models=[{"model": "k-anonymity", "k": 2}],
    ... )
    >>> seen_from(policy, Path("chosen")).columns["zip"].hierarchy.file
    '../zip.csv'
    """
    return policy.relative_to(Path(os.path.relpath(Path.cwd(), folder)))


def _add(found: dict[str, Policy], name: str, policy: Policy) -> None:
    if name in found:
        raise ParameterError(
            "vary", name, "different values of each setting", why="two policies would be called so"
        )
    found[name] = policy
