"""The task, on releases of every kind."""

import json

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.counts import FrequencySet
from sfumato.decouplings.base import GroupedTables
from sfumato.errors import (
    InputError,
    ParameterError,
    UnknownColumnError,
    UnknownNameError,
)
from sfumato.usefulness import Workload

COLUMNS = ["age", "sex", "nationality", "diagnosis", "insurance"]


@pytest.fixture(scope="module")
def people():
    return sf.samples.synthetic(2000, seed=3).select(COLUMNS)


@pytest.fixture(scope="module")
def policy():
    whole = sf.Policy.load(sf.samples.synthetic_policy())
    columns = {name: whole.columns[name] for name in COLUMNS}
    return sf.Policy(columns=columns, models=[sf.models.KAnonymity(5)], suppression=0.05)


def with_k(policy, k):
    return sf.Policy(
        columns=policy.columns, models=[sf.models.KAnonymity(k)], suppression=policy.suppression
    )


@pytest.mark.usefixtures("patience")
def test_a_table_published_as_it_is_has_no_error(people, policy):
    found = sf.utility(people, people, policy=policy, queries=200)
    assert found.queries.to_dict()["worst"] == 0
    assert found.associations.mean_difference == 0
    assert (found.rows, found.published, found.seed) == (2000, 2000, 0)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", ["full-domain", "regional", "top-down", "mondrian"])
def test_recoded_releases_in_memory_and_on_disk(people, policy, method, tmp_path):
    memory = sf.anonymize(people, policy, method=method)
    folder = tmp_path / "release"
    sf.anonymize(people, policy, method=method, output=folder)
    found = sf.utility(people, {"memory": memory, "folder": folder}, policy=policy, queries=100)
    assert 0 < found["memory"].queries.median < 1
    assert found["memory"].published == memory.manifest.rows.published
    if method in ("full-domain", "regional"):
        assert found["folder"].to_dict() == found["memory"].to_dict()


@pytest.mark.usefixtures("patience")
def test_starred_rows_can_be_read(people, policy):
    starred = sf.Policy(
        columns=policy.columns,
        models=policy.models,
        suppression={"limit": 0.05, "rows": "star"},
    )
    release = sf.anonymize(people, starred)
    assert release.suppressed
    found = sf.utility(people, release, policy=starred, queries=100)
    assert found.published == 2000


@pytest.mark.usefixtures("patience")
def test_decoupled_releases_in_memory_and_on_disk(people, policy, tmp_path):
    whole = sf.anonymize(people, policy)
    folder = tmp_path / "broken"
    decoupled = sf.decouple(whole)
    sf.decouple(whole, output=folder)
    two = Workload(200, sensitive=2)
    found = sf.utility(
        people,
        {"whole": whole, "memory": decoupled, "folder": folder, "counts": decoupled.grouped},
        policy=policy,
        queries=two,
    )
    memory = found["memory"].to_dict()
    assert memory == found["folder"].to_dict() == found["counts"].to_dict()
    # One sensitive column at a time is what breaking leaves as it is.
    single = sf.utility(people, {"whole": whole, "broken": decoupled}, policy=policy, queries=200)
    assert np.allclose(single["whole"].queries.estimate, single["broken"].queries.estimate)


@pytest.mark.usefixtures("patience")
def test_breaking_costs_what_sensitive_columns_have_to_do_with_each_other():
    rng = np.random.default_rng(6)
    ills = rng.choice(["flu", "gout", "hiv"], 600)
    table = pa.table({"age": ["30s", "40s"] * 300, "ill": ills, "drug": [f"for {i}" for i in ills]})
    decoupled = sf.decouple(table, quasi_identifiers=["age"], sensitive=["ill", "drug"])
    one, two = (
        sf.utility(table, decoupled, queries=Workload(200, sensitive=most)) for most in (1, 2)
    )
    assert one.queries.to_dict()["worst"] == pytest.approx(0)
    assert two.queries.mean > 0.1
    [pair] = [p for p in two.associations.pairs if "age" not in p]
    assert (pair.before, round(pair.after, 1)) == (1, 0)


@pytest.mark.usefixtures("patience")
def test_anatomised_releases_answer_about_quasi_identifiers_exactly(people, tmp_path):
    roles = {"quasi_identifiers": COLUMNS[:3], "sensitive": ["diagnosis"]}
    method = {"method": "anatomy", "l": 3}
    folder = tmp_path / "anatomy"
    memory = sf.decouple(people, method=method, seed=1, **roles)
    sf.decouple(people, method=method, seed=1, output=folder, **roles)
    found = sf.utility(people, {"memory": memory, "folder": folder}, queries=200)
    assert found["memory"].to_dict() == found["folder"].to_dict()
    assert found["memory"].queries.median > 0
    alone = sf.utility(people, memory, sensitive=[], queries=100)
    assert alone.queries.to_dict()["worst"] == 0


@pytest.mark.usefixtures("patience")
def test_sliced_releases_in_memory_and_on_disk(people, tmp_path):
    roles = {"quasi_identifiers": COLUMNS[:3], "sensitive": ["diagnosis"]}
    method = {"method": "slicing", "l": 3, "columns": ["age+sex", "nationality", "diagnosis"]}
    folder = tmp_path / "slices"
    memory = sf.decouple(people, method=method, seed=1, **roles)
    sf.decouple(people, method=method, seed=1, output=folder, **roles)
    found = sf.utility(people, {"memory": memory, "folder": folder}, queries=200)
    assert found["memory"].to_dict() == found["folder"].to_dict()
    assert found["memory"].published == 2000
    pairs = {(p.one, p.other): p for p in found["memory"].associations.pairs}
    # What stands in one slice stays known together.
    assert pairs["age", "sex"].difference == pytest.approx(0)
    assert pairs["age", "nationality"].difference > 0.01


