"""The adversary of `worlds.py` against listed worlds, against old mistakes, and on real ledgers."""

import csv
import random
from collections import Counter
from fractions import Fraction
from itertools import product

import pytest

from tests.ledger.worlds import (
    Group,
    count_changes,
    count_parts,
    judge,
    list_paths,
    list_worlds,
    part_belief,
    paths_with_few_changes,
    paths_with_rate,
    read_folders,
    split_components,
    strongest_belief,
    tables_of,
)

# --- The adversary itself ----------------------------------------------------------------------


def group_of(label, **columns):
    """Return a group with these labels and these values of each column; None is missing."""
    size = len(next(iter(columns.values())))
    return Group((label,), size, {name: dict(Counter(vs)) for name, vs in columns.items()})


def write_folder(folder, groups):
    """Write a folder as publishers do: quasi-identifiers, and a table for each column."""
    folder.mkdir()
    columns = sorted({name for group in groups.values() for name in group.tables})
    with (folder / "qi.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["group", "age"])
        for number, group in groups.items():
            writer.writerows([[number, *group.labels]] * group.size)
    for name in columns:
        with (folder / f"sensitive_{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["group", name, "count"])
            for number, group in groups.items():
                writer.writerows([[number, value, n] for value, n in group.tables[name].items()])
    return folder


def random_tables(rng):
    """Return whereabouts of a few people who come, go, move and change, and what is public."""
    releases, numbers = rng.choice([2, 2, 3]), ["1", "2"]
    people = {}
    for person in range(rng.choice([2, 3, 4])):
        each = [rng.choice([*numbers[: rng.choice([1, 2])], None]) for _ in range(releases)]
        if set(each) != {None}:
            people[person] = each
    values = {p: rng.choice(["a", "b", "c", None]) for p in people}
    states = []
    for t in range(releases):
        for person in values:
            if rng.random() < 0.2:
                values[person] = rng.choice(["a", "b", "c", None])
        members = {n: [p for p in people if people[p][t] == n] for n in numbers}
        states.append(
            {n: group_of("30s", s=[values[p] for p in who]) for n, who in members.items() if who}
        )
    return states, people


def test_worlds_are_counted_as_they_are_listed(some):
    rng = random.Random(5)
    tried = 0
    while tried < some(60, of=600):
        states, people = random_tables(rng)
        if not people:
            continue
        tried += 1
        parts = count_parts(states, map(tuple, people.values()))
        whole = split_components(parts)
        for person, each in people.items():
            target = tuple(each)
            [component] = [c for c in whole if target in dict(c)]
            tables = tables_of(component, states, "s")
            near = {p: way for p, way in people.items() if tuple(way) in dict(component)}
            numbers = {number for way in near.values() for number in way}
            here = [{n: g for n, g in state.items() if n in numbers} for state in states]
            when = [t for t, number in enumerate(target) if number is not None]
            for reading in ("few", Fraction(1, 10), Fraction(1)):
                listed = list_paths(here, near, "s", person, reading)
                if reading == "few":
                    assert paths_with_few_changes(component, tables, target) == listed
                else:
                    assert paths_with_rate(component, tables, target, reading) == listed
                found = part_belief(component, tables, target, reading)
                assert found[0] == strongest_belief(listed, when)[0]
            free = strongest_belief(list_paths(here, near, "s", person, "any"), when)
            assert part_belief(component, tables, target, "any")[0] == free[0]


def test_columns_tell_nothing_about_one_another():
    """Worlds of two columns listed together: knowledge of one, and combinations, add nothing."""
    rng = random.Random(6)
    for _ in range(12):
        people = {0: ["1", "1"], 1: ["1", "1"], 2: ["1", rng.choice(["1", "2", None])]}
        states = []
        rows = {p: (rng.choice("ab"), rng.choice(["x", "y", None])) for p in people}
        for t in range(2):
            if t and rng.random() < 0.7:
                rows[rng.randrange(3)] = (rng.choice("ab"), rng.choice("xy"))
            members = {n: [p for p in people if people[p][t] == n] for n in "12"}
            states.append(
                {
                    n: group_of("30s", ill=[rows[p][0] for p in who], pay=[rows[p][1] for p in who])
                    for n, who in members.items()
                    if who
                }
            )
        for reading, person in product(("any", "few"), people):
            check_together(states, people, person, reading)


def check_together(states, people, person, reading):
    """List the worlds of both columns of a person, and compare with those of one at a time."""
    when = [t for t, number in enumerate(people[person]) if number is not None]
    joint = Counter()
    both = list(product(*(list(list_worlds(states, people, name)) for name in ("ill", "pay"))))
    costs = [tuple(count_changes(world, people) for world in worlds) for worlds in both]
    least = tuple(map(min, zip(*costs, strict=True)))
    for (ill, pay), cost in zip(both, costs, strict=True):
        if reading == "any" or cost == least:
            joint[tuple((ill[person, t], pay[person, t]) for t in when)] += 1
    alone = [list_paths(states, people, name, person, reading) for name in ("ill", "pay")]
    strongest = max(strongest_belief(paths, when)[0] for paths in alone)
    facts = [(c, i) for c in range(2) for i in range(len(when))]
    for known in [None, *facts]:
        for value in {None} if known is None else {path[known[1]][known[0]] for path in joint}:
            if known is not None and value is None:
                continue
            fits = {
                path: n
                for path, n in joint.items()
                if known is None or path[known[1]][known[0]] == value
            }
            for chosen in subsets([fact for fact in facts if fact != known]):
                worlds = Counter()
                for path, n in fits.items():
                    worlds[tuple(path[i][c] for c, i in chosen)] += n
                recorded = {each: n for each, n in worlds.items() if None not in each}
                for each, n in recorded.items():
                    news = [
                        (c, v)
                        for (c, _), v in zip(chosen, each, strict=True)
                        if known is None or (c, v) != (known[0], value)
                    ]
                    if news:
                        assert Fraction(n, sum(recorded.values())) <= strongest


def subsets(items):
    for chosen in product([False, True], repeat=len(items)):
        if any(chosen):
            yield [item for item, take in zip(items, chosen, strict=True) if take]


def test_folders_and_people_must_agree():
    with pytest.raises(ValueError, match="release 1 has"):
        count_parts([{"1": group_of("30s", ill="abc")}], [("1",), ("1",)])


# --- What it finds -----------------------------------------------------------------------------


def found_in(folder, releases, people):
    folder.mkdir(exist_ok=True)
    folders = [write_folder(folder / str(i), groups) for i, groups in enumerate(releases)]
    return judge(read_folders(folders), people)


def ways(**counted):
    """Return people by trajectory: `ways(stay=(5, "111"))` are five, `-` is not published."""
    return {
        f"{name}{i}": [None if each == "-" else each for each in way]
        for name, (n, way) in counted.items()
        for i in range(n)
    }


def test_it_finds_who_joins_with_some_and_leaves_with_others(tmp_path):
    old = ["flu", "gout", "cold", "ulcer", "asthma", "angina", "acne", "burn"]
    new = ["hiv", "flu", "gout", "cold"]
    gone = Counter(["hiv", "ulcer", "asthma", "angina"])
    releases = [
        {"1": group_of("30s", ill=old)},
        {"1": group_of("30s", ill=old + new)},
        {"1": group_of("30s", ill=list((Counter(old + new) - gone).elements()))},
    ]
    people = ways(stay=(5, "111"), leave=(3, "11-"), new=(3, "-11"), alice=(1, "-1-"))
    verdict = found_in(tmp_path, releases, people)
    assert str(verdict.beliefs[0]) == "P(ill@2=hiv) = 1 for (None, '1', None)"
    assert verdict.smallest == 1


def test_it_finds_who_moves_with_some_and_arrives_with_others(tmp_path):
    before = {
        "1": ["hiv", "flu", "cold", "acne"],
        "2": ["gout", "burn", "cold", "acne"],
        "3": ["ulcer", "lupus", "cold", "acne"],
    }
    after = {  # Each sends one to each of the others.
        "1": ["gout", "ulcer", "cold", "acne"],
        "2": ["hiv", "lupus", "cold", "acne"],
        "3": ["flu", "burn", "cold", "acne"],
    }
    releases = [
        {n: group_of(f"{n}0s", ill=values) for n, values in groups.items()}
        for groups in (before, after)
    ]
    moves = {f"{a}to{b}": (1, a + b) for a in "123" for b in "123" if a != b}
    people = ways(**moves, **{f"stay{n}": (2, n + n) for n in "123"})
    verdict = found_in(tmp_path, releases, people)
    assert "P(ill@1=hiv) = 1 for ('1', '2')" in map(str, verdict.beliefs)


def test_it_finds_missing_values_that_hide_others(tmp_path):
    verdict = found_in(
        tmp_path, [{"1": group_of("30s", ill=["hiv", "hiv", None, None])}], ways(all=(4, "1"))
    )
    assert verdict.beliefs[0].belief == 1


def test_it_finds_a_single_value_of_three_columns(tmp_path):
    base = {"ill": "abcd", "pay": "mnop", "job": "wxyz"}
    second = {"ill": ["hiv"] * 4, "pay": ["low", "low", "mid", "high"], "job": "wxyz"}
    third = {"ill": ["hiv", "hiv", "flu", "gout"], "pay": ["low"] * 4, "job": "wxyz"}
    tables = [{name: [*base[name] * 4] for name in base}]
    for more in (second, third):
        tables.append({name: tables[-1][name] + [*more[name]] for name in base})
    releases = [{"1": group_of("30s", **each)} for each in tables]
    people = ways(first=(16, "111"), second=(4, "-11"), third=(4, "--1"))
    verdict = found_in(tmp_path, releases, people)
    told = set(map(str, verdict.above(Fraction(1, 2))))
    assert "P(ill@2=hiv) = 1 for (None, '1', '1')" in told
    assert "P(pay@3=low) = 1 for (None, None, '1')" in told


def test_it_finds_what_sums_over_those_who_joined_at_different_times_tell(tmp_path):
    """Two of {a, b, b, c} and two of {b, c, h, h} leave, and only the sum is published."""
    releases = [
        {"1": group_of("30s", ill="abbc")},
        {"1": group_of("30s", ill="abbc" + "bchh")},
        {"1": group_of("30s", ill="bc" + "bh")},
    ]
    people = ways(a=(2, "111"), b=(2, "11-"), c=(2, "-11"), d=(2, "-1-"))
    verdict = found_in(tmp_path, releases, people)
    assert str(verdict.beliefs[0]) == "P(ill@1=b) = 2/3 for ('1', '1', '1')"


def test_it_finds_a_correction_of_one_alone(tmp_path):
    releases = [{"1": group_of("30s", ill="aabbcc")}, {"1": group_of("30s", ill="abbbcc")}]
    verdict = found_in(tmp_path, releases, ways(all=(6, "11")))
    # One of two who had a has b now; one of three who have b had a.
    assert verdict.beliefs[0].belief == Fraction(1, 2)
    releases[1] = {"1": group_of("30s", ill="abbccd")}
    verdict = found_in(tmp_path / "again", releases, ways(all=(6, "11")))
    assert str(verdict.beliefs[0]) == "P(ill@1=a | ill@2=d) = 1 for ('1', '1')"


def test_it_finds_nothing_where_parts_of_cells_leave_together(tmp_path):
    releases = [
        {"1": group_of("30s", ill="aabbcc")},
        {"1": group_of("30s", ill="aabbcc"), "2": group_of("30s", ill="abd")},
        {"1": group_of("30s", ill="abc"), "2": group_of("30s", ill="abd")},
    ]
    people = ways(stay=(3, "111"), leave=(3, "11-"), new=(3, "-22"))
    verdict = found_in(tmp_path, releases, people)
    assert verdict.beliefs[0].belief == Fraction(1, 3)
    assert verdict.smallest == 3
