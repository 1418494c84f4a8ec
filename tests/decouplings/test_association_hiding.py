"""Association hiding: rules to values and away from them, against counting row by row."""

import json
from collections import Counter
from itertools import combinations, product

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.app import app
from sfumato.comparison.trial import QUERY_ERROR
from sfumato.counts import FrequencySet
from sfumato.decouplings import AssociationHiding
from sfumato.decouplings.association_hiding import Thresholds, hide_columns
from sfumato.errors import InputError, ParameterError
from sfumato.hierarchy import Hierarchy
from sfumato.verifier import verify_folder
from tests.decouplings.tables import table
from tests.verifier.releases import edit_manifest
from tests.verifier.test_broken import change

NAMES = ("q", "r", "s")
LETTERS = ("a", "b", "c", "d", "e")
PATHS = {
    "a": ("a", "ab", "abc", "*"),
    "b": ("b", "ab", "abc", "*"),
    "c": ("c", "c", "abc", "*"),
    "d": ("d", "de", "DE", "*"),
    "e": ("e", "de", "DE", "*"),
}
TREE = Hierarchy.from_paths(LETTERS, [PATHS[letter][1:] for letter in LETTERS])
LEAVES = {**dict.fromkeys(LETTERS, 1), "ab": 2, "de": 2, "abc": 3, "DE": 2}
ROWS = st.lists(
    st.tuples(
        st.sampled_from("123"), st.sampled_from(["x", "y", None]), st.sampled_from([*LETTERS, None])
    ),
    min_size=1,
    max_size=30,
)
SHARES = st.sampled_from([0.0, 0.25, 0.5, 0.6, 0.75, 0.9])


def rules(rows, confidence, absence, support=1, size=1):
    """Every rule to a label or away from one, word by word."""
    found, total = set(), len(rows)
    everywhere = Counter(row[-1] for row in rows)
    for n in range(1, size + 1):
        for at in combinations((0, 1), n):
            for known in {tuple(row[i] for i in at) for row in rows}:
                people = [row[-1] for row in rows if tuple(row[i] for i in at) == known]
                if len(people) < support:
                    continue
                for label in everywhere:
                    if label in (None, "*"):
                        continue
                    there = people.count(label)
                    if there / (len(people) * LEAVES[label]) > confidence:
                        found.add((known, label, True))
                    gone = (len(people) - there) / len(people)
                    common = (total - everywhere[label]) / total
                    if absence is not None and gone > absence >= common:
                        found.add((known, label, False))
    return found


def hide_by_hand(rows, confidence, absence, support, size):
    """Lift every label that a rule is about to its parent, with all below it, until none is."""
    level = {None: 0, **dict.fromkeys(LETTERS, 0)}

    def label(value):
        if value is None:
            return "*" if all(each == 3 for v, each in level.items() if v) else None
        return PATHS[value][level[value]]

    present = {row[-1] for row in rows if row[-1] is not None}
    level = {value: each for value, each in level.items() if value in present}
    while True:
        published = [(*row[:2], label(row[2])) for row in rows]
        about = {each[1] for each in rules(published, confidence, absence, support, size)}
        if not about:
            return published
        # Labels of one name are one: each of the values under it goes up.
        raised = dict(level)
        for value in present:
            if label(value) in about and level[value] < 3:
                parent = PATHS[value][level[value] + 1]
                for other in present:
                    if PATHS[other][level[value] + 1] == parent:
                        raised[other] = max(raised[other], level[value] + 1)
        level = raised


@given(ROWS, SHARES, st.none() | SHARES, st.integers(1, 4), st.integers(1, 2))
def test_what_is_published_is_what_hiding_by_hand_publishes(
    rows, confidence, absence, support, size
):
    counts = FrequencySet.from_rows(NAMES, rows)
    ladder = TREE.bind("s", counts.column("s").values)
    thresholds = Thresholds(confidence, absence, support, size)
    [column] = hide_columns(counts, NAMES[:2], ["s"], {"s": ladder}, thresholds)
    published = [(*row[:2], column.labels[row[2]]) for row in rows]
    if any(row[-1] is not None for row in rows):
        assert Counter(published) == Counter(hide_by_hand(rows, *vars(thresholds).values()))
    assert not rules(published, confidence, absence, support, size)
    before = rules(rows, confidence, absence, support, size)
    assert (column.rules, column.disassociations) == (
        len(before),
        sum(not present for *_, present in before),
    )
    assert column.changed == bool(before)


