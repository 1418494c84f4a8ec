"""How often the verdict is wrong: tables with nothing to find, and tables with a planted leak.

python -m docs.verdict_study     # a few minutes; writes docs/concepts/verdict-study.md

Every table comes from its seed alone. The answer is that of `sf.verify` with nothing but roles.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

import sfumato as sf
from docs.papers.results import say
from sfumato.typing import IntArray

TEMPLATE = Path(__file__).with_suffix(".template")
PAGE = Path(__file__).parent / "concepts" / "verdict-study.md"
TABLES = 200
"""The number of tables without a leak, and the number with one."""

SIZES = (5, 10, 20, 50, 100)
"""The number of people of the smallest class."""

RARE = (0.001, 0.01, 0.05)


class Drawn(NamedTuple):
    """A table, and what kind it is."""

    table: pa.Table
    sensitive: tuple[str, ...]
    kind: str


def _classes(rng: np.random.Generator, k: int, people: int) -> IntArray:
    """Return the class of each person: all of k people, or skewed from k on."""
    if rng.random() < 0.5:
        return np.repeat(np.arange(people // k), k)
    sizes = k + rng.geometric(1 / k, size=max(people // (2 * k), 2)) - 1
    return np.repeat(np.arange(len(sizes)), sizes)


def _values(rng: np.random.Generator, people: int, rare: float, shape: str) -> IntArray:
    """Return a column with one rare value (code 0) and others that are even or skewed."""
    others = int(rng.integers(2, 9))
    weights = np.ones(others) if shape == "even" else 1 / np.arange(1, others + 1) ** 1.5
    shares = np.concatenate([[rare], (1 - rare) * weights / weights.sum()])
    return rng.choice(others + 1, size=people, p=shares)


def _table(classes: IntArray, columns: dict[str, IntArray]) -> pa.Table:
    ages = [f"{20 + 5 * (c % 12)}-{24 + 5 * (c % 12)}" for c in classes.tolist()]
    regions = [f"r{c // 12}" for c in classes.tolist()]
    texts = {name: [f"{name}{v}" for v in codes.tolist()] for name, codes in columns.items()}
    return pa.table({"age": ages, "region": regions, **texts})


def harmless(seed: int) -> Drawn:
    """Return a table of independent columns: a sensitive value tells nothing and is told by none.

    Classes have 5 to 100 people, columns a value of 0.1 %, 1 % or 5 %.
    """
    rng = np.random.default_rng([seed, 1])
    k, rare = int(rng.choice(SIZES)), float(rng.choice(RARE))
    shape = "even" if rng.random() < 0.5 else "skewed"
    classes = _classes(rng, k, int(rng.choice([1_000, 4_000, 20_000])))
    names = ("ill", "job", "debt")[: 1 + seed % 3]
    columns = {name: _values(rng, len(classes), rare, shape) for name in names}
    columns["ill"][:3] = 0  # a rare value is somewhere, else there is none
    rng.shuffle(columns["ill"])
    return Drawn(_table(classes, columns), names, f"{len(names)} sensitive, k = {k}")


def _base(rng: np.random.Generator) -> tuple[IntArray, dict[str, IntArray]]:
    k = int(rng.choice(SIZES))
    classes = _classes(rng, k, int(rng.choice([1_000, 4_000, 20_000])))
    columns = {
        name: rng.integers(0, int(rng.integers(3, 7)), len(classes)) for name in ("ill", "job")
    }
    return classes, columns


def functional(rng: np.random.Generator) -> Drawn:
    """Return a table in which class and job tell the illness: another bijection in each class."""
    classes, columns = _base(rng)
    values = 4
    job = rng.integers(0, values, len(classes))
    maps = np.array([rng.permutation(values) for _ in range(classes.max() + 1)])
    columns.update(job=job, ill=maps[classes, job])
    return Drawn(_table(classes, columns), ("ill", "job"), "functional within the class")


def exclusive_or(rng: np.random.Generator) -> Drawn:
    """Return a table in which two values tell a third, and neither does alone."""
    classes, columns = _base(rng)
    values = int(rng.integers(2, 5))
    job, debt = (rng.integers(0, values, len(classes)) for _ in range(2))
    columns.update(job=job, debt=debt, ill=(job + debt) % values)
    return Drawn(_table(classes, columns), ("ill", "job", "debt"), "two tell a third")


def rare_value(rng: np.random.Generator) -> Drawn:
    """Return a table in which all of 5 to 50 people with one job have the rare illness."""
    classes, columns = _base(rng)
    people = int(rng.integers(5, 51))
    who = rng.choice(len(classes), people, replace=False)
    columns["ill"] = _values(rng, len(classes), float(rng.choice(RARE)), "even")
    columns["ill"][who], columns["job"][who] = 0, 99
    return Drawn(_table(classes, columns), ("ill", "job"), "a rare job tells a rare illness")


def rare_class(rng: np.random.Generator) -> Drawn:
    """Return a table in which one class of 5 to 50 people has the rare illness throughout."""
    classes, _ = _base(rng)
    people = int(rng.integers(5, 51))
    ill = _values(rng, len(classes), float(rng.choice(RARE)), "even")
    classes = np.concatenate([classes, np.full(people, classes.max() + 1)])
    columns = {"ill": np.concatenate([ill, np.zeros(people, dtype=np.int64)])}
    return Drawn(_table(classes, columns), ("ill",), "a class has the rare illness")


def category(rng: np.random.Generator) -> Drawn:
    """Return a table in which one class of 20 or more is 75 % to 100 % of one value."""
    classes, _ = _base(rng)
    ill = rng.integers(0, 4, len(classes))
    people, share = int(rng.integers(20, 101)), float(rng.uniform(0.76, 1.0))
    some = np.where(np.arange(people) < np.ceil(share * people), 0, 1 + np.arange(people) % 3)
    classes = np.concatenate([classes, np.full(people, classes.max() + 1)])
    return Drawn(
        _table(classes, {"ill": np.concatenate([ill, some])}), ("ill",), "75–100 % of one value"
    )


LEAKS: tuple[Callable[[np.random.Generator], Drawn], ...] = (
    functional,
    exclusive_or,
    rare_value,
    rare_class,
    category,
)


def leaky(seed: int) -> Drawn:
    """Return a table with a planted leak."""
    return LEAKS[seed % len(LEAKS)](np.random.default_rng([seed, 2]))


def answer(drawn: Drawn) -> str:
    """Return the answer of the verdict on a table, with nothing but the roles."""
    found = sf.verify(
        drawn.table, quasi_identifiers=["age", "region"], sensitive=list(drawn.sensitive)
    )
    return found.answer


class Study(NamedTuple):
    """How often each answer was given, by kind of table."""

    harmless: dict[str, Counter[str]]
    leaky: dict[str, Counter[str]]


def run(draw: Callable[[int], Drawn], seeds: Iterable[int]) -> dict[str, Counter[str]]:
    """Return how often each answer was given, by kind of table; wrong ones go to stderr."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for seed in seeds:
        drawn = draw(seed)
        said = answer(drawn)
        found[drawn.kind][said] += 1
        if (said == "no") != (draw is leaky):
            say(f"seed {seed}: {drawn.kind}: {said}")
    return dict(found)


