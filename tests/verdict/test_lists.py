"""Cells that are lists differ, and still all people of a class may have one item."""

import json

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf

OTHERS = ["asthma", "burns", "colic", "gout", "lupus", "mumps", "rickets", "tinea"]
STAIRS, SIZE = 15, 40

POLICY = {
    "columns": {"stair": "quasi-identifier", "ills": "sensitive"},
    "models": [{"model": "k-anonymity", "k": 10}],
}


def lists(odd, between="; ", seed=3):
    """Return three illnesses of each person; on one staircase one of them is the same."""
    rng = np.random.default_rng(seed)
    stair = np.arange(STAIRS * SIZE) % STAIRS
    cells = []
    for each in stair.tolist():
        some = rng.permutation(OTHERS)[:3].tolist()
        if odd and each == 6:
            some = rng.permutation(["measles", *some[:2]]).tolist()
        cells.append(between.join(some))
    return pa.table({"stair": [f"stair {each}" for each in stair], "ills": cells})


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("between", ["; ", "|", ", ", ","])
def test_an_item_of_all_people_of_a_class_is_told(between):
    found = sf.verify(lists(odd=True, between=between), POLICY)
    assert (found.answer, found.at_risk) == ("no", SIZE)
    assert any("measles" in each for each in found.why)


WRITTEN = {
    "as Python does": repr,
    "as JSON": json.dumps,
    "in brackets": lambda some: f"[{', '.join(some)}]",
    "as NumPy does": lambda some: "[" + " ".join(map(repr, some)) + "]",
    "with words": lambda some: f"{', '.join(some[:-1])} and {some[-1]}",
    "with numbers": lambda some: " ".join(f"{n}. {each}" for n, each in enumerate(some, 1)),
    "with points": lambda some: "• " + " • ".join(some),
    "with tabs": "\t".join,
    "with carets": "^".join,
    "with dashes": " - ".join,
}


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("name", WRITTEN)
def test_lists_are_read_however_they_are_written(name):
    for odd in (True, False):
        table = lists(odd)
        cells = [WRITTEN[name](cell.split("; ")) for cell in table["ills"].to_pylist()]
        found = sf.verify(table.set_column(1, "ills", pa.array(cells)), POLICY)
        assert found.at_risk == SIZE * odd


@pytest.mark.usefixtures("patience")
def test_lists_with_nothing_in_common_are_a_yes():
    assert sf.verify(lists(odd=False), POLICY).answer == "yes"


@pytest.mark.usefixtures("patience")
def test_an_item_that_another_column_tells_is_told():
    table = lists(odd=False)
    asthma = ["asthma" in cell for cell in table["ills"].to_pylist()]
    table = table.append_column("inhaler", pa.array([["no", "yes"][each] for each in asthma]))
    rules = {"inhaler": {"role": "plain", "because": "it is carried about"}}
    found = sf.verify(table, {**POLICY, "columns": {**POLICY["columns"], **rules}})
    assert found.answer == "no"
    assert found.at_risk >= sum(asthma)


@pytest.mark.usefixtures("patience")
def test_decimal_commas_are_no_lists():
    rng = np.random.default_rng(4)
    stair = np.arange(STAIRS * SIZE) % STAIRS
    doses = [f"{rng.integers(1, 900)},{rng.integers(10, 15)}" for _ in stair]
    table = pa.table({"stair": [f"stair {each}" for each in stair], "ills": doses})
    assert not [each for each in sf.verify(table, POLICY).attacks if each.level]


def wards(odd, places=2):
    """Return illnesses by number; on one ward everybody has measles, at one number or another."""
    ward = np.arange(600) % 10
    turn = np.arange(600) // 10
    columns = {
        f"dx{place + 1}": [
            "measles" if odd and at == 6 and now % places == place else OTHERS[code]
            for at, now, code in zip(ward, turn, turn // 8**place % 8, strict=True)
        ]
        for place in range(places)
    }
    return pa.table({"ward": [f"ward {each}" for each in ward], **columns})


def rules_of_wards(**more):
    unknown = {"role": "sensitive", "known": False, "because": "only the ward has the files"}
    columns = {"ward": "quasi-identifier", "dx1": {**unknown, **more}, "dx2": unknown}
    return {"columns": columns, "models": [{"model": "k-anonymity", "k": 10}]}


@pytest.mark.usefixtures("patience")
def test_what_all_have_as_one_of_several_illnesses_is_told():
    found = sf.verify(wards(odd=True), rules_of_wards())
    assert (found.answer, found.at_risk) == ("no", 60)
    assert any("measles" in each for each in found.why)
    assert sf.verify(wards(odd=False), rules_of_wards()).answer == "yes"
    harmless = rules_of_wards(harmless=[*OTHERS])
    assert sf.verify(wards(odd=False), harmless).answer == "yes"


@pytest.mark.usefixtures("patience")
def test_the_way_out_is_tried_for_several_illnesses_too():
    table, rules = wards(odd=True), rules_of_wards()
    found = sf.verify(sf.anonymize(table, rules), rules, data=table, remedies=True)
    assert found.answer == "no"
    assert json.dumps(found.to_dict())
    # No model of one column helps, and none is advised.
    assert "Publish dx1 and dx2 apart" in found.why[0]


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("names", [("dx1", "drug"), ("dx1", "dx2")])
def test_answers_and_other_columns_are_no_illnesses_of_one_list(names):
    table = wards(odd=True).rename_columns(["ward", *names])
    if names[1] == "dx2":
        # What yes means is another thing in each.
        yes = [
            ["no", "yes"][each == "measles"] for name in names for each in table[name].to_pylist()
        ]
        table = pa.table({"ward": table["ward"], names[0]: yes[:600], names[1]: yes[600:]})
    rules = rules_of_wards()
    rules["columns"][names[1]] = rules["columns"].pop("dx2")
    assert sf.verify(table, rules).at_risk == 0
