"""The tuple partition of slicing as it is printed: every split asks the whole table again.

The source is "An Efficient Approaches For Privacy Preserving In Microdata Publishing Using Slicing
and Partitioning Technique" by Saravanabhavan and Parvathi, Figures 2.1 and 2.2. Where the figures
leave a choice it is made as ours is: a value with a probability of exactly 1/l is allowed, as
the text has it, and where a bucket must not be cut on its widest attribute the next widest
is tried, as in Mondrian. So the same buckets come out.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TypeAlias

Bucket: TypeAlias = list[int]
"""Positions of rows."""

_ROUNDING = 1e-9


class LiteralSlicing:
    """A table whose rows are to be put into buckets.

    Args:
        rows: Whole numbers; the sensitive value is the last of a row.
        columns: Which places of a row stand in which column; the last column holds the sensitive
            value.
        l: The least diversity.

    Example:
        >>> LiteralSlicing([(0, 7), (1, 8), (2, 7), (3, 8)], [[0], [1]], 2).tuple_partition()
        [[0, 1], [2, 3]]
    """

    def __init__(
        self, rows: Sequence[tuple[int, ...]], columns: Sequence[Sequence[int]], l: int
    ) -> None:
        self.rows = rows
        self.l = l
        self.attributes = range(len(rows[0]) - 1)
        self.parts = [
            [tuple(row[place] for place in column if place in self.attributes) for row in rows]
            for column in columns
        ]
        """What is known of each row in each column."""

    def tuple_partition(self) -> list[Bucket]:
        """Split buckets as long as the sliced table is l-diverse (Figure 2.1)."""
        queue, done = [list(range(len(self.rows)))], list[Bucket]()
        while queue:
            bucket = queue.pop(0)
            for halves in self._splits(bucket):
                if self.is_diverse([*queue, *halves, *done]):
                    queue += halves
                    break
            else:
                done.append(bucket)
        return done

    def is_diverse(self, buckets: list[Bucket]) -> bool:
        """Compute p(t, s) of every row from all buckets (Figure 2.2)."""
        matching: list[list[tuple[float, Counter[int]]]] = [[] for _ in self.rows]
        for bucket in buckets:
            frequency = [Counter(part[row] for row in bucket) for part in self.parts]
            values: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
            for row in bucket:
                values[self.parts[-1][row]][self.rows[row][-1]] += 1
            for row, found in enumerate(matching):
                weight = 1.0
                for part, count in zip(self.parts, frequency, strict=True):
                    weight *= count[part[row]] / len(bucket)
                if weight:
                    found.append((weight, values[self.parts[-1][row]]))
        return all(self._guess(found) <= 1 / self.l + _ROUNDING for found in matching)

    def _guess(self, found: list[tuple[float, Counter[int]]]) -> float:
        """Give the largest p(t, s) of a person."""
        total = sum(weight for weight, _ in found)
        likely: dict[int, float] = defaultdict(float)
        for weight, values in found:
            for value, rows in values.items():
                likely[value] += weight / total * rows / values.total()
        return max(likely.values())

    @cached_property
    def _domains(self) -> list[int]:
        return [max(row[place] for row in self.rows) for place in self.attributes]

    def _splits(self, bucket: Bucket) -> Iterator[list[Bucket]]:
        """Cut nearest to the median, on the widest attribute first."""
        widths = {}
        for place in self.attributes:
            here = [self.rows[row][place] for row in bucket]
            if max(here) > min(here):
                widths[place] = (max(here) - min(here)) / self._domains[place]
        for place in sorted(widths, key=lambda place: -widths[place]):
            counted = sorted(Counter(self.rows[row][place] for row in bucket).items())
            below, cuts = 0, []
            for value, rows in counted[:-1]:
                below += rows
                cuts.append((abs(2 * below - len(bucket)), value))
            _, cut = min(cuts)
            yield [
                [row for row in bucket if self.rows[row][place] <= cut],
                [row for row in bucket if self.rows[row][place] > cut],
            ]
