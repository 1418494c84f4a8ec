"""Classes and categories printed in the literature on (p,α)-sensitive k-anonymity."""

CATEGORIES = (
    ("Cancer", "HIV"),
    ("Hepatitis", "Phthisis"),
    ("Asthma", "Obesity"),
    ("Indigestion", "Flu"),
)
"""Most secret first; they weigh 0, 1/3, 2/3 and 1."""


def classes(**diseases: str) -> list[tuple[str, str]]:
    """Rows of (class label, disease), the diseases of each class given as one text."""
    return [(label, disease) for label, text in diseases.items() for disease in text.split()]


TWO_SENSITIVE_FOUR_ANONYMOUS = classes(
    a_europe="Flu Indigestion Flu Indigestion",
    b_asia="Hepatitis Obesity Flu Flu",
    c_america="HIV Cancer Cancer HIV",
)
THREE_ONE_SENSITIVE_FOUR_ANONYMOUS = classes(
    a_any="HIV Cancer HIV Flu",
    b_america="Hepatitis Phthisis Asthma Obesity",
)
FOUR_CATEGORIES = classes(a="Indigestion Obesity Hepatitis HIV")
