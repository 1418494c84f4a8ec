"""Enhanced (p,α)-sensitive k-anonymity: the definition, and the printed tables as in the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.models import EnhancedPAlphaSensitiveKAnonymity
from tests.builders import classes_of
from tests.models.printed import (
    CATEGORIES,
    FOUR_CATEGORIES,
    THREE_ONE_SENSITIVE_FOUR_ANONYMOUS,
    TWO_SENSITIVE_FOUR_ANONYMOUS,
)
from tests.models.tables import COUNTED, counts_by_class
from tests.models.test_p_alpha_sensitive_k_anonymity import ALPHAS, THREE, weight


def categories_of(counts):
    return {i for i, category in enumerate(THREE) for value in counts if value in category}


@given(
    rows=COUNTED,
    p=st.integers(1, 3),
    alpha=ALPHAS,
    k=st.integers(2, 9),
    per=st.sampled_from(["rows", "distinct"]),
)
def test_agrees_with_the_textbook(rows, p, alpha, k, per):
    model = EnhancedPAlphaSensitiveKAnonymity("disease", p, float(alpha), k, THREE, weight=per)
    assert model.passes(classes_of(rows, column="disease")).tolist() == [
        counts.total() >= k and len(categories_of(counts)) >= p and weight(counts, per) >= alpha
        for counts in counts_by_class(rows)
    ]


def model(p, alpha):
    return EnhancedPAlphaSensitiveKAnonymity("disease", p, alpha, 4, CATEGORIES)


def test_the_similarity_attack_on_the_printed_tables_is_seen():
    two = classes_of(TWO_SENSITIVE_FOUR_ANONYMOUS, column="disease")
    assert model(2, 0).passes(two).tolist() == [False, True, False]
    three = classes_of(THREE_ONE_SENSITIVE_FOUR_ANONYMOUS, column="disease")
    assert model(3, 1).passes(three).tolist() == [False, False]
    assert model(2, 1).passes(three).tolist() == [True, True]


def test_four_values_of_four_categories_weigh_two():
    classes = classes_of(FOUR_CATEGORIES, column="disease")
    assert model(4, 2).passes(classes).all()
    assert model(1, 0).measure(classes) == {"p": 4, "alpha": 2.0, "k": 4}


@given(rows=COUNTED)
def test_two_categories_leave_no_class_of_one_category(rows):
    judge = EnhancedPAlphaSensitiveKAnonymity("disease", 2, 0, 2, THREE)
    verdicts = judge.passes(classes_of(rows, column="disease"))
    for verdict, counts in zip(verdicts, counts_by_class(rows), strict=True):
        assert not (verdict and len(categories_of(counts)) < 2)


def test_refuses_more_categories_than_there_are():
    with pytest.raises(ParameterError, match="p must be at most 4, the categories, got 5"):
        model(5, 0)
