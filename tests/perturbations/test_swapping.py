"""Rank and record swapping: pairs, counted and measured one by one."""

import math
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.perturbations import RankSwapping, RecordSwapping
from sfumato.perturbations.perturbing import perturb_cells
from sfumato.perturbations.rank_swapping import pair_up
from sfumato.perturbations.record_swapping import swap_within
from tests.perturbations.tables import (
    COLUMNS,
    cells_of,
    change,
    likelihood,
    number,
    seen,
    values_of,
)


@given(n=st.integers(0, 60), reach=st.integers(0, 20), seed=st.integers(0, 9))
def test_partners_are_each_others_and_near(n, reach, seed):
    partner = pair_up(n, reach, np.random.default_rng(seed)).tolist()
    assert sorted(partner) == list(range(n))
    for place, other in enumerate(partner):
        assert partner[other] == place
        assert abs(place - other) <= reach


@given(n=st.integers(50, 400), reach=st.integers(2, 50), seed=st.integers(0, 9))
def test_no_two_that_could_be_partners_have_none(n, reach, seed):
    partner = pair_up(n, reach, np.random.default_rng(seed))
    alone = np.flatnonzero(partner == np.arange(n))
    assert (np.diff(alone) > reach).all()


def test_partners_are_anywhere_within_reach():
    rng = np.random.default_rng(1)
    gaps = Counter(
        int(gap)
        for _ in range(200)
        for gap in np.abs(pair_up(200, 10, rng) - np.arange(200))
        if gap
    )
    # Each distance about as often as any other: none hardly ever.
    assert set(gaps) == set(range(1, 11))
    assert min(gaps.values()) > 0.6 * max(gaps.values())


def rank_distance(one, two, values) -> int:
    """How many ranks two values are apart at their best, of a sorted list with ties."""
    ordered = sorted(values)
    places = [[at for at, each in enumerate(ordered) if each == value] for value in (one, two)]
    return min(abs(a - b) for a in places[0] for b in places[1])


