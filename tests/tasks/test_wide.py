"""Many quasi-identifiers: lattices nobody can walk through."""

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf

TREE = sf.hierarchy.Taxonomy(
    {"a": {"a1": ["0", "1"], "a2": ["2", "3"]}, "b": {"b1": ["4", "5"], "b2": ["6", "7"]}}
)


def wide(columns: int, rows: int) -> pa.Table:
    rng = np.random.default_rng(7)
    return pa.table(
        {f"q{i}": rng.integers(0, 8, rows).astype(str).tolist() for i in range(columns)}
        | {"s": rng.integers(0, 3, rows).astype(str).tolist()}
    )


def policy(columns: int, **search) -> sf.Policy:
    rules = {f"q{i}": {"role": "quasi-identifier", "hierarchy": TREE} for i in range(columns)}
    return sf.Policy(
        columns=rules | {"s": "sensitive"},
        models=[sf.models.KAnonymity(5)],
        suppression="5%",
        search={"search": "best-first", **search},
    )


@pytest.mark.parametrize("columns", [20, 60, 100])
def test_a_budget_gives_a_verified_release_that_says_it_is_not_proven(columns):
    release = sf.anonymize(wide(columns, 1000), policy(columns, checks=150))
    assert release.verdict.holds
    assert not release.optimal
    assert release.suppressed <= 50
    # It found something better than everything at the top.
    assert sum(release.levels.values()) < 3 * columns


def test_a_budget_in_seconds_is_kept():
    release = sf.anonymize(wide(60, 1000), policy(60, seconds=0.5))
    assert release.verdict.holds
    assert release.manifest.private.search.checks > 1


def test_eleven_columns_of_ten_people_need_no_budget():
    release = sf.anonymize(wide(11, 10), policy(11))
    assert release.verdict.holds
    assert release.optimal
