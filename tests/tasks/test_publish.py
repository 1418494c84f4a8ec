"""Publishing on a ledger, from the first release to deletions: what is written is what is said."""

import json
import sqlite3
from collections import Counter
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError, OutputError, ParameterError, SfumatoError, UnknownColumnError
from sfumato.models.base import NEITHER
from tests.ledger.releases import START, cells_of, counted, grouped_of, table_of, worst_of
from tests.tables.databases import imported


@pytest.fixture
def ledger(tmp_path):
    path = tmp_path / "clinic.ledger"
    sf.Ledger.start(grouped_of(START), path, alpha=0.5, k=2)
    return path


def everything(path):
    with sqlite3.connect(path) as db:
        tables = [n for [n] in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = {name: sorted(map(repr, db.execute(f"SELECT * FROM {name}"))) for name in tables}
    db.close()
    return found


def test_a_ledger_holds_the_tables_it_was_started_with(ledger):
    done = sf.Ledger(ledger).contents()
    assert counted(done.tables) == counted(grouped_of(START))
    assert (done.alpha, done.k, done.release, done.waiting) == (0.5, 2, 1, 0)
    assert sf.Ledger(ledger).verify() == []
    assert ledger.stat().st_mode & 0o777 == 0o600


def test_a_release_that_tells_more_than_alpha_starts_a_ledger_only_if_asked(tmp_path):
    with pytest.raises(
        InputError, match=r"in 2 of 2 groups a value exceeds alpha 0.3 already, up to"
    ):
        sf.Ledger.start(grouped_of(START), tmp_path / "x.ledger", alpha=0.3, k=2)
    assert not list(tmp_path.iterdir())
    ledger = sf.Ledger.start(grouped_of(START), tmp_path / "x.ledger", alpha=0.3, k=2, above=True)
    done = ledger.started
    assert done.above == ((("20s",), Fraction(1, 2)), (("30s",), Fraction(1, 2)))
    assert "2 groups have a value above alpha" in done.warnings[0]
    # Nobody who joins later is told more of than alpha allows.
    assert ledger.publish(table_of(START)).admitted == 0


def test_a_ledger_knows_what_it_was_started_with(ledger, tmp_path, raw_ledger, policy):
    plain = sf.Ledger.open(ledger, alpha=0.5, k=2)
    assert (plain.path, plain.alpha, plain.k, plain.policy) == (ledger, 0.5, 2, None)
    assert (plain.quasi_identifiers, plain.sensitive) == (("age",), ("ill", "pay"))
    assert plain.started is None
    assert repr(plain) == f"<Ledger {str(ledger)!r}: alpha 0.5, k 2>"
    assert sf.Ledger.open(raw_ledger, policy=policy).policy == policy
    with pytest.raises(InputError, match=r"does not exist\. Start one"):
        sf.Ledger(tmp_path / "none")


def test_what_is_current_and_what_was(ledger):
    clinic = sf.Ledger(ledger)
    clinic.publish(table_of(NEW))
    assert counted(clinic.current) == counted(grouped_of(START + NEW))
    assert counted(clinic.contents(1).tables) == counted(grouped_of(START))
    assert clinic.contents(1).release == 1
    assert [entry["kind"] for entry in clinic.history] == ["start", "increment"]


NEW = [
    ("20s", "flu", "high"),
    ("20s", "gout", "low"),
    ("30s", "hiv", "high"),
    ("30s", "flu", "low"),
]


@pytest.mark.usefixtures("patience")
def test_admitted_rows_are_in_the_tables_and_the_folder(ledger, tmp_path):
    done = sf.Ledger(ledger).publish(table_of(NEW), output=tmp_path / "out")
    assert (done.sequence, done.admitted, done.refused_rows, done.held_rows) == (2, 4, 0, 0)
    assert counted(done.tables) == counted(grouped_of(NEW))
    assert counted(done.current) == counted(grouped_of(START + NEW))
    assert sf.verify(tmp_path / "out").verdict.holds
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    mark = manifest["increment"].pop("ledger")
    first = manifest["increment"].pop("first")
    assert manifest["increment"] == {"sequence": 2, "tables": "newcomers"}
    with sqlite3.connect(ledger) as db:
        [[salt]] = db.execute("SELECT value FROM meta WHERE key = 'salt'").fetchall()
    db.close()
    assert len(mark) == len(first) == 12
    assert mark not in salt
    assert first not in salt
    assert sf.Ledger(ledger).verify(done.head) == []
    assert [entry["rows"]["joined"] for entry in sf.Ledger(ledger).history] == [8, 4]
    # The folder can be read again, and groups keep the labels they have.
    again = sf.tools.merge(tmp_path / "out")
    assert set(again["age"].to_pylist()) == {"20s", "30s"}


@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
def test_whole_tables_are_a_release_that_starts_another_ledger(ledger, tmp_path, form):
    sf.Ledger(ledger).publish(table_of(NEW), output=tmp_path / "out", whole=True, format=form)
    sf.Ledger.start(tmp_path / "out", tmp_path / "copy.ledger", alpha=0.5)
    assert counted(sf.Ledger(tmp_path / "copy.ledger").contents().tables) == counted(
        grouped_of(START + NEW)
    )


def test_newcomers_are_cells_of_their_own_and_keep_their_numbers(ledger):
    clinic = sf.Ledger(ledger)
    first = cells_of(clinic.current)
    done = clinic.publish(table_of(NEW))
    new = cells_of(done.tables)
    assert {labels: size for labels, size, _ in new.values()} == {("20s",): 2, ("30s",): 2}
    assert not new.keys() & first.keys()
    assert cells_of(clinic.current) == first | new
    later = clinic.publish(table_of(NEW), again=True, whole=True)
    assert cells_of(later.tables).items() >= (first | new).items()


def test_a_row_that_would_stand_alone_waits(ledger):
    done = sf.Ledger(ledger).publish(table_of([("20s", "flu", "high")]))
    assert (done.admitted, done.refused, done.waiting, done.tables) == (0, (), 1, None)
    [held] = done.held
    assert held.why == "the newcomers would be 1, fewer than k=2"
    assert counted(sf.Ledger(ledger).contents().tables) == counted(grouped_of(START))
    # It is published with the next who hide it, and overwritten.
    done = sf.Ledger(ledger).publish(table_of([("20s", "gout", "low")]))
    assert (done.given, done.admitted, done.waiting) == (1, 2, 0)
    assert b'["flu", "high"]' not in ledger.read_bytes()


def test_a_row_that_was_withdrawn_leaves_no_trace(ledger):
    row = table_of([("20s", "unheard-of", "low")])
    sf.Ledger(ledger).publish(row)
    assert "unheard-of" in ledger.read_bytes().decode("latin1")
    sf.Ledger(ledger).delete(row)
    assert "unheard-of" not in ledger.read_bytes().decode("latin1")


def test_rows_of_a_new_group_wait_until_they_keep_the_policy(ledger):
    one = sf.Ledger(ledger).publish(table_of([("40s", "flu", "low")]))
    assert (one.admitted, one.waiting, one.refused_rows) == (0, 1, 0)
    two = sf.Ledger(ledger).publish(table_of([("40s", "gout", "high")]))
    assert (two.admitted, two.waiting) == (2, 0)
    assert counted(two.tables) == counted(
        grouped_of([("40s", "flu", "low"), ("40s", "gout", "high")])
    )
    assert sf.Ledger(ledger).verify() == []
    # Rows that waited are overwritten: nothing in the file ties their values together.
    assert b'["flu", "low"]' not in ledger.read_bytes()


def test_rows_whose_value_is_too_frequent_wait_for_others(ledger):
    alike = [("20s", "flu", "low")] * 3 + [("20s", "gout", "high")]
    done = sf.Ledger(ledger).publish(table_of(alike))
    assert (done.admitted, done.held_rows, done.refused_rows) == (2, 2, 0)
    assert not done.composition.suffers
    assert done.held[0].why == "a value is too frequent among the newcomers"
    # However many flus are published already: those who join together must hide each other.
    others = [("20s", "hiv", "high"), ("20s", "cold", "high")]
    done = sf.Ledger(ledger).publish(table_of(others))
    assert (done.admitted, done.waiting) == (4, 0)
    assert counted(done.current) == counted(grouped_of(START + alike + others))


def test_newcomers_who_are_all_alike_wait(ledger):
    done = sf.Ledger(ledger).publish(table_of([("20s", "flu", "low")] * 10))
    assert (done.admitted, done.waiting) == (0, 10)
    assert done.held[0].why == "the newcomers are too much alike"


def test_with_three_columns_single_values_are_bounded(tmp_path):
    """Seventy-two newcomers with the same illness stay hidden by no product of shares."""
    names = ("age", "ill", "pay", "town")
    rows = [("20s", f"ill {i % 6}", f"pay {i % 8}", f"town {i % 4}") for i in range(48)]
    path = tmp_path / "x.ledger"
    sf.Ledger.start(grouped_of(rows, names[:1], names[1:]), path, alpha=0.5, k=2)
    new = [("20s", "hiv", f"pay {i % 8}", f"town {i % 4}") for i in range(72)]
    done = sf.Ledger(path).publish(table_of(new, names))
    assert (done.admitted, done.waiting) == (0, 72)
    done = sf.Ledger(path).publish(table_of(rows, names))
    assert done.admitted == 96
    assert all(
        worst_of(tables) <= Fraction(1, 2) for _, _, tables in cells_of(done.tables).values()
    )


def test_missing_values_hide_nobody(ledger):
    sick = [("20s", "hiv", "low"), ("20s", "hiv", "high")]
    unknown = [("20s", None, "low"), ("20s", None, "high")]
    done = sf.Ledger(ledger).publish(table_of(sick + unknown))
    assert {each.ask.row for each in done.held} == {'["hiv", "low"]', '["hiv", "high"]'}
    assert counted(done.tables) == counted(grouped_of(unknown))


def test_a_dry_run_changes_nothing(ledger, tmp_path):
    before = everything(ledger)
    done = sf.Ledger(ledger).publish(table_of(NEW), output=tmp_path / "out", dry_run=True)
    assert done.admitted == 4
    assert "would be" in str(done)
    assert everything(ledger) == before
    assert not (tmp_path / "out").exists()


# --- leaving and changing -------------------------------------------------------------------


LARGE = [row for row in START for _ in range(5)]


@pytest.fixture
def large(tmp_path):
    """A ledger of twenty people in each group, who may leave in parts."""
    path = tmp_path / "large.ledger"
    sf.Ledger.start(grouped_of(LARGE), path, alpha=0.7, k=3)
    return path


def test_people_leave_as_a_part_that_hides_them(large, tmp_path):
    gone = START[:4]
    done = sf.Ledger(large).delete(table_of(gone), output=tmp_path / "out")
    assert (done.left, done.admitted, done.held_rows, done.leaving) == (4, 0, 0, 0)
    left = list((Counter(LARGE) - Counter(gone)).elements())
    assert counted(done.current) == counted(grouped_of(left))
    # All tables are written: a table of newcomers cannot say that somebody left.
    assert counted(done.tables) == counted(grouped_of(left))
    assert not done.composition.suffers
    assert sf.verify(tmp_path / "out").verdict.holds
    assert sf.Ledger(large).verify() == []
    assert [entry["rows"]["left"] for entry in sf.Ledger(large).history] == [0, 4]


def test_who_would_leave_alone_waits_and_is_counted_still(large):
    done = sf.Ledger(large).delete(table_of(START[:1]))
    assert (done.left, done.waiting, done.leaving) == (0, 1, 1)
    assert "1 wait in the ledger, 1 of them published still" in str(done)
    assert done.held[0].why == "those who leave would be 1, fewer than k=3"
    assert counted(done.current) == counted(grouped_of(LARGE))
    # With enough others, they leave together.
    done = sf.Ledger(large).delete(table_of(START[1:4]))
    assert (done.left, done.waiting, done.leaving) == (4, 0, 0)


def test_leavers_who_are_alike_wait_or_leave_some_behind(large):
    done = sf.Ledger(large).delete(table_of([START[0]] * 4))
    assert (done.left, done.waiting) == (0, 4)
    done = sf.Ledger(large).delete(table_of([START[1], START[2], START[3]]))
    left = cells_of(done.current)
    assert done.left >= 3
    assert done.left + done.waiting == 7
    assert all(worst_of(tables) <= Fraction(7, 10) for _, _, tables in left.values())


def test_leavers_wait_if_those_who_stay_would_be_told(tmp_path):
    path = tmp_path / "x.ledger"
    rows = [("20s", ill) for ill in ("flu", "flu", "gout", "hiv", "cold", "acne")]
    sf.Ledger.start(grouped_of(rows, ("age",), ("ill",)), path, alpha=0.5, k=2)
    done = sf.Ledger(path).delete(table_of(rows[2:], ("age", "ill")), seed=1)
    # Two with flu would be left. So two others stay with them.
    assert (done.left, done.waiting, done.leaving) == (2, 2, 2)
    assert {each.why for each in done.held} == {"those who stay would reveal too much"}


def test_a_part_that_is_too_small_to_stay_keeps_others_back(tmp_path):
    path = tmp_path / "x.ledger"
    sf.Ledger.start(grouped_of(START), path, alpha=1, k=4)
    done = sf.Ledger(path).delete(table_of(START[:1]))
    assert done.left == 0
    assert "fewer than k=4" in done.held[0].why


def test_a_whole_cell_may_always_leave(tmp_path):
    path = tmp_path / "x.ledger"
    sf.Ledger.start(grouped_of(START), path, alpha=0.5, k=4)
    done = sf.Ledger(path).delete(table_of(START[:4]))
    assert (done.left, done.waiting) == (4, 0)
    assert counted(done.current) == counted(grouped_of(START[4:]))
    assert sf.Ledger(path).verify() == []


def test_when_everybody_has_left_the_release_is_empty(tmp_path):
    path = tmp_path / "x.ledger"
    sf.Ledger.start(grouped_of(START), path, alpha=0.5, k=4)
    done = sf.Ledger(path).delete(table_of(START), output=tmp_path / "out")
    assert (done.left, done.tables.total) == (8, 0)
    assert (tmp_path / "out" / "manifest.json").is_file()
    assert sf.Ledger(path).verify() == []
    assert sf.Ledger(path).publish(table_of(START), again=True).admitted == 8


def test_who_must_leave_at_once_takes_the_cell_along(large):
    gone = table_of(START[:1])
    assert sf.Ledger(large).delete(gone, at_once=True, dry_run=True).others == 19
    done = sf.Ledger(large).delete(gone, at_once=True)
    assert (done.left, done.others, done.waiting) == (1, 19, 0)
    assert "19 others withdrawn with them" in str(done)
    assert counted(done.current) == counted(grouped_of(LARGE[20:]))
    assert sf.Ledger(large).history[-1]["rows"]["left"] == 20


def test_who_may_leave_at_once_anyway_takes_nobody_along(large):
    done = sf.Ledger(large).delete(table_of(START[:4]), at_once=True)
    assert (done.left, done.others) == (4, 0)


def test_of_several_cells_one_that_holds_the_values_is_drawn_and_it_is_said(large):
    sf.Ledger(large).publish(table_of(LARGE[:20]))
    done = sf.Ledger(large).delete(table_of(START[:4]), seed=1)
    assert done.left == 4
    assert any("without an identifier, so the ledger drew" in text for text in done.warnings)
    sizes = sorted(
        size for labels, size, _ in cells_of(done.current).values() if labels == ("20s",)
    )
    assert sizes == [16, 20]


def test_who_was_never_published_cannot_be_deleted(ledger):
    before = everything(ledger)
    with pytest.raises(InputError, match='1 rows with ill "measles" are to leave'):
        sf.Ledger(ledger).delete(table_of([("20s", "measles", "low")]))
    with pytest.raises(InputError, match="published with 0"):
        sf.Ledger(ledger).delete(table_of([("70s", "flu", "low")]))
    assert everything(ledger) == before


def test_a_row_that_still_waits_is_withdrawn(ledger):
    sf.Ledger(ledger).publish(table_of([("40s", "flu", "low")]))
    done = sf.Ledger(ledger).delete(table_of([("40s", "flu", "low")]))
    assert (done.withdrawn, done.waiting, done.left) == (1, 0, 0)
    assert sf.Ledger(ledger).verify() == []


def corrected(rows):
    """Return rows with what they were: pairs of a row as it should be and as it was published."""
    return pa.table(
        {
            **{name: [new[i] for new, _ in rows] for i, name in enumerate(("age", "ill", "pay"))},
            **{
                f"old_{name}": [old[i] for _, old in rows]
                for i, name in enumerate(("age", "ill", "pay"))
            },
        }
    )


def test_a_value_is_corrected_in_place_where_many_may_have_had_it(tmp_path):
    path = tmp_path / "x.ledger"
    sf.Ledger.start(grouped_of(LARGE), path, alpha=0.6, k=3)
    change = pa.table({"age": ["20s"], "ill": ["gout"], "old_ill": ["flu"], "pay": ["low"]})
    done = sf.Ledger(path).correct(change, output=tmp_path / "out")
    assert (done.corrected, done.waiting, done.left, done.admitted) == (1, 0, 0, 0)
    rows = Counter(LARGE) - Counter([START[0]]) + Counter([("20s", "gout", "low")])
    assert counted(done.current) == counted(grouped_of(list(rows.elements())))
    assert cells_of(done.tables).keys() == cells_of(sf.Ledger(path).contents(1).tables).keys()
    assert sf.Ledger(path).verify() == []


def test_a_correction_waits_if_who_knows_one_value_would_learn_the_other(ledger):
    """Of one who had flu everybody would know what it is now."""
    change = pa.table({"age": ["20s"], "ill": ["gout"], "old_ill": ["flu"], "pay": ["low"]})
    done = sf.Ledger(ledger).correct(change)
    assert (done.corrected, done.waiting, done.leaving) == (0, 1, 1)
    assert done.held[0].why == "who knows the old value, or the new one, would learn the other"
    assert counted(done.current) == counted(grouped_of(START))


def test_two_columns_of_a_row_are_corrected_one_after_the_other(tmp_path):
    path = tmp_path / "x.ledger"
    sf.Ledger.start(grouped_of(LARGE), path, alpha=0.6, k=3)
    done = sf.Ledger(path).correct(corrected([(("20s", "gout", "high"), START[0])]))
    assert (done.corrected, done.waiting) == (0, 1)
    assert "one column of a cell is corrected in a release" in done.held[0].why
    assert counted(done.current) != counted(grouped_of(LARGE))
    done = sf.Ledger(path).publish(table_of([("20s", "flu", "low")]))
    assert (done.corrected, done.leaving) == (1, 0)
    rows = Counter(LARGE) - Counter([START[0]]) + Counter([("20s", "gout", "high")])
    assert counted(done.current) == counted(grouped_of(list(rows.elements())))


def test_a_row_that_waits_is_corrected_before_anybody_sees_it(ledger):
    sf.Ledger(ledger).publish(table_of([("20s", "flu", "high")]))
    done = sf.Ledger(ledger).correct(corrected([(("20s", "gout", "high"), ("20s", "flu", "high"))]))
    assert (done.withdrawn, done.corrected, done.waiting, done.leaving) == (1, 0, 1, 0)
    assert sf.Ledger(ledger).publish(table_of([("20s", "flu", "low")])).admitted == 2
    assert counted(sf.Ledger(ledger).current)["20s",][1]["ill"]["gout"] == 2


def test_people_move_as_a_part_to_the_same_group(large, tmp_path):
    moved = [(("30s", *row[1:]), row) for row in START[:4]]
    before = cells_of(sf.Ledger(large).current)
    done = sf.Ledger(large).correct(corrected(moved), output=tmp_path / "out")
    assert (done.corrected, done.waiting, done.admitted, done.left) == (4, 0, 0, 0)
    now = cells_of(done.tables)
    [new] = now.keys() - before.keys()
    assert now[new][:2] == (("30s",), 4)
    assert sorted(size for _, size, _ in now.values()) == [4, 16, 20]
    assert sf.verify(tmp_path / "out").verdict.holds
    assert sf.Ledger(large).verify() == []


def test_one_who_moves_alone_stays_under_the_old_labels_and_waits(large):
    done = sf.Ledger(large).correct(corrected([(("30s", "flu", "low"), START[0])]))
    assert (done.corrected, done.waiting, done.leaving) == (0, 1, 1)
    assert done.held[0].why == "those who leave would be 1, fewer than k=3"
    assert counted(done.current) == counted(grouped_of(LARGE))
    # Those who leave for good are no company for one who moves elsewhere.
    done = sf.Ledger(large).delete(table_of(START[1:4]))
    assert (done.left, done.corrected, done.leaving) == (3, 0, 1)
    done = sf.Ledger(large).correct(corrected([(("30s", *row[1:]), row) for row in START[1:4]]))
    assert (done.corrected, done.waiting) == (4, 0)


def test_people_who_moved_may_leave_where_they_are_now(large):
    sf.Ledger(large).correct(corrected([(("40s", *row[1:]), row) for row in START[:4]]))
    done = sf.Ledger(large).delete(table_of([("40s", *row[1:]) for row in START[:4]]))
    assert (done.left, done.waiting) == (4, 0)
    assert ("40s",) not in counted(done.current)


ROWS = st.tuples(
    st.sampled_from(["20s", "30s", "40s"]),
    st.sampled_from(["flu", "gout", "hiv", None]),
    st.sampled_from(["low", "high", "none"]),
)
BATCHES = st.lists(st.lists(ROWS, min_size=1, max_size=8), min_size=1, max_size=4)


@pytest.mark.usefixtures("patience")
@given(BATCHES, st.sampled_from([0.5, 0.75]), st.booleans())
@settings(max_examples=30)
def test_whatever_happens_the_promises_hold(tmp_path_factory, batches, alpha, leave):
    """Every cell that is seen, and every part of one, has k rows and no value above alpha."""
    path = tmp_path_factory.mktemp("any") / "x.ledger"
    sf.Ledger.start(grouped_of(START), path, alpha=alpha, k=2)
    before, people = cells_of(sf.Ledger(path).contents().tables), len(START)
    for seed, batch in enumerate(batches):
        inside = [row for row in START if leave and row[1] == batch[0][1]]
        delete = table_of(inside) if inside and seed == 0 else None
        done = sf.Ledger(path).publish(table_of(batch), delete=delete, again=True, seed=seed)
        now = cells_of(done.current)
        people += len(batch) - done.left - done.withdrawn
        assert done.refused == ()
        assert sf.Ledger(path).verify(done.head) == []
        published = sum(size for _, size, _ in now.values())
        assert published + done.waiting - done.leaving == people
        for part in _parts(before, now):
            assert all(sum(column.values()) == part[1] for column in part[2].values())
            assert part[1] >= 2
            assert worst_of(part[2]) <= Fraction(str(alpha))
        assert not sf.Ledger(path).compare(done.sequence - 1, done.sequence).suffers
        before = now


def _parts(before, now):
    """Yield what can be seen: cells as they are, and those who left one that is still there."""
    yield from now.values()
    for number, (labels, size, tables) in before.items():
        if number in now and now[number][1] < size:
            _, rest, others = now[number]
            yield labels, size - rest, {name: tables[name] - others[name] for name in tables}


# --- policies -------------------------------------------------------------------------------

PEOPLE = pa.table(
    {
        "name": list("ABCDEFGH"),
        "age": [21, 24, 22, 25, 35, 38, 37, 36],
        "zip": ["4711", "4712", "4713", "4714", "4811", "4812", "4813", "4814"],
        "ill": ["flu", "gout", "hiv", "cold"] * 2,
    }
)


@pytest.fixture
def policy():
    return sf.Policy(
        columns={
            "name": "identifier",
            "age": {"role": "quasi-identifier", "hierarchy": sf.hierarchy.Intervals(widths=[10])},
            "zip": {"role": "quasi-identifier", "hierarchy": sf.hierarchy.Masking()},
            "ill": "sensitive",
        },
        models=[sf.models.KAnonymity(3), sf.models.DistinctLDiversity("ill", l=3)],
    )


@pytest.fixture
def raw_ledger(tmp_path, policy):
    release = sf.anonymize(PEOPLE, policy, output=tmp_path / "release", format="parquet")
    assert release.levels == {"age": 1, "zip": 1}
    sf.decouple(tmp_path / "release", output=tmp_path / "broken")
    sf.Ledger.start(
        tmp_path / "broken", tmp_path / "raw.ledger", alpha=0.5, policy=policy, source=PEOPLE
    )
    return tmp_path / "raw.ledger"


def people(ages, zips, ills):
    names = [f"{age} {code} {i}" for i, (age, code) in enumerate(zip(ages, zips, strict=True))]
    return pa.table({"name": names, "age": ages, "zip": zips, "ill": ills})


def test_raw_rows_are_generalised_as_the_release_was(raw_ledger):
    new = people([29, 20, 23], ["4719", "4710", "4712"], ["flu", "gout", "hiv"])
    done = sf.Ledger(raw_ledger).publish(new)
    assert counted(done.tables) == {
        ("20 to 29", "471*"): (3, {"ill": {"flu": 1, "gout": 1, "hiv": 1}})
    }


def test_a_new_group_gets_labels_of_the_same_levels(raw_ledger):
    new = people([55, 57, 51], ["4911", "4912", "4913"], ["flu", "gout", "hiv"])
    done = sf.Ledger(raw_ledger).publish(new)
    assert list(counted(done.tables)) == [("50 to 59", "491*")]


def test_a_new_group_must_keep_every_model(raw_ledger):
    new = people([55, 57, 51, 52], ["4911", "4912", "4913", "4914"], ["flu", "gout", "flu", "gout"])
    done = sf.Ledger(raw_ledger).publish(new)
    assert (done.admitted, done.waiting) == (0, 4)
    assert "distinct-l-diversity" in done.held[0].why


def test_newcomers_of_a_group_that_exists_keep_every_model_by_themselves(raw_ledger):
    """Two illnesses would do for the group of 20-29, in which there are four already."""
    new = people([25, 27, 21, 22], ["4711", "4712", "4713", "4714"], ["flu", "gout", "flu", "gout"])
    done = sf.Ledger(raw_ledger).publish(new)
    assert (done.admitted, done.waiting) == (0, 4)
    assert "the newcomers would break distinct-l-diversity" in done.held[0].why
    done = sf.Ledger(raw_ledger).publish(people([23], ["4711"], ["hiv"]))
    assert (done.admitted, done.waiting) == (5, 0)


def test_leavers_and_those_who_stay_keep_every_model_too(tmp_path):
    names = ("age", "ill")
    policy = sf.Policy(
        columns={"age": "quasi-identifier", "ill": "sensitive"},
        models=[sf.models.KAnonymity(3), sf.models.DistinctLDiversity("ill", l=3)],
    )
    rows = [("20s", ill) for ill in ("flu", "gout", "hiv", "cold") for _ in range(3)]
    path = tmp_path / "x.ledger"
    sf.Ledger.start(grouped_of(rows, names[:1], names[1:]), path, alpha=0.5, policy=policy)
    done = sf.Ledger(path).delete(table_of([*rows[:2], *rows[3:5]], names))
    assert (done.left, done.leaving) == (0, 4)
    assert "those who leave would break distinct-l-diversity" in done.held[0].why
    done = sf.Ledger(path).delete(table_of([("20s", "hiv")], names))
    assert (done.left, done.leaving) == (5, 0)


def test_models_that_merging_may_break_are_asked_of_the_whole_group(tmp_path, monkeypatch):
    """At most five people: the newcomers keep it, and the group they join would not."""
    policy = sf.Policy(
        columns={"age": "quasi-identifier", "ill": "sensitive", "pay": "sensitive"},
        models=[sf.models.KAnonymity(2)],
    )
    path = tmp_path / "x.ledger"
    sf.Ledger.start(grouped_of(START), path, alpha=0.5, policy=policy)
    monkeypatch.setattr(sf.models.KAnonymity, "merging", NEITHER)
    monkeypatch.setattr(sf.models.KAnonymity, "passes", lambda _, classes: classes.sizes <= 5)
    elsewhere = [("40s", *row[1:]) for row in NEW[:2]]
    done = sf.Ledger(path).publish(table_of(NEW[:2] + elsewhere))
    assert (done.admitted, done.waiting) == (2, 2)
    assert "the group would break" in done.held[0].why
    assert [labels for labels, _, _ in cells_of(done.tables).values()] == [("40s",)]


def test_rows_that_are_generalised_already_fit_as_they_are(raw_ledger):
    new = people(["20 to 29"] * 3, ["471*"] * 3, ["flu", "gout", "hiv"])
    assert sf.Ledger(raw_ledger).publish(new).admitted == 3


def test_values_that_no_hierarchy_covers_are_named(tmp_path):
    towns = sf.hierarchy.Taxonomy({"north": ["Kiel", "Emden"], "south": ["Ulm", "Passau"]})
    policy = sf.Policy(
        columns={
            "town": {"role": "quasi-identifier", "hierarchy": towns},
            "ill": "sensitive",
        },
        models=[sf.models.KAnonymity(2)],
    )
    table = pa.table({"town": ["Kiel", "Emden", "Ulm", "Passau"], "ill": list("abcd")})
    sf.anonymize(table, policy, output=tmp_path / "release", format="csv")
    sf.decouple(tmp_path / "release", output=tmp_path / "broken")
    path = tmp_path / "x.ledger"
    sf.Ledger.start(tmp_path / "broken", path, alpha=0.5, policy=policy)
    before = everything(path)
    with pytest.raises(InputError, match=r"does not cover 1 of its .* values: 'Atlantis'"):
        sf.Ledger(path).publish(pa.table({"town": ["Atlantis", "Kiel"], "ill": ["a", "b"]}))
    assert everything(path) == before
    new = pa.table({"town": ["Kiel", "Emden"], "ill": ["a", "b"]})
    assert list(counted(sf.Ledger(path).publish(new).tables)) == [("north",)]


def test_the_most_specific_group_is_taken_where_several_fit(tmp_path):
    towns = sf.hierarchy.Taxonomy({"north": ["Kiel", "Emden"], "south": ["Ulm", "Passau"]})
    policy = sf.Policy(
        columns={"town": {"role": "quasi-identifier", "hierarchy": towns}, "ill": "sensitive"},
        models=[sf.models.KAnonymity(2)],
    )
    rows = [(town, ill) for town in ("*", "north", "Kiel") for ill in "abcd"]
    path = tmp_path / "x.ledger"
    sf.Ledger.start(grouped_of(rows, ("town",), ("ill",)), path, alpha=0.5, policy=policy)
    new = [(town, ill) for town in ("Kiel", "Emden", "Ulm") for ill in "ab"]
    done = sf.Ledger(path).publish(table_of(new, ("town", "ill")))
    assert {labels: size for labels, (size, _) in counted(done.tables).items()} == {
        ("*",): 2,
        ("north",): 2,
        ("Kiel",): 2,
    }


def test_intervals_of_values_that_were_present_are_recognised(tmp_path):
    policy = sf.Policy(
        columns={"age": "quasi-identifier", "ill": "sensitive"},
        models=[sf.models.KAnonymity(2)],
        method="mondrian",
    )
    table = pa.table({"age": [20, 24, 29, 31, 35, 38, 50, 59], "ill": list("abcdabcd")})
    sf.anonymize(table, policy, output=tmp_path / "release", format="csv")
    sf.decouple(tmp_path / "release", output=tmp_path / "broken")
    path = tmp_path / "x.ledger"
    sf.Ledger.start(tmp_path / "broken", path, alpha=0.5, policy=policy)
    labels = {labels[0] for labels in counted(sf.Ledger(path).contents().tables)}
    assert "20 to 24" in labels
    done = sf.Ledger(path).publish(pa.table({"age": [21, 23], "ill": ["x", "y"]}))
    assert list(counted(done.tables)) == [("20 to 24",)]


def test_groups_are_compared_with_the_first_release(tmp_path):
    policy = sf.Policy(
        columns={"age": "quasi-identifier", "ill": "sensitive", "pay": "sensitive"},
        models=[sf.models.KAnonymity(2), sf.models.TCloseness("ill", t=0.3)],
    )
    path = tmp_path / "x.ledger"
    sf.Ledger.start(grouped_of(START), path, alpha=1, k=2, policy=policy)
    # Two of four: the distribution of the first release is a quarter for each.
    far = [("40s", "flu", "low"), ("40s", "gout", "high")]
    done = sf.Ledger(path).publish(table_of(far))
    assert (done.admitted, done.waiting) == (0, 2)
    assert "t-closeness" in done.held[0].why
    near = [("40s", "hiv", "low"), ("40s", "cold", "high")]
    assert sf.Ledger(path).publish(table_of(near)).admitted == 4


def test_numbers_stay_numbers_whatever_the_new_rows_are_written_in(tmp_path):
    rows = [("20s", 1, 2.5), ("20s", 2, 3.5), ("20s", 3, 4.5)]
    path = tmp_path / "x.ledger"
    sf.Ledger.start(grouped_of(rows), path, alpha=0.9, k=2)
    (tmp_path / "new.csv").write_text("age,ill,pay\n20s,1,2.5\n20s,7,8.0\n")
    done = sf.Ledger(path).publish(tmp_path / "new.csv")
    assert counted(done.current) == {
        ("20s",): (5, {"ill": {1: 2, 2: 1, 3: 1, 7: 1}, "pay": {2.5: 2, 3.5: 1, 4.5: 1, 8: 1}})
    }


def test_missing_values_are_values(tmp_path):
    rows = [(None, "flu", "low"), (None, None, "high"), (None, "gout", None)]
    path = tmp_path / "x.ledger"
    sf.Ledger.start(grouped_of(rows), path, alpha=0.9, k=2)
    done = sf.Ledger(path).publish(table_of(rows), output=tmp_path / "out")
    assert counted(done.current) == counted(grouped_of(rows + rows))
    assert sf.verify(tmp_path / "out").verdict.holds


# --- mistakes -------------------------------------------------------------------------------


def unchanged(path, error, words, rows, opened=None, **settings):
    before = everything(path)
    with pytest.raises(error, match=words):
        sf.Ledger.open(path, **opened or {}).publish(rows, **settings)
    assert everything(path) == before


def test_mistakes_change_nothing(ledger, tmp_path):
    new = table_of(NEW)
    unchanged(ledger, UnknownColumnError, "no column 'pay'", new.drop_columns(["pay"]))
    extra = new.append_column("name", pa.array(["x"] * 4))
    unchanged(ledger, InputError, "columns that the ledger does not: 'name'", extra)
    unchanged(ledger, InputError, "the increment has no rows", None)
    unchanged(ledger, InputError, "started with 0.5", new, {"alpha": 0.7})
    unchanged(ledger, InputError, "started with 2", new, {"k": 3})
    policy = sf.Policy(
        columns={"age": "quasi-identifier", "ill": "sensitive", "pay": "sensitive"},
        models=[sf.models.KAnonymity(2)],
    )
    unchanged(ledger, InputError, "started without one", new, {"policy": policy})
    unchanged(ledger, InputError, "is a ledger already", grouped_of(START), {"alpha": 0.5})
    with pytest.raises(OutputError, match="Give another name, or add rows"):
        sf.Ledger.start(grouped_of(START), ledger, alpha=0.5)
    unchanged(ledger, ParameterError, "format must be", new, format="docx")
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "x").write_text("x")
    unchanged(ledger, OutputError, "not a release", new, output=tmp_path / "there")


