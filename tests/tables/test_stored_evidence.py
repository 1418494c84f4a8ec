"""Evidence of releases in a database: nothing can be done to them that is not found."""

import json
from collections import Counter
from functools import partial
from hashlib import sha256
from importlib import import_module

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError, OutputError, ParameterError, VerificationError
from sfumato.evidence.document import canonical, hash_table
from sfumato.releases.evidence import _hashable
from sfumato.tables import open_table
from tests.evidence import literal
from tests.tables import databases
from tests.tables.tables import TEXTS
from tests.tables.test_releases import PEOPLE, POLICY

sign = partial(sf.sign, even_so=True)
"""Signs a release whatever the answer is: the tables here are small, and tell much."""

pytestmark = databases.LEAVES_SOCKETS_OPEN


@pytest.fixture(scope="module")
def key():
    import_module("cryptography")
    return sf.evidence.SigningKey.generate()


def hashed(source):
    return hash_table("t", _hashable(open_table(source)))


def textbook(source, table):
    """Follow the definition word by word, for columns of text and whole numbers."""
    lines = []
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    for row, times in Counter(rows).items():
        cells = ["-" if cell is None else f"{len(str(cell))}:{cell}" for cell in row]
        lines.append((sha256("".join(cells).encode()).hexdigest(), times))
    parts = []
    for part in sorted({digest[:3] for digest, _ in lines}):
        mine = sorted(line for line in lines if line[0].startswith(part))
        text = " ".join(f"{digest}:{times}" for digest, times in mine)
        digest = sha256(text.encode()).hexdigest()
        parts.append([part, sum(times for _, times in mine), digest])
    opened = open_table(source)
    columns = [[name, opened.native_type(name)] for name in opened.columns]
    return sha256(canonical({"columns": columns, "parts": parts})).hexdigest()


@st.composite
def plain_tables(draw):
    names = draw(st.lists(st.sampled_from(["a b", 'q"q', "1", "è"]), min_size=1, unique=True))
    rows = draw(st.integers(1, 9))
    kinds = {pa.string(): TEXTS, pa.int64(): st.integers(-11, 1111)}
    columns = {}
    for name in names:
        kind = draw(st.sampled_from(list(kinds)))
        pool = draw(st.lists(st.one_of(st.none(), kinds[kind]), min_size=1, max_size=3))
        columns[name] = pa.array(draw(st.lists(st.sampled_from(pool), min_size=rows,
                                               max_size=rows)), kind)  # fmt: skip
    return pa.table(columns)


@settings(max_examples=25)
@given(data=st.data())
def test_a_hash_is_what_the_textbook_says_in_any_order_of_rows(quick_database, data):
    database = quick_database
    database.clear()
    table = data.draw(plain_tables())
    shuffled = table.take(data.draw(st.permutations(range(len(table)))))
    one, other = database.stored(table, "one"), database.stored(shuffled, "other")
    found = hashed(one)
    assert found.rows == len(table)
    assert found.sha256 == textbook(one, table)
    assert found == hashed(other)


def test_cells_that_run_together_are_told_apart(quick_database):
    database = quick_database
    pairs = [("ab", "c"), ("a", "bc"), ("1:a", ""), ("", "1:a"), (None, "x"), ("-", "x"), ("", "x")]
    found = {
        hashed(database.stored(pa.table({"a": pa.array([a]), "b": [b]}).cast(TWO), f"t{i}")).sha256
        for i, (a, b) in enumerate(pairs)
    }
    assert len(found) == len(pairs)


TWO = pa.schema([("a", pa.string()), ("b", pa.string())])