@given(values=COLUMNS, distance=st.sampled_from([1, 2, 5, "10%", "29%"]), seed=st.integers(0, 5))
def test_values_stay_and_move_no_further_than_stated(values, distance, seed):
    found = change(RankSwapping(distance=distance), values, seed)
    assert Counter(found) == Counter(values)
    known = [number(value) for value in values if value is not None]
    share = distance[:-1] if isinstance(distance, str) else None
    limit = distance if share is None else max(1, Fraction(share) / 100 * len(known) // 1)
    for before, after in zip(values, found, strict=True):
        if before is not None:
            assert rank_distance(number(before), number(after), known) <= limit


def test_a_share_of_the_rows_is_computed_exactly():
    assert RankSwapping(distance="29%").reach(100) == 29
    assert RankSwapping(distance="5%").reach(10) == 1
    assert RankSwapping(distance=3).reach(10) == 3


@given(values=st.lists(st.integers(-50, 50), unique=True, max_size=30), seed=st.integers(0, 5))
def test_rank_swapping_is_its_own_way_back(values, seed):
    found = change(RankSwapping(distance=3), values, seed)
    becomes = dict(zip(values, found, strict=True))
    assert all(becomes[becomes[value]] == value for value in values)


def test_texts_are_in_the_order_of_their_numbers():
    values = [str(n) for n in range(95, 115)]
    for seed in range(5):
        found = change(RankSwapping(distance=1), values, seed)
        pairs = zip(values, found, strict=True)
        assert all(abs(int(before) - int(after)) <= 1 for before, after in pairs)


@given(values=st.lists(st.sampled_from([1, 2, 3, 5, 9, None]), min_size=2, max_size=8))
def test_readers_take_for_possible_what_can_happen(values):
    member = RankSwapping(distance=2)
    shown = seen(values)
    possible = likelihood(member, shown) > 0
    for seed in range(10):
        for before, after in zip(values, change(member, values, seed), strict=True):
            assert possible[shown.values.index(before), shown.values.index(after)]
    known = [value for value in values if value is not None]
    for i, true in enumerate(shown.values):
        for j, published in enumerate(shown.values):
            if None in (true, published):
                assert possible[i, j] == (true is published)
            else:
                assert possible[i, j] == (rank_distance(true, published, known) <= 2)


@given(
    level=st.lists(st.integers(0, 4), max_size=40),
    share=st.sampled_from([0.05, 0.3, 0.5, 0.999]),
    seed=st.integers(0, 5),
)
def test_rows_exchange_in_pairs_within_their_level(level, share, seed):
    source = swap_within(np.array(level, dtype=np.int64), share, np.random.default_rng(seed))
    moved = Counter()
    for row, other in enumerate(source.tolist()):
        assert source[other] == row
        assert level[other] == level[row]
        moved[level[row]] += other != row
    for each, size in Counter(level).items():
        # The share of the rows, up to a pair, and no more than there are.
        exact = share * size / 2
        assert moved[each] / 2 in {
            min(pairs, size // 2) for pairs in (math.floor(exact), math.floor(exact) + 1)
        }


def test_small_levels_take_part_as_often_as_stated():
    level = np.repeat(np.arange(5000), 3)
    source = swap_within(level, 0.2, np.random.default_rng(1))
    # 0.3 pairs in each of 5,000 levels, five standard errors.
    pairs = (source != np.arange(len(level))).sum() / 2
    assert abs(pairs / 5000 - 0.3) < 5 * math.sqrt(0.3 * 0.7 / 5000)


@given(
    rows=st.lists(
        st.tuples(st.sampled_from("nsw"), st.sampled_from(["a", "b", None]), st.integers(0, 9)),
        max_size=30,
    ),
    seed=st.integers(0, 5),
)
def test_levels_keep_what_they_have_and_columns_stay_together(rows, seed):
    names = ("region", "town", "street")
    cells = {name: cells_of([row[i] for row in rows], name) for i, name in enumerate(names)}
    member = RecordSwapping(share=0.7, within=("region",))
    rules = {"town": (member,), "street": (member,)}
    found = perturb_cells(cells, rules, np.random.default_rng(seed))
    after = list(zip(values_of(found["town"]), values_of(found["street"]), strict=True))
    one, two = defaultdict(Counter), defaultdict(Counter)
    for (region, *before), changed in zip(rows, after, strict=True):
        one[region][tuple(before)] += 1
        two[region][changed] += 1
    assert one == two


def test_columns_stay_together_also_where_one_of_them_is_coded_before():
    from sfumato.perturbations import TopCoding

    n = 200
    cells = {"pay": cells_of(list(range(n))), "town": cells_of([f"t{i}" for i in range(n)], "town")}
    member = RecordSwapping(share="50%")
    rules = {"pay": (TopCoding(above=10_000), member), "town": (member,)}
    found = perturb_cells(cells, rules, np.random.default_rng(0))
    pay, town = values_of(found["pay"]), values_of(found["town"])
    assert [f"t{each}" for each in pay] == town
    assert pay != list(range(n))


def test_levels_are_those_of_true_values():
    region = ["n"] * 20 + ["s"] * 20
    cells = {"region": cells_of(region, "region"), "town": cells_of(list(range(40)), "town")}
    member = RecordSwapping(share="90%", within="region")
    rules = {"region": (RecordSwapping(share="80%"),), "town": (member,)}
    found = perturb_cells(cells, rules, np.random.default_rng(0))
    assert all((a < 20) == (b < 20) for a, b in enumerate(values_of(found["town"])))


@pytest.mark.usefixtures("patience")
def test_likelihoods_of_record_swapping_are_what_is_drawn():
    truth = ["a"] * 600 + ["b"] * 300 + ["c"] * 100
    member = RecordSwapping(share=0.4)
    shown = seen(truth)
    drawn, draws = np.zeros((3, 3)), 200
    for seed in range(draws):
        for before, after in Counter(zip(truth, change(member, truth, seed), strict=True)).items():
            drawn["abc".index(before[0]), "abc".index(before[1])] += after
    drawn /= drawn.sum(axis=1, keepdims=True)
    assert likelihood(member, shown) == pytest.approx(drawn, abs=0.01)


@pytest.mark.parametrize(
    ("kind", "settings", "says"),
    [
        (RankSwapping, {"distance": 2.5}, "a whole number"),
        (RankSwapping, {"distance": 0}, "distance"),
        (RankSwapping, {"distance": "100%"}, "distance"),
        (RecordSwapping, {"share": 5}, "as in 5% or 0.05"),
        (RecordSwapping, {"share": "5%", "within": ["a", "a"]}, "each once"),
        (RecordSwapping, {"share": "5%", "within": [7]}, "names of columns"),
    ],
)
def test_settings_that_mean_nothing_are_refused(kind, settings, says):
    with pytest.raises(ParameterError, match=says):
        kind(**settings)
