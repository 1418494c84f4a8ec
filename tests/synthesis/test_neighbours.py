"""One person more or less changes the counts by that person alone, however values are written."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.files.reading import Reading
from sfumato.tasks import noisy_count
from sfumato.tasks import synthesize as task
from tests.synthesis.stubs import fit_nothing

POLICY = {
    "columns": {
        "pay": {"role": "quasi-identifier", "domain": {"from": 0, "to": 9999, "cuts": [2, 100]}},
        "born": {
            "role": "quasi-identifier",
            "dates": "detect",
            "domain": {"from": "1990-01-01", "to": "1990-12-31", "width": "40d"},
        },
        "size": "dropped",
    },
    "models": [{"model": "k-anonymity", "k": 2}],
}
PAYS = ["7", "1.250", "1.250,5", "1,250", "1,250.5", "1'250", "", "3.5", "3,5"]
DAYS = ["1990-02-03", "02/03/1990", "13/02/1990", "02/13/1990", "3 Feb 1990", ""]
SIZES = ["1", "1.75", "1,75"]


@pytest.fixture
def counted(monkeypatch):
    """Let synthesize return what it would add noise to; None if it refuses the table."""
    monkeypatch.setattr(task, "require_extra", lambda: None)
    seen = []

    def note(counts, budget, **settings):
        seen.append(counts.marginal(counts.names))
        return fit_nothing(counts, budget, **settings)

    monkeypatch.setattr(task, "fit", note)

    def run(path, rows, policy):
        lines = [";".join(row) for row in rows]
        path.write_text("\n".join(["pay;born;size", *lines, ""]), encoding="utf-8")
        try:
            sf.synthesize(path, policy, epsilon=0.3)
        except sf.SfumatoError:
            return None
        return seen.pop()

    return run


ROWS = st.tuples(*map(st.sampled_from, (PAYS, DAYS, SIZES)))


@pytest.mark.usefixtures("patience")
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(ROWS, min_size=1, max_size=4),
    more=ROWS,
    said=st.sampled_from([{}, {"decimal": ","}, {"decimal": "."}, {"thousands": "."}]),
    order=st.sampled_from(["detect", "day-first"]),
)
def test_a_person_more_changes_one_cell_by_one(counted, tmp_path, rows, more, said, order):
    columns = {**POLICY["columns"], "born": {**POLICY["columns"]["born"], "dates": order}}
    policy = {**POLICY, "columns": columns, "input": {"delimiter": ";", **said}}
    # Three rows of each, so that a file has a regular form whatever is added to it.
    before = counted(tmp_path / "before.csv", rows * 3, policy)
    after = counted(tmp_path / "after.csv", [*rows * 3, more], policy)
    if before is not None and after is not None:
        assert np.abs(after - before).sum() == 1


def test_one_amount_in_another_notation_does_not_change_all_others(counted, tmp_path):
    rows = [("1.250", "1990-02-03", "1")] * 9
    assert counted(tmp_path / "a.csv", rows, POLICY).sum(axis=1)[0] == 9
    assert counted(tmp_path / "b.csv", [*rows, ("1.250,5", *rows[0][1:])], POLICY) is None
    german = {**POLICY, "input": {"decimal": ",", "thousands": "."}}
    read = counted(tmp_path / "c.csv", [*rows, ("1.250,5", *rows[0][1:])], german)
    assert read.sum(axis=1)[2] == 10


def test_a_count_reads_every_value_by_itself(monkeypatch, tmp_path):
    monkeypatch.setattr(noisy_count, "require_extra", lambda: None)
    monkeypatch.setattr(noisy_count, "libraries", lambda: None)
    monkeypatch.setattr(noisy_count, "with_noise", lambda _lib, _epsilon: lambda count: count)
    path = tmp_path / "people.csv"
    for more, inside in (("2.000", 10), ("2.000,5", 9)):
        path.write_text("\n".join(["pay;n", *["1.250;1"] * 9, f"{more};1", ""]), encoding="utf-8")
        found = sf.tools.noisy_count(path, {"pay": (1, 3)}, epsilon=0.5)
        assert found.count == inside


@given(
    st.integers(0, 10**9), st.integers(0, 99), st.sampled_from([(",", "."), (".", ","), (",", "'")])
)
def test_a_number_is_read_by_the_marks_that_are_said(whole, part, marks):
    decimal, thousands = marks
    text = f"{whole:,}".replace(",", thousands) + f"{decimal}{part:02}"
    for said in (Reading(decimal=decimal), Reading(decimal=decimal, thousands=thousands)):
        assert float(said.number(text)) == float(f"{whole}.{part:02}")
        assert float(said.number(f"\u2212{text}")) == -float(f"{whole}.{part:02}")
    assert Reading(decimal=decimal).number(f"1{thousands}5") is None
