"""The policy: what must hold, and what may be done to the data to make it hold."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from pydantic import Field, PlainValidator, PrivateAttr, model_validator

from sfumato.errors import ParameterError, PolicyError, SfumatoError, some, suggest
from sfumato.losses import LOSSES, Loss, NormalizedLoss
from sfumato.models import MODELS, PrivacyModel
from sfumato.policy.columns import (
    FULL_DOMAIN,
    ColumnRule,
    DecouplingRule,
    MethodRule,
    Missing,
    RiskLevels,
    SearchRule,
    Suppression,
    Tolerance,
    read_role,
)
from sfumato.policy.document import Places, parse, read_file
from sfumato.policy.family import choose, written
from sfumato.policy.values import (
    Fault,
    Faults,
    FrozenMap,
    Part,
    as_type,
    collected,
    policy_error,
    read,
    resolve,
    shown,
    to_text,
)
from sfumato.schema import Role
from sfumato.slicing import Columns

# Finds what a policy asks for that cannot be had together, before any data is read.


def contradictions(policy: "Policy") -> Faults:
    """List everything in a policy that does not fit together."""
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
    return [*faults, *_decoupling_faults(policy)]


def _decoupling_faults(policy: "Policy") -> Faults:
    """Hold the columns that a decoupling puts together against those of the policy."""
    columns = policy.decouple.columns if policy.decouple is not None else None
    if policy.decouple is None or columns is None:
        return []
    known = (*policy.quasi_identifiers, *policy.sensitive)
    at = ("decouple", "columns")
    faults: Faults = [
        ((*at, position), f"{policy.decouple.name} {_unknown(policy, name, known)}")
        for position, names in enumerate(columns)
        for name in names
        if name not in known
    ]
    if faults or len(policy.sensitive) != 1:
        return faults
    try:
        Columns.of(columns, policy.quasi_identifiers, policy.sensitive[0])
    except SfumatoError as error:
        return [(at, str(error))]
    return []


def _unknown(policy: "Policy", name: str, known: Sequence[str]) -> str:
    near = suggest(name, known)
    if name not in policy.columns:
        return f"publishes {name!r}, which is not under columns. {near}"
    role = policy.columns[name].role
    taken = "it takes quasi-identifiers and sensitive columns"
    return f"publishes {name!r}, which is {role}: {taken}. {near}"


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
        elif model.needs_hierarchy and not policy.columns[name].hierarchy:
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


# Reads the settings at the top of a policy, each with its own words for what is wrong.


T = TypeVar("T")


def read_version(value: object) -> int:
    """Read the version of the format."""
    if read(int, value) != 1:
        raise Fault(f"must be 1, the only version of policies there is, got {shown(value)}")
    return 1


def read_columns(value: object) -> FrozenMap[ColumnRule]:
    """Read the rule of every column."""
    if not isinstance(value, Mapping):
        raise Fault(
            "must be a mapping of column names to their roles, as in {age: quasi-identifier}, "
            f"got {shown(value)}"
        )
    faults: Faults = []
    for name in value:
        if not isinstance(name, str) or not name:
            faults.append(((str(name),), f"a column name must be a text, got {shown(name)}"))
    rules = _each(value, ColumnRule.of, faults)
    return FrozenMap(dict(rules))


def read_models(value: object) -> tuple[PrivacyModel, ...]:
    """Read the list of models."""
    if not isinstance(value, list | tuple):
        raise Fault(f"must be a list, as in [{{model: k-anonymity, k: 5}}], got {shown(value)}")
    if not value:
        raise Fault(
            "there is no model, so nothing would be promised. "
            f"Add at least one, as in {{model: k-anonymity, k: 5}}. {suggest('', sorted(MODELS))}"
        )
    return tuple(_each(dict(enumerate(value)), read_model, []).values())


def read_model(value: object) -> PrivacyModel:
    """Read one model."""
    return value if isinstance(value, PrivacyModel) else choose(MODELS, "model", value)


def read_loss(value: object) -> Loss:
    """Read the loss."""
    return value if isinstance(value, Loss) else choose(LOSSES, "loss", value)


def _each(items: Mapping[Any, object], make: Callable[[object], T], faults: Faults) -> dict[Any, T]:
    """Read all items and report the mistakes of all of them together."""
    made: dict[Any, T] = {}
    for key, item in items.items():
        try:
            made[key] = make(item)
        except (PolicyError, Fault) as error:
            faults.extend(collected(error, key))
    if faults:
        raise policy_error(faults, Places())
    return made


def read_other(value: object) -> Role | None:
    """Read the role of columns not named."""
    role = None if resolve(value) is None else read_role(value)
    if role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        raise Fault(
            f"a column that is {role} must be named under columns, so that nobody overlooks it. "
            f"Allowed: {some([Role.DROPPED.value, Role.PLAIN.value, Role.IDENTIFIER.value])}."
        )
    return role


def read_decoupling(value: object) -> DecouplingRule | None:
    """Read how a table is decoupled; nothing leaves it open."""
    return None if resolve(value) is None else DecouplingRule.of(value)


def read_population(value: object) -> str | None:
    """Read the name of the population's file."""
    path: Path | None = read(Path | None, value)
    return None if path is None else str(value)


