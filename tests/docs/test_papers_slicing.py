"""`docs/papers/slicing.md`: the page says what the results say, and they come out again."""

import doctest
import importlib
import json
import re
from collections import Counter
from itertools import combinations
from pkgutil import iter_modules
from xml.etree import ElementTree as ET

import pytest

import docs.papers.slicing
from docs.papers.__main__ import main
from docs.papers.adult import adult
from docs.papers.results import HERE, load, text_of, where
from docs.papers.slicing import RESULTS, dimensions, membership, releases, running
from docs.papers.slicing.claims import CLAIMS, Claim
from docs.papers.slicing.demands import DEMANDS, OCCUPATION, SALARY, Demand
from docs.papers.slicing.figures import plots
from docs.papers.slicing.page import page

RERUN = "run `python -m docs.papers slicing` and look at what changed"
RESULT = load(RESULTS)
CELLS = RESULT["cells"]
POSSIBLE = where(CELLS, refused=None)
PAGE = (HERE / "slicing.md").read_text(encoding="utf-8")


def table_after(words: str) -> list[list[str]]:
    """Read the first table of the page after some words, without its head."""
    lines = PAGE[PAGE.index(words) :].splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


# The page is that of the results.


@pytest.mark.usefixtures("patience")
def test_the_page_and_the_plots_are_those_of_the_results():
    assert page(RESULT) == PAGE, RERUN
    for name, text in plots(RESULT).items():
        assert (HERE / name).read_text(encoding="utf-8") == text, RERUN
    assert text_of(RESULT) == RESULTS.read_text(encoding="utf-8")


def test_the_plots_are_xml_with_a_title_and_are_shown():
    for name in plots(RESULT):
        root = ET.parse(HERE / name).getroot()
        assert root.tag.endswith("svg")
        assert next(iter(root)).text
    shown = re.findall(r"!\[[^]]+\]\(([^)]+)\)", PAGE)
    assert sorted(shown) == sorted(plots(RESULT))


def test_results_name_no_place_on_a_machine():
    text = RESULTS.read_text(encoding="utf-8")
    assert not re.search(r"/(work|tmp|home|root|Users|mnt|usr)\b", text)


def test_every_demand_was_put_to_every_method():
    seen = Counter(
        (one["rows"], one["sensitive"], one["form"], one["l"], one["c"]) for one in CELLS
    )
    assert set(seen) == {(rows, *demand) for rows in releases.ROWS for demand in DEMANDS}
    for one in CELLS:
        assert one["method"] in (*releases.METHODS, releases.BROKEN)
    for rows in releases.ROWS:
        for demand in DEMANDS:
            methods = {one["method"] for one in where(CELLS, rows=rows, **demand.record)}
            wanted = set(releases.METHODS)
            if demand.form != "probabilistic":
                wanted -= {releases.BUCKETS}
            assert methods - {releases.BROKEN} == wanted


def test_the_table_of_errors_gives_what_the_results_hold():
    shown = table_after("## Occupation")
    assert len(shown) == 7
    for line, l in zip(shown, range(2, 9), strict=True):
        for cell, method in zip(line[1:], releases.METHODS, strict=True):
            [one] = where(CELLS, rows=max(releases.ROWS), sensitive=OCCUPATION, l=l, method=method)
            if one["refused"] is not None:
                assert cell == "impossible"
            else:
                number = float(re.findall(r"[\d.]+", cell)[0])
                assert number == pytest.approx(100 * one["median"], abs=0.051)


def test_every_cell_against_a_claim_is_named():
    shown = [
        (words, cell)
        for words, cells in table_after("## Where it does not hold")
        for cell in cells.split("; ")
    ]
    against = [
        (claim.words, each.cell)
        for claim in CLAIMS.values()
        for each in claim.duels(CELLS)
        if not each.good
    ]
    assert shown == against


# What is claimed, computed another way.


def by_method(what: str) -> dict[tuple, dict[str, float]]:
    found: dict[tuple, dict[str, float]] = {}
    for one in POSSIBLE:
        if what in one:
            key = (one["rows"], one["sensitive"], one["form"], one["l"], one["c"])
            found.setdefault(key, {})[one["method"]] = one[what]
    return found


@pytest.mark.parametrize("what", ["median", "off"])
def test_slicing_beats_generalisation_everywhere(what):
    found = by_method(what)
    assert len(found) == 2 * (6 + 4 + 3)
    for numbers in found.values():
        generalised = min(numbers[releases.STRICT], numbers[releases.LAX])
        for name in (releases.SLICED, *releases.OVERLAPPED.values()):
            assert numbers[name] < generalised


