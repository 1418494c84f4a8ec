"""Kinds of releases that have no ledger: the reason holds, and newcomers go by themselves."""

import random
from collections import Counter
from fractions import Fraction
from itertools import product

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError

ROLES = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}


def people(first, ills):
    return pa.table({"age": list(range(first, first + len(ills))), "ill": ills})


@pytest.mark.parametrize(
    ("method", "reason"),
    [
        ({"method": "bucketization", "l": 2}, "who shares a bucket was not drawn by lot"),
        (
            {"method": "slicing", "l": 2, "columns": ["age+sex", "ill"]},
            "who shares a bucket was not drawn by lot",
        ),
        (
            {"method": "slicing", "l": 2, "columns": ["sex", "age+ill"]},
            "a sensitive column stands in a slice with others",
        ),
    ],
)
def test_a_ledger_is_refused_with_the_reason_that_holds(tmp_path, method, reason):
    table = pa.table(
        {"age": [30] * 4 + [40] * 4, "ill": ["flu", "gout"] * 4, "sex": list("ffmm") * 2}
    )
    made = sf.decouple(table, method, quasi_identifiers=["age", "sex"], sensitive=["ill"])
    with pytest.raises(InputError, match="decouple the newcomers by themselves") as error:
        sf.Ledger.start(made, tmp_path / "a.ledger", alpha=0.5)
    assert reason in str(error.value)
    assert not (tmp_path / "a.ledger").exists()


METHODS = {
    "anatomy": {"method": "anatomy", "l": 2},
    "slicing": {"method": "slicing", "l": 2, "columns": ["age", "ill"]},
}


def tables_of(release):
    """Return the exact ages of each bucket, and how many of its people have each illness."""
    tables = [table.to_pylist() for table in release.tables.values()]
    rows = next(table for table in tables if "age" in table[0])
    counts = next(table for table in tables if "ill" in table[0])
    return {
        bucket: (
            [row["age"] for row in rows if row["bucket"] == bucket for _ in range(_times(row))],
            Counter(
                {row["ill"]: _times(row) for row in counts if row["bucket"] == bucket}
            ),
        )
        for bucket in sorted({row["bucket"] for row in rows})
    }  # fmt: skip


def _times(row):
    return int(row.get("count", 1))


def worlds(release):
    """Give every way to say who has what that the tables of a release allow."""
    every = []
    for ages, wanted in tables_of(release).values():
        ways = product(wanted, repeat=len(ages))
        every.append([dict(zip(ages, way, strict=True)) for way in ways if Counter(way) == wanted])
    return [{k: v for part in way for k, v in part.items()} for way in product(*every)]


def believe(every, age):
    """Return the strongest belief in an illness of a person, if all worlds are alike likely."""
    found = Counter(world[age] for world in every)
    return max(Fraction(n, len(every)) for n in found.values())


def draw_people(draw, first):
    """Return four people, of whom no illness has a share above one half."""
    while True:
        ills = draw.choices(["flu", "gout", "hiv"], k=4)
        if max(Counter(ills).values()) <= 2:
            return people(first, ills)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.usefixtures("patience")
def test_newcomers_in_buckets_of_their_own_leave_all_beliefs_as_they_were(method):
    """Two to three releases of random people, each decoupled by itself; all worlds are listed."""
    draw = random.Random(3)
    for seed in range(12):
        releases = [
            sf.decouple(draw_people(draw, 30 * i), METHODS[method], seed=seed, **ROLES)
            for i in range(1, draw.choice([3, 4]))
        ]
        each = [worlds(release) for release in releases]
        joint = [{k: v for part in way for k, v in part.items()} for way in product(*each)]
        for mine in each:
            for age in mine[0]:
                assert believe(mine, age) == believe(joint, age) <= Fraction(1, 2)


def test_who_comes_in_two_of_them_is_known_by_both():
    """The condition of the proof: each person is in one release only."""
    twice = [
        sf.decouple(people(30, ills), METHODS["anatomy"], seed=1, **ROLES)
        for ills in (["flu", "hiv"], ["flu", "gout"])
    ]
    same = [one for one in worlds(twice[0]) for two in worlds(twice[1]) if one[30] == two[30]]
    assert believe(same, 30) == 1
