"""The compiled loops give what NumPy gives, bit for bit, and refuse what they cannot read.

`make sanitize` runs them with a build that stops at the first access outside an array.
"""

import sys
from array import array
from contextlib import suppress
from ctypes import c_int32
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.search import kernel
from sfumato.search.best_first import BoxCounter


@st.composite
def items(draw):
    """Items with a code per group, and what a code adds to a key."""
    n = draw(st.integers(0, 60))
    codes, tables, width = [], [], 1
    for _ in range(draw(st.integers(0, 3))):
        raw, size = draw(st.integers(1, 9)), draw(st.integers(1, 9))
        coded = st.lists(st.integers(0, raw - 1), min_size=n, max_size=n)
        codes.append(np.array(draw(coded), dtype=draw(st.sampled_from(["u2", "i4"]))))
        labels = st.lists(st.integers(0, size - 1), min_size=raw, max_size=raw)
        tables.append(np.array(draw(labels), dtype=np.int64) * width)
        width *= size
    # Few keys are numbered in a table, keys far apart are hashed and sorted.
    far = draw(st.sampled_from([1, 3, 10**6, 10**15]))
    rows = np.array(draw(st.lists(st.integers(0, 9), min_size=n, max_size=n)), dtype=np.int32)
    return codes, [table * far for table in tables], width * far, rows


def same(one, other):
    assert len(one) == len(other)
    for mine, theirs in zip(one, other, strict=True):
        assert mine.dtype == theirs.dtype
        assert mine.tolist() == theirs.tolist()


@given(items())
def test_items_are_grouped_alike(given):
    same(kernel.group_items(*given), kernel.numpy_group_items(*given))


@pytest.mark.usefixtures("patience")
@given(items(), st.integers(1, 5), st.integers(0, 1), st.sampled_from([1, 5000]), st.data())
def test_entries_are_added_up_alike(given, values, least, far, data):
    """Entries that all have rows are added up in a table, if it is not too large for them."""
    of_item, first, _ = kernel.numpy_group_items(*given)
    entries = [
        (item, value * far, data.draw(st.integers(least, 5)))
        for item in range(len(of_item))
        for value in sorted(data.draw(st.sets(st.integers(0, values - 1), min_size=1)))
    ]
    columns = tuple(np.array(column, dtype=np.int32) for column in zip(*entries, strict=True))
    columns = columns or (np.empty(0, dtype=np.int32),) * 3
    asked = of_item, len(first), columns, values * far
    same(kernel.group_entries(*asked), kernel.numpy_group_entries(*asked))


@pytest.mark.usefixtures("patience")
@given(items(), st.data())
def test_rows_of_chosen_groups_are_added_up_alike(given, data):
    of_item, first, _ = kernel.numpy_group_items(*given)
    codes, _, _, rows = given
    n = len(first)
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool)
    for column in codes:
        asked = of_item, chosen, rows, column, 9
        same([kernel.add_up_chosen(*asked)], [kernel.numpy_add_up_chosen(*asked)])


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.data())
def test_boxes_are_added_up_alike(shape, data):
    size = int(np.prod(shape))
    marked = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    counter = BoxCounter(tuple(shape))
    for above, matrices in (
        (False, [matrix.T for matrix in counter._matrices]),
        (True, counter._matrices),
    ):
        counts = marked.astype(np.float32)
        if kernel.sum_boxes(counts, tuple(shape), above=above):
            assert counts.tolist() == counter._apply(marked, matrices).tolist()


@pytest.mark.parametrize("far", [3, 90, 130])
def test_keys_are_numbered_alike_however_far_apart_they_are(far):
    """They are numbered in a table, marked in bits, or hashed."""
    keys = np.random.default_rng(5).integers(3000, size=3000).astype(np.int32)
    asked = [keys], [np.arange(3000) * far], 3000 * far, np.ones(3000, dtype=np.int32)
    same(kernel.group_items(*asked), kernel.numpy_group_items(*asked))


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("different", [10**6, 3 * 10**5, 10**4])
def test_a_million_keys_are_numbered_alike(different):
    """Keys that are mostly different are sorted, others are hashed."""
    keys = np.random.default_rng(5).permutation(10**6).astype(np.int32) % different
    spread = np.arange(10**6, dtype=np.int64) * 2**40
    asked = [keys], [spread], 2**60, np.ones(10**6, dtype=np.int32)
    same(kernel.group_items(*asked), kernel.numpy_group_items(*asked))


