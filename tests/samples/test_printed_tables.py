"""The printed tables hold the printed figures: what the literature says of them is recomputed."""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product

import pytest
import yaml

from sfumato import samples
from sfumato.errors import UnknownNameError
from tests.samples.trees import paths_in

CATEGORIES = [
    {"Cancer", "HIV"},
    {"Hepatitis", "Phthisis"},
    {"Asthma", "Obesity"},
    {"Indigestion", "Flu"},
]


def rows_of(name):
    return samples.table(name).to_pylist()


def groups_of(name, key):
    groups = defaultdict(list)
    for row in rows_of(name):
        groups[key(row)].append(row)
    return dict(groups)


def decade(row):
    return row["zipcode"][:3], int(row["age"]) // 10


def weight(condition):
    return next(Fraction(i, 3) for i, kind in enumerate(CATEGORIES) if condition in kind)


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("census", 10),
        ("census-raw", 10),
        ("hospital", 4),
        ("driving-record", 3),
        ("ward", 4),
        ("homogeneity", 12),
        ("similarity", 9),
        ("health", 12),
        ("health-mixed", 11),
        ("incognito", 10),
        ("top-down", 4),
        ("patients", 9),
        ("bucketization", 9),
    ],
)
def test_each_table_has_as_many_rows_as_in_print(name, rows):
    table = samples.table(name)
    assert table.num_rows == rows
    assert set(map(str, table.schema.types)) == {"string"}
    assert sum(column.null_count for column in table.columns) == 0


def test_every_file_is_in_the_catalogue_and_every_entry_has_a_file_and_a_description():
    files = {file.stem for file in samples.path("census").parent.glob("*.csv")}
    assert files == set(samples.names())
    assert all(samples.about(name).endswith(".") for name in samples.names())


def test_a_misspelt_sample_is_answered_with_the_right_one():
    with pytest.raises(UnknownNameError, match=r"no sample 'hospitl'\. Did you mean 'hospital'"):
        samples.table("hospitl")
    with pytest.raises(UnknownNameError, match=r"no sample policy 'helth'.*'health'"):
        samples.policy_path("helth")


def test_census_is_census_raw_with_ages_and_zipcodes_as_ranges():
    def inside(value, span):
        low, high = span.strip("[]").split("-")
        return int(low) <= int(value) <= int(high)

    published = Counter(tuple(row.values()) for row in rows_of("census"))
    spans = {row["gender"]: (row["age"], row["zipcode"]) for row in rows_of("census")}
    derived = Counter()
    for row in rows_of("census-raw"):
        age, zipcode = spans[row["gender"]]
        assert inside(row["age"], age)
        assert inside(row["zipcode"], zipcode)
        rest = row["government"], row["marital_status"], row["salary"]
        derived[(age, row["gender"], zipcode, *rest)] += 1
    assert derived == published


def test_census_is_5_anonymous_and_still_betrays_who_works_for_the_state():
    groups = groups_of("census", lambda row: (row["age"], row["gender"], row["zipcode"]))
    assert [len(rows) for rows in groups.values()] == [5, 5]
    women, men = groups.values()
    state = [row for row in women if row["government"] == "State-gov"]
    assert len(state) == 2
    assert {(row["marital_status"], row["salary"]) for row in state} == {("Never-Married", "<=50K")}
    private = [row for row in men if row["government"] == "Private"]
    both = [r for r in private if (r["marital_status"], r["salary"]) == ("Married", ">50K")]
    assert (len(both), len(private)) == (2, 3)


def test_the_breach_probabilities_of_the_census_groups_are_the_printed_ones():
    women, men = groups_of("census", lambda row: row["gender"]).values()

    def share(rows, column, value):
        return Fraction(sum(row[column] == value for row in rows), len(rows))

    assert share(women, "marital_status", "Never-Married") * share(women, "salary", "<=50K") == (
        Fraction(32, 100)
    )
    assert share(men, "marital_status", "Married") * share(men, "salary", ">50K") == (
        Fraction(24, 100)
    )


def test_joining_the_driving_record_reveals_rajesh_and_nobody_else():
    shared = ("zipcode", "age", "nationality")
    found = [
        (public["name"], patient["name"], patient["condition"])
        for public, patient in product(rows_of("driving-record"), rows_of("hospital"))
        if all(public[column] == patient[column] for column in shared)
    ]
    assert found == [("Rajesh", "Rajesh", "HIV")]


def test_ward_is_one_class_of_four_different_conditions():
    rows = rows_of("ward")
    assert {row["zipcode"][:3] for row in rows} == {"240"}
    assert all(int(row["age"]) < 40 for row in rows)
    assert len({row["condition"] for row in rows}) == 4


