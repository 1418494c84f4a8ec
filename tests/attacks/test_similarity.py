"""Similarity: the definition row by row, the printed tables, and the law of two categories."""

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato import samples
from sfumato.attacks import Homogeneity, Similarity, Target
from sfumato.classes import SensitiveColumn, classes_from
from sfumato.counts import FrequencySet
from sfumato.errors import ParameterError, PolicyError
from sfumato.harm import HarmRule
from sfumato.hierarchy.base import Hierarchy
from sfumato.models import (
    EnhancedPAlphaSensitiveKAnonymity,
    PAlphaSensitiveKAnonymity,
    PSensitiveKAnonymity,
)
from tests.attacks.tables import TREE, literally
from tests.builders import LABELS, classes_of
from tests.models.printed import (
    CATEGORIES,
    THREE_ONE_SENSITIVE_FOUR_ANONYMOUS,
    TWO_SENSITIVE_FOUR_ANONYMOUS,
)
from tests.models.tables import COUNTED, classes_with_tree

THREE = (("cancer",), ("hiv", "gout"), ("flu",))
CATEGORY = {"cancer": 0, "hiv": 1, "gout": 1, "flu": 2}
NUMBERS = st.one_of(
    st.integers(-5, 5),
    st.integers(-50, 50).map(lambda n: n / 10),
    st.decimals(-3, 3, places=2).map(str),
    st.none(),
)
NUMERIC_ROWS = st.lists(st.tuples(LABELS, NUMBERS), min_size=1, max_size=25)


def verdicts(attack, rows):
    return attack.run(classes_of(rows, column=attack.column)).vulnerable.tolist()


# Categories


@given(rows=COUNTED)
def test_categories_agree_with_comparing_every_two_rows(rows):
    attack = Similarity("disease", categories=THREE)
    assert verdicts(attack, rows) == literally(rows, lambda a, b: CATEGORY[a] == CATEGORY[b])


@given(rows=COUNTED, p=st.integers(2, 3), alpha=st.integers(0, 4), k=st.integers(2, 6))
def test_a_class_of_two_categories_or_more_withstands_the_attack(rows, p, alpha, k):
    classes = classes_of(rows, column="disease")
    passes = EnhancedPAlphaSensitiveKAnonymity("disease", p, alpha, k, THREE).passes(classes)
    attacked = Similarity("disease", categories=THREE).run(classes).vulnerable
    assert not (passes & attacked).any()


def judged(kind, rows, p, alpha):
    return kind("disease", p, alpha, 4, CATEGORIES).passes(classes_of(rows, column="disease"))


def test_the_2_sensitive_4_anonymous_table_suffers_in_two_of_its_classes():
    rows = TWO_SENSITIVE_FOUR_ANONYMOUS
    classes = classes_of(rows, column="disease")
    assert PSensitiveKAnonymity("disease", p=2, k=4).passes(classes).all()
    finding = Similarity("disease", categories=CATEGORIES).run(classes)
    # All not secret; mixed; all most secret.
    assert finding.vulnerable.tolist() == [True, False, True]
    assert (finding.classes, finding.rows, finding.of_rows) == (2, 8, 12)
    assert finding.share == pytest.approx(2 / 3)
    # A weight of 1 tells the two apart, two categories refuse both.
    assert judged(PAlphaSensitiveKAnonymity, rows, 2, 1).tolist() == [True, True, False]
    assert judged(EnhancedPAlphaSensitiveKAnonymity, rows, 2, 1).tolist() == [False, True, False]


def test_the_3_1_sensitive_4_anonymous_table_withstands_it_and_is_still_lopsided():
    rows = THREE_ONE_SENSITIVE_FOUR_ANONYMOUS
    assert judged(PAlphaSensitiveKAnonymity, rows, 3, 1).all()
    assert judged(PAlphaSensitiveKAnonymity, rows, 3, 2).tolist() == [False, True]
    assert judged(EnhancedPAlphaSensitiveKAnonymity, rows, 2, 1).all()
    assert not judged(EnhancedPAlphaSensitiveKAnonymity, rows, 3, 1).any()
    classes = classes_of(rows, column="disease")
    assert not Similarity("disease", categories=CATEGORIES).run(classes).suffers
    # Three quarters of the first class are of the most secret category, but that is not
    # certainty, and only certainty is found.
    first = [disease for label, disease in rows if label == "a_any"]
    assert Fraction(sum(disease in CATEGORIES[0] for disease in first), len(first)) == (
        Fraction(3, 4)
    )


def test_values_are_matched_as_they_are_written():
    attack = Similarity("stage", categories=[["2"], [1, 3]])
    assert verdicts(attack, [("A", 1.0), ("A", 3.0), ("B", 2.0), ("B", 1.0)]) == [True, False]


def test_a_truth_value_is_not_the_number_one():
    classes = classes_of([("A", True), ("A", False)], column="dead")
    Similarity("dead", categories=[["true"], ["false"]]).run(classes)
    with pytest.raises(PolicyError, match="has '1' in a category and column 'dead' has no such"):
        Similarity("dead", categories=[[1], [0]]).run(classes)


