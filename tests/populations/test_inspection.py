"""Estimates of a sample in `inspect`: from a fraction, from weights, and where there are none."""

import json

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import ParameterError, PolicyError
from sfumato.populations import ESTIMATORS, SampleRisk


@pytest.fixture
def table():
    rng = np.random.default_rng(1)
    n = 600
    return pa.table(
        {
            "age": rng.integers(18, 80, n),
            "zip": rng.integers(0, 12, n),
            "w": np.full(n, 25.0),
            "ill": rng.choice(["flu", "gout"], n),
        }
    )


def test_a_fraction_gives_every_estimate(table):
    found = sf.inspect(table, quasi_identifiers=["age", "zip"], fraction=0.04)
    assert [each.estimator for each in found.sample.uniqueness] == list(ESTIMATORS)
    assert found.sample.people == 15_000
    assert found.sample.unique_in_sample == found.risk.unique
    text = str(found)
    assert "which is no promise" in text
    assert "zayatz" in text
    assert json.dumps(found.to_dict())


def test_equal_weights_say_what_their_fraction_says(table):
    by_weight = sf.inspect(table, quasi_identifiers=["age", "zip"], weight="w").sample
    by_fraction = sf.inspect(table, quasi_identifiers=["age", "zip"], fraction=1 / 25).sample
    assert by_weight.basis == "w"
    assert by_weight.fraction == pytest.approx(by_fraction.fraction)
    assert by_weight.expected == pytest.approx(by_fraction.expected)
    assert by_weight.unique_match == pytest.approx(by_fraction.unique_match)


def test_the_policy_says_the_fraction(table):
    policy = {
        "columns": {"age": "quasi-identifier", "zip": "quasi-identifier", "ill": "sensitive"},
        "models": [{"model": "k-anonymity", "k": 2}],
        "other": "dropped",
        "sampling_fraction": 0.5,
    }
    assert sf.inspect(table, policy=policy).sample.fraction == 0.5
    written = sf.Policy(**policy).to_yaml()
    assert sf.Policy.from_yaml(written).sampling_fraction == 0.5


@pytest.mark.parametrize("fraction", [0, 1.2, -1])
def test_what_is_no_fraction_is_refused(table, fraction):
    with pytest.raises(ParameterError, match="fraction"):
        sf.inspect(table, quasi_identifiers=["age"], fraction=fraction)
    with pytest.raises(PolicyError, match="sampling_fraction"):
        sf.Policy(
            columns={"age": "quasi-identifier"},
            models=[{"model": "k-anonymity", "k": 2}],
            sampling_fraction=fraction,
        )


def test_nothing_is_estimated_of_people_with_several_rows(table):
    table = table.append_column("who", [np.arange(600) // 2])
    found = sf.inspect(table, quasi_identifiers=["age"], fraction=0.1, person="who")
    assert found.sample is None
    assert "Not estimated" in str(found)


def test_without_fraction_and_weights_nothing_is_estimated(table):
    found = sf.inspect(table, quasi_identifiers=["age", "zip"])
    assert found.sample is None
    assert not found.not_estimated


def test_an_estimate_without_an_answer_is_no_zero():
    """Every row is alone: Pitman's model has no answer, and that is what is said."""
    found = SampleRisk.of(np.ones(50, dtype=int), fraction=0.01)
    pitman = {each.estimator: each for each in found.uniqueness}["pitman"]
    assert pitman.share is None
    assert "no answer" in next(row for row in found.table().rows if row[0] == "pitman")


def test_no_rows_have_no_risk():
    assert SampleRisk.of(np.array([], dtype=int), fraction=0.1) is None


def test_a_model_and_the_policy_say_the_same_fraction(table):
    policy = {
        "columns": {"age": "quasi-identifier", "zip": "quasi-identifier", "ill": "sensitive"},
        "models": [{"model": "estimated-k-map", "k": 5, "fraction": 0.04}],
        "other": "dropped",
    }
    assert sf.inspect(table, policy=policy).sample.fraction == 0.04
    with pytest.raises(PolicyError, match=r"0\.04 of the population"):
        sf.Policy(**policy, sampling_fraction=0.5)
