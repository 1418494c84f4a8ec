"""The people at risk are those that a plain count finds, for each adversary and altogether."""

import random
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks.lacking import columns_lacked
from sfumato.counts import FrequencySet
from tests.verdict.exact import EVERY, TWO_VALUES, count, count_groups
from tests.verdict.published import grouped_of

LETTERS = "abcdef"


@st.composite
def cases(draw, most=3, numbers=False):
    """Draw a table with roles: rows that are drawn from few values, so that many look alike."""
    n = draw(st.integers(2, 40))
    rng = random.Random(draw(st.integers(0, 2**32)))
    quasi = [f"q{i}" for i in range(draw(st.integers(1, 3)))]
    sensitive = [f"s{i}" for i in range(draw(st.integers(1, most)))]
    plain = [f"p{i}" for i in range(draw(st.integers(0, 2)))]
    table = {}
    for name in (*quasi, *sensitive, *plain):
        values = LETTERS[: draw(st.integers(1 if name in quasi else 2, 3 if name in quasi else 6))]
        weights = [1 / (1 + draw(st.integers(0, 4)) * i) for i in range(len(values))]
        table[name] = [f"{name}{v}" for v in rng.choices(values, weights, k=n)]
    if len(sensitive) > 1 and draw(st.booleans()):
        # One column follows from another, but for a few rows.
        source = table[draw(st.sampled_from([*sensitive[1:], *plain]))]
        odd = draw(st.sampled_from([0, 0.1]))
        table["s0"] = [
            own if rng.random() < odd else f"s0{other[-1]}"
            for own, other in zip(table["s0"], source, strict=True)
        ]
    for name in (*sensitive, *plain):
        if draw(st.integers(0, 3)) == 0:
            table[name] = [None if rng.random() < 0.15 else v for v in table[name]]
    # A gap is no value here: the plain count does not know of gaps that say something.
    rows = list(zip(*table.values(), strict=True))
    assume(not columns_lacked(FrequencySet.from_rows([*table], rows), [*sensitive, *plain]))
    told = {name: sorted({*table[name]} - {None}) for name in sensitive}
    assume(all(len(values) > 1 for values in told.values()))
    unknown = [name for name in sensitive if draw(st.integers(0, 3)) == 0]
    secret, harmless, categories = {}, {}, {}
    for name, values in told.items():
        kind = draw(st.sampled_from(["none", "none", "secret", "harmless", "both", "tree"]))
        if kind in ("secret", "both"):
            secret[name] = values[: draw(st.integers(1, 2))]
        if kind in ("harmless", "both"):
            left = [v for v in values if v not in secret.get(name, ())]
            harmless[name] = left[: draw(st.integers(1, 2))]
        if kind == "tree" and len(values) > 2:
            cut = draw(st.integers(1, len(values) - 1))
            categories[name] = [values[:cut], values[cut:]]
    against = draw(st.sampled_from([EVERY, EVERY, EVERY[:1], EVERY[:2]]))
    return {
        "table": table, "quasi": quasi, "sensitive": sensitive, "plain": plain,
        "unknown": unknown, "secret": secret, "harmless": harmless, "categories": categories,
        "against": against,
    }  # fmt: skip


def policy_of(case):
    """Return the policy that says what a case says, with a reason for all that is assumed."""
    columns = dict.fromkeys(case["quasi"], "quasi-identifier")
    for name in case["sensitive"]:
        rule = {"role": "sensitive"}
        rule |= {key: case[key][name] for key in ("secret", "harmless") if name in case[key]}
        if name in case["unknown"]:
            rule["known"] = False
        if {"known", "harmless"} & {*rule}:
            rule["because"] = "it is so"
        if name in case["categories"]:
            tree = {f"c{i}": [*some] for i, some in enumerate(case["categories"][name])}
            rule["hierarchy"] = {"kind": "taxonomy", "tree": tree}
        columns[name] = rule
    columns |= {name: {"role": "plain", "because": "it is so"} for name in case["plain"]}
    return {
        "columns": columns,
        "models": [{"model": "k-anonymity", "k": 2}],
        "against": [*case["against"]],
    }


