"""Invented people: the same for the same seed, plausible, and dependent as promised."""

from bisect import bisect_right
from datetime import date
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pyarrow.compute as pc
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sfumato import samples
from sfumato.errors import ParameterError
from sfumato.samples import people, population
from tests.samples.trees import paths_in

ROWS = 20_000


@pytest.fixture(scope="module")
def table():
    return samples.synthetic(ROWS, seed=7)


def uniforms(seed, n):
    """Make uniform draws from the raw stream: the top 53 bits of each number."""
    return [Fraction(int(raw) >> 11, 2**53) for raw in np.random.PCG64(seed).random_raw(n)]


def textbook_choice(uniform, weights):
    """Choose the first value whose cumulative share exceeds the draw."""
    total = sum(map(Fraction, weights))
    return bisect_right([share / total for share in accumulate(map(Fraction, weights))], uniform)


def codes(column):
    return np.unique(np.array(column.cast("string").fill_null("").to_pylist()), return_inverse=True)


def mutual_information(one, other):
    """Σ p(x,y) log p(x,y) / (p(x) p(y)), in nats."""
    counts = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(counts, (one, other), 1)
    joint = counts / counts.sum()
    expected = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    seen = joint > 0
    return float((joint[seen] * np.log(joint[seen] / expected[seen])).sum())


def test_the_same_seed_gives_the_same_people_and_another_seed_others(table):
    assert table.equals(samples.synthetic(ROWS, seed=7))
    assert not table.equals(samples.synthetic(ROWS, seed=8))


@pytest.mark.usefixtures("patience")
def test_ages_and_sexes_are_what_the_raw_stream_of_the_seed_says():
    n = 300
    draws = uniforms(11, 2 * n)
    starts = [start for start, _ in population.AGE_WEIGHTS] + [population.OLDEST + 1]
    by_year = [
        weight
        for (start, weight), end in zip(population.AGE_WEIGHTS, starts[1:], strict=True)
        for _ in range(start, end)
    ]
    ages = [18 + textbook_choice(draw, by_year) for draw in draws[:n]]
    bands = [sum(age >= end for end in population.BANDS) for age in ages]
    sexes = [
        population.SEXES[textbook_choice(draw, population.SEX_BY_BAND[band])]
        for draw, band in zip(draws[n:], bands, strict=True)
    ]
    table = samples.synthetic(n, seed=11)
    assert table["age"].to_pylist() == ages
    assert table["sex"].to_pylist() == sexes


@given(
    weights=st.integers(1, 5).flatmap(
        lambda values: st.lists(
            st.lists(st.integers(0, 9), min_size=values, max_size=values).filter(any),
            min_size=1,
            max_size=4,
        )
    ),
    seed=st.integers(0, 2**32),
    data=st.data(),
)
def test_a_draw_follows_the_weights_it_is_given(weights, seed, data):
    groups = data.draw(st.lists(st.integers(0, len(weights) - 1), min_size=1, max_size=20))
    drawn = people._draw(np.random.Generator(np.random.PCG64(seed)), weights, np.array(groups))
    expected = [
        textbook_choice(uniform, weights[group])
        for uniform, group in zip(uniforms(seed, len(groups)), groups, strict=True)
    ]
    assert drawn.tolist() == expected


def test_a_draw_that_rounds_up_stays_in_its_group():
    class AlmostOne:
        def random(self, n):
            return np.full(n, 1 - 2**-53)

    assert (
        people._draw(AlmostOne(), [[1, 1], [1, 1], [1, 1]], np.array([0, 1, 2])).tolist() == [1] * 3
    )


def test_people_drawn_in_several_batches_have_numbers_of_their_own(monkeypatch):
    monkeypatch.setattr(people, "_BATCH", 64)
    table = samples.synthetic(200, seed=3)
    assert table["patient_id"].to_pylist() == [f"P{i:07d}" for i in range(1, 201)]


def test_a_single_person_is_a_table_too():
    assert samples.synthetic(1, seed=0).num_rows == 1


def test_marginals_are_near_the_weights(table):
    ages = np.array(table["age"].to_pylist())
    assert (ages.min(), ages.max()) == (18, population.OLDEST)
    starts = [start for start, _ in population.AGE_WEIGHTS] + [population.OLDEST + 1]
    sizes = np.diff(starts) * [weight for _, weight in population.AGE_WEIGHTS]
    share = np.histogram(ages, starts)[0] / ROWS
    assert np.abs(share - sizes / sizes.sum()).max() < 5 * 0.5 / ROWS**0.5
    first_digit = np.array([int(code[0]) for code in table["postcode"].drop_null().to_pylist()])
    region = np.bincount(first_digit, minlength=10) / len(first_digit)
    weights = np.array(population.REGION_WEIGHTS) / sum(population.REGION_WEIGHTS)
    assert np.abs(region - weights).max() < 5 * 0.5 / ROWS**0.5


