"""The deFinetti attack: what joins decoupled tables, learned from the tables themselves."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from sfumato.attacks.base import Attack, Beliefs, Outcome
from sfumato.attacks.pairing import (
    FEWEST_GROUPS,
    SEED,
    Dependence,
    GroupBatch,
    Pairing,
    learn_dependence,
)
from sfumato.attacks.target import Target
from sfumato.counts import Column, group
from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import GroupedTables, LinkedTables
from sfumato.decouplings.slices.correlation import bin_values
from sfumato.errors import InputError, ParameterError, UnknownColumnError, require_text
from sfumato.harm import HarmRule, Secrecy
from sfumato.models import TCloseness
from sfumato.policy.remedies import PromiseMore, Remedy
from sfumato.text import percent, text_of, text_or_none
from sfumato.typing import BoolArray, CodeArray, FloatArray, IntArray, Value

_VALUES = 64
"""The most sensitive values that are told apart; rarer ones are taken together."""

_BINS = 16
"""Known numbers and days of more values are put into this many bins, each with as many rows."""

_SUPPORT = 5
"""A known value that fewer people have teaches nothing."""

_PAIRS = 20
"""The most pairs of sensitive columns that are tried, those first that vary together most."""


_TOO_FEW = "too few to separate what was learned from chance"


@dataclass(frozen=True)
class DeFinetti(Attack):
    """Learn from decoupled tables which values go together, and join each group accordingly.

    A group has three people on insulin and two on AZT; another table says that three have
    diabetes and two HIV. If every way of joining the tables were equally likely, a person on
    insulin would have diabetes with 60 %. But in all groups there are as many people on insulin
    as with diabetes. The tables teach what joins them; it need not be known from elsewhere.

    How much likelier each value is for each known one is learned by expectation-maximisation
    over the groups' tables, always without the group that is judged. What is learned counts only
    if the published tables fit it better than 99.5 % of copies in which the groups' tables are
    paired at random, and only as strongly as the groups left out bear it out.

    Finds: people of whom a value is believed more than its share in their group lets expect, by
    an adversary who knows the group and the quasi-identifiers (anatomy), one sensitive value
    or the plain columns (break-merge), or the columns of one other slice and those beside the
    sensitive one (slicing).
    Does not find: what only three columns together show; what rules that differ from group to
    group tell; anything in fewer than six groups; what further slices add. It cannot tell people
    from groups: if two columns vary together between groups alone, it takes that for a
    dependence, as every reader of the tables would.

    Reference: Kifer, "Attacks on privacy and deFinetti's theorem", 2009,
    doi:10.1145/1559845.1559861

    Args:
        column: The sensitive column.
        known: What is known of the person besides the group: another sensitive column, or the
            columns of a slice with + between them. None takes the only other table.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> drug = rng.choice(["AZT", "insulin", "statin", "codeine"], 600)
        >>> illness = dict(zip(np.unique(drug), ["hiv", "pain", "diabetes", "lipids"]))
        >>> rows = [(f"area {i // 20}", d, illness[d]) for i, d in enumerate(drug.tolist())]
        >>> from sfumato.counts import FrequencySet
        >>> counts = FrequencySet.from_rows(["area", "drug", "ill"], rows)
        >>> grouped = GroupedTables.of(counts, ["area"], ["drug", "ill"])
        >>> target = Target.of_grouped("break-merge", grouped)
        >>> outcome = DeFinetti("ill", known="drug").on(target, HarmRule())
        >>> outcome.people, outcome.of, outcome.worst[0].believed
        (600, 600, 'ill = diabetes')
    """

    name: ClassVar[str] = "definetti"
    how: ClassVar[str] = (
        "Learns from the published tables alone which values go together, and joins the tables of "
        "each group accordingly."
    )
    advice: ClassVar[str] = (
        "Make groups larger or more alike (models: [{{model: t-closeness, column: {column}, "
        "t: 0.1}}]), or publish fewer columns."
    )

    column: str
    known: str | None = None

    def remedies(self, outcome: Outcome, rule: HarmRule) -> tuple[Remedy, ...]:
        return (PromiseMore((TCloseness(self.column, 0.1),)),)

    def __post_init__(self) -> None:
        require_text("column", self.column)
        if self.known is not None:
            require_text("known", self.known)

    def dependence(self, target: Target) -> Dependence:
        """Return what the tables teach; learned once per release."""
        return target.memoize(
            ("definetti", self), lambda each: learn_dependence(self.read(each).pairing)
        )

    def beliefs(self, target: Target, rule: HarmRule) -> Beliefs:
        """Return what is believed of the people of each group with the same known values."""
        return _judge(self.read(target), self.dependence(target), rule)[0]

    def read(self, target: Target) -> "Sides":
        """Read the two tables of a release that are to be joined."""
        return target.memoize(("sides", self), lambda each: _read(each, self.column, self.known))

    def on(self, target: Target, rule: HarmRule) -> Outcome:
        sides = self.read(target)
        pairing = sides.pairing
        dependence = self.dependence(target)
        beliefs, promised = _judge(sides, dependence, rule)
        outcome = beliefs.outcome(self, self.column, rule)
        note = _note(dependence, outcome, promised)
        if sides.pooled:
            note += f" All but the {_VALUES} commonest values of {self.column} are taken together."
        if dependence.learned_on < pairing.groups // 2:
            note += f" It was learned on {dependence.learned_on} of {pairing.groups} groups."
        columns = len(target.sensitive)
        left = columns * (columns - 1) // 2 - _PAIRS if target.grouped is not None else 0
        unreached = (
            f"{left} pairs of sensitive columns that vary together least" if left > 0 else ""
        )
        return replace(outcome, note=note, seed=SEED, unreached=unreached)

    @classmethod
    def against(cls, target: Target, rule: HarmRule) -> list[Self]:  # noqa: ARG003 - all alike
        if cls._reason(target):
            return []
        if target.grouped is not None:
            pairs = [cls(told, known) for known, told in _pairs(target)]
            names = () if target.published is None else target.grouped.names
            return [*pairs, *(cls(name, _beside(target)) for name in names)]
        [column] = target.sensitive
        assert target.published is not None  # noqa: S101 - else there is a reason
        tables = target.published()
        return [cls(column, known) for known in _other_tables(tables, column)]

    @classmethod
    def why_not(cls, target: Target) -> str:
        return cls._reason(target)

    @classmethod
    def left_open(cls, target: Target) -> str:
        why = cls._reason(target)
        return why if why.endswith(_TOO_FEW) else super().left_open(target)

    @classmethod
    def _reason(cls, target: Target) -> str:
        """Return why nothing can be learned; empty if something can."""
        if target.counts is not None:
            return "the table is in one piece: nothing has to be joined"
        if not target.sensitive:
            return super().why_not(target)
        if target.grouped is not None:
            if len(target.sensitive) < 2 and target.published is None:
                return "there are not two sensitive columns to be joined"
            groups = len(target.grouped)
        elif target.published is None:
            return "the tables beside that of the sensitive column are not known"
        else:
            groups = target.published().n
        if groups < FEWEST_GROUPS:
            there = "there is one group" if groups == 1 else f"there are {groups} groups"
            return f"{there}, {_TOO_FEW}"
        return ""

    @classmethod
    def example(cls) -> Self:
        return cls("disease")


# Reading the two sides from a release.


class GroupEntries(NamedTuple):
    """The entries of a table: the group of each, its people, and what it holds."""

    group: IntArray
    people: IntArray
    columns: tuple[Column, ...]
    codes: tuple[CodeArray, ...]

    def codes_of(self, name: str) -> CodeArray:
        """Return the codes of a column."""
        return self.codes[[column.name for column in self.columns].index(name)]

    def sort(self, order: IntArray) -> "GroupEntries":
        """Bring the entries into another order."""
        codes = tuple(each[order] for each in self.codes)
        return GroupEntries(self.group[order], self.people[order], self.columns, codes)

    def at(self, entry: int) -> dict[str, Value]:
        """Return what an entry holds."""
        each = zip(self.columns, self.codes, strict=True)
        return {column.name: column.values[int(codes[entry])] for column, codes in each}


@dataclass(frozen=True, eq=False)
class Sides:
    """The two tables as they are learned on, and as they are told."""

    pairing: Pairing
    known: GroupEntries
    """What people are recognised by, in the order of the pairing."""

    beside: GroupEntries
    """What is known beside each sensitive value, in the order of the pairing."""

    column: Column
    """The sensitive column."""

    code: IntArray
    """Per entry the code of its sensitive value; -1 if nothing is told by it."""

    present: BoolArray
    """Whether the value of each entry is known, and not missing."""

    run: IntArray
    """Per entry, the first of those that agree with it in what is known beside the value."""

    run_end: IntArray
    prior: FloatArray
    """The share of each value among all known ones."""

    secrecy: IntArray | None
    pooled: bool


def _read(target: Target, column: str, known: str | None) -> Sides:
    if column not in target.sensitive:
        raise UnknownColumnError(column, target.sensitive, where="the sensitive columns")
    if target.grouped is not None:
        if target.published is not None and known == _beside(target):
            return _read_beside(target, target.published(), column)
        return _read_groups(target, column, known)
    if target.published is None:
        raise InputError(f"definetti cannot be tried: {DeFinetti.why_not(target)}.")
    return _read_buckets(target, target.published(), column, known)


def _read_groups(target: Target, column: str, known: str | None) -> Sides:
    grouped = target.grouped
    assert grouped is not None  # noqa: S101 - the caller looked
    known = _choose(known, [name for name in grouped.names if name != column])
    one, two = grouped.table(known), grouped.table(column)
    labels = tuple(codes[one.group] for codes in grouped.labels)
    columns = (*grouped.quasi_identifiers, one.column)
    people = GroupEntries(one.group, one.rows, columns, (*labels, one.value))
    values = GroupEntries(two.group, two.rows, (two.column,), (two.value,))
    return _pair(target, people, [known], values, column)


def _beside(target: Target) -> str:
    """Return what stands beside the quasi-identifiers of a group, as it is named."""
    return "+".join(_names_beside(target))


def _names_beside(target: Target) -> list[str]:
    if target.published is None:
        return []
    tables = target.published()
    return [n for n in tables.names(tables.tables[0]) if n not in target.quasi_identifiers]


def _read_beside(target: Target, tables: LinkedTables, column: str) -> Sides:
    """Read the people of each group with what tells them apart, and one sensitive table."""
    known = _names_beside(target)
    people = _entries(tables, 0, tables.names(tables.tables[0]))
    sensitive = next(i for i, each in enumerate(tables.tables) if column in tables.names(each))
    values = _entries(tables, sensitive, tables.names(tables.tables[sensitive]))
    return _pair(target, people, known, values, column)


def _read_buckets(target: Target, tables: LinkedTables, column: str, known: str | None) -> Sides:
    others = _other_tables(tables, column)
    at = others[_choose(known, list(others))]
    sensitive = next(i for i, each in enumerate(tables.tables) if column in tables.names(each))
    bucket = str(tables.group)
    names = tables.names(tables.tables[at])
    people = _entries(tables, at, (bucket, *names))
    values = _entries(tables, sensitive, tables.names(tables.tables[sensitive]))
    return _pair(target, people, names, values, column)


def _entries(tables: LinkedTables, at: int, names: Sequence[str]) -> GroupEntries:
    table = tables.tables[at]
    return GroupEntries(
        tables.groups[at],
        tables.people[at].astype(np.int64),
        tuple(table.column(name) for name in names),
        tuple(table.codes_of(name) for name in names),
    )


def _other_tables(tables: LinkedTables, column: str) -> dict[str, int]:
    """Return the tables without the column, by the names of their columns."""
    every = enumerate(map(tables.names, tables.tables))
    return {"+".join(names): at for at, names in every if column not in names}


def _choose(known: str | None, others: Sequence[str]) -> str:
    """Return what is known; if it is not said, the only thing there is."""
    if known is None and len(others) == 1:
        return others[0]
    if known is None or known not in others:
        raise ParameterError("known", known, f"one of {list(others)}")
    return known


def _pair(
    target: Target, people: GroupEntries, learned: Sequence[str], values: GroupEntries, column: str
) -> Sides:
    """Sort two tables by group, and number what is learned.

    Args:
        target: The release.
        people: The table of what is known.
        learned: Those of its columns from which something is learned.
        values: The table with the sensitive column.
        column: The sensitive column.
    """
    beside = [each.name for each in values.columns if each.name != column]
    told = next(each for each in values.columns if each.name == column)
    sizes = [len(each.values) for each in values.columns if each.name != column]
    alike = group([values.codes_of(n) for n in beside], sizes, n=len(values.group)).of_item
    people, values = _number_groups(people, learned, values)
    people = people.sort(np.argsort(people.group, kind="stable"))
    values = values.sort(np.lexsort((values.codes_of(column), alike, values.group)))
    alike = group([values.codes_of(n) for n in beside], sizes, n=len(values.group)).of_item
    number, pooled = _number_values(told, values.codes_of(column), values.people)
    features = [_number_known(people, name) for name in learned]
    both = [name for name in beside if name in learned]
    pairing = Pairing.of(
        people.group,
        people.people,
        [codes for codes, _ in features],
        values.group,
        values.people,
        number[values.codes_of(column)],
        sizes=[size for _, size in features],
        values=int(number.max(initial=0)) + 1,
        shared=_agree(people, values, both) if both else None,
    )
    code = values.codes_of(column).astype(np.int64)
    present = code != told.missing
    code[~present] = -1
    first = (np.diff(values.group, prepend=-1) != 0) | (np.diff(alike, prepend=-1) != 0)
    starts = np.flatnonzero(first)
    of_run = np.cumsum(first) - 1
    rows = np.bincount(code[code >= 0], values.people[code >= 0], len(told.values))
    if pooled:
        # Values that were taken together are no statement about a person.
        code[number[values.codes_of(column)] == number.max()] = -1
    return Sides(
        pairing,
        people,
        values,
        told,
        code,
        present,
        starts[of_run],
        np.append(starts[1:], len(code))[of_run],
        rows / max(float(rows.sum()), 1.0),
        _secrecy(target, told),
        pooled,
    )


def _number_groups(
    people: GroupEntries, learned: Sequence[str], values: GroupEntries
) -> tuple[GroupEntries, GroupEntries]:
    """Number groups by what is in them, so that their labels, which are random, decide nothing."""
    n = int(people.group.max(initial=-1)) + 1
    mixed = np.zeros(n, dtype=np.uint64)
    sides = [(people, [people.codes_of(name) for name in learned]), (values, list(values.codes))]
    for salt, (entries, codes) in enumerate(sides, start=1):
        each = _mix(entries.people.astype(np.uint64) + np.uint64(salt << 40))
        for column in codes:
            each = _mix(each ^ column.astype(np.uint64))
        np.add.at(mixed, entries.group, each)
    number = np.empty(n, dtype=np.int64)
    number[np.argsort(mixed, kind="stable")] = np.arange(n)
    return people._replace(group=number[people.group]), values._replace(group=number[values.group])


def _mix(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Scatter numbers over 64 bits, as splitmix64 does."""
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _number_values(column: Column, codes: CodeArray, people: IntArray) -> tuple[IntArray, bool]:
    """Number the values that are told apart; the rarest have one number if there are many."""
    rows = np.bincount(codes, people, len(column.values))
    if len(rows) <= _VALUES:
        return np.arange(len(rows)), False
    number = np.full(len(rows), _VALUES)
    number[np.lexsort((np.arange(len(rows)), -rows))[:_VALUES]] = np.arange(_VALUES)
    return number, True


