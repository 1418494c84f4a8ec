"""Hierarchies as value trees: the ones that anonymize climbs, as text, JSON and drawings."""

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import HierarchyError, InputError, ParameterError, PolicyError
from sfumato.ledger.store import is_text
from sfumato.showing.tree import MOST_LINES
from tests.showing.reading import NASTY, children, parse

MARITAL = {"Been married": ["Married", "Divorced", "Widow"], "Never married": ["Single"]}
RACE = {"Person": ["Asian", "Black", "White"]}
TABLE = pa.table({
    "race": ["Asian", "Black", "Asian", "White"],
    "marital": ["Married", "Single", "Married", "Divorced"],
    "age": [47, 21, 49, None],
    "gender": ["f", "m", "f", "m"],
    "ill": ["flu", "hiv", "flu", "flu"],
})  # fmt: skip
POLICY = {
    "columns": {
        "race": {"role": "quasi-identifier", "hierarchy": {"kind": "taxonomy", "tree": RACE}},
        "marital": {"role": "quasi-identifier", "hierarchy": {"kind": "taxonomy", "tree": MARITAL}},
        "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [5, 10]}},
        "gender": "quasi-identifier",
        "ill": {
            "role": "sensitive",
            "hierarchy": {"kind": "taxonomy", "tree": {"virus": ["flu", "hiv"], "other": ["gout"]}},
        },
    },
    "models": [{"model": "k-anonymity", "k": 2}],
}


def twigs(svg) -> list[str]:
    """The first line of each box, from top to bottom as they were drawn."""
    root = parse(svg)
    found = [g for g in root.iter("{http://www.w3.org/2000/svg}g") if "twig" in g.get("class", "")]
    return [g.find("{*}text").text for g in found]


def test_they_are_the_printed_ones():
    """Figures 2.1 to 2.7: marital status, race, age and gender, levels and trees."""
    found = sf.tools.hierarchies(TABLE, POLICY)
    assert [tree.column for tree in found] == ["race", "marital", "age", "gender", "ill"]
    assert found["marital"].labels == (
        ("Married", "Divorced", "Widow", "Single"),
        ("Been married", "Never married"),
        ("*",),
    )
    assert found["race"].labels == (("Asian", "Black", "White"), ("Person",))
    assert found["age"].labels[1] == ("20 to 24", "45 to 49")
    assert found["age"].missing
    assert found["gender"].labels == (("f", "m"), ("*",))
    tree = found["marital"].to_dict()["tree"]
    assert tree == {
        "label": "*",
        "below": [
            {
                "label": "Been married",
                "below": [
                    {"label": "Married"},
                    {"label": "Divorced"},
                    {"label": "Widow", "absent": True},
                ],
            },
            {"label": "Never married", "below": [{"label": "Single"}]},
        ],
    }


def test_they_are_drawn_with_levels_and_labels(tmp_path):
    found = sf.tools.hierarchies(TABLE, POLICY)
    svg = found["marital"].svg()
    assert set(twigs(svg)) == {"*", *MARITAL, "Married", "Divorced", "Widow", "Single"}
    root = parse(svg)
    assert len([p for p in root.iter() if p.get("class") == "branch"]) == 6
    [levels] = children(root, "levels")
    heads = [t.text for t in levels.iter("{http://www.w3.org/2000/svg}text")]
    assert heads == ["level 2", "1 label", "level 1", "2 labels", "level 0", "4 labels"]
    assert "not in the table" in svg
    assert "Been married: Married, Divorced, Widow" in root.find("{*}desc").text
    assert "(missing)" in twigs(found["age"].svg())
    written = found.draw(tmp_path / "trees")
    assert [path.name for path in written] == [
        f"hierarchy_{name}.svg" for name in ("race", "marital", "age", "gender", "ill")
    ]
    assert "Been married, Never married" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["hierarchies"][0]["column"] == "race"


WORK = {
    "Self-employed": ["Self-emp-inc", "Self-emp-not-inc"],
    "Government": ["Federal-gov", "Local-gov", "State-gov"],
    "Unemployed": ["Without-pay", "Never-worked"],
    "Private": [],
}


def test_the_tree_of_work_classes_has_branches_of_unequal_length():
    """Figure 1.1 of the paper on slicing: Private has no groups below it."""
    tree = {"Workclass": [*({k: v} for k, v in WORK.items() if v), "Private"]}
    column = {"role": "quasi-identifier", "hierarchy": {"kind": "taxonomy", "tree": tree}}
    policy = {"columns": {"work": column}, "models": [{"model": "k-anonymity", "k": 2}]}
    found = sf.tools.hierarchies(pa.table({"work": ["State-gov", "Private"]}), policy)["work"]
    assert found.labels[2] == ("Workclass",)
    assert set(found.labels[1]) == set(WORK)
    drawn = twigs(found.svg())
    assert drawn.count("Private") == 2  # it keeps its own name one level up
    for group, below in WORK.items():
        assert {group, *below} <= set(drawn)


