"""From a million rows to a hundred million: counting, the whole way to a release, Break-Merge.

One GROUP BY of DuckDB stands beside them where that is installed.
"""

import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.measure import piece
from benchmarks.results import Figure
from benchmarks.workloads import ADULT_ROWS, FEW, MILLION, TEN_MILLION, adult_policy
from sfumato.models import DistinctLDiversity, KAnonymity
from sfumato.policy import Policy

_HUNDRED_MILLION = 3320 * ADULT_ROWS
_SENSITIVE = "salary-class"

_MEMORY = 2000.0
"""MB, at any number of rows."""

_COUNT = 0.6
_WHOLE = 2.0
"""Times the CPU of the GROUP BY, at ten million rows."""

_WHOLE_MEMORY = 600.0
"""MB of the whole anonymize, at ten million rows."""


def run(bench: Bench) -> Iterator[Figure]:
    sizes = [4 * ADULT_ROWS] if bench.quick else [MILLION, TEN_MILLION, _HUNDRED_MILLION]
    policy = bench.files.policy("adult-scale", scale_policy())
    few = bench.files.jittered(FEW, "parquet")
    for rows in sizes:
        file = bench.files.jittered(rows, "parquet")
        yield from _one(bench, file, policy, few, rows)
        if rows > MILLION:
            file.unlink()


def scale_policy() -> Policy:
    """Ask for k-anonymity and diversity of Adult: eight quasi-identifiers, one sensitive column."""
    plain = adult_policy(k=5, limit=0.05)
    return Policy(
        columns={**plain.columns, _SENSITIVE: "sensitive"},
        models=[KAnonymity(5), DistinctLDiversity(_SENSITIVE, 2)],
        loss=plain.loss,
        suppression=0.1,
    )


def _one(bench: Bench, file: Path, policy: Path, few: Path, rows: int) -> Iterator[Figure]:
    at = f"{rows:,} rows".replace(",", " ")
    # What takes minutes is done once.
    repeats = 1 if rows > TEN_MILLION else bench.few
    judged = rows == TEN_MILLION
    folder = bench.files.folder / "scale"
    folder.mkdir()
    release, parts = folder / "release", folder / "parts"
    work: dict[str, tuple[object, ...]] = {
        "count": (file, policy, few),
        "anonymize": (file, policy, few, release),
        "break-merge": (release, policy, few, parts),
    }
    if find_spec("duckdb") is not None:
        work = {"group-by": (file, policy, few), **work}
    best = _best(repeats, work)
    for name in ("anonymize", "break-merge"):
        # What is not published costs nothing, and its figures would say so.
        if not best[name]["verified"]:
            raise RuntimeError(f"{at}: {name} published nothing that verifies")
    shutil.rmtree(folder)
    yield Figure(f"{at}: size of the file", file.stat().st_size / 1e6, "MB")
    beside = None
    if "group-by" in best:
        beside = best["group-by"]["cpu"]
        yield Figure(f"{at}: one GROUP BY of DuckDB", beside, "CPU s")
        yield Figure(f"{at}: peak memory of DuckDB", best["group-by"]["peak"], "MB")
    yield Figure(f"{at}: distinct combinations", best["count"]["distinct"])
    yield from _figures(f"{at}: count", best["count"], beside, _COUNT if judged else None)
    name = f"{at}: whole anonymize, published and verified"
    most = _WHOLE_MEMORY if judged else _MEMORY
    yield from _figures(name, best["anonymize"], beside, _WHOLE if judged else None, most)
    name = f"{at}: Break-Merge of the release, published and verified"
    yield from _figures(name, best["break-merge"], beside, None)


def _figures(
    what: str,
    found: dict[str, float],
    beside: float | None,
    target: float | None,
    memory: float = _MEMORY,
) -> Iterator[Figure]:
    yield Figure(what, found["cpu"], "CPU s")
    if beside is not None:
        yield Figure(f"{what} / GROUP BY", found["cpu"] / beside, "×", target=target)
    yield Figure(f"{what}, peak memory", found["peak"], "MB", target=memory)


def _best(repeats: int, work: dict[str, tuple[object, ...]]) -> dict[str, dict[str, float]]:
    """Do all in turn, several times, so that whatever else goes on meets each of them."""
    rounds = [
        {name: piece(name, *arguments) for name, arguments in work.items()} for _ in range(repeats)
    ]
    return {name: min((each[name] for each in rounds), key=lambda f: f["cpu"]) for name in work}
