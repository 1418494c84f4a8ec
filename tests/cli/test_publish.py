"""Ledgers on the command line: publish, headroom, ledger."""

import json
import shutil

import pytest

from tests.cli.conftest import everything_in
from tests.cli.test_mistakes import refused
from tests.tables.databases import imported

pytestmark = pytest.mark.usefixtures("patience")

POLICY = """\
columns:
  name: identifier
  age: {role: quasi-identifier, hierarchy: {kind: intervals, widths: [10]}}
  ill: sensitive
  pay: sensitive
models: [{model: k-anonymity, k: 2}]
"""
PATIENTS = "name,age,ill,pay\n" + "".join(
    f"P{age + year},{age + year},{ill},{pay}\n"
    for age in (20, 30)
    for year, ill, pay in (
        (1, "flu", "low"),
        (3, "gout", "low"),
        (5, "hiv", "high"),
        (8, "cold", "high"),
    )
)
NEW = "name,age,ill,pay\nA,24,flu,high\nB,27,gout,low\nC,35,cold,high\nD,71,flu,low\n"


@pytest.fixture
def clinic(folder, run):
    (folder / "policy.yaml").write_text(POLICY)
    (folder / "patients.csv").write_text(PATIENTS)
    (folder / "new.csv").write_text(NEW)
    assert run("anonymize", "patients.csv", "-p", "policy.yaml", "-o", "release").exit_code == 0
    assert run("decouple", "release", "-o", "broken").exit_code == 0
    start = ("ledger", "start", "x.ledger", "broken", "--alpha", "0.5", "-p", "policy.yaml")
    started = run(*start, "--data", "patients.csv")
    assert started.exit_code == 0, started.stderr
    assert "ledger started with 8 rows, alpha 0.5" in started.stdout
    return folder


@pytest.mark.parametrize("option", ["--remove", "--correct", "--output", "--key"])
def test_a_start_takes_nothing_that_is_for_increments(clinic, run, option):
    done = run("ledger", "start", "y.ledger", "broken", "--alpha", "0.5", option, "new.csv")
    assert done.exit_code == 2
    assert f"No such option: {option}" in " ".join(done.stderr.split())
    assert not (clinic / "y.ledger").exists()


@pytest.mark.parametrize("given", ["0", "-1", "many", "1.5"])
def test_the_number_of_rows_of_a_person_is_whole(clinic, run, given):
    ask = ("ledger", "start", "y.ledger", "broken", "--alpha", "0.5", "--rows-per-person", given)
    done = run(*ask)
    assert done.exit_code == 2
    assert "must be a whole number" in " ".join(done.stderr.split())
    assert not (clinic / "y.ledger").exists()


def test_an_increment_from_start_to_end(clinic, run):
    dry = run("ledger", "add", "x.ledger", "new.csv", "--dry-run", "-o", "two")
    assert "2 rows would be admitted, 0 refused, 2 held back" in dry.stdout
    assert not (clinic / "two").exists()
    done = run("ledger", "add", "x.ledger", "new.csv", "-o", "two")
    assert done.exit_code == 0
    assert "2 rows admitted, 0 refused, 2 held back; 2 wait in the ledger" in " ".join(
        done.stdout.split()
    )
    assert "the newcomers would be 1, fewer than k=2" in " ".join(done.stdout.split())
    assert "30 to 39" in done.stdout
    assert "70 to 79" in done.stdout
    assert "Written: two" in done.stderr
    head = done.stderr.split("hash ")[1][:64]
    assert run("verify", "two").exit_code == 0
    verified = run("ledger", "verify", "x.ledger", "--head", head)
    assert (verified.exit_code, verified.stdout) == (0, "the ledger is as it was written\n")
    log = json.loads(run("ledger", "show", "x.ledger", "--log", "--json").stdout)
    assert [entry["rows"]["joined"] for entry in log] == [8, 2]
    assert "10 people published in 3 cells, 2 wait" in run("ledger", "show", "x.ledger").stdout
    shown = json.loads(run("ledger", "show", "x.ledger", "--release", "1", "--json").stdout)
    assert shown["rows"] == 8
    assert head[:12] in run("ledger", "show", "x.ledger", "--log").stdout


