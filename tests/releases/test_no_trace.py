"""A release is a function of the published rows and of what is public, and of nothing else.

Each test releases two tables that differ in suppressed rows alone, with the same policy and seed,
and compares everything in both folders but the random order of rows: see `tests/fuzz/traces.py`.
"""

import json
import random
import zipfile
from itertools import product

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.decouplings import DECOUPLINGS
from sfumato.hierarchy import BUILDERS
from sfumato.perturbations import PERTURBATIONS
from sfumato.tables.formats import written_formats
from tests.fuzz import pairs, traces
from tests.fuzz.alike import differences, facts_of_data
from tests.fuzz.guards import CORPUS, Fault, try_case
from tests.fuzz.traces import Traces

pytestmark = pytest.mark.usefixtures("warm")

FORMATS = written_formats()
RULES = [
    (make, hierarchy, form)
    for make in pairs.PEOPLE
    for hierarchy in {repr(each): each for each in pairs.MAKES[make].hierarchies}.values()
    for form in (pairs.MAKES[make].forms or ("text",))
]
"""Every kind of value with every hierarchy and form."""


def case_of(make, hierarchy, form, *, method, hidden, seed=1, **more):
    """Return a case of one quasi-identifier beside another, by which odd rows are suppressed."""
    rng = random.Random(f"{make}/{hierarchy}/{form}/{method}/{hidden}/{seed}")
    rule = {"role": "quasi-identifier"}
    if hierarchy is not None:
        rule["hierarchy"] = hierarchy
    if form != "text":
        rule["as"] = form
    beside = {"make": "gate", "rule": {"role": "quasi-identifier", "levels": [0, 0]}}
    kind = pairs.MAKES[make]
    usual = [kind.usual(rng) for _ in range(8)]
    rows = [
        [tag, rng.choice(usual), rng.choice(["north", "south"]), rng.choice(pairs.ILLS)]
        for tag in range(40)
    ]
    values = list({repr(value): value for value in (kind.odd(rng) for _ in range(40))}.values())
    first, second = (None, None) if hidden == "missing" else ("area 1", "area 2")
    odd = [100, values[0], first, "flu"], [101, values[-1], second, "flu"]
    return {
        "columns": {make.replace(" ", "_"): {"make": make, "rule": rule}, pairs.GATE: beside,
                    "ill": {"make": "ill", "rule": "sensitive"}},
        "hidden": hidden,
        "policy": {
            "models": [{"model": "k-anonymity", "k": 3}],
            "method": method,
            "suppression": {"limit": 5},
            "missing": "suppress" if hidden == "missing" else "own-value",
        },
        "rows": rows,
        "odd": [{"row": odd[0], "becomes": [odd[1]]}],
        "seed": seed,
        "orders": [1, 2],
        "fixed": False,
        "tagged": False,
        "source": "arrow",
        "output": "csv",
        "then": "nothing",
        **more,
    }  # fmt: skip


def judge_all(cases):
    """Try all cases; raise all faults together, and say how many were compared."""
    guard = Traces()
    faults = [(case, fault) for case in cases if (fault := try_case(guard, case)) is not None]
    assert not faults, "\n\n".join(f"{fault}\n{case['odd']}" for case, fault in faults)
    return guard.tally


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("hidden", ["missing", "gate"])
@pytest.mark.parametrize("method", pairs.METHODS)
def test_labels_do_not_depend_on_values_of_suppressed_rows(method, hidden, some):
    rules = random.Random(f"{method}/{hidden}").sample(RULES, some(6, of=len(RULES)))
    tally = judge_all(
        case_of(make, hierarchy, form, method=method, hidden=hidden)
        for make, hierarchy, form in rules
    )
    compared = tally["compared"] + tally["compared in part"]
    # Some forms cannot be asked for here, and are refused.
    assert compared >= 0.6 * tally.total(), tally


SHOWN = [
    ("code", {"kind": "masking", "length": 20}),
    ("category", None),
    ("number", None),
    ("tree", pairs.NESTED),
    ("day", "auto"),
]


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("output", FORMATS)
def test_no_format_keeps_what_only_suppressed_rows_have(output, some):
    ways = list(product(SHOWN, ["csv", "parquet", "pandas", "polars", "encoded"]))
    cases = []
    for i, ((make, hierarchy), source) in enumerate(random.Random(output).sample(ways, len(ways))):
        hidden = ("missing", "gate")[i % 2]
        more = {"source": source, "output": output, "tagged": i % 4 > 1, "fixed": i % 3 > 0}
        cases.append(case_of(make, hierarchy, "text", method="full-domain", hidden=hidden, **more))
    cases = cases[: some(4, of=len(cases))]
    tally = judge_all(cases)
    assert tally["compared"] >= 0.8 * len(cases), tally


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("theme", pairs.THEMES)
@pytest.mark.parametrize("hidden", ["missing", "gate"])
def test_nothing_a_policy_asks_for_depends_on_suppressed_rows(theme, hidden, some):
    cases = []
    for i in range(some(4, of=30)):
        case = pairs.draw_pair(random.Random(f"{theme}/{hidden}/{i}"), theme=theme, hidden=hidden)
        cases.append({**case, "source": "parquet", "output": "csv", "tagged": i % 2 == 0,
                      "then": "nothing"})  # fmt: skip
    assert judge_all(cases).total() == len(cases)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("kind", PERTURBATIONS)
