"""Dates as people write them, held against Python's own calendar."""

from datetime import date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.derivations.dates import (
    DAY_FIRST,
    MONTH_FIRST,
    DateForm,
    Detection,
    day_of,
    given_form,
    look_like_dates,
    read_text,
)
from sfumato.errors import ParameterError

DAYS = st.dates(date(1800, 1, 1), date(2199, 12, 31))
GERMAN = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
ENGLISH = "January February March April May June July August September October November December"

DAY_WAYS = ["{d:02}.{m:02}.{y}", "{d}.{m}.{y}", "{d:02}/{m:02}/{y}", "{d}-{m}-{y}", "{d}. {m}. {y}"]
MONTH_WAYS = ["{m:02}/{d:02}/{y}", "{m}/{d}/{y}", "{m:02}-{d:02}-{y}"]
ONE_WAYS = [
    "{y}-{m:02}-{d:02}", "{y}/{m:02}/{d:02}", "{y}.{m}.{d}", "{y}{m:02}{d:02}", "{d} {E:.3} {y}",
    "{d}. {G} {y}", "{d:02}-{E:.3}-{y}", "{E} {d}, {y}", "{E:.3} {d} {y}", "{d}.{G}.{y}",
    "{y}-{E:.3}-{d:02}", "Mon, {d} {E:.3} {y}", "{d:02}{E:.3}{y}", "{d}th {E} {y}",
]  # fmt: skip


def write(form: str, day: date) -> str:
    months = {"E": ENGLISH.split()[day.month - 1], "G": GERMAN.split()[day.month - 1]}
    return form.format(d=day.day, m=day.month, y=f"{day.year:04}", **months)


@given(DAYS, st.sampled_from(DAY_WAYS), st.sampled_from(MONTH_WAYS), st.sampled_from(ONE_WAYS))
def test_a_day_is_read_in_the_order_it_is_written_in(day, one, other, plain):
    assert DateForm("day-first").read(write(one, day)) == day.isoformat()
    assert DateForm("month-first").read(write(other, day)) == day.isoformat()
    for order in ("day-first", "month-first", "year-first"):
        assert DateForm(order).read(write(plain, day)) == day.isoformat(), plain


@given(DAYS, st.times(), st.sampled_from([None, 0, 60, -330]))
def test_times_and_zones_are_written_as_python_writes_them(day, clock, minutes):
    zone = None if minutes is None else timezone(timedelta(minutes=minutes))
    moment = datetime.combine(day, clock, zone)
    for between in ("T", " "):
        given_text = f"{day.day}.{day.month}.{day.year:04}{moment.isoformat(between)[10:]}"
        midnight = moment.time() == datetime.min.time() and zone is None
        assert DateForm("day-first").read(given_text) == (
            day.isoformat() if midnight else str(moment)
        )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1937", "1937"),
        ("1937-01", "1937-01"),
        ("01.1937", "1937-01"),
        ("1/1937", "1937-01"),
        ("Jan 1937", "1937-01"),
        ("Januar 1937", "1937-01"),
        ("00.00.1937", "1937"),
        ("00.01.1937", "1937-01"),
        ("1937-00-00", "1937"),
        ("10.01.1937 14:30", "1937-01-10 14:30:00"),
        ("10.01.1937 14:30 Uhr", "1937-01-10 14:30:00"),
        ("10.01.1937, 2:30 pm", "1937-01-10 14:30:00"),
        ("10.01.1937 12:00 AM", "1937-01-10"),
        ("19370110T143000Z", "1937-01-10 14:30:00+00:00"),
        ("20200229123000", "2020-02-29 12:30:00"),
        ("10.01.1937 00:00:00", "1937-01-10"),
        ("2020-02-29T10:15:00.123+0100", "2020-02-29 10:15:00.123000+01:00"),
        ("2020-02-29T10:15Z[UTC]", "2020-02-29 10:15:00+00:00"),
        ("10011937", "1937-01-10"),
        (" 10.01.1937 ", "1937-01-10"),
        ("10 JAN 1937", "1937-01-10"),
        ("10 févr. 1937", "1937-02-10"),
        ("3 de enero de 1937", "1937-01-03"),
    ],
)
def test_other_ways_to_write_dates(text, expected):
    assert DateForm("day-first").read(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "31.02.2020",
        "2020-02-30",
        "29.02.2019",
        "15.00.1937",
        "0000-01-01",
        "1.2.3.4",
        "10.01.1937 25:00",
        "10.13.1937",
        "100.1.1937",
        "10.01.137",
        "937",
        "12345",
        "193713",
        "5 Foo 1937",
        "10.01-1937",
        "1937-13",
        "10.01.37",
        "10 Jan 37",
        "1" * 500,
        "9-11",
        "*",
    ],
)
def test_what_is_no_date_or_misses_a_century(text):
    assert DateForm("day-first").read(text) is None


