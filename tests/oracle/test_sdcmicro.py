"""The figures that sdcMicro gives for Adult: individual risks, special uniques, hidden cells."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.drafting.special_uniques import dis_scores, minimal_uniques
from sfumato.populations import Sample, unique_match
from sfumato.populations.individual import individual_risk
from tests.docs.pages import ROOT
from tests.oracle.test_adult import table

FIGURES = json.loads((Path(__file__).parent / "sdcmicro.json").read_text())


def classes(case):
    keys = [key.replace("_", "-") for key in case["keys"].split(",")]
    return table("adult.csv").project(keys)


@pytest.mark.parametrize("case", FIGURES["risks"], ids=lambda case: case["keys"])
def test_individual_risks_are_those_of_sdcmicro_but_for_its_approximation(case):
    """Its default takes p / (f - 1 + p) for the mean of 1/F in classes of three rows and more."""
    rows = classes(case).rows
    assert (rows == 1).sum() == case["uniques"]
    assert rows[rows < 3].sum() == case["below_3"]
    risks, p = individual_risk(rows, rows * float(case["weight"])), 1 / case["weight"]
    assert risks.max() == pytest.approx(case["largest_risk"], abs=1e-8)
    approximated = np.where(rows < 3, risks, p / (rows - 1 + p))
    assert (approximated * rows).sum() == pytest.approx(
        case["expected_reidentifications"], abs=1e-6
    )
    exact = float((risks * rows).sum())
    assert 0 < case["expected_reidentifications"] - exact < 3e-4 * exact


@pytest.mark.parametrize("case", FIGURES["special uniques"], ids=lambda case: case["keys"])
def test_special_uniques_and_their_probabilities_are_those_of_sdcmicro(case):
    counts = classes(case)
    n = len(counts.columns)
    scores = minimal_uniques(counts, n).scores(len(counts))
    assert np.count_nonzero(scores) == case["suda_rows"]
    assert scores.sum() == case["score_sum"]
    match = unique_match(Sample.of(counts.rows, FIGURES["DisFraction"]))
    found = dis_scores(scores[counts.rows == 1], match, n)
    assert found.sum() == pytest.approx(case["dis_sum"], rel=1e-7)
    assert found.max() == pytest.approx(case["dis_max"], rel=1e-7)


@pytest.mark.parametrize(
    "case", FIGURES["hidden cells"], ids=lambda case: f"{case['keys']}, k={case['k']}"
)
def test_more_cells_are_hidden_where_a_gap_matches_nothing_and_the_pages_say_how_many(case):
    """A gap that matches anything makes every row like many: fewer cells need be hidden."""
    keys = [key.replace("_", "-") for key in case["keys"].split(",")]
    rows = table("adult.csv")
    policy = sf.Policy(
        columns=dict.fromkeys(keys, "quasi-identifier"),
        models=[sf.models.KAnonymity(case["k"])],
        method="bottom-up",
        suppression=0,
    )
    release = sf.anonymize(_arrow(rows, keys), policy)
    hidden = sum(release.table[key].to_pylist().count("*") for key in keys)
    assert case["suppressed_cells"] < hidden < 1.3 * case["suppressed_cells"]
    page = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    theirs, ours = f"{case['suppressed_cells']:,}", f"{hidden:,}"
    assert f"| {theirs.replace(',', ' ')} | {ours.replace(',', ' ')} |" in page


def _arrow(counts, keys):
    counts = counts.project(keys)
    return pa.table(
        {
            key: pa.array(np.repeat(np.array(column.values, dtype=object)[codes], counts.rows))
            for key, column, codes in zip(keys, counts.columns, counts.codes, strict=True)
        }
    )


@pytest.mark.parametrize("gap", [None, "*"])
def test_a_file_whose_k_counts_gaps_on_either_side_is_a_no(gap):
    """Each row matches three by `freqCalc`; who knows f and BA finds the one with the gap."""
    rows = [("f", gap), ("f", "HS"), ("f", "HS"), *[("m", "HS")] * 3]
    matching = [
        sum(all(a == b or gap in (a, b) for a, b in zip(one, other, strict=True)) for other in rows)
        for one in rows
    ]
    assert min(matching) == 3
    sex, school = zip(*rows, strict=True)
    ills = ["flu", "gout", "mumps", "ulcer", "angina", "asthma"]
    data = pa.table({"sex": sex, "school": school, "ill": ills})
    found = sf.verify(data, quasi_identifiers=["sex", "school"], sensitive=["ill"])
    assert found.answer == "no"
    assert found.at_risk >= 1
