"""One count with noise: people are counted as by hand, and the noise is what it says."""

import math

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError, MissingExtraError, ParameterError
from sfumato.synthesis.noise import noise_of_sum
from sfumato.tasks import noisy_count as task
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


@pytest.mark.usefixtures("exact")
def test_an_estimate_of_the_table_itself_is_such_a_count(tmp_path, monkeypatch):
    account = tmp_path / "clinic.account"
    sf.tools.account(account, epsilon=0.5)
    settings = {"policy": POLICY, "account": account}
    found = sf.estimate(people(50), {"ill": "flu"}, noise={"epsilon": 0.2}, **settings)
    assert found.count == people(50)["ill"].to_pylist().count("flu")
    assert sf.tools.account(account).spent == pytest.approx(0.2)
    published = sf.anonymize(people(50).select(["sex"]), quasi_identifiers=["sex"], k=2)
    for data, noise in (
        (published, {"epsilon": 0.1}),
        (people(50), {"epsilon": 0.1, "delta": 1e-9}),
    ):
        with pytest.raises(ParameterError):
            sf.estimate(data, {"ill": "flu"}, noise=noise, **settings)
    with pytest.raises(ParameterError, match="left out without noise"):
        sf.estimate(published, {"sex": "f"}, account=account)
    assert sf.tools.account(account).spent == pytest.approx(0.2)


@pytest.mark.usefixtures("exact")
def test_the_command_counts_with_noise(tmp_path):
    from typer.testing import CliRunner

    from sfumato.cli.app import app

    path = tmp_path / "people.csv"
    path.write_text("ill,n\n" + "flu,1\n" * 30 + "gout,1\n" * 12, encoding="utf-8")
    asked = ["estimate", str(path), "--where", "ill=flu"]
    result = CliRunner().invoke(app, [*asked, "--epsilon", "0.5"])
    assert result.exit_code == 0, result.output
    assert "about 30 rows have ill=flu, 24 to 36 with 95 % confidence" in result.output
    for wrong in (["--epsilon", "0"], ["--account", "none"], ["--epsilon", "1", "--data", "x"]):
        assert CliRunner().invoke(app, [*asked, *wrong]).exit_code == 2


def test_without_the_extra_the_command_that_installs_it_is_told(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r'pip install "sfumato\[synthetic\]"'):
        sf.tools.noisy_count(people(9), {"ill": "flu"}, epsilon=1)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 3])
def test_the_distance_is_the_smallest_that_holds(epsilon):
    ratio = math.exp(-epsilon)

    def inside(far):
        return sum((1 - ratio) / (1 + ratio) * ratio ** abs(k) for k in range(-far, far + 1))

    found = noise_of_sum(1 / epsilon, 1, 0.95, pure=True)
    assert inside(found) >= 0.95 - 1e-9
    assert found == 0 or inside(found - 1) < 0.95


@pytest.mark.usefixtures("synthetic", "patience")
def test_canaries_tell_no_more_than_is_promised_and_a_tenth_of_the_noise_does():
    from tests.synthesis.test_mechanisms import lower_bound

    draw = task.with_noise(task.libraries(), 1.0)
    noise = np.array([draw(0) for _ in range(20_000)])
    assert lower_bound(noise, 1) <= 1.0
    assert lower_bound(noise / 10, 1) > 1.0
    assert np.mean(np.abs(noise) <= noise_of_sum(1.0, 1, 0.95, pure=True)) >= 0.94
