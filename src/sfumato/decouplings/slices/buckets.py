"""The tuple partition: rows cut into buckets, without generalising anything."""

from collections.abc import Sequence

import numpy as np

from sfumato.decouplings.slices.diversity import DiversityForm, crowds
from sfumato.decouplings.slices.layout import SubTuples
from sfumato.decouplings.slices.matching import Buckets, find_exposed
from sfumato.typing import BoolArray, FloatArray, IntArray

_PLACES = 1 << 32
_ROUNDING = 1e-5
"""What is drawn stays so far below 1, so that a sum never rounds up to the next place."""

_LOST = 0.05
"""With membership in mind, a cut rules out no larger share of the made-up people of its bucket."""


def cut_into_buckets(
    laid: Sequence[SubTuples],
    codes: Sequence[np.ndarray],
    form: DiversityForm,
    *,
    check: str = "buckets",
    rng: np.random.Generator | None = None,
    mixing: np.random.Generator | None = None,
) -> IntArray:
    """Cut the rows in two, again and again, as long as the sliced table stays diverse.

    A bucket is cut near the median of the attribute that is widest in it; if that would not do, of
    the next widest. A strict cut lies between two values. Then any two buckets were once
    parted between two values of some attribute, so no person has values that occur in both: who is
    in the table matches one bucket only, and p(t, s) = D(t, B)[s] there. The table is diverse, in
    whatever form, exactly if every bucket is, and a cut concerns none but the people of its bucket.

    A relaxed cut puts half of the rows into each half, and draws where those with the median
    go, unless only a strict one keeps both halves diverse: buckets overlap in the domains of the
    attributes, and a person may match several. If every bucket is diverse by itself so is the table
    (see `crowds`), to an adversary too who knows the bucket of a person. By another of the
    `CHECKS`, buckets are cut further as long as what a person's buckets tell together is diverse.

    Args:
        laid: The table, once for each secret; as one bucket it must be diverse.
        codes: The quasi-identifiers of each item, as codes in their order.
        form: How diverse it has to be.
        check: What is asked of relaxed cuts.
        rng: Makes cuts relaxed, and draws; every item must then be one row. None cuts strictly.
        mixing: Refuses cuts by which too many made-up people could be ruled out, who are drawn by
            it: those whose sub-tuples are all of one bucket, and would not be any more.

    Returns:
        The bucket of each item.

    Example:
        >>> from sfumato.decouplings.slices.diversity import Probabilistic
        >>> age, ill = np.array([0, 1, 2, 3]), np.array([0, 1, 0, 1])
        >>> laid = SubTuples((age,), np.zeros(4, dtype=int), ill, np.ones(4, dtype=int))
        >>> cut_into_buckets([laid], [age], Probabilistic(2)).tolist()
        [0, 0, 1, 1]
        >>> age, ill = np.array([0, 1, 1, 3]), np.array([0, 1, 1, 0])
        >>> laid = SubTuples((age,), np.zeros(4, dtype=int), ill, np.ones(4, dtype=int))
        >>> rng = np.random.default_rng()
        >>> cut_into_buckets([laid], [age], Probabilistic(2), rng=rng)[[0, 3]].tolist()
        [0, 1]
    """
    table = np.array(codes, dtype=np.int64).reshape(len(codes), len(laid[0]))
    state = _Partition(laid, table, form, rng, mixing)
    state.cut("buckets")
    if check != "buckets":
        state.cut(check)
    return state.bucket


