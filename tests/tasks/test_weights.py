"""Weights of surveys: what is published of them, what it keeps, and what it tells."""

import json
import math
from collections import defaultdict
from itertools import permutations

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.counts import Column
from sfumato.errors import InputError, PolicyError
from sfumato.populations.weights import Averaging
from sfumato.releases.opening import open_release
from sfumato.text import format_integer
from sfumato.usefulness import Query, among

AGE = {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [5, 20, 40]}}
METHODS = ("full-domain", "regional", "top-down", "mondrian", "bottom-up", "mdav")


def survey(n: int = 400, seed: int = 0) -> pa.Table:
    """Make a stratified sample: women of the north were drawn least often, and weigh most."""
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(18, 78, n), rng.choice(["f", "m"], n)
    region = rng.choice(["north", "south"], n, p=[0.2, 0.8])
    design = 40 + 60 * (sex == "f") + 150 * (region == "north")
    weight = np.round(design * rng.uniform(0.8, 1.25, n), 3)
    pay = np.round(1000 + 20 * age + 300 * (region == "north") + rng.normal(0, 100, n), 9)
    half = weight * rng.choice([0.0, 2.0], n)
    return pa.table({"age": age, "sex": sex, "region": region, "pay": pay, "w": weight, "r1": half})


def policy(weight="weight", *, k: int = 5, **more) -> sf.Policy:
    columns = {
        "age": AGE,
        "sex": "quasi-identifier",
        "region": "dropped",
        "pay": "plain",
        "w": weight,
        "r1": "weight",
    }
    settings = {"models": [{"model": "k-anonymity", "k": k}], **more}
    return sf.Policy(columns=columns, **settings)


def classes_of(table: pa.Table, names=("age", "sex")) -> dict[tuple, list[dict]]:
    """Group rows by what readers see, one by one."""
    found = defaultdict(list)
    for row in table.to_pylist():
        found[tuple(row[name] for name in names)].append(row)
    return found


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", METHODS)
def test_a_class_has_one_weight_and_keeps_its_sum(method):
    table = survey()
    release = sf.anonymize(table, policy(method=method))
    assert release.verdict["weights"].status == "holds"
    every = classes_of(release.table)
    assert all(len({row["w"] for row in rows}) == 1 for rows in every.values())
    # Whom a class is made of is told by a plain column that no two rows share.
    weight = dict(zip(table["pay"].to_pylist(), table["w"].to_pylist(), strict=True))
    replicate = dict(zip(table["pay"].to_pylist(), table["r1"].to_pylist(), strict=True))
    for rows in every.values():
        for name, of in (("w", weight), ("r1", replicate)):
            truth = math.fsum(of[row["pay"]] for row in rows)
            assert math.isclose(math.fsum(row[name] for row in rows), truth, rel_tol=1e-9)


CELLS = st.tuples(
    st.sampled_from([20, 21, 30, 31, 55]),
    st.sampled_from(["f", "m", None]),
    st.sampled_from([0, 1, 2.5, 1e-6, 1e9, 7]),
)


@pytest.mark.usefixtures("patience")
@given(
    st.lists(CELLS, min_size=4, max_size=30),
    st.sampled_from(METHODS),
    st.sampled_from(["remove", "star"]),
)
@settings(max_examples=60, deadline=None)
def test_weights_are_those_of_the_textbook(rows, method, suppression):
    """Each row that is published has the mean of the raw weights of all rows that look like it."""
    numbered = [(age, sex, weight, i) for i, (age, sex, weight) in enumerate(rows)]
    if not any(weight for _, _, weight, _ in numbered):
        return
    names = ("age", "sex", "w", "row")
    table = pa.table({n: [r[i] for r in numbered] for i, n in enumerate(names)})
    rules = sf.Policy(
        columns={"age": AGE, "sex": "quasi-identifier", "w": "weight", "row": "plain"},
        models=[{"model": "k-anonymity", "k": 2}],
        method=method,
        suppression={"limit": 0.3, "rows": suppression},
    )
    release = sf.anonymize(table, rules)
    assert release.verdict.holds
    published = [row for row in release.table.to_pylist() if row["row"] is not None]
    for seen in classes_of(pa.Table.from_pylist(published, release.table.schema)).values():
        mean = math.fsum(numbered[row["row"]][2] for row in seen) / len(seen)
        assert all(math.isclose(row["w"], mean, rel_tol=1e-9) for row in seen)
    # A row that is suppressed has no weight, and adds nothing to that of others.
    stars = [row for row in release.table.to_pylist() if row["row"] is None]
    assert all(row["w"] is None for row in stars)


