"""Merging is the join on the group, in Python, in SQL and word by word."""

import csv
import json
import sqlite3
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.counts import FrequencySet
from sfumato.decouplings import MergedTables
from sfumato.decouplings.base import GroupedTables, LinkedTables
from sfumato.errors import (
    InfeasibleError,
    InputError,
    OutputError,
    ParameterError,
    UnknownColumnError,
)
from tests.decouplings import literal
from tests.decouplings.tables import NAMES, ODD, QI, ROWS, SENSITIVE, table


def decoupled(data, **options):
    return sf.decouple(data, quasi_identifiers=QI, sensitive=SENSITIVE, **options)


def as_dictionary(merged, names=NAMES):
    rows = merged.to_pylist()
    found = {tuple(row[name] for name in names): row["expected"] for row in rows}
    assert len(found) == len(rows)
    return found


@given(ROWS)
def test_merging_is_the_literal_join(rows):
    found = as_dictionary(sf.tools.merge(decoupled(table(rows))))
    expected = literal.joined(rows, 2)
    assert found.keys() == expected.keys()
    assert all(found[key] == pytest.approx(float(expected[key])) for key in expected)
    assert sum(expected.values()) == len(rows)


@given(ROWS)
def test_the_natural_join_has_the_count_of_each_table(rows):
    """The expected people are |G| times the share of every value, so of these counts."""
    merged = sf.tools.merge(decoupled(table(rows)), how="counts").to_pylist()
    for row in merged:
        group = [each for each in rows if each[:2] == (row["age"], row["zip"])]
        assert row["count_age_zip"] == len(group)
        shares = Fraction(len(group))
        for at, name in enumerate(NAMES):
            if name in SENSITIVE:
                have = sum(each[at] == row[name] for each in group)
                assert row[f"count_{name}"] == have
                shares *= Fraction(have, len(group))
        assert row["expected"] == pytest.approx(float(shares))


@given(ROWS, st.integers(0, 8), st.integers(1, 8))
def test_any_part_of_the_join_is_a_part_of_the_whole(rows, start, length):
    grouped = GroupedTables.of(FrequencySet.from_rows(NAMES, rows), QI, SENSITIVE)
    merged = MergedTables(LinkedTables.of(grouped, NAMES))
    start, stop = min(start, merged.n), min(start + length, merged.n)
    whole, part = merged.rows(0, merged.n), merged.rows(start, stop)
    assert len(whole.group) == merged.total
    inside = (whole.group >= start) & (whole.group < stop)
    np.testing.assert_array_equal(whole.group[inside], part.group)
    np.testing.assert_array_equal(whole.people[inside], part.people)
    for one, other in zip(whole.entries, part.entries, strict=True):
        np.testing.assert_array_equal(one[inside], other)


# Every kind of release: what is joined agrees with every table that was published.


METHODS = [
    {"method": "break-merge", "together": ["ill+pay"]},
    {"method": "anatomy", "l": 2, "together": ["ill+pay"]},
    {"method": "bucketization", "together": ["ill+pay"]},
    {"method": "slicing", "l": 2},
    {"method": "slicing", "l": 2, "columns": ["age+job", "age+zip", "ill", "pay"]},
    {"method": "slicing", "l": 2, "columns": ["age+job", "zip+job", "age+zip", "ill", "pay"]},
]


def added(rows, names, number):
    """Add up the people of each group who are alike in some columns."""
    found = Counter()
    for row in rows:
        found[tuple(row[name] for name in names)] += row.get(number, 1)
    return found


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", METHODS, ids=str)
@given(rows=st.lists(st.tuples(*[st.sampled_from(["a", "b", None])] * 5), min_size=2, max_size=8))
def test_whatever_is_joined_adds_up_to_every_table(method, rows):
    names = [*QI, "job", *SENSITIVE]
    columns = {"age": "quasi-identifier", "zip": "quasi-identifier", "job": "plain"}
    policy = sf.Policy(
        columns={**columns, "ill": "sensitive", "pay": "sensitive"},
        models=[{"model": "t-closeness", "column": "ill", "t": 0.999}],
        decouple=method,
    )
    try:
        release = sf.decouple(table(rows, names), policy=policy)
    except InfeasibleError:
        return
    link = release.manifest.group
    joined = sf.tools.merge(release).to_pylist()
    circle = len(method.get("columns", ())) == 5
    close = {"rel": 0.02, "abs": 0.02} if circle else {}
    assert sum(row["expected"] for row in joined) == pytest.approx(len(rows), **close)
    assert {row[1:] for row in enumerate_rows(joined, (link, *names))} >= set(rows)
    sampled = None if circle else sf.tools.merge(release, how="sample", seed=3).to_pylist()
    for published in release.tables.values():
        held = [name for name in published.column_names if name != "count"]
        truth = added(published.to_pylist(), held, "count")
        assert added(joined, held, "expected") == pytest.approx(truth, **close)
        if sampled is not None:
            # A row per person, and each table a part of it: none is contradicted.
            assert len(sampled) == len(rows)
            assert added(sampled, held, "expected") == truth
    if circle:
        with pytest.raises(InputError, match="in a circle"):
            sf.tools.merge(release, how="sample")


