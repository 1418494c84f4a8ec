"""The invented population: which values there are and how likely each is given others.

Weights need not sum to one. No person in these tables is real; the proportions are rough
on purpose, what matters is that columns depend on each other as they do in life.
"""

from typing import NamedTuple

GIVEN_NAMES = {
    "female": (
        "Ada", "Aisha", "Anna", "Carla", "Clara", "Elif", "Emma", "Fatima", "Greta", "Hanna",
        "Ida", "Ines", "Julia", "Katya", "Lea", "Lin", "Marta", "Mia", "Nadia", "Nora",
        "Olga", "Petra", "Rosa", "Sofia", "Tara", "Ute", "Vera", "Yara", "Zoe", "Wilma",
    ),
    "male": (
        "Adam", "Ali", "Anton", "Ben", "Bruno", "Carl", "Chen", "David", "Emil", "Felix",
        "Georg", "Hassan", "Ivan", "Jakob", "Jan", "Karim", "Leo", "Luca", "Marek", "Max",
        "Mehmet", "Nils", "Omar", "Otto", "Paul", "Rafael", "Samir", "Theo", "Viktor", "Yusuf",
    ),
}  # fmt: skip

FAMILY_NAMES = (
    "Abel", "Adler", "Aydin", "Bauer", "Becker", "Berger", "Braun", "Busch", "Costa", "Demir",
    "Ebert", "Engel", "Fischer", "Frank", "Fuchs", "Garcia", "Graf", "Haas", "Hahn", "Hansen",
    "Hoffmann", "Ivanov", "Jansen", "Kaya", "Keller", "Klein", "Koch", "Kowalski", "Lang", "Lopez",
    "Maier", "Moreau", "Nguyen", "Novak", "Okafor", "Otto", "Peters", "Popescu", "Richter", "Rossi",
    "Sahin", "Schmidt", "Schulz", "Singh", "Sommer", "Vogel", "Wagner", "Weber", "Winter", "Wolf",
)  # fmt: skip

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

NATIONALITIES = {
    # nationality: (weight in the countryside, weight in city regions)
    "German": (880, 720),
    "Austrian": (6, 8),
    "French": (5, 12),
    "Dutch": (6, 7),
    "Danish": (3, 3),
    "Swedish": (2, 3),
    "Italian": (10, 22),
    "Spanish": (4, 10),
    "Greek": (5, 14),
    "Polish": (18, 26),
    "Romanian": (14, 22),
    "Ukrainian": (12, 24),
    "Turkish": (14, 48),
    "Syrian": (9, 22),
    "Iraqi": (4, 9),
    "Indian": (3, 14),
    "Pakistani": (1, 5),
    "Chinese": (2, 8),
    "Vietnamese": (2, 6),
    "Moroccan": (2, 6),
    "Egyptian": (1, 4),
    "Nigerian": (1, 6),
    "Ghanaian": (1, 4),
    "American": (2, 7),
    "Canadian": (1, 2),
    "Brazilian": (1, 5),
    "Mexican": (1, 2),
}

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


