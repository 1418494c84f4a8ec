"""The section on people: how many look alike, and how surely one of them is found."""

from collections.abc import Sequence

import numpy as np

from sfumato.classes import EquivalenceClasses
from sfumato.decouplings import kind_of
from sfumato.drafting.special_uniques import SpecialUniques
from sfumato.reports.dossier import Dossier
from sfumato.reports.sections.base import Chapter, NotHereError, without_badges
from sfumato.showing.charts import histogram_svg
from sfumato.showing.content import (
    Badge,
    Cell,
    ContentTable,
    Drawing,
    Figures,
    Heading,
    Part,
    Sentence,
    Share,
)
from sfumato.typing import IntArray

_FEW_COLUMNS = 3
"""How many columns a set may have that is looked at for special uniques."""

_STARTS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000)
"""Where the bins of the histogram begin."""


def _parts(dossier: Dossier) -> Sequence[Part]:
    classes = dossier.target.classes
    sizes = classes.sizes
    if not len(sizes):
        raise NotHereError("no person is in the release")
    return [
        _figures(dossier, classes),
        Drawing.of(_histogram(sizes, classes.inside)),
        without_badges(_by_level(dossier, classes)),
        *_remark(dossier),
        *_sample(dossier),
    ]


def _sample(dossier: Dossier) -> list[Part]:
    """Return what is estimated of the population, if anything tells of it, and special uniques."""
    found = dossier.assessment.sample
    parts: list[Part] = [] if found is None else [found.sentence(), found.table()]
    target = dossier.target
    if target.counts is not None and not target.classes.by_person:
        known = target.counts.project(tuple(column.name for column in target.columns))
        match = None if found is None else found.unique_match
        special = SpecialUniques.of(known, _FEW_COLUMNS, unique_match=match)
        parts.append(special.sentence())
        parts += [special.table()] if special.rows else []
    return parts


def _figures(dossier: Dossier, classes: EquivalenceClasses) -> Figures:
    sizes, rows = classes.sizes, classes.inside
    told = "How many rows are published; each is one person."
    if classes.by_person:
        told = f"Who is in the {classes.total} rows that are published; each person counts once."
    suppressed = None if dossier.manifest is None else dossier.manifest.rows.suppressed
    smallest_first = np.argsort(sizes, kind="stable")
    half = np.searchsorted(np.cumsum(rows[smallest_first]), rows.sum() / 2)
    alone = int(classes.at_worst((sizes == 1).astype(np.int64), 2)[1])
    return Figures(
        "People and classes",
        (
            ("people", classes.n_people, told),
            ("left out", suppressed, "How many rows had to be suppressed."),
            ("classes", len(sizes), "How many groups of people look alike to others."),
            ("smallest class (k)", int(sizes.min()), "No class has fewer people."),
            ("median class", float(np.median(sizes)), "Half of the classes are smaller than this."),
            ("mean class", float(sizes.mean()), "How many people a class has on average."),
            (
                "class of the median person",
                int(sizes[smallest_first][half]),
                "Half of the people are in a class of at most this size.",
            ),
            (
                "alone",
                alone,
                "People whom no other person looks like: who knows them finds their row.",
            ),
        ),
    )


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _histogram(sizes: IntArray, rows: IntArray) -> str:
    labels, people = bins(sizes, rows)
    return histogram_svg(labels, people, title="People by size of their class", axis="class size")


def bins(sizes: IntArray, rows: IntArray) -> tuple[list[str], list[int]]:
    """Count people by the size of their class; bins begin at round numbers.

    >>> bins(np.array([2, 5, 7]), np.array([2, 5, 7]))
    (['2', '3-4', '5-9'], [2, 0, 12])
    """
    at = np.searchsorted(np.array(_STARTS), sizes, side="right") - 1
    people = np.bincount(at, weights=rows, minlength=len(_STARTS)).astype(np.int64)
    first, last = int(at.min()), int(at.max()) + 1
    ends = [start - 1 for start in _STARTS[1:]]
    labels = [
        f"{start}" if start == end else f"{start}-{end}"
        for start, end in zip(_STARTS, ends, strict=False)
    ]
    labels.append(f"{_STARTS[-1]} or more")
    return labels[first:last], people[first:last].tolist()


def _by_level(dossier: Dossier, classes: EquivalenceClasses) -> ContentTable:
    bounds, sizes = dossier.levels.bounds(), classes.sizes
    # As the levels say it, one by one: what is exactly 1/5 is at the level that begins there.
    names = np.array([dossier.levels.of(1 / size) for size in np.unique(sizes).tolist()])
    of_class = names[np.searchsorted(np.unique(sizes), sizes)]
    total = max(classes.n_people, 1)
    table: list[list[Cell]] = []
    # Levels rise, so that who is in several classes is told at the worst of them.
    rising = sorted(bounds, key=bounds.__getitem__)
    level = np.array([rising.index(name) for name in of_class.tolist()], dtype=np.int64)
    of_level = classes.at_worst(level, len(rising))
    for name, start in bounds.items():
        people = int(of_level[rising.index(name)])
        table.append([Badge(name), Share(start), people, Share(people / total)])
    return ContentTable.of(
        "How surely the right row is picked",
        [
            Heading("how sure", "The publisher's name for it; who is harmed, attacks judge."),
            Heading("from", "Where the level begins: 20 % is one row in five."),
            Heading("people", "Whose class is so small: the risk is one in its size."),
            Heading("share", "The same, of all people."),
        ],
        table,
    )


def _remark(dossier: Dossier) -> list[Sentence]:
    kind = kind_of(dossier.kind)
    if kind.keeps_classes:
        return []
    one, several = kind.groups
    return [
        Sentence(
            f"This release is in {several} ({kind.name}): a class here is all people of a {one} "
            "who look alike."
        )
    ]


PEOPLE = Chapter(
    "people",
    "Who is in it",
    "A class is all people who look the same in what others may know; the larger it is, the "
    "less surely a person's row is found.",
    _parts,
    of_people=True,
)
