"""With `sensitive_blind`, quasi-identifiers choose and models only refuse."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.counts import FrequencySet
from sfumato.errors import InfeasibleError
from sfumato.losses import LOSSES
from sfumato.models import DistinctLDiversity, EntropyLDiversity, KAnonymity
from sfumato.partition import BottomUp, TopDown
from sfumato.partition.base import starting_groups
from sfumato.partition.bottomup import _Pool
from sfumato.policy import Policy
from sfumato.recode.deciding import counted_columns, make_checker, make_problem, prepare
from sfumato.search import SEARCHES, Exhaustive

QUASI = st.lists(
    st.tuples(st.sampled_from(["10", "11", "20", "21"]), st.sampled_from(["ax", "ay", "bx", "by"])),
    min_size=4,
    max_size=16,
)
COLUMNS = {
    "zip": {"role": "quasi-identifier", "hierarchy": "masking"},
    "job": {"role": "quasi-identifier", "hierarchy": "masking"},
    "ill": "sensitive",
}


def policy_of(*, blind: bool = True, **settings) -> Policy:
    models = [KAnonymity(2), DistinctLDiversity("ill", l=2)]
    return Policy(**{"columns": COLUMNS, "models": models, "sensitive_blind": blind, **settings})


def counts_of(policy, quasi, ills) -> FrequencySet:
    rows = [(*row, ill) for row, ill in zip(quasi, ills, strict=True)]
    return FrequencySet.from_rows(["zip", "job", "ill"], rows).project(counted_columns(policy))


def problems(policy, quasi, seed):
    """Give the same people twice, with their illnesses drawn anew."""
    rng = np.random.default_rng(seed)
    for _ in range(2):
        counts = counts_of(policy, quasi, rng.choice(["a", "b", "c"], len(quasi)).tolist())
        yield make_problem(policy, prepare(policy, counts))


@pytest.mark.parametrize("best", ["rows", "loss"])
@settings(max_examples=60)
@given(quasi=QUASI, seed=st.integers(0, 10**6))
def test_top_down_chooses_the_same_attribute_whatever_people_have(best, quasi, seed):
    chosen = {
        tuple(TopDown(best=best)._choose(problem, starting_groups(problem)).tolist())
        for problem in problems(policy_of(), quasi, seed)
    }
    assert len(chosen) == 1


@settings(max_examples=40)
@given(quasi=QUASI, seed=st.integers(0, 10**6))
def test_bottom_up_goes_through_the_nodes_in_the_same_order(quasi, seed):
    orders = set()
    for problem in problems(policy_of(), quasi, seed):
        pool, order = _Pool(problem), []
        for node in BottomUp()._nodes(problem, pool):
            order.append(node)
            # Some leave on the way, others in the other table.
            pool.keep(np.arange(len(pool.items)) % 3 != seed % 3)
        orders.add(tuple(order))
    assert len(orders) == 1


@settings(max_examples=40)
@given(quasi=QUASI, seed=st.integers(0, 10**6), loss=st.sampled_from(sorted(LOSSES)))
def test_the_loss_of_a_node_does_not_depend_on_who_is_suppressed(quasi, seed, loss):
    policy = policy_of(suppression=len(quasi), loss=loss)
    rng = np.random.default_rng(seed)
    found = set()
    for _ in range(3):
        counts = counts_of(policy, quasi, rng.choice(["a", "b", "c"], len(quasi)).tolist())
        checker = make_checker(policy, counts)
        found.add(tuple(checker.evaluate(node).loss for node in checker.lattice))
    assert len(found) == 1


@pytest.mark.parametrize("search", ["best-first", "incognito", "descent"])
@settings(max_examples=25)
@given(quasi=QUASI, seed=st.integers(0, 10**6), loss=st.sampled_from(sorted(LOSSES)))
def test_searches_find_the_best_node_by_that_loss(search, quasi, seed, loss):
    policy = policy_of(suppression=len(quasi) // 3, loss=loss)
    ills = np.random.default_rng(seed).choice(["a", "b", "c"], len(quasi)).tolist()
    counts = counts_of(policy, quasi, ills)
    *_, truth = Exhaustive().run(make_checker(policy, counts))
    *_, found = SEARCHES[search]().run(make_checker(policy, counts))
    if found.proven:
        assert (found.node is None) == (truth.node is None)
        assert found.loss == pytest.approx(truth.loss)


@pytest.mark.parametrize("method", ["full-domain", "regional", "top-down", "mondrian", "bottom-up"])
@settings(max_examples=25)
@given(quasi=QUASI, seed=st.integers(0, 10**6), entropy=st.booleans())
def test_blind_releases_keep_their_promises(method, quasi, seed, entropy):
    ills = np.random.default_rng(seed).choice(["a", "b", "c"], len(quasi)).tolist()
    table = pa.table({"zip": [z for z, _ in quasi], "job": [j for _, j in quasi], "ill": ills})
    models = [KAnonymity(2), EntropyLDiversity("ill", l=1.6)] if entropy else None
    policy = policy_of(suppression=2, **({"models": models} if models else {}))
    try:
        release = sf.anonymize(table, policy, method=method)
    except InfeasibleError:
        return
    assert release.verdict.holds
    assert len(release.table) + release.suppressed == len(quasi)


def test_it_is_a_setting_of_policies():
    policy = policy_of()
    assert policy.sensitive_blind
    assert Policy.from_yaml(policy.to_yaml()) == policy
    assert "sensitive_blind" not in policy_of(blind=False).to_yaml()
