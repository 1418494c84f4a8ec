"""What waiting tells: all worlds of the adversary who knows who waits, and rules switched off."""

import random
from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError
from sfumato.ledger import chain, increment
from sfumato.ledger.admission import SeenTogether
from sfumato.ledger.publishing import increments
from sfumato.ledger.waiting import chance_aside, hides_any, smallest_lot

ALPHAS = [Fraction(1, 4), Fraction(34, 100), Fraction(2, 5), Fraction(1, 2), Fraction(2, 3)]
AGE = {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10, 20]}}
POLICY = {
    "version": 1,
    "columns": {"patient": "identifier", "age": AGE, "ill": "sensitive"},
    "models": [{"model": "k-anonymity", "k": 2}],
}
FIRST = [(f"p{i}", 30 + i, "abcd"[i % 4]) for i in range(8)]


def table(rows):
    return pa.table(
        dict(zip(("patient", "age", "ill"), map(list, zip(*rows, strict=True)), strict=True))
    )


def start(folder, alpha=0.5, first=FIRST, **more):
    made = sf.decouple(sf.anonymize(table(first), POLICY, seed=1), "break-merge", seed=1)
    more = {"hide_waiting": True, "policy": POLICY, "source": table(first)} | more
    return sf.Ledger.start(made, folder / "x.ledger", alpha=alpha, **more)


# The chance, by the textbook.


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("n", [1, 2, 3, 7, 20])
def test_the_chance_is_what_makes_up_for_lots_that_do_not_fit(alpha, n):
    c = alpha / 2
    chances = {Fraction(x, n): comb(n, x) * c**x * (1 - c) ** (n - x) for x in range(n + 1)}
    above = sum(p * (share - alpha) for share, p in chances.items() if share > alpha)
    below = sum(p * (alpha - share) for share, p in chances.items() if share < alpha)
    assert chance_aside(alpha, [n]) == pytest.approx(float(above / below), rel=1e-6)
    assert chance_aside(alpha, [n]) >= above / below


@pytest.mark.parametrize("alpha", ALPHAS)
def test_more_people_need_less_chance(alpha):
    chances = [chance_aside(alpha, [n]) for n in range(1, 60)]
    assert chances == pytest.approx(sorted(chances, reverse=True), abs=1e-12)
    assert chance_aside(alpha, [0, 9, 4]) == chance_aside(alpha, [4])
    assert smallest_lot(alpha, 5) >= 5


# All worlds of a lot: what an adversary with an expectation believes of who is set aside.


def believe_aside(alpha, expected, n, chance, fits):
    """Return the strongest belief in a value of the first person of a lot that is set aside.

    Args:
        alpha: The limit.
        expected: The chance of each value that the adversary expects; None is missing.
        n: How many people the lot has.
        chance: Given the values, the chance with which it is set aside though it fits.
        fits: Whether a lot with these values fits.
    """
    worlds = Counter()
    for values in product(expected, repeat=n):
        likely = Fraction(1)
        for value in values:
            likely *= expected[value]
        worlds[values[0]] += likely * (Fraction(chance(values)) if fits(values) else 1)
    known = sum(weight for value, weight in worlds.items() if value is not None)
    return max(weight / known for value, weight in worlds.items() if value not in {None, OTHER})


def is_within(alpha, values):
    counts = Counter(value for value in values if value is not None)
    known, _ = counts.total(), counts.pop(OTHER, 0)
    return max(counts.values(), default=0) <= alpha * known


OTHER = "one that nobody else has"

EXPECTED = {
    "one is usual": [("a", Fraction(1, 2))],
    "two are usual": [("a", Fraction(1, 2)), ("b", Fraction(1, 2))],
    "three are possible": [("a", Fraction(1, 2)), ("b", Fraction(1, 4)), ("c", Fraction(1, 4))],
    "one is missing": [("a", Fraction(1, 3)), (None, Fraction(1, 3))],
}
"""What an adversary expects of each person, in parts of alpha; else the value is another."""


def chance_of(alpha):
    return lambda values: chance_aside(alpha, [sum(value is not None for value in values)])


