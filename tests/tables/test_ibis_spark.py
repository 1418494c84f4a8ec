"""Tables in Spark: one test, because starting a session takes longer than all else in it."""

import gc
from collections import Counter

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError, OutputError
from sfumato.tables import open_table
from tests.tables.databases import EVIL, LEAVES_SOCKETS_OPEN
from tests.tables.tables import literal_rows
from tests.tables.test_ibis import PROPERTIES, examples
from tests.tables.test_ibis_edges import PEOPLE, Boundary, crosses, many_rows, nothing_left
from tests.tables.test_publish import read_back, recoding_of, rng


@LEAVES_SOCKETS_OPEN
def test_spark_does_what_the_other_databases_do(spark, monkeypatch, tmp_path):
    import ibis

    for test in PROPERTIES:
        examples(test, spark, 2)
    source = many_rows()
    spark.stored(PEOPLE, "people")
    for opened in (
        open_table("spark:///?table=people"),
        open_table((spark.session, "people")),
        open_table(ibis.pyspark.from_connection(spark.session).table("people")),
    ):
        assert opened.count(["sex"]).rows.tolist() == [2, 2, 1]
    frame = type(spark.load(PEOPLE))
    boundary = Boundary(monkeypatch, (frame, ["toArrow", "collect", "toPandas", "toLocalIterator"]))
    crosses(spark, open_table(spark.load(source)), boundary)
    monkeypatch.undo()
    table = open_table((spark.session, "people"))
    recoding = recoding_of(table, ["sex"], (0,), suppress=[["f"]])
    with pytest.raises(OutputError, match=r"there is a table out already"):
        table.publish_into(recoding, ["sex"], "out", suppression="remove")
    with pytest.raises(OutputError, match=r"PEOPLE is the table that is to be published"):
        table.publish_into(recoding, ["sex"], "default.PEOPLE", suppression="remove", force=True)
    with pytest.raises(OutputError, match=r"nowhere"):
        table.publish_into(recoding, ["sex"], "nowhere.out", suppression="remove")
    with pytest.raises(InputError, match=r"table nobody of Spark cannot be read"):
        open_table((spark.session, "nobody"))
    for form in ("parquet", "csv"):
        out = tmp_path / f"o'; {form}"
        written = table.publish(
            recoding, PEOPLE.column_names, out, format=form, suppression="star", rng=rng()
        )
        assert (written.rows, written.suppressed_rows) == (5, 2)
        expected = open_table(PEOPLE).publish_table(
            recoding, PEOPLE.column_names, suppression="star", rng=rng()
        )
        assert Counter(read_back(out, form)[1]) == Counter(literal_rows(expected))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["o'; csv", "o'; parquet"]
    folders(spark, tmp_path)
    cases(spark)
    nested = open_table(
        spark.session.sql("SELECT 1 AS a, array(1) AS l, 'x' COLLATE UNICODE_CI AS c")
    )
    assert set(nested.domains(["a", "l"])) == {"a"}
    with pytest.raises(InputError, match=r"column 'l' holds array<int>"):
        nested.count(["l"])
    assert nothing_left(spark)
    spark.clear()
    gc.collect()


def folders(spark, folder):
    """Publish to folders of both formats what is hard to write, and verify it."""
    hard = ['say "hi"', "two\nlines", "", "è 名", EVIL, " x ", "a\\", "'", None, ","]
    table = pa.table({"q": hard * 2, "age": list(range(20)), "free": hard[::-1] * 2})
    policy = sf.Policy(
        columns={
            "q": "quasi-identifier",
            "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [20]}},
            "free": "plain",
        },
        models=[sf.models.KAnonymity(2)],
    )
    expected = sf.anonymize(table, policy)
    for form in ("csv", "parquet"):
        target = folder / form
        release = sf.anonymize(spark.load(table), policy, output=target, format=form)
        assert release.levels == expected.levels == {"q": 0, "age": 1}
        assert sf.verify(target, attacks=False).holds
        names, rows = read_back(target / f"data.{form}", form)
        assert names == expected.table.column_names
        there = literal_rows(expected.table)
        if form == "csv":  # where Python's reader takes nothing and an empty text for one
            there = [tuple(cell or None for cell in row) for row in there]
        assert Counter(rows) == Counter(there)


def cases(spark):
    """Refuse columns that a session takes for one, and say what to do."""
    table = open_table(spark.load(pa.table({"a": ["x"], "A": ["y"]})))
    recoding = recoding_of(table, ["a", "A"], (0, 0))
    spark.session.conf.set("spark.sql.caseSensitive", "false")
    try:
        assert table.count(["a", "A"]).total == 1
        with pytest.raises(OutputError, match=r"'a' and 'A' differ only.*spark.sql.caseSensitive"):
            table.publish_into(recoding, ["a", "A"], "both", suppression="remove")
        table.publish_into(recoding, ["A"], "both", suppression="remove")
        assert spark.read("both").to_pydict() == {"A": ["y"]}
    finally:
        spark.session.conf.set("spark.sql.caseSensitive", "true")
