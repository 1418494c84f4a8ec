"""All worlds that fit the public buckets of a ledger, and all draws that could have made them.

A second source: what is believed is counted from tables alone, and nothing of the ledger's code.
Each rule that is switched off is found.
"""

import csv
import json
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import permutations, product
from math import comb, factorial, prod

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.ledger import admission, buckets, chain, increment
from sfumato.ledger.admission import AdmittedRows, Rules
from sfumato.ledger.increment import Ask
from sfumato.ledger.publishing import increments
from sfumato.ledger.records import Codes, Harmless

POLICY = {
    "version": 1,
    "columns": {"who": "identifier", "age": "quasi-identifier", "ill": "sensitive"},
    "models": [{"model": "probabilistic-l-diversity", "column": "ill", "l": 2}],
}


def table(rows):
    columns = map(list, zip(*rows, strict=True)) if rows else [[], [], []]
    return pa.table(dict(zip(("who", "age", "ill"), columns, strict=True)))


# --- Ledgers of a few people ---------------------------------------------------------------------


class TinyLedger:
    """A ledger of a few people in buckets: what was asked of it, and what it published.

    `public` is every bucket that was ever published: its people, and its values. The adversary
    knows who is in which bucket, which is more than quasi-identifiers tell.
    """

    def __init__(self, folder, seed, *, written=False, **fixed):
        folder.mkdir()
        self.folder, self.written, self.rng = folder, written, random.Random(seed)
        self.l = self.rng.choice([2, 2, 3])
        self.hides = self.rng.random() < 0.3
        vars(self).update(fixed)
        self.people, self.public, self.waited, self.left = {}, {}, set(), {}
        self.happened, self.number = Counter(), 0
        first = self.draw_people(self.rng.randint(2, 4) * self.l, fits=True)
        where = folder / "1" if written else None
        way = {"method": "anatomy", "l": self.l}
        made = sf.decouple(
            table(first), way, policy=POLICY, seed=seed, output=where, format=where and "csv"
        )
        self.ledger = sf.Ledger.start(
            where or made,
            folder / "x.ledger",
            alpha={2: 0.5, 3: 0.34}[self.l],
            policy=POLICY,
            source=table(first),
            hide_waiting=self.hides,
        )
        if written:
            self.read(where)
        else:
            rows, values = (made.tables[name].to_pylist() for name in ("qi", "sensitive_ill"))
            self.take([[*row.values()] for row in rows], [[*row.values()] for row in values])
        for release in range(2, 2 + self.rng.choice([2, 3, 4])):
            self.publish(release)

    def draw_people(self, n, *, fits=False):
        """Return new people, of whom some have a frequent value, and some say nothing."""
        while True:
            often = [] if fits else ["a"] * self.rng.choice([0, 0, 3])
            ills = self.rng.choices([*"abcde", *often], k=n)
            if n and not fits and self.rng.random() < 0.3:
                ills[0] = self.rng.choice([None, "unknown"])
            if not fits or self.l * max(Counter(ills).values()) <= n:
                break
        rows = []
        for ill in ills:
            self.number += 1
            # Some ages are those of several people.
            age = self.number if self.rng.random() < 0.8 else self.rng.randint(1, self.number)
            rows.append((f"p{self.number}", age, ill))
        self.people |= {who: (age, ill) for who, age, ill in rows}
        return rows

    def rows_of(self, people):
        return [(who, *self.people[who]) for who in people]

    def publish(self, release):
        new = self.draw_people(self.rng.randint(0, 4 * self.l))
        old = [who for who in self.people if who not in {row[0] for row in new}]
        again = self.rng.sample(old, min(len(old), self.rng.choice([0, 1, 2])))
        leaving = self.rng.sample(old, self.rng.choice([0, 0, 1, 2]))
        there = [who for where in self.public.values() for who in where[0]]
        if self.rng.random() < 0.3 and there:  # All of a bucket ask to leave.
            leaving = list(self.rng.choice([where[0] for where in self.public.values()]))
        leaving = [who for who in leaving if who not in again and who in there]
        given, where = [*new, *self.rows_of(again)], self.folder / str(release)
        if not given and not leaving:
            return
        done = self.ledger.publish(
            table(given) if given else None,
            delete=table(self.rows_of(leaving)) if leaving else None,
            at_once=bool(leaving) and self.rng.random() < 0.5,
            seed=self.rng.randrange(10**9),
            output=where if self.written else None,
            again=True,
        )
        self.happened += Counter(
            joined=done.admitted, left=done.left, others=done.others, refused=done.refused_rows,
            waiting=done.waiting, aside=done.aside,
        )  # fmt: skip
        self.waited |= {each.ask.person for each in done.held}
        if self.written and where.exists():
            self.read(where)
        elif done.people is not None:
            self.note(done.people, done.tables)
        for label in done.gone:
            self.left[str(label)] = release

    def note(self, people, tables):
        """Take what was published as it would be read from a folder."""
        labels, ages = (column.values for column in people.columns)
        codes = people.codes.repeat(people.rows, axis=1).T.tolist()
        [counted] = tables.sensitive
        entries = zip(counted.group, counted.value, counted.rows, strict=True)
        self.take(
            [(labels[b], ages[age]) for b, age in codes],
            [(tables.ids[g], counted.column.values[v], int(n)) for g, v, n in entries],
        )

    def read(self, folder):
        with (folder / "qi.csv").open() as file:
            rows = list(csv.reader(file))[1:]
        with (folder / "sensitive_ill.csv").open() as file:
            values = [(b, v or None, int(n)) for b, v, n in list(csv.reader(file))[1:]]
        self.take(rows, values)

    def take(self, rows, values):
        """Note buckets: whom a row is about is found by the ledger's own record."""
        named = dict(zip(self.people, self.ledger.find(list(self.people)), strict=True))
        for label in {str(row[0]) for row in rows}:
            people = [who for who, each in named.items() if str(each.group) == label]
            ages = Counter(str(age) for b, age in rows if str(b) == label)
            assert ages == Counter(str(self.people[who][0]) for who in people)
            table = {v: n for b, v, n in values if str(b) == label}
            assert Counter(table) == Counter(self.people[who][1] for who in people)
            assert label not in self.public
            self.public[label] = (people, table)

    @property
    def beliefs(self):
        """The strongest belief in a value of anybody, by listing all worlds."""
        return strongest_beliefs(self.public)