@given(ROWS, SHARES, st.none() | SHARES)
def test_a_release_is_verified_and_has_no_rule_left(rows, confidence, absence):
    release = sf.decouple(
        table(rows, NAMES),
        AssociationHiding(confidence, absence, size=2),
        quasi_identifiers=NAMES[:2],
        sensitive=["s"],
    )
    assert release.verdict.holds
    published = [tuple(row.values()) for row in release.tables["data"].to_pylist()]
    assert Counter(row[:2] for row in published) == Counter(row[:2] for row in rows)
    assert not rules(published, confidence, absence, size=2)


@given(
    st.lists(st.tuples(st.sampled_from("12"), st.sampled_from(LETTERS)), min_size=1, max_size=5),
    st.sampled_from([0.2, 0.4, 0.6]),
)
def test_whoever_lists_all_worlds_believes_no_value_above_the_confidence(rows, confidence):
    """Every way to put raw values below the labels is a world that may be."""
    counts = FrequencySet.from_rows(["q", "s"], rows)
    ladder = TREE.bind("s", counts.column("s").values)
    [column] = hide_columns(counts, ["q"], ["s"], {"s": ladder}, Thresholds(confidence))
    published = [(q, column.labels[s]) for q, s in rows]
    below = {
        label: [letter for letter in LETTERS if label in PATHS[letter]] for _, label in published
    }
    worlds = list(product(*(below[label] for _, label in published)))
    for known in {q for q, _ in rows}:
        people = [i for i, (q, _) in enumerate(rows) if q == known]
        if any(published[i][1] == "*" for i in people):
            continue  # a star is not said to stand for these five letters only
        for letter in LETTERS:
            believed = sum(world[i] == letter for world in worlds for i in people)
            assert believed <= confidence * len(worlds) * len(people) + 1e-9


# The whole way, on a table of the literature.

POLICY = """\
columns:
  age: quasi-identifier
  gender: quasi-identifier
  zipcode: quasi-identifier
  government:
    role: sensitive
    hierarchy:
      kind: taxonomy
      tree: {public: [State-gov, Federal-gov, Local-gov], own: [Private, Self-emp]}
  marital_status: sensitive
  salary: sensitive
other: dropped
models:
  - {model: k-anonymity, k: 5}
  - {model: distinct-l-diversity, column: government, l: 3}
decouple: {method: association-hiding, confidence: 0.5, absence: null}
"""


K = sf.models.KAnonymity(5)


def census():
    return sf.samples.table("census")


def test_only_what_a_rule_is_about_becomes_general():
    release = sf.decouple(census(), policy=sf.Policy.from_yaml(POLICY))
    rows = release.tables["data"].to_pylist()
    assert Counter(row["government"] for row in rows) == {
        "own": 5,
        "State-gov": 2,
        "Federal-gov": 2,
        "Local-gov": 1,
    }
    assert {row["marital_status"] for row in rows} == {row["salary"] for row in rows} == {"*"}
    records = {each.column: each for each in release.manifest.hiding}
    assert records["government"].labels == {
        "own": 2,
        "State-gov": 1,
        "Federal-gov": 1,
        "Local-gov": 1,
    }
    # Two of three labels are left in the second group: what is not true of labels is not promised.
    assert [model.model for model in release.manifest.models] == ["k-anonymity"]
    assert any("distinct-l-diversity of government with l=3" in w for w in release.warnings)
    assert not any("where all have the same" in warning for warning in release.warnings)


def test_rules_that_lead_away_cost_more():
    policy = sf.Policy.from_yaml(POLICY)
    away = policy.replace(decouple={"method": "association-hiding", "absence": 0.9})
    rows = sf.decouple(census(), policy=away).tables["data"].to_pylist()
    # None of the second group is State-gov, Local-gov or anything but public in general.
    assert {row["government"] for row in rows} == {"own", "public"}


