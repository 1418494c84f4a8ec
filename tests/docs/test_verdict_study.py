"""`docs/concepts/verdict-study.md`: the verdict is as rarely wrong as the page says."""

from docs.verdict_study import PAGE, TABLES, harmless, leaky, page, run, share_of_no, study


def test_a_few_tables_get_the_right_answer(some):
    seeds = some(range(10), of=range(40))
    assert share_of_no(run(harmless, seeds)) == 0
    assert share_of_no(run(leaky, seeds)) == 1


def test_the_page_says_what_comes_out(statistics):
    found = study(TABLES)
    assert share_of_no(found.harmless) <= 0.02
    assert share_of_no(found.leaky) >= 0.98
    assert PAGE.read_text(encoding="utf-8") == page(found)