def counted(case):
    told = {key: case[key] for key in ("plain", "unknown", "secret", "harmless", "categories")}
    return count(case["table"], case["quasi"], case["sensitive"], against=case["against"], **told)


def people_by_adversary(found):
    return {str(line.knows): line.people for line in found.adversaries}


def test_people_found_by_different_attacks_are_added_up():
    # A class with one illness is found in one way, a class with many secrets in another.
    ills = ["flu"] * 5 + ["hiv", "hiv", "hiv", "gout", "acne"]
    ills += [ill for ill in ("flu", "gout", "acne", "mumps") for _ in range(10)]
    table = {"zone": ["a"] * 5 + ["b"] * 5 + ["c"] * 40, "ill": ills}
    policy = {
        "columns": {"zone": "quasi-identifier", "ill": {"role": "sensitive", "secret": ["hiv"]}},
        "models": [{"model": "k-anonymity", "k": 5}],
    }
    ours = count(table, ["zone"], ["ill"], secret={"ill": ["hiv"]})
    assert sf.verify(pa.table(table), policy).at_risk == ours.at_risk == 10


FACTS = [
    "linking",
    "homogeneity",
    "probabilistic-inference",
    "skewness",
    "similarity",
    "knowledge-breach",
]
"""The attacks that count; what is learned may find more people, and not fewer."""


@settings(max_examples=300)
@given(cases())
@pytest.mark.usefixtures("patience")
def test_facts_put_as_many_people_at_risk_as_a_plain_count(case):
    ours = counted(case)
    found = sf.verify(pa.table(case["table"]), policy_of(case), attacks=FACTS)
    lines = people_by_adversary(found)
    assert lines == {knows: ours.people[knows] for knows in lines}
    # Where there is no value to know, who knows one is no other adversary.
    assert max(lines.values()) == ours.people[TWO_VALUES]
    assert found.at_risk == ours.at_risk


@settings(max_examples=100)
@given(cases())
@pytest.mark.usefixtures("patience")
def test_nobody_is_forgotten_when_everything_is_tried(case):
    ours = counted(case)
    found = sf.verify(pa.table(case["table"]), policy_of(case))
    assert found.at_risk >= ours.at_risk
    for knows, people in people_by_adversary(found).items():
        assert people >= ours.people[knows]
    if ours.at_risk:
        assert found.answer == "no"


@settings(max_examples=60)
@given(cases(most=1))
@pytest.mark.usefixtures("patience")
def test_of_a_decoupled_release_the_groups_tell_their_shares(case):
    name = case["sensitive"][0]
    assume(None not in case["table"][name])
    table = pa.table({key: case["table"][key] for key in (*case["quasi"], name)})
    release = sf.decouple(table, quasi_identifiers=case["quasi"], sensitive=[name])
    groups, values = grouped_of(release)
    # Who is alone in a group is found in the first table, whatever the other one tells.
    assume(min(Counter(groups).values()) > 1)
    assert sf.verify(release).at_risk == count_groups(groups, values).at_risk


@settings(max_examples=60)
@given(cases())
@pytest.mark.usefixtures("patience")
def test_patterns_between_tables_put_no_fewer_people_at_risk_than_groups_do(case):
    assume(not any(None in case["table"][name] for name in case["sensitive"]))
    names = [*case["quasi"], *case["sensitive"]]
    table = pa.table({name: case["table"][name] for name in names})
    release = sf.decouple(table, quasi_identifiers=case["quasi"], sensitive=case["sensitive"])
    assert sf.verify(release).at_risk >= count_groups(*grouped_of(release)).at_risk


@settings(max_examples=40)
@given(st.integers(2, 30), st.integers(2, 4), st.integers(0, 2**32))
@example(10, 3, 0)
@pytest.mark.usefixtures("patience")
def test_numbers_put_no_fewer_people_at_risk(size, classes, seed):
    rng = random.Random(seed)
    pay = [rng.randrange(1000, 9000) for _ in range(size * classes)]
    table = {"zone": [f"z{i % classes}" for i in range(size * classes)], "pay": pay}
    ours = count({**table, "pay": [*map(str, pay)]}, ["zone"], ["pay"])
    found = sf.verify(pa.table(table), quasi_identifiers=["zone"], sensitive=["pay"])
    assert found.at_risk >= ours.at_risk
