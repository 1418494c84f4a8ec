"""How slicing and generalisation bear more and more columns that others may know."""

from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf
from docs.papers.adult import TREES, adult
from docs.papers.results import Record, told
from docs.papers.slicing.demands import OCCUPATION
from docs.papers.slicing.releases import SEED, SLICED, known
from sfumato.decouplings import Slicing
from sfumato.policy import Policy

ROWS = 5_000
COLUMNS = (2, 4, 8, 16, 40)
L = 3
QUERIES = 300
CHANGED = 0.2
"""The share of a copied column's values that are drawn again."""

LOCALLY = "generalisation, Mondrian"


def wide(columns: int) -> tuple[pa.Table, tuple[str, ...]]:
    """Draw rows of Adult with so many known columns; beyond eight they are noisy copies."""
    rng = np.random.default_rng(SEED)
    table = adult().take(pa.array(np.sort(rng.permutation(adult().num_rows)[:ROWS])))
    names = list(known(OCCUPATION))[:columns]
    held = {name: table[name] for name in (*names, OCCUPATION)}
    for number in range(8, columns):
        name = names[number % 8]
        own = np.arange(ROWS)
        again = rng.random(ROWS) < CHANGED
        own[again] = rng.permutation(ROWS)[again]
        copied = f"{name}-{number // 8 + 1}"
        held[copied] = table[name].take(pa.array(own))
        names.append(copied)
    return pa.table({name: held[name] for name in (*names, OCCUPATION)}), tuple(names)


def run() -> list[Record]:
    """Publish tables of more and more columns, and ask them as many queries."""
    found = []
    for columns in told("known columns, table", COLUMNS):
        found += measured(columns)
    return found


def measured(columns: int) -> list[Record]:
    """Publish one table in both ways, and say how far the answers are off."""
    table, names = wide(columns)
    roles: dict[str, Any] = {"quasi_identifiers": names, "sensitive": [OCCUPATION]}
    asked = Policy(
        columns={
            **{
                name: {"role": "quasi-identifier", "hierarchy": TREES[_origin(name)]}
                for name in names
            },
            OCCUPATION: "sensitive",
        },
        models=[sf.models.ProbabilisticLDiversity(OCCUPATION, l=L)],
        method="mondrian",
    )
    made: dict[str, Any] = {
        LOCALLY: sf.anonymize(table, asked, seed=SEED),
        SLICED: sf.decouple(table, Slicing(L), **roles, seed=SEED),
    }
    answers = sf.utility(table, made, policy=asked, queries=QUERIES, seed=SEED, **roles)
    return [
        {
            "columns": columns,
            "method": name,
            "groups": release.manifest.classes.count,
            "median": round(answers[name].queries.median, 6),
            "off": round(answers[name].associations.mean_difference, 6),
        }
        for name, release in made.items()
    ]


def _origin(name: str) -> str:
    """Return the column of Adult that a column is a copy of.

    >>> _origin("marital-status-3"), _origin("marital-status")
    ('marital-status', 'marital-status')
    """
    first, _, last = name.rpartition("-")
    return first if last.isdigit() else name
