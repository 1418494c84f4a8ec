"""`docs/studies/population-study.md`: estimates are as far off as the page says."""

import pytest

from docs.population_study import FRACTIONS, PAGE, SETS, drawings, page, study
from sfumato.populations import ESTIMATORS


@pytest.mark.usefixtures("patience")
def test_a_small_country_is_estimated_from():
    figures = study(people=4_000, repeats=2)
    assert {each.known for each in figures} == set(SETS)
    assert {each.fraction for each in figures} == set(FRACTIONS)
    assert {"match", "people found", "zayatz"} <= {each.estimator for each in figures}
    for each in figures:
        if each.estimator in ESTIMATORS:
            assert all(0 <= share <= 1 for share in each.found)
    assert all(drawn.startswith("<svg") for drawn in drawings(figures).values())


def test_the_page_says_what_comes_out(statistics):
    figures = study()
    assert PAGE.read_text(encoding="utf-8") == page(figures)
    for name, drawn in drawings(figures).items():
        assert PAGE.with_name(name).read_text(encoding="utf-8") == drawn
    matches = [each for each in figures if each.estimator == "match"]
    assert all(abs(each.mean - each.truth) <= 2 * each.spread for each in matches)
    few = [e for e in figures if e.estimator == "zayatz" and e.fraction == 0.5]
    assert all(abs(each.mean - each.truth) < 0.02 for each in few)
