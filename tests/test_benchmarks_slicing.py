"""The printed algorithm that slicing is measured beside: as it is printed, and with our buckets."""

from collections import Counter
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from benchmarks.__main__ import main
from benchmarks.literal_slicing import LiteralSlicing
from sfumato.decouplings import Slicing
from tests.decouplings.slices.literal import beliefs

NAMES = ("age", "zip", "sex", "ill")
COLUMNS = (("age", "zip"), ("sex", "ill"))
ROWS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 1), st.integers(0, 3)),
    min_size=2,
    max_size=16,
)
CROWDS = st.lists(
    st.tuples(
        st.integers(0, 4),
        st.integers(0, 3),
        st.integers(0, 1),
        st.sets(st.integers(0, 3), min_size=3),
    ),
    min_size=1,
    max_size=5,
)
"""Some people who are alike, each with another illness: a table of them is diverse."""


def literal_of(rows, l):
    places = [[NAMES.index(name) for name in column] for column in COLUMNS]
    return LiteralSlicing(rows, places, l)


@given(ROWS, st.integers(2, 3))
def test_its_check_is_the_definition(rows, l):
    half = len(rows) // 2
    buckets = [list(range(half)), list(range(half, len(rows)))]
    people = [[rows[i] for i in bucket] for bucket in buckets]
    likeliest = max(max(beliefs(row, people, NAMES, COLUMNS, "ill").values()) for row in rows)
    assert literal_of(rows, l).is_diverse(buckets) is (likeliest <= Fraction(1, l))


@given(CROWDS, st.lists(ROWS.map(lambda rows: rows[0]), max_size=4), st.integers(2, 3))
def test_its_buckets_are_those_that_are_published(crowds, loose, l):
    rows = [(*known, ill) for *known, ills in crowds for ill in sorted(ills)] + loose
    # Codes are numbers of values in their order: rows must have them all.
    dense = [sorted(set(column)) for column in zip(*rows, strict=True)]
    rows = [tuple(dense[i].index(value) for i, value in enumerate(row)) for row in rows]
    literal = literal_of(rows, l)
    if not literal.is_diverse([list(range(len(rows)))]):
        return
    release = sf.decouple(
        pa.table(dict(zip(NAMES, zip(*rows, strict=True), strict=True))),
        Slicing(l=l, columns=COLUMNS),
        quasi_identifiers=NAMES[:3],
        sensitive=NAMES[3:],
        seed=0,
    )
    ours = Counter()
    for number in set(release.tables["slice_1"]["bucket"].to_pylist()):
        held = [
            row
            for row in release.tables["slice_1"].to_pylist()
            if row["bucket"] == number
            for _ in range(row["count"])
        ]
        ours[tuple(sorted((row["age"], row["zip"]) for row in held))] += 1
    found = literal.tuple_partition()
    assert ours == Counter(tuple(sorted(rows[i][:2] for i in bucket)) for bucket in found)


@pytest.mark.usefixtures("adult", "bench")
def test_a_quick_run_gives_the_growth_of_both(capsys):
    (figures,) = main(["--quick", "slicing"]).values()
    capsys.readouterr()
    named = {figure.what: figure.value for figure in figures}
    assert len(named) == len(figures)
    assert named["as printed: as many buckets as ours"] is True
    assert sum("growth" in what for what in named) == 8
    assert sum("quasi-identifiers" in what for what in named) == 2
