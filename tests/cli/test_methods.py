"""Choosing how rows are recoded, and what releases of either kind look like."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.main import get_command

from sfumato.cli.app import app
from sfumato.cli.output import show
from sfumato.partition import PARTITIONERS
from sfumato.releases.manifest import ColumnRecord, Manifest
from sfumato.releases.release import Release
from sfumato.tasks import anonymize
from sfumato.text import percent
from sfumato.verifier import Verdict


def manifest(columns, **changes):
    """A manifest as `anonymize` writes it, of a hundred rows."""
    return {
        "missing": "value",
        "columns": [*columns, {"name": "ill", "role": "sensitive"}],
        "rows": {"published": 100, "suppressed": 0, "suppression": "remove"},
        "models": [{"model": "k-anonymity", "k": 2, "measured": {"k": 3}}],
        "loss": "normalized-loss",
        "losses": {"normalized-loss": 0.25},
        "classes": {"count": 20, "smallest": 3, "largest": 9, "average": 5.0},
        "reproducible": False,
        **changes,
    }


def column(name, **settings):
    return {"name": name, "role": "quasi-identifier", **settings}


SEARCH = {"name": "best-first", "checks": 5, "nodes": 10, "optimal": True}
OLD = manifest([column("age", level=1, height=4), column("zip", level=0, height=1)], search=SEARCH)
FULL = {**OLD, "method": {"name": "full-domain"}}
LOCAL = manifest(
    [
        column("age", height=4, levels=[62, 30, 8, 0, 0]),
        column("zip", height=2, levels=[0, 1, 99]),
    ],
    method={"name": "top-down", "best": "rows"},
)
MIXED = manifest(
    [
        column("age", intervals=14),
        column("zip", height=2, levels=[50, 50, 0]),
    ],
    method={"name": "mondrian", "relaxed": False},
)
EMPTY = manifest([column("age", height=1, levels=[0, 0])], method={"name": "top-down"})


def release(plain):
    return Release(Manifest.from_dict(plain), Verdict(()))


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    """Let no terminal width of the surroundings break lines."""
    monkeypatch.delenv("COLUMNS", raising=False)


def shown(plain, capsys):
    """Give the lines of a view, with single spaces and without what surrounds tables."""
    show(release(plain).content())
    lines = (re.sub(r" +", " ", line).strip() for line in capsys.readouterr().out.splitlines())
    return [line for line in lines if line and not set(line) <= set("─ ")]


@pytest.mark.parametrize("plain", [OLD, FULL], ids=["without a method", "with one"])
class TestFullDomain:
    def test_the_view_shows_one_level_per_column(self, plain, capsys):
        assert shown(plain, capsys) == [
            "100 of 100 rows in 20 classes, 0 suppressed, normalized-loss 0.25 (proven optimal)",
            "quasi-identifier level",
            "age 1 of 4",
            "zip 0 of 1",
            "promise measured",
            "k-anonymity with k=2 k=3",
        ]

    def test_the_text_does_too(self, plain):
        assert str(release(plain)).splitlines()[1:-1] == [
            "quasi-identifier  level",
            "age               1 of 4",
            "zip               0 of 1",
            "",
            "promise               measured",
            "k-anonymity with k=2  k=3",
        ]

    def test_so_do_the_properties(self, plain):
        made = release(plain)
        assert (made.method, made.levels, made.optimal) == (
            "full-domain",
            {"age": 1, "zip": 0},
            True,
        )

    def test_what_is_not_proven_is_said(self, plain):
        plain = {**plain, "search": {**SEARCH, "optimal": False}}
        assert not release(plain).optimal
        assert "(the best found, not proven optimal)" in str(release(plain))


class TestLocal:
    def test_the_view_shows_the_share_of_cells_at_each_level(self, capsys):
        assert shown(LOCAL, capsys)[:4] == [
            (
                "100 of 100 rows in 20 classes, 0 suppressed, normalized-loss 0.25 "
                "(top-down, a heuristic)"
            ),
            "quasi-identifier level 0 level 1 level 2 level 3 level 4 mean level",
            "age 62 % 30 % 8 % – – 0.46 of 4",  # (30 + 2 * 8) / 100
            "zip – 1 % 99 % 1.99 of 2",
        ]

    def test_the_text_says_the_same(self, capsys):
        text = [" ".join(line.split()) for line in str(release(LOCAL)).splitlines()]
        assert text[:4] == shown(LOCAL, capsys)[:4]

    def test_a_sentence_leaves_out_levels_that_no_row_has(self):
        assert [column.level_text for column in release(LOCAL).manifest.columns[:2]] == [
            "level 0 62 %, level 1 30 %, level 2 8 %",
            "level 1 1 %, level 2 99 %",
        ]

    def test_columns_of_intervals_have_their_number(self, capsys):
        assert shown(MIXED, capsys)[1:4] == [
            "quasi-identifier level 0 level 1 level 2 mean level intervals",
            "age 14",
            "zip 50 % 50 % – 0.50 of 2",
        ]
        assert release(MIXED).manifest.columns[0].level_text == "14 intervals"
        assert "(mondrian, a heuristic)" in str(release(MIXED))

    def test_intervals_alone_need_no_levels(self, capsys):
        plain = manifest([column("age", intervals=14)], method={"name": "mondrian"})
        assert shown(plain, capsys)[1:3] == ["quasi-identifier intervals", "age 14"]

    def test_there_is_no_one_level_and_no_proof(self):
        for plain in (LOCAL, MIXED, EMPTY):
            assert release(plain).levels == {}
            assert release(plain).optimal is False
        assert release(LOCAL).method == "top-down"

    def test_a_release_without_rows_can_be_shown(self, capsys):
        assert shown(EMPTY, capsys)[2] == "age – –"
        assert release(EMPTY).manifest.columns[0].level_text == "no rows"


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=6))
def test_a_share_is_none_or_all_only_if_it_is(counts):
    total = sum(counts)
    for part in counts:
        text = percent(part / max(total, 1))
        assert (text == "0 %") == (part == 0)
        assert (text == "100 %") == (0 < part == total)
        if text[0] not in "<>":
            assert abs(float(text.removesuffix(" %")) * total - 100 * part) <= total / 2
    named = re.findall(
        r"level (\d+) ", ColumnRecord("x", "quasi-identifier", levels=tuple(counts)).level_text
    )
    assert [int(level) for level in named] == [i for i, rows in enumerate(counts) if rows]


@pytest.fixture
def asked(monkeypatch):
    """What the command asks of the task, which does nothing."""
    calls = []

    def record(data, policy, **settings):
        calls.append(settings)
        return release(LOCAL)

    monkeypatch.setattr(anonymize, "anonymize", record)
    return calls


ANONYMIZE = ("anonymize", "patients.csv", "-p", "policy.yaml", "-o", "r")


@pytest.mark.parametrize("method", ["full-domain", *PARTITIONERS])
def test_the_option_overrides_the_policy(patients, run, asked, method):
    assert run(*ANONYMIZE, "--method", method).exit_code == 0
    assert [settings["method"] for settings in asked] == [method]


def test_without_the_option_the_policy_decides(patients, run, asked):
    result = run(*ANONYMIZE)
    assert result.exit_code == 0
    assert asked[0].get("method") is None
    assert "(top-down, a heuristic)" in result.stdout


def test_the_help_names_every_method_that_comes_with_the_program():
    [option] = [p for p in get_command(app).commands["anonymize"].params if p.name == "method"]
    own = [name for name, kind in PARTITIONERS.items() if kind.__module__.startswith("sfumato.")]
    assert option.metavar.split("|") == ["full-domain", "regional", *own]
