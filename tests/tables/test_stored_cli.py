"""Commands on tables of a database: all take addresses, and bad ones end with 2 and a reason."""

from contextlib import contextmanager
from importlib import import_module
from urllib.parse import quote

import pytest

import sfumato as sf
from tests.cli.conftest import POLICY, everything_in, folder, patients, run  # noqa: F401 - fixtures
from tests.tables import databases
from tests.unprivileged import unprivileged

pytestmark = databases.LEAVES_SOCKETS_OPEN

COMMANDS = {
    "inspect": ["{people}", "-p", "policy.yaml"],
    "init": ["{people}", "-o", "draft.yaml", "--force"],
    "compare": ["{people}", "policy.yaml"],
    "anonymize": ["{people}", "-p", "policy.yaml", "-o", "table:again", "--force"],
    "protect": ["{people}", "-p", "policy.yaml", "-o", "table:mended", "--force"],
    "verify": ["{released}", "--data", "{people}", "-p", "policy.yaml", "--threshold", "1"],
    "detect": ["{released}"],
    "correlations": ["{released}"],
    "breach": ["{broken}"],
    "explain": ["{released}", "age=21"],
    "estimate": ["{released}", "--where", "ill=flu", "--data", "{people}"],
    "utility": ["{people}", "{released}", "{broken}", "--queries", "9"],
    "membership": ["{people}", "{released}", "--fakes", "9"],
    "diff": ["{released}", "{broken}"],
    "report": ["{broken}"],
    "merge": ["{broken}", "-o", "merged.csv", "--force"],
    "decouple": ["{released}", "-o", "table:apart", "--force"],
    "sign": ["{released}", "--key", "publisher.key", "--even-so"],
    "check-evidence": ["{released}", "--public-key", "publisher.pub"],
}
"""Every command that reads a table or a release, in an order in which they can be run."""


@pytest.fixture
def clinic(patients):  # noqa: F811 - a fixture
    """The patients in a file, released and decoupled; and a pair of keys."""
    connect = databases.imported("duckdb", "duckdb").connect
    import_module("cryptography")
    sf.evidence.keygen(patients / "publisher")
    with connect("clinic.db") as connection:
        connection.execute("CREATE TABLE people AS FROM 'patients.csv'")
    address = "duckdb:///clinic.db?table={}".format
    sf.anonymize(address("people"), "policy.yaml", output="table:released")
    sf.decouple(address("released"), output="table:broken")
    return address


def written(args, address):
    names = {name: address(name) for name in ("people", "released", "broken")}
    return [arg.format(**names) for arg in args]


@pytest.mark.usefixtures("patience")
def test_every_command_takes_addresses(clinic, run):  # noqa: F811 - a fixture
    for command, args in COMMANDS.items():
        result = run(command, *written(args, clinic))
        assert result.exit_code in (0, 1), (command, result.output)
        assert "fault of Sfumato" not in result.output, command


@pytest.mark.usefixtures("patience")
def test_every_command_says_that_there_is_no_such_table(clinic, patients, run):  # noqa: F811
    def wrong(name):
        return clinic(f"{name}_2")

    before = everything_in(patients)
    for command, args in COMMANDS.items():
        result = run(command, *written(args, wrong))
        assert result.exit_code == 2, (command, result.output)
        assert "_2" in result.stderr, command
    assert everything_in(patients) == before


@pytest.mark.usefixtures("patience")
def test_a_release_that_was_changed_does_not_keep_its_signature(clinic, patients, run):  # noqa: F811
    released = clinic("released")
    assert run("sign", released, "--key", "publisher.key", "--even-so").exit_code == 0
    assert run("check-evidence", released, "--public-key", "publisher.pub").exit_code == 0
    with databases.imported("duckdb", "duckdb").connect("clinic.db") as connection:
        connection.execute("UPDATE released SET ill = 'flu' WHERE ill = 'hiv'")
    result = run("check-evidence", released, "--public-key", "publisher.pub")
    assert result.exit_code == 1
    assert "changed" in result.output


@pytest.fixture
def people(postgres, patients):  # noqa: F811 - a fixture
    """The patients in PostgreSQL, and somebody who may do nothing."""
    execute = postgres.connection.execute
    execute("CREATE TABLE people (name text, age int, zip text, ill text, hobbies text[], x json)")
    execute("INSERT INTO people VALUES ('Ann', 21, '4711', 'flu'), ('Bob', 24, '4712', 'gout')")
    execute("CREATE ROLE nobody LOGIN PASSWORD 's3cret@:/?'")
    yield postgres
    postgres.clear()
    execute("DROP ROLE nobody")


def failed(result, *texts):
    """Say what a command wrote to stderr; nothing secret may be in it."""
    assert result.exit_code == 2, result.output
    assert "s3cret" not in result.output
    assert "s3cret%40" not in result.output
    for text in texts:
        assert text in result.stderr
    return result.stderr


ANONYMIZE = ("-p", "policy.yaml", "-o", "table:released")


