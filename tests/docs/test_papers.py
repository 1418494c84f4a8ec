"""The experiments of `docs/papers`: the page says what the results say, and they come out again."""

import doctest
import importlib
import re
from itertools import product
from pkgutil import iter_modules
from statistics import mean
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import docs.papers
from docs.papers.claims import falls, order
from docs.papers.data import CATEGORIES, COLUMNS, ILLNESSES, people
from docs.papers.deciding import GLOBAL, METHODS
from docs.papers.distortion import by_width, distortion, grid, standard
from docs.papers.figures import plots
from docs.papers.page import page
from docs.papers.printed import SUFFERING
from docs.papers.results import HERE, RESULTS, load, text_of, where
from docs.papers.setting import LOCAL, MODELS
from docs.papers.similarity import LIMITS, alike, similarity
from docs.papers.sliced import DRAWS, RELEASES, SLICES, sliced
from docs.papers.svg import ticks
from docs.papers.timing import WIDTHS, timing

RERUN = "run `make papers` and look at what changed"
RESULT = load()
README = (HERE / "README.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("patience")
def test_the_page_and_the_plots_are_those_of_the_results():
    assert page(RESULT) == README, RERUN
    for name, text in plots(RESULT).items():
        assert (HERE / name).read_text(encoding="utf-8") == text, RERUN
    assert text_of(RESULT) == RESULTS.read_text(encoding="utf-8")


def table_after(words: str) -> list[list[str]]:
    """Read the first table of the page after some words."""
    lines = README[README.index(words) :].splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            return rows
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def test_the_table_of_attacks_counts_what_the_results_hold():
    rows = table_after("Printed figures are from")
    assert len(rows) == len(MODELS) * (1 + len(LIMITS))
    for model, title in MODELS.items():
        printed, *ours = rows[: 1 + len(LIMITS)]
        rows = rows[1 + len(LIMITS) :]
        hit, of = SUFFERING[model]
        assert printed[0] == title
        assert printed[2:5] == [str(of), str(hit), f"{round(100 * hit / of)} %"]
        for limit, row in zip(LIMITS, ours, strict=True):
            found = [
                one
                for one in RESULT["similarity"]
                if (one["reading"], one["model"], one["limit"]) == ("printed", model, limit)
            ]
            assert [one["seed"] for one in found] == RESULT["seeds"]
            assert numbers(row[2])[0] == round(mean(one["minimal"] for one in found), 1)
            assert numbers(row[3])[0] == round(mean(one["suffering"] for one in found), 1)
            share = mean(one["suffering"] / one["minimal"] for one in found)
            assert numbers(row[4])[0] == pytest.approx(100 * share, abs=0.051)
            assert numbers(row[5])[0] == max(one["worst_rows"] for one in found)


def test_the_table_of_distortions_gives_what_the_results_hold():
    rows = table_after("## Distortion ratio")
    assert [row[0] for row in rows] == list(METHODS)
    for method, *cells in rows:
        for model, lost, exposed in zip(MODELS, cells[::2], cells[1::2], strict=True):
            alpha = None if model == "p-sensitive" else 2
            found = where(RESULT["distortion"], model=model, method=method, k=4, p=2, alpha=alpha)
            assert sorted(one["seed"] for one in found) == RESULT["seeds"]
            assert numbers(lost)[0] == round(mean(one["distortion"] for one in found), 4)
            assert numbers(exposed)[-1] == max(one["exposed_rows"] for one in found)


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"[\d.]+", text)]


def test_the_plots_are_xml_with_a_title_and_are_shown():
    for name in plots(RESULT):
        root = ET.parse(HERE / name).getroot()
        assert root.tag.endswith("svg")
        assert next(iter(root)).text
        assert f"({name})" in README
    shown = re.findall(r"!\[[^]]+\]\(([^)]+)\)", README)
    assert sorted(shown) == sorted(plots(RESULT))


def test_results_name_no_place_on_a_machine():
    text = RESULTS.read_text(encoding="utf-8")
    assert not re.search(r"/(work|tmp|home|root|Users|mnt|usr)\b", text)


def test_every_case_is_there_once():
    done = [
        (one["seed"], one["model"], one["k"], one["p"], one["alpha"], one["method"])
        for one in RESULT["distortion"]
    ]
    assert len(done) == len(set(done))
    extra = len(RESULT["seeds"]) - 1
    assert len(done) == len(METHODS) * (len(grid()) + extra * len(standard()))
    assert len(RESULT["timing"]) == len(WIDTHS) * len(MODELS) * (2 + len(LOCAL))


# What the page claims.


def test_the_enhanced_model_never_suffers():
    for one in where(RESULT["similarity"], model="enhanced"):
        assert one["suffering"] == one["worst_rows"] == one["worst_classes"] == 0
    for one in where(RESULT["distortion"], model="enhanced"):
        assert one["exposed_rows"] == one["exposed_classes"] == 0


def test_the_weaker_models_suffer_in_the_printed_order_but_less():
    for limit in LIMITS[1:]:
        share = {
            model: mean(
                one["suffering"] / one["minimal"]
                for one in where(RESULT["similarity"], reading="printed", model=model, limit=limit)
            )
            for model in MODELS
        }
        assert share["p-sensitive"] > share["p-alpha"] > share["enhanced"]
        for model, (hit, of) in SUFFERING.items():
            assert share[model] < hit / of


def test_without_suppression_hardly_a_table_suffers_however_the_thesis_is_read():
    found = where(RESULT["similarity"], limit=0.0)
    assert sum(one["suffering"] for one in found) < sum(one["minimal"] for one in found) / 100
    assert all(one["suffering_tables"] < 1 for one in RESULT["expected"])