@pytest.mark.usefixtures("patience")
def test_more_generalisation_is_not_better():
    rng = np.random.default_rng(8)
    ages = rng.integers(20, 84, 4000)
    ills = np.where(rng.random(4000) < (ages - 20) / 64, "gout", "flu")
    table = pa.table({"age": ages, "ill": ills})
    releases = {
        str(width): pa.table(
            {"age": [f"{a}-{a + width - 1}" for a in ((ages - 20) // width * width + 20).tolist()],
             "ill": ills}
        )
        for width in (2, 8, 32, 64)
    }  # fmt: skip
    found = sf.utility(table, releases, quasi_identifiers=["age"], sensitive=["ill"], queries=500)
    errors = [found[width].queries.mean for width in releases]
    assert errors == sorted(errors)
    off = [found[width].associations.mean_difference for width in releases]
    assert off == sorted(off)


@pytest.mark.usefixtures("patience")
def test_a_larger_k_costs_answers(people, policy):
    releases = {str(k): sf.anonymize(people, with_k(policy, k)) for k in (2, 200)}
    found = sf.utility(people, releases, policy=policy, queries=300)
    assert found["2"].queries.mean < found["200"].queries.mean


@pytest.mark.usefixtures("patience")
def test_a_seed_makes_everything_the_same_again(people, policy):
    release = sf.anonymize(people, policy, method="mondrian", seed=4)
    one, again, other = (
        sf.utility(people, release, policy=policy, queries=50, seed=seed).to_dict()
        for seed in (1, 1, 2)
    )
    assert one == again
    assert one["queries"] != other["queries"]


def test_results_are_plain_and_readable(people, policy):
    told = []
    found = sf.utility(
        people,
        {"raw": people},
        policy=policy,
        queries=20,
        progress=lambda *step: told.append(step),
    )
    assert told == [("compare", 1, 1)]
    assert json.loads(json.dumps(found.to_dict()))["raw"]["queries"]["queries"] == 20
    _, title, line, *whole = str(found).splitlines()
    assert title.startswith("release") and line.startswith("raw")  # noqa: PT018
    assert list(found) == ["raw"]
    assert len(found) == 1
    assert f"raw: {found['raw']}".splitlines() == whole
    assert "median 0 %" in str(found["raw"])
    assert "median 0 %" in repr(found["raw"])
    assert "raw" in repr(found)
    with pytest.raises(UnknownNameError, match="Did you mean 'raw'"):
        found["rwa"]


def test_counts_are_taken_as_they_are():
    rows = [(21, "flu"), (24, "gout"), (29, "flu")]
    counts = FrequencySet.from_rows(["age", "ill"], rows)
    grouped = GroupedTables.of(counts, ["age"], ["ill"])
    found = sf.utility(counts, grouped, queries=10)
    assert found.queries.to_dict()["worst"] == 0


def test_rows_without_a_quasi_identifier_that_are_suppressed(policy):
    table = pa.table({"age": [21, 22, 23, 24, None], "ill": ["a", "b", "a", "b", "a"]})
    rule = {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [5]}}
    strict = sf.Policy(
        columns={"age": rule, "ill": "sensitive"},
        models=[sf.models.KAnonymity(2)],
        missing="suppress",
        suppression=1,
    )
    found = sf.utility(table, sf.anonymize(table, strict), policy=strict, queries=10)
    assert found.published == 4


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"queries": 0}, ParameterError, "queries must be an integer of at least 1"),
        ({"queries": "many"}, ParameterError, "queries must be an integer"),
        ({"seed": -1}, ParameterError, "seed must be an integer of at least 0"),
        ({"quasi_identifiers": None, "sensitive": None}, ParameterError, "nothing says what"),
        ({"quasi_identifiers": ["agee"]}, UnknownColumnError, "Did you mean 'age'"),
        ({"sensitive": ["age"]}, ParameterError, "cannot be both"),
    ],
)
def test_what_makes_no_sense_is_refused(change, error, text):
    table = pa.table({"age": [21, 24, 29], "ill": ["a", "b", "a"]})
    settings = {"quasi_identifiers": ["age"], "sensitive": ["ill"], **change}
    with pytest.raises(error, match=text):
        sf.utility(table, table, **settings)


@pytest.mark.usefixtures("patience")
def test_tables_that_cannot_be_compared_are_refused():
    table = pa.table({"age": [21, 24, 29], "ill": ["a", "b", "a"]})
    roles = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
    other = pa.table({"age": ["young"] * 3, "ill": ["a", "b", "a"]})
    with pytest.raises(InputError, match="'young' of column 'age'"):
        sf.utility(table, other, **roles)
    with pytest.raises(InputError, match="has no rows"):
        sf.utility(table.slice(0, 0), table, **roles)
    with pytest.raises(ParameterError, match="at least one row"):
        sf.utility(FrequencySet.from_rows(["age", "ill"], []), table, **roles)
    with pytest.raises(ParameterError, match="a mapping of names to releases"):
        sf.utility(table, {}, **roles)
    with pytest.raises(UnknownColumnError, match="ill"):
        sf.utility(table, table.select(["age"]), **roles)
