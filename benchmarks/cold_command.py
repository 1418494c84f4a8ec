"""Whole commands from a cold start: what somebody waits for who types them once."""

import shutil
from collections.abc import Iterator

from benchmarks.bench import Bench
from benchmarks.measure import children
from benchmarks.results import Figure
from benchmarks.workloads import adult_policy

_COMMAND = ["-c", "from sfumato.cli import main; main()"]
_LIBRARIES = "the libraries alone (numpy, pyarrow, pyarrow.compute, typer)"
_SMALL = """columns: {age: quasi-identifier, job: quasi-identifier, ill: sensitive}
models: [{model: k-anonymity, k: 2}]
"""


def run(bench: Bench) -> Iterator[Figure]:
    few = bench.few + 2
    nothing = children(["-c", "pass"], repeats=few)
    yield Figure.of("python -c pass", nothing)
    yield Figure.of("sfumato --help", children([*_COMMAND, "--help"], repeats=few), target=0.3)
    policy = bench.files.policy("adult-cold", adult_policy(k=5, limit=0.05))
    release = bench.files.folder / "cold-release"
    arguments = ["anonymize", bench.files.adult, "-p", policy, "-o", release, "--force"]
    timing = children([*_COMMAND, *map(str, arguments)], repeats=few)
    yield Figure.of("sfumato anonymize adult.csv", timing, target=1.5)
    timing = children([*_COMMAND, "verify", str(release)], repeats=few)
    yield Figure.of("sfumato verify release", timing)
    shutil.rmtree(release)
    yield from _small(bench, nothing.least, few)


def _small(bench: Bench, nothing: float, few: int) -> Iterator[Figure]:
    """Commands on a table of 40 rows, beside the libraries that all of them load."""
    libraries = children(["-c", "import numpy, pyarrow, pyarrow.compute, typer"], repeats=few)
    yield Figure.of(_LIBRARIES, libraries)
    least = libraries.least - nothing
    folder = bench.files.folder / "small"
    folder.mkdir()
    table, policy, release = folder / "table.csv", folder / "policy.yaml", folder / "release"
    rows = [f"{20 + i % 5},{'abcd'[i % 4]},{'xyz'[i % 3]}" for i in range(40)]
    table.write_text("\n".join(["age,job,ill", *rows]) + "\n", encoding="utf-8")
    policy.write_text(_SMALL, encoding="utf-8")
    commands = {
        "anonymize": [table, "-p", policy, "-o", release, "--force"],
        "verify": [release, "--only-promises"],
        "detect": [release],
        "report": [release, "-o", folder / "report.html", "--force"],
        "decouple": [release, "-o", folder / "apart", "--force"],
        "init": [table, "-o", folder / "draft.yaml", "--force"],
    }
    for name, words in commands.items():
        timing = children([*_COMMAND, name, *map(str, words)], repeats=few)
        what = f"sfumato {name}, 40 rows"
        yield Figure.of(f"{what}", timing, target=0.6 + nothing)
        yield Figure(f"{what} / the libraries", (timing.least - nothing) / least, "×")
