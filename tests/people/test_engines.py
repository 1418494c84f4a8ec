"""People are counted alike wherever rows are: in memory, in files and in every database."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from tests.tables import databases
from tests.tables.conftest import POSTGRES, SPARK

pytestmark = databases.LEAVES_SOCKETS_OPEN

RNG = np.random.default_rng(4)
PEOPLE, N = 90, 420
WHO = np.concatenate([np.arange(PEOPLE), RNG.integers(0, PEOPLE, N - PEOPLE)])
PANEL = pa.table(
    {
        "the id": [f"p{who}" for who in WHO],
        "age": RNG.integers(20, 60, PEOPLE)[WHO] + RNG.integers(0, 4, N),
        "sex": np.array(["f", "m"])[RNG.integers(0, 2, PEOPLE)][WHO],
        "ill": RNG.choice(["flu", "gout", "hiv", "cold"], N),
        "number": np.arange(N),
    }
)


def policy_of(unit, method="full-domain"):
    ages = {"kind": "intervals", "widths": [5, 10, 20]}
    return sf.Policy(
        columns={
            "the id": "identifier",
            "age": {"role": "quasi-identifier", "hierarchy": ages},
            "sex": "quasi-identifier",
            "ill": "sensitive",
            "number": "plain",
        },
        models=[sf.models.KAnonymity(5), sf.models.ProbabilisticLDiversity("ill", 1.2)],
        person="the id",
        suppression={"limit": "20%", "unit": unit},
        method=method,
    )


@pytest.fixture(params=["duck", POSTGRES, SPARK])
def database(request):
    return request.getfixturevalue(request.param)


def require_people(published: pa.Table) -> None:
    """Ask a database of its own for the people of every class: an independent query."""
    rows = published.join(PANEL.select(["number", "the id"]), "number")  # noqa: F841 - asked below
    asked = """
        SELECT count(DISTINCT "the id") AS people,
               max(of_value) AS most
        FROM rows JOIN (
            SELECT age, sex, ill, count(DISTINCT "the id") AS of_value
            FROM rows GROUP BY ALL
        ) USING (age, sex, ill)
        GROUP BY age, sex
    """
    for people, most in duckdb.sql(asked).fetchall():
        assert people >= 5
        assert most * 1.2 <= people + 1e-9


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("unit", ["rows", "people"])
def test_a_release_from_a_database_is_that_of_the_same_rows_in_memory(database, unit):
    policy = policy_of(unit)
    expected = sf.anonymize(PANEL, policy)
    release = sf.anonymize(database.load(PANEL), policy, output="table:released")
    published = database.read("released")
    require_people(published)
    require_people(expected.table)
    assert release.levels == expected.levels
    assert release.suppressed == expected.suppressed
    assert sorted(published["number"].to_pylist()) == sorted(expected.table["number"].to_pylist())
    if unit == "people":
        left = {WHO[number] for number in published["number"].to_pylist()}
        assert len(published) == sum(who in left for who in WHO)
