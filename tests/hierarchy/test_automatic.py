"""Automatic hierarchies: the right kind for the values, always valid, never a surprise."""

import itertools
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.hierarchy import Automatic, Intervals
from sfumato.hierarchy.by_counts import even_ranges, nested_cuts, roundest
from sfumato.text import text_of
from tests.hierarchy.literal import assert_nested, groups_of, labels_of
from tests.hierarchy.test_intervals import is_in


def kind(values, *, column="x", **settings):
    return Automatic(**settings).describe(column, values).name


@pytest.mark.parametrize(
    ("expected", "values"),
    [
        ("star", ["f", "m"]),
        ("star", [True, False]),
        ("star", [7]),
        ("star", [1, 2]),
        ("intervals", [1, 2, 3]),
        ("intervals", ["39", "50", "28"]),
        ("intervals", [1.5, 2.5, -3.0]),
        ("intervals", [1987, 1990, 2004]),
        ("dates", ["1987-03-14", "1987-11-02", "1991-06-30"]),
        ("dates", [date(2000, 1, 1), date(2000, 2, 1), date(2000, 2, 2)]),
        ("star", ["2020-02-29T01:00", "2020-02-29T02:00", "2020-02-29T03:00"]),
        ("masking", ["02139", "02141", "10001"]),
        ("known", ["E11.9", "E10", "I10.1"]),
        ("masking", ["E11", "E10", "I10"]),
        ("masking", ["SW1A 1AA", "M1 1AE", "EC1A 1BB"]),
        ("masking", ["02139-1234", "10001-0001", "94110-2222"]),
        ("ordered", ["0-9", "10-19", "20-29"]),
        ("ordered", ["often", "never", "rarely"]),
        ("known", ["FR", "DE", "DK"]),
        ("known", ["Ohio", "Utah", "Iowa"]),
        ("frequent", ["flu", "gout", "hiv", "cold"]),
        ("frequent", ["39", "50", "?"]),
        ("star", [f"name {i} of many" for i in range(1001)]),
    ],
)
def test_the_kind_fits_the_values(expected, values):
    assert kind(values) == expected
    assert_nested(Automatic().build("x", values)) if len(values) < 100 else None


def test_digits_in_a_column_of_postcodes_are_codes():
    values = [22030, 22032, 22045]
    assert kind(values, column="Zip code") == kind(values, column="postcode") == "masking"
    assert kind(values, column="income") == "intervals"


def test_masking_stops_where_all_codes_are_the_same():
    h = Automatic().build("zip", ["22030", "22032", "22045", "22047"])
    assert h.labels[1:] == (("2203*", "2204*"), ("220**",), ("*",))


def test_only_units_that_make_a_difference_are_levels():
    same_year = ["2020-01-01", "2020-01-02", "2020-05-01"]
    assert Automatic().describe("x", same_year).params() == {"levels": ["month"]}
    months = ["1987-01-01", "1988-01-01", "1999-01-01"]
    assert Automatic().describe("x", months).params() == {"levels": ["decade"]}


ANY = st.one_of(
    st.lists(st.integers(-1000, 1000), min_size=1, unique=True),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, unique_by=text_of),
    st.lists(st.dates(), min_size=1, unique=True),
    st.lists(st.datetimes(), min_size=1, unique_by=text_of),
    st.lists(st.text("AB012. -", min_size=1, max_size=4), min_size=1, unique=True),
    st.lists(st.text(min_size=1, max_size=6), min_size=1, unique=True),
    st.lists(st.from_regex(r"[A-Z]\d{2}", fullmatch=True), min_size=1, unique=True),
    st.lists(
        st.sampled_from(["{a, b}", "a", "b", "c", "a, b", "*", "{b, c}", "d, c"]),
        min_size=1,
        unique=True,
    ),
)


