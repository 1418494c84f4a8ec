"""Roles: what each column is to an adversary, as the draft guessed and as only the owner knows."""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sfumato.app.desk import Desk
from sfumato.app.fields import Fields
from sfumato.app.steps import ALL, Answer, Context
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, UnknownColumnError
from sfumato.hierarchy import Automatic
from sfumato.models import DistinctLDiversity
from sfumato.policy import Policy
from sfumato.policy.remedies import with_role
from sfumato.schema import Role
from sfumato.typing import Progress

if TYPE_CHECKING:
    from sfumato.drafting.relations import Relations

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

ORDERS = {
    "table": "as in the table",
    "name": "by name",
    "role": "by role",
    "doubt": "in doubt first",
}
"""The orders that columns can be listed in."""

DOUBT = "doubt"
"""The filter that leaves the columns in doubt."""

TEXTS = (
    *(role.value for role in Role),
    *(words for _, words in ROLES.values()),
    *ORDERS.values(),
)

RELATIONS = "relations"
"""The work: which columns tell which others, found once for a table."""

_PATIENCE = 5.0
"""Seconds that the facts of a column wait for it."""

_VIEW = "roles"


@dataclass(frozen=True)
class ListView:
    """Which columns are listed, and in which order; kept while other pages are looked at."""

    search: str = ""
    """Only columns with this text in name, label or reason."""

    show: str = ""
    """Only columns of this role, or those in doubt; empty for all."""

    order: str = "table"

    @classmethod
    def of(cls, desk: Desk) -> "ListView":
        """Return what was chosen last."""
        try:
            return cls(**json.loads(desk.settings.get(_VIEW, "{}")))
        except (TypeError, ValueError):
            return cls()

    def arrange(self, columns: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the columns that are listed, in their order."""
        wanted = self.search.strip().casefold()
        found = [
            each
            for each in columns
            if any(wanted in each[key].casefold() for key in ("name", "label", "reason"))
            and (each["uncertain"] if self.show == DOUBT else self.show in ("", each["role"]))
        ]
        ranks = [role.value for role in ROLES]
        keys: dict[str, Callable[[dict[str, Any]], Any]] = {
            "name": lambda each: (each["name"].casefold(), each["name"]),
            "role": lambda each: ranks.index(each["role"]) if each["role"] in ranks else len(ranks),
            "doubt": lambda each: not each["uncertain"],
        }
        return sorted(found, key=keys[self.order]) if self.order in keys else found


@step.page
def show(desk: Desk, asked: Fields) -> Context:
    """Return the columns with their roles and why."""
    policy = desk.require_policy()
    live = desk.live
    names = list(policy.columns) if live is None else list(live.columns)
    labels = {} if live is None else live.labels
    columns = [
        {**_describe(desk, policy, name), "at": at, "label": labels.get(name, "")}
        for at, name in enumerate(names, start=1)
    ]
    view = ListView.of(desk)
    return {
        "columns": columns,
        "listed": view.arrange(columns),
        "view": view,
        "orders": ORDERS,
        "doubt": DOUBT,
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


def _describe(desk: Desk, policy: Policy, name: str) -> dict[str, Any]:
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
    name = asked.text("column")
    tells, told_by = _relations_of(desk, name)
    facts = live.column_facts(name, desk.task_policy)
    return {"facts": facts, "tells": tells, "told_by": told_by}


def _relations_of(desk: Desk, name: str) -> tuple[list[str], list[str]]:
    """Return the columns that a column tells, and those that tell it, as far as that is known."""
    job = desk.jobs.get(RELATIONS)
    live, source = desk.require_live(), desk.require_source()
    if job is None or job.key != source.address:

        def work(report: Progress) -> "Relations":
            from sfumato.drafting.relations import find_relations

            report("look", 0, None)
            return find_relations(live.table, list(live.columns), live.rows)

        job = desk.jobs.start(RELATIONS, work, key=source.address)
    job.wait(_PATIENCE)
    if not job.ready:
        return [], []
    relations: Relations = job.result
    tells = [
        other
        for other, told in relations.of.items()
        if any(each.of == (name,) and not each.by_gap for each in told)
    ]
    told_by = [" + ".join(each.of) for each in relations.of.get(name, ()) if not each.by_gap]
    return tells, list(dict.fromkeys(told_by))


@step.action("view")
def choose_view(desk: Desk, asked: Fields) -> Answer:
    """Keep which columns are listed, and in which order."""
    order = asked.text("order", "table")
    chosen = ListView(asked.text("search", ""), asked.text("show", ""), order)
    desk.settings[_VIEW] = json.dumps(asdict(chosen))
    desk.save()
    return None


@step.action("set")
def set_role(desk: Desk, asked: Fields) -> Answer:
    """Set the role of a column, or of several: one change, which is undone at once."""
    names, role = asked.texts("column"), Role(asked.text("role"))
    if not names:
        raise InputError("no column was chosen. Tick the columns that should get the role")
    with desk.lock:
        policy = desk.require_policy()
        for name in names:
            policy = with_role(policy, name, role)
        what = names[0] if len(names) == 1 else f"{len(names)} columns"
        desk.settle(names)
        desk.change(policy, "roles", f"{what}: {role.value}")
    return None


@step.action("right")
def settle_role(desk: Desk, asked: Fields) -> Answer:
    """Note that columns in doubt have the role that the draft gave them."""
    names = asked.texts("column")
    if not names:
        raise InputError("no column was chosen. Tick the columns that are right as they are")
    desk.settle(names)
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