def int32(*numbers):
    return np.array(numbers, dtype=np.int32)


def space(n=3):
    return [np.empty(n, dtype=np.int32) for _ in range(3)]


def apart(array, by=1):
    """Return an array at an address that no number of its size may have."""
    raw = np.zeros(array.nbytes + array.itemsize, dtype=np.uint8)
    start = (by - raw.ctypes.data) % array.itemsize
    moved = raw[start : start + array.nbytes].view(array.dtype)
    moved[:] = array
    return moved


def fixed(array):
    array.flags.writeable = False
    return array


CODES, TABLE, ROWS = int32(0, 1, 2), np.arange(3), int32(1, 1, 1)
BYTES = np.ones(3, dtype=np.uint8)
WHOLE = np.zeros(9, dtype=np.int32)
UNSIGNED = CODES.view(np.uint32)
MOST = 2**31 - 1
GRID = np.zeros(4, dtype=np.float32)


def items_asked(codes=(CODES,), tables=(TABLE,), width=9, rows=ROWS, out=None):
    return "group_items", (codes, tables, width, rows, *(out or space()))


def entries_asked(of_item=CODES, groups=3, entries=(CODES, CODES, ROWS), values=3, out=None):
    item, value, rows = entries
    return "group_entries", (of_item, groups, item, value, values, rows, *(out or space()))


def chosen_asked(of_item=CODES, chosen=BYTES, rows=ROWS, codes=CODES, out=None):
    return "add_up_chosen", (
        of_item,
        chosen,
        rows,
        codes,
        np.zeros(3, "i8") if out is None else out,
    )


def boxes_asked(counts=GRID, shape=(2, 2), above=True):
    return "sum_boxes", (counts, shape, above)


