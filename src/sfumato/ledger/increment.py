"""One increment on a ledger: what is asked, what waits, and what becomes of each row."""

import hmac
import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np

from sfumato.classes import (
    MISSING,
    EquivalenceClasses,
    SensitiveColumn,
    ValueCounts,
    merge_counts,
    reference_of,
)
from sfumato.errors import InputError, PolicyError
from sfumato.ledger.admission import (
    Correction,
    Decision,
    GroupDecision,
    Offers,
    Rules,
    Tally,
    Wishes,
    decide,
)
from sfumato.ledger.chain import digest_text
from sfumato.ledger.records import Change, GroupState, group_states
from sfumato.ledger.store import split_keys
from sfumato.models.base import TableModel
from sfumato.policy import Policy
from sfumato.text import in_order
from sfumato.typing import Value

Kind = Literal["add", "remove", "correct"]


class Ask(NamedTuple):
    """One row, generalised: the labels of its group, and its sensitive values.

    A correction names the row as it was published and as it should have been.
    """

    kind: Kind
    labels: str
    row: str
    new_labels: str = ""
    new_row: str = ""

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups it concerns."""
        return (self.labels, self.new_labels) if self.kind == "correct" else (self.labels,)


_ASK = ", ".join(Ask._fields)
"""The columns of a row that waits."""


@dataclass(frozen=True)
class Waiting:
    """The number of rows of a kind that wait, and the release since which they do."""

    rows: int
    since: int


def waiting_in(db: sqlite3.Connection, groups: Iterable[str]) -> dict[Ask, Waiting]:
    """Read the rows that wait in some groups."""
    keys = json.dumps(list(groups))
    found = {}
    for column in ("labels", "new_labels"):
        for *ask, rows, since in db.execute(
            f"SELECT {_ASK}, rows, since FROM waiting "  # noqa: S608
            f"WHERE {column} IN (SELECT value FROM json_each(?))",
            (keys,),
        ):
            found[Ask(*ask)] = Waiting(rows, since)
    return found


def write_waiting(
    db: sqlite3.Connection, before: Mapping[Ask, Waiting], after: Mapping[Ask, Waiting]
) -> None:
    """Write down rows that wait now, and overwrite those that do not any more."""
    for ask in before.keys() | after.keys():
        old, new = before.get(ask), after.get(ask)
        if old == new:
            continue
        if old is not None:
            db.execute(f"DELETE FROM waiting WHERE ({_ASK}) = (?, ?, ?, ?, ?)", ask)  # noqa: S608
        if new is not None:
            db.execute(
                f"INSERT INTO waiting ({_ASK}, rows, since) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
                (*ask, new.rows, new.since),
            )


def withdraw_waiting(
    given: Counter[Ask], waiting: Mapping[Ask, Waiting]
) -> tuple[Counter[Ask], dict[Ask, Waiting], int]:
    """Settle requests with rows that still wait: a row never published need not be removed.

    Returns what is left to ask, what is left waiting, and how many rows were withdrawn.
    """
    asked, left, gone = Counter(given), dict(waiting), 0
    for ask, rows in given.items():
        if ask.kind == "add":
            continue
        unpublished = Ask("add", ask.labels, ask.row)
        if unpublished not in left:
            continue
        n = min(rows, left[unpublished].rows)
        gone += n
        asked[ask] -= n
        if ask.kind == "correct":
            asked[Ask("add", ask.new_labels, ask.new_row)] += n
        rest = left[unpublished].rows - n
        if rest:
            left[unpublished] = replace(left[unpublished], rows=rest)
        else:
            del left[unpublished]
    return +asked, left, gone


def require_published(
    asks: Mapping[Ask, int], groups: Mapping[str, GroupState], columns: tuple[str, ...]
) -> None:
    """Raise if rows are to be removed or corrected that cannot have been published."""
    wanted: Counter[tuple[str, int, str]] = Counter()
    for ask, rows in asks.items():
        if ask.kind != "add":
            for column, value in enumerate(split_keys(ask.row)):
                wanted[ask.labels, column, value] += rows
    for (labels, column, value), rows in wanted.items():
        group = groups[labels]
        code = group.codes[column].get(value)
        there = 0 if code is None else group.rows[column][code]
        if rows > there:
            raise InputError(
                f"{rows} rows with {columns[column]} {value} are to leave the group "
                f"{labels}, which was published with {there}. Give rows to delete or correct as "
                "they were published; nothing was changed."
            )


@dataclass(frozen=True)
class Refusal:
    """Rows that were refused, and what they would have told."""

    labels: tuple[str | None, ...]
    row: tuple[str | None, ...]
    rows: int
    group_only: Fraction
    """The breach probability of the row's values for an adversary who knows the group."""

    with_a_value: Fraction
    """The same for an adversary who knows one of the values besides."""

    worst: Fraction
    """The largest of any combination in the group, with the row."""


