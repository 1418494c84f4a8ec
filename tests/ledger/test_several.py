"""Ledgers in which people have several rows: the adversary, the rules, and what is told."""

import sqlite3
from collections import Counter
from fractions import Fraction
from itertools import product

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.ledger import chain, increment
from sfumato.ledger import store as ledger_store
from sfumato.models.base import NEITHER
from tests.ledger.test_worlds import TinyLedger, group_of, trusted
from tests.ledger.worlds import (
    count_changes,
    count_parts,
    judge,
    judge_people,
    list_worlds,
    person_belief,
    split_components,
    tables_of,
    view_of,
)

__all__ = ["trusted"]


class TinyPanel(TinyLedger):
    """A tiny ledger in which people come again and again."""

    identifiers = ("id", "visit")
    said_of_people = {"person": "id"}  # noqa: RUF012

    def __init__(self, folder, seed, **fixed):
        self.owners = {}
        """Whose each row is."""
        self.most = fixed.pop("most", [2, 2, 3, "any"][seed % 4])
        alphas = {2: (0.67, 0.75, 0.8), 3: (0.75, 0.8, 0.88), "any": (0.34, 0.5, 0.6)}
        fixed.setdefault("alpha", alphas[self.most][seed // 4 % 3])
        self.settings = {"rows_per_person": self.most}
        self.share = 1 - (1 - fixed["alpha"]) ** (1 / (1 if self.most == "any" else self.most))
        super().__init__(folder, seed, **fixed)

    @property
    def limit(self):
        """What values have a good chance with."""
        return self.share + 1e-9

    @property
    def alpha_told(self):
        return Fraction(str(self.alpha))

    def identify(self, row):
        return self.owners[row], row

    def add_people(self, rows):
        found = super().add_people(rows)
        for row in found:
            known = sorted({*self.owners.values()})
            again = known and hasattr(self, "ledger") and self.rng.random() < 0.6
            self.owners[row] = self.rng.choice(known) if again else f"owner of {row}"
        return found

    def note(self, done, folder):
        self.happened["rows above the number"] += sum("rows in the" in r.why for r in done.refused)
        super().note(done, folder)

    @property
    def verdict(self):
        alone = self.most == "any"
        most = 1 if alone else self.most
        seen = self.states, self.people, self.owners, most
        return judge_people(*seen, alone=alone, harmless=self.harmless)

    @property
    def is_kept(self):
        """Whether what is promised holds."""
        found = self.verdict
        return (
            found.strongest <= self.alpha_told
            and found.mixed <= self.alpha_told
            and found.smallest >= self.k
            and not found.shared
        )

    @property
    def rows_of_most(self):
        """The rows of the person who has most."""
        owners = [self.owners[row] for row in self.people]
        return max(map(owners.count, owners))


# --- The adversary itself ----------------------------------------------------------------------


def list_beliefs(states, rows, mine, column):
    """Yield what is believed of a person with some rows, by listing all worlds of all rows."""
    worlds = list(list_worlds(states, rows, column))
    changes = [count_changes(world, rows) for world in worlds]
    worlds = [world for world, n in zip(worlds, changes, strict=True) if n == min(changes)]
    when = {row: [t for t, number in enumerate(rows[row]) if number is not None] for row in mine}
    values = sorted({v for world in worlds for v in world.values() if v is not None})
    facts = [(row, t) for row in mine for t in when[row]]
    for times in product(*(when[row] for row in mine)):
        asked = list(zip(mine, times, strict=True))
        for value in values:
            sure = [w for w in worlds if all(w[fact] is not None for fact in asked)]
            if sure:
                yield Fraction(sum(any(w[f] == value for f in asked) for w in sure), len(sure))
            for known in values:
                if known == value:
                    continue
                for fact in facts:  # A row is known to have a value.
                    others = [f for f in asked if f != fact]
                    fits = [w for w in worlds if w[fact] == known]
                    sure = [w for w in fits if all(w[f] is not None for f in others)]
                    if sure and others:
                        found = sum(any(w[f] == value for f in others) for w in sure)
                        yield Fraction(found, len(sure))
                for moments in product(*(when[row] for row in mine)):  # It is not known which.
                    told = list(zip(mine, moments, strict=True))
                    fits = [w for w in worlds if all(w[f] is not None for f in (*asked, *told))]
                    sure = [w for w in fits if any(w[f] == known for f in told)]
                    if sure:
                        found = sum(any(w[f] == value for f in asked) for w in sure)
                        yield Fraction(found, len(sure))


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    "tables",
    [
        ("abc", "abc", "aab", "aab"),
        ("aab", "abb", "bcc", "bcc"),
        ("abc", "bbc", "acc", "abc"),
        (["a", "b", None], ["a", "b", None], "abb", "abb"),
        (["a", None, "b"], ["a", "c", "b"], ["a", "c", None], ["a", "c", None]),
    ],
)
def test_people_are_judged_as_if_all_worlds_were_listed(tables):
    one, two, three, four = tables
    states = [
        {"1": group_of("30s", ill=one), "2": group_of("40s", ill=three)},
        {"1": group_of("30s", ill=two), "2": group_of("40s", ill=four)},
    ]
    rows = {f"{n}{i}": [n, n] for n in "12" for i in range(3)}
    parts = count_parts(states, map(tuple, rows.values()))
    views = []
    for number in "12":
        target = (number, number)
        [component] = [c for c in split_components(parts) if target in dict(c)]
        views.append(view_of(component, tables_of(component, states, "ill"), target, frozenset()))
    listed = max(list_beliefs(states, rows, ["10", "20"], "ill"))
    assert person_belief(tuple(views))[0] == listed
    owners = {row: "ann" if row in ("10", "20") else row for row in rows}
    found = judge_people(states, rows, owners, 2)
    assert found.strongest >= listed and found.mixed <= found.strongest  # noqa: PT018
    assert found.smallest == 3
    assert not found.shared
    assert judge_people(states, rows, dict.fromkeys(rows, "ann"), 2).shared == {"ann"}


# --- Tiny ledgers ------------------------------------------------------------------------------


FEW = {"releases": 4, "wishes": {"": 4, "leave": 2, "move": 1, "correct": 2}}
ENOUGH = {"joined": 4, "left": 0.1, "moved": 0.05, "corrected": 0.05, "rows above the number": 0.1}


def check_panels(folder, seeds):
    """Judge some ledgers, and see that enough of all kinds was published to be judged."""
    happened, several = Counter(), 0
    for seed in seeds:
        tiny = TinyPanel(folder / str(seed), seed, written=seed % 8 == 0, **FEW)
        assert tiny.agrees, f"seed {seed}"
        assert tiny.is_a_world, f"seed {seed}"
        assert tiny.is_kept, f"seed {seed}: {tiny.verdict}"
        assert tiny.most == "any" or tiny.rows_of_most <= tiny.most, f"seed {seed}"
        if tiny.most == "any":
            verdict = judge(tiny.states, tiny.people, harmless=tiny.harmless)
            assert not verdict.above(tiny.alpha_told)
        assert tiny.ledger.verify() == []
        happened += tiny.happened
        several += tiny.rows_of_most > 1
    assert several > len(seeds) / 2
    few = {w: happened[w] for w, n in ENOUGH.items() if happened[w] < n * len(seeds)}
    assert not few, happened


@pytest.mark.usefixtures("patience")
def test_of_people_with_several_rows_nothing_is_believed_above_alpha(tmp_path, trusted):
    check_panels(tmp_path, range(16))


@pytest.mark.parametrize("half", range(2))
def test_nor_is_it_in_any_of_many(tmp_path, trusted, thorough, some, half):
    first = 1000 + 100 * half
    check_panels(tmp_path, range(first, first + some(10, of=100)))


def take_rows_for_people(monkeypatch):
    """Shares up to alpha, as where each person has one row."""
    monkeypatch.setattr(ledger_store, "row_limit", lambda alpha, _: alpha)


def take_any_number(monkeypatch):
    monkeypatch.setattr(increment._RowDesk, "_add_person", increment._Desk._add_person)


def forget_rows_that_left(monkeypatch):
    count_rows_of = increment.count_rows_of

    def count_rows_here(db, owners):
        found = count_rows_of(db, owners)
        gone = db.execute("SELECT hex(fingerprint) FROM people WHERE left_it > 0").fetchall()
        found.subtract(row[: 2 * ledger_store.OWNER].lower() for [row] in gone)
        return found

    monkeypatch.setattr(increment, "count_rows_of", count_rows_here)


def let_rows_of_a_person_join_together(monkeypatch):
    monkeypatch.setattr(increment._RowDesk, "several", False)


LEAVE = {**FEW, "most": 2, "wishes": {"leave": 1}, "releases": 5}
RULES = {
    "shares leave room for other rows": (take_rows_for_people, {**FEW, "most": 2}),
    "people have no more rows": (take_any_number, {**FEW, "most": 2}),
    "rows that left count": (forget_rows_that_left, LEAVE),
    "rows of a cell are of different people": (let_rows_of_a_person_join_together, FEW),
}


@pytest.mark.parametrize("rule", RULES)
def test_without_a_rule_it_is_believed_above_alpha(tmp_path, monkeypatch, trusted, thorough, rule):
    forget, fixed = RULES[rule]
    forget(monkeypatch)
    for seed in range(300):
        try:
            tiny = TinyPanel(tmp_path / str(seed), seed, written=False, **fixed)
        except sf.SfumatoError:  # What is asked next does not fit what was published.
            continue
        if not tiny.is_kept:
            return
    raise AssertionError(f"nothing was found without the rule: {rule}")


# --- What is asked, refused and told -----------------------------------------------------------


POLICY = {
    "columns": {
        "patient": "identifier",
        "visit": "identifier",
        "age": "quasi-identifier",
        "ill": "sensitive",
    },
    "models": [{"model": "k-anonymity", "k": 3}],
    "person": "patient",
}


def visits(rows, age="30s"):
    """Return rows of `patient visit illness`."""
    who, which, ill = zip(*(row.split() for row in rows), strict=True)
    columns = {"patient": who, "visit": which, "age": [age] * len(rows), "ill": ill}
    return pa.table(columns)


FIRST = visits(["ann 1 flu", "bob 2 gout", "cyd 3 cold", "dee 4 burn", "eve 5 acne"])


def start(folder, *, alpha=0.5, policy=POLICY, first=FIRST, **more):
    release = sf.decouple(first, policy={k: v for k, v in policy.items() if k != "person"})
    settings = {"rows_per_person": 2, "source": first, **more}
    return sf.Ledger.start(release, folder / "x.ledger", alpha=alpha, policy=policy, **settings)


@pytest.mark.usefixtures("patience")
def test_rows_of_a_person_join_in_cells_of_their_own(tmp_path):
    ledger = start(tmp_path, rows_per_person=3)
    names = ["ann", "bob", "cyd", "dee", "eve"]
    more = [f"{who} {10 * n + i} v{i}" for n in (1, 2) for i, who in enumerate(names)]
    done = ledger.publish(visits([*more, "fay 99 flu"]), output=tmp_path / "april")
    # Fay is the only one whose row goes with any of the two cells, and she is in one.
    assert (done.admitted, done.refused_rows, done.waiting) == (11, 0, 0)
    found = ledger.find([(who, which) for who, which, _ in map(str.split, ["ann 1 x", *more[::5]])])
    assert len({each.group for each in found}) == 3
    assert {each.joined for each in found} == {1, 2}
    verdict = sf.verify(tmp_path / "april")
    assert (verdict.answer, [each.kind for each in verdict.open]) == ("with care", ["roles"])
    assert any("rows are counted, not people" in why for why in verdict.why)
    assert "in several groups" in (tmp_path / "april" / "README.md").read_text()
    again = ledger.publish(visits(["ann 77 flu", "bob 10 flu"]))
    whys = {each.why.split(":")[0] for each in again.refused}
    assert any("alpha bounds what is believed of 3 together" in why for why in whys)
    assert "the row was published in release 2" not in whys  # Visit 10 was Ann's.
    assert ledger.verify() == []
    text = ledger.overview().headline
    assert "16 rows of 6 people published in 3 cells" in text
    assert "20 % is believed of a row and 48.8 % of 3 of a person together, alpha is 50 %" in text
    assert ledger.rows_per_person == 3
    with pytest.raises(sf.SfumatoError, match="rows_per_person 2, it was started with 3"):
        sf.Ledger.open(ledger.path, rows_per_person=2)


def test_a_row_that_is_given_again_is_recognised(tmp_path):
    ledger = start(tmp_path, rows_per_person="any")
    done = ledger.publish(FIRST.slice(0, 2), dry_run=True)
    assert {each.why for each in done.refused} == {"the row was published in release 1"}
    new = visits([f"{who} {n} v{n}" for n, who in enumerate(["ann", "ann", "bob", "cyd"], 20)])
    done = ledger.publish(new)
    assert done.admitted == 3
    [held] = done.held
    assert "fewer than k=3" in held.why or "goes first" in held.why
    # All rows of a person can leave, and others come later.
    gone = ledger.delete(FIRST, seed=1)
    assert gone.left == 5
    assert ledger.publish(visits(["ann 90 a", "bob 91 b", "dee 92 c"])).admitted >= 3
    back = ledger.publish(FIRST, again=True)
    assert back.refused_rows == 5
    assert "the row left in release 3" in back.refused[0].why


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"rows_per_person": 0}, "a whole number from 1 to 1000, or 'any'"),
        ({"rows_per_person": True}, "a whole number from 1 to 1000, or 'any'"),
        ({"rows_per_person": "all"}, "a whole number from 1 to 1000, or 'any'"),
        ({"source": None}, "must know whose each is"),
        ({"policy": {**POLICY, "person": {"rows": "visits"}}}, "must know whose each is"),
        ({"source": FIRST.slice(0, 4)}, "it is not known who 5 people of the first release are"),
        ({"alpha": 0.3}, "in 1 of 1 groups a value exceeds 16 %, which is alpha"),
        (
            {"policy": {**POLICY, "columns": {**POLICY["columns"], "visit": "dropped"}}},
            "'patient' and another one",
        ),
    ],
)
def test_a_ledger_starts_only_if_rows_are_told_apart(tmp_path, change, text):
    with pytest.raises(sf.SfumatoError, match=text):
        start(tmp_path, **change)
    assert not (tmp_path / "x.ledger").exists()


