"""From who is with whom to what is published: names for the classes, and a last judgement."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.classes import EquivalenceClasses
from sfumato.counts import FrequencySet, group, sums
from sfumato.losses import LocalResult
from sfumato.models import PrivacyModel
from sfumato.models.base import TableModel
from sfumato.overlap import overlapping
from sfumato.partition.labels import Labels, labels_of
from sfumato.partition.parted import Parted
from sfumato.partition.problem import Problem
from sfumato.recoding import SUPPRESSED, LocalColumn, LocalRecoding
from sfumato.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Settled:
    """A parted table with its labels, judged as it is published."""

    problem: Problem
    parted: Parted
    """The published portions; classes with the same labels are one class."""

    labels: tuple[Labels, ...]
    """The labels of each attribute."""

    gone: Parted
    """The portions of classes that broke a model, and are suppressed."""

    left: EquivalenceClasses
    """The published classes as the models judge them."""

    broken: tuple[PrivacyModel, ...]
    """The models that were broken before anything was suppressed."""

    @property
    def suppressed(self) -> int:
        """How many rows are not published."""
        return int(self.gone.rows.sum())

    def result(self) -> LocalResult:
        """Show it to a loss."""
        gone = self.gone
        removed: list[FloatArray] = [
            sums(raw[gone.item], gone.rows, len(attribute.frequency)).astype(float)
            for raw, attribute in zip(self.problem.raw, self.problem.attributes, strict=True)
        ]
        cells = [one.cells for one in self.labels]
        return LocalResult(cells, self.parted.sizes, removed, self.suppressed)

    def recoding(self, counts: FrequencySet, items: IntArray) -> LocalRecoding:
        """Say what becomes of every combination of a table.

        Args:
            counts: The whole table, of which the problem may be a part.
            items: Where the problem's items are in it; all others are suppressed.
        """
        outside = np.setdiff1d(np.arange(len(counts)), items)
        item = np.concatenate([items[self.parted.item], items[self.gone.item], outside])
        rows = np.concatenate([self.parted.rows, self.gone.rows, counts.rows[outside]])
        lost = np.full(len(self.gone.item) + len(outside), SUPPRESSED)
        classes = np.concatenate([self.parted.classes, lost])
        order = np.lexsort((classes, item))
        n = len(self.problem.attributes)
        codes = [one.of_class for one in self.labels]
        return LocalRecoding(
            columns=tuple(
                LocalColumn(column.name, column.values, one.names, one.raw)
                for column, one in zip(counts.columns[:n], self.labels, strict=True)
            ),
            others=counts.columns[n:],
            combinations=counts.codes,
            starts=np.searchsorted(item[order], np.arange(len(counts) + 1)),
            rows=rows[order],
            classes=classes[order],
            labels=np.array(codes, dtype=np.int32).reshape(n, self.parted.n),
        )


def settle(problem: Problem, parted: Parted, intervals: Sequence[bool]) -> Settled:
    """Name the classes, merge those with the same name, and suppress what breaks a model.

    Classes are judged once more because of what only the whole release shows: merged
    classes, missing values that match any, and the distribution of the rows that stay.
    """
    gone = Parted.of([], [], [])
    broken: tuple[PrivacyModel, ...] | None = None
    while True:
        parted, labels = _named(problem, parted, intervals)
        left = _view(problem, parted, labels)
        keep, failed = _judge(problem.models, left)
        broken = failed if broken is None else broken
        if keep.all():
            return Settled(problem, parted, labels, gone, left, broken)
        stays = keep[parted.classes]
        gone = Parted.of(
            np.concatenate([gone.item, parted.item[~stays]]),
            np.concatenate([gone.rows, parted.rows[~stays]]),
            np.zeros(len(gone.item) + int(np.count_nonzero(~stays))),
        )
        parted = Parted.of(parted.item[stays], parted.rows[stays], parted.classes[stays])


def _named(
    problem: Problem, parted: Parted, intervals: Sequence[bool]
) -> tuple[Parted, tuple[Labels, ...]]:
    """Name classes and make those with the same name one."""
    labels = labels_of(problem, parted, intervals)
    names = group([one.of_class for one in labels], [len(one.names) for one in labels], n=parted.n)
    merged = Parted.of(parted.item, parted.rows, names.of_item[parted.classes])
    return merged, tuple(replace(one, of_class=one.of_class[names.first]) for one in labels)


def _view(problem: Problem, parted: Parted, labels: Sequence[Labels]) -> EquivalenceClasses:
    """Show the models what a reader of the release sees."""
    sizes = parted.sizes
    classes = problem.judge.classes(parted.classes, parted.item, parted.rows, sizes)
    own = problem.whole is None
    classes = classes.kept(np.ones(len(sizes), dtype=bool), own_reference=own)
    if not problem.matches_any:
        return classes
    missing = [np.array([name is None for name in one.names] or [False]) for one in labels]
    codes: IntArray = np.array([one.of_class for one in labels])
    lacking: BoolArray = np.array(
        [lack[one.of_class] for lack, one in zip(missing, labels, strict=True)], dtype=bool
    )
    return overlapping(codes, lacking, classes, own_reference=own)


def _judge(
    models: Sequence[PrivacyModel], classes: EquivalenceClasses
) -> tuple[BoolArray, tuple[PrivacyModel, ...]]:
    """Say which classes may stay, and which models do not let all of them.

    A model of the whole table decides only when every class keeps the others.
    """
    keep = np.ones(len(classes), dtype=bool)
    broken: list[PrivacyModel] = []
    for per_table in (False, True):
        if not keep.all():
            break
        for model in models:
            if isinstance(model, TableModel) == per_table:
                verdicts = model.passes(classes)
                keep &= verdicts
                if not verdicts.all():
                    broken.append(model)
    return keep, tuple(broken)
