"""Unique rows that stay by lot: as many as the share allows, by chance alone, and verified."""

import json
from collections import Counter

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.app import app

ROWS = [(town, "f" if i % 2 else "m") for town in ("north", "south") for i in range(40)]
ALONE = [(f"village {i:02}", "f") for i in range(10)]


def table(rows=(*ROWS, *ALONE)):
    return pa.table({"town": [row[0] for row in rows], "sex": [row[1] for row in rows]})


def policy(share=0.05, **model):
    return {
        "columns": dict.fromkeys(("town", "sex"), "quasi-identifier"),
        "models": [{"model": "sample-uniqueness", "share": share, "drawn": True, **model}],
        "suppression": 10,
        "person": {"rows": "each row is somebody"},
    }


def alone(release):
    towns = release.table.column("town").to_pylist()
    return {town for town in towns if town.startswith("village")}


def test_as_many_stay_as_the_share_allows_and_the_verifier_counts_them():
    release = sf.anonymize(table(), policy(), seed=1)
    # Of 84 rows 4 are 4.8 %; a fifth would be 5.9 %.
    assert len(alone(release)) == 4
    assert release.suppressed == 6
    check = release.verdict["sample-uniqueness"]
    assert (check.status, check.found) == ("holds", {"share": pytest.approx(4 / 84)})
    assert not alone(sf.anonymize(table(), policy(drawn=False), seed=1))


@pytest.mark.usefixtures("patience")
def test_a_seed_draws_the_same_and_no_seed_is_a_secret():
    assert alone(sf.anonymize(table(), policy(), seed=1)) == alone(
        sf.anonymize(table(), policy(), seed=1)
    )
    # That twenty draws of 4 of 10 are one and the same happens once in 10^46 times.
    assert len({frozenset(alone(sf.anonymize(table(), policy()))) for _ in range(20)}) > 1


@pytest.mark.usefixtures("patience")
def test_everyone_who_is_alone_stays_equally_often_wherever_they_stand():
    seen = Counter()
    for seed in range(100):
        seen.update(alone(sf.anonymize(table([*reversed(ALONE), *ROWS]), policy(), seed=seed)))
    # 40 times each, with a deviation of 4.9: seven of them is never by chance.
    assert set(seen) == {town for town, _ in ALONE}
    assert all(6 <= times <= 74 for times in seen.values())


def test_a_folder_is_verified_by_its_rows_alone(tmp_path):
    given = tmp_path / "people.csv"
    given.write_text("town,sex\n" + "".join(f"{t},{s}\n" for t, s in (*ROWS, *ALONE)))
    rules = tmp_path / "policy.json"
    rules.write_text(json.dumps(policy()))
    out = tmp_path / "release"
    run = CliRunner()
    made = run.invoke(app, ["anonymize", str(given), "-p", str(rules), "-o", str(out)])
    assert made.exit_code == 0, made.output
    assert '"drawn": true' in (out / "manifest.json").read_text()
    assert sf.verify(out, attacks=False).verdict["sample-uniqueness"].status == "holds"
    data = out / "data.csv"
    lines = data.read_text().splitlines(keepends=True)
    data.write_text("".join([*lines[:-6], *(f"hamlet {i},f\n" for i in range(6))]))
    assert sf.verify(out, attacks=False).verdict["sample-uniqueness"].status == "broken"


def test_other_models_that_leave_classes_out_do_not_raise_the_share():
    """A class that goes makes the whole smaller, and fewer may then be alone in it."""
    rows = [(town, sex, "flu") for town, sex in ROWS[:40]]
    rows += [(town, sex, ill) for town, sex in ROWS[40:] for ill in ("flu", "gout")][:40]
    rows += [(town, sex, "flu") for town, sex in ALONE]
    given = pa.table(
        dict(zip(("town", "sex", "ill"), map(list, zip(*rows, strict=True)), strict=True))
    )
    asked = policy(share=0.05)
    asked["columns"] |= {"ill": "sensitive"}
    asked["models"].append({"model": "alpha-k-anonymity", "column": "ill", "alpha": 0.9, "k": 1})
    asked["suppression"] = 0.9
    for seed in range(5):
        release = sf.anonymize(given, asked, seed=seed)
        assert release.verdict.holds