OCCUPATIONS = (
    Occupation("nurse", "Health", (1, 9, 2), 41_000),
    Occupation("carer", "Health", (6, 5, 0.5), 32_000),
    Occupation("physician", "Health", (0, 0, 9), 68_000),
    Occupation("teacher", "Education", (0, 0.3, 14), 44_000),
    Occupation("childcare worker", "Education", (3, 6, 1.5), 35_000),
    Occupation("researcher", "Education", (0, 0, 7), 45_000),
    Occupation("clerk", "Office", (6, 12, 5), 38_000),
    Occupation("accountant", "Office", (0.5, 6, 8), 47_000),
    Occupation("lawyer", "Office", (0, 0, 6), 58_000),
    Occupation("manager", "Office", (1, 3, 11), 63_000),
    Occupation("software developer", "Technology", (0.7, 3, 11), 52_000),
    Occupation("engineer", "Technology", (0, 2, 11), 54_000),
    Occupation("technician", "Technology", (2, 8, 1), 42_000),
    Occupation("electrician", "Trades", (1, 8, 0.2), 39_000),
    Occupation("bricklayer", "Trades", (5, 7, 0.1), 36_000),
    Occupation("machinist", "Trades", (5, 9, 0.2), 39_000),
    Occupation("cook", "Services", (8, 5, 0.3), 29_000),
    Occupation("cleaner", "Services", (13, 1.5, 0.3), 25_000),
    Occupation("sales assistant", "Services", (13, 8, 1), 29_000),
    Occupation("lorry driver", "Transport", (9, 5, 0.2), 34_000),
    Occupation("warehouse worker", "Transport", (13, 3, 0.3), 30_000),
    Occupation("student", "Not working", (0.5, 0.2, 1), 11_000),
    Occupation("unemployed", "Not working", (9, 4, 2), 13_000),
    Occupation("homemaker", "Not working", (6, 4, 2), 12_000),
    Occupation("retired", "Not working", (1, 1, 0.7), 24_000),
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
    women: float = 1.0
    men: float = 1.0
    severity: float = 0.0
    """From 0, no one dies of it, to 1."""

    winter: bool = False


DIAGNOSES = (
    Diagnosis("hypertension", "Circulatory", 9, (0.1, 0.5, 1.2, 1.6, 1.5), 1.0, 1.1, 0.05),
    Diagnosis("coronary heart disease", "Circulatory", 8, (0, 0.2, 1, 1.7, 1.7), 0.6, 1.4, 0.3),
    Diagnosis("heart failure", "Circulatory", 6, (0, 0.1, 0.4, 1.3, 2.6), 0.9, 1.1, 0.5),
    Diagnosis("stroke", "Circulatory", 4, (0.05, 0.2, 0.7, 1.5, 2.2), 0.9, 1.1, 0.55),
    Diagnosis("asthma", "Respiratory", 4, (1.8, 1.3, 0.8, 0.6, 0.4), 1.2, 0.8, 0.05),
    Diagnosis("COPD", "Respiratory", 5, (0, 0.2, 1.1, 1.7, 1.3), 0.8, 1.2, 0.3, winter=True),
    Diagnosis("pneumonia", "Respiratory", 5, (0.5, 0.5, 0.7, 1.2, 2.2), 0.9, 1.1, 0.4, winter=True),
    Diagnosis("influenza", "Respiratory", 4, (1.3, 1.0, 0.8, 0.9, 1.2), 1.0, 1.0, 0.1, winter=True),
    Diagnosis("breast cancer", "Cancer", 4, (0.1, 0.7, 1.4, 1.4, 1.0), 2.0, 0.02, 0.25),
    Diagnosis("prostate cancer", "Cancer", 4, (0, 0.05, 0.8, 2.0, 1.6), 0.0, 2.0, 0.2),
    Diagnosis("lung cancer", "Cancer", 3, (0.02, 0.2, 1.1, 1.9, 1.1), 0.8, 1.2, 0.8),
    Diagnosis("colorectal cancer", "Cancer", 3, (0.05, 0.3, 1.0, 1.7, 1.5), 0.9, 1.1, 0.45),
    Diagnosis("depression", "Mental", 6, (1.7, 1.5, 1.2, 0.6, 0.4), 1.3, 0.7, 0.03),
    Diagnosis("anxiety disorder", "Mental", 4, (2.1, 1.5, 0.9, 0.4, 0.3), 1.4, 0.6, 0.01),
    Diagnosis("alcohol dependence", "Mental", 4, (0.9, 1.6, 1.6, 0.7, 0.2), 0.5, 1.5, 0.1),
    Diagnosis("schizophrenia", "Mental", 1.2, (2.4, 1.6, 0.8, 0.3, 0.1), 0.9, 1.1, 0.03),
    Diagnosis("type 2 diabetes", "Metabolic", 7, (0.1, 0.5, 1.2, 1.7, 1.5), 0.9, 1.1, 0.12),
    Diagnosis("obesity", "Metabolic", 3, (1.2, 1.5, 1.2, 0.7, 0.2), 1.2, 0.8, 0.03),
    Diagnosis("thyroid disorder", "Metabolic", 3, (0.9, 1.3, 1.2, 0.9, 0.6), 1.7, 0.4, 0.01),
    Diagnosis("back pain", "Musculoskeletal", 7, (0.8, 1.4, 1.4, 0.9, 0.7), 1.0, 1.0, 0.0),
    Diagnosis("knee osteoarthritis", "Musculoskeletal", 5, (0.05, 0.3, 1.1, 1.9, 1.4), 1.2, 0.8),
    Diagnosis("hip fracture", "Musculoskeletal", 3, (0.1, 0.1, 0.3, 1.1, 3.4), 1.4, 0.7, 0.3),
    Diagnosis("HIV infection", "Infectious", 0.8, (1.4, 2.0, 1.2, 0.3, 0.05), 0.4, 1.6, 0.1),
    Diagnosis("hepatitis B", "Infectious", 0.9, (1.0, 1.5, 1.2, 0.7, 0.4), 0.8, 1.2, 0.1),
    Diagnosis(
        "tuberculosis", "Infectious", 0.6, (1.2, 1.2, 1.0, 0.8, 0.9), 0.7, 1.3, 0.2, winter=True
    ),
    Diagnosis("appendicitis", "Digestive", 4, (2.6, 1.3, 0.7, 0.4, 0.3), 1.0, 1.0, 0.01),
    Diagnosis("gastric ulcer", "Digestive", 3, (0.5, 0.9, 1.2, 1.2, 1.2), 0.9, 1.1, 0.06),
    Diagnosis("gallstones", "Digestive", 4, (0.7, 1.1, 1.2, 1.1, 0.9), 1.4, 0.7, 0.02),
    Diagnosis("childbirth", "Pregnancy", 16, (2.4, 1.6, 0.001, 0, 0), 2.0, 0.0, 0.0),
)

OCCUPATIONAL_RISK = {
    ("Health", "hepatitis B"): 4.0,
    ("Health", "tuberculosis"): 4.0,
    ("Health", "back pain"): 1.5,
    ("Education", "influenza"): 2.0,
    ("Education", "depression"): 1.5,
    ("Office", "hypertension"): 1.3,
    ("Office", "anxiety disorder"): 1.6,
    ("Technology", "back pain"): 1.3,
    ("Technology", "obesity"): 1.5,
    ("Trades", "back pain"): 2.2,
    ("Trades", "COPD"): 1.8,
    ("Trades", "lung cancer"): 1.7,
    ("Services", "asthma"): 1.7,
    ("Services", "alcohol dependence"): 1.6,
    ("Transport", "back pain"): 1.9,
    ("Transport", "obesity"): 1.8,
    ("Transport", "type 2 diabetes"): 1.5,
    ("Not working", "depression"): 1.4,
    ("Not working", "schizophrenia"): 2.5,
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
