"""Values that say nothing, such as `unknown`, hide nobody: alpha is of those that are said."""

import random
from fractions import Fraction

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError
from tests.ledger.releases import cells_of

POLICY = {
    "version": 1,
    "columns": {
        "patient": "identifier",
        "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10]}},
        "ill": "sensitive",
    },
    "models": [{"model": "k-anonymity", "k": 4}],
}
FIRST = [(f"p{i}", 30 + i % 10, ("flu", "gout", "asthma", "ulcer")[i % 4]) for i in range(12)]
SILENT = ("unknown", "k. A.", "?")


def table(rows):
    columns = map(list, zip(*rows, strict=True))
    return pa.table(dict(zip(("patient", "age", "ill"), columns, strict=True)))


def those(ledger, rows, flag):
    """Return the rows of people of whom the ledger says something."""
    found = ledger.find([row[0] for row in rows])
    return [row for row, each in zip(rows, found, strict=True) if getattr(each, flag)]


def start(folder, rows=FIRST, policy=POLICY, **more):
    made = sf.decouple(sf.anonymize(table(rows), policy, seed=1), "break-merge", seed=1)
    return sf.Ledger.start(
        made, folder / "x.ledger", alpha=0.5, policy=policy, source=table(rows), **more
    )


def newcomers(*ills):
    return table([(f"n{i}", 31, ill) for i, ill in enumerate(ills)])


@pytest.mark.parametrize("said", [*SILENT, None])
def test_they_are_no_other_values(tmp_path, said):
    ledger = start(tmp_path)
    done = ledger.publish(newcomers("hiv", "hiv", "flu", said, said), dry_run=True)
    assert (done.admitted, done.waiting) == (4, 1)
    alike = ledger.publish(newcomers("hiv", "hiv", said, said), dry_run=True)
    assert (alike.admitted, alike.told.share) == (0, 1)
    # What is published of them is what was given.
    whole = ledger.publish(newcomers("hiv", "hiv", "flu", "gout", said))
    assert said in whole.tables.table("ill").column.values


def test_a_policy_may_call_them_values(tmp_path):
    columns = {**POLICY["columns"], "ill": {"role": "sensitive", "harmless": ["unknown"]}}
    ledger = start(tmp_path, policy={**POLICY, "columns": columns})
    assert ledger.publish(newcomers("hiv", "hiv", "unknown", "unknown"), dry_run=True).admitted == 4


def test_a_first_release_in_which_they_hide_others_is_refused(tmp_path):
    rows = [("a", 31, "hiv"), ("b", 32, "hiv"), ("c", 33, "unknown"), ("d", 34, "unknown")]
    with pytest.raises(InputError, match=r"100 %.*missing_codes"):
        start(tmp_path, rows)
    assert not (tmp_path / "x.ledger").exists()


@pytest.mark.usefixtures("patience")
def test_in_no_part_is_a_value_above_alpha_of_those_that_are_said(tmp_path):
    draw, seen = random.Random(3), 0
    for number in range(6):
        (tmp_path / str(number)).mkdir()
        ledger, there, before = start(tmp_path / str(number)), [*FIRST], {}
        for month in range(5):
            ills = draw.choices(["hiv", "flu", "gout", *SILENT], [4, 2, 2, 1, 1, 1], k=9)
            came = [(f"{month}-x-{i}", 31, ill) for i, ill in enumerate(ills)]
            going = draw.sample(there, 6)
            done = ledger.publish(table(came), delete=table(going))
            gone = those(ledger, going, "left")
            there = those(ledger, [r for r in [*there, *came] if r not in gone], "joined")
            now = {n: values["ill"] for n, (_, _, values) in cells_of(done.current).items()}
            for cell, values in now.items():
                left = {v: n - values.get(v, 0) for v, n in before.get(cell, {}).items()}
                for part in (values, left):
                    said = {v: n for v, n in part.items() if v not in SILENT and n}
                    seen += bool(said)
                    worst = max(said.values(), default=0)
                    assert Fraction(worst, max(sum(said.values()), 1)) <= Fraction(1, 2)
            before = now
        assert ledger.verify() == []
    assert seen > 60