@pytest.mark.usefixtures("patience")
def test_no_release_tells_rows_of_a_class_apart_whatever_their_weights_were():
    """People of a class who change their weights leave the same release behind."""
    rules = sf.Policy(
        columns={"age": AGE, "w": "weight"}, models=[{"model": "k-anonymity", "k": 4}]
    )
    for weights in permutations([1.0, 5.0, 2.0, 900.0]):
        table = pa.table({"age": [30, 30, 30, 31], "w": weights})
        assert sf.anonymize(table, rules).table["w"].to_pylist() == [227.0] * 4


def test_a_weight_is_rounded_to_a_step_and_the_manifest_says_so(tmp_path):
    release = sf.anonymize(survey(), policy({"role": "weight", "round": 10}), output=tmp_path / "r")
    manifest = json.loads((tmp_path / "r/manifest.json").read_text())
    [said] = [each for each in manifest["columns"] if each["name"] == "w"]
    assert said == {"name": "w", "role": "weight", "published": "class-mean", "round": 10}
    weights = pq.read_table(tmp_path / "r/data.parquet")["w"].to_pylist()
    assert all(weight % 10 == 0 and weight > 0 for weight in weights)
    assert release.verdict.holds


def test_noise_is_one_factor_per_class_and_keeps_the_total():
    table = survey()
    plain = sf.anonymize(table, policy(), seed=1)
    noisy = sf.anonymize(table, policy({"role": "weight", "perturb": "10 %"}), seed=1)
    before = {key: rows[0]["w"] for key, rows in classes_of(plain.table).items()}
    after = {key: rows[0]["w"] for key, rows in classes_of(noisy.table).items()}
    ratios = [after[key] / before[key] for key in before]
    assert len({round(ratio, 6) for ratio in ratios}) > 1
    assert all(0.8 < ratio < 1.25 for ratio in ratios)
    total = math.fsum(table["w"].to_pylist())
    assert math.isclose(math.fsum(noisy.table["w"].to_pylist()), total, rel_tol=1e-9)


@pytest.mark.usefixtures("patience")
def test_means_do_not_depend_on_the_order_of_rows():
    table = survey(3000)
    other = table.take(np.random.default_rng(3).permutation(len(table)))
    first, second = (
        {key: rows[0]["w"] for key, rows in classes_of(sf.anonymize(each, policy()).table).items()}
        for each in (table, other)
    )
    assert first == second


def test_estimates_from_a_release_are_near_those_of_the_survey():
    """Weighted totals by what is published exactly are exact; weighted means are near."""
    table = survey(4000, seed=5)
    release = sf.anonymize(table, policy()).table
    raw, out = table.to_pandas(), release.to_pandas()
    for sex in "fm":
        truth = raw.w[raw.sex == sex].sum()
        if set(out.sex) == {"f", "m"}:
            assert math.isclose(out.w[out.sex == sex].sum(), truth, rel_tol=1e-9)
    truth = np.average(raw.pay, weights=raw.w)
    assert abs(np.average(out.pay, weights=out.w) / truth - 1) < 0.05


@pytest.mark.usefixtures("patience")
def test_weights_of_a_csv_file_are_numbers(tmp_path):
    pa_csv.write_csv(survey(), tmp_path / "survey.csv")
    release = sf.anonymize(tmp_path / "survey.csv", policy(), output=tmp_path / "r")
    assert release.verdict.holds
    # A reader of the file recomputes it, and finds what was tampered with.
    path = tmp_path / "r/data.csv"
    lines = path.read_text().splitlines()
    cells = lines[1].split(",")
    cells[-2] = '"1234.5"' if cells[-2].startswith('"') else "1234.5"
    path.write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]) + "\n")
    check = sf.verify(tmp_path / "r").verdict["weights"]
    assert check.status == "broken"
    assert "told apart by their weight" in check.detail


