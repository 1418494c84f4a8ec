"""Draft and inspect: a first policy for a table, and the risk of the table as it is."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from sfumato.attacks.adversary.trial import (
    CountedTable,
    Trial,
    columns_to_count,
    try_on_counts,
)
from sfumato.counts import FrequencySet
from sfumato.derivations import Preparation
from sfumato.drafting.choosing import DraftSearch
from sfumato.drafting.domains import with_domains
from sfumato.drafting.given import Instructions
from sfumato.drafting.guess import Guess, guess, guess_table, separator_in
from sfumato.drafting.inspection import Inspection, inspect_counts
from sfumato.drafting.policy import (
    Draft,
    DraftedColumn,
    draft_columns,
    draft_rules,
    language_of_table,
)
from sfumato.drafting.price import WAYS, JudgedDraft
from sfumato.errors import (
    InputError,
    ParameterError,
    PolicyError,
    SfumatoError,
    UnknownNameError,
    require_int,
    some,
)
from sfumato.files.reading import Reading, TextFile, said_of_all, saying
from sfumato.models import PrivacyModel
from sfumato.policy import GivenPolicy, InputRule, Policy, policy_of
from sfumato.policy.document import read_file
from sfumato.policy.parts import ProfileRule
from sfumato.policy.remedies import GiveRole, PromiseMore
from sfumato.populations import require_fraction
from sfumato.populations.weights import Averaging
from sfumato.profiles import GivenProfile, Profile, profile_of
from sfumato.recode.workshop import Workshop
from sfumato.releases.places import MemoryPlace
from sfumato.releases.preparing import open_as_it_is, open_prepared
from sfumato.releases.subject import Subject
from sfumato.schema import Role
from sfumato.tables import Domain, Table, count_people, open_table
from sfumato.tables.capabilities import Sets, Weights
from sfumato.tasks.anonymize import make_release
from sfumato.tasks.assessment import Assessment
from sfumato.tasks.decouple import decouple
from sfumato.tasks.verify import foresee, verify
from sfumato.typing import Progress, silent


def draft(  # noqa: PLR0913 - all but one have a default and are named
    data: object,
    *,
    roles: Mapping[str, str] = MappingProxyType({}),
    person: str | None = None,
    weight: str | Sequence[str] | None = None,
    household: str | None = None,
    drop: str | Sequence[str] = (),
    k: int | None = None,
    language: str | None = None,
    from_policy: GivenPolicy | None = None,
    input: Mapping[str, object] | None = None,  # noqa: A002 - as a policy calls it
    prefer: str | None = None,
    profile: GivenProfile | None = None,
    domains: bool = False,
    progress: Progress | None = None,
) -> Draft:
    """Guess what each column is and write a policy that says why, to be read and corrected.

    Promises: `anonymize` succeeds with the policy on this table, unless an identifier repeats:
    then it asks what a person is, and so does the draft. A column that is not
    understood is a quasi-identifier if it has few values or whole numbers: others may know those.
    Does not promise that the guesses are right. Only you know who will see the release
    and what they know already; a policy is yours once you have read every line.

    Hierarchies are drafted from the values and say roughly where their quantiles are.
    Where that matters write them down before looking at the data.

    Args:
        data: A path (CSV, Parquet, SPSS, Excel …) or a pandas, Polars or Arrow table.
        roles: The roles of columns of which you know better than a guess. A column that has one is
            not left out for the sake of others.
        person: The column that identifies people, if they may have several rows.
        weight: The column that says how many people of a population each row of a survey stands
            for, or several.
        household: The column that identifies households.
        drop: Columns that are not to be published.
        k: How many people at least are to look alike; 5 unless told otherwise.
        language: The language of labels: en, de, fr, es, it or nl. None takes that of the policy to
            start from, or of the names of columns where it is clear, and English else.
        from_policy: A policy to start from. What it says stays as it is written, with its comments;
            hierarchies and models are drafted again for columns named here and for those that it
            does not know.
        input: How a text file or a sheet is read, as in {"encoding": "windows-1252"}: the settings
            `input` of a policy. They are written into it.
        prefer: Which of the drafts is wanted: `columns` keeps every column, `detail` leaves out
            those that cost the others most, `apart` publishes each sensitive column in a table of
            its own. None takes the one of which least is gone among those in one piece that are
            not answered *no*; `draft.price.alternatives` has the others.
        profile: The rule you answer to, as `verify` takes it: the draft is written for its clauses,
            and names it.
        domains: Whether to draft the domain of each column, too, which `synthesize` needs. It is
            read off the table, and so marked as `drafted`: nothing is drawn from it until a person
            has confirmed and completed it.
        progress: Told how far each stage is.

    Example:
        >>> import pyarrow as pa
        >>> table = pa.table({"name": ["Ann", "Bob"], "sex": ["f", "m"], "age": [31, 47]})
        >>> drafted = draft(table)
        >>> drafted
        <Draft 1 identifier, 2 quasi-identifier>
        >>> drafted.reasons["sex"]
        'different in every row, looks like sex or gender by its name: others may know it'
        >>> draft(table, drop=["sex"], from_policy=drafted.policy).roles["sex"].value
        'dropped'
    """
    report = progress or silent
    if prefer is not None and prefer not in WAYS:
        raise UnknownNameError("draft", prefer, list(WAYS), where="prefer")
    given = Instructions.of(
        roles=roles,
        person=person,
        weight=weight,
        household=household,
        drop=drop,
        k=k,
        language=language,
    )
    given, folder = _with_start(given, from_policy)
    given = replace(given, reading=_reading(data, input))
    held = profile_of(profile)
    if held is not None:
        least = held.smallest_class
        named = ProfileRule.read(held)
        asked = max(filter(None, (given.k, least or 1)), default=1)
        given = replace(given, profile=named, k=asked if asked > _USUAL_K else given.k)
    with saying(given.reading):
        return _draft(data, given, folder, report, prefer, held, stated=domains)


_USUAL_K = 5


def _reading(data: object, said: Mapping[str, object] | None) -> Reading:
    """Return all settings for how the data is read, as far as they are not found out."""
    own = data.reading if isinstance(data, TextFile) else Reading()
    return own.over(InputRule.read(said or {}).reading.over(said_of_all()))


def _draft(
    data: object,
    given: Instructions,
    folder: Path | None,
    report: Progress,
    prefer: str | None,
    profile: Profile | None,
    *,
    stated: bool,
) -> Draft:
    table = open_prepared(data, given.start)
    given.require(table.columns)
    domains = table.domains(table.columns, progress=lambda done, total: report("look", done, total))
    if not domains:
        raise InputError(
            "no column holds one value per row, so nothing can be learned about a person. "
            "Split structs and the like into plain columns; for lists of items write a policy with "
            "the role set."
        )
    _require_several(table)
    _require_enough(given, domains)
    others = [name for name in table.columns if name not in domains]
    sets = [name for name in others if _is_set(table, name)]
    guesses = guess_table(table, domains, sets)
    for name, role in given.roles.items():
        _require_possible(table, name, role, domains.get(name), sets)
        guesses[name] = guesses[name]._replace(role=role, reason="as was said", certain=True)
    guesses = _without_lost_originals(guesses, given, domains, table)
    told = given.language or _language_of_start(given.start) or language_of_table(domains)
    given = replace(given, language=told)
    columns = draft_columns(_with_roles_of_start(guesses, given), domains, told)
    columns = _with_rules_of_start(columns, given)
    if profile is not None:
        columns = _under_profile(columns, domains, profile, given)
    if stated:
        columns = with_domains(columns, domains)
    return _with_price(data, columns, domains, report, given, folder, prefer)


def _with_start(given: Instructions, start: GivenPolicy | None) -> tuple[Instructions, Path | None]:
    """Return what was said with the policy to start from as it is written, and its folder."""
    if start is None:
        return given, None
    if isinstance(start, str | PathLike):
        file = Path(start)
        text = read_file(file)
        return replace(
            given, start=Policy.from_yaml(text, origin=str(file)), text=text
        ), file.parent
    policy = policy_of(start)
    return replace(given, start=policy, text=policy.to_yaml()), None


def _language_of_start(start: Policy | None) -> str | None:
    """Return the language of most labels of the policy to start from; None without any."""
    rules = () if start is None else start.columns.values()
    said = Counter(getattr(rule.hierarchy, "language", None) for rule in rules)
    del said[None]
    return said.most_common(1)[0][0] if said else None


def _require_several(table: Table) -> None:
    """Raise if a text file has one column: it was hardly read as it is meant."""
    if table.kind == "csv" and len(table.columns) == 1:
        raise InputError(
            f"the table has one column, {table.columns[0]!r}, so others can learn nothing about a "
            "person they know. If it holds several, say what separates them: "
            "--input delimiter=… (input={'delimiter': …})"
        )


def _require_enough(given: Instructions, domains: Mapping[str, Domain]) -> None:
    """Raise if more people are to look alike than there are rows."""
    total = next(iter(domains.values())).total
    if given.k is not None and given.k > max(total, 2):
        why = f"the table has {total} rows"
        raise ParameterError("k", given.k, f"a number from 2 to {max(total, 2)}", why=why)


def _require_possible(
    table: Table, name: str, role: Role, domain: Domain | None, sets: Sequence[str]
) -> None:
    """Raise if a column cannot have the role that was said."""
    allowed: tuple[Role, ...] = ()
    if domain is None:
        allowed = (Role.IDENTIFIER, Role.DROPPED, *((Role.SET,) if name in sets else ()))
        why = f"{name!r} does not hold one value per row"
    elif role is Role.SET and not (domain.rows.size and separator_in(domain)):
        allowed = tuple(each for each in Role if each is not Role.SET)
        why = f"nothing separates items in the cells of {name!r}"
    if allowed and role not in allowed:
        expected = f"one of {', '.join(allowed)} for this column"
        raise ParameterError("roles", {name: role.value}, expected, why=why)
    if role is Role.WEIGHT:
        Weights.expect(table, [name]).weigh([name])[name].require(name, Averaging(), main=True)


def _without_lost_originals(
    guesses: Mapping[str, Guess], given: Instructions, domains: Mapping[str, Domain], table: Table
) -> dict[str, Guess]:
    """Guess columns by themselves that were copies of one that is not published now."""
    found = dict(guesses)
    for name, each in guesses.items():
        lost = given.roles.get(each.of or "") in (Role.DROPPED, Role.IDENTIFIER)
        if lost and name not in given.roles and name in domains:
            found[name] = guess(domains[name], table.variables.get(name))
    return found


def _with_roles_of_start(guesses: Mapping[str, Guess], given: Instructions) -> dict[str, Guess]:
    """Return what columns are: as was said, as the policy to start from says, or as was guessed."""
    if given.start is None:
        return dict(guesses)
    found = {}
    for name, each in guesses.items():
        role = given.start.role_of(name)
        if name in given.roles or role is None:
            found[name] = each
        elif name in given.start.columns:
            found[name] = each._replace(role=role, reason="as in the policy", certain=True)
    return found


def _with_rules_of_start(
    columns: Mapping[str, DraftedColumn], given: Instructions
) -> dict[str, DraftedColumn]:
    """Return columns with what the policy to start from says of them, in its order."""
    if given.start is None:
        return dict(columns)
    kept = [name for name in given.start.columns if name in columns]
    found = {}
    for name in (*kept, *(name for name in columns if name not in kept)):
        column, rule = columns[name], given.start.columns.get(name)
        if rule is not None and name not in given.roles:
            column = DraftedColumn(rule, column.guess)
        elif rule is not None and rule.dates is not None and _may_have_dates(column):
            # What was read by it is in one form now, and would not tell it again.
            column = DraftedColumn(column.rule.replace(dates=rule.dates), column.guess)
        found[name] = column
    return found


def _under_profile(
    columns: Mapping[str, DraftedColumn],
    domains: Mapping[str, Domain],
    profile: Profile,
    given: Instructions,
) -> dict[str, DraftedColumn]:
    """Return columns as a rule wants them, and which of them it settles.

    What the owner of the table says goes before it; the clauses tell then what that breaks.
    """
    found = dict(columns)
    for name, column in columns.items():
        domain = domains.get(name)
        if domain is None or name in given.roles:
            continue
        asked = profile.column_rule(domain, column.rule.role)
        if asked is not None:
            rule, why = asked
            if rule.role is Role.QUASI_IDENTIFIER and column.rule.dates is not None:
                rule = rule.replace(dates=column.rule.dates)
            guess = column.guess._replace(role=rule.role, reason=why, certain=True)
            found[name] = DraftedColumn(rule, guess)
    return found


def _may_have_dates(column: DraftedColumn) -> bool:
    return column.rule.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.PLAIN)


_MOST_TRIED, _FEWEST_TRIED = 1_000_000, 2_000
"""The most cells that a price is measured on; of more rows a sample is drawn, but of no fewer."""

_FEW = 500
"""The rows on which it is found out what each column costs."""


def _with_price(
    data: object,
    columns: Mapping[str, DraftedColumn],
    domains: Mapping[str, Domain],
    report: Progress,
    given: Instructions,
    folder: Path | None,
    prefer: str | None,
) -> Draft:
    """Count the table once, and choose on the counts what a draft promises."""
    policy = _in_folder(draft_rules(columns, domains, (), given), folder)
    tries: _CountedTries | None = None
    try:
        table = open_prepared(data, policy)
        counts = table.count(
            columns_to_count(policy, table.columns),
            progress=lambda done, total: report("count", done, total),
        )
    except SfumatoError:
        # Something must be said in the policy first, as the comments there ask for.
        pass
    else:
        tries = _CountedTries(counts, policy.counted_person, table, folder, report)
    return DraftSearch(domains, tries, given, prefer).draft(columns)


class _CountedTries:
    """Tries drafts on the counts of a table."""

    def __init__(
        self,
        counts: FrequencySet,
        person: str | None,
        table: Table,
        folder: Path | None,
        report: Progress,
    ) -> None:
        whole = _draw(counts, person, max(_MOST_TRIED // len(table.columns), _FEWEST_TRIED))
        few = _draw(whole, person, _FEW)
        self.rows = whole.total
        self.combinations = len(whole)
        self._table, self._folder, self._report = table, folder, report
        self._whole = CountedTable(whole, table.columns, maker=Workshop(), unowned=table.unowned)
        self._few = CountedTable(few, table.columns, maker=Workshop(), unowned=table.unowned)
        self._tries = 0

    def measure(self, policy: Policy) -> Trial | None:
        """Return what would be published, without any attack; None if nothing can be."""
        return self._try(policy, self._whole, loss_only=False)

    def compare(self, policy: Policy) -> Trial | None:
        """Return what would be published of a few rows, without any attack."""
        return self._try(policy, self._few, loss_only=True)

    def judge(self, policy: Policy, tried: Trial | None = None) -> JudgedDraft | None:
        """Return the verdict on what would be published: what `sf.verify` says of its release."""
        self._count_try()
        policy = _in_folder(policy, self._folder)
        try:
            if tried is not None:
                return _as_judged(foresee(tried, policy))
            if policy.sets:
                # Their items are decided on after the rest, row by row.
                subject = Subject.of(self._table, policy)
                rng = np.random.default_rng(self._whole.seed)
                made = make_release(subject, MemoryPlace(), rng=rng, report=silent)
                return _as_judged(verify(made, subject.policy))
            tried = try_on_counts(policy, self._whole)
            if not tried.published:
                return None
            if policy.decouple is not None:
                rows = tried.with_rows(policy)
                apart = decouple(rows, policy=policy, seed=self._whole.seed)
                tried = replace(tried, release=apart)
            return _as_judged(foresee(tried, policy))
        except SfumatoError:
            return None

    def _try(self, policy: Policy, table: CountedTable, *, loss_only: bool) -> Trial | None:
        self._count_try()
        if not policy.quasi_identifiers:
            return None
        try:
            return try_on_counts(_in_folder(policy, self._folder), table, loss_only=loss_only)
        except SfumatoError:
            return None

    def _count_try(self) -> None:
        self._tries += 1
        self._report("price", self._tries, None)


def _in_folder(policy: Policy, folder: Path | None) -> Policy:
    """Return a policy with the files it names where they are."""
    return policy if folder is None else policy.relative_to(folder)


def _draw(counts: FrequencySet, person: str | None, most: int) -> FrequencySet:
    """Return the counts of some rows, or of all rows of some people, if there are many."""
    return counts if counts.total <= most else draw_sample(counts, person, most).compact()


def draw_sample(counts: FrequencySet, person: str | None, most: int) -> FrequencySet:
    """Return the counts of some rows, or of all rows of some people; dictionaries stay whole.

    >>> drawn = draw_sample(FrequencySet.from_rows(["age"], [(31,), (31,), (47,)]), None, 2)
    >>> drawn.total, drawn.columns[0].values
    (2, (31, 47))
    """
    if counts.total <= most:
        return counts
    rng = np.random.default_rng(0)
    if person is None:
        rows = rng.multivariate_hypergeometric(counts.rows, most, method="marginals")
        return replace(counts, rows=rows.astype(np.int64)).without(rows == 0)
    people = len(counts.column(person).values)
    drawn = rng.random(people) < most / counts.total
    return counts.without(~drawn[counts.codes_of(person)])


def _as_judged(found: Assessment) -> JudgedDraft:
    told: dict[str, int] = {}
    besides: dict[str, int] = {}
    remedies: dict[str, tuple[PrivacyModel, ...]] = {}
    for each in found.succeeded:
        who = each.found
        alone = who is None or any(
            not knows.values and flags.any() for knows, flags in who.flags.items()
        )
        advised = [model for r in each.remedies if isinstance(r, PromiseMore) for model in r.models]
        for name in each.columns:
            own = [model for model in advised if model.columns == (name,)]
            remedies[name] = tuple(dict.fromkeys((*remedies.get(name, ()), *own)))
            where = told if alone else besides
            where[name] = max(where.get(name, 0), each.people)
    lines = found.adversaries
    undoing = [
        remedy.column
        for each in found.succeeded
        for remedy in each.remedies
        if isinstance(remedy, GiveRole) and remedy.role is Role.QUASI_IDENTIFIER
    ]
    return JudgedDraft(
        found.answer,
        found.at_risk,
        found.people,
        lines,
        told,
        besides,
        remedies,
        tuple(dict.fromkeys(undoing)),
    )


def _is_set(table: Table, name: str) -> bool:
    try:
        Sets.expect(table, [name]).require_sets({name: None})
    except InputError:
        return False
    return True


def inspect(  # noqa: PLR0913 - all but one have a default and are named
    data: object,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] = (),
    policy: GivenPolicy | None = None,
    population: object = None,
    weight: str | None = None,
    fraction: float | None = None,
    person: str | None = None,
    household: str | None = None,
    subsets: int = 3,
    progress: Progress | None = None,
) -> Inspection:
    """Show how far a table gives people away, without changing it.

    Promises: exact figures for the quasi-identifiers given, with missing values as values
    of their own. Does not promise that these are all that others may know: what is not
    named a quasi-identifier is not looked at.

    Args:
        data: A path (CSV, Parquet, SPSS, Excel …) or a pandas, Polars or Arrow table.
        quasi_identifiers: The columns others may know; None takes the policy's, or
            guesses them as `draft` does.
        sensitive: The columns to protect.
        policy: A policy, its path, or its settings as a mapping, instead of the two above.
        population: A table of the people the data was drawn from; None takes the policy's.
        weight: The column that says how many people of a population each row of a survey stands
            for: the people of each class are estimated by it, which is no promise. None takes the
            policy's, or one that looks like it.
        fraction: The share of a population that is in the table, as 0.01: from it, or from weights,
            it is estimated how many people are unique in the population and how many are found,
            which is no promise either. None takes the policy's `sampling_fraction`.
        person: The column that tells people apart, if they may have several rows: they are counted
            then, each once. None takes the policy's.
        household: The column that says who lives together; None takes the policy's.
        subsets: Sets of at most this many columns are looked at for those that single people
            out, and for special uniques; 0 skips that.
        progress: Told how far each stage is.

    Example:
        >>> import pyarrow as pa
        >>> table = pa.table({"age": [31, 31, 47], "ill": ["flu", "gout", "flu"]})
        >>> found = inspect(table, quasi_identifiers=["age"], sensitive=["ill"])
        >>> found
        <Inspection 3 rows in 2 classes, smallest 1, 33 % of rows unique>
        >>> found.risk.average, found.sensitive[0].largest_share
        (0.6666666666666666, 1.0)
        >>> panel = table.append_column("who", [[1, 1, 2]])
        >>> inspect(panel, quasi_identifiers=["age"], person="who")
        <Inspection 3 rows of 2 people in 2 classes, fewest people 1, 100 % of people alone in one>
    """
    report = progress or silent
    why = "sets of at most this many columns are looked at, and 0 looks at none"
    require_int("subsets", subsets, at_least=0, why=why)
    rules = policy_of(policy)
    if fraction is None and rules is not None:
        fraction = rules.sample
    if fraction is not None:
        require_fraction(fraction)
    table = open_table(data, None if rules is None else rules.reading)
    if rules is not None:
        # A release has what was derived already, and is inspected with its policy.
        table = open_as_it_is(table, rules, [*rules.quasi_identifiers, *rules.sensitive])
        if {*rules.columns} <= {*table.columns}:
            rules = Subject.of(table, rules).policy
    roles = _roles(table, quasi_identifiers, sensitive, policy, report)
    names = roles.quasi_identifiers
    weight = _weight(table, roles, weight)
    person, household = _private(table, roles, rules, person, household)
    columns = (*names, *roles.sensitive, *filter(None, [person, household]))
    stands_for = None
    if weight is None:
        counts = table.count(columns, progress=lambda done, total: report("count", done, total))
    else:
        counts, by_weight = table.count_weighted(
            columns, weight, progress=lambda done, total: report("count", done, total)
        )
        stands_for = weight, by_weight
    everyone = population if population is not None else roles.population
    people = _people(everyone, names, None if rules is None else rules.preparation, report)
    return inspect_counts(
        counts,
        names,
        roles.sensitive,
        people,
        weight=stands_for,
        fraction=fraction,
        roles_from=roles.come_from,
        subsets=subsets,
        report=lambda done, total: report("subsets", done, total),
        person=_repeating(counts, person),
        household=household,
    )


def _private(
    table: Table, roles: "_Roles", policy: Policy | None, person: str | None, household: str | None
) -> tuple[str | None, str | None]:
    """Return the columns that tell people apart and say who lives together, if there are such."""
    found = []
    kept = None if policy is None else policy.counted_person, getattr(policy, "household", None)
    for name, given, own in zip(("person", "household"), (person, household), kept, strict=True):
        if given is not None:
            table.require((given,))
            if given in (*roles.quasi_identifiers, *roles.sensitive):
                raise ParameterError(name, given, "a column that is neither known nor sensitive")
        # A release has neither, and is inspected with its policy.
        found.append(given or (own if own in table.columns else None))
    return found[0], found[1]


def _repeating(counts: FrequencySet, person: str | None) -> str | None:
    """Return the column that identifies people, if some of them have several rows."""
    if person is None:
        return None
    missing = counts.column(person).missing
    if missing >= 0 and (rows := int(counts.value_counts(person)[missing])):
        raise InputError(
            f"{rows} of {counts.total} rows have no {person!r}, so it cannot be counted how many "
            "people they are. Give each a number, or leave them out."
        )
    return person if int(counts.value_counts(person).max(initial=0)) > 1 else None


class _Roles(NamedTuple):
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    come_from: Literal["given", "policy", "guessed"]
    population: object = None
    weights: tuple[str, ...] = ()


def _weight(table: Table, roles: _Roles, given: str | None) -> str | None:
    """Return the weight that people are estimated by, if there is one."""
    if given is None:
        return next((name for name in roles.weights if name in table.columns), None)
    if given in (*roles.quasi_identifiers, *roles.sensitive):
        raise ParameterError("weight", given, "a column that is neither known nor sensitive")
    Weights.expect(table, [given]).weigh([given])[given].require(given, Averaging(), main=True)
    return given


def _roles(
    table: Table,
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str],
    policy: GivenPolicy | None,
    report: Progress,
) -> _Roles:
    secret = _column_names("sensitive", sensitive)
    rules = None if policy is None else policy_of(policy)
    if quasi_identifiers is not None:
        known = _column_names("quasi_identifiers", quasi_identifiers)
    elif rules is not None:
        known = rules.quasi_identifiers
    else:
        return _guess_roles(table, secret, report)
    if not known:
        why = "without any, all people are in one class"
        raise ParameterError("quasi_identifiers", [], "at least one column", why=why)
    both = [name for name in known if name in secret]
    if both:
        raise ParameterError(
            "sensitive", list(secret), f"other columns than the quasi-identifiers, not {some(both)}"
        )
    if rules is None:
        return _Roles(known, secret, "given")
    # Not check_against: a release has no identifiers, and is inspected with its policy.
    secret = secret or tuple(name for name in rules.sensitive if name not in known)
    return _Roles(known, secret, "policy", rules.population_table, rules.weights)


def _column_names(name: str, given: Sequence[str]) -> tuple[str, ...]:
    columns = (given,) if isinstance(given, str) else tuple(given)
    wrong = [column for column in columns if not isinstance(column, str)]
    if wrong or len(set(columns)) < len(columns):
        raise ParameterError(name, list(columns), "a list of column names, each once")
    return columns


def _guess_roles(table: Table, secret: tuple[str, ...], report: Progress) -> _Roles:
    table.require(secret)
    domains = table.domains(table.columns, progress=lambda done, total: report("look", done, total))
    guessed = {name: guess.role for name, guess in guess_table(table, domains).items()}
    # Looked at as they are, sets of items are one value, and others may know all of it.
    roles = {n: Role.QUASI_IDENTIFIER if r is Role.SET else r for n, r in guessed.items()}
    roles |= dict.fromkeys(secret, Role.SENSITIVE)
    known = _with(roles, Role.QUASI_IDENTIFIER)
    if not known:
        raise PolicyError(
            "none of the columns looks like a quasi-identifier, something that others may know. "
            "Name them, as in quasi_identifiers=['age', 'sex'] or --qi age,sex"
        )
    weights = _with(roles, Role.WEIGHT)
    return _Roles(known, _with(roles, Role.SENSITIVE), "guessed", weights=weights)


def _with(roles: Mapping[str, Role], role: Role) -> tuple[str, ...]:
    return tuple(name for name, given in roles.items() if given is role)


def _people(
    population: object,
    names: tuple[str, ...],
    preparation: Preparation | None,
    report: Progress,
) -> FrequencySet | None:
    if population is None:
        return None
    return count_people(
        population,
        names,
        preparation=preparation,
        progress=lambda done, total: report("population", done, total),
    )
