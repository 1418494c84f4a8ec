"""Networks that are known are found again, no worse than by other tools."""

import numpy as np
import pytest

from benchmarks.structure_recovery import alarm_sized, asia, average, colliders, held_out, skeleton
from sfumato.networks import AgrumMiic, AgrumPc, InductiveCausation, Network


@pytest.mark.usefixtures("patience")
def test_asia_draws_what_was_published():
    counts = asia().sample(200_000, np.random.default_rng(1))
    shares = {name: counts.value_counts(name)[-1] / 200_000 for name in counts.names}
    # By hand: 0.99 · 0.01 + 0.01 · 0.05, 0.5 · 0.01 + 0.5 · 0.1, and 1 − (1 − t)(1 − c).
    assert shares["tuberculosis"] == pytest.approx(0.0104, abs=0.002)
    assert shares["cancer"] == pytest.approx(0.055, abs=0.003)
    assert shares["either"] == pytest.approx(0.064828, abs=0.003)
    assert shares["bronchitis"] == pytest.approx(0.45, abs=0.006)
    assert shares["xray"] == pytest.approx(0.05 + 0.93 * 0.064828, abs=0.004)


def test_colliders_are_where_unjoined_parents_meet():
    network = Network.of("abcd", [("a", "c"), ("b", "c"), ("c", "d"), ("a", "d")])
    assert colliders(network) == {(frozenset("ab"), "c")}
    assert skeleton(network) == {frozenset(e) for e in ("ac", "bc", "cd", "ad")}
    assert len(skeleton(alarm_sized(1).network)) == 46


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("rows", [1000, 10_000])
def test_asia_is_found_again_no_worse_than_by_others(rows):
    compare([asia()], rows, repeats=20)


@pytest.mark.usefixtures("patience")
def test_a_network_the_size_of_alarm_is_found_again_no_worse_than_by_others():
    compare(held_out(6), 1000, repeats=1)


@pytest.mark.usefixtures("patience")
def test_with_rows_enough_all_of_asia_is_found():
    edges, arrows = average(InductiveCausation(), [asia()], 100_000, repeats=3)
    assert edges.precision == edges.recall == arrows.precision == arrows.recall == 1


def compare(networks, rows, *, repeats):
    """Weigh precision and recall alike; which of two equals is ahead is chance."""
    edges, arrows = average(InductiveCausation(), networks, rows, repeats=repeats)
    for other in (AgrumPc(), AgrumMiic()):
        their_edges, their_arrows = average(other, networks, rows, repeats=repeats)
        assert edges.f1 >= their_edges.f1 - 0.01
        assert arrows.f1 >= their_arrows.f1 - 0.01
