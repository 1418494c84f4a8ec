"""Chance that changes nearly nothing hides nearly nothing: what is told by such columns is told."""

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks import IntervalDisclosure, PerturbedRows, Target
from sfumato.attacks.adversary.target import target_of
from sfumato.attacks.interval_disclosure import _belief, _cells_of, _PlaceEntries, _Places
from sfumato.attacks.nearly_exact import SURE, NearlyExact, read_columns
from sfumato.attacks.perturbed import BesideColumn, look_at
from sfumato.counts import Column, FrequencySet
from sfumato.harm import HarmRule, Level
from sfumato.perturbations import (
    ColumnCells,
    PlainNoise,
    Pram,
    RankSwapping,
    RecordSwapping,
    SeenColumn,
)
from sfumato.perturbations.perturbing import perturb_cells
from sfumato.releases.opening import open_release

ILLS = np.array(["hiv", "flu", "gout", "cold"])


def patients(n=1200):
    """Return people whose drug tells what they have, whose pay does, and whose zone does not."""
    rng = np.random.default_rng(0)
    ill = rng.integers(0, 4, n)
    return pa.table(
        {
            "zone": [f"z{at % 12}" for at in range(n)],
            "ill": ILLS[ill].tolist(),
            "drug": [f"d{each}" for each in ill],
            "pay": (np.array([1000, 2000, 3000, 4000])[ill] + rng.integers(0, 5, n) * 100),
        }
    )


def judged(**columns):
    """Return the assessments of a release by its policy, and by its manifest alone."""
    rules = {"zone": "quasi-identifier", **dict.fromkeys(("ill", "drug", "pay"), "dropped")}
    policy = {"columns": {**rules, **columns}, "models": [{"model": "k-anonymity", "k": 10}]}
    made = sf.anonymize(patients(), policy)
    return sf.verify(made, policy=policy), sf.verify(made)


def changed(**perturb):
    return {"role": "sensitive", "perturb": perturb}


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    "columns",
    [
        {"ill": changed(kind="pram", keep=0.999), "drug": "sensitive"},
        {"ill": changed(kind="pram", keep=0.8), "drug": "sensitive"},
        {"ill": changed(kind="pram", keep=0.999, invariant=True), "drug": "sensitive"},
        {"ill": changed(kind="record-swapping", share=0.001), "drug": "sensitive"},
        {"ill": changed(kind="record-swapping", share="5%"), "drug": "sensitive"},
        {"pay": changed(kind="noise", sd=1), "ill": "sensitive"},
        {"pay": changed(kind="noise", sd="1%", shape="laplace"), "ill": "sensitive"},
        {"pay": changed(kind="rank-swapping", distance=2), "ill": "sensitive"},
        # Less exact, and still seen through where many people show the same.
        {"ill": changed(kind="pram", keep=0.6), "drug": "sensitive"},
        {"ill": changed(kind="pram", keep=0.6), "drug": {"role": "plain", "because": "a test"}},
        {"ill": changed(kind="record-swapping", share=0.4), "drug": "sensitive"},
        {"pay": changed(kind="noise", sd=300), "drug": "sensitive"},
    ],
    ids=str,
)
def test_what_one_column_tells_of_another_is_told_through_chance(columns):
    for found in judged(**columns):
        assert found.answer == "no"
        most = max(each.people for each in found.attacks if each.judged)
        # What chance draws may hide one of the four drugs, and the people who take it.
        assert found.at_risk >= most > 600
        # It takes the value of the column beside, which no quasi-identifier tells.
        assert [line.people > 600 for line in found.adversaries[:2]] == [False, True]


@pytest.mark.usefixtures("patience")
def test_a_secret_that_is_nearly_exact_is_told():
    ill = {**changed(kind="pram", keep=0.999), "secret": ["hiv"]}
    found, _ = judged(ill=ill, drug="sensitive")
    assert found.answer == "no"
    assert any(each.column == "ill" and each.people for each in found.attacks)


def test_columns_that_nobody_changes_much_stay_in_the_counts():
    rules = {"zone": "quasi-identifier", "drug": "sensitive", "pay": "dropped"}
    models = [{"model": "k-anonymity", "k": 10}]
    for keep, there in ((0.9, True), (0.5, False)):
        ill = changed(kind="pram", keep=keep)
        policy = sf.Policy(columns={**rules, "ill": ill}, models=models)
        target = target_of(open_release(sf.anonymize(patients(), policy), policy))
        assert ("ill" in target.sensitive) is there
        assert ("ill" in target.perturbed.beside) is there
        assert target.perturbed.members.keys() == {"ill"}
        assert len(target.perturbed.unit_of) == len(target.perturbed.counts)
        found = IntervalDisclosure("ill", known=1).find(target, HarmRule())
        assert len(found.units) == len(target.counts)
        assert found.units.all()


