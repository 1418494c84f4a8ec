"""Counts estimated from a release, against every table that could be behind it."""

import json
from fractions import Fraction
from itertools import permutations, product

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.counts import FrequencySet
from sfumato.decouplings.base import GroupedTables
from sfumato.errors import InputError, ParameterError, UnknownColumnError, UnknownNameError
from tests.tasks.by_hand import anatomised, sliced, table_of

NAMES = ["age", "sex", "ill", "pay"]
SIZE = 4
"""The most people in a group: 4! arrangements of each table beside the first."""

ROW = st.tuples(
    st.sampled_from([21, 24, 29]),
    st.sampled_from(["f", "m"]),
    st.sampled_from(["flu", "gout", None]),
    st.sampled_from([100, 200, 300]),
)
GROUPS = st.lists(st.lists(ROW, min_size=1, max_size=SIZE), min_size=1, max_size=3)
CONDITIONS = {
    "age": st.sampled_from([(21, 25), (None, 24), (29, None), 24, [21, 29], (50, 60)]),
    "sex": st.sampled_from(["f", ["f", "m"]]),
    "ill": st.sampled_from([None, ["flu", None], "flu"]),
    "pay": st.sampled_from([(150, 300), 100, (100, 299.5)]),
}


@st.composite
def conditions(draw, names, rows):
    """Ask for some columns; only for words that somebody has."""
    chosen = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    where = {name: draw(CONDITIONS[name]) for name in chosen}
    for name in {"sex", "ill"} & where.keys():
        here = {row[NAMES.index(name)] for row in rows}
        wanted = where[name] if isinstance(where[name], list) else [where[name]]
        where[name] = [each for each in wanted if each in here] or [next(iter(here))]
    return where


def keeps(value, wanted) -> bool:
    if isinstance(wanted, tuple):
        low, high = wanted
        return (low is None or value >= low) and (high is None or value <= high)
    return value in (wanted if isinstance(wanted, list) else [wanted])


def every_group(rows, pieces):
    """All groups that look the same when these columns are published apart."""
    parts = [[tuple(row[NAMES.index(n)] for n in piece) for row in rows] for piece in pieces]
    for arranged in product(*(permutations(part) for part in parts[1:])):
        for people in [list(zip(parts[0], *arranged, strict=True))]:
            yield [
                {n: v for piece, cells in zip(pieces, person, strict=True)
                 for n, v in zip(piece, cells, strict=True)}
                for person in people
            ]  # fmt: skip


def textbook(groups, pieces, where):
    """Expected, least and most count over all tables behind a release, each equally likely."""
    mean, least, most = Fraction(0), 0, 0
    used = [piece for piece in pieces if set(piece) & where.keys()]
    for rows in groups:
        counts = [
            sum(all(keeps(person[n], wanted) for n, wanted in where.items()) for person in people)
            for people in every_group(rows, used)
        ]
        mean += Fraction(sum(counts), len(counts))
        least, most = least + min(counts), most + max(counts)
    return float(mean), least, most


def assert_literal(found, groups, pieces, where):
    mean, least, most = textbook(groups, pieces, where)
    assert found.estimate == pytest.approx(mean)
    assert (found.least, found.most) == (least, most)
    assert found.rows == sum(map(len, groups))


def flat(groups):
    return [(row, number) for number, rows in enumerate(groups) for row in rows]


@settings(max_examples=60)
@given(GROUPS, st.data())
def test_anatomised_tables_answer_as_all_assignments_together(groups, data):
    rows, buckets = zip(*flat(groups), strict=True)
    names = NAMES[:3]
    release = anatomised(names, "ill", [row[:3] for row in rows], buckets)
    where = data.draw(conditions(names, rows))
    assert_literal(sf.estimate(release, where), groups, [["age", "sex"], ["ill"]], where)


SLICES = [
    [["age", "sex"], ["ill", "pay"]],
    [["age"], ["sex", "pay"], ["ill"]],
    [["age", "sex", "ill", "pay"]],
]


