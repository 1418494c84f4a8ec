"""The adversary of `worlds.py` against listed worlds, against old mistakes, and on real ledgers."""

import csv
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from math import prod

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.ledger import admission, chain, corrections, increment
from sfumato.ledger.publishing import increments
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
    read_folder,
    read_folders,
    seen_tables,
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


@pytest.mark.usefixtures("patience")
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


@pytest.mark.usefixtures("patience")
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


@pytest.mark.usefixtures("patience")
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


# --- Ledgers of a few people -------------------------------------------------------------------

ALPHAS = (0.34, 0.4, 0.5, 0.5, 0.6, 0.67)
VALUES = ("a", "b", "c", "d", "e")


class TinyLedger:
    """A ledger of a few people: what was asked of it, what it published, and who is where.

    Args:
        folder: Where everything is written.
        seed: Draws all that is asked.
        written: Whether releases are written as folders, and read from there; else the tables
            that would be written are taken, which needs a third of the time.
        fixed: What is not drawn: `alpha`, `k`, `l`, `quasi_identifiers`, `sensitive`, `missing`,
            `harmless`, `wishes`, `first`, `releases`.
    """

    identifiers = ("id",)
    said_of_people = {}  # noqa: RUF012
    """What the policy says of them."""

    settings = {}  # noqa: RUF012
    """What the ledger is started with besides."""

    def __init__(self, folder, seed, *, written=True, **fixed):
        folder.mkdir()
        self.rng = rng = random.Random(seed)
        self.folder, self.written = folder, written
        self.alpha, self.k = rng.choice(ALPHAS), rng.choice([2, 2, 3])
        self.l = rng.choice([0, 0, 0, 3])
        """How many illnesses people have at least who are seen together."""
        self.quasi_identifiers = ["age", "sex"][: rng.choice([1, 1, 1, 2])]
        self.sensitive = ["ill", "pay", "job"][: rng.choice([1, 2, 2, 3])]
        self.missing = rng.choice([0, 0, 0.15, 0.3])
        self.harmless = rng.choice([[], [], [], ["a"]])
        self.wishes = {"": 2, "leave": 3, "move": 3, "correct": 4, "leave, correct": 1}
        """How often something is asked of a cell."""
        self.first = []
        """The rows of the first release; none to draw them."""
        self.releases = rng.choice([2, 3, 3, 4, 4, 5])
        vars(self).update(fixed)
        self.rows = {}
        """Everybody ever given, as they really are."""
        self.could_be = {}
        """For each person and column, the values that may be published now."""
        self.could_have_been = []
        """The same after each release."""
        self.states = []
        """What is public after each release."""
        self.whereabouts = []
        """Under which number each person is published after each release."""
        self.happened = Counter()
        self.agrees = True
        """Whether all tables are those of the people who are published."""
        self.told = Fraction(0)
        """The most that publishes said those believe who know that a person waits."""
        self.untold = []
        """After which releases more was to be believed than that."""
        self.coarse = False
        """Whether ages are generalised to one label."""
        self.policy = sf.Policy(
            columns={
                **dict.fromkeys(self.identifiers, "identifier"),
                **dict.fromkeys(self.quasi_identifiers, "quasi-identifier"),
                **{
                    name: {"role": "sensitive", "harmless": self.harmless}
                    for name in self.sensitive
                },
            },
            models=[
                sf.models.KAnonymity(2),
                *([sf.models.DistinctLDiversity("ill", self.l)] if self.l else []),
            ],
            **self.said_of_people,
        )
        self.start()
        for _ in range(self.releases - 1):
            self.publish()

    @property
    def limit(self):
        return Fraction(str(self.alpha))

    @property
    def is_a_world(self):
        """Whether what happened is one of the worlds in which few change."""
        people = self.people
        parts = split_components(count_parts(self.states, map(tuple, people.values())))
        for person, name in product(people, self.sensitive):
            target = tuple(people[person])
            [component] = [each for each in parts if target in dict(each)]
            tables = tables_of(component, self.states, name)
            could_be = [
                each[person][name]
                for each, number in zip(self.could_have_been, target, strict=True)
                if number is not None
            ]
            if not any(
                all(value in each for value, each in zip(path, could_be, strict=True))
                for path in paths_with_few_changes(component, tables, target)
            ):
                return False
        return True

    @property
    def least_diverse(self):
        """The fewest illnesses among people who can be seen together."""
        tables = seen_tables(self.states, self.people, "ill")
        return min(sum(n > 0 for value, n in each.items() if value is not None) for each in tables)

    @property
    def people(self):
        """The trajectory of everybody who was ever published."""
        found = {p: [each.get(p) for each in self.whereabouts] for p in self.rows}
        return {p: each for p, each in found.items() if set(each) != {None}}

    # People and values that have a good chance to be published.

    def is_within(self, values):
        """Return whether no value is above the limit."""
        counts = Counter(value for value in values if value is not None)
        most = max((n for value, n in counts.items() if value not in self.harmless), default=0)
        return most <= self.limit * counts.total()

    def are_hidden(self, people):
        """Return whether people may be seen together."""
        tables = [[self.rows[p][name] for p in people] for name in self.sensitive]
        diverse = len({*tables[0]} - {None}) >= self.l
        return not people or (
            diverse and len(people) >= self.k and all(map(self.is_within, tables))
        )

    def draw_values(self, n):
        """Return values that are about as frequent as one another, and some that are missing."""
        for _ in range(20):
            values = self.rng.sample(VALUES, self.rng.choice([3, 4]))
            drawn = (values * n)[:n]
            if self.rng.random() < 0.5:
                drawn[0] = self.rng.choice(values)
            drawn = [None if self.rng.random() < self.missing else value for value in drawn]
            if self.is_within(drawn):
                break
        self.rng.shuffle(drawn)
        return drawn

    def identify(self, person):
        """Return the identifiers of one of the rows."""
        return (person,)

    def draw_labels(self):
        labels = {"age": self.rng.choice(["30s", "40s"]), "sex": self.rng.choice("fm")}
        return {name: labels[name] for name in self.quasi_identifiers}

    def draw_people(self, n, labels):
        """Return new people of one group."""
        columns = {name: self.draw_values(n) for name in self.sensitive}
        rows = [{name: columns[name][i] for name in self.sensitive} for i in range(n)]
        return self.add_people({**labels, **values} for values in rows)

    def add_people(self, rows):
        """Return new people with these rows."""
        found = []
        for row in rows:
            found.append(person := f"p{len(self.rows)}")
            self.rows[person] = dict(row)
            self.could_be[person] = {name: {row[name]} for name in self.sensitive}
        return found

    def draw_part(self, people):
        """Return some people of a cell; often such that they may be seen, and the rest too."""
        if self.rng.random() < 0.1:
            return people
        for _ in range(30 if len(people) >= 2 * self.k and self.rng.random() < 0.8 else 0):
            chosen = self.rng.sample(people, self.rng.randint(self.k, len(people) - self.k))
            if self.are_hidden(chosen) and self.are_hidden(sorted(set(people) - set(chosen))):
                return chosen
        return self.rng.sample(people, self.rng.randint(1, len(people)))

    def draw_one(self, which, chance):
        """Return one of the people to whom something applies, or none."""
        found = [person for person, each in self.now.items() if which(each)]
        return self.rng.sample(found, 1) if found and self.rng.random() < chance else []

    # What is asked.

    def table(self, people, **more):
        names = zip(*map(self.identify, people), strict=True)
        columns = dict(zip(self.identifiers, names, strict=True))
        for name in (*self.quasi_identifiers, *self.sensitive):
            columns[name] = [self.rows[person][name] for person in people]
        columns |= more
        return pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()})

    def start(self):
        self.add_people(self.first)
        for age, sex in () if self.first else (("30s", "f"), ("40s", "m")):
            here = dict(list({"age": age, "sex": sex}.items())[: len(self.quasi_identifiers)])
            while not self.are_hidden(people := self.draw_people(self.rng.randint(4, 8), here)):
                for person in people:
                    del self.rows[person]
        table = self.table(self.rows)
        first = self.folder / "1" if self.written else None
        release = sf.decouple(table, policy=self.policy, output=first, format="csv")
        self.ledger = sf.Ledger.start(
            release,
            self.folder / "ledger",
            alpha=self.alpha,
            k=self.k,
            policy=self.policy,
            source=table,
            **self.settings,
        )
        self.note(self.ledger.started, first)

    def publish(self):
        """Ask for something of some people, and note what is published."""
        rng = self.rng
        if not self.coarse and rng.random() < 0.05:
            folder = self.folder / str(len(self.states) + 1) if self.written else None
            self.coarse = True
            self.note(self.ledger.generalise({"age": 1}, output=folder, seed=1), folder)
            self.happened["generalised"] += 1
            return
        joining = (
            self.draw_people(rng.randint(1, 8), self.draw_labels()) if rng.random() < 0.7 else []
        )
        again = self.draw_one(lambda each: each.left is not None, 0.3)
        again += self.draw_one(lambda each: each.waits == "remove", 0.3)
        again += self.draw_one(lambda each: each.group is not None and each.waits is None, 0.1)
        again = sorted(set(again))
        leaving, correcting = [], {}
        for people in self.cells().values():
            # Those who wait to be corrected may change their mind, too.
            ready = {None, "correct"} if rng.random() < 0.3 else {None}
            free = [p for p in people if self.now[p].waits in ready and p not in again]
            [what] = rng.choices([*self.wishes], [*self.wishes.values()])
            if "leave" in what:
                gone = [p for p in self.draw_part(people) if p in free]
                free = [p for p in free if p not in gone]
                leaving += gone
            if "move" in what:
                correcting |= self.move([p for p in self.draw_part(people) if p in free])
            if "correct" in what and free:
                correcting |= self.correct(people, free)
        if not (joining or again or leaving or correcting):
            return
        self.ask(joining + again, leaving, correcting, at_once=rng.random() < 0.1)

    def ask(self, joining=(), leaving=(), correcting=None, *, at_once=False):
        """Publish, and note what is; those who are corrected come with what they were before."""
        correcting = correcting or {}
        folder = self.folder / str(len(self.states) + 1) if self.written else None
        old = {
            f"old_{name}": [correcting[p].get(name, self.rows[p][name]) for p in correcting]
            for name in sorted({name for each in correcting.values() for name in each})
        }
        done = self.ledger.publish(
            self.table(joining) if joining else None,
            delete=self.table(leaving) if leaving else None,
            correct=self.table(correcting, **old) if correcting else None,
            output=folder,
            whole=not self.written or self.rng.random() < 0.5,
            at_once=at_once,
            again=True,
            seed=self.rng.randrange(2**32),
        )
        self.note(done, folder)

    def cells(self):
        """Return who is published under each group number now."""
        found = {}
        for person, number in self.whereabouts[-1].items():
            if number is not None:
                found.setdefault(number, []).append(person)
        return found

    def move(self, people):
        """Give some people other labels, and return their old ones."""
        name = self.quasi_identifiers[-1]
        if self.coarse and name == "age":
            return {}
        old = {person: {name: self.rows[person][name]} for person in people}
        for person in people:
            [others] = [each for each in ({"30s", "40s"}, {"f", "m"}) if old[person][name] in each]
            [self.rows[person][name]] = others - {old[person][name]}
        return old

    def correct(self, people, free):
        """Give some people of a cell another value of one column, and return their old ones."""
        name = self.rng.choice(self.sensitive)
        values = {self.rows[p][name] for p in people} | {self.rng.choice(VALUES)}
        for _ in range(6):
            chosen = self.rng.sample(free, min(len(free), self.rng.choice([1, 1, 2, 3])))
            new = {p: self.rng.choice(sorted(values, key=repr)) for p in chosen}
            if self.is_within([new.get(p, self.rows[p][name]) for p in people]):
                break
        corrected = {}
        for person, value in new.items():
            if value != self.rows[person][name]:
                corrected[person] = {name: self.rows[person][name]}
                self.rows[person][name] = value
                self.could_be[person][name].add(value)
        return corrected

    # What is seen.

    def believed_of_who_waits(self):
        """Return the largest share of a value among k or more who wait in one place.

        So much is believed by those who know who waits since when, what all of them have together,
        and that fewer than k would wait for company only.
        """
        together = {}
        for person, each in self.now.items():
            if each.waits == "add":
                labels = {**self.rows[person], **({"age": "*"} if self.coarse else {})}
                place = tuple(labels[name] for name in self.quasi_identifiers)
            elif each.waits == "remove":
                place = each.group
            else:
                continue
            together.setdefault((each.waits, place), []).append(person)
        shares = [Fraction(0)]
        for people in together.values():
            for name in self.sensitive if len(people) >= self.k else ():
                # Who waits to be corrected and then to leave is published as before.
                if any(len(self.could_be[p][name]) > 1 for p in people):
                    continue
                counts = Counter(self.rows[p][name] for p in people)
                counts.pop(None, None)
                most = max((n for v, n in counts.items() if v not in self.harmless), default=0)
                shares.append(Fraction(most, counts.total()) if most else Fraction(0))
        return max(shares)

    def note(self, done, folder):
        """Note what is public and where everybody is now, and compare it with what was asked."""
        found = self.ledger.find(map(self.identify, self.rows))
        self.now = dict(zip(self.rows, found, strict=True))
        for each in done.refused:
            self.happened["returned" if "left in" in each.why else "given twice"] += each.rows
        if done.told is not None:
            self.told = max(self.told, done.told.share)
            self.happened["told"] += 1
        if not self.settings and self.believed_of_who_waits() > self.told:
            self.untold.append(done.sequence)
        self.happened["changed their mind"] += done.withdrawn
        self.happened["went with others"] += done.others
        there = {
            person: None if each.group is None or each.left is not None else str(each.group)
            for person, each in self.now.items()
        }
        if done.tables is None:
            before = self.whereabouts[-1]
            self.agrees &= there == {person: before.get(person) for person in there}
            return
        before = self.states[-1] if self.states else {}
        earlier = self.whereabouts[-1] if self.states else {}
        state = state_of(done.tables) if folder is None else read_folder(folder, before)
        self.states.append(state)
        self.whereabouts.append(there)
        self.happened += count_events(before, state, earlier, there)
        self.could_be = {
            person: {
                name: {self.rows[person][name]} if self.now[person].waits is None else {*values}
                for name, values in self.could_be[person].items()
            }
            for person in self.rows
        }
        self.could_have_been.append(self.could_be)
        for number, people in self.cells().items():
            for name in self.sensitive:
                could_be = [self.could_be[p][name] for p in people]
                self.agrees &= can_be(state[number].tables[name], could_be)


