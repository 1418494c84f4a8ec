"""Estimates of a release: from its published rows alone, in the verdict and in the report."""

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.populations import SampleRisk

COLUMNS = {"age": "quasi-identifier", "zip": "quasi-identifier", "ill": "sensitive"}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    n = 400
    return pa.table(
        {
            "age": rng.integers(30, 50, n),
            "zip": rng.geometric(0.3, n),
            "w": rng.choice([20.0, 40.0], n),
            "ill": rng.choice(["flu", "gout"], n),
        }
    )


@pytest.fixture(scope="module")
def release(table):
    policy = {
        "columns": COLUMNS,
        "models": [{"model": "estimated-k-map", "k": 12, "fraction": 0.05}],
        "other": "dropped",
        "suppression": "10%",
    }
    return sf.anonymize(table, policy, seed=1)


def test_what_a_model_promises_is_estimated_from_the_published_rows(release):
    found = sf.verify(release)
    assert found["estimated-k-map"].status == "holds"
    sizes = release.table.group_by(["age", "zip"]).aggregate([([], "count_all")])
    published = sizes["count_all"].to_numpy()
    assert found.sample == SampleRisk.of(published, fraction=0.05)
    assert "which is no promise" in found.details().parts.__repr__()
    assert found.to_dict()["sample"]["fraction"] == 0.05


def test_an_estimate_changes_no_answer(table):
    held = {"quasi_identifiers": ["age", "zip"], "sensitive": ["ill"]}
    with_it = sf.verify(table, {"columns": COLUMNS, "models": [{"model": "k-anonymity", "k": 2}],
                                "other": "dropped", "sampling_fraction": 0.01})  # fmt: skip
    assert with_it.sample.fraction == 0.01
    assert with_it.answer == "no"
    assert sf.verify(table, **held).sample is None


def test_published_weights_are_gone_by(table):
    policy = {
        "columns": {**COLUMNS, "w": "weight"},
        "models": [{"model": "k-anonymity", "k": 3}],
        "suppression": "10%",
    }
    release = sf.anonymize(table, policy, seed=1)
    found = sf.verify(release).sample
    assert found.basis == "w"
    weights = release.table["w"].cast("float64").to_numpy()
    assert found.people == pytest.approx(weights.sum())


def test_the_report_tells_of_the_population_and_of_special_uniques(release, tmp_path):
    text = sf.report(release).to_markdown()
    assert "unique in the population, estimated" in text
    assert "Special uniques: no row is alone" in text
