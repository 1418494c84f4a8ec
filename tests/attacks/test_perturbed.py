"""Attacks on columns that chance has changed, held against slow versions and against chance."""

from itertools import product
from statistics import NormalDist

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks import DistanceLinkage, IntervalDisclosure, PerturbedRows, Target
from sfumato.attacks.distance_linkage import _link
from sfumato.attacks.interval_disclosure import _belief, _PlaceEntries, _Places, _TrueValues
from sfumato.attacks.perturbed import true_shares
from sfumato.counts import Column, FrequencySet
from sfumato.errors import InputError, PolicyError, UnknownColumnError
from sfumato.harm import HarmRule
from sfumato.perturbations import ColumnCells, PlainNoise, Pram, RankSwapping, RecordSwapping
from sfumato.perturbations.perturbing import perturb_cells


def target_with(rows, members, sensitive=(), names=("zip", "pay")):
    """Return a table of classes by its first column, with columns that chance has changed."""
    counts = FrequencySet.from_rows(names, rows)
    target = Target.of_table(counts.project(names[:1]), names[:1], ())
    seen = PerturbedRows(counts, target.class_of(counts), members, sensitive)
    return Target.of_table(counts.project(names[:1]), names[:1], (), perturbed=seen)


# What is believed of a class: by enumerating what its people may have.


def enumerated(likelihood, prior, published, own):
    """Return the expected people at each true value, over every world of a class.

    The shares of a class are drawn from a Dirichlet distribution that counts as some people with
    the shares of all: worlds have the weights of Pólya's urn.
    """
    n = len(prior)
    expected, total = np.zeros(n), 0.0
    for world in product(range(n), repeat=len(published)):
        weight, urn = 1.0, own * prior
        for true, seen in zip(world, published, strict=True):
            weight *= likelihood[seen, true] * urn[true] / urn.sum()
            urn[true] += 1
        expected += weight * np.bincount(world, minlength=n)
        total += weight
    return expected / total


SHARES = st.lists(st.integers(1, 6), min_size=2, max_size=3)


@settings(max_examples=60, deadline=None)
@given(
    shares=SHARES,
    keep=st.floats(0.4, 0.95),
    own=st.sampled_from([1.0, 3.0, 30.0]),
    data=st.data(),
)
def test_what_is_believed_is_near_the_mean_over_every_world(shares, keep, own, data):
    n = len(shares)
    published = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=5))
    prior = np.array(shares) / sum(shares)
    likelihood = Pram(keep=keep).transitions(range(n), np.ones(n, dtype=np.int64)).T
    places = _Places(np.arange(n), likelihood, prior, 1, tuple(range(n)), 0.0)
    seen, rows = np.unique(published, return_counts=True)
    [found] = _belief(np.zeros(len(seen), dtype=np.int64), seen, rows, places, own)
    slow = enumerated(likelihood, prior, published, own)
    assert found.sum() == pytest.approx(len(published))
    # It is an approximation where rows tell of each other, and exact for one row.
    near = 1e-9 if len(published) == 1 else 0.2 * len(published)
    assert np.abs(found - slow).max() <= near


@settings(max_examples=40, deadline=None)
@given(shares=SHARES, keep=st.floats(0.5, 0.95))
def test_true_shares_are_those_that_make_published_ones(shares, keep):
    n = len(shares)
    true = np.array(shares) / sum(shares)
    matrix = Pram(keep=keep).transitions(range(n), np.ones(n, dtype=np.int64))
    if keep > 0.75:
        assert true_shares(matrix.T, true @ matrix) == pytest.approx(true, abs=0.08)
    assert true_shares(np.eye(n), true) == pytest.approx(true, abs=1e-3)


def test_large_classes_are_seen_through():
    """Chance hides one person, and not what is true of all people of a large class."""
    rng = np.random.default_rng(5)
    rows = [("A", "yes" if rng.random() < 0.7 else "no") for _ in range(2000)]
    rows += [("B", "yes" if rng.random() < 0.3 else "no") for _ in range(8000)]
    target = target_with(rows, {"ill": Pram(keep=0.7)}, ("ill",), ("zip", "ill"))
    found = IntervalDisclosure("ill").on(target, HarmRule())
    # 70 % published is what a class of 100 % becomes.
    [case] = [each for each in found.worst if each.who == {"zip": "A"}]
    assert case.believed == "ill = yes"
    assert case.posterior > 0.95
    assert case.prior < 0.35