@pytest.mark.parametrize("hidden", ["missing", "gate"])
def test_perturbed_values_are_those_of_published_rows(kind, hidden):
    cases = []
    for settings_ in pairs.PERTURBATIONS[kind]:
        case = case_of("name", None, "text", method="full-domain", hidden=hidden, fixed=True)
        rng = random.Random(kind)
        rule = {"role": "sensitive", "perturb": {"kind": kind, **settings_}}
        if kind == "pram":
            case["columns"]["ill"]["rule"] = rule
            case["odd"][0]["becomes"][0][3] = "plague"
        else:
            case["columns"]["pay"] = {"make": "pay", "rule": rule}
            for row in case["rows"]:
                row.append(float(rng.randint(10, 40) * 100))
            for each, pay in ((case["odd"][0]["row"], 1e6), (case["odd"][0]["becomes"][0], 7.25)):
                each.append(pay)
        cases.append(case)
    assert judge_all(cases)["compared"] == len(cases)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("kind", DECOUPLINGS)
def test_parts_are_as_free_of_traces_as_the_release_they_are_made_of(kind):
    more = {"then": "decouple", "decouple": {"method": kind, **traces.DECOUPLINGS[kind]}}
    cases = [
        case_of("whole", {"kind": "intervals", "widths": [20]}, "text", method="full-domain",
                hidden=hidden, output=output, **more)
        for hidden in ("missing", "gate")
        for output in ("csv", "parquet")
    ]  # fmt: skip
    assert judge_all(cases)["compared"] == len(cases)


@pytest.mark.usefixtures("patience")
@given(st.randoms(use_true_random=False))
@settings(max_examples=30, derandomize=True)  # The guard `traces` of make fuzz draws new ones.
def test_whatever_suppressed_rows_become_the_release_stays(rng):
    guard = Traces()
    case = guard.draw(rng)
    fault = try_case(guard, case)
    assert fault is None, f"{fault}\n{case}"


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", ["mondrian", "mdav"])
@pytest.mark.parametrize("form", ["text", "bounds", "midpoint", "mean", "median"])
def test_ends_of_ranges_say_nothing_of_a_salary_that_is_left_out(method, form):
    rng = random.Random(4)
    pays = [rng.randint(20_000, 47_000) for _ in range(60)]
    sexes = [rng.choice("fm") for _ in pays]
    policy = {
        "columns": {
            "pay": {"role": "quasi-identifier", "as": form},
            "sex": "quasi-identifier",
        },
        "models": [{"model": "k-anonymity", "k": 3}],
        "method": method,
        "missing": "suppress",
        "suppression": 1,
    }
    found = []
    for salary in (251_234, 1_234_567, -8, 31_000):
        table = pa.table({"pay": [*pays, salary], "sex": [*sexes, None]})
        rows = sf.anonymize(table, policy, seed=1).table.to_pylist()
        found.append(sorted(map(str, rows)))
    assert all(rows == found[0] for rows in found)


@pytest.mark.parametrize("odd", ["99999-1234", "1", "123456"])
def test_a_long_code_that_is_left_out_does_not_switch_masking_off(odd):
    codes = ["10115", "10117", "20095", "20097"] * 3
    policy = {
        "columns": {
            "zip": {"role": "quasi-identifier", "hierarchy": "masking", "levels": [1, 1]},
            "sex": "quasi-identifier",
        },
        "models": [{"model": "k-anonymity", "k": 2}],
        "missing": "suppress",
        "suppression": 1,
    }
    table = pa.table({"zip": [*codes, odd], "sex": [*"f" * 12, None]})
    release = sf.anonymize(table, policy, seed=1)
    assert set(release.table["zip"].to_pylist()) == {"1011*", "2009*"}


# The judge itself.


def test_every_hierarchy_perturbation_and_decoupling_is_tried():
    drawn = {
        hierarchy["kind"] if isinstance(hierarchy, dict) else hierarchy or "star"
        for make in pairs.MAKES.values()
        for hierarchy in make.hierarchies
    }
    assert drawn == set(BUILDERS)
    assert set(pairs.PERTURBATIONS) == set(PERTURBATIONS)
    assert set(traces.DECOUPLINGS) == set(DECOUPLINGS)
    assert set(Traces.outputs) == set(FORMATS)


@pytest.mark.usefixtures("patience")
def test_most_pairs_are_compared(tmp_path, some):
    guard = Traces()
    for i in range(some(10, of=60)):
        try_case(guard, guard.draw(random.Random(f"most/{i}")))
    compared = guard.tally["compared"] + guard.tally["compared in part"]
    assert compared >= 0.5 * guard.tally.total(), guard.tally


