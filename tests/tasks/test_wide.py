"""Many quasi-identifiers: lattices nobody can walk through."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.search.best_first import default_checks

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
        search={"search": "best-first"} | search,
    )


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("columns", [20, 60, 100])
def test_a_budget_gives_a_verified_release_that_says_it_is_not_proven(columns):
    release = sf.anonymize(wide(columns, 1000), policy(columns, checks=150))
    assert release.verdict.holds
    assert not release.optimal
    assert release.suppressed <= 50
    # It found something better than everything at the top.
    assert sum(release.levels.values()) < 3 * columns


@pytest.mark.usefixtures("patience")
def test_a_wide_table_is_searched_without_suppression_too():
    # A flag for each node of this lattice would take a terabyte.
    few = policy(20, checks=60).replace(suppression=0)
    release = sf.anonymize(wide(20, 400), few)
    assert release.verdict.holds
    assert release.suppressed == 0


@pytest.mark.usefixtures("patience")
def test_a_release_says_how_far_from_the_best_it_may_be_and_publishes_it_nowhere(tmp_path):
    table = wide(6, 300)
    best = sf.anonymize(table, policy(6))
    assert best.optimal
    assert best.excess == 0.0
    assert best.bound == pytest.approx(best.loss)
    near = sf.anonymize(table, policy(6, checks=20), output=tmp_path / "near")
    assert not near.optimal
    assert 0.0 < near.bound <= best.loss <= near.loss
    assert near.loss <= best.loss * (1.0 + near.excess)
    assert "% above the best there is" in near.headline
    assert near.to_dict()["bound"] == near.bound
    written = [path.read_bytes() for path in (tmp_path / "near").rglob("*") if path.is_file()]
    assert written
    assert not any(str(near.bound).encode() in each or b'"bound"' in each for each in written)


@pytest.mark.usefixtures("patience")
def test_a_budget_in_seconds_is_kept():
    release = sf.anonymize(wide(60, 1000), policy(60, seconds=0.5))
    assert release.verdict.holds
    assert release.manifest.private.search.checks > 1


def test_eleven_columns_of_ten_people_need_no_budget():
    release = sf.anonymize(wide(11, 10), policy(11))
    assert release.verdict.holds
    assert release.optimal


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("search", ["exhaustive", "incognito"])
def test_a_search_of_every_node_that_would_never_end_is_refused(search):
    with pytest.raises(ParameterError) as caught:
        sf.anonymize(wide(100, 24), policy(100, search=search))
    assert str(caught.value).startswith(
        "search must be best-first or descent, or have a budget such as seconds: 60, got "
    )
    assert "there are about 10^60 of them" in str(caught.value)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("search", ["exhaustive", "incognito"])
def test_with_a_budget_it_ends_with_a_release_that_is_not_proven(search):
    release = sf.anonymize(wide(100, 24), policy(100, search=search, checks=20))
    assert release.verdict.holds
    assert not release.optimal
    assert "optimal" in str(release.content())


def test_without_a_budget_fewer_nodes_are_checked_where_a_check_takes_long():
    def checks(columns, combinations):
        codes = np.broadcast_to(np.int64(0), (columns, combinations))
        return default_checks(SimpleNamespace(grouping=SimpleNamespace(codes=codes)))

    assert checks(12, 30_000) == 2000
    assert checks(200, 1_000) == 2000
    assert 100 <= checks(200, 100_000) < 500
    assert checks(1000, 10**7) == 100
