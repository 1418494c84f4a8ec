"""How far estimates of a population are off: samples of populations that are known to the last row.

python -m docs.population_study     # a minute or two; writes docs/studies/population-study.md

Every population and every sample comes from its seed alone.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from docs.papers.results import say
from docs.papers.svg import Line, Panel, lines
from sfumato import samples
from sfumato.counts import FrequencySet
from sfumato.populations import ESTIMATORS, Sample, individual_risk, unique_match
from sfumato.tables import open_table
from sfumato.typing import IntArray

TEMPLATE = Path(__file__).with_suffix(".template")
PAGE = Path(__file__).parent / "studies" / "population-study.md"

PEOPLE = 100_000
SAMPLES = 20
"""How often each population is drawn from, for each fraction."""

FRACTIONS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)

SETS = {
    "three columns": ("age", "sex", "education"),
    "five columns": ("age", "sex", "education", "marital_status", "nationality"),
    "six columns": ("age", "sex", "education", "marital_status", "nationality", "occupation"),
}
"""What an adversary knows, from little to much."""


@dataclass(frozen=True)
class Figure:
    """What some estimator said of all samples of a population with one fraction."""

    known: str
    fraction: float
    estimator: str
    truth: float
    """The truth, on average over the samples: that of matches and of people found varies."""

    found: tuple[float, ...]
    """The estimates; samples without an answer are left out."""

    @property
    def mean(self) -> float:
        """The estimate on average; nothing if there is none."""
        return float(np.mean(self.found)) if self.found else float("nan")

    @property
    def spread(self) -> float:
        """The standard deviation of the estimates."""
        return float(np.std(self.found)) if self.found else float("nan")


def population(known: Sequence[str], people: int = PEOPLE) -> IntArray:
    """Return the class of each person of an invented country."""
    table = open_table(samples.synthetic(people, seed=1))
    counts: FrequencySet = table.count(tuple(known))
    return np.repeat(np.arange(len(counts)), counts.rows)


def study(people: int = PEOPLE, repeats: int = SAMPLES) -> list[Figure]:
    """Draw samples of every population and estimate from each."""
    figures: list[Figure] = []
    for known, columns in SETS.items():
        of_person = population(columns, people)
        sizes = np.bincount(of_person)
        unique = float(np.count_nonzero(sizes == 1) / people)
        for fraction in FRACTIONS:
            found: dict[str, list[tuple[float, float]]] = {}
            for seed in range(repeats):
                rng = np.random.default_rng([seed, round(1000 * fraction)])
                drawn = rng.choice(people, round(people * fraction), replace=False)
                rows = np.bincount(of_person[drawn], minlength=len(sizes))
                shown, behind = rows[rows > 0], sizes[rows > 0]
                sample = Sample.of(shown, fraction)
                for name, kind in ESTIMATORS.items():
                    share = kind().estimate(sample).share
                    if share is not None:
                        found.setdefault(name, []).append((share, unique))
                alone = shown == 1
                if alone.any():
                    right = float(np.count_nonzero(alone) / behind[alone].sum())
                    found.setdefault("match", []).append((unique_match(sample), right))
                risk = individual_risk(shown, shown / fraction)
                pairs = float((shown * risk).sum()), float((shown / behind).sum())
                found.setdefault("people found", []).append(pairs)
            figures += [
                Figure(
                    known,
                    fraction,
                    name,
                    float(np.mean([truth for _, truth in pairs])),
                    tuple(each for each, _ in pairs),
                )
                for name, pairs in found.items()
            ]
    return figures


def _of(figures: Sequence[Figure], estimator: str, known: str) -> list[Figure]:
    return [each for each in figures if (each.estimator, each.known) == (estimator, known)]


DRAWN = ("dankar", "pitman", "zayatz", "slide-negative-binomial")


def drawings(figures: Sequence[Figure]) -> dict[str, str]:
    """Draw the estimates on average beside the truth, and how far they are from each other."""

    def line(name: str, known: str, value: Callable[[Figure], float], shown: str = "") -> Line:
        mine = _of(figures, name, known)
        return Line(shown or name, [(100 * each.fraction, 100 * value(each)) for each in mine])

    across = "sampling fraction, in per cent"
    means = [
        Panel(
            known,
            across,
            "unique in the population, in per cent",
            [
                *(line(name, known, lambda each: each.mean) for name in DRAWN),
                line("zayatz", known, lambda each: each.truth, "truth"),
            ],
        )
        for known in SETS
    ]
    spreads = [
        Panel(
            known,
            across,
            "standard deviation, in points",
            [line(name, known, lambda each: each.spread) for name in DRAWN],
        )
        for known in SETS
    ]
    return {
        "population-study-bias.svg": lines("Estimates on average, and the truth", means),
        "population-study-spread.svg": lines("How far estimates are from each other", spreads),
    }


def _rows(figures: Sequence[Figure], names: Sequence[str], unit: float, digits: int) -> str:
    rows = []
    for known in SETS:
        for fraction in FRACTIONS:
            here = [e for e in figures if (e.known, e.fraction) == (known, fraction)]
            by_name = {each.estimator: each for each in here}
            cells = []
            for name in names:
                each = by_name.get(name)
                if each is None:
                    cells.append("no answer")
                    continue
                gaps = f" ({len(each.found)} of {SAMPLES})" if len(each.found) < SAMPLES else ""
                cells.append(
                    f"{unit * each.mean:.{digits}f} ± {unit * each.spread:.{digits}f}{gaps}"
                )
            truth = next(iter(by_name[n] for n in names if n in by_name)).truth
            rows.append(
                f"| {known} | {100 * fraction:g} % | {unit * truth:.{digits}f} | "
                f"{' | '.join(cells)} |"
            )
    return "\n".join(rows)


def page(figures: Sequence[Figure]) -> str:
    """Write the page."""
    return TEMPLATE.read_text(encoding="utf-8").format(
        people=f"{PEOPLE:,}".replace(",", " "),
        samples=SAMPLES,
        uniques=_rows(figures, tuple(ESTIMATORS), 100, 2),
        matches=_rows(figures, ("match",), 100, 1),
        found=_rows(figures, ("people found",), 1, 0),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page and its drawing."""
    argparse.ArgumentParser(prog="python -m docs.population_study").parse_args(arguments)
    figures = study()
    PAGE.write_text(page(figures), encoding="utf-8", newline="\n")
    for name, drawn in drawings(figures).items():
        PAGE.with_name(name).write_text(drawn, encoding="utf-8", newline="\n")
    say(f"Wrote {PAGE.name}.")


if __name__ == "__main__":
    main()
