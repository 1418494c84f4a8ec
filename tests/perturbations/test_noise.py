"""Noise: its limits, decimals, moments and correlations, and how likely readers find a number."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sfumato.errors import ParameterError
from sfumato.perturbations import CorrelatedNoise, PlainNoise
from sfumato.perturbations.base import Amount, decimals_in
from sfumato.perturbations.noise import correlations
from tests.perturbations.tables import COLUMNS, cells_of, change, likelihood, number, seen

SHAPES = ["normal", "laplace", "uniform"]
OF_SHAPE = {
    "normal": stats.norm(),
    "laplace": stats.laplace(scale=math.sqrt(0.5)),
    "uniform": stats.uniform(-math.sqrt(3), 2 * math.sqrt(3)),
}
SDS = ["10%", 3, 0.25]


@given(
    values=COLUMNS,
    sd=st.sampled_from(SDS),
    shape=st.sampled_from(SHAPES),
    least=st.sampled_from([None, -10, 0.5, 0.125]),
    most=st.sampled_from([None, 10, 0.5, 20.75]),
    joint=st.booleans(),
    seed=st.integers(0, 3),
)
def test_limits_are_kept_and_decimals_too(values, sd, shape, least, most, joint, seed):
    limits = {"at_least": least, "at_most": most}
    member = CorrelatedNoise(sd, **limits) if joint else PlainNoise(sd, shape, **limits)
    found = [value for value in change(member, values, seed) if value is not None]
    stated = [limit for limit in (least, most) if limit is not None]
    before = [decimals_in(value) for value in values if value is not None]
    for value in found:
        assert least is None or number(value) >= least
        assert most is None or number(value) <= most
        assert decimals_in(value) <= max([*before, *map(decimals_in, stated)])
    if all(isinstance(value, int) for value in values) and all(float(n) == int(n) for n in stated):
        assert all(isinstance(value, int) for value in found)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sd", [500, "20%"])
def test_moments_are_those_of_the_distribution(shape, sd):
    rng = np.random.default_rng(1)
    truth = np.round(rng.lognormal(8, 0.5, 40_000), 2)
    member = PlainNoise(sd, shape)
    [moved] = member.move(truth[None, :], np.random.default_rng(2))
    expected = 500 if sd == 500 else 0.2 * truth.std()
    noise = (moved - truth) / expected
    # Five standard errors each: 4 moments of a fixed seed.
    assert abs(noise.mean()) < 5 / math.sqrt(len(noise))
    excess = {"normal": 0.0, "laplace": 3.0, "uniform": -1.2}[shape]
    assert abs(noise.var() - 1) < 5 * math.sqrt((2 + excess) / len(noise))
    assert abs(np.corrcoef(noise, truth)[0, 1]) < 5 / math.sqrt(len(noise))
    assert stats.kstest(noise, OF_SHAPE[shape].cdf).pvalue > 0.001
    # All shapes are as wide, so the variance of the column rises by that of the noise.
    assert moved.var() == pytest.approx(truth.var() + expected**2, rel=0.05)


def related(n=20_000, seed=3):
    rng = np.random.default_rng(seed)
    pay = rng.normal(3000, 800, n)
    rent = 200 + 0.3 * pay + rng.normal(0, 60, n)
    return np.stack([pay, rent])


def slope(numbers) -> float:
    return float(np.polyfit(numbers[0], numbers[1], 1)[0])


def test_correlated_noise_keeps_correlations_and_slopes_that_plain_noise_makes_smaller():
    truth = related()
    plain = PlainNoise(sd="50%").move(truth, np.random.default_rng(4))
    joint = CorrelatedNoise(sd="50%").move(truth, np.random.default_rng(4))
    before = np.corrcoef(truth)[0, 1]
    # Independent noise adds to the variances only: both become smaller by 1 + 0.5².
    assert np.corrcoef(plain)[0, 1] == pytest.approx(before / 1.25, abs=0.02)
    assert slope(plain) == pytest.approx(slope(truth) / 1.25, abs=0.01)
    assert np.corrcoef(joint)[0, 1] == pytest.approx(before, abs=0.01)
    assert slope(joint) == pytest.approx(slope(truth), abs=0.01)
    assert joint.var(axis=1) == pytest.approx(truth.var(axis=1) * 1.25, rel=0.03)


@given(
    st.lists(st.tuples(*[st.one_of(st.none(), st.integers(-9, 9))] * 3), min_size=0, max_size=20)
)
def test_correlations_are_those_of_the_rows_that_have_all_numbers(rows):
    full = [row for row in rows if None not in row]
    numbers = np.array(rows, dtype=float).reshape(-1, 3).T
    found = correlations(numbers)
    for i in range(3):
        for j in range(3):
            x, y = [row[i] for row in full], [row[j] for row in full]
            if i == j:
                assert found[i, j] == 1
            elif len(full) < 2 or len(set(x)) < 2 or len(set(y)) < 2:
                assert found[i, j] == pytest.approx(0, abs=1e-9)
            else:
                assert found[i, j] == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)


def test_columns_that_follow_from_each_other_still_do():
    pay = list(range(100))
    cells = [cells_of(pay, "pay"), cells_of([3 * n for n in pay], "thrice")]
    one, three = CorrelatedNoise(sd="10%").change(cells, None, np.random.default_rng(0))
    a, b = one.numbers().values, three.numbers().values
    assert np.abs(b - 3 * a).max() <= 3
    assert np.abs(a - np.arange(100)).max() > 1


def chances(member, true: float, values, width: float) -> list[float]:
    """How likely each number is published for a true one, by the distribution function."""
    of = OF_SHAPE[getattr(member, "shape", "normal")]
    found = []
    for value in values:
        low, high = value - width / 2, value + width / 2
        if member.at_least is not None and low <= member.at_least < high:
            low = -math.inf
        if member.at_most is not None and low <= member.at_most < high:
            high = math.inf
        found.append(of.cdf((high - true) / member.sd) - of.cdf((low - true) / member.sd))
    return found


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    ("member", "values", "width"),
    [
        (PlainNoise(sd=2), list(range(-3, 12)), 1),
        (PlainNoise(sd=0.4), list(range(5)), 1),
        (PlainNoise(sd=0.05, shape="laplace"), [0.1, 0.2, 0.25, 0.31], 0.01),
        (PlainNoise(sd=3, shape="laplace", at_least=0), list(range(12)), 1),
        (PlainNoise(sd=3, shape="uniform", at_least=0, at_most=9), list(range(10)), 1),
        (CorrelatedNoise(sd=3, at_least=0, at_most=9), list(range(10)), 1),
        # Stretches, of which a limit is the beginning, or somewhere inside.
        (PlainNoise(sd=6, at_least=0, at_most=33), [2.5 + 5 * i for i in range(7)], 5),
        (PlainNoise(sd=0.3, at_least=0.1), [0.07 + 0.14 * i for i in range(30)], 0.14),
    ],
    ids=str,
)
def test_likelihoods_are_those_of_the_distribution(member, values, width):
    found = likelihood(member, seen(values))
    for line, true in zip(found, values, strict=True):
        truth = chances(member, true, values, width)
        assert line == pytest.approx(truth, abs=0.01, rel=0.03)


def test_likelihoods_are_what_is_drawn():
    truth = np.repeat([0, 3, 8], 30_000).tolist()
    member = PlainNoise(sd=2, at_least=0)
    published = change(member, truth, seed=5)
    shown = seen(published)
    table = likelihood(member, shown)
    for true in (0, 3, 8):
        line = table[shown.values.index(true)]
        drawn = [p for t, p in zip(truth, published, strict=True) if t == true]
        shares = np.array([drawn.count(value) / len(drawn) for value in shown.values])
        assert line / line.sum() == pytest.approx(shares, abs=5 * math.sqrt(0.25 / len(drawn)))


def test_readers_work_out_the_noise_of_a_share():
    truth = np.round(np.random.default_rng(6).normal(100, 15, 20_000)).tolist()
    member = PlainNoise(sd="40%")
    shown = seen(change(member, [*truth, *[None] * 5000], seed=7))
    assert member.seen_scale(shown) == pytest.approx(0.4 * 15, rel=0.03)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"sd": 0}, "sd"),
        ({"sd": "a lot"}, "a share as in 10%"),
        ({"sd": 1, "at_least": 5, "at_most": 4}, "at most 4"),
        ({"sd": 1, "shape": "round"}, "normal, laplace or uniform"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, says):
    with pytest.raises(ParameterError, match=says):
        PlainNoise(**settings)


def test_a_constant_column_has_no_spread_to_take_a_share_of():
    assert change(PlainNoise(sd="10%"), [7, 7, 7]) == [7, 7, 7]
    assert Amount.read("sd", "10%") == (0.1, True)
