"""`docs/papers/break-merge.md`: the page says what the results say, and they come out again."""

import doctest
import importlib
import json
import re
from fractions import Fraction
from math import prod
from pkgutil import iter_modules
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import docs.papers.break_merge
from docs.papers.__main__ import PAPERS, main
from docs.papers.adult import adult
from docs.papers.break_merge import RESULTS, large, running
from docs.papers.break_merge.census import AS_PRINTED, SETTINGS
from docs.papers.break_merge.figures import plots
from docs.papers.break_merge.increments import PEOPLE, STARTS
from docs.papers.break_merge.page import agrees, page, two_rows_later
from docs.papers.break_merge.people import EACH, MOST, QUASI_IDENTIFIERS, SENSITIVE, people
from docs.papers.break_merge.printed import (
    ADDED,
    ALPHAS,
    COLUMNS,
    CONDITIONALS,
    LIKELIHOODS,
    PARENTS,
    TABLE_14,
    VERDICTS,
)
from docs.papers.results import HERE, load, text_of, where
from sfumato import samples
from tests.tables.databases import LEAVES_SOCKETS_OPEN

RERUN = "run `python -m docs.papers break-merge` and look at what changed"
RESULT = load(RESULTS)
PAGE = (HERE / "break-merge.md").read_text(encoding="utf-8")
ROWS = [tuple(row.values()) for row in samples.table("census").to_pylist()]
LARGE = (
    *("machine", "parameters", "adult_changes", "learning", "breaking"),
    *("hiding", "hiding_both", "attacker"),
)


def table_after(words: str) -> list[list[str]]:
    """Read the first table of the page after some words."""
    lines = PAGE[PAGE.index(words) :].splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def number(text: str) -> float:
    return float(re.findall(r"[\d.]+", text.replace(" ", ""))[0])


# The page is that of the results.


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


def test_the_table_of_likelihoods_gives_what_the_results_hold():
    rows = table_after("### Table 14")
    assert len(rows) == len(RESULT["table_14"]) == 24
    for row, one in zip(rows, RESULT["table_14"], strict=True):
        assert int(row[0]) == one["row"]
        assert int(row[2]) == one["added"]
        assert number(row[3]) == one["printed_was"]
        assert number(row[6]) == one["printed_became"]
        assert number(row[7]) == pytest.approx(100 * float(Fraction(one["became"])), abs=0.006)
        assert number(row[8]) == pytest.approx(one["printed_ratio"], abs=1e-4)
        assert number(row[9]) == pytest.approx(float(Fraction(one["ratio"])), abs=6e-4)


def test_the_table_of_limits_gives_what_the_results_hold():
    rows = table_after("### How many may come")
    assert [row[0] for row in rows] == list(STARTS)
    for row in rows:
        mine = where(RESULT["limits"], combination=row[0])
        assert [int(cell) for cell in row[2:]] == [
            where(mine, alpha=alpha)[0]["permitted"] for alpha in ALPHAS
        ]


def test_the_tables_of_large_tables_give_what_the_results_hold():
    for row in table_after("Learning one network"):
        found = where(RESULT["learning"], sensitive=int(row[0]), learner=row[1])
        assert [number(cell) for cell in row[2:-1]] == [round(one["seconds"], 3) for one in found]
    for row in table_after("Breaking (Figures 8 to 10)"):
        found = where(RESULT["breaking"], table=row[0])
        assert [number(cell) for cell in row[2:-1]] == [round(one["seconds"], 3) for one in found]
    for row in table_after("### Hiding instead of breaking"):
        one = where(RESULT["hiding"], known=1, confidence=number(row[0]))[0]
        other = where(RESULT["hiding"], known=3, confidence=number(row[0]))[0]
        assert [int(row[1]), int(row[6])] == [one["rules"], other["rules"]]
        assert number(row[5]) == round(one["loss"], 3)
        assert number(row[7]) == round(other["loss"], 3)


# The ten rows come out again, exactly, and agree with counting by hand.


