"""A table in a database is judged as the same table in a file is."""

import datetime as dt
import json
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InputError, ParameterError, UnknownColumnError
from sfumato.files.dialect import Dialect
from sfumato.verifier import DatabaseRelation, Promises, verify_file, verify_folder, verify_relation
from sfumato.verifier.counting import count_in
from sfumato.verifier.release import verify_stored
from tests.tables.databases import imported
from tests.verifier.releases import write_release

CELLS = {
    "text": st.sampled_from(["a", "A", "", "*", 'O\'Neil "x"', "ü\u0301", None]),
    "number": st.sampled_from([0.0, -0.0, 1.5, float("nan"), None]),
    "whole": st.sampled_from([1, 2, None]),
    "day": st.sampled_from([dt.date(2020, 1, 31), dt.date(2020, 2, 1), None]),
    "money": st.sampled_from([Decimal("1.50"), Decimal("1.5"), Decimal("-0.00"), None]),
    "moment": st.sampled_from([dt.datetime(2020, 1, 1, 0, 0), dt.datetime(2020, 1, 1, 7, 5), None]),
    "truth": st.sampled_from([True, False, None]),
}
TYPES = {
    "text": pa.string(),
    "number": pa.float64(),
    "whole": pa.int32(),
    "day": pa.date32(),
    "money": pa.decimal128(9, 2),
    "moment": pa.timestamp("us"),
    "truth": pa.bool_(),
}
NAMES = ["select", 'say "hi"', "group by; --"]
MODELS = [
    {"model": "k-anonymity", "k": 2},
    {"model": "distinct-l-diversity", "column": "ill", "l": 2},
    {"model": "t-closeness", "column": "ill", "t": 0.3},
]


@st.composite
def tables(draw):
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=3))
    rows = draw(st.integers(0, 12))
    arrays = {
        name: pa.array(draw(st.lists(CELLS[kind], min_size=rows, max_size=rows)), TYPES[kind])
        for name, kind in zip(NAMES, kinds, strict=False)
    }
    ills = st.lists(st.sampled_from(["flu", "hiv", None]), min_size=rows, max_size=rows)
    return pa.table({**arrays, "ill": pa.array(draw(ills), pa.string())})


def kind_of(type_):
    if pa.types.is_string(type_):
        return "text"
    return "number" if pa.types.is_floating(type_) else "other"


DUCKDB = Dialect(text="VARCHAR", collation='"binary"')


def stored(table, name=("my people",), *, as_tuples=False):
    """Put a table into DuckDB; `asked` gathers what it was asked."""
    connection = imported("duckdb", "duckdb").connect()
    connection.register("source", table)
    quoted = '"' + name[-1].replace('"', '""') + '"'
    connection.execute(f"CREATE TABLE {quoted} AS SELECT * FROM source")
    asked = []

    def ask(statement):
        found = connection.sql(statement)
        answer = found.fetchall() if as_tuples else found.to_arrow_table()
        asked.append((statement, len(answer)))
        return answer

    columns = {field.name: kind_of(field.type) for field in table.schema}
    return DatabaseRelation(name, columns, DUCKDB, ask), asked


@pytest.mark.usefixtures("patience")
@given(
    table=tables(),
    missing=st.sampled_from(["own-value", "matches-any", "suppress"]),
    suppression=st.sampled_from(["remove", "star"]),
    suppressed=st.integers(0, 2),
    as_tuples=st.booleans(),
)
def test_it_is_judged_as_in_a_file(
    tmp_path_factory, table, missing, suppression, suppressed, as_tuples
):
    path = tmp_path_factory.mktemp("tables") / "table.parquet"
    pq.write_table(table, path)
    names = [name for name in table.column_names if name != "ill"]
    promises = Promises(
        names,
        ["ill"],
        MODELS,
        missing=missing,
        published=max(table.num_rows - suppressed, 0),
        suppressed=suppressed,
        suppression=suppression,
        at_top=names[:1],
    )
    relation, _ = stored(table, as_tuples=as_tuples)
    in_file, in_database = verify_file(path, promises), verify_relation(relation, promises)
    # Which of two classes that are equally badly off is named depends on the order of the rows.
    # What is written in several ways is told of files only.
    of_file = [checked(each) for each in in_file.checks if each.name != "one form"]
    assert [checked(each) for each in in_database.checks] == of_file


def checked(check):
    found = check.to_dict()
    found.pop("worst", None)
    return found


def test_starred_rows_are_counted_as_in_a_file(tmp_path):
    table = pa.table(
        {
            "age": ["*", "*", "*", "2*", None],
            "pay": [None, float("nan"), 1.0, None, None],
            "ill": pa.nulls(5, pa.string()),
        }
    )
    relation, _ = stored(table)
    assert count_in(relation, ["age"], stars=["age"]).starred == 2
    promises = Promises(["age"], published=3, suppressed=2, suppression="star")
    pq.write_table(table, tmp_path / "t.parquet")
    expected = verify_file(tmp_path / "t.parquet", promises)
    assert verify_relation(relation, promises).to_dict() == expected.to_dict()
    assert expected["starred rows"].status == "holds"


