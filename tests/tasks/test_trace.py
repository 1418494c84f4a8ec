"""The steps of top-down recoding, by the printed example and by what every trace must keep."""

import json
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InfeasibleError, InputError, ParameterError, PolicyError
from tests.showing.reading import parse

SECRECY = [
    ["Cancer", "HIV"],
    ["Hepatitis", "Phthisis"],
    ["Asthma", "Obesity"],
    ["Indigestion", "Flu"],
]
ENHANCED = sf.models.EnhancedPAlphaSensitiveKAnonymity(
    "condition", p=2, alpha=1, k=2, categories=SECRECY
)
ZIP_ONLY = sf.Policy(
    columns={
        "zipcode": {"role": "quasi-identifier", "hierarchy": "masking"},
        "gender": "dropped",
        "condition": "sensitive",
    },
    models=[ENHANCED],
    method="top-down",
)


@pytest.mark.parametrize("seed", range(6))
def test_the_printed_example_step_by_step(seed):
    """Figure 4.2: all four as *, then 7****, 73***, 734**, 7345*; there 73455 is sent back."""
    found = sf.tools.trace(sf.samples.table("top-down"), ZIP_ONLY, seed=seed)
    assert [step.labels for step in found.steps] == [
        ("*",), ("7****",), ("73***",), ("734**",), ("7345*",)
    ]  # fmt: skip
    assert [step.round for step in found.steps] == [1, 2, 3, 4, 5]
    for step in found.steps[:4]:
        assert [(child.rows, child.passes) for child in step.children] == [(4, True)]
        assert (step.sent_back, step.taken_back, step.stays) == (0, 0, 0)
    last = found.steps[4]
    children = {child.label: child for child in last.children}
    assert (children["73455"].rows, children["73455"].passes) == (1, False)
    assert (children["73456"].rows, children["73456"].passes, children["73456"].taken) == (
        3,
        True,
        1,
    )
    assert (last.sent_back, last.taken_back, last.stays, last.undone) == (1, 1, 2, False)
    # Cancer goes back, and with it one of the two whose category is another.
    back = {each.values[1] for each in last.back}
    assert back in ({"Cancer", "Flu"}, {"Cancer", "Indigestion"})
    # Table 4.4 (c): two rows stay 73456, two become 7345*.
    assert {each.labels: each.rows for each in found.classes} == {("73456",): 2, ("7345*",): 2}
    assert found.suppressed == 0
    release = sf.anonymize(sf.samples.table("top-down"), ZIP_ONLY, seed=seed)
    assert Counter(release.table["zipcode"].to_pylist()) == {"73456": 2, "7345*": 2}
    written = {row["condition"]: row["zipcode"] for row in release.table.to_pylist()}
    for each in found.classes:
        for member in each.members:
            assert written[member.values[1]] == each.labels[0]


def test_numbers_that_are_kept_are_numbers_as_they_are_in_the_release():
    ages = [20, 20, 30, 30]
    table = pa.table({"age": ages, "ill": ["flu", "gout", "flu", "gout"]})
    policy = sf.Policy(
        columns={"age": "quasi-identifier", "ill": "sensitive"},
        models=[sf.models.KAnonymity(2)],
        method="top-down",
    )
    found = sf.tools.trace(table, policy, seed=1)
    release = sf.anonymize(table, policy, seed=1)
    assert {each.labels for each in found.classes} == {(20,), (30,)}
    assert sorted(release.table["age"].to_pylist()) == ages
    assert [each["labels"] for each in found.to_dict()["classes"]] == [["20"], ["30"]]


def test_it_is_shown_and_drawn(tmp_path):
    found = sf.tools.trace(sf.samples.table("top-down"), ZIP_ONLY, seed=0)
    text = str(found)
    assert text.startswith("5 specialisations in 6 rounds, 2 classes of 4 rows, 0 suppressed")
    assert "73455 (1 row) fails and is sent back; 73456 (3 rows) passes, 1 taken back" in text
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["steps"][4]["sent_back"] == 1
    assert plain["classes"][0]["rows"] == 2
    svg = found.svg()
    root = parse(svg)
    twigs = [g for g in root.iter("{http://www.w3.org/2000/svg}g") if "twig" in g.get("class", "")]
    lines = [tuple(t.text for t in g.findall("{*}text")) for g in twigs]
    assert ("73455", "1 row, fails, sent back") in lines
    assert ("73456", "2 rows, a class", "1 of 3 taken back") in lines
    assert ("7345*", "2 rows, a class", "stays behind") in lines
    assert found.save(tmp_path / "steps.svg").read_text(encoding="utf-8") == svg
    with pytest.raises(ParameterError, match=r"ends in \.svg"):
        found.save(tmp_path / "steps.png")