def state_of(grouped):
    """Return what a folder with these tables would tell."""
    tables = [{} for _ in grouped.sizes]
    for table in grouped.sensitive:
        for g, value, n in zip(table.group, table.value, table.rows, strict=True):
            tables[g].setdefault(table.column.name, {})[table.column.values[value]] = int(n)
    return {
        str(number): Group(tuple(v for _, v in grouped.group_at(g)), int(size), tables[g])
        for g, (number, size) in enumerate(zip(grouped.labelled, grouped.sizes, strict=True))
    }


def count_events(before, state, earlier, there):
    """Count what can be seen to have happened between two releases."""
    found = Counter()
    if not before:
        return found
    for person, number in there.items():
        was = earlier.get(person)
        if was is None and number is not None:
            found["joined"] += 1
        elif was is not None and number is None:
            found["left" if was in state else "left with all"] += 1
        elif was != number:
            found["moved" if was in state else "moved with all"] += 1
    for number in before.keys() & state.keys():
        if before[number].size == state[number].size:
            found["corrected"] += before[number].tables != state[number].tables
    return found


def can_be(table, people):
    """Return whether people can have the values of a table, if each has one of some."""
    if not people:
        return not any(table.values())
    first, *rest = sorted(people, key=len)
    return any(
        table.get(value) and can_be({**table, value: table[value] - 1}, rest) for value in first
    )


