"""What a release tells of people with several rows: rules and facts against loops over rows."""

from collections import defaultdict
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.counts import FrequencySet
from sfumato.leaks.findings import Findings
from sfumato.leaks.rules import PeopleRows, minimal_knowledge, most_wanted, rules_of
from sfumato.networks import Network

NAMES = ["who", "zip", "work", "wed"]
ROWS = st.lists(
    st.tuples(
        st.integers(0, 4),
        st.sampled_from("AB"),
        st.sampled_from(["state", "own", None]),
        st.sampled_from(["single", "married", "widowed", None]),
    ),
    min_size=1,
    max_size=16,
)
QI, SENSITIVE = ("zip",), ("work", "wed")
POLICY = sf.Policy(
    columns={
        "who": "identifier",
        "zip": "quasi-identifier",
        "work": "sensitive",
        "wed": "sensitive",
    },
    models=[sf.models.KAnonymity(3)],
    person="who",
)


def people_with(rows, **values):
    """Return who has a row with all of some values."""
    return {
        row[0]
        for row in rows
        if all(row[NAMES.index(name)] == value for name, value in values.items())
    }


def share_before(rows, name, value):
    """Return the share of people who have a value, each counted once in every class."""
    have = sum(len(people_with(rows, **{"zip": at, name: value})) for at in "AB")
    return have / sum(len(people_with(rows, zip=at)) for at in "AB")


def whose(rows):
    return PeopleRows(FrequencySet.from_rows(NAMES, rows), "who", QI)


def values_of(rows, names):
    return {tuple(row[NAMES.index(name)] for name in names) for row in rows}


@given(ROWS, st.sampled_from([0.0, 0.4, 0.7]), st.integers(1, 3))
def test_rules_count_every_person_once(rows, alpha, support):
    people = whose(rows)
    counts = people.counts.project(NAMES[1:])
    network = Network.of(NAMES[1:], [("zip", "wed"), ("work", "wed")])
    found = rules_of(
        counts, network, sensitive=SENSITIVE, alpha=alpha, support=support, whose=people
    )
    told = {}
    for rule in found:
        names = [column.name for column in rule.known]
        for entry in rule.top_entries():
            # JSON writes a missing value as None, and so does a row.
            known, value = tuple(entry["known"].values()), entry["told"][rule.told.name]
            told[*names, rule.told.name, *known, value] = (
                entry["people"],
                entry["support"],
                pytest.approx(entry["prior"]),
            )
    expected = {}
    pairs = [("zip",), "wed"], [("work",), "wed"], [("zip", "work"), "wed"], [("wed",), "work"]
    for known, name in pairs:
        for values in values_of(rows, known):
            given_values = dict(zip(known, values, strict=True))
            behind = people_with(rows, **given_values)
            for (value,) in values_of(rows, [name]):
                having = people_with(rows, **given_values, **{name: value})
                if having and len(having) > alpha * len(behind) and len(behind) >= support:
                    expected[*known, name, *values, value] = (
                        len(having),
                        len(behind),
                        share_before(rows, name, value),
                    )
    assert told == expected
    for rule in found:
        exposed = set()
        for entry in rule.top_entries():
            if entry["level"] != "low":
                exposed |= people_with(rows, **entry["known"], **entry["told"])
        assert rule.people == len(exposed)


@given(ROWS, st.integers(1, 3))
def test_the_smallest_knowledge_counts_every_person_once(rows, support):
    people = whose(rows)
    counts, alpha = people.counts.project(NAMES[1:]), 0.6
    found = {
        (frozenset(fact.known), fact.told[1]): (fact.people, fact.support, fact.prior)
        for fact in minimal_knowledge(
            counts, "wed", ["zip", "work"], alpha=alpha, support=support, size=2, whose=people
        )
    }
    expected = {}
    for n in range(3):
        for names in combinations(["zip", "work"], n):
            for values in values_of(rows, names):
                known = dict(zip(names, values, strict=True))
                behind = people_with(rows, **known)
                for (value,) in values_of(rows, ["wed"]):
                    having = people_with(rows, **known, wed=value)
                    if (
                        value is not None
                        and len(behind) >= support
                        and len(having) > alpha * len(behind)
                    ):
                        before = share_before(rows, "wed", value)
                        expected[frozenset(known.items()), value] = (
                            len(having),
                            len(behind),
                            pytest.approx(before),
                        )
    # What is found is true, and what is true is found, or told by less.
    assert {key: expected[key] for key in found} == found
    for known, value in expected:
        assert any(less <= known for less, told in found if told == value) or any(
            less < known for less, _ in found
        )


@given(ROWS)
def test_the_most_wanted_knowledge_counts_people_of_a_class_once(rows):
    people = whose(rows)
    alpha, found = 0.6, {}
    for each in most_wanted(people.counts, QI, SENSITIVE, alpha=alpha, size=1, whose=people):
        found[each.group[0][1]] = each.rows, each.people
    expected = {}
    for at in "AB":
        mine = [row for row in rows if row[1] == at]
        best = 0
        for told in SENSITIVE:
            for names in [(), *((name,) for name in SENSITIVE if name != told)]:
                pinned = set()
                for values in values_of(mine, names):
                    known = dict(zip(names, values, strict=True))
                    behind = people_with(mine, **known)
                    for (value,) in values_of(mine, [told]):
                        having = people_with(mine, **known, **{told: value})
                        if value is not None and len(having) > alpha * len(behind):
                            pinned |= having
                best = max(best, len(pinned))
        if best:
            expected[at] = len(mine), best
    assert found == expected


