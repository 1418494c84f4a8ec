"""Releases by regional recoding: what they say, what the verifier holds them to, where they go."""

import json
from collections import Counter

import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.app import app
from sfumato.hierarchy import Dates, Intervals, Masking, Taxonomy

ZIPS = ["73455", "73456", "73456", "73460", "73470", "80001", "80001", "80002", "81000"] * 3
PEOPLE = pa.table(
    {
        "zip": [*ZIPS, "73455"],
        "age": [20 + i % 7 for i in range(28)],
        "born": [f"19{60 + i % 3}-0{1 + i % 5}-01" for i in range(28)],
        "job": [["nurse", "cook", "waiter", "lawyer"][i % 4] for i in range(28)],
        "ill": ["flu", "hiv", "gout", "flu"] * 7,
    }
)
HIERARCHIES = {
    "zip": Masking(length=5),
    "age": Intervals(widths=[2, 4]),
    "born": Dates(levels=["month", "year"]),
    "job": Taxonomy({"care": ["nurse"], "kitchen": ["cook", "waiter"], "law": ["lawyer"]}),
}


def policy(*names, models=({"model": "k-anonymity", "k": 3},), **changes):
    columns = {n: {"role": "quasi-identifier", "hierarchy": HIERARCHIES[n]} for n in names}
    return sf.Policy(
        columns={**columns, "ill": "sensitive"},
        models=list(models),
        other="dropped",
        **{"method": "regional", "person": {"rows": "each row is somebody"}, **changes},
    )


def labels(release, column):
    return set(release.table.column(column).to_pylist())


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("names", [("zip",), ("age",), ("born",), ("job",), tuple(HIERARCHIES)])
def test_every_kind_of_hierarchy_can_be_cut(names):
    asked = policy(*names)
    release = sf.anonymize(PEOPLE, asked, seed=1)
    whole = sf.anonymize(PEOPLE, asked, method="full-domain", seed=1)
    assert release.loss <= whole.loss
    assert release.verdict.holds
    assert sf.verify(release, asked, attacks=False).verdict.holds


def test_the_same_value_is_the_same_label_in_all_rows_and_labels_do_not_overlap():
    asked = policy("zip", "age")
    given = PEOPLE.append_column("was", PEOPLE.column("zip"))
    asked = asked.replace(columns={**asked.columns, "was": "plain"})
    release = sf.anonymize(given, asked, seed=1)
    pairs = set(zip(*(release.table.column(n).to_pylist() for n in ("was", "zip")), strict=True))
    assert len(pairs) == len({was for was, _ in pairs})
    assert len({len(label.rstrip("*")) for _, label in pairs}) > 1
    assert all(was.startswith(label.rstrip("*")) for was, label in pairs)


def test_the_manifest_tells_the_cut_and_the_levels():
    release = sf.anonymize(PEOPLE, policy("zip", "age"), seed=1)
    assert (release.method, release.levels) == ("regional", {})
    assert "(regional, a heuristic)" in str(release) or "(regional, proven optimal)" in str(release)
    for column in release.manifest.columns[:2]:
        assert set(column.cut_labels) == labels(release, column.name)
        assert sum(column.levels) == release.manifest.rows.published
    again = type(release.manifest).from_json(release.manifest.to_json())
    assert again.columns == release.manifest.columns
    report = str(sf.report(release).to_dict())
    assert "Cuts through several levels" in report


def test_a_hierarchy_that_values_decided_tells_the_cut_and_nothing_above_it():
    asked = policy("zip", models=[{"model": "k-anonymity", "k": 5}])
    masked = {"role": "quasi-identifier", "hierarchy": "masking"}
    asked = asked.replace(columns={"zip": masked, "ill": "sensitive"})
    [column, _] = sf.anonymize(PEOPLE, asked, seed=1).manifest.columns
    assert column.levels is None
    assert column.generalised
    [(top, below)] = column.cut.items()
    assert top == "*"
    assert all(not deeper for deeper in below.values())


def write(folder):
    given = folder / "people.csv"
    pyarrow.csv.write_csv(PEOPLE, given)
    rules = folder / "policy.yaml"
    rules.write_text(policy("zip", "age").to_yaml())
    out = folder / "release"
    sf.anonymize(given, rules, output=out)
    return out, rules


