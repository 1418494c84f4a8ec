"""Finds what a policy asks for that cannot be had together, before any data is read."""

from typing import TYPE_CHECKING

from sfumato.errors import suggest
from sfumato.models import PrivacyModel
from sfumato.policy.choice import FULL_DOMAIN
from sfumato.policy.part import Faults

if TYPE_CHECKING:
    from sfumato.policy.model import Policy


def contradictions(policy: "Policy") -> Faults:
    """List everything about columns, models, population and method that does not fit together."""
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
    return faults


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
