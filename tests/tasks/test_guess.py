"""Guesses: what names and values of columns say, and what is safe where they say nothing."""

from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.drafting.guess import guess
from sfumato.policy.meanings import ColumnKind, hint_of, meaning_of, words
from sfumato.schema import Role
from sfumato.tables import open_table
from sfumato.tables.variables import Variable

RNG = np.random.default_rng(4)
FEW = ["a", "b", "b", "c"] * 25


def guessed(name, values):
    return guess(open_table(pa.table({name: values})).domains([name])[name])


NAMES = {
    Role.IDENTIFIER: """
        name|Surname|first name|LastName|e-mail|Email Address|phone|SSN|id|ID|patient_id|PatientID|
        patientId|IBAN|street|Vorname|Nachname|Telefon|Straße|Adresse|prénom|Nom de famille|
        apellidos|Teléfono|passport no|user_name|IP address|dni|patient""",
    Role.QUASI_IDENTIFIER: """
        age|Age (years)|birth_date|DOB|sex|Gender|zip|ZIP-Code|postcode|PLZ|city|country|
        country_name|nationality|race|ethnicity|marital-status|education|occupation|job|height|
        admission date|Alter|Geschlecht|Postleitzahl|Wohnort|Familienstand|Beruf|âge|
        code postal|ville|état civil|edad|código postal|nacionalidad|estado civil|
        age_at_diagnosis|diagnosis_date|city_id|Größe""",
    Role.SENSITIVE: """
        disease|Diagnosis|ICD10|icd_code|condition|illness|salary|salary-class|net income|wage|
        religion|HIV|test_result|medication|Krankheit|Gehalt|Einkommen|maladie|salaire|enfermedad|
        Religión|disease_name|diagnosis id|asthma|blood_pressure|Raucher""",
    Role.DROPPED: "note|Comments|doctor's notes|diagnosis_comment|Bemerkung|remarques|notas",
}


@pytest.mark.parametrize("role", NAMES)
def test_names_in_four_languages_are_understood(role):
    for name in NAMES[role].split("|"):
        assert guessed(name.strip(), FEW).role is role, name


@pytest.mark.parametrize("name", ["x1", "management", "page", "type", "α", "👩", "42"])
def test_a_name_that_only_contains_a_known_word_says_nothing(name):
    assert meaning_of(name) is hint_of(name) is None
    found = guessed(name, FEW)
    assert found.role is Role.QUASI_IDENTIFIER
    assert found.kind is ColumnKind.UNKNOWN
    assert "meaning unknown: to be safe" in found.reason


def test_names_are_split_into_words_however_they_are_written():
    assert words("netIncome2020") == ("net", "income")
    assert words("Données_PERSONNELLES") == ("donnees", "personnelles")
    assert words("***") == ()


UNIQUE = [f"{a}{b}" for a in "ABCDEFGHIJ" for b in "klmnopqrst"]