def test_a_verdict_knows_that_an_exact_weight_singles_out():
    table = survey().drop(["region", "r1", "pay"])
    columns = {"age": AGE, "sex": "quasi-identifier", "w": "weight"}
    rules = sf.Policy(columns=columns, models=[{"model": "k-anonymity", "k": 5}])
    general = sf.anonymize(table, rules)
    good = sf.verify(general, policy=rules)
    assert not good.columns
    # The same release with weights that differ in every row.
    raw = general.table.drop(["w"]).append_column("w", pa.array(survey(seed=8)["w"]))
    found = sf.verify(raw, policy=rules)
    [finding] = [each for each in found.columns if each.kind == "singles out"]
    assert finding.columns == ("w",)
    assert found.answer != "yes"


MISTAKES = {
    "missing": ([1.0, None, 2.0], "1 of 3 rows have none"),
    "negative": ([1.0, -2.0, 2.0], "smallest number is -2"),
    "infinite": ([1.0, math.inf, 2.0], "infinite"),
    "no number": (["1", "many", "2"], "'many', which is no number"),
    "truth": ([True, False, True], "bool, which is no number"),
    "nothing": ([0.0, 0.0, 0.0], "all of it is 0"),
}


@pytest.mark.parametrize(("weights", "expected"), MISTAKES.values(), ids=MISTAKES)
def test_what_is_no_weight_is_refused(weights, expected, tmp_path):
    table = pa.table({"age": [30] * 3, "w": weights})
    rules = sf.Policy(
        columns={"age": AGE, "w": "weight"}, models=[{"model": "k-anonymity", "k": 2}]
    )
    with pytest.raises(InputError, match=expected):
        sf.anonymize(table, rules, output=tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_replicates_may_be_negative_and_zero():
    table = pa.table({"age": [30] * 3, "w": [1, 2, 3], "rep1": [0, -1, 4], "rep2": [0, 0, 0]})
    rules = sf.Policy(
        columns={"age": AGE, "w": "weight", "rep1": "weight", "rep2": "weight"},
        models=[{"model": "k-anonymity", "k": 2}],
    )
    release = sf.anonymize(table, rules).table
    assert release.to_pylist() == [{"age": 30, "w": 2.0, "rep1": 1.0, "rep2": 0.0}] * 3


def rounded(weights, step):
    rules = sf.Policy(
        columns={"age": AGE, "w": {"role": "weight", "round": step}},
        models=[{"model": "k-anonymity", "k": 3}],
    )
    table = pa.table({"age": [30] * 3 + [70] * 3, "w": weights})
    found = sf.anonymize(table, rules).table
    return {row["age"]: row["w"] for row in found.to_pylist()}


def test_no_class_is_rounded_to_nothing():
    assert rounded([0.7, 1.2, 1.1, 40, 44, 47], 10) == {30: 10.0, 70: 40.0}
    assert rounded([0, 0, 0, 40, 45, 50], 10) == {30: 0.0, 70: 50.0}


def test_a_step_larger_than_the_mean_is_refused():
    with pytest.raises(InputError, match=r"its mean is 1\.5: nothing would be left"):
        rounded([1, 1, 1, 2, 2, 2], 2)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"missing": "matches-any"}, "may be alone in how it looks"),
        ({"models": [{"model": "average-risk", "risk": 0.2}]}, "two people or more"),
        ({"weight": {"role": "weight", "round": 5, "perturb": 0.1}}, "choose 'round' or 'perturb'"),
        ({"weight": {"role": "plain", "round": 5}}, "only weight columns have one"),
        ({"weight": {"role": "weight", "perturb": "0 %"}}, "above 0 and below 1"),
        ({"other": "weight"}, "must be named under columns"),
    ],
)
def test_policies_that_could_not_be_kept_are_refused(more, expected):
    with pytest.raises(PolicyError, match=expected):
        policy(**more)


