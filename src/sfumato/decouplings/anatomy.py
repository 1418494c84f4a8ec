"""Anatomy: exact quasi-identifiers in one table, buckets of sensitive values in another."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from sfumato.counts import Column, FrequencySet, group
from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import (
    DecoupledPart,
    Decoupling,
    GroupedTables,
    Parts,
    SensitiveTable,
    file_names,
    free_name,
    only_sensitive,
    random_labels,
    read_together,
)
from sfumato.decouplings.guide import write_companions
from sfumato.errors import InfeasibleError, require_int
from sfumato.tables.derived import Cells, DerivedColumn, DerivedTable
from sfumato.text import text_of
from sfumato.typing import IntArray

NOT_BY_LOT = (
    "who shares a bucket was not drawn by lot: values and who looks alike decided it, and nothing "
    "bounds what that tells over several releases"
)
"""The reason why no ledger can be kept of buckets that were cut, and not dealt."""

GIVES_AWAY = (
    "quasi-identifiers are published as they are, one row per person: an adversary who knows a "
    "person's can see whether that person is in the data"
)


@dataclass(frozen=True)
class Anatomy(Decoupling):
    """Put people into buckets whose sensitive values all differ, and publish the two apart.

    The table of quasi-identifiers has one row per person with exact values and a bucket; the
    sensitive table says how many people of a bucket have which value. Nothing is generalised, so
    it needs no anonymised table to start from, and counts over quasi-identifiers stay exact.

    Buckets hold at least l people and no value twice. As many are made as there can be; the rows
    left over, at most l - 1, go to buckets without their value. A missing value protects no person:
    buckets are formed by the people with a known one, and the others are spread over them.

    Promises: in every bucket at least l values, none of which more than one in l of those with a
    known value has. Which of the people with a value are in which bucket is drawn at random, and
    so are labels and the order of rows.
    Assumes: that every way of joining the two tables of a bucket is equally likely to the
    adversary. Then who knows a person's quasi-identifiers, and how this method works, guesses the
    value with probability 1/l at most.
    Does not promise: to hide who is in the data, for who knows a person's quasi-identifiers
    finds the row; or anything against those who can rule values out, or for values that are alike.
    Where quasi-identifiers tell something about the value, those who learn it from all buckets
    together guess better than 1/l: `attacks.DeFinetti` tries that.
    Several sensitive columns are refused: buckets that are diverse in each of them by itself may
    still give away which values belong together.

    Reference: Xiao and Tao, "Anatomy: simple and effective privacy preservation", 2006

    Args:
        l: Fewest different values of a bucket; 2 or more, and at most one over the share of the
            most frequent value.
        together: Columns that stay together, as lists of names or as texts with + between them:
            sensitive ones, or a plain one beside a sensitive one. They are published side by side,
            and their combination counts as one sensitive value.

    Example:
        >>> rows = [("47677", "flu"), ("47602", "gout"), ("47678", "flu"), ("47905", "hiv")]
        >>> counts = FrequencySet.from_rows(["zip", "ill"], rows)
        >>> parts = Anatomy(l=2).run(counts, ["zip"], ["ill"], rng=np.random.default_rng())
        >>> parts.grouped.sizes.tolist(), parts.grouped.table("ill").rows.tolist()
        ([2, 2], [1, 1, 1, 1])
        >>> Anatomy(l=3).run(counts, ["zip"], ["ill"], rng=np.random.default_rng())
        Traceback (most recent call last):
        sfumato.errors.InfeasibleError: no buckets with 3 different values of 'ill' each: 2 of 4 \
