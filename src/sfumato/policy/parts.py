"""The parts of a policy, each declared once: so it is read, written and described to editors.

A part is a frozen dataclass whose fields are made by `setting`: how a value is read, what
it means, what an editor may expect (JSON Schema) and how it is written.
"""

import inspect
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, field, fields, is_dataclass
from enum import StrEnum
from fractions import Fraction
from functools import partial
from keyword import iskeyword
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Self,
    TypeAlias,
    TypeVar,
    get_type_hints,
)

from sfumato.dataclasses import dataclass
from sfumato.derivations import DERIVATIONS, Derivation
from sfumato.derivations.dates import DETECT, ORDERS, DateForm, given_form
from sfumato.errors import (
    ParameterError,
    SfumatoError,
    UnknownNameError,
    require_int,
    require_number,
    suggest,
)
from sfumato.files.reading import Reading
from sfumato.harm import HarmRule
from sfumato.hierarchy import BUILDERS, HierarchyBuilder
from sfumato.losses import AGGREGATES
from sfumato.perturbations import PERTURBATIONS, Perturbation
from sfumato.policy.document import (
    Fault,
    Faults,
    KeyPath,
    LinePlaces,
    Schema,
    faults_of,
    plain,
    policy_error,
    read,
    resolve,
    show,
    type_schema,
)
from sfumato.populations.weights import Averaging
from sfumato.schema import Role
from sfumato.text import number_of, text_of

if TYPE_CHECKING:
    from sfumato.networks import Learner
    from sfumato.policy.domains import DomainRule

# Members of families: found by name, made from settings, written and described to editors.


T = TypeVar("T")


def parameters(kind: type) -> dict[str, tuple[Field[Any], Any]]:
    """Return the fields of a dataclass that can be set, with their types."""
    hints = get_type_hints(kind, include_extras=True)
    own = fields(kind) if is_dataclass(kind) else ()
    return {each.name: (each, hints[each.name]) for each in own if each.init}


def is_required(field: Field[Any]) -> bool:
    """Return whether a field has no default."""
    return field.default is MISSING and field.default_factory is MISSING


def default_of(field: Field[Any]) -> object:
    """Return the default of a field that has one."""
    return field.default_factory() if field.default_factory is not MISSING else field.default


def descriptions(kind: type) -> dict[str, str]:
    """Read what each parameter means from the `Args` of a docstring.

    >>> from sfumato.models import KAnonymity
    >>> descriptions(KAnonymity)
    {'k': 'Fewest rows a class may have; 2 or more.'}
    """
    found: dict[str, str] = {}
    for owner in reversed(kind.__mro__):  # a parameter may be inherited, and then its meaning is
        document = inspect.cleandoc(owner.__doc__ or "")
        section = re.search(r"^Args:\n((?:[ ]+.*\n?|\n)*)", document, re.MULTILINE)
        entries = re.finditer(r"^ {4}(\w+):(.*(?:\n {8}.*)*)", section[1], re.M) if section else ()
        found.update({entry[1]: " ".join(entry[2].split()) for entry in entries})
    return found


def build(kind: type[T], given: Mapping[str, object], *, what: str, path: KeyPath = ()) -> T:
    """Make a dataclass of parameters, or raise a `Fault` that names the wrong one.

    >>> from sfumato.models import KAnonymity
    >>> build(KAnonymity, {"kk": 5}, what="k-anonymity")
    Traceback (most recent call last):
    sfumato.policy.document.Fault: k-anonymity has no parameter 'kk'. Did you mean 'k'? Known: 'k'.
    """
    known = parameters(kind)
    for name in given:
        if name not in known:
            near = suggest(str(name), list(known))
            raise Fault(f"{what} has no parameter {name!r}. {near}", (*path, str(name)))
    for name, (details, _) in known.items():
        if is_required(details) and name not in given:
            means = descriptions(kind).get(name)
            raise Fault(f"{what} needs {name!r}" + (f": {means}" if means else ""), path)
    arguments = {name: read(known[name][1], value, (*path, name)) for name, value in given.items()}
    try:
        return kind(**arguments)
    except (SfumatoError, ValueError, OverflowError) as error:
        wrong = [name for name, value in arguments.items() if _concerns(error, name, value)]
        raise Fault(str(error), (*path, *wrong[:1])) from None


def _concerns(error: Exception, name: str, value: object) -> bool:
    if isinstance(error, ParameterError):
        return error.name == name
    return isinstance(error, UnknownNameError) and error.given == value


def choose(family: Mapping[str, type[T]], tag: str, value: object) -> T:
    """Make the member of a family that a policy names.

    Args:
        family: The members by name.
        tag: The key that holds the name: `model`, `kind`, `loss`.
        value: A name, or a mapping of the name and the parameters.

    >>> from sfumato.models import MODELS
    >>> choose(MODELS, "model", {"model": "k-anonymity", "k": 5})
    KAnonymity(k=5)
    """
    if not isinstance(value, str | Mapping):
        raise Fault(f"must be a mapping with the key {tag!r}, got {show(value)}")
    what = getattr(family, "what", tag)
    if isinstance(value, Mapping) and tag not in value:
        meant = _how_to_write(family, tag, value)
        raise Fault(f"{tag!r} is missing: it names the {what}. {meant} Got {show(value)}")
    name = value if isinstance(value, str) else value[tag]
    path = (tag,) if isinstance(value, Mapping) else ()
    if not isinstance(name, str):
        near = suggest("", sorted(family))
        raise Fault(f"must be the name of a {what}, got {show(name)}. {near}", path)
    if name not in family:
        raise Fault(f"no {what} {show(name)}. {suggest(name, sorted(family))}", path)
    given = value if isinstance(value, Mapping) else {}
    rest = {key: item for key, item in given.items() if key != tag}
    return build(family[name], rest, what=name)


def _how_to_write(family: Mapping[str, type], tag: str, value: Mapping[str, object]) -> str:
    """Return how to write a member that somebody gave without its tag, or the names there are.

    >>> from sfumato.models import MODELS
    >>> _how_to_write(MODELS, "model", {"k-anonymity": 5})
    'Write {model: k-anonymity, k: 5}.'
    """
    for name in family:
        if name in value:
            given = value[name]
            first = next(iter(parameters(family[name])), None)
            alone = isinstance(given, bool | int | float | str)
            setting = f", {first}: {given}" if first is not None and alone else ""
            return f"Write {{{tag}: {name}{setting}}}."
    takes = [name for name in family if value and set(value) <= set(parameters(family[name]))]
    if len(takes) == 1:
        settings = "".join(f", {key}: …" for key in value)
        return f"Write {{{tag}: {takes[0]}{settings}}}."
    return suggest("", sorted(family))


def member_settings(member: object, tag: str) -> dict[str, object]:
    """Return what a policy writes for a member: its name and what differs from the defaults.

    >>> from sfumato.models import KAnonymity
    >>> member_settings(KAnonymity(5), "model")
    {'model': 'k-anonymity', 'k': 5}
    """
    settings: dict[str, object] = {tag: member.name}  # type: ignore[attr-defined]
    for name, (details, _) in parameters(type(member)).items():
        value = getattr(member, name)
        if is_required(details) or value != default_of(details):
            settings[name] = plain(value)
    return settings


