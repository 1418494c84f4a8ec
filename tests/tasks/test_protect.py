"""The whole loop: anonymise, detect, refine or decouple, detect."""

import json
import re

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.harm import Level
from tests.tasks.test_detect import leaky, policy


def married(rows: int = 600) -> pa.Table:
    """Ages tell nothing; work tells who is married."""
    rng = np.random.default_rng(5)
    work = rng.choice(["state", "private", "own"], rows)
    wed = np.where(work == "state", "single", rng.choice(["single", "married", "divorced"], rows))
    return pa.table({"age": rng.integers(20, 60, rows), "work": work, "marital": wed})


def married_policy() -> sf.Policy:
    ages = {"role": "quasi-identifier", "hierarchy": sf.hierarchy.Intervals(widths=[10, 20])}
    return sf.Policy(
        columns={"age": ages, "work": "sensitive", "marital": "sensitive"},
        models=[sf.models.KAnonymity(10)],
    )


@pytest.mark.usefixtures("patience")
def test_what_quasi_identifiers_tell_is_generalised(tmp_path):
    done = sf.protect(leaky(), policy(), alpha=0.6, output=tmp_path / "out")
    assert [step.action for step in done.steps] == ["anonymize", "refine"]
    assert done.steps[0].exposed > 0 == done.steps[-1].exposed
    assert sf.verify(tmp_path / "out").verdict.holds
    assert done.release.folder == tmp_path / "out"
    assert done.warnings == ()


@pytest.mark.usefixtures("patience")
def test_what_sensitive_columns_tell_about_each_other_is_decoupled(tmp_path):
    done = sf.protect(married(), married_policy(), alpha=0.8, output=tmp_path / "out")
    assert [step.action for step in done.steps] == ["anonymize", "decouple"]
    assert done.steps[0].exposed > 0 == done.steps[-1].exposed
    assert sf.verify(tmp_path / "out").verdict.holds
    assert (tmp_path / "out" / "manifest.json").is_file()
    json.dumps(done.to_dict(), allow_nan=False)
    assert re.search("decouple +work, marital revealed each other", str(done))


def test_without_decoupling_it_warns():
    done = sf.protect(married(), married_policy(), alpha=0.8, decouple_with=None)
    assert [step.action for step in done.steps] == ["anonymize"]
    assert any("still reveal" in warning for warning in done.warnings)


def test_what_cannot_be_generalised_away_is_said():
    rng = np.random.default_rng(1)
    age = rng.integers(20, 60, 400)
    ill = np.where(age < 40, "flu", rng.choice(["flu", "gout", "hiv"], 400))
    table = pa.table({"age": age, "sex": rng.choice(["f", "m"], 400), "ill": ill})
    done = sf.protect(table, policy(), alpha=0.6)
    assert any("cannot be hidden by generalising" in warning for warning in done.warnings)


def test_nothing_leaks_nothing_is_done():
    rng = np.random.default_rng(2)
    table = pa.table(
        {
            "age": rng.integers(20, 60, 400),
            "sex": rng.choice(["f", "m"], 400),
            "ill": rng.choice(["flu", "gout", "hiv", "none"], 400),
        }
    )
    done = sf.protect(table, policy())
    assert [step.action for step in done.steps] == ["anonymize"]
    assert done.findings.leaks == ()


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", ["regional", "top-down", "mondrian", "bottom-up", "mdav"])
def test_with_every_method(method):
    done = sf.protect(leaky(), policy(), alpha=0.6, method=method)
    assert done.steps[-1].exposed == 0
    assert done.release.verdict.holds


@pytest.mark.usefixtures("patience")
def test_after_break_merge_no_rule_is_above_chance():
    """A decoupled table of dependent columns looks like one of independent ones."""
    alarms = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        work = rng.choice(["state", "private", "own"], 300)
        wed = np.where(work == "state", "single", rng.choice(["married", "divorced"], 300))
        table = pa.table({"age": rng.choice(["20s", "30s"], 300), "work": work, "marital": wed})
        roles = {"quasi_identifiers": ["age"], "sensitive": ["work", "marital"]}
        assert sf.detect(table, alpha=0.6, **roles).leaks
        decoupled = sf.decouple(table, **roles)
        alarms += bool(sf.detect(decoupled, alpha=0.6).leaks)
    assert alarms <= 4, f"{alarms} of 40 broken tables have rules"