@pytest.mark.usefixtures("patience")
@settings(max_examples=40)
@given(data=st.data())
def test_one_cell_of_any_type_changes_the_hash(quick_database, data):
    database = quick_database
    database.clear()
    kind = data.draw(st.sampled_from(database.types))
    cells = st.integers(-3, 3) if kind == pa.int16() else databases.CELLS[kind]
    before, after = data.draw(st.tuples(cells, st.one_of(st.none(), cells)))
    one, other = (pa.array([cell], kind) for cell in (before, after))
    # NaN is not itself, and a float of 32 bits is not what it was made of.
    assume(str(one) != str(other))
    found = [
        hashed(database.stored(pa.table({"x": column}), name))
        for column, name in ((one, "one"), (other, "other"))
    ]
    assert found[0] != found[1]


SETTINGS = {
    "duckdb": ["SET TimeZone = 'Asia/Tokyo'", "SET default_collation = 'NOCASE'"],
    "postgres": [
        "SET timezone = 'Asia/Tokyo'", "SET datestyle = 'SQL, DMY'", "SET extra_float_digits = -9",
        "SET bytea_output = 'escape'", "SET client_encoding = 'LATIN1'",
    ],
}  # fmt: skip
UNDONE = {
    "duckdb": ["RESET TimeZone", "RESET default_collation"],
    "postgres": ["RESET ALL", "SET client_encoding = 'UTF8'"],
}


def test_settings_of_a_session_do_not_change_a_hash(quick_database):
    database = quick_database
    cells = {
        pa.string(): ["é", "É"], pa.float64(): [0.1 + 0.2, 1e300], pa.float32(): [0.1, 3.5],
        pa.binary(): [b"\xff\\", b""], pa.bool_(): [True, None],
    }  # fmt: skip
    moment = pa.array([1_600_000_000_000_000, -5], pa.int64())
    for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
        cells[kind] = moment.cast(kind)
    cells[pa.date32()] = pa.array([18_000, -9], pa.int32()).cast(pa.date32())
    cells[pa.time64("us")] = pa.array([1, 86_399_999_999], pa.int64()).cast(pa.time64("us"))
    table = pa.table({f"c{i}": pa.array(v, kind) for i, (kind, v) in enumerate(cells.items())})
    source = database.stored(table, "people")
    before = hashed(source)
    try:
        for statement in SETTINGS[database.name]:
            database.connection.execute(statement)
        assert hashed(source) == before
    finally:
        for statement in UNDONE[database.name]:
            database.connection.execute(statement)


@pytest.mark.usefixtures("patience")
def test_at_most_4096_hashes_leave_the_database_however_many_rows_there_are(duck, monkeypatch):
    duck.connection.execute("CREATE TABLE many AS SELECT i, i // 2 AS j FROM range(40000) t(i)")
    opened = open_table((duck.connection, "many"))
    whole, fetched = type(opened).query, []

    def ask(self, statement):
        answer = whole(self, statement)
        fetched.append(len(answer))
        return answer

    monkeypatch.setattr(type(opened), "query", ask)
    try:
        assert hashed(opened).rows == 40_000
        assert fetched == [4096]
    finally:
        duck.clear()


def test_nested_columns_are_hashed_too(duck):
    duck.connection.execute("CREATE TABLE one AS SELECT ['a', 'b'] AS l, {'x': 1} AS s")
    duck.connection.execute("CREATE TABLE two AS SELECT ['a, b'] AS l, {'x': 1} AS s")
    try:
        found = [hashed((duck.connection, name)) for name in ("one", "two")]
        assert found[0].sha256 != found[1].sha256
    finally:
        duck.clear()