@pytest.fixture
def trusted(monkeypatch):
    """The rules of the ledger alone, in half the time.

    Whether it was edited is tested elsewhere, and the verdict on an increment is a second guard,
    which would hide that a rule is missing.
    """
    monkeypatch.setattr(chain, "require_sound", lambda *_: None)
    monkeypatch.setattr(increments, "judge", lambda *_: None)


def check_ledgers(folder, seeds):
    """Judge some ledgers, and see that enough of all kinds was published to be judged."""
    happened = Counter()
    for seed in seeds:
        tiny = TinyLedger(folder / str(seed), seed, written=seed % 16 == 0)
        assert tiny.agrees, f"seed {seed}"
        assert not tiny.untold, f"seed {seed}: {tiny.untold}"
        verdict = judge(tiny.states, tiny.people, harmless=tiny.harmless)
        assert not verdict.above(tiny.limit), f"seed {seed}: {verdict.beliefs[0]}"
        assert verdict.smallest >= tiny.k, f"seed {seed}"
        assert tiny.least_diverse >= tiny.l, f"seed {seed}"
        assert tiny.is_a_world, f"seed {seed}"
        happened += tiny.happened
    few = {what: happened[what] for what, n in ENOUGH.items() if happened[what] < n * len(seeds)}
    assert not few, happened


