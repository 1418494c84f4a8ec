"""Addresses that are mistyped: the message names known ones, and no password is shown anywhere."""

import pytest

import sfumato as sf
from sfumato.errors import InputError, SfumatoError, hide_passwords

POLICY = "columns: {age: quasi-identifier}\nmodels: [{model: k-anonymity, k: 2}]\n"

ADDRESSES = [
    "postgre://ann:hunter2@db/clinic?table=people",
    "postgres:/ann:hunter2@db/clinic?table=people",
    " postgres://ann:hunter2@db/clinic?table=people",
    "\tPOSTGRESQL://ann:hunter2@db/clinic?table=people",
    "POSTGRES:ann:hunter2@db/clinic",
    "mysql://ann:hunter2@db/clinic?table=people",
    "mysql://ann:hun/ter2@db/clinic?table=people",
    "mysql://ann:p@ss:hunter2@db/clinic?table=people",
    "mysql://ann:hunter2 and hunter2@db/clinic",
    "ann:hunter2@db/clinic",
    "mssql+pyodbc://ann:hunter2@db/clinic",
    "jdbc:postgresql://ann:hunter2@db/clinic",
    "jdbc:oracle:thin:ann/hunter2@db:1521:clinic",
    "jdbc:sqlserver://db;user=ann;password=hunter2;encrypt=true",
    "postgre://db/clinic?user=ann&password=hunter2&table=people",
    "s3://ann:hunter2@bucket/people.csv",
]

COMMANDS = [
    ("inspect", "{}"),
    ("init", "{}"),
    ("verify", "{}", "--qi", "age"),
    ("verify", "t.csv", "--qi", "age", "--outside", "{}"),
    ("anonymize", "{}", "-p", "p.yaml", "-o", "out"),
    ("anonymize", "t.csv", "-p", "p.yaml", "-o", "{}"),
    ("anonymize", "t.csv", "-p", "{}", "-o", "out"),
    ("decouple", "{}", "--qi", "age", "--sensitive", "ill", "-o", "out"),
    ("ledger", "add", "l", "{}"),
    ("ledger", "add", "{}", "t.csv"),
    ("ledger", "verify", "{}"),
    ("report", "{}"),
    ("check-evidence", "{}"),
    ("sign", "{}", "--key", "k"),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("age\n30\n30\n")
    (tmp_path / "p.yaml").write_text(POLICY)
    return tmp_path


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("command", COMMANDS, ids=lambda each: " ".join(each[:5]))
def test_no_command_shows_the_password_of_a_mistyped_address(folder, run, command):
    for address in ADDRESSES:
        result = run(*(part.format(address) for part in command))
        assert result.exit_code == 2, (address, result.stderr)
        assert "ter2" not in result.stdout + result.stderr, (address, result.stderr)
    assert sorted(each.name for each in folder.iterdir()) == ["p.yaml", "t.csv"]


@pytest.mark.parametrize("address", ADDRESSES)
def test_the_message_names_what_is_known(address, folder):
    for call in (
        lambda: sf.inspect(address),
        lambda: sf.anonymize("t.csv", "p.yaml", output=address),
    ):
        with pytest.raises(InputError) as caught:
            call()
        text = str(caught.value)
        assert "postgres://user@host/database?table=people" in text
        assert "ter2" not in repr(caught.value.args)


def test_the_nearest_is_suggested(folder):
    with pytest.raises(
        InputError, match=r"no database is called 'postgre'\. Did you mean 'postgres"
    ):
        sf.inspect(ADDRESSES[0])
    with pytest.raises(InputError, match=r"begins with a blank"):
        sf.inspect(ADDRESSES[2])


def test_a_file_may_be_called_like_an_address(folder):
    (folder / "data:").mkdir()
    (folder / "data:" / "t.csv").write_text("age\n30\n30\n")
    assert sf.inspect("data:/t.csv", quasi_identifiers=["age"]).rows == 2


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_error_of_ours_holds_a_password(address):
    for text in (f"cannot write {address!r}: it exists", f"{address}: no", address):
        assert "ter2" not in str(SfumatoError(text))


def test_other_texts_stay_as_they_are():
    for text in (
        "column 'mail' holds ann@x.org",
        "line 3: the row has 2 cells",
        "see https://example.org/x?a=1",
        "duckdb:///people.db?table=t",
        "Write an address as in postgres://user@host/database?table=people",
    ):
        assert hide_passwords(text) == text
