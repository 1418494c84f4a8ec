"""Incremental Break-Merge against the source's words applied to rows, and its worked examples."""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import prod

import duckdb
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sfumato as sf
from sfumato import samples
from sfumato.counts import FrequencySet
from sfumato.decouplings.base import GroupedTables
from sfumato.decouplings.likelihood import exact
from sfumato.errors import InputError, ParameterError, UnknownColumnError
from sfumato.study.appending import READINGS
from tests.decouplings.tables import CENSUS, CENSUS_SENSITIVE, FIRST, PRINTED

ALPHAS = st.sampled_from([0.1, 0.25, 0.3, 0.32, 0.4, 0.5, 0.6, 0.7, 0.9, 1.0])
NAMES = ("ill", "pay", "work")


# The textbook: a release is a list of rows (group, value, value, …), and everything is counted on
# it anew for every row.


def shares(rows, row, columns):
    """Give the share of each value of a row among those of its group that are known."""
    mine = [each for each in rows if each[0] == row[0]]
    found = {}
    for i in columns:
        value = row[1 + i]
        if value is not None:
            known = [each[1 + i] for each in mine if each[1 + i] is not None]
            found[i] = Fraction(known.count(value), len(known)) if known else Fraction(0)
    return found


def told(rows, row, reading, known, width):
    """Give the likelihood of a row's values: the definition, one adversary after the other."""
    if reading == "printed" or width == 1:
        every = [shares(rows, row, range(width))]
    elif known is not None:
        every = [shares(rows, row, [i for i in range(width) if i != known])]
    else:
        named = [i for i in range(width) if row[1 + i] is not None]
        knowing = named if len(named) > 1 else [None]
        every = [shares(rows, row, [i for i in named if i != m]) for m in knowing]
    return max((prod(each.values()) for each in every if each), default=Fraction(0))


def literal(start, new, alpha, reading, known=None):
    """Give the rows at the end, and the outcome and likelihood of each new row."""
    rows, found, width = list(start), [], len(new[0]) - 1
    ended = False
    for row in new:
        if row[0] not in {each[0] for each in start}:
            found.append(("new group", None))
        elif ended:
            found.append(("not reached", None))
        else:
            likely = told([*rows, row], row, reading, known, width)
            if likely <= alpha:
                rows.append(row)
                found.append(("admitted", likely))
            else:
                found.append(("refused", likely))
                ended = reading == "printed"
    return rows, found


def grouped_of(rows, width):
    names = NAMES[:width]
    return GroupedTables.of(FrequencySet.from_rows(["age", *names], rows), ["age"], names)


def table_of(rows, width):
    return pa.table(
        {
            name: pa.array([row[i] for row in rows], pa.string())
            for i, name in enumerate(["age", *NAMES[:width]])
        }
    )


def counted(grouped):
    """Read the tables as {(labels, column, value): rows}; a group's size is under its labels."""
    found = {}
    for g, size in enumerate(grouped.sizes.tolist()):
        labels = tuple(value for _, value in grouped.group_at(g))
        found[labels] = size
        for table in grouped.sensitive:
            here = table.group == g
            values = [table.column.values[v] for v in table.value[here].tolist()]
            for value, n in zip(values, table.rows[here].tolist(), strict=True):
                found[labels, table.column.name, value] = n
    return found


@st.composite
def increments(draw, missing=True):
    """Rows of up to two groups, and more of them or of a third."""
    width = draw(st.integers(1, 3))
    values = ["a", "b", "c", *([None] if missing else [])]
    cells = [st.sampled_from(values)] * width
    start = draw(st.lists(st.tuples(st.sampled_from("gh"), *cells), min_size=1, max_size=9))
    new = draw(st.lists(st.tuples(st.sampled_from("gghx"), *cells), min_size=1, max_size=12))
    known = draw(st.sampled_from([None, *range(width)]))
    reading = draw(st.sampled_from(READINGS))
    return start, new, width, reading, known if reading == "one-known" else None


def appended(start, new, width, alpha, reading, known):
    return sf.tools.append(
        grouped_of(start, width),
        table_of(new, width),
        alpha=alpha,
        reading=reading,
        known=None if known is None else NAMES[known],
    )


@given(increments(), ALPHAS)
def test_every_row_is_judged_as_the_source_says(increment, alpha):
    start, new, width, reading, known = increment
    done = appended(start, new, width, alpha, reading, known)
    rows, found = literal(start, new, exact(alpha), reading, known)
    assert [(row.outcome, row.likelihood) for row in done.rows] == found
    assert [(*row.group, *row.values) for row in done.rows] == new
    assert counted(done.tables) == counted(grouped_of(rows, width))


