"""Buckets on a ledger: newcomers are dealt to buckets of their own, and whole buckets leave.

Of Anatomy a row of exact quasi-identifiers is public for each person, with a bucket, and of each
bucket how many of its people have which value. On a ledger a *cell* is a bucket. Newcomers are one
crowd, whatever their quasi-identifiers: as many as can be are dealt to buckets of k values that all
differ. A bucket that was published never changes. It leaves as a whole: when all of its people
asked to, or at once when one of them must.

**Of everybody who was ever published each value is believed with at most 1/k.** All that depends on
values is who of a crowd joins, and which of them share a bucket. Both are drawn without regard to
who somebody is. So if two people of a bucket had each other's values, the same folders would be as
likely: of all ways to give a bucket its values none is likelier than another, and a value that one
of its n people has is believed with 1/n, where n is at least k. No other folder says more of them:
a person is in one bucket only, its table never changes, and when it leaves depends on no value.

It holds of who knows the quasi-identifiers of all people and when each of them was published. Who
knows, too, that somebody waited while others joined can tell two people of a bucket apart: see
`sfumato.ledger.waiting`. Where that is hidden a lot is dealt that waited for its size alone, and
the argument holds again.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from sfumato.decouplings.anatomy import deal_in_turn
from sfumato.ledger.admission import AdmittedRows, Offers, Rules, SeenTogether, choose_newcomers
from sfumato.ledger.increment import Ask, GroupWork, Person, RequestDesk, Waiting, all_waiting
from sfumato.ledger.records import Change, Codes
from sfumato.ledger.store import keys_of

EVERYBODY = keys_of(())
"""The key of the one group that all buckets are."""


class BucketDesk(RequestDesk):
    """Takes what is asked of a ledger of buckets: a bucket that is published never changes."""

    def _read_waiting(self, groups: Iterable[str], people: Iterable[str]) -> dict[Ask, Waiting]:
        del groups, people  # Newcomers of all kinds share buckets.
        return all_waiting(self.db)

    def _add_person(self, ask: Ask, known: Person | None, waiting: Ask | None) -> None:
        if known is None or waiting is None:
            super()._add_person(ask, known, waiting)
        elif ask.row != waiting.row:
            self._refuse(ask, 1, _NEVER_CHANGED)
        else:
            # Who waits to leave is published still: to return is not to leave.
            self._drop(waiting)
            self.withdrawn += 1

    def _change_person(self, ask: Ask, waiting: Ask | None) -> None:
        if ask.kind == "correct":
            self._refuse(ask, 1, _NEVER_CHANGED)
        else:
            super()._change_person(ask, waiting)

    def _take_strangers(self, ask: Ask, rows: int) -> int:
        """Refuse rows of people without a name: nothing says in which bucket they are."""
        self._refuse(ask, rows, "the ledger has no such person" if ask.person else _NAMELESS)
        return 0


_NEVER_CHANGED = (
    "a bucket that is published never changes: who knows the value that goes would know the one "
    "that comes. The person can leave, with all of the bucket: sfumato ledger remove --at-once"
)

_NAMELESS = (
    "people leave with all of their bucket, and of rows without an identifier the ledger does not "
    "know the bucket"
)


class BucketWork(GroupWork):
    """Deals newcomers to buckets, and lets whole buckets leave."""

    @staticmethod
    def desk_of(
        db: sqlite3.Connection,
        given: Counter[Ask],
        rules: Rules,
        rng: np.random.Generator,  # noqa: ARG004 - which some desks need
    ) -> RequestDesk:
        """Return what takes and settles what is asked."""
        return BucketDesk(db, given, at_once=rules.at_once)

    def _group_of(self, ask: Ask) -> str:
        del ask
        return EVERYBODY

    def _choose_newcomers(self, empty: SeenTogether, offers: Offers, codes: Codes) -> AdmittedRows:
        """Return which rows join: how many of each value, and then drawn among those that have it.

        Rows with equal quasi-identifiers are no different from others.
        """
        value = offers.values[0]
        there = np.bincount(value, offers.rows, len(codes.columns[0])).astype(np.int64)
        values = np.flatnonzero(there)
        crowd = Offers(values[None], there[values])
        choice = choose_newcomers(empty, crowd, self.rules, self.rng)
        part, taken, why = choice.part, choice.taken, choice.why
        if part.size and part.silent is not None:
            # No bucket has twice a value that says nothing.
            room = part.count_known(0) // self.rules.k
            taken = np.where(part.silent[0][values], np.minimum(taken, room), taken)
            why = why or "too many newcomers have a value that says nothing"
            part = empty.plus(crowd.values, taken)
        broken = self._find_obstacle(part) if part.size else ""
        if broken or not part.size:
            return AdmittedRows(offers.none(), empty, broken or why)
        most = np.zeros(len(there), dtype=np.int64)
        most[values] = taken
        every = np.repeat(np.arange(len(value)), offers.rows)
        self.rng.shuffle(every)
        every = every[np.argsort(value[every], kind="stable")]
        before = np.cumsum(there) - there
        drawn = every[np.arange(len(every)) - before[value[every]] < most[value[every]]]
        kept = np.bincount(drawn, minlength=len(value)).astype(np.int64)
        return AdmittedRows(kept, part, why)

    def _find_obstacle(self, part: SeenTogether) -> str:
        """Return why people cannot be dealt to buckets although no value is too frequent."""
        known = part.count_known(0)
        if known < self.rules.k:
            return f"the newcomers with a known value would be {known}, fewer than {self.rules.k}"
        if part.silent is not None:
            most = int(np.where(part.silent[0], part.counts[0], 0).max())
            if most > known // self.rules.k:
                return f"{most} newcomers have the same value that says nothing"
        return ""

    def _rules(self, codes: Codes) -> Rules:
        del codes
        return replace(self.rules, broken=self._find_obstacle)

    def _make_cells(
        self, labels: str, codes: Codes, asks: Sequence[Ask], choice: AdmittedRows
    ) -> None:
        """Deal those who join to buckets."""
        every = np.repeat(np.arange(len(asks)), choice.taken)
        self.rng.shuffle(every)
        value = np.array([codes.encode(ask.row)[0] for ask in asks], dtype=np.int64)[every]
        at, bucket = deal_in_turn(value, choice.part.says(0), self.rules.k, self.rng)
        order = np.argsort(bucket, kind="stable")
        ends = np.cumsum(np.bincount(bucket))[:-1]
        for members in np.split(every[at[order]], ends):
            held = [asks[i] for i in members.tolist()]
            values = np.array([codes.encode(ask.row) for ask in held], dtype=np.int64).T
            part = codes.empty().plus(values, np.ones(len(held), dtype=np.int64))
            self.changes.append(
                Change(
                    labels,
                    codes,
                    codes.empty(),
                    part,
                    joined=part.size,
                    people=tuple(ask.person for ask in held if ask.person),
                    rows=tuple(ask.labels for ask in held),
                )
            )

    def let_leave(self) -> None:
        """Let whole buckets leave: of which all asked to, or one must at once."""
        for cell in self.cells:
            asks = [ask for ask in self.of_cell[cell.record.id] if self.left[ask]]
            asked, size = sum(self.left[ask] for ask in asks), cell.record.rows
            urgent = self.rules.at_once and any(ask.person in self.desk.urgent for ask in asks)
            if asked < size and not urgent:
                why = f"the people of a bucket leave together: {asked} of {size} asked to"
                self.why.update(dict.fromkeys(asks, why))
                continue
            for ask in asks:
                self._publish(ask, self.left[ask])
            self.others += size - asked
            before = cell.part()
            self.changes.append(
                Change(
                    cell.record.labels,
                    cell.codes,
                    before,
                    before.without_people(),
                    cell.record,
                    left=size,
                    gone=tuple(ask.person for ask in asks),
                    everyone=True,
                )
            )
