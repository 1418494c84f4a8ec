"""Ledgers of buckets: what they begin with, and who is in which bucket of the first release."""

import sqlite3
from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import NamedTuple, NoReturn

import numpy as np

from sfumato.counts import Column, FrequencySet, group
from sfumato.decouplings.base import GroupedTables, SensitiveTable
from sfumato.decouplings.likelihood import exact_limit
from sfumato.errors import InputError, ParameterError, some
from sfumato.ledger.identity import Identity, write_likenesses
from sfumato.ledger.matching import find_buckets
from sfumato.ledger.placing import join_keys
from sfumato.ledger.publishing.increments import tabulate
from sfumato.ledger.store import Settings, key_of
from sfumato.releases.manifest import Manifest
from sfumato.releases.opening import Published, PublishedTables
from sfumato.tables import Table
from sfumato.text import fold_spelling, percent, text_of
from sfumato.typing import IntArray, Value


class DealtRelease(NamedTuple):
    """A first release in buckets that were dealt."""

    tables: GroupedTables
    """Its buckets, which have no quasi-identifiers in common."""

    exact: tuple[str, ...]
    """The quasi-identifiers."""

    rows: FrequencySet
    """The bucket of each row of them."""

    l: int
    """How many different values a bucket has at least."""


def read_dealt(release: Published, manifest: Manifest, what: str) -> DealtRelease:
    """Read the buckets of a release; raise if a ledger cannot go on with them."""
    assert isinstance(release, PublishedTables)  # noqa: S101 - it has several tables
    exact, secret = manifest.with_role("quasi-identifier"), manifest.with_role("sensitive")
    general = [name for name, level in manifest.levels.items() if level and name in exact]
    if general:
        raise InputError(
            f"in {what} {some(general)} was generalised before people were dealt to buckets, and a "
            "ledger publishes newcomers as they are. Decouple the table itself."
        )
    beside = [c.name for c in manifest.columns if c.name not in (*exact, *secret)]
    if len(secret) != 1 or manifest.together or beside:
        raise InputError(
            f"{what} has more columns than a ledger of buckets can add: {some([*beside, *secret])} "
            "besides quasi-identifiers, where it publishes one sensitive column. Decouple with one."
        )
    linked = release.counts((*exact, *secret))
    [people, counted] = linked.tables
    [of_row, of_value] = linked.groups
    sizes = linked.sizes.astype(np.int64)
    column = counted.column(secret[0])
    order = np.lexsort((counted.codes_of(secret[0]), of_value))
    table = SensitiveTable(
        column,
        of_value[order],
        counted.codes_of(secret[0])[order],
        linked.people[1].astype(np.int64)[order],
    )
    labels = np.array(release.labels_in(linked), dtype=np.int64)
    nothing = np.empty((0, len(sizes)), dtype=np.int32)
    tables = GroupedTables((), nothing, sizes, (table,), labels)
    columns = (Column("", tuple(range(len(sizes)))), *(people.column(name) for name in exact))
    at = [people.index(name) for name in exact]
    codes = np.vstack([of_row[None].astype(np.int32), people.codes[at]])
    rows = FrequencySet(columns, codes, people.rows)
    return DealtRelease(tables, exact, rows, _promised_diversity(manifest))


def _promised_diversity(manifest: Manifest) -> int:
    """Return how many different values are promised of each bucket."""
    models = [model for each in manifest.models if (model := each.readable()) is not None]
    return max((int(getattr(model, "l", 2)) for model in models), default=2)


def smallest_bucket(alpha: float, k: int | None, first: DealtRelease) -> int:
    """Return how many different values a new bucket has; raise if k is too few for alpha."""
    least = ceil(1 / exact_limit(alpha))
    if k is not None and k < max(least, 2):
        raise ParameterError(
            "k",
            k,
            f"{max(least, 2)} or more",
            why=f"a value that one of k people has is believed with 1/k, and alpha is {alpha:g}",
        )
    return k or max(first.l, least)


def refuse_buckets_above(
    share: Fraction, buckets: int, of: int, alpha: float, advice: str
) -> NoReturn:
    """Raise because buckets of the first release tell more than alpha."""
    raise InputError(
        f"in {buckets} of {of} buckets a value exceeds alpha {alpha:g} already, up to "
        f"{percent(float(share))}. Decouple the table again with l: "
        f"{ceil(1 / exact_limit(alpha))}.{advice} Or choose a larger alpha, or start without a "
        "promise for the people in these buckets: --above (above=True)."
    )


