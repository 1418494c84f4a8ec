"""Who can be told not to be in the data: each way to slice, beside Anatomy and generalisation."""

from typing import Any

import sfumato as sf
from docs.papers.results import Record, told
from docs.papers.slicing.demands import OCCUPATION, Demand
from docs.papers.slicing.releases import (
    BUCKETS,
    LAX,
    OVERLAPPED,
    SEED,
    SLICED,
    SUPPRESSION,
    known,
    people,
    policy,
)
from sfumato.decouplings import Anatomy, Slicing

ROWS = (5_000, 15_000)
L = 4
FAKES = 10_000
QUERIES = 300

RELAXED, AIMED = "relaxed cuts", "membership in mind"
BOTH = f"{AIMED}, {RELAXED}"

WAYS: dict[str, dict[str, Any]] = {
    SLICED: {},
    **{name: {"overlap": overlap} for overlap, name in OVERLAPPED.items()},
    RELAXED: {"cuts": "relaxed"},
    f"{RELAXED}, all tables together": {"cuts": "relaxed", "check": "worlds"},
    f"{RELAXED}, printed formula": {"cuts": "relaxed", "check": "paper"},
    AIMED: {"aim": "membership"},
    BOTH: {"aim": "membership", "cuts": "relaxed"},
}
"""Ways to slice, by the names of the page."""


def run() -> list[Record]:
    """Publish the same people in each way, and hold the same made-up people against them."""
    found = []
    for rows in told("membership, table", ROWS):
        found += _run(rows)
    return found


def _run(rows: int) -> list[Record]:
    table, demand = people(rows), Demand(OCCUPATION, "probabilistic", L)
    roles: dict[str, Any] = {
        "quasi_identifiers": known(OCCUPATION),
        "sensitive": [OCCUPATION],
    }
    made: dict[str, Any] = {
        LAX: sf.anonymize(table, policy(demand, SUPPRESSION)),
        BUCKETS: sf.decouple(table, Anatomy(l=L), **roles, seed=SEED),
    }
    for name, settings in WAYS.items():
        made[name] = sf.decouple(table, Slicing(L, **settings), **roles, seed=SEED)
    asked = policy(demand, SUPPRESSION)
    seen = sf.tools.membership(table, made, policy=asked, fakes=FAKES, seed=SEED, **roles)
    answers = sf.utility(table, made, policy=asked, queries=QUERIES, seed=SEED, **roles)
    return [
        {
            "rows": rows,
            "method": name,
            "groups": release.manifest.classes.count,
            "matched": round(seen[name].groups, 6),
            "fakes": seen[name].fakes,
            "ruled_out": round(seen[name].ruled_out or 0.0, 6),
            "median": round(answers[name].queries.median, 6),
            "off": round(answers[name].associations.mean_difference, 6),
        }
        for name, release in made.items()
    ]