@pytest.mark.parametrize(
    ("values", "role", "reason"),
    [
        (UNIQUE, Role.IDENTIFIER, "different in every row: looks like an identifier"),
        ([*UNIQUE[:96], *UNIQUE[:4]], Role.IDENTIFIER, "unique for 92 % of rows"),
        (list(range(1, 101)), Role.IDENTIFIER, "looks like a row number"),
        ([str(5 * i) for i in range(9)], Role.IDENTIFIER, "looks like a row number"),
        ([*range(100, 150), *range(155, 205)], Role.IDENTIFIER, "looks like a row number"),
        (RNG.choice(10**9, 200) + 10**9, Role.IDENTIFIER, "long numbers of one length"),
        (RNG.permutation(400)[:200], Role.IDENTIFIER, "some would be equal by chance"),
        (RNG.normal(170, 10, 500), Role.SENSITIVE, "a measurement: no adversary"),
        (RNG.normal(50, 15, 500).round(1), Role.QUASI_IDENTIFIER, "may be ages with decimals"),
        (RNG.normal(50, 15, 500), Role.SENSITIVE, "a measurement: no adversary"),
        (RNG.integers(0, 10**6, 300), Role.IDENTIFIER, "whole numbers spread evenly"),
        (RNG.lognormal(10, 1, 300).astype(int), Role.SENSITIVE, "a measurement: no adversary"),
        (RNG.integers(400, 900, 300), Role.QUASI_IDENTIFIER, "meaning unknown"),
        ([3, 9, 4], Role.QUASI_IDENTIFIER, "meaning unknown"),
        ([True, False] * 9, Role.QUASI_IDENTIFIER, "2 distinct values, meaning unknown"),
        ([date(2020, 1, 1) + timedelta(i) for i in range(99)], Role.QUASI_IDENTIFIER, "dates"),
        (["2020-01-01", "2020-03-05T10:30"] * 9, Role.QUASI_IDENTIFIER, "dates"),
        (["x"] * 9, Role.PLAIN, "the same in every row"),
        (["x", None] * 9, Role.QUASI_IDENTIFIER, "1 distinct value, 50 % missing"),
        (["x", "y", None, None] * 9, Role.QUASI_IDENTIFIER, "2 distinct values, 50 % missing"),
        ([None] * 3, Role.DROPPED, "every cell is missing"),
        ([f"ann{i % 3}@example.org" for i in range(9)], Role.IDENTIFIER, "e-mail addresses"),
        ([f"+49 30 12345{i % 3}" for i in range(9)], Role.IDENTIFIER, "telephone numbers"),
        ([f"DE8937040044053201300{i % 3}" for i in range(9)], Role.IDENTIFIER, "account numbers"),
        ([f"078-05-112{i % 3}" for i in range(9)], Role.IDENTIFIER, "social security numbers"),
        ([f"192.168.0.{i % 3}" for i in range(9)], Role.IDENTIFIER, "internet addresses"),
        (
            [f"123e4567-e89b-12d3-a456-42661417400{i % 3}" for i in range(9)],
            Role.IDENTIFIER,
            "unique identifiers",
        ),
        (
            [f"Seen on day {i}, says that her brother in law drinks too much" for i in range(30)],
            Role.DROPPED,
            "free text can name people",
        ),
    ],
)
def test_values_speak_where_the_name_does_not(values, role, reason):
    if isinstance(values, list) and values[0] is None:
        values = pa.nulls(len(values), pa.string())
    found = guessed("x", values)
    assert found.role is role
    assert reason in found.reason


def test_values_that_name_people_outweigh_an_innocent_name():
    assert guessed("condition", ["ann@example.org", "bob@example.org"]).role is Role.IDENTIFIER
    texts = [f"Patient {i} came in with her sister Mary and was sent home" for i in range(30)]
    assert guessed("diagnosis", texts).role is Role.DROPPED


def test_sensitive_texts_of_which_nearly_all_differ_are_not_published():
    found = guessed("diagnosis", [f"J{i}" for i in range(40)])
    assert found.role is Role.DROPPED
    assert "fingerprint" in found.reason
    # In a small table that is no sign of anything.
    assert guessed("diagnosis", ["flu", "gout", "hiv"]).role is Role.SENSITIVE


def test_a_date_is_known_to_others_whatever_it_is_of():
    assert guessed("hiv", [date(2020, 1, 1), date(2020, 1, 2)] * 9).role is Role.QUASI_IDENTIFIER


def test_a_number_of_something_is_no_identifier_unless_it_counts_the_rows():
    assert guessed("number of cars", [0, 1, 2, 1] * 20).role is Role.QUASI_IDENTIFIER
    assert guessed("record no", RNG.permutation(500) * 7).role is Role.IDENTIFIER
    assert guessed("diagnosis id", list(range(0, 700, 7))).role is Role.IDENTIFIER


def test_shares_are_never_rounded_to_all():
    values = [*map(str, range(100_000, 149_999)), "x", "x"]
    assert "unique for >99 % of rows" in guessed("x", values).reason


