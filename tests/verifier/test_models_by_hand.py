"""Figures worked out with pencil and paper, or printed in the literature."""

import math

import pyarrow as pa
import pytest

from sfumato.verifier import Promises, verify_file
from tests.verifier.releases import QUASI_IDENTIFIERS, TABLE_2

CATEGORIES = [
    ["Cancer", "HIV"],
    ["Hepatitis", "Phthisis"],
    ["Asthma", "Obesity"],
    ["Indigestion", "Flu"],
]

TWO_SENSITIVE = {
    "zip": ["253**"] * 4 + ["240**"] * 4 + ["2530*"] * 4,
    "age": ["<30"] * 4 + [">40"] * 4 + ["3*"] * 4,
    "country": ["Europe"] * 4 + ["Asia"] * 4 + ["America"] * 4,
    "ill": [
        *("Flu", "Indigestion", "Flu", "Indigestion"),
        *("Hepatitis", "Obesity", "Flu", "Flu"),
        *("HIV", "Cancer", "Cancer", "HIV"),
    ],
}
"""2-sensitive 4-anonymous, and its last class is all "most secret"."""

THREE_ONE_SENSITIVE = {
    "zip": ["2****"] * 4 + ["253**"] * 4,
    "age": ["<50"] * 4 + ["<40"] * 4,
    "country": ["*"] * 4 + ["America"] * 4,
    "ill": ["HIV", "Cancer", "HIV", "Flu", "Hepatitis", "Phthisis", "Asthma", "Obesity"],
}
"""(3,1)-sensitive 4-anonymous: the classes weigh 1 and 2."""


def judged(columns, quasi_identifiers, model, **more):
    promises = Promises(quasi_identifiers, models=[model], **more)
    (check,) = verify_file(pa.table(columns), promises).checks
    return check


def one_class(counts, model, **more):
    """Judge a single class with these counts of its sensitive values."""
    ill = [value for value, rows in counts.items() for _ in range(rows)]
    return judged({"q": ["x"] * len(ill), "ill": ill}, ["q"], {"column": "ill", **model}, **more)


def in_two(first, second, model, **more):
    """Judge two classes, each given by the list of its sensitive values."""
    columns = {"q": ["A"] * len(first) + ["B"] * len(second), "ill": [*first, *second]}
    return judged(columns, ["q"], {"column": "ill", **model}, **more)


def test_the_ten_census_records_are_5_anonymous_and_not_6_anonymous():
    good = judged(TABLE_2, QUASI_IDENTIFIERS, {"model": "k-anonymity", "k": 5})
    bad = judged(TABLE_2, QUASI_IDENTIFIERS, {"model": "k-anonymity", "k": 6})
    assert (good.status, good.found) == ("holds", {"k": 5})
    assert (bad.status, bad.found) == ("broken", {"k": 5})
    assert "2 of 2 classes (10 of 10 rows)" in bad.detail


@pytest.mark.parametrize(
    ("column", "distinct", "likeliest"),
    # Government 4 and 3 values, at most 3 of 5 rows; marital status 4 and 3; salary 4 of 5.
    [("government", 3, 5 / 3), ("marital-status", 3, 5 / 3), ("salary", 2, 5 / 4)],
)
def test_the_ten_census_records_show_the_diversity_one_can_count(column, distinct, likeliest):
    found = judged(
        TABLE_2, QUASI_IDENTIFIERS, {"model": "distinct-l-diversity", "column": column, "l": 2}
    ).found
    assert found == {"l": distinct}
    found = judged(
        TABLE_2, QUASI_IDENTIFIERS, {"model": "probabilistic-l-diversity", "column": column, "l": 2}
    ).found
    assert found == {"l": pytest.approx(likeliest)}


def test_the_2_sensitive_table_betrays_the_most_secret_category():
    columns = ["zip", "age", "country"]
    same = {"column": "ill", "p": 2, "k": 4}
    plain = judged(TWO_SENSITIVE, columns, {"model": "p-sensitive-k-anonymity", **same})
    assert (plain.status, plain.found) == ("holds", {"p": 2, "k": 4})
    same |= {"alpha": 1, "categories": CATEGORIES}
    weighed = judged(TWO_SENSITIVE, columns, {"model": "p-alpha-sensitive-k-anonymity", **same})
    assert (weighed.status, weighed.found) == ("broken", {"p": 2, "alpha": 0, "k": 4})
    assert weighed.worst == {"zip": "2530*", "age": "3*", "country": "America"}
    name = "enhanced-p-alpha-sensitive-k-anonymity"
    enhanced = judged(TWO_SENSITIVE, columns, {"model": name, **same})
    # The first class is all "not secret": one category as well.
    assert (enhanced.status, enhanced.found) == ("broken", {"p": 1, "alpha": 0, "k": 4})


