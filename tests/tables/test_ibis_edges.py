"""Tables of databases: how they are opened, what is refused, left behind and fetched."""

import gc
import subprocess
import sys
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from sfumato.errors import InputError, OutputError, ParameterError
from sfumato.recoding import SUPPRESSED
from sfumato.releases.places import RecodedRows
from sfumato.tables import DatabaseEngine, open_table
from tests.tables.databases import EVIL, NAMES, quoted
from tests.tables.tables import literal_rows
from tests.tables.test_publish import read_back, recoding_of, rng
from tests.tables.test_publish_local import ID, by_label, recode

PEOPLE = pa.table(
    {
        "sex": ["f", "m", "f", None, "m"],
        "age": pa.array([30, 41, 30, None, 41], pa.int64()),
        "ill": ["flu", "hiv", "flu", "flu", "flu"],
    }
)


def published(database, opened, recoding, columns, name="out", **more):
    stored = opened.publish_into(recoding, columns, name, **{"suppression": "remove", **more})
    assert stored.rows == len(database.read(name.strip('"')))
    return Counter(literal_rows(database.read(name.strip('"'))))


def nothing_left(database):
    return not {name for name in database.tables() if name.startswith("sfumato")}


def test_what_is_opened_where():
    engine = DatabaseEngine()
    ours = ("duckdb:///a.db?table=t", "postgres://h/d?table=t", "postgresql://h/d?table=t")
    assert all(engine.owns(source) for source in (*ours, "spark:///?table=t"))
    others = ("people.csv", "duckdb.csv", "s3://b/k", b"duckdb://", 42, None, (), (1, "t"), PEOPLE)
    assert not any(engine.owns(source) for source in others)


