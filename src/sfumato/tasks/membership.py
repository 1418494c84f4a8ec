"""Membership: can others tell from what is published who is in the data at all?"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np

from sfumato.attacks import Membership, Presence
from sfumato.attacks.adversary.target import matcher_of
from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, UnknownNameError, require_int
from sfumato.policy import GivenPolicy, policy_of
from sfumato.recode.deciding import ladders_of
from sfumato.releases.drawn import require_rows_of_people
from sfumato.releases.opening import count_columns, open_release, require_alike
from sfumato.showing.content import Cell, Content, ContentTable, FineShare, Showable
from sfumato.text import percent
from sfumato.typing import Progress


@dataclass(frozen=True, eq=False)
class Presences(Showable):
    """Several releases of one table, held against the same real and the same fake rows."""

    results: Mapping[str, Presence]
    """By the name that each release was given."""

    seed: int
    """Where the fake rows came from."""

    def __getitem__(self, name: str) -> Presence:
        if name not in self.results:
            raise UnknownNameError("release", name, self.results)
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values, ready for JSON."""
        found = {name: result.to_dict() for name, result in self.results.items()}
        return {"releases": found, "seed": self.seed}

    def content(self) -> Content:
        """Return one line per release; an interval where made-up people were sampled."""
        heads = ["release", "people matched", "groups each", "groups per fake", "fakes ruled out"]
        sampled = any(not each.exact for each in self.results.values())
        rows = [
            [*_row(name, each), *([_interval(each)] if sampled else [])]
            for name, each in self.results.items()
        ]
        table = ContentTable.of("", [*heads, *(["between"] if sampled else [])], rows, most=None)
        return Content("Real and made-up people, held against each release:", (table,))

    def __repr__(self) -> str:
        return f"<Presences of {', '.join(self.results)}>"


def _row(name: str, found: Presence) -> list[Cell]:
    return [
        name,
        f"{found.matched} of {found.people}",
        found.groups,
        found.fake_groups,
        None if found.ruled_out is None else FineShare(found.ruled_out),
    ]


def _interval(found: Presence) -> str | None:
    """Return where the share of all fakes lies, of which some were drawn."""
    return None if found.interval is None else " to ".join(percent(e, 1) for e in found.interval)


@overload
def membership(  # type: ignore[overload-overlap] # a mapping is never a release itself
    original: object,
    releases: Mapping[str, object],
    *,
    policy: GivenPolicy | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    fakes: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> Presences: ...


@overload
def membership(
    original: object,
    releases: object,
    *,
    policy: GivenPolicy | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    fakes: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> Presence: ...


def membership(  # noqa: PLR0913 - all but two have a default and are named
    original: object,
    releases: object,
    *,
    policy: GivenPolicy | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    fakes: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> Presences | Presence:
    """Match real people and made-up ones with the groups of one or several releases.

    An adversary who knows a person's quasi-identifiers looks for groups (classes or buckets) in
    which that person could be. A person who matches none is certainly not in the data; if nearly
    all made-up rows match none, matching a group says that a person is. Made-up rows are real
    values put together at random, and no person in the data has them.

    Does not promise: that a person who matches is hidden. A group that fits may still say
    what its people have; see `breach` and `attack`.

    Args:
        original: The table that was released: anything `sfumato.anonymize` takes.
        releases: What was published: releases or their folders, decoupled or not, or tables,
            each under a name; or a single one.
        policy: The policy they were made with. Its hierarchies say what labels stand for;
            without it only intervals, masks such as `476**` and `*` can be read.
        quasi_identifiers: The columns others may know; by default those of the first release.
        sensitive: The sensitive columns, likewise. They are no part of what is matched.
        fakes: How many fake rows are drawn, if there are more combinations than that.
        confidence: How sure the interval of a sampled share is.
        seed: Where the fake rows come from.
        progress: Told how far each stage is.

    Returns:
        `Presences` for several releases under names, a `Presence` for one.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> table = pa.table({"age": [31, 32, 38, 39], "sex": ["f", "f", "m", "m"]})
        >>> coarse = pa.table({"age": ["31 to 39"] * 4, "sex": ["f", "f", "m", "m"]})
        >>> both = {"as it is": table, "coarse": coarse}
        >>> print(sf.tools.membership(table, both, quasi_identifiers=["age", "sex"]))
        Real and made-up people, held against each release:
        release   people matched  groups each  groups per fake  fakes ruled out
        as it is          4 of 4            1                0            100 %
        coarse            4 of 4            1                1              0 %
    """
    attack = Membership(fakes, confidence)
    require_int("seed", seed, at_least=0)
    several = releases if isinstance(releases, Mapping) else {"release": releases}
    if not several:
        raise ParameterError(
            "releases", releases, "a release, or a mapping of names to releases", why="{'k=5': it}"
        )
    policy = policy_of(policy)
    opened = {
        name: open_release(
            release, policy, quasi_identifiers=quasi_identifiers, sensitive=sensitive
        )
        for name, release in several.items()
    }
    for each in opened.values():
        require_rows_of_people(each, "whose group could be found")
    columns = next(iter(opened.values())).quasi_identifiers
    if not columns:
        raise ParameterError("quasi_identifiers", [], "the columns that others may know")
    require_alike(opened, columns)
    people = count_columns(original, columns).project(columns)
    ladders = ladders_of(policy, people, columns)
    found: dict[str, Presence] = {}
    for name, each in opened.items():
        # The same seed for all: the same made-up rows.
        rng = np.random.default_rng(seed)
        found[name] = attack.run(
            people, matcher_of(people, each.counts(columns), each.levels, ladders), rng=rng
        )
        if progress is not None:
            progress("compare", len(found), len(opened))
    return Presences(found, seed) if isinstance(releases, Mapping) else found["release"]
