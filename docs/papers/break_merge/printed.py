"""What the two articles print, to stand beside what comes out here.

Arabic numbers are tables of the later article (B), Roman ones of the earlier (A). Columns and
values are named as in the sample `census`.
"""

from dataclasses import dataclass

COLUMNS = ("age", "gender", "zipcode", "government", "marital_status", "salary")
QUASI_IDENTIFIERS, SENSITIVE = COLUMNS[:3], COLUMNS[3:]
FIRST = ("[30-50]", "F", "[13000-23000]")
SECOND = ("[51-90]", "M", "[24000-58000]")
GROUPS = (FIRST, SECOND)

PARENTS: dict[str, dict[str, tuple[str, ...]]] = {
    "quasi-identifiers": {"age": (), "gender": ("age", "zipcode"), "zipcode": ("age",)},
    "sensitive": {
        "government": (),
        "marital_status": ("government",),
        "salary": ("government", "marital_status"),
    },
    "all": {"government": ("age", "gender", "zipcode", "marital_status", "salary")},
}
"""Which columns each depends on, as far as the text says; the drawings themselves are lost."""


@dataclass(frozen=True)
class Conditional:
    """A printed table of conditional probabilities."""

    name: str
    child: str
    parents: tuple[str, ...]
    values: tuple[str, ...]
    """What stands above the columns."""

    rows: dict[tuple[str, ...], tuple[float, ...]]


CONDITIONALS = (
    Conditional(
        "III (A), 3 (B)",
        "gender",
        ("zipcode", "age"),
        ("F", "M"),
        {
            ("[13000-23000]", "[30-50]"): (1, 0),
            ("[13000-23000]", "[51-90]"): (0.5, 0.5),
            ("[24000-58000]", "[30-50]"): (0.5, 0.5),
            ("[24000-58000]", "[51-90]"): (0, 1),
        },
    ),
    Conditional(
        "IV (A)",
        "zipcode",
        ("age",),
        ("[13000-23000]", "[24000-58000]"),
        {("[30-50]",): (1, 0), ("[51-90]",): (0, 1)},
    ),
    Conditional(
        "VI (A)",
        "salary",
        ("government", "marital_status"),
        ("<=50K", ">50K"),
        {
            ("State-gov", "Never-Married"): (1, 0),
            ("Federal-gov", "Divorced"): (0.5, 0.5),
            ("Private", "Divorced"): (1, 0),
            ("Local-gov", "Separated"): (0, 1),
            ("Private", "Married"): (0, 1),
            ("Self-emp", "Married"): (1, 0),
            ("Self-emp", "Separated"): (0.5, 0.5),
        },
    ),
    Conditional(
        "VII (A)",
        "marital_status",
        ("government",),
        ("Married", "Never-Married", "Divorced", "Separated"),
        {
            ("State-gov",): (0.5, 0.167, 0.167, 0.167),
            ("Federal-gov",): (0.333, 0.333, 0.167, 0.125),
            ("Private",): (0.125, 0.375, 0.375, 0.125),
            ("Local-gov",): (0.25, 0.25, 0.25, 0.25),
            ("Self-emp",): (0.2, 0.4, 0.2, 0.2),
        },
    ),
    Conditional(
        "VIII (A), Figure 4 (B)",
        "government",
        ("age", "gender", "zipcode", "marital_status", "salary"),
        ("State-gov", "Federal-gov", "Private", "Local-gov", "Self-emp"),
        {
            (*FIRST, "Never-Married", "<=50K"): (1, 0, 0, 0, 0),
            (*FIRST, "Married", "<=50K"): (0, 1, 0, 0, 0),
            (*FIRST, "Separated", ">50K"): (0, 0, 0, 1, 0),
            (*SECOND, "Never-Married", "<=50K"): (0, 1, 0, 0, 0),
            (*SECOND, "Divorced", "<=50K"): (0, 0, 1, 0, 0),
        },
    ),
)
"""Table VII's last column is headed "Widowed", a value that nobody has."""

SWAPPED = "VII (A)"
"""The table that comes out when its first two headings change places; see `census.decoded`."""

VERDICTS = {
    (("age",), "zipcode"): True,
    (("age", "zipcode"), "gender"): True,
    (("age",), "gender"): False,
    (("zipcode",), "gender"): False,
    (("government",), "marital_status"): False,
    (("government", "marital_status"), "salary"): True,
    (("age", "gender", "zipcode", "marital_status", "salary"), "government"): True,
}
"""Which rules are said to hold; of the quasi-identifiers, these two of four."""

