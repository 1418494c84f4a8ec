"""Category share: the definition in exact fractions is the judge, and the thesis's own case."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.classes import SensitiveColumn, classes_from
from sfumato.counts import FrequencySet
from sfumato.errors import ParameterError, PolicyError
from sfumato.hierarchy.base import Hierarchy
from sfumato.models import (
    AlphaKAnonymity,
    CategoryShare,
    EnhancedPAlphaSensitiveKAnonymity,
)
from tests.builders import classes_of
from tests.models.printed import CATEGORIES, THREE_ONE_SENSITIVE_FOUR_ANONYMOUS
from tests.models.tables import COUNTED, classes_with_tree, counts_by_class, known
from tests.models.test_alpha_k_anonymity import SHARES

ALIKE = (("cancer", "hiv"), ("gout", "flu"))
LABELS = {
    "flu": ("viral", "infection"),
    "hiv": ("viral", "infection"),
    "gout": ("gout", "other"),
    "cancer": ("tumour", "other"),
}
"""What the tree of the tests' tables says at levels 1 and 2."""


def textbook(counts, categories, share):
    n = sum(known(counts))
    return n > 0 and all(
        Fraction(sum(counts[value] for value in category), n) <= share for category in categories
    )


@given(rows=COUNTED, share=SHARES, data=st.data())
def test_agrees_with_the_textbook(rows, share, data):
    occurring = sorted({disease for _, disease in rows if disease is not None}) or ["flu"]
    category = st.lists(st.sampled_from(occurring), min_size=1, unique=True)
    first = data.draw(category)
    rest = [value for value in occurring if value not in first]
    categories = [first] + (
        [data.draw(st.lists(st.sampled_from(rest), min_size=1, unique=True))] if rest else []
    )
    model = CategoryShare("disease", share=float(share), categories=categories)
    assert model.passes(classes_of(rows, column="disease")).tolist() == [
        textbook(counts, categories, share) for counts in counts_by_class(rows)
    ]


@given(rows=COUNTED, share=SHARES, level=st.sampled_from([1, 2]))
def test_the_labels_at_a_level_are_categories(rows, share, level):
    by_label = [
        (label, None if disease is None else LABELS[disease][level - 1]) for label, disease in rows
    ]
    model = CategoryShare("disease", share=float(share), level=level)
    expected = [
        sum(known(counts)) > 0 and max(known(counts)) <= share * sum(known(counts))
        for counts in counts_by_class(by_label)
    ]
    assert model.passes(classes_with_tree(rows)).tolist() == expected


@given(rows=COUNTED, share=SHARES)
def test_it_is_alpha_k_anonymity_of_the_categories_themselves(rows, share):
    """The model that other tools know, asked of a column in which categories replace values."""
    name = {value: str(i) for i, category in enumerate(ALIKE) for value in category}
    replaced = [(label, name.get(disease)) for label, disease in rows]
    alpha = AlphaKAnonymity("disease", alpha=float(share), k=1)
    mine = CategoryShare("disease", share=float(share), categories=ALIKE)
    classes = classes_of(rows, column="disease")
    assert (
        mine.passes(classes).tolist()
        == alpha.passes(classes_of(replaced, column="disease")).tolist()
    )


def test_three_quarters_of_the_most_secret_category_is_what_other_models_let_pass():
    classes = classes_of(THREE_ONE_SENSITIVE_FOUR_ANONYMOUS, column="disease")
    enhanced = EnhancedPAlphaSensitiveKAnonymity("disease", 2, 1, 4, CATEGORIES)
    assert enhanced.passes(classes).all()
    model = CategoryShare("disease", share=0.5, categories=CATEGORIES[:1])
    assert model.passes(classes).tolist() == [False, True]
    assert model.measure(classes) == {"share": 0.75}


def test_values_in_no_category_are_not_limited_and_count_in_the_whole():
    classes = classes_of([("A", "flu")] * 9 + [("A", "hiv")], column="disease")
    model = CategoryShare("disease", share=0.1, categories=[["hiv"]])
    assert model.passes(classes).all()
    assert model.measure(classes) == {"share": pytest.approx(0.1)}


