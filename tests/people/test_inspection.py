"""Inspections and measures of people with several rows, and of households, by loops over rows."""

from collections import Counter, defaultdict
from itertools import combinations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError, ParameterError
from sfumato.tasks.measure import measure

NAMES = ["who", "home", "sex", "age", "ill"]
ROWS = st.lists(
    st.tuples(
        st.integers(0, 6),
        st.sampled_from("fm"),
        st.sampled_from([20, 30, None]),
        st.sampled_from(["flu", "hiv", "gout"]),
    ),
    min_size=1,
    max_size=16,
).map(lambda rows: [(who, [1, 1, 2, 2, 2, 3, None][who], *rest) for who, *rest in rows])
"""Rows of seven people, of whom one has no household."""


def table_of(rows):
    return pa.table(dict(zip(NAMES, zip(*rows, strict=True), strict=True)))


def people_by(rows, columns):
    found = defaultdict(set)
    for row in rows:
        found[tuple(row[at] for at in columns)].add(row[0])
    return found


@given(ROWS)
def test_people_and_households_by_the_book(rows):
    people = {row[0] for row in rows}
    found = sf.inspect(
        table_of(rows),
        quasi_identifiers=["sex", "age"],
        sensitive=["ill"],
        person="who",
        household="home",
    )
    classes = people_by(rows, (2, 3))
    sizes = [len(each) for each in classes.values()]
    alone = set().union(*(each for each in classes.values() if len(each) == 1))
    several = len(people) < len(rows)
    assert found.people == (len(people) if several else None)
    assert (found.classes.count, found.classes.smallest) == (len(classes), min(sizes))
    assert found.classes.unique_rows == len(alone)
    assert found.risk.unique == pytest.approx(len(alone) / len(people))
    few = set().union(*(each for each in classes.values() if len(each) < 3), set())
    assert found.classes.below[3] == len(few)
    for risk in found.subsets.found:
        groups = people_by(rows, [NAMES.index(name) for name in risk.columns])
        single = set().union(*(each for each in groups.values() if len(each) == 1))
        assert risk.unique_rows == len(single)
    homes = defaultdict(Counter)
    members = defaultdict(set)
    for label, each in classes.items():
        for who in each:
            home = [1, 1, 2, 2, 2, 3, None][who]
            if home is not None:
                homes[home][label] += 1
                members[home].add(who)
    counted = found.households
    assert counted.households == len(homes)
    assert counted.largest == max(map(len, members.values()), default=0)
    assert counted.exposed == len({[1, 1, 2, 2, 2, 3, None][who] for who in alone} - {None})
    like = Counter(frozenset(each.items()) for each in homes.values())
    assert counted.alone_together == sum(n == 1 for n in like.values())


@given(ROWS)
def test_measures_count_people(rows):
    found = measure(table_of(rows), ["sex", "age"], models=[sf.models.KAnonymity(2)], person="who")
    smallest = min(len(each) for each in people_by(rows, (2, 3)).values())
    assert found == {sf.models.KAnonymity(2): {"k": smallest}}


def test_what_cannot_be_counted_is_refused():
    table = table_of([(1, 1, "f", 20, "flu"), (1, 1, "m", 20, "flu"), (2, None, "m", 30, "hiv")])
    with pytest.raises(ParameterError, match="neither known nor sensitive"):
        sf.inspect(table, quasi_identifiers=["sex", "who"], person="who")
    with pytest.raises(ParameterError, match="neither known nor sensitive"):
        measure(table, ["sex", "who"], person="who")
    share = sf.models.KEAnonymity("age", k=2, e=1)
    with pytest.raises(ParameterError, match=r"sf\.widen"):
        measure(table, ["sex"], ["age"], [share], person="who")
    gaps = table.set_column(0, "who", pa.array([1, 1, None]))
    with pytest.raises(InputError, match="1 of 3 rows have no 'who'"):
        sf.inspect(gaps, quasi_identifiers=["sex"], person="who")


def test_a_policy_says_what_a_person_is_and_who_lives_together():
    rows = [(n // 2, n // 4, "fm"[n % 2], 20 + n % 3, "flu") for n in range(16)]
    columns = {
        **dict.fromkeys(["who", "home"], "identifier"),
        **dict.fromkeys(["sex", "age"], "quasi-identifier"),
        "ill": "sensitive",
    }
    policy = sf.Policy(
        columns=columns, models=[sf.models.KAnonymity(2)], person="who", household="home"
    )
    found = sf.inspect(table_of(rows), policy=policy)
    assert (found.people, found.households.households) == (8, 4)
    assert "Households: 4, of up to 2 people" in str(found)
    assert all(len(pair) == 2 for pair in combinations(found.quasi_identifiers, 2))