@pytest.mark.parametrize(
    ("name", "values", "role", "kind"),
    [
        ("death", [0, 1] * 50, Role.SENSITIVE, ColumnKind.OUTCOME),
        ("death", [1986, 1991, 2001] * 30, Role.QUASI_IDENTIFIER, ColumnKind.DATE),
        ("discharge", [0, 1] * 50, Role.SENSITIVE, ColumnKind.HEALTH),
        ("death", RNG.integers(9000, 11_000, 90), Role.QUASI_IDENTIFIER, ColumnKind.DATE),
        ("wmonth", RNG.integers(0, 28, 90), Role.QUASI_IDENTIFIER, ColumnKind.UNKNOWN),
        ("month", RNG.integers(1, 13, 90), Role.QUASI_IDENTIFIER, ColumnKind.DATE),
        ("hospital", [0, 1] * 50, Role.SENSITIVE, ColumnKind.HEALTH),
        ("hospital", [1, 2, 3, 4] * 25, Role.QUASI_IDENTIFIER, ColumnKind.PLACE),
        ("visit", [0, 3, 2, 1] * 20, Role.SENSITIVE, ColumnKind.HEALTH),
        ("study", [1] * 50, Role.PLAIN, ColumnKind.CONSTANT),
        ("id", ["A"] * 50, Role.DROPPED, ColumnKind.CONSTANT),
        ("wght", RNG.integers(900, 90_000, 80), Role.WEIGHT, ColumnKind.WEIGHT),
        ("wt71", RNG.normal(75, 12, 80), Role.SENSITIVE, ColumnKind.MEASUREMENT),
        ("wt.loss", RNG.integers(-20, 40, 80), Role.QUASI_IDENTIFIER, ColumnKind.UNKNOWN),
        ("weight", RNG.normal(75, 12, 80), Role.SENSITIVE, ColumnKind.MEASUREMENT),
        ("weight", RNG.uniform(0.2, 1.8, 400), Role.WEIGHT, ColumnKind.WEIGHT),
        ("ht", RNG.normal(170, 9, 80), Role.QUASI_IDENTIFIER, ColumnKind.BODY),
        ("ht", [0, 1] * 40, Role.QUASI_IDENTIFIER, ColumnKind.UNKNOWN),
        ("phone", ["yes", "no"] * 40, Role.QUASI_IDENTIFIER, ColumnKind.UNKNOWN),
        ("Patient-Nr", [i // 4 for i in range(400)], Role.IDENTIFIER, ColumnKind.IDENTIFIER),
        ("nr", [7 * (i // 3) for i in range(900)], Role.IDENTIFIER, ColumnKind.IDENTIFIER),
        ("nr", [1, 2, 3, 2] * 30, Role.QUASI_IDENTIFIER, ColumnKind.UNKNOWN),
        ("q7", ["agree", "disagree", "neither"] * 30, Role.SENSITIVE, ColumnKind.BELIEF),
        ("v3", ["m", "f"] * 30, Role.QUASI_IDENTIFIER, ColumnKind.SEX),
        ("v4", ["Texas", "Ohio", "Utah", "Iowa"] * 30, Role.QUASI_IDENTIFIER, ColumnKind.PLACE),
        ("v5", ["ledig", "verwitwet", "geschieden"] * 30, Role.QUASI_IDENTIFIER, ColumnKind.FAMILY),
        ("v6", ["I10", "E11.9", "J45.0", "C50"] * 30, Role.SENSITIVE, ColumnKind.HEALTH),
        ("v7", [1950, 1961, 1972, 1983] * 30, Role.QUASI_IDENTIFIER, ColumnKind.DATE),
        ("lang", RNG.integers(9, 58, 400), Role.QUASI_IDENTIFIER, ColumnKind.UNKNOWN),
        ("wave", [1, 2, 3] * 30, Role.PLAIN, ColumnKind.TECHNICAL),
        ("v8", [f"place {c}" for c in "abcdefghijklmnopqrstuvwxyzäöüßçéñåø"] * 9,
         Role.QUASI_IDENTIFIER, ColumnKind.UNKNOWN),
    ],
)  # fmt: skip
def test_values_decide_what_a_name_means(name, values, role, kind):
    found = guessed(name, values)
    assert (found.role, found.kind) == (role, kind)


HINTS = {
    ColumnKind.MONEY: "lwage|hhninc|faminc|Monatseinkommen|lohn_brutto|salaires",
    ColumnKind.HEALTH: "alcoholfreq|smokeyrs|chroniccough|pepticulcer|hospdays|docvis"
    "|Schwangerschaft",
    ColumnKind.OUTCOME: "futime|status|censored|relapse|überlebenszeit|readmitted|dead",
    ColumnKind.MEASUREMENT: "sbp|alk.phos|hba1c|karno|creatinine|IQ",
    ColumnKind.BELIEF: "partyid|churchgoing|lifesatisfaction|voted|Zufriedenheit",
    ColumnKind.TREATMENT: "rx|trt|arm|chemo",
    ColumnKind.SEX: "female|male|fem|weiblich",
    ColumnKind.ORIGIN: "nonwhite|foreign|hispanic|ethn|immigrant",
    ColumnKind.FAMILY: "kidslt6|nchild|hhsize|marst|divorced",
    ColumnKind.WORK: "educ|yschool|exper|bluecollar|selfemp|veteran",
    ColumnKind.PLACE: "villnum|schoolid|smsa|urban|inst",
    ColumnKind.DATE: "yrdth|monthofbirth|dxyr",
}


@pytest.mark.parametrize("kind", HINTS)
def test_abbreviations_are_understood(kind):
    for name in HINTS[kind].split("|"):
        assert getattr(hint_of(name), "kind", None) is kind, name


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([18, 44, 71, 999] * 9, (999,)),
        ([0, 1, 2, 3, -9] * 9, (-9,)),
        ([1, 2, 3, 4, 99] * 9, (99,)),
        ([90, 95, 99] * 9, ()),
        ([-3, -2, -1, 0, 1, 2, 3] * 9, ()),
        ([1, 2, 3, 9] * 9, (9,)),
        ([5, 6, 7, 8, 9] * 9, ()),
        ([0.5, 3.25, 999.0] * 9, ()),
    ],
)
def test_codes_of_missing_values_stand_apart(values, codes):
    found = guessed("age", values)
    assert found.missing == codes
    assert ("that the value is missing" in found.reason) == bool(codes)


def test_labels_say_which_codes_mean_that_nothing_is_known():
    domain = open_table(pa.table({"v1": [1, 2, 3, 7] * 9})).domains(["v1"])["v1"]
    labels = {"1": "never", "2": "seldom", "3": "often", "7": "refused"}
    found = guess(domain, Variable(label="Smoking in the last year", labels=labels))
    assert found.missing == (7,)
    assert found.kind is ColumnKind.HEALTH
    assert found.reason.startswith("Smoking in the last year: 3 distinct values, ")


def test_a_label_that_asks_whether_there_is_a_telephone_is_no_telephone_number():
    domain = open_table(pa.table({"v1": [1, 2, 3, 4] * 9})).domains(["v1"])["v1"]
    found = guess(domain, Variable(label="Telephone in the household"))
    assert found.role is not Role.IDENTIFIER


@pytest.mark.parametrize("write", ["${:,.2f}", "CHF {:,.0f}", "{:.0f} EUR", "Rs. {:,.0f}"])
def test_money_is_no_identifier_however_it_is_written(write):
    pays = [write.format(1000 + 37.5 * at) for at in range(400)]
    table = pa.table({"x": pays, "sex": ["f", "m"] * 200})
    assert sf.draft(table).policy.columns["x"].role is not Role.IDENTIFIER
