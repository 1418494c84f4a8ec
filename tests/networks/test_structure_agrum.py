"""pyAgrum's learners on our counts: weights, constraints, and nothing left behind."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from sfumato.counts import FrequencySet
from sfumato.errors import MissingExtraError, ParameterError
from sfumato.networks import LEARNERS, AgrumGreedy, AgrumLearner, AgrumMiic, AgrumPc, Constraints
from tests.networks.test_structure import counted, random_table

EVERY = [AgrumGreedy(), AgrumMiic(), AgrumPc()]


@pytest.mark.parametrize("learner", EVERY, ids=lambda learner: learner.name)
def test_weights_count_as_rows(learner):
    for seed in range(5):
        counts = counted(*random_table(seed))
        repeated = FrequencySet(
            counts.columns, np.repeat(counts.codes, counts.rows, axis=1), np.ones(counts.total, int)
        )
        assert learner.learn(counts) == learner.learn(repeated)


@pytest.mark.parametrize("learner", EVERY, ids=lambda learner: learner.name)
def test_constraints_are_kept(learner):
    rows = [(i % 2, (i + (i % 9 == 0)) % 2, i // 2 % 2) for i in range(200)]
    counts = FrequencySet.from_rows("abc", rows)
    back = learner.learn(counts, Constraints(tiers=[["b"], ["a"]], required=[("c", "a")])).network
    assert set(back.edges) == {("b", "a"), ("c", "a")}
    assert not back.chosen


@pytest.mark.parametrize("learner", EVERY, ids=lambda learner: learner.name)
def test_no_value_is_written_and_nothing_is_left(learner, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seen = []

    def look(self, prepared):
        (folder,) = tmp_path.iterdir()
        (file,) = folder.iterdir()
        seen.append((folder.stat().st_mode & 0o777, file.read_text()))
        raise RuntimeError("stop here")

    monkeypatch.setattr(type(learner), "_prepare", look)
    counts = FrequencySet.from_rows(["disease", "ward"], [("Flu", "north"), ("HIV", "south")] * 9)
    with pytest.raises(RuntimeError, match="stop here"):
        learner.learn(counts)
    assert not list(tmp_path.iterdir())
    assert seen == [(0o700, "c0,c1\nv0,v0\nv1,v1\n")]


def test_a_successful_run_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = set(Path(tempfile.gettempdir()).iterdir())
    AgrumMiic().learn(counted(*random_table(3)))
    assert set(tmp_path.iterdir()) == before


@pytest.mark.usefixtures("patience")
def test_it_loads_where_warnings_are_errors():
    code = "from sfumato.networks import agrum; agrum.load_pyagrum()"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_what_is_missing_is_answered_with_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyagrum", None)
    with pytest.raises(MissingExtraError, match=r'pip install "sfumato\[bayes\]"'):
        AgrumPc().learn(counted(*random_table(1)))


def test_settings_are_checked_and_the_extra_is_named():
    with pytest.raises(ParameterError, match="significance"):
        AgrumPc(significance=0)
    needing = {name for name, kind in LEARNERS.items() if kind.extra == "bayes"}
    assert needing == {"pyagrum-greedy", "pyagrum-miic", "pyagrum-pc"}
    assert all(issubclass(LEARNERS[name], AgrumLearner) for name in needing)
