"""Columns in six languages, and dates that are stored as numbers: found, and not seen elsewhere."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from sfumato.drafting.guess import guess_table
from sfumato.policy.meanings import ColumnKind
from sfumato.schema import Role
from sfumato.tables import open_table

N = 600
RNG = np.random.default_rng(5)
EXACT = (Role.SENSITIVE, Role.PLAIN)

NAMES = {
    "age": "age|Alter|âge_patient|edad|eta|leeftijd|AgeAtVisit|Età|Leeftijd (jaren)",
    "sex": "sex|Geschlecht|sexe|sexo|sesso|geslacht|Gender|Genere",
    "born": "birth date|Geburtsdatum|date de naissance|fecha de nacimiento|data di nascita"
    "|geboortedatum|DOB",
    "place": "city|Wohnort|commune|ciudad|comune|woonplaats|Gemeinde|provincia|PLZ|gemeente",
    "work": "education|Beruf|profession|ocupación|titolo di studio|opleiding|Schulabschluss|beroep",
    "family": "marital status|Familienstand|état civil|estado civil|stato civile|burgerlijke staat",
    "name": "last name|Nachname|nom de famille|apellidos|cognome|achternaam|Vorname|voornaam",
    "ill": "diagnosis|Diagnose|maladie|diagnóstico|diagnosi|ziekte|Krankheit|malattia|aandoening",
    "money": "income|Einkommen|salaire|sueldo|reddito|inkomen|Gehalt|stipendio|salaris",
}  # fmt: skip
VALUES = {
    "age": RNG.integers(18, 90, N),
    "sex": RNG.choice([1, 2], N),
    "born": [dt.date(1940, 1, 1) + dt.timedelta(int(d)) for d in RNG.integers(0, 20_000, N)],
    "place": [f"o{i}" for i in RNG.integers(0, 30, N)],
    "work": [f"w{i}" for i in RNG.integers(0, 9, N)],
    "family": [f"f{i}" for i in RNG.integers(0, 4, N)],
    "name": [f"n{i}" for i in RNG.integers(0, 300, N)],
    "ill": [f"i{i}" for i in RNG.integers(0, 12, N)],
    "money": RNG.lognormal(10, 1, N).round(),
}
ROLES = {"name": (Role.IDENTIFIER,), "ill": (Role.SENSITIVE,), "money": (Role.SENSITIVE,)}


@pytest.mark.parametrize("what", NAMES)
def test_words_of_six_languages_are_known(what):
    for name in NAMES[what].split("|"):
        table = open_table(pa.table({name: pa.array(list(VALUES[what]))}))
        found = guess_table(table, table.domains([name]))[name]
        assert found.role in ROLES.get(what, (Role.QUASI_IDENTIFIER,)), (name, found)
        assert found.kind is not ColumnKind.UNKNOWN, (name, found)


def workdays(n, since, days):
    """Return days on which offices are open."""
    every = [since + dt.timedelta(d) for d in range(days)]
    return RNG.choice([d for d in every if d.weekday() < 5], n)


VISITS = workdays(N, dt.date(2009, 3, 1), 2_500)
BIRTHS = [dt.date(1930, 1, 1) + dt.timedelta(int(d)) for d in RNG.integers(0, 25_000, N)]


def since(days, origin, by=1):
    return [(d - dt.date(*origin)).days * by for d in days]


DATES = {
    "YYYYMMDD": [int(f"{d:%Y%m%d}") for d in BIRTHS],
    "YYYYMMDD as decimals": [float(f"{d:%Y%m%d}") for d in VISITS],
    "DDMMYYYY": [int(f"{d:%d%m%Y}") for d in BIRTHS],
    "MMDDYYYY": [int(f"{d:%m%d%Y}") for d in BIRTHS],
    "YYMMDD": [int(f"{d:%y%m%d}") for d in BIRTHS],
    "YYYYMM": [int(f"{d:%Y%m}") for d in BIRTHS],
    "YYYYWW": [int(f"{d:%G%V}") for d in BIRTHS],
    "YYWW": [int(f"{d:%y%V}") for d in workdays(N, dt.date(2010, 1, 1), 3_000)],
    "year and day of the year": [int(f"{d:%Y%j}") for d in BIRTHS],
    "Stata %td": since(VISITS, (1960, 1, 1)),
    "Excel": since(VISITS, (1899, 12, 30)),
    "R": since(VISITS, (1970, 1, 1)),
    "Unix seconds": [x + 36_000 + i * 7 for i, x in enumerate(since(VISITS, (1970, 1, 1), 86_400))],
    "Unix milliseconds": since(VISITS, (1970, 1, 1), 86_400_000),
    "Stata %tc": since(VISITS, (1960, 1, 1), 86_400_000),
    "SAS seconds": since(VISITS, (1960, 1, 1), 86_400),
    "Unix seconds of births": since(BIRTHS, (1970, 1, 1), 86_400),
    "SAS milliseconds of births": since(BIRTHS, (1960, 1, 1), 86_400_000),
    "Excel with times": [d + m / 1440 for d, m in zip(
        since(VISITS, (1899, 12, 30)), RNG.integers(0, 1440, N), strict=True)],
    "years with decimals": [d.year + d.timetuple().tm_yday / 366 for d in BIRTHS],
    "ages in decimals": [round((dt.date(2015, 1, 1) - d).days / 365.25, 2) for d in BIRTHS],
    "ages to the day": [round((dt.date(2015, 1, 1) - d).days / 365.25, 3) for d in BIRTHS],
    "ages with a comma": [f"{(dt.date(2015, 1, 1) - d).days / 365.25:.2f}".replace(".", ",")
                          for d in BIRTHS],
    "quarters": [f"{d.year} Q{(d.month + 2) // 3}" for d in BIRTHS],
    "months": [f"{d:%m/%Y}" for d in BIRTHS],
}  # fmt: skip


@pytest.mark.parametrize("kind", DATES)
def test_dates_in_numbers_are_never_published_exactly(kind):
    table = open_table(pa.table({"v12": pa.array(list(DATES[kind])), "sex": RNG.choice([1, 2], N)}))
    found = guess_table(table, table.domains(table.columns))["v12"]
    assert found.role in (Role.QUASI_IDENTIFIER, Role.IDENTIFIER), found
    if not kind.startswith("ages"):
        assert found.kind is ColumnKind.DATE, found


NO_DATES = {
    "amounts": RNG.lognormal(9, 1.2, N).round(),
    "five digits": RNG.integers(10_000, 99_999, N),
    "eight digits": RNG.integers(10**7, 10**8, N),
    "four digits": RNG.integers(1_000, 9_999, N),
    "counts": RNG.poisson(40, N),
    "measured": RNG.normal(14_000, 900, N).round(),
    "telephones": RNG.integers(15_000_000_000, 17_999_999_999, N).astype(float),
    "shares": RNG.random(N),
    "scores": RNG.integers(0, 101, N),
    "given out by sevens": RNG.permutation(N) * 7 + 30_011,
    "measured with decimals": RNG.normal(40_000, 2_000, N).round(3),
}


@pytest.mark.parametrize("kind", NO_DATES)
def test_other_numbers_are_no_dates(kind):
    table = open_table(pa.table({"v12": NO_DATES[kind], "sex": RNG.choice([1, 2], N)}))
    assert guess_table(table, table.domains(table.columns))["v12"].kind is not ColumnKind.DATE


def test_telephone_numbers_stored_as_numbers_are_identifiers():
    numbers = RNG.choice(10**9, N, replace=False) + 491_000_000_000 * (1 + np.arange(N) % 9)
    table = open_table(pa.table({"v": numbers.astype(float)}))
    assert guess_table(table, table.domains(["v"]))["v"].role is Role.IDENTIFIER


def test_texts_with_names_of_physicians_are_left_out():
    texts = ["Diabetes, Dr. Weiss", "Gout", "Flu (Frau Koch)", "Asthma, seen by Prof. Bauer"] * 40
    table = open_table(pa.table({"diagnosis": texts}))
    assert guess_table(table, table.domains(["diagnosis"]))["diagnosis"].role is Role.DROPPED


@pytest.mark.parametrize("name", ["médecin", "Arzt", "doctor", "huisarts", "Zuweiser"])
def test_names_of_those_who_treat_people_are_left_out_and_their_codes_are_known(name):
    for values, role in ((["MARTIN", "PETIT", "DUBOIS"], Role.DROPPED),
                         (["A17", "A22", "B4"], Role.QUASI_IDENTIFIER)):  # fmt: skip
        table = open_table(pa.table({name: RNG.choice(values, N)}))
        assert guess_table(table, table.domains([name]))[name].role is role


@pytest.mark.parametrize("name", ["f_nac", "fnac", "gebdat", "an_naiss"])
def test_days_of_births_are_known_in_whatever_number_they_are_counted(name):
    table = open_table(pa.table({name: since(BIRTHS, (1960, 1, 1)), "sex": RNG.choice([1, 2], N)}))
    found = guess_table(table, table.domains(table.columns))[name]
    assert (found.role, found.kind) == (Role.QUASI_IDENTIFIER, ColumnKind.DATE)


def test_numbers_of_schools_are_known_and_no_numbers_of_people():
    table = open_table(pa.table({"SCH_ID": RNG.integers(100, 160, N), "x": RNG.random(N)}))
    assert guess_table(table, table.domains(["SCH_ID"]))["SCH_ID"].role is Role.QUASI_IDENTIFIER


def test_codes_that_begin_with_a_letter_of_a_sex_are_none():
    table = open_table(pa.table({"x": [f"m{i % 30}" for i in range(N)]}))
    assert guess_table(table, table.domains(["x"]))["x"].kind is not ColumnKind.SEX


def test_coordinates_with_a_comma_are_found_beside_figures_with_a_point():
    columns = {
        "lat": [f"{45 + RNG.random():.5f}".replace(".", ",") for _ in range(N)],
        "size": RNG.normal(170, 9, N).round(1),
    }
    table = open_table(pa.table(columns))
    found = guess_table(table, table.domains(table.columns))["lat"]
    assert (found.role, found.kind) == (Role.QUASI_IDENTIFIER, ColumnKind.PLACE)