def test_noise_that_is_small_hides_nothing_and_large_noise_does():
    rng = np.random.default_rng(1)
    pay = rng.normal(3000, 1000, 600)

    def worst(sd):
        drawn = (pay + rng.normal(0, sd, len(pay))).round()
        rows = [(f"{at // 6}", float(each)) for at, each in enumerate(drawn)]
        target = target_with(rows, {"pay": PlainNoise(sd=sd)}, ("pay",))
        return IntervalDisclosure("pay", within=100.0).on(target, HarmRule())

    small, large = worst(20.0), worst(2000.0)
    assert small.posterior > large.posterior
    assert small.prior < 0.2
    assert large.posterior < 0.5


def test_an_interval_that_is_asked_for_is_told():
    rows = [("A", 10.0), ("A", 20.0), ("B", 30.0), ("B", 90.0)]
    target = target_with(rows, {"pay": PlainNoise(sd=1)}, ("pay",))
    found = IntervalDisclosure("pay", within=5.0).on(target, HarmRule())
    assert found.worst[0].believed.startswith("pay from ")
    with pytest.raises(UnknownColumnError):
        IntervalDisclosure("age").on(target, HarmRule())


# Linkage: by the distance, and against what happens.


@settings(max_examples=40, deadline=None)
@given(
    ill=st.lists(st.sampled_from("abc"), min_size=5, max_size=9),
    keep=st.floats(0.3, 0.95),
)
def test_a_row_is_as_sure_as_bayes_rule_makes_it(ill, keep):
    """Whose row it is, with the likelihood of each row beside that of a stranger's."""
    target = target_with([("A", each) for each in ill], {"pay": Pram(keep=keep)})
    found = DistanceLinkage(("pay",)).on(target, HarmRule())
    kinds = sorted(set(ill))

    def becomes(true, seen):
        if len(kinds) == 1:
            return 1.0
        return keep if true == seen else (1 - keep) / (len(kinds) - 1)

    slow = []
    for true in ill:
        stranger = [sum(becomes(other, seen) for other in ill) / len(ill) for seen in ill]
        odds = [becomes(true, seen) / g for seen, g in zip(ill, stranger, strict=True)]
        slow.append(max(odds) / sum(odds))
    assert found.posterior == pytest.approx(max(slow))
    assert found.prior == pytest.approx(1 / len(ill))
    assert found.people == sum(HarmRule().levels(np.array([1 / len(ill)]), np.array([each]))[0] == 3
                               for each in slow)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(pay=st.lists(st.integers(0, 60), min_size=5, max_size=9), sd=st.floats(0.5, 30))
def test_the_nearest_row_is_as_sure_as_its_share_of_all_chances(pay, sd):
    target = target_with([("A", each) for each in pay], {"pay": PlainNoise(sd=sd)})
    found = DistanceLinkage(("pay",)).on(target, HarmRule())
    below = NormalDist(0, sd).cdf

    def becomes(true, seen):
        # Whole numbers are published: the chance that noise ends nearest to each.
        return below(seen + 0.5 - true) - below(seen - 0.5 - true)

    slow = []
    for true in pay:
        odds = [becomes(true, seen) / sum(becomes(other, seen) for other in pay) for seen in pay]
        slow.append(max(odds) / sum(odds))
    assert found.posterior == pytest.approx(max(slow), rel=1e-2)
    assert found.prior == pytest.approx(1 / len(pay))


def test_as_many_are_found_as_it_says():
    """People look for the nearest row to their true values, again and again."""
    rng = np.random.default_rng(3)
    true = rng.normal(0, 10, 300)
    right = said = 0.0
    for _ in range(20):
        published = true + rng.normal(0, 1.0, len(true))
        nearest = np.abs(published[None, :] - true[:, None]).argmin(axis=1)
        right += (nearest == np.arange(len(true))).mean() / 20
        rows = [("A", float(each)) for each in published.round(6)]
        target = target_with(rows, {"pay": PlainNoise(sd=1.0)})
        links = _link(target.perturbed, ("pay",), rng)
        said += float((links.rows * links.risk).sum() / links.rows.sum()) / 20
    # People are supposed to have published values, which makes their rows rather too near.
    assert right - 0.02 <= said <= right + 0.1