def test_the_report_as_json(clinic, run):
    plain = json.loads(run("ledger", "add", "x.ledger", "new.csv", "--json").stdout)
    assert (plain["admitted"], plain["waiting"], plain["answer"]) == (2, 2, "with care")
    assert any("definetti was not tried: there is one group" in why for why in plain["why"])
    held = {each["group"][0]: each["values"] for each in plain["held"]}
    assert held["30 to 39"] == {"ill": "cold", "pay": "high"}


def test_people_who_come_again_are_refused_with_the_reason(clinic, run):
    (clinic / "again.csv").write_text(NEW + "P21,21,gout,low\nP35,35,flu,low\n")
    done = run("ledger", "add", "x.ledger", "again.csv")
    assert done.exit_code == 0
    assert "2 refused" in done.stdout
    assert "the person was published in release 1" in " ".join(done.stdout.split())


def test_one_person_waits_to_leave_or_takes_the_cell_along(clinic, run):
    (clinic / "one.csv").write_text("name,age,ill,pay\nP21,21,flu,low\n")
    leave = ("ledger", "remove", "x.ledger", "one.csv")
    done = run(*leave)
    assert "1 wait in the ledger, 1 of them published still" in " ".join(done.stdout.split())
    done = run(*leave, "--at-once", "--again", "-o", "two")
    assert done.exit_code == 0, done.stderr
    assert "1 left, 3 others withdrawn with them" in " ".join(done.stdout.split())
    shown = run("ledger", "show", "x.ledger", "--release", "3", "--json").stdout
    assert json.loads(shown)["rows"] == 4


def test_a_release_above_alpha_starts_a_ledger_only_if_asked(clinic, run):
    start = ("ledger", "start", "y.ledger", "broken", "--alpha", "0.4")
    refused(clinic, run, *start, words=["a value exceeds alpha 0.4 already", "--above"])
    done = run(*start, "--above")
    assert done.exit_code == 0
    assert "2 groups have a value above alpha already" in " ".join(
        (done.stdout + done.stderr).split()
    )


def test_headroom_is_shown_and_drawn(clinic, run):
    done = run(
        "ledger", "headroom", "x.ledger", "--values", "ill=flu,pay=low", "--draw", "room.svg"
    )
    assert done.exit_code == 0, done.stderr
    assert "2 groups, alpha 0.5" in done.stdout
    assert (clinic / "room.svg").read_text().startswith("<svg")
    plain = json.loads(
        run("ledger", "headroom", "x.ledger", "--group", "age=20 to 29", "--json").stdout
    )
    assert {room["group"]["age"] for room in plain["rooms"]} == {"20 to 29"}


def test_deleting_on_the_command_line(clinic, run):
    (clinic / "gone.csv").write_text(PATIENTS.split("P31,")[0])
    done = run("ledger", "remove", "x.ledger", "gone.csv", "-o", "three")
    assert done.exit_code == 0, done.stderr
    assert "0 rows admitted, 4 left" in " ".join(done.stdout.split())
    assert run("verify", "three").exit_code == 0


def test_an_edited_ledger_ends_with_exit_code_1(clinic, run):
    import sqlite3

    db = sqlite3.connect(clinic / "x.ledger")
    db.execute("UPDATE cells SET label = label + 1")
    db.commit()
    db.close()
    done = run("ledger", "verify", "x.ledger")
    assert done.exit_code == 1
    assert "the ledger is damaged, or was edited" in done.stdout


def test_mistakes_are_answered_and_change_nothing(clinic, run):
    publish = ("ledger", "add", "x.ledger", "new.csv")
    refused(clinic, run, *publish, "--alpha", "0.9", words=["started with 0.5"])
    refused(clinic, run, "ledger", "start", "y.ledger", "broken", words=["alpha must be"])
    bad = ("ledger", "start", "y.ledger", "broken", "--alpha", "2")
    refused(clinic, run, *bad, words=["at most 1"])
    assert "Missing argument 'DATA'" in run("ledger", "add", "x.ledger").stderr
    refused(clinic, run, "ledger", "add", "patients.csv", "new.csv", words=["is not a ledger"])
    refused(clinic, run, "ledger", "headroom", "nothing", words=["does not exist"])
    refused(
        clinic, run, "ledger", "headroom", "x.ledger", "--values", "flu", words=["column=value"]
    )
    refused(clinic, run, "ledger", "show", "x.ledger", "--release", "9", words=["no release '9'"])
    refused(clinic, run, *publish, "-o", "release", words=["exists"])
    assert "y.ledger" not in everything_in(clinic)


