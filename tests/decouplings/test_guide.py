"""The guide of a decoupled release: what a stranger computes with its recipes alone."""

import contextlib
import io
import re

import duckdb
import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.releases.readme import recipes_in

N = 600


def people():
    rng = np.random.default_rng(5)
    ages = rng.choice(["30s", "40s", "50s"], N)
    days = rng.integers(1, 9, N) * 10
    return pd.DataFrame(
        {
            "age": ages,
            "zip": rng.choice(["01", "02"], N),
            "sex": rng.choice(["f", "m"], N),
            "bmi": rng.integers(18, 35, N) + 0.5,
            "days": days,
            "died": np.where(rng.random(N) < 0.4, "NA", "yes"),
            "ill": rng.choice(["flu", "gout", "hiv", None], N),
        }
    )


METHODS = {
    "break-merge": {"method": "break-merge", "together": [["days", "died"]]},
    "anatomy": {"method": "anatomy", "l": 2},
    "bucketization": {"method": "bucketization"},
    "slicing": {"method": "slicing", "l": 2, "together": [["days", "died"]]},
    "overlapping": {
        "method": "slicing",
        "l": 2,
        "columns": ["age+sex", "age+ill", "zip", "days+died"],
        "together": [["days", "died"]],
    },
}


CASES = [*((name, "csv") for name in METHODS), ("break-merge", "parquet")]


@pytest.fixture(params=CASES, ids=str)
def published(request, tmp_path):
    name, form = request.param
    # Buckets take one sensitive column, or several that stay together.
    single = name in ("anatomy", "bucketization")
    roles = dict.fromkeys(["age", "zip", "sex"], "quasi-identifier")
    if single:
        roles["zip"] = "plain"
    secret = dict.fromkeys(["days", "died"], "dropped" if single else "sensitive")
    policy = sf.Policy(
        columns={**roles, "bmi": "plain", **secret, "ill": "sensitive"},
        models=[{"model": "k-anonymity", "k": 2}],
        decouple=METHODS[name],
    )
    release = sf.decouple(people(), policy=policy, output=tmp_path / "out", format=form)
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "## How to work with these tables" in text
    assert "protected by nothing:" in text
    assert ("`days` and `died` stay together" in text) is not single
    return release, recipes_in(text)


def asked(recipe):
    """Return the columns that the last recipe crosses, by its comment."""
    known, told = re.findall(r"Expected: how many people have each (.*) and (.*)\.", recipe)[0]
    return known, told


def check(tables, mean, recipe, release):
    """Hold what was computed against the original, and against what the release estimates."""
    counts, cross = tables
    data = people()
    known, told = asked(recipe)
    truth = data[told].fillna("").astype(str).value_counts().to_dict()
    assert {str(key): value for key, value in counts.items()} == truth
    name = re.findall(r"Exact: the mean of (.*), of those", recipe)[0]
    assert mean == pytest.approx(data[name].mean())
    assert sum(cross.values()) == pytest.approx(N)
    for (one, other), expected in [*cross.items()][:5]:
        if other:
            wanted = {known: str(one), told: str(other)}
            found = sf.estimate(release.folder, wanted).estimate
            assert expected == pytest.approx(found, rel=1e-6)


@pytest.mark.usefixtures("patience")
def test_the_recipes_in_sql_give_what_the_release_knows(published):
    release, recipes = published
    [recipe] = recipes["sql"]
    schema = (release.folder / "schema.sql").read_text(encoding="utf-8")
    with duckdb.connect() as db:
        db.execute(f"SET file_search_path = '{release.folder}'")
        db.execute(schema)
        for each in re.findall(r"^--   (.*?)  --", schema, flags=re.MULTILINE):
            db.execute(each)
        first, second, third = [db.execute(part).fetchall() for part in recipe.split(";")[:3]]
    counts = {"" if value is None else str(value): int(n) for value, n in first}
    cross = {(a, "" if b is None else b): float(n) for a, b, n in third}
    check((counts, cross), float(second[0][0]), recipe, release)


def test_the_recipes_in_pandas_give_what_the_release_knows(published, monkeypatch):
    release, recipes = published
    [recipe] = recipes["python"]
    monkeypatch.chdir(release.folder)
    shown = []
    with contextlib.redirect_stdout(io.StringIO()):
        exec(recipe, {"print": shown.append})
    first, mean, third = shown
    counts = {"" if pd.isna(value) else str(value): int(n) for value, n in first.items()}
    cross = {(a, "" if pd.isna(b) else b): float(n) for (a, b), n in third.items()}
    check((counts, cross), float(mean), recipe, release)


def test_names_that_would_be_more_than_names_stand_in_no_recipe(tmp_path):
    data = people().rename(columns={"age": 'a";drop', "ill": "i\nll"})
    release = sf.decouple(
        data, quasi_identifiers=['a";drop'], sensitive=["i\nll"], output=tmp_path / "out"
    )
    text = (release.folder / "README.md").read_text(encoding="utf-8")
    assert "How to work with these tables" in text
    assert not recipes_in(text)