@given(increments(), ALPHAS)
def test_what_both_releases_tell_is_their_difference(increment, alpha):
    start, new, width, reading, known = increment
    done = appended(start, new, width, alpha, reading, known)
    rows, _ = literal(start, new, exact(alpha), reading, known)
    found = {}
    for group in {row[0] for row in start}:
        for at, name in enumerate(NAMES[:width], 1):
            came = Counter(row[at] for row in rows if row[0] == group)
            came.subtract(row[at] for row in start if row[0] == group)
            known_rows = [n for value, n in came.items() if n and value is not None]
            if known_rows:
                found[group, name] = max(known_rows), sum(known_rows)
    assert {(*each.group, each.column): (each.people, each.of) for each in done.told} == found


@given(increments(), ALPHAS)
@example(([("g", "a", None)], [("g", "a", "a")], 2, "one-known", None), 0.1)
def test_combinations_have_their_likelihoods_and_so_many_rows_are_permitted(increment, alpha):
    start, new, width, reading, known = increment
    done = appended(start, new, width, alpha, reading, known)
    rows, _ = literal(start, new, exact(alpha), reading, known)
    groups = {row[0] for row in start}
    offered = list(dict.fromkeys(row for row in new if row[0] in groups))
    assert [(*one.group, *one.values) for one in done.combinations] == offered
    for one, row in zip(done.combinations, offered, strict=True):
        before, after = (told(all_, row, reading, known, width) for all_ in (start, rows))
        assert (one.before, one.after) == (before, after)
        assert one.ratio == (after / before - 1 if before else None)

        def likely(n, row=row):
            return told(rows + [row] * n, row, reading, known, width)

        if one.permitted is None:
            assert likely(60) <= exact(alpha)
        else:
            # Each row that joins makes its own values likelier, so this is the last number.
            assert one.permitted == 0 or likely(one.permitted) <= exact(alpha)
            assert likely(one.permitted + 1) > exact(alpha)


@given(increments(), ALPHAS)
def test_as_many_equal_rows_are_admitted_as_are_permitted(increment, alpha):
    start, new, width, reading, known = increment
    new = [("g", *new[0][1:])]
    start = [("g", *row[1:]) for row in start]
    first = appended(start, new, width, alpha, reading, known)
    permitted = first.combinations[0].permitted
    more = new * (1 + min(25, 25 if permitted is None else permitted + 1))
    again = appended(start, more, width, alpha, reading, known)
    if first.admitted:
        wanted = 1 + (25 if permitted is None else permitted)
        assert len(again.admitted) == min(len(more), wanted)
    else:
        assert not again.admitted


@given(increments(missing=False), ALPHAS)
def test_the_worst_is_the_largest_of_all_combinations(increment, alpha):
    start, new, width, reading, known = increment
    done = appended(start, new, width, alpha, reading, known)
    rows, _ = literal(start, new, exact(alpha), reading, known)
    groups = {row[0] for row in start} & {row[0] for row in new}
    every = product(groups, *[["a", "b", "c"]] * width)
    wanted = max((told(rows, row, "one-known", None, width) for row in every), default=0)
    assert done.worst == wanted


def test_a_row_of_a_combination_makes_it_likelier():
    # The source's Property 3.
    for counts in product(range(1, 5), repeat=2):
        before = prod(Fraction(c, 5) for c in counts)
        assert prod(Fraction(c + 1, 6) for c in counts) > before


# The worked example: Table 10, offered to Tables 5 to 7.

POOR, RICH = (("State-gov", "Never-Married", pay) for pay in ("<=50K", ">50K"))
TABLE_10 = [(*FIRST, *POOR)] * 5 + [(*FIRST, *RICH)] * 5


def census(rows):
    names = (*CENSUS, *CENSUS_SENSITIVE)
    return pa.table({name: [row[i] for row in rows] for i, name in enumerate(names)})


@pytest.fixture(scope="module")
def decoupled():
    table = samples.table("census")
    return sf.decouple(table, quasi_identifiers=CENSUS, sensitive=CENSUS_SENSITIVE, seed=0)


def admitted(done):
    poor = sum(row.values == POOR for row in done.admitted)
    return poor, len(done.admitted) - poor


def test_tables_11_to_13_come_out(decoupled):
    done = sf.tools.append(decoupled, census(TABLE_10), alpha=0.7)
    assert len(done.admitted) == 10
    printed = {
        "government": PRINTED["government"][FIRST] | {"State-gov": 12},
        "marital_status": PRINTED["marital_status"][FIRST] | {"Never-Married": 12},
        "salary": {"<=50K": 9, ">50K": 6},
    }
    found = counted(done.tables)
    assert found[FIRST] == 15
    for column, values in printed.items():
        assert {v: found[FIRST, column, v] for v in values} == values
        for group, unchanged in list(PRINTED[column].items())[1:]:
            assert {v: found[group, column, v] for v in unchanged} == unchanged
    # The salary known, State-gov and Never-Married have 12/15 · 12/15.
    assert done.worst == Fraction(16, 25)


