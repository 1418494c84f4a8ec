"""(k,e)-anonymity: the definition in exact fractions is the judge, and the nine salaries."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError, PolicyError
from sfumato.models import KEAnonymity
from tests.builders import LABELS, classes_of

NUMBERS = st.sampled_from(["-2.5", "0", "0.1", "0.10", "0.3", "1", "7", "7.0", "1e3", None])
ROWS = st.lists(st.tuples(LABELS, NUMBERS), min_size=1, max_size=30)
WIDTHS = st.sampled_from(["0.1", "0.2", "1", "2.5", "2.6", "6", "999.9", "1002.5"])


@given(rows=ROWS, k=st.integers(2, 5), e=WIDTHS)
def test_agrees_with_the_textbook(rows, k, e):
    expected = []
    for label in sorted({label for label, _ in rows}):
        numbers = {Fraction(pay) for at, pay in rows if at == label and pay is not None}
        wide = bool(numbers) and max(numbers) - min(numbers) >= Fraction(e)
        expected.append(len(numbers) >= k and wide)
    model = KEAnonymity("pay", k=k, e=float(e))
    assert model.passes(classes_of(rows, column="pay")).tolist() == expected


@given(rows=ROWS)
def test_the_figures_are_those_of_the_worst_class(rows):
    by_class = {}
    for label, pay in rows:
        by_class.setdefault(label, set()).update([] if pay is None else [Fraction(pay)])
    measured = KEAnonymity("pay", k=2, e=1).measure(classes_of(rows, column="pay"))
    assert measured["k"] == min(map(len, by_class.values()))
    if measured["k"]:
        narrowest = min(max(numbers) - min(numbers) for numbers in by_class.values())
        assert measured["e"] == pytest.approx(float(narrowest))


SALARIES = {"A": (3000, 4000, 5000), "B": (6000, 11000, 8000), "C": (7000, 9000, 10000)}
"""Nine salaries in three classes, all 3-diverse; those of the first are all low."""


def test_three_low_salaries_are_diverse_and_not_spread():
    rows = [(label, pay) for label, pays in SALARIES.items() for pay in pays]
    classes = classes_of(rows, column="salary")
    assert KEAnonymity("salary", k=3, e=3000).passes(classes).tolist() == [False, True, True]
    assert KEAnonymity("salary", k=3, e=3000).measure(classes) == {"k": 3, "e": 2000.0}
    assert KEAnonymity("salary", k=3, e=2000).passes(classes).all()


def test_days_are_counted():
    rows = [("A", "2020-02-28"), ("A", "2020-03-01"), ("B", "2020-01-01"), ("B", "2020-12-31")]
    classes = classes_of(rows, column="born")
    assert KEAnonymity("born", k=2, e=3).passes(classes).tolist() == [False, True]
    assert KEAnonymity("born", k=2, e=3).measure(classes) == {"k": 2, "e": 2.0}


def test_a_missing_value_is_no_number():
    classes = classes_of([("A", 1), ("A", None), ("B", None)], column="pay")
    model = KEAnonymity("pay", k=2, e=1)
    assert model.passes(classes).tolist() == [False, False]
    assert model.measure(classes) == {"k": 0, "e": 0.0}


def test_two_spellings_of_a_number_are_one():
    classes = classes_of([("A", "7"), ("A", "7.0")], column="pay")
    assert KEAnonymity("pay", k=2, e=1).measure(classes) == {"k": 1, "e": 0.0}


@pytest.mark.parametrize("unit", [1e-300, 1e-15, 1.0, 1e15, 1e300])
def test_rounding_is_forgiven_in_any_unit_and_nothing_else(unit):
    classes = classes_of([("A", 1 * unit), ("A", 1.5 * unit), ("A", 2 * unit)], column="pay")
    assert KEAnonymity("pay", k=3, e=unit).passes(classes).all()
    assert not KEAnonymity("pay", k=3, e=1.001 * unit).passes(classes).any()


def test_text_is_refused_by_name():
    classes = classes_of([("A", "flu"), ("A", 7)], column="pay")
    with pytest.raises(PolicyError, match=r"1 of the 2 values of column 'pay'.*'flu'"):
        KEAnonymity("pay", k=2, e=1).passes(classes)


@pytest.mark.parametrize("bad", [{"k": 1}, {"k": 2.0}, {"e": 0}, {"e": -1}, {"e": "wide"}])
def test_refuses_parameters_that_make_no_sense(bad):
    name = next(iter(bad))
    with pytest.raises(ParameterError, match=f"{name} must be a"):
        KEAnonymity("pay", **{"k": 2, "e": 1, **bad})
