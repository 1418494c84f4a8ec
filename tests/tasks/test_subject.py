"""Every task that takes a table and a policy begins with the same subject.

What one refuses before it decides, all refuse, in the same words; and what they decide is the same.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.comparison.before_after import BeforeAfter
from sfumato.comparison.live import LiveTable
from sfumato.errors import SfumatoError

N = 120
_DRAWN = np.random.default_rng(5)
COLUMNS = {
    "pid": np.arange(N) // 2,
    "home": np.arange(N) // 6,
    "age": np.repeat(_DRAWN.integers(18, 60, N // 2), 2),
    "zip": np.repeat(_DRAWN.integers(100, 140, N // 2), 2).astype(str),
    "items": [";".join(_DRAWN.choice([*"abcd"], 2, replace=False)) for _ in range(N)],
    "w": _DRAWN.random(N) + 0.5,
    "ill": _DRAWN.choice(["flu", "gout", "hiv"], N),
    "nested": [[1, 2]] * N,
}
TABLE = pa.table({name: list(values) for name, values in COLUMNS.items()})


def look_live(table, policy):
    """Look as the app does, which shows a reason where others raise an error."""
    reason = LiveTable.open(table).look(policy).reason
    if reason is not None:
        raise SfumatoError(reason)


@cache
def released():
    """Give a release in memory, to be held against what others say it was made of."""
    return sf.anonymize(TABLE.drop_columns(["pid", "home"]), sf.Policy(**settings({})), seed=1)


def compare(comparison):
    """Raise the reason why nothing came of any policy, as others do."""
    reasons = [trial.reason for trial in comparison.points]
    if None not in reasons:
        raise SfumatoError(reasons[0])


DOORS = {
    "anonymize": lambda table, policy: sf.anonymize(table, policy, seed=1),
    "protect": lambda table, policy: sf.protect(table, policy, rounds=0),
    "compare": lambda table, policy: compare(sf.compare(table, policy, seed=1)),
    "lattice": lambda table, policy: sf.tools.lattice(table, policy, seed=1),
    "trace": lambda table, policy: sf.tools.trace(table, policy, seed=1),
    "hierarchies": sf.tools.hierarchies,
    "the app": look_live,
    "a choice in the app": lambda table, policy: compare(LiveTable.open(table).explore(policy)),
}

OPENING = {
    **DOORS,
    "before and after": lambda table, policy: BeforeAfter.of(
        table, replace(released(), policy=policy)
    ),
}
"""All doors, and one that opens the table beside a release: nothing is decided there any more."""

QUASI = {"role": "quasi-identifier", "hierarchy": "auto"}
BASE = {
    "age": QUASI,
    "zip": {"role": "quasi-identifier", "hierarchy": "masking"},
    "ill": "sensitive",
}


def settings(columns: dict, **more) -> dict:
    same = {"models": [sf.models.KAnonymity(3)], "other": "dropped"}
    return {"columns": {**BASE, **columns}, **same, **more}


OF_SETS = [sf.models.KAnonymity(3), sf.models.KmAnonymity(k=3, m=1)]

REFUSED = {
    "a column that is not there": settings({"agee": "quasi-identifier"}),
    "a column that is not named": settings({}, other=None),
    "a person who is not there": settings({}, person="nobody"),
    "a key that repeats": settings({"pid": "identifier"}),
    "a household that is not there": settings(
        {"pid": "identifier"}, person="pid", household="hose"
    ),
    "a household that is published": settings(
        {"pid": "identifier", "home": "plain"}, person="pid", household="home"
    ),
    "a weight that is rounded to nothing": settings({"w": {"role": "weight", "round": 10}}),
    "a weight that is no number": settings({"ill": {"role": "weight"}}),
    "a list that is no set": settings({"nested": "plain"}),
    "a list that is a quasi-identifier": settings({"nested": "quasi-identifier"}),
    "a set of one item each": settings({"w": {"role": "set"}}, models=OF_SETS),
    "numbers of rows that are starred": settings(
        {"age": {**QUASI, "as": "mean"}}, suppression={"limit": 0.1, "rows": "star"}
    ),
    "numbers where missing values match": settings(
        {"age": {**QUASI, "as": "mean"}}, missing="matches-any"
    ),
    "numbers beside a weight": settings({"age": {**QUASI, "as": "mean"}, "w": {"role": "weight"}}),
    "numbers where people are counted": settings(
        {"age": {**QUASI, "as": "mean"}, "pid": "identifier"}, person="pid"
    ),
    "numbers beside a set": settings(
        {"age": {**QUASI, "as": "mean"}, "items": {"role": "set", "separator": ";"}},
        models=OF_SETS,
    ),
    "a date that is none": settings(
        {"zip": {"role": "quasi-identifier", "hierarchy": "dates", "dates": "%d.%m.%Y"}}
    ),
    "what cannot be derived": settings(
        {"years": QUASI}, derive=[{"kind": "age", "of": "zip", "at": "2020-12-30", "into": "years"}]
    ),
}

"""Policies for the table as it is."""

TEXTS = ["x1", "x2", "x3"] * (N // 3)
MASKED = {"role": "quasi-identifier", "hierarchy": "masking"}
CHANGED = {
    "numbers changed by noise that are none": (
        settings({"zip": {**MASKED, "perturb": {"kind": "noise", "sd": 3}}}), {"zip": TEXTS},
    ),
    "secrets changed by noise that are no numbers": (
        settings({"ill": {"role": "sensitive", "perturb": {"kind": "noise", "sd": 3}}}), {},
    ),
    "secrets rounded that are no numbers": (
        settings({"ill": {"role": "sensitive", "perturb": {"kind": "rounding", "step": 3}}}), {},
    ),
    "a tree without some values": (
        settings({"zip": {
            "role": "quasi-identifier", "hierarchy": {"kind": "taxonomy", "tree": {"x": ["x1"]}},
        }}),
        {"zip": TEXTS},
    ),
    "an order without some values": (
        settings({"zip": {
            "role": "quasi-identifier", "hierarchy": {"kind": "ordered", "order": ["x1", "x2"]},
        }}),
        {"zip": TEXTS},
    ),
    "what is derived of nothing": (
        settings(
            {"years": QUASI},
            derive=[{"kind": "age", "of": "born", "at": "2020-12-30", "into": "years"}],
        ),
        {},
    ),
    "what is derived and there already": (
        settings({}, derive=[{"kind": "age", "of": "zip", "at": "2020-12-30", "into": "age"}]), {},
    ),
    "a negative weight": (settings({"w": "weight"}), {"w": [-1.0] + [1.0] * (N - 1)}),
    "a missing weight": (settings({"w": "weight"}), {"w": [None] + [1.0] * (N - 1)}),
    "a weight that is NaN": (settings({"w": "weight"}), {"w": [float("nan")] + [1.0] * (N - 1)}),
    "an infinite weight": (settings({"w": "weight"}), {"w": [float("inf")] + [1.0] * (N - 1)}),
    "weights of nothing": (settings({"w": "weight"}), {"w": [0.0] * N}),
    "a weight in words": (settings({"w": "weight"}), {"w": ["many"] * N}),
    "a record in a cell": (settings({"nested": "plain"}), {"nested": [{"a": 1}] * N}),
    "records as quasi-identifiers": (
        settings({"nested": "quasi-identifier"}), {"nested": [{"a": 1}] * N},
    ),
    "secrets that are lists": (settings({"nested": "sensitive"}), {}),
    "a column without a name": (settings({}), {"": [1] * N}),
    "dates that can be read in two ways": (
        settings({"zip": {"role": "quasi-identifier", "hierarchy": "dates"}}),
        {"zip": ["03/04/2020"] * N},
    ),
    "dates that are no days": (
        settings({"zip": {"role": "quasi-identifier", "hierarchy": "dates"}}),
        {"zip": ["31/31/2020"] * N},
    ),
}  # fmt: skip
"""Policies, and the columns of the table that are others."""


def with_columns(table: pa.Table, columns: dict) -> pa.Table:
    """Give the table with other columns."""
    kept = {name: table[name] for name in table.column_names}
    return pa.table({**kept, **columns})


def table_for(given: dict) -> pa.Table:
    """Give the table; without the key of its people where it is not about them."""
    about = "pid" in given["columns"] or "person" in given
    return TABLE if about else TABLE.drop_columns(["pid", "home"])


def said_by(door: str, table: object, given: dict) -> str:
    """Give what a door refuses with; its own name for a policy is no part of it."""
    policy = sf.Policy(**given)
    try:
        OPENING[door](table, policy)
    except SfumatoError as error:
        return str(error).removeprefix("policy: ")
    return "nothing"


@pytest.mark.parametrize("case", REFUSED)
def test_all_doors_refuse_alike(case):
    said = {door: said_by(door, table_for(REFUSED[case]), REFUSED[case]) for door in OPENING}
    assert said["anonymize"] != "nothing", case
    assert {*said.values()} == {said["anonymize"]}, said


@pytest.mark.parametrize("case", [case for case in REFUSED if case != "a column that is not there"])
def test_inspecting_a_table_by_its_policy_refuses_the_same(case):
    """It takes releases too, which lack columns."""
    table, given = table_for(REFUSED[case]), sf.Policy(**REFUSED[case])
    with pytest.raises(SfumatoError) as refused:
        sf.inspect(table, policy=given)
    assert str(refused.value) == said_by("anonymize", table, REFUSED[case])


@pytest.mark.parametrize("case", CHANGED)
def test_all_doors_refuse_such_tables_alike(case):
    given, columns = CHANGED[case]
    table = with_columns(table_for(given), columns)
    said = {door: said_by(door, table, given) for door in DOORS}
    assert said["anonymize"] != "nothing", case
    assert {*said.values()} == {said["anonymize"]}, said


DECIDING = ("anonymize", "protect", "compare", "trace", "the app")
"""Those that decide on one policy: others show what could be chosen, even if nothing may be."""

LATER = {
    "more people than there are": settings({}, models=[sf.models.KAnonymity(5000)]),
    "more values than there are": settings(
        {}, models=[sf.models.KAnonymity(3), sf.models.DistinctLDiversity(l=9, column="ill")]
    ),
    "a level that is not there": settings(
        {"zip": {"role": "quasi-identifier", "hierarchy": "masking", "levels": [9, 9]}}
    ),
}


@pytest.mark.parametrize("case", LATER)
def test_all_who_decide_refuse_alike(case):
    said = {door: said_by(door, table_for(LATER[case]), LATER[case]) for door in DECIDING}
    assert said["anonymize"] != "nothing", case
    assert {*said.values()} == {said["anonymize"]}, said


@pytest.mark.parametrize("door", DOORS)
def test_no_door_opens_to_an_empty_table(door):
    assert said_by(door, table_for(settings({})).slice(0, 0), settings({})).startswith(
        "the table has no rows"
    )


FEATURES = {
    "nothing": settings({}),
    "rounding": settings({"age": {**QUASI, "perturb": {"kind": "rounding", "step": 10}}}),
    "noise": settings({"age": {**QUASI, "perturb": {"kind": "noise", "sd": 15}}}),
    "people": settings({"pid": "identifier"}, person="pid"),
    "rows as people": settings({"pid": "identifier"}, person={"rows": "each is a visit"}),
    "a household": settings({"pid": "identifier"}, person="pid", household="home"),
    "a weight": settings({"w": {"role": "weight"}}),
    "a set": settings(
        {"items": {"role": "set", "separator": ";"}},
        models=[sf.models.KAnonymity(3), sf.models.KmAnonymity(k=3, m=1)],
    ),
    "means": settings({"age": {**QUASI, "as": "mean"}}),
    "suppression": settings({}, suppression=0.2),
    "suppression and noise": settings(
        {"age": {**QUASI, "perturb": {"kind": "noise", "sd": 15}}}, suppression=0.2
    ),
}


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("feature", FEATURES)
def test_all_doors_decide_alike(feature):
    policy, table = sf.Policy(**FEATURES[feature]), table_for(FEATURES[feature])
    release = sf.anonymize(table, policy, seed=1)
    found = sf.tools.lattice(table, policy, seed=1)
    if not release.suppressed:
        # Else levels are those of the published rows, and a lattice is of all.
        levels = dict(zip(found.columns, found.chosen, strict=True))
        assert release.levels == levels


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("feature", [name for name in FEATURES if name != "means"])
def test_the_steps_of_a_release_are_those_of_its_trace(feature):
    table = table_for(FEATURES[feature])
    policy = sf.Policy(**FEATURES[feature], method="top-down")
    release = sf.anonymize(table, policy, seed=1)
    labels = zip(*(release.table[name].to_pylist() for name in ("age", "zip")), strict=True)
    published = {tuple(map(str, each)) for each in labels}
    traced = sf.tools.trace(table, policy, seed=1)
    assert {tuple(map(str, each.labels)) for each in traced.classes} == published
