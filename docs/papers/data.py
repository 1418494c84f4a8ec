"""The table: Adult, with a made-up illness drawn for every person."""

import numpy as np
import pyarrow as pa

from docs.papers.adult import adult

ILLNESS = "Health_condition"

ILLNESSES = (
    "Cancer",
    "HIV",
    "Hepatitis",
    "Phthisis",
    "Flu",
    "Indigestion",
    "Asthma",
    "Obesity",
)
"""In the order in which the thesis numbers them for its draw."""

CATEGORIES = (
    ("Cancer", "HIV"),
    ("Hepatitis", "Phthisis"),
    ("Asthma", "Obesity"),
    ("Indigestion", "Flu"),
)
"""Most secret first (the thesis's Table 4.2)."""

COLUMNS = (
    "age",
    "occupation",
    "marital-status",
    "race",
    "sex",
    "education",
    "native-country",
)
"""The quasi-identifiers in the order of the thesis's Table 5.1, by the names they have in Adult."""


def people(seed: int) -> pa.Table:
    """Give the quasi-identifiers of Adult and an illness for everybody, drawn uniformly."""
    table = adult().select(list(COLUMNS))
    drawn = np.random.default_rng(seed).integers(len(ILLNESSES), size=table.num_rows)
    illness = pa.DictionaryArray.from_arrays(pa.array(drawn), pa.array(ILLNESSES))
    return table.append_column(ILLNESS, illness.cast(pa.string()))
