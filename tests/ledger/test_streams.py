"""Increments from a source that grows: nothing twice, nothing silently left out."""

import datetime as dt
import json
import os
import random
import shutil
import signal
import sqlite3
import time
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import sfumato as sf
from sfumato.errors import InputError, OutputError, ParameterError, UnknownColumnError
from sfumato.ledger import chain
from sfumato.ledger.publishing import increments, streams
from sfumato.ledger.streams import FORMS, Period, read_zone
from tests.ledger.releases import START, grouped_of, table_of

NAMES = ("age", "ill", "pay")
PEOPLE = [
    (age, ill, pay)
    for pay in ("low", "high")
    for age in ("20s", "30s")
    for ill in ("flu", "gout", "hiv", "cold")
]


def people(times, *, column="seen", kind=None):
    """A table with a row for each time, with whatever people."""
    rows = [PEOPLE[i % len(PEOPLE)] for i in range(len(times))]
    columns = {name: [row[i] for row in rows] for i, name in enumerate(NAMES)}
    return pa.table({**columns, column: pa.array(times, kind)})


def days(*numbers, month=3):
    return [dt.date(2026, month, number) for number in numbers]


@pytest.fixture
def ledger(tmp_path):
    return sf.Ledger.start(grouped_of(START), tmp_path / "x.ledger", alpha=0.5, k=2)


def taken(ledger):
    """Which windows the ledger took, and how many rows of each."""
    found = [entry["taken"] for entry in ledger.history if "taken" in entry]
    return [(each["window"], each["rows"]) for each in found]


def test_the_first_time_needs_to_know_what_is_new(ledger):
    with pytest.raises(InputError, match=r"cannot know which .* --start beginning if all are"):
        ledger.publish_since(people(days(1, 2)), "seen")
    assert len(ledger.history) == 1


def test_everything_before_the_last_value_is_one_increment(ledger, tmp_path):
    table = people(days(1, 1, 2, 2, 3, 5, 5))
    done = ledger.publish_since(table, "seen", start="2026-03-02", output=tmp_path / "out")
    assert [(each.window, each.rows) for each in done.increments] == [("2026-03-03", 3)]
    assert done.rows == 3
    assert "Left: 2 rows with the last day, 2026-03-05. Others with the same may" in str(done)
    before = ledger.path.read_bytes()
    again = ledger.publish_since(table, "seen", output=tmp_path / "out")
    assert again.headline == "nothing new by 'seen': nothing was changed"
    assert (again.head, again.increments) == ("", ())
    assert ledger.path.read_bytes() == before
    more = people(days(1, 1, 2, 2, 3, 5, 5, 5, 9))
    assert ledger.publish_since(more, "seen").rows == 3
    assert ledger.publish_since(more, "seen", until="2026-03-10").rows == 1
    assert taken(ledger) == [("2026-03-03", 3), ("2026-03-05", 3), ("2026-03-09", 1)]
    assert ledger.verify() == []


def test_a_window_is_taken_when_it_is_over(ledger, tmp_path):
    table = people([*days(3, 30) * 8, *days(1, 2, month=4), *days(1, month=6)])
    run = {"start": "beginning", "every": "month", "output": tmp_path / "out"}
    done = ledger.publish_since(table, "seen", **run)
    assert taken(ledger) == [("2026-03", 16), ("2026-04", 2)]
    [left] = done.notes
    assert left.startswith("Left: 1 row from 2026-06 on. A window is over when a later row is th")
    assert left.endswith("or with --until 2026-07-01")
    assert ledger.publish_since(table, "seen", **run, until="2026-06-30").rows == 0
    assert ledger.publish_since(table, "seen", **run, until="2026-07-01").rows == 1
    # The two of April wait in the ledger: there is nothing to write yet.
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["2026-03"]


