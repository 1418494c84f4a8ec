"""Linking: rows and people joined one by one, and the patient found in the driving record."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks import ATTACKS, Linking, Outside, Target, matching
from sfumato.classes import EquivalenceClasses
from sfumato.counts import FrequencySet
from sfumato.errors import ParameterError
from sfumato.harm import HarmRule
from sfumato.hierarchy import Intervals
from sfumato.tables import open_table

RAW = [("20", "11"), ("20", "12"), ("25", "11"), ("31", "12")]
AGES = {"20-29": {"20", "25"}, "2*": {"20", "25"}, "31": {"31"}, "20": {"20"}}
AGES["*"] = {"20", "25", "31"}
ZIPS = {"1*": {"11", "12"}, "11": {"11"}, "12": {"12"}, "*": {"11", "12"}}
ROW = st.tuples(st.sampled_from(sorted(AGES)), st.sampled_from(sorted(ZIPS)))
RELEASES = st.lists(ROW, min_size=1, max_size=8)
LISTS = st.lists(st.sampled_from(RAW), min_size=1, max_size=8)


def target_of(rows):
    counts = FrequencySet.from_rows(["age", "zip"], rows)
    return Target.of_table(counts, ("age", "zip"), ())


def fits(person, row):
    return person[0] in AGES[row[0]] and person[1] in ZIPS[row[1]]


STARS = ("*", "*")


def fitting(row, rows, people):
    """The people of a list who fit a row; a row of stars is of those who fit no other."""
    who = [person for person in people if fits(person, row)]
    if row != STARS:
        return who
    others = [other for other in rows if other != STARS]
    return [person for person in who if not any(fits(person, other) for other in others)]


def risks(rows, people):
    """Per row: in the prosecutor's eyes, the journalist's, and by chance."""
    found = []
    for row in rows:
        alike = sum(other == row for other in rows)
        who = len(fitting(row, rows, people))
        hidden = Fraction(1, max(who, alike)) if who else Fraction(0)
        linked = Fraction(min(who, alike), alike)
        found.append((Fraction(1, alike), hidden, linked * hidden))
    return found


@given(RELEASES, LISTS, st.integers(1, 5))
def test_rows_and_people_are_joined_as_if_one_by_one(rows, people, at_once):
    target = target_of(rows)
    listed = FrequencySet.from_rows(["age", "zip"], people)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "_CELLS", at_once)
        outside = Outside.of(listed, target)
    target = replace(target, outside=outside)
    for at in range(len(target.classes)):
        row = tuple(target.who(at).values())
        merged = outside.of_class[at]
        assert outside.rows[merged] == rows.count(row)
        who = fitting(row, rows, people)
        assert outside.fitting[merged] == len(who)
        assert outside.who(merged) == (", ".join(who[0]) if len(who) == 1 else None)
    expected = risks(rows, people)
    journalist = Linking("journalist").on(target, HarmRule())
    figures = journalist.settings
    assert figures["prosecutor_risk"] == float(max((p for p, _, _ in expected), default=0))
    assert figures["journalist_risk"] == float(max((j for _, j, _ in expected), default=0))
    marketer = sum((m for _, _, m in expected), Fraction(0)) / len(rows)
    assert figures["marketer_risk"] == pytest.approx(float(marketer))
    assert journalist.posterior == figures["journalist_risk"]
    if len(people) > 1:
        assert journalist.people == sum(j == 1 for _, j, _ in expected)
    prosecutor = Linking().on(target, HarmRule())
    assert prosecutor.settings == {**figures, "view": "prosecutor"}
    if len(rows) > 1:
        assert prosecutor.people == sum(p == 1 for p, _, _ in expected)
    for outcome in (journalist, prosecutor):
        assert json.loads(json.dumps(outcome.to_dict())) == outcome.to_dict()
        assert outcome.of == len(rows)


@given(RELEASES, LISTS)
def test_a_list_that_knows_less_sees_fewer_classes(rows, people):
    target = target_of(rows)
    outside = Outside.of(FrequencySet.from_rows(["zip"], [(z,) for _, z in people]), target)
    for at in range(len(target.classes)):
        label = target.who(at)["zip"]
        merged = outside.of_class[at]
        assert outside.rows[merged] == sum(row[1] == label for row in rows)
        assert outside.fitting[merged] == sum(z in ZIPS[label] for _, z in people)


def hospital(*, age="age"):
    names = ["zipcode", age, "gender", "nationality", "condition"]
    counts = open_table(sf.samples.table("hospital")).count(names)
    return Target.of_table(counts, tuple(names[:4]), ("condition",))


def drivers():
    table = open_table(sf.samples.table("driving-record"))
    return table.count(["name", "zipcode", "age", "nationality"])


def test_the_driving_record_tells_whose_hiv_it_is():
    target = hospital()
    target = replace(target, outside=Outside.of(drivers(), target))
    outcome = Linking("journalist").on(target, HarmRule())
    assert (outcome.people, outcome.of, outcome.posterior) == (1, 4, 1.0)
    assert outcome.prior == pytest.approx(1 / 3)
    [case] = outcome.worst
    assert case.who == {"zipcode": "24078", "age": "26", "gender": "M", "nationality": "Indian"}
    assert case.believed == "the row is of Rajesh, 24078, 26, Indian"
    assert outcome.settings["marketer_risk"] == 0.25
    assert not outcome.holds


def test_whoever_knows_that_somebody_is_in_the_data_needs_no_list():
    outcome = Linking().on(hospital(), HarmRule())
    assert (outcome.people, outcome.settings["marketer_risk"]) == (4, 1.0)
    assert "journalist" not in outcome.note
    assert ATTACKS["linking"].against(hospital(), HarmRule()) == [Linking()]


def test_four_who_look_alike_hide_each_other():
    rows = [("240**", "*", c) for c in ("HIV", "HIV", "Viral Infection", "Cancer")]
    counts = FrequencySet.from_rows(["zipcode", "nationality", "condition"], rows)
    target = Target.of_table(counts, ("zipcode", "nationality"), ("condition",))
    target = replace(target, outside=Outside.of(drivers(), target))
    assert Linking.against(target, HarmRule()) == [Linking(), Linking("journalist")]
    for attack in Linking.against(target, HarmRule()):
        outcome = attack.on(target, HarmRule())
        assert (outcome.people, outcome.posterior) == (0, 0.25)
        assert outcome.holds


def test_labels_of_a_hierarchy_are_found():
    counts = FrequencySet.from_rows(["age"], [("20-29",), ("20-29",), ("30-39",)])
    people = FrequencySet.from_rows(["age"], [(22,), (25,), (28,), (33,)])
    ladder = Intervals(widths=(10,)).ladder("age", people.columns[0].values, [1] * 4)
    target = Target.of_table(counts, ("age",), ())
    found = Outside.of(people, target, {"age": ladder}, {"age": 1})
    assert found.fitting.tolist() == [3, 1]


def test_nobody_fits_a_release_of_nobody():
    target = target_of([])
    outside = Outside.of(FrequencySet.from_rows(["age"], [(22,)]), target)
    outcome = Linking("journalist").on(replace(target, outside=outside), HarmRule())
    assert (outcome.people, outcome.of, outcome.posterior, outcome.worst) == (0, 0, 0.0, ())


def test_rows_of_stars_are_of_those_who_fit_no_other_class():
    target = target_of([STARS, ("20", "11"), ("20", "11")])
    outcome = Linking().on(target, HarmRule())
    assert (outcome.people, outcome.worst[0].who) == (1, {"age": "*", "zip": "*"})
    # Of the list, one fits the two rows, and three the row of stars, which hide each other.
    listed = FrequencySet.from_rows(["age", "zip"], [("20", "11"), *[("31", "12")] * 3])
    journalist = replace(target, outside=Outside.of(listed, target))
    assert Linking("journalist").on(journalist, HarmRule()).posterior == 0.5
    # Who knows the zip alone cannot say that a person fits no other class.
    zips = FrequencySet.from_rows(["zip"], [("11",), ("12",)])
    assert sorted(Outside.of(zips, target).fitting.tolist()) == [1, 2]


def test_a_population_is_a_list_too():
    target = target_of([("20", "11"), ("31", "12"), ("31", "12")])
    classes = EquivalenceClasses(target.classes.sizes, population=np.array([1, 4]), unseen=5)
    outcome = Linking("journalist").on(replace(target, classes=classes), HarmRule(very_high=0.5))
    assert (outcome.people, outcome.prior, outcome.posterior) == (1, 0.1, 1.0)
    assert outcome.settings["marketer_risk"] == pytest.approx((1 + 2 / 4) / 3)


def test_buckets_are_not_linked():
    target = replace(target_of([("20", "11")]), kind="slicing")
    assert Linking.against(target, HarmRule()) == []
    assert "buckets" in Linking.why_not(target)


def test_what_cannot_be_asked_is_refused():
    with pytest.raises(ParameterError, match="Did you mean 'journalist'"):
        Linking("journalst")
    with pytest.raises(ParameterError, match="without a list"):
        Linking("journalist").on(target_of([("20", "11")]), 0.75)
    with pytest.raises(ParameterError, match=r"a list with some of \['age', 'zip'\]"):
        Outside.of(FrequencySet.from_rows(["name"], [("Ann",)]), target_of([("20", "11")]))
