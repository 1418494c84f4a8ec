"""Columns published as numbers: the same classes, or fewer, and every promise from the files."""

import datetime as dt
import json
import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.app import app
from sfumato.verifier import verify_folder

MODELS = [
    {"model": "k-anonymity", "k": 3},
    {"model": "distinct-l-diversity", "column": "ill", "l": 2},
]


def people(n=240, seed=3, *, missing=False):
    """Invented people of few ages, so that some ages stay and others become ranges."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, n).astype(float)
    if missing:
        age[rng.random(n) < 0.1] = np.nan
    return pd.DataFrame(
        {
            "age": age,
            "place": rng.choice(["north", "south"], n),
            "ill": rng.choice(["flu", "gout", "hiv"], n),
        }
    )


def policy(how, method, hierarchy=None, **more):
    age = {"role": "quasi-identifier", "as": how}
    age["hierarchy"] = hierarchy or {"kind": "intervals", "widths": [5, 20]}
    columns = {"age": age, "place": "quasi-identifier", "ill": "sensitive"}
    said = {"columns": columns, "models": MODELS, "method": method, "suppression": {"limit": "10%"}}
    return said | more


def ends_of(label):
    """Read a label as a person would."""
    if label is None or label == "*":
        return None, None
    ends = [float(each) for each in str(label).split(" to ")]
    return ends[0], ends[-1]


def rows_of(table, columns):
    """Count rows as tuples; what is missing is None."""
    cells = [[None if pd.isna(v) else v for v in table[name]] for name in columns]
    return Counter(zip(*cells, strict=True))


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    "method", ["full-domain", "regional", "bottom-up", "mondrian", "top-down", "mdav"]
)
@pytest.mark.parametrize("how", ["bounds", "midpoint"])
def test_numbers_are_those_of_the_labels(how, method, tmp_path):
    """The same decision published both ways: each label became its ends, or their middle."""
    table = people()
    text = sf.anonymize(table, policy("text", method), seed=4).table
    made = sf.anonymize(table, policy(how, method), seed=4, output=tmp_path / "r", format="csv")
    found = pd.read_csv(tmp_path / "r" / "data.csv")
    ends = [ends_of(label) for label in text["age"]]
    low, high = (pd.Series([each[at] for each in ends], dtype=float) for at in (0, 1))
    if how == "bounds":
        expected = text.assign(age_low=low, age_high=high)
        columns = ["age_low", "age_high", "place", "ill"]
    else:
        expected = text.assign(age=(low + high) / 2)
        columns = ["age", "place", "ill"]
    assert list(found.columns) == columns
    assert rows_of(found, columns) == rows_of(expected, columns)
    classes = found.groupby(columns[:-1], dropna=False)["ill"]
    assert made.manifest.classes.count == classes.ngroups
    assert made.manifest.models[0].measured == {"k": classes.size().min()}
    assert made.manifest.models[1].measured == {"l": classes.nunique().min()}
    assert verify_folder(tmp_path / "r").holds


def test_labels_with_one_middle_are_one_class():
    """40 and 38 to 42 have the same middle: to readers these rows are alike."""
    ages = [40] * 6 + [38, 39, 41, 42, 38, 39]
    table = pd.DataFrame({"age": ages, "place": ["n"] * 12, "ill": ["flu", "gout", "hiv"] * 4})
    ranges = {"kind": "intervals", "bounds": [[38, 43]]}
    assert {*sf.anonymize(table, policy("text", "bottom-up", ranges)).table["age"]} == {
        "40",
        "38 to 42",
    }
    made = sf.anonymize(table, policy("midpoint", "bottom-up", ranges))
    assert made.manifest.classes.count == 1
    assert made.manifest.classes.count == made.table.groupby(["age", "place"]).ngroups
    assert made.verdict.holds
    assert sf.verify(made, attacks=False).verdict.holds


def test_hidden_and_missing_are_both_empty_and_one_class(tmp_path):
    table = people(200, missing=True)
    said = policy("bounds", "bottom-up", {"kind": "intervals", "widths": [20]})
    made = sf.anonymize(table, said, output=tmp_path / "r")
    assert made.verdict.holds
    assert sf.verify(tmp_path / "r").verdict.holds


@pytest.mark.usefixtures("patience")
def test_everything_else_sees_labels(tmp_path):
    table = people()
    made = sf.anonymize(table, policy("midpoint", "bottom-up"), output=tmp_path / "r")
    frame = sf.read_release(tmp_path / "r")
    assert (frame["age_low"].dropna() <= frame["age_high"].dropna()).all()
    assert frame["age"].cat.ordered
    answer = sf.estimate(made, {"age": "30..39"})
    truth = table["age"].between(30, 39).sum()
    assert answer.estimate == pytest.approx(truth, rel=0.2)
    assert sf.utility(table, tmp_path / "r").to_dict()
    assert sf.explain(tmp_path / "r", {"age": 33, "place": "north"}).to_dict()
    assert sf.verify(tmp_path / "r", policy("midpoint", "bottom-up"))["policy"].status == "holds"
    parts = sf.decouple(made, "break-merge")
    assert all("age_low" not in part.columns for part in parts.tables.values())


def test_dates_have_ends_and_middles():
    days = [dt.date(2020, month, 1 + day) for month in range(1, 9) for day in range(12)]
    table = pd.DataFrame({"age": days, "place": ["n"] * 96, "ill": ["flu", "gout", "hiv"] * 32})
    months = {"kind": "dates", "levels": ["month", "year"]}
    made = sf.anonymize(table, policy("bounds", "full-domain", months))
    assert set(made.table["age_low"].astype(str)) == {f"2020-{m:02}-01" for m in range(1, 9)}
    assert made.table["age_high"].astype(str).max() == "2020-08-31"


# Means of classes.


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    "method", ["full-domain", "regional", "bottom-up", "mondrian", "top-down", "mdav"]
)
@pytest.mark.parametrize("how", ["mean", "median"])
def test_means_are_those_of_the_published_rows_of_a_class(method, how, tmp_path):
    """A plain copy of the ages, published once for this test, says which rows are in a class."""
    table = people(missing=True).assign(copy=lambda t: t["age"])
    plain = {"role": "plain", "because": "a test"}
    text, mean = policy("text", method), policy(how, method)
    text["columns"]["copy"] = mean["columns"]["copy"] = plain
    labels = sf.anonymize(table, text, seed=4).table
    made = sf.anonymize(table, mean, seed=4, output=tmp_path / "r", format="csv")
    found = pd.read_csv(tmp_path / "r" / "data.csv")
    assert list(found.columns) == ["age", "age_low", "age_high", "place", "ill", "copy"]
    told = found["age_low"].notna()
    for _, rows in found[told].groupby(["age_low", "age_high", "place"]):
        assert rows["age"].nunique() == 1
        assert rows["age"].iloc[0] == pytest.approx(rows["copy"].agg(how), abs=0.051)
    assert found["age"][~told].isna().all()
    assert found["age"][told].between(found["age_low"][told], found["age_high"][told]).all()
    # Means part no class: there are as many as by labels, and every promise counts them.
    known = ["age", "age_low", "age_high", "place"]
    assert made.manifest.classes.count == found.groupby(known, dropna=False).ngroups
    assert made.manifest.classes.count <= labels.groupby(["age", "place"], dropna=False).ngroups
    assert made.verdict.holds
    assert made.verdict["means"].status == "holds"
    assert sf.read_release(tmp_path / "r")[f"age_{how}"].mean() == pytest.approx(
        found["age"].mean()
    )


def test_no_mean_depends_on_suppressed_people(tmp_path):
    """Two tables that differ in people who are not published: no cell may tell them apart."""
    made = []
    for number, age in enumerate((20, 59)):
        table = pd.concat([people(60), pd.DataFrame({"age": [age], "place": ["x"], "ill": ["a"]})])
        said = policy("mean", "full-domain", {"kind": "intervals", "widths": [20]})
        said |= {"suppression": {"limit": 1}}
        release = sf.anonymize(table, said, output=tmp_path / str(number), format="csv", seed=1)
        assert release.suppressed == 1
        made.append(release)
    texts = [(tmp_path / str(n) / "data.csv").read_text("utf-8") for n in range(2)]
    assert sorted(texts[0].splitlines()) == sorted(texts[1].splitlines())


def test_dates_and_open_ends_have_means():
    days = [dt.date(2020, month, 1 + day) for month in range(1, 9) for day in range(12)]
    table = pd.DataFrame({"age": days, "place": ["n"] * 96, "ill": ["flu", "gout", "hiv"] * 32})
    made = sf.anonymize(
        table, policy("mean", "full-domain", {"kind": "dates", "levels": ["month"]})
    )
    assert set(made.table["age"].astype(str)) == {f"2020-{m:02}-06" for m in range(1, 9)}
    ages = {"kind": "intervals", "widths": [10], "lower": 30, "upper": 50}
    old = sf.anonymize(people(), policy("mean", "full-domain", ages)).table
    last = old[old["age_high"].isna() & old["age_low"].notna()]
    assert last["age"].between(50, 59).all()
    assert len(last)


@pytest.mark.parametrize(
    ("change", "said"), [(lambda mean: mean + 0.1, "several means"), (lambda _: 99, "outside")]
)
def test_a_forged_mean_is_found(change, said, tmp_path):
    sf.anonymize(people(), policy("mean", "bottom-up"), output=tmp_path / "r", format="csv")
    path = tmp_path / "r" / "data.csv"
    table = pd.read_csv(path)
    at = table.index[table["age_low"] < table["age_high"]][0]
    table.loc[at, "age"] = change(table.loc[at, "age_low"])
    table.to_csv(path, index=False)
    check = verify_folder(tmp_path / "r")["means"]
    assert check.status == "broken"
    assert said in check.detail


def test_what_a_forger_writes_into_numbers_is_found(tmp_path):
    sf.anonymize(people(), policy("bounds", "bottom-up"), output=tmp_path / "r", format="csv")
    path = tmp_path / "r" / "data.csv"
    lines = path.read_text("utf-8").splitlines()
    lines[1] = re.sub(r"^[\d.]*,", "-999,", lines[1])
    path.write_text("\n".join(lines) + "\n", "utf-8")
    broken = {each.name for each in verify_folder(tmp_path / "r").checks if each.status == "broken"}
    assert {"sha256", "k-anonymity"} <= broken
    manifest = json.loads((tmp_path / "r" / "manifest.json").read_text("utf-8"))
    assert [each.get("of") for each in manifest["columns"]] == ["age", "age", None, None]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"suppression": {"limit": "10%", "rows": "star"}}, "starred"),
        ({"missing": "matches-any"}, "matches-any"),
        ({"person": "who"}, "people are counted"),
        ({"models": [{"model": "k-map", "k": 3}], "population": "t.csv"}, "population"),
    ],
)
def test_numbers_that_would_undermine_a_promise_are_refused(change, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = people().assign(who=np.arange(240) // 2)
    table.to_csv("t.csv", index=False)
    asked = policy("bounds", "full-domain", **change)
    asked["columns"]["who"] = "identifier"
    with pytest.raises(sf.SfumatoError, match=said):
        sf.anonymize(table, {"person": {"rows": "a test"}} | asked)


def test_what_has_no_number_is_refused():
    with pytest.raises(sf.SfumatoError, match="neither a number nor a date"):
        sf.anonymize(people(), policy("text", "bottom-up"), as_={"place": "bounds"})
    alone = {"models": [{"model": "t-closeness", "column": "ill", "t": 0.9}]}
    with pytest.raises(sf.SfumatoError, match="no model promises that a class has two people"):
        sf.anonymize(people(), policy("mean", "bottom-up", **alone))
    with pytest.raises(sf.SfumatoError, match="limit of memory"):
        sf.anonymize(people(), policy("mean", "bottom-up"), memory="1 GB")
    open_ended = {"kind": "intervals", "widths": [10], "lower": 30, "upper": 50}
    with pytest.raises(sf.SfumatoError, match="has no middle"):
        sf.anonymize(people(), policy("midpoint", "full-domain", open_ended))
    table = people().assign(age_low=1)
    with pytest.raises(sf.SfumatoError, match="'age_low' already"):
        sf.anonymize(table, policy("bounds", "bottom-up", other="plain"))


@pytest.mark.usefixtures("patience")
def test_the_command_line_says_it_too(tmp_path):
    people().to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "p.yaml").write_text(json.dumps(policy("text", "bottom-up")), "utf-8")
    given = [str(tmp_path / "t.csv"), "-p", str(tmp_path / "p.yaml"), "-o", str(tmp_path / "r")]
    found = CliRunner().invoke(app, ["anonymize", *given, "--as", "age=bounds"])
    assert found.exit_code == 0, found.output
    assert "age_low" in (tmp_path / "r" / "data.csv").read_text("utf-8")
    found = CliRunner().invoke(app, ["anonymize", *given, "--as", "age"])
    assert found.exit_code == 2