class _Partition:
    """Rows in buckets, which are cut as far as they can be."""

    def __init__(
        self,
        laid: Sequence[SubTuples],
        table: IntArray,
        form: DiversityForm,
        rng: np.random.Generator | None,
        mixing: np.random.Generator | None,
    ) -> None:
        self.laid, self.table, self.form, self.rng, self.mixing = laid, table, form, rng, mixing
        self.rows = laid[0].rows
        self.bucket = np.zeros(len(self.rows), dtype=np.int64)
        self.n = int(len(self.rows) > 0)

    def cut(self, check: str) -> None:
        """Cut in rounds: all buckets at once, each on its own attribute."""
        items = np.arange(len(self.rows))
        while len(items):
            widths = _widths(self.table, self.bucket, items, self.n)
            done = np.zeros(self.n, dtype=bool)
            for _ in self.table:
                widest = np.argmax(widths, axis=0)
                wide = widths.max(axis=0) > 0
                if not wide.any():
                    break
                bucket = self.bucket
                at = items[wide[bucket[items]]]
                code = self.table[widest[bucket[at]], at]
                above, cut = self._try(at, code, wide, check)
                upper = at[above & cut[bucket[at]]]
                bucket[upper] = (self.n + np.cumsum(cut) - 1)[bucket[upper]]
                # What was cut waits for the next round; what was not tries its next attribute.
                widths[widest, np.arange(self.n)] = 0
                widths[:, cut] = 0
                new = int(np.count_nonzero(cut))
                widths = np.pad(widths, ((0, 0), (0, new)))
                done = np.append(done | cut, np.ones(new, dtype=bool))
                self.n += new
            items = items[done[self.bucket[items]]]

    def _try(
        self, at: IntArray, code: IntArray, wide: BoolArray, check: str
    ) -> tuple[BoolArray, BoolArray]:
        """Return which items would be above the cut of their bucket, and which cuts are good.

        Where a relaxed cut is not, those with the median may stay together.
        """
        bucket = self.bucket[at]
        if self.rng is None:
            above = _above_middle(bucket, code, self.rows[at])
            return above, self._judge(at, above, wide, check)
        above = _upper_half(bucket, code, self.rng)
        cut = self._judge(at, above, wide, check)
        left = wide & ~cut
        if check == "buckets" and left.any():
            strict = _above_middle(bucket, code, self.rows[at])
            above = np.where(cut[bucket], above, strict)
            cut |= self._judge(at, above, left, check)
        return above, cut

    def _judge(self, at: IntArray, above: BoolArray, wide: BoolArray, check: str) -> BoolArray:
        """Return which of the buckets that have values to cut between may be cut."""
        if self.mixing is not None:
            wide = wide & self._mixes(at, above, self.mixing)
        if check == "buckets":
            return wide & self._good(at, above)
        return self._good_together(at, above, wide, check)

    def _mixes(self, at: IntArray, above: BoolArray, rng: np.random.Generator) -> BoolArray:
        """Return which buckets may be cut: hardly any person made up of them is then ruled out.

        One is made up for each item: a sub-tuple of every column, drawn from the bucket.
        """
        bucket = self.bucket[at]
        order = np.argsort(bucket, kind="stable")
        fits = np.ones((2, len(at)), dtype=bool)
        for numbers in self.laid[0].numbers:
            own = numbers[at]
            drawn = np.empty_like(own)
            drawn[order] = own[np.lexsort((rng.random(len(at)), bucket))]
            size = int(own.max(initial=0)) + 1
            for half in (0, 1):
                there = above if half else ~above
                held = np.unique((bucket * size + own)[there])
                wanted = bucket * size + drawn
                place = np.minimum(np.searchsorted(held, wanted), max(len(held) - 1, 0))
                fits[half] &= held[place] == wanted if len(held) else False
        lost = np.bincount(bucket, ~fits.any(axis=0), self.n)
        good: BoolArray = lost <= _LOST * np.bincount(bucket, minlength=self.n)
        return good

    def _good(self, at: IntArray, above: BoolArray) -> BoolArray:
        """Return which buckets may be cut: both halves are diverse."""
        good = np.ones(self.n, dtype=bool)
        bucket = self.bucket[at]
        for laid in self.laid:
            found = crowds(laid, np.where(above, bucket + self.n, bucket), at)
            good[found.bucket[self.form.fail(found.tally)] % self.n] = False
        return good

    def _good_together(
        self, at: IntArray, above: BoolArray, wide: BoolArray, check: str
    ) -> BoolArray:
        """Return which buckets may be cut: no person is exposed by all of them together.

        A cut concerns all people who match the bucket, and two cuts that are good by themselves
        may do harm together. So all are tried at once, and those that exposed people match are
        taken back, until none are exposed.
        """
        cut = wide.copy()
        while cut.any():
            tried = self.bucket.copy()
            upper = at[above & cut[self.bucket[at]]]
            tried[upper] += self.n
            # Numbers without gaps, and the bucket that each comes from.
            ids, tried = np.unique(tried, return_inverse=True)
            origin = ids % self.n
            harmful = np.zeros(self.n, dtype=bool)
            for laid in self.laid:
                exposed = find_exposed(laid, tried, self.form, check, changed=cut[origin])
                if len(exposed):
                    # As they are now: some may match neither half of what they match.
                    for match in Buckets(laid, self.bucket).matching(exposed):
                        harmful[match.bucket] = True
            if not (harmful & cut).any():
                break
            cut &= ~harmful
        return cut