def test_postgresql_says_what_is_wrong(people, patients, run):  # noqa: F811 - fixtures
    def anonymize(address, *more):
        return run("anonymize", address, *ANONYMIZE, *more)

    (patients / "policy.yaml").write_text(POLICY + "other: dropped\n")
    before = everything_in(patients)
    address = people.address("people")
    failed(anonymize(people.address("nobody")), "nobody")
    failed(anonymize(people.address("people", user="nobody")), "permission denied")
    failed(anonymize(people.address("people", password="wr0ng")), "password")
    failed(anonymize(address.replace("/postgres?", "/clinic?")), "clinic")
    failed(anonymize(address.replace("127.0.0.1", "nowhere.invalid")), "cannot reach")
    failed(anonymize(f"{address}&sslmode=maybe"), "sslmode")
    failed(anonymize(address, "--format", "csv"), "format")
    for command in ("anonymize", "protect"):
        result = run(command, address, "-p", "policy.yaml", "-o", "out")
        failed(result, "PostgreSQL writes files only on its own machine")
    for column in ("hobbies", "x"):
        others = POLICY.replace("name: identifier", f"{column}: quasi-identifier")
        (patients / "other.yaml").write_text(others + "other: dropped\n")
        for command in ("anonymize", "protect"):
            result = run(command, address, "-p", "other.yaml", "-o", "table:released")
            failed(result, f"column '{column}'", "no single value")
        failed(run("detect", address, "--qi", column), f"column '{column}'")
    (patients / "other.yaml").unlink()
    people.connection.execute("GRANT SELECT ON people TO nobody")
    failed(anonymize(people.address("people", user="nobody")), "permission denied")
    assert people.tables() == {"people"}
    assert everything_in(patients) == before


ODD = 'my "wards".2'


def test_names_that_need_quoting_are_just_names(people, patients, run):  # noqa: F811 - fixtures
    (patients / "policy.yaml").write_text(POLICY + "other: dropped\n")
    people.connection.execute(f"ALTER TABLE people RENAME TO {databases.quoted(ODD)}")
    address, output = (people.address(quote(databases.quoted(name))) for name in (ODD, f"{ODD}x"))
    result = run("anonymize", address, "-p", "policy.yaml", "-o", output)
    assert result.exit_code == 0, result.output
    assert people.tables() == {ODD, f"{ODD}x", f"{ODD}x_manifest"}
    assert run("verify", output, "--only-promises").exit_code == 0
    assert "s3cret" not in result.output


def test_a_connection_that_is_lost_is_said(people, patients, run, monkeypatch):  # noqa: F811
    from sfumato.tables.sql.table import SqlTable

    (patients / "policy.yaml").write_text(POLICY + "other: dropped\n")
    whole = SqlTable.count

    def count_and_cut(self, columns, **more):
        found = whole(self, columns, **more)
        people.connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        return found

    monkeypatch.setattr(SqlTable, "count", count_and_cut)
    for command in ("anonymize", "protect"):
        failed(run(command, people.address("people"), *ANONYMIZE), "terminat")
    assert people.tables() == {"people"}


@pytest.mark.usefixtures("patience")
def test_duckdb_says_what_is_wrong(clinic, patients, run):  # noqa: F811 - fixtures
    with databases.imported("duckdb", "duckdb").connect("clinic.db") as connection:
        connection.execute(
            "CREATE TABLE nested AS SELECT [1, 2] AS age, {'a': 1} AS zip, 'x' AS ill"
        )
    others = POLICY.replace("  name: identifier\n", "")
    (patients / "other.yaml").write_text(others)
    before = everything_in(patients)
    more = ("-p", "other.yaml", "-o", "table:out")
    failed(run("anonymize", clinic("nested"), *more), "column 'age'", "no single value")
    failed(run("anonymize", clinic("people"), *more, "--format", "csv"), "format")
    assert everything_in(patients) == before
    with unprivileged_file(patients / "clinic.db"):
        result = run("anonymize", clinic("people"), "-p", "policy.yaml", "-o", "table:out")
        failed(result, "clinic.db")
    assert everything_in(patients) == before


@contextmanager
def unprivileged_file(path):
    """Let a file be read and not written, by somebody whom permissions stop."""
    path.parent.chmod(0o555)
    path.chmod(0o444)
    try:
        with unprivileged():
            yield
    finally:
        path.parent.chmod(0o755)
        path.chmod(0o644)


def test_spark_says_what_is_wrong(spark, patients, run):  # noqa: F811 - a fixture
    (patients / "policy.yaml").write_text(POLICY + "other: dropped\n")
    rows = "SELECT 'Ann' AS name, array(1) AS age, '4711' AS zip, 'flu' AS ill"
    spark.session.sql(f"CREATE TABLE `select` AS {rows}")
    try:
        address = "spark:///?table=select"
        failed(run("anonymize", "spark:///?table=nobody", *ANONYMIZE), "nobody")
        failed(run("anonymize", address, *ANONYMIZE), "column 'age'", "no single value")
        failed(run("inspect", f"{address}&user=me", "--qi", "zip"), "a spark address has")
        assert run("inspect", address, "--qi", "zip").exit_code == 0
        more = ("--qi", "zip", "--sensitive", "ill", "-o", "table:nowhere.out")
        failed(run("decouple", address, *more), "nowhere")
        failed(run("decouple", address, *more[:-1], 'table:"my out"'), "my out")
        assert spark.tables() == {"select"}
    finally:
        spark.clear()
