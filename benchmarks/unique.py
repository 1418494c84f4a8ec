"""Nearly unique rows: a million distinct combinations, beside one group-by and in how much memory.

A day of birth and a postcode make nearly every row different. No level near the raw one is valid,
and most of what a search looks at is far from it.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.bench import Bench
from benchmarks.measure import piece
from benchmarks.results import Figure
from benchmarks.workloads import FEW
from sfumato.models import DistinctLDiversity, KAnonymity
from sfumato.policy import Policy

_MEMORY = 600.0
"""MB."""

_ASKED = (
    ("k=5, 5 %, normalized-loss", 5, 0.05, "normalized-loss", False),
    ("k=50, no suppression, normalized-loss", 50, 0, "normalized-loss", False),
    ("k=5, 5 %, discernibility", 5, 0.05, "discernibility", False),
    ("k=5 and l=3, 5 %, normalized-loss", 5, 0.05, "normalized-loss", True),
)


def residents(rows: int, *, seed: int = 0) -> pa.Table:
    """Return people with a day of birth, a postcode of five digits and 500 occupations."""
    rng = np.random.default_rng([seed, rows])
    crowded = np.minimum(rng.zipf(1.3, rows) * 37 % 90_000 + 10_000, 99_999)
    anywhere = rng.integers(10_000, 99_999, rows)
    nations = 1.0 / (1 + np.arange(40)) ** 1.5
    return pa.table(
        {
            "born": (np.datetime64("1930-01-01") + rng.integers(0, 29_000, rows)),
            "postcode": np.where(rng.random(rows) < 0.5, anywhere, crowded).astype(str),
            "sex": np.array(["f", "m"])[rng.integers(0, 2, rows)],
            "occupation": np.minimum(rng.geometric(0.01, rows), 499),
            "years there": rng.integers(0, 30, rows),
            "nation": rng.choice(40, rows, p=nations / nations.sum()),
            "ill": rng.integers(0, 30, rows),
        }
    )


def policy(k: int, limit: float, loss: str, *, diverse: bool) -> Policy:
    """Return a policy for them: six quasi-identifiers, 5 760 nodes."""
    levels = {
        "born": {"kind": "dates", "levels": ["month", "quarter", "year", "decade"]},
        "postcode": {"kind": "masking"},
        "sex": {"kind": "star"},
        "occupation": {"kind": "intervals", "widths": [5, 25, 100]},
        "years there": {"kind": "intervals", "widths": [5, 15]},
        "nation": {"kind": "intervals", "widths": [2, 10]},
    }
    quasi = {n: {"role": "quasi-identifier", "hierarchy": each} for n, each in levels.items()}
    return Policy(
        columns={**quasi, "ill": "sensitive"},
        models=[KAnonymity(k), *([DistinctLDiversity("ill", 3)] if diverse else [])],
        loss=loss,
        suppression={"limit": limit},
    )


def run(bench: Bench) -> Iterator[Figure]:
    rows = 20_000 if bench.quick else 1_000_000
    file, few = (bench.files.folder / f"residents-{n}.parquet" for n in (rows, FEW))
    for path, n in ((file, rows), (few, FEW)):
        pq.write_table(residents(n), path)
    yield Figure("rows", rows)
    for text, k, limit, loss, diverse in _ASKED:
        name = f"unique-{k}-{limit}-{loss}-{diverse}"
        rule = bench.files.policy(name, policy(k, limit, loss, diverse=diverse))
        repeats = [
            (piece("arrow-group-by", file, rule, few), piece("search", file, rule, few))
            for _ in range(bench.few)
        ]
        beside = min(group_by["cpu"] for group_by, _ in repeats)
        best = min((search for _, search in repeats), key=lambda each: each["cpu"])
        yield Figure(f"{text}: distinct combinations", best["distinct"])
        yield Figure(f"{text}: checks", best["checks"])
        yield Figure(f"{text}: search", best["cpu"], "CPU s")
        yield Figure(f"{text}: search / group-by with pyarrow", best["cpu"] / beside, "×")
        target = None if bench.quick else _MEMORY
        yield Figure(f"{text}: peak memory", best["peak"], "MB", target=target)
