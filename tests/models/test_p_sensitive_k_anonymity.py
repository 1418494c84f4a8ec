"""p-sensitive k-anonymity: the definition, and the printed table that meets it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.models import PSensitiveKAnonymity
from tests.builders import classes_of
from tests.models.printed import TWO_SENSITIVE_FOUR_ANONYMOUS
from tests.models.tables import COUNTED, counts_by_class, known


@given(rows=COUNTED, p=st.integers(2, 4), k=st.integers(2, 12))
def test_agrees_with_the_textbook(rows, p, k):
    verdicts = PSensitiveKAnonymity("disease", p=p, k=k).passes(classes_of(rows, column="disease"))
    assert verdicts.tolist() == [
        counts.total() >= k and len(known(counts)) >= p for counts in counts_by_class(rows)
    ]


def test_the_printed_table_is_2_sensitive_4_anonymous():
    classes = classes_of(TWO_SENSITIVE_FOUR_ANONYMOUS, column="disease")
    model = PSensitiveKAnonymity("disease", p=2, k=4)
    assert model.passes(classes).all()
    assert model.measure(classes) == {"p": 2, "k": 4}


def test_a_missing_value_counts_as_a_row_but_not_as_a_value():
    classes = classes_of([("A", "flu"), ("A", None)], column="disease")
    assert PSensitiveKAnonymity("disease", p=2, k=2).measure(classes) == {"p": 1, "k": 2}


@pytest.mark.parametrize("bad", [{"p": 1}, {"k": 1}, {"p": 2.0}, {"k": None}])
def test_refuses_parameters_that_make_no_sense(bad):
    name = next(iter(bad))
    with pytest.raises(ParameterError, match=f"{name} must be an integer of at least 2"):
        PSensitiveKAnonymity("disease", **{"p": 2, "k": 2, **bad})