@pytest.mark.parametrize(
    ("member", "sure"),
    [
        (RankSwapping(distance=3), 1 / 4),
        (RankSwapping(distance=1), None),
        (RecordSwapping(share=0.5), None),
        (Pram(keep=0.5), None),
    ],
)
def test_every_kind_of_chance_can_be_linked(member, sure):
    rows = [("A", each) for each in (1, 2, 3, 4)]
    found = DistanceLinkage(("pay",)).on(target_with(rows, {"pay": member}), HarmRule())
    assert 1 / 4 <= found.posterior <= 1
    if sure is not None:
        # Every row is as near as any other.
        assert found.posterior == pytest.approx(sure)


@pytest.mark.usefixtures("patience")
def test_many_rows_are_drawn_from_and_it_says_so():
    rng = np.random.default_rng(0)
    rows = [("A", float(each)) for each in rng.normal(0, 1, 9000).round(4)]
    found = DistanceLinkage(("pay",)).on(target_with(rows, {"pay": PlainNoise(sd=1)}), HarmRule())
    assert "people were drawn" in found.note
    assert found.of == 9000


# In releases.


def people(n=400):
    rng = np.random.default_rng(2)
    return pa.table(
        {
            "age": rng.integers(20, 60, n),
            "pay": rng.normal(3000, 500, n).round().astype(int),
            "ill": rng.choice(["flu", "gout", "none"], n),
        }
    )


def policy_with(**columns):
    age = {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10, 20]}}
    rules = {"age": age, "ill": "sensitive", "pay": "plain", **columns}
    return {"columns": rules, "models": [{"model": "k-anonymity", "k": 5}]}


def test_what_is_judged_follows_the_roles():
    noise = {"kind": "noise", "sd": "20%"}
    policy = policy_with(pay={"role": "plain", "perturb": noise})
    found = sf.verify(sf.anonymize(people(), policy))
    linked = found.attack("distance-linkage")
    assert linked.judged
    assert linked.settings["known"] == "pay"
    assert not found.attack("interval-disclosure").judged
    [assumed] = [each for each in found.assumptions if each.kind == "noise"]
    assert (assumed.columns, assumed.because) == (("pay",), "the policy asks for it")
    # It is not called singling out: what it tells is judged by the attack.
    assert {each.kind for each in found.columns if "pay" in each.columns} <= {"sensitive"}

    policy = policy_with(pay={"role": "sensitive", "perturb": noise})
    found = sf.verify(sf.anonymize(people(), policy))
    assert found.attack("interval-disclosure", "pay").judged
    assert not found.attack("distance-linkage").judged
    assert {each.column for each in found.attacks if each.attack == "homogeneity"} == {"ill"}


def test_a_manifest_cannot_claim_what_the_policy_does_not():
    noise = {"kind": "noise", "sd": 1e6}
    made = sf.anonymize(people(), policy_with(pay={"role": "sensitive", "perturb": noise}))
    without = policy_with(pay="sensitive")
    found = sf.verify(made, policy=without)
    assert not [each for each in found.assumptions if each.kind == "noise"]
    assert found.attack("homogeneity", "pay").tried


def test_a_perturbed_release_is_not_explained_decoupled_or_put_on_a_ledger(tmp_path):
    noise = {"kind": "noise", "sd": "20%"}
    policy = policy_with(pay={"role": "sensitive", "perturb": noise})
    made = sf.anonymize(people(), policy, output=tmp_path / "release")
    with pytest.raises(InputError, match="'pay' was perturbed"):
        sf.explain(made, {"age": 30})
    with pytest.raises(InputError, match="'pay' is perturbed"):
        sf.decouple(made, "break-merge")
    with pytest.raises(PolicyError, match="grouped by true values"):
        sf.Policy(**policy, decouple="break-merge")


def test_earlier_releases_of_perturbed_values_are_not_held_against_each_other():
    policy = policy_with(pay={"role": "sensitive", "perturb": {"kind": "noise", "sd": "20%"}})
    first, later = (sf.anonymize(people(), policy) for _ in range(2))
    found = sf.verify(later, earlier=first)
    outcome = found.attack("composition")
    assert not outcome.tried
    assert found.answer != "yes"


def test_the_original_is_held_against_what_was_not_perturbed():
    age = {
        "role": "quasi-identifier",
        "hierarchy": {"kind": "intervals", "widths": [10, 20]},
        "perturb": {"kind": "noise", "sd": 5},
    }
    table = people()
    made = sf.anonymize(table, policy_with(age=age))
    found = sf.verify(made, data=table)
    assert not found.attack("membership").tried


# By files.


