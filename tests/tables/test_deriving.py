"""Derived columns, held against loops over rows with Python's own dates."""

import hashlib
import hmac
import random
from collections import defaultdict
from datetime import date, datetime, timedelta

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.derivations import Age, Preparation, Relative, Shift
from sfumato.derivations.dates import DateForm
from sfumato.errors import InputError, ParameterError, PolicyError
from sfumato.releases.preparing import open_prepared
from sfumato.tables import open_table

DAYS = st.dates(date(1900, 1, 1), date(2100, 12, 31)) | st.sampled_from(
    [date(2004, 2, 29), date(2021, 2, 28), date(2021, 3, 1), date(2020, 2, 29), date(2020, 1, 31)]
)
ROWS = st.lists(
    st.tuples(st.sampled_from("abc"), st.none() | DAYS, st.none() | DAYS), min_size=1, max_size=12
)
FORMS = {
    "dates": lambda day: day,
    "times": lambda day: datetime(day.year, day.month, day.day, 23, 59),
    "german": lambda day: f"{day.day}.{day.month}.{day.year}",
    "named": lambda day: f"{day.day} {day:%b} {day.year} 10:15",
}


def table_of(rows, form, one="one", other="two"):
    write = FORMS[form]
    columns = {
        "id": [row[0] for row in rows],
        one: [None if row[1] is None else write(row[1]) for row in rows],
        other: [None if row[2] is None else write(row[2]) for row in rows],
    }
    kinds = {"dates": pa.date32(), "times": pa.timestamp("us")}
    kind = kinds.get(form, pa.string())
    return pa.table(
        {n: pa.array(v, pa.string() if n == "id" else kind) for n, v in columns.items()}
    )


def prepared(table, *steps, secret=b"secret"):
    # The order is said: few random values do not always tell it.
    forms = {name: DateForm("day-first") for step in steps for name in step.dates}
    return open_table(table).prepare(Preparation(forms, steps=steps, secret=secret))


def read(table, *names):
    columns, codes = table.read(names)
    return [[column.values[c] for c in code] for column, code in zip(columns, codes, strict=True)]