def _number_known(people: GroupEntries, name: str) -> tuple[IntArray, int]:
    """Number the known values that something is learned from; the last number says nothing."""
    codes = people.codes_of(name)
    column = next(each for each in people.columns if each.name == name)
    rows = np.bincount(codes, people.people, len(column.values)).astype(np.int64)
    place = bin_values(column, rows, _BINS)
    enough = np.bincount(place, rows) >= _SUPPORT
    number = np.where(enough, np.cumsum(enough) - 1, np.count_nonzero(enough))
    return number[place][codes], int(np.count_nonzero(enough)) + 1


def _agree(
    people: GroupEntries, values: GroupEntries, names: Sequence[str]
) -> tuple[IntArray, IntArray]:
    """Number what two tables hold of the columns they share, alike in both."""
    keys = []
    for name in names:
        columns = [next(c for c in each.columns if c.name == name) for each in (people, values)]
        number: dict[str | None, int] = {}
        codes = [
            np.array([number.setdefault(text_or_none(v), len(number)) for v in c.values])
            for c in columns
        ]
        keys.append(
            np.concatenate([codes[0][people.codes_of(name)], codes[1][values.codes_of(name)]])
        )
    sizes = [int(key.max(initial=0)) + 1 for key in keys]
    found = group(keys, sizes).of_item
    return found[: len(people.group)], found[len(people.group) :]


