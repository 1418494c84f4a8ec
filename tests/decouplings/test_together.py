"""Columns that stay together, and plain ones beside the quasi-identifiers, before an adversary.

The adversary has the published tables, and goes through every world that they can be of: every way
of handing out the rows of each table to the people of a group, each as likely as another.
"""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations, product

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InfeasibleError, ParameterError, PolicyError, SfumatoError
from sfumato.releases.opening import open_release

CELL = st.sampled_from(["a", "b", None])
ROWS = st.lists(st.tuples(st.sampled_from("xy"), CELL, CELL, CELL, CELL), min_size=2, max_size=6)
NAMES = ["age", "job", "time", "death", "pay"]
ROLES = {"age": "quasi-identifier", "job": "plain", "time": "sensitive", "death": "sensitive"}


def table(rows, names=NAMES):
    return pa.table(
        {n: pa.array(c, pa.string()) for n, c in zip(names, zip(*rows, strict=True), strict=True)}
    )


def policy(method, **more):
    columns = {**ROLES, "pay": "sensitive", **more}
    # What every table keeps, or what buckets are made to.
    model = {"model": "t-closeness", "column": "time", "t": 0.999}
    if method["method"] == "bucketization":
        model = {"model": "k-anonymity", "k": 2}
    return sf.Policy(columns=columns, models=[model], decouple=method)


def spread(published, link):
    """Return the rows of each group in a published table, every person once."""
    groups = defaultdict(list)
    for row in published.to_pylist():
        people = row.pop("count", 1)
        groups[row.pop(link)] += [tuple(row.items())] * people
    return groups


def worlds(release):
    """Yield per group every way to hand its rows of all tables out to its people."""
    link = release.manifest.group
    first, *others = [spread(each, link) for each in release.tables.values()]
    for label, people in first.items():
        orders = [sorted(set(permutations(other[label])), key=repr) for other in others]
        yield [
            [dict(sum(parts, ())) for parts in zip(people, *world, strict=True)]
            for world in product(*orders)
        ]


def beliefs(release, known, told):
    """Return, by what is known of a person of a group, how likely each combination is."""
    for group in worlds(release):
        found = defaultdict(Counter)
        for world in group:
            for person in world:
                key = tuple(person[name] for name in known)
                found[key][tuple(person[name] for name in told)] += 1
        for key, counts in found.items():
            total = sum(counts.values())
            yield key, {value: Fraction(n, total) for value, n in counts.items()}


@pytest.mark.usefixtures("patience")
@given(rows=ROWS)
def test_a_plain_column_splits_no_group_and_a_pair_is_told_as_its_counts_say(rows):
    method = {"method": "break-merge", "together": [["time", "death"]]}
    release = sf.decouple(table(rows), policy=policy(method))
    assert release.verdict.holds
    assert release.tables["qi"].column_names == ["group", "age", "job"]
    assert release.tables["sensitive_time_death"].column_names[1:3] == ["time", "death"]
    shares = {}
    for age in {row[0] for row in rows}:
        pairs = Counter(row[2:4] for row in rows if row[0] == age)
        shares[age] = {pair: Fraction(n, pairs.total()) for pair, n in pairs.items()}
    for (age, _), believed in beliefs(release, ["age", "job"], ["time", "death"]):
        assert believed == shares[age]
    # What is known of another table tells nothing of the pair either.
    for (age, _), believed in beliefs(release, ["age", "pay"], ["time", "death"]):
        assert believed == shares[age]
    again = open_release(release).groups
    assert again.names == ("time + death", "pay")
    assert Counter(row[2:4] for row in rows) == Counter(
        {
            (a, b): sum(r["count"] for r in release.tables["sensitive_time_death"].to_pylist()
                        if (r["time"], r["death"]) == (a, b))
            for a, b in {row[2:4] for row in rows}
        }
    )  # fmt: skip


BUCKETS = [
    {"method": "anatomy", "l": 2, "together": ["time+death"]},
    {"method": "bucketization", "l": 2, "together": ["time+death"]},
    {"method": "slicing", "l": 2, "together": ["time+death"]},
    {"method": "slicing", "l": 2, "columns": ["age", "job+time+death"], "together": ["time+death"]},
    {"method": "slicing", "l": 2, "cuts": "relaxed", "together": ["time+death"]},
]


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", BUCKETS, ids=str)
@given(rows=ROWS)
def test_no_combination_of_a_bucket_is_likelier_than_is_promised(method, rows):
    rules = policy(method, pay="dropped")
    try:
        release = sf.decouple(table(rows), policy=rules)
    except InfeasibleError:
        return
    promised = [model for model in release.manifest.models if model.column == "time + death"]
    assert promised
    assert release.verdict.holds
    assert open_release(release).sensitive == ("time", "death")
    assert sf.verify(release, attacks=False).verdict.holds
    for _, believed in beliefs(release, ["age", "job"], ["time", "death"]):
        known = {pair: share for pair, share in believed.items() if pair != (None, None)}
        total = sum(known.values())
        for model in promised:
            if model.model == "distinct-l-diversity":
                assert len(known) >= 2
            else:
                assert model.model == "probabilistic-l-diversity"
                assert all(2 * share <= total for share in known.values())


