"""Values that look like labels, times below a microsecond, long cells, hidden numbers."""

import csv
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import sfumato as sf
from sfumato.errors import PolicyError
from sfumato.releases.codebook import Codebook, guard, read_labels, unguard
from sfumato.verifier import verify_folder
from sfumato.verifier.codebook import _stand_in
from sfumato.verifier.counting import open_source, python_values

K2 = [{"model": "k-anonymity", "k": 2}]
METHODS = ["full-domain", "regional", "top-down", "mondrian", "bottom-up", "mdav"]
LOOK_LIKE_LABELS = {
    "open bands": ["<=20", "20-50", ">50"],
    "counts with an end": ["5", "6", ">6"],
    "shares": ["0-10%", "11-20%", ">20%"],
    "other numerals": [".5", "2..5", "5.", "+1"],
    "days before and after": ["before 2020-01-01", "2020-06-30", "after 1990s"],
    "weeks": ["2020-W01-1", "2020-06-30", "2021-01-01"],
}


def released(values, rule, tmp_path, form="csv", **more):
    """Publish sixty invented people, with some values in a column of some role."""
    n = 60
    table = pa.table(
        {"age": [20 + i % 5 for i in range(n)], "odd": [values[i % len(values)] for i in range(n)]}
    )
    age = {"role": "quasi-identifier", "hierarchy": "auto"}
    said = {"columns": {"age": age, "odd": rule}, "models": K2} | more
    return sf.anonymize(table, said, output=tmp_path / "r", format=form)


@pytest.mark.parametrize("values", LOOK_LIKE_LABELS.values(), ids=LOOK_LIKE_LABELS)
@pytest.mark.parametrize(
    "rule",
    [
        "plain",
        "sensitive",
        "quasi-identifier",
        {"role": "quasi-identifier", "hierarchy": "auto"},
        {"role": "quasi-identifier", "hierarchy": {"kind": "ordered"}},
    ],
    ids=["plain", "sensitive", "quasi-identifier", "auto", "ordered"],
)
def test_values_that_look_like_labels_are_published_in_every_role(values, rule, tmp_path):
    if isinstance(rule, dict) and rule["hierarchy"] != "auto":
        rule = rule | {"hierarchy": {"kind": "ordered", "order": values}}
    made = released(values, rule, tmp_path)
    assert made.verdict.holds
    assert sf.verify(tmp_path / "r", attacks=False).verdict.holds


@pytest.mark.parametrize("method", METHODS)
def test_the_end_of_an_open_band_is_published_as_it_was_written(method, tmp_path):
    """The lower end of `>50` is 50; the next number that a computer has is nobody's."""
    rule = {"role": "quasi-identifier", "as": "bounds", "hierarchy": "ordered"}
    released(["<=20", "20-50", ">50"], rule, tmp_path, method=method)
    found = pd.read_csv(tmp_path / "r" / "data.csv")
    assert {*found["odd_low"].dropna(), *found["odd_high"].dropna()} <= {20, 50}
    assert verify_folder(tmp_path / "r").holds


def test_a_codebook_tells_the_end_that_a_label_has(tmp_path):
    released(["<=20", "20-50", ">50"], "sensitive", tmp_path)
    with (tmp_path / "r" / "codebook.csv").open(newline="") as file:
        lines = {row["value"]: row for row in csv.DictReader(file) if row["column"] == "odd"}
    assert [lines[each]["low"] for each in ("<=20", "20-50", ">50")] == ["", "20", "50"]
    assert [lines[each]["high"] for each in ("<=20", "20-50", ">50")] == ["20", "50", ""]
    assert (lines[""]["low"], lines[""]["high"]) == ("20", "50")


@pytest.mark.parametrize(
    ("label", "ends"),
    [
        (">50", ("50", "")),
        ("(5, 6]", ("5", "6")),
        (".5", ("0.5", "0.5")),
        ("0...5", ("0", "0.5")),
        ("before 2020-01-01", ("", "2019-12-31")),
        ("after 2020-01-31", ("2020-02-01", "")),
        ("after 1990s", ("2000-01-01", "")),
    ],
)
def test_maker_and_verifier_read_the_same_ends(label, ends):
    read = read_labels([label])
    assert tuple(map(read.write, read.ends_of(label))) == ends
    assert _stand_in([label], ends)
    assert not _stand_in([label], ["1848-03-18", "7"])


def test_an_interval_without_a_value_is_none():
    assert read_labels(["[5, 5)"]) is None
    assert read_labels(["(1990s, 1990s]"]) is None