def _secrecy(target: Target, column: Column) -> IntArray | None:
    """Return the secrecy of each value; None if all are ordinary."""
    declared = target.classes.counts_of(column.name).column
    if declared.secrecy is None:
        return None
    of_value = dict(zip(map(text_of, declared.values), declared.secrecy.tolist(), strict=True))
    found = [of_value.get(text_of(value), int(Secrecy.ORDINARY)) for value in column.values]
    return np.array(found, dtype=np.int64)


def _pairs(target: Target) -> list[tuple[str, str]]:
    """Return known and told columns, those pairs first that vary together from group to group."""
    grouped = target.grouped
    assert grouped is not None  # noqa: S101 - the caller looked
    names = grouped.names
    pairs = [(one, two) for i, one in enumerate(names) for two in names[i + 1 :]]
    if len(pairs) > _PAIRS:
        shares = {name: _compositions(grouped, name) for name in names}
        strength = {pair: _together(shares[pair[0]], shares[pair[1]]) for pair in pairs}
        pairs = sorted(pairs, key=lambda pair: -strength[pair])[:_PAIRS]
    return [order for one, two in pairs for order in ((one, two), (two, one))]


def _compositions(grouped: GroupedTables, name: str) -> FloatArray:
    """Return how far the shares of the commonest values of a column deviate in each group."""
    table = grouped.table(name)
    number, _ = _number_values(table.column, table.value, table.rows)
    cell = table.group * (int(number.max()) + 1) + number[table.value]
    rows = np.bincount(cell, table.rows, len(grouped) * (int(number.max()) + 1))
    shares = rows.reshape(len(grouped), -1) / grouped.sizes[:, None]
    usual = rows.reshape(len(grouped), -1).sum(axis=0) / max(grouped.total, 1)
    found: FloatArray = (shares - usual) * np.sqrt(grouped.sizes[:, None] / np.maximum(usual, 1e-9))
    return found


