"""What the thesis prints, to stand beside what comes out here."""

SUFFERING = {"p-sensitive": (13, 21), "p-alpha": (7, 30), "enhanced": (3, 28)}
"""Minimal tables that suffer the similarity attack, of how many (Table 5.3)."""

EXPOSED_ROWS = 916
"""Rows of one p-sensitive table whose secret is said to be deducible."""

HEIGHTS = {
    "age": ("Age", 4),
    "occupation": ("Workclass", 3),
    "marital-status": ("Marital_Status", 3),
    "race": ("Race", 3),
    "sex": ("Gender", 2),
    "education": ("Education", 4),
    "native-country": ("Country", 3),
}
"""Table 5.1: the name of each quasi-identifier and the height of its hierarchy."""