def test_combinations_are_different_where_their_texts_would_not_be():
    rows = [("x", None, "a + b", "c", "1"), ("x", None, "a", "b + c", "1"),
            ("x", None, "(missing)", "c", "1"), ("x", None, None, "c", "1")]  # fmt: skip
    release = sf.decouple(table(rows), policy=policy({"method": "break-merge",
                                                      "together": ["time+death"]}))  # fmt: skip
    assert len(set(release.grouped.table("time + death").column.values)) == 4
    assert release.tables["sensitive_time_death"].num_rows == 4
    # Each column is still there by itself.
    assert release.grouped.table("death").rows.tolist() == [1, 3]


def people(n=240):
    ills = ["flu", "gout", "hiv", "cold"]
    return pa.table(
        {
            "age": [f"{30 + i // 30}" for i in range(n)],
            "dose": [i % 4 * 10 for i in range(n)],
            "ill": [ills[i % 4] for i in range(n)],
            "pay": [["low", "mid", "high"][i * 7 % 3] for i in range(n)],
        }
    )


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", ["break-merge", "anatomy", "bucketization", "slicing"])
def test_the_verdict_judges_what_one_of_a_pair_tells_of_the_other(tmp_path, method):
    settings = {"l": 2} if method in ("anatomy", "slicing") else {}
    pay = "sensitive" if method in ("break-merge", "slicing") else "dropped"
    columns = {"age": "quasi-identifier", "dose": "plain", "ill": "sensitive", "pay": pay}
    rules = sf.Policy(
        columns=columns,
        models=[{"model": "distinct-l-diversity", "column": "ill", "l": 2}],
        decouple={"method": method, **settings, "together": [["ill", "dose"]]},
    )
    release = sf.decouple(people(), policy=rules, output=tmp_path / "out", format="csv")
    assert any("stay together" in warning for warning in release.warnings)
    found = sf.verify(tmp_path / "out")
    [breach] = [o for o in found.attacks if o.attack == "knowledge-breach" and o.column == "ill"]
    # Who knows the dose knows the illness, and a manifest cannot say that it is meant.
    assert breach.people == 240
    assert found.answer == "no"
    # What is plain is no secret.
    doses = [o for o in found.attacks if o.attack == "knowledge-breach" and o.column == "dose"]
    assert not any(o.people for o in doses)
    assert {o.column for o in found.attacks if o.attack == "homogeneity"} >= {"ill + dose", "ill"}
    held = sf.verify(tmp_path / "out", rules)
    [breach] = [o for o in held.attacks if o.attack == "knowledge-breach" and o.column == "ill"]
    assert breach.accepted == "The policy keeps ill and dose together."


@pytest.mark.usefixtures("patience")
def test_to_keep_columns_together_is_no_reason_for_what_they_tell():
    """It was one: a policy that named two columns made a no a yes, without a word why."""
    rules = sf.Policy(
        columns={"age": "quasi-identifier", **dict.fromkeys(("dose", "ill", "pay"), "sensitive")},
        models=[{"model": "k-anonymity", "k": 5}],
        decouple={"method": "break-merge", "together": [["ill", "dose"]]},
    )
    release = sf.decouple(people(), policy=rules)
    found = sf.verify(release, rules)
    assert found.answer == "with care"
    assert {(e.open, e.people) for e in found.assumptions if e.kind == "accepted"} == {(True, 240)}
    reason = {"because": "the dose is on every package", "by": "A. Turing"}
    accept = [{"column": name, **reason} for name in ("ill", "dose")]
    said = sf.verify(release, rules.replace(accept=accept))
    assert not any(each.open for each in said.assumptions)


def test_tables_that_are_said_to_be_together_and_are_not_are_found(tmp_path):
    import json

    rules = policy({"method": "break-merge", "together": ["time+death"]})
    rows = [("x", "a", "1", "yes", "low"), ("x", "b", "2", "no", "mid")]
    sf.decouple(table(rows), policy=rules, output=tmp_path / "out", format="csv")
    path = tmp_path / "out" / "manifest.json"
    plain = json.loads(path.read_text(encoding="utf-8"))
    for change in (
        {"together": None},
        {"together": [["time", "pay"]]},
        {"together": [["time", "death", "age"]]},
        {"together": [["time"]]},
        {"together": "time"},
    ):
        path.write_text(json.dumps({**plain, **change}), encoding="utf-8")
        assert not sf.verify(tmp_path / "out", attacks=False).verdict.holds


@pytest.mark.parametrize(
    ("together", "said"),
    [
        ([["time", "age"]], "'age' is quasi-identifier"),
        ([["time", "deth"]], "Did you mean 'death'"),
        ([["job", "job2"]], "not under columns"),
        ([["time"]], "two or more columns"),
        ([["time", "death"], ["death", "pay"]], "each column once"),
    ],
)
def test_what_cannot_stay_together_is_refused(together, said):
    rows = [("x", "a", "1", "yes", "low")] * 2
    with pytest.raises((PolicyError, ParameterError), match=said):
        sf.decouple(table(rows), policy=policy({"method": "break-merge", "together": together}))


def test_slices_that_part_what_stays_together_and_whole_rows_are_refused():
    rows = [("x", "a", "1", "yes", "low"), ("y", "a", "2", "no", "mid")]
    parted = {"method": "slicing", "l": 2, "columns": ["age+time", "death+pay"],
              "together": ["time+death"]}  # fmt: skip
    with pytest.raises(SfumatoError, match="stay together"):
        sf.decouple(table(rows), policy=policy(parted))
    whole = {"method": "association-hiding", "together": ["time+death"]}
    with pytest.raises(SfumatoError, match="together"):
        sf.decouple(table(rows), policy=policy(whole))