@dataclass(frozen=True)
class HeldRows:
    """Rows that are not published yet, and why."""

    ask: Ask
    rows: int
    why: str


@dataclass(frozen=True, eq=False)
class Result:
    """What becomes of everything that was asked, and of what had been waiting."""

    changes: tuple[Change, ...]
    published: Counter[Ask]
    refused: tuple[Refusal, ...]
    refused_asks: Counter[Ask]
    held: tuple[HeldRows, ...]
    before: Mapping[Ask, Waiting]
    """What had been waiting in the groups concerned."""

    after: Mapping[Ask, Waiting]
    withdrawn: int
    over: tuple[tuple[str, Fraction], ...]
    """Groups that were published above the limit, and what they tell now."""


def consider(
    db: sqlite3.Connection,
    given: Counter[Ask],
    columns: tuple[str, ...],
    rules: Rules,
    rng: np.random.Generator,
    *,
    sequence: int,
    promises: Callable[[GroupState, Tally], str] | None = None,
) -> Result:
    """Decide on an increment. Reads the groups it concerns, and writes nothing.

    Args:
        db: The ledger.
        given: What is asked, with the number of rows.
        columns: The sensitive columns.
        rules: What a group must keep.
        rng: In which order rows are considered.
        sequence: The number the release will have.
        promises: Lists the promises of the policy that a group would break.
    """
    before = waiting_in(db, {group for ask in given for group in ask.groups})
    asked, waiting, gone = withdraw_waiting(given, before)
    total = Counter({ask: each.rows for ask, each in waiting.items()})
    total.update(asked)
    groups = group_states(db, (group for ask in total for group in ask.groups), len(columns))
    require_published(asked, groups, columns)
    work = _Work(groups, total)
    if promises is not None:
        rules = replace(rules, broken=lambda i, tally: promises(work.states[i], tally))
    decision = decide(work.wishes(), [one for _, one in work.corrections], rules, rng)
    published, refused, refusals = work.read(decision, asked, rules.alpha)
    held = tuple(work.held_rows(decision, published, refused))
    since = {ask: each.since for ask, each in waiting.items()}
    return Result(
        tuple(
            Change(state, group.wishes.start, group.now, group.newcomers, group.leavers)
            for state, group in zip(work.states, decision.groups, strict=True)
            if group.changed
        ),
        published,
        refusals,
        refused,
        held,
        before,
        {each.ask: Waiting(each.rows, since.get(each.ask, sequence)) for each in held},
        gone,
        tuple(
            (state.key, group.now.worst)
            for state, group in zip(work.states, decision.groups, strict=True)
            if group.wishes.start.worst > rules.alpha
        ),
    )


_Codes = tuple[int, ...]


