"""pyCANON as a second opinion on clean tables, where it is installed.

It pins exact versions of NumPy, pandas and others, so it is no development dependency
of ours; run these tests in an environment of its own. It has no missing values here and
each class holds every value, because on other tables it is wrong: missing
quasi-identifiers are dropped, and δ-disclosure ignores absent values.
"""

import math
import random

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

anonymity = pytest.importorskip("pycanon.anonymity", reason="pycanon is not installed")
pd = pytest.importorskip("pandas")


@pytest.fixture(params=range(20))
def table(request):
    rng = random.Random(request.param)
    rows = [(label, disease) for label in "ABC" for disease in (1, 2, 3, 4)]
    rows += [(rng.choice("ABC"), rng.choice((1, 1, 1, 2, 3, 4))) for _ in range(rng.randint(0, 60))]
    frame = pd.DataFrame(rows, columns=["label", "disease"])
    return classes_of(rows, column="disease"), frame


def ask(function, frame, **options):
    return function(frame, ["label"], ["disease"], **options)


def test_k_and_distinct_l_agree(table):
    classes, frame = table
    assert KAnonymity(2).measure(classes)["k"] == anonymity.k_anonymity(frame, ["label"])
    l = DistinctLDiversity("disease", l=2).measure(classes)["l"]
    assert l == ask(anonymity.l_diversity, frame)


def test_alpha_agrees(table):
    classes, frame = table
    alpha, k = ask(anonymity.alpha_k_anonymity, frame)
    measured = AlphaKAnonymity("disease", alpha=0.5, k=2).measure(classes)
    assert measured == {"alpha": pytest.approx(alpha), "k": k}


def test_entropy_agrees_once_rounded_down(table):
    classes, frame = table
    l = EntropyLDiversity("disease", l=2).measure(classes)["l"]
    # It rounds l down to a whole number, and rounding errors can cost it a whole one.
    assert ask(anonymity.entropy_l_diversity, frame) in (math.floor(l), math.floor(l - 1e-9))


def test_t_agrees_with_ordered_numbers_and_with_equally_distant_texts(table):
    classes, frame = table
    ordered = TCloseness("disease", t=0.5, distance="ordered").measure(classes)["t"]
    assert ordered == pytest.approx(ask(anonymity.t_closeness, frame))
    texts = frame.assign(disease=frame["disease"].map(str))
    equal = TCloseness("disease", t=0.5).measure(classes)["t"]
    assert equal == pytest.approx(ask(anonymity.t_closeness, texts))


def test_basic_beta_agrees(table):
    classes, frame = table
    beta = BasicBetaLikeness("disease", beta=1).measure(classes)["beta"]
    assert beta == pytest.approx(ask(anonymity.basic_beta_likeness, frame))


def test_delta_agrees_where_no_value_is_absent(table):
    classes, frame = table
    delta = DeltaDisclosure("disease", delta=1).measure(classes)["delta"]
    assert delta == pytest.approx(ask(anonymity.delta_disclosure, frame))


def test_its_recursive_c_is_the_truth_upside_down(table):
    # With four values in each class and l = 4 the truth is largest/smallest; it sorts upwards.
    classes, frame = table
    counts = [group.value_counts() for _, group in frame.groupby("label")["disease"]]
    ours = RecursiveCLDiversity("disease", c=1, l=4).measure(classes)["c"]
    assert ours == pytest.approx(max(n.max() / n.min() for n in counts))
    theirs = max(math.floor(n.min() / n.max() + 1) for n in counts)
    assert ask(anonymity.recursive_c_l_diversity, frame) == (theirs, 4)


def test_its_enhanced_beta_answers_another_question(table):
    # It takes min(largest gain, -ln q) over values; whether a gain exceeds its -ln q it never asks.
    classes, frame = table
    basic = BasicBetaLikeness("disease", beta=1).measure(classes)["beta"]
    q = frame["disease"].value_counts(normalize=True).to_numpy()
    theirs = ask(anonymity.enhanced_beta_likeness, frame)
    assert theirs == pytest.approx(np.minimum(basic, -np.log(q)).max())
    ours = EnhancedBetaLikeness("disease", beta=1).measure(classes)["beta"]
    assert ours in (pytest.approx(basic), math.inf)
