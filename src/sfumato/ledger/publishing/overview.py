"""An overview of a ledger: its releases, who joined when, and who waits."""

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from sfumato.dataclasses import dataclass
from sfumato.ledger import records
from sfumato.ledger.increment import WISHES, count_owners
from sfumato.ledger.records import CellSummary, Harmless, cell_moves, cell_summaries, waiting_rows
from sfumato.ledger.store import RowsPerPerson, Settings, keys_of
from sfumato.showing.content import (
    Cell,
    Content,
    ContentTable,
    Heading,
    Share,
    Showable,
    join_values,
    plain_of,
)

_LAYERS = 6
"""Layers of a timeline: more cannot be told apart."""

_STEPS = 120
"""Steps of a timeline: of more releases, some are left out."""


@dataclass(frozen=True)
class Cohort:
    """Those who joined in one release."""

    release: int
    joined: int
    cells: int
    """In how many groups they were, or came to be by moving together."""

    now: int
    """How many of them are still there."""

    smallest: int
    """How many are in the smallest of those cells that are not empty; 0 if all are."""

    tells: Fraction
    """The largest share of any value in one of them."""


@dataclass(frozen=True)
class Queue:
    """Rows of one group that wait for the same."""

    labels: tuple[str | None, ...]
    wish: str
    rows: int
    since: int
    """The release since which the first of them waits."""


