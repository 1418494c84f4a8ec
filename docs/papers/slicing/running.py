"""Run everything: make the releases, ask them the same, and keep what they answered."""

from collections.abc import Iterator
from itertools import combinations

import sfumato as sf
from benchmarks.results import machine
from docs.papers.results import Record, say, told
from docs.papers.slicing import dimensions, membership
from docs.papers.slicing.demands import DEMANDS, Demand
from docs.papers.slicing.releases import (
    BUCKETS,
    OVERLAPS,
    ROWS,
    SEED,
    SUPPRESSION,
    known,
    people,
    policy,
    releases,
)
from sfumato.releases.release import DecoupledRelease
from sfumato.usefulness import Utility

QUERIES = 1000


def run() -> Record:
    """Run everything; nothing but the machine differs from run to run."""
    cells = []
    for rows, demand in told("demand", [(rows, demand) for rows in ROWS for demand in DEMANDS]):
        say(f"  {rows} rows, {demand.sensitive}, {demand.words}")
        cells += list(cells_of(demand, rows))
    return {
        "machine": machine(),
        "parameters": parameters(),
        "cells": cells,
        "membership": membership.run(),
        "dimensions": dimensions.run(),
    }


def parameters() -> Record:
    """Say how it was run."""
    return {
        "rows": list(ROWS),
        "seed": SEED,
        "queries": QUERIES,
        "suppression": SUPPRESSION,
        "overlaps": list(OVERLAPS),
    }


def cells_of(demand: Demand, rows: int) -> Iterator[Record]:
    """Measure every release of one demand, and say which there are none of."""
    made, refused = releases(demand, rows)
    asked = {"rows": rows, **demand.record}
    for method, why in refused.items():
        yield {**asked, "method": method, "refused": why}
    if not made:
        return
    answers = sf.utility(
        people(rows),
        made,
        policy=policy(demand, SUPPRESSION),
        quasi_identifiers=known(demand.sensitive),
        sensitive=[demand.sensitive],
        queries=QUERIES,
        seed=SEED,
    )
    for method, release in made.items():
        yield {
            **asked,
            "method": method,
            "refused": None,
            **_answered(answers[method], demand.sensitive),
            **_published(method, release, answers[method], demand.sensitive),
        }


def _answered(answer: Utility, sensitive: str) -> Record:
    """Give how far the answers are off."""
    pairs = answer.associations.pairs
    with_it = [p.difference for p in pairs if sensitive in (p.one, p.other)]
    return {
        "published": answer.published,
        "median": round(answer.queries.median, 6),
        "mean": round(answer.queries.mean, 6),
        "ninth_tenth": round(answer.queries.quantile(0.9), 6),
        "off": round(answer.associations.mean_difference, 6),
        "off_with_sensitive": round(sum(with_it) / len(with_it), 6),
    }


def _published(
    method: str, release: sf.Release | DecoupledRelease, answer: Utility, sensitive: str
) -> Record:
    """Give what stands side by side as it was: pairs of columns, and how strong they are."""
    found: Record = {"groups": release.manifest.classes.count}
    columns = [
        list(column) for column in (release.slices if isinstance(release, DecoupledRelease) else ())
    ]
    if method == BUCKETS:
        columns = [list(known(sensitive)), [sensitive]]
    if not columns:
        return found
    together = {frozenset(pair) for column in columns for pair in combinations(column, 2)}
    pairs = answer.associations.pairs
    kept = [p.before for p in pairs if frozenset((p.one, p.other)) in together]
    return {
        **found,
        "columns": columns,
        "pairs": len(kept),
        "strength": round(sum(kept) / sum(p.before for p in pairs), 6),
    }