def _widths(table: IntArray, bucket: IntArray, items: IntArray, n: int) -> FloatArray:
    """Return how much of each attribute's values a bucket spans; 0 if it cannot be cut there."""
    order = items[np.argsort(bucket[items], kind="stable")]
    starts = np.flatnonzero(np.diff(bucket[order], prepend=-1))
    widths = np.zeros((len(table), n))
    for attribute, codes in enumerate(table):
        high = np.maximum.reduceat(codes[order], starts)
        low = np.minimum.reduceat(codes[order], starts)
        widths[attribute, bucket[order[starts]]] = (high - low) / max(int(codes.max()), 1)
    return widths


def _upper_half(bucket: IntArray, code: IntArray, rng: np.random.Generator) -> BoolArray:
    """Return which rows are in the upper half of their bucket; of equal codes it is drawn.

    >>> bucket, code = np.array([0, 0, 7, 7, 7, 7]), np.array([4, 1, 3, 0, 9, 8])
    >>> _upper_half(bucket, code, np.random.default_rng()).tolist()
    [True, False, False, False, True, True]
    """
    place, drawn = bucket * (int(code.max(initial=0)) + 1) + code, rng.random(len(code))
    if place.max(initial=0) < _PLACES:
        # One sort instead of two: the whole part of a key is the place, the rest is drawn.
        order = np.argsort(place + drawn * (1 - _ROUNDING), kind="stable")
    else:
        order = np.lexsort((drawn, place))
    starts = np.flatnonzero(np.diff(bucket[order], prepend=-1))
    sizes = np.diff(np.append(starts, len(order)))
    rank = np.arange(len(order)) - np.repeat(starts, sizes)
    above = np.empty(len(order), dtype=np.bool_)
    above[order] = rank >= np.repeat(sizes // 2, sizes)
    return above


def _above_middle(bucket: IntArray, code: IntArray, rows: IntArray) -> BoolArray:
    """Cut every bucket between two codes where its halves are most alike; tell what is above.

    >>> bucket, code = np.array([0, 0, 0, 7, 7]), np.array([4, 1, 3, 0, 1])
    >>> _above_middle(bucket, code, np.array([2, 1, 2, 9, 1])).tolist()
    [True, False, False, False, True]
    """
    width = int(code.max()) + 1
    places, place = np.unique(bucket * width + code, return_inverse=True)
    of_place = places // width
    up_to = np.cumsum(np.bincount(place, rows))
    starts = np.flatnonzero(np.diff(of_place, prepend=-1))
    ends = np.append(starts[1:], len(places)) - 1
    widths = ends - starts + 1
    total = np.diff(up_to[ends], prepend=0)
    lopsided = np.abs(
        2 * (up_to - np.repeat(up_to[ends] - total, widths)) - np.repeat(total, widths)
    )
    # Nothing is above the last place.
    lopsided[ends] = np.inf
    best = np.flatnonzero(lopsided == np.repeat(np.minimum.reduceat(lopsided, starts), widths))
    first = best[np.flatnonzero(np.diff(of_place[best], prepend=-1))]
    above: BoolArray = place > np.repeat(first, widths)[place]
    return above