START = 1_577_836_800_000_000_000


@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
@pytest.mark.parametrize(
    "rule", ["plain", "sensitive", {"role": "quasi-identifier", "hierarchy": "auto"}], ids=str
)
@pytest.mark.parametrize(
    "kind",
    [pa.timestamp("ns"), pa.timestamp("ns", "Europe/Berlin"), pa.time64("ns"), pa.duration("ns")],
    ids=str,
)
def test_times_below_a_microsecond_are_published(kind, rule, form, tmp_path):
    first = START if pa.types.is_timestamp(kind) else 0
    values = pa.array([first + (i % 3) * 1_000_000_001 for i in range(60)], pa.int64()).view(kind)
    table = pa.table({"age": [20 + i % 5 for i in range(60)], "at": values})
    pa.parquet.write_table(table, tmp_path / "given.parquet")
    columns = {"age": {"role": "quasi-identifier", "hierarchy": "auto"}, "at": rule}
    said = {"columns": columns, "models": K2}
    made = sf.anonymize(tmp_path / "given.parquet", said, output=tmp_path / "r", format=form)
    assert made.verdict.holds
    assert sf.verify(tmp_path / "r", attacks=False).verdict.holds


def test_a_time_is_the_same_value_whatever_stands_beside_it():
    """Batches of a column have different times; those that both have are equal."""
    whole, fine = START + 1_000, START + 1
    alone = python_values(pa.array([whole], pa.timestamp("ns")))
    assert python_values(pa.array([whole, fine], pa.timestamp("ns")))[:1] == alone


def test_the_hour_that_comes_twice_is_two_values_to_the_verifier():
    """In Berlin, 2:30 comes twice on the last Sunday of October."""
    twice = pa.array([1_603_585_800, 1_603_589_400], pa.timestamp("s", "Europe/Berlin"))
    assert len({*python_values(twice)}) == 2


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
@pytest.mark.parametrize("rule", ["plain", "sensitive", "quasi-identifier"])
def test_cells_longer_than_the_standard_library_reads_are_published(rule, form, tmp_path):
    before = csv.field_size_limit()
    made = released(["x" * 140_000, 'y,"\r\n' * 30_000, "short"], rule, tmp_path, form)
    assert made.verdict.holds
    assert sf.verify(tmp_path / "r", attacks=False).verdict.holds
    text = (tmp_path / "r" / "codebook.csv").read_bytes().decode()
    if rule != "quasi-identifier":
        assert "x" * 140_000 in {line.value for line in Codebook.from_csv(text).lines}
    # The limit is one of the whole process, which is not ours.
    assert csv.field_size_limit() == before


def test_a_codebook_with_a_damaged_quote_is_no_codebook(tmp_path):
    released(["a,b", "c"], "sensitive", tmp_path)
    path = tmp_path / "r" / "codebook.csv"
    path.write_text(path.read_text().replace('"a,b"', '"a,b'))
    found = verify_folder(tmp_path / "r")
    assert not found.holds
    assert "a quote in row" in str(found)


# Numbers that are empty.


