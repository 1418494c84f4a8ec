"""What a published label stands for."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts import Column
from sfumato.errors import InputError
from sfumato.hierarchy import BUILDERS, Hierarchy, Intervals
from sfumato.hierarchy.labels import LabelReader, Labels
from sfumato.text import in_order, text_of


@pytest.mark.parametrize("name", sorted(BUILDERS))
def test_every_label_of_every_hierarchy_stands_for_the_values_under_it(name):
    builder = BUILDERS[name]
    if not builder.__module__.startswith("sfumato."):
        pytest.skip("not one of ours")
    values = (*in_order(builder.example_values()), None)
    column = Column("x", values)
    ladder = builder.example().relative_to("src/sfumato/hierarchy").ladder("x", values)
    for level in range(ladder.height + 1):
        covering = LabelReader(column, ladder, level)
        for code, label in enumerate(ladder.labels[level]):
            below = [i for i in range(len(values)) if ladder.codes[level, i] == code]
            assert covering.codes(label).tolist() == below


@given(
    st.lists(st.integers(-50, 120), min_size=1, max_size=30, unique=True),
    st.sampled_from([[5, 10], [7], [1, 3]]),
)
def test_intervals_are_read_without_their_hierarchy(values, widths):
    values = tuple(sorted(values))
    ladder = Intervals(widths=widths, upper=90).ladder("age", values)
    with_it, without = (
        LabelReader(Column("age", values), ladder),
        LabelReader(Column("age", values)),
    )
    for labels in ladder.labels:
        for label in labels:
            assert without.codes(label).tolist() == with_it.codes(label).tolist()


@pytest.mark.parametrize(
    ("label", "values", "expected"),
    [
        ("20 to 29", (19, 20, 29, 30), [1, 2]),
        ("2.5 to under 5", ("2.4", "2.5", "4.99", "5"), [1, 2]),
        ("under 18", (17, 18), [0]),
        ("65 or more", (64, 65, 90), [1, 2]),
        ("65+", (64, 65, 90), [1, 2]),
        ("over 65", (64, 65, 90), [2]),
        ("up to 65", (64, 65, 90), [0, 1]),
        ("before 2020-01-06", ("2020-01-05", "2020-01-06"), [0]),
        ("2020-01-06 or later", ("2020-01-05", "2020-01-06"), [1]),
        ("2020 Q1", ("2019-12-31", "2020-01-01", "2020-03-31", "2020-04-01"), [1, 2]),
        ("2020-Q1", ("2019-12-31", "2020-01-01", "2020-03-31", "2020-04-01"), [1, 2]),
        ("2020-02", ("2020-01-31", "2020-02-29", "2020-03-01"), [1]),
        ("2020", ("2019-12-31", "2020-12-31"), [1]),
        ("2010s", ("2009-12-31", "2019-12-31", "2020-01-01"), [1]),
        ("1900 to 1999", ("1899-12-31", "1900-01-01", "1999-12-31", "2000-01-01"), [1, 2]),
        ("20-29", (19, 20, 29, 30), [1, 2]),
        ("-5 to -1", (-6, -5, -1, 0), [1, 2]),
        ("-5--1", (-6, -5, -1, 0), [1, 2]),
        ("[2.5, 5)", ("2.4", "2.5", "4.99", "5"), [1, 2]),
        ("[20, 30[", (19, 20, 29, 30), [1, 2]),
        ("]20, 30]", (20, 20.5, 30, 31), [1, 2]),
        ("(20, 30]", (20, 21, 30, 31), [1, 2]),
        ("(20.0, 30.0)", (20, 21, 30), [1]),
        ("[20; 30]", (19, 20, 30, 31), [1, 2]),
        ("(-inf, 20.0]", (-9, 20, 21), [0, 1]),
        ("[20, ∞[", (19, 20, 90), [1, 2]),
        ("20–29", (19, 20, 29, 30), [1, 2]),
        ("<=20", (20, 21), [0]),
        ("≤20", (20, 21), [0]),
        ("> 20", (20, 21), [1]),
        ("≥ 20", (19, 20), [1]),
        ("[2020-01-06, 2020-01-08[", ("2020-01-05", "2020-01-06", "2020-01-08"), [1]),
        ("[30-50]", ("29", "30", "50"), [1, 2]),
        ("1e-05-0.2", (1e-05, 0.1, 0.3), [0, 1]),
        ("<18", (17, 18), [0]),
        (">=65", (64, 65, 90), [1, 2]),
        ("2020-01-06 to 2020-01-12", ("2020-01-05", "2020-01-06", "2020-01-12"), [1, 2]),
        (">=2020-01-06", (date(2020, 1, 5), date(2020, 1, 6)), [1]),
        ("476**", ("4760", "47601", "47699", "47700"), [1, 2]),
        ("*", (1, 2, None), [0, 1, 2]),
        (None, (1, 2, None), [2]),
        (None, (1, 2), [0, 1]),
        ("1-2", ("1-2", "1", "2"), [0]),
        (20.0, ("20", "21"), [0]),
    ],
)
def test_labels_as_they_are_written(label, values, expected):
    assert LabelReader(Column("x", values)).codes(label).tolist() == expected


def test_a_label_that_is_also_a_value_goes_by_the_level_that_was_published():
    hierarchy = Hierarchy.from_paths(["a", "b", "c"], [["a", "*"], ["a", "*"], ["c", "*"]])
    column = Column("x", ("a", "b", "c"))
    ladder = hierarchy.bind("x", column.values)
    assert LabelReader(column, ladder, 1).codes("a").tolist() == [0, 1]
    assert LabelReader(column, ladder, 0).codes("a").tolist() == [0]
    assert LabelReader(column, ladder).codes("a").tolist() == [0]
    assert LabelReader(column, ladder, 7).codes("a").tolist() == [0]


@pytest.mark.parametrize(
    "label", ["Europe", "200-300", "9*", "5-2", "[x, y)", "<young", "> x", "(30, 40]"]
)
def test_a_label_that_stands_for_nothing_is_refused(label):
    with pytest.raises(InputError, match="of column 'age' stands for no value") as error:
        LabelReader(Column("age", (20, 30))).codes(label)
    assert text_of(label) in str(error.value)
    assert "policy=" in str(error.value)


@given(st.sets(st.integers(-50, 50), min_size=1), st.floats(-99, 99))
def test_a_number_that_no_row_has_may_stand_for_the_nearest(raw, number):
    column = Column("x", tuple(in_order(raw)))
    [codes] = Labels(nearest=True).read(column, Column("x", (number,)))
    [code] = codes
    assert abs(column.values[code] - number) == min(abs(value - number) for value in raw)


def test_a_number_that_no_row_has_is_refused_where_it_may_not():
    with pytest.raises(InputError, match=r"'2.5' of column 'x'"):
        Labels().read(Column("x", (1, 2)), Column("x", (2.5,)))
    with pytest.raises(InputError, match="'low' of column 'x'"):
        Labels(nearest=True).read(Column("x", (1, 2)), Column("x", ("low",)))
