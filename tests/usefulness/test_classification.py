"""Raw tables that a release leaves possible, and what a classifier learns from them."""

import sys
from collections import Counter
from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.decouplings.base import GroupedTables
from sfumato.errors import MissingExtraError, ParameterError, UnknownColumnError
from sfumato.usefulness import Classification, Estimator
from tests.decouplings.literal import joined
from tests.usefulness.tables import QI, ROWS, SENSITIVE, counts_of


@given(ROWS, st.integers(0, 99))
def test_the_original_leaves_only_itself_possible(rows, seed):
    counts = counts_of(rows)
    cells = Estimator.of_original(counts).possible(np.random.default_rng(seed))
    drawn = [
        tuple(column.values[code] for column, code in zip(counts.columns, row, strict=True))
        for row in cells.T.tolist()
    ]
    assert Counter(drawn) == Counter(rows)


@given(ROWS, st.integers(0, 99))
def test_a_decoupled_table_leaves_possible_what_joining_it_gives(rows, seed):
    counts = counts_of(rows)
    release = Estimator.of_groups(GroupedTables.of(counts, QI, SENSITIVE), counts.columns)
    cells = release.possible(np.random.default_rng(seed))
    expected = joined(rows, len(QI))
    assert cells.shape == (4, len(rows))
    for row in cells.T.tolist():
        values = tuple(c.values[code] for c, code in zip(counts.columns, row, strict=True))
        assert expected[values] > 0


def test_what_is_drawn_is_as_frequent_as_it_should_be():
    rows = [(21, "f", "flu", "low")] * 3000 + [(24, "m", "gout", "high")] * 1000
    counts = counts_of(rows)
    coarse = counts_of([("20-29", *row[1:]) for row in rows])
    release = Estimator.of_groups(
        GroupedTables.of(coarse.project(["age", "ill", "pay"]), ["age"], ["ill", "pay"]),
        [counts.column(name) for name in ("age", "ill", "pay")],
    )
    age, ill, pay = release.possible(np.random.default_rng(1))
    # Binomial, 4000 draws: a standard deviation is below 0.008.
    assert np.mean(age == 0) == pytest.approx(1 / 2, abs=0.04)
    assert np.mean(ill == 0) == pytest.approx(3 / 4, abs=0.04)
    # "high" comes first in order: 1/4 of the rows, whatever the illness is.
    assert np.mean(pay[ill == 0] == 0) == pytest.approx(1 / 4, abs=0.04)


@pytest.fixture
def people():
    rng = np.random.default_rng(2)
    ages = rng.integers(20, 80, 3000)
    old = (ages >= 50) ^ (rng.random(3000) < 0.1)
    sexes, ills = rng.choice(["f", "m"], 3000), np.where(old, "gout", "flu")
    return pa.table({"age": ages, "sex": sexes, "ill": ills})


ROLES = {"quasi_identifiers": ["age", "sex"], "sensitive": ["ill"]}


def with_ages(table, ages):
    return table.set_column(0, "age", pa.array(ages))


def test_less_is_learnt_from_less(people):
    import_module("sklearn")
    ages = people["age"].to_pylist()
    decades = with_ages(people, [f"{a // 10}0-{a // 10}9" for a in ages])
    stars = with_ages(people, ["*"] * len(ages))
    found = sf.utility(
        people,
        {"itself": people.take(np.arange(3000)[::-1]), "decades": decades, "stars": stars},
        classify="ill",
        queries=10,
        **ROLES,
    )
    itself, decade, star = (found[name].accuracy for name in found)
    # One in ten is ill against the rule, whatever is learnt.
    assert itself.before == pytest.approx(0.9, abs=0.03)
    assert itself.after == itself.before
    assert decade.after == pytest.approx(0.9, abs=0.03)
    assert star.after == pytest.approx(star.baseline, abs=0.06)
    assert "told right" in str(found)
    assert "decision tree for ill" in str(found["stars"])
    assert found["stars"].to_dict()["accuracy"]["before"] == itself.before


def test_others_than_those_learnt_from_can_be_asked_about(people):
    import_module("sklearn")
    test = pa.table(
        {"age": ["25", "75", "30"], "sex": ["f", "m", "x"], "ill": ["flu", "gout", "?"]}
    )
    found = sf.utility(people, people, classify=Classification("ill", test), queries=10, **ROLES)
    assert found.accuracy.after == pytest.approx(2 / 3)
    assert found.accuracy.baseline == pytest.approx(1 / 3)


def test_a_missing_library_is_named_with_the_command_that_installs_it(people, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    with pytest.raises(MissingExtraError, match=r'pip install "sfumato\[ml\]"'):
        sf.utility(people, people, classify="ill", queries=10, **ROLES)


def test_what_makes_no_sense_is_refused(people):
    with pytest.raises(UnknownColumnError, match="Did you mean 'ill'"):
        sf.utility(people, people, classify="il", queries=10, **ROLES)
    with pytest.raises(ParameterError, match="leaf"):
        Classification("ill", leaf=0)
    with pytest.raises(ParameterError, match="target"):
        Classification("")
    counts = counts_of([("flu",), ("gout",)], ["ill"])
    with pytest.raises(ParameterError, match="one of at least two columns"):
        Classification("ill").accuracy(
            Estimator.of_table(counts, counts.columns), counts, rng=np.random.default_rng(1)
        )