@given(ROWS, st.sampled_from([*FORMS]), st.sampled_from(["days", "weeks", "months"]))
def test_relative_dates_are_what_a_loop_finds(rows, form, unit):
    step = Relative(of="two", since="one", into="n", unit=unit)
    [found] = read(prepared(table_of(rows, form), step), "n")
    expected = []
    for _, one, two in rows:
        if one is None or two is None:
            expected.append(None)
        elif unit == "months":
            n = 12 * (two.year - one.year) + two.month - one.month
            expected.append(n - 1 if two.day < one.day else n)
        else:
            expected.append((two - one) // timedelta(days=7 if unit == "weeks" else 1))
    assert found == expected


@given(ROWS, st.sampled_from([*FORMS]))
def test_time_since_a_persons_first_date_is_what_a_loop_finds(rows, form):
    step = Relative(of="two", first="one", person="id", into="n")
    [found] = read(prepared(table_of(rows, form), step), "n")
    first = defaultdict(lambda: date.max)
    for person, one, _ in rows:
        if one is not None:
            first[person] = min(first[person], one)
    assert found == [
        None if two is None or person not in first else (two - first[person]).days
        for person, _, two in rows
    ]


def birthdays(born, day):
    """Count the birthdays of a person one by one, on 1 March where there is no 29 February."""
    n = 0
    while True:
        year = born.year + n + 1
        try:
            birthday = born.replace(year=year)
        except ValueError:
            birthday = date(year, 3, 1)
        if birthday > day:
            return n
        n += 1


@given(ROWS, st.sampled_from([*FORMS]), st.booleans())
def test_ages_are_what_counting_birthdays_gives(rows, form, fixed):
    rows = [(p, *sorted([a, b])) if a and b else (p, a, b) for p, a, b in rows]
    step = Age(of="one", at="2101-01-01" if fixed else "two", into="age")
    [found] = read(prepared(table_of(rows, form), step), "age")
    at = [date(2101, 1, 1) if fixed else two for _, _, two in rows]
    assert found == [
        None if one is None or day is None else birthdays(one, day)
        for (_, one, _), day in zip(rows, at, strict=True)
    ]


def drawn_number(person):
    """Hash a person's identifier twice under two keys that each fill a block, as HMAC does."""
    inner, outer = (
        hmac.new(b"secret", name, "sha256").hexdigest().encode() for name in (b"inner", b"outer")
    )
    hashed = hashlib.sha256(inner + person.encode()).hexdigest().encode()
    return int(hashlib.sha256(outer + hashed).hexdigest()[:15], 16)


@given(ROWS, st.sampled_from([*FORMS]), st.sampled_from([(180, 1), (14, 7), (1, 1)]))
def test_shifted_dates_keep_order_distances_and_times_within_a_person(rows, form, size):
    days, multiple = size
    step = Shift(columns=["one", "two"], days=days, multiple=multiple, person="id")
    found = read(prepared(table_of(rows, form), step), "id", "one", "two")
    for (person, *before), *after in zip(rows, *found, strict=True):
        assert after[0] == person
        drawn = drawn_number(person)
        steps = days // multiple
        offset = timedelta(days=multiple * (drawn % (2 * steps + 1) - steps))
        assert abs(offset.days) <= days
        for was, now in zip(before, after[1:], strict=True):
            if was is None:
                assert now is None
            elif form == "german":
                assert now == (was + offset).isoformat()
            elif form == "named":
                assert now == f"{(was + offset).isoformat()} 10:15:00"
            else:
                assert now == FORMS[form](was + offset)


def test_offsets_are_spread_evenly_and_differ_by_secret():
    step = Shift(columns=["seen"], days=10)
    one, two = step.keys(b"one"), step.keys(b"two")
    offsets = [step.offset(one, str(person)) for person in range(21_000)]
    times = [offsets.count(n) for n in range(-10, 11)]
    assert sum(times) == 21_000
    assert all(800 < n < 1200 for n in times)
    assert offsets[:50] != [step.offset(two, str(person)) for person in range(50)]


def people():
    return pa.table(
        {
            "id": ["a", "a", "b", "c", "d", "d"],
            "born": ["29.02.2004", "29.02.2004", "01.05.1937", "13.12.1950", None, None],
            "seen": ["28.02.2021", "01.03.2021", "13.01.2020", "05.06.2020", "07.07.2021", None],
            "ill": ["flu", "gout", "flu", "flu", "gout", "flu"],
        }
    )


POLICY = {
    "columns": {
        "id": "identifier", "born": "dropped", "seen": "plain", "age": "quasi-identifier",
        "day": "sensitive", "ill": "sensitive",
    },
    "person": {"rows": "visits are meant"},
    "derive": [
        {"kind": "age", "of": "born", "at": "seen", "into": "age"},
        {"kind": "relative", "of": "seen", "first": "seen", "person": "id", "into": "day"},
        {"kind": "shift", "columns": ["seen"], "days": 180, "person": "id"},
    ],
    "models": [{"model": "k-anonymity", "k": 1 + 1}],
    "suppression": 1.0,
}  # fmt: skip


def sources(tmp_path):
    table = people()
    table.to_pandas().to_csv(tmp_path / "people.csv", index=False)
    pq.write_table(table, tmp_path / "people.parquet")
    yield tmp_path / "people.csv"
    yield tmp_path / "people.parquet"
    yield table
    yield table.to_pandas()
    yield pl.from_arrow(table)
    yield pl.from_arrow(table).lazy()


def test_every_source_gives_the_same_derived_columns(tmp_path):
    policy = sf.Policy(**POLICY)
    for source in sources(tmp_path):
        table = open_prepared(source, policy)
        assert table.columns == ("id", "born", "seen", "ill", "age", "day")
        age, day = read(table, "age", "day")
        assert age == [16, 17, 82, 69, None, None]
        assert day == [0, 1, 0, 0, 0, None]
        # However often it is read, dates are moved by the same number.
        assert read(table, "seen") == read(table, "seen")


def test_a_release_has_what_was_derived_and_says_so():
    policy = sf.Policy(**POLICY)
    release = sf.anonymize(people().to_pandas(), policy)
    assert isinstance(release.table, pd.DataFrame)
    assert {*release.table.columns} == {"seen", "age", "day", "ill"}
    assert "'age' is the age in whole years by born on seen" in release.manifest.notes
    assert any("moved by a secret number of days" in note for note in release.manifest.notes)
    assert sf.Policy.from_yaml(policy.to_yaml()) == policy


def test_the_key_of_a_shift_is_private_and_lasts(tmp_path):
    shift = {"kind": "shift", "columns": ["seen"], "days": 180, "person": "id", "key": "my.key"}
    settings = {**POLICY, "derive": [*POLICY["derive"][:2], shift]}
    (tmp_path / "policy.yaml").write_text(sf.Policy(**settings).to_yaml())
    policy = sf.Policy.load(tmp_path / "policy.yaml")
    once = read(open_prepared(people(), policy), "seen")
    key = tmp_path / "my.key"
    assert key.stat().st_mode & 0o077 == 0
    assert read(open_prepared(people(), policy), "seen") == once
    text = key.read_text()
    key.write_text("something else")
    with pytest.raises(InputError, match="is not the key of a shift"):
        open_prepared(people(), policy)
    key.unlink()
    assert read(open_prepared(people(), policy), "seen") != once
    assert key.read_text() != text
    inside = policy.replace(
        derive=[*policy.derive[:2], Shift(["seen"], 9, person="id", key=tmp_path / "out" / "k")]
    )
    with pytest.raises(sf.SfumatoError, match="is private"):
        sf.anonymize(people(), inside, output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_without_a_key_no_two_releases_are_moved_alike():
    policy = sf.Policy(**POLICY)
    seen = {tuple(map(str, read(open_prepared(people(), policy), "seen")[0])) for _ in range(5)}
    assert len(seen) > 1


@pytest.mark.parametrize(
    ("table", "step", "text"),
    [
        ({"born": ["1937", "1.1.1950"], "seen": ["13.1.2020"] * 2}, Age("born", "age", "seen"),
         r"'born' has dates that are known only in part, in 1 row, and age needs whole ones"),
        ({"born": ["13.1.2021"] * 3, "seen": ["13.1.2020"] * 3}, Age("born", "age", "seen"),
         r"'born' has dates after seen in 3 rows"),
        ({"seen": ["13.1.2020"] * 2, "id": ["a", None]}, Shift(["seen"], 9, person="id"),
         r"'id' does not say whose the dates are in 1 row"),
        ({"seen": ["13.1.2020"] * 2, "id": ["a", None]},
         Relative("seen", "day", first="seen", person="id"), r"whose the dates are in 1 row"),
        ({"seen": ["soon"] * 2}, Age("seen", "age", "2020-01-01"), r"in 2 rows: 'soon'"),
        ({"seen": ["13.1.2020"]}, Age("seen", "seen", "2020-12-31"),
         r"has a column 'seen' already"),
        ({"seen": ["13.1.2020"]}, Age("born", "age", "2020-12-31"), r"no column 'born', which age"),
        ({"seen": [True]}, Age("seen", "age", "2020-12-31"),
         r"holds bool, and dates were expected"),
        ({"seen": ["31.12.9999", "01.01.0001"], "id": ["f", "f"]},
         Shift(["seen"], 9000, person="id"), r"beyond the years 1 to 9999, in 1 row"),
    ],
)  # fmt: skip
def test_bad_values_are_named_with_their_rows(table, step, text):
    forms = {name: DateForm("day-first") for name in step.dates if name in table}
    with pytest.raises(InputError, match=text):
        read(
            open_table(pa.table(table)).prepare(Preparation(forms, steps=(step,), secret=b"0")),
            *(step.made or step.dates),
        )


def test_incomplete_dates_can_be_made_missing():
    table = pa.table({"born": ["1937", "01.05.1950"], "id": ["a", "b"]})
    age = Age("born", "age", "2020-12-31", incomplete="missing")
    assert read(prepared(table, age), "age") == [[None, 70]]
    shift = Shift(["born"], 9, person="id", incomplete="missing")
    assert read(prepared(table, shift), "born")[0][0] is None


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (
            {"kind": "shift", "columns": ["seen"], "days": 9},
            "must know which rows are one person's",
        ),
        (
            {"kind": "shift", "columns": ["seen"], "days": 3, "multiple": 7, "person": "id"},
            "days must",
        ),
        ({"kind": "shift", "columns": [], "days": 3, "person": "id"}, "columns must be names"),
        ({"kind": "relative", "of": "seen", "into": "n"}, "since must be given, or first"),
        ({"kind": "relative", "of": "seen", "into": "n", "since": "a", "unit": "years"}, "unit"),
        ({"kind": "age", "of": "born", "at": "2020-02-30", "into": "age"}, "a day that exists"),
        ({"kind": "ages", "of": "born"}, "Did you mean 'age'"),
        ({"kind": "age", "of": "born", "at": "x"}, "age needs 'into'"),
        ("age", "age needs"),
    ],
)
def test_a_policy_refuses_what_cannot_be_derived(settings, text):
    with pytest.raises((PolicyError, ParameterError), match=text):
        sf.Policy(**{**POLICY, "derive": [settings]})


