"""Slicing from the command line: its settings are read, and what cannot be is answered."""

import csv
import json
from collections import Counter

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.verifier.releases import edit_manifest, seal
from tests.verifier.test_broken import failing

ROLES = ("--qi", "age,sex,zip", "--sensitive", "ill", "--method", "slicing")
ROWS = [
    (age, sex, zip_, ill)
    for age in ("30", "40", "50")
    for sex in "fm"
    for zip_ in ("x", "y")
    for ill in ("flu", "gout", "hiv")
]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Slice people.csv of the current folder with some settings."""
    from sfumato.cli.app import app

    monkeypatch.chdir(tmp_path)
    with (tmp_path / "people.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("age", "sex", "zip", "ill"), *ROWS, ROWS[0]])

    def run(*settings):
        options = [part for setting in settings for part in ("--option", setting)]
        return CliRunner().invoke(app, ["decouple", "people.csv", "-o", "slices", *ROLES, *options])

    return run


@pytest.mark.parametrize(
    ("settings", "promise"),
    [
        (["l=2"], {"model": "probabilistic-l-diversity", "l": 2}),
        (["l=2", "form=entropy"], {"model": "entropy-l-diversity", "l": 2}),
        (["l=2.5", "form=entropy", "slices=4"], {"model": "entropy-l-diversity", "l": 2.5}),
        (
            ["l=3", "form=recursive", "c=1.5", "measure=cramers-v"],
            {"model": "recursive-cl-diversity", "c": 1.5, "l": 3},
        ),
    ],
)
def test_a_form_is_chosen_kept_and_verified(run, tmp_path, settings, promise):
    result = run(*settings)
    assert result.exit_code == 0, result.stderr
    assert promise["model"] in result.stdout
    manifest = json.loads((tmp_path / "slices" / "manifest.json").read_text(encoding="utf-8"))
    [model] = manifest["models"]
    assert {**promise, "column": "ill", "measured": model["measured"]} == model
    assert type(model["l"]) is type(promise["l"])
    assert not failing(tmp_path / "slices")


@pytest.mark.parametrize(
    ("settings", "promise"),
    [
        (["l=2", "cuts=relaxed"], {"model": "probabilistic-l-diversity", "l": 2}),
        (["l=2", "aim=membership"], {"model": "probabilistic-l-diversity", "l": 2}),
        (
            ["l=2", "form=enhanced-p-alpha", "alpha=1", "categories=[hiv, gout+flu]"],
            {"model": "enhanced-p-alpha-sensitive-k-anonymity", "p": 2, "alpha": 1.0},
        ),
    ],
)
def test_other_ways_are_chosen_on_the_command_line(run, tmp_path, settings, promise):
    result = run(*settings)
    assert result.exit_code == 0, result.stderr
    assert "made-up people who are not in the data" in " ".join(
        (result.stdout + result.stderr).split()
    )
    manifest = json.loads((tmp_path / "slices" / "manifest.json").read_text(encoding="utf-8"))
    [model] = manifest["models"]
    assert promise.items() <= model.items()
    assert not failing(tmp_path / "slices")


@pytest.mark.usefixtures("patience")
def test_buckets_that_are_judged_together_need_the_original_to_be_verified(tmp_path, monkeypatch):
    from sfumato.cli.app import app

    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    rows = [(*map(str, rng.integers(0, 2, 3)), "uvw"[rng.integers(3)]) for _ in range(60)]
    with (tmp_path / "people.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("age", "sex", "zip", "ill"), *rows])
    settings = ["l=2", "columns=[age, sex+zip, ill]", "cuts=relaxed", "check=worlds"]
    options = [part for setting in settings for part in ("--option", setting)]
    made = CliRunner().invoke(
        app, ["decouple", "people.csv", "-o", "slices", *ROLES, *options, "--seed", "1"]
    )
    assert made.exit_code == 0, made.stderr
    verify = ["verify", "slices", "--only-promises"]
    alone = CliRunner().invoke(app, verify)
    assert alone.exit_code == 1
    assert "give the original table" in " ".join(alone.stdout.split())
    assert CliRunner().invoke(app, [*verify, "--data", "people.csv"]).exit_code == 0


@pytest.mark.usefixtures("patience")
def test_several_sensitive_columns_and_none_are_sliced_on_the_command_line(run, tmp_path):
    assert run("l=2").exit_code == 0
    from sfumato.cli.app import app

    method = ["--method", "slicing", "--option", "l=2"]
    for name, roles in (
        ("several", ["--qi", "age,sex", "--sensitive", "zip,ill", "--option", "form=entropy"]),
        ("none", ["--qi", "age,sex,zip,ill"]),
    ):
        settings = ["-o", name, *method, *roles]
        if name == "several":
            settings[settings.index("l=2")] = "l=1.5"
        made = CliRunner().invoke(app, ["decouple", "people.csv", *settings])
        assert made.exit_code == 0, made.stderr
        assert not failing(tmp_path / name)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["l=4"], "'ill' has only 3 different values, fewer than 4"),
        (["l=4", "form=entropy"], "'ill' has only 3 different values, fewer than 4"),
        (["l=4", "form=recursive", "c=9"], "'ill' has only 3 different values, fewer than 4"),
        (["l=3"], "13 of 37 people with a known 'ill' have the same, more than 1 in 3"),
        (["l=3", "form=entropy"], "as hard to guess as 2.997 equally likely ones, fewer than 3"),
        (["l=3", "form=recursive", "c=1"], "not fewer than 1 times the 12"),
        (["l=2", "columns=[age+sex+zip+ill]"], "with one column whole rows are published"),
        (["l=2", "slices=1"], "with one column whole rows are published"),
        (["l=2", "slices=5"], "slices must be an integer from 2 to 4, got 5"),
        (["l=2", "columns=[age+sex, ill]"], "in no column: 'zip'"),
        (["l=2", "columns=[age+ill, sex+zip+ill]"], "tie the rows of both together"),
        (["l=2", "form=distinct"], "no choice 'distinct' here"),
        (["l=2", "form=recursive"], "c must be given for form='recursive'"),
        (["l=2", "c=3"], "c must be left out"),
        (["l=2", "measure=phi"], "no choice 'phi' here. Known: 'phi-square', 'cramers-v'"),
        (["l=2.5"], "l must be an integer of at least 2"),
        (["form=entropy"], "slicing needs 'l'"),
        (["l=2", "cuts=loose"], "no choice 'loose' here. Known: 'strict', 'relaxed'"),
        (["l=2", "check=worlds"], "check must be left out"),
        (["l=2", "form=p-alpha"], "alpha must be given for form='p-alpha'"),
        (["l=2", "aim=membership", "slices=2"], "slices must be left out"),
    ],
)
def test_what_cannot_be_is_answered_and_leaves_nothing(run, tmp_path, settings, words):
    result = run(*settings)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


@pytest.mark.parametrize(
    ("settings", "model"),
    [
        (["l=2"], "probabilistic-l-diversity"),
        (["l=2", "form=entropy"], "entropy-l-diversity"),
        (["l=2", "form=recursive", "c=2"], "recursive-cl-diversity"),
    ],
)
def test_values_moved_between_buckets_are_found_even_under_a_new_checksum(
    run, tmp_path, settings, model
):
    assert run(*settings, "columns=[age+sex+zip, ill]").exit_code == 0
    folder = tmp_path / "slices"
    with (folder / "slice_2.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    # As many people in every bucket and of every value as before, but one bucket has the flu.
    one, other = sorted({row[0] for row in rows})[:2]
    moving = [row for row in rows if row[0] in {one, other}]
    size = sum(int(people) for bucket, _, people in moving if bucket == one)
    ills = sorted(ill for _, ill, people in moving for _ in range(int(people)))
    dealt = Counter([(one, ill) for ill in ills[:size]] + [(other, ill) for ill in ills[size:]])
    moved = [row for row in rows if row not in moving]
    moved += [[bucket, ill, str(people)] for (bucket, ill), people in dealt.items()]
    with (folder / "slice_2.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *moved])
    edit_manifest(folder, lambda m: m["files"][1].update(rows=len(moved)))
    assert "sha256" in failing(folder)
    seal(folder)
    assert failing(folder) == [model, "codebook"]