def test_quiet_says_nothing(clinic, run):
    done = run("ledger", "add", "x.ledger", "new.csv", "-q")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")


@pytest.fixture
def database(folder, run):
    """The same clinic in a file of DuckDB, with a ledger started from a release there."""
    imported("ibis", "duckdb")
    duckdb = imported("duckdb", "duckdb")
    (folder / "policy.yaml").write_text(POLICY)
    (folder / "patients.csv").write_text(PATIENTS)
    (folder / "new.csv").write_text(NEW)
    with duckdb.connect("clinic.db") as connection:
        for name in ("patients", "new"):
            connection.execute(f"CREATE TABLE {name} AS FROM read_csv('{name}.csv')")
        connection.execute("CREATE TABLE gone AS FROM patients WHERE age < 30")
    run("anonymize", at("patients"), "-p", "policy.yaml", "-o", "table:released")
    assert run("decouple", at("released"), "-o", "table:march").exit_code == 0
    return folder


def at(table):
    return f"duckdb:///clinic.db?table={table}"


def tables():
    import duckdb

    with duckdb.connect("clinic.db", read_only=True) as connection:
        return {name for (name,) in connection.execute("SHOW TABLES").fetchall()}


def test_a_ledger_on_a_database(database, run):
    start = ("ledger", "start", "x.ledger", at("march"), "-p", "policy.yaml", "--alpha", "0.5")
    started = run(*start, "--data", at("patients"))
    assert "ledger started with 8 rows, alpha 0.5" in started.stdout
    done = run("ledger", "add", "x.ledger", at("new"), "-o", "table:april")
    assert done.exit_code == 0, done.stderr
    assert "2 rows admitted, 0 refused, 2 held back; 2 wait in the ledger" in " ".join(
        done.stdout.split()
    )
    assert "Written: duckdb:///clinic.db?table=april" in done.stderr
    assert run("verify", at("april")).exit_code == 0
    both = ("ledger", "add", "x.ledger", at("new"), "--remove", at("gone"), "--again", "--json")
    plain = json.loads(run(*both, "-o", at("may")).stdout)
    assert (plain["left"], plain["place"]) == (4, at("may"))
    assert sum(each["rows"] for each in plain["refused"]) == 4  # They were given before.
    earlier = ("--earlier", at("march"), "--attack", "composition")
    compared = run("verify", at("may"), *earlier, "--all")
    assert compared.exit_code == 0, compared.stderr
    assert "composition" in compared.stdout


def test_mistakes_with_a_database_change_nothing(database, run):
    start = ("ledger", "start", "x.ledger", at("march"), "--data", at("patients"))
    assert run(*start, "--alpha", "0.5", "-p", "policy.yaml").exit_code == 0
    before = tables()
    publish = ("ledger", "add", "x.ledger", at("new"))
    refused(database, run, *publish, "-o", "table:march", words=["there is a table march"])
    other = "duckdb:///other.db?table=april"
    refused(database, run, *publish, "-o", other, words=["another database", "table:april"])
    refused(database, run, "ledger", "add", "x.ledger", at("no"), words=["no does not exist"])
    refused(database, run, "ledger", "add", "x.ledger", at("march"), words=["is a release"])
    start = ("ledger", "start", "y.ledger", at("new"), "--alpha", "0.5")
    refused(database, run, *start, words=["starts from a decoupled release", "decouple it first"])
    into_table = ("-o", "table:april", "--format", "csv")
    refused(database, run, *publish, *into_table, words=["left out when the output is a table"])
    rows = ("ledger", "add", "x.ledger", "new.csv", "-o", "table:april")
    refused(database, run, *rows, words=["in no database"])
    assert tables() == before


def test_a_ledger_is_not_put_into_a_release(clinic, run):
    (clinic / "link").symlink_to(clinic / "broken")
    (clinic / "broken" / "sub").mkdir()
    for name in ("broken/x.ledger", "broken/sub/x.ledger", "link/x.ledger"):
        done = run("ledger", "start", name, "broken", "--alpha", "0.5")
        assert done.exit_code == 2
        assert "is private" in done.stderr
        assert "which all readers get" in " ".join(done.stderr.split())
        assert not (clinic / name).exists()


