"""Similarity: the definition row by row, the printed tables, and the law of two categories."""

import math
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato import samples
from sfumato.attacks import Homogeneity, Similarity, Target
from sfumato.attacks.similarity import PlaceCounts, by_distance, chance_of_windows, places, widths
from sfumato.classes import SensitiveColumn, classes_from
from sfumato.counts import FrequencySet
from sfumato.errors import ParameterError, PolicyError
from sfumato.harm import HarmRule, Level, Secrecy, chance_of_values
from sfumato.hierarchy.base import Hierarchy
from sfumato.models import (
    EnhancedPAlphaSensitiveKAnonymity,
    PAlphaSensitiveKAnonymity,
    PSensitiveKAnonymity,
)
from tests.attacks.tables import TREE, agree, literally, worst_of
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
    with pytest.raises(ParameterError, match="categories, within, outside and level, got"):
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


def widths_of(values):
    found = [attack.within for attack in against([("A", value) for value in values])]
    return [within for within in found if within is not None]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        # From the first to the last tenth of the people is 90; a tenth and a third of it.
        (range(101), [8, 27]),
        ([str(n / 10) for n in range(101)], [0.8, 2.7]),
        # Nine salaries: within a tenth of their range are no two.
        ([3000, 4000, 5000, 6000, 11000, 8000, 7000, 9000, 10000], [2700]),
        # Nine days of ten have nothing; the others say what is close.
        ([0] * 900 + [*range(0, 1010, 10)], [80, 270]),
        # Grades and codes are no measurements.
        ([1, 2, 3, 4, 5] * 20, []),
        ([0, 1] * 50, []),
        ([7, 7], []),
        # One word among numbers stops nobody.
        ([*range(100), "many"], [8, 27]),
        ([None], []),
        ([-1.7e308, *range(101), 1.7e308], [8.2, 27]),
    ],
    ids=str,
)
def test_of_numbers_a_tenth_and_a_third_of_the_central_range_are_tried(values, expected):
    assert widths_of(values) == expected


def ends_of(values):
    return [e.outside for e in against([("A", value) for value in values]) if e.outside is not None]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        # At each end a tenth of the people, and not one more.
        (range(100), [("9", "90")]),
        ([*range(100), 10**9], [("9", "91")]),
        # One value is told as the value it is; what most people have is at no end.
        ([1, *range(2, 60), *[60] * 6], [("6", None)]),
        # To have something, where most have nothing, and to owe are statements, too.
        ([0] * 900 + [*range(1, 101)], [(None, "91"), (None, "1")]),
        ([*range(-50, 50)], [("-41", "40"), ("-1", "1")]),
        ([1, 2, 3, 4, 5] * 20, []),
        (["2020-01-01", "many"], []),
    ],
    ids=str,
)
def test_a_tenth_of_the_people_at_each_end_is_tried(values, expected):
    assert ends_of(values) == expected


def test_what_is_outside_two_numbers_is_alike_at_each_end():
    rows = [("A", 1), ("A", 9), ("B", 70), ("B", 400), ("C", 1), ("C", 70), ("D", 30)]
    assert verdicts(Similarity("x", outside=(10, 60)), rows) == [True, True, False, False]
    assert verdicts(Similarity("x", outside=(None, 60)), rows) == [False, True, False, False]
    with pytest.raises(ParameterError, match="two numbers or days"):
        Similarity("x", outside=(10,))
    with pytest.raises(ParameterError, match="values like those of 'x'"):
        verdicts(Similarity("x", outside=(10, "many")), rows)


def test_days_are_alike_within_whole_days():
    days = [(date(2020, 1, 1) + timedelta(n)).isoformat() for n in range(366)]
    assert widths_of(days) == [29, 98]
    assert widths_of([*days, "1890-01-01", "9999-12-31"]) == [30, 98]


