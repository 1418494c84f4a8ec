"""The large tables: groups of a thousand people, drawn from Adult.

The sources replicate Adult "such that each equivalence size is 1000" and go up to 100 000
rows. Here a group is a band of ages, a sex and a region of zip codes; its thousand people are
drawn, with replacement, from those of Adult with that age and sex.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
import pyarrow as pa

from docs.papers.adult import adult
from docs.papers.data import ILLNESSES
from sfumato.typing import IntArray

EACH = 1000
"""People of a group."""

BANDS, SEXES, REGIONS = 10, 2, 5
MOST = BANDS * SEXES * REGIONS * EACH
SEED = 0

QUASI_IDENTIFIERS = ("age", "sex", "zipcode")

SENSITIVE = {
    "adult": ("government", "marital-status", "salary"),
    "disease": ("disease",),
    "salary": ("salary",),
}
"""The tables by name, and the sensitive columns of each."""

IN_ADULT = {
    "government": "workclass",
    "marital-status": "marital-status",
    "salary": "salary-class",
}
"""What the columns of the first table are called in Adult."""


@cache
def people(rows: int, name: str = "adult") -> pa.Table:
    """Make the first so many rows of a table: whole groups, in an order drawn by lot."""
    drawn, columns = _drawn()
    shown = {key: values[:rows] for key, values in columns.items()}
    return pa.table(shown | {key: value[:rows] for key, value in _SECRETS[name](drawn).items()})


@cache
def _drawn() -> tuple[IntArray, dict[str, pa.Array]]:
    """Draw who is in which group: their rows in Adult, and what is published of them."""
    rng = np.random.default_rng(SEED)
    age = np.array(adult()["age"].to_pylist(), dtype=np.int64)
    sex = np.array(adult()["sex"].to_pylist())
    edges = np.quantile(age, np.linspace(0, 1, BANDS + 1)[1:-1], method="lower")
    band = np.searchsorted(edges, age)
    groups = [(b, s, r) for b in range(BANDS) for s in np.unique(sex) for r in range(REGIONS)]
    chosen, shown = [], []
    for at in rng.permutation(len(groups)).tolist():
        b, s, region = groups[at]
        chosen.append(rng.choice(np.flatnonzero((band == b) & (sex == s)), EACH))
        years = age[band == b]
        labels = f"[{years.min()}-{years.max()}]", str(s), f"[{region + 1}0000-{region + 1}9999]"
        shown.append(labels)
    columns = {
        name: pa.array(np.repeat([labels[i] for labels in shown], EACH))
        for i, name in enumerate(QUASI_IDENTIFIERS)
    }
    return np.concatenate(chosen), columns


def _of_adult(drawn: IntArray) -> dict[str, pa.Array]:
    taken = adult().select(list(IN_ADULT.values())).take(pa.array(drawn)).combine_chunks()
    return {name: taken[there].combine_chunks() for name, there in IN_ADULT.items()}


def _disease(drawn: IntArray) -> dict[str, pa.Array]:
    """Draw an illness for everybody, each as likely as any other."""
    lot = np.random.default_rng(SEED + 1).integers(len(ILLNESSES), size=len(drawn))
    return {"disease": pa.array(ILLNESSES).take(pa.array(lot))}


def _salary(drawn: IntArray) -> dict[str, pa.Array]:
    """Draw an amount for everybody, in thousands: many values, small ones more often."""
    amount = np.random.default_rng(SEED + 2).lognormal(3.5, 0.6, len(drawn))
    return {"salary": pa.array(np.clip(amount, 5, 400).astype(np.int64))}


_SECRETS: dict[str, Callable[[IntArray], dict[str, pa.Array]]] = {
    "adult": _of_adult,
    "disease": _disease,
    "salary": _salary,
}