class _Work:
    """Asks sorted by group, with values as codes."""

    def __init__(self, groups: Mapping[str, GroupState], total: Counter[Ask]) -> None:
        self.states = list(groups.values())
        self.place = {state.key: i for i, state in enumerate(self.states)}
        self.total = total
        self.joining: list[dict[Ask, _Codes]] = [{} for _ in self.states]
        self.leaving: list[dict[Ask, _Codes]] = [{} for _ in self.states]
        self.corrections: list[tuple[Ask, Correction]] = []
        for ask, rows in total.items():
            place, codes = self._find(ask.labels, ask.row)
            if ask.kind == "correct":
                new = self._find(ask.new_labels, ask.new_row)
                self.corrections += [(ask, Correction((place, codes), new))] * rows
            else:
                (self.joining if ask.kind == "add" else self.leaving)[place][ask] = codes

    def _find(self, labels: str, row: str) -> tuple[int, _Codes]:
        """Return the place of a group, and the codes of a row's values in it."""
        place = self.place[labels]
        code = self.states[place].code
        return place, tuple(code(column, key) for column, key in enumerate(split_keys(row)))

    def wishes(self) -> list[Wishes]:
        """Return what is asked of each group."""
        return [
            Wishes(state.tally(), self._offers(joining), self._offers(leaving))
            for state, joining, leaving in zip(self.states, self.joining, self.leaving, strict=True)
        ]

    def _offers(self, asks: Mapping[Ask, _Codes]) -> Offers:
        values = np.array(list(asks.values()), dtype=np.int64)
        values = values.reshape(len(asks), len(self.states[0].codes)).T
        return Offers(values, np.array([self.total[ask] for ask in asks], dtype=np.int64))

    def read(
        self, decision: Decision, asked: Counter[Ask], alpha: Fraction
    ) -> tuple[Counter[Ask], Counter[Ask], tuple[Refusal, ...]]:
        """Return the rows that are published and those that are refused, and why these are."""
        published: Counter[Ask] = Counter()
        refused: Counter[Ask] = Counter()
        refusals: list[Refusal] = []
        for joining, leaving, group in zip(
            self.joining, self.leaving, decision.groups, strict=True
        ):
            published.update(dict(zip(joining, group.joined.tolist(), strict=True)))
            published.update(dict(zip(leaving, group.left.tolist(), strict=True)))
            unfit = group.count_refused(alpha).tolist()
            for (ask, codes), n in zip(joining.items(), unfit, strict=True):
                # Rows that had been waiting go on doing so; of those given now, some are refused.
                mine = min(n, asked[ask], self.total[ask] - published[ask])
                if mine:
                    refused[ask] = mine
                    refusals.append(_refusal(group, ask, codes, mine))
        published.update(
            ask for (ask, _), done in zip(self.corrections, decision.corrected, strict=True) if done
        )
        return +published, refused, tuple(refusals)

    def held_rows(
        self, decision: Decision, published: Counter[Ask], refused: Counter[Ask]
    ) -> Iterator[HeldRows]:
        """Yield the rows that wait, and why."""
        for ask, rows in self.total.items():
            rest = rows - published[ask] - refused[ask]
            if rest:
                groups = [decision.groups[self.place[labels]] for labels in ask.groups]
                yield HeldRows(ask, rest, _why_held(groups))


def _why_held(groups: Sequence[GroupDecision]) -> str:
    for group in groups:
        if group.why:
            return group.why
        if not group.wishes.start.size:
            return "the group is new, and its rows do not yet keep what a group must"
    return "the group has no room for it at present"


def _refusal(group: GroupDecision, ask: Ask, codes: _Codes, rows: int) -> Refusal:
    with_it = group.now.plus(np.array(codes, dtype=np.int64)[:, None])
    labels, row = tuple(json.loads(ask.labels)), tuple(json.loads(ask.row))
    return Refusal(labels, row, rows, *with_it.breach(codes), with_it.worst)


# Promises: the policy's models, asked about single groups as they would be published.


def require_group_models(policy: Policy) -> None:
    """Raise if a policy has a model that no group can be asked about by itself."""
    for model in policy.models:
        if isinstance(model, TableModel) or model.needs_population:
            raise PolicyError(
                f"a ledger cannot keep {model}: it judges all groups together, or compares them "
                "with a population, and an increment is decided group by group. Start the ledger "
                "with a policy without it, for example with k-anonymity."
            )