# How exact: against what happens.


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    "member",
    [
        Pram(keep=0.9),
        Pram(keep=0.5),
        Pram(keep=0.8, invariant=True),
        RecordSwapping(share=0.2),
        RankSwapping(distance="3%"),
        RankSwapping(distance="20%"),
        PlainNoise(sd="3%"),
        PlainNoise(sd="3%", shape="laplace"),
        PlainNoise(sd="50%", shape="uniform"),
    ],
    ids=str,
)
@pytest.mark.parametrize("step", [None, 5.0, 50.0])
def test_as_many_values_stay_as_it_says(member, step):
    rng = np.random.default_rng(3)
    true = rng.normal(100, 30, 4000).round() if member.near else rng.choice(
        [10, 20, 30, 40], 4000, p=[0.5, 0.3, 0.15, 0.05])  # fmt: skip
    values, codes = np.unique(true, return_inverse=True)
    cells = ColumnCells(Column("v", tuple(v.item() for v in values)), codes)
    found = perturb_cells({"v": cells}, {"v": (member,)}, rng)["v"]
    published = np.array([float(found.column.values[code]) for code in found.codes])
    seen_values, rows = np.unique(published, return_counts=True)
    seen = SeenColumn("v", tuple(seen_values.tolist()), rows)
    prior = np.array([(true == value).mean() for value in seen_values])
    stays = member.stays(seen, prior, step)
    said = float((stays * seen.shares).sum())
    same = (
        published == true if step is None else np.round(published / step) == np.round(true / step)
    )
    assert said == pytest.approx(same.mean(), abs=0.05)


def test_numbers_are_known_to_the_finest_step_that_holds():
    counts = FrequencySet.from_rows(["pay"], [(at,) for at in range(0, 10_000, 7)])
    read = NearlyExact.read(look_at(counts, "pay"), PlainNoise(sd=60))
    assert read.step == 200.0
    assert read.share >= SURE
    values = read_columns(counts, {"pay": read}).column("pay").values
    assert values[:3] == (0, 200, 400)
    # Where a tenth of the central range is narrower than the noise, nothing is known.
    assert NearlyExact.read(look_at(counts, "pay"), PlainNoise(sd=2000)) is None
    # What noise does to texts is not to be read at all.
    texts = SeenColumn("ill", ("flu", "hiv"), np.array([5, 5]))
    assert NearlyExact.read(texts, PlainNoise(sd=1e-9)) is None


# What is believed of a class by itself: by enumerating what its people may have.


def enumerated(likelihood, published):
    """Return the mean people at each true value, where all shares of a class are as likely."""
    n = len(likelihood)
    expected, total = np.zeros(n), 0.0
    for world in product(range(n), repeat=len(published)):
        weight, urn = 1.0, np.ones(n)
        for true, seen in zip(world, published, strict=True):
            weight *= likelihood[seen, true] * urn[true] / urn.sum()
            urn[true] += 1
        expected += weight * np.bincount(world, minlength=n)
        total += weight
    return expected / total


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 3), keep=st.floats(0.4, 0.95), data=st.data())
def test_a_flat_prior_gives_what_every_world_does(n, keep, data):
    published = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=6))
    likelihood = Pram(keep=keep).transitions(range(n), np.ones(n, dtype=np.int64)).T
    places = _Places(np.arange(n), likelihood, np.ones(n) / n, 1, tuple(range(n)), 0.0)
    seen, rows = np.unique(published, return_counts=True)
    [found] = _belief(np.zeros(len(seen), dtype=np.int64), seen, rows, places, None)
    near = 1e-9 if len(published) == 1 else 0.15 * len(published)
    assert np.abs(found - enumerated(likelihood, published)).max() <= near


def gibbs(keep, counted):
    """Return the mean share of each true value of a class, by draws and a flat prior."""
    n = len(counted)
    matrix = np.full((n, n), (1 - keep) / (n - 1))
    np.fill_diagonal(matrix, keep)
    rng = np.random.default_rng(0)
    shares, mean = np.full(n, 1 / n), np.zeros(n)
    for at in range(1500):
        true = np.zeros(n)
        for value in range(n):
            weights = shares * matrix[:, value]
            true += rng.multinomial(counted[value], weights / weights.sum())
        shares = rng.dirichlet(1 + true)
        mean += (at >= 300) * true / sum(counted) / 1200
    return mean