ENOUGH = {
    "joined": 4,
    "left": 0.7,
    "left with all": 0.7,
    "moved": 0.5,
    "moved with all": 0.3,
    "corrected": 0.2,
    "returned": 0.1,
    "given twice": 0.1,
    "changed their mind": 0.03,
    "went with others": 0.03,
    "generalised": 0.02,
}
"""How often something must be seen to happen in a ledger; what is not published tells nothing."""


@pytest.mark.usefixtures("patience")
def test_nobody_is_believed_above_alpha(tmp_path, trusted):
    check_ledgers(tmp_path, range(60))


class HidingLedger(TinyLedger):
    """The same where who waits is hidden; lots are small, so that some are published."""

    settings = {"hide_waiting": True}  # noqa: RUF012


@pytest.mark.usefixtures("patience")
def test_nobody_is_believed_above_alpha_where_waiting_is_hidden(
    tmp_path, trusted, monkeypatch, some
):
    monkeypatch.setattr(increment, "smallest_lot", lambda _, k: k)
    happened = Counter()
    for seed in range(some(12, of=60)):
        tiny = HidingLedger(tmp_path / str(seed), seed, written=seed % 16 == 0)
        verdict = judge(tiny.states, tiny.people, harmless=tiny.harmless)
        assert not verdict.above(tiny.limit), f"seed {seed}: {verdict.beliefs[0]}"
        assert verdict.smallest >= tiny.k, f"seed {seed}"
        assert tiny.agrees, f"seed {seed}"
        assert tiny.is_a_world, f"seed {seed}"
        happened += tiny.happened
    assert happened["joined"] > 12 < happened["left with all"]


