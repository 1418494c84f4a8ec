"""The counter by which the verdict is judged says of small tables what can be seen by eye."""

from fractions import Fraction

import numpy as np
import pytest

from sfumato.harm import HarmRule
from tests.verdict.exact import (
    HARMLESS,
    ONE_VALUE,
    QUASI_IDENTIFIERS,
    SECRET,
    TWO_VALUES,
    VERY_HIGH,
    belief_under_pram,
    count,
    count_groups,
    level_of,
    paired_by_counts,
)


def table(*rows, names="zip ill job"):
    return {name: [row[at] for row in rows] for at, name in enumerate(names.split())}


def test_a_class_with_one_value_exposes_all_its_people():
    some = table(
        *[("a", "flu", "x"), ("a", "flu", "y")] * 3, *[("b", "hiv", "x"), ("b", "gout", "y")] * 3
    )
    found = count(some, ["zip"], ["ill"])
    assert found.people == {QUASI_IDENTIFIERS: 6, ONE_VALUE: 6, TWO_VALUES: 6}
    assert found.kind == "exposed"


def test_one_value_more_tells_those_whom_the_class_does_not():
    some = table(*[("a", "flu", "x"), ("a", "hiv", "y"), ("a", "gout", "z")] * 3)
    for roles in ({"sensitive": ["ill", "job"]}, {"sensitive": ["ill"], "plain": ["job"]}):
        found = count(some, ["zip"], **roles)
        assert found.people == {QUASI_IDENTIFIERS: 0, ONE_VALUE: 9, TWO_VALUES: 9}
        assert count(some, ["zip"], **roles, against=[QUASI_IDENTIFIERS]).at_risk == 0
    assert count(some, ["zip"], ["ill"], plain=["job"], unknown=["job"]).kind == "harmless"


def test_two_values_tell_what_neither_does():
    rows = [("a", i, j, ("x", "y")[i != j]) for i in "01" for j in "01"] * 3
    found = count(table(*rows, names="zip job pay ill"), ["zip"], ["ill"], plain=["job", "pay"])
    assert found.people == {QUASI_IDENTIFIERS: 0, ONE_VALUE: 0, TWO_VALUES: 12}


def test_missing_values_hide_nobody():
    rows = [("a", "flu"), ("a", None), ("a", "flu"), *[("b", "hiv"), ("b", "gout"), ("b", "cold")]]
    found = count(table(*rows, names="zip ill"), ["zip"], ["ill"])
    assert found.people[QUASI_IDENTIFIERS] == 3


def test_what_is_left_beside_harmless_values_is_a_category():
    ills = ["healthy"] * 16 + ["hiv", "flu", "gout", "cold"]
    rows = [("a", ill) for ill in ills] + [("b", ill) for ill in ills[16:]]
    some = table(*rows, names="zip ill")
    assert count(some, ["zip"], ["ill"]).at_risk == 0
    assert count(some, ["zip"], ["ill"], harmless={"ill": ["healthy"]}).at_risk == 4
    assert count(some, ["zip"], ["ill"], categories={"ill": [ills[16:]]}).at_risk == 4


def test_a_harmless_value_tells_nothing_and_a_secret_one_more():
    half, quarter = Fraction(1, 2), Fraction(1, 8)
    assert [level_of(quarter, half, each) for each in (HARMLESS, "ordinary", SECRET)] == [0, 2, 3]


def test_groups_tell_the_shares_of_their_own():
    values = {"ill": {1: {"flu": 4}, 2: {"gout": 2, "hiv": 2}}}
    found = count_groups([1] * 4 + [2] * 4, values)
    assert found.people[QUASI_IDENTIFIERS] == 4
    assert found.exposed


def test_equal_counts_that_two_values_have_are_no_pair():
    ill, drug = {1: {"hiv": 3, "flu": 3, "gout": 1}}, {1: {"a": 3, "b": 3, "c": 1}}
    assert paired_by_counts([1], ill, drug) == {"c": "gout"}


@pytest.mark.parametrize(("shown", "of", "keep"), [(3, 5, 0.7), (12, 12, 0.8), (0, 8, 0.6)])
def test_the_belief_under_pram_is_that_of_drawn_classes(shown, of, keep):
    rng = np.random.default_rng(of)
    true = rng.dirichlet(np.ones(3), size=40_000)
    people = rng.multinomial(of, true)
    stays = rng.binomial(people[:, 0], keep)
    turned = rng.binomial(of - people[:, 0], (1 - keep) / 2)
    fits = stays + turned == shown
    drawn = people[fits, 0].mean() / of
    assert belief_under_pram(shown, of, 3, keep) == pytest.approx(drawn, abs=0.02)


def test_the_level_very_high_is_that_of_the_package():
    grid = np.arange(0, 41)
    priors, posteriors = (each.ravel() for each in np.meshgrid(grid, grid))
    found = HarmRule().levels(priors / 40, posteriors / 40) == VERY_HIGH
    ours = [
        level_of(Fraction(int(a), 40), Fraction(int(b), 40)) == VERY_HIGH
        for a, b in zip(priors, posteriors, strict=True)
    ]
    assert found.tolist() == ours
