"""A memory budget: counting what fits, and starting from coarser levels where it does not."""

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from numbers import Integral
from typing import NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.counts import CoarseFrequencySet, Column, FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError
from sfumato.hierarchy import Ladder, Suppress
from sfumato.policy import Missing, Policy
from sfumato.tables import Progress, Table
from sfumato.tables.base import Survey
from sfumato.tables.capabilities import limit_rows
from sfumato.text import format_integer
from sfumato.typing import CodeArray, Node

# Choosing levels to start from, where a table has too many combinations to count them all.


Numbers: TypeAlias = npt.NDArray[np.uint64]


def estimate_combinations(once: int, more: int, sampled: int, rows: int) -> float:
    """Estimate how many combinations a table has from a sample of its rows.

    What was met several times is common and has been met in most samples; what was met once
    stands for others like it. The estimate is off by a factor of √(rows / sampled) at most,
    apart from chance, and no other estimate from a sample can promise less.

    Reference: "Towards estimation error guarantees for distinct values", 2000,
    doi:10.1145/335168.335230

    Args:
        once: How many combinations one row of the sample has.
        more: How many combinations several rows of it have.
        sampled: How many rows the sample has.
        rows: How many rows the table has.

    >>> estimate_combinations(40, 10, sampled=100, rows=400)
    90.0
    >>> estimate_combinations(40, 10, sampled=100, rows=100)
    50.0
    """
    return min(once * math.sqrt(rows / max(sampled, 1)) + more, float(rows))


class Coarsening:
    """Levels for some columns, and how many combinations there are about at them.

    Args:
        ladders: One per column; None for a column that must stay as it is.
        lowest: The level of each column to begin with; 0 where there is no ladder.
        highest: The highest level of each column.

    Example:
        >>> from sfumato.hierarchy import Masking
        >>> ladder = Masking().ladder("zip", ["10", "11", "20"])
        >>> levels = Coarsening([ladder], (0,), (2,))
        >>> levels.raise_until(np.array([[0, 1, 2, 2]], dtype=np.int32), rows=4, most=2)
        2.0
        >>> levels.node, [codes.tolist() for codes in levels.merge_values([3])]
        ((1,), [[0, 0, 2]])
    """

    def __init__(self, ladders: Sequence[Ladder | None], lowest: Node, highest: Node) -> None:
        self.node = lowest
        self._ladders = ladders
        self.highest = highest

    def merge_values(self, sizes: Sequence[int]) -> list[CodeArray]:
        """Return for each value of each column the first one with the same label.

        A missing value stays apart, whatever its label: policies treat it in their own way.

        Args:
            sizes: How many values each column has; a missing one is the last, and may be unknown
                to the column's ladder.
        """
        return [
            np.arange(size, dtype=np.int32) if ladder is None else _first_alike(ladder, level, size)
            for ladder, level, size in zip(self._ladders, self.node, sizes, strict=True)
        ]

    def raise_until(self, sample: CodeArray, *, rows: int, most: float) -> float:
        """Raise levels, each time where it saves most, until there are few enough combinations.

        Args:
            sample: The values of some rows, one row of codes per column.
            rows: How many rows they stand for.
            most: How many combinations there may be.

        Returns:
            How many there are about; more than there may be if no level is left to raise.
        """
        sizes = [int(codes.max(initial=0)) + 1 for codes in sample]
        parts = [self._hash_labels(c, self.node[c], sample[c], sizes[c]) for c in range(len(sizes))]
        whole = np.zeros(sample.shape[1], dtype=np.uint64)
        for part in parts:
            whole += part
        now = _distinct(whole, rows)
        while now > most:
            tried = {
                c: self._hash_labels(c, self.node[c] + 1, sample[c], sizes[c])
                for c in range(len(sizes))
                if self._ladders[c] is not None and self.node[c] < self.highest[c]
            }
            if not tried:
                break
            found = {c: _distinct(whole - parts[c] + part, rows) for c, part in tried.items()}
            # Where nothing is saved yet, the column whose labels become fewest is on its way.
            best = min(found, key=lambda c: (found[c], self._shrinks(c), c))
            whole += tried[best] - parts[best]
            now, parts[best] = found[best], tried[best]
            self.node = (*self.node[:best], self.node[best] + 1, *self.node[best + 1 :])
        return now

    def _shrinks(self, column: int) -> float:
        """Return the share of a column's labels that is left one level higher."""
        ladder, level = self._ladders[column], self.node[column]
        assert ladder is not None  # noqa: S101 - only such columns are tried
        return len(ladder.labels[level + 1]) / len(ladder.labels[level])

    def _hash_labels(self, column: int, level: int, codes: CodeArray, size: int) -> Numbers:
        """Return a number per row for the label of a column; sums of them tell rows apart."""
        ladder = self._ladders[column]
        same = np.arange(size) if ladder is None else _first_alike(ladder, level, size)
        drawn = np.random.default_rng([column, level]).integers(2**64, size=size, dtype=np.uint64)
        numbers: Numbers = drawn[same][codes]
        return numbers


