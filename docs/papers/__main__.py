"""Run the experiments and write what came out, or write the page and the plots again.

python -m docs.papers          # everything: a few minutes
python -m docs.papers --page   # only the page and the plots, from results.json
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from multiprocessing import get_context

from benchmarks.results import machine
from benchmarks.workloads import NoDataError
from docs.papers import distortion, similarity, timing
from docs.papers.data import people
from docs.papers.figures import plots
from docs.papers.page import page
from docs.papers.results import HERE, RESULTS, Record, load, text_of
from docs.papers.setting import READINGS

SEEDS = range(10)


def run(seeds: Sequence[int]) -> Record:
    """Run everything; only seconds differ from run to run."""
    # A forked process could inherit a lock that some thread holds.
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        _say("similarity attack")
        attacked = _all(pool.map(similarity.similarity, *zip(*_draws(seeds), strict=True)))
        expected = [similarity.expectation(reading) for reading in ("files", "printed")]
        _say("distortion ratio")
        asked = [(seeds[0], setting) for setting in distortion.grid()]
        asked += [(seed, setting) for seed in seeds[1:] for setting in distortion.standard()]
        lost = _all(pool.map(distortion.distortion, *zip(*asked, strict=True)))
    _say("running time")
    spent = _all(timing.timing(columns) for columns in timing.WIDTHS)
    return {
        "machine": machine(),
        "parameters": {"rows": people(seeds[0]).num_rows, "repeats": timing.REPEATS},
        "seeds": list(seeds),
        "similarity": attacked,
        "expected": expected,
        "distortion": lost,
        "timing": spent,
    }


def _draws(seeds: Sequence[int]) -> list[tuple[int, str, float]]:
    """Give the seeds, readings and limits to attack; only the first reading with every limit."""
    cases = [("files", limit) for limit in similarity.LIMITS]
    cases += [(reading, 0.0) for reading in READINGS if reading != "files"]
    return [(seed, reading, limit) for reading, limit in cases for seed in seeds]


def _all(records: Iterable[Iterable[Record]]) -> list[Record]:
    return list(chain.from_iterable(records))


def write(results: Record) -> None:
    """Write the page and the plots."""
    for name, text in {"README.md": page(results), **plots(results)}.items():
        (HERE / name).write_text(text, encoding="utf-8", newline="\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m docs.papers", description=__doc__)
    parser.add_argument("--page", action="store_true", help="compute nothing, only write")
    if not parser.parse_args(arguments).page:
        try:
            RESULTS.write_text(text_of(run(SEEDS)), encoding="utf-8", newline="\n")
        except NoDataError as error:
            _say(f"nothing was run: {error}")
            return 1
    write(load())
    return 0


def _say(what: str) -> None:
    sys.stderr.write(f"{what}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
