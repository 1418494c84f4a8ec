"""Missing values in every kind of column and table, under each rule a policy can choose."""

import datetime as dt
import json
from collections import Counter
from importlib import import_module

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import sfumato as sf

NAN = float("nan")
DAY = dt.date(2024, 3, 1)
QI = ("age", "admitted", "sex")

# Per row: age, admitted, sex (what others know), ill (sensitive), note (plain).
ROWS = [
    (31.0, DAY, "f", "flu", "a"),
    (34.0, DAY, "f", "gout", None),
    (31.0, DAY, "f", None, "b"),
    (39.0, DAY, "m", "flu", "c"),
    (38.0, DAY, "m", "hiv", None),
    (32.0, DAY, "m", "gout", "d"),
    (None, DAY, "f", "flu", "e"),
    (None, DAY, "f", "gout", None),
    (35.0, None, "m", "flu", "f"),
    (35.0, None, "m", None, None),
    (35.0, None, "m", "gout", "g"),
    (31.0, DAY, None, "hiv", "h"),
    (36.0, DAY, None, "flu", None),
    (None, None, None, "gout", "i"),
]
LACKING = sum(None in row[:3] for row in ROWS)

POLICY = """\
columns:
  age: {{role: quasi-identifier, hierarchy: {{kind: intervals, widths: [10]}}}}
  admitted: {{role: quasi-identifier, hierarchy: {{kind: dates, levels: [month, year]}}}}
  sex: quasi-identifier
  ill: sensitive
  note: plain
models:
  - {{model: k-anonymity, k: 2}}
  - {{model: distinct-l-diversity, column: ill, l: 2}}
suppression: {{limit: {limit}, rows: {rows}}}
missing: {rule}
"""


def arrow(*, nan: bool = False) -> pa.Table:
    ages, days, sexes, ills, notes = zip(*ROWS, strict=True)
    if nan:
        ages = [NAN if age is None else age for age in ages]
    return pa.table(
        {
            "age": pa.array(ages, pa.float64()),
            "admitted": pa.array(days, pa.date32()),
            "sex": sexes,
            "ill": ills,
            "note": notes,
        }
    )


def released_by_command(table, form, run, folder) -> tuple[dict, list[tuple]]:
    path = folder / f"data.{form}"
    writers = {
        "csv": pyarrow.csv.write_csv,
        "parquet": pq.write_table,
        "feather": pyarrow.feather.write_feather,
    }
    writers[form](table, path)
    result = run("anonymize", path, "-p", folder / "policy.yaml", "-o", folder / "r", "--quiet")
    assert result.exit_code == 0, result.stderr
    asked = ("verify", folder / "r", "-p", folder / "policy.yaml", "--only-promises")
    assert run(*asked).exit_code == 0
    data = folder / "r" / f"data.{form}"
    if form == "csv":
        strings = pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(table.column_names, pa.string()),
            strings_can_be_null=True,
            null_values=[""],
        )
        published = pyarrow.csv.read_csv(data, convert_options=strings)
    elif form == "parquet":
        published = pq.read_table(data)
    else:
        published = pyarrow.feather.read_table(data)
    return json.loads((folder / "r" / "manifest.json").read_text()), rows_of(published)


def released_in_python(table, kind, folder) -> tuple[dict, list[tuple]]:
    if kind == "pandas":
        pandas = import_module("pandas")
        table = table.to_pandas()
        table["admitted"] = pandas.to_datetime(table["admitted"])
        assert table["age"].isna().any()
        assert table["admitted"].isna().any()
    elif kind == "polars":
        table = import_module("polars").from_arrow(table)
    release = sf.anonymize(table, folder / "policy.yaml")
    assert sf.verify(release, folder / "policy.yaml").verdict.holds
    published = release.table
    return release.manifest.to_dict(), rows_of(
        published if kind == "arrow" else pa.table(published)
    )


def rows_of(table: pa.Table) -> list[tuple]:
    def plain(value):
        return None if value is None or value != value else value  # noqa: PLR0124

    names = (*QI, "ill", "note")
    columns = [[plain(value) for value in table.column(name).to_pylist()] for name in names]
    return list(zip(*columns, strict=True))


def candidates(rows: list[tuple], rule: str) -> list[list[tuple]]:
    """For every row, the rows it may be, word by word as the rule is defined.

    A cell that a person left out may hold a value that no other row has: only rows that lack it
    too are then found for the person.
    """

    def alike(one, other):
        return one == other or (rule == "matches-any" and other is None)

    return [[other for other in rows if all(map(alike, row[:3], other[:3]))] for row in rows]


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("suppression", ["remove", "star"])
@pytest.mark.parametrize("rule", ["own-value", "matches-any", "suppress"])
@pytest.mark.parametrize(
    "kind",
    ["csv", "parquet", "feather", "nan in parquet", "arrow", "nan in arrow", "pandas", "polars"],
)
def test_missing_values_are_released_as_the_policy_says(folder, run, kind, rule, suppression):
    limit = LACKING if rule == "suppress" else 3
    policy = POLICY.format(limit=limit, rows=suppression, rule=rule)
    (folder / "policy.yaml").write_text(policy, encoding="utf-8")
    table = arrow(nan=kind.startswith("nan"))
    form = kind.removeprefix("nan in ")
    if form in ("csv", "parquet", "feather"):
        manifest, rows = released_by_command(table, form, run, folder)
    else:
        manifest, rows = released_in_python(table, form, folder)

    assert manifest["missing"] == rule
    suppressed = manifest["rows"]["suppressed"]
    assert suppressed <= limit
    starred = [row for row in rows if row == ("*", "*", "*", None, None)]
    kept = [row for row in rows if row not in starred]
    assert len(kept) == len(ROWS) - suppressed == manifest["rows"]["published"]
    assert len(starred) == (suppressed if suppression == "star" else 0)

    for row, others in zip(kept, candidates(kept, rule), strict=True):
        assert len(others) >= 2, row
        assert len({other[3] for other in others} - {None}) >= 2, row
    if rule == "suppress":
        assert not any(None in row[:3] for row in kept)
        assert suppressed >= LACKING
    elif suppressed == 0:
        # What is neither a quasi-identifier nor suppressed is published as it is.
        assert Counter(row[3:] for row in kept) == Counter(row[3:] for row in ROWS)


def test_rows_that_miss_a_value_need_leave_to_be_suppressed(folder, run):
    policy = POLICY.format(limit=LACKING - 1, rows="remove", rule="suppress")
    (folder / "policy.yaml").write_text(policy, encoding="utf-8")
    pq.write_table(arrow(), folder / "data.parquet")
    result = run("anonymize", "data.parquet", "-p", "policy.yaml", "-o", "r")
    assert result.exit_code == 2
    assert f"{LACKING} of {len(ROWS)} rows miss a quasi-identifier" in result.stderr
    assert not (folder / "r").exists()