REFUSED = {
    "a code beyond its table": (items_asked(tables=(TABLE[:2],)), IndexError),
    "a code below 0": (items_asked(codes=(-CODES,)), IndexError),
    "a code below 0 in 16 bits": (
        items_asked(codes=(np.array([0, 1, -1], "i2"),), tables=(np.arange(2**16),), width=2**16),
        IndexError,
    ),
    "a code beyond 31 bits": (items_asked(codes=((UNSIGNED - 1).astype("u4"),)), IndexError),
    "a key beyond the width": (items_asked(width=2), IndexError),
    "a key far beyond the width": (items_asked(tables=(TABLE * 2**40,), width=2**40), IndexError),
    "a key below 0": (items_asked(tables=(-TABLE,)), IndexError),
    "keys whose sum wraps": (
        items_asked(codes=(CODES,) * 4, tables=(np.full(3, 2**62),) * 4),
        IndexError,
    ),
    "a width of 0": (items_asked(width=0), ValueError),
    "a width below 0": (items_asked(width=-5), ValueError),
    "a width beyond 64 bits": (items_asked(width=2**70), OverflowError),
    "fewer tables than codes": (items_asked(tables=()), ValueError),
    "more codes than there can be": (
        items_asked(codes=(CODES,) * 65, tables=(TABLE,) * 65),
        ValueError,
    ),
    "codes in a list": (items_asked(codes=[CODES]), TypeError),
    "codes that are no array": (items_asked(codes=(7,)), TypeError),
    "fewer codes than items": (items_asked(codes=(CODES[:2],)), ValueError),
    "fewer places than items": (items_asked(out=space(2)), ValueError),
    "rows of 64 bits": (items_asked(rows=TABLE), TypeError),
    "rows without a sign": (items_asked(rows=ROWS.view("u4")), TypeError),
    "real rows": (items_asked(rows=ROWS.astype("f4")), TypeError),
    "rows in the other byte order": (
        items_asked(rows=ROWS.astype(ROWS.dtype.newbyteorder())),
        TypeError,
    ),
    "rows as bytes": (items_asked(rows=b"1234"), TypeError),
    "rows as texts": (items_asked(rows=np.array(["a", "b", "c"])), TypeError),
    "rows as records": (items_asked(rows=ROWS.view([("rows", "i4")])), TypeError),
    "rows in a table": (items_asked(rows=ROWS.reshape(1, 3)), ValueError),
    "rows without a dimension": (items_asked(rows=np.array(3, "i4")), ValueError),
    "rows with gaps": (items_asked(rows=WHOLE[::3]), ValueError),
    "rows backwards": (items_asked(rows=ROWS[::-1]), ValueError),
    "rows between addresses": (items_asked(rows=apart(ROWS)), ValueError),
    "codes of 64 bits": (items_asked(codes=(TABLE,)), TypeError),
    "codes of 8 bits": (items_asked(codes=(CODES.astype("u1"),)), TypeError),
    "half floats as codes": (items_asked(codes=(CODES.astype("f2"),)), TypeError),
    "tables of 32 bits": (items_asked(tables=(CODES,)), TypeError),
    "real tables": (items_asked(tables=(TABLE.astype("f8"),)), TypeError),
    "tables between addresses": (items_asked(tables=(apart(TABLE, 4),)), ValueError),
    "places that cannot be written": (
        items_asked(out=[*space()[:2], fixed(space()[0])]),
        (ValueError, BufferError),
    ),
    "places as bytes": (items_asked(out=[bytes(12)] * 3), (TypeError, BufferError)),
    "one place for two results": (items_asked(out=[WHOLE[:3], WHOLE[2:5], space()[0]]), ValueError),
    "a result over its rows": (
        items_asked(rows=WHOLE[:3], out=[WHOLE[:3], *space()[:2]]),
        ValueError,
    ),
    "a result over its codes": (
        items_asked(codes=(WHOLE[2:5],), out=[*space()[:2], WHOLE[:3]]),
        ValueError,
    ),
    "a result over its table": (
        items_asked(tables=(WHOLE[:6].view(np.int64),), out=[*space()[:2], WHOLE[5:8]]),
        ValueError,
    ),
    "rows whose sum wraps": (
        items_asked(codes=(CODES * 0,), rows=int32(MOST, MOST, MOST)),
        OverflowError,
    ),
    "rows below 0": (items_asked(rows=int32(1, -1, 1)), OverflowError),
    "a group beyond those there are": (entries_asked(of_item=int32(0, 1, 3)), IndexError),
    "a group below 0": (entries_asked(of_item=int32(0, 1, -1)), IndexError),
    "a value beyond those there are": (entries_asked(values=2), IndexError),
    "a value below 0": (entries_asked(entries=(CODES, -CODES, ROWS)), IndexError),
    "an item beyond those there are": (entries_asked(entries=(CODES + 1, CODES, ROWS)), IndexError),
    "an item below 0": (entries_asked(entries=(-CODES, CODES, ROWS)), IndexError),
    "more groups than items": (entries_asked(groups=4), ValueError),
    "groups below 0": (entries_asked(groups=-1), ValueError),
    "more groups than 64 bits": (entries_asked(groups=2**70), OverflowError),
    "no values": (entries_asked(values=0), ValueError),
    "more values than 32 bits": (entries_asked(values=2**31), ValueError),
    "fewer places than entries": (entries_asked(out=space(2)), ValueError),
    "fewer values than entries": (entries_asked(entries=(CODES, CODES[:2], ROWS)), ValueError),
    "fewer rows than entries": (entries_asked(entries=(CODES, CODES, ROWS[:2])), ValueError),
    "values of 64 bits": (entries_asked(entries=(CODES, TABLE, ROWS)), TypeError),
    "items between addresses": (entries_asked(entries=(apart(CODES, 2), CODES, ROWS)), ValueError),
    "entries with gaps": (entries_asked(entries=(CODES, WHOLE[::3], ROWS)), ValueError),
    "entries over their values": (
        entries_asked(entries=(CODES, WHOLE[:3], ROWS), out=[*space()[:2], WHOLE[2:5]]),
        ValueError,
    ),
    "entries over their groups": (
        entries_asked(of_item=WHOLE[:3], out=[WHOLE[:3], *space()[:2]]),
        ValueError,
    ),
    "one place for two entries": (
        entries_asked(out=[WHOLE[:3], space()[0], WHOLE[:3]]),
        ValueError,
    ),
    "entries whose sum wraps": (
        entries_asked(of_item=CODES * 0, entries=(CODES, CODES * 0, int32(MOST, 1, 0))),
        OverflowError,
    ),
    "an entry below 0": (entries_asked(entries=(CODES, CODES, int32(1, -1, 1))), OverflowError),
    "a chosen group below 0": (chosen_asked(of_item=int32(0, -1, 2)), IndexError),
    "a group beyond the chosen ones": (chosen_asked(chosen=BYTES[:2]), IndexError),
    "a code beyond the sums": (chosen_asked(codes=int32(0, 1, 3)), IndexError),
    "a code below the sums": (chosen_asked(codes=int32(0, 1, -1)), IndexError),
    "a code of an item that is not chosen": (
        chosen_asked(chosen=BYTES * 0, codes=int32(0, 1, 3)),
        IndexError,
    ),
    "fewer rows than groups of items": (chosen_asked(rows=ROWS[:2]), ValueError),
    "fewer codes than groups of items": (chosen_asked(codes=CODES[:2]), ValueError),
    "a choice in truth values": (chosen_asked(chosen=BYTES > 0), TypeError),
    "a choice in words": (chosen_asked(chosen=CODES), TypeError),
    "sums of 32 bits": (chosen_asked(out=CODES.copy()), TypeError),
    "sums over their rows": (
        chosen_asked(rows=WHOLE[:3], out=WHOLE[:6].view(np.int64)),
        ValueError,
    ),
    "sums that cannot be written": (
        chosen_asked(out=fixed(np.zeros(3, "i8"))),
        (ValueError, BufferError),
    ),
    "a grid of other places": (boxes_asked(shape=(2, 3)), ValueError),
    "a grid without lengths": (boxes_asked(shape=()), ValueError),
    "lengths below 0": (boxes_asked(shape=(-2, -2)), ValueError),
    "a length below 0": (boxes_asked(shape=(-4,)), ValueError),
    "a product that wraps to the size": (boxes_asked(shape=(2**62 + 1, 4)), ValueError),
    "a product that wraps to a size of 0": (
        boxes_asked(GRID[:0], shape=(2**32, 2**32)),
        ValueError,
    ),
    "a product that wraps on many axes": (boxes_asked(GRID[:0], shape=(2,) * 70), ValueError),
    "a length beyond 64 bits": (boxes_asked(shape=(2**64 + 4,)), OverflowError),
    "a real length": (boxes_asked(shape=(2, 2.0)), TypeError),
    "lengths in a list": (boxes_asked(shape=[2, 2]), TypeError),
    "counts of 64 bits": (boxes_asked(GRID.astype("f8")), TypeError),
    "whole counts": (boxes_asked(GRID.astype("i4")), TypeError),
    "counts in a table": (boxes_asked(GRID.reshape(2, 2)), ValueError),
    "counts with gaps": (boxes_asked(np.zeros(8, "f4")[::2]), ValueError),
    "counts between addresses": (boxes_asked(apart(GRID)), ValueError),
    "counts in the other byte order": (
        boxes_asked(GRID.astype(GRID.dtype.newbyteorder())),
        TypeError,
    ),
    "counts that cannot be written": (boxes_asked(fixed(GRID.copy())), (ValueError, BufferError)),
}
"""What the compiled loops must refuse, and how."""