def test_a_policy_moves_dates_once_and_makes_a_column_once():
    age, _, shift = POLICY["derive"]
    with pytest.raises(PolicyError, match="dates are moved once"):
        sf.Policy(**{**POLICY, "derive": [shift, shift]})
    with pytest.raises(PolicyError, match="'age' is made twice"):
        sf.Policy(**{**POLICY, "derive": [age, age]})


def test_derived_columns_must_have_roles():
    columns = {n: rule for n, rule in POLICY["columns"].items() if n != "day"}
    with pytest.raises(PolicyError, match="columns that the policy does not name: 'day'"):
        sf.anonymize(people(), {**POLICY, "columns": columns})


@pytest.mark.usefixtures("patience")
def test_the_original_is_derived_like_the_release_and_a_forgotten_secret_is_said(tmp_path):
    settings = {**POLICY, "columns": {**POLICY["columns"], "seen": "dropped"}}
    policy = sf.Policy(**settings)
    release = sf.anonymize(people(), policy)
    # Only what was not moved is asked for.
    assert sf.verify(release, data=people(), policy=policy).to_dict()
    assert sf.utility(people(), release, policy=policy, seed=1)
    assert sf.inspect(people(), policy=policy)
    moved = {**settings, "columns": {**settings["columns"], "seen": "quasi-identifier"}}
    with pytest.raises(InputError, match="a secret that was forgotten"):
        sf.verify(sf.anonymize(people(), moved), data=people(), policy=sf.Policy(**moved))