def test_a_value_without_a_category_is_like_no_other():
    attack = Similarity("disease", categories=[["hiv", "cancer"]])
    rows = [("A", "hiv"), ("A", "cancer"), ("B", "plague"), ("B", "plague")]
    assert verdicts(attack, rows) == [True, False]


def test_a_misspelt_value_is_named():
    attack = Similarity("disease", categories=[["hvi"]])
    with pytest.raises(PolicyError, match=r"has 'hvi' in a category.*Did you mean 'hiv'"):
        verdicts(attack, [("A", "hiv"), ("A", "plague")])


def test_lists_are_as_good_as_tuples():
    one = Similarity("disease", categories=[["hiv"], ["flu"]])
    assert one == Similarity("disease", categories=(("hiv",), ("flu",)))
    assert str(one) == "similarity(disease, 2 categories)"


# Numbers


@given(rows=NUMERIC_ROWS, within=st.integers(0, 40).map(lambda n: n / 10))
def test_a_range_agrees_with_subtracting_every_two_rows_exactly(rows, within):
    attack = Similarity("x", within=within)
    most = Fraction(str(within))
    assert verdicts(attack, rows) == literally(
        rows, lambda a, b: abs(Fraction(str(a)) - Fraction(str(b))) <= most
    )


@given(rows=NUMERIC_ROWS)
def test_a_wider_range_finds_no_less(rows):
    found = [np.array(verdicts(Similarity("x", within=w), rows)) for w in (0, 0.3, 1, 20)]
    for narrow, wide in pairwise(found):
        assert (wide | ~narrow).all()


def test_decimals_are_exact():
    # In floats 0.8 - 0.7 is 0.10000000000000009.
    rows = [("A", "0.2"), ("A", "0.3"), ("B", "0.7"), ("B", "0.8"), ("C", 0.7), ("C", 0.81)]
    assert verdicts(Similarity("x", within=0.1), rows) == [True, True, False]


def test_numbers_that_floats_cannot_tell_apart_still_are():
    near, far = "9007199254740993", "9007199254740992"
    rows = [("A", near), ("A", far), ("B", far), ("B", "9007199254740994")]
    assert float(near) == float(far)
    assert verdicts(Similarity("x", within=0), rows) == [False, False]
    assert verdicts(Similarity("x", within=1), rows) == [True, False]
    tail = Decimal("0.1000000000000000000000000000000001")
    assert verdicts(Similarity("x", within=0.1), [("A", 0), ("A", tail)]) == [False]


def test_two_spellings_of_a_number_are_one_number():
    assert verdicts(Similarity("x", within=0), [("A", "7"), ("A", "07"), ("A", "7.0")]) == [True]


def test_the_extremes_of_floats_can_be_compared():
    rows = [("A", 1.7e308), ("A", -1.7e308), ("B", 5e-324), ("B", 0.0)]
    assert verdicts(Similarity("x", within=1.7e308), rows) == [False, True]