def test_a_ledger_starts_from_one_row_of_each(tmp_path):
    first = visits(["ann 1 flu", "bob 2 gout", "cyd 3 cold", "dee 4 burn", "ann 5 acne"])
    grouped = sf.decouple(first, quasi_identifiers=["age"], sensitive=["ill"])
    with pytest.raises(sf.SfumatoError, match=r"has 5 rows of 4 people.*starts from one row"):
        sf.Ledger.start(
            grouped, tmp_path / "x", alpha=0.5, policy=POLICY, source=first, rows_per_person=2
        )


def test_models_of_whole_groups_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sf.models.KAnonymity, "merging", NEITHER)
    with pytest.raises(sf.SfumatoError, match="may have several rows cannot keep"):
        start(tmp_path)


def test_rows_must_say_whose_they_are(tmp_path):
    ledger = start(tmp_path)
    before = ledger.path.read_bytes()
    with pytest.raises(sf.SfumatoError, match="the data has no column 'visit'"):
        ledger.publish(visits(["ann 9 flu"]).drop_columns("visit"))
    nameless = pa.table(
        {**visits(["ann 9 flu"]).to_pydict(), "visit": pa.array([None], pa.string())}
    )
    with pytest.raises(sf.SfumatoError, match="1 rows do not say whose they are"):
        ledger.publish(nameless)
    assert ledger.path.read_bytes() == before


