"""Learning networks on a published table: which columns are fit for it, and which networks."""

from collections.abc import Collection
from functools import partial
from typing import NamedTuple

import numpy as np

from sfumato.bayes import Constraints, Learner, Network
from sfumato.counts import FrequencySet
from sfumato.typing import Progress, silent

KNOWN, TOLD, ALL = "quasi-identifiers", "sensitive", "all"
"""The networks: over what others may know, over what nobody should learn, over both."""


class Fit(NamedTuple):
    """The columns that can be learned from, and why others cannot."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    notes: tuple[str, ...]


def fit_columns(
    counts: FrequencySet, quasi_identifiers: Collection[str], sensitive: Collection[str]
) -> Fit:
    """Leave out columns that tell nothing, or everything.

    >>> rows = [("f", "ann", "flu"), ("f", "bea", "gout"), ("f", "cat", "flu")]
    >>> fit = fit_columns(FrequencySet.from_rows(["sex", "name", "ill"], rows), ["sex"], ["ill"])
    >>> fit.quasi_identifiers, fit.sensitive, fit.notes[0]
    ((), ('ill',), "column 'sex' has one value only: it depends on nothing")
    """
    notes, unfit = [], set()
    for name in counts.names:
        # A dictionary may hold values of rows that were left out.
        distinct = int(np.count_nonzero(counts.value_counts(name)))
        if distinct < 2:
            unfit.add(name)
            notes.append(f"column {name!r} has one value only: it depends on nothing")
        elif distinct == counts.total > 2:
            unfit.add(name)
            notes.append(
                f"column {name!r} has a different value in every row: it looks like an identifier "
                "left in, and tells everything about everybody. Drop it, or generalise it."
            )
    if counts.total == 1:
        notes.append("there is one row only: nothing depends on anything in it")
    if not sensitive:
        notes.append("no column is sensitive, so no rule can reveal anything: name some")
    return Fit(
        tuple(name for name in quasi_identifiers if name not in unfit),
        tuple(name for name in sensitive if name not in unfit),
        tuple(notes),
    )


def learn_networks(
    counts: FrequencySet,
    fit: Fit,
    learner: Learner,
    report: Progress | None = None,
    *,
    wanted: Collection[str] = (KNOWN, TOLD, ALL),
) -> dict[str, Network]:
    """Learn the networks; an arrow never leads from a sensitive column to another kind.

    >>> from sfumato.bayes import LEARNERS
    >>> rows = [("30s", "flu"), ("40s", "gout")] * 10
    >>> counts = FrequencySet.from_rows(["age", "ill"], rows)
    >>> found = learn_networks(counts, fit_columns(counts, ["age"], ["ill"]), LEARNERS["ic"]())
    >>> list(found), found["all"].edges
    (['quasi-identifiers', 'sensitive', 'all'], (('age', 'ill'),))
    """
    tiers = (fit.quasi_identifiers, fit.sensitive)
    constrained = learner.constrained and all(tiers)
    parts: dict[str, tuple[tuple[str, ...], Constraints]] = {
        KNOWN: (fit.quasi_identifiers, Constraints()),
        TOLD: (fit.sensitive, Constraints()),
        ALL: (sum(tiers, ()), Constraints(tiers=tiers) if constrained else Constraints()),
    }
    told = report or silent
    return {
        name: learner.learn(
            counts.project(columns), constraints, partial(told, f"learn {name}")
        ).network
        for name, (columns, constraints) in parts.items()
        if name in wanted
    }
