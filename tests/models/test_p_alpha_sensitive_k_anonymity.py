"""(p,α)-sensitive k-anonymity: the definition, and the printed tables judged as in the text."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError, PolicyError
from sfumato.models import EnhancedPAlphaSensitiveKAnonymity, PAlphaSensitiveKAnonymity
from tests.builders import classes_of
from tests.models.printed import (
    CATEGORIES,
    FOUR_CATEGORIES,
    THREE_ONE_SENSITIVE_FOUR_ANONYMOUS,
    TWO_SENSITIVE_FOUR_ANONYMOUS,
)
from tests.models.tables import COUNTED, counts_by_class, known

THREE = (("cancer",), ("hiv", "gout"), ("flu",))
WEIGHT = {"cancer": Fraction(0), "hiv": Fraction(1, 2), "gout": Fraction(1, 2), "flu": Fraction(1)}
ALPHAS = st.fractions(min_value=0, max_value=12, max_denominator=4)
both_models = pytest.mark.parametrize(
    "kind", [PAlphaSensitiveKAnonymity, EnhancedPAlphaSensitiveKAnonymity]
)


def weight(counts, weight):
    return sum(
        WEIGHT[value] * (rows if weight == "rows" else 1)
        for value, rows in counts.items()
        if value is not None
    )


@given(
    rows=COUNTED,
    p=st.integers(1, 4),
    alpha=ALPHAS,
    k=st.integers(2, 9),
    per=st.sampled_from(["rows", "distinct"]),
)
def test_agrees_with_the_textbook(rows, p, alpha, k, per):
    model = PAlphaSensitiveKAnonymity("disease", p, float(alpha), k, THREE, weight=per)
    assert model.passes(classes_of(rows, column="disease")).tolist() == [
        counts.total() >= k and len(known(counts)) >= p and weight(counts, per) >= alpha
        for counts in counts_by_class(rows)
    ]


def model(p, alpha, k=4):
    return PAlphaSensitiveKAnonymity("disease", p, alpha, k, CATEGORIES)


def test_four_values_of_four_categories_weigh_two():
    classes = classes_of(FOUR_CATEGORIES, column="disease")
    assert model(1, 0).measure(classes) == {"p": 4, "alpha": 2.0, "k": 4}


def test_the_printed_table_is_3_1_sensitive_4_anonymous():
    classes = classes_of(THREE_ONE_SENSITIVE_FOUR_ANONYMOUS, column="disease")
    assert model(3, 1).passes(classes).all()
    # The printed totals of its classes are 1 and 2.
    assert model(3, 1).measure(classes) == {"p": 3, "alpha": 1.0, "k": 4}
    assert model(3, 2).passes(classes).tolist() == [False, True]


def test_the_2_sensitive_table_hides_a_class_of_secrets_only():
    classes = classes_of(TWO_SENSITIVE_FOUR_ANONYMOUS, column="disease")
    assert model(2, 1).passes(classes).tolist() == [True, True, False]
    assert model(2, 1).measure(classes)["alpha"] == 0.0


def test_thirds_add_up_to_one():
    classes = classes_of([("A", "Hepatitis")] * 3, column="disease")
    assert model(1, 1, k=2).passes(classes).all()


@both_models
def test_values_without_a_category_are_named(kind):
    classes = classes_of([("A", "flu"), ("A", "plague"), ("A", "measles")], column="disease")
    judge = kind("disease", 1, 0, 2, (("plague",), ("cold",)))
    with pytest.raises(PolicyError, match=r"2 of the 3 values of column 'disease'.*'flu', 'meas"):
        judge.passes(classes)


@both_models
def test_values_are_matched_as_they_are_written(kind):
    classes = classes_of([("A", 1.0), ("A", 2.0)], column="stage")
    assert kind("stage", 1, 1, 2, [["2"], [1]]).passes(classes).all()


@both_models
def test_lists_are_as_good_as_tuples(kind):
    one = kind("disease", 1, 1, 2, [["hiv"], ["flu"]])
    assert one == kind("disease", 1, 1, 2, (("hiv",), ("flu",)))
    assert hash(one)


@both_models
@pytest.mark.parametrize(
    "categories",
    ["hiv", 3, ["hiv", "flu"], [["hiv"]], [["hiv"], []], [["hiv"], 3], []],
)
def test_refuses_categories_that_are_not_two_lists_or_more(kind, categories):
    with pytest.raises(ParameterError, match="categories must be at least two lists"):
        kind("disease", 1, 1, 2, categories)


@both_models
def test_refuses_a_value_in_two_categories(kind):
    with pytest.raises(
        ParameterError, match=r"categories must be disjoint.*'1' stands in it twice"
    ):
        kind("disease", 1, 1, 2, [[1, "flu"], ["1"]])


@both_models
def test_refuses_a_missing_value_in_a_category(kind):
    with pytest.raises(ParameterError, match="categories must be known values"):
        kind("disease", 1, 1, 2, [["hiv", None], ["flu"]])


@both_models
@pytest.mark.parametrize("bad", [{"p": 0}, {"alpha": -1}, {"k": 1}, {"weight": "people"}])
def test_refuses_parameters_that_make_no_sense(kind, bad):
    name = next(iter(bad))
    with pytest.raises(ParameterError, match=f"{name} must be "):
        kind("disease", **{"p": 1, "alpha": 1, "k": 2, "categories": CATEGORIES, **bad})
