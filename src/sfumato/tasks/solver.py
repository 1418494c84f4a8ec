"""What a worker of a cluster does: recode one fragment of a table by itself."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from sfumato._version import __version__
from sfumato.counts import FrequencySet, group, sums
from sfumato.engines.arrow.build import from_numpy, from_texts, to_numpy
from sfumato.engines.arrow.portions import Portions
from sfumato.errors import InfeasibleError, InputError
from sfumato.partition import Parted, Partitioner, Problem, Settled, settle
from sfumato.text import text_of
from sfumato.typing import CodeArray, IntArray

STARRED = ""
"""The note of a row that is suppressed and starred; one that is published has none."""


@dataclass(frozen=True, eq=False)
class Solver:
    """Recodes the rows of a fragment so that every class of it keeps the models.

    Every fragment has the same hierarchies, those of the whole table, so labels mean the same
    in all of them. It is pickled and sent to where the rows are.
    """

    problem: Problem
    """What every fragment must keep, without any items."""

    partitioner: Partitioner
    limits: IntArray
    """How many rows of each fragment may be suppressed."""

    columns: Sequence[int | str]
    """What to give: the labels of a quasi-identifier, or a column to hand through."""

    stars: int | None
    """How many rows were suppressed before; None if suppressed rows are left out."""

    fragment: str = "fragment"
    version: str = field(default=__version__)

    def __call__(self, rows: pa.Table) -> pa.Table:
        """Give what becomes of the rows, then the starred ones, then a note on all of them."""
        if self.version != __version__:
            raise InputError(
                f"a worker has sfumato {__version__}, and {self.version} is needed. Install the "
                "same version everywhere."
            )
        number = int(rows.column(self.fragment)[0].as_py())
        codes = [_codes(rows, f"r{i}") for i in range(len(self.problem.counts.columns))]
        sizes = [len(column.values) for column in self.problem.counts.columns]
        groups = group(codes, sizes)
        counts = FrequencySet(
            self.problem.counts.columns,
            np.array(codes, dtype=np.int32)[:, groups.first],
            sums(groups.of_item, np.ones(len(rows), dtype=np.int64), groups.n),
        )
        problem = replace(self.problem, counts=counts, limit=int(self.limits[number]))
        settled = solved(problem, self.partitioner)
        recoding = settled.recoding(counts, np.arange(len(counts)))
        # Which of equal rows become what is drawn here, and nobody can draw it again.
        portions = Portions(recoding.starts, recoding.rows, np.random.default_rng())
        classes = recoding.classes[portions.hand_out(groups.of_item)]
        published = self._published(rows, settled, classes)
        starred = 0 if self.stars is None else settled.suppressed + (number == 0) * self.stars
        return pa.concat_tables(
            [
                published,
                _empty(published.schema, starred, STARRED),
                _empty(published.schema, 1, _note(number, len(rows), settled)),
            ]
        )

    def _published(self, rows: pa.Table, settled: Settled, classes: IntArray) -> pa.Table:
        stays = classes >= 0
        if not stays.all():
            rows, classes = rows.take(from_numpy(np.flatnonzero(stays))), classes[stays]
        made = {}
        for at, column in enumerate(self.columns):
            if isinstance(column, str):
                made[f"o{at}"] = rows.column(column)
                continue
            labels = settled.labels[column]
            texts = [None if name is None else text_of(name) for name in labels.names]
            taken = from_numpy(labels.of_class[classes])
            made[f"o{at}"] = from_texts(texts, pa.string()).take(taken)
        made[f"o{len(self.columns)}"] = pa.nulls(len(classes), pa.string())
        return pa.table(made)


def solved(problem: Problem, partitioner: Partitioner) -> Settled:
    """Part and settle a fragment; where a method suppresses too much, leave it in one piece."""
    intervals = partitioner.intervals(problem)
    found = settle(problem, partitioner.run(problem), intervals)
    if found.suppressed <= problem.limit:
        return found
    n = len(problem.counts)
    whole = Parted.of(np.arange(n), problem.rows, np.zeros(n))
    found = settle(problem, whole, intervals)
    if found.suppressed > problem.limit:
        raise InfeasibleError("a fragment breaks the models even if all of it is one class")
    return found


def _codes(rows: pa.Table, name: str) -> CodeArray:
    column = rows.column(name)
    if column.null_count:
        raise InputError("the table changed while it was being published. Start again.")
    codes: CodeArray = to_numpy(column.cast(pa.int32()).combine_chunks())
    return codes


def _empty(schema: pa.Schema, n: int, note: str) -> pa.Table:
    """Give rows that hold nothing but a note."""
    *cells, last = schema
    columns = [pa.nulls(n, cell.type) for cell in cells]
    return pa.table([*columns, from_texts([note] * n, last.type)], schema=schema)


def _note(number: int, rows: int, settled: Settled) -> str:
    """Write down what a manifest needs to know of a fragment."""
    labels = settled.labels
    return json.dumps(
        {
            "fragment": number,
            "rows": rows,
            "suppressed": settled.suppressed,
            "raw": [_is_raw(settled, a) for a in range(len(labels))],
            "levels": [None if one.levels is None else one.levels.tolist() for one in labels],
            "cells": [
                [c.tolist() for c in (x.value, x.level, x.leaves, x.together, x.rows)]
                for x in (one.cells for one in labels)
            ],
        }
    )


def _is_raw(settled: Settled, a: int) -> bool:
    """Tell whether every row is published with its own value of an attribute."""
    labels, parted = settled.labels[a], settled.parted
    code = {id(value): i for i, value in enumerate(settled.problem.attributes[a].ladder.values)}
    own = np.array([code.get(id(name), -1) for name in labels.names] or [-1])
    raw = settled.problem.raw[a][parted.item]
    return bool((own[labels.of_class[parted.classes]] == raw).all())
