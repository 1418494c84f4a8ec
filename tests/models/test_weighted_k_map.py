"""Weighted k-map against its definition, samples of known classes, and releases."""

from fractions import Fraction
from math import comb

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InfeasibleError, ParameterError, PolicyError
from sfumato.ledger.increment import require_group_models
from sfumato.models import EstimatedKMap, WeightedKMap
from sfumato.models.weighted_k_map import _hardly
from sfumato.partition import PARTITIONERS
from tests.builders import classes_of

CONFIDENCES = st.sampled_from([0.5, 0.9, 0.95, 0.99, 0.999])
WEIGHTS = st.sampled_from([0, 0.5, 1, 1.25, 2, 7, 40.5, 300])
CLASSES = st.lists(st.lists(WEIGHTS, min_size=1, max_size=12), min_size=1, max_size=5)


def textbook(weights: list[float], k: int) -> Fraction:
    """How likely k - 1 people, drawn as thinly as the class, show as many rows, if they show any.

    Written out: the people of the class are the sum of its weights, and no fewer than its rows.
    """
    rows, most = len(weights), k - 1
    people = max(sum(map(Fraction, weights)), Fraction(rows))
    share = Fraction(rows) / people

    def drawn(n: int) -> Fraction:
        return comb(most, n) * share**n * (1 - share) ** (most - n)

    return sum((drawn(n) for n in range(rows, most + 1)), Fraction(0)) / (1 - drawn(0))


def classes(*lists):
    rows = [(str(at), weight) for at, weights in enumerate(lists) for weight in weights]
    return classes_of(rows, column="wgt")


@given(lists=CLASSES, k=st.integers(2, 30), confidence=CONFIDENCES)
def test_a_class_passes_if_fewer_people_would_hardly_show_as_many_rows(lists, k, confidence):
    model = WeightedKMap("wgt", k, confidence)
    for weights, passes in zip(lists, model.passes(classes(*lists)).tolist(), strict=True):
        exact = textbook(weights, k)
        if abs(float(exact) - (1 - confidence)) > 1e-9:
            assert passes == (exact <= 1 - confidence)


@given(lists=CLASSES, confidence=CONFIDENCES)
def test_what_is_measured_is_the_most_that_all_classes_keep(lists, confidence):
    found = classes(*lists)
    kept = int(WeightedKMap("wgt", 2, confidence).measure(found)["k"])
    if kept >= 2:
        assert WeightedKMap("wgt", kept, confidence).passes(found).all()
    assert not WeightedKMap("wgt", kept + 1, confidence).passes(found).all()


@given(
    weight=st.sampled_from([1, 2, 4, 10, 100]),
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=6),
    k=st.integers(2, 40),
    confidence=CONFIDENCES,
)
def test_with_one_weight_it_is_the_estimate_from_a_fraction(weight, sizes, k, confidence):
    found = classes(*([weight] * size for size in sizes))
    other = EstimatedKMap(k, 1 / weight, confidence)
    assert WeightedKMap("wgt", k, confidence).passes(found).tolist() == other.passes(found).tolist()
    assert WeightedKMap("wgt", k, confidence).measure(found) == other.measure(found)


@given(one=CLASSES, k=st.integers(2, 25), confidence=CONFIDENCES)
def test_a_class_that_passes_still_does_with_any_other(one, k, confidence):
    first, *others = one
    model = WeightedKMap("wgt", k, confidence)
    if not model.passes(classes(first))[0]:
        return
    for other in others:
        assert model.passes(classes(first + other))[0]


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.99])
def test_with_as_many_people_more_rows_are_never_worse(confidence):
    for most in range(1, 60):
        rows = np.arange(1, most + 2)
        for people in np.geomspace(1, 100 * most, 80):
            verdicts = _hardly(rows, np.full(len(rows), people), most, confidence)
            assert (np.diff(verdicts.astype(int)) >= 0).all()


def test_a_row_alone_never_passes_however_much_it_stands_for():
    assert not WeightedKMap("wgt", 2).passes(classes([1e9]))[0]
    assert WeightedKMap("wgt", 2).measure(classes([1e9])) == {"k": 1}
    assert WeightedKMap("wgt", 2).passes(classes([1e9] * 2))[0]


def test_weights_that_say_that_all_were_drawn_make_it_k_anonymity():
    found = classes([1, 1, 1, 1], [1.5, 0.5, 1, 1, 1], [0, 0, 0, 0, 0])
    assert WeightedKMap("wgt", 5).passes(found).tolist() == [False, True, True]
    assert WeightedKMap("wgt", 5).measure(found) == {"k": 4}


