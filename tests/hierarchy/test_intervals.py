"""Intervals: every value lies in the range its label names."""

import re
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sfumato.errors import HierarchyError, ParameterError
from sfumato.hierarchy import Intervals
from sfumato.text import text_of
from tests.hierarchy.literal import assert_nested, labels_of

NUMBER = r"-?\d+(?:\.\d+)?"


def ends_of(label):
    """Read a label back: its lower end (inside) and its upper end (outside)."""
    if match := re.fullmatch(rf"under ({NUMBER})", label):
        return None, Fraction(match[1])
    if match := re.fullmatch(rf"({NUMBER}) or more", label):
        return Fraction(match[1]), None
    if match := re.fullmatch(rf"({NUMBER}) to under ({NUMBER})", label):
        return Fraction(match[1]), Fraction(match[2])
    if match := re.fullmatch(r"(-?\d+) to (-?\d+)", label):
        return Fraction(match[1]), Fraction(match[2]) + 1
    whole = int(label)
    return Fraction(whole), Fraction(whole + 1)


def is_in(value, label):
    low, high = ends_of(label)
    exact = Fraction(text_of(value).strip())
    return (low is None or low <= exact) and (high is None or exact < high)


def levels(builder, values):
    return [list(level) for level in builder.build("x", values).labels[1:]]


def test_whole_numbers_have_both_ends_inside():
    assert labels_of(Intervals(widths=[5, 10, 20]).build("age", [39, "40"])) == {
        "39": ["39", "35 to 39", "30 to 39", "20 to 39", "*"],
        "40": ["40", "40 to 44", "40 to 49", "40 to 59", "*"],
    }


def test_other_numbers_have_their_upper_end_outside():
    assert levels(Intervals(widths=[5]), [24.5, 25]) == [
        ["20 to under 25", "25 to under 30"],
        ["*"],
    ]
    assert levels(Intervals(widths=["0.5"]), [1, 2]) == [
        ["1 to under 1.5", "2 to under 2.5"],
        ["*"],
    ]


def test_negative_numbers_are_readable():
    assert levels(Intervals(widths=[5]), [-7, -5, 0]) == [
        ["-10 to -6", "-5 to -1", "0 to 4"],
        ["*"],
    ]
    assert levels(Intervals(widths=[2.5]), [-0.5]) == [["-2.5 to under 0"], ["*"]]


def test_a_range_of_one_number_is_that_number():
    assert levels(Intervals(widths=[1, 2]), [6, -1]) == [["6", "-1"], ["6 to 7", "-2 to -1"], ["*"]]


def test_a_tenth_is_a_tenth():
    values = [0.1, 0.2, 0.3, 0.6, 0.7]  # 0.3 / 0.1 is 2.9999999999999996 to a computer
    h = Intervals(widths=[0.1]).build("x", values)
    assert h.labels[1] == (
        "0.1 to under 0.2",
        "0.2 to under 0.3",
        "0.3 to under 0.4",
        "0.6 to under 0.7",
        "0.7 to under 0.8",
    )


def test_beyond_the_limits_is_one_open_range_at_every_level():
    builder = Intervals(widths=[5, 10], lower=18, upper=87)
    assert labels_of(builder.build("age", [3, 17, 18, 20, 86, 87, 99])) == {
        "3": ["3", "under 18", "under 18", "*"],
        "17": ["17", "under 18", "under 18", "*"],
        "18": ["18", "18 to 19", "18 to 19", "*"],
        "20": ["20", "20 to 24", "20 to 29", "*"],
        "86": ["86", "85 to 86", "80 to 86", "*"],
        "87": ["87", "87 or more", "87 or more", "*"],
        "99": ["99", "87 or more", "87 or more", "*"],
    }


def test_ranges_can_start_elsewhere():
    assert levels(Intervals(widths=[10], start=18), [17, 18, 28]) == [
        ["8 to 17", "18 to 27", "28 to 37"],
        ["*"],
    ]


def test_bounds_are_inner_cuts_with_open_ends():
    builder = Intervals(bounds=[[18, 30, 65], [18, 65], [65]])
    assert labels_of(builder.build("age", [17, 18, 30, 65])) == {
        "17": ["17", "under 18", "under 18", "under 65", "*"],
        "18": ["18", "18 to 29", "18 to 64", "under 65", "*"],
        "30": ["30", "30 to 64", "18 to 64", "under 65", "*"],
        "65": ["65", "65 or more", "65 or more", "65 or more", "*"],
    }