def test_a_policy_with_weights_reads_back():
    for weight in ("weight", {"weight": {"round": 10}}, {"role": "weight", "perturb": "5 %"}):
        rules = policy(weight)
        assert sf.Policy.from_yaml(rules.to_yaml()) == rules
        assert rules.weights == ("w", "r1")
    assert policy({"weight": {"round": 10}}).averagings["w"] == Averaging(step=10.0)


@pytest.mark.usefixtures("patience")
def test_the_weights_of_a_release_stand_beside_its_quasi_identifiers():
    columns = {"age": AGE, "sex": "quasi-identifier", "pay": "sensitive", "w": "weight"}
    rules = sf.Policy(columns=columns, models=[{"model": "k-anonymity", "k": 5}])
    release = sf.anonymize(survey().drop(["region", "r1"]), rules)
    for made in (
        sf.decouple(release, "break-merge"),
        sf.decouple(release, {"method": "slicing", "l": 2}),
    ):
        assert made.manifest.left_out.columns == ()
        assert made.manifest.with_role("weight") == ("w",)
        assert ["w" in table.column_names for table in made.tables.values()].count(True) == 1
        assert sf.verify(made).verdict.holds
    # As they come, weights tell people apart.
    raw = sf.decouple(survey().drop(["region", "r1"]), {"method": "slicing", "l": 2}, policy=rules)
    assert all("w" not in table.column_names for table in raw.tables.values())
    assert "column 'w' is left out" in raw.warnings[0]


def test_weights_are_guessed_by_name_and_values():
    names = ["wght", "PWGTP12", "person weight", "fnlwgt", "Hochrechnungsfaktor", "REPWT80"]
    table = pa.table({name: [120.5, 310.2, 99.1] for name in names})
    drafted = sf.draft(table.append_column("age", pa.array([30, 31, 32])))
    roles = {name: drafted.policy.columns[name].role.value for name in names}
    assert roles == dict.fromkeys(names, "weight")
    other = pa.table({"age": [30, 31, 32], "wgt": ["low", "high", "low"], "weight": [60, 70, 80]})
    rules = sf.draft(other).policy.columns
    assert rules["wgt"].role.value == "quasi-identifier"
    assert rules["weight"].role.value == "sensitive"


# What the weights of a release are good for: estimates, usefulness, and the risk of a population.


@given(st.lists(CELLS, min_size=1, max_size=25), st.sampled_from([20, 30, 55]))
@settings(max_examples=60, deadline=None)
def test_estimates_of_people_are_sums_of_weights(rows, age):
    """Of a table as it is, the people who keep a condition are those their weights add up to."""
    table = pa.table({n: [r[i] for r in rows] for i, n in enumerate(("age", "sex", "w"))})
    release = open_release(table, RULES)
    shown = table["age"].unique().to_pylist()
    column = Column("age", tuple(sorted(shown)))
    estimator = release.weighted_estimator((column,), {})
    truth = math.fsum(w for a, _, w in rows if a == age)
    if age in shown:
        found = estimator.count(Query((among(column, [age]),)))
        assert math.isclose(found, truth, rel_tol=1e-12, abs_tol=1e-12)
    assert math.isclose(estimator.total, math.fsum(w for _, _, w in rows), rel_tol=1e-12)


RULES = sf.Policy(
    columns={"age": AGE, "sex": "quasi-identifier", "w": "weight"},
    models=[{"model": "k-anonymity", "k": 2}],
)


@pytest.mark.usefixtures("patience")
def test_an_estimate_tells_people_of_the_population_beside_rows(tmp_path):
    table = survey(2000, seed=2)
    release = sf.anonymize(table, policy(), output=tmp_path / "r")
    found = sf.estimate(tmp_path / "r", {"sex": "f"})
    raw = table.to_pandas()
    if release.levels["sex"] == 0:
        assert math.isclose(found.people, raw.w[raw.sex == "f"].sum(), rel_tol=1e-9)
    assert math.isclose(found.population, raw.w.sum(), rel_tol=1e-9)
    people, population = (
        format_integer(round(found.people)),
        format_integer(round(found.population)),
    )
    assert f"{people} of {population} people" in str(found)
    assert found.to_dict()["people"] == found.people
    without = sf.estimate(pa.table({"sex": ["f", "m"]}), {"sex": "f"})
    assert without.people is None
    assert "population" not in str(without)


