"""Guesses: what names and values of columns say, and what is safe where they say nothing."""

from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pytest

from sfumato.guess import guess, meaning_of, words
from sfumato.schema import Role
from sfumato.tables import open_table

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
        admission date|discharged|Alter|Geschlecht|Postleitzahl|Wohnort|Familienstand|Beruf|âge|
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


@pytest.mark.parametrize(
    "name", ["x1", "stage", "management", "page", "ward_type", "α", "👩", "42"]
)
def test_a_name_that_only_contains_a_known_word_says_nothing(name):
    assert meaning_of(name) is None
    found = guessed(name, FEW)
    assert found.role is Role.QUASI_IDENTIFIER
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
        (RNG.normal(70, 10, 500), Role.QUASI_IDENTIFIER, "a measurement: exact figures"),
        (RNG.integers(0, 10**6, 300), Role.QUASI_IDENTIFIER, "a measurement: exact figures"),
        ([3, 9, 4], Role.QUASI_IDENTIFIER, "meaning unknown"),
        ([True, False] * 9, Role.QUASI_IDENTIFIER, "2 distinct values, meaning unknown"),
        ([date(2020, 1, 1) + timedelta(i) for i in range(99)], Role.QUASI_IDENTIFIER, "dates"),
        (["2020-01-01", "2020-03-05T10:30"] * 9, Role.QUASI_IDENTIFIER, "dates"),
        (["x"] * 9, Role.QUASI_IDENTIFIER, "1 distinct value, meaning unknown"),
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