compiled = pytest.mark.skipif(kernel.COMPILED is None, reason="nothing was compiled")


@compiled
@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_right_is_refused(case):
    (name, asked), error = REFUSED[case]
    with pytest.raises(error) as caught:
        getattr(kernel.COMPILED, name)(*asked)
    assert type(caught.value) in (error if isinstance(error, tuple) else (error,))


@compiled
@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_lets_go_of_every_array(case):
    (name, asked), _ = REFUSED[case]
    every = [each for part in asked for each in (part if isinstance(part, tuple) else (part,))]
    arrays = [each for each in every if isinstance(each, np.ndarray)]
    before = [sys.getrefcount(each) for each in arrays]
    for _ in range(3):
        with suppress(Exception):
            getattr(kernel.COMPILED, name)(*asked)
    assert [sys.getrefcount(each) for each in arrays] == before


@pytest.mark.parametrize(
    "case",
    [
        case
        for case, ((name, _), error) in REFUSED.items()
        if name in ("group_items", "group_entries")
        and error in (IndexError, OverflowError)
        and "64 bits" not in case
    ],
)
def test_numpy_refuses_the_same_numbers(case):
    (name, asked), error = REFUSED[case]
    if name == "group_items":
        given = asked[:4]
    else:
        of_item, groups, item, value, values, rows = asked[:6]
        given = of_item, groups, (item, value, rows), values
    for way in (f"numpy_{name}", name):
        with pytest.raises(error):
            getattr(kernel, way)(*given)


