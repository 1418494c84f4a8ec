"""Classes are the same whatever they are made of: hubs, kept partitions, all tuples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.counts import FrequencySet
from sfumato.policy import Policy
from sfumato.recode.deciding import make_checker
from sfumato.search import BestFirst, Exhaustive, starts
from tests.search.problems import problems


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch):
    """Look for hubs in small tables too, and keep next to nothing."""
    monkeypatch.setattr(starts, "_WORTH_A_HUB", 1)
    monkeypatch.setattr(starts, "_CACHED_BYTES", 1500)


@settings(max_examples=30)
@given(problems(), st.randoms(use_true_random=False))
def test_a_partition_does_not_depend_on_what_was_asked_before(problem, random):
    checker = problem.checker()
    grouping, fresh = checker.grouping, problem.checker().grouping
    nodes = [*checker.lattice, *checker.lattice]
    random.shuffle(nodes)
    for node in nodes:
        part, direct = grouping.partition(node), fresh._roll_up(fresh.base, node)
        assert part.rows.tolist() == direct.rows.tolist()
        own = np.arange(len(part.rows))
        assert grouping.spread(part, own).tolist() == fresh.spread(direct, own).tolist()
        # A tuple of each class is in it.
        assert grouping.spread(part, own)[part.first].tolist() == own.tolist()
        for name in grouping.sensitive:
            mine, theirs = grouping.entries(part, name), fresh.entries(direct, name)
            for one in ("item", "value", "rows"):
                assert getattr(mine, one).tolist() == getattr(theirs, one).tolist()


def test_classes_are_those_of_the_node_also_if_their_number_was_guessed_wrongly(monkeypatch):
    masked = {"role": "quasi-identifier", "hierarchy": {"kind": "masking"}}
    policy = Policy(
        columns={"place": masked, "year": masked}, models=[{"model": "k-anonymity", "k": 2}]
    )
    rows = [(f"{place}", f"{year}") for place in range(10, 13) for year in (70, 71, 80, 90)]
    grouping = make_checker(policy, FrequencySet.from_rows(["place", "year"], rows)).grouping
    # A node of nearly as many classes as there are tuples promises to be a good start.
    monkeypatch.setattr(grouping, "_guess", lambda _: 1.0)
    for node in [(0, 1), (0, 1)]:
        direct = grouping._roll_up(grouping.base, node)
        assert grouping.partition(node).rows.tolist() == direct.rows.tolist()


@pytest.mark.usefixtures("patience")
@settings(max_examples=50)
@given(problems())
def test_the_optimum_is_that_of_the_exhaustive_search(problem):
    *_, mine = BestFirst().run(problem.checker())
    *_, theirs = Exhaustive().run(problem.checker())
    assert (mine.node is None) == (theirs.node is None)
    assert mine.loss == pytest.approx(theirs.loss)
    assert mine.proven


def test_what_is_not_used_goes_first_when_memory_is_short():
    def part(node, classes):
        wide = np.zeros(classes, dtype=np.int32)
        return starts.NodeClasses(node, wide, None, (wide, ()))

    kept = starts.Starts(part((0, 0), 1000))
    kept.keep(part((0, 1), 60))
    kept.keep(part((1, 0), 60))
    assert kept.nearest((0, 2)).node == (0, 1)
    kept.keep(part((2, 2), 70))
    assert kept.nearest((0, 2)).node == (0, 1)
    assert kept.nearest((1, 0)).node == (0, 0)