def test_the_same_increment_twice_is_recognised(ledger):
    sf.Ledger(ledger).publish(table_of(NEW))
    unchanged(ledger, InputError, "given before, as increment 2", table_of(NEW[::-1]))
    assert sf.Ledger(ledger).publish(table_of(NEW), again=True).sequence == 3


@pytest.mark.parametrize("alpha", [0, -1, 1.5, float("nan"), "much"])
def test_a_limit_that_is_none(tmp_path, alpha):
    with pytest.raises(ParameterError, match="alpha must be a number above 0 and at most 1"):
        sf.Ledger.start(grouped_of(START), tmp_path / "x.ledger", alpha=alpha)
    assert not list(tmp_path.iterdir())


def test_a_ledger_does_not_start_from_anything_else(tmp_path, policy):
    path = tmp_path / "x.ledger"
    with pytest.raises(ParameterError, match="a new ledger needs its limit"):
        sf.Ledger.start(grouped_of(START), path, alpha=None)
    for data in (table_of(START), None, sf.anonymize(PEOPLE, policy)):
        with pytest.raises(InputError, match="starts from a decoupled release"):
            sf.Ledger.start(data, path, alpha=0.5)
    sf.anonymize(PEOPLE, policy, output=tmp_path / "release", format="csv")
    with pytest.raises(InputError, match="Decouple it first"):
        sf.Ledger.start(tmp_path / "release", path, alpha=0.5)
    with pytest.raises(InputError, match="the policy has the quasi-identifiers"):
        sf.Ledger.start(grouped_of(START), path, alpha=0.5, policy=policy)
    assert not path.exists()


