"""A ledger that was damaged or edited by hand is found out, whatever was edited, and not used."""

import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.ledger import chain, pending
from tests.ledger.releases import START, grouped_of, table_of

STATEMENTS = [
    "DELETE FROM parts WHERE cell_id = 1",
    "UPDATE parts SET counts = zeroblob(length(counts)) WHERE cell_id = 1",
    "UPDATE cells SET labels = '[\"90s\"]' WHERE id = 1",
    "UPDATE sensitive_values SET shown = '\"measles\"' WHERE id = 1",
    "UPDATE meta SET value = '0.9' WHERE key = 'alpha'",
    "UPDATE meta SET value = '1.0' WHERE key = 'alpha'",
    "UPDATE meta SET value = '1' WHERE key = 'k'",
    "UPDATE meta SET value = '\"\"' WHERE key = 'policy'",
    "UPDATE meta SET value = replace(value, 'k: 2', 'k: 1') WHERE key = 'policy'",
    "INSERT INTO meta VALUES ('later_hash', '1')",
    "DELETE FROM meta WHERE key = 'salt'",
    'UPDATE waiting SET row = \'["gout", "low"]\'',
    "DELETE FROM waiting",
    "UPDATE paths SET path = replace(path, '20', '30')",
    "DELETE FROM given",
    "DELETE FROM people",
    "UPDATE people SET left_it = 2",
    "DELETE FROM likenesses",
    "UPDATE likenesses SET person = likeness",
    "UPDATE cells SET parent = 1 WHERE id = 2",
    "UPDATE cells SET born = 2 WHERE id = 1",
    "UPDATE waiting SET person = '' WHERE kind = 'remove'",
    "DELETE FROM epochs",
    "DELETE FROM pending",
    "DELETE FROM labels",
    "INSERT INTO labels VALUES (0, '\"90s\"')",
    "INSERT INTO sensitive_values VALUES (99, 0, '\"plague\"', '\"plague\"')",
    "INSERT INTO given VALUES ('f', 2, 'now')",
    "INSERT INTO pending VALUES (2, '/from', '/to', '')",
    "INSERT INTO parts VALUES (9, 1, 0, 0, 1, x'0000000000000000')",
    "INSERT INTO parts VALUES (-1, 1, 1, 0, 1, x'0000000000000000')",
    "UPDATE parts SET rows = rows + 1, joined = joined + 1 WHERE cell_id = 1",
    "UPDATE releases SET entry = replace(entry, 'increment', 'excrement') WHERE sequence = 3",
    "UPDATE releases SET previous = '' WHERE sequence = 2",
    "DELETE FROM releases WHERE sequence = 4",
    "DELETE FROM releases",
    "CREATE TRIGGER grow AFTER INSERT ON releases BEGIN UPDATE meta SET value = '1'; END",
    "CREATE TABLE more (a)",
    "DROP INDEX parts_of_cell",
    "DROP TABLE people",
]