def _first_alike(ladder: Ladder, level: int, size: int) -> CodeArray:
    alike = np.arange(max(size, len(ladder.values)), dtype=np.int32)
    _, first, of_value = np.unique(ladder.codes[level], return_index=True, return_inverse=True)
    alike[: len(of_value)] = first[of_value]
    if ladder.values and ladder.values[-1] is None:
        alike[len(of_value) - 1] = len(of_value) - 1
    return alike[:size]


def _distinct(numbers: Numbers, rows: int) -> float:
    """Estimate how many different rows there are from the numbers of some of them."""
    ordered = np.sort(numbers)
    new = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
    times = np.diff(new, append=len(ordered))
    once = int(np.count_nonzero(times == 1))
    return estimate_combinations(once, len(times) - once, len(numbers), rows)


_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE = re.compile(r"\s*(\d{1,12}(?:\.\d{1,6})?)\s*([kmgt]?i?)b?\s*", re.IGNORECASE)

_FIXED = 450 * 10**6
"""Bytes that are needed whatever is counted: libraries, a few batches, the file that is read."""

_SHUFFLED = 4
"""The share of the rest that recoded rows may take before they go to disk: one in this many."""

_PER_COMBINATION = 160
_PER_CELL = 40
"""Bytes of a combination from counting to the end of the search, and of each value in it."""


@dataclass(frozen=True)
class MemoryBudget:
    """How much memory a run may take.

    Example:
        >>> [MemoryBudget.of(each).bytes for each in ("2GB", "1.5 GiB", 10**9)]
        [2000000000, 1610612736, 1000000000]
        >>> MemoryBudget.of("2GB").most(columns=8)
        2421875
        >>> MemoryBudget.of("two")
        Traceback (most recent call last):
        sfumato.errors.ParameterError: memory must be a size as in 2GB, 500MB or 1.5GiB, or a
        number of bytes, got 'two'
    """

    bytes: int
    given: str

    @classmethod
    def of(cls, memory: object) -> Self:
        """Read a size, or refuse one that is none or too small for anything."""
        found = _bytes(memory)
        if found is None:
            expected = "a size as in 2GB, 500MB or 1.5GiB, or a number of bytes"
            raise ParameterError("memory", memory, expected)
        budget = cls(found, memory if isinstance(memory, str) else f"{found} bytes")
        if budget.most(columns=1) < 1:
            raise ParameterError(
                "memory",
                memory,
                f"more than {in_words(_FIXED)}",
                why="that much is taken before the first row is counted",
            )
        return budget

    @property
    def shuffled(self) -> int:
        """Bytes of recoded rows that may be kept in memory."""
        return max(self.bytes - _FIXED, 0) // _SHUFFLED

    def most(self, columns: int) -> int:
        """Return how many combinations of a number of columns fit."""
        return max(self.bytes - _FIXED - self.shuffled, 0) // _each(columns)

    @staticmethod
    def for_combinations(n: float, columns: int) -> int:
        """Return the bytes that a number of combinations takes."""
        return int(_FIXED + n * _each(columns) * _SHUFFLED / (_SHUFFLED - 1)) + 1


def in_words(size: float) -> str:
    """Write a number of bytes in a few letters, rounded up.

    >>> in_words(450_000_000), in_words(2_310_000_001), in_words(12)
    ('450MB', '2.4GB', '1MB')
    """
    if size > 999 * 10**6:
        return f"{-(-int(size) // 10**8) / 10:g}GB"
    return f"{-(-int(size) // 10**6)}MB"


def _bytes(memory: object) -> int | None:
    if isinstance(memory, Integral) and not isinstance(memory, bool):
        return int(memory) if int(memory) > 0 else None
    found = _SIZE.fullmatch(memory) if isinstance(memory, str) else None
    if found is None:
        return None
    unit = (_UNITS | _BINARY).get(found[2].lower())
    return None if unit is None else int(Fraction(found[1]) * unit) or None


def _each(columns: int) -> int:
    return _PER_COMBINATION + _PER_CELL * columns


