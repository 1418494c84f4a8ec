"""People with identifiers: recognised wherever they come again, and written down nowhere."""

import sqlite3

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError, ParameterError
from tests.ledger.releases import cells_of, counted, grouped_of

ILLS = ("flu", "gout", "hiv", "cold")
FIRST = [(f"first {i}", "20s" if i < 12 else "30s", ILLS[i % 4]) for i in range(24)]
NAMES = ("name", "age", "ill")


@pytest.fixture
def policy():
    return sf.Policy(
        columns={"name": "identifier", "age": "quasi-identifier", "ill": "sensitive"},
        models=[sf.models.KAnonymity(3)],
    )


@pytest.fixture
def ledger(tmp_path, policy):
    """A ledger of twelve people in each of two groups."""
    rows = [row[1:] for row in FIRST]
    return sf.Ledger.start(
        grouped_of(rows, NAMES[1:2], NAMES[2:]),
        tmp_path / "x.ledger",
        alpha=0.5,
        policy=policy,
        source=given(FIRST),
    )


def given(rows, **old):
    return pa.table({name: [row[i] for row in rows] for i, name in enumerate(NAMES)} | old)


def moved(rows, to):
    """Return corrections: some people are in another group."""
    return given([(name, to, ill) for name, _, ill in rows], old_age=[row[1] for row in rows])


def batch(label, n=4, *, age="20s"):
    return [(f"{label} {i}", age, ILLS[i % 4]) for i in range(n)]


def sizes(ledger):
    return sorted(size for _, size, _ in cells_of(ledger.current).values())


def where(ledger, *names):
    """Return for each the release joined, the release left, and what is waited for."""
    return [(each.joined, each.left, each.waits) for each in ledger.find(names)]


def test_people_are_found_where_they_are(ledger):
    ledger.publish(given([*batch("second"), ("alone", "40s", "flu")]))
    assert where(ledger, "first 0", "second 0", "alone", "never") == [
        (1, None, None),
        (2, None, None),
        (None, None, "add"),
        (None, None, None),
    ]
    one, other, alone, never = ledger.find(["first 0", "second 0", "alone", "never"])
    cells = cells_of(ledger.current)
    assert (cells[one.group][:2], cells[other.group][:2]) == ((("20s",), 12), (("20s",), 4))
    assert alone.group is never.group is None


def test_the_same_person_again_is_refused_with_the_reason(ledger):
    new = batch("second")
    ledger.publish(given(new))
    again = [("first 0", "20s", "gout"), ("second 1", "30s", "flu")]
    done = ledger.publish(given([*again, *batch("third")]))
    assert (done.admitted, done.refused_rows, done.waiting) == (4, 2, 0)
    assert {(each.row, each.why) for each in done.refused} == {
        (("gout",), "the person was published in release 1"),
        (("flu",), "the person was published in release 2"),
    }
    assert "the person was published in release 2" in str(done)


def test_who_comes_twice_in_an_increment_counts_once(ledger):
    done = ledger.publish(given([*batch("second", 40), ("second 0", "20s", "flu")]))
    assert (done.given, done.admitted, done.refused_rows) == (41, 40, 1)
    assert done.refused[0].why == "the person comes more than once"


def test_who_waits_is_known_too(ledger):
    ledger.publish(given([("alone", "40s", "flu")]))
    done = ledger.publish(given([("alone", "40s", "gout"), *batch("second")]))
    assert [(each.row, each.why) for each in done.refused] == [
        (("gout",), "the person waits already")
    ]
    assert done.waiting == 1


def test_people_leave_the_cell_they_are_in(ledger):
    """The other cell of the group has the same values."""
    ledger.publish(given(batch("second", 12)))
    done = ledger.delete(given(batch("second", 4)))
    assert (done.left, done.warnings) == (4, ())
    assert where(ledger, "second 3", "second 4") == [(2, 3, None), (2, None, None)]
    [stays] = {each.group for each in ledger.find(["second 4", "second 11"])}
    assert cells_of(ledger.current)[stays][1] == 8


def test_two_cells_are_not_left_together(ledger):
    """Two of each would be four; but who knows when they joined sees two."""
    ledger.publish(given(batch("second", 12)))
    done = ledger.delete(given([*FIRST[:2], *batch("second", 4)[2:]]))
    assert (done.left, done.leaving) == (0, 4)
    assert sizes(ledger) == [12, 12, 12]


def test_who_has_left_does_not_come_back(ledger):
    ledger.delete(given(FIRST[:4]))
    assert where(ledger, "first 0") == [(1, 2, None)]
    for rows in ([*batch("second"), ("first 0", "20s", "flu")], [("first 1", "30s", "flu")]):
        done = ledger.publish(given(rows))
        [refusal] = done.refused
        assert refusal.why.startswith("the person left in release 2: who compares the two would")
    done = ledger.delete(given(FIRST[:1]), again=True)
    assert (done.left, done.refused_rows) == (0, 1)


def test_who_waits_to_leave_and_returns_was_never_away(ledger):
    held = ledger.delete(given(FIRST[:1]))
    assert (held.leaving, where(ledger, "first 0")) == (1, [(1, None, "remove")])
    again = ledger.delete(given(FIRST[:1]), again=True)
    assert [each.why for each in again.refused] == ["the person waits to leave already"]
    done = ledger.publish(given(FIRST[:1]))
    assert (done.withdrawn, done.admitted, done.waiting, done.refused) == (1, 0, 0, ())
    assert where(ledger, "first 0") == [(1, None, None)]
    assert done.tables is None
    # So three others are no company: they are four only with one who stays.
    assert ledger.delete(given(FIRST[1:3])).left == 0


