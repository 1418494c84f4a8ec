"""Bucketization: given buckets and made ones, held against the definition and an adversary."""

import json
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.app import app
from sfumato.counts import FrequencySet
from sfumato.decouplings import Bucketization
from sfumato.errors import (
    InfeasibleError,
    InputError,
    ParameterError,
    PolicyError,
    UnknownColumnError,
    UnknownNameError,
)
from sfumato.verifier import verify_folder
from tests.decouplings.tables import table
from tests.tables.databases import imported
from tests.verifier.anatomy_releases import PRINTED_PEOPLE, PRINTED_VALUES
from tests.verifier.releases import edit_manifest

ROLES = {"quasi_identifiers": ["zipcode", "age", "sex"], "sensitive": ["disease"]}
METHODS = ["mondrian", "top-down", "bottom-up", "full-domain"]


def printed():
    """The printed table, with its printed buckets."""
    data = sf.samples.table("bucketization")
    return data.append_column("bucket", pa.array([person[0] for person in PRINTED_PEOPLE]))


def buckets_of(people, values):
    """What stands in the tables, without the labels."""
    found = defaultdict(lambda: ([], []))
    for label, *rest in people:
        found[str(label)][0].append(tuple(map(str, rest)))
    for label, value, count in values:
        found[str(label)][1].append((value.replace(" ", ""), int(count)))
    return sorted((sorted(who), sorted(what)) for who, what in found.values())


def run(*words):
    return CliRunner().invoke(app, words)


PRINTED = buckets_of(PRINTED_PEOPLE, PRINTED_VALUES)


def published(release):
    qi, values = (each.to_pylist() for each in release.tables.values())
    return buckets_of([tuple(row.values()) for row in qi], [tuple(r.values()) for r in values])


def test_the_printed_tables_come_out_of_the_printed_buckets():
    release = sf.decouple(printed(), {"method": "bucketization", "column": "bucket"}, **ROLES)
    assert published(release) == PRINTED
    assert release.verdict["distinct-l-diversity"].found == {"l": 2}
    assert release.grouped.sizes.tolist() == [3, 3, 3]
    assert sf.verify(release).verdict.holds


HIERARCHIES = """\
columns:
  zipcode: {role: quasi-identifier, hierarchy: {kind: masking}}
  age: {role: quasi-identifier, hierarchy: {kind: intervals, widths: [10, 100]}}
  sex: quasi-identifier
  disease: sensitive
other: dropped
models:
  - {model: k-anonymity, k: 3}
  - {model: distinct-l-diversity, column: disease, l: 2}
  - {model: t-closeness, column: disease, t: 0.7}
"""


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("option", ["column=bucket", "partition=bottom-up"])
def test_the_printed_tables_come_out_of_the_command_line(tmp_path, option):
    data, policy = tmp_path / "nine.csv", tmp_path / "policy.yaml"
    pyarrow.csv.write_csv(printed(), data)
    policy.write_text(HIERARCHIES, encoding="utf-8")
    options = ["--method", "bucketization", "--option", option, "-p", str(policy)]
    done = run("decouple", str(data), "-o", str(tmp_path / "out"), *options)
    assert done.exit_code == 0, done.output
    read = [
        pyarrow.csv.read_csv(tmp_path / "out" / name).to_pylist()
        for name in ("qi.csv", "sensitive_disease.csv")
    ]
    people, values = ([tuple(row.values()) for row in rows] for rows in read)
    assert buckets_of(people, values) == PRINTED
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert [model["model"] for model in manifest["models"]] == [
        "distinct-l-diversity",
        "t-closeness",
    ]
    assert manifest["left_out"]["models"] == ["k-anonymity with k=3"]
    assert manifest["classes"]["smallest"] == 3
    readme = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "Every bucket keeps distinct-l-diversity of disease with l=2." in readme
    assert run("verify", str(tmp_path / "out")).exit_code == 0