def test_missing_values_hide_nobody():
    classes = classes_of([("A", "hiv"), *[("A", None)] * 9, ("B", None)], column="disease")
    model = CategoryShare("disease", share=0.5, categories=[["hiv"]])
    assert model.passes(classes).tolist() == [False, False]


def test_a_label_that_says_as_little_as_the_top_is_not_limited():
    tree = Hierarchy.from_paths(["flu", "hiv"], [["*", "*"], ["virus", "*"]])
    counts = FrequencySet.from_rows(["label", "disease"], [("A", "flu"), ("B", "hiv")])
    column = counts.column("disease")
    described = SensitiveColumn("disease", column.known, tree.bind("disease", column.values))
    classes = classes_from(counts, ("label",), {"disease": described})
    assert CategoryShare("disease", share=0.5, level=1).passes(classes).tolist() == [True, False]


def test_a_misspelt_value_is_refused_because_the_one_it_means_would_not_be_limited():
    classes = classes_of([("A", "flu"), ("A", "hiv")], column="disease")
    with pytest.raises(PolicyError, match=r"has 'hvi' in a category.*Did you mean 'hiv'"):
        CategoryShare("disease", share=0.5, categories=[["hvi"]]).passes(classes)


def test_a_value_that_does_not_occur_is_no_mistake_where_all_that_do_have_a_category():
    classes = classes_of([("A", "flu"), ("A", "hiv")], column="disease")
    model = CategoryShare("disease", share=0.5, categories=[["hiv", "aids"], ["flu"]])
    assert model.passes(classes).all()


def test_a_level_needs_a_hierarchy_and_one_below_its_top():
    model = CategoryShare("disease", share=0.5, level=3)
    with pytest.raises(PolicyError, match="needs a hierarchy of 'disease' and it has none"):
        model.passes(classes_of([("A", "flu")], column="disease"))
    with pytest.raises(PolicyError, match="ends at level 3, where all values are alike"):
        model.passes(classes_with_tree([("A", "flu")]))


@given(classes=COUNTED.map(lambda rows: classes_of(rows, column="disease")), data=st.data())
def test_limiting_a_larger_category_implies_limiting_a_part_of_it(classes, data):
    values = ["cancer", "flu", "gout", "hiv"]
    cuts = st.lists(st.sampled_from(range(3)), min_size=4, max_size=4)

    def draw():
        of = data.draw(cuts)
        lists = [[v for v, c in zip(values, of, strict=True) if c == i] for i in range(2)]
        lists = [each for each in lists if each] or [values]
        return CategoryShare(
            "disease", share=data.draw(st.sampled_from([0.3, 0.6])), categories=lists
        )

    one, other = draw(), draw()
    larger = [set(each) for each in one.categories]
    covered = all(any(set(each) <= whole for whole in larger) for each in other.categories)
    assert one.implies(other) == (covered and one.share <= other.share)
    if one.implies(other):
        try:
            assert (other.passes(classes) | ~one.passes(classes)).all()
        except PolicyError:
            return  # a value that the column does not have


def test_a_level_implies_no_list():
    level = CategoryShare("disease", share=0.5, level=1)
    lists = CategoryShare("disease", share=0.5, categories=ALIKE)
    assert not level.implies(lists)
    assert not lists.implies(level)
    assert level.params() == {"column": "disease", "share": 0.5, "level": 1}


@pytest.mark.parametrize(
    "bad",
    [
        {"share": 0},
        {"share": 1},
        {"categories": None},
        {"categories": []},
        {"categories": "hiv"},
        {"categories": [["hiv"], ["hiv"]]},
        {"categories": [["hiv"]], "level": 1},
        {"categories": None, "level": 0},
    ],
)
def test_refuses_parameters_that_make_no_sense(bad):
    with pytest.raises(ParameterError, match=r"(share|categories|level) must be "):
        CategoryShare("disease", **{"share": 0.5, "categories": [["hiv"]], **bad})