@pytest.mark.parametrize(
    ("times", "kind", "start"),
    [
        ([dt.datetime(2026, 3, 1, 10), dt.datetime(2026, 3, 9), dt.datetime(2026, 3, 10)], None,
         dt.date(2026, 3, 1)),
        ([1_000_000_001, 1_000_000_002, 1_000_000_003], pa.timestamp("ns"), "beginning"),
        ([7, 9, 10], None, 7),
        ([0.1, 0.2, 0.3], None, "0.05"),
        (["7", "9", "10"], None, "7"),
        (["2026-03-01", "2026-03-01 10:15", "2026-03-02"], None, "2026-03-01"),
        (["2026-03-01T00:00:00", "2026-03-01T10:15:00.5", "2026-03-02T00:00:00"], None,
         "2026-03-01"),
        (["2026-03-01T00:00:00Z", "2026-03-01T10:15:00Z", "2026-03-02T00:00:00Z"], None,
         "2026-03-01"),
    ],
)  # fmt: skip
def test_columns_of_every_kind(ledger, times, kind, start):
    table = people(times, kind=kind)
    assert ledger.publish_since(table, "seen", start=start).rows == 2
    assert ledger.publish_since(table, "seen").rows == 0
    assert ledger.publish_since(people([*times, times[-1]], kind=kind), "seen").rows == 0


def test_windows_of_numbers(ledger):
    table = people([3, 999, 1000, 2500, 5000])
    assert ledger.publish_since(table, "seen", start=0, every=1000).rows == 4
    assert taken(ledger) == [("0-999", 2), ("1000-1999", 1), ("2000-2999", 1)]


def test_days_begin_at_midnight_of_the_zone(ledger):
    """In Rome it is an hour later than in UTC, and from the 29th of March on two."""
    times = [
        dt.datetime(2026, 3, 27, 22, 59),
        dt.datetime(2026, 3, 27, 23),
        dt.datetime(2026, 3, 29, 21, 59),
        dt.datetime(2026, 3, 29, 22),
        dt.datetime(2026, 4, 2),
    ]
    table = people([t.replace(tzinfo=dt.UTC) for t in times], kind=pa.timestamp("us", "UTC"))
    ledger.publish_since(table, "seen", start="beginning", every="day", zone="Europe/Rome")
    assert taken(ledger) == [
        ("2026-03-27", 1), ("2026-03-28", 1), ("2026-03-29", 1), ("2026-03-30", 1)
    ]  # fmt: skip


def test_what_has_no_time_is_told_and_not_taken(ledger, tmp_path):
    file = tmp_path / "visits.csv"
    file.write_text(
        "age,ill,pay,seen\n20s,flu,low,2026-03-01\n20s,gout,high,03/02/2026\n20s,hiv,low,\n"
        "20s,cold,high,2026-03-04\n"
    )
    done = ledger.publish_since(file, "seen", start="beginning")
    assert done.rows == 1
    assert done.notes[0].startswith(
        "No time: 2 rows in which 'seen' is missing or cannot be read, such as '03/02/2026'. They"
    )
    with pytest.raises(InputError, match=r"texts that cannot be ordered, such as '1/2/26'"):
        ledger.publish_since(people(["1/2/26"]), "seen", start="beginning", stream="other")


def test_what_comes_late_is_told_and_not_taken(ledger):
    ledger.publish_since(people(days(1, 2, 3, 5)), "seen", start="2026-03-02")
    late = ledger.publish_since(people(days(1, 1, 2, 2, 3, 3, 3, 5)), "seen")
    assert late.rows == 0
    assert late.notes[0].startswith("Late: 3 rows up to 2026-03-03, which was taken without")
    gone = ledger.publish_since(people(days(2, 5, 7)), "seen")
    assert gone.rows == 1
    assert gone.notes[0].startswith("Gone: 1 row up to 2026-03-03, which were taken and")


@pytest.fixture
def registry(tmp_path):
    """A ledger that recognises people."""
    columns = {"who": "identifier", "age": "quasi-identifier", "ill": "sensitive",
               "pay": "sensitive"}  # fmt: skip
    policy = sf.Policy(columns=columns, models=[sf.models.KAnonymity(2)])
    return sf.Ledger.start(
        grouped_of(START),
        tmp_path / "p.ledger",
        alpha=0.5,
        policy=policy,
        source=named(table_of(START), 1000),
    )


def named(table, first=0):
    return table.append_column("who", pa.array([f"P{first + i}" for i in range(len(table))]))


