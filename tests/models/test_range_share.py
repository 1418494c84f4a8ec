"""Range share: the definition in exact fractions is the judge, and close salaries."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError, PolicyError
from sfumato.models import RangeShare
from tests.builders import LABELS, classes_of

NUMBERS = st.sampled_from(["-2.5", "0", "0.1", "0.10", "0.3", "1", "7", "7.0", "1e3", None])
ROWS = st.lists(st.tuples(LABELS, NUMBERS), min_size=1, max_size=30)
WIDTHS = st.sampled_from(["0", "0.1", "0.2", "1", "2.5", "6", "999.9", "1002.5"])


def largest_share(numbers, within):
    """The largest share of numbers in a closed range of a width, tried from every number on."""
    return max(
        Fraction(sum(low <= each <= low + within for each in numbers), len(numbers))
        for low in numbers
    )


@given(rows=ROWS, within=WIDTHS, share=st.sampled_from(["0.3", "0.5", "0.75"]))
def test_agrees_with_the_textbook(rows, within, share):
    expected, shares = [], []
    for label in sorted({label for label, _ in rows}):
        numbers = [Fraction(pay) for at, pay in rows if at == label and pay is not None]
        found = largest_share(numbers, Fraction(within)) if numbers else None
        expected.append(found is not None and found <= Fraction(share))
        shares.append(float("inf") if found is None else float(found))
    model = RangeShare("pay", within=float(within), share=float(share))
    classes = classes_of(rows, column="pay")
    assert model.passes(classes).tolist() == expected
    assert model.measure(classes)["share"] == pytest.approx(max(shares))


def test_days_are_counted():
    rows = [("A", "2020-02-28"), ("A", "2020-03-01"), ("B", "2020-01-01"), ("B", "2020-12-31")]
    classes = classes_of(rows, column="died")
    assert RangeShare("died", within=2, share=0.5).passes(classes).tolist() == [False, True]
    assert RangeShare("died", within=1, share=0.5).passes(classes).all()


def test_words_have_no_distance():
    classes = classes_of([("A", "flu"), ("A", "gout")], column="ill")
    with pytest.raises(PolicyError, match="are not numbers"):
        RangeShare("ill", within=1, share=0.5).passes(classes)


@pytest.mark.parametrize("bad", [{"share": 0}, {"share": 1}, {"within": -1}, {"within": "far"}])
def test_refuses_what_says_nothing(bad):
    with pytest.raises(ParameterError):
        RangeShare("pay", **{"within": 1, "share": 0.5, **bad})
