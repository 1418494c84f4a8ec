"""Who is in which bucket: the people of a table, found again in the buckets made of it.

Of each bucket it is public which quasi-identifiers its people have, and which values, and not who
has both. The publisher's table says who has both, and not the bucket. Two people with the same
quasi-identifiers may fit into two buckets each; then every way is as good that fits all of them
together: the same tables would have been published.

What must be so is concluded, round by round, of all that is left at once. Where nothing more must
be so, some are placed at random, and it goes on; if that ends in a contradiction, it begins again.
"""

import numpy as np

from sfumato.counts import add_up, group
from sfumato.dataclasses import dataclass
from sfumato.typing import BoolArray, IntArray

_AT_ONCE = (1 << 20, 1 << 20, 64, 8, 1, 1, 1, 1)
"""How many people are placed at random before it is looked at what follows, try by try."""


@dataclass(frozen=True, eq=False)
class BucketPlaces:
    """How many people of each kind are in which bucket."""

    bucket: IntArray
    kind: IntArray
    people: IntArray


@dataclass(eq=False)
class _Puzzle:
    """All that is left to be placed. A *place* is a kind of people in a bucket it fits into."""

    bucket_known: IntArray
    """For each place, which quasi-identifiers of which bucket it takes."""

    bucket_value: IntArray
    """For each place, which value of which bucket it takes."""

    kind: IntArray
    left: tuple[IntArray, IntArray, IntArray]
    """How many are left of each of these three: they end at 0 together."""

    people: IntArray
    """How many are placed."""

    @property
    def sides(self) -> tuple[IntArray, IntArray, IntArray]:
        return self.bucket_known, self.bucket_value, self.kind

    def room(self) -> IntArray:
        """Return how many more each place takes."""
        known, value, kind = (left[side] for left, side in zip(self.left, self.sides, strict=True))
        found: IntArray = np.minimum(np.minimum(known, value), kind)
        return found

    def put(self, more: IntArray) -> bool:
        """Place people; return False if there is no room for them."""
        self.people += more
        for left, side in zip(self.left, self.sides, strict=True):
            np.subtract.at(left, side, more)
        return all(int(left.min(initial=0)) >= 0 for left in self.left)

    def conclude(self) -> bool:
        """Place all who have one place; return False if somebody has none."""
        quiet = 0
        while quiet < len(self.left):
            quiet = 0
            for left, side in zip(self.left, self.sides, strict=True):
                room = self.room()
                there = add_up(side, room, len(left)).astype(np.int64)
                if (there < left).any():
                    return False
                forced = np.where((there == left)[side], room, 0)
                if not forced.any():
                    quiet += 1
                elif not self.put(forced):
                    return False
        return True

    def guess(self, most: int, rng: np.random.Generator) -> bool:
        """Place some people at random, each kind and each bucket once, the least free first."""
        open_places = np.flatnonzero(self.room())
        if not len(open_places):
            return False
        side, left = self.kind, self.left[2]
        free = add_up(side, self.room(), len(left)).astype(np.int64) - left
        rng.shuffle(open_places)
        order = open_places[np.argsort(free[side[open_places]], kind="stable")]
        chosen = np.ones(len(order), dtype=bool)
        for each in self.sides:
            chosen &= _first_of(each[order])
        more = np.zeros(len(side), dtype=np.int64)
        more[order[chosen][:most]] = 1
        return self.put(more)


def _first_of(values: IntArray) -> BoolArray:
    """Return where each value occurs for the first time."""
    found = np.zeros(len(values), dtype=bool)
    found[np.unique(values, return_index=True)[1]] = True
    return found


def find_buckets(
    known: tuple[IntArray, IntArray, IntArray],
    values: tuple[IntArray, IntArray, IntArray],
    kinds: tuple[IntArray, IntArray, IntArray],
    rng: np.random.Generator,
) -> BucketPlaces | None:
    """Return in which bucket the people of each kind are; None if that was not found out.

    Args:
        known: Bucket, quasi-identifiers (as a number), and how many people have them there.
        values: Bucket, value, and how many people have it there.
        kinds: Quasi-identifiers, value, and how many people of the table have both.
        rng: Draws where several ways fit.
    """
    for at_once in _AT_ONCE:
        puzzle, buckets = _lay_out(known, values, kinds)
        if puzzle is None:
            return None
        good = puzzle.conclude()
        while good and puzzle.left[2].any():
            good = puzzle.guess(at_once, rng) and puzzle.conclude()
        if good and not any(left.any() for left in puzzle.left):
            placed = puzzle.people > 0
            return BucketPlaces(buckets[placed], puzzle.kind[placed], puzzle.people[placed])
    return None


def _lay_out(
    known: tuple[IntArray, IntArray, IntArray],
    values: tuple[IntArray, IntArray, IntArray],
    kinds: tuple[IntArray, IntArray, IntArray],
) -> tuple[_Puzzle | None, IntArray]:
    """Return every place that a kind of people may have, and the bucket of each."""
    # Every entry of the one table of a bucket beside every entry of the other.
    order = np.argsort(values[0], kind="stable")
    first = np.searchsorted(values[0][order], known[0], side="left")
    many = np.searchsorted(values[0][order], known[0], side="right") - first
    one = np.repeat(np.arange(len(known[0])), many)
    other = order[np.arange(len(one)) - np.repeat(np.cumsum(many) - many - first, many)]
    # The pairs that some people of the table have, by their number.
    pairs = group(
        [np.concatenate([known[1][one], kinds[0]]), np.concatenate([values[1][other], kinds[1]])],
        [int(max(known[1].max(initial=0), kinds[0].max(initial=0))) + 1,
         int(max(values[1].max(initial=0), kinds[1].max(initial=0))) + 1],
    )  # fmt: skip
    of_kind = np.full(pairs.n, -1, dtype=np.int64)
    of_kind[pairs.of_item[len(one) :]] = np.arange(len(kinds[0]))
    kind = of_kind[pairs.of_item[: len(one)]]
    there = kind >= 0
    one, other, kind = one[there], other[there], kind[there]
    left = (known[2].copy(), values[2].copy(), kinds[2].copy())
    if len({int(each.sum()) for each in left}) > 1:
        return None, known[0][one]
    return _Puzzle(one, other, kind, left, np.zeros(len(one), dtype=np.int64)), known[0][one]