@pytest.mark.usefixtures("patience")
def test_what_comes_late_is_taken_if_people_are_known(registry):
    table = named(people(days(*[1] * 16, 2, 2, 9)))
    registry.publish_since(table, "seen", start="beginning", every="day")
    late = named(people(days(*[1] * 16, month=3)), 100)
    more = pa.concat_tables([table, late])
    assert registry.publish_since(more, "seen", every="day").notes[0].startswith("Late: 16 rows be")
    done = registry.publish_since(more, "seen", every="day", late=True)
    assert [(each.window, each.rows) for each in done.increments] == [("late-1", 16)]
    assert done.publications[0].admitted == 16
    assert registry.publish_since(more, "seen", every="day", late=True).headline.startswith("noth")
    # One of them again, and one who is new.
    again = pa.concat_tables([more, more.slice(20, 1), named(people(days(2)), 200)])
    done = registry.publish_since(again, "seen", every="day", late=True)
    assert [(each.window, each.rows) for each in done.increments] == [("late-2", 1)]
    assert not [note for note in done.notes if note.startswith("Late")]
    only = pa.concat_tables([again, more.slice(21, 1)])
    done = registry.publish_since(only, "seen", every="day", late=True)
    assert done.increments == ()
    assert done.notes[0] == "Late: rows of people whom the ledger has. They are not taken again"
    assert registry.verify() == []


def test_what_comes_late_cannot_be_taken_where_nobody_is_named(ledger):
    ledger.publish_since(people(days(1, 2, 3)), "seen", start="beginning")
    with pytest.raises(InputError, match="late rows can be recognised only where every row"):
        ledger.publish_since(people(days(1, 1, 2, 3)), "seen", late=True)
    assert taken(ledger) == [("2026-03-02", 2)]


def test_the_future_is_not_taken_and_ends_no_window(ledger):
    table = people([*days(1, 2), dt.date(2099, 1, 1), dt.date(2100, 1, 1)])
    done = ledger.publish_since(table, "seen", start="beginning")
    assert taken(ledger) == [("2026-03-01", 1)]
    assert done.notes[0].startswith("In the future: 2 rows, up to 2100-01-01.")
    assert ledger.publish_since(table, "seen", until="2100-06-01").rows == 1
    assert ledger.publish_since(people(days(1, 2, 3, 4)), "seen").rows == 1


def test_a_stream_goes_on_as_it_began(ledger):
    ledger.publish_since(people(days(1, 2)), "seen", start="2026-03-01")
    assert ledger.publish_since(people(days(1, 2)), "seen", start="2026-03-01").rows == 0
    with pytest.raises(InputError, match="started at '2026-03-01' and was taken from there on"):
        ledger.publish_since(people(days(1, 2)), "seen", start="2026-02-01")
    with pytest.raises(InputError, match="taken by 'seen', not by 'number'"):
        ledger.publish_since(people([1, 2], column="number"), "number")
    with pytest.raises(InputError, match="had days, and now it has texts"):
        ledger.publish_since(people(["2026-03-01", "2026-03-02"]), "seen")
    other = ledger.publish_since(
        people([1, 2], column="number"), "number", start=0, stream="numbers"
    )
    assert other.rows == 1


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"since": "sen", "start": 1}, UnknownColumnError, "sen"),
        ({"since": "ill", "start": 1}, InputError, "texts that cannot be ordered"),
        ({"every": "fortnight"}, ParameterError, "every must be day, week, month, quarter, year"),
        ({"every": 100}, ParameterError, "every must be one of day, .* the column has days"),
        ({"zone": "Europe/Rome"}, ParameterError, "zone must be left out.* have no zone"),
        ({"zone": "Mars/Base"}, ParameterError, "zone must be a time zone such as Europe/Rome"),
        ({"start": "yesterday"}, ParameterError, "start must be a day or time such as 2026-11-01"),
        ({"until": "2026-03-01 10:00"}, ParameterError, "until must be a day such as"),
        ({"output": "table:one"}, ParameterError, "output must be a folder, or a name with {win"),
        ({"output": "out/{name}"}, ParameterError, "output must be a folder, or a name with {win"),
    ],
)
def test_mistakes_are_said(ledger, given, error, said):
    asked = {"since": "seen", "start": "beginning", **given}
    with pytest.raises(error, match=said):
        ledger.publish_since(people(days(1, 2)), asked.pop("since"), **asked)
    assert len(ledger.history) == 1