@pytest.mark.parametrize("extremes", [[], [10**9], [10**6] * 30, [-(10**12)] * 13])
def test_a_few_extremes_do_not_decide_what_is_close(extremes):
    """Thirteen values of 6 524 made four thousand people seem alike, or eight hundred."""
    rng = np.random.default_rng(16)
    creatinine = np.round(rng.lognormal(0, 0.3, 2000), 2).tolist()
    narrow, wide = widths_of([*creatinine, *extremes])
    assert narrow == pytest.approx(0.08, abs=0.01)
    assert wide == pytest.approx(0.26, abs=0.015)


def test_a_width_of_the_policy_is_taken_and_none_means_that_numbers_are_names():
    counts = classes_of([("A", n) for n in range(100)], column="x").counts_of("x")
    for width, expected in ((5, (5,)), (0, ()), (None, (8, 27))):
        column = replace(counts.column, width=width)
        assert widths(replace(counts, column=column)) == expected


def test_without_a_hierarchy_or_numbers_it_says_that_nothing_says_what_is_alike():
    counts = FrequencySet.from_rows(["label", "x"], [("A", "flu")])
    target = Target.of_table(counts, ("label",), ("x",))
    assert Similarity.against(target, HarmRule()) == []
    assert "no categories, no hierarchy, and no six different numbers" in Similarity.why_not(target)


# What a share of a class is worth: the rule for harm, word by word


def target_of(rows, ladder=None):
    counts = FrequencySet.from_rows(["label", "x"], rows)
    ladders = {} if ladder is None else {"x": ladder.bind("x", counts.column("x").known)}
    return Target.of_table(counts, ("label",), ("x",), ladders)


@given(rows=COUNTED)
def test_every_category_of_a_class_is_judged_by_the_rule(rows):
    named = [(label, value) for label, value in rows]
    sets = [lambda v, c=c: v in c for c in THREE]
    outcome = Similarity("x", categories=_occurring(THREE, named)).on(target_of(named), HarmRule())
    agree(outcome, named, worst_of(named, lambda _: sets))


def _occurring(categories, rows):
    there = {value for _, value in rows}
    kept = [[v for v in each if v in there] for each in categories]
    return [each for each in kept if each] or [["flu"]]


@given(rows=NUMERIC_ROWS, within=st.integers(0, 40).map(lambda n: n / 10))
def test_every_range_that_begins_in_a_class_is_judged_by_the_rule(rows, within):
    rows = [(label, None if v is None else Fraction(str(v))) for label, v in rows]
    width = Fraction(str(within))

    def sets(known):
        return [lambda v, low=low: low <= v <= low + width for low in known]

    written = [(label, None if v is None else float(v)) for label, v in rows]
    outcome = Similarity("x", within=within).on(target_of(written), HarmRule())
    agree(outcome, rows, worst_of(rows, sets))


@pytest.mark.parametrize("share", [0.75, 0.9, 1.0])
def test_a_class_most_of_which_is_stigmatising_is_found(share):
    """26 % of the table, three quarters and more of the class: not all are alike."""
    stigma, rest = ["hiv", "syphilis", "addiction"], ["flu", "gout", "cough", "asthma"]
    few = round(20 * share)
    rows = [("A", stigma[i % 3]) for i in range(few)] + [
        ("A", rest[i % 4]) for i in range(20 - few)
    ]
    rows += [
        (f"{c}", ill) for c in range(40) for ill in [*stigma[:2] * 2, stigma[2], *rest * 4][:20]
    ]
    outcome = Similarity("x", categories=[stigma]).on(target_of(rows), HarmRule())
    assert outcome.by_level == {"very high": 20, "high": 0, "moderate": 0}
    assert outcome.worst[0].who == {"label": "A"}
    assert outcome.worst[0].posterior == pytest.approx(share)
    assert "category-share, column: x, share: 0.74, categories: [[addiction, hiv, syph" in (
        outcome.advice
    )


