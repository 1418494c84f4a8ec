"""The benchmarks run, on the same data every time. How long they take is nobody's test."""

import csv
import json
import platform
import re
from collections import Counter
from statistics import fmean

import pyarrow as pa
import pytest

import sfumato as sf
from benchmarks import local, results, workloads
from benchmarks.__main__ import BENCHMARKS, main
from benchmarks.measure import ROOT, cpu
from benchmarks.results import Figure, Timing
from sfumato import samples
from sfumato.losses import DistortionRatio, NormalizedLoss
from sfumato.recode.deciding import counted_columns
from sfumato.tables import open_table
from tests.adult import adult_folder


def some_people(rows: int) -> pa.Table:
    return (
        samples.synthetic(rows, seed=3)
        .select(["age", "sex", "education"])
        .cast(pa.schema([("age", pa.string()), ("sex", pa.string()), ("education", pa.string())]))
    )


def test_a_seed_gives_the_same_table_and_another_seed_another():
    people = some_people(500)
    once = workloads.jittered_copy(people, seed=1, copy=0)
    assert once.equals(workloads.jittered_copy(people, seed=1, copy=0))
    assert not once.equals(workloads.jittered_copy(people, seed=2, copy=0))
    assert not once.equals(workloads.jittered_copy(people, seed=1, copy=1))
    assert workloads.grid(5, 20).equals(workloads.grid(5, 20))


def test_jittering_moves_ages_a_little_and_redraws_one_cell_in_ten():
    people = some_people(20_000)
    moved = workloads.jittered_copy(people, seed=1, copy=0)
    assert moved.column_names == people.column_names
    ages = moved["age"].to_numpy()
    shift = ages - people["age"].cast(pa.int64()).to_numpy()
    assert ages.min() >= 1
    assert ages.max() <= 100
    assert 2.5 < shift.std() < 3.5
    before, after = people["education"].to_pylist(), moved["education"].to_pylist()
    changed = sum(a != b for a, b in zip(before, after, strict=True)) / len(before)
    # A redrawn cell is often the same again.
    assert 0.03 < changed < 0.1
    assert set(after) == set(before)


@pytest.mark.usefixtures("adult")
def test_jittered_adult_does_not_depend_on_how_much_of_it_is_asked_for():
    longer = workloads.jittered(40_000)
    assert longer.num_rows == 40_000
    assert longer.slice(0, 100).equals(workloads.jittered(100))


def test_health_conditions_are_seeded_and_equally_likely():
    people = some_people(20_000)
    once = workloads.with_conditions(people)
    assert once.equals(workloads.with_conditions(people))
    assert not once.equals(workloads.with_conditions(people, seed=2))
    seen = Counter(once["Health_condition"].to_pylist())
    assert set(seen) == {name for category in workloads.CONDITIONS for name in category}
    assert all(abs(rows - 2500) < 250 for rows in seen.values())


def share_of_domain(name: str) -> dict[str, float]:
    """Read from the hierarchy file what each label costs: (m - 1) / (n - 1)."""
    with (adult_folder() / f"adult_hierarchy_{name}.csv").open() as file:
        paths = list(csv.reader(file, delimiter=";"))
    covered = Counter(label for path in paths for label in set(path))
    return {label: (m - 1) / (len(paths) - 1) for label, m in covered.items()}


@pytest.mark.parametrize("name", local.METHODS)
@pytest.mark.usefixtures("adult")
def test_granularity_is_that_of_the_cells_somebody_reads(name):
    policy = workloads.adult_policy(k=5, limit=0, loss=NormalizedLoss("arithmetic-mean"))
    table = workloads.adult().slice(0, 300)
    settled = local.decide(
        local.METHODS[name], policy, open_table(table).count(counted_columns(policy))
    )
    assert settled.suppressed == 0
    published = sf.anonymize(table, policy, method=local.METHODS[name]).table
    costs = {column: share_of_domain(column) for column in policy.quasi_identifiers}
    cells = [
        costs[c][label] for c in policy.quasi_identifiers for label in published[c].to_pylist()
    ]
    assert local.loss_of(policy, settled) == pytest.approx(fmean(cells), abs=1e-12)