class LocalLedger(TinyLedger):
    """The same from a release of a local method: ages are exact, and its intervals are groups."""

    method = "mondrian"

    def draw_labels(self):
        return {"age": str(self.rng.randint(20, 59))}

    def move(self, people):
        """Let some people be of another age."""
        if self.coarse:
            return {}
        old = {person: {"age": self.rows[person]["age"]} for person in people}
        [age] = {self.rng.randint(20, 59)}
        for person in people:
            self.rows[person]["age"] = str(age)
        return {p: each for p, each in old.items() if each["age"] != str(age)}

    def start(self):
        """Publish the first people by a local method; draw others where no ledger can start."""
        self.quasi_identifiers = ["age"]
        columns = {**self.policy.columns, "age": INTERVALS}
        columns.pop("sex", None)
        share = [{"model": "probabilistic-l-diversity", "column": name, "l": float(1 / self.limit)}
                 for name in self.sensitive]  # fmt: skip
        models = [{"model": "k-anonymity", "k": self.k}]
        if self.l:
            models.append({"model": "distinct-l-diversity", "column": "ill", "l": self.l})
        first = sf.Policy(columns=columns, models=[*models, *share], method=self.method)
        while True:
            self.rows, self.could_be = {}, {}
            for _ in range(self.rng.randint(2, 4)):
                self.draw_people(self.rng.randint(2, 5), self.draw_labels())
            table = self.table(self.rows)
            try:
                release = sf.decouple(sf.anonymize(table, first, seed=1), "break-merge", seed=1)
                self.policy = replace(first, models=self.policy.models)
                self.ledger = sf.Ledger.start(
                    release, self.folder / "ledger", alpha=self.alpha, k=self.k,
                    policy=self.policy, source=table, **self.settings,
                )  # fmt: skip
            except sf.SfumatoError:
                # What cannot be published, or whose people are not known, starts no ledger.
                self.happened["not started"] += 1
                self.agrees &= not (self.folder / "ledger").exists()
                continue
            self.note(self.ledger.started, None)
            break

    def ask(self, *asked, **how):
        """Publish; a new age in the interval of the old one is nothing to publish."""
        try:
            super().ask(*asked, **how)
        except sf.SfumatoError as error:
            if "nothing to publish" not in str(error):
                raise

    def note(self, done, folder):
        """Besides, everybody who was published in the first release is recognised."""
        super().note(done, folder)
        if len(self.states) == 1:
            assert all(each.joined == 1 for each in self.now.values())


class TopDownLedger(LocalLedger):
    """The same from another local method."""

    method = "top-down"


INTERVALS = {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [5, 10, 20]}}


@pytest.mark.parametrize("made", [LocalLedger, TopDownLedger])
@pytest.mark.usefixtures("patience")
def test_nobody_is_believed_above_alpha_after_a_local_start(tmp_path, trusted, some, made):
    happened = Counter()
    for seed in range(some(10, of=100)):
        tiny = made(tmp_path / str(seed), seed, written=False)
        verdict = judge(tiny.states, tiny.people, harmless=tiny.harmless)
        assert not verdict.above(tiny.limit), f"seed {seed}: {verdict.beliefs[0]}"
        assert verdict.smallest >= tiny.k, f"seed {seed}"
        assert not tiny.untold, f"seed {seed}"
        assert tiny.agrees, f"seed {seed}"
        happened += tiny.happened
    assert happened["joined"] > some(10, of=100) < 5 * happened["left with all"]


@pytest.mark.parametrize("made", [TinyLedger, HidingLedger])
@pytest.mark.usefixtures("patience")
def test_whoever_is_published_leaves_at_once_and_others_are_counted(tmp_path, trusted, some, made):
    """In whatever state the ledger is: with people who wait to leave, to move, to be corrected."""
    taken = 0
    for seed in range(some(8, of=80)):
        tiny = made(tmp_path / str(seed), seed, written=False)
        here = [person for people in tiny.cells().values() for person in people]
        asked = tiny.rng.sample(here, min(len(here), tiny.rng.choice([1, 1, 2])))
        before = tiny.happened["went with others"]
        tiny.ask(leaving=asked, at_once=True)
        assert all(tiny.now[person].left is not None for person in asked), f"seed {seed}"
        gone = {*here} - {person for people in tiny.cells().values() for person in people}
        others = tiny.happened["went with others"] - before
        # Besides those who went with them, people may go who had waited for company.
        assert len(gone - {*asked}) >= others, f"seed {seed}"
        taken += others
        assert tiny.agrees, f"seed {seed}"
        verdict = judge(tiny.states, tiny.people, harmless=tiny.harmless)
        assert not verdict.above(tiny.limit), f"seed {seed}: {verdict.beliefs[0]}"
    assert taken