@dataclass(frozen=True, eq=False)
class Overview(Showable):
    """The releases of a ledger, who joined in each, and who waits."""

    alpha: float
    k: int
    releases: tuple[Mapping[str, Any], ...]
    """The entries, the first release first."""

    cohorts: tuple[Cohort, ...]
    queues: tuple[Queue, ...]
    there: Mapping[int, Mapping[int, int]]
    """By release and cohort, how many people were published."""

    rows_per_person: RowsPerPerson | None = None
    """How many rows people may have; None if each row is a person."""

    owners: int | None = None
    """How many people have the rows that are published now; None if each row is a person."""

    @property
    def rows(self) -> int:
        """The number of rows that are published now."""
        return sum(each.now for each in self.cohorts)

    @property
    def people(self) -> int:
        """The number of people who are published now."""
        return self.rows if self.owners is None else self.owners

    @property
    def waiting(self) -> int:
        """The number of rows that wait."""
        return sum(each.rows for each in self.queues)

    @property
    def tells(self) -> Fraction:
        """The most that is believed of a person who is there."""
        return max((each.tells for each in self.cohorts), default=Fraction(0))

    @property
    def headline(self) -> str:
        """The numbers of releases, people and cells, who waits, and what is told."""
        who = f"{self.people} people"
        whom = "any person"
        if self.rows_per_person is not None:
            who, whom = f"{self.rows} rows of {who}", "a row"
        if isinstance(self.rows_per_person, int):
            together = 1 - (1 - self.tells) ** self.rows_per_person
            n = self.rows_per_person
            whom = f"a row and {100 * float(together):.3g} % of {n} of a person together"
        return (
            f"{len(self.releases)} releases, {who} published in "
            f"{sum(each.cells for each in self.cohorts)} cells, {self.waiting} wait; by its "
            f"tables at most {100 * float(self.tells):.3g} % is believed of {whom}, alpha is "
            f"{100 * self.alpha:g} %"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            **plain_of(self, "alpha k people"),
            **(
                {}
                if self.rows_per_person is None
                else {"rows": self.rows, "rows_per_person": self.rows_per_person}
            ),
            "waiting": self.waiting,
            "tells": float(self.tells),
            "releases": [dict(each) for each in self.releases],
            "cohorts": [{**vars(each), "tells": float(each.tells)} for each in self.cohorts],
            "queues": [{**vars(each), "labels": list(each.labels)} for each in self.queues],
        }

    def content(self) -> Content:
        """Return three tables: releases, cohorts, and who waits."""
        counted = ("joined", "left", "corrected", "refused", "waiting")
        releases: list[list[Cell]] = [
            [
                entry["sequence"],
                entry["time"][:16].replace("T", " "),
                entry["kind"],
                *(entry["rows"].get(name, 0) for name in counted),
            ]
            for entry in self.releases
        ]
        cohorts: list[list[Cell]] = [
            [each.release, each.joined, each.now, each.cells, each.smallest, Share(each.tells)]
            for each in self.cohorts
        ]
        queues: list[list[Cell]] = [
            [join_values(each.labels), each.wish, each.rows, each.since] for each in self.queues
        ]
        parts = [
            ContentTable.of("Releases", ["release", "time", "kind", *counted], releases),
            ContentTable.of(
                "Who joined when",
                ["release", "joined", "still there", "cells", "smallest", Heading("tells", bar=15)],
                cohorts,
            ),
        ]
        if queues:
            heads = ["group", "waits to", "rows", "since release"]
            parts.append(ContentTable.of("Who waits", heads, queues))
        return Content(self.headline, tuple(parts))

    def svg(self) -> str:
        """Draw how many people were published after each release, by when they joined."""
        from sfumato.showing.timeline import timeline_svg

        every = -(-len(self.releases) // _STEPS)
        # The last release is always shown.
        shown = list(self.releases)[::-1][::every][::-1]
        steps = [int(entry["sequence"]) for entry in shown]
        layers = {
            name: [
                float(sum(self.there.get(step, {}).get(c, 0) for c in cohorts)) for step in steps
            ]
            for name, cohorts in _bands([each.release for each in self.cohorts]).items()
        }
        waiting = [float(entry["rows"].get("waiting", 0)) for entry in shown]
        what = "people" if self.owners is None else "rows"
        return timeline_svg(
            [str(step) for step in steps],
            layers,
            {"waiting": waiting},
            title=f"{what.capitalize()} published after each release",
            axis=what,
        )

    def drawings(self) -> tuple[str, ...]:
        return (self.svg(),) if self.releases else ()

    def __repr__(self) -> str:
        return f"<Overview {self.headline}>"


def _bands(releases: Sequence[int]) -> dict[str, list[int]]:
    """Return few bands of cohorts, each by its name.

    >>> _bands([1, 2, 3, 4, 5, 6, 7])["joined in 1 to 2"]
    [1, 2]
    """
    size = -(-len(releases) // _LAYERS) or 1
    bands = [list(releases[i : i + size]) for i in range(0, len(releases), size)]
    return {
        f"joined in {band[0]}" if len(band) == 1 else f"joined in {band[0]} to {band[-1]}": band
        for band in bands
    }


def read_overview(db: sqlite3.Connection, settings: Settings, harmless: Harmless) -> Overview:
    """Read everything from a ledger."""
    cells = cell_summaries(db, harmless)
    joined: Counter[int] = Counter()
    there: dict[int, dict[int, int]] = {}
    now: Counter[int] = Counter()
    for sequence, cell, more, fewer in cell_moves(db):
        cohort = cells[cell].joined_in
        joined[cohort] += more if sequence == cohort else 0
        now[cohort] += more - fewer
        there[sequence] = dict(now)
    entries = records.entries(db)
    for before, after in pairwise(entries):
        # A release that changed nothing left things as they were.
        there.setdefault(after["sequence"], there.get(before["sequence"], {}))
    living: dict[int, list[CellSummary]] = defaultdict(list)
    for summary in cells.values():
        if summary.rows:
            living[summary.joined_in].append(summary)
    cohorts = []
    for cohort in sorted(joined):
        mine = living[cohort]
        cohorts.append(
            Cohort(
                cohort,
                joined[cohort],
                len(mine),
                now[cohort],
                min((cell.rows for cell in mine), default=0),
                max((cell.largest for cell in mine), default=Fraction(0)),
            )
        )
    return Overview(
        settings.alpha,
        settings.k,
        tuple(entries),
        tuple(cohorts),
        read_queues(_in_buckets(waiting_rows(db)) if settings.exact else waiting_rows(db)),
        there,
        settings.rows_per_person,
        count_owners(db) if settings.several else None,
    )


def _in_buckets(rows: Sequence[tuple[str, str, int, int]]) -> list[tuple[str, str, int, int]]:
    """Return who waits for buckets, whatever rows they have."""
    found: dict[str, tuple[int, int]] = {}
    for kind, _, n, since in rows:
        before, first = found.get(kind, (0, since))
        found[kind] = (before + n, min(first, since))
    return [(kind, ANY_BUCKET, n, since) for kind, (n, since) in found.items()]


ANY_BUCKET = keys_of(["any bucket"])


def read_queues(rows: Sequence[tuple[str, str, int, int]]) -> tuple[Queue, ...]:
    """Return who waits, of the rows (kind, labels, rows, since), most first."""
    found = [
        Queue(tuple(json.loads(labels)), WISHES[kind], n, since) for kind, labels, n, since in rows
    ]
    return tuple(sorted(found, key=lambda each: (-each.rows, each.since)))
