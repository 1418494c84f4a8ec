"""The tuple partition: rows cut into buckets, without generalising anything."""

from collections.abc import Sequence

import numpy as np

from sfumato.slicing.diversity import Form, crowds
from sfumato.slicing.layout import SubTuples
from sfumato.typing import BoolArray, FloatArray, IntArray


def cut_into_buckets(laid: SubTuples, codes: Sequence[np.ndarray], form: Form) -> IntArray:
    """Cut the rows in two, again and again, as long as the sliced table stays diverse.

    A bucket is cut between two values of the attribute that is widest in it, near the median;
    if that would not do, on the next widest. What is asked of the halves is that each is diverse
    by itself, from which the whole table follows (see `crowds`).

    Nothing is lost by that. Any two buckets were once parted between two values of some
    attribute, so no person has values that occur in both: who is in the table matches one bucket
    only, and p(t, s) = D(t, B)[s] there. The table is diverse, in whatever form, exactly if
    every bucket is, and a cut concerns none but the people of its bucket: to look at its halves
    is all it takes.

    Args:
        laid: The table; as one bucket it must be diverse.
        codes: The quasi-identifiers of each item, as codes in their order.
        form: How diverse it has to be.

    Returns:
        The bucket of each item.

    Example:
        >>> from sfumato.slicing.diversity import Probabilistic
        >>> age, ill = np.array([0, 1, 2, 3]), np.array([0, 1, 0, 1])
        >>> laid = SubTuples((age,), np.zeros(4, dtype=int), ill, np.ones(4, dtype=int))
        >>> cut_into_buckets(laid, [age], Probabilistic(2)).tolist()
        [0, 0, 1, 1]
    """
    table = np.array(codes, dtype=np.int64).reshape(len(codes), len(laid))
    bucket = np.zeros(len(laid), dtype=np.int64)
    n = int(len(laid) > 0)
    items = np.arange(len(laid))
    while len(items):
        widths = _widths(table, bucket, items, n)
        done = np.zeros(n, dtype=bool)
        for _ in codes:
            widest = np.argmax(widths, axis=0)
            wide = widths.max(axis=0) > 0
            if not wide.any():
                break
            at = items[wide[bucket[items]]]
            above = _above_middle(bucket[at], table[widest[bucket[at]], at], laid.rows[at])
            cut = wide & _good(laid, bucket[at], at, above, n, form)
            upper = at[above & cut[bucket[at]]]
            bucket[upper] = (n + np.cumsum(cut) - 1)[bucket[upper]]
            # What was cut waits for the next round; what was not tries its next attribute.
            widths[widest, np.arange(n)] = 0
            widths[:, cut] = 0
            new = int(np.count_nonzero(cut))
            widths = np.pad(widths, ((0, 0), (0, new)))
            done = np.append(done | cut, np.ones(new, dtype=bool))
            n += new
        items = items[done[bucket[items]]]
    return bucket


def _good(
    laid: SubTuples, bucket: IntArray, at: IntArray, above: BoolArray, n: int, form: Form
) -> BoolArray:
    """Return which buckets may be cut: both halves are diverse."""
    found = crowds(laid, np.where(above, bucket + n, bucket), at)
    good = np.ones(n, dtype=bool)
    good[found.bucket[form.fail(found.tally)] % n] = False
    return good


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
