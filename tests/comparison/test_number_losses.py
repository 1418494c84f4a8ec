"""Policies compared by what they cost an analyst who computes with numbers."""

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.comparison.live import LiveTable
from sfumato.errors import UnknownNameError
from sfumato.usefulness.numbers import NUMBER_LOSSES

AGE = {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [5, 20, 80]}}


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(7)
    age = rng.integers(18, 90, 800)
    pay = np.round(1000 + 30 * age + rng.normal(0, 300, 800), -1)
    return pa.table(
        {"age": age, "pay": pay, "ill": rng.choice(["flu", "gout", "hiv", "cold"], 800)}
    )


def policy(**more):
    columns = {"age": AGE, "pay": "sensitive", "ill": "sensitive"}
    return sf.Policy(columns=columns, models=[{"model": "k-anonymity", "k": 3}], **more)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("loss", [*NUMBER_LOSSES, "distinguishability"])
def test_each_is_an_axis_and_is_what_utility_says_of_the_release(people, loss):
    found = sf.compare(people, policy(), vary={"k": [3, 60]}, loss=loss)
    assert found.loss == loss
    assert found.front
    assert loss.replace("-", " ") in str(found)
    assert "<svg" in found.svg()
    for point in found.points:
        release = sf.anonymize(people, point.policy)
        again = sf.utility(people, release, policy=point.policy, queries=1).number_losses
        if loss == "distinguishability":
            # Which rows could be behind the release is drawn in another order.
            assert point.losses[loss] == pytest.approx(again[loss], abs=0.03)
        else:
            assert point.losses[loss] == pytest.approx(again[loss], abs=1e-9)
    assert found["k=3"].losses[loss] < found["k=60"].losses[loss]


def test_those_that_are_measured_together_can_be_changed_for_each_other(people):
    found = sf.compare(people, policy(), vary={"k": [3, 60]}, loss="mean-error")
    assert found.by(loss="regression-error").loss == "regression-error"
    with pytest.raises(UnknownNameError, match="distinguishability"):
        found.by(loss="distinguishability")
    with pytest.raises(UnknownNameError, match="Did you mean 'regression-error'"):
        sf.compare(people, policy(), loss="regresion-error")


def test_what_cannot_be_measured_has_no_place(people):
    only = people.select(["ill"]).append_column("sex", pa.array(["f", "m"] * 400))
    columns = {"sex": "quasi-identifier", "ill": "sensitive"}
    plain = sf.Policy(columns=columns, models=[{"model": "k-anonymity", "k": 3}])
    found = sf.compare(only, plain, loss="mean-error")
    assert not found.placed
    assert "is not on the drawing: it has no error of means" in str(found)


@pytest.mark.usefixtures("patience")
def test_decoupled_tables_are_measured_as_they_are_published(people):
    broken = policy(decouple="break-merge")
    found = sf.compare(people, broken, vary={"decouple": ["break-merge", "none"]},
                       loss="pearson-error")  # fmt: skip
    apart, whole = found.points
    assert apart.losses["mean-error"] == pytest.approx(whole.losses["mean-error"], abs=1e-6)
    sliced = policy(decouple={"method": "slicing", "l": 2})
    [point] = sf.compare(people, sliced, loss="pearson-error")
    assert point.losses["mean-error"] == 0


@pytest.mark.usefixtures("patience")
def test_plain_columns_that_are_perturbed_are_measured(people):
    def with_noise(sd):
        rule = {"role": "plain", "because": "drawn for a test",
                "perturb": [{"kind": "noise", "sd": sd}]}  # fmt: skip
        return policy().replace(columns={**policy().columns, "pay": rule})

    policies = {"little": with_noise("5%"), "much": with_noise("100%")}
    found = sf.compare(people, policies, loss="variance-error", risk="prosecutor")
    little, much = (point.losses for point in found.points)
    for name in ("variance-error", "pearson-error", "regression-error"):
        assert little[name] < much[name], name


def test_the_workbench_explores_by_them(people):
    live = LiveTable.open(people, policy())
    found = live.explore(policy(), vary={"k": [3, 60]}, loss="regression-error")
    assert found.loss == "regression-error"
    assert all("regression-error" in point.losses for point in found.points)
