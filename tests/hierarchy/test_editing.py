"""Hierarchies edited by hand: edits keep them valid, and a policy holds exactly what is shown."""

from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import HierarchyError, ParameterError, SfumatoError
from sfumato.hierarchy import (
    BUILDERS,
    EXAMPLE_FOLDER,
    Automatic,
    CsvHierarchy,
    Intervals,
    KnownTree,
    Suppress,
    Taxonomy,
)
from sfumato.hierarchy.automatic import intervals_for
from sfumato.hierarchy.editing import (
    CutPoints,
    GroupTree,
    edit,
    edit_csv,
    preview,
)
from sfumato.policy import Policy
from tests.hierarchy.literal import assert_nested, groups_of, labels_of

WORLD = {
    "Europe": ["France", "Denmark"],
    "Asia": {"East": ["China", "Japan"], "South": ["Nepal"]},
}
PEOPLE = {"France": 9, "Denmark": 2, "China": 5, "Japan": 1, "Nepal": 3}


def world():
    return edit(Taxonomy(WORLD), "country", list(PEOPLE), list(PEOPLE.values()))


def through_a_policy(builder):
    """Write a builder into a policy, the policy as text, and read that again."""
    columns = {"x": {"role": "quasi-identifier", "hierarchy": builder}}
    policy = Policy.from_yaml(
        Policy(columns=columns, models=[{"model": "k-anonymity", "k": 2}]).to_yaml()
    )
    return policy.columns["x"].hierarchy


# The textbook: a level is a list of sets of values, and every edit says what becomes of them.


class Book:
    """Levels of groups, the finest first, as sets of sets of values; slow and without names."""

    def __init__(self, tree):
        self.levels = [
            {frozenset(members) for members in tree.groups(level).values()}
            for level in range(tree.height + 1)
        ]

    def group(self, level, parts):
        """The parts, sets of the level below, leave where they are and are one set; above it, they
        are where the first part was."""
        gathered = frozenset().union(*parts)
        above = range(level + 1, len(self.levels))
        home = {at: next(g for g in self.levels[at] if parts[0] <= g) for at in above}
        for at in range(level, len(self.levels)):
            rest = {g - gathered for g in self.levels[at]} - {frozenset()}
            if at == level:
                self.levels[at] = rest | {gathered}
            else:
                stays = home[at] - gathered
                self.levels[at] = (rest - {stays}) | {stays | gathered}

    def move(self, level, parts, to):
        moved = frozenset().union(*parts)
        for at in range(level + 1, len(self.levels)):
            target = next(g for g in self.levels[at] if to <= g)
            rest = {g - moved for g in self.levels[at] if g != target} - {frozenset()}
            self.levels[at] = rest | {target | moved}

    def ungroup(self, level, group):
        inside = {g for g in self.levels[level - 1] if g <= group}
        self.levels[level] = (self.levels[level] - {group}) | inside

    def add_level(self, above):
        self.levels.insert(above + 1, set(self.levels[above]))

    def remove_level(self, level):
        del self.levels[level]


words = st.text(st.sampled_from("abcABC1*;\"',:- né\t#"), min_size=1, max_size=4)
names = st.one_of(words, st.sampled_from(["no", "1.0", "2020-01-01", "null", "~", "*", "a: b"]))


@st.composite
def trees(draw):
    values = draw(st.lists(names, min_size=1, max_size=9, unique=True))
    counts = [draw(st.integers(1, 9)) for _ in values]
    tree = edit(Suppress(), "x", values, counts)
    for _ in range(draw(st.integers(0, 2))):
        tree = tree.add_level(0)
    return tree


@st.composite
def chosen(draw, items, most=4):
    return draw(st.lists(st.sampled_from(sorted(items)), min_size=1, max_size=most, unique=True))


