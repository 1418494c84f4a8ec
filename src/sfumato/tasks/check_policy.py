"""Check policy: what a new file would change under a policy that was written for another."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from sfumato.attacks.adversary.trial import CountedTable, columns_to_count, try_on_counts
from sfumato.dataclasses import dataclass
from sfumato.errors import HierarchyError, SfumatoError, some
from sfumato.hierarchy import Frequent, HierarchyBuilder, KnownTree, Suppress
from sfumato.policy import ColumnRule, GivenPolicy, Policy, policy_of
from sfumato.releases.people import Repetition, find_repetition, keys_of
from sfumato.releases.preparing import open_prepared
from sfumato.releases.subject import Subject
from sfumato.schema import Role
from sfumato.showing.content import Cell, Content, ContentTable, Part, Sentence, Showable
from sfumato.tables import Domain, Table, open_table
from sfumato.text import format_integer, number_of, percent, text_of
from sfumato.typing import Progress, Value, silent

_MOST_NAMED = 8
"""Values that are shown by name, of one change."""

_MOST_TRIED = 10_000
"""Values of which it is found out one by one whether a hierarchy has a place for them."""


@dataclass(frozen=True)
class TableChange:
    """Something in a new file that a policy did not expect.

    >>> TableChange("ward", "new column", "the policy does not name it", stops=True).values
    ()
    """

    column: str
    """Empty for what is about the table as a whole."""

    kind: str
    """What changed: new column, missing column, type, new values, new extremes, extremes, no place,
    other, people, promise, hierarchy."""

    text: str
    """What it is and what becomes of it, without any value."""

    stops: bool = False
    """Whether nothing is published before it is settled."""

    rows: int = 0
    """The rows it is about, if that was counted."""

    values: tuple[str, ...] = field(default=(), repr=False)
    """The values it is about: for the owner alone."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, with values counted and not named."""
        return {
            "column": self.column or None,
            "kind": self.kind,
            "text": self.text,
            "stops": self.stops,
            "rows": self.rows,
            "values": len(self.values),
        }


