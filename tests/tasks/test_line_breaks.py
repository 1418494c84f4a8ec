"""Cells with line breaks: two quotes some rows apart hide rows in a cell, and the user is told."""

import warnings

import pandas as pd
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.ledger.publishing.ledger import start_ledger
from sfumato.tables import open_table

POLICY = {
    "columns": {
        "name": "identifier",
        "ssn": "identifier",
        "age": "quasi-identifier",
        "ill": "sensitive",
    },
    "models": [{"model": "k-anonymity", "k": 3}],
}
TOLD = r"cells? of 'ill' ha(s|ve) line breaks in (it|them): whole rows of other people may hide"


def rows(first=20, last=25, *, opened='"gout', closed='gout"'):
    lines = ["name,ssn,age,ill"]
    for i in range(60):
        ill = {first: opened, last: closed}.get(i, ["flu", "gout", "hiv"][i % 3])
        lines.append(f"Person{i},{900000 + i},{30 + i % 3},{ill}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(rows())
    return path


def told(texts):
    return [text for text in texts if "line breaks" in text]


@pytest.mark.parametrize("closed", ['gout"', '"gout', 'go"ut'])
def test_a_release_tells_of_them_and_is_published_with_care_at_most(closed, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(rows(closed=closed))
    for output in (None, tmp_path / "release"):
        release = sf.anonymize(path, POLICY, output=output)
        [warning] = told(release.warnings)
        assert pytest.approx(release.manifest.rows.published, abs=10) == 55
        assert "a cell of 'ill' has line breaks in it" in warning
        assert "stray quotes" in warning
        assert "Person" not in warning
        verdict = sf.verify(release)
        assert verdict.answer != "yes"
        [found] = [each for each in verdict.columns if each.kind == "line breaks"]
        assert found.columns == ("ill",)
        assert found.people == 1
        assert told(verdict.why) or verdict.answer == "no"


def test_a_strangers_table_is_judged_alike_in_any_format(path, tmp_path):
    table = pa.table({"age": ["30"] * 4, "ill": ["flu", "flu\r\nAnn,31,gout", "flu\nBob", "gout"]})
    frame = table.to_pandas()
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    for data in (table, frame, tmp_path / "t.parquet", tmp_path / "t.csv"):
        found = sf.verify(data, quasi_identifiers=["age"], sensitive=["ill"])
        assert [each.people for each in found.columns if each.kind == "line breaks"] == [2]
        found = sf.verify(data, quasi_identifiers=["age", "ill"])
        assert [each.people for each in found.columns if each.kind == "line breaks"] == [2]
        found = sf.inspect(data, quasi_identifiers=["age"], sensitive=["ill"])
        assert found.line_breaks == {"ill": 2}
        assert "2 cells of 'ill' have line breaks" in str(found)


def test_plain_columns_are_looked_at_and_may_be_meant():
    notes = ["well\nbut tired", *["well"] * 5]
    table = pa.table({"age": [30] * 6, "ill": ["flu", "gout"] * 3, "note": notes})
    columns = {"age": "quasi-identifier", "ill": "sensitive"}
    models = [{"model": "k-anonymity", "k": 3}]
    meant = {"role": "plain", "because": "notes of the ward have several lines"}
    for rule, accepted in (("plain", False), (meant, True)):
        policy = {"columns": {**columns, "note": rule}, "models": models}
        release = sf.anonymize(table, policy)
        assert told(release.warnings)
        verdict = sf.verify(release, policy=policy)
        found = [each for each in verdict.columns if each.kind == "line breaks"]
        assert [each.accepted for each in found] == [accepted]


METHODS = [
    "break-merge",
    "bucketization",
    {"method": "association-hiding", "support": 50},  # of so many rows there is no rule
    {"method": "anatomy", "l": 2},
    {"method": "slicing", "l": 2},
]


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", METHODS)
def test_decoupled_releases_tell_of_them(method, path, tmp_path):
    release = sf.anonymize(path, POLICY)
    decoupled = sf.decouple(release, method, output=tmp_path / "decoupled")
    assert told(decoupled.warnings)
    for what in (decoupled, tmp_path / "decoupled"):
        found = sf.verify(what)
        assert [each.columns for each in found.columns if each.kind == "line breaks"] == [("ill",)]
        assert found.answer != "yes"


def test_a_ledger_tells_of_them(tmp_path):
    frame = pd.DataFrame({"age": ["30s"] * 12, "ill": ["flu", "gout", "hiv", "flu\nAnn,3"] * 3})
    decoupled = sf.decouple(frame, quasi_identifiers=["age"], sensitive=["ill"])
    path = tmp_path / "l.ledger"
    assert told(start_ledger(decoupled, path, 0.9, dry_run=True).warnings)
    ledger = sf.Ledger.start(decoupled, path, alpha=0.9)
    assert told(ledger.publish(frame, output=tmp_path / "next").warnings)


def test_nothing_is_told_where_there_are_none(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(rows(opened="gout", closed="flu"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release = sf.anonymize(path, POLICY)
    assert not told(release.warnings)
    assert not [each for each in sf.verify(release).columns if each.kind == "line breaks"]
    assert open_table(path).domains(["ill"])["ill"].line_breaks == 0


@pytest.mark.usefixtures("patience")
def test_a_database_counts_them_where_they_are(tmp_path):
    import duckdb

    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE t AS SELECT 30 AS age, CASE WHEN i % 5 = 0 THEN 'flu' || chr(10) || 'Ann' "
        "ELSE 'gout' END AS ill, i::VARCHAR || chr(13) AS many FROM range(20000) s(i)"
    )
    table = open_table((connection, "t"))
    found = table.domains(["age", "ill", "many"])
    assert {name: domain.line_breaks for name, domain in found.items()} == {
        "age": 0,
        "ill": 4000,
        "many": 20000,
    }


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("column", [0, 1])
def test_rows_that_an_unpublished_cell_swallowed_are_told(column, end, tmp_path):
    lines = rows(opened="gout", closed="gout").splitlines()
    for line, cell in ((8, '"{}'), (12, '{}"')):
        cells = lines[line].split(",")
        cells[column] = cell.format(cells[column])
        lines[line] = ",".join(cells)
    path = tmp_path / "people.csv"
    path.write_text(end.join([*lines, "", ""]), newline="")
    release = sf.anonymize(path, POLICY, output=tmp_path / "release")
    assert release.manifest.rows.published < 60
    [warning] = told(release.warnings)
    assert "the file has 4 lines more than rows" in warning
    assert "Person" not in warning


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", "\n", "\n\n", "\n\n\n"])
def test_empty_lines_and_broken_headers_are_no_swallowed_rows(end, last, tmp_path):
    text = "\n\n" + rows(opened="gout", closed="gout").rstrip("\n").replace("name", '"na\nme"', 1)
    path = tmp_path / "people.csv"
    path.write_text(text.replace("Person7,", "\n\nPerson7,").replace("\n", end) + last, newline="")
    table = open_table(path)
    assert table.count(["ill"]).total == 60
    assert table.lines_beyond == 0
