"""Explain: the belief about one person that follows from a release."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sfumato.attacks.adversary.explanation import Belief, Explanation, PossiblePlace
from sfumato.attacks.adversary.person import Knowledge, OneOfSeveral, OnePerson, PersonSearch
from sfumato.attacks.adversary.target import secrecy_by
from sfumato.counts import Column
from sfumato.errors import InputError, ParameterError, UnknownColumnError, some, suggest
from sfumato.policy import GivenPolicy, Missing, Policy
from sfumato.releases.drawn import require_rows_of_people
from sfumato.releases.opening import Published, open_release
from sfumato.text import STAR, is_missing, text_of
from sfumato.typing import FloatArray, Value


def explain(  # noqa: PLR0913 - all but two have a default and are named
    release: object,
    person: Mapping[str, Value],
    *,
    knows: Mapping[str, Any] | None = None,
    column: str | None = None,
    policy: GivenPolicy | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    data: object = None,
    people_file: object = None,
) -> Explanation:
    """Compute what an adversary who knows a person learns of the person's sensitive values.

    The adversary knows that the person is in the data, and some quasi-identifiers as they were
    before the release. Every class, group or bucket that fits is taken, each person in it being
    as likely the one. What is believed of all people (the share of each value in the whole
    release) stands beside, for an adversary who never saw whom values belong to.

    Does not promise: that others know no more. What is believed follows from what you say is
    known; ask again with more of it.

    Args:
        release: A release or its folder, decoupled or not, or a table: a path (CSV, Parquet,
            Feather), pandas, Polars, Arrow.
        person: What is known of the person: raw values of some quasi-identifiers, or ranges of
            them, such as "30-39".
        knows: What else is known. `{"not": "flu"}` (or a list) rules values out;
            `{"is": {"work": "Sales"}}` is a sensitive value; `{"prior": {"flu": 0.001}}` is how
            likely a value was to the adversary before the release, in place of its share among
            all people. That changes what the release adds, not what it shows: of a class in which
            95 of 100 have the flu, it is believed with 95 %. If the value is rarer only among
            people like this one, say how common it is among the others of the class,
            `{"prior": {"flu": 0.001}, "others": {"flu": 0.2}}`, and the counts are weighed by
            both. Where several columns have the value, name one: `{"not": {"ill": "flu"}}`.
        column: The sensitive column that is asked about; by default all.
        policy: The policy the release was made with. Its hierarchies say what labels stand for;
            without it only intervals, masks such as `476**` and `*` can be read.
        quasi_identifiers: The columns others may know, if nothing else says so.
        sensitive: The columns that should not become known, likewise.
        data: The table the release was made of, for hierarchies that are built from the data.
        people_file: The people file of a release that counts people; None takes the people that a
            release has when it was just made. What is known is then a row of the person, each
            person with such a row being as likely the one, and a person may have several values.

    Example:
        >>> import pyarrow as pa
        >>> table = pa.table({
        ...     "age": ["30 to 39", "30 to 39", "40 to 49", "40 to 49"],
        ...     "ill": ["flu", "flu", "heart disease", "cancer"],
        ... })
        >>> found = explain(table, {"age": 41}, knows={"not": "heart disease"},
        ...     quasi_identifiers=["age"], sensitive=["ill"])
        >>> print(found)
        age=41 fits 1 of 2 classes, with 2 of 4 people.
        Known of the person besides: not ill=heart disease.
        It is certain that ill is cancer; before the release that was 33 % likely.
        The harm to the person is very high: what is learned of ill.
        <BLANKLINE>
        ill            before  after
        cancer           33 %  100 %
        flu              67 %    0 %
        heart disease     0 %    0 %
    """
    opened = open_release(
        release,
        policy,
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        people_file=people_file,
    )
    require_rows_of_people(opened, "to look for")
    _require_roles(opened, column)
    _require_unchanged(opened)
    known = _read_person(person, opened)
    manifest = opened.manifest
    search = PersonSearch(
        opened,
        known,
        opened.policy,
        data,
        matches_any=opened.missing == Missing.MATCHES_ANY.value,
        stars_are_people=manifest is not None and manifest.rows.suppression == "remove",
    )
    search.refuse_strange_values()
    knowledge = Knowledge.read(knows, [search.tables.column(name) for name in opened.sensitive])
    found = _explain(search, knowledge, _columns_asked(opened, column, knowledge))
    if opened.policy is None:
        return found
    given = opened.policy
    return replace(found, beliefs=tuple(_judge_by(given, belief) for belief in found.beliefs))


def _judge_by(policy: Policy, belief: Belief) -> Belief:
    """Return a belief that is judged by the levels and the secrets of a policy."""
    rule = policy.verdict.rule(policy.risk_levels)
    declared = policy.columns.get(belief.column)
    if declared is None:
        return replace(belief, rule=rule)
    secrecy = secrecy_by(belief.values, declared)
    return replace(belief, rule=rule, secrecy=tuple(secrecy.tolist()))


def _require_unchanged(opened: Published) -> None:
    """Raise if published values are not the true ones."""
    changed = sorted(opened.perturbed & {*opened.columns})
    if changed:
        raise InputError(
            f"{some(changed)} was perturbed, so what is published is not what is true of a person, "
            "and one person cannot be looked for. sfumato verify says what is learned about all "
            "people (distance-linkage, interval-disclosure)."
        )


def _require_roles(opened: Published, column: str | None) -> None:
    if not opened.sensitive:
        raise ParameterError(
            "sensitive", [], "the columns that are guessed", why="sensitive=['illness'] names them"
        )
    if column is not None and column not in opened.sensitive:
        raise UnknownColumnError(column, opened.sensitive, where="the sensitive columns")


def _read_person(person: Mapping[str, Value], opened: Published) -> dict[str, Value]:
    if not isinstance(person, Mapping):
        raise ParameterError("person", person, 'columns with a value each, such as {"age": 41}')
    for name in person:
        if name in opened.sensitive:
            raise ParameterError(
                "person",
                dict(person),
                "quasi-identifiers",
                why=f'{name!r} is sensitive. If it is known, say so: knows={{"is": ...}}',
            )
        if name not in opened.quasi_identifiers:
            raise UnknownColumnError(name, opened.quasi_identifiers, where="the quasi-identifiers")
    return {name: None if is_missing(value) else value for name, value in person.items()}


def _columns_asked(opened: Published, column: str | None, knowledge: Knowledge) -> list[str]:
    names = opened.sensitive if column is None else (column,)
    left = [name for name in names if name not in knowledge.held]
    if not left:
        raise ParameterError(
            "knows", str(knowledge), "less", why="what is asked about is known already"
        )
    return left


def _explain(search: PersonSearch, knowledge: Knowledge, asked: Sequence[str]) -> Explanation:
    several = search.among_people(knowledge.held)
    if several is not None:
        return _explain_several(search, several, knowledge, asked)
    kind, column = search.opened.kind, search.tables.column
    plain = OnePerson(search.pieces, search.n)
    names = [name for name in search.opened.sensitive if name in _columns_concerned(knowledge)]
    weights = {n: knowledge.weights(column(n), plain.prior(n)) for n in names}
    person = replace(plain, weights=weights)
    likely = _snap_to_0_or_1(person.groups)
    order = np.lexsort((np.arange(search.n), -likely))[: int((likely > 0).sum())]
    places = tuple(
        PossiblePlace(search.labels_of(at), round(float(person.sizes[at])), float(likely[at]))
        for at in order.tolist()
    )
    notes = _notes(search, plain, knowledge, found=bool(places))
    if search.opened.counts_people:
        notes = (_ROWS_COUNTED, *notes)
    beliefs = tuple(_belief(person, column(name), knowledge) for name in asked)
    return Explanation(
        dict(search.known),
        str(knowledge),
        kind.name,
        search.total,
        search.n,
        places,
        beliefs if places else (),
        notes,
    )


_ROWS_COUNTED = (
    "People have several rows in this release, and rows are counted here: fewer people may fit, "
    "and shares are of rows. With the people file (people_file=, --people-file) people are counted."
)

_PEOPLE_COUNTED = (
    "People have several rows here: what is known is one of the person's, and a person may have "
    "several values, so that shares may sum to more than 100 %."
)


def _explain_several(
    search: PersonSearch, every: OneOfSeveral, knowledge: Knowledge, asked: Sequence[str]
) -> Explanation:
    """Explain a table in which people may have several rows."""
    if knowledge.of_others:
        raise ParameterError(
            'knows["others"]',
            str(knowledge),
            "left out where people have several rows",
            why="a person who has several values is not weighed by one of them",
        )
    person = replace(every, ruled_out=knowledge.ruled_out)
    likely = person.groups
    order = np.lexsort((np.arange(person.n), -likely))[: int((likely > 0).sum())]
    places = tuple(
        PossiblePlace(search.labels_of(at), int(person.sizes[at]), float(likely[at]))
        for at in order.tolist()
    )
    # Before, the person may be any one of any class.
    anybody = replace(every, fits=np.ones_like(every.fits))
    beliefs = []
    for name in asked:
        column = search.tables.column(name)
        own = {name: codes for name, codes in knowledge.ruled_out.items() if name == column.name}
        before = replace(anybody, ruled_out=own).shares(name)
        if name in knowledge.believed:
            before = knowledge.prior(column, before)
        beliefs.append(_order(column, before, person.shares(name), person.missing(name)))
    plain = OnePerson(search.pieces, search.n)
    return Explanation(
        dict(search.known),
        str(knowledge),
        search.opened.kind.name,
        every.total,
        person.n,
        places,
        tuple(beliefs) if places else (),
        (_PEOPLE_COUNTED, *_notes(search, plain, knowledge, found=bool(places))),
        person.people,
    )


def _columns_concerned(knowledge: Knowledge) -> set[str]:
    return {*knowledge.ruled_out, *knowledge.held, *knowledge.believed}


def _belief(person: OnePerson, column: Column, knowledge: Knowledge) -> Belief:
    before = knowledge.prior(column, person.prior(column.name))
    after = person.posterior(column.name)
    missing = float(after[column.missing]) if column.missing >= 0 else 0.0
    after = after[: len(before)]
    total = after.sum()
    return _order(column, before, after / total if total else after, missing)


def _order(column: Column, before: FloatArray, after: FloatArray, missing: float) -> Belief:
    """Return what is believed, the likeliest values first."""
    before, after = _snap_to_0_or_1(before), _snap_to_0_or_1(after)
    order = np.lexsort((np.arange(len(before)), -before, -after.round(12)))
    return Belief(
        column.name,
        tuple(text_of(column.values[i]) for i in order),
        tuple(before[order].tolist()),
        tuple(after[order].tolist()),
        missing,
    )


def _snap_to_0_or_1(shares: FloatArray) -> FloatArray:
    """Round what is 0 or 1 but for rounding errors: what is certain must be said to be."""
    whole = shares.round()
    found: FloatArray = np.where(np.abs(shares - whole) < 1e-12, whole, shares)
    return found


def _notes(
    search: PersonSearch, plain: OnePerson, knowledge: Knowledge, *, found: bool
) -> tuple[str, ...]:
    notes = []
    if not found and plain.groups.any():
        notes.append(
            f"People fit, but none of them can have what is known ({knowledge}): "
            "the release contradicts it."
        )
    elif not found:
        unread = search.unreadable()
        notes += [
            f"{name}: nothing that is published stands for {_value_text(search.known[name])}. "
            f"{suggest(_value_text(search.known[name], bare=True), labels)}"
            for name, labels in unread.items()
        ]
        if not unread:
            notes.append("Each of the values occurs, but no person has all of them together.")
        notes.append("The person is not in the data, was suppressed, or a value is misspelt.")
    for name in search.silent_columns():
        notes.append(
            f"{name} is published as {STAR} for all people: what is known of it is no help."
        )
    if search.left_out:
        rows = search.left_out
        notes.append(
            f"{rows} more rows say nothing but {STAR} of whose they are. They are of people who "
            "fit no other class, and are left out."
        )
    return tuple(notes)


def _value_text(value: Value, *, bare: bool = False) -> str:
    if value is None:
        return "" if bare else "a missing value"
    return text_of(value) if bare else repr(text_of(value))