def test_it_is_written_in_no_release(tmp_path):
    sf.anonymize(sf.samples.path("top-down"), ZIP_ONLY, output=tmp_path / "release")
    assert not any(b"sent_back" in p.read_bytes() for p in (tmp_path / "release").iterdir())
    found = sf.tools.trace(sf.samples.table("top-down"), ZIP_ONLY)
    with pytest.raises(sf.SfumatoError, match="release"):
        found.save(tmp_path / "release" / "steps.svg")


ROW = st.tuples(
    st.text("012", min_size=2, max_size=2),
    st.sampled_from(["f", "m", None]),
    st.sampled_from(["flu", "hiv", "gout"]),
)


@pytest.mark.usefixtures("patience")
@given(
    rows=st.lists(ROW, min_size=1, max_size=40),
    k=st.integers(2, 4),
    best=st.sampled_from(["rows", "loss"]),
    blind=st.booleans(),
    seed=st.integers(0, 99),
    most=st.sampled_from([1, 3, 1000]),
)
def test_the_steps_add_up_and_lead_to_the_release(rows, k, best, blind, seed, most):
    zips, sexes, ills = zip(*rows, strict=True)
    table = pa.table({"zip": zips, "sex": pa.array(sexes, pa.string()), "ill": ills})
    policy = sf.Policy(
        columns={
            "zip": {"role": "quasi-identifier", "hierarchy": "masking"},
            "sex": "quasi-identifier",
            "ill": "sensitive",
        },
        models=[sf.models.PSensitiveKAnonymity("ill", p=2, k=k)],
        method={"method": "top-down", "best": best},
        suppression=1.0,
        sensitive_blind=blind,
    )
    try:
        found = sf.tools.trace(table, policy, seed=seed, most=most)
    except InfeasibleError:
        return
    release = sf.anonymize(table, policy, seed=seed)
    assert found.suppressed == release.suppressed
    if most == 1000:
        expected = Counter(
            (row["zip"], row["sex"] or "(missing)") for row in release.table.to_pylist()
        )
        assert {each.labels: each.rows for each in found.classes} == expected
    assert sum(each.classes for each in found.rounds) == sum(
        each.classes for each in sf.tools.trace(table, policy, seed=seed).rounds
    )
    # Every group comes from one step, and its rows go on: nothing is lost and nothing is new.
    rows_of = {number: rows for number, _, rows in found.start}
    for step in found.steps:
        assert rows_of.pop(step.group) == step.rows
        assert sum(child.rows for child in step.children) == step.rows
        going = [child for child in step.children if child.group is not None]
        assert all(child.passes for child in going)
        if step.undone:
            assert not going
            assert step.stays == step.rows
        else:
            assert step.stays == step.sent_back + step.taken_back
        if step.stays:
            rows_of[step.rest] = step.stays
        for child in going:
            rows_of[child.group] = child.rows - child.taken
    assert sum(rows_of.values()) == len(rows)
    if not found.more:
        assert not found.unfinished
        # What was not specialised any more is what the classes are made of.
        assert len(rows_of) == sum(each.classes for each in found.rounds)
    else:
        assert found.unfinished <= set(rows_of)
    assert len(found.steps) <= most
    assert len(found.steps) + found.more == sum(
        each.specialised + each.undone for each in found.rounds
    )
    assert parse(found.svg()) is not None
    assert str(found)


def test_another_policy_is_traced_with_the_methods_defaults():
    table = sf.samples.table("incognito")
    policy = sf.Policy.load(sf.samples.policy_path("incognito")).replace(search="incognito")
    found = sf.tools.trace(table, policy)
    assert found.best == "rows"
    assert found.steps


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"policy": None}, ParameterError, "policy must be given"),
        ({"most": 0}, ParameterError, "most must be an integer of at least 1"),
        ({"seed": -1}, ParameterError, "seed must be an integer of at least 0"),
        ({"data": pa.table({"x": [1]})}, PolicyError, "no column 'zipcode'"),
        ({"data": sf.samples.table("top-down").slice(0, 0)}, InputError, "no rows"),
        (
            {"policy": ZIP_ONLY.replace(models=[sf.models.KAnonymity(5)])},
            InfeasibleError,
            "even if all 4 rows were one class",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(change, error, text):
    given = {"data": sf.samples.table("top-down"), "policy": ZIP_ONLY} | change
    with pytest.raises(error, match=text):
        sf.tools.trace(**given)
