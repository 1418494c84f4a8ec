"""A ledger that was edited by hand is found out, whatever was edited."""

import sqlite3

import pytest

import sfumato as sf
from tests.ledger.releases import START, grouped_of, table_of

STATEMENTS = [
    "UPDATE counts SET rows = rows + 1",
    "DELETE FROM counts WHERE group_id = 1",
    "UPDATE groups SET rows = rows + 1 WHERE id = 1",
    "UPDATE groups SET labels = '[\"90s\"]' WHERE id = 1",
    "UPDATE groups SET label = 1 WHERE id = 1",
    "UPDATE changes SET rows = rows + 1 WHERE sequence = 2",
    "UPDATE sensitive_values SET value = '\"measles\"' WHERE id = 1",
    "UPDATE moves SET joined = joined + 1 WHERE sequence = 2",
    "UPDATE meta SET value = '0.9' WHERE key = 'alpha'",
    "UPDATE meta SET value = '1' WHERE key = 'k'",
    "UPDATE meta SET value = 'x' WHERE key = 'head'",
    "UPDATE waiting SET rows = rows + 1",
    'UPDATE waiting SET row = \'["gout", "low"]\'',
    "DELETE FROM waiting",
    "UPDATE paths SET path = replace(path, '20s', '30s')",
    "DELETE FROM given",
    "UPDATE releases SET entry = replace(entry, 'increment', 'excrement') WHERE sequence = 2",
    "UPDATE releases SET previous = '' WHERE sequence = 2",
    "UPDATE releases SET hash = hex(randomblob(32)) WHERE sequence = 1",
    "DELETE FROM releases WHERE sequence = 3",
]


@pytest.fixture
def ledger(tmp_path):
    path = tmp_path / "x.ledger"
    policy = sf.Policy(
        columns={"age": "quasi-identifier", "ill": "sensitive", "pay": "sensitive"},
        models=[sf.models.KAnonymity(2)],
    )
    sf.Ledger.start(grouped_of(START), path, alpha=0.5, policy=policy)
    sf.Ledger(path).publish(table_of([("20s", "flu", "high"), ("20s", "gout", "low")]))
    sf.Ledger(path).publish(table_of([("70s", "flu", "high")]))
    assert sf.Ledger(path).verify() == []
    return path


def edit(path, *statements):
    db = sqlite3.connect(path)
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()


@pytest.mark.parametrize("statement", STATEMENTS)
def test_an_edit_is_found_out(ledger, statement):
    edit(ledger, statement)
    assert sf.Ledger(ledger).verify()


def test_counts_and_changes_edited_alike_are_found_out(ledger):
    edit(
        ledger,
        "UPDATE changes SET rows = rows + 1 WHERE sequence = 1 AND group_id = 1",
        "UPDATE counts SET rows = rows + 1 WHERE group_id = 1",
    )
    assert any("changes of release 1" in fault for fault in sf.Ledger(ledger).verify())


def test_a_chain_that_was_cut_short_is_found_out_by_the_hash_that_was_kept(ledger, tmp_path):
    shorter = tmp_path / "y.ledger"
    sf.Ledger.start(grouped_of(START), shorter, alpha=0.5, k=2)
    last = sf.Ledger(ledger).publish(table_of([("70s", "flu", "high")]), again=True).head
    assert sf.Ledger(ledger).verify(last) == []
    assert sf.Ledger(shorter).verify() == []
    assert "the last hash is" in sf.Ledger(shorter).verify(last)[0]