def _together(one: FloatArray, two: FloatArray) -> float:
    """Return how strongly two columns vary together, over what they would if paired at random."""
    expected = np.sum(one**2) * np.sum(two**2) / max(len(one), 1)
    return float(np.sum((one.T @ two) ** 2) / max(expected, 1e-300))


# Judging what is believed.


def _judge(sides: Sides, dependence: Dependence, rule: HarmRule) -> tuple[Beliefs, float]:
    """Return the beliefs, and what the share in the group promised those at risk at most.

    Of each known tuple, and of each that is known beside the value, the worst statement is kept.
    A statement counts where its level is above that of the share: what the share alone tells is
    found by other attacks.
    """
    kept: list[_Statements] = []
    for batch, people in dependence.join():
        kept.append(_worst_of_runs(sides, batch, people, rule))
    entry, told, posterior, share, expected = (
        np.concatenate([getattr(each, name) for each in kept]) for name in _Statements._fields
    )
    order = np.lexsort((told, entry))
    entry, told, posterior, share, expected = (
        each[order] for each in (entry, told, posterior, share, expected)
    )
    # Of what is known in two tables only the expected number is known: rounded so that all add up.
    rows = np.diff(np.rint(np.cumsum(expected)), prepend=0.0).astype(np.int64)
    code = sides.code[told]
    prior = sides.prior[code]
    raised = rule.levels(prior, posterior) > rule.levels(prior, share)
    if not dependence.found:
        raised[:] = False
    column, beside = (
        sides.column,
        [c.name for c in sides.beside.columns if c.name != sides.column.name],
    )

    def who(at: int) -> Mapping[str, Value]:
        held = sides.beside.at(int(told[at]))
        return {**sides.known.at(int(entry[at])), **{name: held[name] for name in beside}}

    beliefs = Beliefs(
        rows,
        prior,
        posterior,
        who,
        lambda at: f"{column.name} = {text_of(column.values[int(code[at])])}",
        secrecy=None if sides.secrecy is None else sides.secrecy[code],
        of=int(sides.pairing.people.sum()),
        applies=raised,
    )
    return beliefs, float(share[raised].max(initial=0.0))