BROKEN = {
    ("5", "marital_status"): (
        {"Married": 1, "Never-Married": 2, "Divorced": 1, "Separated": 1},
        {"Married": 3, "Never-Married": 1, "Divorced": 1},
    ),
    ("6", "salary"): ({"<=50K": 4, ">50K": 1}, {"<=50K": 3, ">50K": 2}),
    ("7", "government"): (
        {"State-gov": 2, "Federal-gov": 1, "Private": 1, "Local-gov": 1},
        {"Private": 3, "Self-emp": 1, "Federal-gov": 1},
    ),
}
"""Tables 5 to 7 (X to XII in A): how many of each group have each value."""

GROWN = {
    ("11", "marital_status"): (
        {"Married": 1, "Never-Married": 12, "Divorced": 1, "Separated": 1},
        {"Married": 3, "Never-Married": 1, "Divorced": 1},
    ),
    ("12", "salary"): ({"<=50K": 9, ">50K": 6}, {"<=50K": 3, ">50K": 2}),
    ("13", "government"): (
        {"State-gov": 12, "Federal-gov": 1, "Private": 1, "Local-gov": 1},
        {"Private": 3, "Self-emp": 1, "Federal-gov": 1},
    ),
}
"""Tables 11 to 13: the same with ten more people."""

ADDED = tuple(
    (*FIRST, "State-gov", "Never-Married", pay) for pay in ("<=50K", ">50K") for _ in "12345"
)
"""Table 10: the ten rows that are added, in their order."""

LIKELIHOODS = {
    ("Never-Married", "<=50K"): 32,
    ("Never-Married", ">50K"): 8,
    ("Married", "<=50K"): 16,
    ("Married", ">50K"): 4,
    ("Divorced", "<=50K"): 16,
    ("Divorced", ">50K"): 4,
    ("Separated", "<=50K"): 16,
    ("Separated", ">50K"): 4,
}
"""Table 8 (XIII in A), in per cent: group 1, State-gov known."""

PRIVATE = ("Married", ">50K"), 24
"""The one figure for group 2, Private known."""

PRIVATE_BEFORE = 100
"""What is said of it before breaking."""


@dataclass(frozen=True)
class Increment:
    """A row of Table 14."""

    work: str
    marital: str
    salary: str
    old: tuple[int, int]
    """How many of the five people of group 1 have the marital status, and the salary."""

    new: tuple[int, int]
    size: int
    was: int
    became: int
    ratio: float


def _increments() -> tuple[Increment, ...]:
    who = (
        ("State-gov", "Never-Married", 2, 32, 8),
        ("Federal-gov", "Married", 1, 16, 4),
        ("Private", "Divorced", 1, 16, 4),
    )
    # Counts of the marital status, of each salary, the group; per cent and ratio, twice.
    printed = (
        (
            (19, 14, 9, 23, 50, 0.5625, 32, 3.0),
            (21, 15, 10, 25, 50, 0.5625, 34, 3.25),
            (30, 21, 14, 35, 51, 0.593, 34, 3.25),
            (39, 27, 18, 45, 52, 0.625, 35, 3.375),
        ),
        (
            (3, 6, 1, 7, 37, 1.3125, 6, 0.5),
            (7, 10, 3, 13, 41, 1.562, 12, 2.5),
            (11, 15, 5, 20, 41, 2.43, 14, 2.75),
            (26, 29, 8, 37, 55, 0.625, 15, 0.75),
        ),
        (
            (3, 7, 2, 9, 26, 1.25, 7, 1.75),
            (6, 10, 3, 13, 36, 1.25, 11, 1.75),
            (14, 17, 7, 24, 41, 1.56, 17, 3.25),
            (22, 26, 11, 37, 42, 1.625, 18, 3.5),
        ),
    )
    found = []
    for (work, marital, had, low, high), rows in zip(who, printed, strict=True):
        for now, poor, rich, size, low_now, low_ratio, high_now, high_ratio in rows:
            both = work, marital
            found += [
                Increment(*both, "<=50K", (had, 4), (now, poor), size, low, low_now, low_ratio),
                Increment(*both, ">50K", (had, 1), (now, rich), size, high, high_now, high_ratio),
            ]
    return tuple(found)


TABLE_14 = _increments()
"""Table 14, with its one wrong factor put right: the sixth row has 14/35, not 21/35."""

ALPHAS = (0.6, 0.7, 0.87, 0.9)
"""The limits of Figure 15."""

PERMITTED = {0.6: 17, 0.9: 190}
"""How many rows may be added, as the text about Figure 15 says."""

LEARNING = {1: 1.2, 3: 1.7}
"""Figures 5 and 6: seconds for 100 000 rows, with so many sensitive columns."""

BREAKING = 5.0
"""Figures 8 to 10: fewer seconds than this for 100 000 rows."""
