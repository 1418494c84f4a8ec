"""Distinct l-diversity: the textbook definition is the judge."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.models import DistinctLDiversity
from tests.builders import ROWS, classes_of
from tests.models.tables import counts_by_class, known


@given(rows=ROWS, l=st.integers(2, 4))
def test_agrees_with_the_textbook(rows, l):
    verdicts = DistinctLDiversity("disease", l=l).passes(classes_of(rows, column="disease"))
    assert verdicts.tolist() == [len(known(counts)) >= l for counts in counts_by_class(rows)]


def test_a_missing_value_does_not_count_as_a_second_value():
    classes = classes_of([("A", "flu"), ("A", None)], column="disease")
    assert DistinctLDiversity("disease", l=2).passes(classes).tolist() == [False]
    assert DistinctLDiversity("disease", l=2).measure(classes) == {"l": 1}


@pytest.mark.parametrize("l", [1, 0, -3, 2.5, "3", True])
def test_refuses_an_l_that_protects_nobody(l):
    with pytest.raises(ParameterError, match=r"l must be an integer of at least 2, got "):
        DistinctLDiversity("disease", l=l)