def enumerate_rows(rows, names):
    return {tuple(row[name] for name in names) for row in rows}


def test_every_way_to_join_is_drawn_equally_often():
    rows = [("a", "b", "x", "1"), ("a", "b", "y", "2"), ("a", "b", "z", "2")]
    grouped = GroupedTables.of(FrequencySet.from_rows(NAMES, rows), QI, SENSITIVE)
    merged = MergedTables(LinkedTables.of(grouped, NAMES))
    rng, drawn = np.random.default_rng(7), Counter()
    for _ in range(300):
        [batch] = merged.draw("group", [5], rng).batches()
        drawn[frozenset(zip(*(cells.tolist() for cells in batch.kinds), strict=True))] += 1
    assert len(drawn) == 3
    assert min(drawn.values()) > 60


def test_some_columns_of_slices_are_joined_and_a_wrong_way_is_refused():
    release = sf.decouple(
        table([(a, b, c, d) for a in "ab" for b in "xy" for c in "pq" for d in "12"]),
        {"method": "slicing", "l": 2, "columns": ["age", "zip", "ill", "pay"]},
        quasi_identifiers=QI,
        sensitive=SENSITIVE,
    )
    merged = sf.tools.merge(release, columns=["age", "pay"])
    assert merged.column_names == ["bucket", "age", "pay", "expected"]
    assert sum(merged["expected"].to_pylist()) == pytest.approx(16)
    with pytest.raises(ParameterError, match="'weights' or 'counts' or 'sample'"):
        sf.tools.merge(release, how="guess")
    with pytest.raises(ParameterError, match="--how sample"):
        sf.tools.merge(release, most=3)


@given(rows=ROWS)
def test_chosen_columns_only(rows):
    merged = sf.tools.merge(decoupled(table(rows)), columns=["pay"])
    assert merged.column_names == ["group", "age", "zip", "pay", "expected"]
    found = as_dictionary(merged, ["age", "zip", "pay"])
    counted = {}
    for age, zip_, _, pay in rows:
        counted[age, zip_, pay] = counted.get((age, zip_, pay), 0) + 1
    assert found == pytest.approx(counted)


@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
def test_a_file_is_written_with_the_same_rows(tmp_path, form):
    rows = [("a", None, c, d) for c in "xyz" for d in "123"]
    release = decoupled(table(rows), output=tmp_path / "broken")
    target = sf.tools.merge(tmp_path / "broken", output=tmp_path / f"merged.{form}")
    assert target == tmp_path / f"merged.{form}"
    assert {p.name for p in tmp_path.iterdir()} == {"broken", f"merged.{form}"}
    from sfumato.tables import open_table

    counts = open_table(target).count([*NAMES, "expected"])
    assert counts.total == 9
    assert sf.tools.merge(release).num_rows == 9
    assert float(str(counts.column("expected").values[0])) == 1.0


def test_too_many_rows_are_refused_before_any_is_made(tmp_path):
    rows = [("a", "b", str(i), str(i)) for i in range(100)]
    release = decoupled(table(rows))
    with pytest.raises(ParameterError, match="these would be 10000") as error:
        sf.tools.merge(release, most=9999)
    assert "fewer columns" in str(error.value)
    assert sf.tools.merge(release, most=10_000).num_rows == 10_000
    assert sf.tools.merge(release, columns=["ill"], most=100).num_rows == 100


def test_a_join_beyond_all_numbers_is_counted_and_refused():
    names = ["age", *(f"s{i}" for i in range(12))]
    rows = [("a", *[str(i)] * 12) for i in range(100)]
    release = sf.decouple(table(rows, names), quasi_identifiers=["age"], sensitive=names[1:])
    with pytest.raises(ParameterError, match=str(100**12)):
        sf.tools.merge(release)