@pytest.mark.parametrize(
    ("of_item", "codes"),
    [(int32(0, -1, 2), CODES), (int32(0, 1, 3), CODES), (CODES, -CODES), (CODES, CODES + 1)],
)
def test_rows_are_added_up_of_groups_and_codes_that_there_are(of_item, codes):
    for add_up in (kernel.add_up_chosen, kernel.numpy_add_up_chosen):
        with pytest.raises(IndexError):
            add_up(of_item, np.zeros(3, dtype=bool), ROWS, codes, 3)


@compiled
@pytest.mark.parametrize(
    "rows",
    [ROWS, memoryview(ROWS), array("i", [1, 1, 1]), (c_int32 * 3)(1, 1, 1)],
    ids=["numpy", "memoryview", "array", "ctypes"],
)
def test_arrays_of_other_libraries_are_read(rows):
    of_item, first, total = out = space()
    assert kernel.COMPILED.group_items((CODES,), (TABLE,), 3, rows, *out) == 3
    assert (of_item.tolist(), first.tolist(), total.tolist()) == ([0, 1, 2], [0, 1, 2], [1, 1, 1])


@compiled
@pytest.mark.parametrize("shape", [(0,), (0, 2**62, 2**62), (2**62, 0, 5), (3, 0)])
def test_a_grid_without_places_is_left_alone(shape):
    kernel.COMPILED.sum_boxes(np.empty(0, np.float32), shape, False)


@compiled
def test_lengths_of_one_do_not_count():
    counts = np.arange(4, dtype=np.float32)
    kernel.COMPILED.sum_boxes(counts, (1,) * 99 + (2,) + (1,) * 99 + (2,), False)
    assert counts.tolist() == [0, 1, 2, 6]


DTYPES = ["i4", "u2", "i2", "u4", "i8", "u8", "f4", "f8", "f2", "i1", "?", ">i4", ">f4", "S4", "c8"]
REFUSALS = (TypeError, ValueError, IndexError, OverflowError, BufferError)


