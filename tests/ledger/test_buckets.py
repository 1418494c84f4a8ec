"""A ledger of Anatomy: what it starts from, who joins and leaves, and what its releases hold."""

import csv
import json
import random
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.app import app
from sfumato.errors import InputError, ParameterError
from sfumato.ledger.matching import find_buckets
from sfumato.ledger.waiting import smallest_lot

NAMES = ("patient", "age", "sex", "ill")
POLICY = {
    "version": 1,
    "columns": {
        "patient": "identifier",
        "age": "quasi-identifier",
        "sex": "quasi-identifier",
        "ill": "sensitive",
    },
    "models": [{"model": "probabilistic-l-diversity", "column": "ill", "l": 2}],
}


def table(rows):
    return pa.table(dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True)))


FIRST = [(f"p{i}", 20 + i // 2, "fm"[i % 2], "abcdef"[i % 6]) for i in range(30)]


def newcomers(ills, first="n", age=50):
    return [(f"{first}{i}", age + i, "f", ill) for i, ill in enumerate(ills)]


@pytest.fixture
def first(tmp_path):
    where = tmp_path / "first"
    way = {"method": "anatomy", "l": 3}
    sf.decouple(table(FIRST), way, policy=POLICY, output=where, format="csv")
    return where


def start(folder, first, name="x.ledger", **more):
    more = {"alpha": 0.34, "policy": POLICY, "source": table(FIRST)} | more
    return sf.Ledger.start(first, folder / name, **more)


def read(folder):
    """Return the rows of each bucket, and its values."""
    rows, values = {}, {}
    with (folder / "qi.csv").open() as file:
        for bucket, *row in list(csv.reader(file))[1:]:
            rows.setdefault(int(bucket), []).append(tuple(row))
    with (folder / "sensitive_ill.csv").open() as file:
        for bucket, value, n in list(csv.reader(file))[1:]:
            values.setdefault(int(bucket), Counter())[value] += int(n)
    return rows, values


def test_each_person_of_the_first_release_is_found_in_a_bucket(tmp_path, first):
    ledger = start(tmp_path, first)
    rows, values = read(first)
    where = ledger.find([row[0] for row in FIRST])
    for bucket, people in rows.items():
        mine = [row for row, each in zip(FIRST, where, strict=True) if each.group == bucket]
        assert Counter(people) == Counter((str(age), sex) for _, age, sex, _ in mine)
        assert values[bucket] == Counter(row[3] for row in mine)
    assert ledger.k == 3
    assert ledger.quasi_identifiers == ("age", "sex")
    assert ledger.verify() == []


@pytest.mark.usefixtures("patience")
def test_newcomers_get_buckets_of_their_own(tmp_path, first):
    ledger = start(tmp_path, first)
    given = newcomers("abcdefabbbbb")
    done = ledger.publish(table([*given, FIRST[0]]), output=tmp_path / "second")
    rows, values = read(tmp_path / "second")
    # Six b of twelve are too many for buckets of three: others wait.
    assert (done.admitted, done.waiting, done.refused_rows) == (9, 3, 1)
    assert {"f"} == {sex for people in rows.values() for _, sex in people}
    assert all(len(people) >= 3 and max(values[b].values()) == 1 for b, people in rows.items())
    assert not rows.keys() & read(first)[0].keys()
    assert sf.verify(tmp_path / "second").verdict.holds
    assert {each.why for each in done.held} == {"a value is too frequent among the newcomers"}
    assert str(done).count("any bucket") == 2
    later = ledger.publish(table(newcomers("acdefa", "m")), output=tmp_path / "third")
    assert (later.admitted, later.waiting) == (9, 0)
    assert len(later.tables) == 3
    assert ledger.contents().tables.total == 48
    assert ledger.headroom().cell == 3


@pytest.mark.usefixtures("patience")
def test_values_that_say_nothing_hide_nobody(tmp_path, first):
    ledger = start(tmp_path, first)
    ills = ["a", "b", "c", None, None, "unknown", "unknown", "unknown"]
    done = ledger.publish(table(newcomers(ills)), output=tmp_path / "second")
    _, values = read(tmp_path / "second")
    [bucket] = values.values()
    assert bucket == Counter({"a": 1, "b": 1, "c": 1, "": 2, "unknown": 1})
    assert (done.admitted, done.waiting) == (6, 2)
    done = ledger.publish(table(newcomers([None] * 6, "m")))
    assert done.admitted == 0
    assert ledger.verify() == []


@pytest.mark.usefixtures("patience")
def test_a_bucket_leaves_as_a_whole(tmp_path, first):
    ledger = start(tmp_path, first)
    buckets = {}
    for row, each in zip(FIRST, ledger.find([row[0] for row in FIRST]), strict=True):
        buckets.setdefault(each.group, []).append(row)
    (one, people), (other, more) = list(buckets.items())[:2]
    done = ledger.delete(table(people[:-1]), output=tmp_path / "2")
    assert (done.left, done.waiting, (tmp_path / "2").exists()) == (0, len(people) - 1, False)
    assert "2 of 3 asked to" in str(done)
    # Who returns never left; then all of them leave.
    assert ledger.publish(table(people[:1]), dry_run=True, again=True).withdrawn == 1
    done = ledger.delete(table(people[-1:]), output=tmp_path / "3")
    assert (done.left, done.others, done.gone) == (len(people), 0, (one,))
    manifest = json.loads((tmp_path / "3" / "manifest.json").read_text())
    assert manifest["increment"]["withdrawn"] == [one]
    assert sf.verify(tmp_path / "3").verdict.holds
    done = ledger.delete(table(more[:1]), at_once=True)
    assert (done.left, done.others, done.gone) == (1, len(more) - 1, (other,))
    again = ledger.publish(table([*more, *newcomers("abc")]))
    assert (again.refused_rows, again.admitted) == (len(more), 3)
    assert ledger.verify() == []


def test_what_was_published_is_not_corrected(tmp_path, first):
    ledger = start(tmp_path, first)
    ledger.publish(table(newcomers("aa")))
    wrong = {"patient": ["p0", "n0"], "age": [20, 51], "sex": ["f", "f"], "ill": ["z", "b"]}
    done = ledger.correct(pa.table({**wrong, "old_ill": ["a", "a"], "old_age": [20, 50]}))
    [refused] = done.refused
    assert (refused.who, "never changes" in refused.why) == ("p0", True)
    done = ledger.publish(table(newcomers("c", "m")), output=tmp_path / "2")
    rows, values = read(tmp_path / "2")
    assert Counter(*values.values()) == Counter("abc")
    assert ("51", "f") in next(iter(rows.values()))


def test_people_without_a_name_can_join_and_cannot_leave(tmp_path, first):
    ledger = start(tmp_path, first, policy=None, source=None)
    new = table(newcomers("abcdd")).drop(["patient"])
    done = ledger.publish(new)
    assert (done.admitted, done.waiting) == (5, 0) or done.waiting == 1
    done = ledger.delete(new.slice(0, 1))
    assert "without an identifier" in done.refused[0].why
    assert ledger.verify() == []


def test_nothing_exact_stays_of_who_is_gone(tmp_path, first):
    ledger = start(tmp_path, first)
    ledger.publish(table([("secret-name", 8_765_432, "f", "rare")]))
    assert b"8765432" in ledger.path.read_bytes()  # It waits, as it will be published.
    ledger.delete(table([("secret-name", 8_765_432, "f", "rare")]))
    for trace in (b"8765432", b"secret-name", b"rare"):
        assert trace not in ledger.path.read_bytes()


@pytest.mark.usefixtures("patience")
def test_who_waits_is_hidden_in_lots(tmp_path, first):
    ledger = start(tmp_path, first, hide_waiting=True)
    least = smallest_lot(ledger._settings.limit, 3)
    lot = newcomers("abcdef" * 6)[:least]
    assert ledger.publish(table(lot[:-1])).waiting == least - 1
    done = ledger.publish(table(lot[-1:]), seed=1)
    assert (done.admitted, done.aside, done.told) == (least, 0, None)
    done = ledger.publish(table(newcomers("a" * least, "m")))
    assert (done.admitted, done.aside) == (0, least)
    assert b"[5" not in ledger.path.read_bytes()  # No row of who is set aside is kept.
    assert ledger.verify() == []


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"alpha": 0.2}, "in 10 of 10 buckets a value exceeds alpha 0.2 already"),
        ({"source": table(FIRST[:-1])}, "in which bucket each of the 30 people"),
        ({"source": table([*FIRST[:-1], FIRST[0]])}, "30 rows of 29 people"),
    ],
)
def test_what_it_does_not_start_with(tmp_path, first, given, what):
    with pytest.raises(InputError, match=what):
        start(tmp_path, first, **given)
    assert not (tmp_path / "x.ledger").exists()