@pytest.mark.parametrize(
    ("release", "words"),
    [(42, "is not a decoupled release"), ("nowhere", "there is no manifest.json")],
)
def test_what_is_no_decoupled_release_is_refused(release, words):
    with pytest.raises(InputError, match=words):
        sf.tools.merge(release)


def test_a_release_in_one_table_is_refused(tmp_path):
    policy = sf.Policy(
        columns={"age": "quasi-identifier", "ill": "sensitive"},
        models=[sf.models.KAnonymity(2)],
        other="dropped",
    )
    sf.anonymize(table([("a", "b", "x", "y")] * 2), policy, output=tmp_path / "release")
    with pytest.raises(InputError, match="a release in one table"):
        sf.tools.merge(tmp_path / "release")


def test_wrong_targets_and_columns_are_refused(tmp_path):
    release = decoupled(table([("a", "b", "x", "y")]))
    (tmp_path / "there.csv").write_text("mine")
    with pytest.raises(OutputError, match="exists"):
        sf.tools.merge(release, output=tmp_path / "there.csv")
    with pytest.raises(OutputError, match="exists"):
        sf.tools.merge(release, output=tmp_path, force=True)
    with pytest.raises(ParameterError, match="one of csv, parquet, feather"):
        sf.tools.merge(release, output=tmp_path / "merged.doc")
    with pytest.raises(UnknownColumnError, match="Did you mean 'pay'"):
        sf.tools.merge(release, columns=["pya"])
    sf.tools.merge(release, output=tmp_path / "there.csv", force=True)
    assert (tmp_path / "there.csv").read_text().startswith("group,age,zip,ill,pay,expected\n")


def test_tables_that_do_not_belong_together_are_refused(tmp_path):
    release = decoupled(table([("a", "b", "x", "y")] * 3), output=tmp_path / "b", format="csv")
    path = release.folder / "sensitive_ill.csv"
    text = path.read_text()
    for wrong in (
        text.replace(",3", ",2"),
        text.replace(",3", ",some"),
        "group,ill,count\n1,x,3\n",
    ):
        path.write_text(wrong)
        with pytest.raises(InputError, match="sfumato verify"):
            sf.tools.merge(release.folder)


def load(folder):
    """Do in SQLite what schema.sql says."""
    database = sqlite3.connect(":memory:")
    database.executescript((folder / "schema.sql").read_bytes().decode())
    for file in json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["files"]:
        with (folder / file["name"]).open(encoding="utf-8", newline="") as handle:
            rows = [[cell or None for cell in row] for row in list(csv.reader(handle))[1:]]
        marks = ", ".join("?" * len(rows[0]))
        name = file["name"].removesuffix(".csv")
        database.executemany(f'INSERT INTO "{name}" VALUES ({marks})', rows)
    return database


@pytest.mark.usefixtures("patience")
@given(rows=ROWS)
def test_the_view_in_the_schema_is_the_same_join(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("release") / "broken"
    decoupled(table(rows), output=folder, format="csv")
    found = load(folder).execute("SELECT * FROM merged").fetchall()
    expected = literal.joined(rows, 2)
    assert {row[1:-1] for row in found} == set(expected)
    assert len(found) == len(expected)
    assert all(Fraction(row[-1]) == pytest.approx(expected[row[1:-1]]) for row in found)


# SQLite gives no column of a view the name of a truth value, however it is quoted.
NAMEABLE = ODD.filter(lambda name: name.casefold() not in ("true", "false"))


@pytest.mark.usefixtures("patience")
@given(st.lists(NAMEABLE, min_size=3, max_size=3, unique_by=str.casefold))
def test_the_schema_can_be_run_whatever_the_columns_are_called(tmp_path_factory, names):
    folder = tmp_path_factory.mktemp("release") / "broken"
    data = table([("a", "x", "y"), ("a", "x", "z")], names)
    sf.decouple(data, quasi_identifiers=names[:1], sensitive=names[1:], output=folder, format="csv")
    database = sqlite3.connect(":memory:")
    database.executescript((folder / "schema.sql").read_bytes().decode())
    columns = [column[0] for column in database.execute("SELECT * FROM merged").description]
    assert columns[1:-1] == names