def test_a_policy_names_it(tmp_path):
    text = HIERARCHIES + "decouple: {method: bucketization, column: bucket}\n"
    assert published(sf.decouple(printed(), policy=sf.Policy.from_yaml(text))) == PRINTED
    local = sf.Policy.from_yaml(HIERARCHIES + "method: bottom-up\ndecouple: bucketization\n")
    assert published(sf.decouple(printed(), policy=local)) == PRINTED
    with pytest.raises(PolicyError, match=r"decouple\.column: .*would reveal"):
        sf.Policy.from_yaml(HIERARCHIES + "decouple: {method: bucketization, column: disease}\n")


# Random tables: buckets as a dictionary, and models by their words.

VALUES = st.sampled_from(["flu", "gout", "hiv", None])
PEOPLE = st.lists(
    st.tuples(st.sampled_from("pqr"), st.sampled_from("ab"), st.sampled_from("xyz"), VALUES),
    min_size=1,
    max_size=16,
)
NAMES = ["ward", "age", "zip", "ill"]
MODELS = {
    "k": sf.models.KAnonymity(3),
    "distinct": sf.models.DistinctLDiversity("ill", 2),
    "probabilistic": sf.models.ProbabilisticLDiversity("ill", 2),
    "alpha": sf.models.AlphaKAnonymity("ill", alpha=0.6, k=2),
}


def keeps(name, ills):
    """Whether the values of a bucket keep a model, by its definition."""
    known = Counter(value for value in ills if value is not None)
    shares = [Fraction(n, known.total()) for n in known.values()]
    return {
        "k": len(ills) >= 3,
        "distinct": len(known) >= 2,
        "probabilistic": bool(known) and max(shares) <= Fraction(1, 2),
        "alpha": len(ills) >= 2 and bool(known) and max(shares) <= Fraction(6, 10),
    }[name]


def policy_of(names, **changes):
    columns = {"age": "quasi-identifier", "zip": "quasi-identifier", "ill": "sensitive"}
    models = [MODELS[name] for name in names] or [sf.models.KAnonymity(2)]
    return sf.Policy(columns=columns, models=models, other="dropped", **changes)


@given(PEOPLE, st.sets(st.sampled_from(list(MODELS)), min_size=1))
def test_given_buckets_are_judged_by_their_definition(rows, names):
    wards = defaultdict(list)
    for row in rows:
        wards[row[0]].append(row)
    # Where no model looks at the values, two of them are asked for.
    asked = names if names - {"k"} else names | {"distinct"}
    bad = {
        ward
        for ward, people in wards.items()
        if not all(keeps(name, [row[-1] for row in people]) for name in asked)
    }
    method = Bucketization(column="ward")
    if bad:
        with pytest.raises(InfeasibleError, match="buckets do not keep") as refused:
            sf.decouple(table(rows, NAMES), method, policy=policy_of(sorted(names)))
        assert any(repr(ward) in str(refused.value) for ward in bad)
        return
    release = sf.decouple(table(rows, NAMES), method, policy=policy_of(sorted(names)))
    expected = [
        (sorted(row[1:3] for row in people), Counter(row[-1] for row in people))
        for people in wards.values()
    ]
    assert _tables(release) == sorted(expected, key=repr)


def _tables(release):
    people, values = defaultdict(list), defaultdict(Counter)
    for row in release.tables["qi"].to_pylist():
        people[row["bucket"]].append((row["age"], row["zip"]))
    for row in release.tables["sensitive_ill"].to_pylist():
        values[row["bucket"]][row["ill"]] += row["count"]
    assert people.keys() == values.keys()
    return sorted(((sorted(people[each]), values[each]) for each in people), key=repr)