def classes_under_pram(keep, odd, others=40, size=50):
    """Return a target of classes of which the first is published so, and others are as all are."""
    rng = np.random.default_rng(1)
    rows = [("odd", f"v{value}") for value, n in enumerate(odd) for _ in range(n)]
    rows += [
        (f"z{zone}", f"v{value}")
        for zone in range(others)
        for value in rng.integers(0, len(odd), size)
    ]
    counts = FrequencySet.from_rows(["zip", "ill"], rows)
    target = Target.of_table(counts.project(["zip"]), ("zip",), ())
    seen = PerturbedRows(counts, target.class_of(counts), {"ill": Pram(keep=keep)}, ("ill",))
    return Target.of_table(counts.project(["zip"]), ("zip",), (), perturbed=seen)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    ("keep", "counted"),
    [
        (0.5, [12, 12, 15, 12, 49]),
        (0.5, [48, 55, 47, 46, 204]),
        (0.7, [0, 3, 4, 1, 22]),
        (0.7, [3, 6, 7, 3, 31]),
        (0.8, [1, 1, 2, 2, 14]),
        (0.3, [54, 77, 70, 71, 128]),
    ],
)
def test_an_odd_class_is_not_pulled_to_what_all_people_have(keep, counted):
    target = classes_under_pram(keep, counted, size=sum(counted))
    found = IntervalDisclosure("ill").on(target, HarmRule())
    [case] = [each for each in found.worst if each.who == {"zip": "odd"}]
    assert case.believed == "ill = v4"
    assert case.posterior == pytest.approx(gibbs(keep, counted)[4], abs=0.04)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_a_few_people_who_are_published_alike_are_not_known(size):
    target = classes_under_pram(0.5, [0, 0, 0, 0, size])
    found = IntervalDisclosure("ill").find(target, HarmRule())
    assert found.levels.max() < Level.VERY_HIGH


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    "member",
    [Pram(keep=0.4), Pram(keep=0.7), RecordSwapping(share=0.5), RecordSwapping(share=0.3)],
    ids=str,
)
@pytest.mark.parametrize("tells", [0.0, 0.6, 1.0])
def test_what_is_believed_with_another_value_is_right_as_often(member, tells):
    """Held against the true values, where another column tells nothing, much, or all."""
    rng = np.random.default_rng(7)
    n = 3000
    zone = np.sort(rng.integers(0, 100, n))
    other = rng.integers(0, 5, n)
    drawn = rng.choice(5, n, p=[0.4, 0.3, 0.15, 0.1, 0.05])
    true = np.where(rng.random(n) < tells, other, drawn)
    cells = ColumnCells(Column("ill", tuple("abcde")), true)
    told = perturb_cells({"ill": cells}, {"ill": (member,)}, rng)["ill"].codes
    texts = np.array(list("abcde"))[told].tolist()
    rows = zip(zone.tolist(), texts, other.tolist(), strict=True)
    counts = FrequencySet.from_rows(["zip", "ill", "drug"], rows)
    beside = {"drug": BesideColumn(counts.column("drug"), counts.codes_of("drug").astype(int))}
    classes = counts.codes_of("zip").astype(np.int64)
    seen = PerturbedRows(counts, classes, {"ill": member}, ("ill",), beside=beside)
    places = _Places.of(seen, "ill", None)
    everyone = np.ones(len(counts), dtype=np.bool_)
    for with_class in (True, False):
        cell, first, many = _cells_of(seen, ["drug"], with_class=with_class, among=everyone)
        entries = _PlaceEntries.of(seen, "ill", places, many, cell)
        distinct, like = entries.distinct(5)
        own = entries.weigh_all(places)
        found = distinct.judge(HarmRule(), places, own, None, like)
        keys = [
            (
                int(counts.codes_of("zip")[at]) if with_class else -1,
                int(counts.codes_of("drug")[at]),
            )
            for at in first
        ]
        right = [
            (true[(other == drug) & ((zone == home) | (home < 0))] == found.window[at]).mean()
            for at, (home, drug) in enumerate(keys)
        ]
        risky = found.level == Level.VERY_HIGH
        if risky.any():
            people = entries.sizes[risky]
            believed = np.average(found.posterior[risky], weights=people)
            assert np.average(np.array(right)[risky], weights=people) >= believed - 0.12
        assert risky.any() or tells < 1
