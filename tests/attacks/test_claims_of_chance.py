"""Claims that chance changed a column: held against what is published, and never taken on trust."""

import json
from contextlib import suppress
from math import comb

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks.adversary.claims import chance_claims
from sfumato.attacks.claim_fit import ClaimFit, _log_tail
from sfumato.attacks.perturbed import look_at
from sfumato.counts import Column, FrequencySet
from sfumato.errors import SfumatoError
from sfumato.harm import draw_tail
from sfumato.perturbations import (
    ColumnCells,
    CorrelatedNoise,
    PlainNoise,
    Pram,
    RankSwapping,
    RecordSwapping,
)
from sfumato.perturbations.perturbing import perturb_cells
from sfumato.releases.opening import open_release

ILLS = np.array(["flu", "gout", "cold", "ulcer", "hiv"])


def patients(n=600, zones=6):
    """Return people of whom all of one zone have hiv, and those of others anything."""
    rng = np.random.default_rng(1)
    zone = np.arange(n) % zones
    ill = np.where(zone == 3, "hiv", ILLS[rng.integers(0, 5, n)])
    return pa.table({"zone": [f"z{each}" for each in zone], "ill": ill.tolist()})


def policy_with(ill):
    columns = {"zone": "quasi-identifier", "ill": ill}
    return {"columns": columns, "models": [{"model": "k-anonymity", "k": 5}]}


@pytest.fixture
def folder(tmp_path):
    """Return the folder of a release that says nothing of chance, and must not be published."""
    sf.anonymize(patients(), policy_with("sensitive"), output=tmp_path / "out", format="csv")
    return tmp_path / "out"