@dataclass(frozen=True)
class PolicyCheck(Showable):
    """What a new file would change."""

    rows: int
    changes: tuple[TableChange, ...]
    """What stops a release first, then in the order of the policy."""

    suppressed: int | None = None
    """The rows that a release would leave out; None if none was tried."""

    loss: float | None = None
    """Its loss; None if none was tried."""

    @property
    def fits(self) -> bool:
        """Whether the file can be published by the policy as it is."""
        return not any(change.stops for change in self.changes)

    def content(self, *, names: bool = False) -> Content:
        """Return what changed, with the values by name if the owner alone will see it.

        Args:
            names: Whether values are named.
        """
        stops = sum(change.stops for change in self.changes)
        other = len(self.changes) - stops
        rows = f"{format_integer(self.rows)} rows"
        if not self.changes:
            line = f"The policy fits, and nothing is new in {rows}."
        elif self.fits:
            line = f"The policy fits; {_count(other, 'thing', 'things')} to know, in {rows}."
        else:
            line = (
                f"The policy does not fit: {_count(stops, 'thing', 'things')} to settle first, "
                f"{other} more to know, in {rows}."
            )
        parts: list[Part] = []
        if self.changes:
            shown: list[list[Cell]] = []
            for each in self.changes:
                named = ""
                if names and each.values:
                    named = f": {some(each.values, most=_MOST_NAMED)}"
                what = f"{each.kind}{' (settle first)' if each.stops else ''}"
                shown.append([each.column or "the table", what, f"{each.text}{named}"])
            heads = ("column", "what", "and what becomes of it")
            parts.append(ContentTable.of("", heads, shown, most=None))
        if self.suppressed is not None and self.loss is not None:
            share = percent(self.suppressed / max(self.rows, 1))
            text = f"A release would leave out {share} of the rows, at a loss of {self.loss:.2f}."
            parts.append(Sentence(text))
        return Content(line, tuple(parts), "holds" if self.fits else "broken")

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values; values are counted, and not named."""
        return {
            "fits": self.fits,
            "rows": self.rows,
            "changes": [change.to_dict() for change in self.changes],
            "suppressed": self.suppressed,
            "loss": self.loss,
        }

    def __repr__(self) -> str:
        stops = sum(change.stops for change in self.changes)
        state = "fits" if self.fits else f"{stops} to settle"
        return f"<PolicyCheck {state}, {_count(len(self.changes), 'change', 'changes')}>"


def check_policy(
    policy: GivenPolicy,
    data: object,
    *,
    before: object = None,
    progress: Progress | None = None,
) -> PolicyCheck:
    """Show what a new file would change under a policy that was written for an earlier one.

    It looks at columns that are new or missing; at values that a hierarchy has no place for, puts
    among the others, or into the open range at an end; at keys of people that repeat or no longer
    do; and at whether the promises can be kept. With the earlier file it also finds changed types,
    and says of values and extremes only what is new. Nothing is written.

    Promises: where the check fits, `sf.anonymize` with this policy makes a release of the file.
    Does not promise that roles are still right: what a new column means, only you know.

    Args:
        policy: A policy, its path, or its settings as a mapping.
        data: The new file or table.
        before: The file or table that the policy was written for, if it is still there.
        progress: Told how far each stage is.

    Example:
        >>> import pyarrow as pa
        >>> ages = {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10]}}
        >>> policy = {"columns": {"age": ages}, "models": [{"model": "k-anonymity", "k": 2}]}
        >>> check_policy(policy, pa.table({"age": [31, 32, 33]}))
        <PolicyCheck fits, 0 changes>
        >>> found = check_policy(policy, pa.table({"age": ["31", "old"], "ward": ["A", "B"]}))
        >>> [(change.column, change.kind) for change in found.changes]
        [('ward', 'new column'), ('age', 'no place')]
        >>> found.fits, found.changes[1].values
        (False, ('old',))
    """
    report = progress or silent
    rules = policy_of(policy)
    table, changes = _open(data, rules)
    changes += _list_columns(table, rules)
    domains = table.domains(table.columns, progress=lambda done, total: report("look", done, total))
    for name, rule in rules.columns.items():
        if name in domains:
            changes += _list_places(domains[name], rule.hierarchy, rule.role)
    changes += _list_people(domains, rules)
    if before is not None:
        others = {change.column for change in changes if change.kind == "other"}
        # What was among the others before, or in an open range, is not new.
        changes = [change for change in changes if change.kind not in ("other", "extremes")]
        changes += _compare(_open(before, rules)[0], domains, rules, others)
    rows = next((domain.total for domain in domains.values()), 0)
    found = PolicyCheck(rows, _sort(changes))
    return _with_promises(found, table, rules, report) if found.fits else found


def _open(data: object, policy: Policy) -> tuple[Table, list[TableChange]]:
    """Open a table as the policy means it, or as it is, with what stands in the way."""
    try:
        return open_prepared(data, policy), []
    except SfumatoError as error:
        table = open_table(data, policy.reading)
        if _lacking(table, policy):
            return table, []
        return table, [TableChange("", "type", str(error), stops=True)]


def _list_columns(table: Table, policy: Policy) -> list[TableChange]:
    found = []
    for name in table.columns:
        if name not in policy.columns:
            role = policy.other
            text = (
                "the policy does not name it. Give it a role, or say what becomes of all such "
                "columns, as in other: dropped"
                if role is None
                else f"the policy does not name it: it is {role}, as all others"
            )
            found.append(TableChange(name, "new column", text, stops=role is None))
    text = "the policy names it. Take it out of the policy, or find out where it is"
    gone = [
        TableChange(name, "missing column", text, stops=True) for name in _lacking(table, policy)
    ]
    return [*found, *gone]


def _lacking(table: Table, policy: Policy) -> list[str]:
    """Return the columns that a policy names and a table does not have."""
    made = {name for step in policy.derive for name in step.made}
    asked = {name for step in policy.derive for name in step.dates} - made
    named = [*policy.columns, *sorted(asked), policy.counted_person, policy.household]
    return [
        name
        for name in dict.fromkeys(filter(None, named))
        if name not in table.columns and name not in made
    ]


def _list_places(domain: Domain, builder: HierarchyBuilder | None, role: Role) -> list[TableChange]:
    """Return what a hierarchy makes of values that the policy does not name."""
    if builder is None or role not in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        return []
    name, rows = domain.column, _rows_of(domain)
    if builder.suggests and builder.ends_around(()) is None:
        text = (
            "its labels come from the values of each file. Write the hierarchy down to have the "
            "same"
        )
        return [TableChange(name, "hierarchy", text)]
    values = domain.values()
    strict = _refusing(builder) if builder.takes_unlisted else builder
    without = _without_place(name, strict, values)
    if without and builder.takes_unlisted:
        text = f"the policy does not name {_count_values(without)}: they are one group, other"
        return [_of_values(name, "other", text, without, rows)]
    if without:
        text = (
            f"the hierarchy ({builder.name}) has no place for {_count_values(without)}. Add them, "
            "correct them, or leave them empty"
        )
        return [_of_values(name, "no place", text, without, rows, stops=True)]
    if builder.has_ends:
        return _list_beyond(name, builder, rows) if role is Role.QUASI_IDENTIFIER else []
    others: list[str] = []
    if isinstance(builder, Frequent):
        kept = {*builder.keep[0]}
        others = [text for text in rows if text not in kept]
    elif isinstance(builder, KnownTree):
        others = [text_of(v) for v in values[:_MOST_TRIED] if _fails(builder, name, v)]
    text = f"the policy does not name {_count_values(others)}: they are among the others"
    return [_of_values(name, "other", text, others, rows)] if others else []


def _list_beyond(
    name: str, builder: HierarchyBuilder, rows: Mapping[str, int]
) -> list[TableChange]:
    """Return the values in the open ranges at both ends, and which ranges those are."""
    beyond = [text for text in rows if builder.open_range_of(text) is not None]
    if not beyond:
        return []
    text = f"{_count_values(beyond)} {_lie(beyond)} beyond the ends of its ranges"
    return [_of_values(name, "extremes", text + _say_where(builder, beyond), beyond, rows)]


def _refusing(builder: HierarchyBuilder) -> HierarchyBuilder:
    """Return the same hierarchy, which refuses what it does not list."""
    return type(builder)(**{**builder.params(), "new": "refuse"})


def _without_place(name: str, builder: HierarchyBuilder, values: list[Value]) -> list[str]:
    """Return the values that a hierarchy refuses."""
    if not values or isinstance(builder, Suppress):
        return []
    stated = None
    try:
        stated = builder.build_stated(name) if builder.states_values else None
        if stated is None:
            builder.build(name, values)
            return []
    except HierarchyError:
        return [text_of(v) for v in values[:_MOST_TRIED] if _fails(builder, name, v)] or ["?"]
    if isinstance(builder, KnownTree):
        return []
    known = {text_of(value) for value in stated.values}
    return [text for text in map(text_of, values) if text not in known]


def _fails(builder: HierarchyBuilder, name: str, value: Value) -> bool:
    try:
        builder.build(name, [value])
    except HierarchyError:
        return True
    return False


def _list_people(domains: Mapping[str, Domain], policy: Policy) -> list[TableChange]:
    """Return what changed about who has several rows."""
    person = policy.counted_person
    if person is not None and person in domains:
        found = Repetition.of(domains[person])
        if found.missing:
            text = f"{format_integer(found.missing)} rows do not say whose they are"
            return [TableChange(person, "people", text, rows=found.missing)]
        if not found.several:
            text = "it no longer repeats: every person has one row, so rows are counted"
            return [TableChange(person, "people", text)]
        return []
    if policy.person is not None:
        return []
    roles = {name: policy.role_of(name) for name in domains}
    repeated = find_repetition(domains, keys_of(roles))
    if repeated is None:
        return []
    text = f"{repeated}. Say what a person is, as in person: {repeated.column}"
    if not repeated.clear:
        text = f"{repeated}: their rows count as different people"
    return [TableChange(repeated.column, "people", text, stops=repeated.clear)]


def _compare(
    before: Table, domains: Mapping[str, Domain], policy: Policy, others: Collection[str]
) -> list[TableChange]:
    """Return what the earlier file did not have.

    Args:
        before: The earlier file.
        domains: The values of the new one.
        policy: The policy.
        others: The columns in which some values are among the others.
    """
    found = []
    names = [name for name in before.columns if name in domains and name in policy.columns]
    told = [n for n in names if policy.columns[n].role not in (Role.IDENTIFIER, Role.DROPPED)]
    earlier = before.domains(told)
    for name in told:
        if name not in earlier:
            continue
        old, new = _rows_of(earlier[name]), _rows_of(domains[name])
        numbers = _numbers(old), _numbers(new)
        if old and new and (numbers[0] is None) != (numbers[1] is None):
            now = "no longer all numbers" if numbers[1] is None else "all numbers now"
            found.append(TableChange(name, "type", f"its values are {now}"))
        elif numbers[0] and numbers[1]:
            found += _extremes(name, numbers[0], numbers[1], new, policy.columns[name])
        elif fresh := [text for text in new if text not in old]:
            text = f"the earlier file did not have {_count_values(fresh)}"
            text += "; what the policy does not name is among the others" * (name in others)
            found.append(_of_values(name, "new values", text, fresh, new))
    return found


def _extremes(
    name: str,
    old: Mapping[str, float],
    new: Mapping[str, float],
    rows: Mapping[str, int],
    rule: ColumnRule,
) -> list[TableChange]:
    low, high = min(old.values()), max(old.values())
    outside = [text for text, number in new.items() if not low <= number <= high]
    if not outside:
        return []
    text = f"{_count_values(outside)} {_lie(outside)} beyond all of the earlier file"
    if rule.role is Role.QUASI_IDENTIFIER:
        text += _say_where(rule.hierarchy, outside)
    return [_of_values(name, "new extremes", text, outside, rows)]


def _say_where(builder: HierarchyBuilder | None, values: Sequence[str]) -> str:
    """Return where extremes are placed, in half a sentence; nothing if it depends on the file."""
    if builder is None or not builder.has_ends:
        return ""
    found = [builder.open_range_of(text) for text in values]
    labels = ["in a range like the others"] if None in found else []
    labels += [repr(each) for each in dict.fromkeys(found) if each is not None]
    return f": {'it is' if len(values) == 1 else 'they are'} {' or '.join(labels)}"


def _lie(values: Sequence[str]) -> str:
    return "lies" if len(values) == 1 else "lie"


def _numbers(rows: Mapping[str, int]) -> dict[str, float] | None:
    """Return the numbers that texts are; None if some is none."""
    found = {text: number_of(text) for text in rows}
    known = {text: number for text, number in found.items() if number is not None}
    return known if len(known) == len(found) else None


def _rows_of(domain: Domain) -> dict[str, int]:
    return dict(zip(map(text_of, domain.values()), domain.rows.tolist(), strict=True))


def _of_values(
    name: str,
    kind: str,
    text: str,
    values: Iterable[str],
    rows: Mapping[str, int],
    *,
    stops: bool = False,
) -> TableChange:
    listed = tuple(values)
    n = sum(rows.get(value, 0) for value in listed)
    about = f"{text} ({_count(n, 'row', 'rows')})"
    return TableChange(name, kind, about, stops=stops, rows=n, values=listed)


def _with_promises(
    found: PolicyCheck, table: Table, policy: Policy, report: Progress
) -> PolicyCheck:
    """Return the check with what a release would keep, tried on counts."""
    try:
        subject = Subject.of(table, policy)
        names = columns_to_count(subject.policy, table.columns)
        counts = table.count(names, progress=lambda done, total: report("count", done, total))
        report("price", 0, None)
        tried = try_on_counts(
            subject.policy,
            CountedTable(counts, table.columns, unowned=table.unowned),
            loss_only=True,
        ).figures
    except SfumatoError as error:
        broken = TableChange("", "promise", str(error), stops=True)
        return replace(found, changes=_sort([*found.changes, broken]))
    if not tried.published:
        broken = TableChange("", "promise", "no row could be published", stops=True)
        return replace(found, changes=_sort([*found.changes, broken]))
    return replace(found, suppressed=tried.suppressed, loss=tried.loss)


def _sort(changes: Iterable[TableChange]) -> tuple[TableChange, ...]:
    return tuple(sorted(changes, key=lambda change: not change.stops))


def _count(n: int, one: str, several: str) -> str:
    return f"{format_integer(n)} {one if n == 1 else several}"


def _count_values(values: Iterable[str]) -> str:
    return _count(len([*values]), "value", "values")