def test_who_returns_with_another_value_waits_to_be_corrected(ledger):
    ledger.delete(given(FIRST[:1]))
    done = ledger.publish(given([("first 0", "30s", "flu")]))
    assert (done.withdrawn, where(ledger, "first 0")) == (1, [(1, None, "correct")])


def test_a_person_who_waits_is_withdrawn_or_corrected(ledger):
    ledger.publish(given([("a", "40s", "flu"), ("b", "40s", "flu")]))
    done = ledger.publish(
        delete=given([("a", "40s", "flu")]), correct=given([("b", "40s", "gout")], old_ill=["flu"])
    )
    assert (done.withdrawn, done.waiting, where(ledger, "a")) == (2, 1, [(None, None, None)])
    done = ledger.publish(given([("c", "40s", "flu"), ("d", "40s", "hiv")]))
    [(size, tables)] = counted(done.tables).values()
    assert (size, tables) == (3, {"ill": {"flu": 1, "gout": 1, "hiv": 1}})


def test_those_who_move_together_are_a_cell_of_their_own(ledger):
    done = ledger.correct(moved(FIRST[:4], "30s"))
    assert (done.corrected, sizes(ledger)) == (4, [4, 8, 12])
    [group] = {each.group for each in ledger.find([row[0] for row in FIRST[:4]])}
    assert cells_of(ledger.current)[group][:2] == (("30s",), 4)
    assert where(ledger, "first 0") == [(1, None, None)]
    # They are published already, wherever they are.
    assert ledger.publish(given(FIRST[:1])).refused_rows == 1


def test_labels_that_are_out_of_date_mean_where_the_person_is(ledger):
    """One waits to move, others have: what is asked of them goes by who they are."""
    ledger.correct(moved(FIRST[:1], "30s"))
    assert where(ledger, "first 0") == [(1, None, "correct")]
    new_address = [("first 0", "30s", "flu"), *FIRST[1:4]]
    done = ledger.delete(given(new_address))
    assert (done.left, done.waiting) == (4, 0)
    ledger.correct(moved(FIRST[4:8], "30s"))
    done = ledger.delete(given(FIRST[4:8]))
    assert (done.left, done.waiting, sizes(ledger)) == (4, 0, [4, 12])


def test_a_later_correction_takes_the_place_of_one_that_waits(ledger):
    ledger.correct(moved(FIRST[:1], "30s"))
    back = given([("first 0", "20s", "flu")], old_age=["30s"])
    done = ledger.correct(back)
    assert (done.corrected, done.waiting) == (0, 0)
    assert where(ledger, "first 0") == [(1, None, None)]


def test_who_leaves_at_once_is_said_to_take_others_along(ledger):
    done = ledger.delete(given(FIRST[:1]), at_once=True)
    assert (done.left, done.others, sizes(ledger)) == (1, 11, [12])
    assert where(ledger, "first 0", "first 11", "first 12") == [
        (1, 2, None),
        (1, 2, None),
        (1, None, None),
    ]
    assert ledger.publish(given(FIRST[11:12])).refused_rows == 1


def test_identifiers_are_nowhere_in_clear(ledger, tmp_path):
    waits = ("Somebody Else", "40s", "flu")
    ledger.publish(given([*batch("second"), waits]), output=tmp_path / "out")
    ledger.delete(given(FIRST[:1]))
    held = ledger.path.read_bytes() + b"".join(
        path.read_bytes() for path in (tmp_path / "out").iterdir()
    )
    for name in (b"first 0", b"second 1", b"Somebody Else"):
        assert name not in held


def test_fingerprints_of_two_ledgers_have_nothing_in_common(tmp_path, policy):
    found = []
    for name in "ab":
        path = tmp_path / name
        rows = grouped_of([row[1:] for row in FIRST], NAMES[1:2], NAMES[2:])
        sf.Ledger.start(rows, path, alpha=0.5, policy=policy, source=given(FIRST))
        with sqlite3.connect(path) as db:
            dump = "\n".join(db.iterdump())
        db.close()
        found.append({line for line in dump.splitlines() if '"people"' in line})
    assert len(found[0]) > 1
    assert all(found)
    assert len({text[:60] for text in found[0]} & {text[:60] for text in found[1]}) <= 1


def test_rows_without_an_identifier_are_of_somebody_else(ledger):
    done = ledger.publish(given([(None, "20s", ill) for ill in ILLS]))
    assert (done.admitted, done.refused) == (4, ())
    done = ledger.delete(given([(None, "20s", ill) for ill in ILLS]), seed=1)
    assert done.left == 4
    assert "drew the release in which they had joined" in done.warnings[-1]


def test_a_group_of_which_the_table_has_others_starts_no_ledger(tmp_path, policy):
    """Thirteen people are to be the twelve of the release: it is not known which are."""
    source = given([*FIRST, ("one more", "20s", "flu")])
    with pytest.raises(InputError, match="not known who 12 people of the first release are"):
        sf.Ledger.start(
            grouped_of([row[1:] for row in FIRST], NAMES[1:2], NAMES[2:]),
            tmp_path / "x.ledger",
            alpha=0.5,
            policy=policy,
            source=source,
        )
    assert not (tmp_path / "x.ledger").exists()


def test_who_cannot_be_looked_for(ledger, tmp_path):
    with pytest.raises(ParameterError, match="values of 'name'"):
        ledger.find([("a", "b")])
    plain = sf.Ledger.start(
        grouped_of([row[1:] for row in FIRST], NAMES[1:2], NAMES[2:]),
        tmp_path / "y.ledger",
        alpha=0.5,
        k=3,
    )
    with pytest.raises(InputError, match="the ledger recognises no person: its policy names no"):
        plain.find(["first 0"])