@pytest.mark.parametrize("quarter", range(4))
def test_nobody_is_believed_above_alpha_in_any_of_many(tmp_path, trusted, thorough, some, quarter):
    first = 1000 + 500 * quarter
    check_ledgers(tmp_path, range(first, first + some(100, of=500)))


# --- What broke the promise of earlier ledgers -------------------------------------------------


def play(folder, alpha, first, *acts):
    """Return a ledger after some acts, each of which asks something of it."""
    sensitive = [name for name in first[0] if name != "age"]
    fixed = {"quasi_identifiers": ["age"], "sensitive": sensitive, "l": 0, "harmless": []}
    tiny = TinyLedger(folder, 0, alpha=alpha, k=4, first=first, releases=1, **fixed)
    for act in acts:
        act(tiny)
    verdict = judge(tiny.states, tiny.people)
    assert verdict.beliefs[0].belief <= tiny.limit
    assert verdict.smallest >= 4
    assert tiny.agrees
    return tiny


def rows_of(age, **columns):
    return [
        {"age": age, **dict(zip(columns, row, strict=True))}
        for row in zip(*columns.values(), strict=True)
    ]


OLD = ["flu", "gout", "cold", "ulcer", "asthma", "angina", "acne", "burn"]


@pytest.mark.usefixtures("patience")
def test_who_joins_with_some_does_not_leave_with_others(tmp_path):
    def join(tiny):
        alice, *_ = tiny.add_people(rows_of("30s", ill=["hiv", "flu", "gout", "cold"]))
        tiny.ask(joining=list(tiny.rows)[8:])
        assert tiny.now[alice].group is not None

    def leave(tiny):
        tiny.ask(leaving=["p8", "p3", "p4", "p5"])

    tiny = play(tmp_path / "x", 0.25, rows_of("30s", ill=OLD), join, leave)
    assert [tiny.now[p].waits for p in ("p8", "p3", "p4", "p5")] == ["remove"] * 4


def test_who_moves_alone_stays_where_the_person_was(tmp_path):
    ages = ["30s", "40s", "50s", "60s"]

    def move(tiny):
        """Each group sends two people to one of the others, and one to each of the rest."""
        correcting = {}
        for i, age in enumerate(ages):
            here = [p for p, row in tiny.rows.items() if row["age"] == age and p not in correcting]
            for person, step in zip(here, (1, 2, 3, 2), strict=False):
                correcting[person] = {"age": age}
                tiny.rows[person]["age"] = ages[(i + step) % 4]
        tiny.ask(correcting=correcting)

    first = [row for age in ages for row in rows_of(age, ill=OLD)]
    tiny = play(tmp_path / "x", 0.25, first, move)
    assert sum(each.waits == "correct" for each in tiny.now.values()) == 16


@pytest.mark.usefixtures("patience")
def test_those_who_are_alike_in_one_of_three_columns_wait(tmp_path):
    def join(**columns):
        return lambda tiny: tiny.ask(joining=tiny.add_people(rows_of("30s", **columns)))

    first = rows_of("30s", ill="abcd" * 4, pay="mnop" * 4, job="wxyz" * 4)
    second = join(ill=["hiv"] * 4, pay=["low", "low", "mid", "high"], job="wxyz")
    third = join(ill=["hiv", "hiv", "flu", "gout"], pay=["low"] * 4, job="wxyz")
    assert not play(tmp_path / "x", 0.5, first, second).happened["joined"]
    # With those who come next some can join: not all have the illness, or the pay.
    assert play(tmp_path / "y", 0.5, first, second, third).happened["joined"] >= 4
    many = join(ill=["hiv"] * 72, pay="mnop" * 18, job="wxyz" * 18)
    assert not play(tmp_path / "z", 0.5, first, many).happened["joined"]


def test_missing_values_hide_nobody(tmp_path):
    def join(tiny):
        tiny.ask(joining=tiny.add_people(rows_of("30s", ill=["hiv", "hiv", None, None])))

    assert not play(tmp_path / "x", 0.5, rows_of("30s", ill=OLD), join).happened["joined"]


# --- Rules that are missing --------------------------------------------------------------------


