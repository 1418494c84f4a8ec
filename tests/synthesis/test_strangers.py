"""Attacks on people in the data and on strangers: what is gained is seen, and nothing else is."""

import math

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError, ParameterError
from sfumato.synthesis.strangers import Advantage, Strangers, attribute, copies, membership
from sfumato.tasks import synthesize as task
from tests.synthesis.stubs import POLICY, fit_nothing, people


def cells(n, seed, sizes=(6, 5, 7, 4, 5)):
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, size, n) for size in sizes])


def slowly(release, people_, at, known):
    """Guess the most frequent value among rows with the same known cells, row by row."""
    right = 0
    for person in people_.T:
        like = [row for row in release.T if all(row[k] == person[k] for k in known)] or release.T
        values = [row[at] for row in like]
        right += max(sorted({*values}), key=values.count) == person[at]
    return right / people_.shape[1]


def test_guesses_are_those_of_the_definition():
    release, inside, outside = cells(60, 1), cells(30, 2), cells(30, 3)
    found = attribute("x", 3, (0, 1), (release, inside, outside))
    assert found.inside == pytest.approx(slowly(release, inside, 3, (0, 1)))
    assert found.strangers == pytest.approx(slowly(release, outside, 3, (0, 1)))


def test_copies_are_counted_as_by_hand():
    release, inside, outside = cells(300, 1, (2, 3, 4)), cells(50, 2, (2, 3, 4)), cells(40, 3)[:3]
    rows = {tuple(row) for row in release.T}
    found = copies(release, inside, outside)
    assert found.inside == np.mean([tuple(row) in rows for row in inside.T])
    assert found.strangers == np.mean([tuple(row) in rows for row in outside.T])


@pytest.mark.parametrize("seed", range(5))
def test_rows_that_are_peoples_are_caught_and_rows_of_others_are_not(seed):
    """Publishing the data itself breaks any small promise; other people's rows break none."""
    inside, outside, others = cells(800, seed), cells(800, seed + 50), cells(800, seed + 90)
    for release, caught in ((inside, True), (others, False)):
        rng = np.random.default_rng(seed)
        found = Strangers(
            (
                copies(release, inside, outside),
                membership(release, inside, outside, rng),
                attribute("x", 4, (0, 1, 2, 3), (release, inside, outside)),
            ),
            epsilon=0.2,
            delta=0.0,
        )
        assert found.holds is not caught
        assert all(each.breaks(found.allowed) is caught for each in found.attacks)


def test_what_is_allowed_is_what_randomised_response_reaches():
    """It tells the truth with e^ε / (1 + e^ε): hits less false alarms are all that is allowed."""
    epsilon = 0.8
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    assert Strangers((), epsilon, 0.0).allowed == pytest.approx(truth - (1 - truth))


def test_the_interval_covers_what_it_says():
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(400):
        found = Advantage("x", rng.binomial(200, 0.3) / 200, rng.binomial(150, 0.2) / 150, 200, 150)
        covered += found.interval[0] <= 0.1 <= found.interval[1]
    assert covered >= 0.92 * 400


@pytest.mark.usefixtures("patience")
def test_a_release_is_held_against_both_sides(without_noise, monkeypatch, tmp_path):
    table = people(600)
    made = sf.synthesize(table, POLICY, epsilon=0.3, output=tmp_path / "made")
    found = sf.tools.strangers(table, made.folder, people(500, seed=9))
    assert found.holds
    assert [each.attack for each in found.attacks] == [
        "copies of rows",
        "membership",
        "ill, by what others know",
    ]
    assert "lets no attack gain more than 14.9 %" in str(found)
    with pytest.raises(InputError, match="Keep back more people"):
        sf.tools.strangers(table, made, people(5))
    with pytest.raises(ParameterError, match="synthetic rows"):
        sf.tools.strangers(table, table, table)


@pytest.mark.usefixtures("patience")
def test_a_mechanism_that_repeats_its_rows_is_caught(without_noise, monkeypatch):
    def repeat(counts, budget, **settings):
        model = fit_nothing(counts, budget, **settings)
        kept = np.repeat(counts.cells, counts.rows, axis=1)
        type(model).draw = lambda _self, rows: kept[:, :rows]
        return model

    monkeypatch.setattr(task, "fit", repeat)
    columns = {
        **POLICY["columns"],
        "day": {"role": "quasi-identifier", "domain": {"from": 1, "to": 366, "width": 1}},
    }

    def born(n, seed):
        days = np.random.default_rng(seed).integers(1, 367, n)
        return people(n, seed=seed).append_column("day", pa.array(days))

    policy = {**POLICY, "columns": columns}
    made = sf.synthesize(born(600, 1), policy, epsilon=0.3)
    assert not sf.tools.strangers(born(600, 1), made, born(600, 2)).holds