def test_overlap_publishes_more_correlation_everywhere():
    most = releases.OVERLAPPED[min(releases.OVERLAPS)]
    for what, sign in (("pairs", 1), ("strength", 1), ("off", -1)):
        for numbers in by_method(what).values():
            assert sign * numbers[most] > sign * numbers[releases.SLICED]


@pytest.mark.usefixtures("adult")
def test_pairs_are_those_that_share_a_slice():
    for one in POSSIBLE:
        if "columns" in one:
            together = {frozenset(p) for column in one["columns"] for p in combinations(column, 2)}
            assert len(together) == one["pairs"]
            assert {name for column in one["columns"] for name in column} == set(
                adult().column_names
            )
            assert 0 < one["strength"] < 1


def test_a_duel_is_with_the_best_of_the_others():
    asked = {"rows": 9, "sensitive": "ill", "form": "entropy", "l": 2, "c": None, "refused": None}
    said = {"ours": 2, "worse": 3, "better": 2}
    cells = [{**asked, "method": name, "off": number} for name, number in said.items()]
    [draw] = Claim("ours", ["worse", "better"], "off").duels(cells)
    assert (draw.theirs, draw.good, draw.draw) == (2, False, True)
    [win] = Claim("ours", ["worse"], "off").duels(cells)
    assert win.good
    assert not list(Claim("ours", ["absent"], "off").duels(cells))


# What is impossible is so by counting.


@pytest.mark.usefixtures("adult")
def test_impossible_is_what_the_whole_table_does_not_keep():
    for rows in releases.ROWS:
        for demand in DEMANDS:
            seen = Counter(releases.people(rows)[demand.sensitive].to_pylist())
            share = max(seen.values()) / rows
            mine = where(CELLS, rows=rows, **demand.record)
            if demand.form == "probabilistic":
                assert all((one["refused"] is None) == (share <= 1 / demand.l) for one in mine)
            elif demand.form == "recursive":
                ratio = share / (1 - share)
                assert all((one["refused"] is None) == (ratio < demand.c) for one in mine)


# The results come out again.


@pytest.mark.parametrize(
    "demand", [Demand(OCCUPATION, "probabilistic", 7), Demand(SALARY, "recursive", 2, 9)]
)
@pytest.mark.usefixtures("adult")
def test_some_results_come_out_again(demand):
    rows = min(releases.ROWS)
    again = json.loads(json.dumps(list(running.cells_of(demand, rows))))
    assert again == where(CELLS, rows=rows, **demand.record), RERUN
    assert json.loads(json.dumps(running.parameters())) == RESULT["parameters"]


def test_overlap_costs_membership_and_the_aim_gives_some_of_it_back():
    for rows in membership.ROWS:
        out = {one["method"]: one["ruled_out"] for one in where(RESULT["membership"], rows=rows)}
        overlapping = out[releases.OVERLAPPED[min(releases.OVERLAPS)]]
        assert out[membership.BOTH] < out[membership.AIMED] < out[releases.SLICED]
        assert out[membership.RELAXED] < out[releases.SLICED] < overlapping < out[releases.BUCKETS]
        for one in where(RESULT["membership"], rows=rows):
            several = membership.RELAXED in one["method"]
            if one["method"] in membership.WAYS:
                assert (one["matched"] > 1) == several


def test_slicing_bears_many_columns_better():
    for columns in dimensions.COLUMNS:
        mine = where(RESULT["dimensions"], columns=columns)
        off = {one["method"]: (one["median"], one["off"]) for one in mine}
        for sliced, general in zip(off[releases.SLICED], off[dimensions.LOCALLY], strict=True):
            assert sliced < general


@pytest.mark.usefixtures("adult")
def test_what_many_columns_cost_comes_out_again():
    again = json.loads(json.dumps(dimensions.measured(4)))
    assert again == where(RESULT["dimensions"], columns=4), RERUN


@pytest.mark.usefixtures("adult")
def test_the_rows_are_rows_of_adult_each_once():
    every = Counter(map(tuple, zip(*adult().to_pydict().values(), strict=True)))
    drawn = Counter(map(tuple, zip(*releases.people(15_000).to_pydict().values(), strict=True)))
    assert drawn.total() == 15_000
    assert drawn <= every
    assert releases.people(adult().num_rows).equals(adult())


# The command.


@pytest.mark.usefixtures("patience")
def test_the_page_can_be_written_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("docs.papers.__main__.HERE", tmp_path)
    assert main(["slicing", "--page"]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"slicing.md", *plots(RESULT)}
    assert (tmp_path / "slicing.md").read_text(encoding="utf-8") == PAGE


@pytest.mark.parametrize("name", [m.name for m in iter_modules(docs.papers.slicing.__path__)])
def test_examples_in_docstrings_run(name):
    module = importlib.import_module(f"docs.papers.slicing.{name}")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.testmod(module, optionflags=flags).failed == 0