def change(folder, edit):
    """Change the manifest of a folder; nothing signs it."""
    path = folder / "manifest.json"
    plain = json.loads(path.read_text())
    edit(plain)
    path.write_text(json.dumps(plain))
    (folder / "evidence.json").unlink(missing_ok=True)


def finer(folder):
    """Publish one row of a coarse label with a finer one."""
    data = folder / "data.csv"
    lines = data.read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("8"))
    old = lines[at].split(",")[0]
    new = "80001" if old != "80001" else "8000*"
    lines[at] = lines[at].replace(old, new, 1)
    data.write_text("\n".join(lines) + "\n")
    return old, new


def test_a_row_with_a_label_of_another_cut_breaks_the_promise(tmp_path):
    folder, _ = write(tmp_path)
    assert sf.verify(folder, attacks=False).verdict["cuts"].status == "holds"
    _, new = finer(folder)
    check = sf.verify(folder, attacks=False).verdict["cuts"]
    assert check.status == "broken"
    assert f"{new!r} is no label of the cut" in check.detail


def test_a_cut_with_a_label_above_another_breaks_it_whatever_the_manifest_says(tmp_path):
    folder, rules = write(tmp_path)
    old, new = finer(folder)

    def graft(plain):
        def walk(tree):
            for label, below in tree.items():
                if label == old:
                    below[new] = {}
                walk(below)

        walk(plain["columns"][0]["cut"])

    change(folder, graft)
    check = sf.verify(folder, attacks=False).verdict["cuts"]
    assert check.status == "broken"
    assert f"{old!r} is published, and {new!r} below it too" in check.detail

    def lie(plain):
        plain["columns"][0]["cut"] = {"*": {label: {} for label in labels_in(folder)}}

    change(folder, lie)
    # A manifest can say that they are apart; the policy's hierarchy says that they are not.
    assert sf.verify(folder, attacks=False).verdict["cuts"].status == "holds"
    check = sf.verify(folder, rules, attacks=False).verdict["policy"]
    assert check.status == "broken"
    assert f"{old!r} of 'zip' is above {new!r}" in check.detail


def labels_in(folder):
    lines = (folder / "data.csv").read_text().splitlines()[1:]
    return sorted({line.split(",")[0] for line in lines})


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    ("cut", "text"),
    [
        ({}, "does not have one top"),
        ({"*": {"7*": 1}}, "cannot be read"),
        ({"*": {"a": {"7": {}}, "b": {"7": {}}}}, "stands in two places"),
        ({"*": {"nowhere": {}}}, "'nowhere' is in the cut, and no row has it"),
    ],
)
def test_a_strange_cut_is_broken_and_no_accident(tmp_path, cut, text):
    folder, _ = write(tmp_path)
    change(folder, lambda plain: plain["columns"][0].update(cut=cut))
    check = sf.verify(folder, attacks=False).verdict["cuts"]
    assert check.status == "broken"
    assert text in check.detail
    change(folder, lambda plain: plain["columns"][0].update(cut=None))
    check = sf.verify(folder, attacks=False).verdict["manifest"]
    assert "does not say how 'zip' was cut" in check.detail


@pytest.mark.usefixtures("patience")
def test_models_of_a_population_hold_because_everyone_is_in_one_class(tmp_path):
    people = pa.concat_tables([PEOPLE] * 3 + [PEOPLE.slice(0, 9)]).select(["zip", "age"])
    pyarrow.csv.write_csv(people, tmp_path / "people.csv")
    asked = policy(
        "zip",
        "age",
        models=[{"model": "k-map", "k": 6}],
        population=str(tmp_path / "people.csv"),
        suppression=0.1,
    )
    release = sf.anonymize(PEOPLE, asked, output=tmp_path / "release")
    assert release.verdict.holds
    assert release.loss <= sf.anonymize(PEOPLE, asked, method="full-domain").loss
    verdict = sf.verify(tmp_path / "release", asked, attacks=False).verdict
    assert verdict["k-map"].status == "holds"
    assert verdict["k-map"].found == release.verdict["k-map"].found


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("missing", ["own-value", "matches-any", "suppress"])
@pytest.mark.parametrize("rows", ["remove", "star"])
def test_missing_values_and_suppressed_rows(missing, rows):
    zips = [None if i % 9 == 4 else zip_ for i, zip_ in enumerate(PEOPLE.column("zip").to_pylist())]
    given = PEOPLE.set_column(0, "zip", pa.array(zips))
    asked = policy("zip", "age", missing=missing, suppression={"limit": 0.2, "rows": rows})
    release = sf.anonymize(given, asked, seed=2)
    assert release.verdict.holds
    assert release.loss <= sf.anonymize(given, asked, method="full-domain", seed=2).loss


