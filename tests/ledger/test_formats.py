"""Ledgers that an earlier version wrote: checked by what they have, upgraded by a publish."""

import sqlite3
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.ledger import store
from tests.ledger.releases import table_of

HEAD = "0c9b4607d63e3fdeb5c72d926b4291c462b236d60d5dcb0dc3b77d035574b366"
NEW = table_of([("24", "cold", "high"), ("25", "hiv", "low")])


@pytest.fixture
def ledger(tmp_path):
    """A ledger as version 0.1.0 wrote it."""
    path = tmp_path / "x.ledger"
    db = sqlite3.connect(path)
    db.executescript(Path(__file__).with_name("format1.sql").read_text())
    db.execute(f"PRAGMA application_id = {store.MARK}")
    db.execute("PRAGMA user_version = 1")
    db.close()
    path.chmod(0o600)
    return path


def version(path):
    db = sqlite3.connect(path)
    [found] = db.execute("PRAGMA user_version").fetchone()
    db.close()
    return found


def test_an_older_ledger_is_read_as_it_is(ledger):
    before = ledger.read_bytes()
    found = sf.Ledger(ledger)
    assert found.verify() == []
    assert found.verify(HEAD) == []
    assert found.verify("0" * 64)
    assert (found.alpha, len(found.history), found.contents().waiting) == (0.5, 3, 1)
    assert found.headroom().groups == 2
    assert found.publish(NEW, dry_run=True).admitted == 2
    assert ledger.read_bytes() == before


def test_it_is_upgraded_by_the_next_publish(ledger):
    found = sf.Ledger(ledger)
    tables = found.contents().tables.total
    done = found.publish(NEW, head=HEAD)
    assert (done.sequence, done.admitted) == (4, 2)
    assert version(ledger) == store.FORMAT
    assert found.verify(done.head) == []
    assert found.contents().tables.total == tables + 2
    assert [entry["rows"]["joined"] for entry in found.history] == [8, 2, 0, 2]
    with pytest.raises(InputError, match="given before, as increment 4"):
        found.publish(NEW)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE meta SET value = '1.0' WHERE key = 'alpha'",
        "UPDATE counts SET rows = rows + 1",
        "UPDATE changes SET rows = rows + 1",
        "DELETE FROM waiting",
        "UPDATE paths SET path = '[]'",
        "DELETE FROM given",
        "UPDATE releases SET entry = '{}' WHERE sequence = 1",
        "UPDATE releases SET entry = 'x' WHERE sequence = 1",
        "UPDATE groups SET labels = '[\"90s\"]' WHERE id = 1",
        "CREATE TABLE more (a)",
        "PRAGMA user_version = 2",
    ],
)
def test_it_is_not_upgraded_if_it_was_edited(ledger, statement):
    db = sqlite3.connect(ledger, isolation_level=None)
    db.execute(statement)
    db.close()
    assert sf.Ledger(ledger).verify()
    with pytest.raises(InputError, match="is damaged, or was edited"):
        sf.Ledger(ledger).publish(NEW)


def test_a_newer_ledger_is_left_alone(ledger):
    db = sqlite3.connect(ledger, isolation_level=None)
    db.execute(f"PRAGMA user_version = {store.FORMAT + 1}")
    db.close()
    with pytest.raises(InputError, match="Install a newer Sfumato"):
        sf.Ledger(ledger)