@pytest.mark.usefixtures("patience")
def test_usefulness_compares_weighted_answers_means_and_shares():
    table = survey(1500, seed=3)
    rules = policy().replace(
        columns={**policy().columns, "pay": "sensitive", "region": "sensitive"}
    )
    release = sf.anonymize(table, rules)
    found = sf.utility(table, release, policy=rules, queries=200).weighted
    raw, out = table.to_pandas(), release.table.to_pandas()
    columns = {each.name: each for each in found.columns}
    assert math.isclose(columns["pay"].before, np.average(raw.pay, weights=raw.w), rel_tol=1e-9)
    assert math.isclose(columns["pay"].after, np.average(out.pay, weights=out.w), rel_tol=1e-9)
    north = [each.w[each.region == "north"].sum() / each.w.sum() for each in (raw, out)]
    assert math.isclose(columns["region"].share_off, abs(north[0] - north[1]), rel_tol=1e-6)
    assert columns["region"].before is None
    assert math.isclose(found.people, raw.w.sum(), rel_tol=1e-9)
    assert 0 < found.queries.median < 1
    same = sf.utility(table, table, policy=rules, queries=50).weighted
    assert same.queries.mean < 1e-9
    assert all(each.share_off < 1e-9 for each in same.columns)


@pytest.mark.usefixtures("patience")
def test_a_report_shows_weighted_means():
    table, rules = survey(), policy()
    text = str(sf.report(sf.anonymize(table, rules), data=table, policy=rules))
    assert "Weighted by w" in text
    assert "mean before" in text


def test_usefulness_without_weights_says_nothing_of_them():
    table = survey(300).drop(["w", "r1"])
    roles = {"quasi_identifiers": ["age", "sex"], "sensitive": ["region"]}
    found = sf.utility(table, table, **roles, queries=20)
    assert found.weighted is None
    assert "weighted" not in found.to_dict()


@given(st.lists(CELLS, min_size=1, max_size=25))
@settings(max_examples=60, deadline=None)
def test_the_estimated_risk_is_that_of_the_textbook(rows):
    # A weight that is 0 everywhere is refused, as `anonymize` does.
    assume(any(weight for _, _, weight in rows))
    table = pa.table({n: [r[i] for r in rows] for i, n in enumerate(("age", "sex", "w"))})
    found = sf.inspect(table, policy=RULES, subsets=0).estimated
    people, sizes = defaultdict(float), defaultdict(int)
    for age, sex, weight in rows:
        people[age, sex] += weight
        sizes[age, sex] += 1
    total = math.fsum(weight for _, _, weight in rows)
    if total <= 1.001 * len(rows):
        assert found is None
        return
    # A class of a sample has at least as many people as rows.
    each = {key: max(people[key], sizes[key]) for key in sizes}
    assert math.isclose(found.people, total)
    assert math.isclose(found.smallest, min(each.values()))
    assert math.isclose(found.maximum, 1 / min(each.values()))
    risk = math.fsum(1 / each[age, sex] for age, sex, _ in rows) / len(rows)
    assert math.isclose(found.average, risk)


@pytest.mark.usefixtures("patience")
def test_an_inspection_says_that_a_population_is_estimated():
    table = survey()
    found = sf.inspect(table, quasi_identifiers=["age", "sex"], weight="w", subsets=0)
    assert "estimate, which is no promise" in str(found)
    assert found.to_dict()["estimated"]["weight"] == "w"
    guessed = sf.inspect(table.rename_columns(["age", "sex", "region", "pay", "wght", "r1"]))
    assert guessed.estimated.weight == "wght"
    # Weights that are scaled to a mean of 1 tell nothing of a population.
    scaled = table.set_column(4, "w", pa.array(np.ones(len(table))))
    assert sf.inspect(scaled, quasi_identifiers=["age"], weight="w").estimated is None
    with pytest.raises(InputError, match="no number"):
        sf.inspect(table, quasi_identifiers=["age"], weight="sex")