def aged(n=60, seed=1, *, alone=True):
    """Invented people; the oldest is much older than others, and alone."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, n)
    age[0] = 97 if alone else age[0]
    return pd.DataFrame({"age": age, "ill": rng.choice(["flu", "gout"], n)})


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("how", ["bounds", "midpoint", "mean", "median"])
def test_open_ends_and_hidden_values_are_published_where_missing_ones_are_suppressed(
    how, method, tmp_path
):
    bounds = {"kind": "intervals", "bounds": [[30, 40, 50]]}
    for name, hierarchy in (("auto", "auto"), ("bounds", bounds), ("star", "star")):
        age = {"role": "quasi-identifier", "as": how, "hierarchy": hierarchy}
        said = {
            "columns": {"age": age, "ill": "sensitive"},
            "models": [{"model": "k-anonymity", "k": 5}],
            "method": method,
            "missing": "suppress",
        }
        folder = tmp_path / name
        try:
            made = sf.anonymize(aged(), said, output=folder, format="csv")
        except PolicyError as error:
            # Half of the line has ends, and no middle.
            assert how == "midpoint"
            assert "has no middle" in str(error)  # noqa: PT017 - one of three may have one
            continue
        assert made.verdict.holds
        assert sf.verify(folder, attacks=False).verdict.holds
        found = pd.read_csv(folder / "data.csv")
        ends = ["age"] if how == "midpoint" else ["age_low", "age_high"]
        hidden = int(found[ends].isna().all(axis=1).sum())
        told = [c.hidden for c in made.manifest.columns if c.of == "age" and c.hidden]
        assert told == ([hidden] if hidden else [])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.replace('"hidden": 60', '"hidden": 59'), "other rows than those said"),
        (lambda t: re.sub(r',?\s*"hidden": 60', "", t), "other rows than those said"),
        (lambda t: t.replace('"hidden": 60', '"hidden": -1'), "hidden"),
    ],
)
def test_a_forged_number_of_hidden_values_is_found(change, said, tmp_path):
    columns = {
        "age": {"role": "quasi-identifier", "as": "bounds", "hierarchy": "star", "levels": [1, 1]},
        "ill": "sensitive",
    }
    given = {"columns": columns, "models": K2, "missing": "suppress"}
    sf.anonymize(aged(), given, output=tmp_path / "r", format="csv")
    path = tmp_path / "r" / "manifest.json"
    assert '"hidden": 60' in path.read_text()
    path.write_text(change(path.read_text()))
    found = verify_folder(tmp_path / "r")
    assert not found.holds
    assert said in str(found)


def test_missing_values_are_not_passed_off_as_hidden(tmp_path):
    """A release with missing values that says they were suppressed does not hold."""
    table = aged()
    table["age"] = table["age"].astype(float)
    table.loc[5:9, "age"] = np.nan
    age = {"role": "quasi-identifier", "as": "bounds"}
    age["hierarchy"] = {"kind": "intervals", "widths": [50]}
    columns = {"age": age, "ill": "sensitive"}
    given = {"columns": columns, "models": K2, "suppression": {"limit": 5}}
    sf.anonymize(table, given, output=tmp_path / "r", format="csv")
    path = tmp_path / "r" / "manifest.json"
    path.write_text(path.read_text().replace('"own-value"', '"suppress"'))
    assert "other rows than those said" in str(verify_folder(tmp_path / "r"))


# Formulas.


@pytest.mark.parametrize(
    "text", ["+1", "+", "=1+1", "-1+2", "@x", "\t5", "\n5", "\r5", "＋1", "'a"]
)
def test_what_spreadsheets_compute_has_an_apostrophe_before_it(text):
    assert guard(text) == f"'{text}"
    assert unguard(guard(text)) == text


@pytest.mark.parametrize("text", ["-5", "-0.5", "5", "1e-3", "20 to 29"])
def test_bounds_stay_numbers(text):
    assert guard(text) == text


def test_a_codebook_has_no_formula(tmp_path):
    released(["+1", "+2", "=1+1"], "sensitive", tmp_path)
    with (tmp_path / "r" / "codebook.csv").open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert {"'+1", "'+2", "'=1+1"} <= {*cells}
    assert not any(cell.startswith(("+", "=")) for cell in cells)
    assert open_source(tmp_path / "r" / "data.csv").names == ("age", "odd")


# Days.


@pytest.mark.parametrize("how", ["bounds", "midpoint", "mean", "median"])
def test_years_of_days_are_published_as_days(how, tmp_path):
    """The label 2019 of a day is no number: it ends on the last day of the year."""
    n = 40
    born = [f"{2018 + i % 2}-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(n)]
    table = pa.table({"born": pa.array(born).cast(pa.date32()), "ill": ["flu", "gout"] * (n // 2)})
    rule = {"role": "quasi-identifier", "as": how, "levels": [1, 1]}
    rule["hierarchy"] = {"kind": "dates", "levels": ["year"]}
    said = {"columns": {"born": rule, "ill": "sensitive"}, "models": K2}
    sf.anonymize(table, said, output=tmp_path / "r", format="parquet")
    found = pa.parquet.read_table(tmp_path / "r" / "data.parquet").to_pandas()
    assert verify_folder(tmp_path / "r").holds
    assert sf.verify(tmp_path / "r", attacks=False).verdict.holds
    if how == "midpoint":
        assert {*map(str, found["born"])} == {"2018-07-02", "2019-07-02"}
        return
    ends = {*zip(map(str, found["born_low"]), map(str, found["born_high"]), strict=True)}
    assert ends == {("2018-01-01", "2018-12-31"), ("2019-01-01", "2019-12-31")}
    if how != "bounds":
        given = pd.Series(pd.to_datetime(born))
        middle = getattr(given.groupby(given.dt.year), how)().dt.floor("D")
        assert {*map(str, found["born"])} == {str(day.date()) for day in middle}