@given(ROWS)
def test_people_exposed_are_counted_once_in_all_and_once_in_each_class(rows):
    people = whose(rows)
    counts = people.counts.project(NAMES[1:])
    network = Network.of(NAMES[1:], [("zip", "wed"), ("work", "wed")])
    found = Findings(counts, QI, SENSITIVE, {"all": network}, alpha=0.5, support=1, whose=people)
    assert found.people == len({row[0] for row in rows})
    exposed, by_class = set(), defaultdict(set)
    for rule in found.leaks:
        for entry in rule.top_entries():
            if entry["level"] != "low":
                for row in rows:
                    values = {**entry["known"], **entry["told"]}
                    if all(row[NAMES.index(name)] == value for name, value in values.items()):
                        exposed.add(row[0])
                        by_class[row[1]].add(row[0])
    if not found.harmful_facts:
        assert found.exposed == len(exposed)
        advice = found.advice()
        assert advice.people == len(exposed)
        assert {one.group[0][1]: one.people for one in advice.classes} == {
            at: len(who) for at, who in by_class.items() if who
        }


def shares_of(units, name):
    """Return for each value the share of people in a class who have it, of those with any."""
    held = [{row[NAMES.index(name)] for row in mine} - {None} for mine in units]
    held = [values for values in held if values]
    return {
        value: sum(value in values for values in held) / len(held) for value in set().union(*held)
    }


def people_of_classes(rows):
    """Return the rows of each person in each class."""
    found = defaultdict(list)
    for row in rows:
        found[row[1], row[0]].append(row)
    return found


@given(
    ROWS,
    st.sampled_from(["A", "B", None]),
    st.sampled_from(["state", "own", None]),
    st.sampled_from(["single", "married", None]),
)
def test_one_person_is_explained_by_people_with_such_a_row(rows, at, works, not_wed):
    rows = [*rows, (5, "A", "state", "single"), (6, "B", "own", "married")]
    table = pa.table(dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True)))
    knows = {"is": {"work": works} if works else {}, "not": {"wed": not_wed} if not_wed else {}}
    person = {"zip": at} if at else {}
    found = sf.explain(table, person, policy=POLICY, knows=knows, column="wed")
    if len({row[0] for row in rows}) == len(rows):
        assert found.fitting is None
        return
    units = {}
    for key, mine in people_of_classes(rows).items():
        fits = [r for r in mine if at in (None, r[1]) and works in (None, r[2])]
        if fits and (not_wed is None or not_wed not in {row[3] for row in fits}):
            units[key] = fits
    assert found.of == len({row[0] for row in rows})
    classes = {key[0] for key in units}
    assert {place.labels["zip"]: place.people for place in found.places} == {
        each: len({row[0] for row in rows if row[1] == each}) for each in classes
    }
    for place in found.places:
        mine = [key for key in units if key[0] == place.labels["zip"]]
        assert place.probability == pytest.approx(len(mine) / len(units))
    if not units:
        return
    assert found.fitting == len({row[0] for row in rows if row[1] in classes})
    belief, after = found.belief("wed"), shares_of(units.values(), "wed")
    before = [
        mine
        for mine in people_of_classes(rows).values()
        if not_wed is None or not_wed not in {row[3] for row in mine}
    ]
    for value in ("single", "married", "widowed"):
        expected = shares_of(before, "wed").get(value, 0), after.get(value, 0)
        assert belief.of(value) == pytest.approx(expected)


def panel(seed=0):
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(120), rng.integers(1, 5, 120))
    work = rng.choice(["state", "own", "farm"], len(who))
    wed = np.where(work == "state", "single", rng.choice(["married", "widowed"], len(who)))
    return pa.table({"who": who, "zip": np.array(["A", "B"])[who % 2], "work": work, "wed": wed})


@pytest.mark.usefixtures("patience")
def test_a_release_is_looked_at_by_people_and_says_what_rows_are_for(tmp_path):
    file = tmp_path / "people.parquet"
    release = sf.anonymize(panel(), POLICY, output=tmp_path / "release", people_file=file)
    for found in (
        sf.detect(release),
        sf.detect(tmp_path / "release", people_file=file),
        sf.detect(panel(), policy=POLICY),
    ):
        assert found.people == 120
        assert "of 120 people" in str(found)
        assert "networks are learned from rows" in str(found)
        [state] = [
            entry
            for rule in found.leaks
            for entry in rule.top_entries()
            if entry["known"] == {"work": "state"} and entry["told"] == {"wed": "single"}
        ]
        rows = panel().to_pylist()
        assert state["people"] == len({row["who"] for row in rows if row["work"] == "state"})
    blind = sf.detect(tmp_path / "release")
    assert blind.people == len(panel())
    assert "counted in rows" in str(blind)