@pytest.mark.parametrize("alpha", ALPHAS[2:])
@pytest.mark.parametrize("expected", EXPECTED.values(), ids=EXPECTED)
@pytest.mark.parametrize("n", [2, 3, 5])
def test_who_is_set_aside_is_believed_no_more_than_alpha(alpha, expected, n):
    expects = {value: alpha * part for value, part in expected}
    expects[OTHER] = 1 - sum(expects.values())
    fits = lambda values: is_within(alpha, values)  # noqa: E731
    assert believe_aside(alpha, expects, n, chance_of(alpha), fits) <= alpha
    # A rule of more kinds does not tell more: here some lots that are within alpha do not fit.
    stricter = lambda values: fits(values) and len(set(values)) > 2  # noqa: E731
    assert believe_aside(alpha, expects, n, chance_of(alpha), stricter) <= alpha
    # Without the chance it does.
    if expects.keys() == {"a", OTHER}:
        assert believe_aside(alpha, expects, n, lambda _: 0, fits) > alpha


def test_who_waits_for_room_is_known_without_lots():
    """As many as fit join, the others wait: their value is the one that is at its limit."""
    alpha, beliefs = Fraction(1, 2), Counter()
    for values in product("abc", repeat=4):
        counts = Counter(values)
        value, most = counts.most_common(1)[0]
        waiting = max(2 * most - 4, 0)
        if waiting and counts.total() - waiting:
            beliefs[value == values[0]] += Fraction(waiting, most) * (value == values[0])
    assert alpha < 1 == beliefs[True] / beliefs.total()


# Real ledgers: what is decided, and on whom.


def newcomers(ills, start=0):
    return [(f"n{start + i}", 31 + i % 8, ill) for i, ill in enumerate(ills)]


def test_a_lot_is_decided_on_once_and_together(tmp_path):
    ledger = start(tmp_path)
    least = smallest_lot(Fraction(1, 2), 2)
    few = newcomers("abcdefghij"[: least - 1])
    done = ledger.publish(table(few))
    assert (done.admitted, done.waiting, done.told) == (0, least - 1, None)
    assert f"decided on when they are {least}" in done.held[0].why
    done = ledger.publish(table([("m", 31, "z")]), seed=1)
    assert (done.admitted, done.waiting, done.aside) == (least, 0, 0)


def test_a_lot_that_does_not_fit_is_set_aside_for_good(tmp_path):
    ledger = start(tmp_path)
    lot = newcomers("qqqqqqqabcde")
    done = ledger.publish(table(lot))
    assert (done.admitted, done.waiting, done.aside, done.told) == (0, 0, 12, None)
    assert {each.waits for each in ledger.find([row[0] for row in lot])} == {"aside"}
    again = ledger.publish(table([lot[0], *newcomers("abcdefghij", 50)]), seed=1)
    assert [(each.who, each.why) for each in again.refused] == [
        ("n0", "the person was set aside, and is not decided on again")
    ]
    assert again.admitted == 10
    # No value is kept; whose rows they were is, even of those who ask to be forgotten.
    assert ledger.delete(table(lot[:3])).withdrawn == 3
    assert ledger.publish(table([lot[1]]), dry_run=True).refused[0].who == "n1"
    assert b'"q"' not in ledger.path.read_bytes()
    assert ledger.verify() == []
    assert ledger.overview().to_dict()["waiting"] == 0


def test_some_lots_that_fit_are_set_aside_by_chance(tmp_path, monkeypatch):
    ledger = start(tmp_path)
    monkeypatch.setattr(increment, "chance_aside", lambda _, known: len(known) or 1.0)
    assert ledger.publish(table(newcomers("abcdefghij"))).aside == 10


def test_the_draw_of_a_lot_is_the_same_when_the_verdict_asks_again():
    rules = increment.Rules(Fraction(1, 2), 2, hide_waiting=True)
    assert rules.draws.setdefault("x", 0.5) == rules.draws.setdefault("x", 0.7)


def test_without_hiding_each_publish_says_what_waiting_tells(tmp_path):
    ledger = start(tmp_path, hide_waiting=False)
    done = ledger.publish(table(newcomers("hhhhhhabc")))
    assert (done.told.share, done.told.rows) == (1, done.waiting)
    assert "that a person waits believe a value with up to 100 %" in str(done)
    assert done.to_dict()["told"] == {"share": 1.0, "rows": done.waiting}