def test_a_single_list_of_bounds_is_one_level():
    assert Intervals(bounds=[18, 65]) == Intervals(bounds=[[18, 65]])


def test_weeks_begin_on_monday():
    values = [date(2024, 2, 26), "2024-03-03", date(2024, 3, 4)]  # Monday, Sunday, Monday
    assert levels(Intervals(widths=["7d"]), values) == [
        ["2024-02-26 to 2024-03-03", "2024-03-04 to 2024-03-10"],
        ["*"],
    ]


def test_dates_can_be_cut_and_limited():
    assert levels(
        Intervals(bounds=[["2020-03-01", date(2021, 1, 1)]]), ["2020-02-29", "2020-03-01"]
    ) == [
        ["before 2020-03-01", "2020-03-01 to 2020-12-31"],
        ["*"],
    ]
    builder = Intervals(widths=["1d", "30 d"], start="2020-01-01", upper="2020-01-31")
    assert levels(builder, ["2020-01-05T23:59", "2020-02-01"]) == [
        ["2020-01-05", "2020-01-31 or later"],
        ["2020-01-01 to 2020-01-30", "2020-01-31 or later"],
        ["*"],
    ]


def test_the_ends_of_the_calendar_are_no_problem():
    assert levels(Intervals(widths=["9999999d"]), [date.min, date.max]) == [
        ["0001-01-01 to 1970-01-04", "1970-01-05 to 9999-12-31"],
        ["*"],
    ]


VALUES = st.one_of(
    st.lists(st.integers(-(10**6), 10**6), min_size=1, unique=True),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, unique_by=text_of),
    st.lists(st.decimals(-1000, 1000, places=2).map(str), min_size=1, unique=True),
)
WIDTH = st.one_of(st.integers(1, 50), st.decimals("0.01", 10, places=2).map(float))


@given(
    values=VALUES,
    width=WIDTH,
    factors=st.lists(st.integers(2, 10), max_size=3),
    start=st.one_of(st.none(), st.integers(-100, 100), st.sampled_from([0.1, "-2.5"])),
    limits=st.tuples(*[st.none() | st.integers(-50, 50) | st.sampled_from([0.5, -7.25])] * 2),
)
def test_every_value_lies_in_the_ranges_it_is_given(values, width, factors, start, limits):
    lower, upper = limits
    assume(lower is None or upper is None or lower < upper)
    widths = [Decimal(str(width))]
    for factor in factors:
        widths.append(widths[-1] * factor)
    builder = Intervals(widths=[str(w) for w in widths], start=start, lower=lower, upper=upper)
    hierarchy = builder.build("x", values)
    assert_nested(hierarchy)
    for value, path in labels_of(hierarchy).items():
        for label, step in zip(path[1:-1], widths, strict=True):
            assert is_in(value, label), f"{value} is not in {label}"
            low, high = ends_of(label)
            if low is not None and high is not None:
                assert high - low <= Fraction(step)
                offset = (low - Fraction(str(start or 0))) % Fraction(step)
                clipped = lower is not None and low == Fraction(str(lower))
                clipped = clipped or (upper is not None and high == Fraction(str(upper)))
                assert clipped or (offset == 0 and high - low == Fraction(step))
            else:
                limit = upper if high is None else lower
                assert (low if high is None else high) == Fraction(str(limit))


@given(
    values=VALUES,
    cuts=st.lists(st.integers(-30, 30) | st.sampled_from([0.5, -2.25]), min_size=1, unique=True),
    data=st.data(),
)
def test_every_value_lies_between_the_cuts_around_it(values, cuts, data):
    bounds = [sorted(cuts)]
    while len(bounds[-1]) > 1:
        fewer = data.draw(st.lists(st.sampled_from(bounds[-1]), min_size=1, unique=True))
        if len(fewer) == len(bounds[-1]):
            break
        bounds.append(sorted(fewer))
    hierarchy = Intervals(bounds=bounds).build("x", values)
    assert_nested(hierarchy)
    for value, path in labels_of(hierarchy).items():
        exact = Fraction(value)
        for label, level in zip(path[1:-1], bounds, strict=True):
            below = [Fraction(str(cut)) for cut in level if Fraction(str(cut)) <= exact]
            above = [Fraction(str(cut)) for cut in level if Fraction(str(cut)) > exact]
            assert ends_of(label) == (max(below, default=None), min(above, default=None))