@pytest.mark.usefixtures("patience")
def test_files_and_tables_in_memory_load_no_database():
    code = (
        "import sys, pyarrow as pa; from sfumato.tables import open_table;"
        "open_table(pa.table({'a': [1]})).count(['a']);"
        "print([m for m in ('ibis', 'duckdb', 'psycopg', 'pyspark') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.usefixtures("patience")
@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # by Ibis
def test_a_duckdb_table_is_opened_in_every_way(duck, tmp_path, monkeypatch):
    import duckdb
    import ibis

    monkeypatch.chdir(tmp_path)
    with duckdb.connect("people.db") as connection:
        connection.execute("CREATE SCHEMA ward")
        connection.execute("CREATE TABLE ward.people AS FROM PEOPLE")
    connection = ibis.duckdb.connect("people.db")
    sources = [
        duckdb.from_arrow(PEOPLE),
        connection.table("people", database="ward"),
        (connection.con, "ward.people"),
        (connection.con, ("ward", "people")),
        "duckdb:///people.db?table=ward.people",
        f"duckdb:///{tmp_path}/people.db?table=ward.people",
    ]
    for source in sources:
        assert open_table(source).count(["sex"]).rows.tolist() == [2, 2, 1]
    connection.disconnect()


@pytest.mark.usefixtures("patience")
def test_a_duckdb_file_is_read_by_many_until_it_is_published_into(duck, tmp_path):
    import duckdb

    with duckdb.connect(tmp_path / "people.db") as connection:
        connection.execute("CREATE TABLE people AS FROM PEOPLE")
    address = f"duckdb:///{tmp_path}/people.db?table=people"
    table = open_table(address)
    assert len(open_table(address).count(["sex"])) == 3
    gc.collect()
    stored = table.publish_into(
        recoding_of(table, ["sex"], (2,)), ["sex"], "out", suppression="star"
    )
    assert stored.rows == 5
    assert open_table(f"duckdb:///{tmp_path}/people.db?table=out").count(["sex"]).total == 5


def test_a_postgres_table_is_opened_in_every_way(postgres):
    import ibis

    postgres.connection.execute('CREATE SCHEMA IF NOT EXISTS "my.ward"')
    postgres.connection.execute('DROP TABLE IF EXISTS "my.ward".people')
    connection, _ = postgres.stored(PEOPLE, "people")
    postgres.connection.execute('CREATE TABLE "my.ward".people AS SELECT * FROM people')
    bound = ibis.postgres.from_connection(postgres.connect())
    sources = [
        postgres.address('"my.ward".people'),
        postgres.address("%22my.ward%22.people").replace("postgres://", "postgresql://"),
        (connection, '"my.ward".people'),
        (connection, ("my.ward", "people")),
        bound.table("people", database="public"),
    ]
    for source in sources:
        assert open_table(source).count(["sex"]).rows.tolist() == [2, 2, 1]
    bound.disconnect()
    postgres.clear()
    gc.collect()


def test_passwords_are_never_told(postgres):
    postgres.stored(PEOPLE, "people")
    secret = "hunter2"
    tries = [
        postgres.address("people", password=secret),
        postgres.address("people", password=secret).replace("127.0.0.1:", "127.0.0.1:x"),
        postgres.address("people", password=secret) + "&bogus=1",
        postgres.address("people", password=secret).replace("table", "tabel"),
        f"postgres://tester:{secret}@127.0.0.1:1/postgres?table=people",
        f"duckdb://tester:{secret}@host/x.db?table=people",
        f"spark://tester:{secret}@host/?table=people",
    ]
    for address in tries:
        with pytest.raises(InputError) as refused:
            open_table(address)
        assert secret not in str(refused.value)
        assert secret not in repr(refused.value.__cause__)
    opened = open_table(postgres.address("people"))
    with pytest.raises(OutputError) as refused:
        opened.publish_table(None, [], suppression="star", rng=rng())
    assert "s3cret" not in str(refused.value)
    assert "s3cret" not in repr(opened._database.where)
    postgres.clear()


@pytest.mark.parametrize("name", ["", ".", "a.", "a.b.c.d", '"open', "nul\0"])
def test_a_name_that_is_none_is_refused(name):
    from sfumato.tables.sql.database import name_of

    with pytest.raises(ParameterError, match="a name such as people"):
        name_of(name)


def test_a_table_that_is_not_there_is_refused(quick_database):
    source = quick_database.stored(PEOPLE, "people")[0]
    with pytest.raises(InputError, match=r"table nobody.* cannot be read: .*nobody"):
        open_table((source, "nobody"))


def test_a_table_without_rows_is_refused(quick_database):
    table = open_table(quick_database.load(PEOPLE.slice(0, 0)))
    with pytest.raises(InputError, match="has no rows"):
        table.count(["sex"])


def test_without_columns_there_is_one_combination_with_all_rows(quick_database):
    assert open_table(quick_database.load(PEOPLE)).count([]).rows.tolist() == [5]


def test_what_has_no_single_value_is_left_out_and_published_as_it_is(quick_database):
    lists = {
        "duckdb": "SELECT 1 AS a, [1, 2] AS l, {'x': 1} AS s, '{}'::JSON AS j, MAP {'x': 1} AS m",
        "postgres": "SELECT 1 AS a, ARRAY[1] AS l, int4range(1, 2) AS s, '{}'::json AS j, "
        "'{}'::jsonb AS m",
    }
    quick_database.connection.execute(f"CREATE VIEW odd AS {lists[quick_database.name]}")
    try:
        table = open_table((quick_database.connection, "odd"))
        assert set(table.domains(table.columns)) == {"a"}
        for name in "lsjm":
            with pytest.raises(
                InputError, match=rf"column '{name}' holds .*no single value per row"
            ):
                table.count([name])
        if quick_database.name == "duckdb":
            recoding = recoding_of(table, ["a"], (2,))
            table.publish_into(recoding, ["l", "a", "j"], "out", suppression="star")
            assert quick_database.read("out").to_pylist() == [{"l": [1, 2], "a": "*", "j": "{}"}]
    finally:
        quick_database.connection.execute("DROP VIEW odd")


def test_collations_do_not_make_different_texts_one(duck, postgres):
    duck.connection.execute("CREATE TABLE c (a VARCHAR COLLATE NOCASE)")
    duck.connection.execute("INSERT INTO c VALUES ('x'), ('X')")
    postgres.connection.execute(
        "CREATE COLLATION IF NOT EXISTS blind (provider = icu, locale = 'und-u-ks-level2', "
        "deterministic = false)"
    )
    postgres.connection.execute("CREATE TABLE c (a text COLLATE blind)")
    postgres.connection.execute("INSERT INTO c VALUES ('x'), ('X')")
    for database in (duck, postgres):
        table = open_table((database.connection, "c"))
        counts = table.count(["a"])
        assert counts.rows.tolist() == [1, 1]
        recoding = by_label(counts, ["a"], {("x",): {("low",): 1}, ("X",): {("high",): 1}})
        assert published(database, table, recoding, ["a"]) == {("low",): 1, ("high",): 1}
        full = recoding_of(table, ["a"], (1,))
        found = published(database, table, full, ["a"], force=True)
        assert found == {("group 0",): 1, ("group 1",): 1}
        database.clear()


def test_the_blanks_that_fill_up_a_postgres_char_are_not_part_of_its_text(postgres):
    postgres.connection.execute("CREATE TABLE c (a char(4))")
    postgres.connection.execute("INSERT INTO c VALUES ('x'), ('x  '), (' x')")
    counts = open_table((postgres.connection, "c")).count(["a"])
    assert (counts.columns[0].values, counts.rows.tolist()) == ((" x", "x"), [1, 2])
    postgres.clear()


def test_types_without_a_counterpart_are_told_apart_by_their_text(duck, postgres):
    odd = {
        duck: "SELECT '101'::BIT AS b, INTERVAL 1 DAY AS i, 5::HUGEINT AS h, 'q'::ENUM('q') AS e",
        postgres: "SELECT inet '1.2.3.4' AS b, interval '1 day' AS i, 5::numeric AS h, "
        "'q'::name AS e",
    }
    for database, select in odd.items():
        database.connection.execute(f"CREATE TABLE o AS {select}")
        table = open_table((database.connection, "o"))
        counts = table.count(["b", "i", "h", "e"])
        values = [column.values[0] for column in counts.columns]
        assert [str(value) for value in values[1:]] == ["1 day", "5", "q"]
        recoding = recoding_of(table, ["b", "i", "h", "e"], (1, 1, 1, 1))
        assert sum(published(database, table, recoding, ["b", "i", "h", "e"]).values()) == 1
        database.clear()


@pytest.mark.usefixtures("patience")
def test_nothing_that_is_named_becomes_a_statement(quick_database):
    names = list({name.lower(): name for name in NAMES}.values())
    table = pa.table({name: [EVIL, "'", '"', "\\", "%s", None] for name in names})
    quick_database.stored(PEOPLE, "t")
    opened = open_table(quick_database.load(table))
    counts = opened.count(names)
    assert counts.total == 6
    recoding = recoding_of(opened, names, (1,) * len(names))
    target = 'out"; DROP TABLE t; --'
    opened.publish_into(recoding, names, quoted(target), suppression="star")
    raw = by_label(
        opened.count(names[:1]),
        names[:1],
        {(v,): {(v or EVIL,): 1} for v in table.column(0).to_pylist()},
    )
    assert quick_database.read(target).column_names == names
    found = published(quick_database, opened, raw, names[:1])
    assert found[(EVIL,)] == 2
    assert {"t", target, "out"} <= quick_database.tables()
    with pytest.raises(InputError):
        open_table((quick_database.connection, quoted("t; DROP TABLE t")))
    assert "t" in quick_database.tables()
    assert nothing_left(quick_database)


def test_a_table_that_is_there_is_replaced_only_by_force(quick_database):
    quick_database.stored(PEOPLE, "people")
    quick_database.stored(PEOPLE, "out")
    table = open_table((quick_database.connection, "people"))
    recoding = recoding_of(table, ["sex"], (2,))
    with pytest.raises(OutputError, match=r"there is a table out already\. Choose another name"):
        table.publish_into(recoding, ["sex"], "out", suppression="remove")
    assert quick_database.read("out").num_columns == 3
    found = published(quick_database, table, recoding, ["sex"], force=True)
    expected = open_table(PEOPLE).publish_table(recoding, ["sex"], suppression="star", rng=rng())
    assert found == Counter(literal_rows(expected))
    for force in (False, True):
        with pytest.raises(OutputError, match=r"people is the table that is to be published"):
            table.publish_into(recoding, ["sex"], "people", suppression="remove", force=force)
    assert quick_database.read("people").num_rows == 5


@pytest.mark.usefixtures("patience")
def test_a_failure_leaves_nothing_and_what_was_there_stays(quick_database, monkeypatch):
    quick_database.stored(PEOPLE, "people")
    quick_database.stored(PEOPLE, "out")
    before = quick_database.tables()
    table = open_table((quick_database.connection, "people"))
    recoding = recoding_of(table, ["sex"], (1,))
    with pytest.raises(OutputError, match="nowhere"):
        table.publish_into(recoding, ["sex"], "nowhere.out", suppression="remove")
    from sfumato.tables.sql import database as base
    from sfumato.tables.sql import table as ibis_table

    def wrong(plan, rows, where):
        return real(plan._replace(rows=plan.rows + 1), rows, where)

    real = ibis_table._check
    monkeypatch.setattr(ibis_table, "_check", wrong)
    with pytest.raises(OutputError, match=r"got 5 rows and not 6: the table changed"):
        table.publish_into(recoding, ["sex"], "out", suppression="remove", force=True)
    assert quick_database.tables() == before
    assert quick_database.read("out").num_columns == 3
    monkeypatch.undo()
    if quick_database.name == "duckdb":  # which renames, and PostgreSQL does not
        rename = base.Database.rename

        def failing(self, name, to):
            if "unfinished" in name[-1]:
                raise InputError("no luck")
            rename(self, name, to)

        monkeypatch.setattr(base.Database, "rename", failing)
        with pytest.raises(OutputError, match=r"cannot publish into out: no luck"):
            table.publish_into(recoding, ["sex"], "out", suppression="remove", force=True)
        monkeypatch.undo()
        assert quick_database.tables() == before
        assert quick_database.read("out").num_columns == 3
    table.publish_into(recoding, ["sex"], "out", suppression="remove", force=True)
    assert quick_database.read("out").num_columns == 1


def test_no_permission_to_create_a_table_is_said(postgres):
    postgres.stored(PEOPLE, "people")
    postgres.connection.execute("DROP ROLE IF EXISTS reader")
    postgres.connection.execute("CREATE ROLE reader LOGIN PASSWORD 'r'")
    postgres.connection.execute("GRANT SELECT ON people TO reader")
    with postgres.connect(user="reader", password="r") as connection:
        table = open_table((connection, "people"))
        recoding = recoding_of(table, ["sex"], (1,))
        with pytest.raises(OutputError, match=r"permission denied for schema public.*Nothing was"):
            table.publish_into(recoding, ["sex"], "out", suppression="remove")
    postgres.connection.execute("DROP OWNED BY reader")
    postgres.connection.execute("DROP ROLE reader")
    assert postgres.tables() == {"people"}
    postgres.clear()


def test_a_connection_that_is_cut_says_so_and_leaves_nothing(postgres):
    postgres.stored(PEOPLE, "people")
    connection = postgres.connect()
    table = open_table((connection, "people"))
    recoding = recoding_of(table, ["sex"], (1,))
    cut = "SELECT pg_terminate_backend(%s)"
    postgres.connection.execute(cut, [connection.info.backend_pid])
    with pytest.raises((InputError, OutputError)):
        table.publish_into(recoding, ["sex"], "out", suppression="remove")
    connection.close()
    assert postgres.tables() == {"people"}
    postgres.clear()


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ([*range(5), 0], r"more rows with sex 'f', ill 'flu' than the 2 of the recoding"),
        (range(4), r"there are fewer rows with sex 'm', ill 'flu' than the 1 of the recoding"),
        ([*range(4), 1], r"there are (more|fewer) rows with sex 'm', ill '(hiv|flu)' than the 1"),
    ],
)
def test_a_table_that_was_not_counted_is_refused(quick_database, rows, fault):
    counts = open_table(PEOPLE).count(["sex", "ill"])
    portions = [[(int(n), SUPPRESSED)] for n in counts.rows]
    recoding = recode(counts, [([], False)], portions, [])
    table = open_table(quick_database.load(PEOPLE.take(list(rows))))
    again = r".*\. The table is not the one that was counted, or it changed since: start again\.$"
    with pytest.raises(InputError, match=fault + again):
        table.publish_into(recoding, ["sex"], "out", suppression="remove")
    changed = PEOPLE.set_column(0, "sex", pa.array(["f", "m", "f", None, "x"]))
    table = open_table(quick_database.load(changed))
    for wrong in (recoding, recoding_of(open_table(PEOPLE), ["sex"], (1,))):
        with pytest.raises(InputError, match=r"column 'sex' holds 'x', which the recoding" + again):
            table.publish_into(wrong, ["sex"], "out", suppression="remove")
    assert "out" not in quick_database.tables()
    assert nothing_left(quick_database)


