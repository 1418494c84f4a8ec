"""Instructions of the owner of a table for the draft of a policy, and what it starts from."""

from collections.abc import Mapping, Sequence
from dataclasses import field, fields
from types import MappingProxyType
from typing import Any

from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, UnknownNameError, names_in, require_int
from sfumato.files.reading import Reading
from sfumato.hierarchy.language import language_of
from sfumato.models import PrivacyModel
from sfumato.policy import InputRule, Policy
from sfumato.policy.parts import ProfileRule
from sfumato.schema import Role

_APART = (Role.IDENTIFIER, Role.DROPPED)


@dataclass(frozen=True)
class Instructions:
    """What need not be guessed.

    >>> given = Instructions.of(roles={"age": "quasi-identifier"}, person="id", drop=["note"], k=10)
    >>> for name, role in given.roles.items(): print(name, role.value)
    age quasi-identifier
    note dropped
    id identifier
    """

    roles: Mapping[str, Role] = field(default_factory=lambda: MappingProxyType({}))
    """The roles of columns, also those that follow from the rest."""

    person: str | None = None
    household: str | None = None
    k: int | None = None
    """How many people at least look alike; None leaves it to the draft."""

    language: str | None = None
    """The language of labels; None takes that of the table where it is clear."""

    reading: Reading = field(default_factory=Reading)
    """How the file is read, as far as it was said."""

    start: Policy | None = None
    """A policy to start from: what is not said stays as it is there."""

    text: str = ""
    """That policy as it was written."""

    profile: ProfileRule | None = None
    """The rule that is answered to."""

    def __post_init__(self) -> None:
        if self.language is not None:
            language_of(self.language)

    @classmethod
    def of(
        cls,
        *,
        roles: Mapping[str, str] = MappingProxyType({}),
        person: str | None = None,
        weight: str | Sequence[str] | None = None,
        household: str | None = None,
        drop: str | Sequence[str] = (),
        k: int | None = None,
        language: str | None = None,
    ) -> "Instructions":
        """Check what was said, as far as no table is needed for that.

        Args:
            roles: The roles of columns by their names.
            person: The column that tells people apart.
            weight: The columns that say how many people a row stands for.
            household: The column that identifies households.
            drop: Columns that are not to be published.
            k: How many people at least look alike.
            language: The language of labels.
        """
        if k is not None:
            require_int("k", k, at_least=2, why="with 1 every person may be alone")
        allowed = [role.value for role in Role]
        found: dict[str, Role] = {}
        for name, role in roles.items():
            if role not in allowed:
                raise UnknownNameError("role", role, allowed, where=f"roles, for {name!r}")
            found[name] = Role(role)
        for option, given, role in (
            ("weight", () if weight is None else weight, Role.WEIGHT),
            ("drop", drop, Role.DROPPED),
        ):
            for name in names_in(option, [given] if isinstance(given, str) else given):
                if found.setdefault(name, role) is not role:
                    raise _second_role(option, name, found[name])
        for option, column in (("person", person), ("household", household)):
            if column is not None and found.setdefault(column, Role.IDENTIFIER) not in _APART:
                raise _second_role(option, column, found[column])
        if person is not None and person == household:
            why = "a household is a column of its own"
            raise ParameterError("household", household, "another column than person", why=why)
        return cls(found, person, household, k, language)

    @property
    def input(self) -> InputRule:
        """The settings of a policy for how the file is read."""
        said = self.reading
        names = ("delimiter", "encoding", "quote", "decimal", "thousands", "skip", "sheet")
        settings = {name: getattr(said, name) for name in names}
        return InputRule(
            missing=list(said.missing),
            **{name: value for name, value in settings.items() if value is not None},
        )

    def require(self, columns: Sequence[str]) -> None:
        """Raise if a column is named that the table does not have, and say which it has."""
        for name in self.roles:
            if name not in columns:
                raise UnknownNameError("column", name, columns, where="the table")

    def kept_models(self, columns: Sequence[str]) -> list[PrivacyModel]:
        """Return the models of the policy to start from that stay.

        Those of columns of which something is said go, and those of columns that are not
        protected any more.

        Args:
            columns: The sensitive columns and weights of the new policy.
        """
        if self.start is None:
            return []
        stay = [
            model
            for model in self.start.models
            if not {*model.columns} & {*self.roles} and {*model.columns} <= {*columns}
        ]
        return [model if self.k is None else _with_k(model, self.k) for model in stay]


def _second_role(option: str, name: str, role: Role) -> ParameterError:
    return ParameterError(option, name, f"a column without another role: it is said to be {role}")


def _with_k(model: PrivacyModel, k: int) -> PrivacyModel:
    kind: Any = type(model)
    settings = {each.name: getattr(model, each.name) for each in fields(kind)}
    return kind(**{**settings, "k": k}) if "k" in settings else model