@given(values=ANY, data=st.data(), levels=st.none() | st.integers(1, 7))
def test_whatever_the_values_it_is_a_hierarchy_and_can_be_written_down(values, data, levels):
    counts = data.draw(
        st.none() | st.lists(st.integers(0, 50), min_size=len(values), max_size=len(values))
    )
    automatic = Automatic(levels=levels)
    hierarchy = automatic.build("x", values, counts)
    assert_nested(hierarchy)
    assert hierarchy.labels[-1] == ("*",)
    assert 1 <= hierarchy.height <= (levels or 6)
    assert hierarchy.bind("x", values).labels[0] == tuple(values)
    # Every level but perhaps the first and the one below the top merges something.
    sizes = [len(level) for level in hierarchy.labels]
    assert sizes == sorted(sizes, reverse=True)

    # With counts `build` hides the values of single rows, because its labels are published.
    hide = counts is not None
    explicit = automatic.describe("x", values, counts, hide_single=hide)
    again = type(explicit)(**explicit.params())
    assert labels_of(again.build("x", values)) == labels_of(hierarchy)

    order = data.draw(st.permutations(range(len(values))))
    shuffled = automatic.describe(
        "x",
        [values[i] for i in order],
        None if counts is None else [counts[i] for i in order],
        hide_single=hide,
    )
    assert shuffled == explicit


@given(weights=st.dictionaries(st.integers(-500, 500), st.integers(1, 30), min_size=3))
def test_numbers_stand_in_the_ranges_they_are_given(weights):
    h = Automatic().build("x", list(weights), list(weights.values()))
    for value, path in labels_of(h).items():
        assert all(is_in(value, label) for label in path[1:-1])


DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9)


@given(
    weights=st.dictionaries(DECIMALS, st.integers(1, 9), min_size=2, max_size=12),
    depth=st.integers(1, 4),
)
def test_cuts_part_what_they_cut_and_are_kept_above(weights, depth):
    levels = nested_cuts(weights, depth)
    assert 1 <= len(levels) <= depth
    assert len(levels[-1]) == 1
    for finer, coarser in itertools.pairwise(levels):
        assert set(coarser) < set(finer)
    for level in levels:
        edges = [Decimal("-inf"), *level, Decimal("inf")]
        assert all(
            any(low <= point < high for point in weights) for low, high in itertools.pairwise(edges)
        )


@given(weights=st.dictionaries(st.integers(0, 60).map(Decimal), st.integers(1, 9), min_size=2))
def test_the_first_cut_is_as_near_the_half_as_it_says(weights):
    total = sum(weights.values())
    (cut,) = nested_cuts(weights, 1)[0]
    points = sorted(weights)

    def share(at):
        return Fraction(sum(n for point, n in weights.items() if point < at), total)

    good = [at for at in points[1:] if Fraction(2, 5) <= share(at) <= Fraction(3, 5)]
    if good:
        assert Fraction(2, 5) <= share(cut) <= Fraction(3, 5)
    else:
        half = Fraction(1, 2)
        assert abs(share(cut) - half) == min(abs(share(at) - half) for at in points[1:])


@given(
    ends=st.tuples(st.integers(-9999, 9999), st.integers(-9999, 9999)).filter(lambda e: e[0] < e[1])
)
def test_no_number_between_is_rounder(ends):
    low, high = ends
    found = roundest(Decimal(low), Decimal(high))
    assert low < found <= high
    steps = [digit * 10**power for power in range(4, -1, -1) for digit in (5, 2, 1)]
    for step in steps:
        multiples = [n for n in range(low + 1, high + 1) if n % step == 0]
        if multiples:
            assert found % step == 0
            break


def test_a_heavy_value_is_cut_off_by_itself():
    builder = Automatic().describe("gain", [0, 10, 20, 30], [97, 1, 1, 1])
    assert builder.params()["bounds"][-1] == [10]
    builder = Automatic().describe("gain", [0, 10, 20, 30], [1, 1, 97, 1])
    assert builder.params()["bounds"][-1] in ([20], [30])


def test_rare_names_join_first_and_that_of_a_single_row_is_in_no_label():
    counts = {"flu": 50, "cold": 40, "gout": 3, "hiv": 2, "scurvy": 1}
    h = Automatic().build("x", list(counts), list(counts.values()))
    first, second, third = (
        "other than cold, flu or gout",
        "other than cold or flu",
        "other than flu",
    )
    assert labels_of(h) == {
        "cold": ["cold", "cold", "cold", third, "*"],
        "flu": ["flu", "flu", "flu", "flu", "*"],
        "gout": ["gout", "gout", second, third, "*"],
        "hiv": ["hiv", first, second, third, "*"],
        "scurvy": ["scurvy", first, second, third, "*"],
    }


