"""Generalising further where more is asked for than before, and nowhere else."""

import numpy as np

from sfumato.partition.bottomup import BottomUp
from sfumato.partition.joining import join
from sfumato.partition.parted import Parted
from sfumato.partition.problem import Problem
from sfumato.typing import IntArray


def refine(problem: Problem, parted: Parted) -> Parted:
    """Part anew the rows of classes that break a model; leave the others as they are.

    The rows of all such classes are pooled and parted from the bottom up. Those that cannot
    be helped among themselves join the classes they harm least, which then change too.

    Promises: a class that keeps the models keeps its rows, unless others must join it. Does
    not promise that all classes pass in the end: whoever publishes judges them.
    """
    passes = problem.judge.passes(parted.classes, parted.item, parted.rows, parted.n)
    if passes.all():
        return parted
    fails = ~passes[parted.classes]
    good = Parted.of(parted.item[~fails], parted.rows[~fails], parted.classes[~fails])
    again = _parted_anew(problem, parted.item[fails], parted.rows[fails])
    mended = problem.judge.passes(again.classes, again.item, again.rows, again.n)
    helped = mended[again.classes]
    together = Parted.of(
        np.concatenate([good.item, again.item[helped]]),
        np.concatenate([good.rows, again.rows[helped]]),
        np.concatenate([good.classes, again.classes[helped] + good.n]),
    )
    if helped.all():
        return together
    return join(problem, together, again.item[~helped], again.rows[~helped])


def _parted_anew(problem: Problem, item: IntArray, rows: IntArray) -> Parted:
    """Part some rows by themselves."""
    items, of_portion = np.unique(item, return_inverse=True)
    added = np.bincount(of_portion, weights=rows, minlength=len(items)).astype(np.int64)
    found = BottomUp().run(problem.among(items, added))
    return Parted(items[found.item], found.rows, found.classes)