def test_a_ledger_that_lies_in_a_release_is_not_published_on(clinic, run):
    (clinic / "x.ledger").rename(clinic / "release" / "x.ledger")
    done = run("ledger", "add", "release/x.ledger", "new.csv", "-o", "two")
    assert done.exit_code == 2
    assert "Keep it in another folder" in " ".join(done.stderr.split())
    assert not (clinic / "two").exists()


def edited(path, statement):
    import sqlite3

    db = sqlite3.connect(path, isolation_level=None)
    db.execute(statement)
    db.close()


def test_edited_settings_stop_every_command_and_stay_found(clinic, run):
    edited(clinic / "x.ledger", "UPDATE meta SET value = '1.0' WHERE key = 'alpha'")
    for command in (
        ("ledger", "add", "x.ledger", "new.csv", "-o", "two"),
        ("ledger", "add", "x.ledger", "new.csv", "--alpha", "1.0"),
        ("ledger", "headroom", "x.ledger"),
        ("ledger", "show", "x.ledger"),
        ("ledger", "show", "x.ledger", "--log"),
    ):
        done = run(*command)
        assert done.exit_code == 2, command
        message = " ".join(done.stderr.split())
        assert "is damaged, or was edited: the settings are not those" in message
        assert "fault of Sfumato" not in message
    assert not (clinic / "two").exists()
    assert run("ledger", "verify", "x.ledger").exit_code == 1


def test_a_restored_copy_is_refused_by_the_hash_that_was_kept(clinic, run):
    copy = (clinic / "x.ledger").read_bytes()
    first = run("ledger", "add", "x.ledger", "new.csv", "-o", "two", "--json")
    head = json.loads(first.stdout)["head"]
    (clinic / "x.ledger").write_bytes(copy)
    again = run("ledger", "add", "x.ledger", "new.csv", "-o", "three", "--head", head)
    assert again.exit_code == 2
    assert "it is an older copy, or it was rewritten" in " ".join(again.stderr.split())
    assert not (clinic / "three").exists()
    assert run("ledger", "verify", "x.ledger", "--head", head).exit_code == 1
    beside = run("ledger", "add", "x.ledger", "new.csv", "-o", "three")
    assert "'two' is release 2 of this ledger, which has only 1" in " ".join(beside.stderr.split())
    shutil.rmtree(clinic / "two")
    shown = run("ledger", "add", "x.ledger", "new.csv", "-o", "three")
    assert "give it next time as --head" in shown.stderr
    assert run("ledger", "start", "y", "broken", "--alpha", "1", "--head", head).exit_code == 2


@pytest.mark.parametrize(
    ("mode", "said"), [(0o640, "can read "), (0o604, "can read "), (0o622, "can change ")]
)
def test_a_ledger_that_others_get_at_is_warned_of_at_every_use(clinic, run, mode, said):
    (clinic / "x.ledger").chmod(mode)
    for command in (
        ("ledger", "add", "x.ledger", "new.csv", "--dry-run"),
        ("ledger", "add", "x.ledger", "new.csv", "--dry-run", "--quiet"),
        ("ledger", "headroom", "x.ledger"),
        ("ledger", "verify", "x.ledger"),
        ("ledger", "show", "x.ledger", "--log"),
    ):
        done = run(*command)
        assert done.exit_code == 0
        assert f"others on this machine {said}" in " ".join((done.stdout + done.stderr).split())
    (clinic / "x.ledger").chmod(0o600)
    assert "others on this" not in run("ledger", "headroom", "x.ledger").stderr


def test_a_ledger_does_not_start_from_a_release_that_does_not_verify(clinic, run):
    table = clinic / "broken" / "sensitive_ill.csv"
    lines = table.read_text().splitlines()
    lines[1] = lines[1].replace(",1", ",2")
    table.write_text("\n".join(lines) + "\n")
    done = run("ledger", "start", "y.ledger", "broken", "--alpha", "0.5", "-p", "policy.yaml")
    assert done.exit_code == 2
    assert not (clinic / "y.ledger").exists()
