"""Undone generalisation: columns that say more of a quasi-identifier than its labels."""

from collections import Counter
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks import Target, UndoneGeneralisation
from sfumato.attacks.in_step import LabelLine
from sfumato.attacks.undoing import undone_of
from sfumato.counts import Column, FrequencySet
from sfumato.harm import HarmRule, Level
from sfumato.policy.remedies import GiveRole
from sfumato.schema import Role

RULE = HarmRule()
ILL = ("flu", "gout", "hiv", "asthma", "migraine")
DAY = date(2024, 5, 1)


def decades(ages):
    return [f"{age // 10}0 to {age // 10}9" for age in ages]


def halves(ages, rng, least=4):
    """Local recoding: rows are halved again and again, by age or by something else."""
    label = np.empty(len(ages), dtype=object)
    left = [np.arange(len(ages))]
    while left:
        rows = left.pop()
        by_age = rng.random() < 0.6
        order = rows[np.argsort(ages[rows], kind="stable")] if by_age else rng.permutation(rows)
        if len(rows) >= 2 * least and rng.random() < 0.9:
            left += [order[: len(rows) // 2], order[len(rows) // 2 :]]
        else:
            low, high = ages[rows].min(), ages[rows].max()
            label[rows] = str(low) if low == high else f"{low} to {high}"
    return label.tolist()


def target_of(columns, known, secret):
    columns = {
        name: [each.item() if isinstance(each, np.generic) else each for each in values]
        for name, values in columns.items()
    }
    counts = FrequencySet.from_rows(list(columns), list(zip(*columns.values(), strict=True)))
    return Target.of_table(counts, tuple(known), tuple(secret))


def undoers(target):
    found = undone_of(target)
    return [] if found is None else [(each.columns, each.undone) for each in found.relations]


def people(seed, n=400):
    rng = np.random.default_rng(seed)
    days = rng.integers(15 * 366, 90 * 365, n)
    return rng, days, (days / 365.2425).astype(np.int64)


# What is found


KINDS = {
    "age in days": lambda days: days,
    "day number of birth": lambda days: 20_000 - days,
    "seconds since 1970": lambda days: (19_844 - days) * 86_400,
    "age with decimals": lambda days: (days / 365.25).round(2),
    "date of birth": lambda days: [DAY - timedelta(days=int(each)) for each in days],
    "date as text": lambda days: [(DAY - timedelta(days=int(e))).isoformat() for e in days],
    "numbers as text": lambda days: [str(each) for each in days],
    "on another scale": lambda days: np.exp(days / 10_000).round(6),
    "nearly": lambda days: days + (np.arange(len(days)) % 50 == 0) * 5_000,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("local", [False, True])
def test_a_column_that_runs_in_step_with_labels_is_found(kind, local):
    rng, days, ages = people(1)
    labels = halves(ages, rng) if local else decades(ages)
    sex = rng.integers(0, 2, len(days))
    columns = {"age": labels, "sex": sex, "x": KINDS[kind](days), "ill": rng.choice(ILL, len(days))}
    target = target_of(columns, ["age", "sex"], ["x", "ill"])
    assert undoers(target) == [(("x",), "age")]
    outcome = UndoneGeneralisation().on(target, RULE)
    assert outcome.people > 20
    assert "'x' undoes 'age'" in outcome.note


def test_codes_in_no_order_are_found_by_the_label_that_each_stands_under():
    rng, _, ages = people(2)
    codes = rng.permutation(100)[ages]
    columns = {"age": decades(ages), "code": codes, "ill": rng.choice(ILL, len(ages))}
    target = target_of(columns, ["age"], ["code", "ill"])
    assert undoers(target) == [(("code",), "age")]
    outcome = UndoneGeneralisation().on(target, RULE)
    # Each age has a code of its own.
    alone = sum(n == 1 for n in Counter(ages.tolist()).values())
    assert outcome.people == alone > 0


CODES = {
    "a word and a number": lambda age, i: f"pat{age}-{i:04d}",
    "letters and digits": lambda age, i: f"{'AB'[i % 2]}{2024 - age}{i:04d}",
    "a year and a count": lambda age, i: f"AX/{2024 - age}/{i}",
    "a day of birth first to last": lambda age, i: (
        f"{i % 28:02d}07{(2024 - age) % 100:02d}-{i:04d}"
    ),
    "digits alone": lambda age, i: f"{i % 28 + 1:02d}07{(2024 - age) % 100:02d}{i:04d}",
    "a day in words": lambda age, i: f"born on {i % 28}. 7. {2024 - age} as number {i}",
}


@pytest.mark.parametrize("write", CODES.values(), ids=CODES)
def test_a_field_of_a_code_undoes_labels(write):
    rng, _, ages = people(3, 300)
    # Two digits do not tell who was born in 1924 from who was in 2024.
    ages = np.clip(ages, 25, 84)
    ill = rng.choice(ILL, 300).tolist()
    codes = [write(age, i) for age, i in zip(ages.tolist(), rng.permutation(300), strict=True)]
    found = target_of({"age": decades(ages), "id": codes, "ill": ill}, ["age"], ["id", "ill"])
    assert (("id",), "age") in undoers(found)
    wrong = rng.permutation(codes).tolist()
    none = target_of({"age": decades(ages), "id": wrong, "ill": ill}, ["age"], ["id", "ill"])
    assert not undoers(none)


@pytest.mark.usefixtures("patience")
def test_a_field_is_found_in_some_rows_and_counted_in_all():
    rng, _, ages = people(5, 9_000)
    codes = [f"pat{age}-{i:05d}" for i, age in zip(rng.permutation(9_000), ages, strict=True)]
    target = target_of({"age": decades(ages), "id": codes}, ["age"], ["id"])
    [relation] = undone_of(target).relations
    assert (relation.columns, len(relation.of_row)) == (("id",), 9_000)
    # Every year of age is a block, but for what the ends of labels leave open.
    assert len(np.unique(relation.of_row)) >= 0.9 * len(np.unique(ages))


def test_codes_beside_masks_are_found():
    rng = np.random.default_rng(3)
    places = [f"{area}{rest:02d}" for area in "abcd" for rest in range(12)]
    at = rng.integers(0, len(places), 400)
    masks = [places[each][: 1 + each % 2].ljust(3, "*") for each in at]
    columns = {"place": masks, "code": rng.permutation(len(places))[at]}
    target = target_of(columns, ["place"], ["code"])
    assert undoers(target) == [(("code",), "place")]


@pytest.mark.parametrize("weights", [(1, 1), (1, -1), (12, 1)])
def test_a_sum_of_two_columns_is_found(weights):
    rng = np.random.default_rng(4)
    parts = rng.integers(0, 40, 600), rng.integers(0, 40 if weights[0] == 1 else 12, 600)
    total = weights[0] * parts[0] + weights[1] * parts[1]
    step = 10 * weights[0]
    low = total // step * step
    labels = [f"{a} to {a + step - 1}" for a in low.tolist()]
    columns = {"total": labels, "first": parts[0], "second": parts[1], "x": rng.integers(0, 9, 600)}
    target = target_of(columns, ["total"], ["first", "second", "x"])
    found = [columns for columns, _ in undoers(target)]
    # Years by themselves are nearly in step with ranges of ten of them.
    assert ("first", "second") in found or (weights == (12, 1) and ("first",) in found)


def test_a_column_as_coarse_as_the_labels_says_no_more():
    _, _, ages = people(5)
    target = target_of({"age": decades(ages), "decade": ages // 10}, ["age"], ["decade"])
    assert undoers(target) == []


def test_a_column_coarser_than_single_values_counts_by_its_own_steps():
    _, _, ages = people(6, 800)
    columns = {"age": decades(ages), "five": ages // 5}
    target = target_of(columns, ["age"], ["five"])
    [relation] = undone_of(target).relations
    sizes = Counter(zip(relation.of_row.tolist(), strict=True))
    assert len(sizes) == len(set((ages // 5).tolist()))


def test_values_that_are_published_as_they_are_need_no_undoing():
    _, days, ages = people(7)
    assert undone_of(target_of({"age": ages, "days": days}, ["age"], ["days"])) is None


# What is not


def random_table(seed):
    """Columns of every kind that have nothing to do with the labels."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([4, 8, 15, 30, 60, 200, 800]))
    ages = rng.integers(15, 90, n)
    labels = decades(ages) if rng.random() < 0.5 else halves(ages, rng, max(n // 20, 2))
    width = rng.integers(1, 3)
    masks = [f"{each:03d}"[:width].ljust(3, "*") for each in rng.integers(0, 1000, n)]
    columns = {"age": labels, "zip": masks}
    makers = [
        lambda: rng.integers(0, 2, n),
        lambda: rng.permutation(n),
        lambda: rng.normal(50_000, 20_000, n).round(),
        lambda: [f"v{each}" for each in rng.integers(0, max(n // 3, 2), n)],
        lambda: [f"u{each}" for each in rng.permutation(n)],
        lambda: [1] * n,
        lambda: rng.zipf(2, n).clip(0, 99),
        lambda: [None if rng.random() < 0.5 else int(e) for e in rng.integers(0, 50, n)],
        lambda: rng.integers(0, 10, n),
    ]
    for at in range(int(rng.integers(1, 20))):
        columns[f"c{at}"] = makers[rng.integers(0, len(makers))]()
    return target_of(columns, ["age", "zip"], [name for name in columns if name[0] == "c"])


@pytest.mark.usefixtures("statistics")
def test_independent_columns_are_taken_for_chance():
    found = sum(bool(undoers(random_table(seed))) for seed in range(300))
    assert found <= 3


def test_a_few_tables_of_independent_columns_show_nothing():
    assert not any(undoers(random_table(seed)) for seed in range(20))


def test_a_column_of_different_values_is_no_evidence():
    rng, _, ages = people(8)
    names = [f"u{each}" for each in rng.permutation(len(ages))]
    target = target_of({"age": decades(ages), "name": names}, ["age"], ["name"])
    assert undoers(target) == []


def test_a_table_of_four_rows_may_be_in_order_by_chance():
    columns = {"age": ["20 to 29"] * 2 + ["30 to 39"] * 2, "x": [1, 2, 3, 4]}
    assert undoers(target_of(columns, ["age"], ["x"])) == []


# A second source: an adversary who goes through all rows for each person.


def adversary(ages, sexes, rows, age_of):
    """Return for each person the published rows whose labels and column fit them, one by one."""
    found = []
    for age, sex in zip(ages.tolist(), sexes.tolist(), strict=True):
        fitting = []
        for at, (label, shown, value) in enumerate(rows):
            low, _, high = label.partition(" to ")
            inside = label == "*" or int(low) <= age <= int(high or low)
            if inside and shown in ("*", sex) and age_of(value) == age:
                fitting.append(at)
        found.append(fitting)
    return found


def with_source(columns, raw, known, secret):
    """Return the target of rows and of the table that they were made of, as `sf.verify` does it."""
    from sfumato.attacks.adversary.target import target_of as target_of_release
    from sfumato.attacks.adversary.target import with_members
    from sfumato.releases.opening import open_release

    table = pa.table({name: list(values) for name, values in columns.items()})
    release = open_release(table, quasi_identifiers=known, sensitive=secret)
    original = pa.table({name: list(values) for name, values in raw.items()})
    return with_members(target_of_release(release), release, original)


@pytest.mark.usefixtures("patience")
@given(seed=st.integers(0, 10**6), n=st.sampled_from([40, 90, 150]))
def test_with_the_original_every_person_is_counted_as_one_by_one(seed, n):
    rng, days, ages = people(seed, n)
    sex = rng.choice(["f", "m"], n)
    shown = np.where(rng.random(n) < 0.2, "*", sex)
    labels = halves(ages, rng)
    columns = {"age": labels, "sex": shown.tolist(), "days": days.tolist()}
    raw = {"age": ages.tolist(), "sex": sex.tolist(), "days": days.tolist()}
    target = with_source(columns, raw, ["age", "sex"], ["days"])
    outcome = UndoneGeneralisation().on(target, RULE)
    rows = list(zip(labels, shown.tolist(), days.tolist(), strict=True))
    fitting = adversary(ages, sex, rows, lambda value: int(value / 365.2425))
    alone = sum(len(each) == 1 for each in fitting)
    classes = Counter(zip(labels, shown.tolist(), strict=True))
    already = sum(
        len(each) == 1 and classes[labels[at], shown[at]] == 1 for at, each in enumerate(fitting)
    )
    assert alone - already <= outcome.people <= alone


def test_from_the_release_alone_the_figures_are_near_those_of_the_original():
    rng, days, ages = people(11, 1500)
    sex = rng.choice(["f", "m"], len(days)).tolist()
    columns = {"age": halves(ages, rng, 10), "sex": sex, "days": days.tolist()}
    raw = {"age": ages.tolist(), "sex": sex, "days": days.tolist()}
    exact = with_source(columns, raw, ["age", "sex"], ["days"])
    alone = replace(exact, whole=replace(exact.whole, read_source=None, k=20))
    exact = replace(exact, whole=replace(exact.whole, k=20))
    one, other = (UndoneGeneralisation().on(each, RULE) for each in (exact, alone))
    assert one.concerned > 300
    near = one.people + one.high
    assert abs(near - other.people - other.high) < 0.15 * near


def test_the_original_shows_what_a_label_of_stars_hides():
    rng, days, ages = people(12, 300)
    sex = rng.choice(["f", "m"], 300).tolist()
    columns = {"age": ["*"] * 300, "sex": sex, "days": days.tolist()}
    raw = {"age": ages.tolist(), "sex": sex, "days": days.tolist()}
    target = with_source(columns, raw, ["age", "sex"], ["days"])
    times = Counter(zip(ages.tolist(), sex, strict=True))
    outcome = UndoneGeneralisation().on(target, RULE)
    assert outcome.people == sum(n == 1 for n in times.values()) > 0


def test_the_original_shows_what_follows_from_a_true_value_however_coarse():
    rng = np.random.default_rng(17)
    ages = rng.integers(50, 80, 600)
    retired, coin = ages >= 67, rng.integers(0, 2, 600)
    columns = {"age": decades(ages), "retired": retired.astype(int), "coin": coin}
    raw = {**columns, "age": ages}
    lists = [{n: np.asarray(v).tolist() for n, v in each.items()} for each in (columns, raw)]
    target = with_source(*lists, ["age"], ["retired", "coin"])
    assert undoers(target) == [(("retired",), "age")]
    # Of people in their sixties 67 and more are told from the others.
    at = undone_of(target).fits.size.tolist()
    sixties = ((ages >= 60) & (ages < 67)).sum(), ((ages >= 67) & (ages < 70)).sum()
    assert {*at} >= {*map(int, sixties)}


def test_the_original_shows_that_a_column_is_no_function_of_a_quasi_identifier():
    # Every hospital is in one region, and people of one town go to several.
    rng = np.random.default_rng(13)
    town = rng.integers(0, 40, 800)
    region = town // 10
    hospital = region * 3 + rng.integers(0, 3, 800)
    names = [f"r{each // 10}t{each % 10}" for each in range(40)]
    columns = {
        "town": [names[each][:2] + "**" for each in town],
        "hospital": [f"h{each}" for each in hospital],
    }
    raw = {"town": [names[each] for each in town], "hospital": columns["hospital"]}
    target = with_source(columns, raw, ["town"], ["hospital"])
    assert UndoneGeneralisation().on(target, RULE).level is Level.LOW
    alone = replace(target, whole=replace(target.whole, read_source=None))
    assert undoers(alone) == [(("hospital",), "town")]


# What is learned


def test_people_of_one_exact_age_who_are_all_ill_alike_are_at_risk():
    ages = np.repeat(np.arange(20, 60), 20)
    ill = [ILL[age % 2] if age == 33 else ILL[at % 5] for at, age in enumerate(ages.tolist())]
    columns = {"age": decades(ages), "months": ages * 12, "ill": ill}
    target = target_of(columns, ["age"], ["months", "ill"])
    outcome = UndoneGeneralisation("ill").on(target, RULE)
    assert outcome.people == 20
    assert outcome.worst[0].believed == "ill = gout"
    assert UndoneGeneralisation().on(target, RULE).people == 0


def test_rows_that_do_not_say_hide_those_that_do():
    ages = np.repeat(np.arange(20, 60), 3)
    months = [None if at % 3 == 1 else int(age) * 12 for at, age in enumerate(ages)]
    target = target_of({"age": decades(ages), "months": months}, ["age"], ["months"])
    [relation] = undone_of(target).relations
    assert (relation.of_row < 0).sum() == 4
    # Who says nothing may be anybody.
    assert UndoneGeneralisation().on(target, RULE).people == 0


def test_flags_are_the_people_of_the_outcome():
    rng, days, ages = people(14)
    columns = {"age": decades(ages), "days": days, "ill": rng.choice(ILL, len(days))}
    target = target_of(columns, ["age"], ["days", "ill"])
    for attack in UndoneGeneralisation.against(target, RULE):
        flags = attack.flags(target, RULE)
        assert flags.shape == (len(target.counts),)
        assert target.counts.rows[flags].sum() == attack.on(target, RULE).people


def test_fewer_rows_than_promised_are_of_level_high():
    rng, days, ages = people(15, 2000)
    labels = [f"{age // 40 * 40} to {age // 40 * 40 + 39}" for age in ages]
    table = pa.table({"age": labels, "days": days, "ill": rng.choice(ILL, 2000).tolist()})
    policy = {
        "columns": {"age": "quasi-identifier", "days": "plain", "ill": "sensitive"},
        "models": [{"model": "k-anonymity", "k": 20}],
    }
    outcome = sf.verify(table, policy).attack("undone-generalisation")
    sizes = Counter(ages.tolist())
    few = sum(n for n in sizes.values() if 1 < n < 20)
    assert abs(outcome.high - few) < 0.25 * few


# The whole verdict


def clinic(n, known):
    rng = np.random.default_rng(n)
    born = np.datetime64("1935-01-01") + rng.integers(0, 27000, n)
    ages = ((np.datetime64("2024-05-01") - born).astype(int) / 365.2425).astype(int)
    table = pa.table(
        {
            "age": ages,
            "sex": rng.choice(["m", "f"], n).tolist(),
            "zip": rng.choice(["80331", "80333", "80335", "81541", "20095", "20097"], n).tolist(),
            "born": (born - np.datetime64("1960-01-01")).astype(int),
            "ill": rng.choice(ILL, n).tolist(),
        }
    )
    share = {"model": "range-share", "column": "born", "within": 7300, "share": 0.74}
    policy = {
        "columns": {
            "age": {"role": "quasi-identifier", "hierarchy": "auto"},
            "sex": {"role": "quasi-identifier", "hierarchy": "star"},
            "zip": {"role": "quasi-identifier", "hierarchy": {"kind": "masking", "length": 5}},
            "born": {"role": "sensitive", "known": known},
            "ill": {"role": "sensitive", "known": known},
        },
        "models": [
            {"model": "k-anonymity", "k": 5},
            share,
            {"model": "alpha-k-anonymity", "column": "ill", "alpha": 0.74, "k": 5},
        ],
        "suppression": "5%",
        "method": "mondrian",
    }
    return table, policy


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("known", [True, False])
def test_a_day_number_of_birth_beside_ages_in_ranges_is_refused(known):
    table, policy = clinic(400, known)
    release = sf.anonymize(table, policy)
    for found in (sf.verify(release), sf.verify(release, policy, data=table)):
        assert found.answer == "no"
        outcome = found.attack("undone-generalisation")
        assert outcome.people > 100
        assert outcome.people + outcome.high > 350
        # Whether others know a day of birth makes no difference: they know the age.
        assert outcome.judged
        assert GiveRole("born", Role.DROPPED) in outcome.remedies
        assert GiveRole("born", Role.QUASI_IDENTIFIER) in outcome.remedies
        assert any("'born' undoes 'age'" in why for why in found.why)


@pytest.mark.usefixtures("patience")
def test_each_remedy_leaves_nothing_to_undo():
    table, policy = clinic(400, known=False)
    release = sf.anonymize(table, policy)
    for remedy in sf.verify(release).attack("undone-generalisation").remedies:
        mended = remedy.apply(sf.Policy(**policy))
        outcome = sf.verify(sf.anonymize(table, mended)).attack("undone-generalisation")
        assert outcome.level is Level.LOW


def test_a_plain_column_undoes_as_a_sensitive_one_does():
    table, policy = clinic(300, known=False)
    columns = {**policy["columns"], "born": {"role": "plain", "because": "it is a number only"}}
    policy = {**policy, "columns": columns, "models": [{"model": "k-anonymity", "k": 5}]}
    found = sf.verify(sf.anonymize(table, policy), attacks=["undone-generalisation"])
    assert found.attack("undone-generalisation").people > 50


WORLD = {
    "Asia": ["China", "India", "Japan", "Nepal", "Laos"],
    "Europe": ["Spain", "Italy", "France", "Malta", "Greece"],
    "Africa": ["Egypt", "Mali", "Ghana", "Kenya", "Chad"],
}


@pytest.mark.parametrize("method", ["full-domain", "mondrian"])
def test_the_number_of_a_country_undoes_its_continent(method, tmp_path):
    rng = np.random.default_rng(21)
    countries = [each for several in WORLD.values() for each in several]
    numbers = dict(zip(countries, rng.permutation(900)[:15].tolist(), strict=True))
    where = rng.choice(countries, 400, p=np.arange(1, 16) / 120).tolist()
    tree = tmp_path / "world.csv"
    lines = [f"{c};{continent};*" for continent, several in WORLD.items() for c in several]
    tree.write_text("\n".join(lines) + "\n")
    table = pa.table(
        {
            "country": where,
            "sex": rng.choice(["f", "m"], 400).tolist(),
            "iso": [numbers[each] for each in where],
            "ill": rng.choice(ILL, 400).tolist(),
        }
    )
    policy = {
        "columns": {
            "country": {
                "role": "quasi-identifier",
                "hierarchy": {"kind": "csv", "file": str(tree)},
            },
            "sex": {"role": "quasi-identifier", "hierarchy": "star"},
            "iso": "plain",
            "ill": "sensitive",
        },
        "models": [{"model": "k-anonymity", "k": 10}],
        "method": method,
    }
    release = sf.anonymize(table, policy)
    for given_ in ({}, {"policy": policy, "data": table}):
        found = sf.verify(release, attacks=["undone-generalisation"], **given_)
        outcome = found.attack("undone-generalisation")
        assert "'iso' undoes 'country'" in outcome.note
        assert outcome.high + outcome.people > 0


def test_a_plain_column_beside_the_labels_of_a_decoupled_release_undoes_them():
    rng, days, ages = people(16, 300)
    table = pa.table(
        {
            "age": ages,
            "days": days,
            "ill": rng.choice(ILL, 300).tolist(),
            "pay": rng.integers(1, 9, 300) * 1000,
        }
    )
    widths = {"kind": "intervals", "widths": [10, 20]}
    policy = {
        "columns": {
            "age": {"role": "quasi-identifier", "hierarchy": widths},
            "days": {"role": "plain", "because": "it is a number only"},
            "ill": "sensitive",
            "pay": "sensitive",
        },
        "models": [{"model": "k-anonymity", "k": 5}],
    }
    whole = sf.anonymize(table, policy)
    apart = sf.decouple(whole)
    for release in (whole, apart):
        found = sf.verify(release, attacks=["undone-generalisation"])
        outcome = found.attack("undone-generalisation")
        assert 0 < outcome.people < outcome.people + outcome.high
        assert outcome.people + outcome.high > 100


# Reading labels


def test_labels_are_read_as_half_open_stretches():
    line = LabelLine.of(Column("x", ("2.5 to under 5", "5 to under 7.5", "7.5 or more")))
    assert (line.low.tolist(), line.unit) == ([2.5, 5.0, 7.5], 0.1)
    assert line.wide.all()
    days = LabelLine.of(Column("x", ("2020-02", "2020-03-05")))
    assert (days.of_days, days.wide.tolist(), days.show(737456)) == (
        True,
        [True, False],
        "2020-02-01",
    )
    assert LabelLine.of(Column("x", ("north", "south", "*"))) is None