def member_schema(kind: type, name: str, tag: str) -> Schema:
    """Describe the settings of one member of a family.

    >>> from sfumato.models import KAnonymity
    >>> member_schema(KAnonymity, "k-anonymity", "model")["properties"]["k"]
    {'type': 'integer', 'description': 'Fewest rows a class may have; 2 or more.'}
    """
    summary = (inspect.getdoc(kind) or "").partition("\n\n")[0].replace("\n", " ")
    properties: Schema = {tag: {"const": name, "description": summary}}
    needed, means = [tag], descriptions(kind)
    for parameter, (details, hint) in parameters(kind).items():
        entry = {"enum": list(AGGREGATES)} if parameter == "aggregate" else type_schema(hint)
        described = {"description": means[parameter]} if parameter in means else {}
        known = {} if is_required(details) else {"default": plain(default_of(details))}
        properties[parameter] = {**entry, **described, **known}
        if is_required(details):
            needed.append(parameter)
    return object_schema(properties, needed, title=name, description=summary)


def family_schema(family: Mapping[str, type], tag: str) -> Schema:
    """Describe a choice of one member: its name, or its name with settings."""
    bare = [name for name, kind in family.items() if not _needs_settings(kind)]
    short: list[Schema] = [{"enum": bare}] if bare else []
    return {"anyOf": [*short, *(member_schema(kind, name, tag) for name, kind in family.items())]}


def _needs_settings(kind: type) -> bool:
    return any(is_required(details) for details, _ in parameters(kind).values())


def object_schema(properties: Schema, needed: list[str], *, title: str, description: str) -> Schema:
    """Describe a mapping with these keys and no others."""
    return {
        "title": title,
        "description": description,
        "type": "object",
        "properties": properties,
        "required": needed,
        "additionalProperties": False,
    }


T_co = TypeVar("T_co", covariant=True)


class FrozenMap(Mapping[str, T_co]):
    """A dict that cannot be changed, with its order.

    >>> FrozenMap({"age": 1})
    {'age': 1}
    """

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, T_co] | None = None) -> None:
        self._items = dict(items or {})

    def __getitem__(self, key: str) -> T_co:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)


class Families(NamedTuple):
    """The families above the policy, by name; None leaves names and options open."""

    searches: Mapping[str, type] | None = None
    methods: Mapping[str, type] | None = None
    decouplings: Mapping[str, type] | None = None
    profiles: Mapping[str, type] | None = None


Describe: TypeAlias = Callable[[Families], Schema]

_NEEDED: Any = object()


@dataclass(frozen=True)
class Setting:
    """The declaration of one setting of a part."""

    read: Callable[[Any], Any]
    means: str
    schema: Describe
    write: Callable[[Any], object]
    sparse: bool
    """Whether it is left out of what is written where it has its default."""

    default: Any

    @property
    def needed(self) -> bool:
        """Whether it has no default."""
        return self.default is _NEEDED


def setting(
    read: Callable[[Any], Any],
    means: str,
    schema: Schema | Describe,
    *,
    default: Any = _NEEDED,  # noqa: ANN401 - of the type of the field
    write: Callable[[Any], object] = lambda value: value,
    sparse: bool = False,
) -> Any:  # noqa: ANN401 - a field, as `dataclasses.field` declares it
    """Declare a setting of a part."""
    described = schema if callable(schema) else lambda _: schema
    declared = Setting(read, means, described, write, sparse, default)
    has_default = {} if default is _NEEDED else {"default": default}
    return field(metadata={"setting": declared}, **has_default)


class Part:
    """A piece of a policy: made of keyword arguments, or of what a policy file says."""

    example: ClassVar[str]
    """Shown where something else was given."""

    def __init__(self, /, **given: object) -> None:
        faults: Faults = []
        known = self.settings()
        for name, each in known.items():
            value = each.default
            if name in given:
                try:
                    value = each.read(given[name])
                except (SfumatoError, ValueError) as error:
                    faults.extend(faults_of(error, name))
            elif each.needed:
                faults.append(((), f"{name!r} is missing: {each.means}"))
            object.__setattr__(self, _attribute(name), value)
        faults += [
            ((key,), f"unknown key {key!r}. {suggest(key, list(known))}")
            for key in given
            if key not in known
        ]
        faults = faults or self._contradictions(given)
        if faults:
            raise policy_error(faults, LinePlaces())

    def _contradictions(self, given: Mapping[str, object]) -> Faults:
        """List what does not fit together although each setting is right by itself."""
        return []

    @classmethod
    def settings(cls) -> dict[str, Setting]:
        """Return the declaration of each setting, by name."""
        own = fields(cls)  # type: ignore[arg-type] # every part is a dataclass
        return {
            each.name.removesuffix("_"): each.metadata["setting"] for each in own if each.metadata
        }

    @classmethod
    def read(cls, value: object) -> Self:
        """Read a part: one that is made already, a mapping of its settings, or its short form."""
        if isinstance(value, cls):
            return value
        return cls(**keywords(value)) if isinstance(value, Mapping) else cls._read_short(value)

    @classmethod
    def _read_short(cls, value: object) -> Self:
        raise Fault(f"must be a mapping as in {cls.example}, got {show(value)}")

    def replace(self, **changes: object) -> Self:
        """Return the same part with other settings, checked as a whole."""
        kept = {
            name: value
            for name, each in self.settings().items()
            if (value := getattr(self, _attribute(name))) != each.default
        }
        return type(self)(**{**kept, **changes})

    def to_plain(self) -> object:
        """Return what a policy file says for it."""
        return {
            name: each.write(value)
            for name, each in self.settings().items()
            if (value := getattr(self, _attribute(name))) != each.default or not each.sparse
        }

    @classmethod
    def schema(cls, families: Families) -> Schema:
        """Describe it as JSON Schema."""
        known = cls.settings()
        properties = {
            name: {**each.schema(families), "description": each.means}
            for name, each in known.items()
        }
        needed = [name for name, each in known.items() if each.needed]
        summary = (inspect.getdoc(cls) or "").partition("\n")[0]
        return object_schema(properties, needed, title=cls.__name__, description=summary)


def _attribute(name: str) -> str:
    """Return the attribute that holds a setting: `as` is a word of Python."""
    return f"{name}_" if iskeyword(name) else name


def keywords(value: Mapping[Any, object]) -> dict[str, object]:
    """Return a mapping as keyword arguments, whose keys must be text."""
    for key in value:
        if not isinstance(key, str):
            raise Fault(f"a key must be a text, got {show(key)}")
    return dict(value)


def part(kind: type[Part], means: str, default: Part | None, *, sparse: bool = False) -> Any:  # noqa: ANN401 - a field
    """Declare a setting that is a part itself; it may be none if that is its default."""

    def read_part(value: object) -> Part | None:
        return None if default is None and resolve(value) is None else kind.read(value)

    return setting(
        read_part, means, kind.schema, default=default, write=lambda made: made.to_plain(),
        sparse=sparse,
    )  # fmt: skip


class Spelling(StrEnum):
    """What it means that two values of a sensitive column differ only in their spelling."""

    FOLDED = "folded"
    """Nothing: case, blanks, forms of Unicode and ways to write a number make no other value."""

    EXACT = "exact"
    """They are two values, as codes are that differ in case."""


class PublishAs(StrEnum):
    """What is published of the labels of a quasi-identifier that are ranges."""

    TEXT = "text"
    """The labels as they are: `60 to 64`."""

    BOUNDS = "bounds"
    """Two columns, `age_low` and `age_high`; an open end is empty, a hidden value twice."""

    MIDPOINT = "midpoint"
    """The middle of the range, a number or a day; a hidden value is empty."""

    MEAN = "mean"
    """The mean of all rows of the class, and beside it the bounds; a hidden value is empty."""

    MEDIAN = "median"
    """The median of all rows of the class, and beside it the bounds; a hidden value is empty."""