@st.composite
def arrays(draw, dtype, n, most=4):
    """An array that is mostly as asked for: else of another type, length, order or place."""
    values = st.integers(0, most) if draw(often()) else st.integers(-(2**31), 2**31 - 1)
    if not draw(often()):
        dtype = draw(st.sampled_from(DTYPES))
    if not draw(often()):
        n = draw(st.integers(0, 9))
    dtype = np.dtype(dtype)
    step = 1 if draw(often()) else draw(st.sampled_from([2, 3, -1, 0]))
    offset = 0 if draw(often()) else draw(st.integers(1, 2 * dtype.itemsize))
    raw = np.zeros(offset + dtype.itemsize * (max(n, 1) * max(abs(step), 1) + 1), dtype=np.uint8)
    start = offset + (dtype.itemsize * (n - 1) if step < 0 and n else 0)
    found = np.ndarray((n,), dtype, raw.data, start, (step * dtype.itemsize,))
    with np.errstate(all="ignore"):
        found[:] = np.array(draw(st.lists(values, min_size=n, max_size=n)), dtype="i8").astype(
            dtype
        )
    if not draw(often()):
        found = draw(
            st.sampled_from(
                [found.reshape(1, -1), found[:, None], found[:1].reshape(())]
                if n
                else [found.reshape(1, 0)]
            )
        )
    found.flags.writeable = draw(often())
    return found


def often():
    return st.integers(0, 15).map(bool)


def readable(given, dtypes, *, written=False):
    """Whether an array is as the compiled loops need it, by what NumPy says of it."""
    return (
        given.ndim == 1
        and given.dtype in [np.dtype(each) for each in dtypes]
        and given.dtype.isnative
        and given.flags.c_contiguous
        and (given.ctypes.data % given.itemsize == 0 or given.size == 0)
        and (given.flags.writeable or not written)
    )


def shared(written, others):
    """Whether any array that is written shares memory with another."""
    every = [*written, *others]
    return any(
        np.shares_memory(one, other) for i, one in enumerate(written) for other in every[i + 1 :]
    )


@pytest.mark.usefixtures("patience")
@compiled
@settings(max_examples=600)
@given(st.integers(0, 6), st.integers(0, 3), st.integers(1, 300), st.data())
def test_any_arrays_of_items_are_grouped_or_refused(n, groups, width, data):
    codes = [
        data.draw(arrays(data.draw(st.sampled_from(["u2", "i4", "i2", "u4"])), n))
        for _ in range(groups)
    ]
    tables = [
        data.draw(arrays("i8", 5, most=data.draw(st.sampled_from([9, 2**31]))))
        for _ in range(groups)
    ]
    width *= data.draw(st.sampled_from([1, 2**31]))
    rows = data.draw(arrays("i4", n))
    out = [data.draw(arrays("i4", n)) for _ in range(3)]
    if not data.draw(often()):
        every = [*codes, *tables, rows, *out]
        out[data.draw(st.integers(0, 2))] = data.draw(st.sampled_from(every))
    right = (
        all(readable(each, ["u2", "i4", "i2", "u4"]) for each in codes)
        and all(readable(each, ["i8"]) for each in tables)
        and readable(rows, ["i4"])
        and all(readable(each, ["i4"], written=True) for each in out)
        and all(len(each) == len(rows) for each in codes)
        and all(len(each) >= len(rows) for each in out)
        and not shared(out, [*codes, *tables, rows])
    )
    asked = codes, tables, width, rows
    expected = None
    if right:
        with suppress(IndexError, OverflowError):
            expected = kernel.numpy_group_items(
                *(list(map(np.copy, each)) if isinstance(each, list) else each for each in asked)
            )
    try:
        found = kernel.COMPILED.group_items(tuple(codes), tuple(tables), width, rows, *out)
    except REFUSALS:
        # A sum that is below 0 on the way is refused, even if more rows would bring it up again.
        assert expected is None or (rows < 0).any()
    else:
        assert expected is not None
        same([out[0][: len(rows)], out[1][:found], out[2][:found]], expected)


