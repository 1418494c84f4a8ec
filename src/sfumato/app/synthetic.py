"""Synthetic rows in the app: the domains they are drawn from, their budget, and making them."""

import json
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import Any

from sfumato.app.desk import Desk
from sfumato.app.releasing import ReleaseWish
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, SfumatoError
from sfumato.policy import Policy
from sfumato.policy.document import parse, to_text
from sfumato.policy.domains import DomainRule
from sfumato.releases.release import Release
from sfumato.releases.synthetic import derived_steps
from sfumato.synthesis.belief import BeliefBound, bounds_of
from sfumato.synthesis.domain import PublicDomain, require_drawn
from sfumato.typing import Progress

ACCOUNT = ".account"
"""How the files of accounts end."""

CONFIRMED, UNCONFIRMED, BY_HIERARCHY, UNSTATED = (
    "confirmed",
    "not confirmed",
    "stated by its hierarchy",
    "not stated",
)
TEXTS = (CONFIRMED, UNCONFIRMED, BY_HIERARCHY, UNSTATED)

_CHOICES = "synthetic"


@dataclass(frozen=True)
class SyntheticChoices:
    """What was chosen for the next synthetic rows; of a page, and no part of the policy."""

    epsilon: float = 1.0
    delta: float = 1e-9
    contributions: int = 1
    unit: str = "person"
    account: str = ""
    """The file of the account that is charged; empty for none."""

    @classmethod
    def of(cls, desk: Desk) -> "SyntheticChoices":
        """Return what was chosen."""
        try:
            return cls(**json.loads(desk.settings.get(_CHOICES, "{}")))
        except (TypeError, ValueError):
            return cls()

    def save(self, desk: Desk) -> None:
        """Keep them for the next page, and for the next start after a crash."""
        desk.settings[_CHOICES] = json.dumps(asdict(self))
        desk.save()

    def bounds(self) -> tuple[BeliefBound, ...]:
        """Return what epsilon means, apart from delta."""
        return bounds_of(self.epsilon, self.unit)

    def command(self, data: str, policy: str, output: str) -> str:
        """Return the command that does the same.

        >>> SyntheticChoices(account="a.account").command("p.csv", "policy.yaml", "synthetic")
        'sfumato synthesize p.csv -p policy.yaml -o synthetic --epsilon 1 --delta 1e-09 --account a.account'
        """  # noqa: E501 - a line of a shell
        options = [f"--epsilon {self.epsilon:g}"]
        options += [f"--delta {self.delta:g}"] if self.delta else []
        options += [f"--contributions {self.contributions}"] if self.contributions > 1 else []
        options += [f"--unit {self.unit}"] if self.unit != "person" else []
        options += [f"--account {quote(self.account)}"] if self.account else []
        start = f"sfumato synthesize {quote(data)} -p {quote(policy)} -o {quote(output)}"
        return " ".join([start, *options])


@dataclass(frozen=True)
class DomainView:
    """What a column can hold, as a page shows it."""

    name: str
    state: str
    text: str = ""
    """The domain as policies write it."""

    cells: int | None = None
    why: str = ""
    """What is wrong with it."""

    @property
    def usable(self) -> bool:
        """Whether rows can be drawn from it."""
        return self.cells is not None


def domains_of(policy: Policy, columns: list[str]) -> list[DomainView]:
    """Return the domain of every column that synthetic rows have; raise if one cannot be drawn.

    Args:
        policy: Says roles and domains.
        columns: The columns of the table.
    """
    names = require_drawn(policy, policy.check_against(columns))
    derived = {name for step in derived_steps(policy, names) for name in step.made}
    return [_view(policy, name) for name in names if name not in derived]


def _view(policy: Policy, name: str) -> DomainView:
    rule = policy.columns.get(name)
    stated = None if rule is None else rule.domain
    text = "" if stated is None else _write(stated)
    try:
        size = PublicDomain.of(policy, [name]).sizes[0]
    except SfumatoError as error:
        if stated is None:
            return DomainView(name, UNSTATED)
        if stated.drafted:
            return DomainView(name, UNCONFIRMED, text)
        return DomainView(name, UNSTATED, text, why=str(error))
    return DomainView(name, BY_HIERARCHY if stated is None else CONFIRMED, text, size)


