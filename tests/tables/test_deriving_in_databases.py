"""Derived columns in databases are those of the same rows in memory."""

import random
from datetime import date, datetime, timedelta

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.derivations import Age, Preparation, Relative, Shift
from sfumato.derivations.dates import DateForm
from sfumato.errors import InputError
from sfumato.tables import open_table
from tests.tables import databases

pytestmark = databases.LEAVES_SOCKETS_OPEN


def people(n: int = 60, seed: int = 3) -> pa.Table:
    draw = random.Random(seed)

    def day(first: int, last: int) -> date | None:
        if draw.random() < 0.1:
            return None
        return date(first, 1, 1) + timedelta(days=draw.randrange(365 * (last - first)))

    born = [day(1930, 2004) for _ in range(n)]
    born[:3] = [date(2004, 2, 29), date(2000, 2, 29), date(1999, 12, 31)]
    seen = [day(2019, 2022) for _ in range(n)]
    seen[:3] = [date(2021, 2, 28), date(2020, 2, 29), date(2020, 1, 31)]
    german = [None if d is None else f"{d.day}.{d.month:02}.{d.year}" for d in seen]
    return pa.table(
        {
            "id": pa.array([draw.randrange(12) for _ in range(n)], pa.int64()),
            "name": [draw.choice(["Ann", "Böb", "Cy's"]) for _ in range(n)],
            "born": pa.array(born, pa.date32()),
            "seen": pa.array(seen, pa.date32()),
            "text": pa.array(german, pa.string()),
            "time": pa.array(
                [None if d is None else datetime(d.year, d.month, d.day, 23, 59) for d in seen],
                pa.timestamp("us"),
            ),
            "ill": [draw.choice(["flu", "gout"]) for _ in range(n)],
        }
    )


STEPS = (
    Age("born", "age", "seen"),
    Age("born", "old", "2022-12-31"),
    Relative("text", "days", since="born"),
    Relative("born", "weeks", since="time", unit="weeks"),
    Relative("seen", "months", since="born", unit="months"),
    Relative("seen", "visit", first="text", person="id"),
    Shift(["seen", "text"], 182, 7, person="name"),
    Relative("seen", "later", since="born"),
)
MADE = ("age", "old", "days", "weeks", "months", "visit", "later")


@pytest.mark.usefixtures("patience")
def test_a_database_derives_what_is_derived_in_memory(database):
    table = people()
    preparation = Preparation({"text": DateForm()}, steps=STEPS, secret=b"a secret")
    here = open_table(table).prepare(preparation)
    there = open_table(database.stored(table, "people")).prepare(preparation)
    assert there.columns == here.columns
    for columns in (MADE, ("id", "seen", "text"), ("name", "text", "later"), ("born", "days")):
        one, other = here.count(columns), there.count(columns)
        assert [c.values for c in one.columns] == [c.values for c in other.columns]
        assert one.codes.tolist() == other.codes.tolist()
        assert one.rows.tolist() == other.rows.tolist()


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("form", ["%d.%m.%Y", "%m/%d/%Y", "%Y%m%d", "%Y/%m/%d", "%Y-%m-%d"])
def test_texts_in_any_order_are_one_release(duck, form):
    days = [None if d is None else d.strftime(form) for d in people(300)["born"].to_pylist()]
    texts = people(300).set_column(2, "born", pa.array(days, pa.string())).select(["born", "ill"])
    policy = sf.Policy(
        columns={
            "born": {"role": "quasi-identifier", "hierarchy": {"kind": "dates"}},
            "ill": "sensitive",
        },
        models=[{"model": "k-anonymity", "k": 3}],
        suppression="5%",
    )
    sf.anonymize(duck.stored(texts, "people"), policy, output="table:released")
    there = sorted(duck.read("released").to_pylist(), key=str)
    here = sf.anonymize(texts, policy).table
    assert there == sorted(here.to_pylist(), key=str)
    plain = people(300).select(["born", "ill"])
    assert sorted(sf.anonymize(plain, policy).table.to_pylist(), key=str) == there


@pytest.mark.usefixtures("patience")
def test_a_release_of_a_database_has_derived_columns(quick_database):
    policy = {
        "columns": {"id": "identifier", "age": "quasi-identifier", "ill": "sensitive",
                    "seen": "plain"},
        "other": "dropped",
        "person": {"rows": "visits are meant"},
        "derive": [
            {"kind": "age", "of": "born", "at": "seen", "into": "age"},
            {"kind": "shift", "columns": ["seen"], "days": 30, "person": "id"},
        ],
        "models": [{"model": "k-anonymity", "k": 2}],
    }  # fmt: skip
    release = sf.anonymize(
        quick_database.stored(people(), "people"), policy, output="table:released"
    )
    assert release.verdict.holds
    released = quick_database.read("released")
    assert {*released.column_names} == {"age", "ill", "seen"}
    true = {*people()["seen"].drop_null().to_pylist()}
    moved = released["seen"].drop_null().to_pylist()
    assert len(moved) == len(people()["seen"].drop_null())
    assert sum(day in true for day in moved) < len(moved) / 2


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    ("table", "step", "text"),
    [
        ({"born": ["1937", "13.1.1950"]}, Age("born", "age", "2020-01-01"),
         "known only in part, in 1 row"),
        ({"born": ["13.1.2021", "13.1.1950"]}, Age("born", "age", "2020-01-01"),
         "dates after 2020-01-01 in 1 row"),
        ({"born": ["13.1.2021", "soon"]}, Age("born", "age", "2020-01-01"), "in 1 row: 'soon'"),
        ({"born": ["13 Jan 2019", "13.1.1950"]}, Age("born", "age", "2020-01-01"),
         "not read in a database, such as '13 Jan 2019'"),
        ({"born": ["13.1.2021", "13.1.1950"], "id": ["a", None]}, Shift(["born"], 9, person="id"),
         "whose the dates are in 1 row"),
        ({"born": ["13.1.2021"], "age": ["a"]}, Age("born", "age", "2022-01-01"), "'age' already"),
        ({"born": ["13.1.2021"]}, Age("died", "age", "2022-01-01"), "no column 'died'"),
        ({"born": [True]}, Age("born", "age", "2022-01-01"), "dates were expected"),
    ],
)  # fmt: skip
def test_bad_values_are_named_with_their_rows(duck, table, step, text):
    forms = {name: DateForm() for name in step.dates if name in table}
    opened = open_table(duck.stored(pa.table(table), "people"))
    with pytest.raises(InputError, match=text):
        opened.prepare(Preparation(forms, steps=(step,), secret=b"secret"))


def test_times_are_not_moved_in_a_database(duck):
    opened = open_table(duck.stored(people(), "people"))
    with pytest.raises(InputError, match="columns of times, as 'time' is, are not moved"):
        opened.prepare(Preparation(steps=(Shift(["time"], 9, person="id"),), secret=b"x"))
