"""A clinic that does not exist: who comes, leaves, moves, returns and is corrected every month.

Everything comes from a seed. Nothing of it depends on what a publisher makes of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.typing import BoolArray, IntArray

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
REGIONS = ("north", "east", "south", "west")
SEXES = ("female", "male")
VALUES = {"diagnosis": 30, "ward": 12, "insurance": 5}
"""The sensitive columns, and how many values each has."""

WITHIN = 12
"""Corrections concern people who came within this many months."""


@dataclass(frozen=True)
class Setting:
    """What happens in a month; the shares are of the newcomers unless it is said otherwise."""

    months: int = 120
    newcomers: int = 3000
    corrected: float = 0.02
    moving: float = 0.3
    """The share of corrections that concern the region."""

    leaving: float = 0.01
    leaving_of_all: bool = False
    """Whether the share that leaves is of all people of the clinic."""

    returning: float = 0.2
    """The share of those who left that return, after three months on average."""

    repeated: float = 0.005
    """How many are given once more by mistake."""

    missing: float = 0.03
    seed: int = 1


class Month(NamedTuple):
    """What a publisher is given in a month; people are numbers."""

    new: IntArray
    """Those who come for the first time."""

    returned: IntArray
    repeated: IntArray
    left: IntArray
    corrected: IntArray
    before: dict[str, IntArray]
    """What was known of those who are corrected, by column."""


@dataclass(eq=False)
class Clinic:
    """All people of a clinic, present and future, and what is known of them now."""

    setting: Setting
    known: dict[str, IntArray] = field(default_factory=dict)
    """By column, one code per person; in sensitive columns 0 is a missing value."""

    def __post_init__(self) -> None:
        setting = self.setting
        people = setting.months * setting.newcomers
        rng = np.random.default_rng([setting.seed, 1])
        # Many old people, more of them women; two large regions and two small ones.
        age = np.minimum(rng.beta(1.6, 1.1, people) * 100, 99).astype(np.int64)
        self.known = {
            "age": age,
            "region": rng.choice(4, people, p=[0.4, 0.3, 0.2, 0.1]),
            "sex": (rng.random(people) > 0.5 + age / 1000).astype(np.int64),
        }
        for i, (name, n) in enumerate(VALUES.items()):
            self.known[name] = self._draw(rng, n, age // 20 if i == 0 else np.zeros_like(age))
            self.known[name][rng.random(people) < setting.missing] = 0
        self.rng = np.random.default_rng([setting.seed, 2])
        self.here: BoolArray = np.zeros(people, dtype=bool)
        self.back: IntArray = np.full(people, -1)
        """The month in which a person returns; -1 if not."""

    def _draw(self, rng: np.random.Generator, n: int, kind: IntArray) -> IntArray:
        """Draw values, a few of them frequent and many rare, in another order for each kind."""
        shares = 1 / (np.arange(n) + 3) ** (1.3 if n > 5 else 0.6)
        shares /= shares.sum()
        orders = np.array([np.roll(np.arange(n), 3 * i) for i in range(int(kind.max()) + 1)])
        return 1 + orders[kind, rng.choice(n, len(kind), p=shares)]

    def run(self) -> Iterator[Month]:
        """Yield month after month, after the people of the month have changed."""
        setting, rng = self.setting, self.rng
        for month in range(setting.months):
            old = np.flatnonzero(self.here)
            first = month * setting.newcomers
            recent = old[old >= first - WITHIN * setting.newcomers]
            new = np.arange(first, first + setting.newcomers)
            if not month:
                self.here[new] = True
                nobody = new[:0]
                yield Month(new, nobody, nobody, nobody, nobody, {})
                continue
            of = len(old) if setting.leaving_of_all else setting.newcomers
            left = rng.choice(old, round(setting.leaving * of), replace=False)
            recent = np.setdiff1d(recent, left)
            corrected = rng.choice(
                recent, round(setting.corrected * setting.newcomers), replace=False
            )
            before = {name: codes[corrected] for name, codes in self.known.items()}
            self._correct(corrected)
            rest = np.setdiff1d(old, np.concatenate([left, corrected]))
            repeated = rng.choice(rest, round(setting.repeated * setting.newcomers), replace=False)
            returned = np.flatnonzero(self.back == month)
            self.here[left] = False
            will = left[rng.random(len(left)) < setting.returning]
            self.back[will] = month + rng.geometric(1 / 3, len(will))
            self.here[new] = self.here[returned] = True
            yield Month(new, returned, repeated, left, corrected, before)

    def _correct(self, people: IntArray) -> None:
        """Change one column of each: the region of some, a sensitive value of the others."""
        rng = self.rng
        moves = rng.random(len(people)) < self.setting.moving
        movers = people[moves]
        self.known["region"][movers] = (
            self.known["region"][movers] + rng.integers(1, 4, len(movers))
        ) % len(REGIONS)
        which = rng.choice(len(VALUES), len(people), p=[0.7, 0.2, 0.1])
        for i, (name, n) in enumerate(VALUES.items()):
            who = people[~moves & (which == i)]
            # Another value as frequent as it is among all: that of somebody else.
            others = self.known[name][rng.integers(0, len(self.known[name]), len(who))]
            same = others == self.known[name][who]
            others[same] = 1 + self.known[name][who][same] % n
            self.known[name][who] = others

    def rows(self, people: IntArray, before: dict[str, IntArray] | None = None) -> pa.Table:
        """Return people as a table; `before` adds what was known of them until now."""
        columns = {"id": pa.array([f"p{person:06d}" for person in people.tolist()])}
        for name, codes in self.known.items():
            columns[name] = _named(name, codes[people])
            if before:
                columns[f"old_{name}"] = _named(name, before[name])
        return pa.table(columns)


def _named(name: str, codes: IntArray) -> pa.Array:
    if name == "age":
        return pa.array(codes)
    texts: list[str | None] = list(REGIONS if name == "region" else SEXES)
    if name in VALUES:
        texts = [None, *(f"{name} {ALPHABET[i % 26]}{i // 26 or ''}" for i in range(VALUES[name]))]
    return pa.array(texts).take(pa.array(codes))


def policy(k: int = 5) -> sf.Policy:
    """Return the policy of the clinic: ages in twenties, and k people in a group."""
    return sf.Policy(
        columns={
            "id": "identifier",
            "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [20]}},
            "region": "quasi-identifier",
            "sex": "quasi-identifier",
            **dict.fromkeys(VALUES, "sensitive"),
        },
        models=[sf.models.KAnonymity(k)],
    )