@pytest.mark.usefixtures("patience")
def test_the_command_line_publishes_and_verifies_it(tmp_path):
    pyarrow.csv.write_csv(census(), tmp_path / "census.csv")
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    words = [str(tmp_path / "census.csv"), "-p", str(tmp_path / "policy.yaml")]
    options = ["--method", "association-hiding", "--option", "confidence=0.5"]
    out = str(tmp_path / "out")
    done = CliRunner().invoke(app, ["decouple", *words, *options, "-o", out])
    assert done.exit_code == 0, done.output
    assert "no quasi-identifier reveals salary with more than 50 %" in done.output
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["kind"] == "association-hiding"
    assert "group" not in manifest
    readme = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "- No quasi-identifier reveals `salary` with more than 50 %, nor that" in readme
    found = CliRunner().invoke(app, ["verify", "--all", out])
    assert found.output.count("associations") == 3
    assert "Holds: all 12 checks." in found.output


def test_the_verdict_knows_what_it_leaves():
    """Hiding what quasi-identifiers tell does not hide what one secret tells of another."""
    release = sf.decouple(
        census(),
        {"method": "association-hiding", "confidence": 0.7, "absence": None},
        quasi_identifiers=["age", "gender", "zipcode"],
        sensitive=["government", "marital_status", "salary"],
    )
    found = sf.verify(release)
    assert not found.holds
    assert found.attack("homogeneity", "government").people == 0
    assert found.attack("knowledge-breach", "government").people == 7


@pytest.mark.usefixtures("patience")
def test_it_is_compared_and_its_use_is_measured():
    policy = sf.Policy.from_yaml(POLICY)
    vary = {"decouple": ["none", {"method": "association-hiding", "confidence": 0.5}]}
    whole, hidden = sf.compare(census(), policy, vary=vary).points
    assert hidden.losses[QUERY_ERROR] > whole.losses[QUERY_ERROR]
    release = sf.decouple(census(), policy=policy)
    both = sf.utility(census(), {"whole": census(), "hidden": release}, policy=policy, queries=50)
    assert both["whole"].queries.mean == 0 < both["hidden"].queries.mean


@pytest.mark.usefixtures("patience")
def test_what_readers_ask_is_answered_from_labels():
    policy = sf.Policy.from_yaml(POLICY)
    release = sf.decouple(census(), policy=policy)
    person = sf.explain(release, {"gender": "M"}, policy=policy)
    assert "government is most likely own: 80 %" in str(person)
    assert "*" not in str(person)
    assert sf.verify(release, policy=policy, data=census()).attacks
    report = sf.report(release, data=census(), policy=policy).write("markdown")
    assert "no quasi-identifier reveals salary with more than 50 %" in report
    broken = sf.decouple(census(), "break-merge", policy=policy.replace(models=[K]))
    assert "no quasi-identifier reveals salary" in str(sf.diff(broken, release))
    assert sf.breach(release).views
    assert sf.detect(release).networks
    assert sf.decouple(release, "break-merge").verdict.holds


def test_evidence_holds_what_no_rule_tells(tmp_path):
    release = sf.decouple(census(), policy=sf.Policy.from_yaml(POLICY), output=tmp_path / "out")
    evidence = json.loads((release.folder / "evidence.json").read_text(encoding="utf-8"))
    assert len(evidence["claims"]["hiding"]) == 3
    assert sf.check_evidence(release.folder).holds
    edit_manifest(release.folder, lambda m: m["hiding"][0].update(confidence=0.4))
    assert not sf.check_evidence(release.folder).holds


@pytest.mark.parametrize("inside", [True, False])
def test_what_needs_groups_refuses_it(tmp_path, inside):
    output = None if inside else tmp_path / "out"
    release = sf.decouple(census(), policy=sf.Policy.from_yaml(POLICY), output=output)
    given = release if inside else tmp_path / "out"
    with pytest.raises(InputError, match="its rows are whole, and not parted"):
        sf.tools.merge(given)
    with pytest.raises(InputError, match="its rows are whole, so who knows one value"):
        sf.Ledger.start(given, tmp_path / "x.ledger", alpha=0.5)
    with pytest.raises(InputError, match="has labels in place of values"):
        sf.verify(given, earlier=[census()])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"confidence": 1}, "confidence must be"),
        ({"confidence": -0.1}, "confidence must be"),
        ({"absence": 1.0}, "absence must be"),
        ({"support": 0}, "support must be"),
        ({"size": 0}, "size must be"),
        ({"scope": "rows"}, "scope must be|'values'"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, said):
    with pytest.raises(ParameterError, match=said):
        AssociationHiding(**settings)