def relax_newcomers(monkeypatch, **changes):
    def choose(empty, offers, rules, rng):
        return admission.choose_newcomers(empty, offers, replace(rules, **changes), rng)

    monkeypatch.setattr(increment, "choose_newcomers", choose)


def relax_leavers(monkeypatch, of_leavers, of_stayers):
    def choose(cell, offers, rules, rng, *, fits):
        empty = cell.without_people()
        part = empty.plus(offers.values, offers.rows)
        rest = cell.minus(part)
        why = rest.size and (
            replace(rules, **of_leavers).objection(part, "those who leave")
            or replace(rules, **of_stayers).objection(rest, "those who stay")
        )
        if why or not (fits(part) and fits(rest)):
            return admission.AdmittedRows(offers.none(), empty, why)
        return admission.AdmittedRows(offers.rows.copy(), part)

    monkeypatch.setattr(increment, "choose_leavers", choose)


def count_missing_values_too(monkeypatch):
    def find_excess(part, alpha):
        for column, count in enumerate(part.counts):
            if len(count) > 1 and count[1:].max() > alpha * part.size:
                return column, int(count[1:].argmax()) + 1
        return None

    monkeypatch.setattr(admission.SeenTogether, "find_excess", find_excess)


def limit_only_combinations(monkeypatch):
    """The rule of earlier ledgers: one value is known, and the product of the others is limited."""
    find_excess = admission.SeenTogether.find_excess

    def find_excess_of_products(part, alpha):
        shares = [Fraction(0)] * len(part.counts)
        for column, count in enumerate(part.counts):
            if count[1:].sum():
                shares[column] = Fraction(int(count[1:].max()), int(count[1:].sum()))
        likeliest = prod(sorted(shares)[1:]) if len(shares) > 1 else shares[0]
        return find_excess(part, alpha) if likeliest > alpha else None

    monkeypatch.setattr(admission.SeenTogether, "find_excess", find_excess_of_products)


def draw_the_cell_of_leavers(monkeypatch):
    """As if the ledger did not know who is where, although it does."""
    make = increment._Work.__init__

    def forget(work, db, desk, *more):
        people, desk.people = desk.people, {}
        make(work, db, desk, *more)
        desk.people = people

    monkeypatch.setattr(increment._Work, "__init__", forget)
    monkeypatch.setattr(increment, "count_known", lambda *_: Counter())


def take_back_who_returns(monkeypatch):
    people_in = increment.people_in

    def people_here(db, fingerprints):
        return {p: each for p, each in people_in(db, fingerprints).items() if not each.left}

    monkeypatch.setattr(increment, "people_in", people_here)
    write_changes = increments.write_changes

    def write_returns(db, sequence, changes, *more):
        for change in changes:
            db.executemany(
                "DELETE FROM people WHERE fingerprint = ? AND left_it > 0",
                [(bytes.fromhex(person),) for person in change.people],
            )
        write_changes(db, sequence, changes, *more)

    monkeypatch.setattr(increments, "write_changes", write_returns)


def let_people_move_with_others(monkeypatch):
    """People leave a cell with some, and join another with those who are new there."""
    settle = increment._Desk.settle

    def part_moves(desk):
        settle(desk)
        for ask in [ask for ask in desk.total if ask.moves()]:
            del desk.total[ask]
            desk.total[increment.Ask("remove", ask.labels, ask.row, person=ask.person)] = 1
            desk.total[increment.Ask("add", ask.new_labels, ask.row, person=ask.person)] = 1

    monkeypatch.setattr(increment._Desk, "settle", part_moves)
    write_changes = increments.write_changes

    def write_moves(db, sequence, changes, *more):
        came = {person for change in changes for person in change.people}
        stay = [replace(each, gone=tuple(set(each.gone) - came)) for each in changes]
        write_changes(db, sequence, stay, *more)

    monkeypatch.setattr(increments, "write_changes", write_moves)


def forget_corrections_when_people_leave(monkeypatch):
    def choose(*given, fits):
        return admission.choose_leavers(*given)

    monkeypatch.setattr(increment, "choose_leavers", choose)


class Heedless:
    """A memory of corrections that allows everything, or all that the true one does."""

    def __init__(self, memory=None, alpha=None):
        self.memory, self.alpha = memory, alpha

    def with_correction(self, *given):
        return Heedless(self.memory and self.memory.with_correction(*given), self.alpha)

    def allows(self, part, alpha):
        return self.memory is None or self.memory.allows(part, self.alpha)


def correct_whoever_knows_the_old_value(monkeypatch):
    def choose(cell, wish, memory, *more):
        return corrections.choose_corrections(cell, wish, Heedless(), *more)

    monkeypatch.setattr(increment, "choose_corrections", choose)