def strongest_beliefs(public):
    """Return what is believed most of each person, if every world is as likely.

    A world gives each person one value so that the table of every bucket comes out.
    """
    found = {}
    for component in components(public):
        worlds = Counter()
        for world in list_worlds([public[label] for label in component]):
            worlds[tuple(sorted(world.items()))] += 1
        people = {who for label in component for who in public[label][0]}
        for who in people:
            said = Counter()
            for world, n in worlds.items():
                value = dict(world)[who]
                if value not in {None, "unknown"}:
                    said[value] += n
            found[who] = max((Fraction(n, said.total()) for n in said.values()), default=0)
    return found


def components(public):
    """Return buckets that have people in common together."""
    left = {label: {*people} for label, (people, _) in public.items()}
    while left:
        label, people = left.popitem()
        mine = [label]
        while more := [each for each, others in left.items() if others & people]:
            for each in more:
                people |= left.pop(each)
                mine.append(each)
        yield mine


def list_worlds(tables):
    """Yield all ways to give people values that fit the tables of some buckets."""
    worlds = [{}]
    for people, values in tables:
        every = list(Counter(values).elements())
        ways = set(permutations(every))
        worlds = [
            {**world, **dict(zip(people, way, strict=True))}
            for world in worlds
            for way in ways
            if all(world.get(who, v) == v for who, v in zip(people, way, strict=True))
        ]
    return worlds


@pytest.fixture
def alone(monkeypatch):
    """Ask the rules alone: the verdict on an increment is a second guard, the chain a third."""
    monkeypatch.setattr(chain, "require_sound", lambda *_: None)
    monkeypatch.setattr(increments, "judge", lambda *_: None)
    monkeypatch.setattr(increment, "smallest_lot", lambda _, k: k + 2)


