"""An increment costs what it is large, not what the ledger is: counted in steps of the database.

Besides, the bytes of the ledger are hashed before and after, to find them as they were left: that
is no step of the database.
"""

import pytest

import sfumato as sf
from sfumato.ledger import store
from tests.ledger.releases import grouped_of, table_of

GROUP = [("flu", "low"), ("gout", "low"), ("hiv", "high"), ("cold", "high")]
NEW = [("7", "flu", "low"), ("7", "gout", "high"), ("9", "hiv", "low"), ("9", "cold", "high")]


@pytest.fixture
def steps(monkeypatch):
    """Count the database's own instructions, in hundreds."""
    taken = [0]
    opened = store._connect

    def counting(file):
        db = opened(file)

        def step():
            taken[0] += 1
            return 0

        db.set_progress_handler(step, 100)
        return db

    monkeypatch.setattr(store, "_connect", counting)
    return taken


def cost(folder, steps, groups, *, waiting=0):
    path = folder / f"{groups}-{waiting}.ledger"
    rows = [(str(g), *row) for g in range(10, groups) for row in GROUP]
    rows += [(g, *row) for g in ("7", "9") for row in GROUP]
    sf.Ledger.start(grouped_of(rows), path, alpha=0.5, k=2)
    if waiting:
        sf.Ledger(path).publish(table_of([(f"new {i}", "flu", "low") for i in range(waiting)]))
    steps[0] = 0
    done = sf.Ledger(path).publish(table_of(NEW))
    assert done.admitted == 4
    return steps[0]


@pytest.mark.usefixtures("patience")
def test_the_steps_do_not_grow_with_the_ledger(tmp_path, steps):
    small, large = (cost(tmp_path, steps, groups) for groups in (12, 3000))
    assert small > 0
    # The hashes of blocks of 64 cells are hashed, a few steps each.
    assert large <= small + 15


@pytest.mark.usefixtures("patience")
def test_nor_with_what_waits_elsewhere(tmp_path, steps):
    few, many = (cost(tmp_path, steps, 12, waiting=n) for n in (1, 500))
    # What goes over all rows that wait, in half a hundred steps each: they are hashed, and looked
    # through for how many there are, how many of them want to leave, and how values are spelt.
    assert many <= few + 250


@pytest.mark.usefixtures("patience")
def test_they_grow_with_the_increment(tmp_path, steps):
    path = tmp_path / "x.ledger"
    rows = [(str(g), *row) for g in range(200) for row in GROUP]
    sf.Ledger.start(grouped_of(rows), path, alpha=0.5, k=2)
    taken = []
    for groups in (2, 100):
        new = [(str(g), *row) for g in range(groups) for row in GROUP]
        steps[0] = 0
        assert sf.Ledger(path).publish(table_of(new)).admitted == 4 * groups
        taken.append(steps[0])
    assert taken[1] > 5 * taken[0]
