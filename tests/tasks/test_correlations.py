"""Correlations of a table agree with the textbook, and are shown as they are."""

import json
from collections import Counter
from xml.etree import ElementTree as ET

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.decouplings.slices import Correlations
from sfumato.errors import InputError, OutputError, ParameterError, UnknownNameError

NAMES = ["sex", "job", "ill"]
ROLES = {"quasi_identifiers": ["sex", "job"], "sensitive": ["ill"]}
ROWS = [("f", "a", "flu"), ("f", "a", "gout"), ("m", "b", "flu"), ("m", "c", "flu")]


def table(rows):
    return pa.table({name: [row[i] for row in rows] for i, name in enumerate(NAMES)})


def phi_square(rows, i, j):
    """Σ (f_ij - f_i f_j)² / (f_i f_j) / (min(a, b) - 1), over all pairs of values, as printed."""
    n = len(rows)
    both, one, other = (
        Counter((r[i], r[j]) for r in rows),
        *(Counter(r[k] for r in rows) for k in (i, j)),
    )
    fewer = min(len(one), len(other))
    if fewer < 2:
        return 0.0
    total = 0.0
    for a, in_one in one.items():
        for b, in_other in other.items():
            expected = in_one / n * in_other / n
            total += (both[a, b] / n - expected) ** 2 / expected
    return total / (fewer - 1)


@given(
    st.lists(
        st.tuples(st.sampled_from("fm"), st.sampled_from("abcd"), st.sampled_from("xyz")),
        min_size=1,
        max_size=30,
    )
)
def test_every_pair_is_what_the_textbook_says(rows):
    found = sf.tools.correlations(table(rows), **ROLES)
    root = sf.tools.correlations(table(rows), **ROLES, measure="cramers-v")
    for i, one in enumerate(NAMES):
        for j, other in enumerate(NAMES):
            if i != j:
                expected = phi_square(rows, i, j)
                assert found.between(one, other) == pytest.approx(expected, abs=1e-9)
                assert root.between(one, other) ** 2 == pytest.approx(expected, abs=1e-9)
    strengths = [value for *_, value in found.pairs]
    assert strengths == sorted(strengths, reverse=True)
    assert {frozenset(pair[:2]) for pair in found.pairs} == {
        *map(frozenset, (("sex", "job"), ("sex", "ill"), ("job", "ill")))
    }
    assert all(found.between(one, other) == value for one, other, value in found.pairs)


def test_it_is_shown_as_text_and_as_plain_values():
    found = sf.tools.correlations(table(ROWS), **ROLES)
    assert isinstance(found, Correlations)
    assert str(found).splitlines() == [
        "4 rows, 3 columns, phi-square",
        "column     1     2     3",
        "1 sex      –  1.00  0.33",
        "2 job   1.00     –  0.33",
        "3 ill   0.33  0.33     –",
        "",
        "strongest pairs  phi-square",
        "sex – job              1.00",
        "sex – ill              0.33",
        "job – ill              0.33",
    ]
    assert repr(found) == "<CorrelationMap 4 rows, 3 columns, phi-square>"
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["measure"] == "phi-square"
    assert (plain["rows"], plain["columns"], plain["sensitive"]) == (4, NAMES, ["ill"])
    assert plain["pairs"][0] == {"columns": ["sex", "job"], "strength": pytest.approx(1)}
    assert plain["strength"] == [pytest.approx(row) for row in found.strength.tolist()]


def test_it_is_drawn_without_what_columns_have_to_do_with_themselves(tmp_path):
    found = sf.tools.correlations(table(ROWS), **ROLES)
    assert found.save(tmp_path / "map.svg") == tmp_path / "map.svg"
    text = (tmp_path / "map.svg").read_text(encoding="utf-8")
    assert text == found.svg()
    root = ET.fromstring(text)
    drawn = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert [each for each in drawn if each in ("–", "1.00", "0.33")] == [
        *("–", "1.00", "0.33"),
        *("1.00", "–", "0.33"),
        *("0.33", "0.33", "–"),
    ]
    assert "sex: most tied to job, 1.00." in text
    assert "likely" not in text


def test_a_drawing_goes_only_where_it_can(tmp_path):
    found = sf.tools.correlations(table(ROWS), **ROLES)
    with pytest.raises(ParameterError, match=r"path must be a file that ends in \.svg"):
        found.save(tmp_path / "map.png")
    with pytest.raises(OutputError, match="cannot write"):
        found.save(tmp_path / "nowhere" / "map.svg")


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_every_kind_of_table_is_taken(kind):
    data = kind({name: [row[i] for row in ROWS] for i, name in enumerate(NAMES)})
    assert str(sf.tools.correlations(data, **ROLES)) == str(
        sf.tools.correlations(table(ROWS), **ROLES)
    )


def policy(**changes):
    columns = {"sex": "quasi-identifier", "job": "quasi-identifier", "ill": "sensitive"}
    models = [{"model": "k-anonymity", "k": 2}]
    return sf.Policy(**{"columns": columns, "models": models, **changes})


def test_roles_come_from_a_policy_or_a_release():
    found = sf.tools.correlations(table(ROWS), policy=policy())
    assert str(found) == str(sf.tools.correlations(table(ROWS), **ROLES))
    suppressing = policy(suppression={"limit": 2, "rows": "star"})
    release = sf.anonymize(table(ROWS), suppressing)
    of_release = sf.tools.correlations(release)
    # Suppressed rows are still there as stars, and say nothing about anybody.
    assert of_release.names == tuple(NAMES)
    assert of_release.rows == 4 - release.manifest.rows.suppressed


def test_what_cannot_be_compared_is_refused():
    decoupled = sf.decouple(table(ROWS), **ROLES)
    with pytest.raises(InputError, match="a decoupled release: its rows cannot be put together"):
        sf.tools.correlations(decoupled)
    with pytest.raises(ParameterError, match="nothing says what the columns are"):
        sf.tools.correlations(table(ROWS))
    with pytest.raises(UnknownNameError, match=r"no measure 'cramer-v'.*Did you mean 'cramers-v'"):
        sf.tools.correlations(table(ROWS), **ROLES, measure="cramer-v")


def test_a_decoupled_folder_is_refused(tmp_path):
    sf.decouple(table(ROWS), **ROLES, output=tmp_path / "broken")
    with pytest.raises(InputError, match="Give the release it was made of"):
        sf.tools.correlations(tmp_path / "broken")
