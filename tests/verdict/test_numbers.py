"""Numbers and days tell without being equal: all are near each other, or all at one end."""

from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf

TRADES = ["baker", "diver", "judge", "mason", "nurse", "pilot", "roofer", "tailor"]
WARDS, SIZE = 8, 150


def given(**columns):
    return {
        "columns": {"ward": "quasi-identifier", **columns},
        "models": [{"model": "k-anonymity", "k": 10}],
    }


def wards(size=SIZE, number=WARDS):
    return np.arange(size * number) % number


def answer(policy, **columns):
    ward = wards(len(next(iter(columns.values()))) // WARDS)
    return sf.verify(pa.table({"ward": [f"ward {each}" for each in ward], **columns}), policy)


def pay_by(kind, trade, rng):
    """Return pay of which the trade tells the amount, or that it is high or low."""
    n = len(trade)
    if kind == "an amount":
        return trade * 9_000 + 12_000 + rng.integers(0, 500, n)
    if kind == "among the highest":
        return np.where(trade == 3, rng.integers(200_000, 10**6, n), rng.integers(9_000, 70_000, n))
    return np.where(trade == 3, rng.integers(0, 9_000, n), rng.integers(40_000, 70_000, n))


PLAIN = {"role": "plain", "because": "it is on the door"}


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("kind", ["an amount", "among the highest", "among the lowest"])
@pytest.mark.parametrize("rule", [PLAIN, {"role": "sensitive"}], ids=["plain", "sensitive"])
def test_a_column_that_tells_about_how_much_somebody_earns_is_a_no(kind, rule):
    rng = np.random.default_rng(7)
    trade = rng.integers(0, len(TRADES) + 4, SIZE * WARDS)
    columns = {
        "trade": [f"{TRADES[each % 8]} {each // 8}" for each in trade],
        "pay": pay_by(kind, trade, rng).tolist(),
    }
    found = answer(given(trade=rule, pay="sensitive"), **columns)
    assert found.answer == "no"
    least = len(trade) if kind == "an amount" else int((trade == 3).sum())
    assert found.at_risk >= least


@pytest.mark.usefixtures("patience")
def test_two_plain_columns_that_tell_an_amount_together_are_a_no():
    rng = np.random.default_rng(8)
    first, second = rng.integers(0, 3, (2, SIZE * WARDS))
    pay = (first + second) % 3 * 20_000 + 30_000 + rng.integers(0, 900, len(first))
    columns = {"one": first.tolist(), "two": second.tolist(), "pay": pay.tolist()}
    found = answer(given(one=PLAIN, two=PLAIN, pay="sensitive"), **columns)
    assert (found.answer, found.at_risk) == ("no", len(first))


@pytest.mark.usefixtures("patience")
def test_a_column_that_tells_a_day_nearly_is_a_no():
    rng = np.random.default_rng(9)
    trade = rng.integers(0, 5, SIZE * WARDS)
    days = [
        date(1990 + 6 * each, 3, 1) + timedelta(late)
        for each, late in zip(trade.tolist(), rng.integers(0, 60, len(trade)).tolist(), strict=True)
    ]
    columns = {"trade": [TRADES[each] for each in trade], "since": days}
    assert answer(given(trade=PLAIN, since="sensitive"), **columns).answer == "no"


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("end", ["highest", "lowest"])
def test_a_class_at_one_end_of_all_numbers_is_at_risk(end):
    """However far apart its own numbers are."""
    rng = np.random.default_rng(10)
    # One ward in sixteen, so that it is less than a tenth.
    ward = wards(60, 16)
    pay = rng.integers(40_000, 70_000, len(ward))
    odd = ward == 5
    pay[odd] = rng.integers(*((200_000, 900_000) if end == "highest" else (0, 39_000)), odd.sum())
    table = pa.table({"ward": [f"ward {each}" for each in ward], "pay": pay.tolist()})
    found = sf.verify(table, given(pay="sensitive"))
    assert (found.answer, found.at_risk) == ("no", 60)
    assert any(each.startswith("who knows the ward of a person learns pay") for each in found.why)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("spread", ["even", "long tail", "a few at one end"])
def test_numbers_that_have_nothing_to_do_with_anything_are_a_yes(spread):
    rng = np.random.default_rng(11)
    n = SIZE * WARDS
    pay = {
        "even": rng.integers(10_000, 90_000, n),
        "long tail": rng.lognormal(10, 1, n).round(),
        "a few at one end": np.where(rng.random(n) < 0.05, 10**6, 20_000) + rng.integers(0, 999, n),
    }[spread]
    columns = {"hand": rng.choice(["left", "right"], n).tolist(), "pay": pay.tolist()}
    assert answer(given(hand=PLAIN, pay="sensitive"), **columns).answer == "yes"


def test_a_decoupled_release_of_its_maker_is_held_to_its_own_policy(tmp_path):
    table = pa.table(
        {
            "zone": [f"z{i // 60}" for i in range(600)],
            "ill": ["hiv" if i // 60 == 3 and i % 5 < 3 else f"i{i % 4}" for i in range(600)],
            "drug": [f"d{i // 4 % 3}" for i in range(600)],
        }
    )
    columns = {"zone": "quasi-identifier", "ill": "sensitive", "drug": "sensitive"}
    models = [{"model": "k-anonymity", "k": 5}]
    secret = {"role": "sensitive", "secret": ["hiv"]}
    for policy, answer in (
        ({"columns": columns, "models": models}, "with care"),
        ({"columns": {**columns, "ill": secret}, "models": models}, "no"),
    ):
        folder = tmp_path / answer
        made = sf.decouple(table, policy=policy)
        stored = sf.decouple(table, policy=policy, output=folder)
        told = sf.verify(made, policy)
        assert told.answer == sf.verify(made).answer == sf.verify(stored).answer == answer
        assert told.at_risk == sf.verify(made).at_risk
        assert sf.verify(folder).answer == "with care"


def _swapped(text, comma, dot):
    return text.translate(str.maketrans({",": comma, ".": dot}))


SPELLINGS_OF_AMOUNTS = {
    "dollars": lambda v: f"${v:,.2f}",
    "dollars of a state": lambda v: f"US$ {v:,.2f}",
    "euros": lambda v: f"{_swapped(f'{v:,.2f}', '.', ',')} €",
    "francs": lambda v: f"CHF {v:,.0f}".replace(",", "'"),
    "round francs": lambda v: f"{v:,.0f}.-".replace(",", "’"),
    "rupees": lambda v: f"Rs. {v:,.0f}",
    "thousands": lambda v: f"${v / 1000:.1f}K",
    "millions": lambda v: f"{v / 1000:.2f} Mio. €",
    "debts in brackets": lambda v: f"({v:,.2f})",
    "debts with a dash behind": lambda v: f"{v:.2f}-",
    "money a month": lambda v: f"{v:.0f} €/month",
}

SPELLINGS_OF_DAYS = {
    "names of months": "%d %b %Y",
    "slashes": "%Y/%m/%d",
    "two digits of the year": "%d.%m.%y",
    "dashes": "%d-%b-%Y",
    "days of the week": "%a %d %b %Y",
    "times": "%d.%m.%Y 10:30",
    "months first": "%B %d, %Y",
}


def _with_an_odd_class(odd, common, seed=3):
    """One of 15 classes has values close together, the others have any."""
    rng = np.random.default_rng(seed)
    stair = np.arange(600) % 15
    cells = [odd(rng) if each == 6 else common(rng) for each in stair.tolist()]
    return pa.table({"stair": [f"stair {each}" for each in stair], "x": cells})


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("name", SPELLINGS_OF_AMOUNTS)
def test_amounts_are_read_however_they_are_written(name):
    write = SPELLINGS_OF_AMOUNTS[name]

    def usual(rng):
        return write(float(np.exp(rng.normal(8, 1))))

    for odd, at_risk in ((lambda rng: write(9000 + rng.uniform(0, 40)), 40), (usual, 0)):
        table = _with_an_odd_class(odd, usual)
        found = sf.verify(table, quasi_identifiers=["stair"], sensitive=["x"])
        assert found.at_risk == at_risk


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("name", SPELLINGS_OF_DAYS)
def test_days_are_read_however_they_are_written(name):
    def day(first, days):
        return lambda rng: (first + timedelta(int(rng.integers(days)))).strftime(
            SPELLINGS_OF_DAYS[name]
        )

    usual, odd = day(date(2010, 1, 1), 3650), day(date(2021, 3, 1), 25)
    for some, at_risk in ((odd, 40), (usual, 0)):
        table = _with_an_odd_class(some, usual)
        found = sf.verify(table, quasi_identifiers=["stair"], sensitive=["x"])
        assert found.at_risk == at_risk
