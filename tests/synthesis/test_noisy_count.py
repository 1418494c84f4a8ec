"""One count with noise: people are counted as by hand, and the noise is what it says."""

import math

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError, MissingExtraError, ParameterError
from sfumato.tasks import noisy_count as task
from sfumato.tasks.noisy_count import noise_within
from tests.synthesis.stubs import POLICY, people


@pytest.fixture
def exact(monkeypatch):
    """Leave the noise out, and OpenDP with it."""
    monkeypatch.setattr(task, "require_extra", lambda: None)
    monkeypatch.setattr(task, "libraries", lambda: None)
    monkeypatch.setattr(task, "with_noise", lambda _lib, _epsilon: lambda count: count)


@pytest.mark.usefixtures("exact")
def test_people_are_counted_once_however_many_rows_they_have():
    table = pa.concat_tables([people(60), people(60), people(30, seed=2)])
    found = sf.tools.noisy_count(
        table, {"ill": ["FLU", "gout"], "age": (30, 59)}, epsilon=0.5, policy=POLICY
    )
    slow = {
        row["id"]
        for row in table.to_pylist()
        if row["ill"] in ("flu", "gout") and 30 <= row["age"] <= 59
    }
    assert found.count == len(slow)
    assert found.unit == "person"
    rows = sf.tools.noisy_count(table, {"ill": "flu"}, epsilon=0.5)
    assert rows.count == table["ill"].to_pylist().count("flu")


@pytest.mark.usefixtures("exact")
def test_counts_and_synthetic_rows_share_an_account(without_noise, tmp_path):
    account = tmp_path / "clinic.account"
    sf.tools.account(account, epsilon=0.5)
    settings = {"policy": POLICY, "account": account}
    sf.tools.noisy_count(people(50), {"ill": "flu"}, epsilon=0.2, **settings)
    sf.synthesize(people(), POLICY, epsilon=0.2, account=account)
    with pytest.raises(InputError, match=r"its account allows 0\.5"):
        sf.tools.noisy_count(people(50), {"ill": "flu"}, epsilon=0.2, **settings)
    assert sf.tools.account(account).spent == pytest.approx(0.4)
    for wrong in ({}, "ill=flu"):
        with pytest.raises(ParameterError, match="at least one condition"):
            sf.tools.noisy_count(people(50), wrong, epsilon=0.1)
    with pytest.raises(ParameterError, match="epsilon"):
        sf.tools.noisy_count(people(50), {"ill": "flu"}, epsilon=0, account=account)


def test_without_the_extra_the_command_that_installs_it_is_told(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r'pip install "sfumato\[synthetic\]"'):
        sf.tools.noisy_count(people(9), {"ill": "flu"}, epsilon=1)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 3])
def test_the_distance_is_the_smallest_that_holds(epsilon):
    ratio = math.exp(-epsilon)

    def inside(far):
        return sum((1 - ratio) / (1 + ratio) * ratio ** abs(k) for k in range(-far, far + 1))

    found = noise_within(epsilon, 0.95)
    assert inside(found) >= 0.95 - 1e-9
    assert found == 0 or inside(found - 1) < 0.95


@pytest.mark.usefixtures("synthetic", "patience")
def test_canaries_tell_no_more_than_is_promised_and_a_tenth_of_the_noise_does():
    from tests.synthesis.test_mechanisms import lower_bound

    draw = task.with_noise(task.libraries(), 1.0)
    noise = np.array([draw(0) for _ in range(20_000)])
    assert lower_bound(noise, 1) <= 1.0
    assert lower_bound(noise / 10, 1) > 1.0
    assert np.mean(np.abs(noise) <= noise_within(1.0, 0.95)) >= 0.94