CENSUS = {
    "name": "identifier",
    **dict.fromkeys(["age", "gender", "zipcode"], "quasi-identifier"),
    **dict.fromkeys(["government", "marital_status", "salary"], "sensitive"),
}


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", ["mondrian", None])
def test_the_headline_leak_of_the_sources_is_gone(method):
    """Two people work for the state: both are single and earn little. No rule sees two people."""
    asked = sf.Policy(columns=CENSUS, models=[sf.models.KAnonymity(5)])
    done = sf.protect(sf.samples.table("census-raw"), asked, method=method)
    assert [step.action for step in done.steps] == ["anonymize", "decouple"]
    before = done.steps[0].findings
    assert before.level is Level.VERY_HIGH
    headline = [fact for fact in before.harmful_facts if ("government", "State-gov") in fact.known]
    assert headline[0].told == ("marital_status", "Never-Married")
    assert (headline[0].people, headline[0].posterior) == (2, 1.0)
    assert done.holds
    assert done.steps[-1].exposed == 0
    assert sf.verify(done.release).answer != "no"


def test_what_is_left_very_high_is_no_success():
    asked = sf.Policy(columns=CENSUS, models=[sf.models.KAnonymity(5)])
    done = sf.protect(sf.samples.table("census-raw"), asked, decouple_with=None)
    assert not done.holds
    assert any("facts such as" in warning and "very high" in warning for warning in done.warnings)
    assert done.to_dict()["holds"] is False


