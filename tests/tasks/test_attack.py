"""Attack: a table as it is, in whatever it is stored, against rows gone through one by one."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks import Homogeneity, Similarity
from sfumato.counts import FrequencySet
from sfumato.errors import ParameterError, UnknownColumnError
from sfumato.hierarchy import Taxonomy
from tests.attacks.tables import literally

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["f", "m", None]),
        st.integers(0, 3),
        st.sampled_from(["flu", "hiv", "gout", None]),
    ),
    min_size=1,
    max_size=30,
)
CATEGORIES = (("hiv",), ("flu", "gout"))
ORGANS = Taxonomy({"viral": ["flu", "hiv"], "other": ["gout"]})
TRIED = [Homogeneity("ill"), Similarity("ill", categories=CATEGORIES), Similarity("ill", level=1)]
SMALL = [("f", 1, "flu"), ("f", 1, "gout"), ("m", 2, "hiv"), ("m", 2, "hiv")]


def table(rows) -> pa.Table:
    sex, age, ill = zip(*rows, strict=True)
    return pa.table(
        {"sex": pa.array(sex, pa.string()), "age": age, "ill": pa.array(ill, pa.string())}
    )


def run(data, attacks=TRIED):
    found = sf.tools.attack(data, ["sex", "age"], attacks, hierarchies={"ill": ORGANS})
    return [finding.to_dict() for finding in found]


@given(ROWS)
def test_the_findings_are_those_of_the_rows(rows):
    labelled = [(f"{sex} {age}", ill) for sex, age, ill in rows]
    alike = [
        lambda a, b: a == b,
        lambda a, b: (a == "hiv") == (b == "hiv"),
        lambda a, b: (a == "gout") == (b == "gout"),
    ]
    sizes = [sum(label == other for other, _ in labelled) for label in sorted(set(dict(labelled)))]
    for found, rule in zip(run(table(rows)), alike, strict=True):
        expected = literally(labelled, rule)
        assert (found["classes"], found["of_classes"]) == (sum(expected), len(expected))
        assert found["rows"] == sum(n for n, bad in zip(sizes, expected, strict=True) if bad)
        assert found["of_rows"] == len(rows)


def test_it_does_not_matter_what_the_table_is_stored_in(tmp_path):
    arrow = table(SMALL)
    pyarrow.csv.write_csv(arrow, tmp_path / "people.csv")
    stored = [
        arrow.to_pandas(),
        pl.from_arrow(arrow),
        tmp_path / "people.csv",
        str(tmp_path / "people.csv"),
        FrequencySet.from_rows(("sex", "age", "ill"), SMALL),
    ]
    assert isinstance(stored[0], pd.DataFrame)
    expected = run(arrow)
    assert [found["classes"] for found in expected] == [1, 2, 1]
    for data in stored:
        assert run(data) == expected


def test_findings_come_in_the_order_of_the_attacks():
    found = sf.tools.attack(table(SMALL), ["sex"], TRIED[:2][::-1])
    assert [finding.attack for finding in found] == TRIED[:2][::-1]
    assert sf.tools.attack(table(SMALL), ["sex"], []) == ()


def test_without_quasi_identifiers_everybody_is_in_one_class():
    (finding,) = sf.tools.attack(table(SMALL), [], [Homogeneity("ill")])
    assert (finding.of_classes, finding.of_rows, finding.suffers) == (1, 4, False)


def test_several_columns_can_be_attacked_at_once():
    found = sf.tools.attack(
        table(SMALL), ["sex"], [Homogeneity("ill"), Similarity("age", within=0)]
    )
    assert [finding.classes for finding in found] == [1, 2]
    assert [finding.column for finding in found] == ["ill", "age"]


def test_the_printed_table_suffers_the_similarity_attack():
    health = sf.samples.table("health").to_pandas()
    health["age"] = health["age"].str[0] + "*"
    categories = [
        ["Cancer", "HIV"], ["Hepatitis", "Phthisis"], ["Asthma", "Obesity"], ["Indigestion", "Flu"],
    ]  # fmt: skip
    attacks = [Homogeneity("condition"), Similarity("condition", categories=categories)]
    same, alike = sf.tools.attack(health, ["age"], attacks)
    assert not same.suffers
    assert str(alike) == (
        "similarity(condition, 4 categories) exposes 4 of 12 rows, in 1 of 3 classes"
    )


def test_a_misspelt_column_is_answered_with_the_right_one():
    with pytest.raises(UnknownColumnError, match="Did you mean 'sex'"):
        sf.tools.attack(table(SMALL), ["sexx"], [Homogeneity("ill")])
    with pytest.raises(UnknownColumnError, match="Did you mean 'ill'"):
        sf.tools.attack(table(SMALL), ["sex"], [Homogeneity("illl")])


def test_a_hierarchy_of_a_column_that_is_not_attacked_is_refused():
    with pytest.raises(UnknownColumnError, match=r"'il' in the attacked columns.*mean 'ill'"):
        sf.tools.attack(table(SMALL), ["sex"], [Homogeneity("ill")], hierarchies={"il": ORGANS})


def test_what_the_attacker_knows_is_not_attacked():
    with pytest.raises(
        ParameterError, match=r"got \['sex', 'ill'\]: an adversary who knows 'ill' need not"
    ):
        sf.tools.attack(table(SMALL), ["sex", "ill"], [Homogeneity("ill")])


@pytest.mark.parametrize(
    ("names", "attacks", "settings", "words"),
    [
        ("age", [Homogeneity("ill")], {}, "quasi_identifiers must be a list of column names"),
        (3, [Homogeneity("ill")], {}, "quasi_identifiers must be a list of column names, got 3"),
        (["age"], Homogeneity("ill"), {}, "attacks must be a list of attacks"),
        (["age"], "homogeneity", {}, "attacks must be a list of attacks, got 'homogeneity'"),
        (["age"], [Homogeneity("ill")], {"hierarchies": 3}, "a mapping of columns to hierarchies"),
        (["age"], [Homogeneity("ill")], {"hierarchies": {"ill": 3}}, "must be one of sf.hierarchy"),
    ],
)
def test_what_is_no_request_is_answered(names, attacks, settings, words):
    table = pa.table({"age": ["30"], "ill": ["flu"]})
    with pytest.raises(ParameterError, match=words):
        sf.tools.attack(table, names, attacks, **settings)