class _Statements(NamedTuple):
    """What is believed of known tuples."""

    entry: IntArray
    told: IntArray
    posterior: FloatArray
    share: FloatArray
    people: FloatArray


def _worst_of_runs(
    sides: Sides, batch: GroupBatch, people: FloatArray, rule: HarmRule
) -> _Statements:
    """Return the worst statement of each known tuple and run, of one batch of groups."""
    told = batch.told
    there = batch.told_rows > 0
    own = np.arange(len(told))[:, None]
    start = sides.pairing.told_start[batch.group]
    first = np.where(there, sides.run[told] - start, own)
    last = np.where(there, sides.run_end[told] - start - 1, own)
    # A missing value hides no person: what is believed is the share among the known ones.
    present = there & sides.present[told]
    known = _sum_runs(np.where(present, people, 0.0), first, last)
    posterior = np.divide(people, known, out=np.zeros_like(people), where=known > 1e-9)
    rows = np.where(present, batch.told_rows, 0.0)[None]
    of_run = _sum_runs(rows, first, last)
    share = np.divide(rows, of_run, out=np.zeros_like(rows), where=of_run > 0)
    code = sides.code[told]
    speaks = there & (code >= 0) & (known > 1e-3)
    level = rule.levels(np.where(code >= 0, sides.prior[code], 1.0), posterior)
    score = np.where(speaks, level + posterior / 2, -1.0)
    shape = people.shape
    at = _best_of_runs(score, first)
    entry = np.broadcast_to(batch.known[:, None], shape)[at]
    everyone = _sum_runs(people, first, last)
    return _Statements(
        entry,
        np.broadcast_to(told, shape)[at],
        posterior[at],
        np.broadcast_to(share, shape)[at],
        everyone[at],
    )