def release(database, key, method=None):
    source = database.stored(PEOPLE, "people")
    made = sf.anonymize(source, POLICY, output="table:released", key=None if method else key)
    if method is None:
        return (source[0], "released"), made
    decoupled = sf.decouple(made, method, output="table:broken", key=key, even_so=True)
    return (source[0], "broken"), decoupled


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", [None, "break-merge"])
def test_an_untouched_release_holds_and_says_who_signed(quick_database, key, method):
    database = quick_database
    where, made = release(database, key, method)
    name = where[1]
    assert f"{name}_evidence" in database.tables()
    for what in (where, made):
        found = sf.check_evidence(what, key.public)
        assert found.holds, str(found)
        assert found.signed_by == str(key.public)
    names = ["evidence", "tables", "sha256", "claims", "signature"]
    assert [check.name for check in found.checks] == names
    assert found["tables"].found == (1 if method is None else 2)
    assert sf.verify(made)["evidence"].status == "holds"
    [data] = database.read(f"{name}_evidence").column(0).to_pylist()
    whole = json.loads(data)
    signature = whole.pop("signature")
    message = data[: data.index(',"signature":')] + "}"
    assert json.loads(message) == whole
    public, value = bytes.fromhex(signature["public_key"]), bytes.fromhex(signature["value"])
    assert literal.verifies(public, value, message.encode())


CELL = "UPDATE released SET ill = 'mumps' WHERE {row} = (SELECT min({row}) FROM released)"
TWICE = (
    "INSERT INTO released SELECT * FROM released WHERE {row} = (SELECT min({row}) FROM released)"
)
TAMPERED = {
    "one cell": (CELL, ["sha256"]),
    "a row added": ("INSERT INTO released VALUES (NULL, 'f', 'flu')", ["sha256"]),
    "a row twice": (TWICE, ["sha256"]),
    "a row gone": (
        "DELETE FROM released WHERE {row} = (SELECT min({row}) FROM released)", ["sha256"],
    ),
    "all rows gone": ("DELETE FROM released", ["sha256"]),
    "a column renamed": ('ALTER TABLE released RENAME COLUMN ill TO "Ill"', ["sha256"]),
    "a column added": ("ALTER TABLE released ADD COLUMN x INTEGER", ["sha256"]),
    "a column of another type": (
        'ALTER TABLE released ALTER COLUMN "ill" TYPE varchar(9)', ["sha256"],
    ),
    "the table gone": ("ALTER TABLE released RENAME TO r; CREATE TABLE released AS SELECT 1 AS x",
                       ["sha256"]),
    "the manifest": (
        "UPDATE released_manifest SET manifest = replace(manifest, '\"k\": 4', '\"k\": 5')",
        ["claims"],
    ),
    "a blank in the manifest": (
        "UPDATE released_manifest SET manifest = manifest || ' '", ["claims"],
    ),
    "the manifest gone": ("DROP TABLE released_manifest", ["claims"]),
    "the evidence": (
        "UPDATE released_evidence SET evidence = replace(evidence, '\"rows\":60', '\"rows\":61')",
        ["sha256", "claims", "signature"],
    ),
    "a blank in the evidence": (
        "UPDATE released_evidence SET evidence = evidence || ' '", ["evidence"],
    ),
    "the evidence gone": ("DROP TABLE released_evidence", ["evidence"]),
}  # fmt: skip
KEEPS_TYPES = {"duckdb": ["a column of another type"]}
"""What changes nothing: to DuckDB a varchar(9) is a varchar."""


def found_in(where, key):
    found = sf.check_evidence(where, key)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["holds"] is found.holds
    return [check.name for check in found.checks if check.status != "holds"]


@pytest.mark.usefixtures("patience")
def test_whatever_is_changed_is_found(quick_database, key):
    database = quick_database
    where, _ = release(database, key)
    row = {"duckdb": "rowid", "postgres": "ctid"}[database.name]
    for what, (statement, checks) in TAMPERED.items():
        if what in KEEPS_TYPES.get(database.name, ()):
            continue
        database.connection.execute("BEGIN")
        try:
            database.connection.execute(statement.replace("{row}", row))
            assert found_in(where, key.public) == checks, what
        finally:
            database.connection.execute("ROLLBACK")
    assert found_in(where, key.public) == []