class Promises:
    """Which models of a policy a group breaks.

    Models that compare a group with the whole table compare it with the first release: that
    distribution is public, and does not move with every increment.

    Args:
        policy: What every group must keep.
        sensitive: The sensitive columns in the order of the ledger.
        reference: For each column, how many rows of the first release have each value.
    """

    def __init__(
        self,
        policy: Policy,
        sensitive: tuple[str, ...],
        reference: Mapping[int, Mapping[str, int]],
    ) -> None:
        self._policy = policy
        self._sensitive = sensitive
        self._reference = reference

    def broken_by(self, state: GroupState, tally: Tally) -> str:
        """List the models that a group with these counts breaks; empty if it keeps all."""
        named = {column for model in self._policy.models for column in model.columns}
        counts = {
            name: self._counts(i, state, tally)
            for i, name in enumerate(self._sensitive)
            if name in named
        }
        classes = EquivalenceClasses(np.array([tally.size], dtype=np.int64), counts)
        return ", ".join(
            str(model) for model in self._policy.models if not model.passes(classes)[0]
        )

    def _counts(self, column: int, state: GroupState, tally: Tally) -> ValueCounts:
        whole = self._reference.get(column, {})
        texts = [json.loads(key) for key in {**whole, **state.codes[column]}]
        known = [value for value in in_order(texts) if value is not None]
        code = {value: i for i, value in enumerate(known)} | {None: MISSING}
        described = self._column(self._sensitive[column], tuple(known))
        reference = reference_of(
            np.array([code[json.loads(key)] for key in whole], dtype=np.int64),
            np.array(list(whole.values()), dtype=np.int64),
            len(known),
        )
        here = [
            (code[json.loads(key)], int(tally.counts[column][i]))
            for key, i in state.codes[column].items()
            if tally.counts[column][i] > 0
        ]
        value, rows = np.array(sorted(here), dtype=np.int64).reshape(-1, 2).T
        group = np.zeros(len(rows), dtype=np.int64)
        return merge_counts(ValueCounts(described, group, value, rows, reference), group)

    def _column(self, name: str, known: tuple[Value, ...]) -> SensitiveColumn:
        rule = self._policy.columns.get(name)
        builder = None if rule is None else rule.hierarchy
        if builder is None or not known:
            return SensitiveColumn(name, known)
        return SensitiveColumn(name, known, builder.build(name, known).bind(name, known))


def first_distribution(db: sqlite3.Connection) -> dict[int, dict[str, int]]:
    """Read how many rows of the first release have each value of each sensitive column."""
    found: dict[int, dict[str, int]] = defaultdict(dict)
    for column, value, rows in db.execute(
        "SELECT v.column, v.value, SUM(c.rows) FROM changes c JOIN sensitive_values v ON "
        "v.id = c.value_id WHERE c.sequence = 1 GROUP BY v.id"
    ):
        found[column][value] = rows
    return found


# Fingerprints: an increment that is given twice is recognised, without being kept.


def row_fingerprint(salt: str, ask: Ask) -> str:
    """Return the fingerprint of one row.

    The salt is the ledger's own: fingerprints of different ledgers cannot be compared. A
    thief of the ledger can still try out rows; that is why it is private.
    """
    # Labels and rows are written as JSON, which has no line breaks.
    return _hmac(salt, f"{ask.kind}\n{ask.labels}\n{ask.row}\n{ask.new_labels}\n{ask.new_row}")


def increment_fingerprint(salt: str, asks: Mapping[Ask, int]) -> str:
    """Return the fingerprint of all rows together, whatever their order.

    >>> one, two = Ask("add", '["a"]', '["x"]'), Ask("add", '["a"]', '["y"]')
    >>> both = Counter([one, two])
    >>> increment_fingerprint("s", both) == increment_fingerprint("s", Counter([two, one]))
    True
    """
    rows = sorted((row_fingerprint(salt, ask), rows) for ask, rows in Counter(asks).items())
    return _hmac(salt, digest_text(rows))


def _hmac(salt: str, text: str) -> str:
    return hmac.digest(salt.encode(), text.encode(), "sha256").hex()
