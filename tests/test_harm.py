"""The one rule for harm: levels, secrecy, and what chance explains."""

from fractions import Fraction
from math import comb, exp, factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.harm import (
    FEWEST,
    Chance,
    HarmRule,
    Level,
    Secrecy,
    chance_of_values,
    count_tail,
    draw_tail,
)

RULE = HarmRule()
LEVELS = (Level.MODERATE, Level.HIGH, Level.VERY_HIGH)
shares = st.integers(0, 60).map(lambda n: n / 60)


def level_by_hand(before: Fraction, after: Fraction) -> Level:
    """Judge one belief in the words of the rule."""
    if after <= before:
        return Level.LOW
    sure = before < Fraction(3, 4) and 1 - after <= (1 - before) / 4
    if after >= Fraction(3, 4) and (after >= 2 * before or (sure and before <= Fraction(1, 2))):
        return Level.VERY_HIGH
    if after >= Fraction(1, 2) and after >= 4 * before:
        return Level.HIGH
    if after >= Fraction(3, 4) and sure:
        return Level.MODERATE
    return Level.MODERATE if after >= Fraction(1, 5) and after >= 10 * before else Level.LOW


def level(prior: float, posterior: float) -> Level:
    return Level(int(RULE.levels(np.array([prior]), np.array([posterior]))[0]))


@pytest.mark.parametrize(
    ("prior", "posterior", "expected"),
    [
        (0.27, 0.75, Level.VERY_HIGH),
        (0.26, 0.9, Level.VERY_HIGH),
        (0.25, 1.0, Level.VERY_HIGH),
        (0.5, 1.0, Level.VERY_HIGH),
        (0.01, 0.8, Level.VERY_HIGH),
        (0.01, 0.5, Level.HIGH),
        (0.6, 1.0, Level.MODERATE),
        (0.01, 0.2, Level.MODERATE),
        (0.6, 0.75, Level.LOW),
        (0.75, 1.0, Level.LOW),
        (0.983, 1.0, Level.LOW),
        (0.977, 0.982, Level.LOW),
        (0.25, 0.5, Level.LOW),
        (0.5, 0.2, Level.LOW),
    ],
)
def test_the_cases_that_a_rule_must_get_right(prior, posterior, expected):
    assert level(prior, posterior) is expected


@given(st.integers(0, 60), st.integers(0, 60))
def test_levels_are_those_of_the_rule_in_words(before, after):
    by_hand = level_by_hand(Fraction(before, 60), Fraction(after, 60))
    assert level(before / 60, after / 60) is by_hand


@given(shares, shares, shares)
def test_a_surer_belief_harms_no_less_and_one_that_was_known_no_more(prior, low, high):
    low, high = sorted((low, high))
    assert level(prior, low) <= level(prior, high)
    assert level(high, prior) <= level(low, prior)


@given(shares, st.integers(1, 30), st.sampled_from(LEVELS))
def test_the_least_rows_are_the_first_that_reach_a_level(prior, rows, wanted):
    reached = [n for n in range(rows + 1) if level(prior, n / rows) >= wanted]
    least = RULE.least_rows(np.array([prior]), np.array([rows]), wanted)[0]
    assert least == (reached[0] if reached else np.inf)


@given(
    st.integers(1, 14).flatmap(
        lambda size: st.tuples(
            st.just(size), st.integers(0, size), st.integers(0, size), st.integers(0, size + 1)
        )
    )
)
def test_draws_are_counted_as_combinations_are(given_numbers):
    size, marked, draws, least = given_numbers
    ways = sum(
        comb(marked, j) * comb(size - marked, draws - j)
        for j in range(max(least, 0), min(draws, marked) + 1)
        if draws - j <= size - marked
    )
    exact = ways / comb(size, draws)
    found = float(draw_tail(np.array(least), np.array(draws), np.array(marked), size))
    if least * size <= draws * marked:
        assert found == 1.0  # what is to be expected anyway is only called likely
    else:
        assert found == pytest.approx(exact, rel=1e-9, abs=1e-12)


def test_large_draws_agree_with_whole_numbers():
    size, marked, draws, least = 5000, 900, 700, 170
    ways = sum(comb(marked, j) * comb(size - marked, draws - j) for j in range(least, draws + 1))
    found = float(draw_tail(np.array(least), np.array(draws), np.array(marked), size))
    assert found == pytest.approx(float(Fraction(ways, comb(size, draws))), rel=1e-6)


