"""The policy: what must hold, and what may be done to the data to make it hold."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields
from difflib import get_close_matches
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias, TypeVar, overload

from sfumato.dataclasses import dataclass
from sfumato.derivations import DERIVATIONS, Derivation, Preparation, Shift
from sfumato.derivations.dates import DateForm
from sfumato.errors import ParameterError, PolicyError, SfumatoError, some, suggest
from sfumato.files import is_address
from sfumato.files.reading import Reading, TextFile
from sfumato.losses import LOSSES, Loss, NormalizedLoss
from sfumato.models import MODELS, PrivacyModel
from sfumato.perturbations import Perturbation
from sfumato.policy.adversaries import Knows
from sfumato.policy.document import (
    Fault,
    Faults,
    LinePlaces,
    faults_of,
    parse,
    plain,
    policy_error,
    read,
    read_file,
    resolve,
    show,
    to_text,
    type_schema,
)
from sfumato.policy.parts import (
    FULL_DOMAIN,
    REGIONAL,
    ROLES,
    Acceptance,
    ColumnRule,
    DecouplingRule,
    DetectionRule,
    Families,
    FrozenMap,
    InputRule,
    MethodRule,
    Missing,
    Part,
    PersonRule,
    ProfileRule,
    PublishAs,
    Regional,
    RiskLevels,
    SearchRule,
    Spelling,
    Suppression,
    Tolerance,
    UnownedRows,
    choose,
    every_method,
    family_schema,
    keywords,
    member_settings,
    part,
    read_derivation,
    read_role,
    setting,
)
from sfumato.populations import require_fraction
from sfumato.populations.weights import Averaging
from sfumato.schema import Columns, Role
from sfumato.text import text_of

T = TypeVar("T")

_OTHERS = [Role.DROPPED.value, Role.PLAIN.value, Role.IDENTIFIER.value]

BEST_FIRST = SearchRule(name="best-first")


def contradictions(policy: "Policy") -> Faults:
    """List everything in a policy that does not fit together."""
    faults: Faults = []
    if not policy.quasi_identifiers and not policy.sets:
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
    if policy.method.local and policy.search != BEST_FIRST:
        text = (
            f"says how a lattice of levels is searched, and the method {policy.method.name} "
            f"searches none. Remove it, or choose method: {FULL_DOMAIN} or {REGIONAL}"
        )
        faults.append((("search",), text))
    faults.extend(
        (
            ("accept", position, "column"),
            f"{each.column!r} is not a sensitive column. {suggest(each.column, policy.sensitive)}",
        )
        for position, each in enumerate(policy.accept)
        if each.column not in policy.sensitive
    )
    return [
        *faults,
        *_fraction_faults(policy),
        *_weight_faults(policy),
        *_mean_faults(policy),
        *_perturbation_faults(policy),
        *_member_faults(policy),
        *_set_faults(policy),
        *_person_faults(policy),
        *_household_faults(policy),
        *_suppression_faults(policy),
        *_derivation_faults(policy),
        *_decoupling_faults(policy),
        *_detection_faults(policy),
    ]


def _fraction_faults(policy: "Policy") -> Faults:
    """List models that take another share of the population to be in the data than the policy."""
    faults: Faults = []
    for position, model in enumerate(policy.models):
        share = getattr(model, "fraction", None)
        if share is not None and policy.sampling_fraction not in (None, share):
            text = (
                f"{model.name} takes a share of {share} of the population to be in the data, and "
                f"sampling_fraction says {policy.sampling_fraction}. Leave sampling_fraction out, "
                "or say the same in both."
            )
            faults.append((("models", position, "fraction"), text))
    return faults


def _perturbation_faults(policy: "Policy") -> Faults:
    """List what cannot be promised, or done, where chance changes values."""
    faults: Faults = []
    drawn = policy.randomised
    for position, model in enumerate(policy.models):
        column = getattr(model, "column", None)
        if column in drawn and policy.columns[str(column)].role is Role.SENSITIVE:
            text = (
                f"{model.name} would count published values of {column!r}, and chance changes them "
                f"({_kind(policy, str(column))}): several published values may be one true value, "
                "so nothing would be promised of true ones. Remove the model or the perturbation. "
                "Attacks judge what is learned of the true values."
            )
            faults.append((("models", position), text))
        known = [name for name in drawn if policy.columns[name].role is Role.QUASI_IDENTIFIER]
        if known and model.of_population and not model.of_weights:
            text = (
                f"{model.name} compares with people outside the data by true values, and chance "
                f"changes those of {known[0]!r} ({_kind(policy, known[0])}). Remove one of the two."
            )
            faults.append((("models", position), text))
    if policy.counted_person is not None:
        for name, chain in policy.perturbations.items():
            if any(each.rearranges for each in chain):
                text = (
                    f"{_kind(policy, name)} exchanges values between rows, and people have "
                    "several: their rows would not fit together. Use noise or pram."
                )
                faults.append((("columns", name, "perturb"), text))
    if policy.decouple is not None and policy.perturbations:
        text = (
            "what is decoupled is grouped by true values, and "
            f"{some(policy.perturbations)} is perturbed. Remove one of the two."
        )
        faults.append((("decouple",), text))
    for name, chain in policy.perturbations.items():
        own = [each for member in chain for each in member.within if each == name]
        if own:
            text = "values are exchanged within levels of other columns, not of its own."
            faults.append((("columns", name, "perturb"), text))
    return faults


def _kind(policy: "Policy", name: str) -> str:
    return policy.perturbations[name][-1].name


def _weight_faults(policy: "Policy") -> Faults:
    """List why weights cannot be published as one number per class.

    A class of one person would be published with that person's own weight.
    """
    if not policy.weights:
        return []
    at = ("columns", policy.weights[0])
    if policy.missing is Missing.MATCHES_ANY:
        text = (
            "a weight is published as one number for all who look alike, and with missing: "
            f"{policy.missing} a row with a missing cell may be alone in how it looks. Choose "
            f"missing: {Missing.OWN_VALUE} or {Missing.SUPPRESS}, or give it the role dropped."
        )
        return [(at, text)]
    if all((model.smallest_class or 1) < 2 for model in policy.models):
        text = (
            "a weight is published as the mean of its class, and no model promises that a class "
            "has two people or more. Add one, as in {model: k-anonymity, k: 5}, or give it the "
            "role dropped."
        )
        return [(at, text)]
    return []


def _mean_faults(policy: "Policy") -> Faults:
    """List why columns cannot be numbers of classes: a class of one would tell the value itself."""
    of_classes = (PublishAs.MEAN, PublishAs.MEDIAN)
    asked = [name for name, rule in policy.columns.items() if rule.as_ in of_classes]
    if not asked or any((model.smallest_class or 1) >= 2 for model in policy.models):
        return []
    text = (
        f"it is published as the {policy.columns[asked[0]].as_} of its class, and no model "
        "promises that a class has two people or more. Add one, as in {model: k-anonymity, k: 5}, "
        "or choose bounds or midpoint."
    )
    return [(("columns", asked[0], "as"), text)]


def _member_faults(policy: "Policy") -> Faults:
    """List the columns whose labels stand for values that only a table knows."""
    asked = [(name, rule.hierarchy) for name, rule in policy.columns.items() if rule.members]
    text = (
        "its labels are made from the values of the table, so a list of them could reveal people "
        "who are not published. Write the hierarchy out (kind: csv, taxonomy, or ordered with its "
        "order), or leave members out."
    )
    return [
        (("columns", name, "members"), text)
        for name, builder in asked
        if builder is None or not builder.states_values
    ]


def _set_faults(policy: "Policy") -> Faults:
    """List what is wrong with columns of several values per row, and with what protects them."""
    faults: Faults = []
    models = [model for model in policy.models if model.protects_sets]
    if policy.sets and not models:
        text = (
            f"the items of {some(policy.sets)} would be published without any promise. Add a model "
            "for them, as in {model: km-anonymity, k: 5, m: 2}"
        )
        faults.append((("models",), text))
    for position, model in enumerate(policy.models):
        if model.protects_sets and not policy.sets:
            text = (
                f"{model.name} is about columns with several values per row, and no column has the "
                "role set. Give it to one, as in diagnoses: {role: set, separator: ';'}, or remove "
                "the model."
            )
            faults.append((("models", position), text))
    return faults


def _person_faults(policy: "Policy") -> Faults:
    """List what is wrong with the column that says which rows are one person's."""
    name = None if policy.person is None else policy.person.column
    if name is None:
        return []
    role = policy.role_of(name)
    if role is None:
        near = suggest(name, list(policy.columns))
        return [(("person",), f"{name!r} is not under columns. {near}")]
    if role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.SET):
        text = (
            f"{name!r} is {role}: the column that identifies people must be an identifier, or "
            "dropped."
        )
        return [(("person",), text)]
    return []