@pytest.mark.usefixtures("patience")
def test_everything_about_the_ten_rows_comes_out_again():
    again = json.loads(json.dumps(running.small()))
    assert set(again) == set(RESULT) - set(LARGE)
    for part, records in again.items():
        assert records == RESULT[part], RERUN


def share(given: dict[str, str], told: str, value: str) -> Fraction:
    """Count rows with both, divided by rows with what is known; uniform where there are none."""
    fits = [r for r in ROWS if all(r[COLUMNS.index(n)] == v for n, v in given.items())]
    at = COLUMNS.index(told)
    if not fits:
        return Fraction(1, len({row[at] for row in ROWS}))
    return Fraction(sum(row[at] == value for row in fits), len(fits))


@pytest.mark.parametrize("table", CONDITIONALS, ids=lambda table: table.name)
def test_shares_beside_printed_entries_are_counted_rows(table):
    found = where(RESULT["entries"], table=table.name)
    assert len(found) == len(table.rows) * len(table.values)
    for one in found:
        given = dict(zip(table.parents, one["given"], strict=True))
        exact = share(given, table.child, one["value"])
        assert one["share"] == pytest.approx(float(exact), abs=1e-6)
        # With the prior: half a row more for every value.
        n, r = one["rows"], len({row[COLUMNS.index(table.child)] for row in ROWS})
        smoothed = (float(exact) * n + 0.5) / (n + 0.5 * r)
        assert one["prior"] == pytest.approx(smoothed, abs=1e-6)
        if not table.name.startswith("VII "):
            assert one["printed"] == one["share"]


def test_the_expected_entries_with_the_prior_are_there():
    assert where(RESULT["entries"], table="IV (A)")[0]["prior"] == pytest.approx(5.5 / 6, abs=1e-6)
    seventh = where(RESULT["entries"], table="VII (A)", given=["State-gov"], value="Never-Married")
    assert seventh[0]["prior"] == 0.625
    eighth = where(RESULT["entries"], table="VIII (A), Figure 4 (B)", value="State-gov")[0]
    assert eighth["prior"] == pytest.approx(2.5 / 4.5, abs=1e-6)


def test_table_vii_comes_out_but_for_one_entry_when_read_with_swapped_headings():
    found = RESULT["decoded"]
    wrong = [one for one in found if abs(one["printed"] - float(Fraction(one["decoded"]))) >= 0.001]
    assert len(found) == 20
    assert [(one["given"], one["value"]) for one in wrong] == [("Federal-gov", "Widowed")]


def test_every_learned_row_of_probabilities_adds_up_to_one():
    for one in RESULT["tables"]:
        for row in one["rows"]:
            others = len(one["values"]) - len(row["entries"])
            total = sum(entry["probability"] for entry in row["entries"])
            assert total + others * row["each_other_value"] == pytest.approx(1)


def weka_parents(weka, names, **settings) -> dict[str, set[str]]:
    rows = [[row[COLUMNS.index(name)] for name in names] for row in ROWS]
    values = [sorted({row[i] for row in rows}) for i in range(len(names))]
    codes = np.array([[values[i].index(row[i]) for row in rows] for i in range(len(names))])
    found = weka.parents(codes, [len(each) for each in values], **settings)
    return {names[child]: {names[parent] for parent in each} for child, each in found.items()}


@LEAVES_SOCKETS_OPEN
def test_weka_itself_finds_all_three_printed_networks_if_it_is_set_so(weka):
    quasi_identifiers = SETTINGS[AS_PRINTED]["order"]
    parts = {
        "quasi-identifiers": quasi_identifiers,
        "sensitive": list(COLUMNS[3:]),
        "all": [*quasi_identifiers, *COLUMNS[3:]],
    }
    for name, columns in parts.items():
        found = weka_parents(weka, columns, most_given=0)
        for column, parents in PARENTS[name].items():
            assert found[column] == {*parents}
        ours = where(RESULT["networks"], network=name)
        assert found == {one["column"]: {*one[AS_PRINTED]} for one in ours}


