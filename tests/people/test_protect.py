"""The whole loop for people with several rows: what leaks is counted on people, and mended."""

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import ParameterError


def visits(people=200, seed=2):
    """The old have gout, whoever comes several times."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), rng.integers(1, 4, people))
    age = rng.integers(2, 6, people)[who] * 10
    ill = np.where(age == 50, "gout", rng.choice(["flu", "hiv", "none"], len(who)))
    work = rng.choice(["state", "own", "farm"], len(who))
    return pa.table({"id": who, "age": age, "ill": ill, "work": work})


def policy_of(**settings):
    ages = {"role": "quasi-identifier", "hierarchy": sf.hierarchy.Intervals(widths=[20, 40])}
    columns = {"id": "identifier", "age": ages, "ill": "sensitive", "work": "plain"}
    models = [sf.models.KAnonymity(5)]
    return sf.Policy(**{"columns": columns, "models": models, "person": "id", **settings})


def worst_share(release, column):
    """Return the largest share of people of a class who have one value, by loops."""
    classes, held = {}, {}
    for line in release.people.to_pylist():
        classes.setdefault(line["age"], set()).add(line["person"])
        held.setdefault((line["age"], line[column]), set()).add(line["person"])
    return max(len(people) / len(classes[age]) for (age, _), people in held.items())


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", ["full-domain", "bottom-up"])
def test_what_classes_tell_of_people_is_generalised_further(tmp_path, method):
    file = tmp_path / "people.parquet"
    policy, output = policy_of(method=method), tmp_path / "out"
    done = sf.protect(visits(), policy, alpha=0.7, output=output, people_file=file)
    assert [step.action for step in done.steps][:2] == ["anonymize", "refine"]
    assert done.steps[0].exposed > 0 == done.steps[-1].exposed
    assert done.findings.people == 200
    assert worst_share(done.release, "ill") <= 0.7
    assert sf.verify(output, people_file=file).verdict.holds
    assert "0 of 200 people" in str(done)


@pytest.mark.usefixtures("patience")
def test_what_sensitive_columns_tell_about_each_other_is_left_and_said():
    table = visits()
    wed = np.where(np.array(table["work"]) == "state", "single", "married")
    table = table.append_column("wed", pa.array(wed))
    secrets = dict.fromkeys(["ill", "work", "wed"], "sensitive")
    policy = policy_of(columns={**policy_of().columns, **secrets})
    done = sf.protect(table, policy, alpha=0.9)
    assert "decouple" not in [step.action for step in done.steps]
    assert "work and wed reveal each other" in done.blocked
    assert "sf.widen" in str(done)
    assert done.steps[-1].exposed > 0
    assert done.release.people is not None


@pytest.mark.usefixtures("patience")
def test_a_database_counts_the_same_people(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("given", visits())
    connection.execute("create table visits as select * from given")
    given = connection.table("visits")
    done = sf.protect(given, policy_of(), alpha=0.7, output=tmp_path / "out")
    here = sf.protect(visits(), policy_of(), alpha=0.7)
    told = [(step.action, step.why, step.exposed) for step in done.steps]
    assert told == [(step.action, step.why, step.exposed) for step in here.steps]


def test_where_everybody_has_one_row_there_is_no_people_file(tmp_path):
    rng = np.random.default_rng(0)
    ages, ills = rng.integers(2, 6, 100) * 10, rng.choice(["flu", "hiv"], 100)
    table = pa.table({"id": range(100), "age": ages, "ill": ills, "work": ["own"] * 100})
    done = sf.protect(table, policy_of(), output=tmp_path / "out", people_file=tmp_path / "p.csv")
    assert any("every person has one row" in warning for warning in done.warnings)
    assert not (tmp_path / "p.csv").exists()
    with pytest.raises(ParameterError, match="rows are counted"):
        sf.protect(table, policy_of(person=None), people_file=tmp_path / "p.csv")