@pytest.mark.parametrize(
    ("alpha", "printed", "known"),
    [(0.4, (4, 0), (0, 4)), (0.5, (5, 5), (2, 5)), (0.6, (5, 5), (4, 5)), (0.7, (5, 5), (5, 5))],
)
def test_the_two_readings_of_algorithm_3_differ(decoupled, alpha, printed, known):
    # E16: the print multiplies all three tables and returns at the first refusal; with the
    # employer known its table is left out, and every row has its turn.
    literally = sf.tools.append(decoupled, census(TABLE_10), alpha=alpha, reading="printed")
    ours = sf.tools.append(decoupled, census(TABLE_10), alpha=alpha, known="government")
    assert admitted(literally) == printed
    assert admitted(ours) == known


@pytest.mark.parametrize(
    ("known", "likely"),
    [
        ("government", Fraction(6, 36)),
        ("marital_status", Fraction(6, 36)),
        ("salary", Fraction(9, 36)),
        (None, Fraction(9, 36)),
    ],
)
def test_without_a_column_the_one_that_tells_most_is_known(decoupled, known, likely):
    # With the row 3 of 6 are State-gov, 3 are Never-Married, and 2 have the higher salary.
    [row] = sf.tools.append(decoupled, census(TABLE_10[-1:]), alpha=1, known=known).rows
    assert row.likelihood == likely


def test_the_print_ends_with_the_first_refusal(decoupled):
    done = sf.tools.append(decoupled, census(TABLE_10), alpha=0.4, reading="printed")
    # 2/5 · 2/5 · 4/5 with five more: 7/10 · 7/10 · 9/10 = 44 %.
    [refused] = done.refused
    assert refused.likelihood == Fraction(441, 1000)
    assert len(done.not_reached) == 5
    assert [row.likelihood for row in done.not_reached] == [None] * 5
    assert done.headline == (
        "4 of 10 rows admitted, 1 refused, 5 not reached; alpha 0.4, reading printed"
    )


def test_the_ratio_and_the_permitted_numbers_of_the_worked_example(decoupled):
    done = sf.tools.append(decoupled, census(TABLE_10), alpha=0.7, known="government")
    poor, rich = done.combinations
    # 2/5 · 4/5 = 32 % becomes 12/15 · 9/15 = 48 %; 2/5 · 1/5 = 8 % becomes 12/15 · 6/15 = 32 %.
    assert (poor.before, poor.after, poor.ratio) == (
        Fraction(8, 25),
        Fraction(12, 25),
        Fraction(1, 2),
    )
    assert (rich.before, rich.after, rich.ratio) == (Fraction(2, 25), Fraction(8, 25), 3)

    def likely(n, pay):
        return Fraction((12 + n) * (pay + n), (15 + n) ** 2)

    assert likely(poor.permitted, 9) <= Fraction(7, 10) < likely(poor.permitted + 1, 9)
    assert likely(rich.permitted, 6) <= Fraction(7, 10) < likely(rich.permitted + 1, 6)


@pytest.mark.parametrize(
    ("poor", "rich", "size", "likelihoods"),
    [(10, 8, 23, (50, 32)), (11, 9, 25, (50, 34)), (17, 13, 35, (51, 34)), (23, 17, 45, (52, 35))],
)
def test_table_14_from_the_rows_that_were_added(decoupled, poor, rich, size, likelihoods):
    # As many single State-gov rows as lead to 19, 21, 30 and 39 of them, the rest divorced.
    unmarried = {23: 17, 25: 19, 35: 28, 45: 37}[size]
    pays = ["<=50K"] * poor + [">50K"] * rich
    assert len(pays) == size - 5
    wed = ["Never-Married"] * unmarried + ["Divorced"] * (size - 5 - unmarried)
    rows = [(*FIRST, "State-gov", m, p) for m, p in zip(wed, pays, strict=True)]
    done = sf.tools.append(decoupled, census(rows), alpha=1, known="government")
    found = {one.values: one for one in done.combinations}
    assert tuple(round(100 * found[each].after) for each in (POOR, RICH)) == likelihoods
    assert found[POOR].before == Fraction(8, 25)
    assert all(one.permitted is None for one in done.combinations)


# What it takes, and what it refuses.


