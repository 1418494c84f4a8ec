"""The published ten-row table, 5-anonymous, and the structure that goes with it."""

from sfumato.counts import FrequencySet
from sfumato.networks import Network

COLUMNS = ("Age", "Gender", "Zipcode", "Government", "Marital-Status", "Salary")
FIRST = ("[30-50]", "F", "[13000-23000]")
SECOND = ("[51-90]", "M", "[24000-58000]")
ROWS = [
    (*FIRST, "State-gov", "Never-Married", "≤50K"),
    (*FIRST, "State-gov", "Never-Married", "≤50K"),
    (*FIRST, "Federal-gov", "Married", "≤50K"),
    (*FIRST, "Private", "Divorced", "≤50K"),
    (*FIRST, "Local-gov", "Separated", ">50K"),
    (*SECOND, "Private", "Married", ">50K"),
    (*SECOND, "Self-emp", "Married", "≤50K"),
    (*SECOND, "Private", "Married", ">50K"),
    (*SECOND, "Private", "Divorced", "≤50K"),
    (*SECOND, "Federal-gov", "Never-Married", "≤50K"),
]
TABLE = FrequencySet.from_rows(COLUMNS, ROWS)

QUASI = Network.of(["Age", "Gender", "Zipcode"], [("Age", "Zipcode"), ("Zipcode", "Gender")])
SENSITIVE = Network.of(
    ["Government", "Marital-Status", "Salary"],
    [
        ("Government", "Marital-Status"),
        ("Government", "Salary"),
        ("Marital-Status", "Salary"),
    ],
)
WHOLE = Network.of(
    COLUMNS,
    [
        ("Age", "Zipcode"),
        ("Zipcode", "Gender"),
        ("Marital-Status", "Salary"),
        *((parent, "Government") for parent in COLUMNS if parent != "Government"),
    ],
)
"""As the published tool orients it: Government below all the others."""
