"""A workshop: things made of a counted table for one policy, which serve the next one too."""

from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from threading import RLock
from typing import NamedTuple

import numpy as np

from sfumato.classes import SensitiveColumn
from sfumato.counts import FrequencySet
from sfumato.hierarchy import Ladder, Suppress
from sfumato.policy import Policy
from sfumato.recode.deciding import Maker, PreparedTable, ladder_of
from sfumato.search.grouping import Grouping
from sfumato.typing import IntArray

_LADDERS = 256
_PROJECTED = 2


class _Stock(NamedTuple):
    """A grouping, and what it was made of."""

    counts: FrequencySet
    ladders: list[Ladder]
    sensitive: Mapping[str, SensitiveColumn]
    population: FrequencySet | None
    person: str | None
    grouping: Grouping


class Workshop(Maker):
    """Keeps hierarchies, narrower counts and groupings with their roll-ups and lessons.

    Policies that differ in their models or limits share all of it, so that the second costs a
    part of the first. Several threads may use it.
    """

    def __init__(self, *, measures: bool = True) -> None:
        super().__init__(measures=measures)
        self._ladders: OrderedDict[Hashable, Ladder] = OrderedDict()
        self._projected: list[tuple[FrequencySet, tuple[str, ...], FrequencySet]] = []
        self._made: _Stock | None = None
        self._lock = RLock()

    def of_part(self) -> Maker:
        return _WithLadders(self)

    def project(self, counts: FrequencySet, names: Sequence[str]) -> FrequencySet:
        with self._lock:
            for given, asked, found in self._projected:
                if given is counts and asked == tuple(names):
                    return found
            found = counts.project(names)
            self._projected = [*self._projected[1 - _PROJECTED :], (counts, tuple(names), found)]
            return found

    def ladder(
        self, policy: Policy, counts: FrequencySet, name: str, frequency: IntArray
    ) -> Ladder:
        builder = policy.columns[name].hierarchy or Suppress()
        values = counts.column(name).values
        key = name, builder, stamp(builder), hash(values), frequency.tobytes()
        with self._lock:
            found = self._ladders.get(key)
            if found is None or found.values != values:
                found = self._ladders[key] = ladder_of(policy, counts, name, frequency)
                while len(self._ladders) > _LADDERS:
                    self._ladders.popitem(last=False)
            self._ladders.move_to_end(key)
            return found

    def grouping(self, ready: PreparedTable, person: str | None) -> Grouping:
        with self._lock:
            made = self._made
            if made is not None and _serves(made, ready, person):
                return made.grouping
            grouping = super().grouping(ready, person)
            self._made = _Stock(
                ready.counts, ready.ladders, ready.sensitive, ready.population, person, grouping
            )
            return grouping


class _WithLadders(Maker):
    """Makes decisions on some rows of a table: their hierarchies are those of equal values.

    The grouping of the whole table stays at hand for the next policy.
    """

    def __init__(self, workshop: Workshop) -> None:
        super().__init__(measures=workshop.measures)
        self._workshop = workshop

    def ladder(
        self, policy: Policy, counts: FrequencySet, name: str, frequency: IntArray
    ) -> Ladder:
        return self._workshop.ladder(policy, counts, name, frequency)


def stamp(builder: object) -> Hashable:
    """Return what tells whether the file that a hierarchy comes from has changed."""
    return stamp_of(getattr(builder, "file", None))


def stamp_of(path: object) -> Hashable:
    """Return what tells whether a file has changed; None if there is none."""
    if path is None:
        return None
    try:
        told = Path(str(path)).stat()
    except OSError:
        return None
    return str(path), told.st_mtime_ns, told.st_size


def _serves(made: _Stock, ready: PreparedTable, person: str | None) -> bool:
    """Return whether a grouping is one of the same table, hierarchies and sensitive columns."""
    if made.counts is not ready.counts or made.population is not ready.population:
        return False
    if made.person != person or made.sensitive.keys() != ready.sensitive.keys():
        return False
    same = zip(made.ladders, ready.ladders, strict=False)
    if len(made.ladders) != len(ready.ladders) or any(a is not b for a, b in same):
        return False
    return all(_alike(made.sensitive[name], ready.sensitive[name]) for name in made.sensitive)


def _alike(one: SensitiveColumn, other: SensitiveColumn) -> bool:
    if (one.secrecy is None) != (other.secrecy is None) or one.ladder is not other.ladder:
        return False
    if one.secrecy is not None and not np.array_equal(one.secrecy, other.secrecy):  # type: ignore[arg-type]
        return False
    return (one.values, one.width, one.folded) == (other.values, other.width, other.folded)