@pytest.mark.usefixtures("patience")
def test_which_rows_become_what_and_where_they_stand_is_drawn(quick_database):
    n = 400
    table = open_table(quick_database.load(pa.table({"q": ["a"] * n, ID: list(range(n))})))
    recoding = by_label(table.count(["q"]), ["q"], {("a",): {("b",): 200, ("c",): 200}})
    table.publish_into(recoding, ["q", ID], "out", suppression="remove")
    first = quick_database.read("out").to_pydict()
    table.publish_into(recoding, ["q", ID], "out", suppression="remove", force=True)
    second = quick_database.read("out").to_pydict()
    assert sorted(first[ID]) == list(range(n))
    assert first[ID] != second[ID]
    # Ranks of a random order correlate with the input's by less than 0.25 but once in a million.
    assert abs(np.corrcoef(first[ID], range(n))[0, 1]) < 0.25
    chosen = [i for i, q in zip(first[ID], first["q"], strict=True) if q == "b"]
    assert len(chosen) == 200
    assert 60 < sum(i < 200 for i in chosen) < 140
    assert set(chosen) != {i for i, q in zip(second[ID], second["q"], strict=True) if q == "b"}


class Boundary:
    """Counts the rows that cross from a database's driver into Python."""

    def __init__(self, monkeypatch, *places):
        self.rows = 0
        for kind, names in places:
            for name in names:
                monkeypatch.setattr(kind, name, self.counting(getattr(kind, name)))

    def counting(self, function):
        def fetch(*args, **kwargs):
            result = function(*args, **kwargs)
            self.rows += len(result) if hasattr(result, "__len__") else int(result is not None)
            return result

        return fetch


