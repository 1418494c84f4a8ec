"""Releases with perturbed columns: kinds of tables, types, what is told, and what is refused."""

import datetime as dt
import json
import math
from collections import Counter
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.counts import FrequencySet
from sfumato.errors import InputError, PolicyError, UnknownColumnError
from sfumato.perturbations import PERTURBATIONS
from sfumato.releases.perturbing import perturb_counts, perturb_table
from sfumato.tables import open_table
from sfumato.typing import silent

AGE = {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10, 40]}}
WHY = "a number drawn for tests"


def people(n: int = 300, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    pay = rng.integers(900, 6000, n)
    region = rng.choice(["north", "south"], n)
    return pa.table(
        {
            "row": np.arange(n),
            "twin": np.arange(n) * 7 + 3,
            "age": rng.integers(20, 60, n),
            "pay": pay,
            "rent": np.round(pay * 0.3 + rng.normal(0, 30, n), 2),
            "region": region,
            "town": np.char.add(region, rng.choice(["1", "2", "3"], n)),
            "smokes": rng.random(n) < 0.3,
        }
    )


def policy(perturb: dict, **more) -> sf.Policy:
    columns = {
        name: {"role": "plain", "because": WHY}
        for name in ("row", "twin", "pay", "rent", "region", "town", "smokes")
    }
    columns["age"] = AGE
    for name, kinds in perturb.items():
        columns[name] = {**columns[name], "perturb": kinds}
    return sf.Policy(columns=columns, models=[{"model": "k-anonymity", "k": 5}], **more)


NOISE = {"kind": "noise", "sd": "10%", "at_least": 0}
ALL = {
    "age": {"kind": "rounding", "step": 2},
    "pay": [{"kind": "top-coding", "above": "98%"}, NOISE],
    "rent": {"kind": "rank-swapping", "distance": "5%"},
    "town": {"kind": "record-swapping", "share": "40%", "within": ["region"]},
    "smokes": {"kind": "pram", "keep": 0.8, "invariant": True},
}
SETTINGS = {
    "rounding": {"step": 100},
    "top-coding": {"above": 5000},
    "bottom-coding": {"below": "10%"},
    "noise": {"sd": 100},
    "correlated-noise": {"sd": "10%"},
    "rank-swapping": {"distance": "5%"},
    "record-swapping": {"share": "50%"},
    "pram": {"matrix": {"1000": {"1000": 0.5, "2000": 0.5}}},
}


def column(table, name: str) -> list:
    if isinstance(table, pd.DataFrame | pl.DataFrame):
        return [None if v is pd.NA else v for v in table[name].to_list()]
    return table[name].to_pylist()


@pytest.mark.parametrize("kind", PERTURBATIONS)
def test_every_kind_is_applied_to_a_release(kind):
    table = people()
    pay = pa.array(np.append(table["pay"].to_numpy()[:-1], 1000))
    table = table.set_column(3, "pay", pay)
    release = sf.anonymize(table, policy({"pay": {"kind": kind, **SETTINGS[kind]}}), seed=1)
    truth = dict(zip(column(table, "row"), pay.to_pylist(), strict=True))
    found = dict(zip(column(release.table, "row"), column(release.table, "pay"), strict=True))
    assert {row: type(value) for row, value in found.items()} == dict.fromkeys(truth, int)
    assert found != truth or kind == "pram"
    assert release.table.schema.field("pay").type == pa.int64()


def test_other_columns_stay_with_their_rows():
    table = people()
    release = sf.anonymize(table, policy(ALL), seed=2)
    raw = {row["row"]: row for row in table.to_pylist()}
    changed = Counter()
    for row in release.table.to_pylist():
        true = raw[row["row"]]
        assert row["twin"] == true["twin"]
        assert row["region"] == true["region"]
        assert row["town"].startswith(row["region"])
        low, high = (int(end) for end in row["age"].split(" to "))
        assert low - 1 <= true["age"] <= high + 1
        assert row["pay"] >= 0
        changed.update(name for name in ALL if name != "age" and row[name] != true[name])
    assert len(release.table) == 300
    # Kept by chance only, by noise below one half, or outside the share.
    assert set(changed) == {"pay", "rent", "town", "smokes"}
    assert Counter(column(release.table, "rent")) == Counter(column(table, "rent"))
    assert np.corrcoef(column(release.table, "rent"), column(release.table, "pay"))[0, 1] > 0.9


def test_the_table_of_the_caller_stays_as_it_is():
    table = people()
    frame = table.to_pandas()
    before = frame.copy(deep=True)
    sf.anonymize(frame, policy(ALL), seed=2)
    pd.testing.assert_frame_equal(frame, before)
    assert table.equals(people())


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars", "csv", "parquet"])
def test_kinds_of_tables_keep_types(tmp_path, kind):
    table = people()
    given = {
        "arrow": lambda: table,
        "pandas": table.to_pandas,
        "polars": lambda: pl.from_arrow(table),
        "csv": lambda: tmp_path / "people.csv",
        "parquet": lambda: tmp_path / "people.parquet",
    }[kind]()
    if kind == "csv":
        pa_csv.write_csv(table, given)
    if kind == "parquet":
        pq.write_table(table, given)
    release = sf.anonymize(given, policy(ALL), seed=2)
    reference = sf.anonymize(table, policy(ALL), seed=2).table
    found = release.table
    for name in ("pay", "rent", "town", "smokes"):
        texts = [sf.text.text_of(value) for value in column(found, name)]
        assert texts == [sf.text.text_of(value) for value in column(reference, name)]
        if kind != "csv":
            assert all(
                isinstance(one, type(two)) or (type(one), type(two)) == (np.bool_, bool)
                for one, two in zip(column(found, name), column(reference, name), strict=True)
            )
    if kind == "csv":
        # Whole numbers are written as such.
        assert all("." not in value for value in column(found, "pay"))
    if kind == "pandas":
        assert found["pay"].dtype == np.int64
        assert found["rent"].dtype == np.float64
        assert found["smokes"].dtype == np.bool_
    if kind == "polars":
        assert found.schema["pay"] == pl.Int64
        assert found.schema["smokes"] == pl.Boolean


@pytest.mark.parametrize(
    ("array", "perturb"),
    [
        (pa.array([10, 20, None] * 20, pa.int16()), NOISE),
        (pa.array([10, 20, 250] * 20, pa.uint8()), {"kind": "rounding", "step": 10, "to": "up"}),
        (pa.array([1.5, 2.25, None] * 20, pa.float32()), {"kind": "rounding", "step": 0.5}),
        (pa.array([Decimal("1.50"), Decimal("7.25"), None] * 20, pa.decimal128(9, 2)), NOISE),
        (pa.array(["a", "b", None] * 20).dictionary_encode(), {"kind": "pram", "keep": 0.5}),
        (pa.array([dt.date(2020, 1, d) for d in (1, 2, 3)] * 20),
         {"kind": "rank-swapping", "distance": 9}),
        (pa.array([True, False, None] * 20), {"kind": "record-swapping", "share": 0.5}),
    ],
    ids=str,
)  # fmt: skip
def test_types_of_columns_are_kept(array, perturb):
    table = pa.table({"age": [30] * 60, "value": array})
    rules = sf.Policy(
        columns={"age": AGE, "value": {"role": "plain", "because": WHY, "perturb": perturb}},
        models=[{"model": "k-anonymity", "k": 5}],
    )
    found = sf.anonymize(table, rules, seed=1).table["value"]
    plain = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    kind = found.type.value_type if pa.types.is_dictionary(found.type) else found.type
    assert kind == plain
    assert found.null_count == array.null_count


def test_numbers_that_do_not_fit_their_type_get_a_wider_one():
    rules = policy({"pay": {"kind": "top-coding", "above": 100, "becomes": 100.5}})
    small = pa.array(np.arange(300) % 120, pa.int8())
    table = people().set_column(3, "pay", small)
    found = sf.anonymize(table, rules, seed=1).table["pay"]
    assert found.type == pa.float64()
    assert max(found.to_pylist()) == 100.5


@pytest.mark.usefixtures("patience")
def test_a_release_is_the_same_with_the_same_seed_only():
    table = people()
    one, two, three = (sf.anonymize(table, policy(ALL), seed=s).table for s in (4, 4, 5))
    assert one.equals(two)
    by_row = [dict(zip(column(t, "row"), column(t, "pay"), strict=True)) for t in (one, three)]
    assert by_row[0] != by_row[1]
    unseeded = [sf.anonymize(table, policy(ALL)).table for _ in range(2)]
    by_row = [dict(zip(column(t, "row"), column(t, "pay"), strict=True)) for t in unseeded]
    assert by_row[0] != by_row[1]


@pytest.mark.usefixtures("patience")
def test_the_manifest_tells_kind_and_settings_and_nothing_of_the_data(tmp_path):
    texts = []
    for seed in (0, 1):
        output = tmp_path / str(seed)
        release = sf.anonymize(people(seed=seed), policy(ALL), output=output, seed=3)
        manifest = json.loads((output / "manifest.json").read_text())
        told = {each["name"]: each.get("perturbed") for each in manifest["columns"]}
        stated = {
            "age": [{"kind": "rounding", "step": 2}],
            "pay": [{"kind": "top-coding", "above": "98%"}, NOISE],
            "rent": [{"kind": "rank-swapping", "distance": "5%"}],
            "town": [{"kind": "record-swapping", "share": "40%", "within": ["region"]}],
            "smokes": [{"kind": "pram", "keep": 0.8, "invariant": True}],
            **dict.fromkeys(("row", "twin", "region")),
        }
        assert told == stated
        texts.append([note for note in manifest["notes"] if "'pay'" in note or "'rent'" in note])
        kinds = [each.name for each in release.manifest.columns if each.perturbations]
        assert set(kinds) == set(ALL)
        assert sf.verify(output).verdict.holds
    # Of other people the same is told.
    assert texts[0] == texts[1]
    assert len(texts[0]) == 3


@pytest.mark.usefixtures("patience")
def test_correlated_columns_are_changed_together():
    table = people(2000)
    rule = {"kind": "correlated-noise", "sd": "50%"}
    release = sf.anonymize(table, policy({"pay": rule, "rent": rule}), seed=1)
    before = np.corrcoef(column(table, "pay"), column(table, "rent"))[0, 1]
    after = np.corrcoef(column(release.table, "pay"), column(release.table, "rent"))[0, 1]
    assert after == pytest.approx(before, abs=0.01)
    apart = sf.anonymize(table, policy({"pay": {**NOISE, "sd": "50%"},
                                        "rent": {**NOISE, "sd": "50%"}}), seed=1)  # fmt: skip
    smaller = np.corrcoef(column(apart.table, "pay"), column(apart.table, "rent"))[0, 1]
    assert smaller < before - 0.1


def test_people_with_several_rows_get_one_answer():
    who = np.repeat(np.arange(200), 3)
    smokes = np.where(who % 2, "yes", "no")
    pay = 1000 + who
    table = pa.table({"id": who, "age": 20 + who % 4 * 10, "smokes": smokes, "pay": pay})
    rules = sf.Policy(
        columns={
            "id": "identifier",
            "age": AGE,
            "smokes": {"role": "plain", "because": WHY, "perturb": {"kind": "pram", "keep": 0.6}},
            "pay": {"role": "plain", "because": WHY, "perturb": {"kind": "noise", "sd": 1e6}},
        },
        models=[{"model": "k-anonymity", "k": 5}],
        person="id",
    )
    release = sf.anonymize(table, rules, seed=1)
    # The noise is so wide that a number belongs to one person.
    rows = Counter(column(release.table, "pay"))
    assert set(rows.values()) == {3}
    pairs = set(zip(column(release.table, "pay"), column(release.table, "smokes"), strict=True))
    assert len(pairs) == 200


def test_models_hold_of_what_is_published():
    rules = policy({"age": {"kind": "noise", "sd": 5, "at_least": 0}})
    release = sf.anonymize(people(), rules, seed=1)
    assert min(Counter(column(release.table, "age")).values()) >= 5
    assert release.verdict.holds


def counts_of(table: pa.Table) -> FrequencySet:
    names = table.column_names
    return FrequencySet.from_rows(names, [tuple(row.values()) for row in table.to_pylist()])


def rows_of(counts: FrequencySet, *names: str) -> Counter:
    """Count combinations of values, one by one."""
    columns = [
        [counts.column(name).values[code] for code in counts.codes_of(name)] for name in names
    ]
    found = Counter()
    for rows, *cells in zip(counts.rows.tolist(), *columns, strict=True):
        found[tuple(cells)] += rows
    return found


def test_counts_are_perturbed_as_rows_are():
    table = people().select(["age", "pay", "region", "town", "smokes"])
    fixed = {"pay": {"kind": "rounding", "step": 500}, "age": {"kind": "top-coding", "above": 50}}
    rules = policy(fixed)
    rows, _ = perturb_table(open_table(table), rules, rules, np.random.default_rng(0), silent)
    found = perturb_counts(counts_of(table), rules, np.random.default_rng(0))
    names = ("age", "pay", "region", "town", "smokes")
    assert rows_of(found, *names) == rows_of(rows.count(names), *names)
    drawn = {name: ALL[name] for name in ("town", "smokes")}
    found = perturb_counts(counts_of(table), policy(drawn), np.random.default_rng(0))
    # What is not changed stays together, and so does what is counted within levels.
    for kept in (("age", "pay", "region"), ("region", "town")):
        assert rows_of(found, *kept) == rows_of(counts_of(table), *kept)
    for changed in (("age", "pay", "town"), ("smokes",)):
        assert rows_of(found, *changed) != rows_of(counts_of(table), *changed)
    untouched = counts_of(table)
    assert perturb_counts(untouched, policy({}), np.random.default_rng(0)) is untouched


REFUSED = {
    "values that are no numbers": ({"town": NOISE}, InputError, "pram or record-swapping"),
    "a column to stay within that is not there": (
        {"town": {"kind": "record-swapping", "share": "5%", "within": ["regin"]}},
        UnknownColumnError,
        "Did you mean 'region'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_the_table_is_refused(name):
    perturb, error, says = REFUSED[name]
    with pytest.raises(error, match=says):
        sf.anonymize(people(), policy(perturb))


def test_dates_are_refused_with_what_moves_them():
    days = pa.array([dt.date(2020, 1, 1)] * 300)
    table = people().set_column(3, "pay", days)
    with pytest.raises(InputError, match=r"derive: \[\{kind: shift"):
        sf.anonymize(table, policy({"pay": NOISE}))


def test_a_limit_of_memory_is_refused():
    with pytest.raises(PolicyError, match="held in memory, all rows at once"):
        sf.anonymize(people(), policy({"pay": NOISE}), memory="1GB")


@pytest.mark.parametrize("output", ["folder", "table:released"])
def test_a_database_is_refused(tmp_path, output):
    file = tmp_path / "people.duckdb"
    with duckdb.connect(file) as connection:
        connection.register("given", people())
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    where = tmp_path / output if output == "folder" else output
    with pytest.raises(PolicyError, match="those of a database"):
        sf.anonymize(f"duckdb:///{file}?table=people", policy({"pay": NOISE}), output=where)


@pytest.mark.usefixtures("patience")
def test_moments_of_a_release_are_nearly_those_of_the_table():
    table = people(4000)
    release = sf.anonymize(table, policy(ALL), seed=1)
    before, after = (np.array(column(t, "pay"), dtype=float) for t in (table, release.table))
    # Noise of a tenth of the spread, four standard errors; coding takes a little of the top.
    assert abs(after.mean() - before.mean()) < 4 * before.std() * 0.1 / math.sqrt(4000) + 20


def test_a_column_without_values_stays_without():
    table = pa.table({"age": [1, 1], "ill": pa.nulls(2)})
    pram = {"kind": "pram", "matrix": {"flu": {"flu": 0.5, "gout": 0.5}}}
    columns = {"age": "quasi-identifier", "ill": {"role": "sensitive", "perturb": pram}}
    made = sf.anonymize(table, {"columns": columns, "models": [{"model": "k-anonymity", "k": 2}]})
    assert made.table["ill"].to_pylist() == [None, None]


@pytest.mark.usefixtures("patience")
def test_values_that_only_the_matrix_has_can_be_measured():
    table = pa.table({"age": [1] * 40, "ill": ["flu"] * 20 + ["gout"] * 20})
    pram = {"kind": "pram", "matrix": {"flu": {"flu": 0.5, "cold": 0.5}}}
    columns = {"age": "quasi-identifier", "ill": {"role": "sensitive", "perturb": pram}}
    policy = {"columns": columns, "models": [{"model": "k-anonymity", "k": 2}]}
    found = sf.utility(table, sf.anonymize(table, policy, seed=1), policy=policy)
    assert found.queries.mean > 0