def test_buckets_are_as_diverse_as_alpha_needs(tmp_path, first):
    with pytest.raises(ParameterError, match="k must be 3 or more"):
        start(tmp_path, first, k=2)
    assert start(tmp_path, first, "y", k=5).k == 5
    assert start(tmp_path, first, "z", alpha=0.2, above=True).k == 5


def test_generalised_values_are_not_mixed_with_exact_ones(tmp_path):
    ages = {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10]}}
    columns = {**POLICY["columns"], "age": {**ages, "levels": [1, 1]}}
    policy = {**POLICY, "columns": columns}
    made = sf.decouple(sf.anonymize(table(FIRST), policy), {"method": "anatomy", "l": 2})
    with pytest.raises(InputError, match="was generalised before people were dealt"):
        start(tmp_path, made, policy=policy, alpha=0.5)


@pytest.mark.parametrize("asked", [{"whole": True}, {"say_left": True}])
def test_all_tables_cannot_be_written(tmp_path, first, asked):
    ledger = start(tmp_path, first)
    with pytest.raises(InputError, match="keeps no row"):
        ledger.publish(table(newcomers("abc")), **asked)
    with pytest.raises(InputError, match="there is no level"):
        ledger.generalise({"age": 1})


@pytest.mark.usefixtures("patience")
def test_parquet_and_the_command_line(tmp_path, first, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pq.write_table(table(newcomers("abcabc")), "new.parquet")
    ledger = start(tmp_path, first)
    run = CliRunner().invoke(app, ["ledger", "add", "x.ledger", "new.parquet", "-o", "second"])
    assert run.exit_code == 0, run.output
    assert "6 rows admitted" in run.output
    pq.write_table(table(newcomers("a")), "old.parquet")
    asked = ["ledger", "remove", "x.ledger", "old.parquet", "--at-once", "-o", "third"]
    run = CliRunner().invoke(app, asked)
    assert "2 others withdrawn with them" in run.output
    assert "Withdrawn: bucket '" in run.output
    for command in ("show", "headroom", "verify"):
        assert CliRunner().invoke(app, ["ledger", command, "x.ledger"]).exit_code == 0
    assert ledger.overview().to_dict()["waiting"] == 0


# Who is in which bucket.


def count(*columns):
    found, times = np.unique(np.stack(columns), axis=1, return_counts=True)
    return (*found.astype(np.int64), times.astype(np.int64))


@pytest.mark.parametrize("people", [1, 6, 40])
def test_people_are_found_in_buckets(people):
    """Every bucket then has its people and its values, and everybody is in one."""
    for seed in range(20):
        draw = random.Random(seed)
        rows = [
            (bucket, draw.randrange(people), value)
            for bucket in range(draw.randint(1, 8))
            for value in draw.sample(range(5), draw.randint(2, 3))
        ]
        bucket, known, value = (np.array(each) for each in zip(*rows, strict=True))
        kinds = count(known, value)
        rng = np.random.default_rng(seed)
        found = find_buckets(count(bucket, known), count(bucket, value), kinds, rng)
        assert found is not None
        every = np.repeat(np.arange(len(found.people)), found.people)
        where, kind = found.bucket[every], found.kind[every]
        for mine, right in (
            (count(where, kinds[0][kind]), count(bucket, known)),
            (count(where, kinds[1][kind]), count(bucket, value)),
            (count(kinds[0][kind], kinds[1][kind]), kinds),
        ):
            assert all(map(np.array_equal, mine, right))


def test_people_of_another_table_are_not_found():
    one = np.array([0, 0]), np.array([0, 1]), np.array([1, 1])
    kinds = np.array([0, 1]), np.array([0, 2]), np.array([1, 1])
    assert find_buckets(one, one, kinds, np.random.default_rng()) is None
    fewer = np.array([0]), np.array([0]), np.array([1])
    assert find_buckets(one, one, fewer, np.random.default_rng()) is None
