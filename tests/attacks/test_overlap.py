"""Labels and classes of two releases that can stand for the same, against all raw values."""

from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attacks import overlap
from sfumato.attacks.overlap import (
    Face,
    LabelKnowledge,
    PairCountError,
    overlapping_classes,
    overlapping_labels,
)
from sfumato.counts import Column
from sfumato.hierarchy import Taxonomy


def pairs(one, other, **known):
    columns = Column("x", tuple(one)), Column("x", tuple(other))
    found = overlapping_labels(*columns, LabelKnowledge(**known)).pairs
    return set(zip(found.one.tolist(), found.other.tolist(), strict=True))


def sharing(one, other, covers):
    return {(i, j) for i, a in enumerate(one) for j, b in enumerate(other) if covers(a) & covers(b)}


NUMBERS = range(40)
INTERVALS = st.tuples(st.integers(0, 39), st.integers(0, 12)).map(lambda x: (x[0], x[0] + x[1]))
FORMS = {
    "{}-{}": lambda n, a, b: a <= n <= b,
    "[{}, {})": lambda n, a, b: a <= n < b or n == a,
    "[{}, {}]": lambda n, a, b: a <= n <= b,
}


def interval(ends, form):
    a, b = ends
    if form == "[{}, {})" and a == b:
        b = a + 1
    return form.format(a, b), frozenset(n for n in NUMBERS if FORMS[form](n, a, b))


LINE = st.lists(
    st.one_of(
        st.builds(interval, INTERVALS, st.sampled_from(sorted(FORMS))),
        st.integers(0, 39).map(lambda n: (str(n), frozenset([n]))),
        st.integers(1, 3).map(lambda n: (f"{n}*", frozenset(range(10 * n, 10 * n + 10)))),
        st.just(("*", frozenset(NUMBERS))),
    ),
    unique_by=lambda label: label[0],
    min_size=1,
    max_size=6,
)


@given(LINE, LINE)
def test_intervals_overlap_where_they_share_a_number(one, other):
    # One interval at least says that the labels lie on a line.
    one = [("0-0", frozenset([0])), *(label for label in one if label[0] != "0-0")]
    found = pairs([a for a, _ in one], [b for b, _ in other])
    assert found == sharing(one, other, lambda label: label[1])


ZIPS = [f"{n:03b}" for n in range(8)]
MASKS = st.lists(st.text("01*", min_size=3, max_size=3), unique=True, min_size=1, max_size=6)


@given(MASKS, MASKS)
def test_masks_overlap_where_they_share_a_text(one, other):
    def covers(mask):
        fits = [all(m in ("*", c) for m, c in zip(mask, z, strict=True)) for z in ZIPS]
        return {z for z, fit in zip(ZIPS, fits, strict=True) if fit}

    # A mask at least says that the labels are texts.
    one = ["0**", *(mask for mask in one if mask != "0**")]
    assert pairs(one, other) == sharing(one, other, covers)


def test_numbers_that_differ_do_not_overlap_and_words_may():
    assert pairs(["31", "45"], ["31", "50"]) == {(0, 0)}
    assert pairs(["a", "b"], ["b", "a", "*"]) == {(0, 1), (0, 2), (1, 0), (1, 2)}
    assert pairs(["a", "b"], ["a", "c"]) == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert pairs(["a", "b"], ["a", "c"], apart=True) == {(0, 0)}
    assert pairs(["a", "b"], ["a", "b"], apart=False) == {(0, 0), (0, 1), (1, 0), (1, 1)}


def test_days_months_and_years_overlap():
    labels = ["2020-02-29", "2020-02", "2020-Q1", "2020", "2020s", "2021-03", "*"]
    first = date(2020, 1, 1)
    days = [first + timedelta(n) for n in range(800)]
    covers = {
        "2020-02-29": lambda d: d == date(2020, 2, 29),
        "2020-02": lambda d: (d.year, d.month) == (2020, 2),
        "2020-Q1": lambda d: d.year == 2020 and d.month <= 3,
        "2020": lambda d: d.year == 2020,
        "2020s": lambda _: True,
        "2021-03": lambda d: (d.year, d.month) == (2021, 3),
        "*": lambda _: True,
    }
    expected = sharing(labels, labels, lambda label: {d for d in days if covers[label](d)})
    assert pairs(labels, labels) == expected


def test_four_digits_are_a_year_beside_days_only():
    assert pairs(["2020"], ["2020-02-29", "2021-01-01"]) == {(0, 0)}
    assert pairs(["13**"], ["1300", "1411"]) == {(0, 0)}
    assert pairs(["1300"], ["1300", "1411"]) == {(0, 0)}


def test_words_of_a_tree_overlap_as_it_says():
    tree = Taxonomy({"Europe": ["France"], "Asia": {"East": ["China"], "South": ["Nepal"]}})
    hierarchy = tree.build("x", [])
    raw = Column("x", hierarchy.values)
    known = {"raw": raw, "ladder": hierarchy.bind("x", raw.values)}
    assert pairs(["Asia", "France"], ["China", "Europe"], **known) == {(0, 0), (1, 1)}
    found = overlapping_labels(Column("x", ("Asia",)), Column("x", ("China",)))
    assert (len(found.pairs), found.legible) == (1, False)


def test_what_is_missing_is_missing_in_both_releases():
    assert pairs(["a", None], ["a", "b", None, "*"], apart=True) == {(0, 0), (0, 3), (1, 2), (1, 3)}


CODES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=8)


@pytest.mark.parametrize("chunk", [1, 1 << 22])
@given(one=CODES, other=CODES)
def test_classes_overlap_where_all_their_labels_do(chunk, one, other):
    ages = "20-29", "25-34", "30-39"
    ages_too = "22", "28-33", "*"
    zips = "13***", "130**", "24***"
    columns = [
        (Column("age", ages), Column("zip", zips)),
        (Column("zip", zips[::-1]), Column("age", ages_too)),
    ]
    faces = [
        Face(columns[0], np.array(one, dtype=np.int32).T, np.arange(len(one))),
        Face(columns[1], np.array(other, dtype=np.int32).T, np.arange(len(other))),
    ]
    fits = [pairs(ages, ages_too), pairs(zips, zips[::-1])]
    expected = {
        (i, j)
        for i, (age, zipcode) in enumerate(one)
        for j, (their_zip, their_age) in enumerate(other)
        if (age, their_age) in fits[0] and (zipcode, their_zip) in fits[1]
    }
    old, overlap._CHUNK = overlap._CHUNK, chunk
    try:
        found = overlapping_classes([faces[0]], [faces[1]], (len(one), len(other))).pairs
    finally:
        overlap._CHUNK = old
    assert set(zip(found.one.tolist(), found.other.tolist(), strict=True)) == expected
    assert np.all(np.diff(found.one * len(other) + found.other) > 0)


def test_more_pairs_than_can_be_held_are_refused(monkeypatch):
    monkeypatch.setattr(overlap, "MOST_PAIRS", 3)
    column = Column("x", ("*",))
    face = Face((column,), np.zeros((1, 2), dtype=np.int32), np.arange(2))
    with pytest.raises(PairCountError, match="4 pairs of classes fit"):
        overlapping_classes([face], [face], (2, 2))