def _household_faults(policy: "Policy") -> Faults:
    """List what is wrong with the column that says who lives together."""
    name = policy.household
    if name is None:
        return []
    role = policy.role_of(name)
    if role is None:
        return [
            (
                ("household",),
                f"{name!r} is not under columns. {suggest(name, list(policy.columns))}",
            )
        ]
    if role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.WEIGHT):
        text = f"{name!r} is {role}: what says who lives together is an identifier, or dropped."
        return [(("household",), text)]
    person = policy.counted_person
    if person == name:
        text = f"{name!r} identifies people. A household needs a column of its own."
        return [(("household",), text)]
    if person is None:
        text = (
            "members of a household are people: name the column that identifies them, as in "
            "person: person_id. If every row is a person and has no number, add a column with one."
        )
        return [(("household",), text)]
    return []


def _suppression_faults(policy: "Policy") -> Faults:
    """List what is wrong with people who are suppressed with all their rows."""
    rule = policy.suppression
    if rule.unit == "rows":
        return []
    where = ("suppression", "unit")
    if policy.person is None or policy.person.column is None:
        text = "people are suppressed where they are counted. Say what a person is: person: column"
        return [(where, text)]
    if policy.missing is Missing.SUPPRESS:
        text = "missing: suppress leaves rows out, not people. Choose missing: own-value"
        return [(where, text)]
    if rule.rows == "star":
        text = "rows of people who are left out cannot stay starred. Choose rows: remove"
        return [(where, text)]
    return []


