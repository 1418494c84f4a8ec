"""`docs/studies/histories.md`: it says what the results say, and the models keep the rules."""

import numpy as np
import pytest

from docs.histories.clinic import Clinic, Setting
from docs.histories.ledgers import publish_history
from docs.histories.page import (
    RESULTS,
    STUDIES,
    load_results,
    page,
    plots,
    text_of_results,
)
from docs.histories.streams import _Stream
from docs.histories.ways import WAYS, Cells, believe, part_of

SHORT = Setting(months=4, newcomers=300, leaving=0.05, leaving_of_all=True, corrected=0.1)


def test_the_page_and_the_plots_say_what_the_results_say():
    results = load_results()
    assert text_of_results(results) == RESULTS.read_text(encoding="utf-8")
    for name, text in {"histories.md": page(results), **plots(results)}.items():
        found = (STUDIES / name).read_text(encoding="utf-8")
        assert found == text, "run `python -m docs.histories --page`"


def test_a_history_comes_from_its_seed():
    one, two = ([*Clinic(SHORT).run()] for _ in range(2))
    for month, same in zip(one, two, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(month[:5], same[:5], strict=True))


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("heirs", [None, 0])
def test_every_part_of_a_history_is_within_alpha_and_nobody_is_lost(heirs):
    cells = Cells(Clinic(SHORT), 0.5, heirs=heirs)
    refused = 0
    for month in cells.clinic.run():
        before = {
            id(cell): (cell, part_of(cells.shown[:, sorted(cell.people)]))
            for cell in cells.cell_of
            if cell is not None
        }
        record = cells.take(month)
        refused += record["returns refused"]
        for cell in {id(each): each for each in cells.cell_of if each is not None}.values():
            part = part_of(cells.shown[:, sorted(cell.people)])
            assert part.size >= cells.rules.k
            assert part.is_within(cells.rules.alpha)
            if id(cell) in cells.inherited:
                assert all(map(np.array_equal, part.counts, before[id(cell)][1].counts))
        there = record["published"] - record["waiting to leave"] + record["waiting to join"]
        assert record["here"] - refused <= there <= record["here"]
    assert bool(cells.inherited) == (heirs is not None)


def test_the_ledger_loses_nobody_either(patience):
    refused = 0
    for record in publish_history(SHORT, 0.5):
        refused += record["returns refused"]
        there = record["published"] - record["waiting to leave"] + record["waiting to join"]
        assert record["here"] - refused <= there + record["waiting elsewhere"]
        assert there <= record["here"]


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("way", WAYS)
def test_all_ways_publish_the_people_of_the_clinic(way):
    record = WAYS[way](SHORT, 0.5)
    there = record["published"] - record.get("waiting to leave", 0) - record.get("counterfeits", 0)
    assert 0.9 * record["here"] <= there <= record["here"]


def test_who_is_in_two_tables_has_a_value_of_both():
    joined, left, group = (np.zeros((3, 31), dtype=np.int64) for _ in range(3))
    joined[:, [1, 2]], left[:, [2, 3]], group[:, [1, 2, 3]] = 2, 2, 9
    assert believe((joined, group), (left, group))[:, 2].tolist() == [1, 1, 1]


@pytest.mark.usefixtures("patience")
def test_estimates_of_a_small_clinic_are_closer_than_its_counts():
    found = _Stream(100, 0.5, 4, hidden=False).run()
    assert found["rows"] > found["here"]
    assert abs(found["rows staying"] - found["here"]) < found["rows"] - found["here"]
    assert found["error estimated"] < found["error counted"]
    assert found["published"] + found["aside"] <= found["came"] == 400
