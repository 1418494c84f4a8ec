"""The releases that are compared: each method, asked for the same diversity."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf
from docs.papers.adult import TREES, adult
from docs.papers.slicing.demands import Demand
from sfumato.decouplings import Anatomy, Slicing
from sfumato.errors import InfeasibleError
from sfumato.losses import NormalizedLoss
from sfumato.policy import Policy

ROWS = (15_000, 30_162)
SEED = 1
"""Which rows are drawn, and which labels and orders."""

SUPPRESSION = 0.05
OVERLAPS = (0.1, 0.03, 0.01)
"""Pairs of columns that are correlated so strongly are published together."""

STRICT, LAX = "generalisation", "generalisation, 5 % left out"
BROKEN, BUCKETS, SLICED = "break-merge", "anatomy", "slicing"
OVERLAPPED = {overlap: f"overlapping from {overlap:g}" for overlap in OVERLAPS}
METHODS = (STRICT, LAX, BUCKETS, SLICED, *OVERLAPPED.values())
"""Those on the page; Break-Merge of a generalised table says the same as that table."""


@cache
def people(rows: int) -> pa.Table:
    """Draw rows of Adult, or take all."""
    drawn = np.random.default_rng(SEED).permutation(adult().num_rows)[:rows]
    return adult().take(pa.array(np.sort(drawn)))


def known(sensitive: str) -> tuple[str, ...]:
    """Give the quasi-identifiers: all other columns."""
    return tuple(name for name in adult().column_names if name != sensitive)


def policy(demand: Demand, limit: float) -> Policy:
    """Ask for one level per column, with the trees of these pages."""
    columns: dict[str, Any] = {
        name: {"role": "quasi-identifier", "hierarchy": TREES[name]}
        for name in known(demand.sensitive)
    }
    columns[demand.sensitive] = "sensitive"
    return Policy(columns=columns, models=[demand.model], loss=NormalizedLoss(), suppression=limit)


def releases(demand: Demand, rows: int) -> tuple[dict[str, Any], dict[str, str]]:
    """Make every release that is possible; of the others, say why not."""
    made, refused = {}, {}
    for name, make in _makers(demand, people(rows)):
        try:
            made[name] = make()
        except InfeasibleError as error:
            refused[name] = str(error)
    if LAX in made:
        made[BROKEN] = sf.decouple(made[LAX], "break-merge", seed=SEED)
    return made, refused


def _makers(demand: Demand, table: pa.Table) -> Iterator[tuple[str, Callable[[], Any]]]:
    for name, limit in ((STRICT, 0.0), (LAX, SUPPRESSION)):
        yield name, lambda limit=limit: sf.anonymize(table, policy(demand, limit))  # type: ignore[misc]
    ways: dict[str, Any] = {}
    if demand.form == "probabilistic":
        ways[BUCKETS] = lambda: Anatomy(l=int(demand.l))
    ways[SLICED] = lambda: Slicing(**demand.parameters)
    for overlap, name in OVERLAPPED.items():
        ways[name] = lambda overlap=overlap: Slicing(**demand.parameters, overlap=overlap)
    for name, way in ways.items():
        yield (
            name,
            lambda way=way: sf.decouple(  # type: ignore[misc]
                table,
                way(),
                quasi_identifiers=known(demand.sensitive),
                sensitive=[demand.sensitive],
                seed=SEED,
            ),
        )
