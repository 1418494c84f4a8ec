"""Likely and skewed values: where the line is drawn, and what of it a release must answer for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attacks import Homogeneity, ProbabilisticInference, Skewness, Target
from sfumato.counts import FrequencySet
from sfumato.errors import ParameterError
from sfumato.harm import HarmRule
from sfumato.models import ProbabilisticLDiversity, TCloseness
from tests.attacks.tables import agree, worst_of
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


@given(rows=COUNTED)
def test_every_value_of_a_class_is_judged_by_the_rule(rows):
    def sets(known):
        return [lambda v, x=x: v == x for x in known]

    counts = FrequencySet.from_rows(["label", "x"], rows)
    outcome = Skewness("x").on(Target.of_table(counts, ("label",), ("x",)), HarmRule())
    agree(outcome, rows, worst_of(rows, sets))


def failures(shares, size=50, classes=100):
    """Classes of students of whom 1 % failed, but for a first few with other shares."""
    rows = []
    for i, share in enumerate(shares):
        failed = round(share * size)
        rows += [(f"planted {i}", "fail")] * failed + [(f"planted {i}", "pass")] * (size - failed)
    missing = 0.01 * (len(rows) + classes * size) - sum(value == "fail" for _, value in rows)
    assert missing >= 0
    failed = np.zeros(classes * size, dtype=bool)
    failed[: round(missing)] = True
    np.random.default_rng(1).shuffle(failed)
    rows += [(f"{i // size}", "fail" if each else "pass") for i, each in enumerate(failed.tolist())]
    counts = FrequencySet.from_rows(["label", "exam"], rows)
    return Target.of_table(counts, ("label",), ("exam",))


@pytest.mark.parametrize(
    ("share", "level"), [(0.3, "moderate"), (0.5, "high"), (0.8, "very high"), (1.0, "very high")]
)
def test_from_1_percent_to_a_half_is_high_and_to_80_percent_very_high(share, level):
    outcome = Skewness("exam").on(failures([share]), HarmRule())
    assert outcome.by_level == {"very high": 0, "high": 0, "moderate": 0} | {level: 50}
    worst = outcome.worst[0]
    assert (worst.who, worst.believed) == ({"label": "planted 0"}, "exam = fail")
    assert (worst.prior, worst.posterior) == (pytest.approx(0.01, abs=0.001), share)


def test_to_have_passed_like_nearly_everybody_is_no_harm():
    outcome = Skewness("exam").on(failures([0.0]), HarmRule())
    assert outcome.by_level == {"very high": 0, "high": 0, "moderate": 0}


@pytest.mark.parametrize("bad", [0, 1.5, -1, "half", True, float("nan")])
def test_refuses_settings_that_make_no_sense(bad):
    with pytest.raises(ParameterError, match="at_least must be a number above 0 and at most 1"):
        ProbabilisticInference("disease", at_least=bad)
    with pytest.raises(ParameterError, match="gain must be a number above 0 and below 1"):
        Skewness("disease", gain=bad)