def test_a_dry_run_lists_all_windows_and_decides_on_the_first(ledger, tmp_path):
    before = ledger.path.read_bytes()
    table = people(days(1, 2, 2, 9))
    done = ledger.publish_since(
        table, "seen", start="beginning", every="day", output=tmp_path / "out", dry_run=True
    )
    assert [(each.window, each.rows) for each in done.increments] == [
        ("2026-03-01", 1),
        ("2026-03-02", 2),
    ]
    assert [each.publication is None for each in done.increments] == [False, True]
    assert done.headline == "3 new rows would make 2 increments"
    json.dumps(done.to_dict())
    assert ledger.path.read_bytes() == before
    assert not (tmp_path / "out").exists()


def test_places_are_named_after_windows(ledger, tmp_path):
    table = people([dt.datetime(2026, 3, 1, 10, 15), *[dt.datetime(2026, 3, 2, 8)] * 16,
                    dt.datetime(2026, 3, 4)])  # fmt: skip
    done = ledger.publish_since(
        table, "seen", start="beginning", output=f"{tmp_path}/visits-{{window}}-v1"
    )
    [only] = done.publications
    assert only.folder == tmp_path / "visits-2026-03-02-08-00-00-v1"
    assert sf.verify(only.folder).verdict.holds


# Folders.


def write(folder, name, rows, seed=0):
    folder.mkdir(exist_ok=True)
    chosen = [PEOPLE[(i + seed) % len(PEOPLE)] for i in range(rows)]
    text = "".join(",".join(row) + "\n" for row in chosen)
    (folder / name).write_text("age,ill,pay\n" + text)


def test_files_are_taken_once_in_the_order_of_their_names(ledger, tmp_path):
    inbox, run = tmp_path / "inbox", {"every": "file", "output": tmp_path / "out"}
    write(inbox, "2026-02.csv", 3)
    write(inbox, "2026-04.csv", 5, seed=1)
    write(inbox, "2026-03.csv", 4)
    write(inbox, "2026-05.csv", 0)
    (inbox / ".2026-06.csv.part").write_text("half a")
    (inbox / "notes.md").write_text("not a table")
    with pytest.raises(InputError, match="--start beginning"):
        ledger.publish_since(inbox, "files", **run)
    done = ledger.publish_since(inbox, "files", start="2026-03.csv", **run)
    assert taken(ledger) == [("2026-03", 4), ("2026-04", 5)]
    assert done.notes == (
        "No table: 'notes.md', by the names",
        "Empty: '2026-05.csv', not taken as long as there are no rows",
    )
    before = ledger.path.read_bytes()
    assert ledger.publish_since(inbox, "files", **run).rows == 0
    assert ledger.path.read_bytes() == before
    write(inbox, "2026-05.csv", 6, seed=2)
    write(inbox, "2026-03b.csv", 2, seed=5)
    assert ledger.publish_since(inbox, "files", **run).rows == 8
    assert taken(ledger)[2:] == [("2026-03b", 2), ("2026-05", 6)]
    assert ledger.verify() == []


def test_all_new_files_are_one_increment(ledger, tmp_path):
    inbox = tmp_path / "inbox"
    for i, name in enumerate(("a.csv", "b.csv", "c.csv")):
        write(inbox, name, 3 + i, seed=i)
    done = ledger.publish_since(inbox, "files", start="beginning", until="c.csv")
    assert taken(ledger) == [("b", 7)]
    assert done.notes == ("Left: 'c.csv', from c.csv on",)


def test_changes_and_copies_are_told(ledger, tmp_path):
    inbox = tmp_path / "inbox"
    write(inbox, "a.csv", 4)
    write(inbox, "b.csv", 5)
    ledger.publish_since(inbox, "files", start="beginning")
    (inbox / "a.csv").touch()
    write(inbox, "b.csv", 6)
    shutil.copy(inbox / "a.csv", inbox / "c.csv")
    done = ledger.publish_since(inbox, "files")
    assert done.rows == 0
    changed, copied = done.notes
    assert changed.startswith("Changed: 'b.csv', after it was taken")
    assert copied.startswith("Copied: 'c.csv' holds the same as 'a.csv'. It is not taken")