@LEAVES_SOCKETS_OPEN
def test_weka_as_it_comes_finds_the_printed_parents_of_government_and_not_those_of_gender(weka):
    found = weka_parents(weka, COLUMNS)
    assert found["government"] == set(COLUMNS) - {"government"}
    assert found["gender"] == {"zipcode"}


def test_the_page_says_that_all_printed_networks_come_out():
    for one in RESULT["networks"]:
        assert one["printed"] is None or {*one["printed"]} == {*one[AS_PRINTED]}
    assert "come out of Weka either" not in PAGE
    rows = table_after("Three networks are")
    assert all("✗" not in row[-1] for row in rows)
    assert sum("✗" in row[-2] for row in rows) == 2


def test_verdicts_are_the_printed_ones_on_shares_but_for_table_vii():
    found = {(*one["known"], one["told"]): one for one in RESULT["verdicts"]}
    assert len(found) == len(VERDICTS) == 7
    differ = [name for name, one in found.items() if one["shares"] is not one["printed"]]
    assert differ == [("government", "marital_status")]
    assert found["government", "marital_status"]["prior"] is False
    # To the letter, every rule is added whose table has any entry above one half.
    assert all(one["letter"] for one in found.values())


def test_algorithm_2_labels_rows_in_order_rightly_and_counts_one_too_many():
    assert RESULT["labels"] == {"labels": [1] * 5 + [2] * 5, "counter": 3}


def test_the_broken_tables_are_those_that_were_printed():
    for one in [*RESULT["broken"], *RESULT["grown"]]:
        people_there = ROWS if one["table"] in "567" else [*ROWS, *ADDED]
        sex = "F" if one["group"] == 1 else "M"
        mine = [row for row in people_there if row[1] == sex]
        counted = sum(row[COLUMNS.index(one["column"])] == one["value"] for row in mine)
        assert one["printed"] == one["ours"] == counted


def test_the_printed_likelihoods_come_out():
    state = where(RESULT["guesses"], group=1)
    assert {(one["marital_status"], one["salary"]): one["printed"] for one in state} == LIKELIHOODS
    for one in RESULT["guesses"]:
        after = Fraction(prod(one["counts"]), one["size"] ** 2)
        assert Fraction(one["after"]) == after
        if one["printed"] is not None:
            assert 100 * after == one["printed"]
    [bob] = [one for one in where(RESULT["guesses"], group=2) if one["printed"] is not None]
    assert (bob["before"], bob["after"]) == ("2/3", "6/25")
    for group in (1, 2):
        mine = where(RESULT["guesses"], group=group)
        assert sum(Fraction(one["after"]) for one in mine) == 1
        assert sum(Fraction(one["before"]) for one in mine) == 1


# Table 14 and the limits.


@pytest.mark.parametrize("one", RESULT["table_14"], ids=lambda one: f"row-{one['row']}")
def test_table_14_comes_out_exactly(one):
    was = Fraction(one["old"][0] * one["old"][1], PEOPLE**2)
    became = Fraction(one["new"][0] * one["new"][1], one["size"] ** 2)
    assert (Fraction(one["was"]), Fraction(one["became"])) == (was, became)
    assert Fraction(one["ratio"]) == became / was - 1
    assert (round(100 * was), round(100 * became)) == (one["printed_was"], one["printed_became"])


def test_both_salaries_of_table_14_make_up_the_group():
    for low, high in zip(TABLE_14[::2], TABLE_14[1::2], strict=True):
        assert low.new[0] == high.new[0]
        assert low.new[1] + high.new[1] == low.size == high.size


def test_seven_ratios_of_table_14_stand_two_rows_too_early():
    rows = RESULT["table_14"]
    wrong = [i for i, one in enumerate(rows) if not agrees(one)]
    assert [rows[i]["row"] for i in wrong] == list(range(12, 19))
    assert all(two_rows_later(rows, i) for i in wrong)


