"""The enhanced model with t-closeness: the page says what came out, and it comes out again."""

import pytest

from docs.papers.closeness import METHODS, RESULTS, TS, added, page, release
from docs.papers.results import HERE, load, text_of, where

RERUN = "run `python -m docs.papers closeness` and look at what changed"
RESULT = load(RESULTS)
FOUND = RESULT["releases"]


def test_the_page_is_that_of_the_results():
    assert page(RESULT) == (HERE / "closeness.md").read_text(encoding="utf-8"), RERUN
    assert text_of(RESULT) == RESULTS.read_text(encoding="utf-8")


def test_every_addition_was_tried_with_every_method_and_draw():
    assert len(FOUND) == len(RESULT["seeds"]) * len(added()) * len(METHODS)
    assert not any(one["alike"] for one in FOUND)


@pytest.mark.parametrize("method", METHODS)
def test_a_stricter_t_costs_more_for_the_best_levels_and_never_less_than_nothing(method):
    for seed in RESULT["seeds"]:
        lost = [
            where(FOUND, seed=seed, method=method, added=name)[0]["distortion"]
            for name in ("nothing", *(f"t = {t:g}, by categories" for t in TS))
        ]
        if method == "full-domain":
            assert lost == sorted(lost)
        assert lost[0] <= lost[-1]
        if method == "regional":
            whole = where(FOUND, seed=seed, method="full-domain")
            assert all(
                one["distortion"] <= other["distortion"]
                for one in where(FOUND, seed=seed, method=method)
                for other in whole
                if one["added"] == other["added"]
            )


def test_a_bound_on_the_share_leaves_no_one_at_risk():
    assert not any(one["at_risk"] for one in where(FOUND, added="category-share = 0.5"))
    assert any(one["at_risk"] for one in where(FOUND, added="nothing", method="top-down"))


def test_a_release_comes_out_as_it_is_kept(adult):
    assert (
        release(0, "category-share = 0.5", "top-down")
        == where(FOUND, seed=0, added="category-share = 0.5", method="top-down")[0]
    )
