"""Whole commands from a cold start: what somebody waits for who types them once."""

import shutil
from collections.abc import Iterator

from benchmarks.bench import Bench
from benchmarks.measure import children
from benchmarks.results import Figure
from benchmarks.workloads import adult_policy

_COMMAND = ["-c", "from sfumato.cli import main; main()"]


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