@pytest.mark.parametrize(("least", "expected"), [(1, 0.3), (4, 0.3), (3, 2.5), (20, 4.0)])
def test_rare_events_are_counted_as_poisson_did(least, expected):
    below = sum(exp(-expected) * expected**j / factorial(j) for j in range(least))
    assert count_tail(least, expected) == pytest.approx(1 - below, rel=1e-6)


@pytest.mark.usefixtures("patience")
def test_chance_is_the_share_of_shuffled_tables_that_reach_a_level():
    rng = np.random.default_rng(3)
    reference = np.array([40, 80, 120])
    codes = np.repeat(np.arange(3), reference)
    sizes = np.array([4, 6, 10])
    prior = reference / reference.sum()
    reached = np.zeros((3, len(sizes)))
    trials = 4000
    for _ in range(trials):
        for i, size in enumerate(sizes):
            drawn = np.bincount(rng.choice(codes, size, replace=False), minlength=3) / size
            worst = RULE.levels(prior, drawn).max()
            reached[:, i] += [worst >= wanted for wanted in LEVELS]
    chance = chance_of_values(RULE, sizes, sizes * 0, sizes * 0 + 40, reference)
    # Two values of one group can hardly reach a level both: the bound is nearly the share.
    assert chance.reach == pytest.approx(reached / trials, abs=0.02)


def judge(
    levels_at: int,
    *,
    groups: int = 500,
    people: int = 10_000,
    secrecy: int = 0,
    learned: bool = True,
):
    """Judge groups of which some show a value that chance makes in one group of a hundred."""
    prior = np.full(groups, 0.25)
    posterior = np.where(np.arange(groups) < levels_at, 1.0, 0.25)
    reach = np.full((3, groups), 0.01)
    chance = Chance(reach, np.full(groups, 0.01), 4)
    wanted = np.full(groups, secrecy)
    return RULE.judge(prior, posterior, people, secrecy=wanted, chance=chance, learned=learned)


def test_what_is_learned_as_often_as_chance_makes_it_is_noise_and_more_is_not():
    few, many = judge(5), judge(40)
    assert (few.levels[:5] == Level.LOW).all()
    assert (few.by_chance[:5]).all()
    assert (many.levels[:40] == Level.VERY_HIGH).all()
    assert not many.by_chance.any()


def test_a_fact_is_one_whether_chance_made_it_or_not():
    few = judge(5, learned=False)
    assert (few.levels[:5] == Level.VERY_HIGH).all()
    assert (few.by_chance[:5]).all()  # it explains, and excuses nothing


def test_chance_is_no_excuse_for_a_secret_or_among_few_people():
    assert (judge(5, secrecy=Secrecy.SECRET).levels[:5] == Level.VERY_HIGH).all()
    assert (judge(5, people=FEWEST - 1).levels[:5] == Level.VERY_HIGH).all()
    assert (judge(5, secrecy=Secrecy.HARMLESS).levels == Level.LOW).all()


def test_a_secret_counts_one_level_more_and_what_is_low_stays_low():
    prior, posterior = np.array([0.01, 0.01, 0.6, 0.98]), np.array([0.2, 0.5, 1.0, 1.0])
    secret = np.full(4, int(Secrecy.SECRET))
    judged = RULE.judge(prior, posterior, 1000, secrecy=secret)
    expected = [Level.HIGH, Level.VERY_HIGH, Level.VERY_HIGH, Level.LOW]
    assert judged.levels.tolist() == expected


def test_one_group_that_chance_could_not_make_is_not_excused_by_many_that_it_does():
    groups = 2000
    prior, posterior = np.full(groups, 0.25), np.full(groups, 0.25)
    posterior[:21] = 1.0
    surprise = np.full(groups, 0.01)
    surprise[0] = 1e-9
    chance = Chance(np.full((3, groups), 0.01), surprise, 4)
    levels = RULE.judge(prior, posterior, 50_000, chance=chance, learned=True).levels
    assert levels[0] == Level.VERY_HIGH
    assert (levels[1:21] == Level.LOW).all()


@pytest.mark.parametrize("bad", [{"high": 1.5}, {"moderate": -0.1}, {"very_high": "x"}])
def test_bounds_are_shares(bad):
    with pytest.raises(ValueError, match="must be"):
        HarmRule(**bad)