@pytest.mark.usefixtures("patience")
def test_models_that_merging_can_break():
    asked = policy(
        "zip",
        "age",
        models=[
            {"model": "k-anonymity", "k": 2},
            {"model": "t-closeness", "column": "ill", "t": 0.35},
            {"model": "recursive-cl-diversity", "column": "ill", "c": 4, "l": 2},
        ],
        suppression=0.2,
    )
    release = sf.anonymize(PEOPLE, asked, seed=1)
    assert release.verdict.holds
    assert release.loss <= sf.anonymize(PEOPLE, asked, method="full-domain", seed=1).loss


def test_secrets_do_not_choose_where_the_policy_says_so():
    """Other diseases with the same verdicts give the same cut."""
    asked = policy("zip", "age", sensitive_blind=True)
    one = sf.anonymize(PEOPLE, asked, seed=1)
    other = PEOPLE.set_column(4, "ill", pa.array(["gout"] * 28))
    assert sf.anonymize(other, asked, seed=1).manifest.columns == one.manifest.columns


@pytest.mark.usefixtures("patience")
def test_it_can_be_refined_decoupled_and_published_with_a_ledger(tmp_path):
    asked = policy("zip", "age", models=[{"model": "k-anonymity", "k": 4}])
    release = sf.anonymize(PEOPLE, asked, output=tmp_path / "release")
    refined = sf.anonymize(PEOPLE, asked, refine=sf.detect(release, support=1))
    assert refined.verdict.holds
    parts = sf.decouple(release, "break-merge", output=tmp_path / "parts")
    assert parts.verdict.holds
    ledger = sf.Ledger.start(
        parts, tmp_path / "people.ledger", policy=asked, source=PEOPLE, alpha=0.9
    )
    ledger.publish(PEOPLE, output=tmp_path / "second", again=True)
    assert ledger.verify() == []
    assert sf.verify(tmp_path / "second", attacks=False).verdict.holds


@pytest.mark.usefixtures("patience")
def test_compare_utility_and_explain_take_it(tmp_path):
    pyarrow.csv.write_csv(PEOPLE, tmp_path / "people.csv")
    asked = policy("zip", "age")
    (tmp_path / "policy.yaml").write_text(asked.to_yaml())
    found = sf.compare(PEOPLE, asked, vary={"method": ["full-domain", "regional"]})
    losses = [point.figures.losses["normalized-loss"] for point in found]
    assert losses[1] <= losses[0]
    release = sf.anonymize(PEOPLE, asked, seed=1)
    assert sf.utility(PEOPLE, release, policy=asked, queries=20).published == 28
    told = sf.explain(release, {"zip": "73455", "age": 23}, policy=asked)
    rows = zip(*(release.table.column(n).to_pylist() for n in ("zip", "age")), strict=True)
    [place] = told.places
    assert place.people in Counter(rows).values()


@pytest.mark.usefixtures("patience")
def test_on_the_command_line(tmp_path):
    folder, rules = write(tmp_path)
    run = CliRunner()
    given = ["anonymize", str(tmp_path / "people.csv"), "-p", str(rules)]
    found = run.invoke(app, [*given, "-o", str(tmp_path / "other")])
    assert found.exit_code == 0, found.output
    assert "regional" in found.output
    found = run.invoke(app, ["verify", str(folder), "-p", str(rules)])
    assert "Traceback" not in found.output
    found = run.invoke(app, [*given, "-o", str(tmp_path / "third"), "--method", "regionel"])
    assert found.exit_code == 2


def test_settings_and_what_is_wrong_with_them():
    asked = policy("zip", method={"method": "regional", "rounds": 0})
    assert asked.make_regional().rounds == 0
    assert sf.anonymize(PEOPLE, asked).manifest.method == {"name": "regional", "rounds": 0}
    with pytest.raises(sf.errors.PolicyError, match="rounds must be"):
        sf.anonymize(PEOPLE, asked, method={"method": "regional", "rounds": -1})
    searched = policy("zip", search={"search": "exhaustive"})
    assert sf.anonymize(PEOPLE, searched).manifest.search.name == "exhaustive"
