"""What one policy teaches about a table is true of the next one."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from sfumato.counts import FrequencySet
from sfumato.errors import InfeasibleError
from sfumato.losses import LOSSES, Discernibility, Entropy
from sfumato.models import KAnonymity
from sfumato.policy import Policy
from sfumato.recode.deciding import Maker, checker_of, decide, prepare
from sfumato.recode.workshop import Workshop
from sfumato.search import BestFirst
from sfumato.typing import silent
from tests.search.problems import COLUMNS, MODEL_SETS, Problem, problems


def found(policy: Policy, counts: FrequencySet, maker: Maker):
    ready = prepare(policy, counts, maker=maker)
    checker = checker_of(policy, ready, rng=np.random.default_rng(7))
    *_, last = BestFirst().run(checker)
    return last


@pytest.mark.usefixtures("patience")
@given(problem=problems(), data=st.data())
def test_policies_in_a_row_find_what_each_finds_alone(problem: Problem, data):
    counts, workshop = problem.counts()[0], Workshop()
    for _ in range(4):
        models = data.draw(st.sampled_from([*MODEL_SETS, *([KAnonymity(k)] for k in (2, 3, 4, 6))]))
        loss = data.draw(st.sampled_from([problem.policy.loss, Discernibility(), Entropy()]))
        limit = data.draw(st.sampled_from([problem.policy.suppression, "100%"]))
        policy = problem.policy.replace(models=models, loss=loss, suppression=limit)
        alone, shared = found(policy, counts, Maker()), found(policy, counts, workshop)
        assert shared.loss == pytest.approx(alone.loss)
        assert (shared.node is None) == (alone.node is None)
        assert shared.proven == alone.proven
        if LOSSES[policy.loss.name].example() == policy.loss:
            assert shared.suppressed <= prepare(policy, counts).limit


def test_a_stricter_policy_needs_fewer_checks_than_alone():
    rng = np.random.default_rng(3)
    pools = [["a", "b", "c", "d"], ["0", "1", "2", "3"], ["round", "square"], ["flu", "hiv"]]
    rows = list(zip(*(rng.choice(pool, 300).tolist() for pool in pools), strict=True))
    counts = FrequencySet.from_rows(COLUMNS, rows)
    policy = Policy(
        columns={
            "letter": {"role": "quasi-identifier", "hierarchy": {"kind": "masking"}},
            "digit": {"role": "quasi-identifier", "hierarchy": {"kind": "masking"}},
            "shape": "quasi-identifier",
            "disease": "sensitive",
        },
        models=[KAnonymity(2)],
    )
    workshop = Workshop()
    found(policy, counts, workshop)
    again = found(policy, counts, workshop)
    assert again.proven
    assert again.checks <= found(policy, counts, Maker()).checks


@pytest.mark.usefixtures("patience")
def test_another_k_needs_a_part_of_the_checks():
    rng = np.random.default_rng(5)
    ages, zips = rng.integers(0, 99, 3000), rng.integers(10000, 10300, 3000)
    rows = [
        (f"{age:02}", str(code), "m" if age % 2 else "f")
        for age, code in zip(ages, zips, strict=True)
    ]
    counts = FrequencySet.from_rows(("age", "zip", "sex"), rows)
    masking = {"role": "quasi-identifier", "hierarchy": {"kind": "masking"}}
    columns = {"age": masking, "zip": masking, "sex": "quasi-identifier"}
    policy = Policy(columns=columns, models=[KAnonymity(5)], suppression="5%")
    workshop, ks = Workshop(), range(2, 12)
    each = [policy.replace(models=[KAnonymity(k)]) for k in ks]
    alone = [found(one, counts, Maker()).checks for one in each]
    shared = [found(one, counts, workshop).checks for one in each]
    assert sum(shared) <= sum(alone)


@pytest.mark.usefixtures("patience")
@given(problem=problems(), seed=st.integers(0, 99))
def test_a_table_is_decided_on_alike_whatever_a_workshop_has_at_hand(problem: Problem, seed: int):
    # Rows are suppressed, and those that are left are decided on again.
    counts, policy = problem.counts()[0], problem.policy.replace(suppression="30%")
    workshop, others = Workshop(measures=False), np.random.default_rng(seed)

    def made_by(table: FrequencySet, maker: Maker | None) -> object:
        rng = np.random.default_rng(seed)
        try:
            made = decide(policy, policy, table, None, rng=rng, report=silent, maker=maker)
        except InfeasibleError:
            return None
        levels = {name: about.get("level") for name, about in made.columns.items()}
        return levels, made.suppressed, made.sizes.tolist()

    for _ in range(3):
        rows = others.permutation(counts.rows)
        table = FrequencySet(counts.columns, counts.codes, rows)
        assert made_by(table, workshop) == made_by(table, None)