def one_edit(data, tree, book):  # noqa: PLR0911 - one per edit
    """Do one edit to the tree and to the textbook; the tree may refuse a name."""
    operation = data.draw(
        st.sampled_from(["group", "split", "merge", "move", "ungroup", "rename", "add", "remove"])
    )
    if operation == "add" and tree.height < 4:
        above = data.draw(st.integers(0, tree.height - 1))
        book.add_level(above)
        return tree.add_level(above)
    if tree.height == 1:
        return tree
    level = data.draw(st.integers(1, tree.height - 1))
    groups = {label: frozenset(members) for label, members in tree.groups(level).items()}
    below = {label: frozenset(members) for label, members in tree.groups(level - 1).items()}
    name = data.draw(st.one_of(st.none(), names))
    label = data.draw(st.sampled_from(sorted(groups)))
    if operation == "remove" and tree.height > 2:
        book.remove_level(level)
        return tree.remove_level(level)
    if operation == "rename":
        return tree.rename(level, label, name or "new")
    if operation == "group":
        parts = data.draw(chosen(below))
        edited = tree.group(level, parts, name)
        book.group(level, [below[part] for part in parts])
        return edited
    if operation == "split":
        parts = data.draw(chosen(tree.parts(level)[label]))
        edited = tree.split(level, label, parts, name)
        book.group(level, [below[part] for part in parts])
        return edited
    if operation == "merge":
        labels = data.draw(chosen(groups))
        edited = tree.merge(level, labels, name)
        book.group(level, [groups[each] for each in labels])
        return edited
    if operation == "move":
        parts = data.draw(chosen(below))
        edited = tree.move(level - 1, parts, label)
        book.move(level - 1, [below[part] for part in parts], groups[label])
        return edited
    if operation == "ungroup":
        book.ungroup(level, groups[label])
        return tree.ungroup(level, label)
    return tree


@given(trees(), st.data())
def test_random_edits_are_those_of_the_textbook_and_a_policy_holds_them(tree, data):
    book = Book(tree)
    for _ in range(data.draw(st.integers(1, 6))):
        try:
            tree = one_edit(data, tree, book)
        except HierarchyError:
            continue
        assert [set(map(frozenset, tree.groups(at).values())) for at in range(tree.height + 1)] == (
            book.levels
        )
    builder = through_a_policy(tree.builder())
    hierarchy = builder.build("x", list(tree.paths))
    assert_nested(hierarchy)
    assert groups_of(hierarchy) == book.levels
    shown = {value: [value, *path, tree.top] for value, path in tree.paths.items()}
    assert labels_of(hierarchy) == shown
    again = edit(builder, "x", list(tree.rows), list(tree.rows.values()))
    assert {**again.paths} == {**tree.paths}


@given(trees(), st.data())
def test_arx_files_come_back_as_they_went(tree, data):
    book = Book(tree)
    for _ in range(3):
        try:
            tree = one_edit(data, tree, book)
        except HierarchyError:
            continue
    values, counts = list(tree.rows), list(tree.rows.values())
    again = edit_csv(tree.to_csv(), "x", values, counts, delimiter=";")
    assert again == tree


@given(trees(), st.data())
def test_a_name_stands_for_one_set_of_values(tree, data):
    """After edits without a name from outside, no label means two things, whatever moved."""
    plain = "*" not in tree.paths
    book = Book(tree)
    for _ in range(5):
        try:
            tree = one_edit(data, tree, book)
        except HierarchyError:
            continue
    meant = {}
    for level in range(tree.height + 1):
        for label, members in tree.groups(level).items():
            meant.setdefault(label, set()).add(frozenset(members))
    assert not plain or all(len(sets) == 1 for sets in meant.values()), meant


@pytest.mark.parametrize("kind", sorted(BUILDERS))
def test_the_form_of_any_builder_has_its_labels(kind):
    builder = BUILDERS[kind].example().relative_to(EXAMPLE_FOLDER)
    values = BUILDERS[kind].example_values()
    form = edit(builder, "x", [*values, None], [2] * len(values) + [3])
    before = builder.ladder("x", values, [2] * len(values))
    after = form.builder().ladder("x", values, [2] * len(values))
    assert after.labels == before.labels
    assert after.codes.tolist() == before.codes.tolist()
    assert form.missing == 3
    tree = form if isinstance(form, GroupTree) else form.as_tree()
    written = tree.add_level(0).remove_level(1).builder()
    assert labels_of(written.build("x", values)) == labels_of(builder.build("x", values))


def test_a_builder_stays_what_it_is_until_something_is_edited():
    states = edit(KnownTree("us-states"), "state", ["Alaska", "Texas"])
    assert states.builder() == KnownTree("us-states")
    assert isinstance(states.rename(1, "Pacific", "the sea").builder(), Taxonomy)


