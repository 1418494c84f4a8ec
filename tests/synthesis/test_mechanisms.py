"""What OpenDP makes of our counts: accounts that are its own, and noise that is there.

The audit looks at outcomes alone: what a mechanism promises must show in them, and one that has a
tenth of its noise must be caught. Thresholds are those of chance, one in a million.
"""

import math
from itertools import pairwise

import numpy as np
import pytest

import sfumato as sf
from sfumato.synthesis import mechanisms
from sfumato.synthesis.budget import PrivacyBudget, epsilon_of
from sfumato.synthesis.mechanisms import CountedCells, fit
from sfumato.verifier.synthetic import epsilon_at
from tests.synthesis.stubs import POLICY, people

pytestmark = pytest.mark.usefixtures("synthetic", "patience")


def counts_of(sizes, rows, seed=1):
    """Return counts of random rows over columns of these sizes."""
    rng = np.random.default_rng(seed)
    cells = np.stack([rng.integers(0, size, rows) for size in sizes])
    kept, n = np.unique(cells, axis=1, return_counts=True)
    return CountedCells(tuple(f"c{i}" for i in range(len(sizes))), tuple(sizes), kept, n)


def spent_of(model):
    return math.fsum([model.selection, *(each.spent for each in model.measurements)])


@pytest.fixture
def unfitted(monkeypatch):
    """Let a mechanism count and choose, and fit nothing: that takes nearly all the time."""

    def fit_once(self, domain, measured, *, potentials=None):
        return self.lib.mbi.estimation.mirror_descent(
            domain, measured, potentials=potentials, iters=1, stepsize=1e-9
        )

    monkeypatch.setattr(mechanisms._MechanismRun, "_fit_model", fit_once)


@pytest.mark.parametrize(("mechanism", "delta"), [("mst", None), ("mst", 1e-9), ("aim", None)])
def test_what_is_spent_stays_within_the_budget_and_is_nearly_all(unfitted, mechanism, delta):
    budget = PrivacyBudget.of(epsilon=0.8, delta=delta)
    model = fit(counts_of([2, 3], 300), budget, mechanism=mechanism)
    spent = spent_of(model)
    assert spent <= budget.spent * (1 + 1e-9)
    assert spent >= budget.spent * (0.3 if mechanism == "aim" else 0.999)


def test_nine_columns_and_several_rows_of_a_person(unfitted):
    """OpenDP's own sums refuse eight equal parts of a budget, which nine columns have."""
    model = fit(counts_of([2] * 9, 300), PrivacyBudget.of(epsilon=1.0, delta=1e-9), contributions=3)
    singles = [each for each in model.measurements if len(each.columns) == 1]
    assert len(singles) == 9
    for each in model.measurements:
        assert each.spent == pytest.approx(9 / (2 * each.scale**2))


@pytest.mark.parametrize("seed", range(50))
def test_our_conversion_is_that_of_opendp(seed):
    rng = np.random.default_rng(seed)
    rho, delta = 10 ** rng.uniform(-5, 1.5), 10 ** rng.uniform(-12, -3)
    assert epsilon_at(rho, delta) == pytest.approx(epsilon_of(rho, delta), rel=1e-9)


def test_a_larger_budget_is_less_noise():
    scales = [PrivacyBudget.of(epsilon=each, delta=1e-9).rho for each in (0.1, 0.5, 1, 3, 10)]
    assert all(low < high for low, high in pairwise(scales))


def noise_of_singles(budget, runs, contributions=1):
    """Return the noise that a mechanism adds to the counts of single columns, many times."""
    counts = counts_of([40, 40], 2000)
    run = mechanisms._MechanismRun(
        mechanisms.libraries(), counts, budget, "mst", contributions, lambda *_: None
    )
    dp = run.lib.dp
    table = run._space(run.singles)
    first, _ = run._parts()
    made = run._noisy_marginals(table, run.singles, first)
    found = []
    for _ in range(runs):
        for each in dp.c.make_adaptive_composition(
            *run._source(), run.measure, contributions, [first]
        )(None)(made):
            exact = counts.marginal(tuple(each.clique)).ravel()
            found.append(np.asarray(each.noisy_measurement).ravel() - exact)
    return np.concatenate(found)


def lower_bound(noise, shift):
    """Return a bound on epsilon from below: how often canaries are told from no canaries.

    Each cell is a canary of its own: a guesser says that a person was added where the noisy count
    is above the exact one by half a person or more. By Clopper and Pearson, with doubt of 1e-6.
    """
    from scipy.stats import beta

    half = len(noise) // 2
    there, absent = noise[:half] + shift, noise[half:]
    best = 0.0
    for cut in np.quantile(noise, [0.5, 0.8, 0.9, 0.95, 0.99]):
        hits, false = int((there > cut).sum()), int((absent > cut).sum())
        least = beta.ppf(1e-6, hits, half - hits + 1) if hits else 0.0
        most = beta.ppf(1 - 1e-6, false + 1, half - false) if false < half else 1.0
        if least > 0:
            best = max(best, math.log(least / most))
    return best