@pytest.mark.parametrize("weight", [5, 20, 100])
def test_of_small_classes_that_are_drawn_hardly_any_passes(weight):
    # Classes of 9 people, each drawn by itself and weighted with one over its chance.
    rng = np.random.default_rng(weight)
    rows = rng.binomial(9, 1 / weight, size=20_000)
    shown = rows[rows > 0]
    model = WeightedKMap("wgt", 10, confidence=0.95)
    passing = {n: bool(model.passes(classes([weight] * n))[0]) for n in set(shown.tolist())}
    assert np.mean([passing[n] for n in shown.tolist()]) <= 0.05 + 0.01


@pytest.mark.parametrize("wrong", [{"k": 1}, {"confidence": 0.4}, {"confidence": 1}, {"column": 3}])
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ParameterError):
        WeightedKMap(**{"column": "wgt", "k": 5, **wrong})


# Releases.


def survey(n: int = 300, seed: int = 1) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(20, 80, n),
            "sex": rng.choice(["f", "m"], n),
            "ill": rng.choice(["flu", "gout", "hiv"], n),
            "wgt": np.round(rng.gamma(3, 20, n) + 1, 2),
        }
    )


def policy(k: int = 150, **changes) -> sf.Policy:
    columns = {
        "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [5, 20]}},
        "sex": "quasi-identifier",
        "ill": "sensitive",
        "wgt": "weight",
    } | changes.pop("columns", {})
    settings_ = {"models": [{"model": "weighted-k-map", "column": "wgt", "k": k}], **changes}
    return sf.Policy(columns=columns, **settings_)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", ["full-domain", "regional", *PARTITIONERS])
def test_every_method_keeps_it_and_the_verifier_finds_the_same(tmp_path, method):
    written = sf.anonymize(survey(), policy(), method=method, output=tmp_path / "release")
    found = sf.verify(tmp_path / "release")["weighted-k-map"]
    assert found.status == "holds"
    assert found.found == written.manifest.models[0].measured
    assert found.found["k"] >= 150
    # By the definition, from what is published.
    weights: dict[tuple, list[float]] = {}
    for row in pq.read_table(tmp_path / "release" / "data.parquet").to_pylist():
        weights.setdefault((row["age"], row["sex"]), []).append(row["wgt"])
    for each in weights.values():
        assert len(set(each)) == 1
        assert textbook(each, 150) <= Fraction(1, 100) + Fraction(1, 10**9)


@given(seed=st.integers(0, 10**6), k=st.integers(2, 400), suppression=st.sampled_from([0, 0.2]))
@settings(max_examples=15, deadline=None)
def test_what_was_judged_is_what_readers_recompute(seed, k, suppression):
    rng = np.random.default_rng(seed)
    table = survey(int(rng.integers(5, 60)), seed)
    try:
        release = sf.anonymize(table, policy(k, suppression=suppression))
    except InfeasibleError:
        assert textbook(table["wgt"].to_pylist(), k) > Fraction(1, 100) - Fraction(1, 10**9)
        return
    assert release.verdict.holds


def test_a_release_whose_weights_were_made_smaller_is_broken(tmp_path):
    sf.anonymize(survey(), policy(), output=tmp_path / "release", format="csv")
    file = tmp_path / "release" / "data.csv"
    lines = file.read_text().splitlines()
    at = lines[0].split(",").index("wgt")
    cells = [line.split(",") for line in lines]
    small = [",".join([*row[:at], "1", *row[at + 1 :]]) for row in cells[1:]]
    file.write_text("\n".join([lines[0], *small]) + "\n")
    assert sf.verify(tmp_path / "release")["weighted-k-map"].status == "broken"


def test_a_table_as_it_is_can_be_held_to_it():
    found = sf.verify(survey(), policy())["weighted-k-map"]
    assert found.status == "broken"
    assert found.found == {"k": 1}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"columns": {"wgt": "plain"}}, "'wgt', which is plain: it must have the role weight"),
        ({"columns": {"wgt": {"role": "weight", "round": 10}}}, "rounded or with noise: no reader"),
        ({"columns": {"wgt": {"role": "weight", "perturb": 0.1}}}, "rounded or with noise"),
        (
            {"models": [{"model": "weighted-k-map", "column": "w", "k": 5}]},
            "'w', which is not under columns: .*'wgt'",
        ),
        (
            {
                "columns": {"rep": "weight"},
                "models": [{"model": "weighted-k-map", "column": "rep", "k": 5}],
            },
            "the first weight of a policy, 'wgt'",
        ),
        ({"columns": {"id": "identifier"}, "person": "id"}, "people have several rows here"),
    ],
)
def test_what_no_reader_could_check_is_refused(changes, words):
    with pytest.raises(PolicyError, match=words):
        policy(**changes)


def test_a_ledger_refuses_it():
    with pytest.raises(PolicyError, match="a ledger cannot keep weighted-k-map"):
        require_group_models(policy())
