"""The parts of a policy: the rule of a column, the treatment of missing values, the suppression."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import Field, PlainValidator, model_validator

from sfumato.checks import require_int, require_number
from sfumato.errors import ParameterError, suggest
from sfumato.hierarchy import BUILDERS, HierarchyBuilder
from sfumato.policy.document import KeyPath
from sfumato.policy.family import choose, written
from sfumato.policy.values import (
    Fault,
    FrozenMap,
    Part,
    as_type,
    keywords,
    plain,
    read,
    resolve,
    shown,
)
from sfumato.schema import Role


class Missing(StrEnum):
    """What a missing value of a quasi-identifier is."""

    OWN_VALUE = "own-value"
    """A value like any other: rows that miss it form classes of their own."""

    MATCHES_ANY = "matches-any"
    """Unknown to an adversary too: it matches every value."""

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
        description="What the column is to an adversary: " + ", ".join(Role) + "."
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


# Choices among things that live above the policy: by name, with options as they were given.


T = TypeVar("T")


class Choice(Part):
    """A member of a family that the policy does not know; its registry is asked later."""

    tag: ClassVar[str]
    """The key of the name in the long form."""

    example: ClassVar[str]
    """A name to show to somebody who gave none."""

    name: Annotated[str, as_type(str)] = Field(description="The name of the one that is meant.")
    options: FrozenMap[Any] = FrozenMap()

    @classmethod
    def of(cls, value: object) -> Self:
        """Read a name, a mapping of the name and the options, or an object made in Python."""
        if isinstance(value, cls):
            return value
        if is_dataclass(value) and hasattr(value, "name"):
            value = written(value, cls.tag)
        given = keywords(value) if isinstance(value, Mapping) else {cls.tag: value}
        if cls.tag not in given:
            raise Fault(
                f"{cls.tag!r} is missing: it says which one is meant, as in "
                f"{{{cls.tag}: {cls.example}}}. Got {shown(given)}"
            )
        name = read(str, given[cls.tag], (cls.tag,) if isinstance(value, Mapping) else ())
        options = {key: resolve(item) for key, item in given.items() if key != cls.tag}
        return cls(name=name, options=FrozenMap(options))

    def written(self) -> object:
        """Write it as a policy does."""
        return {self.tag: self.name, **{key: plain(item) for key, item in self.options.items()}}


class SearchRule(Choice):
    """Which search to use, by name, with its options as they were given.

    The searches themselves live above the policy; `make` asks their registry.
    """

    tag = "search"
    example = "best-first"

    def make(self, searches: Mapping[str, type[T]]) -> T:
        """Make the search it names, or raise a `Fault`."""
        return choose(searches, self.tag, self.written())


FULL_DOMAIN = "full-domain"


@dataclass(frozen=True)
class FullDomain:
    """One level per column for the whole table; `search` says how they are found."""

    name: ClassVar[str] = FULL_DOMAIN


class MethodRule(Choice):
    """How rows are recoded: `full-domain`, or a method of local recoding with its options.

    The methods themselves live above the policy; `make` asks their registry.

    Example:
        >>> MethodRule.of("full-domain").local, MethodRule.of({"method": "top-down"}).local
        (False, True)
    """

    tag = "method"
    example = "top-down"

    @model_validator(mode="after")
    def _full_domain_has_no_options(self) -> Self:
        if not self.local and self.options:
            option = next(iter(self.options))
            raise Fault(
                f"{FULL_DOMAIN} has no options, got {option!r}. How the levels are looked for is "
                "said under search, as in search: {search: best-first, seconds: 60}",
                (option,),
            )
        return self

    @property
    def local(self) -> bool:
        """Whether the same value may become different labels in different rows."""
        return self.name != FULL_DOMAIN

    def written(self) -> object:
        """Write it as a policy does, in the short form if that says it all."""
        return super().written() if self.options else self.name

    def make(self, methods: Mapping[str, type[T]]) -> T | None:
        """Make the method of local recoding it names (None: full-domain), or raise a `Fault`."""
        made: T | FullDomain = choose(with_full_domain(methods), self.tag, self.written())
        return None if isinstance(made, FullDomain) else made


class DecouplingRule(Choice):
    """How a table is published in parts with weak links, with the settings as they were given.

    The methods themselves live above the policy; `make` asks their registry. A setting `columns`
    names columns of the data, whichever method has it: it is taken as lists of names, so that the
    policy can hold them against its own.

    Example:
        >>> rule = DecouplingRule.of({"method": "slicing", "l": 3, "columns": ["age+zip", "ill"]})
        >>> rule.name, rule.columns
        ('slicing', (('age', 'zip'), ('ill',)))
    """

    tag = "method"
    example = "break-merge"

    @classmethod
    def of(cls, value: object) -> Self:
        """Read a name, a mapping of the name and the settings, or an object made in Python."""
        rule = super().of(value)
        if isinstance(value, Mapping) and value.get("columns") is not None:
            columns = read_name_lists(value["columns"], ("columns",))
            rule = cls(name=rule.name, options=FrozenMap({**rule.options, "columns": columns}))
        return rule

    @property
    def columns(self) -> tuple[tuple[str, ...], ...] | None:
        """The columns that are published side by side; None if that is not said."""
        return self.options.get("columns")

    def written(self) -> object:
        """Write it as a policy does, in the short form if that says it all."""
        return super().written() if self.options else self.name

    def make(self, decouplings: Mapping[str, type[T]]) -> T:
        """Make the decoupling it names, or raise a `Fault`."""
        return choose(decouplings, self.tag, self.written())


def read_name_lists(value: object, path: KeyPath) -> tuple[tuple[str, ...], ...] | None:
    """Read lists of names, each a list or a text with + between them.

    >>> read_name_lists(["age+zip", ["ill"]], ())
    (('age', 'zip'), ('ill',))
    """
    given: tuple[str | tuple[str, ...], ...] | None = read(
        tuple[str | tuple[str, ...], ...] | None, value, path
    )
    if given is None:
        return None
    return tuple(
        tuple(name.strip() for name in each.split("+")) if isinstance(each, str) else each
        for each in given
    )


def with_full_domain(methods: Mapping[str, type[T]]) -> dict[str, type[T | FullDomain]]:
    """Give every method there is: the one that needs no registry, then the others.

    >>> list(with_full_domain({}))
    ['full-domain']
    """
    return {FULL_DOMAIN: FullDomain, **methods}


# Risk levels: what a probability means to a publisher.


def _read_bound(value: object) -> float:
    bound: float = read(float, value)
    require_number("a risk level", bound, at_least=0, at_most=1)
    return bound


class RiskLevels(Part):
    """From which probability on a risk is moderate, high or very high; below it is low.

    Example:
        >>> [RiskLevels().of(p) for p in (0.1, 0.2, 0.6, 0.75)]
        ['low', 'moderate', 'high', 'very high']
    """

    moderate: Annotated[float, PlainValidator(_read_bound)] = Field(
        0.20, description="Where moderate risk begins."
    )
    high: Annotated[float, PlainValidator(_read_bound)] = Field(
        0.50, description="Where high risk begins."
    )
    very_high: Annotated[float, PlainValidator(_read_bound)] = Field(
        0.75, description="Where very high risk begins."
    )

    @model_validator(mode="after")
    def _rises(self) -> Self:
        if not self.moderate <= self.high <= self.very_high:
            raise Fault(
                "moderate, high and very_high must rise, got "
                f"{self.moderate:g}, {self.high:g}, {self.very_high:g}"
            )
        return self

    def of(self, probability: float) -> str:
        """Name the level of a probability."""
        names = [name for name, start in self.bounds().items() if probability >= start]
        return names[-1] if names else "low"

    def bounds(self) -> Mapping[str, float]:
        """Give where each level begins."""
        return {
            "low": 0.0,
            "moderate": self.moderate,
            "high": self.high,
            "very high": self.very_high,
        }

    def written(self) -> dict[str, float]:
        """Write it as a policy does."""
        return {"moderate": self.moderate, "high": self.high, "very_high": self.very_high}

    @classmethod
    def read(cls, value: object) -> "RiskLevels":
        """Read a mapping with the levels that are not the usual ones."""
        if isinstance(value, RiskLevels):
            return value
        if not isinstance(value, Mapping):
            raise Fault(f"must be a mapping as in {{high: 0.5}}, got {shown(value)}")
        return cls(**keywords(value))


# Tolerance: what an adversary may believe before a release is refused.


def _read_threshold(value: object) -> float | None:
    if value is None:
        return None
    threshold: float = read(float, value)
    require_number("threshold", threshold, above=0, at_most=1)
    return threshold


def _read_people(value: object) -> int:
    people: int = read(int, value)
    require_int("people", people, at_least=0)
    return people


class Tolerance(Part):
    """When attacks speak against a release.

    Somebody is at risk if an adversary's belief reaches the threshold and the release at
    least halved the adversary's doubt.

    Example:
        >>> levels = RiskLevels()
        >>> Tolerance().from_belief(levels), Tolerance(threshold=0.9).from_belief(levels)
        (0.75, 0.9)
    """

    threshold: Annotated[float | None, PlainValidator(_read_threshold)] = Field(
        None,
        description="From which belief on somebody is at risk; without it, where very high risk "
        "begins.",
    )
    people: Annotated[int, PlainValidator(_read_people)] = Field(
        0, description="How many people may be at risk by any one attack."
    )

    def from_belief(self, levels: RiskLevels) -> float:
        """Give the belief from which on somebody is at risk."""
        return levels.very_high if self.threshold is None else self.threshold

    def written(self) -> dict[str, float] | None:
        """Write it as a policy does; nothing if it is the usual."""
        settings = {"threshold": self.threshold, "people": self.people or None}
        return {name: value for name, value in settings.items() if value is not None} or None

    @classmethod
    def read(cls, value: object) -> "Tolerance":
        """Read a mapping with what is not the usual."""
        if isinstance(value, Tolerance):
            return value
        if not isinstance(value, Mapping):
            raise Fault(f"must be a mapping as in {{threshold: 0.5}}, got {shown(value)}")
        return cls(**keywords(value))
