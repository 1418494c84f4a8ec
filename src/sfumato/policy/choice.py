"""Choices among things that live above the policy: by name, with options as they were given."""

from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import Field, model_validator

from sfumato.policy.document import KeyPath
from sfumato.policy.family import choose, written
from sfumato.policy.part import FrozenMap, Part, as_type, keywords
from sfumato.policy.values import Fault, read, resolve, shown
from sfumato.policy.writer import plain

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