@pytest.mark.parametrize(
    ("step", "good", "bad"),
    [
        ({"kind": "rounding", "step": 10}, [10, 20], [10, 25]),
        ({"kind": "rounding", "step": 0.1}, [0.3, 0.7], [0.35]),
        ({"kind": "top-coding", "above": 50}, [50, 3], [51]),
        ({"kind": "top-coding", "above": 50, "becomes": 99}, [99, 3], [51]),
        ({"kind": "bottom-coding", "below": 5}, [5, 50], [4]),
        ({"kind": "noise", "sd": 1, "at_least": 0}, [0, 1], [-1]),
        ({"kind": "correlated-noise", "sd": 1, "at_most": 9}, [9, -1], [10]),
        ({"kind": "pram", "matrix": {"1": {"2": 1.0}}}, [2, 3], [1]),
        ({"kind": "unheard-of"}, None, [1]),
    ],
)
def test_the_verifier_finds_values_that_cannot_be(step, good, bad):
    from sfumato.verifier import Promises
    from sfumato.verifier.counting import open_source
    from sfumato.verifier.perturbed import check_perturbed

    promises = Promises(["age"], perturbed={"pay": [step]})

    def statuses(values):
        source = open_source(pa.table({"age": [1] * len(values), "pay": values}))
        return [check.status for check in check_perturbed(source, promises)]

    if good is not None:
        assert statuses(good) == ["holds"]
    assert statuses(bad) == (["broken"] if good is not None else ["unchecked"])


def test_the_verifier_says_nothing_holds_of_what_it_cannot_see():
    policy = policy_with(
        pay={"role": "sensitive", "perturb": {"kind": "noise", "sd": 5}},
        ill={"role": "sensitive", "perturb": {"kind": "record-swapping", "share": "10%"}},
    )
    found = sf.verify(sf.anonymize(people(), policy))
    assert not [check for check in found.checks if check.name == "perturbed"]
    # Nearly exact noise softens nothing, so it is no assumption.
    assert {each.columns for each in found.assumptions if each.kind == "noise"} <= {
        ("pay",),
        ("ill",),
    }


@pytest.mark.usefixtures("patience")
def test_points_with_and_without_chance_stand_in_one_comparison():
    policies = {
        "as it is": sf.Policy(**policy_with(pay="sensitive")),
        "noise": sf.Policy(
            **policy_with(pay={"role": "sensitive", "perturb": {"kind": "noise", "sd": "50%"}})
        ),
    }
    found = sf.compare(people(), policies, loss="query-error")
    plain, noisy = found["as it is"], found["noise"]
    assert plain.possible
    assert noisy.possible
    assert noisy.losses["query-error"] > plain.losses["query-error"]
    assert any(each.attack == "interval-disclosure" for each in noisy.attacks)


def test_classes_that_differ_by_chance_only_are_believed_to_be_like_all():
    """Ranks are exchanged far, and the class says nothing: nobody learns anything."""
    rng = np.random.default_rng(4)
    pay = rng.permutation(np.arange(600))
    rows = [(f"{at // 5}", float(each)) for at, each in enumerate(pay)]
    target = target_with(rows, {"pay": RankSwapping(distance="40%")}, ("pay",))
    found = IntervalDisclosure("pay").on(target, HarmRule())
    assert found.people == 0
    assert found.posterior < 0.6


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    "member",
    [
        PlainNoise(sd="25%"),
        PlainNoise(sd="100%"),
        RankSwapping(distance="5%"),
        RankSwapping(distance="20%"),
        RecordSwapping(share="30%"),
        Pram(keep=0.7, invariant=True),
    ],
    ids=str,
)
def test_what_is_believed_is_right_as_often_as_it_says(member):
    """Classes differ, and what is believed of each is held against the true values."""
    rng = np.random.default_rng(8)
    sizes = rng.integers(5, 60, 150)
    home = np.repeat(np.arange(len(sizes)), sizes)
    true = (rng.normal(40, 12, len(sizes))[home] + rng.normal(0, 6, len(home))).round()
    values, codes = np.unique(true, return_inverse=True)
    cells = ColumnCells(Column("pay", tuple(int(each) for each in values)), codes)
    changed = perturb_cells({"pay": cells}, {"pay": (member,)}, rng)["pay"]
    published = [float(changed.column.values[code]) for code in changed.codes]
    counts = FrequencySet.from_rows(["zip", "pay"], zip(home.tolist(), published, strict=True))
    classes = counts.codes_of("zip").astype(np.int64)
    rows = PerturbedRows(counts, classes, {"pay": member}, ("pay",))
    places = _Places.of(rows, "pay", None)
    entries = _PlaceEntries.of(rows, "pay", places, len(sizes))
    of_class, first, _, posterior = entries.believe(places, entries.weigh_all(places))
    low = np.array([float(places.labels[at]) for at in first]) - places.step / 2
    high = low + places.step * places.width
    right = [
        np.mean((true[home == at] >= low[i]) & (true[home == at] < high[i]))
        for i, at in enumerate(of_class)
    ]
    people = sizes[of_class]
    believed, found = (np.average(each, weights=people) for each in (posterior, right))
    # The window is the best of many for what was published, so it is rather believed too much.
    assert found - 0.06 <= believed <= found + 0.2