@pytest.mark.parametrize("method", METHODS)
@given(rows=PEOPLE, names=st.sets(st.sampled_from(list(MODELS)), min_size=1))
def test_made_buckets_keep_the_models_and_everybody(method, rows, names):
    asked = names if names - {"k"} else names | {"distinct"}
    try:
        release = sf.decouple(
            table([row[1:] for row in rows], NAMES[1:]),
            Bucketization(partition=method),
            policy=policy_of(sorted(names)),
        )
    except InfeasibleError:
        # One bucket with everybody is a release, unless it fails; all of these models are closed.
        assert not all(keeps(name, [row[-1] for row in rows]) for name in asked)
        return
    found = _tables(release)
    for _, values in found:
        assert all(keeps(name, list(values.elements())) for name in asked)
    assert Counter(p for people, _ in found for p in people) == Counter(r[1:3] for r in rows)
    assert sum((values for _, values in found), Counter()) == Counter(row[-1] for row in rows)
    assert release.verdict.holds


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz")), min_size=2, max_size=6))
def test_whoever_lists_all_worlds_believes_no_value_above_one_in_l(rows):
    """Every way to give the values of a bucket to its people is a world that may be."""
    policy = sf.Policy(
        columns={"age": "quasi-identifier", "ill": "sensitive"},
        models=[sf.models.ProbabilisticLDiversity("ill", 2)],
    )
    try:
        release = sf.decouple(table(rows, ["age", "ill"]), "bucketization", policy=policy)
    except InfeasibleError:
        return
    for label in {row["bucket"] for row in release.tables["qi"].to_pylist()}:
        people = [r["age"] for r in release.tables["qi"].to_pylist() if r["bucket"] == label]
        counted = [r for r in release.tables["sensitive_ill"].to_pylist() if r["bucket"] == label]
        values = [row["ill"] for row in counted for _ in range(row["count"])]
        worlds = list(permutations(values))
        for at in range(len(people)):
            believed = Counter(world[at] for world in worlds)
            assert max(believed.values()) * 2 <= len(worlds)


def test_labels_are_drawn_and_the_column_is_not_published(tmp_path):
    rows = [(ward, age, "x", ill) for ward in ("canary-1", "canary-2") for age, ill in ("af", "bg")]
    method = Bucketization(column="ward")
    roles = {"quasi_identifiers": ["age", "zip"], "sensitive": ["ill"]}
    counts = FrequencySet.from_rows(NAMES, rows)
    first = Counter()
    for seed in range(200):
        rng = np.random.default_rng(seed)
        one, other = method.run(counts, *roles.values(), rng=rng).grouped.labelled.tolist()
        first[one < other] += 1
    assert min(first.values()) > 60  # of 200; fewer by chance once in a hundred million
    sf.decouple(table(rows, NAMES), method, output=tmp_path / "out", format="csv", **roles)
    for path in (tmp_path / "out").iterdir():
        text = path.read_text(encoding="utf-8")
        assert "canary" not in text
        assert "ward" not in text