@pytest.mark.parametrize("delta", [None, 1e-6])
def test_canaries_do_not_tell_more_than_is_promised_and_a_tenth_of_the_noise_does(delta):
    budget = PrivacyBudget.of(epsilon=1.0, delta=delta)
    honest = noise_of_singles(budget, 60)
    assert lower_bound(honest, 1) <= budget.epsilon
    # A mechanism that says the same and has a tenth of the noise.
    assert lower_bound(honest / 10, 1) > budget.epsilon


def test_the_noise_is_as_wide_as_the_accounts_say():
    for delta in (None, 1e-6):
        budget = PrivacyBudget.of(epsilon=1.0, delta=delta)
        part = budget.spent / 2 / 2
        said = math.sqrt(2) / part if delta is None else 1 / math.sqrt(2 * part)
        noise = noise_of_singles(budget, 60)
        # Of 4 800 draws, the deviation is known to a few percent.
        assert np.std(noise) == pytest.approx(said, rel=0.15)


def test_a_table_is_published_verified_and_near_the_original():
    made = sf.synthesize(people(2000), POLICY, epsilon=2.0, delta=1e-6)
    assert made.verdict.holds
    assert sf.verify(made).answer == "with care"
    ill = made.table["ill"].to_pylist()
    real = people(2000)["ill"].to_pylist()
    for value in ("flu", "gout", "cold"):
        assert ill.count(value) / len(ill) == pytest.approx(real.count(value) / 2000, abs=0.05)


def test_columns_that_only_a_third_one_ties_are_drawn_independently_given_it():
    """Drawn in the order of their parent's rows, they would look tied to each other."""
    rng = np.random.default_rng(1)
    n = 6000
    parent = rng.integers(0, 3, n)
    rows = [parent, *(np.where(rng.random(n) < 0.5, parent, rng.integers(0, 3, n)) for _ in "ab")]
    kept, counted = np.unique(np.stack(rows), axis=1, return_counts=True)
    counts = CountedCells(("parent", "one", "other"), (3, 3, 3), kept, counted)
    model = fit(counts, PrivacyBudget.of(epsilon=50.0, delta=1e-9))
    drawn = model.draw(n)
    for value in range(3):
        same = drawn[0] == value
        table = np.histogram2d(drawn[1, same], drawn[2, same], bins=[np.arange(4) - 0.5] * 2)[0]
        apart = np.outer(table.sum(1), table.sum(0)) / table.sum()
        # Cells of about 200 rows: seven standard deviations of chance.
        assert (np.abs(table - apart) < 7 * np.sqrt(apart + 1)).all()
    for at, name in enumerate(counts.names):
        off = np.bincount(drawn[at], minlength=3) - counts.marginal((name,))
        assert np.abs(off).max() < 20


def test_the_demo_draws_rows_where_the_extra_is(tmp_path):
    from typer.testing import CliRunner

    from sfumato.cli.app import app

    result = CliRunner().invoke(app, ["demo", "--rows", "2000", "-o", str(tmp_path / "shown")])
    assert result.exit_code == 0, result.output
    assert "Synthetic rows, which no patient has" in result.output
    assert "a belief of 1 % becomes at most 1.5 %" in result.output
    assert "of at most 1 row:" in result.output


def statistics_of_canaries(mechanism, budget, runs, contributions=1):
    """Return how much all measurements of a run together say for people who are not there.

    A canary is a person with a cell of their own in every column. What speaks most for them is the
    sum of the noise in their cells, each by its variance; and had they been there, it would be more
    by the sum of what one person is worth: both are returned.
    """
    cells = 128
    counts = counts_of([cells] * 2, 9000)
    rng = np.random.default_rng(1)
    said, worth = [], []
    for _ in range(runs):
        seen = []

        class Watched(mechanisms._MechanismRun):
            def _fit_model(self, domain, measured, *, potentials=None):
                seen[:] = measured  # noqa: B023 - used in this round only
                return self.lib.mbi.estimation.mirror_descent(
                    domain, measured, potentials=potentials, iters=1, stepsize=1e-9
                )

        Watched(
            mechanisms.libraries(), counts, budget, mechanism, contributions, lambda *_: None
        ).fit()
        places = {name: rng.permutation(cells) for name in counts.names}
        total, more = np.zeros(cells), 0.0
        for each in seen:
            clique = tuple(each.clique)
            noise = np.asarray(each.noisy_measurement).reshape(counts.shape(clique))
            noise = noise - counts.marginal(clique)
            total += noise[tuple(places[name] for name in clique)] / each.stddev**2
            more += contributions / each.stddev**2
        said.append(total)
        worth.append(np.full(cells, more))
    return np.concatenate(said), np.concatenate(worth)


@pytest.mark.parametrize(("mechanism", "delta"), [("mst", None), ("mst", 1e-6), ("aim", 1e-6)])
def test_all_that_a_mechanism_measures_tells_no_more_than_is_promised(mechanism, delta):
    """All that was measured together, whatever was chosen on the way."""
    budget = PrivacyBudget.of(epsilon=2.0, delta=delta)
    said, worth = statistics_of_canaries(mechanism, budget, 8)
    assert lower_bound(said, worth[: len(worth) // 2]) <= budget.epsilon
    assert lower_bound(said / 10, worth[: len(worth) // 2]) > budget.epsilon