@pytest.mark.usefixtures("patience")
def test_folders_frames_and_files_are_the_same(decoupled, tmp_path):
    folder = tmp_path / "decoupled"
    sf.decouple(
        samples.table("census"),
        quasi_identifiers=CENSUS,
        sensitive=CENSUS_SENSITIVE,
        output=folder,
    )
    new = census([*TABLE_10, ("[0-9]", *FIRST[1:], *POOR)])
    pa.csv.write_csv(new, tmp_path / "new.csv")
    wanted = sf.tools.append(decoupled, new, alpha=0.5)
    for release in (folder, str(folder), decoupled, wanted.tables):
        for rows in (tmp_path / "new.csv", new.to_pandas()):
            if release is wanted.tables:
                assert not sf.tools.append(release, rows, alpha=0.3).admitted
                continue
            done = sf.tools.append(release, rows, alpha=0.5)
            assert done.rows == wanted.rows
            assert counted(done.tables) == counted(wanted.tables)
            assert done.to_dict() == wanted.to_dict()
    assert [row.outcome for row in wanted.rows][-1] == "new group"
    assert len(wanted.waiting) == 1
    assert "1 of groups that are not there" in wanted.headline


def test_values_are_the_same_however_they_are_stored():
    start = grouped_of([("20", "1"), ("20", "2"), ("20", "3")], 1)
    new = pa.table({"age": [20, 20], "ill": [2, 4]})
    done = sf.tools.append(start, new, alpha=0.5)
    assert counted(done.tables)[("20",)] == 5
    assert done.tables.table("ill").column.values == ("1", "2", "3", "4")


def test_missing_values_hide_no_row():
    # Of four rows two are known and both are flu: a third makes 3/3, whatever the size.
    start = [("g", "flu"), ("g", "flu"), ("g", None), ("g", None)]
    done = appended(start, [("g", "flu"), ("g", None), ("g", "gout")], 1, 0.5, "one-known", None)
    assert [row.outcome for row in done.rows] == ["refused", "admitted", "admitted"]
    assert [row.likelihood for row in done.rows] == [1, 0, Fraction(1, 3)]
    assert "knows the group guesses the value with up to 67 %." in str(done)


def test_the_result_says_what_it_does_not_bound(decoupled):
    done = sf.tools.append(decoupled, census(TABLE_10), alpha=0.6, known="government")
    assert "knows the group and one value guesses the others with up to 62 %." in str(done)
    assert "sf.Ledger bounds that too" in str(done)
    assert repr(done) == f"<AppendedRows: {done.headline}>"
    assert done.worst > Fraction(6, 10)


@pytest.mark.parametrize("alpha", [0, -0.1, 1.01, float("nan"), "x", None])
def test_a_limit_that_is_none(decoupled, alpha):
    with pytest.raises(ParameterError, match="alpha must be a number above 0 and at most 1"):
        sf.tools.append(decoupled, census(TABLE_10), alpha=alpha)


def test_what_is_wrong_is_said(decoupled, tmp_path):
    rows = census(TABLE_10)
    with pytest.raises(UnknownColumnError, match="pay"):
        sf.tools.append(decoupled, rows, alpha=0.5, known="pay")
    with pytest.raises(ParameterError, match="one of one-known, printed"):
        sf.tools.append(decoupled, rows, alpha=0.5, reading="literal")
    with pytest.raises(ParameterError, match="known must be left out"):
        sf.tools.append(decoupled, rows, alpha=0.5, reading="printed", known="salary")
    with pytest.raises(UnknownColumnError, match="salary"):
        sf.tools.append(decoupled, rows.drop_columns("salary"), alpha=0.5)
    with pytest.raises(InputError, match="Decouple it first"):
        sf.tools.append(rows, rows, alpha=0.5)
    anatomy = {"method": "anatomy", "l": 2}
    roles = {"quasi_identifiers": ["gender"], "sensitive": ["government"]}
    buckets = sf.decouple(samples.table("census"), anatomy, **roles)
    with pytest.raises(InputError, match="break-merge"):
        sf.tools.append(buckets, rows, alpha=0.5)


def test_rows_of_a_ledger_stay_with_the_ledger(tmp_path):
    start = [("g", ill) for ill in "abcd"]
    ledger = sf.Ledger.start(grouped_of(start, 1), tmp_path / "x.ledger", alpha=0.5, k=2)
    ledger.publish(table_of([("g", "c"), ("g", "d")], 1))
    with pytest.raises(InputError, match="several groups of this release have the same"):
        sf.tools.append(ledger.current, table_of(start, 1), alpha=0.5)


def test_rows_of_a_database_have_no_order(decoupled):
    with duckdb.connect() as connection:
        relation = connection.from_arrow(census(TABLE_10))
        with pytest.raises(InputError, match="a table of duckdb has none"):
            sf.tools.append(decoupled, relation, alpha=0.5)