def test_the_3_1_sensitive_table_weighs_1_and_2():
    columns = ["zip", "age", "country"]
    same = {"column": "ill", "alpha": 1, "k": 4, "categories": CATEGORIES}
    printed = {"model": "p-alpha-sensitive-k-anonymity", "p": 3, **same}
    check = judged(THREE_ONE_SENSITIVE, columns, printed)
    assert (check.status, check.found) == ("holds", {"p": 3, "alpha": 1, "k": 4})
    name = "enhanced-p-alpha-sensitive-k-anonymity"
    assert judged(THREE_ONE_SENSITIVE, columns, {"model": name, "p": 2, **same}).status == "holds"
    assert judged(THREE_ONE_SENSITIVE, columns, {"model": name, "p": 3, **same}).status == "broken"


def test_the_printed_set_of_four_values_weighs_two():
    model = {"model": "p-alpha-sensitive-k-anonymity", "p": 4, "alpha": 2, "k": 4}
    counts = {"Indigestion": 1, "Obesity": 1, "Hepatitis": 1, "HIV": 1}
    assert one_class(counts, {**model, "categories": CATEGORIES}).found["alpha"] == 2


def test_weights_over_distinct_values_count_each_value_once():
    model = {"model": "p-alpha-sensitive-k-anonymity", "p": 1, "alpha": 1, "k": 1}
    model |= {"categories": CATEGORIES}
    counts = {"Flu": 3, "Asthma": 3}
    assert one_class(counts, {**model, "weight": "rows"}).found["alpha"] == 5
    assert one_class(counts, {**model, "weight": "distinct"}).found["alpha"] == pytest.approx(5 / 3)


@pytest.mark.parametrize(("c", "status"), [(7.9, "broken"), (8, "broken"), (8.001, "holds")])
def test_recursive_diversity_sorts_counts_downwards_and_is_strict(c, status):
    # Counts 8, 1, 1 and l = 3: the tail is the single smallest, so c must exceed 8.
    model = {"model": "recursive-cl-diversity", "c": c, "l": 3}
    check = one_class({"b": 1, "a": 8, "c": 1}, model)
    assert (check.status, check.found) == (status, {"c": 8, "l": 3})


def test_recursive_diversity_without_a_tail_holds_for_no_c():
    model = {"model": "recursive-cl-diversity", "c": 1e9, "l": 3}
    check = one_class({"a": 1, "b": 1}, model)
    assert (check.status, check.found["c"]) == ("broken", math.inf)


def test_entropy_of_equally_likely_values_is_their_number_despite_rounding():
    for n in range(2, 12):
        counts = {f"v{i}": 7 for i in range(n)}
        check = one_class(counts, {"model": "entropy-l-diversity", "l": n})
        assert (check.status, check.found) == ("holds", {"l": pytest.approx(n)})


def test_entropy_of_one_half_and_two_quarters_is_the_root_of_eight():
    check = one_class({"a": 2, "b": 1, "c": 1}, {"model": "entropy-l-diversity", "l": 2.8})
    assert check.found == {"l": pytest.approx(2**1.5)}


def test_a_share_of_one_third_keeps_a_promise_written_in_decimals():
    model = {"model": "alpha-k-anonymity", "alpha": 0.3333333333333333, "k": 3}
    check = one_class({"a": 1, "b": 1, "c": 1}, model)
    assert (check.status, check.found) == ("holds", {"alpha": pytest.approx(1 / 3), "k": 3})


def test_only_protected_values_are_held_against_alpha():
    model = {"model": "alpha-k-anonymity", "alpha": 0.25, "k": 4}
    counts = {"flu": 3, "hiv": 1}
    assert one_class(counts, model).status == "broken"
    assert one_class(counts, {**model, "protected": ["hiv"]}).status == "holds"


