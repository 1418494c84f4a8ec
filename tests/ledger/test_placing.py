"""Which group a row goes to, against all groups gone through one by one."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError
from sfumato.ledger.placing import ends_of, find_places
from sfumato.ledger.store import Settings, keys_of, writing
from tests.ledger.releases import grouped_of

TREE = {"north": {"coast": ["Kiel", "Emden"], "inland": ["Celle"]}, "south": ["Ulm", "Passau"]}
PATHS = {
    "Kiel": ["Kiel", "coast", "north", "*"],
    "Emden": ["Emden", "coast", "north", "*"],
    "Celle": ["Celle", "inland", "north", "*"],
    "Ulm": ["Ulm", "south", "south", "*"],
    "Passau": ["Passau", "south", "south", "*"],
}
LEAVES = {"coast": 2, "inland": 1, "north": 3, "south": 2, "*": 5}
AGES = ["20 to 29", "30 to 39", "*", "21", "35"]


@pytest.fixture(scope="module")
def policy():
    return sf.Policy(
        columns={
            "town": {"role": "quasi-identifier", "hierarchy": sf.hierarchy.Taxonomy(TREE)},
            "age": {
                "role": "quasi-identifier",
                "hierarchy": sf.hierarchy.Intervals(widths=[10]),
            },
            "ill": "sensitive",
        },
        models=[sf.models.KAnonymity(2)],
    )


def places_of(db, settings, policy, rows):
    """Return the key of the group of each row."""
    columns = [tabulated([row[q] for row in rows]) for q in range(len(settings.quasi_identifiers))]
    values, codes = zip(*columns, strict=True)
    keys, of_row = find_places(db, settings, policy, values, np.array(codes, dtype=np.int64))
    return [keys[each] for each in of_row.tolist()]


def tabulated(column):
    values = list(dict.fromkeys(column))
    return values, [values.index(value) for value in column]


def place(folder, policy, groups, rows, names=("town", "age")):
    path = folder / "x.ledger"
    start = [(*group, ill) for group in groups for ill in "ab"]
    sf.Ledger.start(grouped_of(start, names, ("ill",)), path, alpha=1, policy=policy)
    with writing(path) as db:
        return places_of(db, Settings.load(db), policy, rows)


TOWNS = st.sampled_from(sorted(PATHS))
GROUPS = st.lists(
    st.tuples(st.sampled_from([*PATHS, *LEAVES]), st.sampled_from(AGES)),
    min_size=1,
    max_size=10,
    unique=True,
)


@given(GROUPS, st.lists(st.tuples(TOWNS, st.sampled_from([21, 25, 35])), min_size=1, max_size=6))
@settings(max_examples=40)
def test_the_most_specific_group_that_fits_is_found(tmp_path_factory, policy, groups, rows):
    found = place(tmp_path_factory.mktemp("p"), policy, groups, rows)
    for (town, age), key in zip(rows, found, strict=True):
        decade = f"{age - age % 10} to {age - age % 10 + 9}"
        fitting = [g for g in groups if g[0] in PATHS[town] and g[1] in (str(age), decade, "*")]
        if not fitting:
            assert key not in {keys_of(g) for g in groups}
            continue

        def share(group, town=town, age=age, decade=decade):
            leaves = LEAVES.get(group[0], 1)
            ages = 1.0 if group[1] == "*" else age_share(rows, group[1])
            if len({age for _, age in rows}) == 1:
                ages = 0.0  # the only age there is: every label stands for it alone
            levels = PATHS[town].index(group[0]) + [str(age), decade, "*"].index(group[1])
            return round((leaves - 1) / 4 + ages, 9), levels

        least = min(map(share, fitting))
        assert key in {keys_of(g) for g in fitting if share(g) == least}


def age_share(rows, label):
    """What share of the ages that are known an interval stands for."""
    ages = sorted({age for _, age in rows})
    low, _, high = label.partition(" to ")
    if not high:
        return 0.0
    inside = sum(int(low) <= age <= int(high) for age in ages)
    return (inside - 1) / max(len(ages) - 1, 1)


def test_several_groups_are_gone_through_when_names_are_too_many(tmp_path):
    policy = sf.Policy(
        columns={**dict.fromkeys("abc", "quasi-identifier"), "ill": "sensitive"},
        models=[sf.models.KAnonymity(2)],
    )
    groups = [(f"{i}-{60 - i}", f"{j}-{60 - j}", "0-60") for i in range(9) for j in range(9)]
    [key] = place(tmp_path, policy, groups, [(30, 30, 30)], ("a", "b", "c"))
    assert key == keys_of(["8-52", "8-52", "0-60"])


def test_rows_are_placed_together_as_they_are_one_by_one(tmp_path, policy):
    """Asked for by their names if those are few, and else found among all groups there are."""
    groups = [("coast", "20-29"), ("Kiel", "*"), ("north", "20-29"), ("south", "35")]
    rows = [(town, age) for town in PATHS for age in (21, 25, 35)]
    path = tmp_path / "x.ledger"
    start = [(*group, ill) for group in groups for ill in "ab"]
    sf.Ledger.start(grouped_of(start, ("town", "age"), ("ill",)), path, alpha=1, policy=policy)
    with writing(path) as db:
        own = Settings.load(db)
        together = places_of(db, own, policy, rows)
        assert together == [places_of(db, own, policy, [row])[0] for row in rows]
    assert {keys_of(group) for group in groups} < set(together)


def test_a_missing_value_is_a_label_of_its_own(tmp_path, policy):
    groups = [(None, "20-29"), ("Kiel", "20-29")]
    assert place(tmp_path, policy, groups, [(None, 25)]) == [keys_of(groups[0])]


def test_a_ledger_goes_on_writing_labels_as_it_began(tmp_path, policy):
    """Groups that were published when labels were written otherwise stay the same groups."""
    groups = [("Kiel", "20-29"), ("Ulm", "30-39")]
    rows = [("Kiel", 25), ("Kiel", 41), ("Ulm", 39)]
    found = place(tmp_path, policy, groups, rows)
    assert found == [keys_of(("Kiel", "20-29")), keys_of(("Kiel", "40-49")), keys_of(groups[1])]


def test_numbers_of_any_type_are_the_same_value(tmp_path, policy):
    groups = [("Kiel", "20-29")]
    rows = [("Kiel", 25), ("Kiel", "25"), ("Kiel", 25.0), ("Kiel", Decimal(25))]
    assert set(place(tmp_path, policy, groups, rows)) == {keys_of(groups[0])}


def test_labels_that_new_values_would_change_are_refused(tmp_path):
    policy = sf.Policy(
        columns={
            "zip": {"role": "quasi-identifier", "hierarchy": sf.hierarchy.Masking()},
            "ill": "sensitive",
        },
        models=[sf.models.KAnonymity(2)],
    )
    path = tmp_path / "x.ledger"
    start = [("471*", ill) for ill in "ab"]
    sf.Ledger.start(grouped_of(start, ("zip",), ("ill",)), path, alpha=1, policy=policy)
    with writing(path) as db:
        own = Settings.load(db)
        assert places_of(db, own, policy, [("4711",)]) == [keys_of(["471*"])]
        with pytest.raises(InputError, match="would give other labels to '4711'"):
            places_of(db, own, policy, [("471123",)])


def test_a_source_fixes_hierarchies_that_depend_on_it(tmp_path):
    policy = sf.Policy(
        columns={
            "age": {"role": "quasi-identifier", "hierarchy": sf.hierarchy.Automatic()},
            "ill": "sensitive",
        },
        models=[sf.models.KAnonymity(2)],
    )
    import pyarrow as pa

    table = pa.table({"age": [20, 21, 30, 31], "ill": list("abcd")})
    sf.decouple(sf.anonymize(table, policy), output=tmp_path / "broken", format="csv")
    path = tmp_path / "x.ledger"
    sf.Ledger.start(tmp_path / "broken", path, alpha=0.5, policy=policy, source=table)
    done = sf.Ledger(path).publish(pa.table({"age": [20, 21], "ill": ["a", "b"]}))
    assert done.admitted == 2


@pytest.mark.parametrize(
    ("label", "ends"),
    [
        ("20 to 29", ("20", "29", True)),
        ("20-29", ("20", "29", True)),
        ("2.5 to under 5", ("2.5", "5", False)),
        ("-5 to 7", ("-5", "7", True)),
        ("2020-01-01 to 2020-12-31", ("2020-01-01", "2020-12-31", True)),
        ("-5", (None, None, True)),
        ("*", (None, None, True)),
    ],
)
def test_intervals_are_read_as_they_are_written(label, ends):
    assert ends_of(label) == ends