@pytest.mark.usefixtures("patience")
@settings(max_examples=60)
@given(GROUPS, st.sampled_from(SLICES), st.data())
def test_slices_answer_as_all_arrangements_together(groups, slices, data):
    rows, buckets = zip(*flat(groups), strict=True)
    release = sliced(NAMES, "ill", rows, buckets, slices)
    where = data.draw(conditions(NAMES, rows))
    assert_literal(sf.estimate(release, where), groups, slices, where)


@settings(max_examples=60)
@given(GROUPS, st.data())
def test_broken_tables_answer_as_all_arrangements_together(groups, data):
    # Whoever has the same quasi-identifiers is in one group.
    groups = [[(21 + n, "f", *row[2:]) for row in rows] for n, rows in enumerate(groups)]
    rows = [row for row, _ in flat(groups)]
    counts = FrequencySet.from_rows(NAMES, rows)
    release = GroupedTables.of(counts, NAMES[:2], NAMES[2:])
    where = data.draw(conditions(NAMES, rows))
    pieces = [["age", "sex"], ["ill"], ["pay"]]
    assert_literal(sf.estimate(release, where), groups, pieces, where)


@given(GROUPS, st.data())
def test_what_stands_in_one_table_is_exact(groups, data):
    rows, buckets = zip(*flat(groups), strict=True)
    slices = data.draw(st.sampled_from([*SLICES, [["age", "sex"], ["sex", "ill"], ["pay"]]]))
    release = sliced(NAMES, "ill", rows, buckets, slices)
    where = data.draw(conditions(data.draw(st.sampled_from(slices)), rows))
    found = sf.estimate(release, where)
    at = {name: NAMES.index(name) for name in where}
    true = sum(all(keeps(row[at[n]], wanted) for n, wanted in where.items()) for row in rows)
    assert found.exact
    assert found.least == true
    assert found.estimate == pytest.approx(true)


@given(GROUPS, st.data())
def test_slices_that_share_a_column_hold_the_truth_between_their_bounds(groups, data):
    rows, buckets = zip(*flat(groups), strict=True)
    slices = [["age", "sex"], ["sex", "ill"], ["ill", "pay"]]
    where = data.draw(conditions(NAMES, rows))
    found = sf.estimate(sliced(NAMES, "ill", rows, buckets, slices), where)
    at = {name: NAMES.index(name) for name in where}
    true = sum(all(keeps(row[at[n]], wanted) for n, wanted in where.items()) for row in rows)
    assert found.least <= true <= found.most
    assert found.least <= found.estimate <= found.most


AGES = {"20-29": range(20, 30), "30-34": range(30, 35), "3*": range(30, 40), "41": [41]}


@given(
    st.lists(st.sampled_from(list(AGES)), min_size=1, max_size=8),
    st.integers(18, 43),
    st.integers(18, 43),
)
def test_whole_numbers_behind_labels_are_counted(labels, one, other):
    low, high = min(one, other), max(one, other)
    found = sf.estimate(pa.table({"age": labels}), {"age": (low, high)})
    inside = [[low <= age <= high for age in AGES[label]] for label in labels]
    assert found.estimate == pytest.approx(sum(Fraction(sum(i), len(i)) for i in inside))
    assert (found.least, found.most) == (sum(map(all, inside)), sum(map(any, inside)))
    listed = sf.estimate(pa.table({"age": labels}), {"age": list(range(low, high + 1))})
    assert listed.to_dict() == {**found.to_dict(), "where": listed.where}


