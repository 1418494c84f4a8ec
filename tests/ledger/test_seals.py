"""The hash of the file, and those of blocks: a ledger is checked fast, and no less."""

import sqlite3

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.ledger import chain, pending, store
from tests.ledger.releases import START, grouped_of, table_of

ROWS = [(ill, pay) for ill in ("flu", "gout", "hiv", "cold") for pay in ("low", "high")]


@pytest.fixture
def ledger(tmp_path):
    return sf.Ledger.start(grouped_of(START), tmp_path / "x.ledger", alpha=0.5, k=2)


def newcomers(*groups):
    return table_of([(group, *row) for group in groups for row in ROWS])


@pytest.fixture
def readings(monkeypatch):
    """How often everything in a ledger was read."""
    times = []
    faults = chain.faults

    def counting(db, head=None, *, thorough=True):
        times.append(thorough)
        return faults(db, head, thorough=thorough)

    monkeypatch.setattr(chain, "faults", counting)
    return times


@pytest.mark.usefixtures("patience")
def test_a_file_that_is_as_it_was_left_is_not_read_again(ledger, readings, tmp_path):
    ledger.publish(newcomers("20s"), output=tmp_path / "one")
    ledger.publish(newcomers("20s"), again=True, dry_run=True)
    ledger.publish(newcomers("30s", "40s"), output=tmp_path / "two")
    assert ledger.headroom().rooms
    assert len(ledger.history) == 3
    assert readings == []


def test_with_the_hash_that_was_kept_everything_is_read(ledger, readings):
    ledger.publish(newcomers("20s"), head=ledger.history[-1]["hash"])
    assert readings == [False]
    assert ledger.verify() == []
    assert readings == [False, True]


def test_another_layout_of_the_file_is_read_once(ledger, readings):
    with sqlite3.connect(ledger.path, isolation_level=None) as db:
        db.execute("VACUUM")
    db.close()
    ledger.publish(newcomers("20s"))
    assert readings == [False]
    ledger.publish(newcomers("30s"))
    assert readings == [False]


@pytest.mark.usefixtures("patience")
def test_an_interrupted_renaming_leaves_a_file_that_is_as_it_was_left(
    ledger, readings, tmp_path, monkeypatch
):
    monkeypatch.setattr(pending, "_rename", lambda *_: "interrupted")
    with pytest.raises(OSError, match="interrupted"):
        ledger.publish(newcomers("20s"), output=tmp_path / "one")
    monkeypatch.undo()
    ledger.publish(newcomers("30s"), output=tmp_path / "two")
    assert (tmp_path / "one").is_dir()
    assert ledger.verify() == []


def test_who_edits_a_cell_and_computes_the_hash_of_the_file_again_is_found(ledger):
    """By the hash that was kept, and by `verify`; from the file alone no forger is."""
    head = ledger.publish(newcomers("20s")).head
    with store.writing(ledger.path) as db:
        db.execute("UPDATE parts SET rows = rows + 1 WHERE cell_id = 1")
        chain.seal_file(db)
    with pytest.raises(InputError, match="the changes of release 1 are not those"):
        ledger.publish(newcomers("30s"), head=head)
    assert ledger.verify() == ["the changes of release 1 are not those that were published"]


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE file_seal SET hash = upper(hash)",
        # Another digit than it has, whichever that is.
        "UPDATE file_seal SET hash = iif(hash LIKE '0%', '1', '0') || substr(hash, 2)",
        "UPDATE seals SET hash = upper(hash) WHERE name = 'cells'",
        "DELETE FROM seals WHERE name = 'cells'",
        "INSERT INTO seals VALUES ('more', 1, '')",
        "UPDATE seals SET block = block + 1 WHERE name = 'cells'",
    ],
)
def test_edited_hashes_are_found(ledger, edit):
    with sqlite3.connect(ledger.path, isolation_level=None) as db:
        db.execute(edit)
    db.close()
    assert ledger.verify()
    with pytest.raises(InputError, match=r"seals?' "):
        ledger.publish(newcomers("20s"))


def test_a_file_that_is_too_large_for_memory_is_read(ledger, readings, monkeypatch):
    monkeypatch.setattr(chain, "_LARGEST", 1)
    ledger.publish(newcomers("20s"))
    ledger.publish(newcomers("30s"))
    assert readings == [False, False]
    assert ledger.verify() == []


@pytest.mark.usefixtures("patience")
def test_blocks_are_hashed_as_if_all_were_hashed_again(tmp_path):
    """Whatever joins, leaves, moves and is generalised: with more cells than are in a block."""
    columns = {
        "who": "identifier",
        "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10]}},
        "ill": "sensitive",
        "pay": "sensitive",
    }
    policy = sf.Policy(columns=columns, models=[sf.models.KAnonymity(2)])
    groups = [f"{10 * i}-{10 * i + 9}" for i in range(300)]
    first = grouped_of([(group, *row) for group in groups for row in ROWS])
    names = ("who", "age", "ill", "pay")
    people = [
        (f"first {i} {n}", str(10 * i), *row) for i in range(300) for n, row in enumerate(ROWS)
    ]
    ledger = sf.Ledger.start(
        first, tmp_path / "x.ledger", alpha=0.5, policy=policy, source=table_of(people, names)
    )
    rng = np.random.default_rng(1)
    for release in range(3):
        ages = rng.integers(3000, size=2)
        rows = [
            (f"{release} {age} {i}", str(age), *row) for age in ages for i, row in enumerate(ROWS)
        ]
        assert ledger.publish(table_of(rows, names)).admitted == 16
        assert ledger.verify() == []
        ledger.delete(table_of(rows[:8], names))
        assert ledger.verify() == []
        # Only of rows without a name is it noted that they were given.
        ledger.publish(table_of([(None, *row[1:]) for row in rows[:8]], names))
        assert ledger.verify() == []
    with store.reading(ledger.path) as db:
        blocks = dict(db.execute("SELECT name, COUNT(*) FROM seals GROUP BY name").fetchall())
        marks = {mark[:2] for [mark] in db.execute("SELECT fingerprint FROM given")}
    assert blocks["cells"] == 5
    assert blocks["people"] > 20
    # Fingerprints are drawn, and two of the six may fall into one block.
    assert blocks["given"] == len(marks) > 1


@pytest.mark.usefixtures("patience")
def test_an_increment_takes_no_more_steps_the_more_there_were(tmp_path, monkeypatch, some):
    """The check and all hashes included: counted in steps of the database."""
    steps, opened = [0], store._connect

    def counting(file):
        db = opened(file)
        db.set_progress_handler(lambda: steps.__setitem__(0, steps[0] + 1), 100)
        return db

    ledger = sf.Ledger.start(grouped_of(START), tmp_path / "x.ledger", alpha=0.5, k=2)
    taken = []
    for i in range(some(5, of=150)):
        monkeypatch.setattr(store, "_connect", counting)
        steps[0] = 0
        ledger.publish(newcomers(f"{i}0s"), again=True)
        taken.append(steps[0])
        monkeypatch.undo()
    # A block of 64 cells fills up, at little more than a hundred steps each; nothing else grows.
    assert max(taken) <= taken[1] + 100