def share_of_no(counts: dict[str, Counter[str]]) -> float:
    """Return the share of tables that were answered with *no*."""
    total = sum(sum(each.values()) for each in counts.values())
    return sum(each["no"] for each in counts.values()) / max(total, 1)


def page(study: Study) -> str:
    """Return the page."""
    alarms, found = share_of_no(study.harmless), share_of_no(study.leaky)
    template = TEMPLATE.read_text(encoding="utf-8")
    return template.format(
        tables=sum(sum(each.values()) for each in study.harmless.values()),
        alarms=f"{100 * alarms:.1f} %",
        found=f"{100 * found:.1f} %",
        harmless=_rows(study.harmless),
        leaky=_rows(study.leaky),
    )


def _rows(counts: dict[str, Counter[str]]) -> str:
    return "\n".join(
        f"| {kind} | {sum(said.values())} | {said['yes']} | {said['with care']} | {said['no']} |"
        for kind, said in counts.items()
    )


def study(tables: int = TABLES) -> Study:
    """Run the whole study."""
    found = run(harmless, range(tables))
    order = [f"{n} sensitive, k = {k}" for n in (1, 2, 3) for k in SIZES]
    return Study({kind: found[kind] for kind in order if kind in found}, run(leaky, range(tables)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=TABLES)
    parser.add_argument("--show", action="store_true", help="show the page, do not write it")
    given = parser.parse_args(arguments)
    text = page(study(given.tables))
    if given.show:
        say(text)
    else:
        PAGE.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