def test_merging_takes_groups_from_where_they_were():
    tree = world().merge(1, ["South", "France"], "warm")
    assert tree.groups(1)["warm"] == ("France", "Nepal")
    assert tree.groups(2) == {"Europe": ("Denmark",), "Asia": ("France", "China", "Japan", "Nepal")}
    assert tree.counts(1)["warm"] == 12


def test_a_group_that_was_called_like_its_value_is_called_by_what_is_in_it():
    tree = world().move(0, ["Denmark"], "France")
    assert tree.groups(1)["France or Denmark"] == ("France", "Denmark")
    many = edit(Suppress(), "x", list("abcde")).add_level(0).move(0, list("bcde"), "a")
    assert many.labels(1) == ("a and 4 more",)


def test_an_emptied_group_is_gone():
    tree = world().move(0, ["China", "Japan"], "South")
    assert tree.labels(1) == ("France", "Denmark", "South")


def test_values_that_a_file_does_not_have_stand_by_themselves():
    tree = edit_csv(
        '"France";Europe;*\nNepal;Asia;*', "country", ["France", "Peru", None], [4, 2, 1]
    )
    assert tree.paths["Peru"] == ("Peru",)
    assert tree.rows == {"France": 4, "Nepal": 0, "Peru": 2}
    assert tree.missing == 1
    # A value that is called like a group of the file is no such group.
    clash = edit_csv("France;Europe;*\nNepal;Asia;*", "country", ["Europe"])
    assert clash.paths == {"France": ("Europe (all)",), "Nepal": ("Asia",), "Europe": ("Europe",)}


def test_an_arx_file_of_the_package_is_read_and_written(tmp_path):
    given_text = (EXAMPLE_FOLDER / "example.csv").read_text(encoding="utf-8")
    tree = edit_csv(given_text, "status", ["Married"], [3])
    (tmp_path / "again.csv").write_text(tree.to_csv(), encoding="utf-8")
    again = CsvHierarchy("again.csv").relative_to(tmp_path).build("status", [])
    assert labels_of(again) == labels_of(
        CsvHierarchy("example.csv").relative_to(EXAMPLE_FOLDER).build("status", [])
    )


@pytest.mark.parametrize(
    ("mistake", "says"),
    [
        (lambda tree: tree.rename(1, "Eest", "x"), "Did you mean 'East'"),
        (lambda tree: tree.rename(1, "East", "South"), "has a group 'South' already"),
        (lambda tree: tree.rename(1, "East", "Asia"), "stands for something else"),
        (lambda tree: tree.rename(1, "East", "Nepal"), "stands for something else"),
        (lambda tree: tree.rename(1, "East", " * "), "cannot be called '*'"),
        (lambda tree: tree.rename(1, "East", ""), "cannot be called ''"),
        (lambda tree: tree.rename(1, "East", "a\nb"), "one line"),
        (lambda tree: tree.rename(3, "*", "all"), "level 3 of 'country' cannot be edited"),
        (lambda tree: tree.merge(1, ["East"]), "two groups or more"),
        (lambda tree: tree.split(1, "East", []), "nothing was chosen"),
        (lambda tree: tree.split(1, "East", ["China", "Japan"]), "everything in it was chosen"),
        (lambda tree: tree.split(1, "East", ["Nepal"]), "'Nepal' is not in 'East'"),
        (lambda tree: tree.group(1, ["Nepal"], "East"), "has a group 'East' already"),
        (lambda tree: tree.group(1, [], "x"), "nothing of level 0"),
        (lambda tree: tree.move(2, ["Asia"], "*"), "the top"),
        (lambda tree: tree.add_level(3), "from 0 to 2"),
    ],
)
def test_mistakes_are_answered(mistake, says):
    with pytest.raises(SfumatoError, match=r".*") as caught:
        mistake(world())
    assert says in str(caught.value)


# Intervals.


def cuts_of_book(levels):
    """Levels of cut points as an intervals hierarchy needs them: fewer and fewer, never none."""
    kept = []
    for level in levels:
        if level and (not kept or set(level) < set(kept[-1])):
            kept.append(sorted(level))
    return kept


numbers = st.one_of(
    st.integers(-50, 150),
    st.decimals(-50, 150, places=1).map(float),
)


