"""A sensitive column of one value or none says yes and no, and is judged like any of two values."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf

pytestmark = pytest.mark.usefixtures("patience")


def answer_of(zone, ill, **rule):
    table = pa.table({"zone": [f"z{at}" for at in zone], "ill": pa.array(ill, pa.string())})
    columns = {"zone": "quasi-identifier", "ill": {"role": "sensitive", **rule}}
    models = [{"model": "k-anonymity", "k": 5}]
    return sf.verify(sf.anonymize(table, {"columns": columns, "models": models}))


@pytest.mark.parametrize("value", ["hiv", "yes", "1"])
def test_a_class_in_which_all_have_what_few_have_is_a_no(value):
    found = answer_of([0] * 20 + [1] * 180, [value] * 20 + [None] * 180)
    assert (found.answer, found.at_risk) == ("no", 20)
    assert found.attack("homogeneity", "ill").worst[0].prior == pytest.approx(0.1)


def test_that_nobody_of_a_class_has_what_most_have_is_a_no():
    found = answer_of([0] * 20 + [1] * 180, [None] * 20 + ["insured"] * 180)
    assert (found.answer, found.at_risk) == ("no", 20)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_what_is_missing_anywhere_tells_nothing(share):
    rng = np.random.default_rng(0)
    ill = ["hiv" if each < share else None for each in rng.random(1500)]
    assert answer_of(rng.integers(0, 5, 1500), ill).answer == "yes"


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_it_is_judged_as_if_the_missing_value_had_a_name(data):
    zone = sorted(data.draw(st.lists(st.integers(0, 3), min_size=30, max_size=60)))
    has = data.draw(st.lists(st.booleans(), min_size=len(zone), max_size=len(zone)))
    zone = [at if zone.count(at) >= 5 else 0 for at in zone]
    if zone.count(0) < 5 or len(set(has)) < 2:
        return
    gaps = answer_of(zone, ["hiv" if each else None for each in has])
    named = answer_of(zone, ["hiv" if each else "no value" for each in has])
    assert (gaps.answer, gaps.at_risk) == (named.answer, named.at_risk)


def test_that_a_person_has_a_value_at_all_is_told_where_most_have_none():
    wards = [f"ward {at % 20}" for at in range(600)]
    for odd in (True, False):
        drugs = [
            "xy"[at // 20 % 2] if (odd and at % 20 == 3) or at < 40 else None for at in range(600)
        ]
        table = pa.table({"ward": wards, "drug": drugs})
        found = sf.verify(table, quasi_identifiers=["ward"], sensitive=["drug"])
        assert (found.answer, found.at_risk) == (("no", 30) if odd else ("yes", 0))


def test_that_many_have_a_value_tells_nothing():
    table = pa.table({"ward": ["a", "b"] * 30, "drug": ["x", "y", None, "y", "x", None] * 10})
    found = sf.verify(table, quasi_identifiers=["ward"], sensitive=["drug"])
    assert not any("any value" in reason for reason in found.why)


@pytest.mark.parametrize("said", ["unknown", "k. A.", "N/A", "?", "inconnu", "no contesta"])
def test_that_nothing_was_said_is_no_other_value(said):
    zone = [at for at in range(30) for _ in range(20)]
    ill = ["flu", "cold", "hiv", "asthma", "gout"] * 120
    ill[60:80] = ["hiv"] * 11 + [said] * 9
    found = answer_of(zone, ill)
    assert (found.answer, found.at_risk) == ("no", answer_of(zone, _gaps(ill, said)).at_risk)
    # Neither of the two said more than the other.
    ill[60:80] = ["hiv"] * 6 + [said] * 5 + ["not stated"] * 4 + ["unbekannt"] * 5
    assert answer_of(zone, ill).answer == "no"


@pytest.mark.parametrize("value", ["none", "not applicable", "-"])
def test_none_is_a_value(value):
    zone = [at for at in range(30) for _ in range(20)]
    ill = ["flu", "cold", "hiv", "asthma", "gout"] * 120
    ill[60:80] = ["hiv"] * 9 + [value] * 2 + ["flu", "cold", "gout"] * 3
    assert answer_of(zone, ill).answer == "yes"


def _gaps(values, said):
    return [None if value == said else value for value in values]


def test_nothing_is_hidden_by_what_was_not_said_in_decoupled_tables_either():
    """The tables of groups were judged by their values alone: `unknown` was one like others."""
    zone = [str(at) for at in range(30) for _ in range(20)]
    answers = {}
    for said in ("unknown", None, "none"):
        ill = ["flu", "cold", "hiv", "asthma", "gout"] * 120
        ill[60:80] = ["hiv"] * 9 + [said] * 7 + ["flu", "cold", "gout", "asthma"]
        ill[80:100] = ["hiv"] * 11 + [said] * 9
        made = pa.table({"zone": zone, "ill": ill})
        apart = sf.decouple(made, quasi_identifiers=["zone"], sensitive=["ill"])
        found = sf.verify(apart)
        answers[said] = (found.answer, found.at_risk)
    assert answers["unknown"] == answers[None] == ("no", 20)
    assert answers["none"][0] != "no"


def test_nor_in_buckets():
    """Two of a bucket, of whom one did not say it, show what the other has."""
    ill = [("flu", "cold", "hiv", "asthma", "gout", "unknown", "unknown")[i % 7] for i in range(70)]
    made = pa.table({"zone": [str(i % 5) for i in range(70)], "ill": ill})
    apart = sf.decouple(
        made, sf.decouplings.Anatomy(l=2), quasi_identifiers=["zone"], sensitive=["ill"], seed=1
    )
    buckets = {}
    for row in apart.tables["sensitive_ill"].to_pylist():
        buckets.setdefault(row["bucket"], []).append((row["ill"], row["count"]))
    alone = 0
    for rows in buckets.values():
        if len({value for value, _ in rows} - {"unknown"}) == 1:
            alone += sum(n for _, n in rows)
    found = sf.verify(apart)
    assert (found.answer, found.at_risk, alone > 30) == ("no", alone, True)