def test_numbers_become_text_only_where_they_are_generalised():
    rows = {"q": ["x"] * 3 + ["y"] * 3, "pay": [1, 1, 2, 1, 2, 2], "age": [5, 6, 7, 5, 6, 7]}
    release = sf.decouple(
        pa.table(rows),
        AssociationHiding(0.6, None),
        quasi_identifiers=["q"],
        sensitive=["pay", "age"],
    )
    schema = release.tables["data"].schema
    assert (schema.field("pay").type, schema.field("age").type) == (pa.string(), pa.int64())


def test_spellings_are_one_value_unless_the_policy_says_otherwise():
    rows = {"q": ["x"] * 4 + ["y"] * 4, "ill": ["HIV", "hiv", "hiv ", "flu", *"abcd"]}
    roles = {"quasi_identifiers": ["q"], "sensitive": ["ill"]}
    method = AssociationHiding(0.6, None)
    hidden = sf.decouple(pa.table(rows), method, **roles)
    assert set(hidden.tables["data"]["ill"].to_pylist()) == {"*"}
    columns = {"q": "quasi-identifier", "ill": {"role": "sensitive", "spelling": "exact"}}
    policy = sf.Policy(columns=columns, models=[sf.models.KAnonymity(2)])
    exact = sf.decouple(pa.table(rows), method, policy=policy)
    assert len(set(exact.tables["data"]["ill"].to_pylist())) == 8


# The verifier believes nothing.


@pytest.fixture
def folder(tmp_path):
    policy = sf.Policy.from_yaml(POLICY).replace(
        decouple={"method": "association-hiding", "confidence": 0.5, "absence": 0.9}
    )
    sf.decouple(census(), policy=policy, output=tmp_path / "out", format="csv")
    (tmp_path / "out" / "evidence.json").unlink()
    return tmp_path / "out"


def failing(folder):
    return [check.name for check in verify_folder(folder).checks if check.status != "holds"]


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        (lambda m: m["hiding"].pop(), ["manifest"]),
        (lambda m: m["hiding"][0].update(column="age"), ["manifest"]),
        (lambda m: m["hiding"][0].update(confidence=1), ["associations"]),
        (lambda m: m["hiding"][0].update(confidence="0.5"), ["associations"]),
        (lambda m: m["hiding"][0].update(support=0), ["associations"]),
        (lambda m: m["hiding"][0].update(size=10**9), ["associations"]),
        (lambda m: m["hiding"][0].update(labels={"x": 0}), ["associations"]),
        (lambda m: m["hiding"][0].update(labels=[]), ["associations"]),
        (lambda m: m.pop("hiding"), ["manifest"]),
        (lambda m: m["files"][0].update(table="qi"), ["manifest"]),
        (lambda m: m["rows"].update(published=9), ["manifest"]),
        (lambda m: m["models"][0].update(k=6), ["k-anonymity"]),
    ],
)
def test_manifests_that_promise_otherwise_are_found(folder, edit, found):
    edit_manifest(folder, edit)
    assert failing(folder) == found


def test_a_table_that_tells_more_is_found(folder):
    def tell(header, rows):
        for row in rows:
            if row[header.index("gender")] == "F":
                row[header.index("salary")] = "low"

    change(folder, "data.csv", tell)
    # The codebook tells other values too, and that is found besides.
    check = next(c for c in verify_folder(folder).checks if c.status != "holds")
    assert (check.name, check.detail[:25]) == ("associations", "nothing says how many val")
    edit_manifest(folder, lambda m: m["hiding"][2].update(labels={"low": 1}))
    check = next(c for c in verify_folder(folder).checks if c.status != "holds")
    assert check.found == {"confidence": 1.0, "absence": 1.0}
    assert "reveals a value more surely" in check.detail
    assert "rules a value out more surely" in check.detail
