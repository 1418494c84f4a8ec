"""pyCANON as a second opinion on clean tables: its figures, recorded.

The tables have no missing values and each class holds every value, because on others it
is wrong: missing quasi-identifiers are dropped, and δ-disclosure ignores absent values.
See `benchmarks/peers/record_pycanon.py`.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from sfumato.models import (
    AlphaKAnonymity,
    BasicBetaLikeness,
    DeltaDisclosure,
    DistinctLDiversity,
    EnhancedBetaLikeness,
    EntropyLDiversity,
    KAnonymity,
    RecursiveCLDiversity,
    TCloseness,
)
from tests.builders import classes_of

TABLES = json.loads((Path(__file__).parents[1] / "oracle" / "pycanon.json").read_text())


@pytest.fixture(params=range(len(TABLES)))
def table(request):
    """The classes, pyCANON's figures, and the counts of the four values in each class."""
    case = TABLES[request.param]
    rows = [(label, value) for label, value, n in case["counts"] for _ in range(n)]
    counts = np.array([n for _, _, n in case["counts"]]).reshape(3, 4)
    return classes_of(rows, column="disease"), case["figures"], counts


def test_k_and_distinct_l_agree(table):
    classes, theirs, _ = table
    assert KAnonymity(2).measure(classes)["k"] == theirs["k"]
    assert DistinctLDiversity("disease", l=2).measure(classes)["l"] == theirs["l"]


def test_alpha_agrees(table):
    classes, theirs, _ = table
    measured = AlphaKAnonymity("disease", alpha=0.5, k=2).measure(classes)
    assert measured == {"alpha": pytest.approx(theirs["alpha"]), "k": theirs["alpha k"]}


def test_entropy_agrees_once_rounded_down(table):
    classes, theirs, _ = table
    l = EntropyLDiversity("disease", l=2).measure(classes)["l"]
    # It rounds l down to a whole number, and rounding errors can cost it a whole one.
    assert theirs["entropy l"] in (math.floor(l), math.floor(l - 1e-9))


def test_t_agrees_with_ordered_numbers_and_with_equally_distant_texts(table):
    classes, theirs, _ = table
    ordered = TCloseness("disease", t=0.5, distance="ordered").measure(classes)["t"]
    assert ordered == pytest.approx(theirs["ordered t"])
    equal = TCloseness("disease", t=0.5).measure(classes)["t"]
    assert equal == pytest.approx(theirs["equal t"])


def test_basic_beta_agrees(table):
    classes, theirs, _ = table
    beta = BasicBetaLikeness("disease", beta=1).measure(classes)["beta"]
    assert beta == pytest.approx(theirs["basic beta"])


def test_delta_agrees_where_no_value_is_absent(table):
    classes, theirs, _ = table
    delta = DeltaDisclosure("disease", delta=1).measure(classes)["delta"]
    assert delta == pytest.approx(theirs["delta"])


def test_its_recursive_c_is_the_truth_upside_down(table):
    # With four values in each class and l = 4 the truth is largest/smallest; it sorts upwards.
    classes, theirs, counts = table
    largest, smallest = counts.max(axis=1), counts.min(axis=1)
    ours = RecursiveCLDiversity("disease", c=1, l=4).measure(classes)["c"]
    assert ours == pytest.approx((largest / smallest).max())
    assert theirs["recursive"] == [np.floor(smallest / largest + 1).max(), 4]


def test_its_enhanced_beta_answers_another_question(table):
    # It takes min(largest gain, -ln q) over values; whether a gain exceeds its -ln q it never asks.
    classes, theirs, counts = table
    basic = BasicBetaLikeness("disease", beta=1).measure(classes)["beta"]
    q = counts.sum(axis=0) / counts.sum()
    assert theirs["enhanced beta"] == pytest.approx(np.minimum(basic, -np.log(q)).max())
    ours = EnhancedBetaLikeness("disease", beta=1).measure(classes)["beta"]
    assert ours in (pytest.approx(basic), math.inf)