def given(rows, names=None):
    """Return rows of people with identifiers, or without."""
    return table_of(rows).append_column(
        "name", pa.array(names or [None] * len(rows), type=pa.string())
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A ledger with something in each of its tables."""
    folder = tmp_path_factory.mktemp("written")
    path = folder / "x.ledger"
    policy = sf.Policy(
        columns={
            "name": "identifier",
            "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10]}},
            "ill": "sensitive",
            "pay": "sensitive",
        },
        models=[sf.models.KAnonymity(2)],
    )
    first = [(f"{label[0]}0-{label[0]}9", *row) for label, *row in START]
    source = given([(row[0][:2], *row[1:]) for row in first], [f"n{i}" for i in range(7)] + ["n-7"])
    sf.Ledger.start(grouped_of(first), path, alpha=0.5, policy=policy, source=source)
    ledger = sf.Ledger(path)
    ledger.generalise({"age": 1})
    flu = ("21", "flu", "low")
    rows = [("22", "flu", "high"), ("23", "gout", "low"), flu, flu, flu]
    ledger.publish(given(rows, ["m0", "m1", "m2", None, None]), seed=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pending, "_rename", lambda *_: "interrupted")
        with pytest.raises(OSError, match="interrupted"):
            ledger.publish(
                given([("74", "flu", "high"), ("35", "flu", "low"), ("36", "gout", "high")]),
                delete=given([("20", *START[0][1:])], ["n0"]),
                output=folder / "two",
            )
    assert ledger.verify() == []
    assert not _empty_tables(path)
    return path


def _empty_tables(path):
    with sqlite3.connect(path) as db:
        names = [n for [n] in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        empty = [n for n in names if not db.execute(f"SELECT COUNT(*) FROM {n}").fetchone()[0]]
    db.close()
    return empty


@pytest.fixture
def ledger(written, tmp_path):
    return shutil.copy(written, tmp_path / "x.ledger")


def edit(path, *statements):
    db = sqlite3.connect(path, isolation_level=None)
    for statement, *values in (each if isinstance(each, tuple) else (each,) for each in statements):
        db.execute(statement, values)
    db.close()


def assert_useless(path):
    """Neither `publish` nor anything that shows what a ledger holds goes by it."""
    before = path.read_bytes()
    assert sf.Ledger(path).verify()
    new = given([("24", "cold", "high"), ("25", "hiv", "low")])
    for use in (
        lambda: sf.Ledger(path).publish(new, output=path.parent / "out"),
        lambda: sf.Ledger(path).publish(new, dry_run=True),
        lambda: sf.Ledger(path).headroom(),
        lambda: sf.Ledger(path).contents(),
        lambda: sf.Ledger(path).history,
        lambda: sf.Ledger(path).alpha,
    ):
        with pytest.raises(InputError, match="is damaged, or was edited: ") as error:
            use()
        assert "Nothing was changed. Restore" in str(error.value)
    assert not (path.parent / "out").exists()
    assert path.read_bytes() == before


@pytest.mark.parametrize("statement", STATEMENTS)
def test_an_edit_is_found_out_and_the_ledger_not_used(ledger, statement):
    edit(ledger, statement)
    assert_useless(ledger)


def cells(path):
    """Every cell of every table: the table, where its row is, and the column."""
    db = sqlite3.connect(path)
    names = [n for [n] in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in names:
        about = db.execute(f"PRAGMA table_info({table})").fetchall()
        columns = [name for _, name, *_ in about]
        key = [name for _, name, *_, place in about if place]
        for row in db.execute(f"SELECT * FROM {table}").fetchall():
            found = dict(zip(columns, row, strict=True))
            where = " AND ".join(f"{name} IS ?" for name in key)
            for column in columns:
                yield table, column, found[column], where, [found[name] for name in key]
    db.close()


@pytest.mark.usefixtures("patience")
def test_each_cell_of_each_table_is_covered(ledger, some):
    """Every cell is changed by itself, once to another of its type and once to another type."""
    original, tried = ledger.read_bytes(), set()
    every = list(cells(ledger))
    for table, column, value, where, key in every[:: some(1 + len(every) // 40, of=1)]:
        other = value + 1 if isinstance(value, int) else f"{value} "
        for changed in (other, b"\xff" if isinstance(value, str) else 1e300):
            ledger.write_bytes(original)
            try:
                edit(ledger, (f"UPDATE {table} SET {column} = ? WHERE {where}", changed, *key))
            except sqlite3.IntegrityError:
                continue
            tried.add((table, column))
            assert sf.Ledger(ledger).verify(), (table, column, value)
            with pytest.raises(InputError, match="is damaged"):
                sf.Ledger(ledger).publish(given([("24", "cold", "high")]), dry_run=True)
    assert len({table for table, _ in tried}) >= some(8, of=13)


def test_the_message_names_the_table(ledger):
    edit(ledger, "UPDATE sensitive_values SET shown = '\"measles\"' WHERE id = 1")
    with pytest.raises(InputError, match="the table 'sensitive_values' is not as it was written"):
        sf.Ledger(ledger).publish(given([("24", "cold", "high")]))


def test_edited_settings_are_found_after_a_release_was_added_on_them(ledger):
    """Settings are compared over all entries: what one entry took over, the first ones deny."""
    edit(ledger, "UPDATE meta SET value = '1.0' WHERE key = 'alpha'")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chain, "require_sound", lambda *_: None)
        sf.Ledger(ledger).publish(given([("24", "flu", "low")] * 3))
    assert sf.Ledger(ledger).verify() == ["the settings are not those the ledger was started with"]


def test_sizes_and_counts_edited_alike_are_found_out(ledger):
    """One person more, in every column: it adds up, and is not what was published."""
    with closing(sqlite3.connect(ledger)) as db:
        [packed] = db.execute("SELECT counts FROM parts WHERE cell_id = 1").fetchone()
    pairs = np.frombuffer(packed, "<u4").reshape(-1, 2).copy()
    pairs[[0, -1], 1] += 1
    change = "UPDATE parts SET joined = joined + 1, rows = rows + 1, counts = ? WHERE cell_id = 1"
    edit(ledger, (change, pairs.tobytes()))
    assert any("changes of release 1" in fault for fault in sf.Ledger(ledger).verify())
    reseal(ledger)
    assert sf.Ledger(ledger).verify() == []


@pytest.mark.parametrize("change", ["rows + 1", "joined + 1"])
def test_sizes_that_do_not_add_up_are_found_out_in_a_forged_chain(ledger, change):
    edit(ledger, f"UPDATE parts SET {change.split()[0]} = {change} WHERE cell_id = 1")
    reseal(ledger)
    assert any("do not" in fault for fault in sf.Ledger(ledger).verify())


def test_a_chain_that_was_cut_short_is_found_out_by_the_hash_that_was_kept(ledger, tmp_path):
    shorter = tmp_path / "y.ledger"
    sf.Ledger.start(grouped_of(START), shorter, alpha=0.5, k=2)
    last = sf.Ledger(ledger).publish(given([("74", "hiv", "high")])).head
    assert sf.Ledger(ledger).verify(last) == []
    assert sf.Ledger(shorter).verify() == []
    assert "the last hash is" in sf.Ledger(shorter).verify(last)[0]


def test_an_old_copy_is_refused_with_the_hash_that_was_kept(ledger, tmp_path):
    old = shutil.copy(ledger, tmp_path / "old.ledger")
    first = sf.Ledger(ledger).history[-1]["hash"]
    new = given([("24", "cold", "high"), ("25", "hiv", "low")])
    head = sf.Ledger(ledger).publish(new, head=first).head
    with pytest.raises(InputError, match="which no release has: it is an older copy"):
        sf.Ledger(old).publish(new, head=head, output=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert len(sf.Ledger(old).history) == 4
    with pytest.raises(InputError, match="that is the hash of release 4, and there are 5"):
        sf.Ledger(ledger).publish(given([("74", "hiv", "high")]), head=first)
    assert sf.Ledger(ledger).publish(given([("74", "hiv", "high")]), head=head).sequence == 6


@pytest.mark.usefixtures("patience")
def test_an_old_copy_is_refused_where_a_later_release_lies(ledger, tmp_path):
    """Without the hash, too: releases say of which ledger they are, and which."""
    old = shutil.copy(ledger, tmp_path / "old.ledger")
    new = given([("24", "cold", "high"), ("25", "hiv", "low")])
    folders = tmp_path / "releases"
    sf.Ledger(ledger).publish(new, output=folders / "april")
    with pytest.raises(
        InputError, match=r"is release 5 of this ledger, which has only 4: .* older"
    ):
        sf.Ledger(old).publish(new, output=folders / "april again")
    assert [path.name for path in folders.iterdir()] == ["april"]
    assert len(sf.Ledger(old).history) == 4
    more = given([("26", "gout", "high"), ("27", "hiv", "low")])
    assert sf.Ledger(ledger).publish(more, output=folders / "may").sequence == 6
    other = sf.Ledger.start(grouped_of(START), tmp_path / "other.ledger", alpha=0.5, k=2)
    rows = table_of([("20s", "cold", "high"), ("20s", "hiv", "low")])
    assert other.publish(rows, output=folders / "other").sequence == 2


@pytest.mark.usefixtures("patience")
def test_what_an_interrupted_publish_left_is_no_later_release(ledger, tmp_path):
    new = given([("24", "cold", "high"), ("25", "hiv", "low")])
    folders = tmp_path / "releases"
    with pytest.MonkeyPatch.context() as patch:
        # Killed after the folder is staged, before the ledger is committed: nothing is removed.
        patch.setattr(chain, "append", lambda *_: 1 / 0)
        patch.setattr(shutil, "rmtree", lambda *_, **__: None)
        with pytest.raises(ZeroDivisionError):
            sf.Ledger(ledger).publish(new, output=folders / "april")
    [left] = folders.iterdir()
    assert (left / "manifest.json").is_file()
    shutil.copytree(left, folders / ".april.of-another.unfinished")
    assert sf.Ledger(ledger).publish(new, output=folders / "april").sequence == 5


def test_a_forged_chain_is_refused_with_the_hash_that_was_kept(ledger):
    head = sf.Ledger(ledger).history[-1]["hash"]
    edit(ledger, "UPDATE meta SET value = '1.0' WHERE key = 'alpha'")
    reseal(ledger)
    assert sf.Ledger(ledger).verify() == []  # It cannot be found out from the file alone.
    assert sf.Ledger(ledger).verify(head)
    with pytest.raises(InputError, match="it was rewritten"):
        sf.Ledger(ledger).publish(given([("24", "cold", "high")]), head=head)


def reseal(path):
    """Compute all hashes again, as a forger does who knows this program."""
    with sqlite3.connect(path, isolation_level=None) as db:
        # Together: each statement by itself would wait for the disk.
        db.execute("BEGIN")
        entries = [chain.read_entry(text) for [text] in db.execute("SELECT entry FROM releases")]
        db.execute("DELETE FROM releases")
        chain.put(db, "head", "")
        for entry in entries:
            derived = ("settings", "history", "tables", "pending")
            chain.append(db, {key: v for key, v in entry.items() if key not in derived})
    db.close()


def test_a_copy_made_by_another_tool_is_the_same_ledger(ledger):
    edit(ledger, "VACUUM")
    assert sf.Ledger(ledger).verify() == []
