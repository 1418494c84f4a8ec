"""The thesis's experiments: everything that is on the first page, computed."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from multiprocessing import get_context

from benchmarks.results import machine
from docs.papers import distortion, similarity, sliced, timing
from docs.papers.data import people
from docs.papers.results import Record, say, told
from docs.papers.setting import READINGS

SEEDS = range(10)


def run(seeds: Sequence[int] = SEEDS) -> Record:
    """Run everything; only seconds differ from run to run."""
    # A forked process could inherit a lock that some thread holds.
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        say("similarity attack")
        draws = _draws(seeds)
        done = pool.map(similarity.similarity, *zip(*draws, strict=True))
        attacked = _all(told("table", done, len(draws)))
        expected = [similarity.expectation(reading) for reading in ("printed", "others")]
        say("distortion ratio")
        asked = [(seeds[0], setting) for setting in distortion.grid()]
        asked += [(seed, setting) for seed in seeds[1:] for setting in distortion.standard()]
        done = pool.map(distortion.distortion, *zip(*asked, strict=True))
        lost = _all(told("setting", done, len(asked)))
    say("slices")
    apart = _all(map(sliced.sliced, told("table", seeds[: sliced.DRAWS])))
    say("running time")
    spent = _all(map(timing.timing, told("quasi-identifiers", timing.WIDTHS)))
    return {
        "machine": machine(),
        "parameters": {"rows": people(seeds[0]).num_rows, "repeats": timing.REPEATS},
        "seeds": list(seeds),
        "similarity": attacked,
        "expected": expected,
        "distortion": lost,
        "sliced": apart,
        "timing": spent,
    }


def _draws(seeds: Sequence[int]) -> list[tuple[int, str, float]]:
    """Give the seeds, readings and limits to attack; only the first reading with every limit."""
    cases = [("printed", limit) for limit in similarity.LIMITS]
    cases += [(reading, 0.0) for reading in READINGS if reading != "printed"]
    return [(seed, reading, limit) for reading, limit in cases for seed in seeds]


def _all(records: Iterable[Iterable[Record]]) -> list[Record]:
    return list(chain.from_iterable(records))
