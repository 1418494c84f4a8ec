"""Where not all was tried, the number of people at risk says so: it never reads as safe."""

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks import knowledge_breach
from sfumato.policy.adversaries import Knows

ROWS, COLUMNS = 200, 12


@pytest.fixture
def wide():
    rng = np.random.default_rng(5)
    columns = {f"c{i}": rng.choice(["a", "b", "c"], ROWS) for i in range(COLUMNS)}
    return pa.table({"sex": rng.choice(["f", "m"], ROWS), **columns})


def policy(**more):
    columns = {"sex": "quasi-identifier", **{f"c{i}": "sensitive" for i in range(COLUMNS)}}
    return {"columns": columns, "models": [{"model": "k-anonymity", "k": 5}], **more}


def lines(found):
    return {line.knows: line for line in found.adversaries}


@pytest.mark.usefixtures("patience")
def test_all_that_was_tried_needs_no_word(wide):
    found = sf.verify(wide, policy())
    assert not any(line.in_part for line in found.adversaries)
    assert "as far as" not in str(found)


def test_a_line_says_that_it_is_about_a_part(wide, monkeypatch):
    monkeypatch.setattr(knowledge_breach, "work_for", lambda _: 20_000_000)
    found = sf.verify(wide, policy())
    assert [line.in_part for line in found.adversaries] == [False, False, True]
    two = lines(found)[Knows.TWO_VALUES]
    assert str(two).endswith("people at risk, as far as that was tried")
    assert two.to_dict()["in_part"]
    shown = str(found)
    assert "as far as that was tried" in shown
    assert "sets of known columns were tried" in shown


def test_where_not_even_one_value_was_tried_both_lines_say_so(wide, monkeypatch):
    monkeypatch.setattr(knowledge_breach, "work_for", lambda _: 3_000_000)
    found = sf.verify(wide, policy())
    assert [line.in_part for line in found.adversaries] == [False, True, True]


@pytest.mark.usefixtures("patience")
def test_the_report_says_it_too(wide, monkeypatch, tmp_path):
    monkeypatch.setattr(knowledge_breach, "work_for", lambda _: 20_000_000)
    release = sf.anonymize(wide, policy(), output=tmp_path / "out")
    page = sf.report(release, policy=policy()).to_markdown()
    assert "with two other values (as far as that was tried)" in page
