"""The codebook and the README of a release: true, harmless, and enough for a stranger."""

import csv
import io
import re
import shutil
import subprocess

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.releases.codebook import Codebook, read_labels
from sfumato.releases.readme import recipes_in
from sfumato.verifier import verify_folder

NASTY = ["=1+1|'x'!A0", "@sum", "-2+3", "<script>alert(1)</script>", "a|b `c`", "x\ny", "'tis", "+"]


COLUMNS = {
    "age": {
        "role": "quasi-identifier",
        "hierarchy": {"kind": "intervals", "widths": [5, 20]},
    },
    "place": "quasi-identifier",
    "income": {"role": "plain", "because": "it is what the study is about"},
    "ill": "sensitive",
}


def survey(n=1500, seed=5):
    """Invented people: an age, a place, an income that follows the age, and an illness."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    return pd.DataFrame(
        {
            "age": age,
            "place": rng.choice(["north", "south", "east"], n),
            "income": (2000 + 25 * age + rng.normal(0, 400, n)).round(),
            "ill": rng.choice(["flu", "gout", "hiv"], n),
        }
    )


def release(table, folder, **more):
    """Publish invented people, with their income as it is."""
    said = {
        "columns": COLUMNS,
        "models": [{"model": "k-anonymity", "k": 5}],
        "suppression": {"limit": "5%"},
        "method": "bottom-up",
    }
    return sf.anonymize(table, said | more.pop("policy", {}), output=folder, **more)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("release") / "r"
    release(survey(), path, format="csv")
    return path


def lines_of(folder):
    return list(csv.DictReader(io.StringIO((folder / "codebook.csv").read_text("utf-8"))))


def test_a_codebook_counts_what_the_rows_show(folder):
    rows = pd.read_csv(folder / "data.csv", dtype=str)
    for name in ("age", "place", "ill"):
        told = {
            line["value"]: int(line["rows"])
            for line in lines_of(folder)
            if line["column"] == name and line["entry"] == "value"
        }
        assert told == rows[name].value_counts().to_dict()
    [age] = [x for x in lines_of(folder) if (x["column"], x["entry"]) == ("age", "column")]
    assert float(age["hidden"]) == pytest.approx((rows["age"] == "*").mean(), abs=1e-6)
    assert age["type"] == "whole number or range"


def test_bounds_hold_every_raw_value_that_has_the_label():
    """The hierarchy itself is the second source: each value is inside its own labels."""
    ages = list(range(100))
    builder = sf.hierarchy.Intervals(widths=[5, 20], lower=10, upper=90)
    tree = builder.build("age", ages)
    for level, labels in enumerate(tree.labels):
        found = read_labels(map(str, labels))
        for age, place in zip(ages, tree.codes[level].tolist(), strict=True):
            label = labels[place]
            if label != "*":
                assert found.stretches[label].holds(age), (age, label)


def test_names_and_values_are_harmless_wherever_they_stand(tmp_path):
    table = pa.table(
        {
            "=cmd|' /C calc'!A0": NASTY * 6,
            "<img src=x onerror=alert(1)>": [*NASTY[1:], NASTY[0]] * 6,
            "age\n| x |": [*range(8)] * 6,
        }
    )
    first, second, third = table.column_names
    said = sf.Policy(
        columns={first: "quasi-identifier", second: "sensitive", third: "plain"},
        models=[sf.models.KAnonymity(2)],
    )
    made = sf.anonymize(table, said, output=tmp_path / "r", format="csv")
    assert made.verdict.holds
    text = (tmp_path / "r" / "codebook.csv").read_text("utf-8")
    for row in csv.reader(io.StringIO(text, newline="")):
        for cell in row:
            assert not cell.startswith(("=", "@", "+", "-"))
    assert {line.value for line in Codebook.from_csv(text).lines} >= set(NASTY)
    for name in ("codebook.md", "README.md"):
        shown = (tmp_path / "r" / name).read_text("utf-8")
        outside = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", re.sub(r"(?ms)^```.*?^```", "", shown))
        assert "<script" not in outside
        assert "<img" not in outside


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("place,value,east,,", "place,value,west,,"), "has a value that no row has"),
        ((",quasi-identifier,text,", ",plain,text,"), "another role"),
        (("place,value,east,,", "place,value,east,17,"), "bounds that its label does not have"),
        (("income,column,,", "income,column,,1"), "bounds that no cell has"),
    ],
)
def test_the_verifier_finds_a_codebook_that_says_more_than_the_rows(change, said, folder, tmp_path):
    copy = tmp_path / "r"
    shutil.copytree(folder, copy)
    text = (copy / "codebook.csv").read_text("utf-8")
    assert change[0] in text
    (copy / "codebook.csv").write_text(text.replace(*change), "utf-8")
    found = {
        each.name: each.detail for each in verify_folder(copy).checks if each.status != "holds"
    }
    assert said in found["codebook"]
    assert "codebook.csv" in found["sha256"]


def test_a_document_that_is_gone_or_new_is_found(folder, tmp_path):
    copy = tmp_path / "r"
    shutil.copytree(folder, copy)
    (copy / "README.md").unlink()
    assert "README.md" in verify_folder(copy)["files"].detail
    (copy / "codebook.txt").write_text("Ann has hiv")
    assert "codebook.txt" in verify_folder(copy)["files"].detail


@pytest.mark.parametrize("suppression", ["remove", "star"])
def test_documents_are_the_same_whatever_suppressed_people_had(suppression, tmp_path):
    """Two tables that differ in people who are not published: no byte may tell them apart."""
    texts = []
    for number, (age, ill) in enumerate([(200, "flu"), (317, "canary")]):
        common = {"age": [31] * 6 + [35] * 6, "place": ["north"] * 12, "income": [1.0] * 12}
        common["ill"] = ["flu", "gout"] * 6
        table = pd.DataFrame(common)
        extra = {"age": [age], "place": ["south"], "income": [2.0 + number], "ill": [ill]}
        table = pd.concat([table, pd.DataFrame(extra)], ignore_index=True)
        place = tmp_path / str(number)
        more = {"suppression": {"limit": 1, "rows": suppression}, "method": "full-domain"}
        made = release(table, place, format="csv", policy=more, seed=1)
        assert made.suppressed == 1
        texts.append(
            [(place / n).read_bytes() for n in ("README.md", "codebook.csv", "codebook.md")]
        )
    assert texts[0] == texts[1]


# What labels stand for.

STATES = ["Maine", "Vermont", "Ohio", "Michigan", "Texas", "Oklahoma"]


def states(last):
    """Invented people of six states, and one who is not published."""
    rows = {"state": [*STATES * 6, last], "ill": [*["flu", "gout"] * 18, "hiv"]}
    return pd.DataFrame(rows)


def members_in(folder):
    lines = [each for each in lines_of(folder) if each["column"] == "state" and each["members"]]
    return {each["value"]: each["members"].split("; ") for each in lines}


def state_policy(hierarchy, **more):
    return {
        "columns": {
            "state": {"role": "quasi-identifier", "hierarchy": hierarchy, **more},
            "ill": "sensitive",
        },
        "models": [{"model": "k-anonymity", "k": 8}],
        "suppression": {"limit": 1},
    }


TREE = {"north": [*STATES[:4], "Canary"], "south": STATES[4:], "none": ["Atlantis"]}


@pytest.mark.parametrize("hierarchy", [{"kind": "known", "tree": "us-states"}, "auto"])
def test_members_of_a_known_tree_are_all_that_are_known(hierarchy, tmp_path):
    """They are the same whatever states the table has, and whoever is suppressed."""
    found = []
    for number, last in enumerate(["Hawaii", "Atlantis"]):
        place = tmp_path / str(number)
        made = sf.anonymize(states(last), state_policy(hierarchy), output=place, format="csv")
        assert made.suppressed == 1
        assert verify_folder(place).holds
        found.append(members_in(place))
        shown = {*made.table["state"]} if made.table is not None else set()
        assert set(found[-1]) <= {*pd.read_csv(place / "data.csv")["state"], *shown}
    assert {"Ohio", "Illinois"} <= {each for some in found[1].values() for each in some}
    both = set(found[0]) & set(found[1])
    assert both
    assert all(found[0][label] == found[1][label] for label in both)
    assert "Atlantis" not in str(found)


def test_members_of_a_stated_hierarchy_are_told_on_request_only(tmp_path):
    """A value that only a suppressed person has stands in the policy, and in no file before."""
    said = {"kind": "taxonomy", "tree": TREE}
    place = tmp_path / "r"
    made = sf.anonymize(states("Atlantis"), state_policy(said), output=place, format="csv")
    assert made.suppressed == 1
    everything = "".join(each.read_text("utf-8") for each in place.iterdir())
    assert "Canary" not in everything
    assert "Atlantis" not in everything
    asked = state_policy(said, members=True)
    sf.anonymize(states("Atlantis"), asked, output=tmp_path / "told", format="csv")
    found = members_in(tmp_path / "told")
    # Whole, whatever the table has, and of published labels alone.
    assert found == {"north": [*STATES[:4], "Canary"], "south": STATES[4:]}
    assert verify_folder(tmp_path / "told").holds


def test_members_of_what_is_made_from_a_table_are_refused():
    with pytest.raises(sf.SfumatoError, match="made from the values of the table"):
        sf.anonymize(states("Texas"), state_policy("auto", members=True))


# A release read back by a stranger with its README alone.

AGE = {**COLUMNS["age"], "hierarchy": {**COLUMNS["age"]["hierarchy"], "lower": 0, "upper": 100}}
OPEN = {**COLUMNS["age"], "hierarchy": {**COLUMNS["age"]["hierarchy"], "lower": 30, "upper": 80}}


def in_pandas(folder, monkeypatch, recipe=0):
    """Run a recipe for Python as it is printed; return what it prints."""
    monkeypatch.chdir(folder)
    said = []
    space = {"print": lambda *what: said.append(what[0])}
    exec(recipes_in((folder / "README.md").read_text("utf-8"))["python"][recipe], space)
    return said


def in_duckdb(folder, monkeypatch):
    """Run the recipe for DuckDB; return the answers."""
    monkeypatch.chdir(folder)
    recipe = recipes_in((folder / "README.md").read_text("utf-8"))["sql"][0]
    with duckdb.connect() as connection:
        found = [
            (each, connection.execute(each).fetchall())
            for each in f"{recipe}\n".split(";\n")
            if each
        ]
    return [answer for statement, answer in found if "CREATE" not in statement]


def in_r(folder, rscript):
    """Run the recipe for R; return the numbers in each line that it prints."""
    recipe = recipes_in((folder / "README.md").read_text("utf-8"))["r"][0]
    recipe = "options(digits = 10, width = 200)\n" + recipe
    made = subprocess.run(
        [rscript, "-e", recipe], cwd=folder, capture_output=True, text=True, check=True
    )
    found = [re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])", x) for x in made.stdout.splitlines()]
    return [[float(each) for each in line] for line in found if line]


def figures(table, folder, **more):
    """Return what `sf.utility` states that the recipes compute, and what the original says."""
    found = sf.utility(table, folder, queries=10, **more).recipes
    return [each.after for each in found], [each.before for each in found]


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    ("age", "how", "form"),
    [
        (AGE, "text", "csv"),
        (OPEN, "bounds", "parquet"),
        (AGE, "midpoint", "parquet"),
        (OPEN, "mean", "csv"),
    ],
)
def test_a_stranger_computes_what_utility_states(age, how, form, tmp_path, monkeypatch):
    table, place = survey(600), tmp_path / "r"
    columns = {**COLUMNS, "age": {**age, "as": how}}
    release(table, place, format=form, policy={"columns": columns})
    stated, truth = figures(table, place)
    names = [str(each) for each in sf.utility(table, place, queries=10).recipes]
    low, high = map(int, re.findall(r"from (\d+) to (\d+)", names[1])[0])
    assert truth[0] == pytest.approx(table["age"].mean())
    assert truth[1] == table["age"].between(low, high).sum()
    assert truth[2] == pytest.approx(np.polyfit(table["age"], table["income"], 1)[0])
    assert stated == pytest.approx(truth, rel=0.15)
    means, counts, by_place, line = in_pandas(place, monkeypatch)
    assert [means["mean"], counts["estimate"], line["slope"]] == pytest.approx(stated)
    assert means["at least"] - 1 <= truth[0] <= means["at most"] + 1
    assert counts["at least"] <= truth[1] <= counts["at most"]
    assert by_place.sum() == 600
    [mean], [count], *_, [slope] = in_duckdb(place, monkeypatch)
    assert [mean[0], count[0], slope[0]] == pytest.approx(stated)
    assert [*mean[1:], *count[1:]] == pytest.approx([*means.values()][1:] + [*counts.values()][1:])
    if how != "bounds":  # read_release leaves open ends open
        assert in_pandas(place, monkeypatch, recipe=1) == pytest.approx(stated[:1])


@pytest.mark.usefixtures("patience")
def test_weighted_rows_are_counted_by_the_recipes_too(tmp_path, monkeypatch):
    table, place = survey(600).assign(w=np.tile([1.0, 2.5], 300)), tmp_path / "r"
    release(table, place, format="csv", policy={"columns": {**COLUMNS, "w": "weight"}})
    stated, truth = figures(table, place)
    assert truth[0] == pytest.approx(np.average(table["age"], weights=table["w"]))
    hidden = (pd.read_csv(place / "data.csv", dtype=str)["age"] == "*").mean()
    told = re.search(r"left out of means(: [^.]*)?\.", (place / "README.md").read_text("utf-8"))
    assert bool(told[1]) == (hidden > 0)
    means, counts, by_place, line = in_pandas(place, monkeypatch)
    assert [means["mean"], counts["estimate"], line["slope"]] == pytest.approx(stated)
    assert by_place.sum() == pytest.approx(table["w"].sum())
    [mean], [count], *_, [slope] = in_duckdb(place, monkeypatch)
    assert [mean[0], count[0], slope[0]] == pytest.approx(stated)


@pytest.mark.parametrize("how", ["text", "bounds", "mean"])
def test_a_stranger_computes_in_base_r_what_utility_states(how, tmp_path, rscript):
    table, place = survey(600), tmp_path / "r"
    columns = {**COLUMNS, "age": {**OPEN, "as": how}}
    release(table, place, format="csv", policy={"columns": columns})
    mean, count, *_, line = in_r(place, rscript)
    stated = figures(table, place)[0]
    assert [mean[0], count[0], line[1]] == pytest.approx(stated, rel=1e-6)


def test_a_drafted_release_of_the_census_is_read_with_its_readme(
    adult, tmp_path, monkeypatch, rscript
):
    place, policy = tmp_path / "r", tmp_path / "policy.yaml"
    source = adult / "adult.csv"
    policy.write_text(sf.draft(source).text, "utf-8")
    sf.anonymize(source, policy, output=place, format="csv")
    stated, truth = figures(source, place, policy=policy)
    means, counts, *_ = in_pandas(place, monkeypatch)
    # Ages are ranges and none is hidden, so the truth lies between the bounds that are printed.
    for found, true in zip((means, counts), truth, strict=True):
        assert found["at least"] <= true <= found["at most"]
    assert [means["mean"], counts["estimate"]] == pytest.approx(stated)
    [mean], [count], *_ = in_duckdb(place, monkeypatch)
    assert [mean[0], count[0]] == pytest.approx(stated)
    mean, count, *_ = in_r(place, rscript)
    assert [mean[0], count[0]] == pytest.approx(stated, rel=1e-6)


# Read back by sf.read_release.


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
def test_a_release_is_read_with_bounds_types_and_order(form, tmp_path):
    table = survey(400)
    grades = pd.Categorical(
        np.where(table["age"] < 40, "low", np.where(table["age"] < 70, "mid", "high")),
        categories=["low", "mid", "high", "never met"],
        ordered=True,
    )
    table["grade"] = grades
    more = {"columns": {"grade": {"role": "plain", "because": "a test"}, **COLUMNS}}
    made = release(table, tmp_path / "r", format=form, policy=more)
    found = sf.read_release(tmp_path / "r")
    known = found["age"].notna()
    assert found["age"].cat.ordered
    assert (found["age_low"][known] <= found["age_high"][known]).all()
    assert found["age_low"].dropna().between(0, 90).all()
    assert list(found["grade"].cat.categories) == ["low", "mid", "high"]
    assert found["grade"].cat.ordered
    assert found["income"].mean() == pytest.approx(table["income"].mean())
    assert "never met" not in (tmp_path / "r" / "codebook.csv").read_text("utf-8")
    again = sf.read_release(made, as_="polars")
    assert again["grade"].dtype.categories.to_list() == ["low", "mid", "high"]
    memory = sf.read_release(release(table, None, policy=more))
    assert sorted(memory.columns) == sorted(found.columns)
    assert memory["grade"].cat.ordered


@pytest.mark.usefixtures("patience")
def test_decoupled_and_stored_releases_are_read_too(tmp_path):
    made = release(survey(300), tmp_path / "r", format="csv")
    parts = sf.decouple(made, "break-merge", output=tmp_path / "p", format="csv")
    found = sf.read_release(parts, as_="arrow")
    assert any("age_low" in table.column_names for table in found.values())
    assert all((tmp_path / "p" / f"{name}.csv").is_file() for name in found)
    with duckdb.connect(tmp_path / "d.db") as connection:
        connection.register("given", survey(300))
        connection.execute("create table people as select * from given")
    where = f"duckdb:///{tmp_path / 'd.db'}?table="
    release(f"{where}people", f"{where}masked")
    stored = sf.read_release(f"{where}masked")
    assert len(stored) == len(sf.read_release(made))
    assert stored["age_high"].notna().any()


def test_a_plain_table_is_not_read_as_a_release():
    with pytest.raises(sf.SfumatoError, match="plain table"):
        sf.read_release(survey(5))
    with pytest.raises(sf.SfumatoError, match="one of pandas, polars, arrow"):
        sf.read_release(survey(5), as_="excel")