def test_policies_that_derive_differently_are_not_compared():
    one = sf.Policy(**POLICY)
    other = one.replace(
        derive=one.derive[1:],
        columns={n: rule for n, rule in one.columns.items() if n != "age"}
        | {"ill": "quasi-identifier"},
    )
    with pytest.raises(sf.SfumatoError, match="derive different columns"):
        sf.compare(people(), {"one": one, "other": other})


def test_the_offsets_of_two_people_tell_nothing_of_each_other():
    """An adversary who knows the number of one person guesses that of another as before."""
    step = Shift(columns=["seen"], days=1)
    pairs = [
        tuple(step.offset(keys, person) for person in ("ann", "bob"))
        for keys in (step.keys(str(secret).encode()) for secret in range(4500))
    ]
    times = [pairs.count((one, other)) for one in (-1, 0, 1) for other in (-1, 0, 1)]
    assert sum(times) == 4500
    assert all(400 < n < 600 for n in times)


def visits(form, first, n=120):
    draw = random.Random(first)
    rows = []
    for i in range(n):
        born = date(1930, 1, 1) + timedelta(days=draw.randrange(20_000))
        seen = date(2020, 1, 1) + timedelta(days=draw.randrange(700))
        rows.append((first + i, born.strftime(form), seen.strftime(form), draw.choice("abcde")))
    return pd.DataFrame(rows, columns=["id", "born", "seen", "ill"])


@pytest.mark.usefixtures("patience")
def test_a_ledger_derives_from_every_increment_and_wants_a_secret_that_lasts(tmp_path):
    ages = {"kind": "intervals", "widths": [10, 20, 40]}
    settings = {
        "columns": {
            "id": "identifier", "born": "dropped", "seen": "dropped", "ill": "sensitive",
            "age": {"role": "quasi-identifier", "hierarchy": ages},
        },
        "derive": [{"kind": "age", "of": "born", "at": "seen", "into": "age"}],
        "models": [{"model": "k-anonymity", "k": 5}],
        "suppression": "20%",
    }  # fmt: skip
    first = visits("%d.%m.%Y", 0)
    policy = sf.Policy(**settings)
    release = sf.decouple(sf.anonymize(first, policy), "break-merge")
    ledger = sf.Ledger.start(release, tmp_path / "l", policy=policy, source=first, alpha=0.9)
    assert "rows admitted" in ledger.publish(visits("%m/%d/%Y", 1000)).headline
    shift = {"kind": "shift", "columns": ["seen"], "days": 9, "person": "id"}
    moved = sf.Policy(**{**settings, "derive": [*settings["derive"], shift]})
    other = sf.Ledger.start(release, tmp_path / "m", policy=moved, source=first, alpha=0.9)
    with pytest.raises(InputError, match=r"add key: shift\.key"):
        other.publish(visits("%d.%m.%Y", 2000))
    lasting = {**shift, "key": str(tmp_path / "shift.key")}
    moved = sf.Policy(**{**settings, "derive": [*settings["derive"], lasting]})
    other = sf.Ledger.start(release, tmp_path / "n", policy=moved, source=first, alpha=0.9)
    assert "rows admitted" in other.publish(visits("%d.%m.%Y", 2000)).headline