def correct_above_the_limit(monkeypatch):
    def choose(cell, wish, memory, alpha, rng):
        memory = Heedless(memory, alpha)
        return corrections.choose_corrections(cell, wish, memory, Fraction(1), rng)

    monkeypatch.setattr(increment, "choose_corrections", choose)


def correct_and_split_at_once(monkeypatch):
    """Values of those who stay are corrected in the release in which others leave."""
    split = increment._Work._split

    def split_and_correct(work, cell, asks, *, urgent):
        if not split(work, cell, asks, urgent=urgent):
            return False
        change = work.changes.pop()
        rows = tuple(
            {code: n for code, n in enumerate(count.tolist()) if n} for count in change.now.counts
        )
        record = cell.record._replace(rows=change.now.size)
        work._correct(replace(cell, record=record, rows=rows), [a for a in asks if work.left[a]])
        if work.changes and work.changes[-1].record is record:
            change = replace(change, now=work.changes.pop().now)
        work.changes.append(change)
        return True

    monkeypatch.setattr(increment._Work, "_split", split_and_correct)


def correct_one_by_another(monkeypatch):
    """One person gets the value that another loses, and the tables show neither."""
    monkeypatch.setattr(np, "intersect1d", lambda *_: np.array([]))


def keep_no_models(monkeypatch):
    monkeypatch.setattr(increment.GroupPromises, "broken_by", lambda *_: "")


LEAVE = {"wishes": {"": 1, "leave": 3}, "sensitive": ["ill"]}
ONE = {"sensitive": ["ill"], "alpha": 0.5}
MOVE = {"wishes": {"leave, move": 1}, "quasi_identifiers": ["age"], "k": 2, **ONE}
CORRECT = {"wishes": {"leave": 1, "correct": 3}, **ONE}
RULES = {
    "newcomers are k": (partial(relax_newcomers, k=1), {"k": 3}),
    "newcomers are within alpha": (partial(relax_newcomers, alpha=Fraction(1)), {"alpha": 0.34}),
    "shares are among known values": (count_missing_values_too, {"missing": 0.3}),
    "single values are limited": (limit_only_combinations, {"sensitive": ["ill", "pay", "job"]}),
    "those who leave are k": (
        partial(relax_leavers, of_leavers={"k": 1}, of_stayers={}),
        {"k": 3, **LEAVE},
    ),
    "those who leave are within alpha": (
        partial(relax_leavers, of_leavers={"alpha": Fraction(1)}, of_stayers={}),
        LEAVE,
    ),
    "those who stay are k": (
        partial(relax_leavers, of_leavers={}, of_stayers={"k": 1}),
        {"k": 3, **LEAVE},
    ),
    "those who stay are within alpha": (
        partial(relax_leavers, of_leavers={}, of_stayers={"alpha": Fraction(1)}),
        LEAVE,
    ),
    "all keep the models of the policy": (keep_no_models, {"l": 3, "alpha": 0.67, **LEAVE}),
    "people leave their own cell": (draw_the_cell_of_leavers, LEAVE),
    "those who left do not return": (take_back_who_returns, LEAVE),
    "people move as a part": (let_people_move_with_others, MOVE),
    "corrected values stay within alpha": (correct_above_the_limit, CORRECT),
    "an old value does not tell the new one": (correct_whoever_knows_the_old_value, CORRECT),
    "the sum of corrections is what happened": (correct_one_by_another, CORRECT),
    "corrections are remembered when people leave": (
        forget_corrections_when_people_leave,
        CORRECT,
    ),
    "a cell is split or corrected": (
        correct_and_split_at_once,
        {**CORRECT, "wishes": {"leave, correct": 1}},
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_without_a_rule_somebody_is_believed_above_alpha(
    tmp_path, monkeypatch, trusted, thorough, rule
):
    forget, fixed = RULES[rule]
    forget(monkeypatch)
    for seed in range(400):
        found = find_above(tmp_path / str(seed), seed, fixed)
        if found is True or found == rule:
            return
    raise AssertionError(f"nothing was found without the rule: {rule}")


def find_above(folder, seed, fixed):
    """Return whether the adversary finds something, or the rule that was not kept."""
    try:
        tiny = TinyLedger(folder, seed, written=False, **fixed)
        verdict = judge(tiny.states, tiny.people, harmless=tiny.harmless)
    except sf.SfumatoError:  # What is asked next does not fit what was published.
        return False
    except ValueError:  # A group has other people than those who were published in it.
        return "people leave their own cell"
    if not tiny.is_a_world:
        return "the sum of corrections is what happened"
    if tiny.least_diverse < tiny.l:
        return "all keep the models of the policy"
    return bool(verdict.above(tiny.limit)) or verdict.smallest < tiny.k