def test_a_quasi_identifier_may_be_the_bucket():
    rows = [("p", "a", "x", "flu"), ("p", "b", "y", "gout"), ("q", "a", "x", "flu")]
    rows.append(("q", "b", "z", "hiv"))
    roles = {"quasi_identifiers": ["ward", "age"], "sensitive": ["ill"]}
    release = sf.decouple(table(rows, NAMES), Bucketization(column="ward"), **roles)
    wards = defaultdict(set)
    for row in release.tables["qi"].to_pylist():
        wards[row["bucket"]].add(row["ward"])
    assert sorted(map(sorted, wards.values())) == [["p"], ["q"]]


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"column": "nope"}, UnknownColumnError, "no column 'nope'"),
        ({"column": "ill"}, ParameterError, "the buckets would reveal the value"),
        ({"column": "hole"}, InputError, "1 rows have no bucket: 'hole' is empty there"),
        ({"column": "ward", "partition": "mondrian"}, ParameterError, "left out"),
        ({"partition": "mondrien"}, (ParameterError, UnknownNameError), "Did you mean 'mondrian'"),
        ({"l": 1}, ParameterError, "at least 2"),
        ({"l": 4}, InfeasibleError, "no release can keep distinct-l-diversity of ill with l=4"),
        ({"column": "ward", "l": 3}, InfeasibleError, "2 of 2 buckets do not keep .*: 'p', 'q'"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(settings, error, said):
    rows = [("p", "a", "x", "flu", "1"), ("p", "b", "x", "gout", "1")]
    rows += [("q", "a", "x", "flu", "2"), ("q", "c", "x", "hiv", None)]
    with pytest.raises(error, match=said):
        sf.decouple(
            table(rows, [*NAMES, "hole"]),
            {"method": "bucketization", **settings},
            quasi_identifiers=["age", "zip"],
            sensitive=["ill"],
        )


def test_several_sensitive_columns_are_refused_as_by_anatomy():
    with pytest.raises(ParameterError, match="do not bound how likely"):
        sf.decouple(
            printed(), "bucketization", quasi_identifiers=["age"], sensitive=["disease", "sex"]
        )


@pytest.mark.parametrize("task", [sf.breach, sf.detect])
def test_tasks_that_need_groups_of_people_who_look_alike_refuse_it(tmp_path, task):
    for output in (None, tmp_path / "buckets"):
        release = sf.decouple(printed(), Bucketization("bucket"), **ROLES, output=output)
        with pytest.raises(InputError, match="decoupled by 'break-merge'"):
            task(release if output is None else release.folder)


def test_a_ledger_does_not_start_from_it(tmp_path):
    release = sf.decouple(printed(), Bucketization("bucket"), **ROLES)
    with pytest.raises(InputError, match="who shares a bucket was not drawn by lot"):
        sf.Ledger.start(release, tmp_path / "x.ledger", alpha=0.5)


def test_what_readers_ask_is_answered_from_the_buckets():
    release = sf.decouple(printed(), Bucketization("bucket"), **ROLES)
    person = sf.explain(release, {"zipcode": "47677", "age": "29"})
    assert "Ovarian Cancer: 67 %" in str(person)
    assert str(sf.estimate(release, {"disease": "Flu"})).startswith("3 of 9 rows")
    assert sf.tools.membership(printed(), release).matched == 9
    assert sf.utility(printed(), release, queries=20).queries.mean >= 0


@pytest.mark.usefixtures("patience")
def test_policies_are_compared_with_it():
    policy = sf.Policy.from_yaml(HIERARCHIES + "decouple: {method: bucketization, column: bucket}")
    vary = {"decouple": ["none", "bucketization", {"method": "bucketization", "column": "bucket"}]}
    found = sf.compare(printed(), policy, vary=vary)
    assert all(point.possible for point in found.points)
    given = found.points[2]
    assert (given.classes, given.smallest) == (3, 3)
    wrong = sf.compare(printed(), policy.replace(models=[sf.models.KAnonymity(4)]))
    assert "buckets do not keep k-anonymity with k=4" in wrong.points[0].reason


@pytest.mark.usefixtures("patience")
def test_a_column_of_a_database_holds_the_buckets(tmp_path):
    duckdb = imported("duckdb", "duckdb")
    people = printed()
    with duckdb.connect(tmp_path / "x.db") as connection:
        connection.register("given", people)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    address = f"duckdb:///{tmp_path}/x.db?table="
    release = sf.decouple(
        f"{address}people", Bucketization("bucket"), **ROLES, output="table:parted"
    )
    assert release.grouped.sizes.tolist() == [3, 3, 3]
    assert sf.verify(f"{address}parted").verdict.holds
    with duckdb.connect(tmp_path / "x.db") as connection:
        people = connection.execute("SELECT * FROM parted").fetchall()
        values = connection.execute("SELECT * FROM parted_sensitive_disease").fetchall()
    assert buckets_of(people, values) == PRINTED


# The verifier believes nothing.


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        (lambda m: m["models"][0].update(l=3), ["distinct-l-diversity"]),
        (lambda m: m["models"][0].update(measured={"l": 3}), ["distinct-l-diversity"]),
        (lambda m: m["models"].append({"model": "k-anonymity", "k": 3}), ["k-anonymity"]),
        (lambda m: m.update(models=[{"model": "k-anonymity", "k": 3}]), ["k-anonymity", "models"]),
        (lambda m: m["classes"].update(smallest=4), ["figures"]),
    ],
)
def test_promises_that_the_tables_do_not_keep_are_found(tmp_path, edit, found):
    sf.decouple(printed(), Bucketization("bucket"), **ROLES, output=tmp_path / "out")
    (tmp_path / "out" / "evidence.json").unlink()
    edit_manifest(tmp_path / "out", edit)
    verdict = verify_folder(tmp_path / "out")
    assert [check.name for check in verdict.checks if check.status != "holds"] == found