def test_postcodes_have_five_digits_and_some_begin_with_zero(table):
    postcodes = table["postcode"].drop_null().to_pylist()
    assert all(len(code) == 5 and code.isdigit() for code in postcodes)
    assert any(code.startswith("0") for code in postcodes)
    listed, weights = people._postcodes()
    assert len(set(listed)) == len(listed) == len(weights)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("age", "marital_status"),
        ("age", "education"),
        ("education", "occupation"),
        ("age", "diagnosis"),
        ("sex", "diagnosis"),
        ("occupation", "diagnosis"),
        ("diagnosis", "outcome"),
        ("age", "outcome"),
        ("occupation", "salary"),
        ("education", "salary"),
        ("salary", "insurance"),
        ("postcode", "nationality"),
        ("admitted", "diagnosis"),
    ],
)
def test_columns_that_should_depend_on_each_other_do(table, one, other):
    def coarse(name):
        column = table[name]
        if name == "salary":
            column = pc.floor(pc.divide(pc.cast(column, "double"), 10_000.0))
        if name == "postcode":
            column = pc.utf8_slice_codeunits(column, 0, 1)
        if name == "admitted":
            column = pc.month(column)
        return codes(column)[1]

    x, y = coarse(one), coarse(other)
    rng = np.random.default_rng(0)
    by_chance = [mutual_information(x, rng.permutation(y)) for _ in range(5)]
    assert mutual_information(x, y) > 1.5 * max(by_chance)


def test_sex_and_postcode_are_as_independent_as_chance_allows(table):
    x, y = codes(table["sex"])[1], codes(pc.utf8_slice_codeunits(table["postcode"], 0, 1))[1]
    rng = np.random.default_rng(0)
    by_chance = [mutual_information(x, rng.permutation(y)) for _ in range(20)]
    assert mutual_information(x, y) < 2 * max(by_chance)


def test_nobody_has_an_illness_their_body_cannot_have(table):
    pairs = set(zip(table["sex"].to_pylist(), table["diagnosis"].to_pylist(), strict=True))
    assert ("male", "childbirth") not in pairs
    assert ("female", "prostate cancer") not in pairs


@pytest.mark.usefixtures("patience")
def test_age_is_the_full_years_between_birth_and_admission(table):
    def full_years(born: date, day: date) -> int:
        return day.year - born.year - ((day.month, day.day) < (born.month, born.day))

    born, admitted = table["birth_date"].to_pylist(), table["admitted"].to_pylist()
    assert [full_years(b, a) for b, a in zip(born, admitted, strict=True)] == table[
        "age"
    ].to_pylist()
    assert date(2021, 1, 1) <= min(admitted) <= max(admitted) <= date(2023, 12, 31)


def test_a_few_cells_are_missing_and_only_where_it_is_said(table):
    for column in table.column_names:
        share = population.MISSING.get(column, 0)
        allowed = 5 * (share * (1 - share) / ROWS) ** 0.5
        assert abs(table[column].null_count / ROWS - share) <= allowed


def test_salaries_are_whole_hundreds_and_rise_with_education(table):
    salary = table["salary"].drop_null().to_pylist()
    assert min(salary) > 0
    assert all(amount % 100 == 0 for amount in salary)
    means = table.group_by("education").aggregate([("salary", "mean")]).to_pylist()
    mean = {row["education"]: row["salary_mean"] for row in means}
    assert mean["lower secondary"] < mean["apprenticeship"] < mean["bachelor"] < mean["doctorate"]


@pytest.mark.parametrize("rows", [0, -1, 2.5, "9", True])
def test_refuses_a_number_of_people_that_is_none(rows):
    with pytest.raises(ParameterError, match=r"rows must be an integer of at least 1, got "):
        samples.synthetic(rows, seed=1)


@pytest.mark.parametrize("seed", [-1, None, 0.5])
def test_refuses_a_seed_that_is_no_number(seed):
    with pytest.raises(ParameterError, match=r"seed must be an integer of at least 0, got "):
        samples.synthetic(5, seed=seed)


@pytest.mark.parametrize("name", ["synthetic", "synthetic-wide"])
def test_the_policies_name_every_column_and_cover_every_value(table, name):
    policy = yaml.safe_load(samples.policy_path(name).read_text("utf-8"))
    assert list(policy["columns"]) == table.column_names
    vocabulary = {
        "nationality": population.NATIONALITIES,
        "marital_status": population.MARITAL_STATUS,
        "education": population.EDUCATION,
        "occupation": [occupation.name for occupation in population.OCCUPATIONS],
        "diagnosis": [diagnosis.name for diagnosis in population.DIAGNOSES],
    }
    trees = {
        column: said["hierarchy"]["tree"]
        for column, said in policy["columns"].items()
        if isinstance(said, dict) and "tree" in said.get("hierarchy", ())
    }
    assert {"nationality", "marital_status", "diagnosis"} <= set(trees)
    for column, tree in trees.items():
        leaves = [leaf for leaf, _ in paths_in(tree)]
        assert sorted(leaves) == sorted(vocabulary[column])


def test_the_taxonomies_group_illnesses_and_occupations_as_the_generator_does():
    columns = yaml.safe_load(samples.policy_path("synthetic-wide").read_text("utf-8"))["columns"]
    chapter = {leaf: up[0] for leaf, up in paths_in(columns["diagnosis"]["hierarchy"]["tree"])}
    assert chapter == {diagnosis.name: diagnosis.chapter for diagnosis in population.DIAGNOSES}
    field = {leaf: up[0] for leaf, up in paths_in(columns["occupation"]["hierarchy"]["tree"])}
    assert field == {occupation.name: occupation.field for occupation in population.OCCUPATIONS}


def test_the_wide_policy_differs_only_in_what_it_does_with_education_and_occupation():
    narrow = yaml.safe_load(samples.synthetic_policy().read_text("utf-8"))
    wide = yaml.safe_load(samples.policy_path("synthetic-wide").read_text("utf-8"))
    for column in ("education", "occupation"):
        assert narrow["columns"].pop(column) == "dropped"
        assert wide["columns"].pop(column)["role"] == "quasi-identifier"
    assert narrow == wide