SALARIES = (["3", "4", "5"], ["6", "11", "8"], ["7", "9", "10"])


def salaries(distance, **more):
    """Nine salaries, 3k to 11k, in three classes: an example known from the literature."""
    ill = [value for part in SALARIES for value in part]
    columns = {"q": ["A"] * 3 + ["B"] * 3 + ["C"] * 3, "ill": ill}
    model = {"model": "t-closeness", "column": "ill", "t": 0.3, "distance": distance}
    return judged(columns, ["q"], model, **more)


def test_ordered_closeness_of_the_nine_salaries_is_as_printed():
    # D({3,4,5}, {3..11}) = 0.375 (the text 11 comes after 8, as a number).
    assert salaries("ordered").found == {"t": pytest.approx(0.375)}


def test_equal_closeness_of_three_among_nine_values_is_two_thirds():
    assert salaries("equal").found == {"t": pytest.approx(2 / 3)}


def test_three_low_salaries_are_spread_over_2_thousand():
    ill = [f"{value}000" for part in SALARIES for value in part]
    columns = {"q": ["A"] * 3 + ["B"] * 3 + ["C"] * 3, "ill": ill}
    model = {"model": "k-e-anonymity", "column": "ill", "k": 3, "e": 3000}
    check = judged(columns, ["q"], model)
    assert (check.status, check.found, check.worst) == (
        "broken", {"k": 3, "e": 2000}, {"q": "A"}
    )  # fmt: skip
    assert judged(columns, ["q"], {**model, "e": 2000}).status == "holds"


def test_a_tiny_range_is_not_forgiven_as_rounding():
    model = {"model": "k-e-anonymity", "k": 2, "e": 2e-12}
    assert one_class({"1e-12": 1, "2e-12": 1}, model).status == "broken"
    assert one_class({"1e-12": 1, "3e-12": 1}, model).status == "holds"
    assert one_class({"-1.5e308": 1, "1.5e308": 1}, model).found == {"k": 2, "e": math.inf}


def test_three_quarters_of_the_printed_class_are_most_secret():
    columns = ["zip", "age", "country"]
    model = {"model": "category-share", "column": "ill", "categories": CATEGORIES[:1]}
    check = judged(THREE_ONE_SENSITIVE, columns, {**model, "share": 0.5})
    assert (check.status, check.found) == ("broken", {"share": 0.75})
    assert check.worst["zip"] == "2****"
    assert judged(THREE_ONE_SENSITIVE, columns, {**model, "share": 0.75}).status == "holds"


def test_labels_at_a_level_are_categories_unless_they_say_nothing():
    paths = {"flu": ["*", "*"], "hiv": ["virus", "*"], "cold": ["virus", "*"]}
    model = {"model": "category-share", "share": 0.5, "level": 1}
    hierarchies = {"ill": paths}
    check = one_class({"flu": 2, "hiv": 1, "cold": 1}, model, hierarchies=hierarchies)
    assert (check.status, check.found) == ("holds", {"share": 0.5})
    check = one_class({"flu": 1, "hiv": 1, "cold": 1}, model, hierarchies=hierarchies)
    assert (check.status, check.found) == ("broken", {"share": pytest.approx(2 / 3)})


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ({"model": "category-share", "share": 0.5}, "'categories' is missing"),
        ({"model": "category-share", "share": 0.5, "categories": []}, "one at least"),
        ({"model": "category-share", "share": 0.5, "categories": [["flu"], ["flu"]]}, "disjoint"),
        ({"model": "category-share", "share": 0.5, "level": 1}, "no hierarchy"),
        (
            {"model": "category-share", "share": 0.5, "level": 1, "categories": [["flu"]]},
            "not both",
        ),
        ({"model": "k-e-anonymity", "k": 2, "e": 1}, "neither numbers nor days: 'flu'"),
    ],
)
def test_alike_values_that_cannot_be_told_are_not_checked(model, why):
    check = one_class({"flu": 2}, model)
    assert check.status == "unchecked"
    assert why in check.detail


@pytest.mark.parametrize("level", [0, 2, 1.5])
def test_a_level_that_is_none_is_not_checked(level):
    model = {"model": "category-share", "share": 0.5, "level": level}
    check = one_class({"flu": 2}, model, hierarchies={"ill": {"flu": ["mild", "*"]}})
    assert check.status == "unchecked"
    assert "from 1 to 1" in check.detail