def test_other_ledgers_refuse_people_with_several_rows(tmp_path):
    ledger = start(tmp_path, rows_per_person=1)
    assert ledger.rows_per_person == 1
    with pytest.raises(sf.SfumatoError, match=r"without --rows-per-person.*sf.widen"):
        ledger.publish(visits(["fay 1 flu", "fay 2 flu", "gus 3 flu"]))


def test_values_that_stay_the_same_are_warned_of(tmp_path):
    ledger = start(tmp_path)
    lasting = [f"{who} {i}{n} v{i}" for i, who in enumerate("abcdef") for n in (1, 2)]
    [text] = ledger.publish(visits(lasting), dry_run=True).warnings
    assert "'ill' is the same in all rows of 6 of the 6 people who come with several" in text
    changing = [f"{who} {i}{n} v{i + n}" for i, who in enumerate("abcdef") for n in (1, 2)]
    assert ledger.publish(visits(changing), dry_run=True).warnings == ()


def test_the_format_says_whether_people_have_several_rows(tmp_path):
    several, single = start(tmp_path).path, tmp_path / "one.ledger"
    grouped = sf.decouple(FIRST, quasi_identifiers=["age"], sensitive=["ill"])
    sf.Ledger.start(grouped, single, alpha=0.5, k=3)
    for path, own, other in ((several, 6, 5), (single, 5, 6)):
        db = sqlite3.connect(path, isolation_level=None)
        assert db.execute("PRAGMA user_version").fetchone() == (own,)
        assert db.execute("SELECT COUNT(*) FROM meta WHERE key = 'rows_per_person'").fetchone() == (
            own == 6,
        )
        db.execute(f"PRAGMA user_version = {other}")
        db.close()
        with pytest.raises(sf.SfumatoError, match="settings"):
            sf.Ledger.open(path).publish(visits(["ann 9 flu"]))


def test_rows_that_were_moved_by_hand_are_found(tmp_path):
    ledger = start(tmp_path)
    names = ["ann", "bob", "cyd", "dee"]
    ledger.publish(visits([f"{who} {n} v{n}" for n, who in enumerate(names, 20)]))
    db = sqlite3.connect(ledger.path, isolation_level=None)
    assert chain._person_faults(db) == []
    db.execute("UPDATE people SET cell_id = 1")
    assert chain._person_faults(db) == [
        "cells with more people than rows: 1",
        "4 people have two rows in one cell",
    ]
    db.execute("UPDATE meta SET value = '2' WHERE key = 'rows_per_person'")
    db.execute("UPDATE people SET fingerprint = zeroblob(8) || substr(fingerprint, 9), left_it = 1")
    assert chain._person_faults(db) == [
        "cells that more people left than rows: 1",
        "1 people have two rows in one cell",
        "a person has 9 rows, more than 2",
        "rows are published of which it is not known whose",
    ]
    db.close()
