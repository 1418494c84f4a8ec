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


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("(415) 555 - 0123", "D"),
        ("415\u2013555\u20130123", "D"),
        ("(415)555-0123 at night", "D"),
        ("please call 555-0123", "D"),
        ("Fax: 415-555-0123", "E"),
        ("write to ann at example.org", "F"),
        ("ann[at]example[dot]org", "F"),
        ("398 71 4063", "G"),
        ("398\u201371\u20134063", "G"),
        ("XXX-XX-4063", "G"),
        ("SSN 398714063 on file", "G"),
        ("MRN: 6451026", "H"),
        ("old MRN #2548487", "H"),
        ("member ID: W211969831", "I"),
        ("acct no. 30017542", "J"),
        ("passport no C01234567", "K"),
        ("VIN 1AM4U40K6X1471910", "L"),
        ("1am4u40k6x1471910", "L"),
        ("license plate: 7ABC123", "L"),
        ("SN: EY2912839", "M"),
        ("6c35.2cac.d19d", "M"),
        ("t.me/grace469", "N"),
        ("login from 2001:db8:0:1:3997:1f5a:750e:dd31", "O"),
        ("[2001:db8::566b]:443", "O"),
        ("fe80::a0d0:c4df:96b1:4b4c%eth0", "O"),
        ("Dover, TX 65109", "B"),
        ("9128 Oak Street, Apt 10", "B"),
        ("moved to 2955 N Main Ave", "B"),
        ("PO Box 942", "B"),
        ("42.92799,-85.38972", "B"),
        ("26\u00b018'45\"N 106\u00b02'38\"W", "B"),
        ("June 9", "C"),
        ("seen on the 4th of March 2019", "C"),
        ("better since March 2019", "C"),
        ("Mon Feb 10 12:00:00 2006", "C"),
        ("93-year-old woman", "C"),
        ("97 y/o male", "C"),
        ("a man of ninety-one years of age", "C"),
        ("the patient turned 94", "C"),
        ("admitted 12 March", "C"),
        ("lives in 94110", "B"),
        ("ZIP code: 94110", "B"),
        ("lat 42.92799 lon -85.38972", "B"),
        ("Tel. 0171 1234567", "D"),
        ("DL# F1234567", "K"),
        ("photo IMG_1234.jpg attached", "Q"),
        ("fp.wsq stored", "P"),
        ("referred by Dr. Smith", "A"),
    ],
)
@pytest.mark.parametrize("alone", [True, False])
def test_identifiers_are_found_as_people_write_them(text, kind, alone):
    """The column's name says nothing, and values come back, so that none is unique."""
    texts = [text] * 60 if alone else [text, *["no complaints", "stable"] * 30]
    if alone or text not in _AS_A_WHOLE:
        assert kinds("x1", texts) == [kind]


_AS_A_WHOLE = (
    "1am4u40k6x1471910",
    "fe80::a0d0:c4df:96b1:4b4c%eth0",
    "42.92799,-85.38972",
    "26\u00b018'45\"N 106\u00b02'38\"W",
)
"""Among other words these might be something else."""


@pytest.mark.parametrize(
    "text",
    [
        "may increase to 10 mg", "2 tablets at 10:30", "1:2:3", "version 10.4.5", "50580-506-02",
        "aged 90 or older", "90 or more years old", "score 95 of 100", "smoked 90 pack years",
        "plate 4 holes", "tibia plate 12 mm", "plan: rest", "policy unchanged", "serial 3",
        "Orange juice", "NM_007294.3:c.5266dupC", "chr17:43045629", "OR 24 hours",
        "3 Oak trees", "in March, improving", "ACGTACGTACGTACGTA", "E11.9 with J45.909",
    ],
)  # fmt: skip
def test_what_people_write_otherwise_is_no_identifier(text):
    assert kinds("x1", [text, *["no complaints", "stable"] * 30]) == []


def test_a_name_in_one_word_is_cut():
    assert kinds("agegroup", ["80-84", "85-89", "90-94", "95-99"] * 9) == [IdentifierKind.DATES]
    assert kinds("home_cnty", ["Cook", "Kings", "Harris", "Dade", "Clark", "Wayne"] * 9) == [
        IdentifierKind.GEOGRAPHY
    ]
    assert kinds("ZCTA", ["94110", "10001"] * 9) == [IdentifierKind.GEOGRAPHY]