def test_who_waits_is_hidden_only_where_people_are_recognised(tmp_path):
    made = sf.decouple(table(FIRST).drop(["patient"]), quasi_identifiers=["age"], sensitive=["ill"])
    with pytest.raises(InputError, match="only where people are recognised"):
        sf.Ledger.start(made, tmp_path / "x.ledger", alpha=1, k=1, hide_waiting=True)


# Who leaves.


@given(st.lists(st.integers(0, 3), min_size=2, max_size=7), st.sampled_from(ALPHAS), st.data())
@pytest.mark.usefixtures("patience")
def test_people_leave_in_part_only_where_any_could(values, alpha, data):
    """By trying out who leaves; 0 is missing."""
    leaving = data.draw(st.integers(1, len(values) - 1))
    cell = SeenTogether(len(values), (np.bincount(values, minlength=4),))
    every = all(
        is_within(alpha, [values[i] or None for i in side])
        for gone in combinations(range(len(values)), leaving)
        for side in (gone, set(range(len(values))) - set(gone))
    )
    assert hides_any(cell, leaving, alpha) == every


@pytest.mark.usefixtures("patience")
def test_who_waits_to_leave_tells_nothing(tmp_path):
    """Those who ask leave all together or not at all, whatever their values are."""
    ills = "aabbccddeeff"
    first = [(f"p{i}", 30 + i % 8, ill) for i, ill in enumerate(ills)]
    for at, alike in enumerate(("abcdef", "aabbcc")):
        (tmp_path / str(at)).mkdir()
        ledger = start(tmp_path / str(at), alpha=0.34, first=first)
        rest, gone = list(first), []
        for ill in alike:
            gone.append(next(row for row in rest if row[2] == ill))
            rest.remove(gone[-1])
        done = ledger.delete(table(gone))
        assert (done.left, done.waiting) == (6, 0)
    (tmp_path / "x").mkdir()
    ledger = start(tmp_path / "x", alpha=0.34, first=first)
    done = ledger.delete(table(first[::2][:5]))
    assert (done.left, done.waiting) == (0, 5)
    assert "as many as these" in done.held[0].why


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.usefixtures("patience")
def test_who_joins_when_depends_on_numbers_and_on_whole_lots_only(tmp_path, monkeypatch, seed):
    """The order of arrival, who waits and who is refused: as a few lines say it."""
    draw, least = random.Random(seed), 4
    monkeypatch.setattr(increment, "smallest_lot", lambda *_: least)
    monkeypatch.setattr(increment, "chance_aside", lambda *_: 0.3)
    ledger = start(tmp_path)
    rows, queue, fate, number = {}, {30: [], 50: []}, {}, 0
    for _ in range(6):
        given = []
        for _ in range(draw.randint(1, 6)):
            number += 1
            given.append((f"n{number}", draw.choice([31, 55]), draw.choice("aabcd")))
        again = [rows[who] for who in draw.sample(sorted(rows), min(2, len(rows)))]
        rows |= {row[0]: row for row in given}
        for row in given:
            queue[30 if row[1] == 31 else 50].append(row)
        done = ledger.publish(table([*given, *again]))
        assert done.refused_rows == len(again)
        for lot in queue.values():
            if len(lot) >= least:
                [what] = {each.waits for each in ledger.find([row[0] for row in lot])}
                assert what in (
                    {None, "aside"} if is_within(0.5, [r[2] for r in lot]) else {"aside"}
                )
                fate |= dict.fromkeys((row[0] for row in lot), what)
                lot.clear()
        waiting = {row[0] for lot in queue.values() for row in lot}
        whose = dict(zip(rows, ledger.find(list(rows)), strict=True))
        assert {who for who, each in whose.items() if each.waits == "add"} == waiting
        assert {who: whose[who].waits for who in fate} == fate
    assert ledger.verify() == []


# All worlds of an adversary who knows everything that happened, and nobody's value.


