"""`docs/concepts/verdict-study.md`: the verdict is as rarely wrong as the page says."""

import pytest

from docs import verdict_study
from docs.verdict_study import PAGE, TABLES, harmless, leaky, page, run, share_of_no, study


@pytest.mark.usefixtures("patience")
def test_a_few_tables_get_the_right_answer():
    assert share_of_no(run(harmless, range(10))) == 0
    assert share_of_no(run(leaky, range(10))) == 1


def test_the_page_says_what_comes_out(statistics, monkeypatch):
    answer, said = verdict_study.answer, []
    monkeypatch.setattr(
        verdict_study, "answer", lambda drawn: said.append(answer(drawn)) or said[-1]
    )
    found = study(TABLES)
    # Those without a leak come first, in the order of their seeds.
    assert "no" not in said[:40]
    assert {*said[TABLES : TABLES + 40]} == {"no"}
    assert share_of_no(found.harmless) <= 0.02
    assert share_of_no(found.leaky) >= 0.98
    assert PAGE.read_text(encoding="utf-8") == page(found)