def test_values_of_people_with_several_rows_are_judged_too():
    rng = np.random.default_rng(6)
    rows = [(at % 60, 20 + at % 60 // 10, "flu" if at % 60 < 30 else "gout") for at in range(120)]
    table = pa.table({n: [row[i] for row in rows] for i, n in enumerate(("id", "age", "ill"))})
    ill = {"role": "sensitive", "perturb": {"kind": "pram", "keep": float(rng.uniform(0.94, 0.96))}}
    policy = {
        "columns": {"id": "identifier", "age": "quasi-identifier", "ill": ill},
        "models": [{"model": "k-anonymity", "k": 5}],
        "person": "id",
    }
    found = sf.verify(sf.anonymize(table, policy))
    outcome = found.attack("interval-disclosure", "ill")
    assert outcome.judged
    assert outcome.note == "each row was taken for a person"
    assert outcome.people
    # So little chance hides nothing: published values are attacked as true ones, too.
    assert [each for each in found.attacks if each.attack == "homogeneity" and each.tried]


def _two_under_pram(follows, *, keep=0.8, n=900, values=4, **rule):
    """Return a verdict on illness and drug, both under PRAM; a drug follows its illness or not."""
    people = np.arange(n)
    ill = people // 9 % values
    drug = ill if follows else people // 9 // values % values
    pram = {"role": "sensitive", "perturb": {"kind": "pram", "keep": keep}, **rule}
    policy = {
        "columns": {"zone": "quasi-identifier", "ill": pram, "drug": pram},
        "models": [{"model": "k-anonymity", "k": 5}],
    }
    columns = {"zone": people % 9, "ill": ill, "drug": drug}
    texts = {name: [f"{name} {code}" for code in codes] for name, codes in columns.items()}
    return sf.verify(sf.anonymize(pa.table(texts), policy), policy)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("values", [3, 4])
def test_one_changed_column_tells_another_that_is_changed_by_itself(values):
    found = _two_under_pram(follows=True, keep=0.85, n=1800, values=values)
    lines = {str(line.knows): line.people for line in found.adversaries}
    assert found.answer == "no"
    assert lines["quasi-identifiers"] == 0 < lines["one-value"]
    assert _two_under_pram(follows=False, values=values).answer == "yes"


@pytest.mark.usefixtures("patience")
def test_what_nobody_knows_of_a_person_tells_nothing_of_them():
    unknown = {"known": False, "because": "nobody asks"}
    found = _two_under_pram(follows=True, n=1800, **unknown)
    assert found.answer == "yes"
    assert all(each.people for each in found.assumptions if each.kind == "known")


@pytest.mark.usefixtures("patience")
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0.5, 0.7, 0.9]))
def test_shares_of_true_pairs_are_within_their_errors(seed, keep):
    """The way back from published pairs to true ones, against the truth they were made of."""
    rng = np.random.default_rng(seed)
    n = 3000
    ill = rng.integers(0, 3, n)
    drug = np.where(rng.random(n) < 0.7, ill, rng.integers(0, 3, n))
    shown = []
    for true in (ill, drug):
        away = rng.random(n) >= keep
        shown.append(np.where(away, (true + rng.integers(1, 3, n)) % 3, true))
    rows = [("A", f"i{a}", f"d{b}") for a, b in zip(*shown, strict=True)]
    counts = FrequencySet.from_rows(["zip", "ill", "drug"], rows)
    members = {"ill": Pram(keep=keep), "drug": Pram(keep=keep)}
    seen = PerturbedRows(counts, np.zeros(len(counts), dtype=np.int64), members, ("ill", "drug"))
    told = _TrueValues.of(seen, "ill", "drug", _Places.of(seen, "drug", None))
    truth = np.array([[(drug[ill == a] == b).mean() for b in range(3)] for a in range(3)])
    assert (np.abs(told.share - truth) < 5.5 * told.error + 0.01).all()
