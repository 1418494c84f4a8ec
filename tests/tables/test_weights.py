"""Weights in databases: the same numbers as from memory, and no row leaves."""

import math
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError, PolicyError
from sfumato.tables import Table, open_table
from tests.tables import databases

pytestmark = databases.LEAVES_SOCKETS_OPEN

N = 300
RNG = np.random.default_rng(4)
PEOPLE = pa.table(
    {
        "age": pa.array(RNG.integers(18, 78, N), pa.int64()),
        "sex": pa.array([None if i % 29 == 0 else "fm"[i % 2] for i in range(N)]),
        "ill": [["flu", "gout", "cold"][i % 3] for i in range(N)],
        "w": RNG.gamma(2, 30, N).round(4),
        "r": pa.array(RNG.integers(0, 3, N), pa.int64()),
    }
)
AGE = {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10, 20, 40]}}


def policy(weight="weight", **more):
    columns = {"age": AGE, "sex": "quasi-identifier", "ill": "sensitive", "w": weight}
    models = [{"model": "k-anonymity", "k": 8}]
    return sf.Policy(columns={**columns, "r": "weight"}, models=models, **more)


def weights_of(table: pa.Table) -> dict:
    """Return the weights of each class, and how many rows have them; checks nothing."""
    found: dict = {}
    for row in table.to_pylist():
        key = row["age"], row["sex"]
        found.setdefault(key, []).append((row["w"], row["r"]))
    return found


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("suppression", ["remove", "star"])
@pytest.mark.parametrize("step", [None, 5])
def test_a_database_publishes_the_same_weights(database, suppression, step):
    rules = policy(
        {"role": "weight", "round": step}, suppression={"limit": "15%", "rows": suppression}
    )
    release = sf.anonymize(database.stored(PEOPLE, "people"), rules, output="table:released")
    assert release.verdict["weights"].status == "holds"
    mine = weights_of(sf.anonymize(PEOPLE, rules).table)
    theirs = weights_of(database.read("released"))
    assert release.manifest.rows.suppressed
    assert {key: len(rows) for key, rows in mine.items()} == {
        key: len(rows) for key, rows in theirs.items()
    }
    for key, rows in mine.items():
        for here, there in zip(sorted(rows, key=str), sorted(theirs[key], key=str), strict=True):
            for one, other in zip(here, there, strict=True):
                assert one == other or math.isclose(one, other, rel_tol=1e-9)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", ["top-down", "mondrian", "bottom-up", "mdav"])
def test_local_recoding_in_a_database_keeps_the_sum_of_weights(quick_database, method):
    stored = quick_database.stored(PEOPLE, "people")
    release = sf.anonymize(stored, policy(method=method), output="table:released")
    assert release.verdict["weights"].status == "holds"
    total = math.fsum(PEOPLE["w"].to_pylist())
    published = quick_database.read("released")["w"].to_pylist()
    assert math.isclose(math.fsum(published), total, rel_tol=1e-9)


def test_what_a_database_cannot_do_is_refused(quick_database):
    stored = quick_database.stored(PEOPLE, "people")
    noisy = policy({"role": "weight", "perturb": "5%"})
    with pytest.raises(PolicyError, match="noise is not drawn in a database"):
        sf.anonymize(stored, noisy, output="table:released")
    text = PEOPLE.set_column(3, "w", pa.array(["many"] * N))
    with pytest.raises(InputError, match="no number"):
        sf.anonymize(quick_database.stored(text, "texts"), policy(), output="table:released")
    lacking = PEOPLE.set_column(3, "w", pa.array([None, *[1.0] * (N - 1)]))
    with pytest.raises(InputError, match="1 of 300 rows have none"):
        sf.anonymize(quick_database.stored(lacking, "lacking"), policy(), output="table:released")


def test_weights_are_added_up_where_the_rows_are(database):
    """The sums of each combination, in memory, in a database, and one by one."""
    truth: dict = {}
    for row in PEOPLE.to_pylist():
        key = row["sex"], row["ill"]
        truth[key] = truth.get(key, 0.0) + row["w"]
    for table in (open_table(PEOPLE), open_table(database.stored(PEOPLE, "people"))):
        for count in (table.count_weighted, partial(Table.count_weighted, table)):
            counts, people = count(("sex", "ill"), "w")
            assert np.array_equal(counts.rows, table.count(("sex", "ill")).rows)
            found = {
                tuple(c.values[i] for c, i in zip(counts.columns, codes, strict=True)): each
                for codes, each in zip(counts.codes.T, people.tolist(), strict=True)
            }
            assert found.keys() == truth.keys()
            assert all(math.isclose(found[key], truth[key], rel_tol=1e-9) for key in truth)


@pytest.mark.usefixtures("patience")
def test_an_inspection_in_a_database_estimates_the_same_people(quick_database):
    stored = quick_database.stored(PEOPLE, "people")
    here, there = (sf.inspect(each, policy=policy(), subsets=0) for each in (PEOPLE, stored))
    assert math.isclose(here.estimated.average, there.estimated.average, rel_tol=1e-9)
    assert math.isclose(here.estimated.smallest, there.estimated.smallest, rel_tol=1e-9)