def claim(folder, steps, column="ill"):
    """Write a claim into a manifest, as somebody would who wants a better answer."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    for each in manifest["columns"]:
        if each["name"] == column:
            each["perturbed"] = steps
    path.chmod(0o644)
    path.write_text(json.dumps(manifest))
    evidence = folder / "evidence.json"
    if evidence.exists():
        evidence.chmod(0o644)
        evidence.unlink()
    return folder


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    "step",
    [
        {"kind": "pram", "keep": 0.2},
        {"kind": "pram", "keep": 0.999},
        {"kind": "pram", "keep": 0.2, "invariant": True},
        {"kind": "pram", "matrix": {"hiv": {"hiv": 0.1, "flu": 0.9}}},
        {"kind": "record-swapping", "share": 0.9},
        {"kind": "record-swapping", "share": 0.9, "within": ["zone"]},
        {"kind": "rank-swapping", "distance": "40%"},
        {"kind": "noise", "sd": 5},
        {"kind": "noise", "sd": 1e300},
        {"kind": "correlated-noise", "sd": "10%"},
    ],
    ids=str,
)
def test_a_line_in_a_manifest_makes_no_answer_better_than_with_care(folder, step):
    assert sf.verify(folder).answer == "no"
    found = sf.verify(claim(folder, [step]))
    assert found.answer != "yes"
    if step.get("keep") == 0.2 and "invariant" not in step:
        assert found.answer == "no"
        [told] = found.refuted
        assert "hiv is published for 100 of 100 people" in told


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    ("column", "steps"),
    [
        *(
            ("ill", [{"kind": "pram", "keep": keep}])
            for keep in (0, 1, 1.5, -1, "x", None, True, 1e308)
        ),
        *(("ill", [{"kind": "noise", "sd": sd}]) for sd in (0, -1, "10%", "x", None, 1e-300)),
        ("ill", [{"kind": "noise", "sd": 1, "at_least": 5, "at_most": 1}]),
        ("ill", [{"kind": "unheard-of"}]),
        ("ill", [{}]),
        ("ill", []),
        ("ill", [{"kind": "pram", "keep": 0.2}, {"kind": "pram", "keep": 0.3}]),
        ("ill", [{"kind": "pram", "matrix": {}}]),
        ("ill", [{"kind": "pram", "matrix": {"no such value": {"hiv": 1.0}}}]),
        ("ill", [{"kind": "record-swapping", "share": 0.5, "within": ["no such column"]}]),
        ("ill", [{"kind": "rank-swapping", "distance": 1e9}]),
        ("zone", [{"kind": "pram", "keep": 0.2}]),
        ("zone", [{"kind": "noise", "sd": 3}]),
    ],
    ids=str,
)
def test_odd_claims_end_in_an_answer_or_an_error_in_words(folder, column, steps):
    claim(folder, steps, column)
    # Any other error fails the test.
    with suppress(SfumatoError):
        found = sf.verify(folder)
        assert found.answer == "no"
        assert str(found)


@pytest.mark.usefixtures("patience")
def test_what_only_a_manifest_says_of_chance_is_open(tmp_path):
    # Of five values each becomes any with the same probability: whatever is drawn tells nothing.
    # With more that is kept, some draws tell enough of a zone for a belief of three quarters.
    policy = policy_with({"role": "sensitive", "perturb": {"kind": "pram", "keep": 0.2}})
    made = sf.anonymize(patients(), policy, output=tmp_path / "out")
    [alone] = chance_claims(open_release(tmp_path / "out"))
    assert alone.open
    assert alone.tested
    found = sf.verify(tmp_path / "out")
    assert found.answer == "with care"
    [noise] = [each for each in found.assumptions if each.kind == "noise"]
    # As published, no value is had by three quarters of any zone: nobody would be at risk.
    assert (noise.columns, noise.open, noise.people) == (("ill",), True, 0)
    [confirmed] = chance_claims(open_release(made, sf.Policy(**policy)))
    assert confirmed.believed
    assert not confirmed.open
    # Whoever made it says so by the policy, and whoever reads it with the same policy.
    for judged in (sf.verify(made), sf.verify(tmp_path / "out", policy=policy)):
        assert judged.answer == "yes"
        assert [(each.kind, each.open) for each in judged.assumptions] == [("noise", False)]


@pytest.mark.usefixtures("patience")
def test_a_policy_that_makes_a_claim_which_cannot_be_is_not_believed_either(folder):
    step = {"kind": "pram", "keep": 0.2}
    policy = policy_with({"role": "sensitive", "perturb": step})
    found = sf.verify(claim(folder, [step]), policy=policy)
    assert found.answer == "no"
    assert found.refuted
    assert found.attack("homogeneity", "ill").people == 100


@pytest.mark.usefixtures("patience")
def test_if_a_claim_that_fits_is_wrong_the_people_at_risk_are_told(tmp_path):
    """A class of eight shows one value, and chance that keeps half of them can do that."""
    rng = np.random.default_rng(0)
    zone = np.arange(80) // 8
    ill = np.where(zone == 0, "hiv", np.array(["flu", "gout"])[rng.integers(0, 2, 80)])
    table = pa.table({"zone": zone.astype(str), "ill": ill})
    sf.anonymize(table, policy_with("sensitive"), output=tmp_path / "out", format="csv")
    plain = sf.verify(tmp_path / "out")
    # In the first zone all have hiv; in another, six of eight have flu, which 29 of 80 have.
    before = {value: (ill == value).mean() for value in np.unique(ill)}
    after = {(z, v): (ill[zone == z] == v).mean() for z in range(10) for v in before}
    sure = {z for (z, v), share in after.items() if share >= max(0.75, 2 * before[v])}
    assert sure == {0, 4}
    assert (plain.answer, plain.at_risk) == ("no", 16)
    found = sf.verify(claim(tmp_path / "out", [{"kind": "pram", "keep": 0.5}]))
    assert found.answer != "yes"
    [held] = chance_claims(open_release(tmp_path / "out"))
    assert held.open
    [noise] = [each for each in found.assumptions if each.kind == "noise"]
    assert (noise.open, noise.people) == (True, plain.at_risk)
    assert any(f"{plain.at_risk} of 80 people are at risk" in why for why in found.why)


# The bound: against the binomial, and against draws.


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 60), data=st.data())
def test_the_bound_is_above_the_chance_that_it_bounds(n, data):
    k = data.draw(st.integers(0, n))
    p = data.draw(st.floats(0.01, 0.99))
    exact = sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))
    bound = np.exp(_log_tail(np.array([float(k)]), np.array([float(n)]), np.array([p])))[0]
    assert bound >= exact - 1e-12


MEMBERS = [
    Pram(keep=0.2),
    Pram(keep=0.6),
    Pram(keep=0.4, invariant=True),
    Pram(matrix={"a": {"a": 0.5, "b": 0.5}, "b": {"b": 0.1, "c": 0.9}}),
    RecordSwapping(share=0.3),
    RecordSwapping(share=0.9),
    RankSwapping(distance="5%"),
    RankSwapping(distance="30%"),
    PlainNoise(sd="50%"),
    PlainNoise(sd=5, shape="laplace"),
    PlainNoise(sd=20, shape="uniform", at_least=0),
    CorrelatedNoise(sd="30%"),
]


def published(member, rng, n=600):
    """Return rows of classes of all kinds, changed as a member does it."""
    zone = rng.integers(0, int(rng.choice([3, 30])), n)
    if member.numeric or isinstance(member, RankSwapping):
        true = rng.choice([rng.normal(20, 5, n), zone * 10.0, np.full(n, 7.0)]).round()
        true = np.where(rng.random(n) < 0.02, 500.0, true)
    else:
        kinds = np.array(list("abcde"))[: int(rng.integers(2, 6))]
        true = np.where(zone == 1, kinds[-1], rng.choice(kinds, n))
    values, codes = np.unique(true, return_inverse=True)
    plain = tuple(v.item() for v in values)
    cells = ColumnCells(Column("v", plain), codes)
    changed = perturb_cells({"v": cells}, {"v": (member,)}, rng)["v"]
    told = [changed.column.values[code] for code in changed.codes]
    return FrequencySet.from_rows(["zip", "v"], zip(zone.tolist(), told, strict=True))


def hold(counts, member):
    counts = counts.compact()
    classes = counts.codes_of("zip").astype(np.int64)
    codes = counts.codes_of("v").astype(np.int64)
    return ClaimFit.test(classes, codes, counts.rows, look_at(counts, "v"), member)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("member", MEMBERS, ids=str)
def test_what_chance_did_is_believed(member):
    """Classes are alike, odd, or of one value: a true claim is not refuted in 150 tables."""
    least = min(hold(published(member, np.random.default_rng(at)), member).probability
                for at in range(150))  # fmt: skip
    assert least > 1e-3


@pytest.mark.parametrize(
    "member",
    [
        Pram(keep=0.3),
        Pram(keep=0.3, invariant=True),
        RecordSwapping(share=0.8),
        RankSwapping(distance="40%"),
        PlainNoise(sd=300),
        PlainNoise(sd="100%", shape="laplace"),
        CorrelatedNoise(sd="100%"),
    ],
    ids=str,
)
def test_a_class_of_one_value_is_not_what_much_chance_leaves(member):
    numbers = member.numeric or isinstance(member, RankSwapping)
    rng = np.random.default_rng(0)
    others = rng.permutation(1000).tolist() if numbers else list("abcde") * 200
    odd = [others[0]] * 120 if not numbers else [500 + at % 3 for at in range(120)]
    rows = [(at % 9, value) for at, value in enumerate(others)] + [(9, value) for value in odd]
    counts = FrequencySet.from_rows(["zip", "v"], rows)
    assert not hold(counts, member).believable


def test_the_tail_is_that_of_many_draws():
    """With many rows to draw from, drawing without putting back is binomial."""
    tail = float(draw_tail(np.array(30), np.array(40), np.array(500_000), 1_000_000))
    bound = float(np.exp(_log_tail(np.array([30.0]), np.array([40.0]), np.array([0.5])))[0])
    assert tail <= bound <= 10 * tail
