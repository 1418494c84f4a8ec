"""Models that a draft is given next: those that refuse what was found, and little else."""

from types import SimpleNamespace

from sfumato.classes import classes_from
from sfumato.counts import FrequencySet
from sfumato.drafting.choosing import fitting_steps
from sfumato.models import DistinctLDiversity, RangeShare

PAY = {
    "A": (1000, 1010, 1020, 1030, 1040),
    "B": (1000, 2000, 3000, 4000, 5000),
    "C": (1000, 1200, 1400, 4000, 9000),
}
ROWS = [(group, pay) for group, all_pay in PAY.items() for pay in all_pay]
TWO = DistinctLDiversity("pay", 2)
NARROW, WIDE = RangeShare("pay", 100, 0.99), RangeShare("pay", 5000, 0.5)


def steps_after(ladder, *, told=5, remedies=()):
    classes = classes_from(FrequencySet.from_rows(["group", "pay"], ROWS), ("group",), ("pay",))
    judged = SimpleNamespace(remedies={"pay": remedies})
    state = SimpleNamespace(steps={"pay": 0}, judged=judged, classes=classes)
    ladders = {"pay": ladder}
    step = fitting_steps(state, {"pay": told}, ladders)["pay"]
    assert ladders["pay"][: len(ladder)] == ladder
    return ladders["pay"][step]


def test_the_step_is_taken_that_refuses_those_at_risk_and_fewest_others():
    kept = DistinctLDiversity("pay", 3)
    assert steps_after(((TWO,), (kept,), (WIDE,), (NARROW,))) == (NARROW,)


def test_what_the_verdict_advises_is_taken_if_no_step_refuses_less():
    assert steps_after(((TWO,), (WIDE,)), remedies=(NARROW,)) == (TWO, NARROW)
    assert steps_after(((TWO,), (NARROW,)), remedies=(WIDE,)) == (NARROW,)


def test_where_no_step_refuses_all_at_risk_the_one_is_taken_that_refuses_most():
    assert steps_after(((TWO,), (NARROW,), (WIDE,)), told=99) == (WIDE,)


def test_what_is_advised_already_is_not_added():
    assert steps_after(((TWO, NARROW), (WIDE,)), remedies=(NARROW,)) == (WIDE,)