def happen(folder, first, script, values, **more):
    """Publish what a script says, with these values; return all that is told of people, not them.

    That is: after each release who is where, who waits or was set aside, who was refused and why,
    and all tables of cells.
    """
    folder.mkdir()
    rows = {who: (who, age, values[who]) for who, age in script["ages"].items()}
    ledger = start(folder, first=[rows[who] for who in first], **more)
    told = []
    for seed, (joining, leaving) in enumerate(script["releases"]):
        done = ledger.publish(
            table([rows[who] for who in joining]) if joining else None,
            delete=table([rows[who] for who in leaving]) if leaving else None,
            seed=seed,
            again=True,
        )
        tables = ledger.current
        cells = {
            int(number): (int(size), tables.group_at(g))
            for g, (number, size) in enumerate(zip(tables.labelled, tables.sizes, strict=True))
        }
        found = ledger.find(list(rows))
        numbers = {each: i for i, each in enumerate(dict.fromkeys(w.group for w in found))}
        told.append((
            [(numbers[w.group], w.joined, w.left, w.waits) for w in found],
            sorted((each.who, each.why) for each in done.refused),
            sorted(cells.values(), key=repr),
        ))  # fmt: skip
    return told, dict(zip(rows, found, strict=True))


def draw_script(draw):
    """Return what is asked of a ledger: who comes when and of what age, and who leaves."""
    ages = {f"p{i}": 30 + i % 10 for i in range(8)}
    releases, here = [], [*ages]
    for _ in range(4):
        new = [f"n{len(ages) + i}" for i in range(draw.randint(2, 7))]
        ages |= {who: draw.choice([31, 33, 55]) for who in new}
        leaving = draw.sample(here, draw.choice([0, 2, 3, 4])) if len(here) > 4 else []
        again = draw.sample(here, 1)
        releases.append(([*new, *again], [who for who in leaving if who not in again]))
        here += new
    return {"ages": ages, "releases": releases}


def shuffled_in_parts(draw, values, found):
    """Return another world: in every part, other people have the values."""
    parts = {}
    for who, where in found.items():
        parts.setdefault((where.group, where.joined, where.left), []).append(who)
    other = dict(values)
    for (group, *_), people in parts.items():
        if group is not None:
            mixed = draw.sample(people, len(people))
            other |= {who: values[one] for who, one in zip(people, mixed, strict=True)}
    return other


def differences(folder, monkeypatch, seeds, **more):
    """Count ledgers of which something is told by who has which of the values of a part.

    The rules are asked alone: whether a ledger was edited is tested elsewhere, and the verdict
    on an increment is a second guard.
    """
    monkeypatch.setattr(chain, "require_sound", lambda *_: None)
    monkeypatch.setattr(increments, "judge", lambda *_: None)
    monkeypatch.setattr(increment, "smallest_lot", lambda *_: 4)
    found, joined = 0, 0
    for seed in seeds:
        draw = random.Random(seed)
        script = draw_script(draw)
        values = {who: draw.choice("aabcde") for who in script["ages"]}
        first = [who for who in script["ages"] if who.startswith("p")]
        values |= dict(zip(first, "abcdabcd", strict=True))
        told, where = happen(folder / f"{seed}", first, script, values, **more)
        other = shuffled_in_parts(draw, values, where)
        again, _ = happen(folder / f"{seed} again", first, script, other, **more)
        joined += sum(each.joined is not None and each.joined > 1 for each in where.values())
        found += told != again
    return found, joined


@pytest.mark.usefixtures("patience")
def test_nothing_that_happens_depends_on_who_has_which_value_of_a_part(tmp_path, monkeypatch, some):
    """So each way to give a part's values to its people is as likely as before: alpha holds.

    It holds for who knows when everybody came, who waits and since when, who was refused and why.
    """
    n = some(3, of=40)
    found, joined = differences(tmp_path, monkeypatch, range(n))
    assert (found, joined > n) == (0, True)


@pytest.mark.usefixtures("patience")
def test_without_hiding_what_happens_does_depend_on_it(tmp_path, monkeypatch):
    tried = (differences(tmp_path, monkeypatch, [seed], hide_waiting=False) for seed in range(20))
    assert any(found for found, _ in tried)
