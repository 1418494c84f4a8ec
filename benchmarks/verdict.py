"""The whole verdict: promises recomputed, every attack run, beside one count of the same files."""

import json
import math
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.bench import Bench
from benchmarks.measure import Timing, child, cpu
from benchmarks.results import Figure
from benchmarks.workloads import FEW, MILLION, adult_policy
from sfumato.attacks.pairing import Pairing, learn_dependence
from sfumato.counts import Column, FrequencySet
from sfumato.counts import group as count_tuples
from sfumato.decouplings import Anatomy, Slicing
from sfumato.leaks.facts import find_facts
from sfumato.partition import TopDown
from sfumato.policy import Policy
from sfumato.tables import open_table
from sfumato.tasks.anonymize import anonymize
from sfumato.tasks.decouple import decouple
from sfumato.tasks.verify import verify

SENSITIVE = "occupation"
_L = 3

_ADULT = 0.5
"""CPU seconds."""

_BEYOND = 6.0
"""CPU seconds of a million rows, without those of counting them."""

_COMPARED = 8.0
"""CPU seconds of two releases of a million rows that are held against each other."""

_MEMORY = 1000.0
"""MB."""

_GROWTH = 1.3
"""The exponent of the rows."""

_LEARN = 8.0
"""CPU seconds to learn what joins the tables of a million rows, and to judge all people."""

_MANY_COLUMNS = ((1629, 7, 60, 1.5), (MILLION, 10, 30, 5.0), (MILLION, 10, 3, 3.0))
"""Rows, quasi-identifiers, sensitive columns, and the CPU seconds that facts may take."""