def test_models_of_the_whole_table_are_refused(tmp_path):
    policy = sf.Policy(
        columns={"age": "quasi-identifier", "ill": "sensitive", "pay": "sensitive"},
        models=[sf.models.AverageRisk(0.5)],
    )
    with pytest.raises(SfumatoError, match="a ledger cannot keep average-risk"):
        sf.Ledger.start(grouped_of(START), tmp_path / "x.ledger", alpha=0.5, policy=policy)


def test_files_that_are_no_ledger(tmp_path):
    for name, content in (("a.csv", b"age,ill\n1,2\n"), ("empty", b""), ("b", bytes(5000))):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(InputError, match="is not a ledger"):
            sf.Ledger(path).publish(table_of(NEW))
        assert path.read_bytes() == content
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE x (y)")
    db.close()
    with pytest.raises(InputError, match="is not a ledger"):
        sf.Ledger(other).publish(table_of(NEW))
    with pytest.raises(InputError, match="does not exist"):
        sf.Ledger(tmp_path / "none").headroom()


def test_a_ledger_of_a_newer_format(ledger):
    with sqlite3.connect(ledger) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(InputError, match="format 99"):
        sf.Ledger(ledger).publish(table_of(NEW))


def test_a_report_is_plain_and_readable(ledger):
    done = sf.Ledger(ledger).publish(table_of([*NEW, ("50s", "x", "y")]))
    plain = done.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    [held] = plain["held"]
    assert (held["kind"], held["group"], held["values"]) == (
        "add",
        ["50s"],
        {"ill": "x", "pay": "y"},
    )
    assert (plain["refused"], plain["others"]) == ([], 0)
    assert plain["answer"] == "with care"
    assert str(done).startswith("release 2: 4 rows admitted, 0 refused, 1 held back")
    assert "the newcomers would be 1, fewer than k=2" in str(done)


