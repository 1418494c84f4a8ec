"""Who is counted although they left: a release says how many, and estimates follow."""

import json
from itertools import combinations

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.usefulness.answers import Staying

NAMES = ("patient", "age", "ill")
POLICY = {
    "version": 1,
    "columns": {
        "patient": "identifier",
        "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10]}},
        "ill": "sensitive",
    },
    "models": [{"model": "k-anonymity", "k": 4}],
}
ILLS = ("flu", "gout", "asthma", "ulcer")
FIRST = [(f"p{i}", 30 + i % 10 + i // 12 * 10, ILLS[i % 4]) for i in range(20)]


def table(rows):
    return pa.table(dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True)))


@pytest.fixture
def ledger(tmp_path):
    made = sf.decouple(sf.anonymize(table(FIRST), POLICY, seed=1), "break-merge", seed=1)
    return sf.Ledger.start(made, tmp_path / "x", alpha=0.5, policy=POLICY, source=table(FIRST))


@pytest.mark.usefixtures("patience")
def test_a_release_says_how_many_left_and_estimates_follow(tmp_path, ledger):
    """Three of those with flu left: by trying out who they are, no other number is possible."""
    gone = FIRST[:3]
    out = tmp_path / "r2"
    ledger.delete(table(gone), output=out, say_left=True)
    record = json.loads((out / "manifest.json").read_text())["increment"]
    assert record["left"] == [{"group": ["30 to 39"], "people": 3}]
    found = sf.estimate(out, {"ill": "flu"})
    here = [row for row in FIRST if row[1] < 40]
    there = len(FIRST) - len(here)
    flu = [sum(row[2] == "flu" for row in rows) for rows in (here, FIRST[len(here) :])]
    possible = {
        sum(row[2] == "flu" for row in here if row not in way) + flu[1]
        for way in combinations(here, 3)
    }
    assert (found.staying.least, found.staying.most) == (min(possible), max(possible))
    assert found.staying.rows == len(FIRST) - 3
    assert found.staying.estimate == pytest.approx(flu[0] * (1 - 3 / len(here)) + flu[1])
    assert "Of the 17 who have not left about" in str(found)
    assert found.to_dict()["staying"] == found.staying._asdict()
    # Of two columns, and of a group in which nobody left.
    both = sf.estimate(out, {"age": (40, 49), "ill": "flu"})
    assert both.staying == Staying(flu[1], 17, flu[1], flu[1])
    assert there == 8
    assert sf.verify(out).answer != "no"
    assert ledger.verify() == []


def test_nothing_is_said_unless_it_is_asked_for(tmp_path, ledger):
    ledger.delete(table(FIRST[:3]), output=tmp_path / "r2")
    assert "left" not in json.loads((tmp_path / "r2" / "manifest.json").read_text())["increment"]
    assert sf.estimate(tmp_path / "r2", {"ill": "flu"}).staying is None


@pytest.mark.parametrize("left", [[{"group": ["30 to 39"], "people": 13}],
                                  [{"group": ["50 to 59"], "people": 1}],
                                  [{"group": ["30 to 39"], "people": 1}] * 2])  # fmt: skip
def test_more_people_than_a_group_has_are_not_believed(tmp_path, ledger, left):
    out = tmp_path / "r2"
    ledger.delete(table(FIRST[:3]), output=out, say_left=True)
    assert sf.verify(out).answer != "no"
    text = json.loads((out / "manifest.json").read_text())
    text["increment"]["left"] = left
    (out / "manifest.json").write_text(json.dumps(text))
    assert sf.verify(out).answer == "no"