@pytest.mark.usefixtures("patience")
def test_few_classes_of_one_value_in_a_large_table_are_mended():
    """Roles alone: k = 5 and two values are promised; five of six in a class are too many."""
    ill = ["flu", "gout", "hiv", "cold", "asthma", "cancer"]
    rows = [
        (20 + c % 20, 10 + c // 20, ill[c % 6] if c < 10 and i else ill[(i + c + 1) % 6])
        for c in range(200)
        for i in range(6)
    ]
    age, area, told = zip(*rows, strict=True)
    table = pa.table({"age": age, "area": area, "ill": told})
    done = sf.protect(table, quasi_identifiers=["age", "area"], sensitive=["ill"])
    assert [step.action for step in done.steps] == ["anonymize", "refine"]
    assert done.steps[0].why == "k = 5 and two values of each sensitive column"
    assert [step.exposed for step in done.steps] == [60, 0]
    assert done.assessment.answer == "yes"


@pytest.mark.usefixtures("patience")
def test_roles_alone_go_the_whole_way_of_the_papers():
    done = sf.protect(
        sf.samples.table("census"),
        quasi_identifiers=["age", "gender", "zipcode"],
        sensitive=["government", "marital_status", "salary"],
    )
    assert [step.action for step in done.steps] == ["anonymize", "decouple"]
    # 4 · 4 · 2 and 3 · 3 · 2 combinations; the worst guess with a value known is 4/5 · 2/5,
    # or 3/5 · 3/5.
    assert "(sfumato merge), the tables give 50 rows that may be, for 10 people" in str(done)
    assert "with up to 36 %" in str(done)


@pytest.mark.usefixtures("patience")
def test_a_rule_that_differs_from_class_to_class_is_decoupled():
    rng = np.random.default_rng(0)
    age, work = np.repeat(np.arange(20, 60), 100), np.tile(np.arange(4), 1000)
    told = np.array([rng.permutation(4) for _ in range(40)])[age - 20, work]
    names = np.array(["state", "bank", "school", "farm"]), np.array(["hiv", "flu", "gout", "acne"])
    table = pa.table({"age": age, "work": names[0][work], "marital": names[1][told]})
    columns = {**married_policy().columns, "age": "quasi-identifier"}
    done = sf.protect(table, sf.Policy(columns=columns, models=[sf.models.KAnonymity(10)]))
    assert [step.action for step in done.steps] == ["anonymize", "decouple"]
    assert done.steps[0].exposed == 4000
    assert done.steps[-1].exposed == 0


# Decoupled tables that teach what joins them


def prescribed(rows: int = 1500, noise: float = 0.0, groups: int | None = None) -> pa.Table:
    """A drug tells the illness; age tells nothing, or which of some groups a person is in."""
    rng = np.random.default_rng(8)
    drug = rng.integers(0, 5, rows)
    ill = np.where(rng.random(rows) < noise, rng.integers(0, 5, rows), drug)
    age = rng.integers(20, 80, rows) if groups is None else np.arange(rows) % groups
    return pa.table({"age": age, "drug": [f"d{x}" for x in drug], "ill": [f"i{x}" for x in ill]})


def prescribed_policy(**age) -> sf.Policy:
    columns = {"age": {"role": "quasi-identifier", **age}, "drug": "sensitive", "ill": "sensitive"}
    return sf.Policy(columns=columns, models=[sf.models.KAnonymity(10)])


@pytest.mark.usefixtures("patience")
def test_groups_are_made_alike_until_the_tables_teach_nothing(tmp_path):
    ages = sf.hierarchy.Intervals(widths=[2, 10, 30])
    table = prescribed(noise=0.05)
    done = sf.protect(table, prescribed_policy(hierarchy=ages), output=tmp_path / "out")
    assert [step.action for step in done.steps][:2] == ["anonymize", "decouple"]
    assert len(done.steps[1].succeeded) == 2
    assert done.steps[1].exposed > 1000
    assert "the tables taught" in done.steps[2].why
    assert done.holds
    assert done.steps[-1].exposed == 0
    found = sf.verify(tmp_path / "out")
    assert not any(each.people for each in found.attacks if each.attack == "definetti")
    json.dumps(done.to_dict(), allow_nan=False)


@pytest.mark.usefixtures("patience")
def test_values_that_always_go_together_are_paired_however_alike_groups_are():
    """Each drug is as frequent in every group as its illness: they count the same people."""
    ages = sf.hierarchy.Intervals(widths=[2, 10, 30])
    done = sf.protect(prescribed(), prescribed_policy(hierarchy=ages))
    assert done.assessment.answer == "no"
    assert not done.holds
    assert done.steps[-1].exposed == done.assessment.at_risk == 1500
    assert {each.attack for each in done.steps[-1].succeeded} == {"equal-counts"}
    assert any("equal-counts" in warning for warning in done.warnings)


@pytest.mark.usefixtures("patience")
def test_what_no_groups_withstand_is_said():
    """A column that may not be generalised leaves the groups as they are."""
    table = prescribed(groups=60)
    done = sf.protect(table, prescribed_policy(levels=[0, 0]))
    assert not done.holds
    assert done.steps[-1].exposed > 1000
    assert any("definetti" in warning for warning in done.warnings)
    assert any("cannot be made to teach less" in warning for warning in done.warnings)


@pytest.mark.usefixtures("patience")
def test_a_column_is_left_out_if_nothing_else_helps():
    table = prescribed(groups=60)
    rng = np.random.default_rng(9)
    table = table.append_column("pay", pa.array(rng.choice(["low", "high"], 1500)))
    policy = prescribed_policy(levels=[0, 0])
    policy = policy.replace(columns={**policy.columns, "pay": "sensitive"})
    done = sf.protect(table, policy)
    assert done.holds
    assert done.steps[-1].why.endswith("is left out")
    assert "sensitive_pay" in done.release.tables
    assert {"sensitive_drug", "sensitive_ill"} - set(done.release.tables)


def test_tables_that_teach_nothing_stay_as_they_are():
    done = sf.protect(prescribed(400, noise=0.5), prescribed_policy(levels=[0, 1]), alpha=0.4)
    assert [step.action for step in done.steps].count("decouple") <= 1