def test_a_policy_may_name_files_and_be_used_from_another_folder(tmp_path, monkeypatch):
    (tmp_path / "towns.csv").write_text("Kiel;north;*\nEmden;north;*\nUlm;south;*\n")
    (tmp_path / "policy.yaml").write_text(
        "columns:\n  town: {role: quasi-identifier, hierarchy: {kind: csv, file: towns.csv}}\n"
        "  ill: sensitive\n"
        "models: [{model: k-anonymity, k: 2}]\n"
    )
    rows = [(label, ill) for label in ("north", "south") for ill in "abcd"]
    monkeypatch.chdir(tmp_path)
    sf.Ledger.start(
        grouped_of(rows, ("town",), ("ill",)), "x.ledger", alpha=0.5, policy="policy.yaml"
    )
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    new = table_of([("Kiel", "a"), ("Emden", "b")], ("town", "ill"))
    done = sf.Ledger.open("../x.ledger", policy="../policy.yaml").publish(new)
    assert done.admitted == 2


ROLES = {"quasi_identifiers": ["age"], "sensitive": ["ill", "pay"]}


def test_a_ledger_does_not_start_from_a_folder_in_which_counts_were_moved(tmp_path):
    """Every group still has as many rows as it should, and alpha would be kept on wrong counts."""
    release = sf.decouple(table_of(START), output=tmp_path / "broken", format="csv", **ROLES)
    file = tmp_path / "broken" / "sensitive_ill.csv"
    head, first, *rest = file.read_text().splitlines()
    group = first.split(",")[0]
    gone = next(line for line in rest if line.startswith(group))
    rest.remove(gone)
    file.write_text("\n".join([head, first.removesuffix("1") + "2", *rest]) + "\n")
    for what in (release, tmp_path / "broken"):
        with pytest.raises(InputError, match="does not keep what it promises") as error:
            sf.Ledger.start(what, tmp_path / "x.ledger", alpha=0.9, k=2)
        assert "See sfumato verify" in str(error.value)
    assert not (tmp_path / "x.ledger").exists()