@pytest.mark.usefixtures("patience")
def test_evidence_is_that_of_one_table_only(quick_database, key):
    database = quick_database
    connection, _ = where = release(database, key)[0]
    other = sf.evidence.SigningKey.generate()
    assert found_in(where, other.public) == ["signature"]
    execute = database.connection.execute
    for part in ("", "_manifest", "_evidence"):
        execute(f"CREATE TABLE copied{part} AS SELECT * FROM released{part}")
    execute("DELETE FROM copied")
    assert found_in((connection, "copied"), key.public) == ["tables"]
    execute("DROP TABLE released_evidence")
    sf.anonymize(
        (connection, "people"),
        POLICY,
        output="table:more",
        method="mondrian",
        key=key,
        even_so=True,
    )
    execute("CREATE TABLE released_evidence AS SELECT * FROM more_evidence")
    assert "tables" in found_in(where, key.public)
    # The manifest of another release cannot lend its good name either.
    sf.decouple((connection, "more"), output="table:broken", key=key, even_so=True)
    for part in ("", "_manifest", "_evidence"):
        execute(f"CREATE TABLE stolen{part} AS SELECT * FROM broken{part}")
    assert found_in((connection, "stolen"), key.public) == ["tables"]
    with pytest.raises(InputError, match="is that of a table broken"):
        sf.verify((connection, "stolen"))


@pytest.mark.usefixtures("patience")
def test_a_copy_in_another_schema_is_looked_at_there(quick_database, key):
    database = quick_database
    connection = release(database, key, "break-merge")[0][0]
    execute = database.connection.execute
    execute("CREATE SCHEMA ward")
    try:
        for part in ("", "_sensitive_ill", "_manifest", "_evidence"):
            execute(f"CREATE TABLE ward.broken{part} AS SELECT * FROM broken{part}")
        assert found_in((connection, "ward.broken"), key.public) == []
        execute("UPDATE ward.broken_sensitive_ill SET ill = 'x' WHERE ill = 'flu'")
        assert found_in((connection, "ward.broken"), key.public) == ["sha256"]
        assert found_in((connection, "broken"), key.public) == []
    finally:
        execute("DROP SCHEMA ward CASCADE")


@pytest.mark.usefixtures("patience")
def test_evidence_of_a_folder_is_none_of_tables_and_the_other_way_round(duck, key, tmp_path):
    try:
        where, _ = release(duck, key)
        folder = tmp_path / "release"
        sf.anonymize(PEOPLE, POLICY, output=folder, key=key, even_so=True)
        [of_tables] = duck.read("released_evidence").column(0).to_pylist()
        of_folder = (folder / "evidence.json").read_text()
        duck.connection.execute("UPDATE released_evidence SET evidence = ?", [of_folder])
        (folder / "evidence.json").write_text(of_tables)
        for what, text in ((where, "evidence of a folder"), (folder, "of tables in a database")):
            found = sf.check_evidence(what, key.public)
            assert [check.status for check in found.checks] == ["broken"]
            assert text in found["evidence"].detail
    finally:
        duck.clear()


@pytest.mark.usefixtures("patience")
def test_a_release_is_signed_later_and_only_if_it_is_what_was_published(quick_database, key):
    database = quick_database
    where, _ = release(database, None)
    connection = where[0]
    assert "released_evidence" not in database.tables()
    assert found_in(where, None) == ["evidence"]
    assert sign(where, key).holds
    assert sign(where, key).holds
    other = sf.evidence.SigningKey.generate()
    with pytest.raises(OutputError, match="is signed by another key"):
        sign(where, other)
    assert sign(where, other, force=True).signed_by == str(other.public)
    decoupled = sf.decouple(where, output="table:broken")
    assert sign(decoupled, key).holds
    assert sf.check_evidence((connection, "broken"), key.public).holds
    database.connection.execute("UPDATE broken_sensitive_ill SET ill = 'x' WHERE ill = 'flu'")
    database.connection.execute("UPDATE released_manifest SET manifest = manifest || ' '")
    for what in (decoupled, where):
        with pytest.raises(VerificationError, match=r"not what was published|does not hold"):
            sign(what, key)
    database.connection.execute("DELETE FROM released")
    database.connection.execute("DROP TABLE released_evidence")
    with pytest.raises(VerificationError, match="was not signed, for it does not hold"):
        sign(where, key)
    for task in (lambda what: sign(what, key), sf.check_evidence):
        with pytest.raises(InputError, match="Give a release"):
            task((connection, "people"))