def test_hierarchical_closeness_moves_what_it_can_within_a_branch():
    paths = {"flu": ["cold", "*"], "cough": ["cold", "*"], "hiv": ["virus", "*"]}
    model = {"model": "t-closeness", "t": 0.4, "distance": "hierarchical"}
    # Table: flu 1/2, cough 1/4, hiv 1/4. Class A: flu 1. Of its surplus of 1/2, a quarter
    # moves to cough at half the way up and a quarter to hiv all the way: 1/8 + 1/4.
    check = in_two(["flu", "flu"], ["cough", "hiv"], model, hierarchies={"ill": paths})
    assert (check.status, check.found) == ("holds", {"t": pytest.approx(3 / 8)})


def test_a_missing_value_is_a_branch_of_its_own_under_the_root():
    paths = {"flu": ["cold", "*"], "cough": ["cold", "*"]}
    model = {"model": "t-closeness", "t": 0.4, "distance": "hierarchical"}
    check = in_two(["flu"], [None], model, hierarchies={"ill": paths})
    assert check.found == {"t": pytest.approx(1 / 2)}


def test_a_missing_value_is_last_in_the_order():
    # 1 in class A, missing in class B: over values 1, 2, missing.
    model = {"model": "t-closeness", "t": 1, "distance": "ordered"}
    check = in_two(["1", "1"], ["2", None], model)
    # Table 1/2, 1/4, 1/4. A: |1/2| + |1/4| over 2 steps = 3/8; B: 1/2 + 1/4 over 2 steps.
    assert check.found == {"t": pytest.approx(3 / 8)}


def test_likeness_is_the_relative_gain():
    # hiv: 1/2 in class A, 1/6 in the table: a gain of 2; -ln(1/6) = 1.79.
    first, second = ["hiv", "flu"], ["flu"] * 4
    basic = in_two(first, second, {"model": "basic-beta-likeness", "beta": 2})
    assert (basic.status, basic.found) == ("holds", {"beta": 2})
    enhanced = in_two(first, second, {"model": "enhanced-beta-likeness", "beta": 2})
    assert (enhanced.status, enhanced.found) == ("broken", {"beta": math.inf})


def test_a_value_absent_from_a_class_breaks_delta_disclosure():
    model = {"model": "delta-disclosure", "delta": 100}
    check = in_two(["hiv", "flu"], ["flu", "flu"], model)
    assert (check.status, check.found, check.worst) == ("broken", {"delta": math.inf}, {"q": "B"})


@pytest.mark.parametrize(("delta", "status"), [(math.log(2), "broken"), (0.7, "holds")])
def test_delta_disclosure_is_strict(delta, status):
    # hiv: 2 of 3 in A against 1 of 3... of the table: ratio 2; flu: 1/3 against 2/3: ratio 1/2.
    first = ["hiv", "hiv", "flu"]
    second = ["flu"] * 7 + ["hiv"] * 2
    # Table: hiv 4 of 12, flu 8 of 12.
    check = in_two(first, second, {"model": "delta-disclosure", "delta": delta})
    assert (check.status, check.found) == (status, {"delta": pytest.approx(math.log(2))})


def test_risks_of_a_class_of_three_and_a_single_row():
    columns = {"q": ["A", "A", "A", "B"]}

    def found(model, **parameters):
        return judged(columns, ["q"], {"model": model, **parameters})

    assert found("maximum-risk", risk=0.9).found == {"risk": 1}
    assert found("average-risk", risk=0.5).found == {"risk": 0.5}
    assert found("average-risk", risk=0.5).status == "holds"
    assert found("average-risk", risk=0.49).status == "broken"
    assert found("sample-uniqueness", share=0.25).status == "holds"
    assert found("sample-uniqueness", share=0.24).found == {"share": 0.25}


def test_an_empty_table_keeps_every_promise_as_it_was_made():
    columns = {"q": pa.array([], pa.string()), "ill": pa.array([], pa.string())}
    for model in (
        {"model": "k-anonymity", "k": 5, "measured": {"k": 5}},
        {"model": "t-closeness", "column": "ill", "t": 0.2, "measured": {"t": 0.2}},
        {"model": "recursive-cl-diversity", "column": "ill", "c": 3, "l": 2},
        {"model": "k-map", "k": 3, "measured": {"k": 3}},
        {"model": "average-risk", "risk": 0.1, "measured": {"risk": 0.1}},
    ):
        assert judged(columns, ["q"], model).status == "holds"


