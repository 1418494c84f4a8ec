"""Synthetic rows stand on the plane of all other ways to protect a table."""

from datetime import date, timedelta

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.comparison.drawn import DREW
from sfumato.errors import MissingExtraError, ParameterError
from sfumato.tasks import synthesize as task
from tests.synthesis.stubs import POLICY, people


@pytest.mark.usefixtures("patience")
def test_synthetic_rows_stand_beside_policies(without_noise):
    found = sf.compare(people(), POLICY, vary={"k": [2, 5]}, loss="query-error", epsilon=[0.1, 0.5])
    assert found.names == ("k=2", "k=5", "synthetic, epsilon=0.1", "synthetic, epsilon=0.5")
    small, large = found.points[2:]
    assert small.risks["at-risk"] == large.risks["at-risk"] == 0
    assert small.risks["gain"] < large.risks["gain"] < 0.25
    assert small.loss is not None or small.losses["query-error"] > 0
    assert {small.name, large.name} <= {point.name for point in found.placed}
    assert DREW in str(found)
    assert found.svg().count("synthetic, epsilon") >= 2


@pytest.mark.usefixtures("patience")
def test_what_numbers_are_is_measured_on_synthetic_rows_too(without_noise):
    found = sf.compare(people(), POLICY, loss="distinguishability", epsilon=[0.3])
    losses = found["synthetic, epsilon=0.3"].losses
    assert {"query-error", "distinguishability", "mean-error"} <= {*losses}


def test_a_budget_that_excludes_nothing_leaves_people_at_risk(without_noise):
    found = sf.compare(people(), POLICY, loss="query-error", epsilon=[50])
    assert found["synthetic, epsilon=50"].risks["gain"] == pytest.approx(1)


def test_without_the_extra_only_budgets_need_it(monkeypatch):
    def missing():
        raise MissingExtraError("OpenDP with mbi", "synthetic")

    monkeypatch.setattr(task, "require_extra", missing)
    assert len(sf.compare(people(100), POLICY)) == 1
    with pytest.raises(MissingExtraError, match="pip install"):
        sf.compare(people(100), POLICY, epsilon=[0.3])


def test_days_and_categories_that_no_row_had_are_drawn_and_measured(without_noise):
    """A mechanism draws from the domain: what it draws need not be in the table."""
    days = [date(2020, 1, 1) + timedelta(days=3 * (i % 100)) for i in range(300)]
    table = pa.table({"day": days, "ill": ["flu", "gout"] * 150})
    policy = {
        "columns": {
            "day": {
                "role": "quasi-identifier",
                "domain": {"from": "2020-01-01", "to": "2020-12-31", "width": "30d"},
            },
            "ill": {"role": "sensitive", "domain": ["flu", "gout", "hiv"]},
        },
        "models": [{"model": "k-anonymity", "k": 2}],
        "person": {"rows": "each row is a person"},
    }
    release = sf.synthesize(table, policy, epsilon=1)
    assert {*release.table["day"].to_pylist()} - {*days}
    assert "hiv" in release.table["ill"].to_pylist()
    assert sf.utility(table, release).queries.mean < 1
    losses = ["query-error", "table-error", "distinguishability"]
    found = sf.compare(table, policy, loss=losses, epsilon=[1])
    assert {*losses} <= found["synthetic, epsilon=1"].losses.keys()


@pytest.mark.parametrize("wrong", [0, -1, [0.5, 101], [float("nan")], ["1"]])
def test_a_budget_that_is_none_is_refused_before_anything_is_drawn(monkeypatch, wrong):
    monkeypatch.setattr("sfumato.comparison.drawn.synthesize", pytest.fail)
    with pytest.raises(ParameterError, match="epsilon must be a number above 0 and at most 100"):
        sf.compare(people(100), POLICY, epsilon=wrong)


@pytest.mark.usefixtures("patience")
def test_one_budget_needs_no_list(without_noise):
    assert sf.compare(people(), POLICY, epsilon=0.5).names[-1] == "synthetic, epsilon=0.5"