class Missing(StrEnum):
    """What a missing value of a quasi-identifier is."""

    OWN_VALUE = "own-value"
    """A value like any other: rows that miss it form classes of their own."""

    MATCHES_ANY = "matches-any"
    """Not known to be missing: it matches every value, and its person may have any."""

    SUPPRESS = "suppress"
    """A reason to suppress the row."""


ROLES: Schema = type_schema(Role)


def read_role(value: object) -> Role:
    """Read a role, or answer with the nearest one."""
    roles = [role.value for role in Role]
    if not isinstance(value, str):
        raise Fault(f"must be a role, got {show(value)}. {suggest('', roles)}")
    if value not in roles:
        raise Fault(f"no role {show(value)}. {suggest(value, roles)}")
    return Role(str(value))


def _read_hierarchy(value: object) -> HierarchyBuilder | None:
    if isinstance(value, HierarchyBuilder):
        return value
    return None if resolve(value) is None else choose(BUILDERS, "kind", value)


def _read_number(name: str, kind: Any, **bounds: float) -> Callable[[object], Any]:  # noqa: ANN401
    """Return a reader of numbers within bounds."""

    def read_bounded(value: object) -> object:
        number = read(kind, value)
        if number is not None:
            require_number(name, number, **bounds)  # type: ignore[arg-type]
        return number

    return read_bounded


def _read_width(value: object) -> int | float | None:
    """Read a width: a number, or of days as in 30d."""
    days = re.fullmatch(r"\s*(\d{1,7})\s*d\s*", value) if isinstance(value, str) else None
    if days:
        return int(days[1])
    width: int | float | None = read(int | float | None, value)
    if width is not None:
        require_number("width", width, at_least=0)
    return width


_TEXTS: Schema = {"type": "array", "items": {"type": ["string", "number", "boolean"]}}