@pytest.mark.parametrize("one", RESULT["limits"], ids=lambda one: f"{one['counts']}-{one['alpha']}")
def test_one_more_than_permitted_is_too_many(one):
    def told(n):
        return Fraction(prod(c + n for c in one["counts"]), (PEOPLE + n) ** 2)

    assert told(one["permitted"]) <= Fraction(str(one["alpha"])) < told(one["permitted"] + 1)


def test_the_printed_numbers_of_figure_15():
    at_six = where(RESULT["reachable"], alpha=0.6)
    assert [one["starts"] for one in at_six] == [[], [[0, 0]], []]
    assert all(one["most"] < one["printed"] == 190 for one in where(RESULT["reachable"], alpha=0.9))


def count_admitted(alpha: float, known: str | None) -> tuple[dict[str, int], int, int]:
    """Do what Algorithm 3 says on the rows: who is admitted, refused, and comes after its end."""
    limit = Fraction(str(alpha))
    group = [row for row in ROWS if row[1] == "F"]
    factors = [COLUMNS.index(n) for n in ("government", "marital_status", "salary") if n != known]
    admitted = {"<=50K": 0, ">50K": 0}
    refused = 0
    for at, row in enumerate(ADDED):
        more = [*group, row]
        kbp = prod(Fraction(sum(one[i] == row[i] for one in more), len(more)) for i in factors)
        if kbp <= limit:
            group = more
            admitted[row[-1]] += 1
        elif known is None:
            return admitted, 1, len(ADDED) - at - 1
        else:
            refused += 1
    return admitted, refused, 0


@pytest.mark.parametrize("one", RESULT["admissions"], ids=lambda one: str(one["alpha"]))
def test_rows_are_admitted_as_algorithm_3_says_in_both_readings(one):
    for reading, known in (("printed", None), ("one_known", "government")):
        done = one[reading]
        wanted = count_admitted(one["alpha"], known)
        assert (done["admitted"], done["refused"], done["not_reached"]) == wanted
    # All ten are alike, so none is published where releases are compared.
    assert one["published"] == {"admitted": 0, "waiting": len(ADDED)}
    # The permitted number is what row by row admits of the first combination.
    room = where(RESULT["limits"], combination="Never-Married, ≤50K", alpha=one["alpha"])
    for limit in room:
        assert one["one_known"]["admitted"]["<=50K"] == min(5, limit["permitted"])


def test_the_readings_differ_as_the_page_says():
    found = {one["alpha"]: one for one in RESULT["admissions"]}
    by_salary = {
        (alpha, reading): tuple(found[alpha][reading]["admitted"].values())
        for alpha in (0.4, 0.5)
        for reading in ("printed", "one_known")
    }
    assert by_salary == {
        (0.4, "printed"): (4, 0),
        (0.4, "one_known"): (0, 4),
        (0.5, "printed"): (5, 5),
        (0.5, "one_known"): (2, 5),
    }
    assert {row[3] for row in ADDED} == {"State-gov"}
    assert {row[4] for row in ADDED} == {"Never-Married"}


def by_the_letter(rows):
    """Number groups as Algorithm 2 is printed: compare each row with the next, then count on."""
    labels, group = [], 1
    for i, row in enumerate(rows):
        after = rows[i + 1] if i + 1 < len(rows) else None
        labels.append(group)
        if row[:3] != (after and after[:3]):
            group += 1
    return labels, group


def test_algorithm_2_by_its_letter_numbers_sorted_rows_rightly_and_counts_one_too_many():
    assert by_the_letter(ROWS) == ([1] * 5 + [2] * 5, 3)
    assert "its counter ends one too high" in PAGE
    mixed = ROWS[::2] + ROWS[1::2]
    labels, _ = by_the_letter(mixed)
    assert len(set(zip((row[:3] for row in mixed), labels, strict=True))) > 2


# The large tables.


