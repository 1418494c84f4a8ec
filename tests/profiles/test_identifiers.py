"""The 18 kinds of identifiers: each found in thirty spellings, and none where there is none."""

from datetime import date

import pyarrow as pa
import pytest

from sfumato.drafting.identifiers import IdentifierKind, identifiers_in
from sfumato.tables import open_table
from tests.profiles.columns import HARMLESS, NAMES, harmless, identifying

TODAY = date(2026, 1, 1)


def kinds(name, values, **settings):
    domain = open_table(pa.table({name: pa.array(values)})).domains([name])[name]
    return [each.kind for each in identifiers_in(domain, today=TODAY, **settings)]


def test_there_are_thirty_spellings_of_each_kind():
    assert [*NAMES] == [*IdentifierKind]
    assert all(len(set(names)) >= 30 for names in NAMES.values())


@pytest.mark.parametrize(
    "seed",
    [0, pytest.param(1, marks=pytest.mark.patience), pytest.param(2, marks=pytest.mark.patience)],
)
@pytest.mark.parametrize("kind", [*IdentifierKind])
def test_every_spelling_of_a_kind_is_found_and_no_other_kind_invented(kind, seed):
    every = range(len(NAMES[kind])) if seed else range(0, len(NAMES[kind]), 3)
    found = {identifying(kind, at, seed)[0]: kinds(*identifying(kind, at, seed)) for at in every}
    assert {name: each for name, each in found.items() if each != [kind]} == {}


def test_no_identifier_is_invented():
    found = {name: kinds(name, harmless(name)) for name in HARMLESS}
    assert {name: each for name, each in found.items() if each} == {}


@pytest.mark.parametrize(
    ("values", "wrong"),
    [
        (["94110", "10001"], True),
        ([94110, 10001], True),
        (["94110-1234", "10001-4321"], True),
        (["941", "100", "000"], False),
        ([941, 100], False),
        (["941", "036"], True),
        ([941, 36], True),
        (["941**", "893**"], True),
        (["94***", "*"], False),
        (["*", "*"], False),
    ],
)
def test_three_digits_of_a_zip_code_stay_unless_few_people_live_there(values, wrong):
    assert (IdentifierKind.GEOGRAPHY in kinds("zip", values)) is wrong


def test_a_newer_list_of_small_areas_takes_the_place_of_the_old_one():
    assert kinds("zip", ["036", "941"], small_areas={"999"}) == []
    assert kinds("zip", ["036", "941"], small_areas={"941"}) == [IdentifierKind.GEOGRAPHY]


@pytest.mark.parametrize(
    ("name", "values", "wrong"),
    [
        ("age", [34, 89], False),
        ("age", [34, 90], True),
        ("age", ["34", "90+"], False),
        ("age", ["80 to 89", "90 or more"], False),
        ("age", ["80 to 89", "90 to 94", "95 or more"], True),
        ("age", ["60 to 79", "80 to 99"], False),
        ("age_months", [1068, 12], False),
        ("age_months", [1092, 12], True),
        ("birth_year", [1937, 2001], False),
        ("birth_year", [1936, 2001], True),
        ("birth_year", ["before 1936", "1950"], False),
        ("admission_year", [1936, 2001], False),
        ("birthdate", ["1950-01-01", "1960-01-01", "1971-01-01"], False),
        ("birthdate", ["1950-01-01", "1960-02-01", "1971-01-01"], True),
        ("seen", [date(2020, 3, 1), date(2021, 4, 2)], True),
    ],
)
def test_ages_above_89_share_one_category_and_dates_keep_their_year(name, values, wrong):
    assert (IdentifierKind.DATES in kinds(name, values)) is wrong


def test_one_identifier_in_a_single_note_is_found():
    notes = ["no complaints"] * 40 + ["call 415-555-0123 first"]
    assert kinds("remark", [f"{note} {i}" for i, note in enumerate(notes)]) == [
        IdentifierKind.TELEPHONE
    ]