def _read_texts(value: object) -> tuple[str, ...]:
    """Read a list of values as the texts that they are in a table."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Fault(f"must be a list of values as in [hiv, cancer], got {show(value)}")
    # Not what YAML makes of it: `no` and `01` are values of a column, as they stand there.
    return tuple(dict.fromkeys("".join(text_of(each)) for each in value))


def _write_codes(codes: tuple[str, ...]) -> list[object]:
    """Write values as people do: numbers without quotation marks."""
    numbers = [number_of(code) for code in codes]
    return [
        int(n) if n is not None and n.is_integer() and text_of(int(n)) == code else code
        for code, n in zip(codes, numbers, strict=True)
    ]


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


_PERCENT = r"^\s*[0-9.]+\s*%\s*$"


def _percentage(value: object) -> float | None:
    """Read a text such as 5% as a share; None if it is none."""
    percent = re.fullmatch(r"\s*(\d{1,12}(?:\.\d{1,12})?)\s*%\s*", str(value))
    return float(Fraction(percent[1]) / 100) if isinstance(value, str) and percent else None


def _read_perturbation(value: object) -> "float | tuple[Perturbation, ...] | None":
    """Read what changes a column: a share of a weight, or one perturbation or several."""
    if isinstance(value, Perturbation):
        return (value,)
    if isinstance(value, Mapping):
        return (choose(PERTURBATIONS, "kind", value),)
    if isinstance(value, Sequence) and not isinstance(value, str):
        if not value:
            raise Fault("must name a perturbation, as in {kind: rounding, step: 10}, got none")
        found = []
        for position, each in enumerate(value):
            try:
                member = isinstance(each, Perturbation)
                found.append(each if member else choose(PERTURBATIONS, "kind", each))
            except Fault as fault:
                raise Fault(fault.text, (position, *fault.path)) from None
        return tuple(found)
    named = isinstance(value, str) and resolve(value) is not None and _percentage(value) is None
    if named and not isinstance(resolve(value), int | float):
        return (choose(PERTURBATIONS, "kind", value),)
    return _read_noise(value)


def _write_perturbation(value: "float | tuple[Perturbation, ...] | None") -> object:
    if not isinstance(value, tuple):
        return value
    written = [member_settings(each, "kind") for each in value]
    return written[0] if len(written) == 1 else written


def _read_noise(value: object) -> float | None:
    share = _percentage(value)
    noise: float | None = read(float | None, value) if share is None else share
    if noise is not None:
        require_number("perturb", noise, above=0, below=1, why="as in 5% or 0.05")
    return noise


def _read_separator(value: object) -> str | None:
    separator: str | None = read(str | None, value)
    if separator is None:
        return None
    text = str(separator)
    if not text.strip(" ") or any(each in text for each in '"\r\n\0'):
        raise Fault(
            "must be what stands between two items, such as ';' or '|', without quotes and line "
            f"breaks, got {show(separator)}"
        )
    return text


def _read_because(value: object) -> str | None:
    reason: str | None = read(str | None, value)
    if reason is None:
        return None
    if not reason.strip():
        raise Fault("must say why, in words that readers of the release may see, got nothing")
    return " ".join(reason.split())


def _read_dates(value: object) -> DateForm | None:
    """Read how dates are written: an order, a format, or either with a pivot."""
    if resolve(value) is None or isinstance(value, DateForm):
        return value if isinstance(value, DateForm) else None
    if isinstance(value, Mapping):
        return build(DateForm, keywords(value), what="dates")
    if not isinstance(value, str):
        raise Fault(f"must be an order, as in dates: day-first, or a format, got {show(value)}")
    return given_form(str(value))


def _write_dates(form: DateForm | None) -> object:
    if form is None or form.pivot is None:
        return None if form is None else str(form)
    key = "order" if form.format is None else "format"
    return {key: str(form), "pivot": form.pivot}


_DATES: Schema = {
    "anyOf": [
        {"enum": [*ORDERS, DETECT]},
        {"type": "string", "pattern": "%|[yY]{2}"},
        {
            "type": "object",
            "properties": {
                "order": {"enum": [*ORDERS, DETECT]},
                "format": {"type": "string"},
                "pivot": {"type": "integer", "minimum": 0, "maximum": 99},
            },
            "additionalProperties": False,
        },
        {"type": "null"},
    ]
}


def _read_domain(value: object) -> "DomainRule | None":
    """Read the values that a column can have."""
    from sfumato.policy.domains import DomainRule

    return None if resolve(value) is None else DomainRule.read(value)


def _domain_schema(families: Families) -> Schema:
    from sfumato.policy.domains import DomainRule

    return {"anyOf": [*DomainRule.schema(families)["anyOf"], {"type": "null"}]}


def read_derivation(value: object) -> Derivation:
    """Read what is computed of a table before anything else."""
    return value if isinstance(value, Derivation) else choose(DERIVATIONS, "kind", value)


@dataclass(frozen=True, init=False)
class ColumnRule(Part):
    """What a column is, and how it may be generalised.

    A quasi-identifier without a hierarchy is published as it is or as `*`.

    Example:
        >>> ColumnRule(role="quasi-identifier", levels=[0, 2]).levels
        (0, 2)
        >>> ColumnRule.read({"plain": {"because": "on the clinic's door"}}).to_plain()
        {'role': 'plain', 'because': "on the clinic's door"}
    """

    role: Role = setting(
        read_role,
        "What the column is to an adversary: " + ", ".join(Role) + ".",
        ROLES,
        write=plain,
    )
    hierarchy: HierarchyBuilder | None = setting(
        _read_hierarchy,
        "How values become more general (quasi-identifier), or items (set), or how near they are "
        "to each other (sensitive).",
        lambda _: {"anyOf": [*family_schema(BUILDERS, "kind")["anyOf"], {"type": "null"}]},
        default=None,
        write=partial(member_settings, tag="kind"),
        sparse=True,
    )
    weight: float = setting(
        _read_number("weight", float, above=0),
        "How much its loss counts against that of other columns; above 0.",
        {"type": "number", "exclusiveMinimum": 0},
        default=1.0,
        sparse=True,
    )
    levels: tuple[int, int] | None = setting(
        _read_levels,
        "The lowest and the highest level allowed; 0 is the raw value.",
        {"type": ["array", "null"], "items": {"type": "integer", "minimum": 0},
         "minItems": 2, "maxItems": 2},
        default=None,
        write=plain,
        sparse=True,
    )  # fmt: skip
    secret: tuple[str, ...] = setting(
        _read_texts,
        "Values of a sensitive column that are worse to be known than others (sensitive).",
        _TEXTS,
        default=(),
        write=list,
        sparse=True,
    )
    harmless: tuple[str, ...] = setting(
        _read_texts,
        "Values of a sensitive column that no person minds to be known (sensitive).",
        _TEXTS,
        default=(),
        write=list,
        sparse=True,
    )
    known: bool = setting(
        partial(read, bool),
        "Whether others may know it of a person without the release. If false, that is an "
        "assumption: the answer counts the people at risk if it is wrong, and is with care unless "
        "'because' says why it is right (sensitive, plain).",
        type_schema(bool),
        default=True,
        sparse=True,
    )
    width: float | None = setting(
        _read_width,
        "How close two numbers of a sensitive column are alike, as in 5000, or two dates, as in "
        "30d; 0 if its numbers are only names (sensitive). Without it, a tenth and a third of the "
        "range that most people are in.",
        {"type": ["number", "string", "null"], "minimum": 0, "pattern": r"^\s*[0-9]{1,7}\s*d\s*$"},
        default=None,
        sparse=True,
    )
    spelling: Spelling = setting(
        partial(read, Spelling),
        "Whether values of a sensitive column that differ only in spelling (case, blanks, forms of "
        "Unicode, 1 and 1.0) count as one value, folded, or as several, exact (sensitive).",
        type_schema(Spelling),
        default=Spelling.FOLDED,
        write=plain,
        sparse=True,
    )
    as_: PublishAs = setting(
        partial(read, PublishAs),
        "What is published of ranges (quasi-identifier): text, the labels; bounds, two columns of "
        "their ends, as in age_low and age_high; midpoint, a number; mean, the mean of the rows of "
        "the class, beside the bounds. Hidden values are empty then.",
        type_schema(PublishAs),
        default=PublishAs.TEXT,
        write=plain,
        sparse=True,
    )
    dates: DateForm | None = setting(
        _read_dates,
        "How its dates are written, if they are text: day-first (10.01.1937), month-first, "
        "year-first, detect (from all its values), or a format such as %d.%m.%Y; {order: "
        "day-first, pivot: 30} reads years of two digits, here up to 30 as 2000 to 2030. They are "
        "published as 1937-01-10. Without it, found out where the hierarchy is of dates.",
        _DATES,
        default=None,
        write=_write_dates,
        sparse=True,
    )
    missing_codes: tuple[str, ...] = setting(
        _read_texts,
        "Values that mean that none is known, as in [-9, 99]: they are made missing before all "
        "else, in the data and in its population.",
        _TEXTS,
        default=(),
        write=_write_codes,
        sparse=True,
    )
    separator: str | None = setting(
        _read_separator,
        "What stands between the items of a cell of text, as in ';' (set). A column of lists needs "
        "none; in a CSV file its items are then written with ';' between them.",
        {"type": ["string", "null"], "minLength": 1},
        default=None,
        sparse=True,
    )
    because: str | None = setting(
        _read_because,
        "Why a plain column is published as it is, or why what is said about a sensitive one "
        "(known: false, harmless) is right: an assumption with a reason is confirmed. The manifest "
        "of a release repeats it.",
        {"type": ["string", "null"], "minLength": 1},
        default=None,
        sparse=True,
    )

    copy_of: str | None = setting(
        _read_because,
        "The column that this one is a copy or a function of, so that nothing is gone without it "
        "(identifier, dropped).",
        {"type": ["string", "null"], "minLength": 1},
        default=None,
        sparse=True,
    )

    round: float | None = setting(
        _read_number("round", float | None, above=0),
        "A weight is published rounded to a multiple of this, as in 10 (weight).",
        {"type": ["number", "null"], "exclusiveMinimum": 0},
        default=None,
        write=plain,
        sparse=True,
    )
    perturb: float | tuple[Perturbation, ...] | None = setting(
        _read_perturbation,
        "What changes its values before all else, as in {kind: noise, sd: 10%}, or several one "
        "after the other (quasi-identifier, sensitive, plain). For a weight a share, as in 5% or "
        "0.05: noise, one random factor for all rows of a class, within that share.",
        lambda _: {
            "anyOf": [
                {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
                {"type": "string", "pattern": _PERCENT},
                *family_schema(PERTURBATIONS, "kind")["anyOf"],
                {"type": "array", "minItems": 1, "items": family_schema(PERTURBATIONS, "kind")},
                {"type": "null"},
            ]
        },
        default=None,
        write=_write_perturbation,
        sparse=True,
    )
    domain: "DomainRule | None" = setting(
        _read_domain,
        "The values that it can have, whoever is in the table: a list, or from, to and cuts of "
        "numbers and days. Synthetic releases need it of every column whose hierarchy does not "
        "list its values (quasi-identifier, sensitive, plain).",
        _domain_schema,
        default=None,
        write=lambda made: None if made is None else made.to_plain(),
        sparse=True,
    )
    members: bool = setting(
        partial(read, bool),
        "Whether the codebook of a release lists the values behind each label (quasi-identifier "
        "with a hierarchy of kind csv, taxonomy or ordered with its order). It then lists all "
        "values of the hierarchy, including those that only suppressed people have. Known trees "
        "are always listed.",
        {"type": "boolean"},
        default=False,
        sparse=True,
    )

    @property
    def averaging(self) -> Averaging:
        """The number that the weights of a class become, if it is a weight."""
        return Averaging(self.round, self.perturb if isinstance(self.perturb, float) else None)

    @property
    def perturbations(self) -> tuple[Perturbation, ...]:
        """The changes of its values before all else, one after the other."""
        return self.perturb if isinstance(self.perturb, tuple) else ()

    def _contradictions(self, given: Mapping[str, object]) -> Faults:
        both = sorted({*self.secret} & {*self.harmless})
        if both:
            return [(("secret",), f"{both[0]!r} is among the harmless values too: choose one.")]
        if self.round is not None and self.perturb is not None:
            return [(("perturb",), "it is rounded already: choose 'round' or 'perturb'.")]
        uses = {
            "secret": (Role.SENSITIVE,),
            "harmless": (Role.SENSITIVE,),
            "known": (Role.SENSITIVE, Role.PLAIN),
            "width": (Role.SENSITIVE,),
            "spelling": (Role.SENSITIVE,),
            "hierarchy": (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.SET),
            "separator": (Role.SET,),
            "weight": (Role.QUASI_IDENTIFIER,),
            "levels": (Role.QUASI_IDENTIFIER,),
            "as": (Role.QUASI_IDENTIFIER,),
            "because": (Role.PLAIN, Role.SENSITIVE),
            "copy_of": (Role.IDENTIFIER, Role.DROPPED),
            "round": (Role.WEIGHT,),
            "domain": (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.PLAIN),
            "perturb": (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.PLAIN, Role.WEIGHT),
        }
        if isinstance(self.perturb, float) and self.role is not Role.WEIGHT:
            example = "{kind: noise, sd: 10%}"
            return [(("perturb",), f"a share is for weights. Say how, as in perturb: {example}")]
        if self.perturbations and self.role is Role.WEIGHT:
            text = "a weight is perturbed by a share of it only, as in perturb: 5%"
            return [(("perturb",), text)]
        if len([each for each in self.perturbations if each.random]) > 1 or any(
            each.random for each in self.perturbations[:-1]
        ):
            text = (
                "chance may change a column once, and last: what two draws reveal together cannot "
                "be computed. Keep one of them, after rounding and coding."
            )
            return [(("perturb",), text)]
        text = (
            "{!r} means nothing for a column that is {}: only {} columns have one. Remove it or "
            "change the role."
        )
        wrong = [key for key, roles in uses.items() if key in given and self.role not in roles]
        return [((key,), text.format(key, self.role, " and ".join(uses[key]))) for key in wrong[:1]]

    @classmethod
    def read(cls, value: object) -> Self:
        """Read a rule; its settings may also be given under its role, as in {plain: {…}}."""
        if isinstance(value, Mapping) and len(value) == 1:
            [(role, settings)] = value.items()
            if role in list(Role) and isinstance(settings, Mapping) and "role" not in settings:
                value = {"role": role, **settings}
        return super().read(value)

    @classmethod
    def _read_short(cls, value: object) -> Self:
        return cls(role=read_role(value))

    def relative_to(self, folder: Path) -> "ColumnRule":
        """Return the rule with the files it names in a folder."""
        if self.hierarchy is None:
            return self
        return self.replace(hierarchy=self.hierarchy.relative_to(folder))

    def to_plain(self) -> object:
        """Return what a policy file says for it, in the short form if that says it all."""
        settings: Any = super().to_plain()
        return settings if len(settings) > 1 else self.role.value


class UnownedRows(StrEnum):
    """What becomes of rows that do not say whose they are."""

    REFUSE = "refuse"
    LEAVE_OUT = "leave-out"


@dataclass(frozen=True, init=False)
class PersonRule(Part):
    """What a person is in the data: the rows with one value of a column, or each row by itself.

    Promises count rows. Without this rule an identifier that repeats is refused.

    Example:
        >>> PersonRule.read("patient_id").column
        'patient_id'
        >>> PersonRule.read({"rows": "a row is a vehicle, and its owners are not in the data"}).rows
        'a row is a vehicle, and its owners are not in the data'
    """

    example = '{rows: "why rows are meant"}, or the name of a column'

    column: str | None = setting(
        partial(read, str | None),
        "The column whose value is the same in all rows of a person.",
        {"type": ["string", "null"]},
        default=None,
        sparse=True,
    )
    rows: str | None = setting(
        _read_because,
        "Why each row is to be protected by itself, although a person may have several. The "
        "manifest of a release repeats it.",
        {"type": ["string", "null"], "minLength": 1},
        default=None,
        sparse=True,
    )

    missing: UnownedRows = setting(
        partial(read, UnownedRows),
        "What becomes of rows without a value in that column, which do not say whose they "
        "are: refuse the table, or leave-out.",
        type_schema(UnownedRows),
        default=UnownedRows.REFUSE,
        write=plain,
        sparse=True,
    )

    def _contradictions(self, given: Mapping[str, object]) -> Faults:
        if self.rows is not None and self.missing is not UnownedRows.REFUSE:
            return [
                (("missing",), "every row is a person, so that none is without one. Remove it.")
            ]
        if (self.column is None) == (self.rows is None):
            text = "must name a column, as in person: patient_id, or say why rows are meant, as in "
            return [((), text + 'person: {rows: "a row is a vehicle"}')]
        return []

    @classmethod
    def _read_short(cls, value: object) -> Self:
        return cls(column=value)

    def to_plain(self) -> object:
        """Return what a policy file says for it, in the short form if that says it all."""
        short = self.column is not None and self.missing is UnownedRows.REFUSE
        return self.column if short else super().to_plain()

    @classmethod
    def schema(cls, families: Families) -> Schema:
        """Describe it as JSON Schema: a column, or all settings."""
        return {"anyOf": [{"type": "string"}, super().schema(families)]}


def _read_said(name: str) -> Callable[[object], Any]:
    """Return a reader of a setting of `Reading`, which says itself what is allowed."""

    def read_said(value: object) -> object:
        # A comma is a text, whatever YAML takes it for.
        said = value if value is None or isinstance(value, str) else read(str, value)
        given = None if said is None or resolve(said) is None else str(said)
        return None if given is None else getattr(Reading(**{name: given}), name)  # type: ignore[arg-type]

    return read_said


def _read_skip(value: object) -> int:
    return Reading(skip=read(int, value)).skip


def _read_sheet(value: object) -> str | int | None:
    said = value if value is None or isinstance(value, str) else read(int, value)
    return Reading(sheet=said).sheet


def _one_text(name: str, means: str) -> Any:  # noqa: ANN401 - a field
    schema: Schema = {"type": ["string", "null"]}
    return setting(_read_said(name), means, schema, default=None, sparse=True)


@dataclass(frozen=True, init=False)
class InputRule(Part):
    """How a text file or a sheet is read. What is not said is found out, and told.

    Example:
        >>> InputRule(delimiter=";", decimal="comma", missing=["NA", "?"]).to_plain()
        {'delimiter': ';', 'decimal': ',', 'missing': ['NA', '?']}
    """

    example = '{delimiter: ";", decimal: ","}'

    delimiter: str | None = _one_text("delimiter", "The character between cells, as in ';' or tab.")
    encoding: str | None = _one_text(
        "encoding",
        "How characters are written as bytes: utf-8, utf-16, windows-1252, latin-9, mac-roman, …",
    )
    quote: str | None = _one_text(
        "quote", "The character around cells that hold the delimiter: \", ' or none."
    )
    decimal: str | None = _one_text("decimal", "The decimal mark of numbers: '.' or ','.")
    thousands: str | None = _one_text(
        "thousands", "The mark between thousands: '.', ',', \"'\", space or none."
    )
    missing: tuple[str, ...] = setting(
        _read_texts,
        'Cells that mean that nothing is known, as in [NA, "?"], besides empty ones.',
        _TEXTS,
        default=(),
        write=list,
        sparse=True,
    )
    skip: int = setting(
        _read_skip,
        "How many lines before the header are left out; rows, in a sheet.",
        {"type": "integer", "minimum": 0},
        default=0,
        sparse=True,
    )
    sheet: str | int | None = setting(
        _read_sheet,
        "The name or the number of the sheet, in a file of Excel or LibreOffice.",
        {"type": ["string", "integer", "null"], "minimum": 1},
        default=None,
        sparse=True,
    )

    def _contradictions(self, given: Mapping[str, object]) -> Faults:
        try:
            _ = self.reading
        except ParameterError as error:
            return [((error.name,), str(error))]
        return []

    @property
    def reading(self) -> Reading:
        """The settings, for those who open files."""
        return Reading(
            self.delimiter,
            self.encoding,
            self.quote,
            self.decimal,
            self.thousands,
            self.missing,
            self.skip,
            sheet=self.sheet,
        )


_LIMIT: Schema = {"type": ["number", "string"], "minimum": 0, "pattern": _PERCENT}
_SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}


def _read_limit(value: object) -> int | float:
    expected = "a share between 0 and 1, a percentage as in '5%', or a number of rows"
    share = _percentage(value)
    if share is not None:
        if share > 1:
            raise ParameterError("limit", str(value), "at most 100 %")
        return share
    number: int | float = read(int | float, value)
    if isinstance(number, float):
        require_number("limit", number)
        if not 0 <= number <= 1:
            raise ParameterError("limit", number, expected, why="a share is at most 1, or 100 %")
    else:
        require_int("limit", number, at_least=0)
    return number


@dataclass(frozen=True, init=False)
class Suppression(Part):
    """How many rows may be left out to keep the promises of the models.

    A limit with a point is a share of the rows (0.05), a whole number is a number of
    rows: `1` is one row and `1.0` all of them.

    Example:
        >>> Suppression(limit="29%").most_rows(100), Suppression(limit=3).most_rows(100)
        (29, 3)
    """

    limit: int | float = setting(
        _read_limit,
        "The most rows left out: a share (0.05 or 5%) or a number of rows (20).",
        _LIMIT,
        default=0,
    )
    rows: Literal["remove", "star"] = setting(
        partial(read, Literal["remove", "star"]),
        "What becomes of such a row: removed, or kept with every quasi-identifier replaced by *.",
        {"enum": ["remove", "star"]},
        default="remove",
    )
    unit: Literal["rows", "people"] = setting(
        partial(read, Literal["rows", "people"]),
        "What is left out where people are counted (person): the rows that break a promise, or "
        "the people they belong to, with all their rows. The limit counts the same.",
        {"enum": ["rows", "people"]},
        default="rows",
        sparse=True,
    )

    def most_rows(self, total: int) -> int:
        """Return how many of `total` rows, or people, may be left out."""
        if isinstance(self.limit, int):
            return min(self.limit, total)
        # The decimal that was written, not its binary neighbour: 29 % of 100 rows are 29.
        return int(Fraction(repr(self.limit)) * total)

    @classmethod
    def _read_short(cls, value: object) -> Self:
        return cls(limit=value)

    @classmethod
    def schema(cls, families: Families) -> Schema:
        """Describe it as JSON Schema: a limit, or all settings."""
        return {"anyOf": [_LIMIT, super().schema(families)]}


def _read_options(value: Mapping[str, object]) -> FrozenMap[object]:
    return FrozenMap({key: resolve(item) for key, item in value.items()})


@dataclass(frozen=True, init=False)
class Choice(Part):
    """A member of a family above the policy, by name and options; made later from its registry."""

    tag: ClassVar[str]
    """The key of the name in the long form."""

    family: ClassVar[str]
    """Which of `Families` it chooses from."""

    name: str = setting(partial(read, str), "The name of the one that is meant.", {})
    options: Mapping[str, Any] = setting(
        _read_options, "Its options, as they were given.", {}, default=FrozenMap()
    )

    @classmethod
    def read(cls, value: object) -> Self:
        """Read a name, a mapping of the name and the options, or an object made in Python."""
        if isinstance(value, cls):
            return value
        if is_dataclass(value) and hasattr(value, "name"):
            value = member_settings(value, cls.tag)
        given = keywords(value) if isinstance(value, Mapping) else {cls.tag: value}
        if cls.tag not in given:
            raise Fault(
                f"{cls.tag!r} is missing: it gives the name, as in "
                f"{{{cls.tag}: {cls.example}}}. Got {show(given)}"
            )
        name = read(str, given[cls.tag], (cls.tag,) if isinstance(value, Mapping) else ())
        options = cls._read_settings({key: each for key, each in given.items() if key != cls.tag})
        return cls(name=name, options=options)

    @classmethod
    def _read_settings(cls, given: dict[str, object]) -> dict[str, object]:
        return given

    def long_form(self) -> dict[str, object]:
        """Return its name and options as one mapping."""
        return {self.tag: self.name, **{key: plain(item) for key, item in self.options.items()}}

    def to_plain(self) -> object:
        """Return what a policy file says for it, in the short form if that says it all."""
        return self.long_form() if self.options else self.name

    def make(self, family: Mapping[str, type[Any]]) -> Any:  # noqa: ANN401 - a member of it
        """Make the member of the family that it names, or raise a `Fault`."""
        return choose(family, self.tag, self.to_plain())

    @classmethod
    def schema(cls, families: Families) -> Schema:
        """Describe a choice from its family."""
        family = getattr(families, cls.family)
        if family is None:
            return {"anyOf": [{"type": "string"}, {"type": "object", "required": [cls.tag]}]}
        return family_schema(family, cls.tag)


@dataclass(frozen=True, init=False)
class SearchRule(Choice):
    """Which search to use, by name, with its options as they were given.

    The searches themselves live above the policy; `make` asks their registry.
    """

    tag: ClassVar[str] = "search"
    family: ClassVar[str] = "searches"
    example = "best-first"

    def to_plain(self) -> object:
        """Return what a policy file says for it."""
        return self.long_form()


FULL_DOMAIN = "full-domain"
REGIONAL = "regional"


@dataclass(frozen=True)
class FullDomain:
    """One level per column for the whole table; `search` says how they are found."""

    name: ClassVar[str] = FULL_DOMAIN
    in_words: ClassVar[str] = (
        "Every value of a column is made equally coarse. Easy to explain and to analyse; loses "
        "most."
    )


@dataclass(frozen=True)
class Regional:
    """One cut through each column's hierarchy for the whole table.

    A value has the same label in all rows, and labels do not overlap: `73456` may stand beside
    `80***`, and not beside `734**`. It starts from the best levels, which `search` finds; labels
    are then taken apart as long as the models hold, and exchanged.

    Promises: every class keeps the models, and nothing more is lost than by the levels that
    `search` finds, by the policy's own loss. Does not promise the least possible loss, except
    where there are few cuts: then it is proven.

    Args:
        rounds: How often labels are lifted to make room for others; more takes longer and may
            lose less. 0 only takes labels apart.
    """

    name: ClassVar[str] = REGIONAL
    in_words: ClassVar[str] = (
        "Rare values are made coarser than common ones, the same in all rows. Easy to analyse; "
        "loses less."
    )

    rounds: int = 30

    def __post_init__(self) -> None:
        require_int("rounds", self.rounds, at_least=0)

    @classmethod
    def example(cls) -> Self:
        """Return a small valid instance."""
        return cls()


@dataclass(frozen=True, init=False)
class MethodRule(Choice):
    """How rows are recoded: `full-domain`, `regional`, or a method of local recoding.

    The local methods themselves live above the policy; `make` asks their registry.

    Example:
        >>> MethodRule.read("full-domain").local, MethodRule.read({"method": "top-down"}).local
        (False, True)
    """

    tag: ClassVar[str] = "method"
    family: ClassVar[str] = "methods"
    example = "top-down"

    def _contradictions(self, given: Mapping[str, object]) -> Faults:
        if self.name != FULL_DOMAIN or not self.options:
            return []
        option = next(iter(self.options))
        text = (
            f"{FULL_DOMAIN} has no options, got {option!r}. How the levels are looked for is "
            "said under search, as in search: {search: best-first, seconds: 60}"
        )
        return [((option,), text)]

    @property
    def local(self) -> bool:
        """Whether the same value may become different labels in different rows."""
        return self.name not in (FULL_DOMAIN, REGIONAL)

    def make(self, family: Mapping[str, type[Any]]) -> Any:  # noqa: ANN401 - a member of it
        """Make the local method it names (None: it is not local), or raise a `Fault`."""
        found: Mapping[str, type[Any]] = every_method({})
        if self.name not in found:
            # The others are imported only to be listed, if it is none of them.
            known = self.name in family
            found = {self.name: family[self.name]} if known else every_method(family)
        made = super().make(found)
        return None if isinstance(made, FullDomain | Regional) else made

    def make_regional(self) -> Regional | None:
        """Make the settings of regional recoding, if that is meant, or raise a `Fault`."""
        if self.name != REGIONAL:
            return None
        made: Regional = super().make({REGIONAL: Regional})
        return made


@dataclass(frozen=True, init=False)
class DecouplingRule(Choice):
    """How a table is published in parts with weak links, with the settings as they were given.

    The methods themselves live above the policy; `make` asks their registry. The settings `columns`
    and `together` name columns of the data, whichever method has them: they are taken as lists of
    names, so that the policy can hold them against its own.

    Example:
        >>> given = {"method": "slicing", "l": 3, "columns": ["age+zip", "ill"]}
        >>> rule = DecouplingRule.read(given)
        >>> rule.name, rule.columns
        ('slicing', (('age', 'zip'), ('ill',)))
    """

    tag: ClassVar[str] = "method"
    family: ClassVar[str] = "decouplings"
    example = "break-merge"

    @classmethod
    def _read_settings(cls, given: dict[str, object]) -> dict[str, object]:
        read = {
            key: read_name_lists(given[key], (key,))
            for key in ("columns", "together")
            if given.get(key) is not None
        }
        return {**given, **read}

    @property
    def columns(self) -> tuple[tuple[str, ...], ...] | None:
        """The columns that are published side by side; None if that is not said."""
        return self.options.get("columns")

    @property
    def together(self) -> tuple[tuple[str, ...], ...]:
        """The columns that stay together, each list as one."""
        return self.options.get("together") or ()

    @classmethod
    def schema(cls, families: Families) -> Schema:
        """Describe a choice of a decoupling, or of none."""
        return {"anyOf": [*super().schema(families)["anyOf"], {"type": "null"}]}


# Networks are imported where they are asked for: few policies say anything of them.


@dataclass(frozen=True, init=False)
class ProfileRule(Choice):
    """Which rule people answer to, by the name of its profile or the file it is written in.

    The profiles themselves live above the policy; `make` asks their registry. Options called
    `file`, or whose names end so, are files.

    Example:
        >>> ProfileRule.read("wp216").name, ProfileRule.read("ours.yaml").to_plain()
        ('wp216', 'ours.yaml')
    """

    tag: ClassVar[str] = "profile"
    family: ClassVar[str] = "profiles"
    example = "wp216"

    @classmethod
    def read(cls, value: object) -> Self:
        """Read a name, a file, or a mapping of the name and the settings."""
        if isinstance(value, str) and value.endswith((".yaml", ".yml")):
            value = {cls.tag: _WRITTEN, _WRITTEN: value}
        return super().read(value)

    @classmethod
    def _read_settings(cls, given: dict[str, object]) -> dict[str, object]:
        return {k: Path(str(v)) if _names_file(k) and v else v for k, v in given.items()}

    def relative_to(self, folder: Path) -> Self:
        """Return the same with the files it names in a folder."""
        read = {k: folder / v if isinstance(v, Path) else v for k, v in self.options.items()}
        return self.replace(options=FrozenMap(read))

    def long_form(self) -> dict[str, object]:
        """Return its name and settings as one mapping."""
        read = {k: str(v) if isinstance(v, Path) else plain(v) for k, v in self.options.items()}
        return {self.tag: self.name, **read}

    def to_plain(self) -> object:
        """Return what a policy file says for it, in the short form if that says it all."""
        file = self.options.get(_WRITTEN)
        return super().to_plain() if self.name != _WRITTEN or file is None else str(file)

    def make(self, family: Mapping[str, type[Any]]) -> Any:  # noqa: ANN401 - a member of it
        """Make the profile that it names, or raise a `Fault`."""
        return choose(family, self.tag, self.long_form())

    @classmethod
    def schema(cls, families: Families) -> Schema:
        """Describe a choice of a profile, or of none."""
        return {"anyOf": [*super().schema(families)["anyOf"], {"type": ["string", "null"]}]}


_WRITTEN = "file"


def _names_file(option: str) -> bool:
    return option == _WRITTEN or option.endswith(f"_{_WRITTEN}")


def _read_learner(value: object) -> "Learner | None":
    from sfumato.networks import LEARNERS, Learner

    if resolve(value) is None:
        return None
    return value if isinstance(value, Learner) else choose(LEARNERS, "learner", value)


def _learner_schema(_: Families) -> Schema:
    from sfumato.networks import LEARNERS

    return {"anyOf": [*family_schema(LEARNERS, "learner")["anyOf"], {"type": "null"}]}


def _read_network(value: object) -> str | tuple[tuple[str, str], ...] | None:
    from sfumato.networks.given import arrows_of

    if resolve(value) is None:
        return None
    if isinstance(value, list | tuple):
        value = [str(each) if isinstance(each, str) else read(tuple[str, str], each, (position,))
                 for position, each in enumerate(value)]  # fmt: skip
    return arrows_of(value)  # type: ignore[arg-type] # anything else is refused there


def _write_network(given: str | tuple[tuple[str, str], ...] | None) -> object:
    """Write arrows as text, or as pairs where a name would not be read back."""
    if given is None or isinstance(given, str):
        return given
    return [
        f"{a} -> {b}" if all(_PLAIN_NAME.fullmatch(name) for name in (a, b)) else [a, b]
        for a, b in given
    ]


_PLAIN_NAME = re.compile(r"\w(?:[\w .-]*\w)?")
_NETWORK: Schema = {
    "anyOf": [
        {"type": ["string", "null"]},
        {
            "type": "array",
            "items": {
                "anyOf": [
                    {"type": "string"},
                    {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
                ]
            },
        },
    ]
}


@dataclass(frozen=True, init=False)
class DetectionRule(Part):
    """How dependencies between columns are looked for: learned, or along a network that is given.

    Example:
        >>> rule = DetectionRule(learner={"learner": "weka-ics", "most_given": 0}, prior=0.5)
        >>> rule.learner.most_given, DetectionRule(network="age -> zip -> sex").network
        (0, (('age', 'zip'), ('zip', 'sex')))
    """

    example = "{learner: weka-ics, prior: 0.5}"
    names_files: ClassVar[tuple[str, ...]] = ("network",)

    learner: "Learner | None" = setting(
        _read_learner,
        "How networks are learned, as in {learner: weka-ics, most_given: 0}; without it, by ic.",
        _learner_schema,
        default=None,
        write=partial(member_settings, tag="learner"),
        sparse=True,
    )
    network: str | tuple[tuple[str, str], ...] | None = setting(
        _read_network,
        "A network by an expert, instead of a learned one: a BIF file, or a "
        "list of arrows, as in [age -> zip, zip -> sex].",
        _NETWORK,
        default=None,
        write=_write_network,
        sparse=True,
    )
    order: tuple[str, ...] = setting(
        partial(read, tuple[str, ...]),
        "Columns that come first, for learners that depend on the order of columns.",
        type_schema(tuple[str, ...]),
        default=(),
        write=plain,
        sparse=True,
    )
    prior: float = setting(
        _read_number("prior", float, at_least=0),
        "What is added to every cell of a table of probabilities.",
        {"type": "number", "minimum": 0},
        default=0.0,
        sparse=True,
    )

    def _contradictions(self, given: Mapping[str, object]) -> Faults:
        if self.network is not None and self.learner is not None:
            text = "a network that is given is not learned: leave out the learner or the network"
            return [(("learner",), text)]
        twice = [name for i, name in enumerate(self.order) if name in self.order[:i]]
        return [(("order",), f"{name!r} is there twice") for name in twice[:1]]

    def relative_to(self, folder: Path) -> Self:
        """Return the same with the file of its network in a folder."""
        if not isinstance(self.network, str):
            return self
        return self.replace(network=str(folder / self.network))

    def among(self, columns: Collection[str]) -> Self:
        """Return the same for some columns only: arrows between them, and their order.

        >>> DetectionRule(network="age -> zip -> sex", order=["zip"]).among(["age", "zip"]).network
        (('age', 'zip'),)
        """
        order = tuple(name for name in self.order if name in columns)
        if not isinstance(self.network, tuple):
            return self.replace(order=order)
        network = tuple(edge for edge in self.network if {*edge} <= {*columns})
        return self.replace(order=order, network=network)

    @property
    def columns(self) -> list[tuple[KeyPath, str]]:
        """The columns it names, each with where it names it."""
        arrows = self.network if isinstance(self.network, tuple) else ()
        return [
            *((("network",), name) for name in dict.fromkeys(n for edge in arrows for n in edge)),
            *((("order", i), name) for i, name in enumerate(self.order)),
        ]


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


def every_method(
    methods: Mapping[str, type[T]],
) -> dict[str, type[T | FullDomain | Regional]]:
    """Return every method there is: those that need no registry, then the others.

    >>> list(every_method({}))
    ['full-domain', 'regional']
    """
    return {FULL_DOMAIN: FullDomain, REGIONAL: Regional, **methods}


_read_bound = _read_number("a risk level", float, at_least=0, at_most=1)


@dataclass(frozen=True, init=False)
class RiskLevels(Part):
    """From which probability on a risk is moderate, high or very high; below it is low.

    Example:
        >>> [RiskLevels().of(p) for p in (0.1, 0.2, 0.6, 0.75)]
        ['low', 'moderate', 'high', 'very high']
    """

    example = "{high: 0.5}"

    moderate: float = setting(_read_bound, "Where moderate risk begins.", _SHARE, default=0.20)
    high: float = setting(_read_bound, "Where high risk begins.", _SHARE, default=0.50)
    very_high: float = setting(_read_bound, "Where very high risk begins.", _SHARE, default=0.75)

    def _contradictions(self, given: Mapping[str, object]) -> Faults:
        if self.moderate <= self.high <= self.very_high:
            return []
        bounds = f"{self.moderate:g}, {self.high:g}, {self.very_high:g}"
        return [((), f"moderate, high and very_high must rise, got {bounds}")]

    def of(self, probability: float) -> str:
        """Return the level of a probability."""
        names = [name for name, start in self.bounds().items() if probability >= start]
        return names[-1] if names else "low"

    def bounds(self) -> Mapping[str, float]:
        """Return where each level begins."""
        return {
            "low": 0.0,
            "moderate": self.moderate,
            "high": self.high,
            "very high": self.very_high,
        }

    def to_plain(self) -> dict[str, float]:
        """Return what a policy file says for it."""
        return {"moderate": self.moderate, "high": self.high, "very_high": self.very_high}


def _read_people(value: object) -> int:
    people: int = read(int, value)
    require_int("people", people, at_least=0)
    return people


def _read_others(value: object) -> int | None:
    others: int | None = read(int | None, value)
    if others is not None:
        require_int("others", others, at_least=1)
    return others


@dataclass(frozen=True, init=False)
class Acceptance(Part):
    """A finding that the publisher knows of and accepts, with the reason and a name.

    It stays visible in the verdict, the report and the evidence, and no release with one is
    answered with a plain *yes*.

    Example:
        >>> known = Acceptance(
        ...     column="death", because="who has a cause of death is dead", by="A. Turing")
        >>> known.covers("dependency", ("death",), 120), known.covers("linking", (), 120)
        (True, False)
        >>> print(known)
        Accepted by A. Turing: who has a cause of death is dead.
    """

    example = "{column: death, because: it follows from the cause, by: A. Turing}"

    column: str = setting(
        partial(read, str), "The sensitive column that is revealed.", {"type": "string"}
    )
    because: str = setting(partial(read, str), "Why it is accepted.", {"type": "string"})
    by: str = setting(partial(read, str), "Who accepts it.", {"type": "string"})
    attack: str | None = setting(
        partial(read, str | None),
        "The attack that finds it; any attack if left out.",
        {"type": ["string", "null"]},
        default=None,
        sparse=True,
    )
    people: int | None = setting(
        _read_number("people", int | None, at_least=0),
        "For how many people at most; without it, any number.",
        {"type": ["integer", "null"], "minimum": 0},
        default=None,
        sparse=True,
    )

    def _contradictions(self, given: Mapping[str, object]) -> Faults:
        return [
            ((name,), f"{name!r} is empty: an acceptance says {means}")
            for name, means in (("because", "why"), ("by", "who"), ("column", "of what"))
            if not getattr(self, name).strip()
        ]

    def to_plain(self) -> dict[str, object]:
        """Return what a policy file says for it."""
        settings: Any = super().to_plain()
        return dict(settings)

    def covers(self, attack: str, columns: Sequence[str], people: int) -> bool:
        """Return whether it is this finding: all columns that an attack tells."""
        return (
            bool(columns)
            and all(column == self.column for column in columns)
            and self.attack in (None, attack)
            and (self.people is None or people <= self.people)
        )

    def __str__(self) -> str:
        return f"Accepted by {self.by}: {self.because.rstrip('.')}."


@dataclass(frozen=True, init=False)
class Tolerance(Part):
    """When attacks speak against a release.

    A person is at risk if what an adversary believes of them harms them very highly: see
    `sfumato.harm.HarmRule`.

    Example:
        >>> Tolerance().rule(RiskLevels()), Tolerance(threshold=0.9).rule(RiskLevels()).very_high
        (HarmRule(moderate=0.2, high=0.5, very_high=0.75), 0.9)
    """

    example = "{threshold: 0.5}"

    threshold: float | None = setting(
        _read_number("threshold", float | None, above=0, at_most=1),
        "Probability from which a person is at risk; without it, where very high risk begins.",
        {"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 1},
        default=None,
        sparse=True,
    )
    people: int = setting(
        _read_people,
        "How many people may be at risk by any one attack.",
        {"type": "integer", "minimum": 0},
        default=0,
        sparse=True,
    )
    others: int | None = setting(
        _read_others,
        "How many other people of a class an adversary may know the sensitive values of. Without "
        "it, one is assumed, and what that reveals is reported without refusing the release.",
        {"type": ["integer", "null"], "minimum": 1},
        default=None,
        sparse=True,
    )

    def rule(self, levels: RiskLevels, threshold: float | None = None) -> HarmRule:
        """Return the rule for harm with the bounds of a policy, or another threshold."""
        chosen = self.threshold if threshold is None else threshold
        return harm_rule(levels, chosen)


def harm_rule(levels: RiskLevels, threshold: float | None = None) -> HarmRule:
    """Return the rule for harm by some risk levels; a threshold is where *very high* begins."""
    if threshold is None:
        return HarmRule(levels.moderate, levels.high, levels.very_high)
    # What is less than high by the threshold cannot be high by the levels.
    return HarmRule(min(levels.moderate, threshold), min(levels.high, threshold), threshold)