@given(DAYS.filter(lambda day: 1931 <= day.year <= 2030))
def test_a_pivot_says_the_century(day):
    short = f"{day.day:02}.{day.month:02}.{day.year % 100:02}"
    assert read_text(short).short
    assert DateForm("day-first", pivot=30).read(short) == day.isoformat()
    assert DateForm(format="dd.mm.yy", pivot=30).read(short) == day.isoformat()
    year_first = f"{day.year % 100:02}-{day.month:02}-{day.day:02}"
    assert DateForm("year-first", pivot=30).read(year_first) == day.isoformat()


@given(
    st.datetimes(datetime(1800, 1, 1), datetime(2199, 12, 31)),
    st.sampled_from(
        [
            "%d.%m.%Y",
            "%m/%d/%Y %H:%M:%S",
            "%Y%m%d",
            "%d%m%Y",
            "%Y.%d.%m",
            "%d %B %Y",
            "%H:%M %Y-%m-%d",
        ]
    ),
)
def test_a_format_is_read_as_python_reads_it(moment, form):
    text = moment.strftime(form)
    expected = datetime.strptime(text, form)
    found = DateForm(format=form).read(text)
    assert found is not None
    assert datetime.fromisoformat(found) == expected


def textbook_orders(texts):
    """Try each order on every text with Python's own reader."""
    fits = []
    for order, form in ((DAY_FIRST, "%d.%m.%Y"), (MONTH_FIRST, "%m.%d.%Y")):
        try:
            fits.append((order, [datetime.strptime(t, form).date() for t in texts]))
        except ValueError:
            continue
    return fits


@given(st.lists(DAYS, min_size=1, max_size=6), st.booleans(), st.booleans())
def test_the_order_follows_from_all_values(days, german, mixed):
    ways = ["%d.%m.%Y" if german else "%m.%d.%Y"]
    ways += ["%m.%d.%Y"] if mixed else []
    texts = [day.strftime(ways[i % len(ways)]) for i, day in enumerate(days)]
    found = Detection.of(dict.fromkeys(texts, 1))
    fits = textbook_orders(texts)
    if not fits:
        assert found.settled is None
        assert "different orders" in found.problem("born")
    elif len(fits) == 2 and fits[0][1] != fits[1][1]:
        assert found.settled is None
        assert "can be read in two ways" in found.problem("born")
    else:
        assert [day_of(found.settled.read(t)) for t in texts] == fits[0][1]


def test_a_problem_says_which_rows_and_what_to_do():
    found = Detection.of({"13.01.1937": 5, "soon": 2, "": 1})
    assert found.problem("born").startswith("'born' does not hold dates in 3 rows: 'soon', ''.")
    found = Detection.of({"10.01.37": 4})
    assert "years of two digits in 4 rows, such as '10.01.37'" in found.problem("born")
    assert "pivot: 30" in found.problem("born")
    found = Detection.of({"10.01.1937": 4})
    assert found.problem("born") == (
        "'born' can be read in two ways, and every value fits them all: day first, 10.01.1937 is "
        "1937-01-10; month first, 10.01.1937 is 1937-10-01. Say which is meant under columns: "
        "dates: day-first or dates: month-first."
    )
    found = Detection.of({"13.01.1937": 2, "01.13.1937": 1})
    assert "'13.01.1937' (2 rows) is a date only day first" in found.problem("born")


def test_a_column_in_which_both_orders_say_the_same_is_clear():
    assert Detection.of({"05.05.1937": 1, "1937": 1}).settled is not None


@pytest.mark.parametrize("form", ["%q", "dd", "day", "%d.%m", "%Y-%d", "%d.%m.%y", "%d.%d.%Y", 5])
def test_refuses_what_is_no_form(form):
    with pytest.raises(ParameterError, match="got"):
        given_form(form)


def test_numbers_and_versions_are_not_taken_for_dates():
    assert not look_like_dates(["1.2.3", "1.10.2"])
    assert not look_like_dates(["12345678", "23456789"])
    assert not look_like_dates(["1937", "1950"])
    assert not look_like_dates(["20-29", "30-39"])
    assert look_like_dates(["10.01.37", "31.12.99"])
    assert look_like_dates(["Jan 1937", "1950"])
