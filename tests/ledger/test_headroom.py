"""Headroom: what each group tells, and how many rows may join with those that wait."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError, UnknownColumnError
from sfumato.ledger.admission import SeenTogether, count_of_next
from tests.ledger.releases import START, grouped_of, table_of

ILLS, PAYS = ["flu", "gout", "hiv", "cold", "measles"], ["low", "high"]


WAITING = st.lists(st.tuples(st.sampled_from(ILLS), st.sampled_from(PAYS)), max_size=8)


@given(WAITING, st.sampled_from(ILLS), st.sampled_from(PAYS), st.sampled_from([0.4, 0.5, 0.75]))
@settings(max_examples=25)
def test_so_many_join_with_those_who_wait_and_not_one_more(
    tmp_path_factory, waiting, ill, pay, alpha
):
    """The limit k is so large that all who come wait."""
    path = tmp_path_factory.mktemp("h") / "x.ledger"
    rows = [("20s", f"ill {i % 4}", f"pay {i % 4}") for i in range(8)]
    sf.Ledger.start(grouped_of(rows), path, alpha=alpha, k=100)
    if waiting:
        sf.Ledger(path).publish(table_of([("20s", *row) for row in waiting]))
    found = sf.Ledger(path).headroom([{"ill": ill, "pay": pay}])
    [room] = [room for room in found.rooms if room.values == (ill, pay)]
    assert room.waiting == len(waiting)
    fits = [n for n in range(40) if _share(waiting, (ill, pay), n) <= Fraction(str(alpha))]
    assert room.permitted == max(fits, default=0)


def _share(waiting, row, n):
    """The larger share of two values, if n rows with both join those who wait."""
    together = [*waiting, *[row] * n]
    most = max(sum(each[i] == row[i] for each in together) for i in (0, 1))
    return Fraction(most, max(len(together), 1))


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
    # The largest share of one of the values, whoever knows the other.
    assert found.rooms[0].breach == Fraction(3, 5)
    assert (found.rooms[0].size, found.rooms[0].cells) == (5, 1)
    assert sf.Ledger(path).headroom(most=1).rooms[0].group == ("20s",)


@given(WAITING, st.sampled_from(ILLS), st.integers(1, 9), st.sampled_from([0.4, 0.5, 0.75, 1]))
def test_so_many_of_the_next_may_have_a_value(waiting, ill, fewest, alpha):
    """Counted by trying, with others who have values of their own."""
    code = {name: i for i, name in enumerate(dict.fromkeys(row[0] for row in waiting), start=1)}
    counts = np.bincount([code[row[0]] for row in waiting], minlength=len(code) + 1)
    part, limit = SeenTogether(len(waiting), (counts,)), Fraction(str(alpha))
    more, mine = max(fewest - len(waiting), 1), sum(row[0] == ill for row in waiting)
    fits = [n for n in range(more + 1) if mine + n <= limit * (len(waiting) + more)]
    found = count_of_next(part, [code.get(ill, -1)], limit, fewest)
    assert found == max(fits, default=0)


def test_the_increment_ratio_is_that_of_the_source(tmp_path):
    path = tmp_path / "x.ledger"
    sf.Ledger.start(grouped_of([*START, ("20s", "flu", "low")]), path, alpha=0.7, k=2)
    [room, none] = sf.Ledger(path).headroom([{"ill": "measles"}], group={"age": "20s"}).rooms
    # Of five in their twenties two have flu and three a low pay; one more makes it 3 and 4 of 6.
    before, after = Fraction(2, 5) * Fraction(3, 5), Fraction(3, 6) * Fraction(4, 6)
    assert (room.ratio, none.ratio) == (sf.leaks.increment_ratio(before, after), None)
    assert (room.of_next, none.of_next) == (1, 1)
    assert sf.Ledger(path).headroom().to_dict()["rooms"][0]["increment_ratio"] == float(room.ratio)


def test_of_several_cells_the_one_that_tells_most_is_told(tmp_path):
    path = tmp_path / "x.ledger"
    sf.Ledger.start(grouped_of(START), path, alpha=0.7, k=2)
    new = [("20s", "flu", "low"), ("20s", "flu", "high"), ("20s", "gout", "low")]
    assert sf.Ledger(path).publish(table_of(new)).admitted == 3
    [room] = sf.Ledger(path).headroom(group={"age": "20s"}).rooms
    assert (room.size, room.cells, room.breach) == (7, 2, Fraction(2, 3))


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