def ledgers(folder, seeds, **fixed):
    for seed in seeds:
        yield TinyLedger(folder / f"{seed}", seed, **fixed)


@pytest.mark.usefixtures("patience", "alone")
def test_nobody_is_believed_with_more_than_one_in_l(tmp_path, some):
    happened = Counter()
    for found in ledgers(tmp_path, range(some(8, of=1000))):
        assert max(found.beliefs.values()) <= Fraction(1, found.l)
        assert found.ledger.verify() == []
        happened += found.happened
        for people, _ in found.public.values():
            assert len(people) >= found.l
    assert all(happened[each] for each in ("joined", "left", "others", "refused", "waiting"))


@pytest.mark.usefixtures("patience", "alone")
def test_folders_hold_what_is_told_in_memory(tmp_path):
    found = TinyLedger(tmp_path / "x", 5, written=True)
    assert max(found.beliefs.values()) <= Fraction(1, found.l)
    assert TinyLedger(tmp_path / "y", 5).public == found.public
    said = set()
    for folder in sorted(path for path in found.folder.iterdir() if path.is_dir()):
        manifest = json.loads((folder / "manifest.json").read_text())
        said |= {str(label) for label in manifest.get("increment", {}).get("withdrawn", [])}
        assert sf.verify(folder).verdict.holds
    assert said == {*found.left}


def found_out(folder, seeds, **fixed):
    """Return whether somebody is believed above 1/l in one of some ledgers."""
    return any(
        max(found.beliefs.values()) > Fraction(1, found.l)
        for found in ledgers(folder, seeds, **fixed)
    )


