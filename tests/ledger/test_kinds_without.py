"""Kinds of releases that have no ledger: the reason holds, and newcomers go by themselves."""

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
        ({"method": "anatomy", "l": 2}, "would have to keep the rows of all of them"),
        (
            {"method": "slicing", "l": 2, "columns": ["age+sex", "ill"]},
            "would have to keep the rows of all of them",
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


def worlds(release):
    """Give every way to say who has what that the tables of an Anatomy release allow."""
    tables = {name: table.to_pylist() for name, table in release.tables.items()}
    rows = tables.pop("qi")
    [counts] = tables.values()
    every = []
    for bucket in sorted({row["bucket"] for row in rows}):
        ages = [row["age"] for row in rows if row["bucket"] == bucket]
        wanted = {row["ill"]: int(row["count"]) for row in counts if row["bucket"] == bucket}
        ways = product(wanted, repeat=len(ages))
        every.append([dict(zip(ages, way, strict=True)) for way in ways if Counter(way) == wanted])
    return [{k: v for part in way for k, v in part.items()} for way in product(*every)]


def test_newcomers_in_buckets_of_their_own_leave_all_beliefs_as_they_were():
    method = {"method": "anatomy", "l": 2}
    releases = [
        sf.decouple(table, method, seed=1, **ROLES)
        for table in (people(30, ["flu", "gout", "flu", "hiv"]), people(60, ["flu", "gout"] * 2))
    ]
    each = [worlds(release) for release in releases]
    joint = [{**one, **other} for one, other in product(*each)]
    for mine in each:
        for age in mine[0]:
            alone = Counter(world[age] for world in mine)
            both = Counter(world[age] for world in joint)
            for ill, n in alone.items():
                belief = Fraction(n, len(mine))
                assert belief == Fraction(both[ill], len(joint)) <= Fraction(1, 2)