class BudgetedCounts(NamedTuple):
    """A table that was counted within a budget."""

    counts: FrequencySet
    policy: Policy
    """The policy that the counts can be decided on: with higher levels, where that was needed."""

    notes: tuple[str, ...]
    """What was done to make it fit."""

    found: Survey | None = None
    """What is known of the columns, if the table was counted at coarser levels."""

    merged: tuple[CodeArray, ...] = ()
    """For each value of each column, which one it was taken for then."""


def count_within(
    budget: MemoryBudget,
    table: Table,
    policy: Policy,
    columns: Sequence[str],
    progress: Progress,
    *,
    coarsens: bool = True,
) -> BudgetedCounts:
    """Count a table for a policy, from coarser levels on if there are too many combinations.

    What is decided on the counts is what would be decided with a policy that allows no lower
    levels than those that were chosen.

    Args:
        budget: How much memory there is.
        table: The table. Of one in a database, only counts that fit are fetched.
        policy: What must hold.
        columns: The columns to count: the quasi-identifiers and what models look at.
        progress: Told how many rows were read.
        coarsens: Whether a decision can be made on coarser counts; else too many are refused.
    """
    limit_rows(table, budget.shuffled)
    most = budget.most(len(columns))
    complete = policy.quasi_identifiers if policy.missing is Missing.SUPPRESS else ()
    found = table.survey(columns, most, complete=complete, progress=progress)
    if isinstance(found, FrequencySet):
        return BudgetedCounts(found, policy, ())
    levels = _coarsening(policy, found)
    if not coarsens:
        about = levels.raise_until(found.sample, rows=found.rows, most=float("inf"))
        raise _too_little(budget, about, len(columns), "", "or choose method full-domain, which ")
    levels.raise_until(found.sample, rows=found.rows, most=most)

    def rise(combinations: CodeArray) -> list[CodeArray]:
        # More rows are to come, so there must be some room left.
        left = levels.raise_until(combinations, rows=combinations.shape[1], most=max(most // 2, 1))
        if left > most:
            raise _too_little(budget, left, len(columns), " even at the highest levels", "")
        return levels.merge_values(sizes)

    sizes = [len(column.values) for column in found.columns]
    combinations, rows = table.count_merged(
        found, levels.merge_values(sizes), most, rise, progress=progress
    )
    frequencies = {name: found.frequencies[name] for name in policy.quasi_identifiers}
    counts = CoarseFrequencySet(found.columns, combinations, rows, frequencies)
    merged = tuple(levels.merge_values(sizes))
    return BudgetedCounts(counts, *_raise_levels(budget, policy, found, levels), found, merged)


def _coarsening(policy: Policy, found: Survey) -> Coarsening:
    ladders = [_ladder(policy, found, column) for column in found.columns]
    lowest, highest = [], []
    for column, ladder in zip(found.columns, ladders, strict=True):
        top = 0 if ladder is None else ladder.height
        low, high = policy.columns[column.name].levels or (0, top)
        lowest.append(min(low, top))
        highest.append(min(high, top))
    return Coarsening(ladders, tuple(lowest), tuple(highest))


def _ladder(policy: Policy, found: Survey, column: Column) -> Ladder | None:
    """Build the hierarchy that a decision will build, for the values that it will see."""
    rule = policy.columns[column.name]
    values = column.known if policy.missing is Missing.SUPPRESS else column.values
    if column.name not in policy.quasi_identifiers or not column.known:
        return None
    rows = found.frequencies[column.name][: len(values)].tolist()
    return (rule.hierarchy or Suppress()).ladder(column.name, values, rows)


def _raise_levels(
    budget: MemoryBudget, policy: Policy, found: Survey, levels: Coarsening
) -> tuple[Policy, tuple[str, ...]]:
    """Return the policy with its lowest levels raised, and a note about them."""
    rules = dict(policy.columns)
    said = []
    for column, level, top in zip(found.columns, levels.node, levels.highest, strict=True):
        rule = rules[column.name]
        if level > (rule.levels[0] if rule.levels else 0):
            rules[column.name] = rule.replace(levels=(level, top))
            said.append(f"{column.name} from level {level}")
    note = (
        f"to keep within {budget.given} of memory, rows were counted at coarser levels: "
        f"{', '.join(said)}. What finer levels would have kept was not looked at"
    )
    return policy.replace(columns=rules), (note,)


def _too_little(
    budget: MemoryBudget, combinations: float, columns: int, where: str, hint: str
) -> ParameterError:
    needed = in_words(MemoryBudget.for_combinations(combinations, columns))
    return ParameterError(
        "memory",
        budget.given,
        f"about {needed} or more",
        why=f"the table has about {format_integer(round(combinations))} combinations of "
        "quasi-identifiers and "
        f"sensitive values{where}. Give more memory, {hint}"
        + ("can start from coarser levels" if hint else "or leave columns out"),
    )