def _derivation_faults(policy: "Policy") -> Faults:
    """List what does not fit together in what is derived."""
    faults: Faults = []
    person = None if policy.person is None else policy.person.column
    made: set[str] = set()
    shifts = 0
    for position, step in enumerate(policy.derive):
        if step.needs_person and person is None:
            text = (
                f"{step.name} must know which rows are one person's. Name the column, as in "
                "person: patient_id, here or at the top of the policy."
            )
            faults.append((("derive", position), text))
        shifts += isinstance(step, Shift)
        if shifts > 1:
            text = "dates are moved once: name all columns in one shift, so that they move alike."
            faults.append((("derive", position), text))
        twice = [name for name in step.made if name in made]
        faults += [(("derive", position, "into"), f"{name!r} is made twice") for name in twice]
        made |= {*step.made}
    return faults


def _decoupling_faults(policy: "Policy") -> Faults:
    """List columns that a decoupling publishes and the policy does not, or goes by."""
    columns = policy.decouple.columns if policy.decouple is not None else None
    goes_by = None if policy.decouple is None else policy.decouple.options.get("column")
    if goes_by in policy.sensitive:
        text = f"{goes_by!r} is sensitive, and groups formed by it would reveal it"
        return [(("decouple", "column"), text)]
    faults = _together_faults(policy)
    if faults or policy.decouple is None or columns is None:
        return faults
    named = {name for names in columns for name in names}
    plain = [n for n in policy.columns if n in named and policy.columns[n].role is Role.PLAIN]
    known = (*policy.quasi_identifiers, *plain, *policy.sensitive)
    at = ("decouple", "columns")
    faults = [
        ((*at, position), f"{policy.decouple.name} {_unknown(policy, name, known)}")
        for position, names in enumerate(columns)
        for name in names
        if name not in known
    ]
    if faults:
        return faults
    try:
        Columns.of(columns, (*policy.quasi_identifiers, *plain), policy.sensitive)
    except SfumatoError as error:
        return [(at, str(error))]
    return []


def _together_faults(policy: "Policy") -> Faults:
    """List columns that cannot stay together."""
    together = () if policy.decouple is None else policy.decouple.together
    plain = [name for name, rule in policy.columns.items() if rule.role is Role.PLAIN]
    known = (*policy.sensitive, *plain)
    faults: Faults = []
    for position, names in enumerate(together):
        at = ("decouple", "together", position)
        for name in names:
            # A column that is not named may be plain by `other`.
            if name in known or (name not in policy.columns and policy.other is Role.PLAIN):
                continue
            what = "is not under columns"
            if name in policy.columns:
                what = f"is {policy.columns[name].role}: sensitive and plain columns stay together"
            faults.append((at, f"{name!r} {what}. {suggest(name, known)}"))
        if not faults and not {*names} & {*policy.sensitive}:
            text = f"{some(names)} stay together as it is: none of them is sensitive"
            faults.append((at, text))
    return faults


def _detection_faults(policy: "Policy") -> Faults:
    """List columns that the rule for detection names and that it cannot look at."""
    known = (*policy.quasi_identifiers, *policy.sensitive)
    faults: Faults = []
    for path, name in policy.detect.columns:
        if name not in known:
            text = (
                f"{name!r} is no quasi-identifier and no sensitive column, and dependencies are "
                f"looked for among those. {suggest(name, known)}"
            )
            faults.append((("detect", *path), text))
    return faults


def _unknown(policy: "Policy", name: str, known: Sequence[str]) -> str:
    near = suggest(name, known)
    if name not in policy.columns:
        return f"publishes {name!r}, which is not under columns. {near}"
    role = policy.columns[name].role
    taken = "it takes quasi-identifiers, sensitive and plain columns"
    return f"publishes {name!r}, which is {role}: {taken}. {near}"


def _column_faults(policy: "Policy", model: PrivacyModel) -> Faults:
    at = ("column",) if getattr(model, "column", None) is not None else ()
    rules = policy.columns
    faults: Faults = []
    if model.of_weights:
        return _judged_weight_faults(policy, model, at)
    for name in model.columns:
        if name not in rules:
            near = suggest(name, policy.sensitive)
            faults.append((at, f"protects {name!r}, which is not under columns. {near}"))
        elif rules[name].role is not Role.SENSITIVE:
            near, role = suggest(name, policy.sensitive), rules[name].role
            text = f"protects {name!r}, which is {role}: it must be a sensitive column. {near}"
            faults.append((at, text))
        elif model.needs_hierarchy and not policy.columns[name].hierarchy:
            at_level = getattr(model, "level", None) is not None
            does = "takes the labels of" if at_level else "measures distances in"
            other = "name its categories" if at_level else "choose another distance"
            text = (
                f"{does} the hierarchy of {name!r}, which has none. "
                f"Give the column a hierarchy, or {other}."
            )
            faults.append((("level" if at_level else "distance",), text))
    return faults