@pytest.mark.parametrize("method", LOCAL)
@pytest.mark.parametrize("model", MODELS)
def test_local_recoding_loses_less_than_the_best_level_per_column(method, model):
    alpha = None if model == "p-sensitive" else 2
    asked = {"model": model, "k": 4, "p": 2, "alpha": alpha}
    for seed in RESULT["seeds"]:
        found = where(RESULT["distortion"], seed=seed, **asked)
        whole = min(where(found, method=m)[0]["distortion"] for m in METHODS[:2])
        assert 3 * where(found, method=method)[0]["distortion"] < whole


@pytest.mark.parametrize("method", METHODS[:2])
def test_a_stricter_optimum_never_loses_less(method):
    ranks, fall = order(RESULT, method), falls(RESULT, method)
    assert ranks.stricter_loses_no_less == ranks.settings
    assert ranks.as_printed == 0
    assert fall.falls == 0


def test_the_enhanced_model_costs_hardly_more():
    for method in METHODS:
        lost = {
            model: mean(
                one["distortion"]
                for one in where(
                    RESULT["distortion"], model=model, method=method, k=4, p=2, alpha=2
                )
            )
            for model in ("p-alpha", "enhanced")
        }
        assert lost["enhanced"] < 1.01 * lost["p-alpha"]


def test_the_optimum_without_suppression_moves_by_one_level_at_most():
    whole = where(RESULT["distortion"], method=METHODS[0])
    steps = {round(15 * one["distortion"], 6) for one in whole}
    assert max(steps) - min(steps) <= 1
    assert not any(one["suppressed"] for one in whole)


@pytest.mark.parametrize("method", LOCAL)
def test_local_methods_are_hardly_ever_better_with_more_asked(method):
    ranks, fall = order(RESULT, method), falls(RESULT, method)
    assert ranks.as_printed < ranks.settings / 10
    assert fall.falls < fall.steps / 10
    assert not any(one["suppressed"] for one in where(RESULT["distortion"], method=method))


def test_slices_answer_better_than_recoded_rows():
    assert {one["method"] for one in RESULT["sliced"]} == set(RELEASES)
    for seed in RESULT["seeds"][:DRAWS]:
        *others, slices = where(RESULT["sliced"], seed=seed)
        assert slices["method"] == SLICES
        for what in ("median", "off"):
            assert all(slices[what] < other[what] for other in others)


# It comes out again.


@pytest.mark.parametrize("limit", LIMITS[:2])
@pytest.mark.usefixtures("adult")
def test_the_attacks_come_out_again(limit):
    seed = RESULT["seeds"][0]
    kept = where(RESULT["similarity"], seed=seed, reading="printed", limit=limit)
    assert similarity(seed, "printed", limit) == kept, RERUN


@pytest.mark.usefixtures("adult")
def test_the_distortions_come_out_again():
    seed = RESULT["seeds"][0]
    setting = standard()[-1]
    kept = where(RESULT["distortion"], seed=seed, **setting.to_dict())
    assert distortion(seed, setting) == kept, RERUN


@pytest.mark.parametrize(("method", "lowered_by"), [(GLOBAL, ["race"]), ("top-down, rows", [])])
@pytest.mark.usefixtures("adult")
def test_more_quasi_identifiers_distort_more_but_for_one_step(method, lowered_by):
    ratios = by_width(standard()[0], method)
    steps = zip(COLUMNS[2:], ratios, ratios[1:], strict=False)
    assert len(ratios) == len(COLUMNS) - 1
    assert [column for column, fewer, more in steps if more < fewer] == lowered_by


@pytest.mark.usefixtures("adult")
def test_the_counts_come_out_again():
    kept = where(RESULT["timing"], columns=3)
    assert [{**one, "seconds": 0} for one in timing(3, repeats=0)] == [
        {**one, "seconds": 0} for one in kept
    ], RERUN


@pytest.mark.usefixtures("adult")
def test_the_slices_come_out_again():
    seed = RESULT["seeds"][0]
    assert sliced(seed) == where(RESULT["sliced"], seed=seed), RERUN


# The parts.


@pytest.mark.usefixtures("adult")
def test_everybody_has_an_illness_and_each_is_about_as_frequent():
    table = people(3)
    assert table.num_rows == RESULT["parameters"]["rows"] == 30162
    drawn = table["Health_condition"].value_counts().to_pylist()
    assert {one["values"] for one in drawn} == set(ILLNESSES) == set(sum(CATEGORIES, ()))
    # Five standard deviations around an eighth.
    assert all(abs(one["counts"] - 30162 / 8) < 5 * (30162 * 7 / 64) ** 0.5 for one in drawn)
    assert people(3).equals(table)
    assert not people(4).equals(table)


@pytest.mark.parametrize("n", range(1, 5))
def test_the_chance_that_a_class_is_alike_is_that_of_all_draws(n):
    category = {illness: i for i, one in enumerate(CATEGORIES) for illness in one}
    draws = list(product(ILLNESSES, repeat=n))
    hits = sum(len(set(d)) > 1 and len({category[one] for one in d}) == 1 for d in draws)
    assert alike(np.array([n]))[0] == pytest.approx(hits / len(draws), abs=1e-15)


@pytest.mark.parametrize("top", [0.0007, 0.19, 0.2, 1, 3, 47, 731, 2160])
def test_ticks_reach_the_top_without_going_far_beyond(top):
    marks = ticks(top)
    assert marks[0] == 0
    assert marks[-2] < top <= marks[-1]
    assert 3 <= len(marks) <= 6


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    "name", [m.name for m in iter_modules(docs.papers.__path__) if m.name != "__main__"]
)
def test_examples_in_docstrings_run(name):
    module = importlib.import_module(f"docs.papers.{name}")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.testmod(module, optionflags=flags).failed == 0