@pytest.mark.parametrize("name", local.METHODS)
@pytest.mark.usefixtures("adult")
def test_health_conditions_are_protected_by_every_method(name):
    policy = workloads.health_policy(loss=DistortionRatio())
    table = workloads.with_conditions(workloads.adult().slice(0, 300))
    rows = sf.anonymize(table, policy, method=local.METHODS[name]).table.to_pylist()
    weight = {c: i / 3 for i, names in enumerate(workloads.CONDITIONS) for c in names}
    classes: dict[tuple[str, ...], list[float]] = {}
    for row in rows:
        key = tuple(row[column] for column in policy.quasi_identifiers)
        classes.setdefault(key, []).append(weight[row["Health_condition"]])
    assert len(policy.quasi_identifiers) == 7
    for weights in classes.values():
        assert len(weights) >= 4
        assert len(set(weights)) >= 2
        assert sum(weights) >= 2 - 1e-9


def test_timings_are_of_every_repeat_and_the_least_is_not_above_the_median():
    calls = []
    timing = cpu(lambda: calls.append(1), repeats=5)
    assert len(calls) == 6
    assert 0 <= timing.least <= timing.median


@pytest.mark.parametrize(
    "name",
    [
        "models",
        "search-adult",
        "check-table",
        "local",
        "wide",
        "scale",
        "engines",
        "engines-million",
    ],
)
@pytest.mark.usefixtures("adult", "bench")
def test_a_quick_run_gives_figures_and_keeps_nothing(name, capsys):
    kept = results.RESULTS.read_text(), results.README.read_text()
    (figures,) = main(["--quick", name]).values()
    said = capsys.readouterr().out
    assert figures
    assert all(f"  {figure.what}: " in said for figure in figures)
    assert len({figure.what for figure in figures}) == len(figures)
    assert kept == (results.RESULTS.read_text(), results.README.read_text())


def test_an_unknown_name_is_refused_with_those_there_are(capsys):
    with pytest.raises(SystemExit):
        main(["milion"])
    assert "no benchmark milion. Known: search-adult," in capsys.readouterr().err


def test_a_figure_says_whether_it_is_within_its_target():
    within = Figure.of("search", Timing(0.0123456, 0.02), target=0.05, others="ARX 0.05")
    assert within.cells() == ["search", "0.0123 CPU s (median 0.02)", "≤ 0.05", "ARX 0.05"]
    assert Figure("checks", 1200, target=1000).cells()[1:3] == ["1 200", "≤ 1 000 **missed**"]
    assert Figure("granularity", 0.93, floor=0.9377).cells()[2] == "≥ 0.9377 **missed**"
    assert Figure("granularity", 0.9377, floor=0.9377).cells()[2] == "≥ 0.9377"
    assert Figure("granularity", 0.93).met is None
    assert Figure("proven", True).cells()[1] == "yes"
    assert Figure("loss", 353204.987).cells()[1] == "353 204.987"


def test_kept_results_have_a_figure_for_every_benchmark():
    kept = results.load()
    assert list(kept["benchmarks"]) == list(BENCHMARKS)
    assert list(kept["machines"]) == list(BENCHMARKS)
    for facts in kept["machines"].values():
        assert set(facts) == set(results.machine())
    for name in kept["benchmarks"]:
        assert results.figures_of(kept, name)


def test_a_run_of_one_benchmark_replaces_its_own_figures_alone(tmp_path, monkeypatch):
    for name in ("RESULTS", "README"):
        kept = getattr(results, name)
        copy = tmp_path / kept.name
        copy.write_bytes(kept.read_bytes())
        monkeypatch.setattr(results, name, copy)
    before = results.load()
    # Another version, or another machine.
    monkeypatch.setattr(results, "machine", lambda: before["machines"]["scale"] | {"numpy": "9"})
    results.save({"scale": [Figure("count", 1.5, "CPU s")]}, list(BENCHMARKS))
    after = results.load()
    assert results.figures_of(after, "scale") == [Figure("count", 1.5, "CPU s")]
    assert after["machines"]["scale"]["numpy"] == "9"
    for part in ("machines", "benchmarks"):
        assert after[part] | {"scale": before[part]["scale"]} == before[part]
    page = results.README.read_text(encoding="utf-8")
    assert page.count(", numpy 9, ") == 1
    assert page.count("\nMeasured with: ") == len(BENCHMARKS)


def test_the_page_shows_what_was_kept():
    page = results.README.read_text(encoding="utf-8")
    assert results.with_table(page, results.load()) == page


def test_kept_results_are_plain_json_that_names_no_machine_and_no_folder():
    text = results.RESULTS.read_text(encoding="utf-8")
    json.loads(text, parse_constant=pytest.fail)
    assert platform.node() not in text
    assert str(ROOT) not in text
    assert not re.search(r"(?<![\w.])/(work|tmp|home|root|Users|mnt|usr)\b", text)