def test_three_quarters_most_secret_of_the_printed_class_are_very_high():
    outcome = Similarity("x", categories=CATEGORIES).on(
        target_of(THREE_ONE_SENSITIVE_FOUR_ANONYMOUS + [("c", "Flu")] * 3), HarmRule()
    )
    worst = next(case for case in outcome.worst if case.who == {"label": "a_any"})
    # Three of eleven, and three of four.
    assert (worst.prior, worst.posterior) == (pytest.approx(3 / 11), 0.75)
    assert (worst.people, worst.level) == (4, Level.VERY_HIGH)
    assert worst.believed == "x is one of 'Cancer', 'HIV'"


def test_three_low_salaries_among_nine_are_found_without_being_told():
    rows = [("young", 3000), ("young", 4000), ("young", 5000)]
    rows += [("b", 6000), ("b", 11000), ("b", 8000), ("c", 7000), ("c", 9000), ("c", 10000)]
    target = target_of(rows)
    [attack] = Similarity.against(target, HarmRule())
    outcome = attack.on(target, HarmRule())
    assert outcome.people == 3
    worst = outcome.worst[0]
    assert (worst.who, worst.believed) == ({"label": "young"}, "x from 3000 to 5000")
    assert (worst.prior, worst.posterior) == (pytest.approx(1 / 3), 1.0)


def test_what_most_people_are_anyway_harms_no_person():
    rows = [("A", "hiv"), ("A", "cancer"), ("A", "hiv"), ("A", "flu"), *[("B", "flu")] * 8]
    attack = Similarity("x", categories=[["hiv", "cancer"], ["flu"]])
    outcome = attack.on(target_of(rows), HarmRule())
    case = outcome.worst[0]
    assert (case.who, case.prior, case.posterior) == ({"label": "A"}, 0.25, 0.75)
    assert case.believed == "x is one of 'hiv', 'cancer'"
    # That the other class has flu is what three in four have: it was believed before.
    assert outcome.by_level == {"very high": 4, "high": 0, "moderate": 0}


def with_secrecy(rows, **secrecy):
    """A target whose values are secret or harmless as said; the others are ordinary."""
    target = target_of(rows)
    counts = target.classes.counts_of("x")
    levels = [secrecy.get(value, Secrecy.ORDINARY) for value in counts.column.values]
    column = replace(counts.column, secrecy=np.array(levels, dtype=np.int64))
    classes = replace(target.classes, sensitive={"x": replace(counts, column=column)})
    return replace(target, classes=classes)


def test_values_that_are_called_secret_are_a_category():
    rows = [("A", "hiv"), ("A", "cancer"), ("A", "flu"), ("A", "cough")]
    rows += [(f"{c}", ill) for c in range(3) for ill in ("flu", "cough", "gout")] + [("0", "hiv")]
    plain = target_of(rows)
    assert Similarity.against(plain, HarmRule()) == []
    target = with_secrecy(rows, hiv=Secrecy.SECRET, cancer=Secrecy.SECRET)
    [attack] = Similarity.against(target, HarmRule())
    assert attack == Similarity("x", categories=[["cancer", "hiv"]])


@pytest.mark.parametrize(
    ("secrecy", "level"),
    [
        ({}, Level.HIGH),
        ({"hiv": Secrecy.SECRET, "cancer": Secrecy.SECRET}, Level.VERY_HIGH),
        ({"hiv": Secrecy.SECRET}, Level.HIGH),
        ({"hiv": Secrecy.HARMLESS, "cancer": Secrecy.HARMLESS}, Level.LOW),
        ({"hiv": Secrecy.HARMLESS}, Level.HIGH),
    ],
    ids=str,
)
def test_a_category_is_as_secret_as_all_its_values(secrecy, level):
    rows = [("A", "hiv"), ("A", "cancer"), ("A", "flu"), ("A", "cough")]
    rows += [("B", "flu"), ("B", "cough"), ("B", "gout")] * 4
    outcome = Similarity("x", categories=[["hiv", "cancer"]]).on(
        with_secrecy(rows, **secrecy), HarmRule()
    )
    assert outcome.level == level