def folder_with(path, form, table, note="same"):
    """Write a release as far as it is compared: a table and a manifest."""
    path.mkdir()
    match form:
        case "parquet":
            pa.parquet.write_table(table, path / "data.parquet")
        case "feather":
            pa.feather.write_feather(table, path / "data.feather")
        case "csv":
            pa.csv.write_csv(table, path / "data.csv")
    (path / "manifest.json").write_text(
        f'{{"files": [{{"name": "data.{form}"}}], "note": "{note}"}}'
    )
    return path


@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
def test_the_order_of_rows_is_no_difference(form, tmp_path):
    table = pa.table({"a": pa.array(["x", "y", "z"]), "b": [1, 2, 3]})
    one = folder_with(tmp_path / "one", form, table)
    other = folder_with(tmp_path / "other", form, table.take([2, 0, 1]))
    assert list(differences(one, other)) == []


@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
def test_a_cell_a_type_and_a_line_of_the_manifest_are_differences(form, tmp_path):
    table = pa.table({"a": pa.array(["x", "y"]), "b": pa.array([1, 2], pa.int64())})
    one = folder_with(tmp_path / "one", form, table)
    cells = table.set_column(0, "a", pa.array(["x", "w"]))
    assert any(
        "column a" in each for each in differences(one, folder_with(tmp_path / "2", form, cells))
    )
    said = folder_with(tmp_path / "3", form, table, "other")
    assert any(each.startswith("manifest.json") for each in differences(one, said))
    if form != "csv":
        types = table.set_column(1, "b", table["b"].cast(pa.int32()))
        assert any(
            "types" in each for each in differences(one, folder_with(tmp_path / "4", form, types))
        )


@pytest.mark.parametrize("form", ["parquet", "feather"])
def test_entries_of_dictionaries_that_no_row_uses_are_differences(form, tmp_path):
    def coded(*entries):
        return pa.table(
            {"a": pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), entries)}
        )

    one = folder_with(tmp_path / "one", form, coded("x", "y"))
    other = folder_with(tmp_path / "other", form, coded("x", "y", "z"))
    # Parquet writes what is used, of this form; Feather all.
    found = list(differences(one, other))
    assert any("dictionaries" in each for each in found) or form == "parquet"


def test_a_text_that_no_cell_of_a_sheet_has_is_a_difference(tmp_path):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    for name in ("one.xlsx", "other.xlsx"):
        with xlsxwriter.Workbook(tmp_path / name) as book:
            book.add_worksheet().write_column(0, 0, ["a", "x", "y"])
    facts = facts_of_data(tmp_path / "one.xlsx")
    assert facts["column a"] == facts_of_data(tmp_path / "other.xlsx")["column a"]
    with zipfile.ZipFile(tmp_path / "one.xlsx") as packed:
        parts = {each: packed.read(each) for each in packed.namelist()}
    parts["xl/sharedStrings.xml"] = parts["xl/sharedStrings.xml"].replace(
        b"</sst>", b"<si><t>left</t></si></sst>"
    )
    with zipfile.ZipFile(tmp_path / "more.xlsx", "w") as packed:
        for each, data in parts.items():
            packed.writestr(each, data)
    assert facts_of_data(tmp_path / "more.xlsx") != facts


def test_labels_of_values_that_no_row_has_are_a_difference(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    import pandas as pd

    frame = pd.DataFrame({"a": [1.0, 2.0]})
    for name, labels in (("one", {1: "x", 2: "y"}), ("other", {1: "x", 2: "y", 3: "z"})):
        for form in ("sav", "dta"):
            write = getattr(pyreadstat, f"write_{form}")
            write(frame, str(tmp_path / f"{name}.{form}"), variable_value_labels={"a": labels})
    for form in ("sav", "dta"):
        one, other = (facts_of_data(tmp_path / f"{name}.{form}") for name in ("one", "other"))
        assert one["column a"] == other["column a"]
        assert one["variable_value_labels"] != other["variable_value_labels"]


@pytest.mark.usefixtures("patience")
def test_a_planted_trace_is_found(monkeypatch, tmp_path):
    case = case_of("name", None, "text", method="full-domain", hidden="missing")
    assert try_case(Traces(), case) is None
    wrong = Traces.make

    def tells(self, case, rows, folder, output):
        made = wrong(self, case, rows, folder, output)
        longest = max(len(str(row[1])) for row in rows)
        (output / "README.md").write_text("x" * longest)
        return made

    monkeypatch.setattr(Traces, "make", tells)
    case["odd"][0]["row"][1], case["odd"][0]["becomes"][0][1] = "Ann", "Zebulon Maximilian"
    found = try_case(Traces(), case)
    assert isinstance(found, Fault)
    assert "README.md" in found.kind


@pytest.mark.usefixtures("patience")
def test_releases_that_refine_other_findings_are_told_from_those_that_decide_otherwise(monkeypatch):
    """One first release leaves out a row more than the other, and so finds something else."""
    case = json.loads((CORPUS / "traces" / "dfcae502e6de.json").read_text(encoding="utf-8"))
    guard = Traces()
    assert try_case(guard, case) is None
    assert guard.tally == {"others found": 1}
    monkeypatch.setattr(Traces, "asked_in_refining", lambda *_: "the same")
    found = try_case(Traces(), case)
    assert isinstance(found, Fault)
    assert found.kind.startswith("another decision")