def test_only_counts_leave_the_database():
    table = pa.table({"age": ["2*"] * 5000 + ["3*"] * 5000, "ill": ["flu", "hiv"] * 5000})
    relation, asked = stored(table)
    assert verify_relation(relation, Promises(["age"], ["ill"], MODELS)).checks
    assert [rows for _, rows in asked] == [4]


def test_texts_that_a_column_takes_for_equal_are_different():
    connection = imported("duckdb", "duckdb").connect()
    connection.execute("CREATE TABLE people (name VARCHAR COLLATE NOCASE)")
    connection.execute("INSERT INTO people VALUES ('Ann'), ('ANN')")
    relation = DatabaseRelation(
        ("people",), {"name": "text"}, DUCKDB, lambda s: connection.sql(s).to_arrow_table()
    )
    promises = Promises(["name"], models=[{"model": "k-anonymity", "k": 2}])
    assert not verify_relation(relation, promises).holds


@pytest.mark.parametrize("mark", ['"', "`"])
def test_names_cannot_break_out_of_a_statement(mark):
    asked = []

    def ask(statement):
        asked.append(statement)
        return [("x", 1)]

    dialect = Dialect(text="TEXT", collation="exact", mark=mark)
    name = f"x{mark}; DROP TABLE people; --"
    count_in(DatabaseRelation((name,), {name: "other"}, dialect, ask), [name])
    quoted = f"{mark}x{mark * 2}; DROP TABLE people; --{mark}"
    assert asked == [f"SELECT {quoted}, count(*) FROM {quoted} GROUP BY {quoted}"]


def test_what_is_not_there_is_said():
    relation, _ = stored(pa.table({"age": [1]}))
    with pytest.raises(UnknownColumnError, match="aeg"):
        verify_relation(relation, Promises(["aeg"]))
    with pytest.raises(ParameterError, match="dialect"):
        DatabaseRelation(("people",), {}, "klingon", list)
    with pytest.raises(ParameterError, match="mark"):
        Dialect(text="TEXT", collation="exact", mark="'")
    with pytest.raises(ParameterError, match="expression"):
        Dialect(text="TEXT", collation="exact", sha256="sha256()")


def manifest_in(folder):
    """What the manifest of a folder would say of a table in a database."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    rows = manifest.pop("files")[0]["rows"]
    return {**manifest, "table": {"name": "released", "rows": rows}}


WRONG = [
    {},
    {"rows": {"published": 9, "suppressed": 0, "suppression": "remove"}},
    {"models": [{"model": "k-anonymity", "k": 6}]},
    {"models": [{"model": "k-anonymity", "k": 5, "measured": {"k": 7}}]},
    {"models": [{"model": "palm-reading"}]},
    {"missing": "suppress"},
    {"format": 7},
    {"described": [{"name": "name", "role": "identifier"}]},
]


@pytest.mark.parametrize("changes", WRONG, ids=str)
def test_a_manifest_is_held_against_the_table_as_against_a_file(tmp_path, changes):
    folder = write_release(tmp_path / "release", form="parquet", **changes)
    table = pq.read_table(folder / "data.parquet")
    relation, _ = stored(table)
    only_files = ("files", "sha256")
    expected = [c for c in verify_folder(folder).checks if c.name not in only_files]
    found = verify_stored(relation, json.dumps(manifest_in(folder)))
    assert [(c.name, c.status) for c in found.checks] == [(c.name, c.status) for c in expected]
    assert found.holds == (changes in ({}, {"missing": "suppress"}))


def test_columns_that_nobody_spoke_of_are_found(tmp_path):
    folder = write_release(tmp_path / "release", form="parquet")
    table = pq.read_table(folder / "data.parquet")
    more, _ = stored(table.append_column("name", pa.array(["Ann"] * table.num_rows)))
    less, _ = stored(table.drop_columns(["salary"]))
    text = json.dumps(manifest_in(folder))
    assert verify_stored(more, text)["columns"].detail == "not in the manifest: 'name'"
    assert "not in the table: 'salary'" in verify_stored(less, text)["columns"].detail


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"format": 1, "format": 1}', "{}", '{"table": {}}', "\udc80"]
)
def test_a_manifest_that_cannot_be_read_is_a_broken_check(text):
    relation, asked = stored(pa.table({"age": [1]}))
    verdict = verify_stored(relation, text)
    assert [check.status for check in verdict.checks] == ["broken"]
    assert not asked


def test_what_the_database_refuses_is_no_broken_promise(tmp_path):
    def ask(statement):
        raise InputError("the connection is lost")

    folder = write_release(tmp_path / "release", form="parquet")
    columns = dict.fromkeys(pq.read_schema(folder / "data.parquet").names, "text")
    relation = DatabaseRelation(("people",), columns, DUCKDB, ask)
    with pytest.raises(InputError, match="the connection is lost"):
        verify_stored(relation, json.dumps(manifest_in(folder)))
