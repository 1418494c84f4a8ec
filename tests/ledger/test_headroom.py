"""As many rows as headroom says are admitted, and not one more."""

import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError, UnknownColumnError
from tests.ledger.releases import START, grouped_of, table_of

ILLS, PAYS = ["flu", "gout", "hiv", "cold", "measles"], ["low", "high"]


@given(
    st.lists(st.tuples(st.sampled_from(ILLS), st.sampled_from(PAYS)), min_size=2, max_size=10),
    st.sampled_from(ILLS),
    st.sampled_from(PAYS),
    st.sampled_from([0.4, 0.5, 0.6, 0.75, 0.8]),
)
@settings(max_examples=40)
def test_so_many_are_admitted_and_not_one_more(tmp_path_factory, rows, ill, pay, alpha):
    path = tmp_path_factory.mktemp("h") / "x.ledger"
    sf.Ledger.start(grouped_of([("20s", *row) for row in rows]), path, alpha=alpha, k=2)
    found = sf.Ledger(path).headroom([{"ill": ill, "pay": pay}])
    [room] = [room for room in found.rooms if room.values == (ill, pay)]
    offered = 40 if room.permitted is None else room.permitted + 1
    admitted = 0
    for _ in range(min(offered, 12)):
        done = sf.Ledger(path).publish(table_of([("20s", ill, pay)]), hold=False, again=True)
        admitted += done.admitted
    if room.permitted is None:
        assert admitted == 12
    else:
        assert admitted == min(room.permitted, 12)


def test_the_likeliest_combination_of_each_group_and_those_asked_for(tmp_path):
    path = tmp_path / "x.ledger"
    rows = [*START, ("20s", "flu", "low")]
    sf.Ledger.start(grouped_of(rows), path, alpha=0.7, k=2)
    found = sf.Ledger(path).headroom([{"ill": "hiv"}], group={"age": "20s"})
    assert found.groups == 2
    assert [(room.values, room.which) for room in found.rooms] == [
        (("flu", "low"), "most frequent"),
        (("hiv", "low"), "asked"),
    ]
    assert found.rooms[0].breach == Fraction(3, 5)
    assert found.rooms[0].before is None
    assert sf.Ledger(path).headroom(most=1).rooms[0].group == ("20s",)


def test_the_increment_ratio_is_exact(tmp_path):
    # The printed example: 2/5 · 4/5 becomes 12/15 · 9/15, an increase of one half.
    government = ["State"] * 2 + ["Federal", "Private", "Local"]
    marital = ["Never"] * 2 + ["Married", "Divorced", "Separated"]
    salary = ["low"] * 4 + ["high"]
    start = [("g", *row) for row in zip(government, marital, salary, strict=True)]
    names = ("age",), ("government", "marital", "salary")
    path = tmp_path / "x.ledger"
    sf.Ledger.start(grouped_of(start, *names), path, alpha=0.7, k=5)
    new = [("g", "State", "Never", "low")] * 5 + [("g", "State", "Never", "high")] * 5
    table = table_of(new, ("age", "government", "marital", "salary"))
    assert sf.Ledger(path).publish(table, hold=False).admitted == 10
    asked = {"government": "Local", "marital": "Never", "salary": "low"}
    found = sf.Ledger(path).headroom([asked])
    by_values = {room.values: room for room in found.rooms}
    room = by_values["Local", "Never", "low"]
    assert (room.before, room.breach) == (Fraction(8, 25), Fraction(12, 25))
    assert room.ratio == 0.5
    likeliest = by_values["State", "Never", "low"]
    assert (likeliest.before, likeliest.breach) == (Fraction(8, 25), Fraction(16, 25))


def test_rows_that_wait_are_looked_at_too(tmp_path):
    path = tmp_path / "x.ledger"
    sf.Ledger.start(grouped_of(START * 5), path, alpha=0.6, k=5)
    sf.Ledger(path).publish(table_of([("20s", "hiv", "low")]))
    assert "waiting" in {room.which for room in sf.Ledger(path).headroom().rooms}


def test_a_headroom_is_plain_readable_and_drawn(tmp_path):
    path = tmp_path / "x.ledger"
    sf.Ledger.start(grouped_of(START), path, alpha=1, k=2)
    found = sf.Ledger(path).headroom()
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
    assert found.rooms[0].permitted is None
    assert "any number" in str(found)
    assert found.svg().startswith("<svg")


def test_mistakes(tmp_path):
    path = tmp_path / "x.ledger"
    sf.Ledger.start(grouped_of(START), path, alpha=0.5, k=2)
    with pytest.raises(UnknownColumnError, match="no column 'il'"):
        sf.Ledger(path).headroom([{"il": "flu"}])
    with pytest.raises(UnknownColumnError, match="no column 'ill'"):
        sf.Ledger(path).headroom(group={"ill": "flu"})
    with pytest.raises(InputError, match="no group with"):
        sf.Ledger(path).headroom(group={"age": "90s"})
