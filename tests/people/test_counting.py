"""People with several rows: counts, promises and suppression against loops over rows."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.counts import FrequencySet
from sfumato.counts.people import ClassPeople
from sfumato.errors import InfeasibleError, InputError
from sfumato.recode.deciding import counted_columns, make_checker
from tests.people.textbook import (
    NODES,
    PASSES,
    classes_of,
    fewest_values,
    generalise,
    most_uneven,
    people_by_value,
    people_in,
    settle,
)

NAMES = ["who", "letter", "digit", "ill"]
ROWS = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from("abc"),
        st.sampled_from("01"),
        st.sampled_from(["flu", "gout", "hiv", None]),
    ),
    min_size=1,
    max_size=24,
)
MODELS = [
    [sf.models.KAnonymity(2)],
    [sf.models.KAnonymity(3)],
    [sf.models.KAnonymity(2), sf.models.DistinctLDiversity("ill", l=2)],
    [sf.models.DistinctLDiversity("ill", l=2)],
    [sf.models.ProbabilisticLDiversity("ill", l=2)],
    [sf.models.EntropyLDiversity("ill", l=1.5)],
    [sf.models.RecursiveCLDiversity("ill", c=2, l=2)],
    [sf.models.TCloseness("ill", t=0.4)],
    [sf.models.CategoryShare("ill", share=0.6, categories=[["flu", "gout"], ["hiv"]])],
    [sf.models.KAnonymity(2), sf.models.BasicBetaLikeness("ill", beta=1)],
]


TOLD = ("beta", "share", "categories")


def policy_of(models, *, limit="100%", unit="rows", search="best-first") -> sf.Policy:
    return sf.Policy(
        columns={
            "who": "identifier",
            "letter": {
                "role": "quasi-identifier",
                "hierarchy": {"kind": "taxonomy", "tree": {"ab": ["a", "b"], "c": ["c"]}},
            },
            "digit": {"role": "quasi-identifier"},
            "ill": "sensitive",
        },
        models=models,
        person="who",
        suppression={"limit": limit, "unit": unit},
        search=search,
    )


def counts_of(policy, rows) -> FrequencySet:
    names = counted_columns(policy)
    return FrequencySet.from_rows(names, [[row[NAMES.index(n)] for n in names] for row in rows])


def checks_of(models):
    return [
        (
            m.name,
            PASSES[m.name](**{k: v for k, v in m.params().items() if k in "klct" or k in TOLD}),
        )
        for m in models
    ]


@given(ROWS, st.lists(st.integers(0, 2), min_size=6, max_size=6))
def test_people_of_coarser_classes_are_counted_once(rows, into):
    items = {label: at for at, label in enumerate(classes_of(rows, (0, 0)))}
    person = np.array([row[0] for row in rows])
    item = np.array([items[generalise(row, (0, 0))] for row in rows])
    ill = ["flu", "gout", "hiv"]
    value = np.array([0 if row[3] is None else ill.index(row[3]) + 1 for row in rows])
    people = ClassPeople.count(person, item, {"ill": (value, 4)}, len(items))
    of_item = np.unique(np.array(into[: len(items)]), return_inverse=True)[1]
    steps = [(people, np.arange(len(items))), (people.roll_up(of_item, of_item.max() + 1), of_item)]
    for counted, number in steps:
        found = [[] for _ in range(int(number.max()) + 1)]
        for row, at in zip(rows, item, strict=True):
            found[number[at]].append(row)
        assert counted.sizes.tolist() == [people_in(each) for each in found]
        assert counted.total == people_in(rows)
        entries = counted.entries_of("ill")
        assert {
            (at, ill[value - 1]): n
            for at, value, n in zip(
                entries.item.tolist(), entries.value.tolist(), entries.people.tolist(), strict=True
            )
            if value
        } == {(at, v): n for at, each in enumerate(found) for v, n in people_by_value(each).items()}
        assert entries.known.tolist() == [
            people_in([row for row in each if row[3] is not None]) for each in found
        ]


@pytest.mark.parametrize("unit", ["rows", "people"])
@given(rows=ROWS, models=st.sampled_from(MODELS))
def test_every_node_leaves_what_the_definitions_say(unit, rows, models):
    policy = policy_of(models, unit=unit)
    checker = make_checker(policy, counts_of(policy, rows))
    for node in NODES:
        left = settle(rows, node, checks_of(models), whole=unit == "people")
        outcome = checker.evaluate(node)
        lost = people_in(rows) - people_in(left) if unit == "people" else len(rows) - len(left)
        assert outcome.suppressed == lost
        assert outcome.judged.suppressed == len(rows) - len(left)
        sizes = [people_in(each) for each in classes_of(left, node).values()]
        assert sorted(checker.left(outcome).sizes.tolist()) == sorted(sizes)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("unit", ["rows", "people"])
@given(rows=ROWS, models=st.sampled_from(MODELS), limit=st.integers(0, 8))
def test_searches_agree_with_looking_at_every_node(unit, rows, models, limit):
    losses = []
    for search in ("best-first", "exhaustive", "incognito"):
        policy = policy_of(models, limit=limit, unit=unit, search=search)
        try:
            release = sf.anonymize(
                pa.table(dict(zip(NAMES, zip(*rows, strict=True), strict=True))), policy
            )
        except (InfeasibleError, InputError) as error:
            losses.append(type(error))
        else:
            losses.append(round(release.loss, 9))
    assert len(set(losses)) == 1, losses


@given(rows=ROWS, models=st.sampled_from(MODELS), unit=st.sampled_from(["rows", "people"]))
def test_a_release_has_enough_people_in_every_class(rows, models, unit):
    policy = policy_of(models, limit="60%", unit=unit)
    table = pa.table(dict(zip(NAMES, zip(*rows, strict=True), strict=True)))
    try:
        release = sf.anonymize(table, policy)
    except (InfeasibleError, InputError):
        return
    if len({row[0] for row in rows}) == len(rows):
        return
    node = (release.levels["letter"], release.levels["digit"])
    left = settle(rows, node, checks_of(models), whole=unit == "people")
    expected = sorted((*generalise(row, node), row[3] or "") for row in left)
    published = zip(*(release.table[name].to_pylist() for name in NAMES[1:]), strict=True)
    assert sorted((a, b, c or "") for a, b, c in published) == expected


@given(ROWS)
def test_no_choice_of_one_value_each_is_less_diverse_than_what_is_counted(rows):
    assert len(most_uneven(rows)) <= fewest_values(rows)
    # Two values suffice to be diverse exactly if no value is held by all.
    assert (len(most_uneven(rows)) >= 2) == (fewest_values(rows) >= 2)


@given(rows=ROWS, models=st.sampled_from(MODELS), unit=st.sampled_from(["rows", "people"]))
def test_a_lattice_judges_its_nodes_by_people(rows, models, unit):
    policy = policy_of(models, limit=2, unit=unit)
    table = pa.table(dict(zip(NAMES, zip(*rows, strict=True), strict=True)))
    found = sf.tools.lattice(table, policy)
    everything = people_in(rows) if unit == "people" else len(rows)
    # Where each person has one row, rows are people, as in a release.
    told = unit if people_in(rows) < len(rows) else "rows"
    assert f"at most {min(2, everything)} of {everything} {told}" in str(found)
    for each in found:
        left = settle(rows, each.node, checks_of(models), whole=unit == "people")
        lost = people_in(rows) - people_in(left) if unit == "people" else len(rows) - len(left)
        assert (each.suppressed, each.valid) == (lost, lost <= 2)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("unit", ["rows", "people"])
@given(rows=ROWS, models=st.sampled_from(MODELS))
def test_a_cut_has_enough_people_in_every_class(unit, rows, models):
    levels = policy_of(models, limit="50%", unit=unit)
    columns = {**levels.to_plain()["columns"], "number": "plain"}
    levels = levels.replace(columns=columns)
    policy = levels.with_method("regional")
    table = pa.table(dict(zip(NAMES, zip(*rows, strict=True), strict=True)))
    table = table.append_column("number", pa.array(range(len(rows))))
    try:
        release = sf.anonymize(table, policy)
    except (InfeasibleError, InputError):
        with pytest.raises((InfeasibleError, InputError)):
            sf.anonymize(table, levels)
        return
    assert release.loss <= sf.anonymize(table, levels).loss + 1e-9
    if people_in(rows) == len(rows):
        return
    published = release.table.to_pylist()
    classes = {}
    for cells in published:
        labels = cells["letter"], cells["digit"]
        classes.setdefault(labels, []).append(rows[cells["number"]])
    every = list(classes.values())
    for mine in every:
        assert all(check(mine, every) for _, check in checks_of(models))
    if unit == "people":
        left = {row[0] for mine in every for row in mine}
        assert len(published) == sum(row[0] in left for row in rows)