@pytest.mark.usefixtures("adult")
def test_the_large_results_come_out_again():
    again = json.loads(json.dumps(running.on_adult(repeats=0)))
    for part, records in again.items():
        kept = [{k: v for k, v in one.items() if k != "seconds"} for one in RESULT[part]]
        assert records == kept, RERUN


@pytest.mark.usefixtures("adult")
def test_groups_are_whole_and_of_equal_size():
    for name, sensitive in SENSITIVE.items():
        table = people(MOST, name)
        assert table.column_names == [*QUASI_IDENTIFIERS, *sensitive]
        sizes = table.group_by(list(QUASI_IDENTIFIERS)).aggregate([([], "count_all")])
        assert set(sizes["count_all"].to_pylist()) == {EACH}
        assert people(3 * EACH, name).equals(table.slice(0, 3 * EACH))


@pytest.mark.usefixtures("adult")
def test_people_are_those_of_adult_with_that_age_and_sex():
    seen = {tuple(row.values()) for row in large.people(MOST).to_pylist()}
    known = {
        (row["sex"], int(row["age"]), row["workclass"], row["marital-status"])
        for row in adult().to_pylist()
    }
    for age, sex, _, work, wed, _ in seen:
        low, high = map(int, age.strip("[]").split("-"))
        assert any((sex, year, work, wed) in known for year in range(low, high + 1))


def test_hiding_always_costs_and_less_the_more_is_allowed():
    for known in large.KNOWN:
        losses = [one["loss"] for one in where(RESULT["hiding"], known=known)]
        assert losses == sorted(losses, reverse=True)
        assert losses[-1] > 0


def test_hiding_what_is_ruled_out_costs_no_less():
    for one, both in zip(where(RESULT["hiding"], known=1), RESULT["hiding_both"], strict=True):
        assert both["rules"] - both["away"] == one["rules"]
        assert both["loss"] >= one["loss"]


def test_nothing_is_lost_until_the_attacker_is_surer_than_the_threshold():
    for one in RESULT["attacker"]:
        columns = [name for name in one["sure"] if one["sure"][name] > large.HALF]
        assert {name: one[name] > 0 for name in one["sure"]} == {
            name: name in columns for name in one["sure"]
        }
        assert bool(one["rules"]) == bool(columns)
    above = [one["loss"] for one in RESULT["attacker"] if one["probability"] > large.HALF]
    assert max(above) - min(above) < 0.01  # thereafter it remains at that level
    for row in table_after("*The attacker's probability*"):
        [one] = where(RESULT["attacker"], probability=number(row[0]))
        assert number(row[-2]) == round(one["loss"], 3)


def test_the_fourth_combination_becomes_what_the_others_become():
    rows = [one for one in RESULT["table_14"] if one["old"][0] == 1]
    assert len(rows) == len(RESULT["figure_14"]) == 16
    for one, fourth in zip(rows, RESULT["figure_14"], strict=True):
        assert (one["work"], one["salary"], one["new"]) == (
            fourth["like"],
            fourth["salary"],
            fourth["new"],
        )
        assert (one["was"], one["became"], one["ratio"]) == (
            fourth["was"],
            fourth["became"],
            fourth["ratio"],
        )


def test_inductive_causation_never_has_cycles():
    assert all(one["acyclic"] for one in where(RESULT["learning"], learner="ic"))


# The command.


def test_one_page_can_be_written_alone(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("docs.papers.__main__.HERE", tmp_path)
    assert {"thesis", "break-merge", "slicing"} <= set(PAPERS)
    assert main(["break-merge", "--page"]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"break-merge.md", *plots(RESULT)}
    assert (tmp_path / "break-merge.md").read_text(encoding="utf-8") == PAGE
    with pytest.raises(SystemExit):
        main(["thesys"])
    assert f"there are {', '.join(PAPERS)}, examples" in capsys.readouterr().err


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("name", [m.name for m in iter_modules(docs.papers.break_merge.__path__)])
def test_examples_in_docstrings_run(name):
    module = importlib.import_module(f"docs.papers.break_merge.{name}")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.testmod(module, optionflags=flags).failed == 0