# Chance


TABLES = {
    "even": lambda rng: rng.integers(0, 1000, 3000),
    "bell": lambda rng: np.rint(rng.normal(500, 100, 3000)),
    "skewed": lambda rng: np.rint(100 * rng.lognormal(0, 1, 3000)),
    "mostly nothing": lambda rng: np.where(rng.random(3000) < 0.8, 0, rng.integers(1, 99, 3000)),
    "few values": lambda rng: rng.integers(0, 12, 3000),
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("size", [3, 5, 12])
def test_chance_is_no_less_than_drawing_classes_at_random_shows(kind, size):
    """And not much more: a bound that excuses everything would be none."""
    rng = np.random.default_rng(size)
    values = TABLES[kind](rng).astype(np.int64)
    drawn = rng.permuted(np.tile(values, (4, 1)), axis=1)[:, : 3000 - 3000 % size]
    rows = [(i, v) for i, v in enumerate(values.tolist())]
    counts = classes_of(rows, column="x").counts_of("x")
    rule, draws = HarmRule(), drawn.reshape(-1, size)
    for within in widths(counts):
        inside = (draws[:, None, :] >= draws[:, :, None]) & (
            draws[:, None, :] <= draws[:, :, None] + within
        )
        line = np.sort(values)
        prior = (
            np.searchsorted(line, draws + within, side="right") - np.searchsorted(line, draws)
        ) / len(line)
        levels = rule.levels(prior, inside.sum(axis=2) / size).max(axis=1)
        likeness = by_distance(counts.column, within)
        chance = chance_of_windows(
            rule,
            np.array([1, 2, 3]),
            np.full(3, size),
            np.full(3, size),
            np.full(3, 1),
            places(counts, likeness),
        )
        for level in (1, 2, 3):
            seen, bound = (levels >= level).mean(), float(chance.reach[level - 1, 0])
            error = 4 * np.sqrt(max(seen, 1e-4) / len(levels))
            assert seen <= 1.1 * bound + error
            assert bound <= min(3 * seen + error, 1.0) + 0.02


@given(
    reference=st.lists(st.integers(1, 9), min_size=2, max_size=5),
    size=st.integers(2, 4),
    level=st.sampled_from([1, 2, 3]),
)
def test_the_chance_of_categories_is_the_one_of_values(reference, size, level):
    table = PlaceCounts(np.array(reference), np.array(reference), sum(reference))
    sizes = np.array([size])
    mine = chance_of_windows(
        HarmRule(), np.array([level]), sizes, sizes, np.array(reference[:1]), table
    )
    theirs = chance_of_values(
        HarmRule(), sizes, sizes, np.array(reference[:1]), np.array(reference)
    )
    assert mine.reach[level - 1, 0] == pytest.approx(theirs.reach[level - 1, 0])


@pytest.mark.parametrize("seed", range(3))
def test_classes_of_close_numbers_are_found_among_those_that_are_not(seed):
    """Five people each, 20 of 400 classes: within a fiftieth of the range, but for one of five."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 10_000, (400, 5))
    values[:20, :4] = rng.integers(0, 9000, (20, 1)) + rng.integers(0, 200, (20, 4))
    rows = [(f"{i:03}", v) for i, five in enumerate(values.tolist()) for v in five]
    target = target_of(rows)
    narrow = Similarity.against(target, HarmRule())[0]
    outcome = narrow.on(target, HarmRule())
    # Chance makes about four more such classes, and cannot be told from them.
    assert 100 <= outcome.people <= 150


def test_one_outlier_in_a_class_does_not_hide_the_others():
    rng = np.random.default_rng(1)
    values = rng.integers(0, 10_000, (50, 100))
    values[0, :90] = rng.integers(3000, 3500, 90)
    rows = [(f"{i:02}", v) for i, many in enumerate(values.tolist()) for v in many]
    target = target_of(rows)
    for attack in Similarity.against(target, HarmRule()):
        if attack.within is not None:
            outcome = attack.on(target, HarmRule())
            assert (outcome.people, outcome.worst[0].who) == (100, {"label": "00"})


def planted(rng):
    """Classes of people, and most of the people of one of 20 or more."""
    n, k = int(rng.choice([1000, 5000])), int(rng.choice([5, 10, 20, 50, 100]))
    groups = n // (k + k // 2)
    label = np.concatenate(
        [np.repeat(np.arange(groups), k), rng.integers(0, groups, n - groups * k)]
    )
    label[: max(20, k)] = 0
    members = np.flatnonzero(label == 0)
    chosen = members[: math.ceil(rng.uniform(0.76, 1) * len(members))]
    return label.tolist(), chosen


@pytest.mark.usefixtures("patience")
def test_three_quarters_and_more_of_a_category_are_found_among_any_others(some):
    """Of categories that at most 36 % of all people have: twice as likely is what it takes."""
    missed, tables = 0, some(30, of=150)
    for seed in range(tables):
        rng = np.random.default_rng(seed)
        shares = rng.dirichlet(np.full(rng.integers(3, 7), 4.0))
        per = int(rng.integers(2, 6))
        label, chosen = planted(rng)
        category = rng.choice(len(shares), len(label), p=shares)
        category[chosen] = max(np.flatnonzero(shares < 0.36), key=lambda c: shares[c])
        values = [
            f"{c} {i}" for c, i in zip(category, rng.integers(0, per, len(label)), strict=True)
        ]
        known = sorted(set(values))
        tree = Hierarchy.from_paths(known, [[value.split()[0], "*"] for value in known])
        target = target_of(list(zip(label, values, strict=True)), tree)
        missed += Similarity("x", level=1).on(target, HarmRule()).people == 0
    assert missed <= 0.04 * tables


@pytest.mark.usefixtures("patience")
def test_three_quarters_and_more_of_a_range_are_found_among_any_others(some):
    missed, tables = 0, some(30, of=150)
    for seed in range(tables):
        rng = np.random.default_rng(seed)
        kind = list(TABLES.values())[seed % 3]
        label, chosen = planted(rng)
        values = rng.choice(kind(rng), len(label))
        low, high = np.quantile(values, [0.1, 0.9])
        width = rng.uniform(0.02, 0.25) * (high - low)
        # Not where many are anyway.
        begin = rng.uniform((low + high) / 2, high - width)
        values[chosen] = np.rint(rng.uniform(begin, begin + width, len(chosen)))
        target = target_of(list(zip(label, values.tolist(), strict=True)))
        found = [
            each.on(target, HarmRule()).people for each in Similarity.against(target, HarmRule())
        ]
        missed += not any(found)
    assert missed <= 0.04 * tables


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("size", [3, 5, 10, 30, 100])
def test_of_independent_numbers_only_classes_within_an_amount_are_at_risk(size, some):
    for seed in range(some(2, of=12)):
        rng = np.random.default_rng(seed)
        for draw in TABLES.values():
            values = draw(rng)
            label = np.arange(3000 // size).repeat(size)
            rows = list(zip(label.tolist(), values[: len(label)].tolist(), strict=True))
            target = target_of(rows)
            for attack in Similarity.against(target, HarmRule()):
                outcome = attack.on(target, HarmRule())
                within = 0
                if attack.within is not None:
                    each = values[: len(label)].reshape(-1, size)
                    within = size * int((np.ptp(each, axis=1) <= attack.within).sum())
                if attack.outside is not None:
                    low, high = (
                        end if each is None else float(each)
                        for each, end in zip(attack.outside, (-np.inf, np.inf), strict=True)
                    )
                    each = values[: len(label)].reshape(-1, size)
                    beyond = (each <= low).all(axis=1) | (each >= high).all(axis=1)
                    within = size * int(beyond.sum())
                assert outcome.people <= within or attack.categories is not None
                assert size < 30 or outcome.level < Level.HIGH
