"""The parts of a policy: the rule of a column, the treatment of missing values, the suppression."""

import re
from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, PlainValidator, model_validator

from sfumato.checks import require_int, require_number
from sfumato.errors import ParameterError, suggest
from sfumato.hierarchy import BUILDERS, HierarchyBuilder
from sfumato.policy.family import choose, written
from sfumato.policy.part import Part, as_type, keywords
from sfumato.policy.values import Fault, read, resolve, shown
from sfumato.schema import Role


class Missing(StrEnum):
    """What a missing value of a quasi-identifier is."""

    OWN_VALUE = "own-value"
    """A value like any other: rows that miss it form classes of their own."""

    MATCHES_ANY = "matches-any"
    """Unknown to an attacker too: it matches every value."""

    SUPPRESS = "suppress"
    """A reason to suppress the row."""


def read_role(value: object) -> Role:
    """Read a role, or answer with the nearest one."""
    roles = [role.value for role in Role]
    if not isinstance(value, str):
        raise Fault(f"must be a role, got {shown(value)}. {suggest('', roles)}")
    if value not in roles:
        raise Fault(f"no role {shown(value)}. {suggest(value, roles)}")
    return Role(str(value))


def _read_hierarchy(value: object) -> HierarchyBuilder | None:
    if isinstance(value, HierarchyBuilder):
        return value
    return None if resolve(value) is None else choose(BUILDERS, "kind", value)


def _read_weight(value: object) -> float:
    weight: float = read(float, value)
    require_number("weight", weight, above=0)
    return weight


def _read_levels(value: object) -> tuple[int, int] | None:
    levels: tuple[int, int] | None = read(tuple[int, int] | None, value)
    if levels is not None:
        for position, level in enumerate(levels):
            if level < 0:
                raise Fault(f"a level is 0 (the raw value) or more, got {level}", (position,))
        if levels[0] > levels[1]:
            raise Fault(
                f"the lowest level, {levels[0]}, is above the highest, {levels[1]}. "
                "Write them as [lowest, highest]."
            )
    return levels


class ColumnRule(Part):
    """What a column is, and how it may be generalised.

    A quasi-identifier without a hierarchy is published as it is or as `*`.

    Example:
        >>> ColumnRule(role="quasi-identifier", levels=[0, 2]).levels
        (0, 2)
    """

    role: Annotated[Role, PlainValidator(read_role)] = Field(
        description="What the column is to an attacker: " + ", ".join(Role) + "."
    )
    hierarchy: Annotated[HierarchyBuilder | None, PlainValidator(_read_hierarchy)] = Field(
        None,
        description="How values become more general (quasi-identifier), or how near they are to "
        "each other (sensitive).",
    )
    weight: Annotated[float, PlainValidator(_read_weight)] = Field(
        1.0, description="How much its loss counts against that of other columns; above 0."
    )
    levels: Annotated[tuple[int, int] | None, PlainValidator(_read_levels)] = Field(
        None, description="The lowest and the highest level allowed; 0 is the raw value."
    )

    @model_validator(mode="after")
    def _only_what_the_role_uses(self) -> Self:
        uses = {
            "hierarchy": (Role.QUASI_IDENTIFIER, Role.SENSITIVE),
            "weight": (Role.QUASI_IDENTIFIER,),
            "levels": (Role.QUASI_IDENTIFIER,),
        }
        for key, roles in uses.items():
            if key in self.model_fields_set and self.role not in roles:
                raise Fault(
                    f"{key!r} means nothing for a column that is {self.role}: only "
                    f"{' and '.join(roles)} columns have one. Remove it or change the role.",
                    (key,),
                )
        return self

    def relative_to(self, folder: Path) -> "ColumnRule":
        """Read the files it names in a folder."""
        if self.hierarchy is None:
            return self
        return self.model_copy(update={"hierarchy": self.hierarchy.relative_to(folder)})

    @classmethod
    def of(cls, value: object) -> "ColumnRule":
        """Read the short form (a role) or the long one (a mapping)."""
        if isinstance(value, ColumnRule):
            return value
        if isinstance(value, Mapping):
            return cls(**keywords(value))
        return cls(role=read_role(value))

    def written(self) -> object:
        """Write it as a policy does, in the short form if that says it all."""
        settings: dict[str, object] = {"role": self.role.value}
        if self.hierarchy is not None:
            settings["hierarchy"] = written(self.hierarchy, "kind")
        if self.weight != 1:
            settings["weight"] = self.weight
        if self.levels is not None:
            settings["levels"] = list(self.levels)
        return settings if len(settings) > 1 else self.role.value


def _read_limit(value: object) -> int | float:
    expected = "a share between 0 and 1, a percentage as in '5%', or a number of rows"
    percent = re.fullmatch(r"\s*(\d{1,12}(?:\.\d{1,12})?)\s*%\s*", str(value))
    if isinstance(value, str) and percent:
        share = Fraction(percent[1]) / 100
        if share > 1:
            raise ParameterError("limit", str(value), "at most 100 %")
        return float(share)
    number: int | float = read(int | float, value)
    if isinstance(number, float):
        require_number("limit", number)
        if not 0 <= number <= 1:
            raise ParameterError("limit", number, expected, why="a share is at most 1, or 100 %")
    else:
        require_int("limit", number, at_least=0)
    return number


class Suppression(Part):
    """How many rows may be left out to keep the promises of the models.

    A limit with a point is a share of the rows (0.05), a whole number is a number of
    rows: `1` is one row and `1.0` all of them.

    Example:
        >>> Suppression(limit="29%").allowed(100), Suppression(limit=3).allowed(100)
        (29, 3)
    """

    limit: Annotated[int | float, PlainValidator(_read_limit)] = Field(
        0, description="The most rows left out: a share (0.05 or 5%) or a number of rows (20)."
    )
    rows: Annotated[Literal["remove", "star"], as_type(Literal["remove", "star"])] = Field(
        "remove",
        description="What becomes of such a row: removed, or kept with every quasi-identifier "
        "replaced by *.",
    )

    def allowed(self, total: int) -> int:
        """Say how many of `total` rows may be left out."""
        if isinstance(self.limit, int):
            return min(self.limit, total)
        # The decimal that was written, not its binary neighbour: 29 % of 100 rows are 29.
        return int(Fraction(repr(self.limit)) * total)

    @classmethod
    def of(cls, value: object) -> "Suppression":
        """Read the short form (a limit) or the long one (a mapping)."""
        if isinstance(value, Suppression):
            return value
        return cls(**keywords(value)) if isinstance(value, Mapping) else cls(limit=value)

    def written(self) -> dict[str, object]:
        """Write it as a policy does."""
        return {"limit": self.limit, "rows": self.rows}
