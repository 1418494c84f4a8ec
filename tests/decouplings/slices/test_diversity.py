"""What a sliced table says about a person: the definition is the judge."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.classes import classes_from
from sfumato.decouplings.slices import (
    EntropyForm,
    Probabilistic,
    Recursive,
    beliefs,
    crowds,
    cut_into_buckets,
    find_exposed,
    matching,
)
from tests.decouplings.slices import literal
from tests.decouplings.slices.tables import (
    COLUMNS,
    FORMS,
    NAMES,
    WITH_MISSING,
    buckets_of,
    laid_of,
    row_of,
    some_buckets,
)

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


HALF, THIRD, SIXTH = Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)
PROBABILITIES = {
    # Matches all three: f = 1/2·1/2, 1/2·1/2 and 1/4·1/2, so 2/5, 2/5 and 1/5. Of those with zip
    # x there, half have flu and half hiv; gout; half gout and half flu.
    ("30", "x"): {"flu": Fraction(3, 10), "gout": HALF, "hiv": Fraction(1, 5)},
    # There is no y but in the first, where half have gout and half flu.
    ("30", "y"): {"flu": HALF, "gout": HALF},
    ("40", "y"): {"flu": HALF, "gout": HALF},
    # Matches the first two, both with 1/2·1/2.
    ("40", "x"): {"flu": Fraction(1, 4), "gout": HALF, "hiv": Fraction(1, 4)},
    # There is no z in the first, and no 40 in the third.
    ("40", "z"): {"flu": Fraction(1)},
    # Matches the second, 1/2·1/2, and the third, 1/4·1/2: flu, and half gout, half hiv.
    ("30", "z"): {"flu": 2 * THIRD, "gout": SIXTH, "hiv": SIXTH},
    # Nobody is 50 but in the third.
    ("50", "x"): {"flu": HALF, "gout": HALF},
    ("50", "z"): {"gout": HALF, "hiv": HALF},
}
"""p(t, s) of everybody, with the columns age and zip+ill; other values have 0."""

EVERYBODY = set(PROBABILITIES)


def by_hand(columns):
    names = ["age", "zip", "ill"]
    counts, laid = laid_of([row[:3] for row in BY_HAND], columns, names)
    at = {row[:3]: row[3] for row in BY_HAND}
    bucket = np.array([at[row_of(counts, item)] for item in range(len(counts))])
    return counts, laid, bucket


def told(counts, laid, bucket):
    """Give what is believed of everybody."""
    found, values = beliefs(laid, bucket), counts.column("ill").values
    return {
        row_of(counts, item)[:2]: dict(zip(values, found[i].tolist(), strict=True))
        for i, item in enumerate(laid.people)
    }


def test_a_sliced_table_computed_by_hand():
    found = told(*by_hand((("age",), ("zip", "ill"))))
    assert found.keys() == EVERYBODY
    for person, said in PROBABILITIES.items():
        assert sum(said.values()) == 1
        for value in ("flu", "gout", "hiv"):
            assert found[person][value] == pytest.approx(float(said.get(value, 0)), abs=1e-15)


def test_the_literal_version_computes_the_same_as_the_hand():
    names, columns = ["age", "zip", "ill"], (("age",), ("zip", "ill"))
    buckets = [[row[:3] for row in BY_HAND if row[3] == number] for number in range(3)]
    for person, said in PROBABILITIES.items():
        assert literal.beliefs((*person, None), buckets, names, columns, "ill") == said


@pytest.mark.parametrize(
    ("form", "said"),
    [
        # Above 1/2 are only 2/3 and 1; above 1/3 everybody has one.
        (Probabilistic(2), {("40", "z"), ("30", "z")}),
        (Probabilistic(3), EVERYBODY),
        # Two halves are worth two values exactly; 2/3, 1/6, 1/6 the third root of 13.5, 2.38.
        (EntropyForm(2), {("40", "z")}),
        (EntropyForm(2.38), EVERYBODY - {("30", "x"), ("40", "x"), ("30", "z")}),
        # 1/4, 1/2, 1/4 are worth the root of 8, 2.828; 3/10, 1/2, 1/5 a little less: 2.800.
        (EntropyForm(2.39), EVERYBODY - {("30", "x"), ("40", "x")}),
        (EntropyForm(2.82), EVERYBODY - {("40", "x")}),
        # Nobody's likeliest value is below the rest. Below twice the rest is all under 2/3.
        (Recursive(2, 1), EVERYBODY),
        (Recursive(2, 2), {("40", "z"), ("30", "z")}),
        (Recursive(2, 2.1), {("40", "z")}),
        # A third value: 1/2 against twice 1/4 is not below, against 2.5 times 1/5 neither.
        (Recursive(3, 2), EVERYBODY),
        (Recursive(3, 2.5), EVERYBODY - {("40", "x")}),
        (Recursive(3, 4), EVERYBODY - {("30", "x"), ("40", "x")}),
        (Recursive(3, 4.1), EVERYBODY - {("30", "x"), ("40", "x"), ("30", "z")}),
    ],
)
def test_who_is_exposed_in_it_is_known_by_hand(form, said):
    counts, laid, bucket = by_hand((("age",), ("zip", "ill")))
    assert {row_of(counts, item)[:2] for item in find_exposed(laid, bucket, form)} == said


def test_with_nothing_beside_it_the_sensitive_column_says_the_same_to_all_in_a_bucket():
    found = told(*by_hand((("age", "zip"), ("ill",))))
    # (30, x) is one of four in the first bucket, one of two in the second: 1/3 and 2/3.
    assert found["30", "x"] == pytest.approx({"flu": 0.5, "gout": 5 / 12, "hiv": 1 / 12})


@given(rows=WITH_MISSING, columns=COLUMNS, data=st.data())
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


@given(rows=WITH_MISSING, columns=COLUMNS, data=st.data(), asked=FORMS)
def test_whoever_is_exposed_is_found_and_nobody_else(rows, columns, data, asked):
    counts, laid = laid_of(rows, columns)
    bucket = some_buckets(data, counts)
    buckets = buckets_of(counts, bucket)
    found = {row_of(counts, item)[:3] for item in find_exposed(laid, bucket, asked.form)}
    said = {
        row[:3]
        for row in rows
        if literal.is_exposed(row, buckets, NAMES, columns, "ill", asked.diverse)
    }
    assert found == said


@given(rows=WITH_MISSING, columns=COLUMNS, data=st.data(), asked=FORMS)
def test_buckets_that_are_diverse_by_themselves_expose_nobody(rows, columns, data, asked):
    counts, laid = laid_of(rows, columns)
    bucket = some_buckets(data, counts)
    buckets = buckets_of(counts, bucket)
    if not asked.form.fail(crowds(laid, bucket).tally).any():
        # Not even people who are not there, but might be.
        ages, sexes, zips = ({row[i] for row in rows} for i in range(3))
        for person in ((a, s, z, None) for a in ages for s in sexes for z in zips):
            if any(literal.f(person, each, NAMES, columns, "ill") for each in buckets):
                assert not literal.is_exposed(person, buckets, NAMES, columns, "ill", asked.diverse)


@given(rows=WITH_MISSING, columns=COLUMNS, data=st.data(), asked=FORMS)
def test_only_those_who_match_a_changed_bucket_can_change(rows, columns, data, asked):
    counts, laid = laid_of(rows, columns)
    before = some_buckets(data, counts)
    cut = data.draw(st.integers(0, int(before.max())))
    upper = data.draw(st.lists(st.booleans(), min_size=len(before), max_size=len(before)))
    n = int(before.max()) + 1
    after = np.where((before == cut) & np.array(upper), n, before)
    changed = np.zeros(n + 1, dtype=bool)
    changed[[cut, n]] = True
    now = set(find_exposed(laid, after, asked.form).tolist())
    found = set(find_exposed(laid, after, asked.form, changed=changed).tolist())
    assert now - set(find_exposed(laid, before, asked.form).tolist()) <= found <= now


@given(rows=WITH_MISSING, columns=COLUMNS, asked=FORMS)
def test_crowds_are_judged_as_the_model_of_the_form_judges_classes(rows, columns, asked):
    counts, laid = laid_of(rows, columns)
    tally = crowds(laid, np.zeros(len(counts), dtype=np.int64)).tally
    [held] = [column for column in columns if "ill" in column]
    known = tuple(name for name in held if name != "ill")
    classes = classes_from(counts, known, ("ill",))
    model = asked.form.model("ill")
    np.testing.assert_array_equal(~asked.form.fail(tally), model.passes(classes))
    assert asked.form.measure(tally) == pytest.approx(model.measure(classes))


def test_exactly_one_in_l_is_allowed_and_exactly_c_times_is_not():
    # Thirds do not add up in binary, so that only whole numbers can tell.
    rows = [(a, "s", z, ill) for a, z in ("xp", "yq", "zp") for ill in "uvw"]
    columns = (("age", "sex"), ("zip", "ill"))
    counts, laid = laid_of(rows, columns)
    bucket = np.array([{"u": 0, "v": 1, "w": 2}[row_of(counts, i)[3]] for i in range(len(counts))])
    for form in (Probabilistic(3), EntropyForm(3), Recursive(3, 1.001)):
        assert form.fail(crowds(laid, bucket).tally).all()
        assert not len(find_exposed(laid, bucket, form))
    for form in (Probabilistic(4), EntropyForm(3.001), Recursive(3, 1)):
        assert len(find_exposed(laid, bucket, form)) == 3
    buckets = buckets_of(counts, bucket)
    said = literal.beliefs(rows[0], buckets, NAMES, columns, "ill")
    assert set(said.values()) == {Fraction(1, 3)}


def test_a_missing_value_hides_nobody():
    rows = [("a", "s", "z", ill) for ill in ("u", "v", None)]
    columns = (("age", "sex"), ("zip", "ill"))
    _, laid = laid_of(rows, columns)
    together, apart = np.zeros(3, dtype=np.int64), np.array([0, 0, 1])
    for good, bad in (
        (Probabilistic(2), Probabilistic(3)),
        (EntropyForm(2), EntropyForm(2.1)),
        (Recursive(2, 1.1), Recursive(3, 9)),
    ):
        assert not good.fail(crowds(laid, together).tally).any()
        assert bad.fail(crowds(laid, together).tally).all()
        assert len(find_exposed(laid, together, bad)) == 1
        # Those without a known value are a crowd that says what it is.
        assert good.fail(crowds(laid, apart).tally).tolist() == [False, True]


def test_an_l_larger_than_any_table_is_not_too_large_to_fail():
    rows = [("a", "s", "z", "uv"[i % 2]) for i in range(16)]
    _, laid = laid_of(rows, (("age", "sex"), ("zip", "ill")))
    found = crowds(laid, np.zeros(len(laid), dtype=np.int64))
    for l in (2**60, 2**61, 10**30):
        for form in (Probabilistic(l), EntropyForm(l), Recursive(l, 9)):
            assert form.fail(found.tally).all()


def test_many_people_are_looked_at_in_parts(monkeypatch):
    rng = np.random.default_rng(3)
    rows = [tuple(map(str, row)) for row in rng.integers(0, 4, (300, 4))]
    counts, laid = laid_of(rows, (("age",), ("sex",), ("zip", "ill")))
    bucket = rng.integers(0, 7, len(counts))
    whole = beliefs(laid, bucket)
    monkeypatch.setattr(matching, "_AT_ONCE", 5)
    np.testing.assert_allclose(beliefs(laid, bucket), whole, rtol=1e-12)


def test_nobody_is_exposed_in_an_empty_table():
    _, laid = laid_of([], (("age", "sex"), ("zip", "ill")))
    nobody = np.zeros(0, dtype=np.int64)
    for form in (Probabilistic(2), EntropyForm(2), Recursive(2, 2)):
        assert not len(form.fail(crowds(laid, nobody).tally))
        assert not len(find_exposed(laid, nobody, form))
        assert not len(cut_into_buckets([laid], [nobody], form))
