"""`docs/studies/verdict-study.md`: the verdict is as rarely wrong as the page says."""

import re

import pytest

from docs.verdict_study import HARMLESS, KINDS, LEAKS, PAGE, draw, page, share, study

FEW = (
    "a plain copy",
    "no harmless value",
    "equal counts in few groups",
    "many values, spread evenly",
)


def without_time(text):
    return re.sub(r"A verdict takes [0-9.]+ seconds", "", text)


def test_there_are_many_kinds():
    assert len(LEAKS) >= 12
    assert len(HARMLESS) >= 6


@pytest.mark.usefixtures("patience")
def test_a_table_comes_from_its_kind_and_seed_alone():
    for kind in ("two tell a third", "the same shares in all classes"):
        one, other = draw(kind, 1), draw(kind, 1)
        assert one.what == other.what
        assert one.counted == other.counted


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("kind", KINDS)
def test_the_count_finds_what_was_planted(kind):
    found = [draw(kind, seed).counted.kind for seed in range(2)]
    assert ("exposed" in found) == (kind in LEAKS)


@pytest.mark.usefixtures("patience")
def test_a_few_tables_get_the_right_answer():
    found = study(2, FEW)
    assert share(found, "exposed", "no") == 1
    assert share(found, "harmless", "yes") == 1
    assert all(one.same in (True, None) for one in found)
    assert "100.0 %" in page(found)


def test_the_page_says_what_comes_out(statistics):
    found = study()
    assert share(found, "exposed", "no") == 1
    assert share(found, "harmless", "yes") >= 0.95
    assert all(one.same in (True, None) for one in found)
    assert without_time(PAGE.read_text(encoding="utf-8")) == without_time(page(found))