def test_a_round_number_may_be_a_bound_although_one_row_has_it():
    values = [*range(401, 600, 3), 500]
    ((cut,),) = nested_cuts({Decimal(value): 1 for value in values}, 1, hide_single=True)
    assert cut == 500


def test_the_number_of_a_single_row_is_no_bound():
    values, counts = [10, 20, 1005, 5000], [30, 20, 1, 40]
    labels = Automatic().build("x", values, counts).labels[1:]
    assert not any("1005" in text_of(label) for level in labels for label in level)


@given(
    weights=st.dictionaries(st.integers(-300, 300).map(Decimal), st.integers(1, 30), min_size=12),
    exponent=st.sampled_from([-3, 0, 2]),
)
def test_even_ranges_have_round_widths_and_no_end_at_the_outermost_number(weights, exponent):
    scaled = {point.scaleb(exponent): n for point, n in weights.items()}
    found = even_ranges(scaled)
    if found is None:
        return
    assert all(width.as_tuple().digits[0] in (1, 2, 4, 5, 8) for width in found.widths)
    assert all(b == 2 * a for a, b in itertools.pairwise(found.widths))
    total = sum(weights.values())
    for end in found[1:]:
        if end is not None:
            below = sum(n for point, n in scaled.items() if point < end)
            assert not end % found.widths[-1]  # so no level has a narrower range beside it
            assert min(scaled) < end < max(scaled)
            assert 0 < below < total
    # They nest, and every label says where its values are.
    h = Automatic().build("x", list(scaled), list(scaled.values()))
    assert_nested(h)


def test_skewed_numbers_are_cut_where_the_rows_are():
    incomes = [1000 * n * n for n in range(1, 40)]
    params = Automatic().describe("income", incomes, list(range(39, 0, -1))).params()
    assert list(params) == ["bounds"]


def test_an_order_that_is_given_counts():
    values, order = ["b", "c", "a", "?"], ["c", "a", "b"]
    found = Automatic().describe("x", values, order=order)
    assert found.params() == {"order": ["c", "a", "b"], "apart": ["?"]}


def test_without_counts_all_values_count_the_same():
    values = ["a", "b", "c", "d", "e"]
    one, other = Automatic().build("x", values), Automatic().build("x", values, [3] * 5)
    assert one.labels == other.labels


def test_one_value_in_two_types_is_counted_together():
    assert Automatic().describe("x", [1, "1", 2], [1, 1, 1]).name == "star"
    h = Automatic().build("x", ["x", "y", "z", 7, "7"], [5, 5, 5, 4, 4])
    assert groups_of(h)[1] == {frozenset({"7"}), frozenset({"x"}), frozenset({"y", "z"})}


def test_a_ladder_gives_each_value_its_own_count():
    values, counts = ["a", None, "b", "c"], [1, 70, 50, 1]
    assert Automatic().ladder("x", values, counts).labels[1] == ("other than b", "b", None)


def test_counts_may_be_an_array():
    for values in (["a", "b", "c", "d"], [1, 2, 3, 4]):
        plain = Automatic().describe("x", values, [4, 1, 2, 9])
        assert Automatic().describe("x", tuple(values), np.array([4, 1, 2, 9])) == plain


def test_refuses_no_levels():
    with pytest.raises(ParameterError, match=r"levels must be an integer of at least 1, got 0"):
        Automatic(levels=0)


def test_days_of_a_lifetime_can_be_limited_to_a_few_levels():
    days = [date(1920, 1, 1) + timedelta(days=97 * i) for i in range(300)]
    assert Automatic(levels=3).describe("born", days).params() == {"levels": ["year", "decade"]}


def test_adult_ages_get_round_bounds(adult):
    head, *rows = (adult / "adult.csv").read_text().splitlines()
    at = head.split(";").index("age")
    ages = sorted(int(row.split(";")[at]) for row in rows)
    counts = {age: ages.count(age) for age in set(ages)}
    builder = Automatic().describe("age", list(counts), list(counts.values()))
    assert isinstance(builder, Intervals)
    assert builder.params() == {"widths": [5, 10, 20], "lower": 20, "upper": 60}
    assert 0.02 <= sum(age < 20 for age in ages) / len(ages) <= 0.1
    assert 0.02 <= sum(age >= 60 for age in ages) / len(ages) <= 0.1
