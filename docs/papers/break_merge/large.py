"""The large tables: what learning and breaking cost, and what hiding loses."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

import sfumato as sf
from benchmarks.measure import cpu
from docs.papers.adult import TREES
from docs.papers.break_merge.people import (
    EACH,
    IN_ADULT,
    MOST,
    QUASI_IDENTIFIERS,
    SENSITIVE,
    people,
)
from docs.papers.results import Record
from sfumato.counts import FrequencySet
from sfumato.decouplings.base import GroupedTables
from sfumato.hierarchy.base import Ladder
from sfumato.leaks import Exposure, associations_of, hide
from sfumato.networks import LEARNERS, Network, tables_of
from sfumato.tables import open_table
from sfumato.typing import Value

ROWS = tuple(range(MOST // 5, MOST + 1, MOST // 5))
WAYS = ("ic", "weka-ics")
WIDTHS = (1, 3)
"""How many sensitive columns a network is learned with."""

CONFIDENCES = tuple(i / 10 for i in range(1, 10))
PROBABILITIES = tuple(i / 10 for i in range(2, 11))
HALF = 0.5
KNOWN = (1, 3)
"""From how many quasi-identifiers rules start, up to this."""

REPEATS = 3


def learning(*, repeats: int = REPEATS) -> Iterator[Record]:
    """Time counting, one network over all columns, and its tables."""
    for width in WIDTHS:
        columns = (*QUASI_IDENTIFIERS, *SENSITIVE["adult"][:width])
        for rows in ROWS:
            table = people(rows)
            for way in WAYS:
                network = _learn(table, columns, way)
                yield {
                    "sensitive": width,
                    "rows": rows,
                    "learner": way,
                    "edges": len(network.edges),
                    "acyclic": network.acyclic,
                    **_seconds(lambda t=table, c=columns, w=way: _learn(t, c, w), repeats),  # type: ignore[misc]
                }


def _learn(table: pa.Table, columns: tuple[str, ...], way: str) -> Network:
    counts = open_table(table).count(columns)
    network = LEARNERS[way]().learn(counts).network
    tables_of(counts, network, prior=0.5)
    return network


def breaking(*, repeats: int = REPEATS) -> Iterator[Record]:
    """Time breaking a table in memory into files, read again and verified."""
    for name, sensitive in SENSITIVE.items():
        for rows in ROWS:
            table = people(rows, name)
            grouped = GroupedTables.of(_counted(table, name), QUASI_IDENTIFIERS, sensitive)
            yield {
                "table": name,
                "sensitive": len(sensitive),
                "rows": rows,
                "groups": len(grouped),
                "entries": sum(len(each.rows) for each in grouped.sensitive),
                **_seconds(lambda t=table, n=name: _break(t, n), repeats),  # type: ignore[misc]
            }


def _break(table: pa.Table, name: str) -> None:
    with TemporaryDirectory() as folder:
        sf.decouple(
            table,
            quasi_identifiers=QUASI_IDENTIFIERS,
            sensitive=SENSITIVE[name],
            output=Path(folder) / "broken",
            format="csv",
            seed=0,
        )


def _seconds(work: Callable[[], object], repeats: int) -> dict[str, float]:
    """Give the least CPU seconds of some repeats: what the work costs when nothing disturbs it."""
    return {"seconds": round(cpu(work, repeats=repeats).least, 4)} if repeats else {}


def _counted(table: pa.Table, name: str) -> FrequencySet:
    return open_table(table).count((*QUASI_IDENTIFIERS, *SENSITIVE[name]))


def hiding() -> list[Record]:
    """Hide associations above each confidence, and give what the sensitive columns lose."""
    counts = _counted(people(MOST), "adult")
    ladders = {name: _ladder(counts, name) for name in SENSITIVE["adult"]}
    found = []
    for size in KNOWN:
        for confidence in CONFIDENCES:
            hidden = hide(
                counts,
                QUASI_IDENTIFIERS,
                SENSITIVE["adult"],
                ladders,
                confidence=confidence,
                size=size,
            )
            found.append(
                {
                    "known": size,
                    "confidence": confidence,
                    "rules": hidden.rules,
                    "loss": round(hidden.loss, 6),
                    **{name: round(lost, 6) for name, lost in hidden.losses.items()},
                }
            )
    return found


def hiding_both() -> list[Record]:
    """Hide disassociations too, above the same confidence: values that are as good as ruled out."""
    counts = _counted(people(MOST), "adult")
    ladders = {name: _ladder(counts, name) for name in SENSITIVE["adult"]}
    found = []
    for limit in CONFIDENCES:
        hidden = hide(
            counts,
            QUASI_IDENTIFIERS,
            SENSITIVE["adult"],
            ladders,
            confidence=limit,
            absence=limit,
        )
        away = sum(column.disassociations for column in hidden.columns)
        found.append(
            {
                "confidence": limit,
                "rules": hidden.rules,
                "away": away,
                "loss": round(hidden.loss, 6),
                **{name: round(lost, 6) for name, lost in hidden.losses.items()},
            }
        )
    return found


def attacker() -> list[Record]:
    """Hide associations above one half, where an attacker's probability is more and more.

    In every group a given share of the people have the value that goes with their age, and all
    other values are equally frequent among the rest: the probability is known, and no chance is
    in it. Of two values one always has a half.
    """
    adult = _counted(people(MOST), "adult")
    every = {name: adult.column(name).values for name in SENSITIVE["adult"]}
    groups = GroupedTables.of(adult, QUASI_IDENTIFIERS, ()).labels
    known = [adult.column(name).values for name in QUASI_IDENTIFIERS]
    found = []
    for probability in PROBABILITIES:
        columns = {
            name: np.repeat([known[i][code] for code in groups[i]], EACH)
            for i, name in enumerate(QUASI_IDENTIFIERS)
        }
        for name, values in every.items():
            share = max(probability, 1 / len(values))
            columns[name] = np.concatenate(
                [_planted(values, int(band), share) for band in groups[0]]
            )
        table = pa.table(columns)
        counts = _counted(table, "adult")
        hidden = hide(
            counts,
            QUASI_IDENTIFIERS,
            SENSITIVE["adult"],
            {name: _ladder(counts, name) for name in every},
            confidence=HALF,
        )
        rules = associations_of(counts, QUASI_IDENTIFIERS, SENSITIVE["adult"], confidence=0)
        sure = {
            name: max(one.strongest for one in rules if one.told.name == name) for name in every
        }
        found.append(
            {
                "probability": probability,
                "sure": {name: round(value, 6) for name, value in sure.items()},
                "rules": hidden.rules,
                "loss": round(hidden.loss, 6),
                **{name: round(lost, 6) for name, lost in hidden.losses.items()},
            }
        )
    return found


def _planted(values: Sequence[Value], band: int, share: float) -> np.ndarray:
    """Give the values of a group: so many have the one of their band, the rest all others."""
    own = values[band % len(values)]
    others = [value for value in values if value != own]
    n = round(share * EACH)
    return np.array([own] * n + [others[i % len(others)] for i in range(EACH - n)])


def _ladder(counts: FrequencySet, name: str) -> Ladder:
    return TREES[IN_ADULT[name]].ladder(name, counts.column(name).values)


def exposure() -> Exposure:
    """Break the largest table and keep it to compare with."""
    return sf.breach(
        people(MOST), quasi_identifiers=QUASI_IDENTIFIERS, sensitive=SENSITIVE["adult"]
    )


def sizes() -> Record:
    """Say how the tables were made."""
    return {"rows": MOST, "group": EACH, "groups": MOST // EACH, "repeats": REPEATS}