class Policy(Part):
    """What must hold, and what may be done to the data to make it hold.

    The same object whether it was written in YAML or in Python; it cannot be changed
    once it is made, and it is never made with a contradiction in it.

    Example:
        >>> from sfumato.models import KAnonymity
        >>> policy = Policy(
        ...     columns={"name": "identifier", "age": "quasi-identifier", "ill": "sensitive"},
        ...     models=[KAnonymity(5)],
        ... )
        >>> policy.quasi_identifiers, policy.suppression.limit
        (('age',), 0)
        >>> Policy.from_yaml(policy.to_yaml()) == policy
        True
    """

    version: Annotated[int, PlainValidator(read_version)] = Field(
        1, description="The version of the policy format."
    )
    columns: Annotated[Mapping[str, ColumnRule], PlainValidator(read_columns)] = Field(
        description="The role of each column, as in {age: quasi-identifier, illness: sensitive}."
    )
    other: Annotated[Role | None, PlainValidator(read_other)] = Field(
        None, description="The role of columns not named; without it, such a column is an error."
    )
    models: Annotated[tuple[PrivacyModel, ...], PlainValidator(read_models)] = Field(
        description="What every class of people must keep, as in [{model: k-anonymity, k: 5}]."
    )
    loss: Annotated[Loss, PlainValidator(read_loss)] = Field(
        NormalizedLoss(), description="What a good release is: the loss to keep small."
    )
    method: Annotated[MethodRule, PlainValidator(MethodRule.of)] = Field(
        MethodRule(name=FULL_DOMAIN),
        description="How rows are recoded: one level per column for all of them (full-domain), or "
        "each only as far as it must be (a method of local recoding).",
    )
    search: Annotated[SearchRule, PlainValidator(SearchRule.of)] = Field(
        SearchRule(name="best-first"),
        description="How the best levels are looked for; for full-domain only.",
    )
    suppression: Annotated[Suppression, PlainValidator(Suppression.of)] = Field(
        Suppression(), description="How many rows may be left out, and how."
    )
    missing: Annotated[Missing, as_type(Missing)] = Field(
        Missing.OWN_VALUE, description="What a missing value of a quasi-identifier is."
    )
    decouple: Annotated[DecouplingRule | None, PlainValidator(read_decoupling)] = Field(
        None,
        description="How the table is published in parts, as in {method: slicing, l: 3}, when it "
        "is decoupled; without it, by break-merge.",
    )
    population: Annotated[str | None, PlainValidator(read_population)] = Field(
        None, description="A table of everybody the data was drawn from, for models that ask."
    )
    risk_levels: Annotated[RiskLevels, PlainValidator(RiskLevels.read)] = Field(
        RiskLevels(), description="From which probability on a risk is moderate, high, very high."
    )
    verdict: Annotated[Tolerance, PlainValidator(Tolerance.read)] = Field(
        Tolerance(), description="When attacks speak against a release."
    )
    _places: Places = PrivateAttr(Places())

    @model_validator(mode="after")
    def _contradicts_nothing(self) -> Self:
        faults = contradictions(self)
        if faults:
            raise policy_error(faults, Places())
        return self

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a policy file; files it names are relative to its folder."""
        if not isinstance(path, str | PathLike):
            raise ParameterError("policy", path, "a policy or the path of a policy file")
        file = Path(path)
        return cls.from_yaml(read_file(file), origin=str(file), folder=file.parent)

    @classmethod
    def from_yaml(
        cls, text: str, *, origin: str = "policy", folder: str | PathLike[str] | None = None
    ) -> Self:
        """Read a policy from text.

        Args:
            text: The YAML.
            origin: What to call it in messages, for example its file.
            folder: What file names in it are relative to; None leaves them as they are.
        """
        document = parse(text, origin=origin)
        if document.root is None or (isinstance(document.root, str) and not document.root):
            raise PolicyError(
                f"{origin}: the policy is empty. It needs at least columns and models."
            )
        if not isinstance(document.root, dict):
            raise PolicyError(
                f"{document.places.of(())}: a policy is a mapping with the keys columns and "
                f"models, got {shown(document.root)}"
            )
        try:
            policy = cls(**document.root)
        except PolicyError as error:
            raise policy_error(error.faults, document.places) from None
        policy._places = document.places
        return policy if folder is None else policy._relative_to(Path(folder))

    def _relative_to(self, folder: Path) -> Self:
        columns = {name: rule.relative_to(folder) for name, rule in self.columns.items()}
        population = self.population
        if population is not None and "://" not in population:
            population = str(folder / population)
        return self.model_copy(update={"columns": FrozenMap(columns), "population": population})

    def to_yaml(self) -> str:
        """Write the policy as text that reads back as the same policy."""
        settings: dict[str, object] = {
            "version": self.version,
            "columns": {name: rule.written() for name, rule in self.columns.items()},
            "other": self.other and self.other.value,
            "models": [written(model, "model") for model in self.models],
            "loss": written(self.loss, "loss"),
            "method": self.method.written(),
            # A local method searches no lattice, and then there is nothing to say about it.
            "search": None if self.method.local else self.search.written(),
            "suppression": self.suppression.written(),
            "missing": self.missing.value,
            "decouple": self.decouple and self.decouple.written(),
            "population": self.population,
            "risk_levels": self.risk_levels.written(),
            "verdict": self.verdict.written(),
        }
        return to_text({key: value for key, value in settings.items() if value is not None})

    @classmethod
    def json_schema(
        cls,
        *,
        searches: Mapping[str, type] | None = None,
        methods: Mapping[str, type] | None = None,
        decouplings: Mapping[str, type] | None = None,
    ) -> dict[str, Any]:
        """Describe policy files as JSON Schema (2020-12), for editors and forms.

        Args:
            searches: The searches there are; None leaves their names and options open.
            methods: The methods of local recoding there are; None leaves them open too.
            decouplings: The ways to decouple there are; None leaves them open too.
        """
        from sfumato.policy.schema import policy_schema

        return policy_schema(searches, methods, decouplings)

    def with_method(self, method: object) -> Self:
        """Give the same policy with another method, checked as if it had been written there.

        Args:
            method: A name, a mapping of the name and the options, or an object made in Python.

        >>> from sfumato.models import KAnonymity
        >>> policy = Policy(columns={"age": "quasi-identifier"}, models=[KAnonymity(5)])
        >>> policy.with_method("top-down").method.name, policy.method.name
        ('top-down', 'full-domain')
        """
        try:
            rule = MethodRule.of(method)
        except (PolicyError, Fault) as error:
            raise policy_error(collected(error, "method"), Places()) from None
        changed = self.model_copy(update={"method": rule})
        places = self._places.without("method")
        faults = contradictions(changed)
        if faults:
            raise policy_error(faults, places)
        changed._places = places  # noqa: SLF001 - one of us
        return changed

    def with_role(self, role: Role) -> tuple[str, ...]:
        """Give the named columns of a role, in the order of the policy."""
        return tuple(name for name, rule in self.columns.items() if rule.role is role)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns to generalise, in the order that levels have."""
        return self.with_role(Role.QUASI_IDENTIFIER)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The columns that models may protect."""
        return self.with_role(Role.SENSITIVE)

    def check_against(self, columns: Sequence[str]) -> dict[str, Role]:
        """Refuse data whose columns are not those of the policy; give the role of each.

        >>> from sfumato.models import KAnonymity
        >>> columns = {"agee": "quasi-identifier"}
        >>> policy = Policy(columns=columns, models=[KAnonymity(5)], other="plain")
        >>> policy.check_against(["age", "sex"])
        Traceback (most recent call last):
        sfumato.errors.PolicyError: policy, columns.agee: the data has no column 'agee'. Did you
        mean 'age'? Known: 'age', 'sex'.
        """
        faults: Faults = [
            (("columns", name), f"the data has no column {name!r}. {suggest(name, list(columns))}")
            for name in self.columns
            if name not in columns
        ]
        unnamed = [name for name in columns if name not in self.columns]
        if unnamed and self.other is None:
            text = (
                f"the data has columns that the policy does not name: {some(unnamed, most=20)}. "
                "Add each with its role, or say what becomes of all of them, as in other: dropped"
            )
            faults.append((("columns",), text))
        if faults:
            raise policy_error(faults, self._places)
        other = self.other or Role.DROPPED
        return {
            name: self.columns[name].role if name in self.columns else other for name in columns
        }

    def make_search(self, searches: Mapping[str, type[T]]) -> T:
        """Make the search that the policy names out of those there are."""
        try:
            return self.search.make(searches)
        except Fault as fault:
            raise policy_error(collected(fault, "search"), self._places) from None

    def make_method(self, methods: Mapping[str, type[T]]) -> T | None:
        """Make the method of local recoding that the policy names; None for full-domain."""
        try:
            return self.method.make(methods)
        except Fault as fault:
            places = self._places if ("method",) in self._places.lines else Places()
            raise policy_error(collected(fault, "method"), places) from None

    def make_decoupling(self, decouplings: Mapping[str, type[T]]) -> T | None:
        """Make the decoupling that the policy names; None if it names none."""
        if self.decouple is None:
            return None
        try:
            return self.decouple.make(decouplings)
        except Fault as fault:
            raise policy_error(collected(fault, "decouple"), self._places) from None