def run(bench: Bench) -> Iterator[Figure]:
    yield from _adult(bench)
    yield from _facts(bench)
    yield from _tables_that_teach(bench)
    largest = 2 * FEW if bench.quick else MILLION
    costs: dict[str, list[Cost]] = {}
    for rows in (largest // 16, largest // 4, largest):
        folder = bench.files.folder / "verdicts"
        for kind, release in publish(bench.files.jittered(rows, "csv"), folder):
            at = "jittered Adult, " + f"{rows:,} rows".replace(",", " ") + f", {kind}"
            cost = Cost.of(release, bench.few)
            costs.setdefault(kind, []).append(cost)
            yield from cost.figures(at, beyond=_BEYOND if rows == MILLION else None)
            if rows == MILLION:
                yield Figure(f"{at}: peak memory", _peak(release), "MB", target=_MEMORY)
        yield from _composition(bench, folder, rows)
        shutil.rmtree(folder)
    for kind, (least, _, most) in costs.items():
        at = f"jittered Adult, {kind}: growth to 16 × the rows"
        target = None if bench.quick else _GROWTH
        counting = _exponent(least.counting, most.counting)
        yield Figure(f"{at}, counting", counting, "as exponent")
        whole = _exponent(least.whole, most.whole)
        yield Figure(f"{at}, whole verdict", whole, "as exponent", target=target)


def _facts(bench: Bench) -> Iterator[Figure]:
    """Measure how long facts take where there are many columns, and how much is reached."""
    for rows, known, sensitive, target in _MANY_COLUMNS:
        n = min(rows, FEW) if bench.quick else rows
        counts = many_columns(n, known, sensitive)
        names = counts.names[:known], counts.names[known:]
        at = f"{n:,} rows × {known + sensitive} columns".replace(",", " ")
        at += f", {sensitive} of them sensitive"
        timing = cpu(partial(find_facts, counts, *names), repeats=bench.few, warm=False)
        yield Figure.of(f"{at}: facts", timing, target=None if bench.quick else target)
        found = find_facts(counts, *names)
        share = found.tried / max(found.tried + len(found.left), 1)
        yield Figure(f"{at}: sets of known columns reached", 100 * share, "%")


def _tables_that_teach(bench: Bench) -> Iterator[Figure]:
    """Measure how long it takes to learn what joins decoupled tables, and to judge all people."""
    largest = 2 * FEW if bench.quick else MILLION
    for size, columns in ((5, 4), (100, 1)):
        times = []
        for rows in (largest // 16, largest):
            timing = cpu(partial(learn, groups_that_teach(rows, size, columns)), repeats=bench.few)
            at = f"{rows:,} rows in groups of {size}, {columns} known".replace(",", " ", 1)
            target = _LEARN if rows == MILLION else None
            yield Figure.of(f"{at}: definetti", timing, target=target)
            times.append(timing)
        at = f"groups of {size}, {columns} known: growth from 16 times fewer rows, definetti"
        yield Figure(at, _exponent(*times), "as exponent", target=None if bench.quick else _GROWTH)


def groups_that_teach(rows: int, size: int, columns: int) -> Pairing:
    """Draw groups in which some columns follow from a value of fourteen for half of the people."""
    rng = np.random.default_rng(1)
    value, group = rng.integers(0, 14, rows), np.arange(rows) // size
    known = [
        np.where(rng.random(rows) < 0.5, (value * (at + 1) + at) % 9, rng.integers(0, 9, rows))
        for at in range(columns)
    ]
    sizes = [rows // size + 1, 9, 9, 9, 9, 14]
    one = count_tuples([group, *known], sizes[: columns + 1])
    two = count_tuples([group, value], [sizes[0], sizes[-1]])
    codes, people = [each[one.first] for each in known], np.bincount(one.of_item)
    counted = np.bincount(two.of_item)
    return Pairing.of(group[one.first], people, codes, group[two.first], counted, value[two.first])


def learn(pairing: Pairing) -> None:
    """Learn what joins the tables, and join every group."""
    for _ in learn_dependence(pairing).join():
        pass


def many_columns(rows: int, quasi_identifiers: int, sensitive: int) -> FrequencySet:
    """Draw independent columns of two to five values, counted; nothing in them is a leak."""
    rng = np.random.default_rng(1)
    sizes = rng.integers(2, 6, quasi_identifiers + sensitive)
    # About a hundred people in each class, however many rows and quasi-identifiers there are.
    values = max(2, round((rows / 100) ** (1 / quasi_identifiers)))
    sizes[:quasi_identifiers] = values if values**quasi_identifiers < rows else 1
    sizes[0] = max(sizes[0], rows // 100 // int(np.prod(sizes[1:quasi_identifiers])))
    codes = np.stack([rng.choice(n, rows, p=rng.dirichlet(np.full(n, 2.0))) for n in sizes])
    names = [f"q{i}" for i in range(quasi_identifiers)] + [f"s{i}" for i in range(sensitive)]
    columns = tuple(
        Column(name, tuple(map(str, range(n)))) for name, n in zip(names, sizes, strict=True)
    )
    table = FrequencySet(columns, codes.astype(np.int32), np.ones(rows, dtype=np.int64))
    return table.project(names)


def _exponent(least: Timing, most: Timing) -> float:
    """Give the exponent of the rows when there are 16 times as many."""
    return math.log(most.least / least.least) / math.log(16)


def policy() -> Policy:
    """Ask for k = 5 of Adult: eight quasi-identifiers, and one column that nobody should learn."""
    plain = adult_policy(k=5, limit=0.05, plain=(SENSITIVE,))
    columns = {**plain.columns, SENSITIVE: "sensitive"}
    return Policy(
        columns=columns, models=plain.models, loss=plain.loss, suppression=plain.suppression
    )


def publish(file: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    """Publish a table in every form there is, each in a folder of its own."""
    rules = policy()
    full, local = folder / "full-domain", folder / "local"
    anonymize(file, rules, output=full)
    yield full.name, full
    anonymize(file, rules, method=TopDown(), output=local)
    yield local.name, local
    broken = folder / "break-merge"
    decouple(full, output=broken)
    yield broken.name, broken
    for method in (Anatomy(l=_L), Slicing(l=_L)):
        names, output = rules.quasi_identifiers, folder / method.name
        decouple(file, method, quasi_identifiers=names, sensitive=[SENSITIVE], output=output)
        yield method.name, output


@dataclass(frozen=True)
class Cost:
    """What a verdict costs, and what nobody gets by without."""

    counting: Timing
    whole: Timing

    @classmethod
    def of(cls, release: Path, repeats: int) -> "Cost":
        """Measure both in turn."""
        return cls(
            cpu(partial(count, release), repeats=repeats, warm=False),
            cpu(partial(verify, release), repeats=repeats, warm=False),
        )

    def figures(
        self, at: str, *, target: float | None = None, beyond: float | None = None
    ) -> Iterator[Figure]:
        yield Figure.of(f"{at}: counting its tables once", self.counting)
        yield Figure.of(f"{at}: whole verdict", self.whole, target=target)
        yield Figure(f"{at}: whole verdict / counting", self.whole.least / self.counting.least, "×")
        if beyond is not None:
            more = self.whole.least - self.counting.least
            yield Figure(f"{at}: whole verdict beyond counting", more, "CPU s", target=beyond)


def count(release: Path) -> None:
    """Count every table of a release once."""
    for file in json.loads((release / "manifest.json").read_text(encoding="utf-8"))["files"]:
        table = open_table(release / file["name"])
        table.count(table.columns)


def _composition(bench: Bench, folder: Path, rows: int) -> Iterator[Figure]:
    """Hold two releases of the same people against each other, and know one other of a class."""
    at = "jittered Adult, " + f"{rows:,} rows".replace(",", " ")
    full, local = folder / "full-domain", folder / "local"
    target = _COMPARED if rows == MILLION else None
    tried = {
        "composition of full-domain and local": {"earlier": local, "attacks": ["composition"]},
        "corruption of full-domain": {"attacks": ["corruption"]},
    }
    for what, more in tried.items():
        timing = cpu(partial(verify, full, policy(), **more), repeats=bench.few, warm=False)
        yield Figure.of(f"{at}: {what}, with counting", timing, target=target)


def _adult(bench: Bench) -> Iterator[Figure]:
    """Judge Adult itself; what is loaded on first use is loaded by then, and no growth."""
    folder = bench.files.folder / "adult-verdicts"
    file = bench.files.jittered(FEW // 2, "csv") if bench.quick else bench.files.adult
    target = None if bench.quick else _ADULT
    for kind, release in publish(file, folder):
        cost = Cost.of(release, bench.few if bench.quick else bench.repeats)
        yield from cost.figures(f"Adult, {kind}", target=target)
        tried = {outcome.attack for outcome in verify(release).attacks if outcome.tried}
        yield Figure(f"Adult, {kind}: kinds of attack that apply", len(tried))
    shutil.rmtree(folder)


def _peak(release: Path) -> float:
    """Judge in a process of its own and give the most memory it held."""
    code = f"""
import json
from benchmarks.child import peak
from sfumato.tasks.verify import verify
verify({str(release)!r})
print(json.dumps(peak()))
"""
    return float(json.loads(child(["-c", code]).output.splitlines()[-1]))
