"""Rows of an earlier increment that come again are told, and those that chance brings are not.

Of people without identifiers: the others are recognised one by one, see `test_people`.
"""

import sqlite3
from collections import Counter

import numpy as np
import pytest

import sfumato as sf
from sfumato.ledger import repeats, store
from sfumato.ledger.repeats import GivenRows, find_repeats, hash_texts
from tests.ledger.releases import START, grouped_of, table_of

ILLS, PAYS = ("flu", "gout", "hiv", "cold"), ("low", "high")


@pytest.fixture
def ledger(tmp_path):
    """A ledger with a policy, so that rows are given raw."""
    policy = sf.Policy(
        columns={
            "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [50]}},
            "ill": "sensitive",
            "pay": "sensitive",
        },
        models=[sf.models.KAnonymity(2)],
    )
    first = [("0-49", *row) for _, *row in START]
    return sf.Ledger.start(grouped_of(first), tmp_path / "x.ledger", alpha=0.9, policy=policy)


def people(n, seed):
    rng = np.random.default_rng(seed)
    return [(str(rng.integers(50)), ILLS[rng.integers(4)], PAYS[rng.integers(2)]) for _ in range(n)]


given = table_of


def told(done):
    return [warning for warning in done.warnings if "increment" in warning]


def test_most_rows_of_an_increment_given_again_are_told(ledger):
    march = people(60, 1)
    assert not told(ledger.publish(given(march)))
    [warning] = told(ledger.publish(given(march[:59])))
    assert "about 59 of the 59 rows given have the same values" in warning
    assert "of increment 2, more than chance explains" in warning


@pytest.mark.usefixtures("patience")
def test_so_are_some_among_others_and_before_anything_is_published(ledger):
    march = people(60, 1)
    ledger.publish(given(march))
    mixed = given([*march[:40], *people(40, 2)])
    [warning] = told(ledger.publish(mixed, dry_run=True))
    assert abs(int(warning.split()[1]) - 40) <= 4
    assert not told(ledger.publish(mixed, dry_run=True, again=True))
    assert told(ledger.publish(given(march[20:]), whole=True))


def test_people_with_identifiers_leave_no_sketch(tmp_path):
    """Who they are is known one by one; a sketch of their rows would only tell a thief more."""
    policy = sf.Policy(
        columns={"name": "identifier", "age": "quasi-identifier", "ill": "sensitive"},
        models=[sf.models.KAnonymity(2)],
    )
    first = [(f"n{i}", "20s", ILLS[i % 4]) for i in range(8)]
    names = ("name", "age", "ill")
    ledger = sf.Ledger.start(
        grouped_of([row[1:] for row in first], ("age",), ("ill",)),
        tmp_path / "y.ledger",
        alpha=0.9,
        policy=policy,
        source=table_of(first, names),
    )
    new = [(f"m{i}", "20s", ILLS[i % 4]) for i in range(8)]
    ledger.publish(table_of(new, names))
    done = ledger.publish(table_of(new[:7], names))
    assert (done.refused_rows, told(done)) == (7, [])
    with sqlite3.connect(ledger.path) as db:
        assert db.execute("SELECT COUNT(*) FROM sketches").fetchone() == (0,)
    db.close()


def test_rows_of_the_first_release_are_known_if_its_table_was_given(tmp_path, ledger):
    march = people(60, 1)
    policy = ledger.policy
    first = sf.decouple(sf.anonymize(given(march), policy))
    known = sf.Ledger.start(
        first, tmp_path / "y.ledger", alpha=0.9, policy=policy, source=given(march)
    )
    [warning] = told(known.publish(given(march[:59])))
    assert "of increment 1" in warning


def drawn(rng, values, n):
    """Return an increment drawn from a population in which some values are frequent."""
    share = 1 / np.arange(1, values + 1)
    rows = Counter(rng.choice(values, size=n, p=share / share.sum()).tolist())
    found = GivenRows()
    found.add(hash_texts("s", map(str, rows)), list(rows.values()))
    return found


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("values", [1, 3, 30, 1000, 100_000])
def test_other_people_of_the_same_kind_are_not_told(values, some):
    """Whether there are three kinds of rows or as many as people."""
    rng = np.random.default_rng(values)
    alarms = 0
    tries = some(40, of=400)
    for _ in range(tries):
        with sqlite3.connect(":memory:") as db:
            store.create_tables(db)
            sizes = rng.integers(20, 400, size=2)
            drawn(rng, values, int(sizes[0])).write(db, 2)
            alarms += bool(find_repeats(db, drawn(rng, values, int(sizes[1]))))
        db.close()
    assert alarms <= 0.02 * tries


def test_what_chance_brings_is_what_dealing_out_brings():
    """The textbook: shuffle all rows, deal them out, count what both have."""
    rng = np.random.default_rng(5)
    together = np.array([1] * 30 + [2] * 20 + [3] * 9 + [7] * 4 + [25])
    rows = np.repeat(np.arange(len(together)), together)
    n_new = 60
    common = []
    for _ in range(3000):
        dealt = rng.permutation(rows)
        new, old = (
            np.bincount(part, minlength=len(together)) for part in (dealt[:n_new], dealt[n_new:])
        )
        common.append(np.minimum(new, old).sum())
    mean, variance = repeats._common_by_chance(together, n_new / len(rows))
    assert abs(mean - np.mean(common)) < 0.3
    # Single draws are taken for independent, which can only ask for more before it is told.
    assert np.var(common) <= variance < 2 * np.var(common)


def test_a_sketch_fits_one_in_sixteen_others():
    with sqlite3.connect(":memory:") as db:
        store.create_tables(db)
        found = GivenRows()
        found.add(hash_texts("s", map(str, range(5000))), [1] * 5000)
        found.write(db, 2)
        [[buckets, placed]] = db.execute("SELECT buckets, rows FROM sketches").fetchall()
    db.close()
    others = hash_texts("s", map(str, range(10_000, 60_000))) % np.uint64(buckets)
    share = np.isin(others, np.frombuffer(placed, dtype="<u4")).mean()
    assert 1 / 18 < share < 1 / 15
    assert len(placed) == 4 * 5000