@st.composite
def cut_points(draw):
    values = draw(st.lists(numbers, min_size=2, max_size=12, unique_by=Decimal))
    cuts = draw(st.lists(numbers, min_size=1, max_size=6, unique_by=lambda n: Decimal(str(n))))
    bounds = [sorted(cuts)]
    while len(bounds[-1]) > 1 and draw(st.booleans()):
        bounds.append(sorted(draw(chosen(bounds[-1], len(bounds[-1]) - 1))))
    return CutPoints("x", {str(value): 1 for value in values}, Intervals(bounds=bounds))


def one_cut(data, form):  # noqa: PLR0911 - one per edit
    levels = [list(level) for level in form.cuts]
    level = data.draw(st.integers(1, form.height - 1))
    at = data.draw(numbers)
    exact = Decimal(str(at))
    operation = data.draw(
        st.sampled_from(["move", "add", "remove", "set", "ends", "add level", "remove level"])
    )
    if operation == "move":
        old = data.draw(st.sampled_from(sorted(levels[0])))
        edited = form.move_cut(str(old), at)
        return edited, [[exact if cut == old else cut for cut in cuts] for cuts in levels]
    if operation == "add":
        edited = form.add_cut(at, level=level)
        return edited, [[*{*cuts, exact}] if i < level else cuts for i, cuts in enumerate(levels)]
    if operation == "remove":
        old = data.draw(st.sampled_from(sorted(levels[level - 1])))
        edited = form.remove_cut(str(old), level=level)
        removed = [[cut for cut in cuts if cut != old] for cuts in levels]
        return edited, [*levels[: level - 1], *removed[level - 1 :]]
    if operation == "set":
        new = data.draw(st.lists(numbers, max_size=4))
        exactly = {Decimal(str(cut)) for cut in new}
        edited = form.set_cuts(level, new)
        finer = [[*{*cuts, *exactly}] for cuts in levels[: level - 1]]
        coarser = [[cut for cut in cuts if cut in exactly] for cuts in levels[level:]]
        return edited, [*finer, [*exactly], *coarser]
    if operation == "ends":
        edited = form.set_ends(lower=at)
        return edited, [[exact, *(cut for cut in cuts if cut > exact)] for cuts in levels]
    if operation == "remove level":
        return form.remove_level(level), [c for i, c in enumerate(levels) if i != level - 1]
    edited = form.add_level(level)
    # Which cut points a new level takes is its own choice: what must hold is below.
    assert edited.height == form.height + 1
    return edited, edited.cuts


@given(cut_points(), st.data())
def test_random_cuts_are_those_of_the_textbook_and_a_policy_holds_them(form, data):
    for _ in range(data.draw(st.integers(1, 5))):
        try:
            form, levels = one_cut(data, form)
        except (HierarchyError, ParameterError):
            continue
        assert [list(level) for level in form.cuts] == cuts_of_book(levels)
    for finer, coarser in pairwise(form.cuts):
        assert {*coarser} < {*finer}
    builder = through_a_policy(form.builder())
    hierarchy = builder.build("x", list(form.rows))
    assert_nested(hierarchy)
    for level, cuts in enumerate(form.cuts, start=1):
        for i, one in enumerate(form.rows):
            for j, other in enumerate(form.rows):
                low, high = sorted((Decimal(one), Decimal(other)))
                parted = any(low < cut <= high for cut in cuts)
                codes = hierarchy.codes[level]
                assert (codes[i] == codes[j]) == (not parted)


@given(
    st.lists(st.integers(-40, 200), min_size=2, max_size=20, unique=True),
    st.sampled_from([[5], [5, 10], [3, 6, 24], [2, 20]]),
    st.sampled_from([None, 0, 7]),
    st.sampled_from([None, 60, 61]),
)
def test_even_ranges_part_the_same_values_when_they_become_cut_points(values, widths, low, high):
    even = Intervals(widths=widths, lower=low, upper=high)
    form = edit(even, "age", values)
    if not form.cuts[0]:
        return
    point = 10_000
    cut = form.add_cut(point).remove_cut(point)
    before, after = (groups_of(each.build("age", values)) for each in (even, cut.builder()))
    # Levels at which nothing differs any more are gone.
    assert after[1] == next(level for level in before[1:] if level in after)
    assert [level for level in after if level not in before] == []