def _judged_weight_faults(policy: "Policy", model: PrivacyModel, at: tuple[str, ...]) -> Faults:
    """List why a model cannot judge classes by a weight, or no reader could check it."""
    (name,) = model.columns
    if name not in policy.weights:
        rule = policy.columns.get(name)
        what = "not under columns" if rule is None else rule.role
        near = suggest(name, policy.weights)
        return [(at, f"adds up {name!r}, which is {what}: it must have the role weight. {near}")]
    if name != policy.weights[0]:
        text = (
            f"adds up {name!r}, and people are estimated by the first weight of a policy, "
            f"{policy.weights[0]!r}; others may be its replicates. Name that one."
        )
        return [(at, text)]
    if policy.counted_person is not None:
        text = (
            f"adds up {name!r} row by row, and people have several rows here (person: "
            f"{policy.counted_person}): their weights would count several times. Ask for "
            "estimated-k-map, or widen the table to one row per person."
        )
        return [(at, text)]
    if policy.averagings[name] != Averaging():
        text = (
            f"judges classes by the mean of {name!r}, and that is published rounded or with noise: "
            f"no reader could check it. Publish it as it is, as in {name}: weight, or ask for "
            "estimated-k-map with the largest share of people that was drawn."
        )
        return [(at, text)]
    return []


def _other_faults(policy: "Policy", model: PrivacyModel) -> Faults:
    if not model.needs_population:
        return []
    if policy.method.local:
        text = (
            f"compares with a population, and with the method {policy.method.name} a person of it "
            "may match several classes: how many match each says nothing about what is promised. "
            f"Choose method: {FULL_DOMAIN} or {REGIONAL}"
        )
        return [((), text)]
    if policy.population is not None:
        return []
    text = (
        "compares with a population and none is given. "
        "Name its file at the top of the policy, as in population: people.csv"
    )
    return [((), text)]


def _read_version(value: object) -> int:
    if read(int, value) != 1:
        raise Fault(f"must be 1, the only version of policies there is, got {show(value)}")
    return 1


def _read_columns(value: object) -> FrozenMap[ColumnRule]:
    if not isinstance(value, Mapping):
        raise Fault(
            "must be a mapping of column names to their roles, as in {age: quasi-identifier}, "
            f"got {show(value)}"
        )
    faults: Faults = []
    for name in value:
        if not isinstance(name, str) or not name:
            faults.append(((str(name),), f"a column name must be a text, got {show(name)}"))
    rules = _each(value, ColumnRule.read, faults)
    return FrozenMap(dict(rules))


def _read_models(value: object) -> tuple[PrivacyModel, ...]:
    if not isinstance(value, list | tuple):
        raise Fault(f"must be a list, as in [{{model: k-anonymity, k: 5}}], got {show(value)}")
    if not value:
        raise Fault(
            "there is no model, so nothing would be promised. "
            f"Add at least one, as in {{model: k-anonymity, k: 5}}. {suggest('', sorted(MODELS))}"
        )
    return tuple(_each(dict(enumerate(value)), _read_model, []).values())


def _in_words(written: object) -> str:
    """Return a setting as it is written in a policy, in a few words.

    >>> _in_words({"search": "best-first", "checks": 500}), _in_words("top-down"), _in_words([1, 2])
    ('best-first with checks=500', 'top-down', '1, 2')
    """
    if isinstance(written, Mapping):
        first, *rest = [
            text_of(value) if key in {"loss", "search", "method"} else f"{key}={_in_words(value)}"
            for key, value in written.items()
        ]
        return (
            f"{first} with {', '.join(rest)}"
            if rest and "=" not in first
            else ", ".join([first, *rest])
        )
    if isinstance(written, list | tuple):
        return ", ".join(map(_in_words, written))
    return text_of(written)


def _read_acceptances(value: object) -> tuple[Acceptance, ...]:
    if not isinstance(value, list | tuple):
        raise Fault(f"must be a list, as in [{Acceptance.example}], got {show(value)}")
    return tuple(_each(dict(enumerate(value)), Acceptance.read, []).values())


def _read_against(value: object) -> tuple[Knows, ...]:
    every = ", ".join(Knows)
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple) or not value:
        raise Fault(f"must be a list of adversaries, at least one of {every}, got {show(value)}")
    wrong = [each for each in value if each not in [*Knows]]
    if wrong:
        hint = suggest(str(wrong[0]), [*map(str, Knows)])
        raise Fault(f"must be a list of some of {every}, got {show(wrong[0])}. {hint}".rstrip(". "))
    return tuple(knows for knows in Knows if knows in value)


def _read_derivations(value: object) -> tuple[Derivation, ...]:
    if not isinstance(value, list | tuple):
        example = "[{kind: age, of: born, at: admitted, into: age}]"
        raise Fault(f"must be a list, as in {example}, got {show(value)}")
    return tuple(_each(dict(enumerate(value)), read_derivation, []).values())


def _read_model(value: object) -> PrivacyModel:
    return value if isinstance(value, PrivacyModel) else choose(MODELS, "model", value)