@pytest.mark.usefixtures("patience")
@compiled
@settings(max_examples=600)
@given(st.integers(0, 6), st.integers(0, 5), st.data())
def test_any_arrays_of_entries_are_added_up_or_refused(n, m, data):
    groups, values = data.draw(st.integers(-1, n)), data.draw(st.integers(0, 6))
    of_item = data.draw(arrays("i4", n, most=max(groups - 1, 0)))
    item = data.draw(arrays("i4", m, most=max(n - 1, 0)))
    value, rows = data.draw(arrays("i4", m, most=max(values - 1, 0))), data.draw(arrays("i4", m))
    out = [data.draw(arrays("i4", m)) for _ in range(3)]
    given = [of_item, item, value, rows]
    if not data.draw(often()):
        out[data.draw(st.integers(0, 2))] = data.draw(st.sampled_from([*given, *out]))
    right = (
        all(readable(each, ["i4"]) for each in given)
        and all(readable(each, ["i4"], written=True) for each in out)
        and len(item) == len(value) == len(rows)
        and all(len(each) >= len(item) for each in out)
        and 0 <= groups <= len(of_item)
        and values >= 1
        and not shared(out, given)
    )
    expected = None
    if right:
        with suppress(IndexError, OverflowError):
            expected = kernel.numpy_group_entries(of_item, groups, (item, value, rows), values)
    try:
        found = kernel.COMPILED.group_entries(of_item, groups, item, value, values, rows, *out)
    except REFUSALS:
        assert expected is None or (rows < 0).any()
    else:
        assert expected is not None
        same([each[:found] for each in out], expected)


@pytest.mark.usefixtures("patience")
@compiled
@settings(max_examples=600)
@given(st.integers(0, 6), st.integers(0, 5), st.integers(1, 6), st.data())
def test_any_arrays_of_chosen_groups_are_added_up_or_refused(n, groups, size, data):
    of_item = data.draw(arrays("i4", n, most=max(groups - 1, 0)))
    chosen, rows = data.draw(arrays("u1", groups, most=1)), data.draw(arrays("i4", n))
    codes = data.draw(arrays(data.draw(st.sampled_from(["u2", "i4"])), n, most=size - 1))
    sums = data.draw(arrays("i8", size, most=0))
    given = [of_item, chosen, rows, codes]
    if not data.draw(often()):
        sums = data.draw(st.sampled_from(given))
    right = (
        all(readable(each, ["i4"]) for each in (of_item, rows))
        and readable(chosen, ["u1"])
        and readable(codes, ["u2", "i4", "i2", "u4"])
        and readable(sums, ["i8"], written=True)
        and len(of_item) == len(rows) == len(codes)
        and not shared([sums], given)
    )
    before, expected = np.copy(sums), None
    if right:
        with suppress(IndexError, OverflowError):
            flags = chosen.astype(np.bool_)
            expected = kernel.numpy_add_up_chosen(of_item, flags, rows, codes, len(sums))
    try:
        kernel.COMPILED.add_up_chosen(of_item, chosen, rows, codes, sums)
    except REFUSALS:
        assert expected is None or (rows < 0).any()
    else:
        assert expected is not None
        assert (sums - before).tolist() == expected.tolist()


@pytest.mark.usefixtures("patience")
@compiled
@settings(max_examples=600)
@given(
    st.lists(
        st.integers(-3, 4) | st.sampled_from([2**31, 2**32, 2**62, 2**63 - 1, 2**63, -(2**63)]),
        max_size=6,
    ),
    st.booleans(),
    st.data(),
)
def test_any_grid_is_added_up_or_refused(shape, above, data):
    size = prod(shape)
    n = size if 0 <= size <= 4096 else data.draw(st.sampled_from([size % 2**64 % 4097, 4]))
    counts = data.draw(arrays("f4", n))
    before = counts.copy()
    right = (
        readable(counts, ["f4"], written=True)
        and all(0 <= length < 2**63 for length in shape)
        and size == counts.size
    )
    try:
        kernel.COMPILED.sum_boxes(counts, tuple(shape), above)
    except REFUSALS:
        assert not right
        assert before.tobytes() == counts.tobytes()
        return
    assert right
    if not size:
        return
    grid = before.reshape(shape)
    for axis in range(len(shape)):
        turned = np.flip(grid, axis) if above else grid
        turned = np.cumsum(turned, axis=axis, dtype=np.float32)
        grid = np.flip(turned, axis) if above else turned
    assert np.allclose(grid.ravel(), counts, rtol=1e-5)