def _sum_runs(values: FloatArray, first: IntArray, last: IntArray) -> FloatArray:
    """Add up values over the run of each entry: `values[tuple, entry, group]`."""
    if not first.any() and (last == last.max(axis=0)).all():
        total: FloatArray = np.broadcast_to(values.sum(axis=1, keepdims=True), values.shape)
        return total
    until = np.concatenate([np.zeros_like(values[:, :1]), np.cumsum(values, axis=1)], axis=1)
    ends = np.take_along_axis(until, np.broadcast_to(last + 1, values.shape), axis=1)
    found: FloatArray = ends - np.take_along_axis(
        until, np.broadcast_to(first, values.shape), axis=1
    )
    return np.maximum(found, 0.0)


def _best_of_runs(score: FloatArray, first: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return where the best entry of each tuple and run is; none where all are below 0."""
    if not first[(score >= 0).any(axis=0)].any():
        # One run per group, as in most releases: a maximum needs no sorting. The last of equals.
        best = score.shape[1] - 1 - score[:, ::-1].argmax(axis=1)
        most = np.take_along_axis(score, best[:, None], axis=1)[:, 0]
        tuples, groups = np.nonzero(most >= 0)
        return tuples, best[tuples, groups], groups
    cells = np.flatnonzero(score >= 0)
    tuples, entries, groups = np.unravel_index(cells, score.shape)
    run = (tuples * score.shape[2] + groups) * score.shape[1] + first[entries, groups]
    order = np.lexsort((score.ravel()[cells], run))
    last = np.append(np.diff(run[order]) != 0, True)[: len(order)]
    chosen = order[last]
    return tuples[chosen], entries[chosen], groups[chosen]


def _note(dependence: Dependence, outcome: Outcome, promised: float) -> str:
    """Return what was learned, beside what the share in the group promised."""
    copies = percent(dependence.as_likely)
    if not dependence.found:
        return (
            f"The tables teach nothing of what joins them: paired at random they fit as well in "
            f"{copies} of copies. What is believed is the share in the group."
        )
    if not outcome.level:
        return (
            f"The tables teach something of what joins them ({copies} of copies paired at random "
            "fit as well), but not enough to put a person at risk."
        )
    return (
        f"If every way of joining the tables were equally likely, it would be believed with "
        f"{percent(promised)} at most. Paired at random, the tables fit as well in {copies} of "
        "copies."
    )