@pytest.mark.usefixtures("patience", "alone")
def test_buckets_that_are_not_diverse_are_found(tmp_path, monkeypatch):
    def deal(value, hides, l, rng):
        at = rng.permutation(len(value))
        return at, np.arange(len(at)) % (np.count_nonzero(hides[value]) // l)

    monkeypatch.setattr(buckets, "deal_in_turn", deal)
    assert found_out(tmp_path, range(20))


@pytest.mark.usefixtures("patience", "alone")
def test_values_that_are_too_frequent_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr(admission.SeenTogether, "find_excess", lambda *_: None)
    monkeypatch.setattr(admission.SeenTogether, "is_within", lambda *_: True)
    assert found_out(tmp_path, range(20), hides=False)


@pytest.mark.usefixtures("patience", "alone")
def test_who_comes_twice_is_found(tmp_path, monkeypatch):
    settle = buckets.BucketDesk._settle_person

    def take(self, ask, rows):
        if ask.kind == "add" and ask.person not in self.of_person:
            self._take(ask)
        else:
            settle(self, ask, rows)

    monkeypatch.setattr(buckets.BucketDesk, "_settle_person", take)
    assert any(
        max(found.beliefs.values()) > Fraction(1, found.l)
        for found in (Returning(tmp_path / f"{seed}", seed) for seed in range(20))
    )


class Returning(TinyLedger):
    """Of people who all differ in age; some come again, also of those who left."""

    def draw_people(self, n, *, fits=False):
        self.hides = False
        rows = [(who, int(who[1:]), ill) for who, _, ill in super().draw_people(n, fits=fits)]
        self.people |= {who: (age, ill) for who, age, ill in rows}
        return rows

    def take(self, rows, values):
        """Note buckets: the ledger's record has the last of each person only."""
        who_is = {str(age): who for who, (age, _) in self.people.items()}
        for label in {str(row[0]) for row in rows}:
            people = [who_is[str(age)] for b, age in rows if str(b) == label]
            self.public[label] = (people, {v: n for b, v, n in values if str(b) == label})


# --- All draws -----------------------------------------------------------------------------------


class Script:
    """A random generator that goes through all that could be drawn, each with its probability."""

    def __init__(self, path):
        self.path, self.at, self.sizes, self.chance = path, 0, [], Fraction(1)

    def _next(self, ways):
        """Choose among ways, each with its weight."""
        total = sum(weight for _, weight in ways)
        i = self.path[self.at] if self.at < len(self.path) else 0
        self.at += 1
        self.sizes.append(len(ways))
        self.chance *= Fraction(ways[i][1], total)
        return ways[i][0]

    def permutation(self, what):
        every = list(range(what)) if isinstance(what, int) else list(what)
        return np.array(self._next([(way, 1) for way in permutations(every)]), dtype=np.int64)

    def shuffle(self, array):
        array[:] = self._next([(way, 1) for way in permutations(array.tolist())])

    def multivariate_hypergeometric(self, rows, n, method):
        assert method
        ways = [
            (way, prod(map(comb, rows.tolist(), way)))
            for way in product(*(range(r + 1) for r in rows.tolist()))
            if sum(way) == n
        ]
        return np.array(self._next(ways), dtype=np.int64)


def every_draw(act):
    """Return what comes out of all draws, with its probability."""
    found, path = Counter(), []
    while True:
        rng = Script(path)
        result = act(rng)
        found[result] += rng.chance
        path = (path + [0] * len(rng.sizes))[: len(rng.sizes)]
        while path and path[-1] + 1 == rng.sizes[len(path) - 1]:
            path.pop()
        if not path:
            assert sum(found.values()) == 1
            return found
        path[-1] += 1


def work_of(l, rng):
    """Return what deals newcomers, without a ledger."""
    work = object.__new__(buckets.BucketWork)
    work.rules, work.rng, work.changes = Rules(Fraction(1, l), l), rng, []
    work.harmless = Harmless.of(None, ("ill",))
    return work


def asks_of(ills, people):
    return [Ask("add", "[30]", json.dumps([ills[i]]), person=f"{i:02}") for i in people]


def choose(ills, l, rng):
    """Return who joins of a crowd with these values."""
    work = work_of(l, rng)
    codes, asks = Codes.of(work.harmless), asks_of(ills, range(len(ills)))
    offers = increment._offers(codes, [ask.row for ask in asks], [1] * len(asks))
    taken = work._choose_newcomers(codes.empty(), offers, codes).taken
    return tuple(np.flatnonzero(taken).tolist())


def deal(ills, people, l, rng):
    """Return what is public of those who joined: who is in which bucket, and its values."""
    work = work_of(l, rng)
    codes, asks = Codes.of(work.harmless), asks_of(ills, people)
    offers = increment._offers(codes, [ask.row for ask in asks], [1] * len(asks))
    part = codes.empty().plus(offers.values, offers.rows)
    work._make_cells("[]", codes, asks, AdmittedRows(offers.rows, part))
    return frozenset(
        (change.people, tuple(sorted(ills[int(who)] or "" for who in change.people)))
        for change in (replace(each, people=tuple(sorted(each.people))) for each in work.changes)
    )


def believe_of_crowd(n, l, values):
    """Return the strongest belief of one who knows how all is drawn, and sees who joined where.

    Of the values the first is the likeliest before.
    """
    seen, dealt = {}, {}
    for ills in product(values, repeat=n):
        expected = prod(len(values) - values.index(ill) for ill in ills)
        for people, chance in every_draw(partial(choose, ills, l)).items():
            if not people:
                continue
            key = people, tuple(ills[i] for i in people)
            if key not in dealt:
                dealt[key] = every_draw(partial(deal, ills, people, l))
            for public, more in dealt[key].items():
                seen.setdefault(public, Counter())[ills] += expected * chance * more
    strongest = Fraction(0)
    for public, worlds in seen.items():
        for who in (int(who) for people, _ in public for who in people):
            said = Counter()
            for ills, chance in worlds.items():
                if ills[who] is not None:
                    said[ills[who]] += chance
            strongest = max(strongest, max(said.values()) / said.total())
    return strongest


CROWDS = [(3, 2, "abc"), (4, 2, "ab"), (4, 2, ["a", "b", None]), (4, 3, "abc")]


@pytest.fixture
def one_try(monkeypatch):
    """How often a choice of rows is drawn makes no difference: one more is one more chance."""
    monkeypatch.setattr(admission, "_TRIES", 1)


@pytest.mark.parametrize("crowd", CROWDS)
@pytest.mark.usefixtures("patience", "one_try")
def test_who_knows_how_buckets_are_dealt_and_who_waits_believes_no_more(crowd):
    """All worlds, all draws: each value is believed with 1/l of everybody who joined."""
    assert believe_of_crowd(*crowd) <= Fraction(1, crowd[1])


@pytest.mark.usefixtures("patience", "one_try")
def test_who_joins_in_the_order_of_the_rows_is_found(monkeypatch):
    monkeypatch.setattr(Script, "shuffle", lambda *_: None)
    assert believe_of_crowd(3, 2, "ab") > Fraction(1, 2)


def test_all_draws_are_gone_through():
    assert len(every_draw(lambda rng: tuple(rng.permutation(4).tolist()))) == factorial(4)


# --- What waiting tells --------------------------------------------------------------------------


def happen(folder, script, ills, *, hides=True):
    """Publish what a script says; return who joined, waits, was set aside and was refused, when."""
    folder.mkdir()
    rows = {who: (who, i, ills[who]) for i, who in enumerate(ills)}
    first = [rows[who] for who in script["first"]]
    made = sf.decouple(table(first), {"method": "anatomy", "l": 2}, policy=POLICY, seed=1)
    ledger = sf.Ledger.start(
        made, folder / "x", alpha=0.5, policy=POLICY, source=table(first), hide_waiting=hides
    )
    told = []
    for seed, (joining, leaving) in enumerate(script["releases"]):
        done = ledger.publish(
            table([rows[who] for who in joining]),
            delete=table([rows[who] for who in leaving]) if leaving else None,
            seed=seed,
            again=True,
        )
        found = ledger.find(list(rows))
        told.append((
            [(each.joined, each.waits) for each in found],
            sorted((each.who, each.why) for each in done.refused),
            (done.left, done.others, sorted(ledger.current.sizes.tolist())),
        ))  # fmt: skip
    return told, dict(zip(rows, found, strict=True))


def draw_script(draw):
    first = [f"a{i}" for i in range(8)]
    releases, here, number = [], list(first), 0
    for _ in range(4):
        new = [f"n{number + i}" for i in range(draw.randint(2, 6))]
        number += len(new)
        leaving = draw.sample(first, draw.choice([0, 1, 2]))
        again = [who for who in draw.sample(here, 1) if who not in leaving]
        releases.append(([*new, *again], leaving))
        here += new
    return {"first": first, "releases": releases, "people": here}


def differences(folder, seeds, *, hides):
    """Count ledgers in which somebody can tell who has which value of those who joined together."""
    found = joined = 0
    for seed in seeds:
        draw = random.Random(seed)
        script = draw_script(draw)
        ills = {who: draw.choice("aabcd") for who in script["people"]}
        ills |= dict(zip(script["first"], "abcdabcd", strict=True))
        told, where = happen(folder / f"{seed}", script, ills, hides=hides)
        other, together = dict(ills), {}
        for who, each in where.items():
            if not who.startswith("a"):
                together.setdefault(each.joined, []).append(who)
        for release, people in together.items():
            if release is not None:
                mixed = draw.sample(people, len(people))
                other |= {who: ills[one] for who, one in zip(people, mixed, strict=True)}
                joined += len(people)
        again, _ = happen(folder / f"{seed} again", script, other, hides=hides)
        found += told != again
    return found, joined


@pytest.mark.usefixtures("patience", "alone")
def test_what_happens_does_not_depend_on_who_of_those_who_joined_has_which_value(tmp_path, some):
    """For who knows when everybody came, who waits or was set aside, who was refused and left."""
    n = some(3, of=40)
    found, joined = differences(tmp_path, range(n), hides=True)
    assert (found, joined > n) == (0, True)


@pytest.mark.usefixtures("patience", "alone")
def test_without_hiding_it_does(tmp_path):
    assert any(differences(tmp_path, [seed], hides=False)[0] for seed in range(20))
