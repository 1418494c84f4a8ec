"""Remedies: what a policy can do about something that was found, each a change of the policy.

Who finds something says what to do about it in words, and beside them by these: so that a page can
offer a button that does it. None of them is taken without being asked for.
"""

from abc import ABC, abstractmethod
from dataclasses import fields, replace
from typing import Any, ClassVar

from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, ParameterError
from sfumato.hierarchy import Automatic
from sfumato.models import AlphaKAnonymity, DistinctLDiversity, PrivacyModel
from sfumato.models.base import promise_text
from sfumato.policy.parts import Acceptance, ColumnRule, DecouplingRule, member_settings
from sfumato.policy.policy import Policy
from sfumato.schema import Role
from sfumato.text import join_words, text_of
from sfumato.typing import Value


class Remedy(ABC):
    """Something that a policy can do about what was found."""

    kind: ClassVar[str]
    """What it is called in the registry."""

    needs_reason: ClassVar[bool] = False
    """Whether it is a statement of the publisher, who must say why."""

    @abstractmethod
    def apply(self, policy: Policy, *, because: str = "", by: str = "") -> Policy:
        """Return the policy with it.

        Args:
            policy: The policy.
            because: Why, if the remedy needs a reason.
            by: Who says so.
        """

    @property
    @abstractmethod
    def about(self) -> tuple[str, ...]:
        """The columns it is about."""

    @abstractmethod
    def __str__(self) -> str:
        """Return what is done, in words that follow "you can"."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        settings = ((each.name, getattr(self, each.name)) for each in fields(self))  # type: ignore[arg-type]
        return {"kind": self.kind, **{name: _plain(value) for name, value in settings}}


@dataclass(frozen=True)
class PromiseMore(Remedy):
    """Promise more: add models, or make those stricter that are promised already.

    Example:
        >>> from sfumato.models import KAnonymity
        >>> policy = Policy(columns={"age": "quasi-identifier"}, models=[KAnonymity(2)])
        >>> PromiseMore((KAnonymity(5),)).apply(policy).models
        (KAnonymity(k=5),)
        >>> PromiseMore((KAnonymity(5),)).apply(policy.replace(models=[KAnonymity(5)])).models
        (KAnonymity(k=7),)
    """

    kind: ClassVar[str] = "promise"
    models: tuple[PrivacyModel, ...]

    @property
    def about(self) -> tuple[str, ...]:
        """The columns that the models look at."""
        return tuple(dict.fromkeys(name for model in self.models for name in model.columns))

    def __str__(self) -> str:
        told = [promise_text({"model": model.name, **model.params()}) for model in self.models]
        return f"promise {join_words(told)}"

    def apply(self, policy: Policy, *, because: str = "", by: str = "") -> Policy:
        """Return the policy with the models; what they imply is left out."""
        promised = list(policy.models)
        for model in self.models:
            promised = _with_model(promised, model)
        if promised == list(policy.models):
            # It is promised and did not help: the next stricter one.
            asked = {type(model) for model in self.models}
            about = {*self.about}
            promised = [
                tighten(each) if type(each) in asked and about.issuperset(each.columns) else each
                for each in promised
            ]
        return policy.replace(models=promised)


def _with_model(promised: list[PrivacyModel], model: PrivacyModel) -> list[PrivacyModel]:
    """Return promises with one more; of two where one implies the other, the stronger."""
    if any(each.implies(model) for each in promised):
        return promised
    model = next((each for each in (_join(one, model) for one in promised) if each), model)
    return [*(each for each in promised if not model.implies(each)), model]


def _join(one: PrivacyModel, other: PrivacyModel) -> PrivacyModel | None:
    """Return one promise for two that differ in the values they protect; None of any others."""
    if not isinstance(one, AlphaKAnonymity) or not isinstance(other, AlphaKAnonymity):
        return None
    alike = (one.column, one.alpha) == (other.column, other.alpha)
    if not alike or not one.protected or not other.protected:
        return None
    both = tuple(dict.fromkeys((*one.protected, *other.protected)))
    return replace(one, k=max(one.k, other.k), protected=both)


def tighten(model: PrivacyModel) -> PrivacyModel:
    """Return the same promise a step stricter; the same if there is no stricter one.

    >>> tighten(DistinctLDiversity("ill", 3)).l, tighten(AlphaKAnonymity("ill", 0.5, 4)).alpha
    (4, 0.4)
    """
    settings = model.params()
    changes: dict[str, Any] = {}
    for name, way in model.stricter.items():
        now = settings.get(name)
        if isinstance(now, int) and way > 0:
            changes[name] = now + max(now // 2, 1)
        elif isinstance(now, float) and way < 0:
            changes[name] = round(now * 0.8, 3)
    try:
        return replace(model, **changes)  # type: ignore[type-var]
    except (ParameterError, TypeError):
        return model


@dataclass(frozen=True)
class GiveRole(Remedy):
    """Give a column another role: leave it out, or have it generalised or protected.

    Example:
        >>> from sfumato.models import KAnonymity
        >>> columns = {"age": "quasi-identifier", "mail": "plain"}
        >>> policy = Policy(columns=columns, models=[KAnonymity(2)])
        >>> GiveRole("mail", Role.IDENTIFIER).apply(policy).columns["mail"].role.value
        'identifier'
    """

    kind: ClassVar[str] = "role"
    column: str
    role: Role

    @property
    def about(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def __str__(self) -> str:
        if self.role in (Role.DROPPED, Role.IDENTIFIER):
            return f"leave out {self.column}"
        return f"call {self.column} {self.role}"

    def apply(self, policy: Policy, *, because: str = "", by: str = "") -> Policy:
        """Return the policy with the role, and what goes with it."""
        return with_role(policy, self.column, self.role)


def with_role(policy: Policy, name: str, role: Role) -> Policy:
    """Return a policy in which a column has another role, with what a draft would give it.

    Promises about a column that is sensitive no more are left out, and so is what was accepted
    of it; a column that becomes sensitive gets the weakest promise there is. What perturbs it
    stays where the role has it: to leave it out would publish true values.
    """
    if policy.role_of(name) is role and name in policy.columns:
        return policy
    rule = ColumnRule(role=role.value)
    if role is Role.QUASI_IDENTIFIER:
        rule = ColumnRule(role=role.value, hierarchy=Automatic())
    if name in policy.perturbations and role in _PERTURBED:
        rule = rule.replace(perturb=policy.perturbations[name])
    models: list[PrivacyModel] = [model for model in policy.models if name not in model.columns]
    if role is Role.SENSITIVE and name not in policy.randomised:
        models.append(DistinctLDiversity(column=name, l=2))
    accepted = [each for each in policy.accept if each.column != name]
    changed: dict[str, Any] = {"columns": {**policy.columns, name: rule}, "models": models}
    if role is not Role.SENSITIVE and len(accepted) < len(policy.accept):
        changed["accept"] = accepted
    return policy.replace(**changed)


_PERTURBED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.PLAIN)


@dataclass(frozen=True)
class SayHarmless(Remedy):
    """Say that no person minds to be known to have a value."""

    kind: ClassVar[str] = "harmless"
    column: str
    value: Value

    @property
    def about(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def __str__(self) -> str:
        return f"say that {self.column} = {text_of(self.value)} is harmless"

    def apply(self, policy: Policy, *, because: str = "", by: str = "") -> Policy:
        """Return the policy that says so."""
        rule, text = policy.columns[self.column], text_of(self.value)
        secret = tuple(each for each in rule.secret if each != text)
        harmless = tuple(dict.fromkeys((*rule.harmless, text)))
        changed = rule.replace(harmless=harmless, **({"secret": secret} if rule.secret else {}))
        return policy.replace(columns={**policy.columns, self.column: changed})


@dataclass(frozen=True)
class PublishApart(Remedy):
    """Publish sensitive columns apart, so that none tells about another: decouple."""

    kind: ClassVar[str] = "apart"
    columns: tuple[str, ...]

    @property
    def about(self) -> tuple[str, ...]:
        """The columns."""
        return self.columns

    def __str__(self) -> str:
        return f"publish {join_words(self.columns)} apart" if self.columns else "publish apart"

    def apply(self, policy: Policy, *, because: str = "", by: str = "") -> Policy:
        """Return the policy with a decoupling, if it has none."""
        if policy.decouple is not None:
            return policy
        return policy.replace(decouple=DecouplingRule(name="break-merge"))


@dataclass(frozen=True)
class LetBeKnown(Remedy):
    """Assume no more that others do not know some columns: they are protected as if all knew them.

    Example:
        >>> from sfumato.models import KAnonymity
        >>> columns = {"age": "quasi-identifier", "pay": {"role": "sensitive", "known": False}}
        >>> policy = Policy(columns=columns, models=[KAnonymity(2)])
        >>> LetBeKnown(("pay",)).apply(policy).columns["pay"].known
        True
    """

    kind: ClassVar[str] = "known"
    columns: tuple[str, ...]

    @property
    def about(self) -> tuple[str, ...]:
        """The columns."""
        return self.columns

    def __str__(self) -> str:
        return f"protect against others who know {join_words(self.columns)}"

    def apply(self, policy: Policy, *, because: str = "", by: str = "") -> Policy:
        """Return the policy without the assumption."""
        changed = {
            name: policy.columns[name].replace(known=True, because=None)
            for name in self.columns
            if name in policy.columns and not policy.columns[name].known
        }
        return policy.replace(columns={**policy.columns, **changed}) if changed else policy


@dataclass(frozen=True)
class Coarsen(Remedy):
    """Publish a quasi-identifier at a higher level of its hierarchy.

    Example:
        >>> from sfumato.models import KAnonymity
        >>> rule = {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [5]}}
        >>> policy = Policy(columns={"age": rule}, models=[KAnonymity(2)])
        >>> Coarsen("age", 1, 2).apply(policy).columns["age"].levels
        (1, 2)
    """

    kind: ClassVar[str] = "level"
    column: str
    lowest: int
    """The lowest level from then on."""

    highest: int
    """The highest level that there is."""

    @property
    def about(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def __str__(self) -> str:
        return f"publish {self.column} at level {self.lowest} or above"

    def apply(self, policy: Policy, *, because: str = "", by: str = "") -> Policy:
        """Return the policy with the limit; one that is stricter already stays."""
        rule = policy.columns[self.column]
        low, high = rule.levels or (0, self.highest)
        levels = (min(max(low, self.lowest), high), high)
        return policy.replace(columns={**policy.columns, self.column: rule.replace(levels=levels)})


@dataclass(frozen=True)
class CountPeople(Remedy):
    """Say which column tells people apart, who may have several rows."""

    kind: ClassVar[str] = "person"
    column: str

    @property
    def about(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def __str__(self) -> str:
        return f"count people by {self.column}"

    def apply(self, policy: Policy, *, because: str = "", by: str = "") -> Policy:
        """Return the policy that counts people by it."""
        return with_role(policy, self.column, Role.IDENTIFIER).replace(person=self.column)


@dataclass(frozen=True)
class SayWhy(Remedy):
    """Say why a column is published as it is, although it gives something away."""

    kind: ClassVar[str] = "because"
    needs_reason: ClassVar[bool] = True
    column: str

    @property
    def about(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def __str__(self) -> str:
        return f"say why {self.column} is published as it is"

    def apply(self, policy: Policy, *, because: str = "", by: str = "") -> Policy:
        """Return the policy with the reason."""
        rule = ColumnRule(role=Role.PLAIN.value, because=_require_words("the reason", because))
        plain = with_role(policy, self.column, Role.PLAIN)
        return plain.replace(columns={**plain.columns, self.column: rule})


@dataclass(frozen=True)
class Accept(Remedy):
    """Accept what an attack tells of a sensitive column, with a reason and a name.

    It stays visible, and no release with it is answered with a plain *yes*.
    """

    kind: ClassVar[str] = "accept"
    needs_reason: ClassVar[bool] = True
    column: str
    attack: str
    people: int
    """For how many people at most."""

    @property
    def about(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def __str__(self) -> str:
        return f"accept what {self.attack} reveals about {self.column}"

    def apply(self, policy: Policy, *, because: str = "", by: str = "") -> Policy:
        """Return the policy that accepts it; an older word on the same is replaced."""
        accepted = Acceptance(
            column=self.column,
            attack=self.attack,
            people=self.people,
            because=_require_words("the reason", because),
            by=_require_words("the name of who accepts it", by),
        )
        others = [e for e in policy.accept if (e.column, e.attack) != (self.column, self.attack)]
        return policy.replace(accept=[*others, accepted])


def _require_words(what: str, text: str) -> str:
    if not text.strip():
        raise InputError(f"{what} is missing: what is accepted is signed with a reason and a name")
    return text.strip()


def _plain(value: object) -> object:
    if isinstance(value, PrivacyModel):
        return member_settings(value, "model")
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