rows have 'flu', more than one in 3. The largest l is 2.
    """

    name: ClassVar[str] = "anatomy"
    why_no_ledger: ClassVar[str | None] = None
    dealt: ClassVar[bool] = True
    groups: ClassVar[tuple[str, str]] = ("bucket", "buckets")
    keeps_classes: ClassVar[bool] = False
    notes: ClassVar[tuple[str, ...]] = (GIVES_AWAY,)

    l: int

    together: tuple[str | tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "together", read_together(self.together))
        require_int("l", self.l, at_least=2, why="with l=1 a bucket hides no person")

    def run(
        self,
        counts: FrequencySet,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str],
        *,
        rng: np.random.Generator,
        plain: Sequence[str] = (),
    ) -> Parts:
        name = only_sensitive(sensitive)
        column = counts.column(name)
        _require_possible(self.l, column, counts.value_counts(name))
        item, bucket = _deal(counts, name, self.l, rng)
        grouped = _group_tables(column, counts.codes_of(name)[item], bucket, rng)
        columns = [counts.column(each) for each in (*quasi_identifiers, *plain)]
        people = [counts.codes_of(each.name)[item] for each in columns]
        once = np.ones(len(item), dtype=np.int64)
        kinds: Cells = (grouped.labelled[bucket], *people)
        parts = publish_buckets(grouped, columns, kinds, once, rng)
        return replace(parts, models=measure_dealt(grouped, self.l))

    def companions(self, parts: Parts, manifest: Mapping[str, Any]) -> dict[str, str]:
        return write_companions("anatomy", parts, manifest, self.groups)

    @classmethod
    def example(cls) -> Self:
        return cls(l=3)


def measure_dealt(grouped: GroupedTables, l: int) -> tuple[Mapping[str, Any], ...]:
    """Return what buckets promise: values that differ, each once, so both figures are the same."""
    [table] = grouped.sensitive
    known = table.value != table.column.missing
    distinct = np.bincount(table.group[known], minlength=len(grouped))
    measured = {"measured": {"l": int(distinct.min())}} if len(distinct) else {}
    names = ("distinct-l-diversity", "probabilistic-l-diversity")
    return tuple({"model": n, "column": table.column.name, "l": l, **measured} for n in names)


def _require_possible(l: int, column: Column, rows: IntArray) -> None:
    """Raise an error if l is more than the most frequent value allows, before anything is done."""
    known = rows[: len(column.known)]
    total = int(known.sum())
    if not total:
        raise InfeasibleError(
            f"no row has a known {column.name!r}, and a missing value protects no person"
        )
    # A value fills as many buckets as it has rows, and l times as many rows must be there.
    largest = total // int(known.max())
    if l <= largest:
        return
    if l > np.count_nonzero(known):
        why = f"there are only {np.count_nonzero(known)} values"
    else:
        often = text_of(column.values[int(known.argmax())])
        why = f"{int(known.max())} of {total} rows have {often!r}, more than one in {l}"
    advice = f"The largest l is {largest}." if largest > 1 else "No l of 2 or more is possible."
    raise InfeasibleError(
        f"no buckets with {l} different values of {column.name!r} each: {why}. {advice}"
    )


def _deal(
    counts: FrequencySet, name: str, l: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Return every row a bucket: the combination each row has, and where it goes.

    Rows in the order of their values are dealt to the buckets in turn, as cards are. A value
    has no more rows than there are buckets, so it never comes to the same bucket twice.
    """
    item = np.repeat(np.arange(len(counts)), counts.rows)
    rng.shuffle(item)
    column = counts.column(name)
    hides = np.arange(len(column.values)) != column.missing
    at, bucket = deal_in_turn(counts.codes_of(name)[item], hides, l, rng)
    return item[at], bucket


def deal_in_turn(
    value: np.ndarray, hides: np.ndarray, l: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Return rows in the order in which they are dealt, and the bucket of each.

    Args:
        value: The code of each row's value. Rows that have the same must be in random order.
        hides: Of each code, whether the value hides people; missing ones do not, and are dealt
            last. Of the others none may have more than one in l of all rows with such a value.
        l: How many different values a bucket has at least.
        rng: Draws the order of the values.

    Example:
        >>> value = np.array([0, 0, 1, 1, 2, 2])
        >>> at, bucket = deal_in_turn(value, np.ones(3, dtype=bool), 3, np.random.default_rng())
        >>> [sorted(value[at[bucket == b]].tolist()) for b in (0, 1)]
        [[0, 1, 2], [0, 1, 2]]
    """
    # Values come in random order too: which of them share a bucket should mean nothing.
    rank = rng.permutation(len(hides))
    rank[~hides] += len(hides)
    at = np.argsort(rank.astype(np.int32)[value], kind="stable")
    buckets = np.count_nonzero(hides[value]) // l
    return at, np.arange(len(at), dtype=np.int64) % buckets


def _group_tables(
    column: Column, value: np.ndarray, bucket: IntArray, rng: np.random.Generator
) -> GroupedTables:
    """Count the values of each bucket. Groups have no quasi-identifiers in common."""
    sizes = np.bincount(bucket)
    cells = group([bucket, value], [len(sizes), len(column.values)])
    rows = np.bincount(cells.of_item)
    table = SensitiveTable(column, bucket[cells.first], value[cells.first], rows)
    nothing = np.empty((0, len(sizes)), dtype=np.int32)
    return GroupedTables((), nothing, sizes, (table,), random_labels(len(sizes), rng))


def publish_buckets(
    grouped: GroupedTables,
    columns: Sequence[Column],
    kinds: Cells,
    times: IntArray,
    rng: np.random.Generator,
) -> Parts:
    """Return how buckets that have their labels are published: people, and values with counts.

    Args:
        grouped: The buckets, with the values of one sensitive column.
        columns: The quasi-identifiers, and what is published beside them.
        kinds: The rows of people: the label of the bucket, then a code for each column.
        times: How many people each such row stands for.
        rng: Draws the order of the rows.
    """
    [table] = grouped.sensitive
    names = [*(column.name for column in columns), table.column.name]
    bucket = free_name("bucket", names)
    count = free_name("count", [*names, bucket])
    people = (DerivedColumn(bucket), *(DerivedColumn(c.name, c.values) for c in columns))
    counted = (
        DerivedColumn(bucket),
        DerivedColumn(table.column.name, table.column.values),
        DerivedColumn(count),
    )
    cells = (grouped.labelled[table.group], table.value, table.rows)
    once = np.ones(len(table.rows), dtype=np.int64)
    [file] = file_names([table.column.name], "sensitive_")
    tables = (
        DecoupledPart("qi", "qi", DerivedTable.repeat(people, kinds, times, rng)),
        DecoupledPart(
            file, "sensitive", DerivedTable.repeat(counted, cells, once, rng), table.column.name
        ),
    )
    return Parts(grouped, bucket, count, tables)