def test_the_printed_salaries_are_alike_in_the_class_of_the_young():
    rows = [
        ((row["zipcode"][:3], int(row["age"]) // 10), row["salary"])
        for row in samples.table("similarity").to_pylist()
    ]
    rows = [(str(key), salary) for key, salary in rows]
    # 60, 70 and 80 thousand; the other classes span 40 and 60 thousand.
    assert verdicts(Similarity("salary", within=20_000), rows) == [True, False, False]
    assert not any(verdicts(Similarity("salary", within=19_999), rows))
    assert verdicts(Similarity("salary", within=40_000), rows) == [True, True, False]


def test_values_that_are_no_numbers_are_named():
    with pytest.raises(PolicyError, match=r"2 of the 3 values of column 'x' are not num.*'high'"):
        verdicts(Similarity("x", within=1), [("A", 1), ("A", "high"), ("B", "low")])


def test_numbers_of_numpy_are_numbers():
    assert Similarity("x", within=np.int64(3)).params() == {"column": "x", "within": 3}
    assert str(Similarity("x", within=np.float64(2.5))) == "similarity(x, within=2.5)"


# Levels


@pytest.mark.parametrize("level", [0, 1, 2])
@given(rows=COUNTED)
def test_a_level_agrees_with_comparing_every_two_labels(level, rows):
    def label(value):
        return [value, *TREE[value]][level]

    found = Similarity("disease", level=level).run(classes_with_tree(rows)).vulnerable
    assert found.tolist() == literally(rows, lambda a, b: label(a) == label(b))


@given(rows=COUNTED)
def test_the_values_themselves_are_the_homogeneity_attack(rows):
    classes = classes_with_tree(rows)
    same = Homogeneity("disease").run(classes).vulnerable.tolist()
    assert Similarity("disease", level=0).run(classes).vulnerable.tolist() == same


def classes_under(paths, rows):
    hierarchy = Hierarchy.from_paths(list(paths), list(paths.values()))
    counts = FrequencySet.from_rows(["label", "disease"], rows)
    known = counts.column("disease").known
    # Not in the order of the column: the ladder's own order must not matter.
    ladder = hierarchy.bind("disease", known[::-1])
    return classes_from(counts, ("label",), {"disease": SensitiveColumn("disease", known, ladder)})


def test_a_branch_that_reaches_the_top_early_says_nothing_there():
    paths = {"flu": ["viral", "*"], "hiv": ["viral", "*"], "gout": ["*", "*"], "ms": ["*", "*"]}
    rows = [("A", "flu"), ("A", "hiv"), ("B", "gout"), ("B", "ms"), ("C", "hiv"), ("C", "gout")]
    finding = Similarity("disease", level=1).run(classes_under(paths, rows))
    assert finding.vulnerable.tolist() == [True, False, False]


@pytest.mark.parametrize("level", [3, 4])
def test_the_top_is_refused(level):
    with pytest.raises(
        PolicyError, match=f"level {level}: the hierarchy of 'disease' ends at l.*3"
    ):
        Similarity("disease", level=level).run(classes_with_tree([("A", "flu")]))


def test_a_level_without_a_hierarchy_is_refused():
    with pytest.raises(PolicyError, match="needs a hierarchy of 'disease' and it has none"):
        verdicts(Similarity("disease", level=1), [("A", "flu")])


# All three ways


@pytest.mark.parametrize(
    "way", [{"categories": THREE}, {"within": 1}, {"level": 1}], ids=lambda way: next(iter(way))
)
def test_everything_missing_gives_nothing_away(way):
    assert verdicts(Similarity("disease", **way), [("A", None), ("B", None)]) == [False, False]


@pytest.mark.parametrize(
    "ways", [{}, {"within": 1, "level": 1}, {"categories": THREE, "within": 0, "level": 0}]
)
def test_what_is_alike_is_said_in_exactly_one_way(ways):
    with pytest.raises(ParameterError, match="exactly one of categories, within and level, got"):
        Similarity("disease", **ways)


@pytest.mark.parametrize(
    "bad",
    [
        {"within": -1}, {"within": "1"}, {"within": float("nan")}, {"within": True},
        {"level": -1}, {"level": 1.5}, {"level": True},
        {"categories": []}, {"categories": "hiv"}, {"categories": [["hiv"], ["hiv"]]},
    ],
    ids=str,
)  # fmt: skip
def test_refuses_settings_that_make_no_sense(bad):
    with pytest.raises(ParameterError, match=f"{next(iter(bad))} must be "):
        Similarity("disease", **bad)


# What is tried where nobody says what is alike


def against(rows, ladder=None):
    counts = FrequencySet.from_rows(["label", "x"], rows)
    ladders = {} if ladder is None else {"x": ladder.bind("x", counts.column("x").known)}
    return Similarity.against(Target.of_table(counts, ("label",), ("x",), ladders), 0.75)


def test_every_level_between_the_values_and_the_top_is_tried():
    values = ["a", "b", "c", "d"]
    paths = [["ab", "ab", "abc", "*"], ["ab", "ab", "abc", "*"], ["c", "c", "abc", "*"]]
    ladder = Hierarchy.from_paths(values, [*paths, ["d", "d", "d", "*"]])
    rows = [("A", value) for value in values]
    # Level 2 says what level 1 says.
    assert against(rows, ladder) == [Similarity("x", level=1), Similarity("x", level=3)]


@pytest.mark.parametrize(
    ("values", "within"),
    [
        ([0, 5, 100], 10),
        (["1000", "1050", "2000"], 100),
        ([0, 50, 100], None),
        ([7, 7], None),
        ([1, 2, "many"], None),
        ([None], None),
        ([0.25, 0.5, 25.25], 2.5),
        ([-1.7e308, 0, 1, 1.7e308], 3.4e307),
    ],
    ids=str,
)
def test_of_numbers_a_tenth_of_their_range_is_tried_if_some_are_that_close(values, within):
    expected = [] if within is None else [Similarity("x", within=within)]
    assert against([("A", value) for value in values]) == expected


def test_without_a_hierarchy_or_numbers_it_says_that_nothing_says_what_is_alike():
    counts = FrequencySet.from_rows(["label", "x"], [("A", "flu")])
    target = Target.of_table(counts, ("label",), ("x",))
    assert Similarity.against(target, HarmRule()) == []
    assert "no sensitive column has categories, a hierarchy or numbers" in Similarity.why_not(
        target
    )


def test_what_most_people_are_anyway_harms_no_person():
    rows = [("A", "hiv"), ("A", "cancer"), ("A", "hiv"), ("A", "flu"), *[("B", "flu")] * 8]
    attack = Similarity("x", categories=[["hiv", "cancer"], ["flu"]])
    counts = FrequencySet.from_rows(["label", "x"], rows)
    outcome = attack.on(Target.of_table(counts, ("label",), ("x",)), HarmRule())
    case = next(case for case in outcome.worst if case.who == {"label": "A"})
    assert (case.prior, case.posterior) == (0.25, 0.75)
    assert case.believed == "x is one of 'hiv', 'cancer'"
    # That the other class has flu is what three in four have: it was believed before.
    assert outcome.by_level == {"very high": 0, "high": 0, "moderate": 0}
