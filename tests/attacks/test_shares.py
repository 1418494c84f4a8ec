"""Likely and skewed values: where the line is drawn, and what of it a release must answer for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attacks import Homogeneity, ProbabilisticInference, Skewness
from sfumato.errors import ParameterError
from sfumato.models import ProbabilisticLDiversity, TCloseness
from tests.builders import classes_of
from tests.models.tables import COUNTED


@given(rows=COUNTED)
def test_certainty_is_the_homogeneity_attack(rows):
    classes = classes_of(rows, column="disease")
    certain = ProbabilisticInference("disease", at_least=1).run(classes).vulnerable
    assert certain.tolist() == Homogeneity("disease").run(classes).vulnerable.tolist()


@given(rows=COUNTED, l=st.integers(2, 5))
def test_probabilistic_l_diversity_withstands_everything_above_its_share(rows, l):
    known = [row for row in rows if row[1] is not None]
    if known:
        classes = classes_of(known, column="disease")
        diverse = ProbabilisticLDiversity("disease", l=l).passes(classes)
        finding = ProbabilisticInference("disease", at_least=1 / l + 1e-6).run(classes)
        assert finding.vulnerable.tolist() == (~diverse).tolist()


@given(rows=COUNTED, percent=st.integers(1, 99))
def test_t_closeness_withstands_every_gain_above_t(rows, percent):
    known = [row for row in rows if row[1] is not None]
    if known:
        classes = classes_of(known, column="disease")
        close = TCloseness("disease", t=percent / 100, distance="equal").passes(classes)
        # A share cannot grow by more than all that moved.
        skewed = Skewness("disease", gain=min(percent / 100 + 1e-6, 0.999999)).run(classes)
        assert not (close & skewed.vulnerable).any()


def test_what_is_exactly_the_line_counts():
    rows = [("A", "hiv")] * 7 + [("A", "flu")] * 3 + [("B", "flu")] * 10
    classes = classes_of(rows, column="disease")
    assert ProbabilisticInference("disease", at_least=0.7).run(classes).vulnerable.all()
    # 70 % in the class, 35 % in the table; flu 100 % and 65 %.
    assert Skewness("disease", gain=0.35).run(classes).vulnerable.all()
    assert not Skewness("disease", gain=0.351).run(classes).vulnerable.any()


def test_the_value_that_grew_most_need_not_be_the_most_frequent():
    rows = [("A", "hiv")] * 4 + [("A", "flu")] * 6 + [("B", "flu")] * 90
    finding = Skewness("disease").run(classes_of(rows, column="disease"))
    assert finding.believed(0) == "disease = hiv"
    assert (finding.prior[0], finding.posterior[0]) == (pytest.approx(0.04), pytest.approx(0.4))


@pytest.mark.parametrize("bad", [0, 1.5, -1, "half", True, float("nan")])
def test_refuses_settings_that_make_no_sense(bad):
    with pytest.raises(ParameterError, match="at_least must be a number above 0 and at most 1"):
        ProbabilisticInference("disease", at_least=bad)
    with pytest.raises(ParameterError, match="gain must be a number above 0 and below 1"):
        Skewness("disease", gain=bad)