def test_a_class_without_a_known_value_is_not_diverse():
    for model in (
        {"model": "distinct-l-diversity", "l": 1},
        {"model": "probabilistic-l-diversity", "l": 1},
        {"model": "entropy-l-diversity", "l": 1},
        {"model": "recursive-cl-diversity", "c": 1e6, "l": 1},
        {"model": "alpha-k-anonymity", "alpha": 1, "k": 1},
        {"model": "p-sensitive-k-anonymity", "p": 1, "k": 1},
        {"model": "category-share", "share": 1, "categories": [["flu"]]},
    ):
        assert in_two(["flu", "hiv"], [None, None], model).status == "broken", model


def test_missing_values_do_not_dilute_the_shares():
    check = in_two(
        ["flu"] * 2 + [None] * 8, ["hiv"], {"model": "probabilistic-l-diversity", "l": 2}
    )
    assert check.found == {"l": 1}


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ({"model": "perfect-secrecy"}, "does not know the model"),
        ({"model": "k-anonymity"}, "'k' is missing"),
        ({"model": "k-anonymity", "k": "5"}, "k must be a number, got '5'"),
        ({"model": "k-anonymity", "k": True}, "k must be a number, got True"),
        ({"model": "k-anonymity", "k": math.nan}, "k must be a number"),
        ({"model": "k-anonymity", "k": 10**400}, "k must be a number"),
        ({"model": "k-anonymity", "k": 2, "unless": "raining"}, "parameter 'unless'"),
        ({"model": "distinct-l-diversity", "l": 2, "column": "sick"}, "no column 'sick'"),
        ({"model": "distinct-l-diversity", "l": 2, "column": ["ill"]}, "column must be a text"),
        ({"model": "t-closeness", "t": 1, "column": "ill", "distance": "far"}, "'ordered'"),
        ({"model": "t-closeness", "t": 1, "column": "ill", "distance": "hierarchical"}, "no hier"),
        ({"model": "recursive-cl-diversity", "c": 2, "l": 1.5, "column": "ill"}, "whole number"),
        (
            {"model": "alpha-k-anonymity", "alpha": 1, "k": 1, "column": "ill", "protected": 3},
            "list",
        ),
        ({"model": "k-map", "k": 2}, "no population"),
        ({"model": "delta-presence", "minimum": 0, "maximum": 1}, "no population"),
    ],
)
def test_what_cannot_be_checked_does_not_hold_and_says_why(model, why):
    verdict = verify_file(pa.table({"q": ["x"], "ill": ["flu"]}), Promises(["q"], models=[model]))
    (check,) = verdict.checks
    assert check.status == "unchecked"
    assert why in check.detail
    assert not verdict.holds


@pytest.mark.parametrize(
    ("categories", "why"),
    [
        ([["flu"]], "at least 2"),
        ([["flu"], ["flu"]], "more than one place"),
        ([["hiv"], ["gout"]], "no category has 'flu'"),
        ("flu", "list of lists"),
        ([1, 2], "a list"),
    ],
)
def test_categories_that_are_none_are_not_checked(categories, why):
    model = {"model": "p-alpha-sensitive-k-anonymity", "p": 1, "alpha": 0, "k": 1}
    check = one_class({"flu": 2}, {**model, "categories": categories})
    assert check.status == "unchecked"
    assert why in check.detail


@pytest.mark.parametrize(
    ("paths", "why"),
    [
        ({"hiv": ["*"]}, "does not cover 'flu'"),
        ({"flu": ["cold", "*"], "hiv": ["*"]}, "no single top"),
        ({"flu": ["cold"], "hiv": ["virus"]}, "no single top"),
        ({"flu": []}, "no single top"),
    ],
)
def test_a_hierarchy_that_is_none_is_not_used(paths, why):
    model = {"model": "t-closeness", "t": 0.5, "distance": "hierarchical"}
    check = one_class({"flu": 2}, model, hierarchies={"ill": paths})
    assert check.status == "unchecked"
    assert why in check.detail