@pytest.mark.usefixtures("patience")
def test_a_large_tree_is_elided_with_counts():
    codes = [f"{i:05d}" for i in range(0, 100_000, 7)]
    table = pa.table({"zip": codes})
    policy = {"columns": {"zip": {"role": "quasi-identifier", "hierarchy": "masking"}}}
    found = sf.tools.hierarchies(table, policy | {"models": [{"model": "k-anonymity", "k": 2}]})
    svg = found["zip"].svg()
    drawn = twigs(svg)
    assert "and 8 more" in " ".join(drawn)
    assert len(svg) < 60_000
    leaves = [text for text in drawn if len(text) == 5 and "*" not in text]
    assert 0 < len(leaves) <= MOST_LINES


@given(
    # Half a character is no text that a table could hold.
    names=st.lists(
        NASTY.filter(lambda name: name.strip() and is_text(name)),
        min_size=2,
        max_size=90,
        unique_by=str.strip,
    ),
    groups=st.integers(2, 12),
)
def test_every_label_is_drawn_or_counted(names, groups):
    tree = {f"group {i}": names[i::groups] for i in range(min(groups, len(names)))}
    column = {"role": "quasi-identifier", "hierarchy": {"kind": "taxonomy", "tree": tree}}
    policy = {"columns": {"x": column}, "models": [{"model": "k-anonymity", "k": 2}]}
    try:
        found = sf.tools.hierarchies(pa.table({"x": names[:1]}), policy)
    except sf.SfumatoError:
        return
    root = parse(found["x"].svg())
    kinds = [g.get("class") for g in root.iter("{http://www.w3.org/2000/svg}g") if g.get("class")]
    boxes = sum(kind in ("twig plain", "twig absent") for kind in kinds)
    more = [t for t in twigs(found["x"].svg()) if t.startswith("and ") and "more" in t]
    hidden = sum(int(t.split()[1]) for t in more if "value" not in t)
    within = sum(int(t.split(", ")[1].split()[0]) for t in more if "value" in t)
    groups_hidden = sum(int(t.split()[1]) for t in more if "value" in t)
    assert boxes + hidden + within + groups_hidden == 1 + len(tree) + len(names)


def test_they_are_those_that_anonymize_climbs():
    ages = [{"role": "quasi-identifier", "hierarchy": {"kind": "auto"}}, "quasi-identifier"]
    for rule in ages:
        policy = {"columns": {"age": rule}, "models": [{"model": "k-anonymity", "k": 2}]}
        table = pa.table({"age": [18, 21, 21, 30, 33, 47, 49, 49, 62, 70]})
        found = sf.tools.hierarchies(table, policy)["age"]
        lattice = sf.tools.lattice(table, policy)
        assert lattice.lattice.highest == (found.height,)
        release = sf.anonymize(table, policy)
        labels = set(release.table["age"].to_pylist())
        assert {str(x) for x in labels} <= set(found.labels[release.levels["age"]])


def test_a_column_without_any_value_has_a_tree():
    table = pa.table({"x": pa.array([None, None], pa.string())})
    policy = {"columns": {"x": "quasi-identifier"}, "models": [{"model": "k-anonymity", "k": 2}]}
    found = sf.tools.hierarchies(table, policy)
    assert twigs(found["x"].svg()) == ["(missing)", "*"]
    assert found.to_dict()["hierarchies"][0]["tree"] == {"label": "*", "below": []}


def test_what_cannot_be_built_is_refused():
    with pytest.raises(ParameterError, match="policy must be given"):
        sf.tools.hierarchies(TABLE, None)
    with pytest.raises(PolicyError, match="no column 'race'"):
        sf.tools.hierarchies(pa.table({"x": [1]}), POLICY)
    with pytest.raises(InputError, match="no rows"):
        sf.tools.hierarchies(TABLE.slice(0, 0), POLICY)
    other = TABLE.set_column(1, "marital", pa.array(["Married", "Single", "Engaged", "Widow"]))
    with pytest.raises(HierarchyError, match="does not cover"):
        sf.tools.hierarchies(other, POLICY)
    with pytest.raises(sf.SfumatoError, match="no column 'agee'"):
        sf.tools.hierarchies(TABLE, POLICY)["agee"]
