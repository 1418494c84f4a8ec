"""Special uniques: the smallest sets of columns that single a row out, and how special that is.

A row that is alone in a table by all columns together may still be alone by two of them. Such a row
is likelier to be alone in the population, too, and a stranger needs to know less to find it. A set
of columns is a *minimal sample unique* of a row if the row is alone in it and in none of its parts.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from math import comb, prod

import numpy as np

from sfumato.counts import FrequencySet, PackedKeys
from sfumato.dataclasses import dataclass
from sfumato.errors import require_int
from sfumato.showing.content import ContentTable, Sentence, Share
from sfumato.text import format_integer, percent
from sfumato.typing import BoolArray, FloatArray, IntArray

Subset = tuple[int, ...]

_WORK = 60_000_000
"""Combinations grouped in all, give or take: about a second."""

_OVERHEAD = 8_000
"""What looking at one set costs besides, in combinations."""


@dataclass(frozen=True, eq=False)
class MinimalUniques:
    """The minimal sample uniques of a table, up to a size.

    One entry per pair of a row and a set of columns, in the order of the sets.
    """

    columns: int
    """The number of columns that there are."""

    largest: int
    """How many columns a set has at most."""

    sets: tuple[Subset, ...]
    """Sets of columns by which some row is minimally unique; smaller ones first."""

    set_of: IntArray
    """By entry, the position of its set."""

    item: IntArray
    """By entry, the combination of the counts that the row has."""

    def scores(self, items: int) -> FloatArray:
        """Return how special each combination is: 0 if no set of columns singles it out.

        The score of a set of k columns out of n, if sets of up to m are looked at, is the product
        of n - i for i from k to m, so smaller sets count for more; that of a row is their sum.

        Reference: M. J. Elliot, A. M. Manning, R. W. Ford, "A computational algorithm for handling
        the special uniques problem", 2002, doi:10.1142/S0218488502001600
        """
        scores: FloatArray = np.bincount(
            self.item, weights=self.set_scores()[self.set_of], minlength=items
        ).astype(float)
        return scores

    def set_scores(self) -> FloatArray:
        """Return what each set adds to the score of a row that it singles out."""
        n = self.columns
        by_size = [
            float(prod(n - i for i in range(k, min(self.largest, n - 1) + 1)))
            for k in range(1, self.largest + 1)
        ]
        return np.array([by_size[len(each) - 1] for each in self.sets], dtype=float)

    def contributions(self) -> FloatArray:
        """Return the share of all scores that comes from sets with each column.

        The shares add up to more than one: a set of two columns counts for both.
        """
        scores = self.set_scores()[self.set_of]
        has = np.zeros((len(self.sets), self.columns), dtype=bool)
        for position, each in enumerate(self.sets):
            has[position, list(each)] = True
        of_set = np.bincount(self.set_of, weights=scores, minlength=len(self.sets))
        shares: FloatArray = (of_set @ has) / max(float(scores.sum()), 1e-300)
        return shares


def minimal_uniques(
    counts: FrequencySet, largest: int, *, report: Callable[[int, int], None] | None = None
) -> MinimalUniques:
    """Return every set of up to `largest` columns in which a row is alone, and in no part of it.

    All sets of one column are looked at, then those of two, and so on. Rows that a part of a set
    singles out already need not be looked at again: no other row can be their like in the set.

    >>> rows = [("f", 30, "x"), ("f", 40, "x"), ("m", 30, "x"), ("m", 40, "y")]
    >>> table = FrequencySet.from_rows(["sex", "age", "ward"], rows)
    >>> found = minimal_uniques(table, 3)
    >>> [(found.sets[s], i) for s, i in zip(found.set_of.tolist(), found.item.tolist())]
    [((2,), 3), ((0, 1), 0), ((0, 1), 1), ((0, 1), 2), ((0, 1), 3), ((0, 2), 2), ((1, 2), 1)]
    >>> found.scores(4).tolist()
    [1.0, 2.0, 2.0, 3.0]
    """
    require_int("largest", largest, at_least=1)
    n = len(counts.columns)
    largest = min(largest, n)
    possible = sum(comb(n, size) for size in range(1, largest + 1))
    single = counts.rows == 1
    sizes = [len(column.values) for column in counts.columns]
    sets: list[Subset] = []
    items: list[IntArray] = []
    before: dict[Subset, BoolArray] = {(): np.zeros(len(counts), dtype=bool)}
    done = 0
    for size in range(1, largest + 1):
        now: dict[Subset, BoolArray] = {}
        for subset in combinations(range(n), size):
            parts = [before[part] for part in combinations(subset, size - 1)]
            already = parts[0] if len(parts) == 1 else np.logical_or.reduce(parts)
            looked = np.flatnonzero(~already)
            codes = [counts.codes[i][looked] for i in subset]
            found = looked[_alone(codes, [sizes[i] for i in subset])]
            found = found[single[found]]
            if len(found):
                sets.append(subset)
                items.append(found)
            if size < largest:
                now[subset] = already.copy()
                now[subset][found] = True
            done += 1
            if report is not None:
                report(done, possible)
        before = now
    lengths = [len(each) for each in items]
    return MinimalUniques(
        n,
        largest,
        tuple(sets),
        np.repeat(np.arange(len(sets)), lengths),
        np.concatenate(items) if items else np.zeros(0, dtype=np.int64),
    )


def _alone(codes: Sequence[IntArray], sizes: Sequence[int]) -> IntArray:
    """Return the positions of the items whose combination of codes no other item has, in order."""
    n = len(codes[0])
    if not n:
        return np.zeros(0, dtype=np.int64)
    key, width = PackedKeys.of(codes, sizes)
    if width <= 4 * n:
        return np.flatnonzero(np.bincount(key, minlength=width)[key] == 1)
    bits = n.bit_length()
    if width.bit_length() + bits < 63:
        # The position rides along in the last bits: sorting numbers beats sorting an order.
        order = np.sort((key.astype(np.int64) << bits) | np.arange(n))
        place, ordered = order & ((1 << bits) - 1), order >> bits
    else:
        place = np.argsort(key, kind="stable")
        ordered = key[place]
    new = np.concatenate([[True], ordered[1:] != ordered[:-1], [True]])
    return np.sort(place[new[1:] & new[:-1]])


def dis_scores(scores: FloatArray, unique_match: float, columns: int) -> FloatArray:
    """Return how likely a match with each unique row is right, by how special it is (DIS-SUDA).

    What is known of all unique rows together, `unique_match`, is shared out among them: a row with
    twice the score has about twice the odds. 0 for rows without a score.

    Reference: M. J. Elliot, "Integrating file and record level disclosure risk assessment", 2002,
    doi:10.1007/3-540-47804-3_10

    Args:
        scores: The score of each unique row; 0 if no set of columns was found to single it out.
        unique_match: How likely a match with a unique row is right on average.
        columns: The number of columns.
    """
    special = scores > 0
    result = np.zeros(len(scores))
    if not special.any() or unique_match <= 0:
        return result
    power = 1 + (8 - columns) / 20
    # Scores may be large: only their ratios matter.
    raised = (scores[special] / scores[special].max()) ** power
    odds = len(scores) * (1 / unique_match - 1) / (raised * (1 / raised).sum())
    result[special] = 1 / (1 + odds)
    return result


@dataclass(frozen=True)
class ColumnShare:
    """How much one column makes people special."""

    name: str
    sets: int
    """Pairs of a row and a minimal set of columns with this one in it."""

    share: float
    """Of all scores, that of such sets. Shares of columns add up to more than one."""


@dataclass(frozen=True)
class SpecialUniques:
    """Rows that few columns single out, and the columns that do it.

    Says who is special within the table. Who is looked for by other columns, or is one of two, is
    not found; a table without special uniques is not safe for that.
    """

    largest: int
    """Sets of up to this many columns were looked at."""

    asked: int
    """Sets of up to this many columns were asked for; larger ones would have taken too long."""

    rows: int
    """Rows that some set of columns singles out."""

    sets: tuple[int, ...]
    """Minimal sample uniques of one column, of two, and so on."""

    columns: tuple[ColumnShare, ...]
    """The columns, that which makes people most special first."""

    highest: float
    """The highest score of a row."""

    highest_dis: float | None = None
    """How likely a match with the most special row is right (DIS-SUDA); None without a fraction."""

    @classmethod
    def of(
        cls,
        counts: FrequencySet,
        asked: int,
        *,
        unique_match: float | None = None,
        work: int = _WORK,
        report: Callable[[int, int], None] | None = None,
    ) -> "SpecialUniques":
        """Find special uniques among counted rows.

        Args:
            counts: The table, over the columns to look at.
            asked: How many columns a set may have; fewer where that takes too much work.
            unique_match: How likely a match with a unique row is right, if it is known.
            work: Combinations to group in all.
            report: Told how many sets are done.
        """
        n = len(counts.columns)
        asked = largest = min(asked, n)
        each = len(counts) + _OVERHEAD
        while largest > 1 and each * sum(comb(n, k) for k in range(1, largest + 1)) > work:
            largest -= 1
        found = minimal_uniques(counts, largest, report=report)
        scores = found.scores(len(counts))
        sizes = np.array([len(each) for each in found.sets], dtype=np.int64)
        by_size = np.bincount(sizes[found.set_of], minlength=largest + 1)
        in_sets = np.zeros(n, dtype=np.int64)
        per_set = np.bincount(found.set_of, minlength=len(found.sets))
        for position, subset in enumerate(found.sets):
            in_sets[list(subset)] += per_set[position]
        columns = [
            ColumnShare(column.name, rows, share)
            for column, rows, share in zip(
                counts.columns, in_sets.tolist(), found.contributions().tolist(), strict=True
            )
        ]
        dis = None
        if unique_match is not None:
            alone = scores[counts.rows == 1]
            dis = float(dis_scores(alone, unique_match, n).max(initial=0.0))
        return cls(
            largest,
            asked,
            int(np.count_nonzero(scores)),
            tuple(by_size[1:].tolist()),
            tuple(sorted(columns, key=lambda column: -column.share)),
            float(scores.max(initial=0.0)),
            dis,
        )

    def sentence(self) -> Sentence:
        """Return how many rows are special, by how few columns, and what was not looked at."""
        sizes = ", ".join(
            f"{format_integer(number)} of {size} column{'s' if size > 1 else ''}"
            for size, number in enumerate(self.sets, start=1)
            if number
        )
        few = f"up to {self.largest} columns" if self.largest > 1 else "one column"
        found = (
            f"Special uniques: {format_integer(self.rows)} rows are alone by {few}; minimal sets: "
            f"{sizes}"
            if self.rows
            else f"Special uniques: no row is alone by {few}"
        )
        if self.highest_dis is not None:
            found += (
                ". A match with the most special row is right with a probability of about "
                f"{percent(self.highest_dis)}, which is an estimate"
            )
        if self.largest < self.asked:
            found += f". Larger sets, up to {self.asked}, were not looked at: there are too many"
        return Sentence(found)

    def table(self) -> ContentTable:
        """Return the columns that make people special."""
        return ContentTable.of(
            "",
            ["columns that make people special", "minimal sets", "share of the scores"],
            [[c.name, c.sets, Share(min(c.share, 1.0))] for c in self.columns if c.sets],
        )