@pytest.mark.parametrize(
    ("labels", "wanted", "expected"),
    [
        (["[2.5, 5)", "[5, 10)"], (4, 6), (0.6, 0, 2)),
        (["[2.5, 5)", "[5, 10)"], (None, 5), (1, 1, 2)),
        (["[2.5, 5)", "[5, 10)"], 5, (0, 0, 1)),
        (["[2.5, 5)", "7.5"], 7.5, (1, 1, 1)),
        (["[2.5, 5)", "7.5"], (7, 8), (1, 1, 1)),
        (["[2.5, 5)", ">=5"], (5, 9), (1, 0, 1)),
        (["<20", "20-29", ">=30"], (25, 40), (1.5, 0, 2)),
        (["<20", "20-29", ">=30"], (30, None), (1, 1, 1)),
        (["<20", "20-29", ">=30"], (15, 29), (2, 1, 2)),
        (["<20", "20-29"], (20, 29), (1, 1, 1)),
        (["10-19", "*"], (10, 14), (1, 0, 2)),
        (["10-19", None], (10, 19), (1, 1, 1)),
        (["10-19", None], [None], (1, 1, 1)),
        (["10-19", "20-29"], "10-19", (1, 1, 1)),
        (["2020-01-01 to 2020-01-10", "2020-02-01"], ("2020-01-06", "2020-03-01"), (1.5, 1, 2)),
        (["47677", "476**"], "47677", (1.01, 1, 2)),
        (["f", "m", "*"], "f", (1.5, 1, 2)),
        (["f", "m", "*"], ["f", "m"], (3, 2, 3)),
        (["AB1", "AB2", "AB*", "CD1"], "AB2", (1.5, 1, 2)),
        (["f", None, "*"], [None], (1.5, 1, 2)),
        (["AB1", None, "AB*"], "AB1", (2, 1, 2)),
    ],
)
def test_labels_are_read_by_themselves(labels, wanted, expected):
    found = sf.estimate(pa.table({"x": labels}), {"x": wanted})
    assert (found.estimate, found.least, found.most) == pytest.approx(expected)


LABELS = ["<10", "10-14", "12", "15-19", ">=20", "*", "[2.5, 5)", "[5, 9)", "7.25", "1*"]


@given(
    st.lists(st.sampled_from(LABELS), min_size=1, max_size=6),
    st.one_of(
        st.tuples(st.sampled_from([None, 3, 8.5, 12]), st.sampled_from([12, 13.5, 19, 40])),
        st.lists(st.sampled_from([3, 7.25, 12, 19, 33]), min_size=1),
    ),
)
def test_shares_and_bounds_fit_together(labels, wanted):
    if set(labels) == {"*"}:
        labels = ["12", *labels]
    found = sf.estimate(pa.table({"x": labels}), {"x": wanted})
    assert 0 <= found.least <= found.estimate <= found.most <= len(labels)
    # Every row adds its own: nothing depends on how many others have the same label.
    twice = sf.estimate(pa.table({"x": labels * 2}), {"x": wanted})
    assert twice.estimate == pytest.approx(2 * found.estimate)
    assert (twice.least, twice.most) == (2 * found.least, 2 * found.most)


def test_the_original_says_which_values_there_are(tmp_path):
    original = pa.table({"age": [21, 22, 29, 35], "job": ["baker", "cook", "cook", "judge"]})
    shown = pa.table({"age": ["20-29"] * 3 + ["30-39"], "job": ["food"] * 3 + ["judge"]})
    job = {"role": "quasi-identifier", "hierarchy": {
        "kind": "taxonomy", "tree": {"food": ["baker", "cook"], "law": ["judge"]}}}  # fmt: skip
    age = {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10]}}
    policy = sf.Policy(columns={"age": age, "job": job}, models=[sf.models.KAnonymity(2)])
    found = sf.estimate(shown, {"age": (20, 25)}, original=original)
    assert (found.estimate, found.least, found.most) == (2, 0, 3)
    # Intervals have no list of values in the policy; without the original they are numbers.
    (tmp_path / "policy.yaml").write_text(policy.to_yaml(), encoding="utf-8")
    found = sf.estimate(shown, {"age": (20, 25)}, policy=tmp_path / "policy.yaml")
    assert (found.estimate, found.least, found.most) == (pytest.approx(1.8), 0, 3)
    for known in ({"original": original, "policy": policy}, {"policy": policy}):
        found = sf.estimate(shown, {"job": "cook"}, **known)
        assert (found.estimate, found.least, found.most) == (1.5, 0, 3)
        # A label may be asked for by its own name, and a judge is a judge.
        assert sf.estimate(shown, {"job": ["food", "judge"]}, **known).least == 4
    # A number that nobody has is no mistake, a word is.
    assert sf.estimate(shown, {"age": 99}, original=original).most == 0
    with pytest.raises(UnknownNameError, match=r"no value 'bakr' in 'job'\. Did you mean 'baker'"):
        sf.estimate(shown, {"job": "bakr"}, original=original, policy=policy)
    with pytest.raises(UnknownNameError, match="no value 'cook' in 'job'"):
        sf.estimate(shown, {"job": "cook"})
    open_ended = sf.estimate(shown, {"age": (None, 30)}, original=original)
    assert (open_ended.least, open_ended.most) == (3, 3)