def _read_loss(value: object) -> Loss:
    return value if isinstance(value, Loss) else choose(LOSSES, "loss", value)


def _each(items: Mapping[Any, object], make: Callable[[object], T], faults: Faults) -> dict[Any, T]:
    """Read all items, and report the mistakes of all of them together."""
    made: dict[Any, T] = {}
    for key, item in items.items():
        try:
            made[key] = make(item)
        except (PolicyError, Fault) as error:
            faults.extend(faults_of(error, key))
    if faults:
        raise policy_error(faults, LinePlaces())
    return made


def _read_other(value: object) -> Role | None:
    role = None if resolve(value) is None else read_role(value)
    if role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.SET, Role.WEIGHT):
        raise Fault(
            f"a column that is {role} must be named under columns, so that no reader overlooks it. "
            f"Allowed: {some(_OTHERS)}."
        )
    return role


def _read_population(value: object) -> str | None:
    path: Path | None = read(Path | None, value)
    return None if path is None else str(value)


def _read_fraction(value: object) -> float | None:
    fraction: float | None = read(float | None, value)
    if fraction is not None:
        require_fraction(fraction)
    return fraction


@dataclass(frozen=True, init=False)
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

    names_files: ClassVar[tuple[str, ...]] = ("population",)

    version: int = setting(
        _read_version, "The version of the policy format.", {"const": 1}, default=1
    )
    columns: Mapping[str, ColumnRule] = setting(
        _read_columns,
        "The role of each column, as in {age: quasi-identifier, illness: sensitive}.",
        lambda families: {
            "type": "object",
            "minProperties": 1,
            "propertyNames": {"minLength": 1},
            "additionalProperties": {"anyOf": [ROLES, ColumnRule.schema(families)]},
        },
        write=lambda rules: {name: rule.to_plain() for name, rule in rules.items()},
    )
    other: Role | None = setting(
        _read_other,
        "The role of columns not named; without it, such a column is an error.",
        {"enum": [*_OTHERS, None]},
        default=None,
        write=plain,
        sparse=True,
    )
    models: tuple[PrivacyModel, ...] = setting(
        _read_models,
        "What every class of people must keep, as in [{model: k-anonymity, k: 5}].",
        lambda _: {"type": "array", "minItems": 1, "items": family_schema(MODELS, "model")},
        write=lambda models: [member_settings(model, "model") for model in models],
    )
    loss: Loss = setting(
        _read_loss,
        "What a good release is: the loss to keep small.",
        lambda _: family_schema(LOSSES, "loss"),
        default=NormalizedLoss(),
        write=partial(member_settings, tag="loss"),
    )
    method: MethodRule = part(
        MethodRule,
        "How rows are recoded: one level per column for all of them (full-domain), one cut through "
        "each hierarchy for all of them (regional), or each row only as far as it must be (a "
        "method of local recoding).",
        MethodRule(name=FULL_DOMAIN),
    )
    search: SearchRule = part(
        SearchRule, "How the best levels are looked for; not for local methods.", BEST_FIRST
    )
    suppression: Suppression = part(
        Suppression, "How many rows may be left out, and how.", Suppression()
    )
    missing: Missing = setting(
        partial(read, Missing),
        "What a missing value of a quasi-identifier is.",
        type_schema(Missing),
        default=Missing.OWN_VALUE,
        write=plain,
    )
    person: PersonRule | None = part(
        PersonRule,
        "What a person is, if an identifier repeats: the column that is the same in all rows of a "
        "person, or {rows: why each row is meant}.",
        None,
        sparse=True,
    )
    household: str | None = setting(
        partial(read, str | None),
        "The column that says who lives together, if the data has one. Members of a household are "
        "taken to know each other's sensitive values. It is not published.",
        {"type": ["string", "null"]},
        default=None,
        sparse=True,
    )
    derive: tuple[Derivation, ...] = setting(
        _read_derivations,
        "What is computed before anything else, in this order: dates that are moved by a secret "
        "number of days (shift), times between dates (relative), ages. What is made has a role "
        "under columns, as other columns have.",
        lambda _: {"type": "array", "items": family_schema(DERIVATIONS, "kind")},
        default=(),
        write=lambda steps: [member_settings(step, "kind") for step in steps],
        sparse=True,
    )
    decouple: DecouplingRule | None = part(
        DecouplingRule,
        "How the table is published in parts, as in {method: slicing, l: 3}, when it "
        "is decoupled; without it, by break-merge.",
        None,
        sparse=True,
    )
    detect: DetectionRule = part(
        DetectionRule,
        "How dependencies are looked for, as in {network: [age -> zip]} or {prior: 0.5}.",
        DetectionRule(),
        sparse=True,
    )
    population: str | None = setting(
        _read_population,
        "A table of all people the data was drawn from, for models that ask.",
        {"type": ["string", "null"]},
        default=None,
        sparse=True,
    )
    sampling_fraction: float | None = setting(
        _read_fraction,
        "The share of the population that the data is a sample of, as 0.01: from it is estimated, "
        "which is no promise, how many people are unique in the population.",
        {"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 1},
        default=None,
        sparse=True,
    )
    input: InputRule = part(
        InputRule,
        "How the data is read if it is a text file, as in {delimiter: ';', decimal: ','}; what is "
        "not said is found out.",
        InputRule(),
        sparse=True,
    )
    risk_levels: RiskLevels = part(
        RiskLevels, "From which probability on a risk is moderate, high, very high.", RiskLevels()
    )
    verdict: Tolerance = part(
        Tolerance, "When attacks speak against a release.", Tolerance(), sparse=True
    )
    accept: tuple[Acceptance, ...] = setting(
        _read_acceptances,
        "Findings that are known and accepted, each with a reason and a name.",
        lambda families: {"type": "array", "items": Acceptance.schema(families)},
        default=(),
        write=lambda accepted: [each.to_plain() for each in accepted],
        sparse=True,
    )
    against: tuple[Knows, ...] = setting(
        _read_against,
        "The adversaries by whom no one may be at risk, each more than the last: who knows the "
        "quasi-identifiers; who also knows one other value that is published and that others may "
        "know (one-value); who knows two (two-values). Without it, all.",
        {"type": "array", "items": {"enum": [*map(str, Knows)]}, "minItems": 1},
        default=tuple(Knows),
        write=lambda against: [str(each) for each in against],
        sparse=True,
    )
    profile: ProfileRule | None = part(
        ProfileRule,
        "The rule you answer to: verify says of each of its clauses whether it holds. A name, the "
        "file of one of your own, or {profile: statistics-office, minimum: 3}.",
        None,
        sparse=True,
    )
    sensitive_blind: bool = setting(
        partial(read, bool),
        "Whether quasi-identifiers alone decide which column is specialised, cut or raised; models "
        "then only accept or refuse. Costs some loss, and reveals less to those who know the "
        "method.",
        {"type": "boolean"},
        default=False,
        sparse=True,
    )
    owner: str | None = setting(
        partial(read, str | None),
        "Who answers for the release. It is published: the manifest and the report state it.",
        {"type": ["string", "null"]},
        default=None,
        sparse=True,
    )
    purpose: str | None = setting(
        partial(read, str | None),
        "What the release is for, in a sentence. It is published as the owner is.",
        {"type": ["string", "null"]},
        default=None,
        sparse=True,
    )
    _places: LinePlaces = field(default=LinePlaces(), init=False, repr=False, compare=False)

    def _contradictions(self, given: Mapping[str, object]) -> Faults:
        return contradictions(self)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a policy file; files it names are relative to its folder."""
        if not isinstance(path, str | PathLike):
            expected = "a policy, the path of a policy file, or a mapping of its settings"
            raise ParameterError("policy", path, expected)
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
                f"models, got {'a text' if isinstance(document.root, str) else show(document.root)}"
            )
        known = [each.name for each in fields(cls)]
        if not any(get_close_matches(key, known, n=1) for key in document.root):
            # Perhaps no policy at all, but a file with secrets: nothing of it is quoted.
            raise PolicyError(
                f"{origin}: this is not a policy: none of its keys is a policy setting. It needs "
                "at least columns and models."
            )
        try:
            policy = cls(**document.root)
        except PolicyError as error:
            raise policy_error(error.faults, document.places) from None
        if folder is not None:
            policy = policy.relative_to(Path(folder))
        object.__setattr__(policy, "_places", document.places)
        return policy

    def relative_to(self, folder: Path) -> Self:
        """Return the policy with the files it names in a folder."""
        columns = {name: rule.relative_to(folder) for name, rule in self.columns.items()}
        population = self.population
        if population is not None and not is_address(population):
            population = str(folder / population)
        detect = self.detect.relative_to(folder)
        derive = tuple(step.relative_to(folder) for step in self.derive)
        rule = None if self.profile is None else self.profile.relative_to(folder)
        return self.replace(
            columns=columns, population=population, detect=detect, derive=derive, profile=rule
        )

    def replace(self, **changes: object) -> Self:
        """Return the same policy with other settings, checked as a whole.

        >>> from sfumato.models import KAnonymity
        >>> policy = Policy(columns={"age": "quasi-identifier"}, models=[KAnonymity(5)])
        >>> policy.replace(models=[KAnonymity(9)]).models
        (KAnonymity(k=9),)
        """
        places = self._places.without(*changes)
        try:
            changed = super().replace(**changes)
        except PolicyError as error:
            raise policy_error(error.faults, places) from None
        object.__setattr__(changed, "_places", places)
        return changed

    def to_yaml(self) -> str:
        """Write the policy as text that reads back as the same policy."""
        return to_text(self.to_plain())

    def to_plain(self) -> dict[str, object]:
        """Return what a policy file says, as nothing but dicts, lists, text and numbers."""
        settings: Any = super().to_plain()
        # A local method searches no lattice, and then there is nothing to say about it.
        return {key: v for key, v in settings.items() if key != "search" or not self.method.local}

    @classmethod
    def json_schema(
        cls,
        *,
        searches: Mapping[str, type] | None = None,
        methods: Mapping[str, type] | None = None,
        decouplings: Mapping[str, type] | None = None,
        profiles: Mapping[str, type] | None = None,
    ) -> dict[str, Any]:
        """Describe policy files as JSON Schema (2020-12), for editors and forms.

        Args:
            searches: The searches there are; None leaves their names and options open.
            methods: The methods of local recoding there are; None leaves them open too.
            decouplings: The ways to decouple there are; None leaves them open too.
            profiles: The rules people answer to; None leaves them open too.
        """
        every: Any = None if methods is None else every_method(methods)
        described = cls.schema(Families(searches, every, decouplings, profiles))
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", **described}

    def with_method(self, method: object) -> Self:
        """Return the same policy with another method, checked as if it had been written there.

        How a lattice is searched is left out if the method searches none.

        Args:
            method: A name, a mapping of the name and the options, or an object made in Python.

        >>> from sfumato.models import KAnonymity
        >>> policy = Policy(columns={"age": "quasi-identifier"}, models=[KAnonymity(5)])
        >>> policy.with_method("top-down").method.name, policy.method.name
        ('top-down', 'full-domain')
        """
        try:
            rule = MethodRule.read(method)
        except (PolicyError, Fault) as error:
            raise policy_error(faults_of(error, "method"), LinePlaces()) from None
        rest = {"search": self.settings()["search"].default} if rule.local else {}
        return self.replace(method=rule, **rest)

    def changes_from(self, before: "Policy") -> str:
        """Return what was put in place of what another policy says, in words; empty if nothing.

        >>> from sfumato.models import KAnonymity
        >>> policy = Policy(
        ...     columns={"age": "quasi-identifier"}, models=[KAnonymity(5)],
        ...     search={"search": "best-first", "checks": 500},
        ... )
        >>> policy.with_method("top-down").replace(models=[KAnonymity(9)]).changes_from(policy)
        'k-anonymity(k=9) in place of k-anonymity(k=5), method top-down in place of full-domain,
        no search in place of best-first with checks=500'
        """
        found = [
            f"{new} in place of {old}"
            for new, old in zip(self.models, before.models, strict=False)
            if new != old
        ]
        for name, declared in self.settings().items():
            pair = [getattr(policy, name) for policy in (self, before)]
            if name == "models" or pair[0] == pair[1]:
                continue
            new, old = (None if v is None else _in_words(declared.write(v)) for v in pair)
            if name == "search" and self.method.local:
                found.append(f"no search in place of {old}")
            else:
                found.append(f"{name} {new or 'none'} in place of {old or 'none'}")
        return ", ".join(found)

    def with_role(self, role: Role) -> tuple[str, ...]:
        """Return the named columns of a role, in the order of the policy."""
        return tuple(name for name, rule in self.columns.items() if rule.role is role)

    def error_at(self, *path: str | int, text: str) -> PolicyError:
        """Return the error that something is wrong at a place of the policy, with its line."""
        return policy_error([(path, text)], self._places)

    def role_of(self, name: str) -> Role | None:
        """Return the role of a column; None if the policy gives it none."""
        return self.columns[name].role if name in self.columns else self.other

    @property
    def counted_person(self) -> str | None:
        """The column that tells people apart, if people are counted and not rows."""
        return None if self.person is None else self.person.column

    @property
    def suppresses_people(self) -> bool:
        """Whether people are suppressed with all their rows."""
        return self.counted_person is not None and self.suppression.unit == "people"

    @property
    def reading(self) -> Reading:
        """The way the data is read if it is a text file, as far as the policy says."""
        return self.input.reading

    @property
    def population_table(self) -> "str | TextFile | None":
        """The population as it is opened: its cells are written as those of the data are."""
        population, cells = self.population, self.reading.of_cells
        if population is None or is_address(population) or cells == Reading():
            return population
        return TextFile(Path(population), cells)

    @property
    def sample(self) -> float | None:
        """The share of the population that is in the data, if the policy or a model says it."""
        fractions = (getattr(model, "fraction", None) for model in self.models)
        return self.sampling_fraction or next((each for each in fractions if each), None)

    @property
    def exact(self) -> tuple[str, ...]:
        """The sensitive columns in which another spelling is another value."""
        return tuple(n for n, rule in self.columns.items() if rule.spelling is Spelling.EXACT)

    @property
    def unknown(self) -> tuple[str, ...]:
        """The sensitive columns that others do not know of a person without the release."""
        return tuple(n for n, rule in self.columns.items() if not rule.known)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns to generalise, in the order that levels have."""
        return self.with_role(Role.QUASI_IDENTIFIER)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The columns that models may protect."""
        return self.with_role(Role.SENSITIVE)

    @property
    def weights(self) -> tuple[str, ...]:
        """The weights; estimates go by the first, others may be its replicates."""
        return self.with_role(Role.WEIGHT)

    @property
    def perturbations(self) -> dict[str, tuple[Perturbation, ...]]:
        """The changes of the values of columns before all else."""
        every = {name: rule.perturbations for name, rule in self.columns.items()}
        return {name: chain for name, chain in every.items() if chain}

    @property
    def randomised(self) -> tuple[str, ...]:
        """The columns that chance changes."""
        found = self.perturbations.items()
        return tuple(name for name, chain in found if any(each.random for each in chain))

    @property
    def averagings(self) -> dict[str, Averaging]:
        """The number that each weight becomes in a class."""
        return {name: self.columns[name].averaging for name in self.weights}

    @property
    def sets(self) -> tuple[str, ...]:
        """The columns of several values per row, some of which others may know."""
        return self.with_role(Role.SET)

    def check_against(self, columns: Sequence[str]) -> dict[str, Role]:
        """Return the role of each column of the data, which must be those of the policy.

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
        person = None if self.person is None else self.person.column
        if person is not None and person not in {*columns, *self.columns}:
            near = suggest(person, list(columns))
            faults.append((("person",), f"the data has no column {person!r}. {near}"))
        home = self.household
        if home is not None and home not in {*columns, *self.columns}:
            near = suggest(home, list(columns))
            faults.append((("household",), f"the data has no column {home!r}. {near}"))
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

    @property
    def preparation(self) -> Preparation:
        """All that is done with a table before its rows are counted, without the secret of a shift.

        >>> from sfumato.hierarchy import Dates
        >>> from sfumato.models import KAnonymity
        >>> born = {"role": "quasi-identifier", "hierarchy": Dates()}
        >>> Policy(columns={"born": born}, models=[KAnonymity(5)]).preparation.dates
        {'born': DateForm(order='detect', format=None, pivot=None)}
        """
        person = None if self.person is None else self.person.column
        steps = tuple(step if person is None else step.of_person(person) for step in self.derive)
        made = {name for step in steps for name in step.made}
        dates = {name: DateForm() for step in steps for name in step.dates if name not in made}
        likely = []
        for name, rule in self.columns.items():
            if rule.dates is not None:
                dates[name] = rule.dates
            elif name in made or name in dates:
                continue
            elif rule.hierarchy is not None and rule.hierarchy.of_dates:
                dates[name] = DateForm()
            elif rule.hierarchy is not None and rule.hierarchy.of_dates is None:
                likely.append(name)
        codes = {n: rule.missing_codes for n, rule in self.columns.items() if rule.missing_codes}
        leaves_out = self.person is not None and self.person.missing is UnownedRows.LEAVE_OUT
        owned = person if leaves_out else None
        return Preparation(dates, tuple(likely), steps, codes=codes, owned=owned)

    def make_search(self, searches: Mapping[str, type[T]]) -> T:
        """Make the search that the policy names out of those there are."""
        made: T = self._make("search", searches)
        return made

    def make_method(self, methods: Mapping[str, type[T]]) -> T | None:
        """Make the method of local recoding that the policy names; None if it names no such."""
        made: T | None = self._make("method", methods)
        return made

    def make_regional(self) -> Regional | None:
        """Make the settings of regional recoding, if the policy names it."""
        try:
            return self.method.make_regional()
        except Fault as fault:
            raise policy_error(faults_of(fault, "method"), self._places) from None

    def make_decoupling(self, decouplings: Mapping[str, type[T]]) -> T | None:
        """Make the decoupling that the policy names; None if it names none."""
        made: T | None = None if self.decouple is None else self._make("decouple", decouplings)
        return made

    def make_profile(self, profiles: Mapping[str, type[T]]) -> T | None:
        """Make the profile that the policy names; None if it names none."""
        made: T | None = None if self.profile is None else self._make("profile", profiles)
        return made

    def _make(self, key: str, family: Mapping[str, type[Any]]) -> Any:  # noqa: ANN401 - a member
        try:
            return getattr(self, key).make(family)
        except Fault as fault:
            # A method may have been chosen since the file was read; then no line of it is wrong.
            replaced = key == "method" and (key,) not in self._places.lines
            places = LinePlaces() if replaced else self._places
            raise policy_error(faults_of(fault, key), places) from None


GivenPolicy: TypeAlias = Policy | str | PathLike[str] | Mapping[str, Any]
"""A policy, the path of one, or its settings as a mapping."""


@overload
def policy_of(given: None) -> None: ...


@overload
def policy_of(given: GivenPolicy) -> Policy: ...


def policy_of(given: GivenPolicy | None) -> Policy | None:
    """Return the policy that was given: as such, by its path, or as a mapping of its settings.

    >>> policy_of({"columns": {"age": "quasi-identifer"}, "models": [{"model": "k-anonymity"}]})
    Traceback (most recent call last):
    sfumato.errors.PolicyError: policy: 2 mistakes
    policy, columns.age: no role 'quasi-identifer'. Did you mean 'quasi-identifier'? Known:
    'identifier', 'quasi-identifier', 'sensitive', 'set', 'plain', 'weight', 'dropped'.
    policy, models[0]: k-anonymity needs 'k': Fewest rows a class may have; 2 or more.
    """
    if given is None or isinstance(given, Policy):
        return given
    if isinstance(given, Mapping):
        try:
            return Policy(**keywords(given))
        except Fault as fault:
            raise policy_error(faults_of(fault), LinePlaces()) from None
    return Policy.load(given)
