"""Tables in which columns depend on each other as strongly as is asked, published apart."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.attacks import DeFinetti, Target
from sfumato.attacks.adversary.target import target_of
from sfumato.counts import FrequencySet
from sfumato.decouplings.base import GroupedTables
from sfumato.releases.opening import open_release

ILLS = ("hiv", "flu", "gout", "cancer", "ulcer", "asthma", "angina", "scurvy")


class Secret(NamedTuple):
    """A release, and what is true of each of its people."""

    target: Target
    people: list[dict]
    """What each person is known by, in the words of the release but for the bucket."""

    true: list[str]


def break_merge(known, told, size):
    """Groups of a size, in each of which two columns are counted apart."""
    areas = [f"area {at // size}" for at in range(len(told))]
    rows = list(zip(areas, known, told, strict=True))
    counts = FrequencySet.from_rows(["area", "drug", "ill"], rows)
    grouped = GroupedTables.of(counts, ["area"], ["drug", "ill"])
    people = [{"area": area, "drug": drug} for area, drug, _ in rows]
    return Secret(Target.of_grouped("break-merge", grouped), people, list(told))


def published(columns, told, settings, seed=0):
    """A table decoupled into buckets. A number tells people apart, and teaches nothing."""
    columns = {**columns, "number": [f"n{at}" for at in range(len(told))]}
    names = list(columns)
    rows = list(zip(*columns.values(), told, strict=True))
    made = sf.decouplings.DECOUPLINGS[settings.pop("method")](**settings)
    table = pa.table({**columns, "ill": told})
    release = sf.decouple(table, made, quasi_identifiers=names, sensitive=["ill"], seed=seed)
    people = [dict(zip(names, row, strict=False)) for row in rows]
    return Secret(target_of(open_release(release)), people, list(told))


def drugs(rng, n, values, noise):
    """A drug, and an illness that follows from it but for some people."""
    drug = rng.integers(0, values, n)
    ill = np.where(rng.random(n) < noise, rng.integers(0, values, n), drug)
    return [f"drug {at}" for at in drug], [ILLS[at] for at in ill]


def signs(rng, n, values, columns, strength):
    """An illness, and columns each of which follows from it for some people."""
    ill = rng.integers(0, values, n)
    codes = {
        f"q{at}": np.where(
            rng.random(n) < strength, (ill * (at + 1) + at) % 7, rng.integers(0, 7, n)
        )
        for at in range(columns)
    }
    return {name: [f"v{x}" for x in code] for name, code in codes.items()}, [ILLS[i] for i in ill]


def guess(secret, attack: DeFinetti):
    """Guess the value of every person; give which guesses are right, and how sure they are."""
    dependence = attack.dependence(secret.target)
    sides = attack.read(secret.target)
    values = len(sides.column.values)
    belief = np.zeros((len(sides.pairing.known_group), values))
    for batch, people in dependence.join():
        shape = people.shape
        entry = np.broadcast_to(batch.known[:, None], shape)
        code = sides.code[np.broadcast_to(batch.told, shape)]
        some = (people > 0) & (code >= 0)
        np.add.at(belief, (entry[some], code[some]), people[some])
    belief /= belief.sum(axis=1, keepdims=True)
    places = {}
    for at in range(len(belief)):
        held = {k: v for k, v in sides.known.at(at).items() if k != "bucket"}
        places[tuple(sorted(held.items()))] = at
    mine = belief[[places[tuple(sorted(person.items()))] for person in secret.people]]
    number = {value: at for at, value in enumerate(sides.column.values)}
    true = np.array([number[value] for value in secret.true])
    return mine.argmax(axis=1) == true, mine.max(axis=1)