@pytest.mark.usefixtures("patience")
def test_releases_in_memory_and_on_disk_say_the_same(tmp_path):
    whole = sf.Policy.load(sf.samples.synthetic_policy())
    names = ["age", "sex", "diagnosis"]
    policy = sf.Policy(
        columns={name: whole.columns[name] for name in names},
        models=[sf.models.KAnonymity(5)],
        suppression=0.05,
    )
    people = sf.samples.synthetic(500, seed=3).select(names)
    where = {"age": (30, 50), "sex": "female", "diagnosis": "Influenza"}
    where["diagnosis"] = people["diagnosis"][0].as_py()
    for method in ("full-domain", "mondrian"):
        memory = sf.anonymize(people, policy, method=method, seed=1)
        sf.anonymize(people, policy, method=method, seed=1, output=tmp_path / method)
        decoupled = sf.decouple(memory, seed=1)
        sf.decouple(memory, seed=1, output=tmp_path / f"{method}-broken")
        releases = [memory, tmp_path / method, decoupled, tmp_path / f"{method}-broken"]
        found = [sf.estimate(release, where) for release in releases]
        assert found[0] == found[1]
        assert found[2] == found[3]
        assert found[0].estimate == pytest.approx(found[2].estimate)
        known = sf.estimate(memory, where, original=people, policy=policy)
        assert known.least <= known.estimate <= known.most
        assert found[0].rows == memory.manifest.rows.published


def test_results_are_plain_and_readable():
    found = sf.estimate(table_of(["sex"], [("f",), ("m",)]), {"sex": "f"})
    assert json.loads(json.dumps(found.to_dict())) == {
        "where": {"sex": "f"},
        "estimate": 1.0,
        "rows": 2,
        "least": 1,
        "most": 1,
        "exact": True,
    }
    assert str(found) == "1 of 2 rows have sex=f"


@pytest.mark.parametrize(
    ("where", "error", "text"),
    [
        ({}, ParameterError, "where must be at least one condition"),
        ([("age", 3)], ParameterError, "where must be at least one condition"),
        ({"age": (1, 2, 3)}, ParameterError, r"where\['age'\] must be a range"),
        ({"age": (None, None)}, ParameterError, "at least one end"),
        ({"age": []}, ParameterError, "at least one value"),
        ({"agee": 3}, UnknownColumnError, "Did you mean 'age'"),
        ({"ill": "flue"}, UnknownNameError, "no value 'flue' in 'ill'. Did you mean 'flu'"),
        ({"ill": (1, 2)}, InputError, "'ill' cannot be asked for the range '1..2'"),
        ({"zip": "1"}, InputError, "'zip' is published as '\\*' for all people"),
    ],
)
def test_what_makes_no_sense_is_refused(where, error, text):
    table = pa.table({"age": [21, 24], "ill": ["flu", "gout"], "zip": ["*", "*"]})
    with pytest.raises(error, match=text):
        sf.estimate(table, where)


def test_a_column_that_no_table_has_is_answered_with_the_right_one():
    rows, buckets = [(21, "f", "flu", 1), (24, "m", "gout", 2)], [1, 1]
    counts = FrequencySet.from_rows(NAMES, rows)
    for release in (
        sliced(NAMES, "ill", rows, buckets, SLICES[0]),
        GroupedTables.of(counts, NAMES[:2], NAMES[2:]),
    ):
        with pytest.raises(UnknownColumnError, match="Did you mean 'age'"):
            sf.estimate(release, {"agee": 3})
