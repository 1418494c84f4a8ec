"""One increment on a ledger: from what is asked to what is written."""

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from sfumato.ledger.admission import Offers
from sfumato.ledger.asks import Ask, Waiting, refuse_unpublished, waiting_in, withdrawn
from sfumato.ledger.decision import Correction, Outcome, Rules, Settled, Wishes, decide
from sfumato.ledger.limit import Tally, breach
from sfumato.ledger.records import Change, GroupState, group_states
from sfumato.ledger.written import split_keys
from sfumato.typing import IntArray


@dataclass(frozen=True)
class Refusal:
    """Rows that were refused, and what they would have told."""

    labels: tuple[str | None, ...]
    row: tuple[str | None, ...]
    rows: int
    group_only: Fraction
    """The breach probability of the row's values for whoever knows the group."""

    with_a_value: Fraction
    """The same for whoever knows one of the values besides."""

    worst: Fraction
    """The largest of any combination in the group, with the row."""


@dataclass(frozen=True)
class Held:
    """Rows that are not published yet, and why."""

    ask: Ask
    rows: int
    why: str


@dataclass(frozen=True, eq=False)
class Result:
    """What becomes of everything that was asked, and of what had been waiting."""

    changes: tuple[Change, ...]
    settled: tuple[Settled, ...]
    """One per change."""

    published: Counter[Ask]
    refused: tuple[Refusal, ...]
    refused_asks: Counter[Ask]
    held: tuple[Held, ...]
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
        promises: Names the promises of the policy that a group would break.
    """
    before = waiting_in(db, {group for ask in given for group in ask.groups})
    asked, waiting, gone = withdrawn(given, before)
    total = Counter({ask: each.rows for ask, each in waiting.items()})
    total.update(asked)
    groups = group_states(db, (group for ask in total for group in ask.groups), len(columns))
    refuse_unpublished(asked, groups, columns)
    work = _Work(groups, total)
    if promises is not None:
        rules = replace(rules, broken=lambda i, tally: promises(work.states[i], tally))
    outcome = decide(work.wishes(), work.corrections, rules, rng)
    return _Reading(work, outcome, asked, waiting, rules.alpha, sequence).result(before, gone)


class _Work:
    """Asks sorted by group, with values as codes."""

    def __init__(self, groups: Mapping[str, GroupState], total: Counter[Ask]) -> None:
        self.states = list(groups.values())
        self.place = {state.key: i for i, state in enumerate(self.states)}
        self.joining: dict[int, list[Ask]] = defaultdict(list)
        self.leaving: dict[int, list[Ask]] = defaultdict(list)
        self.total = total
        self.corrections: list[Correction] = []
        self.corrected: list[Ask] = []
        for ask, rows in total.items():
            if ask.kind == "correct":
                one = Correction(
                    self._at(ask.labels, ask.row), self._at(ask.new_labels, ask.new_row)
                )
                self.corrections += [one] * rows
                self.corrected += [ask] * rows
            else:
                side = self.joining if ask.kind == "add" else self.leaving
                side[self.place[ask.labels]].append(ask)
                self._at(ask.labels, ask.row)

    def _at(self, labels: str, row: str) -> tuple[int, tuple[int, ...]]:
        place = self.place[labels]
        return place, self.codes(place, row)

    def codes(self, place: int, row: str) -> tuple[int, ...]:
        """Give the codes of a row's values in its group."""
        state = self.states[place]
        return tuple(state.code(column, key) for column, key in enumerate(split_keys(row)))

    def wishes(self) -> list[Wishes]:
        """Say what is asked of each group."""
        return [
            Wishes(
                state.tally(), self._offers(i, self.joining[i]), self._offers(i, self.leaving[i])
            )
            for i, state in enumerate(self.states)
        ]

    def _offers(self, place: int, asks: list[Ask]) -> Offers:
        codes = [self.codes(place, ask.row) for ask in asks]
        values = np.array(codes, dtype=np.int64).reshape(len(asks), len(self.states[place].codes)).T
        return Offers(values, np.array([self.total[ask] for ask in asks], dtype=np.int64))


@dataclass(frozen=True, eq=False)
class _Reading:
    """An outcome, read back into rows."""

    work: _Work
    outcome: Outcome
    asked: Counter[Ask]
    waiting: Mapping[Ask, Waiting]
    alpha: Fraction
    sequence: int

    def result(self, before: Mapping[Ask, Waiting], gone: int) -> Result:
        published: Counter[Ask] = Counter()
        refused: Counter[Ask] = Counter()
        refusals: list[Refusal] = []
        for i, settled in enumerate(self.outcome.groups):
            published.update(dict(zip(self.work.joining[i], settled.joined.tolist(), strict=True)))
            published.update(dict(zip(self.work.leaving[i], settled.left.tolist(), strict=True)))
            for ask, n in zip(
                self.work.joining[i], settled.refused(self.alpha).tolist(), strict=True
            ):
                # Rows that had been waiting go on doing so; of those given now, some are refused.
                mine = min(n, self.asked[ask], self.work.total[ask] - published[ask])
                if mine:
                    refused[ask] = mine
                    refusals.append(self._refusal(i, settled, ask, mine))
        published.update(
            ask
            for ask, done in zip(self.work.corrected, self.outcome.corrected, strict=True)
            if done
        )
        changed = [i for i, settled in enumerate(self.outcome.groups) if settled.changed]
        held = self._held(published, refused)
        return Result(
            tuple(self._change(i) for i in changed),
            tuple(self.outcome.groups[i] for i in changed),
            +published,
            tuple(refusals),
            refused,
            held,
            before,
            {each.ask: Waiting(each.rows, self._since(each.ask)) for each in held},
            gone,
            tuple(
                (state.key, settled.now.worst)
                for state, settled in zip(self.work.states, self.outcome.groups, strict=True)
                if settled.wishes.start.worst > self.alpha
            ),
        )

    def _since(self, ask: Ask) -> int:
        return self.waiting[ask].since if ask in self.waiting else self.sequence

    def _held(self, published: Counter[Ask], refused: Counter[Ask]) -> tuple[Held, ...]:
        held = []
        for ask, rows in self.work.total.items():
            rest = rows - published[ask] - refused[ask]
            if rest:
                held.append(Held(ask, rest, self._why(ask)))
        return tuple(held)

    def _why(self, ask: Ask) -> str:
        for group in ask.groups:
            place = self.work.place[group]
            settled = self.outcome.groups[place]
            if settled.why:
                return settled.why
            if not settled.wishes.start.size:
                return "the group is new, and its rows do not yet keep what a group must"
        return "the group has no room for it at present"

    def _refusal(self, place: int, settled: Settled, ask: Ask, rows: int) -> Refusal:
        codes = self.work.codes(place, ask.row)
        with_it = settled.now.plus(np.array(codes, dtype=np.int64)[:, None])
        return Refusal(
            tuple(json.loads(ask.labels)),
            tuple(json.loads(ask.row)),
            rows,
            *breach(with_it, codes),
            with_it.worst,
        )

    def _change(self, place: int) -> Change:
        settled = self.outcome.groups[place]
        counts: tuple[IntArray, ...] = tuple(
            new - old
            for new, old in zip(settled.now.counts, settled.wishes.start.counts, strict=True)
        )
        return Change(self.work.states[place], settled.newcomers.size, settled.leavers.size, counts)