def test_homogeneity_has_one_class_of_four_with_a_single_condition():
    def as_printed(row):
        return row["zipcode"][:3], min(int(row["age"]) // 10, 4)

    groups = groups_of("homogeneity", as_printed)
    assert {key: len(rows) for key, rows in groups.items()} == {
        ("240", 3): 4,
        ("240", 2): 4,
        ("259", 4): 4,
    }
    assert {row["condition"] for row in groups["240", 3]} == {"Viral Infection"}


def test_similarity_shows_three_conditions_per_class_and_one_organ():
    groups = groups_of("similarity", decade)
    young = groups["786", 2]
    assert sorted(map(len, groups.values())) == [3, 3, 3]
    assert sorted(int(row["salary"]) for row in young) == [60_000, 70_000, 80_000]
    assert len({row["condition"] for row in young}) == 3


def test_health_groups_into_three_classes_and_one_is_all_most_secret():
    groups = groups_of("health", decade)
    assert {key: len(rows) for key, rows in groups.items()} == {
        ("253", 2): 4,
        ("240", 4): 4,
        ("253", 3): 4,
    }
    assert {row["condition"] for row in groups["253", 3]} == CATEGORIES[0]


def test_health_mixed_contains_the_printed_groups_with_their_total_weights():
    rows = rows_of("health-mixed")
    conditions = Counter(row["condition"] for row in rows)
    skewed, even = ["HIV", "Cancer", "HIV", "Flu"], ["Hepatitis", "Phthisis", "Asthma", "Obesity"]
    assert sum(map(weight, skewed)) == 1
    assert sum(map(weight, even)) == 2
    assert not (Counter(skewed) + Counter(even)) - conditions


def test_top_down_has_one_row_that_cannot_stand_alone():
    assert Counter(row["zipcode"] for row in rows_of("top-down")) == {"73456": 3, "73455": 1}


def test_patients_is_3_anonymous_and_those_in_their_twenties_all_have_heart_disease():
    groups = groups_of("patients", lambda row: (row["zipcode"][:3], min(int(row["age"]) // 10, 4)))
    assert sorted(map(len, groups.values())) == [3, 3, 3]
    assert {row["disease"] for row in groups["476", 2]} == {"Heart Disease"}


def test_bucketization_has_the_printed_counts_in_its_three_buckets():
    diseases = [row["disease"] for row in rows_of("bucketization")]
    assert [Counter(diseases[start : start + 3]) for start in (0, 3, 6)] == [
        {"Ovarian Cancer": 2, "Prostate Cancer": 1},
        {"Flu": 1, "Heart Disease": 2},
        {"Heart Disease": 1, "Flu": 2},
    ]


def incognito_levels():
    columns = yaml.safe_load(samples.policy_path("incognito").read_text("utf-8"))["columns"]
    marital = dict(paths_in(columns["marital_status"]["hierarchy"]["tree"]))
    zipcodes = ("22030", "22032", "22045", "22047")
    return {
        "zipcode": {code: (code, code[:4] + "*", code[:3] + "**") for code in zipcodes},
        "marital_status": {leaf: (leaf, *above, "*") for leaf, above in marital.items()},
        "gender": {value: (value, "*") for value in ("Male", "Female")},
    }


@pytest.mark.parametrize(
    ("allowed", "minimal"),
    [
        (0, {(1, 2, 1), (2, 1, 1), (2, 2, 0)}),
        (1, {(0, 2, 1), (2, 1, 1), (2, 2, 0)}),
        (2, {(0, 2, 1), (2, 1, 1), (2, 2, 0)}),
        (3, {(0, 2, 1), (1, 1, 0)}),
    ],
)
def test_the_incognito_example_has_the_minimal_nodes_computed_by_hand(allowed, minimal):
    levels = incognito_levels()
    passing = set()
    for node in product(range(3), range(3), range(2)):
        classes = Counter(
            tuple(
                levels[column][row[column]][level]
                for column, level in zip(levels, node, strict=True)
            )
            for row in rows_of("incognito")
        )
        if sum(size for size in classes.values() if size < 3) <= allowed:
            passing.add(node)
    if allowed == 3:
        assert len(passing) == 9
    assert {
        node
        for node in passing
        if not any(
            other != node and all(a <= b for a, b in zip(other, node, strict=True))
            for other in passing
        )
    } == minimal


@pytest.mark.parametrize("name", ["health", "incognito", "patients"])
def test_a_sample_policy_names_the_columns_of_its_table_and_covers_their_values(name):
    policy = yaml.safe_load(samples.policy_path(name).read_text("utf-8"))
    table = samples.table(name)
    assert list(policy["columns"]) == table.column_names
    for column, said in policy["columns"].items():
        hierarchy = said["hierarchy"] if isinstance(said, dict) else {}
        if "tree" in hierarchy:
            leaves = [leaf for leaf, _ in paths_in(hierarchy["tree"])]
            assert set(table[column].to_pylist()) <= set(leaves)
