"""The state of the whole: an estimate first where figures take long, and never one of the past."""

from threading import Event

import pytest

import sfumato as sf
from sfumato.app.desk import Desk, TableSource
from sfumato.app.status import status_of
from sfumato.attacks.adversary.trial import Trial

TEXT = "columns:\n  age: quasi-identifier\nother: dropped\nmodels:\n- {model: k-anonymity, k: %d}\n"


@pytest.fixture
def desk(tmp_path):
    import pyarrow.csv

    path = tmp_path / "people.csv"
    pyarrow.csv.write_csv(sf.samples.synthetic(60, seed=1), path)
    found = Desk(tmp_path)
    found.open_source(TableSource(str(path), path.name))
    found.start_anew()
    found.change(TEXT % 3, "promises", "k")
    assert found.start_reading().wait(60)
    yield found
    found.end()


class SlowTable:
    """A table whose exact figures come when they are let, and estimates at once."""

    def __init__(self):
        self.let, self.policies = Event(), []

    def look(self, policy, *, quick=False, progress):
        self.policies.append(policy)
        if quick:
            return Trial(policy, rows=9, losses={policy.loss.name: 0.5}, sample=3)
        while not self.let.wait(0.01):
            progress("search", 1, None)
        return Trial(policy, rows=9, losses={policy.loss.name: policy.models[0].k / 100})


def test_the_figures_are_those_of_the_policy(desk):
    found = status_of(desk, wait=True)
    assert found.state == "ready"
    assert found.trial.smallest >= 3
    assert found.answer == ""


def test_an_estimate_comes_first_and_the_figures_take_its_place(desk, monkeypatch):
    slow = SlowTable()
    monkeypatch.setattr(Desk, "require_live", lambda _: slow)
    first = status_of(desk, wait=True)
    assert (first.state, first.trial.loss, first.old) == ("looking", 0.5, False)
    assert first.trial.estimate
    slow.let.set()
    then = status_of(desk, wait=True)
    assert (then.state, then.trial.loss) == ("ready", 0.03)
    assert not then.trial.estimate


def test_figures_of_the_policy_before_are_called_old(desk, monkeypatch):
    slow = SlowTable()
    monkeypatch.setattr(Desk, "require_live", lambda _: slow)
    slow.let.set()
    status_of(desk, wait=True)
    desk.change(TEXT % 4, "promises", "k")
    found = status_of(desk)
    assert (found.state, found.trial.loss, found.old) == ("looking", 0.03, True)
    found = status_of(desk, wait=True)
    assert (found.state, found.trial.loss) == ("ready", 0.04)


def test_a_newer_wish_stops_the_older(desk, monkeypatch):
    slow = SlowTable()
    monkeypatch.setattr(Desk, "require_live", lambda _: slow)
    status_of(desk, wait=True)
    older = desk.jobs.get("trial")
    desk.change(TEXT % 4, "promises", "k")
    status_of(desk, wait=True)
    assert older.wait(10)
    assert older.stopped
    slow.let.set()
    assert status_of(desk, wait=True).trial.loss == 0.04


def test_a_policy_that_no_release_keeps_says_why(desk):
    desk.change(TEXT % 500, "promises", "k")
    found = status_of(desk, wait=True)
    assert found.state == "failed"
    assert "500" in found.problem or "k-anonymity" in found.problem