@pytest.mark.usefixtures("patience")
def test_evidence_is_replaced_and_removed_with_its_release(quick_database, key):
    database = quick_database
    where, _ = release(database, key)
    source = (where[0], "people")
    before = database.read("released_evidence").to_pydict()
    sf.anonymize(
        source,
        POLICY,
        output="table:released",
        method="mondrian",
        key=key,
        even_so=True,
        force=True,
    )
    assert database.read("released_evidence").to_pydict() != before
    assert sf.check_evidence(where, key.public).holds
    sf.anonymize(source, POLICY, output="table:released", force=True)
    assert database.tables() == {"people", "released", "released_manifest"}


@pytest.mark.usefixtures("patience")
def test_a_release_that_cannot_be_signed_leaves_nothing(quick_database, key, monkeypatch):
    database = quick_database

    def broken(unfinished, text):
        raise InputError("the disk is full.")

    source = database.stored(PEOPLE, "people")
    monkeypatch.setattr("sfumato.tables.sql.releases.UnfinishedRelease.store_evidence", broken)
    with pytest.raises(OutputError, match="Nothing was left"):
        sf.anonymize(source, POLICY, output="table:released", key=key, even_so=True)
    assert database.tables() == {"people"}


@pytest.mark.usefixtures("patience")
def test_somebody_elses_table_is_not_taken_for_evidence(quick_database, key):
    database = quick_database
    source = database.stored(PEOPLE, "people")
    database.stored(PEOPLE, "released_evidence")
    with pytest.raises(OutputError, match="released_evidence already"):
        sf.anonymize(source, POLICY, output="table:released", key=key, even_so=True)
    with pytest.raises(OutputError, match="released_evidence exists and is not a release"):
        sf.anonymize(source, POLICY, output="table:released", key=key, even_so=True, force=True)
    release = sf.anonymize(source, POLICY, output="table:released")
    with pytest.raises(OutputError, match="released_evidence exists and is no evidence"):
        sign(release, key)
    assert database.read("released_evidence").num_rows == 60


def test_what_is_in_memory_is_not_signed(key):
    with pytest.raises(ParameterError, match="what is in memory cannot be signed"):
        sf.anonymize(PEOPLE, POLICY, key=key, even_so=True)


def test_spark_signs_as_others_do(spark, key):
    """One test for all of it: with Spark every statement is a job of its own."""
    try:
        where, made = release(spark, key)
        assert spark.tables() == {"people", "released", "released_manifest", "released_evidence"}
        assert hashed((spark.session, "people")).sha256 == textbook(
            (spark.session, "people"), PEOPLE
        )
        assert sf.check_evidence(made, key.public).holds
        spark.session.sql("INSERT INTO released SELECT * FROM released LIMIT 1")
        assert found_in(where, key.public) == ["sha256"]
        zone = spark.session.conf.get("spark.sql.session.timeZone")
        found = []
        for items, now in (("null", zone), ("null", "Asia/Tokyo"), ("0", zone)):
            spark.session.conf.set("spark.sql.session.timeZone", now)
            found.append(hashed(spark.session.sql(CELLS.replace("null", items))))
        assert found[0] == found[1] != found[2]
    finally:
        spark.session.conf.set("spark.sql.session.timeZone", "UTC")
        spark.clear()


CELLS = (
    "SELECT 1.5D AS f, X'FF' AS b, timestamp_micros(1600000000000000) AS t, DATE'2020-01-01' AS d, "
    "array(1, null) AS l"
)
