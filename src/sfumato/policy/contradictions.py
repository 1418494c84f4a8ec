"""Finds what a policy asks for that cannot be had together, before any data is read."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sfumato.errors import SfumatoError, suggest
from sfumato.models import PrivacyModel
from sfumato.policy.choice import FULL_DOMAIN
from sfumato.policy.part import Faults
from sfumato.slicing import Columns

if TYPE_CHECKING:
    from sfumato.policy.model import Policy


def contradictions(policy: "Policy") -> Faults:
    """List everything in a policy that does not fit together."""
    faults: Faults = []
    if not policy.quasi_identifiers:
        text = (
            "there is no quasi-identifier, so nothing would be generalised. Give the role "
            "quasi-identifier to every column that others may know, such as age or postcode."
        )
        faults.append((("columns",), text))
    for position, model in enumerate(policy.models):
        faults.extend(
            (("models", position, *path), f"{model.name} {text}")
            for path, text in [*_column_faults(policy, model), *_other_faults(policy, model)]
        )
    if policy.population is not None and not any(m.needs_population for m in policy.models):
        text = "no model of this policy compares with a population. Remove it."
        faults.append((("population",), text))
    if policy.method.local and policy.search != type(policy).model_fields["search"].default:
        text = (
            f"says how a lattice of levels is searched, and the method {policy.method.name} "
            f"searches none. Remove it, or choose method: {FULL_DOMAIN}"
        )
        faults.append((("search",), text))
    return [*faults, *_decoupling_faults(policy)]


def _decoupling_faults(policy: "Policy") -> Faults:
    """Hold the columns that a decoupling puts together against those of the policy."""
    columns = policy.decouple.columns if policy.decouple is not None else None
    if policy.decouple is None or columns is None:
        return []
    known = (*policy.quasi_identifiers, *policy.sensitive)
    at = ("decouple", "columns")
    faults: Faults = [
        ((*at, position), f"{policy.decouple.name} {_unknown(policy, name, known)}")
        for position, names in enumerate(columns)
        for name in names
        if name not in known
    ]
    if faults or len(policy.sensitive) != 1:
        return faults
    try:
        Columns.of(columns, policy.quasi_identifiers, policy.sensitive[0])
    except SfumatoError as error:
        return [(at, str(error))]
    return []


def _unknown(policy: "Policy", name: str, known: Sequence[str]) -> str:
    near = suggest(name, known)
    if name not in policy.columns:
        return f"publishes {name!r}, which is not under columns. {near}"
    role = policy.columns[name].role
    taken = "it takes quasi-identifiers and sensitive columns"
    return f"publishes {name!r}, which is {role}: {taken}. {near}"


def _column_faults(policy: "Policy", model: PrivacyModel) -> Faults:
    at = ("column",) if getattr(model, "column", None) is not None else ()
    rules = policy.columns
    faults: Faults = []
    for name in model.columns:
        near = suggest(name, policy.sensitive)
        if name not in rules:
            faults.append((at, f"protects {name!r}, which is not under columns. {near}"))
        elif name not in policy.sensitive:
            role = rules[name].role
            text = f"protects {name!r}, which is {role}: it must be a sensitive column. {near}"
            faults.append((at, text))
        elif (
            getattr(model, "distance", "") == "hierarchical" and not policy.columns[name].hierarchy
        ):
            text = (
                f"measures distances in the hierarchy of {name!r}, which has none. "
                "Give the column a hierarchy, or choose another distance."
            )
            faults.append((("distance",), text))
    return faults


def _other_faults(policy: "Policy", model: PrivacyModel) -> Faults:
    if not model.needs_population:
        return []
    if policy.method.local:
        text = (
            f"compares with a population, and with the method {policy.method.name} a person of it "
            "may match several classes: how many match each says nothing about what is promised. "
            f"Choose method: {FULL_DOMAIN}"
        )
        return [((), text)]
    if policy.population is not None:
        return []
    text = (
        "compares with a population and none is given. "
        "Name its file at the top of the policy, as in population: people.csv"
    )
    return [((), text)]
