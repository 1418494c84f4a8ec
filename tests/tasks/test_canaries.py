"""No value that only a suppressed person has stands anywhere in a release, whatever it is by."""

import re

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import SfumatoError
from sfumato.partition import PARTITIONERS
from sfumato.releases.opening import open_release

pytestmark = pytest.mark.usefixtures("warm")

METHODS = ["full-domain", "regional", *PARTITIONERS]
TREE = {
    "kind": "taxonomy",
    "tree": {"mild": ["flu", "gout"], "grave": ["hiv", "canaryill", "other"]},
}
CANARIES = ("canaryill", "zzcanary", "987654", "481516")
MODELS = {
    "distance of numbers": [sf.models.TCloseness("pay", t=0.95, distance="hierarchical")],
    "distance of names": [sf.models.TCloseness("ill", t=0.95, distance="hierarchical")],
    "order": [sf.models.TCloseness("pay", t=0.95, distance="ordered")],
    "shares": [sf.models.CategoryShare("ill", share=0.95, level=1)],
    "diversity": [sf.models.DistinctLDiversity("ill", l=2)],
    "likeness": [sf.models.EnhancedBetaLikeness("ill", beta=9)],
}


def table_and_policy(rng, models, method, rows):
    """A table with one person like no other, and a policy by which this person is suppressed."""
    n, d = 60, int(rng.choice([2, 3, 6]))
    table = pa.table(
        {
            "age": [*(30 + 3 * rng.integers(d, size=n)).tolist(), 481516],
            "code": [*rng.choice(["aa", "ab", "ba"], n).tolist(), "zzcanary"],
            "pay": [*(1000 + 10 * rng.integers(d, size=n)).tolist(), 987654],
            "ill": [*rng.choice(["flu", "gout", "hiv"], n).tolist(), "canaryill"],
        }
    )
    hierarchy = ["auto", {"kind": "intervals", "widths": [5, 10]}, None][int(rng.integers(3))]
    policy = sf.Policy(
        columns={
            "age": {"role": "quasi-identifier", "hierarchy": hierarchy},
            "code": {"role": "quasi-identifier", "hierarchy": ["auto", None][int(rng.integers(2))]},
            "pay": {"role": "sensitive", "hierarchy": "auto"},
            "ill": {"role": "sensitive", "hierarchy": TREE},
        },
        models=[sf.models.KAnonymity(2), *MODELS[models]],
        suppression={"limit": 12, "rows": rows},
    )
    return table, policy.with_method(method)


def texts_in(folder):
    """Everything in a folder that is no hash, as text; binary files as their bytes."""
    for path in folder.iterdir():
        text = path.read_bytes().decode("latin-1")
        yield path.name, re.sub(r"\b[0-9a-f]{64}\b", "", text)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("models", MODELS)
@pytest.mark.parametrize("method", METHODS)
def test_what_only_suppressed_people_have_stands_in_no_file(models, method, some, tmp_path):
    suppressed = 0
    for seed in range(some(3, of=30)):
        rng = np.random.default_rng(seed)
        rows = ["remove", "star"][seed % 2]
        table, policy = table_and_policy(rng, models, method, rows)
        form = ["csv", "parquet", "feather"][seed % 3]
        folder = tmp_path / str(seed)
        try:
            release = sf.anonymize(table, policy, output=folder / "whole", format=form)
        except SfumatoError:
            continue
        [counts] = open_release(folder / "whole").counts(["ill"]).tables
        if not release.manifest.rows.suppressed or "canaryill" in counts.column("ill").known:
            continue  # other people were suppressed, or none
        suppressed += 1
        sf.decouple(folder / "whole", "break-merge", output=folder / "parts", format=form)
        (folder / "page").mkdir()
        sf.report(folder / "whole", public=True).save(folder / "page" / "report.html")
        for place in ("whole", "parts", "page"):
            for name, text in texts_in(folder / place):
                found = [canary for canary in CANARIES if canary in text]
                assert not found, (seed, place, name, found)
    assert suppressed or method != "full-domain"


@pytest.mark.usefixtures("patience")
def test_a_manifest_in_a_database_has_no_value_of_suppressed_people(tmp_path):
    table, policy = table_and_policy(
        np.random.default_rng(1), "distance of numbers", "full-domain", "remove"
    )
    file = tmp_path / "people.duckdb"
    with duckdb.connect(file) as connection:
        connection.register("given", table)
        connection.execute("create table people as select * from given")
    where = f"duckdb:///{file}?table="
    sf.anonymize(f"{where}people", policy, output=f"{where}masked")
    connection = duckdb.connect(file)
    everything = str(connection.execute("select * from masked").fetchall())
    everything += str(connection.execute("select * from masked_manifest").fetchall())
    assert not [canary for canary in CANARIES if canary in everything]