@pytest.mark.usefixtures("patience")
def test_nor_from_one_in_memory_or_in_a_database_that_promises_too_much(tmp_path):
    from dataclasses import replace

    release = sf.decouple(table_of(START), **ROLES)
    [promise] = release.manifest.models
    more = replace(promise, settings={"k": 5}, measured={"k": 5})
    boast = replace(release, manifest=replace(release.manifest, models=(more,)))
    with pytest.raises(InputError, match=r"a DecoupledRelease does not keep .* k-anonymity"):
        sf.Ledger.start(boast, tmp_path / "x.ledger", alpha=0.9, k=2)
    duckdb = imported("duckdb", "duckdb")
    with duckdb.connect(str(tmp_path / "x.db")) as connection:
        start = table_of(START)  # noqa: F841 - DuckDB finds it by its name
        connection.execute("CREATE TABLE people AS SELECT * FROM start")
        sf.decouple((connection, "people"), output="table:march", **ROLES)
        connection.execute("DELETE FROM march WHERE age = '20s'")
        with pytest.raises(InputError, match="does not keep what it promises"):
            sf.Ledger.start((connection, "march"), tmp_path / "x.ledger", alpha=0.9, k=2)
    assert not (tmp_path / "x.ledger").exists()


def test_tables_that_do_not_count_every_row_once_start_no_ledger(tmp_path):
    from dataclasses import replace

    grouped = grouped_of(START)
    wrong = replace(grouped, sizes=grouped.sizes + 1)
    with pytest.raises(InputError, match="do not count every row once"):
        sf.Ledger.start(wrong, tmp_path / "x.ledger", alpha=0.9, k=2)