def many_rows():
    values = np.random.default_rng(3).integers(0, 3, size=(2, 6000))
    return pa.table({"a": values[0], "b": values[1].astype(str), ID: np.arange(6000)})


def crosses(database, opened, boundary):
    boundary.rows = 0
    counts = opened.count(["a", "b"])
    assert len(counts) == 9
    assert 0 < boundary.rows <= len(counts)
    boundary.rows = 0
    opened.publish_into(recoding_of(opened, ["a", "b"], (1, 0)), ["a", "b", ID], "out",
                        suppression="remove")  # fmt: skip
    halves = {
        row: {("x",): int(n) // 2, ("y",): int(n) - int(n) // 2}
        for row, n in zip([(0,), (1,), (2,)], opened.count(["a"]).rows, strict=True)
    }
    local = by_label(opened.count(["a"]), ["a"], halves)
    opened.publish_into(local, ["a", ID], "out", suppression="star", force=True)
    # What was counted here, counted again to publish, and the number of rows, each time.
    assert 0 < boundary.rows < 60


def duckdb_boundary(opened, monkeypatch):
    relation = type(opened._database._relation)
    return Boundary(
        monkeypatch, (relation, ["to_arrow_table", "to_arrow_reader", "fetchall", "df"])
    )


def postgres_boundary(monkeypatch):
    import psycopg

    names = ["fetchone", "fetchmany", "fetchall"]
    boundary = Boundary(monkeypatch, (psycopg.Cursor, names), (psycopg.ServerCursor, names))
    read = psycopg.Copy.read

    def counting(copy):
        piece = read(copy)
        # What COPY gives at once is a row, and the server breaks none in two.
        boundary.rows += bytes(piece).count(b"\n")
        return piece

    monkeypatch.setattr(psycopg.Copy, "read", counting)
    return boundary


@pytest.mark.usefixtures("patience")
def test_rows_do_not_pass_through_python_with_duckdb(duck, monkeypatch):
    opened = open_table(duck.load(many_rows()))
    crosses(duck, opened, duckdb_boundary(opened, monkeypatch))
    monkeypatch.undo()
    duck.clear()


def test_rows_do_not_pass_through_python_with_postgres(postgres, monkeypatch):
    source = postgres.load(many_rows())
    crosses(postgres, open_table(source), postgres_boundary(monkeypatch))
    monkeypatch.undo()
    postgres.clear()


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_duckdb_writes_files_itself(duck, form, tmp_path):
    table = open_table(duck.load(PEOPLE))
    recoding = recoding_of(table, ["sex"], (0,), suppress=[["f"]])
    out = tmp_path / "o'; DROP TABLE t; --"
    for suppression, rows in (("remove", 3), ("star", 5)):
        written = table.publish(
            recoding, ["sex", "age", "ill"], out, format=form, suppression=suppression, rng=rng()
        )
        assert (written.rows, written.suppressed_rows, written.format) == (rows, 2, form)
        expected = open_table(PEOPLE).publish_table(
            recoding, ["sex", "age", "ill"], suppression=suppression, rng=rng()
        )
        names, found = read_back(out, form)
        assert names == ["sex", "age", "ill"]
        assert Counter(found) == Counter(literal_rows(expected))
        with pytest.raises(OutputError, match="it exists"):
            table.publish(recoding, ["sex"], out, format=form, suppression="star", rng=rng())
        out.unlink()
    with pytest.raises(OutputError, match="cannot write"):
        table.publish(
            recoding, ["sex"], tmp_path / "no" / "o", format=form, suppression="star", rng=rng()
        )
    assert list(tmp_path.iterdir()) == []


def test_files_that_a_database_cannot_write_as_promised_are_refused(duck, postgres, tmp_path):
    floats = PEOPLE.append_column("size", pa.array([1.5] * 5))
    table = open_table(duck.load(floats))
    recoding = recoding_of(table, ["sex"], (1,))
    with pytest.raises(OutputError, match="DuckDB writes no Feather files"):
        table.publish(
            recoding, ["sex"], tmp_path / "o", format="feather", suppression="star", rng=rng()
        )
    with pytest.raises(OutputError, match="DuckDB writes double in a spelling of its own"):
        table.publish(
            recoding, ["size"], tmp_path / "o", format="csv", suppression="star", rng=rng()
        )
    table = open_table(postgres.load(PEOPLE))
    with pytest.raises(OutputError, match=r"Publish into a table of the same database"):
        table.publish(
            recoding, ["sex"], tmp_path / "o", format="parquet", suppression="star", rng=rng()
        )
    assert list(tmp_path.iterdir()) == []
    postgres.clear()


def test_a_file_is_in_no_database():
    table = open_table(PEOPLE)
    recoded = RecodedRows(table, recoding_of(table, ["sex"], (1,)), ["sex"], "star", rng())
    with pytest.raises(OutputError, match=r"the table \(arrow\) is in no database"):
        recoded.to_table(table, "out", lambda *_: None)
