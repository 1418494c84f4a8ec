"""Dates: a calendar read from the label back to the day."""

import re
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import HierarchyError, ParameterError
from sfumato.hierarchy import Dates
from tests.hierarchy.literal import assert_nested, labels_of

ALL = ["day", "month", "quarter", "year", "decade", "century"]


def test_a_leap_day_becomes_ever_longer_times():
    assert labels_of(Dates(levels=ALL).build("x", ["2020-02-29"]))["2020-02-29"] == [
        "2020-02-29",
        "2020-02-29",
        "2020-02",
        "2020 Q1",
        "2020",
        "2020s",
        "2000 to 2099",
        "*",
    ]


def test_by_default_month_quarter_year_decade():
    assert Dates().build("x", [date(1999, 12, 31)]).labels[1:] == (
        ("1999-12",),
        ("1999 Q4",),
        ("1999",),
        ("1990s",),
        ("*",),
    )


@pytest.mark.parametrize(
    "timed", ["2020-02-29T23:15", "2020-02-29 23:15:00", datetime(2020, 2, 29, 23)]
)
def test_a_time_of_day_becomes_its_day_first(timed):
    h = Dates().build("x", [timed, "2020-02-29"])
    assert h.labels[1:3] == (("2020-02-29",), ("2020-02",))
    assert len(h.labels[0]) == 2


def test_a_time_with_a_zone_belongs_to_the_day_it_is_written_with():
    late = datetime(2020, 2, 29, 23, 30, tzinfo=UTC)
    h = Dates(levels=["day"]).build("x", [late, "2020-02-29T23:30:00-08:00"])
    assert h.labels[1] == ("2020-02-29",)


def test_midnight_is_the_day():
    h = Dates().build("x", [datetime(2020, 2, 29)])
    assert h.labels[:2] == (("2020-02-29",), ("2020-02",))


def stands_for(label, day):
    """Read a label the way a person does."""
    if match := re.fullmatch(r"(\d{4}) Q(\d)", label):
        first = 3 * int(match[2]) - 2
        return day.year == int(match[1]) and first <= day.month <= first + 2
    if match := re.fullmatch(r"(\d{4})s", label):
        return int(match[1]) <= day.year <= int(match[1]) + 9
    if match := re.fullmatch(r"(\d{4}) to (\d{4})", label):
        return int(match[1]) <= day.year <= int(match[2])
    return label == "*" or day.isoformat().startswith(label)


@given(
    days=st.lists(st.dates(), min_size=1, max_size=15, unique=True),
    levels=st.sets(st.sampled_from(ALL), min_size=1),
)
def test_every_day_lies_in_the_times_it_is_given(days, levels):
    chosen = [unit for unit in ALL if unit in levels]
    h = Dates(levels=chosen).build("x", days)
    assert h.height == len(chosen) + 1
    assert_nested(h)
    for text, path in labels_of(h).items():
        assert all(stands_for(label, date.fromisoformat(text)) for label in path)


@given(one=st.dates(), other=st.dates())
def test_two_days_share_a_label_exactly_when_the_calendar_says_so(one, other):
    if one == other:
        return
    paths = labels_of(Dates(levels=ALL).build("x", [one, other]))
    together = [a == b for a, b in zip(*paths.values(), strict=True)]
    years = one.year == other.year
    assert together[1:] == [
        False,
        years and one.month == other.month,
        years and (one.month - 1) // 3 == (other.month - 1) // 3,
        years,
        one.year // 10 == other.year // 10,
        one.year // 100 == other.year // 100,
        True,
    ]


def test_values_that_are_no_dates_are_named():
    with pytest.raises(
        HierarchyError,
        match=r"'born' cannot be generalised as dates: 2 of its 3 values are not dates: "
        r"'30/02/2020', 'soon'\. Write dates as 2020-02-29",
    ):
        Dates().build("born", ["30/02/2020", "2020-02-29", "soon"])


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%m/%d/%Y", "%Y/%m/%d", "%d %b %Y", "%Y%m%d"])
def test_labels_are_the_same_however_dates_are_written(form):
    days = [date(2020, 2, 29), date(2019, 12, 31), date(2020, 1, 3)]
    plain = Dates(levels=ALL).build("x", days)
    written = Dates(levels=ALL).build("x", [day.strftime(form) for day in days])
    assert [*labels_of(written).values()] == [
        [text, *path[1:]]
        for text, path in zip(labels_of(written), labels_of(plain).values(), strict=True)
    ]


def test_an_order_that_is_not_clear_is_refused():
    with pytest.raises(HierarchyError, match="read in two ways"):
        Dates().build("born", ["01.02.1937", "02.03.1938"])


def test_of_a_date_that_is_known_in_part_the_known_part_stays():
    paths = labels_of(
        Dates(levels=["day", "month", "quarter", "year"]).build(
            "born", ["1937", "1937-02", "1937-02-03"]
        )
    )
    assert paths == {
        "1937": ["1937", "1937", "1937", "1937", "1937", "*"],
        "1937-02": ["1937-02", "1937-02", "1937-02", "1937 Q1", "1937", "*"],
        "1937-02-03": ["1937-02-03", "1937-02-03", "1937-02", "1937 Q1", "1937", "*"],
    }


@pytest.mark.parametrize("levels", [[], ["week"], ["year", "month"], ["day", "day"], [1], "weeks"])
def test_refuses_units_that_do_not_nest(levels):
    with pytest.raises(ParameterError, match=r"levels must be some of day, month, quarter, year"):
        Dates(levels=levels)


def test_a_single_unit_may_be_written_without_a_list():
    assert Dates(levels="year") == Dates(levels=["year"])
