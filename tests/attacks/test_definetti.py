"""What joins decoupled tables, learned from the tables alone."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks import ATTACKS, DeFinetti, Target
from sfumato.attacks.adversary.judging import judge
from sfumato.attacks.adversary.target import target_of
from sfumato.attacks.pairing import Pairing, _learn, join_groups, learn_dependence
from sfumato.counts import FrequencySet
from sfumato.decouplings.base import GroupedTables
from sfumato.errors import ParameterError, UnknownColumnError
from sfumato.harm import HarmRule, Level
from sfumato.models import KAnonymity, TCloseness
from sfumato.releases.opening import open_release
from tests.attacks.planted import ILLS, break_merge, drugs, guess, published, signs

RULE = HarmRule()


# The textbook: every way of joining a group, one by one.


def join_by_hand(weights, known, told):
    """How many people of each known tuple have each value, over all ways of joining."""
    people = np.repeat(np.arange(len(known)), known)
    values = np.repeat(np.arange(len(told)), told)
    found, total = np.zeros((len(known), len(told))), 0.0
    for way in permutations(range(len(values))):
        likely = np.exp(sum(weights[p, values[v]] for p, v in zip(people, way, strict=True)))
        total += likely
        for p, v in zip(people, way, strict=True):
            found[p, values[v]] += likely
    return found / total


def join_fast(weights, known, told):
    three = weights[:, :, None]
    columns = [np.array(each, dtype=float)[:, None] for each in (known, told)]
    return join_groups(three, *columns, np.array([float(sum(known))]))[:, :, 0]


@pytest.mark.parametrize("seed", range(20))
def test_two_people_are_joined_exactly(seed):
    weights = np.random.default_rng(seed).normal(0, 2, (2, 2))
    assert np.allclose(
        join_fast(weights, [1, 1], [1, 1]), join_by_hand(weights, [1, 1], [1, 1]), atol=0.005
    )


@pytest.mark.parametrize("seed", range(30))
def test_small_groups_are_joined_nearly_as_all_ways_say(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    known, told = (_parts(rng, n) for _ in range(2))
    weights = rng.normal(0, 1.5, (len(known), len(told)))
    fast, slow = join_fast(weights, known, told), join_by_hand(weights, known, told)
    assert np.abs(fast - slow).max() < 0.13
    assert np.allclose(fast.sum(axis=0), told, atol=0.02)
    assert np.allclose(fast.sum(axis=1), known, atol=0.02)


def join_step_by_step(weights, known, told, rounds):
    """The iteration of one group as its formula says, in double precision."""
    power = 1 - 1 / known.sum()
    share = np.full((len(known), len(told)), 1 / known.sum())
    added, v = np.zeros_like(share), 1 / told
    for _ in range(rounds):
        added = 0.6 * added - 0.4 * power * np.log(1 - share)
        likely = np.exp(weights + added)
        u = 1 / (likely @ (told * v))
        v = 1 / (likely.T @ (known * u))
        share = u[:, None] * likely * v
    return share * known[:, None] * told


def test_many_groups_are_joined_as_each_of_them_is_step_by_step():
    # More groups than are worked on at a time.
    rng, n = np.random.default_rng(3), 4000
    known, told = (1 + rng.multinomial(3, np.ones(3) / 3, n).T.astype(float) for _ in range(2))
    weights = rng.normal(0, 1, (3, 3, n))
    fast = join_groups(weights, known, told, known.sum(axis=0), rounds=9)
    for at in (0, 1, 1999, 2000, n - 1):
        slow = join_step_by_step(weights[:, :, at], known[:, at], told[:, at], 9)
        assert np.allclose(fast[:, :, at], slow, atol=1e-4)


def _parts(rng, n):
    parts = int(rng.integers(2, n + 1))
    return (1 + rng.multinomial(n - parts, np.ones(parts) / parts)).tolist()


def test_without_weights_every_way_is_equally_likely():
    fast = join_fast(np.zeros((2, 3)), [2, 4], [1, 2, 3])
    assert np.allclose(fast, np.outer([2, 4], [1, 2, 3]) / 6)


def learn_by_hand(groups, sizes, rounds):
    """Expectation-maximisation over all ways of joining: the lifts after some rounds."""
    lifts = np.zeros(sizes)
    for _ in range(rounds):
        table = np.zeros(sizes)
        for known, told in groups:
            a, b = np.unique(known, return_counts=True)
            c, d = np.unique(told, return_counts=True)
            table[np.ix_(a, c)] += join_by_hand(lifts[np.ix_(a, c)], b, d)
        share = table.sum(axis=0) / table.sum()
        likely = (table + 2 * share) / (table.sum(axis=1, keepdims=True) + 2)
        lifts = np.log(likely / share)
    return lifts


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("seed", range(4))
def test_learning_is_nearly_that_over_all_ways(seed):
    rng = np.random.default_rng(seed)
    known = rng.integers(0, 3, (30, 4))
    told = np.where(rng.random((30, 4)) < 0.3, rng.integers(0, 3, (30, 4)), known)
    slow = learn_by_hand(list(zip(known, told, strict=True)), (3, 3), 16)
    group = np.repeat(np.arange(30), 4)
    ones = np.ones(120, dtype=int)
    pairing = Pairing.of(group, ones, [known.ravel()], group, ones, told.ravel())
    stages = _learn(pairing, [np.arange(30)])
    next(stages)
    fast = next(stages)[0][0, :-1]
    for a, b in permutations(range(3), 2):
        # Whatever scale a row or column has, the ratio of the odds is what joins people.
        odds = [x[a, a] + x[b, b] - x[a, b] - x[b, a] for x in (slow, fast)]
        assert abs(odds[0] - odds[1]) < 0.35 * max(1.0, abs(odds[0]))


# What an adversary finds, against what a textbook attack was measured to find.


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    ("size", "noise", "right"), [(6, 0.0, 0.97), (6, 0.2, 0.85), (12, 0.2, 0.82), (20, 0.2, 0.81)]
)
def test_break_merge_teaches_which_illness_a_drug_is_for(size, noise, right):
    rng = np.random.default_rng(size)
    secret = break_merge(*drugs(rng, 3000 // size * size, 6, noise), size)
    attack = DeFinetti("ill", known="drug")
    correct, sure = guess(secret, attack)
    assert correct.mean() >= right
    assert correct[sure >= 0.75].mean() >= 0.85
    outcome = attack.on(secret.target, RULE)
    assert outcome.level == Level.VERY_HIGH
    assert outcome.seed is not None
    assert "equally likely" in outcome.note


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("l", [3, 5])
def test_anatomy_teaches_what_quasi_identifiers_tell(l):
    secret = published(
        *signs(np.random.default_rng(l), 3000, 6, 4, 0.8), {"method": "anatomy", "l": l}
    )
    [attack] = DeFinetti.against(secret.target, RULE)
    correct, sure = guess(secret, attack)
    assert correct.mean() >= 0.97
    assert correct[sure >= 0.75].mean() >= 0.95
    assert attack.on(secret.target, RULE).people >= 2800


@pytest.mark.usefixtures("patience")
def test_one_binary_column_tells_illnesses_of_one_sex():
    rng = np.random.default_rng(5)
    sex = rng.integers(0, 2, 3000)
    ill = sex * 3 + rng.integers(0, 3, 3000)
    secret = published(
        {"sex": ["mf"[x] for x in sex]}, [ILLS[x] for x in ill], {"method": "anatomy", "l": 3}
    )
    [attack] = DeFinetti.against(secret.target, RULE)
    correct, sure = guess(secret, attack)
    assert correct.mean() >= 0.60
    assert (sure >= 0.75).mean() > 0.2
    assert correct[sure >= 0.75].mean() >= 0.95


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("l", [3, 5])
def test_slicing_teaches_what_the_other_slice_tells(l):
    columns, told = signs(np.random.default_rng(l), 3000, 6, 6, 0.6)
    names = "+".join([*columns, "number"])
    settings = {"method": "slicing", "l": l, "columns": [names, "ill"]}
    secret = published(columns, told, settings)
    [attack] = DeFinetti.against(secret.target, RULE)
    correct, sure = guess(secret, attack)
    assert correct.mean() >= 0.92
    assert correct[sure >= 0.75].mean() >= 0.95
    assert attack.on(secret.target, RULE).people > 300


@pytest.mark.usefixtures("patience")
def test_slices_that_overlap_are_joined_where_they_agree():
    rng = np.random.default_rng(3)
    columns, told = signs(rng, 2000, 4, 4, 0.8)
    columns["area"] = [f"a{x}" for x in rng.integers(0, 3, 2000)]
    first = "+".join([*columns, "number"])
    settings = {"method": "slicing", "l": 2, "columns": [first, "area+ill"]}
    secret = published(columns, told, settings)
    [attack] = DeFinetti.against(secret.target, RULE)
    correct, sure = guess(secret, attack)
    assert correct.mean() >= 0.9
    assert correct[sure >= 0.75].mean() >= 0.9
    outcome = attack.on(secret.target, RULE)
    assert outcome.people > 200
    assert "area" in outcome.worst[0].who


@pytest.mark.usefixtures("patience")
def test_the_whole_verdict_is_no():
    rng = np.random.default_rng(1)
    drug, ill = drugs(rng, 3000, 6, 0.0)
    areas = [f"area {at // 20}" for at in range(3000)]
    table = pa.table({"area": areas, "drug": drug, "ill": ill})
    release = sf.decouple(table, quasi_identifiers=["area"], sensitive=["drug", "ill"])
    found = sf.verify(release)
    assert found.answer == "no"
    assert found.attack("definetti", "ill").people > 2900


@pytest.mark.usefixtures("patience")
def test_advice_asks_for_more_than_the_policy_promises():
    rng = np.random.default_rng(1)
    secret = break_merge(*drugs(rng, 1200, 6, 0.0), 20)
    roles = {"area": "quasi-identifier", "drug": "sensitive", "ill": "sensitive"}

    def advice(*models):
        policy = sf.Policy(columns=roles, models=[KAnonymity(5), *models])
        found = judge(secret.target, ["definetti"], RULE, policy, ["area"])
        return next(each.advice for each in found.outcomes if each.column == "ill")

    assert "{model: t-closeness, column: ill, t: 0.1}" in advice()
    assert "{model: t-closeness, column: ill, t: 0.1}" in advice(TCloseness("drug", 0.1))
    assert "{model: t-closeness, column: ill, t: 0.08}" in advice(TCloseness("ill", 0.1))
    assert "{model: t-closeness, column: ill, t: 0.04}" in advice(TCloseness("ill", 0.05))


# What it must not find.


def draw_independent(rng):
    """A table without any dependence, in one of the forms it can be published in."""
    n, values = int(rng.choice([300, 1000, 3000])), int(rng.integers(2, 9))
    share = rng.dirichlet(np.full(values, rng.choice([0.5, 1, 10])))
    told = [ILLS[at] for at in rng.choice(values, n, p=share)]
    if rng.random() < 0.5:
        size, kinds = int(rng.choice([3, 5, 10, 25, 50])), int(rng.integers(2, 9))
        share = rng.dirichlet(np.full(kinds, rng.choice([0.5, 1, 10])))
        known = [f"drug {at}" for at in rng.choice(kinds, n, p=share)]
        return break_merge(known, told, size)
    columns = {
        f"q{at}": [f"v{x}" for x in rng.integers(0, rng.integers(2, 9), n)]
        for at in range(int(rng.integers(1, 5)))
    }
    largest = n // max(told.count(ill) for ill in set(told))
    if largest < 2:
        return break_merge(columns["q0"], told, 5)
    l = int(min(largest, rng.integers(2, 6)))
    method = "anatomy" if rng.random() < 0.5 else "slicing"
    settings = {"method": method, "l": l}
    if method == "slicing":
        settings["columns"] = ["+".join([*columns, "number"]), "ill"]
    return published(columns, told, settings)


@pytest.mark.usefixtures("patience")
def test_independent_columns_teach_nothing(some):
    wrong = []
    for seed in range(some(few=12, of=60)):
        secret = draw_independent(np.random.default_rng(1000 + seed))
        for attack in DeFinetti.against(secret.target, RULE):
            outcome = attack.on(secret.target, RULE)
            if outcome.level:
                wrong.append((seed, str(outcome), outcome.by_level))
    assert not wrong


def test_what_the_share_alone_tells_is_left_to_other_attacks():
    rows = [("a", "x", "flu")] * 40 + [("b", "x", "gout")] * 40
    rows += [(f"c{i}", "y", ill) for i in range(10) for ill in ("flu", "gout", "hiv", "ulcer")]
    counts = FrequencySet.from_rows(["area", "drug", "ill"], rows)
    grouped = GroupedTables.of(counts, ["area"], ["drug", "ill"])
    target = Target.of_grouped("break-merge", grouped)
    assert DeFinetti("ill", known="drug").on(target, RULE).level == Level.LOW


@pytest.mark.usefixtures("patience")
def test_the_same_release_is_always_judged_alike():
    secret = break_merge(*drugs(np.random.default_rng(3), 600, 4, 0.3), 6)
    attack = DeFinetti("ill", known="drug")
    again = replace(secret.target)
    assert attack.on(secret.target, RULE) == attack.on(again, RULE)


@pytest.mark.usefixtures("patience")
def test_missing_values_hide_no_one():
    rng = np.random.default_rng(4)
    drug, ill = drugs(rng, 1200, 4, 0.0)
    ill = [None if rng.random() < 0.2 else each for each in ill]
    secret = break_merge(drug, ill, 12)
    outcome = DeFinetti("ill", known="drug").on(secret.target, RULE)
    assert outcome.people > 1000
    assert not any("None" in case.believed for case in outcome.worst)


@pytest.mark.usefixtures("patience")
def test_a_harmless_value_harms_no_one():
    drug, ill = drugs(np.random.default_rng(6), 1200, 4, 0.0)
    rows = {"area": [f"a{at // 12}" for at in range(1200)], "drug": drug, "ill": ill}
    roles = {"area": "quasi-identifier", "drug": "sensitive"}
    columns = {**roles, "ill": {"role": "sensitive", "harmless": sorted(set(ill))}}
    release = sf.decouple(pa.table(rows), quasi_identifiers=["area"], sensitive=["drug", "ill"])
    policy = {"columns": columns, "models": [{"model": "k-anonymity", "k": 12}]}
    found = sf.verify(release, policy, attacks=["definetti"])
    assert found.attack("definetti", "ill").people == 0
    assert found.attack("definetti", "drug").people > 1000


def test_many_values_are_bounded_and_it_is_said():
    rng = np.random.default_rng(7)
    told = [f"ill {x}" for x in rng.integers(0, 200, 2000)]
    secret = break_merge([f"d{x}" for x in rng.integers(0, 5, 2000)], told, 20)
    note = DeFinetti("ill", known="drug").on(secret.target, RULE).note
    assert "All but the 64 commonest values of ill are taken together." in note


# What can be tried.


def test_a_table_in_one_piece_has_nothing_to_join():
    counts = FrequencySet.from_rows(["age", "ill"], [("30s", "flu")])
    target = Target.of_table(counts, ("age",), ("ill",))
    assert DeFinetti.against(target, RULE) == []
    assert DeFinetti.why_not(target) == "the table is in one piece: nothing has to be joined"


def test_few_groups_cannot_be_told_from_chance():
    secret = break_merge(*drugs(np.random.default_rng(0), 50, 4, 0.0), 10)
    assert DeFinetti.against(secret.target, RULE) == []
    assert "there are 5 groups, too few" in DeFinetti.why_not(secret.target)


def test_every_pair_of_sensitive_columns_is_tried_as_far_as_there_is_room():
    rng = np.random.default_rng(2)
    names = [f"s{at}" for at in range(8)]
    rows = [(f"a{at // 5}", *rng.integers(0, 3, 8).tolist()) for at in range(100)]
    counts = FrequencySet.from_rows(["area", *names], rows)
    target = Target.of_grouped("break-merge", GroupedTables.of(counts, ["area"], names))
    tried = {(each.known, each.column) for each in DeFinetti.against(target, RULE)}
    assert len(tried) == 40
    assert all((told, known) in tried for known, told in tried)


def test_wrong_columns_are_refused():
    secret = break_merge(*drugs(np.random.default_rng(0), 120, 4, 0.0), 10)
    with pytest.raises(UnknownColumnError, match="'pay'"):
        DeFinetti("pay").on(secret.target, RULE)
    with pytest.raises(ParameterError, match=r"known.*\['drug'\]"):
        DeFinetti("ill", known="area").on(secret.target, RULE)


@pytest.mark.usefixtures("patience")
def test_the_other_table_need_not_be_named():
    secret = break_merge(*drugs(np.random.default_rng(0), 600, 4, 0.0), 10)
    assert DeFinetti("ill").on(secret.target, RULE).people == 600
    assert ATTACKS["definetti"] is DeFinetti


@pytest.mark.usefixtures("patience")
def test_a_release_in_a_folder_is_read_again(tmp_path):
    columns, told = signs(np.random.default_rng(0), 600, 4, 3, 0.9)
    table = pa.table({**columns, "ill": told})
    place = tmp_path / "release"
    sf.decouple(
        table,
        {"method": "anatomy", "l": 2},
        quasi_identifiers=list(columns),
        sensitive=["ill"],
        output=place,
        format="csv",
    )
    target = target_of(open_release(place))
    [attack] = DeFinetti.against(target, RULE)
    assert attack.known == "q0+q1+q2"
    assert attack.on(target, RULE).of == 600


def test_what_was_learned_says_on_how_many_groups():
    rng = np.random.default_rng(0)
    group, drug = np.repeat(np.arange(40), 5), rng.integers(0, 4, 200)
    ones = np.ones(200, dtype=int)
    found = learn_dependence(Pairing.of(group, ones, [drug], group, ones, drug))
    assert found.learned_on == 20
    assert found.as_likely <= 0.005