def test_even_ranges_keep_their_widths():
    ages = edit(Automatic(), "age", [*range(18, 91)])
    assert ages.set_widths([10, 30]).builder().params() == {"widths": [10, 30], "upper": 80}
    assert ages.set_ends(lower=20).builder().params()["lower"] == 20
    assert ages.add_level(4).builder().params()["widths"] == [5, 10, 20, 40, 80]
    assert edit(Intervals(widths=[5, 20]), "age", [1, 50]).add_level(1).intervals.widths == (
        5, 10, 20,
    )  # fmt: skip
    assert ages.remove_level(2).builder().params()["widths"] == [5, 20, 40]
    with pytest.raises(ParameterError, match="multiple"):
        ages.set_widths([10, 25])


def test_days_are_cut_too():
    days = ["2020-01-06", "2020-03-01", "2020-06-30"]
    form = edit(intervals_for("day", days), "day", days)
    moved = form.add_cut("2020-04-01").builder()
    assert "2020-04-01" in moved.params()["bounds"][0]
    weeks = form.set_widths(["7d", "28d"]).builder()
    assert through_a_policy(weeks).build("x", days).labels[1][0] == "2020-01-06 to 2020-01-12"


def test_ranges_get_names_as_a_tree():
    tree = edit(Intervals(bounds=[[18, 65]]), "age", [12, 30, 70], [1, 2, 3]).as_tree()
    named = tree.rename(1, "under 18", "young").builder()
    assert labels_of(named.build("age", []))["12"] == ["12", "young", "*"]


@pytest.mark.parametrize(
    ("mistake", "says"),
    [
        (lambda form: form.move_cut(18, 70), "must stay below 65"),
        (lambda form: form.move_cut(65, 18), "must stay above 18"),
        (lambda form: form.move_cut(20, 30), "no cut point 20"),
        (lambda form: form.move_cut(18, "old"), "a number"),
        (lambda form: form.add_cut(18), "has the cut point 18 already"),
        (lambda form: form.remove_cut(18, level=2), "no cut point 18"),
        (lambda form: form.remove_cut(18, level=3), "no level 3"),
        (lambda form: form.set_cuts(1, []), "no cut point left"),
        (lambda form: form.set_ends(lower=5, upper=5), "below upper"),
        (lambda form: form.add_level(1), "no room"),
        (lambda form: form.remove_level(1).remove_level(1), "one level only"),
    ],
)
def test_mistakes_with_cut_points_are_answered(mistake, says):
    form = edit(Intervals(bounds=[[18, 65], [65]]), "age", [12, 30, 70])
    with pytest.raises(SfumatoError, match=r".*") as caught:
        mistake(form)
    assert says in str(caught.value)


def test_words_are_no_intervals():
    with pytest.raises(HierarchyError, match="not all of its values are numbers"):
        intervals_for("x", ["a", "2"])
    with pytest.raises(HierarchyError, match="1 of its 2 values are not numbers"):
        edit(Intervals(widths=[5]), "x", ["3", "a"])


# Previews.


@given(st.dictionaries(st.integers(0, 99), st.integers(1, 30), min_size=1), st.integers(0, 5))
def test_a_preview_counts_the_rows_of_each_label(rows, missing):
    builder = Intervals(widths=[10, 50])
    values = [*rows, *([None] if missing else [])]
    counts = [*rows.values(), *([missing] if missing else [])]
    levels = preview(builder, "age", values, counts)
    assert [level.level for level in levels] == [0, 1, 2, 3]
    for level in levels:
        assert sum(each.rows for each in level.labels) == sum(counts)
        assert sum(each.values for each in level.labels) == len(values)
        assert level.smallest == min(each.rows for each in level.labels)
        assert level.groups == len({each.label for each in level.labels})
    tens = {}
    for value, count in rows.items():
        tens[value // 10] = tens.get(value // 10, 0) + count
    expected = sorted([*tens.values(), *([missing] if missing else [])], reverse=True)
    assert [each.rows for each in levels[1].labels] == expected
    assert levels[1].rows_below(5) == sum(n for n in expected if n < 5)


def test_a_column_without_values_has_a_form_and_a_preview():
    form = edit(Automatic(), "x", [None], [4])
    assert form.height == 1
    assert preview(form.builder(), "x", [None], [4])[-1].labels[0].rows == 4