def record_people_of_buckets(
    db: sqlite3.Connection,
    settings: Settings,
    table: Table,
    identity: Identity,
    first: DealtRelease,
    *,
    folded: bool,
) -> None:
    """Write down in which bucket of the first release each person is; raise if that is not found.

    Args:
        db: The new ledger.
        settings: What it is started with.
        table: What the release was made of.
        identity: How people are recognised.
        first: The release.
        folded: Whether spellings of a sensitive value are one.
    """
    counts = table.count((*identity.columns, *first.exact, *settings.sensitive))
    who, at = tabulate(counts, identity.columns)
    people = list(
        zip(*([k[i] for i in code] for k, code in zip(who, at.tolist(), strict=True)), strict=True)
    )
    marks = identity.marks(people)
    published = int(first.rows.rows.sum())
    named = len({mark for mark in marks if mark})
    rows = int(counts.rows[np.array([bool(mark) for mark in marks], dtype=bool)].sum())
    if named < rows:
        raise InputError(
            f"the table of --data has {rows} rows of {named} people. Publish one row of each."
        )
    [released] = first.tables.sensitive
    known = _RowNumbers()
    of_row = known.of(*tabulate(first.rows, first.exact))
    of_person = known.of(*tabulate(counts, first.exact))
    secrets = _RowNumbers()
    there = [_fold(value, folded=folded) for value in released.column.values]
    values = secrets.of([there], released.value[None].astype(np.int64))
    [given], codes = tabulate(counts, settings.sensitive)
    value = secrets.of([[_fold(value, folded=folded) for value in given]], codes)
    pairs = group([of_person, value], [len(known), len(secrets)])
    first_of = pairs.first
    found = find_buckets(
        _merge(first.rows.codes[0].astype(np.int64), of_row, first.rows.rows, len(known)),
        _merge(released.group, values, released.rows, len(secrets)),
        (
            of_person[first_of],
            value[first_of],
            np.bincount(pairs.of_item, counts.rows, pairs.n).astype(np.int64),
        ),
        np.random.default_rng(),
    )
    if found is None:
        raise InputError(
            f"it is not known in which bucket each of the {published} people of the first release "
            "is: the table of --data is not the one it was made of, or too many people are alike "
            f"in {some(first.exact, most=20)}. Give that table, or start from a release of people "
            "of whom no two are alike, and add the others to the ledger."
        )
    # The people of a kind are alike, so any of them may be in any of the places of the kind.
    kinds = np.repeat(found.kind, found.people)
    buckets = np.repeat(found.bucket, found.people)[np.argsort(kinds, kind="stable")]
    items = np.repeat(np.arange(len(counts)), counts.rows)
    items = items[np.argsort(pairs.of_item[items], kind="stable")]
    cells = dict(zip(first.tables.labelled.tolist(), range(1, len(first.tables) + 1), strict=True))
    numbers = [cells[label] for label in first.tables.labelled[buckets].tolist()]
    db.executemany(
        "INSERT INTO people VALUES (?, ?, 1, 0)",
        sorted(
            (bytes.fromhex(marks[item]), number)
            for item, number in zip(items.tolist(), numbers, strict=True)
            if marks[item]
        ),
    )
    names = [row[0] for row, mark in zip(people, marks, strict=True) if mark]
    looks = dict(zip(identity.people(names), identity.likenesses(names), strict=True))
    write_likenesses(db, looks)


def _fold(value: Value, *, folded: bool) -> Value:
    return (fold_spelling(text_of(value)) or None) if folded and value is not None else value


def _merge(
    bucket: IntArray, number: IntArray, rows: IntArray, numbers: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Add up entries of the same bucket and number."""
    same = group([bucket, number], [int(bucket.max(initial=0)) + 1, numbers])
    people = np.bincount(same.of_item, rows, same.n).astype(np.int64)
    return bucket[same.first], number[same.first], people


class _RowNumbers:
    """A number for each combination of values, whatever their types."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def of(self, values: Sequence[Sequence[Value]], codes: IntArray) -> IntArray:
        """Return the number of each row, given the values of each column and its codes."""
        keys = join_keys([[key_of(value) for value in each] for each in values], codes)
        numbers = [self._numbers.setdefault(key, len(self._numbers)) for key in keys.keys]
        found: IntArray = np.array(numbers, dtype=np.int64)[keys.of_row]
        return found
