"""What a sliced table says about a person: the definition is the judge."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.slicing import beliefs, bucketed, crowds, diversity, exposed
from tests.slicing import literal
from tests.slicing.tables import COLUMNS, NAMES, ROWS, buckets_of, laid_of, row_of, some_buckets

BY_HAND = [
    # age, zip, ill; bucket
    ("30", "x", "flu", 0),
    ("30", "y", "gout", 0),
    ("40", "x", "hiv", 0),
    ("40", "y", "flu", 0),
    ("30", "x", "gout", 1),
    ("40", "z", "flu", 1),
    ("30", "z", "hiv", 2),
    ("50", "z", "gout", 2),
    ("50", "x", "gout", 2),
    ("50", "x", "flu", 2),
]


def by_hand(columns):
    names = ["age", "zip", "ill"]
    counts, laid = laid_of([row[:3] for row in BY_HAND], columns, names)
    at = {row[:3]: row[3] for row in BY_HAND}
    bucket = np.array([at[row_of(counts, item)] for item in range(len(counts))])
    found = beliefs(laid, bucket)
    values = counts.column("ill").values
    return {
        row_of(counts, item)[:2]: dict(zip(values, found[i].tolist(), strict=True))
        for i, item in enumerate(laid.people)
    }


def test_a_sliced_table_computed_by_hand():
    found = by_hand((("age",), ("zip", "ill")))
    # (30, x) matches all three buckets: f = 1/2*1/2, 1/2*1/2 and 1/4*1/2, so 2/5, 2/5, 1/5.
    # Of those with zip x: half flu and half hiv; gout; half gout and half flu.
    assert found["30", "x"] == pytest.approx({"flu": 0.3, "gout": 0.5, "hiv": 0.2}, abs=1e-15)
    # (40, z) matches the second bucket only: there is no z in the first, no 40 in the third.
    assert found["40", "z"] == {"flu": 1, "gout": 0, "hiv": 0}
    # (30, z) matches the second, 1/2*1/2, and the third, 1/4*1/2: flu, and half gout, half hiv.
    assert found["30", "z"] == pytest.approx({"flu": 2 / 3, "gout": 1 / 6, "hiv": 1 / 6})


def test_with_nothing_beside_it_the_sensitive_column_says_the_same_to_all_in_a_bucket():
    found = by_hand((("age", "zip"), ("ill",)))
    # (30, x) is one of four in the first bucket, one of two in the second: 1/3 and 2/3.
    assert found["30", "x"] == pytest.approx({"flu": 0.5, "gout": 5 / 12, "hiv": 1 / 12})


@given(rows=ROWS, columns=COLUMNS, data=st.data())
def test_beliefs_agree_with_the_definition(rows, columns, data):
    counts, laid = laid_of(rows, columns)
    bucket = some_buckets(data, counts)
    found = beliefs(laid, bucket)
    buckets = buckets_of(counts, bucket)
    values = counts.column("ill").values
    assert len({row[:3] for row in rows}) == len(laid.people)
    for i, item in enumerate(laid.people):
        said = literal.beliefs(row_of(counts, item), buckets, NAMES, columns, "ill")
        for code, value in enumerate(values):
            assert abs(found[i, code] - said[value]) <= 1e-12


@given(rows=ROWS, columns=COLUMNS, data=st.data(), l=st.integers(2, 4))
def test_whoever_is_exposed_is_found_and_nobody_else(rows, columns, data, l):
    counts, laid = laid_of(rows, columns)
    bucket = some_buckets(data, counts)
    buckets = buckets_of(counts, bucket)
    found = {row_of(counts, item)[:3] for item in exposed(laid, bucket, l)}
    said = {row[:3] for row in rows if literal.is_exposed(row, buckets, NAMES, columns, "ill", l)}
    assert found == said


@given(rows=ROWS, columns=COLUMNS, data=st.data(), l=st.integers(2, 4))
def test_buckets_that_are_diverse_by_themselves_expose_nobody(rows, columns, data, l):
    counts, laid = laid_of(rows, columns)
    bucket = some_buckets(data, counts)
    buckets = buckets_of(counts, bucket)
    if not crowds(laid, bucket).fail(l).any():
        # Not even people who are not there, but might be.
        ages, sexes, zips = ({row[i] for row in rows} for i in range(3))
        for person in ((a, s, z, None) for a in ages for s in sexes for z in zips):
            if any(literal.f(person, each, NAMES, columns, "ill") for each in buckets):
                assert not literal.is_exposed(person, buckets, NAMES, columns, "ill", l)


@given(rows=ROWS, columns=COLUMNS, data=st.data(), l=st.integers(2, 3))
def test_only_those_who_match_a_changed_bucket_can_change(rows, columns, data, l):
    counts, laid = laid_of(rows, columns)
    before = some_buckets(data, counts)
    cut = data.draw(st.integers(0, int(before.max())))
    upper = data.draw(st.lists(st.booleans(), min_size=len(before), max_size=len(before)))
    n = int(before.max()) + 1
    after = np.where((before == cut) & np.array(upper), n, before)
    changed = np.zeros(n + 1, dtype=bool)
    changed[[cut, n]] = True
    said = set(exposed(laid, after, l).tolist()) - set(exposed(laid, before, l).tolist())
    found = set(exposed(laid, after, l, changed=changed).tolist())
    assert said <= found <= set(exposed(laid, after, l).tolist())


def test_exactly_one_in_l_is_allowed():
    # Thirds do not add up in binary, so that only whole numbers can tell.
    rows = [(a, "s", z, ill) for a, z in ("xp", "yq", "zp") for ill in "uvw"]
    columns = (("age", "sex"), ("zip", "ill"))
    counts, laid = laid_of(rows, columns)
    bucket = np.array([{"u": 0, "v": 1, "w": 2}[row_of(counts, i)[3]] for i in range(len(counts))])
    assert crowds(laid, bucket).fail(3).all()
    assert not len(exposed(laid, bucket, 3))
    assert len(exposed(laid, bucket, 4)) == 3
    buckets = buckets_of(counts, bucket)
    said = literal.beliefs(rows[0], buckets, NAMES, columns, "ill")
    assert set(said.values()) == {Fraction(1, 3)}


def test_a_missing_value_hides_nobody():
    rows = [("a", "s", "z", ill) for ill in ("u", "v", None)]
    columns = (("age", "sex"), ("zip", "ill"))
    _, laid = laid_of(rows, columns)
    together, apart = np.zeros(3, dtype=np.int64), np.array([0, 0, 1])
    assert not crowds(laid, together).fail(2).any()
    assert crowds(laid, together).fail(3).all()
    assert len(exposed(laid, together, 3)) == 1
    # Those without a known value are a crowd that says what it is.
    assert crowds(laid, apart).fail(2).tolist() == [False, True]


def test_many_people_are_looked_at_in_parts(monkeypatch):
    rng = np.random.default_rng(3)
    rows = [tuple(map(str, row)) for row in rng.integers(0, 4, (300, 4))]
    counts, laid = laid_of(rows, (("age",), ("sex",), ("zip", "ill")))
    bucket = rng.integers(0, 7, len(counts))
    whole = beliefs(laid, bucket)
    monkeypatch.setattr(diversity, "_AT_ONCE", 5)
    np.testing.assert_allclose(beliefs(laid, bucket), whole, rtol=1e-12)


def test_nobody_is_exposed_in_an_empty_table():
    _, laid = laid_of([], (("age", "sex"), ("zip", "ill")))
    nobody = np.zeros(0, dtype=np.int64)
    assert not len(crowds(laid, nobody).fail(2))
    assert not len(exposed(laid, nobody, 2))
    assert not len(bucketed(laid, [nobody], 2))
