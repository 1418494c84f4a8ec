"""Record swapping: some rows exchange their values, within groups that stay as they are."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError
from sfumato.perturbations.base import (
    ColumnCells,
    Perturbation,
    PublishedLimits,
    SeenColumn,
    join_names,
    read_share,
)
from sfumato.typing import FloatArray, IntArray


@dataclass(frozen=True)
class RecordSwapping(Perturbation):
    """Values that a share of the rows exchange in pairs, within the levels of other columns.

    Columns with the same settings are exchanged together, so that a town stays in its region. Each
    level keeps exactly the values it has, and so does the table: what is counted by the columns of
    `within` and the exchanged ones is unchanged. A missing value is exchanged like any
    other. A pair may have the same value, and then nothing changes.

    Promises: of a row that is found, the value is the person's own with the probability that the
    share leaves: not surely. Does not promise more: with a share of 5% it is true for most.

    Args:
        share: The share of rows that take part, as in 5%. In each level these are whole pairs, and
            chance decides about a part of one. A row that is alone in its level keeps its values.
        within: Columns whose values partners have in common; none for all rows together.

    Example:
        >>> from sfumato.counts import Column
        >>> cells = ColumnCells(Column("town", ("A", "B", "C")), np.array([0, 1, 2, 2]))
        >>> groups = np.array([0, 0, 1, 1])
        >>> swapping = RecordSwapping(share=0.999, within=("region",))
        >>> [found] = swapping.change([cells], groups, np.random.default_rng(0))
        >>> found.codes.tolist()
        [1, 0, 2, 2]
    """

    name: ClassVar[str] = "record-swapping"
    numeric: ClassVar[bool] = False
    joint: ClassVar[bool] = True
    rearranges: ClassVar[bool] = True

    share: float | str
    within: Sequence[str] = ()

    def __post_init__(self) -> None:
        read_share("share", self.share)
        within = (self.within,) if isinstance(self.within, str) else tuple(self.within)
        if len(set(within)) < len(within) or not all(isinstance(n, str) and n for n in within):
            raise ParameterError("within", list(within), "names of columns, each once")
        object.__setattr__(self, "within", within)

    def change(
        self, columns: Sequence[ColumnCells], groups: IntArray | None, rng: np.random.Generator
    ) -> list[ColumnCells]:
        n = len(columns[0].codes)
        level = np.zeros(n, dtype=np.int64) if groups is None else groups
        source = swap_within(level, read_share("share", self.share), rng)
        return [ColumnCells(each.column, each.codes[source]) for each in columns]

    def likelihood(self, published: IntArray, true: IntArray, shown: SeenColumn) -> FloatArray:
        # Readers of the release take a partner for any row; within a level they are alike at most.
        share, shares = read_share("share", self.share), shown.shares
        found: FloatArray = (1 - share) * (published == true) + share * shares[published]
        return found

    def stays(self, shown: SeenColumn, prior: FloatArray, step: float | None = None) -> FloatArray:
        share = read_share("share", self.share)
        if step is None:
            alone: FloatArray = (1 - share) + share * shown.shares
            return alone
        _, place = np.unique(np.round(shown.numbers / step), return_inverse=True)
        together = np.bincount(place, weights=shown.shares)[place]
        return np.asarray((1 - share) + share * together, dtype=np.float64)

    def limits(self, shown: SeenColumn) -> list[PublishedLimits]:
        """Return how often each value is published, whatever the true ones are.

        Nothing is known of partners that have more in common.

        >>> shown = SeenColumn("ill", ("flu", "hiv"), np.array([9000, 1000]))
        >>> RecordSwapping(share=0.5).limits(shown)[0].most.round(2).tolist()
        [0.96, 0.6]
        """
        if self.within:
            return []
        # Of few rows whole pairs are a little less than the share.
        share = max(0.9 * read_share("share", self.share) - 2 / max(int(shown.rows.sum()), 1), 0.0)
        least = share * shown.shares
        return [PublishedLimits(np.arange(len(shown.values)), least, 1 - share + least)]

    def note(self, columns: Sequence[str]) -> str:
        share = read_share("share", self.share)
        levels = f" with the same {join_names(self.within)}" if self.within else ""
        return (
            f"values of {join_names(columns)} were exchanged between rows{levels}, for "
            f"{share * 100:g} % of the rows"
        )

    @classmethod
    def example(cls) -> Self:
        return cls(share="5%", within=("region",))


def swap_within(level: IntArray, share: float, rng: np.random.Generator) -> IntArray:
    """Return the row whose values each row gets: its partner in the same level, or itself.

    >>> source = swap_within(np.array([0, 0, 0, 0, 1]), 0.5, np.random.default_rng(3))
    >>> bool((source[source] == np.arange(5)).all()), int((source != np.arange(5)).sum())
    (True, 2)
    """
    n = len(level)
    shuffled = rng.permutation(n)
    order = shuffled[np.argsort(_narrow(level)[shuffled], kind="stable")]
    ranked = level[order]
    starts = np.flatnonzero(np.diff(ranked, prepend=-1))
    sizes = np.diff(np.append(starts, n))
    place = np.arange(n) - np.repeat(starts, sizes)
    # Chance decides about a part of a pair, so that small levels take part as often as large ones.
    pairs = np.minimum(np.floor(share * sizes / 2 + rng.random(len(sizes))), sizes // 2)
    taking = place < 2 * np.repeat(pairs.astype(np.int64), sizes)
    source = np.arange(n)
    other = np.where(place % 2 == 0, np.arange(n) + 1, np.arange(n) - 1)
    source[order[taking]] = order[other[taking]]
    return source


def _narrow(level: IntArray) -> np.ndarray[Any, Any]:
    """Return levels in two bytes if they fit: these are sorted by counting, ten times as fast."""
    return level.astype(np.uint16) if level.max(initial=0) < 2**16 else level
