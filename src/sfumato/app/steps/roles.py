"""Roles: what each column is to an adversary, as the draft guessed and as only the owner knows."""

from sfumato.app.desk import Desk
from sfumato.app.fields import Fields
from sfumato.app.steps import ALL, Answer, Context
from sfumato.errors import InputError, UnknownColumnError
from sfumato.hierarchy import Automatic
from sfumato.models import DistinctLDiversity
from sfumato.policy import Policy
from sfumato.policy.remedies import with_role
from sfumato.schema import Role

step = ALL["roles"]

ROLES = {
    Role.IDENTIFIER: ("i", "Names a person by itself, as a patient number; never published."),
    Role.QUASI_IDENTIFIER: (
        "q",
        "Others may know it of a person, as age or postcode; made more general.",
    ),
    Role.SENSITIVE: ("s", "Must not become known of a person, as a diagnosis; published as it is."),
    Role.PLAIN: ("p", "Harmless and known to few; published as it is."),
    Role.DROPPED: ("d", "Not needed; not published."),
}
"""The roles to choose from: the key that sets them, and what they mean."""

TEXTS = (*(role.value for role in Role), *(words for _, words in ROLES.values()))


@step.page
def show(desk: Desk, asked: Fields) -> Context:
    """Return the columns with their roles and why."""
    policy = desk.require_policy()
    live = desk.live
    names = list(policy.columns) if live is None else list(live.columns)
    return {
        "columns": [_describe(desk, policy, name) for name in names],
        "roles": [(role.value, key, words) for role, (key, words) in ROLES.items()],
        "left_open": [name for name in names if name in _left_open(policy)],
        "job": desk.start_reading(),
    }


def _left_open(policy: Policy) -> list[str]:
    """Return the columns whose hierarchy or promise is what a change of role gave them."""
    found = []
    for name, rule in policy.columns.items():
        promises = [model for model in policy.models if name in model.columns]
        weakest = [DistinctLDiversity(column=name, l=2)]
        known = rule.role is Role.QUASI_IDENTIFIER and rule.hierarchy == Automatic()
        secret = rule.role is Role.SENSITIVE and promises == weakest
        if (known or secret) and not rule.perturbations:
            found.append(name)
    return found


def _describe(desk: Desk, policy: Policy, name: str) -> dict[str, object]:
    role = policy.role_of(name)
    return {
        "name": name,
        "role": "" if role is None else role.value,
        "reason": desk.reasons.get(name, ""),
        "uncertain": name in desk.uncertain,
        "known": name not in policy.unknown,
        "model": any(name in model.columns for model in policy.models),
        "perturbed": [each.name for each in policy.perturbations.get(name, ())],
    }


@step.part("column")
def column(desk: Desk, asked: Fields) -> Context:
    """Return the histogram of a column, and whom it singles out."""
    live = desk.require_live()
    return {"facts": live.column_facts(asked.text("column"), desk.task_policy)}


@step.action("set")
def set_role(desk: Desk, asked: Fields) -> Answer:
    """Set the role of a column."""
    name, role = asked.text("column"), asked.text("role")
    with desk.lock:
        policy = desk.require_policy()
        desk.change(with_role(policy, name, Role(role)), "roles", f"{name}: {role}")
    return None


@step.action("redraft")
def draft_anew(desk: Desk, asked: Fields) -> Answer:
    """Draft hierarchies and promises for the columns whose role was changed; all else stays."""
    from sfumato.tasks.draft import draft

    policy, before = desk.require_policy(), desk.text
    roles = {name: policy.columns[name].role.value for name in _left_open(policy)}
    drafted = draft(desk.require_source().address, roles=roles, from_policy=desk.policy_file)
    with desk.lock:
        if desk.text != before:
            raise InputError("the policy was changed while it was drafted. Draft once more")
        desk.change(drafted.text, "roles", "drafted for the roles")
    return None


@step.action("known")
def set_known(desk: Desk, asked: Fields) -> Answer:
    """Set whether others may know a sensitive column without the release."""
    name = asked.text("column")
    with desk.lock:
        policy = desk.require_policy()
        if name not in policy.columns:
            raise UnknownColumnError(name, list(policy.columns), where="the policy")
        rule = policy.columns[name].replace(known=asked.flag("known"))
        changed = policy.replace(columns={**policy.columns, name: rule})
        desk.change(changed, "roles", f"{name}: known {asked.flag('known')}")
    return None