def _write(domain: DomainRule) -> str:
    """Write a domain on one line, as a person confirms it."""
    plain = domain.replace(drafted=False).to_plain()
    return to_text({"domain": plain}, flow=True).strip().removeprefix("{domain: ")[:-1]


def with_domain(policy: Policy, name: str, text: str) -> Policy:
    """Return a policy with a domain that a person has confirmed.

    Args:
        policy: The policy.
        name: The column.
        text: The domain, as policies write it.
    """
    if not text.strip():
        raise InputError(
            f"say what {name!r} can hold: a list as in [female, male], or from where to where, as "
            "in {from: 0, to: 120, width: 10}"
        )
    root = parse(f"domain: {' '.join(text.split())}", origin=f"the domain of {name}").root
    if not isinstance(root, dict) or [*root] != ["domain"]:
        raise InputError(f"the domain of {name!r} must be a list or settings in braces")
    given = root["domain"]
    if isinstance(given, dict):
        given = {key: value for key, value in given.items() if key != "drafted"}
    rule = policy.columns.get(name)
    if rule is None:
        raise InputError(f"{name!r} has no role in the policy. Give it one on the page Roles")
    return policy.replace(columns={**policy.columns, name: rule.replace(domain=given)})


def with_drafted_domains(desk: Desk, policy: Policy) -> Policy:
    """Return a policy with a domain for each column that has none, for a person to confirm."""
    from sfumato.drafting.domains import draft_domain

    live = desk.require_live()
    views = domains_of(policy, list(live.columns))
    open_ones = [each.name for each in views if each.state == UNSTATED and not each.text]
    known = live.table.domains(open_ones) if open_ones else {}
    drafted = {name: draft_domain(domain) for name, domain in known.items()}
    rules = {
        name: policy.columns[name].replace(domain=domain)
        for name, domain in drafted.items()
        if domain is not None and name in policy.columns
    }
    if not rules:
        raise InputError(
            "no domain can be drafted: few rows have each value of what is left. State what these "
            "columns can hold, or leave them out"
        )
    return policy.replace(columns={**policy.columns, **rules})


@dataclass(frozen=True)
class SyntheticWish(ReleaseWish):
    """Synthetic rows that are to be made."""

    budget: SyntheticChoices = SyntheticChoices()
    account: Path | None = None

    def make(
        self,
        output: Path,
        beside: Path,
        *,
        people_file: Path | None = None,
        progress: Progress | None = None,
    ) -> Release:
        """Draw the rows into a folder, verified. They have no seed, and no people file."""
        from sfumato.tasks.synthesize import synthesize

        return synthesize(
            self.source,
            self.policy,
            epsilon=self.budget.epsilon,
            delta=self.budget.delta or None,
            contributions=self.budget.contributions,
            unit=self.budget.unit,
            account=self.account,
            output=output,
            format=self.format,
            key=self.key,
            even_so=bool(self.even_so),
            progress=progress,
        )


def require_promise(policy: Policy, choices: SyntheticChoices) -> None:
    """Raise before anything is spent if a promise would exclude nothing."""
    rule = policy.verdict.rule(policy.risk_levels)
    if any(each.excludes_nothing(rule) for each in choices.bounds()):
        raise InputError(
            f"with epsilon {choices.epsilon:g} even a belief of 1 % may become knowledge, so that "
            "the rows would be judged as if they were people's. Choose a smaller epsilon; nothing "
            "was spent"
        )


def context_of(desk: Desk, accounts: list[str], output: str) -> dict[str, Any]:
    """Return what the page shows of synthetic rows."""
    from sfumato.synthesis.opendp import has_extra

    policy, choices = desk.require_policy(), SyntheticChoices.of(desk)
    live, problem = desk.live, ""
    views: list[DomainView] = []
    try:
        names = list(policy.columns) if live is None else list(live.columns)
        views = domains_of(policy, names)
    except SfumatoError as error:
        problem = str(error)
    return {
        "installed": has_extra(),
        "choices": choices,
        "domains": views,
        "problem": problem,
        "ready": bool(views) and all(each.usable for each in views),
        "unstated": any(each.state == UNSTATED and not each.text for each in views),
        "begun": any(each.text for each in views),
        "bounds": choices.bounds(),
        "counted": policy.counted_person is not None,
        "household": policy.household is not None,
        "accounts": accounts,
        "name": output,
        "command": choices.command(
            "patients.csv" if desk.source is None else desk.source.name,
            desk.policy_file.name,
            output,
        ),
    }
