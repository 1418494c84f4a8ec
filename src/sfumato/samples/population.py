"""The invented population: which values there are and how likely each is given others.

Weights need not sum to one. No person in these tables is real; the proportions are rough
on purpose, what matters is that columns depend on each other as they do in life.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from sfumato.lists import read_lists

_LISTS = read_lists(Path(__file__).parent / "data" / "population.txt")


def _lines(heading: str) -> list[list[str]]:
    return [line.split(", ") for line in _LISTS[heading].splitlines()]


GIVEN_NAMES = {sex: tuple(_LISTS[f"given names, {sex}"].split()) for sex in ("female", "male")}
FAMILY_NAMES = tuple(_LISTS["family names"].split())
SEXES = ("female", "male", "diverse")

AGE_WEIGHTS = ((18, 8), (25, 11), (35, 11), (45, 14), (55, 17), (65, 17), (75, 13), (85, 5))
"""From this age on, how likely each single year of age is."""

OLDEST = 95

BANDS = (30, 45, 60, 75)
"""Where one of the five bands of age ends and the next begins."""

SEX_BY_BAND = (
    (52.0, 47.4, 0.6),
    (52.0, 47.6, 0.4),
    (49.0, 50.8, 0.2),
    (49.0, 50.9, 0.1),
    (58.0, 41.95, 0.05),
)

REGION_WEIGHTS = (9, 14, 6, 4, 16, 11, 8, 13, 5, 14)
"""By the first digit of the postcode; within a region few towns hold most people."""

CITY_REGIONS = (1, 4, 7, 9)
TOWNS, DISTRICTS = 6, 8

NATIONALITIES = {name: (int(land), int(city)) for name, land, city in _lines("nationalities")}
"""How likely each is in the countryside and in city regions."""

MARITAL_STATUS = ("single", "married", "civil partnership", "separated", "divorced", "widowed")
MARITAL_BY_BAND = (
    (82, 14, 2, 1, 1, 0.1),
    (38, 48, 3, 4, 7, 0.5),
    (17, 57, 2, 5, 16, 3),
    (9, 60, 1, 3, 15, 12),
    (6, 44, 0.3, 1, 8, 41),
)

EDUCATION = (
    "no certificate", "lower secondary", "upper secondary",
    "apprenticeship", "master craftsman",
    "bachelor", "master", "doctorate",
)  # fmt: skip
EDUCATION_BY_BAND = (
    (5, 13, 34, 22, 1, 17, 7.5, 0.5),
    (4, 12, 12, 32, 5, 15, 17, 3),
    (4, 17, 9, 42, 8, 6, 12, 2),
    (5, 27, 6, 42, 7, 3, 9, 1),
    (9, 43, 4, 34, 4, 1, 4, 1),
)
EDUCATION_KIND = (0, 0, 0, 1, 1, 2, 2, 2)
"""School, vocational or university: what the choice of an occupation depends on."""

EDUCATION_PAY = (0.82, 0.88, 0.95, 1.0, 1.15, 1.2, 1.4, 1.65)


class Occupation(NamedTuple):
    """An occupation, its field, how likely it is by education, and its pay a year."""

    name: str
    field: str
    weights: tuple[float, float, float]
    """For those who left education from school, with a trade, from university."""

    pay: int


OCCUPATIONS = tuple(
    Occupation(name, field, (float(school), float(trade), float(university)), int(pay))
    for name, field, school, trade, university, pay in _lines("occupations")
)

STAGES = (25, 66)
"""Where study ends and where pensions begin."""

STAGE_FACTORS = {"student": (60.0, 1.0, 0.01), "retired": (0.0, 1.0, 1500.0)}
"""How much likelier these are before, between and after the two ages."""


class Diagnosis(NamedTuple):
    """An illness: how common, for which ages and sexes, how severe, and whether of the winter."""

    name: str
    chapter: str
    weight: float
    by_band: tuple[float, float, float, float, float]
    women: float
    men: float
    severity: float
    """From 0, no one dies of it, to 1."""

    winter: bool


def _diagnosis(line: Sequence[str]) -> Diagnosis:
    name, chapter, *numbers, season = line
    weight, a, b, c, d, e, women, men, severity = map(float, numbers)
    winter = season == "winter"
    return Diagnosis(name, chapter, weight, (a, b, c, d, e), women, men, severity, winter=winter)


DIAGNOSES = tuple(map(_diagnosis, _lines("diagnoses")))

OCCUPATIONAL_RISK = {
    (field, name): float(factor) for field, name, factor in _lines("occupational risk")
}
"""How much likelier an illness is in a field of work; 1 where nothing is said."""

MONTH_WEIGHTS = (10, 10, 10, 9, 9, 8, 8, 8, 9, 9, 10, 8)
WINTER_WEIGHTS = (24, 26, 16, 6, 3, 2, 1, 1, 2, 4, 8, 17)
FIRST_DAY, LAST_DAY = "2021-01-01", "2023-12-31"

OUTCOMES = ("recovered", "improved", "unchanged", "transferred", "died")
MILD = (48, 40, 9, 3, 0.05)
SEVERE = (4, 34, 18, 20, 24)
FRAILTY = (0.3, 0.4, 0.6, 0.9, 1.3)
"""How much of an illness's severity shows, by band of age."""

INSURANCE = ("statutory", "statutory plus", "private")
SALARY_STEPS = (20_000, 40_000, 65_000)
INSURANCE_BY_STEP = ((94, 4, 2), (87, 9, 4), (67, 18, 15), (30, 16, 54))

MISSING = {
    "postcode": 0.01,
    "nationality": 0.02,
    "marital_status": 0.02,
    "education": 0.04,
    "occupation": 0.03,
    "diagnosis": 0.01,
    "salary": 0.05,
}
"""The share of cells that no one filled in."""
