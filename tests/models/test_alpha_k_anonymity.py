"""(α,k)-anonymity: the definition in exact fractions is the judge."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError, PolicyError
from sfumato.models import AlphaKAnonymity, KAnonymity
from tests.builders import classes_of
from tests.models.tables import COUNTED, counts_by_class, empty, known

SHARES = st.fractions(min_value=Fraction(1, 10), max_value=Fraction(9, 10), max_denominator=10)


def textbook(counts, alpha, k, protected):
    n = sum(known(counts))
    watched = [value for value in counts if value is not None]
    if protected:
        watched = [value for value in watched if value in protected]
    return (
        counts.total() >= k
        and n > 0
        and all(Fraction(counts[value], n) <= alpha for value in watched)
    )


@given(rows=COUNTED, alpha=SHARES, k=st.integers(1, 9), data=st.data())
def test_agrees_with_the_textbook(rows, alpha, k, data):
    occurring = sorted({disease for _, disease in rows if disease is not None})
    protected = data.draw(st.lists(st.sampled_from(occurring), unique=True)) if occurring else []
    model = AlphaKAnonymity("disease", alpha=float(alpha), k=k, protected=tuple(protected))
    expected = [textbook(counts, alpha, k, protected) for counts in counts_by_class(rows)]
    assert model.passes(classes_of(rows, column="disease")).tolist() == expected


def test_k_counts_all_rows_and_shares_only_known_ones():
    classes = classes_of([("A", "flu"), ("A", "gout"), ("A", None)], column="disease")
    assert AlphaKAnonymity("disease", alpha=0.5, k=3).passes(classes).all()
    assert not AlphaKAnonymity("disease", alpha=0.4, k=3).passes(classes).any()
    assert AlphaKAnonymity("disease", alpha=0.4, k=3).measure(classes) == {"alpha": 0.5, "k": 3}


def test_protected_values_are_matched_as_they_are_written():
    classes = classes_of([("A", 1.0), ("A", 2.0), ("A", 2.0)], column="stage")
    assert AlphaKAnonymity("stage", alpha=0.4, k=2, protected=["1"]).passes(classes).all()
    assert not AlphaKAnonymity("stage", alpha=0.4, k=2, protected=["2"]).passes(classes).any()


def test_a_misspelt_protected_value_is_refused_because_it_would_protect_nothing():
    classes = classes_of([("A", "flu"), ("A", "hiv")], column="disease")
    model = AlphaKAnonymity("disease", alpha=0.5, k=2, protected=("hvi",))
    with pytest.raises(PolicyError, match=r"protects 'hvi'.*Did you mean 'hiv'"):
        model.passes(classes)


def test_a_list_of_protected_values_is_as_good_as_a_tuple():
    one = AlphaKAnonymity("disease", alpha=0.5, k=2, protected=["hiv"])
    assert one == AlphaKAnonymity("disease", alpha=0.5, k=2, protected=("hiv",))
    assert hash(one)
    assert one.passes(empty()).tolist() == []


def test_its_absorbing_part_is_k_anonymity():
    assert AlphaKAnonymity("disease", alpha=0.5, k=3).absorbing_part == KAnonymity(3)
    assert AlphaKAnonymity("disease", alpha=0.5, k=1).absorbing_part is None


@pytest.mark.parametrize(
    "bad",
    [
        {"alpha": 0},
        {"alpha": 1},
        {"k": 0},
        {"protected": "hiv"},
        {"protected": 3},
        {"protected": ("hiv", None)},
    ],
)
def test_refuses_parameters_that_make_no_sense(bad):
    name = next(iter(bad))
    with pytest.raises(ParameterError, match=f"{name} must be "):
        AlphaKAnonymity("disease", **{"alpha": 0.5, "k": 2, **bad})