@given(
    days=st.lists(st.dates(), min_size=1, unique=True),
    width=st.integers(1, 400),
    start=st.dates(),
)
def test_every_day_lies_in_its_range_of_days(days, width, start):
    builder = Intervals(widths=[f"{width}d", f"{3 * width}d"], start=start)
    hierarchy = builder.build("x", days)
    assert_nested(hierarchy)
    for value, path in labels_of(hierarchy).items():
        for label, step in zip(path[1:-1], (width, 3 * width), strict=True):
            ends = [date.fromisoformat(end) for end in label.split(" to ")]
            first, last = ends[0], ends[-1]
            assert first <= date.fromisoformat(value) <= last
            assert last - first <= timedelta(days=step - 1)
            if first != date.min:
                assert (first - start).days % step == 0


def test_two_spellings_of_a_number_share_its_range():
    h = Intervals(widths=[5]).build("x", ["7", "07", " 7.0", "7e0"])
    assert h.labels[1] == ("5 to 9",)


def test_a_number_too_small_to_see_is_zero():
    assert levels(Intervals(widths=[5]), ["1e-999999999", 1]) == [["0 to 4"], ["*"]]


def test_values_that_are_no_numbers_are_named():
    with pytest.raises(
        HierarchyError,
        match=r"'age' cannot be put into intervals: 2 of its 3 values are not numbers: "
        r"'\?', '90\+'\. Correct them",
    ):
        Intervals(widths=[5]).build("age", ["?", "39", "90+"])
    with pytest.raises(HierarchyError, match=r"not dates: '31/12/2020'"):
        Intervals(widths=["7d"]).build("day", ["31/12/2020"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, r"given by either widths or bounds, got 'neither'"),
        ({"widths": [5], "bounds": [[5]]}, r"given by either widths or bounds, got 'both'"),
        ({"widths": []}, r"widths must be a list with something in it, got \[\]"),
        ({"widths": 5}, r"widths must be a list with something in it, got 5"),
        ({"bounds": [[]]}, r"bounds must be a list with something in it"),
        (
            {"widths": [5, 12]},
            r"widths must be .* each a multiple of the one before, got \[5, 12\]",
        ),
        ({"widths": [10, 5]}, r"each a multiple of the one before"),
        ({"widths": [5, 5]}, r"each a multiple of the one before"),
        ({"widths": [0]}, r"widths must be a number above 0, got 0"),
        ({"widths": [-5]}, r"widths must be a number above 0, got -5"),
        ({"widths": [True]}, r"widths must be a number above 0, got True"),
        ({"widths": ["week"]}, r"widths must be a number above 0, got 'week'"),
        ({"widths": ["7d", 14]}, r"widths must be a number of days above 0, such as 7d, got 14"),
        ({"widths": ["0d"]}, r"number of days above 0, such as 7d, got '0d'"),
        ({"widths": [5], "start": "x"}, r"start must be a number, got 'x'"),
        ({"widths": ["7d"], "start": 5}, r"start must be a date such as 2020-02-29, got 5"),
        ({"widths": [5], "lower": 20, "upper": 20}, r"lower must be below upper, which is 20"),
        ({"bounds": [[5]], "lower": 1}, r"lower must be left out with bounds, got 1"),
        ({"bounds": [[5, 5]]}, r"bounds must be cut points in rising order, got \[5, 5\]"),
        ({"bounds": [[1, 2], [3]]}, r"taken from the level before, got \[3\]: .* has no 3"),
        ({"bounds": [[1, 2], [1, 2]]}, r"fewer cut points .*two levels are the same"),
        (
            {"bounds": [[1, 2], 1]},
            r"bounds must be a list of cut points, one list per level, got 1",
        ),
        ({"bounds": [[1, "x"]]}, r"bounds must be a number, got 'x'"),
    ],
)
def test_refuses_ranges_that_do_not_nest(settings, message):
    with pytest.raises(ParameterError, match=message):
        Intervals(**settings)