def test_a_folder_is_taken_by_files_and_is_no_release(ledger, tmp_path):
    write(tmp_path / "inbox", "a.csv", 4)
    with pytest.raises(ParameterError, match="since must be 'files'"):
        ledger.publish_since(tmp_path / "inbox", "seen", start="beginning")
    with pytest.raises(ParameterError, match="every must be 'file', or left out"):
        ledger.publish_since(tmp_path / "inbox", "files", start="beginning", every="month")
    (tmp_path / "inbox" / "manifest.json").write_text("{}")
    with pytest.raises(InputError, match="is a release, not a folder"):
        ledger.publish_since(tmp_path / "inbox", "files", start="beginning")


# However a stream is cut and whatever kills a run, the increments are the same.


class Killed(BaseException):
    """What a run is stopped by."""


def given_rows(path):
    """Which rows each increment was given, as fingerprints; equal where the salt is."""
    with sqlite3.connect(path) as db:
        found = db.execute("SELECT sequence, fingerprint FROM given ORDER BY sequence").fetchall()
    db.close()
    return found


def killing(patch, places):
    """Stop the next publishes before their commit, after it, or not at all."""
    append, finish = chain.append, increments.IncrementJob._finish
    left = list(places)

    def stopped_append(db, entry):
        place = left.pop(0) if left else ""
        if place == "before":
            raise Killed
        if place == "after":
            left.insert(0, "renaming")
        return append(db, entry)

    def stopped_finish(job, sequence):
        if left[:1] == ["renaming"]:
            left.pop(0)
            raise Killed
        finish(job, sequence)

    patch.setattr(chain, "append", stopped_append)
    patch.setattr(increments.IncrementJob, "_finish", stopped_finish)


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    path = tmp_path_factory.mktemp("streams") / "x.ledger"
    sf.Ledger.start(grouped_of(START), path, alpha=0.5, k=2)
    return path


@settings(max_examples=8, deadline=None)
@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=40),
    st.lists(st.integers(0, 40), max_size=3),
    st.lists(st.sampled_from(["before", "after", ""]), max_size=4),
    st.booleans(),
)
def test_a_stream_cut_and_killed_anywhere_gives_the_same_increments(
    tmp_path_factory, started, numbers, cuts, kills, in_files
):
    folder = tmp_path_factory.mktemp("cut")
    hours = sorted(8 * n for n in numbers)
    times = [dt.datetime(2026, 3, 1) + dt.timedelta(hours=h) for h in hours]
    table = people(times)
    found = []
    for name, parts, places in (("once", [len(times)], []), ("cut", sorted(cuts), kills)):
        path = Path(shutil.copy(started, folder / f"{name}.ledger"))
        run = {"every": "day", "start": "beginning", "output": folder / name}
        with pytest.MonkeyPatch.context() as patch:
            killing(patch, places)
            for n in (*parts, *([len(times)] * (len(places) + 1))):
                if not n:
                    continue
                source = table.slice(0, n)
                if in_files:
                    parquet.write_table(source, folder / "table.parquet")
                    source = folder / "table.parquet"
                try:
                    sf.Ledger(path).publish_since(source, "seen", **run, seed=1)
                except Killed:
                    continue
        ledger = sf.Ledger(path)
        assert ledger.verify() == []
        written = {p.name for p in (folder / name).glob("*")} if (folder / name).exists() else set()
        assert not {name for name in written if name.startswith(".")}
        found.append((taken(ledger), given_rows(path), written))
    assert found[0] == found[1]
    whole = [time for time in times if time.date() < times[-1].date()]
    assert sum(rows for _, rows in found[0][0]) == len(whole)


