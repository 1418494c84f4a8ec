"""Categories: by their order, by a tree that is known, or rare ones first."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import HierarchyError, ParameterError
from sfumato.hierarchy import Frequent, KnownTree, OrderedCategories
from sfumato.hierarchy.frequent import frequent_of
from sfumato.hierarchy.known import TREES, tree_of
from sfumato.hierarchy.ordered import band_of, order_of
from sfumato.releases.levels import find_overlap, find_places
from tests.hierarchy.literal import assert_nested, labels_of

NAMES = st.lists(
    st.text("abcde fo*'", min_size=1, max_size=6), min_size=3, max_size=25, unique=True
)


def members(hierarchy, level):
    """Return the values of each label of a level."""
    found = {}
    for text, path in labels_of(hierarchy).items():
        found.setdefault(path[level], []).append(text)
    return found


@pytest.mark.parametrize(
    "order",
    [
        "never|rarely|sometimes|often|always",
        "Never|Less than once a year|Once a year|2-3 times a month|Every week|Several times a week",
        "Strongly disagree|Disagree|Neither agree nor disagree|Agree|Strongly agree",
        "poor|fair|good|very good|excellent",
        "none|mild|moderate|severe",
        "low|medium|high",
        "very dissatisfied|dissatisfied|neutral|satisfied|very satisfied",
        "Preschool|1st-4th|9th|12th|HS-grad|Some-college|Assoc-voc|Bachelors|Masters|Doctorate",
        "LT HIGH SCHOOL|HIGH SCHOOL|JUNIOR COLLEGE|BACHELOR|GRADUATE",
        "nie|selten|manchmal|oft|immer",
        "stimme gar nicht zu|stimme eher nicht zu|stimme eher zu|stimme voll zu",
        "sehr schlecht|schlecht|mittel|gut|sehr gut",
        "Hauptschulabschluss|Realschulabschluss|Abitur|Hochschulabschluss",
        "under 18|18-24|25-34|35-64|65+",
        "<$10k|$10k-$20k|$20k-$50k|>$50k",
        "less than 10,000|10,000 to 20,000|20,000 to 50,000|more than 50,000",
        "unter 18 Jahre|18 bis 29 Jahre|30 bis 64 Jahre|65 Jahre und älter",
        "bis 1.000 €|1.000 bis unter 2.000 €|2.000 bis unter 5.000 €|5.000 € und mehr",
        "0|1-2|3-5|6 or more",
        "<9years|9-11years|12years|13-15years|16years|>16years",
        "[0, 10)|[10, 20)|[20, 30)",
        "(0, 10]|(10, 20]|(20, 30]",
    ],
)
def test_the_order_of_a_scale_is_known(order):
    steps = order.split("|")
    found = order_of([*sorted(steps, reverse=True), "Don't know"])
    assert found.order == tuple(steps)
    assert found.apart == ("Don't know",)


@pytest.mark.parametrize(
    "values", [["flu", "gout", "hiv"], ["low", "high"], ["low", "red", "high"], ["1-2-3", "4", "x"]]
)
def test_other_words_have_none(values):
    assert order_of(values) is None


@given(names=NAMES, apart=st.integers(0, 2), data=st.data())
def test_neighbours_are_grouped_and_labels_say_from_which_to_which(names, apart, data):
    order, alone = names[apart:], names[:apart]
    if len(order) < 2:
        return
    builder = OrderedCategories(order, alone)
    shuffled = data.draw(st.permutations(names))
    hierarchy = builder.build("x", shuffled)
    assert_nested(hierarchy)
    assert hierarchy.height == builder.fixed_height
    for level in range(1, hierarchy.height):
        groups = members(hierarchy, level)
        for label, inside in groups.items():
            if inside[0] in alone:
                assert (label, len(inside)) == (inside[0], 1)
                continue
            places = sorted(map(order.index, inside))
            assert places == list(range(places[0], places[-1] + 1))
            assert label.startswith(order[places[0]])
            assert len(inside) == 1 or label not in names
            assert order[places[-1]] in label
    sizes = [len(level) for level in hierarchy.labels]
    assert all(a > b for a, b in itertools.pairwise(sizes)) or len(order) == 2


def test_bands_are_written_as_ranges_at_every_level():
    bands = ["under 18", "18-24", "25-34", "35-64", "65+"]
    assert OrderedCategories(bands).build("age", bands).labels[1:] == (
        ("under 25", "25 to 34", "35 or more"),
        ("under 35", "35 or more"),
        ("*",),
    )
    half = ["[0, 1.5)", "[1.5, 3)", "[3, 4)", "[4, 9)"]
    assert OrderedCategories(half).build("x", half).labels[1] == ("0 to under 3", "3 to under 9")


@given(cuts=st.lists(st.integers(0, 500), min_size=3, max_size=12, unique=True).map(sorted))
def test_a_label_of_bands_is_read_back_to_its_members(cuts):
    ends = itertools.pairwise(cuts)
    bands = [f"<{cuts[0]}", *(f"{a}-{b - 1}" if b - 1 > a else f"{a}" for a, b in ends)]
    bands.append(f"{cuts[-1]}+")
    hierarchy = OrderedCategories(bands).build("x", bands)
    for level in range(1, hierarchy.height):
        for label, inside in members(hierarchy, level).items():
            whole = band_of(label)
            for band in bands:
                part = band_of(band)
                below = part.high < whole.high or (whole.closed and part.high == whole.high)
                assert (whole.low <= part.low and below) == (band in inside)


def test_what_has_no_place_is_refused():
    with pytest.raises(HierarchyError, match=r"does not name: 'often'.*or into apart"):
        OrderedCategories(["never", "always"]).build("x", ["never", "often"])
    with pytest.raises(HierarchyError, match=r"order is not known: 'flu', 'gout'.*Give it"):
        OrderedCategories().build("x", ["flu", "gout"])
    with pytest.raises(ParameterError, match="each value once"):
        OrderedCategories(["a", "b", "a"])


@pytest.mark.parametrize(
    ("tree", "values", "above"),
    [
        ("us-states", ["AK", "new york", "Texas"], ("Pacific", "Middle Atlantic")),
        ("countries", ["United-States", "Deutschland", "JPN"], ("Northern America",)),
        ("german-states", ["Bayern", "Sachsen", "NRW"], ("Süddeutschland", "Mitteldeutschland")),
        ("months", ["Jan", "March", "Mai"], ("January to March", "January to March")),
        ("weekdays", ["Mon", "Sonntag", "sat"], ("Monday to Friday", "weekend", "weekend")),
        ("marital-status", ["Married-civ-spouse", "Widowed", "ledig"], ("living with a partner",)),
        ("icd-10", ["E11.9", "I10", "C7A.01"], ("E11.-", "I10.-", "C7A.-")),
    ],
)
def test_a_tree_is_found_and_groups_as_everybody_does(tree, values, above):
    column = "diagnosis" if tree == "icd-10" else "x"
    assert tree_of(column, values, [1] * 3) == tree
    hierarchy = KnownTree(tree).build("x", values)
    assert_nested(hierarchy)
    assert [labels_of(hierarchy)[value][1] for value in values][: len(above)] == list(above)


@pytest.mark.parametrize("tree", TREES)
def test_a_whole_tree_nests_and_no_two_places_have_one_name(tree):
    hierarchy = KnownTree(tree).build("x", [])
    assert_nested(hierarchy)
    assert hierarchy.height == KnownTree(tree).fixed_height
    labels = [label for level in hierarchy.labels[1:-1] for label in level]
    assert not {*labels} & {*hierarchy.labels[0]}


def test_what_a_tree_does_not_have_is_among_the_others():
    found = labels_of(KnownTree("us-states").build("x", ["Ohio", "Atlantis", "other"]))
    assert found["Atlantis"] == ["Atlantis", "any other", "any other", "*"]
    with pytest.raises(HierarchyError, match="no value that is in the tree 'months'"):
        KnownTree("months").build("x", ["flu"])
    assert tree_of("x", ["Ohio", "flu", "gout"], [1, 1, 1]) is None
    assert tree_of("grade", ["AL", "MA", "ME"], [1, 1, 1]) != "us-states"


@given(names=NAMES, data=st.data())
def test_frequent_values_stay_as_long_as_possible(names, data):
    size = len(names)
    counts = data.draw(st.lists(st.integers(1, 40), min_size=size, max_size=size))
    builder = frequent_of(names, counts, 4, hide_single=True)
    if builder is None:
        return
    of = dict(zip(names, counts, strict=True))
    hierarchy = builder.build("x", names)
    assert_nested(hierarchy)
    for level in range(1, hierarchy.height):
        groups = members(hierarchy, level)
        kept = {label for label, inside in groups.items() if inside == [label]}
        [(other, hidden)] = [(k, v) for k, v in groups.items() if k not in kept]
        assert other not in names
        assert len(hidden) >= 2
        assert max(of[name] for name in hidden) <= min(of[name] for name in kept)
        # No value that a single row has is in any label.
        assert all(of[name] > 1 for name in kept)
    above = [label for level in hierarchy.labels[1:] for label in level if label not in names]
    assert len({*above}) == len(above)


def test_others_are_named_by_what_stays_and_never_by_their_members():
    h = Frequent([["a", "b", "c", "d"], ["a", "b"]]).build("x", ["a", "b", "c", "d", "e", "f"])
    assert h.labels[1:] == (
        ("a", "b", "c", "d", "other"),
        ("a", "b", "other than a or b"),
        ("*",),
    )
    with pytest.raises(ParameterError, match="each level's fewer"):
        Frequent([["a"], ["b"]])


def test_what_stays_longest_can_share_a_label_before_all_is_hidden():
    values = ["a", "b", "c", "d", "e", "f"]
    h = Frequent([["a", "b", "c"], ["a", "b"]], together=True).build("x", values)
    assert h.labels[2:] == (
        ("a", "b", "other than a or b"),
        ("a or b", "other than a or b"),
        ("*",),
    )
    assert Frequent([["a", "b"]], together=True).fixed_height == 3
    # A value that comes later is among the others, as on every level.
    later = Frequent([["a", "b"]], together=True).build("x", ["z"])
    assert later.labels[-2] == ("other than a or b",)
    many = Frequent([list("abcde")], together=True, language="de").build("x", values)
    assert many.labels[2] == ("eines der 5 häufigsten", "andere")
    # A value that is called like the group is not taken for it.
    named = Frequent([["a", "b"]], together=True).build("x", [*values, "a or b"])
    assert "any a or b" in named.labels[2]
    for wrong in ({"keep": [["a"]], "together": True}, {"keep": [["a", "b"]], "together": "yes"}):
        with pytest.raises(ParameterError, match="together"):
            Frequent(**wrong)


@pytest.mark.parametrize(
    "builder", [Frequent.example(), KnownTree.example(), OrderedCategories.example()]
)
def test_the_level_of_a_published_label_is_found_without_the_table(builder):
    hierarchy = builder.build("x", builder.example_values())
    for level, labels in enumerate(hierarchy.labels):
        places = find_places(builder, "x", labels)
        assert all(places[label][0] <= level <= places[label][1] for label in labels)
    assert not find_overlap(builder, "x", list(hierarchy.labels[1]))
