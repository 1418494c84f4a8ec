"""Ledgers of other versions: refused with what to do, and left as they are."""

import sqlite3

import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.ledger import store
from tests.ledger.releases import START, grouped_of, table_of


@pytest.fixture
def ledger(tmp_path):
    path = tmp_path / "x.ledger"
    sf.Ledger.start(grouped_of(START), path, alpha=0.5, k=2)
    return path


def written_as(path, version):
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(f"PRAGMA user_version = {version}")
    db.close()
    return path.read_bytes()


@pytest.mark.parametrize("version", [1, 2])
def test_a_ledger_that_does_not_know_who_joined_when_is_not_added_to(ledger, version):
    before = written_as(ledger, version)
    with pytest.raises(InputError, match=f"is a ledger of format {version}. It does not") as error:
        sf.Ledger(ledger)
    assert "Start a new ledger from its last release of all tables" in str(error.value)
    assert "Nothing was changed" in str(error.value)
    with pytest.raises(InputError, match="can be beaten by comparing its releases"):
        sf.Ledger.open(ledger, alpha=0.5).publish(table_of(START))
    assert ledger.read_bytes() == before


@pytest.mark.parametrize("version", [0, store.FORMAT_OF_SEVERAL + 1])
def test_a_newer_ledger_is_left_alone(ledger, version):
    before = written_as(ledger, version)
    with pytest.raises(InputError, match="Install a newer Sfumato"):
        sf.Ledger(ledger)
    assert ledger.read_bytes() == before