def test_two_runs_at_once_take_nothing_twice(ledger, monkeypatch):
    table = people(days(1, 2, 3, 4))
    run = increments.IncrementJob.run

    def overtaken(job, *given):
        monkeypatch.undo()
        ledger.publish_since(table, "seen", start="beginning", every="day")
        return run(job, *given)

    monkeypatch.setattr(increments.IncrementJob, "run", overtaken)
    with pytest.raises(InputError, match="another run took more of the same stream meanwhile"):
        ledger.publish_since(table, "seen", start="beginning", every="day")
    assert taken(ledger) == [(f"2026-03-0{n}", 1) for n in (1, 2, 3)]


def test_a_renaming_that_failed_is_made_up_for_though_nothing_is_new(ledger, tmp_path, monkeypatch):
    table, run = people(days(*[1] * 16, 2)), {"start": "beginning", "output": tmp_path / "out"}
    monkeypatch.setattr(streams.pending, "finish", lambda _: ["the disk said no."])
    with pytest.raises(OutputError, match="is in the ledger, but the disk said no"):
        ledger.publish_since(table, "seen", **run)
    monkeypatch.undo()
    assert not (tmp_path / "out" / "2026-03-01").exists()
    assert ledger.publish_since(table, "seen", **run).rows == 0
    assert sf.verify(tmp_path / "out" / "2026-03-01").verdict.holds
    assert taken(ledger) == [("2026-03-01", 16)]


@pytest.mark.usefixtures("patience")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_a_run_that_is_killed_at_any_moment_goes_on(tmp_path, started, some):
    """The run is killed again and again until it has taken all windows."""
    path, windows = Path(shutil.copy(started, tmp_path / "x.ledger")), some(3, of=10)
    table = people([day for day in days(*range(1, windows + 2)) for _ in range(8)])
    run = {"start": "beginning", "every": "day", "output": tmp_path / "out"}
    rng, rounds, reach = random.Random(5), 0, 0.2
    warm = shutil.copy(started, tmp_path / "warm.ledger")
    sf.Ledger(warm).publish_since(table, "seen", start="beginning", every="day", seed=1)
    while len(taken(sf.Ledger(path))) < windows and rounds < some(6, of=60):
        rounds += 1
        child = os.fork()
        if not child:
            done = 3
            try:
                sf.Ledger(path).publish_since(table, "seen", **run)
                done = 0
            finally:
                os._exit(done)
        time.sleep(rng.uniform(0, reach))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert not (os.WIFEXITED(status) and os.WEXITSTATUS(status)), "a run failed"
        assert sf.Ledger(path).verify() == []
        reach *= 1.3
    sf.Ledger(path).publish_since(table, "seen", **run)
    assert taken(sf.Ledger(path)) == [(f"2026-03-{n:02d}", 8) for n in range(1, windows + 1)]
    assert given_rows(path) == given_rows(warm)
    assert not list((tmp_path / "out").glob(".*"))


# Windows on the calendar.


@given(
    st.datetimes(dt.datetime(1950, 1, 1), dt.datetime(2100, 1, 1)),
    st.sampled_from(["day", "week", "month", "quarter", "year"]),
    st.sampled_from(["UTC", "Europe/Rome", "America/Sao_Paulo", "Pacific/Apia", "Asia/Kathmandu"]),
)
def test_windows_follow_each_other_without_a_gap(moment, length, zone):
    """Every moment is in its window, and the next one begins where it ends."""
    form, period, place = FORMS["moments"], Period(length), read_zone(zone)
    text = moment.replace(microsecond=0).isoformat(" ")
    here = period.around(text, form, place)
    assert here.start <= text < here.end
    after = period.around(here.end, form, place)
    assert after.start == here.end
    assert after.name > here.name


def test_names_of_windows():
    form = FORMS["days"]
    names = [
        Period(length).around("2026-12-31", form, dt.UTC).name
        for length in ("day", "week", "month", "quarter", "year")
    ]
    assert names == ["2026-12-31", "2026-W53", "2026-12", "2026-Q4", "2026"]


def test_days_that_no_calendar_has_are_in_a_window():
    form = FORMS["texts of times"]
    for text in ("2026-02-31", "2026-13-01", "2026-00-10 99:99"):
        for length in ("day", "week", "month"):
            assert Period(length).around(text, form, dt.UTC).end > text
