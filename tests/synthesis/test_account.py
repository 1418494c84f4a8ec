"""Accounts: budgets add up, and what is beyond the limit is refused before it is spent."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError, OutputError
from sfumato.synthesis.account import (
    PrivacyAccount,
    epsilon_together,
    read_account,
    spend,
    write_account,
)
from sfumato.synthesis.budget import PrivacyBudget
from sfumato.tasks import synthesize as task
from sfumato.verifier.synthetic import epsilon_at
from tests.synthesis.stubs import POLICY, people


@given(st.lists(st.floats(0.01, 2), min_size=1, max_size=20))
def test_pure_releases_add_up_to_the_sum_of_epsilon(spent):
    account = PrivacyAccount(100.0, 0.0)
    for each in spent:
        account = account.with_spent(PrivacyBudget.of(epsilon=each), "x")
    assert account.spent == pytest.approx(sum(spent))


@pytest.fixture
def account(tmp_path):
    path = tmp_path / "clinic.account"
    sf.tools.account(path, epsilon=1)
    return path


def test_releases_are_kept_and_the_limit_holds(without_noise, account, tmp_path):
    for spent in (0.4, 0.6):
        sf.synthesize(people(50), POLICY, epsilon=spent, account=account)
    found = sf.tools.account(account)
    assert found.spent == pytest.approx(1.0)
    assert "each person" in str(found)
    before = account.read_bytes()
    with pytest.raises(InputError, match="its account allows 1"):
        sf.synthesize(people(50), POLICY, epsilon=0.1, account=account, output=tmp_path / "made")
    assert account.read_bytes() == before
    assert not (tmp_path / "made").exists()
    assert account.stat().st_mode & 0o077 == 0


def test_what_is_refused_before_noise_spends_nothing_and_what_fails_later_does(
    without_noise, monkeypatch, account
):
    narrow = {**POLICY["columns"], "ill": {"role": "sensitive", "domain": ["flu"]}}
    with pytest.raises(sf.SfumatoError):
        sf.synthesize(people(50), {**POLICY, "columns": narrow}, epsilon=0.4, account=account)
    assert sf.tools.account(account).spent == 0

    def fail(*_, **__):
        raise InputError("the power is gone")

    monkeypatch.setattr(task, "fit", fail)
    with pytest.raises(InputError, match="power"):
        sf.synthesize(people(50), POLICY, epsilon=0.4, account=account)
    assert sf.tools.account(account).spent == pytest.approx(0.4)


def test_an_account_is_never_replaced_and_one_that_is_there_is_needed(account, tmp_path):
    with pytest.raises(OutputError, match="never replaced"):
        sf.tools.account(account, epsilon=9)
    with pytest.raises(InputError, match="Open one"):
        sf.tools.account(tmp_path / "other")
    with pytest.raises(InputError, match="has a delta"):
        read_account(account).with_spent(PrivacyBudget(0.1, 1e-9, 0.001), "x")
    used = read_account(account).with_spent(PrivacyBudget(0.1), "x", unit="person")
    with pytest.raises(InputError, match="do not add up"):
        used.with_spent(PrivacyBudget(0.1), "x", unit="row")


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.pop("limit"),
        lambda m: m["limit"].update(epsilon=-1),
        lambda m: m["releases"].clear(),
        lambda m: m["releases"][0].update(epsilon=0.1),
        lambda m: m["releases"][0].update(epsilon="nan"),
        lambda m: m["releases"][0].pop("unit"),
        lambda m: m.update(format=7),
        lambda m: m.update(releases=3),
        lambda m: m.update(spent="half"),
        lambda m: m.pop("spent"),
        lambda m: m["releases"][0].update(epsilon="much"),
        lambda m: m["releases"][0].update(delta=0.5),
        lambda m: m["releases"][0].update(contributions=1e999),
    ],
)
def test_a_damaged_account_is_refused(account, change):
    write_account(account, read_account(account).with_spent(PrivacyBudget(0.5), "x"))
    plain = json.loads(account.read_text(encoding="utf-8"))
    change(plain)
    account.write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(InputError):
        read_account(account)
    for text in ("{", "[" * 100_000):
        account.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match="not JSON"):
            read_account(account)


def test_two_releases_at_once_do_not_spend_the_same_budget(account):
    account.with_name("clinic.account.lock").touch()
    with pytest.raises(InputError, match="in use"):
        spend(account, PrivacyBudget(0.1), "x", unit="row", contributions=1)
    assert read_account(account).spent == 0


def test_a_link_to_an_account_is_the_same_account(account, tmp_path):
    link = tmp_path / "link.account"
    link.symlink_to(account)
    spend(link, PrivacyBudget(0.6), "x", unit="row", contributions=1)
    assert link.is_symlink()
    with pytest.raises(InputError, match="allows 1"):
        spend(account, PrivacyBudget(0.6), "x", unit="row", contributions=1)
    with pytest.raises(OutputError, match="never replaced"):
        sf.tools.account(link, epsilon=9)


@pytest.mark.usefixtures("synthetic", "patience")
def test_twenty_releases_compose_as_their_rho_does():
    """Sums of rho at delta, by OpenDP and by the verifier's own formula; never more than sums."""
    rng = np.random.default_rng(1)
    account, rho = PrivacyAccount(100.0, 1e-6), 0.0
    for _ in range(20):
        each = PrivacyBudget.of(rho=float(rng.uniform(0.001, 0.05)), delta=1e-9)
        account = account.with_spent(each, "x")
        rho += each.rho
    assert account.spent == pytest.approx(epsilon_at(rho, 1e-6), rel=1e-9)
    assert account.spent < sum(each.epsilon for each in account.spendings)
    mixed = account.with_spent(PrivacyBudget(0.3), "x")
    assert mixed.spent == pytest.approx(epsilon_at(rho + 0.3**2 / 2, 1e-6), rel=1e-9)
    # Where delta of the account is too small for sums, only rho counts.
    assert epsilon_together((PrivacyBudget(0.5, 1e-3, 0.01),), 1e-6) > 0.1
    assert not math.isinf(mixed.spent)
